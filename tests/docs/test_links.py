"""Links between pages lead somewhere, and the navigation lists every page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.scripts.blocks import ROOT

PAGES = sorted(p for p in (ROOT / "docs").rglob("*.md") if "_build" not in p.parts)
OUTSIDE = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
LINK = re.compile(r'\]\((?P<link>[^)\s]+)\)|src="(?P<source>[^"]+)"')
INCLUDE = re.compile(r"^```\{include\} (?P<file>\S+)$", re.MULTILINE)


def prose(page: Path) -> str:
    """Return a page without its code blocks."""
    return re.sub(r"^ *```.*?^ *```$", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and MyST name them."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("page", [*PAGES, *OUTSIDE], ids=lambda p: str(p.relative_to(ROOT)))
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    for match in LINK.finditer(prose(page)):
        link = match["link"] or match["source"]
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


def test_the_navigation_lists_every_page() -> None:
    listed = {ROOT / "docs" / "index.md"}
    for index in (ROOT / "docs" / "index.md", ROOT / "docs" / "api" / "index.md"):
        for block in re.findall(
            r"^```\{toctree\}$(.*?)^```$", index.read_text("utf-8"), re.DOTALL | re.MULTILINE
        ):
            names = [line for line in block.split() if re.fullmatch(r"[\w/-]+", line)]
            listed |= {index.parent / f"{name}.md" for name in names}
    included = {
        (page.parent / name).resolve()
        for page in PAGES
        for name in INCLUDE.findall(page.read_text("utf-8"))
    }
    assert set(PAGES) - included <= listed
