"""Statements that would run for minutes, and the ways in which they are ended."""

from __future__ import annotations

import os
import socket
import struct
import time
from dataclasses import dataclass, field

import pymysql

from support import Client

WAYS = ("kill query", "kill connection", "max_statement_time", "rst", "fin", "tls", "unix")


@dataclass
class Long:
    """A statement that takes minutes. `{n}` in it is a number of its own for each run."""

    sql: str
    # Statements of the same connection before it.
    before: tuple[str, ...] = ()
    # Statements of another connection that it will wait for, which stays open meanwhile.
    held: tuple[str, ...] = ()
    # Statements of the administrator's behind it.
    after: tuple[str, ...] = ()
    # Only these ways.
    ways: tuple[str, ...] = WAYS
    # One at a time: it takes much memory or time to get under way.
    alone: bool = False
    # Reads its result a little at a time, or not at all.
    reads: bool = True
    name: str = ""

    def __str__(self) -> str:
        return self.name or " ".join(self.sql.split())[:70]


def connect(server, way: str, database: str) -> Client:
    # PyMySQL takes TLS where it can if nothing is said.
    options = {"read_timeout": 300, "ssl_disabled": way != "tls"}
    if way == "tls":
        options["ssl"] = {"check_hostname": False, "verify_mode": "none"}
    if way == "unix":
        options["unix_socket"] = str(server.socket)
    return Client(server, database=database, local_infile=True, **options)


def close(client: Client, way: str) -> None:
    """Closes the socket without a word."""
    if way == "rst":
        client.connection._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.connection._force_close()


class Run:
    """One statement under way, to be ended in one of the ways."""

    def __init__(self, server, database: str, long: Long, way: str, number: int):
        self.way, self.long = way, long
        self.client = connect(server, way, database)
        self.id = self.client.connection.thread_id()
        for sql in long.before:
            self.client.ok(sql.replace("{n}", str(number)))
        if way == "max_statement_time":
            self.client.ok(f"SET max_statement_time = {TIMEOUT}")
        self.sql = long.sql.replace("{n}", str(number))

    def start(self) -> None:
        self.client.send(self.sql)
        self.sent = time.monotonic()

    def end(self, admin: Client) -> None:
        if self.way == "kill query":
            admin.run(f"KILL QUERY {self.id}")
        elif self.way == "kill connection":
            admin.run(f"KILL {self.id}")
        elif self.way != "max_statement_time":
            close(self.client, self.way)
        self.ended = time.monotonic() if self.way != "max_statement_time" else self.sent + TIMEOUT

    def outcome(self):
        """What the client was told."""
        if self.way in ("rst", "fin", "tls", "unix") or not self.long.reads:
            return None
        self.client.connection._sock.settimeout(20)
        try:
            answer = self.client.receive()
            return answer.error
        except (pymysql.MySQLError, OSError) as error:
            return error.args[0] if error.args else 2013

    def gone(self) -> None:
        connection = self.client.connection
        if connection._sock is not None:
            connection._force_close()


# Seconds.
TIMEOUT = 1.5


def running(admin: Client) -> dict[int, str]:
    """Connections with a statement under way."""
    mine = str(admin.connection.thread_id())
    return {
        int(row[0]): f"{row[4]} {row[6]} {(row[7] or '')[:60]}"
        for row in admin.rows("SHOW FULL PROCESSLIST")
        if row[0] != mine and row[4] in ("Query", "Execute", "Killed") and row[1] != "system user"
    }


def measure(server, database: str, long: Long, admin: Client, patience: float, ways=None) -> dict[str, float]:
    """Seconds until the statement was gone, by the way in which it was ended; `patience` if it was not."""
    ways = [w for w in (ways or WAYS) if w in long.ways]
    if long.alone:
        found = {}
        for way in ways:
            found |= _together(server, database, long, admin, patience, [way])
        return found
    return _together(server, database, long, admin, patience, ways)


def _together(server, database, long, admin, patience, ways) -> dict[str, float]:
    holder = Client(server, database=database)
    found: dict[str, float] = {}
    runs: list[Run] = []
    try:
        runs = [Run(server, database, long, way, n) for n, way in enumerate(ways)]
        for sql in long.held:
            holder.ok(sql)
        for run in runs:
            run.start()
        time.sleep(0.35)
        busy = running(admin)
        # One whose time was up before the last began has shown what is asked.
        idle = [r.way for r in runs if r.id not in busy and r.way != "max_statement_time"]
        assert not idle, f"{long}: ended by itself: {[(r.way, r.outcome()) for r in runs if r.way in idle]}"
        for run in runs:
            run.end(admin)
        waiting = list(runs)
        while waiting:
            busy = running(admin)
            now = time.monotonic()
            for run in waiting[:]:
                if run.id not in busy:
                    found[run.way] = max(0.0, now - run.ended)
                    waiting.remove(run)
                elif now - run.ended > patience:
                    found[run.way] = patience
                    waiting.remove(run)
            time.sleep(0.01)
        for run in runs:
            if found[run.way] < patience:
                run.told = run.outcome()
        wanted = {"kill query": (1317,), "kill connection": (1317, 1927, 2013, 2006), "max_statement_time": (1969,)}
        wrong = {
            r.way: r.told
            for r in runs
            if r.way in wanted and found[r.way] < patience and r.told is not None and r.told not in wanted[r.way]
        }
        assert not wrong, f"{long}: told {wrong}"
    finally:
        for run in runs:
            run.gone()
            if run.way not in found:
                admin.run(f"KILL {run.id}")
        holder.close()
        for sql in long.after:
            admin.run(sql)
    return found


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def spill_files(server) -> list[str]:
    """Temporary files of the server's that have no name any more, or have one."""
    names = []
    for fd in os.listdir(f"/proc/{server.process.pid}/fd"):
        try:
            to = os.readlink(f"/proc/{server.process.pid}/fd/{fd}")
        except OSError:
            continue
        if "(deleted)" in to and "/dev/shm" not in to and "memfd" not in to:
            names.append(to)
    return names
