"""All adjacency matrices of a large network: at most 2 times the plain scipy products, in 8 GiB.

Ten million hyperedges over 1,000,000, 100,000 and 50,000 nodes with power-law degrees. The plain
products are H_t W H_sᵀ for each pair of node types, without joining, sorting or scaling. Each runs
in a separate process; the seconds per million hyperedges show that the work is linear.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from benchmarks._measure import Measured, Timer, in_process
from benchmarks._table import Row
from dhne.adjacency import adjacency
from dhne.datasets.generators import power_law
from dhne.network.hypernetwork import HyperNetwork

NODES = (1_000_000, 100_000, 50_000)
LIMIT, LIMIT_MB = 2.0, 8192


def run(quick: bool) -> list[Row]:
    largest = 200_000 if quick else 10_000_000
    rows: list[Row] = []
    for edges in (largest // 4, largest // 2, largest):
        nodes = [max(2, n * edges // 10_000_000) for n in NODES]
        bare = in_process(__name__, "bare_products", edges, nodes, repeats=2)
        ours = in_process(__name__, "matrices", edges, nodes, repeats=2)
        assert ours.value == bare.value
        rows.append(_row("scipy's products", edges, bare))
        ratio = ours.seconds / bare.seconds
        limits = {"ratio": ratio, "limit": LIMIT, "limit MiB": LIMIT_MB}
        rows.append(_row("dhne.adjacency", edges, ours) | limits)
    return rows


def _row(what: str, edges: int, measured: Measured) -> Row:
    return {
        "what": what,
        "hyperedges": edges,
        "entries": measured.value,
        "seconds": measured.seconds,
        "s per million": measured.seconds / edges * 1e6,
        "peak MiB": measured.peak_rss_mb,
    }


def network(edges: int, nodes: list[int]) -> HyperNetwork:
    return power_law(edges, nodes, types=("user", "movie", "tag"), seed=0)


def matrices(timer: Timer, edges: int, nodes: list[int]) -> int:
    net = network(edges, nodes)
    with timer:
        found = adjacency(net)
    return int(sum(a.matrix.nnz for a in found.values()))


def bare_products(timer: Timer, edges: int, nodes: list[int]) -> int:
    e = network(edges, nodes).edge_set()
    one_each = np.arange(len(e) + 1, dtype=np.int32)
    incidence = [
        sp.csr_array((np.ones(len(e)), e.nodes[:, p].astype(np.int32), one_each), shape=(len(e), n))
        for p, n in enumerate(nodes)
    ]
    with timer:
        weighted = [h.multiply(e.weights[:, None]).tocsr() for h in incidence]
        found = [incidence[p].T @ weighted[q] for p in range(3) for q in range(3) if p != q]
    return int(sum(a.nnz for a in found))
