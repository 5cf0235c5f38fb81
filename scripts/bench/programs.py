#!/usr/bin/env python3
"""Stored programs on Narwal and MariaDB: a loop, a cursor, inserts under a trigger (at once, and one by one), calls of a
function in a SELECT.

    scripts/bench/programs.py --narwal 3306 --mariadb 3307

takes the ports of two running servers that let root in without a password, and prints seconds.
"""

from __future__ import annotations

import argparse
import time

import pymysql

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


def single(cursor: pymysql.cursors.Cursor) -> float:
    """Seconds for as many INSERTs of one row each, in one transaction: what the trigger costs, not the commits."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        cursor.execute("BEGIN")
        for n in range(100_000):
            cursor.execute(f"INSERT INTO t (b) VALUES ({n})")
        cursor.execute("COMMIT")
        best = min(best, time.perf_counter() - start)
    return best


def seconds(port: int) -> list[float]:
    connection = pymysql.connect(host="127.0.0.1", port=port, user="root", autocommit=True)
    found = []
    with connection.cursor() as cursor:
        for sql in SETUP:
            cursor.execute(sql)
        for _, sql in CASES:
            best = float("inf")
            for _ in range(3):
                start = time.perf_counter()
                cursor.execute(sql)
                cursor.fetchall()
                while cursor.nextset():
                    pass
                best = min(best, time.perf_counter() - start)
            found.append(best)
        found.append(single(cursor))
        cursor.execute("DROP DATABASE bench_programs")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--narwal", type=int, required=True)
    parser.add_argument("--mariadb", type=int, required=True)
    options = parser.parse_args()
    ours, theirs = seconds(options.narwal), seconds(options.mariadb)
    names = [name for name, _ in CASES] + [SINGLE]
    for name, a, b in zip(names, ours, theirs, strict=True):
        print(f"{name:40} Narwal {a:7.3f} s   MariaDB {b:7.3f} s   {b / a:5.2f}")


if __name__ == "__main__":
    main()
