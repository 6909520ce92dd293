"""The figures on the front pages are those of the full tables."""

from __future__ import annotations

import re

import pytest

from docs.scripts.blocks import ROOT
from docs.scripts.results import with_sections, with_summary

FIGURE = re.compile(r"(?<![\d.])\d{0,4}(?:,\d{3})*\.\d{2,4}(?![\d.])|(?<![\d.,])\d{1,3}(?:,\d{3})+")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_the_summary_is_made_from_the_full_tables() -> None:
    page = text_of("docs/results.md")
    assert with_summary(page, text_of("docs/results-full.md")) == page


@pytest.mark.parametrize("page", ["README.md", "docs/howto/which-preset.md"])
def test_figures_in_tables_are_published_ones(page: str) -> None:
    published = text_of("docs/results.md") + text_of("docs/results-full.md")
    published += text_of("docs/performance.md")
    rows = [line for line in text_of(page).splitlines() if line.startswith("|")]
    figures = [figure for row in rows for figure in FIGURE.findall(row)]
    assert len(figures) > 10
    known = set(FIGURE.findall(published))
    assert [figure for figure in figures if figure not in known] == []


def test_a_partial_report_replaces_its_own_sections() -> None:
    page = "# T\n\nlead\n\n## A\n\none\n\n## B\n\ntwo\n\n## Settings\n\nall\n"
    part = "# T\n\nother\n\n## B\n\nthree\n\n## Settings\n\nsome\n"
    assert with_sections(page, part) == page.replace("two", "three")
    assert with_sections(page, page.replace("one", "four")) == page.replace("one", "four")
