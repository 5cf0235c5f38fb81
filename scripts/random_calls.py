#!/usr/bin/env python3
"""Calls of functions at random, on a MariaDB and on a Narwal: where do the answers differ?

The test files of MariaDB ask each function about the types that someone thought of. Here each gets columns and literals of
all types, a function of others among them, and the answers of both servers are compared: rows or the error (`rows`), the
warnings (`warnings`), and the column that CREATE TABLE ... SELECT makes of the call (`type`). Differences are printed with both
answers, and counted at the end. What is known to differ is in docs/differences.md; the rest is to be mended.

The servers are made for the run and ended with it.
"""

from __future__ import annotations

import argparse
import collections
import os
import random
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "lab"))
sys.path.insert(0, str(ROOT / "tests"))
from support import Client  # noqa: E402
from testbed.servers import MariaDB, Narwal  # noqa: E402

SETUP = [
    "CREATE DATABASE calls CHARACTER SET utf8mb4",
    "USE calls",
    "SET sql_mode = '', time_zone = '+02:00', timestamp = 1600000000.123456, @x = '5'",
    "CREATE TABLE t (id INT PRIMARY KEY, i INT, u BIGINT UNSIGNED, ti TINYINT, de DECIMAL(12,3), fl FLOAT, d DOUBLE,"
    " d2 DOUBLE(9,2), v VARCHAR(40), vl VARCHAR(40) CHARACTER SET latin1, ch CHAR(10), bi BINARY(6), vb VARBINARY(30), tx TEXT,"
    " bl BLOB, dt DATE, dm DATETIME, d3 DATETIME(3), tm TIME, t3 TIME(3), ts TIMESTAMP NULL, ye YEAR, en ENUM('a', 'bb', '3'),"
    " se SET('x', 'y', 'z'), bt BIT(9), js JSON, vc VARCHAR(20) COLLATE utf8mb4_bin, ui UUID, ip INET6)",
    "INSERT INTO t VALUES (1, 5, 18446744073709551615, -3, 12.345, 1.1, -3.5e10, 3.14, 'abc', 'd\u00e9f', 'x  ', 'ab\\0', x'00ff61',"
    " 'Some text', x'e9', '2024-02-29', '2020-01-31 23:59:59', '2001-12-31 11:12:13.456', '-12:30:45', '838:59:59.999',"
    " '2021-03-04 05:06:07', 2012, 'bb', 'x,z', b'101010101', '{\"a\":[1,2,\"x\"],\"b\":null}', 'Abc',"
    " '6ccd780c-baba-1026-9564-5b8c656024db', '::1')",
    "INSERT INTO t VALUES (2, -2147483648, 0, 127, -0.500, 0, 0.5, -0.01, '12abc', '2020-01-01', '', '', '', '', '', '0000-00-00',"
    " '0000-00-00 00:00:00', '2020-00-10 00:00:00', '00:00:00', '10:11:12.5', '1970-01-01 02:00:01', 0, '3', '', 0, '[]', '',"
    " '00000000-0000-0000-0000-000000000001', '::')",
    "INSERT INTO t (id) VALUES (3)",
    "INSERT INTO t VALUES (4, 42, 9223372036854775808, 0, 999999999.999, -1e38, 1e300, 123.45, '1e3', '\u00c0\u00c9', '-7.5', 'a1',"
    " '12', '2011-02-03 04:05:06', 'xyz', '1999-12-31', '1999-12-31 00:00:00', '1999-12-31 23:59:59.999', '11:59:59',"
    " '-00:00:00.5', '2038-01-19 03:14:07', 1999, 'a', 'y', 511, '\"s\"', '\u00f1\U0001f600',"
    " 'ffffffff-ffff-ffff-ffff-ffffffffffff', '1::2:3')",
]
COLUMNS = "i u ti de fl d d2 v vl ch bi vb tx bl dt dm d3 tm t3 ts ye en se bt js vc ui ip".split()
LITERALS = [
    "NULL", "0", "1", "-1", "3", "255", "1.5", "-0.05", "1e2", "12345678901234567890", "99999999999999999999", "'a'", "''", "'12'",
    "'-3.7x'", "'2020-02-30'", "'2021-05-06 07:08:09.5'", "'10:11:12'", "x'4142'", "0x41", "b'101'", "TRUE", "DATE'2020-02-29'",
    "TIME'-01:02:03.4'", "TIMESTAMP'2020-12-31 23:59:59.999999'", "_latin1 x'e9'", "_utf8mb4 x'c384' COLLATE utf8mb4_bin",
    "_binary'zz'", "20200304", "'abc,def'", "CAST(7 AS UNSIGNED)", "@x", "(SELECT 2)", "INTERVAL(3, 1, 5)",
]  # fmt: skip
UNITS = "MICROSECOND SECOND MINUTE HOUR DAY WEEK MONTH QUARTER YEAR SECOND_MICROSECOND MINUTE_SECOND HOUR_MINUTE DAY_HOUR YEAR_MONTH"
TYPES = [
    "BINARY", "BINARY(3)", "CHAR", "CHAR(4)", "CHAR(5) CHARACTER SET latin1", "DATE", "DATETIME", "DATETIME(2)", "TIME", "TIME(4)",
    "DECIMAL", "DECIMAL(8,2)", "DECIMAL(30,10)", "DOUBLE", "FLOAT", "SIGNED", "UNSIGNED", "NCHAR(3)", "UUID", "INET6",
]  # fmt: skip
FORMATS = ["'%Y-%m-%d'", "'%H:%i:%s.%f'", "'%a %b %c %D %e'", "'%j %U %u %V %v %W %w %X %x %y'", "'%r %T %p %h %k %l %M'"]
PATHS = ["'$'", "'$.a'", "'$.a[1]'", "'$[0]'", "'$**.a'", "'$.*'", "'$.b'", "'bad'"]
# Few, so that no result is long.
COUNTS = ["0", "2", "7", "-1", "NULL"]
# Forms of calls: A is an argument, the other capitals in braces are one of a list.
FORMS = [
    "BINARY {A}", "NOT {A}", "-{A}", "~{A}", "{A} XOR {A}", "{A} LIKE {A}", "{A} REGEXP {A}", "{A} = {A}", "{A} < {A}", "{A} <=> {A}",
    "{A} + {A}", "{A} - {A}", "{A} * {A}", "{A} / {A}", "{A} DIV {A}", "{A} % {A}", "{A} AND {A}", "{A} OR {A}", "{A} & {A}", "{A} | {A}",
    "{A} << {A}", "{A} IN ({A}, {A})", "{A} BETWEEN {A} AND {A}", "{A} SOUNDS LIKE {A}", "POSITION({A} IN {A})",
    "EXPORT_SET({A}, {A}, {A})", "NVL2({A}, {A}, {A})", "REPEAT({A}, {N})", "LPAD({A}, {N}, {A})", "RPAD({A}, {N})",
    "DATE_FORMAT({A}, {F})", "TIME_FORMAT({A}, {F})", "STR_TO_DATE({A}, {F})", "FROM_UNIXTIME({A}, {F})", "JSON_EXTRACT(js, {P})",
    "JSON_VALUE({A}, {P})", "JSON_QUERY({A}, {P})", "JSON_SET(js, '$.a', {A})", "JSON_SEARCH(js, 'one', {A})", "CASE {A} WHEN {A} THEN {A} ELSE {A} END",
    "CASE WHEN {A} THEN {A} WHEN {A} THEN {A} END", "INSERT({A}, {A}, {A}, {A})", "DATE_ADD({A}, INTERVAL {A} {U})",
    "DATE_SUB({A}, INTERVAL {A} {U})", "TIMESTAMPDIFF({T}, {A}, {A})", "EXTRACT({U} FROM {A})", "CAST({A} AS {C})", "CONVERT({A} USING {S})",
    "SFORMAT('{{}}|{{}}', {A}, {A})", "TRIM(LEADING {A} FROM {A})", "TRIM(BOTH {A} FROM {A})", "FIELD({A}, {A}, {A})", "ELT({A}, {A}, {A})",
    "INTERVAL({A}, {A}, {A})", "GREATEST({A}, {A}, {A})", "LEAST({A}, {A}, {A})", "COALESCE({A}, {A}, {A})", "IF({A}, {A}, {A})",
]  # fmt: skip
OF_ONE = """ABS ACOS ASCII ASIN ATAN BIN BIT_COUNT BIT_LENGTH CEIL CHAR CHAR_LENGTH CHARSET COERCIBILITY COLLATION COS COT CRC32 CRC32C
    DATE DAY DAYNAME DAYOFMONTH DAYOFWEEK DAYOFYEAR DEGREES EXP FLOOR FROM_BASE64 FROM_DAYS FROM_UNIXTIME HEX HOUR INET_ATON INET_NTOA
    INET6_ATON INET6_NTOA IS_IPV4 IS_IPV6 ISNULL JSON_VALID JSON_TYPE JSON_QUOTE JSON_UNQUOTE JSON_DEPTH JSON_LENGTH JSON_KEYS
    JSON_COMPACT JSON_LOOSE LAST_DAY LCASE LENGTH LN LOG LOG10 LOG2 LTRIM MD5 MICROSECOND MINUTE MONTH MONTHNAME NATURAL_SORT_KEY OCT
    ORD QUARTER QUOTE RADIANS REVERSE ROUND RTRIM SEC_TO_TIME SECOND SHA1 SIGN SIN SOUNDEX SPACE SQRT TAN TIME TIMESTAMP TIME_TO_SEC
    TO_BASE64 TO_DAYS TO_SECONDS TRIM UCASE UNHEX UNIX_TIMESTAMP WEEK WEEKDAY WEEKOFYEAR WEIGHT_STRING YEAR YEARWEEK TO_CHAR
    COMPRESS UNCOMPRESSED_LENGTH""".split()
OF_TWO = """ADDTIME ATAN2 CONCAT CONCAT_WS DATEDIFF FIND_IN_SET FORMAT IFNULL INSTR JSON_CONTAINS JSON_ARRAY JSON_OBJECT LEFT LOCATE LOG
    MAKEDATE MOD NULLIF PERIOD_ADD PERIOD_DIFF POW RIGHT ROUND STRCMP SUBSTR SUBTIME TIMEDIFF TRUNCATE TIMESTAMP WEEK YEARWEEK SHA2
    ADD_MONTHS MAKE_SET REGEXP_INSTR REGEXP_SUBSTR AES_ENCRYPT""".split()
OF_THREE = "CONV MAKETIME MID REPLACE SUBSTRING_INDEX SUBSTR LOCATE CONCAT_WS REGEXP_REPLACE FORMAT".split()
AGGREGATES = "COUNT SUM AVG MIN MAX BIT_AND BIT_OR BIT_XOR GROUP_CONCAT STD VAR_SAMP".split()


class Calls:
    """Makes calls."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)

    def argument(self, depth: int) -> str:
        r = self.random.random()
        if r < 0.6:
            return self.random.choice(COLUMNS)
        if r < 0.9 or depth > 1:
            return self.random.choice(LITERALS)
        return self.call(depth + 1)

    def call(self, depth: int = 0) -> str:
        r = self.random.random()
        if r < 0.4:
            form = self.random.choice(FORMS)
        else:
            count, names = self.random.choice([(1, OF_ONE), (2, OF_TWO), (3, OF_THREE)])
            form = f"{self.random.choice(names)}({', '.join(['{A}'] * count)})"
        lists = {"U": UNITS.split(), "T": UNITS.split()[:9], "C": TYPES, "F": FORMATS, "P": PATHS, "N": COUNTS}
        lists["S"] = ["latin1", "utf8mb4", "binary", "ucs2", "cp1251", "sjis"]
        while "{A}" in form:
            form = form.replace("{A}", self.argument(depth).replace("{", "\0"), 1)
        for letter, words in lists.items():
            while f"{{{letter}}}" in form:
                form = form.replace(f"{{{letter}}}", self.random.choice(words), 1)
        return f"({form})".replace("\0", "{").replace("{{}}", "{}")

    def query(self, call: str) -> str:
        return self.random.choice([
            f"SELECT id, {call} x FROM t ORDER BY id",
            f"SELECT id, {call} x FROM t ORDER BY id",
            f"SELECT id, {call} x FROM t ORDER BY id",
            f"SELECT {self.random.choice(AGGREGATES)}({call}) x FROM t",
            f"SELECT id FROM t WHERE {call} ORDER BY id",
            f"SELECT COUNT(*), {call} x FROM t GROUP BY x ORDER BY 1, MIN(id)",
        ])  # fmt: skip


def asked(client: Client, query: str) -> tuple:
    """Rows or the error, and the warnings."""
    answer = client.run(query)
    if answer.error:
        return (answer.error, str(answer)), None
    rows = answer.rows
    return rows, [tuple(w[1:]) for w in client.rows("SHOW WARNINGS")] if answer.warnings else []


def made(client: Client, call: str) -> str:
    """The column that is made of a call, or the error's number."""
    client.run("DROP TABLE IF EXISTS made")
    answer = client.run(f"CREATE TABLE made AS SELECT {call} x FROM t")
    if answer.error:
        return "error"
    return client.rows("SHOW CREATE TABLE made")[0][1].splitlines()[1].strip()


def compare(clients: list[Client], calls: Calls, number: int, kinds: set[str]) -> collections.Counter:
    counts: collections.Counter = collections.Counter()
    for _ in range(number):
        call = calls.call()
        query = calls.query(call)
        (rows, warnings), (our_rows, our_warnings) = (asked(c, query) for c in clients)
        found = []
        if rows != our_rows:
            found.append(("rows", query, rows, our_rows))
        elif warnings != our_warnings:
            found.append(("warnings", query, warnings, our_warnings))
        types = [made(c, call) for c in clients]
        if types[0] != types[1]:
            found.append(("type", call, *types))
        for kind, text, theirs, ours in found:
            counts[kind] += 1
            if kind in kinds:
                print(f"## {kind}: {text}\n  MariaDB: {str(theirs)[:400]}\n  Narwal:  {str(ours)[:400]}")
    return counts


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1, help="of the calls (%(default)s)")
    p.add_argument("--calls", type=int, default=1000, help="how many (%(default)s)")
    p.add_argument("--kinds", default="rows,type", help="which differences are printed (%(default)s); all are counted")
    p.add_argument("--narwal", help="the binary (default: NARWAL_BIN, or this tree's release build)")
    return p.parse_args()


def main() -> int:
    o = options()
    if o.narwal:
        os.environ["NARWAL_BIN"] = o.narwal
    with tempfile.TemporaryDirectory(prefix="narwal-calls-") as folder:
        servers = [MariaDB(Path(folder) / "mariadb"), Narwal(Path(folder) / "narwal")]
        try:
            for server in servers:
                server.create()
                server.start()
            # Bytes: what a server calls text need not be UTF-8.
            clients = [Client(server, use_unicode=False) for server in servers]
            for client in clients:
                for statement in SETUP:
                    client.ok(statement)
            counts = compare(clients, Calls(o.seed), o.calls, set(o.kinds.split(",")))
        finally:
            for server in servers:
                server.remove()
    told = ", ".join(f"{counts[kind]} {kind}" for kind in ("rows", "warnings", "type"))
    print(f"seed {o.seed}: of {o.calls} calls differ {told}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
