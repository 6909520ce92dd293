# %% [markdown]
# # Recommend tags
#
# Who gives which film which tag? We generate a table of such triples by a rule: films have a kind,
# people a habit, and the tag depends on both. No pair determines it; only the triple does.

# %%
import numpy as np
import pyarrow as pa

import dhne

rng = np.random.default_rng(0)
TAGS = np.array([["heist", "noir"], ["aliens", "robots"], ["wedding", "letters"]])
people, films, rows = 150, 120, 4000
user, movie = rng.integers(people, size=rows), rng.integers(films, size=rows)
tag = TAGS[movie % 3, user % 2]  # the film's kind, the person's habit
table = pa.table(
    {
        "userId": [f"user{u}" for u in user],
        "title": [f"film{m}" for m in movie],
        "tag": tag.tolist(),
    }
)

# %% [markdown]
# Columns become node types. Repeated rows are folded into one with a weight, so that none can be in
# both train and test.

# %%
net = dhne.read_table(table, columns={"user": "userId", "movie": "title", "tag": "tag"}).fold()
train, test = net.split(0.2, seed=0)
print(net)

# %%
model = dhne.DHNE(dim=32, epochs=20, preset="plus", random_state=0).fit(train)

# %% [markdown]
# ## Which tag would user7 give film5?

# %%
for name, score in zip(*model.rank(("user7", "film5", None), k=3), strict=True):
    print(f"{score:.3f}  {name}")
print("the rule says:", TAGS[5 % 3, 7 % 2])

# %% [markdown]
# ## How often is the first guess right?
#
# For each held-out row: does the true tag rank first of all six?

# %%
names = [
    test.vocabulary(t).take(test.edges()[:, p]).to_pylist() for p, t in enumerate(net.node_types)
]
questions = [(u, m, None) for u, m, _ in zip(*names, strict=True)]
answers = model.rank(questions, k=1)
right = np.mean([a.names[0] == given for a, given in zip(answers, names[2], strict=True)])
print(f"{right:.0%} of {len(questions)} held-out rows; guessing would get {1 / 6:.0%}")

# %% [markdown]
# ## What should we show next?
#
# Films that user7 has not tagged, with a fitting tag: two open positions.

# %%
for (film, word), score in zip(*model.rank(("user7", None, None), k=5, known="drop"), strict=True):
    print(f"{score:.3f}  {film}  {word}")

# %% [markdown]
# ## A new user
#
# Three rows are enough to place a new user among the others; nothing is retrained.

# %%
newcomer = [("zoe", "film3", "noir"), ("zoe", "film7", "robots"), ("zoe", "film8", "letters")]
larger = model.extend(newcomer)
print(larger.similar("user", "zoe", k=3).names)
print(larger.rank(("zoe", "film9", None), k=2).names)
