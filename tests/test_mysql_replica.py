"""Real MySQL servers as replicas of Narwal, by GTIDs of MySQL's form. They come from `scripts/peers`; without them the test is skipped."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from narwal_lab.subjects import binary_of
from testbed.servers import MySQL

ROOT = Path(__file__).resolve().parents[1]
PEERS = Path(os.environ.get("NARWAL_PEERS", ROOT / ".peers"))
VERSIONS = ["mysql-8.0", "mysql-8.4", "mysql-9.7"]

TYPES = """CREATE TABLE d.types (id INT PRIMARY KEY, a TINYINT, b BIGINT UNSIGNED, c DECIMAL(20,6), d FLOAT, e DOUBLE, f CHAR(5),
  g VARCHAR(300) CHARACTER SET utf8mb4, h TEXT, i VARBINARY(20), j BLOB, k DATE, l TIME(6), m DATETIME(3), n TIMESTAMP(6) NULL,
  o YEAR, p BIT(11), q ENUM('x','y'), r SET('s','t','u'), s MEDIUMINT, t VARCHAR(10) CHARACTER SET latin1)"""
ROWS = [
    "1, -128, 18446744073709551615, -12345678901234.567891, 1.5, -2.25, 'abc', 'naïve 😀', REPEAT('t', 5000), X'00ff', X'', "
    "'2024-02-29', '-838:59:58.999999', '2024-01-02 03:04:05.678', '2001-02-03 04:05:06.789012', 1999, 1027, 'y', 's,u', -8388608, 'é'",
    "2" + ", NULL" * 20,
    "3, 0, 0, 0, 0, 0, '', '', '', '', '', '1000-01-01', '00:00:00', '1000-01-01 00:00:00', '1970-01-02 00:00:01', 2155, 0, 'x', '', 0, ''",
]


class MySQLReplica:
    """A MySQL server that follows Narwal."""

    def __init__(self, name: str, folder: Path, args: list[str]):
        binary, loader = binary_of(str(PEERS / name), ("mysqld",))
        self.server = MySQL(
            folder, ["--server-id=77", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--skip-replica-start",
                     "--relay-log=relay", "--log-bin=own", "--innodb-buffer-pool-size=64M", "--performance-schema=ON", *args],
            binary=str(binary), loader=loader,
        )  # fmt: skip
        self.server.create()
        self.server.start()

    def rows(self, sql: str) -> list[list[str]]:
        return self.server.sql(sql)

    def follow(self, port: int) -> None:
        self.rows(
            f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={port}, SOURCE_USER='repl', "
            "SOURCE_AUTO_POSITION=1, SOURCE_CONNECT_RETRY=1, SOURCE_RETRY_COUNT=100, SOURCE_HEARTBEAT_PERIOD=1; START REPLICA"
        )

    def failure(self) -> str:
        found = self.rows(
            "SELECT LAST_ERROR_MESSAGE FROM performance_schema.replication_applier_status_by_worker WHERE LAST_ERROR_NUMBER > 0 UNION ALL "
            "SELECT LAST_ERROR_MESSAGE FROM performance_schema.replication_connection_status WHERE LAST_ERROR_NUMBER > 0 AND "
            "SERVICE_STATE = 'OFF'"
        )
        return "; ".join(r[0] for r in found)

    def wait_for(self, source) -> None:
        """Until it has everything that the source has; then both say the same GTIDs."""
        end = time.monotonic() + 120
        wanted = source.sql("SELECT REPLACE(@@GLOBAL.gtid_executed, '\n', '')")[0][0]
        while True:
            have = self.rows("SELECT REPLACE(@@GLOBAL.gtid_executed, '\n', '')")[0][0]
            if have == wanted:
                return
            if failure := self.failure():
                raise AssertionError(f"the replica stopped: {failure}")
            assert time.monotonic() < end, f"the replica has {have}, the source {wanted}\n{self.server.log_tail()}"
            time.sleep(0.1)

    def equal(self, source, *tables: str) -> None:
        for table in tables:
            columns = [r[0] for r in source.sql(
                f"SELECT COLUMN_NAME FROM information_schema.COLUMNS WHERE CONCAT(TABLE_SCHEMA, '.', TABLE_NAME) = '{table}' ORDER BY "
                "ORDINAL_POSITION")]  # fmt: skip
            # The two do not print FLOAT alike; HEX would make a number of a text.
            query = f"SELECT {', '.join(f'HEX(CAST({c} AS BINARY))' if c in 'bfghijtpqr' else c for c in columns)} FROM {table} ORDER BY 1"
            assert self.rows(query) == source.sql(query), table


@pytest.fixture(params=VERSIONS)
def replica(request, tmp_path):
    """Makes a MySQL that is not told yet whom to follow."""
    if not (PEERS / request.param / ".complete").exists():
        pytest.skip(f"scripts/peers {request.param} has not been run")
    made = []

    def make(*args: str) -> MySQLReplica:
        made.append(MySQLReplica(request.param, tmp_path / f"mysql{len(made)}", list(args)))
        return made[-1]

    yield make
    for one in made:
        one.server.kill()


@pytest.fixture
def source(own_narwal):
    server = own_narwal("--server-id=5")
    server.sql("CREATE USER repl@'%'; GRANT REPLICATION SLAVE ON *.* TO repl@'%'; CREATE DATABASE d")
    return server


def fill(source) -> None:
    source.sql(TYPES)
    for row in ROWS:
        source.sql(f"SET NAMES utf8mb4; INSERT INTO d.types VALUES ({row})")
    source.sql(
        "CREATE TABLE d.t (a INT PRIMARY KEY AUTO_INCREMENT, b VARCHAR(100), KEY (b)); "
        "INSERT INTO d.t (b) VALUES ('one'), ('two'), ('three'); UPDATE d.t SET b = CONCAT(b, '!') WHERE a > 1; DELETE FROM d.t WHERE a = 2; "
        "ALTER TABLE d.t ADD COLUMN c INT DEFAULT 7; CREATE INDEX k ON d.t (c); INSERT INTO d.t (b) SELECT b FROM d.t; "
        "CREATE VIEW d.v AS SELECT a FROM d.t; TRUNCATE TABLE d.types"
    )
    for row in ROWS:
        source.sql(f"SET NAMES utf8mb4; REPLACE INTO d.types VALUES ({row})")
    source.sql(
        "XA START 'x1'; INSERT INTO d.t (b) VALUES ('xa'); XA END 'x1'; XA PREPARE 'x1'; XA COMMIT 'x1'; "
        "XA START 'x2','b',9; INSERT INTO d.t (b) VALUES ('no'); XA END 'x2','b',9; XA PREPARE 'x2','b',9; XA ROLLBACK 'x2','b',9"
    )
    source.sql("BEGIN; INSERT INTO d.t (b) VALUES ('s'); SAVEPOINT s; INSERT INTO d.t (b) VALUES ('gone'); ROLLBACK TO s; COMMIT")


def test_mysql_follows(replica, source):
    fill(source)
    mysql = replica()
    mysql.follow(source.port)
    mysql.wait_for(source)
    mysql.equal(source, "d.types", "d.t")
    # What comes while it runs, over several files, with a large transaction whose events stand before others' commits.
    source.sql("FLUSH BINARY LOGS; INSERT INTO d.t (b) VALUES ('new file')")
    source.sql("SET GLOBAL binlog_oob_threshold = 65536")
    source.sql(
        "CREATE TABLE d.big (a INT PRIMARY KEY, b VARCHAR(200)); "
        "INSERT INTO d.big WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 20000) SELECT n, REPEAT('x', 200) FROM s"
    )
    source.sql("UPDATE d.big SET b = a WHERE a % 3 = 0; DROP TABLE d.types")
    mysql.wait_for(source)
    mysql.equal(source, "d.t", "d.big")
    # It went away and comes back; meanwhile the source was killed.
    mysql.server.stop()
    source.sql("INSERT INTO d.t (b) VALUES ('while it was away')")
    source.kill()
    source.start()
    source.sql("DELETE FROM d.big WHERE a < 100")
    mysql.server.start()
    mysql.rows("START REPLICA")
    mysql.wait_for(source)
    mysql.equal(source, "d.t", "d.big")


def test_what_mysql_has_other_words_for(replica, source):
    """JSON is text here: it comes as text. So do defaults, collations and options that MySQL writes in another way."""
    source.sql(
        "CREATE TABLE d.j (id INT PRIMARY KEY, json JSON NOT NULL DEFAULT '{}', n INT, KEY k (n) IGNORED); "
        "SET NAMES utf8mb4; INSERT INTO d.j VALUES (1, '{\"b\": 1, \"a\": [1, 2.50, null]}', 1), (2, '\"naïve 😀\"', 2); INSERT INTO d.j (id) VALUES (3); "
        "ALTER TABLE d.j ADD COLUMN IF NOT EXISTS more JSON AFTER json, ALTER INDEX k NOT IGNORED, ALTER json SET DEFAULT '[]'; "
        "UPDATE d.j SET more = JSON_ARRAY(id, 'x'), json = JSON_SET(json, '$.c', id) WHERE id < 3; INSERT INTO d.j (id) VALUES (4); "
        "CREATE TABLE d.texts (id CHAR(36) PRIMARY KEY DEFAULT uuid(), a TEXT DEFAULT 'x', b DATE DEFAULT curdate(), c INT AS (LENGTH(d)) PERSISTENT, "
        "d VARCHAR(9) COLLATE utf8mb4_uca1400_nopad_as_cs) COLLATE uca1400_ai_ci; INSERT INTO d.texts (d) VALUES ('é'), ('É'), ('e'); "
        "CREATE TABLE d.made SELECT id, json, n FROM d.j; INSERT INTO d.made VALUES (9, '9', 9); DROP INDEX IF EXISTS k ON d.j"
    )
    mysql = replica()
    mysql.follow(source.port)
    mysql.wait_for(source)
    mysql.equal(source, "d.j", "d.texts", "d.made")
    columns = "SELECT DATA_TYPE, COLLATION_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'd' AND COLUMN_NAME "
    assert mysql.rows(columns + "IN ('json', 'more')") == [["longtext", "utf8mb4_bin"]] * 3
    assert mysql.rows(columns + "= 'd'") == [["varchar", "utf8mb4_0900_as_cs"]]
    assert mysql.rows("SELECT id FROM d.j WHERE json->'$.c' = 1") == [["1"]]


def test_a_replica_that_lacks_one_in_the_middle_is_sent_that_one(replica, source):
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1); INSERT INTO d.t VALUES (2); INSERT INTO d.t VALUES (3)")
    uuid = source.sql("SELECT @@server_uuid")[0][0]
    last = int(source.sql("SELECT SUBSTRING_INDEX(@@gtid_binlog_pos, '-', -1)")[0][0])
    mysql = replica()
    # It has all but the second row: that transaction alone comes.
    mysql.rows("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1), (3)")
    reset = "RESET MASTER" if mysql.rows("SELECT VERSION()")[0][0].startswith("8.0") else "RESET BINARY LOGS AND GTIDS"
    mysql.rows(f"{reset}; SET GLOBAL gtid_purged = '{uuid}:1-{last - 2}:{last}'")
    mysql.follow(source.port)
    mysql.wait_for(source)
    assert mysql.rows("SELECT a FROM d.t ORDER BY a") == [["1"], ["2"], ["3"]]


def test_what_was_purged_is_refused(replica, source):
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY); FLUSH BINARY LOGS; INSERT INTO d.t VALUES (1); FLUSH BINARY LOGS")
    files = [r[0] for r in source.sql("SHOW BINARY LOGS")]
    source.sql(f"PURGE BINARY LOGS TO '{files[-1]}'")
    assert source.sql("SELECT @@gtid_purged")[0][0] == source.sql("SELECT @@gtid_executed")[0][0]
    mysql = replica()
    mysql.follow(source.port)
    end = time.monotonic() + 60
    while not (failure := mysql.failure()):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert "purged" in failure, failure


def test_a_file_and_an_offset_are_refused(replica, source):
    mysql = replica()
    name = source.sql("SHOW MASTER STATUS")[0][0]
    mysql.rows(
        f"CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_PORT={source.port}, SOURCE_USER='repl', SOURCE_LOG_FILE='{name}', "
        "SOURCE_LOG_POS=4, SOURCE_AUTO_POSITION=0; START REPLICA"
    )
    end = time.monotonic() + 60
    while not (failure := mysql.failure()):
        assert time.monotonic() < end
        time.sleep(0.1)
    assert "SOURCE_AUTO_POSITION = 1" in failure, failure


def test_commits_wait_for_mysqls_acknowledgement(replica, source):
    mysql = replica("--plugin-load-add=semisync_replica.so", "--rpl-semi-sync-replica-enabled=ON")
    mysql.follow(source.port)
    mysql.wait_for(source)
    source.sql("SET GLOBAL rpl_semi_sync_master_timeout = 600000, GLOBAL rpl_semi_sync_master_enabled = ON")
    end = time.monotonic() + 60
    while source.status("Rpl_semi_sync_master_clients")["Rpl_semi_sync_master_clients"] != "1":
        assert time.monotonic() < end
        time.sleep(0.1)
    source.sql("CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1)")
    assert int(source.status("Rpl_semi_sync_master_yes_tx")["Rpl_semi_sync_master_yes_tx"]) >= 2
    mysql.wait_for(source)
    mysql.equal(source, "d.t")


def test_sets_of_gtids(source):
    a, b = "36de7872-e84b-11f1-a942-02fc00000001", "403aba26-e84b-11f1-a59a-02fc00000001"
    assert source.sql(f"SELECT GTID_SUBSET('{a}:2-3', '{a}:1-5'), GTID_SUBSET('{a}:2-6', '{a}:1-5'), GTID_SUBSET('', '{a}:1')") == [["1", "0", "1"]]
    assert source.sql(f"SELECT GTID_SUBTRACT('{a}:1-9,{b}:1', '{a}:3:5-6')") == [[f"{a}:1-2:4:7-9,\\n{b}:1"]]
    assert source.sql("SELECT GTID_SUBSET(NULL, ''), WAIT_FOR_EXECUTED_GTID_SET(@@gtid_executed)") == [["NULL", "0"]]
    assert source.sql(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{a}:1', 0.1)") == [["1"]]
    with pytest.raises(RuntimeError, match="1772.*Malformed GTID set specification 'x:1'"):
        source.sql("SELECT GTID_SUBSET('x:1', '')")
