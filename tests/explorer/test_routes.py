"""The API's answers are the library's answers."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from dhne import DHNE

from .conftest import MARKUP, NAMES


def get(client: TestClient, path: str, **parameters: Any) -> Any:
    answer = client.get(f"/api/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_run_says_how_it_was_made(client: TestClient, model: DHNE) -> None:
    run = get(client, "run")
    assert run["name"] == "<u>run</u>"
    assert run["settings"]["dim"] == 8
    assert run["epochs"] == 3
    assert run["hyperedges"] == model.network_.num_edges()


def test_history_has_a_record_an_epoch(client: TestClient, model: DHNE) -> None:
    history = get(client, "history")
    assert [r["epoch"] for r in history["records"]] == [1, 2, 3]
    assert "loss" in history["measures"]
    assert history["records"][0]["loss"] == pytest.approx(model.history_[0]["loss"])


def test_types(client: TestClient) -> None:
    types = get(client, "types")
    assert [t["type"] for t in types["node_types"]] == ["user", "movie", "tag"]
    assert [e["ordered"] for e in types["edge_types"]] == [True, False]


def test_search_finds_names_as_text(client: TestClient) -> None:
    found = get(client, "search", type="movie", text="ONERROR")
    assert found == {"total": 1, "nodes": [{"type": "movie", "id": 0, "name": MARKUP}]}
    assert get(client, "search", type="tag", text="1000000")["total"] == 12
    assert len(get(client, "search", type="user", limit=5)["nodes"]) == 5


def test_integer_names_are_sent_as_text(client: TestClient) -> None:
    assert get(client, "node", type="tag", id=3)["node"]["name"] == str(10**17 + 3)


def test_node_page(client: TestClient, model: DHNE) -> None:
    page = get(client, "node", type="movie", id=0)
    assert page["node"]["name"] == MARKUP
    assert page["labels"] == ["<i>odd</i>", "other"]
    assert page["degree"] == model.network_.degrees("movie")[0]
    assert [n["type"] for n in page["neighbours"]] == ["user", "tag"]


def test_neighbours_are_counted_and_paged(client: TestClient, model: DHNE) -> None:
    edges = model.network_.edges(("user", "movie", "tag"))
    users = edges[edges[:, 1] == 0, 0]
    question = {"type": "movie", "id": 0, "of": "user"}
    found = get(client, "node/neighbours", **question, limit=200)
    counts = {n["node"]["id"]: n["hyperedges"] for n in found["neighbours"]}
    assert counts == {int(u): int((users == u).sum()) for u in np.unique(users)}
    assert found["total"] == len(counts)
    second = get(client, "node/neighbours", **question, limit=1, offset=1)
    assert second["neighbours"] == found["neighbours"][1:2]


def test_hyperedges_carry_the_model_s_similarity(client: TestClient, model: DHNE) -> None:
    found = get(client, "node/hyperedges", type="user", id=4, edge_type=0, limit=200)
    ids = np.array([[n["id"] for n in e["nodes"]] for e in found["hyperedges"]])
    assert (ids[:, 0] == 4).all()
    assert len(ids) == found["total"]
    scores = [e["similarity"] for e in found["hyperedges"]]
    np.testing.assert_allclose(scores, model.score(ids, ("user", "movie", "tag")), rtol=1e-5)
    assert scores == sorted(scores, reverse=True)
    stored = get(client, "node/hyperedges", type="user", id=4, order="stored", limit=200)
    assert sorted(e["similarity"] for e in stored["hyperedges"]) == sorted(scores)


def test_similar(client: TestClient, model: DHNE) -> None:
    found = get(client, "similar", type="movie", id=7, k=5)
    expected = model.similar("movie", "Heat", 5)
    assert [a["node"]["name"] for a in found["answers"]] == expected.names
    np.testing.assert_allclose([a["cosine"] for a in found["answers"]], expected.scores, atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_score(client: TestClient, model: DHNE, name: str) -> None:
    names = ["user 01", name, str(10**17)]
    answer = client.post("/api/score", json={"edge_type": 0, "names": names}).json()
    expected = model.score(("user 01", name, 10**17), ("user", "movie", "tag"))
    assert answer["similarity"] == pytest.approx(expected)
    assert [n["name"] for n in answer["nodes"]] == names


def test_score_of_a_known_edge_in_any_order(client: TestClient, model: DHNE) -> None:
    a, b = model.network_.edges(("user", "user"))[0].tolist()
    names = [f"user {a:02d}", f"user {b:02d}"]
    answers = [
        client.post("/api/score", json={"edge_type": 1, "names": n}).json()
        for n in (names, names[::-1])
    ]
    assert all(a["known"] for a in answers)
    assert answers[0]["similarity"] == pytest.approx(answers[1]["similarity"])


@pytest.mark.parametrize("known", ["keep", "drop"])
@pytest.mark.parametrize("position", [0, 1, 2])
def test_rank_is_the_library_s(client: TestClient, model: DHNE, position: int, known: str) -> None:
    names: list[Any] = ["user 03", "Heat", 10**17 + 2]
    names[position] = None
    texts = [None if n is None else str(n) for n in names]
    answer = client.post("/api/rank", json={"names": texts, "k": 7, "known": known}).json()
    expected = model.rank(tuple(names), 7, known=known, edge_type=("user", "movie", "tag"))
    found = [a["nodes"][position]["name"] for a in answer["answers"]]
    assert answer["open"] == [position]
    assert found == [str(n) for n in expected.names]
    scores = [a["similarity"] for a in answer["answers"]]
    np.testing.assert_allclose(scores, expected.scores, rtol=1e-5)
    if known == "drop":
        assert not any(a["known"] for a in answer["answers"])


def test_rank_marks_known_edges(client: TestClient, model: DHNE) -> None:
    u, m, t = model.network_.edges(("user", "movie", "tag"))[0].tolist()
    names = [f"user {u:02d}", model.network_.vocabulary("movie").name(m), None]
    answer = client.post("/api/rank", json={"names": names, "k": 12}).json()
    known = {a["nodes"][2]["id"] for a in answer["answers"] if a["known"]}
    edges = model.network_.edges(("user", "movie", "tag"))
    assert known == set(edges[(edges[:, 0] == u) & (edges[:, 1] == m), 2].tolist())
    assert t in known


def test_rank_of_two_open_positions(client: TestClient, model: DHNE) -> None:
    answer = client.post("/api/rank", json={"names": [None, "Heat", None], "k": 5}).json()
    query = (None, "Heat", None)
    expected = model.rank(query, 5, edge_type=("user", "movie", "tag"), beam=16)
    found = [(a["nodes"][0]["name"], int(a["nodes"][2]["name"])) for a in answer["answers"]]
    assert found == expected.names
    scores = [a["similarity"] for a in answer["answers"]]
    np.testing.assert_allclose(scores, expected.scores, rtol=1e-5)


def test_rank_of_a_set_leaves_out_who_is_in_it(client: TestClient) -> None:
    question = {"edge_type": 1, "names": ["user 05", None], "k": 100}
    answers = client.post("/api/rank", json=question).json()["answers"]
    assert len(answers) == 29
    assert 5 not in [a["nodes"][1]["id"] for a in answers]


def test_map_arrays(client: TestClient, model: DHNE) -> None:
    info = get(client, "map", type="movie")
    assert info["nodes"] == 30
    assert info["labels"][0] == {"name": "plain", "nodes": 22}
    points = np.frombuffer(client.get("/api/map/points?type=movie").content, "<f4").reshape(2, 30)
    assert np.isfinite(points).all()
    assert points.std() > 0
    names = client.get("/api/map/names?type=movie").content
    starts = np.frombuffer(names, "<u4", 31)
    texts = [names[4 * 31 + a : 4 * 31 + b].decode() for a, b in pairwise(starts)]
    assert texts == model.network_.names("movie").to_pylist()
    degrees = np.frombuffer(client.get("/api/map/colours?type=movie&by=degree").content, "<u4")
    np.testing.assert_array_equal(degrees, model.network_.degrees("movie"))
    codes = np.frombuffer(client.get("/api/map/colours?type=movie&by=label").content, np.uint8)
    assert [info["labels"][c]["name"] for c in codes[[0, 29]]] == ["<i>odd</i>", "plain"]


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/api/node?type=moive&id=0", 404, "did you mean 'movie'"),
        ("/api/node?type=movie&id=30", 404, "unknown node"),
        ("/api/node?type=movie&id=-1", 422, "id: "),
        ("/api/similar?type=movie&id=0&k=1001", 422, "k: "),
        ("/api/search?type=movie&limit=201", 422, "limit: "),
        ("/api/node/hyperedges?type=movie&id=0&edge_type=7", 404, "unknown edge type"),
        ("/api/map/points?type=movie&layout=umap", 404, "ready"),
        ("/api/map/colours?type=user&by=label", 404, "degree"),
        ("/api/nothing", 404, "Not Found"),
        ("/docs", 404, "Not Found"),
    ],
)
def test_mistakes_are_explained(client: TestClient, path: str, status: int, says: str) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    assert says in answer.json()["detail"]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [
        ({"names": ["user 01", "Heta", None]}, 404, "unknown movie 'Heta'"),
        ({"names": ["user 01", None]}, 422, "3 parts"),
        ({"names": [None, None, None]}, 422, "one or two"),
        ({"names": ["user 01", "Heat", str(10**17)]}, 422, "one or two"),
        ({"names": ["user 01", "Heat", "12.5"]}, 404, "unknown tag"),
        ({"names": ["user 01", "Heat", None], "k": 0}, 422, "k: "),
        ({"names": ["user 01", "Heat", None], "more": 1}, 422, "more: "),
        ({"names": ["x" * 5000, "Heat", None]}, 422, "names.0"),
        ({"names": [None] * 65}, 422, "names: "),
        ({"names": ["\ud800", "Heat", None]}, 422, "names.0"),
        ({"names": ["user 01", "Heat", None], "edge_type": 9}, 404, "edge type"),
    ],
)
def test_bad_questions_are_explained(
    client: TestClient, body: dict[str, Any], status: int, says: str
) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/api/rank", content=json.dumps(body), headers=headers)
    assert answer.status_code == status
    assert says in answer.json()["detail"]


def test_every_route_is_documented(client: TestClient) -> None:
    described = client.get("/api/openapi.json").json()
    assert len(described["paths"]) == 15
    for methods in described["paths"].values():
        for route in methods.values():
            assert route["summary"]
            assert route["description"]
