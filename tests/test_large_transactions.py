"""Transactions larger than memory under faults, by the real binary: full disks, savepoints, KILL, DDL beside them, kills
of the server. Each case has a number in docs/log-format.md; crates/engine/tests/oob_faults.rs has the same cases at every
call of a simulated disk."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "torture"))
from binlog import Replay  # noqa: E402
from conftest import STAND_IN  # noqa: E402
from testbed.servers import Narwal  # noqa: E402
from testbed.wire import Connection, Lost, SqlError  # noqa: E402
from test_faults import free_bytes, small_disk  # noqa: E402, F401

pytestmark = pytest.mark.skipif(STAND_IN, reason="what only Narwal has")

SMALL = [
    "--binlog-oob-threshold=16K", "--narwal-transaction-memory=64K", "--innodb-buffer-pool-size=8M",
    "--innodb-log-file-size=1M",
]  # fmt: skip
TABLE = "CREATE TABLE a (id BIGINT NOT NULL PRIMARY KEY, v INT NOT NULL, s TEXT NOT NULL, KEY k_v (v))"


@pytest.fixture
def server(tmp_path):
    s = Narwal(tmp_path / "narwal", SMALL)
    s.start()
    make(s)
    yield s
    s.kill()


def make(server) -> None:
    c = Connection(server.port)
    c.query("CREATE DATABASE t")
    c.query("USE t")
    c.query(TABLE)
    c.close()


def connect(server, **options) -> Connection:
    return Connection(server.port, database="t", **options)


def insert(c: Connection, ids, text: str = "x" * 200) -> None:
    ids = list(ids)
    for at in range(0, len(ids), 200):
        values = ", ".join(f"({i}, {i % 10}, '{text}')" for i in ids[at : at + 200])
        c.query(f"INSERT INTO a VALUES {values}")


def rows(server) -> dict[int, tuple]:
    c = connect(server)
    c.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    found = {r[0]: r[1:] for r in c.query("SELECT * FROM a ORDER BY id").rows}
    by_index = sum(c.query(f"SELECT COUNT(*) FROM a WHERE v = {v}").rows[0][0] for v in range(-1, 12))
    assert by_index == len(found), "the index has as many rows as the table"
    c.close()
    return found


def status(server, name: str) -> int:
    return int(server.status(name)[name])


def spill_files(server) -> list[str]:
    return sorted(os.listdir(server.datadir / "spill"))


def wait_for(what, seconds: float = 10) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def check(server) -> None:
    """`narwal check --deep` of the dead server's folder."""
    done = subprocess.run([str(server.binary), "check", str(server.datadir), "--deep"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def rebuilt(server, out: Path) -> dict[int, tuple]:
    """Table `a` as the exported event stream makes it."""
    done = subprocess.run(
        [str(server.binary), "binlog", "export", str(out), f"--datadir={server.datadir}"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    replay = Replay({}, "t")
    for file in sorted(p for p in out.iterdir() if not p.name.endswith(".index")):
        replay.file(file)
    return {r[0]: r[1:] for r in replay.tables["a"].values()}


def restart_and_compare(server, expected: dict[int, tuple], tmp_path: Path) -> None:
    server.kill()
    check(server)
    assert rebuilt(server, tmp_path / f"export-{time.monotonic_ns()}") == expected
    server.start()
    assert rows(server) == expected


@pytest.mark.parametrize("room", [0, 1, 3, 8, 20])
def test_disk_full_in_a_large_transaction(small_disk, tmp_path, room):  # noqa: F811
    """C22. How many MiB are left decides what meets the end of the disk: a chunk, a run, a segment, the commit."""
    server = Narwal(small_disk / "narwal", SMALL)
    server.log_path = tmp_path / "server.log"
    try:
        server.start()
        make(server)
        c, other = connect(server), connect(server)
        insert(other, range(1000))
        server.sql("FLUSH LOGS")
        ballast = small_disk / "ballast"
        with open(ballast, "wb") as f:
            os.posix_fallocate(f.fileno(), 0, free_bytes(small_disk) - (room << 20) - 4096)
        c.query("BEGIN")
        error, sent, small = None, 1000, []
        while error is None and sent < 400_000:
            try:
                insert(c, range(sent, sent + 1000))
                sent += 1000
            except SqlError as e:
                error = e
            # Small commits beside it work or fail cleanly.
            try:
                insert(other, [-len(small) - 1])
                small.append(-len(small) - 1)
            except SqlError as e:
                assert e.code in (1021, 1114), e
        assert error is not None and error.code == 1021, error
        assert "isk full" in str(error)
        assert server.alive(), server.log_tail()
        # The statement was undone, nothing more: the transaction sees what it wrote before.
        seen = c.query("SELECT COUNT(*), MAX(id) FROM a WHERE id >= 1000").rows[0]
        assert sent - 1000 <= seen[0] < sent and seen[0] % 200 == 0, (seen, sent)
        if room % 2:
            c.query("ROLLBACK")
            kept = []
            wait_for(lambda: not spill_files(server))
            ballast.unlink()
        else:
            ballast.unlink()
            more = range(900_000, 901_000)
            insert(c, more)
            c.query("COMMIT")
            kept = [*range(1000, 1000 + seen[0]), *more]
        expected = [*small, *range(1000), *kept]
        assert sorted(rows(server)) == sorted(expected)
        # Space is back: a large one, and small ones.
        c.query("BEGIN")
        insert(c, range(500_000, 505_000))
        c.query("COMMIT")
        insert(other, [-100_000])
        expected += [*range(500_000, 505_000), -100_000]
        assert sorted(rows(server)) == sorted(expected)
        server.kill()
        check(server)
        server.start()
        assert sorted(rows(server)) == sorted(expected)
    finally:
        server.kill()


def test_disk_full_in_checkpoints(small_disk, tmp_path):  # noqa: F811
    """C29. Somebody else fills the disk again and again while checkpoints run: reads go on, and it needs no restart."""
    server = Narwal(small_disk / "narwal", [*SMALL, "--innodb-buffer-pool-size=16M"])
    server.log_path = tmp_path / "server.log"
    stop = threading.Event()
    try:
        server.start()
        make(server)
        acknowledged: set[int] = set()
        unknown: list[Exception] = []
        full = [0]

        def hog() -> None:
            rng = random.Random(1)
            ballast = small_disk / "ballast"
            while not stop.is_set():
                try:
                    with open(ballast, "wb") as f:
                        while not stop.is_set() and f.tell() < 1 << 30:
                            f.write(bytes(1 << 18))
                            f.flush()
                            if free_bytes(small_disk) < 1 << 18:
                                break
                except OSError:
                    pass
                full[0] += 1
                time.sleep(rng.uniform(0, 0.3))
                ballast.unlink()
                time.sleep(rng.uniform(0, 0.5))

        def writer(base: int) -> None:
            c = connect(server)
            n = 0
            while not stop.is_set():
                ids = range(base + n, base + n + 100)
                n += 100
                try:
                    c.query("BEGIN")
                    insert(c, ids, "y" * 300)
                    c.query("COMMIT")
                    acknowledged.update(ids)
                    # A fast machine must not fill the disk with rows: that is the hog's part.
                    time.sleep(0.02)
                except SqlError as e:
                    if e.code not in (1021, 1114):
                        unknown.append(e)
                        return
                    c.query("ROLLBACK")
                    time.sleep(0.01)

        threads = [threading.Thread(target=writer, args=(k * 10_000_000,), daemon=True) for k in range(3)]
        threads.append(threading.Thread(target=hog, daemon=True))
        for t in threads:
            t.start()
        c = connect(server)
        begun = time.monotonic()
        while time.monotonic() < begun + 12 or full[0] <= 3 or len(acknowledged) <= 1000:
            c.query("SELECT COUNT(*) FROM a WHERE id % 1000 = 7")
            assert server.alive() and not unknown, (unknown, server.log_tail())
            assert time.monotonic() < begun + 120, (full, len(acknowledged))
            time.sleep(0.05)
        stop.set()
        for t in threads:
            t.join(60)
        (small_disk / "ballast").unlink(missing_ok=True)
        # No restart was needed: writes, checkpoints and reads of everything work.
        done = time.monotonic() + 20
        while True:
            try:
                insert(c, [-1])
                break
            except SqlError as e:
                assert e.code in (1021, 1114) and time.monotonic() < done, e
                time.sleep(0.1)
        before = status(server, "Narwal_checkpoints")
        n = 0
        while status(server, "Narwal_checkpoints") == before:
            n += 1
            insert(c, range(-100_000 - n * 2000, -100_000 - n * 2000 + 2000))
            assert n < 200, server.log_tail()
        found = set(rows(server))
        assert acknowledged <= found and -1 in found
        server.kill()
        check(server)
        server.start()
        assert set(rows(server)) == found
    finally:
        stop.set()
        server.kill()


def test_savepoints_across_the_threshold(server, tmp_path):
    """C25, with what `narwal binlog` says of it."""
    c = connect(server)
    insert(c, range(100), "old")
    expected = {i: (i % 10, "old") for i in range(100)}

    def note(ids, text: str) -> None:
        expected.update({i: (i % 10, text) for i in ids})

    c.query("BEGIN")
    insert(c, range(100, 110), "small")
    note(range(100, 110), "small")
    c.query("SAVEPOINT one")
    insert(c, range(1000, 4000), "gone " * 20)
    c.query("UPDATE a SET s = 'gone' WHERE id < 1500")
    c.query("SAVEPOINT two")
    c.query("DELETE FROM a WHERE id < 2000")
    assert status(server, "Narwal_oob_chunks") > 0 and status(server, "Narwal_spills") > 0
    c.query("ROLLBACK TO two")
    assert c.query("SELECT COUNT(*) FROM a").rows == [(3110,)]
    c.query("ROLLBACK TO one")
    assert c.query("SELECT COUNT(*), MIN(s), MAX(s) FROM a").rows == [(110, "old", "small")]
    insert(c, range(2000, 6000), "kept " * 20)
    note(range(2000, 6000), "kept " * 20)
    c.query("SAVEPOINT three")
    with pytest.raises(SqlError) as e:
        c.query("INSERT INTO a SELECT id + 3000, v, s FROM a WHERE id >= 1000")
    assert e.value.code == 1062
    c.query("UPDATE a SET s = CONCAT(s, 'more') WHERE id >= 2000 AND id < 3000")
    note(range(2000, 3000), "kept " * 20 + "more")
    c.query("SAVEPOINT four")
    c.query("DELETE FROM a")
    c.query("ROLLBACK TO SAVEPOINT four")
    c.query("RELEASE SAVEPOINT three")
    c.query("DELETE FROM a WHERE id < 50")
    for i in range(50):
        del expected[i]
    c.query("COMMIT")
    # And one that goes back to nothing.
    c.query("BEGIN")
    c.query("SAVEPOINT s")
    insert(c, range(10_000, 12_000))
    c.query("ROLLBACK TO s")
    c.query("COMMIT")
    assert rows(server) == expected
    restart_and_compare(server, expected, tmp_path)
    server.kill()
    printed = subprocess.run(
        [str(server.binary), "binlog", str(server.datadir), "--json"], capture_output=True, text=True, check=True
    )
    changes = [json.loads(line) for line in printed.stdout.splitlines()]
    changes = [x for x in changes if x.get("table") == "a" and (x.get("after") or x.get("before"))]
    texts = {(x.get("after") or x["before"])["s"] for x in changes}
    assert "gone" not in texts and "gone " * 20 not in texts
    assert len(changes) == 100 + 10 + 4000 + 1000 + 50


@pytest.mark.parametrize("how", ["KILL QUERY", "KILL", "disconnect", "ROLLBACK", "lock wait"])
def test_what_ends_in_the_middle_leaves_nothing(server, tmp_path, how):
    """C26: dead chunks, no files, no locks, and nothing that keeps the log from being purged."""
    admin = connect(server)
    insert(admin, range(500))
    c = connect(server)
    number = c.query("SELECT CONNECTION_ID()").rows[0][0]
    c.query("BEGIN")
    insert(c, range(1000, 6000))
    assert status(server, "Narwal_oob_chunks") > 10 and spill_files(server)
    if how == "ROLLBACK":
        c.query("ROLLBACK")
    elif how == "disconnect":
        c.drop()
    elif how == "lock wait":
        # Killed while it waits for a row of another transaction.
        admin.query("BEGIN")
        admin.query("UPDATE a SET v = 1 WHERE id = 7")
        waiting = threading.Thread(target=lambda: pytest.raises((SqlError, Lost), c.query, "UPDATE a SET v = 2 WHERE id = 7"))
        waiting.start()
        wait_for(lambda: admin.query("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_waits'").rows[0][1] != "0")
        admin.query(f"KILL {number}")
        waiting.join(10)
        assert not waiting.is_alive()
        admin.query("ROLLBACK")
    else:
        # In the middle of a statement that changes everything.
        before = status(server, "Narwal_oob_chunks")
        failed: list[BaseException] = []

        def work() -> None:
            try:
                while True:
                    c.query("UPDATE a SET s = CONCAT(s, 'y'), v = v + 1")
            except (SqlError, Lost) as e:
                failed.append(e)

        worker = threading.Thread(target=work)
        worker.start()
        wait_for(lambda: status(server, "Narwal_oob_chunks") > before + 5)
        admin.query(f"{how} {number}")
        worker.join(10)
        assert not worker.is_alive() and failed
        if how == "KILL QUERY":
            assert failed[0].code == 1317
            # The statement is undone, the transaction stays and can go on.
            got = c.query("SELECT COUNT(*), SUM(LENGTH(s)) FROM a WHERE id >= 1000").rows[0]
            assert got[0] == 5000 and int(got[1]) % 5000 == 0, got
            c.query("ROLLBACK")
    wait_for(lambda: not spill_files(server))
    wait_for(lambda: status(server, "Narwal_row_locks") == 0)
    assert sorted(rows(server)) == list(range(500))
    # Retention is free: nothing is said to keep the log, and its segments go at the next checkpoint.
    segments = lambda: len([f for f in os.listdir(server.datadir / "log") if f.startswith("wal.0")])  # noqa: E731
    many = segments()
    admin.query("FLUSH BINARY LOGS")
    last = admin.query("SHOW BINARY LOGS").rows[-1][0]
    for i in range(100):
        insert(admin, range(100_000 + i * 1000, 101_000 + i * 1000))
        admin.query(f"PURGE BINARY LOGS TO '{last}'")
        notes = [r[2] for r in admin.query("SHOW WARNINGS").rows]
        assert not any("running" in n for n in notes), notes
        if segments() < many:
            break
    else:
        pytest.fail(f"{many} segments stay")
    expected = sorted(rows(server))
    server.kill()
    server.start()
    assert sorted(rows(server)) == expected


def test_indexes_come_and_go_beside_large_transactions(server, tmp_path):
    """ALTER TABLE during load: it waits for writers of its table; what is read by the new index is right at any time."""
    stop = threading.Event()
    faults: list[BaseException] = []
    state: dict[int, tuple] = {}
    lock = threading.Lock()

    def guard(job):
        def run(*args) -> None:
            try:
                job(*args)
            except Lost as e:
                if not stop.is_set():
                    faults.append(e)
            except BaseException as e:  # handed to the test's thread
                faults.append(e)

        return run

    @guard
    def large(base: int) -> None:
        rng = random.Random(base)
        c, n = connect(server), 0
        while not stop.is_set():
            n += 1
            mine: dict[int, tuple] = {}
            try:
                c.query("BEGIN")
                c.query(f"DELETE FROM a WHERE id >= {base} AND id < {base + 100_000}")
                for at in range(0, rng.randrange(200, 1500), 100):
                    insert(c, range(base + at, base + at + 100), f"text {n}")
                    mine.update({i: (i % 10, f"text {n}") for i in range(base + at, base + at + 100)})
                if rng.random() < 0.2:
                    c.query("ROLLBACK")
                    continue
                with lock:  # the last commit that was sent is known, whatever happens
                    c.query("COMMIT")
                    for i in [i for i in state if base <= i < base + 100_000]:
                        del state[i]
                    state.update(mine)
            except SqlError as e:
                # A definition that changed under the transaction, or a conflict: it is tried again.
                assert e.code in (1412, 1020, 1213, 1205), e
                c.query("ROLLBACK")

    @guard
    def ddl() -> None:
        c, here = connect(server), False
        c.query("SET lock_wait_timeout = 20")
        while not stop.is_set():
            try:
                if here:
                    c.query("ALTER TABLE a DROP INDEX k_s")
                else:
                    c.query("ALTER TABLE a ADD INDEX k_s (s(20), id)")
                here = not here
            except SqlError as e:
                assert e.code in (1205, 1213), e
            time.sleep(0.02)
            done.append(here)

    done: list[bool] = []
    threads = [threading.Thread(target=large, args=(k * 1_000_000,), daemon=True) for k in range(1, 4)]
    threads.append(threading.Thread(target=ddl, daemon=True))
    for t in threads:
        t.start()
    c = connect(server)
    end = time.monotonic() + 8
    while time.monotonic() < end and not faults:
        by_text = c.query("SELECT s, COUNT(*) FROM a GROUP BY s").rows
        assert all(n % 100 == 0 for _, n in by_text), by_text
    stop.set()
    for t in threads:
        t.join(60)
    assert not faults, faults
    assert len(done) > 4 and status(server, "Narwal_oob_commits") > 5
    assert rows(server) == state
    restart_and_compare(server, state, tmp_path)


def test_changes_right_after_a_start(server, tmp_path):
    """C27: the server takes changes at once after a start, while checkpoints merge what recovery found."""
    expected: dict[int, tuple] = {}
    for life in range(4):
        c = connect(server)
        c.query("BEGIN")
        base = life * 100_000
        insert(c, range(base, base + 4000), f"life {life}")
        c.query("COMMIT")
        # Killed at once: mostly no checkpoint has merged it.
        server.kill()
        expected.update({i: (i % 10, f"life {life}") for i in range(base, base + 4000)})
        if life == 2:
            for f in (server.datadir / "spill").iterdir():
                f.unlink()
        server.start()

        def change(part: int) -> None:
            w = connect(server)
            for i in range(base + part, base + 4000, 40):
                if i % 3 == 0:
                    w.query(f"DELETE FROM a WHERE id = {i}")
                else:
                    w.query(f"UPDATE a SET s = 'changed', v = 11 WHERE id = {i}")

        threads = [threading.Thread(target=change, args=(p,)) for p in range(4)]
        for t in threads:
            t.start()
        assert len(rows(server)) > 0
        for t in threads:
            t.join()
        for part in range(4):
            for i in range(base + part, base + 4000, 40):
                if i % 3 == 0:
                    del expected[i]
                else:
                    expected[i] = (11, "changed")
        assert rows(server) == expected
    restart_and_compare(server, expected, tmp_path)


def test_a_segment_made_ahead_is_missing(server, tmp_path):
    """C17: the next segment exists before it is needed; without it a start makes another."""
    c = connect(server)
    names = lambda: sorted(f for f in os.listdir(server.datadir / "log") if f.startswith("wal.0"))  # noqa: E731
    n, log = 0, server.datadir / "log"
    while True:
        insert(c, range(n, n + 100))
        n += 100
        time.sleep(0.02)
        last = log / names()[-1]
        # Nothing but the header and zeros: made ahead.
        if len(names()) > 1 and not any(last.read_bytes()[4096:]):
            break
        assert n < 100_000
    server.kill()
    last.unlink()
    server.start()
    assert sorted(rows(server)) == list(range(n))
    c = connect(server)
    insert(c, range(n, n + 10_000))
    restart_and_compare(server, {i: (i % 10, "x" * 200) for i in range(n + 10_000)}, tmp_path)


def test_a_large_transaction_that_replicas_do_not_see(server, tmp_path):
    """SET sql_log_bin = 0: chunks and runs as ever, for recovery alone; readers of the log pass over them."""
    c = connect(server)
    insert(c, range(100))
    before = c.query("SHOW MASTER STATUS").rows
    c.query("SET sql_log_bin = 0")
    chunks = status(server, "Narwal_oob_chunks")
    c.query("BEGIN")
    insert(c, range(1000, 4000))
    c.query("SAVEPOINT s")
    insert(c, range(5000, 6000))
    c.query("ROLLBACK TO s")
    c.query("COMMIT")
    assert status(server, "Narwal_oob_chunks") > chunks + 5
    assert c.query("SHOW MASTER STATUS").rows == before
    c.query("SET sql_log_bin = 1")
    insert(c, range(100, 110))
    server.kill()
    check(server)
    assert sorted(rebuilt(server, tmp_path / "export")) == list(range(110))
    server.start()
    assert sorted(rows(server)) == [*range(110), *range(1000, 4000)]
