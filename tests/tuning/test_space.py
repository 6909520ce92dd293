"""What a search varies."""

from __future__ import annotations

import pytest

from dhne.errors import ParameterError, UnknownNameError
from dhne.hyperparameters import PRESETS, rule_epochs
from dhne.tuning import Choice, Range, default_space, parse_space
from dhne.tuning.space import narrowed, resolved


def test_texts_become_ranges_and_choices() -> None:
    assert parse_space(["alpha=1e-2:10:log", "batch_size=16:64", "evidence=true,false"]) == {
        "alpha": Range(0.01, 10, log=True),
        "batch_size": Range(16, 64),
        "evidence": Choice((True, False)),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("alpha", "cannot parse"),
        ("=1", "cannot parse"),
        ("alpha=", "cannot parse"),
        ("alpha=1:2:3", "LOW:HIGH"),
        ("alpha=a:b", "LOW:HIGH"),
        ("alpha=2:1", "the smaller first"),
        ("alpha=0:1:log", "must be positive"),
    ],
)
def test_texts_that_make_no_space(text: str, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        parse_space([text])


def test_what_is_fixed_is_not_searched() -> None:
    assert "alpha" not in narrowed(default_space(), ["alpha"])
    assert "epochs_factor" not in narrowed(default_space(), ["epochs"])
    assert "epochs_factor" not in narrowed(default_space() | parse_space(["epochs=3:9"]), [])


def test_the_factor_multiplies_the_rule() -> None:
    assert resolved({"epochs_factor": 2.0}, 1000)["epochs"] == 2 * rule_epochs(1000)
    plus = rule_epochs(1000, PRESETS["plus"].epochs_at_thousand, PRESETS["plus"].epochs_decline)
    assert resolved({"epochs_factor": 2.0}, 1000, "plus")["epochs"] == 2 * plus
    assert resolved({"dim": 3}, 1000) == {"dim": 3}


def test_only_plus_asks_whether_its_parts_pay() -> None:
    assert "evidence" not in default_space("paper")
    assert "evidence" in default_space("plus")
    with pytest.raises(UnknownNameError, match="did you mean 'plus'"):
        default_space("pluss")
