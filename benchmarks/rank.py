"""Completing a tuple: `rank` over all of wordnet's tails costs at most 2 tanh over as many rows.

*one query*: ``model.rank((head, relation, None))`` scores 40,752 candidates exactly and selects the
ten best. It is compared with one ``torch.tanh`` over 40,752 × 192 numbers, the minimum cost of a
hidden layer of 192 over as many tuples; both run in turns, in one process, with the same threads.

*many hyperedges*: 500 test hyperedges are ranked at every position, by the plain model and by
"plus" with evidence and products: at most 60 s on two cores, and at most 3 times the plain model.
"""

from __future__ import annotations

from time import perf_counter

import torch

from benchmarks._data import load, names
from benchmarks._measure import side_by_side
from benchmarks._options import LeftOut, need_cpu
from benchmarks._table import Row
from dhne import DHNE
from dhne.evaluation.filtered_ranking import rank_edges
from dhne.model.blend import Blend

LIMIT = 2.0
RANKED, LIMIT_S, PLUS_LIMIT = 500, 60, 3.0


def run(quick: bool) -> dict[str, list[Row]]:
    need_cpu()
    here = names(quick)
    if not quick and "wordnet" not in here:
        raise LeftOut("wordnet was not found; set DHNE_DATA to its directory")
    name = here[0] if quick else "wordnet"
    model = DHNE(device="cpu", epochs=1).fit(load(name).train)
    return {"one query": [_one(model, name, quick)], "many hyperedges": _many(model, name, quick)}


def _one(model: DHNE, name: str, quick: bool) -> Row:
    network = load(name).train
    first, second, last = network.edge_set().types
    query = (network.names(first)[0].as_py(), network.names(second)[0].as_py(), None)
    candidates = network.num_nodes(last)
    hidden = model.model_.similarity(network.edge_set().types).width
    numbers = torch.randn(candidates, hidden)
    model.rank(query, k=10)  # projects the nodes, once
    ours, tanh = side_by_side(
        lambda: model.rank(query, k=10), lambda: torch.tanh(numbers), repeats=5 if quick else 50
    )
    return {
        "what": f"rank on {name}",
        "candidates": candidates,
        "hidden": hidden,
        "rank ms": ours * 1e3,
        "tanh ms": tanh * 1e3,
        "ratio": ours / tanh,
        "limit": LIMIT,
        "met": ours / tanh <= LIMIT,
    }


def _many(plain: DHNE, name: str, quick: bool) -> list[Row]:
    parts = load(name)
    known = parts.train.merge(parts.test, fold=False)
    plus = DHNE(preset="plus", device="cpu", epochs=1, ranking_epochs=1).fit(parts.train)
    if plus.products_ is not None:
        plus.blend_ = Blend(1.0, 1.0)  # both take part, whatever one epoch was worth
        plus._forget()
    ranked, rows = 20 if quick else RANKED, []
    for model in (plain, plus):  # loads compiled code and projects the nodes, once
        rank_edges(model, parts.test, known, limit=2)
    for preset, model in (("default", plain), ("plus", plus)):
        start = perf_counter()
        rank_edges(model, parts.test, known, limit=ranked)
        rows.append({"preset": preset, "hyperedges": ranked, "seconds": perf_counter() - start})
    rows[1]["ratio"] = ratio = rows[1]["seconds"] / rows[0]["seconds"]
    met = ratio <= PLUS_LIMIT and rows[1]["seconds"] <= LIMIT_S
    rows[1] |= {"limit": PLUS_LIMIT, "limit s": LIMIT_S, "met": met}
    return rows
