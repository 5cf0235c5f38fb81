#!/usr/bin/env python3
"""Makes crates/types/data/tailorings.bin: what the languages' collations weigh other than Unicode's default table does.

    uca_tailorings.py CLIENT...

CLIENT is the command line of a `mariadb` that reaches a MariaDB 10.11. All numbers are answers of its WEIGHT_STRING(). Sequences
with weights of their own are found by asking: pairs of letters, of characters that a language weighs its own way and of accents,
then longer ones that begin with a pair, and all of three small letters of ASCII.

The file, deflated, little-endian: u16 tailorings, for each:

    u8 length | name, as `czech` | u8 table: 0 for 4.0.0, 1 for 5.2.0, 2 for 14.0.0, 3 for 5.2.0 with accents, where a character
    that is not listed has the accent 0x20 for each of its weights
    u32 entries, u32 contractions: as in uca.bin (see `uca_weights.py`)
"""

import struct
import subprocess
import sys
import zlib
from pathlib import Path

LETTERS = [*range(0x41, 0x5B), *range(0x61, 0x7B)]
ACCENTS = [*range(0x300, 0x30D), 0x30F, 0x311, 0x313, 0x31B, *range(0x323, 0x329), 0x32D, 0x32E, 0x330, 0x331, 0x335, 0x338, 0xB7, 0x2019]
OLD = "icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian slovak spanish2 roman persian esperanto hungarian sinhala german2 croatian_mysql561 vietnamese croatian myanmar"
NEW = "icelandic latvian romanian slovenian polish estonian spanish swedish turkish czech danish lithuanian slovak spanish2 roman persian esperanto hungarian sinhala german2 vietnamese croatian"
BASES = ["utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci", "utf8mb4_uca1400_as_cs"]
CHAR = "CONVERT(CHAR({} USING utf32) USING utf8mb4)"


def ask(client: list[str], sql: str) -> list[list[str]]:
    done = subprocess.run([*client, "-N", "--quick", "-D", "mysql"], input=sql, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def weights(text: str) -> tuple[int, ...]:
    return tuple(int(text[i : i + 4], 16) for i in range(0, len(text), 4))


def packed(lists: list[tuple[int, ...]]) -> bytes:
    return b"".join(struct.pack(f"<B{len(w)}H", len(w), *w) for w in lists)


def weighed(text: str, collation: str, levels: int) -> str:
    """Columns with the weights of a text on each level."""
    return ", ".join(f"HEX(WEIGHT_STRING({text} COLLATE {collation} LEVEL {n}))" for n in range(1, levels + 1))


def singles(client: list[str], collation: str, levels: int, last: int) -> dict[int, tuple[str, ...]]:
    rows = ask(client, f"SELECT seq, {weighed(CHAR.format('seq'), collation, levels)} FROM seq_0_to_{last} WHERE seq NOT BETWEEN 0xd800 AND 0xdfff;")
    return {int(r[0]): tuple(r[1:]) for r in rows}


# Characters of the longest sequence that MariaDB looks for.
LONGEST = 6

# Its sequences are of characters that alone weigh what they do elsewhere.
MYANMAR = range(0x1000, 0x10A0)


def sequences(client: list[str], collation: str, levels: int, own: list[int]) -> dict[tuple[int, ...], list[str]]:
    alphabet = sorted({*LETTERS, *ACCENTS, *own})
    if len(alphabet) > 700:
        alphabet = sorted({*LETTERS, *ACCENTS, *[c for c in own if c < 0x2000]})
    if "myanmar" in collation:
        alphabet = [*MYANMAR]
    found: dict[tuple[int, ...], list[str]] = {}
    heads: list[tuple[int, ...]] = [(c,) for c in alphabet]
    small = range(0x61, 0x7B)
    while heads:
        chars = len(heads[0])
        tables = "CREATE TEMPORARY TABLE test.h (n text, t varchar(10) CHARACTER SET utf8mb4); CREATE TEMPORARY TABLE test.a (c int, t varchar(1) CHARACTER SET utf8mb4);"
        text = lambda s: "CONVERT(_utf32 x'" + "".join(f"{c:08x}" for c in s) + "' USING utf8mb4)"
        for at in range(0, len(heads), 2000):
            tables += "INSERT INTO test.h VALUES " + ",".join(f"('{' '.join(map(str, h))}', {text(h)})" for h in heads[at : at + 2000]) + ";"
        tables += "INSERT INTO test.a VALUES " + ",".join(f"({c}, {text((c,))})" for c in alphabet) + ";"
        differs = " OR ".join(
            f"WEIGHT_STRING(CONCAT(h.t, a.t) COLLATE {collation} LEVEL {n}) <> CONCAT(WEIGHT_STRING(h.t COLLATE {collation} LEVEL {n}), WEIGHT_STRING(a.t COLLATE {collation} LEVEL {n}))"
            for n in range(1, levels + 1)
        )
        rows = ask(client, "CREATE DATABASE IF NOT EXISTS test;" + tables + f"SELECT n, c, {weighed('CONCAT(h.t, a.t)', collation, levels)} FROM test.h, test.a WHERE {differs};")
        new = {(*map(int, r[0].split()), int(r[1])): r[2:] for r in rows}
        found |= new
        heads = sorted(new)
        if chars == 1 and new:
            # A sequence of three need not begin with one of two.
            heads = sorted({*heads, *((a, b) for a in small for b in small)})
        if chars >= 5:
            break
    return found | (joined(client, collation, found) if "myanmar" in collation else {})


def joined(client: list[str], collation: str, found: dict[tuple[int, ...], list[str]]) -> dict[tuple[int, ...], list[str]]:
    """Sequences of a character or a sequence and another sequence behind it: no part of them that begins them need be one."""
    more: dict[tuple[int, ...], list[str]] = {}
    text = lambda s: "CONVERT(_utf32 x'" + "".join(f"{c:08x}" for c in s) + "' USING utf8mb4)"
    tails = sorted(found)
    while tails:
        heads = [*((c,) for c in MYANMAR), *sorted({*found, *more})]
        tables = ""
        for name, rows in ("h", heads), ("a", tails):
            tables += f"CREATE TEMPORARY TABLE test.{name} (n text, t varchar(20) CHARACTER SET utf8mb4);"
            for at in range(0, len(rows), 2000):
                tables += f"INSERT INTO test.{name} VALUES " + ",".join(f"('{' '.join(map(str, r))}', {text(r)})" for r in rows[at : at + 2000]) + ";"
        weight = lambda s: f"WEIGHT_STRING({s} COLLATE {collation})"
        differs = f"{weight('CONCAT(h.t, a.t)')} <> CONCAT({weight('h.t')}, {weight('a.t')})"
        answer = ask(client, tables + f"SELECT h.n, a.n, {weighed('CONCAT(h.t, a.t)', collation, 1)} FROM test.h, test.a WHERE {differs};")
        new = {(*map(int, r[0].split()), *map(int, r[1].split())): r[2:] for r in answer}
        new = {s: w for s, w in new.items() if s not in found and s not in more and len(s) <= LONGEST}
        more |= new
        tails = sorted(new)
    return more


def needed(long: dict[tuple[int, ...], list[str]], alone: dict[int, tuple[str, ...]]) -> dict[tuple[int, ...], list[str]]:
    """Sequences that weigh something else than the shorter ones that are taken from them, the longest first."""
    kept: dict[tuple[int, ...], list[str]] = {}
    for s in sorted(long, key=len):
        weight, at = "", 0
        while at < len(s):
            n = next((n for n in range(min(LONGEST, len(s) - at), 1, -1) if s[at : at + n] in kept), 1)
            weight += kept[s[at : at + n]][0] if n > 1 else alone[s[at]][0]
            at += n
        if weight != long[s][0]:
            kept[s] = long[s]
    return kept


THAI = [*range(0xE00, 0xE5C), *range(0xE80, 0xEE0)]


def thai(client: list[str], plain: dict[int, tuple[str, ...]]) -> bytes:
    """The one language with the accents of 5.2.0. Ideographs and what is not assigned have one accent for two weights."""
    mine = singles(client, "utf8mb4_thai_520_w2", 2, 0x1FFFF)

    def default(w: str) -> tuple[str, str]:
        computed = len(w) == 8 and w[:2] == "FB"
        return w, "0020" * (1 if computed else len(w) // 4)

    own = {c: w for c, w in mine.items() if w != default(plain[c][0])}
    long = sequences(client, "utf8mb4_thai_520_w2", 2, THAI)
    print("thai", len(own), "entries", len(long), "sequences", file=sys.stderr)
    return tailoring("thai", 3, own, long)


def tailoring(name: str, table: int, own: dict[int, tuple[str, ...]], long: dict[tuple[int, ...], list[str]]) -> bytes:
    out = bytes([len(name)]) + name.encode() + bytes([table]) + struct.pack("<I", len(own))
    out += b"".join(c.to_bytes(3, "little") + packed([weights(h) for h in w]) for c, w in sorted(own.items()))
    out += struct.pack("<I", len(long))
    for s, w in sorted(long.items()):
        out += bytes([len(s)]) + b"".join(c.to_bytes(3, "little") for c in s) + packed([weights(h) for h in w])
    return out


def main() -> None:
    client = sys.argv[1:]
    base = [singles(client, c, 3 if n == 2 else 1, 0x1FFFF) for n, c in enumerate(BASES)]
    out, count = b"", 0
    wanted = [(n, f"utf8mb4_{n}_ci", 1) for n in OLD.split()] + [(n, f"utf8mb4_uca1400_{n}_as_cs", 3) for n in NEW.split()]
    for name, collation, levels in wanted:
        mine = singles(client, collation, levels, 0x1FFFF)
        tables = [2] if levels == 3 else [0, 1]
        own, table = min((({c: w for c, w in mine.items() if w != base[t][c]}, t) for t in tables), key=lambda x: len(x[0]))
        long = sequences(client, collation, levels, sorted(own))
        # A first character with a sequence behind it is no sequence of its own.
        long = {s: w for s, w in long.items() if s[1:] not in long or any(w[n] != mine[s[0]][n] + long[s[1:]][n] for n in range(levels))}
        if name == "myanmar":
            long = needed(long, mine)
        out += tailoring(name, table, own, long)
        count += 1
        print(name, "table", table, len(own), "entries", len(long), "sequences, longest", max(map(len, long), default=0), file=sys.stderr)
    out = struct.pack("<H", count + 1) + out + thai(client, base[1])
    path = Path(__file__).parent.parent / "crates/types/data/tailorings.bin"
    path.write_bytes(zlib.compress(out, 9))
    print(path, len(out), "bytes,", path.stat().st_size, "deflated", file=sys.stderr)


if __name__ == "__main__":
    main()
