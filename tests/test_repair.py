"""`narwal repair`: a folder that bits, lost files or a bad disk have damaged has all its rows again, from the log, a backup
or an archive; what can't be had again is said and left as it was."""

from __future__ import annotations

import random
import secrets
import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import STAND_IN
from testbed.servers import narwal_binary
from support import Client, wait_until

pytestmark = pytest.mark.skipif(STAND_IN, reason="Narwal's own commands")

SMALL = "--innodb-log-file-size=1M"


def command(*args: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run([narwal_binary(), *map(str, args)], capture_output=True, text=True, timeout=120)


def repair(folder: Path, *args: str | Path, code: int = 0) -> str:
    done = command("repair", folder, *args)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def rows(server) -> dict[str, list[tuple]]:
    with Client(server) as c:
        for table in ("d.t", "d.u"):
            assert c.rows(f"CHECK TABLE {table}")[-1][3] == "OK"
        return {
            "t": c.rows("SELECT * FROM d.t ORDER BY id"),
            "by key": c.rows("SELECT k, id FROM d.t FORCE INDEX (k) WHERE k >= 0 ORDER BY k, id"),
            "u": c.rows("SELECT * FROM d.u ORDER BY id"),
            "position": c.rows("SELECT @@gtid_binlog_state"),
        }


def make(c: Client) -> None:
    c.ok("CREATE DATABASE d")
    c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, k INT, v LONGTEXT, KEY k (k))")
    c.ok("CREATE TABLE d.u (id INT PRIMARY KEY, v VARCHAR(100))")


def write(c: Client, first: int, count: int = 200, size: int = 4000) -> None:
    for i in range(first, first + count):
        c.ok(f"INSERT INTO d.t VALUES ({i}, {i % 7}, REPEAT('{chr(97 + i % 26)}', {size}))")
    c.ok(f"INSERT INTO d.u SELECT id, LEFT(v, 50) FROM d.t WHERE id >= {first}")
    c.ok(f"UPDATE d.t SET k = k + 10 WHERE id < {first + count // 2}")


def segments(folder: Path) -> list[Path]:
    return sorted(p for p in (folder / "log").iterdir() if p.name.startswith("wal.0"))


def damage(path: Path, seed: int, spots: int = 60) -> None:
    """Flips bits where the file holds something."""
    data = bytearray(path.read_bytes())
    used = [i for i in range(8192, len(data)) if data[i]]
    for at in random.Random(seed).sample(used, min(spots, len(used))):
        data[at] ^= 1 << (at % 8)
    path.write_bytes(data)


def settled(server) -> dict[str, list[tuple]]:
    """Rows of a server that is stopped behind a checkpoint."""
    before = rows(server)
    assert server.stop() == 0
    return before


def test_tables_from_the_log_alone(own_narwal):
    server = own_narwal()
    with Client(server) as c:
        make(c)
        write(c, 0)
    before = settled(server)
    base = server.datadir / "base.redb"
    damage(base, 1)
    bytes_before = base.read_bytes()
    assert "made anew from the whole log" in repair(server.datadir, "--dry-run")
    assert base.read_bytes() == bytes_before
    assert "no damage: 2 tables" in repair(server.datadir)
    assert not list(server.datadir.glob("*.damaged"))
    server.start()
    assert rows(server) == before
    server.stop()
    base.unlink()
    repair(server.datadir)
    server.start()
    assert rows(server) == before
    server.stop()
    assert "nothing to repair" in repair(server.datadir)
    repair(server.datadir, "--rebuild")
    server.start()
    assert rows(server) == before


def test_tables_from_a_backup_and_the_log_since(own_narwal, tmp_path):
    server = own_narwal(SMALL)
    with Client(server) as c:
        make(c)
        write(c, 0)
        full, later = tmp_path / "full", tmp_path / "later"
        assert command("backup", f"--socket={server.socket}", f"--to={full}").returncode == 0
        write(c, 1000)
        c.ok("FLUSH BINARY LOGS")
        done = command("backup", f"--socket={server.socket}", f"--to={later}", f"--incremental-from={full}")
        assert done.returncode == 0, done.stderr
        last = c.rows("SHOW BINARY LOGS")[-1][0]
        c.ok(f"PURGE BINARY LOGS TO '{last}'")
        write(c, 2000)
        write(c, 3000)
    before = settled(server)
    kept = server.folder / "kept"
    damage(server.datadir / "base.redb", 2)
    shutil.copytree(server.datadir, kept)
    # The log alone does not go back far enough, and says so.
    said = repair(server.datadir, code=3)
    assert "name a newer backup with --from" in said
    assert (server.datadir / "base.redb").read_bytes() == (kept / "base.redb").read_bytes()
    repair(server.datadir, f"--from={later}")
    assert not (server.datadir / "repair.tmp").exists()
    server.start()
    assert rows(server) == before
    with Client(server) as c:
        write(c, 4000, 20)
    server.stop()
    server.start()
    with Client(server) as c:
        assert c.ints("SELECT COUNT(*) FROM d.t") == [820]


def test_segments_from_an_archive(own_narwal, tmp_path):
    url = (tmp_path / "archive").as_uri()
    server = own_narwal(SMALL, f"--narwal-archive-url={url}", "--narwal-archive-timeout=1")
    with Client(server) as c:
        make(c)
        backup = tmp_path / "backup"
        write(c, 0, 50)
        assert command("backup", f"--socket={server.socket}", f"--to={backup}").returncode == 0
        for n in range(1, 5):
            write(c, n * 1000)
        wanted = c.value("SELECT @@gtid_binlog_state")
        shipped = "SHOW STATUS LIKE 'Narwal_archive_last_gtid'"
        wait_until(lambda: c.rows(shipped)[0][1] == wanted, lambda: str(c.rows(shipped)), 60)
    before = settled(server)
    logs = segments(server.datadir)
    assert len(logs) > 4
    damage(logs[1], 3)
    damage(logs[2], 4, spots=1)
    logs[3].unlink()
    said = repair(server.datadir, f"--archive={url}")
    assert "records from" in said and "was missing" in said
    server.start()
    assert rows(server) == before
    server.stop()
    # A table store and the log that would make it are lost together.
    damage(server.datadir / "base.redb", 5)
    for path in logs[:3]:
        path.unlink()
    repair(server.datadir, f"--from={backup}", f"--archive={url}")
    server.start()
    assert rows(server) == before


def test_another_servers_backup_is_refused(own_narwal, tmp_path):
    one, two = own_narwal(), own_narwal()
    for server in (one, two):
        with Client(server) as c:
            make(c)
            write(c, 0, 20)
    backup = tmp_path / "backup"
    assert command("backup", f"--socket={two.socket}", f"--to={backup}").returncode == 0
    one.stop()
    damage(one.datadir / "base.redb", 6)
    kept = (one.datadir / "base.redb").read_bytes()
    assert "another" in repair(one.datadir, f"--from={backup}", code=1)
    assert (one.datadir / "base.redb").read_bytes() == kept


def test_refusals(own_narwal, tmp_path):
    server = own_narwal()
    assert "in use" in repair(server.datadir, code=1)
    assert "no such data folder" in repair(tmp_path / "nothing", code=1)
    server.stop()
    assert "Usage" in repair(server.datadir, "--nonsense", code=2)
    assert "narwal repair" in repair(server.datadir, "--help")


def test_an_encrypted_folder(own_narwal, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text("1;" + secrets.token_hex(32) + "\n")
    option = f"--encryption-key-file={keys}"
    server = own_narwal(SMALL, option)
    with Client(server) as c:
        make(c)
        write(c, 0)
        c.ok("FLUSH BINARY LOGS")
    backup = tmp_path / "backup"
    done = command("backup", f"--socket={server.socket}", f"--to={backup}")
    assert done.returncode == 0, done.stderr
    with Client(server) as c:
        last = c.rows("SHOW BINARY LOGS")[-1][0]
        c.ok(f"PURGE BINARY LOGS TO '{last}'")
        write(c, 1000)
    before = settled(server)
    damage(server.datadir / "base.redb", 7)
    assert "--encryption-key-file" in repair(server.datadir, f"--from={backup}", code=1)
    repair(server.datadir, option, f"--from={backup}")
    server.start()
    assert rows(server) == before


@pytest.mark.parametrize("kind", ["narwal", "mariadb"])
def test_tables_from_a_replica(own_narwal, own_narwal_replica, own_replica, kind):
    server = own_narwal("--innodb-buffer-pool-size=16M")
    replica = own_narwal_replica() if kind == "narwal" else own_replica()
    replica.follow(server.port)
    with Client(server) as c:
        make(c)
        write(c, 0)
        c.ok("CREATE TABLE d.child (id INT PRIMARY KEY, t INT, f FLOAT, b BIT(9), y VARBINARY(9), FOREIGN KEY (t) REFERENCES d.t (id))")
        c.ok("INSERT INTO d.child VALUES (1, 3, 1.1, 257, x'ff00'), (2, NULL, NULL, NULL, NULL)")
        replica.wait_applied(c.value("SELECT @@gtid_binlog_state"))
    before = settled(server)
    base = server.datadir / "base.redb"
    data = bytearray(base.read_bytes())
    at = data.find(b"kkkkkkkkkkkkkkkkkkkkkkkkkkkk")
    data[at + 7] ^= 4
    base.write_bytes(data)
    here = f"--replica=127.0.0.1:{replica.port}"
    server.start()
    with Client(server) as c:
        c.fails("SELECT * FROM d.t", 1712)
        c.ok("INSERT INTO d.u VALUES (-1, 'one more')")
        replica.wait_applied(c.value("SELECT @@gtid_binlog_state"))
    server.stop()
    assert "d.t: " in repair(server.datadir, here)
    server.start()
    after = rows(server)
    assert {**after, "u": after["u"][1:], "position": 0} == {**before, "position": 0}
    with Client(server) as c:
        assert c.value("SELECT COUNT(*) FROM d.child WHERE t IS NOT NULL AND y = x'ff00' AND b = 257") == "1"
        write(c, 5000, 20)
        state = c.value("SELECT @@gtid_binlog_state")
        replica.wait_applied(state)
        assert c.rows("SELECT * FROM d.t ORDER BY id") == Client(replica).rows("SELECT * FROM d.t ORDER BY id")
    # A replica with other transactions has other rows.
    with Client(replica) as c:
        c.run("STOP SLAVE")
    with Client(server) as c:
        c.ok("INSERT INTO d.u VALUES (-2, 'the replica has not this')")
    server.stop()
    data = bytearray(base.read_bytes())
    for at in range(0, len(data), 4096):
        if data.find(b"kkkkkkkkkkkkkkkkkkkkkkkkkkkk", at, at + 4096) >= 0:
            data[at + 2000] ^= 4
    base.write_bytes(data)
    assert "only a server with exactly the folder's transactions" in repair(server.datadir, here, code=1)
