"""MERGE tables, and AUTO_INCREMENT that counts in groups of rows: after a crash, in a dump, on replicas, beside each other."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import STAND_IN
from support import Client
from test_dump_tool import load, tool

pytestmark = pytest.mark.skipif(STAND_IN, reason="compares with MariaDB in the corner files")

BEHIND = ("one", "two")
ALL = "SELECT a, b FROM d.{} ORDER BY a, b"


def fill(c: Client) -> None:
    c.ok("CREATE DATABASE d")
    c.ok("USE d")
    for t in BEHIND:
        c.ok(f"CREATE TABLE {t} (a INT NOT NULL, b VARCHAR(10), KEY (a)) ENGINE=MyISAM")
        c.ok(f"INSERT INTO {t} VALUES (1, '{t}'), (2, '{t}')")
    c.ok("CREATE TABLE both_ (a INT NOT NULL, b VARCHAR(10), KEY (a)) ENGINE=MERGE UNION=(one, two) INSERT_METHOD=LAST")
    c.ok("CREATE TABLE numbered (g INT, id INT AUTO_INCREMENT, PRIMARY KEY (g, id)) ENGINE=MyISAM")


def write(c: Client) -> None:
    c.ok("INSERT INTO both_ VALUES (3, 'new'), (4, 'new')")
    c.ok("UPDATE both_ SET b = 'changed' WHERE a = 2")
    c.ok("DELETE FROM both_ WHERE a = 1")
    c.ok("UPDATE both_ JOIN one USING (a) SET both_.b = 'joined'")
    c.ok("INSERT INTO numbered (g) VALUES (1), (1), (2)")
    c.ok("DELETE FROM numbered WHERE g = 1 AND id = 2")
    c.ok("INSERT INTO numbered (g) VALUES (1), (2), (2)")


WRITTEN = [("2", "joined"), ("2", "joined"), ("3", "new"), ("4", "new")]
NUMBERED = [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2"), ("2", "3")]


def rows(c: Client, statement: str) -> list[tuple[str, ...]]:
    return [tuple(str(v) for v in row) for row in c.rows(statement)]


def test_after_a_crash(own_narwal):
    server = own_narwal()
    with Client(server) as c:
        fill(c)
        c.ok("BEGIN")
        c.ok("INSERT INTO both_ VALUES (77, 'undone')")
        c.ok("UPDATE both_ SET b = 'undone'")
        c.ok("ROLLBACK")
        write(c)
        server.kill()
    server.start()
    with Client(server) as c:
        assert rows(c, ALL.format("both_")) == WRITTEN
        c.ok("INSERT INTO d.numbered (g) VALUES (2), (3)")
        assert rows(c, "SELECT g, id FROM d.numbered WHERE g > 1 ORDER BY g, id")[3:] == [("2", "4"), ("3", "1")]
        c.ok("INSERT INTO d.both_ VALUES (5, 'again')")
        assert rows(c, "SELECT a FROM d.two ORDER BY a") == [("2",), ("3",), ("4",), ("5",)]
        c.ok("DROP TABLE d.both_")
        assert rows(c, ALL.format("one")) == [("2", "joined")]


def test_a_dump_has_each_row_once(own_narwal):
    server = own_narwal()
    with Client(server) as c:
        fill(c)
        write(c)
    text = tool(server, "--single-transaction", "--databases", "d")
    with Client(server) as c:
        c.ok("DROP DATABASE d")
    load(server, text)
    with Client(server) as c:
        assert rows(c, ALL.format("both_")) == WRITTEN
        assert rows(c, "SELECT * FROM d.numbered") == NUMBERED
        c.ok("INSERT INTO d.numbered (g) VALUES (1)")
        assert c.value("SELECT MAX(id) FROM d.numbered WHERE g = 1") in (3, "3")


@pytest.mark.parametrize("kind", ["mariadb", "narwal"])
def test_replicas_end_equal(own_narwal, own_replica, own_narwal_replica, kind):
    server = own_narwal()
    replica = own_narwal_replica() if kind == "narwal" else own_replica()
    replica.follow(server.port)
    with Client(server) as c:
        fill(c)
        write(c)
    replica.catch_up(server.port)
    with Client(replica) as c:
        for t in (*BEHIND, "both_"):
            with Client(server) as s:
                assert rows(c, ALL.format(t)) == rows(s, ALL.format(t)), t
        assert rows(c, "SELECT * FROM d.numbered ORDER BY g, id") == NUMBERED
    with Client(server) as c:
        c.ok("TRUNCATE TABLE d.both_")
        c.ok("ALTER TABLE d.both_ UNION=(d.one)")
        c.ok("INSERT INTO d.both_ VALUES (9, 'last')")
    replica.catch_up(server.port)
    with Client(replica) as c:
        assert rows(c, ALL.format("one")) == [("9", "last")]
        assert rows(c, ALL.format("two")) == []


def test_numbers_of_a_group_are_drawn_one_after_the_other(narwal, db):
    with Client(narwal, database=db) as c:
        c.ok("CREATE TABLE n (g INT, id INT AUTO_INCREMENT, PRIMARY KEY (g, id)) ENGINE=MyISAM")

    def some(_) -> None:
        with Client(narwal, database=db) as c:
            for _ in range(25):
                c.ok("INSERT INTO n (g) VALUES (1)")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(some, range(4)))
    with Client(narwal, database=db) as c:
        assert rows(c, "SELECT id FROM n ORDER BY id") == [(str(i),) for i in range(1, 101)]


def test_rows_of_a_mariadb(own_narwal_replica, own_replica):
    source = own_replica(log=True)
    replica = own_narwal_replica()
    with Client(source) as c:
        c.ok("SET GLOBAL binlog_format = 'ROW'")
        c.ok("SET SESSION binlog_format = 'ROW'")
    replica.follow(source.port)
    with Client(source) as c:
        c.ok("SET SESSION binlog_format = 'ROW'")
        fill(c)
        write(c)
        c.ok("UPDATE both_ SET b = CONCAT(b, '!') WHERE a > 1")
        c.ok("CREATE TABLE keyed1 (a INT PRIMARY KEY, b INT) ENGINE=MyISAM")
        c.ok("CREATE TABLE keyed2 (a INT PRIMARY KEY, b INT) ENGINE=MyISAM")
        c.ok("CREATE TABLE keyed (a INT NOT NULL, b INT, KEY (a)) ENGINE=MERGE UNION=(keyed1, keyed2) INSERT_METHOD=FIRST")
        c.ok("INSERT INTO keyed2 VALUES (1, 1), (2, 2)")
        c.ok("INSERT INTO keyed VALUES (3, 3), (4, 4)")
        c.ok("UPDATE keyed SET b = b * 10")
        c.ok("DELETE FROM keyed WHERE a IN (2, 3)")
        c.ok("ALTER TABLE keyed UNION=(keyed2)")
        c.ok("UPDATE keyed SET b = 7")
    replica.catch_up(source.port)
    with Client(source) as s, Client(replica) as c:
        for t in (*BEHIND, "both_", "keyed1", "keyed2", "keyed"):
            assert rows(c, ALL.format(t)) == rows(s, ALL.format(t)), t
