"""JSON read strictly: what the JSON standard leaves open or forbids is refused, not guessed at.

Python's parser takes ``NaN``, lets the last of two equal keys win and recurses until the stack
ends; data from elsewhere gets a clear error instead.
"""

from __future__ import annotations

import json
from typing import Any

from dhne.errors import InputError

from .files import StrPath


def parse_json(data: bytes, file: StrPath) -> Any:
    """Return what the JSON text `data` holds.

    Examples
    --------
    >>> parse_json(b'{"a": [1, 2.5]}', "x.json")
    {'a': [1, 2.5]}
    >>> parse_json(b'{"a": 1, "a": 2}', "x.json")
    Traceback (most recent call last):
    dhne.errors.InputError: x.json: the key 'a' stands twice in one object
    """

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            keys = [k for k, _ in pairs]
            twice = next(k for i, k in enumerate(keys) if k in keys[:i])
            raise InputError(f"the key {twice!r} stands twice in one object", file=file)
        return found

    def refuse(text: str) -> Any:
        raise InputError(f"{text} is no JSON number", file=file)

    try:
        text = data.decode("utf-8-sig")
        return json.loads(text, object_pairs_hook=unique, parse_constant=refuse)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("this is not UTF-8 text", file=file, line=line) from None
    except json.JSONDecodeError as error:
        place = f"character {error.colno}: {error.msg}"
        raise InputError(f"this is no JSON: {place}", file=file, line=error.lineno) from None
    except RecursionError:
        raise InputError("it is nested too deeply", file=file) from None
    except ValueError as error:  # an integer of thousands of digits
        if isinstance(error, InputError):
            raise
        raise InputError(f"a number in it is too long: {error}", file=file) from None
