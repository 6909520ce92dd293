"""Questions that come together are answered together; none is lost, none is answered twice."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from dhne.explorer.asking import BusyError, Desk


class Squares:
    """Squares numbers, and remembers in which company they came; waits for `go` at first."""

    def __init__(self) -> None:
        self.passes: list[list[int]] = []
        self.go = threading.Event()

    def answer(self, numbers: list[int]) -> list[int]:
        self.go.wait()
        self.passes.append(numbers)
        if 13 in numbers:
            raise ValueError("unlucky")
        return [n * n for n in numbers]


async def ask_all(desk: Desk[int, int], squares: Squares, numbers: list[int]) -> list[object]:
    asked = [asyncio.ensure_future(desk.ask(n)) for n in numbers]
    await asyncio.sleep(0)  # all have asked before the first is answered
    squares.go.set()
    return list(await asyncio.gather(*asked, return_exceptions=True))


def test_questions_share_passes() -> None:
    squares = Squares()
    with ThreadPoolExecutor(1) as pool:
        desk = Desk(squares.answer, lambda n: n % 2, pool, together=3)
        answers = asyncio.run(ask_all(desk, squares, [2, 4, 6, 8, 1, 10, 3]))
    assert answers == [4, 16, 36, 64, 1, 100, 9]
    assert squares.passes == [[2], [4, 6, 8], [1, 3], [10]]


def test_equal_questions_are_answered_once() -> None:
    squares = Squares()
    with ThreadPoolExecutor(1) as pool:
        desk = Desk(squares.answer, lambda n: 0, pool)
        assert asyncio.run(ask_all(desk, squares, [5, 5, 5])) == [25, 25, 25]
    assert squares.passes == [[5]]


def test_too_many_questions_are_refused() -> None:
    squares = Squares()
    with ThreadPoolExecutor(1) as pool:
        desk = Desk(squares.answer, lambda n: 0, pool, waiting=2)
        answers = asyncio.run(ask_all(desk, squares, [1, 2, 3, 4]))
    assert answers[:3] == [1, 4, 9]
    assert isinstance(answers[3], BusyError)


def test_a_failure_reaches_those_who_asked_and_no_others() -> None:
    squares = Squares()
    with ThreadPoolExecutor(1) as pool:
        desk = Desk(squares.answer, lambda n: n, pool)
        answers = asyncio.run(ask_all(desk, squares, [13, 2]))
    assert isinstance(answers[0], ValueError)
    assert answers[1] == 4


def test_one_who_goes_away_takes_nothing_from_the_others() -> None:
    squares = Squares()

    async def impatient(desk: Desk[int, int]) -> int:
        first = asyncio.ensure_future(desk.ask(3))
        second = asyncio.ensure_future(desk.ask(3))
        await asyncio.sleep(0)
        first.cancel()
        squares.go.set()
        with pytest.raises(asyncio.CancelledError):
            await first
        return await second

    with ThreadPoolExecutor(1) as pool:
        assert asyncio.run(impatient(Desk(squares.answer, lambda n: 0, pool))) == 9
