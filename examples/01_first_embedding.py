# %% [markdown]
# # A first embedding
#
# Facts about the world's places from WordNet: triples (head, relation, tail) such as (tokyo, part
# of, japan). We learn a vector per node and a similarity for whole triples, then query the model.

# %%
import numpy as np

import dhne

data = dhne.load_dataset("wordnet-sample")
print(data.train)

# %% [markdown]
# The model is an estimator: hyper-parameters go to the constructor, the network to `fit`.
# `preset="plus"` is the better choice for triples that are not in the data.

# %%
model = dhne.DHNE(dim=32, preset="plus", epochs=10, random_state=0).fit(data.train)
print(f"{len(model.history_)} epochs, loss {model.history_[-1]['loss']:.3f}")

# %% [markdown]
# ## Complete a triple

# %%
for question in [("tokyo.n.01", "part_of", None), ("europe.n.01", None, "norway.n.01")]:
    names, scores = model.rank(question, k=3)
    print(question, "→", ", ".join(f"{n} ({s:.2f})" for n, s in zip(names, scores, strict=True)))

# %% [markdown]
# ## Similar places

# %%
for place in ("kyoto.n.01", "texas.n.01"):
    print(place, "→", ", ".join(model.similar("head", place, k=4).names))

# %% [markdown]
# ## A picture
#
# The first two principal components of the embedding. Colours are WordNet's categories, which were
# not used in training.

# %%
x = model.embeddings_["head"]
centred = x - x.mean(axis=0)
directions = np.linalg.svd(centred, full_matrices=False)[2][:2]
plane = centred @ directions.T
labels = data.train.labels("head").to_pylist()
categories = sorted({label for node in labels for label in node})
for category in categories:
    chosen = [category in node for node in labels]
    print(f"{category:22} {sum(chosen):5,} places around {plane[chosen].mean(axis=0).round(1)}")

# %%
try:
    import matplotlib.pyplot as plt
except ImportError:
    print('pip install "dhne[plots]" for the picture')
else:
    figure, axes = plt.subplots(figsize=(6, 5))
    for category in categories:
        chosen = [category in node for node in labels]
        axes.scatter(*plane[chosen].T, s=6, label=category)
    axes.legend(frameon=False)
    figure.savefig("places.png")

# %% [markdown]
# ## Save it
#
# A run is a directory; `dhne explore runs/places` opens it in the browser.

# %%
model.save("runs/places")
assert dhne.load("runs/places").similar("head", "kyoto.n.01", k=1) is not None
