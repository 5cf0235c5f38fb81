"""(b) One client, one kind of statement."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..bed import Bed
from ..experiment import Cell, Experiment, Plot, Table
from ..options import Options
from ..plots import base_of, paired_ratio, per_run, pivot, relative_bars, subject_under_test

OPERATIONS = [
    "delete", "insert", "update-index", "update-nonindex", "update-inlist", "update-one", "update-zipf", "write-only",
    "read-write range 10", "read-write range 100",
]  # fmt: skip


class Micro(Experiment):
    name, letter, title = "micro", "b", "Single-client microbenchmarks"
    question = (
        "One connection, one kind of statement at a time, durable (D1): where a server's path from socket to disk is long. The table "
        "gives each server's rate and its ratio to the base. delete takes each row once, update-inlist changes 20 rows in a "
        "statement, update-one always the same row, update-zipf a few popular rows most of the time."
    )

    def cells(self, o: Options) -> list[Cell]:
        return [Cell(operation=op) for op in OPERATIONS]

    def prepare(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        bed.prepare(server)

    def warm_up(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        if cell["operation"] != "delete" and bed.o.mode != "quick":
            run(bed, server, cell["operation"], bed.o.warmup, 7, measured=False)

    def measure(self, bed: Bed, server: Any, subject: Any, cell: Cell, round_: int) -> dict[str, Any]:
        if cell["operation"] == "delete":
            bed.prepare(server)
        return run(bed, server, cell["operation"], self.seconds(bed.o), 1000 + round_)

    def seconds(self, o: Options) -> float:
        """Of one run."""
        return o.pick(1, o.seconds, o.seconds)

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        return subjects * (self.rounds(cell, o) * (self.seconds(o) + 0.5) + (0 if o.mode == "quick" else o.warmup))

    def tables(self, df: pd.DataFrame) -> list[Table]:
        return [
            pivot(df, "tps", ["operation"], "Operations a second of one client"),
            per_run(df, ["operation"], ["p50_ms", "p99_ms", "syncs_per_commit", "cpu_us_per_transaction"], "Latency and cost of one"),
        ]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        return [relative_bars(df, "operation", "tps", "Relative throughput of one client", "")]

    def summary(self, df: pd.DataFrame) -> list[str]:
        subject, base = subject_under_test(df), base_of(df)
        if not subject or not base:
            return []
        r = paired_ratio(df, "tps", ["operation"], subject, base).sort_values("ratio")
        if not len(r):
            return []
        low, high = r.iloc[0], r.iloc[-1]
        return [
            f"{subject} beside {base}, one client: {low.ratio:.2f}x ({low.operation}) to {high.ratio:.2f}x ({high.operation}) over "
            f"{len(r)} kinds of statements."
        ]


def run(bed: Bed, server: Any, operation: str, seconds: float, seed: int, threads: int = 1, **more: Any) -> dict[str, Any]:
    """One of the operations on sysbench's tables; says so when the tables are not the prepared ones any more."""
    if operation == "write-only":
        return bed.load(server, "oltp_write_only", threads, seconds, seed, **more)
    if operation.startswith("read-write range "):
        size = operation.rsplit(" ", 1)[1]
        return bed.load(server, "oltp_read_write", threads, seconds, seed, label=f"-range{size}", **{"range-size": size}, **more)
    if operation in ("insert", "delete"):
        bed.has_changed(server)
    if operation == "delete":  # threads take unequal shares of the rows: none may run out of its own
        more["events"] = bed.o.tables * bed.o.rows * 7 // 10
    return bed.load(server, "micro", threads, seconds, seed, label=f"-{operation}", op=operation, **more)
