"""`dhne datasets`: which there are, and how to build one."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.runs import CommandLine


def test_datasets_lists_them_and_where_they_are(cli: CommandLine) -> None:
    status, out, _ = cli("datasets")
    assert status == 0
    assert "wordnet-sample" in out
    assert "bundled" in out
    status, out, _ = cli("datasets", "--json", "-")
    names = [d["name"] for d in json.loads(out)]
    assert {"gps", "movielens", "drug", "wordnet", "wordnet-sample"} <= set(names)


def test_datasets_build_says_what_is_missing(cli: CommandLine, tmp_path: Path) -> None:
    out = tmp_path / "w.parquet"
    status, _, err = cli("datasets", "build", "wordnet", "--from", tmp_path, "--out", out)
    assert status == 1
    assert str(tmp_path) in err.replace("\n", "")
    assert not out.exists()
    status, _, err = cli("datasets", "build", "wordnett", "--from", tmp_path, "--out", out)
    assert status == 1
    assert "did you mean 'wordnet'" in err
