"""Completing a tuple: `rank` over all of wordnet's tails costs at most 2 tanh over as many rows.

``model.rank((head, relation, None))`` scores 40,752 candidates exactly and selects the ten best.
It is compared with one ``torch.tanh`` over 40,752 × 192 numbers, the minimum cost of a hidden layer
of 192 over as many tuples; both run in turns, in one process, with the same threads.
"""

from __future__ import annotations

import torch

from benchmarks._data import load, names
from benchmarks._measure import side_by_side
from benchmarks._options import LeftOut, need_cpu
from benchmarks._table import Row
from dhne import DHNE

LIMIT = 2.0


def run(quick: bool) -> list[Row]:
    need_cpu()
    here = names(quick)
    if not quick and "wordnet" not in here:
        raise LeftOut("wordnet was not found; set DHNE_DATA to its directory")
    name = here[0] if quick else "wordnet"
    network = load(name).train
    model = DHNE(device="cpu", epochs=1).fit(network)
    first, second, last = network.edge_set().types
    query = (network.names(first)[0].as_py(), network.names(second)[0].as_py(), None)
    candidates = network.num_nodes(last)
    hidden = model.model_.similarity(network.edge_set().types).width
    numbers = torch.randn(candidates, hidden)
    model.rank(query, k=10)  # projects the nodes, once
    ours, tanh = side_by_side(
        lambda: model.rank(query, k=10), lambda: torch.tanh(numbers), repeats=5 if quick else 50
    )
    return [
        {
            "what": f"rank on {name}",
            "candidates": candidates,
            "hidden": hidden,
            "rank ms": ours * 1e3,
            "tanh ms": tanh * 1e3,
            "ratio": ours / tanh,
            "limit": LIMIT,
            "met": ours / tanh <= LIMIT,
        }
    ]
