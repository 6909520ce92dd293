"""The explorer in a real browser, for the tests that do what people do."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from dhne import DHNE

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
SAFE = "!'()*~"  # what encodeURIComponent leaves as it is
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True}


class Visit:
    """A page that is open, and what went wrong in it."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        options = {"viewport": {"width": 1200, "height": 800}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(30_000)
        self.address = address
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
        view = re.split("[/?]", place)[0]  # until it is there, the one before may still be shown
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

    def hover(self, node: int) -> None:
        """Move the pointer to a node of the map."""
        x, y = self.pixel(node)
        self.page.mouse.move(x - 60, y - 60)
        self.page.mouse.move(x, y, steps=4)

    def lasso(self, node: int, reach: int) -> None:
        """Draw a square around a node of the map."""
        page = self.page
        page.get_by_role("button", name="Lasso").click()
        page.wait_for_function("document.querySelector('.plot')._fullLayout.dragmode === 'lasso'")
        x, y = self.pixel(node)
        corners = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
        page.mouse.move(x - reach, y - reach)
        page.mouse.down()
        for dx, dy in corners[1:]:
            page.mouse.move(x + reach * dx, y + reach * dy, steps=4)
        page.mouse.up()


def lonely(model: DHNE) -> int:
    """Return a movie that is far from all others on the map."""
    from dhne.explorer.layouts import principal_components

    points = principal_components(model.embeddings_["movie"])
    apart = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    return int(apart.min(axis=1).argmax())


def name_of(model: DHNE, node: int) -> str:
    """Return a movie's name."""
    return str(model.network_.vocabulary("movie").name(node))


def at(name: str) -> re.Pattern[str]:
    """Return what the address of a movie ends with."""
    return re.compile(re.escape(f"#/node/movie/{quote(name, safe=SAFE)}") + "$")
