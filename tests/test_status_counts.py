"""What statements do with rows, as SHOW STATUS counts it: beside MariaDB, where both read the same way."""

from __future__ import annotations

import pytest

from conftest import STAND_IN
from support import Client

pytestmark = pytest.mark.skipif(STAND_IN, reason="compares with MariaDB")

NAMES = """
    Delete_scan Empty_queries Executed_triggers Handler_commit Handler_delete Handler_read_first Handler_read_key Handler_read_last
    Handler_read_next Handler_read_prev Handler_read_rnd Handler_read_rnd_next Handler_update Handler_write Rows_read
    Select_full_join Select_range Select_scan Sort_priority_queue_sorts Sort_range Sort_rows Sort_scan Update_scan
""".split()

MADE = """
CREATE TABLE t (a INT PRIMARY KEY, b INT, c INT, d VARCHAR(20), KEY (b), UNIQUE KEY u (c)) ENGINE=InnoDB
INSERT INTO t SELECT seq, seq % 10, seq, CONCAT('x', seq) FROM seq_1_to_100
CREATE TABLE s (id INT PRIMARY KEY, t INT, x INT) ENGINE=InnoDB
INSERT INTO s SELECT seq, seq, seq % 7 FROM seq_1_to_50
CREATE TABLE r (a INT) ENGINE=InnoDB
INSERT INTO r VALUES (1), (2), (3)
CREATE TRIGGER r_delete BEFORE DELETE ON r FOR EACH ROW SET @a = OLD.a
DELETE FROM r WHERE a = 1
"""

ASKED = """
SELECT * FROM t WHERE a = 5
SELECT * FROM t WHERE a = 500
SELECT * FROM t WHERE a IN (1, 2, 3)
SET @five = 5, @text = '5'
SELECT * FROM t WHERE a = @five
SELECT * FROM t WHERE b = @text
UPDATE t SET d = 'w' WHERE a = @five + 1
SELECT * FROM t WHERE b = 3
SELECT * FROM t WHERE c = 3
SELECT * FROM t
SELECT * FROM t WHERE d = 'nothing'
SELECT COUNT(*) FROM t
SELECT b FROM t
SELECT a FROM t ORDER BY a LIMIT 5
SELECT a FROM t ORDER BY a DESC LIMIT 5
SELECT * FROM t ORDER BY d LIMIT 3
SELECT * FROM t ORDER BY d
SELECT b, COUNT(*) FROM t GROUP BY b
SELECT MAX(a) FROM t
SELECT * FROM t JOIN s ON s.x = t.d
SELECT * FROM t WHERE a = 1 FOR UPDATE
INSERT INTO t VALUES (1000, 1, 1000, 'q')
UPDATE t SET d = 'y' WHERE a = 1000
UPDATE t SET d = 'z' WHERE b = 3
UPDATE t SET b = b + 1
DELETE FROM t WHERE a = 1000
DELETE FROM s WHERE x = 3
DELETE FROM r
SELECT 1
"""


def counts(c: Client) -> dict[str, int]:
    listed = ", ".join(f"'{n}'" for n in NAMES)
    return {n: int(v) for n, v in c.rows(f"SHOW SESSION STATUS WHERE Variable_name IN ({listed})")}


def counted(c: Client, statement: str) -> dict[str, int]:
    """What a statement adds, without what asking adds."""
    before = counts(c)
    start = counts(c)
    asking = {n: start[n] - before[n] for n in start}
    c.run(statement)
    end = counts(c)
    return {n: v for n in end if (v := end[n] - start[n] - asking[n])}


def test_as_mariadb(both):
    narwal, mariadb = both
    for statement in MADE.strip().splitlines():
        for c in both:
            c.ok(statement)
    for statement in ASKED.strip().splitlines():
        assert counted(narwal, statement) == counted(mariadb, statement), statement


def test_global_counts_are_the_sum_of_all_sessions(own_narwal):
    server = own_narwal()
    name = "SHOW GLOBAL STATUS LIKE 'Handler_write'"
    with Client(server) as a:
        a.ok("CREATE DATABASE d")
        a.ok("CREATE TABLE d.t (a INT)")
        before = int(a.rows(name)[0][1])
        with Client(server) as b:
            b.ok("INSERT INTO d.t VALUES (1), (2)")
            a.ok("INSERT INTO d.t VALUES (3)")
            assert int(a.rows(name)[0][1]) == before + 3
        # The counts of a session that is gone stay.
        assert int(a.rows(name)[0][1]) == before + 3
        a.ok("FLUSH STATUS")
        assert a.rows("SHOW SESSION STATUS LIKE 'Handler_write'") == [("Handler_write", "0")]


def test_waits_for_locks_take_their_time(own_narwal):
    server = own_narwal()
    with Client(server) as a, Client(server) as b:
        a.ok("CREATE DATABASE d")
        a.ok("CREATE TABLE d.t (a INT PRIMARY KEY, b INT)")
        a.ok("INSERT INTO d.t VALUES (1, 1)")
        a.ok("BEGIN")
        a.ok("UPDATE d.t SET b = 2")
        b.ok("SET innodb_lock_wait_timeout = 1")
        assert b.run("UPDATE d.t SET b = 3").error == 1205
        shown = {n: int(v) for n, v in b.rows("SHOW STATUS LIKE 'Innodb_row_lock%'")}
        assert shown["Innodb_row_lock_waits"] == 1
        assert shown["Innodb_row_lock_current_waits"] == 0
        assert shown["Innodb_row_lock_time"] == shown["Innodb_row_lock_time_max"] == shown["Innodb_row_lock_time_avg"] >= 1000
