"""(a) What durability costs: both logs synced, none synced, none even written before OK."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..bed import Bed
from ..experiment import Cell, Experiment, Plot, Table
from ..options import Options
from ..plots import lines, per_run, pivot, ratio_sentences


class Durability(Experiment):
    name, letter, title = "durability", "a", "Durability and threads"
    classic_in_quick = True
    question = (
        "oltp_write_only under D1 (every commit synced: innodb_flush_log_at_trx_commit=1, sync_binlog=1), D2 (written before OK, "
        "synced about once a second: 2/0) and D3 (neither: 0/0). One log needs one sync per group of commits where two logs need two."
    )

    def cells(self, o: Options) -> list[Cell]:
        threads = o.only_threads(o.pick([1, 64], [1, 8, 32, 64], [1, 8, 32, 64]))
        delays = o.delays_us or o.pick([0], [0, 2000], [0, 500, 2000, 4000])
        return [Cell(durability=d, delay_us=us, threads=n) for d in ("D1", "D2", "D3") for us in delays for n in threads
                if d == "D1" or us == delays[0]]  # fmt: skip

    def warm_up(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        if bed.o.mode != "quick":
            bed.load(server, "oltp_write_only", cell["threads"], bed.o.warmup, 7, cell["delay_us"], measured=False)

    def measure(self, bed: Bed, server: Any, subject: Any, cell: Cell, round_: int) -> dict[str, Any]:
        return bed.load(server, "oltp_write_only", cell["threads"], seed=1000 + round_, delay_us=cell["delay_us"])

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        return super().estimate(cell, o, subjects) - (subjects * o.warmup if o.mode == "quick" else 0)

    def tables(self, df: pd.DataFrame) -> list[Table]:
        by = ["durability", "delay_us", "threads"] if df.delay_us.nunique() > 1 else ["durability", "threads"]
        return [
            pivot(df, "tps", by, "Transactions a second", ratios=True),
            per_run(df, by, ["p50_ms", "p95_ms", "p99_ms", "p999_ms"], "Latency, ms"),
            per_run(df, by, ["syncs_per_commit", "cpu_us_per_transaction", "written_bytes_per_transaction"], "What a commit takes"),
        ]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        least, d1 = df[df.delay_us == df.delay_us.min()], df[df.durability == "D1"]
        out = [
            lines(least, "threads", "tps", "Throughput by durability", "threads", "transactions/s", panels="durability"),
            lines(least, "threads", "p99_ms", "p99 latency by durability", "threads", "p99, ms", panels="durability", log_y=True),
            lines(d1, "threads", "syncs_per_commit", "Syncs per commit, D1", "threads", "syncs per commit", panels="delay_us"),
        ]
        if d1.delay_us.nunique() > 1:
            title = "Throughput by the delay added to each sync (us), D1"
            out.append(lines(d1, "threads", "tps", title, "threads", "transactions/s", panels="delay_us"))
        return out

    def summary(self, df: pd.DataFrame) -> list[str]:
        out = []
        for delay, part in df[df.durability == "D1"].groupby("delay_us"):
            what = f"durable commits (D1, oltp_write_only){f', {delay / 1000:g} ms added to each sync' if delay else ''}"
            out += ratio_sentences(part, "tps", "threads", what, "threads")
        return out
