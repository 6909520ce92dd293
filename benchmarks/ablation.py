"""The effect of leave-one-out, evidence and rows of digits on link prediction.

Every row is the preset "plus" with some of its options turned off; the last is the preset itself.
For *validation*, a tenth of the training hyperedges is held out; for *test*, the released split is
used. Three seeds; drug also with the protocol `clean`.
"""

from __future__ import annotations

from benchmarks._data import load, names
from benchmarks._options import devices
from benchmarks._table import Row
from dhne.evaluation import Data, evaluate
from dhne.evaluation.separation import Options
from dhne.evaluation.tasks import EvaluationSettings

OPTIONS = {
    "neither": {"leave_one_out": False, "evidence": False, "rows": "counts"},
    "leave-one-out": {"leave_one_out": True, "evidence": False, "rows": "counts"},
    "evidence": {"leave_one_out": False, "evidence": True, "rows": "counts"},
    "both": {"leave_one_out": True, "evidence": True, "rows": "counts"},
    "both, digits": {"leave_one_out": True, "evidence": True, "rows": "digits"},
}
VALIDATION_SEED = 1


def run(quick: bool) -> list[Row]:
    rows: list[Row] = []
    seeds = [0] if quick else [0, 1, 2]
    for name in names(quick):
        for protocol in ("paper", "clean") if name == "drug" else ("paper",):
            rows += [_row(name, protocol, options, seeds, quick) for options in OPTIONS]
    return rows


def _row(name: str, protocol: str, options: str, seeds: list[int], quick: bool) -> Row:
    parts = load(name)
    whole = Data(name, parts.train, parts.test)
    held_back = Data(name, *whole.prepared(protocol).train.split(0.1, seed=VALIDATION_SEED))
    row: Row = {"dataset": name, "protocol": protocol, "options": options}
    for part, data in (("validation", held_back), ("test", whole)):
        record = evaluate(
            "link-prediction",
            data,
            "dhne-plus",
            protocol=protocol,
            seeds=seeds,
            device=devices()[-1],
            params={**OPTIONS[options], **({"epochs": 2} if quick else {})},
            settings=EvaluationSettings(Options(ranked=0)),
        )
        for metric in ("auc", "aupr"):
            row[f"{part} {metric}"] = record.mean[metric]
            row[f"{part} {metric} std"] = record.std[metric]
    return row
