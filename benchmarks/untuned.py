"""The preset "plus" without tuning: link prediction on three networks of other kinds.

The networks are the bundled sample of WordNet; a small dense network of many relations, each of
which holds between some pairs of groups; and unordered hyperedges of two to four nodes. The paper's
model and boosted counts are shown for comparison; three seeds.
"""

from __future__ import annotations

import numpy as np

import dhne
from benchmarks._options import devices
from benchmarks._table import Row
from dhne.datasets import unordered_sets
from dhne.evaluation import Data, evaluate
from dhne.evaluation.tasks import EvaluationSettings
from dhne.network.hypernetwork import HyperNetwork

METHODS = ("dhne", "cooccurrence", "dhne-plus")


def run(quick: bool) -> list[Row]:
    rows: list[Row] = []
    for data in _networks():
        for method in METHODS:
            trained = method != "cooccurrence"
            record = evaluate(
                "link-prediction",
                data,
                method,
                seeds=[0] if quick else [0, 1, 2],
                device=devices()[-1],
                params={"epochs": 2} if quick and trained else {},
                settings=EvaluationSettings(),
            )
            row: Row = {"network": data.name, "method": method}
            for metric in ("auc", "aupr", "mrr"):
                row[metric] = record.mean[metric]
                row[f"{metric} std"] = record.std[metric]
            rows.append(row)
    return rows


def _networks() -> list[Data]:
    sample = dhne.load_dataset("wordnet-sample")
    sets = unordered_sets(nodes=400, edges=4000, communities=20, sizes=(2, 3, 4), seed=0)
    return [
        Data("wordnet-sample", sample.train, sample.test),
        Data("many relations", *_many_relations().split(0.2, seed=0)),
        Data("unordered sets", *sets.split(0.2, seed=0)),
    ]


def _many_relations(entities: int = 60, groups: int = 10, relations: int = 40) -> HyperNetwork:
    """Each relation holds between a tenth of the pairs of groups, for most of their members."""
    rng = np.random.default_rng(0)
    group = rng.integers(groups, size=entities)
    holds = rng.random((relations, groups, groups)) < 0.1
    likely = holds[:, group][:, :, group]  # relation, head, tail
    relation, head, tail = np.nonzero(likely & (rng.random(likely.shape) < 0.9))
    nodes = np.stack([head, relation, tail], axis=1)
    sizes = {"head": entities, "relation": relations, "tail": entities}
    return HyperNetwork.from_arrays({("head", "relation", "tail"): nodes}, sizes)
