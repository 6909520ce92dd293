"""Names are found whatever they hold."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dhne import Vocabulary
from dhne.explorer.names import NameIndex

TEXT = st.text(st.characters(codec="utf-8"), max_size=6)


@given(st.lists(TEXT, min_size=1, max_size=8, unique=True), TEXT)
def test_search_finds_just_the_names_that_hold_a_text(names: list[str], text: str) -> None:
    index = NameIndex(Vocabulary(names), np.ones(len(names), np.int64))
    found, total = index.search(text, 100)
    assert len(found) == total
    for i, name in enumerate(names):
        assert index.find(name) == i
        if name.isascii() and text.isascii():
            assert (i in found) == (text.strip().lower() in name.lower())


def test_the_best_match_comes_first() -> None:
    names = ["a heat", "heater", "heat", "Heath", "other"]
    index = NameIndex(Vocabulary(names), np.array([9, 1, 1, 5, 1]))
    assert index.search("heat", 10)[0].tolist() == [2, 3, 1, 0]
    assert index.search("", 2)[0].tolist() == [0, 3]


def test_integers_are_found_by_their_digits() -> None:
    index = NameIndex(Vocabulary([7, -70, 10**18]), np.ones(3, np.int64))
    assert [index.find(t) for t in ("7", "-70", str(10**18), "٧", "7.0", "", "9" * 40)] == [
        0, 1, 2, -1, -1, -1, -1,
    ]  # fmt: skip
    assert index.search("7", 5)[0].tolist() == [0, 1]
