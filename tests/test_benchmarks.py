"""The benchmarks can be run: each has a title and rows, and a wrong name is told."""

from __future__ import annotations

import ast
import json
import os
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import torch

from benchmarks import _options
from benchmarks.__main__ import GROUPS, main, names
from benchmarks._data import load
from benchmarks._dense import BATCH, NEGATIVES, DenseModel, DenseTraining
from benchmarks._document import PAGES, fill_in
from benchmarks._document import main as document
from benchmarks._drawn import drawn_network
from benchmarks._measure import in_process, side_by_side
from benchmarks._parts import Stopwatch, kernel_part, step_parts
from benchmarks._table import format_table
from benchmarks._training import run_epoch, sampled_epoch, trainer_for
from benchmarks.roofline import bandwidth_rows, bytes_rows, step_bytes, whole_bytes
from benchmarks.scale import network_of
from dhne import DHNE

FOLDER = Path(__file__).parents[1] / "benchmarks"
TRAINING = {
    *("dense_reference", "train", "time_to_auc", "scale"),
    *("rank", "roofline", "compilation", "load", "plus_cost", "sets", "distributed"),
    "set_up",
    "updates",
    "vectors",
}


@pytest.fixture(autouse=True)
def _same_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(_options.DEVICE, os.environ.get(_options.DEVICE, "auto"))
    monkeypatch.setenv(_options.LARGE, "")
    monkeypatch.setenv(_options.HUGE, "")


def test_every_benchmark_says_what_it_measures() -> None:
    assert {"adjacency", "negatives", "prepare", "reading"} | TRAINING <= set(names())
    for name in names():
        module = ast.parse((FOLDER / f"{name}.py").read_text(encoding="utf-8"))
        assert ast.get_docstring(module), name
        assert any(isinstance(d, ast.FunctionDef) and d.name == "run" for d in module.body), name
    for _, members in GROUPS.values():
        assert set(members) <= set(names())


@pytest.mark.parametrize("name", names())
def test_every_benchmark_can_be_imported(name: str) -> None:
    assert callable(import_module(f"benchmarks.{name}").run)


@pytest.mark.parametrize("name", sorted({*TRAINING, "prepare", "reading", "workers_model"}))
def test_quick_run(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.json"
    assert main([name, "--quick", "--huge", "--device", "cpu", "--json", str(file)]) == 0
    found = json.loads(file.read_text())
    assert found["machine"]["quick"] is True
    rows = found[name]
    if name == "roofline":
        assert rows == {"left out": "it needs a CUDA device, and none was requested or found"}
        return
    if name == "distributed":
        kinds = [row["group"] for row in rows["a rank of eight"]]
        assert kinds == ["alone", "fake", "fake"], "the last is the huge one"
    tables = rows.values() if isinstance(rows, dict) else [rows]
    assert all(table for table in tables)
    assert capsys.readouterr().out.count("---") > 3


class TestHuge:
    def test_the_drawn_network_has_the_distribution_of_the_generated_one(self) -> None:
        drawn, generated = drawn_network(10**5, "cpu", chunk=1 << 14), network_of(10**5)
        assert drawn.node_types == generated.node_types
        assert drawn.num_edges() == generated.num_edges()
        assert drawn.edge_set().weights.strides == (0,)
        for t in drawn.node_types:
            assert drawn.num_nodes(t) == generated.num_nodes(t)
            first, second = (np.sort(n.degrees(t))[::-1] for n in (drawn, generated))
            assert first[:10].mean() == pytest.approx(second[:10].mean(), rel=0.1)
            assert np.square(first).mean() == pytest.approx(np.square(second).mean(), rel=0.05)
        found = [len(np.unique(n.edges()[:, :2], axis=0)) for n in (drawn, generated)]
        assert found[0] == pytest.approx(found[1], rel=0.02)

    def test_a_rank_of_eight_trains_on_it(self) -> None:
        arguments = 3000, "cpu", "fake", 2
        drawn, generated = (
            in_process("benchmarks.distributed", "measure", *arguments, from_device).value
            for from_device in (True, False)
        )
        assert drawn.keys() == generated.keys()
        assert drawn["tables MB"] == generated["tables MB"] > 0
        assert drawn["step ms"] > 0
        expected = generated["summed MB per step"]
        assert drawn["summed MB per step"] == pytest.approx(expected, rel=0.1)


def test_a_gpu_is_not_made_up(capsys: pytest.CaptureFixture[str]) -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a CUDA device here")
    assert main(["gpu", "--quick"]) == 0
    assert capsys.readouterr().out.count("left out: torch finds no CUDA device here") == 5


def test_an_unknown_name_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nonsense"])
    assert "unknown benchmark 'nonsense'; choose from: " in capsys.readouterr().err


def test_table() -> None:
    rows = [{"what": "bare", "n": 12345}, {"what": "ours", "n": 7, "ratio": 1.234}]
    assert format_table(rows).splitlines() == [
        "  what       n  ratio",
        "  ----  ------  -----",
        "  bare  12,345",
        "  ours       7   1.23",
    ]
    assert format_table([{"test AUC": 0.91234}]).splitlines()[-1].strip() == "0.9123"


def test_times_come_in_order() -> None:
    calls: list[int] = []
    found = side_by_side(lambda: calls.append(0), lambda: calls.append(1), repeats=2)
    assert calls == [0, 1, 0, 1]
    assert len(found) == 2


def test_a_process_of_its_own_reports_time_memory_and_value() -> None:
    found = in_process("benchmarks.adjacency", "matrices", 1000, [100, 80, 60])
    assert found.seconds > 0
    assert found.peak_rss_mb > 10
    assert found.value > 0


class TestDenseReference:
    def test_a_step_has_dense_rows_of_all_columns_and_learns(self) -> None:
        network = load("small").train
        training = DenseTraining(network, "cpu")
        columns = [network.num_nodes() - network.num_nodes(t) for t in training.types]
        assert [e.in_features for e in training.model.encoders] == columns  # type: ignore[union-attr]
        assert [d.out_features for d in training.model.decoders] == columns  # type: ignore[union-attr]
        assert training.steps_per_epoch == -(-network.num_edges() // BATCH)
        before = [p.detach().clone() for p in training.model.parameters()]
        training.step()
        after = list(training.model.parameters())
        assert all(not torch.equal(a, b) for a, b in zip(before, after, strict=True))

    def test_only_non_zeros_count_but_the_mean_is_over_all_columns(self) -> None:
        torch.manual_seed(0)
        model = DenseModel([4, 6], dim=3)
        rows = [torch.zeros(2, 4), torch.zeros(2, 6)]
        target = torch.tensor([1.0, 0.0])
        bare = model.loss(rows, target)
        with torch.no_grad():
            for decoder in model.decoders:
                decoder.bias.fill_(5.0)  # type: ignore[union-attr, operator]
        assert torch.equal(model.loss(rows, target), bare)
        rows[0][0, 1] = 1.0
        with torch.no_grad():
            fitted = torch.sigmoid(model.decoders[0](torch.tanh(model.encoders[0](rows[0]))))[0, 1]
            for p in (*model.hidden.parameters(), *model.output.parameters()):
                p.zero_()
        expected = np.log(2) + float((1 - fitted) ** 2) / 8
        assert model.loss(rows, target).item() == pytest.approx(expected, rel=1e-5)

    def test_tuples_of_a_step(self) -> None:
        assert BATCH * (1 + NEGATIVES) == 96


class TestTrainingFromOutside:
    def test_a_trainer_runs_what_fit_would(self) -> None:
        network = load("small").train
        trainer = trainer_for(network, epochs=1, device="cpu", random_state=3)
        assert trainer.progress.epoch == 0
        run_epoch(trainer)
        fitted = DHNE(epochs=1, device="cpu", random_state=3).fit(network)
        assert trainer.progress.history[0]["loss"] == fitted.history_[0]["loss"]

    def test_an_epoch_is_its_draws_and_its_steps(self) -> None:
        trainer = trainer_for(load("small").train, device="cpu", batch_size=256)
        cost = sampled_epoch(trainer, 2)
        assert cost.num_batches == trainer.maker.num_batches == 7
        assert cost.epoch == cost.draw + 7 * cost.step

    def test_parts_add_up_and_leave_the_library_as_it_was(self) -> None:
        step = DHNE.fit, torch.Tensor.backward
        trainer = trainer_for(load("small").train, device="cpu", preset="plus")
        parts = step_parts(trainer)
        wanted = {"negatives", "batching", "evidence", "encode", "decode", "similarity"}
        assert wanted | {"backward", "optimizer", "other"} <= set(parts)
        assert sum(v for k, v in parts.items() if k != "total") == pytest.approx(parts["total"])
        assert (DHNE.fit, torch.Tensor.backward) == step

    def test_a_part_is_without_the_parts_it_calls(self) -> None:
        watch = Stopwatch()
        inner = watch.wrap("inner", lambda: sum(range(10**5)))
        with watch.timing("outer"):
            inner()
        assert set(watch.seconds) == {"inner", "outer"}

    def test_kernels_are_told_by_their_names(self) -> None:
        assert kernel_part("_encode_kernel") == "encode"
        assert kernel_part("_table_gradient_kernel") == "encode backward"
        assert kernel_part("_update_kernel") == "optimizer"
        assert kernel_part("void cub::DeviceRadixSortOnesweepKernel<…>") == "batching"
        assert kernel_part("anything") == "other"


def test_bytes_of_a_step_follow_the_formulas() -> None:
    network = load("small").train
    trainer = trainer_for(network, device="cpu", batch_size=network.num_edges())  # all in one
    d, tuples = 64, (1 + trainer.settings.negatives) * network.num_edges()
    sparse = trainer.maker.sparse.values()
    z, b = sum(len(s.indices) for s in sparse), network.num_nodes()
    found = step_bytes(trainer)
    assert found["encode"] == pytest.approx(z * (4 * d + 8) + 4 * b * d, rel=0.01)
    assert found["gradients in X, V"] == 2 * found["encode"]
    assert found["similarity"] == 8 * 4 * tuples * 192
    touched = sum(len(s.indices.unique()) for s in sparse)
    assert found["optimizer"] == pytest.approx(28 * touched * (2 * d + 1), rel=0.01)
    everything = whole_bytes(trainer)
    assert everything["(five passes over all non-zeros)"] == 5 * z * (4 * d + 8)
    measured = {"bytes": found, "everything": everything, "bandwidth": 1e9}
    assert len(bytes_rows(measured)) == len(found) + 1 + len(everything)
    moved = sum(everything.values())
    rows = bandwidth_rows("small", measured | {"step": 2 * moved / 1e9, "with_negatives": 1.0})
    assert rows[1]["times the floor"] == pytest.approx(2)
    assert rows[1]["met"]
    assert rows[1]["GB/s reached"] == pytest.approx(0.5)


PAGE = (
    "A\n<!-- begin cpu machine -->\nold\n<!-- end -->\n<!-- begin gpu rank -->\nkept\n"
    "<!-- end -->\n<!-- begin cpu train/epochs -->\n<!-- end -->\n<!-- begin picture -->\n"
    "<!-- end -->\n"
)
RUN = {
    "machine": {"cores": 2, "python": "3.12", "date": "2026-01-01", "quick": False},
    "train": {
        "epochs": [
            {"dataset": "gps", "backend": "cpu", "times faster": 7.0, "target": 5, "met": True}
        ]
    },
    "scale": [
        {"device": "cpu", "hyperedges": n, "µs per hyperedge": 1.0, "bytes per hyperedge": 9.0}
        for n in (10, 100)
    ],
}


class TestDocument:
    def test_figures_come_from_the_run_and_the_rest_stays(self) -> None:
        text = fill_in(PAGE, {"cpu": RUN})
        assert "old" not in text
        assert "2 cores, Python 3.12; 2026-01-01." in text
        assert "| gps | cpu | 7.00 | 5 | yes |" in text
        assert "kept" in text
        assert fill_in(text, {"cpu": RUN}) == text

    def test_what_was_left_out_is_said(self) -> None:
        text = fill_in(PAGE, {"gpu": {"rank": {"left out": "no device"}}})
        assert "Not measured: no device" in text

    def test_the_page_and_its_picture(self, tmp_path: Path) -> None:
        page, run = tmp_path / "page.md", tmp_path / "run.json"
        page.write_text(PAGE)
        run.write_text(json.dumps(RUN))
        document([str(page), "--cpu", str(run)])
        assert "(performance.svg)" in page.read_text()
        assert "<svg" in (tmp_path / "performance.svg").read_text()

    def test_columns_can_be_selected_and_renamed(self) -> None:
        page = "<!-- begin cpu train/epochs | dataset | times faster = speed-up -->\n<!-- end -->"
        text = fill_in(page, {"cpu": RUN})
        assert "| dataset | speed-up |\n| :-- | --: |\n| gps | 7.00 |\n" in text
        assert fill_in(text, {"cpu": RUN}) == text

    @pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
    def test_every_block_of_a_page_names_a_benchmark(self, page: Path) -> None:
        text = page.read_text(encoding="utf-8")
        blocks = [line.split()[2:-1] for line in text.splitlines() if "<!-- begin" in line]
        assert blocks
        assert len(blocks) == text.count("<!-- end -->")
        for block in blocks:
            if block != ["picture"]:
                assert block[0] in ("cpu", "gpu")
                assert block[1].split("/")[0] in {*names(), "machine"}
