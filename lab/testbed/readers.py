"""Readers of a server's binary log that come and go: such that look at nothing, and a MariaDB replica."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from .servers import MariaDB, Server

LAB = Path(__file__).resolve().parents[1]
# Of a replica that shall cost its machine little: it syncs nothing and writes no log of its own.
REPLICA_ARGS = ["--server-id=7", "--innodb-flush-log-at-trx-commit=0", "--sync-master-info=0", "--sync-relay-log=0",
                "--sync-relay-log-info=0", "--innodb-buffer-pool-size=512M", "--performance-schema=OFF",
                "--slave-exec-mode=IDEMPOTENT", "--skip-slave-start"]  # fmt: skip


def _discard(server: Server, readers: int, start: str) -> list[str]:
    return [sys.executable, "-m", "testbed.discard", str(server.port), str(readers), start, "100"]


@contextmanager
def nobody():
    """In the place of readers."""
    yield


@contextmanager
def discarding(server: Server, n: int):
    """`n` readers that throw away what they get, which must have been something."""
    child = subprocess.Popen(_discard(server, n, "now"), stdout=subprocess.PIPE, text=True, cwd=LAB)
    if child.stdout.readline().strip() != "attached":
        child.kill()
        child.communicate()
        raise RuntimeError(f"the readers could not attach\n{server.log_tail()}")
    try:
        yield
    finally:
        child.send_signal(signal.SIGTERM)
        text, _ = child.communicate(timeout=60)
    got = json.loads(text)
    if min(r["bytes"] for r in got) < 1000:
        raise RuntimeError(f"the readers got nothing: {got}")


def dump(server: Server) -> dict:
    """Sends the whole log, from its oldest event, to one reader that throws it away: its bytes and seconds."""
    done = subprocess.run(_discard(server, 1, "oldest"), check=True, capture_output=True, text=True, cwd=LAB)
    return json.loads(done.stdout.splitlines()[-1])[0]


def begin(server: Server, mariadb: MariaDB) -> None:
    """The replica begins at the beginning, so that it has the rows to apply changes to."""
    mariadb.sql(f"CHANGE MASTER TO master_host='127.0.0.1', master_port={server.port}, master_user='root', "
                "master_use_gtid=slave_pos; START SLAVE")  # fmt: skip
    gtid = server.sql("SELECT @@gtid_binlog_pos")[0][0]
    if mariadb.sql(f"SELECT MASTER_GTID_WAIT('{gtid}', 300)")[0][0] != "0":
        raise RuntimeError(f"the replica has not caught up\n{mariadb.log_tail()}")


@contextmanager
def replica(server: Server, mariadb: MariaDB, threads: str):
    """A MariaDB replica from here on; what it fetches is not applied with threads = "IO_THREAD". It skips what was
    written while it was away: rows that differ for that do not stop it (slave_exec_mode)."""
    gtid = server.sql("SELECT @@gtid_binlog_pos")[0][0]
    mariadb.resume()
    mariadb.sql(f"STOP SLAVE; SET GLOBAL gtid_slave_pos='{gtid}'; START SLAVE {threads}")
    deadline = time.monotonic() + 20
    while not any("Binlog Dump" in " ".join(r) for r in server.sql("SHOW PROCESSLIST")):
        if time.monotonic() > deadline:
            raise RuntimeError(f"the replica has not attached\n{mariadb.log_tail()}")
        time.sleep(0.1)
    try:
        yield
    finally:
        mariadb.sql("STOP SLAVE")
        mariadb.pause()
