"""Records made up from a job's own hash: for tests of plans and reports, without any training."""

from __future__ import annotations

import numpy as np

from dhne.evaluation import Record, SeedResult
from dhne.experiments import Job
from dhne.methods import METHODS


def fake_record(job: Job) -> Record:
    rng = np.random.default_rng(int(job.key, 16))
    if job.nodes is not None:
        metrics = {"nodes": float(job.nodes), "seconds_per_batch": 0.004 + 0.001 * rng.random()}
    elif job.task == "classification":
        shares = job.shares or (0.1, 0.5, 0.9)
        metrics = {"micro_f1": 0.5, "macro_f1": 0.4}
        for s in shares:
            metrics |= {f"micro_f1@{s:g}": 0.4 + 0.3 * s, f"macro_f1@{s:g}": 0.3 + 0.3 * s}
    else:
        base = 0.9 if job.method in ("dhne", "dhne-plus") else 0.7
        metrics = {"auc": base + 0.05 * rng.random(), "aupr": base - 0.2}
        if METHODS[job.method].aggregates:
            metrics |= {"auc_mean": metrics["auc"], "auc_min": metrics["auc"] - 0.05}
        if job.ranked:
            metrics |= {
                "mrr": 0.3,
                "hits@1": 0.2,
                "hits@3": 0.3,
                "hits@10": 0.5,
                "mean_rank": 120.0,
            }
    curves = {}
    if job.task == "link-prediction":
        x = np.linspace(0, 1, 30)
        curves[str(job.seed)] = {"fpr": x.tolist(), "tpr": (x ** (1 - metrics["auc"])).tolist()}
    result = SeedResult(job.seed, metrics, {"fit": 1.0, "evaluate": 0.5}, 200.0)
    config = {
        "seeds": [job.seed], "counts": {"ranked": job.ranked}, "method": {"dim": job.dim},
        "python": "3.11", "platform": "Linux x86_64", "libraries": {"numpy": "2.0"},
    }  # fmt: skip
    if METHODS[job.method].aggregates and job.task != "classification":
        choice = ("mean", "cosine") if job.seed == 0 else ("min", "dot")
        config["chosen"] = {
            str(job.seed): {"aggregate": choice[0], "similarity": {choice[0]: choice[1]}}
        }
    return Record(job.task, job.dataset, job.protocol, job.method, (result,), config, curves)
