"""Faults of the machine under the real binary: a full disk, a failing sync, a flipped byte, and syncs counted.

The servers come from lab/testbed, the client from lab/testbed/wire.py; NARWAL_BIN names the binary.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from testbed import syncshim  # noqa: E402
from testbed.servers import Narwal  # noqa: E402
from testbed.wire import Connection, Lost, SqlError  # noqa: E402

DISK_FULL = {1021, 1114}


@pytest.fixture(scope="session")
def shim(tmp_path_factory):
    return syncshim.build(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def server(tmp_path, shim):
    """A started server under the sync shim."""
    s = Narwal(tmp_path / "narwal", shim=shim)
    s.start()
    yield s
    s.kill()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 512 MiB of its own; root only."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small tmpfs needs root")
    mount = tmp_path / "disk"
    mount.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512m", "tmpfs", str(mount)], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"cannot mount a tmpfs: {done.stderr.strip()}")
    yield mount
    subprocess.run(["umount", "-l", str(mount)], check=False)


def free_bytes(folder: Path) -> int:
    s = os.statvfs(folder)
    return s.f_bavail * s.f_frsize


def make_table(port: int) -> Connection:
    c = Connection(port)
    c.query("CREATE DATABASE t")
    c.query("USE t")
    c.query("CREATE TABLE a (id BIGINT NOT NULL PRIMARY KEY, v INT NOT NULL, s TEXT, KEY k_v (v))")
    return c


def ids(c: Connection) -> list[int]:
    return [r[0] for r in c.query("SELECT id FROM a ORDER BY id").rows]


def test_disk_full_stops_writes_only_and_ends_when_space_is_back(small_disk, tmp_path):
    server = Narwal(small_disk / "narwal")
    server.log_path = tmp_path / "server.log"  # the server's own messages go to a disk with room
    try:
        server.start()
        c = make_table(server.port)
        acknowledged = []

        def insert(i: int) -> None:
            c.query(f"INSERT INTO a VALUES ({i}, {i % 10}, '{'d' * 60_000}')")
            acknowledged.append(i)

        for i in range(20):
            insert(i)
        # All room but a little goes to a ballast file; the server then runs into the end of the disk by itself.
        ballast = small_disk / "ballast"
        room = free_bytes(small_disk) - (8 << 20)
        with open(ballast, "wb") as f:
            os.posix_fallocate(f.fileno(), 0, max(room, 1))
        error = None
        for i in range(20, 10_000):
            try:
                insert(i)
            except SqlError as e:
                error = e
                break
        assert error is not None, "600 MB went into a file system of 512 MiB"
        assert error.code in DISK_FULL, error
        assert server.alive(), server.log_tail()
        assert ids(c) == acknowledged, "reads go on, and show what was acknowledged and nothing else"
        with pytest.raises(SqlError) as again:
            for i in range(10_000, 10_100):
                insert(i)
        assert again.value.code in DISK_FULL

        ballast.unlink()
        end = time.monotonic() + 30
        while True:
            try:
                insert(20_000)
                break
            except SqlError as e:
                assert e.code in DISK_FULL, e
                assert time.monotonic() < end, "space is back for 30 s and writes still fail"
                time.sleep(0.2)
        for i in range(20_001, 20_020):
            insert(i)
        assert ids(c) == acknowledged
        assert c.query("SELECT COUNT(*) FROM a WHERE v = 3").rows == [(sum(i % 10 == 3 for i in acknowledged),)]

        server.kill()
        server.start()
        c = Connection(server.port, database="t")
        assert ids(c) == acknowledged, "nothing acknowledged before, in or after the full disk is lost"
    finally:
        server.kill()


def test_a_failed_sync_ends_acknowledgements_for_good_and_says_why(server):
    c = make_table(server.port)
    acknowledged: dict[int, float] = {}
    errors: list[SqlError] = []

    def writer(base: int) -> None:
        try:
            w = Connection(server.port, database="t")
            for i in range(base, base + 1_000_000):
                try:
                    w.query(f"INSERT INTO a VALUES ({i}, 1, 'x')")
                    acknowledged[i] = time.monotonic()
                except SqlError as e:
                    errors.append(e)
                    time.sleep(0.01)
                    if len(errors) > 50:
                        return
        except Lost:
            pass

    threads = [threading.Thread(target=writer, args=(n * 1_000_000,), daemon=True) for n in range(8)]
    for t in threads:
        t.start()
    while len(acknowledged) < 200:
        assert server.alive(), server.log_tail()
        time.sleep(0.01)
    server.counters.fail_after(0)
    while server.counters.read()["failed"] == 0:
        time.sleep(0.001)
    failed_at = time.monotonic()
    # Groups that were synced before may still be on their way to their clients.
    time.sleep(1.0)
    late = [i for i, t in acknowledged.items() if t > failed_at + 0.5]
    assert not late, f"{len(late)} acknowledgements after a failed sync"

    # The syncs work again, and still nothing may be acknowledged: what the failed one dropped is unknown.
    server.counters.fail_after(-1)
    count = len(acknowledged)
    if server.alive():
        try:
            late_client = Connection(server.port, database="t")
            with pytest.raises(SqlError):
                late_client.query("INSERT INTO a VALUES (-1, 1, 'x')")
        except Lost:
            pass
    time.sleep(0.3)
    assert len(acknowledged) == count
    log = server.log_path.read_text(errors="replace")
    assert re.search(r"(?i)sync", log) and re.search(r"(?i)input/output error|os error 5|EIO", log), (
        f"the log must say why\n{server.log_tail()}"
    )
    server.kill()
    for t in threads:
        t.join(20)
    c.drop()

    server.start()
    c = Connection(server.port, database="t")
    found = set(ids(c))
    missing = set(acknowledged) - found
    assert not missing, f"{len(missing)} acknowledged rows are gone"
    assert -1 not in found
    c.query("INSERT INTO a VALUES (-2, 1, 'after')")


def test_a_flipped_byte_in_a_durable_record_is_named_by_file_and_offset(server):
    c = make_table(server.port)
    for i in range(200):
        c.query(f"INSERT INTO a VALUES ({i}, {i}, 'MARK{i:06}MARK')")
    server.kill()
    mark = b"MARK000050MARK"
    hits = []
    for base, _, files in os.walk(server.datadir):
        for name in files:
            path = Path(base) / name
            data = path.read_bytes()
            if data[:4] == b"redb" or not data:
                continue  # the table store's base; a checkpoint may have put the row there as well
            at = data.find(mark)
            if at >= 0 and b"MARK000150MARK" in data[at:]:
                hits.append((path, at))
    assert hits, "the record's bytes are nowhere in the log"
    path, at = hits[0]
    with open(path, "r+b") as f:
        f.seek(at + 5)
        byte = f.read(1)
        f.seek(at + 5)
        f.write(bytes([byte[0] ^ 0x10]))

    server.spawn()
    code = server.process.wait(60)
    assert code != 0, "a server must not start over a hole in durable data"
    log = server.log_path.read_text(errors="replace")
    report = [line for line in log.splitlines() if path.name in line]
    assert report, f"the report must name {path.name}\n{server.log_tail()}"
    offsets = [int(n) for line in report for n in re.findall(r"\b(\d+)\b", line)]
    assert any(at - 4096 <= n <= at + 4096 for n in offsets), f"the report must name an offset near {at}: {report}"

    # The byte put back, the server starts and nothing is missing: the refusal changed nothing on disk.
    with open(path, "r+b") as f:
        f.seek(at + 5)
        f.write(byte)
    server.start()
    assert ids(Connection(server.port, database="t")) == list(range(200))


def test_one_sync_a_commit_counted_from_outside(server):
    """The shim counts what the process asks of libc: one thread in autocommit needs one sync a commit."""
    c = make_table(server.port)
    c.query("INSERT INTO a VALUES (1, 0, 'x')")
    time.sleep(1.5)  # the new folder's own syncs and a first background preallocation
    before, own = server.counters.syncs(), server.status("Narwal_log_syncs")
    commits = 500
    for i in range(commits):
        c.query(f"UPDATE a SET v = {i + 1} WHERE id = 1")
    counted = server.counters.syncs() - before
    assert counted >= commits, "a commit was acknowledged without a sync"
    assert counted <= commits * 1.02 + 5, f"{counted} syncs for {commits} commits"
    now = server.status("Narwal_log_syncs")
    assert own and now, "SHOW GLOBAL STATUS has Narwal_log_syncs"
    of_log = int(*now.values()) - int(*own.values())
    assert abs(of_log - commits) <= 5, f"the server says {of_log} log syncs, the shim counted {counted}"


def test_many_threads_share_syncs(server):
    """Group commit: 32 writers on a slow disk need far fewer syncs than commits."""
    make_table(server.port)
    server.counters.set_delay(2000)
    done = []

    def writer(base: int) -> None:
        w = Connection(server.port, database="t")
        for i in range(base, base + 20):
            w.query(f"INSERT INTO a VALUES ({i}, 1, 'x')")
            done.append(i)

    threads = [threading.Thread(target=writer, args=(n * 1000,)) for n in range(32)]
    before = server.counters.syncs()
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    syncs = server.counters.syncs() - before
    assert len(done) == 640
    assert syncs < 320, f"{syncs} syncs for 640 commits of 32 connections"
    assert syncs >= 20, "each connection waited for a sync of its own 20 times"
