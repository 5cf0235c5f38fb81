"""`innodb_snapshot_isolation=OFF`: a transaction under REPEATABLE READ reads in its snapshot, but locks and changes the newest
rows, whatever others have changed since. That is what MariaDB up to 11.5 and MySQL do by default.
"""

from __future__ import annotations

import os
import random

import pytest

CONFLICT = 1020
SEED = int(os.environ.get("NARWAL_SEED", "1"))


@pytest.fixture
def pair(connect):
    """A client with the setting off, and another one, over test(id, value) with rows (1, 10), (2, 20)."""
    one, other = connect(), connect()
    other.ok("CREATE TABLE test (id INT PRIMARY KEY, value INT)")
    other.ok("INSERT INTO test VALUES (1, 10), (2, 20)")
    one.ok("SET SESSION innodb_snapshot_isolation = OFF")
    one.ok("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
    return one, other


def values(client) -> list:
    return client.ints("SELECT id, value FROM test ORDER BY id")


def test_a_write_takes_the_newest_row(pair):
    one, other = pair
    one.ok("BEGIN")
    assert values(one) == [(1, 10), (2, 20)]
    other.ok("UPDATE test SET value = value + 5")
    assert values(one) == [(1, 10), (2, 20)], "the snapshot stays"
    one.ok("UPDATE test SET value = value * 2 WHERE id = 1")
    assert values(one) == [(1, 30), (2, 20)], "but for what it has changed itself"
    assert one.ints("SELECT value FROM test WHERE id = 2 FOR UPDATE") == [25]
    assert values(one) == [(1, 30), (2, 20)]
    one.ok("COMMIT")
    assert values(other) == [(1, 30), (2, 25)]


def test_a_row_that_went_is_gone_and_a_new_one_is_there(pair):
    one, other = pair
    one.ok("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    other.ok("DELETE FROM test WHERE id = 1")
    other.ok("INSERT INTO test VALUES (3, 30)")
    assert one.ok("UPDATE test SET value = 0 WHERE id = 1").affected == 0
    assert one.ok("DELETE FROM test WHERE id = 3").affected == 1
    assert values(one) == [(1, 10), (2, 20)]
    one.ok("COMMIT")
    assert values(other) == [(2, 20)]


def test_it_takes_effect_with_the_next_transaction(pair):
    one, other = pair
    one.ok("BEGIN")
    values(one)
    other.ok("UPDATE test SET value = 11 WHERE id = 1")
    one.ok("UPDATE test SET value = 12 WHERE id = 1")
    one.ok("COMMIT")
    one.ok("SET SESSION innodb_snapshot_isolation = ON")
    one.ok("BEGIN")
    values(one)
    other.ok("UPDATE test SET value = 13 WHERE id = 1")
    one.fails("UPDATE test SET value = 14 WHERE id = 1", CONFLICT)
    one.ok("ROLLBACK")
    assert values(other)[0] == (1, 13)


def change(r: random.Random, rows: int) -> str:
    """A random statement that changes rows of t, or locks them."""
    key, other = r.randrange(rows), r.randrange(rows)
    where = r.choice([f"id = {key}", f"k = {key % 5}", f"id BETWEEN {min(key, other)} AND {max(key, other)}", f"v < {10 * key}"])
    return r.choice(
        [
            f"UPDATE t SET v = v + {r.randrange(1, 9)} WHERE {where}",
            f"UPDATE t SET k = {r.randrange(5)} WHERE {where}",
            f"UPDATE t SET v = v WHERE {where}",
            f"DELETE FROM t WHERE {where} ORDER BY id LIMIT {r.randrange(1, 3)}",
            f"INSERT INTO t VALUES ({key}, {r.randrange(5)}, {r.randrange(100)})",
            f"INSERT INTO t VALUES ({key}, {r.randrange(5)}, 1) ON DUPLICATE KEY UPDATE v = v + 100",
            f"REPLACE INTO t VALUES ({key}, {r.randrange(5)}, {r.randrange(100)})",
            f"SELECT * FROM t WHERE {where} ORDER BY id FOR UPDATE",
            f"SELECT SUM(v) FROM t WHERE {where} LOCK IN SHARE MODE",
        ]
    )


@pytest.mark.parametrize("seed", range(SEED, SEED + 40))
def test_random_transactions_see_and_do_what_those_of_mariadb_do(both, seed):
    from support import Client

    r = random.Random(seed)
    rows = 12
    others = []
    for client in both:
        client.ok("CREATE TABLE t (id INT PRIMARY KEY, k INT, v INT, KEY (k))")
        for i in range(0, rows, 2):
            client.ok(f"INSERT INTO t VALUES ({i}, {i % 5}, {10 * i})")
        client.ok("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        client.ok("SET SESSION innodb_snapshot_isolation = OFF")
        others.append(Client(client.server, database=client.rows("SELECT DATABASE()")[0][0]))

    def same(clients, sql):
        answers = [client.run(sql) for client in clients]
        a, b = [(x.error, x.affected, x.rows) for x in answers]
        assert a == b, f"seed {seed}: {sql}\n{said}"

    said = []
    try:
        for _ in range(4):
            said.append("BEGIN")
            same(both, "BEGIN")
            same(both, "SELECT * FROM t ORDER BY id")
            for _ in range(r.randrange(1, 4)):
                said.append("other: " + change(r, rows))
                same(others, said[-1].removeprefix("other: "))
            for _ in range(r.randrange(1, 5)):
                said.append(change(r, rows))
                same(both, said[-1])
                same(both, "SELECT * FROM t ORDER BY id")
                # Entries of the index that the snapshot does not have lead to own rows, and old ones do not.
                k = r.randrange(5)
                same(both, f"SELECT id, k, v FROM t FORCE INDEX (k) WHERE k = {k} ORDER BY id")
                same(both, "SELECT id FROM t FORCE INDEX (k) WHERE k >= 0 ORDER BY id")
            said.append(r.choice(["COMMIT", "COMMIT", "ROLLBACK"]))
            same(both, said[-1])
            same(others, "SELECT * FROM t ORDER BY id")
    finally:
        for client in others:
            client.close()
