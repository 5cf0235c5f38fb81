#!/usr/bin/env python3
"""Makes crates/types/data/charsets.bin: the character sets that are not Unicode's own forms, and the weights of their collations.

    charset_tables.py CLIENT...

CLIENT is the command line of a `mariadb` that reaches a MariaDB 10.11. All numbers are answers of that server: which codes are
well formed, CONVERT() both ways, WEIGHT_STRING() of each code. The file, deflated, little-endian:

    u16 sets, for each:
        u8 length | name
        u8 flags: 1 if the first 128 codes are ASCII
        u8 length | name of the set whose characters stand at the same places, or empty
        u32 runs of codes (well formed, ascending), for each u24 first | u16 number
        for each code u16: its character in the BMP, 0xffff if it has none; exclusive-or'ed with the other set's character at the
        same place (see `same_place`), or as the difference from the character before
        u32 characters whose code is not the first code that stands for them, for each u16 character | u24 code (0xffffff: none)
        u16 collations, for each:
            u8 length | name
            for each code u16: weight, exclusive-or'ed with the code's own weight (see `own_weight`)
            u16 codes with several weights, for each: u24 code | u8 number | u16 each
"""

import struct
import subprocess
import sys
import zlib
from pathlib import Path

UNICODE = {"utf8mb3", "utf8mb4", "ucs2", "utf16", "utf16le", "utf32", "binary"}
# Their weights come on several levels or depend on neighbours.
# Sets that have most characters at the places of another one.
BASES = {"gb2312": "gbk", "ujis": "eucjpms", "cp932": "eucjpms", "sjis": "cp932"}
OTHERWISE = {"cp1250_czech_cs", "latin2_czech_cs", "tis620_thai_ci"}


def ask(client: list[str], sql: str) -> list[list[str]]:
    done = subprocess.run([*client, "-N", "--quick", "-D", "mysql"], input=sql, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def own_weight(code: int) -> int:
    """A code's weight by its bytes: one number of 16 bits that orders codes as their bytes do."""
    if code < 0x80:
        return code
    if code < 0x100:
        return code << 8
    if code < 0x10000:
        # 8E xx stands below 8F xx yy.
        return code
    a, b = code >> 8 & 0xFF, code & 0xFF
    return 0x200 + (a - 0xA1) * 94 + (b - 0xA1)


def weight(hexes: str) -> int:
    n = int(hexes, 16)
    if len(hexes) == 2:
        return own_weight(n)
    return n if len(hexes) == 4 else own_weight(n)


def codes_of(client: list[str], name: str, width: int) -> dict[int, int]:
    """Well-formed codes with their characters."""
    ranges = [("seq", 2, "seq_0_to_255")]
    if width > 1:
        ranges.append(("seq", 4, "seq_32768_to_65535"))
    if width > 2:
        ranges.append(("seq + 0x8f0000", 6, "seq_41377_to_65278"))
    found = {}
    for number, digits, table in ranges:
        code = f"CONVERT(UNHEX(LPAD(HEX({number}), {digits}, '0')) USING {name})"
        sql = f"SELECT {number}, HEX(CONVERT({code} USING utf16)), CHAR_LENGTH({code}) FROM {table} WHERE HEX({code}) = LPAD(HEX({number}), {digits}, '0');"
        for c, hexes, chars in ask(client, sql):
            if chars == "1":
                found[int(c)] = 0xFFFF if hexes == "003F" and c != "63" else int(hexes, 16)
    return found


def codes_back(client: list[str], name: str) -> dict[int, int]:
    text = "CONVERT(UNHEX(LPAD(HEX(seq), 4, '0')) USING ucs2)"
    rows = ask(client, f"SELECT seq, HEX(CONVERT({text} USING {name})) FROM seq_0_to_65535 WHERE seq NOT BETWEEN 0xd800 AND 0xdfff;")
    return {int(c): int(h, 16) for c, h in rows if h != "3F" or c == "63"}


def weights_of(client: list[str], charset: str, collation: str, codes: list[int]) -> tuple[list[int], dict[int, list[int]]]:
    found = {}
    for width, table in ((2, "seq_0_to_255"), (4, "seq_32768_to_65535"), (6, "seq_9412001_to_9436158")):
        if width == 6:
            if codes[-1] <= 0xFFFF:
                continue
            table = f"seq_{0x8F0000 + 0xA1A1}_to_{0x8F0000 + 0xFEFE}"
        text = f"CONVERT(UNHEX(LPAD(HEX(seq), {width}, '0')) USING {charset})"
        for c, h in ask(client, f"SELECT seq, HEX(WEIGHT_STRING({text} COLLATE {collation})) FROM {table} WHERE {text} IS NOT NULL;"):
            found[int(c)] = h
    plain, several = [], {}
    for c in codes:
        h = found[c]
        if c < 0x100 and len(h) > 2 or not h:
            several[c] = [own_weight(int(h[i : i + 2], 16)) for i in range(0, len(h), 2)]
            plain.append(0)
        else:
            plain.append(weight(h) ^ own_weight(c))
    return plain, several


def same_place(name: str, code: int) -> int:
    """The code of the set's base (see BASES) that stands at the place of this code."""
    if name != "cp932" or code < 0x100:
        return code
    a, b = code >> 8, code & 0xFF
    row = (a - (0x81 if a < 0xE0 else 0xC1)) * 2 + (b >= 0x9F)
    cell = b - 0x9F if b >= 0x9F else b - 0x40 - (b > 0x7F)
    return ((row + 0xA1) << 8 | (cell + 0xA1)) & 0xFFFF


def packed_chars(name: str, codes: dict[int, int], known: dict[str, dict[int, int]]) -> bytes:
    ordered, before, out = sorted(codes), 0, []
    for code in ordered:
        if name in BASES:
            out.append(codes[code] ^ known[BASES[name]].get(same_place(name, code), 0))
        else:
            out.append(codes[code] - before & 0xFFFF)
            before = codes[code]
    return struct.pack(f"<{len(out)}H", *out)


def packed_runs(ordered: list[int]) -> bytes:
    runs: list[list[int]] = []
    for code in ordered:
        if runs and runs[-1][0] + runs[-1][1] == code:
            runs[-1][1] += 1
        else:
            runs.append([code, 1])
    return struct.pack("<I", len(runs)) + b"".join(c.to_bytes(3, "little") + struct.pack("<H", n) for c, n in runs)


def named(name: str) -> bytes:
    return bytes([len(name)]) + name.encode()


def main() -> None:
    client = sys.argv[1:]
    sets = ask(client, "SELECT CHARACTER_SET_NAME, MAXLEN FROM information_schema.CHARACTER_SETS ORDER BY 1;")
    sets = [(n, int(w)) for n, w in sets if n not in UNICODE]
    sets.sort(key=lambda s: (s[0] != "gbk", s[0] != "eucjpms", s[0] != "cp932", s[0]))
    out = struct.pack("<H", len(sets))
    known: dict[str, dict[int, int]] = {}
    for name, width in sets:
        codes = codes_of(client, name, width)
        back = codes_back(client, name)
        first: dict[int, int] = {}
        for code, char in sorted(codes.items()):
            if char != 0xFFFF:
                first.setdefault(char, code)
        odd = {c: code for c, code in back.items() if first.get(c) != code}
        odd |= {c: 0xFFFFFF for c in first if c not in back}
        ordered = sorted(codes)
        ascii_first = all(codes.get(c) == c for c in range(0x80)) and all(back.get(c) == c for c in range(0x80))
        known[name] = codes
        out += named(name) + bytes([ascii_first]) + named(BASES.get(name, "")) + packed_runs(ordered)
        out += packed_chars(name, codes, known)
        out += struct.pack("<I", len(odd))
        out += b"".join(struct.pack("<H", c) + code.to_bytes(3, "little") for c, code in sorted(odd.items()))
        collations = [
            r[0]
            for r in ask(client, f"SELECT COLLATION_NAME FROM information_schema.COLLATIONS WHERE CHARACTER_SET_NAME = '{name}' ORDER BY ID;")
            if "nopad" not in r[0] and r[0] not in OTHERWISE
        ]
        out += struct.pack("<H", len(collations))
        for collation in collations:
            plain, several = weights_of(client, name, collation, ordered)
            out += named(collation) + struct.pack(f"<{len(plain)}H", *plain)
            out += struct.pack("<H", len(several))
            for c, w in sorted(several.items()):
                out += c.to_bytes(3, "little") + bytes([len(w)]) + struct.pack(f"<{len(w)}H", *w)
            if several:
                print("  several weights:", collation, len(several), file=sys.stderr)
        print(name, len(ordered), "codes", len(odd), "odd", len(collations), "collations", "" if ascii_first else "not ASCII", file=sys.stderr)
    path = Path(__file__).parent.parent / "crates/types/data/charsets.bin"
    path.write_bytes(zlib.compress(out, 9))
    print(path, len(out), "bytes,", path.stat().st_size, "deflated", file=sys.stderr)


if __name__ == "__main__":
    main()
