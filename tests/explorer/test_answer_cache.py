"""Repeated questions get the same bytes from the cache; only good answers are kept."""

from __future__ import annotations

import asyncio
from typing import Any

from dhne.explorer.answer_cache import AnswerCache


class Counter:
    """Answers with how often it was asked; a question of "bad" is refused."""

    def __init__(self) -> None:
        self.asked = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.asked += 1
        body = (await receive())["body"] if scope["method"] == "POST" else b""
        status = 400 if body == b"bad" else 200
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": body + b"%d" % self.asked})


def ask(cache: AnswerCache, path: str, query: bytes = b"", body: bytes | None = None) -> bytes:
    sent: list[Any] = []
    method = "GET" if body is None else "POST"
    scope = {"type": "http", "method": method, "path": path, "query_string": query}

    async def receive() -> Any:
        return {"type": "http.request", "body": body or b"", "more_body": False}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":  # as the guard does
            message["headers"] = [*message["headers"], (b"x", b"y")]
        sent.append(message)

    asyncio.run(cache(scope, receive, send))
    assert sent[0]["headers"] == [(b"x", b"y")]
    answer: bytes = sent[1]["body"]
    return answer


def test_the_same_question_is_asked_once() -> None:
    cache = AnswerCache(Counter(), ["/rank"], remembered=2)
    assert ask(cache, "/rank", body=b"a") == ask(cache, "/rank", body=b"a") == b"a1"
    assert ask(cache, "/rank", b"id=1") == ask(cache, "/rank", b"id=1") == b"2"
    assert ask(cache, "/rank", b"id=2") == b"3"  # now the first is forgotten
    assert ask(cache, "/rank", b"id=1") == b"2"
    assert ask(cache, "/rank", body=b"a") == b"a4"


def test_what_is_refused_or_elsewhere_or_large_is_not_kept() -> None:
    cache = AnswerCache(Counter(), ["/rank"])
    assert ask(cache, "/rank", body=b"bad") != ask(cache, "/rank", body=b"bad")
    assert ask(cache, "/run") != ask(cache, "/run")
    large = b"a" * 70_000
    assert ask(cache, "/rank", body=large) != ask(cache, "/rank", body=large)
