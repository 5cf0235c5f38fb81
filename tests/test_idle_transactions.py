"""idle_transaction_timeout and its kin: a connection whose transaction is idle is closed, in the same cases as MariaDB's."""

from __future__ import annotations

import itertools
import sys
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from testbed.wire import Connection, Lost, SqlError  # noqa: E402

SETTINGS = [
    {"idle_transaction_timeout": 1},
    {"idle_readonly_transaction_timeout": 1},
    {"idle_write_transaction_timeout": 1},
    {"idle_transaction_timeout": 1, "idle_write_transaction_timeout": 60, "idle_readonly_transaction_timeout": 60},
    {"wait_timeout": 1, "idle_transaction_timeout": 60},
    {"wait_timeout": 60, "idle_transaction_timeout": 1},
]
STATES = [
    [],
    ["BEGIN"],
    ["BEGIN", "SELECT * FROM idle.t"],
    ["BEGIN", "SELECT * FROM idle.u FOR UPDATE"],
    ["BEGIN", "INSERT INTO idle.t VALUES ({n})"],
    ["BEGIN", "INSERT INTO idle.t VALUES ({n})", "ROLLBACK"],
    ["BEGIN", "INSERT INTO idle.t VALUES ({n})", "COMMIT"],
    ["START TRANSACTION READ ONLY"],
    ["SET autocommit = 0"],
    ["SET autocommit = 0", "SELECT * FROM idle.t"],
    ["SET autocommit = 0", "INSERT INTO idle.t VALUES ({n})"],
]


def outcomes(port: int) -> list:
    first = Connection(port)
    first.query("CREATE DATABASE IF NOT EXISTS idle")
    first.query("CREATE OR REPLACE TABLE idle.t (a INT PRIMARY KEY) ENGINE = InnoDB")
    first.query("CREATE OR REPLACE TABLE idle.u (a INT PRIMARY KEY) ENGINE = InnoDB")
    opened = []
    for number, (settings, state) in enumerate(itertools.product(SETTINGS, STATES)):
        c = Connection(port)
        for name, value in settings.items():
            c.query(f"SET {name} = {value}")
        for sql in state:
            c.query(sql.format(n=1000 + number))
        opened.append((settings, state, c))
    time.sleep(2.5)
    found = []
    for settings, state, c in opened:
        try:
            c.query("SELECT 1")
            end = "open"
        except (Lost, SqlError, OSError):
            end = "closed"
        found.append((settings, state, end))
        c.drop()
    # What the ended ones wrote and did not commit has gone with them; their locks too.
    left = first.query("SELECT COUNT(*) FROM idle.t").rows
    first.query("SET innodb_lock_wait_timeout = 20")
    first.query("DELETE FROM idle.t")
    first.close()
    return [*found, left]


def test_idle_transactions_end_as_mariadbs_do(narwal, mariadb):
    ours, theirs = outcomes(narwal.port), outcomes(mariadb.port)
    assert ours == theirs


@pytest.mark.parametrize("name", ["idle_transaction_timeout", "idle_readonly_transaction_timeout", "idle_write_transaction_timeout"])
def test_the_default_of_all_sessions(own_narwal, name):
    server = own_narwal()
    c = Connection(server.port)
    c.query(f"SET GLOBAL {name} = 17")
    assert c.query(f"SELECT @@{name}").rows == [(0,)]
    assert Connection(server.port).query(f"SELECT @@{name}").rows == [(17,)]
