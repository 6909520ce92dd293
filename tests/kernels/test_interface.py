"""The operations of every backend against dense float64 matrices."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from dhne.errors import ParameterError
from dhne.kernels import ExtraRows, RowSample, RowSelection, SparseMatrix, get_kernels
from tests.kernels.backends import (
    BACKENDS,
    DTYPES,
    assert_near,
    dense_gradient,
    device_of,
    kernels_of,
)


@dataclass
class Case:
    """A sparse matrix, some of its rows, and extra rows below them."""

    matrix: np.ndarray  # dense float64[n, columns]
    rows: np.ndarray
    extra: tuple[np.ndarray, np.ndarray] | None
    base: np.ndarray | None  # the rows that the extra rows are added to
    width: int
    seed: int

    def selection(self, device: torch.device, dtype: torch.dtype) -> RowSelection:
        row, column = np.nonzero(self.matrix)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(self.matrix)))])
        sparse = SparseMatrix(
            torch.from_numpy(indptr).to(device),
            torch.from_numpy(column.astype(np.int32)).to(device),
            torch.from_numpy(self.matrix[row, column]).to(device, dtype),
            self.matrix.shape[1],
        )
        extra = None
        if self.extra is not None:
            columns, values = (torch.from_numpy(a).to(device) for a in self.extra)
            base = None if self.base is None else torch.from_numpy(self.base).to(device)
            extra = ExtraRows(columns, values.to(dtype), base)
        return RowSelection(sparse, torch.from_numpy(self.rows).to(device), extra)

    def dense(self) -> torch.Tensor:
        """The batch matrix M."""
        parts = [self.matrix[self.rows]]
        if self.extra is not None:
            below = np.zeros((len(self.extra[0]), self.matrix.shape[1]))
            for line, columns, values in zip(below, *self.extra, strict=True):
                np.add.at(line, columns, values)
            parts.append(below if self.base is None else below + parts[0][self.base])
        return torch.from_numpy(np.concatenate(parts))

    def numbers(self, *shapes: tuple[int, ...]) -> list[torch.Tensor]:
        rng = np.random.default_rng(self.seed)
        return [torch.from_numpy(rng.normal(size=s)) for s in shapes]


@st.composite
def cases(draw: st.DrawFn) -> Case:
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    n, columns = draw(st.integers(1, 12)), draw(st.integers(1, 40) | st.just(150))
    density = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    matrix = rng.random((n, columns)) * (rng.random((n, columns)) < density)
    if draw(st.booleans()):  # a hub, whose row every thread gets a piece of
        matrix[rng.integers(n)] = rng.random(columns)
    rows = rng.permutation(n)[: draw(st.integers(0, n))]
    extra = base = None
    if draw(st.booleans()) and len(rows):
        shape = (draw(st.integers(0, 6)), draw(st.integers(1, 4)))
        extra = (rng.integers(columns, size=shape), -rng.random(shape))
        base = rng.integers(len(rows), size=shape[0]) if draw(st.booleans()) else None
    return Case(matrix, rows, extra, base, draw(st.sampled_from([1, 3, 4, 17])), seed)


def leaf(tensor: torch.Tensor, device: torch.device, dtype: torch.dtype) -> torch.Tensor:
    return tensor.to(device, dtype).clone().requires_grad_()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=25)
@given(case=cases())
def test_encode_is_the_dense_product(backend: str, dtype: torch.dtype, case: Case) -> None:
    kernels, device = kernels_of(backend), device_of(backend)
    dense = case.dense()
    w, upstream = case.numbers((dense.shape[1], case.width), (len(dense), case.width))
    table, expected = leaf(w, device, dtype), leaf(w, torch.device("cpu"), torch.float64)

    out = kernels.encode(kernels.prepare(case.selection(device, dtype)), table)
    (out * upstream.to(device, dtype)).sum().backward()
    product = dense @ expected
    (product * upstream).sum().backward()

    assert_near(out, product, dtype)
    assert_near(dense_gradient(table), dense_gradient(expected), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=25)
@given(case=cases(), factor=st.sampled_from([1.0, 0.25]))
def test_reconstruction_is_the_squared_error_on_non_zeros(
    backend: str, dtype: torch.dtype, case: Case, factor: float
) -> None:
    kernels, device = kernels_of(backend), device_of(backend)
    b, columns = len(case.rows), case.matrix.shape[1]
    parts = case.numbers((len(case.dense()), case.width), (columns, case.width), (columns, 1))
    visits = torch.arange(b, dtype=torch.float64)  # one of them 0

    here = [leaf(p, device, dtype) for p in parts]
    plan = kernels.prepare(case.selection(device, dtype))
    loss = kernels.reconstruction(plan, *here, visits.to(device, dtype))
    (factor * loss).backward()

    x, table, bias = there = [leaf(p, torch.device("cpu"), torch.float64) for p in parts]
    a = torch.from_numpy(case.matrix[case.rows])  # the extra rows have no part in it
    error = torch.sign(a) * (a - torch.sigmoid(x[:b] @ table.T + bias.T))
    expected = (visits * (error**2).sum(1)).sum()
    (factor * expected).backward()

    assert_near(loss, expected, dtype)
    for got, reference in zip(here, there, strict=True):
        assert_near(dense_gradient(got), dense_gradient(reference), dtype)


@pytest.mark.parametrize("backend", ["reference", "cpu"])
@settings(max_examples=15)
@given(case=cases(), most=st.integers(1, 6))
def test_samples_of_long_rows_have_unbiased_gradients(backend: str, case: Case, most: int) -> None:
    """Over all turns (as many as the row is long, evenly spread) each non-zero counts once."""
    kernels, cpu = kernels_of(backend), torch.device("cpu")
    whole = case.selection(cpu, torch.float64)
    b, columns = len(case.rows), case.matrix.shape[1]
    upstream, *numbers = case.numbers(
        (len(case.dense()), case.width), (columns, case.width), (b, case.width), (columns, 1)
    )
    visits = 1 + torch.arange(b, dtype=torch.float64)

    def run(sample: RowSample | None) -> list[torch.Tensor]:
        w, x, c = (leaf(n, cpu, torch.float64) for n in numbers)
        v = leaf(numbers[0], cpu, torch.float64)
        plan = kernels.prepare(replace(whole, sample=sample))
        out = kernels.encode(plan, w)
        loss = kernels.reconstruction(plan, x, v, c, visits)
        ((out * upstream).sum() + loss).backward()
        assert_near(out, case.dense() @ numbers[0], torch.float64)  # the value is always whole
        return [loss.detach().reshape(1), *(dense_gradient(p) for p in (w, x, v, c))]

    expected = run(None)
    lengths = set((case.matrix[case.rows] != 0).sum(1).tolist())
    turns = math.lcm(*(n for n in lengths if n > most)) if max(lengths, default=0) > most else 1
    if turns > 400:
        return
    sampled = [run(RowSample(most, (i + 0.5) / turns)) for i in range(turns)]
    for number, whole_sum in enumerate(expected):
        assert_near(sum(s[number] for s in sampled) / turns, whole_sum, torch.float64)


@settings(max_examples=15)
@given(case=cases(), most=st.integers(1, 6), turn=st.floats(0, 1, exclude_max=True))
def test_every_backend_takes_the_same_sample(case: Case, most: int, turn: float) -> None:
    cpu = torch.device("cpu")
    selection = replace(case.selection(cpu, torch.float64), sample=RowSample(most, turn))
    upstream, table = case.numbers(
        (len(case.dense()), case.width), (case.matrix.shape[1], case.width)
    )
    found = []
    for backend in ("reference", "cpu"):
        kernels, w = kernels_of(backend), leaf(table, cpu, torch.float64)
        (kernels.encode(kernels.prepare(selection), w) * upstream).sum().backward()
        found.append(dense_gradient(w))
    assert_near(found[1], found[0], torch.float64)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=15)
@given(
    m=st.integers(0, 20), lengths=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    width=st.sampled_from([1, 5, 16]), seed=st.integers(0, 999), shared=st.booleans(),
)  # fmt: skip
def test_gather_sum_adds_the_rows_of_a_tuple(
    backend: str,
    dtype: torch.dtype,
    m: int,
    lengths: list[int],
    width: int,
    seed: int,
    shared: bool,
) -> None:
    kernels, device, rng = kernels_of(backend), device_of(backend), np.random.default_rng(seed)
    if shared:  # unordered positions give the same part several times
        lengths = [lengths[0]] * len(lengths)
    index = torch.from_numpy(np.stack([rng.integers(n, size=m) for n in lengths], axis=1))
    numbers = [torch.from_numpy(rng.normal(size=(n, width))) for n in lengths]
    upstream = torch.from_numpy(rng.normal(size=(m, width)))
    here = [leaf(p, device, dtype) for p in (numbers[:1] if shared else numbers)]
    there = [leaf(p, torch.device("cpu"), torch.float64) for p in numbers[: len(here)]]

    given_parts = here * len(lengths) if shared else here
    out = kernels.gather_sum(given_parts, index.to(device))
    (out * upstream.to(device, dtype)).sum().backward()
    parts = there * len(lengths) if shared else there
    expected = sum(part[index[:, p]] for p, part in enumerate(parts))
    (expected * upstream).sum().backward()

    assert_near(out, expected, dtype)
    for got, reference in zip(here, there, strict=True):
        assert_near(dense_gradient(got), dense_gradient(reference), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=15)
@given(
    m=st.integers(1, 70), length=st.integers(1, 4), width=st.sampled_from([1, 5, 16]),
    features=st.sampled_from([0, 1, 7]), seed=st.integers(0, 999),
)  # fmt: skip
def test_hidden_layer_is_the_formula(
    backend: str, dtype: torch.dtype, m: int, length: int, width: int, features: int, seed: int
) -> None:
    kernels, device, rng = kernels_of(backend), device_of(backend), np.random.default_rng(seed)
    index = torch.from_numpy(rng.integers(6, size=(m, length)))
    z = torch.from_numpy(rng.normal(size=(m, features)))
    shapes = [(width,), (width,), (features, width), *[(6, width)] * length]
    numbers = [torch.from_numpy(3 * rng.normal(size=shape)) for shape in shapes]
    upstream = torch.from_numpy(rng.normal(size=m))

    b, w, of_z, *parts = here = [leaf(n, device, dtype) for n in numbers]
    known = (z.to(device, dtype), of_z) if features else ()
    out = kernels.hidden_layer(parts, index.to(device), b, w, *known)
    (out * upstream.to(device, dtype)).sum().backward()

    b, w, of_z, *parts = there = [leaf(n, torch.device("cpu"), torch.float64) for n in numbers]
    total = b + z @ of_z + sum(part[index[:, p]] for p, part in enumerate(parts))
    expected = torch.tanh(total) @ w
    (expected * upstream).sum().backward()

    assert_near(out, expected, dtype)
    for got, reference in zip(here, there, strict=True):
        if got.grad is not None:
            assert_near(dense_gradient(got), dense_gradient(reference), dtype)


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=25)
@given(
    n=st.integers(1, 30),
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=3).filter(any),
    seed=st.integers(0, 999),
)
def test_distinct_finds_each_node_once(backend: str, n: int, lengths: list[int], seed: int) -> None:
    kernels, rng = kernels_of(backend), np.random.default_rng(seed)
    columns = [rng.integers(n, size=m) for m in lengths]
    for _ in range(2):  # scratch kept between calls must not remember
        found = kernels.distinct([torch.from_numpy(c).to(device_of(backend)) for c in columns], n)
        nodes, visits = found.nodes.cpu().numpy(), found.visits.cpu().numpy()
        seen = nodes[visits > 0]  # a backend may pad
        assert sorted(seen) == sorted(set(np.concatenate(columns).tolist()))
        count = np.bincount(np.concatenate(columns), minlength=n)
        np.testing.assert_array_equal(visits[visits > 0], count[seen])
        for column, inverse in zip(columns, found.inverse, strict=True):
            np.testing.assert_array_equal(nodes[inverse.cpu().numpy()], column)


def test_bits_do_not_depend_on_the_batch_that_came_before() -> None:
    """A backend keeps scratch and plans between batches; they must leave no trace."""
    rng = np.random.default_rng(0)
    matrix = rng.random((50, 30)) * (rng.random((50, 30)) < 0.3)
    whole = Case(matrix, np.arange(50), None, None, 8, 1)
    some = Case(matrix, rng.permutation(50)[:20], None, None, 8, 1)
    reordered = Case(matrix, rng.permutation(50), None, None, 8, 1)
    device, kernels = torch.device("cpu"), kernels_of("cpu")
    (table,) = whole.numbers((30, 8))
    selection = whole.selection(device, torch.float64)
    for case in (whole, some, reordered, whole, reordered):
        mine = RowSelection(selection.matrix, torch.from_numpy(case.rows))
        got = kernels.encode(kernels.prepare(mine), table)
        fresh = kernels_of("cpu")
        expected = fresh.encode(fresh.prepare(mine), table)
        assert torch.equal(got, expected)
        assert_near(got, case.dense() @ table, torch.float64)


def test_a_backend_must_fit_the_device() -> None:
    with pytest.raises(ParameterError, match="cuda kernels need device='cuda', not cpu"):
        get_kernels("cuda", torch.device("cpu"))
    with pytest.raises(ParameterError, match="kernels must be one of auto, reference, cpu, cuda"):
        get_kernels("fast", torch.device("cpu"))
    assert get_kernels("auto", torch.device("cpu")).name == "cpu"
