"""Queries from held-out hyperedges: each position once, other right answers filtered out."""

from __future__ import annotations

from dhne import HyperNetwork
from dhne.training.held_out_questions import held_out_questions

SIZES = {"a": 4, "b": 5}


def test_every_position_is_open_once_and_all_right_answers_are_listed() -> None:
    train = HyperNetwork.from_arrays({("a", "b"): [[0, 1], [3, 2]]}, SIZES)
    held_out = HyperNetwork.from_arrays({("a", "b"): [[0, 2], [1, 4]]}, SIZES)
    first, second = held_out_questions(train, held_out, limit=9, seed=0)
    assert (first.position, first.num_candidates, first.own.tolist()) == (0, 4, [0, 1])
    assert (second.position, second.num_candidates, second.own.tolist()) == (1, 5, [2, 4])
    # (·, 2): 0 is held out, 3 was trained; (0, ·): 1 was trained, 2 is held out
    assert sorted(zip(first.rows, first.answers, strict=True)) == [(0, 0), (0, 3), (1, 1)]
    assert sorted(zip(second.rows, second.answers, strict=True)) == [(0, 1), (0, 2), (1, 4)]


def test_members_of_the_same_set_are_not_answers() -> None:
    train = HyperNetwork.from_arrays({("a", "a", "a"): [[0, 1, 2]]}, SIZES, ordered=False)
    held_out = HyperNetwork.from_arrays({("a", "a", "a"): [[0, 2, 3]]}, SIZES, ordered=False)
    for question in held_out_questions(train, held_out, limit=9, seed=0):
        others = {0, 2, 3} - {int(question.own[0])}
        assert others <= set(question.answers.tolist())


def test_a_limit_draws_the_same_sample_for_the_same_seed() -> None:
    train = HyperNetwork.from_arrays({("a", "b"): [[0, 0]]}, {"a": 200, "b": 200})
    rows = [[v, v] for v in range(200)]
    held_out = HyperNetwork.from_arrays({("a", "b"): rows}, {"a": 200, "b": 200})
    one, again, other = (
        held_out_questions(train, held_out, limit=20, seed=seed)[0].own.tolist()
        for seed in (0, 0, 1)
    )
    assert one == again != other
    assert 5 < len(one) < 50
