"""Servers that follow others: what a replica is asked and told, the same for Narwal and for Debian's MariaDB."""

from __future__ import annotations

import atexit
import os
import re
import shutil
import tempfile
import time
from pathlib import Path

from .compare import Comparison, compare
from .servers import MariaDB, Narwal
from .wire import Connection, Lost, SqlError

PARALLEL = ("conservative", "optimistic", "aggressive", "minimal")

# Small and quick to start; a transaction and its place in the primary's log are one InnoDB transaction, written to the
# operating system at each commit, which kill -9 does not take away.
SETTINGS = [
    "--performance-schema=OFF", "--innodb-buffer-pool-size=48M", "--innodb-log-file-size=32M",
    "--innodb-flush-log-at-trx-commit=2", "--max-allowed-packet=256M", "--relay-log=relay", "--slave-net-timeout=20",
    "--skip-log-bin", "--log-warnings=2",
]  # fmt: skip

# Duplicate key name, no such key, no such event: CREATE and DROP INDEX, and DROP EVENT, are the supported statements that a replica can't run twice.
REPEATED = {1061, 1091, 1539}


class ReplicaFailed(Exception):
    """A replication thread stopped with an error, or the replica does not catch up."""


def gtid_position(port: int) -> str:
    """What a primary has written to its binary log: the last GTID of each domain."""
    c = Connection(port)
    try:
        return c.query("SELECT @@GLOBAL.gtid_binlog_pos").rows[0][0] or ""
    finally:
        c.close()


class Replica:
    """Replication commands of a server, beside `lab.servers.Server`. `name` is that of a connection, where there are several;
    `status_of` and the waits look at all connections."""

    server_id: int

    # -- statements ------------------------------------------------------------------------------------------------
    def query(self, sql: str, timeout: float = 60) -> list[tuple]:
        c = Connection(self.port, timeout=timeout)
        try:
            return c.query(sql).rows
        finally:
            c.close()

    def change_master(self, port: int, gtid: str = "slave_pos", file: str = "", pos: int = 4, name: str = "", **options: object) -> None:
        """Points a stopped replica at a primary. `gtid`: slave_pos, current_pos, or no, which uses `file` and `pos`.
        `options`: further MASTER_ options in lower case, for example heartbeat_period=0.5."""
        given = {"host": "127.0.0.1", "port": port, "user": "root", "password": "", "connect_retry": 1,
                 "heartbeat_period": 5, **options}  # fmt: skip
        if gtid == "no":
            given |= {"log_file": file, "log_pos": pos}
        text = ", ".join(f"MASTER_{k.upper()}={v!r}" for k, v in given.items())
        self.query(f"CHANGE MASTER {_named(name)}TO {text}, MASTER_USE_GTID={gtid}")

    def start_slave(self, what: str = "", name: str = "") -> None:
        self.query(f"START SLAVE {_named(name)}{what}")

    def stop_slave(self, what: str = "", name: str = "") -> None:
        self.query(f"STOP SLAVE {_named(name)}{what}")

    def follow(self, port: int, name: str = "", **options: object) -> None:
        self.change_master(port, name=name, **options)
        self.start_slave(name=name)

    def slave_status(self, name: str = "") -> dict[str, object]:
        c = Connection(self.port)
        try:
            got = c.query(f"SHOW SLAVE {_named(name)}STATUS")
        finally:
            c.close()
        return dict(zip(got.columns, got.rows[0])) if got.rows else {}

    def all_status(self) -> list[dict[str, object]]:
        """A line for each connection."""
        c = Connection(self.port)
        try:
            got = c.query("SHOW ALL SLAVES STATUS")
        finally:
            c.close()
        return [dict(zip(got.columns, row)) for row in got.rows]

    def last_error(self) -> str:
        """The replication threads' last error, or nothing. A lost connection that is tried again is none."""
        for s in self.all_status():
            for kind in ("SQL", "IO"):
                number = int(s.get(f"Last_{kind}_Errno") or 0)
                if number and s.get(f"Slave_{kind}_Running") == "No":
                    return f"{kind} thread{_of(s)}: {number}: {s.get(f'Last_{kind}_Error')}"
        return ""

    def position(self) -> str:
        """GTIDs applied, one per domain."""
        return self.query("SELECT @@GLOBAL.gtid_slave_pos")[0][0] or ""

    def pass_over_repeated_ddl(self) -> bool:
        """Whether its error is one that it is known for after a kill, and was passed over."""
        return False

    # -- waiting ---------------------------------------------------------------------------------------------------
    def wait_applied(self, gtids: str, seconds: float = 180) -> None:
        """Waits until these GTIDs are applied; raises at once when a thread stopped with an error."""
        end = time.monotonic() + seconds
        while True:
            left = end - time.monotonic()
            try:
                if self.query(f"SELECT MASTER_GTID_WAIT('{gtids}', {max(0.01, min(1.0, left)):.2f})")[0][0] == 0:
                    return
                if (error := self.last_error()) and not self.pass_over_repeated_ddl():
                    raise ReplicaFailed(f"replica {self.server_id} stands at {self.position()}, wanted {gtids}: {error}")
            except Lost:  # it restarts, or is killed
                time.sleep(0.1)
            if left <= 0:
                raise ReplicaFailed(f"replica {self.server_id} did not come to {gtids} in {seconds} s: {self.explain()}")

    def explain(self) -> str:
        """What one wants to know about a replica that does not move."""
        try:
            shown = ("Slave_IO_State", "Slave_IO_Running", "Slave_SQL_Running", "Last_IO_Error", "Last_SQL_Error", "Master_Log_File",
                     "Read_Master_Log_Pos", "Exec_Master_Log_Pos", "Gtid_IO_Pos", "Slave_SQL_Running_State")  # fmt: skip
            text = "; ".join(f"connection{_of(s)}: " + ", ".join(f"{k}: {s.get(k)}" for k in shown) for s in self.all_status())
            return f"at {self.position()}; {text}\n{self.log_tail(15)}"
        except (Lost, SqlError) as e:
            return f"{e}\n{self.log_tail(15)}"

    def catch_up(self, primary_port: int, seconds: float = 180) -> str:
        """Waits until everything that the primary has written now is applied; those GTIDs."""
        gtids = gtid_position(primary_port)
        if gtids:
            self.wait_applied(gtids, seconds)
        return gtids

    def wait_running(self, seconds: float = 20) -> None:
        end = time.monotonic() + seconds
        while True:
            status = self.all_status()
            if status and all(s.get("Slave_IO_Running") == s.get("Slave_SQL_Running") == "Yes" for s in status):
                return
            if time.monotonic() > end:
                raise ReplicaFailed(f"replica {self.server_id} does not run: {self.explain()}")
            time.sleep(0.05)

    def wait_error(self, seconds: float = 20) -> str:
        """Waits until a thread has stopped with an error; its text."""
        end = time.monotonic() + seconds
        while not (error := self.last_error()):
            if time.monotonic() > end:
                raise ReplicaFailed(f"replica {self.server_id} has no error: {self.explain()}")
            time.sleep(0.05)
        return error

    # -- comparison ------------------------------------------------------------------------------------------------
    def compare(self, primary_port: int, **options) -> Comparison:
        return compare(primary_port, self.port, ("primary", f"replica {self.server_id}"), **options)

    def same(self, primary_port: int, seconds: float = 180, **options) -> Comparison:
        """Catches up with a primary that nobody writes to, then compares; raises at a difference."""
        self.catch_up(primary_port, seconds)
        found = self.compare(primary_port, **options)
        if found.differences:
            raise AssertionError("\n".join(found.differences[:10]))
        return found


def _named(name: str) -> str:
    return f"'{name}' " if name else ""


def _of(status: dict) -> str:
    return f" of '{name}'" if (name := status.get("Connection_name")) else ""


class NarwalReplica(Replica, Narwal):
    """A Narwal that can follow, and be followed. Its connections start by themselves at each start."""

    name = "Narwal replica"

    def __init__(self, folder: Path, server_id: int, args: list[str] | None = None, semi_sync: bool = False, threads: int | None = None,
                 mode: str | None = None, **kw):  # fmt: skip
        self.server_id = server_id
        settings = []
        if semi_sync:
            settings.append("--rpl-semi-sync-slave-enabled=1")
        if threads is not None:
            settings.append(f"--slave-parallel-threads={threads}")
        if mode:
            settings.append(f"--slave-parallel-mode={mode}")
        super().__init__(folder, [f"--server-id={server_id}", f"--report-host=replica-{server_id}", *settings, *(args or [])], **kw)


class MariaReplica(Replica, MariaDB):
    """A MariaDB with replication commands. Its threads start by themselves at each start, once CHANGE MASTER was given."""

    name = "MariaDB replica"
    templates: dict[Path, Path] = {}

    def __init__(self, folder: Path, server_id: int, args: list[str] | None = None, log: bool = False,
                 semi_sync: bool = False, threads: int = 0, mode: str | None = None, **kw):  # fmt: skip
        """`log`: writes a binary log of its own with what it applies, so that others can follow it."""
        self.server_id = server_id
        # DDL statements that `pass_over_repeated_ddl` passed over.
        self.passed_over = 0
        self.started_again = 0
        # Starts after which its own files of where it stood were of no use.
        self.attached_anew = 0
        self._killed = False
        self._masters: dict[str, tuple[int, dict]] = {}
        settings = [s for s in SETTINGS if not (log and s == "--skip-log-bin")]
        if log:
            settings += ["--log-bin=replica-bin", "--log-slave-updates", "--binlog-format=ROW"]
        if semi_sync:
            settings.append("--rpl-semi-sync-slave-enabled=1")
        if threads:
            settings.append(f"--slave-parallel-threads={threads}")
        if mode:
            settings.append(f"--slave-parallel-mode={mode}")
        super().__init__(folder, [f"--server-id={server_id}", f"--report-host=replica-{server_id}", *settings, *(args or [])], **kw)

    def create(self) -> None:
        """An empty data folder; made once per process and copied, which is ten times as fast."""
        if self.datadir.exists():
            return
        template = self.templates.get(self.binary)
        if template is None or not template.exists():
            folder = Path(tempfile.mkdtemp(prefix="narwal-replica-template-"))
            _forget_at_exit(folder)
            self._install(folder / "data", "--innodb-log-file-size=32M", "--innodb-flush-log-at-trx-commit=0")
            template = self.templates[self.binary] = folder / "data"
        shutil.copytree(template, self.datadir)

    def change_master(self, port: int, gtid: str = "slave_pos", file: str = "", pos: int = 4, name: str = "", **options: object) -> None:
        self._masters[name] = (port, {"gtid": gtid, **options})
        super().change_master(port, gtid, file, pos, name, **options)

    def kill(self) -> None:
        self._killed = True
        super().kill()

    def start(self, wait: float = 60.0) -> float:
        """Starts. MariaDB keeps the names of its relay logs in several files that a kill can leave at odds; then it does not
        know its primary any more. What it has applied is in a table, so it is attached anew where that says."""
        before = self.log_path.stat().st_size if self.log_path.exists() else 0
        took = super().start(wait)
        if self._killed and self._masters and all(m[1]["gtid"] != "no" for m in self._masters.values()):
            with open(self.log_path, "rb") as log:
                log.seek(before)
                lost = b"Failed to initialize the master info structure" in log.read()
            if lost:
                self.attach_anew()
        return took

    def attach_anew(self) -> None:
        self.query("STOP ALL SLAVES")
        for name, (port, options) in self._masters.items():
            self.query(f"RESET SLAVE {_named(name)}")
            self.follow(port, name=name, **options)
        self.attached_anew += 1

    def pass_over_repeated_ddl(self) -> bool:
        """MariaDB runs DDL and notes its GTID in two transactions. A replica that was killed in between runs the statement again
        after its start, and stops with an error if it can't. Nothing else is passed over: of a replica that was killed, the first
        statement after the start of its SQL thread, with one of the errors that mean this."""
        if self._lost_its_trigger():
            return True
        status = self.slave_status()
        starts = re.findall(r"Slave SQL thread initialized.*GTID position '([^']*)'", self.log_path.read_text(errors="replace"))
        stands = self.position()
        again = starts and sorted(starts[-1].split(",")) == sorted(stands.split(","))
        if not (again and "," not in stands and self._killed and int(status["Last_SQL_Errno"]) in REPEATED):
            return False
        domain, server, number = stands.split("-")
        self.stop_slave()
        self.query(f"SET GLOBAL gtid_slave_pos = '{domain}-{server}-{int(number) + 1}'")
        self.start_slave()
        self.passed_over += 1
        return True

    def _lost_its_trigger(self) -> bool:
        """MariaDB 10.11 has been seen to say of a trigger of its own that it has an error in its body, when the statement comes that
        makes it anew (docs/programs.md). The file was whole, and after a start the same server ran the same statement. So it is
        started again, three times at most; what is compared in the end stays the same."""
        status = self.slave_status()
        said = int(status["Last_SQL_Errno"]) == 1064 and "has an error in its body" in status["Last_SQL_Error"]
        if not said or self.started_again >= 3:
            return False
        self.started_again += 1
        print(f"replica {self.server_id} is started again: {status['Last_SQL_Error'][:200]}", flush=True)
        self.stop()
        self.start(120)
        self.start_slave()
        return True


def _forget_at_exit(folder: Path) -> None:
    mine = os.getpid()
    atexit.register(lambda: os.getpid() == mine and shutil.rmtree(folder, ignore_errors=True))
