"""WordNet as a hyper-network of (head, relation, tail) triples, whole or as a sample.

A pointer of kind r from synset h to synset t is the hyperedge (h, r, t), read "the r of h is t":
the *hypernym* of dog is canine. The relations are the eighteen of the WN18 benchmark, which the
paper's wordnet dataset uses as well. Heads and tails are two node types that share their names; the
label of a synset is the lexicographer category it was written in, such as ``noun.animal``.

The bundled sample is WordNet's map of the world. Most of WordNet is a tree, and a tree says
nothing about an edge that is held out. Places are in several relations at once (Paris is part of
France and an instance of a capital), so the remaining edges say something about a missing one. The
sample is chosen as follows:

1. take the places, that is, the instances among ``noun.location`` and ``noun.object``, with
   everything they point to that is a location, an object, a group, a person or communication;
2. drop synsets with fewer than three triples as head, or two if the synset is well known (tagged
   three times or more in WordNet's reference texts), until none is left to drop.

``python -m dhne.datasets.wordnet DIR`` rebuilds the bundled files from WordNet's files in DIR.
"""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from dhne.datasets.wordnet_files import CATEGORIES, RELATIONS, IntArray, WordNet, read_wordnet
from dhne.errors import InputError
from dhne.network.edge_columns import EdgeColumns
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import HyperNetwork

NODE_TYPES = ("head", "relation", "tail")
SAMPLE_FOLDER = Path(__file__).parent / "wordnet_sample"

_PLACES = ("noun.location", "noun.object")
_AROUND = (*_PLACES, "noun.group", "noun.person", "noun.communication")
_FEWEST_TRIPLES, _FEWEST_IF_KNOWN, _KNOWN = 3, 2, 3


def build_wordnet(directory: str | os.PathLike[str], *, progress: bool = False) -> HyperNetwork:
    """Return all of WordNet as a hyper-network with readable names.

    Parameters
    ----------
    directory : path
        Directory of WordNet's database files; Debian's ``wordnet-base``: ``/usr/share/wordnet``.
    progress : bool
        Whether to show a progress bar.

    Raises
    ------
    InputError
        If a file is missing or damaged.
    """
    wordnet = read_wordnet(directory, progress=progress)
    return _network(_named(wordnet, wordnet.triples), wordnet.names, _categories(wordnet))


def build_sample(directory: str | os.PathLike[str], *, progress: bool = False) -> HyperNetwork:
    """Return the sample, rebuilt from WordNet's database files."""
    wordnet = read_wordnet(directory, uses=True, progress=progress)
    return _network(_sample_table(wordnet), wordnet.names, _categories(wordnet))


def load_sample() -> HyperNetwork:
    """Return the bundled sample.

    Examples
    --------
    >>> net = load_sample()
    >>> net
    HyperNetwork(5,893 hyperedges)
      nodes: head 1,048, relation 13, tail 1,048
      edges: (head, relation, tail) 5,893
      labels: head, tail
    >>> net.labels("head")[int(net.ids("head", ["paris.n.01"])[0])].as_py()
    ['noun.location']
    """
    triples = _read_csv(SAMPLE_FOLDER / "triples.csv")
    synsets = _read_csv(SAMPLE_FOLDER / "synsets.csv")
    return _network(triples, synsets["name"].combine_chunks(), synsets["category"].combine_chunks())


def write_sample(
    directory: str | os.PathLike[str], folder: Path = SAMPLE_FOLDER, *, progress: bool = False
) -> None:
    """Write the sample's files ``triples.csv`` and ``synsets.csv`` from WordNet's."""
    wordnet = read_wordnet(directory, uses=True, progress=progress)
    triples = _sample_table(wordnet)
    synsets = pa.table({"name": wordnet.names, "category": _categories(wordnet)})
    used = pc.is_in(synsets["name"], value_set=pc.unique(triples["head"]))
    _write_csv(triples, folder / "triples.csv")
    _write_csv(synsets.filter(used).sort_by("name"), folder / "synsets.csv")


def choose_sample(wordnet: WordNet) -> IntArray:
    """Return the triples ``int64[m, 3]`` that the sample's rule keeps."""
    n, triples = len(wordnet.names), wordnet.triples
    heads, relations, tails = triples.T
    instance = np.zeros(n, dtype=bool)
    instance[heads[relations == list(RELATIONS).index("@i")]] = True
    place = instance & np.isin(wordnet.categories, [CATEGORIES.index(c) for c in _PLACES])
    kept = place.copy()
    kept[tails[place[heads]]] = True
    kept &= np.isin(wordnet.categories, [CATEGORIES.index(c) for c in _AROUND])
    fewest = np.where(wordnet.uses >= _KNOWN, _FEWEST_IF_KNOWN, _FEWEST_TRIPLES)
    while True:
        inside: IntArray = triples[kept[heads] & kept[tails]]
        enough = kept & (np.bincount(inside[:, 0], minlength=n) >= fewest)
        if np.array_equal(enough, kept):
            return inside
        kept = enough


def _sample_table(wordnet: WordNet) -> pa.Table:
    table = _named(wordnet, choose_sample(wordnet))
    return table.sort_by([(node_type, "ascending") for node_type in NODE_TYPES])


def _named(wordnet: WordNet, triples: IntArray) -> pa.Table:
    relations = pa.array(list(RELATIONS.values()), pa.string())
    sources = (wordnet.names, relations, wordnet.names)
    columns = [source.take(pa.array(triples[:, p])) for p, source in enumerate(sources)]
    return pa.table(dict(zip(NODE_TYPES, columns, strict=True)))


def _categories(wordnet: WordNet) -> pa.Array:
    return pa.array(CATEGORIES, pa.string()).take(pa.array(wordnet.categories))


def _network(triples: pa.Table, names: pa.Array, categories: pa.Array) -> HyperNetwork:
    """Return the hyper-network of a table of names; only names in a triple become nodes."""
    columns = [triples[node_type].combine_chunks() for node_type in NODE_TYPES]
    network = HyperNetwork.from_columns([EdgeColumns(EdgeType(NODE_TYPES), columns)])
    return network.with_labels(
        {
            t: categories.take(pc.index_in(network.names(t), value_set=names))
            for t in ("head", "tail")
        }
    )


def _read_csv(path: Path) -> pa.Table:
    try:
        with path.open("rb") as file:
            columns = file.readline().decode().strip().split(",")
            file.seek(0)
            options = pacsv.ConvertOptions(column_types=dict.fromkeys(columns, pa.string()))
            return pacsv.read_csv(file, convert_options=options)
    except (OSError, pa.ArrowInvalid) as error:
        raise InputError(
            f"the bundled sample cannot be read ({error}); reinstall dhne", file=path
        ) from error


def _write_csv(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table.column_names)
        writer.writerows(zip(*(column.to_pylist() for column in table.columns), strict=True))


if __name__ == "__main__":
    write_sample(sys.argv[1] if len(sys.argv) > 1 else "/usr/share/wordnet", progress=True)
