"""One clear error for runs whose checksums match but whose contents are invalid."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from os import PathLike

from dhne.errors import DHNEError, RunError
from dhne.files.reading import one_line

_NONSENSE = (
    *(ArithmeticError, AssertionError, AttributeError, LookupError),
    *(RuntimeError, TypeError, ValueError),
)


@contextlib.contextmanager
def making_sense(path: str | PathLike[str]) -> Iterator[None]:
    """Turn any failure to build a model from a run's parts into one `RunError`."""
    try:
        yield
    except RunError:
        raise
    except (DHNEError, *_NONSENSE) as error:
        raise RunError(f"{path}: its parts do not fit together: {one_line(error)}") from None
