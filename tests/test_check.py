"""`narwal check`: a folder after kills is whole; damage is named; the folder stays as it is."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from conftest import STAND_IN
from support import Client
from test_binlog_export import run_history, write_all_types

pytestmark = pytest.mark.skipif(STAND_IN, reason="what only Narwal has")


def check(server, *options: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(server.binary), "check", str(server.datadir), *options], capture_output=True, text=True, timeout=120)


def whole(server, *options: str) -> str:
    before = digest(server.datadir)
    done = check(server, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no damage" in done.stdout
    assert digest(server.datadir) == before, "the check changed the folder"
    return done.stdout


def digest(folder: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def segments(server) -> list[Path]:
    return sorted(p for p in (server.datadir / "log").iterdir() if p.name.startswith("wal.") and p.name not in ("wal.lock", "wal.tmp"))


def flip(path: Path, offset: int) -> None:
    data = bytearray(path.read_bytes())
    data[offset] ^= 0x20
    path.write_bytes(data)


def test_whole_after_kills(own_narwal):
    server = own_narwal("--innodb-log-file-size=1M")
    for life in range(3):
        with Client(server) as client:
            if life == 0:
                write_all_types(client)
            run_history(client, 70 + life, 80)
            client.ok("BEGIN")
            client.ok("INSERT INTO types_db.many (id) VALUES (-1)")
            server.kill()
        assert "compared with the log" in whole(server, "--deep")
        server.start()
    assert server.stop() == 0
    text = whole(server, "--deep")
    assert "tables" in text and "GTID position '0-1-" in text


def test_row_images_and_local_commits(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("USE d")
        client.ok("CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT, KEY (a))")
        client.ok("CREATE TABLE k (a INT, b TEXT)")
        for image in ("FULL", "MINIMAL", "NOBLOB"):
            client.run(f"SET SESSION binlog_row_image = {image}")
            client.ok("INSERT INTO t SELECT 1000 + COALESCE(MAX(id), 0), 1, 'x' FROM t")
            client.ok("INSERT INTO k VALUES (1, 'y'), (2, 'z')")
            client.ok("UPDATE t SET a = a + 1")
            client.ok("UPDATE k SET a = a + 1")
            client.run("SET SESSION sql_log_bin = 0")
            client.ok("UPDATE t SET b = CONCAT(b, 'l')")
            client.ok("DELETE FROM k WHERE a = 2 LIMIT 1")
            client.run("SET SESSION sql_log_bin = 1")
    server.kill()
    whole(server, "--deep")


def test_damage_in_the_log_and_json(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        run_history(client, 5, 120)
    server.stop()
    first = segments(server)[0]
    flip(first, 9000)
    flip(first, 15000)
    done = check(server, "--json")
    assert done.returncode == 1
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    findings, report = lines[:-1], lines[-1]
    spots = [f for f in findings if f["damage"] and f.get("file") == str(first)]
    assert len(spots) == 2, findings
    for spot, at in zip(spots, (9000, 15000)):
        assert spot["offset"] <= at < spot["offset"] + 3000 and spot["lsn"] > 0
    assert report["damages"] == 2 and report["rows"] > 0
    done = check(server)
    assert done.returncode == 1
    assert f"damage in {first}, offset" in done.stdout
    assert "2 damages" in done.stderr


def test_a_folder_in_use_or_none(own_narwal, tmp_path):
    server = own_narwal()
    done = check(server)
    assert done.returncode == 1 and "in use" in done.stderr
    server.stop()
    for folder in (tmp_path, tmp_path / "nothing"):
        done = subprocess.run([str(server.binary), "check", str(folder)], capture_output=True, text=True, timeout=60)
        assert done.returncode == 1 and "no" in done.stderr and "data folder" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_truncated_and_missing_segments(own_narwal):
    server = own_narwal("--innodb-log-file-size=1M")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, b LONGTEXT)")
        for n in range(8):
            client.ok(f"INSERT INTO d.t VALUES ({n}, REPEAT('{n}', 400000))")
    server.stop()
    files = segments(server)
    assert len(files) >= 3
    kept = files[1].read_bytes()
    files[1].unlink()
    done = check(server)
    assert done.returncode == 1 and files[1].name in done.stdout and "missing" in done.stdout, done.stdout
    files[1].write_bytes(kept[:10000])
    done = check(server)
    assert done.returncode == 1 and files[1].name in done.stdout, done.stdout
    files[1].write_bytes(kept)
    whole(server)


def test_encrypted_and_compressed_folders(own_narwal, tmp_path):
    keys = tmp_path / "keys"
    keys.write_text(f"1;{'5a' * 32}\n")
    keys.chmod(0o600)
    server = own_narwal(f"--encryption-key-file={keys}", "--narwal-log-compression=zstd", "--binlog-oob-threshold=100000")
    with Client(server) as client:
        run_history(client, 8, 100)
        client.run("COMMIT")
        client.ok("CREATE DATABASE big")
        client.ok("CREATE TABLE big.large (id INT PRIMARY KEY, b LONGTEXT)")
        client.ok("BEGIN")
        for n in range(40):
            client.ok(f"INSERT INTO big.large VALUES ({n}, REPEAT('x{n}', 10000))")
        client.ok("COMMIT")
    server.kill()
    with_keys = f"--encryption-key-file={keys}"
    assert "0 chunks" not in whole(server, with_keys)
    done = check(server)
    assert done.returncode == 1 and "encrypted" in done.stderr
    flip(segments(server)[0], 4096 + 9000)
    done = check(server, with_keys)
    assert done.returncode == 1 and "damage in" in done.stdout and "offset" in done.stdout, done.stdout


def test_resets_purges_and_what_is_left_out(own_narwal):
    server = own_narwal("--innodb-log-file-size=1M", "--max-binlog-size=65536")
    with Client(server) as client:
        run_history(client, 9, 60)
        client.ok("RESET MASTER")
        client.ok("CREATE DATABASE p")
        client.ok("CREATE TABLE p.t (id INT PRIMARY KEY, b LONGTEXT)")
        for n in range(12):
            client.ok(f"INSERT INTO p.t VALUES ({n}, REPEAT('{n}', 400000))")
        client.ok("SET sql_log_bin = 0")
        client.ok("DELETE FROM p.t WHERE id = 3")
        client.ok("SET sql_log_bin = 1")
        client.ok("FLUSH BINARY LOGS")
        assert "compared with the log" in whole_copy(server)
        files = client.rows("SHOW BINARY LOGS")
        first = segments(server)[0]
        client.ok(f"PURGE BINARY LOGS TO '{files[-1][0]}'")
    # The checkpoint of the stop lets segments go, soon after the next start at the latest.
    server.stop()
    server.start()
    end = time.monotonic() + 60
    while first.exists() and time.monotonic() < end:
        time.sleep(0.1)
    server.stop()
    text = whole(server)
    assert "note: the tables were not compared with the log: it does not go back to the beginning" in text
    assert "0 rows compared" in text
    assert "note" not in whole(server, "--quick")
    done = check(server, "--quick", "--deep")
    assert done.returncode == 2 and "cannot be used with" in done.stderr


def whole_copy(server) -> str:
    """As a backup of a running folder by a snapshot of the disk: the server stands still while it is copied."""
    copy = server.folder / "copy"
    server.pause()
    shutil.copytree(server.datadir, copy)
    server.resume()
    done = subprocess.run([str(server.binary), "check", str(copy)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_children_without_parents_are_notes(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("USE d")
        client.ok("CREATE TABLE p (a INT, b VARCHAR(10), PRIMARY KEY (a, b), KEY (b))")
        client.ok(
            "CREATE TABLE c (id INT PRIMARY KEY, a BIGINT, b VARCHAR(10), up INT, KEY (a), "
            "CONSTRAINT by_b FOREIGN KEY (b) REFERENCES p (b), CONSTRAINT upwards FOREIGN KEY (up) REFERENCES c (id))"
        )
        client.ok("INSERT INTO p VALUES (1, 'x'), (2, 'y')")
        client.ok("INSERT INTO c VALUES (1, 1, 'x', 1), (2, 1, 'Y', 1), (3, NULL, NULL, NULL)")
        server.stop()
    assert "foreign key" not in whole(server)
    server.start()
    with Client(server, "d") as client:
        client.ok("SET foreign_key_checks = 0")
        client.ok("INSERT INTO c VALUES (4, 9, 'q', 1), (5, 9, 'x', 77)")
        client.ok("INSERT INTO c SELECT 1000 + seq, NULL, NULL, 5000 FROM (WITH RECURSIVE s AS (SELECT 1 seq UNION ALL SELECT seq + 1 "
                  "FROM s WHERE seq < 150) SELECT seq FROM s) q")  # fmt: skip
        server.stop()
    lines = [line for line in whole(server).splitlines() if "foreign key" in line]
    assert lines[0] == (
        "note, table d.c, key id=4: foreign key by_b: the row has no parent in d.p (which foreign_key_checks=0 allows)"
    )
    assert lines[1].startswith("note, table d.c, key id=5: foreign key upwards: the row has no parent in d.c ")
    assert lines[-1] == "note, table d.c: foreign key upwards: 151 rows have no parent"
    assert len(lines) == 1 + 100 + 1
    server.start()
    with Client(server, "d") as client:
        client.ok("SET foreign_key_checks = 0")
        client.ok("DELETE FROM c WHERE up <> 1")
        client.ok("DROP TABLE p")
        server.stop()
    assert "note, table d.c: foreign key by_b: its parent d.p is not there" in whole(server)
