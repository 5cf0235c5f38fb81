"""Every column type with its edge values through a real MariaDB replica: under each row image, with a primary key, a
unique key and none, at the default character set of another server, and rows as large as packets."""

from __future__ import annotations

import pytest

from conftest import STAND_IN
from support import Client

IMAGES = ["FULL", "NOBLOB", "MINIMAL"] if STAND_IN else ["FULL", "NOBLOB", "MINIMAL", "FULL_NODUP"]
KEYS = {"pk": ", PRIMARY KEY (id)", "uk": ", UNIQUE KEY (id)", "none": ""}


def integers(name: str, bits: int) -> dict[str, list[str]]:
    top = 1 << bits - 1
    return {
        name: [str(v) for v in (-top, top - 1, 0, -1, 1, -2, 255 % top)],
        f"{name} UNSIGNED": [str(v) for v in (2 * top - 1, 0, top, top - 1, 1)],
    }


def text(*values: str) -> list[str]:
    return [f"'{v}'" for v in values]


# Type: its values as literals; NULL is added to all.
TYPES: dict[str, list[str]] = {}
for _name, _bits in (("TINYINT", 8), ("SMALLINT", 16), ("MEDIUMINT", 24), ("INT", 32), ("BIGINT", 64)):
    TYPES |= integers(_name, _bits)
TYPES |= {
    "BOOLEAN": ["TRUE", "FALSE"],
    "FLOAT": ["0", "-0.0", "1.5", "3.402823e38", "-3.402823e38", "1.17549e-38", "0.1"],
    "FLOAT UNSIGNED": ["0", "3.402823e38", "0.25"],
    "DOUBLE": ["0", "-0.0", "1.7976931348623157e308", "-1.7976931348623157e308", "2.2250738585072014e-308", "0.1", "5e-324"],
    "DECIMAL(1,0)": ["0", "9", "-9"],
    "DECIMAL(10,10)": ["0", "0.9999999999", "-0.9999999999", "0.0000000001", "-0.0000000001"],
    "DECIMAL(9,0)": ["999999999", "-999999999", "-1", "0"],
    "DECIMAL(20,6)": ["-12345678901234.567891", "99999999999999.999999", "0.000001", "-0.000001"],
    "DECIMAL(65,0)": ["9" * 65, "-" + "9" * 65, "0", "-1"],
    "DECIMAL(65,30)": [f"{'9' * 35}.{'9' * 30}", f"-{'9' * 35}.{'9' * 30}", f"-0.{'0' * 29}1"],
    "DECIMAL(18,9) UNSIGNED": ["999999999.999999999", "0", "0.000000001"],
    "YEAR": ["1901", "2155", "0", "2024"],
    "DATE": text("0000-00-00", "0001-01-01", "9999-12-31", "2024-02-29", "2024-00-00", "1000-01-01"),
    "CHAR(0)": text(""),
    "CHAR(1)": text("", "a", "🐎"),
    "CHAR(10)": text("", "abc", "abc   ", "   abc", "ÄÖÜäöüß€xy", "🐎" * 10),
    "CHAR(63)": text("", "é" * 63),
    "CHAR(64)": text("", "x" * 64, "🐎" * 64),
    "CHAR(255)": text("", "x" * 255, "🐎" * 255),
    "CHAR(10) COLLATE utf8mb4_bin": text("", "Abc ", "aBC"),
    "VARCHAR(1)": text("", " ", "x", "🐎"),
    "VARCHAR(63)": text("", "trailing  ", "é" * 63),
    "VARCHAR(64)": text("", "trailing  ", "🐎" * 64),
    "VARCHAR(255)": text("", "x" * 255, "🐎" * 255),
    "VARCHAR(256)": text("", "x" * 256, " " * 256),
    "VARCHAR(1000) COLLATE utf8mb4_bin": text("", "x" * 255, "y" * 256, "z" * 1000, "tab\\tnew\\nline\\0nul\\Z\\\\ \\'q\\' \"d\""),
    "BINARY(1)": ["X'00'", "X'FF'", "X'20'"],
    "BINARY(5)": ["X'00FF00'", "X'0000000000'", "X'6100620000'", "X'2020202020'", "''"],
    "BINARY(255)": ["REPEAT(X'00', 255)", "REPEAT(X'FF', 255)", "X'01'"],
    "VARBINARY(20)": ["''", "X'00'", "X'610000'", "X'2020'", "REPEAT(X'FF', 20)"],
    "VARBINARY(255)": ["REPEAT(X'00', 255)", "''"],
    "VARBINARY(256)": ["REPEAT(X'00', 256)", "''", "X'FFFE'"],
    "ENUM('a','é','','x y')": text("a", "é", "", "x y") + ["1", "4"],
    f"ENUM({', '.join(repr(f'm{i}') for i in range(300))})": text("m0", "m255", "m299") + ["256", "1"],
    "SET('a','b','ü')": text("", "a", "a,b", "a,b,ü", "ü") + ["5"],
    f"SET({', '.join(repr(f's{i}') for i in range(17))})": text("s0,s16", "", "s7,s8") + ["131071"],
    f"SET({', '.join(repr(f's{i}') for i in range(64))})": text("s0,s63", "s32") + ["18446744073709551615"],
    "UUID": text("123e4567-e89b-12d3-a456-426655440000", "00000000-0000-0000-0000-000000000000", "018f0000-0000-7000-8000-00000000ff00"),
    "INET4": text("0.0.0.0", "1.2.3.0", "255.255.255.255"),
    "INET6": text("::", "::1", "fe80::", "::ffff:1.2.3.4"),
    "BIT": ["b'0'", "b'1'"],
    "BIT(7)": ["0", "127", "b'1010101'"],
    "BIT(8)": ["0", "255", "x'80'"],
    "BIT(33)": ["0", "8589934591", "4294967296"],
    "BIT(64)": ["0", "18446744073709551615", "1", "x'8000000000000001'"],
    "CHAR(10) CHARACTER SET latin1": text("", "é€ÿ", "abc  ", "ß" * 10),
    "VARCHAR(20) CHARACTER SET latin1": text("", "é€ÿ", "plain", "Åse "),
    "VARCHAR(300) CHARACTER SET latin1 COLLATE latin1_bin": text("", "é" * 300, "x"),
    "TEXT CHARACTER SET latin1 COLLATE latin1_general_ci": text("", "naïve", "‰" * 300),
    "ENUM('é','ü') CHARACTER SET latin1": text("é", "ü"),
    "VARCHAR(20) CHARACTER SET ascii": text("", "abc"),
    "CHAR(64) CHARACTER SET utf8mb3": text("", "é日", "日" * 64),
    "VARCHAR(85) CHARACTER SET utf8mb3 COLLATE utf8mb3_bin": text("", "日" * 85),
    "VARCHAR(20) COLLATE utf8mb4_nopad_bin": text("", "a ", "🐎"),
    "TINYTEXT": text("", "x" * 255, "€" * 85),
    "TEXT": ["''", "REPEAT('x', 255)", "REPEAT('y', 256)", "REPEAT('z', 65535)", "REPEAT('🐎', 16383)"],
    "MEDIUMTEXT": ["''", "REPEAT('m', 65536)", "' '"],
    "LONGTEXT": ["''", "REPEAT('l', 65537)", "'\\r\\n'"],
    "TINYBLOB": ["''", "REPEAT(X'00', 255)", "X'FF'"],
    "BLOB": ["''", "REPEAT(X'00', 256)", "REPEAT(X'01', 65535)"],
    "MEDIUMBLOB": ["''", "REPEAT(X'00', 65536)"],
    "LONGBLOB": ["''", "REPEAT(X'C3', 65537)"],
}  # fmt: skip
for _f in range(7):
    _p = f"({_f})" if _f else ""
    _digits = "." + "123456"[:_f] if _f else ""
    _nines = "." + "9" * _f if _f else ""
    _least = "." + "0" * (_f - 1) + "1" if _f else ""
    TYPES |= {
        f"TIME{_p}": text("00:00:00", f"-838:59:59{_nines}", f"838:59:59{_nines}", f"-00:00:00{_least}", f"-00:00:01{_digits}",
                          f"-01:02:03{_digits}", f"12:34:56{_digits}", f"-23:59:59{_nines}"),
        f"DATETIME{_p}": text("0000-00-00 00:00:00", "1000-01-01 00:00:00", f"9999-12-31 23:59:59{_nines}", f"0001-01-01 00:00:00{_least}",
                              f"2024-02-29 12:34:56{_digits}", "2024-00-00 00:00:00"),
        f"TIMESTAMP{_p} NULL": text("0000-00-00 00:00:00", f"1970-01-01 00:00:01{_least}", f"2038-01-19 03:14:07{_nines}", f"2024-06-01 12:00:00{_digits}"),
    }  # fmt: skip
COLUMNS = list(TYPES.items())
ROWS = max(len(values) for values in TYPES.values()) + 1


def row(i: int, shift: int = 0) -> list[str]:
    """The literals of row i: every column goes through its values and NULL."""
    return [[*values, "NULL"][(i + shift + n) % (len(values) + 1)] for n, (_, values) in enumerate(COLUMNS)]


def edge_values(client: Client, table: str, key: str) -> None:
    columns = ", ".join(f"c{n} {kind}" for n, (kind, _) in enumerate(COLUMNS))
    client.ok(f"CREATE TABLE {table} (id INT NOT NULL, {columns}{KEYS[key]})")
    for i in range(ROWS):
        client.ok(f"INSERT INTO {table} VALUES ({i}, {', '.join(row(i))})")
    # All columns at once, then each alone; under MINIMAL only that one is sent.
    for i in range(ROWS):
        client.ok(f"UPDATE {table} SET {', '.join(f'c{n} = {v}' for n, v in enumerate(row(i, 1)))} WHERE id = {i}")
    client.ok("BEGIN")
    for n, v in enumerate(row(3, 5)):
        client.ok(f"UPDATE {table} SET c{n} = {v} WHERE id = {n % ROWS}")
    client.ok("COMMIT")
    client.ok(f"UPDATE {table} SET c0 = NULL, c1 = 7")
    client.ok(f"DELETE FROM {table} WHERE id IN (0, {ROWS - 1})")
    client.ok(f"INSERT INTO {table} (id) VALUES (100), (101)")
    client.ok(f"UPDATE {table} SET id = id + 1000 WHERE id > 4")
    client.ok(f"DELETE FROM {table} WHERE id = 1100")


@pytest.mark.parametrize("image", IMAGES)
def test_edge_values_of_every_type(followed, image):
    primary, replica = followed
    with Client(primary) as client:
        name = f"types_{image.lower()}"
        client.ok(f"CREATE DATABASE {name} CHARACTER SET utf8mb4")
        client.ok(f"USE {name}")
        client.ok("SET sql_mode = ''")
        client.ok("SET time_zone = '+00:00'")
        client.ok(f"SET binlog_row_image = {image}")
        for key in KEYS:
            edge_values(client, f"t_{key}", key)
    found = replica.same(primary.port, databases={name})
    assert found.tables == len(KEYS) and found.rows == len(KEYS) * (ROWS - 1)


def test_longest_columns(followed):
    """VARCHAR and VARBINARY at the limit of a row, whose lengths have two bytes."""
    primary, replica = followed
    with Client(primary) as client:
        client.ok("CREATE DATABASE longest CHARACTER SET utf8mb4")
        client.ok("USE longest")
        for name, kind, size, letter in (("c", "VARCHAR(16382)", 16382, "'🐎'"), ("b", "VARBINARY(65528)", 65528, "X'00'")):
            client.ok(f"CREATE TABLE {name} (id INT NOT NULL PRIMARY KEY, v {kind})")
            for i, n in enumerate((0, 1, 255, 256, size - 1, size)):
                client.ok(f"INSERT INTO {name} VALUES ({i}, REPEAT({letter}, {n}))")
            client.ok(f"UPDATE {name} SET v = CONCAT(v, '  ') WHERE id < 4")
    assert replica.same(primary.port, databases={"longest"}).rows == 12


@pytest.mark.parametrize("image", ["FULL", "MINIMAL"])
def test_rows_longer_than_a_packet(followed, image):
    """Events of 16 MiB and more are sent in several packets; the sizes around the limit are the interesting ones."""
    primary, replica = followed
    limit = 0xFFFFFF
    with Client(primary, max_allowed_packet=64 << 20) as client:
        name = f"packets_{image.lower()}"
        client.ok(f"CREATE DATABASE {name}")
        client.ok(f"USE {name}")
        client.ok(f"SET binlog_row_image = {image}, binlog_annotate_row_events = OFF")
        client.ok("CREATE TABLE t (id INT NOT NULL PRIMARY KEY, n INT, v LONGBLOB)")
        # An event is 19 + 10 + 1 + 1 (bitmap, nulls) + 4 + 4 (id, n) + 4 + v + 4 bytes, a packet one more.
        head = 19 + 8 + 1 + 1 + 1 + 4 + 4 + 4 + 4 + 1
        for i, size in enumerate((limit - head - 1, limit - head, limit - head + 1, 17 << 20)):
            client.ok(f"INSERT INTO t VALUES ({i}, 0, REPEAT(X'{i + 65:02x}', {size}))")
        client.ok("UPDATE t SET n = 1 WHERE id = 3")
        client.ok("UPDATE t SET v = CONCAT(v, X'00') WHERE id = 2")
        client.ok("DELETE FROM t WHERE id = 0")
    assert replica.same(primary.port, databases={name}).rows == 3
    with Client(primary) as client:
        client.ok(f"DROP DATABASE {name}")
    replica.catch_up(primary.port)
