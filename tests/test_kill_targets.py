"""KILL by the number of a statement and by a user's name, on Narwal and on MariaDB."""

from __future__ import annotations

import time

import pymysql
import pytest

from support import Client


def number_of(root: Client, text: str) -> str:
    """The number of a running statement, once it runs."""
    for _ in range(200):
        rows = root.rows(f"SELECT query_id FROM information_schema.processlist WHERE info = '{text}' AND state = 'User sleep'")
        if rows:
            return rows[0][0]
        time.sleep(0.05)
    raise AssertionError("the statement does not run")


def test_a_statement_by_its_number(both):
    for root in both:
        root.ok("CREATE USER killer@'127.0.0.1', killer@localhost")
        with Client(root.server) as other, Client(root.server, user="killer") as stranger:
            other.send("SELECT SLEEP(60)")
            number = number_of(root, "SELECT SLEEP(60)")
            stranger.fails(f"KILL QUERY ID {number}", 1979)
            root.ok(f"KILL HARD QUERY ID {number}")
            assert other.receive().error == 1317
            # Its connection lives, and numbers grow.
            other.send("SELECT SLEEP(60) + 1")
            later = number_of(root, "SELECT SLEEP(60) + 1")
            assert int(later) > int(number)
            root.fails(f"KILL QUERY ID {number}", 1957)
            root.ok(f"SET @id = {later}")
            root.ok("KILL QUERY ID @id")
            assert other.receive().error == 1317
        root.fails("KILL QUERY ID 0", 1957)
        root.ok("DROP USER killer@'127.0.0.1', killer@localhost")


def test_all_connections_of_a_user(both):
    for root in both:
        root.ok("CREATE USER a@'127.0.0.1', a@localhost, b@'127.0.0.1', b@localhost")
        first, second, other = Client(root.server, user="a"), Client(root.server, user="a"), Client(root.server, user="b")
        try:
            assert other.ok("KILL USER a").affected == 0
            root.ok("GRANT PROCESS ON *.* TO b@'127.0.0.1'")
            root.ok("GRANT PROCESS ON *.* TO b@localhost")
            with Client(root.server, user="b") as seeing:
                seeing.fails("KILL USER a", 1095)
            assert root.ok("KILL USER a@nosuchhost").affected == 0
            assert root.ok("KILL USER nobody").affected == 0
            first.send("SELECT SLEEP(60)")
            number_of(root, "SELECT SLEEP(60)")
            assert root.ok("KILL SOFT QUERY USER a").affected == 2
            assert first.receive().error == 1317
            assert root.ok("KILL CONNECTION USER a").affected == 2
            for gone in (first, second):
                with pytest.raises(pymysql.MySQLError):
                    for _ in range(100):
                        gone.ok("SELECT 1")
                        time.sleep(0.05)
            assert other.rows("SELECT 1") == [("1",)] or other.rows("SELECT 1") == [(b"1",)]
        finally:
            for client in (first, second, other):
                client.close()
        root.ok("DROP USER a@'127.0.0.1', a@localhost, b@'127.0.0.1', b@localhost")
