"""Types of columns, and values at their edges and just beyond them."""

from __future__ import annotations

import random

INTS = ["0", "1", "-1", "2", "3", "7", "10", "127", "128", "-128", "255", "256", "32767", "-32769", "65535", "8388607",
        "16777215", "2147483647", "-2147483648", "4294967295", "9223372036854775807", "-9223372036854775808",
        "9223372036854775808", "18446744073709551615", "18446744073709551616"]  # fmt: skip
DECIMALS = ["0.0", "0.5", "-1.25", "1.005", "-0.0000000001", "99999.99999", "0.1", "12345678901234567890.123456789",
            "9" * 65, "-" + "9" * 35 + "." + "9" * 30, "." + "0" * 37 + "1"]  # fmt: skip
FLOATS = ["0e0", "1.5e0", "-2e0", "1e-308", "1.7976931348623157e308", "-1e308", "1e15", "1e20", "4e-320", "9.3e18", "1e400"]
STRINGS = ["''", "'a'", "'A'", "'b '", "' b'", "'abc'", "'é'", "'ß'", "'ss'", "'😀'", "'%'", "'_'", "'a_b%'", "'\\\\'", "'\\0'", "'12'", "'3x'",
           "'-1.5e3'", "'1e999'", "'0x41'", "'a,b,,c'", "'2020-01-31'", "'0000-00-00'", "'10:20:30'", "'$.a'", "'[1,2,{\"a\":null}]'",
           "'{\"a\":{\"b\":[1,2]}}'", "'('", "'[a-z]+'", "'(a|b)*'", "'%Y-%m-%d %H:%i:%s.%f'", "'192.168.0.1'", "'::1'", "'ff02::1'",
           "'a\\nb'", "'İı'", "'e\\u0301'", "'0123456789012345678901234567890123456789'", "'null'", "'true'", "'UTC'", "'+05:30'",
           "'{:>10}'", "'aGVsbG8='", "'9223372036854775808'", "'99999999999999999999999'", "'\u200d\ufeff'"]  # fmt: skip
BYTES = ["x''", "x'00'", "x'ff'", "x'C3'", "x'F09F9880'", "0x41", "b'0'", "b'1010101'", "x'FFFFFFFFFFFFFFFF'", "x'00112233445566778899AABBCCDDEEFF'"]
DATES = ["DATE '2020-02-29'", "DATE '1999-12-31'", "DATE '0001-01-01'", "DATE '9999-12-31'", "DATE '1000-01-01'", "20200101", "'2020-13-45'",
         "'0000-00-00'", "'2020-00-01'", "'0000-01-01'", "700101", "DATE '1582-10-10'"]  # fmt: skip
MOMENTS = ["TIMESTAMP '2020-01-31 10:20:30'", "TIMESTAMP '1970-01-01 00:00:01'", "TIMESTAMP '2038-01-19 03:14:07.999999'",
           "TIMESTAMP '9999-12-31 23:59:59.999999'", "TIMESTAMP '0001-01-01 00:00:00'", "'2020-02-30 25:61:61'", "20200131102030.5",
           "'2020-01-31T10:20:30.123456789'"]  # fmt: skip
CLOCKS = ["TIME '10:20:30'", "TIME '-00:00:01.5'", "TIME '838:59:59'", "TIME '-838:59:59.999999'", "TIME '00:00:00'", "'839:00:00'", "'1 10:00:00'", "123456"]
JSONS = ["'{}'", "'[]'", "'1'", "'\"a\"'", "'null'", "'true'", "'{\"a\":1,\"b\":[1,2,{\"c\":\"x\"}],\"a\":2}'", "'[1,[2,[3,[4]]]]'", "'{bad'",
         "'1e400'", "'\"\\\\u00e9\"'", "'{\"\":\"\"}'"]  # fmt: skip
PATHS = ["'$'", "'$.a'", "'$[0]'", "'$[last]'", "'$[*]'", "'$.*'", "'$**.a'", "'$[-1]'", "'$.a[1 to 2]'", "'$.'", "'$.\"\"'", "'a'", "'$[99999999999]'"]
OTHERS = ["NULL", "TRUE", "FALSE", "_latin1'\\xe9'", "_binary'a'", "_utf8mb4'é' COLLATE utf8mb4_bin", "N'x'", "@u1", "@u2", "@u3",
          "@@max_allowed_packet", "@@sql_mode", "CURRENT_DATE"]  # fmt: skip
ALL = {"int": INTS, "dec": DECIMALS, "real": FLOATS, "text": STRINGS, "bytes": BYTES, "date": DATES, "moment": MOMENTS,
       "clock": CLOCKS, "json": JSONS, "path": PATHS, "other": OTHERS}  # fmt: skip
SMALL = ["0", "1", "2", "3", "-1", "5", "NULL"]

# Kind of a column, its types, and what is put into it.
TYPES: dict[str, tuple[list[str], list[str]]] = {
    "int": (["INT", "BIGINT", "TINYINT", "SMALLINT", "MEDIUMINT", "INT UNSIGNED", "BIGINT UNSIGNED", "TINYINT UNSIGNED", "BOOL", "INT(5)"], INTS[:14]),
    "dec": (["DECIMAL(10,3)", "DECIMAL(5,0)", "DECIMAL(65,30)", "DECIMAL(30,10) UNSIGNED", "DECIMAL", "NUMERIC(1,1)"], ["0", "0.5", "-1.25", "1", "99999", "0.05"]),
    "real": (["DOUBLE", "FLOAT", "DOUBLE UNSIGNED", "FLOAT(7,2)", "REAL"], ["0", "0.5", "-2", "1e10", "1.5", "3.25"]),
    "text": (["VARCHAR(20)", "VARCHAR(20) COLLATE utf8mb4_bin", "CHAR(5)", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "VARCHAR(30) CHARACTER SET latin1",
              "VARCHAR(10) COLLATE utf8mb4_unicode_ci", "VARCHAR(10) COLLATE utf8mb4_nopad_bin", "CHAR(3) CHARACTER SET ascii", "VARCHAR(300) CHARACTER SET utf8mb3",
              "CHAR(0)", "VARCHAR(1)", "VARCHAR(12) COLLATE uca1400_ai_ci"], ["''", "'a'", "'A'", "'b '", "'abc'", "'é'", "'ß'", "'12'", "'3x'", "'ss'", "'B'"]),
    "bytes": (["BINARY(4)", "VARBINARY(20)", "BLOB", "TINYBLOB", "BIT(1)", "BIT(8)", "BIT(64)"], ["x''", "x'00'", "'a'", "x'ff'", "b'1'", "'ab'"]),
    "date": (["DATE"], ["'2020-01-31'", "'1999-12-31'", "'2024-02-29'", "'0000-00-00'", "'9999-12-31'"]),
    "moment": (["DATETIME", "DATETIME(3)", "DATETIME(6)", "TIMESTAMP NULL", "TIMESTAMP(2) NULL"], ["'2020-01-31 10:20:30'", "'2020-01-31 10:20:30.125'", "'1999-12-31 23:59:59'", "'2037-01-01'"]),
    "clock": (["TIME", "TIME(2)", "TIME(6)"], ["'00:00:00'", "'10:20:30.5'", "'-01:00:00'", "'838:59:59'"]),
    "year": (["YEAR"], ["1999", "2020", "1901", "2155", "0"]),
    "enum": (["ENUM('a','B','x y')", "SET('a','b','c')", "ENUM('','é') CHARACTER SET latin1"], ["'a'", "'b'", "1", "''", "'a,c'"]),
    "json": (["JSON"], JSONS[:8]),
    "net": (["UUID", "INET4", "INET6"], ["'123e4567-e89b-12d3-a456-426655440000'", "'127.0.0.1'", "'::1'", "'::'"]),
}  # fmt: skip


def constant(r: random.Random, kind: str | None = None) -> str:
    """An edge value of that kind, or of any."""
    if kind == "small":
        return r.choice(SMALL)
    if kind not in ALL or r.random() < 0.1:
        kind = r.choice(list(ALL))
    return r.choice(ALL[kind])
