"""The ways in which a MariaDB replica can be attached: by file and position, in several domains, with filters, through a
chain, over TLS, with little privilege, until a place; and what the primary's own settings change for it."""

from __future__ import annotations

import pytest

from conftest import STAND_IN
from testbed.compare import compare
from testbed.load import Load
from testbed.replica import gtid_position
from support import Client, wait_until


def test_by_file_and_position_and_back_to_gtid(followed, own_replica):
    primary, _ = followed
    replica = own_replica()
    with Client(primary) as client:
        client.ok("CREATE DATABASE positions")
        file, pos = client.rows("SHOW MASTER STATUS")[0][:2]
        replica.query("CREATE DATABASE positions CHARACTER SET utf8mb4")
        replica.query("SET GLOBAL replicate_do_db = 'positions'")
        replica.change_master(primary.port, gtid="no", file=file, pos=int(pos))
        replica.start_slave()
        with Load(primary, "positions", ddl=False) as load:
            load.wait(30)
            client.ok("FLUSH BINARY LOGS")
            load.wait(10)
            replica.stop_slave()
            replica.start_slave()  # where it stands: in the middle of a file
            load.wait(10)
            replica.stop()
            load.wait(10)
            replica.start()
            load.wait(10)
        replica.same(primary.port, databases={"positions"})
        status = replica.slave_status()
        assert status["Using_Gtid"] == "No"
        shown = client.rows("SHOW MASTER STATUS")[0]
        assert (status["Master_Log_File"], str(status["Exec_Master_Log_Pos"])) == tuple(shown[:2])
        replica.stop_slave()
        replica.query("CHANGE MASTER TO MASTER_USE_GTID = slave_pos")
        replica.start_slave()
        with Load(primary, "positions") as load:
            load.wait(20)
        replica.same(primary.port, databases={"positions"})
        assert replica.slave_status()["Using_Gtid"] == "Slave_Pos"
        replica.stop_slave()
        replica.query("CHANGE MASTER TO MASTER_USE_GTID = no")
        replica.start_slave()
        with Load(primary, "positions") as load:
            load.wait(10)
    replica.same(primary.port, databases={"positions"})


@pytest.mark.parametrize("where", ["past the end", "inside an event", "unknown file"])
def test_impossible_positions(followed, own_replica, where):
    primary, _ = followed
    replica = own_replica()
    with Client(primary) as client:
        file, pos = client.rows("SHOW MASTER STATUS")[0][:2]
        at = {"past the end": int(pos) + 1000, "inside an event": int(pos) - 3, "unknown file": 4}[where]
        replica.change_master(primary.port, gtid="no", file="nothing.000077" if where == "unknown file" else file, pos=at)
    replica.start_slave()
    error = replica.wait_error()
    assert "1236" in error, error
    words = {"past the end": "impossible position", "unknown file": "Could not find first log file name in binary log index file"}
    assert words.get(where, "") in error, error


def test_small_files(own_narwal, own_replica):
    """A new file every few transactions: every rotation comes through, by GTID and by position."""
    primary = own_narwal("--max-binlog-size=4096")
    by_gtid, by_position = own_replica(), own_replica()
    by_gtid.follow(primary.port)
    with Client(primary) as client:
        by_position.follow(primary.port, gtid="no", file=client.rows("SHOW BINARY LOGS")[0][0])
    with Load(primary, "small", writers=4) as load:
        load.wait(60)
        for replica in (by_gtid, by_position):
            replica.stop_slave("IO_THREAD")
            replica.start_slave("IO_THREAD")
        load.wait(60)
    assert by_gtid.same(primary.port).checksum == by_position.same(primary.port).checksum
    with Client(primary) as client:
        assert len(client.rows("SHOW BINARY LOGS")) > 20


def test_domains(followed):
    """Transactions of several domains, in several sessions; a replica resumes in the middle of all of them."""
    primary, replica = followed
    with Client(primary) as client:
        for domain in (3, 7):
            client.ok(f"CREATE DATABASE domain_{domain}")
        replica.catch_up(primary.port)
        replica.stop_slave()
        replica.query("SET GLOBAL slave_parallel_threads = 4, GLOBAL slave_domain_parallel_threads = 2")
        replica.start_slave()
        clients = {domain: Client(primary, database=f"domain_{domain}") for domain in (3, 7)}
        for domain, c in clients.items():
            c.ok(f"SET gtid_domain_id = {domain}")
            c.ok("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
        for n in range(120):
            clients[3 if n % 3 else 7].ok(f"INSERT INTO t VALUES ({n}, {n})")
            if n % 20 == 5:
                replica.stop_slave()
                replica.start_slave()
            if n % 50 == 7:
                client.ok("FLUSH BINARY LOGS")
        clients[7].ok("SET gtid_seq_no = 5000")
        clients[7].ok("UPDATE t SET v = v + 1")
        clients[3].ok("UPDATE t SET v = v + 1")
        for c in clients.values():
            c.close()
    replica.same(primary.port)
    assert sorted(g.split("-")[0] for g in replica.position().split(",")) == ["0", "3", "7"]
    assert sorted(replica.position().split(",")) == sorted(gtid_position(primary.port).split(","))
    replica.stop_slave()
    replica.query("SET GLOBAL slave_parallel_threads = 0, GLOBAL slave_domain_parallel_threads = 0")
    replica.start_slave()


def test_strict_mode_and_positions_of_nowhere(own_narwal, own_replica):
    primary, replica = own_narwal(), own_replica("--gtid-strict-mode=1", log=True)
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY)")
        replica.follow(primary.port)
        client.ok("INSERT INTO d.t VALUES (1)")
        replica.same(primary.port)
        replica.stop_slave()
        # Beyond the end.
        replica.query("RESET MASTER")
        replica.query("SET GLOBAL gtid_slave_pos = '0-1-999'")
        replica.start_slave()
        error = replica.wait_error()
        assert "1236" in error and "0-1-999, which is not in the master's binlog" in error, error
        # A transaction of its own.
        replica.stop_slave()
        replica.query("SET GLOBAL gtid_slave_pos = '0-77-2'")
        replica.start_slave()
        error = replica.wait_error()
        assert "1236" in error and "which is not in the master's binlog" in error, error
        replica.stop_slave()
        replica.query("SET GLOBAL gtid_slave_pos = '0-1-3'")
        replica.start_slave()
        client.ok("INSERT INTO d.t VALUES (2)")
        replica.same(primary.port)
        # Numbers that jump are in order.
        client.ok("SET gtid_seq_no = 100")
        client.ok("INSERT INTO d.t VALUES (3)")
        client.ok("INSERT INTO d.t VALUES (4)")
    replica.same(primary.port)
    assert replica.position() == "0-1-101"


def test_filters(followed, own_replica):
    """A replica that applies a part: by database, by table, by pattern; its position moves over the rest."""
    primary, replica = followed
    with Client(primary) as client:
        for name in ("taken", "omitted"):
            client.ok(f"CREATE DATABASE {name}")
    replica.catch_up(primary.port)
    replica.stop_slave()
    replica.query("SET GLOBAL replicate_do_db = 'taken', GLOBAL replicate_ignore_table = 'taken.load_none', GLOBAL replicate_wild_ignore_table = 'taken.load\\_u%'")
    replica.start_slave()
    try:
        with Load(primary, "taken", ddl=False) as one, Load(primary, "omitted", ddl=False, seed=2):
            one.wait(40)
            with Client(primary, database="omitted") as client:
                client.ok("CREATE TABLE omitted_only (id INT PRIMARY KEY)")
                client.ok("USE taken")
                client.ok("CREATE TABLE also_taken (id INT PRIMARY KEY)")
                client.ok("BEGIN")
                client.ok("INSERT INTO also_taken VALUES (1)")
                client.ok("INSERT INTO omitted.omitted_only VALUES (1)")
                client.ok("COMMIT")
        found = replica.same(primary.port, databases={"taken"}, leave_out={"taken.load_none", "taken.load_uk"})
        assert found.tables == 7
        assert replica.position() == gtid_position(primary.port)
        assert replica.query("SHOW TABLES FROM omitted") == []
    finally:
        replica.stop_slave()
        replica.query("SET GLOBAL replicate_do_db = '', GLOBAL replicate_ignore_table = '', GLOBAL replicate_wild_ignore_table = ''")
        with Client(primary) as client:
            for name in ("taken", "omitted"):
                client.ok(f"DROP DATABASE {name}")
        replica.start_slave()
    replica.same(primary.port)


def test_chain_and_switch_over(own_narwal, own_replica):
    """A replica of a replica; in the end the last one follows the primary itself, where its GTIDs say."""
    primary = own_narwal()
    middle, last = own_replica(log=True), own_replica(log=True)
    middle.follow(primary.port)
    last.follow(middle.port)
    with Load(primary, "chain") as load:
        load.wait(40)
        last.stop_slave()
        last.change_master(primary.port)
        last.start_slave()
        load.wait(20)
    middle.same(primary.port)
    last.same(primary.port)
    assert middle.query("SELECT @@gtid_binlog_pos") == last.query("SELECT @@gtid_binlog_pos") == [(gtid_position(primary.port),)]
    assert not compare(middle.port, last.port).differences


def test_compressed_columns_and_keys_of_hashes(own_narwal, own_replica, own_narwal_replica):
    """Values of COMPRESSED columns come as MariaDB has them, and rows without a primary key are found by the hashes of their long
    unique keys. A Narwal behind that MariaDB has the same, and a restart of the source changes nothing."""
    primary = own_narwal()
    middle, last = own_replica(log=True), own_narwal_replica()
    middle.follow(primary.port)
    last.follow(middle.port)
    with Client(primary) as c:
        c.ok("CREATE DATABASE h")
        c.ok("USE h")
        c.ok("CREATE TABLE c (id INT, v VARCHAR(255) CHARACTER SET latin1 COMPRESSED, w VARBINARY(300) COMPRESSED, t TINYTEXT COMPRESSED, m MEDIUMBLOB COMPRESSED)")
        c.ok("INSERT INTO c VALUES (1, 'a', 'b', '', NULL), (2, REPEAT('x', 255), REPEAT('y', 300), REPEAT('z', 254), REPEAT('m', 70000))")
        c.ok("UPDATE c SET v = CONCAT('ä', SUBSTRING(v, 1, 9)), m = 'new' WHERE id = 2")
        c.ok("ALTER TABLE c MODIFY v VARCHAR(255) CHARACTER SET latin1, ADD n TEXT COMPRESSED DEFAULT 'n'")
        c.ok("INSERT INTO c (id, v) VALUES (3, 'plain')")
        c.ok("DELETE FROM c WHERE id = 1")
        c.ok("CREATE TABLE k (a INT, b TEXT CHARACTER SET utf8mb4, c BLOB, d VARCHAR(20) CHARACTER SET latin1, UNIQUE (b), UNIQUE (c, a), UNIQUE (d) USING HASH)")
        c.ok("INSERT INTO k SELECT seq, CONCAT('Straße ', seq), REPEAT(CHAR(seq + 60), 40), CONCAT('Zähler', seq) FROM seq_1_to_40")
        c.ok("INSERT INTO k VALUES (NULL, NULL, NULL, NULL), (NULL, 'nothing', NULL, NULL)")
        c.ok("UPDATE k SET b = CONCAT(b, ' 😀'), a = a + 100 WHERE a % 3 = 0")
        c.ok("DELETE FROM k WHERE a % 5 = 0 OR b = 'nothing'")
        primary.kill()
    primary.start()
    with Client(primary) as c:
        c.ok("USE h")
        c.ok("UPDATE k SET d = UPPER(d) WHERE a < 20")
        c.ok("ALTER TABLE k DROP INDEX c, ADD e DATE DEFAULT '2001-02-03', ADD UNIQUE (e, b)")
        c.ok("DELETE FROM k WHERE a > 30")
        c.ok("UPDATE c SET v = 'last', t = 'last'")
        assert c.rows("SELECT a FROM k WHERE a > 1")
    middle.same(primary.port)
    last.catch_up(middle.port, 30)
    assert not compare(primary.port, last.port).differences


def test_until(followed):
    primary, replica = followed
    with Client(primary) as client:
        client.ok("CREATE DATABASE until")
        client.ok("CREATE TABLE until.t (id INT PRIMARY KEY)")
        replica.catch_up(primary.port)
        replica.stop_slave()
        for n in range(10):
            client.ok(f"INSERT INTO until.t VALUES ({n})")
            if n == 4:
                place = gtid_position(primary.port)
        replica.start_slave(f"UNTIL master_gtid_pos = '{place}'")
        replica.wait_applied(place)
        wait_until(lambda: replica.slave_status()["Slave_SQL_Running"] == "No", replica.explain)
        assert replica.query("SELECT COUNT(*) FROM until.t") == [(5,)]
        replica.stop_slave()
        replica.start_slave()
    replica.same(primary.port)


def test_tls_and_privileges(followed, own_replica):
    primary, _ = followed
    replica = own_replica()
    with Client(primary) as client:
        client.ok("CREATE USER IF NOT EXISTS repl@'%' IDENTIFIED BY 'pass word', nobody@'%' IDENTIFIED BY 'x'")
        client.ok("GRANT REPLICATION SLAVE ON *.* TO repl@'%'")
        if not STAND_IN:  # the stand-in has no certificate
            client.ok("ALTER USER repl@'%' REQUIRE SSL")
            replica.change_master(primary.port, user="repl", password="pass word")
            replica.start_slave()
            wait_until(lambda: replica.slave_status()["Last_IO_Errno"] == 1045, replica.explain)
            replica.stop_slave()
        replica.change_master(primary.port, user="nobody", password="x")
        replica.start_slave()
        # It tries again and again, and between two attempts it tells no error.
        wait_until(lambda: "Access denied" in replica.slave_status()["Last_IO_Error"], replica.explain)
        replica.stop_slave()
        replica.query(f"SET GLOBAL gtid_slave_pos = '{gtid_position(primary.port)}'")
        replica.change_master(primary.port, user="repl", password="pass word", **({} if STAND_IN else {"ssl": 1}))
        replica.start_slave()
        client.ok("CREATE DATABASE tls")
        with Load(primary, "tls", ddl=False) as load:
            load.wait(20)
        assert replica.same(primary.port, databases={"tls"}).tables == 8
        for user in ("repl", "nobody"):
            client.ok(f"DROP USER {user}@'%'")


@pytest.mark.parametrize("setting", ["binlog_annotate_row_events = OFF", "binlog_row_metadata = NO_LOG", "binlog_row_metadata = MINIMAL",
                                     "binlog_row_image = MINIMAL"])  # fmt: skip
def test_settings_of_the_primary(followed, setting):
    primary, replica = followed
    name = setting.split(" ")[0]
    with Client(primary) as client:
        before = client.value(f"SELECT @@GLOBAL.{name}")
        client.ok(f"SET GLOBAL {setting}")
        try:
            with Load(primary, "settings", writers=2) as load:
                load.wait(20)
                replica.stop_slave("IO_THREAD")
                replica.start_slave("IO_THREAD")
                load.wait(20)
        finally:
            client.ok(f"SET GLOBAL {name} = '{before}'" if not before.isdigit() else f"SET GLOBAL {name} = {before}")
        client.ok("CREATE DATABASE IF NOT EXISTS after_setting")
    replica.same(primary.port)


def test_not_logged_and_ignored_duplicates(followed):
    """What is not in the binary log is not on the replica, though it is in the same log as the rest."""
    primary, replica = followed
    replica.stop_slave()
    replica.query("SET GLOBAL gtid_ignore_duplicates = 1")
    replica.start_slave()
    with Client(primary) as client:
        client.ok("CREATE DATABASE unlogged")
        client.ok("USE unlogged")
        client.ok("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(2000))")
        client.ok("INSERT INTO t VALUES (1, 'logged')")
        client.ok("SET sql_log_bin = 0")
        client.ok("INSERT INTO t VALUES " + ", ".join(f"({i}, REPEAT('x', 2000))" for i in range(2, 1000)))
        client.ok("CREATE TABLE only_here (id INT PRIMARY KEY)")
        client.ok("SET sql_log_bin = 1")
        client.ok("INSERT INTO t VALUES (1001, 'logged')")
        replica.catch_up(primary.port)
        assert replica.query("SELECT id, v FROM unlogged.t") == [(1, "logged"), (1001, "logged")]
        assert replica.query("SHOW TABLES FROM unlogged") == [("t",)]
        client.ok("SET sql_log_bin = 0")
        client.ok("DROP TABLE only_here")
        client.ok("DELETE FROM t WHERE id BETWEEN 2 AND 999")
    replica.stop_slave()
    replica.query("SET GLOBAL gtid_ignore_duplicates = 0")
    replica.start_slave()
    replica.same(primary.port)


def test_semi_synchronous_replica(own_narwal, own_replica):
    """Two replicas that acknowledge, one of them killed: commits go on, and all are equal at the end."""
    primary = own_narwal("--rpl-semi-sync-master-enabled=1", "--rpl-semi-sync-master-timeout=10000")
    replicas = [own_replica(semi_sync=True), own_replica(semi_sync=True)]
    for replica in replicas:
        replica.follow(primary.port)
    with Client(primary) as client:
        for point in ("AFTER_SYNC", "AFTER_COMMIT"):
            client.ok(f"SET GLOBAL rpl_semi_sync_master_wait_point = {point}")
            with Load(primary, "semi") as load:
                load.wait(20)
                replicas[0].kill()
                load.wait(20)
                replicas[0].start()
                load.wait(20)
                replicas[1].stop_slave()
                replicas[1].start_slave()
                load.wait(10)
            for replica in replicas:
                replica.same(primary.port)
        yes, no = (int(client.rows(f"SHOW STATUS LIKE 'Rpl_semi_sync_master_{n}_tx'")[0][1]) for n in ("yes", "no"))
        assert yes > 20, (yes, no)
