"""Debian's sysbench 1.0.20, unmodified: all of its bundled tests prepare, run and clean up without an error.

Ignored are deadlock, lock wait timeout and write conflict (1213, 1205, 1020), which sysbench repeats.
NARWAL_SYSBENCH_SECONDS sets the length of each run.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

import pytest

from support import Client

SECONDS = os.environ.get("NARWAL_SYSBENCH_SECONDS", "2")
TABLES, ROWS = 2, 2000
TESTS = [
    "oltp_read_write",
    "oltp_write_only",
    "oltp_read_only",
    "oltp_point_select",
    "oltp_insert",
    "oltp_delete",
    "oltp_update_index",
    "oltp_update_non_index",
    "select_random_points",
    "select_random_ranges",
]


def sysbench(server, db: str, test: str, command: str, *options: str) -> str:
    found = shutil.which("sysbench")
    assert found, "these tests need sysbench (scripts/setup installs it)"
    done = subprocess.run(
        [found, test, "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}", "--mysql-user=root",
         f"--mysql-db={db}", "--mysql-ignore-errors=1213,1205,1020", "--rand-seed=7", *options, command],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    output = done.stdout + done.stderr
    assert done.returncode == 0, f"sysbench {test} {' '.join(options)} {command}:\n{output[-3000:]}\n{server.log_tail(10)}"
    assert "FATAL" not in output and "ALERT" not in output, output[-3000:]
    return output


def transactions(output: str) -> int:
    return int(re.search(r"transactions:\s+(\d+)", output).group(1))


def errors(output: str) -> int:
    return int(re.search(r"(?<!ignored )errors:\s+(\d+)", output).group(1)) if "errors:" in output else 0


@pytest.fixture(scope="module", params=["off", "on"], ids=["primary", "secondary"])
def prepared(request, narwal_server):
    """Tables made by sysbench itself, with `id` as primary key or as a plain secondary one."""
    if not narwal_server.alive():
        narwal_server.start()
    db = f"sysbench_{request.param}"
    with Client(narwal_server) as client:
        client.ok(f"DROP DATABASE IF EXISTS {db}")
        client.ok(f"CREATE DATABASE {db}")
    options = (f"--tables={TABLES}", f"--table-size={ROWS}", f"--secondary={request.param}")
    sysbench(narwal_server, db, "oltp_read_write", "prepare", *options)
    with Client(narwal_server, database=db) as client:
        for table in range(1, TABLES + 1):
            assert client.ints(f"SELECT COUNT(*) FROM sbtest{table}") == [ROWS]
            assert client.ints(f"SELECT COUNT(*) FROM sbtest{table} WHERE k > 0") == [ROWS]
    yield narwal_server, db, options
    if narwal_server.alive():
        sysbench(narwal_server, db, "oltp_read_write", "cleanup", *options)
        with Client(narwal_server, database=db) as client:
            assert client.rows("SHOW TABLES") == []
            client.ok(f"DROP DATABASE {db}")


@pytest.mark.parametrize("threads", [1, 8, 64])
@pytest.mark.parametrize("test", TESTS)
def test_bundled_test_runs(prepared, test, threads):
    server, db, options = prepared
    output = sysbench(server, db, test, "run", *options, f"--threads={threads}", f"--time={SECONDS}", "--report-interval=0")
    assert transactions(output) > 0, output
    with Client(server, database=db) as client:
        for table in range(1, TABLES + 1):
            # Both ways to the rows tell the same.
            count = client.ints(f"SELECT COUNT(*) FROM sbtest{table} WHERE id >= -2147483648")
            assert client.ints(f"SELECT COUNT(*) FROM sbtest{table} WHERE k >= -2147483648") == count
            assert client.ints(f"SELECT COUNT(*) FROM sbtest{table}") == count
            assert client.ints(f"SELECT SUM(k) FROM sbtest{table} WHERE k >= -2147483648") == client.ints(f"SELECT SUM(k) FROM sbtest{table}")


@pytest.mark.parametrize("test", ["oltp_read_write", "oltp_point_select", "oltp_update_index"])
def test_without_prepared_statements(prepared, test):
    server, db, options = prepared
    output = sysbench(server, db, test, "run", *options, "--threads=4", f"--time={SECONDS}", "--db-ps-mode=disable")
    assert transactions(output) > 0, output


@pytest.mark.parametrize("threads", [1, 8, 64])
def test_bulk_insert(narwal, db, threads):
    options = (f"--threads={threads}",)
    sysbench(narwal, db, "bulk_insert", "prepare", *options)
    # One event is a statement of half a megabyte: an unoptimised build needs a while for 64 at once.
    output = sysbench(narwal, db, "bulk_insert", "run", *options, f"--time={4 * int(SECONDS)}")
    assert int(re.search(r"total number of events:\s+(\d+)", output).group(1)) > 0
    with Client(narwal, database=db) as client:
        for table in range(1, threads + 1):
            count, low, high, distinct = client.ints(f"SELECT COUNT(*), MIN(id), MAX(id), COUNT(DISTINCT id) FROM sbtest{table}")[0]
            assert count > 0 and distinct == count and high - low + 1 == count
    sysbench(narwal, db, "bulk_insert", "cleanup", *options)


def test_parallel_prepare_and_counted_events(narwal, db):
    options = ("--tables=4", "--table-size=1000", "--threads=4")
    sysbench(narwal, db, "oltp_read_write", "prepare", *options)
    output = sysbench(narwal, db, "oltp_update_non_index", "run", *options, "--events=400", "--time=60")
    assert transactions(output) == 400
    sysbench(narwal, db, "oltp_read_write", "cleanup", *options)
