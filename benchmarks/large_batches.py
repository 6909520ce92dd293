"""The effect of larger batches on large power-law networks: link prediction after default epochs.

A step reads a large part of all non-zeros whatever its batch size, so that fewer and larger steps
are cheaper. Of 10^6 and 10^7 hyperedges over a tenth as many nodes, 20,000 are held out; the first
batch size of each is the default. Takes a minute or two on a GPU, and hours on two cores.
"""

from __future__ import annotations

from typing import Any

from benchmarks._options import devices
from benchmarks._table import Row
from benchmarks.scale import network_of
from dhne.evaluation import Data, evaluate
from dhne.evaluation.separation import Options
from dhne.evaluation.tasks import EvaluationSettings

BATCHES = {10**6: (8192, 16_384, 32_768), 10**7: (65_536, 100_000, 150_000)}


def run(quick: bool) -> list[Row]:
    rows: list[Row] = []
    for edges, batches in ({2000: (64, 128)} if quick else BATCHES).items():
        data = held_back(edges)
        for batch in batches:
            found = trained(data, devices()[-1], quick, batch_size=batch)
            rows.append({"hyperedges": edges, "batch": batch, **found})
    return rows


def held_back(edges: int) -> Data:
    """Return a power-law network split in two, the second part with 20,000 hyperedges."""
    return Data("power-law", *network_of(edges).split(min(20_000 / edges, 0.1), seed=0))


def trained(data: Data, device: str, quick: bool, **params: Any) -> Row:
    """Return the link-prediction result on the second part after training on the first."""
    record = evaluate(
        "link-prediction",
        data,
        "dhne",
        seeds=[0],
        device=device,
        params=params | ({"epochs": 1} if quick else {}),
        settings=EvaluationSettings(Options(ranked=0)),
    )
    return {"AUC": record.mean["auc"], "AUPR": record.mean["aupr"]}
