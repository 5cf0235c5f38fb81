"""information_schema, and the joins, unions and subqueries that are asked of it: the same statements in the server under
test and in MariaDB, over the same tables. What may differ is said where it is left out."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from pathlib import Path

import pymysql
import pytest
from conftest import ROOT
from support import Client, differences

DDL = [
    "CREATE TABLE parent (id BIGINT UNSIGNED PRIMARY KEY AUTO_INCREMENT, name VARCHAR(40) NOT NULL UNIQUE) COMMENT 'p'",
    """CREATE TABLE types (
      a TINYINT UNSIGNED, b SMALLINT, c MEDIUMINT, d INT UNSIGNED NOT NULL DEFAULT 5, e BIGINT UNSIGNED, f FLOAT,
      g DOUBLE UNSIGNED, h DECIMAL(12,4), i CHAR(3), j VARCHAR(10) CHARACTER SET binary, k BINARY(7), l VARBINARY(9),
      m TINYTEXT, n TEXT, o MEDIUMTEXT, p LONGTEXT, q TINYBLOB, r BLOB, s MEDIUMBLOB, t LONGBLOB, u DATE, v TIME(2),
      w DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6),
      x TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, y YEAR, aa TINYINT(1),
      z VARCHAR(30) COLLATE utf8mb4_bin NOT NULL DEFAULT 'it''s' COMMENT 'a ''q''',
      PRIMARY KEY (d, a), KEY kz (z(5) DESC, a) COMMENT 'kk', UNIQUE KEY uu (h)) COMMENT 'of each'""",
    "CREATE TABLE bare (a INT, b INT NOT NULL, UNIQUE KEY (b))",
    "INSERT INTO parent (name) VALUES ('one'), ('two'), ('three')",
    "INSERT INTO bare VALUES (1, 1), (1, 2), (NULL, 3), (9, 4)",
]


@pytest.fixture(scope="module")
def pair(narwal_server, mariadb):
    """The same database on both: two clients."""
    name = "schema_test"
    clients = [Client(narwal_server), Client(mariadb)]
    for client in clients:
        client.ok(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COMMENT 'both'")
        client.ok(f"USE {name}")
        for statement in DDL:
            client.ok(statement)
    yield clients
    for client in clients:
        client.ok(f"DROP DATABASE {name}")
        client.close()


# Columns that differ: sizes, times, estimates of rows and cardinality.
TABLES = {
    "SCHEMATA": ("schema_name = DATABASE()", []),
    "TABLES": (
        "table_schema = DATABASE()",
        ["TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH", "INDEX_LENGTH", "CREATE_TIME", "UPDATE_TIME"],
    ),
    "COLUMNS": ("table_schema = DATABASE()", []),
    "STATISTICS": ("table_schema = DATABASE()", ["CARDINALITY"]),
    "KEY_COLUMN_USAGE": ("table_schema = DATABASE()", []),
    "TABLE_CONSTRAINTS": ("table_schema = DATABASE()", []),
    "REFERENTIAL_CONSTRAINTS": ("constraint_schema = DATABASE()", []),
    "CHECK_CONSTRAINTS": ("constraint_schema = DATABASE()", []),
    "PARTITIONS": (
        "table_schema = DATABASE()",
        ["TABLE_ROWS", "AVG_ROW_LENGTH", "DATA_LENGTH", "INDEX_LENGTH", "CREATE_TIME", "UPDATE_TIME"],
    ),
    "TRIGGERS": ("trigger_schema = DATABASE()", []),
    "EVENTS": ("event_schema = DATABASE()", []),
    "ROUTINES": ("routine_schema = DATABASE()", []),
    "PARAMETERS": ("specific_schema = DATABASE()", []),
    "VIEWS": ("table_schema = DATABASE()", []),
    "FILES": ("table_schema = DATABASE()", []),
    "CHARACTER_SETS": ("character_set_name IN ('utf8mb4', 'binary')", []),
    "COLLATIONS": ("collation_name IN ('utf8mb4_general_ci', 'utf8mb4_bin', 'binary')", []),
    "COLLATION_CHARACTER_SET_APPLICABILITY": (
        "collation_name IN ('utf8mb4_general_ci', 'utf8mb4_bin', 'binary')",
        [],
    ),
    "ENGINES": ("engine = 'InnoDB'", ["COMMENT", "XA"]),
    "TABLE_PRIVILEGES": ("table_schema = DATABASE()", []),
    "COLUMN_PRIVILEGES": ("table_schema = DATABASE()", []),
    "SCHEMA_PRIVILEGES": ("table_schema = DATABASE()", []),
    "GLOBAL_VARIABLES": ("variable_name IN ('AUTOCOMMIT', 'LOWER_CASE_TABLE_NAMES', 'SQL_MODE')", []),
    "SESSION_VARIABLES": ("variable_name IN ('AUTOCOMMIT', 'CHARACTER_SET_CLIENT', 'TIME_ZONE')", []),
}
ONLY_COLUMNS = [
    "PROCESSLIST", "USER_PRIVILEGES", "PLUGINS", "SYSTEM_VARIABLES", "GLOBAL_STATUS", "SESSION_STATUS",
    "INNODB_BUFFER_POOL_STATS", "INNODB_CMP", "INNODB_CMPMEM", "INNODB_LOCK_WAITS", "INNODB_SYS_COLUMNS",
    "INNODB_SYS_FIELDS", "INNODB_SYS_FOREIGN", "INNODB_SYS_FOREIGN_COLS", "INNODB_SYS_INDEXES", "INNODB_SYS_TABLESPACES",
    "INNODB_SYS_TABLESTATS", "INNODB_TABLESPACES_ENCRYPTION",
]  # fmt: skip


@pytest.mark.parametrize("table", TABLES)
def test_rows(pair, table):
    where, differ = TABLES[table]
    statement = f"SELECT * FROM information_schema.{table} WHERE {where}"
    ours, theirs = (client.ok(statement) for client in pair)
    assert ours.columns == theirs.columns
    left_out = [ours.columns.index(c) for c in differ]

    def cut(rows):
        return sorted([tuple(v for i, v in enumerate(row) if i not in left_out) for row in rows], key=repr)

    assert cut(ours.rows) == cut(theirs.rows)


# What is another variable here: it can't be changed, has other ends, or knows other words.
OTHER_VARIABLES = {
    "BINLOG_COMMIT_WAIT_COUNT", "BINLOG_COMMIT_WAIT_USEC", "BINLOG_ROW_IMAGE", "EVENT_SCHEDULER", "INNODB_BUFFER_POOL_SIZE",
    "INNODB_LOG_BUFFER_SIZE", "INNODB_LOG_FILE_SIZE", "INNODB_LOG_WRITE_AHEAD_SIZE", "INNODB_OPEN_FILES", "INNODB_WRITE_IO_THREADS",
    "PROTOCOL_VERSION", "QUERY_CACHE_MIN_RES_UNIT", "REPORT_PORT", "SQL_LOG_BIN", "TIMESTAMP", "TLS_VERSION", "TMP_TABLE_SIZE",
}  # fmt: skip


def test_what_variables_are(pair):
    """Types, ends, steps, members, scopes and options of MariaDB's variables."""
    statement = (
        "SELECT variable_name, variable_scope, variable_type, numeric_min_value, numeric_max_value, numeric_block_size, enum_value_list,"
        " read_only, command_line_argument FROM information_schema.system_variables"
    )
    ours, theirs = ({row[0]: row[1:] for row in client.ok(statement).rows} for client in pair)
    assert theirs.keys() <= ours.keys()
    differ = {name: (ours[name], theirs[name]) for name in theirs.keys() - OTHER_VARIABLES if ours[name] != theirs[name]}
    assert differ == {}


SYSTEM_SCHEMAS = [
    "SELECT * FROM information_schema.schemata WHERE schema_name IN ('mysql', 'performance_schema') ORDER BY schema_name",
    "SHOW DATABASES LIKE 'mys%'",
    "SHOW DATABASES LIKE '%schema'",
    "SHOW CREATE DATABASE mysql",
    "SHOW CREATE DATABASE performance_schema",
    "SHOW FULL TABLES FROM mysql",
    "SHOW TABLES FROM performance_schema",
    "SHOW COLUMNS FROM mysql.db",
    "SHOW FULL COLUMNS FROM mysql.global_priv",
    "DESCRIBE mysql.user",
    "SELECT table_name, engine, table_type, table_collation, table_comment FROM information_schema.tables WHERE table_schema = 'mysql' ORDER BY table_name",
    # The length of a SET is that of its members; MariaDB leaves out two for one of them.
    "SELECT * FROM information_schema.columns WHERE table_schema = 'mysql' AND column_name <> 'Table_priv' ORDER BY table_name, ordinal_position",
    "SELECT table_name, index_name, seq_in_index, column_name, non_unique FROM information_schema.statistics WHERE table_schema = 'mysql' "
    "ORDER BY table_name, index_name, seq_in_index",
    "SELECT constraint_name, table_name, constraint_type FROM information_schema.table_constraints WHERE table_schema = 'mysql' "
    "AND constraint_type <> 'CHECK' ORDER BY 1, 2",
]  # fmt: skip


@pytest.mark.parametrize("statement", SYSTEM_SCHEMAS)
def test_system_schemas(pair, statement):
    """`mysql` and `performance_schema` look as in MariaDB."""
    ours, theirs = (client.ok(statement) for client in pair)
    assert ours.columns == theirs.columns
    assert ours.rows == theirs.rows


def test_system_schemas_can_be_used(pair):
    for client in pair:
        for name in ("mysql", "performance_schema", "sys"):
            client.ok(f"USE {name}")
        client.ok("USE mysql")
        assert client.rows("SELECT user FROM db WHERE user = 'nobody'") == []
        client.ok("USE schema_test")


def test_system_schemas_need_privileges(pair):
    for client in pair:
        client.ok("CREATE OR REPLACE USER sees_nothing, sees_table")
        client.ok("GRANT SELECT ON mysql.db TO sees_table")
    for server in (pair[0].server, pair[1].server):
        with Client(server, user="sees_nothing") as client:
            assert client.rows("SHOW DATABASES") == [("information_schema",)]
            client.fails("USE mysql", 1044)
            client.fails("SHOW TABLES FROM performance_schema", 1044)
        with Client(server, user="sees_table") as client:
            assert client.rows("SHOW DATABASES LIKE '%'") == [("information_schema",), ("mysql",)]
            assert client.rows("SHOW TABLES FROM mysql") == [("db",)]
            client.fails("DESCRIBE mysql.global_priv", 1142)
    for client in pair:
        client.ok("DROP USER sees_nothing, sees_table")


@pytest.mark.parametrize("table", [*TABLES, *ONLY_COLUMNS])
def test_columns(pair, table):
    """Names, types and NULLs of the tables' own columns; and they describe themselves."""
    statement = (
        "SELECT column_name, column_type, is_nullable, data_type FROM information_schema.columns "
        f"WHERE table_schema = 'information_schema' AND table_name = '{table}' ORDER BY ordinal_position"
    )
    ours, theirs = (client.ok(statement) for client in pair)
    assert ours.rows == theirs.rows
    described = pair[0].rows(f"SHOW COLUMNS FROM information_schema.{table.lower()}")
    assert [(row[0], row[1], row[2]) for row in described] == [row[:3] for row in ours.rows]


@pytest.mark.parametrize("table", ["INNODB_TRX", "INNODB_LOCKS", "INNODB_METRICS", "INNODB_SYS_TABLES", "INNODB_BUFFER_PAGE"])
def test_columns_with_enums(pair, table):
    """As `test_columns`, but what is an ENUM there is a text of the longest member's length here."""
    statement = (
        "SELECT column_name, is_nullable, data_type, column_type FROM information_schema.columns "
        f"WHERE table_schema = 'information_schema' AND table_name = '{table}' ORDER BY ordinal_position"
    )
    ours, theirs = (client.rows(statement) for client in pair)

    def as_text(row):
        members = re.findall("'([^']*)'", row[3]) if row[2] == "enum" else None
        return row if members is None else (*row[:2], "varchar", f"varchar({max(map(len, members))})")

    assert ours == [as_text(row) for row in theirs]


def test_all_innodb_tables(pair):
    statement = (
        "SELECT table_name, (SELECT GROUP_CONCAT(column_name ORDER BY ordinal_position) FROM information_schema.columns c "
        "WHERE c.table_schema = t.table_schema AND c.table_name = t.table_name) FROM information_schema.tables t "
        "WHERE table_schema = 'information_schema' AND table_name LIKE 'INNODB%' ORDER BY 1"
    )
    ours, theirs = (client.rows(statement) for client in pair)
    assert ours == theirs
    for name, _ in ours:
        pair[0].ok(f"SELECT * FROM information_schema.{name}")


INNODB = [
    "SELECT name, n_cols, row_format FROM information_schema.innodb_sys_tables WHERE name LIKE 'schema_test/%' ORDER BY 1",
    "SELECT t.name, i.name, i.type FROM information_schema.innodb_sys_tables t JOIN "
    "information_schema.innodb_sys_indexes i USING (table_id) WHERE t.name IN ('schema_test/parent', 'schema_test/types') ORDER BY 1, 2",
    "SELECT t.name, i.name, f.name, f.pos FROM information_schema.innodb_sys_tables t JOIN "
    "information_schema.innodb_sys_indexes i USING (table_id) JOIN information_schema.innodb_sys_fields f USING (index_id) "
    "WHERE t.name LIKE 'schema_test/%' AND i.name <> 'GEN_CLUST_INDEX' ORDER BY 1, 2, 4",
    "SELECT * FROM information_schema.innodb_sys_foreign WHERE for_name LIKE 'schema_test/%' ORDER BY 1",
    "SELECT * FROM information_schema.innodb_sys_foreign_cols WHERE id LIKE 'schema_test/%' ORDER BY 1, 4",
]


@pytest.mark.parametrize("statement", INNODB)
def test_innodb_catalog(pair, statement):
    ours, theirs = (client.rows(statement) for client in pair)
    assert ours == theirs


def test_transactions_and_lock_waits(both):
    """Who waits for whom, as the usual query of monitoring tools tells it."""
    query = (
        "SELECT r.trx_mysql_thread_id, r.trx_state, r.trx_query, b.trx_mysql_thread_id, b.trx_state, b.trx_query, "
        "l.lock_table, l.lock_index, l.lock_mode, l.lock_type, TIMESTAMPDIFF(SECOND, r.trx_wait_started, NOW()) < 30 "
        "FROM information_schema.innodb_lock_waits w "
        "JOIN information_schema.innodb_trx b ON b.trx_id = w.blocking_trx_id "
        "JOIN information_schema.innodb_trx r ON r.trx_id = w.requesting_trx_id "
        "JOIN information_schema.innodb_locks l ON l.lock_id = w.requested_lock_id"
    )
    state = (
        "SELECT trx_state, trx_isolation_level, trx_is_read_only, trx_query FROM information_schema.innodb_trx "
        "WHERE trx_mysql_thread_id = {}"
    )

    def rows(client, statement):
        # MariaDB keeps what it told for a tenth of a second.
        time.sleep(0.2)
        return client.rows(statement)

    for client in both:
        client.ok("CREATE TABLE waited (id INT PRIMARY KEY, a INT)")
        client.ok("INSERT INTO waited VALUES (1, 1), (2, 2)")
        with Client(client.server, client.value("SELECT DATABASE()")) as holder, Client(
            client.server, client.value("SELECT DATABASE()")
        ) as waiter:
            ids = [int(c.value("SELECT CONNECTION_ID()")) for c in (holder, waiter)]
            assert rows(client, state.format(ids[0])) == []
            holder.ok("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
            holder.ok("BEGIN")
            holder.ok("UPDATE waited SET a = 5 WHERE id = 1")
            assert rows(client, state.format(ids[0])) == [("RUNNING", "READ COMMITTED", "0", None)]
            text = "DELETE FROM waited WHERE id = 1"
            waiting = waiter.background(text)
            assert waiting.blocked(1.0)
            assert rows(client, query) == [
                (str(ids[1]), "LOCK WAIT", text, str(ids[0]), "RUNNING", None,
                 f"`{client.value('SELECT DATABASE()')}`.`waited`", "PRIMARY", "X", "RECORD", "1"),
            ]  # fmt: skip
            assert rows(client, "SELECT lock_mode FROM information_schema.innodb_locks") == [("X",), ("X",)]
            holder.ok("COMMIT")
            waiting.ok()
            assert rows(client, query) == []
            assert rows(client, state.format(ids[0])) == []


def test_innodb_tables_take_process(both):
    for client in both:
        client.ok("CREATE USER watcher IDENTIFIED BY 'watch'")
        with Client(client.server, user="watcher", password="watch") as other:
            other.fails("SELECT * FROM information_schema.innodb_trx", 1227)
            other.fails("SELECT * FROM information_schema.innodb_sys_tables", 1227)
        client.ok("DROP USER watcher")


IS = "information_schema"
QUERIES = [
    f"SELECT Table_Name, tables.TABLE_TYPE FROM {IS.title()}.tables WHERE Table_Schema = 'schema_test' ORDER BY 1",
    f"SELECT t.table_name, COUNT(*) n FROM {IS}.tables t JOIN {IS}.columns c USING (table_schema, table_name) "
    "WHERE t.table_schema = DATABASE() GROUP BY t.table_name ORDER BY n DESC, t.table_name",
    f"SELECT c.table_name, c.column_name, k.constraint_name FROM {IS}.columns c LEFT JOIN {IS}.key_column_usage k "
    "ON k.table_schema = c.table_schema AND k.table_name = c.table_name AND k.column_name = c.column_name "
    "WHERE c.table_schema = DATABASE() ORDER BY c.table_name, c.ordinal_position, 3",
    f"SELECT kcu.table_name, kcu.column_name, rc.update_rule FROM {IS}.key_column_usage kcu "
    f"INNER JOIN {IS}.referential_constraints rc ON kcu.constraint_schema = rc.constraint_schema "
    "AND kcu.constraint_name = rc.constraint_name WHERE kcu.table_schema = DATABASE()",
    f"SELECT CASE data_type WHEN 'int' THEN IF(column_type LIKE '%unsigned%', 4, 5) WHEN 'varchar' THEN 12 ELSE 1111 END "
    "kind, UCASE(IF(column_type LIKE '%(%)%', CONCAT(SUBSTRING(column_type, 1, LOCATE('(', column_type) - 1), "
    "SUBSTRING(column_type, 1 + LOCATE(')', column_type))), column_type)) name, "
    "IF(numeric_precision IS NULL, LEAST(character_maximum_length, 2147483647), numeric_precision) size "
    f"FROM {IS}.columns WHERE table_schema = DATABASE() AND table_name = 'types' ORDER BY ordinal_position",
    f"SELECT column_name FROM {IS}.columns WHERE (column_key = 'PRI' OR (column_key = 'UNI' AND NOT EXISTS "
    f"(SELECT * FROM {IS}.columns WHERE column_key = 'PRI' AND table_schema = DATABASE() AND table_name = 'bare'))) "
    "AND table_schema = DATABASE() AND table_name = 'bare'",
    f"SELECT table_name FROM {IS}.tables WHERE table_schema = DATABASE() AND table_name IN "
    f"(SELECT DISTINCT table_name FROM {IS}.statistics WHERE non_unique = 1 AND table_schema = DATABASE())",
    f"SELECT DISTINCT tablespace_name FROM {IS}.files WHERE file_type = 'DATAFILE' AND tablespace_name IN "
    f"(SELECT tablespace_name FROM {IS}.partitions WHERE table_schema IN ('schema_test')) ORDER BY 1",
    "SELECT 'a' x UNION SELECT 'b' UNION ALL SELECT 'a' ORDER BY x DESC",
    "(SELECT 1, 2.5 LIMIT 1) UNION (SELECT 3, NULL) ORDER BY 1 DESC LIMIT 1",
    "SELECT a FROM bare UNION SELECT name FROM parent ORDER BY a",
    # Stored tables: the same machinery.
    "SELECT p.id, b.b FROM parent p JOIN bare b ON b.a = p.id ORDER BY 1, 2",
    "SELECT p.id, b.b FROM parent p LEFT JOIN bare b ON b.a = p.id AND b.b > 1 ORDER BY 1, 2",
    "SELECT p.id, b.b FROM bare b RIGHT JOIN parent p ON b.a = p.id WHERE b.b IS NULL ORDER BY 1",
    "SELECT b.b, p.name FROM bare b LEFT JOIN parent p ON p.id = b.a ORDER BY b.b",
    "SELECT x.b, y.b FROM bare x, bare y WHERE x.b = y.a ORDER BY 1, 2",
    "SELECT x.b, y.b, p.name FROM bare x LEFT JOIN (bare y JOIN parent p ON p.id = y.b) ON y.a = x.a ORDER BY 1, 2",
    "SELECT * FROM bare x JOIN bare y USING (a) ORDER BY x.b, y.b",
    "SELECT a, x.b FROM bare x NATURAL JOIN (SELECT a, b FROM bare WHERE b < 3) y ORDER BY 2",
    "SELECT COUNT(*), SUM(x.b), MAX(p.name) FROM bare x CROSS JOIN parent p",
    "SELECT p.name, COUNT(b.b) FROM parent p LEFT JOIN bare b ON b.a = p.id GROUP BY p.id HAVING COUNT(b.b) < 2 ORDER BY 1",
    "SELECT d.n, d.s FROM (SELECT a n, SUM(b) s FROM bare GROUP BY a) d WHERE d.s > 2 ORDER BY d.s, d.n",
    "SELECT (SELECT MAX(b) FROM bare) m, b FROM bare WHERE b = (SELECT MIN(b) FROM bare)",
    "SELECT b FROM bare WHERE a NOT IN (SELECT a FROM bare WHERE a = 1) ORDER BY b",
    "SELECT b FROM bare WHERE a NOT IN (SELECT a FROM bare) ORDER BY b",
    "SELECT name FROM parent WHERE id IN (SELECT '2' UNION SELECT 3) ORDER BY name",
    "SELECT name FROM parent WHERE name IN (SELECT 'ONE') AND EXISTS (SELECT 1 FROM bare WHERE a = 9)",
    "SELECT b FROM bare WHERE b = (SELECT b FROM bare)",
    "SELECT 1 FROM bare x JOIN bare x",
    "SELECT b FROM bare x JOIN bare y ON x.a = y.a",
    "SELECT nothing FROM bare x JOIN bare y ON x.a = y.a",
    "SELECT * FROM (SELECT 1 a, 2 a) d",
    "SELECT 1 UNION SELECT 1, 2",
    "SELECT x.* FROM bare x JOIN parent USING (nothing)",
    f"SELECT * FROM {IS}.nothing",
    f"INSERT INTO {IS}.tables (table_name) VALUES ('x')",
    f"DELETE FROM {IS}.tables",
    f"SHOW CREATE TABLE {IS}.nothing",
    f"USE {IS}",
    "SELECT DATABASE(), COUNT(*) FROM schemata WHERE schema_name = 'information_schema'",
    "SHOW TABLES LIKE 'SCHEMATA'",
    "SHOW FULL TABLES LIKE 'COLUMNS'",
    "USE schema_test",
    "SHOW DATABASES LIKE 'information%'",
]


@pytest.mark.parametrize("query", QUERIES)
def test_queries(pair, query):
    ours, theirs = (client.run(query) for client in pair)
    assert not differences(ours, theirs)


def test_prepared_and_in_transactions(narwal, db):
    with Client(narwal, db) as client, Client(narwal, db) as other:
        client.ok("CREATE TABLE p (id INT PRIMARY KEY, v INT, KEY (v))")
        client.ok("CREATE TABLE c (id INT PRIMARY KEY, p INT, KEY (p))")
        client.ok("INSERT INTO p VALUES " + ",".join(f"({i}, {i % 10})" for i in range(1000)))
        client.ok("INSERT INTO c VALUES " + ",".join(f"({i}, {i % 500})" for i in range(3000)))
        join = "SELECT COUNT(*), SUM(c.id) FROM p JOIN c ON c.p = p.id WHERE p.v = 3"
        assert client.ints(join) == [(300, sum(i for i in range(3000) if i % 500 % 10 == 3))]
        # One snapshot for all tables of a transaction.
        client.ok("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        other.ok("DELETE FROM c")
        other.ok("INSERT INTO p VALUES (5000, 3)")
        assert client.ints(join)[0][0] == 300
        assert client.ints("SELECT COUNT(*) FROM p WHERE id NOT IN (SELECT p FROM c)") == [500]
        client.ok("COMMIT")
        assert client.ints(join)[0][0] == 0
        # SERIALIZABLE: a join's rows are locked.
        client.ok("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        client.ok("BEGIN")
        assert client.ints("SELECT COUNT(*) FROM p x JOIN p y ON y.id = x.id WHERE x.id < 3") == [3]
        other.ok("SET innodb_lock_wait_timeout = 1")
        other.fails("UPDATE p SET v = 0 WHERE id = 2", 1205)
        client.ok("COMMIT")
        assert client.ints("SELECT ROW_NUMBER() OVER (ORDER BY id) FROM p WHERE id < 3") == [1, 2, 3]
        # INSERT ... SELECT takes all of it.
        client.ok("INSERT INTO c SELECT x.id + 10000, y.id FROM p x JOIN p y ON y.id = x.v WHERE x.id < 5")
        assert client.ints("SELECT p FROM c ORDER BY id") == [0, 1, 2, 3, 4]


def test_privileges_filter_rows(narwal, db):
    with Client(narwal) as root:
        root.ok(f"CREATE TABLE {db}.seen (a INT PRIMARY KEY)")
        root.ok(f"CREATE TABLE {db}.hidden (a INT PRIMARY KEY)")
        root.ok("CREATE OR REPLACE USER looker@'%'")
        root.ok(f"GRANT SELECT ON {db}.seen TO looker@'%'")
        with Client(narwal, user="looker") as client:
            where = f"FROM information_schema.%s WHERE table_schema = '{db}'"
            assert client.rows("SELECT table_name " + where % "tables") == [("seen",)]
            assert client.rows("SELECT table_name, privileges " + where % "columns") == [("seen", "select")]
            assert client.rows("SELECT table_name " + where % "statistics") == [("seen",)]
            # As MariaDB: SELECT alone shows no constraints.
            assert client.rows("SELECT table_name " + where % "table_constraints") == []
            assert client.ints("SELECT COUNT(*) FROM information_schema.schemata") == [2]
            assert client.rows("SELECT DISTINCT grantee FROM information_schema.user_privileges") == [("'looker'@'%'",)]
            assert client.rows("SELECT privilege_type " + where % "table_privileges") == [("SELECT",)]
            assert client.ints("SELECT COUNT(*) FROM information_schema.processlist WHERE user <> 'looker'") == [0]
            client.fails(f"SELECT * FROM {db}.seen x JOIN {db}.hidden y ON x.a = y.a", 1142)
            client.fails(f"SELECT * FROM {db}.seen WHERE a IN (SELECT a FROM {db}.hidden)", 1142)
            client.fails(f"SELECT * FROM (SELECT a FROM {db}.hidden) d", 1142)
            client.fails(f"SELECT 1 UNION SELECT a FROM {db}.hidden", 1142)
            root.ok(f"GRANT INSERT ON {db}.* TO looker@'%'")
            assert len(client.rows("SELECT table_name " + where % "table_constraints")) == 2
        root.ok("DROP USER looker@'%'")


def test_nesting_has_limits(narwal, db):
    """Whatever is sent, the server answers."""
    with Client(narwal, db) as client:
        client.ok("CREATE TABLE t (a INT PRIMARY KEY)")
        for n in (10, 30, 300, 20_000):
            for statement in (
                "(" * n + "SELECT 1" + ")" * n,
                "SELECT 1 FROM " + "(" * n + "t" + ")" * n,
                "SELECT " + "(SELECT " * n + "1" + ")" * n,
                "SELECT * FROM " + "(SELECT * FROM " * n + "t" + ") d" * n,
                "SELECT 1 FROM t x" + "".join(f" LEFT JOIN t t{i} ON t{i}.a = x.a" for i in range(n)),
                "SELECT 1 FROM t x" + "".join(f", t t{i}" for i in range(n)),
            ):
                answer = client.run(statement)
                assert answer.error in ((0,) if n <= 30 else (1116, 1436, 1473)), (n, statement[:40], answer)
        assert client.rows(" UNION ".join(["SELECT 1"] * 1000)) == [("1",)]
        assert client.value("SELECT 1") == "1"


def driver() -> Path | None:
    """MariaDB's JDBC driver, if ./setup has fetched it (with Debezium)."""
    return next(iter(sorted((ROOT / ".clients").rglob("mariadb-java-client-*.jar"))), None)


@pytest.mark.skipif(driver() is None or not shutil.which("javac"), reason="no JDBC driver or no Java: see ./setup")
def test_jdbc_metadata(pair, tmp_path):
    """DatabaseMetaData of the JDBC driver says the same of both servers."""
    jar = driver()
    source = Path(__file__).with_name("jdbc") / "Metadata.java"
    subprocess.run(["javac", "-cp", jar, "-d", tmp_path, source], check=True, timeout=120)

    def ask(client):
        url = f"jdbc:mariadb://127.0.0.1:{client.server.port}/schema_test?user=root"
        command = ["java", "-cp", f"{jar}:{tmp_path}", "Metadata", url, "schema_test"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        # Databases that MariaDB brings along; cardinality of indexes; display widths, which Narwal does not send.
        return [
            line
            for line in done.stdout.splitlines()
            if not line.startswith(("catalogs|", "indexes|", "unique indexes|", "described|"))
        ]

    ours, theirs = (ask(client) for client in pair)
    assert not [line for line in ours if "FAILED" in line]
    assert ours == theirs


def test_pymysql_reads_a_schema(narwal, db):
    """What pymysql's and mysql-replication's users ask, through the driver itself with its type conversions."""
    with Client(narwal) as client:
        client.ok(f"CREATE TABLE {db}.t (id INT PRIMARY KEY, v VARCHAR(10) NOT NULL)")
    connection = pymysql.connect(host="127.0.0.1", port=narwal.port, user="root", database="information_schema")
    with connection, connection.cursor() as cursor:
        cursor.execute(
            "SELECT column_name, ordinal_position, collation_name, character_set_name, column_comment, column_type, "
            "column_key, data_type, character_octet_length FROM information_schema.columns "
            "WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position",
            (db, "t"),
        )
        rows = cursor.fetchall()
        assert [(row[0], row[1], row[6]) for row in rows] == [("id", 1, "PRI"), ("v", 2, "")]
        assert rows[1][8] == 40
        cursor.execute("SHOW VARIABLES LIKE 'BINLOG_ROW_METADATA';")
        assert cursor.fetchall() == (("binlog_row_metadata", "FULL"),)


def test_the_schema_mysql(narwal, mariadb):
    """Names and types of the columns that tools ask for, and the rows of an account with grants."""
    db = "of_mysql"
    with Client(narwal) as ours, Client(mariadb) as theirs:
        for client in (ours, theirs):
            client.run(f"DROP DATABASE IF EXISTS {db}")
            client.run("DROP USER IF EXISTS asked@'10.%'")
            client.ok(f"CREATE DATABASE {db}")
            client.ok(f"CREATE TABLE {db}.t (id INT)")
            client.ok("CREATE USER asked@'10.%' IDENTIFIED BY 'x'")
            client.ok("GRANT SELECT, PROCESS ON *.* TO asked@'10.%'")
            client.ok(f"GRANT INSERT, CREATE VIEW ON {db}.* TO asked@'10.%'")
            client.ok(f"GRANT SELECT, CREATE VIEW ON {db}.t TO asked@'10.%'")
        for table in (
            "user db tables_priv columns_priv procs_priv proxies_priv roles_mapping global_priv func proc event plugin servers "
            "help_category help_keyword help_relation help_topic time_zone time_zone_name gtid_slave_pos"
        ).split():
            sql = f"SELECT * FROM mysql.{table} WHERE 1 = 0"
            assert ours.run(sql).columns == theirs.run(sql).columns, table
        for sql in (
            "SELECT User, Host, Password, Select_priv, Insert_priv, Process_priv, Grant_priv, Super_priv, plugin, is_role, ssl_type,"
            " max_connections, password_expired FROM mysql.user WHERE User = 'asked'",
            f"SELECT * FROM mysql.db WHERE Db = '{db}'",
            f"SELECT Host, Db, User, Table_name, Table_priv, Column_priv FROM mysql.tables_priv WHERE Db = '{db}'",
            "SELECT * FROM mysql.proc WHERE db NOT IN ('mysql', 'sys')",  # where a package may have some
            "SELECT * FROM mysql.event",
        ):
            assert ours.rows(sql) == theirs.rows(sql), sql
        ours.fails("SELECT * FROM mysql.nothing", 1146)
        ours.fails("DELETE FROM mysql.nothing", 1146)
        for client in (ours, theirs):
            client.ok(f"DROP DATABASE {db}")
            client.ok("DROP USER asked@'10.%'")
