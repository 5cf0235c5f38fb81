#!/usr/bin/env python3
"""Two builds of the server in interleaved pairs of sysbench's tests.

    scripts/bench/server_pairs.py OLD/narwal NEW/narwal --pairs 7
    scripts/bench/server_pairs.py OLD/narwal NEW/narwal --cells write_only:1,8,64 point_select:1,64

With `--cells` these tests at these numbers of threads, data in memory. Without:

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
    sizes = dict([next(iter(SIZES.items()))]) if args.cells else SIZES
    cells = [(f"oltp_{test}", int(n)) for test, _, threads in (c.partition(":") for c in args.cells or ()) for n in threads.split(",")]
    cells = cells or [(test, args.threads) for test in TESTS]
    with tempfile.TemporaryDirectory(prefix="narwal-pairs-") as folder:
        servers: dict[tuple[str, str], Narwal] = {}
        try:
            for size, (rows, pool) in sizes.items():
                for name, binary in (("old", args.old), ("new", args.new)):
                    s = servers[size, name] = Narwal(Path(folder) / f"{name}-{rows}", [f"--innodb-buffer-pool-size={pool}"], binary=str(binary))
                    s.create()
                    s.start()
                    s.sql("CREATE DATABASE pairs")
                    sysbench(s, TESTS[0], rows, "prepare", 1, 1)
                    # What was loaded is in the base then, as it is for a server that runs for a while.
                    s.stop()
                    s.start()
                    sysbench(s, "oltp_read_only", rows, "run", 2, 3)
            if args.wait:
                print("ready", flush=True)
                sys.stdin.readline()
            for size, (rows, _) in sizes.items():
                for test, threads in cells:
                    rates, costs = [], []
                    for pair in range(args.pairs):
                        order = ("old", "new") if pair % 2 == 0 else ("new", "old")
                        got = {name: measure(servers[size, name], test, rows, threads, args.seconds) for name in order}
                        rates.append(got["new"][0] / got["old"][0])
                        costs.append(got["old"][1] / got["new"][1])
                    told = (f"{what} {statistics.median(r):.3f} ({min(r):.3f} to {max(r):.3f})" for what, r in (("rate", rates), ("processor time", costs)))
                    print(f"{size:<16} {test:<18} {threads:>2} {', '.join(told)}; {got['new'][0]:.0f} a second", flush=True)
        finally:
            for s in servers.values():
                s.kill()


if __name__ == "__main__":
    main()
