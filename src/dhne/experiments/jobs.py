"""A job: one method, fitted once on one dataset with one seed, and its measurements.

Experiments are plans of jobs. A job is plain data, so its record can be found again: the file name
contains a hash of all its settings and the package version.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import Any

from dhne import __version__
from dhne.files.digests import sha256_of_text
from dhne.methods import METHODS, Method

Params = tuple[tuple[str, Any], ...]

# Approximate sizes of the datasets (hyperedges, nodes). A guess is enough: finished jobs correct
# it.
_SIZES = {
    "gps": (1_436, 221),
    "movielens": (46_412, 15_593),
    "drug": (171_756, 7_487),
    "wordnet": (146_442, 81_520),
}


@dataclass(frozen=True)
class Job:
    """One fit and its measurements.

    Attributes
    ----------
    task : str
        One of the evaluation's tasks, or ``training-time``.
    dataset, method, seed, protocol
    params : tuple of (name, value)
        Hyper-parameters of the method that differ from its defaults.
    dim : int
        Embedding size.
    device : str, optional
    keep : float, optional
        Link prediction over sparsity: the share of hyperedges kept for training.
    shares : tuple of float
        Classification: the shares of training nodes; empty for the paper's.
    repeats : int
        Classification: the number of draws of training nodes.
    ranked : int
        Number of test hyperedges ranked among all candidates.
    core : int, optional
        Use only this many hyperedges, those among the best-connected nodes.
    nodes : int, optional
        Training time: the number of nodes of the generated network.

    Examples
    --------
    >>> job = Job("link-prediction", "gps", "dhne", seed=1)
    >>> job.title
    'link-prediction gps dhne seed 1'
    >>> job == Job.from_dict(job.to_dict())
    True
    """

    task: str
    dataset: str
    method: str
    seed: int = 0
    protocol: str = "paper"
    params: Params = ()
    dim: int = 64
    device: str | None = None
    keep: float | None = None
    shares: tuple[float, ...] = ()
    repeats: int = 5
    ranked: int = 0
    core: int | None = None
    nodes: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the job as JSON-compatible data."""
        data = asdict(self)
        data["params"], data["shares"] = dict(self.params), list(self.shares)
        return data

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Job:
        """Return the job from the output of `to_dict`."""
        params, shares = tuple(data["params"].items()), tuple(data["shares"])
        return cls(**(data | {"params": params, "shares": shares}))

    @property
    def of_core(self) -> bool:
        """Whether it uses only a part of its dataset."""
        return self.core is not None and self.core < _SIZES.get(self.dataset, (0, 0))[0]

    @property
    def key(self) -> str:
        """A hash of everything the record depends on."""
        text = json.dumps([self.to_dict(), __version__], sort_keys=True)
        return sha256_of_text(text)[:16]

    @property
    def file_name(self) -> str:
        """The file name of its record: readable, and unique through the hash."""
        parts = [self.task, self.dataset, self.protocol, self.method, f"seed{self.seed}", self.key]
        return "_".join(parts) + ".json"

    @property
    def title(self) -> str:
        """The job in a few words, for a progress bar."""
        parts = [self.task, self.dataset, self.method]
        parts += [self.protocol] if self.protocol != "paper" else []
        parts += [f"keep {self.keep:.0%}"] if self.keep is not None else []
        parts += [f"dim {self.dim}"] if self.dim != 64 else []
        parts += [f"{self.nodes:,} nodes"] if self.nodes is not None else []
        parts += [f"{name} {value}" for name, value in self.params]
        return " ".join([*parts, f"seed {self.seed}"])

    @property
    def expected(self) -> float:
        """Roughly the seconds it takes on one core, for a first estimate of the time left.

        Examples
        --------
        >>> job = Job("link-prediction", "wordnet", "node2vec")
        >>> job.expected > 10 * Job("link-prediction", "gps", "node2vec").expected
        True
        """
        method = METHODS.get(self.method, Method(self.method, ""))
        fixed, an_edge, a_node = method.seconds
        edges, nodes = _SIZES.get(self.dataset, (10_000, 10_000))
        if self.nodes is not None:
            edges, nodes = min(self.nodes, 20_000), self.nodes  # a few epochs of five times that
        elif self.core is not None:
            edges, nodes = min(edges, 2 * self.core), min(nodes, self.core)
        edges = round(edges * (1.0 if self.keep is None else self.keep))
        seconds = fixed + (edges * an_edge + nodes * a_node) / 1000
        # a second fit chooses how pairs are combined into a score
        twice = method.aggregates and self.task == "link-prediction"
        return 2 * seconds if twice else seconds
