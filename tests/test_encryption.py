"""Encryption at rest: a real server's files hold nothing readable, and keys can be changed."""

from __future__ import annotations

import secrets
import subprocess
from pathlib import Path

import pytest
from conftest import STAND_IN
from testbed.servers import narwal_binary
from support import Client

pytestmark = pytest.mark.skipif(STAND_IN, reason="Narwal's own format")

MARK = "zebra-0451-marker-in-clear-text"


def command(*args: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(narwal_binary()), *args], capture_output=True, text=True, timeout=60)


def files_with(folder: Path, text: str) -> list[str]:
    return [f.name for f in folder.rglob("*") if f.is_file() and text.encode() in f.read_bytes()]


def write_keys(path: Path, ids: list[int], keys: dict[int, str]) -> None:
    path.write_text("".join(f"{i};{keys.setdefault(i, secrets.token_hex(32))}\n" for i in ids))
    path.chmod(0o600)


def test_nothing_readable_on_disk_and_keys_change(lab, tmp_path):
    key_file, keys = tmp_path / "keys.txt", {}
    write_keys(key_file, [1], keys)
    option = f"--encryption-key-file={key_file}"
    server = lab.narwal([option])
    data = Path(server.datadir)
    c = Client(server)
    c.run("CREATE DATABASE d")
    c.run("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100))")
    for i in range(50):
        c.run(f"INSERT INTO d.t VALUES ({i}, '{MARK}')")
    assert c.run("SELECT @@encrypt_binlog, @@innodb_encrypt_log, @@innodb_encrypt_tables").rows == [("1", "1", "ON")]
    assert files_with(data, MARK) == []
    server.kill()
    assert files_with(data, MARK) == []

    assert "--encryption-key-file" in command("verify-log", f"--datadir={data}").stderr
    assert "no damage" in command("verify-log", f"--datadir={data}", option).stdout
    write_keys(key_file, [1, 2], keys)
    done = command("rotate-key", f"--datadir={data}", option, "--new-data-key")
    assert done.returncode == 0, done.stderr
    write_keys(key_file, [2], keys)

    server.start()
    assert Client(server).run(f"SELECT COUNT(*) FROM d.t WHERE v = '{MARK}'").rows == [("50",)]
    assert files_with(data, MARK) == []
    server.stop()
    assert files_with(data, MARK) == []

    assert command("decrypt", f"--datadir={data}", option).returncode == 0
    assert files_with(data, MARK) != [], "the check above can fail"
    assert "not encrypted" in command("verify-log", f"--datadir={data}", option).stderr
    assert command("encrypt", f"--datadir={data}", option).returncode == 0
    assert files_with(data, MARK) == []
    server.start()
    assert Client(server).run("SELECT COUNT(*) FROM d.t").rows == [("50",)]
