"""Statements that differ in their literals alone share a plan: they answer as MariaDB does, and as without the cache.

NARWAL_SEED repeats the values of one run.
"""

from __future__ import annotations

import os
import random

import pytest

from support import Client, differences

SEED = int(os.environ.get("NARWAL_SEED", "0")) or random.SystemRandom().randrange(10**6, 10**9)

NUMBERS = ["0", "1", "2", "7", "-1", "-3", "300", "70000", "5000000000", "999999999999999999", "-999999999999999999",
           "9223372036854775807", "18446744073709551615", "1.5", "-2.25", "0.1", "12345.67", "1.005", "00012", "3."]  # fmt: skip
TEXTS = ["''", "'a'", "'A'", "'b '", "'it''s'", "'back\\\\slash'", "'new\\nline'", "'5'", "'-1.5x'", "'\u00e9'", "'\u65e5\u672c'",
         '"double"', "'100%'", "'2026-11-22'", "'2026-11-22 10:11:12'", "'x'"]  # fmt: skip
OTHER = ["NULL", "TRUE", "1e2", "0x41", "x'42'", "DATE '2026-01-02'", "_utf8mb4'u'", "1 + 1", "(3)"]
COLUMNS = ["id", "n", "u", "d", "f", "c", "b", "t", "v", "e", "y", "bits", "l"]

SETUP = [
    """CREATE TABLE a (id INT PRIMARY KEY, n INT, u BIGINT UNSIGNED, d DECIMAL(12,3), f DOUBLE, c VARCHAR(20), b VARCHAR(20) COLLATE utf8mb4_bin,
       t DATETIME, v VARBINARY(20), e ENUM('a','b','x'), y YEAR, bits BIT(8), l VARCHAR(20) CHARACTER SET latin1, KEY (n), KEY (c), KEY (d, n))""",
    "INSERT INTO a VALUES (1, 1, 1, 1.5, 1.5, 'a', 'a', '2026-11-22', 'a', 'a', 2026, 1, 'a')",
    "INSERT INTO a VALUES (2, 7, 300, -2.25, 0.1, 'B ', 'b ', '2026-11-22 10:11:12', '5', 'b', 2001, 65, '\u00e9')",
    "INSERT INTO a VALUES (3, -1, 18446744073709551615, 12345.67, 100, '\u65e5\u672c', '5', NULL, NULL, NULL, NULL, NULL, NULL)",
    "INSERT INTO a VALUES (4, NULL, 0, 0, 0, '', '', '1999-01-01', 'x', 'x', 0, 0, 'x')",
    "INSERT INTO a VALUES (70000, 300, 5000000000, 300, -3, '100%', 'it''s', '2026-11-23', 'B', 'a', 1999, 255, '5')",
]


@pytest.fixture
def three(both, narwal):
    """Narwal with the cache, MariaDB, and Narwal without it in a database of its own."""
    database = both[0].value("SELECT DATABASE()") + "_plain"
    with Client(narwal) as plain:
        plain.ok(f"CREATE DATABASE {database}")
        plain.ok(f"USE {database}")
        plain.ok("SET time_zone = '+00:00', narwal_text_plan_cache_size = 0")
        clients = [*both, plain]
        for client in clients:
            for sql in SETUP:
                client.ok(sql)
        yield clients
        plain.ok(f"DROP DATABASE {database}")


def hits(client) -> int:
    return int(client.rows("SHOW SESSION STATUS LIKE 'Narwal_text_plan_cache_hits'")[0][1])


def same(clients, sql: str, against_mariadb: bool = True) -> str | None:
    """What differs, if anything does."""
    answers = [client.run(sql) for client in clients]
    answers[2].message = (answers[2].message or "").replace("_plain", "")
    warnings = [[row[:2] for row in client.rows("SHOW WARNINGS")] if a.warnings else [] for client, a in zip(clients, answers)]
    found = [f"cached | plain: {x}" for x in differences(answers[0], answers[2], ordered=False, texts=True)]
    if warnings[0] != warnings[2]:
        found.append(f"cached | plain: warnings {warnings[0]} | {warnings[2]}")
    if against_mariadb:
        found += [f"Narwal | MariaDB: {x}" for x in differences(answers[0], answers[1], ordered=False)]
    return f"{sql}\n    " + "\n    ".join(found) if found else None


def shapes(rng: random.Random):
    """Statements with a %s for each value."""
    column = lambda: rng.choice(COLUMNS)  # noqa: E731
    op = lambda: rng.choice(["=", "<>", "<", ">", "<=", ">="])  # noqa: E731
    kind = rng.randrange(9)
    if kind == 0:
        return f"SELECT id, {column()} FROM a WHERE {column()} {op()} %s"
    if kind == 1:
        return f"SELECT id FROM a WHERE {column()} BETWEEN %s AND %s OR %s {op()} {column()}"
    if kind == 2:
        return f"SELECT COUNT(*), 'x', 1 FROM a WHERE {column()} IN (%s, %s) AND NOT {column()} {op()} %s"
    if kind == 3:
        return f"SELECT a.id, o.id FROM a JOIN a AS o ON o.n = a.n AND o.{column()} {op()} %s WHERE a.{column()} {op()} %s"
    if kind == 4:
        return f"UPDATE a SET {column()} = %s WHERE {column()} {op()} %s AND id < 100"
    if kind == 5:
        return f"UPDATE a SET n = n + %s, d = d * %s - %s, c = CONCAT(c, 'y') WHERE id = %s"
    if kind == 6:
        return f"INSERT INTO a (id, {rng.choice(COLUMNS[1:])}) VALUES (%s, %s) ON DUPLICATE KEY UPDATE {rng.choice(COLUMNS[1:])} = %s"
    if kind == 7:
        return f"DELETE FROM a WHERE {column()} {op()} %s AND id > 100"
    return f"SELECT id + 1 FROM a WHERE {column()} {op()} %s HAVING `id + 1` > %s ORDER BY 1 LIMIT 3"


def test_values_of_one_shape(three):
    rng = random.Random(SEED)
    print(f"seed {SEED} (repeat with NARWAL_SEED={SEED})")
    wrong = []
    for _ in range(150):
        shape = shapes(rng)
        # Mostly values of one kind, as programs send them, so that shapes come again.
        for kind in (rng.choice([NUMBERS, TEXTS]), rng.choice([NUMBERS, TEXTS]), NUMBERS + TEXTS + OTHER):
            for _ in range(4):
                sql = shape % tuple(rng.choice(kind) for _ in range(shape.count("%s")))
                difference = same(three, sql, against_mariadb=False)
                if difference:
                    wrong.append(difference)
    assert not wrong, f"{len(wrong)} differences:\n" + "\n".join(wrong)
    assert hits(three[0]) > 50


def test_a_plan_serves_what_it_was_not_made_for(three):
    """Each statement twice with other values of the same classes: the second runs by the first one's plan."""
    pairs = [
        ("SELECT * FROM a WHERE id = {}", "1", "70000"),
        ("SELECT id FROM a WHERE n > {} ORDER BY id LIMIT {}", ("0", "1"), ("6", "3")),
        ("SELECT id FROM a WHERE c = {}", "'a'", "'b'"),
        ("SELECT id FROM a WHERE c = {}", "'a'", "''"),
        ("SELECT id FROM a WHERE c IN ({}, {})", ("'q'", "'w'"), ("'it''s'", "'A'")),
        ("SELECT id FROM a WHERE d = {}", "1.500", "0.000"),
        ("SELECT id, n + 1 FROM a WHERE n BETWEEN {} AND {}", ("1", "2"), ("3", "999999999999")),
        ("INSERT INTO a (id, n, c) VALUES ({}, {}, {})", ("11", "1", "'x'"), ("12", "99999", "'longer than twenty characters'")),
        ("INSERT INTO a (id, n, c) VALUES ({}, {}, {})", ("13", "1", "'x'"), ("14", "99999999999", "'y'")),
        ("INSERT INTO a (id, e, v) VALUES ({}, {}, {})", ("15", "'a'", "'x'"), ("16", "'none'", "'y'")),
        ("UPDATE a SET d = d + {}, n = n - {} WHERE id = {}", ("1.25", "1", "1"), ("9.99", "3", "2")),
        ("UPDATE a SET c = {} WHERE id = {}", ("'x'", "1"), ("'A'", "1")),
        ("REPLACE INTO a (id, c) VALUES ({}, {})", ("1", "'r'"), ("2", "'s'")),
        ("DELETE FROM a WHERE id = {} LIMIT {}", ("11", "1"), ("12", "0")),
    ]
    wrong = []
    for shape, *values in pairs:
        before = hits(three[0])
        for v in values:
            sql = shape.format(*([v] if isinstance(v, str) else v))
            difference = same(three, sql)
            if difference:
                wrong.append(difference)
        assert hits(three[0]) > before, shape
    assert not wrong, "\n".join(wrong)


def test_what_plans_depend_on(three, narwal):
    """A statement is planned anew, or differently, when what it was planned for is no longer so."""
    sql = "SELECT * FROM a WHERE n = 7"
    changes = [
        "ALTER TABLE a ADD COLUMN z INT DEFAULT 5 FIRST",
        "ALTER TABLE a DROP KEY n",
        "CREATE INDEX n2 ON a (n)",
        "RENAME TABLE a TO a2",
        "CREATE TABLE a (n VARCHAR(10), m INT)",
        "INSERT INTO a VALUES ('7', 1), ('07', 2)",
        "DROP TABLE a",
        "RENAME TABLE a2 TO a",
        "SET sql_mode = 'ANSI_QUOTES'",
        "SET sql_mode = DEFAULT",
        "SET sql_select_limit = 0",
        "SET sql_select_limit = DEFAULT",
    ]
    wrong = [same(three, sql)]
    for change in changes:
        for client in three:
            client.ok(change)
        wrong += [same(three, sql), same(three, 'UPDATE a SET n = "8" WHERE n = 99', against_mariadb=False)]
    assert not [w for w in wrong if w], wrong
    # Strict mode is no part of the plan, its effect is.
    for client in three:
        client.ok("SET sql_mode = ''")
    wrong = [same(three, f"UPDATE a SET n = {n} WHERE id = 1") for n in ("5", "99999999999")]
    for client in three:
        client.ok("SET sql_mode = 'STRICT_ALL_TABLES'")
    wrong += [same(three, f"UPDATE a SET n = {n} WHERE id = 1") for n in ("5", "99999999999")]
    assert not [w for w in wrong if w], wrong


def test_the_default_database_and_privileges_count(both, narwal):
    first = both[0]
    name = first.value("SELECT DATABASE()")
    first.ok("CREATE TABLE t (id INT)")
    first.ok("INSERT INTO t VALUES (1)")
    first.ok(f"CREATE DATABASE {name}_2")
    first.ok(f"CREATE TABLE {name}_2.t (id INT)")
    first.ok(f"CREATE USER u_{name}@'127.0.0.1'")
    first.ok(f"GRANT SELECT ON {name}.* TO u_{name}@'127.0.0.1'")
    first.ok(f"GRANT SELECT ON {name}_2.* TO u_{name}@'127.0.0.1'")
    try:
        with Client(narwal, database=name, user=f"u_{name}") as user:
            count = "SELECT COUNT(*) FROM t WHERE id = 1"
            assert [user.value(count), user.value(count)] == ["1", "1"]
            user.ok(f"USE {name}_2")
            assert user.value(count) == "0"
            first.ok(f"REVOKE SELECT ON {name}_2.* FROM u_{name}@'127.0.0.1'")
            user.fails(count, 1142)
            user.ok(f"USE {name}")
            assert user.value(count) == "1"
    finally:
        first.ok(f"DROP USER u_{name}@'127.0.0.1'")
        first.ok(f"DROP DATABASE {name}_2")


def test_room(both):
    client = both[0]
    client.ok("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    client.ok("SET narwal_text_plan_cache_size = 4")
    for i in range(50):
        assert client.rows(f"SELECT id AS c{i % 10} FROM t WHERE id = {i}") == []
    client.ok("SET narwal_text_plan_cache_size = 64")
    before = hits(client)
    for i in range(50):
        client.ok(f"INSERT INTO t VALUES ({i}, {i + 1}) ON DUPLICATE KEY UPDATE n = {i}")
    assert hits(client) == before + 49
    client.ok("SET narwal_text_plan_cache_size = 0")
    client.ok("SELECT n FROM t WHERE id = 3")
    assert hits(client) == before + 49


def test_more_shapes_than_room(both):
    client = both[0]
    client.ok("CREATE TABLE t (id INT PRIMARY KEY, n INT)")
    client.ok("SET narwal_text_plan_cache_size = 64")

    def turns(letter: str) -> int:
        before = hits(client)
        for turn in range(10):
            for i in range(72):
                assert client.rows(f"SELECT id AS {letter}{i} FROM t WHERE id = {turn}") == []
        return hits(client) - before

    # In turn, the worst order there is; were the oldest forgotten first, or all, next to none would be found.
    assert turns("c") > 300
    # Others take their places.
    assert turns("d") > 300


def test_tables_that_grow(both):
    """A plan is made anew when its tables are of another size, and for ranges now and then."""
    client = both[0]
    client.ok("CREATE TABLE n (n INT PRIMARY KEY)")
    client.ok("INSERT INTO n VALUES " + ",".join(f"({i})" for i in range(100)))
    client.ok("CREATE TABLE t (id INT PRIMARY KEY, k INT, KEY (k))")

    def misses() -> int:
        return int(client.rows("SHOW SESSION STATUS LIKE 'Narwal_text_plan_cache_misses'")[0][1])

    def made(sql: str, times: int = 4) -> int:
        before = misses()
        for i in range(times):
            client.ok(sql.format(i))
        return misses() - before

    by_key, by_range = "SELECT id FROM t WHERE k = {}", "SELECT k FROM t WHERE id BETWEEN {} AND 20"
    assert [made(by_key), made(by_key), made(by_range)] == [1, 0, 1]
    client.ok("INSERT INTO t SELECT a.n * 100 + b.n, b.n FROM n a, n b WHERE a.n < 50")
    assert [made(by_key), made(by_key), made(by_range)] == [1, 0, 1]
    assert 1 <= made(by_range, 600) <= 3 and made(by_key, 600) == 0
    client.ok("DELETE FROM t WHERE id > 100")
    assert [made(by_key), made(by_key)] == [1, 0]
    assert len(client.rows("SELECT id FROM t WHERE k = 7")) == 1
