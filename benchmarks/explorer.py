"""The explorer with 100,000 nodes: a map within 3 s, answers within 50 ms at the 95th percentile.

A run of 100,000 items, 20,000 users and 500 tags is served by ``dhne explore``. *Map* is the time
of the first request for the map's data and, if a browser is available, from opening the page in
Chromium to an interactive map, rendered without a graphics card. The other rows are 50 concurrent
clients, each with its own connection, that send a request, wait for the response and repeat:

- *new questions*: no question is repeated; each client pauses for a second on average between
  requests, as people do;
- *popular questions*: one of 200 questions, without a pause: as fast as 50 clients can ask;
- *new questions, no pause*: the maximum throughput. The latency is then the number of clients
  divided by the responses per second, so it has no limit here.

`rank` completes (user, item, tag) at the item: 100,000 candidates with 192 hidden units each.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import _clients as clients
from benchmarks._table import Row

NODES = {"user": 20_000, "item": 100_000, "tag": 500}
CLIENTS = 50
LIMIT_MS, LIMIT_MAP = 50.0, 3.0
CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
FLAGS = ["--no-sandbox", "--disable-background-networking", "--disable-component-update"]
GRAPHICS = ["--use-angle=swiftshader", "--enable-unsafe-swiftshader"]


def run(quick: bool) -> list[Row]:
    share = 50 if quick else 1
    nodes = {t: max(20, n // share) for t, n in NODES.items()}
    seconds = 2.0 if quick else 20.0
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        train(path, nodes)
        with Served(path) as port:
            rows = [*map_rows(port, nodes["item"])]
            wait_until_warm(port)
            for what, pause, popular in (
                ("new questions", 1.0, 0),
                ("popular questions", 0.0, 200),
                ("new questions, no pause", 0.0, 0),
            ):
                limited = what != "new questions, no pause"
                for name, ask in questions(port, nodes, popular).items():
                    waits = clients.load(port, ask, clients=CLIENTS, seconds=seconds, pause=pause)
                    rows.append(row(f"{name}, {what}", waits, limited))
    return rows


def row(what: str, waits: clients.Waits, limited: bool) -> Row:
    found: Row = {
        "what": what,
        "clients": CLIENTS,
        "answers": len(waits.seconds),
        "per second": len(waits.seconds) / waits.total,
        "median ms": waits.percentile(0.5) * 1e3,
        "p95 ms": waits.percentile(0.95) * 1e3,
    }
    return found | ({"limit ms": LIMIT_MS} if limited else {})


def train(path: Path, nodes: dict[str, int]) -> None:
    """Save a run with these nodes; how well it is trained does not matter."""
    import numpy as np

    from dhne import DHNE, HyperNetwork

    rng = np.random.default_rng(0)
    m = 2 * max(nodes.values())
    columns = [np.minimum((n * rng.random(m) ** 2).astype(np.int64), n - 1) for n in nodes.values()]
    network = HyperNetwork.from_arrays({tuple(nodes): np.stack(columns, axis=1)}, nodes)
    DHNE(epochs=1, negatives=1, batch_size=8192).fit(network).save(path)


class Served:
    """``dhne explore`` in a separate process."""

    def __init__(self, run: Path) -> None:
        self.run = run

    def __enter__(self) -> int:
        command = [sys.executable, "-m", "dhne", "explore", str(self.run), "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        return int(line.split("127.0.0.1:")[1].split("/")[0])

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait()


def map_rows(port: int, n: int) -> list[Row]:
    paths = ["points?type=item", "names?type=item", "colours?type=item&by=degree"]
    start = time.perf_counter()
    size = clients.fetch(port, "/api/map?type=item", *(f"/api/map/{p}" for p in paths))
    seconds = time.perf_counter() - start
    what = f"map of {n:,} nodes"
    rows: list[Row] = [
        {"what": f"{what}, {size / 2**20:.1f} MiB", "seconds": seconds, "limit s": LIMIT_MAP}
    ]
    shown = in_browser(port)
    if shown is None:
        print("  (no browser found; only the API is measured)")
    else:
        rows.append({"what": f"{what}, in a browser", "seconds": shown, "limit s": LIMIT_MAP})
    return rows


def in_browser(port: int) -> float | None:
    """Return the seconds from opening the page to an interactive map, on the second visit."""
    if not CHROMIUM.exists():
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=[*FLAGS, *GRAPHICS]
        )
        seconds = 0.0
        for _ in range(2):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            start = time.perf_counter()
            page.goto(f"http://127.0.0.1:{port}/#/map/item")
            page.wait_for_selector(".stage[data-ready=true]")
            seconds = time.perf_counter() - start
            page.close()
        browser.close()
    return seconds


def wait_until_warm(port: int) -> None:
    """Send one request of each kind, so that everything created lazily exists."""
    for ask in questions(port, {"user": 2, "item": 2, "tag": 2}, 0).values():
        clients.load(port, ask, clients=1, seconds=0.1, pause=0.01)


def questions(port: int, nodes: dict[str, int], popular: int) -> dict[str, clients.Ask]:
    """Return a request generator per kind, over all nodes or a few popular ones."""

    def pick(rng: random.Random, node_type: str) -> int:
        return rng.randrange(nodes[node_type])

    def rank(rng: random.Random) -> bytes:
        if popular:
            rng = random.Random(rng.randrange(popular))
        names = [str(pick(rng, "user")), None, str(pick(rng, "tag"))]
        return clients.post("/api/rank", port, {"names": names, "k": 10})

    def similar(rng: random.Random) -> bytes:
        if popular:
            rng = random.Random(rng.randrange(popular))
        return clients.get(f"/api/similar?type=item&id={pick(rng, 'item')}&k=10", port)

    asks: dict[str, Any] = {"rank": rank, "similar": similar}
    return asks
