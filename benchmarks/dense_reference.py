"""The released code's formulation, in torch: the cost of an epoch with dense rows.

Batches of 16 hyperedges with 5 negatives each, dense adjacency rows, all columns decoded, RMSprop:
see ``benchmarks/_dense.py``. A few steps are timed; an epoch is their median times the number of
steps. The other benchmarks report ratios to these figures, measured in the same run.
"""

from __future__ import annotations

from benchmarks._data import load, names
from benchmarks._dense import BATCH, NEGATIVES, dense
from benchmarks._options import devices
from benchmarks._table import Row


def run(quick: bool) -> list[Row]:
    rows: list[Row] = []
    for name in names(quick):
        for device in devices():
            found = dense(name, device, quick)
            rows.append(
                {
                    "dataset": name,
                    "device": device,
                    "hyperedges": load(name).train.num_edges(),
                    "tuples per step": BATCH * (1 + NEGATIVES),
                    "step ms": found.step * 1e3,
                    "steps": found.steps_per_epoch,
                    "epoch s": found.epoch,
                    "peak MiB": found.peak_rss_mb,
                }
            )
    return rows
