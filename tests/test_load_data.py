"""LOAD DATA [LOCAL] and SELECT ... INTO OUTFILE: the same files by Narwal and MariaDB, and back into equal tables."""

from __future__ import annotations

import pymysql
import pytest

from support import Client, differences

FORMATS = {
    "plain": "",
    "csv": "FIELDS TERMINATED BY ',' ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n'",
    "optional": "FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '\\'' ESCAPED BY '!'",
    "starting": "FIELDS TERMINATED BY '||' LINES STARTING BY '>>' TERMINATED BY '#\\n'",
}
ROWS = r"""(1, 'plain', 1.50, '2020-01-02', 2.5), (2, 'tab\tnewline\nend', NULL, NULL, NULL),
    (3, 'quote "x" and ''y'', \\ ; , || >> ! #', -3.25, '1999-12-31', -0.125), (4, '', 0, NULL, 1e10), (5, NULL, 7, NULL, 0),
    (6, 'NULL', 1, NULL, 1), (7, '\\N', 1, NULL, 1), (8, 'grüße 🐳', 1, NULL, 1)"""
TABLE = "(id INT PRIMARY KEY, s VARCHAR(60), d DECIMAL(8,2), t DATE, f DOUBLE)"


@pytest.fixture
def folder(tmp_path):
    # Either server may run as another user.
    tmp_path.chmod(0o777)
    return tmp_path


@pytest.mark.parametrize("name", FORMATS)
def test_files_are_equal_and_read_back(both, folder, name):
    files = []
    for number, client in enumerate(both):
        client.ok(f"CREATE TABLE a {TABLE}")
        client.ok(f"CREATE TABLE b {TABLE}")
        client.ok(f"INSERT INTO a VALUES {ROWS}")
        path = folder / f"{name}-{number}.txt"
        answer = client.ok(f"SELECT * INTO OUTFILE '{path}' {FORMATS[name]} FROM a ORDER BY id")
        assert answer.affected == 8
        client.fails(f"SELECT 1 INTO OUTFILE '{path}'", 1086)
        files.append(path.read_bytes())
    assert files[0] == files[1]
    loads = [client.run(f"LOAD DATA INFILE '{folder / f'{name}-0.txt'}' INTO TABLE b {FORMATS[name]}") for client in both]
    assert not differences(*loads, ordered=True, texts=True)
    tables = [client.rows("SELECT * FROM b ORDER BY id") for client in both]
    assert tables[0] == tables[1]
    assert tables[0] == both[0].rows("SELECT * FROM a ORDER BY id")


@pytest.mark.parametrize("words", ["", "CHARACTER SET binary", "CHARACTER SET latin1", "CHARACTER SET koi8r", "CHARACTER SET utf8mb4"])
@pytest.mark.parametrize("database", ["utf8mb4", "latin1"])
def test_files_have_the_character_sets_that_are_said(both, folder, database, words):
    columns = "b CHAR(10) CHARSET koi8r, c VARCHAR(10) CHARSET latin1, d VARCHAR(20) CHARSET utf8mb4, e VARBINARY(10), f ENUM('é') CHARSET latin1"
    files, tables = [], []
    for number, client in enumerate(both):
        client.ok(f"ALTER DATABASE CHARACTER SET {database}")
        client.ok(f"CREATE TABLE a ({columns})")
        client.ok("CREATE TABLE b LIKE a")
        client.ok("INSERT INTO a VALUES (_utf8mb4'АБВ', _utf8mb4'ÂÃé', _utf8mb4'АÂ🐳', x'C1FF80', _utf8mb4'é'), ('x', 'y', 'z', 'w', NULL)")
        path = folder / f"{number}.txt"
        client.ok(f"SELECT * INTO OUTFILE '{path}' {words} FROM a")
        files.append(path.read_bytes())
    assert files[0] == files[1]
    if (database, words) == ("utf8mb4", ""):
        # What is no UTF-8 is read as the column's own set has it (docs/differences.md).
        return
    for client in both:
        # Of what a column does not have, a warning; the texts of those differ.
        client.run(f"LOAD DATA INFILE '{folder / '1.txt'}' IGNORE INTO TABLE b {words}")
        tables.append(client.rows("SELECT HEX(b), HEX(c), HEX(d), HEX(e), f FROM b"))
    assert tables[0] == tables[1]


LOADS = [
    ("short", "1\ta\n2\n", "INTO TABLE t"),
    ("long", "1\ta\t5\t2020-01-01\textra\n", "INTO TABLE t"),
    ("bad number", "x\ta\t5\t\\N\n", "INTO TABLE t"),
    ("bad date", "1\ta\t5\t2020-02-31\n", "INTO TABLE t"),
    ("too long", "1\tmuch too long a text\t5\t\\N\n", "INTO TABLE t"),
    ("repeated", "1\ta\t5\t\\N\n1\tb\t6\t\\N\n", "INTO TABLE t"),
    ("repeated, replaced", "1\ta\t5\t\\N\n1\tb\t6\t\\N\n", "REPLACE INTO TABLE t"),
    ("repeated, ignored", "1\ta\t5\t\\N\n1\tb\t6\t\\N\n2\tc\t7\t\\N\n", "IGNORE INTO TABLE t"),
    ("bad and ignored", "1\tmuch too long a text\tx\t2020-02-31\n2\n3\ta\t1\t\\N\textra\n", "IGNORE INTO TABLE t"),
    ("header", "id,s\n1,a\n2,b\n", "INTO TABLE t FIELDS TERMINATED BY ',' IGNORE 1 LINES (id, s)"),
    ("all headers", "1\n2\n", "INTO TABLE t IGNORE 10 ROWS (id)"),
    ("variables", "1\tx\t9\n2\ty\t8\n", "INTO TABLE t (id, @s, @n) SET s = CONCAT(@s, '!'), n = @n + 1"),
    ("set of a column", "1\t5\n", "INTO TABLE t (id, n) SET s = CONCAT('n', n), d = '2021-01-01'"),
    ("set default", "1\t5\n", "INTO TABLE t (id, @n) SET n = DEFAULT"),
    ("order", "a\t1\n", "INTO TABLE t (s, id)"),
    ("unknown column", "a\t1\n", "INTO TABLE t (s, nope)"),
    ("unknown set", "a\t1\n", "INTO TABLE t (id) SET nope = 1"),
    ("unknown table", "a\t1\n", "INTO TABLE nope"),
    ("no end", "1\ta\t5\t\\N", "INTO TABLE t"),
    ("empty", "", "INTO TABLE t"),
    ("empty line", "\n", "INTO TABLE t (s)"),
    ("escapes", "1\ta\\tb\\nc\\0d\\Z\\x\n", "INTO TABLE t (id, s)"),
    ("quotes", '1,"a""b,"\n2,"x"y"\n3,NULL\n4,"NULL"\n', "INTO TABLE t FIELDS TERMINATED BY ',' ENCLOSED BY '\"' (id, s)"),
    ("latin1", b"1\tgr\xfc\xdfe\n", "INTO TABLE t CHARACTER SET latin1 (id, s)"),
    ("two bytes", "1\ta\n", "INTO TABLE t FIELDS ENCLOSED BY 'ab'"),
]


@pytest.mark.parametrize("mode", ["strict", "lax", "local"])
def test_loads(both, folder, mode):
    found = []
    for number, (name, text, rest) in enumerate(LOADS):
        path = folder / f"{number}.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        answers, tables, warnings = [], [], []
        for client in both:
            if mode == "local":
                database = client.value("SELECT DATABASE()")
                client.close()
                client.connection = pymysql.connect(
                    host="127.0.0.1", port=client.server.port, user="root", database=database,
                    charset="utf8mb4", autocommit=None, conv={}, local_infile=True,
                )  # fmt: skip
            client.ok("SET sql_mode = " + ("''" if mode == "lax" else "DEFAULT"))
            client.ok("DROP TABLE IF EXISTS t")
            client.ok("CREATE TABLE t (id INT NOT NULL DEFAULT 7, s VARCHAR(10), n INT DEFAULT 3, d DATE, UNIQUE (id))")
            answer = client.run(f"LOAD DATA {'LOCAL' * (mode == 'local')} INFILE '{path}' {rest}")
            answers.append(answer)
            warnings.append([row[:2] for row in client.rows("SHOW WARNINGS")] if answer.warnings else [])
            tables.append(client.rows("SELECT * FROM t ORDER BY id, s"))
        different = differences(*answers, ordered=True, texts=False)
        if different or tables[0] != tables[1] or warnings[0] != warnings[1]:
            found.append(f"{name}: {rest}\n  {different}\n  {tables}\n  {warnings}")
    assert not found, "\n".join(found)


XML = """<?xml version="1.0"?>
<list name="x" n="8"><!-- <row id="0"/> -->
<row><id>1</id><s> a &lt;&amp;&nope;</s><d/></row>
<row id='2'
 s="b
c"></row><row ID=3 s=''/>
<row><field name="id">4</field><field name="s">line 1
line 2</field><n>x</n></row></list>
"""


@pytest.mark.parametrize("rest", ["", "ROWS IDENTIFIED BY '<row>' IGNORE 2 LINES", "(id, @s, @n) SET s = CONCAT(@s, '!'), n = LENGTH(@n)", "(nope)"])
def test_load_xml(both, folder, rest):
    path = folder / "rows.xml"
    path.write_text(XML)
    found = []
    for client in both:
        client.ok("SET sql_mode = ''")
        client.ok("CREATE TABLE t (id INT, s VARCHAR(30), n INT DEFAULT 3, d DATE)")
        answer = client.run(f"LOAD XML INFILE '{path}' INTO TABLE t {rest}")
        found.append((answer, client.rows("SHOW WARNINGS"), client.rows("SELECT * FROM t ORDER BY id")))
    assert not differences(found[0][0], found[1][0], ordered=True, texts=True)
    assert found[0][1:] == found[1][1:]


def test_a_large_local_file(connect, folder):
    path = folder / "large.txt"
    with path.open("w") as f:
        for n in range(60_000):
            f.write(f"{n}\t{'x' * 300}\n")
    client = connect(local_infile=True)
    client.ok("CREATE TABLE large (id INT PRIMARY KEY, s VARCHAR(400))")
    assert client.ok(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE large").affected == 60_000
    assert client.value("SELECT SUM(id) FROM large") == str(sum(range(60_000)))
    # The connection is in step with its client afterwards, also after an error.
    client.fails(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE large (nope)", 1054)
    assert client.value("SELECT 1") == "1"


def test_who_may_not(narwal, connect, db, folder):
    path = folder / "x.txt"
    path.write_text("1\n")
    client = connect(local_infile=True)
    client.ok("CREATE TABLE t (id INT)")
    client.ok("SET GLOBAL local_infile = OFF")
    client.fails(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE t", 4166)
    client.ok("SET GLOBAL local_infile = ON")
    connect().fails(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE t", 4166)
    client.ok("CREATE USER nofile")
    client.ok(f"GRANT ALL ON {db}.* TO nofile")
    try:
        with Client(narwal, database=db, user="nofile", local_infile=True) as other:
            other.fails(f"LOAD DATA INFILE '{path}' INTO TABLE t", 1045)
            other.fails(f"SELECT 1 INTO OUTFILE '{folder / 'y.txt'}'", 1227)
            other.fails(f"SELECT 1 INTO DUMPFILE '{folder / 'y.txt'}'", 1227)
            assert other.ok(f"LOAD DATA LOCAL INFILE '{path}' INTO TABLE t").affected == 1
    finally:
        client.ok("DROP USER nofile")


FIXED = "FIELDS TERMINATED BY '' ENCLOSED BY ''"
FIXED_COLUMNS = """a INT, b VARCHAR(5), c DATE, d DECIMAL(5,2), e CHAR(3), f ENUM('x', 'yyyy'), g TINYINT UNSIGNED, h DOUBLE, i FLOAT(7,2),
    k YEAR, l TIME(2), m BIGINT ZEROFILL"""
FIXED_ROWS = r"""(1, 'a\\b', '2020-01-02', 1.5, 'x', 'x', 200, 1.5, 2.25, 1999, '10:11:12.55', 7),
    (-22, 'ab\ncd', '1999-12-31', -111.25, 'xyz', 'yyyy', 0, -1e10, -1, 2000, '-00:00:01', 0)"""


@pytest.mark.parametrize("lines", ["", "LINES TERMINATED BY ''", "LINES STARTING BY '>' TERMINATED BY '\\r\\n'"])
def test_fields_of_fixed_width(both, folder, lines):
    """Neither separators nor quotes: each field has its column's width, and NULL is written as spaces."""
    files = []
    for number, client in enumerate(both):
        client.ok(f"CREATE TABLE a ({FIXED_COLUMNS}) CHARSET latin1")
        client.ok("CREATE TABLE b LIKE a")
        client.ok(f"INSERT INTO a VALUES {FIXED_ROWS}")
        client.ok("CREATE TABLE n (a INT, b CHAR(2), c DATETIME) CHARSET utf8mb4")
        client.ok("INSERT INTO n VALUES (NULL, 'é', NULL), (5, NULL, '2020-02-02 01:02:03')")
        paths = [folder / f"{name}-{number}" for name in ("a", "n", "x")]
        client.ok(f"SELECT * INTO OUTFILE '{paths[0]}' {FIXED} {lines} FROM a ORDER BY a DESC")
        client.ok(f"SELECT * INTO OUTFILE '{paths[1]}' {FIXED} {lines} FROM n ORDER BY a")
        client.ok(f"SELECT 1, 'abc', 1.5, CONCAT('a', b) INTO OUTFILE '{paths[2]}' {FIXED} {lines} FROM n ORDER BY a")
        files.append([path.read_bytes() for path in paths])
    assert files[0] == files[1]
    for client in both:
        client.run("SET sql_mode = ''")
    loads = [client.run(f"LOAD DATA INFILE '{folder / 'a-0'}' INTO TABLE b CHARACTER SET latin1 {FIXED} {lines}") for client in both]
    assert not differences(*loads, ordered=True, texts=True)
    assert both[0].rows("SHOW WARNINGS") == both[1].rows("SHOW WARNINGS")
    rows = [client.rows("SELECT * FROM b ORDER BY a DESC") for client in both]
    assert rows[0] == rows[1]
    assert rows[0][1][:2] == ("-22", "ab\ncd")


def test_lines_of_fixed_width_that_are_too_short_or_too_long(both, folder):
    (folder / "f").write_bytes(b"12         abc\n13         ab\n14\n15         abc         123456\n16         abc123        more than fits\n")
    folder.joinpath("f").chmod(0o666)
    for statement in (
        f"LOAD DATA INFILE '{folder / 'f'}' IGNORE INTO TABLE s {FIXED}",
        f"LOAD DATA INFILE '{folder / 'f'}' INTO TABLE s {FIXED}",
        f"LOAD DATA INFILE '{folder / 'f'}' IGNORE INTO TABLE s {FIXED} IGNORE 2 LINES (a, b) SET c = a + 1",
        f"LOAD DATA INFILE '{folder / 'f'}' IGNORE INTO TABLE s {FIXED} LINES TERMINATED BY 'x'",
        f"LOAD DATA INFILE '{folder / 'f'}' IGNORE INTO TABLE s {FIXED} (a, @x)",
        f"LOAD DATA INFILE '{folder / 'f'}' IGNORE INTO TABLE t {FIXED} LINES TERMINATED BY ''",
    ):
        answers = []
        for client in both:
            client.ok("CREATE OR REPLACE TABLE s (a INT, b CHAR(3), c INT DEFAULT 7) CHARSET latin1")
            client.ok("CREATE OR REPLACE TABLE t (a INT, b TEXT) CHARSET latin1")
            answer = client.run(statement)
            warnings = client.rows("SHOW WARNINGS")
            if answer.error:
                # Narwal tells nothing else of the line that is wrong.
                warnings = warnings[-1:]
            answers.append((str(answer), warnings, client.rows("SELECT * FROM s"), client.rows("SELECT * FROM t")))
        assert answers[0] == answers[1], statement


def test_what_the_last_line_has_too_much(both, folder):
    ends = ("", "\n")
    for number, end in enumerate(ends):
        folder.joinpath(f"g{number}").write_bytes(f"1,2,3\n4,5,6{end}".encode())
        folder.joinpath(f"g{number}").chmod(0o666)
    for number in range(len(ends)):
        for mode in ("", "STRICT_TRANS_TABLES"):
            answers = []
            statement = f"LOAD DATA INFILE '{folder}/g{number}' INTO TABLE s FIELDS TERMINATED BY ',' IGNORE 1 LINES"
            for client in both:
                client.run(f"SET sql_mode = '{mode}'")
                client.ok("CREATE OR REPLACE TABLE s (a INT, b INT)")
                answer = client.run(statement)
                answers.append((str(answer), client.rows("SHOW WARNINGS"), client.rows("SELECT * FROM s")))
            assert answers[0] == answers[1], f"{mode}: {statement}"


def test_set_sees_the_columns_as_they_are_stored(both, folder):
    (folder / "f").write_bytes(
        b"0015,x ,2022-01-01 00:00:00,red,\xe9\n1e1,abcdef,2019-01-01,2,b\nfoo,y,bad,nosuch,c\n\\N,\\N,\\N,\\N,\\N\n7,y,\\N,blue,d,more\n8\n"
    )
    folder.joinpath("f").chmod(0o666)
    columns = "a INT NOT NULL, b CHAR(3) NOT NULL, d DATETIME, m TIMESTAMP NULL, e ENUM('red', 'blue') NOT NULL, f VARCHAR(9), n INT AS (a + 1)"
    load = "INTO TABLE s CHARACTER SET latin1 FIELDS TERMINATED BY ','"
    for mode in ("", "STRICT_TRANS_TABLES"):
        for statement in (
            f"LOAD DATA INFILE '{folder / 'f'}' IGNORE {load} (a, b, d, e, f) SET t = CONCAT_WS('!', a, b, d, e, e + 0, f)",
            f"LOAD DATA INFILE '{folder / 'f'}' IGNORE {load} (a, b, m, e, f) SET t = CONCAT_WS('!', m, m + 0), d = m",
            f"LOAD DATA INFILE '{folder / 'f'}' {load} IGNORE 4 LINES (a, b, d, e, f) SET t = a + 1",
            f"LOAD DATA INFILE '{folder / 'f'}' {load} IGNORE 3 LINES (a, b, d, e, f) SET t = a + 1",
            f"LOAD DATA INFILE '{folder / 'f'}' {load} IGNORE 2 LINES (a, b, d, e, f) SET t = a + 1",
            f"LOAD DATA INFILE '{folder / 'f'}' {load} IGNORE 1 LINES (a, b, d, @e, f) SET e = @e, t = f",
        ):
            answers = []
            for client in both:
                client.run(f"SET sql_mode = '{mode}', time_zone = '+05:00'")
                client.ok(f"CREATE OR REPLACE TABLE s ({columns}, t VARCHAR(90), k INT AUTO_INCREMENT UNIQUE) CHARSET utf8mb4")
                answer = client.run(statement)
                # MariaDB sends no number that LOAD DATA has drawn: docs/differences.md.
                answer.insert_id = 0
                # Narwal ends with the first field that is wrong.
                warnings = [] if answer.error else client.rows("SHOW WARNINGS")
                answers.append((str(answer), warnings, client.rows("SELECT * FROM s ORDER BY k")))
            assert answers[0] == answers[1], f"{mode}: {statement}"


def test_files_without_escapes_and_lines_without_moments(both, folder):
    (folder / "f").write_bytes(b"1 \\\\aa\n2 NULL\n3 \\N\n")
    folder.joinpath("f").chmod(0o666)
    answers = []
    for number, client in enumerate(both):
        client.ok("SET sql_mode = 'NO_BACKSLASH_ESCAPES'")
        client.ok("CREATE OR REPLACE TABLE s (a INT, b VARCHAR(9))")
        client.ok(f"LOAD DATA INFILE '{folder}/f' INTO TABLE s FIELDS TERMINATED BY ' '")
        client.ok(f"INSERT INTO s VALUES (4, 'tab{chr(9)} x')")
        written = folder / f"written{number}"
        client.ok(f"SELECT * INTO OUTFILE '{written}' FROM s ORDER BY a")
        client.ok("SET sql_mode = ''")
        moments = "f2 TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP, f3 TIMESTAMP NOT NULL DEFAULT '2001-01-01', f4 TIMESTAMP NULL"
        client.ok(f"CREATE OR REPLACE TABLE t (f1 INT, {moments})")
        client.ok(f"LOAD DATA INFILE '{folder}/f' INTO TABLE t FIELDS TERMINATED BY '_'")
        rows = client.rows("SELECT * FROM s ORDER BY a"), client.rows("SELECT f1, f2 > 20240101, f3 > 20240101, f4 FROM t ORDER BY f1")
        answers.append((rows, written.read_bytes()))
    assert answers[0] == answers[1]
