"""Text tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]


def format_table(rows: Sequence[Row]) -> str:
    """Return rows as aligned text, one column per key; numbers to three digits.

    Examples
    --------
    >>> print(format_table([{"what": "ours", "seconds": 1.2345, "ratio": 1.5}, {"what": "bare"}]))
      what  seconds  ratio
      ----  -------  -----
      ours     1.23   1.50
      bare
    """
    columns = list(dict.fromkeys(key for row in rows for key in row))
    cells = [[cell(row.get(c), c) for c in columns] for row in rows]
    widths = [max(len(c), *(len(line[i]) for line in cells)) for i, c in enumerate(columns)]
    numeric = [all(not isinstance(row.get(c), str) for row in rows) for c in columns]

    def line(values: Sequence[str]) -> str:
        padded = [
            v.rjust(w) if n else v.ljust(w) for v, w, n in zip(values, widths, numeric, strict=True)
        ]
        return ("  " + "  ".join(padded)).rstrip()

    return "\n".join([line(columns), line(["-" * w for w in widths]), *map(line, cells)])


def cell(value: Any, column: str = "") -> str:
    """Return one value as text: numbers to three digits, areas under curves to four decimals."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float) and column.endswith("AUC"):
        return f"{value:.4f}"
    if isinstance(value, float):
        digits = (
            0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 0.1 else 4
        )
        return f"{value:,.{digits}f}"
    return str(value)
