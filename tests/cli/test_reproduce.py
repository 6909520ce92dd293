"""``dhne reproduce``: a page from real measurements, resumed where it was interrupted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dhne.cli import main

ARGUMENTS = ["reproduce", "figure-roc", "--quick", "--methods", "she"]


def test_a_page_and_records_that_are_reused(
    data_dir: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("DHNE_DATA", str(data_dir))
    out = tmp_path / "r"
    assert main([*ARGUMENTS, "--seeds", "0", "--out", str(out)]) == 0
    assert "1 measured, 0 found" in capsys.readouterr().err
    assert main([*ARGUMENTS, "--seeds", "0,1", "--out", str(out)]) == 0
    assert "1 measured, 1 found" in capsys.readouterr().err
    records = [json.loads(p.read_text()) for p in (out / "records").iterdir()]
    assert sorted(r["results"][0]["seed"] for r in records) == [0, 1]
    page = (out / "index.html").read_text()
    assert "dhne reproduce figure-roc --quick --methods she --seeds 0,1" in page
    assert (out / "figure-roc.png").is_file()
    assert (out / "results.md").is_file()
    (out / "index.html").unlink()
    assert main([*ARGUMENTS, "--seeds", "0,1", "--out", str(out), "--page-only"]) == 0
    assert (out / "index.html").read_text() == page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["figure-rock"], "did you mean 'figure-roc'"),
        (["figure-roc", "--datasets", "drug"], "nothing to do"),
        (["--datasets", "gpss"], "did you mean 'gps'"),
        (["--methods", "lime"], "did you mean 'line'"),
        (["--seeds", "one"], "--seeds"),
    ],
)
def test_mistakes_are_one_line(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "r"
    assert main(["reproduce", *arguments, "--out", str(out)]) == 1
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert not out.exists()


def test_a_file_in_the_way_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "r"
    path.write_text("mine")
    assert main(["reproduce", "--out", str(path)]) == 1
    assert "name a directory" in capsys.readouterr().err
    assert path.read_text() == "mine"
