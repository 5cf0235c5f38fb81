"""Connections that write until they are told to stop, whatever happens to the server, for tests that compare servers afterwards.

Of its transactions the load remembers numbers only: each notes its writer's number in `load_marks`, and of each the acknowledgement
and, if asked for, the GTID are kept here. That says of any state of these marks whether something acknowledged is missing, and
whether it is a prefix of the history.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from dataclasses import dataclass, field

from .wire import Connection, Lost, SqlError

# Deadlock, lock wait, write conflict, table changed under the snapshot; server shutdown, killed.
RETRY = {1213, 1205, 1020, 1412}
ENDED = {1053, 1927, 1317, 1040}
# The server has become read-only: the place to write is another one, or will be.
READ_ONLY = {1290, 1836}

HOT = 8
SLOTS = 40

TABLES = [
    "CREATE TABLE IF NOT EXISTS load_pk (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, w INT NOT NULL, n INT NOT NULL, s VARCHAR(300),"
    " b BLOB, KEY k_w (w, n))",
    "CREATE TABLE IF NOT EXISTS load_uk (w INT NOT NULL, n INT NOT NULL, t DATETIME(6), d DECIMAL(20,6), UNIQUE KEY (w, n))",
    "CREATE TABLE IF NOT EXISTS load_none (w INT, n INT, s TEXT)",
    "CREATE TABLE IF NOT EXISTS load_types (w INT NOT NULL, n SMALLINT UNSIGNED NOT NULL, f DOUBLE, r FLOAT, e DECIMAL(30,10), c CHAR(20),"
    " b BINARY(9), v VARBINARY(300), d DATE, t TIME(3), x DATETIME(2), s TIMESTAMP(6) NULL, y YEAR, m MEDIUMINT, u BIGINT UNSIGNED,"
    " l LONGTEXT, k TINYINT, PRIMARY KEY (n, w), KEY k_c (c), KEY k_l (l(20)))",
    # What many writers change: rows, and values of a unique key that wander from row to row.
    "CREATE TABLE IF NOT EXISTS load_hot (id INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS load_slots (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, slot INT, w INT NOT NULL, UNIQUE KEY (slot))",
    "CREATE TABLE IF NOT EXISTS load_big (w INT NOT NULL, i INT NOT NULL, data TEXT NOT NULL, PRIMARY KEY (w, i))",
    "CREATE TABLE IF NOT EXISTS load_marks (w INT NOT NULL PRIMARY KEY, n BIGINT NOT NULL)",
]


@dataclass
class Marks:
    """What is known of one writer's transactions."""

    acknowledged: int = 0
    sent: int = 0
    # Sequence numbers of those whose GTID is known.
    places: dict[int, int] = field(default_factory=dict)
    # The server ended since the writer looked last, and may have lost what it had acknowledged.
    may_lack: bool = False


@dataclass
class Seen:
    """A state of all marks on some server, in one snapshot."""

    where: str
    marks: dict[int, int]
    # The last sequence number that this state holds, where it is known.
    position: int | None = None


def _typed(w: int, n: int, rng: random.Random) -> str:
    """A row of load_types."""
    values = [
        str(w), str(n), repr(rng.uniform(-1e9, 1e9)), str(rng.randint(-999, 999) / 8), f"{rng.randint(-10**12, 10**12)}.{rng.randrange(10**6):06}",
        rng.choice(["''", "'c  '", "'žluť'", f"'{n}'"]), rng.choice(["''", "X'00'", "X'61000062'"]), f"REPEAT(X'00FE', {rng.choice([0, 1, 150])})",
        f"'{rng.randint(1900, 2100)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}'", f"'{rng.choice(['', '-'])}{rng.randint(0, 838)}:00:{n % 60:02}.{n % 1000:03}'",
        "NOW(2)", "NOW(6)", str(rng.randint(1901, 2155)), str(rng.randint(-(2**23), 2**23 - 1)), str(rng.randrange(2**64)),
        f"REPEAT('{rng.choice(['l', '🐎'])}', {rng.choice([0, 10, 5000])})", str(rng.randint(-128, 127)),
    ]  # fmt: skip
    return "(" + ", ".join([*values[:2], *("NULL" if rng.random() < 0.1 else v for v in values[2:])]) + ")"


class Load:
    """`with Load(server, "db") as load:` writes beside the body, with DDL every now and then if `ddl`.

    `large`: how often a transaction has thousands of rows. `gtids`: each transaction's GTID is asked for. `user`: who writes, an
    account without a password; it is created if it is not root, and read_only binds it.
    """

    def __init__(self, server, database: str, writers: int = 3, ddl: bool = True, seed: int = 1, pause: float = 0.002,
                 large: float = 0, gtids: bool = False, user: str = "root"):  # fmt: skip
        self.server, self.database, self.pause = server, database, pause
        self.large, self.gtids, self.user = large, gtids, user
        self.marks = {w: Marks() for w in range(writers)}
        # May every restarted server have lost acknowledged transactions (innodb_flush_log_at_trx_commit=0)? See also may_have_lost.
        self.lossy = False
        self.committed = 0
        # Of the GTIDs that the server gives.
        self.domain = 0
        self.definitions = 0
        self.faults: list[str] = []
        self._stop = threading.Event()
        self._turn = threading.Condition()
        self._working = 0
        self._quiet = False
        self._defining = threading.Lock()
        c = Connection(server.port)
        c.query(f"CREATE DATABASE IF NOT EXISTS {database}")
        c.query(f"USE {database}")
        self.domain = int(c.query("SELECT @@GLOBAL.gtid_domain_id").rows[0][0])
        for sql in TABLES:
            c.query(sql)
        # Another load may have been here before.
        c.query("INSERT IGNORE INTO load_marks VALUES " + ", ".join(f"({w}, 0)" for w in self.marks))
        c.query("INSERT IGNORE INTO load_hot VALUES " + ", ".join(f"({i}, 0)" for i in range(HOT)))
        for w, n in c.query("SELECT w, n FROM load_marks").rows:
            if w in self.marks:
                self.marks[w] = Marks(acknowledged=n, sent=n)
        if user != "root":
            c.query(f"CREATE USER IF NOT EXISTS '{user}'@'%'")
            c.query(f"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE, DROP, INDEX, ALTER ON *.* TO '{user}'@'%'")
        c.close()
        jobs = [(self._writer, i) for i in range(writers)] + ([(self._definer, 0)] if ddl else [])
        self._threads = [
            threading.Thread(target=self._run, args=(job, i, random.Random(seed * 100 + n)), daemon=True)
            for n, (job, i) in enumerate(jobs)
        ]

    def __enter__(self) -> Load:
        for t in self._threads:
            t.start()
        return self

    def __exit__(self, kind, *_) -> None:
        self._stop.set()
        for t in self._threads:
            t.join(60)
        if kind is None:
            assert not self.faults, self.faults[:5]
            assert self.committed > 0

    def wait(self, transactions: int, seconds: float = 30) -> None:
        """Until so many more are committed."""
        goal, end = self.committed + transactions, time.monotonic() + seconds
        while self.committed < goal and not self.faults:
            assert time.monotonic() < end, f"{self.committed} committed, waiting for {goal}"
            time.sleep(0.005)

    @contextlib.contextmanager
    def quiet(self):
        """Nothing is under way during the body."""
        with self._turn:
            self._quiet = True
            assert self._turn.wait_for(lambda: not self._working, 120)
        # A writer that paused when its server was killed does not know yet what that took.
        if self.lossy or any(m.may_lack for m in self.marks.values()):
            self._forget_lost(self.look(self.server, "").marks)
        try:
            yield
        finally:
            with self._turn:
                self._quiet = False
                self._turn.notify_all()

    def _forget_lost(self, found: dict[int, int]) -> None:
        for w, mark in self.marks.items():
            n = found.get(w, -1)
            if n < mark.acknowledged:
                mark.acknowledged = mark.sent = n
                mark.places = {k: v for k, v in mark.places.items() if k <= n}
            mark.may_lack = False

    def may_have_lost(self) -> None:
        """To be called between the server's end and its next start: this end may have taken acknowledged transactions."""
        for mark in self.marks.values():
            mark.may_lack = True

    @contextlib.contextmanager
    def no_definitions(self):
        """No DDL is under way during the body; other transactions go on."""
        with self._defining:
            yield

    def move(self, server) -> None:
        """Writes to another server from now on; every connection is made anew."""
        self.server = server

    # -- what the marks say ----------------------------------------------------------------------------------------
    def look(self, server, where: str, position: bool = False) -> Seen:
        """The marks on a server; `position`: nothing is applied there now, and its gtid_slave_pos says where it stands."""
        c = Connection(server.port, database=self.database)
        try:
            marks = dict(c.query("SELECT w, n FROM load_marks").rows)
            if not position:
                return Seen(where, marks)
            gtids = c.query("SELECT @@GLOBAL.gtid_slave_pos").rows[0][0] or ""
        finally:
            c.close()
        of_domain = {g.split("-")[0]: int(g.split("-")[2]) for g in gtids.split(",") if g}
        return Seen(f"{where} at {gtids}", marks, of_domain.get(str(self.domain), 0))

    def missing(self, server) -> list[str]:
        """What was acknowledged and is not on this server, in words."""
        found = self.look(server, "").marks
        return [
            f"writer {w} of {self.database}: {m.acknowledged} acknowledged, {found.get(w)} on port {server.port}"
            for w, m in self.marks.items()
            if found.get(w, -1) < m.acknowledged
        ]

    def not_a_prefix(self, seen: Seen) -> str:
        """Why a state is not one that the history has gone through, in words, or nothing. GTIDs must have been asked for."""
        last, what = seen.position or 0, f"it stands at {seen.position}"
        if seen.position is not None:
            for w, n in seen.marks.items():
                if (place := self.marks[w].places.get(n, 0)) > last:
                    return f"{seen.where}: holds transaction {n} of writer {w} with sequence number {place}, but {what}"
        else:
            for w, n in seen.marks.items():
                if (place := self.marks[w].places.get(n, 0)) > last:
                    last, what = place, f"has transaction {n} of writer {w} with sequence number {place}"
        for w, n in seen.marks.items():
            place = self.marks[w].places.get(n + 1)
            if place is not None and place <= last:
                return f"{seen.where}: {what}, but lacks transaction {n + 1} of writer {w} with sequence number {place}"
        return ""

    @contextlib.contextmanager
    def _work(self):
        with self._turn:
            self._turn.wait_for(lambda: not self._quiet)
            self._working += 1
        try:
            yield
        finally:
            with self._turn:
                self._working -= 1
                self._turn.notify_all()

    def _run(self, job, number: int, rng: random.Random) -> None:
        while not self._stop.is_set():
            try:
                server = self.server
                c = Connection(server.port, user=self.user, database=self.database)
                try:
                    job(c, number, rng, lambda: self.server is server and not self._stop.is_set())
                finally:
                    c.drop()
            except Lost:
                time.sleep(0.02)
            except SqlError as e:
                if e.code in READ_ONLY and self.user != "root":
                    time.sleep(0.02)
                elif e.code not in ENDED:
                    self.faults.append(f"{job.__name__}: {e}")
                    return

    def _writer(self, c: Connection, w: int, rng: random.Random, go_on) -> None:
        with self._work():
            if go_on():
                self._resume(c, w)
        while go_on():
            with self._work():
                if go_on():
                    self._transaction(c, w, rng)
            time.sleep(self.pause)

    def _resume(self, c: Connection, w: int) -> None:
        """What became of the transaction that was under way when the last connection ended."""
        found, mark = c.query(f"SELECT n FROM load_marks WHERE w = {w}").rows, self.marks[w]
        n = found[0][0] if found else -1
        if n > mark.sent or n < mark.acknowledged and not (self.lossy or mark.may_lack):
            self.faults.append(f"writer {w} of {self.database}: {mark.acknowledged} acknowledged, {mark.sent} sent, {n} there")
        mark.acknowledged = mark.sent = n
        mark.places = {k: v for k, v in mark.places.items() if k <= n}
        mark.may_lack = False

    def _transaction(self, c: Connection, w: int, rng: random.Random) -> None:
        try:
            c.query("BEGIN")
            if rng.random() < self.large:
                self._large(c, w, rng)
            for _ in range(rng.choice([1, 1, 2, 5])):
                self._change(c, w, rng)
            if rng.random() < 0.1:
                c.query("SAVEPOINT s")
                c.query(f"DELETE FROM load_pk WHERE w = {w}")
                c.query("ROLLBACK TO s")
            mark = self.marks[w]
            n = mark.acknowledged + 1
            c.query(f"UPDATE load_marks SET n = {n} WHERE w = {w}")
            if rng.random() < 0.05:
                c.query("ROLLBACK")
                return
            mark.sent = n
            c.query("COMMIT")
            mark.acknowledged = n
            self.committed += 1
            if self.gtids:
                mark.places[n] = int(c.query("SELECT @@last_gtid").rows[0][0].split("-")[2])
        except SqlError as e:
            if e.code not in RETRY:
                raise
            c.query("ROLLBACK")

    def _large(self, c: Connection, w: int, rng: random.Random) -> None:
        """Thousands of rows in several statements; those of the large transaction before go."""
        c.query(f"DELETE FROM load_big WHERE w = {w}")
        rows, data = rng.choice([300, 3000, 6000]), chr(97 + rng.randrange(26)) * rng.randint(10, 400)
        for first in range(0, rows, 500):
            last = min(first + 500, rows)
            c.query("INSERT INTO load_big VALUES " + ", ".join(f"({w}, {i}, '{data}')" for i in range(first, last)))
        c.query(f"UPDATE load_big SET data = CONCAT(data, '!') WHERE w = {w} AND i < {rng.randrange(rows)}")

    def _change(self, c: Connection, w: int, rng: random.Random) -> None:
        n, what = rng.randrange(200), rng.random()
        if what < 0.4:
            rows = ", ".join(
                f"({w}, {n + i}, {rng.choice(['NULL', repr('s' * rng.randrange(300))])}, REPEAT(X'00FF', {rng.choice([0, 9, 3000])}))"
                for i in range(rng.choice([1, 1, 10]))
            )
            c.query(f"INSERT INTO load_pk (w, n, s, b) VALUES {rows}")
        elif what < 0.5:
            for i in sorted(rng.sample(range(HOT), rng.choice([1, 1, 3]))):
                c.query(f"UPDATE load_hot SET n = n + 1 WHERE id = {i}")
        elif what < 0.55:
            for slot in sorted(rng.sample(range(SLOTS), 2)):
                if rng.random() < 0.5:
                    c.query(f"DELETE FROM load_slots WHERE slot = {slot}")
                c.query(f"REPLACE INTO load_slots (slot, w) VALUES ({slot}, {w})")
        elif what < 0.65:
            c.query(f"UPDATE load_pk SET s = 'changed {n}', n = n + 1 WHERE w = {w} AND n = {n}")
        elif what < 0.72:
            c.query(f"DELETE FROM load_pk WHERE w = {w} AND n < {n // 4}")
        elif what < 0.8:
            c.query("REPLACE INTO load_types VALUES " + ", ".join(_typed(w, n + i, rng) for i in range(rng.choice([1, 3]))))
            c.query(f"UPDATE load_types SET c = CONCAT(LEFT(COALESCE(c, ''), 10), 'u'), k = NULL, u = {n} WHERE w = {w} AND n > {n}")
        elif what < 0.95:
            c.query(f"REPLACE INTO load_uk VALUES ({w}, {n}, NOW(6), {rng.random() * 1e6:.6f})")
        else:
            c.query(f"INSERT INTO load_none VALUES ({w}, {n}, 'é {n}')")
            # A replica looks for each row of this table in all of it, so that stays small.
            if rng.random() < 0.5:
                c.query(f"DELETE FROM load_none WHERE w = {w} AND n < 180")

    def _definer(self, c: Connection, _: int, rng: random.Random, go_on) -> None:
        c.query("SET lock_wait_timeout = 20")
        name = f"{self.database}_side"
        while go_on():
            for sql in (
                f"CREATE DATABASE IF NOT EXISTS {name}",
                f"CREATE TABLE IF NOT EXISTS {name}.t (id INT PRIMARY KEY, v VARCHAR(20) DEFAULT 'ž')",
                f"INSERT IGNORE INTO {name}.t (id) VALUES (1), (2)",
                "ALTER TABLE load_pk ADD INDEX k_s (s(10))",
                "ALTER TABLE load_none ADD INDEX k_n (n)",
                f"TRUNCATE TABLE {name}.t",
                "ALTER TABLE load_pk DROP INDEX k_s",
                "ALTER TABLE load_none DROP INDEX k_n",
                f"DROP TABLE IF EXISTS {name}.t",
                f"DROP DATABASE IF EXISTS {name}",
            ):
                try:
                    with self._defining, self._work():
                        if not go_on():
                            return
                        c.query(sql)
                    self.definitions += 1
                except SqlError as e:
                    # No database, no table, index there already, no index: the round before ended at any statement.
                    if e.code not in RETRY | {1049, 1146, 1061, 1091}:
                        raise
                if self._stop.wait(0.03 + rng.random() * 0.05):
                    return
