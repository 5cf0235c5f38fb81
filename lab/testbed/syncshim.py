"""Builds the sync shim and reads or sets its shared words (lab/shim/syncdelay.c)."""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "lab" / "shim" / "syncdelay.c"

FIELDS = [
    "magic", "delay_us", "fail_after", "fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "osync_writes",
    "failed", "nanoseconds",
]  # fmt: skip
KINDS = ["fsync", "fdatasync", "sync_file_range", "msync", "syncfs", "osync_writes"]
SIZE = 8 * len(FIELDS)


def build(folder: Path) -> Path:
    """Compiles the shim into `folder` when it is missing or older than its source; returns the library's path."""
    library = folder / "syncdelay.so"
    if not library.exists() or library.stat().st_mtime < SOURCE.stat().st_mtime:
        folder.mkdir(parents=True, exist_ok=True)
        partial = library.with_suffix(f".{os.getpid()}")
        subprocess.run(
            ["gcc", "-O2", "-shared", "-fPIC", "-o", str(partial), str(SOURCE), "-ldl", "-lpthread"], check=True
        )
        partial.rename(library)
    return library


class Counters:
    """The shim's words of one server process, mapped: counts to read and controls to set while it runs."""

    def __init__(self, path: Path):
        self.path = path
        with open(path, "w+b") as f:
            f.truncate(SIZE)
            self.map = mmap.mmap(f.fileno(), SIZE)
        self.map[:SIZE] = struct.pack("<QQq8Q", 0x314E595357524E, 0, -1, *[0] * 8)

    def environment(self, library: Path) -> dict[str, str]:
        return {"LD_PRELOAD": str(library), "SYNC_COUNT_FILE": str(self.path)}

    def read(self) -> dict[str, int]:
        return dict(zip(FIELDS, struct.unpack("<QQq8Q", self.map[:SIZE])))

    def syncs(self) -> int:
        """All syncs so far, whatever the call."""
        now = self.read()
        return sum(now[k] for k in KINDS)

    def set_delay(self, microseconds: int) -> None:
        self.map[8:16] = struct.pack("<Q", microseconds)

    def fail_after(self, calls: int) -> None:
        """Lets `calls` more syncs succeed, then fails all with EIO; negative: never."""
        self.map[16:24] = struct.pack("<q", calls)
