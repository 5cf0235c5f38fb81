#!/usr/bin/env python3
"""Records what a MariaDB 10.11 answers to the statements of a file: a syntax error and where, or none.

usage: scripts/record_syntax_answers.py FILE [--port N | --socket PATH]

FILE has a statement a line, behind its answer and a tab: `ok`, or `1064` and the text that the error is near. The answers
are written anew; a new statement may stand there without an answer. MariaDB is asked by PREPARE, which parses and runs
nothing; any error but 1064 is `ok`. It must be running, as root without a password.
"""

import argparse
import pathlib
import re

import pymysql

NEAR = re.compile(r"near '(.*)' at line \d+$", re.S)


def answer(cursor, statement):
    """What MariaDB says of a statement."""
    try:
        cursor.execute("PREPARE s FROM %s", (statement,))
    except pymysql.MySQLError as e:
        if e.args[0] == 1064:
            near = NEAR.search(e.args[1])
            return "1064 " + (near.group(1) if near else "?")
    return "ok"


def main():
    args = argparse.ArgumentParser()
    args.add_argument("file", type=pathlib.Path)
    args.add_argument("--port", type=int, default=3306)
    args.add_argument("--socket")
    args = args.parse_args()
    at = {"unix_socket": args.socket} if args.socket else {"host": "127.0.0.1", "port": args.port}
    cursor = pymysql.connect(user="root", autocommit=True, **at).cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS test")
    cursor.execute("USE test")
    lines = []
    for line in args.file.read_text().splitlines():
        if line.startswith("#") or not line:
            lines.append(line)
            continue
        statement = line.split("\t", 1)[-1]
        lines.append(f"{answer(cursor, statement)}\t{statement}")
    args.file.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
