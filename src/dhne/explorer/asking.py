"""Concurrent questions: equal ones are answered once, similar ones in one pass.

Questions wait in a queue while the workers are busy. A free worker takes the first question and
those that can share a pass with it, up to a limit, so the wait is about one pass however many
clients ask. All book-keeping happens on the event loop, so no locks are needed.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable
from concurrent.futures import Executor
from functools import partial
from typing import Generic, TypeVar

from dhne.errors import DHNEError

Q = TypeVar("Q", bound=Hashable)
A = TypeVar("A")


class BusyError(DHNEError):
    """Too many questions are waiting."""


class Desk(Generic[Q, A]):
    """Queues questions and answers them in batches.

    Parameters
    ----------
    answer : function of a list of questions, to a list of answers
        Runs in `workers`.
    alike : function of a question
        Questions with equal results can share a pass.
    workers : Executor
    passes : int
        How many passes may run concurrently.
    together : int
        The maximum number of questions per pass.
    waiting : int
        The maximum number of waiting questions; further ones are refused.

    Examples
    --------
    >>> from concurrent.futures import ThreadPoolExecutor
    >>> async def ask() -> list[int]:
    ...     with ThreadPoolExecutor(1) as pool:
    ...         desk = Desk(lambda numbers: [n * n for n in numbers], lambda n: None, pool)
    ...         return await asyncio.gather(*(desk.ask(n) for n in (3, 4, 3)))
    >>> asyncio.run(ask())
    [9, 16, 9]
    """

    def __init__(
        self,
        answer: Callable[[list[Q]], list[A]],
        alike: Callable[[Q], Hashable],
        workers: Executor,
        *,
        passes: int = 1,
        together: int = 16,
        waiting: int = 256,
    ) -> None:
        self._answer, self._alike, self._workers = answer, alike, workers
        self._passes, self._together, self._most = passes, together, waiting
        self._running = 0
        self._waiting: deque[Q] = deque()
        self._asked: dict[Q, asyncio.Future[A]] = {}

    async def ask(self, question: Q) -> A:
        """Return the answer; raises `BusyError` if too many questions are waiting."""
        if question not in self._asked:
            if len(self._waiting) >= self._most:
                raise BusyError("too many questions at once; ask again in a moment")
            self._asked[question] = asyncio.get_running_loop().create_future()
            self._waiting.append(question)
            self._start()
        # a client that disconnects must not cancel the answer for others
        return await asyncio.shield(self._asked[question])

    def _start(self) -> None:
        while self._waiting and self._running < self._passes:
            batch = self._take()
            self._running += 1
            work = asyncio.get_running_loop().run_in_executor(self._workers, self._answer, batch)
            work.add_done_callback(partial(self._finish, batch))

    def _take(self) -> list[Q]:
        kind = self._alike(self._waiting[0])
        batch: list[Q] = []
        left: deque[Q] = deque()
        while self._waiting:
            question = self._waiting.popleft()
            fits = len(batch) < self._together and self._alike(question) == kind
            (batch if fits else left).append(question)
        self._waiting = left
        return batch

    def _finish(self, batch: list[Q], done: asyncio.Future[list[A]]) -> None:
        self._running -= 1
        error = done.exception() if not done.cancelled() else RuntimeError("the explorer has ended")
        for i, question in enumerate(batch):
            future = self._asked.pop(question)
            if error is not None:
                future.set_exception(error)
                continue
            future.set_result(done.result()[i])
        self._start()
