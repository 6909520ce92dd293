"""Optional libraries: imported when needed; if missing, the error names the extra."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dhne.errors import MissingExtraError


def require(module: str, *, extra: str = "interop", package: str | None = None) -> Any:
    """Import a library, or raise an error that names the extra to install.

    Parameters
    ----------
    module : str
    extra : str
    package : str, optional
        Name of the distribution, if it differs from the module.

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
