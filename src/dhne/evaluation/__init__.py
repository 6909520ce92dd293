"""Evaluation: metrics, protocols and tasks, the same for every method.

>>> import dhne
>>> net = dhne.HyperNetwork.from_tuples(
...     [(f"u{i % 5}", f"m{i % 7}", f"t{i % 3}") for i in range(30)], ("user", "movie", "tag")
... )
>>> record = evaluate("link-prediction", net, "she", dim=4)
>>> record.task, record.method, sorted(record.mean)[:2]
('link-prediction', 'she', ['auc', 'auc_mean'])
"""

from dhne.methods import METHODS, Method, make_method, register, unregister

from .classification import classify_nodes
from .completion import CompletionOptions
from .filtered_ranking import rank_edges, ranking_metrics
from .fitted import held_out_data
from .metrics import auc, average_precision, f1_scores, roc
from .protocols import (
    EVALUATION_SEED,
    PROTOCOLS,
    Data,
    Split,
    link_prediction_split,
    reconstruction_split,
)
from .results import Record, SeedResult
from .separation import Options
from .tasks import TASKS, EvaluationSettings, evaluate

__all__ = [
    "EVALUATION_SEED",
    "METHODS",
    "PROTOCOLS",
    "TASKS",
    "CompletionOptions",
    "Data",
    "EvaluationSettings",
    "Method",
    "Options",
    "Record",
    "SeedResult",
    "Split",
    "auc",
    "average_precision",
    "classify_nodes",
    "evaluate",
    "f1_scores",
    "held_out_data",
    "link_prediction_split",
    "make_method",
    "rank_edges",
    "ranking_metrics",
    "reconstruction_split",
    "register",
    "roc",
    "unregister",
]
