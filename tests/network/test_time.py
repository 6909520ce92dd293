"""Splits at a moment, weights that fade, spans."""

from __future__ import annotations

import numpy as np
import pytest

from dhne import HyperNetwork
from dhne.errors import InputError, ParameterError
from dhne.network.hypernetwork import EdgeColumns
from dhne.network.time import parse_half_life


def _network(times, other=None):
    m = 3 if times is None else len(times)
    names = [[f"u{i % 3}" for i in range(m)], [f"m{i}" for i in range(m)]]
    tables = [EdgeColumns(("user", "movie"), names, None, times)]
    if other is not None:
        tables.append(
            EdgeColumns(("user", "tag"), [["u0"] * len(other), ["t"] * len(other)], None, other)
        )
    return HyperNetwork.from_columns(tables)


def _times(network):
    return np.concatenate([e.times for e in network.edge_sets])


@pytest.mark.parametrize("fraction", [0.1, 0.2, 0.5, 0.9])
def test_no_hyperedge_of_train_is_as_late_as_one_of_test(fraction):
    rng = np.random.default_rng(0)
    network = _network(rng.integers(0, 30, 200), rng.integers(10, 40, 50))
    train, test = network.split_by_time(fraction)
    assert _times(train).max() < _times(test).min()
    assert train.num_edges() + test.num_edges() == 250
    assert test.num_edges() == pytest.approx(250 * fraction, abs=15)
    assert train.node_types == test.node_types
    assert train.num_nodes() == test.num_nodes() == network.num_nodes()


def test_ties_stay_together():
    train, test = _network([1, 2, 2, 2, 2, 2, 2, 2, 2, 3]).split_by_time(0.5)
    assert {train.num_edges(), test.num_edges()} == {1, 9}


def test_dates_split_as_numbers_do():
    days = np.datetime64("2024-01-01") + np.arange(10)
    _, test = _network(days).split_by_time(0.2)
    assert _times(test).min() == np.datetime64("2024-01-09")


def test_a_split_that_is_impossible_says_why():
    with pytest.raises(InputError, match="have no times"):
        _network(None).split_by_time(0.2)
    with pytest.raises(InputError, match="the same time"):
        _network([5, 5, 5]).split_by_time(0.2)
    with pytest.raises(InputError, match="use one of the two"):
        _network([1, 2], np.array(["2024-01-01"], "datetime64[D]")).split_by_time(0.5)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        _network([1, 2]).split_by_time(1.0)


def test_weights_halve_with_every_half_life():
    days = np.datetime64("2024-01-01") + np.array([0, 90, 180])
    np.testing.assert_allclose(_network(days).with_decay("90d").weights(), [0.25, 0.5, 1])
    np.testing.assert_allclose(_network([0.0, 1.5]).with_decay(1.5).weights(), [0.5, 1])


def test_the_oldest_weights_stay_positive():
    assert _network([0, 10**6]).with_decay("1").weights().min() > 0


def test_a_half_life_must_fit_the_times():
    with pytest.raises(ParameterError, match="needs a unit"):
        _network(np.array(["2024-01-01", "2024-01-02"], "datetime64[D]")).with_decay("90")
    with pytest.raises(ParameterError, match="plain numbers"):
        _network([1, 2]).with_decay("90d")
    for wrong in ("", "90x", "-1d", "0", "d"):
        with pytest.raises(ParameterError, match="a half-life is"):
            parse_half_life(wrong)


def test_statistics_show_the_span():
    days = np.array(["2024-05-01", "2024-01-31"], "datetime64[D]")
    record = _network(days, [3, 7]).statistics()["edge_types"]
    assert record[0]["time"] == {"first": "2024-01-31", "last": "2024-05-01"}
    assert record[1]["time"] == {"first": 3, "last": 7}
    assert _network(None).statistics()["edge_types"][0]["time"] is None


def test_split_and_merge_keep_times():
    network = _network([1, 2, 3, 4])
    train, test = network.split(0.5, seed=0)
    assert train.merge(test, fold=False) == network
    assert network.merge(network).edge_set().times.tolist() == [1, 2, 3, 4]
