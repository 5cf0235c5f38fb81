"""What a run was made on: machine, disk, versions, options."""

from __future__ import annotations

import datetime
import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

import psutil
from testbed.disk import fdatasync_latency
from testbed.servers import ROOT

from .subjects import Subject


def _first(*command: str) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT).stdout.strip().split("\n")[0]
    except OSError:
        return "?"


def machine(out: Path) -> dict[str, object]:
    """CPU, memory, kernel, the disk below `out` and this repository's commit."""
    cpu = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    df = subprocess.run(["df", "--output=fstype,source", str(out)], capture_output=True, text=True).stdout.split("\n")
    dirty = " with local changes" if _first("git", "status", "--porcelain", "-uno") not in ("", "?") else ""
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "commit": _first("git", "rev-parse", "--short", "HEAD") + dirty,
        "cpu": cpu.group(1) if cpu else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "kernel": platform.platform(),
        "filesystem": " ".join(df[1].split()) if len(df) > 1 else "?",
        "free_gib": round(shutil.disk_usage(out).free / 2**30, 1),
        "load_before": round(os.getloadavg()[0], 2),
        "sysbench": _first("sysbench", "--version"),
        "python": platform.python_version(),
    }


def subject(s: Subject, buffer_pool_mib: int) -> dict[str, object]:
    """Of a server: what a report needs to know."""
    return {
        "name": s.name, "kind": s.kind, "colour": s.colour, "binary": str(s.binary), "version": s.version, "args": s.args,
        "config": s.config("D1", buffer_pool_mib=buffer_pool_mib),
    }  # fmt: skip


def disk(out: Path, samples: int = 400) -> dict[str, dict[str, float]]:
    """fdatasync latency of the folder's disk, see testbed.disk."""
    return fdatasync_latency(out, samples)
