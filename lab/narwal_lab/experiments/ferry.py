"""(g) Holding a group commit back for company: throughput against latency."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ..bed import Bed
from ..experiment import Cell, Experiment, Plot, Table
from ..options import LabError, Options
from ..plots import colour, finish, medians, per_run, pivot, subjects_in

NAMES = {
    "mariadb": ("binlog_commit_wait_count", "binlog_commit_wait_usec"),
    "mysql": ("binlog_group_commit_sync_no_delay_count", "binlog_group_commit_sync_delay"),
}
"""Wait until so many transactions have come, or so many microseconds have passed."""


class Ferry(Experiment):
    name, letter, title = "ferry", "g", "Group commit held back (the ferry)"
    question = (
        "oltp_update_non_index with binlog_commit_wait_count and _usec (MySQL: binlog_group_commit_sync_no_delay_count and _sync_delay): the "
        "group's leader waits for so many transactions or so long. Fewer syncs, longer commits: does it pay where a sync is slow, and does it where groups "
        "gather by themselves while the one before them syncs?"
    )

    def cells(self, o: Options) -> list[Cell]:
        threads = o.only_threads(o.pick([16], [8, 64], [1, 8, 64]))
        delays = o.only_delays(o.pick([0], [0, 2000], [0, 500, 2000, 4000]))
        settings = o.pick([(0, 0), (8, 500)], [(0, 0), (8, 200), (8, 1000), (64, 1000), (64, 5000)],
                          [(0, 0), (4, 100), (8, 200), (8, 1000), (32, 1000), (64, 1000), (64, 5000), (64, 20000)])  # fmt: skip
        return [Cell(threads=n, delay_us=d, wait_count=c, wait_usec=us) for n in threads for d in delays for c, us in settings]

    def _names(self, kind: str, o: Options) -> tuple[str, str]:
        style = o.setting("ferry_names", "mariadb")
        if style not in NAMES:
            raise LabError(f"--set ferry_names={style}: mariadb or mysql (Narwal knows both)")
        return NAMES[kind if kind in NAMES else style]

    def warm_up(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        if not cell["wait_usec"]:
            bed.load(server, "oltp_update_non_index", cell["threads"], bed.o.warmup, 7, cell["delay_us"], measured=False)

    def measure(self, bed: Bed, server: Any, subject: Any, cell: Cell, round_: int) -> dict[str, Any]:
        count, usec = self._names(subject.kind, bed.o)
        server.sql(f"SET GLOBAL {count} = {cell['wait_count']}; SET GLOBAL {usec} = {cell['wait_usec']}")
        try:
            return bed.load(server, "oltp_update_non_index", cell["threads"], seed=1000 + round_, delay_us=cell["delay_us"])
        finally:
            server.sql(f"SET GLOBAL {count} = 0; SET GLOBAL {usec} = 0")

    def tables(self, df: pd.DataFrame) -> list[Table]:
        by = ["threads", "delay_us", "wait_count", "wait_usec"]
        return [pivot(df, "tps", by, "Transactions a second"), per_run(df, by, ["p50_ms", "p99_ms", "syncs_per_commit"], "What a commit waits, and its syncs")]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        panels = list(dict.fromkeys(zip(df.threads, df.delay_us, strict=True)))
        figure = Figure(figsize=(4.2 * len(panels) + 0.8, 3.6), layout="constrained")
        mid = medians(df, ["threads", "delay_us", "wait_count", "wait_usec"], ["tps", "p50_ms"])
        for ax, (threads, delay) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            own = mid[(mid.threads == threads) & (mid.delay_us == delay)]
            for name in subjects_in(own):
                one = own[own.subject == name]
                ax.plot(one.p50_ms, one.tps, marker="o", linestyle="none", color=colour(name), label=name)
                for r in one.itertuples():
                    text = f"{r.wait_count}/{r.wait_usec}" if r.wait_usec else "off"
                    ax.annotate(text, (r.p50_ms, r.tps), textcoords="offset points", xytext=(4, 3), fontsize=7)
            finish(ax, f"{threads} threads" + (f", +{delay / 1000:g} ms a sync" if delay else ""), "p50, ms", "transactions/s", False)
            ax.set_ylim(bottom=0)
            ax.legend(fontsize=8)
        return [Plot("Throughput against latency", figure, "Each point is a setting: transactions / microseconds that the leader waits.")]

    def summary(self, df: pd.DataFrame) -> list[str]:
        mid = medians(df, ["threads", "delay_us", "wait_count", "wait_usec"], ["tps"])
        out = []
        for name in subjects_in(mid):
            gains = []
            for _, own in mid[mid.subject == name].groupby(["threads", "delay_us"], sort=False):
                off, held = own[own.wait_usec == 0], own[own.wait_usec > 0]
                if len(off) and len(held):
                    gains.append(held.tps.max() / off.tps.iloc[0])
            if gains:
                least, most = min(gains), max(gains)
                range_ = f"{least:.2f}" + (f" to {most:.2f}" if len(gains) > 1 else "")
                out.append(f"{name}: the best delay setting gives {range_} times the rate without a delay.")
        return out
