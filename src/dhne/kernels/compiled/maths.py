"""How loops are compiled, and functions that the compiler can turn into vector instructions."""

# Branches rather than min and max, and lambdas around functions, are what numba takes.
# ruff: noqa: FURB136, PLW0108
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,arg-type"
# mypy: disable-error-code="import-untyped"

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from dhne.kernels.compiling import njit

# Without "numpy" every division is looked at for a zero, one by one.
PLAIN: dict[str, Any] = {"nogil": True, "cache": True, "error_model": "numpy"}
FAST: dict[str, Any] = {**PLAIN, "fastmath": {"reassoc", "contract", "nsz", "arcp"}}
INLINE: dict[str, Any] = {**FAST, "forceinline": True}  # to call costs as much as a short row
THREADS = {**FAST, "parallel": True}
# In the functions below the order of operations matters.
_EXACT: dict[str, Any] = {**PLAIN, "fastmath": {"contract"}, "forceinline": True}

_ONE = np.float32(1)
_LOG2E = np.float32(math.log2(math.e))
_LN2_HIGH = np.float32(0.693359375)  # few bits, so that a product with an integer is exact
_LN2_LOW = np.float32(math.log(2) - 0.693359375)
_LEAST, _MOST = np.float32(-87), np.float32(88)  # beyond them eˣ leaves float32
_BIAS, _ROUNDED = np.float32(127), np.float32(127.5)  # of a float32's exponent
_LINE = 64  # bytes that a cache holds together
_TAYLOR = tuple(np.float32(1 / math.factorial(i)) for i in range(7))


@njit(**_EXACT)
def _exp32(x):
    """eˣ = 2ⁿ eʳ with |r| ≤ ln 2 / 2, to a few units in the last place."""
    x = x if x > _LEAST else _LEAST
    x = x if x < _MOST else _MOST
    exponent = np.int32(x * _LOG2E + _ROUNDED)
    n = np.float32(exponent) - _BIAS
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    c = _TAYLOR
    series = c[0] + r * (c[1] + r * (c[2] + r * (c[3] + r * (c[4] + r * (c[5] + r * c[6])))))
    return series * np.int32(exponent << np.int32(23)).view(np.float32)


def exp(x):
    """eˣ in the precision of x, in compiled code."""
    raise NotImplementedError("for compiled code only")


@overload(exp, jit_options=_EXACT)
def _overload_exp(x):
    if x == types.float32:
        return lambda x: _exp32(x)
    return lambda x: math.exp(x)


@njit(**_EXACT)
def sigmoid(x):
    """1 / (1 + e⁻ˣ)."""
    one = type(x)(1)  # a plain 1 would make everything after it float64
    return one / (one + exp(-x))


@njit(**_EXACT)
def tanh(x):
    """1 − 2 / (1 + e²ˣ); its absolute error is that of a number near one."""
    one = type(x)(1)
    return one - (one + one) / (one + exp(x + x))


def _prefetch_row(typing, table, row):
    """Ask for a row of a table ahead of its use, so that it is in the cache by then."""

    def generate(context, builder, signature, arguments):
        kind = signature.args[0]
        array = context.make_array(kind)(context, builder, arguments[0])
        at = context.cast(builder, arguments[1], signature.args[1], types.intp)
        width = builder.extract_value(array.strides, 0)
        begin = builder.add(builder.ptrtoint(array.data, width.type), builder.mul(at, width))
        byte, number = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = cgutils.get_or_insert_function(builder.module, function, "llvm.prefetch.p0")
        how = [ir.Constant(number, n) for n in (0, 3, 1)]  # to read, into the nearest cache, data
        with cgutils.for_range_slice(builder, width.type(0), width, width.type(_LINE)) as (i, _):
            builder.call(prefetch, [builder.inttoptr(builder.add(begin, i), byte), *how])
        return context.get_dummy_value()

    return types.void(table, row), generate


prefetch_row: Any = intrinsic(_prefetch_row)
