"""What ``dhne evaluate`` measures on: a dataset, files with a split, or a run with a test file."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dhne.errors import ParameterError

from .output import note
from .remembered import reading_of
from .run_source import run_dataset, run_source
from .source import is_dataset, is_run, open_source

if TYPE_CHECKING:
    from dhne.embedder import Embedder
    from dhne.evaluation import Data
    from dhne.network.hypernetwork import HyperNetwork

_HELD_OUT = ("link-prediction", "completion")


@dataclass(frozen=True)
class Files:
    """What was named on the command line, and how to read it.

    Attributes
    ----------
    source : a dataset, files, or a run
    test, valid, known : files in the same format
    labels : a table of labels, optional
    reading : options of `open_source`
    """

    source: list[str]
    test: list[str]
    valid: list[str]
    known: list[str]
    labels: Path | None
    reading: dict[str, Any]
    run: str | None = None

    @property
    def beside(self) -> dict[str, list[str]]:
        """The files beside SOURCE that were named, by option."""
        parts = {"--test": self.test, "--valid": self.valid, "--known": self.known}
        return {option: names for option, names in parts.items() if names}

    def read(self, names: list[str]) -> HyperNetwork | None:
        """Return the network of some files beside SOURCE, or None if there are none."""
        if not names:
            return None
        if self.run is not None:
            return open_source(names, **reading_of(self.run, names, self.reading))
        reading = dict(self.reading)
        for option in ("columns", "weight"):
            values = reading[option] or []
            if len(values) > 1 and len(values) == len(self.source):
                raise ParameterError(
                    f"with --test, --valid or --known, give --{option} once for all files"
                )
        return open_source(names, **reading)


@dataclass(frozen=True)
class Opened:
    """The data of an evaluation, the model if it was trained before, and what to record."""

    data: Data
    model: Embedder | None = None
    about: dict[str, Any] = field(default_factory=dict)


def open_data(task: str, files: Files, *, skip_unknown: bool = False) -> Opened:
    """Return what to evaluate on.

    Parameters
    ----------
    task : str
    files : Files
    skip_unknown : bool
        For a run: whether to leave out test hyperedges with names that it does not know.
    """
    if files.beside and task not in _HELD_OUT:
        names = ", ".join(files.beside)
        raise ParameterError(f"{names} is for link-prediction and completion, not for {task}")
    if files.valid and not files.test:
        raise ParameterError("--valid is for a split of your own; name its --test FILE too")
    if len(files.source) == 1 and is_run(files.source[0]):
        return _open_run(task, files, skip_unknown=skip_unknown)
    if skip_unknown:
        raise ParameterError("--skip-unknown is for a run; a training learns all names")
    return Opened(_open_source(files))


def _open_source(files: Files) -> Data:
    """A dataset keeps its split, unless a test file is named; files are one network or a split."""
    from dhne.network.matching import match_nodes, number_alike

    data = _data(files)
    test, valid, known = (files.read(names) for names in (files.test, files.valid, files.known))
    if test is not None:
        parts = [data.train, test] if valid is None else [data.train, test, valid]
        train, test, *rest = number_alike(parts)
        data = replace(data, train=train, test=test, valid=rest[0] if rest else None)
    if known is None:
        return data
    more = match_nodes(data.whole, known)[0]
    return replace(data, known=more)


def _data(files: Files) -> Data:
    from dhne.evaluation import Data

    source, reading = files.source, files.reading
    if len(source) == 1 and is_dataset(source[0]) and not (files.labels or any(reading.values())):
        from dhne.datasets import load_dataset

        return Data.of(load_dataset(source[0], progress=True))
    return Data(" ".join(source), open_source(source, labels=files.labels, **reading))


# -- runs ----------------------------------------------------------------------------------------


def _open_run(task: str, files: Files, *, skip_unknown: bool) -> Opened:
    from dhne.evaluation import Data, held_out_data
    from dhne.io import add_labels
    from dhne.methods import load

    run = files.source[0]
    if files.valid:
        raise ParameterError("a run is evaluated as it is; leave out --valid")
    model: Embedder = load(run)
    if task not in _HELD_OUT:
        network = model.network_
        if files.labels is not None:
            network = add_labels(network, files.labels)
        return Opened(Data(run, network), model)
    test, known = _held_out(run, replace(files, run=run))
    data, left_out = held_out_data(model, test, known=known, skip_unknown=skip_unknown, name=run)
    if (entry := run_dataset(run)) is not None:
        data = replace(data, positions=entry.positions)
    if left_out:
        note(f"{left_out:,} of {test.num_edges():,} test hyperedges left out: unknown names")
    _note_learned(data)
    return Opened(data, model, {"left_out": left_out, "run": run})


def _held_out(run: str, files: Files) -> tuple[HyperNetwork, HyperNetwork | None]:
    """Return the test hyperedges, and more known ones: from files, or of the run's dataset."""
    entry = run_dataset(run)
    test, known = files.read(files.test), files.read(files.known)
    if test is not None:
        return test, known
    if entry is None or run_source(run).get("split") != "train":
        raise ParameterError(
            "a run is tested on hyperedges that it has not learned from; name them: --test FILE"
        )
    from dhne.datasets import load_dataset

    dataset = load_dataset(entry.name, progress=True)
    if dataset.valid is not None:
        known = dataset.valid if known is None else dataset.valid.merge(known)
    return dataset.test, known


def _note_learned(data: Data) -> None:
    """Say how many test hyperedges the run has learned from."""
    from dhne.sampling import KnownEdges

    assert data.test is not None
    learned = KnownEdges(data.train)
    count = sum(int(learned.contains(e.nodes, e.types).sum()) for e in data.test.edge_sets)
    if count:
        note(
            f"the run has learned from {count:,} of the {data.test.num_edges():,} test hyperedges; "
            "--protocol clean leaves them out"
        )
