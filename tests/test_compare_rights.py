"""Grants at random on Narwal and on MariaDB: what MariaDB refuses is refused.

NARWAL_RIGHTS sets how many cases, NARWAL_SEED repeats a run. A long run, which compares the errors too and
asks what Narwal alone refuses, is `scripts/compare_rights.py`.
"""

from __future__ import annotations

import os

import pytest
import rights_text as rights
from support import Client

# Narwal asks for more: docs/accounts.md.
STRICTER = (
    "UPDATE d1.v_", "DELETE FROM d1.v_", "UPDATE d1.t1, d1.t2", "HANDLER", "LOCK TABLES", "CREATE TABLE d1.t9 LIKE", "USE d",
    "SHOW TABLE", "SHOW TRIGGERS", "REVOKE SELECT", "GRANT SELECT", "INSERT INTO d1.v_", "REPLACE INTO d1.v_",
    "SELECT t1.a FROM d1.t1 JOIN d1.t2 USING", "INSERT INTO d1.t1 (a) VALUES (1) ON DUPLICATE",
)  # fmt: skip
# MariaDB forgets what an account may do in the database when its role has a privilege on the table, and refuses some views on
# views that nobody could read.
OTHERWISE = ("CREATE TABLE d1.t9 (a INT, FOREIGN KEY", "CREATE VIEW d1.v9 AS SELECT * FROM d1.v_caller")


class Case:
    """Both accounts on one server, and root, who makes what they use."""

    def __init__(self, root: Client, grants: list[str]):
        self.root = root
        for statement in (*rights.BEGIN, *rights.TABLES):
            root.ok(statement)
        self.given = [root.run(statement).error for statement in grants]

    def outcome(self) -> dict[str, str]:
        found = {}
        with Client(self.root.server, user="u") as user:
            for statement in rights.READ_AND_WRITE:
                user.ok("BEGIN")
                found[statement] = self.told(user.run(statement))
                for after in ("HANDLER t1 CLOSE", "UNLOCK TABLES", "ROLLBACK"):
                    user.run(after)
            for statement in rights.DEFINE:
                found[statement] = self.told(user.run(statement))
                if not found[statement]:
                    user.run("DROP TEMPORARY TABLE IF EXISTS d1.t9")
                    for again in rights.TABLES:
                        self.root.ok(again)
        return found

    @staticmethod
    def told(answer) -> str:
        # A client at 127.0.0.1 is one at localhost here.
        message = answer.message.replace("'u'@'localhost'", "'u'@'127.0.0.1'")
        return f"{answer.error} {message}" if answer.error else ""


def outcomes(roots, seed: int, number: int) -> tuple[list[str], list[tuple[str, str, str]]]:
    """The grants of a case, and the statements that go otherwise, with what Narwal and MariaDB say."""
    grants = rights.Grants(seed, number).statements()
    ours, theirs = (Case(root, grants) for root in roots)
    found = [(g, str(a), str(b)) for g, a, b in zip(grants, ours.given, theirs.given, strict=True) if a != b]
    narwal, mariadb = ours.outcome(), theirs.outcome()
    found += [(statement, told, mariadb[statement]) for statement, told in narwal.items() if told != mariadb[statement]]
    return grants, found


def judged(statement: str, narwal: str, mariadb: str) -> bool:
    """One of the servers does what the other one refuses, and it is not known that it does."""
    if bool(narwal) == bool(mariadb) or statement.startswith(OTHERWISE):
        return False
    return not (narwal and statement.startswith(STRICTER))


def test_rights_at_random(both):
    seed = int(os.environ.get("NARWAL_SEED", os.environ["NARWAL_FRESH_SEED"]))
    count = int(os.environ.get("NARWAL_RIGHTS", "12"))
    print(f"seed {seed} (repeat with NARWAL_SEED={seed})")
    for root in both:
        root.ok("SET GLOBAL log_bin_trust_function_creators = 1")
    for number in range(count):
        grants, found = outcomes(both, seed, number)
        # What Narwal alone refuses is for the long run: there is no list of all of it.
        found = [f for f in found if judged(*f) and not f[1]]
        if found:
            told = "\n".join(f"{s}\n    Narwal:  {a or 'done'}\n    MariaDB: {b or 'done'}" for s, a, b in found)
            pytest.fail(f"seed {seed}, case {number}: {'; '.join(grants)}\n{told}")
