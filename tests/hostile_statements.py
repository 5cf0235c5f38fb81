"""Statements that would like to have all the memory of the machine: the list, and what they work on.

Each entry has a name and the statements of one session, of which the last one is the hostile one as a rule. How it ends is its own
business (a result, NULL with a warning, an error), but the server goes on. Texts are functions where they are large.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

SETUP = [
    "CREATE DATABASE h",
    "USE h",
    "CREATE TABLE t (id INT PRIMARY KEY, k INT, v VARCHAR(300), j TEXT, KEY k (k))",
    "CREATE TABLE big (id INT PRIMARY KEY, b LONGBLOB)",
    "CREATE TABLE w (id INT PRIMARY KEY AUTO_INCREMENT, a LONGTEXT, b LONGTEXT, c LONGTEXT)",
    "CREATE TABLE idx (a VARCHAR(700) NOT NULL, KEY a (a))",
    "INSERT INTO t WITH RECURSIVE s AS (SELECT 1 n UNION ALL SELECT n + 1 FROM s WHERE n < 1000)"
    " SELECT n, n % 10, REPEAT(CHAR(97 + n % 26), 100), CONCAT('[', n, ']') FROM s",
    "INSERT INTO t SELECT id + 1000, k, v, j FROM t",
    "INSERT INTO t SELECT id + 2000, k, v, j FROM t",
    "INSERT INTO t SELECT id + 4000, k, v, j FROM t",
    *[f"INSERT INTO big VALUES ({n}, REPEAT('{n}', 4000000))" for n in range(8)],
]

# A text of the largest size that a value may have with the default of max_allowed_packet.
M = "REPEAT('a', 16777216)"
H = "REPEAT('a', 8000000)"


def nested(name: str, depth: int, core: str = "'ab'", rest: str = "") -> str:
    return f"{name}(" * depth + core + f"{rest})" * depth


def aliases(n: int) -> str:
    return ",".join(f"{i} a{i}" for i in range(n))


def many(n: int, text: str, by: str = ",") -> str:
    return by.join([text] * n)


def numbers(n: int) -> str:
    return ",".join(map(str, range(n)))


def the_four() -> Iterable[tuple[str, list[str]]]:
    yield "hex of hex 40 deep", [f"SELECT LENGTH({nested('HEX', 40)})"]
    yield "sformat with a width", ["SELECT SFORMAT('{:2147483647}', 1)"]
    yield "recursion without an end", [
        "SET max_recursive_iterations = 4294967295",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT * FROM r",
    ]
    yield "weight_string as char", ["SELECT WEIGHT_STRING('ab' AS CHAR(1000000000000000000))"]


def nested_functions() -> Iterable[tuple[str, list[str]]]:
    for name in ("TO_BASE64", "QUOTE", "JSON_QUOTE", "JSON_ARRAY", "COMPRESS", "REVERSE", "WEIGHT_STRING", "UPPER"):
        yield f"{name} 60 deep", [f"SELECT LENGTH({nested(name, 60, H)})"]
    yield "concat with itself 40 deep", ["SET @x = 'ab'", *["SET @x = CONCAT(@x, @x)"] * 40, "SELECT LENGTH(@x)"]
    yield "concat of concats", [f"SELECT LENGTH(CONCAT({many(100, f'CONCAT({H}, {H})')}))"]
    yield "repeat of repeat", [f"SELECT LENGTH({nested('REPEAT', 50, chr(39) + 'a' + chr(39), ', 1000')})"]
    yield "replace doubles 40 deep", [f"SELECT LENGTH({nested('REPLACE', 40, chr(39) + 'aa' + chr(39), ', ' + chr(39) + 'a' + chr(39) + ', ' + chr(39) + 'aa' + chr(39))})"]
    yield "replace by a long text", [f"SELECT LENGTH(REPLACE({H}, 'a', {H}))"]
    yield "regexp_replace by a long text", [f"SELECT LENGTH(REGEXP_REPLACE({H}, 'a', {H}))"]
    yield "regexp_replace by groups", [
        f"SELECT LENGTH(REGEXP_REPLACE({H}, '(.*)', REPEAT('\\\\1', 1000000)))",
    ]
    yield "hex of much in one row", [f"SELECT LENGTH(CONCAT_WS(',', {many(200, f'HEX({H})')}))"]
    yield "insert into itself", [f"SELECT LENGTH({nested('INSERT', 40, H, ', 1, 0, ' + H)})"]
    yield "lpad of lpad", [f"SELECT LENGTH(LPAD(LPAD('a', 4000000, 'b'), 2147483647, 'c'))"]
    yield "rpad with wide fill", ["SELECT LENGTH(RPAD('a', 4194304, '\U0001f600'))"]
    yield "json_object of much", [f"SELECT LENGTH(JSON_OBJECT({many(100, f'{chr(39)}a{chr(39)}, {M}')}))"]
    yield "json_array of much", [f"SELECT LENGTH(JSON_ARRAY({many(300, M)}))"]
    yield "json_quote of quotes", ["SELECT LENGTH(JSON_QUOTE(REPEAT('\\\"', 16000000)))"]
    yield "json_quote of controls", ["SELECT LENGTH(JSON_QUOTE(REPEAT(CHAR(1), 16000000)))"]
    yield "export_set of much", [f"SELECT LENGTH(EXPORT_SET(-1, {M}, {M}, {M}, 64))"]
    yield "make_set of much", [f"SELECT LENGTH(MAKE_SET(-1, {many(64, M)}))"]
    yield "elt of much", [f"SELECT LENGTH(ELT(64, {many(64, M)}))"]
    yield "greatest of much", [f"SELECT LENGTH(GREATEST({many(400, M)}))"]
    yield "coalesce of much", [f"SELECT LENGTH(COALESCE(NULL, {many(300, M)}))"]
    yield "field of much", [f"SELECT FIELD({many(300, M)})"]
    yield "in list of much", [f"SELECT 'b' IN ({many(300, M)})"]
    yield "case of much", [f"SELECT CASE {many(200, f'WHEN {M} = 1 THEN {M}', ' ')} END"]
    yield "concat_ws with a long separator", [f"SELECT LENGTH(CONCAT_WS({H}, {many(300, '1')}))"]
    yield "interval of much", [f"SELECT INTERVAL(1, {many(300, M)})"]


def one_function() -> Iterable[tuple[str, list[str]]]:
    large = (
        "REPEAT('a', 18446744073709551615)", "REPEAT('abc', 9223372036854775807)", "SPACE(9223372036854775807)",
        "LPAD('a', 9223372036854775807, 'b')", "RPAD('', 2147483647, 'xyz')", "LPAD('a', 16777216, 'bc')",
        "SFORMAT('{:16777216}', 'a')", "SFORMAT('{:.2147483647f}', 1e0)", "SFORMAT('{:>99999999999999999999}', 1)",
        "SFORMAT('{:.400000000e}', 1e0)", "SFORMAT(REPEAT('{0:16000000}', 1000), 'a')", "SFORMAT(REPEAT('{0}', 1000000), REPEAT('a', 1000000))",
        "FORMAT(1e308, 2147483647)", "FORMAT(REPEAT('9', 16000000), 38)", "ROUND(1e308, 2147483647)", "TRUNCATE(1, 9223372036854775807)",
        "WEIGHT_STRING('ab' AS BINARY(1000000000000000000))", "WEIGHT_STRING(REPEAT('a', 16777216))",
        "WEIGHT_STRING(REPEAT('a', 16777216) AS CHAR(16777216))", "WEIGHT_STRING(REPEAT('a', 16777216) COLLATE utf8mb4_unicode_ci)",
        "CAST('a' AS CHAR(4294967295))", "CAST('a' AS BINARY(4294967295))", "CAST(REPEAT('a', 16777216) AS CHAR CHARACTER SET latin1)",
        "CAST(REPEAT('9', 16777216) AS DECIMAL(65, 30))", "CAST(REPEAT('9', 16777216) AS UNSIGNED)", "CONVERT(REPEAT('a', 16777216), CHAR(16777216))",
        "CONVERT(REPEAT('ä', 8000000) USING latin1)", "CONVERT(REPEAT('a', 16777216) USING binary)",
        "UNCOMPRESS(CONCAT(UNHEX('FFFFFF3F'), UNHEX('789C'), REPEAT(UNHEX('00'), 1000)))", "UNCOMPRESS(COMPRESS(REPEAT('a', 16777216)))",
        "UNCOMPRESS(UNCOMPRESS(COMPRESS(COMPRESS(REPEAT('a', 16777216)))))", "UNCOMPRESSED_LENGTH(COMPRESS(REPEAT('a', 16777216)))",
        "AES_ENCRYPT(REPEAT('a', 16777216), REPEAT('k', 16777216))", "AES_DECRYPT(REPEAT('a', 16777216), 'k')",
        "TO_BASE64(REPEAT('a', 16777216))", "FROM_BASE64(REPEAT('YWFh', 4000000))", "UNHEX(REPEAT('61', 8000000))", "HEX(REPEAT('a', 16777216))",
        "QUOTE(REPEAT('\\'', 16777216))", "REVERSE(REPEAT('ä', 8000000))", "UPPER(REPEAT('ß', 8000000))", "LOWER(REPEAT('İ', 8000000))",
        "SOUNDEX(REPEAT('abcdefgh', 2000000))", "NATURAL_SORT_KEY(REPEAT('1a', 8000000))", "CHAR(1, 2, 3 USING utf8mb4)",
        "SUBSTRING_INDEX(REPEAT('a,', 8000000), ',', -4000000)", "SUBSTRING(REPEAT('a', 16777216), 2)", "LEFT(REPEAT('ä', 8000000), 7999999)",
        "TRIM(BOTH 'a' FROM REPEAT('a', 16777216))", "LOCATE(REPEAT('a', 100000), REPEAT('b', 16777216))", "INSTR(REPEAT('ä', 8000000), 'b')",
        "FIND_IN_SET('b', REPEAT('a,', 8000000))", "INSERT(REPEAT('a', 16777216), 1, 0, 'b')", "STRCMP(REPEAT('a', 16777216), REPEAT('a', 16777216))",
        "MD5(REPEAT('a', 16777216))", "SHA2(REPEAT('a', 16777216), 512)", "CRC32(REPEAT('a', 16777216))", "PASSWORD(REPEAT('a', 16777216))",
        "CONV(REPEAT('f', 16777216), 16, 2)", "RANDOM_BYTES(2147483647)", "DATE_FORMAT(NOW(), REPEAT('%r', 8000000))",
        "DATE_FORMAT(NOW(), REPEAT('%W', 8000000))", "TIME_FORMAT('10:00', REPEAT('%r', 8000000))", "FROM_UNIXTIME(0, REPEAT('%M', 8000000))",
        "STR_TO_DATE(REPEAT('1', 16777216), REPEAT('%Y', 8000000))", "TO_CHAR(NOW(), REPEAT('YYYY', 4000000))", "GET_FORMAT(DATE, 'EUR')",
        "INET6_ATON(REPEAT('1', 16777216))", "LOAD_FILE('/dev/zero')", "LOAD_FILE('/proc/self/mem')", "OCT(REPEAT('9', 16777216))",
        "REGEXP_SUBSTR(REPEAT('a', 16777216), '.*')", "REGEXP_INSTR(REPEAT('a', 16777216), '(a|aa)+b')", "REGEXP_REPLACE(REPEAT('a', 4000000), '', 'b')",
        "'a' REGEXP REPEAT('(', 100000)", "'a' REGEXP REPEAT('a{1000}', 100000)", "'a' REGEXP CONCAT('((((a{1,1000}){1,1000}){1,1000}){1,1000})')",
        "'a' REGEXP REPEAT('a', 16000000)", "REPEAT('a', 16777216) LIKE REPEAT('%a', 8000000)", "REPEAT('a', 16777216) + 0",
        "REPEAT('9', 16777216) * REPEAT('9', 16777216)", "BENCHMARK(10, REPEAT('a', 16777216))", "NAME_CONST('a', REPEAT('a', 16777216))",
    )  # fmt: skip
    for e in large:
        yield f"value {e[:60]}", [f"SELECT LENGTH({e})"]
    for e in ("REPEAT('a', 16777216)", "HEX(REPEAT('a', 8000000))", "JSON_ARRAY(REPEAT('a', 16000000))"):
        yield f"sent {e}", [f"SELECT {many(40, e)}"]


def json() -> Iterable[tuple[str, list[str]]]:
    ones = "CONCAT('[', REPEAT('1,', 8000000), '1]')"
    empties = "CONCAT('[', REPEAT('[],', 5000000), '[]]')"
    members = "CONCAT('{', REPEAT('\"a\":1,', 2500000), '\"b\":1}')"
    deep = "CONCAT(REPEAT('[', 8000000), REPEAT(']', 8000000))"
    for doc_name, doc in (("ones", ones), ("empties", empties), ("members", members), ("deep", deep)):
        for call in (
            "JSON_VALID({})", "JSON_LENGTH({})", "JSON_DEPTH({})", "JSON_DETAILED({})", "JSON_LOOSE({})", "JSON_COMPACT({})",
            "JSON_KEYS({})", "JSON_EXTRACT({}, '$[*]', '$**.a')", "JSON_SEARCH({}, 'all', '1')", "JSON_NORMALIZE({})",
            "JSON_MERGE_PRESERVE({}, '[1]')", "JSON_SET({}, '$[0]', 1)", "JSON_CONTAINS({}, '1')", "JSON_UNQUOTE({})",
        ):  # fmt: skip
            yield f"json {call} of {doc_name}", [f"SELECT LENGTH({call.format(doc)})"]
    yield "json merge of merges", [f"SELECT LENGTH({nested('JSON_MERGE_PRESERVE', 30, ones, ', ' + ones)})"]
    yield "json merge patch of much", [f"SELECT LENGTH(JSON_MERGE_PATCH({many(20, members)}))"]
    yield "json insert of itself", ["SET @j = '[1]'", *["SET @j = JSON_ARRAY_APPEND(@j, '$', @j, '$', @j)"] * 24, "SELECT LENGTH(@j)"]
    yield "json overlap", [f"SELECT JSON_OVERLAPS({ones}, {empties})"]
    yield "json path of steps", [f"SELECT JSON_EXTRACT('[1]', CONCAT('$', REPEAT('[0]', 5000000)))"]
    yield "json paths", [f"SELECT JSON_EXTRACT('[1]', {many(2000, chr(39) + '$[0]' + chr(39))})"]
    yield "json detailed with tabs", ["SELECT LENGTH(JSON_DETAILED(CONCAT(REPEAT('[', 30), REPEAT('1,', 5000000), '1', REPEAT(']', 30)), 16))"]


ROWS = "t a, t b, t c"


def aggregates() -> Iterable[tuple[str, list[str]]]:
    wide = "SET group_concat_max_len = 4294967295"
    yield "group_concat of a product", [wide, f"SELECT LENGTH(GROUP_CONCAT(a.v)) FROM {ROWS}"]
    yield "group_concat distinct", [wide, f"SELECT LENGTH(GROUP_CONCAT(DISTINCT a.v, b.id)) FROM {ROWS}"]
    yield "group_concat ordered", [wide, "SELECT LENGTH(GROUP_CONCAT(a.v, b.v ORDER BY b.id DESC)) FROM t a, t b"]
    yield "group_concat of long values", [wide, f"SELECT LENGTH(GROUP_CONCAT(CONCAT(a.id, {H}))) FROM t a"]
    yield "group_concat with a long separator", [wide, f"SELECT LENGTH(GROUP_CONCAT(id SEPARATOR '{'x' * 1000000}')) FROM t"]
    yield "json_arrayagg of a product", [wide, f"SELECT LENGTH(JSON_ARRAYAGG(a.v)) FROM {ROWS}"]
    yield "json_objectagg of a product", [wide, f"SELECT LENGTH(JSON_OBJECTAGG(a.v, b.v)) FROM {ROWS}"]
    yield "json_arrayagg of long values", [wide, f"SELECT LENGTH(JSON_ARRAYAGG(CONCAT(id, {H}))) FROM t"]
    yield "max of long values", [f"SELECT LENGTH(MAX(CONCAT(id, {H}))) FROM t"]
    yield "max in many groups", [f"SELECT id, LENGTH(MAX(CONCAT(v, REPEAT('b', 1000000)))) FROM t GROUP BY id"]
    yield "many aggregates", [f"SELECT {many(1000, 'MAX(CONCAT(v, id))')} FROM t GROUP BY id"]
    yield "count distinct of a product", ["SELECT COUNT(DISTINCT a.v, b.id, a.id) FROM t a, t b"]
    yield "group by long values", [f"SELECT COUNT(*) FROM t GROUP BY CONCAT(id, REPEAT('a', 2000000))"]
    yield "distinct long values", [f"SELECT DISTINCT CONCAT(id, REPEAT('a', 2000000)) FROM t"]
    yield "order by long values", [f"SELECT id FROM t ORDER BY CONCAT(id, REPEAT('a', 2000000))"]
    yield "order by many long values", [f"SELECT id FROM t ORDER BY {many(60, 'CONCAT(id, v, v, v, v)')} LIMIT 100000000"]
    yield "sum in many groups", ["SELECT a.id, b.id, SUM(a.k) FROM t a, t b GROUP BY a.id, b.id"]
    yield "rollup", ["SELECT a.id, b.id, a.v, COUNT(*) FROM t a, t b GROUP BY a.id, b.id, a.v WITH ROLLUP"]
    yield "having over a product", ["SELECT a.id, b.id, a.v FROM t a, t b HAVING a.id > b.id"]
    yield "big blobs sorted", ["SELECT LENGTH(x.b) FROM big x, big y, big z ORDER BY CONCAT(x.b, y.id)"]
    yield "big blobs grouped", ["SELECT COUNT(*) FROM big x, big y GROUP BY x.b, y.b"]
    yield "big blobs joined", ["SELECT COUNT(*) FROM big x JOIN big y ON x.b = y.b JOIN big z ON z.b = y.b"]


def rows() -> Iterable[tuple[str, list[str]]]:
    yield "product to the client", [f"SELECT a.v, b.v FROM t a, t b LIMIT 300000"]
    yield "product of six", ["SELECT COUNT(a.v) FROM t a, t b, t c, t d, t e, t f"]
    yield "derived product", ["SELECT COUNT(*) FROM (SELECT a.v x, b.v y FROM t a, t b) d, (SELECT a.v FROM t a, t b) e"]
    yield "derived with long values", [f"SELECT COUNT(*) FROM (SELECT CONCAT(id, {H}) x FROM t) d, t WHERE d.x > t.v"]
    yield "union of products", [f"SELECT a.v, b.v FROM t a, t b UNION SELECT b.v, a.id FROM t a, t b"]
    yield "except", ["SELECT COUNT(*) FROM (SELECT a.id, b.v FROM t a, t b EXCEPT SELECT a.k, b.v FROM t a, t b) x"]
    yield "intersect", ["SELECT COUNT(*) FROM (SELECT a.id, b.v FROM t a, t b INTERSECT SELECT a.id, b.v FROM t a, t b) x"]
    yield "in a large subquery", ["SELECT COUNT(*) FROM t WHERE (id, v) IN (SELECT a.id + b.id, a.v FROM t a, t b)"]
    yield "scalar subqueries with long values", [f"SELECT {many(100, f'(SELECT {M})')}"]
    yield "exists in exists", ["SELECT COUNT(*) FROM t a WHERE EXISTS (SELECT 1 FROM t b, t c WHERE b.v > c.v AND a.id < c.id HAVING MAX(b.v) > 'z')"]
    yield "window over a product", ["SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (ORDER BY a.v, b.v) FROM t a, t b) x"]
    yield "values of long rows", [f"VALUES ({many(500, M)})"]
    yield "left joins", [f"SELECT COUNT(*) FROM t a {' '.join(f'LEFT JOIN t b{n} ON b{n}.k = a.k' for n in range(20))}"]
    yield "insert select of a product", ["INSERT INTO w (a, b) SELECT a.v, b.v FROM t a, t b"]
    yield "insert of long values", [f"INSERT INTO w (a, b, c) SELECT {H}, {H}, {H} FROM t LIMIT 100"]
    yield "update to long values", ["BEGIN", f"UPDATE w SET a = {H}, b = {H}", "ROLLBACK"]
    yield "create table select of a product", ["CREATE TABLE IF NOT EXISTS p SELECT a.v, b.v AS w FROM t a, t b"]
    yield "temporary tables", [f"CREATE TEMPORARY TABLE x{n} SELECT a.v, b.id FROM t a, t b LIMIT 30000" for n in range(30)]
    yield "temporary table with long values", ["CREATE TEMPORARY TABLE x (a LONGTEXT)", *[f"INSERT INTO x VALUES ({M[:-1]} - 1000))"] * 60]
    yield "many savepoints", ["BEGIN", *[f"SAVEPOINT s{n}" for n in range(4000)], "ROLLBACK"]
    yield "many row locks", ["BEGIN", "SELECT COUNT(*) FROM t FOR UPDATE", "UPDATE t SET k = k + 1", "ROLLBACK"]
    yield "insert ignore with warnings", ["SET max_error_count = 65535", f"SELECT COUNT(CAST(CONCAT('x', {H}) AS DATE)) FROM t LIMIT 1"]
    yield "sql_big_result", ["SELECT SQL_BIG_RESULT a.v, COUNT(*) FROM t a, t b GROUP BY a.v, b.v"]
    yield "calc_found_rows", ["SELECT SQL_CALC_FOUND_ROWS a.v FROM t a, t b LIMIT 1"]
    yield "delete in a product", ["BEGIN", "DELETE a FROM w a, t b, t c WHERE a.id > b.id + c.id", "ROLLBACK"]
    yield "explain of a product", [f"EXPLAIN SELECT * FROM {', '.join(f't a{n}' for n in range(61))}"]
    yield "show of everything", ["SELECT a.COLUMN_NAME, b.COLUMN_NAME FROM information_schema.COLUMNS a, information_schema.COLUMNS b"]


def recursion() -> Iterable[tuple[str, list[str]]]:
    far = "SET max_recursive_iterations = 4294967295"
    r = "WITH RECURSIVE r AS "
    yield "recursion that doubles", [far, f"{r}(SELECT 1 n UNION ALL SELECT n FROM r UNION ALL SELECT n FROM r) SELECT COUNT(*) FROM r"]
    yield "recursion with a product", [far, f"{r}(SELECT 1 n UNION ALL SELECT r.n + t.id FROM r, t) SELECT COUNT(*) FROM r"]
    yield "recursion distinct", [far, f"{r}(SELECT 1 n UNION SELECT n + 1 FROM r) SELECT COUNT(*) FROM r"]
    yield "recursion distinct product", [far, f"{r}(SELECT 1 n UNION SELECT r.n * 7 + t.id FROM r, t) SELECT COUNT(*) FROM r"]
    yield "recursion of long values", [far, f"{r}(SELECT 1 n, CAST('a' AS CHAR(4000000)) s UNION ALL SELECT n + 1, CONCAT(s, s) FROM r) SELECT SUM(LENGTH(s)) FROM r"]
    yield "recursion of long rows", [far, f"{r}(SELECT 1 n, {H} s UNION ALL SELECT n + 1, s FROM r) SELECT COUNT(*), MAX(s) FROM r"]
    yield "recursion joined to itself", [far, f"{r}(SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 1000000) SELECT COUNT(*) FROM r a, r b"]
    yield "recursion ordered", [far, f"{r}(SELECT 1 n UNION ALL SELECT n + 1 FROM r) SELECT n FROM r ORDER BY n DESC LIMIT 5"]
    yield "recursion in a recursion", [far, f"{r}(SELECT 1 n UNION ALL SELECT n + 1 FROM r), q AS (SELECT n FROM r UNION ALL SELECT q.n FROM q, r) SELECT COUNT(*) FROM q"]
    yield "recursion into group_concat", [far, "SET group_concat_max_len = 4294967295", f"{r}(SELECT 1 n UNION ALL SELECT n + 1 FROM r) SELECT LENGTH(GROUP_CONCAT(n)) FROM r"]
    yield "recursion within the usual limit", [f"{r}(SELECT 1 n UNION ALL SELECT n FROM r UNION ALL SELECT n FROM r) SELECT COUNT(*) FROM r"]


def texts() -> Iterable[tuple[str, list]]:
    yield "a list of a million numbers", [lambda: f"SELECT 1 IN ({numbers(1_000_000)})"]
    yield "two million columns", [lambda: f"SELECT {many(2_000_000, '1')}"]
    yield "a million words", [lambda: f"SELECT {many(1_000_000, 'a', ' ')}"]
    yield "eight million commas", [lambda: "SELECT " + "," * 8_000_000]
    yield "eight million brackets", [lambda: "SELECT " + "(" * 8_000_000]
    yield "seven million minuses", [lambda: "SELECT " + "- " * 3_500_000 + "1"]
    yield "a million additions", [lambda: f"SELECT {many(1_000_000, '1', '+')}"]
    yield "a million ands", [lambda: f"SELECT {many(1_000_000, '1', ' AND ')}"]
    yield "two million ors", [lambda: f"SELECT 1 FROM t WHERE {many(1_000_000, 'id=1', ' OR ')}"]
    yield "a hundred thousand unions", [lambda: many(100_000, "SELECT 1", " UNION ")]
    yield "a hundred thousand unions of tables", [lambda: many(100_000, "SELECT id FROM t", " UNION ALL ")]
    yield "nots", [lambda: f"SELECT {'NOT ' * 1_000_000} 1"]
    yield "cases", [lambda: f"SELECT {'CASE WHEN 1 THEN ' * 100_000} 1 {'END ' * 100_000}"]
    yield "subqueries in subqueries", [lambda: "SELECT " + "(SELECT " * 10_000 + "1" + ")" * 10_000]
    yield "derived in derived", [lambda: "SELECT * FROM " + "(SELECT * FROM " * 5_000 + "t" + ") x" * 5_000]
    yield "functions in functions", [lambda: f"SELECT {nested('ABS', 100_000, '1')}"]
    yield "ten thousand joins", [lambda: "SELECT 1 FROM t " + " ".join(f"JOIN t a{n}" for n in range(10_000))]
    yield "two million joins", [lambda: "SELECT 1 FROM t" + " JOIN t" * 2_000_000]
    yield "ten thousand withs", [lambda: "WITH " + ",".join(f"a{n} AS (SELECT {n} n)" for n in range(10_000)) + " SELECT * FROM a1"]
    yield "withs that double", [lambda: "WITH a0 AS (SELECT 1 n)," + ",".join(f"a{n} AS (SELECT x.n FROM a{n - 1} x, a{n - 1} y)" for n in range(1, 30)) + " SELECT * FROM a29"]
    yield "a long string", [lambda: f"SELECT LENGTH('{'a' * 16_000_000}')"]
    yield "a long hex string", [lambda: f"SELECT LENGTH(x'{'61' * 8_000_000}')"]
    yield "a long number", [lambda: f"SELECT {'9' * 16_000_000}"]
    yield "a long name", [lambda: f"SELECT 1 AS `{'a' * 16_000_000}`"]
    yield "a long comment", [lambda: f"SELECT 1 /* {'a' * 16_000_000} */"]
    yield "executable comments", [lambda: "SELECT 1 " + "/*! */" * 2_600_000]
    yield "a long decimal", [lambda: f"SELECT 0.{'9' * 1_000_000} + 1"]
    yield "strings side by side", [lambda: "SELECT LENGTH(" + "'a' " * 3_000_000 + ")"]
    yield "a million rows", [lambda: f"INSERT INTO w (a) VALUES {many(1_000_000, '(1)')}"]
    yield "a million rows that fail", [lambda: f"INSERT INTO w (a) VALUES {many(1_000_000, '(ABS(1))')},(1"]
    yield "a hundred thousand columns of a table", [lambda: "CREATE TABLE q (" + ",".join(f"c{n} INT" for n in range(100_000)) + ")"]
    yield "a hundred thousand keys of a table", [lambda: "CREATE TABLE q (a INT, " + ",".join(f"KEY k{n} (a)" for n in range(100_000)) + ")"]
    yield "an enum of a million", [lambda: "CREATE TABLE q (a ENUM(" + ",".join(f"'{n}'" for n in range(1_000_000)) + "))"]
    yield "a default that is long", [lambda: f"CREATE TABLE q (a LONGTEXT DEFAULT '{'a' * 16_000_000}')"]
    yield "a check that is long", [lambda: f"CREATE TABLE q (a INT CHECK (a IN ({numbers(1_000_000)})))"]
    yield "a view that is long", [lambda: f"CREATE OR REPLACE VIEW v AS SELECT {numbers(300_000)}"]
    yield "a view of equal columns", [lambda: "CREATE OR REPLACE VIEW v AS SELECT " + many(1_000_000, "1")]
    yield "a view of one column often", [lambda: "CREATE OR REPLACE VIEW v AS SELECT " + many(1_000_000, "id") + " FROM t"]
    yield "a view with many names", [
        lambda: f"CREATE OR REPLACE VIEW v AS SELECT {aliases(200_000)} ORDER BY " + ",".join(f"a{n}" for n in range(200_000))
    ]
    yield "explain of long lists", [lambda: f"EXPLAIN SELECT * FROM t WHERE id IN ({numbers(1_000_000)}) OR k IN ({numbers(500_000)})"]
    yield "ranges of a long list", [lambda: f"SELECT COUNT(*) FROM t WHERE id IN ({numbers(1_000_000)}) AND k IN ({numbers(100_000)})"]
    yield "pairs of lists", [lambda: "SELECT COUNT(*) FROM t WHERE (id, k) IN (" + many(700_000, "(1,2)") + ")"]
    yield "a set of many variables", [lambda: "SET " + ",".join(f"@a{n} = {n}" for n in range(500_000))]
    yield "a set statement of many", [lambda: "SET STATEMENT " + many(300_000, "max_statement_time=1") + " FOR SELECT 1"]
    yield "a grant of many", [lambda: "GRANT SELECT ON *.* TO " + ",".join(f"u{n}" for n in range(300_000))]
    yield "a rename of many", [lambda: "RENAME TABLE " + ",".join(f"a{n} TO b{n}" for n in range(300_000))]
    yield "a drop of many", [lambda: "DROP TABLE IF EXISTS " + ",".join(f"a{n}" for n in range(500_000))]
    yield "analyze of one often", [lambda: "ANALYZE TABLE " + many(2_000_000, "t")]
    yield "analyze of many", [lambda: "ANALYZE TABLE " + ",".join(f"a{n}" for n in range(1_000_000))]
    yield "checksum of many", [lambda: "CHECKSUM TABLE " + ",".join(f"a{n}" for n in range(1_000_000))]
    yield "flush of many", [lambda: "FLUSH TABLES " + ",".join(f"a{n}" for n in range(1_000_000))]
    yield "locks of many", [lambda: "LOCK TABLES " + ",".join(f"t a{n} READ" for n in range(500_000)), "UNLOCK TABLES"]
    yield "a packet that is too large", [lambda: "SELECT '" + "a" * 20_000_000 + "'"]
    yield "prepared from a long text", [lambda: f"SET @s = CONCAT('SELECT ', REPEAT('1,', 8000000), '1')", "PREPARE p FROM @s"]


def wide() -> Iterable[tuple[str, list]]:
    """Lists of parts that name each other: what looks each one up in all of them never ends."""
    def names(n: int, form: str, by: str = ",") -> str:
        return by.join(form.format(n=i) for i in range(n))

    yield "many aliases ordered", [lambda: f"SELECT {aliases(200_000)} ORDER BY {names(200_000, 'a{n}')}"]
    yield "many aliases grouped", [lambda: f"SELECT {aliases(200_000)} FROM t GROUP BY {names(200_000, 'a{n}')}"]
    yield "many aliases in having", [lambda: f"SELECT {aliases(100_000)} FROM t HAVING {names(100_000, 'a{n} = 1', ' OR ')}"]
    yield "many positions", [lambda: f"SELECT {numbers(200_000)} ORDER BY {names(200_000, '1')}"]
    yield "many columns of a derived table", [lambda: f"SELECT {names(100_000, 'a{n}')} FROM (SELECT {aliases(100_000)}) d"]
    yield "many columns of a with", [lambda: f"WITH d AS (SELECT {aliases(100_000)}) SELECT {names(100_000, 'd.a{n}')} FROM d"]
    yield "many columns of a union", [lambda: f"SELECT {aliases(100_000)} UNION SELECT {aliases(100_000)} ORDER BY {names(100_000, 'a{n}')}"]
    yield "many columns of a table from a query", [lambda: f"CREATE TABLE wide1 SELECT {aliases(100_000)}"]
    yield "many columns of a view's list", [lambda: f"CREATE OR REPLACE VIEW v ({names(100_000, 'a{n}')}) AS SELECT {numbers(100_000)}"]
    yield "one column set often", [lambda: f"UPDATE w SET {names(400_000, 'a = {n}')}"]
    yield "one column inserted often", [lambda: f"INSERT INTO w ({names(400_000, 'a')}) VALUES ({numbers(400_000)})"]
    yield "many sets of a duplicate", [lambda: f"INSERT INTO w (a) VALUES (1) ON DUPLICATE KEY UPDATE {names(400_000, 'a = {n}')}"]
    yield "many withs", [lambda: f"WITH {names(100_000, 'a{n} AS (SELECT 1)')} SELECT 1"]
    yield "many withs that name each other", [lambda: f"WITH b AS (SELECT 1 n), {names(3_000, 'a{n} AS (SELECT * FROM b)')} SELECT * FROM {names(60, 'a{n}')}"]
    yield "many named windows", [lambda: f"SELECT {names(20_000, 'SUM(k) OVER w{n}')} FROM t WINDOW {names(20_000, 'w{n} AS (ORDER BY id)')}"]
    yield "many windows", [lambda: f"SELECT {names(20_000, 'SUM(k) OVER (ORDER BY id + {n})')} FROM t"]
    yield "many sums", [lambda: f"SELECT {names(100_000, 'SUM(k + {n})')} FROM t"]
    yield "many subqueries", [lambda: f"SELECT {names(50_000, '(SELECT MAX(id) + {n} FROM t)')}"]
    yield "many derived tables", [lambda: f"SELECT 1 FROM {names(60, '(SELECT * FROM t) d{n}')}"]
    yield "many arms of a case", [lambda: f"SELECT COUNT(CASE id {names(300_000, 'WHEN {n} THEN {n}', ' ')} END) FROM t"]
    yield "many variables of a program", [lambda: f"CREATE PROCEDURE wide2() BEGIN DECLARE {names(100_000, 'a{n}')} INT; SET {names(100_000, 'a{n} = 1')}; END"]
    yield "many declarations", [lambda: f"CREATE PROCEDURE wide3() BEGIN {names(100_000, 'DECLARE a{n} INT;', '')} END"]
    yield "many conditions", [lambda: f"CREATE PROCEDURE wide4() BEGIN {names(100_000, 'DECLARE c{n} CONDITION FOR 1062;', '')} END"]
    yield "many handlers", [lambda: f"CREATE PROCEDURE wide5() BEGIN {names(100_000, 'DECLARE EXIT HANDLER FOR {n} BEGIN END;', '')} END"]
    yield "many cursors declared", [lambda: f"CREATE PROCEDURE wide6() BEGIN {names(100_000, 'DECLARE c{n} CURSOR FOR SELECT 1;', '')} END"]
    yield "many labels", [lambda: f"CREATE PROCEDURE wide7() BEGIN {names(100_000, 'l{n}: BEGIN END;', '')} END"]
    yield "many parameters", [lambda: f"CREATE PROCEDURE wide8({names(100_000, 'a{n} INT')}) BEGIN END"]
    yield "many steps of a program", [lambda: f"CREATE PROCEDURE wide9() BEGIN {names(200_000, 'SET @a = {n};', '')} END", "CALL wide9()"]
    yield "many columns of json_table", [lambda: "SELECT * FROM JSON_TABLE('[{}]', '$[*]' COLUMNS (" + names(100_000, "a{n} INT PATH '$.a'") + ")) j"]
    yield "many checks", [lambda: f"CREATE TABLE wide10 (a INT, {names(50_000, 'CHECK (a > {n})')})"]
    yield "many foreign keys", [lambda: f"CREATE TABLE wide11 (a INT, {names(50_000, 'FOREIGN KEY (a) REFERENCES t (id)')})"]
    yield "many parts of a key", [lambda: f"CREATE TABLE wide12 (a INT, KEY ({names(400_000, 'a')}))"]
    yield "many columns added", [lambda: f"ALTER TABLE w {names(100_000, 'ADD COLUMN x{n} INT')}"]
    yield "many columns dropped", [lambda: f"ALTER TABLE w {names(100_000, 'DROP COLUMN IF EXISTS x{n}')}"]
    yield "many generated columns", [lambda: f"CREATE TABLE wide13 (a INT, {names(4_000, 'g{n} INT AS (a + {n})')})", "DROP TABLE wide13"]
    yield "many partitions", [lambda: f"CREATE TABLE wide14 (a INT) PARTITION BY RANGE (a) ({names(100_000, 'PARTITION p{n} VALUES LESS THAN ({n})')})"]
    yield "many tables deleted from", [lambda: f"DELETE {names(100_000, 'w')} FROM w"]
    yield "many accounts", [lambda: f"CREATE USER IF NOT EXISTS {names(2_000, 'wide{n}')}", lambda: f"DROP USER {names(2_000, 'wide{n}')}"]
    yield "one account often", [lambda: f"CREATE USER IF NOT EXISTS {names(300_000, 'wide')}", "DROP USER wide"]
    yield "many columns granted", [lambda: f"GRANT SELECT ({names(300_000, 'a')}) ON w TO root@localhost"]
    yield "many values of an enum twice", [lambda: "CREATE TABLE wide15 (a ENUM(" + names(65_000, "'{n}'") + "))", "DROP TABLE wide15"]
    yield "many members of a set", [lambda: "CREATE TABLE wide16 (a SET(" + names(300_000, "'{n}'") + "))"]
    yield "many hints", [lambda: f"SELECT * FROM t USE INDEX ({names(300_000, 'a{n}')})"]
    yield "many rows of texts", [lambda: "INSERT INTO w (a) VALUES " + names(300_000, "('{n}'), (NULL)")]
    yield "many dynamic columns", [lambda: "SELECT LENGTH(COLUMN_CREATE(" + names(60_000, "'a{n}', {n}") + "))"]
    yield "many members of an object", [lambda: "SELECT LENGTH(JSON_OBJECT(" + names(200_000, "'a{n}', {n}") + "))"]
    yield "many merges of objects", [lambda: "SET @j = JSON_OBJECT(" + names(50_000, "'a{n}', {n}") + ")", "SELECT LENGTH(JSON_MERGE_PATCH(@j, @j)), LENGTH(JSON_MERGE_PRESERVE(@j, @j))"]
    yield "many paths", [lambda: "SELECT LENGTH(JSON_SET('{}', " + names(20_000, "'$.a{n}', {n}") + "))"]
    yield "many members sorted", ["SET @j = (SELECT JSON_OBJECTAGG(CONCAT(id, '-', k), v) FROM t)", "SELECT LENGTH(JSON_NORMALIZE(@j)), JSON_EQUALS(@j, @j), JSON_OVERLAPS(@j, @j), JSON_CONTAINS(@j, @j)"]


def kept() -> Iterable[tuple[str, list]]:
    yield "many user variables", [f"SET @v{n} = {M[:-1]} - 100)" for n in range(200)]
    yield "many small user variables", [lambda: "SELECT " + ",".join(f"@v{n} := {n}" for n in range(4_000)), lambda: "SELECT " + ",".join(f"@v{n} := REPEAT('a', 100000)" for n in range(4_000))]
    yield "many prepared statements", [f"PREPARE p{n} FROM 'SELECT {numbers(2_000)}'" for n in range(400)]
    yield "prepared with long texts", ["SET @s = CONCAT('SELECT LENGTH(\\'', REPEAT('a', 8000000), '\\')')", *[f"PREPARE p{n} FROM @s" for n in range(100)]]
    yield "a long transaction", ["BEGIN", *[f"INSERT INTO w (a, b) VALUES ({H}, {H})"] * 30, "ROLLBACK"]
    yield "a variable that grows", ["SET @g = ''", "SELECT COUNT(@g := CONCAT(@g, v, v, v, v)) FROM t", f"SELECT LENGTH(MAX(@g := CONCAT(@g, @g, a.v))) FROM t a, t b"]
    yield "a small session", ["SET max_session_mem_used = 8192", f"SELECT LENGTH(CONCAT({H}, {H}))", "SELECT COUNT(DISTINCT v, id) FROM t"]
    yield "large buffers", ["SET sort_buffer_size = 18446744073709551615", "SET join_buffer_size = 18446744073709551615",
                            "SET tmp_table_size = 18446744073709551615", "SET max_heap_table_size = 18446744073709551615",
                            "SELECT a.v, b.v, b.id FROM t a, t b ORDER BY b.id, a.v"]  # fmt: skip
    yield "large buffers for groups", ["SET tmp_table_size = 18446744073709551615", "SET max_heap_table_size = 18446744073709551615",
                                       "SELECT COUNT(*) FROM (SELECT a.id x, b.id y, a.v FROM t a, t b GROUP BY a.id, b.id, a.v) g"]  # fmt: skip
    yield "large buffers for recursion", ["SET tmp_table_size = 18446744073709551615", "SET max_heap_table_size = 18446744073709551615",
                                          "SET max_recursive_iterations = 4294967295",
                                          "WITH RECURSIVE r AS (SELECT 1 n UNION SELECT n + 1 FROM r) SELECT COUNT(*) FROM r"]  # fmt: skip
    yield "many locks by name", [lambda: "SELECT " + ",".join(f"GET_LOCK('l{n}', 0)" for n in range(4_000))]
    yield "load data without line ends", ["LOAD DATA INFILE '/dev/zero' INTO TABLE w (a)"]


NUMBERS = itertools.count()


def program(body: str) -> list[str]:
    """A procedure of the entry's own, called."""
    name = f"hostile_{next(NUMBERS)}"
    return [f"CREATE OR REPLACE PROCEDURE {name}() {body}", f"CALL {name}()"]


def programs() -> Iterable[tuple[str, list]]:
    yield "a program that doubles its variable", program("BEGIN DECLARE x LONGTEXT DEFAULT 'ab'; LOOP SET x = CONCAT(x, x); END LOOP; END")
    yield "a program that doubles a user variable", ["SET @pd = 'ab'", *program("BEGIN LOOP SET @pd = CONCAT(@pd, IF(LENGTH(@pd) < 16000000, @pd, '')); END LOOP; END")]
    yield "a program of many variables", program("BEGIN " + "".join(f"DECLARE v{n} LONGTEXT DEFAULT {H}; " for n in range(300)) + "SELECT LENGTH(v1); END")
    yield "a program of a million statements", [lambda: "CREATE OR REPLACE PROCEDURE hostile2() BEGIN " + many(400_000, "SET @a = 1;", " ") + " END", "CALL hostile2()"]
    yield "a program of nested blocks", [lambda: "CREATE OR REPLACE PROCEDURE hostile3() " + "BEGIN " * 100_000 + "END; " * 100_000]
    yield "a program of nested loops", [lambda: "CREATE OR REPLACE PROCEDURE hostile4() BEGIN " + "IF 1 THEN " * 50_000 + "SET @a = 1;" + " END IF;" * 50_000 + " END", "CALL hostile4()"]
    yield "a program of a long condition", [lambda: "CREATE OR REPLACE PROCEDURE hostile5() BEGIN IF " + many(500_000, "1 = 1", " AND ") + " THEN SET @a = 1; END IF; END", "CALL hostile5()"]
    yield "a program that calls itself", ["SET max_sp_recursion_depth = 255", "CREATE OR REPLACE PROCEDURE deep(n INT) BEGIN DECLARE x LONGTEXT DEFAULT REPEAT('a', 8000000); CALL deep(n + 1); END", "CALL deep(1)"]
    yield "programs that call each other", ["SET max_sp_recursion_depth = 255", "CREATE OR REPLACE PROCEDURE ping(n INT) CALL pong(n + 1)",
                                            "CREATE OR REPLACE PROCEDURE pong(n INT) BEGIN DECLARE y LONGTEXT DEFAULT REPEAT('b', 8000000); CALL ping(n + 1); END", "CALL ping(1)"]  # fmt: skip
    yield "a function that calls itself", ["CREATE OR REPLACE FUNCTION again(n INT) RETURNS INT RETURN again(n + 1)", "SELECT again(1)"]
    yield "a function without an end in each row", ["CREATE OR REPLACE FUNCTION endless(n INT) RETURNS INT BEGIN LOOP SET n = n + 1; IF n < 0 THEN RETURN n; END IF; END LOOP; END", "SELECT SUM(endless(id)) FROM t"]
    yield "a function that returns much", ["CREATE OR REPLACE FUNCTION much(n INT) RETURNS LONGTEXT RETURN REPEAT('a', n)", f"SELECT LENGTH(CONCAT_WS(',', {many(200, 'much(16000000)')}))", "SELECT GROUP_CONCAT(much(100000 + id)) FROM t"]
    yield "a function that keeps much", ["CREATE OR REPLACE FUNCTION keeps(n INT) RETURNS INT BEGIN DECLARE a, b, c, d LONGTEXT DEFAULT REPEAT('a', 8000000); RETURN n; END", "SELECT SUM(keeps(id)) FROM t"]
    yield "an aggregate of long texts", ["CREATE OR REPLACE AGGREGATE FUNCTION joined(x LONGTEXT) RETURNS LONGTEXT BEGIN DECLARE all_of LONGTEXT DEFAULT ''; DECLARE CONTINUE HANDLER FOR NOT FOUND RETURN all_of; LOOP FETCH GROUP NEXT ROW; SET all_of = CONCAT(all_of, x, x); END LOOP; END", "SELECT LENGTH(joined(REPEAT(v, 1000))) FROM t", "SELECT k, LENGTH(joined(REPEAT(v, 100))) FROM t GROUP BY k"]
    yield "a handler that fails and goes on", program("BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; LOOP SIGNAL SQLSTATE '45000'; END LOOP; END")
    yield "messages that are long", program(f"BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION BEGIN END; DECLARE x LONGTEXT DEFAULT {H}; LOOP SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = x; END LOOP; END")
    yield "warnings in a program without an end", program("BEGIN DECLARE i INT; LOOP SET i = 'a' + 1; SIGNAL SQLSTATE '01000'; END LOOP; END")
    yield "many cursors", program("BEGIN " + "".join(f"DECLARE c{n} CURSOR FOR SELECT a.v, b.v FROM t a, t b; " for n in range(100)) + "".join(f"OPEN c{n}; " for n in range(100)) + "END")
    yield "a cursor over long rows", program("BEGIN DECLARE n INT DEFAULT 0; DECLARE x LONGTEXT; DECLARE c CURSOR FOR SELECT REPEAT(v, 100000) FROM t; OPEN c; LOOP FETCH c INTO x; END LOOP; END")
    yield "a cursor that opens in a loop", program("BEGIN LOOP BEGIN DECLARE c CURSOR FOR SELECT a.v FROM t a, t b; OPEN c; END; END LOOP; END")
    yield "dynamic statements in a loop", program(f"BEGIN DECLARE n INT DEFAULT 0; LOOP SET n = n + 1; EXECUTE IMMEDIATE CONCAT('PREPARE dyn', n, ' FROM ', QUOTE(CONCAT('SELECT ', REPEAT('1,', 100000), '1'))); END LOOP; END")
    yield "results without an end", program("BEGIN LOOP SELECT v, v, v FROM t; END LOOP; END")
    yield "arguments that are long", ["CREATE OR REPLACE PROCEDURE taking(" + ",".join(f"a{n} LONGTEXT" for n in range(200)) + ") SELECT LENGTH(a1)", f"CALL taking({many(200, H)})"]
    yield "out parameters that are long", ["CREATE OR REPLACE PROCEDURE giving(" + ",".join(f"OUT a{n} LONGTEXT" for n in range(100)) + ") BEGIN " + "".join(f"SET a{n} = {M}; " for n in range(100)) + "END", "CALL giving(" + ",".join(f"@o{n}" for n in range(100)) + ")"]
    yield "a trigger that fills another table", ["CREATE OR REPLACE TABLE tr1 (a INT)", f"CREATE OR REPLACE TRIGGER tr1_t AFTER INSERT ON tr1 FOR EACH ROW INSERT INTO w (a, b, c) SELECT {H}, {H}, NEW.a FROM t", "INSERT INTO tr1 VALUES (1)", "DROP TABLE tr1"]
    yield "a trigger without an end", ["CREATE OR REPLACE TABLE tr2 (a LONGTEXT)", "CREATE OR REPLACE TRIGGER tr2_t BEFORE INSERT ON tr2 FOR EACH ROW BEGIN LOOP SET NEW.a = CONCAT(NEW.a, NEW.a); END LOOP; END", "INSERT INTO tr2 SELECT v FROM t", "DROP TABLE tr2"]
    yield "many triggers of one table", ["CREATE OR REPLACE TABLE tr3 (a INT)", *[f"CREATE TRIGGER tr3_{n} BEFORE INSERT ON tr3 FOR EACH ROW SET @t{n} = {H}" for n in range(100)], "INSERT INTO tr3 VALUES (1)", "DROP TABLE tr3"]
    yield "a package of much", [lambda: "CREATE OR REPLACE PROCEDURE texts() SELECT '" + "a" * 15_000_000 + "'", *["CALL texts()"] * 30, "SHOW CREATE PROCEDURE texts"]


def deep_trees() -> Iterable[tuple[str, list]]:
    """Trees that want a stack."""
    def chains(depth: int, length: int) -> str:
        return "SELECT " + "(" * depth + "1" + (")" + " + 1" * length) * depth

    yield "IF 590 deep", [f"SELECT LENGTH({nested('IF', 590, 'k', ', 1, 2')}) FROM t"]
    yield "parentheses 1,290 deep", [f"SELECT LENGTH({'(' * 1290}k{')' * 1290}) FROM t"]
    yield "alternatives 1,290 long", [f"SELECT {many(1290, 'k = 1', ' OR ')} FROM t"]
    yield "chains in chains", [lambda: chains(300, 900), lambda: chains(190, 3), lambda: chains(1, 590)]
    yield "functions that call each other", [
        "CREATE OR REPLACE FUNCTION cf0() RETURNS INT RETURN 1",
        *[f"CREATE OR REPLACE FUNCTION cf{n}() RETURNS INT RETURN {nested('IFNULL', 590, f'cf{n - 1}()', ', 1')}" for n in range(1, 400)],
        "SELECT cf399()",
    ]
    yield "views of deep expressions", [
        "CREATE OR REPLACE VIEW dv0 AS SELECT k FROM t",
        *[f"CREATE OR REPLACE VIEW dv{n} AS SELECT {nested('IFNULL', 590, 'k', ', 1')} AS k FROM dv{n - 1}" for n in range(1, 61)],
        "SELECT SUM(k) FROM dv60 WHERE k > 1",
    ]


def others() -> Iterable[tuple[str, list]]:
    yield "windows of huge frames", ["SELECT SUM(a.k) OVER (ORDER BY a.id ROWS BETWEEN 4000000000 PRECEDING AND 4000000000 FOLLOWING) FROM t a, t b"]
    yield "a window of long texts", ["SELECT LENGTH(FIRST_VALUE(REPEAT(v, 10000)) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)) FROM t"]
    yield "last_value over growing frames", ["SELECT MAX(LENGTH(x)) FROM (SELECT LAST_VALUE(REPEAT(v, 5000)) OVER (ORDER BY k, id ROWS 3000 PRECEDING) x FROM t) d"]
    yield "group_concat as a window", ["SET group_concat_max_len = 4294967295", "SELECT LENGTH(GROUP_CONCAT(v) OVER (ORDER BY id)) FROM t", "SELECT MAX(LENGTH(x)) FROM (SELECT GROUP_CONCAT(a.v) OVER (PARTITION BY a.k) x FROM t a, t b) d"]
    yield "json_arrayagg as a window", ["SELECT LENGTH(JSON_ARRAYAGG(v) OVER (ORDER BY id)) FROM t"]
    yield "a hundred windows of a join", [lambda: "SELECT " + ",".join(f"RANK() OVER (PARTITION BY a.k, b.k + {n} ORDER BY a.v, b.v DESC)" for n in range(100)) + " FROM t a, t b"]
    yield "ntile and percentiles of a join", ["SELECT NTILE(1000000000) OVER (ORDER BY a.v, b.v), PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY a.id + b.id) OVER (PARTITION BY a.k) FROM t a, t b"]
    yield "lead of long defaults", [f"SELECT LENGTH(LEAD(v, 8000000, {H}) OVER (ORDER BY id)) FROM t"]
    yield "conversions 60 deep", [f"SELECT LENGTH({many(30, 'CONVERT(CONVERT(', '')}{H}{many(30, ' USING latin1) USING utf8mb4)', '')})"]
    yield "conversions of a wide text", ["SELECT LENGTH(CONVERT(CONVERT(REPEAT('ä', 8000000) USING latin1) USING utf8mb4))", f"SELECT LENGTH(CONCAT_WS(',', {many(100, 'CONVERT(REPEAT(' + chr(39) + 'ä' + chr(39) + ', 8000000) USING latin1)')}))"]
    yield "conversions of each row", ["SELECT SUM(LENGTH(CONVERT(REPEAT(a.v, 10000) USING latin1))), COUNT(DISTINCT CONVERT(REPEAT(a.v, 1000) USING utf8mb3)) FROM t a, t b"]
    yield "sformat of much", [f"SELECT LENGTH(SFORMAT('{many(50, '{}', '')}', {many(50, H)}))", "SELECT SFORMAT('{:>{}}', 'a', 2147483647)", "SELECT SFORMAT('{0:1000000000}{0:1000000000}', 'a')"]
    yield "views 200 deep", ["CREATE OR REPLACE VIEW n0 AS SELECT v FROM t", *[f"CREATE OR REPLACE VIEW n{n} AS SELECT CONCAT(v, v) v FROM n{n - 1}" for n in range(1, 60)], "SELECT LENGTH(v) FROM n59"]
    yield "views that double", ["CREATE OR REPLACE VIEW d0 AS SELECT id FROM t", *[f"CREATE OR REPLACE VIEW d{n} AS SELECT a.id FROM d{n - 1} a, d{n - 1} b" for n in range(1, 12)], "SELECT COUNT(*) FROM d11"]
    yield "a view of a union of many", [lambda: "CREATE OR REPLACE VIEW un AS " + many(2_000, "SELECT v FROM t", " UNION ALL "), "SELECT COUNT(DISTINCT v) FROM un", "SELECT a.v FROM un a, un b ORDER BY 1"]
    yield "65,000 parameters", [lambda: f"PREPARE pp FROM 'SELECT {many(65_000, '?')}'", lambda: "EXECUTE pp USING " + many(65_000, "REPEAT(1, 100000)")]
    yield "more parameters than there are", [lambda: f"PREPARE pp FROM 'SELECT {many(2_000_000, '?')}'"]
    yield "load data of long fields", ["LOAD DATA INFILE '/dev/zero' INTO TABLE w FIELDS TERMINATED BY 'never' LINES TERMINATED BY 'too' (a, b, c)", "LOAD DATA INFILE '/dev/zero' INTO TABLE w LINES STARTING BY 'x' TERMINATED BY 'y' (@a) SET a = CONCAT(@a, @a)"]
    yield "load xml without an end", ["LOAD XML INFILE '/dev/zero' INTO TABLE w"]
    yield "prepared statements by the thousand", [f"PREPARE q{n} FROM 'SELECT COUNT(*) FROM t a JOIN t b USING (id) WHERE a.v LIKE ? AND b.k IN ({numbers(50)})'" for n in range(3_000)]
    yield "prepared again and again", [*["PREPARE again FROM 'SELECT * FROM t ORDER BY v'", "EXECUTE again"] * 30, "DEALLOCATE PREPARE again"]
    yield "user variables in a join", ["SET @s = ''", "SELECT COUNT(@s := CONCAT(@s, a.v, b.v)) FROM t a, t b", "SELECT LENGTH(@s)"]
    yield "user variables of long names", [lambda: "SET " + ",".join(f"@`{'n' * 60}{n}` = {n}" for n in range(200_000))]
    yield "sequences by the thousand", [*[f"CREATE OR REPLACE SEQUENCE sq{n}" for n in range(300)], lambda: "SELECT " + ",".join(f"NEXTVAL(sq{n % 300})" for n in range(50_000)), "SELECT SUM(NEXTVAL(sq1)) FROM t a, t b"]
    yield "xml of much", [f"SELECT LENGTH(EXTRACTVALUE(CONCAT('<a>', REPEAT('<b>x</b>', 1000000), '</a>'), '//b'))", "SELECT LENGTH(EXTRACTVALUE(CONCAT(REPEAT('<a>', 1000000), REPEAT('</a>', 1000000)), '//a'))", f"SELECT LENGTH(UPDATEXML(CONCAT('<a>', REPEAT('<b/>', 1000000), '</a>'), '//b', {H}))"]
    yield "xpath of much", [lambda: "SELECT EXTRACTVALUE('<a><b>1</b></a>', '" + "/a" * 1_000_000 + "')", lambda: "SELECT EXTRACTVALUE('<a><b>1</b></a>', '" + "(" * 1_000_000 + "1" + ")" * 1_000_000 + "')"]
    yield "handler of long rows", ["HANDLER w OPEN", "HANDLER w READ FIRST LIMIT 1000000", "HANDLER w CLOSE", *[f"HANDLER t OPEN AS h{n}" for n in range(2_000)], "HANDLER h1 READ FIRST LIMIT 100000000"]
    yield "returning much", [f"INSERT INTO w (a) SELECT {H} FROM t LIMIT 40 RETURNING a, a, CONCAT(a, a)", "DELETE FROM w RETURNING *"]
    yield "json_table of much", [f"SELECT COUNT(*) FROM JSON_TABLE(CONCAT('[', REPEAT('1,', 7000000), '1]'), '$[*]' COLUMNS (a INT PATH '$', b LONGTEXT PATH '$')) j, t", "SELECT COUNT(DISTINCT j.b) FROM t, JSON_TABLE(CONCAT('[', REPEAT(CONCAT('\"', v, '\",'), 10000), '1]'), '$[*]' COLUMNS (b LONGTEXT PATH '$', NESTED PATH '$' COLUMNS (c TEXT PATH '$'))) j"]
    yield "natural sort keys of much", [f"SELECT LENGTH(NATURAL_SORT_KEY(REPEAT('1a', 8000000)))", "SELECT NATURAL_SORT_KEY(REPEAT(a.v, 1000)) FROM t a, t b ORDER BY 1"]
    yield "values without an end", [lambda: "VALUES " + many(1_500_000, "(1,'a',3)"), "WITH v(a) AS (VALUES (1), (2)) SELECT COUNT(*) FROM " + ", ".join(f"v v{n}" for n in range(40))]
    yield "with recursive of long rows", ["WITH RECURSIVE r AS (SELECT 1 n, CAST('a' AS CHAR(16000000)) v UNION ALL SELECT n + 1, CONCAT(v, v) FROM r) SELECT MAX(LENGTH(v)) FROM r", "WITH RECURSIVE r AS (SELECT 1 n, CAST(REPEAT('a', 1000000) AS CHAR(16000000)) v UNION SELECT n + 1, CONCAT(n, v) FROM r) SELECT COUNT(*) FROM r"]
    yield "an intersection of joins", ["SELECT a.v, b.id FROM t a, t b INTERSECT ALL SELECT a.v, b.id FROM t b, t a EXCEPT ALL SELECT v, id FROM t"]
    yield "one expression of thousands of long variables", [f"SET @x = {M[:-1]} - 100)", lambda: "SELECT 9 IN (" + many(5_000, "SHA2(@x, 512)") + ")", lambda: "SELECT CONCAT_WS('', " + many(5_000, "@x") + ")", lambda: "SELECT GREATEST(" + many(5_000, "@x") + ")"]
    yield "updates of long values", [f"INSERT INTO w (a) SELECT {H} FROM t LIMIT 20", *["UPDATE w SET a = CONCAT(a, 'b'), b = a, c = REVERSE(a)"] * 3, "DELETE FROM w"]
    yield "savepoints of long values", ["BEGIN", *[f"SAVEPOINT s{n}" for n in range(2_000)], *[f"INSERT INTO w (a) VALUES ({H})", "SAVEPOINT long_one"] * 20, "ROLLBACK"]
    yield "alter table of long rows", [f"CREATE OR REPLACE TABLE al AS SELECT id, REPEAT(v, 20) v FROM t", "ALTER TABLE al ADD COLUMN x LONGTEXT AS (REPEAT(v, 100)) STORED, ADD KEY (v(200))", "DROP TABLE IF EXISTS al"]


def statements() -> list[tuple[str, list]]:
    """All: names and the statements of a session, texts or functions that make them."""
    groups = (the_four, nested_functions, one_function, json, aggregates, rows, recursion, texts, wide, kept, programs, deep_trees, others)
    found = [entry for group in groups for entry in group()]
    names = [name for name, _ in found]
    assert len(set(names)) == len(names), [n for n in names if names.count(n) > 1]
    return found
