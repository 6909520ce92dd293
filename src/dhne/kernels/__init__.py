"""Sparse products behind one interface: a torch reference, compiled CPU loops, CUDA kernels."""

from __future__ import annotations

import torch

from dhne.errors import ParameterError

from .interface import (
    Distinct,
    ExtraRows,
    Kernels,
    RowSample,
    RowSelection,
    SparseMatrix,
    Stepped,
    StepSize,
    Table,
    UpdateRule,
)

__all__ = [
    "Distinct",
    "ExtraRows",
    "Kernels",
    "RowSample",
    "RowSelection",
    "SparseMatrix",
    "StepSize",
    "Stepped",
    "Table",
    "UpdateRule",
    "get_kernels",
]

BACKENDS = ("auto", "reference", "cpu", "cuda")


def get_kernels(name: str, device: torch.device) -> Kernels:
    """Return the backend of that name; ``"auto"`` is the fastest for the device.

    Examples
    --------
    >>> get_kernels("reference", torch.device("cpu")).name
    'reference'
    """
    if name not in BACKENDS:
        raise ParameterError(f"kernels must be one of {', '.join(BACKENDS)}, got {name!r}")
    if name == "auto":
        name = device.type if device.type in ("cpu", "cuda") else "reference"
    if name in ("cpu", "cuda") and name != device.type:
        raise ParameterError(f"{name} kernels need device={name!r}, not {device}")
    if name == "cpu":
        from .cpu import CompiledKernels

        return CompiledKernels()
    if name == "cuda":
        from .cuda import CudaKernels

        return CudaKernels(device)
    from .reference import ReferenceKernels

    return ReferenceKernels()
