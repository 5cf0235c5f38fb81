"""What a value, a session and temporary files may have: as MariaDB has it, where it has it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from conftest import STAND_IN  # noqa: E402
from testbed.wire import Connection, SqlError  # noqa: E402

BIG = "REPEAT('a', 4000)"

# Texts around a max_allowed_packet of 4096.
VALUES = [
    "REPEAT('ab', 2048)", "REPEAT('ab', 2049)", "REPEAT('a', 9223372036854775807)", "SPACE(4096)", "SPACE(4097)",
    "LPAD('a', 1024, 'b')", "LPAD('a', 1025, 'b')", "RPAD('a', 1024, 'é')", "RPAD('a', 5000, 'b')", "LPAD('abc', 2, 'b')",
    f"CONCAT({BIG}, REPEAT('b', 96))", f"CONCAT({BIG}, REPEAT('b', 97))", f"CONCAT_WS(',', {BIG}, {BIG})",
    "HEX(REPEAT('a', 2000))", f"HEX({BIG})", f"HEX(HEX(HEX({BIG})))", f"INSERT({BIG}, 1, 0, {BIG})", f"REPLACE({BIG}, 'a', 'bb')",
    f"EXPORT_SET(5, {BIG}, 'N')", f"WEIGHT_STRING({BIG})", "WEIGHT_STRING('ab' AS CHAR(5000))", "WEIGHT_STRING('ab' AS CHAR(1000))",
    f"TO_BASE64({BIG})", "QUOTE(REPEAT('\\'', 3000))", "CAST('a' AS CHAR(5000))", "CAST('a' AS BINARY(5000))",
    "CAST('a' AS BINARY(4096))", f"REVERSE({BIG})", "REVERSE('aéb')", "LOCATE('é', 'aébé', 3)", "INSERT('aébc', 2, 1, 'xy')",
    "ORD('é')", "LPAD('é', 5, 'äb')", "UPPER('aéß')", "SUBSTRING_INDEX('a,b,c', ',', -2)", "INSTR('xÉy', 'é')",
]  # fmt: skip


def outcome(c: Connection, value: str) -> tuple:
    rows = c.query(f"SELECT {value} IS NULL, LENGTH({value}), MD5({value})").rows
    told = {row[2] for row in c.query("SHOW WARNINGS").rows}
    return rows, told


def test_values_end_where_mariadbs_do(lab):
    servers = [lab.narwal(["--max-allowed-packet=4096"]), lab.mariadb(["--max-allowed-packet=4096"])]
    try:
        for value in VALUES:
            # A connection each: MariaDB keeps the warnings of statements before a SELECT without tables.
            ours, theirs = (outcome(Connection(s.port), value) for s in servers)
            assert ours == theirs, value
    finally:
        for s in servers:
            lab.remove(s)


def test_a_session_has_its_limit(narwal, mariadb):
    for server in (narwal, mariadb):
        c = Connection(server.port)
        c.query("SET max_session_mem_used = 10000000")
        product = "information_schema.COLLATIONS a, information_schema.COLLATIONS b, information_schema.COLLATIONS c"
        with pytest.raises(SqlError) as e:
            c.query("SET @a = REPEAT('a', 9000000)")
            c.query("SET @b = REPEAT('a', 9000000)")
            c.query(f"SELECT COUNT(DISTINCT a.COLLATION_NAME, b.ID, c.ID) FROM {product}")
        text = "The MariaDB server is running with the --max-session-mem-used=10000000 option so it cannot execute this statement"
        assert str(e.value) == f"1290 (HY000): {text}"
        c.query("SET @a = NULL, @b = NULL")
        assert c.query("SELECT COUNT(*) > 0 FROM information_schema.COLLATIONS").rows == [(1,)]
        c.close()


@pytest.mark.skipif(STAND_IN, reason="what only Narwal has")
def test_what_a_session_keeps_is_seen_and_comes_back(narwal):
    c, other = Connection(narwal.port), Connection(narwal.port)
    number = c.query("SELECT CONNECTION_ID()").rows[0][0]

    def used() -> int:
        return other.query(f"SELECT MEMORY_USED FROM information_schema.PROCESSLIST WHERE ID = {number}").rows[0][0]

    before = used()
    assert before < 100_000
    c.query("SET @a = REPEAT('a', 3000000)")
    assert 3_000_000 <= used() < 3_200_000
    assert int(c.query("SHOW SESSION STATUS LIKE 'Memory_used'").rows[0][1]) > 3_000_000
    c.query("SET @a = NULL")
    assert used() < 100_000
    c.query("PREPARE p FROM 'SELECT " + ",".join(map(str, range(2000))) + "'")
    assert used() > 200_000
    c.query("DEALLOCATE PREPARE p")
    assert used() < 100_000
    most = other.query(f"SELECT MAX_MEMORY_USED FROM information_schema.PROCESSLIST WHERE ID = {number}").rows[0][0]
    assert most >= 3_000_000


@pytest.mark.skipif(STAND_IN, reason="MariaDB has it from 11.5 on")
def test_temporary_files_have_a_limit(narwal):
    c = Connection(narwal.port)
    c.query("SET max_tmp_session_space_usage = 1048576")
    c.query("SET tmp_table_size = 16384")
    with pytest.raises(SqlError) as e:
        c.query("WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n FROM r UNION ALL SELECT n FROM r) SELECT COUNT(*) FROM r")
    assert str(e.value) == "201 (HY000): Local temporary space limit reached"
    # The files have gone with the statement.
    c.query("SET max_recursive_iterations = 14")
    recursive = "WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n FROM r UNION ALL SELECT n FROM r) SELECT COUNT(*) FROM r"
    for _ in range(5):
        assert c.query(recursive).rows == [(2**15 - 1,)]
