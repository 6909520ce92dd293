"""What a run directory says of itself, read without loading the model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dhne.errors import RunError


def describe_run(directory: str) -> dict[str, Any]:
    """Return a run's configuration, node types, last epoch and files as plain data."""
    from dhne.io.files import reading
    from dhne.io.json_text import parse_json
    from dhne.io.parquet import count_rows

    root = Path(directory)
    config = root / "config.json"
    if not config.is_file():
        raise RunError(f"{directory}: this is no run, config.json is missing")
    with reading(config):
        settings = parse_json(config.read_bytes(), config)
    history = root / "history.jsonl"
    lines = history.read_text(encoding="utf-8").splitlines() if history.is_file() else []
    files = sorted(p for p in root.rglob("*") if p.is_file())
    return {
        "source": directory,
        "config": settings if isinstance(settings, dict) else {"config": settings},
        "node_types": [
            {"type": p.stem, "nodes": count_rows(p)} for p in sorted(root.glob("nodes/*.parquet"))
        ],
        "epochs": len(lines),
        "last": parse_json(lines[-1].encode(), history) if lines else None,
        "files": [str(p.relative_to(root)) for p in files],
        "bytes": sum(p.stat().st_size for p in files),
    }
