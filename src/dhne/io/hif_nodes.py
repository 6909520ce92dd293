"""The nodes of a HIF file: numbered, with types, names and labels from their attributes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from dhne.errors import InputError
from dhne.files.reading import StrPath
from dhne.network.extras import TextColumn, as_texts
from dhne.network.vocabulary import Vocabulary

from .hif_extras import as_text, node_extra, own_part

IntArray = npt.NDArray[np.int64]
_UNTYPED = "node"


@dataclass
class Nodes:
    """Nodes numbered as they come, with what their attributes say."""

    number: dict[Any, int]  # by id; 1 and 1.0 are the same id, 1 and "1" are not
    attrs: list[dict[str, Any]]  # as they are; ours are among them or in an object of their own
    weights: dict[int, Any]
    types: dict[str, int]
    type_of: IntArray
    kinds: dict[str, str]
    has_ids: bool  # of their own, not made of type and name by us
    named: dict[str, bool] = field(default_factory=dict)  # whether names are from attributes

    @classmethod
    def collect(cls, found: dict[str, Any], metadata: dict[str, Any]) -> Nodes:
        """Number the nodes of a document; `metadata` is that of a file of our own."""
        number: dict[Any, int] = {}
        attrs: list[dict[str, Any]] = []
        weights: dict[int, Any] = {}
        for record in found.get("nodes", []):
            node = record["node"]
            if number.setdefault(node, len(attrs)) == len(attrs):
                attrs.append(record.get("attrs", {}))
            else:
                attrs[number[node]] = record.get("attrs", attrs[number[node]])
            if "weight" in record:
                weights[number[node]] = record["weight"]
        for record in found["incidences"]:
            number.setdefault(record["node"], len(number))
        attrs.extend({} for _ in range(len(number) - len(attrs)))
        names = metadata.get("node-types", [])
        types = {t: i for i, t in enumerate(names)}
        type_of = np.empty(len(attrs), np.int64)
        for i, attr in enumerate(attrs):
            t = own_part(attr).get("type")
            t = t if isinstance(t, str) else _UNTYPED
            type_of[i] = types.setdefault(t, len(types))
        return cls(
            number,
            attrs,
            weights,
            types,
            type_of,
            dict(zip(names, metadata.get("name-kinds", []), strict=True)),
            not metadata or metadata.get("node-ids") is True,
        )

    def by_type(
        self, file: StrPath
    ) -> tuple[dict[str, Vocabulary], IntArray, dict[str, list[list[str]]]]:
        """Return the vocabularies, each node's id within its type, and the labels."""
        ids = np.empty(len(self.attrs), np.int64)
        keys = list(self.number)
        vocabularies, labels = {}, {}
        for t, code in self.types.items():
            members = np.flatnonzero(self.type_of == code)
            ids[members] = np.arange(len(members))
            rows = members.tolist()
            attrs = [own_part(self.attrs[i]) for i in rows]
            names = [a.get("name") for a in attrs]
            typed = all(isinstance(a.get("type"), str) for a in attrs)
            self.named[t] = typed and _are_names(names)
            if not self.named[t]:
                names = [keys[i] for i in rows]
            vocabularies[t] = _vocabulary(names, t, self.kinds.get(t), file)
            found = [_labels(a.get("labels")) for a in attrs]
            if any(found):
                labels[t] = found
        return vocabularies, ids, labels

    def extras(self, vocabularies: dict[str, Vocabulary]) -> dict[str, TextColumn]:
        """Return what else the records of nodes hold, one text column per type that has any."""
        keys = list(self.number)
        columns = {}
        for t, code in self.types.items():
            rows = np.flatnonzero(self.type_of == code).tolist()
            names = vocabularies[t].names.to_pylist()
            texts = []
            for i, name in zip(rows, names, strict=True):
                key = keys[i] if self.has_ids else name
                weight = self.weights.get(i, 1)
                extra = node_extra(key, name, weight, self.attrs[i], named=self.named[t])
                texts.append(as_text(extra))
            column = as_texts(texts, len(texts))
            if column is not None:
                columns[t] = column
        return columns


def _are_names(names: list[Any]) -> bool:
    """Whether all are names of one kind, and no two are equal."""
    kinds = {type(n) for n in names}
    return len(kinds) == 1 and kinds <= {str, int} and len(set(names)) == len(names)


def _vocabulary(names: list[Any], t: str, kind: str | None, file: StrPath) -> Vocabulary:
    """Integers stay integers if all are and fit into 64 bits; otherwise all become strings."""
    whole = [int(n) if isinstance(n, float) else n for n in names]
    if not whole:
        empty: npt.NDArray[Any] = np.empty(0, np.int64)
        return Vocabulary(empty if kind == "integer" else [], node_type=t)
    fits = all(isinstance(n, int) and -(2**63) <= n < 2**63 for n in whole)
    texts = whole if fits else [str(n) for n in whole]
    if len(set(texts)) != len(texts):
        twice = Counter(texts).most_common(1)[0][0]
        raise InputError(
            f"nodes: the ids {twice} and {twice!r} are distinct in HIF but would become one name; "
            "rename one",
            file=file,
        )
    return Vocabulary(texts, node_type=t)


def _labels(found: Any) -> list[str]:
    if isinstance(found, str):
        return [found]
    return [x for x in found if isinstance(x, str)] if isinstance(found, list) else []
