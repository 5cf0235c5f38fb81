"""The log's event groups as a flat file: `mariadb-binlog` reads it, and MariaDB rebuilds the same tables from it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import history
from conftest import STAND_IN
from support import Client, dump


def export(server, out: Path, *options: str) -> Path:
    """The binary log of a stopped server as a flat file."""
    if STAND_IN:
        # There the file exists already.
        shutil.copy(server.datadir / "narwal-bin.000001", out)
        return out
    done = subprocess.run(
        [str(server.binary), "export-binlog", f"--datadir={server.datadir}", f"--out={out}", *options],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return out


def binlog_text(path: Path, *options: str) -> str:
    done = subprocess.run(
        ["mariadb-binlog", "--no-defaults", "--verify-binlog-checksum", *options, str(path)],
        capture_output=True, text=True, errors="replace", timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for line in (done.stderr + done.stdout).splitlines():
        lower = line.lower()
        if line.startswith(("###", "#Q>")) or "error_code=0" in lower:
            continue
        assert not re.search(r"\berror\b|\bwarning\b", lower) or "was not closed properly" in lower, line
    return done.stdout


def gtids(text: str) -> list[tuple[int, int, int]]:
    return [tuple(map(int, m)) for m in re.findall(r"\bGTID (\d+)-(\d+)-(\d+)", text)]


def replay(path: Path, target) -> None:
    statements = subprocess.run(["mariadb-binlog", "--no-defaults", str(path)], capture_output=True, timeout=120)
    assert statements.returncode == 0, statements.stderr
    done = subprocess.run(
        ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{target.port}", "-uroot", "--binary-mode"],
        input=statements.stdout, capture_output=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode(errors="replace")


def content(client: Client, database: str) -> dict:
    client.ok(f"USE {database}")
    client.ok("SET time_zone = '+00:00'")
    tables = sorted(row[0] for row in client.rows("SHOW TABLES"))
    rows = dump(client, tables)
    # Every index must tell the same after a rebuild: definitions, without the counter's present value.
    definitions = {t: re.sub(r" AUTO_INCREMENT=\d+", "", client.rows(f"SHOW CREATE TABLE {t}")[0][1]) for t in tables}
    return {"rows": rows, "definitions": definitions}


ALL_TYPES = """CREATE TABLE alltypes (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, ti TINYINT, tu TINYINT UNSIGNED, si SMALLINT, su SMALLINT UNSIGNED,
    mi MEDIUMINT, mu MEDIUMINT UNSIGNED, ii INT, iu INT UNSIGNED, bi BIGINT, bu BIGINT UNSIGNED, de DECIMAL(20,6), df DECIMAL(65,30), fl FLOAT, db DOUBLE,
    ch CHAR(10), cl CHAR(200), cb CHAR(10) COLLATE utf8mb4_bin, vs VARCHAR(20), vl VARCHAR(300), vb VARCHAR(20) COLLATE utf8mb4_bin, bn BINARY(5), bl BINARY(255),
    vn VARBINARY(20), vm VARBINARY(300), tt TINYTEXT, tx TEXT, mt MEDIUMTEXT, lt LONGTEXT, tb TINYBLOB, bb BLOB, mb MEDIUMBLOB, lb LONGBLOB,
    da DATE, t0 TIME, t3 TIME(3), t6 TIME(6), d0 DATETIME, d1 DATETIME(1), d6 DATETIME(6), s0 TIMESTAMP NULL, s2 TIMESTAMP(2) NULL, s6 TIMESTAMP(6) NULL, ye YEAR)"""

ALL_VALUES = [
    """(NULL, -128, 255, -32768, 65535, -8388608, 16777215, -2147483648, 4294967295, -9223372036854775808, 18446744073709551615, -12345678901234.567891,
    12345678901234567890123456789012345.123456789012345678901234567890, 1.5, -1e100, 'abc', REPEAT('ž', 200), 'ÄÖ', 'v', REPEAT('🐎', 300), 'Bin', X'6100620000',
    REPEAT('q', 255), X'00FF00', REPEAT(X'01', 300), 'tiny', REPEAT('text', 500), 'm', 'l', X'00', REPEAT('b', 3000), 'mb', REPEAT('lb', 40000),
    '2024-02-29', '-838:59:59', '12:34:56.789', '-00:00:00.000001', '1000-01-01 00:00:00', '2024-02-03 04:05:06.7', '9999-12-31 23:59:59.999999',
    '1970-01-01 00:00:01', '2024-02-03 04:05:06.78', '2038-01-19 03:14:07.999999', 2155)""",
    "(NULL" + ", NULL" * 43 + ")",
    """(NULL, 127, 0, 32767, 0, 8388607, 0, 2147483647, 0, 9223372036854775807, 0, 0, -0.000000000000000000000000000001, -0.0, 0, '', '', '', '', '', '', '', '', '', '',
    '', '', '', '', '', '', '', '', '0001-01-01', '00:00:00', '838:59:59.999', '00:00:00.5', '2024-12-31 23:59:59', '2000-01-01', '2024-01-01 00:00:00.000001',
    '2024-06-01 12:00:00', NULL, '2024-06-01 12:00:00.5', 1901)""",
]


def write_all_types(client: Client) -> None:
    client.ok("CREATE DATABASE types_db")
    client.ok("USE types_db")
    client.ok("SET time_zone = '+00:00'")
    client.ok(ALL_TYPES)
    client.ok("INSERT INTO alltypes VALUES " + ", ".join(ALL_VALUES))
    client.ok("UPDATE alltypes SET ti = 5, vs = 'changed', d6 = '2024-03-03 03:03:03.030303' WHERE id = 1")
    client.ok("INSERT INTO alltypes (id, vs) VALUES (10, 'x'), (11, 'y')")
    client.ok("DELETE FROM alltypes WHERE id = 11")
    client.ok("CREATE TABLE many (id INT PRIMARY KEY, k INT, c CHAR(120), KEY (k))")
    client.ok("INSERT INTO many VALUES " + ", ".join(f"({n}, {n % 7}, REPEAT('{n % 10}', {n % 120}))" for n in range(2000)))
    client.ok("UPDATE many SET k = k + 1 WHERE id % 3 = 0")
    client.ok("CREATE TABLE nokey (a INT, b VARCHAR(10))")
    client.ok("INSERT INTO nokey VALUES (1, 'a'), (2, 'b'), (2, 'b')")
    client.ok("DELETE FROM nokey WHERE a = 1")


def run_history(client: Client, seed: int, length: int) -> None:
    client.ok(f"CREATE DATABASE history_{seed}")
    client.ok(f"USE history_{seed}")
    for create, _ in history.TABLES.values():
        client.ok(create)
    source = history.History(seed)
    for _ in range(length):
        client.run(source.next().sql)
    client.run("COMMIT")


def check_gtids(text: str) -> int:
    found = gtids(text)
    assert found, text[:2000]
    assert {(domain, server) for domain, server, _ in found} == {(0, 1)}
    assert [seq for _, _, seq in found] == list(range(1, len(found) + 1))
    return len(found)


@pytest.fixture
def rebuilt(lab):
    """A MariaDB into which logs are replayed."""
    target = lab.mariadb()
    yield target
    lab.remove(target)


def test_export_and_replay(own_narwal, rebuilt, tmp_path):
    server = own_narwal()
    with Client(server) as client:
        write_all_types(client)
        for seed in (11, 12):
            run_history(client, seed, 250)
        databases = ["types_db", "history_11", "history_12"]
        expected = {database: content(client, database) for database in databases}
        file, position = client.rows("SHOW MASTER STATUS")[0][:2]
        gtid = client.value("SELECT @@gtid_binlog_pos")
    assert server.stop() == 0
    path = export(server, tmp_path / "exported.000001")
    text = binlog_text(path, "-v")
    assert f"0-1-{check_gtids(text)}" == gtid
    # The position the server told is where the file's next group would stand.
    assert file == "narwal-bin.000001"
    ends = [int(n) for n in re.findall(r"end_log_pos (\d+)", text)]
    assert int(position) in ends[-2:], (position, ends[-3:])
    replay(path, rebuilt)
    with Client(rebuilt) as client:
        for database in databases:
            found = content(client, database)
            for table, rows in expected[database]["rows"].items():
                assert found["rows"][table] == rows, f"{database}.{table}"
            assert found["definitions"] == expected[database]["definitions"]


def test_columns_have_names_and_signs(own_narwal, tmp_path):
    server = own_narwal()
    with Client(server) as client:
        write_all_types(client)
    server.stop()
    text = binlog_text(export(server, tmp_path / "e.000001"), "-v", "--print-table-metadata")
    for column in (
        "`id` INT NOT NULL", "`tu` TINYINT UNSIGNED", "`bu` BIGINT UNSIGNED", "`de` DECIMAL(20,6)", "`vs` VARCHAR(20) CHARSET utf8mb4 COLLATE utf8mb4_general_ci",
        "`vb` VARCHAR(20) CHARSET utf8mb4 COLLATE utf8mb4_bin", "`bn` BINARY(5)", "`t3` TIME(3)", "`d6` DATETIME(6)", "`s2` TIMESTAMP(2)", "`lb` LONGBLOB",
        "`cl` CHAR(200)", "Primary Key(id)",
    ):  # fmt: skip
        assert column in text, column


def test_what_is_rolled_back_is_not_logged(own_narwal, tmp_path):
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
        client.ok("BEGIN")
        client.ok("INSERT INTO d.t VALUES (1, 111)")
        client.ok("ROLLBACK")
        client.ok("BEGIN")
        client.ok("INSERT INTO d.t VALUES (2, 222)")
        client.ok("SAVEPOINT s")
        client.ok("INSERT INTO d.t VALUES (3, 333)")
        client.ok("ROLLBACK TO s")
        client.fails("INSERT INTO d.t VALUES (4, 444), (2, 555)", 1062)
        client.ok("COMMIT")
        client.ok("INSERT IGNORE INTO d.t VALUES (2, 666), (5, 777)")
        # Nothing changed, nothing logged.
        client.ok("UPDATE d.t SET v = 222 WHERE id = 2")
        client.ok("DELETE FROM d.t WHERE id = 99")
        client.ok("BEGIN")
        client.ok("COMMIT")
    server.stop()
    text = binlog_text(export(server, tmp_path / "e.000001"), "-v")
    assert check_gtids(text) == 4
    values = re.findall(r"### +@2=(\d+)", text)
    assert values == ["222", "777"]


@pytest.mark.skipif(STAND_IN, reason="there each life has a file of its own")
def test_export_after_kills(own_narwal, rebuilt, tmp_path):
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT AUTO_INCREMENT PRIMARY KEY, v INT, KEY (v))")
    for life in range(4):
        with Client(server, database="d") as client:
            for n in range(5):
                client.ok(f"INSERT INTO t (v) VALUES ({life * 10 + n}), ({life})")
            client.ok(f"UPDATE t SET v = v + 1 WHERE v = {life}")
            client.ok("BEGIN")
            client.ok("INSERT INTO t (v) VALUES (-1)")
            server.kill()
        server.start()
    with Client(server) as client:
        expected = content(client, "d")
        gtid = client.value("SELECT @@gtid_binlog_pos")
    server.stop()
    path = export(server, tmp_path / "e.000001")
    assert f"0-1-{check_gtids(binlog_text(path, '-v'))}" == gtid
    replay(path, rebuilt)
    with Client(rebuilt) as client:
        assert content(client, "d") == expected
    # From a GTID on: only what came later.
    last = int(gtid.rsplit("-", 1)[1])
    rest = export(server, tmp_path / "rest.000001", f"--from=0-1-{last - 2}")
    assert gtids(binlog_text(rest)) == [(0, 1, last - 1), (0, 1, last)]


@pytest.mark.skipif(STAND_IN, reason="what only Narwal has")
def test_verify_log_of_a_killed_server(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        run_history(client, 5, 60)
    server.kill()
    done = subprocess.run(
        [str(server.binary), "verify-log", f"--datadir={server.datadir}"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
