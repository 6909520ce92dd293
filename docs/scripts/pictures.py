"""The pictures of ``docs/plus.md``: ``python docs/scripts/pictures.py`` draws them from the sample.

It also prints their numbers, so that the page can be checked.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import torch

import dhne
from dhne.adjacency import adjacency
from dhne.evaluation import Data, auc, link_prediction_split
from dhne.model.evidence import PairEvidence
from dhne.sampling import KnownEdges, evaluation_negatives

IMAGES = Path(__file__).resolve().parents[1] / "images"
EDGE, HELD_OUT, NEGATIVE = "#0072B2", "#009E73", "#D55E00"  # distinguishable with colour blindness
_SETTINGS = {"dim": 32, "epochs": 20, "random_state": 0}

mpl.rcParams.update(
    {
        "font.size": 10,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "figure.dpi": 150,
        "savefig.bbox": "tight",
    }
)


class Sample:
    """The bundled sample: training and held-out hyperedges, and negatives of both."""

    def __init__(self) -> None:
        data = dhne.load_dataset("wordnet-sample")
        split = link_prediction_split(Data(data.name, data.train, data.test), "paper", seed=0)
        ((self.types, self.negatives),) = split.negatives().items()
        self.train, self.held_out = data.train, data.test.edges()
        self.edges = data.train.edges()
        known = KnownEdges(data.train, data.test)
        self.train_negatives = evaluation_negatives(data.train.edge_set(), known, seed=1).nodes


def draw_memory(sample: Sample) -> None:
    """Draw the similarities of training hyperedges, held-out ones and negatives."""
    models = {
        "as in the paper": {},
        "the hyperedge left out": {"leave_one_out": True},
        "left out, and evidence (plus)": {"preset": "plus"},
    }
    figure, panels = plt.subplots(1, 3, figsize=(11, 3), sharey=True)
    for panel, (name, changed) in zip(panels, models.items(), strict=True):
        model = dhne.DHNE(**_SETTINGS, **changed).fit(sample.train)
        scores = {
            "trained on": (model.score(sample.edges), EDGE),
            "held out": (model.score(sample.held_out), HELD_OUT),
            "negatives": (model.score(sample.negatives), NEGATIVE),
        }
        bins = np.linspace(0, 1, 41)
        for label, (values, colour) in scores.items():
            share = np.full(len(values), 1 / len(values))
            panel.hist(
                values, bins, weights=share, histtype="step", lw=2, color=colour, label=label
            )
        trained = auc(scores["trained on"][0], model.score(sample.train_negatives))
        new = auc(scores["held out"][0], scores["negatives"][0])
        _say(f"{name}: AUC {trained:.3f} on training hyperedges, {new:.3f} on held-out ones")
        panel.set(title=f"{name}\nAUC held out: {new:.3f}", xlabel="similarity S")
    panels[0].set(ylabel="share of tuples", ylim=(0, 0.16))
    panels[0].legend(frameon=False)
    figure.savefig(IMAGES / "plus_memory.png")


def draw_evidence(sample: Sample) -> None:
    """Draw how well each count alone separates held-out hyperedges from negatives."""
    evidence = PairEvidence(
        sample.train, adjacency(sample.train), device=torch.device("cpu"), dtype=torch.float64
    )

    def counts(nodes: Any) -> np.ndarray:
        """``[m, pair, count]``: log(1 + c), log(1 + s), log(1 + t) of the three pairs."""
        found = evidence.features(torch.from_numpy(nodes.copy()), sample.types, ordered=True)
        return found[:, :18:2].numpy().reshape(-1, 3, 3)

    edges, negatives = counts(sample.held_out), counts(sample.negatives)
    alone = np.array(
        [[auc(edges[:, p, k], negatives[:, p, k]) for k in range(3)] for p in range(3)]
    )
    pairs = ("head, relation", "head, tail", "relation, tail")
    figure, (grid, panel) = plt.subplots(1, 2, figsize=(10, 3.2), width_ratios=(1, 1.3))
    grid.imshow(alone, cmap="PuOr_r", vmin=0, vmax=1, aspect="auto")
    grid.set(xticks=range(3), yticks=range(3), title="AUC of each count alone")
    grid.set_xticklabels(["c: together", "s: shared", "t: paths"])
    grid.set_yticklabels(pairs)
    grid.tick_params(length=0)
    grid.spines[:].set_visible(False)
    for p, row in enumerate(alone):
        _say(f"({pairs[p]}): AUC alone of c {row[0]:.3f}, s {row[1]:.3f}, t {row[2]:.3f}")
        for k, value in enumerate(row):
            grid.text(k, p, f"{value:.2f}", ha="center", va="center")
    bins = np.linspace(0, max(edges[:, 1, 2].max(), negatives[:, 1, 2].max()), 25)
    for label, values, colour in (
        ("held-out hyperedges", edges, HELD_OUT),
        ("negatives", negatives, NEGATIVE),
    ):
        share = np.full(len(values), 1 / len(values))
        panel.hist(values[:, 1, 2], bins, weights=share, alpha=0.55, color=colour, label=label)
    panel.set(
        title="t of (head, tail)", xlabel="log(1 + t)", ylabel="share of tuples", yscale="log"
    )
    panel.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(IMAGES / "plus_evidence.png")


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")


if __name__ == "__main__":
    sample_ = Sample()
    draw_memory(sample_)
    draw_evidence(sample_)
