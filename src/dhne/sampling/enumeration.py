"""Negatives from a list of all corruptions, for hyperedges whose random draws failed.

Draws fail repeatedly only if nearly every tuple is a hyperedge, and then lists are short: if less
than half of a set of tuples are hyperedges, at least half of the draws succeed. So a list never
needs to be much longer than the known hyperedges; longer ones are sampled.

Corruptions of few positions come first. If none of them is free, schemes that change one or two
positions continue with more, finally with any free tuple: if one exists, it is found.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from dhne.network.edges import NodeArray

from .draws import NumpyDraws
from .known import EdgeIndex
from .schemes import Scheme

_MOST_TUPLES = 1 << 18  # listed at once

Found = npt.NDArray[np.bool_]


def choose(
    positives: NodeArray, index: EdgeIndex, scheme: Scheme, draws: NumpyDraws
) -> tuple[NodeArray, Found]:
    """Choose one negative per positive, with the scheme's probabilities.

    Returns
    -------
    nodes : int64[m, N]
        The positive itself if there is no negative.
    found : bool[m]
    """
    chosen, found = positives.copy(), np.zeros(len(positives), dtype=bool)
    for level in scheme.levels():
        pending = np.flatnonzero(~found)
        if not len(pending):
            break
        if level == len(index.types):
            chosen[pending], found[pending] = _choose_any(positives[pending], index, scheme, draws)
            break
        grids = [_grid(scheme, p, draws) for p in combinations(range(len(index.types)), level)]
        at_once = max(1, _MOST_TUPLES // max(1, sum(len(chance) for _, _, chance in grids)))
        for start in range(0, len(pending), at_once):
            rows = pending[start : start + at_once]
            chosen[rows], found[rows] = _choose_listed(positives[rows], grids, index, draws)
    return chosen, found


Grid = tuple[tuple[int, ...], NodeArray, npt.NDArray[np.float64]]


def _grid(scheme: Scheme, positions: tuple[int, ...], draws: NumpyDraws) -> Grid:
    """Return the ways to fill some positions, ``int64[T, positions]``, and their probabilities."""
    chances = [scheme.probabilities(p) for p in positions]
    usable = [np.flatnonzero(c) for c in chances]
    if len(positions) > 1 and np.prod([float(len(u)) for u in usable]) > _MOST_TUPLES:
        columns = [scheme.nodes(p, draws.uniform(_MOST_TUPLES), draws) for p in positions]
        return positions, np.stack(columns, axis=1), np.full(_MOST_TUPLES, 1 / _MOST_TUPLES)
    nodes = np.stack([g.reshape(-1) for g in np.meshgrid(*usable, indexing="ij")], axis=1)
    likely = [c[column] for column, c in zip(nodes.T, chances, strict=True)]
    return positions, nodes, np.prod(likely, axis=0)


def _choose_listed(
    positives: NodeArray, grids: list[Grid], index: EdgeIndex, draws: NumpyDraws
) -> tuple[NodeArray, Found]:
    m, length = positives.shape
    blocks = []
    for positions, ways, _ in grids:
        block = np.repeat(positives[:, None, :], len(ways), axis=1)
        block[:, :, list(positions)] = ways
        blocks.append(block)
    nodes = np.concatenate(blocks, axis=1)
    chance = np.concatenate([chance for _, _, chance in grids])
    own = index.keys_of(positives)
    free = ~index.refuses(nodes.reshape(-1, length), own).reshape(m, -1)
    total = np.cumsum(free * chance, axis=1)
    pick = (total > draws.uniform(m)[:, None] * total[:, -1:]).argmax(axis=1)
    found = free[np.arange(m), pick]
    return np.where(found[:, None], nodes[np.arange(m), pick], positives), found


def _choose_any(
    positives: NodeArray, index: EdgeIndex, scheme: Scheme, draws: NumpyDraws
) -> tuple[NodeArray, Found]:
    """Choose from all free tuples, which are the same for every positive."""
    free = index.free_tuples(_MOST_TUPLES)
    chance = np.ones(0)
    if free is None:
        columns = [
            scheme.nodes(p, draws.uniform(_MOST_TUPLES), draws) for p in range(len(index.types))
        ]
        free = np.stack(columns, axis=1)
        free = free[~index.refuses(free)]
        chance = np.ones(len(free))
    else:
        likely = [scheme.probabilities(p)[column] for p, column in enumerate(free.T)]
        chance = np.prod(likely, axis=0)
        free, chance = free[chance > 0], chance[chance > 0]
    if not len(free):
        return positives, np.zeros(len(positives), dtype=bool)
    total = np.cumsum(chance)
    pick = np.searchsorted(total, draws.uniform(len(positives)) * total[-1], side="right")
    pick = np.minimum(pick, len(free) - 1)
    # a positive that is not known itself must not become its own negative
    own, keys = index.keys_of(positives), index.keys_of(free)
    pick = np.where(keys[pick] == own, (pick + 1) % len(free), pick)
    found = keys[pick] != own
    return np.where(found[:, None], free[pick], positives), found
