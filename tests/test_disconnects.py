"""Clients that vanish, in a short form of `./torture --disconnects`; and what only looks like one."""

from __future__ import annotations

import os
import random
import socket
import sys
import time
from pathlib import Path

import pytest

from support import Client

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "torture"))
import disconnects  # noqa: E402


def test_nothing_is_left_of_clients_that_vanish(own_narwal):
    server = own_narwal("--max-connections=400", "--local-infile=ON")
    seed = int(os.environ.get("NARWAL_SEED", random.randrange(1 << 31)))
    print(f"NARWAL_SEED={seed}")
    assert not disconnects.run(server, 150, seed)


def busy(admin, number):
    return [row for row in admin.rows("SHOW PROCESSLIST") if int(row[0]) == number and row[4] == "Query"]


@pytest.mark.parametrize("way", ["tcp", "tls", "unix"])
def test_the_next_commands_are_no_close(narwal, way):
    """A client that has sent its next statement already gets the answers to both."""
    options = {"ssl_disabled": way != "tls"} | ({"unix_socket": str(narwal.socket)} if way == "unix" else {})
    with Client(narwal, **options) as c:
        c.send("SELECT SLEEP(1)")
        c.connection._sock.sendall(b"\x09\0\0\0\x03SELECT 7")
        assert c.receive().rows == [("0",)]
        c.connection._next_seq_id = 1
        assert c.receive().rows == [("7",)]


def test_a_unix_client_that_only_stops_sending_gets_its_answer(narwal):
    """Over a Unix socket it is told from one that has closed."""
    with Client(narwal, unix_socket=str(narwal.socket), ssl_disabled=True) as c:
        c.send("SELECT SLEEP(1)")
        c.connection._sock.shutdown(socket.SHUT_WR)
        assert c.receive().rows == [("0",)]


def test_a_client_that_reads_again_finds_the_error_in_order(narwal, connect):
    """KILL QUERY of a statement that is held up by its client: rows, then the error, and the session goes on."""
    admin, c = connect(), connect()
    c.ok("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(2000))")
    c.ok("INSERT INTO t WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 900) SELECT i, REPEAT('x', 2000) FROM r")
    c.ok("BEGIN")
    c.ok("INSERT INTO t VALUES (5000, 'mine')")
    number = c.connection.thread_id()
    c.send("SELECT a.id, b.s FROM t a, t b, t d")
    time.sleep(0.5)
    assert busy(admin, number)
    admin.ok(f"KILL QUERY {number}")
    end = time.monotonic() + 3
    while busy(admin, number):
        assert time.monotonic() < end, "it still sends"
        time.sleep(0.01)
    answer = c.receive()
    assert (answer.error, answer.sqlstate) == (1317, "70100")
    assert c.value("SELECT s FROM t WHERE id = 5000") == "mine"


def test_a_client_that_reads_nothing_is_closed_in_time(narwal, connect):
    """net_write_timeout counts from the last byte that the client took."""
    admin, c = connect(), connect()
    c.ok("CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(2000))")
    c.ok("INSERT INTO t WITH RECURSIVE r AS (SELECT 1 i UNION ALL SELECT i + 1 FROM r WHERE i < 900) SELECT i, REPEAT('x', 2000) FROM r")
    c.ok("SET net_write_timeout = 2")
    number = str(c.connection.thread_id())
    began = time.monotonic()
    c.send("SELECT a.id, b.s FROM t a, t b, t d")
    while any(row[0] == number for row in admin.rows("SHOW PROCESSLIST")):
        assert time.monotonic() - began < 10, "it waits on"
        time.sleep(0.05)
    assert time.monotonic() - began > 1.5


def test_a_commit_that_waits_is_not_undone_when_its_client_goes(narwal, connect):
    """A transaction whose COMMIT was sent is there or not as a whole, and its locks are gone."""
    admin = connect()
    admin.ok("CREATE TABLE t (id INT PRIMARY KEY)")
    for i in range(20):
        c = connect()
        c.ok("BEGIN")
        c.ok(f"INSERT INTO t VALUES ({2 * i}), ({2 * i + 1})")
        c.send("COMMIT")
        c.connection._force_close()
    admin.ok("SET lock_wait_timeout = 5")
    admin.ok("LOCK TABLES t WRITE")
    ids = admin.ints("SELECT id FROM t ORDER BY id")
    assert len(ids) % 2 == 0 and all(b == a + 1 for a, b in zip(ids[::2], ids[1::2]))
    admin.ok("UNLOCK TABLES")
