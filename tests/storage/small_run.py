"""A small run with everything in it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from dhne import HyperNetwork
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import EdgeColumns
from dhne.storage import RunContents

FILES = [
    "config.json",
    "edges/0.parquet",
    "edges/1.parquet",
    "history.jsonl",
    "model.safetensors",
    "nodes/movie.parquet",
    "nodes/tag.parquet",
    "nodes/user.parquet",
]


def make_contents(value: float = 1.0) -> RunContents:
    network = HyperNetwork.from_columns(
        [
            EdgeColumns(
                EdgeType(("user", "movie", "tag")),
                [[7, 8], ["Heat", "Alien"], ["a", "b"]],
                [2.0, 1.0],
            ),
            EdgeColumns(EdgeType.of(("user", "user"), ordered=False), [[9, 7], [8, 9]]),
        ],
        labels={"movie": [["crime", "drama"], []]},
    )
    sizes = {"user": 4, "movie": 3, "tag": 2}
    rng = np.random.default_rng(0)
    return RunContents(
        config={"method": "dhne", "params": {"dim": 4, "hidden": [8, 4]}},
        tensors={"w": torch.full((3, 2), value, dtype=torch.float64), "empty": torch.zeros(0, 5)},
        network=network,
        embeddings={
            t: rng.normal(size=(network.num_nodes(t), d)).astype(np.float32)
            for t, d in sizes.items()
        },
        history=[{"epoch": 1, "loss": np.float32(0.5)}, {"epoch": 2, "loss": float("nan")}],
    )


def files_of(run: Path) -> list[str]:
    return sorted(p.relative_to(run).as_posix() for p in run.rglob("*") if p.is_file())


def contents_as_bytes(run: Path) -> dict[str, bytes]:
    return {name: (run / name).read_bytes() for name in files_of(run)}
