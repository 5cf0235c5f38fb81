"""The binary log by SQL, side by side with MariaDB 10.11 (row format), and what only Narwal promises of it.

Documented differences (docs/binlog.md, "By SQL"): a file's head has no Binlog_checkpoint event, account statements are logged
rewritten, a QUERY event has other status variables, xids and table ids are the server's own, a position inside an event group is no place to start at.
"""

from __future__ import annotations

import json
import random
import re
import subprocess
import threading
import time

import mysql.connector
import pytest

from conftest import STAND_IN
from support import Answer, Client

pytestmark = pytest.mark.skipif(STAND_IN, reason="compares with MariaDB already")

# What a row event's file looks like for both.
REFERENCE = ["--log-bin=narwal-bin", "--server-id=1", "--binlog-format=ROW", "--binlog-row-metadata=FULL", "--gtid-strict-mode=OFF"]


@pytest.fixture(scope="module")
def pair(lab):
    """A Narwal and a MariaDB with a binary log, for this module only: their logs are reset again and again."""
    servers = [lab.narwal([]), lab.mariadb(REFERENCE)]
    yield servers
    for server in servers:
        lab.remove(server)


@pytest.fixture
def two(pair):
    """Clients of both, with empty logs and without user databases."""
    clients = [Client(server) for server in pair]
    for client in clients:
        client.run("SET GLOBAL gtid_strict_mode = 0")
        client.ok("SET timestamp = DEFAULT")
        client.ok("DROP DATABASE IF EXISTS d")
        client.ok("RESET MASTER")
    yield clients
    for client in clients:
        client.close()


def each(clients, *statements: str) -> list[Answer]:
    """Runs statements on both, which must agree in columns, rows, error codes and numbers of warnings; the last answers."""
    last = []
    for sql in statements:
        last = [client.run(sql) for client in clients]
        mine, theirs = last
        said = f"{sql}\n  Narwal:  {mine}\n  MariaDB: {theirs}"
        assert (mine.error, mine.sqlstate) == (theirs.error, theirs.sqlstate), said
        assert mine.columns == theirs.columns, said
        assert mine.rows == theirs.rows, said
        assert mine.warnings == theirs.warnings, said
    return last


def events(client: Client, sql: str = "SHOW BINLOG EVENTS") -> list[tuple]:
    return client.rows(sql)


def plain(rows: list[tuple]) -> list[tuple]:
    """Events without what may differ: positions as lengths, no Binlog_checkpoint, xids and table ids numbered anew."""
    seen: dict[str, str] = {}

    def number(match: re.Match) -> str:
        return f"{match[1]}{seen.setdefault(match[0], str(len(seen)))}"

    out = []
    for file, pos, kind, server, end, info in rows:
        if kind == "Binlog_checkpoint":
            continue
        if kind == "Format_desc":
            info = re.sub(r"Server ver: .*, ", "", info)
        info = re.sub(r"(xid=|table_id: )\d+", number, info)
        out.append((file, int(end) - int(pos), kind, server, info))
    return out


WORK = [
    "CREATE DATABASE d",
    "CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(20))",
    "INSERT INTO d.t VALUES (1, 'a'), (2, 'b')",
    "BEGIN",
    "UPDATE d.t SET v = 'c' WHERE id = 1",
    "DELETE FROM d.t WHERE id = 2",
    "INSERT INTO d.t VALUES (3, REPEAT('x', 20))",
    "COMMIT",
    "BEGIN",
    "INSERT INTO d.t VALUES (4, 'gone')",
    "ROLLBACK",
    "USE d",
    "CREATE TABLE `odd``name` (a INT)",
    "INSERT INTO `odd``name` VALUES (1)",
    "SET SESSION binlog_annotate_row_events = 0",
    "INSERT INTO t VALUES (5, 'quiet')",
    "SET SESSION binlog_annotate_row_events = 1",
    "FLUSH BINARY LOGS",
    "INSERT INTO t SELECT id + 100, v FROM t",
    "SET gtid_domain_id = 7, gtid_seq_no = 50",
    "INSERT INTO t VALUES (6, 'elsewhere')",
    "SET gtid_domain_id = 0",
    "DROP TABLE `odd``name`",
    "DROP DATABASE d",
]


def work(clients) -> None:
    for sql in WORK:
        for client in clients:
            client.ok(sql)


def test_show_binlog_events_as_mariadb(two):
    work(two)
    for sql in ("SHOW BINLOG EVENTS", "SHOW BINLOG EVENTS IN 'narwal-bin.000001'", "SHOW BINLOG EVENTS IN 'narwal-bin.000002'"):
        mine, theirs = (plain(events(c, sql)) for c in two)
        # How a dropped table is logged differs in comments only.
        strip = lambda rows: [(*r[:1], *r[2:4], re.sub(r" /\*.*\*/", "", r[4]).lower()) if r[2] == "Query" else r for r in rows]  # noqa: E731
        mine, theirs = strip(mine), strip(theirs)
        for a, b in zip(mine, theirs):
            if "drop table" in a[-1]:
                assert a[-1].replace("`", "").split() == b[-1].replace("`", "").split(), (a, b)
                continue
            assert a == b, sql
        assert len(mine) == len(theirs)
    types = [[c.connection._result.description or c.run("SHOW BINLOG EVENTS") and c.connection._result.description][0] for c in two]
    assert [d[:2] for d in types[0]] == [d[:2] for d in types[1]]
    # Positions are those of the files: each event begins where the last one ended.
    for name, size in two[0].rows("SHOW BINARY LOGS"):
        rows = events(two[0], f"SHOW BINLOG EVENTS IN '{name}'")
        assert rows[0][1] == "4" and rows[-1][4] == size
        assert all(a[4] == b[1] for a, b in zip(rows, rows[1:]))
        assert [r[2] for r in rows[:2]] == ["Format_desc", "Gtid_list"]


def test_show_binlog_events_from_and_limit(two):
    work(two)
    narwal, _ = two
    every = events(narwal)
    starts = [i for i, row in enumerate(every) if row[2] in ("Format_desc", "Gtid_list", "Gtid", "Rotate")]
    for i in starts:
        pos = every[i][1]
        assert events(narwal, f"SHOW BINLOG EVENTS FROM {pos}") == every[i:], pos
        assert events(narwal, f"SHOW BINLOG EVENTS FROM {pos} LIMIT 2") == every[i : i + 2]
        assert events(narwal, f"SHOW BINLOG EVENTS IN 'narwal-bin.000001' FROM {pos} LIMIT 1, 3") == every[i + 1 : i + 4]
    assert events(narwal, "SHOW BINLOG EVENTS FROM 0 LIMIT 3") == events(narwal, "SHOW BINLOG EVENTS FROM 1 LIMIT 3") == every[:3]
    assert events(narwal, "SHOW BINLOG EVENTS LIMIT 1000, 5") == []
    # The end of a file is a place too, and nothing stands there.
    assert events(narwal, f"SHOW BINLOG EVENTS FROM {every[-1][4]}") == []
    current, end = narwal.rows("SHOW MASTER STATUS")[0][:2]
    assert events(narwal, f"SHOW BINLOG EVENTS IN '{current}' FROM {end}") == []
    # Inside a group no event is a start, not even one between two of its events.
    for i, row in enumerate(every):
        if i not in starts:
            error = narwal.fails(f"SHOW BINLOG EVENTS FROM {row[1]}", 1220)
            assert "Wrong offset" in error.message and error.sqlstate == "HY000"
    for pos in range(5, 300, 7):
        if str(pos) not in [row[1] for row in every]:
            narwal.fails(f"SHOW BINLOG EVENTS FROM {pos}", 1220)


def test_errors_of_show_binlog_events(two):
    work(two)
    for sql in (
        "SHOW BINLOG EVENTS IN 'narwal-bin.000099'",
        "SHOW BINLOG EVENTS IN 'nope'",
        "SHOW BINLOG EVENTS IN ''",
        "SHOW BINLOG EVENTS IN './narwal-bin.000001'",
        "SHOW BINLOG EVENTS FROM 299",
        "SHOW BINLOG EVENTS FROM 100000000",
        "SHOW BINLOG EVENTS FROM 18446744073709551615",
        "SHOW BINLOG EVENTS FROM 99999999999999999999999",
        "SHOW BINLOG EVENTS IN narwal",
        "SHOW BINLOG EVENTS FROM -1",
        "SHOW BINLOG EVENTS LIMIT -1",
    ):
        mine, theirs = each(two, sql)
        assert mine.error, sql
        if "IN '" in sql:
            assert mine.message == theirs.message == "Error when executing command SHOW BINLOG EVENTS: Could not find target log"
    mine = two[0].run("SHOW BINLOG EVENTS FROM 100000000")
    size = two[0].rows("SHOW BINARY LOGS")[0][1]
    assert mine.message.endswith(f"Requested from pos:100000000 is greater than actual file size:{size}")


def test_statements_of_files(two):
    narwal, _ = two
    each(two, *WORK[:3])
    for sql in ("SHOW MASTER STATUS", "SHOW BINLOG STATUS", "SHOW BINARY LOGS", "SHOW MASTER LOGS"):
        mine, theirs = (c.run(sql) for c in two)
        assert mine.columns == theirs.columns, sql
        for client, answer in zip(two, (mine, theirs)):
            assert answer.rows[0][:2] == ("narwal-bin.000001", events(client)[-1][4]), sql
            assert answer.rows[0][2:] == theirs.rows[0][2:], sql
    each(two, "FLUSH BINARY LOGS", "FLUSH LOGS", "FLUSH LOCAL BINARY LOGS", "INSERT INTO d.t VALUES (10, 'x')")
    names = [[r[0] for r in c.rows("SHOW BINARY LOGS")] for c in two]
    assert names[0] == names[1] == [f"narwal-bin.00000{n}" for n in range(1, 5)]
    each(
        two,
        "PURGE BINARY LOGS TO 'narwal-bin.000099'",
        "PURGE BINARY LOGS TO ''",
        "PURGE BINARY LOGS TO 'narwal-bin.000002'",
        "PURGE MASTER LOGS TO 'narwal-bin.000002'",
        "PURGE BINARY LOGS BEFORE '2000-01-01'",
        "PURGE BINARY LOGS BEFORE NULL",
        "PURGE BINARY LOGS BEFORE 'nonsense'",
        "PURGE BINARY LOGS",
    )
    # MariaDB may keep a file until its engine's next checkpoint.
    assert narwal.rows("SHOW BINARY LOGS")[0][0] == "narwal-bin.000002"
    each(two, "RESET MASTER TO 12")
    assert [c.rows("SHOW BINARY LOGS")[0][0] for c in two] == ["narwal-bin.000012"] * 2
    each(two, "SELECT @@gtid_binlog_state, @@gtid_binlog_pos, @@gtid_current_pos", "INSERT INTO d.t VALUES (11, 'x')", "SELECT @@last_gtid")
    each(two, "RESET MASTER TO 0")
    assert narwal.rows("SHOW BINARY LOGS")[0][0] == "narwal-bin.000001"
    each(two, "SHOW SLAVE HOSTS", "SHOW REPLICA HOSTS", "RESET MASTER TO -1")
    # MariaDB gives its binary log up with this error; here nothing happens.
    narwal.ok("INSERT INTO d.t VALUES (12, 'x')")
    before = narwal.rows("SHOW MASTER STATUS")
    narwal.fails("RESET MASTER TO 5000000000", 1098)
    assert narwal.rows("SHOW MASTER STATUS") == before


def test_gtid_variables_as_mariadb(two):
    each(two, *WORK[:3])
    state = "SELECT @@gtid_binlog_state, @@gtid_binlog_pos, @@gtid_current_pos, @@last_gtid"
    each(
        two,
        state,
        "SET SESSION server_id = 5",
        "INSERT INTO d.t VALUES (10, 'x')",
        state,
        "SET SESSION server_id = DEFAULT, gtid_domain_id = 3",
        "INSERT INTO d.t VALUES (11, 'x')",
        state,
        "SET gtid_seq_no = 100",
        "INSERT INTO d.t VALUES (12, 'x')",
        "SELECT @@gtid_seq_no",
        state,
        "SET gtid_seq_no = 20",
        "INSERT INTO d.t VALUES (13, 'x')",
        state,
        "INSERT INTO d.t VALUES (14, 'x')",
        state,
        "SET GLOBAL gtid_strict_mode = 1",
        "SET gtid_seq_no = 30",
        "SET gtid_seq_no = 1000",
        "INSERT INTO d.t VALUES (15, 'x')",
        state,
        "SET GLOBAL gtid_strict_mode = 0",
        "SET sql_log_bin = 0",
        "INSERT INTO d.t VALUES (16, 'x')",
        "SET sql_log_bin = 1",
        state,
        "BEGIN",
        "SET gtid_domain_id = 1",
        "SET gtid_seq_no = 1",
        "SET sql_log_bin = 0",
        "ROLLBACK",
        "SET gtid_domain_id = DEFAULT",
        "SET GLOBAL gtid_binlog_state = '0-1-1'",
        "SET GLOBAL gtid_binlog_state = ''",
        "SET GLOBAL gtid_binlog_state = 'junk'",
        "BEGIN",
        "SET GLOBAL gtid_binlog_state = ''",
        "ROLLBACK",
        "SET gtid_binlog_state = ''",
        "SET GLOBAL gtid_binlog_pos = ''",
        "SET GLOBAL gtid_current_pos = ''",
        "SET last_gtid = ''",
        "RESET MASTER",
        state,
        "SET GLOBAL gtid_binlog_state = 'junk'",
        "SET GLOBAL gtid_binlog_state = '0-1'",
        "SET GLOBAL gtid_binlog_state = '0-1-2,'",
        "SET GLOBAL gtid_binlog_state = ''",
        "SET GLOBAL gtid_binlog_state = '0-1-5,0-1-6'",
        state,
        "SET GLOBAL gtid_binlog_state = '0-1-6'",
        "RESET MASTER",
        "SET GLOBAL gtid_binlog_state = '0-1-5,0-2-6,3-9-4'",
        state,
        "INSERT INTO d.t VALUES (20, 'x')",
        state,
    )
    # A gap is kept in the file's head.
    assert plain(events(two[0]))[1] == plain(events(two[1]))[1]


VARIABLES = [
    ("max_binlog_size", ["4096", "5000", "1", "0", "-5", "2000000000", "99999999999", "'x'", "1.5", "DEFAULT", "NULL"]),
    ("binlog_expire_logs_seconds", ["0", "86400", "100000000", "-1", "'x'", "DEFAULT"]),
    ("expire_logs_days", ["0", "1.5", "99", "100", "-1", "0.00001", "'x'", "DEFAULT"]),
    ("gtid_domain_id", ["0", "4294967295", "4294967296", "-1", "'x'", "1.5", "DEFAULT"]),
    ("server_id", ["1", "4294967295", "4294967296", "0", "-1", "'x'", "DEFAULT", "1"]),
    ("gtid_strict_mode", ["ON", "OFF", "1", "0", "2", "'x'", "DEFAULT"]),
    ("binlog_commit_wait_count", ["0", "5", "-1", "'x'", "DEFAULT"]),
    ("binlog_commit_wait_usec", ["0", "5", "-1", "'x'", "DEFAULT"]),
    ("binlog_row_image", ["FULL", "MINIMAL", "NOBLOB", "0", "1", "7", "'x'", "DEFAULT"]),
    ("binlog_row_metadata", ["FULL", "MINIMAL", "NO_LOG", "0", "7", "'x'", "FULL"]),
    ("binlog_annotate_row_events", ["ON", "OFF", "3", "DEFAULT"]),
    ("max_binlog_cache_size", ["4096", "5000", "1", "-1", "'x'", "DEFAULT"]),
    ("binlog_format", ["ROW", "2", "'x'"]),
]
SESSION = [
    ("gtid_domain_id", ["3", "-1", "4294967296", "DEFAULT", "NULL"]),
    ("server_id", ["3", "0", "DEFAULT"]),
    ("gtid_seq_no", ["5", "-1", "0", "'x'", "DEFAULT"]),
    ("sql_log_bin", ["OFF", "ON", "2"]),
    ("binlog_row_image", ["MINIMAL", "DEFAULT"]),
    ("binlog_annotate_row_events", ["OFF", "DEFAULT"]),
]


def test_ranges_and_scopes_of_variables_as_mariadb(two):
    for scope, table in (("GLOBAL", VARIABLES), ("SESSION", SESSION)):
        for name, values in table:
            for value in values:
                if value == "DEFAULT" and name in ("server_id", "binlog_expire_logs_seconds", "max_binlog_cache_size", "gtid_strict_mode"):
                    # Defaults that are not MariaDB's, or that the reference server was started with.
                    [c.ok(f"SET {scope} {name} = DEFAULT") for c in two]
                    continue
                each(two, f"SET {scope} {name} = {value}", "SHOW WARNINGS" if "-" not in value else "DO 0")
                each(two, f"SHOW {scope} VARIABLES LIKE '{name}'")
    for sql in (
        "SET max_binlog_size = 4096",
        "SET binlog_expire_logs_seconds = 1",
        "SET gtid_strict_mode = 1",
        "SET GLOBAL gtid_seq_no = 1",
        "SET GLOBAL sql_log_bin = 0",
        "SET GLOBAL last_gtid = ''",
        "SET GLOBAL log_bin = 0",
        "SET GLOBAL gtid_binlog_pos = '0-1-1'",
        "SELECT @@session.max_binlog_size",
        "SELECT @@session.gtid_strict_mode",
        "SELECT @@global.gtid_seq_no",
        "SELECT @@global.last_gtid",
        "SELECT @@session.gtid_binlog_state",
    ):
        mine, _ = each(two, sql)
        assert mine.error, sql


def test_functions_as_mariadb(two):
    work(two)
    narwal, mariadb = two
    for sql in (
        "SELECT BINLOG_GTID_POS('narwal-bin.000099', 4)",
        "SELECT BINLOG_GTID_POS('nope', 4)",
        "SELECT BINLOG_GTID_POS('narwal-bin.000001', 0), BINLOG_GTID_POS('narwal-bin.000001', 4), BINLOG_GTID_POS('', 4)",
        "SELECT BINLOG_GTID_POS('narwal-bin.000001', 5), BINLOG_GTID_POS('narwal-bin.000001', 100000000), BINLOG_GTID_POS('narwal-bin.000001', -4)",
        "SELECT BINLOG_GTID_POS(NULL, 4), BINLOG_GTID_POS('narwal-bin.000001', NULL)",
        "SELECT BINLOG_GTID_POS('narwal-bin.000001')",
        "SELECT BINLOG_GTID_POS('narwal-bin.000002', 4), BINLOG_GTID_POS('narwal-bin.000002', 256)",
        "SELECT MASTER_POS_WAIT('narwal-bin.000001', 4), MASTER_POS_WAIT('narwal-bin.000001', 4, 1), MASTER_POS_WAIT(NULL, 4)",
        "SELECT MASTER_GTID_WAIT('0-1-1', 0), MASTER_GTID_WAIT('', 0), MASTER_GTID_WAIT(NULL), MASTER_GTID_WAIT('0-1-1', 0.01)",
        "SELECT MASTER_GTID_WAIT('junk', 0)",
        "SELECT MASTER_GTID_WAIT()",
    ):
        each(two, sql)
    # At every boundary of an event: the GTIDs up to there.
    for name in ("narwal-bin.000001", "narwal-bin.000002"):
        answers = []
        for client in two:
            ends = [(kind, end) for _, _, kind, _, end, _ in events(client, f"SHOW BINLOG EVENTS IN '{name}'") if kind != "Binlog_checkpoint"]
            found = [client.value(f"SELECT BINLOG_GTID_POS('{name}', {end})") for _, end in ends]
            answers.append([(kind, sorted((g or "").split(","))) for (kind, _), g in zip(ends, found)])
        assert answers[0] == answers[1], name


STATUS = [
    "Binlog_bytes_written", "Binlog_cache_disk_use", "Binlog_cache_use", "Binlog_commits", "Binlog_group_commit_trigger_count",
    "Binlog_group_commit_trigger_lock_wait", "Binlog_group_commit_trigger_timeout", "Binlog_group_commits", "Binlog_snapshot_file",
    "Binlog_snapshot_position", "Binlog_stmt_cache_disk_use", "Binlog_stmt_cache_use",
]  # fmt: skip


def test_status_as_mariadb(two):
    narwal, mariadb = two
    for client in two:
        names = {r[0] for r in client.rows("SHOW GLOBAL STATUS LIKE 'Binlog%'")}
        assert names >= set(STATUS)
    each(two, *WORK[:2])

    def counters(client) -> dict[str, int]:
        rows = client.rows("SHOW GLOBAL STATUS LIKE 'Binlog%'")
        return {k: int(v) for k, v in rows if k in STATUS and k != "Binlog_snapshot_file"}

    before = [counters(c) for c in two]
    each(
        two,
        "INSERT INTO d.t VALUES (1, 'x')",
        "BEGIN",
        "INSERT INTO d.t VALUES (2, 'x')",
        "UPDATE d.t SET v = 'y'",
        "COMMIT",
        "BEGIN",
        "INSERT INTO d.t VALUES (3, 'x')",
        "ROLLBACK",
        "SELECT COUNT(*) FROM d.t",
    )
    after = [counters(c) for c in two]
    grown = [{k: a[k] - b[k] for k in a if k.startswith("Binlog_")} for a, b in zip(after, before)]
    assert grown[0] == grown[1]
    assert grown[0]["Binlog_commits"] == 2 and grown[0]["Binlog_cache_use"] >= 2 and grown[0]["Binlog_bytes_written"] > 0


def test_a_domain_goes_only_when_no_file_has_it(two):
    each(
        two,
        *WORK[:2],
        "SET gtid_domain_id = 5",
        "INSERT INTO d.t VALUES (1, 'x')",
        "SET gtid_domain_id = 6",
        "INSERT INTO d.t VALUES (2, 'x')",
        "SET gtid_domain_id = DEFAULT",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = (5)",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = (77)",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = (77, 78, 77)",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = (77, 6)",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = (4294967296)",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = (99999999999999999999999)",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = (-1)",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = ('a')",
        "SELECT @@gtid_binlog_state",
    )
    narwal, _ = two
    # Domains that are not there begin no file.
    assert len(narwal.rows("SHOW BINARY LOGS")) == 1
    narwal.ok("FLUSH BINARY LOGS")
    narwal.fails("FLUSH BINARY LOGS DELETE_DOMAIN_ID = (5)", 1076)
    narwal.ok("PURGE BINARY LOGS TO 'narwal-bin.000002'")
    narwal.ok("FLUSH BINARY LOGS DELETE_DOMAIN_ID = (5)")
    assert narwal.value("SELECT @@gtid_binlog_state") == "0-1-2,6-1-1"
    assert [r[0] for r in narwal.rows("SHOW BINARY LOGS")] == ["narwal-bin.000002", "narwal-bin.000003"]
    assert events(narwal, "SHOW BINLOG EVENTS IN 'narwal-bin.000003'")[1][5] == "[0-1-2,6-1-1]"
    narwal.ok("SET gtid_domain_id = 5")
    narwal.ok("INSERT INTO d.t VALUES (3, 'x')")
    assert narwal.value("SELECT @@last_gtid") == "5-1-1"


def test_the_gtid_state_outlives_a_purge_of_everything(own_narwal):
    server = own_narwal("--max-binlog-size=4096", "--innodb-log-file-size=1M")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(2000))")
        for n in range(200):
            client.ok(f"SET gtid_domain_id = {n % 3}, server_id = {1 + n % 2}")
            client.ok(f"INSERT INTO d.t VALUES ({n}, REPEAT('x', 200))")
        client.ok("SET gtid_domain_id = DEFAULT, server_id = DEFAULT")
        state, pos = client.rows("SELECT @@gtid_binlog_state, @@gtid_binlog_pos")[0]
        assert len(state.split(",")) == 6 and len(pos.split(",")) == 3
        client.ok("FLUSH BINARY LOGS")
        last = client.rows("SHOW BINARY LOGS")[-1][0]
        assert last > "narwal-bin.000008"
        client.ok(f"PURGE BINARY LOGS TO '{last}'")
        assert [r[0] for r in client.rows("SHOW BINARY LOGS")] == [last]

        def check(client: Client) -> None:
            assert client.rows("SELECT @@gtid_binlog_state, @@gtid_binlog_pos") == [(state, pos)]
            assert [r[0] for r in client.rows("SHOW BINARY LOGS")] == [last]
            rows = events(client)
            assert [r[2] for r in rows] == ["Format_desc", "Gtid_list"] and rows[1][5] == f"[{state}]"
            assert client.value(f"SELECT BINLOG_GTID_POS('{last}', 4)") == pos
            assert client.value("SELECT COUNT(*) FROM d.t") == "200"

        check(client)
    server.kill()
    server.start()
    with Client(server) as client:
        check(client)
    assert server.stop() == 0
    server.start()
    with Client(server) as client:
        check(client)
        client.ok("INSERT INTO d.t VALUES (1000, 'x')")
        assert client.value("SELECT @@last_gtid") == f"0-1-{max(int(g.split('-')[2]) for g in state.split(',') if g[0] == '0') + 1}"


def test_statements_and_open_transactions_as_mariadb(two):
    each(two, "CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY)")
    for n, sql in enumerate(
        [
            "FLUSH BINARY LOGS",
            "FLUSH LOGS",
            "FLUSH BINARY LOGS DELETE_DOMAIN_ID = (9)",
            "PURGE BINARY LOGS TO 'narwal-bin.000001'",
            "SHOW BINLOG EVENTS LIMIT 1, 0",
            "SET GLOBAL max_binlog_size = 4096",
            "SET GLOBAL max_binlog_size = DEFAULT",
            "RESET MASTER",
        ]
    ):
        if "LIMIT" in sql:
            continue
        each(two, "BEGIN", f"INSERT INTO d.t VALUES ({n})", sql, "ROLLBACK")
    each(two, "SELECT id FROM d.t ORDER BY id", "SELECT @@gtid_binlog_pos")
    each(
        two,
        "SHOW BINLOG EVENTS FROM 4 IN 'narwal-bin.000001'",
        "PURGE BINARY LOGS TO 5",
        "PURGE BINARY LOGS BEFORE (SELECT 1)",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = 1",
        "FLUSH BINARY LOGS DELETE_DOMAIN_ID = (1,)",
        "FLUSH LOGS DELETE_DOMAIN_ID = (1)",
        "FLUSH NO_WRITE_TO_BINLOG BINARY LOGS",
        "RESET MASTER TO 'x'",
        "SHOW BINARY LOGS LIKE 'x'",
    )


def test_what_was_set_outlives_a_kill(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        client.ok("RESET MASTER TO 7")
        client.ok("SET GLOBAL gtid_binlog_state = '0-1-5,0-2-6,3-9-4'")
    server.kill()
    server.start()
    with Client(server) as client:
        assert client.rows("SELECT @@gtid_binlog_state, @@gtid_binlog_pos") == [("0-1-5,0-2-6,3-9-4", "0-2-6,3-9-4")]
        assert [r[0] for r in client.rows("SHOW BINARY LOGS")] == ["narwal-bin.000007"]
        assert events(client)[1][5] == "[0-1-5,0-2-6,3-9-4]"
        client.ok("FLUSH BINARY LOGS DELETE_DOMAIN_ID = (3)")
    server.kill()
    server.start()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        assert client.rows("SELECT @@last_gtid, @@gtid_binlog_state") == [("0-1-7", "0-2-6,0-1-7")]
        assert [r[0] for r in client.rows("SHOW BINARY LOGS")] == ["narwal-bin.000007", "narwal-bin.000008"]


def test_purge_before_is_in_the_sessions_time_zone(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("FLUSH BINARY LOGS")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY)")
        client.ok("FLUSH BINARY LOGS")
        time.sleep(2.1)
        for zone in ("+05:30", "-08:00", "+00:00"):
            client.ok(f"SET time_zone = '{zone}'")
            client.ok("PURGE BINARY LOGS BEFORE NOW() - INTERVAL 1 HOUR")
            assert len(client.rows("SHOW BINARY LOGS")) == 3, zone
        client.ok("SET time_zone = '-08:00'")
        client.ok("PURGE BINARY LOGS BEFORE NOW()")
        assert [r[0] for r in client.rows("SHOW BINARY LOGS")] == ["narwal-bin.000003"]
        # The file being written stays whatever is asked.
        client.ok("PURGE BINARY LOGS BEFORE '2037-01-01'")
        assert len(client.rows("SHOW BINARY LOGS")) == 1


def test_prepared_statements(own_narwal):
    server = own_narwal("--narwal-log-compression=zstd")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v TEXT)")
        client.ok("INSERT INTO d.t VALUES (1, REPEAT('x', 2000)), (2, 'y')")
        expected = {sql: client.rows(sql) for sql in ("SHOW BINLOG EVENTS", "SHOW MASTER STATUS", "SHOW BINARY LOGS", "SHOW BINLOG EVENTS LIMIT 1, 3")}
    connection = mysql.connector.connect(host="127.0.0.1", port=server.port, user="root", ssl_disabled=True)
    try:
        cursor = connection.cursor(prepared=True)
        for sql, rows in expected.items():
            cursor.execute(sql)
            found = [tuple(str(v) if not isinstance(v, (bytes, bytearray)) else v.decode() for v in row) for row in cursor.fetchall()]
            assert found == rows, sql
    finally:
        connection.close()


def snapshot(client: Client) -> dict[str, str]:
    return {k.lower().removeprefix("binlog_snapshot_"): v for k, v in client.rows("SHOW STATUS LIKE 'Binlog_snapshot%'")}


def changes_since(server, place: dict[str, str]) -> list[dict]:
    """Changes behind a place, by `narwal binlog` on the running server's folder."""
    done = subprocess.run(
        [str(server.binary), "binlog", "--json", f"--datadir={server.datadir}", f"--start-position={place['file']}:{place['position']}"],
        capture_output=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_consistent_dump_and_what_follows_it_make_the_live_state(own_narwal):
    """Dumps while writers run: rows of the snapshot and the events behind its position are the tables as they are in the end."""
    server = own_narwal("--max-binlog-size=65536", "--innodb-log-file-size=1M", "--binlog-state-interval=16384")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v INT, s VARCHAR(50))")
        client.ok("INSERT INTO d.t VALUES " + ", ".join(f"({n}, 0, 'start')" for n in range(100)))
    stop = threading.Event()
    failures: list[BaseException] = []

    def write(seed: int) -> None:
        source = random.Random(seed)
        try:
            with Client(server, database="d") as client:
                n = 0
                while not stop.is_set():
                    n += 1
                    if seed == 0 and n % 50 == 0:
                        client.ok("FLUSH BINARY LOGS")
                    if n % 7 == 0:
                        client.ok("SET sql_log_bin = 1")
                    client.run("BEGIN")
                    for _ in range(source.randint(1, 4)):
                        key = source.randrange(200) * 4 + seed  # writers do not wait for one another
                        kind = source.random()
                        if kind < 0.5:
                            client.run(f"REPLACE INTO t VALUES ({key}, {n}, REPEAT('{n % 10}', {n % 50}))")
                        elif kind < 0.8:
                            client.run(f"UPDATE t SET v = v + 1 WHERE id = {key}")
                        else:
                            client.run(f"DELETE FROM t WHERE id = {key}")
                    client.run("ROLLBACK" if source.random() < 0.1 else "COMMIT")
        except BaseException as failure:  # seen by the test
            failures.append(failure)

    writers = [threading.Thread(target=write, args=(seed,)) for seed in range(4)]
    for writer in writers:
        writer.start()
    dumps = []
    try:
        for _ in range(6):
            time.sleep(0.3)
            with Client(server, database="d") as client:
                client.ok("SET tx_isolation = 'REPEATABLE-READ'")
                client.ok("START TRANSACTION WITH CONSISTENT SNAPSHOT")
                first = snapshot(client)
                time.sleep(0.05)
                rows = {int(i): (int(v), s) for i, v, s in client.rows("SELECT id, v, s FROM t")}
                # The place of the snapshot stands still while others commit. It has two names if a file ends there.
                again = snapshot(client)
                assert again["gtid_executed"] == first["gtid_executed"]
                assert again == first or int(again["position"]) < 1000 and again["file"] > first["file"], (again, first)
                for place in (first, again):
                    assert client.value(f"SELECT BINLOG_GTID_POS('{place['file']}', {place['position']})") == first["gtid_executed"]
                client.ok("COMMIT")
                dumps.append((first, rows))
    finally:
        stop.set()
        for writer in writers:
            writer.join()
    assert not failures, failures
    assert len({(d["file"], d["position"]) for d, _ in dumps}) == len(dumps)
    with Client(server, database="d") as client:
        live = {int(i): (int(v), s) for i, v, s in client.rows("SELECT id, v, s FROM t")}
        now = snapshot(client)
        assert (now["file"], now["position"]) == client.rows("SHOW MASTER STATUS")[0][:2]
        for place, rows in dumps:
            replayed = 0
            for change in changes_since(server, place):
                if change["table"] != "t":
                    continue
                before, after = change["before"], change["after"]
                if before:
                    assert rows.pop(before["id"]) == (before["v"], before["s"]), (place, change)
                if after:
                    assert after["id"] not in rows, (place, change)
                    rows[after["id"]] = (after["v"], after["s"])
                replayed += 1
            assert replayed > 0 and rows == live, place
            # SHOW BINLOG EVENTS begins there too.
            shown = events(client, f"SHOW BINLOG EVENTS IN '{place['file']}' FROM {place['position']} LIMIT 1")
            assert not shown or shown[0][2] in ("Gtid", "Rotate")


def test_many_events_stream_with_bounded_memory(own_narwal):
    """A transaction of many megabytes shows its events one by one; the server does not grow by it."""
    server = own_narwal("--innodb-buffer-pool-size=64M", "--binlog-oob-threshold=65536")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT)")
        client.ok("BEGIN")
        for n in range(120):
            client.ok(f"INSERT INTO d.t VALUES ({n}, REPEAT('x', 1000000))")
        client.ok("COMMIT")
        client.ok("INSERT INTO d.t VALUES (1000, 'after')")
        client.ok("FLUSH BINARY LOGS")
        time.sleep(1)
        rss = server.rss_mib()
        rows = events(client)
        assert server.rss_mib() - rss < 40
        kinds = [r[2] for r in rows]
        assert kinds.count("Write_rows_v1") == 121 and kinds[-1] == "Rotate"
        assert all(a[4] == b[1] for a, b in zip(rows, rows[1:]))
        assert int(rows[-1][4]) > 120_000_000 and rows[-1][4] == client.rows("SHOW BINARY LOGS")[0][1]
        assert events(client, f"SHOW BINLOG EVENTS FROM {rows[-1][1]}") == rows[-1:]
        # KILL QUERY ends it between two events: nothing waits for the end of a file.
        middle = rows[50][1]
        client.fails(f"SHOW BINLOG EVENTS FROM {middle}", 1220)


def test_purge_names_what_keeps_the_log(own_narwal):
    server = own_narwal("--max-binlog-size=4096", "--innodb-log-file-size=1M")
    with Client(server) as client, Client(server) as other:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v LONGTEXT)")
        # A transaction whose events are in the log already.
        other.ok("SET GLOBAL binlog_oob_threshold = 16384")
        other.ok("BEGIN")
        for n in range(10):
            other.ok(f"INSERT INTO d.t VALUES ({-1 - n}, REPEAT('y', 10000))")
        for n in range(400):
            client.ok(f"INSERT INTO d.t VALUES ({n}, REPEAT('x', 10000))")
        last = client.rows("SHOW BINARY LOGS")[-1][0]
        answer = client.ok(f"PURGE BINARY LOGS TO '{last}'")
        warnings = client.rows("SHOW WARNINGS")
        assert answer.warnings == len(warnings) > 0
        assert all(level == "Note" for level, _, _ in warnings), warnings
        assert any("running transaction" in text for _, _, text in warnings), warnings
        # The names are gone all the same, and the transaction can commit and be read.
        assert [r[0] for r in client.rows("SHOW BINARY LOGS")] == [last]
        other.ok("COMMIT")
        assert client.value("SELECT COUNT(*) FROM d.t") == "410"
        where = client.rows("SHOW BINARY LOGS")
        inserted = sum(r[2] == "Write_rows_v1" for name, _ in where for r in events(client, f"SHOW BINLOG EVENTS IN '{name}'"))
        assert inserted >= 10
    server.kill()
    server.start()
    with Client(server) as client:
        assert client.value("SELECT COUNT(*) FROM d.t") == "410"


def test_settings_have_their_effect(own_narwal):
    server = own_narwal("--innodb-log-file-size=1M")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(1000))")

        def fill(n: int) -> None:
            for _ in range(n):
                client.ok("INSERT INTO d.t (v) VALUES (REPEAT('x', 500))")

        def files() -> list[tuple]:
            return client.rows("SHOW BINARY LOGS")

        def status(name: str) -> int:
            return int(client.rows(f"SHOW GLOBAL STATUS LIKE '{name}'")[0][1])

        # max_binlog_size
        fill(40)
        assert len(files()) == 1
        client.ok("SET GLOBAL max_binlog_size = 4096")
        fill(40)
        assert 5 <= len(files()) <= 15
        # binlog_state_interval
        client.ok("SET GLOBAL max_binlog_size = DEFAULT")
        client.ok("FLUSH BINARY LOGS")
        before = status("Narwal_log_state_records")
        fill(40)
        assert status("Narwal_log_state_records") <= before + 1
        client.ok("SET GLOBAL binlog_state_interval = 4096")
        before = status("Narwal_log_state_records")
        fill(40)
        assert status("Narwal_log_state_records") >= before + 4
        # max_binlog_total_size, but not while too few replicas are there
        client.ok("SET GLOBAL slave_connections_needed_for_purge = 1")
        client.ok("SET GLOBAL max_binlog_total_size = 40000")
        time.sleep(1.5)
        many = len(files())
        assert many > 5
        client.ok("SET GLOBAL slave_connections_needed_for_purge = 0")
        end = time.monotonic() + 20
        while len(files()) == many and time.monotonic() < end:
            time.sleep(0.1)
        assert sum(int(size) for _, size in files()) <= 40000 or len(files()) == 1
        # binlog_expire_logs_seconds: by the last event's age
        client.ok("SET GLOBAL max_binlog_total_size = 0")
        client.ok("FLUSH BINARY LOGS")
        kept = files()
        time.sleep(2.2)
        client.ok("SET GLOBAL binlog_expire_logs_seconds = 2")
        end = time.monotonic() + 20
        while len(files()) >= len(kept) and time.monotonic() < end:
            time.sleep(0.1)
        assert [f for f, _ in files()] == [kept[-1][0]]
        assert client.value("SELECT COUNT(*) FROM d.t") == "160"
        # out of band
        client.ok("SET GLOBAL binlog_oob_threshold = 16384")
        before = status("Narwal_oob_chunks"), status("Binlog_cache_disk_use")
        client.ok("INSERT INTO d.t (v) SELECT v FROM d.t LIMIT 100")
        assert (status("Narwal_oob_chunks") > before[0]) and status("Binlog_cache_disk_use") == before[1] + 1
        # Amplification: at least what must be written, and not absurd.
        client.ok("SET GLOBAL innodb_flush_log_at_trx_commit = 1")
        ratio = float(client.rows("SHOW GLOBAL STATUS LIKE 'Narwal_log_amplification'")[0][1])
        assert 1.0 <= ratio < 3.0, ratio
        assert float(client.rows("SHOW GLOBAL STATUS LIKE 'Narwal_write_amplification'")[0][1]) >= ratio


def test_positions_shown_are_durable(own_narwal):
    """What SHOW MASTER STATUS says under load is in the log after kill -9."""
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
    stop = threading.Event()

    def write() -> None:
        try:
            with Client(server) as client:
                while not stop.is_set():
                    client.ok("INSERT INTO d.t (v) VALUES (1)")
        except Exception:  # the server is killed under it
            pass

    writers = [threading.Thread(target=write) for _ in range(4)]
    for writer in writers:
        writer.start()
    with Client(server) as client:
        for _ in range(100):
            shown = client.rows("SHOW MASTER STATUS")[0]
    server.kill()
    stop.set()
    for writer in writers:
        writer.join()
    server.start()
    with Client(server) as client:
        now = client.rows("SHOW MASTER STATUS")[0]
        assert now[0] == shown[0] and int(now[1]) >= int(shown[1])
        # It is the end of a group.
        assert client.run(f"SHOW BINLOG EVENTS IN '{shown[0]}' FROM {shown[1]} LIMIT 1").error == 0


def test_events_are_whole_while_files_come_and_go(own_narwal):
    """SHOW BINLOG EVENTS beside writers, FLUSH, PURGE and RESET: every answer is a chain of whole groups, every error one of these."""
    server = own_narwal("--max-binlog-size=16384", "--innodb-log-file-size=1M", "--binlog-state-interval=4096", "--binlog-oob-threshold=16384")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v LONGTEXT)")
    stop = threading.Event()
    failures: list[BaseException] = []
    shown = [0]

    def guard(work):
        def run():
            try:
                with Client(server, database="d") as client:
                    while not stop.is_set():
                        work(client)
            except BaseException as failure:  # seen by the test
                failures.append(failure)

        return threading.Thread(target=run)

    def small(client):
        client.ok("INSERT INTO t (v) VALUES ('small')")

    def large(client):
        client.ok("BEGIN")
        for _ in range(20):
            client.ok("INSERT INTO t (v) VALUES (REPEAT('x', 4000))")
        client.ok(random.choice(["COMMIT", "COMMIT", "ROLLBACK"]))

    def files(client):
        what = random.random()
        names = [r[0] for r in client.rows("SHOW BINARY LOGS")]
        if what < 0.4:
            client.ok("FLUSH BINARY LOGS")
        elif what < 0.95:
            client.run(f"PURGE BINARY LOGS TO '{random.choice(names)}'")
        else:
            client.ok("RESET MASTER")
        time.sleep(0.02)

    def look(client):
        names = [r[0] for r in client.rows("SHOW BINARY LOGS")]
        name = random.choice(names)
        answer = client.run(f"SHOW BINLOG EVENTS IN '{name}'")
        if answer.error:
            assert answer.error == 1220, answer
            return
        rows = answer.rows
        assert [r[2] for r in rows[:2]] == ["Format_desc", "Gtid_list"], answer
        for a, b in zip(rows, rows[1:]):
            assert a[4] == b[1], (a, b)
        # Groups are whole.
        inside = False
        for row in rows[2:]:
            if row[2] == "Gtid":
                assert not inside, row
                inside = row[5].startswith("BEGIN")
                ddl = not inside
            elif row[2] == "Xid":
                assert inside, row
                inside = False
            elif row[2] == "Query":
                assert ddl, row
            elif row[2] == "Rotate":
                assert not inside and row is rows[-1], row
        assert not inside, rows[-1]
        shown[0] += len(rows)

    def position(client):
        file, pos = client.rows("SHOW MASTER STATUS")[0][:2]
        answer = client.run(f"SELECT BINLOG_GTID_POS('{file}', {pos})")
        assert not answer.error, answer
        client.ok("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        place = snapshot(client)
        answer = client.run(f"SHOW BINLOG EVENTS IN '{place['file']}' FROM {place['position']} LIMIT 1")
        assert answer.error in (0, 1220), answer
        client.ok("COMMIT")

    threads = [guard(work) for work in (small, small, large, files, look, look, position)]
    for thread in threads:
        thread.start()
    time.sleep(8)
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert shown[0] > 500
    with Client(server) as client:
        rows = client.value("SELECT COUNT(*) FROM d.t")
        state = client.value("SELECT @@gtid_binlog_state")
        where = client.rows("SHOW BINARY LOGS")
    server.kill()
    server.start()
    with Client(server) as client:
        assert client.value("SELECT COUNT(*) FROM d.t") == rows
        assert client.value("SELECT @@gtid_binlog_state") == state
        assert client.rows("SHOW BINARY LOGS") == where
