"""A network as PyTorch Geometric's `HeteroData`, with a model's embeddings as node features.

Graphs have only pairs, so hyperedges are expanded in one of two ways:

star
    Each edge type becomes a node type, ``"user-movie-tag"``, with one node per hyperedge and its
    ``weight``; each position becomes an edge type ``("user", "position_0", "user-movie-tag")``.
    Nothing is lost: column e of every position belongs to hyperedge e.
clique
    Nodes that share a hyperedge are joined: ``("user", "with", "movie")``, with the total weight of
    the hyperedges they share as ``edge_weight``: the adjacency A = H W Hᵀ − D that the model learns
    from. It is lost which pairs belong to the same hyperedge.

Edges point from the earlier node type to the later one;
``torch_geometric.transforms.ToUndirected()`` adds the reverse. Within one node type both exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dhne.adjacency import adjacency
from dhne.embedder import Embedder
from dhne.errors import ParameterError, require
from dhne.network.hypernetwork import HyperNetwork
from dhne.network.labels import label_matrix

if TYPE_CHECKING:
    from torch_geometric.data import HeteroData


def to_pyg(
    network: HyperNetwork,
    model: Embedder | None = None,
    *,
    expansion: Literal["star", "clique"] = "star",
) -> HeteroData:
    """Return a network as `torch_geometric.data.HeteroData`; row i of a node type is node i.

    Parameters
    ----------
    network : HyperNetwork
    model : Embedder, optional
        Fitted on the same nodes; its embeddings become ``x``.
    expansion : {"star", "clique"}
        See the module docstring.

    Returns
    -------
    HeteroData
        Labelled node types have ``y: float32[n, classes]``, 1 where a node has a label; the classes
        are the labels in alphabetical order.

    Examples
    --------
    >>> net = HyperNetwork.from_tuples([("ann", "Heat", "noir")], ("user", "movie", "tag"))
    >>> to_pyg(net, expansion="clique").edge_types
    [('user', 'with', 'movie'), ('user', 'with', 'tag'), ('movie', 'with', 'tag')]
    """
    if expansion not in ("star", "clique"):
        raise ParameterError(f"expansion must be 'star' or 'clique', got {expansion!r}")
    data = require("torch_geometric.data", extra="interop", package="torch-geometric").HeteroData()
    if model is not None:
        _check_same_nodes(network, model)
    torch = require("torch", extra="interop")
    for t in network.node_types:
        data[t].num_nodes = network.num_nodes(t)
        if model is not None:
            data[t].x = torch.from_numpy(model.vectors_[t].copy())
        labels = network.labels(t)
        if labels is not None:
            data[t].y = torch.from_numpy(label_matrix(labels)[1].astype(np.float32))
    (_add_star if expansion == "star" else _add_clique)(data, network, torch)
    return data


def _check_same_nodes(network: HyperNetwork, model: Embedder) -> None:
    model._check_fitted()
    for t in network.node_types:
        known = t in model.network_.node_types
        if not known or model.network_.vocabulary(t) != network.vocabulary(t):
            raise ParameterError(f"the model was fitted on a network with different {t!r} nodes")


def _add_star(data: HeteroData, network: HyperNetwork, torch: Any) -> None:
    for edges in network.edge_sets:
        name = "-".join(edges.types)
        while name in network.node_types:
            name += "+"
        data[name].num_nodes = len(edges)
        data[name].weight = torch.from_numpy(edges.weights.astype(np.float32))
        rows = np.arange(len(edges))
        for position, t in enumerate(edges.types):
            pairs = np.stack([edges.nodes[:, position], rows])
            data[t, f"position_{position}", name].edge_index = torch.from_numpy(pairs)


def _add_clique(data: HeteroData, network: HyperNetwork, torch: Any) -> None:
    order = {t: i for i, t in enumerate(network.node_types)}
    for t, a in adjacency(network, dtype=np.float64).items():
        entries = a.matrix.tocoo()
        weights = entries.data * a.column_max[entries.col]
        for u, first in a.blocks.items():
            if order[u] < order[t]:
                continue
            here = (entries.col >= first) & (entries.col < first + a.sizes[u])
            pairs = np.stack([entries.row[here], entries.col[here] - first]).astype(np.int64)
            data[t, "with", u].edge_index = torch.from_numpy(pairs)
            data[t, "with", u].edge_weight = torch.from_numpy(weights[here].astype(np.float32))
