"""Limits on connections and on requests that are still arriving.

Complete requests go to the application, where `guard` checks them. Before that, uvicorn would keep
a connection that has sent half a header indefinitely, along with any amount of headers. Here

- a request must arrive within `SECONDS`, and its headers must fit into `MAX_HEAD` bytes;
- there are at most `most` connections. When another one arrives, the connection that has waited
  longest without a complete request is closed. A client that sends its request at once is therefore
  always answered, however many connections others hold open.

The class is mixed into the protocol of either HTTP parser that uvicorn may use.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from typing import Any

from .guard import LARGE_BODY, MAX_HEAD

SECONDS = 10.0  # from a request's first byte, or the start of the connection, to its last byte
STUCK = 60.0  # unfinished answers older than this may be dropped for a new connection
MOST = 512
_MAX_REST = 2 * LARGE_BODY  # bytes after the headers; larger bodies have been refused by then

_turns = itertools.count()
_REFUSAL = b"the request is too large or took too long"
_ANSWER = (
    b"HTTP/1.1 %s\r\ncontent-type: text/plain; charset=utf-8\r\n"
    b"content-length: " + str(len(_REFUSAL)).encode() + b"\r\nconnection: close\r\n\r\n" + _REFUSAL
)


def bounded(
    parser: str = "auto", *, seconds: float = SECONDS, most: int | None = None
) -> type[asyncio.Protocol]:
    """Return uvicorn's HTTP protocol with these limits.

    Parameters
    ----------
    parser : "auto", "h11" or "httptools"
    seconds : float
        How long a request may take to arrive.
    most : int, optional
        The maximum number of connections; by default `most_connections()`.
    """
    if parser == "auto":
        from uvicorn.protocols.http.auto import AutoHTTPProtocol as Base
    elif parser == "h11":
        from uvicorn.protocols.http.h11_impl import H11Protocol as Base
    else:
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as Base
    bounds = {"seconds": seconds, "most": most or most_connections()}
    return type("BoundedProtocol", (Bounds, Base), bounds)


def most_connections() -> int:
    """Return the maximum number of connections, at most half of the process's open files."""
    if sys.platform == "win32":
        return MOST
    import resource

    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else max(8, min(MOST, files // 2))


class Bounds:
    """One connection; a mixin for uvicorn's protocol, whose attributes it reads."""

    seconds: float
    most: int

    # uvicorn's
    cycle: Any
    connections: set[Any]
    loop: asyncio.AbstractEventLoop
    transport: asyncio.Transport

    _unread = 0  # bytes received of an incomplete request
    _timer: asyncio.TimerHandle | None = None
    _since = 0.0  # when it last began to wait for a request, or to answer one
    _turn = 0  # the same as a sequence number: two readings of the clock may be equal

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Accept a connection, replacing another one if necessary."""
        super().connection_made(transport)  # type: ignore[misc]
        self._begin()
        self._timer = self.loop.call_later(self.seconds, self._late)
        if len(self.connections) > self.most:
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Pass on bytes, and count those that belong to no complete request yet."""
        before, had_rest = self.cycle, self._lacks_rest
        super().data_received(data)  # type: ignore[misc]
        if self.cycle is not before or (had_rest and not self._lacks_rest):
            self._unread = 0  # the headers, or all of a body, ended within these bytes
        else:
            self._unread += len(data)
        if self.is_waiting:
            if self._unread > (_MAX_REST if self._lacks_rest else MAX_HEAD):
                self._refuse(b"431 Request Header Fields Too Large")
            elif self._timer is None:
                self._timer = self.loop.call_later(self.seconds, self._late)
        else:
            self._stop_timer()
            self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the list."""
        self._stop_timer()
        super().connection_lost(exc)  # type: ignore[misc]

    @property
    def _lacks_rest(self) -> bool:
        """Whether headers have been received, but not all of the body."""
        return self.cycle is not None and bool(self.cycle.more_body)

    @property
    def is_waiting(self) -> bool:
        """Whether part of a request is still to come."""
        return self.cycle is None or self._lacks_rest or self._unread > 0

    @property
    def _is_idle(self) -> bool:
        return self.is_waiting or bool(self.cycle.response_complete)

    def _begin(self) -> None:
        self._since, self._turn = self.loop.time(), next(_turns)

    def _late(self) -> None:
        self._timer = None
        if self.is_waiting:
            self._refuse(b"408 Request Timeout")

    def _refuse(self, status: bytes) -> None:
        """Close the connection, with an error response unless an answer has begun."""
        self._stop_timer()
        if self.transport.is_closing():
            return
        if self.cycle is None and self._unread:
            self.transport.write(_ANSWER % status)
            self.transport.close()
        else:
            self.transport.abort()

    def _make_room(self) -> None:
        """Close the connection that has waited longest, or this one if all are being answered."""
        now = self.loop.time()
        others = [c for c in self.connections if c is not self]
        idle = [c for c in others if c._is_idle and not c.transport.is_closing()]
        stuck = [c for c in others if now - c._since > STUCK]
        oldest = min(idle or stuck or [self], key=lambda c: c._turn)
        oldest.transport.abort()
        self.connections.discard(oldest)  # connection_lost follows later

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
