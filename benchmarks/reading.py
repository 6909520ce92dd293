"""A large CSV becomes a HyperNetwork: at most 3 times pyarrow's own parse, within 4 GiB.

The file has three string columns of 1,000,000, 100,000 and 50,000 distinct names and 10 million
rows. Both readers run in separate processes, in turns.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv

from benchmarks._measure import Timer, in_process
from benchmarks._table import Row

COLUMNS = {"user": 1_000_000, "movie": 100_000, "tag": 50_000}
LIMIT, LIMIT_MB = 3.0, 4096


def run(quick: bool) -> list[Row]:
    rows = 200_000 if quick else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "edges.csv")
        write(path, rows)
        size = Path(path).stat().st_size / 2**20
        times = {
            name: in_process(__name__, name, path, repeats=3)
            for name in ("parse_with_pyarrow", "read_with_dhne")
        }
    bare, ours = times["parse_with_pyarrow"], times["read_with_dhne"]
    assert ours.value[0] == bare.value[0] == rows
    what = {"rows": rows, "file MiB": size}
    return [
        {"reader": "pyarrow", **what, "seconds": bare.seconds, "peak MiB": bare.peak_rss_mb},
        {
            "reader": "dhne",
            **what,
            "seconds": ours.seconds,
            "peak MiB": ours.peak_rss_mb,
            "ratio": ours.seconds / bare.seconds,
            "limit": LIMIT,
            "limit MiB": LIMIT_MB,
        },
    ]


def write(path: str, rows: int, block: int = 1_000_000, *, seed: int = 0) -> None:
    """Write the CSV; every name occurs if there are enough rows."""
    rng = np.random.default_rng(seed)
    names = {c: pa.array([f"{c} {i:07d}" for i in range(n)]) for c, n in COLUMNS.items()}
    schema = pa.schema([(c, pa.string()) for c in COLUMNS])
    with pa.csv.CSVWriter(path, schema) as writer:
        for start in range(0, rows, block):
            count = min(block, rows - start)
            picks = (rng.integers(0, n, count) for n in COLUMNS.values())
            columns = [names[c].take(pa.array(p)) for c, p in zip(COLUMNS, picks, strict=True)]
            writer.write_table(pa.table(columns, schema=schema))


def parse_with_pyarrow(timer: Timer, path: str) -> list[int]:
    with timer:
        table = pa.csv.read_csv(path)
    return [table.num_rows]


def read_with_dhne(timer: Timer, path: str) -> list[int]:
    import dhne

    dhne.read_table  # noqa: B018 - keep the import out of the measurement
    with timer:
        network = dhne.read_table(path, columns={c: c for c in COLUMNS})
    return [network.num_edges(), network.num_nodes()]
