"""The lag of a replica while its primary is written to at full rate, and the drain after it.

Lag is measured from outside: a row of the primary says every 100 ms what time it is, and the replica's copy of it says how old its
state is. Beside it Seconds_Behind_Master, the transactions that the replica has not applied, and what else it says of its lag.
"""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from .following import binlog_end, content, cpu_seconds, per_second, prepare, sequence, sysbench, wait_for
from .replica import Replica
from .wire import Connection


@dataclass
class Plan:
    """A load of oltp_write_only, and how long to look at the replica. Times in seconds."""

    threads: int = 16
    tables: int = 4
    rows: int = 100_000
    seconds: int = 180
    every: int = 10
    # What the replica gets to catch up at the end.
    drain: float = 400
    # How long the primary is measured with its replica stopped, at the end; 0: not at all.
    alone: int = 0


class Clock:
    """A row of the primary that says what time it is."""

    def __init__(self, primary: Replica):
        self.c = Connection(primary.port)
        self.c.query("CREATE DATABASE clock")
        self.c.query("CREATE TABLE clock.t (id INT PRIMARY KEY, us BIGINT NOT NULL)")
        self.c.query(f"INSERT INTO clock.t VALUES (1, {self.now()})")
        self.end = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Clock:
        self.thread.start()
        return self

    def __exit__(self, *_) -> None:
        self.end.set()
        self.thread.join()
        self.c.close()

    def _run(self) -> None:
        while not self.end.wait(0.1):
            self.c.query(f"UPDATE clock.t SET us = {self.now()} WHERE id = 1")

    @staticmethod
    def now() -> int:
        return time.time_ns() // 1000


def sample(primary: Replica, replica: Replica, began: float) -> dict:
    """How far the replica is behind now: seconds and transactions, and what it says itself."""
    done = sequence(replica.position())
    written = replica.query("SELECT us FROM clock.t")[0][0]
    age = (Clock.now() - written) / 1e6
    (status,) = replica.all_status()
    behind = status["Seconds_Behind_Master"]
    return {
        "at": round(time.monotonic() - began, 1),
        "lag": round(age, 2),
        "seconds_behind_master": None if behind is None else int(behind),
        "transactions_behind": binlog_end(primary) - done,
        "own": {k.lower().removeprefix("narwal_lag_"): v for k, v in status.items() if k.startswith("Narwal_lag_")},
    }


def measure(primary: Replica, replica: Replica, plan: Plan, show: Callable[[dict], None] = lambda _: None) -> dict:
    """Makes the tables, attaches the replica, loads, samples and drains; both servers run and hold nothing yet. `show` gets each sample.
    Of a replica that has not caught up in time `drain` and `equal` are None."""
    out: dict = {"samples": []}
    load = None
    prepare(primary, plan.tables, plan.rows)
    try:
        with Clock(primary):
            replica.follow(primary.port)
            wait_for(replica, binlog_end(primary), 600)
            time.sleep(1)
            cpu = cpu_seconds(primary), cpu_seconds(replica)
            args = ["sysbench", "oltp_write_only", "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={primary.port}",
                    "--mysql-user=root", "--mysql-db=sbtest", f"--threads={plan.threads}", f"--tables={plan.tables}",
                    f"--table-size={plan.rows}", f"--time={plan.seconds}", "--events=0", "--mysql-ignore-errors=1213,1205,1020",
                    f"--report-interval={plan.every}", "run"]  # fmt: skip
            began = time.monotonic()
            load = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for n in range(1, plan.seconds // plan.every + 1):
                time.sleep(max(0, began + n * plan.every - 0.2 - time.monotonic()))
                out["samples"].append(one := sample(primary, replica, began))
                show(one)
            out["sysbench"] = load.communicate(timeout=60)[0]
            if load.returncode:
                raise RuntimeError(f"sysbench: {out['sysbench'][-600:]}")
            out["cpu"] = [round(cpu_seconds(s) - before, 1) for s, before in zip((primary, replica), cpu, strict=True)]
        out["tps"] = per_second(out["sysbench"])
        out["tps_by_interval"] = [float(x) for x in re.findall(r"tps: ([\d.]+)", out["sysbench"])]
        behind = binlog_end(primary) - sequence(replica.position())
        try:
            out["drain"] = round(wait_for(replica, binlog_end(primary), plan.drain), 2)
            out["drain_per_second"] = round(behind / out["drain"]) if out["drain"] > 1 else None
            out["equal"] = content(primary, plan.tables) == content(replica, plan.tables)
        except TimeoutError:
            out["drain"], out["equal"] = None, None
        if plan.alone:
            replica.pause()
            alone = sysbench(primary, "run", plan.threads, plan.tables, plan.rows, f"--time={plan.alone}", "--events=0")
            out["tps_alone"] = per_second(alone)
            replica.resume()
    finally:
        if load and load.poll() is None:
            load.kill()
    return out


def grows(samples: list[dict]) -> float:
    """Seconds of lag gained in a second, from the first to the last sample."""
    first, last = samples[0], samples[-1]
    return (last["lag"] - first["lag"]) / (last["at"] - first["at"]) if len(samples) > 1 else 0.0
