#!/usr/bin/env python3
"""Stored programs on Narwal and MariaDB: a loop, a cursor, inserts under a trigger (at once, and one by one), calls of a
function in a SELECT.

    scripts/bench/programs.py [--narwal BINARY]

starts one server of each and prints seconds: the best of three, the two servers' runs in turns.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pymysql

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests")]
from testbed.servers import MariaDB, Narwal, Server  # noqa: E402

ROUNDS = 3

SETUP = [
    "DROP DATABASE IF EXISTS bench_programs", "CREATE DATABASE bench_programs", "USE bench_programs",
    "CREATE TABLE numbers (a INT PRIMARY KEY, b INT)", "CREATE TABLE t (a INT PRIMARY KEY AUTO_INCREMENT, b INT)",
    "CREATE TABLE audit (id INT PRIMARY KEY AUTO_INCREMENT, a INT, b INT)",
    "INSERT INTO numbers SELECT seq, seq FROM (WITH RECURSIVE s(seq) AS (SELECT 1 UNION ALL SELECT seq + 1 FROM s WHERE seq < 1000) SELECT seq FROM s) x",
    "INSERT INTO numbers SELECT n.a * 1000 + m.a, m.a FROM numbers n JOIN numbers m WHERE n.a < 100",
    "CREATE PROCEDURE arithmetic(n INT) BEGIN DECLARE i INT DEFAULT 0; DECLARE s BIGINT DEFAULT 0;"
    " WHILE i < n DO SET s = s + i * 2 % 7; SET i = i + 1; END WHILE; SELECT s; END",
    "CREATE PROCEDURE walk() BEGIN DECLARE done INT DEFAULT 0; DECLARE x, y INT; DECLARE s BIGINT DEFAULT 0;"
    " DECLARE c CURSOR FOR SELECT a, b FROM numbers; DECLARE CONTINUE HANDLER FOR NOT FOUND SET done = 1; OPEN c;"
    " l: LOOP FETCH c INTO x, y; IF done THEN LEAVE l; END IF; SET s = s + x - y; END LOOP; CLOSE c; SELECT s; END",
    "CREATE FUNCTION f(x INT) RETURNS INT DETERMINISTIC BEGIN IF x % 2 = 0 THEN RETURN x DIV 2; END IF; RETURN x * 3 + 1; END",
    "CREATE TRIGGER tr AFTER INSERT ON t FOR EACH ROW INSERT INTO audit (a, b) VALUES (NEW.a, NEW.b)",
]  # fmt: skip

CASES = [
    ("arithmetic loop, a million turns", "CALL arithmetic(1000000)"),
    ("cursor over 100,000 rows", "CALL walk()"),
    ("100,000 inserts with an audit trigger", "INSERT INTO t (b) SELECT b FROM numbers"),
    ("100,000 function calls in a SELECT", "SELECT SUM(f(a)) FROM numbers"),
]
SINGLE = "100,000 single inserts with an audit trigger"


def statement(cursor: pymysql.cursors.Cursor, sql: str) -> float:
    """Seconds until all its results are here."""
    start = time.perf_counter()
    cursor.execute(sql)
    cursor.fetchall()
    while cursor.nextset():
        pass
    return time.perf_counter() - start


def single(cursor: pymysql.cursors.Cursor) -> float:
    """Seconds for as many INSERTs of one row each, in one transaction: what the trigger costs, not the commits."""
    start = time.perf_counter()
    cursor.execute("BEGIN")
    for n in range(100_000):
        cursor.execute(f"INSERT INTO t (b) VALUES ({n})")
    cursor.execute("COMMIT")
    return time.perf_counter() - start


def measured(servers: list[Server]) -> list[dict[str, float]]:
    """The best of some rounds, a server."""
    connections = [pymysql.connect(host="127.0.0.1", port=s.port, user="root", autocommit=True) for s in servers]
    cursors = [connection.cursor() for connection in connections]
    for cursor in cursors:
        for sql in SETUP:
            cursor.execute(sql)
    best: list[dict[str, float]] = [{} for _ in servers]
    for _ in range(ROUNDS):
        for name, sql in [*CASES, (SINGLE, "")]:
            for found, cursor in zip(best, cursors, strict=True):
                took = statement(cursor, sql) if sql else single(cursor)
                found[name] = min(found.get(name, took), took)
    for connection in connections:
        connection.close()
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--narwal", default=os.environ.get("NARWAL_BIN", str(ROOT / "target/release/narwal")), help="the binary")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="programs-"))
    servers: list[Server] = [
        Narwal(folder / "narwal", [], binary=options.narwal),
        MariaDB(folder / "mariadb", ["--innodb-buffer-pool-size=1G"]),
    ]
    try:
        servers[1].create()
        for server in servers:
            server.start()
        ours, theirs = measured(servers)
        for name, a in ours.items():
            print(f"{name:44} Narwal {a:7.3f} s   MariaDB {theirs[name]:7.3f} s   MariaDB : Narwal {theirs[name] / a:5.2f}")
    finally:
        for server in servers:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
