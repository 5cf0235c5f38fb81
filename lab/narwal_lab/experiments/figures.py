"""The figures that the project promises, each with its target: met or not."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

import pandas as pd
from testbed import disk
from testbed.readers import discarding
from testbed.servers import Server

from .. import load
from ..bed import Bed
from ..experiment import Cell, Experiment, Plot, Table
from ..options import Options
from ..plots import base_of, good, pair_bars, paired_ratio, per_run, subjects_in
from ..subjects import Subject
from .memory import headroom_mib
from .micro import run as micro

ROWS_PER_WRITE_ONLY = 4
"""Rows that a transaction of oltp_write_only changes: two updates, a delete, an insert."""


@dataclass(frozen=True)
class Target:
    """A promise: of runs of this cell, `value` of Narwal beside the base (`against`) is `limit` at least, or at most."""

    test: str
    threads: int
    limit: float
    delay_us: int = 0
    durability: str = "D1"
    value: str = "tps"
    against: str = "baseline"
    """baseline: MariaDB (or MySQL); classic: Narwal's classic path; itself: the column `value` alone is the ratio."""
    at_most: bool = False
    goal: str = ""
    """What lies beyond, for the table."""

    @property
    def cell(self) -> Cell:
        return Cell(test=self.test, threads=self.threads, delay_us=self.delay_us, durability=self.durability)

    @property
    def label(self) -> str:
        what = {"tps": "", "p99_ms": "p99 of ", "p999_ms": "p99.9 of ", "cpu_us_per_transaction": "CPU per transaction, "}
        named = {"disk_bytes_per_row": "bytes to disk per committed row", "log_per_event_byte": "bytes logged per byte of row events",
                 "memory_share": "peak RSS / memory given"}  # fmt: skip
        test = "oltp_write_only, one reader of its log beside none" if self.test == "one reader" else self.test
        text = named.get(self.value) or what.get(self.value, "") + test
        if self.value in named and self.test.startswith("data 12x"):
            text += f", {self.test}"
        if self.durability != "D1":
            text += f", {self.durability}"
        if self.delay_us:
            text += f", +{self.delay_us / 1000:g} ms/sync"
        return text + (", one log beside classic" if self.against == "classic" else "")


def targets() -> list[Target]:
    """The table of promises, in its order."""
    out = [Target("oltp_write_only", n, x, goal=g) for n, x, g in ((1, 1.6, "1.8"), (8, 3, "4"), (32, 3, "4"), (64, 3, "4"))]
    for test in ("oltp_update_non_index", "oltp_update_index", "oltp_insert", "oltp_delete"):
        out += [Target(test, n, x, goal=g) for n, x, g in ((1, 1.75, "2.0"), (8, 3, "4"), (64, 3, "4"))]
    out += [Target("oltp_write_only", n, x, 2000, goal=g) for n, x, g in ((1, 1.85, "1.96"), (8, 2.8, ""), (32, 3, ""), (64, 3, ""))]
    out += [Target("hotrow", 64, 20, 2000, goal="CPU-bound")]
    out += [Target("oltp_point_select", n, x, goal=g) for n, x, g in ((1, 1.25, "1.4"), (8, 2.2, ""), (64, 2.2, ""))]
    out += [Target("oltp_read_only", n, x) for n, x in ((1, 1.3), (8, 2), (64, 2))]
    out += [Target("oltp_read_write", n, x, goal=g) for n, x, g in ((1, 1.4, "3"), (8, 2.2, "3"), (64, 2.2, "3"))]
    out += [Target("oltp_write_only", n, 0.5, value="p99_ms", at_most=True, goal="0.33") for n in (8, 64)]
    out += [Target("oltp_write_only", n, x, 2000, against="classic") for n, x in ((1, 1.9), (64, 1.5))]
    out += [Target("oltp_write_only", n, 1, durability=d) for d in ("D2", "D3") for n in (1, 8, 32, 64)]
    out += [Target("one reader", n, 0.95, against="itself", value="reader_ratio") for n in (8, 64)]
    out += [Target("bytes", n, 1.05, against="itself", value="log_per_event_byte", at_most=True) for n in (1, 64)]
    out += [Target("bytes", n, 1, value="disk_bytes_per_row", at_most=True) for n in (1, 64)]
    out += [Target("data 12x oltp_read_write", n, 1) for n in (8, 64)]
    out += [Target("data 12x oltp_read_write", n, 1, against="itself", value="memory_share", at_most=True) for n in (8, 64)]
    out += [Target("steady oltp_write_only", 16, 0.5, value="p999_ms", at_most=True)]
    out += [Target("oltp_write_only", n, 0.5, value="cpu_us_per_transaction", at_most=True) for n in (1, 8, 64)]
    return out


class Figures(Experiment):
    name, letter, title = "figures", "*", "What Narwal promises"
    classic_in_quick = True
    question = (
        "Each row is a promise: Narwal's rate (or latency, or cost) beside MariaDB's in the same interleaved rounds, both durable "
        "unless D2 or D3 is said, 4 tables in memory, client and servers on this machine. oltp_delete takes each row once, so that a faster "
        "server does not delete rows that are gone. 'bytes to disk per committed row' counts all that the device was given, to the end of a clean stop."
    )

    def cells(self, o: Options) -> list[Cell]:
        out: list[Cell] = []
        for t in targets():
            wanted = (o.threads is None or t.threads in o.threads) and (o.delays_us is None or t.delay_us in o.delays_us)
            if wanted and t.cell not in out and not (o.mode == "quick" and self.is_long(t)):
                out.append(t.cell)
        return out

    def is_long(self, t: Target) -> bool:
        """Left out of --quick: all that other quick experiments show, or that takes minutes to prepare."""
        many = t.test in ("oltp_write_only", "oltp_update_non_index", "oltp_insert", "oltp_point_select", "oltp_read_only", "oltp_read_write")
        one = t.test == "oltp_write_only" and t.delay_us
        return t.durability != "D1" or not (t.threads == 64 and (many or t.test in ("hotrow", "bytes")) or t.threads == 1 and one)

    def applies(self, subject: Subject, cell: Cell) -> bool:
        if subject.kind == "classic":
            return any(t.against == "classic" and t.cell == cell for t in targets())
        return not cell["test"].startswith("one reader") or subject.kind == "narwal"

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        kind = cell["test"].split(" ")[0]
        if not any(t.against == "classic" and t.cell == cell for t in targets()):
            subjects = min(subjects, 2)
        if kind == "data":
            return subjects * (240 + self.rounds(cell, o) * o.seconds + 60)
        if kind == "steady":
            return subjects * (self.steady_seconds(o) * self.rounds(cell, o) + 5)
        return super().estimate(cell, o, subjects) * (2 if kind in ("one", "bytes", "oltp_delete") else 1)

    def steady_seconds(self, o: Options) -> float:
        """Long enough for some checkpoints."""
        return o.setting("steady_seconds", o.pick(5.0, 40.0, 300.0))

    # -- measuring -----------------------------------------------------------------------------------------------------
    def server_settings(self, subject: Subject, cell: Cell, o: Options) -> dict[str, Any]:
        settings: dict[str, Any] = {"durability": cell["durability"]}
        if cell["test"].startswith("data 12x"):
            settings |= {"data": "large", "buffer_pool_mib": self.small_pool(o)}
        return settings

    def small_pool(self, o: Options) -> int:
        """MiB of memory for the cells whose data are 12 times as large."""
        return o.setting("figures_small_pool", o.pick(32, 128, 512))

    def large_rows(self, o: Options) -> int:
        """Rows of each of 4 tables that together are 12 times the small pool; a row with its index takes about 240 bytes."""
        return self.small_pool(o) * 12 * 2**20 // 240 // 4

    def prepare(self, bed: Bed, server: Server, subject: Subject, cell: Cell) -> None:
        test = cell["test"]
        if test == "hotrow":
            bed.prepare(server)
            server.sql("DROP TABLE IF EXISTS sbtest.hotrow")
            load.run(server, "hotrow", "prepare", 1, {}, bed.raw)
        elif test.startswith("data 12x"):
            bed.prepare(server, **{"tables": 4, "table-size": self.large_rows(bed.o)})
        else:
            bed.prepare(server)

    def warm_up(self, bed: Bed, server: Server, subject: Subject, cell: Cell) -> None:
        if cell["test"].startswith("data 12x"):  # or Narwal, which reads through the kernel's page cache, has more memory than MariaDB
            bed.limit_memory(server, self.small_pool(bed.o) + headroom_mib(cell["threads"]))
        if cell["test"] not in ("oltp_delete", "bytes") and not cell["test"].startswith("steady"):
            seconds = max(bed.o.warmup, 15) if cell["test"].startswith("data 12x") and bed.o.mode != "quick" else bed.o.warmup
            self.load(bed, server, cell, seconds, 7, measured=False)

    def load(self, bed: Bed, server: Server, cell: Cell, seconds: float | None, seed: int, **more: Any) -> dict[str, Any]:
        """The run of a cell that is a sysbench test."""
        test, threads = cell["test"].split(" ")[-1], cell["threads"]
        more["delay_us"] = cell["delay_us"]
        if cell["test"] == "one reader":
            test = "oltp_write_only"
        if cell["test"].startswith("data 12x"):
            more |= {"table-size": self.large_rows(bed.o), "rand-type": "uniform"}
        if test == "oltp_insert":
            bed.has_changed(server)
        return bed.load(server, test, threads, seconds, seed, **more)

    def measure(self, bed: Bed, server: Server, subject: Subject, cell: Cell, round_: int) -> dict[str, Any]:
        test, threads, seed = cell["test"], cell["threads"], 1000 + round_
        if test == "oltp_delete":
            bed.prepare(server)
            return micro(bed, server, "delete", bed.o.seconds, seed, threads)
        if test == "one reader":
            return self.with_reader(bed, server, cell, seed)
        if test == "bytes":
            return self.bytes_to_disk(bed, server, subject, cell, seed)
        if test.startswith("steady"):
            rate = bed.o.setting("steady_rate", 500)
            seconds = self.steady_seconds(bed.o)
            return bed.load(server, "oltp_write_only", threads, seconds, seed, label="-steady", rate=rate) | {"wanted_rate": rate}
        out = self.load(bed, server, cell, None, seed)
        if test.startswith("data 12x"):
            out["memory_share"] = out["peak_mib"] / self.small_pool(bed.o)
        return out

    def with_reader(self, bed: Bed, server: Server, cell: Cell, seed: int) -> dict[str, Any]:
        """Throughput with one reader of the binary log attached, and without, back to back; which comes first alternates."""
        rates = {}
        for readers in (0, 1) if seed % 2 else (1, 0):
            with discarding(server, 1) if readers else contextlib.nullcontext():
                rates[readers] = self.load(bed, server, cell, None, seed, label=f"-readers{readers}")
        return {**rates[1], "tps_without": rates[0]["tps"], "reader_ratio": rates[1]["tps"] / rates[0]["tps"]}

    def bytes_to_disk(self, bed: Bed, server: Server, subject: Subject, cell: Cell, seed: int) -> dict[str, Any]:
        """All that the disk gets during a run of oltp_write_only, what the server still has to write when it is stopped included."""
        server.stop(300)  # so that nothing of earlier runs is still to be written
        server.start(300)
        before = disk.written(server.folder)
        out = bed.load(server, "oltp_write_only", cell["threads"], None, seed, label="-bytes")
        groups = out["status"].get("narwal_log_group_bytes")
        server.resume()
        server.stop(300)
        out["disk_bytes_per_row"] = disk.written_since(before, server.folder, max(1, out["transactions"] * ROWS_PER_WRITE_ONLY))
        if groups:
            out["log_per_event_byte"] = out["status"]["narwal_log_bytes_written"] / groups
        return out

    # -- judging -------------------------------------------------------------------------------------------------------
    def judge(self, df: pd.DataFrame) -> list[dict[str, Any]]:
        """A row per target that has been measured: both values, ratio with its spread, met or not."""
        names = subjects_in(df)
        subject = names[0]
        base = base_of(df[df.subject.map(lambda n: "classic" not in n)])
        classic = next((n for n in names if "classic" in n), None)
        out = []
        for t in targets():
            part = df
            for key, value in t.cell.items():
                part = part[part[key] == value]
            if not len(part) or t.value not in part:
                continue
            other = {"baseline": base, "classic": classic, "itself": subject}[t.against]
            values = part.groupby("subject")[t.value].median()
            if subject not in values.index or pd.isna(values[subject]) or other not in values.index:
                continue
            if t.against == "itself":
                own = part[part.subject == subject][t.value]
                ratio, low, high = own.median(), own.min(), own.max()
            else:
                r = paired_ratio(part, t.value, [], subject, str(other)).iloc[0]
                ratio, low, high = r.ratio, r.low, r.high
            if pd.isna(ratio):
                continue
            met = ratio <= t.limit if t.at_most else ratio >= t.limit
            syncs = part.groupby("subject").syncs_per_commit.median()
            out.append({
                "figure": t.label, "threads": t.threads, "Narwal": values[subject], "beside": "-" if t.against == "itself" else values[other],
                "ratio": float(ratio), "spread": f"{low:.2f}-{high:.2f}", "wanted": f"{'at most' if t.at_most else 'at least'} {t.limit:g}",
                "met": "yes" if met else "no", "beyond": t.goal or "-", "syncs Narwal": syncs.get(subject), "syncs beside": syncs.get(other),
                "disk fdatasync ms": part.disk_ms.median(),
            })  # fmt: skip
        return out

    def tables(self, df: pd.DataFrame) -> list[Table]:
        judged = pd.DataFrame(self.judge(df))
        note = (
            "ratio: median of the rounds' ratios (spread: lowest-highest); 'beside' is MariaDB, or the classic path where the row says so. "
            "syncs: per commit, counted by the shim."
        )
        by = ["test", "threads", "delay_us", "durability"]
        values = ["tps", "p50_ms", "p99_ms", "p999_ms", "cpu_us_per_transaction", "syncs_per_commit", "mean_sync_ms", "peak_mib", "errors"]
        return [Table("Promised figures", judged, note), per_run(df, by, values, "All measured")]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        judged = self.judge(df)
        return [pair_bars([(f"{r['figure']} @{r['threads']}", r["ratio"], float(r["wanted"].split()[-1]), r["met"] == "yes") for r in judged],
                          "Ratio to MariaDB (or as named) and what is wanted")] if judged else []  # fmt: skip

    def summary(self, df: pd.DataFrame) -> list[str]:
        judged = self.judge(df)
        if not judged:
            return []
        met = [r for r in judged if r["met"] == "yes"]
        missing = [f"{r['figure']} at {r['threads']} ({r['ratio']:.2f}, {r['wanted']})" for r in judged if r["met"] == "no"]
        text = f"{len(met)} of {len(judged)} promised figures are met."
        return [text + (f" Not: {'; '.join(missing)}." if missing else "")]

    def unmet(self, df: pd.DataFrame) -> list[str]:
        return [f"{r['figure']} at {r['threads']} threads" for r in self.judge(good(df)) if r["met"] == "no"]

