"""Trackers: what they keep of a training, read back with the libraries' own readers."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from dhne import DHNE, HyperNetwork
from dhne.datasets import planted_clusters
from dhne.errors import MissingExtraError
from dhne.trackers import JsonLines, MLflow, TensorBoard
from dhne.training.callbacks import Callback, Progress

MODEL = DHNE(dim=4, epochs=3, batch_size=256, validation=0.2, kernels="reference")


@pytest.fixture(scope="module")
def network() -> HyperNetwork:
    return planted_clusters(types=3, clusters=2, nodes_per_cluster=5)


def test_jsonl_is_the_history(network: HyperNetwork, tmp_path: Path) -> None:
    model = MODEL.fit(network, callbacks=[JsonLines(tmp_path / "log.jsonl")])
    lines = (tmp_path / "log.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == model.history_


def test_tensorboard_has_a_scalar_for_every_number(network: HyperNetwork, tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    model = MODEL.fit(network, callbacks=[TensorBoard(tmp_path)])
    log = EventAccumulator(str(tmp_path)).Reload()
    assert {"loss", "first_order", "validation_auc"} <= set(log.Tags()["scalars"])
    found = [(e.step, e.value) for e in log.Scalars("validation_auc")]
    wanted = [(r["epoch"], pytest.approx(r["validation_auc"], rel=1e-6)) for r in model.history_]
    assert found == wanted


class Fail(Callback):
    def on_epoch_end(self, progress: Progress) -> None:
        raise OSError("the disk is full")


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")
@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_mlflow_has_parameters_metrics_and_the_end(network: HyperNetwork, tmp_path: Path) -> None:
    from mlflow.tracking import MlflowClient

    uri = f"sqlite:///{tmp_path / 'mlflow.db'}"
    tracker = MLflow("films", tracking_uri=uri, run_name="first", params=MODEL.get_params())
    model = MODEL.fit(network, callbacks=[tracker])
    client = MlflowClient(tracking_uri=uri)
    run = client.get_run(tracker.run_id)
    assert (run.info.run_name, run.info.status) == ("first", "FINISHED")
    assert run.data.params["dim"] == "4"
    assert "alpha" not in run.data.params
    found = client.get_metric_history(tracker.run_id, "validation_auc")
    assert [(m.step, m.value) for m in found] == [
        (r["epoch"], r["validation_auc"]) for r in model.history_
    ]

    failed = MLflow("films", tracking_uri=uri)
    with pytest.raises(OSError, match="disk is full"):
        MODEL.fit(network, callbacks=[failed, Fail()])
    assert client.get_run(failed.run_id).info.status == "FAILED"
    assert client.get_run(failed.run_id).info.experiment_id == run.info.experiment_id


@pytest.mark.parametrize(
    ("module", "tracker"),
    [("torch.utils.tensorboard", TensorBoard("x")), ("mlflow.entities", MLflow())],
)
def test_says_which_extra(
    network: HyperNetwork, monkeypatch: pytest.MonkeyPatch, module: str, tracker: Callback
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, module.partition(".")[0] + ".entities", None)
    with pytest.raises(MissingExtraError, match=r"dhne\[tracking\]"):
        MODEL.fit(network, callbacks=[tracker])
