"""Filtered ranks against a brute-force version, on ordered and unordered hyperedges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dhne import DHNE
from dhne.errors import ParameterError
from dhne.evaluation.filtered_ranking import (
    KnownCompletions,
    filtered_ranks,
    rank_edges,
    ranking_metrics,
)
from dhne.model.blend import Blend
from dhne.network.edges import NodeArray
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.vocabulary import Vocabulary
from tests.evaluation.toy import CoarseScores, Remembers, random_network
from tests.model.product_networks import NETWORKS, facts


def brute_force(model: CoarseScores, known: HyperNetwork, row: list[int], position: int) -> float:
    """The mean over the best and the worst rank, one candidate at a time."""
    edges = known.edge_set()
    peers = [p for p, t in enumerate(edges.types) if t == edges.types[position]]

    def key(tuple_: list[int]) -> tuple[object, ...]:
        if not edges.types.has_sets:
            return tuple(tuple_)
        return tuple(sorted(zip(edges.types, tuple_, strict=True)))

    true = {key(r) for r in edges.nodes.tolist()}
    own = model.score_candidates(np.array([row]), edges.types, position)[0]
    better = same = 0
    for candidate in range(known.num_nodes(edges.types[position])):
        other = [*row]
        other[position] = candidate
        if candidate == row[position] or key(other) in true:
            continue
        if edges.types.has_sets and candidate in [row[p] for p in peers if p != position]:
            continue
        better += own[candidate] > own[row[position]]
        same += own[candidate] == own[row[position]]
    return ((better + 1) + (better + same + 1)) / 2


CASES = {
    "three types": {"sizes": (6, 4, 9), "types": None, "ordered": True},
    "pairs": {"sizes": (7, 11), "types": None, "ordered": True},
    "head and tail": {"sizes": (8, 3, 8), "types": ("w", "r", "w"), "ordered": True},
    "a set": {"sizes": (8, 8, 8), "types": ("a", "a", "a"), "ordered": False},
    "a set and a place": {"sizes": (7, 3, 7), "types": ("a", "p", "a"), "ordered": False},
    "four positions": {"sizes": (5, 4, 3, 4), "types": None, "ordered": True},
}


@pytest.mark.parametrize("case", CASES)
@given(seed=st.integers(0, 20), chunk=st.sampled_from([1, 17, 1000]))
def test_ranks_are_those_of_brute_force(case: str, seed: int, chunk: int) -> None:
    kind = CASES[case]
    whole = random_network(
        kind["sizes"], 40, seed=seed, types=kind["types"], ordered=kind["ordered"]
    )
    train, test = whole.split(0.4, seed=seed)
    model = CoarseScores(levels=4, random_state=seed).fit(train)
    edges = test.edge_set()
    for position in range(edges.length):
        known = KnownCompletions.build(whole.edge_set(), whole.position_sizes(), position)
        got = filtered_ranks(model, edges.nodes, known, chunk=chunk)
        want = [brute_force(model, whole, row, position) for row in edges.nodes.tolist()]
        np.testing.assert_array_equal(got, want)


def test_equal_scores_for_all_give_the_middle_rank() -> None:
    net = HyperNetwork.from_arrays({("a", "b"): [[0, 0]]}, {"a": 1, "b": 11})
    model = CoarseScores(levels=1).fit(net)
    metrics, ranked = rank_edges(model, net, net)
    assert ranked == 1
    assert metrics["mean_rank/b"] == 6.0
    assert metrics["hits@1/b"] == 0.0
    assert metrics["mean_rank/a"] == 1.0


def test_known_edges_are_no_mistakes() -> None:
    # Both hyperedges score 1; each would tie with the other if the other were not left out.
    net = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [0, 1]]}, {"a": 2, "b": 5})
    metrics, _ = rank_edges(Remembers().fit(net), net, net)
    assert metrics["hits@1/b"] == 1.0


def test_overall_metrics_pool_the_positions() -> None:
    whole = random_network((6, 4, 9), 60)
    metrics, _ = rank_edges(CoarseScores().fit(whole), whole, whole)
    for name in ("mrr", "hits@1", "hits@3", "hits@10", "mean_rank"):
        parts = [metrics[f"{name}/t{p}"] for p in range(3)]
        assert metrics[name] == pytest.approx(np.mean(parts))


def test_metrics_by_hand() -> None:
    found = ranking_metrics(np.array([1.0, 2.0, 4.0, 20.0]))
    assert found["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 4 + 1 / 20) / 4)
    assert (found["hits@1"], found["hits@3"], found["hits@10"]) == (0.25, 0.5, 0.75)
    assert found["mean_rank"] == 6.75


def test_a_limit_draws_the_same_edges_each_time() -> None:
    whole = random_network((20, 20, 20), 200)
    model = CoarseScores(levels=50).fit(whole)
    one, ranked = rank_edges(model, whole, whole, limit=30, seed=3)
    assert ranked == 30
    assert one == rank_edges(model, whole, whole, limit=30, seed=3)[0]
    assert one != rank_edges(model, whole, whole, limit=30, seed=4)[0]
    assert rank_edges(model, whole, whole, limit=900)[1] == 200


def test_progress_counts_every_query() -> None:
    whole = random_network((6, 5), 20)
    steps: list[tuple[int, int]] = []
    rank_edges(
        CoarseScores().fit(whole), whole, whole, progress=lambda d, t: steps.append((d, t)), chunk=9
    )
    assert steps[-1] == (40, 40)


def test_scores_that_are_not_numbers_are_refused() -> None:
    class Broken(CoarseScores):
        def score_ids(self, nodes, edge_type):  # type: ignore[no-untyped-def]
            return np.full(len(nodes), np.nan)

    net = random_network((4, 4), 8)
    with pytest.raises(ParameterError, match="did not converge"):
        rank_edges(Broken().fit(net), net, net)


def with_isolated(network: HyperNetwork, more: int) -> HyperNetwork:
    """The network with nodes that are in no hyperedge: without products they all tie."""
    sizes = {t: network.num_nodes(t) + more for t in network.node_types}
    names = {t: Vocabulary.of_size(n) for t, n in sizes.items()}
    return HyperNetwork(names, network.edge_sets)


def whole_tuple_ranks(model: DHNE, known: KnownCompletions, rows: NodeArray) -> list[float]:
    """Ranks by the logits of whole tuples, one at a time; up to 1e-9 apart they are equal."""
    n, types, found = known.sizes[known.position], known.types, []
    peers = types.peers(known.position)
    for row in rows:
        tuples = np.repeat(row[None], n, axis=0)
        tuples[:, known.position] = np.arange(n)
        ahead = model._scorer.logits(tuples, types) - model._scorer.logits(row[None], types)
        rivals = np.setdiff1d(np.arange(n), [row[p] for p in (known.position, *peers)])
        rivals = np.setdiff1d(rivals, known.of(known.contexts(row[None]))[1])
        higher, equal = (ahead[rivals] > 1e-9).sum(), (abs(ahead[rivals]) <= 1e-9).sum()
        found.append(1 + higher + equal / 2)
    return found


@pytest.mark.parametrize("weight", [0.0, 1.0])
@pytest.mark.parametrize("name", [*NETWORKS, "four positions", "many positions"])
def test_ranks_with_evidence_are_those_of_whole_tuples(name: str, weight: float) -> None:
    if name in NETWORKS:
        network = NETWORKS[name]()
    else:
        sizes = (2, 9, 5, 9) if name == "four positions" else (4,) * 35
        network = random_network(sizes, 60, types=["a", "b", "c", "b"] if len(sizes) == 4 else None)
    network = with_isolated(network, 3)
    train, test = network.split(0.3, seed=0)
    options = {"dim": 4, "epochs": 2, "ranking_epochs": 1, "dtype": "float64", "kernels": "cpu"}
    model = DHNE(preset="plus", device="cpu", **options).fit(train)
    if model.products_ is not None:
        model.blend_ = Blend(1.0, weight)
        model._forget()
    for edges in test.edge_sets:
        sizes = network.position_sizes(edges.types)
        for position in range(min(edges.length, 4)):
            known = KnownCompletions.build(network.edge_set(edges.types), sizes, position)
            got = filtered_ranks(model, edges.nodes, known, chunk=100)
            want = whole_tuple_ranks(model, known, edges.nodes)
            np.testing.assert_array_equal(got, want)


def test_nodes_added_after_training_are_candidates_like_others() -> None:
    network = facts()
    options = {"dim": 4, "epochs": 2, "ranking_epochs": 1, "dtype": "float64", "kernels": "cpu"}
    model = DHNE(preset="plus", device="cpu", **options).fit(network)
    assert model.products_ is not None
    model.blend_ = Blend(1.0, 1.0)
    new = [(0, 3, 20), (1, 20, 4), (2, 1, 21)]
    model = model.extend(HyperNetwork.from_tuples(new, ("relation", "entity", "entity")))
    edges = model.network_.edge_set(("relation", "entity", "entity"))
    for position in range(3):
        sizes = model.network_.position_sizes(edges.types)
        known = KnownCompletions.build(edges, sizes, position)
        got = filtered_ranks(model, edges.nodes, known)
        np.testing.assert_array_equal(got, whole_tuple_ranks(model, known, edges.nodes))
