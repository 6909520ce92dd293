"""Runs of any registered method: its parameters, its network, its embeddings and what it learned.

What a method learned is every attribute that is neither a parameter nor `network_` or
`embeddings_`. It can be saved if each is an array or a mapping of texts to arrays: nothing is
pickled. `DHNE` writes runs of its own, which can also be resumed.
"""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from dhne import __version__
from dhne.errors import ParameterError, RunError, UnknownNameError

from .registry import METHODS, Method, find_method

if TYPE_CHECKING:
    from dhne.embedder import Embedder
    from dhne.storage import RunContents

_KEPT_APART = ("network_", "embeddings_")
_BETWEEN = "/"  # an attribute's name and a key, in the name of an array


def save(model: Embedder, path: str | PathLike[str]) -> None:
    """Save a fitted method as a run directory; `dhne.load` brings it back."""
    import torch

    from dhne.storage import RunContents, save_run

    own = getattr(model, "save", None)
    if own is not None:
        own(path)
        return
    model._check_fitted()
    params = model.get_params(deep=False)
    config = {"method": _method_of(model).name, "version": __version__, "params": params}
    tensors = {k: torch.from_numpy(np.ascontiguousarray(v)) for k, v in _learned(model).items()}
    save_run(Path(path), RunContents(config, tensors, model.network_, model.embeddings_))


def load(path: str | PathLike[str]) -> Any:
    """Load a run: a `DHNE`, or the registered method that it names."""
    from dhne.storage import load_run
    from dhne.storage.sense import making_sense

    contents = load_run(Path(path))
    name = str(contents.config.get("method"))
    if name not in METHODS:
        raise RunError(
            f"{path} holds a run of the method {name!r}, which is not registered; register it "
            "before you load the run (see dhne.methods)"
        )
    cls: Any = find_method(name).load_class()
    with making_sense(path):
        return cls._from_run(contents) if hasattr(cls, "_from_run") else _restored(cls, contents)


def method_of(model: Embedder) -> str:
    """Return the name of a model's method: of those of its class the one that it is set up as.

    A class that is not registered goes by its own name.

    Examples
    --------
    >>> from dhne import DHNE
    >>> method_of(DHNE(preset="plus")), method_of(DHNE(dim=8))
    ('dhne-plus', 'dhne')
    """
    params = model.get_params(deep=False)
    fitting = [m for m in _methods_of(model) if dict(m.params).items() <= params.items()]
    best = max(fitting, key=lambda m: len(m.params), default=None)
    return type(model).__name__ if best is None else best.name


def _methods_of(model: Embedder) -> list[Method]:
    cls = type(model)
    path = f"{cls.__module__}:{cls.__qualname__}"
    return [m for m in METHODS.values() if m.source in (cls, path)]


def _method_of(model: Embedder) -> Method:
    found = _methods_of(model)
    if found:
        return found[0]
    raise ParameterError(
        f"{type(model).__name__} is not registered, so its run could not be loaded; register it "
        "first (see dhne.methods)"
    )


def _learned(model: Embedder) -> dict[str, npt.NDArray[Any]]:
    """Return what a method learned, as arrays by name."""
    params = model.get_params(deep=False)
    found: dict[str, npt.NDArray[Any]] = {}
    for name, value in model.__getstate__().items():
        if name in params or name in _KEPT_APART:
            continue
        parts = value if isinstance(value, Mapping) else {"": value}
        for key, array in parts.items():
            numeric = isinstance(array, np.ndarray | np.generic) and array.dtype.kind in "biuf"
            if not numeric or not isinstance(key, str):
                raise ParameterError(
                    f"{type(model).__name__} cannot be saved: its attribute {name} is not an "
                    "array of numbers, or a mapping of texts to such arrays"
                )
            found[f"{name}{_BETWEEN}{key}"] = np.asarray(array)
    return found


def _restored(cls: type[Embedder], contents: RunContents) -> Embedder:
    accepted, params = cls._get_param_names(), contents.config.get("params", {})
    for name in params:
        if name not in accepted:
            raise RunError(
                f"the run's config.json: {UnknownNameError('parameter', name, accepted)}"
            )
    model = cls(**params)
    for name, tensor in contents.tensors.items():
        attribute, _, key = name.partition(_BETWEEN)
        if key:
            model.__dict__.setdefault(attribute, {})[key] = tensor.numpy()
        else:
            setattr(model, attribute, tensor.numpy())
    model.network_, model.embeddings_ = contents.network, contents.embeddings
    return model
