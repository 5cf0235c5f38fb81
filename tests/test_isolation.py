"""What the isolation levels promise: the Hermitage cases, conflicts, deadlocks, lock waits, hot rows.

REPEATABLE READ is snapshot isolation: the snapshot is made by the first plain read; a transaction that then wants
to change a row which another one has changed since gets error 1020 and is rolled back (first updater wins). It
does not prevent write skew (G2-item). READ COMMITTED takes a new snapshot for each statement.
"""

from __future__ import annotations

import threading
import time

import pytest

DEADLOCK, LOCK_WAIT, CONFLICT, NOWAIT = 1213, 1205, 1020, 1205
RC, RR = "READ COMMITTED", "REPEATABLE READ"


@pytest.fixture
def sessions(connect):
    """Makes N clients over a table test(id, value) with rows (1, 10), (2, 20)."""
    setup = connect()
    setup.ok("CREATE TABLE test (id INT PRIMARY KEY, value INT)")
    setup.ok("INSERT INTO test VALUES (1, 10), (2, 20)")

    def make(count: int, level: str):
        clients = [connect() for _ in range(count)]
        for client in clients:
            client.ok(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
            client.ok("SET innodb_lock_wait_timeout = 20")
            client.ok("BEGIN")
        return clients

    return make


def values(client) -> list:
    return client.ints("SELECT id, value FROM test ORDER BY id")


def committed(connect) -> list:
    return values(connect())


# -- Hermitage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [RC, RR])
def test_g0_no_write_cycles(sessions, connect, level):
    t1, t2 = sessions(2, level)
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    waiting = t2.background("UPDATE test SET value = 12 WHERE id = 1")
    assert waiting.blocked()
    t1.ok("UPDATE test SET value = 21 WHERE id = 2")
    t1.ok("COMMIT")
    # A transaction that only writes has no snapshot, so it goes on at either level.
    waiting.ok()
    assert committed(connect) == [(1, 11), (2, 21)]
    t2.ok("UPDATE test SET value = 22 WHERE id = 2")
    t2.ok("COMMIT")
    assert committed(connect) == [(1, 12), (2, 22)]


@pytest.mark.parametrize("level", [RC, RR])
def test_g1a_no_aborted_reads(sessions, level):
    t1, t2 = sessions(2, level)
    t1.ok("UPDATE test SET value = 101 WHERE id = 1")
    assert values(t2) == [(1, 10), (2, 20)]
    t1.ok("ROLLBACK")
    assert values(t2) == [(1, 10), (2, 20)]
    t2.ok("COMMIT")


@pytest.mark.parametrize("level", [RC, RR])
def test_g1b_no_intermediate_reads(sessions, level):
    t1, t2 = sessions(2, level)
    t1.ok("UPDATE test SET value = 101 WHERE id = 1")
    assert values(t2) == [(1, 10), (2, 20)]
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    t1.ok("COMMIT")
    assert values(t2) == [(1, 11 if level == RC else 10), (2, 20)]
    t2.ok("COMMIT")
    assert values(t2) == [(1, 11), (2, 20)]


@pytest.mark.parametrize("level", [RC, RR])
def test_g1c_no_circular_information_flow(sessions, level):
    t1, t2 = sessions(2, level)
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    t2.ok("UPDATE test SET value = 22 WHERE id = 2")
    assert t1.ints("SELECT value FROM test WHERE id = 2") == [20]
    assert t2.ints("SELECT value FROM test WHERE id = 1") == [10]
    t1.ok("COMMIT")
    t2.ok("COMMIT")


@pytest.mark.parametrize("level", [RC, RR])
def test_otv_no_vanishing_observed_transactions(sessions, connect, level):
    t1, t2, t3 = sessions(3, level)
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    t1.ok("UPDATE test SET value = 19 WHERE id = 2")
    waiting = t2.background("UPDATE test SET value = 12 WHERE id = 1")
    assert waiting.blocked()
    t1.ok("COMMIT")
    waiting.ok()
    first = t3.ints("SELECT value FROM test WHERE id = 1")
    assert first == [11]
    t2.ok("UPDATE test SET value = 18 WHERE id = 2")
    assert t3.ints("SELECT value FROM test WHERE id = 2") == [19]
    t2.ok("COMMIT")
    seen = (t3.ints("SELECT value FROM test WHERE id = 2"), t3.ints("SELECT value FROM test WHERE id = 1"))
    assert seen == (([18], [12]) if level == RC else ([19], [11]))
    t3.ok("COMMIT")
    assert committed(connect) == [(1, 12), (2, 18)]


def test_pmp_read_committed_sees_new_rows(sessions):
    t1, t2 = sessions(2, RC)
    assert t1.ints("SELECT id FROM test WHERE value = 30") == []
    t2.ok("INSERT INTO test VALUES (3, 30)")
    t2.ok("COMMIT")
    assert t1.ints("SELECT id FROM test WHERE value % 3 = 0") == [3]
    t1.ok("COMMIT")


def test_pmp_repeatable_read_has_no_phantoms(sessions):
    t1, t2 = sessions(2, RR)
    assert t1.ints("SELECT id FROM test WHERE value = 30") == []
    t2.ok("INSERT INTO test VALUES (3, 30)")
    t2.ok("COMMIT")
    assert t1.ints("SELECT id FROM test WHERE value % 3 = 0") == []
    assert t1.ints("SELECT COUNT(*) FROM test") == [2]
    t1.ok("COMMIT")
    assert t1.ints("SELECT COUNT(*) FROM test") == [3]


def test_pmp_write_predicate_read_committed(sessions, connect):
    t1, t2 = sessions(2, RC)
    t1.ok("UPDATE test SET value = value + 10")
    waiting = t2.background("DELETE FROM test WHERE value = 20")
    assert waiting.blocked()
    t1.ok("COMMIT")
    # Row 2 was 20 when the statement began, row 1 is when it goes on: a statement that then looks again deletes
    # row 1, one that only checks again what it had found deletes none. READ COMMITTED allows both.
    affected = waiting.ok().affected
    t2.ok("COMMIT")
    assert committed(connect) == ([(2, 30)] if affected else [(1, 20), (2, 30)])


def test_pmp_write_predicate_repeatable_read(sessions, connect):
    t1, t2 = sessions(2, RR)
    t1.ok("UPDATE test SET value = value + 10")
    assert values(t2) == [(1, 10), (2, 20)]
    waiting = t2.background("DELETE FROM test WHERE value = 20")
    assert waiting.blocked()
    t1.ok("COMMIT")
    assert waiting.answer().error == CONFLICT
    t2.ok("ROLLBACK")
    assert committed(connect) == [(1, 20), (2, 30)]


def test_p4_lost_update_happens_only_in_read_committed(sessions, connect):
    t1, t2 = sessions(2, RC)
    assert t1.ints("SELECT value FROM test WHERE id = 1") == [10]
    assert t2.ints("SELECT value FROM test WHERE id = 1") == [10]
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    waiting = t2.background("UPDATE test SET value = 12 WHERE id = 1")
    assert waiting.blocked()
    t1.ok("COMMIT")
    waiting.ok()
    t2.ok("COMMIT")
    assert committed(connect) == [(1, 12), (2, 20)]


def test_p4_no_lost_update_in_repeatable_read(sessions, connect):
    t1, t2 = sessions(2, RR)
    assert t1.ints("SELECT value FROM test WHERE id = 1") == [10]
    assert t2.ints("SELECT value FROM test WHERE id = 1") == [10]
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    waiting = t2.background("UPDATE test SET value = 12 WHERE id = 1")
    assert waiting.blocked()
    t1.ok("COMMIT")
    answer = waiting.answer()
    assert (answer.error, answer.sqlstate) == (CONFLICT, "HY000")
    # The whole transaction is gone: the connection is in none.
    t2.ok("UPDATE test SET value = 99 WHERE id = 2")
    t2.ok("ROLLBACK")
    assert committed(connect)[0] == (1, 11)


def test_p4_no_lost_update_when_the_other_committed_before(sessions, connect):
    t1, t2 = sessions(2, RR)
    assert t1.ints("SELECT value FROM test WHERE id = 1") == [10]
    t2.ok("UPDATE test SET value = 11 WHERE id = 1")
    t2.ok("COMMIT")
    assert t1.ints("SELECT value FROM test WHERE id = 1") == [10]
    t1.fails("UPDATE test SET value = 12 WHERE id = 1", CONFLICT)
    assert committed(connect) == [(1, 11), (2, 20)]


def test_conflict_on_deleted_row(sessions):
    t1, t2 = sessions(2, RR)
    assert len(values(t1)) == 2
    t2.ok("DELETE FROM test WHERE id = 1")
    t2.ok("COMMIT")
    assert len(values(t1)) == 2
    t1.fails("UPDATE test SET value = 0 WHERE id = 1", CONFLICT)


def test_locking_read_conflicts_too(sessions):
    t1, t2 = sessions(2, RR)
    assert len(values(t1)) == 2
    t2.ok("UPDATE test SET value = 11 WHERE id = 1")
    t2.ok("COMMIT")
    t1.fails("SELECT * FROM test WHERE id = 1 FOR UPDATE", CONFLICT)


def test_the_first_plain_read_makes_the_snapshot(sessions):
    t1, t2 = sessions(2, RR)
    # BEGIN alone does not.
    t2.ok("UPDATE test SET value = 11 WHERE id = 1")
    t2.ok("COMMIT")
    assert values(t1) == [(1, 11), (2, 20)]
    t1.ok("UPDATE test SET value = 12 WHERE id = 1")
    t1.ok("COMMIT")


def test_writes_and_locking_reads_do_not_make_the_snapshot(sessions):
    t1, t2 = sessions(2, RR)
    assert t1.ints("SELECT value FROM test WHERE id = 1 FOR UPDATE") == [10]
    t1.ok("UPDATE test SET value = 15 WHERE id = 1")
    t2.ok("UPDATE test SET value = 21 WHERE id = 2")
    t2.ok("COMMIT")
    t1.ok("UPDATE test SET value = value + 1 WHERE id = 2")
    assert values(t1) == [(1, 15), (2, 22)]
    t1.ok("COMMIT")


def test_with_consistent_snapshot_makes_it_at_once(sessions):
    t1, t2 = sessions(2, RR)
    t1.ok("COMMIT")
    t1.ok("START TRANSACTION WITH CONSISTENT SNAPSHOT")
    t2.ok("UPDATE test SET value = 11 WHERE id = 1")
    t2.ok("COMMIT")
    assert values(t1) == [(1, 10), (2, 20)]
    t1.fails("UPDATE test SET value = 12 WHERE id = 1", CONFLICT)


def test_own_changes_are_seen(sessions):
    t1, t2 = sessions(2, RR)
    assert values(t1) == [(1, 10), (2, 20)]
    t1.ok("INSERT INTO test VALUES (3, 30)")
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    t1.ok("DELETE FROM test WHERE id = 2")
    assert values(t1) == [(1, 11), (3, 30)]
    assert values(t2) == [(1, 10), (2, 20)]
    t1.ok("ROLLBACK")
    assert values(t1) == [(1, 10), (2, 20)]


@pytest.mark.parametrize("level", [RC, RR])
def test_g_single_read_skew(sessions, level):
    t1, t2 = sessions(2, level)
    assert t1.ints("SELECT value FROM test WHERE id = 1") == [10]
    assert values(t2) == [(1, 10), (2, 20)]
    t2.ok("UPDATE test SET value = 12 WHERE id = 1")
    t2.ok("UPDATE test SET value = 18 WHERE id = 2")
    t2.ok("COMMIT")
    assert t1.ints("SELECT value FROM test WHERE id = 2") == [18 if level == RC else 20]
    t1.ok("COMMIT")


def test_g_single_with_predicates(sessions):
    t1, t2 = sessions(2, RR)
    assert t1.ints("SELECT id FROM test WHERE value % 5 = 0 ORDER BY id") == [1, 2]
    t2.ok("UPDATE test SET value = 12 WHERE value = 10")
    t2.ok("COMMIT")
    assert t1.ints("SELECT id FROM test WHERE value % 3 = 0") == []
    t1.ok("COMMIT")


def test_g_single_with_a_write(sessions, connect):
    t1, t2 = sessions(2, RR)
    assert t1.ints("SELECT value FROM test WHERE id = 1") == [10]
    assert values(t2) == [(1, 10), (2, 20)]
    t2.ok("UPDATE test SET value = 12 WHERE id = 1")
    t2.ok("UPDATE test SET value = 18 WHERE id = 2")
    t2.ok("COMMIT")
    t1.fails("DELETE FROM test WHERE value = 20", CONFLICT)
    assert committed(connect) == [(1, 12), (2, 18)]


def test_g2_item_write_skew_is_allowed(sessions, connect):
    t1, t2 = sessions(2, RR)
    assert t1.ints("SELECT value FROM test WHERE id IN (1, 2) ORDER BY id") == [10, 20]
    assert t2.ints("SELECT value FROM test WHERE id IN (1, 2) ORDER BY id") == [10, 20]
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    t2.ok("UPDATE test SET value = 21 WHERE id = 2")
    t1.ok("COMMIT")
    t2.ok("COMMIT")
    assert committed(connect) == [(1, 11), (2, 21)]


def test_g2_item_write_skew_is_prevented_by_locking_reads(sessions, connect):
    t1, t2 = sessions(2, RR)
    assert t1.ints("SELECT value FROM test WHERE id IN (1, 2) ORDER BY id FOR UPDATE") == [10, 20]
    waiting = t2.background("SELECT value FROM test WHERE id IN (1, 2) ORDER BY id FOR UPDATE")
    assert waiting.blocked()
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    t1.ok("COMMIT")
    assert [int(row[0]) for row in waiting.ok().rows] == [11, 20]
    t2.ok("COMMIT")


def test_serializable_prevents_write_skew(sessions):
    t1, t2 = sessions(2, "SERIALIZABLE")
    assert t1.ints("SELECT value FROM test WHERE id IN (1, 2) ORDER BY id") == [10, 20]
    assert t2.ints("SELECT value FROM test WHERE id IN (1, 2) ORDER BY id") == [10, 20]
    waiting = t1.background("UPDATE test SET value = 11 WHERE id = 1")
    assert waiting.blocked()
    second = t2.run("UPDATE test SET value = 21 WHERE id = 2")
    first = waiting.answer()
    assert sorted([first.error, second.error]) == [0, DEADLOCK]


# -- locks ---------------------------------------------------------------------------------------------------------------


def test_deadlock_is_found_at_once(sessions, connect):
    t1, t2 = sessions(2, RR)
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    t2.ok("UPDATE test SET value = 22 WHERE id = 2")
    waiting = t1.background("UPDATE test SET value = 12 WHERE id = 2")
    assert waiting.blocked()
    began = time.monotonic()
    second = t2.run("UPDATE test SET value = 21 WHERE id = 1")
    first = waiting.answer(10)
    assert time.monotonic() - began < 10
    assert sorted([first.error, second.error]) == [0, DEADLOCK]
    victim, winner = (t1, t2) if first.error else (t2, t1)
    assert (first if first.error else second).sqlstate == "40001"
    winner.ok("COMMIT")
    # The victim is rolled back as a whole and free to begin again.
    victim.ok("COMMIT")
    expected = [(1, 11), (2, 12)] if winner is t1 else [(1, 21), (2, 22)]
    assert committed(connect) == expected


def test_deadlock_of_three(sessions, connect):
    connect().ok("INSERT INTO test VALUES (3, 30)")
    clients = sessions(3, RR)
    for number, client in enumerate(clients, 1):
        client.ok(f"UPDATE test SET value = value + 1 WHERE id = {number}")
    first = clients[0].background("UPDATE test SET value = value + 1 WHERE id = 2")
    assert first.blocked()
    second = clients[1].background("UPDATE test SET value = value + 1 WHERE id = 3")
    assert second.blocked()
    third = clients[2].background("UPDATE test SET value = value + 1 WHERE id = 1")
    answers = {}
    waiting = {0: first, 1: second, 2: third}
    end = time.monotonic() + 30
    while waiting and time.monotonic() < end:
        for number, statement in list(waiting.items()):
            if not statement.blocked(0.05):
                answers[number] = statement.answer().error
                del waiting[number]
                clients[number].ok("COMMIT")
    assert not waiting
    assert sorted(answers.values()) == [0, 0, DEADLOCK]


def test_shared_locks_are_shared_and_upgrades_deadlock(sessions):
    t1, t2 = sessions(2, RR)
    assert t1.ints("SELECT value FROM test WHERE id = 1 LOCK IN SHARE MODE") == [10]
    assert t2.ints("SELECT value FROM test WHERE id = 1 LOCK IN SHARE MODE") == [10]
    waiting = t1.background("UPDATE test SET value = 11 WHERE id = 1")
    assert waiting.blocked()
    second = t2.run("UPDATE test SET value = 12 WHERE id = 1")
    first = waiting.answer()
    assert sorted([first.error, second.error]) == [0, DEADLOCK]


def test_lock_wait_is_as_long_as_was_said_within_the_transaction(sessions, connect):
    t1, t2 = sessions(2, RR)
    t2.ok("ROLLBACK")
    t2.ok("SET innodb_lock_wait_timeout = 1")
    t2.ok("BEGIN")
    t2.ok("UPDATE test SET value = 21 WHERE id = 2")
    t2.ok("SET innodb_lock_wait_timeout = 60")
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    waiting = t2.background("UPDATE test SET value = 12 WHERE id = 1")
    assert waiting.blocked()
    time.sleep(1.5)
    t1.ok("COMMIT")
    waiting.ok()
    t2.ok("COMMIT")
    assert committed(connect) == [(1, 12), (2, 21)]


def test_nowait_does_not_wait_for_locked_tables(connect, sessions):
    holder, reader = connect(), connect()
    holder.ok("LOCK TABLES test WRITE")
    assert reader.run("SELECT * FROM test FOR UPDATE NOWAIT").error == NOWAIT
    assert reader.run("SELECT * FROM test WHERE id = 1 LOCK IN SHARE MODE WAIT 0").error == NOWAIT
    holder.ok("UNLOCK TABLES")
    assert reader.ints("SELECT id FROM test FOR UPDATE NOWAIT") == [1, 2]


def test_lock_wait_timeout_rolls_back_the_statement_only(sessions, connect):
    t1, t2 = sessions(2, RR)
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    t2.ok("SET innodb_lock_wait_timeout = 1")
    t2.ok("INSERT INTO test VALUES (5, 50)")
    began = time.monotonic()
    answer = t2.fails("UPDATE test SET value = 99", LOCK_WAIT)
    assert answer.sqlstate == "HY000"
    assert time.monotonic() - began > 0.8
    t2.ok("COMMIT")
    t1.ok("ROLLBACK")
    assert committed(connect) == [(1, 10), (2, 20), (5, 50)]


def test_nowait(sessions):
    t1, t2 = sessions(2, RR)
    t1.ok("SELECT * FROM test WHERE id = 1 FOR UPDATE")
    began = time.monotonic()
    t2.fails("SELECT * FROM test WHERE id = 1 FOR UPDATE NOWAIT", NOWAIT)
    t2.fails("SELECT * FROM test WHERE id = 1 LOCK IN SHARE MODE NOWAIT", NOWAIT)
    assert time.monotonic() - began < 5
    assert t2.ints("SELECT id FROM test WHERE id = 2 FOR UPDATE NOWAIT") == [2]
    # A plain read never waits.
    assert t2.ints("SELECT value FROM test WHERE id = 1") == [10]


def test_skip_locked(sessions):
    t1, t2, t3 = sessions(3, RR)
    assert t1.ints("SELECT id FROM test ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED") == [1]
    assert t2.ints("SELECT id FROM test ORDER BY id FOR UPDATE SKIP LOCKED") == [2]
    assert t3.ints("SELECT id FROM test ORDER BY id FOR UPDATE SKIP LOCKED") == []
    t1.ok("COMMIT")
    assert t3.ints("SELECT id FROM test ORDER BY id FOR UPDATE SKIP LOCKED") == [1]


def test_unique_key_waits_for_the_other_insert(sessions, connect):
    t1, t2, t3 = sessions(3, RR)
    t1.ok("INSERT INTO test VALUES (7, 70)")
    waiting = t2.background("INSERT INTO test VALUES (7, 77)")
    assert waiting.blocked()
    t1.ok("COMMIT")
    assert waiting.answer().error == 1062
    t1.ok("BEGIN")
    t1.ok("INSERT INTO test VALUES (8, 80)")
    waiting = t3.background("INSERT INTO test VALUES (8, 88)")
    assert waiting.blocked()
    t1.ok("ROLLBACK")
    waiting.ok()
    t3.ok("COMMIT")
    assert committed(connect)[-1] == (8, 88)


def test_deleted_key_can_be_inserted_after_the_deleter_commits(sessions, connect):
    t1, t2 = sessions(2, RR)
    t1.ok("DELETE FROM test WHERE id = 1")
    waiting = t2.background("INSERT INTO test VALUES (1, 100)")
    assert waiting.blocked()
    t1.ok("COMMIT")
    waiting.ok()
    t2.ok("COMMIT")
    assert committed(connect) == [(1, 100), (2, 20)]


def test_disconnect_releases_locks(sessions, connect):
    t1, t2 = sessions(2, RR)
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    waiting = t2.background("UPDATE test SET value = 12 WHERE id = 1")
    assert waiting.blocked()
    t1.close()
    waiting.ok()
    t2.ok("COMMIT")
    assert committed(connect) == [(1, 12), (2, 20)]


def test_a_waiting_statement_can_be_killed(sessions, connect):
    t1, t2 = sessions(2, RR)
    t1.ok("UPDATE test SET value = 11 WHERE id = 1")
    victim = t2.value("SELECT CONNECTION_ID()")
    waiting = t2.background("UPDATE test SET value = 12 WHERE id = 1")
    assert waiting.blocked()
    connect().ok(f"KILL QUERY {victim}")
    answer = waiting.answer(10)
    assert (answer.error, answer.sqlstate) == (1317, "70100")
    t2.ok("SELECT 1")


# -- many at once --------------------------------------------------------------------------------------------------------


def run_threads(work, count: int) -> None:
    failures = []

    def guarded(number: int):
        try:
            work(number)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    if failures:
        raise failures[0]


@pytest.mark.parametrize("level", [RC, RR])
def test_hot_row_counts_exactly(sessions, connect, level):
    threads, each = 16, 40
    clients = [connect() for _ in range(threads)]

    def work(number: int):
        client = clients[number]
        client.ok(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
        for _ in range(each):
            client.ok("UPDATE test SET value = value + 1 WHERE id = 1")

    run_threads(work, threads)
    assert committed(connect)[0] == (1, 10 + threads * each)


def test_transfers_keep_the_total(connect):
    accounts, threads, each = 8, 8, 40
    connect().ok("CREATE TABLE account (id INT PRIMARY KEY, balance INT, KEY (balance))")
    connect().ok("INSERT INTO account VALUES " + ", ".join(f"({n}, 100)" for n in range(accounts)))
    clients = [connect() for _ in range(threads)]
    reader, stop, sums = connect(), threading.Event(), []

    def read():
        while not stop.is_set():
            sums.extend(reader.ints("SELECT SUM(balance) FROM account"))

    watcher = threading.Thread(target=read)
    watcher.start()
    done = [0] * threads

    def work(number: int):
        client = clients[number]
        while done[number] < each:
            source, target = (number + done[number]) % accounts, (number * 3 + done[number] * 5 + 1) % accounts
            for statement in (
                "BEGIN",
                f"SELECT balance FROM account WHERE id = {source}",
                f"UPDATE account SET balance = balance - 1 WHERE id = {source}",
                f"UPDATE account SET balance = balance + 1 WHERE id = {target}",
                "COMMIT",
            ):
                answer = client.run(statement)
                assert answer.error in (0, DEADLOCK, CONFLICT, LOCK_WAIT), answer
                if answer.error:
                    client.ok("ROLLBACK")
                    break
            else:
                done[number] += 1

    try:
        run_threads(work, threads)
    finally:
        stop.set()
        watcher.join(30)
    assert set(sums) == {accounts * 100}
    client = connect()
    assert client.ints("SELECT SUM(balance) FROM account") == [accounts * 100]
    # The index tells the same as the rows.
    by_rows = sorted(client.ints("SELECT balance FROM account WHERE id >= 0"))
    assert client.ints("SELECT balance FROM account WHERE balance > -1000 ORDER BY balance") == by_rows


def test_read_modify_write_in_repeatable_read_loses_nothing(connect):
    threads, each = 6, 25
    connect().ok("CREATE TABLE counter (id INT PRIMARY KEY, n INT)")
    connect().ok("INSERT INTO counter VALUES (1, 0)")
    clients = [connect() for _ in range(threads)]

    def work(number: int):
        client, done = clients[number], 0
        while done < each:
            client.ok("BEGIN")
            seen = client.ints("SELECT n FROM counter WHERE id = 1")[0]
            answer = client.run(f"UPDATE counter SET n = {seen + 1} WHERE id = 1")
            assert answer.error in (0, CONFLICT, DEADLOCK), answer
            if answer.error:
                client.ok("ROLLBACK")
                continue
            client.ok("COMMIT")
            done += 1

    run_threads(work, threads)
    assert connect().ints("SELECT n FROM counter") == [threads * each]


def test_queue_with_skip_locked_takes_each_job_once(connect):
    jobs, threads = 120, 6
    connect().ok("CREATE TABLE job (id INT PRIMARY KEY, owner INT)")
    connect().ok("INSERT INTO job VALUES " + ", ".join(f"({n}, NULL)" for n in range(jobs)))
    clients = [connect() for _ in range(threads)]
    taken: list[int] = []

    def work(number: int):
        client = clients[number]
        client.ok(f"SET SESSION TRANSACTION ISOLATION LEVEL {RC}")
        empty = 0
        while empty < 3:
            client.ok("BEGIN")
            found = client.ints("SELECT id FROM job WHERE owner IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED")
            if not found:
                client.ok("COMMIT")
                empty += 1
                time.sleep(0.02)
                continue
            assert client.ok(f"UPDATE job SET owner = {number} WHERE id = {found[0]}").affected == 1
            client.ok("COMMIT")
            taken.append(found[0])

    run_threads(work, threads)
    assert sorted(taken) == list(range(jobs))


# -- rows that move while they are looked for --------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [RC, "SERIALIZABLE"])
@pytest.mark.parametrize("last", ["", " ORDER BY num DESC", " ORDER BY v"])
def test_a_row_that_moves_in_the_index_is_changed_once(connect, level, last):
    """Others move rows within the range of an index while UPDATE, which looks for rows by it, waits for their locks."""
    setup = connect()
    setup.ok("CREATE TABLE moves (id INT PRIMARY KEY, num INT NOT NULL, grp INT NOT NULL, v VARCHAR(100) NOT NULL, KEY k (num, grp))")
    setup.ok("INSERT INTO moves SELECT seq, seq, 10, '' FROM (WITH RECURSIVE s AS (SELECT 1 seq UNION ALL SELECT seq + 1 FROM s WHERE seq < 60) SELECT seq FROM s) d")
    other, client = connect(), connect()
    client.ok(f"SET SESSION TRANSACTION ISOLATION LEVEL {level}")
    client.ok("SET SESSION innodb_snapshot_isolation = OFF")
    other.ok("BEGIN")
    for row, grp in ((1, 11), (2, 9), (30, 12), (59, 8), (60, 13)):
        other.ok(f"UPDATE moves SET grp = {grp}, v = 'o' WHERE id = {row}")
    waiting = client.background(f"UPDATE moves FORCE INDEX (k) SET v = CONCAT(v, 'x') WHERE num BETWEEN 1 AND 60{last}")
    assert waiting.blocked()
    other.ok("COMMIT")
    waiting.ok()
    wanted = [(n, "ox" if n in (1, 2, 30, 59, 60) else "x") for n in range(1, 61)]
    assert setup.rows("SELECT id, v FROM moves ORDER BY id") == [(str(n), v) for n, v in wanted]
