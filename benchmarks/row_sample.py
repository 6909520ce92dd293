"""What smaller samples of long rows save, and what they cost, on a large power-law network.

Link prediction after one epoch: 10^6 hyperedges over 10^5 nodes, a fiftieth of them held back, with
at most so many non-zeros of a row in a step's gradient. On a GPU rows are never sampled.
"""

from __future__ import annotations

from time import perf_counter

from benchmarks._options import need_cpu
from benchmarks._table import Row
from benchmarks._training import warm_up
from dhne.datasets import power_law
from dhne.evaluation import Data, evaluate
from dhne.evaluation.separation import Options
from dhne.evaluation.tasks import Settings

SAMPLES = (1024, 256, 128)


def run(quick: bool) -> list[Row]:
    need_cpu()
    edges, nodes = (2000, (200, 100, 20)) if quick else (10**6, (60_000, 30_000, 10_000))
    data = Data("power-law", *power_law(edges, nodes, clusters=20, seed=0).split(0.02, seed=0))
    warm_up("cpu")
    rows: list[Row] = []
    for sample in SAMPLES:
        start = perf_counter()
        record = evaluate(
            "link-prediction",
            data,
            "dhne",
            seeds=[0],
            device="cpu",
            params={"row_sample": sample, "epochs": 1},
            settings=Settings(Options(ranked=0)),
        )
        seconds = perf_counter() - start
        rows.append(
            {"row_sample": sample, "training and evaluation s": seconds, "AUC": record.mean["auc"]}
        )
    return rows
