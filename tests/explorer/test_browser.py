"""The page in a real browser: what people do with it, in light and dark, wide and narrow."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dhne import DHNE

from .conftest import MARKUP, Live

pytestmark = pytest.mark.browser

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = [
    "--no-sandbox",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--use-angle=swiftshader",  # WebGL where there is no graphics card
    "--enable-unsafe-swiftshader",
]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not CHROMIUM.exists():
        pytest.skip(
            f"there is no browser at {CHROMIUM}: install Debian's package chromium "
            "(make test does), or name one with CHROMIUM=/path"
        )
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield browser
        browser.close()


class Visit:
    """A page that is open, and what went wrong in it."""

    def __init__(self, browser: Any, live: Live, **options: Any) -> None:
        options = {"viewport": {"width": 1200, "height": 800}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.address = live.address
        self.wrong: list[str] = []
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.wrong.append("a dialog"), dialog.dismiss()))
        self.page.on("console", lambda m: self.wrong.append(m.text) if m.type == "error" else None)
        self.page.on("request", self.watch)

    def watch(self, request: Any) -> None:
        if not request.url.startswith((self.address, "data:", "blob:")):
            self.wrong.append(f"asked elsewhere: {request.url}")

    def go(self, place: str) -> Any:
        self.page.goto(f"{self.address}/#/{place}")
        view = place.partition("/")[0]  # until it is there, the one before may still be shown
        self.page.wait_for_selector(f"main[data-view={view}][aria-busy=false]")
        return self.page

    def map(self, node_type: str = "movie") -> Any:
        self.go(f"map/{node_type}")
        self.page.wait_for_selector(".stage[data-ready=true]")
        return self.page

    def pixel(self, node: int) -> tuple[float, float]:
        """Return where on the screen a node of the map is."""
        x, y = self.page.evaluate(
            """(i) => {
              const plot = document.querySelector(".plot"), box = plot.getBoundingClientRect();
              const { xaxis, yaxis } = plot._fullLayout;
              const trace = plot.data.find((t) => t.customdata?.includes(i));
              const at = trace.customdata.indexOf(i);
              return [box.left + xaxis._offset + xaxis.d2p(trace.x[at]),
                      box.top + yaxis._offset + yaxis.d2p(trace.y[at])];
            }""",
            node,
        )
        return x, y


@pytest.fixture
def visit(browser: Any, live: Live, request: pytest.FixtureRequest) -> Iterator[Visit]:
    visit = Visit(browser, live, **getattr(request, "param", {}))
    yield visit
    visit.context.close()
    assert visit.wrong == []


def lonely(model: DHNE) -> int:
    """Return a movie that is far from all others on the map."""
    from dhne.explorer.layouts import principal_components

    points = principal_components(model.embeddings_["movie"])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return int(apart.min(axis=1).argmax())


def test_search_marks_nodes_on_the_map(visit: Visit) -> None:
    page = visit.map()
    field = page.get_by_role("combobox", name="Search by name")
    field.fill("movie 1")
    page.get_by_role("option", name="movie 10").wait_for()
    page.get_by_text("10 names hold “movie 1”").wait_for()
    page.wait_for_selector(".stage[data-marked='10']")
    field.press("ArrowDown")
    field.press("Enter")
    page.wait_for_selector(".stage[data-marked='1']")
    found = page.locator(".selection a")
    assert found.count() == 1  # what is marked is listed
    found.click()
    page.get_by_role("heading", level=1, name=re.compile("movie 1.")).wait_for()


def test_hover_shows_the_name(visit: Visit, model: DHNE) -> None:
    page, node = visit.map(), lonely(model)
    x, y = visit.pixel(node)
    page.mouse.move(x - 60, y - 60)
    page.mouse.move(x, y, steps=4)
    name = str(model.network_.vocabulary("movie").name(node))
    page.wait_for_function(
        "(name) => document.querySelector('.tip:not([hidden])')?.textContent === name", arg=name
    )
    page.mouse.click(x, y)
    page.wait_for_url(re.compile(f"#/node/movie/{node}$"))


def test_lasso_lists_the_nodes_within(visit: Visit, model: DHNE) -> None:
    page, node = visit.map(), lonely(model)
    page.get_by_role("button", name="Lasso").click()
    page.wait_for_function("document.querySelector('.plot')._fullLayout.dragmode === 'lasso'")
    x, y = visit.pixel(node)
    around = [(-12, -12), (12, -12), (12, 12), (-12, 12), (-12, -12)]
    page.mouse.move(x + around[0][0], y + around[0][1])
    page.mouse.down()
    for dx, dy in around[1:]:
        page.mouse.move(x + dx, y + dy, steps=4)
    page.mouse.up()
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


def test_a_tuple_is_completed_and_scored(visit: Visit, model: DHNE) -> None:
    page = visit.go("tuples")
    page.get_by_text("Name some nodes").wait_for()
    user = page.get_by_role("combobox", name="user")
    user.fill("user 03")
    page.get_by_role("option", name="user 03").click()
    movie = page.get_by_role("combobox", name="movie")
    movie.fill("heat")
    movie.press("ArrowDown")
    movie.press("Enter")
    expected = model.rank(("user 03", "Heat", None), edge_type=("user", "movie", "tag"))
    best = str(expected.names[0])
    page.wait_for_function(
        "(name) => document.querySelector('tbody td.name a')?.textContent === name", arg=best
    )
    edges = model.network_.edges(("user", "movie", "tag"))
    known = {10**17 + int(t) for u, m, t in edges if (u, m) == (3, 7)}
    badges = page.locator("tr.known td.name a").all_text_contents()
    assert {int(b) for b in badges} == known & set(expected.names)
    tag = page.get_by_role("combobox", name="tag")
    tag.fill(best)
    page.get_by_role("option", name=best).click()
    page.get_by_role("heading", name="Similarity").wait_for()
    assert page.locator(".score").text_content() == f"{expected.scores[0]:.4f}"
    page.reload()  # the address keeps the question
    page.get_by_role("heading", name="Similarity").wait_for()


def test_keys_wait_for_suggestions_that_come_late(visit: Visit) -> None:
    from playwright.sync_api import Error

    page = visit.go("tuples")
    held: list[Any] = []
    page.route("**/search*", lambda route: held.append(route))  # noqa: PLW0108 - not a builtin
    movie = page.get_by_role("combobox", name="movie")
    with page.expect_request(re.compile("text=heat")):
        movie.fill("heat")
    movie.press("ArrowDown")
    movie.press("Enter")
    assert "p1=" not in page.url
    page.unroute("**/search*")
    for route in held:
        with contextlib.suppress(Error):  # the page has given up those for less text
            route.continue_()
    page.wait_for_url(re.compile("p1=Heat"))


def test_names_stay_text_everywhere(visit: Visit) -> None:
    page = visit.go("node/movie/0")
    assert page.get_by_role("heading", level=1).text_content() == MARKUP
    page.get_by_text("<i>odd</i>").wait_for()
    page.locator("#run-name", has_text="<u>run</u>").wait_for()
    page.get_by_role("link", name="Build a tuple with it").click()
    page.wait_for_selector("main[data-view=tuples][aria-busy=false] tbody tr")
    assert page.get_by_role("combobox", name="movie").input_value() == MARKUP
    visit.map()
    page.get_by_role("combobox", name="Search by name").fill("<")
    page.get_by_role("option", name=MARKUP).wait_for()
    page.get_by_role("option", name=MARKUP).click()
    page.wait_for_selector(".stage[data-marked='1']")
    x, y = visit.pixel(0)
    page.mouse.move(x - 30, y)
    page.mouse.move(x, y, steps=4)
    page.locator(".tip:not([hidden])").wait_for()
    assert page.locator("main img, main b, main i, main u").count() == 0
    assert page.evaluate("document.images.length") == 1  # the page's own sign


def test_node_page_and_its_pages(visit: Visit, model: DHNE) -> None:
    page = visit.go("node/user/4")
    page.get_by_role("region", name="Nearest nodes").wait_for()
    neighbours = page.locator("section", has_text="Neighbours in the network")
    page.get_by_label("of type").select_option("tag")
    neighbours.get_by_role("link", name=str(10**17)[:10]).first.wait_for()
    page.get_by_label("order").select_option("worst")
    page.get_by_role("link", name="Show on the map").click()
    page.wait_for_selector(".stage[data-marked='1']")


def test_training_curves_and_settings(visit: Visit) -> None:
    page = visit.go("training")
    page.get_by_role("heading", name="loss", exact=True).wait_for()
    page.wait_for_selector(".chart .main-svg")
    page.get_by_role("link", name="Run", exact=True).click()
    page.get_by_role("heading", name="Settings").wait_for()
    assert "learning rate" in page.locator("dl").first.inner_text()


def test_mistakes_are_said_in_words(visit: Visit) -> None:
    page = visit.go("node/movie/99999")
    assert "unknown node" in page.get_by_role("alert").inner_text()
    visit.wrong = [w for w in visit.wrong if "404" not in w]  # the browser's own note of it


@pytest.mark.parametrize("visit", [{"color_scheme": "dark"}], indirect=True)
def test_dark_is_what_the_system_prefers_and_can_be_changed(visit: Visit) -> None:
    page = visit.map()
    luminance = """() => getComputedStyle(document.body).backgroundColor
                     .match(/\\d+/g).slice(0, 3).map(Number).reduce((a, b) => a + b)"""
    assert page.evaluate(luminance) < 150
    page.get_by_role("button", name="Use light colours").click()
    assert page.evaluate(luminance) > 600
    page.reload()
    page.wait_for_selector(".stage[data-ready=true]")
    assert page.evaluate(luminance) > 600  # the choice is kept


@pytest.mark.parametrize("visit", [PHONE], indirect=True)
@pytest.mark.parametrize("place", ["map/movie", "tuples", "node/movie/0", "training", "run"])
def test_a_phone_s_width_is_enough(visit: Visit, place: str) -> None:
    page = visit.go(place)
    drawn = {"map/movie": ".stage[data-ready=true]", "training": ".chart .main-svg"}
    page.wait_for_selector(drawn.get(place, "main h1"))
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    for field in page.locator("main select:visible, main input:visible, main button:visible").all():
        box = field.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_everything_can_be_reached_by_keyboard(visit: Visit) -> None:
    page = visit.map()
    reached = []
    for _ in range(22):
        page.keyboard.press("Tab")
        reached.append(
            page.evaluate(
                "(document.activeElement.getAttribute('aria-label') || "
                "document.activeElement.labels?.[0]?.textContent || "
                "document.activeElement.textContent).slice(0, 20)"
            )
        )
        page.keyboard.press("Escape")
    order = [t for t in reached if t]
    for text in ("Skip to the content", "Tuples", "Nodes", "Colour", "Search by name", "Lasso"):
        assert text in order, order
    assert order.index("Tuples") < order.index("Nodes") < order.index("Lasso")
