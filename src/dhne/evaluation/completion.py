"""The task ``completion``: the filtered rank of every test hyperedge at its open positions.

For each test hyperedge and each position asked for, all nodes of the position's type compete; those
that make another known hyperedge are not mistakes and are excluded (see `filtered_ranking`).
"""

from __future__ import annotations

from dataclasses import dataclass

from dhne.embedder import Embedder
from dhne.errors import UnknownNameError

from .filtered_ranking import rank_edges
from .protocols import Data, Split
from .separation import Options, Outcome, ReportProgress


@dataclass(frozen=True)
class CompletionOptions:
    """Options of completion.

    Attributes
    ----------
    positions : tuple of str
        Node types at whose positions to rank; if empty, those of the data, or all.
    ranked : int, optional
        Number of hyperedges to rank, drawn with the evaluation seed; by default all.
    """

    positions: tuple[str, ...] = ()
    ranked: int | None = None


def asked_positions(data: Data, options: CompletionOptions) -> tuple[str, ...]:
    """Return the node types at whose positions to rank; none means all."""
    for node_type in options.positions:
        if node_type not in data.train.node_types:
            raise UnknownNameError("node type", node_type, data.train.node_types)
    return options.positions or data.positions


def complete(
    model: Embedder,
    split: Split,
    positions: tuple[str, ...],
    *,
    ranked: int | None,
    options: Options,
    report: ReportProgress | None = None,
) -> Outcome:
    """Rank the test hyperedges at every position of these node types.

    Parameters
    ----------
    model : Embedder
        Fitted on ``split.train``.
    split : Split
    positions : tuple of str
        All positions if empty.
    ranked : int, optional
        Number of hyperedges to rank; by default all.
    options : Options
        Whose evaluation seed and chunk are used.
    report : callable, optional
        Called with (what, done, total).
    """
    metrics, count = rank_edges(
        model,
        split.test,
        split.known,
        positions=positions,
        limit=ranked,
        seed=options.evaluation_seed,
        chunk=options.chunk,
        progress=None if report is None else lambda done, total: report("ranking", done, total),
    )
    return Outcome(metrics, counts={"ranked": count})
