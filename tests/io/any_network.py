"""Networks to write and read back, small ones by hand and any ones by hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from dhne import HyperNetwork
from dhne.network.edges import EdgeType
from dhne.network.hypernetwork import EdgeColumns

# A NUL byte in a name is refused by text files; tests of those say so.
TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8)
TYPES = st.sampled_from(["user", "movie", "weight", "a b", "ü,", ""])
NAMES = {
    "integer": st.integers(-(2**63), 2**63 - 1),
    "string": TEXT
    | st.integers(-3, 12).map(str)
    | st.sampled_from(["007", "NaN", "", "1.5", "null"]),
}


@st.composite
def networks(draw: st.DrawFn) -> HyperNetwork:
    """Any small network: several edge types, repeats, weights, labels, nodes without an edge."""
    node_types = draw(st.lists(TYPES, min_size=1, max_size=3, unique=True))
    names = {}
    for t in node_types:
        kind = draw(st.sampled_from(["integer", "string"]))
        names[t] = draw(st.lists(NAMES[kind], max_size=5, unique=True))
    usable = [t for t in node_types if names[t]]
    edge_types = st.lists(st.sampled_from(usable), min_size=2, max_size=4).map(tuple)
    tables = []
    for types in draw(st.lists(edge_types, max_size=3, unique=True)) if usable else []:
        rows = draw(st.lists(st.tuples(*(st.sampled_from(names[t]) for t in types)), max_size=5))
        weights = draw(
            st.none() | st.lists(st.floats(1e-9, 1e9), min_size=len(rows), max_size=len(rows))
        )
        columns = [[row[p] for row in rows] for p in range(len(types))]
        ordered = draw(st.booleans())
        tables.append(
            EdgeColumns(
                EdgeType.of(types, ordered=ordered),
                [_typed(c, names[t]) for c, t in zip(columns, types, strict=True)],
                weights,
            )
        )
    labels = {
        t: draw(st.lists(st.lists(TEXT, max_size=2, unique=True), min_size=len(n), max_size=len(n)))
        for t, n in names.items()
        if draw(st.booleans())
    }
    nodes = {t: _typed(n, n) for t, n in names.items()}
    return HyperNetwork.from_columns(tables, labels, nodes)


def _typed(column, names):  # type: ignore[no-untyped-def]
    import pyarrow as pa

    return pa.array(column, pa.int64() if names and isinstance(names[0], int) else pa.string())
