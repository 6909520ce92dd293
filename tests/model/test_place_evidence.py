"""Place evidence: its weights are bounded, whatever the number of relations and positions."""

from __future__ import annotations

import numpy as np
import torch

from dhne import DHNE, HyperNetwork
from dhne.model.place_evidence import LONGEST, PlaceEvidence


def test_only_the_most_frequent_place_pairs_have_weights_in_both_directions() -> None:
    """400 relations between four entities have 4,800 place pairs; the first relations are rare."""
    rng = np.random.default_rng(0)
    relation = np.concatenate([np.arange(400), rng.integers(200, 400, 4000)])
    nodes = np.column_stack([relation, *rng.integers(0, 50, (4, len(relation)))])
    network = HyperNetwork.from_arrays({("relation", *["entity"] * 4): nodes})
    evidence = PlaceEvidence(network, "relation")
    assert evidence.num_places == len(evidence.weights) == 2048
    (types,) = network.edge_types
    frequent, rare = (torch.full((1, 5), r) for r in (300, 3))
    for i, p in evidence.pairs(types):
        numbers = [evidence.place_pairs(frequent, types, *pair) for pair in ((i, p), (p, i))]
        assert min(int(n) for n in numbers) >= -1
        assert (int(numbers[0]) >= 0) == (int(numbers[1]) >= 0), "a pair is kept in both directions"
        assert int(evidence.place_pairs(rare, types, i, p)) == -1
    torch.nn.init.normal_(evidence.weights)
    ids = torch.from_numpy(network.edge_set().nodes.copy())
    column, sums = torch.arange(50), []
    with torch.no_grad():
        for p in range(1, 5):
            beside = evidence.beside(ids, types, p)
            found = evidence.of_candidates(beside, column, (len(ids), 50))
            assert torch.isfinite(found).all()
            rest = evidence.of_tuples(ids, types, p)
            sums.append(found.gather(1, ids[:, p : p + 1])[:, 0] + rest)
    for whole in sums:
        torch.testing.assert_close(whole, evidence.of_tuples(ids, types))


def test_long_hyperedges_have_no_place_evidence_and_no_products() -> None:
    names = [tuple(f"{c}{(c * r) % 3}" for c in range(LONGEST + 4)) for r in range(6)]
    network = HyperNetwork.from_tuples(names, [f"column {c}" for c in range(LONGEST + 4)])
    assert PlaceEvidence(network, None).num_places == 0
    model = DHNE(preset="plus", epochs=1, random_state=0, verbose=False).fit(network)
    assert model.products_ is None
