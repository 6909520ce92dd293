"""`dhne prepare` on 50 million rows within 4 GiB: at most 8 times DuckDB's own scan.

Five files with three string columns of 1,000,000, 100,000 and 50,000 distinct names, as CSV and as
Parquet. The scan reads every value of the same files, with the same threads and memory limit. Both
run in separate processes; the stages are timed within one run.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq

from benchmarks._measure import Timer, in_process
from benchmarks._table import Row
from benchmarks.reading import COLUMNS, write

ROWS, FILES = 50_000_000, 5
MEMORY, LIMIT, LIMIT_MB = "4GiB", 8.0, 4096
STAGES = ("reading (MiB)", "numbering nodes", "writing edges", "counting pairs")


def run(quick: bool) -> dict[str, list[Row]]:
    return measure(20_000 if quick else ROWS)


def measure(rows: int) -> dict[str, list[Row]]:
    """Return the totals and the stages for this many rows."""
    totals: list[Row] = []
    stages: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for ending in ("csv", "parquet"):
            write_files(Path(folder), rows, ending)
            pattern = str(Path(folder) / f"*.{ending}")
            scan = in_process(__name__, "scan", pattern)
            ours = in_process(__name__, "prepare", pattern, str(Path(folder) / f"out-{ending}"))
            assert ours.value["edges"] == rows
            stages.append({"files": ending, **ours.value["stages"]})
            for name, found in (("DuckDB's scan", scan), ("dhne prepare", ours)):
                row: Row = {"files": ending, "what": name, "rows": rows, "seconds": found.seconds}
                row |= {"rows per s": round(rows / found.seconds), "peak MiB": found.peak_rss_mb}
                totals.append(row)
            ratio = ours.seconds / scan.seconds
            met = ratio <= LIMIT and ours.peak_rss_mb <= LIMIT_MB
            totals[-1] |= {"ratio": ratio, "limit": LIMIT, "limit MiB": LIMIT_MB, "met": met}
    return {"prepare": totals, "stages": stages}


def write_files(folder: Path, rows: int, ending: str) -> None:
    """Write the rows as several CSV files, or turn those into Parquet."""
    for number in range(FILES):
        file = folder / f"{number}.csv"
        if not file.exists():
            write(str(file), rows // FILES, seed=number)
        if ending == "parquet":
            target = file.with_suffix(".parquet")
            with pa_csv.open_csv(file) as reader, pq.ParquetWriter(target, reader.schema) as writer:
                for batch in reader:
                    writer.write_batch(batch)
            file.unlink()


def scan(timer: Timer, pattern: str) -> None:
    """Let DuckDB read every value."""
    import duckdb

    from dhne.threads import available_cores

    config = {"memory_limit": MEMORY, "threads": available_cores()}
    reader = f"read_csv('{pattern}')" if pattern.endswith(".csv") else f"read_parquet('{pattern}')"
    values = ", ".join(f'bit_xor(hash("{c}"))' for c in COLUMNS)
    with duckdb.connect(config=config) as connection, timer:
        connection.execute(f"SELECT {values} FROM {reader}").fetchall()


def prepare(timer: Timer, pattern: str, out: str) -> dict[str, object]:
    from dhne.io import prepare as prepare_files
    from dhne.io.parquet import count_rows

    begun = dict.fromkeys(STAGES, 0.0)

    def watch(what: str, done: int, total: int) -> None:
        begun[what] = begun[what] or time.perf_counter()

    start = time.perf_counter()
    with timer:
        prepare_files(pattern, out, columns=list(COLUMNS), memory=MEMORY, progress=watch)
    begun[STAGES[0]] = start  # its first report comes after its first part
    ends = [*(begun[s] for s in STAGES[1:]), time.perf_counter()]
    stages = {
        f"{s.removesuffix(' (MiB)')} s": end - begun[s] for s, end in zip(STAGES, ends, strict=True)
    }
    edges = sum(count_rows(file) for file in Path(out).glob("edges/0/*.parquet"))
    return {"edges": edges, "stages": stages}
