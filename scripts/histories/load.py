"""Random transactions by several connections, and what came of them.

Everything happens in windows that move on: a few lists, groups and ranges are in use at a time, so that transactions meet, and
new ones are empty when they come into use.
"""

from __future__ import annotations

import random
import sys
import threading
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.wire import Connection, Lost, SqlError  # noqa: E402

from record import (ABORT, BACK, COUNT, DELETE, GET, INFO, OK, READ, SAVEPOINT, SET, WRITE, WRITE_WHERE, History, Op, Row, Txn)  # noqa: E402, fmt: skip
from levels import SQL  # noqa: E402

DATABASE = "histories"
SCHEMA = [
    f"CREATE DATABASE {DATABASE}",
    f"CREATE TABLE {DATABASE}.h (id BIGINT NOT NULL PRIMARY KEY, grp INT NOT NULL, num INT NOT NULL, v VARCHAR(4000) NOT NULL,"
    " KEY k_grp (grp), KEY k_num (num, grp)) ENGINE=InnoDB",
    f"CREATE TABLE {DATABASE}.reg (id INT NOT NULL PRIMARY KEY, val BIGINT NOT NULL, KEY k_val (val)) ENGINE=InnoDB",
]
REGISTERS = 6
WINDOW = 50  # transactions until the lists, groups and ranges in use move on
LISTS, GROUPS, BANDS = 3, 4, 4
FIRST_ROW = 1_000_000  # lists have smaller ids
ALL = ["id", 0, 1 << 60]

# Deadlock, lock wait timeout, changed since the snapshot: what a transaction is repeated for.
RETRY = {1213, 1205, 1020}
KILLED = {1317, 1927, 1053, 2006, 2013}


class Shared:
    """What all clients of a run know together."""

    def __init__(self, level: str, seed: int, txns: int):
        self.level, self.seed, self.wanted = level, seed, txns
        self.lock = threading.Lock()
        self.began = time.monotonic()
        self.up = threading.Event()
        self.up.set()
        self.stop = False
        self.txns: list[Txn] = []
        self.next_token = 1
        self.rows: list[int] = []  # made lately
        self.connections: dict[int, int] = {}  # client: connection id
        self.errors: Counter = Counter()
        self.port = 0

    def now(self) -> float:
        return time.monotonic() - self.began

    def txn(self, client: int) -> Txn | None:
        with self.lock:
            if self.stop or len(self.txns) >= self.wanted:
                return None
            t = Txn(len(self.txns) + 1, client)
            self.txns.append(t)
            return t

    def token(self) -> int:
        with self.lock:
            self.next_token += 1
            return self.next_token

    def window(self, rng: random.Random) -> int:
        """The one in use; now and then the one before."""
        now = len(self.txns) // WINDOW
        return max(0, now - (rng.random() < 0.15))

    def new_row(self, rng: random.Random, window: int) -> int:
        with self.lock:
            while True:
                row = FIRST_ROW + window * 1000 + rng.randrange(BANDS) * 100 + rng.randrange(100)
                if row not in self.rows:
                    break
            self.rows.append(row)
            del self.rows[:-400]
            return row


class Ended(Exception):
    """The transaction is over; the connection is still good if `again`."""

    def __init__(self, outcome: str, why: str, again: bool):
        self.outcome, self.why, self.again = outcome, why, again


class Client(threading.Thread):
    def __init__(self, shared: Shared, number: int):
        super().__init__(daemon=True)
        self.s, self.number = shared, number
        self.rng = random.Random(f"{shared.seed}/{number}")
        self.c: Connection | None = None
        self.prepared: dict = {}
        self.savepoints: list[str] = []
        self.fault = ""

    def run(self) -> None:
        try:
            while not self.s.stop and len(self.s.txns) < self.s.wanted:
                if self.c is None and not self.connect():
                    time.sleep(0.02)
                    continue
                txn = self.s.txn(self.number)
                if txn is None:
                    break
                self.transaction(txn)
        except Exception as e:  # the runner tells of it
            self.fault = f"client {self.number}: {type(e).__name__}: {e}"
            self.s.stop = True
        if self.c:
            self.c.drop()

    def connect(self) -> bool:
        self.s.up.wait(60)
        try:
            c = Connection(self.s.port, database=DATABASE, timeout=40)
            name, snapshot = SQL[self.s.level]
            c.query(f"SET SESSION TRANSACTION ISOLATION LEVEL {name}")
            if snapshot:
                c.query(f"SET SESSION innodb_snapshot_isolation={snapshot}")
            c.query("SET SESSION innodb_lock_wait_timeout=2")
            self.s.connections[self.number] = c.query("SELECT CONNECTION_ID()").rows[0][0]
        except (Lost, SqlError):
            return False
        self.c, self.prepared = c, {}
        return True

    # -- one transaction -------------------------------------------------------------------------------------------------------
    def transaction(self, txn: Txn) -> None:
        rng = self.rng
        auto = rng.random() < 0.25
        self.txn, self.savepoints = txn, []
        txn.began = self.s.now()
        try:
            if auto:
                self.one(txn, auto=True)
                txn.outcome = OK
            else:
                self.plain(rng.choice(["BEGIN", "START TRANSACTION"] + ["START TRANSACTION WITH CONSISTENT SNAPSHOT"] * (self.s.level in ("rr", "rr-off"))))
                reader = rng.random() < 0.15
                for _ in range(rng.randint(1, 6)):
                    if rng.random() < 0.4:
                        time.sleep(rng.random() * 0.004)
                    self.one(txn, reader=reader)
                if rng.random() < 0.06:
                    txn.outcome = ABORT
                    self.plain("ROLLBACK")
                else:
                    self.commit()
                    txn.outcome = OK
        except Ended as e:
            txn.outcome, txn.why = e.outcome, e.why
            if not e.again:
                self.c.drop()
                self.c = None
        txn.ended = self.s.now()

    def plain(self, sql: str) -> None:
        try:
            self.c.query(sql)
        except SqlError as e:
            self.broken(e, ABORT)
        except Lost as e:
            raise Ended(ABORT, str(e), False) from e

    def commit(self) -> None:
        try:
            self.c.query("COMMIT")
        except SqlError as e:
            # An error of another kind does not say that nothing was committed.
            self.broken(e, ABORT if e.code in RETRY else INFO)
        except Lost as e:
            raise Ended(INFO, str(e), False) from e

    def broken(self, e: SqlError, outcome: str) -> None:
        self.s.errors[e.code] += 1
        if e.code not in RETRY | KILLED:
            raise e
        if e.code == 1317 or e.code in RETRY:
            try:
                self.c.query("ROLLBACK")
                raise Ended(outcome, str(e.code), True)
            except (Lost, SqlError):
                pass
        raise Ended(outcome, str(e.code), False) from e

    def run_op(self, op: Op, sql: str, *values, auto: bool = False):
        """Sends the statement as text or prepared, and keeps when."""
        text = sql
        for v in values:
            text = text.replace("?", str(v) if isinstance(v, int) else f"'{v}'", 1)
        op.sql, op.done = text, False
        self.txn.ops.append(op)
        writes = op.kind in (WRITE, WRITE_WHERE, DELETE, SET)
        try:
            if self.rng.random() < 0.4:
                if sql not in self.prepared:
                    if len(self.prepared) > 200:
                        raise Lost("enough statements")
                    self.prepared[sql] = self.c.prepare(sql)
                op.began = self.s.now()
                result = self.c.execute(self.prepared[sql], *values)
            else:
                op.began = self.s.now()
                result = self.c.query(text)
            op.ended = self.s.now()
            op.done = True
            return result
        except SqlError as e:
            op.ended = self.s.now()
            self.broken(e, INFO if auto and writes and e.code not in RETRY else ABORT)
        except Lost as e:
            op.began = op.began or self.s.now()
            op.ended = self.s.now()
            raise Ended(INFO if auto and writes else ABORT, str(e), False) from e

    # -- operations --------------------------------------------------------------------------------------------------------------
    def one(self, txn: Txn, auto: bool = False, reader: bool = False) -> None:
        rng = self.rng
        if reader or rng.random() < 0.45:
            return rng.choices([self.read, self.count, self.get], [6, 3, 3])[0](auto, reader)
        kinds = [self.append, self.insert, self.change, self.delete, self.change_where, self.set]
        weights = [5, 4, 4, 2, 1, 3]
        if not auto:
            kinds += [self.append_by_hand, self.savepoint, self.guarded_insert]
            weights += [2, 1.5, 2]
        rng.choices(kinds, weights)[0](auto)

    def predicate(self) -> list:
        rng, w = self.rng, self.s.window(self.rng)
        kind = rng.random()
        if kind < 0.45:
            return ["grp", w * GROUPS + rng.randrange(GROUPS)]
        if kind < 0.65:
            low = w * 40 + 10 * rng.randrange(4)
            return ["num", low, low + 9]
        if kind < 0.8:
            low = FIRST_ROW + w * 1000 + 100 * rng.randrange(BANDS)
            return ["id", low, low + 99]
        return ["id", self.target()]

    def place(self) -> list[int]:
        """A group and a number to be in."""
        w = self.s.window(self.rng)
        return [w * GROUPS + self.rng.randrange(GROUPS), w * 40 + self.rng.randrange(40)]

    def list_id(self) -> int:
        return self.s.window(self.rng) * LISTS + self.rng.randrange(LISTS) + 1

    def target(self) -> int:
        recent = self.s.rows[-12:]
        return self.rng.choice(recent) if recent and self.rng.random() < 0.6 else self.list_id()

    @staticmethod
    def condition(where: list) -> str:
        return f"{where[0]} = ?" if len(where) == 2 else f"{where[0]} BETWEEN ? AND ?"

    def lock(self, reader: bool) -> str:
        return "" if reader else self.rng.choices(["", " FOR UPDATE", " LOCK IN SHARE MODE"], [6, 1, 1])[0]

    def read(self, auto: bool, reader: bool = False, where: list | None = None) -> Op:
        rng = self.rng
        where = where or self.predicate()
        lock = self.lock(reader)
        op = Op(READ, where=where, lock=bool(lock))
        form = rng.random()
        tail = f"WHERE {self.condition(where)}"
        if form < 0.15:
            r = self.run_op(op, f"SELECT id FROM h {tail}{lock}", *where[1:], auto=auto)
            op.rows = [Row(i) for (i,) in r.rows]
        elif form < 0.27 and not lock:
            r = self.run_op(op, f"SELECT COUNT(*), GROUP_CONCAT(id, ':', v ORDER BY id SEPARATOR ';') FROM h {tail}", *where[1:], auto=auto)
            parts = [p.split(":") for p in (r.rows[0][1] or "").split(";") if p]
            op.rows = [Row(int(i), tokens(v)) for i, v in parts]
        else:
            index = rng.choice(["", "", " FORCE INDEX (k_grp)"]) if where[0] == "grp" else ""
            order = rng.choice(["", "", " ORDER BY id", " ORDER BY id DESC", " ORDER BY num"])
            r = self.run_op(op, f"SELECT id, grp, num, v FROM h{index} {tail}{order}{lock}", *where[1:], auto=auto)
            op.rows = [Row(i, tokens(v), g, n) for i, g, n, v in r.rows]
        return op

    def count(self, auto: bool, reader: bool = False, where: list | None = None) -> Op:
        where = where or self.predicate()
        op = Op(COUNT, where=where)
        if self.rng.random() < 0.3:
            sql = f"SELECT EXISTS(SELECT 1 FROM h WHERE {self.condition(where)})"
        else:
            sql = f"SELECT COUNT(*) FROM h WHERE {self.condition(where)}"
        op.n = self.run_op(op, sql, *where[1:], auto=auto).rows[0][0]
        return op

    def get(self, auto: bool, reader: bool = False) -> None:
        lock = self.lock(reader)
        op = Op(GET, lock=bool(lock))
        low = self.rng.randint(1, REGISTERS)
        high = low if self.rng.random() < 0.6 else min(REGISTERS, low + 2)
        r = self.run_op(op, f"SELECT id, val FROM reg WHERE id BETWEEN ? AND ?{lock}", low, high, auto=auto)
        op.values = [list(row) for row in r.rows]

    def set(self, auto: bool) -> None:
        row, value = self.rng.randint(1, REGISTERS), self.s.token()
        op = Op(SET, values=[[row, value]])
        if self.rng.random() < 0.25:
            self.run_op(op, "INSERT INTO reg VALUES (?, ?) ON DUPLICATE KEY UPDATE val = VALUES(val)", row, value, auto=auto)
        else:
            self.run_op(op, "UPDATE reg SET val = ? WHERE id = ?", value, row, auto=auto)

    def append(self, auto: bool) -> None:
        row, token = self.list_id(), self.s.token()
        place = [(row - 1) // LISTS * GROUPS + row % GROUPS, (row - 1) // LISTS * 40 + row % 40]
        op = Op(WRITE, id=row, token=token, birth=place)
        r = self.run_op(op, "INSERT INTO h VALUES (?, ?, ?, ?) ON DUPLICATE KEY UPDATE v = CONCAT(v, ',', VALUES(v))",
                        row, *place, str(token), auto=auto)  # fmt: skip
        op.n = r.affected

    def append_by_hand(self, auto: bool) -> None:
        """Reads the list, and writes it longer. Where a snapshot protects it, it need not be locked."""
        row, token = self.target(), self.s.token()
        careless = self.s.level in ("rr", "ser") and self.rng.random() < 0.5
        read = Op(READ, where=["id", row], lock=not careless)
        r = self.run_op(read, f"SELECT id, grp, num, v FROM h WHERE id = ?{'' if careless else ' FOR UPDATE'}", row)
        read.rows = [Row(i, tokens(v), g, n) for i, g, n, v in r.rows]
        if r.rows:
            op = Op(WRITE, id=row, token=token, where=["id", row])
            op.n = self.run_op(op, "UPDATE h SET v = ? WHERE id = ?", f"{r.rows[0][3]},{token}", row).affected

    def insert(self, auto: bool, where: list | None = None) -> None:
        w = self.s.window(self.rng)
        row, token, place = self.s.new_row(self.rng, w), self.s.token(), self.place()
        if where and where[0] == "grp":
            place[0] = where[1]
        op = Op(WRITE, id=row, token=token, birth=place)
        op.n = self.run_op(op, "INSERT INTO h (id, grp, num, v) VALUES (?, ?, ?, ?)", row, *place, str(token), auto=auto).affected

    def guarded_insert(self, auto: bool) -> None:
        """Inserts into one group if another one is empty: write skew, if two do it crosswise."""
        w = self.s.window(self.rng)
        seen, other = self.rng.sample(range(w * GROUPS, (w + 1) * GROUPS), 2)
        check = self.rng.choice([self.count, self.read])(auto, True, ["grp", seen])
        if not (check.n or check.rows):
            self.insert(auto, ["grp", self.rng.choice([seen, other])])

    def change(self, auto: bool) -> None:
        """Of one row: its group, its number, both, or nothing but the token."""
        row, token, place = self.target(), self.s.token(), self.place()
        change = self.rng.choice([[place[0], None], [None, place[1]], place, None])
        op = Op(WRITE, id=row, token=token, change=change, where=["id", row])
        sets = "".join(f", {c} = ?" for c, v in zip(("grp", "num"), change or []) if v is not None)
        op.n = self.run_op(op, f"UPDATE h SET v = CONCAT(v, ?){sets} WHERE id = ?", f",{token}",
                           *[v for v in change or [] if v is not None], row, auto=auto).affected  # fmt: skip

    def change_where(self, auto: bool) -> None:
        where, token = self.predicate(), self.s.token()
        change = None if self.rng.random() < 0.6 else [self.place()[0], None]
        op = Op(WRITE_WHERE, token=token, change=change, where=where)
        sets = ", grp = ?" if change else ""
        op.n = self.run_op(op, f"UPDATE h SET v = CONCAT(v, ?){sets} WHERE {self.condition(where)}", f",{token}",
                           *([change[0]] if change else []), *where[1:], auto=auto).affected  # fmt: skip

    def delete(self, auto: bool) -> None:
        """Never a list: these are made again by the next append."""
        where = self.predicate()
        only = f" AND id >= {FIRST_ROW}"
        op = Op(DELETE, where=["id", self.target()] if self.rng.random() < 0.6 else where)
        if op.where[0] != "id":
            # What the predicate says of lists is not true of this statement.
            low = FIRST_ROW + self.s.window(self.rng) * 1000 + 100 * self.rng.randrange(BANDS)
            op.where = ["id", low, low + 19]
        r = self.run_op(op, f"DELETE FROM h WHERE {self.condition(op.where)}{only} RETURNING id, grp, num, v", *op.where[1:], auto=auto)
        op.rows = [Row(i, tokens(v), g, n) for i, g, n, v in r.rows]
        if op.where[1] < FIRST_ROW:
            op.where = None

    def savepoint(self, auto: bool) -> None:
        if self.savepoints and self.rng.random() < 0.6:
            name = self.rng.choice(self.savepoints)
            del self.savepoints[self.savepoints.index(name) + 1 :]
            op = Op(BACK, name=name)
            self.run_op(op, f"ROLLBACK TO SAVEPOINT {name}")
        else:
            name = f"s{len(self.savepoints)}"
            self.savepoints.append(name)
            self.run_op(Op(SAVEPOINT, name=name), f"SAVEPOINT {name}")


def tokens(v: str) -> list[int]:
    return [int(t) for t in v.split(",")]


def create(port: int) -> dict[int, int]:
    c = Connection(port)
    for sql in SCHEMA:
        c.query(sql)
    c.query(f"INSERT INTO {DATABASE}.reg VALUES " + ", ".join(f"({i}, {-i})" for i in range(1, REGISTERS + 1)))
    c.close()
    return {i: -i for i in range(1, REGISTERS + 1)}


def read_all(shared: Shared) -> Txn:
    """The last transaction: everything, when nobody else is there."""
    txn = Txn(len(shared.txns) + 1, client=0, began=shared.now())
    c = Connection(shared.port, database=DATABASE)
    rows = Op(READ, sql="SELECT id, grp, num, v FROM h", began=shared.now(), where=ALL)
    rows.rows = [Row(i, tokens(v), g, n) for i, g, n, v in c.query(rows.sql).rows]
    rows.ended = shared.now()
    registers = Op(GET, sql="SELECT id, val FROM reg", began=shared.now())
    registers.values = [list(r) for r in c.query(registers.sql).rows]
    registers.ended = txn.ended = shared.now()
    c.close()
    txn.ops = [rows, registers]
    return txn


def history(shared: Shared, registers: dict[int, int]) -> History:
    return History(shared.level, [*shared.txns, read_all(shared)], registers)
