"""Statements about the session and the server, and everything else that one server alone is asked."""

from __future__ import annotations

import random
import re
from pathlib import Path

from .changes import Changes
from .expressions import Expressions
from .node import Node, expr, listed, optional, plain
from .selects import Selects
from .tables import Table
from .values import constant

VARIABLES = Path(__file__).resolve().parents[2] / "docs" / "variables.md"
# Settings that would end the run, or that the watch needs.
KEPT = ("max_statement_time", "read_only", "max_connections", "wait_timeout", "net_read_timeout", "net_write_timeout", "port", "slave", "gtid_slave", "gtid_pos_auto",
        "server_id", "secure", "log_bin", "skip", "narwal_archive", "super", "lock_wait_timeout", "interactive_timeout", "character_set", "collation_connection", "rpl_semi", "max_session_mem",
        "pseudo", "offline")  # fmt: skip
SHOWS = ["SHOW TABLES", "SHOW FULL TABLES LIKE 't%'", "SHOW TABLE STATUS", "SHOW CREATE TABLE {t}", "SHOW FULL COLUMNS FROM {t}", "SHOW INDEX FROM {t}", "SHOW WARNINGS", "SHOW ERRORS LIMIT 1",
         "SHOW COUNT(*) WARNINGS", "SHOW VARIABLES LIKE 'max%'", "SHOW GLOBAL STATUS LIKE 'com%'", "SHOW PROCESSLIST", "SHOW FULL PROCESSLIST", "SHOW GRANTS", "SHOW GRANTS FOR fz1@localhost", "SHOW ENGINES",
         "SHOW COLLATION LIKE '%bin'", "SHOW CHARACTER SET", "SHOW MASTER STATUS", "SHOW BINARY LOGS", "SHOW BINLOG EVENTS LIMIT 3", "SHOW PRIVILEGES", "SHOW PLUGINS", "SHOW TRIGGERS", "SHOW EVENTS",
         "SHOW PROCEDURE STATUS", "SHOW OPEN TABLES", "SHOW ENGINE INNODB STATUS", "SHOW DATABASES", "SHOW CREATE DATABASE {d}", "SHOW CREATE VIEW v1", "SHOW CREATE SEQUENCE s1", "SHOW SLAVE HOSTS", "SHOW ALL SLAVES STATUS",
         "DESCRIBE {t}", "DESC {t} id", "CHECK TABLE {t}", "ANALYZE TABLE {t}", "OPTIMIZE TABLE {t}", "REPAIR TABLE {t}", "CHECKSUM TABLE {t}", "CHECK TABLE {t} EXTENDED", "CHECKSUM TABLE {t} EXTENDED", "HELP 'x'", "SHOW VARIABLES WHERE Variable_name REGEXP 'a.*b'",
         "SHOW TABLES WHERE 1 = (SELECT 2)", "SHOW COLUMNS FROM {t} WHERE `Null` = 'YES'", "SHOW STATUS WHERE Value > 5", "SHOW CREATE USER", "SHOW INDEX FROM {t} WHERE Key_name = 'PRIMARY'"]  # fmt: skip
CONTROLS = ["BEGIN", "START TRANSACTION READ ONLY", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "COMMIT", "ROLLBACK", "COMMIT AND CHAIN", "ROLLBACK RELEASE NO", "SAVEPOINT p1", "SAVEPOINT p2", "ROLLBACK TO p1", "ROLLBACK TO SAVEPOINT p2", "RELEASE SAVEPOINT p1",
            "SET autocommit = 0", "SET autocommit = 1", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ", "SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED",
            "XA START '{d}'", "XA END '{d}'", "XA PREPARE '{d}'", "XA COMMIT '{d}'", "XA ROLLBACK '{d}'", "XA COMMIT '{d}' ONE PHASE", "XA RECOVER", "LOCK TABLES {t} READ", "LOCK TABLES {t} WRITE", "LOCK TABLES {t} AS a1 READ, {t} WRITE", "UNLOCK TABLES", "FLUSH TABLES", "FLUSH TABLES {t}",
            "FLUSH STATUS", "FLUSH BINARY LOGS", "DO 1", "SET @u1 = NULL", "RESET QUERY CACHE", "USE {d}", "TRUNCATE TABLE {t}", "CREATE TABLE IF NOT EXISTS t_like LIKE {t}", "DROP TABLE IF EXISTS t_like", "RENAME TABLE {t} TO t_moved, t_moved TO {t}",
            "CREATE SEQUENCE IF NOT EXISTS s1 START WITH 5 INCREMENT BY -2 MAXVALUE 9 CYCLE", "ALTER SEQUENCE s1 RESTART 3", "SELECT NEXTVAL(s1), LASTVAL(s1), SETVAL(s1, 7)", "SELECT * FROM s1", "DROP SEQUENCE IF EXISTS s1", "SELECT NEXT VALUE FOR s1",
            "CREATE USER IF NOT EXISTS fz1@localhost IDENTIFIED BY 'x'", "GRANT SELECT ON {d}.* TO fz1@localhost", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM fz1@localhost", "GRANT INSERT, UPDATE ON {d}.{t} TO fz1@localhost", "DROP USER IF EXISTS fz1@localhost", "SET PASSWORD FOR fz1@localhost = PASSWORD('y')",
            "SELECT GET_LOCK('{d}', 0)", "SELECT RELEASE_LOCK('{d}')", "SELECT RELEASE_ALL_LOCKS()", "DEALLOCATE PREPARE q1", "EXECUTE q1", "DROP VIEW IF EXISTS v9", "SELECT SQL_CALC_FOUND_ROWS * FROM {t} LIMIT 1", "SELECT FOUND_ROWS(), ROW_COUNT(), LAST_INSERT_ID()", "TABLE {t}", "VALUES (1, 2), (3, 4)", "HANDLER {t} OPEN",
            "SELECT * FROM {t} FOR UPDATE", "SELECT * FROM {t} LOCK IN SHARE MODE", "SELECT * FROM {t} FOR UPDATE NOWAIT", "SELECT * FROM {t} FOR UPDATE SKIP LOCKED", "SELECT * FROM {t} PROCEDURE ANALYSE()", "KILL QUERY 0", "KILL 999999", "SELECT SLEEP(0.001)", "SELECT BENCHMARK(10, MD5('a'))"]  # fmt: skip


def variables() -> list[str]:
    """The names that docs/variables.md has."""
    found = re.findall(r"`([a-z][a-z0-9_]+)`", VARIABLES.read_text())
    return sorted({name for name in found if "_" in name and not name.startswith(KEPT) and not name.endswith("_commit_wait_usec")})


class Control:
    def __init__(self, r: random.Random, makes: Expressions, selects: Selects, changes: Changes, tables: list[Table], database: str):
        self.r, self.makes, self.selects, self.changes = r, makes, selects, changes
        self.tables, self.database = tables, database
        self.names = variables()
        self.views = 1

    def filled(self, text: str) -> str:
        return text.replace("{t}", self.r.choice(self.tables).name).replace("{d}", self.database)

    def statement(self) -> Node:
        r = self.r
        match r.randrange(16):
            case 0 | 1:
                return plain(self.filled(r.choice(SHOWS)))
            case 2 | 3:
                return plain(self.filled(r.choice(CONTROLS)))
            case 4:
                value = r.choice([self.makes.make("any", [], 1), constant(r), "DEFAULT"])
                return plain(f"SET {r.choice(['', 'SESSION ', '@@session.', ''])}{r.choice(self.names)} = ", value)
            case 5:
                return plain(f"SET @u{r.randint(1, 3)} = ", self.makes.make("any", [], 3))
            case 6:
                return plain(r.choice(["EXPLAIN ", "EXPLAIN FORMAT=JSON ", "ANALYZE ", "EXPLAIN EXTENDED ", "ANALYZE FORMAT=JSON "]), r.choice([self.selects.statement, self.changes.change])())
            case 7:
                return self.catalog()
            case 8:
                return self.made_table()
            case 9:
                self.views += 1
                return plain(f"CREATE OR REPLACE VIEW v{r.choice([1, 9])} AS ", self.selects.statement())
            case 10:
                text = str(r.choice([self.selects.statement, self.changes.change])()).replace("\\", "\\\\").replace("'", "\\'")
                return plain(f"PREPARE q1 FROM '{text}'")
            case 11:
                return plain("EXECUTE IMMEDIATE CONCAT('SELECT ', ", self.makes.make("any", [], 2), ")")
            case 12:
                t = r.choice(self.tables)
                return plain(f"SELECT ", self.makes.make("any", t.scope(t.name), 2), r.choice([" INTO @u1", " AS x, 2 INTO @u1, @u2"]), f" FROM {t.name}", optional(" LIMIT 1"))
            case 13:
                return plain(f"SET STATEMENT {r.choice(self.names)} = ", expr(constant(r)), " FOR ", self.selects.statement())
            case 14:
                return self.selects.statement() if r.random() < 0.5 else self.windows()
            case _:
                return self.damaged()

    def windows(self) -> Node:
        """An aggregate over a window."""
        t = self.r.choice(self.tables)
        return plain("SELECT ", self.makes.aggregate(t.scope(t.name), 1), f" OVER (PARTITION BY id ORDER BY id ROWS {self.r.choice(['1', 'UNBOUNDED'])} PRECEDING) FROM {t.name}")

    def catalog(self) -> Node:
        name = self.r.choice(["TABLES", "COLUMNS", "STATISTICS", "KEY_COLUMN_USAGE", "REFERENTIAL_CONSTRAINTS", "VIEWS", "PROCESSLIST", "SCHEMATA", "CHECK_CONSTRAINTS", "USER_PRIVILEGES", "GLOBAL_STATUS", "SYSTEM_VARIABLES", "INNODB_TRX", "ENGINES", "COLLATIONS", "TABLE_CONSTRAINTS", "PARAMETERS", "PARTITIONS"])
        shown = self.r.choice(["*", "count(*)", "TABLE_NAME", "max(length(TABLE_NAME))"])
        where = optional(" WHERE ", self.r.choice([f"TABLE_SCHEMA = '{self.database}'", f"TABLE_NAME IN ('t0', 't1')", "TABLE_NAME LIKE 't%'"])) if self.r.random() < 0.5 else optional(" WHERE ", self.makes.make("bool", [("TABLE_NAME", "text"), ("TABLE_SCHEMA", "text")], 2))
        return plain(f"SELECT {shown} FROM information_schema.{name}", where, optional(" LIMIT 20"))

    def made_table(self) -> Node:
        head = self.r.choice(["CREATE TABLE t_made ", "CREATE OR REPLACE TABLE t_made ", "CREATE TEMPORARY TABLE t_tmp ", "CREATE TABLE IF NOT EXISTS t_made "])
        return plain(head, optional("(x INT DEFAULT 3) "), self.r.choice(["", "IGNORE ", "REPLACE "]), self.selects.statement())

    def damaged(self) -> Node:
        """A statement with a word taken out, doubled or exchanged: mostly refused."""
        words = str(self.r.choice([self.selects.statement, self.changes.change, lambda: self.changes.definition()[0]])()).split(" ")
        other = str(self.selects.statement()).split(" ")
        for _ in range(self.r.randint(1, 3)):
            n = self.r.randrange(len(words))
            match self.r.randrange(4):
                case 0:
                    words.pop(n)
                case 1:
                    words.insert(n, words[n])
                case 2:
                    words[n] = self.r.choice(other)
                case _:
                    words[n:n] = other[self.r.randrange(len(other)) :][:5]
            words = words or ["SELECT"]
        return listed(words, " ")

    def calls(self) -> Node:
        """Any functions of edge values: quick, so that there are many."""
        made = [self.makes.call([], 1) if self.r.random() < 0.6 else self.makes.operator([], 1) for _ in range(6)]
        return plain("SELECT ", listed(made))

    def deep(self) -> Node:
        """Nested deeper than anybody would."""
        r = self.r
        depth = r.choice([20, 100, 1000, 5000])
        inner = self.makes.make("any", [], 1)
        before, behind = r.choice([("(", ")"), ("-", ""), ("NOT ", ""), ("abs(", ")"), ("1+(", ")"), ("(SELECT ", ")"), ("case 1 when 1 then ", " end"), ("concat(1,", ")"), ("1 IN (", ")"), ("~", ""), ("json_array(", ")"), ("if(1,", ",2)"),
                                   ("1 OR ", ""), ("1,", ""), ("1 UNION SELECT ", ""), ("'a' LIKE ", ""), ("interval 1 day + ", ""), ("1 + ", ""), ("x'41' || ", "")])
        members = 10
        return plain("SELECT ", listed([before * (depth // members)] * members, ""), inner, listed([behind * (depth // members)] * members, ""))
