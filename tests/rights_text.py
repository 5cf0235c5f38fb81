"""Grants at random, and statements that need rights: whoever runs them may do the same on every server.

A case gives the accounts `u` and `w` privileges on all levels. `u` runs the statements; `w` has made some of the views and
programs that they use, which read and write with its rights.
"""

from __future__ import annotations

import random

ACCOUNTS = ["u", "w"]
# Made anew by root for each case.
BEGIN = [
    "DROP DATABASE IF EXISTS d1", "DROP DATABASE IF EXISTS d2", "DROP USER IF EXISTS u@'127.0.0.1', w@'127.0.0.1'",
    "DROP ROLE IF EXISTS r", "CREATE DATABASE d1", "CREATE DATABASE d2", "CREATE ROLE r", "CREATE USER u@'127.0.0.1'",
    "CREATE USER w@'127.0.0.1'", "CREATE TABLE d2.t3 (a INT PRIMARY KEY, b INT)", "INSERT INTO d2.t3 VALUES (1, 1), (2, 2)",
]  # fmt: skip
# Made anew behind each statement that changed them.
TABLES = [
    "DROP DATABASE d1", "CREATE DATABASE d1", "CREATE TABLE d1.t1 (a INT PRIMARY KEY, b INT, c INT DEFAULT 5)",
    "CREATE TABLE d1.t2 (a INT, b INT, KEY (a))", "INSERT INTO d1.t1 VALUES (1, 1, 1), (2, 2, 2)",
    "INSERT INTO d1.t2 VALUES (1, 10)", "CREATE VIEW d1.v_root AS SELECT a, b FROM d1.t1",
    "CREATE SQL SECURITY INVOKER VIEW d1.v_caller AS SELECT a, b, c FROM d1.t1",
    "CREATE DEFINER = w@'127.0.0.1' VIEW d1.v_w AS SELECT a, b FROM d1.t1",
    "CREATE DEFINER = w@'127.0.0.1' VIEW d1.v_over AS SELECT a, b FROM d1.v_caller",
    "CREATE DEFINER = w@'127.0.0.1' VIEW d1.v_sum AS SELECT MAX(b) AS m FROM d1.t1",
    "CREATE FUNCTION d1.f_root() RETURNS INT READS SQL DATA RETURN (SELECT MAX(b) FROM d1.t1)",
    "CREATE FUNCTION d1.f_caller() RETURNS INT READS SQL DATA SQL SECURITY INVOKER RETURN (SELECT MAX(b) FROM d1.t1)",
    "CREATE DEFINER = w@'127.0.0.1' FUNCTION d1.f_w() RETURNS INT READS SQL DATA RETURN (SELECT MAX(b) FROM d1.t1)",
    "CREATE PROCEDURE d1.p_caller() SQL SECURITY INVOKER UPDATE d1.t1 SET b = b + 1 WHERE a = 1",
    "CREATE DEFINER = w@'127.0.0.1' PROCEDURE d1.p_w() UPDATE d1.t1 SET b = 7 WHERE a = 1",
    "CREATE DEFINER = w@'127.0.0.1' VIEW d1.v_function AS SELECT a, d1.f_caller() AS f FROM d1.t2",
    "CREATE SQL SECURITY INVOKER VIEW d1.v_function2 AS SELECT d1.f_root() AS f",
    "CREATE DEFINER = w@'127.0.0.1' TRIGGER d1.tr BEFORE INSERT ON d1.t2 FOR EACH ROW SET NEW.b = NEW.a",
    "CREATE SEQUENCE d1.s",
]  # fmt: skip

ON_TABLE = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "TRIGGER", "CREATE VIEW", "SHOW VIEW",
    "REFERENCES", "ALL",
]  # fmt: skip
TABLE_NAMES = ["t1", "t1", "t1", "t2", "t2", "v_root", "v_caller", "v_caller", "v_w", "v_over", "v_sum", "v_function",
               "v_function2", "s", "t9"]  # fmt: skip
ON_COLUMN = ["SELECT (a)", "SELECT (b)", "SELECT (a, b)", "UPDATE (b)", "UPDATE (a)", "INSERT (a)", "INSERT (a, b)",
             "REFERENCES (a)"]  # fmt: skip
# Not views whose definer may miss rights: MariaDB looks at them before it grants.
COLUMN_TABLES = ["t1", "t1", "t2", "v_root", "v_caller", "v_caller"]
ON_DATABASE = [*ON_TABLE, "EXECUTE", "CREATE ROUTINE", "ALTER ROUTINE", "CREATE TEMPORARY TABLES", "LOCK TABLES", "EVENT"]
ROUTINES = ["FUNCTION d1.f_root", "FUNCTION d1.f_caller", "FUNCTION d1.f_w", "PROCEDURE d1.p_caller", "PROCEDURE d1.p_w"]
ON_ROUTINE = ["EXECUTE", "EXECUTE", "ALTER ROUTINE", "ALL"]
EVERYWHERE = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "EXECUTE", "SHOW VIEW", "PROCESS", "CREATE USER"]

# Each runs in a transaction that is rolled back.
READ_AND_WRITE = [
    "SELECT a FROM d1.t1", "SELECT b FROM d1.t1", "SELECT * FROM d1.t1", "SELECT COUNT(*) FROM d1.t1", "SELECT 1 FROM d1.t1",
    "SELECT a FROM d1.t1 WHERE b = 1", "SELECT a FROM d1.t1 ORDER BY b", "SELECT t1.a FROM d1.t1 JOIN d1.t2 USING (a)",
    "SELECT a FROM d1.t2 WHERE a IN (SELECT b FROM d1.t1)", "SELECT a FROM d1.t1 FOR UPDATE", "SELECT DEFAULT(c) FROM d1.t1",
    "SELECT a FROM d1.v_root", "SELECT * FROM d1.v_root", "SELECT a FROM d1.v_caller", "SELECT b FROM d1.v_caller",
    "SELECT * FROM d1.v_caller", "SELECT a FROM d1.v_w", "SELECT * FROM d1.v_w", "SELECT a FROM d1.v_over",
    "SELECT * FROM d1.v_over", "SELECT m FROM d1.v_sum", "SELECT * FROM d1.v_function", "SELECT * FROM d1.v_function2",
    "SELECT d1.f_root()", "SELECT d1.f_caller()", "SELECT d1.f_w()", "CALL d1.p_caller()", "CALL d1.p_w()",
    "SELECT NEXT VALUE FOR d1.s", "SELECT a FROM d2.t3", "SELECT * FROM d1.t1 JOIN d2.t3 ON t1.a = t3.a",
    "WITH x AS (SELECT a FROM d1.t1) SELECT * FROM x", "SELECT * FROM (SELECT b FROM d1.t1) x",
    "INSERT INTO d1.t1 (a) VALUES (9)", "INSERT INTO d1.t1 (a, b) VALUES (9, 9)", "INSERT INTO d1.t1 VALUES (9, 9, 9)",
    "INSERT INTO d1.t1 SET a = 9", "INSERT INTO d1.t1 (a) SELECT a + 10 FROM d1.t2", "INSERT INTO d1.t2 VALUES (3, 3)",
    "INSERT INTO d1.t1 (a) VALUES (1) ON DUPLICATE KEY UPDATE b = 3", "REPLACE INTO d1.t1 (a) VALUES (1)",
    "INSERT INTO d1.t1 (a) VALUES (9) RETURNING a", "INSERT INTO d1.v_root VALUES (9, 9)",
    "INSERT INTO d1.v_caller (a) VALUES (9)", "INSERT INTO d1.v_caller (a, b) VALUES (9, 9)",
    "INSERT INTO d1.v_w (a, b) VALUES (9, 9)", "INSERT INTO d1.v_over (a, b) VALUES (9, 9)",
    "UPDATE d1.t1 SET b = 5", "UPDATE d1.t1 SET b = a", "UPDATE d1.t1 SET b = 5 WHERE a = 1", "UPDATE d1.t1 SET a = 9 WHERE a = 1",
    "UPDATE d1.t1 SET b = (SELECT MAX(a) FROM d1.t2)", "UPDATE d1.t1, d1.t2 SET t1.b = t2.b WHERE t1.a = t2.a",
    "UPDATE d1.v_root SET b = 5", "UPDATE d1.v_caller SET b = 5", "UPDATE d1.v_caller SET c = 5", "UPDATE d1.v_w SET b = 5",
    "UPDATE d1.v_w SET b = 5 WHERE a = 1", "UPDATE d1.v_over SET b = 5", "DELETE FROM d1.t1", "DELETE FROM d1.t1 WHERE a = 1",
    "DELETE FROM d1.v_root WHERE a = 1", "DELETE FROM d1.v_caller", "DELETE FROM d1.v_w", "DELETE FROM d1.v_over",
    "DELETE t1 FROM d1.t1 JOIN d1.t2 ON t1.a = t2.a", "EXPLAIN SELECT a FROM d1.t1", "EXPLAIN SELECT a FROM d1.v_root",
    "EXPLAIN UPDATE d1.t1 SET b = 5", "SHOW COLUMNS FROM d1.t1", "SHOW CREATE TABLE d1.t1", "SHOW INDEX FROM d1.t1",
    "SHOW CREATE VIEW d1.v_root", "SHOW CREATE VIEW d1.v_caller", "SHOW COLUMNS FROM d1.v_w", "SHOW TABLES FROM d1",
    "SHOW CREATE PROCEDURE d1.p_w", "SHOW CREATE FUNCTION d1.f_root", "SHOW TRIGGERS FROM d1", "SHOW CREATE TRIGGER d1.tr",
    "SHOW TABLE STATUS FROM d1", "SHOW CREATE DATABASE d1", "CHECK TABLE d1.t1", "CHECKSUM TABLE d1.t1",
    "SELECT COUNT(*) FROM information_schema.columns WHERE table_schema = 'd1'",
    "SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema = 'd1'",
    "SELECT COUNT(*) FROM information_schema.views WHERE table_schema = 'd1'",
    "SELECT COUNT(*) FROM information_schema.triggers WHERE trigger_schema = 'd1'",
    "SELECT COUNT(*) FROM information_schema.table_privileges", "SELECT COUNT(*) FROM information_schema.column_privileges",
    "HANDLER d1.t1 OPEN", "SELECT * FROM mysql.user", "SHOW GRANTS", "SHOW GRANTS FOR w@'127.0.0.1'", "USE d1", "USE d2",
    "SELECT a FROM d1.t1 INTO @x", "SELECT b FROM d1.t1 LIMIT 1 INTO @x", "DO (SELECT MAX(b) FROM d1.t1)",
    "SET @x = (SELECT MAX(b) FROM d1.t1)", "PREPARE q FROM 'SELECT b FROM d1.t1'", "SHOW PROCEDURE STATUS WHERE db = 'd1'",
    "SELECT a, (SELECT MAX(b) FROM d1.t2) FROM d1.t1", "SELECT t2.* FROM d1.t2 NATURAL JOIN d1.v_caller",
    "UPDATE d1.v_caller JOIN d1.t2 USING (a) SET v_caller.b = t2.b", "REPLACE INTO d1.v_caller (a, b) VALUES (1, 9)",
    "LOCK TABLES d1.t1 READ", "LOCK TABLES d1.t1 WRITE", "LOCK TABLES d1.v_root READ", "ANALYZE TABLE d1.t1",
]  # fmt: skip
# Behind each that is done the tables are made anew.
DEFINE = [
    "CREATE TABLE d1.t9 (a INT)", "CREATE TABLE d1.t9 LIKE d1.t1", "CREATE TABLE d1.t9 AS SELECT a FROM d1.t1",
    "CREATE TEMPORARY TABLE d1.t9 (a INT)", "CREATE OR REPLACE TABLE d1.t2 (a INT)", "DROP TABLE d1.t2", "DROP VIEW d1.v_root",
    "TRUNCATE TABLE d1.t2", "ALTER TABLE d1.t1 ADD d INT", "ALTER TABLE d1.t1 RENAME TO d1.t9", "RENAME TABLE d1.t1 TO d1.t9",
    "CREATE INDEX i ON d1.t1 (b)", "DROP INDEX a ON d1.t2", "ALTER TABLE d1.t1 ADD INDEX (b)",
    "CREATE VIEW d1.v9 AS SELECT a FROM d1.t1", "CREATE VIEW d1.v9 AS SELECT * FROM d1.v_caller",
    "CREATE VIEW d1.v9 AS SELECT MAX(b) AS m FROM d1.t1", "CREATE OR REPLACE VIEW d1.v_sum AS SELECT a FROM d1.t1",
    "ALTER VIEW d1.v_root AS SELECT a FROM d1.t1", "CREATE DEFINER = w@'127.0.0.1' VIEW d1.v9 AS SELECT 1",
    "CREATE TRIGGER d1.tr9 AFTER INSERT ON d1.t1 FOR EACH ROW SET @x = NEW.b", "DROP TRIGGER d1.tr",
    "CREATE PROCEDURE d1.p9() SELECT 1", "DROP PROCEDURE d1.p_w", "ALTER PROCEDURE d1.p_w COMMENT 'x'",
    "CREATE FUNCTION d1.f9() RETURNS INT NO SQL RETURN 1", "CREATE TABLE d1.t9 (a INT, FOREIGN KEY (a) REFERENCES d1.t1 (a))",
    "CREATE SEQUENCE d1.s9", "DROP SEQUENCE d1.s", "ALTER DATABASE d1 CHARACTER SET latin1",
    "CREATE EVENT d1.e ON SCHEDULE EVERY 1 DAY DISABLE DO SELECT 1", "GRANT SELECT ON d1.t1 TO w@'127.0.0.1'",
    "GRANT SELECT (a) ON d1.t1 TO w@'127.0.0.1'", "REVOKE SELECT ON d1.t1 FROM w@'127.0.0.1'", "GRANT r TO w@'127.0.0.1'",
    "OPTIMIZE TABLE d1.t2", "CREATE TABLE d1.t9 AS SELECT * FROM d1.v_root", "CREATE OR REPLACE TABLE d1.t9 (a INT)",
    "DROP TABLE IF EXISTS d1.nosuch", "ALTER TABLE d1.t2 DROP b",
]  # fmt: skip


class Grants:
    """What the accounts of case `number` may do."""

    def __init__(self, seed: int, number: int):
        self.random = random.Random(f"{seed}/{number}")

    def one(self, to: str) -> str:
        pick = self.random.choice
        option = self.random.choice(["", "", "", "", " WITH GRANT OPTION"])
        kind = self.random.choices(["table", "column", "database", "routine", "everywhere"], [6, 5, 2, 3, 1])[0]
        if kind == "table":
            list_ = ", ".join(dict.fromkeys(pick(ON_TABLE[:-1]) for _ in range(self.random.randint(1, 3))))
            return f"GRANT {list_} ON d1.{pick(TABLE_NAMES)} TO {to}{option}"
        if kind == "column":
            return f"GRANT {pick(ON_COLUMN)} ON d1.{pick(COLUMN_TABLES)} TO {to}{option}"
        if kind == "database":
            return f"GRANT {pick(ON_DATABASE)} ON {pick(['d1', 'd1', 'd2'])}.* TO {to}{option}"
        if kind == "routine":
            return f"GRANT {pick(ON_ROUTINE)} ON {pick(ROUTINES)} TO {to}{option}"
        return f"GRANT {pick(EVERYWHERE)} ON *.* TO {to}{option}"

    def statements(self) -> list[str]:
        n = self.random.randint
        given = [self.one("u@'127.0.0.1'") for _ in range(n(1, 7))]
        given += [self.one("w@'127.0.0.1'") for _ in range(n(0, 5))]
        if self.random.random() < 0.3:
            given += [self.one("r") for _ in range(n(1, 3))]
            given += ["GRANT r TO u@'127.0.0.1'", "SET DEFAULT ROLE r FOR u@'127.0.0.1'"]
        return given
