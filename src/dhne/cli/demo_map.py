"""The picture of ``dhne demo``: places in the plane, near where their embeddings are near."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from dhne.estimator import DHNE
    from dhne.network.hypernetwork import HyperNetwork

# Distinguishable also for most of those who see fewer colours (Okabe and Ito's palette).
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c6d31", "#000000")
_OTHERS = "#c8c8c8"
_NAMED = 40


def draw_map(model: DHNE, path: Path, *, node_type: str = "head", seed: int = 0) -> None:
    """Save a map of the nodes of a type, coloured by what each is an instance of."""
    from dhne.errors import MissingExtraError
    from dhne.files.writing import writing

    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtraError("matplotlib", extra="plots") from None
    places = _flatten(model.vectors_[node_type], seed)
    kinds = _kinds(model.network_, node_type)
    figure = Figure(figsize=(11, 8.5), dpi=130, layout="constrained")
    axes = figure.subplots()
    rest = ~sum((rows for rows in kinds.values()), start=_none(len(places)))
    axes.scatter(
        places[rest, 0], places[rest, 1], s=9, color=_OTHERS, linewidths=0, label="anything else"
    )
    for (kind, rows), colour in zip(kinds.items(), _COLOURS, strict=False):
        axes.scatter(places[rows, 0], places[rows, 1], s=22, color=colour, linewidths=0, label=kind)
    _write_names(axes, places, model.network_, node_type)
    axes.set_title("A map of the world's places, from relations alone", loc="left", fontsize=15)
    axes.set_axis_off()
    axes.legend(frameon=False, fontsize=9, loc="upper left", bbox_to_anchor=(1, 1))
    with writing(path) as (temporary,):
        figure.savefig(temporary, format="png")


def _none(n: int) -> npt.NDArray[np.bool_]:
    import numpy as np

    return np.zeros(n, dtype=bool)


def _flatten(matrix: npt.NDArray[np.float32], seed: int) -> npt.NDArray[Any]:
    """t-SNE, which keeps neighbours together."""
    from sklearn.manifold import TSNE

    tsne = TSNE(init="pca", metric="cosine", perplexity=25, max_iter=500, random_state=seed)
    flat: npt.NDArray[Any] = tsne.fit_transform(matrix)
    return flat


def _kinds(network: HyperNetwork, node_type: str) -> dict[str, npt.NDArray[np.bool_]]:
    """Return for the most frequent kinds of place which nodes are of it; the first found counts."""
    import numpy as np

    edges = network.edges()
    relation = network.ids("relation", ["instance_hypernym"])[0]
    facts = edges[edges[:, 1] == relation]
    counts = np.bincount(facts[:, 2], minlength=network.num_nodes("tail"))
    taken = _none(network.num_nodes(node_type))
    kinds: dict[str, npt.NDArray[np.bool_]] = {}
    for kind in np.argsort(-counts, kind="stable")[: len(_COLOURS)].tolist():
        rows = _none(len(taken))
        rows[facts[facts[:, 2] == kind, 0]] = True
        rows &= ~taken
        taken |= rows
        kinds[plain(str(network.vocabulary("tail").name(kind)))] = rows
    return kinds


def _write_names(
    axes: Any, places: npt.NDArray[Any], network: HyperNetwork, node_type: str
) -> None:
    """Write the names of the best-connected places, where they do not run into one another."""
    import numpy as np

    span = np.ptp(places, axis=0)
    written: list[Any] = []
    for node in np.argsort(-network.degrees(node_type), kind="stable").tolist():
        at = places[node] / span
        if all(abs(at[0] - x) > 0.09 or abs(at[1] - y) > 0.025 for x, y in written):
            written.append(at)
            name = plain(str(network.vocabulary(node_type).name(node)))
            axes.annotate(name, places[node], fontsize=7, ha="center", va="bottom")
        if len(written) == _NAMED:
            break


def plain(name: str) -> str:
    """Return a synset's name as people say it.

    Examples
    --------
    >>> plain("new_york.n.01"), plain("part_of")
    ('new york', 'part of')
    """
    word, _, number = name.rpartition(".n.")
    return (word if number.isdigit() else name).replace("_", " ")
