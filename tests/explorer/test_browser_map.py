"""The map in a real browser: hovering, selecting, names, layouts, its state in the address."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dhne import DHNE

from .visiting import PHONE, Visit, at, lonely, name_of

pytestmark = pytest.mark.browser


def test_search_marks_nodes_on_the_map(visit: Visit) -> None:
    page = visit.map()
    field = page.get_by_role("combobox", name="Search by name")
    field.fill("movie 1")
    page.get_by_role("option", name="movie 10").wait_for()
    page.get_by_text("10 names contain “movie 1”").wait_for()
    page.wait_for_selector(".stage[data-marked='10']")
    field.press("ArrowDown")
    field.press("Enter")
    page.wait_for_selector(".stage[data-marked='1']")
    found = page.locator(".selection a")
    assert found.count() == 1  # what is marked is listed
    found.click()
    page.get_by_role("heading", level=1, name=re.compile("movie 1.")).wait_for()


def test_hover_shows_name_labels_degree_and_the_nearest(visit: Visit, model: DHNE) -> None:
    page, node = visit.map(), lonely(model)
    visit.hover(node)
    card = page.locator(".tip[data-whole=true]")
    card.wait_for()
    name = name_of(model, node)
    assert card.locator("strong").text_content() == name
    text = card.inner_text()
    assert f"{model.network_.degrees('movie')[node]} hyperedges" in text
    assert model.network_.labels("movie")[node].as_py()[0] in text
    nearest = [str(n) for n in model.similar("movie", name, k=3).names]
    assert card.locator("li span:first-child").all_text_contents() == nearest
    page.mouse.click(*visit.pixel(node))
    page.wait_for_url(at(name))


@pytest.mark.parametrize("visit", [{**PHONE, "is_mobile": True}], indirect=True)
def test_a_tap_shows_the_card_and_the_card_leads_to_the_node(visit: Visit, model: DHNE) -> None:
    page, node = visit.map(), lonely(model)
    page.touchscreen.tap(*visit.pixel(node))
    page.locator(".tip.pinned[data-whole=true] a").click()
    page.wait_for_url(at(name_of(model, node)))


def test_lasso_lists_the_nodes_within(visit: Visit, model: DHNE) -> None:
    page, node = visit.map(), lonely(model)
    visit.lasso(node, 12)
    page.get_by_text("1 node selected").wait_for()
    listed = page.locator(".selection a").all_text_contents()
    assert listed == [model.network_.vocabulary("movie").name(node)]
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("Nothing is selected.").wait_for()


def test_the_map_is_moved_and_zoomed_by_keys(visit: Visit) -> None:
    page = visit.map()
    ranges = "document.querySelector('.plot').layout.xaxis.range.slice()"
    start = page.evaluate(ranges)
    page.locator(".stage").focus()
    page.keyboard.press("+")
    page.wait_for_function(f"{ranges}[0] > {start[0]}")
    closer = page.evaluate(ranges)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(f"{ranges}[0] > {closer[0]}")
    page.keyboard.press("0")
    page.wait_for_function(f"Math.abs({ranges}[0] - {start[0]}) < 1e-6")


def test_colours_by_label_and_degree(visit: Visit) -> None:
    page = visit.map()
    label = page.get_by_role("button", name="<i>odd</i>")
    label.click()
    assert page.get_by_role("button", name="<i>odd</i>").get_attribute("aria-pressed") == "true"
    page.get_by_label("Colour", exact=True).select_option("degree")
    page.get_by_text("Hyperedges of a node").wait_for()


@pytest.mark.parametrize(
    "visit", [{"permissions": ["clipboard-read", "clipboard-write"]}], indirect=True
)
def test_a_selection_is_copied_saved_and_explained(
    visit: Visit, model: DHNE, tmp_path: Path
) -> None:
    page = visit.map()
    page.get_by_role("combobox", name="Search by name").fill("<")
    page.get_by_text("2 names contain “<”").wait_for()
    names = page.locator(".selection .nodes a").all_text_contents()
    page.get_by_role("button", name="Copy names").click()
    page.get_by_text("2 names copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()").splitlines() == names
    with page.expect_download() as download:
        page.get_by_role("button", name="CSV").click()
    download.value.save_as(tmp_path / "selection.csv")
    table = list(csv.DictReader(io.StringIO((tmp_path / "selection.csv").read_text("utf-8"))))
    assert sorted(row["name"] for row in table) == sorted(names)
    assert {row["labels"] for row in table} == {"<i>odd</i>; other"}
    page.get_by_text("What they share").click()
    page.locator(".shares li", has_text="<i>odd</i>").get_by_text("100%").wait_for()
    assert page.locator(".shares a").count() > 0
    page.locator(".actions").get_by_role("link", name="Compare").click()
    page.get_by_role("heading", name="Compare two nodes").wait_for()
    page.locator(".score").wait_for()


def test_few_nodes_have_their_names_beside_them(visit: Visit, model: DHNE) -> None:
    page = visit.map()
    page.wait_for_selector(".map-names span")
    shown = page.locator(".map-names span").all_text_contents()
    assert len(shown) >= 10
    assert set(shown) <= {name_of(model, i) for i in range(30)}
    boxes = page.evaluate(
        """[...document.querySelectorAll(".map-names span")].map((s) => {
             const b = s.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"""
    )
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]
    before = page.locator(".map-names span").first.bounding_box()
    page.locator(".stage").focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function(  # they move with the points
        """(x) => Math.abs(
             document.querySelector(".map-names span").getBoundingClientRect().x - x) > 9""",
        arg=before["x"],
    )


def test_the_colour_scale_begins_at_the_data(visit: Visit, model: DHNE) -> None:
    page = visit.go("map/movie?colour=degree")
    degrees = model.network_.degrees("movie")
    ends = page.locator(".ends span").all_text_contents()
    assert (ends[0], ends[-1]) == (str(degrees.min()), str(degrees.max()))
    page.wait_for_selector(".stage[data-ready=true]")
    colours = page.evaluate(
        """() => document.querySelector(".plot").data.filter((t) => t.customdata)
                 .map((t) => [t.marker.color, Array.from(t.customdata)])"""
    )
    of = {node: colour for colour, nodes in colours for node in nodes}
    assert of[int(degrees.argmin())] == "rgb(195,211,245)"  # the first colour is used
    assert of[int(degrees.argmax())] == "rgb(43,29,102)"


def test_the_map_s_state_is_in_its_address(visit: Visit) -> None:
    page = visit.map()
    page.get_by_role("button", name="<i>odd</i>").click()
    page.get_by_role("combobox", name="Search by name").fill("a/..")
    page.wait_for_selector(".stage[data-marked='1']")
    page.get_by_role("option", name="a/../b?c#d").click()
    page.wait_for_url(re.compile("node=a%2F..%2Fb%3Fc%23d"))
    page.locator(".stage").focus()
    page.keyboard.press("+")
    page.wait_for_url(re.compile("view="))
    address = page.url
    other = visit.context.new_page()
    other.goto(address)
    other.wait_for_selector(".stage[data-marked='1']")
    label = other.get_by_role("button", name="<i>odd</i>")
    assert label.get_attribute("aria-pressed") == "true"
    assert other.locator(".selection .nodes a").all_text_contents() == ["a/../b?c#d"]
    ranges = "document.querySelector('.plot').layout.xaxis.range.slice()"
    np.testing.assert_allclose(other.evaluate(ranges), page.evaluate(ranges), rtol=1e-3)
    page.get_by_role("link", name="a/../b?c#d").click()
    page.get_by_role("heading", level=1, name="a/../b?c#d").wait_for()
    page.go_back()
    page.wait_for_selector(".stage[data-marked='1']")


class Umap:
    """A map that the server says is being computed, for as long as a test wants."""

    def __init__(self, visit: Visit) -> None:
        self.info = {"state": "not computed", "reason": "", "stage": "", "progress": None}
        visit.page.route(re.compile(r"/api/map\?"), self.answer)
        visit.page.route(re.compile(r"/api/map/umap\?"), self.start)
        points = np.linspace(-5, 5, 60, dtype="<f4").tobytes()
        visit.page.route(re.compile("layout=umap"), lambda route: route.fulfill(body=points))

    def answer(self, route: Any) -> None:
        answer = route.fetch().json()
        answer["layouts"][1] = {"layout": "umap", **self.info}
        route.fulfill(json=answer)

    def start(self, route: Any) -> None:
        self.info |= {"state": "computing", "stage": "loading UMAP"}
        route.fulfill(body=json.dumps({"layout": "umap", **self.info}))


def test_umap_keeps_its_choice_and_shows_how_far_it_is(visit: Visit) -> None:
    umap, page = Umap(visit), visit.map()
    layout = page.get_by_label("Layout", exact=True)
    layout.select_option("umap")
    progress = page.locator(".stage .progress")
    progress.get_by_text("loading UMAP").wait_for()
    assert layout.input_value() == "umap"
    assert "layout=umap" in page.url
    umap.info |= {"stage": "arranging the nodes", "progress": 0.25}
    progress.get_by_text("25%").wait_for()
    assert page.locator("progress").get_attribute("value") == "0.25"
    page.reload()  # the choice is kept
    progress.get_by_text("25%").wait_for()
    assert layout.input_value() == "umap"
    umap.info |= {"state": "ready", "stage": "", "progress": None}
    page.wait_for_selector(".stage[data-layout=umap]")
    assert progress.is_hidden()
    layout.select_option("pca")
    page.wait_for_selector(".stage[data-layout=pca]")


def test_umap_that_fails_can_be_tried_again(visit: Visit) -> None:
    umap, page = Umap(visit), visit.map()
    page.get_by_label("Layout", exact=True).select_option("umap")
    page.locator(".progress").get_by_text("loading UMAP").wait_for()
    umap.info |= {"state": "failed", "stage": ""}
    page.get_by_text("UMAP could not be computed.").wait_for()
    page.get_by_role("button", name="Try again").click()
    page.locator(".progress").get_by_text("loading UMAP").wait_for()
