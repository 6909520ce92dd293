"""What comes from elsewhere, or is too large, is refused; nothing but the page can be read."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from .conftest import ADDRESS, PORT


@pytest.mark.parametrize(
    "host",
    [
        "example.com",
        f"example.com:{PORT}",
        "127.0.0.1",
        "127.0.0.1:1",
        f"127.0.0.1.example.com:{PORT}",
        f"localhost.example.com:{PORT}",
        "",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/run", "/static/main.js"])
def test_a_foreign_host_is_refused(client: TestClient, host: str, path: str) -> None:
    assert client.get(path, headers={"Host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin",
    ["http://example.com", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1", "file://"],
)
def test_a_foreign_origin_is_refused(client: TestClient, origin: str) -> None:
    headers = {"Origin": origin}
    assert client.get("/api/run", headers=headers).status_code == 403
    assert client.post("/api/rank", json={"names": []}, headers=headers).status_code == 403
    assert client.options("/api/rank", headers=headers).status_code == 403


def test_a_request_that_another_site_made_the_browser_send_is_refused(client: TestClient) -> None:
    assert client.get("/api/run", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 403
    assert client.get("/api/run", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200  # a link


def test_the_page_s_own_origin_is_let_in(client: TestClient) -> None:
    for origin in (ADDRESS, f"http://localhost:{PORT}"):
        assert client.get("/api/run", headers={"Origin": origin}).status_code == 200
    assert client.get("/api/run", headers={"Host": f"localhost:{PORT}"}).status_code == 200


def test_no_other_site_may_read_answers(client: TestClient) -> None:
    answer = client.get("/api/run", headers={"Origin": ADDRESS})
    assert not [h for h in answer.headers if h.startswith("access-control")]


@pytest.mark.parametrize("path", ["/", "/api/run", "/static/style.css", "/nothing", "/api/node"])
def test_every_answer_tells_the_browser_what_may_run(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    policy = dict(d.strip().split(" ", 1) for d in headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == "'self' 'unsafe-eval'"
    assert policy["connect-src"] == "'self'"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"


def test_large_bodies_are_refused(client: TestClient) -> None:
    body = b'{"names": ["' + b"x" * 70_000 + b'", null]}'
    headers = {"Content-Type": "application/json"}
    assert client.post("/api/rank", content=body, headers=headers).status_code == 413

    def in_pieces() -> Iterator[bytes]:
        yield from (b"x" * 10_000 for _ in range(7))  # without saying how many there will be

    assert client.post("/api/rank", content=in_pieces(), headers=headers).status_code == 413


def test_long_addresses_are_refused(client: TestClient) -> None:
    assert client.get("/api/search", params={"type": "x" * 9000}).status_code == 414


@pytest.mark.parametrize("body", [b"{", b"\xff", b"[" * 30_000, b"1" * 10_000, b"null", b""])
def test_bodies_that_are_no_question_are_refused(client: TestClient, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    answer = client.post("/api/rank", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert answer.json()["detail"]


@pytest.mark.parametrize(
    "path",
    [
        "/static/../application.py",
        "/static/..%2fapplication.py",
        "/static/%2e%2e/application.py",
        "/static/....//application.py",
        "/static//etc/passwd",
        "/static/%00",
        "/../../etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/static/",
        "/static",
        "/config.json",
        "/manifest.json",
        "/api/../config.json",
        "//etc/passwd",
    ],
)
def test_nothing_but_the_page_can_be_read(client: TestClient, path: str) -> None:
    request = client.build_request("GET", ADDRESS)
    request.url = request.url.copy_with(raw_path=path.encode())  # else it would be tidied up here
    assert client.send(request).status_code == 404


def test_other_methods_are_refused(client: TestClient) -> None:
    assert client.put("/api/run").status_code == 405
    assert client.delete("/").status_code == 405


def test_the_page_comes_with_plotly_of_the_package(client: TestClient) -> None:
    page = client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    assert "http://" not in page.text.replace("http://www.w3.org", "")
    plotly = client.get("/plotly.js")
    assert plotly.content.startswith(b"/**\n* plotly.js")
    again = client.get("/plotly.js", headers={"If-None-Match": plotly.headers["etag"]})
    assert again.status_code == 304
    address = page.text.split('preload" href="')[1].split('"')[0]
    assert "immutable" in client.get(address).headers["cache-control"]
    assert client.get("/plotly.js?old").headers["cache-control"] == "no-cache"


def test_no_module_writes_markup(client: TestClient) -> None:
    """Elements are made by createElement; a string is never parsed as HTML."""
    from importlib.resources import files

    for file in files("dhne.explorer").joinpath("static").iterdir():
        if file.name.endswith(".js"):
            text = file.read_text(encoding="utf-8")
            for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
                assert word not in text, f"{file.name}: {word}"
