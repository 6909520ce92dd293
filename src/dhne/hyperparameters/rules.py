"""Rules for settings that depend on the size of the network."""

from __future__ import annotations

import math

BATCH_SCALE = 3.7
EPOCHS_AT_THOUSAND = 58.0
EPOCHS_DECLINE = 0.5


def rule_batch_size(m: int, scale: float = BATCH_SCALE) -> int:
    """Return the batch size for m hyperedges: the power of two nearest scale · √m, or m / 150.

    The larger of the two is used. For large m, m / 150 keeps the number of steps per epoch about
    constant: learning depends on the number of steps, and every step pays for the network's hubs,
    which are in every batch.

    Examples
    --------
    >>> [rule_batch_size(m) for m in (1_000, 40_000, 100_000, 10_000_000)]
    [128, 1024, 1024, 65536]
    """
    wanted = max(scale * math.sqrt(max(m, 1)), m / 150)
    return int(min(max(2 ** round(math.log2(wanted)), 32), 2**18))


def rule_epochs(
    m: int, at_thousand: float = EPOCHS_AT_THOUSAND, decline: float = EPOCHS_DECLINE
) -> int:
    """Return the number of epochs for m hyperedges: at_thousand · (1000 / m)^decline, 5 to 100.

    Examples
    --------
    >>> [rule_epochs(m) for m in (1_000, 40_000, 100_000, 10_000_000)]
    [58, 9, 6, 5]
    """
    return int(min(max(round(at_thousand * (1000 / max(m, 1)) ** decline), 5), 100))


def rule_alpha(num_edges: int, num_nodes: int) -> float:
    """Return α for the preset "plus": 2000 / ρ³ with ρ hyperedges per node, at most 1000.

    If nodes have few hyperedges, reconstructing neighbourhoods keeps the embeddings from memorising
    those few; if nodes have many, the hyperedges alone are enough.

    Examples
    --------
    >>> [round(rule_alpha(m, 1000)) for m in (1_000, 2_000, 10_000)]
    [1000, 250, 2]
    """
    return min(2000 * (num_nodes / max(num_edges, 1)) ** 3, 1000.0)


def rule_averaging(steps: float) -> float:
    """Return the share of the epochs over which "plus" averages the weights.

    Half of them; none if training takes fewer than 1,000 steps, whose weights still move far.

    Examples
    --------
    >>> rule_averaging(5_000), rule_averaging(300)
    (0.5, 0.0)
    """
    return 0.5 if steps >= 1000 else 0.0


def rule_product_dim(largest: int) -> int:
    """Return the size of the products' vectors for a network whose largest type has so many nodes.

    Examples
    --------
    >>> [rule_product_dim(n) for n in (100, 20_000)]
    [128, 256]
    """
    return 128 if largest < 1000 else 256


def rule_ranking_epochs(num_edges: int) -> int:
    """Return the number of epochs for products: 20 · (61,000 / m)², from 5 to 20.

    On large networks more epochs cost much, and rank new hyperedges no better beside a similarity.

    Examples
    --------
    >>> [rule_ranking_epochs(m) for m in (1_000, 60_000, 100_000, 10_000_000)]
    [20, 20, 7, 5]
    """
    return int(min(20, max(5, round(20 * (61_000 / max(num_edges, 1)) ** 2))))


def rule_holdout(num_edges: int) -> float:
    """Return the share of hyperedges held out to select products: 3%, but 30 to 1,000 of them.

    In a small network, at most a fifth.

    Examples
    --------
    >>> [round(rule_holdout(m) * m) for m in (50, 500, 10_000, 10_000_000)]
    [10, 30, 300, 1000]
    """
    m = max(num_edges, 1)
    return min(max(0.03, 30 / m), 1000 / m, 0.2) if m > 30 else 0.2
