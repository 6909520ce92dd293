"""`Arguments`: what the constructor of `DHNE` takes and stores.

There is one argument for each hyper-parameter of `Settings`; None means the preset's value.
The arguments that are not hyper-parameters are declared here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .declaration import Parameter, declared, parameter
from .presets import PRESETS, resolve_settings
from .settings import Settings


@dataclass(kw_only=True, eq=False, repr=False)
class Arguments:
    """The arguments of `DHNE`, which documents them."""

    dim: int | Mapping[str, int] | None = field(default=None, kw_only=False)
    alpha: float | None = field(default=None, kw_only=False)
    activation: str | None = None
    encoder_layers: Sequence[int] | None = None
    similarity: str | None = None
    loss: str | None = None
    hidden: int | Sequence[int] | None = None
    negatives: int | None = None
    negative_scheme: str | None = None
    optimizer: str | None = None
    learning_rate: float | None = None
    table_rate: float | None = None
    decay: float | None = None
    averaging: float | None = None
    batch_size: int | None = None
    epochs: int | None = None
    batch_scale: float | None = None
    epochs_at_thousand: float | None = None
    epochs_decline: float | None = None
    reconstruction: str | None = None
    validation: float | None = None
    patience: int | None = None
    row_sample: int | None = None
    leave_one_out: bool | None = None
    evidence: bool | None = None
    rows: str | None = None
    products: bool | None = None
    product_dim: int | None = None
    dropout: float | None = None
    ranking_epochs: int | None = None
    candidates: int | None = None
    holdout: float | None = None
    propagation: int | None = None

    preset: str | None = parameter(
        None,
        choices=PRESETS,
        group="model",
        rule="default",
        help="Named settings; explicit arguments override them. paper and released follow the "
        "paper and its authors' code; plus adds pair evidence, leave-one-out training and rows "
        "of digits.",
    )
    random_state: int = parameter(
        0,
        low=0,
        high=2**63 - 1,
        group="machine",
        help="Random seed. On one machine's CPU, the same seed gives the same bits.",
    )
    device: str = parameter(
        "auto",
        group="machine",
        help="cpu, cuda, or auto: a CUDA device if there is one.",
    )
    kernels: str = parameter(
        "auto",
        choices=("auto", "reference", "cpu", "cuda"),
        group="machine",
        help="Backend. auto uses the device's, or the reference for networks so small that "
        "compiling the CPU kernels (once, about twenty seconds) would take longer than training.",
    )
    dtype: str = parameter(
        "float32",
        choices=("float32", "float64"),
        group="machine",
        help="Precision of the weights.",
    )
    verbose: bool = parameter(
        False,
        group="machine",
        help="Show a progress bar.",
    )


# Every argument of `DHNE` by name: hyper-parameters first, in constructor order.
PARAMETERS: dict[str, Parameter] = {**declared(Settings), **declared(Arguments)}


def check_arguments(given: Mapping[str, Any]) -> Settings:
    """Check arguments of `DHNE` and return the resulting settings.

    Examples
    --------
    >>> check_arguments({"kernels": "gpu"})
    Traceback (most recent call last):
    ...
    dhne.errors.UnknownNameError: unknown kernels 'gpu': did you mean 'cpu'?
    """
    for name, declaration in declared(Arguments).items():
        if name in given:
            declaration.check(given[name])
    return resolve_settings(given.get("preset"), given)
