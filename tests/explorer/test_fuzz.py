"""Whatever the API's description allows, and what it does not, gives no server error."""

from __future__ import annotations

from typing import Any

import pytest
import schemathesis
from fastapi.testclient import TestClient
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from .conftest import NAMES, Live

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]


class NoLayout:
    """Stands for a map that takes minutes."""

    state, reason, points = "not available", "not in this test", None
    stage, progress = "", None

    def start(self) -> str:
        return self.state


@pytest.fixture
def operations(live: Live, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setattr(live.app.state.atlas, "umap", lambda _: NoLayout())
    described = schemathesis.openapi.from_url(f"{live.address}/api/openapi.json")
    return [found.ok() for found in described.get_all_operations()]


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
def test_no_request_breaks_the_api(operations: list[Any], mode: GenerationMode) -> None:
    assert len(operations) == 20
    for operation in operations:
        takes = {"parameters", "requestBody"} & operation.definition.raw.keys()
        if mode == GenerationMode.NEGATIVE and not takes:
            continue  # there is nothing that could be wrong

        @settings(
            max_examples=20,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=operation.as_strategy(generation_mode=mode))
        def ask(case: Any) -> None:
            case.validate_response(case.call(), checks=CHECKS)

        ask()


NAME = st.one_of(
    st.none(),
    st.sampled_from([*NAMES, "user 01", "user 02", str(10**17), "movie 21"]),
    st.text(max_size=20),
    st.integers().map(str),
)


@given(
    names=st.lists(NAME, min_size=1, max_size=4),
    edge_type=st.integers(-1, 2),
    k=st.sampled_from([1, 10, 1000]),
    known=st.sampled_from(["keep", "drop"]),
)
@settings(max_examples=150)
def test_tuples_of_any_names_are_answered_or_explained(
    client: TestClient, names: list[str | None], edge_type: int, k: int, known: str
) -> None:
    question = {"names": names, "edge_type": edge_type, "k": k, "known": known}
    answer = client.post("/api/rank", json=question)
    assert answer.status_code in (200, 404, 422)
    assert client.post("/api/score", json={"names": names}).status_code in (200, 404, 422)
    if answer.status_code != 200:
        assert answer.json()["detail"]
