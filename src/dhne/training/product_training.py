"""Training of the products of a blueprint, and of their weight relative to the similarity.

Products pay where rows do not tell nodes apart. On other networks they rank far worse than the
similarity from the start, and are given up: training stops after its first validation, an eighth of
its epochs, if they reach less than half of the similarity's MRR there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch

from dhne.answers.scorer import TupleScorer
from dhne.kernels import Kernels, get_kernels
from dhne.model.blend import Blend
from dhne.model.products import Products

from .assembly import Blueprint
from .blending import HeldOutTuples
from .ranking import RankingOptions, RankingTrainer
from .validation import RankedHeldOut

Progress = Callable[[int, int, float], None]
History = list[dict[str, float]]

_SMALL_EDGES = 20_000  # below this, products are trained on the CPU
_PROMISING = 0.5  # of the similarity's MRR, in the first validation


class FittedProducts(NamedTuple):
    """Products on the CPU, one record per epoch of their training, and how much they count."""

    products: Products
    history: History
    blend: Blend


def fit_products(
    blueprint: Blueprint,
    kernels: Kernels,
    device: torch.device,
    scorer: TupleScorer,
    *,
    seed: int,
    progress: Progress | None = None,
) -> FittedProducts:
    """Train products beside a trained similarity, whose `scorer` has the training's evidence."""
    held_out = blueprint.chosen_on
    if held_out is None or not held_out.num_edges():
        products, history = train_products(blueprint, kernels, device, seed=seed, progress=progress)
        return FittedProducts(products, history, Blend())
    tuples = HeldOutTuples(blueprint.train, held_out, seed=seed)
    least = _PROMISING * tuples.similarity_mrr(scorer, but=blueprint.product_shape[1])
    products, history = train_products(
        blueprint, kernels, device, seed=seed, progress=progress, least=least
    )
    if best_mrr(history) < least:
        return FittedProducts(products, history, Blend())
    scorer.products = products.to(device)
    products.center(tuples.product_means(scorer))
    blend = tuples.choose(scorer)
    return FittedProducts(products.to("cpu"), history, blend)


def best_mrr(history: History) -> float:
    """Return the best validation MRR of a training of products."""
    return max((record.get("validation_mrr", 0.0) for record in history), default=0.0)


def train_products(
    blueprint: Blueprint,
    kernels: Kernels,
    device: torch.device,
    *,
    seed: int,
    progress: Progress | None = None,
    start: Callable[[Products], None] | None = None,
    least: float = 0.0,
) -> tuple[Products, History]:
    """Train the products to rank, and return them on the CPU with one record per epoch.

    `progress` is called with (epochs done, maximum epochs, loss); `start` may replace the drawn
    weights; `least` is the validation MRR below which the first validation stops the training.
    """
    s = blueprint.settings
    if blueprint.train.num_edges() < _SMALL_EDGES:  # a GPU would wait for the host in every step
        device = torch.device("cpu")
        kernels = get_kernels("auto", device)
    products = blueprint.build_products()
    products.reset(torch.Generator().manual_seed(seed))
    if start is not None:
        start(products)
    products.to(device)
    candidates = s.candidates
    if candidates is None:
        candidates = 32_768 if device.type == "cuda" else 1024
    options = RankingOptions(
        epochs=s.ranking_epochs or 1,
        batch_size=min(max(blueprint.train.num_edges() // 32, 32), 512),
        dropout=s.dropout,
        candidates=candidates,
        least=least,
    )
    validate = None
    if blueprint.chosen_on is not None and blueprint.chosen_on.num_edges():
        watched = RankedHeldOut(blueprint.train, blueprint.chosen_on, products, seed=seed)
        validate = watched.mean_reciprocal_rank
    trainer = RankingTrainer(
        products,
        blueprint.train,
        options,
        kernels,
        seed=seed,
        validate=validate,
        progress=None if progress is None else lambda e, x: progress(e, options.epochs, x),
    )
    history = trainer.run()
    return products.to("cpu"), history
