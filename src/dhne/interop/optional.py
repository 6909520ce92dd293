"""Libraries that are installed by an extra: imported when they are needed, or asked for by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dhne.errors import MissingExtraError


def require(module: str, *, extra: str = "interop", package: str | None = None) -> Any:
    """Import a library, or say which extra brings it.

    Parameters
    ----------
    module : str
    extra : str
    package : str, optional
        What it is called where it is installed from, if not as the module.

    Examples
    --------
    >>> require("math").floor(2.5)
    2
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        top = module.partition(".")[0]
        if error.name is not None and error.name.partition(".")[0] == top:
            raise MissingExtraError(package or top, extra=extra) from error
        raise
