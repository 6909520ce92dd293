"""Concurrent clients that query a server, each over its own connection, and record every latency.

HTTP is written by hand on bare connections: a full client library uses more CPU time per request
than the server does for the response, and both share the machine.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

Ask = Callable[[random.Random], bytes]  # returns the bytes of a new request


class Waits(NamedTuple):
    """Sorted latencies in seconds, and the total duration."""

    seconds: list[float]
    total: float

    def percentile(self, share: float) -> float:
        return self.seconds[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


def get(path: str, port: int) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode()


def post(path: str, port: int, body: Any) -> bytes:
    content = json.dumps(body).encode()
    head = (
        f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
    )
    return head.encode() + content


def load(port: int, ask: Ask, *, clients: int, seconds: float, pause: float) -> Waits:
    """Run `clients` for some seconds; each waits for its response, then `pause` on average."""
    return asyncio.run(_load(port, ask, clients, seconds, pause))


async def _load(port: int, ask: Ask, clients: int, seconds: float, pause: float) -> Waits:
    start = time.perf_counter()
    waits = await asyncio.gather(
        *(_client(port, ask, random.Random(c), start + seconds, pause) for c in range(clients))
    )
    total = time.perf_counter() - start
    return Waits(sorted(w for ws in waits for w in ws), total)


async def _client(port: int, ask: Ask, rng: random.Random, end: float, pause: float) -> list[float]:
    connection = await Connection.open(port)
    waits = []
    await asyncio.sleep(rng.random() * max(pause, 0.05))  # they do not all start at once
    while time.perf_counter() < end:
        question = ask(rng)
        asked = time.perf_counter()
        await connection.ask(question)
        waits.append(connection.answered - asked)
        if pause:
            await asyncio.sleep(rng.uniform(0, 2 * pause))
    connection.close()
    return waits


class Connection(asyncio.Protocol):
    """One connection, one request at a time. `answered` is when the last response was complete."""

    @classmethod
    async def open(cls, port: int) -> Connection:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(cls, "127.0.0.1", port)
        return connection

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def ask(self, question: bytes) -> asyncio.Future[bytes]:
        """Send a request; the future gets the body, or an error unless the status is 200."""
        self._parts: list[bytes] = []
        self._missing = -1  # unknown until the headers have arrived
        self._answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._transport.write(question)
        return self._answer

    def data_received(self, data: bytes) -> None:
        self._parts.append(data)
        if self._missing < 0:
            self._parts = [b"".join(self._parts)]
            end = self._parts[0].find(b"\r\n\r\n")
            if end < 0:
                return
            self._body = end + 4
            head = self._parts[0][:end].lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            self._missing = self._body + length - len(self._parts[0])
        else:
            self._missing -= len(data)
        if self._missing == 0:
            self.answered = time.perf_counter()
            self._finish(b"".join(self._parts))

    def _finish(self, content: bytes) -> None:
        status, body = content.split(b" ", 2)[1], content[self._body :]
        if status == b"200":
            self._answer.set_result(body)
        else:
            error = RuntimeError(f"the server answered {status!r}: {body[:200]!r}")
            self._answer.set_exception(error)

    def connection_lost(self, _: Exception | None) -> None:
        if not self._answer.done():
            self._answer.set_exception(RuntimeError("the server closed the connection"))

    def close(self) -> None:
        self._transport.close()


def fetch(port: int, *paths: str) -> int:
    """Fetch some paths concurrently, as a page does; return the number of bytes received."""

    async def one(path: str) -> int:
        connection = await Connection.open(port)
        size = len(await connection.ask(get(path, port)))
        connection.close()
        return size

    async def every() -> int:
        return sum(await asyncio.gather(*(one(path) for path in paths)))

    return asyncio.run(every())
