"""`binlog_format=STATEMENT`: replicas run the statements, recovery has the rows; what a text does not say is refused. And the tools
of Debian's percona-toolkit, of which pt-table-checksum needs it."""

from __future__ import annotations

import os
import shutil
import subprocess

import pytest
from conftest import COMMON, STAND_IN
from support import Client, wait_until

pytestmark = pytest.mark.skipif(STAND_IN, reason="MariaDB logs more of it")

ROWS = "INSERT INTO d.t VALUES (1, 10), (2, 20), (3, 30)"
SUM = "REPLACE INTO d.sums SELECT 'all', SUM(v) FROM d.t"


@pytest.fixture(params=["narwal", "mariadb"])
def pair(request, lab, own):
    """A source, and a replica that has other rows."""
    source = own(lab.narwal_replica())
    follower = own(lab.narwal_replica() if request.param == "narwal" else lab.replica(COMMON))
    with Client(source) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
        c.ok("CREATE TABLE d.sums (what VARCHAR(20) PRIMARY KEY, s INT)")
        c.ok("CREATE TABLE d.auto (id INT PRIMARY KEY AUTO_INCREMENT, v DATETIME(6))")
        c.ok(ROWS)
    follower.follow(source.port)
    follower.catch_up(source.port, 30)
    with Client(follower) as f:
        f.ok("SET sql_log_bin = 0")
        f.ok("UPDATE d.t SET v = v + 1")
    return source, follower


def in_statements(server) -> Client:
    c = Client(server)
    c.ok("SET SESSION binlog_format = STATEMENT")
    return c


def test_each_side_computes_of_its_own_rows(pair):
    source, follower = pair
    with in_statements(source) as c:
        c.ok(SUM)
        c.ok("BEGIN")
        c.ok("INSERT INTO d.t SELECT id + 10, v FROM d.t")
        c.ok("SAVEPOINT s")
        c.ok("DELETE FROM d.t")
        c.ok("ROLLBACK TO s")
        c.ok("UPDATE d.t SET v = v * 2 WHERE id > 10")
        c.ok("COMMIT")
        c.ok("SET timestamp = 1700000000.123456")
        c.ok("INSERT INTO d.auto VALUES (7, NOW(6))")
        c.ok("SET SESSION binlog_format = ROW")
        c.ok("INSERT INTO d.sums VALUES ('row', 1)")
        assert c.rows("SELECT * FROM d.sums ORDER BY 1") == [("all", "60"), ("row", "1")]
        moment = c.rows("SELECT * FROM d.auto")
    follower.catch_up(source.port, 30)
    with Client(follower) as f:
        assert f.rows("SELECT * FROM d.sums ORDER BY 1") == [("all", "63"), ("row", "1")]
        assert f.rows("SELECT v FROM d.t ORDER BY id") == [("11",), ("21",), ("31",), ("22",), ("42",), ("62",)]
        assert f.rows("SELECT * FROM d.auto") == moment


def test_a_replica_logs_rows_of_what_it_runs_whatever_it_is_set_to(lab, own):
    """What a statement changed on the middle server reaches the last one as rows: that one has other rows of its own."""
    first, middle, last = servers = [own(lab.narwal_replica()) for _ in range(3)]
    with Client(middle) as c:
        c.ok("SET GLOBAL binlog_format = STATEMENT")
    middle.follow(first.port)
    last.follow(middle.port)
    with Client(first) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
        c.ok("CREATE TABLE d.sums (what VARCHAR(20) PRIMARY KEY, s INT)")
        c.ok(ROWS)
    for server, source in ((middle, first), (last, middle)):
        server.catch_up(source.port, 30)
        with Client(server) as c:
            c.ok("SET sql_log_bin = 0")
            c.ok("UPDATE d.t SET v = v + 1 WHERE id = 1")
    with in_statements(first) as c:
        c.ok(SUM)
        c.ok("CREATE TABLE d.copied (id INT PRIMARY KEY) AS SELECT id FROM d.t")
    middle.catch_up(first.port, 30)
    last.catch_up(middle.port, 30)
    sums = []
    for server in servers:
        with Client(server) as c:
            sums += c.rows("SELECT s, (SELECT COUNT(*) FROM d.copied) FROM d.sums")
    assert sums == [("60", "3"), ("61", "3"), ("61", "3")]


def test_a_crash_and_a_checkpoint_keep_the_rows(lab, own):
    server = own(lab.narwal_replica())
    with Client(server) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
        c.ok("CREATE TABLE d.nokey (v INT)")
    with in_statements(server) as c:
        c.ok(ROWS)
        c.ok("INSERT INTO d.nokey SELECT v FROM d.t")
        c.ok("BEGIN")
        c.ok("DELETE FROM d.t WHERE id = 2")
        c.ok("UPDATE d.nokey SET v = 5 WHERE v = 10")
        c.ok("COMMIT")
        c.ok("BEGIN")
        c.ok("DELETE FROM d.t")
    for end in (server.kill, server.stop):
        end()
        server.start()
        with Client(server) as c:
            assert c.rows("SELECT * FROM d.t ORDER BY id") == [("1", "10"), ("3", "30")]
            assert c.rows("SELECT v FROM d.nokey ORDER BY v") == [("5",), ("20",), ("30",)]
    server.stop()
    checked = subprocess.run([os.environ["NARWAL_BIN"], "check", server.datadir], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO d.t VALUES (4, RAND() * 100)",
        "UPDATE d.t SET v = CONNECTION_ID()",
        "INSERT INTO d.t SELECT 5, @x",
        "UPDATE d.t SET v = LENGTH(UUID())",
        "UPDATE d.t SET v = @@server_id",
        "INSERT INTO d.auto (v) VALUES (NOW())",
        "INSERT INTO d.t SELECT id + 10, v FROM d.tmp",
        "INSERT INTO d.t VALUES (6, d.f())",
        "SELECT d.f()",
        "SET @y = d.f()",
        "EXECUTE IMMEDIATE 'UPDATE d.t SET v = ?' USING 1",
        "BEGIN NOT ATOMIC DECLARE x INT DEFAULT 3; UPDATE d.t SET v = x; END",
    ],
)
def test_what_a_text_does_not_say_is_refused(shared_pair, statement):
    source, follower = shared_pair
    with in_statements(source) as c:
        before = c.rows("SELECT * FROM d.t")
        c.ok("CREATE TEMPORARY TABLE d.tmp (id INT, v INT)")
        assert "binlog_format=STATEMENT" in c.fails(statement, 1235).message
        assert c.rows("SELECT * FROM d.t") == before and c.rows("SELECT * FROM d.auto") == []


@pytest.fixture(scope="module")
def shared_pair(lab):
    source = lab.narwal_replica()
    with Client(source) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v INT)")
        c.ok("CREATE TABLE d.auto (id INT PRIMARY KEY AUTO_INCREMENT, v DATETIME(6))")
        c.ok("CREATE FUNCTION d.f() RETURNS INT BEGIN DELETE FROM d.t; RETURN 1; END")
        c.ok(ROWS)
    yield source, None
    lab.remove(source)


def test_it_does_not_change_inside_a_transaction(shared_pair):
    with Client(shared_pair[0]) as c:
        c.ok("BEGIN")
        c.ok("UPDATE d.t SET v = v + 1 WHERE id = 1")
        c.fails("SET SESSION binlog_format = STATEMENT", 1679)
        c.ok("ROLLBACK")
        c.ok("SET SESSION binlog_format = MIXED")
        c.ok("UPDATE d.t SET v = RAND() * 10 WHERE id = 1")


# ---- percona-toolkit ----


def percona(tool: str, *args: str) -> str:
    if not shutil.which(tool):
        pytest.skip(f"{tool} is not installed")
    done = subprocess.run([tool, *args], capture_output=True, text=True, timeout=300)
    return f"{done.returncode}\n{done.stdout}{done.stderr}"


@pytest.fixture
def shop(lab, own):
    """A source with orders, and its replica, which has one order of its own."""
    source, follower = own(lab.narwal_replica()), own(lab.narwal_replica())
    with Client(source) as c:
        c.ok("CREATE DATABASE shop")
        c.ok("CREATE DATABASE percona")
        c.ok("CREATE TABLE shop.orders (id INT PRIMARY KEY AUTO_INCREMENT, customer VARCHAR(60), total DECIMAL(10,2),"
             " made TIMESTAMP DEFAULT CURRENT_TIMESTAMP, KEY (customer))")  # fmt: skip
        c.ok("USE shop")
        c.ok("INSERT INTO orders (customer, total) SELECT CONCAT('c', seq % 97), seq * 1.5 FROM seq_1_to_5000")
        c.ok("CREATE TABLE percona.dsns (id INT AUTO_INCREMENT PRIMARY KEY, parent_id INT, dsn VARCHAR(255) NOT NULL)")
        c.ok(f"INSERT INTO percona.dsns (dsn) VALUES ('h=127.0.0.1,P={follower.port},u=root')")
    follower.follow(source.port)
    follower.catch_up(source.port, 30)
    dsn = f"h=127.0.0.1,P={source.port},u=root"
    return source, follower, dsn, f"--recursion-method=dsn={dsn},D=percona,t=dsns"


def test_pt_table_checksum_finds_what_differs(shop):
    source, follower, dsn, replicas = shop
    command = ["pt-table-checksum", dsn, "--databases=shop", replicas, "--chunk-size=1000", "--no-check-binlog-format"]
    said = percona(*command)
    assert said.startswith("0\n") and "shop.orders" in said, said
    with Client(follower) as f:
        f.ok("SET sql_log_bin = 0")
        f.ok("UPDATE shop.orders SET total = total + 1 WHERE id = 4000")
    # Bit 4 of the status: a difference was found.
    said = percona(*command)
    assert said.startswith("16\n"), said
    follower.catch_up(source.port, 30)
    with Client(follower) as f:
        different = f.rows("SELECT COUNT(*) FROM percona.checksums WHERE this_crc <> master_crc OR this_cnt <> master_cnt")
        assert different == [("1",)]


def test_pt_online_schema_change_rebuilds_under_triggers(shop):
    source, follower, dsn, replicas = shop
    said = percona("pt-online-schema-change", f"{dsn},D=shop,t=orders", "--alter", "ADD COLUMN note VARCHAR(20) DEFAULT 'x', ADD KEY (made)",
                   "--execute", replicas)  # fmt: skip
    assert said.startswith("0\n") and "Successfully altered" in said, said
    follower.catch_up(source.port, 30)
    for server in (source, follower):
        with Client(server) as c:
            assert c.rows("SELECT COUNT(*), MAX(note) FROM shop.orders") == [("5000", "x")]
            assert "note" in c.rows("SHOW CREATE TABLE shop.orders")[0][1]


def test_pt_archiver_moves_rows(shop):
    source, follower, dsn, _ = shop
    with Client(source) as c:
        c.ok("CREATE TABLE shop.old LIKE shop.orders")
    said = percona("pt-archiver", "--source", f"{dsn},D=shop,t=orders,A=utf8mb4", "--dest", f"{dsn},D=shop,t=old,A=utf8mb4",
                   "--where", "id <= 2000", "--limit", "500", "--commit-each")  # fmt: skip
    assert said.startswith("0\n"), said
    follower.catch_up(source.port, 30)
    for server in (source, follower):
        with Client(server) as c:
            counts = [c.value(f"SELECT COUNT(*) FROM shop.{t}") for t in ("orders", "old")]
            assert [int(n) for n in counts] == [3000, 2000]


def test_pt_heartbeat_tells_the_lag(shop):
    source, follower, dsn, _ = shop
    said = percona("pt-heartbeat", dsn, "-D", "percona", "--update", "--create-table", "--run-time", "2")
    assert said.startswith("0\n"), said
    follower.catch_up(source.port, 30)
    with Client(source) as c:
        server_id = c.value("SELECT @@server_id")
    said = percona("pt-heartbeat", f"h=127.0.0.1,P={follower.port},u=root", "-D", "percona", "--check", f"--master-server-id={server_id}")
    assert said.startswith("0\n") and float(said.split()[1]) >= 0, said
