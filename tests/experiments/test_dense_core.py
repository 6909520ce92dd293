"""The core of a dataset is small, dense, and keeps each row on its side of the split."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dhne.evaluation import Data
from dhne.experiments.dense_core import dense_core
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import EdgeColumns, HyperNetwork


def named(network: HyperNetwork) -> set[tuple[object, ...]]:
    columns = [
        network.vocabulary(t).take(network.edges()[:, p]).to_pylist()
        for p, t in enumerate(network.edge_types[0])
    ]
    return set(zip(*columns, strict=True))


def power_law(seed: int) -> HyperNetwork:
    rng = np.random.default_rng(seed)
    rows = np.unique(np.minimum(rng.geometric(0.1, (400, 2)) - 1, 49), axis=0)
    names = [[f"n{i}" for i in rows[:, p]] for p in range(2)]
    net = HyperNetwork.from_columns([EdgeColumns(EdgeType(("a", "b")), names)])
    return net.with_labels({"a": [f"label of {name}" for name in net.names("a").to_pylist()]})


@given(st.integers(0, 30))
def test_rows_keep_their_side_and_their_names(seed: int) -> None:
    data = Data("net", *power_law(seed).split(0.2, seed=seed))
    small = dense_core(data, 60)
    assert small.test is not None
    assert small.train.num_edges() + small.test.num_edges() <= 60
    assert named(small.train) <= named(data.train)
    assert named(small.test) <= named(data.test)
    for t in small.train.node_types:
        tested = np.unique(small.test.edges()[:, small.test.edge_types[0].index(t)])
        assert (small.train.degrees(t)[tested] > 0).all()
    labels = small.train.labels("a").to_pylist()
    assert labels == [[f"label of {name}"] for name in small.train.names("a").to_pylist()]


def fullness(network: HyperNetwork) -> float:
    return network.fold().num_edges() / np.prod(network.position_sizes(network.edge_types[0]))


def test_what_remains_is_denser() -> None:
    rng = np.random.default_rng(0)
    rows = np.unique(np.minimum(rng.geometric(0.02, (3000, 3)) - 1, 299), axis=0)
    net = HyperNetwork.from_arrays({("a", "b", "c"): rows})
    small = dense_core(Data("net", net), 300).train
    assert small.num_edges() == 300
    assert fullness(small) > 2 * fullness(net)


def test_a_core_that_would_hold_nearly_every_tuple_is_thinned() -> None:
    grid = np.stack(np.meshgrid(range(10), range(10)), axis=-1).reshape(-1, 2)
    rest = np.random.default_rng(0).integers(10, 200, (3000, 2))
    net = HyperNetwork.from_arrays({("a", "b"): np.unique(np.concatenate([grid, rest]), axis=0)})
    small = dense_core(Data("net", net), 100).train
    assert small.num_edges() == 100
    assert fullness(small) < 0.1


def test_repeats_count_once_and_stay() -> None:
    """A few hyperedges that stand there often do not make a core."""
    rng = np.random.default_rng(0)
    distinct = np.unique(rng.integers(0, 40, (500, 2)), axis=0)
    rows = np.concatenate([distinct, np.repeat(distinct[:5], 300, axis=0)])
    small = dense_core(Data("net", HyperNetwork.from_arrays({("a", "b"): rows})), 200).train
    assert small.fold().num_edges() == 200


def test_a_small_network_stays_as_it_is() -> None:
    data = Data("net", power_law(0))
    assert dense_core(data, 10_000) is data
