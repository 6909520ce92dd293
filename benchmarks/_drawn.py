"""A power-law network for sizes at which `dhne.datasets.power_law` takes too long.

The nodes have the same distribution as there: a cluster per hyperedge, popular nodes first, a tenth
of the positions from another cluster. They are drawn on the device in chunks, each of which is
copied to its place in main memory: a billion hyperedges take a minute instead of ten. It differs in
three ways. The random numbers are torch's, so the network is not the same one, and depends on the
device; there are no labels; and all weights are one number, where an array would take 8 bytes per
hyperedge.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from benchmarks.scale import nodes_of
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary

EXPONENT, CLUSTERS, NOISE = 2.5, 50, 0.1  # the defaults of `power_law`
_CHUNK_EDGES = 1 << 24


def drawn_network(edges: int, device: str, *, chunk: int = _CHUNK_EDGES) -> HyperNetwork:
    """Return a power-law network of this many hyperedges over a tenth as many nodes.

    The device's memory is free again afterwards, and its peak is reset.
    """
    sizes = nodes_of(edges)
    names = tuple(f"type{i + 1}" for i in range(len(sizes)))
    nodes = np.empty((edges, len(sizes)), dtype=np.int64)
    _draw(torch.from_numpy(nodes), sizes, torch.device(device), chunk)
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    nodes.flags.writeable = False
    weights = np.broadcast_to(1.0, edges)
    vocabularies = {
        t: Vocabulary.of_size(n, node_type=t) for t, n in zip(names, sizes, strict=True)
    }
    return HyperNetwork(vocabularies, [EdgeSet(EdgeType(names), nodes, weights)])


def _draw(nodes: Tensor, sizes: list[int], device: torch.device, chunk: int) -> None:
    """Fill in the nodes of all hyperedges."""
    source = torch.Generator(device).manual_seed(0)
    clusters = min(CLUSTERS, *sizes)
    # ids reveal neither degree nor cluster
    scramble = [torch.randperm(n, generator=source, device=device) for n in sizes]
    for part in torch.split(nodes, chunk):
        m = len(part)
        shared = torch.randint(clusters, (m,), generator=source, device=device)
        columns = []
        for n, ids in zip(sizes, scramble, strict=True):
            other = torch.randint(clusters, (m,), generator=source, device=device)
            astray = torch.rand(m, generator=source, device=device) < NOISE
            own = torch.where(astray, other, shared)
            rank = _ranks((n - own + clusters - 1) // clusters, source)
            columns.append(ids[rank * clusters + own])
        part.copy_(torch.stack(columns, dim=1))


def _ranks(sizes: Tensor, source: torch.Generator) -> Tensor:
    """Draw the rank of a node among so many, popular ones first; formula as in `power_law`."""
    power = 1 - 1 / (EXPONENT - 1)
    drawn = torch.rand(len(sizes), dtype=torch.float64, generator=source, device=sizes.device)
    drawn *= (sizes + 1.0).double().pow(power) - 1
    return torch.minimum((drawn + 1).pow(1 / power).long() - 1, sizes - 1)
