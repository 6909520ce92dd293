"""The explorer: a local web page to look at one run, and the small API behind it.

``dhne explore RUN`` loads a run and serves it on 127.0.0.1 only. One file per part:

- `atlas` holds the run and indices derived from it: searchable names, hyperedges by node;
- `layouts` projects embeddings to the plane; `dhne.answers` answers questions;
- `asking` answers similar questions in one pass, `answer_cache` keeps the answers;
- ``*_routes`` are the documented routes, `comparison` finds what nodes share;
- `guard` refuses foreign and oversized requests, `connections` limits open connections;
- ``static/`` is the page: plain modules without a build step. Plotly's browser library comes from
  the installed plotly package.

Examples
--------
>>> from dhne import DHNE
>>> from dhne.datasets import planted_clusters
>>> from dhne.explorer import make_app
>>> model = DHNE(dim=4, epochs=2, kernels="reference").fit(planted_clusters(nodes_per_cluster=4))
>>> app = make_app(model, name="clusters", port=8765)
>>> "/api/rank" in app.openapi()["paths"]
True
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from dhne.errors import MissingExtraError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from dhne.estimator import DHNE

__all__ = ["make_app", "require_packages", "serve"]

_PACKAGES = ("fastapi", "uvicorn", "plotly")  # umap-learn is optional: it adds a second layout


def make_app(model: DHNE, *, name: str, port: int) -> FastAPI:
    """Return the explorer of a fitted model as an ASGI application.

    Parameters
    ----------
    model : DHNE
    name : str
        The name of the run on the page.
    port : int
        The port to be served on; requests for another host or port are refused.
    """
    require_packages()
    application: Any = import_module(".application", __name__)
    app: FastAPI = application.make_app(model, name=name, port=port)
    return app


def serve(
    run: str,
    *,
    port: int | None = None,
    browser: bool = True,
    say: Any = print,
    labels: Any = None,
) -> None:
    """Load a run and serve its page on 127.0.0.1 until interrupted.

    Parameters
    ----------
    run : str
        The directory of a run.
    port : int, optional
        8765 by default, or any free port if that is taken.
    browser : bool
        Whether to open the page in a browser.
    say : function of one string
        Called with the address when the page is being served.
    labels : path, optional
        A table of labels that replaces the run's own.
    """
    require_packages()
    server: Any = import_module(".server", __name__)
    server.serve(run, port=port, browser=browser, say=say, labels=labels)


def require_packages() -> None:
    """Raise `MissingExtraError` if a package that the explorer needs is not installed."""
    for package in _PACKAGES:
        if find_spec(package) is None:
            raise MissingExtraError(package, extra="explorer")
