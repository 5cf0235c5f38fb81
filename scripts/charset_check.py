#!/usr/bin/env python3
"""Asks Narwal and MariaDB for every code of each character set, both ways, and counts how many agree.

    charset_check.py NARWAL_PORT MARIADB_PORT [CHARSET...]

Both take root without a password on 127.0.0.1. For each set: all codes of one byte, and of two where it has such, to Unicode; all
characters of the BMP to the set."""

import sys

import pymysql

SKIP = {"binary"}


def pairs(cursor, sql: str) -> dict:
    cursor.execute(sql)
    return dict(cursor.fetchall())


def main() -> int:
    narwal, mariadb = (pymysql.connect(host="127.0.0.1", port=int(p), user="root", charset="utf8mb4") for p in sys.argv[1:3])
    with mariadb.cursor() as c:
        c.execute("SELECT CHARACTER_SET_NAME, MAXLEN FROM information_schema.CHARACTER_SETS ORDER BY 1")
        sets = [(n, int(w)) for n, w in c.fetchall() if n not in SKIP and (n in sys.argv[3:] or not sys.argv[3:])]
    for server in (narwal, mariadb):
        with server.cursor() as c:
            c.execute("CREATE DATABASE IF NOT EXISTS charset_check")
            c.execute("USE charset_check")
            c.execute("CREATE TABLE IF NOT EXISTS codes (n INT PRIMARY KEY, one VARBINARY(1), two VARBINARY(2), c VARCHAR(1) CHARACTER SET utf8mb4)")
            c.execute("DELETE FROM codes")
            for first in range(0, 0x10000, 4096):
                rows = []
                for n in range(first, first + 4096):
                    one = f"x'{n:02x}'" if n < 256 else "NULL"
                    char = "NULL" if 0xD800 <= n < 0xE000 else f"x'{chr(n).encode().hex()}'"
                    rows.append(f"({n}, {one}, x'{n:04x}', {char})")
                c.execute("INSERT INTO codes VALUES " + ", ".join(rows))
            server.commit()
    failed = 0
    for name, width in sets:
        asked = {
            "one byte": f"SELECT n, HEX(CONVERT(CONVERT(one USING {name}) USING utf8mb4)) FROM codes WHERE n < 256",
            "from Unicode": f"SELECT n, HEX(CONVERT(c USING {name})) FROM codes WHERE c IS NOT NULL",
        }
        if width > 1:
            asked["two bytes"] = f"SELECT n, HEX(CONVERT(CONVERT(two USING {name}) USING utf8mb4)) FROM codes"
        for what, sql in asked.items():
            with narwal.cursor() as a, mariadb.cursor() as b:
                ours, theirs = pairs(a, sql), pairs(b, sql)
            wrong = [(hex(n), ours.get(n), w) for n, w in theirs.items() if ours.get(n) != w]
            failed += len(wrong)
            print(f"{name:9} {what:12} {len(theirs) - len(wrong):6} of {len(theirs)} agree", wrong[:3] or "")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
