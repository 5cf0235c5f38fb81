"""Groups, DISTINCT, set operations and hash joins beyond tmp_table_size: by the real binary, with a full disk, a KILL, a time
limit and the process's memory. crates/sql/tests/spill.rs compares the results of many more queries."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from conftest import STAND_IN  # noqa: E402
from testbed.servers import Narwal  # noqa: E402
from testbed.wire import Connection, SqlError  # noqa: E402

pytestmark = pytest.mark.skipif(STAND_IN, reason="what only Narwal has")

ROWS = 100_000
# Of all rows each would hold more than 20 MB.
TEMPLATES = [
    "SELECT COUNT(*) FROM (SELECT s, COUNT(*), MAX(id) FROM big WHERE id < {n} GROUP BY s) x",
    "SELECT COUNT(*) FROM (SELECT DISTINCT s FROM big WHERE id < {n}) x",
    "SELECT COUNT(DISTINCT s) FROM big WHERE id < {n}",
    "SELECT COUNT(*) FROM (SELECT s FROM big WHERE id < {n} UNION SELECT s FROM big WHERE id < {n}) x",
    "SELECT COUNT(*) FROM (SELECT s FROM big WHERE id < {n} INTERSECT SELECT s FROM big WHERE id < {n}) x",
    "SELECT COUNT(*) FROM big a JOIN big b ON a.s = b.s WHERE a.id < {n} AND b.id < {n}",
    "SELECT COUNT(*) FROM big WHERE s IN (SELECT s FROM big WHERE id < {n}) AND id < {n}",
]
# These keep more than 20 MB too: until their locks are durable, until the scan has ended, until the statement is done.
CHANGES = [
    "SELECT s FROM big FOR UPDATE",
    "DELETE FROM big RETURNING s",
    f"INSERT INTO big SELECT id + {ROWS}, s FROM big",
    "DELETE FROM big WHERE (SELECT COUNT(*) FROM big x WHERE x.id = big.id) = 1",
    "UPDATE big SET s = CONCAT(s, (SELECT x.id FROM big x WHERE x.id = big.id))",
    "UPDATE big a JOIN big b ON a.id = b.id SET a.s = CONCAT(b.s, 'x')",
]
QUERIES = [sql.replace("{n}", str(ROWS)) for sql in TEMPLATES]


@pytest.fixture(scope="module")
def disk(tmp_path_factory):
    """A file system of 4 MiB."""
    folder = tmp_path_factory.mktemp("spill") / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], capture_output=True).returncode:
        yield None
        return
    yield folder
    subprocess.run(["umount", "-l", folder], check=False)


def filled(server: Narwal) -> Connection:
    """A connection to a new server's database `t`, in which the table `big` has ROWS rows."""
    c = Connection(server.port)
    c.query("CREATE DATABASE t")
    c.query("USE t")
    c.query("CREATE TABLE big (id INT PRIMARY KEY, s VARCHAR(250))")
    for at in range(0, ROWS, 1000):
        c.query("INSERT INTO big VALUES " + ", ".join(f"({i}, '{i * 7919 % ROWS:0>200}')" for i in range(at, at + 1000)))
    return c


@pytest.fixture(scope="module")
def server(tmp_path_factory, disk):
    folder = tmp_path_factory.mktemp("narwal")
    s = Narwal(folder / "narwal", ["--innodb-buffer-pool-size=32M", *([f"--tmpdir={disk}"] if disk else [])])
    s.start()
    filled(s)
    yield s
    s.kill()


def connect(server, room: int) -> Connection:
    c = Connection(server.port, database="t")
    c.query(f"SET tmp_table_size = {room}")
    return c


def status(c: Connection) -> dict[str, int]:
    found = c.query("SHOW STATUS WHERE Variable_name IN ('Created_tmp_disk_tables', 'Created_tmp_files', 'Sort_merge_passes')")
    return {name: int(value) for name, value in found.rows}


def peak(server) -> int:
    """The most memory the process ever had, bytes."""
    for line in Path(f"/proc/{server.process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) << 10
    raise AssertionError("no VmHWM")


def test_a_full_disk_is_an_error_and_nothing_more(server, disk):
    if disk is None:
        pytest.skip("no file system can be mounted here")
    c = connect(server, 1 << 20)
    for sql in QUERIES:
        with pytest.raises(SqlError) as e:
            c.query(sql)
        assert e.value.code == 1021 and "isk full" in str(e.value), (sql, e.value)
        assert server.alive()
        assert list(disk.iterdir()) == []
    for sql in CHANGES:
        with pytest.raises(SqlError) as e:
            c.query(sql)
        assert e.value.code == 1021 and "isk full" in str(e.value), (sql, e.value)
        assert server.alive()
        assert list(disk.iterdir()) == []
        assert c.query("SELECT COUNT(*), MAX(LENGTH(s)) FROM big").rows == [(ROWS, 200)]
    # With room in memory they need no disk.
    c.query("SET tmp_table_size = 209715200, max_heap_table_size = 209715200, sort_buffer_size = 209715200")
    for sql in QUERIES:
        assert c.query(sql).rows[0][0] == ROWS, sql


def test_few_bytes_of_memory_and_counts_of_what_was_spilled(server, disk):
    c = connect(server, 1 << 17)
    before = status(c)
    for sql in TEMPLATES:
        assert c.query(sql.replace("{n}", "1000")).rows[0][0] == 1000, sql
    after = status(c)
    assert after["Created_tmp_disk_tables"] >= before["Created_tmp_disk_tables"] + len(TEMPLATES), (before, after)
    assert after["Created_tmp_files"] > before["Created_tmp_files"]
    c.query("SET sort_buffer_size = 1024")
    c.query("SELECT id FROM big WHERE id < 2000 ORDER BY s")
    assert status(c)["Sort_merge_passes"] > after["Sort_merge_passes"]


def test_memory_time_limits_and_kill(tmp_path, server):
    # A server of its own, whose peak is that of these queries; its files go to the usual folder.
    own = Narwal(tmp_path / "narwal", ["--innodb-buffer-pool-size=32M"])
    own.start()
    try:
        c = filled(own)
        c.query("SELECT SUM(LENGTH(s)) FROM big")
        c.query("SET tmp_table_size = 1048576")
        before = peak(own)
        for sql in QUERIES:
            assert c.query(sql).rows[0][0] == ROWS, sql
        # 20 MB of texts, and with what a hash needs beside them 30 to 50.
        assert peak(own) - before < 16 << 20, (before, peak(own))
        for sql in CHANGES:
            before = peak(own)
            c.query("BEGIN")
            c.query(sql)
            c.query("ROLLBACK")
            # The client here holds the rows; what the transaction changes is the store's.
            assert peak(own) - before < 48 << 20, (sql, before, peak(own))
            assert c.query("SELECT COUNT(*) FROM big").rows[0][0] == ROWS
        for sql in QUERIES:
            with pytest.raises(SqlError) as e:
                c.query(f"SET STATEMENT max_statement_time = 0.01 FOR {sql}")
            assert e.value.code == 1969, (sql, e.value)
        killer = Connection(own.port)
        number = c.query("SELECT CONNECTION_ID()").rows[0][0]
        for sql in QUERIES:
            # A query may end before the kill comes.
            for _ in range(50):
                timer = threading.Timer(0.02, lambda: killer.query(f"KILL QUERY {number}"))
                timer.start()
                try:
                    c.query(sql)
                except SqlError as e:
                    assert e.code == 1317, (sql, e)
                    break
                finally:
                    timer.join()
            else:
                raise AssertionError(f"never killed: {sql}")
        assert c.query("SELECT COUNT(*) FROM big").rows[0][0] == ROWS
    finally:
        own.kill()
