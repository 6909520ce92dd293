"""Half-open connections, endless headers and bodies that never come shut nobody out."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import pytest

from dhne import DHNE
from dhne.explorer.connections import bounded, most_connections
from dhne.explorer.guard import MAX_HEAD, MAX_HEADERS

from .conftest import Live, served

MOST = 16
ENOUGH = 16 * 2**20  # more than the buffers of two sockets hold
PARSERS = ["h11", "httptools"]


@pytest.fixture(scope="module", params=PARSERS)
def few(model: DHNE, request: pytest.FixtureRequest) -> Iterator[Live]:
    """An explorer that holds few connections, and waits long."""
    pytest.importorskip(request.param)
    with served(model, bounded(request.param, most=MOST, seconds=3600)) as live:
        yield live


@pytest.fixture(scope="module", params=PARSERS)
def hasty(model: DHNE, request: pytest.FixtureRequest) -> Iterator[Live]:
    """An explorer that does not wait for a request."""
    pytest.importorskip(request.param)
    with served(model, bounded(request.param, seconds=0.05)) as live:
        yield live


def connect(live: Live) -> socket.socket:
    sock = socket.create_connection(("127.0.0.1", httpx.URL(live.address).port), timeout=30)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return sock


def received(sock: socket.socket) -> bytes:
    """Return all that comes until the other side closes."""
    parts = []
    try:
        while part := sock.recv(65536):
            parts.append(part)
    except ConnectionError:  # closed with something unread
        pass
    return b"".join(parts)


def head(live: Live, path: str = "/api/run", method: str = "GET") -> bytes:
    return (
        f"{method} {path} HTTP/1.1\r\nHost: {httpx.URL(live.address).netloc.decode()}\r\n".encode()
    )


def flood(sock: socket.socket) -> int:
    """Send headers until the other side has had enough; return how many bytes went out."""
    sent = 0
    try:
        while sent < 2 * ENOUGH:
            sock.sendall(b"X-More: " + b"x" * 4000 + b"\r\n")
            sent += 4010
    except OSError:
        pass
    return sent


def test_half_open_connections_shut_nobody_out(few: Live) -> None:
    with ExitStack() as stack:
        for i in range(5 * MOST):
            sock = stack.enter_context(connect(few))
            if i % 2:
                sock.sendall(b"GET / HTTP/1.1\r\nX-Half:")
        for _ in range(3):
            assert httpx.get(f"{few.address}/api/run").status_code == 200


def test_the_one_that_waited_longest_is_closed(few: Live) -> None:
    with ExitStack() as stack:
        first = stack.enter_context(connect(few))
        for _ in range(MOST):
            stack.enter_context(connect(few))
        assert received(first) == b""


def test_idle_kept_alive_connections_make_room(few: Live) -> None:
    with ExitStack() as stack:
        for _ in range(2 * MOST):
            client = stack.enter_context(httpx.Client())
            assert client.get(f"{few.address}/api/types").status_code == 200


@pytest.mark.parametrize("begin", [b"", b"GET /", b"GET / HTTP/1.1\r\nHost: x\r\n"])
def test_a_request_that_does_not_arrive_is_given_up(hasty: Live, begin: bytes) -> None:
    with connect(hasty) as sock:
        sock.sendall(begin)
        assert received(sock).startswith(b"HTTP/1.1 408" if begin else b"")


def test_a_body_that_does_not_arrive_is_given_up(hasty: Live) -> None:
    with connect(hasty) as sock:
        sock.sendall(head(hasty, "/api/rank", "POST") + b"Content-Length: 100\r\n\r\n{")
        assert received(sock) == b""


def test_half_a_request_after_a_whole_one_is_given_up(hasty: Live) -> None:
    with connect(hasty) as sock:
        sock.sendall(head(hasty) + b"\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        sock.sendall(b"GET / HT")
        received(sock)  # ends


def test_endless_headers_are_cut_off(few: Live) -> None:
    with connect(few) as sock:
        sock.sendall(head(few))
        assert flood(sock) < ENOUGH


def test_endless_headers_behind_a_whole_request_are_cut_off(few: Live) -> None:
    with connect(few) as sock:
        sock.sendall(head(few) + b"\r\n")
        assert sock.recv(65536).startswith(b"HTTP/1.1 200")
        sock.sendall(head(few))
        assert flood(sock) < ENOUGH


@pytest.mark.parametrize(
    "headers",
    [
        {f"X-{i}": "" for i in range(MAX_HEADERS + 1)},
        {f"X-{i}": "x" * 4000 for i in range(MAX_HEAD // 4000 + 1)},
    ],
)
def test_too_many_headers_are_refused(few: Live, headers: dict[str, str]) -> None:
    with connect(few) as sock:
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items()).encode()
        sock.sendall(head(few) + lines + b"\r\n")
        sock.shutdown(socket.SHUT_WR)
        assert received(sock).startswith(b"HTTP/1.1 431")


def test_as_many_headers_as_browsers_send_are_fine(few: Live) -> None:
    headers = {f"X-{i}": "x" * 200 for i in range(40)}
    assert httpx.get(f"{few.address}/api/run", headers=headers).status_code == 200


def test_large_bodies_are_answered_before_the_connection_is_closed(few: Live) -> None:
    answer = httpx.post(f"{few.address}/api/rank", content=b"x" * 200_000)
    assert answer.status_code == 413


def test_fewer_connections_than_files() -> None:
    assert 8 <= most_connections() <= 512
