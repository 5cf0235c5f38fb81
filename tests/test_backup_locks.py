"""BACKUP STAGE and BACKUP LOCK beside MariaDB's, LOCK INSTANCE FOR BACKUP as MySQL 9.7 answers it."""

from __future__ import annotations

import pytest
from support import Client

STEPS = """
A BACKUP STAGE FLUSH
A BACKUP STAGE NONSENSE
A BEGIN
A INSERT INTO {db}.t VALUES (1, 1)
A BACKUP STAGE START
A SELECT @@in_transaction
B SELECT * FROM {db}.t
B BACKUP STAGE START
B BACKUP LOCK {db}.t
B BACKUP UNLOCK
A BACKUP STAGE START
A INSERT INTO {db}.t VALUES (2, 1)
A SELECT * FROM {db}.t FOR UPDATE
A CREATE TABLE {db}.v (a INT)
A LOCK TABLES {db}.t READ
A FLUSH TABLES WITH READ LOCK
A ANALYZE TABLE {db}.t
A CREATE USER {db}_u
A CREATE PROCEDURE {db}.p() SELECT 1
A CREATE TEMPORARY TABLE {db}.tt (a INT)
A INSERT INTO {db}.tt VALUES (1)
A DROP TEMPORARY TABLE {db}.tt
A BACKUP STAGE BLOCK_DDL
A BACKUP STAGE FLUSH
B INSERT INTO {db}.t VALUES (3, 1)
B CREATE TABLE {db}.v (a INT)
B TRUNCATE TABLE {db}.u
B CREATE VIEW {db}.w AS SELECT 1
B CREATE PROCEDURE {db}.p() SELECT 1
B LOCK TABLES {db}.t WRITE
B CREATE USER {db}_u
B DROP USER {db}_u
B CREATE TEMPORARY TABLE {db}.tt (a INT)
A BACKUP STAGE BLOCK_COMMIT
B INSERT INTO {db}.t VALUES (4, 1)
B INSERT INTO {db}.tt VALUES (1)
B CREATE USER {db}_u
A BACKUP STAGE END
A BACKUP STAGE END
B INSERT INTO {db}.t VALUES (6, 1)
A LOCK TABLES {db}.t READ
A BACKUP STAGE START
A BACKUP LOCK {db}.t
A UNLOCK TABLES
A FLUSH TABLES WITH READ LOCK
A BACKUP STAGE START
A UNLOCK TABLES
A BACKUP LOCK {db}.t
A BACKUP STAGE START
A INSERT INTO {db}.t VALUES (7, 1)
A ALTER TABLE {db}.u ADD c INT
B INSERT INTO {db}.t VALUES (8, 1)
B ALTER TABLE {db}.t ADD c INT
B RENAME TABLE {db}.t TO {db}.t9
B CREATE TRIGGER {db}.tr BEFORE INSERT ON {db}.t FOR EACH ROW SET @a = 1
B RENAME TABLE {db}.u TO {db}.u9, {db}.u9 TO {db}.u
B DROP DATABASE {db}
A BACKUP LOCK {db}.u
B TRUNCATE TABLE {db}.t
B TRUNCATE TABLE {db}.u
A BACKUP UNLOCK
A BACKUP UNLOCK
B TRUNCATE TABLE {db}.u
A CREATE PROCEDURE {db}.q() BACKUP STAGE START
A CREATE PROCEDURE {db}.q() BACKUP LOCK {db}.t
"""


def play(server, db: str, steps: str) -> list:
    seen = []
    with Client(server) as a, Client(server) as b:
        sessions = {"A": a, "B": b}
        a.ok(f"CREATE OR REPLACE DATABASE {db}")
        a.ok(f"CREATE TABLE {db}.t (a INT PRIMARY KEY, b INT)")
        a.ok(f"CREATE TABLE {db}.u (a INT PRIMARY KEY, b INT)")
        for session in sessions.values():
            session.ok("SET lock_wait_timeout = 1")
        for line in filter(None, steps.format(db=db).splitlines()):
            who, statement = line.split(" ", 1)
            answer = sessions[who].run(statement)
            seen.append((line, answer.error or answer.rows))
        # Locks end with the connection.
        a.ok(f"BACKUP LOCK {db}.t")
        a.ok("BACKUP UNLOCK")
        a.ok("BACKUP STAGE START")
    with Client(server) as c:
        c.ok("SET lock_wait_timeout = 10")
        c.ok("BACKUP STAGE START")
        c.ok("BACKUP STAGE END")
        c.ok(f"DROP DATABASE {db}")
    return seen


def test_stages_and_locks_are_mariadbs(narwal, mariadb):
    ours, theirs = play(narwal, "backup_locks", STEPS), play(mariadb, "backup_locks", STEPS)
    assert ours == theirs


def test_they_need_a_privilege(narwal):
    with Client(narwal) as root:
        root.ok("CREATE USER backup_u@'%'")
        with Client(narwal, user="backup_u") as c:
            for statement in ("BACKUP STAGE START", "BACKUP LOCK d.t", "BACKUP UNLOCK"):
                c.fails(statement, 1227)
        root.ok("DROP USER backup_u@'%'")


@pytest.mark.parametrize("who", ["other", "own"])
def test_a_locked_instance_keeps_its_definitions(own_narwal, who):
    narwal = own_narwal("--narwal-dialect=mysql")
    with Client(narwal) as a, Client(narwal) as b:
        a.ok("CREATE DATABASE d")
        a.ok("CREATE TABLE d.t (a INT)")
        b.ok("SET lock_wait_timeout = 1")
        a.ok("LOCK INSTANCE FOR BACKUP")
        b.ok("LOCK INSTANCE FOR BACKUP")
        b.ok("UNLOCK INSTANCE")
        b.ok("INSERT INTO d.t VALUES (1)")
        if who == "own":
            a.ok("CREATE TABLE d.u (a INT)")
            a.ok("CREATE USER x")
        else:
            for statement in ("CREATE TABLE d.u (a INT)", "ALTER TABLE d.t ADD b INT", "CREATE VIEW d.v AS SELECT 1", "CREATE USER x"):
                b.fails(statement, 1205)
        a.ok("UNLOCK INSTANCE")
        a.ok("UNLOCK INSTANCE")
        b.ok("CREATE TABLE d.w (a INT)")


@pytest.mark.parametrize("change", ["INSERT INTO t VALUES (2)", "ALTER TABLE t ADD b INT", "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW BEGIN END",
                                    "TRUNCATE TABLE t", "DROP TABLE t"])  # fmt: skip
def test_the_global_lock_waits_for_whoever_has_locked_a_table(narwal_server, db, change):
    """Who has locked a table may change it until the end, and whoever wants the global read lock gets it then."""
    with Client(narwal_server) as a, Client(narwal_server) as b:
        a.ok(f"USE {db}")
        a.ok("CREATE TABLE t (a INT)")
        a.ok("LOCK TABLES t WRITE")
        waiting = b.background("FLUSH TABLES WITH READ LOCK")
        assert waiting.blocked()
        a.ok(change)
        if not change.startswith("DROP"):
            assert waiting.blocked()
        a.ok("UNLOCK TABLES")
        waiting.ok()
        blocked = a.background("CREATE TABLE u (a INT)")
        assert blocked.blocked()
        b.ok("UNLOCK TABLES")
        blocked.ok()
