"""(l) The insert benchmark: load in key order, then random secondary keys, then queries beside the inserts."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd
from testbed import disk
from testbed.servers import Server

from .. import load
from ..bed import Bed
from ..experiment import FAILURES, Cell, Experiment, Plot, Table, describe
from ..options import Options
from ..plots import bars, per_run, pivot, ratio_sentences, timeline
from ..sampler import Sampler, process

PHASES = ["load", "index", "insert", "mixed"]


class InsertBench(Experiment):
    name, letter, title = "insert", "l", "Insert benchmark"
    question = (
        "A table of purchases. load: rows in the order of the primary key, 100 a statement, no other index. index: three secondary "
        "indexes are made. insert: as many rows again as a tenth of the load, 20 a statement, whose secondary keys arrive in random order. "
        "mixed: one client goes on inserting, others ask short range queries of the secondary indexes. Rates are rows a second "
        "(statements a second in the mixed phase); the curves show every second of it."
    )

    def size(self, o: Options) -> int:
        """Rows of the load."""
        return o.setting("insert_rows", o.pick(40_000, 1_000_000, 20_000_000))

    def cells(self, o: Options) -> list[Cell]:
        return [Cell(rows=self.size(o), clients=o.setting("insert_clients", 1))]

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        return subjects * (cell["rows"] / 50_000 * 1.5 + cell["rows"] / 10 / 8000 + o.seconds * 2)

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        """Phase by phase, each phase on all servers in turn."""
        rows: list[dict[str, Any]] = []
        broken: set[str] = set()
        try:
            for phase in PHASES:
                for subject in bed.subjects:
                    if subject.name in broken:
                        continue
                    bed.note(f"{subject.name}: phase {phase}")
                    row: dict[str, Any] = {"subject": subject.name, "round": 0, "phase": phase}
                    try:
                        with bed.turn(subject, data="insert") as server:
                            row |= self.phase(bed, server, phase, cell)
                    except FAILURES as e:
                        row["error"] = describe(e)
                        broken.add(subject.name)
                    rows.append(row)
        finally:
            for subject in bed.subjects:
                bed.forget(subject, "insert")
        return rows

    def phase(self, bed: Bed, server: Server, phase: str, cell: Cell) -> dict[str, Any]:
        """Runs one phase; `rate` is rows or statements a second."""
        clients, total = cell["clients"], cell["rows"]
        if phase == "load":
            server.sql("DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest")
            load.run(server, "insertbench", "prepare", 1, {}, bed.raw)
            return run(bed, server, phase, clients, {"events": total // 100, "rows-per-statement": 100}, 100)
        if phase == "index":
            pid = server.process.pid  # type: ignore[union-attr]
            before, began = process(pid), time.monotonic()
            load.run(server, "insertbench", "index", 1, {}, bed.raw)
            took, after = time.monotonic() - began, process(pid)
            return {"rate": total / took, "seconds": took, "cpu_s": after["cpu_s"] - before["cpu_s"], "peak_mib": after["peak_mib"]}
        if phase == "insert":
            return run(bed, server, phase, clients, {"events": max(1, total // 10 // 20), "rows-per-statement": 20}, 20)
        options = {"events": 0, "time": max(2, round(bed.o.seconds * 2)), "phase": "mixed", "rows-per-statement": 1}
        return run(bed, server, phase, clients + 1, options, 1)

    def tables(self, df: pd.DataFrame) -> list[Table]:
        values = ["rate", "seconds", "p50_ms", "p99_ms", "max_ms", "cpu_s", "written_mib", "peak_mib", "folder_mib"]
        return [pivot(df, "rate", ["phase"], "Rows a second (mixed: statements a second)"),
                per_run(df, ["phase"], values, "Each phase")]  # fmt: skip

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        out = [bars(df, "phase", "rate", "Rate of each phase", "phase", "rows/s (mixed: statements/s)", log_y=True)]
        for phase in ("load", "insert"):
            part = df[(df.phase == phase) & df.curve.map(lambda c: isinstance(c, list) and len(c) > 1)]
            if len(part):
                out.append(timeline(part, "curve", f"Rate through the phase {phase}", "seconds", "rows/s"))
        return out

    def summary(self, df: pd.DataFrame) -> list[str]:
        return ratio_sentences(df, "rate", "phase", "insert benchmark", "", order=PHASES)


def run(bed: Bed, server: Server, phase: str, threads: int, options: dict[str, Any], rows: int) -> dict[str, Any]:
    """An event- or time-limited run that says what it did each second."""
    pid = server.process.pid  # type: ignore[union-attr]
    if server.counters:
        server.counters.set_delay(0)
    asked = {"time": 0, "histogram": "on", "report-interval": 1, "rand-seed": 11, **options}
    before, on_disk = process(pid), disk.written(server.folder)
    with Sampler(server, bed.raw / f"{time.strftime('%H%M%S')}-{server.folder.name}-{phase}.samples.jsonl"):
        text = load.run(server, "insertbench", "run", threads, asked, bed.raw, f"-{phase}")
        after = process(pid)
    out: dict[str, Any] = load.parse(text)
    out["rate"] = out["tps"] * rows
    out["curve"] = [[t, tps * rows] for t, tps in load.intervals(text)]
    out["cpu_s"] = after["cpu_s"] - before["cpu_s"]
    out["written_mib"] = disk.written_since(on_disk, server.folder, 2**20)
    out["peak_mib"], out["folder_mib"] = after["peak_mib"], server.disk_mib()
    return out
