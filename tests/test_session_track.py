"""CLIENT_SESSION_TRACK and MariaDB's extended metadata: OK packets and column definitions equal to MariaDB's."""

from __future__ import annotations

import pytest

import packets as p
from packets import Link, Ok, Rows

DATABASE = "tracked"

# Each list is one connection's statements.
TOLD = {
    "variables and schema": [
        "SET autocommit = 0", "SET autocommit = 0", "SET time_zone = '+01:00', @a = 1", "SET @a = 2", "SET sql_mode = 'ANSI'",
        "SET sql_mode = ''", "SET NAMES utf8mb3", "SET NAMES utf8mb4", "SET character_set_results = 'utf8mb4'",
        "SET GLOBAL max_statement_time = 0", "USE mysql_is_not_there", f"USE {DATABASE}", "SET autocommit = 1",
        "CREATE DATABASE tracked_too", "USE tracked_too", "DROP DATABASE tracked_too", "SELECT DATABASE()", f"USE {DATABASE}",
        "SET session_track_schema = 0", f"USE {DATABASE}", "SET session_track_schema = 1", f"USE {DATABASE}",
        "SELECT @@session_track_system_variables, @@session_track_schema",
        "SET session_track_system_variables = ''", "SET time_zone = 'SYSTEM'",
        "SET session_track_system_variables = 'time_zone', time_zone = '+02:00', autocommit = 1",
        "SET session_track_system_variables = ' Time_zone , autocommit '", "SELECT @@session_track_system_variables",
        "SET session_track_system_variables = 'nope,time_zone'", "SET session_track_system_variables = 'time_zone,'",
        "SET session_track_system_variables = NULL", "SET session_track_system_variables = 1",
        "SET GLOBAL session_track_system_variables = 'nope'",
        "SET session_track_system_variables = 'autocommit,*'", "SET wait_timeout = 1234, sql_mode = 'ANSI_QUOTES'",
        "SET session_track_system_variables = DEFAULT", "SET time_zone = 'nope'",
        "SELECT 1; SET time_zone = 'SYSTEM'; SELECT 2",
        "SET SESSION TRANSACTION READ ONLY",
    ],
    "state": [
        "SET session_track_state_change = 1", "SET @a = 2", "SELECT @a := 5", f"USE {DATABASE}", "SET sql_mode = ''",
        "PREPARE s FROM 'SELECT 1'", "EXECUTE s", "DEALLOCATE PREPARE s", "DO 1", "SET GLOBAL max_statement_time = 0",
        "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "SET session_track_state_change = 0", "SET @a = 2",
    ],
    "transaction state": [
        "SET session_track_transaction_info = 'STATE'", "BEGIN", "SELECT 1", "SELECT id FROM t", "UPDATE t SET v = 'x'",
        "COMMIT", "BEGIN", "INSERT INTO t (id) SELECT id + 100 FROM t", "SAVEPOINT a", "ROLLBACK TO a",
        "INSERT INTO nope VALUES (1)", "COMMIT AND CHAIN", "ROLLBACK", "START TRANSACTION READ ONLY",
        "INSERT INTO t (id) VALUES (9)", "ROLLBACK", "SET autocommit = 0", "SELECT 1", "SELECT id FROM t",
        "INSERT INTO t (id) VALUES (7)", "ROLLBACK", "DELETE FROM t", "SET autocommit = 1", "SELECT id FROM t FOR UPDATE",
        "LOCK TABLES t READ", "SELECT id FROM t", "UNLOCK TABLES", "BEGIN", "CREATE TABLE u (a INT)", "DROP TABLE u",
        "SET session_track_transaction_info = 'OFF'", "BEGIN", "COMMIT",
    ],
    "transaction characteristics": [
        "SET session_track_transaction_info = 'CHARACTERISTICS'", "BEGIN", "BEGIN", "COMMIT",
        "SET TRANSACTION READ ONLY", "START TRANSACTION WITH CONSISTENT SNAPSHOT", "SELECT 1", "COMMIT",
        "SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE", "BEGIN", "COMMIT AND CHAIN", "ROLLBACK AND NO CHAIN",
        "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "START TRANSACTION READ ONLY, WITH CONSISTENT SNAPSHOT",
        "COMMIT AND CHAIN", "ROLLBACK", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
        "SET autocommit = 0", "SELECT id FROM t", "COMMIT", "SET session_track_transaction_info = DEFAULT",
    ],
}  # fmt: skip

# SERVER_QUERY_NO_INDEX_USED, SERVER_STATUS_DB_DROPPED
UNTOLD = 0x20 | 0x100


@pytest.fixture
def pair(narwal, mariadb):
    for server in (narwal, mariadb):
        with Link(server) as link:
            link.query(f"DROP DATABASE IF EXISTS {DATABASE}")
            link.query(f"CREATE DATABASE {DATABASE}")
            link.query(f"USE {DATABASE}")
            link.query("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10))")
            link.query("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    yield narwal, mariadb
    for server in (narwal, mariadb):
        with Link(server) as link:
            link.query(f"DROP DATABASE {DATABASE}")


def seen(answer, tracked: bool = True):
    """What of an answer is compared."""
    if isinstance(answer, list):
        return [seen(a, tracked) for a in answer]
    if isinstance(answer, Rows):
        return [sorted(answer.rows), seen(answer.end, tracked)]
    if not isinstance(answer, Ok):
        return [answer.code, answer.state, answer.message]
    changes = [(kind, sorted(c) if kind == 0 else c) for kind, c in answer.changes]
    # Variables come in the order of a hash table there.
    variables = sorted(c[1] for c in changes if c[0] == 0)
    status = answer.status & ~UNTOLD if tracked else answer.status & ~(UNTOLD | p.STATE_CHANGED)
    return [answer.affected, answer.info, answer.warnings, status, variables, [c for c in changes if c[0] != 0]]


@pytest.mark.parametrize("what", TOLD)
@pytest.mark.parametrize("caps", [p.SESSION_TRACK | p.DEPRECATE_EOF, p.SESSION_TRACK, p.DEPRECATE_EOF, 0],
                         ids=["both", "tracked", "deprecated", "neither"])  # fmt: skip
def test_answers_tell(pair, what, caps):
    told = []
    for server in pair:
        with Link(server, caps, database=DATABASE) as link:
            # Without an OK at the end of rows what they changed is told with the next OK.
            tracked = bool(caps & p.DEPRECATE_EOF)
            told.append([("login", seen(link.login))] + [(s, seen(link.query(s), tracked)) for s in TOLD[what]])
            link.query("SET GLOBAL max_statement_time = 0")
    if caps & p.SESSION_TRACK and not caps & p.DEPRECATE_EOF and "transaction" in what:
        return
    for ours, theirs in zip(*told):
        assert ours == theirs


def test_front_answers_tell(pair):
    """Commands that the protocol front answers itself."""
    told = []
    for server in pair:
        with Link(server, p.SESSION_TRACK | p.DEPRECATE_EOF) as link:
            out = [link.login]
            link.command(2, DATABASE.encode())
            out.append(link.answer())
            link.command(2, b"nowhere")
            out.append(link.answer())
            link.command(14)
            out.append(link.answer())
            link.query("SET time_zone = '+03:00'")
            link.command(31)
            out.append(link.answer())
            link.command(17, b"root\0\0" + DATABASE.encode() + b"\0\x2d\0mysql_native_password\0")
            answer = link.packet()
            if answer[0] == 0xFE:
                link.send(b"")
                answer = link.packet()
            out.append(link.ok_or_error(answer))
            told.append([seen(o) for o in out])
    assert told[0] == told[1]


COLUMNS = [
    "SELECT * FROM j",
    "SELECT JSON_OBJECT('a', 1), JSON_ARRAY(doc), JSON_QUOTE('a'), JSON_KEYS(doc), JSON_UNQUOTE(doc), JSON_EXTRACT(doc, '$.a'), JSON_VALUE(doc, '$.a'), JSON_QUERY(doc, '$') FROM j",
    "SELECT CONCAT(doc), TRIM(doc), UPPER(doc), IFNULL(doc, doc), IFNULL(doc, 'x'), COALESCE(doc, doc), COALESCE(doc, plain), NULLIF(doc, 1) FROM j",
    "SELECT IF(1, doc, doc), IF(1, doc, 'x'), CASE WHEN id THEN doc END, CASE WHEN id THEN doc ELSE plain END, MAX(doc), MIN(doc), GROUP_CONCAT(doc), JSON_ARRAYAGG(id), JSON_OBJECTAGG(id, doc), COUNT(doc) FROM j",
    "SELECT doc AS other FROM j UNION SELECT doc FROM j", "SELECT doc FROM j UNION SELECT 'x'",
    "SELECT d.doc, d.n FROM (SELECT doc, id AS n FROM j) d", "SELECT (SELECT doc FROM j LIMIT 1) AS one",
    "WITH c AS (SELECT doc FROM j) SELECT * FROM c", "SELECT DISTINCT doc FROM j ORDER BY doc", "SELECT doc FROM j GROUP BY doc",
    "SHOW TABLES", "SELECT ROW_COUNT()",
]  # fmt: skip


@pytest.mark.parametrize("caps", [p.EXTENDED, p.EXTENDED | p.CACHE_METADATA, 0], ids=["extended", "and kept", "plain"])
def test_extended_metadata(pair, caps):
    told = []
    for server in pair:
        with Link(server, 0, caps, database=DATABASE) as link:
            assert link.offered_mariadb & p.EXTENDED
            link.query("DROP TABLE IF EXISTS j")
            link.query("CREATE TABLE j (id INT PRIMARY KEY, doc JSON, plain LONGTEXT, small VARCHAR(20) CHECK (JSON_VALID(small)), tall TEXT CHECK (JSON_VALID(tall) AND id > 0), none TEXT CHECK (id > 0), CHECK (JSON_VALID(plain)))")
            link.query("""INSERT INTO j VALUES (1, '{"a": [1]}', '{}', '1', '2', 'x')""")
            out = []
            for sql in COLUMNS:
                r = link.query(sql)
                assert isinstance(r, Rows), (sql, r)
                out.append((sql, [(c.name, c.extended) for c in r.columns], r.rows))
                s = link.prepare(sql)
                out.append((sql, [(c.name, c.extended) for c in s.columns]))
                r = link.execute(s)
                out.append((sql, [(c.name, c.extended) for c in r.columns], r.rows))
            told.append(out)
    for ours, theirs in zip(*told):
        assert ours == theirs
