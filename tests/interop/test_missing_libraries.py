"""A library that is not installed is asked for by the extra that brings it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from dhne.errors import MissingExtraError
from dhne.interop import from_xgi, to_gensim, to_hypernetx, to_pandas, to_polars, to_pyg, to_xgi
from tests.interop.models import clusters, fitted

CALLS: dict[str, Callable[[], object]] = {
    "xgi": lambda: to_xgi(clusters()),
    "hypernetx": lambda: to_hypernetx(clusters()),
    "pandas": lambda: to_pandas(clusters()),
    "polars": lambda: to_polars(clusters()),
    "torch_geometric": lambda: to_pyg(clusters()),
    "gensim": lambda: to_gensim(fitted(), "type0"),
}


@pytest.mark.parametrize("library", CALLS)
def test_says_which_extra(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted()
    for name in [m for m in sys.modules if m.partition(".")[0] == library]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, library, None)
    package = library.replace("_", "-")
    with pytest.raises(MissingExtraError, match=rf"package {package}; .*'dhne\[interop\]'"):
        CALLS[library]()


def test_reading_asks_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xgi", None)
    with pytest.raises(MissingExtraError):
        from_xgi(None)
