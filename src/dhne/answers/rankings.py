"""The answers of `rank` and `similar`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.errors import MissingExtraError


class _NamesAndScores(NamedTuple):
    names: list[Any]
    scores: npt.NDArray[np.float64]


class Ranking(_NamesAndScores):
    """Names and scores, best first; with two open positions the names are pairs.

    It unpacks into ``names, scores``.

    Attributes
    ----------
    names : list
    scores : float64[k]
    columns : tuple of str
        The columns of `tuples`.
    tuples : list of tuples
        The complete tuples that were scored; for `similar` the names only.
    exact : bool
        Whether every candidate was considered. With two open positions, or positions that may hold
        any node, a beam may have left some out: the scores are still those of `tuples`, but others
        may score higher.

    Examples
    --------
    >>> ranking = Ranking(["noir"], np.array([0.9]), columns=["tag"], tuples=[("noir",)])
    >>> names, scores = ranking
    >>> ranking.to_table().to_pylist()
    [{'tag': 'noir', 'score': 0.9}]
    """

    columns: tuple[str, ...]
    tuples: list[tuple[Any, ...]]
    exact: bool

    def __new__(
        cls,
        names: list[Any],
        scores: npt.NDArray[np.float64],
        *,
        columns: Sequence[str] = ("name",),
        tuples: list[tuple[Any, ...]] | None = None,
        exact: bool = True,
    ) -> Ranking:
        """Build a ranking from its parts."""
        self = super().__new__(cls, names, scores)
        self.columns, self.exact = tuple(columns), exact
        self.tuples = [(name,) for name in names] if tuples is None else tuples
        return self

    def to_table(self) -> pa.Table:
        """Return an Arrow table: one column per position, and ``score``."""
        parts = zip(*self.tuples, strict=True) if self.tuples else [()] * len(self.columns)
        columns = {c: list(part) for c, part in zip(self.columns, parts, strict=True)}
        return pa.table(columns | {"score": self.scores})

    def to_frame(self) -> Any:
        """Return a pandas DataFrame: one column per position, and ``score``."""
        try:
            return self.to_table().to_pandas()
        except ImportError:
            raise MissingExtraError("pandas", extra="interop") from None
