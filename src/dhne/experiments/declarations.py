"""The paper's tables and figures, each declared by the jobs it needs.

``table-link-prediction``, ``table-reconstruction``
    AUC of all methods on the four datasets, and on drug also with the protocol `clean`.
``figure-roc``
    ROC curves of link prediction on GPS, from the jobs of the table.
``figure-sparsity``
    Link prediction on drug with 10% to 90% of the hyperedges kept, with both protocols.
``figure-classification``
    Micro and macro F1 of movies' genres and of WordNet's lexicographer categories.
``figure-sensitivity``
    Link prediction on drug over embedding sizes and over alpha.
``figure-time``
    Seconds per training batch on networks of growing size.

The quick version of each runs the same code on the core of every dataset (all of GPS), with one
seed and fewer points on every axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from dhne.errors import UnknownNameError
from dhne.methods import BUILT_IN, METHODS

from .jobs import Job
from .paper_numbers import DATASETS

SEEDS = (0, 1, 2)
QUICK_CORE = 2_000
KEPT = (0.1, 0.3, 0.5, 0.7, 0.9)
DIMENSIONS = (8, 16, 32, 64, 128, 256)
ALPHAS = (0.0, 0.01, 0.1, 1.0, 2.0, 5.0, 10.0)
NODES = (1_000, 3_000, 10_000, 30_000, 100_000, 300_000)


@dataclass(frozen=True)
class Selection:
    """The requested part of a plan.

    Attributes
    ----------
    datasets, methods, seeds : sequence, optional
        None for the declaration's own.
    device : str, optional
    quick : bool
    """

    datasets: Sequence[str] | None = None
    methods: Sequence[str] | None = None
    seeds: Sequence[int] | None = None
    device: str | None = None
    quick: bool = False

    def __post_init__(self) -> None:
        for kind, names, known in (
            ("dataset", self.datasets, DATASETS),
            ("method", self.methods, METHODS),
        ):
            for name in names or ():
                if name not in known:
                    raise UnknownNameError(kind, name, known)

    def only_datasets(self, usual: Iterable[str]) -> list[str]:
        """Return the requested ones of `usual`."""
        return [d for d in usual if self.datasets is None or d in self.datasets]

    def only_methods(self, usual: Iterable[str]) -> list[str]:
        """Return the requested ones of `usual`."""
        return [m for m in usual if self.methods is None or m in self.methods]

    def wanted_seeds(self) -> tuple[int, ...]:
        """Return the requested seeds; by default three, or one for the quick version."""
        if self.seeds is not None:
            return tuple(self.seeds)
        return SEEDS[:1] if self.quick else SEEDS


@dataclass(frozen=True)
class Experiment:
    """A table or a figure of the paper.

    Attributes
    ----------
    name, title, text : str
    plan : callable
        Maps a `Selection` to jobs without seed and device, one per point.
    """

    name: str
    title: str
    text: str
    plan: Callable[[Selection], list[Job]] = field(repr=False)

    def jobs(self, choice: Selection) -> list[Job]:
        """Return the jobs, seeds innermost.

        Examples
        --------
        >>> quick = Selection(datasets=["gps"], methods=["dhne", "line"], seeds=[0, 1], quick=True)
        >>> [job.title for job in EXPERIMENTS["figure-roc"].jobs(quick)][:2]
        ['link-prediction gps dhne seed 0', 'link-prediction gps dhne seed 1']
        """
        core = QUICK_CORE if choice.quick else None
        found = []
        for job in self.plan(choice):
            small = job if job.nodes is not None else replace(job, core=core)
            found += [
                replace(small, seed=seed, device=choice.device) for seed in choice.wanted_seeds()
            ]
        return found


def _tables(task: str) -> Callable[[Selection], list[Job]]:
    def plan(choice: Selection) -> list[Job]:
        jobs = []
        for dataset in choice.only_datasets(DATASETS):
            for protocol in ("paper", "clean") if dataset == "drug" else ("paper",):
                jobs += [_separation(choice, task, dataset, m, protocol) for m in _all(choice)]
        return jobs

    return plan


def _all(choice: Selection) -> list[str]:
    return choice.only_methods(BUILT_IN)


def _separation(choice: Selection, task: str, dataset: str, method: str, protocol: str) -> Job:
    ranked = 200 if choice.quick else 500
    return Job(task, dataset, method, protocol=protocol, ranked=ranked)


def _roc(choice: Selection) -> list[Job]:
    datasets = choice.only_datasets(["gps"])
    return [
        _separation(choice, "link-prediction", d, m, "paper")
        for d in datasets
        for m in _all(choice)
    ]


def _sparsity(choice: Selection) -> list[Job]:
    usual = ("dhne", "tensor", "hebe", "line", "dhne-plus") if choice.quick else BUILT_IN
    return [
        Job("link-prediction", dataset, method, protocol=protocol, keep=keep)
        for dataset in choice.only_datasets(["drug"])
        for protocol in ("paper", "clean")
        for method in choice.only_methods(usual)
        for keep in (KEPT[::2] if choice.quick else KEPT)
    ]


def _classification(choice: Selection) -> list[Job]:
    usual = [m for m in BUILT_IN if METHODS[m].embeds]
    shares = {"movielens": (0.1, 0.5, 0.9), "wordnet": (0.01, 0.05, 0.1)}
    return [
        Job(
            "classification",
            dataset,
            method,
            shares=shares[dataset] if choice.quick else (),
            repeats=2 if choice.quick else 5,
        )
        for dataset in choice.only_datasets(shares)
        for method in choice.only_methods(usual)
    ]


def _sensitivity(choice: Selection) -> list[Job]:
    dimensions = (8, 32, 64, 128) if choice.quick else DIMENSIONS
    alphas = (0.0, 0.1, 1.0, 10.0) if choice.quick else ALPHAS
    jobs = []
    for dataset in choice.only_datasets(["drug"]):
        for method in choice.only_methods(["dhne"]):
            # as in the table, so that the point they share is measured once
            base = _separation(choice, "link-prediction", dataset, method, "paper")
            jobs += [replace(base, dim=dim) for dim in dimensions]
            jobs += [replace(base, params=(("alpha", alpha),)) for alpha in alphas]
    return jobs


def _time(choice: Selection) -> list[Job]:
    sizes = NODES[:5:2] if choice.quick else NODES
    return [
        Job("training-time", "power-law", method, nodes=n)
        for method in choice.only_methods(["dhne", "dhne-plus"])
        for n in sizes
    ]


EXPERIMENTS: dict[str, Experiment] = {
    e.name: e
    for e in (
        Experiment(
            "table-reconstruction",
            "Network reconstruction",
            "Each method is fitted on the whole network and separates each of its hyperedges from "
            "five negatives.",
            _tables("reconstruction"),
        ),
        Experiment(
            "table-link-prediction",
            "Link prediction",
            "Each method is fitted on 80% of the hyperedges, the released split, and separates "
            "each of the others from five negatives.",
            _tables("link-prediction"),
        ),
        Experiment(
            "figure-roc",
            "ROC curves on GPS",
            "Link prediction on GPS at every threshold.",
            _roc,
        ),
        Experiment(
            "figure-sparsity",
            "Link prediction by sparsity",
            "A share of drug's hyperedges is kept for training; all others are the test set.",
            _sparsity,
        ),
        Experiment(
            "figure-classification",
            "Classification",
            "A linear SVM on each method's vectors: genres of MovieLens' movies (several each), "
            "lexicographer categories of wordnet's head nodes (one each).",
            _classification,
        ),
        Experiment(
            "figure-sensitivity",
            "Sensitivity to dimension and alpha",
            "Link prediction on drug by DHNE, one setting varied at a time.",
            _sensitivity,
        ),
        Experiment(
            "figure-time",
            "Training time",
            "The time per training batch on generated networks with power-law degrees and five "
            "hyperedges per node, at most a hundred thousand.",
            _time,
        ),
    )
}


def chosen(names: Sequence[str]) -> list[Experiment]:
    """Return the named experiments in the paper's order; all of them for ``all`` or no names.

    Examples
    --------
    >>> [e.name for e in chosen(["figure-time", "figure-roc"])]
    ['figure-roc', 'figure-time']
    """
    for name in names:
        if name != "all" and name not in EXPERIMENTS:
            raise UnknownNameError("table or figure", name, [*EXPERIMENTS, "all"])
    every = not names or "all" in names
    return [e for e in EXPERIMENTS.values() if every or e.name in names]
