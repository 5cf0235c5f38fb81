"""Rotations and purges of binary log files beside a load, and what the load feels of them."""

from __future__ import annotations

import re
import threading
import time

from .servers import Server


def histogram(text: str) -> dict[float, int]:
    """Counts by milliseconds of sysbench's --histogram."""
    return {float(ms): int(n) for ms, n in re.findall(r"^\s+([\d.]+) \|\**\s+(\d+)$", text, re.MULTILINE)}


def quantile(counts: dict[float, int], share: float) -> float:
    left = sum(counts.values()) * share
    for value in sorted(counts):
        left -= counts[value]
        if left <= 0:
            return value
    return 0.0


class Latencies:
    """sysbench's histograms of several runs, added up."""

    def __init__(self) -> None:
        self.counts: dict[float, int] = {}
        self.worst = self.seconds = 0.0
        self.stretches: list[float] = []

    def add(self, text: str, seconds: float) -> None:
        own = histogram(text)
        for value, count in own.items():
            self.counts[value] = self.counts.get(value, 0) + count
        self.seconds += seconds
        self.worst = max(self.worst, float(re.search(r"max:\s+([\d.]+)", text).group(1)))
        self.stretches.append(quantile(own, 0.99))

    def result(self) -> dict:
        n = sum(self.counts.values())
        return {"commits": n, "per_second": round(n / max(self.seconds, 1)), "p50_ms": quantile(self.counts, 0.5),
                "p99_ms": quantile(self.counts, 0.99), "p999_ms": quantile(self.counts, 0.999),
                "max_ms": self.worst, "p99_of_stretches_ms": self.stretches}  # fmt: skip


class Purges:
    """Rotates and purges the oldest file `n` times during a stretch of `seconds`; appends to `done` what each was. Every second one is
    left to the server's background where it has max_binlog_total_size."""

    def __init__(self, server: Server, n: int, seconds: float, done: list[dict]):
        self.server, self.n, self.done = server, n, done
        self.by_size = bool(server.sql("SHOW GLOBAL VARIABLES LIKE 'max_binlog_total_size'"))
        self.gap = seconds / (n + 1)
        self.error: Exception | None = None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        try:
            for _ in range(self.n):
                time.sleep(self.gap)
                self.done.append(self.once())
        except Exception as e:  # shown by whoever waits
            self.error = e

    def once(self) -> dict:
        sql = self.server.sql
        sql("FLUSH BINARY LOGS")
        files = sql("SHOW BINARY LOGS")
        size = int(files[0][1])
        began = time.monotonic()
        if len(self.done) % 2 == 0 or not self.by_size:
            sql(f"PURGE BINARY LOGS TO '{files[1][0]}'")
            how = "PURGE TO"
        else:
            total = sum(int(f[1]) for f in files)
            sql(f"SET GLOBAL max_binlog_total_size = {total - 1}")
            while sql("SHOW BINARY LOGS")[0][0] == files[0][0]:
                time.sleep(0.05)
                if time.monotonic() - began > 30:
                    raise RuntimeError("the background has not purged in 30 s")
            sql("SET GLOBAL max_binlog_total_size = 0")
            how = "background"
        took = time.monotonic() - began
        return {"how": how, "file": files[0][0], "mib": round(size / 2**20), "seconds": round(took, 3)}

    def wait(self) -> None:
        self.thread.join()
        if self.error:
            raise self.error


def fill(server: Server, files: int, size: int) -> float:
    """Writes binary log files of `size` bytes each by rows of 4 MiB, which are deleted again; seconds that took. For servers of which
    only SQL is known."""
    began = time.monotonic()
    piece = min(size, 4 << 20)
    server.sql("CREATE DATABASE IF NOT EXISTS filler; CREATE TABLE filler.t (id INT PRIMARY KEY, data LONGBLOB)")
    for n in range(files):
        rows = "; ".join(f"REPLACE INTO filler.t VALUES ({i % 4}, REPEAT(CHAR(65 + {i % 26}), {piece - 512}))" for i in range(size // piece))
        server.sql(f"{rows}; FLUSH BINARY LOGS")
    server.sql("DROP DATABASE filler")
    return time.monotonic() - began
