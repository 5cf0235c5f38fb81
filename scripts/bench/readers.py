#!/usr/bin/env python3
"""What readers of the binary log cost, and how fast an old log is sent.

  throughput  sysbench against Narwal with nobody attached, then with 1 and 8 readers that throw away what they get, with a
              MariaDB replica that only fetches (its SQL thread is stopped: what a replica on another machine costs), and
              with one that applies everything on this machine's cores. Each round runs all of them in turn; the ratio to
              "nobody" is taken within a round, the median of the rounds is shown, and what it adds to the server's CPU time
              a transaction. Wanted: 95 % with one reader, 85 % with 8.
  dump        a log of `--dump-size` from its oldest event to a reader that throws it away, three times, the first with
              nothing of it in the page cache; and the log that the first part has made. Wanted: 300 MB/s.

Called by `./bench --only readers`.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
import biglog  # noqa: E402
from testbed.cgroup import forget  # noqa: E402
from testbed import readers  # noqa: E402
from testbed.following import cpu_seconds  # noqa: E402
from testbed.servers import ROOT, MariaDB, Narwal, narwal_binary  # noqa: E402

WANTED = {"1 reader": 0.95, "8 readers": 0.85, "replica that fetches": 0.95}
WANTED_DUMP = 300e6

def sysbench(server: Narwal, o: argparse.Namespace, test: str, command: str, threads: int = 4, seconds: float = 0) -> str:
    args = ["sysbench", test, "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}",
            "--mysql-user=root", "--mysql-db=sbtest", f"--threads={threads}", f"--tables={o.tables}",
            f"--table-size={o.table_size}"]  # fmt: skip
    if command == "run":
        args += [f"--time={seconds:g}", "--events=0", "--mysql-ignore-errors=1213,1205,1020"]
    done = subprocess.run([*args, command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"sysbench {test} {command}: {done.stdout[-600:]}{done.stderr[-300:]}")
    return done.stdout


def ways(server: Narwal, mariadb: MariaDB | None) -> dict:
    out = {
        "nobody": readers.nobody,
        "1 reader": lambda: readers.discarding(server, 1),
        "8 readers": lambda: readers.discarding(server, 8),
    }
    if mariadb:
        out["replica that fetches"] = lambda: readers.replica(server, mariadb, "IO_THREAD")
        out["replica that applies"] = lambda: readers.replica(server, mariadb, "")
    return out


def dump_of(server: Narwal, what: str) -> dict:
    """Sends the whole log to one reader."""
    got = readers.dump(server)
    rate = got["bytes"] / got["seconds"]
    print(f"# dump, {what}: {got['bytes'] / 1e6:.0f} MB in {got['seconds']:.2f} s: {rate / 1e6:.0f} MB/s", flush=True)
    return {"what": what, **got, "bytes_per_second": round(rate)}


def throughput(work: Path, o: argparse.Namespace) -> tuple[list[dict], list[dict]]:
    server = Narwal(work / "narwal", ["--innodb-buffer-pool-size=1G", "--max-connections=500", *o.narwal_arg], binary=o.narwal)
    mariadb = None if o.no_replica else MariaDB(work / "replica", readers.REPLICA_ARGS)
    out = []
    try:
        server.start()
        server.sql("CREATE DATABASE sbtest")
        sysbench(server, o, "oltp_write_only", "prepare")
        if mariadb:
            mariadb.create()
            mariadb.start()
            readers.begin(server, mariadb)
            mariadb.pause()
        for test in o.tests.split(","):
            for threads in map(int, o.threads.split(",")):
                cell: dict = {"test": test, "threads": threads, "tps": {}, "cpu_us": {}}
                sysbench(server, o, test, "run", threads, o.warmup)
                for round_ in range(o.rounds):
                    order = list(ways(server, mariadb).items())
                    for name, way in order if round_ % 2 == 0 else order[::-1]:
                        with way():
                            cpu = cpu_seconds(server)
                            text = sysbench(server, o, test, "run", threads, o.seconds)
                            cpu = cpu_seconds(server) - cpu
                        n, tps = map(float, re.search(r"transactions:\s+(\d+)\s+\(([\d.]+) per sec", text).groups())
                        cell["tps"].setdefault(name, []).append(tps)
                        cell["cpu_us"].setdefault(name, []).append(cpu * 1e6 / n)
                        print(f"#   {test} {threads} {name}: {tps:.0f}/s, {cpu * 1e6 / n:.1f} us of server CPU each", flush=True)
                out.append(cell)
        dumps = [dump_of(server, "sysbench's small transactions") for _ in range(2)]
        server.stop()
    finally:
        server.kill()
        server.remove()
        if mariadb:
            mariadb.resume()
            mariadb.kill()
            mariadb.remove()
    return out, dumps


def extra_cpu(cell: dict, name: str) -> float:
    """Microseconds of the server's CPU time a transaction beyond those with nobody attached."""
    return statistics.median(cell["cpu_us"][name]) - statistics.median(cell["cpu_us"]["nobody"])


def ratio(cell: dict, name: str) -> float:
    return statistics.median(a / b for a, b in zip(cell["tps"][name], cell["tps"]["nobody"], strict=True))


def dump(work: Path, o: argparse.Namespace) -> list[dict]:
    server = Narwal(work / "dump", o.narwal_arg, binary=o.narwal)
    out = []
    try:
        biglog.build(biglog.example(not o.debug), server.datadir, biglog.bytes_of(o.dump_size))
        forget(server.datadir)
        server.start(300)
        out = [dump_of(server, f"groups of 24 KB, {state}") for state in ("cold", "cached", "cached")]
        server.stop()
    finally:
        server.kill()
        server.remove()
    return out


def tables(cells: list[dict], dumps: list[dict]) -> tuple[str, list[str]]:
    failures = []
    lines = []
    if cells:
        names = [n for n in cells[0]["tps"] if n != "nobody"]
        lines += ["| test | threads | TPS with nobody | " + " | ".join(names) + " |", "|---" * (3 + len(names)) + "|"]
        for c in cells:
            ratios = {n: ratio(c, n) for n in names}
            failures += [f"{c['test']} at {c['threads']}, {n}: {r:.3f}" for n, r in ratios.items() if r < WANTED.get(n, 0)]
            base = statistics.median(c["tps"]["nobody"])
            lines.append(f"| {c['test']} | {c['threads']} | {base:,.0f} | "
                         + " | ".join(f"{r:.3f} ({extra_cpu(c, n):+.1f} us)" for n, r in ratios.items()) + " |")
        lines.append("")
    if dumps:
        lines += ["| dump of an old log | MB | seconds | MB/s |", "|---|---|---|---|"]
        for d in dumps:
            rate = d["bytes_per_second"]
            lines.append(f"| {d['what']} | {d['bytes'] / 1e6:,.0f} | {d['seconds']:.2f} | {rate / 1e6:,.0f} |")
        failures += [f"dump, {d['what']}" for d in dumps if d["bytes_per_second"] < WANTED_DUMP]
        lines.append("")
    lines.append("Not met: " + ("; ".join(failures) or "none"))
    return "\n".join(lines) + "\n", failures


def main() -> int:
    p = argparse.ArgumentParser(prog="./bench --only readers", description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    p.add_argument("--tests", default="oltp_write_only,oltp_update_non_index")
    p.add_argument("--threads", default="8,64")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--seconds", type=float, default=5)
    p.add_argument("--warmup", type=float, default=3)
    p.add_argument("--tables", type=int, default=4)
    p.add_argument("--table-size", type=int, default=50000)
    p.add_argument("--dump-size", default="4G", help="log of the second part; 0 leaves it out (default 4G)")
    p.add_argument("--no-throughput", action="store_true", help="only the dump of an old log")
    p.add_argument("--no-replica", action="store_true", help="without the MariaDB replica")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--debug", action="store_true", help="builds the example without optimisation: not a result")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")))
    o = p.parse_args()
    narwal_binary(o.narwal)
    out = Path(o.out).resolve()
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    cells, dumps = ([], []) if o.no_throughput else throughput(work, o)
    if o.dump_size != "0":
        dumps += dump(work, o)
    (out / "readers.json").write_text(json.dumps({"throughput": cells, "dump": dumps}, indent=1) + "\n")
    text, failures = tables(cells, dumps)
    (out / "readers.md").write_text("# Readers\n\n" + text)
    print(text)
    print(f"# written: {out}/readers.md and readers.json")
    shutil.rmtree(work, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
