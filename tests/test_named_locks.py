"""GET_LOCK between sessions; statements that KILL QUERY ends."""

from __future__ import annotations

import threading
import time

import pytest


def value(client, sql):
    return int(client.value(sql))


def until(condition):
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.01)


class Background:
    """A statement in a thread of its own."""

    def __init__(self, client, sql):
        self.answer = None

        def run():
            self.answer = client.run(sql)

        self.thread = threading.Thread(target=run)
        self.thread.start()

    @property
    def result(self):
        assert not self.answer.error, self.answer
        return int(self.answer.rows[0][0])

    def join(self):
        self.thread.join(20)
        assert not self.thread.is_alive()
        return self


def waits(admin, text):
    """Connections that run a statement with this text."""
    found = admin.rows("SHOW FULL PROCESSLIST")
    return [row[0] for row in found if row[7] and text in row[7] and "PROCESSLIST" not in row[7]]


def test_a_lock_goes_from_session_to_session(connect):
    a, b, admin = connect(), connect(), connect()
    assert value(a, "SELECT GET_LOCK('x', 0)") == 1
    assert value(b, "SELECT GET_LOCK('x', 0)") == 0
    assert value(b, "SELECT IS_FREE_LOCK('x')") == 0
    assert value(b, "SELECT IS_USED_LOCK('x')") == value(a, "SELECT CONNECTION_ID()")
    assert value(b, "SELECT RELEASE_LOCK('x')") == 0
    waiting = Background(b, "SELECT GET_LOCK('x', 60)")
    until(lambda: waits(admin, "GET_LOCK('x', 60)"))
    assert value(a, "SELECT RELEASE_LOCK('x')") == 1
    assert waiting.join().result == 1
    assert value(a, "SELECT GET_LOCK('x', 0.05)") == 0


def test_the_end_of_a_session_frees_its_locks(connect):
    a, b = connect(), connect()
    assert value(a, "SELECT GET_LOCK('gone', 0) + GET_LOCK('gone2', 0)") == 2
    a.close()
    assert value(b, "SELECT GET_LOCK('gone', 20)") == 1
    assert value(b, "SELECT GET_LOCK('gone2', 20)") == 1


def test_waiting_for_each_other_is_a_deadlock(connect):
    a, b, admin = connect(), connect(), connect()
    value(a, "SELECT GET_LOCK('p', 0)")
    value(b, "SELECT GET_LOCK('q', 0)")
    waiting = Background(a, "SELECT GET_LOCK('q', 60)")
    until(lambda: waits(admin, "GET_LOCK('q', 60)"))
    b.fails("SELECT GET_LOCK('p', 60)", 1213)
    value(b, "SELECT RELEASE_ALL_LOCKS()")
    assert waiting.join().result == 1


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SLEEP(60)",
        "SELECT GET_LOCK('held', 60)",
        "SELECT COUNT(*) FROM killed a, killed b, killed c, killed d, killed e WHERE a.x + b.x + c.x + d.x + e.x < 0",
        "SELECT x FROM killed WHERE x = 1 FOR UPDATE",
    ],
)
def test_kill_query_ends_a_statement(connect, sql):
    a, admin = connect(), connect()
    admin.ok("CREATE TABLE killed (x INT PRIMARY KEY)")
    admin.ok("INSERT INTO killed VALUES " + ", ".join(f"({n})" for n in range(256)))
    admin.ok("BEGIN")
    admin.ok("SELECT x FROM killed WHERE x = 1 FOR UPDATE")
    admin.ok("SELECT GET_LOCK('held', 0)")
    running = Background(a, sql)
    until(lambda: waits(admin, sql))
    admin.ok(f"KILL QUERY {waits(admin, sql)[0]}")
    assert running.join().answer.error == 1317
    assert value(a, "SELECT 1 + 1") == 2
    admin.ok("ROLLBACK")
