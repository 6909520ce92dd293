"""The networks used for measuring: the paper's four, facts, or a small one for quick runs."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import dhne
from benchmarks._options import LeftOut
from dhne.datasets import power_law
from dhne.errors import DHNEError
from dhne.network.hypernetwork import HyperNetwork

SMALL = "small"
DATASETS = ("gps", "movielens", "drug", "wordnet")
FACTS = ("kinships", "umls", "jf17k")


class Parts(NamedTuple):
    """The two parts of a dataset."""

    train: HyperNetwork
    test: HyperNetwork


def names(quick: bool, datasets: tuple[str, ...] = DATASETS) -> list[str]:
    """Return the available ones of some datasets; report those that are missing."""
    if quick:
        return [SMALL]
    found = []
    for name in datasets:
        try:
            dhne.load_dataset(name, download=False)
        except DHNEError as error:
            print(f"  {name} is skipped: {error}")
        else:
            found.append(name)
    if not found:
        raise LeftOut("no dataset was found; set DHNE_DATA to their directory")
    return found


@cache
def load(name: str) -> Parts:
    """Return a dataset by name."""
    if name == SMALL:
        return Parts(*power_law(2000, (200, 100, 20), clusters=10, seed=0).split(0.2, seed=0))
    data = dhne.load_dataset(name, download=False)
    return Parts(data.train, data.test)
