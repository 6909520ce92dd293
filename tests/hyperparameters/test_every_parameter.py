"""Every declared parameter: settable from Python, the command line and a file; helped; checked.

Values inside and outside of a parameter's range are derived from its declaration, so that a new
one is covered as soon as it is declared.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from sklearn.base import clone

import dhne
from dhne.cli import main
from dhne.errors import DHNEError
from dhne.hyperparameters import PARAMETERS, Arguments, Parameter, Settings, declared
from dhne.hyperparameters.describe import preset_texts
from dhne.hyperparameters.kinds import Flag, Integer, Number, OneOrSeveral, SizePerType, Sizes
from tests.cli.runs import COLUMNS, TAGS

# `device` is checked by torch, which knows the devices; `verbose` is about one call in Python.
TRAINED = [n for n in PARAMETERS if n not in ("device", "verbose")]
OPTIONS = {"random_state": "--seed"}
FAST = {"epochs": 1, "dim": 4, "kernels": "reference", "validation": 0.3, "batch_size": 4}


def inside(p: Parameter) -> Any:
    """Return a value that the parameter takes, and not its default where there is another."""
    if p.choices is not None:
        ours = [c for c in p.choices if c not in (p.default, "default", "cuda")]
        return p.default if isinstance(p.choices, list) else ours[0]  # a list may have grown
    if isinstance(p.kind, Flag):
        return not p.default
    limits = p.limits
    lowest = limits.low if limits.low is not None else limits.above or 0
    number = lowest + 0.5 if isinstance(p.kind, Number) else int(lowest) + 2
    if isinstance(p.kind, SizePerType):
        return {"user": number, "movie": number + 1, "tag": number + 2}
    return [number, number + 1] if isinstance(p.kind, Sizes) else number


def outside(p: Parameter) -> list[Any]:
    """Return values that the parameter does not take."""
    if p.choices is not None:
        return ["no-such-choice"]
    if isinstance(p.kind, Flag):
        return []  # its option takes no value
    limits, found = p.limits, []
    found += [limits.low - 1] if limits.low is not None else []
    found += [limits.above] if limits.above is not None else []
    found += [limits.high + 1] if limits.high is not None else []
    found += [limits.below] if limits.below is not None else []
    found += [0.5] if isinstance(p.kind, Integer) else []
    return [*found, "nonsense"]


def typed(value: Any) -> str:
    if isinstance(value, dict):
        return ",".join(f"{k}={v}" for k, v in value.items())
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def option(p: Parameter, value: Any) -> list[str]:
    name = OPTIONS.get(p.name, p.option)
    if isinstance(value, bool):
        return [name if value else name.replace("--", "--no-", 1)]
    return [f"{name}={typed(value)}"]


def toml(name: str, value: Any) -> str:
    if isinstance(value, dict):
        return f"{name} = {{ {', '.join(f'{k} = {v}' for k, v in value.items())} }}\n"
    return f"{name} = {json.dumps(value)}\n"


def used(model: Any, name: str) -> Any:
    """Return what a fitted model was trained with."""
    value = getattr(model.settings_, name) if name in declared(Settings) else getattr(model, name)
    return list(value) if isinstance(value, tuple) else value


@pytest.fixture
def tags(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("tags.csv").write_text(TAGS)
    return "tags.csv"


def fast(name: str) -> list[str]:
    others = {k: v for k, v in FAST.items() if k != name}
    others |= {"epochs": None} if name.startswith("epochs_") else {}
    return [f"--{k.replace('_', '-')}={v}" for k, v in others.items() if v is not None]


@pytest.mark.parametrize("name", TRAINED)
def test_set_on_the_command_line_and_in_a_file(name: str, tags: str) -> None:
    p = PARAMETERS[name]
    value = inside(p)
    command = ["train", tags, "--columns", COLUMNS, "--quiet", *fast(name)]
    assert main([*command, "--out", "typed", *option(p, value)]) == 0
    key = OPTIONS.get(name, p.option).removeprefix("--")
    Path("config.toml").write_text(toml(key, value))
    assert main([*command, "--out", "filed", "--config", "config.toml"]) == 0
    for run in ("typed", "filed"):
        model = dhne.load(run)
        assert used(model, name) == value
        assert getattr(model, name) == value


@pytest.mark.parametrize("name", PARAMETERS)
def test_set_in_python(name: str) -> None:
    value = inside(PARAMETERS[name]) if name != "device" else "cpu"
    model = dhne.DHNE(**{name: value})
    assert model.get_params()[name] == value
    assert clone(model).get_params()[name] == value
    assert dhne.DHNE().set_params(**{name: value}).get_params()[name] == value


@pytest.mark.parametrize("name", TRAINED)
def test_values_out_of_range_get_one_line(
    name: str, tags: str, capsys: pytest.CaptureFixture[str]
) -> None:
    p = PARAMETERS[name]
    for value in outside(p):
        network = dhne.read_table(tags)
        with pytest.raises(DHNEError, match=name) as caught:
            dhne.DHNE(**{name: value}).fit(network)
        assert "\n" not in str(caught.value)
        command = ["train", tags, "--columns", COLUMNS, "--out", "run", *option(p, value)]
        assert main(command) == 1
        err = capsys.readouterr().err
        assert err.startswith("dhne: error: ")
        assert OPTIONS.get(name, p.option) in err
        assert err.count("\n") == 1
        assert not Path("run").exists()


@pytest.mark.parametrize("command", ["train", "tune"])
def test_help_explains_every_parameter(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    for name, p in PARAMETERS.items():
        if name != "verbose":
            assert OPTIONS.get(name, p.option) in shown
            assert p.help.split()[0] in shown


def test_the_docstring_of_dhne_explains_every_parameter() -> None:
    text = " ".join((dhne.DHNE.__doc__ or "").split())
    for name, p in PARAMETERS.items():
        assert p.help.endswith(".")
        assert f" {name} : " in text
        assert p.help in text
        for preset, value in preset_texts(p).items():
            assert f"{preset} {value}" in text


def test_the_constructor_agrees_with_the_declarations() -> None:
    arguments = inspect.signature(dhne.DHNE).parameters
    assert list(arguments) == list(PARAMETERS)
    for name in declared(Settings):
        assert arguments[name].default is None
    for name, p in declared(Arguments).items():
        assert arguments[name].default == p.default


def test_several_kinds_of_sizes_are_among_the_parameters() -> None:
    kinds = {type(p.kind) for p in PARAMETERS.values()}
    assert {Sizes, OneOrSeveral, SizePerType, Flag, Integer, Number} <= kinds


def test_a_run_with_an_unknown_setting_is_refused_in_one_line(
    tags: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from dhne.storage import load_run, save_run

    model = dhne.DHNE(dim=2, epochs=1, kernels="reference").fit(dhne.read_table(tags))
    model.save("run")
    contents = load_run("run")
    for table in ("settings", "params"):
        config = json.loads(json.dumps(contents.config))
        config[table]["twist"] = 3
        contents.config, before = config, contents.config
        save_run("changed", contents)
        contents.config = before
        assert main(["similar", "changed", "movieId", "Heat"]) == 1
        err = capsys.readouterr().err
        assert "unknown hyper-parameter 'twist'" in err
        assert err.count("\n") == 1


def test_a_run_from_before_a_setting_existed_loads(tags: str) -> None:
    from dhne.storage import load_run, save_run

    model = dhne.DHNE(dim=2, epochs=1, kernels="reference").fit(dhne.read_table(tags))
    model.save("run")
    contents = load_run("run")
    for name in ("row_sample", "rows", "epochs_decline"):
        del contents.config["settings"][name]
        del contents.config["params"][name]
    save_run("older", contents)
    assert dhne.load("older").settings_.row_sample == Settings.row_sample
