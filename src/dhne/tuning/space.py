"""The space of a hyper-parameter search: ranges and choices, and the default space.

By default those hyper-parameters are tried whose declaration says so (see
`dhne.hyperparameters.settings`), and ``epochs_factor``: 0.5, 1 or 2 times the rule's number of
epochs.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dhne.errors import ParameterError, UnknownNameError
from dhne.hyperparameters import PARAMETERS, PRESETS

EPOCHS_FACTOR = "epochs_factor"


@dataclass(frozen=True)
class Range:
    """Numbers from `low` to `high`, inclusive; integers if both are integers."""

    low: float
    high: float
    log: bool = False

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ParameterError(f"a range needs two bounds, the smaller first; got {self}")
        if self.log and self.low <= 0:
            raise ParameterError(f"a logarithmic range must be positive, got {self}")

    def suggest(self, trial: Any, name: str) -> Any:
        """Let a trial of Optuna choose."""
        whole = isinstance(self.low, int) and isinstance(self.high, int)
        suggest = trial.suggest_int if whole else trial.suggest_float
        return suggest(name, self.low, self.high, log=self.log)

    def __str__(self) -> str:
        return f"{self.low:g}:{self.high:g}" + (":log" if self.log else "")


@dataclass(frozen=True)
class Choice:
    """One of several values."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        if not self.values:
            raise ParameterError("a choice needs at least one value")

    def suggest(self, trial: Any, name: str) -> Any:
        """Let a trial of Optuna choose."""
        return trial.suggest_categorical(name, list(self.values))

    def __str__(self) -> str:
        return ",".join(json.dumps(v) for v in self.values)


Space = dict[str, Range | Choice]


def default_space(preset: str | None = None) -> Space:
    """Return the default space; its order determines what a seed proposes.

    Examples
    --------
    >>> sorted(set(default_space("plus")) - set(default_space()))
    ['evidence', 'leave_one_out', 'rows']
    """
    if preset is not None and preset not in PRESETS:
        raise UnknownNameError("preset", preset, PRESETS)
    wanted = {
        name: declaration.tune
        for name, declaration in PARAMETERS.items()
        if declaration.tune and declaration.tune_with in (None, preset)
    }
    space = parse_space(f"{name}={texts}" for name, texts in wanted.items())
    own = [n for n in space if PARAMETERS[n].tune_with is not None]
    shared = sorted((n for n in space if n not in own), key=lambda n: isinstance(space[n], Choice))
    return {
        **{n: space[n] for n in shared},
        EPOCHS_FACTOR: Choice((0.5, 1.0, 2.0)),
        **{n: space[n] for n in own},
    }


def check_space(space: Mapping[str, Range | Choice]) -> None:
    """Raise if a search would try a value that the parameter does not take.

    Examples
    --------
    >>> check_space({"epochs": Choice((0.5, 2))})
    Traceback (most recent call last):
    ...
    dhne.errors.ParameterError: epochs must be an integer of at least 1, got 0.5
    """
    for name, part in space.items():
        if name in PARAMETERS:
            for value in part.values if isinstance(part, Choice) else (part.low, part.high):
                PARAMETERS[name].check(value)


def narrowed(space: Mapping[str, Range | Choice], fixed: Iterable[str]) -> Space:
    """Return the space without fixed parameters; fixed epochs also fix their factor."""
    fixed = set(fixed)
    left = {k: v for k, v in space.items() if k not in fixed}
    if "epochs" in fixed or "epochs" in left:
        left.pop(EPOCHS_FACTOR, None)
    return left


def resolved(
    chosen: Mapping[str, Any], num_edges: int, preset: str | None = None
) -> dict[str, Any]:
    """Return the chosen values as arguments of `DHNE`; epochs follow the preset's rule.

    Examples
    --------
    >>> resolved({"alpha": 1.0, "epochs_factor": 2.0}, 1000)
    {'alpha': 1.0, 'epochs': 116}
    """
    params = dict(chosen)
    factor = params.pop(EPOCHS_FACTOR, None)
    if factor is not None:
        usual = PRESETS[params.get("preset") or preset or "default"].epochs_for(num_edges)
        params["epochs"] = max(1, round(factor * usual))
    return params


def parse_space(texts: Iterable[str]) -> Space:
    """Return the space of texts ``name=low:high``, ``name=low:high:log`` or ``name=a,b,c``.

    Examples
    --------
    >>> parse_space(["alpha=0.01:10:log", "dim=16,32", "optimizer=adam,sgd"])
    {'alpha': Range(low=0.01, high=10, log=True), 'dim': Choice(values=(16, 32)),
     'optimizer': Choice(values=('adam', 'sgd'))}
    """
    return dict(_parse(text) for text in texts)


def _parse(text: str) -> tuple[str, Range | Choice]:
    name, equals, values = text.partition("=")
    if not equals or not name.strip() or not values.strip():
        raise ParameterError(
            f"cannot parse the search {text!r}; write alpha=0.01:10:log or dim=32,64"
        )
    if ":" not in values:
        return name.strip(), Choice(tuple(_value(v) for v in values.split(",")))
    ends, log = values.removesuffix(":log"), values.endswith(":log")
    numbers = [_value(v) for v in ends.split(":")]
    if len(numbers) != 2 or not all(type(n) in (int, float) for n in numbers):
        raise ParameterError(f"a range is LOW:HIGH or LOW:HIGH:log, not {values!r}")
    low, high = numbers
    return name.strip(), Range(low, high, log=log)


def _value(text: str) -> Any:
    """Return the text as a number or boolean if it is one, otherwise as it is."""
    text = text.strip()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text
