"""Tables of random names that the tests of prepared networks share."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

COLUMNS = {"user": "userId", "movie": "title", "tag": "tag"}


def random_table(rows: int, seed: int) -> pa.Table:
    """Return three columns of names, some of them rare, all of them text."""
    rng = np.random.default_rng(seed)
    sizes = (200, 50, 20)
    columns = (rng.zipf(1.5, rows) % n for n in sizes)
    return pa.table(
        {
            name: [f"{kind} {i}" for i in ids]
            for name, kind, ids in zip(COLUMNS.values(), COLUMNS, columns, strict=True)
        }
    )
