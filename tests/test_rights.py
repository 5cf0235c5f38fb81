"""Roles, privileges on columns and routines, proxies and limits: the statements of tests/rights on Narwal and on MariaDB,
each as the account that it says, with equal answers and equal texts of errors."""

from __future__ import annotations

import re
from pathlib import Path

import pymysql
import pytest
from support import Answer, Client, differences

LIST = re.compile(r"(?<=\()`[^)]*`(?=\))")


def in_order(columns: re.Match) -> str:
    """MariaDB's lists of columns come in no order."""
    return ", ".join(sorted(columns[0].split(", ")))


FILES = sorted((Path(__file__).parent / "rights").glob("*.sql"))


def steps(path: Path) -> list[tuple[int, str, str]]:
    """(line, account, statement). `-- as u` says whose connection runs what follows, `-- connect u` opens it anew."""
    found, who, text, start = [], "root", "", 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not text and line.startswith("-- as "):
            who = line[6:].strip()
        elif not text and line.startswith("-- connect "):
            who = line[11:].strip()
            found.append((number, who, ""))
        elif text or (line.strip() and not line.startswith("--")):
            start = start or number
            text += line + "\n"
            if line.rstrip().endswith(";"):
                found.append((start, who, text.strip().rstrip(";")))
                text, start = "", 0
    assert not text, f"{path}: statement without its end: {text}"
    return found


class Side:
    """One server, with a connection for each account."""

    def __init__(self, server):
        self.server, self.clients = server, {}
        self.drop()
        self.client("root").ok("CREATE DATABASE rights")

    def drop(self) -> None:
        root = self.client("root")
        root.ok("DROP DATABASE IF EXISTS rights")
        for user, host, role in root.rows("SELECT user, host, is_role FROM mysql.user"):
            if role == "Y":
                root.run("DROP ROLE `PUBLIC`" if user == "PUBLIC" else f"DROP ROLE `{user}`")
            elif user not in ("root", "mariadb.sys"):
                root.ok(f"DROP USER `{user}`@`{host}`")
        root.run("REVOKE ALL PRIVILEGES, GRANT OPTION FROM PUBLIC")

    def client(self, who: str) -> Client:
        if who not in self.clients:
            user, _, password = who.partition("/")
            self.clients[who] = Client(self.server, user=user, password=password)
        return self.clients[who]

    def connect(self, who: str) -> Answer:
        if who in self.clients:
            self.clients.pop(who).close()
        try:
            self.client(who)
        except pymysql.MySQLError as error:
            return Answer(error=error.args[0], message=str(error.args[1]))
        return Answer()

    def run(self, who: str, sql: str) -> Answer:
        answer = self.client(who).run(sql) if sql else self.connect(who)
        # Where a client comes from is another text with another port.
        answer.message = answer.message.replace("'localhost'", "'127.0.0.1'")
        if sql.upper().startswith("SHOW GRANTS"):
            answer.rows = [tuple(LIST.sub(in_order, text) for text in row) for row in answer.rows]
        return answer

    def close(self) -> None:
        for client in self.clients.values():
            client.close()
        self.clients = {}
        self.drop()
        self.client("root").close()


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.stem)
def test_rights_as_in_mariadb(narwal, mariadb, path):
    wrong = []
    sides = [Side(narwal), Side(mariadb)]
    try:
        for line, who, sql in steps(path):
            answers = [side.run(who, sql) for side in sides]
            found = differences(*answers, ordered="ORDER BY" in sql, texts=True)
            if found:
                wrong.append(f"{path.name}:{line}: {who}: {sql or 'connect'}\n    " + "\n    ".join(found))
    finally:
        for side in sides:
            side.close()
    if wrong:
        pytest.fail(f"{len(wrong)} differences (Narwal | MariaDB):\n" + "\n".join(wrong), pytrace=False)
