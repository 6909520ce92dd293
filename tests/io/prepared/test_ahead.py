"""Reading ahead changes neither the items nor the place of an error."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from dhne.io.prepared.ahead import ahead


def failing() -> Iterator[int]:
    yield 1
    yield 2
    raise ValueError("the third")


def test_an_error_is_raised_where_its_item_would_be() -> None:
    items = ahead(failing())
    assert (next(items), next(items)) == (1, 2)
    with pytest.raises(ValueError, match="the third"):
        next(items)


def test_none_is_an_item_like_any_other() -> None:
    assert list(ahead(iter([None, 1, None]))) == [None, 1, None]
    assert list(ahead(iter(()))) == []


def test_it_may_be_closed_early() -> None:
    taken: list[int] = []

    def items() -> Iterator[int]:
        for number in range(10):
            taken.append(number)
            yield number

    reader = ahead(items())
    assert next(reader) == 0
    reader.close()
    assert taken == [0, 1]
