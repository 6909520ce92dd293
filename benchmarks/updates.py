"""Updates: new hyperedges in ten batches; the next batch scored by a stale model and three others.

A model learns from the first half of a network's hyperedges. The second half arrives in ten
batches. After each, four models score the next batch against five negatives per hyperedge:

- stale: the initial model; a tuple with an unknown node gets the model's median score;
- extend: the same model, with new nodes embedded from their hyperedges;
- update: the model updated batch by batch (`DHNE.partial_fit`);
- refit: retrained on everything so far.

The gain is (update - stale) / (refit - stale). "earlier" is the AUC on hyperedges of the first
half; "earlier AUC lost" is the largest drop caused by one update. The released files of MovieLens
have no times, so its hyperedges arrive in random order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from statistics import mean
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score

import dhne
from benchmarks._data import load
from benchmarks._options import LeftOut, devices
from benchmarks._table import Row
from dhne.datasets import drifting
from dhne.errors import DHNEError
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import KnownEdges, evaluation_negatives

BATCHES = 10
GAIN, TIME, FORGOTTEN = 0.95, 0.2, 0.005
_EARLIER = 5000  # hyperedges of the first half to score
METHODS = ("stale", "extend", "update", "refit")


def run(quick: bool) -> dict[str, list[Row]]:
    if quick:
        networks = {"drift": drifting(660, (60, 40, 20), clusters=4, steps=22, seed=0)}
        presets: tuple[str, ...] = ("default",)
    else:
        networks = {"drift": drifting(20_000, (1_200, 700, 150), clusters=15, steps=20, seed=0)}
        presets = ("default", "plus")
        try:
            data = load("movielens")
            networks["movielens"] = data.train.merge(data.test)
        except DHNEError as error:
            print(f"  movielens is skipped: {error}")
    if "cpu" not in devices():
        raise LeftOut("it measures the CPU, which was not requested")
    batches, summary = [], []
    for name, network in networks.items():
        for preset in presets:
            options: dict[str, Any] = {"preset": preset, "device": "cpu"}
            found = list(follow(network, options, 2 if quick else BATCHES))
            about = {"dataset": name, "preset": preset}
            batches += [about | row for row in found]
            summary.append(about | summarise(found))
    return {"summary": summary, "batches": batches}


def follow(
    network: HyperNetwork, options: dict[str, Any], batches: int = BATCHES, seed: int = 0
) -> Iterator[Row]:
    """Yield one row per batch: each model's AUC on the next batch, and its time in seconds."""
    parts = in_order(network, batches, seed)
    known = parts[0]
    stale = dhne.DHNE(**options).fit(known)
    updated = dhne.DHNE(**options).fit(known)
    so_far = None
    for number, (batch, following) in enumerate(pairwise(parts[1:]), start=1):
        known = known.merge(batch, fold=False)
        so_far = batch if so_far is None else so_far.merge(batch, fold=False)
        seconds, models = {}, {"stale": stale}
        for method, make in _makers(stale, updated, batch, so_far, known, options).items():
            begin = time.perf_counter()
            models[method] = make()
            seconds[method] = time.perf_counter() - begin
        row: Row = {"batch": number, "hyperedges": batch.num_edges()}
        row |= {f"{m} AUC": next_auc(models[m], known, following) for m in METHODS}
        row |= {f"{m} s": seconds[m] for m in METHODS[1:]}
        for method in ("stale", "update", "refit"):
            row[f"{method} earlier AUC"] = next_auc(models[method], known, parts[0], known)
        yield row


def _makers(
    stale: dhne.DHNE,
    updated: dhne.DHNE,
    batch: HyperNetwork,
    so_far: HyperNetwork,
    known: HyperNetwork,
    options: dict[str, Any],
) -> dict[str, Callable[[], dhne.DHNE]]:
    return {
        "extend": lambda: stale.extend(so_far, isolated="keep"),
        "update": lambda: updated.partial_fit(batch),
        "refit": lambda: dhne.DHNE(**options).fit(known),
    }


def in_order(network: HyperNetwork, batches: int, seed: int) -> list[HyperNetwork]:
    """Return the first half, then `batches` batches and one more, without nodes of later ones."""
    edges = network.edge_set()
    order = np.random.default_rng(seed).permutation(len(edges))
    if edges.times is not None:
        order = order[np.argsort(edges.times[order], kind="stable")]
    cuts = np.linspace(len(order) // 2, len(order), batches + 2).round().astype(int)
    return [network.subset(part, drop_nodes=True) for part in np.split(order, cuts[:-1])]


def next_auc(
    model: dhne.DHNE,
    known: HyperNetwork,
    following: HyperNetwork,
    trained: HyperNetwork | None = None,
) -> float:
    """Return the AUC of hyperedges whose nodes are all known, against five negatives each.

    With `trained`, these are at most 5,000 training hyperedges.
    """
    target = _renumbered(following, known)
    if trained is not None:
        target = target.take(np.arange(min(len(target), _EARLIER)))
    both = KnownEdges(known, known.with_edges([target]))
    negatives = evaluation_negatives(target, both).nodes
    nodes = np.concatenate([target.nodes, negatives])
    scores = _scores(model, nodes, target)
    return float(roc_auc_score(np.arange(len(nodes)) < len(target), scores))


def _scores(
    model: dhne.DHNE, nodes: npt.NDArray[np.int64], edges: EdgeSet
) -> npt.NDArray[np.float64]:
    """Return the scores of tuples; those with an unknown node get the median."""
    sizes = [model.network_.num_nodes(t) for t in edges.types]
    inside = (nodes < sizes).all(axis=1)
    scores = np.zeros(len(nodes))
    scores[inside] = model.score_ids(nodes[inside], edges.types)
    scores[~inside] = np.median(scores[inside])
    return scores


def _renumbered(network: HyperNetwork, other: HyperNetwork) -> EdgeSet:
    """Return a network's hyperedges with another's ids, without those with nodes it lacks."""
    edges = network.edge_set()
    ids = [
        other.vocabulary(t).find(network.vocabulary(t).take(edges.nodes[:, p]))
        for p, t in enumerate(edges.types)
    ]
    nodes = np.stack(ids, axis=1)
    return EdgeSet.build(edges.types, nodes[(nodes >= 0).all(axis=1)])


def summarise(rows: list[Row]) -> Row:
    """Return the means over all batches, and whether the targets are met."""
    found = {f"{m} AUC": mean(r[f"{m} AUC"] for r in rows) for m in METHODS}
    gained, possible = (found[f"{m} AUC"] - found["stale AUC"] for m in ("update", "refit"))
    share = mean(r["update s"] for r in rows) / mean(r["refit s"] for r in rows)
    earlier = [rows[0]["stale earlier AUC"], *(r["update earlier AUC"] for r in rows)]
    lost = max(before - after for before, after in pairwise(earlier))
    gain = gained / possible if possible > 0 else 1.0
    met = gain >= GAIN and share <= TIME and lost <= FORGOTTEN
    return found | {"gain": gain, "time / refit": share, "earlier AUC lost": lost, "met": met}
