"""The disk: its own sync latency, measured the two ways a log uses it, and how much is written to it."""

from __future__ import annotations

import os
import time
from pathlib import Path


def _spread(samples: list[float]) -> dict[str, float]:
    samples = sorted(samples)
    n = len(samples)
    return {
        "median_ms": round(samples[n // 2] * 1e3, 3),
        "p95_ms": round(samples[int(n * 0.95)] * 1e3, 3),
        "mean_ms": round(sum(samples) / n * 1e3, 3),
        "samples": n,
    }


def fdatasync_latency(folder: Path, samples: int = 400, block: int = 4096) -> dict[str, dict[str, float]]:
    """Milliseconds of write + fdatasync of one block: appended to a growing file, and over preallocated zeroes."""
    out = {}
    data = os.urandom(block)
    for name in ("append", "preallocated overwrite"):
        path = folder / "fdatasync.probe"
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        try:
            if name != "append":
                os.write(fd, bytes(block * samples))
                os.fsync(fd)
                os.lseek(fd, 0, os.SEEK_SET)
            times = []
            for _ in range(samples):
                t = time.perf_counter()
                os.write(fd, data)
                os.fdatasync(fd)
                times.append(time.perf_counter() - t)
            out[name] = _spread(times)
        finally:
            os.close(fd)
            path.unlink()
    return out


def written(folder: Path) -> int | None:
    """Bytes that the device under a folder was given since the machine started, whoever wrote them, after a sync of everything.

    None where the folder lies on no block device (overlay, tmpfs). A process's own write_bytes are no measure: they count a
    whole folio of the page cache (up to 2 MiB) for each first write into it.
    """
    dev = os.stat(folder).st_dev
    path = Path(f"/sys/dev/block/{os.major(dev)}:{os.minor(dev)}/stat")
    if not path.exists():
        return None
    os.sync()
    return int(path.read_text().split()[6]) * 512


def written_since(before: int | None, folder: Path, unit: float) -> float | None:
    """What came since `written` gave `before`, in units of so many bytes."""
    return None if before is None else ((written(folder) or 0) - before) / unit
