"""Networks as PyTorch Geometric's HeteroData."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from torch_geometric.nn import HeteroConv, SAGEConv
from torch_geometric.transforms import ToUndirected

from dhne import HyperNetwork
from dhne.adjacency import adjacency
from dhne.errors import ParameterError
from dhne.interop import to_pyg
from dhne.network.edges import EdgeSet
from tests.interop.models import clusters, films, fitted
from tests.random_networks import networks

LONELY = "ignore:The node types:UserWarning"  # a type without a hyperedge is meant


@pytest.mark.filterwarnings(LONELY)
@given(network=networks(labels=None))
def test_the_star_loses_nothing(network: HyperNetwork) -> None:
    data = to_pyg(network)
    data.validate()
    edge_sets = []
    for e in network.edge_sets:
        name = "-".join(e.types)
        columns = []
        for position, t in enumerate(e.types):
            node, edge = data[t, f"position_{position}", name].edge_index
            assert edge.tolist() == list(range(len(e)))
            columns.append(node.numpy())
        weights = data[name].weight.numpy()
        edge_sets.append(EdgeSet.build(e.types, np.stack(columns, 1), weights))
    assert network.with_edges(edge_sets) == network


@pytest.mark.filterwarnings(LONELY)
@given(network=networks(labels=None))
def test_the_clique_is_the_adjacency(network: HyperNetwork) -> None:
    data = to_pyg(network, expansion="clique")
    data.validate()
    for t, a in adjacency(network).items():
        for u, first in a.blocks.items():
            dense = (a.matrix.toarray() * a.column_max)[:, first : first + a.sizes[u]]
            forward = (t, "with", u) in data.edge_types
            store = data[t, "with", u] if forward else data[u, "with", t]
            found = torch.zeros(dense.shape if forward else dense.shape[::-1])
            found[tuple(store.edge_index)] = store.edge_weight
            np.testing.assert_allclose(found if forward else found.T, dense, rtol=1e-5)


def test_embeddings_are_features_and_a_network_can_be_run_over_them() -> None:
    model, network = fitted(), clusters()
    data = ToUndirected()(to_pyg(network, model, expansion="clique"))
    for t in network.node_types:
        np.testing.assert_array_equal(data[t].x, model.vectors_[t])
    convolution = HeteroConv({r: SAGEConv((8, 8), 4) for r in data.edge_types})
    out = convolution(data.x_dict, data.edge_index_dict)
    assert {t: x.shape for t, x in out.items()} == {
        t: (network.num_nodes(t), 4) for t in network.node_types
    }


def test_labels_are_targets() -> None:
    data = to_pyg(films())
    assert data["movie"].y.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert "y" not in data["user"]
    assert data["user"].num_nodes == 3


def test_a_hyperedge_type_never_takes_a_node_types_name() -> None:
    network = HyperNetwork.from_tuples([("x", "y")], ("a", "a-a")).merge(
        HyperNetwork.from_tuples([("x", "z")], ("a", "a"))
    )
    assert "a-a+" in to_pyg(network).node_types


def test_mistakes() -> None:
    with pytest.raises(ParameterError, match="different 'user' nodes"):
        to_pyg(films(), fitted())
    with pytest.raises(ParameterError, match="'star' or 'clique'"):
        to_pyg(films(), expansion="line")  # type: ignore[arg-type]
