"""Real MySQL servers as sources of Narwal. They come from `scripts/peers`; without them the test is skipped."""

from __future__ import annotations

import os
import re
import subprocess
import threading
import time
from pathlib import Path

import pytest
from narwal_lab.subjects import binary_of
from support import Client
from test_mysql_face import tool
from testbed.servers import MySQL

ROOT = Path(__file__).resolve().parents[1]
PEERS = Path(os.environ.get("NARWAL_PEERS", ROOT / ".peers"))
VERSIONS = ["mysql-8.4", "mysql-9.7"]

TYPES = """CREATE TABLE d.types (id INT PRIMARY KEY, a TINYINT, b BIGINT UNSIGNED, c DECIMAL(20,6), d FLOAT, e DOUBLE, f CHAR(5),
  g VARCHAR(300) CHARACTER SET utf8mb4, h TEXT, i VARBINARY(20), j BLOB, k DATE, l TIME(6), m DATETIME(3), n TIMESTAMP(6) NULL,
  o YEAR, p BIT(11), q ENUM('x','y'), r SET('s','t','u'), s MEDIUMINT, t VARCHAR(10) CHARACTER SET latin1, u BINARY(4), v LONGTEXT)"""
ROWS = [
    "1, -128, 18446744073709551615, -12345678901234.567891, 1.5, -2.25, 'abc', 'naïve 😀', REPEAT('t', 5000), X'00ff', X'', "
    "'2024-02-29', '-838:59:58.999999', '2024-01-02 03:04:05.678', '2001-02-03 04:05:06.789012', 1999, 1027, 'y', 's,u', -8388608, 'é', "
    "X'0100', REPEAT('l', 70000)",
    "2" + ", NULL" * 22,
    "3, 0, 0, 0, 0, 0, '', '', '', '', '', '1000-01-01', '00:00:00', '1000-01-01 00:00:00', '1970-01-02 00:00:01', 2155, 0, 'x', '', 0, '', '', ''",
]


class MySQLSource:
    """A MySQL server that writes a binary log."""

    def __init__(self, name: str, folder: Path, args: list[str]):
        binary, loader = binary_of(str(PEERS / name), ("mysqld",))
        self.server = MySQL(
            folder, ["--server-id=77", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--skip-replica-start", "--relay-log=relay",
                     "--log-bin=own", "--innodb-buffer-pool-size=64M", "--performance-schema=OFF", *args],
            binary=str(binary), loader=loader,
        )  # fmt: skip
        self.server.create()
        self.server.start(120)
        self.sql("CREATE USER repl@'%' IDENTIFIED BY 'secret'; GRANT REPLICATION SLAVE ON *.* TO repl@'%'; CREATE DATABASE d")

    def sql(self, text: str) -> list[list[str]]:
        # As its own clients: a session of utf8mb4.
        return self.server.sql("SET NAMES utf8mb4; " + text)

    @property
    def executed(self) -> str:
        return self.sql("SELECT REPLACE(@@GLOBAL.gtid_executed, '\n', '')")[0][0]


@pytest.fixture(params=VERSIONS)
def source(request, tmp_path):
    if not (PEERS / request.param / ".complete").exists():
        pytest.skip(f"scripts/peers {request.param} has not been run")
    made = MySQLSource(request.param, tmp_path / "mysql", list(getattr(request.function, "mysql_args", [])))
    yield made
    made.server.kill()


def options(*args: str):
    """What the test's MySQL is started with."""

    def mark(test):
        test.mysql_args = args
        return test

    return mark


@pytest.fixture
def narwal(own_narwal):
    return own_narwal("--server-id=5")


def follow(narwal, source, more: str = "SOURCE_AUTO_POSITION=1, SOURCE_SSL=1") -> None:
    narwal.sql(
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.server.port}, SOURCE_USER='repl', "
        f"SOURCE_PASSWORD='secret', SOURCE_CONNECT_RETRY=1, SOURCE_HEARTBEAT_PERIOD=1, SOURCE_SSL_VERIFY_SERVER_CERT=0, {more}; "
        "START REPLICA"
    )


def status(narwal) -> dict[str, str]:
    names = ["Slave_IO_Running", "Slave_SQL_Running", "Last_IO_Errno", "Last_IO_Error", "Last_SQL_Errno", "Last_SQL_Error", "Exec_Master_Log_Pos"]
    row = narwal.sql(f"SELECT {', '.join(names)} FROM information_schema.NARWAL_REPLICA_STATUS")[0]
    return dict(zip(names, row))


def wait_for(narwal, source, seconds: float = 120) -> None:
    """Until it has everything that the source has."""
    end = time.monotonic() + seconds
    wanted = source.executed
    while narwal.sql(f"SELECT GTID_SUBSET('{wanted}', @@GLOBAL.gtid_executed)") != [["1"]]:
        s = status(narwal)
        assert s["Last_SQL_Errno"] == "0" and s["Slave_SQL_Running"] == "Yes", s
        assert s["Slave_IO_Running"] != "No", s
        assert time.monotonic() < end, f"{s}\n{narwal.log_tail()}"
        time.sleep(0.1)


def failure(narwal, column: str = "Last_SQL_Errno", seconds: float = 60) -> dict[str, str]:
    end = time.monotonic() + seconds
    while True:
        s = status(narwal)
        if s[column] != "0":
            return s
        assert time.monotonic() < end, s
        time.sleep(0.1)


def columns(source, table: str) -> list[tuple[str, str]]:
    found = source.sql(
        f"SELECT COLUMN_NAME, DATA_TYPE FROM information_schema.COLUMNS WHERE CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) = '{table}' ORDER BY "
        "ORDINAL_POSITION"
    )
    return [(name, kind) for name, kind in found]


def shown(name: str, kind: str) -> str:
    """An expression that the two print alike; HEX would make a number of a text."""
    if kind in ("int", "tinyint", "mediumint", "bigint", "smallint", "float", "double", "decimal", "year", "date", "time", "datetime", "timestamp"):
        return f"`{name}`"
    return f"HEX(CAST(`{name}` AS BINARY))"


def equal(narwal, source, *tables: str) -> None:
    for table in tables:
        query = f"SET time_zone='+00:00'; SELECT {', '.join(shown(*c) for c in columns(source, table))} FROM {table} ORDER BY 1"
        assert source.sql(query) == narwal.sql(query), table


def test_what_was_there_and_what_comes(source, narwal):
    source.sql(TYPES)
    for row in ROWS:
        source.sql(f"INSERT INTO d.types VALUES ({row})")
    follow(narwal, source)
    source.sql(
        "CREATE TABLE d.t (a INT PRIMARY KEY AUTO_INCREMENT, b VARCHAR(100), KEY (b)); INSERT INTO d.t (b) VALUES ('one'), ('two'), ('three'); "
        "UPDATE d.t SET b = CONCAT(b, '!') WHERE a > 1; DELETE FROM d.t WHERE a = 2; ALTER TABLE d.t ADD COLUMN c INT DEFAULT 7; "
        "CREATE INDEX k ON d.t (c); INSERT INTO d.t (b) SELECT b FROM d.t; CREATE VIEW d.v AS SELECT a FROM d.t; TRUNCATE TABLE d.types"
    )
    for row in ROWS:
        source.sql(f"REPLACE INTO d.types VALUES ({row})")
    source.sql(
        "XA START 'x1'; INSERT INTO d.t (b) VALUES ('xa'); XA END 'x1'; XA PREPARE 'x1'; XA COMMIT 'x1'; "
        "XA START 'x2','b',9; INSERT INTO d.t (b) VALUES ('no'); XA END 'x2','b',9; XA PREPARE 'x2','b',9; XA ROLLBACK 'x2','b',9"
    )
    source.sql("BEGIN; INSERT INTO d.t (b) VALUES ('s'); SAVEPOINT s; INSERT INTO d.t (b) VALUES ('gone'); ROLLBACK TO s; COMMIT")
    source.sql("FLUSH BINARY LOGS; CREATE TABLE d.copy AS SELECT * FROM d.t; DROP TABLE IF EXISTS d.none; SET GTID_NEXT='automatic:blue'; "
               "INSERT INTO d.t (b) VALUES ('tagged')")  # fmt: skip
    wait_for(narwal, source)
    equal(narwal, source, "d.types", "d.t", "d.copy")
    assert narwal.sql("SELECT COUNT(*) FROM d.v") == narwal.sql("SELECT COUNT(*) FROM d.t")
    # Its transactions stand in its own log, under GTIDs of its own; gtid_slave_pos is about sources of MariaDB's kind.
    assert narwal.sql("SELECT @@gtid_slave_pos") == [[""]]
    assert narwal.sql("SELECT @@gtid_binlog_pos")[0][0].startswith("0-77-")
    # A restart goes on from there, with nothing applied twice.
    before = narwal.sql("SELECT @@gtid_binlog_pos")
    narwal.stop()
    narwal.start()
    assert narwal.sql("SELECT @@gtid_binlog_pos") == before
    source.sql("INSERT INTO d.t (b) VALUES ('later')")
    wait_for(narwal, source)
    equal(narwal, source, "d.t")


@options("--binlog-transaction-compression=ON")
def test_compressed_transactions(source, narwal):
    follow(narwal, source)
    source.sql(
        "CREATE TABLE d.big (a INT PRIMARY KEY, b VARCHAR(200)); SET cte_max_recursion_depth = 100000; "
        "INSERT INTO d.big WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 20000) SELECT n, REPEAT('x', 200) FROM s; "
        "UPDATE d.big SET b = a WHERE a % 3 = 0; INSERT INTO d.big VALUES (0, 'small')"
    )
    wait_for(narwal, source)
    equal(narwal, source, "d.big")


JSON = [
    "NULL", "'null'", "'true'", "'[]'", "'{}'", "'\"text\"'", "'-1'", "'65536'", "'18446744073709551615'", "'1.5'", "'-0.000125'",
    "'1e100'", "'[1, [2, {\"k\": null}], \"naïve 😀\"]'", "'{\"b\": 1, \"aa\": 2, \"a\": [true, false]}'", "'\"q\\\\\\\\ \\\\\"x\\\\\" \\\\n\"'",
    "JSON_OBJECT('d', CAST('2024-02-29' AS DATE), 't', CAST('-12:34:56.789' AS TIME(6)), 'm', CAST('2024-01-02 03:04:05' AS DATETIME(6)), "
    "'n', CAST(-12.34 AS DECIMAL(10,2)))",
    "JSON_ARRAY(CAST(X'00ff' AS BINARY))", "CONCAT('[', REPEAT('12345, ', 20000), '0]')", "CONCAT('{\"', REPEAT('k', 300), '\": \"', REPEAT('v', 70000), '\"}')",
]  # fmt: skip


def test_json(source, narwal):
    follow(narwal, source)
    source.sql("CREATE TABLE d.j (a INT PRIMARY KEY, b JSON)")
    for n, value in enumerate(JSON):
        source.sql(f"INSERT INTO d.j VALUES ({n}, {value})")
    source.sql("UPDATE d.j SET b = JSON_SET(b, '$.a', 'set') WHERE a = 13; UPDATE d.j SET b = NULL WHERE a = 3; DELETE FROM d.j WHERE a = 4")
    wait_for(narwal, source)
    equal(narwal, source, "d.j")


@options("--binlog-row-value-options=PARTIAL_JSON")
def test_partial_updates_of_json_are_refused_by_name(source, narwal):
    follow(narwal, source)
    source.sql("CREATE TABLE d.j (a INT PRIMARY KEY, b JSON); INSERT INTO d.j VALUES (1, CONCAT('{\"a\": 1, \"b\": \"', REPEAT('x', 1000), '\"}')); "
               "UPDATE d.j SET b = JSON_SET(b, '$.a', 2)")  # fmt: skip
    s = failure(narwal)
    assert "binlog_row_value_options" in s["Last_SQL_Error"], s


DDL = [
    "CREATE DATABASE e DEFAULT CHARACTER SET utf8mb4 DEFAULT ENCRYPTION='N'",
    "CREATE TABLE e.a (a INT NOT NULL AUTO_INCREMENT, b VARCHAR(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_as_cs DEFAULT (UPPER('x')), "
    "c INT GENERATED ALWAYS AS (a0 + 1) VIRTUAL, d INT AS (a0 * 2) STORED, a0 INT /*!80023 INVISIBLE */ DEFAULT 5, e TIMESTAMP DEFAULT "
    "CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, PRIMARY KEY (a), UNIQUE KEY u (b), KEY i (e) INVISIBLE) ENGINE=InnoDB AUTO_INCREMENT=10 "
    "DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci",
    "INSERT INTO e.a (b, a0) VALUES ('a', 1), ('A', 2)",
    "INSERT INTO e.a (b) VALUES (DEFAULT)",
    "CREATE TABLE e.b (a VARCHAR(10) PRIMARY KEY, b VARCHAR(10) CHARACTER SET utf8mb4 UNIQUE)",
    "INSERT INTO e.b VALUES ('é ', 'x'), ('é', 'ß')",
    "ALTER TABLE e.a ALTER INDEX i VISIBLE, RENAME COLUMN b TO bb, ALGORITHM=INPLACE, LOCK=NONE",
    "ALTER TABLE e.a ADD COLUMN f VARCHAR(3) CHARACTER SET utf8mb4 NOT NULL DEFAULT 'f' FIRST, ALGORITHM=INSTANT",
    "CREATE TABLE e.p (a INT PRIMARY KEY, b CHAR(3))",
    "INSERT INTO e.p VALUES (1, 'a'), (2, 'b')",
    "CREATE TABLE e.parent (a INT PRIMARY KEY); CREATE TABLE e.child (a INT PRIMARY KEY, b INT, CONSTRAINT f FOREIGN KEY (b) REFERENCES "
    "e.parent (a) ON DELETE CASCADE ON UPDATE CASCADE)",
    "INSERT INTO e.parent VALUES (1), (2), (3); INSERT INTO e.child VALUES (10, 1), (20, 2), (30, 3)",
    "DELETE FROM e.parent WHERE a = 1; UPDATE e.parent SET a = 22 WHERE a = 2",
    "SET sql_generate_invisible_primary_key = ON; CREATE TABLE e.g (a INT); INSERT INTO e.g VALUES (7), (7); DELETE FROM e.g LIMIT 1",
    "CREATE TABLE e.nokey (a INT, b JSON); INSERT INTO e.nokey VALUES (1, '{}'), (1, '[]'), (2, '1'); UPDATE e.nokey SET a = 3 WHERE a = 2; "
    "DELETE FROM e.nokey WHERE b = CAST('{}' AS JSON)",
    "RENAME TABLE e.p TO e.q; CREATE TABLE e.l LIKE e.q; INSERT INTO e.l SELECT * FROM e.q; TRUNCATE TABLE e.q; DROP TABLE e.q",
    "ANALYZE TABLE e.a; ANALYZE TABLE e.a UPDATE HISTOGRAM ON b WITH 4 BUCKETS; ANALYZE TABLE e.a DROP HISTOGRAM ON b; OPTIMIZE TABLE e.a; FLUSH TABLES",
    "CREATE TABLE e.x (a INT PRIMARY KEY, b INT, KEY f ((a + b)), KEY g (b)); INSERT INTO e.x VALUES (1, 2)",
    "CREATE INDEX h ON e.x ((b * 2)); ALTER TABLE e.x ADD INDEX i ((a * 2)), ADD COLUMN c INT DEFAULT 1; UPDATE e.x SET b = 5",
    "DROP INDEX h ON e.x; ALTER TABLE e.x DROP INDEX f, DROP KEY g, DROP COLUMN c",
]


def test_ddl_as_mysql_writes_it(source, narwal):
    follow(narwal, source)
    for statement in DDL:
        source.sql(statement)
        wait_for(narwal, source)
    equal(narwal, source, "e.a", "e.b", "e.parent", "e.child", "e.g", "e.nokey", "e.l", "e.x")
    # What a database and a table get that name no collation, and the order of MySQL's own.
    found = narwal.sql("SELECT COLUMN_NAME, COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'e' AND TABLE_NAME IN ('a', 'b') "
                       "AND COLLATION_NAME IS NOT NULL ORDER BY TABLE_NAME, COLUMN_NAME")  # fmt: skip
    ours = "utf8mb4_uca1400_nopad_"
    assert found == [["bb", ours + "as_cs"], ["f", ours + "ai_ci"], ["a", ours + "ai_ci"], ["b", ours + "ai_ci"]]


def test_accounts_are_each_servers_own(source, narwal):
    follow(narwal, source)
    source.sql("CREATE USER u@'%' IDENTIFIED BY 'x'; GRANT SELECT ON *.* TO u@'%'; CREATE ROLE r; GRANT r TO u@'%'; ALTER USER u@'%' ACCOUNT LOCK; "
               "DROP ROLE r; RENAME USER u@'%' TO v@'%'; SET PASSWORD FOR v@'%' = 'y'; DROP USER v@'%'; CREATE TABLE d.t (a INT PRIMARY KEY)")  # fmt: skip
    wait_for(narwal, source)
    assert narwal.sql("SELECT COUNT(*) FROM mysql.user WHERE User IN ('u', 'v', 'r', 'repl')") == [["0"]]
    equal(narwal, source, "d.t")


def test_kills_of_the_replica(source, narwal):
    follow(narwal, source)
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY, b INT); CREATE TABLE d.n (a INT)")
    for turn in range(5):
        for n in range(40):
            a = turn * 100 + n
            source.sql(f"INSERT INTO d.t VALUES ({a}, {n}); BEGIN; INSERT INTO d.n VALUES ({a}); UPDATE d.t SET b = b + 1 WHERE a = {a}; COMMIT")
            if n == 10 + 5 * turn:
                narwal.kill()
                narwal.start()
    wait_for(narwal, source)
    # Without a key nothing would say that a row came twice.
    equal(narwal, source, "d.t", "d.n")


def test_kills_of_the_source(source, narwal):
    follow(narwal, source)
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(9)); INSERT INTO d.t VALUES (1, 'x')")
    wait_for(narwal, source)
    source.server.kill()
    source.server.start(120)
    source.sql("INSERT INTO d.t VALUES (2, 'y')")
    wait_for(narwal, source)
    equal(narwal, source, "d.t")


def test_by_file_and_position(source, narwal):
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY)")
    narwal.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY)")
    file, position = source.sql("SHOW BINARY LOG STATUS")[0][:2]
    source.sql("INSERT INTO d.t VALUES (1)")
    follow(narwal, source, f"SOURCE_LOG_FILE='{file}', SOURCE_LOG_POS={position}, SOURCE_AUTO_POSITION=0, SOURCE_SSL=1")
    source.sql("FLUSH BINARY LOGS; INSERT INTO d.t VALUES (2)")
    file, position = source.sql("SHOW BINARY LOG STATUS")[0][:2]
    assert narwal.sql(f"SELECT MASTER_POS_WAIT('{file}', {position}, 60) >= 0") == [["1"]]
    equal(narwal, source, "d.t")


@options("--gtid-mode=OFF", "--enforce-gtid-consistency=OFF")
def test_a_source_without_gtids(source, narwal):
    follow(narwal, source)
    s = failure(narwal, "Last_IO_Errno")
    assert "gtid_mode=OFF" in s["Last_IO_Error"], s
    narwal.sql("STOP REPLICA")
    file = source.sql("SHOW BINARY LOGS")[0][0]
    follow(narwal, source, f"SOURCE_LOG_FILE='{file}', SOURCE_LOG_POS=4, SOURCE_AUTO_POSITION=0, SOURCE_SSL=1")
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (2)")
    file, position = source.sql("SHOW BINARY LOG STATUS")[0][:2]
    assert narwal.sql(f"SELECT MASTER_POS_WAIT('{file}', {position}, 60) >= 0") == [["1"]]
    equal(narwal, source, "d.t")


def test_what_cannot_be_applied_stops_with_its_reason(source, narwal):
    follow(narwal, source)
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY); CREATE TABLE d.s (a INT PRIMARY KEY)")
    wait_for(narwal, source)
    narwal.sql("INSERT INTO d.t VALUES (1)")
    source.sql("INSERT INTO d.t VALUES (1); INSERT INTO d.s VALUES (1)")
    s = failure(narwal)
    assert s["Last_SQL_Errno"] == "1062" and "d.t" in s["Last_SQL_Error"], s
    assert source.sql("SELECT @@server_uuid")[0][0] in s["Last_SQL_Error"]
    assert narwal.sql("SELECT * FROM d.s") == []
    # It is mended, and nothing was lost.
    narwal.sql("DELETE FROM d.t; START REPLICA SQL_THREAD")
    wait_for(narwal, source)
    equal(narwal, source, "d.t", "d.s")
    # A statement is run with the variables and the seeds that stand beside it.
    source.sql("SET SESSION binlog_format = STATEMENT; INSERT INTO d.s VALUES (2); SET @x = 3; INSERT INTO d.s VALUES (@x);"
               " INSERT INTO d.s VALUES (4 + FLOOR(1000000 * RAND()))")  # fmt: skip
    wait_for(narwal, source)
    assert narwal.sql("SELECT * FROM d.s ORDER BY a LIMIT 3") == [["1"], ["2"], ["3"]]
    equal(narwal, source, "d.s")


def test_a_password_without_tls(source, narwal):
    follow(narwal, source, "SOURCE_AUTO_POSITION=1, SOURCE_SSL=0, GET_SOURCE_PUBLIC_KEY=0")
    s = failure(narwal, "Last_IO_Errno")
    assert "public key" in s["Last_IO_Error"], s
    narwal.sql("STOP REPLICA")
    follow(narwal, source, "SOURCE_AUTO_POSITION=1, SOURCE_SSL=0, GET_SOURCE_PUBLIC_KEY=1")
    wait_for(narwal, source)


@options("--plugin-load-add=semisync_source.so", "--rpl-semi-sync-source-timeout=600000")
def test_mysqls_commits_wait_for_narwal(source, narwal):
    narwal.sql("SET GLOBAL rpl_semi_sync_slave_enabled = ON")
    follow(narwal, source)
    wait_for(narwal, source)
    source.sql("SET GLOBAL rpl_semi_sync_source_enabled = ON")
    narwal.sql("STOP REPLICA; START REPLICA")
    end = time.monotonic() + 60
    while source.server.status("Rpl_semi_sync_source_clients")["Rpl_semi_sync_source_clients"] != "1":
        assert time.monotonic() < end
        time.sleep(0.1)
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1)")
    assert int(source.server.status("Rpl_semi_sync_source_yes_tx")["Rpl_semi_sync_source_yes_tx"]) >= 2
    equal(narwal, source, "d.t")


def test_a_ring(source, narwal):
    narwal.sql("CREATE USER repl@'%'; GRANT REPLICATION SLAVE ON *.* TO repl@'%'")
    follow(narwal, source)
    wait_for(narwal, source)
    source.sql(
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={narwal.port}, SOURCE_USER='repl', SOURCE_AUTO_POSITION=1, "
        "SOURCE_CONNECT_RETRY=1, SOURCE_HEARTBEAT_PERIOD=1; START REPLICA"
    )
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY, b VARCHAR(9)); INSERT INTO d.t VALUES (1, 'there')")
    wait_for(narwal, source)
    narwal.sql("INSERT INTO d.t VALUES (2, 'here')")
    end = time.monotonic() + 60
    while source.sql("SELECT COUNT(*) FROM d.t") != [["2"]]:
        assert time.monotonic() < end, source.sql("SHOW REPLICA STATUS")
        time.sleep(0.1)
    wait_for(narwal, source)
    equal(narwal, source, "d.t")
    agree(narwal, source)
    # Neither side has written the other's anew.
    before = narwal.sql("SELECT @@gtid_binlog_pos"), source.executed
    time.sleep(2)
    assert (narwal.sql("SELECT @@gtid_binlog_pos"), source.executed) == before


def agree(narwal, follower) -> None:
    """Waits until a MySQL that follows has what this Narwal has, under the same names.

    Of Narwal's own numbers only the last of each server is asked for: several servers share those of a domain, so some
    between were never used (docs/replication.md). What MySQLs have named is asked for whole."""
    executed = narwal.sql("SELECT REPLACE(@@GLOBAL.gtid_executed, '\\n', '')")[0][0]
    wanted = []
    for part in executed.split(","):
        # Ranges without a tag, and what stands behind the first tag.
        uuid, ranges, tags = re.fullmatch(r"([0-9a-f-]{36})((?::[0-9-]+)*)((?::[a-z].*)?)", part).groups()
        # Narwal's own have version 8 of RFC 9562.
        wanted.append(f"{uuid}:{re.split('[:-]', ranges)[-1]}{tags}" if uuid[14] == "8" else part)
    waited = follower.sql(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{','.join(wanted)}', 60)")
    assert waited == [["0"]], (executed, follower.executed, follower.sql("SHOW REPLICA STATUS"))
    subset = f"SELECT GTID_SUBSET('{follower.executed}', @@GLOBAL.gtid_executed)"
    assert narwal.sql(subset) == [["1"]], (executed, follower.executed)


def test_transactions_keep_their_names_on_the_way(source, narwal, tmp_path):
    """MySQL -> Narwal -> MySQL: the last one has the first one's transactions under the first one's names, and can follow it."""
    name = "mysql-9.7" if "9.7" in str(source.server.binary) else "mysql-8.4"
    last = MySQLSource(name, tmp_path / "last", ["--server-id=78"])
    try:
        last.sql("RESET BINARY LOGS AND GTIDS")
        narwal.sql("CREATE USER repl@'%'; GRANT REPLICATION SLAVE ON *.* TO repl@'%'; RESET MASTER")
        source.sql("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20)); INSERT INTO d.t VALUES (1, 'a'), (2, 'b')")
        source.sql("XA START 'x'; INSERT INTO d.t VALUES (3, 'xa'); XA END 'x'; XA PREPARE 'x'; XA COMMIT 'x'")
        source.sql("ALTER TABLE d.t ADD n INT DEFAULT 7; UPDATE d.t SET n = id; BEGIN; DELETE FROM d.t WHERE id = 2; COMMIT")
        follow(narwal, source)
        wait_for(narwal, source)
        last.sql("DROP DATABASE d")
        last.sql("RESET BINARY LOGS AND GTIDS")
        to_narwal = (
            f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={narwal.port}, SOURCE_USER='repl', SOURCE_AUTO_POSITION=1, "
            "SOURCE_CONNECT_RETRY=1, SOURCE_HEARTBEAT_PERIOD=1; START REPLICA"
        )
        last.sql(to_narwal)
        agree(narwal, last)
        assert last.sql("SELECT * FROM d.t ORDER BY id") == source.sql("SELECT * FROM d.t ORDER BY id") != []
        # Names that clients give, and Narwal's own between them; kills of those in the middle and at the end.
        for n in range(10, 40):
            source.sql(f"INSERT INTO d.t VALUES ({n}, 'from the first', 0); UPDATE d.t SET n = n + 1 WHERE id < 100")
            narwal.sql(f"INSERT INTO d.t VALUES ({n} + 1000, 'from narwal', 0)")
            source.sql(f"SET gtid_next = 'AUTOMATIC:blue'; INSERT INTO d.t VALUES ({n} + 2000, 'tagged', 0); SET gtid_next = AUTOMATIC")
            narwal.sql(f"SET gtid_next = 'AUTOMATIC:red'; INSERT INTO d.t VALUES ({n} + 3000, 'tagged here', 0); BEGIN; ROLLBACK; "
                       f"CREATE TABLE d.t{n} (a INT); DROP TABLE d.t{n}; SET gtid_next = AUTOMATIC")  # fmt: skip
            if n == 20:
                narwal.sql("SET gtid_next = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:7'; INSERT INTO d.t VALUES (5000, 'named', 0); SET gtid_next = AUTOMATIC")
            if n % 10 == 5:
                last.server.kill()
                last.server.start(120)
                last.sql("START REPLICA")
            if n % 10 == 9:
                narwal.kill()
                narwal.start()
        wait_for(narwal, source)
        agree(narwal, last)
        assert "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:7" in last.executed
        assert ":blue:1-30" in last.executed and ":red:1-90" in last.executed
        equal(narwal, last, "d.t")
        # Without Narwal: nothing comes twice.
        last.sql("STOP REPLICA; RESET REPLICA ALL")
        last.sql(
            f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.server.port}, SOURCE_USER='repl', SOURCE_PASSWORD='secret', "
            "SOURCE_SSL=1, SOURCE_AUTO_POSITION=1, SOURCE_CONNECT_RETRY=1; START REPLICA"
        )
        source.sql("INSERT INTO d.t VALUES (100, 'directly', 0)")
        assert last.sql(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{source.executed}', 60)") == [["0"]], last.sql("SHOW REPLICA STATUS")
        assert last.sql("SELECT v FROM d.t WHERE id = 100") == [["directly"]]
    finally:
        last.server.kill()


class Application(threading.Thread):
    """Writes numbered rows to the server that it is told of, each until it is acknowledged."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.acknowledged = 0
        self.ending = threading.Event()
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while not self.ending.is_set():
                at = self.server
                with Client(at, database="d") as c:
                    while at is self.server and not self.ending.is_set():
                        n = self.acknowledged + 1
                        done = c.run(f"INSERT INTO t VALUES ({n}, 'row {n}')")
                        # 1290: it takes no writes any more.
                        assert done.error in (0, 1290), done
                        if done.error:
                            time.sleep(0.01)
                        else:
                            self.acknowledged = n
        except BaseException as e:
            self.failure = e

    def goes_on(self) -> None:
        """Waits for some more rows."""
        wanted, end = self.acknowledged + 20, time.monotonic() + 60
        while self.acknowledged < wanted:
            assert self.failure is None, self.failure
            assert time.monotonic() < end, f"no writes behind {self.acknowledged}"
            time.sleep(0.01)


@pytest.mark.parametrize("source", ["mysql-8.4"], indirect=True)
def test_a_live_migration_and_back(source, own_narwal):
    """docs/migration.md: dump, follow, switch while an application writes; and the same way back."""
    narwal = own_narwal("--narwal-dialect=mysql", "--server-id=5")
    narwal.sql("CREATE USER repl@'%'; GRANT REPLICATION SLAVE ON *.* TO repl@'%'; RESET BINARY LOGS AND GTIDS")
    source.sql("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))")
    application = Application(source.server)
    application.start()
    application.goes_on()

    def connect(server) -> list[str]:
        return ["--no-defaults", "-h127.0.0.1", f"-P{server.port}", "-uroot"]

    dump = [*tool("mysql-8.4", "mysqldump"), *connect(source.server), "--single-transaction", "--set-gtid-purged=ON", "--databases", "d"]
    dumped = subprocess.run(dump, capture_output=True, text=True)
    assert dumped.returncode == 0, dumped.stderr
    loaded = subprocess.run([*tool("mysql-8.4", "mysql"), *connect(narwal)], input=dumped.stdout, capture_output=True, text=True)
    assert loaded.returncode == 0, loaded.stderr
    application.goes_on()
    follow(narwal, source)
    wait_for(narwal, source)

    source.sql("SET GLOBAL super_read_only = ON")
    wait_for(narwal, source)
    narwal.sql("STOP REPLICA")
    application.server = narwal
    source.sql(
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={narwal.port}, SOURCE_USER='repl', SOURCE_AUTO_POSITION=1, "
        "SOURCE_CONNECT_RETRY=1, SOURCE_HEARTBEAT_PERIOD=1; START REPLICA"
    )
    application.goes_on()

    narwal.sql("SET GLOBAL super_read_only = ON")
    agree(narwal, source)
    source.sql("STOP REPLICA; RESET REPLICA ALL; SET GLOBAL super_read_only = OFF; SET GLOBAL read_only = OFF")
    narwal.sql("START REPLICA")
    application.server = source.server
    application.goes_on()

    application.ending.set()
    application.join(60)
    assert application.failure is None, application.failure
    wait_for(narwal, source)
    equal(narwal, source, "d.t")
    assert source.sql("SELECT COUNT(*), MAX(id) FROM d.t") == [[str(application.acknowledged)] * 2]
