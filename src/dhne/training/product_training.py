"""Training of the products of a blueprint, and of their weight relative to the similarity."""

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

_SMALL = 10_000_000  # hyperedges times size of vectors, below which products train on the CPU


class FittedProducts(NamedTuple):
    """Products on the CPU, one record per epoch of their training, and how much they count."""

    products: Products
    history: History
    blend: Blend


def fit_products(
    blueprint: Blueprint,
    kernels: Kernels,
    device: torch.device,
    scorer: Callable[[], TupleScorer],
    *,
    seed: int,
    progress: Progress | None = None,
) -> FittedProducts:
    """Train products beside a trained similarity, and choose how much they count.

    `scorer` creates a scorer of the similarity with the evidence of the training network.
    """
    products, history = train_products(blueprint, kernels, device, seed=seed, progress=progress)
    held_out = blueprint.chosen_on
    if held_out is None or not held_out.num_edges():
        return FittedProducts(products, history, Blend())
    tuples = HeldOutTuples(blueprint.train, held_out, seed=seed)
    both = scorer()
    both.products = products.to(device)
    products.center(tuples.product_means(both))
    blend = tuples.choose(both)
    return FittedProducts(products.to("cpu"), history, blend)


def train_products(
    blueprint: Blueprint,
    kernels: Kernels,
    device: torch.device,
    *,
    seed: int,
    progress: Progress | None = None,
    start: Callable[[Products], None] | None = None,
) -> tuple[Products, History]:
    """Train the products to rank, and return them on the CPU with one record per epoch.

    `progress` is called with (epochs done, maximum epochs, loss); `start` may replace the drawn
    weights.
    """
    s = blueprint.settings
    size, _ = blueprint.product_shape
    if blueprint.train.num_edges() * size < _SMALL:  # a GPU would wait for the host in every step
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
