#!/usr/bin/env python3
"""Makes crates/types/data/uca.bin: the weights of Unicode's default collation tables 4.0.0, 5.2.0 and 14.0.0.

    uca_weights.py ALLKEYS CLIENT...

CLIENT is the command line of a `mariadb` that reaches a MariaDB 10.11, whose WEIGHT_STRING() tells the numbers (it has these
versions of the tables); ALLKEYS is any allkeys.txt of Unicode from 6.0 to 14.0, from which come the sequences that have weights
of their own. The numbers are data of the Unicode Character Database (Unicode License V3).

The file, deflated, little-endian, for each of the three tables:

    u32 entries, for each: u24 code point | lists
    u32 contractions, for each: u8 characters | u24 each | lists

lists are one (4.0.0, 5.2.0) or three (14.0.0: primary, secondary, tertiary), each u8 length | u16 each. Code points whose weights
follow from themselves (UTS #10, implicit weights) are left out.
"""

import re
import struct
import subprocess
import sys
import zlib
from pathlib import Path

# Collation, levels, whether sequences have weights of their own.
TABLES = [
    ("utf8mb4_unicode_nopad_ci", 1, False),
    ("utf8mb4_unicode_520_nopad_ci", 1, False),
    ("utf8mb4_uca1400_nopad_as_cs", 3, True),
]
TEXT = "CONVERT(CHAR(seq USING utf32) USING utf8mb4)"


def ask(client: list[str], sql: str) -> list[list[str]]:
    done = subprocess.run([*client, "-N", "--quick", "-D", "mysql"], input=sql, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def weights(text: str) -> tuple[int, ...]:
    return tuple(int(text[i : i + 4], 16) for i in range(0, len(text), 4))


def sequences(path: str) -> list[list[int]]:
    found = []
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        if (m := re.match(r"([0-9A-F ]+?)\s*;", line)) and " " in m[1]:
            found.append([int(c, 16) for c in m[1].split()])
    return sorted(found)


def is_implicit(c: int, lists: list[tuple[int, ...]], old: bool) -> bool:
    if old and c > 0xFFFF:
        return lists[0] == (0xFFFD,)
    primary = [(base + (c >> 15), c & 0x7FFF | 0x8000) for base in (0xFB40, 0xFB80, 0xFBC0)]
    return lists[0] in primary and lists[1:] in ([], [(0x20,), (0x02,)])


def packed(lists: list[tuple[int, ...]]) -> bytes:
    return b"".join(struct.pack(f"<B{len(w)}H", len(w), *w) for w in lists)


def main() -> None:
    allkeys, client = sys.argv[1], sys.argv[2:]
    out = b""
    for collation, levels, contracts in TABLES:
        lists: dict[int, list[tuple[int, ...]]] = {}
        for level in range(1, levels + 1):
            rows = ask(client, f"SELECT seq, HEX(WEIGHT_STRING({TEXT} COLLATE {collation} LEVEL {level}))"
                       " FROM seq_0_to_1114111 WHERE seq NOT BETWEEN 0xd800 AND 0xdfff;")  # fmt: skip
            for c, hexes in rows:
                lists.setdefault(int(c), []).append(weights(hexes))
        own = {c: w for c, w in lists.items() if not is_implicit(c, w, "520" not in collation and levels == 1)}
        out += struct.pack("<I", len(own))
        out += b"".join(c.to_bytes(3, "little") + packed(w) for c, w in sorted(own.items()))
        wanted = sequences(allkeys) if contracts else []
        literal = ["CONVERT(_utf32 x'" + "".join(f"{c:08x}" for c in s) + "' USING utf8mb4)" for s in wanted]
        sql = "".join(
            "SELECT " + ", ".join(f"HEX(WEIGHT_STRING({t} COLLATE {collation} LEVEL {n}))" for n in range(1, levels + 1)) + ";\n"
            for t in literal
        )
        rows = ask(client, sql) if sql else []
        out += struct.pack("<I", len(wanted))
        for s, row in zip(wanted, rows, strict=True):
            out += bytes([len(s)]) + b"".join(c.to_bytes(3, "little") for c in s) + packed([weights(h) for h in row])
        print(collation, len(own), "entries", len(wanted), "sequences", file=sys.stderr)
    path = Path(__file__).parent.parent / "crates/types/data/uca.bin"
    path.write_bytes(zlib.compress(out, 9))
    print(path, len(out), "bytes,", path.stat().st_size, "deflated", file=sys.stderr)


if __name__ == "__main__":
    main()
