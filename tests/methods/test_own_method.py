"""A method of one's own: registered, evaluated by name, saved, loaded and asked, in one file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import dhne
from dhne.cli import main
from dhne.embedder import Embedder, Scores
from dhne.errors import ParameterError, RunError, UnknownNameError
from dhne.evaluation import Data, evaluate
from dhne.experiments import Job
from dhne.experiments.paper_numbers import title
from dhne.hyperparameters import parameter
from dhne.methods import METHODS, Look, Method, find_method, make_method, register, save, unregister
from dhne.network.hypernetwork import HyperNetwork
from dhne.report.style import look


@dataclass(kw_only=True, eq=False, repr=False)
class Popularity(Embedder):
    """Scores a tuple by its nodes' degrees; by the sum or by the least of them."""

    aggregates: ClassVar[tuple[str, ...]] = ("sum", "least")

    smoothing: float = parameter(1.0, above=0, help="Added to every degree.")
    aggregate: str = "sum"

    def _fit(self, network: HyperNetwork) -> None:
        self.degrees_ = {t: np.log(network.degrees(t) + self.smoothing) for t in network.node_types}
        self.embeddings_ = {t: d[:, None].astype(np.float32) for t, d in self.degrees_.items()}

    def score_ids(self, nodes: Any, edge_type: Any) -> Scores:
        each = [self.degrees_[t][nodes[:, p]] for p, t in enumerate(edge_type)]
        scores: Scores = np.sum(each, axis=0) if self.aggregate == "sum" else np.min(each, axis=0)
        return scores


@pytest.fixture(autouse=True)
def popularity() -> Iterator[Method]:
    method = Method("popularity", Popularity, title="Popularity", look=Look("#112233"))
    register(method)
    yield method
    unregister("popularity")


@pytest.fixture(scope="module")
def network() -> HyperNetwork:
    rng = np.random.default_rng(0)
    rows = (rng.random((400, 3)) ** 2 * 20).astype(int)
    names = [(f"u{a}", f"m{b}", f"t{c}") for a, b, c in np.unique(rows, axis=0).tolist()]
    return HyperNetwork.from_tuples(names, ("user", "movie", "tag"))


def test_it_is_evaluated_by_its_name(network: HyperNetwork) -> None:
    record = evaluate("link-prediction", network, "popularity", params={"smoothing": 0.5})
    assert record.method == "popularity"
    assert record.config["method"] == {"class": "Popularity", "smoothing": 0.5}
    chosen = record.config["chosen"]["0"]["aggregate"]
    assert record.mean["auc"] == record.mean[f"auc_{chosen}"] > 0.55
    assert {"auc_sum", "auc_least", "aupr_sum", "aupr_least", "mrr"} <= set(record.mean)


def test_measuring_does_not_change_the_model(network: HyperNetwork) -> None:
    made = []

    def make(seed: int) -> Popularity:
        made.append(Popularity())
        return made[-1]

    evaluate("reconstruction", Data("net", network), make)
    assert all(model.aggregate == "sum" for model in made)


def test_it_is_saved_loaded_and_ranked(network: HyperNetwork, tmp_path: Path) -> None:
    model = make_method("popularity").fit(network)
    save(model, tmp_path / "run")
    again = dhne.load(tmp_path / "run")
    assert isinstance(again, Popularity)
    assert again.get_params() == model.get_params()
    query = ("u0", None, "t0")
    assert again.rank(query, k=3).names == model.rank(query, k=3).names
    np.testing.assert_array_equal(again.score(network.edges()), model.score(network.edges()))
    unregister("popularity")
    with pytest.raises(RunError, match="'popularity', which is not registered"):
        dhne.load(tmp_path / "run")
    register(Method("popularity", Popularity))


def test_a_baseline_is_saved_and_loaded_too(network: HyperNetwork, tmp_path: Path) -> None:
    model = make_method("she", dim=4).fit(network)
    save(model, tmp_path / "run")
    again = dhne.load(tmp_path / "run")
    np.testing.assert_array_equal(again.score(network.edges()), model.score(network.edges()))


def test_what_is_not_an_array_is_not_saved(network: HyperNetwork, tmp_path: Path) -> None:
    model = make_method("popularity").fit(network)
    model.helper_ = object()  # type: ignore[attr-defined]
    with pytest.raises(ParameterError, match="its attribute helper_ is not an array"):
        save(model, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_its_declared_parameters_are_read_and_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b\n" + "\n".join(f"{i % 13},{i * i % 17}" for i in range(60)) + "\n")
    command = ["evaluate", "link-prediction", str(path), "--method", "popularity"]
    assert main([*command, "--set", "smoothing=0", "--json", "-"]) == 1
    assert "smoothing must be a number above 0, got '0'" in capsys.readouterr().err
    assert main([*command, "--set", "smoothing=2", "--json", "-"]) == 0


def test_tables_pictures_and_plans_know_it(popularity: Method) -> None:
    assert title("popularity") == "Popularity"
    assert look("popularity").colour == "#112233"
    once = Job("reconstruction", "gps", "popularity").expected
    assert Job("link-prediction", "gps", "popularity").expected == 2 * once
    assert look("no-such-method") == Look()


def test_names_are_unique_and_mistyped_ones_get_a_suggestion() -> None:
    with pytest.raises(ParameterError, match="there is already a method 'line'"):
        register(Method("line", Popularity))
    with pytest.raises(UnknownNameError, match="did you mean 'popularity'"):
        find_method("populrity")


@pytest.mark.parametrize("name", [n for n in METHODS if n != "popularity"])
def test_what_the_registry_says_of_a_class_is_true(name: str) -> None:
    method = METHODS[name]
    cls = method.load_class()
    assert method.aggregates == cls.aggregates
    assert set(method.params) <= set(cls._get_param_names())
