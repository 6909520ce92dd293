"""Access control: only small requests from the page itself are let in.

The server listens on 127.0.0.1, but any page open in a browser could send requests there. A foreign
page is recognised by its Host header (if its own name was made to resolve to this machine) or by
its Origin header; both are refused. Bodies, headers and addresses are limited in size. Every
response carries headers that keep the browser from running anything but the page's own modules.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from starlette.responses import JSONResponse

Message = MutableMapping[str, Any]
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MAX_BODY = 64 * 1024
LARGE_BODY = 1024 * 1024
LARGE = ("/api/selection", "/api/selection/csv")  # a selection may contain very many nodes
MAX_ADDRESS = 8 * 1024
MAX_HEAD = 32 * 1024  # bytes of the address and all headers; browsers send a few hundred
MAX_HEADERS = 100

# Plotly assembles its WebGL programs as text ('unsafe-eval') and sets styles on the elements it
# creates ('unsafe-inline' for styles only; no inline script may run).
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
        "connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}
_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]


class Guard:
    """Middleware in front of the application.

    Parameters
    ----------
    app : ASGI application
    port : int
        The port of the page.
    """

    def __init__(self, app: App, port: int) -> None:
        self.app = app
        self.hosts = {f"127.0.0.1:{port}".encode(), f"localhost:{port}".encode()}
        if port == 80:
            self.hosts |= {b"127.0.0.1", b"localhost"}
        self.origins = {b"http://" + host for host in self.hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer why it is refused."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                return await send({"type": "websocket.close", "code": 1008})
            return await self.app(scope, receive, send)

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = {name for name, _ in message["headers"]}
                added = [h for h in _HEADERS if h[0] not in given]
                message["headers"] = [*message["headers"], *added]
            await send(message)

        refused = self._refuse(scope)
        if refused is not None:
            return await refused(scope, receive, send_guarded)
        if scope["method"] in ("GET", "HEAD"):
            return await self.app(scope, receive, send_guarded)
        body = await _read(receive, _largest(scope))
        if body is None:
            return await _problem(413, _too_large(scope))(scope, receive, send_guarded)
        return await self.app(scope, replay(body, receive), send_guarded)

    def _refuse(self, scope: Scope) -> JSONResponse | None:
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        size = sum(len(name) + len(value) + 4 for name, value in scope["headers"])
        if len(scope["headers"]) > MAX_HEADERS or size > MAX_HEAD:
            return _problem(
                431, f"at most {MAX_HEADERS} headers and {MAX_HEAD:,} bytes of headers are accepted"
            )
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or hosts[0].lower() not in self.hosts:
            return _problem(421, "this page is served on this machine only; open it as 127.0.0.1")
        if any(origin.lower() not in self.origins for origin in headers.get(b"origin", [])):
            return _problem(403, "requests from other pages are refused")
        site = headers.get(b"sec-fetch-site", [b"none"])[0]
        if site not in (b"none", b"same-origin") and scope["path"] != "/":
            return _problem(403, "requests from other pages are refused")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > MAX_ADDRESS:
            return _problem(414, f"the address is longer than {MAX_ADDRESS:,} bytes")
        length = headers.get(b"content-length", [b"0"])[0]
        if not length.isdigit() or int(length[:12]) > _largest(scope):
            return _problem(413, _too_large(scope))
        return None


def _largest(scope: Scope) -> int:
    return LARGE_BODY if scope["path"] in LARGE else MAX_BODY


def _too_large(scope: Scope) -> str:
    return f"the request is larger than {_largest(scope):,} bytes"


def _problem(status: int, detail: str) -> JSONResponse:
    return JSONResponse({"detail": detail}, status_code=status)


async def _read(receive: Receive, largest: int) -> bytes | None:
    """Return the body, whose length may be undeclared; None if it is too large."""
    parts, size = [], 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return b""
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > largest:
            return None
        if not message.get("more_body", False):
            return b"".join(parts)


def replay(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that delivers a body that has already been read."""
    given = False

    async def again() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
