"""Tables of the schema `mysql` written and defined by hand, as MariaDB 10.11 answers: programs and events whose tables are
damaged and mended, tables that nothing depends on, and tables of one's own there. Servers of their own: what is damaged here
is everybody's."""

from __future__ import annotations

import pytest

from support import Client
from test_programs import compare

ROUTINE = (
    "INSERT INTO mysql.proc (db, name, type, specific_name, language, sql_data_access, is_deterministic, security_type, param_list,"
    " returns, body, definer, created, modified, sql_mode, comment, character_set_client, collation_connection, db_collation, body_utf8)"
    " VALUES (DATABASE(), '{0}', '{1}', '{0}', 'SQL', 'READS_SQL_DATA', 'NO', 'DEFINER', '', 'int(10)', '{2}', 'root@localhost', NOW(),"
    " '2000-01-01', '', '', 'utf8mb4', 'utf8mb4_general_ci', 'utf8mb4_general_ci', '')"
)
EVENT = (
    "INSERT INTO mysql.event (db, name, body, definer, interval_value, interval_field, originator, character_set_client,"
    " collation_connection, db_collation, body_utf8) VALUES (DATABASE(), '{0}', 'select 1', 'root@localhost', 100, '{1}', 1, 'utf8mb4',"
    " 'utf8mb4_general_ci', 'utf8mb4_general_ci', 'select 1')"
)

SCRIPTS = {
    "events": [
        "CREATE DEFINER = root@localhost EVENT e1 ON SCHEDULE EVERY 10 HOUR STARTS '2030-01-01' DO SELECT 1",
        "ALTER TABLE mysql.event MODIFY modified CHAR(30)", "SHOW EVENTS", "SELECT event_name FROM information_schema.events",
        "SHOW CREATE EVENT e1", "DROP EVENT e1", "CREATE EVENT e2 ON SCHEDULE EVERY 5 HOUR DO SELECT 5", "ALTER EVENT e1 RENAME TO e2",
        "ALTER TABLE mysql.event MODIFY modified TIMESTAMP NOT NULL DEFAULT '0000-00-00 00:00:00'", "SHOW EVENTS", "SHOW CREATE EVENT e1",
        "CREATE TABLE kept LIKE mysql.event", "INSERT INTO kept SELECT * FROM mysql.event", "DELETE FROM mysql.event", "SHOW EVENTS",
        "DROP TABLE mysql.event", "SHOW EVENTS", "SELECT * FROM mysql.event", "DROP EVENT e1", "SHOW TABLES IN mysql LIKE 'event'",
        "RENAME TABLE kept TO mysql.event", "SHOW CREATE EVENT e1", "SHOW TABLES LIKE 'kept'",
        "UPDATE mysql.event SET interval_value = 7, status = 'DISABLED'", "SHOW CREATE EVENT e1", "TRUNCATE TABLE mysql.event", "SHOW EVENTS",
        EVENT.format("e3", "MINUTE"), "SELECT event_name, interval_value, interval_field, status FROM information_schema.events", "DROP EVENT e3",
        EVENT.format("e4", "SECOND_MICROSECOND"), "SHOW CREATE EVENT e4", "DROP EVENT e4", "SHOW EVENTS",
    ],
    "routines": [
        "CREATE DEFINER = root@localhost PROCEDURE p() SELECT 'p'", "CREATE DEFINER = root@localhost FUNCTION f() RETURNS INT RETURN 1",
        "CREATE TABLE t (a INT)", "CREATE TRIGGER ai AFTER INSERT ON t FOR EACH ROW SET @x = f()",
        "CREATE TABLE spare LIKE mysql.proc", "RENAME TABLE mysql.proc TO kept", "CALL p()", "SELECT f()", "INSERT INTO t VALUES (1)", "CREATE PROCEDURE q() SELECT 1", "SHOW PROCEDURE STATUS",
        "CREATE TABLE mysql.proc LIKE kept", "CALL p()", "SHOW CREATE FUNCTION f",
        "DROP TABLE mysql.proc", "RENAME TABLE kept TO mysql.proc", "CALL p()", "SELECT f()", "INSERT INTO t VALUES (1)",
        "UPDATE mysql.proc SET body = 'select ''other''' WHERE db = DATABASE() AND name = 'p'", "SHOW CREATE PROCEDURE p",
        ROUTINE.format("bad1", "FUNCTION", "select count(*) from t"), "SELECT bad1()", "SHOW WARNINGS",
        ROUTINE.format("bad2", "PROCEDURE", "alksj wpsj sa"), "CALL bad2()", "DROP PROCEDURE bad2",
        ROUTINE.format("good", "FUNCTION", "return 42"), "SELECT good()", "SHOW CREATE FUNCTION good",
        "DELETE FROM mysql.proc WHERE db = DATABASE() AND name LIKE 'bad%'", "SELECT bad1()",
        "SELECT name, type, body FROM mysql.proc WHERE db = DATABASE() ORDER BY name",
        "ALTER TABLE mysql.proc DROP PRIMARY KEY", "DROP PROCEDURE p", "ALTER TABLE mysql.proc ADD PRIMARY KEY (db, name, type)", "DROP PROCEDURE p",
        "ALTER TABLE mysql.proc DROP db_collation", "SELECT good()", "SELECT COUNT(*) FROM information_schema.routines",
        "CREATE VIEW v AS SELECT good()", "DROP TABLE mysql.proc", "SELECT good()", "CREATE FUNCTION g() RETURNS INT RETURN 1",
        "RENAME TABLE spare TO mysql.proc", "SELECT good()", "SHOW FUNCTION STATUS WHERE Db <> 'sys'",
    ],
    "tables that nothing depends on": [
        "INSERT INTO mysql.time_zone VALUES (NULL, 'N')", "SELECT * FROM mysql.time_zone", "SELECT LAST_INSERT_ID()",
        "INSERT INTO mysql.servers VALUES ('s', 'h', 'd', 'u', 'p', 1, 'x', 'mysql', 'o')", "UPDATE mysql.servers SET host = 'i'",
        "SELECT * FROM mysql.servers", "DELETE FROM mysql.servers", "REPLACE INTO mysql.plugin VALUES ('a', 'b')", "SELECT * FROM mysql.plugin",
        "TRUNCATE TABLE mysql.plugin", "PREPARE s FROM 'INSERT INTO mysql.func VALUES (?, 0, ?, ?)'", "SET @n = 'f', @l = 'l', @t = 'function'",
        "EXECUTE s USING @n, @l, @t", "SELECT * FROM mysql.func", "DELETE FROM mysql.func", "CREATE TRIGGER ti BEFORE INSERT ON mysql.func FOR EACH ROW SET @a = 1",
        "CREATE TABLE mysql.own (a INT PRIMARY KEY)", "INSERT INTO mysql.own VALUES (1)", "SELECT * FROM mysql.own", "SHOW TABLES IN mysql LIKE 'own'",
        "CREATE VIEW mysql.v AS SELECT a FROM mysql.own", "SELECT * FROM mysql.v", "DROP VIEW mysql.v", "DROP TABLE mysql.own", "SELECT * FROM mysql.own",
        "CHECK TABLE mysql.event, mysql.func, mysql.db", "SHOW DATABASES LIKE 'mysql'", "CREATE DATABASE mysql",
    ],
}


@pytest.fixture(scope="module")
def damaged(lab):
    """Servers whose system tables may be damaged."""
    pair = [lab.narwal(), lab.mariadb()]
    yield pair
    for server in pair:
        lab.remove(server)


@pytest.mark.parametrize("name", SCRIPTS)
def test_as_in_mariadb(damaged, name):
    clients = [Client(server) for server in damaged]
    # MariaDB has programs of its own.
    clients[1].ok("DELETE FROM mysql.proc WHERE db IN ('sys', 'mysql')")
    for client in clients:
        client.ok("CREATE OR REPLACE DATABASE written")
        client.ok("USE written")
        client.ok("SET time_zone = '+00:00', timestamp = 1700000000")
    for sql in SCRIPTS[name]:
        if sql.startswith("ALTER TABLE mysql."):
            # MariaDB's engine for these tables copies all rows, and says how many.
            for client in clients:
                client.ok(sql)
        elif sql.startswith("SHOW CREATE EVENT e4"):
            for client in clients:
                client.fails(sql, 1235)
        else:
            compare(clients, [sql])


ZONE = [
    "INSERT INTO mysql.time_zone VALUES (4711, 'N')",
    "INSERT INTO mysql.time_zone_transition_type VALUES (4711, 0, 0, 0, 'OWN'), (4711, 1, 3600, 1, 'OWNS')",
    "INSERT INTO mysql.time_zone_transition VALUES (4711, 1000000000, 1), (4711, 1020000000, 0)",
    "INSERT INTO mysql.time_zone_name VALUES ('Own/Zone', 4711)",
]


def test_time_zones_of_the_tables(damaged, own_narwal):
    """As in MariaDB, with a clock that jumps forward and back; also for events, and after a start."""
    clients = [Client(server) for server in damaged]
    compare(clients, ["SET time_zone = 'Own/Nowhere'", *ZONE, "SET time_zone = 'Own/Zone'", "SELECT @@time_zone"])
    for at in (999999999, 1000000000, 1019999999, 1020000000, 1020000001):
        compare(clients, [f"SELECT FROM_UNIXTIME({at})"])
    for clock in ("2001-09-09 01:46:39", "2001-09-09 02:30:00", "2001-09-09 02:46:40", "2002-04-28 13:19:59", "2002-04-28 14:20:00"):
        compare(clients, [f"SELECT UNIX_TIMESTAMP('{clock}')", f"SELECT CONVERT_TZ('{clock}', 'Own/Zone', '+00:00')"])
    for client in clients:
        client.ok("SET time_zone = '+00:00'")
    server = own_narwal()
    with Client(server) as c:
        for sql in ZONE:
            c.ok(sql)
        c.ok("CREATE DATABASE d")
        c.ok("SET time_zone = 'Own/Zone', timestamp = 1010000000")
        c.ok("CREATE EVENT d.e ON SCHEDULE EVERY 1 DAY STARTS '2002-01-02 10:00:00' DO SELECT 1")
    server.kill()
    server.start()
    with Client(server) as c:
        assert c.rows("SELECT starts FROM mysql.event") == [("2002-01-02 09:00:00",)]
        assert c.rows("SELECT time_zone, starts FROM information_schema.events") == [("Own/Zone", "2002-01-02 10:00:00")]


def test_a_damaged_table_is_so_after_a_crash_and_can_be_mended(own_narwal):
    server = own_narwal()
    with Client(server) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE PROCEDURE d.p() SELECT 'here'")
        c.ok("ALTER TABLE mysql.proc DROP aggregate")
        c.ok("INSERT INTO mysql.help_topic VALUES (1, 'n', 1, 'd', 'e', 'u')")
    server.kill()
    server.start()
    with Client(server) as c:
        c.fails("CALL d.p()", 1805)
        c.ok("ALTER TABLE mysql.proc ADD aggregate ENUM('NONE', 'GROUP') NOT NULL DEFAULT 'NONE'")
        assert c.rows("CALL d.p()") == [("here",)]
        assert c.rows("SELECT name FROM mysql.help_topic") == [("n",)]
