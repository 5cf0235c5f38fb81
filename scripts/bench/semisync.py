#!/usr/bin/env python3
"""What semi-synchronous replication costs: both wait points against none, Narwal and MariaDB 10.11 as the primary.

Each primary has a MariaDB replica on loopback that fetches and does not apply (its SQL thread is stopped: what a replica
on another machine costs this one; `--apply` lets it apply). A round runs every wait point on both primaries, one after
the other; the pair that is not measured is stopped by SIGSTOP. Ratios are taken within a round and a primary; the tables
have the medians of the rounds. A run in which a commit went on without a replica is no result, and says so.

Called by `./bench --only semisync`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.following import sysbench  # noqa: E402
from testbed.semisync import POINTS, REPLICA_ARGS, Pair  # noqa: E402
from testbed.servers import ROOT, MariaDB, Narwal, Server, narwal_binary  # noqa: E402

NARWAL_ARGS = ["--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=512M", "--max-connections=300"]
MARIADB_ARGS = ["--server-id=1", "--log-bin=bin", "--binlog-format=ROW", "--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1",
                "--innodb-buffer-pool-size=512M", "--innodb-log-file-size=512M", "--max-connections=300",
                "--performance-schema=OFF"]  # fmt: skip


class Loaded(Pair):
    """With sysbench."""

    def __init__(self, name: str, primary: Server, replica: MariaDB, o: argparse.Namespace):
        super().__init__(name, primary, replica, o.apply)
        self.o = o

    def start(self) -> None:
        super().start()
        self.primary.sql("CREATE DATABASE sbtest")
        self.sysbench("prepare", 4)
        self.attach()
        self.pause()

    def sysbench(self, command: str, threads: int, seconds: float = 0) -> str:
        o = self.o
        more = [f"--time={max(1, round(seconds))}", "--events=0"] if command == "run" else []
        return sysbench(self.primary, command, threads, o.tables, o.table_size, *more, test=o.test)

    def measure(self, point: str, threads: int, seconds: float) -> dict:
        with self.measured(point):
            text = self.sysbench("run", threads, seconds)
        number = lambda line, at: float(next(x for x in text.splitlines() if line in x).replace("(", " ").split()[at])  # noqa: E731
        return {"per_second": number("transactions:", 2), "ms": number("avg:", 1), "ms95": number("95th percentile:", 2)}


def run(work: Path, o: argparse.Namespace) -> list[dict]:
    pairs = [Loaded("Narwal", Narwal(work / "narwal", NARWAL_ARGS + o.narwal_arg, binary=o.narwal),
                  MariaDB(work / "replica-n", ["--server-id=11", *REPLICA_ARGS]), o)]  # fmt: skip
    if not o.no_mariadb:
        pairs.append(Loaded("MariaDB", MariaDB(work / "mariadb", MARIADB_ARGS),
                          MariaDB(work / "replica-m", ["--server-id=12", *REPLICA_ARGS]), o))  # fmt: skip
    cells = []
    try:
        for pair in pairs:
            pair.start()
        for threads in (int(n) for n in o.threads.split(",")):
            got: dict[tuple[str, str], list[dict]] = {}
            for round_ in range(o.rounds):
                for i in range(len(POINTS)):
                    point = POINTS[(i + round_) % len(POINTS)]
                    for pair in pairs[:: -1 if round_ % 2 else 1]:
                        if not round_ and not i:
                            pair.measure(point, threads, o.warmup)
                        one = pair.measure(point, threads, o.seconds)
                        got.setdefault((pair.name, point), []).append(one)
            for (name, point), runs in got.items():
                none = got[(name, "none")]
                middle = {k: statistics.median(r[k] for r in runs) for k in runs[0]}
                ratio = statistics.median(r["per_second"] / n["per_second"] for r, n in zip(runs, none, strict=True))
                adds = statistics.median(r["ms"] - n["ms"] for r, n in zip(runs, none, strict=True))
                cells.append({"threads": threads, "primary": name, "point": point, **middle, "ratio": ratio, "adds_ms": adds,
                              "runs": runs})  # fmt: skip
                print(f"# {threads} threads, {name}, {point}: {middle['per_second']:.0f} /s, {ratio:.2f} of none", flush=True)
    finally:
        for pair in pairs:
            pair.remove()
    return cells


def table(cells: list[dict]) -> str:
    out = ["| threads | primary | none /s | AFTER_COMMIT /s | of none | adds ms | AFTER_SYNC /s | of none | adds ms |", "|---" * 9 + "|"]
    find = {(c["threads"], c["primary"], c["point"]): c for c in cells}
    for threads, primary in dict.fromkeys((c["threads"], c["primary"]) for c in cells):
        none, commit, sync = (find[threads, primary, p] for p in POINTS)
        row = [str(threads), primary, f"{none['per_second']:.0f}"]
        for c in (commit, sync):
            row += [f"{c['per_second']:.0f}", f"{100 * c['ratio']:.0f} %", f"{c['adds_ms']:.2f}"]
        out.append("| " + " | ".join(row) + " |")
    return "\n".join(out) + "\n"


def main() -> int:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--test", default="oltp_update_non_index", help="a sysbench test (default oltp_update_non_index)")
    p.add_argument("--threads", default="1,8,64")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=5, help="of each run")
    p.add_argument("--warmup", type=float, default=2)
    p.add_argument("--tables", type=int, default=4)
    p.add_argument("--table-size", type=int, default=25000)
    p.add_argument("--apply", action="store_true", help="replicas apply what they fetch")
    p.add_argument("--no-mariadb", action="store_true", help="Narwal only")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")))
    o = p.parse_args()
    narwal_binary(o.narwal)
    out = Path(o.out).resolve()
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    # A kill is no reason to leave servers behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    began = time.monotonic()
    cells = run(work, o)
    (out / "semisync.json").write_text(json.dumps({"test": o.test, "cells": cells}, indent=1) + "\n")
    text = table(cells)
    (out / "semisync.md").write_text(f"# Semi-synchronous replication, {o.test}\n\n{text}")
    print(text)
    print(f"# {time.monotonic() - began:.0f} s; written: {out}/semisync.md and semisync.json")
    shutil.rmtree(work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
