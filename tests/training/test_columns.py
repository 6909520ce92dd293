"""Columns divided over workers: every column is one worker's, and all of them are the adjacency."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dhne.adjacency import adjacency
from dhne.datasets import power_law
from dhne.errors import ParameterError
from dhne.model.row_encoding import RowEncoding
from dhne.network.hypernetwork import HyperNetwork
from dhne.training.columns import NUM_SHARDS, RowPart, Shards, adjacency_part
from dhne.workers import Group
from tests.training.divided_work import mixed

# None is main memory; on a device the parts are counted in another way.
DEVICES = [None, torch.device("cpu")]
NETWORKS = [power_law(2400, nodes=(400, 130, 20), clusters=4, seed=0), mixed()]


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("size", [1, 2, 3, 64])
@pytest.mark.parametrize("network", NETWORKS)
def test_the_parts_of_all_workers_are_the_adjacency(
    network: HyperNetwork, size: int, device: torch.device | None
) -> None:
    whole = adjacency(network)
    found = {t: np.zeros(a.shape, np.float32) for t, a in whole.items()}
    for rank in range(size):
        shards = Shards(rank, size)
        for t, part in adjacency_part(network, shards, device=device).items():
            entries = part.matrix.toarray()
            assert not entries[:, 0].any(), "the column of the others"
            for s, n in part.num_neighbours.items():
                ids = np.arange(n)
                mine, columns = shards.owns(ids), part.column(s, ids)
                assert mine.sum() == shards.count(n)
                assert not columns[~mine].any()
                found[t][:, whole[t].blocks[s] + ids[mine]] += entries[:, columns[mine]]
    for t, a in whole.items():
        np.testing.assert_array_equal(found[t], a.matrix.toarray())


def test_the_rows_of_shards_are_all_rows() -> None:
    (part, *_) = adjacency_part(NETWORKS[0], Shards(2, 3)).values()
    rows = np.arange(part.shape[1])
    found = [rows[w] for s in part.shards.numbers for w in part.shard_rows(s)]
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), rows[1:])


@pytest.mark.parametrize("length", [0, 5, 64, 300])
@pytest.mark.parametrize("size", [1, 3, 8, 64])
def test_selected_rows_are_those_of_the_shards_in_their_order(length: int, size: int) -> None:
    array, ids = np.arange(2 * length).reshape(length, 2), np.arange(length)
    for rank in range(size):
        shards = Shards(rank, size)
        owned = ids[shards.owns(ids)]
        np.testing.assert_array_equal(shards.select(array), array[owned])
        np.testing.assert_array_equal(shards.local(owned), np.arange(len(owned)))


def test_shards_do_not_depend_on_the_workers() -> None:
    """What a worker calls a shard's rows, any other number of workers calls them as well."""
    for size in (1, 2, 5):
        for rank in range(size):
            shards = Shards(rank, size)
            for shard in shards.numbers:
                ids = np.arange(shard, 300, NUM_SHARDS)
                local = np.arange(1 + shards.count(300))[shards.rows(shard, 1, 300)]
                np.testing.assert_array_equal(local, 1 + shards.local(ids))


def test_rows_have_the_scale_of_the_whole() -> None:
    class Sum(Group):
        """Adds what two workers contribute, one after the other."""

        def __init__(self, rank: int, of_first: list[float]) -> None:
            super().__init__(rank, 2)
            self.of_first, self.mine = of_first, []

        def total(self, number: float) -> float:
            self.mine.append(number)
            return number + (self.of_first[len(self.mine) - 1] if self.of_first else 0)

    network = NETWORKS[0]
    parts = [adjacency_part(network, Shards(rank, 2)) for rank in range(2)]
    for t, a in adjacency(network).items():
        whole = RowEncoding(a, "digits")
        first = Sum(0, [])
        assert RowPart(parts[0][t], "digits", first).scale >= whole.scale, "of its part alone"
        second = RowPart(parts[1][t], "digits", Sum(1, first.mine))
        assert second.is_digits == whole.is_digits
        assert second.scale == whole.scale


def test_more_workers_than_shards_are_refused() -> None:
    with pytest.raises(ParameterError, match="at most 64 workers"):
        Shards(0, 65)
