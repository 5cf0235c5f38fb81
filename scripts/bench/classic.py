#!/usr/bin/env python3
"""One log against two: Narwal beside itself with --binlog-storage-engine=FILE (docs/classic-log.md), interleaved, with a delay
added to every sync. Standard library, sysbench 1.0.20 and gcc only."""

from __future__ import annotations

import argparse
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed import disk, syncshim  # noqa: E402
from testbed.servers import Narwal, Server  # noqa: E402

from run import NARWAL_ARGS, cpu_seconds  # noqa: E402


def sysbench(server: Server, o: argparse.Namespace, test: str, command: str, threads: int, seed: int = 0) -> str:
    args = [
        "sysbench", test, "--mysql-host=127.0.0.1", f"--mysql-port={server.port}", "--mysql-user=root",
        "--mysql-db=sbtest", f"--threads={threads}", f"--tables={o.tables}", f"--table-size={o.table_size}",
    ]  # fmt: skip
    if command == "run":
        args += [f"--time={o.seconds:g}", "--events=0", f"--rand-seed={seed}", "--mysql-ignore-errors=1213,1205,1020"]
    done = subprocess.run([*args, command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{server.name}: sysbench {test} {command}: {(done.stdout + done.stderr)[-400:]}")
    return done.stdout


def once(server: Server, o: argparse.Namespace, test: str, threads: int, seed: int) -> dict[str, float]:
    server.resume()
    pid = server.process.pid
    syncs, cpu = server.counters.syncs(), cpu_seconds(pid)
    text = sysbench(server, o, test, "run", threads, seed)
    transactions = float(re.search(r"transactions:\s+(\d+)", text).group(1))
    found = {
        "tps": float(re.search(r"transactions:\s+\d+\s+\(([\d.]+) per sec", text).group(1)),
        "p95": float(re.search(r"95th percentile:\s+([\d.]+)", text).group(1)),
        "syncs": (server.counters.syncs() - syncs) / transactions,
        "cpu": (cpu_seconds(pid) - cpu) * 1e6 / transactions,
    }
    server.pause()
    return found


def main() -> None:
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--narwal", metavar="BIN", required=True)
    p.add_argument("--tests", default="oltp_write_only,oltp_update_non_index")
    p.add_argument("--threads", default="1,64")
    p.add_argument("--delay-us", type=int, default=2000)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=8)
    p.add_argument("--tables", type=int, default=4)
    p.add_argument("--table-size", type=int, default=20000)
    o = p.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="narwal-classic-"))
    shim = syncshim.build(folder)
    servers = [Narwal(folder / "one", [*NARWAL_ARGS], o.narwal, shim=shim)]
    servers.append(Narwal(folder / "classic", [*NARWAL_ARGS, "--binlog-storage-engine=FILE"], o.narwal, shim=shim))
    try:
        for server in servers:
            server.start()
            server.sql("CREATE DATABASE sbtest")
            sysbench(server, o, "oltp_write_only", "prepare", min(4, o.tables))
            server.counters.set_delay(o.delay_us)
            server.pause()
        latency = disk.fdatasync_latency(folder, 100)["preallocated overwrite"]["median_ms"]
        print(f"fdatasync {latency:.2f} ms, {o.delay_us / 1000:g} ms added to each; {o.rounds} rounds of {o.seconds:g} s\n")
        print("| test | threads | one log: tps, p95 ms, syncs/commit, CPU us | two logs | ratio (of each round) |\n|---|---|---|---|---|")
        for test in o.tests.split(","):
            for threads in map(int, o.threads.split(",")):
                rounds = []
                for n in range(o.rounds):
                    order = servers if n % 2 == 0 else servers[::-1]
                    found = {s: once(s, o, test, threads, 100 + n) for s in order}
                    rounds.append([found[s] for s in servers])
                cells = []
                for k in range(2):
                    of = {key: statistics.median(r[k][key] for r in rounds) for key in rounds[0][k]}
                    cells.append(f"{of['tps']:.0f}, {of['p95']:.1f}, {of['syncs']:.2f}, {of['cpu']:.0f}")
                ratios = [r[0]["tps"] / r[1]["tps"] for r in rounds]
                spread = ", ".join(f"{x:.2f}" for x in ratios)
                print(f"| {test} | {threads} | {cells[0]} | {cells[1]} | {statistics.median(ratios):.2f} ({spread}) |", flush=True)
    finally:
        for server in servers:
            server.kill()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
