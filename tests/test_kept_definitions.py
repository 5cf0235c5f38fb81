"""Clients that keep the column definitions of prepared statements (MARIADB_CLIENT_CACHE_METADATA, as MariaDB's own library does):
they are sent again when they have changed, and only then."""

from __future__ import annotations

import pytest

from testbed.wire import Connection


@pytest.fixture
def links(narwal, mariadb):
    """A connection to each server that keeps definitions, in a database with a small table."""
    made = [Connection(server.port, keeps_definitions=True) for server in (narwal, mariadb)]
    for link in made:
        link.query("CREATE DATABASE IF NOT EXISTS kept")
        link.query("USE kept")
        link.query("DROP TABLE IF EXISTS t")
        link.query("CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, y YEAR)")
        link.query("INSERT INTO t VALUES (1, 10, 2001), (2, 20, 0)")
    yield made
    for link in made:
        link.query("DROP DATABASE kept")
        link.close()


def run(link, statement, *values):
    r = link.execute(statement, *values)
    return r.definitions_sent, r.columns, r.rows


def test_definitions_come_once(links):
    for link in links:
        s = link.prepare("SELECT v, id AS n FROM t WHERE id >= ? ORDER BY id")
        for value, rows in [(1, [(10, 1), (20, 2)]), (2, [(20, 2)]), (9, [])]:
            assert run(link, s, value) == (False, ["v", "n"], rows)
        # The text protocol always has them.
        r = link.query("SELECT v FROM t WHERE id = 1")
        assert (r.definitions_sent, r.columns, r.rows) == (True, ["v"], [(10,)])
        # Statements are told apart.
        other = link.prepare("SELECT id FROM t WHERE id = 2")
        assert run(link, other) == (False, ["id"], [(2,)])
        assert run(link, s, 2) == (False, ["v", "n"], [(20, 2)])


def test_changed_definitions_come_again(links):
    for link in links:
        s = link.prepare("SELECT v FROM t WHERE id = 1")
        everything = link.prepare("SELECT * FROM t WHERE id = 1")
        assert run(link, s) == (False, ["v"], [(10,)])
        link.query("DROP TABLE t")
        link.query("CREATE TABLE t (id INT PRIMARY KEY, v BIGINT NOT NULL, y YEAR, w VARCHAR(10))")
        link.query("INSERT INTO t VALUES (1, 10, 2001, 'new')")
        assert run(link, s) == (True, ["v"], [(10,)])
        assert run(link, s) == (False, ["v"], [(10,)])
        sent, columns, rows = run(link, everything)
        assert (sent, columns, rows[0][3]) == (True, ["id", "v", "y", "w"], "new")
        assert run(link, everything)[0] is False
        # The plan is made anew, what it selects is the same.
        link.query("CREATE TABLE u (x INT)")
        assert run(link, s) == (False, ["v"], [(10,)])


def test_other_results(links):
    for link in links:
        years = link.prepare("SELECT y FROM t ORDER BY id")
        assert [run(link, years)[0] for _ in range(2)] == [False, False]
        update = link.prepare("UPDATE t SET v = v + ? WHERE id = 1")
        assert [link.execute(update, 5).affected for _ in range(2)] == [1, 1]
        tables = link.prepare("SHOW TABLES")
        for _ in range(2):
            assert link.execute(tables).rows == [("t",)]
        explain = link.prepare("EXPLAIN SELECT v FROM t WHERE id = 1")
        assert run(link, explain)[2][0][2] == "t"
        assert run(link, explain)[0] is False
