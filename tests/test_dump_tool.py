"""mariadb-dump of a server under test, loaded into MariaDB and back; the locks that dumps take."""

from __future__ import annotations

import re
import subprocess
import threading

import pytest
from conftest import STAND_IN
from support import Client, differences

TYPES = """CREATE TABLE types (
  id INT PRIMARY KEY AUTO_INCREMENT, a TINYINT UNSIGNED, b BIGINT, c DECIMAL(20,6), d DOUBLE, e FLOAT,
  f CHAR(4), g VARCHAR(300) COLLATE utf8mb4_bin NOT NULL DEFAULT 'it''s', h LONGTEXT, i BINARY(3), j VARBINARY(20),
  k LONGBLOB, l DATE, m TIME(3), n DATETIME(6), o TIMESTAMP(2) NULL, p YEAR, KEY (g(10) DESC, a), UNIQUE (b)
) COMMENT 'of each one'"""
VALUES = r"""INSERT INTO types VALUES
  (1, 255, -9223372036854775808, -99999999999999.999999, 1.7976931348623157e308, 3.5, 'ab', 'ü''\\"\n', 'x', 'ab', 'a\0b',
   x'00ff27225c0a1a', '9999-12-31', '-838:59:59.999', '1000-01-01 00:00:00.000001', '2038-01-19 03:14:07.99', 2155),
  (2, 0, 9223372036854775807, 0.000001, -0.1, -1e-10, '', '', '', '', '', '', '0001-01-01', '00:00:00',
   '9999-12-31 23:59:59.999999', '1970-01-02 00:00:01', 1901),
  (3, NULL, NULL, NULL, NULL, NULL, NULL, '\Z%_', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)"""
TABLES = ["plain", "types", "`odd ``name`", "empty", "numbers"]


def fill(client: Client) -> None:
    client.ok("CREATE TABLE plain (id INT PRIMARY KEY, v VARCHAR(20), KEY (v))")
    client.ok("INSERT INTO plain VALUES " + ",".join(f"({i}, 'v{i % 7}')" for i in range(500)))
    client.ok(TYPES)
    client.ok(VALUES)
    client.ok("CREATE TABLE `odd ``name` (`a b` INT, `select` TEXT)")
    client.ok("INSERT INTO `odd ``name` VALUES (1, 'x'), (2, NULL)")
    client.ok("CREATE TABLE empty (a INT)")
    client.ok("CREATE SEQUENCE numbers START 7 INCREMENT 3 CACHE 5 COMMENT 'of each one'")
    client.ok("DO NEXTVAL(numbers)")


def tool(server, *args: str) -> bytes:
    """What mariadb-dump writes; it must succeed and say nothing."""
    command = ["mariadb-dump", "--no-defaults", "--host=127.0.0.1", f"--port={server.port}", "--user=root", *args]
    done = subprocess.run(command, capture_output=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr.decode()
    return done.stdout


def load(server, text: bytes, *args: str) -> None:
    command = ["mariadb", "--no-defaults", "--host=127.0.0.1", f"--port={server.port}", "--user=root", *args]
    done = subprocess.run(command, input=text, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr.decode(errors="replace")


def content(server, db: str) -> dict:
    with Client(server, db) as client:
        return {t: client.rows(f"SELECT * FROM {t} ORDER BY 1") for t in TABLES}


@pytest.mark.parametrize(
    "options",
    [
        ["--single-transaction", "--master-data=2", "--gtid"],
        ["--single-transaction", "--flush-logs", "--routines", "--triggers", "--events", "--hex-blob"],
        ["--lock-all-tables", "--master-data=2"],
        ["--opt", "--complete-insert", "--skip-extended-insert", "--order-by-primary"],
    ],
    ids=lambda o: o[0][2:],
)
def test_a_dump_loads_into_mariadb_and_back(narwal, mariadb, db, options):
    with Client(narwal, db) as client:
        fill(client)
    text = tool(narwal, *options, "--databases", db)
    load(mariadb, text)
    assert content(mariadb, db) == content(narwal, db)
    with Client(mariadb, db) as theirs, Client(narwal, db) as ours:
        for table in TABLES:
            for statement in (f"SHOW CREATE TABLE {table}", f"SHOW COLUMNS FROM {table}"):
                assert not differences(ours.run(statement), theirs.run(statement)), statement
    # The other server's dump of the same, and Narwal's own, load into Narwal.
    before = content(narwal, db)
    for again in (tool(mariadb, "--databases", db), text):
        with Client(narwal) as client:
            client.ok(f"DROP DATABASE {db}")
        load(narwal, again)
        assert content(narwal, db) == before
    with Client(mariadb) as client:
        client.ok(f"DROP DATABASE {db}")


def test_all_databases(own_narwal, mariadb):
    server = own_narwal()
    with Client(server) as client:
        for name in ("one", "two"):
            client.ok(f"CREATE DATABASE {name} COMMENT 'c {name}'")
            client.ok(f"USE {name}")
            fill(client)
    text = tool(server, "--all-databases", "--single-transaction", "--master-data=1", "--gtid", "--events")
    assert b"USE `one`" in text and b"USE `two`" in text and b"information_schema" not in text
    position = re.search(rb"SET GLOBAL gtid_slave_pos='([0-9,-]+)'", text).group(1).decode()
    with Client(server) as client:
        assert client.value("SELECT @@gtid_binlog_pos") == position
    load(mariadb, text)
    assert content(mariadb, "one") == content(server, "two")
    with Client(mariadb) as client:
        assert client.value("SELECT @@gtid_slave_pos") == position
        client.ok("SET GLOBAL gtid_slave_pos=''")
        client.ok("DROP DATABASE one")
        client.ok("DROP DATABASE two")


class Writers:
    """Clients that write all the time; each transaction keeps the sum of the balances."""

    def __init__(self, server, db: str, threads: int = 3):
        self.stopped = threading.Event()
        self.errors: list = []
        self.threads = [threading.Thread(target=self.work, args=(server, db, n), daemon=True) for n in range(threads)]

    def work(self, server, db: str, number: int) -> None:
        with Client(server, db) as client:
            turn = number
            while not self.stopped.is_set():
                a, b = turn * 7 % 20, (turn * 11 + 3) % 20
                turn += 1
                try:
                    client.ok("BEGIN")
                    client.ok(f"INSERT INTO log (who, a, b) VALUES ({number}, {a}, {b})")
                    for account, step in sorted(((a, -1), (b, 1))):
                        client.ok(f"UPDATE accounts SET balance = balance + {step} WHERE id = {account}")
                    client.ok("COMMIT")
                except AssertionError as error:
                    if not any(code in str(error) for code in ("ERROR 1020", "ERROR 1213", "ERROR 1205")):
                        self.errors.append(error)
                        return

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join(60)
        assert not self.errors, self.errors


@pytest.mark.parametrize("locking", ["--single-transaction", "--lock-all-tables"])
def test_position_and_rows_of_a_dump_agree(own_narwal, mariadb, locking):
    """The dump, and the binary log from the dump's position on, give the rows of the end."""
    server = own_narwal("--max-binlog-size=65536")
    db = "bank"
    with Client(server) as client:
        client.ok(f"CREATE DATABASE {db}")
        client.ok(f"USE {db}")
        client.ok("CREATE TABLE accounts (id INT PRIMARY KEY, balance INT NOT NULL)")
        client.ok("CREATE TABLE log (id BIGINT PRIMARY KEY AUTO_INCREMENT, who INT, a INT, b INT)")
        client.ok("INSERT INTO accounts VALUES " + ",".join(f"({i}, 100)" for i in range(20)))
        with Writers(server, db) as writers:
            writers.stopped.wait(0.5)
            text = tool(server, locking, "--master-data=2", "--databases", db)
            writers.stopped.wait(0.5)
        found = re.search(rb"MASTER_LOG_FILE='([^']+)', MASTER_LOG_POS=(\d+)", text)
        file, offset = found.group(1).decode(), found.group(2).decode()
        last = client.rows("SHOW MASTER STATUS")[0]
        assert (file, offset) != (last[0], last[1]), "nothing was written behind the dump"
        end = {t: client.rows(f"SELECT * FROM {t} ORDER BY id") for t in ("accounts", "log")}
        files = [row[0] for row in client.rows("SHOW BINARY LOGS")]
    load(mariadb, text)
    with Client(mariadb, db) as client:
        assert client.ints("SELECT SUM(balance) FROM accounts") == [2000]
        before = client.ints("SELECT COUNT(*) FROM log")[0]
    command = [
        "mariadb-binlog", "--no-defaults", "--read-from-remote-server", "--host=127.0.0.1", f"--port={server.port}",
        "--user=root", f"--start-position={offset}", *files[files.index(file) :],
    ]  # fmt: skip
    rest = subprocess.run(command, capture_output=True, timeout=120)
    assert rest.returncode == 0, rest.stderr.decode()
    load(mariadb, rest.stdout)
    with Client(mariadb, db) as client:
        assert {t: client.rows(f"SELECT * FROM {t} ORDER BY id") for t in ("accounts", "log")} == end
        assert client.ints("SELECT COUNT(*) FROM log")[0] > before
        client.ok(f"DROP DATABASE {db}")


def test_the_position_is_that_of_the_snapshot(narwal, db):
    with Client(narwal, db) as reader, Client(narwal, db) as writer:
        writer.ok("CREATE TABLE t (a INT PRIMARY KEY)")
        writer.ok("INSERT INTO t VALUES (1)")
        reader.ok("START TRANSACTION /*!40100 WITH CONSISTENT SNAPSHOT */")
        began = reader.rows("SHOW STATUS LIKE 'binlog_snapshot_%'")
        writer.ok("INSERT INTO t VALUES (2)")
        assert reader.rows("SHOW STATUS LIKE 'binlog_snapshot_%'") == began
        assert reader.ints("SELECT * FROM t") == [1]
        values = dict(began)
        file, offset = values["Binlog_snapshot_file"], values["Binlog_snapshot_position"]
        gtid = reader.value(f"SELECT BINLOG_GTID_POS('{file}', '{offset}')")
        reader.ok("COMMIT")
        assert gtid != writer.value("SELECT @@gtid_binlog_pos")
        assert dict(writer.rows("SHOW STATUS LIKE 'binlog_snapshot_%'")) != values


def test_flush_tables_with_read_lock_stops_commits(narwal, db):
    with Client(narwal, db) as holder, Client(narwal, db) as open_, Client(narwal, db) as other, Client(narwal) as ddl:
        other.ok("CREATE TABLE t (a INT PRIMARY KEY)")
        open_.ok("BEGIN")
        open_.ok("INSERT INTO t VALUES (1)")
        holder.ok("FLUSH TABLES WITH READ LOCK")
        before = holder.rows("SHOW MASTER STATUS")
        waiting = [
            open_.background("COMMIT"),
            other.background("INSERT INTO t VALUES (2)"),
            ddl.background(f"CREATE TABLE {db}.u (a INT)"),
        ]
        assert all(w.blocked() for w in waiting)
        assert holder.rows("SELECT * FROM t") == []
        assert holder.rows("SHOW MASTER STATUS") == before
        assert "Waiting for backup lock" in {row[6] for row in holder.rows("SHOW PROCESSLIST")} or STAND_IN
        holder.fails("INSERT INTO t VALUES (3)", 1223)
        holder.fails("CREATE TABLE v (a INT)", 1223)
        # A transaction of the holder's does not end it, and a second holder is welcome.
        holder.ok("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        with Client(narwal) as second:
            second.ok("FLUSH TABLES WITH READ LOCK")
            holder.ok("UNLOCK TABLES")
            assert all(w.blocked(0.1) for w in waiting)
        # Its end ends the lock.
        for w in waiting:
            w.ok()
        assert holder.rows("SELECT * FROM t") == []
        holder.ok("COMMIT")
        assert holder.ints("SELECT * FROM t ORDER BY a") == [1, 2]


def test_read_lock_gives_up_and_can_be_killed(narwal, db):
    with Client(narwal, db) as holder, Client(narwal, db) as waiter:
        holder.ok("CREATE TABLE t (a INT PRIMARY KEY)")
        holder.ok("FLUSH TABLES WITH READ LOCK")
        waiter.ok("SET SESSION lock_wait_timeout = 1")
        waiter.fails("INSERT INTO t VALUES (1)", 1205)
        waiter.ok("SET SESSION lock_wait_timeout = 60")
        number = waiter.value("SELECT CONNECTION_ID()")
        waiting = waiter.background("INSERT INTO t VALUES (1)")
        assert waiting.blocked()
        holder.ok(f"KILL QUERY {number}")
        assert waiting.answer().error == 1317
        # COM_RESET_CONNECTION gives it back.
        holder.connection.autocommit_mode = None
        holder.connection._execute_command(0x1F, b"")
        holder.connection._read_ok_packet()
        waiter.ok("INSERT INTO t VALUES (2)")


def test_read_lock_and_a_waiting_ddl_statement(narwal, db):
    """DDL waits for a transaction, the read lock waits for the DDL, and the transaction must be able to end."""
    with Client(narwal, db) as txn, Client(narwal, db) as ddl, Client(narwal) as holder:
        txn.ok("CREATE TABLE t (a INT PRIMARY KEY)")
        txn.ok("BEGIN")
        txn.ok("INSERT INTO t VALUES (1)")
        altering = ddl.background("ALTER TABLE t ADD INDEX (a)")
        assert altering.blocked()
        locking = holder.background("FLUSH TABLES WITH READ LOCK")
        locking.blocked()
        txn.ok("INSERT INTO t VALUES (2)")
        txn.ok("COMMIT")
        altering.ok()
        locking.ok()
        holder.ok("UNLOCK TABLES")


def test_lock_tables(narwal, db):
    with Client(narwal, db) as one, Client(narwal, db) as two, Client(narwal, db) as three:
        one.ok("CREATE TABLE t (a INT PRIMARY KEY)")
        one.ok("CREATE TABLE u (a INT PRIMARY KEY)")
        one.ok("LOCK TABLES t READ, u AS uu READ LOCAL")
        two.ok("LOCK TABLES t READ")
        two.ok("UNLOCK TABLES")
        one.fails("INSERT INTO t VALUES (1)", 1099)
        one.fails(f"CREATE TABLE {db}.w (a INT)", 1100)
        assert two.rows("SELECT * FROM t") == []
        insert = two.background("INSERT INTO t VALUES (1)")
        assert insert.blocked()
        one.ok("UNLOCK TABLES")
        insert.ok()

        # WRITE: the holder writes, others neither write nor read.
        one.ok("LOCK TABLES t WRITE")
        one.ok("/*!40000 ALTER TABLE t DISABLE KEYS */")
        one.ok("INSERT INTO t VALUES (2)")
        one.fails("SELECT * FROM u", 1100)
        select, insert = two.background("SELECT COUNT(*) FROM t"), three.background("INSERT INTO t VALUES (3)")
        assert select.blocked() and insert.blocked()
        # A transaction begins: the lock goes.
        one.ok("BEGIN")
        assert select.ok().rows[0][0] in ("2", "3")
        insert.ok()
        one.ok("COMMIT")

        # Who has written the table keeps others from locking it; the end of a session unlocks.
        two.ok("BEGIN")
        two.ok("INSERT INTO t VALUES (4)")
        with Client(narwal, db) as four:
            lock = four.background("FLUSH TABLES t, u WITH READ LOCK")
            assert lock.blocked()
            two.ok("COMMIT")
            lock.ok()
            insert = two.background("INSERT INTO t VALUES (5)")
            assert insert.blocked()
        insert.ok()
        assert one.ints("SELECT COUNT(*) FROM t") == [5]
        one.fails("LOCK TABLES nothing READ", 1146)


def test_privileges_of_locks(narwal, db):
    with Client(narwal) as root:
        root.ok(f"CREATE TABLE {db}.t (a INT)")
        root.ok("CREATE OR REPLACE USER locker@'%'")
        root.ok(f"GRANT SELECT ON {db}.* TO locker@'%'")
        with Client(narwal, db, user="locker") as client:
            client.fails("FLUSH TABLES WITH READ LOCK", 1227)
            client.fails("LOCK TABLES t READ", 1044)
            root.ok(f"GRANT LOCK TABLES ON {db}.* TO locker@'%'")
            client.ok("LOCK TABLES t READ")
            client.ok("UNLOCK TABLES")
        root.ok("DROP USER locker@'%'")
