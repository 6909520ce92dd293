"""What the nodes at two positions of one tuple share; see :mod:`dhne.kernels.counts`.

Positions p and q hold v and u. Of tuple i, the hyperedge ``source[i]`` of this weight is left out.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import math

import numpy as np

from dhne.kernels.compiling import njit
from dhne.kernels.counts import ZERO

from .entries import INLINED, block_of, find_entry
from .maths import PLAIN

# -- leaving a hyperedge out -----------------------------------------------------------------------


@njit(**INLINED)
def is_member(types, source, i, kind, node):
    """Whether a node of a type is in the hyperedge that tuple i leaves out."""
    for p in range(len(types)):
        if types[p] == kind and source[i, p] == node:
            return True
    return False


@njit(**INLINED)
def rest_of(count, weight):
    """What is left of a count without a hyperedge of it."""
    rest = count - weight
    return rest if rest > ZERO * count else 0 * count


@njit(**INLINED)
def log_of(flat, at, own, weight):
    """ℓ of an entry, the hyperedge left out if it is one of its own."""
    return math.log1p(rest_of(flat[1][at], weight)) if own else flat[2][at]


# -- one pair of one tuple: positions p and q hold v and u -----------------------------------------


@njit(**INLINED)
def nth_even(j, n, most):
    """Which of n neighbours is number j of an even sample of `most`, or of all if they are few."""
    return j * n // most if n > most else j


@njit(**INLINED)
def shared_sum(flat, types, source, i, weight, p, q, v, u, v_in, u_in, kind, in_p, in_q, most):
    """Σ over the neighbours y of v, of type `kind`, of ℓ(A'[v, y]) ℓ(A'[u, y])."""
    low, high = block_of(flat, p, v, in_p)
    first, n = flat[4][flat[8][p, 1] + in_p], high - low
    total = 0.0
    for j in range(min(n, most)):
        at = low + nth_even(j, n, most)
        y = flat[0][at] - first
        other = find_entry(flat, q, u, in_q, y)
        if other >= 0:
            y_in = (v_in or u_in) and is_member(types, source, i, kind, y)
            mine = log_of(flat, at, v_in and y_in and not (kind == types[p] and y == v), weight)
            theirs = log_of(
                flat, other, u_in and y_in and not (kind == types[q] and y == u), weight
            )
            total += mine * theirs
    return total * max(n / most, 1.0)


@njit(**INLINED)
def list_near(
    flat, types, source, i, weight, p, x, x_in, block, kind, but, most, nodes, logs, ours
):
    """List at most `most` neighbours y of x in a block, of type `kind`, without the node `but`.

    Fills nodes: y, logs: ℓ(A'[x, y]), ours: whether y is in the hyperedge that is left out.
    Returns (how many they are, how many each represents).
    """
    low, high = block_of(flat, p, x, block)
    first, n = flat[4][flat[8][p, 1] + block], high - low
    k = 0
    for j in range(min(n, most)):
        at = low + nth_even(j, n, most)
        y = flat[0][at] - first
        if y != but:
            nodes[k] = y
            ours[k] = weight > 0 and is_member(types, source, i, kind, y)
            own = x_in and ours[k] and not (kind == types[p] and y == x)
            logs[k] = log_of(flat, at, own, weight)
            k += 1
    return k, max(n / most, 1.0)


@njit(**INLINED)
def path_sum(flat, types, source, i, weight, p, q, v, u, v_in, u_in, in_p, in_q, most, hub, lists):
    """t: Σ over y near v and x near u of ℓ(A'[v, y]) ℓ(A'[x, y]) ℓ(A'[u, x]); 0 of a hub."""
    kp, kq = types[p], types[q]
    low, high = block_of(flat, p, v, in_p)
    begin, end = block_of(flat, q, u, in_q)
    if max(high - low, end - begin) > hub:
        return 0.0
    (ys, near_v, y_ours), (xs, near_u, x_ours) = lists
    num_y, each_y = list_near(
        flat, types, source, i, weight, p, v, v_in, in_p, kq, u, most, ys, near_v, y_ours
    )
    num_x, each_x = list_near(
        flat, types, source, i, weight, q, u, u_in, in_q, kp, v, most, xs, near_u, x_ours
    )
    total = 0.0
    for a in range(num_x):
        x = xs[a]
        along = 0.0
        for b in range(num_y):
            middle = find_entry(flat, p, x, in_p, ys[b])
            if middle >= 0:
                own = x_ours[a] and y_ours[b] and not (kp == kq and x == ys[b])
                along += near_v[b] * log_of(flat, middle, own, weight)
        total += near_u[a] * along
    return total * each_x * each_y


@njit(**INLINED)
def count_pair(
    flat, types, blocks, common, k, p, q, nodes, source, i, weight, shared, paths, hub, lists, out
):
    """Write c, s and t of tuple i's pair number k; s over the neighbours of whichever has fewer."""
    kp, kq, v, u = types[p], types[q], nodes[i, p], nodes[i, q]
    v_in = weight > 0 and is_member(types, source, i, kp, v)
    u_in = weight > 0 and is_member(types, source, i, kq, u)
    at = find_entry(flat, p, v, blocks[p, q], u)
    out[i, 3 * k] = 0
    if at >= 0:
        own = v_in and u_in and not (kp == kq and v == u)
        out[i, 3 * k] = rest_of(flat[1][at], weight) if own else flat[1][at]
    both = 0.0
    for c in range(common.shape[1]):
        kind, in_p, in_q = common[k, c, 0], common[k, c, 1], common[k, c, 2]
        if kind < 0:
            break
        low_p, high_p = block_of(flat, p, v, in_p)
        low_q, high_q = block_of(flat, q, u, in_q)
        if high_p - low_p <= high_q - low_q:
            both += shared_sum(
                flat, types, source, i, weight, p, q, v, u, v_in, u_in, kind, in_p, in_q, shared
            )
        else:
            both += shared_sum(
                flat, types, source, i, weight, q, p, u, v, u_in, v_in, kind, in_q, in_p, shared
            )
    out[i, 3 * k + 1] = both
    out[i, 3 * k + 2] = path_sum(
        flat, types, source, i, weight, p, q, v, u, v_in, u_in, blocks[p, q], blocks[q, p], paths,
        hub, lists,
    )  # fmt: skip


@njit(**PLAIN)
def make_lists(n):
    """What `list_near` fills."""
    return np.empty(n, np.int64), np.empty(n), np.empty(n, np.bool_)
