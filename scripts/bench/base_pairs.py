#!/usr/bin/env python3
"""Two builds of the store's benchmark (crates/engine/examples/engine_bench.rs) in interleaved pairs.

    cargo build --release -p narwal-engine --example engine_bench     # in both trees
    scripts/bench/base_pairs.py OLD/engine_bench NEW/engine_bench --pairs 7

Runs them with data in memory (1 GiB for 100,000 rows) and with data about twelve times the memory (16 MiB for 800,000 rows), each
in a folder of its own, and prints the medians of NEW : OLD for point and range reads. What verification of the base's blocks
costs is the second: with data in memory nothing is read from the disk.
"""

from __future__ import annotations

import argparse
import re
import statistics
import subprocess
import tempfile
from collections import defaultdict
from pathlib import Path

SIZES = {"in memory": ("100000", "1024"), "12 times memory": ("800000", "16")}


def run(binary: Path, folder: Path, seconds: int, rows: str, memory: str) -> dict[str, float]:
    done = subprocess.run(
        [binary, folder, "1", str(seconds), rows, memory], capture_output=True, text=True, check=True
    )  # fmt: skip
    rates = defaultdict(list)
    for name, rate in re.findall(r"^(.+?) +\d+ threads +(\d+)/s", done.stdout, re.M):
        rates[name.strip()].append(float(rate))
    return {name: max(all_of_it) for name, all_of_it in rates.items() if "read" in name or "range" in name}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="narwal-pairs-") as folder:
        for size, (rows, memory) in SIZES.items():
            ratios = defaultdict(list)
            for pair in range(args.pairs):
                order = [("old", args.old), ("new", args.new)]
                got = {
                    name: run(binary, Path(folder) / f"{name}-{memory}", args.seconds, rows, memory)
                    for name, binary in (order if pair % 2 == 0 else reversed(order))
                }
                for name in got["old"]:
                    ratios[name].append(got["new"][name] / got["old"][name])
            for name, all_of_it in ratios.items():
                low, high = min(all_of_it), max(all_of_it)
                print(f"{size:<16} {name:<16} {statistics.median(all_of_it):.3f} ({low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()
