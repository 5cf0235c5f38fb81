"""Every character set and collation against MariaDB: names and ids, codes both ways, order, equality, rows of replicas.

NARWAL_SEED repeats one choice of strings."""

from __future__ import annotations

import os
import random

import pytest

SETS = [
    "big5", "dec8", "cp850", "hp8", "koi8r", "latin1", "latin2", "swe7", "ascii", "ujis", "sjis", "hebrew", "euckr", "koi8u", "gb2312", "greek",
    "cp1250", "gbk", "latin5", "armscii8", "utf8mb3", "ucs2", "cp866", "keybcs2", "macce", "macroman", "cp852", "latin7", "utf8mb4", "cp1251", "tis620",
    "utf16", "utf16le", "cp1256", "cp1257", "utf32", "geostd8", "cp932", "eucjpms",
]  # fmt: skip


def seeded() -> random.Random:
    seed = int(os.environ.get("NARWAL_SEED", random.SystemRandom().randrange(10**9)))
    print(f"seed {seed} (repeat with NARWAL_SEED={seed})")
    return random.Random(seed)


def same(both, sql: str) -> list:
    ours, theirs = (client.rows(sql) for client in both)
    wrong = [(a, b) for a, b in zip(ours, theirs, strict=False) if a != b]
    assert ours == theirs, f"{sql[:300]}: {len(ours)} and {len(theirs)} rows, {len(wrong)} differ, Narwal | MariaDB: {wrong[:3]}"
    return ours


def test_lists(both):
    same(both, "SELECT * FROM information_schema.CHARACTER_SETS WHERE CHARACTER_SET_NAME <> 'tis620' ORDER BY 1")
    missing = "NOT LIKE '%czech_cs'"
    same(both, f"SELECT * FROM information_schema.COLLATIONS WHERE COLLATION_NAME {missing} AND COLLATION_NAME NOT LIKE 'tis620%' ORDER BY 1")
    same(
        both,
        "SELECT * FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY"
        f" WHERE COLLATION_NAME {missing} AND COLLATION_NAME NOT LIKE 'tis620%' ORDER BY FULL_COLLATION_NAME",
    )


def codes(rng: random.Random, charset: str) -> list[str]:
    """Bytes in hexadecimal: all of one byte, many of two and some of three or four."""
    found = [f"{n:02x}" for n in range(256)]
    found += [f"{rng.randrange(0x8000, 0x10000):04x}" for _ in range(400)]
    if charset in ("ujis", "eucjpms"):
        found += [f"8f{rng.randrange(0xA1, 0xFF):02x}{rng.randrange(0xA1, 0xFF):02x}" for _ in range(200)]
    # No surrogates, and no bytes that are no text: what becomes of those is in docs/character-sets.md.
    plain = [rng.choice([rng.randrange(0, 0xD800), rng.randrange(0xE000, 0xFFFE)]) for _ in range(300)]
    forms = {"ucs2": "utf-16-be", "utf16": "utf-16-be", "utf16le": "utf-16-le", "utf32": "utf-32-be", "utf8mb3": "utf-8", "utf8mb4": "utf-8"}
    if charset in forms:
        found = [chr(n).encode(forms[charset]).hex() for n in plain]
    if charset == "ascii":
        found = [f"{n:02x}" for n in range(128)]
    return found


@pytest.mark.parametrize("charset", SETS)
def test_codes(both, charset):
    for client in both:
        client.ok("CREATE TABLE codes (id INT PRIMARY KEY, b VARBINARY(8))")
    chosen = codes(seeded(), charset)
    rows = ", ".join(f"({n}, x'{c}')" for n, c in enumerate(chosen))
    for client in both:
        client.ok(f"INSERT INTO codes VALUES {rows}")
    same(
        both,
        f"SELECT id, HEX(b), HEX(CONVERT(CONVERT(b USING {charset}) USING utf8mb4)), HEX(CONVERT(b USING {charset})),"
        f" CHAR_LENGTH(CONVERT(b USING {charset})), LENGTH(CONVERT(b USING {charset})) FROM codes ORDER BY id",
    )
    # Characters of the BMP into the set.
    for client in both:
        client.ok("CREATE TABLE chars (id INT PRIMARY KEY, c CHAR(1) CHARACTER SET utf8mb4)")
    rng = seeded()
    some = sorted({*range(0x20, 0x600), *(rng.randrange(0x600, 0xD800) for _ in range(1500)), *range(0xFF01, 0xFFE6)})
    rows = ", ".join(f"({c}, x'{chr(c).encode().hex()}')" for c in some)
    for client in both:
        client.ok(f"INSERT INTO chars VALUES {rows}")
    # The backslash of sjis: docs/character-sets.md.
    same(both, f"SELECT id, HEX(CONVERT(c USING {charset})) FROM chars WHERE NOT (id = 92 AND '{charset}' = 'sjis') ORDER BY id")


def texts(both, rng: random.Random, charset: str) -> list[str]:
    """Strings of characters that the set has, in hexadecimal of UTF-8."""
    candidates = [*range(0x20, 0x7F), *range(0xA0, 0x180), *range(0x370, 0x500), *range(0x5D0, 0x5EB), *range(0x620, 0x64A), *range(0x3041, 0x30FF)]
    candidates += [rng.randrange(0x4E00, 0x9FA5) for _ in range(200)] + [rng.randrange(0xAC00, 0xD7A3) for _ in range(100)]
    for client in both:
        client.ok("CREATE TABLE pool (id INT PRIMARY KEY, c CHAR(1) CHARACTER SET utf8mb4)")
        client.ok("INSERT INTO pool VALUES " + ", ".join(f"({c}, x'{chr(c).encode().hex()}')" for c in sorted(set(candidates)) if c != 0x20))
    if charset == "sjis":
        for client in both:
            client.ok("DELETE FROM pool WHERE id = 92")
    has = [int(r[0]) for r in both[1].rows(f"SELECT id FROM pool WHERE CONVERT(c USING {charset}) <> '?' OR id = 63")]
    plain = [c for c in has if c < 0x7F]
    found = []
    for _ in range(150):
        s = "".join(chr(rng.choice(rng.choice([has, plain]))) for _ in range(rng.randint(0, 4)))
        found.append(s + rng.choice(["", "", " ", "  "]))
        if rng.random() < 0.4:
            found.append(rng.choice([s.upper(), s.lower(), s + " a"]))
    return [s.encode().hex() for s in found]


@pytest.mark.parametrize("charset", SETS)
def test_order_of_each_collation(both, charset):
    rng = seeded()
    chosen = texts(both, rng, charset)
    names = both[1].rows(
        "SELECT FULL_COLLATION_NAME FROM information_schema.COLLATION_CHARACTER_SET_APPLICABILITY"
        f" WHERE CHARACTER_SET_NAME = '{charset}'"
    )
    names = [n for (n,) in names]
    if len(names) > 16:
        names = rng.sample(names, 16)
    for name in sorted(names):
        for client in both:
            client.ok("DROP TABLE IF EXISTS t")
            client.ok(f"CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(20) CHARACTER SET {charset} COLLATE {name}, KEY (s))")
            client.ok("SET sql_mode = ''")
            client.ok("INSERT INTO t VALUES " + ", ".join(f"({n}, CONVERT(x'{s}' USING utf8mb4))" for n, s in enumerate(chosen)))
        same(both, f"SELECT id, HEX(s), LENGTH(s), CHAR_LENGTH(s), '{name}' FROM t ORDER BY id")
        # MariaDB sorts big5 by strokes, but compares its codes.
        if not name.startswith("big5_chinese"):
            same(both, f"SELECT id, '{name}' FROM t ORDER BY s, id")
        same(both, f"SELECT MIN(id), COUNT(*), '{name}' FROM t GROUP BY s ORDER BY 1")
        probe = f"(SELECT s FROM t WHERE id = {rng.randrange(len(chosen))})"
        same(both, f"SELECT id, '{name}' FROM t WHERE s < {probe} ORDER BY id")
        same(both, f"SELECT id, '{name}' FROM t WHERE s = {probe} ORDER BY id")


@pytest.mark.parametrize("charset", SETS)
def test_tables_show_their_sets(both, charset):
    for client in both:
        client.ok(f"CREATE TABLE t (a CHAR(10), b VARCHAR(10) COLLATE {charset}_bin, c TEXT, d ENUM('a','b'), KEY (a), KEY (c(5))) CHARACTER SET {charset}")
        client.ok("INSERT INTO t VALUES ('ab', 'Ab  ', 'abc', 'b'), ('AB ', 'ab', 'ABC', 'a')")
    same(both, "SHOW CREATE TABLE t")
    same(both, "SELECT HEX(a), HEX(b), HEX(c), HEX(d), LENGTH(a), CHAR_LENGTH(b), CHARSET(c), COLLATION(b) FROM t ORDER BY b, a")
    same(both, "SELECT a, b, c, d, REVERSE(b), UPPER(c), LPAD(a, 4, 'x'), SUBSTRING(c, 2, 1), INSTR(c, 'B'), ORD(c) FROM t WHERE a = 'ab' ORDER BY c, b")
    same(both, "SELECT COLUMN_NAME, CHARACTER_SET_NAME, COLLATION_NAME, CHARACTER_OCTET_LENGTH FROM information_schema.COLUMNS WHERE TABLE_NAME = 't' AND TABLE_SCHEMA = DATABASE() ORDER BY ORDINAL_POSITION")
    same(both, "SELECT COUNT(*) FROM t WHERE a LIKE 'A%' AND c LIKE '_B_'")


def test_settings(both):
    for sql in ("SET NAMES ucs2", "SET character_set_client = utf16", "SET NAMES utf8mb4 COLLATE latin1_bin", "SET NAMES nosuch", "SELECT _latin2'a' COLLATE latin1_bin",
                "SELECT _sjis x'ff'", "SELECT CONVERT('a' USING nosuch)", "CREATE TABLE e (a CHAR(1) COLLATE nosuch_ci)"):  # fmt: skip
        errors = [client.run(sql).error for client in both]
        assert errors[0] and errors[0] == errors[1], f"{sql}: {errors}"
    for client in both:
        client.ok("SET NAMES cp1251")
    same(both, "SELECT @@character_set_client, @@character_set_results, @@collation_connection")
    for client in both:
        client.ok("SET character_set_server = greek")
        client.ok("CREATE DATABASE greek_texts")
        client.ok("SET NAMES utf8mb4")
    same(both, "SHOW CREATE DATABASE greek_texts")
    for client in both:
        client.ok("DROP DATABASE greek_texts")
