#!/usr/bin/env python3
"""Where `binlog_oob_threshold` should lie: transactions of 8 MiB beside 8 small writers, at one threshold after another.

A large commit record holds up everybody behind it while it is written; chunks cost a little more log and CPU. Called by
`./bench --only threshold`. Standard library and sysbench only.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from testbed.client import Client  # noqa: E402
from testbed.servers import ROOT, Narwal  # noqa: E402
from large import Writers, prepare  # noqa: E402

HEAD = (
    "| threshold | 8 MiB transactions/s | COMMIT median, ms | COMMIT worst, ms | small writers p99, ms | max, ms | small/s |\n"
    + "|---" * 7
    + "|"
)


def main() -> int:
    p = argparse.ArgumentParser(prog="./bench --only threshold", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--thresholds", default="65536,262144,1048576,4194304,67108864", help="bytes, comma-separated")
    p.add_argument("--seconds", type=float, default=12, help="for each")
    p.add_argument("--out", default=str(ROOT / "bench-out"), help="folder of results and data")
    p.add_argument("--narwal", help="the binary")
    o = p.parse_args()
    server = Narwal(Path(o.out).resolve() / "work" / "threshold", ["--innodb-buffer-pool-size=512M"], binary=o.narwal)
    server.remove()
    server.folder.mkdir(parents=True, exist_ok=True)
    results = []
    print(HEAD, flush=True)
    try:
        server.start()
        prepare(server)
        c = Client(server.port)
        for threshold in map(int, o.thresholds.split(",")):
            c.query("TRUNCATE big.dst")
            c.query(f"SET GLOBAL binlog_oob_threshold = {threshold}")
            took = []
            with Writers(server) as w:
                end = time.monotonic() + o.seconds
                while time.monotonic() < end:
                    c.query("BEGIN")
                    c.query("INSERT INTO big.dst (pad) SELECT pad FROM big.src WHERE id <= 8000")
                    at = time.perf_counter()
                    c.query("COMMIT")
                    took.append((time.perf_counter() - at) * 1000)
            small = w.result()
            r = {
                "threshold": threshold, "rate": len(took) / o.seconds, "commit_ms": statistics.median(took),
                "worst_ms": max(took), "p99_ms": small["p99_ms"], "max_ms": small["max_ms"], "small_rate": small["rate"],
            }  # fmt: skip
            results.append(r)
            print(
                f"| {threshold} | {r['rate']:.1f} | {r['commit_ms']:.1f} | {r['worst_ms']:.0f} | {r['p99_ms']:.2f} |"
                f" {r['max_ms']:.0f} | {r['small_rate']:.0f} |",
                flush=True,
            )
        server.stop(600)
    finally:
        server.remove()
    Path(o.out, "threshold.json").write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
