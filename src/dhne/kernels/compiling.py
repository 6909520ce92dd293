"""numba's ``njit`` for this package: the same machine code in every process, kept where possible.

**The same machine code.** numba optimises a function, links it into the functions that call it
(with ``parallel=True``, a loop's body is such a function too) and optimises the whole again. The
process that compiles runs the first copy of a shared function, because the linker keeps the first
definition of a symbol; a process that loads the whole from the cache runs the second copy. Under
`fastmath` the two may sum in a different order. Therefore a function that Python calls is always
loaded from the cache, right after it was compiled too, and by a linker of its own, which knows no
other copy.

**Kept where possible.** Compiled code is kept in ``NUMBA_CACHE_DIR``, else beside the source, else
in the user's cache directory. If none of them can be written, as in a read-only container, a
temporary directory serves this process and its children.
"""

# mypy: disable-error-code="no-untyped-call,import-untyped"

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.core.cpu import CPUContext
from numba.core.registry import cpu_target

from dhne.errors import MachineWarning

__all__ = ["njit"]

_CACHE_DIR = "NUMBA_CACHE_DIR"


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Compile a function as `numba.njit` does; see the module for the two differences."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            compiled = numba.njit(**options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            return decorate_without_home(function)
        if options.get("cache"):
            compiled._cache = _SameCode(function, options)
        return compiled

    def decorate_without_home(function: Callable[..., Any]) -> Any:
        if _use_temporary_cache():
            return decorate(function)
        return numba.njit(**{**options, "cache": False})(function)

    return decorate


class _SameCode(FunctionCache):
    """A cache that compiles what it does not have, and then loads it like everything else."""

    # How many compilations are under way; numba's compiler lock guards it. What is compiled on
    # behalf of another function is linked into that and needs no care.
    _depth = 0

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        super().__init__(function)
        self._function, self._options = function, options

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the code for a signature; None if it is for another function and not there."""
        if _SameCode._depth:
            return super().load_overload(sig, target_context)
        alone = CPUContext(cpu_target.typing_context, "cpu")
        found = super().load_overload(sig, alone)
        if found is not None:
            return found
        twin = numba.njit(**self._options)(self._function)
        _SameCode._depth += 1
        try:
            twin.compile(sig)
        finally:
            _SameCode._depth -= 1
        found = super().load_overload(sig, alone)
        return next(iter(twin.overloads.values())) if found is None else found


def _use_temporary_cache() -> bool:
    """Have numba keep compiled code in a temporary directory; return whether there is one."""
    try:
        folder = tempfile.mkdtemp(prefix="dhne-compiled-")
    except OSError:
        _warn("every process compiles its own, and the first run's bits may differ")
        return False
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    os.environ[_CACHE_DIR] = folder
    numba.config.CACHE_DIR = folder  # type: ignore[attr-defined]
    _warn("a temporary directory is used, and every run compiles again (about a minute)")
    return True


def _warn(what: str) -> None:
    warnings.warn(
        f"compiled kernels cannot be kept: neither the package's directory nor the user's cache "
        f"is writable; {what}. To keep them, set {_CACHE_DIR} to a directory that is writable",
        MachineWarning,
        stacklevel=4,
    )
