"""A primary and the MariaDB replica whose acknowledgements it waits for, or does not."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from .replica import gtid_position
from .servers import MariaDB, Server
from .wire import Connection

REPLICA_ARGS = ["--rpl-semi-sync-slave-enabled=ON", "--innodb-flush-log-at-trx-commit=0", "--innodb-buffer-pool-size=256M",
                "--performance-schema=OFF", "--skip-slave-start", "--relay-log=relay", "--slave-parallel-threads=4"]  # fmt: skip
# `rpl_semi_sync_master_wait_point`, and semi-sync off.
POINTS = ("none", "AFTER_COMMIT", "AFTER_SYNC")
STATUS = "Rpl_semi_sync_master_"


class Pair:
    """A primary and its replica, run and stopped together."""

    def __init__(self, name: str, primary: Server, replica: MariaDB, apply: bool = False):
        """`apply`: the replica applies what it fetches. Without, it costs this machine what one on another machine would."""
        self.name, self.primary, self.replica, self.apply = name, primary, replica, apply

    def start(self) -> None:
        for server in (self.primary, self.replica):
            server.create()
            server.start()

    def attach(self) -> None:
        """The replica follows from the beginning, and catches up."""
        self.replica.sql(f"CHANGE MASTER TO master_host='127.0.0.1', master_port={self.primary.port}, master_user='root', "
                         "master_connect_retry=1, master_use_gtid=slave_pos; START SLAVE")  # fmt: skip
        self.caught_up(applied=True)
        if not self.apply:
            self.replica.sql("STOP SLAVE SQL_THREAD")

    def attach_here(self, host: str, port: int) -> None:
        """The replica fetches what comes from now on, from a primary found at `host` and `port`; it applies nothing."""
        position = gtid_position(self.primary.port)
        self.replica.sql(f"STOP SLAVE; SET GLOBAL gtid_slave_pos='{position}'; CHANGE MASTER TO master_host='{host}', master_port={port}, "
                         "master_user='root', master_connect_retry=1, master_use_gtid=slave_pos; START SLAVE IO_THREAD")  # fmt: skip
        self.caught_up(applied=False)

    def pause(self) -> None:
        self.replica.pause()
        self.primary.pause()

    def resume(self) -> None:
        self.primary.resume()
        self.replica.resume()

    def remove(self) -> None:
        self.resume()
        for server in (self.replica, self.primary):
            server.remove()

    def status(self) -> dict[str, str]:
        return {k[len(STATUS) :]: v for k, v in self.primary.status(STATUS + "%").items()}

    def _received(self) -> str:
        c = Connection(self.replica.port)
        try:
            got = c.query("SHOW SLAVE STATUS")
            return dict(zip(got.columns, got.rows[0], strict=True))["Gtid_IO_Pos"]
        finally:
            c.close()

    def caught_up(self, applied: bool, seconds: float = 300) -> None:
        """Waits until the replica has received, or applied, what the primary has written."""
        wanted = gtid_position(self.primary.port)
        end = time.monotonic() + seconds
        while True:
            there = self.replica.sql("SELECT @@gtid_slave_pos")[0][0] if applied else self._received()
            if there == wanted:
                return
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: the replica stands at {there}, not {wanted}\n{self.replica.log_tail()}")
            time.sleep(0.1)

    def set(self, point: str) -> None:
        """One of `POINTS`, from now on; returns when the primary waits for the replica."""
        p = self.primary
        p.sql("SET GLOBAL rpl_semi_sync_master_enabled=OFF")
        if point == "none":
            return
        p.sql(f"SET GLOBAL rpl_semi_sync_master_timeout=10000; SET GLOBAL rpl_semi_sync_master_wait_point={point}; "
              "SET GLOBAL rpl_semi_sync_master_enabled=ON")  # fmt: skip
        end = time.monotonic() + 30
        while (s := self.status())["status"] != "ON" or s["clients"] != "1":
            if time.monotonic() > end:
                raise RuntimeError(f"{self.name}: semi-synchronous replication does not begin: {s}")
            time.sleep(0.1)

    @contextmanager
    def measured(self, point: str) -> Iterator[None]:
        """For the time of a run, both servers run, with this wait point; a commit that went on without the replica is an error."""
        self.resume()
        try:
            self.caught_up(applied=self.apply)
            self.set(point)
            before = self.status()
            yield
            after = self.status()
            self.caught_up(applied=False)
        finally:
            self.pause()
        if point != "none":
            without = int(after["no_tx"]) - int(before["no_tx"])
            if without or after["status"] != "ON":
                raise RuntimeError(f"{self.name}, {point}: {without} commits went on without the replica")
