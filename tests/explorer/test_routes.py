"""The API's answers are the library's answers."""

from __future__ import annotations

import csv
import io
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient

from dhne import DHNE
from dhne.explorer.application import make_app

from .conftest import ADDRESS, MARKUP, NAMES, PORT


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


def test_search_over_all_types(client: TestClient) -> None:
    found = get(client, "search", text="3", limit=100)
    assert {n["type"] for n in found["nodes"]} == {"user", "movie", "tag"}
    assert found["total"] == len(found["nodes"])
    [first, *_] = get(client, "search", text="HEAT")["nodes"]
    assert (first["type"], first["name"]) == ("movie", "Heat")
    # a name that begins with the text comes before one that only holds it, whatever its type
    begins = [n["name"].startswith("user 0") for n in get(client, "search", text="user 0")["nodes"]]
    assert begins == sorted(begins, reverse=True)


@pytest.mark.parametrize("name", NAMES)
def test_a_node_is_found_by_its_name(client: TestClient, name: str) -> None:
    by_name = get(client, "node", type="movie", name=name)
    assert by_name == get(client, "node", type="movie", id=NAMES.index(name))


def test_a_node_is_named_once(client: TestClient) -> None:
    for parameters in ({}, {"id": 0, "name": "Heat"}):
        answer = client.get("/api/node", params={"type": "movie", **parameters})
        assert answer.status_code == 422
        assert "by its id or by its name" in answer.json()["detail"]
    assert client.get("/api/node", params={"type": "movie", "name": "Hea"}).status_code == 404


def test_comparison_of_two_nodes(client: TestClient, model: DHNE) -> None:
    found = get(client, "compare", type="movie", id=3, with_type="movie", with_id=5)
    vectors = model.vectors_["movie"]
    a, b = vectors[3], vectors[5]
    expected = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert found["cosine"] == pytest.approx(expected, abs=1e-5)
    near = get(client, "similar", type="movie", id=3, k=29)["answers"]
    place = [n["node"]["id"] for n in near].index(5) + 1
    assert found["nodes"][1]["place"] == place
    edges = model.network_.edges(("user", "movie", "tag"))
    users = [set(edges[edges[:, 1] == i, 0].tolist()) for i in (3, 5)]
    [common] = [c for c in found["neighbours"] if c["type"] == "user"]
    assert common["common"] == len(users[0] & users[1])
    assert common["only"] == [len(users[0] - users[1]), len(users[1] - users[0])]
    assert found["together"] == []  # no hyperedge has two movies


def test_comparison_of_nodes_of_two_types(client: TestClient, model: DHNE) -> None:
    edges = model.network_.edges(("user", "movie", "tag"))
    user, movie = map(int, edges[0, :2])
    found = get(client, "compare", type="user", id=user, with_type="movie", with_id=movie)
    assert found["cosine"] is None
    assert [n["place"] for n in found["nodes"]] == [None, None]
    both = ((edges[:, 0] == user) & (edges[:, 1] == movie)).sum()
    assert found["together"] == [{"edge_type": 0, "hyperedges": int(both)}]
    same = {"type": "user", "id": 1, "with_type": "user", "with_id": 1}
    assert client.get("/api/compare", params=same).status_code == 422


def test_what_a_selection_shares(client: TestClient, model: DHNE) -> None:
    answer = client.post("/api/selection", json={"type": "movie", "ids": [0, 1, 8, 1]})
    found = answer.json()
    assert found["nodes"] == 3
    assert found["labels"] == [
        {"name": "<i>odd</i>", "selected": 2, "all": 8},
        {"name": "other", "selected": 2, "all": 8},
        {"name": "plain", "selected": 1, "all": 22},
    ]
    edges = model.network_.edges(("user", "movie", "tag"))
    for shared in found["shared"]:
        column = {"user": 0, "tag": 2}[shared["type"]]
        for entry in shared["nodes"]:
            met = set(edges[edges[:, column] == entry["node"]["id"], 1].tolist())
            assert entry["all"] == len(met)
            assert entry["selected"] == len(met & {0, 1, 8}) > 0


def test_a_selection_as_a_table(client: TestClient, model: DHNE) -> None:
    answer = client.post("/api/selection/csv", json={"type": "movie", "ids": [0, 3]})
    assert answer.headers["content-type"].startswith("text/csv")
    rows = list(csv.reader(io.StringIO(answer.text)))
    degrees = model.network_.degrees("movie")
    assert rows == [
        ["type", "name", "degree", "labels"],
        ["movie", MARKUP, str(degrees[0]), "<i>odd</i>; other"],
        ["movie", "50% &amp;", str(degrees[3]), "<i>odd</i>; other"],
    ]
    assert client.post("/api/selection", json={"type": "movie", "ids": [30]}).status_code == 404
    assert client.post("/api/selection", json={"type": "x", "ids": [3]}).status_code == 404
    many = {"type": "movie", "ids": [3] * 30_000}  # more than other questions may hold
    assert client.post("/api/selection", json=many).json()["nodes"] == 1


def test_source_date_and_duration_of_a_saved_run(model: DHNE, tmp_path: Path) -> None:
    model.save(tmp_path / "run")
    app = make_app(model, name="run", port=PORT, path=tmp_path / "run")
    with TestClient(app, base_url=ADDRESS) as client:
        run = get(client, "run")
    assert run["saved"] == (tmp_path / "run" / "manifest.json").stat().st_mtime
    assert run["seconds"] == pytest.approx(sum(r["seconds"] for r in model.history_))
    assert run["source"] is None  # it was trained in Python, from no file


def test_a_model_that_was_not_saved_has_no_date(client: TestClient) -> None:
    run = get(client, "run")
    assert run["saved"] is run["source"] is None


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
        ({"names": ["user 01", None]}, 422, "3 positions"),
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
    assert len(described["paths"]) == 20
    for methods in described["paths"].values():
        for route in methods.values():
            assert route["summary"]
            assert route["description"]
