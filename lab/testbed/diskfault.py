"""Builds the fault shim and arms it (lab/shim/diskfault.c): the n-th call of a kind on some files fails."""

from __future__ import annotations

import mmap
import os
import struct
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "lab" / "shim" / "diskfault.c"
OPS = ["open", "read", "write", "sync", "truncate", "allocate", "rename", "unlink", "mkdir", "readdir"]
WORDS = struct.Struct("<6Q")
SIZE = WORDS.size + 512
FOR_EVER = 1 << 60


def build(folder: Path) -> Path:
    """Compiles the shim into `folder`; returns the library's path."""
    library = folder / "diskfault.so"
    if not library.exists() or library.stat().st_mtime < SOURCE.stat().st_mtime:
        partial = library.with_suffix(f".{os.getpid()}")
        command = ["gcc", "-O2", "-Wall", "-Wno-unused-parameter", "-shared", "-fPIC"]
        subprocess.run([*command, "-o", str(partial), str(SOURCE), "-ldl", "-lpthread"], check=True)
        partial.rename(library)
    return library


class Faults:
    """The shim's words of one server, mapped: arm while it runs, or before it starts."""

    def __init__(self, path: Path):
        self.path = path
        with open(path, "w+b") as f:
            f.truncate(SIZE)
            self.map = mmap.mmap(f.fileno(), SIZE)

    def environment(self, library: Path) -> dict[str, str]:
        return {"LD_PRELOAD": str(library), "DISK_FAULT_FILE": str(self.path)}

    def arm(self, op: str, pattern: str, nth: int, error: int, times: int = 1) -> None:
        """The `nth` call `op` (and `times` - 1 behind it) on paths that contain `pattern` fail with `error`; 0: come short.
        `nth` 0 only counts."""
        self.map[:8] = struct.pack("<Q", 0)
        self.map[WORDS.size :] = pattern.encode().ljust(256, b"\0") + bytes(256)
        self.map[8 : WORDS.size] = struct.pack("<5Q", nth, times, error, 0, 0)
        self.map[:8] = struct.pack("<Q", OPS.index(op) + 1)

    def disarm(self) -> None:
        self.map[:8] = struct.pack("<Q", 0)

    @property
    def matched(self) -> int:
        return WORDS.unpack(self.map[: WORDS.size])[4]

    @property
    def failed(self) -> int:
        return WORDS.unpack(self.map[: WORDS.size])[5]

    @property
    def last(self) -> str:
        """The file of the last call that failed."""
        return self.map[WORDS.size + 256 :].split(b"\0")[0].decode()
