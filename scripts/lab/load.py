"""Connections that write until they are told to stop, whatever happens to the server: a load without a memory, for tests that compare
two servers afterwards."""

from __future__ import annotations

import contextlib
import random
import threading
import time

from .wire import Connection, Lost, SqlError

# Deadlock, lock wait, write conflict, table changed under the snapshot; server shutdown, killed.
RETRY = {1213, 1205, 1020, 1412}
ENDED = {1053, 1927, 1317, 1040}

TABLES = [
    "CREATE TABLE IF NOT EXISTS load_pk (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, w INT NOT NULL, n INT NOT NULL, s VARCHAR(300),"
    " b BLOB, KEY k_w (w, n))",
    "CREATE TABLE IF NOT EXISTS load_uk (w INT NOT NULL, n INT NOT NULL, t DATETIME(6), d DECIMAL(20,6), UNIQUE KEY (w, n))",
    "CREATE TABLE IF NOT EXISTS load_none (w INT, n INT, s TEXT)",
    "CREATE TABLE IF NOT EXISTS load_types (w INT NOT NULL, n SMALLINT UNSIGNED NOT NULL, f DOUBLE, r FLOAT, e DECIMAL(30,10), c CHAR(20),"
    " b BINARY(9), v VARBINARY(300), d DATE, t TIME(3), x DATETIME(2), s TIMESTAMP(6) NULL, y YEAR, m MEDIUMINT, u BIGINT UNSIGNED,"
    " l LONGTEXT, k TINYINT, PRIMARY KEY (n, w), KEY k_c (c), KEY k_l (l(20)))",
]


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
    """`with Load(server, "db") as load:` writes beside the body, with DDL every now and then if `ddl`."""

    def __init__(self, server, database: str, writers: int = 3, ddl: bool = True, seed: int = 1, pause: float = 0.002):
        self.server, self.database, self.pause = server, database, pause
        self.committed = 0
        self.definitions = 0
        self.faults: list[str] = []
        self._stop = threading.Event()
        self._turn = threading.Condition()
        self._working = 0
        self._quiet = False
        c = Connection(server.port)
        c.query(f"CREATE DATABASE IF NOT EXISTS {database}")
        c.query(f"USE {database}")
        for sql in TABLES:
            c.query(sql)
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
        try:
            yield
        finally:
            with self._turn:
                self._quiet = False
                self._turn.notify_all()

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
                c = Connection(self.server.port, database=self.database)
                try:
                    job(c, number, rng)
                finally:
                    c.drop()
            except Lost:
                time.sleep(0.02)
            except SqlError as e:
                if e.code not in ENDED:
                    self.faults.append(f"{job.__name__}: {e}")
                    return

    def _writer(self, c: Connection, w: int, rng: random.Random) -> None:
        while not self._stop.is_set():
            with self._work():
                self._transaction(c, w, rng)
            time.sleep(self.pause)

    def _transaction(self, c: Connection, w: int, rng: random.Random) -> None:
        try:
            c.query("BEGIN")
            for _ in range(rng.choice([1, 1, 2, 5])):
                self._change(c, w, rng)
            if rng.random() < 0.1:
                c.query("SAVEPOINT s")
                c.query(f"DELETE FROM load_pk WHERE w = {w}")
                c.query("ROLLBACK TO s")
            c.query("ROLLBACK" if rng.random() < 0.05 else "COMMIT")
            self.committed += 1
        except SqlError as e:
            if e.code not in RETRY:
                raise
            c.query("ROLLBACK")

    def _change(self, c: Connection, w: int, rng: random.Random) -> None:
        n, what = rng.randrange(200), rng.random()
        if what < 0.4:
            rows = ", ".join(
                f"({w}, {n + i}, {rng.choice(['NULL', repr('s' * rng.randrange(300))])}, REPEAT(X'00FF', {rng.choice([0, 9, 3000])}))"
                for i in range(rng.choice([1, 1, 10]))
            )
            c.query(f"INSERT INTO load_pk (w, n, s, b) VALUES {rows}")
        elif what < 0.6:
            c.query(f"UPDATE load_pk SET s = 'changed {n}', n = n + 1 WHERE w = {w} AND n = {n}")
        elif what < 0.7:
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

    def _definer(self, c: Connection, _: int, rng: random.Random) -> None:
        c.query("SET lock_wait_timeout = 20")
        name = f"{self.database}_side"
        while not self._stop.is_set():
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
                    with self._work():
                        c.query(sql)
                    self.definitions += 1
                except SqlError as e:
                    # No database, no table, index there already, no index: the round before ended at any statement.
                    if e.code not in RETRY | {1049, 1146, 1061, 1091}:
                        raise
                if self._stop.wait(0.03 + rng.random() * 0.05):
                    return
