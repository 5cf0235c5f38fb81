"""A client that reports everything a server answers, and comparisons of answers."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

import pymysql
import pymysql.err
from pymysql.constants import COMMAND


@dataclass
class Answer:
    """What a server said to one statement. Values are as the text protocol has them."""

    columns: list[str] | None = None
    rows: list[tuple] = field(default_factory=list)
    affected: int = 0
    insert_id: int = 0
    warnings: int = 0
    info: str = ""
    error: int = 0
    sqlstate: str = ""
    message: str = ""

    def __str__(self) -> str:
        if self.error:
            return f"ERROR {self.error} ({self.sqlstate}): {self.message}"
        if self.columns is not None:
            shown = ", ".join(map(repr, self.rows[:12])) + (" ..." if len(self.rows) > 12 else "")
            return f"{len(self.rows)} rows {self.columns}: {shown} (warnings {self.warnings})"
        return f"OK, affected {self.affected}, insert id {self.insert_id}, warnings {self.warnings}, '{self.info}'"


class Failure(AssertionError):
    """A statement that should have worked did not."""


_original_raise = pymysql.err.raise_mysql_exception


def _raise_with_state(data):
    try:
        _original_raise(data)
    except pymysql.MySQLError as error:
        error.sqlstate = data[4:9].decode("latin1") if data[3:4] == b"#" else ""
        raise


pymysql.err.raise_mysql_exception = _raise_with_state


class Client:
    """One connection as root over TCP. `run` never raises for an error of the server's."""

    def __init__(self, server, database: str | None = None, user: str = "root", password: str = "", **options):
        self.server = server
        options.setdefault("connect_timeout", 10)
        options.setdefault("read_timeout", 120)
        self.connection = pymysql.connect(
            host="127.0.0.1", port=server.port, user=user, password=password, database=database,
            charset="utf8mb4", autocommit=None, conv={}, **options,
        )  # fmt: skip
        self.log: list[str] = []

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_):
        self.close()

    def close(self) -> None:
        try:
            self.connection.close()
        except pymysql.MySQLError:
            pass

    def run(self, sql: str | bytes) -> Answer:
        self.send(sql)
        return self.receive()

    def send(self, sql: str | bytes) -> None:
        """Sends a statement, whose answer `receive` takes: other clients' statements may be under way at the same time."""
        text = sql if isinstance(sql, bytes) else sql.encode("utf8", "surrogateescape")
        self.connection._execute_command(COMMAND.COM_QUERY, text)

    def receive(self) -> Answer:
        try:
            self.connection._read_query_result()
        except pymysql.MySQLError as error:
            if error.args and isinstance(error.args[0], int) and error.args[0] not in (2006, 2013, 2014, 0):
                message = error.args[1] if len(error.args) > 1 else ""
                return Answer(error=error.args[0], sqlstate=getattr(error, "sqlstate", ""), message=str(message))
            raise
        return self.answer(self.connection._result)

    @staticmethod
    def answer(result) -> Answer:
        if result.description is not None:
            columns = [column[0] for column in result.description]
            return Answer(columns=columns, rows=list(result.rows or ()), warnings=result.warning_count or 0)
        message = result.message or b""
        if isinstance(message, bytes):
            message = message.decode("utf8", "replace")
        return Answer(
            affected=result.affected_rows, insert_id=result.insert_id or 0, warnings=result.warning_count or 0,
            info=message,
        )  # fmt: skip

    def ok(self, sql: str) -> Answer:
        answer = self.run(sql)
        if answer.error:
            raise Failure(f"{sql[:300]}\n  {answer}")
        return answer

    def fails(self, sql: str, *errors: int) -> Answer:
        answer = self.run(sql)
        if answer.error not in errors:
            raise Failure(f"{sql[:300]}\n  expected error {errors}, got {answer}")
        return answer

    def rows(self, sql: str) -> list[tuple]:
        return self.ok(sql).rows

    def ints(self, sql: str) -> list:
        """Rows of integers; a single column as a plain list."""
        rows = [tuple(None if v is None else int(v) for v in row) for row in self.rows(sql)]
        return [row[0] for row in rows] if rows and len(rows[0]) == 1 else rows

    def value(self, sql: str):
        rows = self.rows(sql)
        assert len(rows) == 1 and len(rows[0]) == 1, rows
        return rows[0][0]

    def background(self, sql: str) -> Waiting:
        """Runs a statement that is expected to wait in a thread of its own."""
        return Waiting(self, sql)


class Waiting:
    """A statement under way in another thread."""

    def __init__(self, client: Client, sql: str):
        self.sql = sql
        self.result: Answer | None = None
        self.failure: BaseException | None = None

        def work():
            try:
                self.result = client.run(sql)
            except BaseException as failure:  # handed to the test's thread
                self.failure = failure

        self.thread = threading.Thread(target=work, daemon=True)
        self.thread.start()

    def blocked(self, seconds: float = 0.3) -> bool:
        """It has not been answered after that long."""
        self.thread.join(seconds)
        return self.thread.is_alive()

    def answer(self, seconds: float = 30) -> Answer:
        self.thread.join(seconds)
        if self.thread.is_alive():
            raise Failure(f"no answer in {seconds} s: {self.sql}")
        if self.failure:
            raise self.failure
        return self.result

    def ok(self, seconds: float = 30) -> Answer:
        answer = self.answer(seconds)
        if answer.error:
            raise Failure(f"{self.sql}\n  {answer}")
        return answer


def wait_until(condition, explain=str, seconds: float = 20) -> None:
    """Waits until it is true; `explain` says what is the case if that does not come."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            raise Failure(f"not so after {seconds} s: {explain()}")
        time.sleep(0.05)


def differences(one: Answer, other: Answer, ordered: bool = True, texts: bool = False) -> list[str]:
    """What is not equal in two answers, in words."""
    found = []
    if (one.error, one.sqlstate) != (other.error, other.sqlstate):
        return [f"error: {one} | {other}"]
    if one.error:
        if texts and one.message != other.message:
            found.append(f"message: {one.message!r} | {other.message!r}")
        return found
    if one.columns != other.columns:
        found.append(f"columns: {one.columns} | {other.columns}")
    rows, other_rows = one.rows, other.rows
    if not ordered:
        rows, other_rows = sorted(rows, key=repr), sorted(other_rows, key=repr)
    if rows != other_rows:
        found.append(f"rows: {first_difference(rows, other_rows)}")
    for name in ("affected", "insert_id", "warnings") + (("info",) if texts else ()):
        if getattr(one, name) != getattr(other, name):
            found.append(f"{name}: {getattr(one, name)!r} | {getattr(other, name)!r}")
    return found


def first_difference(rows: list, other: list) -> str:
    counts = f"{len(rows)} | {len(other)} rows" if len(rows) != len(other) else f"{len(rows)} rows"
    for number, (a, b) in enumerate(zip(rows, other)):
        if a != b:
            return f"{counts}, row {number}: {a!r} | {b!r}"
    longer = rows if len(rows) > len(other) else other
    return f"{counts}, first surplus row: {longer[min(len(rows), len(other))]!r}"


def dump(client: Client, tables: list[str]) -> dict[str, list[tuple]]:
    """Every row of the tables in primary key order, with the columns' full values."""
    content = {}
    for table in tables:
        key = [row[4] for row in client.rows(f"SHOW INDEX FROM {table}") if row[2] == "PRIMARY"]
        order = f" ORDER BY {', '.join(key)}" if key else ""
        rows = client.rows(f"SELECT * FROM {table}{order}")
        content[table] = rows if key else sorted(rows, key=repr)
    return content


# A process starts with the peak of whoever started it, so a small one stands between.
_PEAK = "import resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr); sys.exit(code)"


def peak_memory(command: list[str], out: Path) -> int:
    """Runs a command that must succeed, its output to a file; the most memory that it had, in bytes."""
    with open(out, "wb") as file:
        done = subprocess.run([sys.executable, "-c", _PEAK, *command], stdout=file, stderr=subprocess.PIPE, timeout=300)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return int(done.stderr.split()[-1]) * 1024
