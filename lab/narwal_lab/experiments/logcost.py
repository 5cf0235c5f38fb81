"""(j) What the binary log costs, and what those cost who read it."""

from __future__ import annotations

from typing import Any

import pandas as pd
from testbed import readers

from ..bed import Bed
from ..experiment import FAILURES, Cell, Experiment, Plot, Table, describe, interleaved
from ..options import Options
from ..plots import bars, medians, number, paired_ratio, per_run, pivot, subjects_in
from ..subjects import Subject

NOBODY = "nobody"
OFF = "log off"


class LogCost(Experiment):
    name, letter, title = "log-cost", "j", "Cost of the log and its readers"
    question = (
        "oltp_write_only with the binary log and nobody who reads it, with 1 and 8 readers that throw away what they get, and without a binary "
        "log where the server can do without: Narwal's is its only log. Readers run on this machine's cores."
    )

    def cells(self, o: Options) -> list[Cell]:
        tests = o.setting("log_cost_tests", o.pick(["oltp_write_only"], ["oltp_write_only"], ["oltp_write_only", "oltp_update_non_index"]))
        return [Cell(test=t, threads=n) for t in tests for n in o.only_threads(o.pick([16], [8, 64], [1, 8, 64]))]

    def applies(self, subject: Subject, cell: Cell) -> bool:
        """The readers here do not speak to MySQL."""
        return subject.kind != "mysql"

    def _ways(self, subject: Subject) -> list[str]:
        return [NOBODY, "1 reader", "8 readers", *([OFF] if subject.is_baseline else [])]

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        return subjects * 4 * (o.rounds * (o.seconds + 1) + o.warmup / 2)

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        present = [s for s in bed.subjects if self.applies(s, cell)]
        for subject in list(present):
            try:
                for way in {NOBODY, OFF} & set(self._ways(subject)):
                    server = self._server(bed, subject, way)
                    bed.prepare(server)
                    bed.load(server, cell["test"], cell["threads"], bed.o.warmup, 7, measured=False)
            except FAILURES as e:
                rows.append({"subject": subject.name, "round": 0, "error": describe(e)})
                present.remove(subject)
        for round_, subject in interleaved(present, bed.o.rounds):
            ways = self._ways(subject)
            for way in ways if round_ % 2 == 0 else ways[::-1]:
                bed.note(f"{subject.name}: {cell.label} {way}, round {round_ + 1}")
                row: dict[str, Any] = {"subject": subject.name, "round": round_, "log": way}
                try:
                    server = self._server(bed, subject, way)
                    readers_ = int(way.split()[0]) if "reader" in way else 0
                    with readers.discarding(server, readers_) if readers_ else readers.nobody():
                        rows.append(row | bed.load(server, cell["test"], cell["threads"], seed=1000 + round_, label=f"-{way.replace(' ', '-')}"))
                except FAILURES as e:
                    rows.append(row | {"error": describe(e)})
        bed.pause_all()
        return rows

    def _server(self, bed: Bed, subject: Subject, way: str) -> Any:
        """Without its log a server has a folder of its own, so that both are there at once."""
        return bed.server(subject, data="nolog", args=("--skip-log-bin",)) if way == OFF else bed.server(subject)

    def tables(self, df: pd.DataFrame) -> list[Table]:
        rows = []
        for (test, threads), cell in df.groupby(["test", "threads"], sort=False):
            for name in subjects_in(cell):
                own = cell[cell.subject == name]
                mid = medians(own, ["log"], ["tps"]).set_index("log").tps
                row = {"test": test, "threads": threads, "server": name, "TPS, nobody reads": mid.get(NOBODY)}
                for way in ("1 reader", "8 readers", OFF):
                    row[way] = share(own, way)
                rows.append(row | {"disk fdatasync ms": own.disk_ms.median()})
        return [
            Table("Rate as a share of that with the log on and nobody who reads it", pd.DataFrame(rows), "Of the same round: median (least-most)."),
            pivot(df, "tps", ["test", "threads", "log"], "Transactions a second"),
            per_run(df, ["test", "threads", "log"], ["p99_ms", "syncs_per_commit", "cpu_us_per_transaction"], "What a commit takes"),
        ]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        return [
            bars(own, "log", "tps", f"{test}, {threads} threads", "", "transactions/s")
            for (test, threads), own in df.groupby(["test", "threads"], sort=False)
        ]  # fmt: skip

    def summary(self, df: pd.DataFrame) -> list[str]:
        most = df[df.threads == df.threads.max()]
        out = []
        for name in subjects_in(most):
            own = most[most.subject == name]
            shares = {way: share(own, way) for way in ("1 reader", "8 readers", OFF)}
            parts = [f"{text} {'without a log' if way == OFF else 'with ' + way}" for way, text in shares.items() if text != "-"]
            if parts:
                out.append(f"{name}, {own.threads.iloc[0]} threads, of its rate with the log on and unread: " + ", ".join(parts) + ".")
        return out


def share(df: pd.DataFrame, way: str) -> str:
    """The rate of one server in one way as a share of that with nobody, of the same round: median (least-most)."""
    pairs = df[df["log"].isin([way, NOBODY])].assign(subject=lambda d: d["log"])
    if way not in set(pairs.subject):
        return "-"
    r = paired_ratio(pairs, "tps", [], way, NOBODY).iloc[0]
    return number(r.ratio) + (f" ({number(r.low)}-{number(r.high)})" if df["round"].nunique() > 1 else "")
