"""The tables of ``dhne info``."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.text import Text

from .output import add_row, make_table, shorten

_FEW = 4  # sizes that are listed one by one


def show_network(report: dict[str, Any], console: Console) -> None:
    """Print what is in a network."""
    title = report.get("title") or ", ".join(report["source"])
    console.print(Text(title, style="bold"))
    for key in ("description", "citation"):
        if report.get(key):
            console.print(Text(report[key], style="dim" if key == "citation" else ""))
    console.print(f"{report['nodes']:,} nodes, {report['edges']:,} hyperedges\n")
    console.print(_node_table(report["node_types"]))
    console.print(_edge_table(report["families"]))
    if any(n.get("labelled") for n in report["node_types"]):
        console.print(_label_table(report["node_types"]))
    if "parts" in report:
        _show_parts(report["parts"], console)
    if report.get("caution"):
        console.print(Text.assemble(("caution ", "yellow"), report["caution"]))


def _node_table(records: list[dict[str, Any]]) -> Any:
    isolated = any(n["isolated"] for n in records)
    columns = ["type", "nodes", "min", "median", "mean", "max", "for example"]
    if isolated:
        columns.insert(2, "isolated")
    table = make_table("Nodes and their degrees", columns, left=["type", "for example"])
    for n in records:
        degree = n["degree"]
        examples = ", ".join(shorten(name, 24) for name in n["examples"])
        numbers = [degree["min"], degree["median"], degree["mean"], degree["max"]]
        if isolated:
            numbers.insert(0, n["isolated"])
        named = examples if n["names"] != "none" else "(no names)"
        add_row(table, n["type"], n["nodes"], *numbers, named)
    return table


def _edge_table(records: list[dict[str, Any]]) -> Any:
    weighted = any(
        e["weight"]["max"] != 1 or e["weight"]["min"] != 1 for e in records if e["edges"]
    )
    of_sizes = any(len(e["sizes"]) > 1 for e in records)
    columns = ["type", "edges", "distinct", "repeats", "members" if of_sizes else "density"]
    columns += ["weight min", "mean", "max"] if weighted else []
    timed = any(e.get("time") for e in records)
    columns += ["first time", "last time"] if timed else []
    table = make_table("Hyperedges", columns, left=["type"])
    for e in records:
        last = _sizes(e["sizes"]) if of_sizes else e["density"]
        numbers = [e["edges"], e["distinct"], e["repeats"], last]
        numbers += [e["weight"][k] for k in ("min", "mean", "max")] if weighted else []
        spans = e.get("time") or {}
        times = [str(spans.get(k, "")) for k in ("first", "last")] if timed else []
        add_row(table, e["label"], *numbers, *times)
    return table


def _sizes(sizes: dict[Any, int]) -> str:
    """Return how many members hyperedges have: the share of each size, or of ranges of many.

    Examples
    --------
    >>> _sizes({2: 6, 3: 3, 5: 1}), _sizes({3: 4})
    ('2 60%, 3 30%, 5 10%', '3')
    """
    counts = sorted((int(size), n) for size, n in sizes.items())
    total = sum(n for _, n in counts)
    if len(counts) < 2 or not total:
        return ", ".join(str(size) for size, _ in counts)
    if len(counts) <= _FEW:
        return ", ".join(f"{size} {_share(n / total)}" for size, n in counts)
    ranges: dict[int, list[tuple[int, int]]] = {}
    for size, n in counts:  # 2, 3 to 4, 5 to 8, …
        ranges.setdefault((size - 1).bit_length(), []).append((size, n))
    shown = []
    for part in ranges.values():
        low, high = part[0][0], part[-1][0]
        name = f"{low}" if low == high else f"{low}–{high}"
        shown.append(f"{name} {_share(sum(n for _, n in part) / total)}")
    return ", ".join(shown)


def _share(share: float) -> str:
    return f"{share:.0%}" if share >= 0.005 else "<1%"


def _label_table(records: list[dict[str, Any]]) -> Any:
    table = make_table("Labels", ["type", "labelled nodes", "different labels"], left=["type"])
    for n in records:
        if n.get("labelled"):
            add_row(table, n["type"], n["labelled"], n["labels"])
    return table


def _show_parts(parts: dict[str, Any], console: Console) -> None:
    there = [part for part in ("train", "valid", "test") if part in parts]
    title = "Train, validation and test" if "valid" in there else "Train and test"
    table = make_table(title, ["part", "edges", "distinct", "repeats"], left=["part"])
    for part in there:
        record = parts[part]
        add_row(table, part, record["edges"], record["distinct"], record["repeats"])
    console.print(table)
    total, seen = parts["test"]["edges"], parts["test_in_train"]
    share = f" ({seen / total:.0%})" if total else ""
    console.print(f"{seen:,} of {total:,} test rows{share} are also in train\n")


def _plainly(value: Any) -> Any:
    """Return settings in words; those that were left to their defaults are left out."""
    if isinstance(value, dict):
        given = {k: v for k, v in value.items() if v not in (None, [])}
        return ", ".join(f"{k} {_plainly(v)}" for k, v in given.items())
    if isinstance(value, list):
        return " ".join(str(_plainly(v)) for v in value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.4g}" if isinstance(value, float) else value


def _without_curves(value: Any) -> Any:
    """Return a setting without the bins of a reliability diagram, which the explorer draws."""
    return (
        {k: v for k, v in value.items() if k != "reliability"} if isinstance(value, dict) else value
    )


def show_run(report: dict[str, Any], console: Console) -> None:
    """Print what is in a run."""
    console.print(Text(report["source"], style="bold"))
    table = make_table("Run", ["setting", "value"], left=["setting", "value"])
    for key, value in report["config"].items():
        add_row(table, key, _plainly(_without_curves(value)))
    console.print(table)
    if report["node_types"]:
        nodes = make_table("Nodes", ["type", "nodes"], left=["type"])
        for n in report["node_types"]:
            add_row(nodes, n["type"], n["nodes"])
        console.print(nodes)
    if report["last"]:
        shown = ", ".join(
            f"{k} {v:,.0f}" if isinstance(v, float) and v >= 1000 else f"{k} {_plainly(v)}"
            for k, v in report["last"].items()
        )
        console.print(Text(f"last epoch: {shown}"))
    console.print(Text(f"{report['bytes'] / 2**20:.1f} MiB in {len(report['files'])} files"))
