"""Answers to commits that another connection's thread sends: in order, once, and only for what everybody can see.

Under load a commit's OK is sent by the thread that made its group durable. Clients that wait for each answer can't tell; these
don't wait, or go away, or ask on another connection the moment the answer is there.
"""

from __future__ import annotations

import random
import threading

import pytest
from testbed.wire import Connection

WRITERS = 6


@pytest.fixture
def table(narwal):
    name = f"late_{random.randrange(10**9)}"
    c = Connection(narwal.port)
    c.query("CREATE DATABASE IF NOT EXISTS late")
    c.query(f"CREATE TABLE late.{name} (w INT NOT NULL, n INT NOT NULL, v INT NOT NULL DEFAULT 0, PRIMARY KEY (w, n))")
    yield f"late.{name}"
    c.query(f"DROP TABLE late.{name}")
    c.close()


def together(job) -> None:
    """Runs job(w) for every writer at once; the first error of any is raised."""
    errors = []

    def run(w: int) -> None:
        try:
            job(w)
        except BaseException as e:  # noqa: BLE001
            errors.append(e)

    threads = [threading.Thread(target=run, args=(w,)) for w in range(WRITERS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if errors:
        raise errors[0]


def packet(sql: str) -> bytes:
    payload = b"\x03" + sql.encode()
    return len(payload).to_bytes(3, "little") + b"\0" + payload


def test_a_client_that_does_not_wait_for_answers_gets_them_in_order(narwal, table):
    def job(w: int) -> None:
        rng = random.Random(w)
        c = Connection(narwal.port)
        for n in range(120):
            commands = [
                f"INSERT INTO {table} (w, n) VALUES ({w}, {n})",
                f"SELECT COUNT(*) FROM {table} WHERE w = {w}",
                "BEGIN",
                f"UPDATE {table} SET v = {n} WHERE w = {w} AND n = {n}",
                "COMMIT",
                f"SELECT v FROM {table} WHERE w = {w} AND n = {n}",
                f"INSERT INTO {table} (w, n) VALUES ({w}, {n})",
            ]
            # In one piece or in several, so that some come while a commit is under way.
            while commands:
                take = rng.choice([1, 1, 2, 7])
                c.sock.sendall(b"".join(packet(s) for s in commands[:take]))
                del commands[:take]
            assert c._result(False).affected == 1
            assert c._result(False).rows == [(n + 1,)]
            c._result(False)
            assert c._result(False).affected == (1 if n else 0)
            c._result(False)
            assert c._result(False).rows == [(n,)]
            with pytest.raises(Exception, match="Duplicate"):
                c._result(False)
        c.close()

    together(job)


def test_what_is_answered_is_there_for_others(narwal, table):
    def job(w: int) -> None:
        c, other = Connection(narwal.port), Connection(narwal.port)
        statement = c.prepare(f"INSERT INTO {table} (w, n) VALUES (?, ?)")
        for n in range(150):
            c.execute(statement, w, n)
            assert other.query(f"SELECT COUNT(*) FROM {table} WHERE w = {w}").rows == [(n + 1,)]
        c.close()
        other.close()

    together(job)


def test_clients_that_go_away_before_their_answer_harm_nobody(narwal, table):
    def job(w: int) -> None:
        stay = Connection(narwal.port)
        for n in range(60):
            leave = Connection(narwal.port)
            leave.sock.sendall(packet(f"INSERT INTO {table} (w, n) VALUES ({w}, {2 * n})"))
            leave.sock.close()
            stay.query(f"INSERT INTO {table} (w, n) VALUES ({w}, {2 * n + 1})")
        assert stay.query(f"SELECT COUNT(*) FROM {table} WHERE w = {w} AND n % 2 = 1").rows == [(60,)]
        stay.close()

    together(job)
