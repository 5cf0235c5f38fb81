"""Sequences over crashes, beside each other, and for accounts that may do little; temporary tables of sessions."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from conftest import STAND_IN
from support import Client

pytestmark = pytest.mark.skipif(STAND_IN, reason="compares with MariaDB in the corner files")


def take(client: Client, sequence: str) -> int:
    return int(client.value(f"SELECT NEXTVAL({sequence})"))


def test_a_crash_gives_no_number_twice(lab, own):
    server = own(lab.narwal())
    with Client(server) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE SEQUENCE d.cached CACHE 10")
        c.ok("CREATE SEQUENCE d.plain NOCACHE")
        c.ok("CREATE TABLE d.t (id BIGINT DEFAULT NEXTVAL(d.cached) PRIMARY KEY)")
        assert [take(c, "d.cached") for _ in range(3)] == [1, 2, 3]
        assert [take(c, "d.plain") for _ in range(3)] == [1, 2, 3]
        c.ok("BEGIN")
        c.ok("INSERT INTO d.t VALUES ()")
        assert take(c, "d.plain") == 4
        server.kill()
    server.start()
    with Client(server) as c:
        assert take(c, "d.cached") == 11, "the rest of the cache is lost, and nothing else"
        assert take(c, "d.plain") == 5
        assert c.rows("SELECT * FROM d.t") == []
        c.ok("DO SETVAL(d.cached, 40)")
        c.ok("ALTER SEQUENCE d.plain RESTART 7")
        server.kill()
    server.start()
    with Client(server) as c:
        assert take(c, "d.cached") == 41
        assert take(c, "d.plain") == 7
        assert int(c.value("SELECT COUNT(*) FROM d.plain")) == 1


@pytest.mark.parametrize("cache", ["NOCACHE", "CACHE 7"])
def test_sessions_beside_each_other(narwal, db, cache):
    with Client(narwal, database=db) as c:
        c.ok(f"CREATE SEQUENCE s INCREMENT 2 {cache}")

    def some(_) -> list[int]:
        with Client(narwal, database=db) as c:
            return [take(c, "s") for _ in range(100)]

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(some, range(4)))
    assert all(one == sorted(one) for one in taken)
    assert sorted(n for one in taken for n in one) == list(range(1, 800, 2))


def test_privileges(narwal, db):
    with Client(narwal, database=db) as root:
        root.ok("CREATE SEQUENCE s")
        root.ok("CREATE TABLE t (a INT)")
        root.ok("CREATE USER IF NOT EXISTS low@'%'")
        root.ok(f"GRANT SELECT ON {db}.s TO low@'%'")
        with Client(narwal, user="low", database=db) as low:
            assert low.run("SELECT NEXTVAL(s)").error == 1142
            assert low.run("SELECT SETVAL(s, 5)").error == 1142
            assert low.ok("SELECT LASTVAL(s)")
            assert low.run("CREATE TEMPORARY TABLE x (a INT)").error == 1044
        root.ok(f"GRANT INSERT ON {db}.s TO low@'%'")
        root.ok(f"GRANT CREATE TEMPORARY TABLES ON {db}.* TO low@'%'")
        with Client(narwal, user="low", database=db) as low:
            assert take(low, "s") == 1
            # Who may make temporary tables may do with them what there is to do.
            low.ok("CREATE TEMPORARY TABLE t (a INT PRIMARY KEY, b INT)")
            low.ok("INSERT INTO t VALUES (1, 2)")
            low.ok("UPDATE t SET b = b + 1 WHERE a = 1")
            low.ok("ALTER TABLE t ADD c INT DEFAULT 4")
            assert low.rows("SELECT b, c FROM t") == [("3", "4")]
            assert low.run("SELECT nope FROM t").error == 1054
            low.ok("DROP TABLE t")
            assert low.run("SELECT * FROM t").error == 1142
        root.ok("DROP USER low@'%'")


def test_a_default_needs_the_rights_on_its_sequence(narwal, db):
    with Client(narwal, database=db) as root:
        root.ok("CREATE SEQUENCE s")
        root.ok("CREATE TABLE t (a INT DEFAULT (NEXTVAL(s)), b INT)")
        root.ok("CREATE TABLE l (a INT DEFAULT (LASTVAL(s)), b INT)")
        root.ok("CREATE USER IF NOT EXISTS low@'%'")
        for table, rights in (("t", "SELECT, INSERT, UPDATE, ALTER"), ("l", "INSERT"), ("new", "CREATE")):
            root.ok(f"GRANT {rights} ON {db}.{table} TO low@'%'")
        refused = (
            "INSERT INTO t (b) VALUES (1)",
            "INSERT INTO t VALUES (1, 1)",
            "INSERT INTO t SELECT 1, 2",
            "UPDATE t SET a = DEFAULT",
            "SELECT DEFAULT(a) FROM t",
            "ALTER TABLE t ADD c INT DEFAULT (NEXTVAL(s))",
            "ALTER TABLE t ALTER b SET DEFAULT (LASTVAL(s))",
            "CREATE TABLE new (a INT DEFAULT (NEXTVAL(s)))",
        )
        with Client(narwal, user="low", database=db) as low:
            for text in (*refused, "INSERT INTO l (b) VALUES (1)"):
                assert low.run(text).error == 1142, text
            low.ok("UPDATE t SET a = 5")
            low.ok("SELECT * FROM t")
        root.ok(f"GRANT SELECT ON {db}.s TO low@'%'")
        with Client(narwal, user="low", database=db) as low:
            for text in refused:
                assert low.run(text).error == 1142, text
            low.ok("INSERT INTO l (b) VALUES (1)")
        root.ok(f"GRANT INSERT ON {db}.s TO low@'%'")
        with Client(narwal, user="low", database=db) as low:
            for text in refused:
                low.ok(text)
        root.ok("DROP USER low@'%'")


def test_temporary_tables_go_with_their_session(narwal, db):
    with Client(narwal, database=db) as root:
        before = root.rows("SHOW MASTER STATUS")
        with Client(narwal, database=db) as c:
            c.ok("CREATE TEMPORARY TABLE t (a INT)")
            c.ok("INSERT INTO t VALUES (1)")
            assert root.run("SELECT * FROM t").error == 1146
            # A server that others may only read.
            root.ok("SET GLOBAL read_only = ON")
            c.ok("INSERT INTO t VALUES (2)")
            root.ok("FLUSH TABLES WITH READ LOCK")
            c.ok("INSERT INTO t VALUES (3)")
            c.ok("TRUNCATE t")
            root.ok("UNLOCK TABLES")
            root.ok("SET GLOBAL read_only = OFF")
        assert root.rows("SHOW MASTER STATUS") == before
        with Client(narwal, database=db) as c:
            assert c.run("SELECT * FROM t").error == 1146
