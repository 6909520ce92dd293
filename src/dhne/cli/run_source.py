"""How the files of a run were read, so that more of the same kind are read alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dhne.datasets import Entry

_READING = ("columns", "weight", "unordered", "delimiter", "encoding", "no_header", "facts")


def run_source(run: str) -> dict[str, Any]:
    """Return the source in a run's configuration: names, split, how to read it."""
    from dhne.storage import read_config

    found = read_config(Path(run)).get("source")
    return found if isinstance(found, dict) else {}


def run_dataset(run: str) -> Entry | None:
    """Return the dataset that a run was trained on, or None if it was not a single one."""
    from dhne.datasets import CATALOGUE

    names = run_source(run).get("names") or []
    return CATALOGUE.get(names[0]) if len(names) == 1 else None


def reading_options(run: str, **given: Any) -> dict[str, Any]:
    """Return options of `open_source`: those given here, else those the run was trained with.

    Facts and tables exclude each other, so giving one discards what is known about the other.
    """
    before = run_source(run)
    names = before.get("names") or []
    known = {k: before.get(k) for k in _READING}
    if (entry := run_dataset(run)) is not None:
        known["facts"] = entry.relation or None
    for option in ("columns", "weight"):  # one per file of training: not applicable to new files
        value = known[option]
        if isinstance(value, list) and len(value) > 1 and len(value) == len(names):
            known[option] = None
    if given.get("facts"):
        known = dict.fromkeys(_READING)
    elif any(given.values()):
        known["facts"] = None
    chosen = {k: given.get(k) or known[k] for k in _READING}
    chosen["unordered"] = bool(chosen["unordered"])
    return chosen
