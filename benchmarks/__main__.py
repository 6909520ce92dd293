"""Run benchmarks by name and print their tables."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

from benchmarks._table import format_table


def names() -> list[str]:
    """Return the names of all benchmarks."""
    modules = iter_modules([str(Path(__file__).parent)])
    return sorted(m.name for m in modules if not m.name.startswith("_"))


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks that are asked for; return 1 if one of them failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones; all if left out")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that they work")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the rows as data")
    parser.add_argument("--list", action="store_true", help="say which there are")
    options = parser.parse_args(arguments)
    if options.list:
        print("\n".join(names()))
        return 0
    unknown = sorted(set(options.names) - set(names()))
    if unknown:
        parser.error(f"unknown benchmark {unknown[0]!r}; there are: {', '.join(names())}")
    machine = {"cores": os.cpu_count(), "python": platform.python_version(), "quick": options.quick}
    print(f"{machine['cores']} cores, Python {machine['python']}" + " (quick)" * options.quick)
    results: dict[str, Any] = {"machine": machine}
    failed = False
    for name in options.names or names():
        module = import_module(f"benchmarks.{name}")
        title = (module.__doc__ or name).strip().splitlines()[0]
        print(f"\n{name}: {title}", flush=True)
        try:
            rows = module.run(quick=options.quick)
        except Exception as error:  # one benchmark that fails must not hide the others
            print(f"  failed: {type(error).__name__}: {error}", file=sys.stderr)
            results[name], failed = {"error": str(error)}, True
            continue
        print(format_table(rows))
        results[name] = rows
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
