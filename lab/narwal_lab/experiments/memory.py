"""(c) Data of 12, 2 and 0.75 times the memory that a server may use for it."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from statistics import median
from typing import Any

import pandas as pd
import psutil

from ..bed import Bed
from ..experiment import Cell, Experiment, Plot, Table
from ..options import Options
from ..plots import bars, lines, per_run, pivot, ratio_sentences

TIERS = (12.0, 2.0, 0.75)
ROW_BYTES = 240
"""Of InnoDB's two indexes per row of sysbench's tables."""
STEADY = 0.1
"""How much the rates of the last three stretches of the warm-up may differ, as a share of their median."""


class Memory(Experiment):
    name, letter, title = "memory", "c", "Memory tiers"
    question = (
        "The same data under budgets (innodb_buffer_pool_size) of a twelfth, a half and four thirds of it, oltp_read_only and "
        "oltp_read_write over uniformly chosen rows, after a warm-up that ends when the rate is steady. Peak RSS is the process at its most "
        "during the cell, beside its budget. "
        "MariaDB reads past the kernel's page cache (O_DIRECT), Narwal through it: so that neither has more memory than the other, a cgroup holds each "
        "process and what the kernel keeps of its files to the budget and a headroom, where this user may make one."
    )

    def __init__(self) -> None:
        self._warm: dict[str, dict[str, float]] = {}
        """Of each server, how the warm-up of the present cell ended."""

    def _data_mib(self, o: Options) -> int:
        return o.setting("memory_data_mib", o.pick(96, 1536, 24 * 1024))

    def _rows(self, o: Options) -> int:
        return self._data_mib(o) * 2**20 // ROW_BYTES // o.tables

    def cells(self, o: Options) -> list[Cell]:
        threads = o.only_threads(o.pick([8], [1, 8, 64, 512], [2**n for n in range(10)]))
        tests = o.pick(["oltp_read_write"], ["oltp_read_only", "oltp_read_write"], ["oltp_read_only", "oltp_read_write"])
        return [Cell(data_by_budget=tier, test=test, threads=n) for tier in TIERS for test in tests for n in threads]

    def applies(self, subject: Any, cell: Cell) -> bool:
        """The classic commit path has Narwal's own store."""
        return subject.kind != "classic"

    def server_settings(self, subject: Any, cell: Cell, o: Options) -> dict[str, Any]:
        return {"data": "memory", "buffer_pool_mib": round(self._data_mib(o) / cell["data_by_budget"])}

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        budget = self.server_settings(None, cell, bed.o)["buffer_pool_mib"]
        there = psutil.virtual_memory().total / 2**20
        if budget > 0.8 * there:
            return [{"subject": s.name, "round": 0, "error": f"a budget of {budget} MiB does not fit into this machine's {there:.0f} MiB"}
                    for s in bed.subjects if self.applies(s, cell)]  # fmt: skip
        try:
            return super().run_cell(bed, cell)
        finally:
            if cell == self.cells(bed.o)[-1]:
                for subject in bed.subjects:
                    bed.forget(subject, "memory")

    def prepare(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        bed.prepare(server, **{"table-size": self._rows(bed.o)})

    def _load(self, bed: Bed, server: Any, cell: Cell, seconds: float, **more: Any) -> dict:
        return bed.load(server, cell["test"], cell["threads"], seconds, **{"table-size": self._rows(bed.o), "rand-type": "uniform"}, **more)

    def warm_up(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        """Stretches of load until three in a row have about the same rate, or there were enough of them."""
        headroom = bed.o.setting("memory_headroom_mib", headroom_mib(cell["threads"]))
        budget = self.server_settings(subject, cell, bed.o)["buffer_pool_mib"]
        limit = bed.limit_memory(server, budget + headroom) if headroom >= 0 else None
        forget_peak(server.process.pid)
        stretch = max(1.0, bed.o.warmup / 3)
        rates: list[float] = []
        for n in range(bed.o.pick(3, 30, 120)):
            rates.append(self._load(bed, server, cell, stretch, seed=50 + n, measured=False)["tps"])
            if steady(rates):
                break
        self._warm[subject.name] = {"was_steady": float(steady(rates)), "warm_up_s": len(rates) * stretch, "limit_mib": limit or math.nan}

    def measure(self, bed: Bed, server: Any, subject: Any, cell: Cell, round_: int) -> dict[str, Any]:
        out = self._load(bed, server, cell, bed.o.seconds, seed=1000 + round_)
        budget = self.server_settings(subject, cell, bed.o)["buffer_pool_mib"]
        return out | {"budget_mib": budget, "cached_mib": cached_mib(server.datadir), **self._warm[subject.name]}

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        first = self._data_mib(o) / 10 if cell == self.cells(o)[0] else 0
        return subjects * (o.rounds * (o.seconds + 1) + o.pick(5, 10, 60) + first)

    def tables(self, df: pd.DataFrame) -> list[Table]:
        by = ["data_by_budget", "test", "threads"]
        names = {"was_steady": "steady, share of rounds", "cached_mib": "files in the page cache, MiB", "budget_mib": "budget MiB",
                 "limit_mib": "cgroup limit MiB"}  # fmt: skip
        df = df.assign(**{new: pd.to_numeric(df[old]) for old, new in names.items()})
        return [
            pivot(df, "tps", by, "Transactions a second, by size of the data as a multiple of the budget"),
            per_run(df, by, ["budget MiB", "peak_mib", "rss_mib", "files in the page cache, MiB", "cgroup limit MiB"], "Memory beside its budget",
                    note="Peak RSS is the whole process since the cell began: buffers, connections, code. The cgroup's limit counts the page cache "
                    "too; '-': no limit was possible."),
            per_run(df, by, ["p50_ms", "p99_ms", "p999_ms", "warm_up_s", "steady, share of rounds"], "Latency, and whether the warm-up ended steady",
                    note=f"Steady: the rates of the last three stretches of the warm-up lie within {STEADY:.0%} of each other."),
        ]  # fmt: skip

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        out = []
        for test in dict.fromkeys(df.test):
            own = df[df.test == test]
            if own.threads.nunique() > 1:
                out.append(lines(own, "threads", "tps", f"{test} by data / budget", "threads", "transactions/s", panels="data_by_budget"))
            else:
                own = own.assign(tier=[f"{t:g}x" for t in own.data_by_budget])
                out.append(bars(own, "tier", "tps", f"{test}, {own.threads.iloc[0]} threads", "data / budget", "transactions/s"))
        return out

    def summary(self, df: pd.DataFrame) -> list[str]:
        most = df[(df.data_by_budget == max(TIERS)) & (df.test == "oltp_read_write")]
        return ratio_sentences(most, "tps", "threads", "data 12x the memory budget (oltp_read_write)", "threads") if len(most) else []


def headroom_mib(threads: int) -> int:
    """What a process may have beyond its budget for code, connections and so on, and the kernel for its files."""
    return 256 + threads


def steady(rates: list[float]) -> bool:
    """Whether the last three rates are about the same."""
    last = rates[-3:]
    return len(last) == 3 and max(last) - min(last) <= STEADY * median(last)


def forget_peak(pid: int) -> None:
    """Begins the process' VmHWM anew."""
    with suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5")


def cached_mib(folder: Path) -> float | None:
    """How much of a folder's files the kernel has in its page cache; None without util-linux's fincore."""
    if not shutil.which("fincore"):
        return None
    files = [os.path.join(base, f) for base, _, names in os.walk(folder) for f in names]
    done = subprocess.run(["fincore", "-b", "-n", "-o", "RES", *files], capture_output=True, text=True)
    return sum(int(n) for n in done.stdout.split()) / 2**20
