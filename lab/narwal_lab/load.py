"""Drives sysbench and reads its report."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

from testbed.latency import histogram, percentile
from testbed.servers import Server

from .options import LabError

LUA = Path(__file__).resolve().parent / "lua"

IGNORED_ERRORS = "1213,1205,1020"
"""Deadlock, lock wait timeout, record changed: the transaction is retried, and counted as `errors`."""


class LoadFailed(RuntimeError):
    """sysbench ended with an error; the message has its important lines."""


def script(test: str) -> str:
    """The file of one of the lab's own tests (lua/), or the name of a test of sysbench itself."""
    own = LUA / f"{test}.lua"
    return str(own) if own.exists() else test


def command(server: Server, test: str, verb: str, threads: int, options: dict[str, object], socket: bool = False) -> list[str]:
    """The command line of a sysbench run against a server; `options` are sysbench's own, without the dashes."""
    if not shutil.which("sysbench"):
        raise LabError("sysbench is missing: run scripts/setup (Debian: apt-get install sysbench)")
    where = [f"--mysql-socket={server.socket}"] if socket else ["--mysql-host=127.0.0.1", f"--mysql-port={server.port}"]
    return [
        "sysbench", script(test), "--db-driver=mysql", *where, "--mysql-user=root", "--mysql-db=sbtest",
        f"--threads={threads}", *(f"--{k}={v}" for k, v in options.items()), verb,
    ]  # fmt: skip


def run(
    server: Server, test: str, verb: str, threads: int, options: dict[str, object], raw: Path | None = None,
    label: str = "", timeout: float | None = None,
) -> str:  # fmt: skip
    """Runs sysbench to its end and returns what it printed, which is also kept in the folder `raw`."""
    args = command(server, test, verb, threads, options)
    try:
        done = subprocess.run(args, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise LoadFailed(f"{server.name}: sysbench {test} {verb} at {threads} threads did not end in {timeout:.0f} s") from None
    if raw:
        raw.mkdir(parents=True, exist_ok=True)
        name = f"{time.strftime('%H%M%S')}-{server.folder.name}-{test}-{threads}-{verb}{label}.txt"
        (raw / name).write_text(" ".join(args) + "\n" + done.stdout + done.stderr)
    if done.returncode:
        text = done.stdout + done.stderr
        lines = [x for x in text.splitlines() if re.search("fatal|error|invalid", x, re.IGNORECASE)]
        raise LoadFailed(f"{server.name}: sysbench {test} {verb}: " + " | ".join(lines[:3] or [text[-300:]])[:500])
    return done.stdout


def run_options(seconds: float, seed: int, **more: object) -> dict[str, object]:
    """sysbench's options of every measured run: whole seconds, at least one, a histogram, retryable errors ignored."""
    return {
        "time": max(1, round(seconds)), "events": 0, "report-interval": 0, "rand-seed": seed, "histogram": "on",
        "mysql-ignore-errors": IGNORED_ERRORS, **more,
    }  # fmt: skip


def intervals(text: str) -> list[tuple[float, float]]:
    """(seconds since the start, events a second) of each line of --report-interval."""
    return [(float(t), float(tps)) for t, tps in re.findall(r"^\[ ([\d.]+)s \] .*?tps: ([\d.]+)", text, re.MULTILINE)]


def parse(text: str) -> dict[str, float | None]:
    """What sysbench 1.0 printed about a run: rates, latencies (ms), errors. Raises LoadFailed if it isn't a report."""

    def number(pattern: str) -> float:
        found = re.search(pattern, text)
        if not found:
            raise LoadFailed(f"not a report of sysbench 1.0 (no {pattern!r}): {text[-300:]}")
        return float(found.group(1))

    buckets = histogram(text)
    return {
        "transactions": number(r"transactions:\s+(\d+)"),
        "tps": number(r"transactions:\s+\d+\s+\(([\d.]+) per sec"),
        "qps": number(r"queries:\s+\d+\s+\(([\d.]+) per sec"),
        "errors": number(r"ignored errors:\s+(\d+)"),
        "reconnects": number(r"reconnects:\s+(\d+)"),
        "seconds": number(r"total time:\s+([\d.]+)s"),
        "avg_ms": number(r"avg:\s+([\d.]+)"),
        "max_ms": number(r"max:\s+([\d.]+)"),
        "p50_ms": percentile(buckets, 0.50),
        "p95_ms": percentile(buckets, 0.95),
        "p99_ms": percentile(buckets, 0.99),
        "p999_ms": percentile(buckets, 0.999),
    }
