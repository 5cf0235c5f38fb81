"""What the binary protocol has beyond plain execution, answer by answer as MariaDB gives it: types that depend on parameters,
cursors, bulk execution, compression, LOAD DATA LOCAL, EXECUTE ... USING DEFAULT, and connections in other character sets."""

from __future__ import annotations

import re
import struct

import pytest

import packets as p
from packets import Error, Link, Ok, Prepared, Rows, bound

DATABASE = "protocol"

# SERVER_QUERY_NO_INDEX_USED, SERVER_STATUS_DB_DROPPED: not told here.
UNTOLD = 0x20 | 0x100


@pytest.fixture
def pair(narwal, mariadb):
    for server in (narwal, mariadb):
        with Link(server) as link:
            link.query(f"DROP DATABASE IF EXISTS {DATABASE}")
            link.query(f"CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4")
    yield narwal, mariadb
    for server in (narwal, mariadb):
        if server.alive():
            with Link(server) as link:
                link.query(f"DROP DATABASE IF EXISTS {DATABASE}")


def seen(answer):
    """What of an answer is compared. Types and lengths of columns are the differential corpus' business."""
    match answer:
        case list():
            return [seen(a) for a in answer]
        case Rows():
            return [[(c.name, c.charset) for c in answer.columns], answer.rows, seen(answer.end)]
        case Ok():
            return [answer.affected, answer.insert_id, answer.status & ~UNTOLD, answer.warnings, answer.info]
        case Error():
            # Ids of statements are counted by each server in its own way.
            return [answer.code, answer.state, re.sub(rb"statement \(\d+\)", b"statement", answer.message)]
        case Prepared():
            return [answer.params, [c.name for c in answer.columns]]
    return answer


def alike(pair, tour, **link):
    """Runs a tour of answers on both servers and compares them one by one."""
    told = []
    for server in pair:
        with Link(server, database=DATABASE, **link) as one:
            told.append([(name, seen(answer)) for name, answer in tour(one)])
    wrong = [f"{ours[0]}\n    {ours[1]}\n    {theirs[1]}" for ours, theirs in zip(*told) if ours != theirs]
    assert not wrong, f"{len(wrong)} differences (Narwal, MariaDB):\n" + "\n".join(wrong)
    assert len(told[0]) == len(told[1])


def text(s: bytes) -> tuple:
    return 0xFD, 0, bytes([len(s)]) + s


VALUES = {
    "bigint": 5, "unsigned bigint": (8, 0x80, struct.pack("<Q", 5)), "int": (3, 0, struct.pack("<i", 5)), "smallint": (2, 0, b"\5\0"),
    "tinyint": (1, 0, b"\5"), "double": 1.5, "float": (4, 0, struct.pack("<f", 1.5)), "string": "7", "decimal": (246, 0, b"\x041.25"),
    "NULL": None, "date": (10, 0, bytes([4, 0xE4, 7, 1, 2])), "datetime": (12, 0, bytes([7, 0xE4, 7, 1, 2, 3, 4, 5])),
    "time": (11, 0, bytes([8, 0, 0, 0, 0, 0, 3, 4, 5])),
}  # fmt: skip

NUMBERS = ["bigint", "unsigned bigint", "int", "smallint", "tinyint", "double", "float", "string", "decimal"]

TYPED = {
    "?": list(VALUES), "i + ?": NUMBERS + ["NULL"], "i * ?": NUMBERS, "i / ?": NUMBERS, "b + ?": NUMBERS, "d + ?": NUMBERS,
    "f + ?": NUMBERS, "s + ?": NUMBERS, "SUM(i * ?)": NUMBERS, "AVG(?)": NUMBERS, "MAX(?)": ["bigint", "double", "date", "datetime"],
    "i = ?": NUMBERS, "(SELECT ?)": ["bigint", "double", "string", "date"], "COUNT(?)": NUMBERS, "LENGTH(?)": NUMBERS + ["NULL"],
    "x.n + 1 FROM (SELECT ? AS n) x JOIN t": ["bigint", "double", "decimal", "string"],
    "? FROM t UNION SELECT 1": ["bigint", "double", "decimal"], "FLOOR(?)": ["bigint", "double"], "ABS(?)": ["bigint", "double"],
}  # fmt: skip


def test_columns_have_the_types_of_parameters(pair):
    def tour(link):
        link.query("CREATE TABLE t (i INT, b BIGINT, d DECIMAL(10,2), f DOUBLE, s VARCHAR(20))")
        link.query("INSERT INTO t VALUES (1, 3, 4.5, 5.5, '6')")
        for expression, kinds in TYPED.items():
            s = link.prepare(f"SELECT {expression}" + ("" if "FROM t" in expression or "JOIN t" in expression else " FROM t"))
            # Twice, so that types change back and stay.
            for kind in [*kinds, *kinds[:2], kinds[1]]:
                r = link.execute(s, *[VALUES[kind]] * s.params)
                assert isinstance(r, Rows), r
                yield (expression, kind), [[(c.type, c.flags & 0x20) for c in r.columns], r.rows]
        # What does not depend on them goes on as it is.
        s = link.prepare("SELECT s FROM t WHERE i = ?")
        for value in (1, "1", 1.0, None, 2):
            yield value, link.execute(s, value)
        link.query("UPDATE t SET b = 9007199254740993")
        s = link.prepare("UPDATE t SET b = b + ?")
        yield "big", link.execute(s, 2)
        yield "kept", link.query("SELECT b FROM t")

    alike(pair, tour)


def test_definitions_that_the_client_keeps_follow_the_types(pair):
    def tour(link):
        s = link.prepare("SELECT ? AS a, 1 + ? AS b")
        for values in [(1, 1), (2, 2), ("x", 1), ("y", 1.5), (None, 1), (1, 1)]:
            r = link.execute(s, *values)
            yield values, [r.definitions_sent, [c.type for c in r.columns], r.rows]

    alike(pair, tour, mariadb=p.CACHE_METADATA)


CURSORS = [
    "SELECT 1", "SHOW TABLES", "INSERT INTO t (v) VALUES ('x')", "SELECT id FROM t WHERE id = 1", "SELECT id FROM t WHERE id = -1",
    "INSERT INTO t (v) VALUES ('z') RETURNING id", "SELECT COUNT(*) FROM t", "SET @x = 1", "SELECT v FROM t ORDER BY id FOR UPDATE",
    "(SELECT 1) UNION (SELECT 2)", "SHOW VARIABLES LIKE 'autocommit'", "DO 1", "SELECT id FROM nowhere", "SELECT 1 FROM t WHERE (SELECT id FROM t)",
    "SELECT SCHEMA_NAME FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = 'protocol'", "SELECT v, n, d, f FROM types",
]  # fmt: skip


@pytest.mark.parametrize("caps", [0, p.DEPRECATE_EOF, p.DEPRECATE_EOF | p.COMPRESS], ids=["EOF", "OK", "compressed"])
@pytest.mark.parametrize("mariadb_caps", [0, p.CACHE_METADATA])
def test_cursors(pair, caps, mariadb_caps):
    def tour(link):
        link.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20))")
        link.query("INSERT INTO t (v) VALUES ('a'), ('b'), ('c'), ('d'), ('e')")
        link.query("CREATE TABLE types (v VARCHAR(20), n INT, d DATETIME, f DOUBLE)")
        link.query("INSERT INTO types VALUES ('é', 1, '2024-01-02 03:04:05', 0.5), (NULL, NULL, NULL, NULL)")
        s = link.prepare("SELECT id, v FROM t WHERE id >= ? ORDER BY id")
        yield "open", link.execute(s, 1, cursor=1)
        for n in (2, 0, 1):
            yield n, list(map(seen, link.fetch(s, n)))
        link.query("INSERT INTO t (v) VALUES ('late')")
        link.query("BEGIN")
        yield "in a transaction", list(map(seen, link.fetch(s, 1)))
        link.query("COMMIT")
        yield "rest", list(map(seen, link.fetch(s, 10)))
        yield "behind the end", list(map(seen, link.fetch(s, 1)))
        for n in (6, 6, 1):
            # As many as there are: is that the end?
            if n == 6:
                yield "again", link.execute(s, 1, cursor=1)
            yield n, list(map(seen, link.fetch(s, n)))
        yield "and without", link.execute(s, 5)
        link.execute(s, 1, cursor=1)
        yield "over an open one", link.execute(s, 5)
        yield "which is closed", list(map(seen, link.fetch(s, 1)))
        link.execute(s, 1, cursor=1)
        link.command(p.RESET, struct.pack("<I", s.id))
        yield "reset", link.ok_or_error(link.packet())
        yield "closed by it", list(map(seen, link.fetch(s, 1)))
        yield "unknown", list(map(seen, link.fetch(Prepared(999, 0, [], 0), 1)))
        for kind in (2, 4, 1 | 4):
            r = link.execute(s, 5, cursor=kind)
            yield ("type", kind), [r.rows, r.begin_status and r.begin_status & p.CURSOR_EXISTS]
        for sql in CURSORS:
            s = link.prepare(sql)
            if isinstance(s, Error):
                yield sql, s
                continue
            r = link.execute(s, cursor=1)
            yield sql, r
            if isinstance(r, Rows) and (r.begin_status or r.end.status) & p.CURSOR_EXISTS:
                yield "fetched", list(map(seen, link.fetch(s, 100)))
        many = link.prepare("SELECT a.id, b.id, REPEAT('x', 200) FROM t a, t b, t c, t d, t e ORDER BY 1, 2")
        link.execute(many, cursor=1)
        link.query("DROP TABLE t")
        sizes = []
        while True:
            rows, end = link.fetch(many, 1000)
            sizes.append((len(rows), hash(tuple(rows))))
            if end.status & p.LAST_ROW_SENT:
                break
        yield "many rows", sizes

    alike(pair, tour, caps=caps, mariadb=mariadb_caps)


def bulk(link, statement, rows, flags=128, raw: bytes | None = None, binary: bool = True):
    """COM_STMT_BULK_EXECUTE. Besides values: None, and "DEFAULT" and "IGNORE" in lists."""
    payload = struct.pack("<IH", statement.id, flags)
    if flags & 128:
        for column in zip(*rows):
            kinds = [bound(v)[:2] for v in column if v is not None and not isinstance(v, list)]
            payload += bytes(kinds[0] if kinds else (6, 0))
    for row in rows:
        for v in row:
            if v is None:
                payload += b"\1"
            elif isinstance(v, list):
                payload += b"\2" if v[0] == "DEFAULT" else b"\3"
            else:
                payload += b"\0" + bound(v)[2]
    link.command(p.BULK_EXECUTE, payload if raw is None else struct.pack("<IH", statement.id, flags) + raw)
    return link.answer(binary, statement.columns)


DEFAULT, IGNORE = ["DEFAULT"], ["IGNORE"]


def test_bulk(pair):
    def tour(link):
        def now():
            return link.query("SELECT * FROM t ORDER BY id")

        link.query("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20) DEFAULT 'dd', n INT DEFAULT 7, nn INT NOT NULL)")
        link.query("CREATE TABLE tv (a INT)")
        s = link.prepare("INSERT INTO t (v, n, nn) VALUES (?, ?, ?)")
        yield "insert", bulk(link, s, [("a", 1, 1), ("b", None, 2), ("c", DEFAULT, 3), (DEFAULT, IGNORE, 4)])
        yield "inserted", now()
        yield "ids", link.query("SELECT LAST_INSERT_ID(), ROW_COUNT()")
        keyed = link.prepare("INSERT INTO t (id, v, nn) VALUES (?, ?, 1)")
        yield "duplicate", bulk(link, keyed, [(10, "x"), (11, "y"), (10, "z"), (12, "w")])
        yield "nothing", now()
        link.query("BEGIN")
        link.query("INSERT INTO t (id, nn) VALUES (90, 1)")
        yield "duplicate in a transaction", bulk(link, keyed, [(20, "x"), (20, "z")])
        yield "what was before stays", now()
        yield "in a transaction", bulk(link, keyed, [(30, "x"), (31, "z")])
        link.query("ROLLBACK")
        yield "rolled back", now()
        update = link.prepare("UPDATE t SET v = ?, n = n + 1 WHERE id = ?")
        yield "update", bulk(link, update, [("U1", 1), (IGNORE, 4), (DEFAULT, 3), ("U9", 99)])
        yield "updated", now()
        delete = link.prepare("DELETE FROM t WHERE id = ?")
        yield "delete", bulk(link, delete, [(1,), (2,), (99,)])
        yield "select", bulk(link, link.prepare("SELECT * FROM t WHERE id = ?"), [(3,), (4,)])
        back = link.prepare("INSERT INTO t (id, v, nn) VALUES (?, 'r', 1) RETURNING id, v")
        yield "returning", bulk(link, back, [(201,), (202,)])
        yield "no parameters", bulk(link, link.prepare("INSERT INTO t (nn) VALUES (1)"), [], flags=0)
        yield "types of before", bulk(link, s, [("k", 1, 1)], flags=0)
        yield "no types", bulk(link, link.prepare("INSERT INTO tv VALUES (?)"), [(1,)], flags=0)
        yield "unknown", bulk(link, Prepared(999, 1, [], 0), [(1,)])
        yield "cut", bulk(link, s, [], raw=bytes([253, 0, 8, 0, 8, 0]) + b"\0\1a\0")
        yield "no such indicator", bulk(link, s, [], raw=bytes([253, 0, 8, 0, 8, 0]) + b"\7\1a\0")
        yield "too long", bulk(link, s, [("a" * 30, 1, 1)])
        link.query("SET sql_mode = ''")
        yield "cut values", bulk(link, s, [("a" * 30, 1, 1), ("b" * 30, 1, 1)])
        yield "default in an expression", bulk(link, link.prepare("INSERT INTO t (v, nn) VALUES (CONCAT(?, 'x'), 1)"), [(DEFAULT,)])
        yield "replace", bulk(link, link.prepare("REPLACE INTO t (id, v, nn) VALUES (?, ?, 1)"), [(60, "A"), (61, "B"), (62, "C")])
        on_duplicate = link.prepare("INSERT INTO t (id, v, nn) VALUES (?, ?, 1) ON DUPLICATE KEY UPDATE v = VALUES(v)")
        yield "on duplicate", bulk(link, on_duplicate, [(60, "A1"), (61, "B"), (63, "C")])
        ignore = link.prepare("INSERT IGNORE INTO t (id, v, nn) VALUES (?, ?, 1)")
        yield "ignore", seen(bulk(link, ignore, [(60, "A1"), (64, "B"), (61, "C")]))[2:]
        yield "set", bulk(link, link.prepare("SET @a = 1"), [], flags=0)
        yield "insert select", bulk(link, link.prepare("INSERT INTO tv SELECT ?"), [(1,), (2,)])
        yield "several rows", bulk(link, link.prepare("INSERT INTO tv VALUES (?), (?)"), [(1, 2), (3, 4)])
        yield "one", bulk(link, link.prepare("INSERT INTO tv VALUES (?)"), [(5,)])
        yield "all", now()
        yield "and", link.query("SELECT * FROM tv ORDER BY a")

    alike(pair, tour, mariadb=p.BULK)


def last_number(link) -> int:
    """The sequence number of this connection's last commit. Other tests of the server may have written to other domains."""
    return int(link.query("SELECT @@last_gtid").rows[0][0].split(b"-")[2])


def test_bulk_is_one_commit(narwal):
    """In the log it is one transaction."""
    with Link(narwal, mariadb=p.BULK) as link:
        link.query(f"DROP DATABASE IF EXISTS {DATABASE}")
        link.query(f"CREATE DATABASE {DATABASE}")
        link.query(f"USE {DATABASE}")
        link.query("CREATE TABLE t (a INT PRIMARY KEY)")
        before = last_number(link)
        assert bulk(link, link.prepare("INSERT INTO t VALUES (?)"), [(n,) for n in range(500)]).affected == 500
        assert last_number(link) == before + 1
        link.query(f"DROP DATABASE {DATABASE}")


USING = [
    "CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(20) DEFAULT 'dd', n INT DEFAULT 7, nn INT NOT NULL)",
    "PREPARE p FROM 'INSERT INTO t (v, n, nn) VALUES (?, ?, 9)'", "EXECUTE p USING DEFAULT, DEFAULT", "EXECUTE p USING ignore, 5",
    "SELECT v, n FROM t WHERE nn = 9 ORDER BY id",
    "PREPARE p FROM 'UPDATE t SET v = ?, n = ? WHERE nn = 9'", "EXECUTE p USING 'u', 1", "EXECUTE p USING DEFAULT, IGNORE",
    "SELECT v, n FROM t WHERE nn = 9 ORDER BY id", "PREPARE p FROM 'UPDATE t SET v = CONCAT(?) WHERE nn = 9'", "EXECUTE p USING DEFAULT",
    "SET sql_mode = ''", "PREPARE p FROM 'INSERT INTO t (nn) VALUES (?)'", "EXECUTE p USING DEFAULT", "SHOW WARNINGS", "EXECUTE p USING IGNORE",
    "SET sql_mode = DEFAULT", "EXECUTE p USING DEFAULT", "PREPARE p FROM 'INSERT INTO t (nn) VALUES (? + 1)'", "EXECUTE p USING DEFAULT",
    "EXECUTE IMMEDIATE 'INSERT INTO t (v, nn) VALUES (?, 99)' USING DEFAULT", "PREPARE p FROM 'DELETE FROM t WHERE nn = ?'",
    "EXECUTE p USING DEFAULT", "EXECUTE p USING IGNORE",
    "PREPARE p FROM 'INSERT INTO t (id, nn) VALUES (1, 8) ON DUPLICATE KEY UPDATE v = ?, n = ?'", "EXECUTE p USING DEFAULT, IGNORE",
    "SELECT v, n FROM t WHERE id = 1",
    "PREPARE p FROM 'SELECT * FROM t LIMIT ?'", "EXECUTE p USING DEFAULT", "PREPARE p FROM 'INSERT INTO t SET v = ?, nn = 5'",
    "EXECUTE p USING DEFAULT", "PREPARE p FROM 'REPLACE INTO t VALUES (10, ?, ?, ?)'", "EXECUTE p USING DEFAULT, IGNORE, 3",
    "EXECUTE p USING DEFAULT", "SELECT v, n, nn FROM t ORDER BY id",
]  # fmt: skip


def test_execute_using_default(pair):
    alike(pair, lambda link: [(sql, link.query(sql)) for sql in USING])


def local(link, sql: str, pieces: list[bytes]):
    link.command(p.QUERY, sql.encode())
    first = link.packet()
    if first[0] != 0xFB:
        return link.ok_or_error(first)
    for piece in pieces:
        link.send(piece)
    link.send(b"")
    return link.ok_or_error(link.packet())


@pytest.mark.parametrize("caps", [0, p.COMPRESS], ids=["plain", "compressed"])
def test_load_data_local_comes_piece_by_piece(pair, caps):
    def tour(link):
        link.query("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(2000))")
        load = "LOAD DATA LOCAL INFILE 'f' INTO TABLE t"
        yield "cut anywhere", local(link, load, [b"1\ton", b"e\n", b"2", b"\ttwo", b"\n3\tthree"])
        yield "loaded", link.query("SELECT * FROM t ORDER BY id")
        yield "nothing", local(link, load, [])
        yield "duplicates", local(link, load, [b"3\tagain\n4\tfour\n"])
        yield "no table", local(link, "LOAD DATA LOCAL INFILE 'f' INTO TABLE nowhere", [b"1\n" * 1000] * 5)
        yield "after that", link.query("SELECT COUNT(*) FROM t")
        link.query("ALTER TABLE t ADD CHECK (id < 1000)")
        rows = [b"".join(b"%d\t%s\n" % (n, b"x" * 1000) for n in range(at, at + 500)) for at in range(100, 20000, 500)]
        yield "fails in the middle", seen(local(link, load.replace("INTO", "REPLACE INTO"), rows))[:2]
        yield "and goes on", link.query("SELECT COUNT(*) FROM t WHERE id > 99")

    alike(pair, tour, caps=p.LOCAL_FILES | caps)


@pytest.mark.parametrize("caps", [p.COMPRESS, p.COMPRESS | p.DEPRECATE_EOF])
def test_compression(pair, caps):
    def tour(link):
        assert link.offered & p.COMPRESS
        link.query("CREATE TABLE t (id INT PRIMARY KEY, v LONGTEXT)")
        for n, size in enumerate([0, 10, 49, 50, 51, 70_000, 3_000_000]):
            yield size, link.query(f"INSERT INTO t VALUES ({n}, '{'ab' * (size // 2)}')")
        yield "rows", link.query("SELECT id, LENGTH(v), v FROM t ORDER BY id")
        yield "error", link.query("SELECT nothing")
        yield "several", link.query("SELECT 1; SELECT REPEAT('x', 100); DO 1")
        s = link.prepare("SELECT ?, REPEAT('é', ?)")
        yield "prepared", link.execute(s, "x" * 200, 100)
        link.command(14)
        yield "ping", link.answer()

    alike(pair, tour, caps=caps)


IN_OTHER_SETS = [
    "SELECT @@character_set_client, @@character_set_connection, @@character_set_results, @@collation_connection",
    "SELECT * FROM t", "SELECT 'é', HEX('é'), CHARSET('é'), COLLATION('é'), COERCIBILITY('é'), LENGTH('é'), CHAR_LENGTH('é')",
    "SELECT 'é' AS `né`, `é`.u FROM t AS `é`", "SELECT 'a' = 'A', 'é' = 'É', l = 'é€' FROM t", "SELECT `né` FROM t", "SELECT * FROM `té`", "sélect 1",
    "SELECT CONCAT(u, 'é'), CONCAT(l, 'é'), CONCAT('é', n), CHARSET(CONCAT(n)), CHARSET(CONCAT(l, 'é')), HEX(CONCAT(l, 'é')) FROM t",
    "SELECT CHARSET(DATE_FORMAT('2020-01-01', '%M')), COLLATION(CAST(1 AS CHAR)), COLLATION(HEX('a')), COLLATION(NOW()), COLLATION(x'61'), COLLATION(IF(1, 'a', 'b'))",
    "INSERT INTO t (id, u, l, b, u3) VALUES (2, 'é', 'é', 'é', 'é')", "SELECT HEX(u), HEX(l), HEX(b), HEX(u3) FROM t WHERE id = 2",
    "UPDATE t SET b = CONCAT('é', 'é') WHERE id = 2", "SELECT HEX(b) FROM t WHERE id = 2", "DELETE FROM t WHERE id = 2",
    "SELECT CONVERT('é' USING utf8mb4)", "PREPARE s FROM 'SELECT ''é'', HEX(''é'')'", "EXECUTE s",
    "CREATE TABLE te (c VARCHAR(5) DEFAULT 'é' COMMENT 'é')", "SELECT COLUMN_COMMENT, COLUMN_DEFAULT FROM information_schema.COLUMNS WHERE TABLE_NAME = 'te'",
    "INSERT INTO te VALUES ()", "SELECT HEX(c), c FROM te", "DROP TABLE te", "SELECT UPPER('é'), e, e = 'é' FROM t",
    "SELECT CASE WHEN 1 THEN 'é' END, IFNULL(NULL, 'é'), GROUP_CONCAT('é') FROM t", "SELECT 'é' LIKE '_', 'é' REGEXP 'é', JSON_OBJECT('é', 'é')",
    "SELECT 'é' UNION SELECT u FROM t", "SELECT HEX(_binary'é') AS h", "SELECT HEX(_latin1'é') AS h", "SELECT 'Ж' AS beyond", "SHOW TABLES LIKE 'é'",
]  # fmt: skip


@pytest.mark.parametrize("setup", [
    [], ["SET NAMES latin1"], ["SET NAMES latin1 COLLATE latin1_bin"], ["SET NAMES utf8mb3"], ["SET CHARACTER SET latin1"],
    ["SET character_set_results = NULL"], ["SET character_set_results = latin1"], ["SET character_set_connection = latin1"],
    ["SET collation_connection = utf8mb4_bin"], ["SET NAMES latin1", "SET character_set_connection = utf8mb4"], ["SET character_set_results = ascii"],
], ids=lambda s: "; ".join(s) or "as it is")  # fmt: skip
def test_character_sets(pair, setup):
    def tour(link):
        link.query("CREATE TABLE t (id INT PRIMARY KEY, u VARCHAR(20), l VARCHAR(20) CHARACTER SET latin1, b VARBINARY(40), e ENUM('é', 'b'), n INT, x TEXT, a CHAR(5) CHARACTER SET ascii, u3 VARCHAR(10) CHARACTER SET utf8mb3)")
        link.query("INSERT INTO t VALUES (1, 'é€Ж😀', 'é€', x'00ff', 'é', 5, 'tЖ', 'abc', 'éЖ')")
        for sql in setup:
            yield sql, link.query(sql)
        set_ = "cp1252" if any("latin1" in s and ("NAMES" in s or "SET CHARACTER" in s) for s in setup) else "utf8"
        for sql in IN_OTHER_SETS:
            if "Ж" in sql and set_ != "utf8":
                continue
            answer = link.query(sql.encode(set_))
            if isinstance(answer, Rows) and "COLUMN_DEFAULT" not in sql:
                # Lengths too: they are in characters of what is sent.
                plain = [c.length for c in answer.columns if c.original_table == "t"]
                yield "lengths", plain
            # Texts of the server itself are utf8mb3 there, which only a client without conversion sees.
            yield sql, answer.rows if isinstance(answer, Rows) and setup == ["SET character_set_results = NULL"] else answer
        s = link.prepare("SELECT ?, HEX(?), CHARSET(?), 'é', u = ?, l = ? FROM t".encode(set_))
        yield "prepared", link.execute(s, *[text("é€".encode(set_))] * 5).rows
        s = link.prepare("INSERT INTO t (id, u, l, b) VALUES (3, ?, ?, ?)")
        yield "parameters", link.execute(s, *[text("é".encode(set_))] * 2, b"\xff\xe9")
        yield "stored", link.query("SELECT HEX(u), HEX(l), HEX(b) FROM t WHERE id = 3")

    alike(pair, tour)


def test_display_widths_go_to_the_client(pair):
    """Drivers take TINYINT(1) for a boolean."""

    def tour(link):
        link.query("CREATE TABLE t (a TINYINT(1), b INT(5), c BIGINT UNSIGNED, d INT, e SMALLINT(3) ZEROFILL, f MEDIUMINT(20), g YEAR(4), h BOOL)")
        link.query("CREATE VIEW v AS SELECT * FROM t")
        for sql in ["SELECT * FROM t", "SELECT * FROM v", "SELECT t.a AS x FROM t", "SELECT * FROM (SELECT a, h, b FROM t) d", "SELECT a, h FROM t UNION ALL SELECT a, h FROM t"]:
            yield sql, [(c.name, c.type, c.length) for c in link.query(sql).columns]
        link.query("CREATE TABLE copied SELECT * FROM t")
        yield "copied", link.query("SHOW CREATE TABLE copied").rows

    alike(pair, tour)


FLAGGED = """CREATE TABLE flagged (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(60) NOT NULL, UNIQUE (name), c INT, KEY (c),
    b BLOB NOT NULL, z INT ZEROFILL NOT NULL, d INT NOT NULL DEFAULT 3, n TIMESTAMP NULL, y YEAR, e ENUM('a', 'b') NOT NULL,
    ts TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP, dt DATETIME NOT NULL DEFAULT NOW() ON UPDATE NOW(),
    x INT NOT NULL DEFAULT (1 + 1), u INT UNSIGNED NOT NULL, g INT AS (c + 1))"""
FLAGS_OF = [
    "SELECT * FROM flagged", "SELECT * FROM flagged_view", "SELECT id, u FROM (SELECT * FROM flagged) q", "SELECT id, b, ts FROM (SELECT * FROM flagged LIMIT 1) q",
    "WITH w AS (SELECT * FROM flagged) SELECT * FROM w", "SELECT id + 1, MAX(c), COUNT(*), -c, c * 1.5, 'a', 1, NULL, NOW() FROM flagged",
    "SELECT (SELECT c FROM flagged), c IS NULL, IFNULL(c, 1), CAST(c AS UNSIGNED), CONCAT(name) FROM flagged",
    "SELECT f.*, g.* FROM flagged f LEFT JOIN flagged g ON f.id = g.c",
]  # fmt: skip


def test_flags_of_columns(pair):
    """Tools know by them which columns find a row, and which may be left out."""

    def tour(link):
        link.query(FLAGGED)
        link.query("CREATE VIEW flagged_view AS SELECT * FROM flagged")
        for sql in FLAGS_OF:
            yield sql, [(c.name, hex(c.flags)) for c in link.query(sql).columns]

    alike(pair, tour)


@pytest.mark.parametrize("collation", [8, 11, 33, 45, 46, 47, 48, 63, 255])
def test_the_handshake_chooses_the_character_set(pair, collation):
    def tour(link):
        yield "variables", link.query(IN_OTHER_SETS[0])
        if collation in (8, 47, 48):
            yield "text", link.query("SELECT 'é' AS `é`, HEX('é')".encode("latin1"))
            yield "error", link.query("SELECT `é`".encode("latin1"))
        link.query("SET NAMES utf8mb4")
        link.command(31)
        yield "reset", link.answer()
        # MariaDB does not know 255: a reset brings back what its thread's connection before had.
        if collation != 255:
            yield "as at the start", link.query(IN_OTHER_SETS[0])

    alike(pair, tour, collation=collation)
