"""Values as JSON, and JSON read strictly."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dhne.errors import InputError
from dhne.files.plain_json import as_json, parse_json, plain, read_json, write_json


def test_numpy_paths_and_tuples_become_plain() -> None:
    value = {
        1: np.int64(2),
        "b": (np.float32(0.5), np.arange(2)),
        "p": Path("a/b"),
        "s": {"z", "y"},
    }
    assert plain(value) == {"1": 2, "b": [0.5, [0, 1]], "p": "a/b", "s": ["y", "z"]}


def test_strict_json_has_no_nan_and_lenient_json_keeps_it() -> None:
    value = {"x": [float("nan"), np.float64("inf"), 1.0]}
    assert as_json(value) == '{"x": [null, null, 1.0]}'
    assert "NaN" in as_json(value, strict=False)


def test_what_json_cannot_hold_is_refused_unless_told_what_to_do() -> None:
    with pytest.raises(TypeError, match="object cannot be written"):
        as_json([object()])
    assert plain([complex(1, 2)], other=str) == ["(1+2j)"]


def test_a_lone_surrogate_is_written_escaped() -> None:
    text = as_json({"file": "a\udcff"}, ascii_only=False)
    assert text.isascii()
    assert json.loads(text) == {"file": "a\udcff"}


def test_written_and_read_back(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"name": "größe", "n": [1, 2]})
    assert read_json(tmp_path / "x.json") == {"name": "größe", "n": [1, 2]}
    assert "größe" in (tmp_path / "x.json").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1, "a": 2}', "appears twice"),
        ("[NaN]", "NaN is not a JSON number"),
        ("[" * 5000 + "]" * 5000, "nested too deeply"),
        ("[" + "1" * 5000 + "]", "thousands of digits"),
        ('{\n"a": "\\ud800"}', r"x.json:2: .*half of a character"),
        ('{"\\udfff": 1}', "half of a character"),
        ("{", "this is not JSON"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_what_the_standard_forbids_is_one_clear_error(text: str | bytes, message: str) -> None:
    data = text if isinstance(text, bytes) else text.encode()
    with pytest.raises(InputError, match=message):
        parse_json(data, "x.json")


def test_whole_surrogate_pairs_are_one_character() -> None:
    assert parse_json(b'["\\ud83d\\ude00"]', "x.json") == ["\U0001f600"]
