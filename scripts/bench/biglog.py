"""For connect.py and purge.py: a data folder with a long binary log, made by the engine's example binlog_bench."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.servers import ROOT  # noqa: E402

UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def bytes_of(text: str) -> int:
    found = re.fullmatch(r"(\d+)([KMG]?)", text.strip().upper())
    if not found:
        raise SystemExit(f"{text}: not a size (as 100M or 20G)")
    return int(found.group(1)) * UNITS[found.group(2)]


def example(release: bool) -> Path:
    """Builds the example and says where it is."""
    profile = ["--release"] if release else []
    subprocess.run(["cargo", "build", "-q", *profile, "-p", "narwal-engine", "--example", "binlog_bench"],
                   cwd=ROOT, check=True)  # fmt: skip
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    return target / ("release" if release else "debug") / "examples" / "binlog_bench"


def build(tool: Path, folder: Path, size: int, file_size: int = 2**30) -> float:
    """Makes a data folder whose log has `size` bytes of events, in binary log files of `file_size`, on disk when this
    returns; seconds that took."""
    free = os.statvfs(folder.parent).f_bavail * os.statvfs(folder.parent).f_frsize
    if free < size * 1.1 + 2**30:
        raise SystemExit(f"{folder.parent}: {free / 2**30:.0f} GiB are free, {size * 1.1 / 2**30 + 1:.0f} are needed")
    began = time.monotonic()
    subprocess.run([str(tool), "build", str(folder), str(size), str(file_size)], check=True)
    os.sync()
    return time.monotonic() - began
