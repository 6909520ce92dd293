"""Conversion of plain values to JSON, and strict parsing of JSON.

Python's parser accepts ``NaN``, keeps the last of duplicate keys, recurses until the stack
overflows and returns lone surrogates, which are not valid Unicode. Here each is a clear error.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dhne.errors import InputError

from .reading import StrPath, check_file, reading
from .writing import writing

_LARGEST_FILE_BYTES = 2**26  # for a description, a manifest or a configuration
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def plain(value: Any, *, finite: bool = False, other: Callable[[Any], Any] | None = None) -> Any:
    """Convert `value` to the types that JSON supports.

    NumPy numbers and arrays become numbers and lists; tuples, lists; paths and keys, strings.

    Parameters
    ----------
    finite : bool
        Whether to convert NaN and infinity, which JSON lacks, to None.
    other : callable, optional
        Converts any other object; by default a `TypeError` is raised.

    Examples
    --------
    >>> plain({"auc": np.float32(0.5), "sizes": (1, np.arange(2)), "loss": float("nan")})
    {'auc': 0.5, 'sizes': [1, [0, 1]], 'loss': nan}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(k): plain(v, finite=finite, other=other) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v, finite=finite, other=other) for v in value]
    if isinstance(value, set | frozenset):
        return sorted((plain(v, finite=finite, other=other) for v in value), key=str)
    if isinstance(value, float) and finite and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if other is not None:
        return other(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


def as_json(
    value: Any, *, indent: int | None = None, strict: bool = True, ascii_only: bool = True
) -> str:
    """Return JSON text for any value that :func:`plain` can convert.

    Parameters
    ----------
    strict : bool
        Whether to write NaN and infinity as null; otherwise they are written as Python does,
        which only Python can read.
    ascii_only : bool
        Whether to escape all other characters.

    Examples
    --------
    >>> as_json({"auc": np.float32(0.5), "loss": float("nan")})
    '{"auc": 0.5, "loss": null}'
    """
    data = plain(value, finite=strict)
    text = json.dumps(data, indent=indent, allow_nan=not strict, ensure_ascii=ascii_only)
    return text if text.isascii() or is_unicode(text) else json.dumps(data, indent=indent)


def write_json(path: StrPath, value: Any) -> None:
    """Write `value` atomically as an indented JSON file."""
    with writing(path) as (temporary,):
        text = as_json(value, indent=2, ascii_only=False) + "\n"
        temporary.write_text(text, encoding="utf-8")


def read_json(path: StrPath) -> Any:
    """Return the contents of a JSON file of moderate size."""
    with reading(path):
        size = check_file(path).stat().st_size
        if size > _LARGEST_FILE_BYTES:
            raise InputError(f"{size:,} bytes is too large for a file of this kind", file=path)
        return parse_json(Path(path).read_bytes(), path)


def parse_json(data: bytes | str, file: StrPath) -> Any:
    """Parse the JSON text `data`.

    Examples
    --------
    >>> parse_json(b'{"a": [1, 2.5]}', "x.json")
    {'a': [1, 2.5]}
    >>> parse_json(b'{"a": 1, "a": 2}', "x.json")
    Traceback (most recent call last):
    dhne.errors.InputError: x.json: the key 'a' appears twice in one object
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            keys = [k for k, _ in pairs]
            twice = next(k for i, k in enumerate(keys) if k in keys[:i])
            raise InputError(f"the key {twice!r} appears twice in one object", file=file)
        return found

    def refuse(text: str) -> Any:
        raise InputError(f"{text} is not a JSON number", file=file)

    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
        if _depth(text) > _DEEPEST and _depth(_STRING.sub("", text)) > _DEEPEST:
            raise InputError("nested too deeply", file=file)
        found = json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InputError("this is not UTF-8 text", file=file, line=line) from None
    except json.JSONDecodeError as error:
        place = f"character {error.colno}: {error.msg}"
        raise InputError(f"this is not JSON: {place}", file=file, line=error.lineno) from None
    except RecursionError:
        raise InputError("nested too deeply", file=file) from None
    except InputError:
        raise
    except ValueError:
        raise InputError("contains a number with thousands of digits", file=file) from None
    _check_unicode(found, text, file)
    return found


def _check_unicode(found: Any, text: str, file: StrPath) -> None:
    """Reject lone surrogates (half a character), which no file or table can store."""
    escaped = _SURROGATE.search(text)
    if escaped and not is_unicode(json.dumps(found, ensure_ascii=False)):
        line = text.count("\n", 0, escaped.start()) + 1
        raise InputError(
            f"text from here on contains half of a character (such as "
            f"{text[escaped.start() :][:6]}); write the whole character",
            file=file,
            line=line,
        )


def is_unicode(text: str) -> bool:
    """Whether a text has no half of a surrogate pair, so that it can be written as UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


_DEEPEST = 500  # levels of nested brackets
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def _depth(text: str) -> int:
    """Return the nesting depth of brackets, including those in strings."""
    found = np.frombuffer(text.encode("utf-8", "replace"), np.uint8)
    opening = (found == ord("[")) | (found == ord("{"))
    closing = (found == ord("]")) | (found == ord("}"))
    steps = opening.astype(np.int32) - closing
    return int(np.cumsum(steps).max(initial=0))
