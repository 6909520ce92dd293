"""Serve a run on this machine until interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from dhne.errors import ParameterError
from dhne.estimator import load
from dhne.io import add_labels

from .application import make_app
from .connections import bounded

HOST, PORT = "127.0.0.1", 8765


def serve(
    run: str,
    *,
    port: int | None = None,
    browser: bool = True,
    say: Callable[[str], None],
    labels: str | Path | None = None,
) -> None:
    """Load a run and serve it; see `dhne.explorer.serve`."""
    with listen(port) as sock:
        place = int(sock.getsockname()[1])
        model = load(run)
        if labels is not None:
            model.network_ = add_labels(model.network_, labels)
        app = make_app(model, name=Path(run).resolve().name, port=place, path=Path(run))
        address = f"http://{HOST}:{place}/"

        def ready() -> None:
            say(address)
            if browser:
                webbrowser.open(address)

        config = configure(app)
        with _one_thread_a_question(), contextlib.suppress(KeyboardInterrupt):  # Ctrl-C ends it
            server = _Server(config, ready)
            with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
                runner.run(server.serve(sockets=[sock]))


def configure(app: FastAPI, protocol: type[asyncio.Protocol] | None = None) -> uvicorn.Config:
    """Return the server's configuration: limited connections, no web sockets, no log output."""
    return uvicorn.Config(
        app,
        http=protocol or bounded(),
        ws="none",
        log_level="error",
        access_log=False,
        timeout_graceful_shutdown=2,
        server_header=False,
    )


class _Server(uvicorn.Server):
    """A server that reports when it is ready."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then call `ready`."""
        await super().startup(sockets)
        if self.started:
            self._ready()


def listen(port: int | None) -> socket.socket:
    """Return a local socket at `port`; by default at 8765 or any free port.

    Raises
    ------
    ParameterError
        If the port cannot be used.
    """
    for candidate in (PORT, 0) if port is None else (port,):
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((HOST, candidate))
            sock.listen(1024)
            return sock
        except (OSError, OverflowError) as error:
            sock.close()
            reason = getattr(error, "strerror", None) or str(error)
    raise ParameterError(f"port {port} cannot be used ({reason}); choose another, or omit --port")


@contextlib.contextmanager
def _one_thread_a_question() -> Iterator[None]:
    """Limit matrix products to one thread: questions run in parallel instead."""
    import torch
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with threadpool_limits(1):
            yield
    finally:
        torch.set_num_threads(threads)
