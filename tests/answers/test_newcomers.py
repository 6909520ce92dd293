"""Nodes that training has not seen: embedded from their hyperedges, then used like any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from dhne import DHNE, HyperNetwork, load
from dhne.errors import InputError, ParameterError, UnknownNameError
from dhne.network.edge_columns import EdgeColumns
from dhne.network.edges import EdgeSet, EdgeType
from dhne.network.vocabulary import Vocabulary


def make_network() -> HyperNetwork:
    """Weighted triples and unordered pairs, all with names."""
    rng = np.random.default_rng(0)
    sizes = {"user": 12, "movie": 9, "tag": 7}
    triples = np.stack([rng.integers(n, size=60) for n in sizes.values()], axis=1)
    pairs = np.array([sorted(rng.permutation(12)[:2]) for _ in range(15)])
    edges = [
        EdgeSet.build(tuple(sizes), triples, 1 + rng.random(60)),
        EdgeSet.build(("user", "user"), pairs, ordered=False),
    ]
    names = {t: Vocabulary([f"{t} {i}" for i in range(n)], node_type=t) for t, n in sizes.items()}
    return HyperNetwork(names, edges)


NETWORK = make_network()


@pytest.fixture(scope="module", params=["one layer", "two layers", "validation", "float64"])
def model(request: pytest.FixtureRequest) -> DHNE:
    options = {
        "two layers": {"encoder_layers": (10,), "dim": {"user": 4, "movie": 5, "tag": 6}},
        "validation": {"validation": 0.1, "preset": "plus"},
        "float64": {"dtype": "float64"},
    }.get(request.param, {})
    return DHNE(**{"dim": 6, "epochs": 5, "device": "cpu", "kernels": "cpu", **options}).fit(
        NETWORK
    )


def vector(tables: dict[str, pa.Table], node_type: str, name: str) -> np.ndarray:
    table = tables[node_type]
    row = table["name"].to_pylist().index(name)
    return np.array(table["vector"][row].as_py(), np.float32)


def trained_on(model: DHNE) -> HyperNetwork:
    if not model.settings_.validation:
        return NETWORK
    return NETWORK.split(model.settings_.validation, seed=model.random_state)[0]


def own_edges(network: HyperNetwork, node_type: str, node: int, new_name: str) -> HyperNetwork:
    """All hyperedges of a node, with the node under a new name."""
    vocabularies = {t: network.vocabulary(t) for t in network.node_types}
    names = [*network.names(node_type).to_pylist(), new_name]
    vocabularies[node_type] = Vocabulary(names, node_type=node_type)
    edge_sets = []
    for e in network.edge_sets:
        at = [p for p, t in enumerate(e.types) if t == node_type]
        mine = e.take((e.nodes[:, at] == node).any(1)) if at else e.take(np.zeros(len(e), bool))
        nodes = mine.nodes.copy()
        for p in at:
            nodes[nodes[:, p] == node, p] = len(names) - 1
        edge_sets.append(EdgeSet.build(e.types, nodes, mine.weights))
    whole = HyperNetwork(vocabularies, edge_sets)
    return whole.subset(drop_nodes=True)


@pytest.mark.parametrize("node_type", ["user", "movie", "tag"])
def test_a_training_nodes_own_edges_give_its_trained_vector(model: DHNE, node_type: str) -> None:
    network = trained_on(model)
    for node in range(NETWORK.num_nodes(node_type)):
        if not network.degrees(node_type)[node]:
            continue
        edges = own_edges(network, node_type, node, "newcomer")
        tables = model.transform(edges)
        np.testing.assert_allclose(
            vector(tables, node_type, "newcomer"),
            model.vectors_[node_type][node],
            rtol=0,
            atol=1e-5,
        )
        np.testing.assert_allclose(
            model.extend(edges).embeddings_[node_type][-1],
            model.embeddings_[node_type][node],
            rtol=0,
            atol=1e-6,
        )
        assert tables[node_type].filter(tables[node_type]["known"]).num_rows < len(
            model.embeddings_[node_type]
        )


def test_known_nodes_are_listed_with_the_vector_they_have(model: DHNE) -> None:
    tables = model.transform([("user 3", "movie new", "tag 1"), ("user 3", "movie 2", "tag new")])
    assert {t: dict(zip(*table.select([0, 2]).to_pydict().values(), strict=True))
            for t, table in tables.items()} == {
        "user": {"user 3": True},
        "movie": {"movie new": False, "movie 2": True},
        "tag": {"tag 1": True, "tag new": False},
    }  # fmt: skip
    np.testing.assert_array_equal(vector(tables, "user", "user 3"), model.vectors_["user"][3])


def test_what_two_new_nodes_share_changes_neither(model: DHNE) -> None:
    alone = model.transform([("eve", "movie 1", "tag 1")])
    together = model.transform([("eve", "movie 1", "tag 1"), ("eve", "new film", "tag 1")])
    once_more = model.transform([("eve", "movie 1", "tag 1"), ("eve", "new film", "new tag"),
                                 ("user 1", "new film", "new tag")])  # fmt: skip
    np.testing.assert_array_equal(vector(alone, "user", "eve"), vector(once_more, "user", "eve"))
    # A known neighbour of the edge counts once more; the new one does not count at all.
    twice = model.transform([("eve", "movie 1", "tag 1"), ("eve", "movie 1", "tag 1")])
    for other in (alone, twice):
        same = np.array_equal(vector(together, "user", "eve"), vector(other, "user", "eve"))
        assert not same


def test_a_new_node_without_a_known_neighbour_is_named(model: DHNE) -> None:
    edges = [("eve", "film", "label"), ("adam", "movie 1", "tag 1")]
    with pytest.raises(InputError, match=r"'user' share no hyperedge .*: 'eve'; leave them out"):
        model.transform(edges)
    kept = model.transform(edges, isolated="keep")
    assert not vector(kept, "user", "eve").any()
    extended = model.extend(edges, isolated="keep")
    empty = model.model_.autoencoder("user").finish(
        model.model_.autoencoder("user").encoder_bias * 0
    )
    eve = extended.network_.ids("user", ["eve"])[0]
    found = extended.embeddings_["user"][eve]
    np.testing.assert_allclose(found, empty.detach().float().numpy(), atol=1e-7)
    with pytest.raises(ParameterError, match="isolated must be 'raise' or 'keep'"):
        model.transform(edges, isolated="drop")


def test_new_nodes_in_no_hyperedge_at_all_are_isolated_too(model: DHNE) -> None:
    edges = HyperNetwork.from_columns(
        [EdgeColumns(EdgeType(("user", "movie", "tag")), [["eve"], ["movie 1"], ["tag 1"]])],
        nodes={"user": ["hermit"]},
    )
    with pytest.raises(InputError, match="'hermit'"):
        model.transform(edges)
    assert model.extend(edges, isolated="keep").score(("hermit", "movie 1", "tag 1")) > 0


def test_edges_that_do_not_fit_are_refused(model: DHNE) -> None:
    strange = HyperNetwork.from_tuples([("eve", "paris")], ("user", "city"))
    with pytest.raises(InputError, match="node types city, which the model does not know"):
        model.transform(strange)
    pairs = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 1], [2, 0]]})
    other = DHNE(dim=3, epochs=1, kernels="reference").fit(pairs)
    with pytest.raises(InputError, match="no edge type has 3 positions"):
        other.transform([(77, 0, 0)])


def test_an_extended_model_answers_for_new_and_known_names(model: DHNE) -> None:
    edges = [("eve", "movie 1", "tag 1"), ("eve", "movie 2", "tag 1"), ("eve", "user 3")]
    extended = model.extend(edges)
    tables = model.transform(edges)
    np.testing.assert_array_equal(extended.vectors_["user"][-1], vector(tables, "user", "eve"))
    before = [("user 1", "movie 1", "tag 1"), ("user 2", "movie 3", "tag 4")]
    if not model.settings_.evidence:  # which counts the new hyperedges too
        np.testing.assert_array_equal(extended.score(before), model.score(before))
    score = extended.score(("eve", "movie 1", "tag 2"))
    assert 0 < score < 1
    names, scores = extended.rank(("eve", "movie 1", None), k=7)
    assert scores[names.index("tag 2")] == pytest.approx(score, rel=1e-5)
    assert extended.rank(("eve", "movie 1", None), known="drop", k=9).names.count("tag 1") == 0
    assert "eve" in extended.rank((None, "movie 1", "tag 1"), k=13).names
    assert extended.similar("user", "eve", k=3).names
    assert extended.vectors("user").num_rows == 13
    with pytest.raises(UnknownNameError):
        model.score(("eve", "movie 1", "tag 2"))


@pytest.mark.parametrize(
    "edges",
    [
        [("eve", "movie 1", "tag 1"), ("eve", "user 3"), ("user 1", "Heat", "tag 2")],
        [("user 1", "movie 2", "tag 3")],  # no new node, but evidence counts it
    ],
)
def test_an_extended_model_is_saved_and_loaded_like_any_other(
    model: DHNE, edges: list[tuple[str, ...]], tmp_path: Path
) -> None:
    extended = model.extend(edges)
    extended.save(tmp_path / "run")
    found = load(tmp_path / "run")
    assert found.network_ == extended.network_
    for t in NETWORK.node_types:
        np.testing.assert_array_equal(found.vectors_[t], extended.vectors_[t])
    triples = [e for e in edges if len(e) == 3]
    np.testing.assert_array_equal(found.score(triples), extended.score(triples))
    question = ("user 2", "movie 1", None)
    assert found.rank(question, k=7).names == extended.rank(question, k=7).names
    again = [("pat", "movie 1", "tag 1")]
    for one, other in ((found, extended), (found.extend(again), extended.extend(again))):
        np.testing.assert_array_equal(one.vectors_["user"], other.vectors_["user"])
    found.extend(again).save(tmp_path / "twice")
    assert "pat" in load(tmp_path / "twice").network_.names("user").to_pylist()


def test_sets_of_another_size_serve_as_well() -> None:
    network = HyperNetwork.from_tuples(
        [("a", "b"), ("b", "c"), ("c", "d")], ("author", "author"), ordered=False
    )
    model = DHNE(dim=3, epochs=2, kernels="reference").fit(network)
    extended = model.extend([("eve", "a", "d")])
    assert 0 < extended.score(("d", "eve", "b")) < 1
    assert 0 < model.score(("a", "b", "c", "d")) < 1


def test_integer_names() -> None:
    network = HyperNetwork.from_arrays({("a", "b"): [[0, 0], [1, 1], [2, 0]]})
    model = DHNE(dim=3, epochs=2, kernels="reference").fit(network)
    tables = model.transform([(77, 0)])
    assert tables["a"]["name"].to_pylist() == [77]
    assert model.extend([(77, 0)]).score((77, 1)) > 0
