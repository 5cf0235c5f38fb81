"""(e) kill -9: how long until the server is back, and whether everything is there."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from typing import Any

import pandas as pd
from testbed import bigtrx
from testbed.client import Client, ServerError
from testbed.servers import Server

from .. import load
from ..bed import Bed
from ..experiment import FAILURES, Cell, Experiment, Plot, Table, describe, interleaved
from ..options import Options
from ..plots import bars, base_of, medians, per_run, subject_under_test
from ..subjects import Subject
from .large import server_settings

UNDER_LOAD = "under load"
AFTER_OK = "right after OK"
MIDDLE = "in the middle"


class Recovery(Experiment):
    name, letter, title = "recovery", "e", "kill -9 and recovery"
    question = (
        "The server is killed under 64 writing threads, right after the OK of a large transaction, and in the middle of one; then started "
        "again. Time to ready is from exec until it accepts connections. 'right' says whether all that was acknowledged is there, and "
        "nothing of a transaction that was not committed. Replayed: log records (Narwal) or pages (InnoDB) that recovery looked at, "
        "as the server itself says."
    )

    def cells(self, o: Options) -> list[Cell]:
        sizes = o.pick(["20M"], ["1M", "100M", "500M"], ["1M", "10M", "100M", "1G", "5G"])
        out = [Cell(kill=UNDER_LOAD, transaction="-")]
        kills = o.pick([AFTER_OK], [AFTER_OK, MIDDLE], [AFTER_OK, MIDDLE])
        return out + [Cell(kill=k, transaction=s) for s in o.setting("recovery_sizes", sizes) for k in kills]

    def rounds(self, cell: Cell, o: Options) -> int:
        big = cell["transaction"].endswith("G")
        return min(o.rounds, 1 if big else o.pick(1, 2, 3))

    def load_seconds(self, o: Options) -> float:
        """Of load before the kill."""
        return o.setting("recovery_load_seconds", o.pick(3.0, 15.0, 60.0))

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        if cell["kill"] == UNDER_LOAD:
            return subjects * self.rounds(cell, o) * (self.load_seconds(o) + 3) + 5
        mib = bigtrx.rows_of(cell["transaction"]) * bigtrx.ROW_BYTES / 2**20
        return subjects * (5 + self.rounds(cell, o) * (3 + mib / 15))

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        try:
            for round_, subject in interleaved(bed.subjects, self.rounds(cell, bed.o)):
                bed.note(f"{subject.name}: {cell.label}, round {round_ + 1}")
                try:
                    with bed.turn(subject, data="recovery", **server_settings(subject)) as server:
                        if cell["kill"] == UNDER_LOAD:
                            row = self.under_load(bed, server)
                        else:
                            row = self.transaction(server, cell, first=not round_)
                        row |= replayed(subject, server)
                    rows.append({"subject": subject.name, "round": round_, **row})
                except (ServerError, *FAILURES) as e:
                    rows.append({"subject": subject.name, "round": round_, "error": describe(e)})
        finally:
            for subject in bed.subjects:
                bed.forget(subject, "recovery")
        return rows

    def under_load(self, bed: Bed, server: Server) -> dict[str, Any]:
        """64 threads of oltp_write_only and a client that notes what it was told is committed."""
        bed.prepare(server)
        server.sql("CREATE TABLE IF NOT EXISTS sbtest.acknowledged (id BIGINT PRIMARY KEY)")
        acknowledged = Acknowledged(server)
        args = load.command(server, "oltp_write_only", "run", 64, {
            "tables": bed.o.tables, "table-size": bed.o.rows, "time": 0, "events": 0, "mysql-ignore-errors": load.IGNORED_ERRORS,
        })  # fmt: skip
        sysbench = subprocess.Popen(args, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            with acknowledged:
                time.sleep(self.load_seconds(bed.o))
                if sysbench.poll() is not None:
                    raise RuntimeError("the load ended before the kill")
                server.kill()
        finally:
            sysbench.kill()
            sysbench.wait()
        ready = server.start(900)
        tables = range(1, bed.o.tables + 1)
        rows = [int(server.sql(f"SELECT COUNT(*) FROM sbtest.sbtest{t}")[0][0]) for t in tables]
        found = int(server.sql("SELECT COUNT(*) FROM sbtest.acknowledged")[0][0])
        last = acknowledged.last
        # Each transaction deletes and inserts one row: their number stays. One insert may be done but not yet acknowledged.
        right = rows == [bed.o.rows] * bed.o.tables and acknowledged.before + last <= found <= acknowledged.before + last + 1
        return {"ready_s": ready, "right": "yes" if right else "no", "rows_before": bed.o.rows * bed.o.tables, "rows_after": sum(rows),
                "acknowledged": last, "acknowledged_found": found - acknowledged.before}  # fmt: skip

    def transaction(self, server: Server, cell: Cell, first: bool) -> dict[str, Any]:
        """A transaction, killed right after its OK or at about half of the time that the first one took."""
        size = cell["transaction"]
        if first:
            server.sql("DROP DATABASE IF EXISTS big")
            bigtrx.prepare(server.port)
        before = bigtrx.state(server.port)
        run_s = 0.0
        if cell["kill"] == AFTER_OK:
            run_s, _ = bigtrx.run(server.port, size)
            server.kill()
            wanted = (str(int(before[0]) + bigtrx.rows_of(size)), before[1])
        else:
            run_s, _ = bigtrx.run(server.port, size)  # how long it takes
            wanted = bigtrx.state(server.port)
            process = server.process
            killer = threading.Timer(max(0.02, run_s / 2), process.kill)  # type: ignore[union-attr]
            killer.start()
            try:
                bigtrx.run(server.port, size)
                raise RuntimeError("the transaction had ended before the kill: give a larger size")
            except (ConnectionError, OSError):
                pass
            finally:
                killer.join()
            server.kill()
        ready = server.start(3600)
        answered = time.monotonic()
        after = bigtrx.state(server.port)
        return {"ready_s": ready, "right": "yes" if after == wanted else "no", "rows_before": int(before[0]), "rows_after": int(after[0]),
                "count_s": time.monotonic() - answered, "run_s": run_s}  # fmt: skip

    def tables(self, df: pd.DataFrame) -> list[Table]:
        df = df.assign(right_share=(df.right == "yes").astype(float))
        by = ["kill", "transaction"]
        table = per_run(df, by, ["ready_s", "replayed", "replayed_mib", "rows_before", "rows_after", "right_share"], "After kill -9")
        table.frame["right share"] = ["yes" if x == 1 else "no" for x in table.frame["right share"]]
        table.frame = table.frame.rename(columns={"right share": "right", "ready s": "ready after s"})
        return [table]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        df = df.assign(what=df.kill + df.transaction.map(lambda s: "" if s == "-" else f", {s}"))
        return [bars(df, "what", "ready_s", "Time to ready after kill -9", "killed", "seconds", log_y=True)]

    def summary(self, df: pd.DataFrame) -> list[str]:
        mid = medians(df[df.kill == UNDER_LOAD], [], ["ready_s"]).set_index("subject")
        names = [n for n in (subject_under_test(df), base_of(df)) if n in mid.index]
        out = []
        if names:
            out.append("Ready after kill -9 under 64 writing threads: " + ", ".join(f"{n} {mid.loc[n].ready_s:.2f} s" for n in names) + ".")
        wrong = df[df.right == "no"].subject.unique()
        if len(wrong):
            out.append(f"Rows were wrong after a kill: {', '.join(wrong)}.")
        return out


class Acknowledged:
    """A client that inserts 1, 2, 3 ... and knows the last one that the server has acknowledged."""

    def __init__(self, server: Server):
        self.server = server
        self.before = int(server.sql("SELECT COUNT(*) FROM sbtest.acknowledged")[0][0])
        self.last = 0
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def __enter__(self) -> Acknowledged:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(30)

    def _loop(self) -> None:
        try:
            client = Client(self.server.port, "sbtest")
            while True:
                client.query(f"INSERT INTO acknowledged VALUES ({self.before + self.last + 1})")
                self.last += 1
        except (OSError, ServerError):  # killed
            pass


def replayed(subject: Subject, server: Server) -> dict[str, float]:
    """What the last start looked at: log records and MiB (Narwal), pages (InnoDB), where the server tells."""
    if subject.is_narwal:
        status = {k.lower(): v for k, v in server.status("Narwal_recovery%").items()}
        return {"replayed": float(status.get("narwal_recovery_records", 0)),
                "replayed_mib": float(status.get("narwal_recovery_bytes", 0)) / 2**20}  # fmt: skip
    said = server.log_path.read_text(errors="replace")
    last = said[max(0, said.rfind(" as process ")) :]
    out = {}
    if pages := re.search(r"[Tt]o recover: (\d+) pages", last):
        out["replayed"] = float(pages.group(1))
    begin, end = re.search(r"recovery from checkpoint LSN=(\d+)", last), re.search(r"End of log at LSN=(\d+)", last)
    if begin and end:
        out["replayed_mib"] = (int(end.group(1)) - int(begin.group(1))) / 2**20
    return out
