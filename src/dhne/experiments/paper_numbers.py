"""The paper's numbers: AUC at 64 dimensions, the tables of both tasks.

Pairwise methods have two, for the mean and for the minimum of their pairs' similarities.
"""

from __future__ import annotations

from dhne.methods import METHODS

DATASETS = ("gps", "movielens", "drug", "wordnet")
DATASET_TITLES = {"gps": "GPS", "movielens": "MovieLens"}

_RECONSTRUCTION = {
    ("dhne", ""): (0.9598, 0.9344, 0.9356, 0.9073),
    ("deepwalk", "mean"): (0.6714, 0.8233, 0.5750, 0.8176),
    ("line", "mean"): (0.8058, 0.8431, 0.6908, 0.8365),
    ("node2vec", "mean"): (0.6715, 0.9142, 0.6694, 0.8609),
    ("she", "mean"): (0.8596, 0.7530, 0.5486, 0.5618),
    ("deepwalk", "min"): (0.6034, 0.7117, 0.5321, 0.7423),
    ("line", "min"): (0.7369, 0.7910, 0.7625, 0.7751),
    ("node2vec", "min"): (0.6578, 0.9100, 0.6557, 0.8387),
    ("she", "min"): (0.7981, 0.7972, 0.6236, 0.5918),
    ("tensor", ""): (0.9229, 0.8640, 0.7025, 0.7771),
    ("hebe", ""): (0.9337, 0.8772, 0.8236, 0.7391),
}
_LINK_PREDICTION = {
    ("dhne", ""): (0.9166, 0.8676, 0.9254, 0.8268),
    ("deepwalk", "mean"): (0.6593, 0.7151, 0.5822, 0.5952),
    ("line", "mean"): (0.7795, 0.7170, 0.7057, 0.6819),
    ("node2vec", "mean"): (0.5835, 0.8211, 0.6573, 0.8003),
    ("she", "mean"): (0.8687, 0.7459, 0.5899, 0.5426),
    ("deepwalk", "min"): (0.5715, 0.6307, 0.5493, 0.5542),
    ("line", "min"): (0.7219, 0.6265, 0.7651, 0.6225),
    ("node2vec", "min"): (0.5869, 0.7675, 0.6546, 0.7985),
    ("she", "min"): (0.8078, 0.8012, 0.6508, 0.5507),
    ("tensor", ""): (0.8646, 0.7201, 0.6470, 0.6516),
    ("hebe", ""): (0.8355, 0.7740, 0.8191, 0.6364),
}
_TABLES = {"reconstruction": _RECONSTRUCTION, "link-prediction": _LINK_PREDICTION}


def paper_auc(task: str, dataset: str, method: str, aggregate: str = "") -> float | None:
    """Return the paper's AUC, or None if it has none.

    Examples
    --------
    >>> paper_auc("link-prediction", "drug", "dhne")
    0.9254
    >>> paper_auc("link-prediction", "drug", "line", "min")
    0.7651
    >>> paper_auc("link-prediction", "drug", "cooccurrence") is None
    True
    """
    row = _TABLES.get(task, {}).get((method, aggregate))
    return None if row is None or dataset not in DATASETS else row[DATASETS.index(dataset)]


def rows() -> tuple[tuple[str, str], ...]:
    """Return the rows of the paper's tables in their order, as (method, aggregate)."""
    return tuple(_LINK_PREDICTION)


def title(name: str) -> str:
    """Return what people call a method or a dataset."""
    return METHODS[name].title if name in METHODS else DATASET_TITLES.get(name, name)
