"""Data of several times innodb_buffer_pool_size: the process's memory stays below it while rows are loaded, copied, indexed and
changed at random places, and checkpoints merge what was changed."""

from __future__ import annotations

import random
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from conftest import STAND_IN  # noqa: E402
from testbed.servers import Narwal  # noqa: E402
from testbed.wire import Connection, SqlError  # noqa: E402

pytestmark = pytest.mark.skipif(STAND_IN, reason="what only Narwal has")

BUDGET = 64
ROWS = 50_000
COPIES = 3
WRITERS = 8


class Peak(threading.Thread):
    """The most anonymous memory of a process: the code's pages, which are much larger in a debug build, do not count."""

    def __init__(self, pid: int):
        super().__init__(daemon=True)
        self.status, self.bytes, self.done = Path(f"/proc/{pid}/status"), 0, threading.Event()

    def run(self) -> None:
        while not self.done.wait(0.02):
            lines = self.status.read_text().splitlines()
            now = next(int(line.split()[1]) << 10 for line in lines if line.startswith("RssAnon"))
            self.bytes = max(self.bytes, now)

    def mib(self) -> float:
        return self.bytes / 2**20


def test_memory_stays_below_the_budget(tmp_path):
    # What statements keep for themselves comes on top, as in MariaDB.
    s = Narwal(tmp_path / "narwal", [f"--innodb-buffer-pool-size={BUDGET}M", "--tmp-table-size=2M"])
    s.start()
    peak = Peak(s.process.pid)
    peak.start()
    try:
        c = Connection(s.port)
        c.query("CREATE DATABASE m")
        c.query("USE m")
        c.query("CREATE TABLE m (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(200) NOT NULL)")
        for at in range(0, ROWS, 2000):
            c.query("INSERT INTO m VALUES " + ", ".join(f"({i}, {i * 7919 % ROWS}, '{i:0>150}')" for i in range(at, at + 2000)))
        loaded = peak.mib()
        rows = ROWS
        for _ in range(COPIES):
            c.query(f"INSERT INTO m SELECT id + {rows}, k + {rows}, c FROM m")
            rows *= 2
        copied = peak.mib()
        c.query("CREATE INDEX k ON m (k)")
        c.query("CREATE UNIQUE INDEX u ON m (c, id)")
        indexed = peak.mib()

        faults: list[str] = []

        def write(seed: int) -> None:
            rng, own = random.Random(seed), Connection(s.port, database="m")
            while time.monotonic() < end:
                a, b = rng.randrange(rows), rng.randrange(rows)
                try:
                    own.query(f"UPDATE m SET k = k + 1 WHERE id = {a}")
                    own.query(f"UPDATE m SET c = '{rng.randrange(10**9):0>150}' WHERE id = {b}")
                except SqlError as e:
                    if e.code not in (1020, 1205, 1213):
                        faults.append(str(e))
                        return

        end = time.monotonic() + 5
        writers = [threading.Thread(target=write, args=(i,)) for i in range(WRITERS)]
        for w in writers:
            w.start()
        for w in writers:
            w.join()
        assert faults == []
        assert s.alive()
        counts = {c.query(f"SELECT COUNT(*) FROM m FORCE INDEX ({i})").rows[0][0] for i in ("PRIMARY", "k", "u")}
        assert counts == {rows}
        cuts = int(c.query("SHOW STATUS LIKE 'Narwal_checkpoint_cuts'").rows[0][1])
        assert cuts > 0, "the base fits memory: the test misses what it is for"
        assert peak.mib() < BUDGET, f"MiB: {loaded:.0f} loaded, {copied:.0f} copied, {indexed:.0f} indexed, {peak.mib():.0f} in all"
    finally:
        peak.done.set()
        s.kill()
