"""Events: their statements as MariaDB 10.11 answers them, what the scheduler does, and what becomes of them in restarts, dumps and
on replicas. No test looks at how long something took: each waits until rows appear."""

from __future__ import annotations

import subprocess
import time

import pytest

from support import Client
from test_programs import compare

# The scheduler is off: nothing runs while answers are compared. Times are given, so that they are the same on both servers.
STATEMENTS = {
    "definitions": [
        "SET time_zone = '+02:00'",
        "CREATE DEFINER = root@localhost EVENT e1 ON SCHEDULE EVERY 1 WEEK STARTS '2020-01-01 10:00:00' DO INSERT INTO t VALUES (1)",
        "CREATE DEFINER = root@localhost EVENT e2 ON SCHEDULE EVERY '1:30' HOUR_MINUTE STARTS '2030-01-01' ENDS '2037-01-01' ON COMPLETION PRESERVE DISABLE"
        " COMMENT 'x''y' DO BEGIN INSERT INTO t VALUES (1); INSERT INTO t VALUES (2); END",
        "CREATE DEFINER = root@localhost EVENT e3 ON SCHEDULE AT '2037-01-01 1:2:3' DISABLE ON SLAVE DO SET @a = 1",
        "CREATE DEFINER = root@localhost EVENT e4 ON SCHEDULE EVERY 2 QUARTER STARTS '2030-02-03' DO SELECT 1",
        "CREATE DEFINER = root@localhost EVENT e5 ON SCHEDULE EVERY '3 4' DAY_HOUR STARTS '2030-02-03' DO SELECT 1",
        "CREATE DEFINER = root@localhost EVENT e6 ON SCHEDULE EVERY '1 2:3:4' DAY_SECOND STARTS '2030-02-03' DO SELECT 1",
        "CREATE DEFINER = root@localhost EVENT e7 ON SCHEDULE EVERY '2-5' YEAR_MONTH STARTS '2030-02-03' DO SELECT 1",
        "CREATE DEFINER = root@localhost EVENT e8 ON SCHEDULE EVERY 1 + 1 MONTH STARTS '2030-02-03' DO SELECT 1",
        "CREATE DEFINER = root@localhost EVENT e9 ON SCHEDULE EVERY '1:90' MINUTE_SECOND STARTS '2030-02-03' DO SELECT 1",
        "CREATE DEFINER = root@localhost EVENT e10 ON SCHEDULE EVERY 2.6 DAY STARTS '2030-02-03' DO SELECT 1",
        *(f"SHOW CREATE EVENT e{n}" for n in range(1, 11)),
        "SELECT name, body, definer, execute_at, interval_value, interval_field, starts, ends, status, on_completion, comment, time_zone,"
        " body_utf8 FROM mysql.event WHERE db = DATABASE() ORDER BY name",
        "SELECT event_name, definer, time_zone, event_body, event_definition, event_type, execute_at, interval_value, interval_field,"
        " sql_mode, starts, ends, status, on_completion, last_executed, event_comment, character_set_client, collation_connection"
        " FROM information_schema.events WHERE event_schema = DATABASE() ORDER BY 1",
        "DROP EVENT e1", "DROP EVENT e1", "DROP EVENT IF EXISTS e1", "SHOW WARNINGS",
    ],
    "errors": [
        "CREATE DEFINER = root@localhost EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' DISABLE DO SELECT 1",
        "CREATE EVENT E ON SCHEDULE EVERY 1 DAY DO SELECT 1",
        "CREATE EVENT IF NOT EXISTS E ON SCHEDULE EVERY 1 DAY DO SELECT 1", "SHOW WARNINGS",
        "CREATE OR REPLACE EVENT IF NOT EXISTS e ON SCHEDULE EVERY 1 DAY DO SELECT 1",
        "CREATE OR REPLACE DEFINER = root@localhost EVENT e ON SCHEDULE EVERY 2 DAY STARTS '2031-01-01' DISABLE DO SELECT 2", "SHOW CREATE EVENT e",
        "CREATE EVENT q ON SCHEDULE EVERY 0 DAY DO SELECT 1", "CREATE EVENT q ON SCHEDULE EVERY -1 DAY DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE EVERY NULL DAY DO SELECT 1", "CREATE EVENT q ON SCHEDULE EVERY 'abc' DAY DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE EVERY 10000000000 DAY DO SELECT 1", "CREATE EVENT q ON SCHEDULE AT NULL DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE AT 'abc' DO SELECT 1", "CREATE EVENT q ON SCHEDULE AT '2039-01-01' DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE EVERY 1 DAY STARTS 'abc' DO SELECT 1", "CREATE EVENT q ON SCHEDULE EVERY 1 DAY STARTS NULL DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE EVERY 1 DAY ENDS NULL DO SELECT 1", "CREATE EVENT q ON SCHEDULE EVERY 1 DAY ENDS 'abc' DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' ENDS '2030-01-01' DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE EVERY (SELECT 1 FROM t) DAY DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE EVERY 1 DAY DO CREATE EVENT x ON SCHEDULE EVERY 1 DAY DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE EVERY 1 DAY DO BEGIN ALTER EVENT x DO SELECT 1; END",
        "CREATE PROCEDURE p() CREATE EVENT x ON SCHEDULE EVERY 1 DAY DO SELECT 1",
        "CREATE EVENT q ON SCHEDULE EVERY 1 DAY DO CREATE PROCEDURE x() SELECT 1", "CREATE EVENT q ON SCHEDULE EVERY 1 DAY DO RETURN 1",
        "CREATE EVENT q ON SCHEDULE EVERY 1 DAY DO BEGIN LEAVE q; END",
        "CREATE EVENT no_such_db.q ON SCHEDULE EVERY 1 DAY DO SELECT 1", "DROP EVENT no_such_db.q", "SHOW CREATE EVENT nothing",
        "ALTER EVENT nothing COMMENT 'x'", "ALTER DEFINER = root@localhost EVENT e RENAME TO e", "ALTER DEFINER = root@localhost EVENT e RENAME TO no_such_db.e", "ALTER EVENT e",
        "CREATE DEFINER = root@localhost EVENT past ON SCHEDULE AT '2000-01-01' DO SELECT 1", "SHOW WARNINGS", "SHOW CREATE EVENT past",
        "CREATE DEFINER = root@localhost EVENT past ON SCHEDULE EVERY 1 DAY STARTS '2000-01-01' ENDS '2000-01-02' DO SELECT 1", "SHOW WARNINGS",
        "CREATE DEFINER = root@localhost EVENT past ON SCHEDULE AT '2000-01-01' ON COMPLETION PRESERVE DO SELECT 1", "SHOW WARNINGS", "SHOW CREATE EVENT past",
        "ALTER DEFINER = root@localhost EVENT e ON SCHEDULE AT '2000-01-01'", "SHOW CREATE EVENT e",
        "SET GLOBAL event_scheduler = DISABLED", "SET SESSION event_scheduler = 1",
    ],
    "alter": [
        "SET time_zone = '+02:00'",
        "CREATE DEFINER = root@localhost EVENT e ON SCHEDULE EVERY 1 DAY STARTS '2030-01-01' DISABLE DO SELECT 1",
        "ALTER DEFINER = root@localhost EVENT e COMMENT 'c'", "SHOW CREATE EVENT e", "ALTER DEFINER = root@localhost EVENT e DO SELECT 2", "SHOW CREATE EVENT e",
        "ALTER DEFINER = root@localhost EVENT e ON SCHEDULE EVERY 3 HOUR STARTS '2031-01-01' ENDS '2032-01-01'", "SHOW CREATE EVENT e",
        "ALTER DEFINER = root@localhost EVENT e ON SCHEDULE EVERY 4 HOUR STARTS '2031-01-01'", "SHOW CREATE EVENT e",
        "ALTER DEFINER = root@localhost EVENT e ON COMPLETION PRESERVE", "SHOW CREATE EVENT e",
        "ALTER DEFINER = root@localhost EVENT e ON SCHEDULE AT '2033-01-01'", "SHOW CREATE EVENT e", "ALTER DEFINER = root@localhost EVENT e ENABLE", "SHOW CREATE EVENT e",
        "ALTER DEFINER = root@localhost EVENT e RENAME TO f DISABLE ON SLAVE", "SHOW CREATE EVENT e", "SHOW CREATE EVENT f",
        "ALTER DEFINER = root@localhost EVENT f ON SCHEDULE AT '2000-01-01'", "SHOW WARNINGS", "SHOW CREATE EVENT f",
        "ALTER DEFINER = nobody@nowhere EVENT f COMMENT ''", "SHOW WARNINGS", "SHOW CREATE EVENT f",
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", STATEMENTS)
def test_as_in_mariadb(both, name):
    compare(both, ["CREATE TABLE t (a INT)", *STATEMENTS[name], "DROP TABLE t"])


def wait_for(client: Client, query: str, wanted=lambda rows: bool(rows)):
    """Waits until a query's rows are as wanted."""
    until = time.monotonic() + 60
    while True:
        rows = client.rows(query)
        if wanted(rows):
            return rows
        assert time.monotonic() < until, f"{query}: {rows}"
        time.sleep(0.05)


@pytest.fixture
def scheduled(own_narwal):
    server = own_narwal("--event-scheduler=ON")
    with Client(server) as client:
        for sql in ("CREATE DATABASE d", "USE d", "CREATE TABLE t (a INT AUTO_INCREMENT PRIMARY KEY, b TEXT)"):
            client.ok(sql)
    return server


def test_one_time_events_run_once_and_are_dropped(scheduled):
    with Client(scheduled, "d") as client:
        client.ok("CREATE EVENT once ON SCHEDULE AT NOW() DO INSERT INTO t (b) VALUES ('once')")
        client.ok("CREATE EVENT kept ON SCHEDULE AT NOW() ON COMPLETION PRESERVE DO BEGIN INSERT INTO t (b) VALUES ('kept'); END")
        wait_for(client, "SELECT * FROM t", lambda rows: len(rows) == 2)
        wait_for(client, "SELECT event_name FROM information_schema.events", lambda rows: rows == [("kept",)])
        state = client.rows("SELECT status, last_executed IS NULL FROM information_schema.events")
        assert state == [("DISABLED", "0")]
        # It runs again with a new time.
        client.ok("ALTER EVENT kept ON SCHEDULE AT NOW() ENABLE")
        wait_for(client, "SELECT * FROM t WHERE b = 'kept'", lambda rows: len(rows) == 2)


def test_repeated_events_run_in_the_settings_of_their_creation(scheduled):
    with Client(scheduled, "d") as client:
        client.ok("SET time_zone = '+07:00', sql_mode = 'ANSI_QUOTES'")
        client.ok("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO t (b) VALUES (CONCAT_WS(' ', @@time_zone, @@sql_mode, DATABASE(), CURRENT_USER()))")
        wait_for(client, "SELECT * FROM t", lambda rows: len(rows) >= 3)
        assert client.rows("SELECT DISTINCT b FROM t") == [("+07:00 ANSI_QUOTES d root@localhost",)]
        client.ok("ALTER EVENT e DISABLE")
        assert client.rows("SELECT last_executed IS NOT NULL FROM information_schema.events") == [("1",)]


def test_an_event_ends_at_its_end(scheduled):
    with Client(scheduled, "d") as client:
        client.ok("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND ENDS NOW() + INTERVAL 2 SECOND DO INSERT INTO t (b) VALUES ('x')")
        client.ok("CREATE EVENT p ON SCHEDULE EVERY 1 SECOND ENDS NOW() + INTERVAL 2 SECOND ON COMPLETION PRESERVE DO SELECT 1")
        wait_for(
            client, "SELECT event_name, status FROM information_schema.events", lambda rows: rows == [("p", "DISABLED")]
        )
        assert client.rows("SELECT * FROM t")


def test_the_scheduler_is_in_the_process_list_and_can_be_switched(scheduled):
    line = "SELECT id FROM information_schema.processlist WHERE user = 'event_scheduler' AND command = 'Daemon'"
    with Client(scheduled, "d") as client:
        (number,) = wait_for(client, line)[0]
        client.ok("SET GLOBAL event_scheduler = OFF")
        wait_for(client, line, lambda rows: not rows)
        answer = client.ok("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO t (b) VALUES ('x')")
        assert answer.warnings == 1
        client.ok("SET GLOBAL event_scheduler = ON")
        wait_for(client, "SELECT * FROM t")
        # KILL of its line switches it off.
        (number,) = wait_for(client, line)[0]
        client.ok(f"KILL {number}")
        wait_for(client, line, lambda rows: not rows)
        # The line goes a moment before.
        wait_for(client, "SELECT @@event_scheduler", lambda rows: rows == [("OFF",)])


def test_a_disabled_scheduler_stays_so(own_narwal):
    server = own_narwal("--event-scheduler=DISABLED")
    with Client(server) as client:
        assert client.value("SELECT @@event_scheduler") == "DISABLED"
        assert client.run("SET GLOBAL event_scheduler = ON").error == 1290


def test_an_event_that_fails_is_told_and_goes_on(scheduled):
    with Client(scheduled, "d") as client:
        client.ok("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO BEGIN INSERT INTO t (b) VALUES ('x'); INSERT INTO nothing VALUES (1); END")
        wait_for(client, "SELECT * FROM t", lambda rows: len(rows) >= 2)
        client.ok("CREATE DEFINER = nobody@nowhere EVENT f ON SCHEDULE EVERY 1 SECOND DO INSERT INTO t (b) VALUES ('f')")
        until = time.monotonic() + 60
        while "nobody" not in scheduled.log_path.read_text() or "nothing" not in scheduled.log_path.read_text():
            assert time.monotonic() < until
            time.sleep(0.1)
        assert not client.rows("SELECT * FROM t WHERE b = 'f'")


def test_events_survive_kills_and_restarts(scheduled):
    with Client(scheduled, "d") as client:
        client.ok("CREATE EVENT e ON SCHEDULE EVERY 1 SECOND DO INSERT INTO t (b) VALUES ('x')")
        client.ok("CREATE EVENT later ON SCHEDULE AT NOW() + INTERVAL 2 SECOND ON COMPLETION PRESERVE DO INSERT INTO t (b) VALUES ('later')")
        wait_for(client, "SELECT * FROM t")
    scheduled.kill()
    scheduled.start()
    with Client(scheduled, "d") as client:
        wait_for(client, "SELECT * FROM t WHERE b = 'later'")
        count = len(client.rows("SELECT * FROM t"))
        wait_for(client, "SELECT * FROM t", lambda rows: len(rows) > count)
    scheduled.stop()
    scheduled.start()
    with Client(scheduled, "d") as client:
        count = len(client.rows("SELECT * FROM t WHERE b = 'x'"))
        wait_for(client, "SELECT * FROM t WHERE b = 'x'", lambda rows: len(rows) > count)
        assert len(client.rows("SELECT * FROM t WHERE b = 'later'")) == 1
        client.ok("DROP DATABASE d")
        assert not client.rows("SELECT * FROM information_schema.events")


def test_a_running_event_can_be_killed_and_does_not_hold_up_the_end(scheduled):
    line = "SELECT id FROM information_schema.processlist WHERE command = 'Connect'"
    with Client(scheduled, "d") as client:
        client.ok("CREATE EVENT e ON SCHEDULE AT NOW() DO BEGIN LOOP DO SLEEP(0.01); END LOOP; END")
        (number,) = wait_for(client, line)[0]
        client.ok(f"KILL {number}")
        wait_for(client, line, lambda rows: not rows)
        client.ok("CREATE EVENT f ON SCHEDULE AT NOW() DO BEGIN LOOP DO SLEEP(0.01); END LOOP; END")
        wait_for(client, line)
    scheduled.stop()
    assert not scheduled.alive()


def test_who_may(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        for sql in (
            "CREATE DATABASE d", "CREATE DATABASE e", "CREATE USER u IDENTIFIED BY 'u'", "GRANT SELECT ON *.* TO u", "GRANT EVENT ON e.* TO u",
            "CREATE EVENT d.x ON SCHEDULE EVERY 1 DAY DO SELECT 1",
        ):  # fmt: skip
            client.ok(sql)
    with Client(server, user="u", password="u") as client:
        for sql in (
            "CREATE EVENT d.y ON SCHEDULE EVERY 1 DAY DO SELECT 1", "ALTER EVENT d.x DISABLE", "DROP EVENT d.x", "SHOW EVENTS FROM d",
            "SHOW CREATE EVENT d.x", "ALTER EVENT d.x RENAME TO e.x",
        ):  # fmt: skip
            assert client.run(sql).error == 1044, sql
        client.ok("CREATE EVENT e.y ON SCHEDULE EVERY 1 DAY DO SELECT 1")
        assert client.rows("SELECT event_name, definer FROM information_schema.events") == [("y", "u@%")]
        assert len(client.rows("SHOW EVENTS FROM e")) == 1
        client.ok("DROP EVENT e.y")


def test_a_dump_of_events_loads_on_either_side(own_narwal, both):
    server = own_narwal()
    login = ["-h127.0.0.1", "-uroot"]
    with Client(server) as client:
        for sql in (
            "CREATE DATABASE d", "USE d", "SET time_zone = 'Europe/Berlin'",
            "CREATE EVENT a ON SCHEDULE EVERY 3 DAY STARTS '2030-01-01 12:00:00' ON COMPLETION PRESERVE COMMENT 'c' DO BEGIN SELECT 1; SELECT 2; END",
            "CREATE EVENT b ON SCHEDULE AT '2036-01-01 12:00:00' DISABLE DO SET @a = 1",
        ):  # fmt: skip
            client.ok(sql)
    dumped = subprocess.run(
        ["mariadb-dump", *login, f"-P{server.port}", "--events", "--databases", "d"], check=True, capture_output=True
    ).stdout
    assert dumped.count(b"CREATE DEFINER") + dumped.count(b"EVENT `") >= 2
    other = own_narwal()
    subprocess.run(["mariadb", *login, f"-P{other.port}"], input=dumped, check=True)
    with Client(server, "d") as one, Client(other, "d") as two:
        for name in "ab":
            assert one.rows(f"SHOW CREATE EVENT {name}") == two.rows(f"SHOW CREATE EVENT {name}")


@pytest.mark.parametrize("kind", ["to MariaDB", "to Narwal"])
def test_replicas_have_events_and_do_not_run_them(kind, lab, own):
    """What an event did comes as rows. On the replica it is SLAVESIDE_DISABLED."""
    primary = own(lab.narwal(["--event-scheduler=ON"]))
    replica = own(lab.replica(["--event-scheduler=ON"]) if kind == "to MariaDB" else lab.narwal_replica(["--event-scheduler=ON"]))
    replica.follow(primary.port)
    with Client(primary) as client:
        for sql in (
            "CREATE DATABASE d", "CREATE DATABASE other", "USE other", "CREATE TABLE d.t (a INT AUTO_INCREMENT PRIMARY KEY, b VARCHAR(64))",
            "SET time_zone = '+05:00'",
            "CREATE EVENT d.e ON SCHEDULE EVERY 1 SECOND STARTS '2020-01-01 00:00:00' DO INSERT INTO t (b) VALUES (@@server_id)",
            "CREATE EVENT d.once ON SCHEDULE AT NOW() DO INSERT INTO t (b) VALUES ('once')",
            "CREATE EVENT d.f ON SCHEDULE AT '2036-01-01 00:00:00' DISABLE DO SET @a = 1",
            "ALTER EVENT d.f ON SCHEDULE AT '2036-02-01 00:00:00' RENAME TO other.f COMMENT 'moved'",
        ):  # fmt: skip
            client.ok(sql)
        wait_for(client, "SELECT * FROM d.t", lambda rows: len(rows) >= 4)
        wait_for(client, "SELECT event_name FROM information_schema.events", lambda rows: ("once",) not in rows)
        client.ok("ALTER EVENT d.e DISABLE")
        wait_for(client, "SELECT id FROM information_schema.processlist WHERE command = 'Connect'", lambda rows: not rows)
        rows = client.rows("SELECT * FROM d.t")
    replica.catch_up(primary.port, 30)
    with Client(replica) as client:
        assert client.rows("SELECT * FROM d.t") == rows
        shown = client.rows("SELECT event_schema, event_name, execute_at, starts, status, event_comment, time_zone FROM information_schema.events ORDER BY 2")
        assert shown == [
            ("d", "e", None, "2020-01-01 00:00:00", "SLAVESIDE_DISABLED", "", "+05:00"),
            ("other", "f", "2036-02-01 00:00:00", None, "SLAVESIDE_DISABLED", "moved", "+05:00"),
        ]
    with Client(primary) as client:
        client.ok("ALTER EVENT d.e ENABLE")
        client.ok("DROP EVENT other.f")
        client.ok("DROP EVENT d.e")
        client.ok("CREATE EVENT d.g ON SCHEDULE EVERY 1 DAY DO SELECT 1")
    replica.catch_up(primary.port, 30)
    with Client(replica) as client:
        assert client.rows("SELECT event_name, status FROM information_schema.events") == [("g", "SLAVESIDE_DISABLED")]
    # A Narwal that comes back is compared by what its log has of its last GTID.
    replica.stop_slave()
    replica.start_slave()
    replica.wait_running()
    with Client(primary) as client:
        client.ok("DROP EVENT d.g")
    replica.catch_up(primary.port, 30)
