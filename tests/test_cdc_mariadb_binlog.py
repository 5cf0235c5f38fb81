"""`mariadb-binlog --read-from-remote-server` reads a running Narwal: files, parts of them, and what is yet to come."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from conftest import STAND_IN
from readers import change, prepare
from support import Client
from test_binlog_tool import export, run_sql

ROWS = 40


def command(server, *args: str) -> list[str]:
    return ["mariadb-binlog", "--no-defaults", "--read-from-remote-server", "-h127.0.0.1", f"-P{server.port}", "-uroot", *map(str, args)]


def remote(server, *args: str, check: bool = True) -> str:
    done = subprocess.run(command(server, *args), capture_output=True, text=True, errors="replace", timeout=60)
    if check:
        assert done.returncode == 0, done.stderr
        return done.stdout
    assert done.returncode != 0
    return done.stderr


def ids(text: str) -> list[int]:
    """The ids of table t's inserted rows, out of the row comments of --verbose."""
    return [int(n) for n in re.findall(r"### INSERT INTO `d`.`t`\n### SET\n###   @1=(\d+)", text)]


@pytest.fixture(scope="module")
def server(lab):
    """A server with rows 0 to 39, one transaction each, in several files."""
    server = lab.narwal(["--server-id=1"])
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(50))")
        for n in range(ROWS):
            client.ok(f"INSERT INTO d.t VALUES ({n}, 'row {n}')")
            if n % 15 == 14:
                client.ok("FLUSH BINARY LOGS")
    yield server
    lab.remove(server)


@pytest.fixture(scope="module")
def files(server) -> list[str]:
    with Client(server) as client:
        return [row[0] for row in client.rows("SHOW BINARY LOGS")]


def test_files(server, files):
    assert len(files) == 3
    assert ids(remote(server, "--verbose", files[0])) == list(range(15))
    assert ids(remote(server, "--verbose", files[1])) == list(range(15, 30))
    assert ids(remote(server, "--verbose", files[0], files[2])) == [*range(15), *range(30, 40)]
    assert ids(remote(server, "--verbose", "--to-last-log", files[1])) == list(range(15, 40))
    text = remote(server, "--verbose", "--verify-binlog-checksum", "--to-last-log", files[0])
    assert ids(text) == list(range(40))
    assert "#Q> INSERT INTO d.t VALUES (7, 'row 7')" in text
    assert "CREATE TABLE d.t" in text
    assert "Could not find first log file" in remote(server, "narwal-bin.000077", check=False)


def test_positions(server, files):
    with Client(server) as client:
        events = [(row[2], int(row[1]), int(row[4])) for row in client.rows(f"SHOW BINLOG EVENTS IN '{files[1]}'")]
    starts = [start for kind, start, _ in events if kind == "Gtid"]
    assert len(starts) == 15
    # From the sixth transaction of the file to before its eleventh.
    part = ["--verbose", f"--start-position={starts[5]}", f"--stop-position={starts[10]}", files[1]]
    assert ids(remote(server, *part)) == list(range(20, 25))
    assert ids(remote(server, "--verbose", "--to-last-log", f"--start-position={starts[14]}", files[1])) == list(range(29, 40))
    assert "impossible position" in remote(server, "--start-position=99999999", files[1], check=False)


def test_gtids(server, files):
    # Two statements come before the rows: row n is 0-1-(n + 3), and a start is what one has already.
    assert ids(remote(server, "--verbose", "--to-last-log", "--start-position=0-1-22", files[0])) == list(range(20, 40))
    assert ids(remote(server, "--verbose", "--to-last-log", "--start-position=0-1-41", files[0])) == [39]
    between = remote(server, "--verbose", "--to-last-log", "--start-position=0-1-12", "--stop-position=0-1-14", files[0])
    assert ids(between) == [10, 11]
    assert "not in the master's binlog" in remote(server, "--start-position=0-1-4711", files[0], check=False)


def test_output_is_sql(server, files, mariadb):
    """What it prints makes the same rows on MariaDB."""
    statements = subprocess.run(command(server, "--to-last-log", files[0]), capture_output=True, timeout=60)
    assert statements.returncode == 0, statements.stderr
    run_sql(mariadb, statements.stdout)
    with Client(mariadb) as copy, Client(server) as client:
        wanted = "SELECT * FROM d.t ORDER BY id"
        assert copy.rows(wanted) == client.rows(wanted)
        copy.ok("DROP DATABASE d")


def test_raw_files_are_the_exported_ones(own_narwal, tmp_path):
    """--raw stores what the server sends: byte for byte what `narwal binlog export` writes."""
    server = own_narwal("--server-id=1", "--max-binlog-size=65536")
    with Client(server) as client:
        # A file's head has the time of its first group, not that of the clock, which goes on with each commit.
        client.ok("SET timestamp = 1700000000")
        client.ok("CREATE DATABASE before_all")
        client.ok("SET timestamp = DEFAULT")
        prepare(client, "cdc")
        change(client, "cdc")
        client.ok("FLUSH BINARY LOGS")
        client.ok("INSERT INTO cdc.finish VALUES (2, 'behind')")
    raw = tmp_path / "raw"
    raw.mkdir()
    remote(server, "--raw", "--to-last-log", f"--result-file={raw}/", "narwal-bin.000001")
    names = sorted(path.name for path in raw.iterdir())
    assert len(names) > 3
    server.stop()
    if STAND_IN:
        exported = [server.datadir / name for name in names]
    else:
        exported = export(server, tmp_path / "exported")
    assert [path.name for path in exported] == names
    for path in exported:
        ours, theirs = (raw / path.name).read_bytes(), path.read_bytes()
        # Of the last file's, what came at the server's stop is not there, and the bit "in use" may be.
        if path == exported[-1]:
            assert b"behind" in ours
            theirs = theirs[: len(ours)]
        assert without_in_use(ours) == without_in_use(theirs), path.name


def without_in_use(file: bytes) -> bytes:
    """A file with the flags of its format description event cleared."""
    return file[: 4 + 17] + b"\0\0" + file[4 + 19 :]


@pytest.mark.parametrize("start", ["file", "gtid"])
def test_stop_never(own_narwal, tmp_path, start):
    """It gets each transaction as it is committed, across a change of file, and its KILL ends it."""
    server = own_narwal("--server-id=1")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(50))")
        client.ok("INSERT INTO d.t VALUES (0, 'before')")
        where = ["narwal-bin.000001"] if start == "file" else ["--start-position=0-1-2", "narwal-bin.000001"]
        out = tmp_path / "out"
        with open(out, "wb") as file:
            reader = subprocess.Popen(command(server, "--verbose", "--stop-never", *where), stdout=file, stderr=subprocess.STDOUT)
        try:
            for n in range(1, 31):
                client.ok(f"INSERT INTO d.t VALUES ({n}, 'row {n}')")
                if n == 15:
                    client.ok("FLUSH BINARY LOGS")
                if n in (1, 15, 30):
                    wait_until(lambda n=n: n in ids(out.read_text(errors="replace")), reader, out)
            assert ids(out.read_text(errors="replace")) == list(range(31))
            dumps = [row for row in client.rows("SHOW PROCESSLIST") if row[4] == "Binlog Dump"]
            assert len(dumps) == 1 and dumps[0][1] == "root", dumps
            client.ok(f"KILL {dumps[0][0]}")
            reader.wait(30)
        finally:
            reader.kill()
            reader.wait()


def test_stop_never_ends_with_the_server(own_narwal, tmp_path):
    """At a clean stop readers get everything and an end; the server does not wait for them."""
    server = own_narwal("--server-id=1")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(50))")
        out = tmp_path / "out"
        with open(out, "wb") as file:
            reader = subprocess.Popen(command(server, "--verbose", "--stop-never", "narwal-bin.000001"), stdout=file, stderr=subprocess.STDOUT)
        try:
            wait_until(lambda: "CREATE TABLE" in out.read_text(errors="replace"), reader, out)
            client.ok("INSERT INTO d.t VALUES (1, 'last')")
            # In durability modes that sync later, too: what the reader has is on disk.
            server.stop()
            reader.wait(30)
            assert ids(out.read_text(errors="replace")) in ([], [1])
        finally:
            reader.send_signal(signal.SIGKILL)
            reader.wait()
    server.start()
    assert ids(remote(server, "--verbose", "--to-last-log", "narwal-bin.000001")) == [1]


def wait_until(done, reader: subprocess.Popen, out: Path) -> None:
    for _ in range(600):
        if done():
            return
        assert reader.poll() is None, out.read_text(errors="replace")[-1000:]
        time.sleep(0.05)
    raise AssertionError(out.read_text(errors="replace")[-1000:])
