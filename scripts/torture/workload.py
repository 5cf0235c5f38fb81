"""The load of the crash torture, and its memory of what was acknowledged.

Everything the server must still know after a crash is kept here, in another process than the server: for each client
an entry per transaction number with what it wrote, when its commit was sent and when it was acknowledged.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.wire import Connection, Lost, SqlError, Statement  # noqa: E402

DATABASE = "torture"
ACCOUNTS = 100
OWNERS = 8
START_BALANCE = 1000
BIG_ROWS = 300
LARGE_ROWS = 2500  # of a transaction that outgrows memory: its events, rows and locks go to disk while it runs

SCHEMA = [
    "CREATE TABLE acct (id INT NOT NULL PRIMARY KEY, owner INT NOT NULL, balance BIGINT NOT NULL, ver BIGINT NOT NULL,"
    " pad VARCHAR(200) NOT NULL, KEY k_owner (owner), KEY k_balance (balance))",
    "CREATE TABLE journal (client INT NOT NULL, txn BIGINT NOT NULL, src INT NOT NULL, dst INT NOT NULL,"
    " amount BIGINT NOT NULL, place BIGINT, note VARCHAR(100), PRIMARY KEY (client, txn), UNIQUE KEY u_place (place),"
    " KEY k_src (src), KEY k_dst (dst))",
    "CREATE TABLE cnt (client INT NOT NULL PRIMARY KEY, txn BIGINT NOT NULL)",
    "CREATE TABLE tick (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, client INT NOT NULL, txn BIGINT NOT NULL,"
    " UNIQUE KEY u_client_txn (client, txn))",
    "CREATE TABLE hot (id INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)",
    "CREATE TABLE big (client INT NOT NULL, txn BIGINT NOT NULL, i INT NOT NULL, data TEXT NOT NULL,"
    " PRIMARY KEY (client, txn, i), KEY k_i (i))",
]

# Columns of each primary key, for the replay of the event stream; tables not named here have it in column 0.
KEYS = {"journal": (0, 1), "big": (0, 1, 2)}

# Errors after which a transaction is rolled back and tried again: deadlock, lock wait timeout, write conflict, table
# definition changed under the transaction's snapshot.
RETRY = {1213, 1205, 1020, 1412}
# Connection was killed. To a COMMIT that waits for a semi-synchronous replica when the server stops, this says nothing of its outcome.
KILLED = 1927


@dataclass
class Txn:
    """What one transaction number of a client wrote."""

    number: int
    journal: tuple | None = None  # (src, dst, amount, place or None, note)
    tick: int | None = None  # AUTO_INCREMENT value handed out
    tick_deleted: int | None = None  # an earlier transaction's number whose tick row went
    big: int = 0  # rows of a bulk insert; replaces the client's previous bulk
    data: str = ""  # what they hold
    marked: int = 0  # so many of them, from the first on, were updated afterwards: a mark is appended to the data
    large: bool = False
    xa: str = ""  # its name, if it is an XA transaction
    prepare_sent: float = 0.0  # of such a one
    prepared: float = 0.0  # XA PREPARE was acknowledged
    end_sent: float = 0.0  # XA COMMIT or XA ROLLBACK went out
    sent: float = 0.0  # just before the commit (or the autocommit statement) went out
    acked: float = 0.0  # 0: never


@dataclass
class Client:
    id: int
    txns: list[Txn] = field(default_factory=list)  # txns[i].number == i + 1

    def acked(self) -> int:
        """The highest acknowledged number: a client sends number n+1 only after n was acknowledged."""
        return next((t.number for t in reversed(self.txns) if t.acked), 0)


@dataclass
class DdlStep:
    state: tuple
    sent: float = 0.0
    acked: float = 0.0


class Ddl:
    """The tables ddl_* and one index of acct, as a chain of states; the server must be at one of the open ones."""

    def __init__(self):
        self.tables: dict[str, tuple[int, frozenset]] = {}
        self.acct_extra = False
        self.next = 1
        self.steps = [DdlStep(self.state(), acked=time.monotonic())]

    def state(self) -> tuple:
        return (frozenset(self.tables.items()), self.acct_extra)

    def choose(self, rng: random.Random) -> str:
        """Picks a statement and moves the model to the state after it."""
        names = sorted(self.tables)
        if not names or len(names) < 3 and rng.random() < 0.3:
            name = f"ddl_{self.next}"
            self.next += 1
            self.tables[name] = (0, frozenset())
            return f"CREATE TABLE {name} (id INT NOT NULL PRIMARY KEY, v INT, s VARCHAR(50))"
        name = rng.choice(names)
        rows, indexes = self.tables[name]
        what = rng.random()
        if what < 0.35:
            n = rng.randint(1, 50)
            values = ", ".join(f"({rows + i}, {(rows + i) % 7}, 'row {rows + i}')" for i in range(n))
            self.tables[name] = (rows + n, indexes)
            return f"INSERT INTO {name} (id, v, s) VALUES {values}"
        if what < 0.55:
            index = rng.choice(["k_v", "k_s"])
            if index in indexes:
                self.tables[name] = (rows, indexes - {index})
                return f"DROP INDEX {index} ON {name}"
            self.tables[name] = (rows, indexes | {index})
            return f"CREATE INDEX {index} ON {name} ({index[2:]})"
        if what < 0.7:
            self.tables[name] = (0, indexes)
            return f"TRUNCATE TABLE {name}"
        if what < 0.85:
            del self.tables[name]
            return f"DROP TABLE {name}"
        self.acct_extra = not self.acct_extra
        if self.acct_extra:
            return "CREATE INDEX k_extra ON acct (owner, balance)"
        return "DROP INDEX k_extra ON acct"

    def restore(self, state: tuple) -> None:
        """After a crash: the state that was found is the only one now."""
        self.tables = dict(state[0])
        self.acct_extra = state[1]
        self.steps = [DdlStep(state, acked=time.monotonic())]


class Load:
    """All clients of one data folder over its crashes."""

    def __init__(self, clients: int, ddl: bool, out, xa: float = 0.0):
        self.xa = xa  # how often a transaction is an XA transaction
        self.undone: set[str] = set()  # XA transactions that were prepared and then rolled back by their clients
        self.prepared = 0  # so many of them were prepared
        self.clients = [Client(i + 1) for i in range(clients)]
        self.ddl = Ddl() if ddl else None
        self.faults: list[str] = []
        self.seen: dict[int, int] = {}  # by a reader: client -> highest counter that was visible
        self.ids: set[int] = set()  # AUTO_INCREMENT values of acknowledged transactions
        self.acknowledged = 0
        self.retries = 0
        self.large_running = 0  # large transactions between BEGIN and the answer to COMMIT
        self.large_committed = 0
        self.out = out
        self.pause = 0.0  # seconds that a client rests between transactions, about
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []

    def fault(self, text: str) -> None:
        with self._lock:
            self.faults.append(text)

    # -- set-up ----------------------------------------------------------------------------------------------------
    def create(self, port: int) -> None:
        c = Connection(port)
        c.query(f"CREATE DATABASE {DATABASE}")
        c.query(f"USE {DATABASE}")
        for statement in SCHEMA:
            c.query(statement)
        rows = ", ".join(f"({i}, {i % OWNERS}, {START_BALANCE}, 0, '{'p' * (i % 60)}')" for i in range(ACCOUNTS))
        c.query(f"INSERT INTO acct (id, owner, balance, ver, pad) VALUES {rows}")
        c.query("INSERT INTO cnt (client, txn) VALUES " + ", ".join(f"({x.id}, 0)" for x in self.clients))
        c.query("INSERT INTO hot (id, n) VALUES (1, 0)")
        c.query("FLUSH LOGS")  # in mode 0 a crash may take everything that is not synced yet, these tables as well
        c.close()

    # -- threads ---------------------------------------------------------------------------------------------------
    def start(self, port: int, seed: int) -> None:
        self._stop.clear()
        jobs = [(self._client, x) for x in self.clients] + [(self._reader, None)]
        if self.ddl:
            jobs.append((self._ddl_client, None))
        self._threads = [
            threading.Thread(target=self._guard, args=(job, port, random.Random(seed * 1000 + n), who), daemon=True)
            for n, (job, who) in enumerate(jobs)
        ]
        for t in self._threads:
            t.start()

    def finish(self) -> None:
        """After the kill: every thread meets its broken connection and ends."""
        self._stop.set()
        for t in self._threads:
            t.join(60)
            if t.is_alive():
                self.fault("a client still waits 60 s after the server's end")

    def _guard(self, job, port: int, rng: random.Random, who) -> None:
        try:
            job(port, rng, who)
        except Lost:
            pass
        except SqlError as e:
            # 1053: server shutdown in progress; 1927/1317: connection or query killed, both at a clean stop.
            if e.code not in (1053, 1927, 1317):
                self.fault(f"unexpected error to {job.__name__}: {e}")

    def _client(self, port: int, rng: random.Random, client: Client) -> None:
        c = Connection(port, database=DATABASE)
        if rng.random() < 0.3:
            c.query("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        statements = {
            name: c.prepare(sql)
            for name, sql in {
                "take": "UPDATE acct SET balance = balance - ?, ver = ver + 1 WHERE id = ?",
                "give": "UPDATE acct SET balance = balance + ?, ver = ver + 1 WHERE id = ?",
                "journal": "INSERT INTO journal (client, txn, src, dst, amount, place, note) VALUES (?, ?, ?, ?, ?, ?, ?)",
                "count": "UPDATE cnt SET txn = ? WHERE client = ?",
            }.items()
        }
        while not self._stop.is_set():
            txn = Txn(len(client.txns) + 1)
            client.txns.append(txn)
            try:
                done = self._transaction(c, rng, client, txn, statements if rng.random() < 0.5 else None)
            except SqlError as e:
                if e.code not in RETRY:
                    # The transaction failed as a whole: its number is not used, unless the connection ends now.
                    if not (txn.sent and e.code == KILLED):
                        client.txns.pop()
                    raise
                self.retries += 1
                done = False
                self._undo(c, txn)
            if done:
                txn.acked = time.monotonic()
                self.acknowledged += 1
                if txn.tick is not None:
                    if txn.tick in self.ids:
                        self.fault(f"AUTO_INCREMENT value {txn.tick} was handed out twice")
                    self.ids.add(txn.tick)
                self.out.write(f"{client.id} {txn.number}\n")
            else:
                client.txns.pop()
            if self.pause:
                time.sleep(self.pause * 2 * rng.random())

    def _begin(self, c: Connection, rng: random.Random, client: Client, txn: Txn, *ways: str) -> None:
        if rng.random() < self.xa:
            txn.xa = f"{client.id}-{txn.number}"
            c.query(f"XA START '{txn.xa}'")
        else:
            c.query(rng.choice(ways))

    def _undo(self, c: Connection, txn: Txn) -> None:
        """Rolls back, also behind an error."""
        if not txn.xa:
            c.query("ROLLBACK")
            return
        for sql in (f"XA END '{txn.xa}'", f"XA ROLLBACK '{txn.xa}'"):
            try:
                c.query(sql)
            except SqlError as e:
                # 1614: it can only be rolled back now. 1399: it has ended already. 1402, 1397: it was rolled back, and is gone.
                if e.code not in (1614, 1399, 1402, 1397):
                    raise

    def _commit(self, c: Connection, rng: random.Random, txn: Txn) -> bool:
        """False if it is rolled back after all."""
        if txn.xa:
            c.query(f"XA END '{txn.xa}'")
            txn.prepare_sent = time.monotonic()
            c.query(f"XA PREPARE '{txn.xa}'")
            txn.prepared = time.monotonic()
            self.prepared += 1
            if rng.random() < 0.5:
                time.sleep(rng.random() * 0.05)
            txn.end_sent = time.monotonic()
            if rng.random() < 0.1:
                c.query(f"XA ROLLBACK '{txn.xa}'")
                self.undone.add(txn.xa)
                return False
            txn.sent = txn.end_sent
            c.query(f"XA COMMIT '{txn.xa}'")
            return True
        txn.sent = time.monotonic()
        c.query("COMMIT")
        return True

    def _transaction(self, c: Connection, rng: random.Random, client: Client, txn: Txn,
                     prepared: dict[str, Statement] | None) -> bool:  # fmt: skip
        """One transaction; False when it was rolled back on purpose."""
        kind = rng.random()
        if client.id % 3 == 0 and rng.random() < 0.15:
            with self._lock:
                self.large_running += 1
            try:
                return self._large(c, rng, client, txn)
            finally:
                with self._lock:
                    self.large_running -= 1
        if kind < 0.15:  # a lone autocommit statement
            txn.sent = time.monotonic()
            got = c.query(f"UPDATE cnt SET txn = {txn.number} WHERE client = {client.id}").affected
            self._affected("UPDATE cnt", got)
            return True
        self._begin(c, rng, client, txn, "BEGIN", "START TRANSACTION", "START TRANSACTION READ WRITE")
        if kind < 0.2:  # a bulk
            previous = next((t.number for t in reversed(client.txns[:-1]) if t.big), None)
            if previous:
                c.query(f"DELETE FROM big WHERE client = {client.id}")
            txn.big = rng.randint(1, BIG_ROWS)
            txn.data = data = chr(97 + txn.number % 26) * rng.randint(10, 1500)
            values = ", ".join(f"({client.id}, {txn.number}, {i}, '{data}')" for i in range(txn.big))
            c.query(f"INSERT INTO big (client, txn, i, data) VALUES {values}")
        place = None
        if kind > 0.7:  # the hot row: its number is the transaction's place in the commit order
            self._affected("UPDATE hot", c.query("UPDATE hot SET n = n + 1 WHERE id = 1").affected)
            place = c.query("SELECT n FROM hot WHERE id = 1").rows[0][0]
        src, dst = rng.sample(range(ACCOUNTS), 2)
        if rng.random() < 0.9:
            src, dst = sorted((src, dst))
        amount = rng.randint(-50, 50) or 1
        savepoint = rng.random() < 0.25
        if savepoint:  # work that is undone: it must leave no trace in rows, indexes or events
            c.query("SAVEPOINT a")
            c.query(f"UPDATE acct SET balance = balance + 1000000, owner = owner + 1 WHERE id = {src}")
            if rng.random() < 0.5:
                c.query(f"INSERT INTO journal (client, txn, src, dst, amount) VALUES ({client.id}, -1, 0, 0, 0)")
                c.query("SAVEPOINT b")
                c.query(f"DELETE FROM cnt WHERE client = {client.id}")
            c.query("ROLLBACK TO SAVEPOINT a")
        note = rng.choice([None, "", "é ✓ note", "x" * rng.randint(1, 100)])
        if prepared:
            got = c.execute(prepared["take"], amount, src).affected + c.execute(prepared["give"], amount, dst).affected
            c.execute(prepared["journal"], client.id, txn.number, src, dst, amount, place, note)
            got += c.execute(prepared["count"], txn.number, client.id).affected
        else:
            got = c.query(f"UPDATE acct SET balance = balance - {amount}, ver = ver + 1 WHERE id = {src}").affected
            got += c.query(f"UPDATE acct SET balance = balance + {amount}, ver = ver + 1 WHERE id = {dst}").affected
            null = lambda v: "NULL" if v is None else repr(v)  # noqa: E731
            c.query(
                "INSERT INTO journal (client, txn, src, dst, amount, place, note) VALUES "
                f"({client.id}, {txn.number}, {src}, {dst}, {amount}, {null(place)}, {null(note)})"
            )
            got += c.query(f"UPDATE cnt SET txn = {txn.number} WHERE client = {client.id}").affected
        if got != 3:
            self.fault(f"three updates of existing rows changed {got} rows")
        txn.journal = (src, dst, amount, place, note)
        if rng.random() < 0.4:
            txn.tick = c.query(f"INSERT INTO tick (client, txn) VALUES ({client.id}, {txn.number})").insert_id
            alive = {t.number for t in client.txns if t.tick} - {t.tick_deleted for t in client.txns}
            alive.discard(txn.number)
            # Deleting the newest id of all is what makes a server that forgets its counter use it again.
            if alive and rng.random() < 0.7:
                txn.tick_deleted = max(alive) if rng.random() < 0.7 else min(alive)
                self._affected("DELETE FROM tick", c.query(
                    f"DELETE FROM tick WHERE client = {client.id} AND txn = {txn.tick_deleted}").affected)  # fmt: skip
        if rng.random() < 0.07:
            self._undo(c, txn)
            return False
        return self._commit(c, rng, txn)

    def _large(self, c: Connection, rng: random.Random, client: Client, txn: Txn) -> bool:
        """A transaction of many statements and rows, with work that a savepoint and a failing statement undo."""
        self._begin(c, rng, client, txn, "BEGIN")
        c.query(f"DELETE FROM big WHERE client = {client.id}")
        rows, at = rng.randint(300, LARGE_ROWS), 0
        txn.large, txn.data = True, chr(97 + txn.number % 26) * rng.randint(10, 400)

        def insert(first: int, n: int, data: str) -> None:
            values = ", ".join(f"({client.id}, {txn.number}, {i}, '{data}')" for i in range(first, first + n))
            c.query(f"INSERT INTO big (client, txn, i, data) VALUES {values}")

        undone = rng.randrange(rows)
        while at < rows:
            n = min(rng.randint(50, 400), rows - at)
            insert(at, n, txn.data)
            at += n
            if undone is not None and at > undone:
                undone = None
                c.query("SAVEPOINT large")
                if rng.random() < 0.7:
                    insert(at + 10, rng.randint(1, 600), "undone")
                if rng.random() < 0.7:
                    c.query(f"UPDATE big SET data = 'undone' WHERE client = {client.id}")
                if rng.random() < 0.3:
                    c.query(f"DELETE FROM big WHERE client = {client.id} AND i % 3 = 0")
                c.query("ROLLBACK TO SAVEPOINT large")
            if rng.random() < 0.1:  # a statement that fails at its end, after many rows of its own
                try:
                    n_more = rng.randint(1, 300)
                    values = [f"({client.id}, {txn.number}, {i}, 'failed')" for i in range(at + 10, at + 10 + n_more)]
                    c.query("INSERT INTO big (client, txn, i, data) VALUES " + ", ".join([*values, values[0]]))
                    self.fault("a duplicate key was accepted")
                except SqlError as e:
                    if e.code != 1062:
                        raise
        if rng.random() < 0.6:
            txn.marked = rng.randint(1, rows)
            got = c.query(
                f"UPDATE big SET data = CONCAT(data, '!') WHERE client = {client.id} AND i < {txn.marked}"
            ).affected
            if got != txn.marked:
                self.fault(f"an update of {txn.marked} rows changed {got}")
        txn.big = rows
        got = c.query(f"SELECT COUNT(*) FROM big WHERE client = {client.id}").rows[0][0]
        if got != rows:
            self.fault(f"a large transaction wrote {rows} rows and sees {got}")
        self._affected("UPDATE cnt", c.query(f"UPDATE cnt SET txn = {txn.number} WHERE client = {client.id}").affected)
        if rng.random() < 0.15:
            self._undo(c, txn)
            return False
        done = self._commit(c, rng, txn)
        with self._lock:
            self.large_committed += done
        return done

    def _affected(self, what: str, got: int) -> None:
        if got != 1:
            self.fault(f"{what} of one existing row changed {got} rows")

    def _reader(self, port: int, rng: random.Random, _) -> None:
        """Reads in one snapshot: the invariants hold in it, and what was visible once must survive."""
        c = Connection(port, database=DATABASE)
        while not self._stop.is_set():
            c.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")
            total = sum(r[0] for r in c.query("SELECT balance FROM acct").rows)
            counters = dict(c.query("SELECT client, txn FROM cnt").rows)
            hot = c.query("SELECT n FROM hot WHERE id = 1").rows[0][0]
            places = [r[0] for r in c.query("SELECT place FROM journal WHERE place > 0 ORDER BY place DESC LIMIT 3").rows]
            c.query("COMMIT")
            if total != ACCOUNTS * START_BALANCE:
                self.fault(f"a snapshot saw a total balance of {total}, not {ACCOUNTS * START_BALANCE}")
            if places != list(range(hot, max(0, hot - 3), -1)):
                self.fault(f"a snapshot saw hot.n = {hot} but last places {places}")
            for client, n in counters.items():
                if n < self.seen.get(client, 0):
                    self.fault(f"client {client}'s counter went back from {self.seen[client]} to {n}")
                self.seen[client] = n
            time.sleep(rng.random() * 0.02)

    def _ddl_client(self, port: int, rng: random.Random, _) -> None:
        c = Connection(port, database=DATABASE)
        c.query("SET SESSION lock_wait_timeout = 5")
        while not self._stop.is_set():
            time.sleep(rng.random() * 0.06)
            before = self.ddl.state()
            sql = self.ddl.choose(rng)
            step = DdlStep(self.ddl.state(), sent=time.monotonic())
            self.ddl.steps.append(step)
            try:
                c.query(sql)
            except SqlError as e:
                if e.code == KILLED:
                    raise
                self.ddl.steps.pop()
                self.ddl.tables, self.ddl.acct_extra = dict(before[0]), before[1]
                if e.code not in RETRY:
                    raise
                continue
            step.acked = time.monotonic()
