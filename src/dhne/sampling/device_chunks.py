"""Hyperedges on a device, chunk by chunk, for what is built there.

A network stays in main memory. Passing it through a device in chunks needs little of the device's
memory, however large the network is.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.network.edges import EdgeSet

_CHUNK_EDGES = 1 << 22


def device_chunks(edges: EdgeSet, device: Any, size: int = _CHUNK_EDGES) -> Iterator[EdgeSet]:
    """Yield the hyperedges in chunks whose nodes and weights are tensors on a device.

    The tensors must not be changed: weights that are all 1 share one number.

    Parameters
    ----------
    edges : EdgeSet
    device : torch.device
    size : int
        Hyperedges per chunk.
    """
    for low in range(0, len(edges), size):
        part = slice(low, low + size)
        nodes, weights = edges.nodes[part], _moved_weights(edges.weights[part], device)
        yield EdgeSet(edges.types, moved(nodes, device), weights)


def on_device(edges: EdgeSet, device: Any, dtype: Any) -> tuple[Any, Any]:
    """Return tensors of all nodes and weights on a device, the weights of a given type."""
    import torch

    nodes = torch.empty(edges.nodes.shape, dtype=torch.int64, device=device)
    weights = torch.empty(len(edges), dtype=dtype, device=device)
    low = 0
    for chunk in device_chunks(edges, device):
        columns: tuple[Any, Any] = chunk.nodes, chunk.weights
        part = slice(low, low + len(chunk))
        nodes[part], weights[part] = columns
        low += len(chunk)
    return nodes, weights


def moved(array: npt.NDArray[Any], device: Any) -> Any:
    """Return a copy of an array as a tensor on a device."""
    import torch

    if device.type != "cuda":
        return torch.tensor(array, device=device)
    kind = torch.from_numpy(np.empty(0, array.dtype)).dtype
    staged = torch.empty(array.shape, dtype=kind, pin_memory=True)  # several times as fast
    np.copyto(staged.numpy(), array)
    return staged.to(device)


def _moved_weights(weights: npt.NDArray[np.float64], device: Any) -> Any:
    import torch

    if weights.min(initial=1) == weights.max(initial=1) == 1:
        return torch.ones((), dtype=torch.float64, device=device).expand(len(weights))
    return moved(weights, device)
