"""The server under test as a replica, of MariaDB and of Narwal: everything arrives, once and in order, whatever happens to the link,
to the source and to the replica; what is shown of it is true."""

from __future__ import annotations

import random
import time

import pytest

from conftest import COMMON, PRIMARY, STAND_IN
from testbed.load import Load
from testbed.replica import gtid_position
from support import Client, wait_until

SOURCES = ["mariadb", "narwal"]
BINLOG = ["--log-bin=bin", "--binlog-format=ROW", "--binlog-row-metadata=FULL", "--sync-binlog=1"]
STRICT = ["--gtid-strict-mode=ON"]  # Narwal's default


@pytest.fixture
def source(lab, own):
    """A factory of sources that a test has for itself."""

    def make(kind: str, *args: str):
        if kind == "mariadb":
            return own(lab.replica([*COMMON, *BINLOG, *PRIMARY, "--innodb-snapshot-isolation=ON", *args], log=True))
        return own(lab.narwal_replica([*PRIMARY, *args]))

    return make


@pytest.fixture
def replica(own_narwal_replica):
    def make(*args: str, **options):
        return own_narwal_replica(*(STRICT if STAND_IN else []), *PRIMARY, *args, **options)

    return make


@pytest.fixture(scope="module", params=SOURCES)
def pair(request, lab):
    """A source and its replica for tests that leave them as they were."""
    if request.param == "mariadb":
        primary = lab.replica([*COMMON, *BINLOG, "--innodb-snapshot-isolation=ON"], log=True)
    else:
        primary = lab.narwal_replica()
    follower = lab.narwal_replica(STRICT if STAND_IN else [])
    follower.follow(primary.port, heartbeat_period=0.5)
    with Client(primary) as c:
        c.ok("CREATE DATABASE shared")
        c.ok("CREATE TABLE shared.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
    follower.catch_up(primary.port, 20)
    yield primary, follower
    lab.remove(follower)
    lab.remove(primary)


def insert(server, *values: int) -> str:
    with Client(server) as c:
        for v in values:
            c.ok(f"INSERT INTO shared.t (v) VALUES ({v})")
    return gtid_position(server.port)


def values(server) -> list[int]:
    with Client(server) as c:
        return [int(r[0]) for r in c.rows("SELECT v FROM shared.t ORDER BY id")]


def shown(server, *columns: str) -> list:
    """Of SHOW ALL SLAVES STATUS, which has all there is."""
    status = server.all_status()[0]
    return [status[c] for c in columns]


def state(server, *wanted: str, seconds: float = 20) -> None:
    """Waits for Slave_IO_Running and Slave_SQL_Running."""
    look = lambda: tuple(shown(server, "Slave_IO_Running", "Slave_SQL_Running"))  # noqa: E731
    wait_until(lambda: look() == wanted, lambda: (look(), server.explain()), seconds)


@pytest.mark.parametrize("kind", SOURCES)
def test_types_and_character_sets(source, replica, kind):
    """An ordinary MariaDB, whose databases are in latin1, with columns of every other character set and ENUM, SET and BIT."""
    latin1 = ["--character-set-server=latin1", "--collation-server=latin1_swedish_ci"]
    primary = source(kind, *(latin1 if kind == "mariadb" else []))
    with Client(primary) as c:
        c.ok("CREATE DATABASE d" + ("" if kind == "mariadb" else " CHARACTER SET latin1"))
        c.ok("CREATE TABLE d.t (k VARCHAR(20) PRIMARY KEY, c CHAR(5), e ENUM('é','b') NOT NULL, s SET('x','ü'), b BIT(10), x TEXT,"
             " u VARCHAR(20) CHARACTER SET utf8mb4, w CHAR(9) CHARACTER SET utf8mb3, a CHAR(3) CHARACTER SET ascii COLLATE ascii_bin,"
             " l TEXT COLLATE latin1_bin, id UUID DEFAULT '018f0000-0000-7000-8000-00000000ff00', v4 INET4, v6 INET6, KEY (id), KEY (v4))")  # fmt: skip
        c.ok("INSERT INTO d.t VALUES ('é', 'ü€', 'É', 'ü,x', 513, 'naïve', '🐎', 'é日', 'abc', 'ß', NULL, '1.2.0.0', 'fe80::'), ('z', '', 'b', '', NULL, '', NULL, 'z', '', 'Z', REPEAT('0', 32), NULL, '::')")
        c.ok("INSERT INTO d.t (k) VALUES ('Ö'), ('plain')")
        c.ok("UPDATE d.t SET c = CONCAT(k, '!'), e = 2, s = 3, b = b + 1 WHERE k = 'E'")
        c.ok("UPDATE d.t SET k = 'ÿ', id = '123e4567-e89b-12d3-a456-426655440000', v4 = '10.0.0.0', v6 = '::1' WHERE k = 'ö'")
        c.ok("DELETE FROM d.t WHERE k = 'Z'")
        c.ok("CREATE TABLE d.no_key (v VARCHAR(10), e ENUM('a','b') COLLATE utf8mb4_bin)")
        c.ok("INSERT INTO d.no_key VALUES ('é', 'a'), ('é', 'a'), (NULL, NULL)")
        c.ok("DELETE FROM d.no_key WHERE v = 'É' LIMIT 1")
    follower = replica()
    follower.follow(primary.port)
    assert follower.same(primary.port).rows == 5
    with Client(primary) as a, Client(follower) as b:
        for sql in ("SHOW CREATE DATABASE d", "SHOW CREATE TABLE d.t", "SELECT HEX(k), HEX(c), e, e+0, s, HEX(x), id, v4, v6 FROM d.t ORDER BY k"):
            assert a.rows(sql) == b.rows(sql)


@pytest.mark.parametrize("kind", SOURCES)
def test_timestamps_without_explicit_defaults(source, replica, kind):
    """What CREATE TABLE means depends on a setting that stands in the event; older MariaDBs have it OFF."""
    primary = source(kind)
    with Client(primary) as c:
        c.ok("CREATE DATABASE d")
        c.ok("SET explicit_defaults_for_timestamp = OFF")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, a TIMESTAMP, b TIMESTAMP(3), c TIMESTAMP NULL)")
        c.ok("ALTER TABLE d.t ADD d TIMESTAMP FIRST, ADD e TIMESTAMP")
        c.ok("SET explicit_defaults_for_timestamp = ON")
        c.ok("CREATE TABLE d.u (id INT PRIMARY KEY, a TIMESTAMP)")
    follower = replica()
    follower.follow(primary.port)
    follower.same(primary.port)
    with Client(primary) as a, Client(follower) as b:
        for table in ("t", "u"):
            assert a.rows(f"SHOW CREATE TABLE d.{table}") == b.rows(f"SHOW CREATE TABLE d.{table}")
        assert "`a` timestamp NULL DEFAULT NULL" in str(b.rows("SHOW CREATE TABLE d.u"))


def test_statements_with_values_before_them(source, replica):
    """MIXED is MariaDB's default: numbers of AUTO_INCREMENT, LAST_INSERT_ID() and user variables stand in events of their own."""
    primary = source("mariadb")
    with Client(primary) as c:
        c.ok("SET GLOBAL binlog_format = MIXED")
        c.ok("SET SESSION binlog_format = MIXED")
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20), n DECIMAL(12,4), f DOUBLE)")
        c.ok("BEGIN")
        c.ok("INSERT INTO d.t (v) VALUES ('a'), ('b')")
        c.ok("ROLLBACK")
        c.ok("INSERT INTO d.t (v) VALUES ('c'), ('d')")
        c.ok("SET @v = 'é', @n = -12.3456, @f = 1.5e-7, @i = 18446744073709551615, @z = NULL")
        c.ok("INSERT INTO d.t (v, n, f) VALUES (@v, @n, @f), (@i, NULL, @z)")
        c.ok("UPDATE d.t SET v = LAST_INSERT_ID() WHERE id = 4")
        c.ok("SET auto_increment_increment = 10, auto_increment_offset = 7")
        c.ok("INSERT INTO d.t (v) VALUES ('e'), ('f')")
        c.ok("CREATE TABLE d.m (id INT PRIMARY KEY AUTO_INCREMENT, v INT) ENGINE=MyISAM")
        c.ok("INSERT INTO d.m (v) VALUES (1), (2)")
    follower = replica()
    follower.follow(primary.port)
    follower.catch_up(primary.port, 20)
    with Client(primary) as a, Client(follower) as b:
        assert a.rows("SELECT * FROM d.t ORDER BY id") == b.rows("SELECT * FROM d.t ORDER BY id")
        assert a.rows("SELECT * FROM d.m ORDER BY id") == b.rows("SELECT * FROM d.m ORDER BY id")


@pytest.mark.parametrize("strict", ["ON", "OFF"])
def test_tables_of_mysql(source, replica, strict):
    """Tables of `mysql` that a source always has are only shown by Narwal, until the first event that names them."""
    primary = source("mariadb")
    with Client(primary) as c:
        c.ok("SET SESSION binlog_format = ROW")
        c.ok("INSERT INTO mysql.time_zone (Time_zone_id, Use_leap_seconds) VALUES (7, 'N')")
        c.ok("INSERT INTO mysql.time_zone_name VALUES ('Nowhere', 7)")
        c.ok("UPDATE mysql.time_zone_name SET Name = 'Elsewhere' WHERE Name = 'Nowhere'")
        c.ok("USE mysql")
        c.ok("RENAME TABLE general_log TO renamed_general_log")
        c.ok("RENAME TABLE renamed_general_log TO general_log")
        c.ok("INSERT INTO mysql.servers VALUES ('s', 'h', 'd', 'u', 'p', 1, '', 'mysql', 'o')")
        c.ok("CREATE DATABASE d")
    follower = replica(f"--gtid-strict-mode={strict}")
    follower.follow(primary.port)
    follower.catch_up(primary.port, 20)
    with Client(primary) as a, Client(follower) as b:
        for table in ("time_zone", "time_zone_name", "servers"):
            assert a.rows(f"SELECT * FROM mysql.{table}") == b.rows(f"SELECT * FROM mysql.{table}")
        assert a.rows("SELECT @@gtid_binlog_pos") == b.rows("SELECT @@gtid_binlog_pos")


def test_rows_of_accounts_and_programs(source, replica):
    """Tables of `mysql` that Narwal makes of its accounts and programs: rows that someone writes there on the source change those."""
    primary = source("mariadb", "--log-slave-updates=ON")
    follower = replica()
    follower.follow(primary.port)
    with Client(primary) as c:
        c.ok("SET SESSION binlog_format = ROW")
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (a INT, b INT)")
        for name in ("u", "v", "w"):
            c.ok(f"CREATE USER {name}@'127.%' IDENTIFIED BY 'secret'")
        c.ok("GRANT SELECT ON d.* TO u@'127.%'")
        c.ok("GRANT SELECT (a), INSERT (b) ON d.t TO v@'127.%'")
        c.ok("USE mysql")
        # Of one row, of several rows, without a database in front.
        c.ok("INSERT INTO mysql.db (Host, Db, User, Insert_priv) VALUES ('127.%', 'other', 'u', 'Y')")
        c.ok("UPDATE db SET Update_priv = 'Y', Delete_priv = 'Y' WHERE User = 'u'")
        c.ok("DELETE FROM columns_priv WHERE User = 'v' AND Column_name = 'b'")
        c.ok("UPDATE tables_priv SET Table_priv = 'Delete,Drop', Column_priv = 'Select' WHERE User = 'v'")
        c.ok("INSERT INTO tables_priv (Host, Db, User, Table_name, Table_priv) VALUES ('127.%', 'd', 'w', 't', 'Select'), ('127.%', 'd', 'w', 'later', 'Insert')")
        c.ok("""UPDATE global_priv SET Priv = JSON_SET(Priv, '$.account_locked', true) WHERE User = 'w'""")
        c.ok("CREATE PROCEDURE d.p(x INT) COMMENT 'first' SELECT x + 1")
        c.ok("CREATE FUNCTION d.f() RETURNS INT DETERMINISTIC RETURN 1")
        c.ok("UPDATE proc SET comment = 'second', definer = 'u@127.%' WHERE db = 'd' AND name = 'p'")
        c.ok("DELETE FROM proc WHERE db = 'd' AND name = 'f'")
        # Nothing of it stays.
        c.ok("INSERT INTO mysql.db (Host, Db, User, Drop_priv) VALUES ('127.%', 'gone', 'u', 'Y')")
        c.ok("DELETE FROM mysql.db WHERE Db = 'gone'")
        c.ok("UPDATE mysql.db SET Update_priv = 'Y' WHERE Db = 'nowhere'")
        c.ok("FLUSH PRIVILEGES")
        c.ok("INSERT INTO d.t VALUES (1, 2)")
    follower.catch_up(primary.port, 20)
    asked = ["SHOW GRANTS FOR u@'127.%'", "SHOW GRANTS FOR v@'127.%'", "SHOW GRANTS FOR w@'127.%'", "SHOW CREATE USER w@'127.%'", "SELECT * FROM d.t",
             "SELECT routine_name, definer, routine_comment FROM information_schema.routines WHERE routine_schema = 'd'"]  # fmt: skip
    with Client(primary) as a, Client(follower) as b:
        for sql in asked:
            assert sorted(a.rows(sql)) == sorted(b.rows(sql)), sql
        b.ok("SET ROLE NONE")
        assert a.rows("SELECT @@gtid_binlog_pos") == b.rows("SELECT @@gtid_binlog_pos")
    # It is in the log here, and survives.
    follower.kill()
    follower.start()
    behind = replica()
    behind.follow(follower.port)
    behind.catch_up(follower.port, 20)
    with Client(primary) as a, Client(follower) as b, Client(behind) as c:
        for sql in asked:
            assert sorted(a.rows(sql)) == sorted(b.rows(sql)) == sorted(c.rows(sql)), sql


def test_rows_of_accounts_that_have_no_place_in_the_log(source, replica):
    primary = source("mariadb", "--binlog-annotate-row-events=OFF")
    follower = replica()
    follower.follow(primary.port)
    with Client(primary) as c:
        c.ok("SET SESSION binlog_format = ROW")
        c.ok("CREATE USER u@'127.%'")
        c.ok("SET SESSION binlog_annotate_row_events = OFF")
        c.ok("INSERT INTO mysql.db (Host, Db, User, Insert_priv) VALUES ('127.%', 'd', 'u', 'Y')")
    state(follower, "Yes", "No")
    error = shown(follower, "Last_SQL_Error")[0]
    assert "binlog_annotate_row_events=ON on the source" in error, error


@pytest.mark.parametrize("kind", SOURCES)
def test_moments_in_definitions(source, replica, lab, own, kind):
    """The constants of TIMESTAMP columns, and the times of events, are moments in the zone of the session that gives them."""
    primary = source(kind)
    with Client(primary) as c:
        c.ok("CREATE DATABASE d")
        c.ok("SET time_zone = '+03:00'")
        c.ok("CREATE TABLE d.t (id INT, a TIMESTAMP NOT NULL DEFAULT '2003-01-01 00:00:00')")
        c.ok("ALTER TABLE d.t ADD b TIMESTAMP NULL DEFAULT '2004-01-01 00:00:00'")
        c.ok("SET time_zone = '-05:00'")
        c.ok("CREATE TABLE d.u LIKE d.t")
        c.ok("ALTER TABLE d.t ALTER b SET DEFAULT '2005-01-01 00:00:00', MODIFY a TIMESTAMP NOT NULL DEFAULT '2006-01-01 00:00:00'")
        c.ok("CREATE TABLE d.v (s TIMESTAMP NOT NULL DEFAULT '2007-01-01 00:00:00') SELECT 1 AS id")
        c.ok("CREATE EVENT d.e ON SCHEDULE AT '2037-01-01 00:00:00' DO SELECT 1")
    followers = [replica()]
    if kind == "narwal":
        followers.append(own(lab.replica()))
    asked = [f"SHOW CREATE TABLE d.{t}" for t in "tuv"] + ["SELECT * FROM d.v", "SELECT execute_at FROM information_schema.events"]
    for follower in followers:
        follower.follow(primary.port)
        follower.catch_up(primary.port, 20)
        with Client(primary) as a, Client(follower) as b:
            for c in (a, b):
                c.ok("SET time_zone = '+00:00'")
            for sql in asked:
                assert a.rows(sql) == b.rows(sql), sql
            assert "'2006-01-01 05:00:00'" in str(b.rows("SHOW CREATE TABLE d.t"))


@pytest.mark.parametrize("kind", SOURCES)
def test_large_tables_of_selects_and_without_keys(source, replica, kind):
    """CREATE TABLE ... SELECT with more rows than a replica keeps back; and many rows that only a search finds."""
    primary = source(kind)
    with Client(primary) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.many (id INT PRIMARY KEY, v VARCHAR(1000))")
        for first in range(0, 8000, 1000):
            c.ok("INSERT INTO d.many VALUES " + ",".join(f"({i}, '{'x' * 900}')" for i in range(first, first + 1000)))
        c.ok("CREATE TABLE d.made SELECT id, v FROM d.many")
        c.ok("UPDATE d.made SET v = CONCAT('y', id)")
        c.ok("DELETE FROM d.made WHERE id % 2 = 0")
        c.ok("UPDATE d.made SET v = 'z' WHERE id % 5 = 0 ORDER BY id DESC")
    follower = replica()
    follower.follow(primary.port)
    assert follower.same(primary.port).rows == 12000


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("threads", [0, 4])
def test_everything_from_the_beginning(source, replica, kind, threads):
    primary = source(kind)
    with Client(primary) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.types (id INT PRIMARY KEY, a BIGINT UNSIGNED, b DECIMAL(20,6), c DATETIME(3), d VARCHAR(300), e LONGBLOB,"
             " f BINARY(5), i TEXT, j TIME(6), k TIMESTAMP(2) NULL, l YEAR, m DOUBLE)")  # fmt: skip
        c.ok("INSERT INTO d.types VALUES (1, 18446744073709551615, -12345678901234.567891, '2024-02-03 04:05:06.789', 'ÄÖ🐎', X'00FF',"
             " X'0100', '{\"k\": [1, 2]}', '-12:34:56.789', '2024-02-03 04:05:06.78', 2024, 0.1)")  # fmt: skip
        c.ok("INSERT INTO d.types (id) VALUES (2)")
        c.ok("UPDATE d.types SET d = NULL, b = 1 WHERE id = 1")
        c.ok("CREATE TABLE d.no_key (a INT, b VARCHAR(20))")
        c.ok("INSERT INTO d.no_key VALUES (1, 'one'), (1, 'one'), (NULL, NULL)")
        c.ok("DELETE FROM d.no_key WHERE a = 1 LIMIT 1")
        c.ok("CREATE TABLE d.many (id INT PRIMARY KEY, v VARCHAR(1000))")
        # More than is kept back: it is applied while it arrives.
        c.ok("BEGIN")
        for first in range(0, 4000, 1000):
            c.ok("INSERT INTO d.many VALUES " + ",".join(f"({i}, '{'x' * 900}')" for i in range(first, first + 1000)))
        c.ok("COMMIT")
        c.ok("UPDATE d.many SET v = CONCAT('y', id) WHERE id % 3 = 0")
        c.ok("CREATE INDEX i ON d.types (a)")
        c.ok("FLUSH BINARY LOGS")
        c.ok("DELETE FROM d.many WHERE id > 3990")
        c.ok("TRUNCATE TABLE d.no_key")
    follower = replica(threads=threads)
    follower.follow(primary.port)
    assert follower.same(primary.port).tables == 3
    assert follower.position() == gtid_position(primary.port) == gtid_position(follower.port)
    read, done, behind = shown(follower, "Read_Master_Log_Pos", "Exec_Master_Log_Pos", "Seconds_Behind_Master")
    assert (read, behind) == (done, 0)
    if kind == "narwal" and not STAND_IN:
        # The same files, and the same places in them.
        with Client(primary) as a, Client(follower) as b:
            assert a.rows("SHOW MASTER STATUS") == b.rows("SHOW MASTER STATUS")
            assert a.rows("SHOW BINARY LOGS") == b.rows("SHOW BINARY LOGS")


@pytest.mark.parametrize(("kind", "semi_sync"), [*((k, False) for k in SOURCES), ("narwal", True)])
def test_links_that_break_anywhere(source, replica, proxy, kind, semi_sync):
    """Nothing is lost and nothing is applied twice, in the middle of whatever the link is cut; and an acknowledgement that
    was due when a link broke is not sent over the next one."""
    rng = random.Random(5)
    semi = ("--rpl-semi-sync-master-enabled=1", "--rpl-semi-sync-master-timeout=200") if semi_sync else ()
    primary, follower = source(kind, *semi), replica(threads=2, semi_sync=semi_sync)
    link = proxy(primary)
    follower.follow(link.port, connect_retry=1, heartbeat_period=0.5)
    with Load(primary, "cut", writers=3, large=0.1) as load:
        load.wait(20)
        for _ in range(8):
            link.break_()
            # So that it is in the middle of the next ones.
            time.sleep(rng.uniform(0.01, 0.4))
        link.stall()
        time.sleep(0.2)
        link.cut()
        link.mend()
        load.wait(20)
    follower.wait_running()
    follower.same(primary.port)
    assert follower.position() == gtid_position(primary.port)


@pytest.mark.parametrize("kind", SOURCES)
def test_ends_of_both(source, replica, kind):
    primary, follower = source(kind), replica(threads=2)
    follower.follow(primary.port)
    with Load(primary, "ends", writers=3) as load:
        for server, how in ((follower, "kill"), (primary, "stop"), (follower, "kill"), (primary, "kill"), (follower, "stop")):
            load.wait(25)
            server.kill() if how == "kill" else server.stop()
            server.start()
        load.wait(10)
    follower.wait_running()
    follower.same(primary.port)


@pytest.mark.parametrize("kind", SOURCES)
def test_semi_synchronous(source, replica, kind):
    """A commit returns when the replica has it for good: whoever is told of it finds it there after a crash of both."""
    primary = source(kind, "--rpl-semi-sync-master-enabled=1", "--rpl-semi-sync-master-wait-point=AFTER_SYNC",
                     "--rpl-semi-sync-master-timeout=30000")  # fmt: skip
    follower = replica(semi_sync=True)
    follower.follow(primary.port)
    wait_until(lambda: primary.status("Rpl_semi_sync_master_clients")["Rpl_semi_sync_master_clients"] == "1", follower.explain)
    with Client(primary) as c:
        c.ok("CREATE DATABASE shared")
        c.ok("CREATE TABLE shared.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
        before = int(c.rows("SHOW STATUS LIKE 'Rpl_semi_sync_master_yes_tx'")[0][1])
        for v in range(20):
            c.ok(f"INSERT INTO shared.t (v) VALUES ({v})")
        assert int(c.rows("SHOW STATUS LIKE 'Rpl_semi_sync_master_yes_tx'")[0][1]) == before + 20
    follower.kill()
    primary.kill()
    follower.start()
    assert values(follower) == list(range(20))
    primary.start()
    wait_until(lambda: primary.status("Rpl_semi_sync_master_clients")["Rpl_semi_sync_master_clients"] == "1", follower.explain)
    assert follower.wait_applied(insert(primary, 20)) is None
    assert values(follower) == list(range(21))


def test_a_delay(pair):
    primary, follower = pair
    follower.stop_slave()
    follower.query("CHANGE MASTER TO MASTER_DELAY=3")
    follower.start_slave()
    state(follower, "Yes", "Yes")
    had = values(follower)
    gtids = insert(primary, 1)
    end = time.monotonic() + 20
    seen = set()
    while values(follower) == had and time.monotonic() < end:
        delay, left, behind, what = shown(follower, "SQL_Delay", "SQL_Remaining_Delay", "Seconds_Behind_Master", "Slave_SQL_Running_State")
        if left is not None:
            assert (delay, left <= 3, behind <= 4) == (3, True, True)
            seen.add(what)
    assert seen == {"Waiting until MASTER_DELAY seconds after master executed event"}
    follower.wait_applied(gtids)
    follower.stop_slave()
    follower.query("CHANGE MASTER TO MASTER_DELAY=0")
    follower.start_slave()


def test_until(pair):
    primary, follower = pair
    follower.stop_slave()
    had = values(follower)
    insert(primary, 1)
    middle = insert(primary, 2)
    insert(primary, 3)
    follower.start_slave(f" UNTIL master_gtid_pos = '{middle}'")
    wait_until(lambda: shown(follower, "Slave_SQL_Running") == ["No"], follower.explain)
    assert values(follower) == [*had, 1, 2]
    assert follower.position() == middle
    assert shown(follower, "Until_Condition", "Last_SQL_Errno") == ["Gtid", 0]
    with Client(primary) as c:
        file, end = c.rows("SHOW MASTER STATUS")[0][:2]
    insert(primary, 4)
    follower.stop_slave()
    follower.start_slave(f" UNTIL master_log_file = '{file}', master_log_pos = {end}")
    wait_until(lambda: shown(follower, "Slave_SQL_Running") == ["No"], follower.explain)
    assert values(follower) == [*had, 1, 2, 3]
    follower.stop_slave()
    follower.start_slave()
    follower.same(primary.port, 20)
    assert values(follower) == [*had, 1, 2, 3, 4]


def test_groups_that_are_skipped(pair):
    primary, follower = pair
    follower.stop_slave()
    had = values(follower)
    follower.query("SET GLOBAL sql_slave_skip_counter = 1")
    insert(primary, 1, 2)
    follower.start_slave()
    follower.catch_up(primary.port, 20)
    assert values(follower) == [*had, 2]
    assert shown(follower, "Skip_Counter") == [0]
    with Client(primary) as c:
        c.ok("DELETE FROM shared.t WHERE v = 1 ORDER BY id DESC LIMIT 1")
    # Which this replica does not have: it stops, unless it is told to pass over that.
    follower.wait_error()
    assert shown(follower, "Last_SQL_Errno") == [1032]
    follower.query("SET GLOBAL slave_exec_mode = 'IDEMPOTENT'")
    follower.start_slave()
    follower.catch_up(primary.port, 20)
    follower.query("SET GLOBAL slave_exec_mode = 'STRICT'")
    follower.same(primary.port, 20)


def test_what_is_left_out(pair):
    primary, follower = pair
    had = values(follower)
    follower.stop_slave()
    follower.query("CHANGE MASTER TO IGNORE_DOMAIN_IDS = (7), IGNORE_SERVER_IDS = (4711)")
    follower.start_slave()
    with Client(primary) as c:
        c.ok("SET SESSION gtid_domain_id = 7")
        c.ok("INSERT INTO shared.t (v) VALUES (1)")
        c.ok("SET SESSION gtid_domain_id = 0")
        c.ok("SET SESSION server_id = 4711")
        c.ok("INSERT INTO shared.t (v) VALUES (2)")
        c.ok("SET SESSION server_id = DEFAULT" if STAND_IN else f"SET SESSION server_id = {primary.server_id}")
        c.ok("INSERT INTO shared.t (v) VALUES (3)")
    follower.catch_up(primary.port, 20)
    assert values(follower) == [*had, 3]
    # What was left out is behind it for good.
    follower.stop_slave()
    follower.query("CHANGE MASTER TO IGNORE_DOMAIN_IDS = (), IGNORE_SERVER_IDS = ()")
    follower.start_slave()
    insert(primary, 4)
    follower.catch_up(primary.port, 20)
    assert values(follower) == [*had, 3, 4]
    with Client(primary) as c:
        c.ok("DELETE FROM shared.t WHERE v IN (1, 2) ORDER BY id DESC LIMIT 0")


def test_lag_is_true(source, replica, proxy):
    """Nothing behind when idle, unknown when nobody can know, and what there is when there is."""
    primary, follower = source("narwal"), replica()
    link = proxy(primary)
    follower.follow(link.port, heartbeat_period=0.5)
    with Client(primary) as c:
        c.ok("CREATE DATABASE shared")
        c.ok("CREATE TABLE shared.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
    follower.catch_up(primary.port, 20)
    columns = ["Seconds_Behind_Master"]
    if not STAND_IN:
        columns += ["Narwal_lag_bytes", "Narwal_lag_transactions", "Narwal_lag_milliseconds"]
    wait_until(lambda: shown(follower, *columns) == [0] * len(columns), follower.explain)
    # The link is down.
    link.cut()
    state(follower, "Connecting", "Yes")
    assert shown(follower, *columns) == [None] * len(columns)
    link.mend()
    state(follower, "Yes", "Yes")
    # A client of the replica is in the way.
    with Client(follower) as blocker:
        insert(primary, 1)
        follower.catch_up(primary.port, 20)
        blocker.ok("BEGIN")
        blocker.rows("SELECT * FROM shared.t WHERE id = 1 FOR UPDATE")
        with Client(primary) as c:
            for v in range(5):
                c.ok(f"UPDATE shared.t SET v = {v} + 10 WHERE id = 1")
        time.sleep(2.2)
        got = shown(follower, *columns)
        assert got[0] >= 2
        if not STAND_IN:
            assert got[1] > 100
            assert got[2] == 5
            assert 2000 <= got[3] < 60000
        blocker.ok("ROLLBACK")
    follower.catch_up(primary.port, 20)
    wait_until(lambda: shown(follower, *columns) == [0] * len(columns), follower.explain)
    follower.stop_slave(" SQL_THREAD")
    assert shown(follower, "Seconds_Behind_Master") == [None]


@pytest.mark.parametrize("kind", SOURCES)
def test_errors_that_a_person_can_read(source, replica, kind):
    primary, follower = source(kind), replica()
    with Client(primary) as c:
        c.ok("CREATE DATABASE shared")
        c.ok("CREATE TABLE shared.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
        c.ok("CREATE USER r@'127.0.0.1' IDENTIFIED BY 'secret'")
        c.ok("GRANT REPLICATION SLAVE ON *.* TO r@'127.0.0.1'")
    # Nobody there; then somebody who does not know it; then all is well, without another word.
    follower.change_master(1, user="r", password="wrong")
    follower.start_slave()
    wait_until(lambda: shown(follower, "Last_IO_Errno")[0] in (2002, 2003), follower.explain)
    assert shown(follower, "Slave_IO_Running") == ["Connecting"]
    assert "r@127.0.0.1:1" in shown(follower, "Last_IO_Error")[0]
    follower.stop_slave()
    follower.change_master(primary.port, user="r", password="wrong")
    follower.start_slave()
    wait_until(lambda: shown(follower, "Last_IO_Errno") == [1045], follower.explain)
    follower.query("STOP SLAVE")
    follower.change_master(primary.port, user="r", password="secret")
    follower.start_slave()
    follower.catch_up(primary.port, 20)
    assert shown(follower, "Last_IO_Errno", "Last_IO_Error") == [0, ""]
    # The same server id.
    follower.stop_slave()
    follower.query(f"SET GLOBAL server_id = {primary.server_id}")
    follower.start_slave()
    wait_until(lambda: shown(follower, "Last_IO_Errno", "Slave_IO_Running") == [1593, "No"], follower.explain)
    follower.stop_slave()
    follower.query(f"SET GLOBAL server_id = {follower.server_id}")
    # A place that the source does not have any more.
    with Client(primary) as c:
        c.ok("INSERT INTO shared.t (v) VALUES (1)")
        c.ok("FLUSH BINARY LOGS")
        last = c.rows("SHOW BINARY LOGS")[-1][0]
        wait_until(lambda: c.ok(f"PURGE BINARY LOGS TO '{last}'") and c.rows("SHOW BINARY LOGS")[0][0] == last, lambda: c.rows("SHOW BINARY LOGS"))
    follower.start_slave()
    wait_until(lambda: shown(follower, "Last_IO_Errno", "Slave_IO_Running") == [1236, "No"], follower.explain)
    assert "purged" in shown(follower, "Last_IO_Error")[0]
    follower.stop_slave()
    # Told to go on behind it, it stops in front of what it has itself: the text names both.
    follower.query(f"SET GLOBAL gtid_slave_pos = '{gtid_position(primary.port)}'")
    here = insert(follower, 100, 101, 102)
    there = insert(primary, 200)
    follower.start_slave()
    error = follower.wait_error()
    assert "1950" in error and there in error and here in error, error


def test_a_gap_stops_the_replica(source, replica):
    if STAND_IN:
        pytest.skip("MariaDB takes gaps")
    primary, follower = source("narwal"), replica()
    follower.follow(primary.port)
    with Client(primary) as c:
        c.ok("CREATE DATABASE shared")
        c.ok("CREATE TABLE shared.t (id INT PRIMARY KEY AUTO_INCREMENT, v INT)")
        c.ok("SET gtid_seq_no = 10")
        c.ok("INSERT INTO shared.t (v) VALUES (1)")
    error = follower.wait_error()
    me = primary.server_id
    assert f"0-{me}-10" in error and f"0-{me}-2" in error and "7 GTIDs" in error
    assert "narwal_gtid_gaps" in error
    follower.stop_slave()
    follower.query("SET GLOBAL narwal_gtid_gaps = 'WARN'")
    follower.start_slave()
    follower.same(primary.port, 20)


def test_threads_in_the_process_list(pair):
    primary, follower = pair

    def lines() -> dict[str, str]:
        with Client(follower) as c:
            return {r[4]: r[6] for r in c.rows("SHOW PROCESSLIST") if r[1] == "system user" and r[4] in ("Slave_IO", "Slave_SQL")}

    state(follower, "Yes", "Yes")
    wanted = {"Slave_IO": "Waiting for master to send event", "Slave_SQL": "Slave has read all relay log; waiting for more updates"}
    wait_until(lambda: lines() == wanted, lines)
    follower.stop_slave()
    assert lines() == {}
    follower.start_slave()
    state(follower, "Yes", "Yes")
