#!/usr/bin/env python3
"""Crashes of the store and of its log on a simulated disk, as many as wanted, on all processors.

Each story is made from its seed: random transactions, DDL, checkpoints; then the power goes in the middle of a call (what was
not synced is kept, lost, torn or reordered), the process dies, or a call fails; then a start, which may crash as well,
and the checks: everything acknowledged is there, the state is one of the order of commits, indexes agree with rows, the log's
events rebuild the tables. Of each power failure --outcomes more outcomes are made and checked. The tests are
crates/engine/tests/crash_sim.rs and crates/log/tests/model.rs; a failure prints the seed that repeats it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The store's test, and the log's; the log's crashes are cheap, and not counted for the store's.
TESTS = {
    "store": ("narwal-engine", "crash_sim", "any_crash_leaves_a_prefix_with_everything_acknowledged"),
    "log": ("narwal-log", "model", "c1_crash_at_any_call_keeps_what_was_acknowledged_and_a_prefix_of_the_rest"),
}


def simulate(what: str, o: argparse.Namespace) -> tuple[int, bool]:
    """The crashes that there were, and whether all went well."""
    package, test, name = TESTS[what]
    env = {**os.environ, "NARWAL_CRASHES": str(o.crashes), "NARWAL_FROM": str(o.seed), "NARWAL_OUTCOMES": str(o.outcomes)}
    env.pop("NARWAL_SEED", None)
    if o.seconds:
        env["NARWAL_SECONDS"] = str(o.seconds)
    what_to_build = [*([] if o.dev else ["--profile", "quick"]), "-p", package, "--test", test]
    subprocess.run(["cargo", "build", *what_to_build], cwd=ROOT, check=True)
    began = time.monotonic()
    run = subprocess.Popen(["cargo", "test", *what_to_build, "--", "--exact", name, "--nocapture"], cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True)
    said = ""
    for line in run.stdout:
        if re.match(r"\d+ (min|stories)", line):
            said = line.strip()
            print(f"{what}: {said}", flush=True)
    good = run.wait() == 0
    if not good:
        print(f"{what}: FAILED, see above", flush=True)
    crashes = int((re.search(r"(\d+) crashes", said) or [0, 0])[1])
    print(f"{what}: {crashes} crashes in {time.monotonic() - began:.0f} s", flush=True)
    return crashes, good


def main() -> int:
    p = argparse.ArgumentParser(prog="./torture --simulate", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("crashes", type=int, nargs="?", default=1_000_000, help="of each of the two (default: a million)")
    p.add_argument("--only", choices=list(TESTS), help="the store's or the log's")
    p.add_argument("--seconds", type=int, default=0, help="at most so long for each")
    p.add_argument("--seed", type=int, default=0, help="the first story's; the others count from it")
    p.add_argument("--outcomes", type=int, default=3, help="further outcomes of a power failure (default 3)")
    p.add_argument("--dev", action="store_true", help="a build without optimisation")
    o = p.parse_args()
    results = [simulate(what, o) for what in TESTS if o.only in (None, what)]
    return 0 if all(good for _, good in results) else 1


if __name__ == "__main__":
    sys.exit(main())
