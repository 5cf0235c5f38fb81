"""Stored programs at random, from a seed: procedures, functions, triggers and compound statements whose bodies are put together of
all that the language has, well formed or nearly so. How one ends is its own business (results, an error, its time limit); the server
goes on, no statement outlives `max_statement_time` by much, and memory does not grow.

    ./fuzz programs --seconds 60 --seed 7

runs them against a server of its own until the time is over.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

import pymysql

SETUP = [
    "DROP DATABASE IF EXISTS fuzz", "CREATE DATABASE fuzz", "USE fuzz", "SET max_statement_time = 0.05", "SET max_sp_recursion_depth = 50",
    "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b VARCHAR(20), c DECIMAL(10,2))", "CREATE TABLE log (a INT, b TEXT)",
    "INSERT INTO t (b, c) VALUES ('x', 1.5), ('y', 2.5), (NULL, NULL)",
]  # fmt: skip
TYPES = ["INT", "TINYINT UNSIGNED", "VARCHAR(5)", "DECIMAL(5,2)", "DOUBLE", "DATE", "TEXT", "ROW(a INT, b VARCHAR(3))", "ROW TYPE OF t", "TYPE OF t.c"]
VALUES = ["0", "1", "-1", "NULL", "'abc'", "'12'", "1.5", "1e300", "''", "REPEAT('a', 1000)", "(1, 'x')", "@u", "NOW()", "(SELECT MAX(a) FROM t)", "9999999999"]
CONDITIONS = ["SQLEXCEPTION", "SQLWARNING", "NOT FOUND", "SQLSTATE '45000'", "1062", "1329", "SQLSTATE '22012'"]


class Body:
    """One body: what is declared so far, and how deep it is."""

    def __init__(self, r: random.Random, kind: str):
        self.r, self.kind = r, kind
        self.names = ["p0", "p1"] if kind != "trigger" else ["NEW.b", "OLD.c"]
        self.cursors: list[str] = []
        self.labels: list[str] = []
        self.count = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    def variable(self) -> str:
        # Now and then one that there is not.
        return self.r.choice(self.names) if self.r.random() < 0.995 else "nothing"

    def value(self, depth: int = 0) -> str:
        r = self.r
        if depth > 2 or r.random() < 0.4:
            return r.choice([self.variable(), self.variable(), r.choice(VALUES)]) if r.random() < 0.97 else self.variable() + ".a"
        a, b = self.value(depth + 1), self.value(depth + 1)
        return r.choice([
            f"({a} + {b})", f"({a} * {b})", f"({a} / {b})", f"CONCAT({a}, {b})", f"IF({a}, {b}, 1)", f"({a} = {b})", f"({a} < {b})", f"f{r.randrange(4)}({a}, {b})",
            f"COALESCE({a}, {b})", f"SUBSTRING({a}, {b})", f"({a} IN ({b}, 1))", f"({a} IS NULL)", f"CAST({a} AS CHAR(3))", f"LEFT({a}, 2)",
        ])  # fmt: skip

    def statement(self, depth: int) -> str:
        r = self.r
        simple = [
            lambda: f"SET {self.variable()} = {self.value()}", lambda: f"SET @u = {self.value()}", lambda: f"SELECT {self.value()}", lambda: f"SELECT a, b FROM t LIMIT 1 INTO {self.variable()}, {self.variable()}",
            lambda: f"INSERT INTO log VALUES ({self.value()}, {self.value()})", lambda: f"INSERT INTO t (b) VALUES ({self.value()})",
            lambda: f"UPDATE t SET b = {self.value()} WHERE a = {self.value()}", lambda: f"DELETE FROM log WHERE a = {self.value()} LIMIT 2",
            lambda: f"CALL p{r.randrange(4)}({self.value()}, {self.variable()})", lambda: f"SIGNAL SQLSTATE '{r.choice(['45000', '01000', '02000'])}' SET MESSAGE_TEXT = {self.value()}",
            lambda: "RESIGNAL", lambda: f"GET DIAGNOSTICS CONDITION 1 {self.variable()} = MESSAGE_TEXT", lambda: f"RETURN {self.value()}",
            lambda: f"EXECUTE IMMEDIATE {self.value()}", lambda: "COMMIT", lambda: "SAVEPOINT s", lambda: "ROLLBACK TO s", lambda: f"DO {self.value()}",
            lambda: f"FETCH {self.cursor()} INTO {self.variable()}", lambda: f"OPEN {self.cursor()}", lambda: f"CLOSE {self.cursor()}",
            lambda: f"{r.choice(['LEAVE', 'ITERATE'])} {r.choice(self.labels or ['none'])}",
        ]  # fmt: skip
        if depth > 3 or r.random() < 0.6:
            # What can't be here at all would end the whole definition: seldom.
            while (text := r.choice(simple)()) and r.random() < 0.98 and self.is_misplaced(text):
                pass
            return text
        return r.choice([self.block, self.condition, self.case, self.loop, self.loop])(depth + 1)

    def is_misplaced(self, text: str) -> bool:
        word = text.split()[0]
        within = self.kind in ("function", "trigger")
        return (
            (word in ("OPEN", "FETCH", "CLOSE") and not self.cursors)
            or (word == "RETURN" and self.kind != "function")
            or (word in ("LEAVE", "ITERATE") and not self.labels)
            or (word in ("EXECUTE", "COMMIT") and within)
            or (word == "SELECT" and within and " INTO " not in text)
            or (word == "SET" and "OLD." in text.split("=")[0])
        )

    def cursor(self) -> str:
        return self.r.choice(self.cursors) if self.cursors else "nocursor"

    def statements(self, depth: int) -> str:
        return "".join(self.statement(depth) + "; " for _ in range(self.r.randint(1, 4)))

    def block(self, depth: int = 0) -> str:
        r = self.r
        outer = (list(self.names), list(self.cursors), list(self.labels))
        parts = []
        for _ in range(r.randint(0, 3)):
            name, ty = self.name("v"), r.choice(TYPES)
            parts.append(f"DECLARE {name} {ty}" + (f" DEFAULT {self.value()}" if r.random() < 0.5 else ""))
            self.names.append(name)
        if r.random() < 0.4:
            name = self.name("c")
            parts.append(f"DECLARE {name} CURSOR FOR SELECT {r.choice(['a', 'a, b', '*', '1'])} FROM t WHERE a < 100")
            self.cursors.append(name)
        if r.random() < 0.5:
            parts.append(f"DECLARE {r.choice(['CONTINUE', 'EXIT'])} HANDLER FOR {r.choice(CONDITIONS)} {self.statement(3)}")
        label = self.name("l")
        self.labels.append(label)
        text = f"{label}: BEGIN " + "".join(p + "; " for p in parts) + self.statements(depth) + "END"
        self.names, self.cursors, self.labels = outer
        return text

    def condition(self, depth: int) -> str:
        otherwise = f" ELSE {self.statements(depth)}" if self.r.random() < 0.5 else ""
        return f"IF {self.value()} THEN {self.statements(depth)}{otherwise}END IF"

    def case(self, depth: int) -> str:
        return f"CASE {self.value()} WHEN {self.value()} THEN {self.statements(depth)}WHEN 1 THEN {self.statements(depth)}END CASE"

    def loop(self, depth: int) -> str:
        label = self.name("l")
        self.labels.append(label)
        body = self.statements(depth)
        text = self.r.choice([
            f"LOOP {body}LEAVE {label}; END LOOP", f"WHILE {self.value()} DO {body}END WHILE", f"REPEAT {body}UNTIL {self.value()} END REPEAT",
            f"FOR i IN {self.value()}..{self.value()} DO {body}END FOR", f"FOR q IN (SELECT a, b FROM t) DO {body}END FOR", f"LOOP {body}END LOOP",
        ])  # fmt: skip
        self.labels.pop()
        return f"{label}: {text}"


def one(r: random.Random) -> list[str]:
    """A definition and what makes it run, or a compound statement."""
    n = r.randrange(4)
    kind = r.choice(["procedure", "procedure", "function", "trigger", "compound"])
    body = Body(r, kind)
    if kind == "procedure":
        ty = r.choice(TYPES[:8])
        return [f"CREATE OR REPLACE PROCEDURE p{n}(p0 {ty}, {r.choice(['', 'OUT ', 'INOUT '])}p1 INT) {body.block()}", f"CALL p{n}({r.choice(VALUES)}, @u)"]
    if kind == "function":
        return [f"CREATE OR REPLACE FUNCTION f{n}(p0 INT, p1 TEXT) RETURNS {r.choice(TYPES[:7])} BEGIN {body.block()}; RETURN p0; END", f"SELECT f{n}({r.choice(VALUES)}, 'x') FROM t"]
    if kind == "trigger":
        when, event = r.choice(["BEFORE", "AFTER"]), r.choice(["INSERT", "UPDATE", "DELETE"])
        runs = {"INSERT": "INSERT INTO t (b) VALUES ('n'), ('m')", "UPDATE": "UPDATE t SET c = c + 1 WHERE a < 3", "DELETE": "DELETE FROM t WHERE a > 5 LIMIT 3"}
        return [f"CREATE OR REPLACE TRIGGER tr{n} {when} {event} ON t FOR EACH ROW {body.block()}", runs[event], f"DROP TRIGGER IF EXISTS tr{n}"]
    body.names = ["@u"]
    return [body.block().replace("BEGIN", "BEGIN NOT ATOMIC", 1).split(": ", 1)[1]]


class Found(Exception):
    """What the server did not stand; the message has the seed and the statement."""


def memory(pid: int) -> int:
    """What a process has in memory, in MiB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) // 1024
    return 0


def connect(server) -> pymysql.Connection:
    connection = pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True, read_timeout=20)
    with connection.cursor() as c:
        for sql in ("USE fuzz", "SET max_statement_time = 0.05", "SET max_sp_recursion_depth = 50"):
            c.execute(sql)
    return connection


def run(server, seed: int, goes_on) -> tuple[int, int]:
    """Programs until `goes_on(n)` says no: how many there were, and how many of their statements ended without an error."""
    with pymysql.connect(host="127.0.0.1", port=server.port, user="root", autocommit=True) as c, c.cursor() as cursor:
        for sql in SETUP:
            cursor.execute(sql)
    connection, n, good, level = connect(server), 0, 0, 0
    while goes_on(n):
        r = random.Random(f"{seed}.{n}")
        n += 1
        for sql in one(r):
            began = time.monotonic()
            try:
                with connection.cursor() as cursor:
                    cursor.execute(sql)
                    while cursor.nextset():
                        pass
                good += 1
            except pymysql.err.MySQLError as e:
                if isinstance(e, (pymysql.err.InterfaceError,)) or e.args[0] in (2006, 2013):
                    raise Found(f"seed {seed}, program {n - 1}: connection lost at {sql}\n{server.log_tail()}") from None
            if time.monotonic() - began > 10:
                raise Found(f"seed {seed}, program {n - 1}: {time.monotonic() - began:.1f} s for {sql}")
        if n % 50 == 0:
            # New rows are no growth.
            with connection.cursor() as cursor:
                cursor.execute("DELETE FROM log")
                cursor.execute("DELETE FROM t WHERE a > 3")
            connection.close()
            connection = connect(server)
        if n == 30:
            level = memory(server.process.pid)
        if level and memory(server.process.pid) > level + 400:
            raise Found(f"seed {seed}, program {n - 1}: memory went from {level} to {memory(server.process.pid)} MiB")
    connection.close()
    return n, good


def main() -> int:
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
    from testbed.servers import Narwal

    p = argparse.ArgumentParser(prog="./fuzz programs", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=float, default=30)
    p.add_argument("--seed", type=int, default=random.randrange(1 << 31))
    o = p.parse_args()
    end = time.monotonic() + o.seconds
    with tempfile.TemporaryDirectory(prefix="narwal-fuzz-") as folder:
        server = Narwal(Path(folder), [])
        server.start()
        try:
            n, good = run(server, o.seed, lambda _: time.monotonic() < end)
        except Found as e:
            print(e)
            return 1
        finally:
            server.stop()
    print(f"programs: {n} programs, {good} statements without an error, seed {o.seed}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
