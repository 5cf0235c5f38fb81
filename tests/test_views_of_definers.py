"""Views read with their definers' rights, information_schema included, and accounts see no more of it than MariaDB shows them."""

from __future__ import annotations

import pytest

from support import Client

VIEWS = [
    "CREATE VIEW {d}.v1 AS SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1) cu, SUBSTRING_INDEX(USER(), '@', 1) u, CURRENT_ROLE() r FROM {d}.t",
    "CREATE SQL SECURITY INVOKER VIEW {d}.v2 AS SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1) cu, SUBSTRING_INDEX(USER(), '@', 1) u FROM {d}.t",
    "CREATE ALGORITHM=TEMPTABLE VIEW {d}.v3 AS SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1) cu, SUBSTRING_INDEX(USER(), '@', 1) u",
    "CREATE VIEW {d}.v4 AS SELECT * FROM {d}.v2",
    "CREATE SQL SECURITY INVOKER VIEW {d}.v5 AS SELECT * FROM {d}.v1",
    "CREATE VIEW {d}.v6 AS SELECT a FROM {d}.t WHERE CURRENT_USER() LIKE 'root@%'",
    "CREATE VIEW {d}.v7 AS SELECT (SELECT SUBSTRING_INDEX(CURRENT_USER(), '@', 1)) x",
    "CREATE VIEW {d}.v8 AS SELECT COUNT(*) > 0 c FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'mysql'",
    "CREATE SQL SECURITY INVOKER VIEW {d}.v9 AS SELECT COUNT(*) > 0 c FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'mysql'",
    "CREATE VIEW {d}.v10 AS SELECT * FROM {d}.v9",
    "CREATE VIEW {d}.v11 AS SELECT COUNT(*) c FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = '{d}'",
]

TABLES = """CREATE TABLE {d}.t1 (x INT, KEY (x));
CREATE TABLE {d}.t2 (a INT, b INT, c INT, UNIQUE (b), CHECK (c > b), FOREIGN KEY (c) REFERENCES {d}.t1 (x));
CREATE TABLE {d}.t3 (d INT, e INT, f INT, UNIQUE (e), FOREIGN KEY (e) REFERENCES {d}.t2 (b), FOREIGN KEY (d) REFERENCES {d}.t3 (f), KEY (f));
CREATE TABLE {d}.t4 (x INT);
CREATE TRIGGER {d}.tr BEFORE INSERT ON {d}.t4 FOR EACH ROW SET NEW.x = 1;
GRANT SELECT (a) ON {d}.t2 TO {u};
GRANT UPDATE (d) ON {d}.t3 TO {u};
GRANT INSERT ON {d}.t4 TO {u}"""

ASKED = [
    "SELECT TABLE_NAME, COLUMN_NAME, PRIVILEGES FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '{d}' ORDER BY 1, 2",
    "SELECT TABLE_NAME, COLUMN_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = '{d}' ORDER BY 1, 2",
    "SELECT TABLE_NAME, UNIQUE_CONSTRAINT_NAME, REFERENCED_TABLE_NAME FROM information_schema.REFERENTIAL_CONSTRAINTS"
    " WHERE CONSTRAINT_SCHEMA = '{d}' ORDER BY 1, 2",
    "SELECT TABLE_NAME, CONSTRAINT_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = '{d}' ORDER BY 1, 2",
    "SELECT TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = '{d}' ORDER BY 1, 2",
    "SELECT TRIGGER_NAME, EVENT_OBJECT_TABLE, ACTION_STATEMENT, DEFINER FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = '{d}'",
    "SHOW INDEX FROM {d}.t2",
    "SELECT COUNT(*) FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = '{d}' AND TABLE_NAME = 't1'",
]


@pytest.fixture
def reader(both, narwal, mariadb):
    """An account of no rights on both servers: connects as it, and gives the database's name."""
    database = both[0].rows("SELECT DATABASE()")[0][0]
    user = f"reader_{database}"
    for client in both:
        client.ok(f"CREATE USER {user}@'%'")
    yield lambda: [Client(server, user=user) for server in (narwal, mariadb)], database, f"{user}@'%'"
    for client in both:
        client.run(f"DROP USER {user}@'%'")


def test_current_user_and_information_schema_of_a_view_are_its_definers(both, reader):
    connect, d, user = reader
    for client in both:
        client.ok("CREATE TABLE t (a INT)")
        client.ok("INSERT INTO t VALUES (1)")
        client.ok("CREATE PROCEDURE p() SELECT 1")
        client.ok(f"GRANT SELECT ON {d}.* TO {user}")
        for view in VIEWS:
            client.ok(view.format(d=d))
    readers = connect()
    for n in range(1, len(VIEWS) + 1):
        answers = [client.rows(f"SELECT * FROM {d}.v{n}") for client in readers]
        assert answers[0] == answers[1], VIEWS[n - 1]
    # A view in the condition of a SHOW sees no more for its definer's sake.
    shown = f"SHOW TABLES FROM {d} WHERE (SELECT c FROM {d}.v8) AND NOT (SELECT c FROM {d}.v9)"
    answers = [client.rows(shown) for client in readers]
    assert answers[0] == answers[1] == [], shown
    for client in readers:
        client.close()


def test_what_an_account_sees_of_keys_constraints_and_triggers(both, reader):
    connect, d, user = reader
    for client in both:
        for statement in TABLES.format(d=d, u=user).split(";\n"):
            client.ok(statement)
    readers = connect()
    for statement in ASKED:
        answers = [client.rows(statement.format(d=d)) for client in readers]
        assert answers[0] == answers[1], statement
    for client in readers:
        client.close()


@pytest.mark.parametrize("privilege", ["SELECT", "INSERT", "UPDATE (x)", "SELECT (x)", "DELETE", "ALTER", "INDEX", "REFERENCES (x)", "TRIGGER"])
def test_a_trigger_is_seen_by_who_may_write_its_table(both, reader, privilege):
    connect, d, user = reader
    for client in both:
        client.ok("CREATE TABLE w (x INT)")
        client.ok("CREATE TRIGGER wt BEFORE INSERT ON w FOR EACH ROW SET NEW.x = 1")
        client.ok(f"GRANT {privilege} ON {d}.w TO {user}")
    readers = connect()
    seen = f"SELECT TRIGGER_NAME, ACTION_STATEMENT, DEFINER IS NULL FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = '{d}'"
    for statement in (seen, f"SHOW TRIGGERS FROM {d} WHERE `Table` = 'w' AND Created IS NULL"):
        answers = [client.rows(statement) for client in readers]
        assert answers[0] == answers[1], (privilege, statement)
    for client in readers:
        client.close()
