"""Small networks with and without a context, and products with drawn weights."""

from __future__ import annotations

import numpy as np
import torch

from dhne import HyperNetwork
from dhne.model.products import Products, choose_context
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.vocabulary import Vocabulary


def facts(seed: int = 0) -> HyperNetwork:
    """Facts of two and three entities with a relation each; some entities repeat."""
    rng = np.random.default_rng(seed)
    sets = []
    for length, m in ((2, 40), (3, 30)):
        relation, entities = rng.integers(3, size=(m, 1)), rng.integers(9, size=(m, length))
        types = EdgeType(("relation", *["entity"] * length))
        sets.append(EdgeSet.build(types, np.hstack([relation, entities])))
    names = {"relation": Vocabulary.of_size(3), "entity": Vocabulary.of_size(9)}
    return HyperNetwork(names, sets)


def triples(seed: int = 0) -> HyperNetwork:
    rng = np.random.default_rng(seed)
    sizes = {"user": 7, "movie": 8, "tag": 6}
    edges = np.stack([rng.integers(n, size=50) for n in sizes.values()], axis=1)
    return HyperNetwork.from_arrays({tuple(sizes): edges}, sizes)


def pairs_as_sets(seed: int = 0) -> HyperNetwork:
    rng = np.random.default_rng(seed)
    edges = np.stack([rng.choice(9, 3, replace=False) for _ in range(30)])
    return HyperNetwork.from_arrays({("a", "a", "a"): edges}, {"a": 9}, ordered=False)


NETWORKS = {"facts": facts, "triples": triples, "sets": pairs_as_sets}


def drawn(network: HyperNetwork) -> Products:
    products = Products(network, 5, choose_context(network)).double()
    source = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for p in products.parameters():
            p.normal_(0, 0.5, generator=source)
    return products
