"""mariadb-dump out of MariaDB into Narwal and back: types, values, defaults, constraints, generated columns, character sets,
views. Rows and definitions are the same at both ends."""

from __future__ import annotations

import pytest
from support import Client
from test_dump_tool import load, tool
from test_replica_types import TYPES

SCHEMA = """
CREATE TABLE parent (id INT UNSIGNED NOT NULL AUTO_INCREMENT, code CHAR(3) NOT NULL, PRIMARY KEY (id), UNIQUE KEY by_code (code)) COMMENT='it''s a parent';
CREATE TABLE child (id BIGINT PRIMARY KEY, parent INT UNSIGNED, code CHAR(3), CONSTRAINT of_parent FOREIGN KEY (parent) REFERENCES parent (id) ON DELETE SET NULL ON UPDATE CASCADE, FOREIGN KEY (code) REFERENCES parent (code));
CREATE TABLE rules (id INT PRIMARY KEY, a INT NOT NULL DEFAULT 5 CHECK (a > 0), b INT DEFAULT (a + 1), c VARCHAR(20) DEFAULT 'it''s \\\\ "x"', d DATETIME(3) DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3), e INT GENERATED ALWAYS AS (a * 2) STORED, f VARCHAR(30) GENERATED ALWAYS AS (CONCAT(c, '!')) VIRTUAL, g ENUM('x','it''s','ü') DEFAULT 'x', h SET('a','b','c') DEFAULT 'a,b', i BIT(9) DEFAULT b'101', CONSTRAINT together CHECK (a < 100 AND (b IS NULL OR b <> 3)), KEY (e), UNIQUE KEY (f));
CREATE TABLE texts (id INT PRIMARY KEY, l VARCHAR(20) CHARACTER SET latin1, u3 TEXT CHARACTER SET utf8mb3, b VARCHAR(20) COLLATE utf8mb4_bin, a CHAR(5) CHARACTER SET ascii, bin VARBINARY(20), j JSON) DEFAULT CHARSET=utf8mb4;
CREATE TABLE held (room INT, s DATE, e DATE, PERIOD FOR time_held (s, e), PRIMARY KEY (room, time_held WITHOUT OVERLAPS));
CREATE TABLE nokey (a INT, b TEXT);
CREATE TABLE `odd ``name` (`a b` INT, `select` VARCHAR(5) COMMENT 'c');
INSERT INTO parent VALUES (1, 'one'), (5, 'two');
INSERT INTO child VALUES (1, 1, 'two'), (2, NULL, NULL);
INSERT INTO rules (id, a, b, c, d, g, h, i) VALUES (1, 1, 2, 'q', '2024-01-02 03:04:05.678', 'ü', '', 511), (2, 99, NULL, '\\\\', '1000-01-01', NULL, 'c', 0);
INSERT INTO texts VALUES (1, 'äöüß€', 'ünï', 'Abc', 'ascii', x'00ff', '{"a": [1, null, "ü"]}'), (2, NULL, '', '', '', '', NULL);
INSERT INTO held VALUES (1, '2020-01-01', '2020-02-01'), (1, '2020-02-01', '2020-03-01');
INSERT INTO nokey VALUES (1, 'x'), (1, 'x'), (NULL, NULL);
INSERT INTO `odd ``name` VALUES (1, 'x');
"""
VIEWS = """
CREATE VIEW v_plain AS SELECT * FROM rules WHERE a > 0 WITH CHECK OPTION;
CREATE VIEW v_totals AS SELECT p.id, SUM(c.id) AS total, GROUP_CONCAT(c.code ORDER BY c.id SEPARATOR ';') g FROM parent p LEFT JOIN child c ON c.parent = p.id GROUP BY p.id;
CREATE VIEW a_view_before_its_view AS SELECT id, total FROM v_totals WHERE total IS NOT NULL OR id IN (SELECT id FROM child);
CREATE ALGORITHM=TEMPTABLE SQL SECURITY INVOKER VIEW v_union (n) AS SELECT id FROM parent UNION ALL SELECT id FROM child ORDER BY 1 LIMIT 10;
CREATE VIEW v_cast AS SELECT CAST(id AS CHAR) s, CAST(l AS CHAR(3)) l, CONVERT(b USING latin1) b2, DATE '2020-01-01' d, CASE WHEN id = 1 THEN 'x' ELSE 'it''s' END c, `select` FROM texts JOIN `odd ``name`;
CREATE VIEW v_using AS SELECT * FROM parent JOIN texts USING (id);
CREATE VIEW v_with AS WITH q AS (SELECT id, a FROM rules) SELECT q.id, EXISTS (SELECT 1 FROM child WHERE child.id = q.id) e FROM q;
"""


def fill(client: Client, db: str) -> list[str]:
    client.ok(f"CREATE DATABASE {db}")
    client.ok(f"USE {db}")
    client.ok("SET sql_mode = ''")
    tables = []
    for number, (kind, values) in enumerate(TYPES.items()):
        name = f"type_{number}"
        client.ok(f"CREATE TABLE {name} (id INT PRIMARY KEY, v {kind})")
        rows = ",".join(f"({i}, {v})" for i, v in enumerate([*values, "NULL"]))
        client.ok(f"INSERT INTO {name} VALUES {rows}")
        tables.append(name)
    client.ok("SET sql_mode = DEFAULT")
    for statement in SCHEMA.strip().splitlines():
        client.ok(statement.rstrip(";"))
    for statement in VIEWS.strip().splitlines():
        client.ok(statement.rstrip(";"))
    return tables


def content(server, db: str) -> dict:
    """Definitions and rows of all tables and views."""
    found = {}
    with Client(server, db) as client:
        for name, kind in client.rows("SHOW FULL TABLES"):
            quoted = "`" + name.replace("`", "``") + "`"
            create = client.rows(f"SHOW CREATE TABLE {quoted}")[0][1]
            rows = client.rows(f"SELECT * FROM {quoted}")
            found[name] = (kind, create, sorted(rows, key=repr))
    return found


@pytest.mark.parametrize("options", [[], ["--hex-blob", "--skip-extended-insert"]], ids=["plain", "hex"])
def test_out_of_mariadb_and_back(narwal, mariadb, options):
    db = "round_trip"
    with Client(mariadb) as client:
        client.ok(f"DROP DATABASE IF EXISTS {db}")
        fill(client, db)
    before = content(mariadb, db)
    assert len(before) > 60
    with Client(narwal) as client:
        client.ok(f"DROP DATABASE IF EXISTS {db}")
    load(narwal, tool(mariadb, *options, "--databases", db))
    ours = content(narwal, db)
    assert ours.keys() == before.keys()
    for name, was in before.items():
        assert ours[name] == was, name
    with Client(mariadb) as client:
        client.ok(f"DROP DATABASE {db}")
    load(mariadb, tool(narwal, *options, "--databases", db))
    back = content(mariadb, db)
    for name, was in before.items():
        assert back[name] == was, name
    for server in (narwal, mariadb):
        with Client(server) as client:
            client.ok(f"DROP DATABASE {db}")


PROGRAMS = [
    "CREATE TABLE t (a INT, b VARCHAR(20))", "CREATE TABLE log (a INT)",
    "CREATE FUNCTION f(x INT, y VARCHAR(10) CHARSET latin1) RETURNS VARCHAR(20) DETERMINISTIC COMMENT 'it''s one' RETURN CONCAT(y, x)",
    "CREATE PROCEDURE p(IN a INT, OUT b INT, INOUT c TEXT) READS SQL DATA SQL SECURITY INVOKER\nBEGIN\n  -- a comment; with a semicolon\n"
    "  DECLARE r ROW TYPE OF t; SET b = a + 1, c = 'x';\nEND",
    "CREATE TRIGGER `one` BEFORE INSERT ON `t` FOR EACH ROW SET NEW.b = f(NEW.a, 'q')",
    "CREATE TRIGGER `two` AFTER INSERT ON `t` FOR EACH ROW BEGIN INSERT INTO log VALUES (NEW.a); END",
    "CREATE TRIGGER `three` BEFORE INSERT ON `t` FOR EACH ROW PRECEDES one SET @x = 1",
    "CREATE EVENT e ON SCHEDULE EVERY 3 DAY STARTS '2035-01-01 00:00:00' ON COMPLETION PRESERVE COMMENT 'c' DO CALL p(1, @b, @c)",
    "CREATE EVENT once ON SCHEDULE AT '2036-01-01 00:00:00' DISABLE DO BEGIN INSERT INTO t VALUES (1, 'x'); END",
    "SET sql_mode = ORACLE", "CREATE PROCEDURE o(a IN VARCHAR2) AS x INT := 1; BEGIN x := x + 1; END",
    "CREATE PACKAGE k AS FUNCTION g RETURN INT; END", "CREATE PACKAGE BODY k AS n INT := 0; FUNCTION g RETURN INT AS BEGIN n := n + 1; RETURN n; END; END",
    "SET sql_mode = ''", "CREATE FUNCTION m() RETURNS INT RETURN 1 || 0", "SET sql_mode = DEFAULT",
]  # fmt: skip


def programs_of(server, db: str) -> list[str]:
    """What mariadb-dump writes of a database's programs, without the versions of client and server."""
    text = tool(server, "--routines", "--triggers", "--events", "--no-data", "--skip-dump-date", "--skip-comments", db)
    return text.decode().splitlines()


@pytest.mark.parametrize("first", ["MariaDB", "Narwal"])
def test_programs_go_there_and_back(narwal, mariadb, first):
    """Routines, triggers, events and packages: defined on the one, dumped into the other, dumped again: the same text."""
    source, target = (mariadb, narwal) if first == "MariaDB" else (narwal, mariadb)
    db = f"programs_{first.lower()}"
    with Client(source) as client:
        for sql in (f"CREATE DATABASE {db}", f"USE {db}", "SET time_zone = '+01:00'", *PROGRAMS):
            client.ok(sql)
    with Client(target) as client:
        client.ok(f"CREATE DATABASE {db}")
    load(target, tool(source, "--routines", "--triggers", "--events", db), "--comments", db)
    with Client(source, db) as ours, Client(target, db) as theirs:
        for sql in ("SHOW CREATE PROCEDURE p", "SHOW CREATE FUNCTION f", "SHOW CREATE TRIGGER one", "SHOW CREATE EVENT e", "SHOW CREATE PACKAGE BODY k"):
            assert [r[:4] for r in ours.rows(sql)] == [r[:4] for r in theirs.rows(sql)], sql
    assert programs_of(source, db) == programs_of(target, db)
    for server in (source, target):
        with Client(server) as client:
            client.ok(f"DROP DATABASE {db}")
