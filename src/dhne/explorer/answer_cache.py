"""A cache of answers: a request with the same bytes gets the same answer at once.

The run does not change while it is served, so cached answers stay valid. Only successful answers of
the slower routes are kept, up to a limit.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection

from .guard import App, Message, Receive, Scope, Send, replay

_LARGEST = 64 * 1024  # bytes of a request and its answer together; larger ones are not kept


class AnswerCache:
    """Middleware between the guard, which passes on bodies in one piece, and the application.

    Parameters
    ----------
    app : ASGI application
    paths : collection of str
        The routes whose answers are kept.
    remembered : int
        How many answers are kept.
    """

    def __init__(self, app: App, paths: Collection[str], remembered: int = 1024) -> None:
        self.app, self.paths, self.remembered = app, frozenset(paths), remembered
        self._kept: OrderedDict[tuple[str, str, bytes, bytes], list[Message]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer from the cache, or let the application answer and keep that."""
        if scope["type"] != "http" or scope["path"] not in self.paths:
            return await self.app(scope, receive, send)
        body = b""
        if scope["method"] == "POST":
            body = (await receive()).get("body", b"")
            receive = replay(body, receive)
        key = (scope["method"], scope["path"], scope["query_string"], body)
        if key in self._kept:
            self._kept.move_to_end(key)
            for message in self._kept[key]:
                await send(dict(message))
            return None
        answer: list[Message] = []

        async def note(message: Message) -> None:
            answer.append(dict(message))
            await send(message)

        await self.app(scope, receive, note)
        self._keep(key, answer)
        return None

    def _keep(self, key: tuple[str, str, bytes, bytes], answer: list[Message]) -> None:
        size = sum(len(message.get("body", b"")) for message in answer) + len(key[2]) + len(key[3])
        whole = bool(answer) and answer[0].get("status") == 200 and not answer[-1].get("more_body")
        if whole and size <= _LARGEST:
            self._kept[key] = answer
            while len(self._kept) > self.remembered:
                self._kept.popitem(last=False)
