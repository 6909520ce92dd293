"""DeepWalk, node2vec and LINE on a graph whose answer is known: the karate club's two factions."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from dhne import HyperNetwork
from dhne.methods import make_method


@pytest.fixture(scope="module")
def club() -> tuple[HyperNetwork, np.ndarray]:
    graph = nx.karate_club_graph()
    edges = np.array(list(graph.edges))
    faction = np.array([graph.nodes[i]["club"] == "Officer" for i in graph])
    return HyperNetwork.from_arrays({("member", "member"): edges}, ordered=False), faction


SETTINGS: dict[str, dict[str, Any]] = {
    "deepwalk": {"epochs": 5},
    "node2vec": {"epochs": 5, "q": 0.5},
    "line": {"epochs": 200, "order": "second"},
    "she": {"dim": 2},
}


@pytest.mark.parametrize("name", sorted(SETTINGS))
def test_members_of_one_faction_are_closer(
    name: str, club: tuple[HyperNetwork, np.ndarray]
) -> None:
    network, faction = club
    model = make_method(name, dim=16, settings=SETTINGS[name]).fit(network)
    pairs = np.stack(np.triu_indices(len(faction), 1), axis=1)
    same = faction[pairs[:, 0]] == faction[pairs[:, 1]]
    assert roc_auc_score(same, model.score(pairs)) > 0.75


@pytest.mark.parametrize("name", ["deepwalk", "node2vec"])
def test_one_dimension_of_the_vectors_separates_the_factions(
    name: str, club: tuple[HyperNetwork, np.ndarray]
) -> None:
    network, faction = club
    vectors = make_method(name, dim=16, settings={"epochs": 5}).fit(network).embeddings_["member"]
    centred = vectors - vectors.mean(axis=0)
    axis = np.linalg.svd(centred, full_matrices=False)[2][0]
    auc = roc_auc_score(faction, centred @ axis)
    assert max(auc, 1 - auc) > 0.9


def test_walk_vectors_agree_with_the_factorisation_they_converge_to(
    club: tuple[HyperNetwork, np.ndarray],
) -> None:
    """Skip-gram with b negatives factorises log(vol/T Σ_r P^r D^-1) − log b (Qiu et al., 2018)."""
    network, _ = club
    graph = nx.to_numpy_array(nx.karate_club_graph(), weight=None)
    degree = graph.sum(axis=1)
    steps, power = np.zeros_like(graph), np.eye(len(graph))
    window, weight_sum = 5, 0.0
    for r in range(1, window + 1):
        power = power @ (graph / degree[:, None])
        weight = (window - r + 1) / window  # gensim shrinks windows at random
        steps += weight * power
        weight_sum += weight
    target = np.log(np.maximum(degree.sum() / weight_sum * steps / degree[None, :], 1e-2))
    settings = {"window": window, "num_walks": 80, "epochs": 5}
    model = make_method("node2vec", dim=32, settings=settings).fit(network)
    pairs = np.stack(np.triu_indices(len(graph), 1), axis=1)
    values, vectors = np.linalg.eigh((target + target.T) / 2)
    best = np.argsort(-np.abs(values))[:8]
    root = vectors[:, best] * np.sqrt(np.abs(values[best]))
    root /= np.linalg.norm(root, axis=1, keepdims=True)
    expected = np.einsum("ij,ij->i", root[pairs[:, 0]], root[pairs[:, 1]])
    assert np.corrcoef(expected, model.score(pairs))[0, 1] > 0.6
