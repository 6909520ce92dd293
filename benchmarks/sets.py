"""Sets of every size against triples: the time of an epoch per member of a hyperedge.

10,000 sets of 2 to 30 members, with sizes from a power law, and triples with as many members in
total are trained in turns in one process, so that both run under the same conditions; the table has
the median of the turns. The last rows are 100 sets of 100 and of 200 members: time and memory
should about double.
"""

from __future__ import annotations

from itertools import product
from statistics import median
from typing import Any

import numpy as np

from benchmarks._measure import Timer, in_process
from benchmarks._table import Row
from benchmarks._training import run_epoch, trainer_for
from dhne.datasets import power_law
from dhne.network.edges import EdgeSet
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

LIMIT = 1.5
_COMMUNITIES = 20


def run(quick: bool) -> list[Row]:
    rows: list[Row] = []
    for preset in ("default", "plus"):
        edges, turns = (300, 1) if quick else (10_000, 5)
        found = in_process(__name__, "measure", preset, edges, turns, here=quick).value
        rows.append(
            {
                "sets": f"{edges:,} of 2 to 30",
                "preset": preset,
                "members": found["members"],
                "µs a member": found["sets"] * 1e6,
                "µs a member of triples": found["triples"] * 1e6,
                "ratio": found["ratio"],
                "limit": LIMIT,
                "met": found["ratio"] <= LIMIT,
            }
        )
    count = 5 if quick else 100
    for preset, size in product(("default", "plus"), (25, 50) if quick else (100, 200)):
        found = in_process(__name__, "long_sets", preset, count, size, here=quick)
        rows.append(
            {
                "sets": f"{count} of {size}",
                "preset": preset,
                "members": count * size,
                "epochs": found.value["epochs"],
                "fit s": found.value["seconds"],
                "peak MiB": found.peak_rss_mb,
            }
        )
    return rows


def measure(timer: Timer, preset: str, edges: int, turns: int) -> dict[str, Any]:
    """Return the seconds per epoch and member, for sets and for triples, and their ratio."""
    rng = np.random.default_rng(0)
    sizes = np.arange(2, 31)
    chance = sizes**-2.0
    drawn = rng.choice(sizes, size=edges, p=chance / chance.sum())
    network = set_network(drawn, nodes=max(3000 * edges // 10_000, 40 * _COMMUNITIES))
    members = int(drawn.sum())
    triples = power_law(members // 3, nodes=(1500, 1000, 500), clusters=_COMMUNITIES)
    trainers = [trainer_for(n, preset=preset, kernels="cpu") for n in (network, triples)]
    for trainer in trainers:
        run_epoch(trainer)
    with timer:
        seconds = [[run_epoch(trainer) for trainer in trainers] for _ in range(turns)]
    return {
        "members": members,
        "sets": median(s for s, _ in seconds) / members,
        "triples": median(t for _, t in seconds) / members,
        "ratio": median(s / t for s, t in seconds),
    }


def long_sets(timer: Timer, preset: str, count: int, size: int) -> dict[str, Any]:
    """Return the seconds of all epochs when training on long sets."""
    network = set_network(np.full(count, size), nodes=5 * size * _COMMUNITIES // 4)
    trainer = trainer_for(network, preset=preset, kernels="cpu")
    run_epoch(trainer)
    epochs = trainer.settings.epochs or 1
    with timer:
        seconds = [run_epoch(trainer) for _ in range(min(epochs, 10))]
    return {"epochs": epochs, "seconds": median(seconds) * epochs}


def set_network(sizes: np.ndarray[Any, Any], nodes: int, seed: int = 0) -> HyperNetwork:
    """Return sets of these sizes, each with members from one of 20 communities."""
    rng = np.random.default_rng(seed)
    per = nodes // _COMMUNITIES
    edge_sets = []
    for size in np.unique(sizes).tolist():
        m = int((sizes == size).sum())
        community = rng.integers(_COMMUNITIES, size=m)
        rows = np.stack([rng.permutation(per)[:size] for _ in range(m)]) * _COMMUNITIES
        edge_sets.append(EdgeSet.build(("node",) * size, rows + community[:, None], ordered=False))
    return HyperNetwork({"node": Vocabulary.of_size(nodes, node_type="node")}, edge_sets)
