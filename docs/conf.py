"""How Sphinx builds the documentation: ``make docs``."""

from __future__ import annotations

import sys
from pathlib import Path

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
exclude_patterns = ["_build"]
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

napoleon_google_docstring = False
# Shapes such as int64[m, N] are prose to Sphinx, not classes to link to.
napoleon_preprocess_types = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"

html_theme = "furo"
html_title = f"dhne {release}"
html_math_renderer = "mathml"
html_static_path = ["static"]
html_css_files = ["pages.css"]
