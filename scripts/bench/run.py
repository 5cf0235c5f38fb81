#!/usr/bin/env python3
"""Sections of ./bench about one server's size, restart and syncs; `--only atrest` compares Narwal with itself (atrest.py).

The figures beside MariaDB are the lab's (./narwal-lab run figures). Standard library, sysbench 1.0.20, mariadbd and gcc only.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed import disk, syncshim  # noqa: E402
from testbed.servers import ROOT, MariaDB, Narwal, Server, narwal_binary  # noqa: E402

import atrest  # noqa: E402

HERE = Path(__file__).resolve().parent

MARIADB_ARGS = [
    "--log-bin=binlog", "--server-id=1", "--binlog-format=ROW", "--sync-binlog=1",
    "--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=1G", "--innodb-log-file-size=1G",
    "--performance-schema=OFF", "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci",
    "--max-connections=500",
]  # fmt: skip
NARWAL_ARGS = ["--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=1G", "--max-connections=500"]


class Bench:
    def __init__(self, options: argparse.Namespace):
        self.o = options
        self.out = Path(options.out).resolve()
        self.raw = self.out / "raw"
        self.raw.mkdir(parents=True, exist_ok=True)
        self.work = self.out / "work"
        self.work.mkdir(exist_ok=True)
        self.shim = syncshim.build(self.work)
        self.failures: list[str] = []
        self.report: dict = {}

    # -- servers -------------------------------------------------------------------------------------------------------
    def servers(self) -> list[Server]:
        baseline = MariaDB(self.work / "mariadb", MARIADB_ARGS + self.o.mariadb_arg, shim=self.shim)
        subject = Narwal(self.work / "narwal", NARWAL_ARGS + self.o.narwal_arg, binary=self.o.narwal, shim=self.shim)
        return [baseline, subject]

    def sysbench(self, server: Server, test: str, command: str, threads: int, seconds: float = 0, seed: int = 0,
                 tables: int | None = None, rows: int | None = None) -> str:  # fmt: skip
        script = str(ROOT / "lab" / "narwal_lab" / "lua" / "hotrow.lua") if test == "hotrow" else test
        args = ["sysbench", script, "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}",
                "--mysql-user=root", "--mysql-db=sbtest", f"--threads={threads}"]  # fmt: skip
        if test != "hotrow":
            args += [f"--tables={tables or self.o.tables}", f"--table-size={rows or self.o.table_size}"]
        if command == "run":
            args += [f"--time={seconds:g}", "--events=0", "--report-interval=0", f"--rand-seed={seed}",
                     "--mysql-ignore-errors=1213,1205,1020"]  # fmt: skip
        done = subprocess.run([*args, command], capture_output=True, text=True)
        name = f"{server.name}-{test}-{threads}-{command}-{time.strftime('%H%M%S')}.txt"
        (self.raw / name).write_text(" ".join([*args, command]) + "\n" + done.stdout + done.stderr)
        if done.returncode:
            lines = [x for x in (done.stdout + done.stderr).splitlines() if re.search("fatal|error|invalid", x, re.IGNORECASE)]
            raise RuntimeError(f"{server.name}: sysbench {test} {command}: " + " | ".join(lines[:3])[:400])
        return done.stdout

    # -- idle and restart ----------------------------------------------------------------------------------------------
    def idle(self) -> None:
        """Resident memory and folder size of a new server with defaults that nobody has used."""
        out = {}
        for server in (MariaDB(self.work / "idle-mariadb"), Narwal(self.work / "idle-narwal", self.o.narwal_arg, binary=self.o.narwal)):
            try:
                server.create()
                server.start()
                time.sleep(3)
                out[server.name] = {"rss_mib": round(server.rss_mib(), 1), "folder_mib": round(server.disk_mib(), 1)}
            finally:
                server.remove()
        self.report["idle"] = out
        got = out["Narwal"]
        if got["rss_mib"] >= 100 or got["folder_mib"] >= 100:
            self.failures.append("idle size")
        print(f"# idle with defaults (want < 100 MiB each): {out}", flush=True)

    def restart(self) -> None:
        """Seconds from exec to the first answer after kill -9 under 64 writing threads."""
        rows = self.o.restart_rows
        server = Narwal(self.work / "restart", NARWAL_ARGS + self.o.narwal_arg, binary=self.o.narwal)
        out = {"tables": 4, "rows": rows, "load_seconds": self.o.restart_load, "kills": []}
        try:
            server.create()
            server.start()
            server.sql("CREATE DATABASE sbtest")
            began = time.monotonic()
            self.sysbench(server, "oltp_write_only", "prepare", 4, tables=4, rows=rows)
            out["prepare_seconds"] = round(time.monotonic() - began, 1)
            print(f"# restart: prepared 4 x {rows} rows in {out['prepare_seconds']} s", flush=True)
            for _ in range(self.o.restart_kills):
                load = subprocess.Popen(
                    ["sysbench", "oltp_write_only", "--db-driver=mysql", "--mysql-host=127.0.0.1",
                     f"--mysql-port={server.port}", "--mysql-user=root", "--mysql-db=sbtest", "--threads=64",
                     "--tables=4", f"--table-size={rows}", "--time=0", "--events=0",
                     "--mysql-ignore-errors=1213,1205,1020", "run"],
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                )  # fmt: skip
                time.sleep(self.o.restart_load)
                early = load.poll() is not None
                server.kill()
                load.wait()
                ready = server.start(300)
                began = time.monotonic()
                server.sql("SELECT c FROM sbtest1 WHERE id = 1", "sbtest")
                kill = {"accepting_seconds": round(ready, 3), "first_query_seconds": round(time.monotonic() - began, 3)}
                if early:
                    kill["note"] = "the load ended before the kill"
                    self.failures.append("restart: the load ended before the kill")
                out["kills"].append(kill)
                print(f"# restart after kill -9: {kill}", flush=True)
            worst = max(k["accepting_seconds"] for k in out["kills"])
            out["met"] = worst < 3
            if worst >= 3:
                self.failures.append(f"restart took {worst} s")
        finally:
            shutil.copy(server.log_path, self.raw / "restart.log")
            server.remove()
        self.report["restart"] = out

    # -- strace ----------------------------------------------------------------------------------------------------------
    def verify_strace(self) -> None:
        """The shim's counts beside strace's over the same seconds, for both servers."""
        out = {}
        for server in self.servers():
            try:
                server.create()
                server.start()
                server.sql("CREATE DATABASE IF NOT EXISTS sbtest")
                self.sysbench(server, "hotrow", "cleanup", 1)
                self.sysbench(server, "hotrow", "prepare", 1)
                trace = self.raw / f"{server.name}.strace"
                tracer = subprocess.Popen(
                    ["strace", "-f", "-qq", "-e", "trace=fsync,fdatasync,msync,sync_file_range,syncfs,io_uring_enter",
                     "-o", str(trace), "-p", str(server.process.pid)], stderr=subprocess.DEVNULL,
                )  # fmt: skip
                time.sleep(1)
                before = server.counters.syncs()
                self.sysbench(server, "hotrow", "run", 1, 3)
                time.sleep(0.5)
                counted = server.counters.syncs() - before
                tracer.send_signal(2)
                tracer.wait()
                lines = trace.read_text().splitlines()
                seen = sum(
                    1 for x in lines
                    if re.search(r" (fsync|fdatasync|syncfs|sync_file_range)\(", x) or " msync(" in x and "MS_SYNC" in x
                )  # fmt: skip
                out[server.name] = {"shim": counted, "strace": seen,
                                    "io_uring_enter": sum("io_uring_enter(" in x for x in lines)}  # fmt: skip
                # A sync that straddles the start or end of the trace may be seen by one side only.
                if abs(counted - seen) > max(3, counted // 100):
                    self.failures.append(f"shim and strace disagree on {server.name}: {counted} and {seen}")
            finally:
                server.remove()
        self.report["strace"] = out
        print(f"# shim and strace: {out}", flush=True)

    # -- report ----------------------------------------------------------------------------------------------------------
    def head(self) -> None:
        self.report.update(environment(self.o, self.out))
        print(f"# {self.report['date']} {self.report['cpu']}, {self.report['cores']} cores, "
              f"{self.report['memory_gib']} GiB, {self.report['filesystem']}")  # fmt: skip
        print(f"# {self.report['sysbench']}; {self.report['mariadb']}; narwal {self.report['commit']}")
        self.report["disk"] = disk.fdatasync_latency(self.out)
        for kind, spread in self.report["disk"].items():
            print(f"# disk: 4 KiB write + fdatasync, {kind}: median {spread['median_ms']} ms, p95 {spread['p95_ms']} ms")
        sys.stdout.flush()

    def save(self) -> None:
        (self.out / "results.json").write_text(json.dumps(self.report, indent=1) + "\n")
        (self.out / "results.md").write_text(markdown(self.report, self.failures))


def markdown(report: dict, failures: list[str]) -> str:
    out = ["# Narwal's size, restart and syncs\n"]
    out.append(f"- {report['date']}, commit {report['commit']}")
    out.append(f"- {report['cpu']}, {report['cores']} cores, {report['memory_gib']} GiB, {report['kernel']}, "
               f"{report['filesystem']}")  # fmt: skip
    out.append(f"- {report['sysbench']}; {report['mariadb']}; {report['rustc']}")
    out.append(f"- MariaDB: `{' '.join(report['mariadb_args'])}`, other settings its defaults, no option file")
    out.append(f"- Narwal: `{' '.join(report['narwal_args'])}`")
    for kind, s in report["disk"].items():
        out.append(f"- disk, 4 KiB write + fdatasync, {kind}: median {s['median_ms']} ms, p95 {s['p95_ms']} ms")
    out.append(f"- repeat: `{report['command']}`\n")
    if "atrest" in report:
        out += ["Encryption and compression at rest (ratios to the plain folder, of the same round)\n", *atrest.table(report["atrest"])]
    for key in ("idle", "restart", "strace"):
        if key in report:
            out.append(f"- {key}: `{json.dumps(report[key])}`")
    out.append("\nNot met: " + ("; ".join(failures) if failures else "none") + "\n")
    return "\n".join(out)


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def environment(o: argparse.Namespace, folder: Path) -> dict:
    def first(*command: str) -> str:
        try:
            return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip().split("\n")[0]
        except OSError:
            return "?"

    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    memory = int(re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text()).group(1)) / 2**20
    dirty = "" if not first("git", "status", "--porcelain", "-uno") else " with local changes"
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": first("git", "rev-parse", "--short", "HEAD") + dirty,
        "cpu": cpu.group(1) if cpu else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory, 1),
        "kernel": platform.platform(),
        "filesystem": " ".join(
            subprocess.run(["df", "--output=fstype,source", str(folder)], capture_output=True, text=True)
            .stdout.split("\n")[1].split()
        ),
        "sysbench": first("sysbench", "--version"),
        "mariadb": first("mariadbd", "--version"),
        "rustc": first("rustc", "--version"),
        "mariadb_args": MARIADB_ARGS + o.mariadb_arg,
        "narwal_args": NARWAL_ARGS + o.narwal_arg,
        "tables": o.tables, "table_size": o.table_size, "rounds": o.rounds, "seconds": o.seconds,
        "command": "./bench " + " ".join(sys.argv[1:]),
    }  # fmt: skip


def parse() -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--seconds", type=int, default=12, help="of one run of atrest")
    p.add_argument("--rounds", type=int, default=3, help="of atrest, the median counts")
    p.add_argument("--tables", type=int, default=4)
    p.add_argument("--table-size", type=int, default=100_000)
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--mariadb-arg", action="append", default=[], help="a further argument for mariadbd (repeatable)")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")),
                   help="results and the servers' folders: the disk that is measured")  # fmt: skip
    p.add_argument("--keep", action="store_true", help="keep the servers' folders")
    p.add_argument("--only", default="idle", help="comma-separated sections: idle (default), restart (after kill -9 with 4 x 1M rows: "
                                                  "minutes), strace (the shim's counts beside strace's), atrest")  # fmt: skip
    p.add_argument("--restart-rows", type=int, default=1_000_000)
    p.add_argument("--restart-load", type=float, default=20, help="seconds of load before each kill")
    p.add_argument("--restart-kills", type=int, default=3)
    return p.parse_args()


def main() -> int:
    o = parse()
    for tool in ("sysbench", "mariadbd", "mariadb", "mariadb-install-db", "gcc"):
        if not shutil.which(tool):
            print(f"bench: {tool} is missing: run scripts/setup", file=sys.stderr)
            return 2
    narwal_binary(o.narwal)
    sections = set(o.only.split(","))
    bench = Bench(o)
    bench.head()
    bench.save()
    if "strace" in sections:
        bench.verify_strace()
    if "idle" in sections:
        bench.idle()
    if "restart" in sections:
        bench.restart()
    if "atrest" in sections:
        atrest.AtRest(bench, cpu_seconds).run()
    bench.save()
    print(f"# written: {bench.out}/results.md and results.json")
    print("# not met: " + ("; ".join(bench.failures) if bench.failures else "none"))
    if not o.keep:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 1 if bench.failures else 0


if __name__ == "__main__":
    sys.exit(main())
