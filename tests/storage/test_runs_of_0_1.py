"""Runs that version 0.1 saved still load, and give the answers that they gave then."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import dhne

RUNS = Path(__file__).parent / "runs_of_0_1"


@pytest.mark.parametrize("preset", ["default", "plus"])
def test_a_run_of_0_1_answers_as_it_did(preset: str) -> None:
    model = dhne.load(RUNS / preset)
    then = json.loads((RUNS / f"{preset}.json").read_text())
    triples, pairs = ("user", "movie", "tag"), ("user", "user")
    asked = [("ann", "Heat", "noir"), ("eve", "Up", "space")]
    np.testing.assert_allclose(model.score(asked, triples), then["triples"], rtol=1e-6)
    sets = model.score([("ann", "eve"), ("bob", "dan")], pairs)
    np.testing.assert_allclose(sets, then["sets"], rtol=1e-6)
    assert model.rank(("ann", None, "noir"), k=3, edge_type=triples).names == then["rank"]
    assert model.network_.edge_set(pairs).types.has_sets
    assert model.vectors_["user"].shape == (4, 4)
