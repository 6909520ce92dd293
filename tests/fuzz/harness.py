"""Opening damaged files and judging what comes of it."""

from __future__ import annotations

import resource
import signal
import tempfile
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from dhne.errors import DHNEError
from dhne.files.digests import sha256_of_bytes
from tests.fuzz.targets import Target

CORPUS = Path(__file__).parent / "corpus"
SECONDS = 20.0  # a reading that takes longer hangs; damaged files here are a few kilobytes
MEGABYTES = 1500.0  # by which no reading may raise the peak memory of the process


class HangError(BaseException):
    """Reading took too long; no `Exception`, so that no reader catches it."""


@dataclass
class Finding:
    """A damaged file and what is wrong with how it was read."""

    target: str
    what: str
    data: bytes


@dataclass
class Tally:
    """What became of the files."""

    read: int = 0
    refused: int = 0
    slowest: float = 0.0
    findings: list[Finding] = field(default_factory=list)


def judge(target: Target, data: bytes, tally: Tally) -> None:
    """Open a damaged file: it must be read, or refused with an error that a user can mend."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"x{target.ending}"
        path.write_bytes(data)
        before, begin = _peak_megabytes(), time.perf_counter()
        try:
            with _time_limit():
                target.open(path)
            tally.read += 1
        except DHNEError:
            tally.refused += 1
        except HangError:
            tally.findings.append(Finding(target.name, f"takes over {SECONDS:.0f} s", data))
        except Exception:
            last = traceback.format_exc(limit=-2).strip()
            tally.findings.append(Finding(target.name, last, data))
        tally.slowest = max(tally.slowest, time.perf_counter() - begin)
        if _peak_megabytes() - before > MEGABYTES:
            tally.findings.append(Finding(target.name, "takes too much memory", data))


def keep(finding: Finding) -> Path:
    """Put a damaged file into the corpus, so that it is tried again from now on."""
    folder = CORPUS / finding.target
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / sha256_of_bytes(finding.data)[:16]
    file.write_bytes(finding.data)
    return file


def _peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise HangError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
