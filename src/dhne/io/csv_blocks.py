"""A large text file parsed block by block, several blocks at a time.

A block must end with a row, and a line break inside quotes does not end one. Arrow follows the
quotes through the whole file to find out, on one thread. Here a block ends at a line break that
cannot be inside quotes, whatever comes before it: no quote is before it in the file, or it follows

    X"   where X is not a quote, a delimiter or a line break

This quote does not open a field, as X would have to be a delimiter or a line break, and it is not
half of a doubled quote; so after it no field is open. A file without such places is left to Arrow.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa

QUOTE, RETURN = 0x22, 0x0D
_BOM = b"\xef\xbb\xbf"
_TRIES = 1000  # line breaks looked at, from the end of a block

Parse = Callable[[pa.Buffer, int], pa.Table]


class NotInBlocks(Exception):  # noqa: N818 - the file may be good
    """The file cannot be parsed in blocks; nothing is known about what is wrong, if anything."""


def parse_blocks(stream: Any, size: int, delimiter: str, parse: Parse) -> tuple[pa.Table, int]:
    """Return the rows of a file in UTF-8 and its number of quotes.

    Parameters
    ----------
    stream : binary file
    size : int
        How many bytes a block has at most.
    delimiter : str
    parse : callable
        Called as ``parse(block, number)`` on several threads; it may raise Arrow's errors.
    """
    workers = pa.cpu_count()
    free = [bytearray(size) for _ in range(workers + 2)]
    waiting: deque[tuple[Future[tuple[pa.Table, int]], bytearray]] = deque()
    tables: list[pa.Table] = []
    quotes, any_quotes = 0, False

    def finish_one() -> None:
        nonlocal quotes
        result, used = waiting.popleft()
        table, found = result.result()
        tables.append(table)
        quotes += found
        free.append(used)

    with ThreadPoolExecutor(workers) as pool:
        try:
            rest: bytes | memoryview = b""
            for number in count():
                block = free.pop()
                end, full = _fill(block, rest, stream)
                any_quotes = any_quotes or block.find(b'"', 0, end) >= 0
                cut = _last_row_end(block, end, delimiter, quoted=any_quotes) if full else end
                if cut:
                    waiting.append((pool.submit(_parsed, block, cut, parse, number), block))
                if not full:
                    break
                rest = memoryview(block)[cut:end]
                while not free:
                    finish_one()
            while waiting:
                finish_one()
        except (pa.ArrowException, UnicodeError) as error:
            for job, _ in waiting:
                job.cancel()
            raise NotInBlocks from error
    if not tables:
        raise NotInBlocks
    return pa.concat_tables(tables), quotes


def _fill(block: bytearray, rest: bytes | memoryview, stream: Any) -> tuple[int, bool]:
    """Fill a block with the rest of the one before and more; return its end, and if it is full."""
    end = len(rest)
    view = memoryview(block)
    view[:end] = rest
    while end < len(block):
        read = stream.readinto(view[end:])
        if not read:
            return end, False
        end += read
    return end, True


def _last_row_end(block: bytearray, end: int, delimiter: str, *, quoted: bool) -> int:
    """Return where the last row ends that certainly ends in this block."""
    special = b'"\r\n' + delimiter.encode()
    for _ in range(_TRIES):
        end = block.rfind(b"\n", 0, end)
        quote = end - 2 if block[end - 1] == RETURN else end - 1
        if end < 0 or quote < 1:
            break
        if not quoted or (block[quote] == QUOTE and block[quote - 1] not in special):
            return end + 1
    raise NotInBlocks


def _parsed(block: bytearray, end: int, parse: Parse, number: int) -> tuple[pa.Table, int]:
    if block.find(b"\0", 0, end) >= 0 or (number and block.startswith(_BOM)):
        raise NotInBlocks
    found = int(np.count_nonzero(np.frombuffer(block, np.uint8, end) == QUOTE))
    return parse(pa.py_buffer(memoryview(block)[:end]), number), found
