"""The disk's own sync latency, measured the two ways a log uses it."""

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
