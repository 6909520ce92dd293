"""The assembled application: routes, static files, error messages, worker threads."""

from __future__ import annotations

import hashlib
import os
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse

import dhne
from dhne.answers.completion import Question
from dhne.errors import DHNEError, UnknownNameError
from dhne.estimator import DHNE
from dhne.network.edges import EdgeType

from . import (
    explanation_routes,
    map_routes,
    node_routes,
    question_routes,
    run_routes,
    selection_routes,
)
from .answer_cache import AnswerCache
from .asking import BusyError, Desk
from .atlas import Atlas
from .explanation_routes import WholeTuple
from .guard import Guard
from .question_routes import Near
from .schemas import Problem

_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


class Desks(NamedTuple):
    """The queues of the questions that take a while to answer."""

    near: Desk[Near, bytes]
    quick: Desk[Question, bytes]
    slow: Desk[Question, bytes]
    why: Desk[WholeTuple, bytes]


def make_app(model: DHNE, *, name: str, port: int, path: Path | None = None) -> FastAPI:
    """Return the explorer of a model; see `dhne.explorer.make_app`."""
    atlas = Atlas(model, name, path)
    # One core is left for the event loop; slow questions have a thread of their own.
    quick = ThreadPoolExecutor(max(1, (os.cpu_count() or 2) - 1), thread_name_prefix="quick")
    slow = ThreadPoolExecutor(1, thread_name_prefix="slow")
    ahead = ThreadPoolExecutor(1, thread_name_prefix="ahead")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        quick.submit(atlas.warm_up).add_done_callback(
            lambda _: ahead.submit(atlas.make_short_lists)
        )
        yield
        atlas.close()
        for pool in (quick, slow, ahead):
            pool.shutdown(cancel_futures=True)

    app = FastAPI(
        title="dhne explorer",
        version=dhne.__version__,
        description="Queries of one run: its nodes, their map, tuples and completions.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # FastAPI's pages fetch their scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        responses={
            code: {"model": Problem, "description": text}
            for code, text in {
                400: "Malformed request",
                403: "Request from another page",
                404: "Not found",
                413: "Too large",
                414: "Address too long",
                421: "Request for another host",
                422: "Invalid value",
                431: "Too many headers",
                503: "Too many requests at once",
            }.items()
        },
    )
    app.state.atlas, app.state.desks = atlas, _desks(atlas, quick, slow)
    app.include_router(question_routes.router)  # the busiest first
    for module in (explanation_routes, run_routes, node_routes, map_routes, selection_routes):
        app.include_router(module.router)
    _serve_page(app)
    _explain_errors(app)
    _describe(app, atlas)
    app.add_middleware(AnswerCache, paths=("/api/rank", "/api/similar", "/api/explain"))
    app.add_middleware(Guard, port=port)  # the last one added sees requests first
    return app


def _desks(atlas: Atlas, quick: ThreadPoolExecutor, slow: ThreadPoolExecutor) -> Desks:
    passes = quick._max_workers
    near = partial(question_routes.answer_near, atlas)
    rank = partial(question_routes.answer_rank, atlas)
    why = partial(explanation_routes.answer_why, atlas)

    def kind(question: Question) -> tuple[EdgeType, tuple[int, ...]]:
        return question.types, question.open_positions

    return Desks(
        near=Desk(near, lambda q: q.node_type, quick, passes=passes, together=32),
        quick=Desk(rank, kind, quick, passes=passes, together=32),
        slow=Desk(rank, kind, slow, together=1, waiting=32),
        why=Desk(why, lambda q: q.types, slow, together=1, waiting=32),
    )


def _describe(app: FastAPI, atlas: Atlas) -> None:
    """Add this run's node types, ids and edge types to the API's description."""
    network = atlas.network
    largest = max((network.num_nodes(t) for t in network.node_types), default=1)
    known: dict[str, dict[str, Any]] = {
        "type": {"enum": list(network.node_types)},
        "of": {"enum": list(network.node_types)},
        "with_type": {"enum": list(network.node_types)},
        "id": {"maximum": max(0, largest - 1)},
        "with_id": {"maximum": max(0, largest - 1)},
        "edge_type": {"maximum": max(0, len(network.edge_types) - 1)},
    }
    described = app.openapi()  # made once; later calls return this same object
    for methods in described["paths"].values():
        for route in methods.values():
            for parameter in route.get("parameters", []):
                parameter["schema"].pop("exclusiveMaximum", None)
                parameter["schema"].update(known.get(parameter["name"], {}))
    for body in ("RankQuestion", "TupleQuestion"):
        fields = described["components"]["schemas"][body]["properties"]
        fields["edge_type"].update(known["edge_type"])


# -- the page --------------------------------------------------------------------------------------


class _File(NamedTuple):
    content: bytes
    kind: str
    tag: str


def _serve_page(app: FastAPI) -> None:
    """Serve a fixed list of files, read once: no request can name a path on the disk."""
    page = {f"/static/{f.name}": _read(f) for f in files(__package__).joinpath("static").iterdir()}
    page["/"] = page.pop("/static/index.html")
    plotly = _read(files("plotly").joinpath("package_data", "plotly.min.js"), ".js")
    page["/plotly.js"] = plotly
    # An address that changes with the content may be cached, and the compiled code with it.
    version = plotly.tag.strip('"')
    address = f"/plotly.js?{version}".encode()
    index = page["/"].content.replace(b'"/plotly.js"', b'"' + address + b'"')
    page["/"] = _file(index, ".html")

    def give(request: Request) -> Response:
        file = page[request.scope["route"].path]
        headers = {"etag": file.tag}
        if file is plotly and request.url.query == version:
            headers["cache-control"] = "max-age=31536000, immutable"
        if request.headers.get("if-none-match") == file.tag:
            return Response(status_code=304, headers=headers)
        return Response(file.content, media_type=file.kind, headers=headers)

    for path in page:
        app.add_api_route(path, give, include_in_schema=False)


def _read(file: Any, kind: str | None = None) -> _File:
    return _file(file.read_bytes(), kind or Path(file.name).suffix)


def _file(content: bytes, kind: str) -> _File:
    return _File(content, _KINDS[kind], f'"{hashlib.sha256(content).hexdigest()[:16]}"')


# -- errors ----------------------------------------------------------------------------------------


def _explain_errors(app: FastAPI) -> None:
    """Answer errors with one line that says what to do; never echo the request."""

    def problem(status: int, detail: str) -> JSONResponse:
        text = detail.encode("utf-8", "replace").decode()
        return JSONResponse({"detail": text}, status_code=status)

    @app.exception_handler(DHNEError)
    def of_ours(_: Request, error: DHNEError) -> JSONResponse:
        if isinstance(error, UnknownNameError):
            return problem(404, str(error))
        return problem(503 if isinstance(error, BusyError) else 422, str(error))

    @app.exception_handler(RequestValidationError)
    def of_form(_: Request, error: RequestValidationError) -> JSONResponse:
        lines = []
        for e in error.errors()[:5]:
            place = ".".join(str(part) for part in e["loc"] if part not in ("query", "body"))
            lines.append(f"{place or 'the body'}: {e['msg']}")
        return problem(422, "; ".join(lines))

    @app.exception_handler(HTTPException)
    def of_http(_: Request, error: HTTPException) -> JSONResponse:
        answer = problem(error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer
