"""(g) Holding a group commit back for company: throughput against latency."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from ..bed import Bed
from ..experiment import FAILURES, Cell, Experiment, Plot, Table, describe, interleaved
from ..options import LabError, Options
from ..plots import colour, finish, medians, paired_ratio, per_run, pivot, subjects_in

TEST = "oltp_update_non_index"
OFF = "off"
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
        return [Cell(threads=n, delay_us=d) for n in threads for d in delays]

    def _settings(self, o: Options) -> list[tuple[int, int]]:
        """Transactions and microseconds; without a delay first."""
        return [(0, 0), *o.pick([(8, 500)], [(8, 200), (8, 1000), (64, 1000), (64, 5000)],
                                [(4, 100), (8, 200), (8, 1000), (32, 1000), (64, 1000), (64, 5000), (64, 20000)])]  # fmt: skip

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        return subjects * (o.rounds * len(self._settings(o)) * (o.seconds + 0.5) + o.warmup)

    def _names(self, kind: str, o: Options) -> tuple[str, str]:
        style = o.setting("ferry_names", "mariadb")
        if style not in NAMES:
            raise LabError(f"--set ferry_names={style}: mariadb or mysql (Narwal knows both)")
        return NAMES[kind if kind in NAMES else style]

    def warm_up(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        bed.load(server, TEST, cell["threads"], bed.o.warmup, 7, cell["delay_us"], measured=False)

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        """All settings of a server within each round, so that they can be compared with each other too."""
        rows: list[dict[str, Any]] = []
        present = []
        for subject in bed.subjects:
            try:
                with bed.turn(subject) as server:
                    self.prepare(bed, server, subject, cell)
                    self.warm_up(bed, server, subject, cell)
                present.append(subject)
            except FAILURES as e:
                rows.append({"subject": subject.name, "round": 0, "error": describe(e)})
        for round_, subject in interleaved(present, bed.o.rounds):
            settings = self._settings(bed.o)
            for count, usec in settings if round_ % 2 == 0 else settings[::-1]:
                bed.note(f"{subject.name}: {cell.label}, {shown(count, usec)}, round {round_ + 1}")
                row: dict[str, Any] = {"subject": subject.name, "round": round_, "wait": shown(count, usec)}
                try:
                    with bed.turn(subject) as server:
                        rows.append(row | self._held(bed, server, subject, cell, count, usec, 1000 + round_))
                except FAILURES as e:
                    rows.append(row | {"error": describe(e)})
        return rows

    def _held(self, bed: Bed, server: Any, subject: Any, cell: Cell, count: int, usec: int, seed: int) -> dict[str, Any]:
        names = self._names(subject.kind, bed.o)
        server.sql(f"SET GLOBAL {names[0]} = {count}; SET GLOBAL {names[1]} = {usec}")
        try:
            return bed.load(server, TEST, cell["threads"], seed=seed, delay_us=cell["delay_us"], label=f"-{count}-{usec}")
        finally:
            server.sql(f"SET GLOBAL {names[0]} = 0; SET GLOBAL {names[1]} = 0")

    def tables(self, df: pd.DataFrame) -> list[Table]:
        by = ["threads", "delay_us", "wait"]
        return [pivot(df, "tps", by, "Transactions a second"), per_run(df, by, ["p50_ms", "p99_ms", "syncs_per_commit"], "What a commit waits, and its syncs")]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        panels = list(dict.fromkeys(zip(df.threads, df.delay_us, strict=True)))
        figure = Figure(figsize=(4.2 * len(panels) + 0.8, 3.6), layout="constrained")
        mid = medians(df, ["threads", "delay_us", "wait"], ["tps", "p50_ms"])
        for ax, (threads, delay) in zip(figure.subplots(1, len(panels), squeeze=False)[0], panels, strict=True):
            own = mid[(mid.threads == threads) & (mid.delay_us == delay)]
            for name in subjects_in(own):
                one = own[own.subject == name]
                ax.plot(one.p50_ms, one.tps, marker="o", linestyle="none", color=colour(name), label=name)
                for r in one.itertuples():
                    ax.annotate(r.wait, (r.p50_ms, r.tps), textcoords="offset points", xytext=(4, 3), fontsize=7)
            finish(ax, f"{threads} threads" + (f", +{delay / 1000:g} ms a sync" if delay else ""), "p50, ms", "transactions/s", False)
            ax.set_ylim(bottom=0)
            ax.legend(fontsize=8)
        return [Plot("Throughput against latency", figure, "Each point is a setting: transactions / microseconds that the leader waits.")]

    def summary(self, df: pd.DataFrame) -> list[str]:
        out = []
        for name in subjects_in(df):
            gains = []
            for _, own in df[df.subject == name].groupby(["threads", "delay_us"], sort=False):
                # Of the same server and round: what paired_ratio compares are the settings.
                waits = own.assign(subject=own.wait)
                held = [paired_ratio(waits, "tps", [], w, OFF).ratio.iloc[0] for w in dict.fromkeys(own.wait) if w != OFF]
                gains += [max(held)] if held else []
            if gains:
                least, most = min(gains), max(gains)
                range_ = f"{least:.2f}" + (f" to {most:.2f}" if len(gains) > 1 else "")
                out.append(f"{name}: the best delay setting gives {range_} times the rate without a delay.")
        return out


def shown(count: int, usec: int) -> str:
    """A setting as tables name it: transactions / microseconds."""
    return f"{count}/{usec}" if usec else OFF
