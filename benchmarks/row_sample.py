"""The effect of sampling long rows: link prediction by the sample size.

At most this many non-zeros of a row take part in a step's gradient. The AUC is measured on a
power-law network of 10^6 hyperedges over 10^5 nodes, with 20,000 held out, and on validation sets
held out of the datasets' training parts, as in `defaults`; all after the default epochs. On a GPU
rows are never sampled. It takes half an hour on two cores.
"""

from __future__ import annotations

from benchmarks._options import need_cpu
from benchmarks._table import Row
from benchmarks.defaults import Change, rows_of
from benchmarks.large_batches import held_back, trained

SAMPLES = (1024, 256, 128, 64, 32)


def run(quick: bool) -> list[Row]:
    need_cpu()
    data = held_back(2000 if quick else 10**6)
    rows: list[Row] = []
    for sample in SAMPLES[:2] if quick else SAMPLES:
        found = trained(data, "cpu", quick, row_sample=sample)
        change = Change({"row_sample": sample, "device": "cpu"})
        (others,) = rows_of({str(sample): change}, None, quick)
        rows.append({"row_sample": others.pop("what"), "power-law AUC": found["AUC"], **others})
    return rows
