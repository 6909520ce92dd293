"""The picture of the explorer in the tutorial: ``python docs/scripts/explorer.py RUN``.

Serves a run and photographs its map, with the card of the node in the middle, in Debian's chromium.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import uvicorn
from playwright.sync_api import sync_playwright

import dhne
from dhne.explorer.application import make_app
from dhne.explorer.server import configure, listen

IMAGE = Path(__file__).resolve().parents[1] / "images" / "explorer.png"
_FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
_MIDDLE = """() => {
  const plot = document.querySelector(".plot"), box = plot.getBoundingClientRect();
  const { xaxis, yaxis } = plot._fullLayout;
  const points = plot.data.filter((t) => t.customdata).flatMap((t) => Array.from(t.x, (x, i) =>
    [xaxis._offset + xaxis.d2p(x), yaxis._offset + yaxis.d2p(t.y[i])]));
  const far = ([x, y]) => Math.hypot(x - box.width / 2, y - box.height / 2);
  const [x, y] = points.reduce((a, b) => (far(b) < far(a) ? b : a));
  return [box.left + x, box.top + y];
}"""


def photograph(address: str) -> None:
    """Write the picture of the page at an address."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=_FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 760})
        page.goto(f"{address}/#/map")
        page.wait_for_selector(".stage[data-ready=true]")
        x, y = page.evaluate(_MIDDLE)
        page.mouse.move(x - 30, y - 30)
        page.mouse.move(x, y, steps=4)
        page.wait_for_selector(".tip[data-whole=true]")
        page.screenshot(path=IMAGE)
        browser.close()


def main(run: str) -> None:
    """Serve a run for as long as the picture takes."""
    with listen(0) as sock:
        port = sock.getsockname()[1]
        app = make_app(dhne.load(run), name=Path(run).name, port=port, path=Path(run))
        server = uvicorn.Server(configure(app))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            photograph(f"http://127.0.0.1:{port}")
        finally:
            server.should_exit = True
            thread.join()


if __name__ == "__main__":
    main(sys.argv[1])
