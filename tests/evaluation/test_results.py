"""Records hold the contract's JSON, come back from it, and join over seeds."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dhne
from dhne.errors import InputError
from dhne.evaluation.results import Record, SeedResult, environment, join


def record(*seeds: int, method: str = "dhne") -> Record:
    results = tuple(
        SeedResult(s, {"auc": 0.8 + 0.1 * s, "hits@1": 0.5}, {"fit": 1.0, "evaluate": 2.0}, 100.0)
        for s in seeds
    )
    return Record("link-prediction", "gps", "paper", method, results, {"seeds": list(seeds)})


def test_json_has_exactly_the_fields_of_the_contract() -> None:
    data = json.loads(record(0, 1).to_json())
    assert list(data) == [
        "task", "dataset", "protocol", "method", "results", "mean", "std", "version", "config",
    ]  # fmt: skip
    assert list(data["results"][0]) == ["seed", "metrics", "seconds", "peak_rss_mb"]
    assert set(data["results"][0]["seconds"]) == {"fit", "evaluate"}
    assert data["mean"]["auc"] == pytest.approx(0.85)
    assert data["std"]["auc"] == pytest.approx(np.std([0.8, 0.9], ddof=1))
    assert data["version"] == dhne.__version__


def test_one_seed_has_no_spread() -> None:
    assert record(0).std == {"auc": 0.0, "hits@1": 0.0}


def test_a_record_comes_back_from_json() -> None:
    whole = record(0, 1)
    assert Record.from_dict(json.loads(whole.to_json())) == whole


def test_what_is_no_record_is_refused() -> None:
    with pytest.raises(InputError, match="method"):
        Record.from_dict({"task": "link-prediction"})


def test_records_of_single_seeds_join() -> None:
    joined = join([record(2), record(0)])
    assert [r.seed for r in joined.results] == [0, 2]
    assert joined.config["seeds"] == [0, 2]
    with pytest.raises(InputError, match="only records of one"):
        join([record(0), record(1, method="line")])


def test_the_environment_names_libraries() -> None:
    assert "numpy" in environment()["libraries"]
