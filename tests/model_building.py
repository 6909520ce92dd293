"""Models, batches and corrupted hyperedges that the tests of model and training share."""

from __future__ import annotations

import numpy as np
import torch

from dhne import HyperNetwork
from dhne.adjacency import adjacency
from dhne.kernels import Kernels
from dhne.model.evidence import PairEvidence
from dhne.model.joint import Architecture, DHNEModel
from dhne.model.losses import CrossEntropy
from dhne.model.row_encoding import RowEncoding
from dhne.network.edges import EdgeSet
from dhne.sampling import NegativeSampler
from dhne.training.batches import BatchMaker, BatchOptions
from dhne.training.step_inputs import StepInputs
from tests.dense_reference import Edge, Tuple
from tests.kernels.backends import device_of

K = 2  # negatives per hyperedge
LOSS = CrossEntropy()


def build(network: HyperNetwork, architecture: Architecture, seed: int = 0) -> DHNEModel:
    """A float64 model with every weight drawn, the biases too."""
    columns = {t: a.shape[1] for t, a in adjacency(network).items()}
    model = DHNEModel(columns, network.edge_sets, architecture).double()
    source = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            p.normal_(0, 0.4, generator=source)
    return model


def make_batches(
    network: HyperNetwork,
    kernels: Kernels,
    backend: str = "cpu",
    dtype: torch.dtype = torch.float64,
    *,
    alpha: float = 0.3,
    leave_one_out: bool = False,
    rows: str = "counts",
    evidence: bool = False,
    batch_size: int = 10_000,
) -> BatchMaker:
    matrices = adjacency(network, dtype=np.float64 if dtype == torch.float64 else np.float32)
    device = device_of(backend)
    alphas = {t: alpha * (1 + i) for i, t in enumerate(network.node_types)}
    return BatchMaker(
        network,
        {t: RowEncoding(a, rows) for t, a in matrices.items()},
        kernels,
        NegativeSampler(network, per_positive=K, allow_fewer=True),
        BatchOptions(batch_size, alphas, leave_one_out),
        device=device,
        dtype=dtype,
        evidence=(
            PairEvidence(network, matrices, device=device, dtype=dtype) if evidence else None
        ),
    )


def corrupt(maker: BatchMaker, seed: int) -> tuple[StepInputs, list[Tuple]]:
    """Hyperedges with corruptions of them: as `maker.assemble` takes them, and spelled out.

    The corruptions change any number of positions, none included, and some count as not found.
    """
    rng = np.random.default_rng(seed)
    network, device = maker.network, maker.device
    groups, items = [], []
    for e in network.edge_sets:
        if not len(e):
            continue
        chosen = np.flatnonzero(rng.random(len(e)) < 0.7)
        nodes, weights = e.nodes[chosen], e.weights[chosen]
        negatives = np.repeat(nodes, K, axis=0)
        for p, t in enumerate(e.types):
            swap = rng.random(len(negatives)) < 0.4
            negatives[swap, p] = rng.integers(network.num_nodes(t), size=swap.sum())
        valid = rng.random(len(negatives)) < 0.8
        drawn = maker.drawer.with_negatives(
            maker.drawer.positives(EdgeSet(e.types, nodes, weights)),
            torch.from_numpy(negatives).to(device),
            torch.from_numpy(valid).to(device),
        )
        groups.append(drawn)
        sources = [Edge(e.types, tuple(v.tolist()), w) for v, w in zip(nodes, weights, strict=True)]
        items += [Tuple(e.types, s.nodes, 1, True, s, (True,) * e.length) for s in sources]
        for i, v in enumerate(negatives):
            kept = tuple((v == nodes[i // K]).tolist())
            source = sources[i // K]
            items.append(Tuple(e.types, tuple(v.tolist()), 0, bool(valid[i]), source, kept))
    return StepInputs(tuple(groups), rng.random()), items
