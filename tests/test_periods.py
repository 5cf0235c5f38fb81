"""Application-time periods under concurrency, after a crash, and through replicas both ways. What single statements do is in
tests/corner/periods.sql, portions.sql and without_overlaps.sql."""

from __future__ import annotations

import random
import re
import threading

import pytest

from conftest import COMMON, PRIMARY, STAND_IN
from support import Client

DUPLICATE, LOCK_WAIT, DEADLOCK = 1062, 1205, 1213
ROOMS = (
    "CREATE TABLE rooms (room INT, s DATE, e DATE, who INT, PERIOD FOR held(s, e), PRIMARY KEY (room, held WITHOUT OVERLAPS))"
)
PLAIN = (
    "CREATE TABLE plain (id INT AUTO_INCREMENT PRIMARY KEY, room INT, s DATE, e DATE, who INT,"
    " PERIOD FOR held(s, e), UNIQUE by_room (room, held WITHOUT OVERLAPS))"
)
OVERLAPS = "SELECT COUNT(*) FROM {0} a JOIN {0} b ON a.room = b.room AND a.s < b.e AND b.s < a.e AND a.s <> b.s"


def shown(client: Client, table: str) -> str:
    """SHOW CREATE TABLE without the next number, which servers may know otherwise."""
    return re.sub(r" AUTO_INCREMENT=\d+", "", client.rows(f"SHOW CREATE TABLE {table}")[0][1])


def changes(client: Client) -> None:
    """Statements about periods of every kind, in the current database."""
    for table in ("rooms", "plain"):
        client.ok(f"INSERT INTO {table} (room, s, e, who) VALUES (1, '2020-01-01', '2021-01-01', 1), (2, '2020-01-01', '2021-01-01', 2)")
        client.ok(f"UPDATE {table} FOR PORTION OF held FROM '2020-03-01' TO '2020-04-01' SET who = 3, room = room + 10")
        client.ok(f"DELETE FROM {table} FOR PORTION OF held FROM '2020-06-01' TO '2020-07-01'")
        client.ok(f"DELETE FROM {table} FOR PORTION OF held FROM '2019-06-01' TO '2020-01-15' WHERE room = 2")
        client.ok(f"UPDATE {table} SET e = '2020-12-01' WHERE e = '2021-01-01'")
        assert client.run(f"UPDATE {table} SET e = '2022-01-01'").error == DUPLICATE


@pytest.mark.parametrize("table", ["rooms", "plain"])
def test_no_overlaps_under_concurrency(narwal, db, table):
    with Client(narwal, database=db) as client:
        client.ok(ROOMS)
        client.ok(PLAIN)
    failures: list[str] = []

    def work(seed: int) -> None:
        rng = random.Random(seed)
        day = lambda: f"'2020-01-01' + INTERVAL {rng.randint(0, 60)} DAY"  # noqa: E731
        with Client(narwal, database=db) as client:
            for _ in range(80):
                room = rng.randint(1, 3)
                first, days = rng.randint(0, 60), rng.randint(1, 6)
                start = f"'2020-01-01' + INTERVAL {first} DAY"
                end = f"'2020-01-01' + INTERVAL {first + days} DAY"
                client.run("BEGIN")
                for _ in range(rng.randint(1, 3)):
                    sql = rng.choice([
                        f"INSERT INTO {table} (room, s, e, who) VALUES ({room}, {start}, {end}, {seed})",
                        f"DELETE FROM {table} WHERE room = {room} AND s < {day()} LIMIT 1",
                        f"UPDATE {table} SET room = {rng.randint(1, 3)} WHERE room = {room} LIMIT 1",
                        f"UPDATE {table} SET e = e + INTERVAL 1 DAY WHERE room = {room} LIMIT 1",
                        f"UPDATE {table} FOR PORTION OF held FROM {start} TO {end} SET room = {rng.randint(1, 3)} WHERE room = {room}",
                        f"DELETE FROM {table} FOR PORTION OF held FROM {start} TO {end} WHERE room = {room}",
                    ])  # fmt: skip
                    error = client.run(sql).error
                    if error == DEADLOCK:
                        break
                    if error not in (0, DUPLICATE):
                        failures.append(f"{error}: {sql}")
                client.run(rng.choice(["COMMIT", "COMMIT", "ROLLBACK"]))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures, failures[:5]
    with Client(narwal, database=db) as client:
        assert client.value(OVERLAPS.format(table)) in (0, "0")
        assert int(client.value(f"SELECT COUNT(*) FROM {table}")) > 0
        assert int(client.value(f"SELECT COUNT(*) FROM {table} WHERE s >= e")) == 0


def test_the_second_waits_for_the_first(narwal, db):
    """Both want the same time of a room: what the second is told depends on how the first ends."""
    with Client(narwal, database=db) as one, Client(narwal, database=db) as two:
        one.ok(ROOMS)
        one.ok("INSERT INTO rooms VALUES (1, '2020-01-01', '2020-02-01', 1)")
        wanted = "INSERT INTO rooms VALUES (1, '2020-01-15', '2020-01-20', 2)"
        for change in ("DELETE FROM rooms WHERE room = 1", "UPDATE rooms SET e = '2020-01-10' WHERE room = 1", "UPDATE rooms SET room = 9"):
            one.ok("BEGIN")
            one.ok(change)
            two.ok("SET innodb_lock_wait_timeout = 1")
            assert two.run(wanted).error == LOCK_WAIT, change
            one.ok("ROLLBACK")
            assert two.run(wanted).error == DUPLICATE, change
            one.ok("BEGIN")
            one.ok(change)
            two.ok("SET innodb_lock_wait_timeout = 50")
            answers: list[int] = []
            waiting = threading.Thread(target=lambda: answers.append(two.run(wanted).error))  # noqa: B023
            waiting.start()
            one.ok("COMMIT")
            waiting.join()
            assert answers == [0], change
            two.ok("DELETE FROM rooms")
            two.ok("INSERT INTO rooms VALUES (1, '2020-01-01', '2020-02-01', 1)")
        one.ok("BEGIN")
        one.ok("INSERT INTO rooms VALUES (2, '2020-01-01', '2020-02-01', 1)")
        two.ok("SET innodb_lock_wait_timeout = 1")
        assert two.run("INSERT INTO rooms VALUES (2, '2020-01-15', '2020-03-01', 1)").error == LOCK_WAIT
        assert two.run("INSERT INTO rooms VALUES (3, '2020-01-15', '2020-03-01', 1)").error == 0
        one.ok("COMMIT")


@pytest.mark.skipif(STAND_IN, reason="kills Narwal")
def test_definitions_survive_a_crash(own_narwal):
    server = own_narwal()
    before = {}
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("USE d")
        client.ok(ROOMS)
        client.ok(PLAIN)
        changes(client)
        client.ok("CREATE TABLE later (a INT, s DATE, e DATE)")
        client.ok("ALTER TABLE later ADD PERIOD FOR p(s, e), ADD UNIQUE (a, p WITHOUT OVERLAPS)")
        client.ok("ALTER TABLE later RENAME COLUMN s TO t")
        for table in ("rooms", "plain", "later"):
            before[table] = [shown(client, table), *client.rows(f"SELECT * FROM {table}")]
    for _ in range(2):
        server.kill()
        server.start()
        with Client(server, database="d") as client:
            for table, was in before.items():
                assert [shown(client, table), *client.rows(f"SELECT * FROM {table}")] == was
            assert client.run("INSERT INTO rooms VALUES (1, '2020-01-15', '2020-01-16', 1)").error == DUPLICATE
            assert client.run("INSERT INTO later VALUES (1, '2020-01-15', '2020-01-15')").error == 4025


def test_a_mariadb_replica_follows(followed):
    primary, replica = followed
    with Client(primary) as client:
        client.ok("CREATE DATABASE periods")
        client.ok("USE periods")
        client.ok(ROOMS)
        client.ok(PLAIN)
        changes(client)
        client.ok("CREATE TABLE later (a INT, s DATE, e DATE)")
        client.ok("INSERT INTO later VALUES (1, '2020-01-15', '2020-01-16')")
        client.ok("ALTER TABLE later ADD PERIOD FOR p(s, e), ADD UNIQUE (a, p WITHOUT OVERLAPS)")
        client.ok("CREATE TABLE made (PERIOD FOR p(s, e)) SELECT a, s, e FROM later")
        client.ok("UPDATE made FOR PORTION OF p FROM '2020-01-01' TO '2020-01-16' SET a = 7")
        client.ok("ALTER TABLE later DROP INDEX a, DROP PERIOD FOR p")
        client.ok("CREATE TABLE alike LIKE rooms")
    replica.same(primary.port)
    for table in ("rooms", "plain", "later", "made", "alike"):
        with Client(primary) as a, Client(replica) as b:
            assert shown(a, f"periods.{table}") == shown(b, f"periods.{table}")
    with Client(primary) as client:
        client.ok("DROP DATABASE periods")


def test_a_narwal_replica_follows_a_mariadb(lab, own, own_narwal_replica):
    primary = own(lab.replica([*COMMON, "--log-bin=bin", "--binlog-format=ROW", "--binlog-row-metadata=FULL", *PRIMARY], log=True))
    with Client(primary) as client:
        client.ok("CREATE DATABASE periods")
        client.ok("USE periods")
        client.ok(ROOMS)
        client.ok(PLAIN)
        changes(client)
    follower = own_narwal_replica(threads=4)
    follower.follow(primary.port)
    assert follower.same(primary.port).tables == 2
    with Client(primary, database="periods") as client:
        for n in range(200):
            client.ok(f"INSERT INTO rooms VALUES (50, '2020-01-01' + INTERVAL {n} DAY, '2020-01-01' + INTERVAL {n + 1} DAY, 1)")
            client.ok("UPDATE rooms SET who = 2, e = e + INTERVAL 1 DAY WHERE room = 50 AND who = 1")
            client.ok("DELETE FROM rooms WHERE room = 50 AND who = 2")
        client.ok("ALTER TABLE rooms ADD COLUMN more INT")
    follower.same(primary.port)
    with Client(primary) as a, Client(follower) as b:
        for table in ("rooms", "plain"):
            assert shown(a, f"periods.{table}") == shown(b, f"periods.{table}")
