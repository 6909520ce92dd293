"""A description of a run, read without loading the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def describe_run(directory: str) -> dict[str, Any]:
    """Return a run's status, configuration, node types, last epoch and files as plain data."""
    from dhne.files.plain_json import parse_json
    from dhne.io.parquet import count_rows
    from dhne.storage import read_config, read_manifest, run_status

    root = Path(directory)
    status = run_status(root)
    config = read_config(root)
    network = read_manifest(root)["network"] or {"nodes": []}
    history = root / "history.jsonl"
    lines = history.read_text(encoding="utf-8").splitlines() if history.is_file() else []
    files = sorted(p for p in root.rglob("*") if p.is_file())
    return {
        "source": directory,
        "config": {"status": status, **config},
        "node_types": [
            {"type": n["type"], "nodes": count_rows(root / n["file"])} for n in network["nodes"]
        ],
        "epochs": len(lines),
        "last": parse_json(lines[-1].encode(), history) if lines else None,
        "files": [str(p.relative_to(root)) for p in files],
        "bytes": sum(p.stat().st_size for p in files),
    }
