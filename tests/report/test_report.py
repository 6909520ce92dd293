"""The report, from made-up records: complete, self-contained, the same each time."""

from __future__ import annotations

import csv
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dhne.evaluation import Record
from dhne.experiments import EXPERIMENTS, Job, RecordStore, Selection, chosen, run_plan
from dhne.report import compose, draw, write_report
from dhne.report.metric_tables import joined, table, verdict
from tests.experiments.fake import fake_record

CHOICE = Selection(seeds=[0, 1], quick=True)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> RecordStore:
    store = RecordStore(tmp_path_factory.mktemp("records"))
    run_plan([j for e in chosen([]) for j in e.jobs(CHOICE)], store, do=fake_record)
    return store


@pytest.fixture(scope="module")
def out(store: RecordStore, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    write_report(folder, chosen([]), CHOICE, store, command="dhne reproduce all --quick")
    return folder


class Checker(HTMLParser):
    """Notes unbalanced tags and everything a browser would fetch."""

    VOID = {"meta", "img", "source", "br", "link"}  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        self.fetched += [v for k, v in attrs if k in ("src", "srcset") and v is not None]
        if tag == "link":
            self.fetched += [v for k, v in attrs if k == "href" and v is not None]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_and_self_contained(out: Path) -> None:
    page = (out / "index.html").read_text()
    checker = Checker()
    checker.feed(page)
    assert checker.open == []
    assert checker.fetched
    assert all(link.startswith("data:image/png;base64,") for link in checker.fetched)
    assert "http" not in re.sub(r"data:[^\"]*", "", page)
    assert "prefers-color-scheme: dark" in page


def test_every_experiment_has_its_files(out: Path) -> None:
    names = {p.name for p in out.iterdir()}
    for name in EXPERIMENTS:
        assert {f"{name}.png", f"{name}.csv"} <= names
    assert {"index.html", "results.md"} <= names
    for picture in out.glob("*.png"):
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_cells_show_ours_the_papers_and_the_difference(store: RecordStore, out: Path) -> None:
    records = joined(store, EXPERIMENTS["table-link-prediction"].jobs(CHOICE))
    found = table(records, "auc")
    cell = dict(found.rows)["LINE, min"][found.columns.index(("drug", "paper"))]
    assert cell is not None
    assert cell.paper == 0.7651
    assert cell.seeds == 2
    assert cell.difference == pytest.approx(cell.mean - 0.7651)
    page, text = (out / "index.html").read_text(), (out / "results.md").read_text()
    assert f".{round(cell.mean * 1e4):04d}" in page
    assert f"(paper .7651, {'+' if cell.difference > 0 else '−'}" in text
    clean = dict(found.rows)["DHNE"][found.columns.index(("drug", "clean"))]
    assert clean is not None
    assert clean.paper is None  # the paper has no clean numbers


def test_the_best_of_each_column_is_marked(store: RecordStore) -> None:
    records = joined(store, EXPERIMENTS["table-reconstruction"].jobs(CHOICE))
    for metric in ("auc", "aupr"):
        found = table(records, metric)
        for number in range(len(found.columns)):
            cells = [row[number] for _, row in found.rows]
            best = max(c.mean for c in cells if c is not None)
            assert {c.mean for c in cells if c is not None and c.best} == {best}


def test_the_leak_of_drug_is_named(out: Path) -> None:
    for name in ("index.html", "results.md"):
        text = (out / name).read_text()
        assert "23,025" in text
        assert "drug core (clean)" in text


def test_what_validation_chose_is_told(out: Path) -> None:
    for name in ("index.html", "results.md"):
        assert "mean of cosines (1), min of inner products (1)" in (out / name).read_text()


def test_the_quick_version_says_so(out: Path) -> None:
    assert "quick version" in (out / "index.html").read_text()
    assert "dhne reproduce all --quick" in (out / "results.md").read_text()


def test_csv_holds_every_metric(store: RecordStore, out: Path) -> None:
    with (out / "table-link-prediction.csv").open() as file:
        rows = list(csv.DictReader(file))
    records = joined(store, EXPERIMENTS["table-link-prediction"].jobs(CHOICE))
    assert len(rows) == sum(len(r.mean) for r in records.values())
    row = next(
        r for r in rows if (r["method"], r["dataset"], r["metric"]) == ("she", "gps", "auc_min")
    )
    assert row["paper"] == "0.8078"
    assert float(row["difference"]) == pytest.approx(float(row["mean"]) - 0.8078, abs=1e-5)


def test_the_verdict_counts_columns(store: RecordStore) -> None:
    found = verdict(joined(store, EXPERIMENTS["table-link-prediction"].jobs(CHOICE)))
    assert found.total == 5
    cores = {"MovieLens core", "drug core", "drug core (clean)", "wordnet core"}
    assert set(found.won) == {"GPS", *cores}
    assert found.lost == {}


def test_who_is_ahead_of_dhne_is_told(store: RecordStore, tmp_path: Path) -> None:
    def line_wins(job: Job) -> Record:
        record = fake_record(job)
        if job.method == "line":
            record.results[0].metrics.update({"auc_mean": 0.9876})
        return record

    other = RecordStore(tmp_path)
    jobs = EXPERIMENTS["table-link-prediction"].jobs(Selection(datasets=["gps"], quick=True))
    run_plan(jobs, other, do=line_wins)
    found = verdict(joined(other, jobs))
    assert (found.won, found.total) == ((), 1)
    assert found.lost["GPS"][:2] == ("LINE, mean", 0.9876)
    choice = Selection(datasets=["gps"], quick=True)
    section = compose(chosen(["table-link-prediction"]), choice, other).sections[0]
    assert "on GPS LINE, mean has .9876 against .9" in section.notes[0]
    assert not section.spread


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_pictures_are_the_same_each_time_and_differ_by_theme(store: RecordStore, name: str) -> None:
    records = joined(store, EXPERIMENTS[name].jobs(CHOICE))
    light = draw(name, records)
    assert light is not None
    assert light == draw(name, records)
    assert light != draw(name, records, theme="dark")


def test_settings_that_follow_the_data_are_told_for_each_dataset(tmp_path: Path) -> None:
    def by_size(job: Job) -> Record:
        record = fake_record(job)
        record.config["method"]["epochs"] = 60 if job.dataset == "gps" else 20
        return record

    choice = Selection(datasets=["gps", "drug"], methods=["dhne"], seeds=[0])
    tables = chosen(["table-link-prediction", "table-reconstruction"])
    run_plan([j for e in tables for j in e.jobs(choice)], RecordStore(tmp_path), do=by_size)
    settings = compose(tables, choice, RecordStore(tmp_path)).settings
    assert settings == {"DHNE": {"dim": 64, "epochs": {"GPS": 60, "drug": 20}}}


def test_an_empty_store_makes_a_page_that_says_what_is_missing(tmp_path: Path) -> None:
    page = write_report(tmp_path / "r", chosen(["figure-roc"]), CHOICE, RecordStore(tmp_path))
    text = page.read_text()
    assert "Nothing measured yet" in text
    assert "18 planned measurements are still missing" in text


def test_failures_are_told_and_escaped(store: RecordStore, tmp_path: Path) -> None:
    experiments = chosen(["figure-roc"])
    job = experiments[0].jobs(CHOICE)[0]
    page = write_report(tmp_path, experiments, CHOICE, store, failed=[(job, "needs <b>gensim</b>")])
    text = page.read_text()
    assert "needs &lt;b&gt;gensim&lt;/b&gt;" in text
    assert "<b>gensim" not in text


def test_settings_and_versions_are_told(store: RecordStore) -> None:
    document = compose(chosen([]), CHOICE, store)
    assert document.settings["DHNE"] == {"dim": 64}
    assert document.settings["LINE"] == {"dim": 64}
    assert document.environment["libraries"] == {"numpy": "2.0"}
    assert document.missing == 0
