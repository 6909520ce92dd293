"""What a network carries from a HIF file that other formats cannot hold, in a few words each.

It is listed when a network is written to such a format, so that nothing is dropped without a word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

from dhne.network.hypernetwork import HyperNetwork

_NAMED, _LETTERS = 5, 40  # attributes that are named, and how much of each name


def listed_extras(network: HyperNetwork) -> list[str]:
    """Return what there is besides types, names, labels, directions, weights and times.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from dhne.network.extras import Extras
    >>> net = HyperNetwork.from_tuples([("ann", "Heat")], ("user", "movie"))
    >>> listed_extras(net)
    []
    >>> nodes = {"user": pa.array(['{"weight": 3, "attrs": {"colour": "red"}}'])}
    >>> listed_extras(HyperNetwork({"user": net.vocabulary("user")}, [], extras=Extras(nodes)))
    ['attributes of nodes (colour)', 'weights of nodes']
    """
    nodes = [json.loads(t) for column in network.extras.nodes.values() for t in _texts(column)]
    edges = [json.loads(t) for e in network.edge_sets for t in _texts(e.extras)]
    incidences = [kept for e in edges for *_, kept in e.get("incidences", ())]
    whole = json.loads(network.extras.network or "{}")
    return [
        *_of_records("nodes", nodes),
        *_of_records("edges", edges),
        *_of_records("incidences", incidences),
        *(["metadata"] if "metadata" in whole else []),
        *([f"the network type {whole['network-type']}"] if "network-type" in whole else []),
    ]


def _texts(column: Any) -> Iterable[str]:
    return () if column is None else column.drop_null().to_pylist()


def _of_records(kind: str, records: list[dict[str, Any]]) -> Iterator[str]:
    if any("node" in r or "edge" in r for r in records):
        yield f"ids of {kind}"
    names = list(dict.fromkeys(key for r in records for key in r.get("attrs", ())))
    if names:
        shown = ", ".join(name[:_LETTERS] for name in names[:_NAMED]) + (
            ", …" if len(names) > _NAMED else ""
        )
        yield f"attributes of {kind} ({shown})"
    for key in ("weight", "direction"):
        if any(key in r for r in records):
            yield f"{key}s of {kind}"
