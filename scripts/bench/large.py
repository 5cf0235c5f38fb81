#!/usr/bin/env python3
"""Large transactions: time of COMMIT, memory, what 8 small writers feel meanwhile, recovery after kill -9.

For each size a new server with a memory budget of 512 MiB:
  - p99 of 8 small writers alone;
  - the transaction beside the same writers, and on until its rows are merged into the tables; time from COMMIT to OK,
    peak of resident memory, p99 of the writers over this whole stretch;
  - kill -9 right after OK: time until the server accepts connections, all rows there;
  - kill -9 in the middle of one more such transaction: the same, none of its rows there.

Called by `./bench --only large`. Standard library, sysbench and Debian's mariadbd (`--peer`) only.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed import bigtrx  # noqa: E402
from testbed.client import Client  # noqa: E402
from testbed.servers import ROOT, MariaDB, Narwal, Server  # noqa: E402

BUDGET_MIB = 512
MARIADB_ARGS = [
    "--log-bin=binlog", "--server-id=1", "--binlog-format=ROW", "--sync-binlog=1", "--innodb-flush-log-at-trx-commit=1",
    "--innodb-buffer-pool-size=400M", "--innodb-log-file-size=1G", "--performance-schema=OFF",
    "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--max-binlog-cache-size=18446744073709547520",
]  # fmt: skip


def prepare(server: Server) -> None:
    """The tables of the transactions, and those of the small writers."""
    bigtrx.prepare(server.port)
    server.sql("CREATE DATABASE IF NOT EXISTS sbtest")
    sysbench(server, "prepare", 1)


def sysbench(server: Server, command: str, threads: int, seconds: float = 0) -> str:
    args = [
        "sysbench", "oltp_update_non_index", "--db-driver=mysql", "--mysql-host=127.0.0.1",
        f"--mysql-port={server.port}", "--mysql-user=root", "--mysql-db=sbtest", f"--threads={threads}",
        "--tables=1", "--table-size=50000", "--rand-type=uniform",
    ]  # fmt: skip
    if command == "run":
        args += [f"--time={seconds:g}", "--events=0", "--histogram", "--percentile=99"]
    done = subprocess.run([*args, command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"sysbench {command}: {done.stdout[-600:]}{done.stderr[-300:]}")
    return done.stdout


class Writers:
    """8 small writers in short runs of sysbench until told to stop; their latencies in one histogram."""

    def __init__(self, server: Server):
        self.server = server
        self.counts: dict[float, int] = {}
        self.seconds = 0.0
        self.worst = 0.0
        self.error: Exception | None = None
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._loop, daemon=True)

    def __enter__(self) -> Writers:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.thread.join()
        if self.error:
            raise self.error

    def _loop(self) -> None:
        try:
            while not self.stopping.is_set():
                text = sysbench(self.server, "run", 8, 4)
                self.seconds += 4
                for value, count in re.findall(r"^\s+([\d.]+) \|\**\s+(\d+)$", text, re.MULTILINE):
                    self.counts[float(value)] = self.counts.get(float(value), 0) + int(count)
                self.worst = max(self.worst, float(re.search(r"max:\s+([\d.]+)", text).group(1)))
        except Exception as e:  # shown by whoever waits
            self.error = e

    def result(self) -> dict:
        total = sum(self.counts.values())
        left = total * 0.99
        p99 = 0.0
        for value in sorted(self.counts):
            left -= self.counts[value]
            p99 = value
            if left <= 0:
                break
        return {"p99_ms": p99, "max_ms": self.worst, "rate": total / max(self.seconds, 1), "n": total}


def peak_mib(server: Server) -> float:
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", text).group(1)) / 1024


class Sampler:
    """Resident memory and bytes of memtables once a second."""

    def __init__(self, server: Server):
        self.server = server
        self.samples: list[tuple[float, float, float]] = []
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._loop, daemon=True)

    def __enter__(self) -> Sampler:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopping.set()
        self.thread.join()

    def _loop(self) -> None:
        began = time.monotonic()
        try:
            c = Client(self.server.port)
            while not self.stopping.wait(1):
                rows = c.query("SHOW GLOBAL STATUS LIKE 'Narwal_memtable_bytes'")
                memtables = int(rows[0][1]) / 2**20 if rows else 0.0
                self.samples.append((round(time.monotonic() - began, 1), self.server.rss_mib(), memtables))
        except OSError:
            pass


def transaction(server: Server, size: str, note) -> tuple[float, float]:
    """In a process of its own: threads of this one would share its interpreter, and their waits would be measured."""
    note(f"{size}: running the transaction")
    done = subprocess.run([sys.executable, __file__, "--transaction", str(server.port), size], capture_output=True, text=True)
    if done.returncode:
        raise ConnectionError(done.stderr[-300:])
    before, took = json.loads(done.stdout)
    return before, took


def merged(server: Server) -> bool:
    """True once a checkpoint has taken the transaction's rows into the tables."""
    c = Client(server.port)
    values = dict(c.query("SHOW GLOBAL STATUS LIKE 'Narwal_layers'"))
    c.close()
    return int(values.get("Narwal_layers", 0)) == 0


def run_size(size: str, o: argparse.Namespace, note) -> dict:
    folder = Path(o.out).resolve() / "work" / f"large-{size}"
    if o.peer:
        server: Server = MariaDB(folder, MARIADB_ARGS)
    else:
        server = Narwal(folder, [f"--innodb-buffer-pool-size={BUDGET_MIB}M", *o.narwal_arg], binary=o.narwal)
    server.remove()
    server.folder.mkdir(parents=True, exist_ok=True)
    server.create()
    server.start()
    r: dict = {"size": size, "server": server.name}
    try:
        note(f"{size}: preparing")
        prepare(server)
        r["after_prepare_mib"] = peak_mib(server)
        note(f"{size}: writers alone")
        with Writers(server) as w:
            time.sleep(o.alone)
        r["alone"] = w.result()
        with Writers(server) as w, Sampler(server) as sampler:
            time.sleep(2)
            r["run_s"], r["commit_s"] = transaction(server, size, note)
            end = time.monotonic() + 600
            began = time.monotonic()
            while not o.peer and not merged(server) and time.monotonic() < end:
                note(f"{size}: merging, {time.monotonic() - began:.0f} s")
                time.sleep(1)
            r["merge_s"] = time.monotonic() - began
        r["beside"] = w.result()
        r["samples"] = sampler.samples
        r["p99_ratio"] = r["beside"]["p99_ms"] / max(r["alone"]["p99_ms"], 1e-9)
        if not o.peer:
            r["status"] = {
                k: int(v) for k, v in server.status("Narwal_%").items() if v.isdigit() and ("oob" in k or "spill" in k)
            }
        r["peak_mib"] = peak_mib(server)
        if not o.no_kill:
            before = bigtrx.state(server.port)
            note(f"{size}: again, and kill -9 right after OK")
            transaction(server, size, note)
            server.kill()
            r["recovery_after_s"] = server.start(600)
            after = bigtrx.state(server.port)
            doubled = str(2 * int(before[0]))
            good = after[1] != before[1] and after[0] == before[0] if size == "100k" else after[0] == doubled
            r["after_is_right"] = good
            r["peak_recovered_mib"] = peak_mib(server)
            note(f"{size}: again, and kill -9 in the middle")
            # Alone it runs faster than beside the writers.
            killer = threading.Timer(max(0.05, r["run_s"] * 0.3), server.process.kill)
            killer.start()
            try:
                transaction(server, size, note)
                r["middle_was_too_late"] = True
            except (ConnectionError, OSError):
                pass
            killer.join()
            server.kill()
            r["recovery_middle_s"] = server.start(600)
            r["middle_is_right"] = bigtrx.state(server.port) == after and "middle_was_too_late" not in r
        server.stop(600)
    finally:
        server.kill()
        if not o.keep:
            server.remove()
    return r


def line(r: dict) -> str:
    get = lambda k, f="{:.2f}": f.format(r[k]) if k in r else "-"  # noqa: E731
    right = {True: "yes", False: "NO"}
    good = "-" if "after_is_right" not in r else f"{right[r['after_is_right']]}, {right[r['middle_is_right']]}"
    return (
        f"| {r['server']} | {r['size']} | {get('run_s')} | {r['commit_s'] * 1000:.1f} | {r['peak_mib']:.0f} |"
        f" {r['alone']['p99_ms']:.2f} | {r['beside']['p99_ms']:.2f} | {r['p99_ratio']:.2f} | {r['beside']['max_ms']:.0f} |"
        f" {get('merge_s', '{:.0f}')} | {get('recovery_after_s')} | {get('recovery_middle_s')} | {good} |"
    )


HEAD = (
    "| server | size | run, s | COMMIT, ms | peak RSS, MiB | p99 alone, ms | p99 beside, ms | ratio | max beside, ms"
    " | merge, s | start after kill right after OK, s | in the middle, s | rows right |\n" + "|---" * 13 + "|"
)


def main() -> int:
    if sys.argv[1:2] == ["--transaction"]:
        print(json.dumps(bigtrx.run(int(sys.argv[2]), sys.argv[3])))
        return 0
    p = argparse.ArgumentParser(prog="./bench --only large", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--sizes", default="100k,1G,5G", help="comma-separated: 100k (rows of an update), 200M, 1G, 5G")
    p.add_argument("--peer", action="store_true", help="MariaDB instead of Narwal")
    p.add_argument("--alone", type=float, default=12, help="seconds of the writers alone")
    p.add_argument("--no-kill", action="store_true", help="without kill -9 and recovery")
    p.add_argument("--keep", action="store_true", help="keep the data folders")
    p.add_argument("--out", default=str(ROOT / "bench-out"), help="folder of results and data")
    p.add_argument("--narwal", help="the binary")
    p.add_argument("--narwal-arg", action="append", default=[], help="one more option of narwal serve")
    o = p.parse_args()
    tty = sys.stderr.isatty()

    def note(text: str) -> None:
        if tty:
            print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)

    results = []
    print(HEAD, flush=True)
    for size in o.sizes.split(","):
        results.append(run_size(size, o, note))
        note("")
        print(line(results[-1]), flush=True)
    out = Path(o.out) / f"large{'-mariadb' if o.peer else ''}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(results, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
