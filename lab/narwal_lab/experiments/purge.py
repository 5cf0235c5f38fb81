"""(k) What writers feel of rotations and purges of the binary log."""

from __future__ import annotations

from typing import Any

import pandas as pd
from testbed import purging

from .. import load
from ..bed import Bed
from ..experiment import FAILURES, Cell, Experiment, Plot, Table, describe
from ..options import Options
from ..plots import bars, per_run, pivot, subjects_in
from ..subjects import Subject

TEST = "oltp_update_non_index"
QUIET, BUSY = "quiet", "with purges"


class Purge(Experiment):
    name, letter, title = "purge", "k", "Rotation and purge"
    question = (
        "oltp_update_non_index at 8 threads, in turn a quiet stretch and one in which the log is rotated and its oldest file purged again and again "
        "(by PURGE BINARY LOGS; every second one by max_binlog_total_size where the server has that). p99 over all stretches of a kind."
    )

    def cells(self, o: Options) -> list[Cell]:
        files = o.setting("purge_files", o.pick(4, 10, 20))
        mib = o.setting("purge_file_mib", o.pick(16, 128, 1024))
        return [Cell(files=files, file_mib=mib, threads=n) for n in o.only_threads([8])]

    def _stretch(self, o: Options) -> tuple[int, float]:
        """How many of each kind in a round, and seconds of each."""
        return o.pick(2, 5, 5), o.setting("purge_seconds", float(o.pick(2, 6, 16)))

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        stretches, seconds = self._stretch(o)
        return subjects * (self.rounds(cell, o) * 2 * stretches * (seconds + 0.5) + cell["files"] * cell["file_mib"] / 100 + 8)

    def rounds(self, cell: Cell, o: Options) -> int:
        return o.pick(1, 1, 3)

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        for round_ in range(self.rounds(cell, bed.o)):
            for subject in bed.subjects:
                try:
                    rows += [{"subject": subject.name, "round": round_, **row} for row in self._one(bed, subject, cell)]
                except FAILURES as e:
                    rows.append({"subject": subject.name, "round": round_, "error": describe(e)})
        return rows

    def _one(self, bed: Bed, subject: Subject, cell: Cell) -> list[dict[str, Any]]:
        size = cell["file_mib"] << 20
        stretches, seconds = self._stretch(bed.o)
        table = {"tables": 1, "table-size": 50_000, "rand-type": "uniform"}
        # 4 MiB a row, with room around them.
        with bed.fresh(subject, data="purge", args=(f"--max-binlog-size={size}", "--max-allowed-packet=64M")) as server:
            bed.prepare(server, TEST, **table)
            bed.note(f"{subject.name}: writing {cell['files']} files of {cell['file_mib']} MiB")
            took = purging.fill(server, cell["files"], size)
            bed.load(server, TEST, cell["threads"], bed.o.warmup, 7, measured=False, **table)
            seeds = iter(range(1000, 10000))

            def run(seconds: float) -> str:
                return load.run(server, TEST, "run", cell["threads"], load.run_options(seconds, next(seeds), **table), bed.raw, "-purge")

            out = purging.stretches(server, run, stretches, cell["files"], seconds, lambda text: bed.note(f"{subject.name}: {text}"))
        purged = {"purges": len(out["purges"]), "slowest_purge_s": max(p["seconds"] for p in out["purges"]),
                  "purged_mib": sum(p["mib"] for p in out["purges"]), "fill_s": round(took, 1), "ratio": out["ratio"]}  # fmt: skip
        return [{"stretch": kind, **figures, "tps": figures["per_second"], **(purged if kind == BUSY else {})}
                for kind, figures in ((QUIET, out["quiet"]), (BUSY, out["busy"]))]  # fmt: skip

    def tables(self, df: pd.DataFrame) -> list[Table]:
        busy = df[df.stretch == BUSY]
        names = {"ratio": "p99 with purges / quiet", "slowest_purge_s": "slowest purge, s", "purged_mib": "purged, MiB", "purges": "purges"}
        return [
            per_run(df, ["file_mib", "stretch"], ["tps", "p50_ms", "p99_ms", "p999_ms", "max_ms"], "Latency through rotations and purges"),
            per_run(busy.rename(columns=names), ["file_mib"], list(names.values()), "The purges"),
            pivot(df, "p99_ms", ["file_mib", "stretch"], "p99, ms"),
        ]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        return [bars(df, "stretch", "p99_ms", "p99 through rotations and purges", "", "p99, ms")]

    def summary(self, df: pd.DataFrame) -> list[str]:
        busy = df[df.stretch == BUSY]
        parts = [f"{name} {busy[busy.subject == name].ratio.median():.2f}x its quiet p99" for name in subjects_in(busy)]
        return ["Through rotations and purges of the log: " + ", ".join(parts) + "."] if parts else []
