"""The benchmarks can be run: each has a title and rows, and a wrong name is told."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from benchmarks.__main__ import main, names
from benchmarks._measure import in_process, side_by_side
from benchmarks._table import format_table

FOLDER = Path(__file__).parents[1] / "benchmarks"


def test_every_benchmark_says_what_it_measures() -> None:
    assert {"adjacency", "load", "negatives"} <= set(names())
    for name in names():
        module = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(module), name
        assert any(isinstance(d, ast.FunctionDef) and d.name == "run" for d in module.body), name


def test_an_unknown_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nonsense"])
    assert "unknown benchmark 'nonsense'; there are: " in capsys.readouterr().err


def test_table() -> None:
    rows = [{"what": "bare", "n": 12345}, {"what": "ours", "n": 7, "ratio": 1.234}]
    assert format_table(rows).splitlines() == [
        "  what       n  ratio",
        "  ----  ------  -----",
        "  bare  12,345",
        "  ours       7   1.23",
    ]


def test_times_come_in_order() -> None:
    calls: list[int] = []
    found = side_by_side(lambda: calls.append(0), lambda: calls.append(1), repeats=2)
    assert calls == [0, 1, 0, 1]
    assert len(found) == 2


def test_a_process_of_its_own_reports_time_memory_and_value() -> None:
    found = in_process("benchmarks.adjacency", "matrices", 1000, [100, 80, 60])
    assert found.seconds > 0
    assert found.peak_rss_mb > 10
    assert found.value > 0
