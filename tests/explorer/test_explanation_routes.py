"""Why a tuple has its score, and how well probabilities fit, as the page asks for them."""

from __future__ import annotations

import pytest

pytest.importorskip("fastapi")

from fastapi.testclient import TestClient

from dhne import DHNE
from dhne.explorer import make_app

from .conftest import ADDRESS, MARKUP, PORT, network

TYPES = ("user", "movie", "tag")
TAG = 10**17 + 1


def ask(client: TestClient, *names: str, edge_type: int = 0) -> dict:
    answer = client.post("/api/explain", json={"edge_type": edge_type, "names": list(names)})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_an_explanation_is_the_library_s(client: TestClient, model: DHNE) -> None:
    found = ask(client, "user 03", MARKUP, str(TAG))
    expected = model.explain(("user 03", MARKUP, TAG), edge_type=TYPES)
    assert found["similarity"] == pytest.approx(expected.score)
    assert found["above_known"] == expected.above_known
    assert found["probability"] == pytest.approx(expected.probability)
    assert found["held_out"] == model.calibration_.held_out
    assert [p["adds"] for p in found["parts"]] == pytest.approx([p.adds for p in expected.parts])
    for pair, wanted in zip(found["pairs"], expected.pairs, strict=True):
        assert [n["name"] for n in pair["nodes"]] == list(map(str, wanted.names))
        assert pair["together"] == wanted.together
        assert [(n["type"], n["name"]) for n in pair["shared"]] == [
            (t, str(name)) for t, name in wanted.shared
        ]
        assert [[n["name"] for n in p] for p in pair["paths"]] == [
            [str(b), str(a)] for b, a in wanted.paths
        ]
    names = [tuple(n["name"] for n in near["nodes"]) for near in found["nearest"]]
    assert names == [tuple(map(str, n.names)) for n in expected.nearest]


def test_every_node_of_an_explanation_can_be_visited(client: TestClient) -> None:
    found = ask(client, "user 03", MARKUP, str(TAG))
    nodes = found["nodes"] + [n for p in found["pairs"] for n in p["shared"]]
    nodes += [n for p in found["pairs"] for path in p["paths"] for n in path]
    for node in nodes:
        page = client.get("/api/node", params={"type": node["type"], "id": node["id"]}).json()
        assert page["node"] == node


def test_sets_are_explained_in_any_order(client: TestClient) -> None:
    one, other = (
        ask(client, "user 01", "user 02", edge_type=1),
        ask(client, "user 02", "user 01", edge_type=1),
    )
    assert one == other
    assert len(one["pairs"]) == 1


@pytest.mark.parametrize(
    ("names", "status"),
    [(["user 03", "nobody", "1"], 404), (["user 03"], 422), (["user 03", "Heat"], 422)],
)
def test_what_cannot_be_explained_is_said(
    client: TestClient, names: list[str], status: int
) -> None:
    answer = client.post("/api/explain", json={"edge_type": 0, "names": names})
    assert answer.status_code == status
    assert answer.json()["detail"]


def test_reliability_has_the_bins_of_the_calibration(client: TestClient, model: DHNE) -> None:
    found = client.get("/api/reliability").json()
    curve = model.calibration_.reliability
    assert curve is not None
    assert found["error"] == pytest.approx(curve.error)
    assert [b["tuples"] for b in found["bins"]] == list(curve.counts)
    assert sum(curve.counts) > found["held_out"] == model.calibration_.held_out


def test_without_held_out_hyperedges_there_is_no_diagram() -> None:
    model = DHNE(dim=4, epochs=1, kernels="reference").fit(network())
    app = make_app(model, name="run", port=PORT)
    with TestClient(app, base_url=ADDRESS) as client:
        found = client.get("/api/reliability").json()
        assert found["bins"] == []
        assert found["error"] is None
        assert ask(client, "user 03", MARKUP, str(TAG))["held_out"] == 0
