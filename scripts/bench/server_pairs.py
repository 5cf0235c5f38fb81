#!/usr/bin/env python3
"""Two builds of the server in interleaved pairs of sysbench's tests.

    scripts/bench/server_pairs.py OLD/narwal NEW/narwal --pairs 7
    scripts/bench/server_pairs.py OLD/narwal NEW/narwal --cells write_only:1,8,64 point_select:1,64

With `--cells` these tests at these numbers of threads, data in memory, made anew for each: what a test of writes leaves behind
would be in the next one's figures. Without:

oltp_point_select and oltp_read_only, with data in memory (100,000 rows, a pool of 512 MiB) and with data about twelve times the
memory (800,000 rows, a pool of 16 MiB), each build in a data folder of its own. Prints the medians of NEW : OLD: of transactions
a second, and of the server's processor time for one, which says more on a machine that does other things too.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.servers import Narwal  # noqa: E402

SIZES = {"in memory": (100_000, "512M"), "12 times memory": (800_000, "16M")}
TESTS = ("oltp_point_select", "oltp_read_only")


def cpu(server: Narwal) -> float:
    """Seconds of processors that the server has used."""
    fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def sysbench(server: Narwal, test: str, rows: int, what: str, threads: int, seconds: float) -> tuple[float, int]:
    command = ["sysbench", test, "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}", "--mysql-user=root",
               "--mysql-db=pairs", "--tables=1", f"--table-size={rows}", f"--threads={threads}", f"--time={seconds}", "--rand-type=uniform", "--mysql-ignore-errors=1213,1205,1020", what]  # fmt: skip
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    found = re.search(r"transactions: +(\d+) +\(([\d.]+) per sec", done.stdout)
    return (float(found[2]), int(found[1])) if found else (0.0, 0)


def measure(server: Narwal, test: str, rows: int, threads: int, seconds: float) -> tuple[float, float]:
    """Transactions a second, and transactions for a second of the server's processor time."""
    before = cpu(server)
    rate, n = sysbench(server, test, rows, "run", threads, seconds)
    return rate, n / (cpu(server) - before)


def make(folder: Path, binary: Path, rows: int, pool: str) -> Narwal:
    """A server with its data, stopped and started once: what was loaded is in the base then, as for a server that runs for a while."""
    server = Narwal(folder, [f"--innodb-buffer-pool-size={pool}"], binary=str(binary))
    server.create()
    server.start()
    server.sql("CREATE DATABASE pairs")
    sysbench(server, TESTS[0], rows, "prepare", 1, 1)
    server.stop()
    server.start()
    sysbench(server, "oltp_read_only", rows, "run", 2, 3)
    return server


def compare(servers: dict[str, Narwal], size: str, rows: int, cell: tuple[str, int], args: argparse.Namespace) -> None:
    """One test at one number of threads, in pairs; who is first takes turns."""
    test, threads = cell
    rates, costs = [], []
    for pair in range(args.pairs):
        order = ("old", "new") if pair % 2 == 0 else ("new", "old")
        got = {name: measure(servers[name], test, rows, threads, args.seconds) for name in order}
        rates.append(got["new"][0] / got["old"][0])
        costs.append(got["old"][1] / got["new"][1])
    told = (f"{what} {statistics.median(r):.3f} ({min(r):.3f} to {max(r):.3f})" for what, r in (("rate", rates), ("processor time", costs)))
    print(f"{size:<16} {test:<18} {threads:>2} {', '.join(told)}; {got['new'][0]:.0f} a second", flush=True)


def run(size: str, cells: list[tuple[str, int]], args: argparse.Namespace) -> None:
    """These cells on a pair of servers made for them."""
    rows, pool = SIZES[size]
    servers: dict[str, Narwal] = {}
    with tempfile.TemporaryDirectory(prefix="narwal-pairs-") as folder:
        try:
            for name in ("old", "new"):
                servers[name] = make(Path(folder) / name, getattr(args, name), rows, pool)
            if args.wait:
                print("ready", flush=True)
                sys.stdin.readline()
            for cell in cells:
                compare(servers, size, rows, cell, args)
        finally:
            for server in servers.values():
                server.kill()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--cells", nargs="+", metavar="TEST:THREADS", help="e.g. write_only:1,8,64 read_only:8")
    parser.add_argument("--wait", action="store_true", help="for Enter, when the data is there")
    args = parser.parse_args()
    if not args.cells:
        for size in SIZES:
            run(size, [(test, args.threads) for test in TESTS], args)
    for test, _, threads in (cell.partition(":") for cell in args.cells or ()):
        for n in threads.split(","):
            run("in memory", [(f"oltp_{test}", int(n))], args)


if __name__ == "__main__":
    main()
