"""One clear error for any failure while a run is written."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from dhne.errors import RunError
from dhne.files.reading import one_line

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextlib.contextmanager
def saving(path: Path) -> Iterator[None]:
    """Turn any failure while writing to `path` into one clear `RunError`."""
    from safetensors import SafetensorError

    try:
        yield
    except (OSError, SafetensorError, pa.ArrowException) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        full = getattr(error, "errno", None) in _FULL or any(
            os.strerror(code).lower() in str(error).lower() for code in _FULL
        )
        advice = "free some space and try again" if full else "nothing was changed"
        raise RunError(f"{path}: cannot be saved: {reason}; {advice}") from None
