"""What each part of the preset "plus" contributes: the preset, and the preset without each part.

The paper's datasets by link prediction (drug also with the protocol `clean`), the others by
completion, both on their released splits; nothing was chosen by these figures. Only facts have
products in the preset, and only the paper's larger datasets are averaged. One seed; of each test
part, up to 2,000 hyperedges are ranked.
"""

from __future__ import annotations

from typing import Any

import dhne
from benchmarks._data import FACTS, SMALL, load, names
from benchmarks._options import devices
from benchmarks._table import Row
from dhne.evaluation import Data, evaluate
from dhne.evaluation.completion import CompletionOptions
from dhne.evaluation.tasks import EvaluationSettings

LEFT_OUT: dict[str, dict[str, Any]] = {
    "nothing": {},
    "products": {"products": False},
    "dropout": {"dropout": 0.0},
    "leave-one-out": {"leave_one_out": False},
    "evidence": {"evidence": False},
    "digits": {"rows": "counts"},
    "averaging": {"averaging": 0.0, "decay": 0.0},
}
OF_PRODUCTS = ("products", "dropout")
RANKED = 2000


def run(quick: bool) -> dict[str, list[Row]]:
    linked = [
        _row("link-prediction", name, protocol, part, quick)
        for name in names(quick)
        for protocol in (("paper", "clean") if name == "drug" else ("paper",))
        for part in LEFT_OUT
        if part not in OF_PRODUCTS
    ]
    completed = [
        _row("completion", name, "paper", part, quick)
        for name in ([] if quick else names(quick, FACTS))
        for part in LEFT_OUT
        if part != "averaging"
    ]
    return {"link prediction": linked, "completion": completed}


def _row(task: str, name: str, protocol: str, part: str, quick: bool) -> Row:
    record = evaluate(
        task,
        _data(name),
        "dhne-plus",
        protocol=protocol,
        device=devices()[-1],
        params={**LEFT_OUT[part], **({"epochs": 2} if quick else {})},
        settings=EvaluationSettings(completion=CompletionOptions(ranked=RANKED)),
    )
    shown = ("auc", "aupr", "mrr") if task == "link-prediction" else ("mrr", "hits@1", "hits@10")
    row: Row = {"dataset": name, "protocol": protocol, "without": part}
    if task == "completion":
        del row["protocol"]
    row |= {metric: record.mean[metric] for metric in shown}
    row["fit s"] = record.results[0].seconds["fit"]
    print("  ", row, flush=True)
    return row


def _data(name: str) -> Data:
    if name == SMALL:
        parts = load(name)
        return Data(name, parts.train, parts.test)
    return Data.of(dhne.load_dataset(name, download=False))
