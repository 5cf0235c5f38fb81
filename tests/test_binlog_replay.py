"""BINLOG and `gtid_next`: a log that `mariadb-binlog` or `mysqlbinlog` prints is run by a client, as people restore to a moment."""

from __future__ import annotations

import base64
import struct
import subprocess
from pathlib import Path

import pytest
from support import Client
from test_mysql_face import tool
from test_mysql_source import ROWS, TYPES, MySQLSource, equal

WORK = """
CREATE TABLE d.t (a INT PRIMARY KEY AUTO_INCREMENT, b VARCHAR(100) CHARACTER SET utf8mb4, c LONGBLOB, KEY (b));
INSERT INTO d.t (b, c) VALUES ('one', X'00ff'), ('two', NULL), ('naïve 😀', REPEAT('x', 70000));
UPDATE d.t SET b = CONCAT(b, '!') WHERE a > 1;
BEGIN; INSERT INTO d.t (b) VALUES ('s'); SAVEPOINT s; INSERT INTO d.t (b) VALUES ('gone'); ROLLBACK TO s; DELETE FROM d.t WHERE a = 1; COMMIT;
ALTER TABLE d.t ADD COLUMN e INT DEFAULT 7;
INSERT INTO d.t (b) SELECT b FROM d.t;
CREATE TABLE d.big (n INT PRIMARY KEY, v VARCHAR(200) CHARACTER SET utf8mb4);
INSERT INTO d.big WITH RECURSIVE s AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM s WHERE n < 900) SELECT n, REPEAT('v', 150) FROM s;
UPDATE d.big SET v = n WHERE n % 3 = 0;
DELETE FROM d.big WHERE n % 5 = 0;
CREATE VIEW d.v AS SELECT a FROM d.t;
"""
TABLES = {"t": "SELECT a, HEX(b), HEX(c), e FROM d.t ORDER BY a", "big": "SELECT n, v FROM d.big ORDER BY n"}


def replay(server, printed: bytes, client: list[str] | None = None) -> subprocess.CompletedProcess:
    command = client or ["mariadb", "--no-defaults"]
    return subprocess.run(
        [*command, "-h127.0.0.1", f"-P{server.port}", "-uroot", "--default-character-set=utf8mb4"], input=printed, capture_output=True, timeout=120
    )


def printed_by(command: list[str], files: list[Path]) -> bytes:
    done = subprocess.run([*command, *map(str, files)], capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def content(server) -> dict:
    return {name: server.sql(query) for name, query in TABLES.items()}


@pytest.mark.parametrize("options", [[], ["--log-bin-compress=ON", "--log-bin-compress-min-len=10"], ["--binlog-row-image=MINIMAL"]])
def test_a_mariadbs_log_is_replayed(lab, own, own_narwal, options):
    source = own(lab.mariadb(["--log-bin=log", "--binlog-format=ROW", "--server-id=9", "--gtid-domain-id=4", *options]))
    narwal = own_narwal("--server-id=5", "--gtid-strict-mode=ON")
    source.sql("CREATE DATABASE d; SET NAMES utf8mb4; " + WORK.replace("\n", " "))
    files = [source.datadir / row[0] for row in source.sql("SHOW BINARY LOGS")]
    done = replay(narwal, printed_by(["mariadb-binlog", "--no-defaults"], files))
    assert done.returncode == 0, done.stderr.decode()
    assert content(narwal) == content(source)
    with Client(narwal) as c:
        # The transactions keep their names.
        assert c.value("SELECT @@gtid_binlog_pos") == source.sql("SELECT @@gtid_binlog_pos")[0][0]
    narwal.kill()
    narwal.start()
    assert content(narwal) == content(source)


def test_its_own_log_is_replayed(own_narwal):
    first, second = own_narwal("--server-id=5"), own_narwal("--server-id=6")
    first.sql("CREATE DATABASE d; SET NAMES utf8mb4; " + WORK.replace("\n", " "))
    names = [row[0] for row in first.sql("SHOW BINARY LOGS")]
    read = ["mariadb-binlog", "--no-defaults", "--read-from-remote-server", "-h127.0.0.1", f"-P{first.port}", "-uroot"]
    done = replay(second, printed_by(read, [Path(n) for n in names]))
    assert done.returncode == 0, done.stderr.decode()
    assert content(second) == content(first)
    with Client(first) as a, Client(second) as b:
        assert a.value("SELECT @@gtid_binlog_state") == b.value("SELECT @@gtid_binlog_state")


@pytest.mark.parametrize("version", ["mysql-8.4", "mysql-9.7"])
def test_a_mysqls_log_is_replayed_once(version, tmp_path, own_narwal):
    print_log, client = tool(version, "mysqlbinlog"), tool(version, "mysql")
    source = MySQLSource(version, tmp_path / "mysql", [])
    try:
        source.sql(WORK.replace("\n", " "))
        source.sql(TYPES)
        for row in ROWS:
            source.sql(f"INSERT INTO d.types VALUES ({row})")
        source.sql("XA START 'x'; INSERT INTO d.t (b) VALUES ('xa'); XA END 'x'; XA PREPARE 'x'; XA COMMIT 'x'; FLUSH BINARY LOGS")
        source.sql("DELETE FROM d.t WHERE a = 2")
        files = [source.server.datadir / row[0] for row in source.sql("SHOW BINARY LOGS")]
        narwal = own_narwal("--server-id=5", "--narwal-dialect=mysql")
        log = printed_by([*print_log, "--no-defaults"], files)
        done = replay(narwal, log, [*client, "--no-defaults"])
        assert done.returncode == 0, done.stderr.decode()
        wanted = content(source.server)
        assert content(narwal) == wanted
        equal(narwal, source, "d.types")
        assert narwal.sql(f"SELECT GTID_SUBSET('{source.executed}', @@GLOBAL.gtid_executed)") == [["1"]]
        # Again, and after a crash: what is here is passed over.
        before = narwal.sql("SELECT @@gtid_binlog_pos")
        narwal.kill()
        narwal.start()
        done = replay(narwal, log, [*client, "--no-defaults"])
        assert done.returncode == 0, done.stderr.decode()
        assert content(narwal) == wanted
        assert narwal.sql("SELECT @@gtid_binlog_pos") == before
    finally:
        source.server.kill()


def events(data: bytes) -> list[bytes]:
    found, at = [], 4
    while at < len(data):
        (size,) = struct.unpack_from("<I", data, at + 9)
        found.append(data[at : at + size])
        at += size
    return found


def binlog(*parts: bytes) -> str:
    return "BINLOG '" + "\n".join(base64.b64encode(p).decode() for p in parts) + "'"


def test_what_is_no_log_is_an_error(lab, own, own_narwal):
    source = own(lab.mariadb(["--log-bin=log", "--binlog-format=ROW", "--server-id=9"]))
    source.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY); INSERT INTO d.t VALUES (1), (2)")
    file = source.datadir / source.sql("SHOW BINARY LOGS")[-1][0]
    log = events(file.read_bytes())
    of = lambda kind: next(e for e in log if e[4] == kind)
    description, table_map, rows, query, xid = of(15), of(19), of(23), of(2), of(16)
    flipped = bytearray(rows)
    flipped[-6] ^= 1
    narwal = own_narwal()
    narwal.sql("CREATE DATABASE d; CREATE TABLE d.t (a INT PRIMARY KEY); CREATE TABLE d.u (a INT); CREATE USER u; GRANT ALL ON d.* TO u")
    with Client(narwal) as c, Client(narwal, user="u") as other:
        other.fails(binlog(description), 1227)
        c.fails(binlog(table_map, rows), 1609)
        c.ok(binlog(description))
        for text, code in (("", 1149), ("AAAA", 1149), ("a", 1575), ("!!!!", 1575)):
            c.fails(f"BINLOG '{text}'", code)
        c.fails(binlog(xid), 1730)
        c.fails(binlog(query), 1730)
        c.fails(binlog(rows), 1610)
        c.fails(binlog(table_map, rows[:-6]), 1149)
        c.fails(binlog(table_map, bytes(flipped)), 1743)
        # An error takes all of its rows back.
        c.fails(binlog(table_map, rows, xid), 1730)
        assert c.rows("SELECT * FROM d.t") == []
        c.ok("BEGIN")
        c.ok("INSERT INTO d.t VALUES (9)")
        c.fails(binlog(table_map, rows, xid), 1730)
        assert c.ints("SELECT a FROM d.t") == [9]
        c.ok("ROLLBACK")
        c.ok("BEGIN")
        c.ok(binlog(table_map, rows))
        assert c.ints("SELECT a FROM d.t") == [1, 2]
        c.fails(binlog(table_map, rows), 1062)
        c.ok("ROLLBACK")
        assert c.rows("SELECT * FROM d.t") == []
        c.ok("START TRANSACTION READ ONLY")
        c.fails(binlog(table_map, rows), 1792)
        c.ok("ROLLBACK")
        c.ok("LOCK TABLES d.u WRITE")
        c.fails(binlog(table_map, rows), 1100)
        c.ok("UNLOCK TABLES")
        c.fails("BINLOG @a, @b", 1232)
        whole = binlog(table_map, rows)[8:-1]
        c.ok(f"SET @a = '{whole[:40]}', @b = '{whole[40:]}'")
        c.ok("BINLOG @a, @b")
        assert c.rows("SELECT a, @a, @b FROM d.t") == [("1", None, None), ("2", None, None)]


def test_names_of_transactions(own_narwal):
    """What MySQL 9.7 answers to the same statements."""
    narwal = own_narwal()
    name = "aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa:{}".format
    with Client(narwal) as c, Client(narwal) as other:
        said = lambda n: c.ok(f"SET gtid_next = '{name(n)}'")
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (a INT PRIMARY KEY)")
        for value, code in (("'x'", 1774), (f"'{name('1-2')}'", 1774), ("NULL", 1231), ("5", 1232), ("'ANONYMOUS'", 1782)):
            c.fails(f"SET gtid_next = {value}", code)
        c.ok("BEGIN")
        c.fails(f"SET gtid_next = '{name(1)}'", 1766)
        c.ok("ROLLBACK")
        said(1)
        assert c.rows("SELECT @@gtid_next, @@gtid_owned") == [(name(1), name(1))]
        assert other.value("SELECT @@GLOBAL.gtid_owned").startswith(name(1) + "#")
        waits = other.background(f"SET gtid_next = '{name(1)}'")
        assert waits.blocked()
        c.ok("INSERT INTO d.t VALUES (1)")
        waits.ok()
        # It is here: the other's transaction is passed over.
        other.ok("BEGIN")
        other.ok("INSERT INTO d.t VALUES (77)")
        other.ok("COMMIT")
        other.fails("INSERT INTO d.t VALUES (78)", 1837)
        other.ok("SET gtid_next = AUTOMATIC")
        for statement in ("INSERT INTO d.t VALUES (2)", "CREATE TABLE d.u (a INT)", "FLUSH TABLES", "CREATE USER x", "CREATE PROCEDURE d.p() DO 1"):
            c.fails(statement, 1837)
        assert c.ints("SELECT a FROM d.t") == [1]
        said(1)
        c.ok("CREATE TABLE d.u (a INT)")
        c.fails("SHOW CREATE TABLE d.u", 1146)
        # Given up by ROLLBACK and by an error.
        said(2)
        c.ok("BEGIN")
        c.ok("INSERT INTO d.t VALUES (5)")
        c.fails("CREATE TABLE d.u (a INT)", 1778)
        c.fails("BEGIN", 1778)
        c.ok("ROLLBACK")
        c.fails("INSERT INTO d.t VALUES (5)", 1837)
        said(2)
        c.fails("INSERT INTO d.t VALUES (1)", 1062)
        said(2)
        c.ok("COMMIT")
        said(3)
        c.ok("CREATE TABLE d.u (a INT)")
        said(4)
        c.ok("CREATE USER x")
        c.ok("SET gtid_next = AUTOMATIC")
        c.ok("INSERT INTO d.t VALUES (6)")
        assert c.rows(f"SELECT GTID_SUBSET('{name('1-4')}', @@GLOBAL.gtid_executed), GTID_SUBSET('{name(5)}', @@GLOBAL.gtid_executed)") == [("1", "0")]
        # A connection that goes gives its name back.
        said(9)
    with Client(narwal) as c:
        c.ok(f"SET gtid_next = '{name(9)}'")
        c.ok("INSERT INTO d.t VALUES (9)")
    narwal.kill()
    narwal.start()
    with Client(narwal) as c:
        assert c.rows(f"SELECT GTID_SUBSET('{name('1-4:9')}', @@GLOBAL.gtid_executed), @@gtid_owned, @@gtid_next") == [("1", "", "AUTOMATIC")]
        assert c.ints("SELECT a FROM d.t ORDER BY a") == [1, 6, 9]
