"""Why a tuple has its score, against counting by hand."""

from __future__ import annotations

import json

import numpy as np
import pytest

from dhne import DHNE, HyperNetwork
from dhne.errors import ParameterError
from dhne.model.blend import Blend
from dhne.network.tuples import resolve

TUPLES = [
    ("ann", "Heat", "noir"),
    ("ann", "Alien", "space"),
    ("bob", "Heat", "noir"),
    ("bob", "Alien", "noir"),
    ("eve", "Alien", "space"),
    ("eve", "Brazil", "odd"),
    ("ann", "Brazil", "odd"),
]
TYPES = ("user", "movie", "tag")


@pytest.fixture(scope="module", params=[False, True])
def model(request: pytest.FixtureRequest) -> DHNE:
    network = HyperNetwork.from_tuples(TUPLES, TYPES)
    return DHNE(dim=4, epochs=3, evidence=request.param, kernels="reference").fit(network)


def test_pairs_name_what_was_seen(model: DHNE) -> None:
    found = model.explain(("bob", "Alien", "space"))
    assert not found.known
    assert found.score == pytest.approx(model.score(("bob", "Alien", "space")))
    pairs = {p.columns: p for p in found.pairs}
    assert pairs["user", "movie"].together == 1
    assert pairs["movie", "tag"].together == 2
    assert pairs["user", "tag"].together == 0
    assert pairs["user", "tag"].shared == [("movie", "Alien")]
    # bob – noir – ann – space: bob and ann share the tag noir, and ann used space
    assert ("noir", "ann") in pairs["user", "tag"].paths
    assert [(p.column, p.name, p.degree) for p in found.parts] == [
        ("user", "bob", 2), ("movie", "Alien", 3), ("tag", "space", 2),
    ]  # fmt: skip
    assert all((p.adds is not None) == model.settings_.evidence for p in found.pairs)


def test_what_a_node_adds_is_what_the_average_node_would_change(model: DHNE) -> None:
    found = model.explain(("bob", "Heat", "noir"))
    other = DHNE(**model.get_params()).fit(model.network_)
    other.embeddings_["movie"][:] = other.embeddings_["movie"].mean(axis=0)
    nodes = np.array([[1, 0, 0]])
    if model.settings_.evidence:
        without = other._scorer.logits(nodes, other.network_.edge_types[0])[0]
    else:
        s = other.score(nodes)[0]
        without = np.log(s / (1 - s))
    assert found.parts[1].adds == pytest.approx(found.logit - without, abs=1e-5)


def test_known_hyperedges_are_near_ones(model: DHNE) -> None:
    found = model.explain({"tag": "noir", "user": "ann", "movie": "Heat"}, most=3)
    assert found.known
    assert len(found.nearest) == 3
    assert ("ann", "Heat", "noir") not in [n.names for n in found.nearest]
    cosines = [n.cosine for n in found.nearest]
    assert cosines == sorted(cosines, reverse=True)
    for near in found.nearest:
        assert near.names in TUPLES
        assert near.score == pytest.approx(model.score(near.names))
    assert 0 <= found.above_known <= 1
    assert 0 <= found.above_random <= 1


def test_it_reads_as_text_and_as_plain_data(model: DHNE) -> None:
    found = model.explain(("bob", "Alien", "space"))
    assert "(bob, Alien, space): similarity" in str(found)
    assert "both with movie Alien" in str(found)
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["edge_type"] == list(TYPES)
    assert plain["pairs"][0]["together"] == 1


def test_products_add_their_share(model: DHNE) -> None:
    network = HyperNetwork.from_tuples(TUPLES * 3, TYPES)
    with_products = DHNE(dim=4, epochs=2, products=True, ranking_epochs=2, kernels="reference")
    with_products.fit(network)
    with_products.blend_ = Blend(0.5, 2.0)
    found = with_products.explain(("bob", "Alien", "space"))
    types = network.edge_types[0]
    nodes = resolve(network, [("bob", "Alien", "space")])[0].nodes
    h = with_products._scorer.similarity_logits(nodes, types)[0]
    assert found.products_add == pytest.approx(found.logit - 0.5 * h, abs=1e-5)
    assert "own vectors add" in str(found)
    assert model.explain(("bob", "Alien", "space")).products_add is None


def test_sets_are_explained_too() -> None:
    sets = HyperNetwork.from_tuples(
        [("a", "b", "c"), ("b", "c", "d"), ("a", "d", "e")], ("x", "x", "x"), ordered=False
    )
    model = DHNE(dim=3, epochs=2, evidence=True, kernels="reference").fit(sets)
    one, other = model.explain(("c", "a", "b")), model.explain(("b", "c", "a"))
    assert one == other
    assert one.known
    assert len(one.pairs) == 3
    longer = model.explain(("a", "b", "c", "d"))
    assert np.isnan(longer.above_known)


def test_mistakes_are_explained(model: DHNE) -> None:
    with pytest.raises(ParameterError, match="explain needs a complete tuple"):
        model.explain(("bob", None, "space"))
    with pytest.raises(ParameterError, match="explain takes one tuple"):
        model.explain([("bob", "Alien", "space")])


def test_long_tuples_give_details_of_the_pairs_that_matter_most() -> None:
    """Paths between all pairs of 60 nodes would take minutes."""
    length = 12
    rows = [tuple(f"n{i + j}" for j in range(length)) for i in range(6)]
    network = HyperNetwork.from_tuples(rows, tuple(f"t{j}" for j in range(length)))
    model = DHNE(dim=4, epochs=1, evidence=True, kernels="reference").fit(network)
    pairs = model.explain(rows[0]).pairs
    assert len(pairs) == 66
    detailed = [p for p in pairs if p.shared]
    assert len(detailed) == 45
    least = min(abs(p.adds) for p in detailed)
    assert all(abs(p.adds) <= least for p in pairs if not p.shared)
