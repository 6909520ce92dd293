"""The drawing of the architecture shows the import layers that are checked."""

from __future__ import annotations

import re
import tomllib

from docs.scripts.blocks import ROOT
from docs.scripts.drawing import INSIDE, LAYERS, TARGET, draw


def ranks() -> dict[str, int]:
    """Return the layer of each module in ``pyproject.toml``, counted from the top."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (layers,) = (c["layers"] for c in contracts if c["id"] == "layers")
    return {name: rank for rank, line in enumerate(layers) for name in re.findall(r"\w+", line)}


def test_it_has_every_module_once() -> None:
    drawn = [module for _, modules, _ in LAYERS for module in modules]
    assert sorted(drawn) == sorted(ranks()), "add new modules to docs/scripts/drawing.py"


def test_rows_respect_the_layers() -> None:
    order = ranks()
    rows = [[order[module] for module in modules] for _, modules, _ in LAYERS]
    tops, bottoms = [min(row) for row in rows], [max(row) for row in rows]
    for upper, lower in zip(bottoms, tops[1:], strict=False):
        assert upper < lower


def test_the_files_it_names_exist() -> None:
    for package, lines in INSIDE.items():
        found = {path.stem for path in (ROOT / "src" / "dhne" / package).iterdir()}
        assert {name for line in lines for name in line} <= found


def test_the_picture_is_up_to_date() -> None:
    assert TARGET.read_text(encoding="utf-8") == draw(), "run python docs/scripts/drawing.py"
