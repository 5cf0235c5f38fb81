"""FLUSH, PURGE, RESET MASTER and automatic purging on a real server: under load, across kills, with large transactions."""

from __future__ import annotations

import json
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import STAND_IN
from support import Client

pytestmark = pytest.mark.skipif(STAND_IN, reason="asks what only Narwal has")

# Files of 4 KiB are the smallest; segments are the server's own, so what goes is seen in the list of files.
SMALL = ["--max-binlog-size=4096"]


def until(condition, seconds: float = 30.0):
    """Waits for something that the background does; its last answer."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.05)
    return found


def files(c: Client) -> list[str]:
    return [row[0] for row in c.rows("SHOW BINARY LOGS")]


def sizes(c: Client) -> list[int]:
    return [int(row[1]) for row in c.rows("SHOW BINARY LOGS")]


def notes(c: Client, sql: str) -> list[str]:
    c.ok(sql)
    return [row[2] for row in c.rows("SHOW WARNINGS")]


def fill(c: Client, n: int, table: str = "d.t") -> None:
    for _ in range(n):
        c.ok(f"INSERT INTO {table} (s) VALUES (REPEAT('x', 500))")


def table(c: Client) -> None:
    c.ok("CREATE DATABASE d")
    c.ok("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(600) NOT NULL)")


def state(c: Client) -> set[str]:
    return set(c.value("SELECT @@gtid_binlog_state").split(","))


def groups(server) -> list[dict]:
    """Changes in the log of a server, running or not, as `narwal binlog` reads them: a line each."""
    done = subprocess.run(
        [str(server.binary), "binlog", "--json", f"--datadir={server.datadir}"], capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_flush_and_purge_under_load_then_kill(own_narwal):
    server = own_narwal(*SMALL)
    with Client(server) as c:
        table(c)
    stop = threading.Event()
    acknowledged: list[list[int]] = [[] for _ in range(4)]
    errors: list[BaseException] = []

    def write(n: int) -> None:
        try:
            with Client(server) as c:
                i = n
                while not stop.is_set():
                    c.ok(f"INSERT INTO d.t VALUES ({i + 1}, REPEAT('y', 300))")
                    acknowledged[n].append(i + 1)
                    i += 4
        except BaseException as e:  # handed to the test
            errors.append(e)

    writers = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for w in writers:
        w.start()
    purged = 0
    with Client(server) as c:
        for _ in range(40):
            c.ok("FLUSH BINARY LOGS")
            names = files(c)
            keep = names[-2]
            c.ok(f"PURGE BINARY LOGS TO '{keep}'")
            left = files(c)
            assert left[0] == keep and left == [f"narwal-bin.{n:06d}" for n in range(int(keep[-6:]), int(left[-1][-6:]) + 1)]
            purged += names.index(keep)
            time.sleep(0.02)
        stop.set()
        for w in writers:
            w.join()
        assert not errors and purged > 20
        ids = sorted(i for part in acknowledged for i in part)
        assert c.ints("SELECT id FROM d.t ORDER BY id") == ids
        before = (files(c), sizes(c), state(c))
    server.kill()
    server.start()
    with Client(server) as c:
        assert c.ints("SELECT id FROM d.t ORDER BY id") == ids
        assert (files(c), sizes(c), state(c)) == before
        assert state(c) == {f"0-1-{len(ids) + 2}"}
        # Every file that is listed can be read to its end.
        last = [c.value(f"SELECT BINLOG_GTID_POS('{name}', {size})") for name, size in zip(files(c), sizes(c))]
        assert last[-1] == f"0-1-{len(ids) + 2}" and last == sorted(last, key=lambda g: int(g.split("-")[2]))
    kept = [int(g["gtid"].split("-")[2]) for g in groups(server) if g.get("table") == "t"]
    assert kept == list(range(len(ids) + 3 - len(kept), len(ids) + 3))


def test_gtid_state_of_several_domains_after_a_purge_of_everything(own_narwal):
    server = own_narwal()
    with Client(server) as c:
        table(c)
        for domain, sid, seq in [(0, 1, None), (7, 3, 100), (7, 4, 101), (9, 1, 5)]:
            c.ok(f"SET gtid_domain_id = {domain}, server_id = {sid}")
            if seq:
                c.ok(f"SET gtid_seq_no = {seq}")
            fill(c, 1)
        all_of_it = {"0-1-3", "7-3-100", "7-4-101", "9-1-5"}
        assert state(c) == all_of_it
        c.ok("FLUSH BINARY LOGS")
        c.ok(f"PURGE BINARY LOGS TO '{files(c)[-1]}'")
        assert files(c) == ["narwal-bin.000002"] and state(c) == all_of_it
    for how in (server.kill, server.stop):
        how()
        server.start()
        with Client(server) as c:
            assert files(c) == ["narwal-bin.000002"] and state(c) == all_of_it
            assert set(c.value("SELECT @@gtid_binlog_pos").split(",")) == {"0-1-3", "7-4-101", "9-1-5"}
    with Client(server) as c:
        c.ok("SET gtid_domain_id = 7, server_id = 3")
        fill(c, 1)
        assert state(c) == {"0-1-3", "7-3-102", "7-4-101", "9-1-5"}
        # A domain without a trace in the files may go; one with events not.
        c.fails("FLUSH BINARY LOGS DELETE_DOMAIN_ID = (7)", 1076)
        c.ok("FLUSH BINARY LOGS DELETE_DOMAIN_ID = (9)")
        assert state(c) == {"0-1-3", "7-3-102", "7-4-101"}
        c.ok("RESET MASTER TO 40")
        assert files(c) == ["narwal-bin.000040"] and state(c) == {""}
        c.ok("SET GLOBAL gtid_binlog_state = '3-3-3,0-1-17'")
        c.fails("SET GLOBAL gtid_binlog_state = '3-3-4'", 1956)
    server.kill()
    server.start()
    with Client(server) as c:
        assert state(c) == {"0-1-17", "3-3-3"} and files(c) == ["narwal-bin.000040"]
        fill(c, 1)
        assert "0-1-18" in state(c)


@pytest.mark.parametrize("how", ["purge", "reset"])
def test_a_large_transaction_begun_before_a_purge_or_reset_is_whole_behind_it(own_narwal, how):
    server = own_narwal("--binlog-oob-threshold=65536")
    with Client(server) as c, Client(server) as large:
        table(c)
        large.ok("BEGIN")
        for n in range(8):
            rows = ",".join(f"({1000 * n + i}, REPEAT('z', 500))" for i in range(1, 401))
            large.ok(f"INSERT INTO d.t VALUES {rows}")
            if n == 4:
                fill_elsewhere(c)
                c.ok("FLUSH BINARY LOGS")
                if how == "purge":
                    c.ok(f"PURGE BINARY LOGS TO '{files(c)[-1]}'")
                else:
                    c.ok("RESET MASTER")
        large.ok("COMMIT")
        gtid = large.value("SELECT @@last_gtid")
        assert gtid == ("0-1-1" if how == "reset" else state(c).pop())
        assert len(files(c)) == 1
        # The background has its chance to take away too much.
        c.ok("FLUSH BINARY LOGS")
        time.sleep(1)
    server.kill()
    server.start()
    with Client(server) as c:
        assert c.ints("SELECT COUNT(*) FROM d.t WHERE s LIKE 'z%'") == [3200]
        inserted = [g for g in groups(server) if g.get("table") == "t"]
        assert len(inserted) == 3200 and {g["gtid"] for g in inserted} == {gtid}
        # With its file it goes, and a start is none the worse for it.
        c.ok(f"PURGE BINARY LOGS TO '{files(c)[-1]}'")
    server.stop()
    server.start()
    with Client(server) as c:
        assert c.ints("SELECT COUNT(*) FROM d.t WHERE s LIKE 'z%'") == [3200]
        assert not [g for g in groups(server) if g.get("table") == "t"]


def fill_elsewhere(c: Client) -> None:
    c.ok("CREATE TABLE IF NOT EXISTS d.other (id INT PRIMARY KEY AUTO_INCREMENT, s VARCHAR(600) NOT NULL)")
    fill(c, 5, "d.other")


def test_a_purge_that_can_not_happen_says_why(own_narwal):
    # A reason is told if it keeps a segment of the log.
    server = own_narwal("--binlog-oob-threshold=65536", "--innodb-log-file-size=1M")
    with Client(server) as c, Client(server) as large:
        table(c)
        large.ok("BEGIN")
        for n in range(6):
            rows = ",".join(f"({1000 * n + i}, REPEAT('z', 500))" for i in range(1, 1001))
            large.ok(f"INSERT INTO d.t VALUES {rows}")
        c.ok("FLUSH BINARY LOGS")
        last = files(c)[-1]
        said = notes(c, f"PURGE BINARY LOGS TO '{last}'")
        assert files(c) == [last]
        assert any("running transaction" in n for n in said), said
        large.ok("ROLLBACK")
        # Nothing but the next checkpoint can be in the way now.
        c.ok("FLUSH BINARY LOGS")
        said = notes(c, f"PURGE BINARY LOGS TO '{files(c)[-1]}'")
        assert not any("running transaction" in n for n in said), said
        last = files(c)[-1]
        c.fails("PURGE BINARY LOGS TO 'narwal-bin.000001'", 1373)
        c.fails("PURGE BINARY LOGS TO 'nothing'", 1373)
        # No time at all, and one long ago, purge nothing.
        for when in ("NULL", "'1999-01-01'"):
            c.ok(f"PURGE BINARY LOGS BEFORE {when}")
        assert files(c) == [last]


def test_files_go_by_age_of_their_last_event(own_narwal):
    server = own_narwal()
    with Client(server) as c:
        table(c)
        time.sleep(2.2)
        now = c.value("SELECT NOW()")
        c.ok("FLUSH BINARY LOGS")
        # Quiet for two seconds, and yet its last event, the ROTATE, is of now.
        c.ok(f"PURGE BINARY LOGS BEFORE '{now}'")
        assert len(files(c)) == 2
        c.ok("SET GLOBAL slave_connections_needed_for_purge = 1")
        c.ok("SET GLOBAL binlog_expire_logs_seconds = 1")
        # Nobody is connected that could have it, and the log says so.
        assert until(lambda: "slave_connections_needed_for_purge is 1" in server.log_tail(200)), server.log_tail(200)
        assert len(files(c)) == 2
        c.ok("SET GLOBAL slave_connections_needed_for_purge = 0")
        assert until(lambda: len(files(c)) == 1)
        assert files(c) == ["narwal-bin.000002"], "never the current file"


def test_old_files_go_at_the_start(own_narwal):
    server = own_narwal()
    with Client(server) as c:
        table(c)
        c.ok("FLUSH BINARY LOGS")
        c.ok("FLUSH BINARY LOGS")
    server.stop()
    time.sleep(2.2)
    server.args += ["--binlog-expire-logs-seconds=1", "--slave-connections-needed-for-purge=0"]
    server.start()
    with Client(server) as c:
        assert until(lambda: files(c) == ["narwal-bin.000003"]), files(c)


def test_total_size_is_kept(own_narwal):
    server = own_narwal(*SMALL, "--max-binlog-total-size=40000", "--slave-connections-needed-for-purge=0")
    with Client(server) as c:
        table(c)
        fill(c, 300)
        assert until(lambda: sum(sizes(c)) <= 40000), sizes(c)
        assert len(files(c)) > 3, "not more than needed goes"
        assert until(lambda: sum(sizes(c)) > 30000)


def test_purged_bytes_go_back_to_the_disk(own_narwal):
    server = own_narwal()
    log = Path(server.datadir) / "log"

    def disk() -> int:
        total = 0
        for f in log.iterdir():
            try:
                total += f.stat().st_blocks * 512
            except FileNotFoundError:
                pass  # Purged between the listing and the look.
        return total

    with Client(server) as c:
        table(c)
        # Several segments of the log.
        c.ok("CREATE TABLE d.big (id INT PRIMARY KEY, b LONGBLOB)")
        c.ok("INSERT INTO d.big VALUES (1, '')")
        for n in range(20):
            c.ok(f"UPDATE d.big SET b = REPEAT('{n % 10}', 4000000) WHERE id = 1")
        c.ok("UPDATE d.big SET b = '' WHERE id = 1")
        before = disk()
        assert before > 100_000_000
        c.ok("FLUSH BINARY LOGS")
        c.ok(f"PURGE BINARY LOGS TO '{files(c)[-1]}'")
        # What recovery needs goes with the checkpoint that the purge asks for.
        assert until(lambda: disk() < 80_000_000), (before, disk(), sorted(log.iterdir()), c.rows("SHOW STATUS LIKE 'Narwal%'"))
    server.kill()
    server.start()
    with Client(server) as c:
        assert c.ints("SELECT COUNT(*) FROM d.big WHERE b = ''") == [1]
