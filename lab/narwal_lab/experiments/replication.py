"""(f) How far a replica falls behind a primary that is written to at full rate, and how long it takes to come back."""

from __future__ import annotations

from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from testbed import lag
from testbed.following import server as durable_server
from testbed.replica import ReplicaFailed

from ..bed import Bed
from ..experiment import FAILURES, Cell, Experiment, Plot, Table, describe
from ..options import Options
from ..plots import colour, finish, good, medians, subjects_in
from ..subjects import Subject

KINDS = {"narwal": "Narwal", "mariadb": "MariaDB"}


class Replication(Experiment):
    name, letter, title = "replication", "f", "Replication: lag and drain"
    question = (
        "oltp_write_only at full rate on a primary, and how old the state of its replica is (by a clock row that is written every 100 ms), "
        "sampled through the load; then the drain: how long the replica needs to catch up when the load has ended. Both sync every commit and write a "
        "binary log of their own; replicas have their default apply threads. Both run on this machine's cores."
    )

    def _plan(self, o: Options) -> lag.Plan:
        threads = o.pick(4, 16, 16) if not o.threads else o.threads[0]
        seconds = o.setting("replication_seconds", o.pick(4, 60, 180))
        return lag.Plan(threads, o.tables, o.pick(2000, o.rows, o.rows), seconds, min(o.pick(1, 5, 10), seconds),
                        o.setting("replication_drain", o.pick(8, 200, 1800)))  # fmt: skip

    def cells(self, o: Options) -> list[Cell]:
        return [Cell(replica=kind) for kind in KINDS.values()]

    def applies(self, subject: Any, cell: Cell) -> bool:
        return subject.kind in KINDS

    def rounds(self, cell: Cell, o: Options) -> int:
        return o.setting("replication_rounds", o.pick(1, 1, 3))

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        plan = self._plan(o)
        return min(subjects, 2) * self.rounds(cell, o) * (plan.seconds + o.pick(14, 60, 200))

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        replica = next((s for s in bed.subjects if KINDS.get(s.kind) == cell["replica"]), None)
        for round_ in range(self.rounds(cell, bed.o) if replica else 0):
            for primary in [s for s in bed.subjects if self.applies(s, cell)]:
                bed.note(f"{primary.name} -> {replica.name}, round {round_ + 1}")
                row: dict[str, Any] = {"subject": primary.name, "round": round_}
                try:
                    rows.append(row | self._pair(bed, primary, replica))
                except (*FAILURES, ReplicaFailed) as e:
                    rows.append(row | {"error": describe(e)})
        return rows

    def _pair(self, bed: Bed, primary: Subject, replica: Subject) -> dict[str, Any]:
        bed.pause_all()
        servers = []
        for n, (subject, role) in enumerate(((primary, "primary"), (replica, "replica")), 1):
            binary = {"narwal": str(subject.binary)} if subject.is_narwal else {"mariadb": {"binary": str(subject.binary), "loader": subject.loader}}
            servers.append(durable_server(KINDS[subject.kind], bed.work / f"{role}-{subject.slug}", n, args=subject.args, shim=bed.shim, **binary))
        try:
            for one in servers:
                one.create()
                one.start()
            if primary.slug not in bed.fairness:
                bed.check_fair(primary, servers[0])
            out = lag.measure(*servers, self._plan(bed.o), lambda s: bed.note(f"{s['at']:.0f} s: {s['lag']:.1f} s behind"))
        finally:
            for one in servers[::-1]:
                one.remove()
        (bed.raw / f"lag-{primary.slug}-{replica.slug}.txt").write_text(out.pop("sysbench"))
        last, cpu = out["samples"][-1], out.pop("cpu")
        return {**out, "lag_end_s": last["lag"], "lag_most_s": max(s["lag"] for s in out["samples"]), "grows": lag.grows(out["samples"]),
                "seconds_behind_master": last["seconds_behind_master"], "transactions_behind": last["transactions_behind"],
                "drain_s": out["drain"], "caught_up": float(out["drain"] is not None),
                "equal_rows": None if out["equal"] is None else float(out["equal"]), "cpu_primary_s": cpu[0], "cpu_replica_s": cpu[1]}  # fmt: skip

    def tables(self, df: pd.DataFrame) -> list[Table]:
        values = {"tps": "primary TPS", "lag_end_s": "lag at the end, s", "grows": "grows, s/s", "lag_most_s": "most, s",
                  "seconds_behind_master": "Seconds_Behind_Master", "transactions_behind": "transactions behind", "drain_s": "drain, s",
                  "cpu_primary_s": "CPU primary, s", "cpu_replica_s": "CPU replica, s"}  # fmt: skip
        df = df.assign(**{v: pd.to_numeric(df[v]) for v in (*values, "equal_rows")})
        mid = medians(df, ["replica"], list(values))
        mid = mid.rename(columns={"subject": "primary", **values})[["primary", "replica", *[v for v in values.values()]]]
        worst = good(df).groupby(["replica", "subject"], sort=False).agg(caught=("caught_up", "min"), same=("equal_rows", "min")).reset_index(drop=True)
        mid["rows equal"] = ["not caught up in time" if not w.caught else "yes" if w.same else "no" for w in worst.itertuples()]
        return [Table("Lag at the end of the load, and the drain after it", mid, "'Rows equal' is compared after the drain, every row of every table.")]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        kinds = list(dict.fromkeys(df.replica))
        figure = Figure(figsize=(4.4 * len(kinds) + 0.8, 3.6), layout="constrained")
        axes = figure.subplots(1, len(kinds), sharey=True, squeeze=False)[0]
        for ax, kind in zip(axes, kinds, strict=True):
            own = df[df.replica == kind]
            for name in subjects_in(own):
                for i, samples in enumerate(own[own.subject == name].samples):
                    ax.plot([s["at"] for s in samples], [s["lag"] for s in samples], marker="o", markersize=3, color=colour(name),
                            label=f"{name} -> {kind}" if not i else None)  # fmt: skip
            finish(ax, f"replica: {kind}", "seconds of load", "lag, s", False)
            ax.legend(fontsize=8)
        axes[0].set_ylim(bottom=0)
        return [Plot("Lag through the load", figure, "A line per round.")]

    def summary(self, df: pd.DataFrame) -> list[str]:
        mid = medians(df.assign(drain_s=pd.to_numeric(df.drain_s)), ["replica"], ["lag_end_s", "drain_s", "tps"])
        parts = [f"{r.subject} -> {r.replica} {r.lag_end_s:.1f} s (drain {'longer than waited for' if r.drain_s != r.drain_s else f'{r.drain_s:.1f} s'}, "
                 f"{r.tps:,.0f} trx/s)" for r in mid.itertuples()]  # fmt: skip
        return ["Lag at the end of the load: " + "; ".join(parts) + "."]
