"""Models that go on learning when their network grows."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dhne import DHNE, HyperNetwork, load
from dhne.cli import main
from dhne.errors import ParameterError
from dhne.network.hypernetwork import EdgeColumns

TYPES = ("user", "movie", "tag")


def _triples(m: int, seed: int, users: int = 20) -> list[tuple[str, ...]]:
    """Triples within two clusters."""
    rng = np.random.default_rng(seed)
    side = rng.integers(2, size=m)
    ids = 2 * rng.integers([users // 2, 8, 6], size=(m, 3)) + side[:, None]
    return [(f"u{a}", f"m{b}", f"t{c}") for a, b, c in ids.tolist()]


def _fitted(**options) -> DHNE:
    network = HyperNetwork.from_tuples(_triples(120, 0), TYPES)
    return DHNE(**{"dim": 6, "epochs": 10, "device": "cpu", "kernels": "reference"} | options).fit(
        network
    )


def test_known_nodes_keep_their_ids_and_new_ones_are_added() -> None:
    model = _fitted()
    before = {t: model.network_.names(t).to_pylist() for t in TYPES}
    model.partial_fit(_triples(40, 1, users=30), epochs=3)
    for t in TYPES:
        assert model.network_.names(t).to_pylist()[: len(before[t])] == before[t]
        assert len(model.embeddings_[t]) == model.network_.num_nodes(t)
    assert model.network_.num_nodes("user") > len(before["user"])
    assert model.network_.num_edges() == 160
    assert [r["epoch"] for r in model.history_] == list(range(1, 14))


def test_an_update_goes_on_from_what_was_learned() -> None:
    model = _fitted(epochs=60)
    last = model.history_[-1]["loss"]
    first = model.history_[0]["loss"]
    model.partial_fit([("u0", "m0", "t0")], epochs=1)
    assert model.history_[-1]["loss"] < (last + first) / 2


def test_an_update_without_new_rows_changes_no_bit() -> None:
    model = _fitted()
    before, vectors = model.history_, {t: v.copy() for t, v in model.vectors_.items()}
    model.partial_fit(HyperNetwork.from_tuples([], TYPES))
    assert model.history_ == before
    for t in TYPES:
        np.testing.assert_array_equal(model.vectors_[t], vectors[t])


def test_new_edge_types_and_node_types() -> None:
    model = _fitted()
    model.partial_fit(
        HyperNetwork.from_columns(
            [EdgeColumns(("user", "city"), [["u0", "u1", "new"], ["Rome", "Oslo", "Rome"]])]
        ),
        epochs=2,
    )
    assert 0 < model.score(("new", "Rome")) < 1
    assert model.embeddings_["city"].shape == (2, 6)


def test_an_updated_model_is_an_ordinary_run(tmp_path: Path) -> None:
    model = _fitted()
    for number in (1, 2):
        model.partial_fit(_triples(10, number, users=40), epochs=1)
        model.save(tmp_path / "run")
        found = load(tmp_path / "run")
        for t in TYPES:
            np.testing.assert_array_equal(found.vectors_[t], model.vectors_[t])
        assert found.history_ == model.history_
        assert len(found.updates_) == number
        model = found


def test_wrong_arguments_change_nothing() -> None:
    model = _fitted()
    network = model.network_
    with pytest.raises(ParameterError, match="epochs"):
        model.partial_fit(_triples(3, 1), epochs=0)
    assert model.network_ is network
    assert model.fit(network).updates_ == []


def test_the_command_reads_new_files_as_training_did(tmp_path: Path) -> None:
    for name, rows in {"old": _triples(120, 0), "new": _triples(20, 1, users=30)}.items():
        lines = ["who,film,word,n", *(",".join((*r, "1")) for r in rows)]
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    run, mapping = str(tmp_path / "run"), "user=who,movie=film,tag=word"
    options = ["--epochs", "5", "--dim", "4", "-q"]
    assert (
        main(["train", str(tmp_path / "old.csv"), "--columns", mapping, "--out", run, *options])
        == 0
    )
    before = (tmp_path / "run" / "manifest.json").read_bytes()
    new, other = str(tmp_path / "new.csv"), str(tmp_path / "other")
    assert main(["update", run, new, "--out", other, "-q"]) == 0
    assert (tmp_path / "run" / "manifest.json").read_bytes() == before
    (tmp_path / "bad.csv").write_text("a,b,c\n1,2,3\n")
    assert (
        main(["update", run, str(tmp_path / "bad.csv"), "--columns", "user=x,movie=b", "-q"]) == 1
    )
    assert (tmp_path / "run" / "manifest.json").read_bytes() == before
    assert main(["update", run, new, "-q"]) == 0
    assert load(run).updates_[0]["files"] == [new]
    assert load(run).network_ == load(other).network_
    assert main(["update", run, new, "-q"]) == 0
    assert len(load(run).updates_) == 2
