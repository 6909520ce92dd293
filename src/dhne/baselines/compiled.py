"""The inner loops of the baselines, compiled by numba; import this only where they run.

All loops are sequential or, for walks, have one random stream per walk, so the result depends
neither on the number of threads nor on their timing.
"""

# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

from typing import Any

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

# -- drawing from a distribution -----------------------------------------------------------------


@njit(cache=True)
def build_alias(scaled: Any) -> Any:
    """Pair columns that have too little with columns that have too much (Vose, 1991).

    `scaled` has weights with mean 1; it is overwritten.
    """
    n = len(scaled)
    threshold = np.ones(n)
    other = np.arange(n)
    small = np.empty(n, np.int64)
    large = np.empty(n, np.int64)
    smalls = larges = 0
    for i in range(n):
        if scaled[i] < 1:
            small[smalls] = i
            smalls += 1
        else:
            large[larges] = i
            larges += 1
    while smalls > 0 and larges > 0:
        smalls -= 1
        s = small[smalls]
        big = large[larges - 1]
        threshold[s] = scaled[s]
        other[s] = big
        scaled[big] -= 1 - scaled[s]
        if scaled[big] < 1:
            larges -= 1
            small[smalls] = big
            smalls += 1
    return threshold, other


# -- walks ---------------------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _uniform(states: Any, i: Any) -> Any:
    """Return the next number in [0, 1) of stream i (splitmix64)."""
    states[i] += np.uint64(0x9E3779B97F4A7C15)
    z = states[i]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return np.float64(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit(cache=True)
def _entry(running: Any, low: Any, high: Any, x: Any) -> Any:
    """Return the entry of a row that the part `x` in [0, 1) of the row's weight falls on."""
    target = running[low] + x * (running[high] - running[low])
    first, last = low, high - 1
    while first < last:
        middle = (first + last) // 2
        if running[middle + 1] > target:
            last = middle
        else:
            first = middle + 1
    return first


@njit(cache=True)
def _is_neighbour(indices: Any, low: Any, high: Any, node: Any) -> Any:
    """Whether a row with sorted columns contains `node`."""
    end = high
    while low < high:
        middle = (low + high) // 2
        if indices[middle] < node:
            low = middle + 1
        else:
            high = middle
    return low < end and indices[low] == node


@njit(cache=True, parallel=True)
def walk_all(
    indptr: Any,
    indices: Any,
    running: Any,
    starts: Any,
    states: Any,
    back: Any,
    out: Any,
    walks: Any,
) -> None:
    """Fill ``walks[i]`` with a walk from ``starts[i]``; `back` is 1/p, `out` is 1/q."""
    ceiling = max(back, 1.0, out)
    second_order = back != 1.0 or out != 1.0
    for i in prange(len(starts)):
        current = starts[i]
        previous = current
        walks[i, 0] = current
        for step in range(1, walks.shape[1]):
            low, high = indptr[current], indptr[current + 1]
            chosen = current
            while low < high:
                chosen = indices[_entry(running, low, high, _uniform(states, i))]
                if not second_order or step == 1:
                    break
                weight = out
                if chosen == previous:
                    weight = back
                elif _is_neighbour(indices, indptr[previous], indptr[previous + 1], chosen):
                    weight = 1.0
                if _uniform(states, i) * ceiling < weight:
                    break
            walks[i, step] = chosen
            previous = current
            current = chosen


# -- stochastic gradients ------------------------------------------------------------------------


@njit(cache=True, inline="always")
def _sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-x))


@njit(cache=True, fastmath=True)
def line_steps(vectors: Any, contexts: Any, sources: Any, targets: Any, rates: Any) -> None:
    """Take one gradient step of LINE for each row of `targets`, one after the other.

    ``targets[i, 0]`` is the neighbour of ``sources[i]``, the rest are negatives; a negative that is
    one of the pair is skipped. For the first order `contexts` is `vectors` itself.
    """
    dim = vectors.shape[1]
    change = np.empty(dim, vectors.dtype)
    for i in range(len(sources)):
        u = vectors[sources[i]]
        rate = rates[i]
        change[:] = 0
        for j in range(targets.shape[1]):
            target = targets[i, j]
            if j > 0 and (target == targets[i, 0] or target == sources[i]):
                continue
            v = contexts[target]
            x = np.float32(0)
            for k in range(dim):
                x += u[k] * v[k]
            label = 1.0 if j == 0 else 0.0
            g = vectors.dtype.type((label - _sigmoid(x)) * rate)
            for k in range(dim):
                change[k] += g * v[k]
                v[k] += g * u[k]
        for k in range(dim):
            u[k] += change[k]


@njit(cache=True, fastmath=True)
def hebe_steps(
    vectors: Any, edges: Any, positions: Any, negatives: Any, rates: Any, decay: Any
) -> None:
    """Take the gradient steps of HEBE: for each hyperedge its target against each negative.

    ``edges[i]`` are the nodes of a hyperedge, ``positions[i]`` the target's position; a negative
    that is the target itself is skipped.
    """
    dim = vectors.shape[1]
    length = edges.shape[1]
    context = np.empty(dim, vectors.dtype)
    change = np.empty(dim, vectors.dtype)
    for i in range(len(edges)):
        position = positions[i]
        target = edges[i, position]
        rate = rates[i]
        shrink = vectors.dtype.type(1 - rate * decay)
        u = vectors[target]
        context[:] = 0
        for p in range(length):
            if p != position:
                for k in range(dim):
                    context[k] += vectors[edges[i, p], k]
        change[:] = 0
        for j in range(negatives.shape[1]):
            negative = negatives[i, j]
            if negative == target:
                continue
            v = vectors[negative]
            x = np.float32(0)
            for k in range(dim):
                x += context[k] * (u[k] - v[k])
            g = vectors.dtype.type((1.0 - _sigmoid(x)) * rate)
            for k in range(dim):
                change[k] += g * (u[k] - v[k])
                u[k] = u[k] * shrink + g * context[k]
                v[k] = v[k] * shrink - g * context[k]
        for p in range(length):
            if p != position:
                for k in range(dim):
                    vectors[edges[i, p], k] = vectors[edges[i, p], k] * shrink + change[k]
