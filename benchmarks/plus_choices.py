"""The preset "plus" without averaging and with products, on held-out hyperedges.

A tenth of the training hyperedges is held out and takes the place of the test part, which is not
used. One seed; drug appears twice, as released and with the protocol `clean`.
"""

from __future__ import annotations

from typing import Any

from benchmarks._data import load, names
from benchmarks._options import devices
from benchmarks._table import Row
from dhne.evaluation import Data, evaluate

CHOICES: dict[str, dict[str, Any]] = {
    "the preset": {},
    "no averaging": {"averaging": 0.0, "decay": 0.0},
    "products": {"products": True},
    "small products": {
        "products": True,
        "product_dim": 64,
        "candidates": 256,
        "ranking_epochs": 8,
    },
}


def run(quick: bool) -> list[Row]:
    rows: list[Row] = []
    for name in names(quick):
        for protocol in ("paper", "clean") if name == "drug" else ("paper",):
            data = Data(name, load(name).train).prepared(protocol)
            rest, held_out = data.train.split(0.1, seed=123)
            for what, params in CHOICES.items():
                record = evaluate(
                    "link-prediction",
                    Data(name, rest, held_out),
                    "dhne-plus",
                    device=devices()[-1],
                    params={**params, **({"epochs": 2} if quick else {})},
                )
                found = {m: record.mean[m] for m in ("auc", "aupr", "mrr")}
                seconds = record.results[0].seconds["fit"]
                rows.append(
                    {"dataset": name, "protocol": protocol, "what": what, **found, "fit s": seconds}
                )
                print("  ", rows[-1], flush=True)
    return rows
