"""Routes for the run as a whole: its settings, training history and contents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from fastapi import APIRouter, Request

from dhne.storage.runs import read_config

from . import schemas as s
from .route_parts import atlas_of

router = APIRouter(prefix="/api")


@router.get("/run", summary="Settings and size of the run")
def run(request: Request) -> s.Run:
    """Return the run's settings, source and size."""
    atlas = atlas_of(request)
    config = _finite(atlas.model.config())
    records = getattr(atlas.model, "history_", [])
    seconds = [r["seconds"] for r in records if isinstance(r.get("seconds"), float | int)]
    return s.Run(
        name=atlas.name,
        method=config["method"],
        version=config["version"],
        settings=config.get("settings", {}),
        params=config["params"],
        nodes=atlas.network.num_nodes(),
        hyperedges=atlas.network.num_edges(),
        epochs=len(records),
        seconds=sum(seconds) if seconds else None,
        source=_source(atlas.path),
        saved=_saved(atlas.path),
    )


def _source(run: Path | None) -> dict[str, Any] | None:
    """Return the description of the data that the run was trained on."""
    source = None if run is None else _finite(read_config(run)).get("source")
    return source if isinstance(source, dict) else None


def _saved(run: Path | None) -> float | None:
    return None if run is None else (run / "manifest.json").stat().st_mtime


@router.get("/history", summary="The training history, one record per epoch")
def history(request: Request) -> s.History:
    """Return the training history."""
    records = _finite(getattr(atlas_of(request).model, "history_", []))
    plain = [
        {k: v for k, v in r.items() if isinstance(v, float | int | str | bool | None)}
        for r in records
    ]
    numeric = (k for r in plain for k, v in r.items() if isinstance(v, float | int))
    measures = [k for k in dict.fromkeys(numeric) if k != "epoch"]
    return s.History(measures=measures, records=plain)


def _finite(value: Any) -> Any:
    """Return plain data with None for numbers that JSON cannot represent."""
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


@router.get("/reliability", summary="How well the probabilities fit held-out hyperedges")
def reliability(request: Request) -> s.Reliability:
    """Return the reliability diagram of the run's calibration; no bins if nothing was held out."""
    calibration = atlas_of(request).model.calibration_
    curve = calibration.reliability
    bins = [] if curve is None else zip(curve.predicted, curve.observed, curve.counts, strict=True)
    return s.Reliability(
        negatives=calibration.negatives,
        held_out=calibration.held_out,
        error=None if curve is None else curve.error,
        bins=[s.ReliabilityBin(predicted=p, observed=o, tuples=n) for p, o, n in bins],
    )


@router.get("/types", summary="Node types and edge types")
def types(request: Request) -> s.Types:
    """Return the node types and edge types of the network."""
    atlas = atlas_of(request)
    network = atlas.network
    return s.Types(
        node_types=[
            s.NodeType(
                type=t,
                nodes=network.num_nodes(t),
                dimensions=atlas.model.vectors_[t].shape[1],
                labelled=network.labels(t) is not None,
            )
            for t in network.node_types
        ],
        edge_types=[
            s.EdgeTypeInfo(types=list(e.types), ordered=not e.types.has_sets, hyperedges=len(e))
            for e in network.edge_sets
        ],
    )
