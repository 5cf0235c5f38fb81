"""Classic binary log files of a real MariaDB, and hand-made ones of MySQL's kind, become data folders with the same rows."""

from __future__ import annotations

import re
import struct
import subprocess
import time
import uuid
import zlib
from pathlib import Path

import pytest

from conftest import STAND_IN
from support import Client, peak_memory
from test_binlog_export import binlog_text, content, gtids, run_history, write_all_types

pytestmark = pytest.mark.skipif(STAND_IN, reason="what only Narwal has")

SOURCE = ["--log-bin=src-bin", "--server-id=7", "--binlog-format=ROW", "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci"]


@pytest.fixture
def source(lab, own):
    """A factory of MariaDB servers that write binary logs."""
    return lambda *args: own(lab.mariadb([*SOURCE, *args]))


def run_import(server, *args: object, into: Path | None = None) -> subprocess.CompletedProcess:
    return subprocess.run(
        [str(server.binary), "binlog", "import", f"--into={into or server.datadir}", *map(str, args)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip


def imported(server, *args: object) -> str:
    done = run_import(server, *args)
    assert done.returncode == 0, done.stderr
    return done.stdout


def refused(server, *args: object) -> str:
    done = run_import(server, *args)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert not server.datadir.exists(), "a half import looks whole"
    return done.stderr


def index(server) -> Path:
    return server.datadir / "src-bin.index"


def row_changes(path: Path) -> list[str]:
    """The changes of rows in a binary log file, as mariadb-binlog prints them, without types."""
    lines = []
    for line in binlog_text(path, "-v").splitlines():
        if line.startswith("###"):
            # MariaDB writes BINARY without its trailing zero bytes, Narwal with them: readers pad what is short.
            lines.append(re.sub(r"(\\x00)+'$", "'", re.sub(r" /\*.*", "", line)))
    return lines


def write_mixture(client: Client) -> None:
    """All types, domains, statements, tables without key, savepoints, users."""
    write_all_types(client)
    client.ok("SET SESSION gtid_domain_id = 5")
    client.ok("CREATE DATABASE d2")
    client.ok("USE d2")
    client.ok("CREATE TABLE t (a INT, b VARCHAR(20), c VARBINARY(10), KEY (a))")
    client.ok("INSERT INTO t VALUES (1, 'x', 'y'), (1, 'x', 'y'), (2, NULL, NULL), (NULL, NULL, 'z')")
    client.ok("UPDATE t SET b = 'new' WHERE a = 1 LIMIT 1")
    client.ok("DELETE FROM t WHERE a IS NULL")
    client.ok("SET SESSION gtid_domain_id = 0")
    client.ok("CREATE TABLE u (id INT PRIMARY KEY DEFAULT 7, n BIGINT NOT NULL DEFAULT 42, s VARCHAR(10) NOT NULL DEFAULT 'dflt', d DATETIME(3) DEFAULT '2024-01-02 03:04:05.678', e DECIMAL(8,2) DEFAULT 1.25, x TEXT, y BLOB, UNIQUE KEY (n, id), KEY (s))")
    client.ok("BEGIN")
    client.ok("INSERT INTO u (id) VALUES (1)")
    client.ok("INSERT INTO u (id, x, y) VALUES (2, 'text', 'blob')")
    client.ok("SAVEPOINT s1")
    client.ok("INSERT INTO u (id) VALUES (3)")
    client.ok("ROLLBACK TO s1")
    client.ok("UPDATE u SET n = n + 1, x = REPEAT('x', 3000)")
    client.ok("COMMIT")
    client.ok("UPDATE u SET id = id + 10")
    client.ok("REPLACE INTO u (id, n) VALUES (11, 5), (20, 6)")
    client.ok("INSERT INTO u (id, n) VALUES (20, 9) ON DUPLICATE KEY UPDATE n = n + VALUES(n)")
    client.ok("CREATE INDEX later ON u (e)")
    client.ok("ALTER TABLE u DROP INDEX s")
    client.ok("CREATE TABLE gone (a INT PRIMARY KEY)")
    client.ok("INSERT INTO gone VALUES (1)")
    client.ok("TRUNCATE TABLE gone")
    client.ok("INSERT INTO gone VALUES (2)")
    client.ok("DROP TABLE gone")
    client.ok("DROP TABLE IF EXISTS never_there")
    client.ok("ANALYZE TABLE u")
    client.ok("CREATE TABLE k (a INT PRIMARY KEY)")
    client.ok("DELETE u, t FROM u JOIN t ON t.a = 2 WHERE u.id = 20")
    client.ok("CREATE USER alice@localhost IDENTIFIED BY 'secret'")
    client.ok("GRANT SELECT, INSERT ON d2.* TO alice@localhost")


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--binlog-row-image=MINIMAL", "--binlog-annotate-row-events=OFF", "--log-bin-compress=ON", "--log-bin-compress-min-len=10"],
        ["--binlog-row-image=NOBLOB", "--binlog-row-metadata=FULL", "--max-binlog-size=4096"],
        ["--binlog-checksum=NONE", "--gtid-domain-id=3"],
    ],
    ids=["defaults", "minimal-compressed", "noblob-many-files", "no-checksums"],
)
def test_rows_gtids_and_definitions_come_over(source, own_narwal, tmp_path, options):
    primary = source(*options)
    databases = ["types_db", "history_31", "d2"]
    with Client(primary) as client:
        run_history(client, 31, 120)
        write_mixture(client)
        expected = {d: content(client, d) for d in databases}
        gtid_pos = client.value("SELECT @@gtid_binlog_pos")
        state = client.value("SELECT @@gtid_binlog_state")
    assert primary.stop() == 0
    server = own_narwal(start=False)
    report = imported(server, index(primary))
    assert gtid_pos in report, report
    server.start()
    with Client(server) as client:
        assert client.value("SELECT @@gtid_binlog_pos") == gtid_pos
        assert sorted(client.value("SELECT @@gtid_binlog_state").split(",")) == sorted(state.split(","))
        for d in databases:
            found = content(client, d)
            for table, rows in expected[d]["rows"].items():
                assert found["rows"][table] == rows, f"{d}.{table}"
            assert found["definitions"] == expected[d]["definitions"]
        client.ok("INSERT INTO d2.k VALUES (1)")
    with Client(server, user="alice", password="secret") as client:
        client.ok("SELECT COUNT(*) FROM d2.u")
        client.fails("SELECT * FROM types_db.alltypes", 1142)
    server.stop()
    # The folder's own log says the same as the files did, with the same GTIDs, times and server ids.
    files = sorted(p for p in primary.datadir.glob("src-bin.0*"))
    out = tmp_path / "out.000001"
    done = subprocess.run(
        [str(server.binary), "export-binlog", f"--datadir={server.datadir}", f"--out={out}"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    texts = [binlog_text(p, "-v") for p in files]
    theirs = [g for text in texts for g in gtids(text)]
    ours_text = binlog_text(out, "-v")
    ours = gtids(ours_text)
    assert ours[: len(theirs)] == theirs
    assert len(ours) == len(theirs) + 1
    if "MINIMAL" not in str(options) and "NOBLOB" not in str(options):
        changes = [line for p in files for line in row_changes(p)]
        assert row_changes(out)[: len(changes)] == changes


def header_times(text: str) -> list[str]:
    """Date and server id of each GTID event."""
    return re.findall(r"^#(\d{6} +[\d:]+ server id \d+) .*\tGTID ", text, re.M)


def test_times_and_server_ids(source, own_narwal, tmp_path):
    primary = source()
    with Client(primary) as client:
        client.ok("SET timestamp = 1500000000")
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (a INT PRIMARY KEY, s TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)")
        client.ok("SET SESSION server_id = 99, timestamp = 1600000000")
        client.ok("INSERT INTO d.t (a) VALUES (1)")
        client.ok("SET SESSION gtid_seq_no = 1000")
        client.ok("INSERT INTO d.t (a) VALUES (2)")
        rows = client.rows("SELECT a, UNIX_TIMESTAMP(s) FROM d.t ORDER BY a")
    primary.stop()
    server = own_narwal(start=False)
    imported(server, primary.datadir / "src-bin.000001")
    out = tmp_path / "out.000001"
    subprocess.run([str(server.binary), "export-binlog", f"--datadir={server.datadir}", f"--out={out}"], check=True, timeout=60)
    ours, theirs = binlog_text(out), binlog_text(primary.datadir / "src-bin.000001")
    assert gtids(ours) == gtids(theirs) == [(0, 7, 1), (0, 7, 2), (0, 99, 3), (0, 99, 1000)]
    assert header_times(ours) == header_times(theirs) != []
    server.start()
    with Client(server) as client:
        assert client.rows("SELECT a, UNIX_TIMESTAMP(s) FROM d.t ORDER BY a") == rows
        # The next one counts on.
        client.ok("INSERT INTO d.t (a) VALUES (3)")
        assert client.value("SELECT @@last_gtid") == "0-1-1001"


def test_statements_that_say_everything_are_run(source, own_narwal):
    primary = source("--binlog-format=MIXED")
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (a INT PRIMARY KEY, s TIMESTAMP)")
        client.ok("INSERT INTO d.t VALUES (1, NOW()), (2, NOW())")
        client.ok("BEGIN")
        client.ok("UPDATE d.t SET a = a + 10")
        client.ok("DELETE FROM d.t WHERE a = 12")
        client.ok("COMMIT")
        client.ok("INSERT INTO d.t VALUES (LENGTH(UUID()) * 0 + 3, NULL)")
        rows = client.rows("SELECT * FROM d.t ORDER BY a")
        last = client.value("SELECT @@gtid_binlog_pos")
    primary.stop()
    server = own_narwal(start=False)
    imported(server, index(primary))
    server.start()
    with Client(server) as client:
        assert client.rows("SELECT * FROM d.t ORDER BY a") == rows
        assert client.value("SELECT @@gtid_binlog_pos") == last


def test_statement_events_are_refused_with_their_place(source, own_narwal, tmp_path):
    primary = source("--binlog-format=STATEMENT")
    tmp_path.chmod(0o755)
    (tmp_path / "rows").write_text("7\n")
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (a INT PRIMARY KEY AUTO_INCREMENT, b INT)")
        # A statement that needs a file beside its text.
        client.ok(f"LOAD DATA INFILE '{tmp_path / 'rows'}' INTO TABLE d.t (b)")
    primary.stop()
    server = own_narwal(start=False)
    error = refused(server, index(primary))
    assert re.search(r"src-bin\.000001, position \d+ \(in group 0-7-3, which begins at position \d+\)", error), error
    assert "binlog_format=ROW" in error


@pytest.mark.parametrize(
    "definition, word",
    [
        ("g POINT", "POINT"),
    ],
)  # fmt: skip
def test_types_that_narwal_lacks(source, own_narwal, definition, word):
    primary = source()
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok(f"CREATE TABLE d.unsupported_table (id INT PRIMARY KEY, {definition})")
    primary.stop()
    error = refused(own_narwal(start=False), index(primary))
    assert "src-bin.000001, position" in error and "unsupported_table" in error, error
    assert word.lower() in error.lower(), error


def test_old_temporal_format(source, own_narwal):
    primary = source("--mysql56-temporal-format=OFF")
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, x DATETIME)")
        client.ok("INSERT INTO d.t VALUES (1, NOW())")
    primary.stop()
    error = refused(own_narwal(start=False), index(primary))
    assert re.search(r"src-bin\.000001, position \d+ .*d\.t.*'x'.*before MariaDB 10\.1.*1677", error, re.S), error


def test_failure_resume_and_append(source, own_narwal):
    primary = source()
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (a INT PRIMARY KEY)")
        client.ok("INSERT INTO d.t VALUES (1)")
        client.ok("CREATE VIEW d.v AS SELECT * FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) j")
        client.ok("INSERT INTO d.t VALUES (2)")
        client.ok("FLUSH BINARY LOGS")
        client.ok("INSERT INTO d.t VALUES (3)")
        primary.stop()
    server = own_narwal(start=False)
    error = refused(server, index(primary))
    assert "JSON_TABLE" in error.upper() and "--resume" in error
    # Somebody's folder by that name is not touched.
    done = run_import(server, "--resume", "--skip-unsupported", index(primary))
    assert done.returncode == 0, done.stderr
    assert "3 groups were there already" in done.stdout
    assert "without effect" in done.stderr
    assert not Path(f"{server.datadir}.importing").exists()
    # A second import does not touch the folder.
    done = run_import(server, index(primary))
    assert done.returncode == 1 and "not empty" in done.stderr
    primary.start()
    with Client(primary) as client:
        client.ok("INSERT INTO d.t VALUES (4)")
    primary.stop()
    done = run_import(server, "--append", "--skip-unsupported", index(primary))
    assert done.returncode == 0, done.stderr
    server.start()
    with Client(server) as client:
        assert client.ints("SELECT a FROM d.t ORDER BY a") == [1, 2, 3, 4]
        assert client.value("SELECT @@gtid_binlog_pos") == "0-7-7"


def test_missing_repeated_and_damaged_files(source, own_narwal, tmp_path):
    primary = source()
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (a INT PRIMARY KEY)")
        client.ok("FLUSH BINARY LOGS")
        client.ok("INSERT INTO d.t VALUES (1)")
        client.ok("FLUSH BINARY LOGS")
        client.ok("INSERT INTO d.t VALUES (2)")
        client.ok("INSERT INTO d.t VALUES (3)")
    primary.stop()
    one, two, three = (primary.datadir / f"src-bin.00000{n}" for n in (1, 2, 3))
    error = refused(own_narwal(start=False), one, three)
    assert "src-bin.000003" in error and "a file is missing" in error
    error = refused(own_narwal(start=False), one, one)
    assert "given twice" in error
    damaged = tmp_path / "damaged.000003"
    data = bytearray(three.read_bytes())
    data[400] ^= 1
    damaged.write_bytes(data)
    error = refused(own_narwal(start=False), one, two, damaged)
    assert re.search(r"damaged\.000003: position \d+: checksum", error), error
    # As a crash leaves the last file: the end is missing, from inside the last transaction's rows on.
    data, at, last_xid = three.read_bytes(), 4, 0
    while at < len(data):
        last_xid = at if data[at + 4] == 16 else last_xid
        at += int.from_bytes(data[at + 9 : at + 13], "little")
    damaged.write_bytes(data[: last_xid - 6])
    server = own_narwal(start=False)
    done = run_import(server, one, two, damaged)
    assert done.returncode == 0, done.stderr
    assert "left out" in done.stderr and "0-7-5" in done.stderr
    server.start()
    with Client(server) as client:
        assert client.ints("SELECT a FROM d.t ORDER BY a") == [1, 2]
    # Not in the middle.
    refused(own_narwal(start=False), damaged, one)


def test_ignored_databases_and_tables(source, own_narwal):
    primary = source()
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (a INT PRIMARY KEY)")
        client.ok("CREATE DATABASE other")
        client.ok("USE other")
        client.ok("CREATE TABLE e (e ENUM('x'))")
        client.ok("INSERT INTO e VALUES ('x')")
        client.ok("USE d")
        client.ok("CREATE TABLE log (a INT PRIMARY KEY)")
        client.ok("INSERT INTO log VALUES (1)")
        client.ok("INSERT INTO t VALUES (1)")
        gtid = client.value("SELECT @@gtid_binlog_pos")
    primary.stop()
    server = own_narwal(start=False)
    imported(server, "--ignore-db=other", "--ignore-table=d.log", index(primary))
    server.start()
    with Client(server) as client:
        assert client.value("SELECT @@gtid_binlog_pos") == gtid
        assert client.ints("SELECT a FROM d.t") == [1]
        assert client.rows("SELECT a FROM d.log") == []


# ---- files of MySQL's kind, made by hand ----

ONE = uuid.UUID("3e11fa47-71ca-11e1-9e33-c80aa9429562")
TWO = uuid.UUID("4e11fa47-71ca-11e1-9e33-c80aa9429562")


class MySqlLog:
    """A binary log file as MySQL 8 writes it, from the layouts of its documentation."""

    FDE, QUERY, XID, TABLE_MAP, WRITE, UPDATE, DELETE, GTID, ANONYMOUS, PREVIOUS, ROWS_QUERY = 15, 2, 16, 19, 30, 31, 32, 33, 34, 35, 29

    def __init__(self, server_id: int = 3):
        self.data = bytearray(b"\xfebin")
        self.server_id = server_id
        lengths = bytes([0] * 41)
        self.event(self.FDE, struct.pack("<H50sIB", 4, b"8.0.36", 0, 19) + lengths + b"\x01")
        self.event(self.PREVIOUS, struct.pack("<Q", 0))

    def event(self, kind: int, body: bytes, flags: int = 0) -> None:
        size = 19 + len(body) + 4
        end = len(self.data) + size
        event = struct.pack("<IBIIIH", 1700000000, kind, self.server_id, size, end, flags) + body
        self.data += event + struct.pack("<I", zlib.crc32(event))

    def gtid(self, source: uuid.UUID | None, number: int = 0) -> None:
        body = b"\x00" + (source.bytes if source else bytes(16)) + struct.pack("<QBQQ", number, 2, 0, 1) + bytes(7) + b"\xfa" + struct.pack("<I", 80036)
        self.event(self.GTID if source else self.ANONYMOUS, body)

    def query(self, sql: str, db: str = "", collation_server: int = 45) -> None:
        variables = struct.pack("<BI", 0, 0) + struct.pack("<BQ", 1, 0x50000000) + b"\x06\x03std" + struct.pack("<BHHH", 4, 45, 45, collation_server)
        variables += b"\x12" + struct.pack("<H", 255) + b"\x13\x00"
        body = struct.pack("<IIBHH", 9, 0, len(db), 0, len(variables)) + variables + db.encode() + b"\x00" + sql.encode()
        self.event(self.QUERY, body)

    def table_map(self, table_id: int, db: str, table: str, types: bytes, meta: bytes) -> None:
        n = len(types)
        body = table_id.to_bytes(6, "little") + b"\x01\x00" + bytes([len(db)]) + db.encode() + b"\x00" + bytes([len(table)]) + table.encode() + b"\x00"
        body += bytes([n]) + types + bytes([len(meta)]) + meta + bytes((n + 7) // 8)
        self.event(self.TABLE_MAP, body)

    def rows(self, kind: int, table_id: int, columns: int, data: bytes, bitmaps: bytes) -> None:
        self.event(kind, table_id.to_bytes(6, "little") + b"\x01\x00" + b"\x02\x00" + bytes([columns]) + bitmaps + data)

    def write_to(self, path: Path) -> Path:
        path.write_bytes(self.data)
        return path

    def schema(self, source: uuid.UUID | None) -> None:
        self.gtid(source, 1)
        self.query("CREATE DATABASE d")
        self.gtid(source, 2)
        self.query("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10), b BINARY(4))", "d")

    def insert(self, source: uuid.UUID | None, number: int, key: int) -> None:
        self.gtid(source, number)
        self.query("BEGIN", "d")
        self.event(self.ROWS_QUERY, b"\x06insert", 0x80)
        self.table_map(77, "d", "t", b"\x03\x0f\xfe", struct.pack("<H", 40) + b"\xfe\x04")
        # BINARY(4) comes without its trailing zeros.
        self.rows(self.WRITE, 77, 3, b"\x00" + struct.pack("<i", key) + b"\x03abc" + b"\x02\x01\x02", b"\x07")
        self.event(self.XID, struct.pack("<Q", number))


def test_mysql_files_with_gtids(own_narwal, tmp_path):
    log = MySqlLog()
    log.schema(ONE)
    log.insert(ONE, 3, 1)
    log.insert(TWO, 50, 2)
    log.insert(ONE, 4, 3)
    log.gtid(ONE, 5)
    log.query("BEGIN", "d")
    log.table_map(77, "d", "t", b"\x03\x0f\xfe", struct.pack("<H", 40) + b"\xfe\x04")
    log.rows(log.UPDATE, 77, 3, b"\x00" + struct.pack("<i", 1) + b"\x00\x03new", b"\x01\x02")
    log.table_map(78, "d", "t", b"\x03\x0f\xfe", struct.pack("<H", 40) + b"\xfe\x04")
    log.rows(log.DELETE, 78, 3, b"\x00" + struct.pack("<i", 3), b"\x01")
    log.event(log.XID, bytes(8))
    path = log.write_to(tmp_path / "binlog.000001")
    server = own_narwal(start=False)
    report = imported(server, path)
    assert f"{ONE}:N has become 0-SERVER_ID-N" in report and f"{TWO}:N has become 1-SERVER_ID-N" in report
    server.start()
    with Client(server) as client:
        assert client.value("SELECT @@gtid_binlog_pos") == "0-3-5,1-3-50"
        assert client.rows("SELECT id, v, HEX(b) FROM d.t ORDER BY id") == [("1", "new", "01020000"), ("2", "abc", "01020000")]
    server = own_narwal(start=False)
    report = imported(server, f"--map-uuid={TWO}=0", f"--map-uuid={ONE}=9", path)
    assert "0-3-50,9-3-5" in report


def test_mysql_files_without_gtids(own_narwal, tmp_path):
    log = MySqlLog()
    log.schema(None)
    log.insert(None, 0, 1)
    path = log.write_to(tmp_path / "binlog.000001")
    server = own_narwal(start=False)
    report = imported(server, "--domain-id=4", path)
    assert "GTID position 4-3-3" in report
    # Nobody could tell what is there already.
    done = run_import(server, "--append", path)
    assert done.returncode == 1 and "without GTID" in done.stderr


def test_mysql_collations(own_narwal, tmp_path):
    log = MySqlLog()
    log.gtid(ONE, 1)
    log.query("CREATE DATABASE d", collation_server=303)
    log.gtid(ONE, 2)
    log.query("CREATE TABLE t (a VARCHAR(9) COLLATE utf8mb4_ja_0900_as_cs PRIMARY KEY)", "d")
    path = log.write_to(tmp_path / "binlog.000001")
    error = refused(own_narwal(start=False), path)
    assert "id 303" in error and "CREATE DATABASE d" in error
    server = own_narwal(start=False)
    done = run_import(server, "--replace-collations", path)
    assert done.returncode == 0, done.stderr
    assert "utf8mb4_ja_0900_as_cs replaced" in done.stderr


@pytest.mark.parametrize(
    "body, kind, words",
    [(b"", 38, "XA"), (b"\x01\x00", 26, "INCIDENT"), (b"", 40, "compressed transactions"), (b"", 39, "JSON"), (b"", 42, "tagged"), (b"", 164, "encrypted")],
)
def test_events_that_are_refused(own_narwal, tmp_path, body, kind, words):
    log = MySqlLog()
    log.schema(ONE)
    log.gtid(ONE, 3)
    at = len(log.data)
    log.event(kind, body)
    path = log.write_to(tmp_path / "binlog.000001")
    error = refused(own_narwal(start=False), path)
    assert f"position {at}" in error and words in error, error


def test_own_files_come_back_with_bounded_memory(own_narwal, tmp_path):
    """What Narwal exports Narwal imports, also a transaction larger than the memory that it may have."""
    origin = own_narwal("--innodb-flush-log-at-trx-commit=2", "--max-binlog-size=4096")
    with Client(origin) as client:
        write_all_types(client)
        run_history(client, 4, 60)
        client.ok("CREATE DATABASE d2")
        client.ok("SET SESSION gtid_domain_id = 5, server_id = 8")
        client.ok("CREATE TABLE d2.nokey (a INT, b VARCHAR(20), c VARBINARY(10), KEY (a))")
        client.ok("INSERT INTO d2.nokey VALUES (1, 'x', 'y'), (1, 'x', 'y'), (2, NULL, NULL), (NULL, NULL, 'z')")
        client.ok("UPDATE d2.nokey SET b = 'new' WHERE a = 1 LIMIT 1")
        client.ok("SET SESSION gtid_domain_id = 0")
        client.ok("CREATE TABLE d2.large (id INT PRIMARY KEY, v VARCHAR(4000))")
        client.ok("BEGIN")
        for n in range(100):
            client.ok("INSERT INTO d2.large VALUES " + ", ".join(f"({n * 400 + i}, REPEAT('{i % 10}', 4000))" for i in range(400)))
        client.ok("UPDATE d2.large SET v = id WHERE id % 100 = 0")
        client.ok("COMMIT")
        expected = {d: content(client, d) for d in ("types_db", "history_4", "d2")}
        state = sorted(client.value("SELECT @@gtid_binlog_state").split(","))
    origin.stop()
    flat = tmp_path / "flat"
    subprocess.run([str(origin.binary), "binlog", "export", f"--datadir={origin.datadir}", str(flat)], check=True, timeout=120)
    server = own_narwal(start=False)
    command = [str(server.binary), "binlog", "import", f"--into={server.datadir}", "--memory=32M", str(flat / "narwal-bin.index")]
    # The transaction alone has 160 MB of rows.
    assert peak_memory(command, tmp_path / "said") < 120 << 20
    server.start()
    with Client(server) as client:
        assert {d: content(client, d) for d in expected} == expected
        assert sorted(client.value("SELECT @@gtid_binlog_state").split(",")) == state
    server.stop()
    again = tmp_path / "again"
    subprocess.run([str(server.binary), "binlog", "export", f"--datadir={server.datadir}", str(again)], check=True, timeout=120)

    def all_gtids(folder: Path) -> list:
        return [g for file in sorted(folder.glob("narwal-bin.0*")) for g in gtids(binlog_text(file, "--base64-output=DECODE-ROWS"))]

    assert all_gtids(again) == all_gtids(flat) != []


def test_a_killed_import_leaves_nothing_that_looks_whole(source, own_narwal):
    primary = source()
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (a INT PRIMARY KEY, v VARCHAR(1000))")
        for n in range(60):
            client.ok("INSERT INTO d.t VALUES " + ", ".join(f"({n * 500 + i}, REPEAT('x', 500))" for i in range(500)))
        rows = client.rows("SELECT COUNT(*), SUM(a) FROM d.t")
    primary.stop()
    server = own_narwal(start=False)
    work = Path(f"{server.datadir}.importing")
    # Stopped as soon as there is a folder: on a fast machine the whole import takes a fraction of a second.
    child = subprocess.Popen(
        [str(server.binary), "binlog", "import", f"--into={server.datadir}", str(index(primary))], stderr=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 30
    while not (work / "base.redb").exists() and time.monotonic() < deadline:
        time.sleep(0.001)
    child.kill()
    child.wait()
    assert not server.datadir.exists() and work.exists()
    serve = subprocess.run([str(server.binary), "serve", f"--datadir={work}", "--port=0"], capture_output=True, text=True, timeout=30)
    assert serve.returncode == 1 and "has not come to its end" in serve.stderr
    done = run_import(server, "--resume", index(primary))
    assert done.returncode == 0, done.stderr
    server.start()
    with Client(server) as client:
        assert client.rows("SELECT COUNT(*), SUM(a) FROM d.t") == rows
        assert client.value("SELECT @@gtid_binlog_pos") == "0-7-62"
