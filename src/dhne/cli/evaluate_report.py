"""What ``dhne evaluate`` prints: means, spreads, and what they were measured on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from .output import add_row, console, make_table

if TYPE_CHECKING:
    from dhne.evaluation import Record


def show_record(record: Record) -> None:
    """Print the means, spreads and what they were measured on."""
    title = f"{record.method} on {record.dataset}: {record.task}, protocol {record.protocol}"
    screen = console()
    whole = [n for n in record.mean if "/" not in n]
    screen.print(Text(title, style="bold"))
    table = make_table("", ["metric", "mean", "std"], left=["metric"])
    for name in whole:
        add_row(table, name, _number(name, record.mean[name]), _number(name, record.std[name]))
    screen.print(table)
    places = list(dict.fromkeys(n.partition("/")[2] for n in record.mean if "/" in n))
    if places:
        kinds = [n for n in whole if f"{n}/{places[0]}" in record.mean]
        table = make_table("", ["for each", *kinds], left=["for each"])
        for place in places:
            add_row(table, place, *(_number(k, record.mean[f"{k}/{place}"]) for k in kinds))
        screen.print(table)
    screen.print("\n".join(_footnotes(record)), soft_wrap=True)


def _number(metric: str, value: float) -> str:
    return f"{value:.1f}" if metric == "mean_rank" else f"{value:.4f}"


def _footnotes(record: Record) -> list[str]:
    from dhne.evaluation.separation import similarity_title

    edges = record.config["edges"]
    seeds = ", ".join(str(r.seed) for r in record.results)
    seconds = sum(r.seconds["fit"] for r in record.results) / len(record.results)
    peak = max(r.peak_rss_mb for r in record.results)
    ranked = record.config.get("counts", {}).get("ranked", 0)
    lines = [
        (
            f"seeds {seeds}; {edges['train']:,} hyperedges to learn from, {edges['test']:,} to "
            f"test; fit {seconds:.1f} s per seed, peak memory {peak:,.0f} MiB"
        )
    ]
    for seed, choice in record.config.get("chosen", {}).items():
        best = choice["aggregate"]
        how = f"{best} of the pairs' {similarity_title(choice['similarity'][best])}"
        lines.append(f"seed {seed}: {how}, chosen on validation data")
    if 0 < ranked < edges["test"]:
        lines.append(f"ranks are over {ranked:,} test hyperedges; --ranking all ranks all")
    return lines
