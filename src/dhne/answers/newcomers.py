"""Embeddings of nodes that were not trained on, from their hyperedges.

For a new node v the row A_v is counted in its hyperedges, over the columns of training, and
scaled as in training; then x_v = σ(A_v W + b). The cost is the node's degree times d. The vector
of the node comes from the same row: see `dhne.answers.propagation`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from dhne.adjacency import AdjacencyMatrix
from dhne.errors import InputError, ParameterError
from dhne.io.tables import as_network
from dhne.kernels import RowSelection
from dhne.kernels.reference import ReferenceKernels
from dhne.model.joint import DHNEModel
from dhne.model.row_encoding import RowEncoding
from dhne.network.edge_columns import EdgeColumns
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.memory_tables import is_table
from dhne.network.tuples import type_of

_ROWS = 1 << 16  # new nodes embedded at once


@dataclass(frozen=True)
class Newcomers:
    """New hyperedges over the nodes of training and those beyond them.

    Attributes
    ----------
    network : HyperNetwork
        All nodes, known ones with their training ids, but only the new hyperedges.
    nodes : mapping of node type to int64[k]
        The nodes of the new hyperedges, and new nodes without hyperedges.
    num_known : mapping of node type to int
    """

    network: HyperNetwork
    nodes: dict[str, npt.NDArray[np.int64]]
    num_known: dict[str, int]

    @classmethod
    def of(cls, known: HyperNetwork, edges: Any, *, new_types: bool = False) -> Newcomers:
        """Match the nodes of `edges` with those of training, by name.

        `new_types` allows node types that training has not seen.
        """
        new = new_network(known, edges)
        unknown = set(new.node_types) - set(known.node_types)
        if unknown and not new_types:
            raise InputError(
                f"the new edges have the node types {', '.join(sorted(unknown))}, which the model "
                f"does not know; it knows {', '.join(known.node_types)}"
            )
        both = known.with_edges([]).merge(new, fold=False)
        num_known = dict.fromkeys(new.node_types, 0)
        num_known |= {t: known.num_nodes(t) for t in known.node_types}
        nodes = {}
        for t in new.node_types:
            is_new = np.arange(both.num_nodes(t)) >= num_known[t]
            nodes[t] = np.flatnonzero(is_new | (both.degrees(t) > 0))
        return cls(both, nodes, num_known)

    def embed(
        self,
        model: DHNEModel,
        encodings: Mapping[str, RowEncoding],
        rows: Mapping[str, sp.csr_array],
    ) -> dict[str, npt.NDArray[np.float32]]:
        """Return the embeddings of the new nodes of each type, in the order of their ids.

        `rows` comes from the method of that name.
        """
        kernels = ReferenceKernels()
        dtype = next(model.parameters()).dtype
        found = {}
        for t, of in rows.items():
            cpu = torch.device("cpu")
            matrix = encodings[t].matrix(device=cpu, dtype=dtype, of=of)
            parts = []
            with torch.no_grad():
                for start in range(0, matrix.num_rows, _ROWS):
                    chosen = torch.arange(start, min(start + _ROWS, matrix.num_rows))
                    plan = kernels.prepare(RowSelection(matrix, chosen))
                    parts.append(model.autoencoder(t).encode(kernels, plan).float().numpy())
            width = model.autoencoder(t).dim
            found[t] = np.concatenate(parts) if parts else np.empty((0, width), np.float32)
        return found

    def rows(
        self, matrices: Mapping[str, AdjacencyMatrix], *, isolated: str = "raise"
    ) -> dict[str, sp.csr_array]:
        """Return the adjacency rows of the new nodes of each type, scaled as in training."""
        if isolated not in ("raise", "keep"):
            raise ParameterError(f"isolated must be 'raise' or 'keep', got {isolated!r}")
        found = {}
        for t, ids in self.nodes.items():
            new = ids[ids >= self.num_known[t]]
            rows = matrices[t].rows_from(self.network.edge_sets, new)
            if len(rows.empty) and isolated == "raise":
                names = self.network.vocabulary(t).take(new[rows.empty[:5]]).to_pylist()
                raise InputError(
                    f"{len(rows.empty)} new nodes of type {t!r} share no hyperedge with a known "
                    f"node, so nothing is known about them: {', '.join(map(repr, names))}"
                    f"{' …' if len(rows.empty) > 5 else ''}; "
                    "leave them out, or pass isolated='keep'"
                )
            found[t] = rows.matrix
        return found


def new_network(known: HyperNetwork, edges: Any) -> HyperNetwork:
    """Return new hyperedges (a network, a table, or tuples of names) as a network."""
    if is_table(edges):
        edges = as_network(edges)
    return edges if isinstance(edges, HyperNetwork) else _from_tuples(known, edges)


def _from_tuples(known: HyperNetwork, tuples: Any) -> HyperNetwork:
    """Return tuples of names as a network; the number of names determines the edge type."""
    rows = [tuple(t) for t in tuples]
    tables = []
    for length in sorted({len(r) for r in rows}):
        types = type_of(known, length)
        mine = [r for r in rows if len(r) == length]
        columns = [[r[p] for r in mine] for p in range(length)]
        tables.append(EdgeColumns(types, columns))
    return HyperNetwork.from_columns(tables)
