"""(c) Data of 12, 2 and 0.75 times the memory that a server may use for it."""

from __future__ import annotations

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
        "oltp_read_write, after a warm-up that ends when the rate is steady. Peak RSS is the process at its most during the cell, beside its budget. "
        "MariaDB reads past the kernel's page cache (O_DIRECT), Narwal through it: what the kernel keeps of the files is in the table."
    )

    def _data_mib(self, o: Options) -> int:
        return o.setting("memory_data_mib", o.pick(96, 1536, 24 * 1024))

    def _rows(self, o: Options) -> int:
        return self._data_mib(o) * 2**20 // ROW_BYTES // o.tables

    def cells(self, o: Options) -> list[Cell]:
        threads = o.only_threads(o.pick([8], [1, 8, 64, 512], [2**n for n in range(10)]))
        return [
            Cell(data_by_budget=tier, test=test, threads=n)
            for tier in TIERS for test in ("oltp_read_only", "oltp_read_write") for n in threads
        ]  # fmt: skip

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
        return bed.load(server, cell["test"], cell["threads"], seconds, **{"table-size": self._rows(bed.o)}, **more)

    def warm_up(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        """Stretches of load until three in a row have about the same rate, up to ten times the warm-up."""
        forget_peak(server.process.pid)
        stretch = max(1.0, bed.o.warmup / 3)
        rates: list[float] = []
        for n in range(bed.o.pick(3, 30, 120)):
            rates.append(self._load(bed, server, cell, stretch, seed=50 + n, measured=False)["tps"])
            if steady(rates):
                break
        # Of this server for the rounds that follow.
        self._warm = {**getattr(self, "_warm", {}), subject.name: {"steady": "yes" if steady(rates) else "no", "warm_up_s": len(rates) * stretch}}

    def measure(self, bed: Bed, server: Any, subject: Any, cell: Cell, round_: int) -> dict[str, Any]:
        out = self._load(bed, server, cell, bed.o.seconds, seed=1000 + round_)
        budget = self.server_settings(subject, cell, bed.o)["buffer_pool_mib"]
        warm = self._warm.get(subject.name, {})
        return out | {"budget_mib": budget, "cached_mib": cached_mib(server.datadir), "warm_up_s": warm.get("warm_up_s"),
                      "was_steady": float(warm.get("steady") == "yes")}  # fmt: skip

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        return subjects * (o.rounds * (o.seconds + 1) + o.pick(3, 10, 60))

    def tables(self, df: pd.DataFrame) -> list[Table]:
        by = ["data_by_budget", "test", "threads"]
        df = df.assign(**{"steady, share of rounds": df.was_steady, "kept by the kernel, MiB": df.cached_mib, "budget MiB": df.budget_mib})
        return [
            pivot(df, "tps", by, "Transactions a second, by size of the data as a multiple of the budget"),
            per_run(df, by, ["budget MiB", "peak_mib", "rss_mib", "kept by the kernel, MiB"], "Memory beside its budget",
                    note="Peak RSS is the whole process since the cell began: buffers, connections, code. MiB of the data folder in the kernel's page cache: fincore."),
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
