"""Semi-synchronous replication: what each wait point promises, time-outs, the replicas it counts, and the promotion of a
replica after the primary's end."""

from __future__ import annotations

import os
import random
import re
import threading
import time

import pytest
from support import Client, Failure

from testbed.wire import Connection, Lost, SqlError

ON = ("--rpl-semi-sync-master-enabled=ON", "--rpl-semi-sync-master-wait-point=AFTER_SYNC")
# Longer than any test: what waits, waits for an acknowledgement.
PATIENT = "--rpl-semi-sync-master-timeout=600000"
PREFIX = "Rpl_semi_sync_master_"


def status(client: Client) -> dict[str, str]:
    """The status variables without their prefix, as numbers where they are."""
    rows = client.rows(f"SHOW GLOBAL STATUS LIKE '{PREFIX}%'")
    return {n[len(PREFIX) :]: int(v) if v.isdigit() else v for n, v in rows}


def client(server) -> Client:
    return Client(server, read_timeout=30)


def until(what, seconds: float = 20):
    """Waits until `what()` is true, and returns it."""
    end = time.monotonic() + seconds
    while not (found := what()):
        if time.monotonic() > end:
            raise Failure("it does not come true")
        time.sleep(0.01)
    return found


class Fake:
    """A replica that takes events and acknowledges when it is told to."""

    def __init__(self, server, server_id: int, gtids: str = "", semi_sync: bool = True):
        self.c = Connection(server.port, timeout=30)
        self.semi_sync = semi_sync
        for name, value in {
            "master_binlog_checksum": "@@global.binlog_checksum", "mariadb_slave_capability": "4",
            "slave_connect_state": f"'{gtids}'", "slave_gtid_strict_mode": "0", "slave_gtid_ignore_duplicates": "0",
            "rpl_semi_sync_slave": "1" if semi_sync else "0",
        }.items():  # fmt: skip
            self.c.query(f"SET @{name}= {value}")
        self.c.register(server_id)
        self.c.start_dump(server_id=server_id)
        self.file = ""

    def wanted(self) -> tuple[str, int]:
        """Reads on until an acknowledgement is wanted; the place."""
        while True:
            event = self.c.event(semi_sync=self.semi_sync)
            assert event is not None, "the dump has ended"
            if event.type == 4:
                self.file = event.rotate()[0]
            if event.ack_wanted:
                return self.file, event.end

    def acknowledge(self) -> tuple[str, int]:
        """Acknowledges the next group that wants it."""
        place = self.wanted()
        self.c.acknowledge(*place)
        return place

    def end(self) -> str:
        """Reads on to the end; the error's text if it is one."""
        try:
            while self.c.event(semi_sync=self.semi_sync):
                pass
        except SqlError as e:
            return str(e)
        except Lost:
            pass
        return ""

    def close(self) -> None:
        self.c.drop()


@pytest.fixture
def fake():
    made = []

    def make(*args, **options) -> Fake:
        made.append(Fake(*args, **options))
        return made[-1]

    yield make
    for f in made:
        f.close()


def gtids(client: Client) -> str:
    return client.value("SELECT @@gtid_binlog_pos") or ""


@pytest.fixture(scope="module")
def _primary(lab):
    server = lab.narwal()
    yield server
    lab.remove(server)


@pytest.fixture
def primary(_primary):
    """A primary with table s.t (id), semi-synchronous replication off and every setting at its default; a client."""
    with client(_primary) as c:
        for name, value in (("enabled", "OFF"), ("timeout", "10000"), ("wait_point", "AFTER_COMMIT"), ("wait_no_slave", "ON"),
                            ("wait_for_slave_count", "1")):  # fmt: skip
            c.ok(f"SET GLOBAL rpl_semi_sync_master_{name}={value}")
        c.ok("CREATE DATABASE IF NOT EXISTS s")
        c.ok("DROP TABLE IF EXISTS s.t, s.u")
        c.ok("CREATE TABLE s.t (id INT PRIMARY KEY, v INT) ENGINE=InnoDB")
        until(lambda: status(c)["clients"] == 0)
        yield c


def enable(c: Client, **settings) -> None:
    for name, value in settings.items():
        c.ok(f"SET GLOBAL rpl_semi_sync_master_{name}={value}")
    c.ok("SET GLOBAL rpl_semi_sync_master_enabled=ON")


# -- names -----------------------------------------------------------------------------------------------------------


def test_variables_and_status_are_mariadbs(narwal, mariadb):
    with Client(narwal) as ours, Client(mariadb) as theirs:
        show = "SHOW GLOBAL VARIABLES LIKE 'rpl_semi_sync_master%'"
        mine = dict(ours.rows(show))
        assert mine.pop("rpl_semi_sync_master_wait_for_slave_count") == "1"
        assert mine == dict(theirs.rows(show))
        assert set(status(ours)) == set(status(theirs))
        for sql in (
            "SET GLOBAL rpl_semi_sync_master_wait_point=3",
            "SET GLOBAL rpl_semi_sync_master_wait_point=NEVER",
            "SET SESSION rpl_semi_sync_master_enabled=1",
            "SET GLOBAL rpl_semi_sync_master_timeout='x'",
            "SET GLOBAL rpl_semi_sync_master_enabled=2",
        ):
            a, b = ours.run(sql), theirs.run(sql)
            assert (a.error, a.sqlstate) == (b.error, b.sqlstate), sql
        # MySQL's names reach the same values.
        ours.ok("SET GLOBAL rpl_semi_sync_source_timeout=1234")
        assert ours.value("SELECT @@global.rpl_semi_sync_master_timeout") == "1234"
        ours.ok("SET GLOBAL rpl_semi_sync_master_timeout=DEFAULT")
        assert ours.value("SELECT @@global.rpl_semi_sync_source_wait_for_replica_count") == "1"
        assert ours.ok("SET GLOBAL rpl_semi_sync_master_trace_level=16").warnings == 1
        ours.ok("SET GLOBAL rpl_semi_sync_master_trace_level=DEFAULT")


# -- with a replica that can be told when to acknowledge -------------------------------------------------------------


def test_after_sync_shows_nothing_before_the_acknowledgement(primary, _primary, fake):
    enable(primary, wait_point="AFTER_SYNC", timeout=600000)
    replica = fake(_primary, 901, gtids(primary))
    with client(_primary) as writer, client(_primary) as second, client(_primary) as ddl:
        insert = writer.background("INSERT INTO s.t VALUES (1, 1)")
        place = replica.wanted()
        assert insert.blocked()
        assert primary.ints("SELECT COUNT(*) FROM s.t") == [0]
        states = [r[6] for r in primary.rows("SHOW PROCESSLIST") if r[7] and r[7].startswith("INSERT")]
        assert states == ["Waiting for semi-sync ACK from slave"]
        # The primary goes on meanwhile: later commits are sent, nothing but the answers waits.
        later = second.background("INSERT INTO s.t VALUES (2, 2)")
        last = replica.wanted()
        table = ddl.background("CREATE TABLE s.u (a INT PRIMARY KEY)")
        create = replica.wanted()
        assert status(primary)["wait_sessions"] == 3
        primary.ok("FLUSH BINARY LOGS")
        primary.ok("FLUSH LOGS")
        assert primary.ints("SELECT COUNT(*) FROM s.t") == [0]
        replica.c.acknowledge(*place)
        insert.ok()
        assert primary.ints("SELECT id FROM s.t") == [1]
        assert later.blocked(0.1) and table.blocked(0.1)
        # One acknowledgement counts for all before it.
        assert place < last < create
        replica.c.acknowledge(*create)
        later.ok()
        table.ok()
        assert primary.ints("SELECT id FROM s.t") == [1, 2]
    now = status(primary)
    assert (now["status"], now["wait_sessions"], now["no_tx"]) == ("ON", 0, 0)


def test_what_waits_is_not_executed_yet_and_does_not_hinder_change_master(primary, _primary, fake):
    enable(primary, wait_point="AFTER_SYNC", timeout=600000)
    before = primary.value("SELECT @@gtid_executed")
    replica = fake(_primary, 908, gtids(primary))
    with client(_primary) as writer:
        insert = writer.background("INSERT INTO s.t VALUES (1, 1)")
        place = replica.wanted()
        assert primary.value("SELECT @@gtid_executed") == before
        # The set as it will be: behind the last number.
        head, last = re.fullmatch(r"(?s)(.*\D)(\d+)", before).groups()
        wait = f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{head}{int(last) + 1}', 0.1)"
        assert primary.ints(wait) == [1]
        for _ in range(2):
            primary.ok("CHANGE MASTER 'other' TO MASTER_HOST='127.0.0.1', MASTER_PORT=1")
        primary.ok("CHANGE MASTER 'third' TO MASTER_HOST='127.0.0.1', MASTER_PORT=2")
        assert [r[0] for r in primary.rows("SHOW ALL SLAVES STATUS")] == ["other", "third"]
        primary.ok("RESET SLAVE 'third' ALL")
        assert insert.blocked(0.1)
        replica.c.acknowledge(*place)
        insert.ok()
        assert primary.value("SELECT @@gtid_executed") != before
        assert primary.ints(wait) == [0]
    assert primary.ints("SELECT id FROM s.t") == [1]
    assert [r[0] for r in primary.rows("SHOW ALL SLAVES STATUS")] == ["other"]
    primary.ok("RESET SLAVE 'other' ALL")


def test_a_replicas_own_gate_does_not_hold_its_acknowledgements(primary, _primary, own_narwal):
    """As in MariaDB and MySQL: what is applied waits for the replica's replicas, the source does not."""
    primary.ok("SET GLOBAL rpl_semi_sync_master_timeout=600000")
    replica = own_narwal("--server-id=77", "--rpl-semi-sync-slave-enabled=ON", PATIENT)
    with client(replica) as there:
        there.ok(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={_primary.port}, MASTER_USER='root'")
        there.ok("START SLAVE")
        until(lambda: status(primary)["clients"] == 1)
        primary.ok("INSERT INTO s.t VALUES (1, 1)")
        # Not just this row: earlier tests' tables of that name are in the log, too, and their ends would wait for the gate.
        position = primary.rows("SELECT @@gtid_binlog_pos")[0][0]
        assert there.ints(f"SELECT MASTER_GTID_WAIT('{position}', 60)") == [0]
        assert there.ints("SELECT id FROM s.t") == [1]
        enable(there, wait_point="AFTER_SYNC")
        enable(primary, wait_point="AFTER_SYNC")
        for n in (2, 3):
            primary.background(f"INSERT INTO s.t VALUES ({n}, {n})").ok()
        assert there.ints("SELECT id FROM s.t") == [1], "its own replicas do not have it"
        assert there.value("SELECT @@gtid_slave_pos") < gtids(primary)
        there.ok("STOP SLAVE")
        there.ok("SET GLOBAL rpl_semi_sync_master_enabled=OFF")
        assert there.ints("SELECT id FROM s.t") == [1, 2, 3]
        assert there.value("SELECT @@gtid_slave_pos") == gtids(primary)


def test_after_commit_keeps_back_the_answer_only(primary, _primary, fake):
    enable(primary, timeout=600000)
    replica = fake(_primary, 902, gtids(primary))
    with client(_primary) as writer:
        writer.ok("BEGIN")
        writer.ok("INSERT INTO s.t VALUES (1, 1)")
        commit = writer.background("COMMIT")
        replica.wanted()
        until(lambda: primary.ints("SELECT COUNT(*) FROM s.t") == [1])
        assert commit.blocked()
        # KILL QUERY ends the wait: the work is done.
        primary.ok(f"KILL QUERY {writer.connection.thread_id()}")
        commit.ok()
        assert writer.ints("SELECT id FROM s.t") == [1]


def test_kill_of_a_connection_that_waits(primary, _primary, fake):
    enable(primary, wait_point="AFTER_SYNC", timeout=600000)
    replica = fake(_primary, 903, gtids(primary))
    with client(_primary) as writer:
        insert = writer.background("INSERT INTO s.t VALUES (1, 1)")
        place = replica.wanted()
        primary.ok(f"KILL QUERY {writer.connection.thread_id()}")
        assert insert.blocked()
        primary.ok(f"KILL {writer.connection.thread_id()}")
        try:
            assert insert.answer().error == 1927
        except Exception as e:  # the connection may be gone before the answer
            assert not isinstance(e, (AssertionError, Failure)), e
    assert primary.ints("SELECT COUNT(*) FROM s.t") == [0]
    replica.c.acknowledge(*place)
    until(lambda: primary.ints("SELECT COUNT(*) FROM s.t") == [1])


def test_what_a_replica_must_not_say(primary, _primary, fake):
    enable(primary, timeout=600000)
    at = gtids(primary)
    with client(_primary) as writer:
        insert = writer.background("INSERT INTO s.t VALUES (1, 1)")
        bad = 0
        for packet in (
            lambda f, place: f.c.acknowledge(place[0], place[1] + 1),
            lambda f, place: f.c.acknowledge("nothing.000001", place[1]),
            lambda f, place: f.c.acknowledge("", place[1]),
            lambda f, place: f.c.acknowledge(place[0] + "\0\0", 1 << 63),
            lambda f, place: f.c.acknowledge("x" * 5000, 4),
        ):
            replica = fake(_primary, 904, at)
            place = replica.wanted()
            packet(replica, place)
            assert "Semi-sync" in replica.end()
            bad += 1
            until(lambda: status(primary)["clients"] == 0)
            assert insert.blocked(0.05)
        assert _primary.log_path.read_text().count("Semi-sync reply") >= bad
        fake(_primary, 904, at).acknowledge()
        insert.ok()
    assert status(primary)["status"] == "ON"


def test_a_replica_that_has_it_already_counts_when_it_comes_back(primary, _primary, fake):
    """Its connection broke between the event and the acknowledgement."""
    enable(primary, wait_point="AFTER_SYNC", timeout=600000)
    first = fake(_primary, 905, gtids(primary))
    with client(_primary) as writer:
        insert = writer.background("INSERT INTO s.t VALUES (1, 1)")
        first.wanted()
        has = gtids(primary)
        first.close()
        assert insert.blocked(0.1)
        fake(_primary, 905, has)
        insert.ok()


def test_two_replicas_must_have_it(primary, _primary, fake):
    enable(primary, wait_point="AFTER_SYNC", timeout=600000, wait_for_slave_count=2)
    at = gtids(primary)
    one = fake(_primary, 906, at)
    with client(_primary) as writer:
        insert = writer.background("INSERT INTO s.t VALUES (1, 1)")
        one.acknowledge()
        assert insert.blocked()
        two = fake(_primary, 907, at)
        until(lambda: status(primary)["clients"] == 2)
        assert insert.blocked(0.1)
        two.acknowledge()
        insert.ok()
        # What a replica had before it left, it has.
        insert = writer.background("INSERT INTO s.t VALUES (2, 2)")
        one.acknowledge()
        until(lambda: status(primary)["get_ack"] >= 3)
        one.close()
        two.acknowledge()
        insert.ok()
        # And one replica is not enough for the next.
        insert = writer.background("INSERT INTO s.t VALUES (3, 3)")
        two.acknowledge()
        assert insert.blocked()
        primary.ok("SET GLOBAL rpl_semi_sync_master_wait_for_slave_count=1")
        insert.ok()


def test_too_few_replicas(primary, _primary, fake):
    with client(_primary) as writer:
        # Without waiting for replicas that are not there.
        enable(primary, wait_no_slave="OFF", timeout=600000)
        assert status(primary)["status"] == "OFF"
        writer.ok("INSERT INTO s.t VALUES (1, 1)")
        before = status(primary)
        assert before["no_tx"] > 0
        replica = fake(_primary, 908, gtids(primary))
        until(lambda: status(primary)["status"] == "ON")
        insert = writer.background("INSERT INTO s.t VALUES (2, 2)")
        replica.acknowledge()
        insert.ok()
        # The last one leaves: whoever waits goes on.
        insert = writer.background("INSERT INTO s.t VALUES (3, 3)")
        replica.wanted()
        assert insert.blocked(0.1)
        replica.close()
        insert.ok()
        now = status(primary)
        assert (now["status"], now["clients"], now["no_tx"]) == ("OFF", 0, before["no_tx"] + 1)
        # With waiting for them: until the time-out.
        primary.ok("SET GLOBAL rpl_semi_sync_master_wait_no_slave=ON")
        assert status(primary)["status"] == "ON"
        insert = writer.background("INSERT INTO s.t VALUES (4, 4)")
        assert insert.blocked()
        primary.ok("SET GLOBAL rpl_semi_sync_master_timeout=100")
        insert.ok()
        assert status(primary)["status"] == "OFF"


def test_switching_it_off_and_reset_master_let_go(primary, _primary, fake):
    enable(primary, wait_point="AFTER_SYNC", timeout=600000)
    fake(_primary, 909, gtids(primary))
    with client(_primary) as writer:
        insert = writer.background("INSERT INTO s.t VALUES (1, 1)")
        assert insert.blocked(0.1)
        primary.ok("SET GLOBAL rpl_semi_sync_master_enabled=OFF")
        insert.ok()
        assert primary.ints("SELECT COUNT(*) FROM s.t") == [1]
        primary.ok("SET GLOBAL rpl_semi_sync_master_enabled=ON")
        insert = writer.background("INSERT INTO s.t VALUES (2, 2)")
        assert insert.blocked(0.1)
        primary.ok("RESET MASTER")
        insert.ok()
        now = status(primary)
        assert (now["status"], now["no_tx"], now["yes_tx"], now["no_times"]) == ("ON", 0, 0, 0)
    # The next test finds a log that begins with its database.
    primary.ok("SET GLOBAL rpl_semi_sync_master_enabled=OFF")
    primary.ok("DROP DATABASE s")
    primary.ok("RESET MASTER")


# -- with a real replica -----------------------------------------------------------------------------------------------


def test_a_mariadb_replica_acknowledges(primary, _primary, own_replica):
    replica = own_replica(semi_sync=True)
    enable(primary, timeout=600000)
    replica.follow(_primary.port)
    until(lambda: status(primary)["clients"] == 1)
    for n, point in enumerate(("AFTER_COMMIT", "AFTER_SYNC")):
        primary.ok(f"SET GLOBAL rpl_semi_sync_master_wait_point={point}")
        before = status(primary)
        first = n * 1000
        for i in range(first, first + 10):
            primary.ok(f"INSERT INTO s.t VALUES ({i}, {i})")
        primary.ok("BEGIN")
        primary.ok(f"UPDATE s.t SET v=v+1 WHERE id>={first}")
        primary.ok(f"DELETE FROM s.t WHERE id={first}")
        primary.ok("COMMIT")
        primary.ok("CREATE TABLE s.u (a INT PRIMARY KEY, b LONGTEXT)")
        # One that goes out of band.
        primary.ok("SET GLOBAL binlog_oob_threshold=65536")
        primary.ok("INSERT INTO s.u VALUES " + ", ".join(
            f"({i}, REPEAT('x', 5000))" for i in range(100)))  # fmt: skip
        primary.ok("SET GLOBAL binlog_oob_threshold=DEFAULT")
        primary.ok("DROP TABLE s.u")
        now = status(primary)
        assert now["yes_tx"] - before["yes_tx"] == 14, now
        assert now["get_ack"] - before["get_ack"] == 14
        assert (now["status"], now["no_tx"], now["wait_sessions"]) == ("ON", before["no_tx"], 0)
    assert now["tx_avg_wait_time"] == (now["tx_wait_time"] // now["tx_waits"] if now["tx_waits"] else 0)
    replica.same(_primary.port, databases={"s"})
    # Time-out: the replica stands still.
    primary.ok("SET GLOBAL rpl_semi_sync_master_timeout=300")
    replica.pause()
    before = status(primary)
    primary.ok("INSERT INTO s.t VALUES (5000, 1)")
    now = status(primary)
    assert now["status"] == "OFF"
    assert now["no_times"] == before["no_times"] + 1 and now["no_tx"] == before["no_tx"] + 1
    assert "no acknowledgement in time" in _primary.log_path.read_text()
    for i in range(20):  # asynchronous now
        primary.ok(f"INSERT INTO s.t VALUES ({5001 + i}, 1)")
    assert status(primary)["no_tx"] == before["no_tx"] + 21
    primary.ok("SET GLOBAL rpl_semi_sync_master_timeout=600000")
    replica.resume()
    until(lambda: status(primary)["status"] == "ON")
    before = status(primary)
    primary.ok("INSERT INTO s.t VALUES (6000, 1)")
    now = status(primary)
    assert (now["yes_tx"], now["no_tx"]) == (before["yes_tx"] + 1, before["no_tx"])
    # Its applier may stand still: it acknowledges what it has received.
    replica.stop_slave("SQL_THREAD")
    primary.ok("INSERT INTO s.t VALUES (6001, 1)")
    # Its receiver stops, and the commit waits until it is back.
    replica.stop_slave("IO_THREAD")
    until(lambda: status(primary)["clients"] == 0)
    with client(_primary) as writer:
        insert = writer.background("INSERT INTO s.t VALUES (6002, 1)")
        assert insert.blocked()
        replica.start_slave()
        insert.ok()
    replica.same(_primary.port, databases={"s"})


def test_two_mariadb_replicas(primary, _primary, own_replica):
    one, two = own_replica(semi_sync=True), own_replica(semi_sync=True)
    enable(primary, wait_point="AFTER_SYNC", timeout=600000, wait_for_slave_count=2)
    for replica in (one, two):
        replica.follow(_primary.port)
    with client(_primary) as writer:
        writer.ok("INSERT INTO s.t VALUES (1, 1)")
        assert status(primary)["clients"] == 2
        two.pause()
        insert = writer.background("INSERT INTO s.t VALUES (2, 2)")
        assert insert.blocked()
        assert primary.ints("SELECT id FROM s.t") == [1]
        two.resume()
        insert.ok()
    for replica in (one, two):
        replica.same(_primary.port, databases={"s"})


def test_a_stop_with_a_commit_that_waits(own_narwal):
    server = own_narwal(*ON, PATIENT, start=False)
    server.args = [a for a in server.args if a not in ON]
    server.start()
    with client(server) as c:
        c.ok("CREATE DATABASE s")
        c.ok("CREATE TABLE s.t (id INT PRIMARY KEY)")
        enable(c, wait_point="AFTER_SYNC")
    writer = client(server)
    insert = writer.background("INSERT INTO s.t VALUES (1)")
    assert insert.blocked()
    assert server.stop() == 0
    try:
        assert insert.answer().error
    except Exception as e:  # no answer, or the error that the connection ends
        assert not isinstance(e, (AssertionError, Failure)), e
    server.start()
    with client(server) as c:
        assert c.ints("SELECT id FROM s.t") == [1], "durable, and not taken back"


# -- lossless ------------------------------------------------------------------------------------------------------------


class Load:
    """Writers and readers of one table: what was acknowledged and what was seen, writer by writer."""

    WRITERS, READERS = 6, 2

    def __init__(self, port: int, first: int):
        self.port = port
        self.stop = threading.Event()
        self.acked = {w: first for w in range(self.WRITERS)}
        self.seen = {w: 0 for w in range(self.WRITERS)}
        self.counted = 0
        self.errors: list[str] = []
        self.first = first
        self.threads = [threading.Thread(target=self.write, args=(w,)) for w in range(self.WRITERS)]
        self.threads += [threading.Thread(target=self.read) for _ in range(self.READERS)]
        for t in self.threads:
            t.start()

    def write(self, w: int) -> None:
        try:
            c = Connection(self.port, timeout=30)
            n = self.first
            while not self.stop.is_set():
                n += 1
                if w % 2:
                    c.query("BEGIN")
                    c.query("UPDATE s.counter SET n=n+1")
                    c.query(f"INSERT INTO s.load VALUES ({w}, {n})")
                    c.query("COMMIT")
                else:
                    c.query(f"INSERT INTO s.load VALUES ({w}, {n})")
                self.acked[w] = n
        except Lost:
            pass
        except SqlError as e:
            self.errors.append(str(e))

    def read(self) -> None:
        try:
            c = Connection(self.port, timeout=30)
            while not self.stop.is_set():
                for w, n in c.query("SELECT w, MAX(n) FROM s.load GROUP BY w").rows:
                    self.seen[int(w)] = max(self.seen[int(w)], int(n))
                # A locking read tells of what is not visible yet, too, when it is.
                self.counted = max(self.counted, int(c.query("SELECT n FROM s.counter LOCK IN SHARE MODE").rows[0][0]))
        except Lost:
            pass
        except SqlError as e:
            self.errors.append(str(e))

    def join(self) -> None:
        self.stop.set()
        for t in self.threads:
            t.join(60)
            assert not t.is_alive()


def test_lossless(own_narwal, own_replica):
    """kill -9 of the primary under load: the replica, once it has applied what it received, has everything that was
    acknowledged, and everything that anybody saw. NARWAL_ROUNDS sets how often (default 4), NARWAL_SEED the times."""
    seed = int(os.environ.get("NARWAL_SEED", "1"))
    rounds = int(os.environ.get("NARWAL_ROUNDS", "4"))
    rng = random.Random(seed)
    server = own_narwal(*ON, PATIENT, start=False)
    server.args.append("--rpl-semi-sync-master-wait-no-slave=OFF")
    server.start()
    replica = own_replica(semi_sync=True)
    with client(server) as c:
        c.ok("CREATE DATABASE s")
        c.ok("CREATE TABLE s.load (w INT, n INT, PRIMARY KEY (w, n))")
        c.ok("CREATE TABLE s.counter (n INT)")
        c.ok("INSERT INTO s.counter VALUES (0)")
    replica.follow(server.port)
    replica.catch_up(server.port)
    first, moved = 0, 0
    for number in range(rounds):
        # Commits wait from here on, whoever is attached.
        with client(server) as c:
            c.ok("SET GLOBAL rpl_semi_sync_master_wait_no_slave=ON")
            c.ok(f"SET GLOBAL innodb_flush_log_at_trx_commit={rng.choice((1, 1, 2, 0))}")
            until(lambda: status(c)["clients"] == 1 and status(c)["status"] == "ON")
        load = Load(server.port, first)
        time.sleep(rng.uniform(0.3, 1.5))
        server.kill()
        load.join()
        assert not load.errors, load.errors
        # Promotion: nothing more is received, what was received is applied.
        replica.stop_slave("IO_THREAD")

        def applied():
            """All of it, though the last group may have come in part only: nothing to do, and nothing done since."""
            looks = []
            for pause in (0.2, 0):
                s = replica.slave_status()
                done = (s["Read_Master_Log_Pos"], s["Master_Log_File"]) == (s["Exec_Master_Log_Pos"], s["Relay_Master_Log_File"])
                if done or not (s["Slave_SQL_Running_State"] or "").startswith("Slave has read all relay log"):
                    return done
                looks.append((s["Exec_Master_Log_Pos"], s["Relay_Log_File"], s["Relay_Log_Pos"]))
                time.sleep(pause)
            return looks[0] == looks[1]

        until(applied, 60)
        replica.stop_slave()
        has = {int(w): int(n) for w, n in replica.query("SELECT w, MAX(n) FROM s.load GROUP BY w")}
        count = int(replica.query("SELECT COUNT(*) FROM s.load WHERE n > " + str(first))[0][0])
        what = f"NARWAL_SEED={seed} round {number}"
        for w in load.acked:
            mine = max(has.get(w, 0), first)
            assert mine >= load.acked[w], f"{what}: {load.acked[w]} of writer {w} was acknowledged, the replica has {mine}"
            assert mine >= load.seen[w], f"{what}: {load.seen[w]} of writer {w} was seen, the replica has {mine}"
            count -= mine - first
            moved += load.acked[w] - first
        assert count == 0, f"{what}: a hole"
        assert int(replica.query("SELECT n FROM s.counter")[0][0]) >= load.counted, what
        # The old primary may have more than was acknowledged; the same replica goes on from there.
        server.start()
        replica.start_slave()
        replica.same(server.port, databases={"s"})
        first = max(first, *has.values()) + 1000
    assert moved > 20 * rounds, "there was no load"
