"""Which jobs the paper's tables and figures take, whole and quick."""

from __future__ import annotations

import pytest

from dhne.errors import UnknownNameError
from dhne.evaluation import METHODS
from dhne.experiments import EXPERIMENTS, Selection, chosen
from dhne.experiments.paper_numbers import DATASETS, paper_auc, rows

NAMES = [
    "table-reconstruction", "table-link-prediction", "figure-roc", "figure-sparsity",
    "figure-classification", "figure-sensitivity", "figure-time",
]  # fmt: skip


def test_all_of_the_paper_is_there() -> None:
    assert list(EXPERIMENTS) == NAMES
    assert [e.name for e in chosen([])] == NAMES
    assert [e.name for e in chosen(["all"])] == NAMES
    with pytest.raises(UnknownNameError, match="did you mean 'figure-roc'"):
        chosen(["figure-rock"])


@pytest.mark.parametrize("task", ["reconstruction", "link-prediction"])
def test_tables_hold_every_method_dataset_and_seed(task: str) -> None:
    jobs = EXPERIMENTS[f"table-{task}"].jobs(Selection())
    held = {(j.dataset, j.method, j.seed) for j in jobs if j.protocol == "paper"}
    assert held == {(d, m, s) for d in DATASETS for m in METHODS for s in (0, 1, 2)}
    assert {j.dataset for j in jobs if j.protocol == "clean"} == {"drug"}
    assert all(j.task == task and j.dim == 64 and not j.params for j in jobs)
    assert all(j.core is None for j in jobs)


@pytest.mark.parametrize("name", NAMES)
def test_a_choice_narrows_every_plan(name: str) -> None:
    choice = Selection(datasets=["drug"], methods=["dhne"], seeds=[5], device="cpu")
    for job in EXPERIMENTS[name].jobs(choice):
        assert (job.method, job.seed, job.device) == ("dhne", 5, "cpu")
        assert job.dataset in ("drug", "power-law")


@pytest.mark.parametrize("name", NAMES)
def test_quick_is_smaller_and_takes_the_same_path(name: str) -> None:
    whole, quick = (EXPERIMENTS[name].jobs(Selection(quick=q)) for q in (False, True))
    assert 0 < len(quick) < len(whole)
    assert {j.task for j in quick} == {j.task for j in whole}
    assert all(j.core is not None or j.nodes is not None for j in quick)


def test_the_roc_curve_is_drawn_from_jobs_of_the_table() -> None:
    for quick in (False, True):
        table = set(EXPERIMENTS["table-link-prediction"].jobs(Selection(quick=quick)))
        assert set(EXPERIMENTS["figure-roc"].jobs(Selection(quick=quick))) <= table


def test_mistyped_names_get_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'movielens'"):
        Selection(datasets=["movielense"])
    with pytest.raises(UnknownNameError, match="did you mean 'node2vec'"):
        Selection(methods=["node2vek"])


def test_every_cell_of_the_papers_tables_has_its_number() -> None:
    for task in ("reconstruction", "link-prediction"):
        for method, aggregate in rows():
            for dataset in DATASETS:
                value = paper_auc(task, dataset, method, aggregate)
                assert value is not None
                assert 0.5 < value < 1
    assert paper_auc("reconstruction", "wordnet", "node2vec", "min") == 0.8387
    assert paper_auc("classification", "wordnet", "dhne") is None
