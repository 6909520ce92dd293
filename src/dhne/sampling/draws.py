"""Random numbers and the array operations that the sampler needs, for NumPy and torch.

The sampler is written once, with operations common to arrays and tensors; this module covers those
that differ. Nothing here makes the host wait for a device, except where noted.
"""

# ruff: noqa: D102 - the methods are documented in the base class

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import ParameterError


class Draws(ABC):
    """A source of random numbers, with the matching array operations."""

    device: str

    @abstractmethod
    def uniform(self, n: int) -> Any:
        """Return ``float64[n]``, uniform in [0, 1)."""

    @abstractmethod
    def table(self, array: npt.NDArray[Any]) -> Any:
        """Convert a NumPy array to this source's array type."""

    @abstractmethod
    def truncate(self, x: Any) -> Any:
        """Return the integer part of non-negative numbers, as int64."""

    @abstractmethod
    def repeat(self, columns: Any, k: int) -> Any:
        """Repeat each entry of the last axis k times, as a new contiguous array."""

    @abstractmethod
    def join(self, parts: list[Any]) -> Any:
        """Concatenate one-dimensional arrays."""

    @abstractmethod
    def empty(self, *shape: int) -> Any:
        """Return an uninitialised int64 array."""

    @abstractmethod
    def range(self, n: int) -> Any:
        """Return ``int64[n]``, 0 … n-1."""

    @abstractmethod
    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        """Choose between two arrays, element by element."""

    @abstractmethod
    def search(self, table: Any, values: Any) -> Any:
        """Return, for each value, the number of entries of a sorted table that are not above it."""

    @abstractmethod
    def rows(self, mask: Any) -> Any:
        """Return the rows where `mask` is true; may wait for the device."""

    @abstractmethod
    def rows_at_most(self, mask: Any) -> Any:
        """Return rows that include all those of `mask`, without waiting for the device."""


class NumpyDraws(Draws):
    """Random numbers from a NumPy generator."""

    device = "numpy"

    def __init__(self, rng: int | np.integer[Any] | np.random.Generator) -> None:
        self._rng = np.random.default_rng(int(rng) if isinstance(rng, np.integer) else rng)

    def uniform(self, n: int) -> npt.NDArray[np.float64]:
        return self._rng.random(n)

    def table(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return array

    def truncate(self, x: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
        return x.astype(np.int64)

    def repeat(self, columns: npt.NDArray[Any], k: int) -> npt.NDArray[Any]:
        return np.repeat(columns, k, axis=-1)

    def join(self, parts: list[Any]) -> Any:
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def empty(self, *shape: int) -> npt.NDArray[np.int64]:
        return np.empty(shape, dtype=np.int64)

    def range(self, n: int) -> npt.NDArray[np.int64]:
        return np.arange(n, dtype=np.int64)

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        return np.where(condition, yes, no)

    def search(self, table: Any, values: Any) -> Any:
        return np.searchsorted(table, values, side="right")

    def rows(self, mask: Any) -> Any:
        return np.flatnonzero(mask)

    rows_at_most = rows


class TorchDraws(Draws):
    """Random numbers from a torch generator, on its device."""

    def __init__(self, rng: Any, device: Any) -> None:
        import torch

        self._torch = torch
        self._device = torch.device(device)
        self.device = str(self._device)
        if isinstance(rng, int | np.integer):
            rng = torch.Generator(device=self._device).manual_seed(int(rng))
        if not isinstance(rng, torch.Generator):
            raise ParameterError(
                f"negatives for tensors need a torch.Generator or a seed, got {type(rng).__name__}"
            )
        if rng.device.type != self._device.type:
            raise ParameterError(
                f"the generator is on {rng.device}, the hyperedges are on {self._device}; "
                "create both on the same device"
            )
        self._rng = rng

    def uniform(self, n: int) -> Any:
        float64 = self._torch.float64
        return self._torch.rand(n, generator=self._rng, device=self._device, dtype=float64)

    def table(self, array: npt.NDArray[Any]) -> Any:
        return self._torch.tensor(array, device=self._device)

    def truncate(self, x: Any) -> Any:
        return x.long()

    def repeat(self, columns: Any, k: int) -> Any:
        wide = columns.unsqueeze(-1).expand(*columns.shape, k)
        return wide.clone(memory_format=self._torch.contiguous_format).flatten(-2)

    def join(self, parts: list[Any]) -> Any:
        return parts[0] if len(parts) == 1 else self._torch.cat(parts)

    def empty(self, *shape: int) -> Any:
        return self._torch.empty(shape, dtype=self._torch.int64, device=self._device)

    def range(self, n: int) -> Any:
        return self._torch.arange(n, device=self._device)

    def where(self, condition: Any, yes: Any, no: Any) -> Any:
        return self._torch.where(condition, yes, no)

    def search(self, table: Any, values: Any) -> Any:
        return self._torch.searchsorted(table, values, right=True)

    def rows(self, mask: Any) -> Any:
        return mask.nonzero().reshape(-1)

    def rows_at_most(self, mask: Any) -> Any:
        return slice(None) if self._device.type != "cpu" else self.rows(mask)


def draws_for(nodes: Any, rng: Any) -> Draws:
    """Return the source of random numbers for an array or a tensor of hyperedges."""
    if not isinstance(nodes, np.ndarray):
        return TorchDraws(rng, nodes.device)
    if not isinstance(rng, int | np.integer | np.random.Generator):
        raise ParameterError(
            "negatives for arrays need a numpy.random.Generator or a seed, "
            f"got {type(rng).__name__}"
        )
    return NumpyDraws(rng)
