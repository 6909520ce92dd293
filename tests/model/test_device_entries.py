"""Entries counted on a device are those of the adjacency in main memory."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given

from dhne.adjacency import AdjacencyMatrix, adjacency
from dhne.datasets import power_law, unordered_sets
from dhne.model import device_entries
from dhne.model.device_entries import DeviceEntries, count_entries, device_adjacency
from dhne.model.evidence import PairEvidence
from dhne.model.row_encoding import KINDS, RowEncoding
from dhne.network.hypernetwork import HyperNetwork
from tests.random_networks import networks
from tests.training.divided_work import mixed

CPU = torch.device("cpu")
NUMPY = {torch.float32: np.float32, torch.float64: np.float64}
NETWORKS = [
    power_law(2400, nodes=(400, 130, 20), clusters=4, seed=0),
    power_law(1500, nodes=(60, 50), clusters=2, seed=1).fold(),
    unordered_sets(nodes=40, edges=300, sizes=(2, 3, 5)),
    mixed(),
    HyperNetwork.from_arrays({("a", "b"): []}, {"a": 2, "b": 0}),
]
NO_CUDA = pytest.mark.skipif(
    not torch.cuda.is_available(), reason="torch finds no CUDA device here"
)
DEVICES = [CPU, pytest.param(torch.device("cuda"), marks=[pytest.mark.gpu, NO_CUDA])]


def assert_same(found: AdjacencyMatrix, expected: AdjacencyMatrix, *, exact: bool = True) -> None:
    assert (found.node_type, found.blocks, found.sizes) == (
        expected.node_type,
        expected.blocks,
        expected.sizes,
    )
    assert found.shape == expected.shape
    assert found.entries.num_entries == expected.entries.num_entries
    mine, other = found.matrix, expected.matrix
    for name in ("indptr", "indices"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(other, name))
        assert getattr(mine, name).dtype == getattr(other, name).dtype
    assert mine.dtype == other.dtype
    near = 0 if exact else 4 * np.finfo(mine.dtype).eps
    np.testing.assert_allclose(mine.data, other.data, rtol=near)
    np.testing.assert_allclose(found.column_max, expected.column_max, rtol=near)


@given(networks(labels=None))
def test_any_network_has_the_same_matrices(net: HyperNetwork) -> None:
    found, expected = device_adjacency(net, device=CPU, dtype=torch.float32), adjacency(net)
    assert list(found) == list(expected)
    for t, a in expected.items():
        assert_same(found[t], a)  # the weights' sums are exact


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("device", DEVICES)
def test_large_networks_have_the_same_matrices(
    network: HyperNetwork, dtype: torch.dtype, device: torch.device
) -> None:
    expected = adjacency(network, dtype=NUMPY[dtype])
    for t, a in device_adjacency(network, device=device, dtype=dtype).items():
        assert_same(a, expected[t], exact=False)


def test_rows_are_counted_in_pieces() -> None:
    network = NETWORKS[0]
    for t, a in adjacency(network).items():
        blocks = a.blocks
        found = count_entries(
            network.edge_sets,
            t,
            lambda s, ids, blocks=blocks: ids + blocks[s],  # type: ignore[misc]
            a.shape,
            unit=True,
            device=CPU,
            dtype=torch.float32,
            most=100,  # fewer than one hub has
        )
        assert_same(AdjacencyMatrix(t, found, a.blocks, a.sizes), a)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("device", DEVICES)
def test_rows_have_the_same_values(network: HyperNetwork, kind: str, device: torch.device) -> None:
    dtype = torch.float32
    for t, a in device_adjacency(network, device=device, dtype=dtype).items():
        mine, host = RowEncoding(a, kind), RowEncoding(adjacency(network)[t], kind)
        assert mine.is_digits == host.is_digits
        assert mine.num_entries == host.num_entries
        assert mine.scale == pytest.approx(host.scale)
        found = mine.matrix(device=device, dtype=dtype)
        expected = host.matrix(device=device, dtype=dtype)
        for name in ("indptr", "indices", "values"):
            torch.testing.assert_close(getattr(found, name), getattr(expected, name))
        assert mine.on_host().longest == host.longest
        assert not isinstance(mine.on_host().adjacency.entries, DeviceEntries)


def test_evidence_counts_from_them() -> None:
    network = mixed()
    both = (adjacency(network), device_adjacency(network, device=CPU, dtype=torch.float32))
    host, mine = (PairEvidence(network, a, device=CPU, dtype=torch.float32) for a in both)
    for edges in network.edge_sets:
        nodes = torch.from_numpy(edges.nodes.copy())
        torch.testing.assert_close(
            mine.features(nodes, edges.types), host.features(nodes, edges.types)
        )


def test_memory_is_what_the_tensors_take() -> None:
    for a in device_adjacency(NETWORKS[0], device=CPU, dtype=torch.float32).values():
        assert isinstance(a.entries, device_entries.DeviceEntries)
        rows, columns = a.shape
        assert a.entries.nbytes == 8 * (rows + 1 + columns + a.entries.num_entries)
