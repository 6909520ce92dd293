"""Clients that ask a server over connections of their own, side by side, and note every wait.

HTTP is written by hand: a full client library takes as much processor time for a question as the
server does for the answer, and both share the machine.
"""

from __future__ import annotations

import asyncio
import json
import random
import time
from collections.abc import Callable
from typing import Any, NamedTuple

Ask = Callable[[random.Random], bytes]  # the bytes of a new question


class Waits(NamedTuple):
    """Waits in seconds, sorted, and how long it all took."""

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
    """Let `clients` ask for some seconds; each waits for its answer, then `pause` on average."""
    return asyncio.run(_load(port, ask, clients, seconds, pause))


async def _load(port: int, ask: Ask, clients: int, seconds: float, pause: float) -> Waits:
    start = time.perf_counter()
    waits = await asyncio.gather(
        *(_client(port, ask, random.Random(c), start + seconds, pause) for c in range(clients))
    )
    total = time.perf_counter() - start
    return Waits(sorted(w for ws in waits for w in ws), total)


async def _client(port: int, ask: Ask, rng: random.Random, end: float, pause: float) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    waits = []
    await asyncio.sleep(rng.random() * max(pause, 0.05))  # they do not all begin at once
    while time.perf_counter() < end:
        question = ask(rng)
        asked = time.perf_counter()
        writer.write(question)
        await answer(reader)
        waits.append(time.perf_counter() - asked)
        if pause:
            await asyncio.sleep(rng.uniform(0, 2 * pause))
    writer.close()
    return waits


async def answer(reader: asyncio.StreamReader) -> bytes:
    """Read one answer; anything but 200 is an error."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
    body = await reader.readexactly(length)
    if not head.startswith(b"http/1.1 200"):
        raise RuntimeError(f"the server answered {head.split(b' ')[1]!r}: {body[:200]!r}")
    return body


def fetch(port: int, *paths: str) -> int:
    """Get some paths at the same time, as a page does; return how many bytes came."""

    async def one(path: str) -> int:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(get(path, port))
        size = len(await answer(reader))
        writer.close()
        return size

    async def every() -> int:
        return sum(await asyncio.gather(*(one(path) for path in paths)))

    return asyncio.run(every())
