"""The manifest of a run: its files and their checksums.

It is JSON with a checksum of itself, so any change to a run is detected. It may name only files
within the run, and only those that a run has: a forged manifest cannot point outside.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from dhne.errors import DHNEError, RunError
from dhne.files.digests import sha256_of_file, sha256_of_text
from dhne.files.plain_json import as_json, parse_json
from dhne.files.writing import replace_bytes
from dhne.network.edges import EdgeType

FORMAT = 1
MANIFEST = "manifest.json"
STATUSES = ("training", "complete")
_FILE = re.compile(
    r"config\.json|model\.safetensors|optimizer\.safetensors|history\.jsonl"
    r"|nodes/(?!\.)[^/\\\0]+\.parquet|edges/[0-9]+\.parquet"
)

Manifest = dict[str, Any]


def is_run(path: str | Path) -> bool:
    """Whether there is a run at `path`, whether or not it is finished or damaged.

    Examples
    --------
    >>> is_run("no/such/directory")
    False
    """
    try:
        return (Path(path) / MANIFEST).is_file()
    except (OSError, ValueError):
        return False


def entry_of(path: Path) -> dict[str, Any]:
    """Return the manifest's entry for a file."""
    return {"sha256": sha256_of_file(path), "size": path.stat().st_size}


def make_manifest(
    directory: Path, files: list[str], *, status: str, network: dict[str, Any] | None = None
) -> Manifest:
    """Return a manifest of these files of a run."""
    from dhne import __version__

    return {
        "format": FORMAT,
        "status": status,
        "version": __version__,
        "network": network,
        "files": {name: entry_of(directory / name) for name in files},
    }


def _render(manifest: Manifest) -> bytes:
    body = {k: v for k, v in manifest.items() if k != "checksum"}
    checksum = sha256_of_text(as_json(body))
    return (as_json({**body, "checksum": checksum}, indent=1) + "\n").encode()


def write_manifest(directory: Path, manifest: Manifest) -> None:
    """Write the manifest atomically."""
    replace_bytes(directory / MANIFEST, _render(manifest), durable=True)


def read_manifest(path: str | Path) -> Manifest:
    """Return the manifest of the run at `path`, after verifying its own checksum.

    Raises
    ------
    RunError
        If there is no run, its format is newer, or the manifest has been changed.
    """
    run, file = Path(path), Path(path) / MANIFEST
    if not is_run(run):
        what = "nothing is there" if not run.exists() else f"it has no {MANIFEST}"
        if run.is_file():
            what = "it is a file"
        raise RunError(f"{run} is not a run: {what}; make one with: dhne train SOURCE --out {run}")
    try:
        data = file.read_bytes()
        manifest = parse_json(data, file)
    except DHNEError as error:
        raise RunError(f"{error}; the run is damaged") from None
    except OSError as error:
        raise RunError(f"{file}: cannot be read: {error.strerror}") from None
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if type(version) is int and version > FORMAT:
        raise RunError(
            f"{run}: the run has format {version}, this version reads up to {FORMAT}; update dhne"
        )
    if version != FORMAT or _render(manifest) != data:
        raise RunError(f"{file}: changed since it was written; the run is damaged")
    _check(manifest, file)
    return dict(manifest)


def _check(manifest: Manifest, file: Path) -> None:
    """Check everything that a forged manifest with a valid checksum could get wrong."""
    files, network = manifest.get("files"), manifest.get("network")
    if manifest.get("status") not in STATUSES or not isinstance(files, dict):
        raise RunError(f"{file}: its list of files is missing or invalid; the run is damaged")
    for name, entry in files.items():
        if not _FILE.fullmatch(name):
            raise RunError(f"{file}: it names {name!r}, which no run contains; do not trust it")
        good = isinstance(entry, dict) and {"sha256", "size"} <= entry.keys()
        if not good or not isinstance(entry["sha256"], str) or type(entry["size"]) is not int:
            raise RunError(f"{file}: {name!r} has no checksum; the run is damaged")
    if manifest["status"] == "complete":
        _check_network(network, files, file)


def _is_one_of(name: Any, files: dict[str, Any]) -> bool:
    return isinstance(name, str) and name in files


def _check_network(network: Any, files: dict[str, Any], file: Path) -> None:
    good = isinstance(network, dict) and all(
        isinstance(network.get(k), list) and all(isinstance(e, dict) for e in network[k])
        for k in ("nodes", "edges")
    )
    good = (
        good
        and all(
            isinstance(n.get("type"), str) and _is_one_of(n.get("file"), files)
            for n in network["nodes"]
        )
        and all(
            EdgeType.is_record(e) and "ordered" in e and _is_one_of(e.get("file"), files)
            for e in network["edges"]
        )
        and {"config.json", "model.safetensors", "history.jsonl"} <= files.keys()
    )
    if not good:
        raise RunError(f"{file}: its list of files is missing or invalid; the run is damaged")


def check_files(run: Path, manifest: Manifest) -> None:
    """Compare every file of the run with the manifest."""
    for name in manifest["files"]:
        check_one(run, manifest, name)


def check_one(run: Path, manifest: Manifest, name: str) -> None:
    """Compare one file of the run with the manifest."""
    file, entry = run / name, manifest["files"][name]
    try:
        size = file.stat().st_size
        found = sha256_of_file(file) if size == entry["size"] else None
    except (FileNotFoundError, NotADirectoryError):
        raise RunError(f"{file}: missing; the run is damaged") from None
    except OSError as error:
        raise RunError(f"{file}: cannot be read: {error.strerror}") from None
    if size != entry["size"]:
        what = "truncated" if size < entry["size"] else "too long"
        raise RunError(
            f"{file}: {what} ({size:,} bytes; {entry['size']:,} were written); the run is damaged"
        )
    if found != entry["sha256"]:
        raise RunError(f"{file}: its checksum does not match the manifest; the run is damaged")
