"""Completions against trying every candidate."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dhne import HyperNetwork
from dhne.answers.ranking import contenders, top_k
from dhne.errors import ParameterError
from tests.random_networks import numbered_networks
from tests.toy import Toy


@given(
    scores=arrays(float, st.integers(0, 30), elements=st.sampled_from([-np.inf, 0, 0.5, 1, 2])),
    k=st.integers(1, 40),
)
def test_top_k_is_the_head_of_a_stable_sort(scores: np.ndarray, k: int) -> None:
    order = [i for i in np.argsort(-scores, kind="stable") if np.isfinite(scores[i])]
    assert top_k(scores, k).tolist() == order[:k]


@given(
    scores=arrays(float, st.integers(0, 30), elements=st.floats(-2, 2)),
    noise=st.integers(0, 2**32),
    k=st.integers(1, 40),
)
def test_contenders_hold_the_best_however_scores_erred(
    scores: np.ndarray, noise: int, k: int
) -> None:
    true = scores + np.random.default_rng(noise).uniform(-0.1, 0.1, len(scores))
    assert set(top_k(true, k)) <= set(contenders(scores, k, error=0.1 + 1e-9))


def brute_force(
    model: Toy, query: tuple[int | None, ...], types: tuple[str, ...], *, drop: bool
) -> dict[tuple[int, ...], float]:
    """Every completion that may be an answer, with its score."""
    network = model.network_
    edges = network.edge_set(types)
    known = {tuple(e) for e in edges.nodes.tolist()}
    spaces = [
        range(network.num_nodes(t)) if q is None else [q] for q, t in zip(query, types, strict=True)
    ]
    found = {}
    for nodes in itertools.product(*spaces):
        row = np.array([nodes])
        if edges.types.has_sets:
            for t in set(types):
                at = [p for p, s in enumerate(types) if s == t]
                filled = [nodes[p] for p in at]
                new = [nodes[p] for p in at if query[p] is None]
                if any(filled.count(v) > 1 for v in new):
                    break  # a set has each member once
                row[:, at] = np.sort(row[:, at])
            else:
                if drop and tuple(row[0]) in known:
                    continue
                found[tuple(row[0].tolist())] = float(model.score_ids(row, types)[0])
        elif not (drop and nodes in known):
            found[nodes] = float(model.score_ids(row, types)[0])
    return found


@settings(max_examples=60)
@given(
    network=numbered_networks(max_edges=8),
    data=st.data(),
    drop=st.booleans(),
    holes=st.integers(1, 2),
)
def test_completions_are_those_of_trying_everything(
    network: HyperNetwork, data: st.DataObject, drop: bool, holes: int
) -> None:
    model = Toy(data.draw(st.integers(0, 99))).fit(network)
    edges = data.draw(st.sampled_from(network.edge_sets))
    given_edge = edges.nodes[data.draw(st.integers(0, len(edges) - 1))].tolist()
    query: list[int | None] = list(given_edge)
    for p in data.draw(st.permutations(range(edges.length)))[:holes]:
        query[p] = None
    k = data.draw(st.integers(1, 6))
    known = "drop" if drop else "keep"
    names, scores = model.rank(tuple(query), k, known=known, edge_type=edges.types)

    expected = brute_force(model, tuple(query), edges.types, drop=drop)
    assert list(scores) == sorted(scores, reverse=True)
    np.testing.assert_array_equal(scores, sorted(expected.values(), reverse=True)[:k])
    answers = []
    for name, score in zip(names, scores, strict=True):
        fill = iter(name if holes == 2 else (name,))
        nodes = np.array([[next(fill) if q is None else q for q in query]])
        if edges.types.has_sets:
            for t in set(edges.types):
                at = [p for p, s in enumerate(edges.types) if s == t]
                nodes[:, at] = np.sort(nodes[:, at])
        answers.append(tuple(nodes[0].tolist()))
        assert expected[answers[-1]] == score
    assert len(set(answers)) == len(answers), "no answer is given twice"


def test_a_narrow_beam_gives_true_scores_and_no_member_twice() -> None:
    rng = np.random.default_rng(0)
    sets = np.array([rng.permutation(60)[:3] for _ in range(80)])
    network = HyperNetwork.from_arrays({("a", "a", "a"): sets}, {"a": 60}, ordered=False)
    model = Toy().fit(network)
    names, scores = model.rank((7, None, None), 20, beam=5)
    assert len(names) == 20
    for pair, score in zip(names, scores, strict=True):
        assert len({7, *pair}) == 3
        assert model.score((7, *pair)) == score
    assert len({frozenset(p) for p in names}) == 20


def test_known_hyperedges_are_kept_or_dropped_on_request() -> None:
    network = HyperNetwork.from_tuples([("a", "x"), ("a", "y"), ("b", "z")], ("left", "right"))
    model = Toy().fit(network)
    assert set(model.rank(("a", None)).names) == {"x", "y", "z"}
    assert model.rank(("a", None), known="drop").names == ["z"]
    assert model.rank(("b", None), known="drop", k=1).names[0] in {"x", "y"}


def test_mistakes_are_told_plainly() -> None:
    model = Toy().fit(HyperNetwork.from_arrays({("a", "b", "c", "d"): [[0, 0, 0, 0]]}))
    with pytest.raises(ParameterError, match="one or two open positions, this tuple has 3"):
        model.rank((0, None, None, None))
    with pytest.raises(ParameterError, match="one or two open positions, this tuple has 0"):
        model.rank((0, 0, 0, 0))
    with pytest.raises(ParameterError, match="k must be at least 1"):
        model.rank((0, 0, 0, None), k=0)
    with pytest.raises(ParameterError, match="k must be a whole number"):
        model.rank((0, 0, 0, None), k=1.5)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="known must be 'keep' or 'drop'"):
        model.rank((0, 0, 0, None), known="no")
