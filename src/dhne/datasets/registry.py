"""Datasets by name: `load_dataset`, `list_datasets` and `build`.

The paper's four come with the authors' split, their nodes named 0 … n-1; public facts come with
their published train, valid and test parts. All parts contain all nodes, including those without an
edge in that part, so an id means the same node in each.
"""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from pathlib import Path
from typing import Any, Literal, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from dhne.datasets import store, wordnet
from dhne.datasets.catalogue import CATALOGUE, Entry
from dhne.errors import InputError, ParameterError, UnknownNameError
from dhne.io.facts import facts_network
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.matching import number_alike

Split = Literal["train", "valid", "test", "all"]

_HELD_OUT = 0.2  # of the sample; about as much as in the paper's files


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset in its parts.

    Attributes
    ----------
    entry : Entry
        Name, title, node types, source, labels, caution.
    train, test : HyperNetwork
        Both contain all nodes.
    valid : HyperNetwork or None
        The validation part, if one was published.

    Examples
    --------
    >>> data = load_dataset("wordnet-sample")
    >>> data.train.num_edges(), data.test.num_edges(), data.whole.num_edges()
    (4714, 1179, 5893)
    """

    entry: Entry
    train: HyperNetwork
    test: HyperNetwork
    valid: HyperNetwork | None = None

    @property
    def parts(self) -> dict[str, HyperNetwork]:
        """The parts that there are, by name."""
        parts = {"train": self.train, "valid": self.valid, "test": self.test}
        return {name: part for name, part in parts.items() if part is not None}

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self.entry.name

    @cached_property
    def whole(self) -> HyperNetwork:
        """All parts together, including repeats."""
        return reduce(lambda one, other: one.merge(other, fold=False), self.parts.values())

    def split(self, which: Split) -> HyperNetwork:
        """Return the part of that name: "train", "valid", "test", or "all" for all together."""
        if which == "all":
            return self.whole
        if which not in self.parts:
            there = ", ".join(map(repr, self.parts))
            raise ParameterError(f"split must be {there} or 'all' for {self.name}, got {which!r}")
        return self.parts[which]

    def __repr__(self) -> str:
        parts = ", ".join(f"{name} {part.num_edges():,}" for name, part in self.parts.items())
        return f"Dataset({self.name!r}, {parts} hyperedges)"


@dataclass(frozen=True)
class Availability:
    """A dataset of the catalogue and its location: a directory, "bundled", or None."""

    entry: Entry
    where: str | None


def list_datasets() -> list[Availability]:
    """Return all datasets and their locations.

    Examples
    --------
    >>> [a.entry.name for a in list_datasets() if a.entry.bundled]
    ['wordnet-sample']
    """
    found = []
    for entry in CATALOGUE.values():
        folder = None if entry.bundled else store.find(entry)
        where = "bundled" if entry.bundled else str(folder) if folder else None
        found.append(Availability(entry, where))
    return found


@overload
def load_dataset(
    name: str, split: None = None, *, download: bool = True, progress: bool = False
) -> Dataset: ...


@overload
def load_dataset(
    name: str, split: Split, *, download: bool = True, progress: bool = False
) -> HyperNetwork: ...


@overload
def load_dataset(
    name: str, split: Split | None = None, *, download: bool = True, progress: bool = False
) -> Dataset | HyperNetwork: ...


def load_dataset(
    name: str, split: Split | None = None, *, download: bool = True, progress: bool = False
) -> Dataset | HyperNetwork:
    """Return a dataset, or one part of it, by name.

    Parameters
    ----------
    name : str
        "gps", "movielens", "drug", "wordnet", "wordnet-sample", "kinships", "umls" or "jf17k".
    split : "train", "valid", "test" or "all", optional
        The part to return as a network; by default, a `Dataset` with all parts.
    download : bool
        Whether to download files that are neither in ``DHNE_DATA`` nor in the cache.
    progress : bool
        Whether to show a progress bar for downloads.

    Raises
    ------
    UnknownNameError
        If the dataset does not exist.
    InputError
        If its files cannot be found, or are not the released ones.

    Examples
    --------
    >>> load_dataset("wordnet-sample")
    Dataset('wordnet-sample', train 4,714, test 1,179 hyperedges)
    >>> load_dataset("wordnet-sample", "train").num_nodes("relation")
    13
    """
    if name not in CATALOGUE:
        raise UnknownNameError("dataset", name, CATALOGUE)
    entry = CATALOGUE[name]
    if entry.bundled:
        dataset = Dataset(entry, *_split_keeping_nodes(wordnet.load_sample()))
    else:
        files = store.obtain(entry, download=download, progress=progress)
        dataset = (
            _facts(entry, files) if entry.relation else Dataset(entry, *_released(entry, files))
        )
    return dataset if split is None else dataset.split(split)


BUILDERS: dict[str, Callable[..., HyperNetwork]] = {
    "wordnet": wordnet.build_wordnet,
    "wordnet-sample": wordnet.build_sample,
}


def build(
    name: str, from_directory: str | os.PathLike[str], *, progress: bool = False
) -> HyperNetwork:
    """Build a dataset from its source files.

    Parameters
    ----------
    name : str
        "wordnet" (all of WordNet, with names) or "wordnet-sample".
    from_directory : path
        Directory of WordNet's database files; ``/usr/share/wordnet`` on Debian.
    progress : bool
        Whether to show a progress bar.

    Returns
    -------
    HyperNetwork
        Write it with :func:`dhne.write`.
    """
    if name not in BUILDERS:
        raise UnknownNameError("dataset to build", name, BUILDERS)
    return BUILDERS[name](Path(from_directory), progress=progress)


def _split_keeping_nodes(network: HyperNetwork) -> tuple[HyperNetwork, HyperNetwork]:
    """Hold out edges so that every node keeps one in train, as in the released splits.

    Edges are shuffled. An edge that is the first of any of its nodes stays in train; of the others,
    the first ones go to the test part.
    """
    edges = network.edges()
    order = np.random.default_rng(0).permutation(len(edges))
    first = [np.unique(edges[order, p], return_index=True)[1] for p in range(edges.shape[1])]
    free = np.setdiff1d(np.arange(len(edges)), np.concatenate(first))
    held_out = np.zeros(len(edges), dtype=bool)
    held_out[order[free[: round(_HELD_OUT * len(edges))]]] = True
    return network.subset(~held_out), network.subset(held_out)


def _facts(entry: Entry, files: dict[str, bytes]) -> Dataset:
    """Return the parts of a dataset of facts."""
    parts = []
    for name in ("train.txt", "test.txt", "valid.txt"):
        skip = int(name in entry.numbered)
        file = f"{entry.folder}/{name}"
        parts.append(facts_network(files[name], entry.relation, skip=skip, file=file))
    return Dataset(entry, *number_alike(parts))


# -- the released files --------------------------------------------------------------------------


def _released(entry: Entry, files: dict[str, bytes]) -> tuple[HyperNetwork, HyperNetwork]:
    """Return the two networks of the authors' files, whose checksums have matched."""
    train = _arrays(entry, "train_data.npz", files)
    test = _arrays(entry, "test_data.npz", files)
    sizes = dict(zip(entry.node_types, train["nums_type"].tolist(), strict=True))
    labels = _labels(entry, train)
    parts = []
    for arrays, key in ((train, "train_data"), (test, "test_data")):
        edges: dict[Sequence[str], npt.ArrayLike] = {}
        edges[entry.node_types] = _as_ids(arrays[key], entry, key)
        parts.append(HyperNetwork.from_arrays(edges, sizes).with_labels(labels))
    return parts[0], parts[1]


def _arrays(entry: Entry, name: str, files: dict[str, bytes]) -> dict[str, npt.NDArray[Any]]:
    try:
        # Labels are a pickled object array; the checksum proves that these are the authors' bytes.
        with np.load(io.BytesIO(files[name]), allow_pickle=True) as archive:
            return dict(archive)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(f"cannot be read ({error})", file=f"{entry.folder}/{name}") from error


def _as_ids(edges: npt.NDArray[Any], entry: Entry, key: str) -> npt.NDArray[np.int64]:
    """Return node ids as integers; MovieLens stores them as floats, which must be whole."""
    ids = edges.astype(np.int64)
    if not np.array_equal(ids, edges):
        raise InputError(f"{entry.name}: {key} has node ids that are not whole numbers")
    return ids


def _labels(entry: Entry, arrays: dict[str, npt.NDArray[Any]]) -> dict[str, pa.Array]:
    """Return the labels, one list of names per node of the labelled type."""
    if "labels" not in arrays:
        return {}
    names = pa.array([name.decode() for name in arrays["label_name"].tolist()], pa.string())
    rows = arrays["labels"]
    lengths = np.fromiter(map(len, rows), dtype=np.int32, count=len(rows))
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    flat = np.concatenate([np.asarray(row, dtype=np.int64) for row in rows])
    values = names.take(pa.array(flat))
    return {entry.node_types[int(arrays["idx_label"])]: pa.ListArray.from_arrays(offsets, values)}
