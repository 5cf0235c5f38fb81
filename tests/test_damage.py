"""A bit that flips in the table store: found, named, and no more than its page is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import STAND_IN
from support import Client, wait_until
from testbed.servers import narwal_binary

pytestmark = pytest.mark.skipif(STAND_IN, reason="Narwal's own files")


def value(c: Client, name: str) -> int:
    return int(c.rows(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1])


def make(c: Client) -> None:
    c.ok("CREATE DATABASE d")
    for table in ("bad", "good"):
        c.ok(f"CREATE TABLE d.{table} (id INT PRIMARY KEY, k INT, v VARCHAR(300), KEY k (k))")
        rows = (f"({n}, {n % 10}, CONCAT('{table} row {n}', REPEAT('x', 200)))" for n in range(1, 3001))
        c.ok(f"INSERT INTO d.{table} VALUES {', '.join(rows)}")


def damage(base: Path, text: str) -> None:
    """Flips a bit in all copies of a row."""
    data = bytearray(base.read_bytes())
    at = data.find(text.encode())
    assert at > 0
    while at > 0:
        data[at + 2] ^= 1
        at = data.find(text.encode(), at)
    base.write_bytes(data)


def refused(c: Client, sql: str) -> None:
    answer = c.fails(sql, 1712)
    for word in ("d.bad", "base.redb", "offset"):
        assert word in answer.message, answer


def test_damage_is_of_its_page_alone(own_narwal, tmp_path):
    server = own_narwal("--narwal-scrub-rate=100000000")
    with Client(server) as c:
        make(c)
    assert server.stop() == 0
    damage(server.datadir / "base.redb", "bad row 1500x")
    server.start()
    with Client(server) as c:
        refused(c, "SELECT SUM(LENGTH(v)) FROM d.bad")
        refused(c, "SELECT v FROM d.bad WHERE id = 1500")
        assert c.rows("SELECT LEFT(v, 9) FROM d.bad WHERE id = 1") == [("bad row 1",)]
        assert c.rows("SELECT COUNT(DISTINCT v) FROM d.good") == [("3000",)]
        for how in ("", " QUICK", " EXTENDED", " FAST QUICK"):
            said = c.rows(f"CHECK TABLE d.bad{how}")
            assert [r[:3] for r in said] == [("d.bad", "check", "error")] * 2, said
            assert "base.redb" in said[0][3] and "offset" in said[0][3]
            assert said[1][3] == "Corrupt"
            assert c.rows(f"CHECK TABLE d.good{how}") == [("d.good", "check", "status", "OK")]
        # The scrub finds it without being asked.
        wait_until(lambda: value(c, "Narwal_scrub_errors") > 0, 30)
        assert value(c, "Narwal_scrub_rounds") >= 0
        to = tmp_path / "backup"
        done = subprocess.run(
            [narwal_binary(), "backup", f"--socket={server.socket}", f"--to={to}"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
        assert done.returncode != 0
        assert "d.bad" in done.stdout + done.stderr and "base.redb" in done.stdout + done.stderr
        c.ok("UPDATE d.good SET k = k + 1")
        c.ok("TRUNCATE TABLE d.bad")
        c.ok("INSERT INTO d.bad VALUES (1, 1, 'again')")
    assert server.stop() == 0
    server.start()
    with Client(server) as c:
        assert c.rows("SELECT * FROM d.bad") == [("1", "1", "again")]
        assert c.rows("CHECK TABLE d.bad, d.good") == [
            ("d.bad", "check", "status", "OK"),
            ("d.good", "check", "status", "OK"),
        ]
        assert c.value("SELECT SUM(k) FROM d.good") == "16500"
