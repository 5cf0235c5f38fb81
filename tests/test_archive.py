"""The archive of the log: what a real server ships to a folder and to a bucket, through kills and failures of the store."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from conftest import STAND_IN
from testbed.s3 import S3
from testbed.servers import narwal_binary
from support import Client, wait_until

pytestmark = pytest.mark.skipif(STAND_IN, reason="Narwal's own")

# Small segments would need an option; so rows are large.
ROW = "REPEAT('x', 200000)"


def command(*args: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess:
    return subprocess.run([str(narwal_binary()), *args], capture_output=True, text=True, timeout=120, env=env)


def status(c: Client) -> dict[str, str]:
    return {r[0].removeprefix("Narwal_archive_"): r[1] for r in c.rows("SHOW STATUS LIKE 'Narwal_archive_%'")}


def wait_shipped(c: Client, seconds: float = 60) -> dict[str, str]:
    """Waits until the archive has everything that is committed now."""
    wanted = c.value("SELECT @@gtid_binlog_state")
    wait_until(lambda: status(c)["last_gtid"] == wanted, lambda: f"{status(c)}, wanted {wanted}", seconds)
    return status(c)


def write(c: Client, rows: range) -> None:
    for i in rows:
        c.ok(f"INSERT INTO d.t VALUES ({i}, {ROW})")


def gtids(folder: Path) -> list[str]:
    """GTIDs of the groups in a folder of segments."""
    done = command("binlog", str(folder), "--json")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line).get("gtid") for line in done.stdout.splitlines()]
    return list(dict.fromkeys(g for g in found if g))


def test_a_folder_through_kills(lab, tmp_path):
    url = (tmp_path / "archive").as_uri()
    server = lab.narwal([f"--narwal-archive-url={url}", "--narwal-archive-timeout=1", "--innodb-buffer-pool-size=32M"])
    c = Client(server)
    assert c.value("SELECT @@narwal_archive_url") == url
    c.fails("SET GLOBAL narwal_archive_url = ''", 1238)
    c.ok("CREATE DATABASE d")
    c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT)")
    for n in range(4):
        write(c, range(n * 60, n * 60 + 60))
        if n == 1:
            s = wait_shipped(c)
            assert s["state"] == "running" and s["failures"] == "0" and s["last_error"] == ""
        server.kill()
        server.start()
        c = Client(server)
    s = wait_shipped(c)
    assert s["lag_bytes"] == "0" or int(s["lag_bytes"]) < 4096
    assert int(s["last_lsn"]) > 4 * 60 * 200_000
    state = c.value("SELECT @@gtid_binlog_state")

    done = command("archive", "verify", url)
    assert done.returncode == 0, done.stdout + done.stderr
    listed = [json.loads(line) for line in command("archive", "list", "--json", url).stdout.splitlines()]
    assert len({e["history"] for e in listed}) == 1
    assert [e["start"] for e in listed[1:]] == [e["next"] for e in listed[:-1]]
    assert listed[-1]["gtids_after"] == state
    assert state in command("archive", "list", url).stdout
    done = command("archive", "fetch", url, str(tmp_path / "log"))
    assert done.returncode == 0, done.stderr
    assert gtids(tmp_path / "log") == [f"0-1-{n}" for n in range(1, 243)]

    # A clean stop ships the rest whatever the timeout is.
    c.ok("SET GLOBAL narwal_archive_timeout = 0")
    write(c, range(1000, 1003))
    server.stop()
    last = json.loads(command("archive", "list", "--json", url).stdout.splitlines()[-1])
    assert last["gtids_after"] == "0-1-245"
    # What was replaced is gone; nothing half-made is left.
    names = [p.name for p in (tmp_path / "archive").rglob("*") if p.is_file()]
    assert sum(n.endswith(".part") for n in names) == 1 and not [n for n in names if "#" in n]

    # Damage is found and named.
    victim = next(p for p in (tmp_path / "archive").rglob("wal.*") if p.suffix not in (".json", ".part"))
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)
    done = command("archive", "verify", url)
    assert done.returncode == 3 and victim.name in done.stdout, done.stdout
    done = command("archive", "fetch", url, str(tmp_path / "log2"))
    assert done.returncode == 3 and victim.name in done.stderr, done.stderr


def test_a_bucket_that_is_away_for_a_while(lab, tmp_path):
    with S3(page=3) as s3:
        server = lab.narwal([f"--narwal-archive-url={s3.url('a/b')}", "--narwal-archive-timeout=1"], start=False)
        server.env |= s3.environment()
        server.start()
        c = Client(server)
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT)")
        write(c, range(200))
        wait_shipped(c)
        s3.failing = True
        write(c, range(200, 400))
        wait_until(lambda: status(c)["state"] == "failing", lambda: str(status(c)), 60)
        assert int(status(c)["lag_bytes"]) > 0 and status(c)["last_error"]
        # What is not shipped stays, whoever wants it away.
        c.ok("FLUSH BINARY LOGS")
        last = c.rows("SHOW BINARY LOGS")[-1][0]
        c.ok(f"PURGE BINARY LOGS TO '{last}'")
        assert len(c.rows("SHOW BINARY LOGS")) == 2
        server.kill()
        server.start()
        c = Client(server)
        s3.failing = False
        wait_shipped(c)
        env = s3.environment()
        done = command("archive", "verify", s3.url("a/b"), env=env)
        assert done.returncode == 0 and "0 problems" in done.stdout, done.stdout + done.stderr
        done = command("archive", "fetch", s3.url("a/b"), str(tmp_path / "log"), env=env)
        assert done.returncode == 0, done.stderr
        assert gtids(tmp_path / "log") == [f"0-1-{n}" for n in range(1, 403)]
        assert all(k.startswith("a/b/") for k in s3.objects) and not s3.refused
        # Other keys: refused by the store, and said so.
        done = command("archive", "list", s3.url("a/b"), env=env | {"AWS_SECRET_ACCESS_KEY": "wrong"})
        assert done.returncode == 1 and "AccessDenied" in done.stderr, done.stderr


def test_an_encrypted_server_and_wrong_settings(lab, tmp_path):
    key_file = tmp_path / "keys.txt"
    key_file.write_text("1;" + "5a" * 32 + "\n")
    key_file.chmod(0o600)
    url = (tmp_path / "archive").as_uri()
    keys = f"--encryption-key-file={key_file}"
    server = lab.narwal([f"--narwal-archive-url={url}", "--narwal-archive-timeout=1", keys])
    c = Client(server)
    c.ok("CREATE DATABASE d")
    c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT)")
    c.ok("INSERT INTO d.t VALUES (1, 'a marker in clear text')")
    wait_shipped(c)
    assert not [p for p in (tmp_path / "archive").rglob("*") if p.is_file() and b"marker" in p.read_bytes()]
    assert command("archive", "verify", url).returncode == 0
    assert command("archive", "verify", url, keys).returncode == 0
    done = command("archive", "fetch", url, str(tmp_path / "no"))
    assert done.returncode == 1 and "--encryption-key-file" in done.stderr, done.stderr
    assert command("archive", "fetch", url, str(tmp_path / "log"), keys).returncode == 0
    assert gtids(tmp_path / "log") == ["0-1-1", "0-1-2", "0-1-3"]
    for bad in ("/srv/archive", "s3://", "ftp://host/x", "s3://id:secret@bucket/x"):
        done = command("serve", f"--datadir={tmp_path / 'd'}", f"--narwal-archive-url={bad}", "--skip-networking")
        assert done.returncode == 2 and "archive URL" in done.stderr, done.stderr
