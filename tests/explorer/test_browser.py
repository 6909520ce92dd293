"""The page in a real browser: what people do with it, in light and dark, wide and narrow."""

from __future__ import annotations

import contextlib
import re
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest

from dhne import DHNE

from .conftest import MARKUP, NAMES
from .visiting import PHONE, SAFE, Visit, at

pytestmark = pytest.mark.browser


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
    page = visit.go("node/movie?id=0")
    assert page.get_by_role("heading", level=1).text_content() == MARKUP
    page.get_by_text("<i>odd</i>").wait_for()
    page.locator("#run-name", has_text="<u>run</u>").wait_for()
    page.get_by_role("link", name="Build a tuple").click()
    page.wait_for_selector("main[data-view=tuples][aria-busy=false] tbody tr")
    assert page.get_by_role("combobox", name="movie").input_value() == MARKUP
    visit.map()
    page.get_by_role("combobox", name="Search by name").fill("<")
    page.get_by_role("option", name=MARKUP).wait_for()
    page.get_by_role("option", name=MARKUP).click()
    page.wait_for_selector(".stage[data-marked='1']")
    visit.hover(0)
    page.locator(".tip[data-whole=true]").wait_for()
    page.get_by_role("combobox", name="Search all nodes").fill("onerror")
    page.get_by_role("option", name=MARKUP).click()
    page.wait_for_url(at(MARKUP))
    page.locator(".actions").get_by_role("link", name="Compare").click()
    page.wait_for_selector("main[data-view=compare][aria-busy=false]")
    page.get_by_role("combobox", name="Second node").fill("bold")
    page.get_by_role("option", name="<b>bold</b>").click()
    page.locator(".score").wait_for()
    assert page.locator("main img, main b, main i, main u").count() == 0
    assert page.evaluate("document.images.length") == 1  # the page's own sign


def test_node_page_and_its_pages(visit: Visit, model: DHNE) -> None:
    page = visit.go("node/user/user 04")
    page.get_by_role("region", name="Nearest nodes").wait_for()
    neighbours = page.locator("section", has_text="Neighbours in the network")
    page.get_by_label("of type").select_option("tag")
    neighbours.get_by_role("link", name=str(10**17)[:10]).first.wait_for()
    page.get_by_label("order").select_option("worst")
    page.get_by_role("link", name="Show on the map").click()
    page.wait_for_selector(".stage[data-marked='1']")


def test_an_address_with_an_id_becomes_one_with_the_name(visit: Visit) -> None:
    page = visit.go("node/movie?id=2")
    page.get_by_role("heading", level=1, name="a/../b?c#d").wait_for()
    assert at("a/../b?c#d").search(page.url)
    page.reload()
    page.get_by_role("heading", level=1, name="a/../b?c#d").wait_for()


def test_search_over_all_types_leads_to_a_node(visit: Visit) -> None:
    page = visit.go("run")
    field = page.get_by_role("combobox", name="Search all nodes")
    for text, option in (("ser 0", "user 03 user"), ("vie 0", "movie 03 movie")):
        field.fill(text)
        page.get_by_role("option", name=option, exact=True).wait_for()
    field.fill("heat")
    field.press("ArrowDown")
    field.press("Enter")
    page.wait_for_url(at("Heat"))
    assert field.input_value() == ""


def test_bars_differ_where_cosines_are_alike(visit: Visit, model: DHNE) -> None:
    page = visit.go("node/movie/Heat")
    near = page.get_by_role("region", name="Nearest nodes")
    near.wait_for()
    widths = near.locator(".bar span").evaluate_all("(bars) => bars.map((b) => b.offsetWidth)")
    cosines = [float(t) for t in near.locator(".number").all_text_contents()]
    np.testing.assert_allclose(cosines, model.similar("movie", "Heat", k=15).scores, atol=1e-4)
    assert widths == sorted(widths, reverse=True)
    scale = page.evaluate(
        """async () => { const { scaleOf } = await import("/static/measures.js");
             return [[.95, .97, .99], [.99991, .99995], [.2, .9], [-.3, .5]].map(scaleOf); }"""
    )
    assert [round(s["low"], 6) for s in scale] == [0.9, 0.9998, 0, -1]
    assert [s["digits"] for s in scale] == [4, 6, 4, 4]


def test_two_nodes_are_compared(visit: Visit, model: DHNE) -> None:
    page = visit.go("compare")
    page.get_by_text("Choose two nodes.").wait_for()
    for side, name in (("First node", "Heat"), ("Second node", "null")):
        field = page.get_by_role("combobox", name=side)
        field.fill(name)
        page.get_by_role("option", name=name).first.click()
    page.locator(".score").wait_for()
    a, b = (model.vectors_["movie"][NAMES.index(name)] for name in ("Heat", "null"))
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert float(page.locator(".score").text_content()) == pytest.approx(cosine, abs=2e-4)
    rows = page.get_by_role("region", name="Side by side").locator("tbody tr")
    heights = [row.bounding_box()["height"] for row in (rows.first, rows.last)]
    assert heights[0] == heights[1]  # "hyperedges" fits on a line, as "type" does
    page.reload()  # the address keeps both
    page.locator(".score").wait_for()
    page.get_by_role("combobox", name="Second node").fill("user 04")
    page.get_by_role("option", name="user 04").click()
    page.get_by_role("heading", name="Hyperedges with both").wait_for()
    page.wait_for_selector(".score", state="detached")  # vectors of two types are not comparable


def test_something_is_shown_while_it_loads(visit: Visit) -> None:
    page = visit.go("run")
    held: list[Any] = []
    page.route("**/similar*", lambda route: held.append(route))  # noqa: PLW0108 - not a builtin
    page.evaluate("location.hash = '#/node/movie/Heat'")
    card = page.locator("section", has_text="Nearest in the embedding")
    card.get_by_text("Loading …").wait_for()
    page.locator("section", has_text="Hyperedges").locator("tbody tr").first.wait_for()
    held[0].continue_()
    card.locator("tbody tr").first.wait_for()
    assert card.get_by_text("Loading …").count() == 0


def test_losses_have_a_logarithmic_axis(visit: Visit) -> None:
    page = visit.go("training")
    page.wait_for_selector(".chart .main-svg")
    kind = "(m) => document.querySelector(`[data-measure=${m}] .chart`)._fullLayout.yaxis.type"
    assert page.evaluate(kind, "loss") == "log"
    assert page.evaluate(kind, "seconds") == "linear"
    page.get_by_label("Logarithmic axis for losses").uncheck()
    page.wait_for_function(f"({kind})('loss') === 'linear'")
    assert page.url.endswith("scale=linear")


def test_the_run_page_has_its_origin(visit: Visit, model: DHNE) -> None:
    page = visit.go("run")
    origin = page.locator("section", has_text="Origin").inner_text()
    assert re.search(r"training\s.*for 3 epochs", origin)
    assert "source" in origin
    assert "saved" in origin


def test_a_score_is_explained(visit: Visit, model: DHNE) -> None:
    tag = str(10**17 + 1)
    place = f"tuples?p0=user 03&p1={quote(MARKUP, safe=SAFE)}&p2={tag}"
    page = visit.go(place)
    why = page.get_by_role("region", name="Why this score")
    why.get_by_role("heading", name="Why this score").wait_for()
    found = model.explain(("user 03", MARKUP, int(tag)), edge_type=("user", "movie", "tag"))
    shown = why.get_by_role("region", name="What each node adds").locator(".number")
    adds = [float(t.replace("−", "-")) for t in shown.all_text_contents()]
    np.testing.assert_allclose(adds, [part.adds for part in found.parts], atol=0.006)
    assert why.locator(".pair").count() == len(found.pairs)
    widest = max([*found.parts, *found.pairs], key=lambda part: abs(part.adds))
    widths = why.locator(".effect span").evaluate_all("(bars) => bars.map((b) => b.offsetWidth)")
    assert max(widths) == 42, widest  # half of a bar, whatever the largest effect is
    shares = [float(t.strip("%")) for t in why.locator(".standing strong").all_text_contents()]
    expected = [found.above_known, found.above_random, found.probability]
    np.testing.assert_allclose(shares, [100 * share for share in expected], atol=0.51)
    near = why.get_by_role("region", name="Most similar known hyperedges")
    assert near.locator("tbody tr").count() == len(found.nearest)
    first = near.locator("tbody tr").first.locator("a").all_text_contents()
    assert first == [str(name) for name in found.nearest[0].names]
    assert page.locator("main img, main b").count() == 0
    near.locator("tbody tr").first.locator("a").first.click()  # nodes are links
    page.wait_for_selector("main[data-view=node][aria-busy=false]")


def test_probabilities_are_checked_on_the_training_page(visit: Visit, model: DHNE) -> None:
    page = visit.go("training")
    curve = model.calibration_.reliability
    card = page.locator("section.reliability")
    card.locator(".main-svg").first.wait_for()
    assert f"{100 * curve.error:.1f}%" in card.inner_text()
    rows = card.locator("tbody tr").all()
    assert [int(r.locator("td").nth(2).inner_text().replace(",", "")) for r in rows] == list(
        curve.counts
    )
    drawn = "() => Array.from(document.querySelector('.reliability-chart').data[1].y)"
    np.testing.assert_allclose(page.evaluate(drawn), curve.observed)


def test_training_curves_and_settings(visit: Visit) -> None:
    page = visit.go("training")
    page.get_by_role("heading", name="loss", exact=True).wait_for()
    page.wait_for_selector(".chart .main-svg")
    page.get_by_role("link", name="Run", exact=True).click()
    page.get_by_role("heading", name="Settings").wait_for()
    assert "learning rate" in page.locator("section", has_text="Settings").inner_text()


def test_mistakes_are_said_in_words(visit: Visit) -> None:
    page = visit.go("node/movie/nobody")
    assert "unknown movie" in page.get_by_role("alert").inner_text()
    page.get_by_text("There is nothing to show here.").wait_for()
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
@pytest.mark.parametrize(
    "place",
    [
        "map/movie",
        "tuples",
        "tuples?p0=user 03",
        "tuples?p0=user 03&p1=Heat&p2=100000000000000001",
        "node/movie?id=0",
        "compare?type=movie&a=Heat&with=movie&b=null",
        "training",
        "run",
    ],
)
def test_a_phone_s_width_is_enough(visit: Visit, place: str) -> None:
    page = visit.go(place)
    drawn = {"map/movie": ".stage[data-ready=true]", "training": ".chart .main-svg"}
    page.wait_for_selector(drawn.get(place, "main h1"))
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    wider = "(e) => e.scrollWidth > e.clientWidth"  # nothing has to be moved sideways to be read
    tables = page.locator(".scroll").all()
    assert [t.get_attribute("aria-label") for t in tables if t.evaluate(wider)] == []
    for field in page.locator("main select:visible, main input:visible, main button:visible").all():
        box = field.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 390


def test_everything_can_be_reached_by_keyboard(visit: Visit) -> None:
    page = visit.map()
    reached = []
    for _ in range(26):
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
    for text in (
        "Skip to content",
        "Tuples",
        "Search all nodes",
        "Nodes",
        "Colour",
        "Search by name",
        "Lasso",
    ):
        assert text in order, order
    assert order.index("Tuples") < order.index("Nodes") < order.index("Lasso")
