"""The evidence of all candidates of an open position, and its gradient, entry by entry."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

from numba import prange

from dhne.kernels.compiling import njit

from .maths import THREADS


@njit(**THREADS)
def add_evidence(
    weights, asked, lines, nodes, begins, targets, places, values, without, column, known, turned,
    out,
):  # fmt: skip
    """Add to ``out[row, column]`` the evidence of the nodes that ``nodes[row]`` met.

    ``lines[row]`` is the row of the weights for the place pair ``asked[row]``. `turned` is empty if
    place pairs are read as they are; ``known[row, column]`` marks the known answers, each scored
    without its own hyperedge (`known` is empty where there are none).
    """
    for row in prange(len(asked)):
        a = asked[row]
        if a < 0:
            continue
        line = weights[lines[row]]
        for e in range(begins[nodes[row]], begins[nodes[row] + 1]):
            c, b = column[targets[e]], places[e]
            if c < 0 or c >= out.shape[1]:
                continue
            own = b == a and len(known) > 0 and known[row, c]
            g = without[e] if own else values[e]
            out[row, c] += line[turned[b] if len(turned) else b] * g


@njit(**THREADS)
def add_gradient(
    gradient, asked, lines, nodes, begins, targets, places, values, without, column, known, turned,
    out, pieces,
):  # fmt: skip
    """Add to `gradient` what `add_evidence` makes of the gradient `out`.

    A line of the weights belongs to one piece, so that no two threads add to it.
    """
    for piece in prange(pieces):
        for row in range(len(asked)):
            a = asked[row]
            if a < 0 or lines[row] % pieces != piece:
                continue
            line = gradient[lines[row]]
            for e in range(begins[nodes[row]], begins[nodes[row] + 1]):
                c, b = column[targets[e]], places[e]
                if c < 0 or c >= out.shape[1]:
                    continue
                own = b == a and len(known) > 0 and known[row, c]
                g = without[e] if own else values[e]
                line[turned[b] if len(turned) else b] += out[row, c] * g
