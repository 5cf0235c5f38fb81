"""(h) A commit that is durable here, or on another machine, or on both."""

from __future__ import annotations

import contextlib
import time
from statistics import median
from typing import Any

import pandas as pd
from testbed.network import Network
from testbed.replica import MariaReplica
from testbed.semisync import Pair
from testbed.wire import Connection, Lost, SqlError

from ..bed import Bed
from ..experiment import FAILURES, Cell, Experiment, Plot, Table, describe, interleaved
from ..options import Options
from ..plots import bars, medians, per_run, pivot, subjects_in
from ..subjects import DURABILITY

MODES = {
    "none": ("D3", "none"),
    "local": ("D1", "none"),
    "after_sync": ("D3", "AFTER_SYNC"),
    "after_commit": ("D3", "AFTER_COMMIT"),
    "both": ("D1", "AFTER_SYNC"),
}
"""Durability of the primary itself, and the point at which it waits for its replica."""
TEST = "oltp_update_non_index"


class NetworkDurability(Experiment):
    name, letter, title = "network", "h", "Local and network durability"
    question = (
        "What makes a commit durable: nothing (D3: 0/0); the own disk (D1: 1/1); a replica's acknowledgement over a network instead (D3 and "
        "semi-sync, waiting before or after the commit becomes visible); both (D1 and AFTER_SYNC). The replica is a MariaDB that "
        "writes what it receives to its relay log and applies nothing: what one on another machine would cost this one."
    )

    def cells(self, o: Options) -> list[Cell]:
        threads = o.only_threads(o.pick([16], [1, 16, 64], [1, 8, 32, 64]))
        round_trips = o.setting("network_rtt_us", o.pick([1000], [0, 1000], [0, 200, 1000, 5000]))
        return [Cell(threads=n, rtt_us=us) for us in round_trips for n in threads]

    def applies(self, subject: Any, cell: Cell) -> bool:
        """A MySQL primary would need a MySQL replica; the classic path's semi-sync is Narwal's."""
        return subject.kind in ("narwal", "mariadb")

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        return min(subjects, 2) * (len(MODES) * o.rounds * (o.seconds + 1.5) + o.warmup + 10)

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        network = Network(cell["rtt_us"])
        with network.entered(), contextlib.ExitStack() as stack:
            pairs: dict[str, tuple[Pair, float]] = {}
            for subject in [s for s in bed.subjects if self.applies(s, cell)]:
                try:
                    pairs[subject.name] = self._pair(bed, subject, network, cell, stack)
                except (*FAILURES, Lost, SqlError) as e:
                    rows.append({"subject": subject.name, "round": 0, "error": describe(e)})
            present = [s for s in bed.subjects if s.name in pairs]
            for round_, subject in interleaved(present, bed.o.rounds):
                pair, link_ms = pairs[subject.name]
                names = list(MODES)
                for mode in names if round_ % 2 == 0 else names[::-1]:
                    bed.note(f"{subject.name}: {cell.label} {mode}, round {round_ + 1}")
                    row = {"subject": subject.name, "round": round_, "mode": mode, "network": network.how, "link_ms": link_ms}
                    try:
                        rows.append(row | self._measure(bed, pair, mode, cell, round_))
                    except (*FAILURES, Lost, SqlError) as e:
                        rows.append(row | {"error": describe(e)})
        return rows

    def _pair(self, bed: Bed, subject: Any, network: Network, cell: Cell, stack: contextlib.ExitStack) -> tuple[Pair, float]:
        """A primary with tables and its replica, attached over the network; and the round trip of a statement over it, in ms."""
        bed.note(f"{subject.name}: a primary and its replica")
        server = stack.enter_context(bed.fresh(subject, data="network", args=network.args))
        bed.prepare(server)
        bed.load(server, TEST, cell["threads"], bed.o.warmup, 7, measured=False)
        replica = MariaReplica(bed.work / f"{subject.slug}-acknowledges", 7, ["--skip-slave-start", "--innodb-flush-log-at-trx-commit=0"], semi_sync=True)
        pair = Pair(subject.name, server, replica)
        stack.callback(replica.remove)
        replica.create()
        replica.start()
        host, port = stack.enter_context(network.way_to(server.port))
        pair.attach_here(host, port)
        link_ms = round_trip_ms(host, port)
        pair.pause()
        return pair, link_ms

    def _measure(self, bed: Bed, pair: Pair, mode: str, cell: Cell, round_: int) -> dict[str, Any]:
        durability, point = MODES[mode]
        log, binlog = DURABILITY[durability]
        pair.resume()
        pair.primary.sql(f"SET GLOBAL innodb_flush_log_at_trx_commit = {log}; SET GLOBAL sync_binlog = {binlog}")
        with pair.measured(point):
            return bed.load(pair.primary, TEST, cell["threads"], seed=1000 + round_, label=f"-{mode}")

    def tables(self, df: pd.DataFrame) -> list[Table]:
        by = ["rtt_us", "threads", "mode"]
        how = df.network.iloc[0]
        note = (f"Delay made by {how}" + ("" if how == "tc netem" else " (this kernel or user has no tc netem)")
                + "; link: a statement's round trip over it, measured.")  # fmt: skip
        return [
            pivot(df, "tps", by, f"Transactions a second ({TEST})", note=note),
            per_run(df, by, ["link_ms", "p50_ms", "p99_ms", "syncs_per_commit"], "What a commit waits",
                    note="Narwal sends nothing to a replica that it has not synced itself, so its D3 with semi-sync syncs too."),
        ]  # fmt: skip

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        out = []
        for (rtt, threads), own in df.groupby(["rtt_us", "threads"], sort=False):
            out.append(bars(own, "mode", "tps", f"{rtt / 1000:g} ms round trip, {threads} threads", "made durable by", "transactions/s"))
        return out

    def summary(self, df: pd.DataFrame) -> list[str]:
        out = []
        cell = df[(df.threads == df.threads.max()) & (df.rtt_us == df.rtt_us.max())]
        mid = medians(cell, ["mode"], ["tps"]).set_index(["subject", "mode"]).tps
        for name in subjects_in(cell):
            parts = [f"{mode} {mid[name, mode]:,.0f}/s" for mode in MODES if (name, mode) in mid]
            out.append(f"{name}, {cell.threads.iloc[0]} threads, {cell.rtt_us.iloc[0] / 1000:g} ms network: " + ", ".join(parts) + ".")
        return out


def round_trip_ms(host: str, port: int, samples: int = 21) -> float:
    """Median time of SELECT 1 at a host and port."""
    c = Connection(port, host=host)
    try:
        took = []
        for _ in range(samples):
            began = time.perf_counter()
            c.query("SELECT 1")
            took.append(time.perf_counter() - began)
    finally:
        c.close()
    return round(median(took) * 1000, 3)
