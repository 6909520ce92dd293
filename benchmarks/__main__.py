"""Run benchmarks by name and print their tables."""

from __future__ import annotations

import argparse
import json
import os
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from benchmarks._machine import machine, sentence
from benchmarks._options import CHOICES, DEVICE, HUGE, LARGE, LeftOut
from benchmarks._table import Row, format_table

# Accuracy studies, which train many times: run only if named explicitly.
STUDIES = (
    *("ablation", "defaults", "large_batches", "out_of_sample", "plus_choices", "plus_defaults"),
    *("row_sample", "untuned", "updates"),
)
# Named groups of benchmarks for one device, the most important first.
GROUPS = {"gpu": ("cuda", ("train", "time_to_auc", "roofline", "scale", "plus_cost"))}


def names() -> list[str]:
    """Return the names of all benchmarks."""
    modules = iter_modules([str(Path(__file__).parent)])
    return sorted(m.name for m in modules if not m.name.startswith("_"))


def main(arguments: list[str] | None = None) -> int:
    """Run the requested benchmarks; return 1 if one of them failed."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join([*names(), *GROUPS]))
        return 0
    unknown = sorted(set(options.names) - set(names()) - set(GROUPS))
    if unknown:
        known = ", ".join([*names(), *GROUPS])
        parser.error(f"unknown benchmark {unknown[0]!r}; choose from: {known}")
    chosen, device = _chosen(options.names, options.device)
    os.environ[DEVICE] = device
    os.environ[LARGE] = "1" if options.large else ""
    os.environ[HUGE] = "1" if options.huge else ""
    about = machine() | {"quick": options.quick}
    print(sentence(about) + " (quick)" * options.quick)
    results: dict[str, Any] = {"machine": about}
    failed = False
    for name in chosen:
        results[name] = _run(name, quick=options.quick)
        failed = failed or "error" in results[name]
        if options.json:  # after each benchmark, so that an interrupted run keeps its results
            options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return int(failed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "names",
        nargs="*",
        metavar="NAME",
        help="names of benchmarks; default: all but the studies; gpu: those for CUDA",
    )
    parser.add_argument(
        "--quick", action="store_true", help="use tiny sizes, to check that the benchmarks work"
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows as JSON")
    parser.add_argument("--list", action="store_true", help="list the names of the benchmarks")
    parser.add_argument("--device", choices=CHOICES, help="device to train on; default: all")
    parser.add_argument("--large", action="store_true", help="include sizes that take many minutes")
    parser.add_argument(
        "--huge",
        action="store_true",
        help="include one worker's part of 10^9 hyperedges (distributed), on a GPU with 72 GiB",
    )
    return parser


def _chosen(asked: list[str], device: str | None) -> tuple[list[str], str]:
    """Expand groups; return the benchmarks in order and the device."""
    chosen: list[str] = []
    for name in asked or [n for n in names() if n not in STUDIES]:
        on, members = GROUPS.get(name, (None, (name,)))
        chosen += [m for m in members if m not in chosen]
        device = device or on
    return chosen, device or "auto"


def _run(name: str, *, quick: bool) -> Any:
    """Run one benchmark, print its tables, and return them."""
    module = import_module(f"benchmarks.{name}")
    title = (module.__doc__ or name).strip().splitlines()[0]
    print(f"\n{name}: {title}", flush=True)
    try:
        found: list[Row] | dict[str, list[Row]] = module.run(quick=quick)
    except LeftOut as reason:
        print(f"  left out: {reason}")
        return {"left out": str(reason)}
    except Exception as error:  # one failure must not hide the other benchmarks
        print(f"  failed: {type(error).__name__}: {error}", file=sys.stderr)
        return {"error": str(error)}
    tables = found if isinstance(found, dict) else {"": found}
    print("\n\n".join(format_table(rows) for rows in tables.values() if rows), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
