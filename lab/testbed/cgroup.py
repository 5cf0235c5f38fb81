"""A limit on all memory that a process can have, the kernel's cache of its files included: cgroup v1 or v2, where this user may make one."""

from __future__ import annotations

import atexit
import os
import time
from contextlib import suppress
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")


class MemoryGroup:
    """A group below the root of the hierarchy. Ended processes leave it; `remove` when its last one has ended, else at exit.

    The kernel counts a page where it was first touched: what it has cached of a file before (see `forget`) is not in here.
    """

    def __init__(self, name: str):
        v1 = (ROOT / "memory" / "memory.limit_in_bytes").exists()
        self.folder = (ROOT / "memory" if v1 else ROOT) / f"narwal-lab-{os.getpid()}-{name}"
        self._limit = self.folder / ("memory.limit_in_bytes" if v1 else "memory.max")
        self.folder.mkdir()
        atexit.register(self.remove)
        if not self._limit.exists():
            self.remove()
            raise OSError(f"{ROOT}: no memory controller for a new group")

    def hold(self, pid: int, mib: int) -> None:
        """From now on this process and its threads, together with what else is in the group, have no more than that."""
        (self.folder / "cgroup.procs").write_text(str(pid))
        self._limit.write_text(str(mib << 20))

    def holds(self, pid: int) -> bool:
        """Whether the process is in here."""
        return str(pid) in (self.folder / "cgroup.procs").read_text().split()

    def remove(self) -> None:
        """Takes the group away, whose processes have ended."""
        atexit.unregister(self.remove)
        for _ in range(20):
            with suppress(OSError):
                self.folder.rmdir()
            if not self.folder.exists():
                return
            time.sleep(0.05)


def forget(folder: Path) -> None:
    """Asks the kernel to write what it has cached of a folder's files, and drop it."""
    for file in folder.rglob("*"):
        if file.is_file():
            fd = os.open(file, os.O_RDONLY)
            try:
                os.fsync(fd)
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            finally:
                os.close(fd)
