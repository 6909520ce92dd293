"""The SQL that turns rows of names into a prepared network; for any engine.

Each function returns one SELECT in the SQL that DuckDB, Spark and BigQuery have in common.
:func:`dhne.io.prepare` numbers nodes with :func:`nodes`. It replaces names shard by shard
(:func:`shard_ids`) and counts pairs by sorting; an engine that holds all rows in one table does the
same with :func:`edges` and :func:`pairs`.
"""

from __future__ import annotations

from collections.abc import Sequence

from dhne.network.edges import EdgeType


def names(table: str, columns: Sequence[str]) -> str:
    """Return the names of one node type with the number of rows in which each is, not yet summed.

    `columns` are the columns of `table` that hold the node type.

    Examples
    --------
    >>> print(names("follows", ["who", "whom"]))
    SELECT who AS name, count(*) AS degree FROM follows GROUP BY who
    UNION ALL
    SELECT whom AS name, count(*) AS degree FROM follows GROUP BY whom
    """
    counts = (f"SELECT {c} AS name, count(*) AS degree FROM {table} GROUP BY {c}" for c in columns)
    return "\nUNION ALL\n".join(counts)


def nodes(names: str) -> str:
    """Return the nodes of one type: ids by falling degree, then by name (as bytes).

    `names` is a table (or query) of ``name`` and ``degree`` in which a name may repeat.

    Examples
    --------
    >>> print(nodes("names_user"))
    SELECT row_number() OVER (ORDER BY sum(degree) DESC, name) - 1 AS id,
           name, CAST(sum(degree) AS BIGINT) AS degree
    FROM names_user
    GROUP BY name
    """
    return (
        "SELECT row_number() OVER (ORDER BY sum(degree) DESC, name) - 1 AS id,\n"
        "       name, CAST(sum(degree) AS BIGINT) AS degree\n"
        f"FROM {names}\n"
        "GROUP BY name"
    )


def edges(table: str, columns: Sequence[tuple[str, str]], others: Sequence[str] = ()) -> str:
    """Return the hyperedges of a table as node ids.

    Parameters
    ----------
    table : str
    columns : sequence of (table of nodes, column)
        One for each position.
    others : sequence of str
        The columns ``weight`` and ``time``, where there are any.

    Examples
    --------
    >>> print(edges("tags", [("nodes_user", "userId"), ("nodes_movie", "title")], ["weight"]))
    SELECT p0.id AS n0, p1.id AS n1, weight
    FROM tags
    JOIN nodes_user AS p0 ON p0.name = tags.userId
    JOIN nodes_movie AS p1 ON p1.name = tags.title
    """
    chosen = ", ".join([*(f"p{p}.id AS n{p}" for p in range(len(columns))), *others])
    joins = (f"JOIN {t} AS p{p} ON p{p}.name = {table}.{c}" for p, (t, c) in enumerate(columns))
    return "\n".join([f"SELECT {chosen}", f"FROM {table}", *joins])


def shard_ids(names: str, nodes: str) -> str:
    """Return the id of every name of every shard, in the order in which shards number them."""
    return f"SELECT id FROM {names} AS n JOIN {nodes} USING (name) ORDER BY n.shard, n.code"


def pairs(tables: Sequence[tuple[str, EdgeType, bool]], first: str, second: str) -> str:
    """Return the total weight of the hyperedges that hold both a and b, for nodes of two types.

    A node counts once in a hyperedge, however often it is in it: a position counts only where no
    earlier position of its node type holds the same node. Where both types are the same, each pair
    is there once, with a < b.

    Parameters
    ----------
    tables : sequence of (table of hyperedges, its edge type, whether it has weights)
    first, second : node types

    Examples
    --------
    >>> print(pairs([("edges", EdgeType.of(("user", "movie")), True)], "user", "movie"))
    SELECT a, b, sum(weight) AS weight FROM (
      SELECT n0 AS a, n1 AS b, weight FROM edges
    ) AS meetings
    GROUP BY a, b
    """
    meetings = "\n  UNION ALL\n".join(
        f"  {_meetings(table, types, p, q, weighted)}"
        for table, types, weighted in tables
        for p, q in meeting_positions(types, first, second)
    )
    return f"SELECT a, b, sum(weight) AS weight FROM (\n{meetings}\n) AS meetings\nGROUP BY a, b"


def meeting_positions(types: EdgeType, first: str, second: str) -> list[tuple[int, int]]:
    """Return the pairs of positions at which nodes of the two types meet."""
    return [
        (p, q)
        for p in types.positions_of(first)
        for q in types.positions_of(second)
        if first != second or p < q
    ]


def _meetings(table: str, types: EdgeType, p: int, q: int, weighted: bool) -> str:
    a, b = f"n{p}", f"n{q}"
    if types[p] == types[q]:
        a, b = f"least({a}, {b})", f"greatest({a}, {b})"
    weight = "weight" if weighted else "1.0 AS weight"
    repeats = [f"n{x} <> n{e}" for x in (p, q) for e in types.positions_of(types[x]) if e < x]
    where = f" WHERE {' AND '.join(repeats)}" if repeats else ""
    return f"SELECT {a} AS a, {b} AS b, {weight} FROM {table}{where}"


def meeting_types(types: Sequence[EdgeType], node_types: Sequence[str]) -> list[tuple[int, int]]:
    """Return the numbers of the node types that meet in some edge type, the smaller first."""
    return [
        (i, k)
        for i, first in enumerate(node_types)
        for k, second in enumerate(node_types)
        if i <= k and any(meeting_positions(t, first, second) for t in types)
    ]
