"""Rotations and purges of binary log files beside a load, and what the load feels of them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from .latency import Latencies
from .servers import Server


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


def stretches(server: Server, load: Callable[[float], str], rounds: int, purges: int, seconds: float,
              show: Callable[[str], None] = lambda _: None) -> dict:  # fmt: skip
    """Rounds of a quiet stretch and of one with a share of the purges: {"quiet": figures, "busy": figures, "purges": each, "ratio": of
    the two p99}. `load` runs sysbench with a histogram for so many seconds and gives its report."""
    quiet, busy, done = Latencies(), Latencies(), []
    for n in range(rounds):
        quiet.add(load(seconds), seconds)
        share = purges * (n + 1) // rounds - purges * n // rounds
        beside = Purges(server, share, seconds, done)
        try:
            busy.add(load(seconds), seconds)
        finally:
            beside.wait()
        show(f"round {n + 1}: p99 {quiet.stretches[-1]:.2f} ms quiet, {busy.stretches[-1]:.2f} ms with {share} purges")
    out = {"quiet": quiet.result(), "busy": busy.result(), "purges": done}
    return out | {"ratio": round(out["busy"]["p99_ms"] / out["quiet"]["p99_ms"], 3)}


def fill(server: Server, files: int, size: int) -> float:
    """Writes binary log files of `size` bytes each by rows of 4 MiB, which are deleted again; seconds that took. For servers of which
    only SQL is known; their max_binlog_size must not be below `size`."""
    began = time.monotonic()
    piece = min(size, 4 << 20)
    server.sql("CREATE DATABASE IF NOT EXISTS filler; CREATE TABLE filler.t (id INT PRIMARY KEY, data LONGBLOB)")
    for _ in range(files):
        rows = "; ".join(f"REPLACE INTO filler.t VALUES ({i % 4}, REPEAT(CHAR(65 + {i % 26}), {piece - 512}))" for i in range(size // piece))
        server.sql(f"{rows}; FLUSH BINARY LOGS")
    server.sql("DROP DATABASE filler")
    return time.monotonic() - began
