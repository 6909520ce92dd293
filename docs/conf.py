"""How Sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from sphinx import addnodes

import dhne

sys.path.insert(0, str(Path(__file__).parent / "scripts"))

project = "dhne"
author = "The dhne authors"
copyright = "2026, The dhne authors"  # noqa: A001 - Sphinx's own name for it
version = release = dhne.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "command_line",  # ours, in scripts/
    "mathml",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_build", "plus_ablation.md"]  # the second is a part of plus.md
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "code"  # single backticks in docstrings are names
napoleon_google_docstring = False
# Shapes such as int64[m, N] are prose to Sphinx, not classes to link to.
napoleon_preprocess_types = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"


def _skip(
    app: object, what: str, name: str, obj: object, skip: bool, options: object
) -> bool | None:
    """Skip undocumented fields, and scikit-learn's metadata routing on every estimator."""
    routing = name.startswith("set_") and name.endswith("_request")
    field = type(obj).__name__ == "_tuplegetter"
    fitted = name.endswith("_") and not name.startswith("_")  # listed under the class's Attributes
    return True if routing or field or fitted or name == "get_metadata_routing" else None


def _bases(app: object, name: str, obj: object, options: object, bases: list[Any]) -> None:
    """Do not list ``object`` as a base class."""
    bases[:] = [base for base in bases if base is not object]


def _only_names_are_links(app: object, doctree: Any) -> None:
    """Types in docstrings are prose: link classes, not words such as "nodes"."""
    for reference in list(doctree.findall(addnodes.pending_xref)):
        target = reference.get("reftarget", "")
        if reference.get("refdomain") != "py" or reference.get("reftype") == "mod":
            continue
        if target == "Settings":
            reference["reftarget"] = "dhne.hyperparameters.Settings"
        elif target.isidentifier() and target.islower():
            reference.replace_self(reference.children)


def setup(app: Any) -> None:
    """Connect the handlers above."""
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-bases", _bases)
    app.connect("doctree-read", _only_names_are_links)


html_theme = "furo"
html_title = f"dhne {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["pages.css"]
