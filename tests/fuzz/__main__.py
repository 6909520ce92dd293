"""Damage valid files of every kind many times over; report what is not read or refused cleanly.

    python -m tests.fuzz --mutations 20000 --seed 0

What is found is kept in ``tests/fuzz/corpus`` and tried again by the tests.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from tests.fuzz.harness import Tally, judge, keep
from tests.fuzz.mutations import mutate
from tests.fuzz.targets import targets


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--mutations", type=int, default=20_000, help="in all; default: 20000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--target", action="append", help="only this kind; may be repeated")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        made = targets(Path(folder))
        chosen = {n: t for n, t in made.items() if not given.target or n in given.target}
        share = -(-given.mutations // len(chosen))
        total = 0
        for number, (name, target) in enumerate(chosen.items()):
            rng, tally, begin = np.random.default_rng([given.seed, number]), Tally(), time.time()
            for _ in range(share):
                judge(target, mutate(target.seed, target.ending, rng), tally)
            print(
                f"{name:20} {share:6} mutations: {tally.read} read, {tally.refused} refused, "
                f"{len(tally.findings)} found; slowest {tally.slowest:.2f} s, "
                f"all {time.time() - begin:.0f} s",
                flush=True,
            )
            for what in {f.what: f for f in tally.findings}.values():
                print(f"--- {keep(what)}\n{what.what}")
            total += len(tally.findings)
    print(f"{share * len(chosen)} mutations, {total} found")
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
