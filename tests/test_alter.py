"""ALTER TABLE and its kin beyond one server's answers: through replicas both ways, through kill -9, beside readers."""

from __future__ import annotations

import random
import threading
import time

import pytest

from conftest import COMMON, STAND_IN
from support import Client, dump

SEED = random.SystemRandom().randrange(10**6)

# Statements that leave tables whose rows must be the same on a replica.
STATEMENTS = [
    "CREATE TABLE a (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20), n INT, KEY (v))",
    "INSERT INTO a (v, n) VALUES ('1', 1), ('2', NULL), ('x', 3)",
    "ALTER TABLE a ADD d DECIMAL(8, 2) NOT NULL DEFAULT 1.5 AFTER id, ADD t DATETIME DEFAULT CURRENT_TIMESTAMP",
    "INSERT INTO a (v, n) VALUES ('after', 4)",
    "ALTER TABLE a MODIFY v TEXT, DROP INDEX v, ADD INDEX (m), CHANGE n m BIGINT FIRST",
    "UPDATE a SET m = m + 1, v = CONCAT(v, '!') WHERE id > 1",
    "ALTER TABLE a DROP d",
    "DELETE FROM a WHERE id = 2",
    "ALTER TABLE a DROP PRIMARY KEY, MODIFY id INT, ADD UNIQUE (id)",
    "INSERT INTO a (id, v) VALUES (50, 'no key')",
    "UPDATE a SET v = 'changed' WHERE id = 50",
    "ALTER TABLE a ADD PRIMARY KEY (id), AUTO_INCREMENT = 90, COMMENT 'c'",
    "ALTER TABLE a RENAME b, ALTER m SET DEFAULT 8",
    "INSERT INTO b (id, v) VALUES (60, 'renamed')",
    "CREATE TABLE c LIKE b",
    "INSERT INTO c SELECT * FROM b WHERE id > 3",
    "RENAME TABLE b TO x, c TO b, x TO c",
    "DELETE FROM c WHERE id = 60",
    "CREATE OR REPLACE TABLE d (x INT)",
    "INSERT INTO d VALUES (1)",
    "CREATE OR REPLACE TABLE d (x INT PRIMARY KEY, y VARCHAR(9) DEFAULT 'yy')",
    "INSERT INTO d (x) VALUES (2)",
    "ALTER TABLE d CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
    "ALTER TABLE d RENAME COLUMN y TO z",
    "INSERT INTO d VALUES (3, 'Z')",
    "CREATE TABLE h (v INT)",
    "INSERT INTO h VALUES (1), (2), (3)",
    "ALTER TABLE h ADD w INT DEFAULT 7 FIRST",
    "UPDATE h SET w = v WHERE v > 1",
    "DELETE FROM h WHERE v = 2",
]
# Groups of a statement and rows, sequences, and temporary tables, which are not logged.
MADE = [
    "CREATE TABLE s (z INT DEFAULT 4) SELECT id, v FROM b",
    "INSERT INTO s (id, v) VALUES (1, 'more')",
    "CREATE OR REPLACE TABLE s1 SELECT COUNT(*) AS n, MAX(id) AS m FROM c",
    "CREATE TABLE s2 (PRIMARY KEY (w)) REPLACE SELECT w % 3 AS w, v FROM h",
    "CREATE TABLE s3 SELECT * FROM h WHERE v > 1000",
    "CREATE SEQUENCE q START 5 INCREMENT 2 CACHE 4",
    "CREATE TABLE o (id BIGINT DEFAULT NEXTVAL(q) PRIMARY KEY, v INT)",
    "INSERT INTO o (v) VALUES (1), (2), (3)",
    "ALTER SEQUENCE q MAXVALUE 100",
    "INSERT INTO o (v) VALUES (4)",
    "DO SETVAL(q, 50)",
    "INSERT INTO o (v) VALUES (5)",
    "CREATE SEQUENCE gone",
    "DROP SEQUENCE IF EXISTS gone, never",
    "CREATE OR REPLACE SEQUENCE q2 CYCLE MAXVALUE 3 NOCACHE",
    "DO NEXTVAL(q2), NEXTVAL(q2), NEXTVAL(q2), NEXTVAL(q2)",
    "CREATE TABLE q3 LIKE q2",
    "INSERT INTO q3 VALUES (7, 1, 9223372036854775806, 1, 1, 1000, 0, 0)",
    "CREATE TEMPORARY TABLE tmp SELECT * FROM o",
    "UPDATE tmp SET v = v + 100",
    "CREATE TABLE l LIKE tmp",
    "INSERT INTO l SELECT * FROM tmp",
    "ALTER TABLE tmp RENAME TO tmp2",
    "DROP TEMPORARY TABLE tmp2",
]


@pytest.mark.parametrize("way", ["narwal to mariadb", "narwal to narwal", "mariadb to narwal"])
def test_replicas(lab, own, way):
    source, target = way.split(" to ")
    if source == "narwal":
        primary = own(lab.narwal())
    else:
        binlog = ["--log-bin=bin", "--binlog-format=ROW", "--binlog-row-metadata=FULL"]
        primary = own(lab.replica([*COMMON, *binlog], log=True))
    follower = own(lab.replica() if target == "mariadb" else lab.narwal_replica())
    follower.follow(primary.port)
    with Client(primary) as c:
        c.ok("CREATE DATABASE alt")
        c.ok("USE alt")
        # Of a row for a sequence, MariaDB's replicas take the next number and the round only.
        whole_row = ["INSERT INTO q3 VALUES (8, 1, 9, 1, 1, 2, 0, 0)"] if target == "narwal" else []
        for sql in STATEMENTS + MADE + whole_row:
            c.ok(sql)
    follower.catch_up(primary.port, 30)
    found = []
    for server in (primary, follower):
        with Client(server, database="alt") as c:
            tables = sorted(row[0] for row in c.rows("SHOW TABLES"))
            found.append((tables, dump(c, tables)))
    assert found[0] == found[1]


@pytest.mark.skipif(STAND_IN, reason="about Narwal's crashes")
def test_killed_in_the_middle(own_narwal):
    """The table is the old one or the new one, whole."""
    rng = random.Random(SEED)
    print(f"seed {SEED}")
    server = own_narwal("--innodb-buffer-pool-size=16M")
    rows = 30_000
    with Client(server) as c:
        c.ok("CREATE DATABASE alt")
        c.ok("USE alt")
        c.ok("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100), n INT, UNIQUE (n))")
        for start in range(0, rows, 5000):
            c.ok("INSERT INTO t VALUES " + ",".join(f"({i}, 'text {i:080}', {i * 2})" for i in range(start, start + 5000)))
        started = time.monotonic()
        c.ok("ALTER TABLE t ADD x1 INT DEFAULT 1")
        took = time.monotonic() - started
    new = 1
    for _ in range(4):
        new += 1
        client = Client(server, database="alt")

        def alter(client=client, new=new):
            try:
                client.run(f"ALTER TABLE t ADD x{new} INT DEFAULT {new}, MODIFY n BIGINT")
            except Exception:  # noqa: BLE001 - the server dies
                pass

        thread = threading.Thread(target=alter)
        thread.start()
        time.sleep(rng.random() * took * 1.3)
        server.kill()
        thread.join()
        server.start()
        with Client(server, database="alt") as c:
            columns = [row[0] for row in c.rows("SHOW COLUMNS FROM t")]
            if columns[-1] != f"x{new}":
                new -= 1
            assert columns == ["id", "v", "n", *(f"x{i}" for i in range(1, new + 1))]
            sums = "SELECT COUNT(*), SUM(id), SUM(n), " + ", ".join(f"SUM(x{i})" for i in range(1, new + 1)) + " FROM t"
            of_ids = rows * (rows - 1) // 2
            expected = [rows, of_ids, of_ids * 2, *(i * rows for i in range(1, new + 1))]
            assert [int(v) for v in c.rows(sums)[0]] == expected
            assert c.rows("SELECT id FROM t WHERE n = 40000")[0][0] in (20000, "20000")
            c.ok(f"INSERT INTO t (id, v, n) VALUES ({rows}, 'new', 1)")
            c.ok(f"DELETE FROM t WHERE id = {rows}")


@pytest.mark.skipif(STAND_IN, reason="MariaDB's ALTER TABLE waits for these readers")
def test_snapshots_of_before(narwal, db):
    with Client(narwal, database=db) as reader, Client(narwal, database=db) as writer:
        writer.ok("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
        writer.ok("INSERT INTO t VALUES (1, 1), (2, 2)")
        writer.ok("CREATE TABLE u (id INT PRIMARY KEY)")
        for change in ("ADD w INT DEFAULT 3", "ADD INDEX (v)", "DROP w"):
            reader.ok("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            reader.rows("SELECT * FROM u")
            writer.ok(f"ALTER TABLE t {change}")
            answer = reader.run("SELECT id FROM t WHERE v > 0 ORDER BY id")
            # The rows of then, or the refusal; never none of them.
            assert answer.error == 1412 or [int(r[0]) for r in answer.rows] == [1, 2], (change, answer)
            reader.ok("ROLLBACK")
            assert len(reader.rows("SELECT id FROM t WHERE v > 0")) == 2


@pytest.mark.skipif(STAND_IN, reason="about Narwal's crashes")
def test_numbers_of_columns_that_are_no_integers_outlive_a_kill(lab):
    """The rows of the log tell recovery how far FLOAT and DOUBLE columns have counted, as those of integers do."""
    server = lab.narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE n")
        client.ok("CREATE TABLE n.d (a DOUBLE AUTO_INCREMENT PRIMARY KEY)")
        client.ok("CREATE TABLE n.f (a FLOAT AUTO_INCREMENT PRIMARY KEY)")
        for table in ("n.d", "n.f"):
            client.ok(f"INSERT INTO {table} VALUES (NULL), (NULL), (100)")
    server.kill()
    server.start()
    with Client(server) as client:
        for table in ("n.d", "n.f"):
            client.ok(f"INSERT INTO {table} VALUES (NULL)")
            assert [row[0] for row in client.rows(f"SELECT a + 0 FROM {table} ORDER BY a")] == ["1", "2", "100", "101"]
