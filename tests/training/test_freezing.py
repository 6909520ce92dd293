"""Updates that leave known vectors as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dhne import DHNE, HyperNetwork, load
from dhne.network.hypernetwork import EdgeColumns
from tests.training.tastes import TYPES, fitted, triples


def _copies(model: DHNE) -> list[dict[str, np.ndarray]]:
    return [{t: x.copy() for t, x in v.items()} for v in (model.embeddings_, model.vectors_)]


def _same_bits(model: DHNE, before: list[dict[str, np.ndarray]]) -> bool:
    return all(
        now[t][: len(x)].tobytes() == x.tobytes()
        for now, then in zip((model.embeddings_, model.vectors_), before, strict=True)
        for t, x in then.items()
    )


@pytest.mark.parametrize("preset", ["default", "plus", "paper"])
def test_known_vectors_keep_every_bit_and_new_ones_are_learned(tmp_path: Path, preset: str) -> None:
    model = fitted(preset=preset)
    for number in (1, 2):
        before, batch = _copies(model), triples(30, number, users=30 + 20 * number)
        extended = model.extend(HyperNetwork.from_tuples(batch, TYPES), isolated="keep")
        model.partial_fit(batch, freeze_known=True, epochs=5)
        assert _same_bits(model, before)
        assert {t: len(x) for t, x in model.vectors_.items()} == {
            t: model.network_.num_nodes(t) for t in TYPES
        }
        assert not np.array_equal(model.embeddings_["user"], extended.embeddings_["user"])
        model.save(tmp_path / "run")
        found = load(tmp_path / "run")
        assert _same_bits(found, _copies(model))
        assert found.score(batch).tolist() == model.score(batch).tolist()
        model = found
    assert [u["freeze_known"] for u in model.updates_] == [True, True]


def test_what_is_learned_tells_hyperedges_of_new_nodes_from_others() -> None:
    model = fitted(epochs=40)
    new = [(f"n{i}", f"m{2 * j}", f"t{2 * j}") for i in range(4) for j in range(6)]
    wrong = [(u, m, f"t{int(t[1:]) + 1}") for u, m, t in new]
    model.partial_fit(new, freeze_known=True, epochs=20)
    assert model.score(new).mean() > model.score(wrong).mean() + 0.1


def test_new_edge_types_and_node_types(tmp_path: Path) -> None:
    model = fitted(preset="plus")
    before = _copies(model)
    cities = EdgeColumns(("user", "city"), [["u0", "u1", "new"], ["Rome", "Oslo", "Rome"]])
    model.partial_fit(HyperNetwork.from_columns([cities]), freeze_known=True, epochs=2)
    assert _same_bits(model, before)
    assert 0 < model.score(("new", "Rome")) < 1
    assert model.vectors_["city"].shape == (2, 6)
    model.save(tmp_path / "run")
    found = load(tmp_path / "run")
    assert found.score(("new", "Rome")) == model.score(("new", "Rome"))
    before = _copies(found)
    more = EdgeColumns(("user", "city"), [["u2", "new"], ["Bonn", "Bonn"]])
    found.partial_fit(HyperNetwork.from_columns([more]), freeze_known=True, epochs=2)
    assert _same_bits(found, before)
    found.partial_fit([("u0", "m0", "t0")], epochs=1)  # everything learns again
    assert found.trained_ is None
    assert found.vectors_["city"].shape == (3, 6)


def test_hyperedges_of_known_nodes_alone_are_taken_in() -> None:
    model = fitted()
    before, m = _copies(model), model.network_.num_edges()
    model.partial_fit([("u0", "m1", "t0")], freeze_known=True)
    assert _same_bits(model, before)
    assert model.network_.num_edges() == m + 1
