"""`narwal binlog`: the log of a data folder as SQL, JSON lines, raw events, classic files; undone; damaged; followed."""

from __future__ import annotations

import base64
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import time
import zlib
from pathlib import Path

import pytest

import history
from conftest import STAND_IN
from support import Client, peak_memory
from test_binlog_export import binlog_text, content, rebuilt, run_history, write_all_types  # noqa: F401

pytestmark = pytest.mark.skipif(STAND_IN, reason="what only Narwal has")


def tool(server, *args: str, check: bool = True, data: bool = True) -> subprocess.CompletedProcess:
    where = [f"--datadir={server.datadir}"] if data else []
    done = subprocess.run([str(server.binary), "binlog", *args, *where], capture_output=True, timeout=120)
    if check:
        assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done


def text(server, *args: str) -> str:
    return tool(server, *args).stdout.decode(errors="replace")


def lines(server, *args: str) -> list[dict]:
    return [json.loads(line) for line in tool(server, "--json", *args).stdout.splitlines()]


def pseudo(printed: str) -> list[str]:
    return [line for line in printed.splitlines() if line.startswith("###")]


def export(server, out: Path) -> list[Path]:
    tool(server, "export", str(out))
    names = (out / "narwal-bin.index").read_text().split()
    return [out / name for name in names]


def run_sql(target, statements: bytes) -> None:
    done = subprocess.run(
        ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{target.port}", "-uroot", "--binary-mode"],
        input=statements, capture_output=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode(errors="replace")


def small(client: Client) -> None:
    """Five groups: two of DDL, three of rows."""
    client.ok("CREATE DATABASE d")
    client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))")
    client.ok("INSERT INTO d.t VALUES (1, 'one'), (2, 'two')")
    client.ok("UPDATE d.t SET v = 'zwei' WHERE id = 2")
    client.ok("DELETE FROM d.t WHERE id = 1")


def test_prints_what_mariadb_binlog_prints(own_narwal, tmp_path):
    server = own_narwal("--max-binlog-size=8192")
    with Client(server) as client:
        write_all_types(client)
        run_history(client, 3, 60)
        # The server runs; so it does for every reader here.
        ours = text(server, "-vv", "--base64-output=DECODE-ROWS")
        files = export(server, tmp_path / "flat")
        assert len(files) > 2
        assert files[-1].name == client.rows("SHOW MASTER STATUS")[0][0]
        assert files[-1].stat().st_size == int(client.rows("SHOW MASTER STATUS")[0][1])
    theirs = "".join(binlog_text(file, "-vv", "--base64-output=DECODE-ROWS") for file in files)
    assert pseudo(ours) and pseudo(ours) == pseudo(theirs)
    places = re.compile(r"^#\d{6} .*end_log_pos \d+ CRC32 0x[0-9a-f]+ \t(?!Start|Rotate).*$", re.M)
    assert places.findall(ours) == places.findall(theirs)
    starts = [int(n) for n in re.findall(r"^# at (\d+)$", theirs, re.M)]
    # mariadb-binlog also shows where the ROTATE events stand.
    for n in re.findall(r"^# at (\d+)$", ours, re.M):
        assert int(n) in starts


def test_what_it_prints_can_be_run(own_narwal, rebuilt):  # noqa: F811
    server = own_narwal("--max-binlog-size=16384")
    with Client(server) as client:
        write_all_types(client)
        run_history(client, 21, 120)
        expected = {database: content(client, database) for database in ("types_db", "history_21")}
        gtid = client.value("SELECT @@gtid_binlog_pos")
    run_sql(rebuilt, tool(server, "-v").stdout)
    with Client(rebuilt) as client:
        assert {database: content(client, database) for database in expected} == expected
    printed = text(server)
    assert f"GTID {gtid}" in printed
    # One database alone.
    assert "history_21" not in text(server, "--database=types_db", "-v")


def test_a_statement_of_many_events_can_be_run(own_narwal, rebuilt):  # noqa: F811
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(4000))")
        rows = ", ".join(f"({n}, REPEAT(CHAR(97 + {n} % 26), 3000))" for n in range(1500))
        client.ok(f"INSERT INTO d.t VALUES {rows}")
        expected = content(client, "d")
    out = tool(server).stdout
    statements = re.findall(rb"BINLOG '\n(.*?)'/\*!\*/;", out, re.S)
    assert len(statements) > 4 and max(map(len, statements)) < 2 << 20
    run_sql(rebuilt, out)
    with Client(rebuilt) as client:
        assert content(client, "d") == expected


def test_json_lines(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        client.ok("SET time_zone = '+00:00'")
        client.ok("CREATE DATABASE d")
        client.ok(
            "CREATE TABLE d.t (id BIGINT UNSIGNED PRIMARY KEY, i INT, de DECIMAL(30,10), f FLOAT, d DOUBLE, s VARCHAR(20), b VARBINARY(9),"
            " dt DATETIME(3), ts TIMESTAMP(2) NULL, ti TIME(1), da DATE, y YEAR)"
        )
        client.ok(
            "INSERT INTO d.t VALUES (18446744073709551615, -5, -1234567890.0123456789, 0.1, 1e300, 'ž\"\\\\\\n', X'00ff',"
            " '2024-01-02 03:04:05.678', '2024-02-03 04:05:06.78', '-12:34:56.7', '2024-02-29', 2024)"
        )
        client.ok("UPDATE d.t SET i = NULL")
        client.ok("DELETE FROM d.t")
        gtid = client.value("SELECT @@gtid_binlog_pos")
    found = lines(server)
    assert [line["operation"] for line in found] == ["statement", "statement", "insert", "update", "delete"]
    assert found[0] == {
        "database": "d", "table": None, "operation": "statement", "sql": "CREATE DATABASE d", "gtid": "0-1-1",
        "timestamp": found[0]["timestamp"], "file": "narwal-bin.000001", "position": 327,
    }  # fmt: skip
    row = {
        "id": 18446744073709551615, "i": -5, "de": "-1234567890.0123456789", "f": 0.1, "d": 1e300, "s": 'ž"\\\n',
        "b": {"base64": base64.b64encode(b"\0\xff").decode()}, "dt": "2024-01-02 03:04:05.678",
        "ts": "2024-02-03 04:05:06.78", "ti": "-12:34:56.7", "da": "2024-02-29", "y": 2024,
    }  # fmt: skip
    insert, update, delete = found[2:]
    assert (insert["before"], insert["after"]) == (None, row)
    assert (update["before"], update["after"]) == (row, {**row, "i": None})
    assert (delete["before"], delete["after"]) == ({**row, "i": None}, None)
    assert (insert["database"], insert["table"], delete["gtid"]) == ("d", "t", gtid)
    assert abs(insert["timestamp"] - time.time()) < 600
    assert b"18446744073709551615" in tool(server, "--json").stdout


def test_selection(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        small(client)
        client.ok("CREATE TABLE d.other (id INT PRIMARY KEY)")
        client.ok("BEGIN")
        client.ok("INSERT INTO d.other VALUES (1)")
        client.ok("INSERT INTO d.t VALUES (7, 'seven')")
        client.ok("COMMIT")
        client.ok("CREATE DATABASE e")
        client.ok("CREATE TABLE e.t (id INT PRIMARY KEY)")
        client.ok("INSERT INTO e.t VALUES (5)")

    def seqs(*args: str) -> list[int]:
        found = lines(server, *args)
        return sorted({int(line["gtid"].rsplit("-", 1)[1]) for line in found})

    everything = list(range(1, 11))
    assert seqs() == everything
    assert seqs("--start-gtid=0-1-8") == [9, 10]
    assert seqs("--stop-gtid=0-1-2") == [1, 2]
    assert seqs("--start-gtid=0-1-2", "--stop-gtid=0-1-4") == [3, 4]
    assert seqs("--gtids=0-1-1,0-1-3..5") == [1, 3, 4, 5]
    assert seqs("--table=d.t") == [3, 4, 5, 7]
    assert seqs("--table=t") == [3, 4, 5, 7, 10]
    # A statement belongs to its default database, as mariadb-binlog has it; CREATE DATABASE to its own.
    assert seqs("--database=e") == [8, 10]
    assert {line["table"] for line in lines(server, "--gtids=0-1-7", "--table=other")} == {"other"}
    printed = text(server, "-v", "--table=other")
    assert "`d`.`other`" in printed and "`d`.`t`" not in printed and "GTID 0-1-7" in printed and "GTID 0-1-5" not in printed
    ends = {int(m[1]): int(m[0]) for m in re.findall(r"end_log_pos (\d+) CRC32 \S+ \tGTID 0-1-(\d+)", text(server))}
    start = ends[4] - 42
    place = f"narwal-bin.000001:{start}"
    assert seqs(f"--start-position={place}") == everything[3:]
    assert seqs(f"--start-position={start}") == everything[3:]
    assert seqs(f"--stop-position={place}") == [1, 2, 3]
    inside = tool(server, "--json", f"--start-position={start + 1}", check=False)
    assert inside.returncode == 1
    assert f"position {start + 1} is inside the event group 0-1-4" in inside.stderr.decode()
    assert seqs("--start-datetime=2020-01-01 00:00:00") == everything
    assert seqs("--stop-datetime=2020-01-01 00:00:00") == []
    for wrong in ("--start-gtid=5", "--start-position=other.000001", "--stop-datetime=then", "--gtids=0-1-x"):
        assert tool(server, wrong, check=False).returncode == 2, wrong


def test_raw_is_a_file_that_mariadb_binlog_reads(own_narwal, tmp_path):
    server = own_narwal("--max-binlog-size=4096")
    with Client(server) as client:
        write_all_types(client)
    out = tmp_path / "raw.000001"
    tool(server, "--raw", f"--result-file={out}")
    assert pseudo(binlog_text(out, "-vv")) == pseudo(text(server, "-vv"))
    part = tmp_path / "part.000001"
    part.write_bytes(tool(server, "--raw", "--start-gtid=0-1-3").stdout)
    assert "GTID 0-1-3" not in binlog_text(part)
    assert "Gtid list [0-1-3]" in binlog_text(part)


def test_following(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        small(client)
        follower = subprocess.Popen(
            [str(server.binary), "binlog", "--json", "--stop-never", "--stop-gtid=0-1-8", str(server.datadir)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        try:
            seen = [json.loads(follower.stdout.readline()) for _ in range(6)]
            assert seen[-1]["operation"] == "delete"
            for n in range(10, 13):
                client.ok(f"INSERT INTO d.t VALUES ({n}, 'n{n}')")
                line = json.loads(follower.stdout.readline())
                assert line["after"] == {"id": n, "v": f"n{n}"}
            assert follower.wait(20) == 0
        finally:
            follower.kill()
            follower.communicate()


def flip(path: Path, offset: int) -> None:
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 0x55]))


def test_damage_in_several_places(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(60))")
        for n in range(60):
            client.ok(f"INSERT INTO d.t VALUES ({n}, 'marker{n:03}')")
    server.stop()
    (segment,) = sorted((server.datadir / "log").glob("wal.0*"))[:1]
    stored = segment.read_bytes()
    for n in (7, 30, 31):
        flip(segment, stored.index(b"marker%03d" % n) + 3)
    done = tool(server, "--json", check=False)
    assert done.returncode == 3
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    ids = [row["after"]["id"] for row in rows if row["operation"] == "insert"]
    assert ids == [n for n in range(60) if n not in (7, 30, 31)]
    assert rows[-1]["gtid"] == "0-1-62" and rows[-1]["file"] == "narwal-bin.000001"
    said = done.stderr.decode()
    # Two neighbours are one damaged place.
    assert len(re.findall(r"^narwal: damage: .*at byte \d+", said, re.M)) == 2, said
    assert len(re.findall(r"^narwal: reading goes on in .* at byte \d+", said, re.M)) == 2, said
    assert "damaged in 2 places" in said
    places = [int(n) for n in re.findall(r"damage: .*at byte (\d+)", said)]
    assert places[0] < stored.index(b"marker007") < places[1] < stored.index(b"marker030")
    # An export would not be what a server holds: it says so.
    assert tool(server, "export", str(server.folder / "flat"), check=False).returncode == 3


def test_flashback(own_narwal):
    server = own_narwal("--max-binlog-size=8192")
    with Client(server) as client:
        write_all_types(client)
        client.ok("CREATE TABLE floats (a FLOAT, b DOUBLE, c VARCHAR(9), d VARBINARY(9), e BINARY(4))")
        client.ok("INSERT INTO floats VALUES (0.1, 0.1, 'A', X'00', X'01'), (1e30, NULL, 'a', X'00ff', X'01'), (0.1, 0.1, 'a', X'00', X'01')")
        run_history(client, 8, 80)
        before = {database: content(client, database) for database in ("types_db", "history_8")}
        here = client.value("SELECT @@gtid_binlog_pos")
        client.ok("USE types_db")
        client.ok("UPDATE alltypes SET fl = 2.5, de = 0, d6 = NULL, bn = X'01', tx = 'x''\\\\y'")
        client.ok("UPDATE alltypes SET id = id + 1000 WHERE id = 1")
        client.ok("DELETE FROM many WHERE id % 5 < 3")
        client.ok("BEGIN")
        client.ok("INSERT INTO many VALUES (99999, 1, 'new')")
        client.ok("UPDATE many SET id = id + 100000 WHERE id > 1900")
        client.ok("COMMIT")
        client.ok("DELETE FROM floats WHERE d = X'00' LIMIT 1")
        client.ok("UPDATE floats SET a = 3.3, c = 'aA' WHERE a > 1")
        client.ok("INSERT INTO nokey VALUES (2, 'b')")
        for table in [row[0] for row in client.rows("SHOW TABLES FROM history_8")]:
            client.ok(f"DELETE FROM history_8.{table}")
        assert {database: content(client, database) for database in before} != before
        undo = tool(server, "--flashback", f"--start-gtid={here}").stdout
    run_sql(server, undo)
    with Client(server) as client:
        assert {database: content(client, database) for database in before} == before


def test_flashback_refuses_what_it_cannot_undo(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        small(client)
        client.ok("SET binlog_row_image = 'MINIMAL'")
        client.ok("UPDATE d.t SET v = 'drei'")
    refused = tool(server, "--flashback", "--gtids=0-1-2", check=False)
    assert refused.returncode == 1 and b"0-1-2" in refused.stderr and b"CREATE TABLE" in refused.stderr
    refused = tool(server, "--flashback", "--skip-ddl", check=False)
    assert refused.returncode == 1 and b"0-1-6" in refused.stderr and b"binlog_row_image" in refused.stderr
    assert refused.stdout == b""
    assert b"undoes 2 transactions" in tool(server, "--flashback", "--skip-ddl", "--gtids=0-1-3..4").stdout


def test_progress_on_a_terminal(own_narwal, tmp_path):
    server = own_narwal("--innodb-flush-log-at-trx-commit=2")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v MEDIUMBLOB)")
        for n in range(12):
            client.ok(f"INSERT INTO d.t VALUES ({n}, REPEAT('x', 1500000))")
    parent, child = pty.openpty()
    try:
        # Slow enough to be seen: the line comes every quarter of a second.
        with open(tmp_path / "out", "wb") as out:
            done = subprocess.run(
                [str(server.binary), "binlog", "-vv", str(server.datadir)], stdout=out, stderr=child, timeout=120
            )
        os.close(child)
        assert done.returncode == 0
        seen = b""
        while True:
            try:
                piece = os.read(parent, 65536)
            except OSError:
                break
            if not piece:
                break
            seen += piece
    finally:
        os.close(parent)
    took = (tmp_path / "out").stat().st_size
    assert took > 20_000_000
    if seen:
        assert b"MiB/s" in seen and seen.endswith(b"\r\x1b[K")
    assert b"MiB/s" not in (tmp_path / "out").read_bytes()[:4096]


def test_old_name_of_the_export(own_narwal, tmp_path):
    server = own_narwal()
    with Client(server) as client:
        small(client)
    out = tmp_path / "e.000001"
    done = subprocess.run(
        [str(server.binary), "export-binlog", f"--datadir={server.datadir}", f"--out={out}", "--from=0-1-3"],
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.findall(r"GTID (0-1-\d)", binlog_text(out)) == ["0-1-4", "0-1-5"]


def test_a_mariadb_server_takes_exported_files_for_its_own(own_narwal, lab, tmp_path):
    """MariaDB, given the files and the index, sends them to a replica: here, `mariadb-binlog` that asks as one does."""
    server = own_narwal("--max-binlog-size=8192")
    with Client(server) as client:
        write_all_types(client)
        gtid = client.value("SELECT @@gtid_binlog_pos")
    server.stop()
    target = lab.mariadb(["--log-bin=narwal-bin", "--server-id=1"], start=False)
    try:
        files = export(server, tmp_path / "flat")
        for file in [*files, tmp_path / "flat" / "narwal-bin.index"]:
            (target.datadir / file.name).write_bytes(file.read_bytes())
        target.start()
        with Client(target) as client:
            listed = {row[0]: int(row[1]) for row in client.rows("SHOW BINARY LOGS")}
            for file in files:
                assert listed[file.name] == file.stat().st_size
            assert client.value("SELECT @@gtid_binlog_pos") == gtid
            events = client.rows(f"SHOW BINLOG EVENTS IN '{files[0].name}'")
            assert events[0][2] == "Format_desc" and events[-1][2] == "Rotate"
        done = subprocess.run(
            ["mariadb-binlog", "--no-defaults", "--read-from-remote-server", "-h127.0.0.1", f"-P{target.port}", "-uroot",
             "-vv", *[file.name for file in files]],
            capture_output=True, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert pseudo(done.stdout.decode(errors="replace")) == pseudo(text(server, "-vv"))
    finally:
        lab.remove(target)


# ---- many segments, large transactions, purged and reset logs ----

SEGMENTS = ["--innodb-log-file-size=1M", "--binlog-oob-threshold=16384"]


def fill(client: Client, rounds: int, start: int = 0) -> None:
    """Three groups a round, of three origins, about 200 KB of log: a large one, a small one, one in another domain."""
    client.run("CREATE DATABASE IF NOT EXISTS d")
    client.run("CREATE TABLE IF NOT EXISTS d.t (id INT PRIMARY KEY, v VARCHAR(2000))")
    for n in range(start, start + rounds):
        client.ok("BEGIN")
        for part in range(4):
            first = n * 1000 + part * 20
            rows = ", ".join(f"({first + i}, REPEAT('{n % 10}', 1200))" for i in range(20))
            client.ok(f"INSERT INTO d.t VALUES {rows}")
        client.ok("UPDATE d.t SET v = CONCAT('changed', id) WHERE id % 3 = 0 AND id >= " + str(n * 1000))
        client.ok("COMMIT")
        client.ok(f"SET SESSION server_id = {n % 3 + 1}")
        client.ok(f"INSERT INTO d.t VALUES ({n * 1000 + 900}, 'small')")
        client.ok("SET SESSION gtid_domain_id = 7")
        client.ok(f"DELETE FROM d.t WHERE id = {n * 1000 + 5}")
        client.ok("SET SESSION gtid_domain_id = 0, server_id = 1")


def segments(server) -> list[Path]:
    return sorted((server.datadir / "log").glob("wal." + "[0-9a-f]" * 16))


def events(path: Path) -> list[tuple[int, int, int]]:
    """Offset, type and end position of each event of a binary log file."""
    data = path.read_bytes()
    assert data[:4] == b"\xfebin"
    found, at = [], 4
    while at < len(data):
        kind, size, end = data[at + 4], *struct.unpack_from("<II", data, at + 9)
        assert zlib.crc32(data[at : at + size - 4]) == int.from_bytes(data[at + size - 4 : at + size], "little")
        found.append((at, kind, end))
        at += size
    assert at == len(data)
    return found


def test_what_is_lost_is_named(own_narwal, tmp_path):
    server = own_narwal(*SEGMENTS, "--max-binlog-size=614400", "--binlog-state-interval=65536")
    with Client(server) as client:
        fill(client, 24)
    server.stop()
    files = segments(server)
    assert len(files) > 4
    copy = tmp_path / "log"
    shutil.copytree(server.datadir / "log", copy)
    everything = lines(server)
    order = list(dict.fromkeys(line["gtid"] for line in everything))

    def restore() -> None:
        for file in copy.iterdir():
            shutil.copyfile(file, server.datadir / "log" / file.name)

    def damaged() -> tuple[list[str], list[str]]:
        done = tool(server, "--json", check=False)
        assert done.returncode == 3, done.stderr
        found = [json.loads(line) for line in done.stdout.splitlines()]
        gtids = list(dict.fromkeys(line["gtid"] for line in found))
        # What is given is given as a whole, with the file and position that it always had.
        assert found == [line for line in everything if line["gtid"] in set(gtids)]
        said = done.stderr.decode().splitlines()
        return [gtid for gtid in order if gtid not in gtids], said

    # A byte in each of three segments, mostly in chunks: their transactions are lost, and no other.
    for n in (0, 1, 2):
        flip(files[n], 300_000 + n * 1000)
    missing, said = damaged()
    assert 1 <= len(missing) <= 6, said
    places = [re.search(r"damage: .* in (\S+) at byte (\d+) \(LSN (\d+)\)", line) for line in said]
    places = [(Path(m[1]).name, int(m[2])) for m in places if m]
    assert [name for name, _ in places] == [file.name for file in files[:3]], said
    assert all(0 < 300_000 + n * 1000 - at < 100_000 for n, (_, at) in enumerate(places))
    for gtid in missing:
        domain, _, seq = gtid.split("-")
        assert any(f"lost: transaction {gtid} " in line or re.search(rf"lost: .* GTIDs .*\b{seq} .*of domain {domain}", line) for line in said), (gtid, said)
    assert "damaged in 3 places" in said[-1]
    # Each file that has lost its head.
    for n in (0, 2):
        restore()
        with open(files[n], "r+b") as file:
            file.write(bytes(4096))
        missing, said = damaged()
        assert 3 < len(missing) < len(order) - 3
        assert any(files[n].name in line for line in said), said
        assert n == 0 or any(re.search(r"lost: \d+ transactions, GTIDs", line) for line in said), said
    # A segment that is gone, in the middle and at the beginning.
    for n in (2, 0):
        restore()
        files[n].unlink()
        missing, said = damaged()
        assert 3 < len(missing) < len(order) - 3
        assert any("missing" in line for line in said), said
    # Cut by hand.
    restore()
    os.truncate(files[2], files[2].stat().st_size // 2)
    missing, said = damaged()
    assert missing and any(files[2].name in line for line in said), said
    # Nobody wants half of an undo.
    restore()
    flip(files[1], 300_000)
    half = tool(server, "--flashback", "--skip-ddl", check=False)
    assert half.returncode == 3 and half.stdout == b"" and b"damaged" in half.stderr
    restore()
    assert lines(server) == everything


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_large_transactions_in_every_form(own_narwal, rebuilt, tmp_path, compression):  # noqa: F811
    server = own_narwal(*SEGMENTS, "--max-binlog-size=614400", f"--narwal-log-compression={compression}")
    with Client(server) as client:
        fill(client, 8)
        expected = content(client, "d")
        listed = [(row[0], int(row[1])) for row in client.rows("SHOW BINARY LOGS")]
        shown = {name: [(int(row[1]), int(row[4])) for row in client.rows(f"SHOW BINLOG EVENTS IN '{name}'")] for name, _ in listed}
    assert len(segments(server)) > (2 if compression == "none" else 0)
    files = export(server, tmp_path / "flat")
    assert [(file.name, file.stat().st_size) for file in files] == listed
    for file in files:
        # What the server shows is where the events are.
        assert shown[file.name] == [(at, end) for at, _, end in events(file)]
    texts = "".join(binlog_text(file, "-v") for file in files)
    printed = text(server, "-v")
    assert pseudo(printed) == pseudo(texts) != []
    raw = tmp_path / "raw.000001"
    tool(server, "--raw", f"--result-file={raw}")
    assert pseudo(binlog_text(raw, "-v")) == pseudo(texts)
    changes = [line for line in lines(server) if line["operation"] != "statement"]
    assert len(changes) == len(re.findall(r"^### (?:INSERT|UPDATE|DELETE)", texts, re.M))
    starts = {file.name: {at for at, _, _ in events(file)} for file in files}
    assert all(change["position"] in starts[change["file"]] for change in changes)
    run_sql(rebuilt, printed.encode())
    with Client(rebuilt) as client:
        assert content(client, "d") == expected
        client.ok("DROP DATABASE d")
    for file in files:
        statements = subprocess.run(["mariadb-binlog", "--no-defaults", str(file)], capture_output=True, timeout=60)
        assert statements.returncode == 0
        run_sql(rebuilt, statements.stdout)
    with Client(rebuilt) as client:
        assert content(client, "d") == expected


def test_files_are_the_same_after_a_purge(own_narwal, tmp_path):
    server = own_narwal(*SEGMENTS, "--max-binlog-size=409600")
    with Client(server) as client:
        fill(client, 12)
        client.ok("FLUSH BINARY LOGS")
        client.ok("FLUSH BINARY LOGS")
        fill(client, 12, 12)
        whole = {file.name: file.read_bytes() for file in export(server, tmp_path / "whole")}
        names = list(whole)
        assert len(names) > 6 and len(segments(server)) > 3
        all_groups = re.findall(r"\tGTID (\S+)", text(server, "--base64-output=DECODE-ROWS"))
        for keep in range(1, len(names)):
            client.ok(f"PURGE BINARY LOGS TO '{names[keep]}'")
            assert [row[0] for row in client.rows("SHOW BINARY LOGS")] == names[keep:]
            files = export(server, tmp_path / f"from-{keep}")
            assert {file.name: file.read_bytes() for file in files} == {name: whole[name] for name in names[keep:]}
        left = re.findall(r"\tGTID (\S+)", text(server, "--base64-output=DECODE-ROWS"))
        assert left and left == all_groups[-len(left) :]
        # What is not there any more is not passed over in silence.
        gone = tool(server, "--json", "--start-gtid=0-1-3", check=False)
        assert gone.returncode == 1 and "not in the log any more" in gone.stderr.decode()
        gone = tool(server, "--json", "--start-position=narwal-bin.000001", check=False)
        assert gone.returncode == 1 and "not in the log any more" in gone.stderr.decode()
    server.stop()
    files = export(server, tmp_path / "stopped")
    assert {file.name: file.read_bytes() for file in files} == {name: whole[name] for name in names[keep:]}


def test_reset_and_begun_files(own_narwal, tmp_path):
    server = own_narwal()
    with Client(server) as client:
        small(client)
        client.ok("RESET MASTER TO 5")
        client.ok("SET GLOBAL gtid_binlog_state = '3-8-20,0-1-7'")
        (only,) = export(server, tmp_path / "empty")
        assert only.name == "narwal-bin.000005" and re.search(r"Gtid list \[[^]]*3-8-20", binlog_text(only))
        client.ok("INSERT INTO d.t VALUES (9, 'nine')")
        client.ok("FLUSH BINARY LOGS")
        client.ok("FLUSH BINARY LOGS")
        client.ok("PURGE BINARY LOGS TO 'narwal-bin.000006'")
        client.ok("FLUSH BINARY LOGS DELETE_DOMAIN_ID = (3)")
        client.ok("FLUSH BINARY LOGS")
        listed = [(row[0], int(row[1])) for row in client.rows("SHOW BINARY LOGS")]
        files = export(server, tmp_path / "begun")
        assert [(file.name, file.stat().st_size) for file in files] == listed and len(files) == 4
        lists = [re.sub(r"\n# ", "", binlog_text(file)) for file in files]
        assert ["3-8-20" in text for text in lists] == [True, True, False, False]
        assert all("0-1-8" in text for text in lists)
        client.ok("INSERT INTO d.t VALUES (10, 'ten')")
        (line,) = lines(server)
        assert (line["gtid"], line["file"]) == ("0-1-9", "narwal-bin.000009")
        assert lines(server, "--start-position=narwal-bin.000007") == [line]
        behind = tool(server, "--json", "--start-position=narwal-bin.000010", check=False)
        assert behind.returncode == 1 and "behind the end of the log" in behind.stderr.decode()


def test_selection_does_not_read_what_is_before(own_narwal):
    server = own_narwal(*SEGMENTS, "--max-binlog-size=614400")
    with Client(server) as client:
        fill(client, 10)
        time.sleep(1.1)
        moment = int(time.time())
        gtid = client.value("SELECT @@gtid_binlog_pos")
        file, position = client.rows("SHOW MASTER STATUS")[0][:2]
        fill(client, 2, 10)
    server.stop()
    behind = {domain: int(seq) for domain, seq in re.findall(r"(\d+)-\d+-(\d+)", gtid)}
    wanted = [line for line in lines(server) if int(line["gtid"].split("-")[2]) > behind[line["gtid"].split("-")[0]]]
    assert len(wanted) > 100
    numbers = sorted(line["gtid"] for line in wanted)
    one = numbers[-1]
    # Damage that a reader from the beginning meets.
    flip(segments(server)[0], 50_000)
    assert tool(server, "--json", check=False).returncode == 3
    assert lines(server, f"--start-gtid={gtid}") == wanted
    assert lines(server, f"--start-position={gtid}") == wanted
    assert lines(server, f"--start-position={file}:{position}") == wanted
    assert lines(server, f"--start-datetime={moment}") == wanted
    assert lines(server, f"--gtids={one}") == [line for line in wanted if line["gtid"] == one]
    assert lines(server, f"--start-position={file}:{position}", f"--stop-position={position}") == []
    # A domain that is not named: everything of it is wanted.
    assert tool(server, "--json", f"--start-gtid={gtid.split(',')[0]}", check=False).returncode == 3


def test_memory_does_not_grow_with_a_transaction(own_narwal, tmp_path):
    server = own_narwal("--innodb-flush-log-at-trx-commit=2", "--binlog-row-event-max-size=65536")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v MEDIUMTEXT)")
        client.ok("BEGIN")
        for n in range(40):
            client.ok("INSERT INTO d.t VALUES " + ", ".join(f"({n * 40 + i}, REPEAT('x', 100000))" for i in range(40)))
        client.ok("COMMIT")
    server.stop()
    binary, datadir = str(server.binary), str(server.datadir)
    for name, args in {
        "sql": [datadir, "-v"],
        "json": [datadir, "--json"],
        "raw": [datadir, "--raw"],
        "undo": [datadir, "--flashback", "--skip-ddl"],
        "export": ["export", f"--datadir={datadir}", str(tmp_path / "flat")],
    }.items():
        peak = peak_memory([binary, "binlog", *args], tmp_path / name)
        assert peak < 120 << 20, (name, peak)
    assert (tmp_path / "raw").stat().st_size > 145 << 20
    assert (tmp_path / "flat" / "narwal-bin.000001").stat().st_size > 145 << 20
    assert (tmp_path / "json").read_bytes().count(b"\n") == 1602


def test_gtid_positions_as_mariadb_binlog_has_them(own_narwal, tmp_path):
    server = own_narwal()
    with Client(server) as client:
        fill(client, 6)
    (file,) = export(server, tmp_path / "flat")

    def theirs(*args: str) -> list[str]:
        return re.findall(r"\tGTID (\d+-\d+-\d+)", binlog_text(file, "--base64-output=DECODE-ROWS", *args))

    def ours(*args: str) -> list[str]:
        return re.findall(r"\tGTID (\d+-\d+-\d+)", text(server, "--base64-output=DECODE-ROWS", *args))

    every = ours()
    assert every == theirs() and len(every) == 20
    for args in (
        ["--start-position=0-1-5,7-1-2"],
        ["--stop-position=0-1-5,7-1-2"],
        ["--start-position=0-1-5,7-1-2", "--stop-position=0-3-10,7-1-4"],
        ["--start-position=0-1-5"],
        ["--stop-position=7-1-3"],
    ):
        assert ours(*args) == theirs(*args), args


def test_third_party_reader(own_narwal, lab, tmp_path):
    """python-mysql-replication reads the exported files from a MariaDB server that was given them."""
    replication = pytest.importorskip("pymysqlreplication")
    from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

    server = own_narwal(*SEGMENTS, "--max-binlog-size=409600")
    with Client(server) as client:
        fill(client, 8)
        client.ok("PURGE BINARY LOGS TO 'narwal-bin.000002'")
    found = [line for line in lines(server) if line["operation"] != "statement"]
    target = lab.mariadb(["--log-bin=narwal-bin", "--server-id=77", "--binlog-checksum=CRC32", "--binlog-row-metadata=FULL"], start=False)
    try:
        export(server, tmp_path / "flat")
        shutil.copytree(tmp_path / "flat", target.datadir, dirs_exist_ok=True)
        target.start()
        stream = replication.BinLogStreamReader(
            connection_settings={"host": "127.0.0.1", "port": target.port, "user": "root", "password": ""},
            server_id=4711, log_file="narwal-bin.000002", log_pos=4, resume_stream=True,
            only_events=[WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent],
        )  # fmt: skip
        read = []
        for event in stream:
            for row in event.rows:
                before = row.get("before_values") or (row["values"] if isinstance(event, DeleteRowsEvent) else None)
                after = row.get("after_values") or (row["values"] if isinstance(event, WriteRowsEvent) else None)
                read.append((event.schema, event.table, before, after))
        stream.close()
        assert read == [(line["database"], line["table"], line["before"], line["after"]) for line in found] != []
    finally:
        lab.remove(target)


def test_flashback_of_a_history(own_narwal):
    """Random transactions, some large, taken back in steps: each step ends where the server was then."""
    server = own_narwal(*SEGMENTS, "--max-binlog-size=102400", "--binlog-row-image=FULL_NODUP")
    with Client(server) as client:
        run_history(client, 5, 10)
        fill(client, 2)
        stations = []
        for step in range(4):
            stations.append((client.value("SELECT @@gtid_binlog_pos"), {d: content(client, d)["rows"] for d in ("history_5", "d")}))
            source = history.History(100 + step)
            client.ok("USE history_5")
            for _ in range(40):
                sql = source.next().sql
                if not re.match(r"\s*(CREATE|ALTER|DROP|TRUNCATE)", sql, re.I):
                    client.run(sql)
            client.run("COMMIT")
            fill(client, 1, 10 + step)
    for gtid, rows in reversed(stations):
        undo = tool(server, "--flashback", "--skip-ddl", f"--start-gtid={gtid}")
        run_sql(server, undo.stdout)
        with Client(server) as client:
            assert {d: content(client, d)["rows"] for d in rows} == rows


def test_following_a_busy_server(own_narwal, tmp_path):
    """Large transactions, rotations and a purge behind the follower: it gives what a reader afterwards sees."""
    server = own_narwal(*SEGMENTS, "--max-binlog-size=204800")
    with Client(server) as client:
        fill(client, 2)
        out = tmp_path / "followed"
        with open(out, "wb") as file:
            follower = subprocess.Popen(
                [str(server.binary), "binlog", "--json", "--stop-never", "--stop-gtid=0-9-1000,7-9-2000", str(server.datadir)],
                stdout=file, stderr=subprocess.PIPE,
            )  # fmt: skip
        try:
            for n in range(2, 14):
                fill(client, 1, n)
                if n % 4 == 0:
                    client.ok("FLUSH BINARY LOGS")
            everything = lines(server)

            def followed() -> list[bytes]:
                return out.read_bytes().splitlines()

            deadline = time.monotonic() + 30
            while len(followed()) < len(everything) and time.monotonic() < deadline:
                time.sleep(0.05)
            assert [json.loads(line) for line in followed()] == everything
            # What it has read may go.
            last = client.rows("SHOW MASTER STATUS")[0][0]
            client.ok(f"PURGE BINARY LOGS TO '{last}'")
            fill(client, 2, 14)
            for domain, seq in ((7, 2000), (0, 1000)):
                client.ok(f"SET SESSION gtid_domain_id = {domain}, server_id = 9")
                client.ok(f"SET SESSION gtid_seq_no = {seq}")
                client.ok(f"DELETE FROM d.t WHERE id = {domain + 6}")
            client.ok("SET SESSION gtid_domain_id = 0, server_id = 1")
            client.ok("INSERT INTO d.t VALUES (-1, 'not wanted any more')")
            assert follower.wait(30) == 0, follower.stderr.read()
            left = lines(server)
            assert left[-1]["after"]["id"] == -1
            assert [json.loads(line) for line in followed()][-len(left) + 1 :] == left[:-1]
        finally:
            follower.kill()
            follower.communicate()
