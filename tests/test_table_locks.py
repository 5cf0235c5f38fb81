"""READ locks of other sessions beside MariaDB's: who writes waits as long as `lock_wait_timeout` says, also where no row is found."""

from __future__ import annotations

from test_backup_locks import play

STEPS = """
A INSERT INTO {db}.t VALUES (1, 1)
A LOCK TABLES {db}.t READ
B SELECT * FROM {db}.t
B INSERT INTO {db}.t VALUES (2, 1)
B UPDATE {db}.t SET b = 2 WHERE a = 77
B DELETE FROM {db}.t WHERE a = 77
B INSERT INTO {db}.u SELECT * FROM {db}.t
B LOCK TABLES {db}.t WRITE
B LOCK TABLES {db}.t READ
A UNLOCK TABLES
A INSERT INTO {db}.t VALUES (3, 1)
B UNLOCK TABLES
A INSERT INTO {db}.t VALUES (3, 1)
A FLUSH TABLES {db}.t WITH READ LOCK
B REPLACE INTO {db}.t VALUES (3, 2)
A FLUSH TABLES {db}.u WITH READ LOCK
A UNLOCK TABLES
A FLUSH TABLES WITH READ LOCK
B INSERT INTO {db}.t VALUES (4, 1)
A UNLOCK TABLES
B INSERT INTO {db}.t VALUES (4, 1)
B SELECT * FROM {db}.t
"""


def test_who_writes_waits_for_read_locks(narwal, mariadb):
    ours, theirs = play(narwal, "read_locks", STEPS), play(mariadb, "read_locks", STEPS)
    assert ours == theirs


SHARED = """
A LOCK TABLES {db}.t WRITE CONCURRENT
A INSERT INTO {db}.t VALUES (1, 1)
B SELECT * FROM {db}.t
B INSERT INTO {db}.t VALUES (2, 1)
B UPDATE {db}.t SET b = 5 WHERE a = 2
B LOCK TABLES {db}.t WRITE CONCURRENT
B DELETE FROM {db}.t WHERE a = 2
A INSERT INTO {db}.t VALUES (3, 1)
A ALTER TABLE {db}.t ADD c INT
A TRUNCATE TABLE {db}.t
A DROP TABLE {db}.t
A SELECT * FROM {db}.u
B UNLOCK TABLES
B LOCK TABLES {db}.t WRITE
B ALTER TABLE {db}.t ADD c INT
B DROP TABLE {db}.t
A UNLOCK TABLES
B LOCK TABLES {db}.t WRITE
A LOCK TABLES {db}.t WRITE CONCURRENT
B UNLOCK TABLES
A LOCK TABLES {db}.t WRITE CONCURRENT, {db}.t AS x WRITE
B SELECT * FROM {db}.t
A UNLOCK TABLES
A LOCK TABLES {db}.t WRITE CONCURRENT
A UNLOCK TABLES
B ALTER TABLE {db}.t ADD c INT
B SELECT * FROM {db}.t
"""


def test_write_concurrent_keeps_definitions_and_lets_others_write(narwal, mariadb):
    ours, theirs = play(narwal, "shared_locks", SHARED), play(mariadb, "shared_locks", SHARED)
    assert ours == theirs
