"""A small run with awkward names, and the explorer that serves it."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pytest

from dhne import DHNE, HyperNetwork
from dhne.explorer import make_app
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import EdgeColumns

from .visiting import CHROMIUM, FLAGS, Visit

if TYPE_CHECKING:  # where the explorer's packages are missing, its tests are skipped, not broken
    from fastapi.testclient import TestClient

PORT = 8765
ADDRESS = f"http://127.0.0.1:{PORT}"
MARKUP = "<img src=x onerror=alert(1)>"
NAMES = [MARKUP, "<b>bold</b>", "a/../b?c#d", "50% &amp;", "שלום", "naïve café", "null", "Heat"]


def network() -> HyperNetwork:
    """Users, movies and tags; and pairs of friends, whose order does not matter."""
    rng = np.random.default_rng(0)
    users = [f"user {i:02d}" for i in range(30)]
    movies = NAMES + [f"movie {i:02d}" for i in range(22)]
    tags = [10**17 + i for i in range(12)]  # integers that a browser's numbers cannot hold
    triples = np.stack([rng.integers(0, n, 400) % n for n in (30, 30, 12)], axis=1)
    triples[:, 1] = (triples[:, 0] + rng.integers(0, 4, 400)) % 30
    pairs = rng.integers(0, 30, (60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    columns = [[names[i] for i in triples[:, p]] for p, names in enumerate((users, movies, tags))]
    friends = [[users[i] for i in pairs[:, p]] for p in range(2)]
    return HyperNetwork.from_columns(
        [
            EdgeColumns(EdgeType(("user", "movie", "tag")), columns),
            EdgeColumns(EdgeType.of(("user", "user"), ordered=False), friends),
        ],
        nodes={"user": users, "movie": movies, "tag": tags},
        labels={"movie": [["<i>odd</i>", "other"] if i < 8 else ["plain"] for i in range(30)]},
    )


@pytest.fixture(scope="session")
def model() -> DHNE:
    settings = {"dim": 8, "epochs": 3, "validation": 0.1, "evidence": True}
    return DHNE(**settings, kernels="reference").fit(network())


@pytest.fixture(scope="session")
def client(model: DHNE) -> Iterator[TestClient]:
    from fastapi.testclient import TestClient

    with TestClient(make_app(model, name="<u>run</u>", port=PORT), base_url=ADDRESS) as client:
        yield client


class Live(NamedTuple):
    """An explorer that is really served."""

    address: str
    app: Any


@contextmanager
def served(model: DHNE, protocol: type[asyncio.Protocol] | None = None) -> Iterator[Live]:
    """Serve a model as `dhne explore` does."""
    import uvicorn

    from dhne.explorer.server import configure, listen

    with listen(0) as sock:
        port = sock.getsockname()[1]
        app = make_app(model, name="<u>run</u>", port=port)
        server = uvicorn.Server(configure(app, protocol))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True)
        thread.start()
        yield Live(f"http://127.0.0.1:{port}", app)
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="session")
def live(model: DHNE) -> Iterator[Live]:
    with served(model) as live:
        yield live


@pytest.fixture(scope="module")  # its event loop would disturb other tests
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


@pytest.fixture
def visit(browser: Any, live: Live, request: pytest.FixtureRequest) -> Iterator[Visit]:
    visit = Visit(browser, live.address, **getattr(request, "param", {}))
    yield visit
    visit.context.close()
    assert visit.wrong == []
