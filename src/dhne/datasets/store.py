"""Locating the released files: the user's directory, the cache, or a download.

They are searched in this order, and used only if the sha256 matches the catalogue:

1. ``DHNE_DATA``, a directory with ``GPS/``, ``MovieLens/``, ``drug/``, ``wordnet/``, ``kinships/``,
   ``umls/`` and ``jf17k/``, or some of them;
2. the cache, ``$XDG_CACHE_HOME/dhne`` or ``~/.cache/dhne``;
3. a download to the cache, under a temporary name until its checksum has matched;
   ``DHNE_DATA_URL`` overrides the address.
"""

from __future__ import annotations

import os
import urllib.error
import urllib.request
from http.client import HTTPException
from pathlib import Path

from dhne.datasets.catalogue import Entry
from dhne.datasets.progress import bar
from dhne.errors import InputError
from dhne.files.digests import sha256_of_bytes
from dhne.files.writing import replace_bytes

# The authors' repository, then another with the same files at a fixed commit.
MIRRORS = (
    "https://raw.githubusercontent.com/tadpole/DHNE/master/data",
    "https://raw.githubusercontent.com/ma-compbio/Hyper-SAGNN/11862a1d273c60581c37984f3ff2602569a97556/data",
)
_TIMEOUT = 30.0  # seconds without data
_BYTES_AT_ONCE = 1 << 16
_LARGEST = 64 << 20  # no released file is larger than 5 MB


def cache_directory() -> Path:
    """Return the cache directory for downloads."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "dhne"


def data_directory() -> Path | None:
    """Return the directory named by ``DHNE_DATA``, or None if it is not set.

    Raises
    ------
    InputError
        If it is not a directory.
    """
    named = os.environ.get("DHNE_DATA")
    if not named:
        return None
    path = Path(named).expanduser()
    if not path.is_dir():
        what = "a file" if path.exists() else "something that does not exist"
        raise InputError(
            f"DHNE_DATA names {what}; it must name the directory that contains GPS/, MovieLens/, "
            "drug/, wordnet/ and the others",
            file=path,
        )
    return path


def find(entry: Entry) -> Path | None:
    """Return the folder with a dataset's files, or None; nothing is opened or checked."""
    for base in (data_directory(), cache_directory()):
        if base is not None and all((base / entry.folder / f).is_file() for f in entry.sha256):
            return base / entry.folder
    return None


def obtain(entry: Entry, *, download: bool = True, progress: bool = False) -> dict[str, bytes]:
    """Return a dataset's files by name, as bytes whose checksums have matched.

    The bytes that were checked are the bytes that are returned, so a file cannot be exchanged
    between check and use.
    """
    folder = find(entry)
    if folder is None and download:
        return _download(entry, progress=progress)
    if folder is None:
        raise _nowhere(entry, "downloading is off (download=False)")
    return {name: _read_checked(folder / name, digest) for name, digest in entry.sha256.items()}


def _read_checked(path: Path, expected: str) -> bytes:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=path) from error
    actual = sha256_of_bytes(content)
    if actual != expected:
        raise InputError(
            f"not the released file: its sha256 is {actual}, expected {expected}; it was not "
            "opened. Delete it to download it again, or replace it with the released file",
            file=path,
        )
    return content


def _download(entry: Entry, *, progress: bool) -> dict[str, bytes]:
    target = cache_directory() / entry.folder
    files: dict[str, bytes] = {}
    for name, digest in entry.sha256.items():
        if (target / name).is_file():
            files[name] = _read_checked(target / name, digest)
            continue
        failures = []
        for address in _addresses(entry):
            url = f"{address}/{name}"
            try:
                content = _fetch(url, f"{entry.folder}/{name}", progress=progress)
            except (OSError, HTTPException, ValueError) as error:
                failures.append(f"{url}: {getattr(error, 'reason', None) or error}")
                continue
            actual = sha256_of_bytes(content)
            if actual != digest:
                failures.append(f"{url}: its sha256 is {actual}, expected {digest}")
                continue
            _keep(target / name, content)
            files[name] = content
            break
        else:
            raise _nowhere(entry, "it could not be downloaded (" + "; ".join(failures) + ")")
    return files


def _addresses(entry: Entry) -> tuple[str, ...]:
    """Return the web addresses of a dataset's folder."""
    own = os.environ.get("DHNE_DATA_URL")
    if own:
        return (f"{own.rstrip('/')}/{entry.folder}",)
    return entry.addresses or tuple(f"{base}/{entry.folder}" for base in MIRRORS)


def _fetch(url: str, what: str, *, progress: bool) -> bytes:
    request = urllib.request.Request(url, headers={"User-Agent": "dhne"})
    with (
        urllib.request.urlopen(request, timeout=_TIMEOUT) as response,
        bar(show=progress, bytes_=True) as shown,
    ):
        length = response.headers.get("Content-Length")
        task = shown.add_task(what, total=int(length) if length else None)
        content = bytearray()
        while block := response.read(_BYTES_AT_ONCE):
            content += block
            shown.advance(task, len(block))
            if len(content) > _LARGEST:
                raise ValueError("much larger than the released file")
    return bytes(content)


def _keep(path: Path, content: bytes) -> None:
    """Write a file to the cache atomically; failing to do so does no harm."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_bytes(path, content)
    except OSError:
        return


def _nowhere(entry: Entry, why: str) -> InputError:
    *some, last = (f"{entry.folder}/{name}" for name in entry.sha256)
    files = f"{', '.join(some)} and {last}"
    return InputError(
        f"the dataset {entry.name!r} is neither in DHNE_DATA "
        f"({os.environ.get('DHNE_DATA') or 'not set'}) nor in the cache ({cache_directory()}), and "
        f"{why}. Set DHNE_DATA to a directory that contains {files} as their "
        "authors released them"
    )
