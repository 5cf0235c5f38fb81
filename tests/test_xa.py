"""XA transactions: what is prepared outlives its connection, kill -9 and checkpoints, with its locks; it stands in the log as
replicas expect; MariaDB and Narwal end equal whichever of them is the source."""

from __future__ import annotations

import random
import threading
import time

import pytest

from conftest import COMMON, PRIMARY, STAND_IN
from support import Client, wait_until
from test_check import check

pytestmark = pytest.mark.skipif(STAND_IN, reason="compares with MariaDB where that says something")

BINLOG = ["--log-bin=bin", "--binlog-format=ROW", "--sync-binlog=1"]


def tables(client: Client, db: str) -> None:
    client.ok(f"CREATE DATABASE {db}")
    client.ok(f"USE {db}")
    client.ok("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, u INT, v VARCHAR(20), UNIQUE KEY (u), KEY (v))")
    client.ok("CREATE TABLE bare (v INT)")
    client.ok("CREATE TABLE p (id INT PRIMARY KEY)")
    client.ok("CREATE TABLE c (id INT PRIMARY KEY, pid INT, FOREIGN KEY (pid) REFERENCES p (id))")
    client.ok("INSERT INTO t VALUES (1, 1, 'one'), (2, 2, 'two'), (3, 3, 'three')")
    client.ok("INSERT INTO bare VALUES (1), (2), (3)")
    client.ok("INSERT INTO p VALUES (1), (2)")


def prepare(client: Client, xid: str, *statements: str) -> None:
    client.ok(f"XA START {xid}")
    for sql in statements:
        client.ok(sql)
    client.ok(f"XA END {xid}")
    client.ok(f"XA PREPARE {xid}")


CHANGES = (
    "INSERT INTO t (u, v) VALUES (10, 'ten'), (11, 'eleven')",
    "UPDATE t SET u = 20, v = 'changed' WHERE id = 1",
    "DELETE FROM t WHERE id = 2",
    "INSERT INTO bare VALUES (4)",
    "UPDATE bare SET v = 30 WHERE v = 3",
    "DELETE FROM bare WHERE v = 1",
    "INSERT INTO c VALUES (1, 1)",
)
AFTER = (
    [("1", "20", "changed"), ("3", "3", "three"), ("4", "10", "ten"), ("5", "11", "eleven")],
    [("2",), ("4",), ("30",)],
    [("1", "1")],
)
BEFORE = ([("1", "1", "one"), ("2", "2", "two"), ("3", "3", "three")], [("1",), ("2",), ("3",)], [])


def content(client: Client):
    return tuple(
        [tuple(v.decode() if isinstance(v, bytes) else str(v) for v in row) for row in client.rows(sql)]
        for sql in ("SELECT * FROM t ORDER BY id", "SELECT * FROM bare ORDER BY v", "SELECT * FROM c ORDER BY id")
    )


def names(client: Client) -> set[str]:
    return {row[3].decode() if isinstance(row[3], bytes) else row[3] for row in client.rows("XA RECOVER FORMAT='SQL'")}


def locked(client: Client) -> None:
    """Everything that CHANGES has touched is locked: rows, unique values given up and taken, the parent, definitions."""
    client.ok("SET innodb_lock_wait_timeout = 1, lock_wait_timeout = 1")
    for sql in (
        "UPDATE t SET v = 'x' WHERE id = 1",
        "DELETE FROM t WHERE id = 2",
        "INSERT INTO t VALUES (5, 99, 'x')",
        "INSERT INTO t VALUES (90, 1, 'x')",
        "INSERT INTO t VALUES (90, 20, 'x')",
        "INSERT INTO t VALUES (90, 2, 'x')",
        "INSERT INTO t VALUES (90, 11, 'x')",
        "DELETE FROM bare WHERE v = 3",
        "DELETE FROM p WHERE id = 1",
        "ALTER TABLE t ADD COLUMN w INT",
        "DROP TABLE bare",
    ):
        assert client.run(sql).error == 1205, sql
    client.ok("UPDATE t SET v = 'three' WHERE id = 3")
    client.ok("DELETE FROM p WHERE id = 2")
    client.ok("INSERT INTO p VALUES (2)")


@pytest.mark.parametrize("image", ["FULL", "MINIMAL"])
@pytest.mark.parametrize("commit", [True, False], ids=["commit", "rollback"])
def test_prepared_survives_kills_and_checkpoints(own_narwal, commit, image):
    server = own_narwal(f"--binlog-row-image={image}")
    with Client(server) as client:
        tables(client, "x")
        prepare(client, "'one','b',7", *CHANGES)
    for stop in (server.kill, server.stop, server.kill):
        with Client(server) as client:
            client.ok("USE x")
            wait_until(lambda: names(client) == {"'one','b',7"}, lambda _: str(names(client)))
            assert content(client) == BEFORE
            locked(client)
            # Commits of others around it, and what they have in the log.
            client.ok("INSERT INTO p VALUES (100)")
            client.ok("DELETE FROM p WHERE id = 100")
        stop()
        assert "no damage" in check(server).stdout
        server.start()
    with Client(server) as client:
        client.ok("USE x")
        assert client.run("XA COMMIT 'nope'").error == 1397
        client.ok(f"XA {'COMMIT' if commit else 'ROLLBACK'} 'one','b',7")
        assert client.run("XA COMMIT 'one','b',7").error == 1397
        assert content(client) == (AFTER if commit else BEFORE)
    server.kill()
    assert "no damage" in check(server).stdout
    server.start()
    with Client(server) as client:
        client.ok("USE x")
        assert content(client) == (AFTER if commit else BEFORE)
        assert names(client) == set()
        client.ok("INSERT INTO t (u) VALUES (50)")
        assert int(client.value("SELECT id FROM t WHERE u = 50")) > 5
        client.ok("ALTER TABLE t ADD COLUMN w INT")


def test_a_large_one_goes_through_chunks_and_runs(own_narwal):
    server = own_narwal("--binlog-oob-threshold=65536", "--narwal-transaction-memory=1048576")
    with Client(server) as client:
        client.ok("CREATE DATABASE x")
        client.ok("USE x")
        client.ok("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(200), KEY (v))")
        client.ok("XA START 'large'")
        for n in range(20):
            values = ", ".join(f"({n * 500 + i}, REPEAT('{n % 10}', 190))" for i in range(500))
            client.ok(f"INSERT INTO t VALUES {values}")
        client.ok("XA END 'large'")
        client.ok("XA PREPARE 'large'")
    for _ in range(2):
        server.kill()
        server.start()
        with Client(server) as client:
            client.ok("USE x")
            assert client.value("SELECT COUNT(*) FROM t") == "0"
            client.ok("SET innodb_lock_wait_timeout = 1")
            assert client.run("INSERT INTO t VALUES (9999, '')").error == 1205
    with Client(server) as client:
        client.ok("USE x")
        client.ok("XA COMMIT 'large'")
        assert client.value("SELECT COUNT(*) FROM t") == "10000"
    server.kill()
    server.start()
    with Client(server) as client:
        client.ok("USE x")
        assert client.rows("SELECT COUNT(*), MIN(id), MAX(id) FROM t") in ([(10000, 0, 9999)], [("10000", "0", "9999")])
    assert server.kill() or "no damage" in check(server).stdout


def test_purge_and_reset_keep_what_is_prepared(own_narwal):
    server = own_narwal()
    with Client(server) as client:
        tables(client, "x")
        prepare(client, "'kept'", "UPDATE t SET v = 'kept' WHERE id = 1")
    with Client(server) as client:
        client.ok("USE x")
        client.ok("CREATE TABLE much (v LONGTEXT)")
        for _ in range(8):
            client.ok("INSERT INTO much VALUES (REPEAT('m', 1000000))")
        client.ok("FLUSH BINARY LOGS")
        client.ok("RESET MASTER")
    server.stop()
    server.start()
    server.kill()
    server.start()
    with Client(server) as client:
        client.ok("USE x")
        client.ok("XA COMMIT 'kept'")
        assert client.value("SELECT v FROM t WHERE id = 1") == "kept"


def test_one_connection_is_enough_to_lose_and_to_find_it(narwal_server, db):
    with Client(narwal_server) as a, Client(narwal_server) as b:
        a.ok(f"USE {db}")
        b.ok(f"USE {db}")
        a.ok("CREATE TABLE t (id INT PRIMARY KEY)")
        # Not prepared: gone.
        a.ok("XA START 'gone'")
        a.ok("INSERT INTO t VALUES (1)")
        assert b.run("XA START 'gone'").error == 1440
        a.close()
        wait_until(lambda: not b.run("XA START 'gone'").error, lambda _: "the name is still taken")
        b.ok("XA END 'gone'")
        b.ok("XA ROLLBACK 'gone'")
        # Prepared: its connection's alone, then everybody's.
        c = Client(narwal_server)
        c.ok(f"USE {db}")
        prepare(c, "'found'", "INSERT INTO t VALUES (2)")
        assert b.run("XA COMMIT 'found'").error == 1397
        assert names(b) == {"'found'"}
        c.close()
        wait_until(lambda: not b.run("XA COMMIT 'found'").error, lambda _: "it can't be taken")
        assert b.value("SELECT COUNT(*) FROM t") == "1"
        # Locks alone end with the connection, the name does not.
        d = Client(narwal_server)
        d.ok(f"USE {db}")
        prepare(d, "'locks'", "SELECT * FROM t WHERE id = 2 FOR UPDATE")
        b.ok("SET innodb_lock_wait_timeout = 1")
        assert b.run("DELETE FROM t").error == 1205
        d.close()
        wait_until(lambda: not b.run("DELETE FROM t").error, lambda _: "its lock stays")
        assert names(b) == {"'locks'"}
        assert b.run("XA COMMIT 'locks'").error == 1402
        assert names(b) == set()


def test_a_deadlock_leaves_nothing_but_a_rollback(narwal_server, db):
    with Client(narwal_server) as a, Client(narwal_server) as b:
        a.ok(f"USE {db}")
        b.ok(f"USE {db}")
        a.ok("CREATE TABLE t (id INT PRIMARY KEY, v INT)")
        a.ok("INSERT INTO t VALUES (1, 1), (2, 2)")
        a.ok("XA START 'a'")
        b.ok("BEGIN")
        a.ok("UPDATE t SET v = 10 WHERE id = 1")
        b.ok("UPDATE t SET v = 20 WHERE id = 2")
        waiting = b.background("UPDATE t SET v = 20 WHERE id = 1")
        assert waiting.blocked()
        assert a.run("UPDATE t SET v = 10 WHERE id = 2").error == 1213
        waiting.ok()
        for refused in ("INSERT INTO t VALUES (3, 3)", "SELECT * FROM t", "BEGIN", "COMMIT", "XA END 'a'", "XA START 'b'"):
            assert a.run(refused).error == 1399, refused
        assert a.run("XA PREPARE 'a'").error == 1399
        b.ok("COMMIT")
        a.ok("XA ROLLBACK 'a'")
        assert a.rows("SELECT COUNT(*), SUM(v) FROM t") in ([(2, 40)], [("2", "40")])
        a.ok("XA START 'a'")
        b.ok("BEGIN")
        a.ok("UPDATE t SET v = 10 WHERE id = 1")
        b.ok("UPDATE t SET v = 20 WHERE id = 2")
        waiting = b.background("UPDATE t SET v = 20 WHERE id = 1")
        assert waiting.blocked()
        assert a.run("UPDATE t SET v = 10 WHERE id = 2").error == 1213
        waiting.ok()
        assert a.run("XA COMMIT 'a'").error == 1614
        b.ok("COMMIT")
        assert a.run("XA ROLLBACK 'a'").error == 1397


def history(client: Client, db: str) -> None:
    """XA transactions of all fates, with other transactions between their two halves."""
    tables(client, db)
    for n, end in enumerate(("COMMIT", "ROLLBACK", "COMMIT")):
        key = n * 100 + 1000
        prepare(
            client,
            f"'{db}{n}','q''q',{n + 1}",
            f"INSERT INTO t VALUES ({key}, {key}, 'p'), ({key + 1}, {key + 1}, 'p')",
            f"UPDATE t SET v = 'xa{n}' WHERE id = 1",
            f"INSERT INTO c VALUES ({key}, 1)",
            f"DELETE FROM bare WHERE v = {n + 1}",
        )
        with Client(client.server) as other:
            other.ok(f"USE {db}")
            other.ok(f"INSERT INTO t VALUES ({key + 2}, {key + 2}, 'between')")
            other.ok(f"UPDATE t SET v = 'between{n}' WHERE id = 3")
        client.ok(f"XA {end} '{db}{n}','q''q',{n + 1}")
        client.ok("UPDATE t SET v = CONCAT(v, '+') WHERE id = 1")
    client.ok("XA START X'00ff'")
    client.ok("INSERT INTO t VALUES (5000, 5000, 'one phase')")
    client.ok("XA END X'00ff'")
    client.ok("XA COMMIT X'00ff' ONE PHASE")


def test_a_mariadb_replica_ends_equal(followed):
    primary, replica = followed
    with Client(primary) as client:
        history(client, "xa_out")
    assert replica.same(primary.port, databases={"xa_out"}).tables == 4
    with Client(primary) as client:
        client.ok("USE xa_out")
        prepare(client, "'doubt'", "UPDATE t SET v = 'doubt' WHERE id = 2")
    replica.catch_up(primary.port, 20)
    with Client(replica) as theirs, Client(primary) as mine:
        assert names(theirs) == {"'doubt'"}
        mine.ok("XA COMMIT 'doubt'")
    assert replica.same(primary.port, databases={"xa_out"}).tables == 4


@pytest.mark.parametrize("kind", ["mariadb", "narwal"])
def test_a_narwal_replica_ends_equal(lab, own, own_narwal_replica, kind):
    if kind == "mariadb":
        source = own(lab.replica([*COMMON, *BINLOG, *PRIMARY], log=True))
    else:
        source = own(lab.narwal_replica([*PRIMARY]))
    replica = own_narwal_replica(*PRIMARY)
    replica.follow(source.port)
    with Client(source) as client:
        history(client, "xa_in")
        prepare(client, "'doubt'", "UPDATE t SET v = 'doubt' WHERE id = 2", "INSERT INTO c VALUES (7, 2)")
    replica.catch_up(source.port, 20)
    for again in (False, True):
        with Client(replica) as client:
            client.ok("USE xa_in")
            assert names(client) == {"'doubt'"}
            assert client.value("SELECT v FROM t WHERE id = 2") == "two"
            client.ok("SET innodb_lock_wait_timeout = 1")
            assert client.run("UPDATE t SET v = 'mine' WHERE id = 2").error == 1205
        if not again:
            replica.kill()
            replica.start()
    with Client(source) as client:
        client.ok("XA COMMIT 'doubt'")
        client.ok("UPDATE xa_in.t SET v = CONCAT(v, '!') WHERE id = 2")
    replica.catch_up(source.port, 20)
    with Client(replica) as mine, Client(source) as theirs:
        for table in ("t", "c", "p"):
            sql = f"SELECT * FROM xa_in.{table} ORDER BY id"
            assert mine.rows(sql) == theirs.rows(sql)
        assert mine.rows("SELECT v FROM xa_in.bare ORDER BY v") == theirs.rows("SELECT v FROM xa_in.bare ORDER BY v")
        assert names(mine) == set()


def events(client: Client, file: str) -> list[tuple[str, str]]:
    keep = []
    for row in client.rows(f"SHOW BINLOG EVENTS IN '{file}'"):
        kind, info = (v.decode() if isinstance(v, bytes) else v for v in (row[2], row[5]))
        if kind in ("Gtid", "Query", "XA_prepare", "Xid", "Annotate_rows", "Write_rows_v1", "Update_rows_v1", "Delete_rows_v1"):
            keep.append((kind, info.split(" GTID ")[0].split("GTID ")[0].split("/*")[0].split("table_id")[0]))
    return keep


def test_the_log_says_what_mariadbs_says(lab, own):
    servers = [own(lab.narwal()), own(lab.mariadb(["--log-bin=narwal-bin", "--binlog-format=ROW"]))]
    logs = []
    for server in servers:
        with Client(server) as client:
            history(client, "xa_log")
            client.ok("FLUSH LOGS")
            file = client.rows("SHOW BINARY LOGS")[-2][0]
            file = file.decode() if isinstance(file, bytes) else file
            logs.append([e for e in events(client, file) if "CREATE" not in e[1]])
    assert logs[0] == logs[1]


def test_in_doubt_after_kills(own_narwal):
    """Transfers between accounts in XA transactions of several connections while the server is killed: after each start all in
    doubt are resolved one way or the other, and no money is made or lost. What was answered stands."""
    server = own_narwal()
    accounts, workers = 40, 4
    with Client(server) as client:
        client.ok("CREATE DATABASE bank")
        client.ok("CREATE TABLE bank.a (id INT PRIMARY KEY, v INT)")
        client.ok("CREATE TABLE bank.done (x VARCHAR(40) PRIMARY KEY)")
        client.ok("INSERT INTO bank.a VALUES " + ", ".join(f"({i}, 100)" for i in range(accounts)))
    numbers = iter(range(1 << 30))
    committed: set[str] = set()
    rolled_back: set[str] = set()
    prepared: set[str] = set()
    unsure: set[str] = set()
    guard = threading.Lock()

    def work(seed: int, until: float) -> None:
        rng = random.Random(seed)
        try:
            with Client(server) as c:
                c.ok("SET innodb_lock_wait_timeout = 1")
                while time.time() < until:
                    with guard:
                        x = f"t{next(numbers)}"
                    one, two = sorted(rng.sample(range(accounts), 2))
                    c.ok(f"XA START '{x}'")
                    failed = any(
                        c.run(sql).error
                        for sql in (
                            f"UPDATE bank.a SET v = v - 1 WHERE id = {one}",
                            f"UPDATE bank.a SET v = v + 1 WHERE id = {two}",
                            f"INSERT INTO bank.done VALUES ('{x}')",
                        )
                    )
                    if c.run(f"XA END '{x}'").error or failed:
                        c.ok(f"XA ROLLBACK '{x}'")
                        continue
                    unsure.add(x)
                    c.ok(f"XA PREPARE '{x}'")
                    prepared.add(x)
                    if rng.random() < 0.2:
                        c.ok(f"XA ROLLBACK '{x}'")
                        rolled_back.add(x)
                    else:
                        c.ok(f"XA COMMIT '{x}'")
                        committed.add(x)
                    unsure.discard(x)
        except Exception:  # the server is killed under it
            return

    seen = 0
    for round_ in range(4):
        threads = [threading.Thread(target=work, args=(round_ * 10 + i, time.time() + 2.0)) for i in range(workers)]
        for t in threads:
            t.start()
        time.sleep(random.uniform(0.6, 1.6))
        server.kill()
        for t in threads:
            t.join()
        assert "no damage" in check(server).stdout
        server.start()
        with Client(server) as client:
            doubt = {n.strip("'") for n in names(client)}
            seen += len(doubt)
            assert doubt <= unsure
            done = {r[0].decode() if isinstance(r[0], bytes) else r[0] for r in client.rows("SELECT x FROM bank.done")}
            assert not done & doubt, "it is in doubt, and seen"
            assert committed <= done
            assert not rolled_back & done
            # Prepared and neither in doubt nor ended by an answer: its end was on its way.
            for n, x in enumerate(sorted(doubt)):
                end = "COMMIT" if n % 2 else "ROLLBACK"
                client.ok(f"XA {end} '{x}'")
                (committed if n % 2 else rolled_back).add(x)
            unsure.clear()
            assert names(client) == set()
            assert client.value("SELECT SUM(v) FROM bank.a") in (str(accounts * 100), accounts * 100)
            done = {r[0].decode() if isinstance(r[0], bytes) else r[0] for r in client.rows("SELECT x FROM bank.done")}
            assert committed <= done and not rolled_back & done
    assert len(committed) > 20
    print(f"{len(committed)} committed, {len(rolled_back)} rolled back, {seen} were in doubt")
