"""Views beyond one server's answers: with whose privileges they read, through kill -9, through replicas both ways, and that
a merged view is read by its table's indexes. What they answer is compared in corner/views.sql and corner/view_writes.sql."""

from __future__ import annotations

import pytest

from conftest import COMMON, PRIMARY
from support import Client

BINLOG = ["--log-bin=bin", "--binlog-format=ROW", "--sync-binlog=1"]
NAMES = ["plain", "`odd ``view`", "checked", "grouped", "upper_one"]


def make(client: Client) -> None:
    client.ok("CREATE DATABASE d")
    client.ok("USE d")
    client.ok("CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY (a))")
    client.ok("INSERT INTO t VALUES (1, 10, 'x'), (2, 20, 'y'), (3, NULL, NULL)")
    client.ok("CREATE DEFINER=root@localhost VIEW plain AS SELECT * FROM t WHERE id < 3")
    client.ok("CREATE DEFINER=root@localhost VIEW `odd ``view` (`a b`, `select`) AS SELECT id, 'it''s' FROM t")
    client.ok("CREATE DEFINER=root@localhost SQL SECURITY INVOKER VIEW checked AS SELECT id, a FROM t WHERE a > 5 WITH CHECK OPTION")
    client.ok("CREATE ALGORITHM=TEMPTABLE DEFINER=root@localhost VIEW grouped AS SELECT a, COUNT(*) n FROM t GROUP BY a")
    client.ok("CREATE DEFINER=root@localhost VIEW upper_one AS SELECT plain.id, n FROM plain JOIN grouped ON plain.a = grouped.a")
    client.ok("CREATE DEFINER=root@localhost VIEW dropped AS SELECT 1")
    client.ok("DROP VIEW dropped")
    client.ok("CREATE DEFINER=root@localhost VIEW was AS SELECT 1 AS one")
    client.ok("RENAME TABLE was TO is_now")
    client.ok("ALTER DEFINER=root@localhost VIEW is_now AS SELECT 2 AS two")
    client.ok("INSERT INTO checked VALUES (4, 40)")


def state(server) -> dict:
    with Client(server, "d") as client:
        found = {"tables": client.rows("SHOW FULL TABLES")}
        for name in [*NAMES, "is_now"]:
            found[name] = [client.rows(f"SHOW CREATE VIEW {name}")[0][:2], sorted(client.rows(f"SELECT * FROM {name}"), key=repr)]
        return found


def test_views_survive_kills(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        make(client)
    before = state(server)
    server.kill()
    server.start()
    assert state(server) == before
    # Once more, from what a checkpoint stored rather than from the log.
    server.stop()
    server.start()
    assert state(server) == before
    with Client(server) as client:
        client.ok("DROP DATABASE d")
        client.ok("CREATE DATABASE d")
        assert client.rows("SHOW TABLES FROM d") == []


@pytest.mark.parametrize("kind", ["from", "to"])
def test_replicas_have_the_same_views(kind, lab, own):
    if kind == "to":
        primary, replica = own(lab.narwal(PRIMARY)), own(lab.replica())
    else:
        primary, replica = own(lab.replica([*COMMON, *BINLOG, *PRIMARY], log=True)), own(lab.narwal_replica())
    replica.follow(primary.port)
    with Client(primary) as client:
        make(client)
        client.ok("CREATE OR REPLACE DEFINER=root@localhost VIEW plain AS SELECT id, UPPER(b) AS big, a FROM t WITH CHECK OPTION")
    replica.catch_up(primary.port, 30)
    assert state(replica) == state(primary)


def test_whose_privileges_count(own_narwal, lab, own):
    for server in (own_narwal(), own(lab.mariadb())):
        with Client(server) as client:
            client.ok("CREATE DATABASE d")
            client.ok("USE d")
            client.ok("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
            client.ok("INSERT INTO t VALUES (1, 10)")
            for user in ("owner", "reader", "weak"):
                client.ok(f"CREATE USER {user}@'%'")
            client.ok("GRANT ALL ON d.* TO owner@'%'")
            client.ok("CREATE DEFINER=owner@'%' VIEW of_owner AS SELECT * FROM t")
            client.ok("CREATE DEFINER=owner@'%' SQL SECURITY INVOKER VIEW of_reader AS SELECT * FROM t")
            client.ok("CREATE DEFINER=weak@'%' VIEW of_weak AS SELECT * FROM t")
            client.ok("CREATE DEFINER=nobody@'%' VIEW of_nobody AS SELECT * FROM t")
            client.ok("GRANT SELECT ON d.t TO weak@'%'")
            client.ok("CREATE DEFINER=owner@'%' VIEW nested AS SELECT * FROM of_weak")
            client.ok("REVOKE SELECT ON d.t FROM weak@'%'")
            for view in ("of_owner", "of_reader", "of_weak", "of_nobody", "nested"):
                client.ok(f"GRANT SELECT, INSERT, UPDATE, DELETE ON d.{view} TO reader@'%'")
        with Client(server, "d", user="reader") as reader:
            assert reader.rows("SELECT * FROM of_owner") == [("1", "10")]
            reader.ok("UPDATE of_owner SET a = 11")
            reader.ok("INSERT INTO of_owner VALUES (2, 20)")
            reader.ok("DELETE FROM of_owner WHERE id = 2")
            reader.fails("SELECT * FROM t", 1142)
            reader.fails("SELECT * FROM of_reader", 1356)
            reader.fails("UPDATE of_reader SET a = 1", 1356)
            reader.fails("SELECT * FROM of_weak", 1356)
            reader.fails("SELECT * FROM nested", 1356)
            reader.fails("SELECT * FROM of_nobody", 1045)
            with Client(server, "d") as root:
                root.fails("SELECT * FROM of_nobody", 1449)
            reader.fails("SHOW CREATE VIEW of_owner", 1142)
            reader.fails("CREATE VIEW mine AS SELECT 1", 1142)
            reader.fails("DROP VIEW of_owner", 1142)
        with Client(server, "d", user="owner") as owner:
            owner.ok("CREATE VIEW own AS SELECT * FROM t")
            assert "DEFINER=`owner`@`%`" in owner.rows("SHOW CREATE VIEW own")[0][1]
            owner.fails("CREATE DEFINER=root@localhost VIEW other AS SELECT 1", 1227)
        with Client(server, "d") as client:
            client.ok("GRANT SELECT ON d.t TO reader@'%'")
            client.ok("GRANT SELECT ON d.t TO weak@'%'")
        with Client(server, "d", user="reader") as reader:
            assert reader.rows("SELECT * FROM of_reader") == [("1", "11")]
            assert reader.rows("SELECT * FROM nested") == [("1", "11")]
            reader.fails("UPDATE of_reader SET a = 1", 1356)
            reader.fails("UPDATE nested SET a = 1", 1356)


def test_a_merged_view_is_read_by_the_index(connect):
    client = connect()
    client.ok("CREATE TABLE t (id INT PRIMARY KEY, a INT, KEY (a))")
    client.ok("INSERT INTO t SELECT seq.n, seq.n FROM (WITH RECURSIVE s AS (SELECT 1 n UNION ALL SELECT n + 1 FROM s WHERE n < 900) SELECT n FROM s) seq")
    client.ok("CREATE VIEW v AS SELECT id AS k, a + 1 AS b FROM t WHERE a > 0")
    client.ok("CREATE VIEW w AS SELECT v.k, t.a FROM v JOIN t ON t.id = v.k")
    for sql, kinds in [
        ("SELECT b FROM v WHERE k = 7", [("t", "const")]),
        ("SELECT b FROM v WHERE k BETWEEN 3 AND 5", [("t", "range")]),
        ("SELECT a FROM w WHERE k = 7", [("t", "const"), ("t", "eq_ref")]),
        ("UPDATE v SET k = 1000 WHERE k = 7", [("t", "range")]),
    ]:
        found = [(row[2], row[3]) for row in client.rows(f"EXPLAIN {sql}")]
        assert found == kinds, sql
