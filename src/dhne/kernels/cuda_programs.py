"""The Triton programs of the CUDA backend; :mod:`dhne.kernels.cuda` starts them.

A program reads and writes plain memory: the names are those of the tensors passed.
Numbers in capitals are known when it is compiled.
"""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from __future__ import annotations

import triton
import triton.language as tl


@triton.jit(do_not_specialize=["n"])
def pieces_kernel(rows, indptr, pieces, n, PIECE: tl.constexpr, LANES: tl.constexpr):
    """Write how many pieces each row has."""
    i = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    x = tl.load(rows + i, mask=i < n, other=-1)
    begin = tl.load(indptr + x, mask=x >= 0, other=0)
    end = tl.load(indptr + x + 1, mask=x >= 0, other=0)
    tl.store(pieces + i, (end - begin + PIECE - 1) // PIECE, mask=i < n)


@triton.jit(do_not_specialize=["n", "bound"])
def cut_kernel(
    rows, indptr, ends, row, first, last, n, bound, PIECE: tl.constexpr, LANES: tl.constexpr
):
    """Write the pieces; piece k is of the first row r with ``ends[r]`` > k, if there is one."""
    k = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    low, high = tl.zeros_like(k), n + tl.zeros_like(k)
    left = n
    while left > 0:
        middle = (low + high) // 2
        past = tl.load(ends + middle, mask=low < high, other=0) > k
        low = tl.where((low < high) & (past == 0), middle + 1, low)
        high = tl.where(past, middle, high)
        left = left // 2
    inside = low < n
    x = tl.load(rows + low, mask=inside, other=0)
    begin = tl.load(indptr + x, mask=inside, other=0)
    end = tl.load(indptr + x + 1, mask=inside, other=0)
    before = tl.load(ends + low - 1, mask=inside & (low > 0), other=0)
    begin += tl.where(inside, (k - before) * PIECE, 0)
    tl.store(row + k, tl.where(inside, low, 0).to(tl.int32), mask=k < bound)
    tl.store(first + k, begin, mask=k < bound)
    tl.store(last + k, tl.minimum(begin + PIECE, end), mask=k < bound)


@triton.jit(do_not_specialize=["m"])
def new_kernel(ordered, new, m, LANES: tl.constexpr):
    """Write 1 where a number is not the one before it."""
    i = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    here = tl.load(ordered + i, mask=i < m, other=0)
    before = tl.load(ordered + i - 1, mask=(i > 0) & (i < m), other=-1)
    tl.store(new + i, (here != before).to(tl.int32), mask=i < m)


@triton.jit(do_not_specialize=["m"])
def number_kernel(ordered, place, number, nodes, visits, inverse, m, LANES: tl.constexpr):
    """Write each distinct node, how often it came up, and its number where it did."""
    i = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
    k = tl.load(number + i, mask=i < m, other=1) - 1
    tl.store(nodes + k, tl.load(ordered + i, mask=i < m, other=0).to(tl.int64), mask=i < m)
    tl.store(inverse + tl.load(place + i, mask=i < m, other=0), k, mask=i < m)
    tl.atomic_add(visits + k, tl.zeros_like(k) + 1, mask=i < m, sem="relaxed")


@triton.jit
def encode_kernel(
    row,
    first,
    last,
    columns,
    values,
    table,
    out,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
):
    """Add one piece of a row of M W."""
    i = tl.program_id(0)
    begin = tl.load(first + i)
    end = tl.load(last + i)
    if begin < end:
        r = tl.load(row + i).to(tl.int64)
        f = tl.arange(0, BLOCK)
        total = tl.zeros([BLOCK], dtype=table.dtype.element_ty)
        for e in range(begin, end, STEP):
            at = e + tl.arange(0, STEP)
            c = tl.load(columns + at, mask=at < end, other=0).to(tl.int64)
            v = tl.load(values + at, mask=at < end, other=0.0)
            w = tl.load(
                table + c[:, None] * WIDTH + f[None, :], mask=(f < WIDTH)[None, :], other=0.0
            )
            total += tl.sum(v[:, None] * w, axis=0)
        tl.atomic_add(out + r * WIDTH + f, total, mask=f < WIDTH, sem="relaxed")


@triton.jit(do_not_specialize=["num_rows"])
def extra_kernel(
    columns,
    values,
    base,
    table,
    out,
    num_rows,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    ENTRIES: tl.constexpr,
    BASE: tl.constexpr,
):
    """Write one extra row of M W: its entries', and the row that it is added to."""
    i = tl.program_id(0).to(tl.int64)
    f = tl.arange(0, BLOCK)
    total = tl.zeros([BLOCK], dtype=table.dtype.element_ty)
    if BASE:
        r = tl.load(base + i)
        total += tl.load(out + r * WIDTH + f, mask=f < WIDTH, other=0.0)
    for j in range(ENTRIES):
        c = tl.load(columns + i * ENTRIES + j)
        v = tl.load(values + i * ENTRIES + j)
        total += v * tl.load(table + c * WIDTH + f, mask=f < WIDTH, other=0.0)
    tl.store(out + (num_rows + i) * WIDTH + f, total, mask=f < WIDTH)


@triton.jit(do_not_specialize=["num_rows"])
def extra_gradient_kernel(
    columns,
    values,
    base,
    gradient,
    out,
    num_rows,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    ENTRIES: tl.constexpr,
    BASE: tl.constexpr,
):
    """Add what one extra row gives to the table's gradient, and to that of its base."""
    i = tl.program_id(0).to(tl.int64)
    f = tl.arange(0, BLOCK)
    g = tl.load(gradient + (num_rows + i) * WIDTH + f, mask=f < WIDTH, other=0.0)
    if BASE:
        r = tl.load(base + i)
        tl.atomic_add(gradient + r * WIDTH + f, g, mask=f < WIDTH, sem="relaxed")
    for j in range(ENTRIES):
        c = tl.load(columns + i * ENTRIES + j)
        v = tl.load(values + i * ENTRIES + j)
        tl.atomic_add(out + c * WIDTH + f, v * g, mask=f < WIDTH, sem="relaxed")


@triton.jit
def table_gradient_kernel(
    row,
    first,
    last,
    columns,
    values,
    gradient,
    out,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
):
    """Add what one piece of a row gives to the gradient of W."""
    i = tl.program_id(0)
    begin = tl.load(first + i)
    end = tl.load(last + i)
    if begin < end:
        r = tl.load(row + i).to(tl.int64)
        f = tl.arange(0, BLOCK)
        g = tl.load(gradient + r * WIDTH + f, mask=f < WIDTH, other=0.0)
        for e in range(begin, end, STEP):
            at = e + tl.arange(0, STEP)
            c = tl.load(columns + at, mask=at < end, other=0).to(tl.int64)
            v = tl.load(values + at, mask=at < end, other=0.0)
            keep = (at < end)[:, None] & (f < WIDTH)[None, :]
            tl.atomic_add(
                out + c[:, None] * WIDTH + f[None, :],
                v[:, None] * g[None, :],
                mask=keep,
                sem="relaxed",
            )


@triton.jit
def reconstruction_kernel(
    row,
    first,
    last,
    columns,
    values,
    x,
    table,
    bias,
    weights,
    loss,
    dx,
    d_table,
    d_bias,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    STEP: tl.constexpr,
):
    """Add one piece's loss, and its gradients in x, V and c."""
    i = tl.program_id(0)
    begin = tl.load(first + i)
    end = tl.load(last + i)
    if begin < end:
        r = tl.load(row + i).to(tl.int64)
        f = tl.arange(0, BLOCK)
        inside = f < WIDTH
        xr = tl.load(x + r * WIDTH + f, mask=inside, other=0.0)
        weight = tl.load(weights + r)
        gradient = tl.zeros([BLOCK], dtype=x.dtype.element_ty)
        total = tl.zeros([STEP], dtype=x.dtype.element_ty)
        for e in range(begin, end, STEP):
            at = e + tl.arange(0, STEP)
            here = at < end
            c = tl.load(columns + at, mask=here, other=0).to(tl.int64)
            a = tl.load(values + at, mask=here, other=0.0)
            keep = here[:, None] & inside[None, :]
            v = tl.load(table + c[:, None] * WIDTH + f[None, :], mask=keep, other=0.0)
            z = tl.sum(v * xr[None, :], axis=1) + tl.load(bias + c, mask=here, other=0.0)
            fitted = 1 / (1 + tl.exp(-z))
            error = tl.where(here, fitted - tl.minimum(a, 1.0), 0.0)
            total += weight * error * error
            slope = 2 * weight * error * fitted * (1 - fitted)
            gradient += tl.sum(slope[:, None] * v, axis=0)
            tl.atomic_add(
                d_table + c[:, None] * WIDTH + f[None, :],
                slope[:, None] * xr[None, :],
                mask=keep,
                sem="relaxed",
            )
            tl.atomic_add(d_bias + c, slope, mask=here, sem="relaxed")
        tl.atomic_add(dx + r * WIDTH + f, gradient, mask=inside, sem="relaxed")
        tl.atomic_add(loss, tl.sum(total), sem="relaxed")


@triton.jit
def scale_kernel(x, factor, n, LANES: tl.constexpr):
    """Multiply by a factor that is almost always 1, and then do nothing."""
    by = tl.load(factor)
    if by != 1:
        i = tl.program_id(0).to(tl.int64) * LANES + tl.arange(0, LANES)
        tl.store(x + i, by * tl.load(x + i, mask=i < n, other=0.0), mask=i < n)


@triton.jit
def scatter_kernel(index, gradient, out, stride, WIDTH: tl.constexpr, BLOCK: tl.constexpr):
    """Add one tuple's gradient to the row of its node."""
    i = tl.program_id(0).to(tl.int64)
    f = tl.arange(0, BLOCK)
    r = tl.load(index + i * stride)
    g = tl.load(gradient + i * WIDTH + f, mask=f < WIDTH, other=0.0)
    tl.atomic_add(out + r * WIDTH + f, g, mask=f < WIDTH, sem="relaxed")


@triton.jit
def update_kernel(
    p,
    g,
    m,
    s,
    sizes,
    rows,
    gain: tl.constexpr,
    beta1: tl.constexpr,
    beta2: tl.constexpr,
    epsilon: tl.constexpr,
    KIND: tl.constexpr,
    WIDTH: tl.constexpr,
    BLOCK: tl.constexpr,
    ROWS: tl.constexpr,
):
    """Take an optimizer's step over some rows, those without a gradient left alone."""
    r = (tl.program_id(0).to(tl.int64) * ROWS + tl.arange(0, ROWS))[:, None]
    f = tl.arange(0, BLOCK)[None, :]
    inside = (r < rows) & (f < WIDTH)
    at = r * WIDTH + f
    gradient = tl.load(g + at, mask=inside, other=0.0)
    touched = tl.max((gradient != 0).to(tl.int32), axis=1)[:, None] > 0
    keep = inside & touched
    rate = (gain * tl.load(sizes)).to(p.dtype.element_ty)
    correction = tl.load(sizes + 1).to(p.dtype.element_ty)
    value = tl.load(p + at, mask=keep, other=0.0)
    if KIND == 0:
        value -= rate * gradient
    elif KIND == 3:
        mean = tl.load(m + at, mask=keep, other=0.0)
        square = tl.load(s + at, mask=keep, other=0.0)
        mean = beta1 * mean + (1 - beta1) * gradient
        square = beta2 * square + (1 - beta2) * gradient * gradient
        tl.store(m + at, mean.to(m.dtype.element_ty), mask=keep)
        tl.store(s + at, square.to(s.dtype.element_ty), mask=keep)
        value -= rate * mean / (tl.sqrt(square * correction) + epsilon)
    else:
        square = tl.load(m + at, mask=keep, other=0.0)
        if KIND == 1:
            square += gradient * gradient
        else:
            square = beta2 * square + (1 - beta2) * gradient * gradient
        tl.store(m + at, square.to(m.dtype.element_ty), mask=keep)
        value -= rate * gradient / (tl.sqrt(square) + epsilon)
    tl.store(p + at, value.to(p.dtype.element_ty), mask=keep)
