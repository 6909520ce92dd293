"""Damaged valid files of every kind are read or refused with an error a user can mend."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

if sys.platform == "win32":
    pytest.skip("timeouts need POSIX signals", allow_module_level=True)

from tests.fuzz.harness import CORPUS, Tally, judge
from tests.fuzz.mutations import mutate
from tests.fuzz.targets import Target, targets

MUTATIONS = 20  # of each kind; `python -m tests.fuzz` tries thousands
NAMES = (
    *("network.parquet", "network.json", "network.json.gz", "network.npz", "authors.npz"),
    *("description.json", "table.csv", "table.tsv", "table.csv.gz", "labels.csv"),
    *("config.toml", "record.json", "run-config.json", "run-model.safetensors"),
    *("run-history.jsonl", "run-0.parquet", "run-user.parquet", "run-manifest.json"),
    *("checkpoint.json", "timed.json", "timed.npz", "timed.parquet", "times.csv", "facts.tsv"),
    *("update.csv", "foreign.json"),
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Target]:
    return targets(tmp_path_factory.mktemp("seeds"))


def test_every_kind_is_named_here(made: dict[str, Target]) -> None:
    assert set(NAMES) == set(made)


@pytest.mark.parametrize("name", NAMES)
def test_the_undamaged_file_is_read(made: dict[str, Target], name: str) -> None:
    tally = Tally()
    judge(made[name], made[name].seed, tally)
    assert (tally.read, tally.findings) == (1, [])


@pytest.mark.parametrize("name", NAMES)
def test_damaged_files_are_read_or_refused(made: dict[str, Target], name: str) -> None:
    rng, tally = np.random.default_rng(0), Tally()
    for _ in range(MUTATIONS):
        judge(made[name], mutate(made[name].seed, made[name].ending, rng), tally)
    assert [f.what for f in tally.findings] == []
    assert tally.read + tally.refused == MUTATIONS


@pytest.mark.parametrize(
    "file", sorted(p for p in CORPUS.rglob("*") if p.is_file()), ids=lambda p: p.name
)
def test_what_was_found_once_is_found_no_more(made: dict[str, Target], file: Path) -> None:
    tally = Tally()
    judge(made[file.parent.name], file.read_bytes(), tally)
    assert [f.what for f in tally.findings] == []
