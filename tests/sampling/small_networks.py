"""Networks of one edge type, and the kinds of arrays that negatives are drawn for."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from dhne.network.hypernetwork import HyperNetwork

Convert = Callable[[np.ndarray], Any]
KINDS = [
    pytest.param(np.asarray, id="array"),
    pytest.param(torch.tensor, id="tensor"),
]
if torch.cuda.is_available():
    KINDS.append(
        pytest.param(lambda n: torch.tensor(n, device="cuda"), id="cuda", marks=pytest.mark.gpu)
    )


def grid(*sizes: int) -> np.ndarray:
    return np.array(list(product(*(range(n) for n in sizes))))


def network(nodes: np.ndarray | list[Any], sizes: tuple[int, ...], **options: Any) -> HyperNetwork:
    """Return a network of one edge type, all positions of different node types."""
    types = tuple("abcdef"[: len(sizes)])
    return HyperNetwork.from_arrays({types: nodes}, dict(zip(types, sizes, strict=True)), **options)


def one_type(nodes: Any, n: int, length: int, *, ordered: bool) -> HyperNetwork:
    return HyperNetwork.from_arrays({("x",) * length: nodes}, {"x": n}, ordered=ordered)
