# %% [markdown]
# # Your own method
#
# Every method derives from `Embedder` and implements `_fit` and `score_ids`; names, rankings,
# neighbours and evaluation come with the base class. This one factorises pair counts: one singular
# value decomposition per pair of positions, and a sum of inner products as the score.

# %%
from itertools import combinations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import svds

import dhne
from dhne.embedder import Embedder
from dhne.evaluation import Data, evaluate


class PairFactors(Embedder):
    """For positions p < q of an edge type, log(1 + counts) of (v_p, v_q) ≈ L_pq R_pqᵀ.

    The score of a tuple is the sum of its pairs' inner products; a node's embedding is all of its
    factors side by side.
    """

    def __init__(self, dim: int = 16, random_state: int = 0):
        self.dim, self.random_state = dim, random_state  # the constructor only stores

    def _fit(self, network):
        self.factors_ = {}
        parts = {t: [np.zeros((network.num_nodes(t), 1))] for t in network.node_types}
        for edges in network.edge_sets:
            for p, q in combinations(range(edges.length), 2):
                left, right = self._factorise(network, edges, p, q)
                self.factors_[edges.types, p, q] = left, right
                parts[edges.types[p]].append(left)
                parts[edges.types[q]].append(right)
        self.embeddings_ = {t: np.hstack(x).astype(np.float32) for t, x in parts.items()}

    def _factorise(self, network, edges, p, q):
        shape = network.num_nodes(edges.types[p]), network.num_nodes(edges.types[q])
        places = edges.nodes[:, p], edges.nodes[:, q]
        counts = sp.coo_array((edges.weights, places), shape=shape).tocsr()
        counts.data = np.log1p(counts.data)
        k = min(self.dim, *(size - 1 for size in shape))
        start = np.random.default_rng(self.random_state).normal(size=min(shape))
        u, s, vt = svds(counts, k=k, v0=start)
        return u * np.sqrt(s), vt.T * np.sqrt(s)

    def score_ids(self, nodes, edge_type):
        total = np.zeros(len(nodes))
        for p, q in combinations(range(len(edge_type)), 2):
            left, right = self.factors_[edge_type, p, q]
            total += (left[nodes[:, p]] * right[nodes[:, q]]).sum(axis=1)
        return total


# %% [markdown]
# Query it like any other method:

# %%
data = dhne.load_dataset("wordnet-sample")
method = PairFactors(dim=16).fit(data.train)
print(method)
print(method.rank(("kyoto.n.01", "part_of", None), k=3).names)
print(method.similar("head", "kyoto.n.01", k=3).names)

# %% [markdown]
# ## Measure it
#
# `evaluate` takes a name, or a function that returns an unfitted method for a seed. All methods get
# the same negatives.

# %%
places = Data(data.name, data.train, data.test)
contestants = {
    "PairFactors": lambda seed: PairFactors(dim=16, random_state=seed),
    "she": "she",
    "dhne": lambda seed: dhne.DHNE(dim=16, epochs=6, random_state=seed),
}
for name, method in contestants.items():
    record = evaluate("link-prediction", places, method, seeds=[0])
    print(f"{name:14} AUC {record.mean['auc']:.3f}  average precision {record.mean['aupr']:.3f}")

# %% [markdown]
# A good factorisation of pairs cannot tell whether three nodes *fit*: a sum over pairs does not see
# it, just as the paper's theorem shows for sums over nodes.
