"""Checked negatives cost at most 3 times drawing as many unchecked random tuples with NumPy.

Five negatives per training hyperedge of wordnet (or of a random network of the same size, if the
dataset is not available), none of them in train or test, against three calls of
``rng.integers`` stacked into one array of tuples. The other rows show the other schemes, a batch of
1,024 hyperedges as training draws it, and torch tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks._measure import side_by_side
from benchmarks._table import Row
from dhne.errors import DHNEError
from dhne.network.hypernetwork import HyperNetwork
from dhne.sampling import SCHEMES, KnownEdges, NegativeSampler

LIMIT = 3.0
PER_POSITIVE = 5


def run(quick: bool) -> list[Row]:
    name, train, test = networks(quick)
    known = KnownEdges(train, test)
    sampler = {s: NegativeSampler(train, known, scheme=s) for s in SCHEMES}
    rng = np.random.default_rng(0)
    edges = train.edges()
    rows = []
    repeats = 3 if quick else 15
    for scheme in SCHEMES:
        limit = {"limit": LIMIT} if scheme == "paper" else {}
        ours = drawing(sampler[scheme], edges, rng)
        rows.append(compare(f"{name}, {scheme}", ours, train, len(edges), repeats) | limit)
    batch = edges[:1024]
    ours = drawing(sampler["paper"], batch, rng)
    rows.append(compare("a batch", ours, train, len(batch), 20 * repeats))
    return rows + on_tensors(sampler["paper"], batch, edges, train, repeats)


def drawing(sampler: NegativeSampler, edges: Any, rng: Any) -> Callable[[], Any]:
    return lambda: sampler.sample(edges, rng, per_positive=PER_POSITIVE)


def compare(
    what: str, ours: Callable[[], Any], net: HyperNetwork, positives: int, repeats: int
) -> Row:
    """Time one way of drawing against unchecked random tuples, in turns."""
    rng = np.random.default_rng(0)
    sizes, count = net.position_sizes().tolist(), positives * PER_POSITIVE

    def unchecked() -> Any:
        return np.stack([rng.integers(0, n, count) for n in sizes], axis=1)

    checked, random = side_by_side(ours, unchecked, repeats=repeats)
    return {
        "what": what,
        "negatives": count,
        "checked ms": checked * 1e3,
        "unchecked ms": random * 1e3,
        "ratio": checked / random,
    }


def on_tensors(
    sampler: NegativeSampler, batch: Any, edges: Any, net: HyperNetwork, repeats: int
) -> list[Row]:
    import torch

    rows = []
    for device in ["cpu", "cuda"] if torch.cuda.is_available() else ["cpu"]:
        rng = torch.Generator(device=device).manual_seed(0)
        wait = torch.cuda.synchronize if device == "cuda" else lambda: None
        for what, nodes in (("a batch", batch), ("all", edges)):
            tensor = torch.tensor(nodes, device=device)

            def ours(tensor: Any = tensor, rng: Any = rng, wait: Any = wait) -> None:
                sampler.sample(tensor, rng, per_positive=PER_POSITIVE)
                wait()

            rows.append(compare(f"{what}, tensors on {device}", ours, net, len(nodes), repeats))
    return rows


def networks(quick: bool) -> tuple[str, HyperNetwork, HyperNetwork]:
    """Return the two parts of wordnet, or random ones of the same size."""
    import dhne

    if not quick:
        try:
            data = dhne.load_dataset("wordnet", download=False)
            return "wordnet", data.train, data.test
        except DHNEError as error:
            print(f"  ({error}; using a random network instead)")
    rng, sizes = np.random.default_rng(0), (40_750, 18, 40_752)
    nodes = np.stack([rng.integers(0, n, 146_442) for n in sizes], axis=1)
    counts = dict(zip(("head", "relation", "tail"), sizes, strict=True))
    whole = HyperNetwork.from_arrays({("head", "relation", "tail"): nodes}, counts)
    return "random", *whole.split(0.2)
