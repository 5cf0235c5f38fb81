#!/usr/bin/env python3
"""The lag of a replica while its primary is written to at full rate: Narwal and MariaDB 10.11 in either role, all durable.

16 threads of oltp_write_only for 180 s, sampled every 10 s as lab/testbed/lag.py describes. Then the load ends, and the replica needs
the "drain" to catch up; both must hold the same rows. Last, the primary's rate with the replica's process stopped.

Called by `./bench --only lag`.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed import lag  # noqa: E402
from testbed.following import server  # noqa: E402
from testbed.servers import ROOT, narwal_binary  # noqa: E402

PAIRS = ("MariaDB-MariaDB", "Narwal-Narwal", "MariaDB-Narwal", "Narwal-MariaDB")
# What a Narwal replica may be behind at the end, in seconds.
WANTED = 2.0


def pair(work: Path, o: argparse.Namespace, name: str, threads: int | None) -> dict:
    kinds = name.split("-")
    replica_args = o.narwal_arg if kinds[1] == "Narwal" else o.mariadb_arg
    primary = server(kinds[0], work / "primary", 1, o.narwal, o.narwal_arg if kinds[0] == "Narwal" else o.mariadb_arg)
    replica = server(kinds[1], work / "replica", 2, o.narwal, replica_args, threads, "optimistic" if threads else None)
    out: dict = {"primary": kinds[0], "replica": kinds[1], "threads": threads}
    plan = lag.Plan(o.threads, o.tables, o.table_size, o.seconds, o.every, o.drain, o.alone)
    try:
        for s in (primary, replica):
            s.create()
            s.start()
        return out | lag.measure(primary, replica, plan, lambda one: print(f"# {title(out)}: {one}", flush=True))
    finally:
        for s in (replica, primary):
            s.resume()
            s.remove()


def title(r: dict) -> str:
    threads = r["threads"]
    how = "" if threads is None else f", {threads} threads"
    return f"{r['primary']} -> {r['replica']}{how}"


def tables(results: list[dict]) -> tuple[str, list[str]]:
    lines = ["| primary -> replica | primary TPS | with the replica stopped | lag at the end, s | grows, s/s | most, s | Seconds_Behind_Master at the end "
             "| Narwal's own lag, s | transactions behind | drain, s | equal | CPU primary / replica, s |", "|---" * 12 + "|"]  # fmt: skip
    failures = []
    for r in results:
        s = r["samples"]
        drain = "longer" if r["drain"] is None else f"{r['drain']:.1f}"
        alone = f"{r['tps_alone']:,.0f}" if "tps_alone" in r else "-"
        own = s[-1]["own"].get("milliseconds")
        own = "-" if own is None else f"{int(own) / 1000:.2f}"
        lines.append(f"| {title(r)} | {r['tps']:,.0f} | {alone} | {s[-1]['lag']:.2f} | {lag.grows(s):.2f} | {max(x['lag'] for x in s):.2f} | "
                     f"{s[-1]['seconds_behind_master']} | {own} | {s[-1]['transactions_behind']:,} | {drain} | "
                     f"{ {True: 'yes', False: 'NO', None: '-'}[r['equal']] } | {r['cpu'][0]:.0f} / {r['cpu'][1]:.0f} |")  # fmt: skip
        if r["replica"] == "Narwal" and s[-1]["lag"] >= WANTED:
            failures.append(f"{title(r)} ends {s[-1]['lag']:.1f} s behind")
        if r["equal"] is False:
            failures.append(f"{title(r)} is not equal")
    lines += ["", "Lag in seconds at each sample:", "", "| s | " + " | ".join(title(r) for r in results) + " |", "|---" * (1 + len(results)) + "|"]
    for n in range(max(len(r["samples"]) for r in results)):
        row = [f"{r['samples'][n]['lag']:.2f}" if n < len(r["samples"]) else "" for r in results]
        lines.append(f"| {results[0]['samples'][n]['at']:.0f} | " + " | ".join(row) + " |")
    lines += ["", "Not met: " + ("; ".join(failures) or "none")]
    return "\n".join(lines) + "\n", failures


def main() -> int:
    p = argparse.ArgumentParser(prog="./bench --only lag", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--pairs", default=",".join(PAIRS), help="PRIMARY-REPLICA, separated by commas (default all four)")
    p.add_argument("--seconds", type=int, default=180)
    p.add_argument("--every", type=int, default=10, help="seconds between samples")
    p.add_argument("--threads", type=int, default=16, help="of the load")
    p.add_argument("--tables", type=int, default=4)
    p.add_argument("--table-size", type=int, default=100000)
    p.add_argument("--alone", type=int, default=30, help="seconds without a replica, at the end; 0: none")
    p.add_argument("--drain", type=float, default=400, help="seconds that a replica gets to catch up at the end")
    p.add_argument("--narwal-threads", default="", help="slave_parallel_threads of Narwal replicas, several by commas (default: as it is)")
    p.add_argument("--mariadb-threads", default="", help="the same of MariaDB, in optimistic mode (default: as it is, which is 0)")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--mariadb-arg", action="append", default=[], help="a further argument for mariadbd (repeatable)")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")))
    o = p.parse_args()
    o.every = min(o.every, o.seconds)
    narwal_binary(o.narwal)
    out = Path(o.out).resolve()
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    # A kill is no reason to leave servers behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    results = []
    for name in o.pairs.split(","):
        given = o.narwal_threads if name.endswith("Narwal") else o.mariadb_threads
        for threads in [int(n) for n in given.split(",") if n] or [None]:
            results.append(pair(work, o, name, threads))
            (out / "lag.json").write_text(json.dumps(results, indent=1) + "\n")
    text, failures = tables(results)
    (out / "lag.md").write_text(f"# Lag, {o.threads} threads of oltp_write_only for {o.seconds} s\n\n{text}")
    print(text)
    print(f"# written: {out}/lag.md and lag.json")
    shutil.rmtree(work, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
