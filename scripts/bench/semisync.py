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
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.servers import ROOT, MariaDB, Narwal, narwal_binary  # noqa: E402
from testbed.wire import Connection  # noqa: E402

NARWAL_ARGS = ["--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=512M", "--max-connections=300"]
MARIADB_ARGS = ["--server-id=1", "--log-bin=bin", "--binlog-format=ROW", "--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1",
                "--innodb-buffer-pool-size=512M", "--innodb-log-file-size=512M", "--max-connections=300",
                "--performance-schema=OFF"]  # fmt: skip
REPLICA_ARGS = ["--rpl-semi-sync-slave-enabled=ON", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=256M",
                "--performance-schema=OFF", "--skip-slave-start", "--relay-log=relay", "--slave-parallel-threads=4"]  # fmt: skip
POINTS = ("none", "AFTER_COMMIT", "AFTER_SYNC")
STATUS = "Rpl_semi_sync_master_"


def slave_status(port: int) -> dict:
    c = Connection(port)
    try:
        got = c.query("SHOW SLAVE STATUS")
        return dict(zip(got.columns, got.rows[0], strict=True))
    finally:
        c.close()


class Pair:
    """A primary and its replica, run and stopped together."""

    def __init__(self, name: str, primary, replica: MariaDB, o: argparse.Namespace):
        self.name, self.primary, self.replica, self.o = name, primary, replica, o

    def start(self) -> None:
        p, r, o = self.primary, self.replica, self.o
        for server in (p, r):
            server.create()
            server.start()
        p.sql("CREATE DATABASE sbtest")
        self.sysbench("prepare", 4)
        r.sql(f"CHANGE MASTER TO master_host='127.0.0.1', master_port={p.port}, master_user='root', master_connect_retry=1, "
              "master_use_gtid=slave_pos; START SLAVE")  # fmt: skip
        self.caught_up(applied=True)
        if not o.apply:
            r.sql("STOP SLAVE SQL_THREAD")
        self.pause()

    def pause(self) -> None:
        self.replica.pause()
        self.primary.pause()

    def resume(self) -> None:
        self.primary.resume()
        self.replica.resume()

    def remove(self) -> None:
        self.resume()
        for server in (self.replica, self.primary):
            server.remove()

    def sysbench(self, command: str, threads: int, seconds: float = 0) -> str:
        o = self.o
        args = ["sysbench", o.test, "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={self.primary.port}",
                "--mysql-user=root", "--mysql-db=sbtest", f"--threads={threads}", f"--tables={o.tables}",
                f"--table-size={o.table_size}"]  # fmt: skip
        if command == "run":
            args += [f"--time={max(1, round(seconds))}", "--events=0", "--histogram=off", "--percentile=95",
                     "--mysql-ignore-errors=1213,1205,1020"]  # fmt: skip
        done = subprocess.run([*args, command], capture_output=True, text=True, timeout=seconds + 300)
        if done.returncode:
            raise RuntimeError(f"{self.name}: sysbench {command}: {(done.stdout + done.stderr)[-600:]}")
        return done.stdout

    def status(self) -> dict[str, str]:
        return {k[len(STATUS) :]: v for k, v in self.primary.status(STATUS + "%").items()}

    def caught_up(self, applied: bool, seconds: float = 300) -> None:
        """Waits until the replica has received, or applied, what the primary has written."""
        wanted = self.primary.sql("SELECT @@gtid_binlog_pos")[0][0]
        end = time.monotonic() + seconds
        while True:
            if applied:
                there = self.replica.sql("SELECT @@gtid_slave_pos")[0][0]
            else:
                there = slave_status(self.replica.port)["Gtid_IO_Pos"]
            if there == wanted:
                return
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: the replica stands at {there}, not {wanted}\n{self.replica.log_tail()}")
            time.sleep(0.1)

    def set(self, point: str) -> None:
        p = self.primary
        p.sql("SET GLOBAL rpl_semi_sync_master_enabled=OFF")
        if point == "none":
            return
        p.sql(f"SET GLOBAL rpl_semi_sync_master_timeout=10000; SET GLOBAL rpl_semi_sync_master_wait_point={point}; "
              "SET GLOBAL rpl_semi_sync_master_enabled=ON")  # fmt: skip
        end = time.monotonic() + 30
        while (s := self.status())["status"] != "ON" or s["clients"] != "1":
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: semi-synchronous replication does not begin: {s}")
            time.sleep(0.1)

    def measure(self, point: str, threads: int, seconds: float) -> dict:
        self.resume()
        try:
            self.caught_up(applied=self.o.apply)
            self.set(point)
            before = self.status()
            text = self.sysbench("run", threads, seconds)
            after = self.status()
            self.caught_up(applied=False)
        finally:
            self.pause()
        if point != "none":
            without = int(after["no_tx"]) - int(before["no_tx"])
            if without or after["status"] != "ON":
                raise RuntimeError(f"{self.name}, {point}, {threads} threads: {without} commits went on without the replica")
        number = lambda line, at: float(next(x for x in text.splitlines() if line in x).replace("(", " ").split()[at])  # noqa: E731
        return {"per_second": number("transactions:", 2), "ms": number("avg:", 1), "ms95": number("95th percentile:", 2)}


def run(work: Path, o: argparse.Namespace) -> list[dict]:
    pairs = [Pair("Narwal", Narwal(work / "narwal", NARWAL_ARGS + o.narwal_arg, binary=o.narwal),
                  MariaDB(work / "replica-n", ["--server-id=11", *REPLICA_ARGS]), o)]  # fmt: skip
    if not o.no_mariadb:
        pairs.append(Pair("MariaDB", MariaDB(work / "mariadb", MARIADB_ARGS),
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
