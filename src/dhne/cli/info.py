"""``dhne info``: what is in a dataset, a file or a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from .output import console, write_json
from .source import complete_source, is_dataset, is_run, open_source
from .source_options import with_source

if TYPE_CHECKING:
    from dhne.datasets import Dataset
    from dhne.network.hypernetwork import HyperNetwork


@with_source()
def command(
    reading: dict[str, Any],
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE…",
            autocompletion=complete_source,
            help="A dataset's name, one or several files, or a run.",
        ),
    ],
    json: Annotated[
        str | None,
        typer.Option("--json", metavar="FILE", help="Write JSON; - for standard output."),
    ] = None,
) -> None:
    """Show what is in a dataset, in files or in a run: types, nodes, hyperedges, degrees, repeats.

    [bold]Examples[/bold]

    dhne info wordnet-sample

    dhne info tags.csv --columns user=userId,movie=movieId,tag=tag

    dhne info follows.csv --columns person=who,person=whom

    dhne info facts.tsv --facts 1

    dhne info runs/tags --json -
    """
    from .info_tables import show_network, show_run

    if len(sources) == 1 and is_run(sources[0]):
        from .run_info import describe_run

        report = describe_run(sources[0])
        show = show_run
    else:
        report = _describe(sources, reading)
        show = show_network
    if json is not None:
        write_json(report, json)
    if json != "-":
        show(report, console())


def _describe(sources: list[str], reading: dict[str, Any]) -> dict[str, Any]:
    if len(sources) == 1 and is_dataset(sources[0]) and not any(reading.values()):
        return _describe_dataset(sources[0])
    network = open_source(sources, **reading)
    return {"source": sources, **network.statistics()}


def _describe_dataset(name: str) -> dict[str, Any]:
    from dhne.datasets import load_dataset

    dataset = load_dataset(name, progress=True)
    entry = dataset.entry
    return {
        "source": [name],
        "title": entry.title,
        "description": entry.description,
        "citation": entry.source,
        "caution": entry.caution or None,
        **dataset.whole.statistics(),
        "parts": _parts(dataset),
    }


def _parts(dataset: Dataset) -> dict[str, Any]:
    """Count the hyperedges of each part, and those of test that are in train already."""
    record: dict[str, Any] = {}
    for part, network in dataset.parts.items():
        distinct = sum(e.num_distinct() for e in network.edge_sets)
        record[part] = {"edges": network.num_edges(), "distinct": distinct}
        record[part]["repeats"] = network.num_edges() - distinct
    record["test_in_train"] = _seen(dataset.train, dataset.test)
    return record


def _seen(train: HyperNetwork, test: HyperNetwork) -> int:
    """How many of test's hyperedges are one of train's."""
    import numpy as np

    from dhne.network.edge_keys import edge_keys

    total = 0
    for edges in test.edge_sets:
        if edges.types in train.edge_types:
            sizes = test.position_sizes(edges.types)
            known = edge_keys(train.edges(edges.types), sizes)
            total += int(np.isin(edge_keys(edges.nodes, sizes), known).sum())
    return total
