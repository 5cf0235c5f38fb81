#!/usr/bin/env python3
"""Narwal beside Debian's MariaDB on one disk in one run: throughput, latency, syncs a commit, restart, idle size.

Called by ./bench, which builds Narwal first; `--only atrest` compares Narwal with itself (atrest.py). Standard library, sysbench 1.0.20, mariadbd and gcc only.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
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


@dataclass
class Cell:
    """One row of the table: a sysbench test at a number of threads, with a delay added to every sync."""

    test: str
    threads: int
    target: float | None = None
    delay_us: int = 0
    # Ends on the syncs a commit of Narwal: ("at most", x) or ("exactly", x); None: not asked.
    syncs: tuple[str, float] | None = None
    # Narwal's rate must exceed the disk's own syncs a second.
    beyond_disk: bool = False
    result: dict = field(default_factory=dict)

    @property
    def fresh(self) -> bool:
        """Tests that change the number of rows start from newly prepared tables on both servers."""
        return self.test in ("oltp_insert", "oltp_delete", "bulk_insert")

    def label(self) -> str:
        return self.test + (f" +{self.delay_us / 1000:g} ms/sync" if self.delay_us else "")


def figures() -> list[Cell]:
    """The rows that the project promises, in an order that keeps growing tables to the end."""
    return [
        Cell("oltp_point_select", 8, 1.6),
        Cell("oltp_read_only", 8, 1.3),
        Cell("oltp_read_write", 8, 1.5),
        Cell("oltp_write_only", 1, 1.4),
        Cell("oltp_write_only", 8, 2.0),
        Cell("oltp_write_only", 64, 2.0),
        Cell("oltp_update_non_index", 1, 1.5, syncs=("exactly", 1.0)),
        Cell("oltp_update_non_index", 8, 2.0),
        Cell("oltp_write_only", 1, 1.7, delay_us=2000),
        Cell("oltp_write_only", 64, 2.0, delay_us=2000),
        Cell("oltp_update_non_index", 64, None, delay_us=2000, syncs=("at most", 0.08)),
        Cell("hotrow", 64, 10.0, delay_us=2000),
        Cell("hotrow", 64, None, beyond_disk=True),
        Cell("oltp_insert", 1, 1.5),
        Cell("oltp_insert", 8, 2.0),
    ]


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
        self.report: dict = {"cells": []}

    # -- servers -------------------------------------------------------------------------------------------------------
    def servers(self) -> list[Server]:
        baseline = MariaDB(self.work / "mariadb", MARIADB_ARGS + self.o.mariadb_arg, shim=self.shim)
        if self.o.narwal_is_mariadb:
            subject: Server = MariaDB(self.work / "narwal", MARIADB_ARGS, shim=self.shim)
            subject.name = "Narwal"
        else:
            subject = Narwal(self.work / "narwal", NARWAL_ARGS + self.o.narwal_arg, binary=self.o.narwal, shim=self.shim)
        return [baseline, subject]

    def sysbench(self, server: Server, test: str, command: str, threads: int, seconds: float = 0, seed: int = 0,
                 tables: int | None = None, rows: int | None = None) -> str:  # fmt: skip
        script = str(ROOT / "lab" / "narwal_lab" / "lua" / "hotrow.lua") if test == "hotrow" else test
        args = ["sysbench", script, "--db-driver=mysql"]
        if self.o.unix_socket:
            args.append(f"--mysql-socket={server.socket}")
        else:
            args += ["--mysql-host=127.0.0.1", f"--mysql-port={server.port}"]
        args += ["--mysql-user=root", "--mysql-db=sbtest", f"--threads={threads}"]
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

    def prepare(self, server: Server) -> None:
        server.sql("DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest")
        self.sysbench(server, "oltp_write_only", "prepare", min(4, self.o.tables))
        self.sysbench(server, "hotrow", "prepare", 1)

    # -- one measured run ----------------------------------------------------------------------------------------------
    def run_once(self, server: Server, cell: Cell, seconds: float, seed: int) -> dict:
        """Runs a cell once; the counts are differences over the whole of sysbench's run."""
        pid = server.process.pid
        before, cpu = server.counters.read(), cpu_seconds(pid)
        text = self.sysbench(server, cell.test, "run", cell.threads, seconds, seed)
        after, cpu_after = server.counters.read(), cpu_seconds(pid)
        number = lambda pattern: float(re.search(pattern, text).group(1))  # noqa: E731
        transactions = number(r"transactions:\s+(\d+)")
        syncs = {k: after[k] - before[k] for k in syncshim.KINDS}
        return {
            "tps": number(r"transactions:\s+\d+\s+\(([\d.]+) per sec"),
            "qps": number(r"queries:\s+\d+\s+\(([\d.]+) per sec"),
            "p95_ms": number(r"95th percentile:\s+([\d.]+)"),
            "avg_ms": number(r"avg:\s+([\d.]+)"),
            "ignored_errors": number(r"ignored errors:\s+(\d+)"),
            "transactions": transactions,
            "syncs": {k: v for k, v in syncs.items() if v},
            "mean_sync_ms": (after["nanoseconds"] - before["nanoseconds"]) / sum(syncs.values()) / 1e6
            if sum(syncs.values()) else None,
            "syncs_per_commit": sum(syncs.values()) / transactions if transactions else None,
            "cpu_us_per_transaction": (cpu_after - cpu) * 1e6 / transactions if transactions else None,
        }

    def measure(self, cell: Cell, servers: list[Server]) -> None:
        runs: dict[str, list[dict]] = {s.name: [] for s in servers}
        # Both servers are stopped now: what the disk does for nobody else, next to the row that it explains.
        probe = disk.fdatasync_latency(self.out, 100)["preallocated overwrite"]["median_ms"]
        for server in servers:
            server.resume()
            if cell.fresh:
                server.counters.set_delay(0)
                self.prepare(server)
            server.counters.set_delay(cell.delay_us)
            if self.o.warmup:
                self.run_once(server, cell, self.o.warmup, 7)
            server.pause()
        for round_ in range(self.o.rounds):
            order = servers if round_ % 2 == 0 else servers[::-1]
            for server in order:
                server.resume()
                runs[server.name].append(self.run_once(server, cell, self.o.seconds, 1000 + round_))
                server.pause()
        cell.result = {"disk_ms": probe, **{name: summary(r) for name, r in runs.items()}}

    def judge(self, cell: Cell) -> str:
        """Fills in the ratio and whether the row's target is met; returns the printed line."""
        r = cell.result
        base, subject = r["MariaDB"], r["Narwal"]
        ratio = r["ratio"] = subject["tps"] / base["tps"] if base["tps"] else float("inf")
        wants, ok = [], True
        if cell.target is not None:
            wants.append(f"{cell.target:g}x")
            ok &= ratio >= cell.target
        if cell.syncs:
            kind, limit = cell.syncs
            got = subject["syncs_per_commit"] or 0
            wants.append(f"syncs/commit {'=' if kind == 'exactly' else '<='} {limit:g}")
            # The data files' own syncs (a checkpoint now and then) are allowed 2 %.
            ok &= abs(got - limit) <= 0.02 if kind == "exactly" else got <= limit
        if cell.beyond_disk:
            rate = 1000 / self.report["disk"]["preallocated overwrite"]["median_ms"]
            wants.append(f"> {rate:.0f}/s (disk)")
            ok &= subject["tps"] > rate
        r["target"] = ", ".join(wants) or "-"
        r["met"] = ok if wants else None
        if wants and not ok:
            self.failures.append(f"{cell.label()} at {cell.threads} threads")
        return row(cell)

    def run_cells(self, cells: list[Cell]) -> None:
        servers = self.servers()
        try:
            for server in servers:
                server.create()
                server.start()
                print(f"# {server.name}: {server.version()}", flush=True)
                began = time.monotonic()
                self.prepare(server)
                print(f"#   prepared {self.o.tables} x {self.o.table_size} rows in {time.monotonic() - began:.1f} s")
                server.pause()
            print(HEADER, flush=True)
            for cell in cells:
                try:
                    self.measure(cell, servers)
                    line = self.judge(cell)
                except RuntimeError as error:
                    self.failures.append(f"{cell.label()} at {cell.threads} threads: {error}")
                    cell.result = {"error": str(error)}
                    line = f"| {cell.label()} | {cell.threads} | error: {error} |"
                    for server in servers:
                        if not server.alive():
                            server.start()
                print(line, flush=True)
                self.report["cells"].append(
                    {"test": cell.test, "threads": cell.threads, "delay_us": cell.delay_us, **cell.result}
                )
                self.save()
            self.fairness()
            self.log_bytes(servers[1])
        finally:
            for server in servers:
                server.resume()
                server.kill()
                shutil.copy(server.log_path, self.raw / f"{server.name}.log")
                if not self.o.keep:
                    server.remove()

    def fairness(self) -> None:
        """InnoDB with a synced log and a synced binlog needs two syncs for a lone commit; fewer means it cheats."""
        lone = [c for c in self.report["cells"]
                if c["threads"] == 1 and c["test"] in ("oltp_update_non_index", "oltp_write_only", "oltp_insert")
                and "MariaDB" in c]  # fmt: skip
        if not lone:
            return
        got = min(c["MariaDB"]["syncs_per_commit"] for c in lone)
        self.report["baseline_syncs_per_commit"] = got
        if got < 1.95:
            text = (
                f"BASELINE UNFAIR: MariaDB made {got:.2f} syncs a commit at one thread, expected 2. InnoDB maps its redo "
                "log as persistent memory when /dev/shm and the data folder share a device: mount a tmpfs on /dev/shm."
            )
            self.failures.append(text)
            print(text)
        else:
            print(f"# baseline fair: MariaDB makes {got:.2f} syncs a commit at one thread")

    def log_bytes(self, server: Server) -> None:
        """Narwal's own counters: what the log wrote for each byte of event group, and its syncs beside the shim's."""
        if not server.alive() or self.o.narwal_is_mariadb:
            return
        server.resume()
        server.counters.set_delay(0)
        try:
            names = ["Narwal_log_bytes_written", "Narwal_log_group_bytes", "Narwal_log_syncs", "Narwal_commits"]
            out = {}
            for test, threads in (("oltp_write_only", 1), ("oltp_write_only", 64)):
                a, shim_a = server.status("Narwal%"), server.counters.syncs()
                self.sysbench(server, test, "run", threads, max(2, self.o.seconds // 2), 5)
                b, shim_b = server.status("Narwal%"), server.counters.syncs()
                lower_a, lower_b = ({k.lower(): v for k, v in d.items()} for d in (a, b))
                d = {n: int(lower_b[n.lower()]) - int(lower_a[n.lower()]) for n in names if n.lower() in lower_b}
                d["syncs counted by the shim"] = shim_b - shim_a
                if d.get("Narwal_log_group_bytes"):
                    d["log bytes per byte of event group"] = round(
                        d["Narwal_log_bytes_written"] / d["Narwal_log_group_bytes"], 4
                    )
                    if d["log bytes per byte of event group"] > 1.05:
                        self.failures.append(f"log bytes per byte of event group at {threads} threads")
                out[f"{test} at {threads}"] = d
                print(f"# log, {test} at {threads}: {d}", flush=True)
            self.report["log"] = out
        except RuntimeError as error:
            self.failures.append(f"log counters: {error}")

    # -- idle and restart ----------------------------------------------------------------------------------------------
    def idle(self) -> None:
        """Resident memory and folder size of a new server with defaults that nobody has used."""
        out = {}
        for server in (MariaDB(self.work / "idle-mariadb"), self._subject("idle-narwal", [])):
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

    def _subject(self, folder: str, args: list[str], **kw) -> Server:
        if self.o.narwal_is_mariadb:
            server: Server = MariaDB(self.work / folder, **kw)
            server.name = "Narwal"
            return server
        return Narwal(self.work / folder, args + self.o.narwal_arg, binary=self.o.narwal, **kw)

    def restart(self) -> None:
        """Seconds from exec to the first answer after kill -9 under 64 writing threads."""
        rows = self.o.restart_rows
        server = self._subject("restart", NARWAL_ARGS)
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
        print(f"# {self.o.tables} tables x {self.o.table_size} rows, {self.o.rounds} rounds of {self.o.seconds:g} s "
              f"after {self.o.warmup:g} s warm-up, servers in turn (the other one is stopped by SIGSTOP)")  # fmt: skip
        sys.stdout.flush()

    def save(self) -> None:
        (self.out / "results.json").write_text(json.dumps(self.report, indent=1) + "\n")
        (self.out / "results.md").write_text(markdown(self.report, self.failures))


HEADER = (
    "| test | threads | MariaDB TPS | Narwal TPS | ratio | target | met | p95 ms MariaDB | p95 ms Narwal "
    "| syncs/commit MariaDB | Narwal | server CPU us/trx MariaDB | Narwal | disk fdatasync ms |\n" + "|---" * 14 + "|"
)


def summary(runs: list[dict]) -> dict:
    """The run with the median throughput, with every run's throughput beside it."""
    ordered = sorted(runs, key=lambda r: r["tps"])
    out = dict(ordered[(len(ordered) - 1) // 2])
    out["tps"] = statistics.median(r["tps"] for r in runs)
    out["all_tps"] = [r["tps"] for r in runs]
    total = sum(r["transactions"] for r in runs)
    out["syncs_per_commit"] = sum(sum(r["syncs"].values()) for r in runs) / total if total else None
    return out


def row(cell: Cell | dict) -> str:
    r = cell.result if isinstance(cell, Cell) else cell
    test = cell.label() if isinstance(cell, Cell) else Cell(cell["test"], 0, delay_us=cell["delay_us"]).label()
    threads = cell.threads if isinstance(cell, Cell) else cell["threads"]
    if "error" in r:
        return f"| {test} | {threads} | error: {r['error']} |" + " |" * 11
    m, n = r["MariaDB"], r["Narwal"]
    met = {True: "yes", False: "**no**", None: "-"}[r["met"]]
    f = lambda v, p: "-" if v is None else format(v, p)  # noqa: E731
    return (
        f"| {test} | {threads} | {m['tps']:,.0f} | {n['tps']:,.0f} | {r['ratio']:.2f} | {r['target']} | {met} "
        f"| {m['p95_ms']:.2f} | {n['p95_ms']:.2f} | {f(m['syncs_per_commit'], '.3f')} | {f(n['syncs_per_commit'], '.3f')} "
        f"| {f(m['cpu_us_per_transaction'], '.0f')} | {f(n['cpu_us_per_transaction'], '.0f')} | {r['disk_ms']:.3f} |"
    )


def markdown(report: dict, failures: list[str]) -> str:
    out = ["# Narwal beside MariaDB\n"]
    out.append(f"- {report['date']}, commit {report['commit']}")
    out.append(f"- {report['cpu']}, {report['cores']} cores, {report['memory_gib']} GiB, {report['kernel']}, "
               f"{report['filesystem']}")  # fmt: skip
    out.append(f"- {report['sysbench']}; {report['mariadb']}; {report['rustc']}")
    out.append(f"- MariaDB: `{' '.join(report['mariadb_args'])}`, other settings its defaults, no option file")
    out.append(f"- Narwal: `{' '.join(report['narwal_args'])}`")
    out.append(f"- {report['tables']} tables x {report['table_size']} rows; {report['rounds']} rounds of "
               f"{report['seconds']:g} s after {report['warmup']:g} s warm-up, median; {report['transport']}; both servers "
               "run under the sync shim, the one not measured is stopped by SIGSTOP")  # fmt: skip
    for kind, s in report["disk"].items():
        out.append(f"- disk, 4 KiB write + fdatasync, {kind}: median {s['median_ms']} ms, p95 {s['p95_ms']} ms")
    out.append(f"- repeat: `{report['command']}`\n")
    if report["cells"]:
        out += [HEADER, *(row(c) for c in report["cells"]), ""]
    if "atrest" in report:
        out += ["Encryption and compression at rest (ratios to the plain folder, of the same round)\n", *atrest.table(report["atrest"])]
    for key in ("baseline_syncs_per_commit", "log", "idle", "restart", "strace"):
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
        "tables": o.tables, "table_size": o.table_size, "rounds": o.rounds, "seconds": o.seconds, "warmup": o.warmup,
        "transport": "Unix socket" if o.unix_socket else "TCP over loopback",
        "command": "./bench " + " ".join(sys.argv[1:]),
    }  # fmt: skip


def parse() -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./bench", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--quick", action="store_true", help="one short round a row: a first look, not a result")
    p.add_argument("--tests", help="only rows of these tests (comma-separated sysbench names or hotrow)")
    p.add_argument("--threads", help="only, or for --tests beyond the list also, these thread counts")
    p.add_argument("--delay-us", type=int, help="only rows with this many microseconds added to a sync")
    p.add_argument("--seconds", type=int, help="of one round (default 12, quick 4)")
    p.add_argument("--rounds", type=int, help="rounds a row, the median counts (default 3, quick 1)")
    p.add_argument("--warmup", type=int, help="seconds before the rounds of a row (default 3, quick 1)")
    p.add_argument("--tables", type=int, default=4)
    p.add_argument("--table-size", type=int, default=100_000)
    p.add_argument("--unix-socket", action="store_true", help="connect by the socket, not by TCP")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--mariadb-arg", action="append", default=[], help="a further argument for mariadbd (repeatable)")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")),
                   help="results and the servers' folders: the disk that is measured")  # fmt: skip
    p.add_argument("--keep", action="store_true", help="keep the servers' folders")
    p.add_argument("--only", help="comma-separated sections: figures, idle, strace, restart, atrest; or one of backup, connect, large, purge, readers, semisync (see their --help) "
                                  "(default: figures and idle)")  # fmt: skip
    p.add_argument("--restart", action="store_true", help="also: restart after kill -9 with 4 x 1M rows (minutes)")
    p.add_argument("--restart-rows", type=int, default=1_000_000)
    p.add_argument("--restart-load", type=float, default=20, help="seconds of load before each kill")
    p.add_argument("--restart-kills", type=int, default=3)
    p.add_argument("--verify-strace", action="store_true", help="also: compare the shim's counts with strace")
    p.add_argument("--narwal-is-mariadb", action="store_true", help="a second MariaDB in Narwal's place: checks the "
                                                                    "script itself, all ratios must be near 1")  # fmt: skip
    o = p.parse_args()
    o.seconds = o.seconds or (4 if o.quick else 12)
    o.rounds = o.rounds or (1 if o.quick else 3)
    o.warmup = (1 if o.quick else 3) if o.warmup is None else o.warmup
    return o


def choose(o: argparse.Namespace) -> list[Cell]:
    cells = figures()
    if o.tests:
        names = o.tests.split(",")
        kept = [c for c in cells if c.test in names]
        threads = [int(x) for x in (o.threads or "1,8,64").split(",")]
        known = {c.test for c in cells}
        cells = kept + [Cell(n, t, delay_us=o.delay_us or 0) for n in names if n not in known for t in threads]
    if o.threads:
        cells = [c for c in cells if c.threads in [int(x) for x in o.threads.split(",")]]
    if o.delay_us is not None:
        cells = [c for c in cells if c.delay_us == o.delay_us]
    return cells


def main() -> int:
    o = parse()
    for tool in ("sysbench", "mariadbd", "mariadb", "mariadb-install-db", "gcc"):
        if not shutil.which(tool):
            print(f"bench: {tool} is missing: run scripts/setup", file=sys.stderr)
            return 2
    if not o.narwal_is_mariadb:
        narwal_binary(o.narwal)
    sections = set((o.only or "figures,idle").split(","))
    if o.restart:
        sections.add("restart")
    if o.verify_strace:
        sections.add("strace")
    bench = Bench(o)
    bench.head()
    bench.save()
    if "strace" in sections:
        bench.verify_strace()
    if "figures" in sections:
        bench.run_cells(choose(o))
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
