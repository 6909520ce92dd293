"""Computed, not measured: the time of a step of 10^8 hyperedges on 4 to 64 GPUs.

    step(W) = D / W + R + 2 (W − 1) / W · B / bandwidth

D is what the workers divide (tables, tuples), R what each does alone (drawing the batch), B the
bytes that a step sums, by a ring. From measurements: D + R is a step of one H200 at 10^8 hyperedges
(`scale`), D and R divide it like a rank of eight on the `fake` group divides a step of that GPU at
10^7 (`distributed`: 5.23 of 22.2 ms), B follows from the batch (`distributed` checks the formula).
"""

from __future__ import annotations

from benchmarks._table import Row

STEP = 0.169  # seconds: one H200, 10^8 hyperedges, batches of 262,144
ALONE, OF_EIGHT = 22.2, 5.23  # ms: a step of one H200 at 10^7 hyperedges, and of a rank of eight
SUMMED = 1.2e9 + 10e6  # bytes: the encodings and their gradients, and the drawn batch
NETWORKS = {"NVLink": 450e9, "InfiniBand": 50e9, "Ethernet, 25 Gbit/s": 25e9 / 8}
WORKERS = (1, 4, 8, 16, 32, 64)


def run(quick: bool) -> list[Row]:
    divided = (ALONE - OF_EIGHT) / (1 - 1 / 8) / ALONE  # the share of a step that workers divide
    rows: list[Row] = []
    for w in WORKERS:
        compute = STEP * (divided / w + 1 - divided)
        row: Row = {"workers": w, "compute ms": compute * 1e3}
        for name, bandwidth in NETWORKS.items():
            step = compute + 2 * (w - 1) / w * SUMMED / bandwidth
            row[f"{name}: step ms"] = step * 1e3
            row[f"{name}: speed-up"] = STEP / step
        rows.append(row)
    return rows
