"""Narwal with MySQL's face: what MySQL's clients see, beside MySQL 8.4 where `scripts/peers` has fetched it."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
from narwal_lab.subjects import binary_of
from support import Client
from testbed.servers import MySQL, free_port

ROOT = Path(__file__).resolve().parents[1]
PEERS = Path(os.environ.get("NARWAL_PEERS", ROOT / ".peers"))

# What both servers must answer alike: rows, or the error's number, state and text.
SAME = """
SELECT 1 /*!80400 + 1 */ /*!80500 + 5 */ /*!50000 + 1 */ /*!100000 + 7 */
SELECT 1 /*M! + 1 */
SELECT @@sql_mode, @@collation_server, @@collation_connection, @@character_set_client, @@collation_database
SELECT @@global.gtid_mode, @@enforce_gtid_consistency, @@global.super_read_only, @@transaction_isolation, @@sql_require_primary_key
SELECT @@default_collation_for_utf8mb4, @@binlog_row_value_options, @@global.log_replica_updates, @@replica_parallel_type
SELECT 'a' = 'á', 'a ' = 'a', 'ß' = 'ss', 'a' < 'B'
SELECT COLLATION('x'), CHARSET('x')
SELECT 'a' = 'A' COLLATE utf8mb4_0900_as_cs, 'a' = 'A' COLLATE utf8mb4_0900_ai_ci, 'a' = 'A' COLLATE utf8mb4_0900_bin
SELECT REGEXP_LIKE('Narwal', '^nar'), REGEXP_LIKE('Narwal', '^nar', 'c')
SELECT IS_UUID('6ccd780c-baba-1026-9564-5b8c656024db'), IS_UUID('x'), HEX(UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db', 1))
SELECT BIN_TO_UUID(UUID_TO_BIN('6ccd780c-baba-1026-9564-5b8c656024db', 1), 1)
CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(20), j JSON, n INT DEFAULT 0)
INSERT INTO t (id, v, j) VALUES (1, 'eins', '{"a": {"b": [1, "z"]}}'), (2, 'zwei', '[1, 2]')
SELECT id, j->'$.a.b', j->>'$.a.b[1]', j->'$[1]' FROM t ORDER BY id
SELECT id FROM t WHERE j->>'$.a.b[1]' = 'z'
INSERT INTO t (id, n) VALUES (1, 5) AS new ON DUPLICATE KEY UPDATE n = t.n + new.n
INSERT INTO t (id, n) VALUES (1, 5) AS new(i, m) ON DUPLICATE KEY UPDATE n = m + i
INSERT INTO t SET id = 2, n = 7 AS new ON DUPLICATE KEY UPDATE n = new.n * 2
SELECT id, n FROM t ORDER BY id
VALUES ROW(1, 'a'), ROW(2, 'b')
SELECT column_1 FROM (VALUES ROW(1, 'a'), ROW(2, 'b')) AS x ORDER BY column_0 DESC
SELECT * FROM (VALUES ROW(1, 2), ROW(3, 4)) AS v(a, b) WHERE a > 1
CREATE TABLE u (id INT PRIMARY KEY, n INT)
INSERT INTO u VALUES ROW(1, 10), ROW(2, 20)
TABLE u ORDER BY id DESC LIMIT 1
INSERT INTO u SELECT id + 10, n FROM u
SELECT (SELECT COUNT(*) FROM (TABLE u) AS x), 1 IN (TABLE nope)
SELEC 1
SELECT * FROM nope
INSERT INTO t (id, v) VALUES (9, REPEAT('x', 21))
SET NAMES utf8mb4
SELECT @@collation_connection
SHOW VARIABLES LIKE 'super_read_only'
SHOW VARIABLES LIKE 'replica_net_timeout'
SELECT * FROM performance_schema.global_variables WHERE VARIABLE_NAME IN ('gtid_mode', 'super_read_only', 'log_replica_updates') ORDER BY 1
SHOW REPLICA STATUS
SELECT * FROM performance_schema.replication_connection_configuration
SELECT COUNT(*) FROM information_schema.COLUMN_STATISTICS WHERE SCHEMA_NAME = 'd'
SELECT DEFAULT_ENCRYPTION FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'd'
SELECT PAD_ATTRIBUTE, ID, IS_DEFAULT FROM information_schema.COLLATIONS WHERE COLLATION_NAME = 'utf8mb4_0900_ai_ci'
SHOW COLLATION LIKE 'utf8mb4_0900%'
CREATE TABLE views (table_name VARCHAR(64), view_definition LONGTEXT)
INSERT INTO views VALUES ('w', 'x')
SELECT table_name FROM (SELECT table_name, view_definition FROM information_schema.views WHERE table_schema = DATABASE() UNION ALL SELECT table_name, view_definition FROM views) AS x GROUP BY table_name, view_definition HAVING COUNT(*) = 1
SELECT COUNT(*) FROM information_schema.tables AS i JOIN views AS v ON v.table_name = i.table_name
SHOW CREATE DATABASE d
GRANT SELECT ON d.* TO nobody_here@localhost
CREATE TABLE p (id INT PRIMARY KEY, name VARCHAR(20), em VARCHAR(20) NOT NULL, UNIQUE KEY (em))
CREATE TABLE o (id INT PRIMARY KEY, p_id INT, total INT, KEY (p_id))
INSERT INTO p VALUES (1, 'a', 'a@'), (2, 'b', 'b@')
INSERT INTO o VALUES (1, 1, 10), (2, 1, 20), (3, 2, 5)
SELECT p.id, p.name, SUM(o.total) FROM p JOIN o ON o.p_id = p.id GROUP BY p.id ORDER BY p.id
SELECT o.p_id, p.name, COUNT(*) FROM p JOIN o ON o.p_id = p.id GROUP BY o.p_id ORDER BY 1
SELECT p.name, COUNT(*) FROM p JOIN o ON o.p_id = p.id GROUP BY p.em ORDER BY 1
SELECT p.name, o.total FROM p JOIN o ON o.p_id = p.id GROUP BY p.id
SELECT name, COUNT(*) FROM p WHERE id = 1
SELECT name, COUNT(*) FROM p
SELECT name, id, COUNT(*) FROM p GROUP BY name
SELECT ANY_VALUE(name), COUNT(*) FROM p WHERE id = 1
SELECT DISTINCT p_id FROM o ORDER BY total
SELECT DISTINCT p_id + 1 FROM o ORDER BY p_id
SELECT p_id, id, GROUPING(p_id), GROUPING(id), GROUPING(p_id, id), SUM(total) FROM o GROUP BY p_id, id WITH ROLLUP
SELECT IF(GROUPING(p_id), 'ALL', p_id) k, SUM(total) FROM o GROUP BY p_id WITH ROLLUP HAVING GROUPING(p_id) = 1 OR SUM(total) > 5
SELECT p_id, SUM(total) s FROM o GROUP BY p_id WITH ROLLUP ORDER BY GROUPING(p_id) DESC, p_id DESC
SELECT GROUPING(p_id) FROM o GROUP BY p_id
SELECT 1 MEMBER OF ('[1,2]'), 'x' MEMBER OF ('["x"]'), 3 MEMBER OF('[1]'), 1 MEMBER OF ('1'), CAST('[1]' AS JSON) MEMBER OF ('[[1]]')
SELECT 1 MEMBER OF ('x')
SELECT CAST('[1, 2]' AS JSON), CAST(1 AS JSON)
SELECT CAST('x' AS JSON)
SELECT JSON_VALUE('{"a": "5"}', '$.a' RETURNING UNSIGNED) + 1, JSON_VALUE('{"a": 1.5}', '$.a' RETURNING DECIMAL(4,2))
SELECT REGEXP_REPLACE('abc abc', 'b', 'X', 1, 2), REGEXP_SUBSTR('a1b2', '[0-9]', 1, 2), REGEXP_INSTR('abcabc', 'c', 1, 2, 1)
SELECT REGEXP_SUBSTR('abc', 'x'), REGEXP_REPLACE('abc', '(b)', '[$1]'), REGEXP_REPLACE('abc', 'x*', '-'), REGEXP_INSTR('é cat dog', 'dog', 2)
SELECT FORMAT_BYTES(0), FORMAT_BYTES(1023), FORMAT_BYTES(1048576), FORMAT_PICO_TIME(1), FORMAT_PICO_TIME(12345678), FORMAT_PICO_TIME(5e15)
SELECT id FROM p WHERE id = 1 FOR SHARE
SELECT p.id FROM p JOIN o x ON x.p_id = p.id WHERE x.id = 1 FOR UPDATE OF p, x NOWAIT
SELECT * FROM p FOR UPDATE OF nope
SELECT p.id, o.id FROM p JOIN o ON o.p_id = p.id ORDER BY 1, 2 FOR UPDATE OF p
SELECT p.id, o.id FROM p JOIN o ON o.p_id = p.id ORDER BY 1, 2 FOR UPDATE OF p NOWAIT FOR SHARE OF o SKIP LOCKED
SELECT p.id FROM p JOIN o FOR UPDATE OF p FOR SHARE OF p
SELECT p.id FROM p JOIN o FOR UPDATE FOR SHARE OF p
SELECT p.id FROM p JOIN o FOR SHARE OF o FOR UPDATE
CREATE ROLE IF NOT EXISTS r1, r2, r3
CREATE USER IF NOT EXISTS ur1, ur2
GRANT r1, r2 TO ur1, ur2
REVOKE r1, r3 FROM ur1
GRANT r3, r2 TO ur1 WITH ADMIN OPTION
CREATE TABLE checked (a INT, b INT, CHECK (a > 0), CONSTRAINT cb CHECK (b > a) ENFORCED)
SHOW CREATE TABLE checked
INSERT INTO checked VALUES (0, 1)
ALTER TABLE checked DROP CHECK cb
INSERT INTO p VALUES (1, 'x', 'q')
INSERT INTO p VALUES ('abc', 'x', 'a@')
ALTER TABLE p DROP COLUMN nope
SELECT nope FROM p
SELECT * FROM p WHERE nope = 1
SELECT STD(total), VARIANCE(total), STDDEV_SAMP(total) FROM o
SELECT CUME_DIST() OVER (ORDER BY id), PERCENT_RANK() OVER (ORDER BY id) FROM o
SELECT p.name, t.total FROM p, LATERAL (SELECT o.total FROM o WHERE o.p_id = p.id ORDER BY o.total DESC LIMIT 1) t ORDER BY 1
SELECT p.name, t.n, t.s FROM p LEFT JOIN LATERAL (SELECT COUNT(*) n, SUM(total) s FROM o WHERE o.p_id = p.id + 1) AS t ON t.n > 0 ORDER BY 1
SELECT p.id, t.* FROM p CROSS JOIN LATERAL (SELECT p.id * 2 AS a UNION ALL SELECT p.id * 3) AS t WHERE t.a > 2 ORDER BY 1, 2
SELECT p.id, t.a, u2.b FROM p JOIN LATERAL (SELECT p.id + 1 AS a) t ON TRUE JOIN LATERAL (SELECT t.a * p.id AS b FROM o WHERE o.id = t.a) AS u2 ON u2.b > 0 ORDER BY 1
SELECT id, (SELECT SUM(t.x + p.id) FROM o, LATERAL (SELECT o.total + p.id AS x) t WHERE t.x > p.id + 6) s FROM p ORDER BY id
SELECT * FROM LATERAL (SELECT 1 AS a) x
SELECT x.id FROM p x, LATERAL (SELECT nope FROM o WHERE o.p_id = x.id) t
SELECT o.id FROM o, LATERAL (SELECT p.name FROM p WHERE p.id = o.p_id AND EXISTS (SELECT 1 FROM o o2 WHERE o2.p_id = p.id AND o2.total < o.total)) t ORDER BY 1
UPDATE p JOIN LATERAL (SELECT MAX(total) m FROM o WHERE o.p_id = p.id) t ON TRUE SET p.name = t.m
SELECT id, name FROM p ORDER BY id
SELECT t.a FROM (SELECT id FROM p) x, LATERAL (SELECT COUNT(*) a FROM o WHERE o.p_id = x.id) t ORDER BY 1
WITH x AS (SELECT 1 a) UPDATE p JOIN x ON p.id = x.a SET p.name = 'cte'
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) UPDATE p SET name = (SELECT MAX(n) FROM r) WHERE id = 2
SELECT id, name FROM p ORDER BY id
WITH x AS (SELECT 2 a), y AS (SELECT a + 1 b FROM x) DELETE FROM o WHERE id IN (SELECT b FROM y)
WITH x AS (SELECT 1 a) DELETE o FROM o JOIN x ON o.id = x.a
SELECT id FROM o ORDER BY id
WITH x AS (SELECT 1 a) UPDATE p SET name = nope
SHOW TABLE STATUS LIKE 'nope'
SELECT 1
SHOW WARNINGS
SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci
SELECT @@collation_connection
SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = 'd' AND TABLE_NAME = 't'
SHOW INDEX FROM u
CREATE USER face_told@localhost IDENTIFIED BY 'pw'
GRANT SELECT, INSERT (id) ON d.p TO face_told@localhost
SHOW GRANTS FOR face_told@localhost
DROP USER face_told@localhost
CREATE TABLE fx (id INT PRIMARY KEY, a INT, b VARCHAR(20), c TEXT, j JSON, dt DATETIME)
CREATE INDEX no ON fx ((a))
CREATE INDEX no ON fx ((UPPER(c)))
CREATE INDEX no ON fx ((j->'$.x'))
CREATE INDEX no ON fx ((RAND()))
CREATE INDEX no ON fx ((nope + 1))
CREATE INDEX no ON fx ((a + 1)(10))
CREATE INDEX no ON fx ((SELECT 1))
CREATE TABLE no (a INT, PRIMARY KEY ((a + 1)))
CREATE TABLE no (a INT AUTO_INCREMENT PRIMARY KEY, KEY ((a + 1)))
CREATE INDEX i1 ON fx ((CAST(j->>'$.x' AS CHAR(30))))
CREATE INDEX i2 ON fx ((a + 1), b)
ALTER TABLE fx ADD UNIQUE INDEX i5 ((CASE WHEN a > 0 THEN b END)), ADD INDEX ((LOWER(b)), (YEAR(dt)) DESC)
SHOW CREATE TABLE fx
SHOW COLUMNS FROM fx
SELECT INDEX_NAME, SEQ_IN_INDEX, COLUMN_NAME, COLLATION, NULLABLE, EXPRESSION FROM information_schema.STATISTICS WHERE TABLE_NAME = 'fx' ORDER BY 1, 2
SELECT * FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_NAME = 'fx'
INSERT INTO fx VALUES (1, 1, 'X', 'c', '{"x": "one"}', '2024-01-01')
INSERT INTO fx (id, a, b) VALUES (2, 2, 'Y'), (3, 3, NULL)
INSERT INTO fx (id, a, b) VALUES (4, 1, 'x')
SELECT * FROM fx ORDER BY id
SELECT id FROM fx WHERE a + 1 = 3
SELECT id FROM fx WHERE CAST(j->>'$.x' AS CHAR(30)) = 'one'
SELECT x.id, y.id FROM fx x LEFT JOIN fx y ON y.a + 1 = x.a ORDER BY 1, 2
UPDATE fx SET a = 5 WHERE a + 1 = 4
DELETE FROM fx WHERE LOWER(b) = 'y'
SELECT id, a FROM fx WHERE a + 1 > 1 ORDER BY a + 1 DESC
ALTER TABLE fx DROP COLUMN a
ALTER TABLE fx RENAME COLUMN b TO bb
ALTER TABLE fx MODIFY b VARCHAR(30), ADD COLUMN n INT
ALTER TABLE fx RENAME INDEX i1 TO i1r, DROP INDEX functional_index, DROP COLUMN dt
SHOW CREATE TABLE fx
CREATE TABLE gn (id INT, v INT GENERATED ALWAYS AS (id + 1) VIRTUAL NOT NULL, w INT AS (id * 2) STORED NOT NULL UNIQUE, x INT AS (id) VIRTUAL NULL)
SHOW CREATE TABLE gn
INSERT INTO gn (id) VALUES (1)
INSERT INTO gn (id) VALUES (NULL)
INSERT INTO gn (id, v) VALUES (2, 5)
INSERT INTO gn (id, v) VALUES (2, DEFAULT)
SELECT * FROM gn ORDER BY id
CREATE TABLE ck (a INT CHECK (a > 0), b INT CONSTRAINT bpos CHECK (b > 0) NOT ENFORCED NOT NULL, CHECK (a < b) NOT ENFORCED, CONSTRAINT z CHECK (a <> 5) ENFORCED)
SHOW CREATE TABLE ck
SELECT CONSTRAINT_NAME, CONSTRAINT_TYPE, ENFORCED FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_NAME = 'ck' ORDER BY 1
INSERT INTO ck VALUES (5, -1)
INSERT INTO ck VALUES (1, -1)
ALTER TABLE ck ALTER CHECK bpos ENFORCED
ALTER TABLE ck ALTER CONSTRAINT z NOT ENFORCED
INSERT INTO ck VALUES (5, -1)
ALTER TABLE ck ALTER CHECK z ENFORCED
ALTER TABLE ck ALTER CHECK nope ENFORCED
ALTER TABLE ck ALTER CONSTRAINT nope NOT ENFORCED
ALTER TABLE ck RENAME COLUMN a TO aa
ALTER TABLE ck ADD COLUMN d INT CHECK (d > 1) NOT ENFORCED
ALTER TABLE ck DROP COLUMN d, DROP CHECK bpos
SELECT * FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_NAME LIKE 'ck%'
CREATE TABLE fkc (id INT, FOREIGN KEY (id) REFERENCES p (id) ON DELETE CASCADE)
SELECT * FROM information_schema.REFERENTIAL_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = 'd'
SELECT * FROM information_schema.TABLES_EXTENSIONS WHERE TABLE_NAME = 'fkc'
SHOW CREATE TABLE ck
"""

TABLE = """CREATE TABLE shown (id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY, a INT DEFAULT 0, b TINYINT(1) DEFAULT 1,
  c VARCHAR(10) COLLATE utf8mb4_bin, d VARCHAR(10) CHARACTER SET latin1,
  e TIMESTAMP DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, f DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3),
  g DECIMAL(10,2) DEFAULT 1.5, i VARCHAR(36) DEFAULT (UUID()), j JSON, k ENUM('x','y') DEFAULT 'x', l BIT(3) DEFAULT b'101',
  m YEAR, n INT ZEROFILL, o INT INVISIBLE, q TEXT, r BOOL NOT NULL DEFAULT TRUE, KEY (a DESC), UNIQUE KEY uq (c), KEY inv (b) INVISIBLE) COMMENT 'tt'"""


@dataclass
class Door:
    """Where a server lets clients in with MySQL's face."""

    port: int
    socket: Path


@pytest.fixture(scope="module", params=["process", "door"])
def face(request, lab, tmp_path_factory):
    """MySQL's face: a server's, and that of a port and a socket of a server that is a MariaDB to all others."""
    if request.param == "process":
        return lab.narwal(["--narwal-dialect=mysql", "--server-id=7"])
    door = Door(free_port(), tmp_path_factory.mktemp("door") / "mysql.sock")
    lab.narwal(["--server-id=17", f"--narwal-mysql-port={door.port}", f"--narwal-mysql-socket={door.socket}"])
    return door


@pytest.fixture(scope="module")
def mysql(tmp_path_factory):
    if not (PEERS / "mysql-8.4" / ".complete").exists():
        pytest.skip("scripts/peers mysql-8.4 has not been run")
    binary, loader = binary_of(str(PEERS / "mysql-8.4"), ("mysqld",))
    args = ["--server-id=77", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--innodb-buffer-pool-size=64M"]
    server = MySQL(tmp_path_factory.mktemp("mysql"), args, binary=str(binary), loader=loader)
    server.create()
    server.start(120)
    yield server
    server.kill()


def fresh(server) -> Client:
    c = Client(server)
    c.ok("DROP DATABASE IF EXISTS d")
    c.ok("CREATE DATABASE d")
    c.ok("USE d")
    return c


def test_the_same_answers_as_mysql(face, mysql):
    ours, theirs = fresh(face), fresh(mysql)
    wrong = []
    for statement in SAME.strip().splitlines():
        a, b = ours.run(statement), theirs.run(statement)
        same = (a.error, a.sqlstate, a.message, a.rows) == (b.error, b.sqlstate, b.message, b.rows)
        if not same or (a.columns or []) != (b.columns or []):
            wrong.append(f"{statement}\n  narwal: {a}\n  mysql:  {b}")
    assert not wrong, "\n".join(wrong)


def test_tables_are_shown_in_mysqls_words(face, mysql):
    ours, theirs = fresh(face), fresh(mysql)
    for c in (ours, theirs):
        c.ok(TABLE)
    for statement in ("SHOW CREATE TABLE shown", "SHOW COLUMNS FROM shown"):
        assert ours.run(statement).rows == theirs.run(statement).rows, statement
    columns = (
        "SELECT COLUMN_NAME, COLUMN_TYPE, DATA_TYPE, COLUMN_DEFAULT, EXTRA, COLLATION_NAME, GENERATION_EXPRESSION, SRS_ID "
        "FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' ORDER BY ORDINAL_POSITION"
    )
    assert ours.run(columns).rows == theirs.run(columns).rows


def test_system_tables_have_mysqls_columns(face, mysql):
    """Every table of these schemas that is there can be read, and has the columns that it has in MySQL, in their order."""
    ours, theirs = fresh(face), fresh(mysql)
    columns = (
        "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME FROM information_schema.COLUMNS "
        "WHERE TABLE_SCHEMA IN ('information_schema', 'performance_schema', 'sys') ORDER BY 1, 2, ORDINAL_POSITION"
    )
    expected: dict[tuple, list] = {}
    for schema, table, column in theirs.run(columns).rows:
        expected.setdefault((schema, table), []).append(column)
    wrong, found = [], 0
    for (schema, table), names in expected.items():
        read = ours.run(f"SELECT * FROM {schema}.`{table}` LIMIT 1")
        # Roles are MariaDB's.
        if read.error in (1109, 1146) or table in ("APPLICABLE_ROLES", "ENABLED_ROLES"):
            continue
        found += 1
        if read.error or read.columns != names:
            wrong.append(f"{schema}.{table}: {read.error} {read.message} {read.columns} {names}")
    assert not wrong, "\n".join(wrong)
    assert found > 220
    assert ours.run("SELECT COUNT(*) FROM sys.version").rows == [("1",)]
    assert ours.run("SELECT COUNT(*) FROM performance_schema.threads WHERE PROCESSLIST_ID = CONNECTION_ID()").rows == [("1",)]


def test_it_says_that_it_is_mysql(face):
    with Client(face) as c:
        version = c.run("SELECT VERSION()").rows[0][0]
        assert version.startswith("8.4.") and "narwal" in version and "MariaDB" not in version
        assert c.connection.server_version == version
        assert c.run("SELECT @@narwal_dialect").rows == [("MYSQL",)]
        c.ok("CREATE USER sha IDENTIFIED BY 'secret'")
        assert c.run("SELECT plugin FROM mysql.user WHERE User = 'sha'").rows == [("caching_sha2_password",)]


def test_a_folder_opens_with_either_face(lab):
    server = lab.narwal(["--narwal-dialect=mysql", "--server-id=8"])
    c = fresh(server)
    c.ok("CREATE TABLE t (v VARCHAR(20) PRIMARY KEY, j JSON)")
    c.ok("INSERT INTO t VALUES ('Straße', '{}')")
    c.close()
    server.stop()
    server.args = []
    server.start()
    with Client(server) as c:
        assert "COLLATE=utf8mb4_uca1400_nopad_ai_ci" in c.run("SHOW CREATE TABLE d.t").rows[0][1]
        assert "MariaDB" in c.run("SELECT VERSION()").rows[0][0]
        assert c.run("INSERT INTO d.t VALUES ('STRASSE', '{}')").error == 1062
        c.ok("CREATE TABLE d.u (v VARCHAR(9) COLLATE utf8mb4_0900_as_cs)")
    lab.remove(server)


def test_two_faces_at_once(lab, tmp_path):
    door = Door(free_port(), tmp_path / "mysql.sock")
    server = lab.narwal(["--server-id=18", f"--narwal-mysql-port={door.port}", f"--narwal-mysql-socket={door.socket}"])
    with Client(server) as mariadb, Client(door) as mysql, Client(door, unix_socket=str(door.socket)) as local:
        def both(sql: str) -> tuple:
            a, b, c = mariadb.run(sql), mysql.run(sql), local.run(sql)
            assert (b.error, b.rows) == (c.error, c.rows), sql
            return a.rows[0][0] if a.rows else a.error, b.rows[0][0] if b.rows else b.error

        assert both("SELECT @@narwal_dialect") == ("MARIADB", "MYSQL")
        assert both("SELECT @@port") == (str(server.port), str(door.port))
        assert both("SELECT @@socket") == (str(server.socket), str(door.socket))
        assert both("SELECT @@version = VERSION()") == ("1", "1")
        assert both("SELECT @@sql_mode LIKE '%ONLY_FULL_GROUP_BY%'") == ("0", "1")
        assert both("SELECT @@global.sql_mode LIKE '%ONLY_FULL_GROUP_BY%'") == ("0", "1")
        # A table of one is a table of the other, each in its own words.
        mysql.ok("CREATE DATABASE two")
        mysql.ok("CREATE TABLE two.t (id INT PRIMARY KEY, v VARCHAR(9), j JSON, KEY ((LOWER(v))))")
        mariadb.ok("INSERT INTO two.t (id, v, j) VALUES (1, 'Ab', '{}')")
        assert both("SELECT id FROM two.t WHERE LOWER(v) = 'ab'") == ("1", "1")
        ours, theirs = (c.run("SHOW CREATE TABLE two.t").rows[0][1] for c in (mariadb, mysql))
        assert "utf8mb4_uca1400_nopad_ai_ci" in ours and "utf8mb4_0900_ai_ci" in theirs
        assert "!hidden!" in ours and "(lower(`v`))" in theirs
        assert both("SELECT DATA_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA='two' AND COLUMN_NAME='j'") == ("longtext", "json")
        # What SET GLOBAL says holds for both; a default is each one's own.
        mysql.ok("SET GLOBAL sql_mode = 'ANSI_QUOTES', GLOBAL max_connections = 77")
        assert both("SELECT @@global.sql_mode") == ("ANSI_QUOTES", "ANSI_QUOTES")
        assert both("SELECT @@global.max_connections") == ("77", "77")
        mariadb.ok("SET GLOBAL sql_mode = DEFAULT")
        assert both("SELECT @@global.sql_mode LIKE '%ONLY_FULL_GROUP_BY%'") == ("0", "1")
        # What works on the whole server is one.
        one = both("SELECT @@global.rpl_semi_sync_master_wait_point")
        assert one[0] == one[1] == "AFTER_COMMIT"
        ours, theirs = (c.run("SELECT 1 FROM").message for c in (mariadb, mysql))
        assert "MariaDB server" in ours and "MySQL server" in theirs
    lab.remove(server)


def test_settings_that_are_kept(lab):
    """SET PERSIST, PERSIST_ONLY and RESET PERSIST, over restarts; what options say comes before."""
    server = lab.narwal(["--narwal-dialect=mysql", "--server-id=19", "--max-connections=50"])
    kept = "SELECT * FROM performance_schema.persisted_variables ORDER BY 1"
    values = "SELECT @@global.max_connections, @@global.sort_buffer_size, @@global.sql_mode, @@global.back_log, @@global.innodb_lock_wait_timeout"
    with Client(server) as c:
        c.ok("SET PERSIST max_connections = 77, sort_buffer_size = 300000")
        c.ok("SET @@PERSIST.sql_mode = 'ANSI_QUOTES', @@PERSIST_ONLY.back_log = 99, PERSIST_ONLY innodb_lock_wait_timeout = 7, SESSION wait_timeout = 9")
        assert c.run(values).rows[0][:3] == ("77", "300000", "ANSI_QUOTES")
        assert c.run(values).rows[0][4] == "50" and c.run("SELECT @@wait_timeout").rows == [("9",)]
        c.ok("SET GLOBAL sort_buffer_size = 400000")
        assert [n for n, _ in c.run(kept).rows] == ["back_log", "innodb_lock_wait_timeout", "max_connections", "sort_buffer_size", "sql_mode"]
        for wrong, code in (
            ("SET PERSIST back_log = 5", 1238), ("SET PERSIST nope = 5", 1193), ("SET PERSIST max_connections = 'x'", 1232),
            ("SET PERSIST_ONLY version = 'x'", 1238), ("RESET PERSIST nope", 3615), ("SET PERSIST max_connections = 5, nope = 1", 1193),
        ):  # fmt: skip
            assert c.run(wrong).error == code, wrong
        c.ok("RESET PERSIST IF EXISTS nope")
        assert c.run("SHOW WARNINGS").rows[0][1] == "3615"
        c.ok("CREATE USER IF NOT EXISTS plain")
    with Client(server, user="plain") as c:
        assert c.run("SET PERSIST max_connections = 5").error == 1227
        assert c.run("RESET PERSIST").error == 1227
    server.kill()
    server.start()
    with Client(server) as c:
        assert c.run(values).rows == [("77", "300000", "ANSI_QUOTES", "99", "7")]
        assert c.run("SELECT VARIABLE_SOURCE FROM performance_schema.variables_info WHERE VARIABLE_NAME = 'max_connections'").rows == [("PERSISTED",)]
        c.ok("RESET PERSIST max_connections")
        c.ok("RESET PERSIST sql_mode")
    server.args.append("--persisted-globals-load=OFF")
    server.stop()
    server.start()
    with Client(server) as c:
        assert c.run(values).rows[0][:2] == ("50", "2097152") and len(c.run(kept).rows) == 3
        c.ok("RESET PERSIST")
    server.args.pop()
    server.stop()
    (server.datadir / "narwal-auto.json").write_text('{"version": 1, "variables": {"no_such_setting": "5"}}')
    server.start()
    assert "narwal-auto.json: unknown option --no-such-setting" in server.log_tail()
    lab.remove(server)


def test_super_read_only_goes_with_read_only(face):
    with Client(face) as c:
        c.ok("CREATE DATABASE IF NOT EXISTS r")
        c.ok("CREATE TABLE IF NOT EXISTS r.t (id INT PRIMARY KEY)")
        both = "SELECT @@global.read_only, @@global.super_read_only"
        try:
            c.ok("SET GLOBAL super_read_only = ON")
            assert c.run(both).rows == [("1", "1")]
            refused = c.run("INSERT INTO r.t VALUES (1)")
            assert refused.error == 1290 and "MySQL server" in refused.message and "--super-read-only" in refused.message
            c.ok("SET GLOBAL super_read_only = OFF")
            assert c.run(both).rows == [("1", "0")]
            c.ok("INSERT INTO r.t VALUES (1)")
            c.ok("SET GLOBAL super_read_only = ON")
        finally:
            c.ok("SET GLOBAL read_only = OFF")
        assert c.run(both).rows == [("0", "0")]


def test_a_locking_clause_locks_its_tables_only(face):
    """FOR UPDATE OF a FOR SHARE OF b: rows of a are locked for changes, of b against them, of c not at all."""
    with fresh(face) as c, Client(face) as other:
        for t in "abc":
            c.ok(f"CREATE TABLE {t} (id INT PRIMARY KEY, v INT)")
            c.ok(f"INSERT INTO {t} VALUES (1, 1), (2, 2)")
        other.ok("USE d")
        c.ok("BEGIN")
        c.ok("SELECT * FROM a JOIN b USING (id) JOIN c AS cc USING (id) WHERE id = 1 FOR UPDATE OF a FOR SHARE OF b")
        other.ok("BEGIN")
        assert other.run("SELECT id FROM a WHERE id = 1 FOR SHARE NOWAIT").error == 3572
        assert other.run("SELECT id FROM b WHERE id = 1 FOR SHARE NOWAIT").rows == [("1",)]
        assert other.run("SELECT id FROM b WHERE id = 1 FOR UPDATE NOWAIT").error == 3572
        assert other.run("SELECT id FROM c WHERE id = 1 FOR UPDATE NOWAIT").rows == [("1",)]
        assert other.run("SELECT id FROM a FOR UPDATE SKIP LOCKED").rows == [("2",)]
        # Prepared, and what is not locked is read as the transaction sees it.
        other.ok("ROLLBACK")
        other.ok("UPDATE c SET v = 7 WHERE id = 1")
        c.ok("PREPARE s FROM 'SELECT c.v FROM a JOIN c USING (id) WHERE a.id = ? FOR UPDATE OF a'")
        c.ok("SET @n = 1")
        assert c.run("EXECUTE s USING @n").rows == [("1",)]
        c.ok("ROLLBACK")
        assert c.run("EXECUTE s USING @n").rows == [("7",)]


def test_binary_log_statements(face):
    with Client(face) as c:
        c.ok("CREATE DATABASE IF NOT EXISTS b")
        executed = c.run("SELECT @@global.gtid_executed").rows[0][0]
        status = c.run("SHOW BINARY LOG STATUS")
        assert status.columns[-1] == "Executed_Gtid_Set" and status.rows[0][-1] == executed
        assert executed.startswith(c.run("SELECT @@server_uuid").rows[0][0])
        assert c.run("SHOW REPLICAS").columns == ["Server_Id", "Host", "Port", "Source_Id", "Replica_UUID"]
        assert c.run("SELECT * FROM performance_schema.log_status").rows
        c.ok("RESET BINARY LOGS AND GTIDS")
        assert c.run("SELECT @@global.gtid_executed").rows == [("",)]


def test_a_narwal_follows_with_semi_sync_and_takes_over(lab):
    args = ["--narwal-dialect=mysql", "--rpl-semi-sync-source-timeout=60000"]
    first = lab.narwal([*args, "--server-id=21", "--rpl-semi-sync-source-enabled=ON"])
    second = lab.narwal([*args, "--server-id=22", "--rpl-semi-sync-replica-enabled=ON", "--super-read-only"])

    def follow(replica, source):
        with Client(replica) as c:
            c.ok(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1")
            c.ok("START REPLICA")

    def executed(server) -> str:
        with Client(server) as c:
            return c.run("SELECT @@global.gtid_executed").rows[0][0]

    def wait(replica, gtids: str) -> None:
        with Client(replica) as c:
            assert c.run(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{gtids}', 20)").rows == [("0",)], c.run("SHOW REPLICA STATUS")

    follow(second, first)
    with Client(first) as c:
        c.ok("CREATE DATABASE s")
        c.ok("CREATE TABLE s.t (id INT PRIMARY KEY)")
        c.ok("INSERT INTO s.t VALUES (1)")
    wait(second, executed(first))
    assert executed(second) == executed(first)
    with Client(second) as c:
        assert c.run("SHOW STATUS LIKE 'Rpl_semi_sync_replica_status'").rows[0][1] == "ON"
        c.ok("STOP REPLICA")
        # UNTIL sets of GTIDs: behind all of one, in front of the first of one.
        uuid, last = executed(first).rsplit(":1-", 1)
        with Client(first) as at_first:
            at_first.ok("SET GLOBAL rpl_semi_sync_source_enabled = OFF")
            for n in range(2, 7):
                at_first.ok(f"INSERT INTO s.t VALUES (-{n})")

        def until(words: str) -> list[tuple]:
            c.ok(f"START REPLICA UNTIL {words}")
            end = time.monotonic() + 20
            while c.run("SHOW REPLICA STATUS").rows[0][11] != "No":
                assert time.monotonic() < end, words
                time.sleep(0.02)
            c.ok("STOP REPLICA")
            return c.run("SELECT id FROM s.t WHERE id < 0 ORDER BY id DESC").rows

        assert until(f"SQL_AFTER_GTIDS = '{uuid}:1-{int(last) + 2}'") == [("-2",), ("-3",)]
        assert until(f"SQL_AFTER_GTIDS = '{uuid}:1-3'") == [("-2",), ("-3",)], "it has them already"
        assert until(f"SQL_BEFORE_GTIDS = '{uuid}:{int(last) + 4}-{int(last) + 9}'") == [("-2",), ("-3",), ("-4",)]
        assert c.run("START REPLICA UNTIL SQL_AFTER_GTIDS = 'x'").error == 1772
        c.ok("START REPLICA")
        wait(second, executed(first))
        c.ok("STOP REPLICA")
        c.ok("RESET REPLICA ALL")
        c.ok("SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF")
        c.ok("INSERT INTO s.t VALUES (2)")
    # The first goes on behind what it wrote itself, and waits for nobody's acknowledgement any more.
    with Client(first) as c:
        c.ok("SET GLOBAL rpl_semi_sync_source_enabled = OFF")
    follow(first, second)
    wait(first, executed(second))
    with Client(first) as c:
        assert c.run("SELECT id FROM s.t ORDER BY id").rows[-2:] == [("1",), ("2",)]
    for server in (first, second):
        lab.remove(server)


def test_what_is_not_there_is_refused_by_name(face):
    c = fresh(face)
    c.ok("CREATE TABLE t (a INT)")
    for statement in (
        "CREATE VIEW v AS SELECT l.b FROM t, LATERAL (SELECT t.a AS b) AS l",
        "SELECT * FROM t RIGHT JOIN LATERAL (SELECT 1) AS l ON TRUE",
        "SET GLOBAL sql_require_primary_key = ON",
    ):
        assert c.run(statement).error == 1235, statement


def test_functional_indexes_are_read_and_follow_mysqls_rows(lab, mysql):
    """MySQL's events do not have the columns of such indexes; a replica makes them, and reads by them."""
    narwal = lab.narwal(["--narwal-dialect=mysql", "--server-id=9"])
    with fresh(mysql) as theirs, Client(narwal) as ours:
        ours.ok(f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={mysql.port}, SOURCE_USER='root', SOURCE_AUTO_POSITION=1, GET_SOURCE_PUBLIC_KEY=1")
        theirs.ok("CREATE TABLE t (id INT PRIMARY KEY, a INT, b VARCHAR(20), KEY k1 ((a + 1)), UNIQUE KEY k2 ((LOWER(b))))")
        theirs.ok("INSERT INTO t VALUES (1, 1, 'X'), (2, 2, 'y'), (3, NULL, NULL)")
        theirs.ok("UPDATE t SET a = 10, b = 'New' WHERE id = 2")
        theirs.ok("CREATE INDEX k3 ON t ((a * 3))")
        theirs.ok("INSERT INTO t VALUES (4, 9, 'Z')")
        theirs.ok("DELETE FROM t WHERE id = 1")
        executed = theirs.run("SELECT @@gtid_executed").rows[0][0].replace("\n", "")
        ours.ok("START REPLICA")
        assert ours.run(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{executed}', 30)").rows == [("0",)]
        ours.ok("USE d")
        for query in ("SELECT id FROM t WHERE a + 1 = 11", "SELECT id FROM t WHERE LOWER(b) = 'new'", "SELECT id FROM t WHERE a * 3 = 27"):
            assert ours.run(query).rows == theirs.run(query).rows != [], query
            assert dict(zip((p := ours.run(f"EXPLAIN {query}")).columns, p.rows[0]))["key"] in ("k1", "k2", "k3"), query
        ours.ok("STOP REPLICA")
    lab.remove(narwal)


def tool(version: str, name: str) -> list[str]:
    """A program of a MySQL that `scripts/peers` has fetched."""
    if not (PEERS / version / ".complete").exists():
        pytest.skip(f"scripts/peers {version} has not been run")
    binary, loader = binary_of(str(PEERS / version), (name,))
    return [*loader, str(binary)]


def test_mysqls_dump_goes_out_and_in(face):
    connect = ["--no-defaults", "-h127.0.0.1", f"-P{face.port}", "-uroot"]
    c = fresh(face)
    c.ok(TABLE)
    c.ok("INSERT INTO shown (a, c, j, q) VALUES (1, 'x', '{\"a\": 1}', 'text'), (2, 'é', NULL, '')")
    c.ok("CREATE TABLE fx (a INT CHECK (a < 0) NOT ENFORCED, b VARCHAR(9), KEY ((a * 2)), UNIQUE KEY u ((CONCAT(b, '!')), a))")
    c.ok("INSERT INTO fx VALUES (1, 'x'), (2, 'y')")
    shown = c.run("SHOW CREATE TABLE fx").rows
    c.ok("CREATE VIEW v AS SELECT id, a FROM shown")
    c.ok("CREATE PROCEDURE p() SELECT 1")
    c.ok("CREATE TRIGGER tr BEFORE INSERT ON shown FOR EACH ROW SET NEW.a = NEW.a + 1")
    rows = c.run("SELECT id, a, c, j, q, HEX(l), m FROM shown ORDER BY id").rows
    dump = subprocess.run(
        [*tool("mysql-9.7", "mysqldump"), *connect, "--source-data=2", "--single-transaction", "--routines", "--triggers", "--databases", "d"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert dump.returncode == 0, dump.stderr
    assert "CHANGE REPLICATION SOURCE TO SOURCE_LOG_FILE=" in dump.stdout and "SET @@GLOBAL.GTID_PURGED=" in dump.stdout
    c.ok("DROP DATABASE d")
    c.ok("RESET BINARY LOGS AND GTIDS")
    load = subprocess.run([*tool("mysql-9.7", "mysql"), *connect], input=dump.stdout, capture_output=True, text=True)
    assert load.returncode == 0, load.stderr
    c.ok("USE d")
    assert c.run("SELECT id, a, c, j, q, HEX(l), m FROM shown ORDER BY id").rows == rows
    assert c.run("SELECT COUNT(*) FROM v").rows == [("2",)]
    assert c.run("SHOW CREATE TABLE fx").rows == shown
    assert c.run("SELECT b FROM fx WHERE a * 2 = 4").rows == [("y",)]


def test_mysqlbinlog_reads_the_log(face):
    c = fresh(face)
    c.ok("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9))")
    c.ok("INSERT INTO t VALUES (1, 'x')")
    file = c.run("SHOW BINARY LOG STATUS").rows[0][0]
    read = subprocess.run(
        [*tool("mysql-9.7", "mysqlbinlog"), "--no-defaults", "-h127.0.0.1", f"-P{face.port}", "-uroot", "--read-from-remote-source=BINLOG-DUMP-GTIDS",
         "--verbose", file],
        capture_output=True, text=True,
    )  # fmt: skip
    assert read.returncode == 0, read.stderr
    assert "### INSERT INTO `d`.`t`" in read.stdout and "SET @@SESSION.GTID_NEXT" in read.stdout
