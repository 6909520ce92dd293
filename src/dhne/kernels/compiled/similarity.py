"""The hidden layer of tuples, tanh(Σ_p P_p[index[:, p]] + b + z Z), and its gradient."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import numpy as np
from numba import prange

from dhne.kernels.compiling import njit

from .maths import INLINE, PLAIN, THREADS, tanh
from .matrix import first_at

_BLOCK = 32  # tuples whose sums are made in one go: they stay in the nearest cache


@njit(**INLINE)
def _start(start, low, high, out):
    """Set the rows low … high-1 of `out` to `start`."""
    for i in range(low, high):
        for f in range(out.shape[1]):
            out[i, f] = start[f]


@njit(**INLINE)
def _add_parts(parts, index, low, high, out):
    """Add to the rows low … high-1 of `out` what their tuples' nodes contribute."""
    h = out.shape[1]
    for p in range(len(parts)):
        part = parts[p]  # taken out of the tuple once per block: this updates a reference count
        for i in range(low, high):
            line, row = out[i], part[index[i, p]]
            for f in range(h):
                line[f] += row[f]


@njit(**INLINE)
def _add_members(part, index, begins, low, high, out):
    """Add to the rows low … high-1 of `out` what their tuples' members contribute."""
    h = out.shape[1]
    for i in range(low, high):
        line = out[i]
        for j in range(begins[i], begins[i + 1]):
            row = part[index[j]]
            for f in range(h):
                line[f] += row[f]


# -- the sum alone ---------------------------------------------------------------------------------


def gather_sum(parts, index):
    """Return Σ_p parts[p][index[:, p]]."""
    out = np.empty((len(index), parts[0].shape[1]), parts[0].dtype)
    _gather_sum(parts, index, np.zeros(out.shape[1], out.dtype), out)
    return out


@njit(**THREADS)
def _gather_sum(parts, index, zero, out):
    n = len(index)
    for k in prange((n + _BLOCK - 1) // _BLOCK):
        low, high = k * _BLOCK, min((k + 1) * _BLOCK, n)
        _start(zero, low, high, out)
        _add_parts(parts, index, low, high, out)


def ragged_sum(part, index, begins):
    """Return Σ_j part[index[j]] over the members of each tuple."""
    out = np.zeros((len(begins) - 1, part.shape[1]), part.dtype)
    _ragged_sum(part, index, begins, out)
    return out


@njit(**THREADS)
def _ragged_sum(part, index, begins, out):
    n = len(out)
    for k in prange((n + _BLOCK - 1) // _BLOCK):
        _add_members(part, index, begins, k * _BLOCK, min((k + 1) * _BLOCK, n), out)


# -- the whole layer -------------------------------------------------------------------------------


def hidden_layer(parts, index, bias, known, output):
    """Return (the hidden layer L of each tuple, L · output).

    `known` is b + z Z of each tuple, and becomes L; None where there is no z.
    """
    hidden = np.empty((len(index), len(bias)), bias.dtype) if known is None else known
    logits = np.empty(len(index), bias.dtype)
    _hidden_layer(parts, index, bias, known is not None, output, hidden, logits)
    return hidden, logits


@njit(**THREADS)
def _hidden_layer(parts, index, bias, is_known, output, hidden, logits):
    n, h = hidden.shape
    for k in prange((n + _BLOCK - 1) // _BLOCK):
        low, high = k * _BLOCK, min((k + 1) * _BLOCK, n)
        if not is_known:
            _start(bias, low, high, hidden)
        _add_parts(parts, index, low, high, hidden)
        for i in range(low, high):
            line = hidden[i]
            logit = bias.dtype.type(0)
            for f in range(h):
                line[f] = tanh(line[f])
                logit += line[f] * output[f]
            logits[i] = logit


def ragged_layer(part, index, begins, bias, known, output):
    """Return (L, L · output) of tuples of any length; see `hidden_layer`."""
    n = len(begins) - 1
    hidden = np.empty((n, len(bias)), bias.dtype) if known is None else known
    logits = np.empty(n, bias.dtype)
    _ragged_layer(part, index, begins, bias, known is not None, output, hidden, logits)
    return hidden, logits


@njit(**THREADS)
def _ragged_layer(part, index, begins, bias, is_known, output, hidden, logits):
    n, h = hidden.shape
    for k in prange((n + _BLOCK - 1) // _BLOCK):
        low, high = k * _BLOCK, min((k + 1) * _BLOCK, n)
        if not is_known:
            _start(bias, low, high, hidden)
        _add_members(part, index, begins, low, high, hidden)
        for i in range(low, high):
            line = hidden[i]
            logit = bias.dtype.type(0)
            for f in range(h):
                line[f] = tanh(line[f])
                logit += line[f] * output[f]
            logits[i] = logit


def hidden_gradient(hidden, gradient, output, pieces):
    """Return the gradients in (each tuple's sum, the bias, the output)."""
    of_sum = np.empty_like(hidden)
    of_bias, of_output = np.zeros((2, pieces, hidden.shape[1]), hidden.dtype)
    _hidden_gradient(hidden, gradient, output, of_sum, of_bias, of_output)
    return of_sum, of_bias.sum(axis=0), of_output.sum(axis=0)


@njit(**THREADS)
def _hidden_gradient(hidden, gradient, output, of_sum, of_bias, of_output):
    n, h = hidden.shape
    pieces, one = len(of_bias), output.dtype.type(1)
    for k in prange(pieces):
        bias, weights = of_bias[k], of_output[k]
        for i in range(n * k // pieces, n * (k + 1) // pieces):
            g, line, slope = gradient[i], hidden[i], of_sum[i]
            for f in range(h):
                slope[f] = g * output[f] * (one - line[f] * line[f])
                bias[f] += slope[f]
                weights[f] += g * line[f]


# -- from tuples back to nodes ---------------------------------------------------------------------


@njit(**PLAIN)
def sort_by_node(index, num_nodes):
    """Return (where each node's tuples begin, the tuples by node), tuples in order."""
    begins = np.zeros(num_nodes + 1, np.int64)
    for i in range(len(index)):
        begins[index[i] + 1] += 1
    for v in range(num_nodes):
        begins[v + 1] += begins[v]
    cursor = begins[:-1].copy()
    tuples = np.empty(len(index), np.int64)
    for i in range(len(index)):
        tuples[cursor[index[i]]] = i
        cursor[index[i]] += 1
    return begins, tuples


@njit(**PLAIN)
def sort_members(index, begins, num_nodes):
    """Return (where each node's tuples begin, the tuples by node) of tuples of any length."""
    firsts, members = sort_by_node(index, num_nodes)
    tuple_of = np.empty(len(index), np.int64)
    for i in range(len(begins) - 1):
        for j in range(begins[i], begins[i + 1]):
            tuple_of[j] = i
    for e in range(len(members)):
        members[e] = tuple_of[members[e]]
    return firsts, members


def scatter_sum(begins, tuples, x, pieces):
    """Return for each node the sum of the rows of `x` of its tuples."""
    out = np.zeros((len(begins) - 1, x.shape[1]), x.dtype)
    _scatter_sum(begins, tuples, x, pieces, out)
    return out


@njit(**THREADS)
def _scatter_sum(begins, tuples, x, pieces, out):
    n = begins[-1]
    for k in prange(pieces):
        low, high = first_at(begins, n * k // pieces), first_at(begins, n * (k + 1) // pieces)
        for v in range(low, high):
            line = out[v]
            for e in range(begins[v], begins[v + 1]):
                row = x[tuples[e]]
                for f in range(x.shape[1]):
                    line[f] += row[f]
