"""Narwal with two logs (`--binlog-storage-engine=FILE`), as the classic design has them: kill -9 under load leaves the same
rows in the tables and in the flat binary log files, which mariadb-binlog reads."""

from __future__ import annotations

import random
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from testbed import syncshim  # noqa: E402
from testbed.client import Client, ServerError  # noqa: E402
from testbed.servers import Narwal, ServerDied, narwal_binary  # noqa: E402

FILE = "--binlog-storage-engine=FILE"
THREADS = 6


@pytest.fixture
def server(tmp_path):
    s = Narwal(tmp_path / "narwal", [FILE])
    s.start()
    c = Client(s.port)
    c.query("CREATE DATABASE t")
    c.query("CREATE TABLE t.a (id INT NOT NULL PRIMARY KEY, n INT NOT NULL, s VARCHAR(60))")
    c.close()
    yield s
    s.kill()


def files(s: Narwal) -> list[Path]:
    index = (s.datadir / "narwal-bin.index").read_text().split()
    return [s.datadir / name for name in index]


def events(s: Narwal) -> dict[int, int]:
    """The rows that the binary log files make, by mariadb-binlog: id and n."""
    done = subprocess.run(
        ["mariadb-binlog", "--no-defaults", "--verify-binlog-checksum", "--base64-output=decode-rows", "-v",
         *map(str, files(s))],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert "WARNING" not in done.stderr and "ERROR" not in done.stderr, done.stderr
    rows: dict[int, int] = {}
    for part, i, n in re.findall(r"### (WHERE|SET)\n###   @1=(\d+)\n###   @2=(\d+)", done.stdout):
        if part == "WHERE":
            assert rows.pop(int(i)) == int(n), "a before image is the row"
        else:
            assert int(i) not in rows, "a transaction stands in the files once"
            rows[int(i)] = int(n)
    return rows


def table(s: Narwal) -> dict[int, int]:
    c = Client(s.port)
    found = {int(r[0]): int(r[1]) for r in c.query("SELECT id, n FROM t.a")}
    c.close()
    return found


def load(port: int, number: int, acked: dict[int, int]) -> None:
    """Inserts and updates rows of its own; `acked` has what was acknowledged."""
    try:
        c = Client(port, timeout=20)
        for n in range(1 << 30):
            i = number * 1_000_000 + max(acked, default=number * 1_000_000) % 1_000_000 + 1
            c.query(f"INSERT INTO t.a VALUES ({i}, {n}, 'some text for the row of {i}')")
            acked[i] = n
            if n % 3 == 0:
                # In doubt until it is answered.
                del acked[i]
                c.query(f"UPDATE t.a SET n = n + 1 WHERE id = {i}")
                acked[i] = n + 1
    except (OSError, ConnectionError, ServerError):
        pass


def test_kill_under_load_leaves_the_same_rows_in_tables_and_files(server):
    rng = random.Random(6)
    acked: list[dict[int, int]] = [{} for _ in range(THREADS)]
    for _ in range(4):
        threads = [threading.Thread(target=load, args=(server.port, k + 1, acked[k])) for k in range(THREADS)]
        for t in threads:
            t.start()
        time.sleep(rng.uniform(0.3, 1.2))
        server.kill()
        for t in threads:
            t.join()
        server.start()
        rows = table(server)
        assert rows == events(server)
        for mine in acked:
            for i, n in mine.items():
                assert rows.get(i) == n, f"row {i} was acknowledged"
        # The next round goes on behind what is there.
        for k in range(THREADS):
            acked[k].update({i: n for i, n in rows.items() if i // 1_000_000 == k + 1})
    assert len(rows) > 20
    assert len(files(server)) == 5, "a file for each start"


def test_the_files_are_what_show_statements_say(server):
    c = Client(server.port)
    c.query("INSERT INTO t.a VALUES (1, 1, 'a')")
    c.query("FLUSH BINARY LOGS")
    for i in range(2, 60):
        c.query(f"INSERT INTO t.a VALUES ({i}, {i}, REPEAT('x', 50))")
    # Larger than binlog_oob_threshold: its events stand in chunks of the engine's log until the commit.
    c.query("SET GLOBAL binlog_oob_threshold = 4096")
    for more in [100, 200, 400, 800, 1600]:
        c.query(f"INSERT INTO t.a SELECT id + {more}, n, s FROM t.a")
    c.query("UPDATE t.a SET n = n + 7")
    assert int(c.query("SHOW STATUS LIKE 'Narwal_oob_commits'")[0][1]) > 0
    shown = [(r[0], int(r[1])) for r in c.query("SHOW BINARY LOGS")]
    assert shown == [(f.name, f.stat().st_size) for f in files(server)]
    status = c.query("SHOW MASTER STATUS")[0]
    assert (status[0], int(status[1])) == shown[-1]
    assert table(server) == events(server)
    assert c.query("SELECT @@binlog_storage_engine")[0] == ["FILE"]
    # A file goes with its name in the index.
    c.query(f"PURGE BINARY LOGS TO '{shown[-1][0]}'")
    assert [r[0] for r in c.query("SHOW BINARY LOGS")] == [shown[-1][0]]
    assert not (server.datadir / shown[0][0]).exists()
    for refused in [
        "RESET MASTER", "SHOW BINLOG EVENTS", "SELECT BINLOG_GTID_POS('', 4)", "BACKUP STREAM", "START SLAVE",
        "CHANGE MASTER TO MASTER_HOST='127.0.0.1'", "SET GLOBAL rpl_semi_sync_master_enabled=ON",
    ]:  # fmt: skip
        with pytest.raises(ServerError) as e:
            c.query(refused)
        assert e.value.code == 1235, refused
    c.close()


def test_what_is_not_offered_is_refused_at_the_start(tmp_path):
    for option in ["--narwal-archive-url=file:///tmp/a", "--narwal-log-compression=zstd", "--rpl-semi-sync-master-enabled=ON"]:
        with pytest.raises(ServerDied):
            (s := Narwal(tmp_path / "refused", [FILE, option])).start()
        assert "is not offered with --binlog-storage-engine=FILE" in s.log_tail()


def test_a_folder_stays_what_it_was_made_as(server):
    server.stop()
    server.args.remove(FILE)
    with pytest.raises(ServerDied):
        server.start()
    assert "binlog_storage_engine=FILE" in server.log_tail()
    check = subprocess.run([narwal_binary(), "check", server.datadir], capture_output=True, text=True, timeout=30)
    assert check.returncode != 0 and "--binlog-storage-engine=FILE" in check.stderr
    server.args.append(FILE)
    server.start()


def test_a_commit_of_one_client_is_two_syncs(tmp_path, server):
    server.stop()
    shimmed = Narwal(server.folder, [FILE], shim=syncshim.build(tmp_path / "shim"))
    shimmed.start()
    c = Client(shimmed.port)

    def syncs(commits: int, first: int) -> int:
        before = shimmed.counters.syncs()
        for i in range(first, first + commits):
            c.query(f"INSERT INTO t.a VALUES ({i}, {i}, 'x')")
        return shimmed.counters.syncs() - before

    # The log's space ahead is made with syncs of its own, a few.
    assert 400 <= syncs(200, 1000) <= 412
    c.query("SET GLOBAL sync_binlog = 0")
    assert c.query("SHOW WARNINGS") == []
    assert 200 <= syncs(200, 2000) <= 212
    c.close()
    shimmed.kill()
