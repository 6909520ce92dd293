"""Methods by name: DHNE and the baselines, made with what a command or an experiment gives.

================ ==============================================================================
``dhne``         the paper's model
``dhne-plus``    the same with pair evidence, leave-one-out training and rows of digits
others           see :mod:`dhne.baselines`
================ ==============================================================================
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dhne.baselines import METHODS as BASELINES
from dhne.baselines import method_class as baseline_class
from dhne.embedder import Embedder
from dhne.errors import ParameterError, UnknownNameError

METHODS = ("dhne", "dhne-plus", *BASELINES)
PAIRWISE = ("deepwalk", "line", "node2vec", "she")


def method_class(name: str) -> type[Embedder]:
    """Return the class of a method; its module is imported only now.

    Examples
    --------
    >>> method_class("dhne-pluss")
    Traceback (most recent call last):
    ...
    dhne.errors.UnknownNameError: unknown method 'dhne-pluss': did you mean 'dhne-plus'?
    """
    if name not in METHODS:
        raise UnknownNameError("method", name, METHODS)
    if name in ("dhne", "dhne-plus"):
        from dhne.estimator import DHNE

        return DHNE
    return baseline_class(name)


def make_method(
    name: str,
    *,
    seed: int,
    dim: int | None = None,
    device: str | None = None,
    settings: Mapping[str, Any] | None = None,
) -> Embedder:
    """Return an unfitted method.

    Parameters
    ----------
    name : str
        One of `METHODS`.
    seed : int
    dim : int, optional
        Embedding size; ignored by methods that have none.
    device : str, optional
        Ignored by methods that know the CPU only.
    settings : mapping, optional
        Hyper-parameters by name; one that the method does not have raises.
    """
    cls = method_class(name)
    accepted = set(cls._get_param_names())
    params: dict[str, Any] = {"preset": "plus"} if name == "dhne-plus" else {}
    if dim is not None and "dim" in accepted:
        params["dim"] = dim
    if device is not None and "device" in accepted:
        params["device"] = device
    for key, value in (settings or {}).items():
        if key not in accepted:
            raise UnknownNameError(f"setting of {name}", key, sorted(accepted))
        params[key] = value
    if "random_state" in accepted:
        params.setdefault("random_state", seed)
    return cls(**params)


def parse_settings(pairs: Iterable[str]) -> dict[str, Any]:
    """Return ``key=value`` texts as a mapping; values are read as JSON where they are JSON.

    Examples
    --------
    >>> parse_settings(["alpha=0.1", "optimizer=adam", "batch_size=null"])
    {'alpha': 0.1, 'optimizer': 'adam', 'batch_size': None}
    """
    found: dict[str, Any] = {}
    for pair in pairs:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            raise ParameterError(f"write a setting as key=value, not {pair!r}")
        try:
            found[key.strip()] = json.loads(text)
        except json.JSONDecodeError:
            found[key.strip()] = {"True": True, "False": False, "None": None}.get(text, text)
    return found
