"""DuckDB, as `prepare` uses it: queries over Parquet files, spilled to disk, written whole."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from dhne.errors import InputError, MemoryLimitError, MissingExtraError
from dhne.files.reading import StrPath, one_line
from dhne.files.writing import replacing
from dhne.threads import available_cores

Connection = Any  # duckdb.DuckDBPyConnection, which is imported only where it is used

_SHARE = 0.75  # of the memory; the rest is for Python, Arrow and what DuckDB does not count


def _duckdb() -> Any:
    try:
        import duckdb
    except ImportError:
        raise MissingExtraError("duckdb", extra="big") from None
    return duckdb


@contextlib.contextmanager
def explained(target: StrPath) -> Iterator[None]:
    """Turn what DuckDB and the operating system may raise into one clear error."""
    duckdb = _duckdb()
    try:
        yield
    except duckdb.OutOfMemoryException as error:
        raise MemoryLimitError(
            f"{target}: DuckDB needs more memory, or more space on the disk to spill to "
            f"({one_line(error, 80)}); raise --memory or free disk space, and run it again"
        ) from None
    except duckdb.Error as error:
        raise InputError(f"DuckDB cannot prepare it: {one_line(error)}", file=target) from None
    except OSError as error:
        reason = error.strerror or one_line(error)
        raise InputError(f"cannot be written: {reason}", file=target) from None


def connect(spill: Path, memory: int) -> Connection:
    """Open a database in memory that spills to a directory."""
    spill.mkdir(exist_ok=True)
    return _duckdb().connect(
        ":memory:",
        config={
            "memory_limit": f"{int(memory * _SHARE) >> 20}MiB",
            "temp_directory": str(spill),
            "threads": available_cores(),
            "preserve_insertion_order": False,  # only where a query asks for an order
        },
    )


def copy(connection: Connection, query: str, target: Path) -> None:
    """Write the result of a query as one Parquet file, whole or not at all."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as (temporary,):
        connection.execute(f"COPY ({query}) TO {_quoted(temporary)} (FORMAT parquet)")


def all_integers(connection: Connection, names: str) -> bool:
    """Whether every name is an integer as it prints, never ``007`` or ``+7``."""
    other = "coalesce(CAST(TRY_CAST(name AS BIGINT) AS VARCHAR) <> name, true)"
    return not connection.execute(f"SELECT 1 FROM {names} WHERE {other} LIMIT 1").fetchall()


def table(files: Sequence[Path]) -> str:
    """Return the expression for the rows of some Parquet files in a query.

    Examples
    --------
    >>> table([Path("it's/[1].parquet")])
    "read_parquet(['it''s/[[]1].parquet'])"
    """
    paths = (_quoted(re.sub(r"([*?\[])", r"[\1]", str(file))) for file in files)  # no patterns
    return f"read_parquet([{', '.join(paths)}])"


def _quoted(path: StrPath) -> str:
    return "'" + str(path).replace("'", "''") + "'"
