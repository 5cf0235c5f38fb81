"""(d) Large transactions."""

from __future__ import annotations

import time
from typing import Any

import pandas as pd
from testbed import bigtrx, disk
from testbed.servers import Server

from ..bed import Bed
from ..experiment import FAILURES, Cell, Experiment, Plot, Table, describe, interleaved
from ..options import Options
from ..plots import bars, base_of, medians, per_run, pivot, subject_under_test
from ..sampler import Sampler, process
from ..subjects import Subject


class Large(Experiment):
    name, letter, title = "large", "d", "Large transactions"
    classic_in_quick = True
    question = (
        "One transaction that changes 100,000 rows of a table, and such that insert rows of 1 KiB up to the named size. What happens at COMMIT: a server that copies the "
        "transaction's events into its binary log then, takes as long as they are large; one that has written them before takes a sync. "
        "Logged bytes are those of all logs (redo and binary log) per byte of the changed rows."
    )

    def cells(self, o: Options) -> list[Cell]:
        sizes = o.pick(["100k", "20M"], ["100k", "100M"], ["100k", "100M", "1G"])
        return [Cell(transaction=s) for s in o.setting("large_sizes", sizes)]

    def rounds(self, cell: Cell, o: Options) -> int:
        return o.pick(1, 3, 3) if o.rounds == Options.of_mode(o.mode).rounds else o.rounds

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        mib = bigtrx.rows_of(cell["transaction"]) * bigtrx.ROW_BYTES / 2**20
        return subjects * (5 + self.rounds(cell, o) * (1 + mib / 25))

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        try:
            for round_, subject in interleaved(bed.subjects, self.rounds(cell, bed.o)):
                try:
                    with bed.turn(subject, data="large", **server_settings(subject)) as server:
                        if not round_:
                            bed.note(f"{subject.name}: making the tables of the large transactions")
                            server.sql("DROP DATABASE IF EXISTS big")
                            bigtrx.prepare(server.port)
                        rows.append({"subject": subject.name, "round": round_, **measure(bed, subject, server, cell["transaction"])})
                except FAILURES as e:
                    rows.append({"subject": subject.name, "round": round_, "error": describe(e)})
        finally:
            for subject in bed.subjects:
                bed.forget(subject, "large")
        return rows

    def tables(self, df: pd.DataFrame) -> list[Table]:
        by = ["transaction"]
        values = ["run_s", "commit_ms", "logged_mib", "logged_per_changed_byte", "written_mib", "peak_mib"]
        return [
            pivot(df, "commit_ms", by, "From COMMIT to OK, ms"),
            per_run(df, by, values, "The whole transaction", "written MiB: all that the server gave to the disk from BEGIN to a second after OK."),
        ]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        return [bars(df, "transaction", "commit_ms", "From COMMIT to OK", "transaction", "ms", log_y=True),
                bars(df, "transaction", "logged_per_changed_byte", "Logged per changed byte", "transaction", "bytes per byte")]  # fmt: skip

    def summary(self, df: pd.DataFrame) -> list[str]:
        subject, base = subject_under_test(df), base_of(df)
        last = df.transaction.iloc[-1]
        mid = medians(df[df.transaction == last], [], ["commit_ms", "logged_per_changed_byte"]).set_index("subject")
        if subject not in mid.index or base not in mid.index:
            return []
        a, b = mid.loc[subject], mid.loc[base]
        return [f"COMMIT of a transaction of {last}: {subject} {a.commit_ms:.0f} ms, {base} {b.commit_ms:.0f} ms; logged per changed byte "
                f"{a.logged_per_changed_byte:.2f} and {b.logged_per_changed_byte:.2f}."]  # fmt: skip


def server_settings(subject: Subject) -> dict[str, Any]:
    """What transactions of this size need beside the common settings: no limit on the binary log's cache."""
    if subject.is_baseline:
        return {"args": ("--max-binlog-cache-size=18446744073709547520",)}
    return {}


def logged_bytes(bed: Bed, subject: Subject, server: Server) -> float:
    """Bytes in all logs of the server so far: redo and binary log, or the one log."""
    status = bed.status(server)
    own = status.get("narwal_log_bytes_written", 0.0)
    if subject.kind == "narwal":
        return own
    binlogs = sum(float(r[1]) for r in server.sql("SHOW BINARY LOGS"))
    return binlogs + (own if subject.is_narwal else status.get("innodb_os_log_written", 0.0))


def measure(bed: Bed, subject: Subject, server: Server, size: str) -> dict[str, Any]:
    """Runs the transaction once."""
    changed = bigtrx.rows_of(size) * (130 if size == "100k" else 1032)
    if server.counters:
        server.counters.set_delay(0)
    bed.note(f"{subject.name}: a transaction of {size}")
    pid = server.process.pid  # type: ignore[union-attr]
    logged, before, on_disk = logged_bytes(bed, subject, server), process(pid), disk.written(server.folder)
    with Sampler(server, bed.raw / f"{time.strftime('%H%M%S')}-{server.folder.name}-{size}.samples.jsonl"):
        run_s, commit_s = bigtrx.run(server.port, size)
        time.sleep(1)
    after = process(pid)
    grown = logged_bytes(bed, subject, server) - logged
    return {
        "run_s": run_s, "commit_ms": commit_s * 1000, "logged_mib": grown / 2**20, "logged_per_changed_byte": grown / changed,
        "written_mib": disk.written_since(on_disk, server.folder, 2**20), "peak_mib": after["peak_mib"],
        "cpu_s": after["cpu_s"] - before["cpu_s"],
    }  # fmt: skip
