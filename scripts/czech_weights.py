#!/usr/bin/env python3
"""Makes crates/types/data/czech.bin: what latin2_czech_cs and cp1250_czech_cs weigh characters by, level by level.

    czech_weights.py CLIENT...

CLIENT is the command line of a `mariadb` that reaches a MariaDB 10.11. All numbers are that server's WEIGHT_STRING() of each
code and of each pair of codes. The file, for latin2 (4 levels) and then for cp1250 (2 levels):

    for each of the 256 codes, for each level u8: its weight, 0 if it has none there
    u8 pairs of codes that count as one letter, for each: u8 u8 | for each level u8
"""

import subprocess
import sys
from pathlib import Path

# Marks in latin2_czech_cs: between words, between levels, the end.
WORD, LEVEL, END = 2, 1, 0


def ask(client: list[str], sql: str) -> list[bytes]:
    done = subprocess.run([*client, "-N", "--quick", "-D", "mysql"], input=sql, capture_output=True, text=True, check=True)
    return [bytes.fromhex(line) for line in done.stdout.splitlines()]


def four_levels(weights: bytes) -> list[bytes]:
    """The levels of a text of one word under latin2_czech_cs."""
    return weights[:-1].split(bytes([LEVEL]))


def two_levels(weights: bytes) -> list[bytes]:
    half = len(weights) // 2
    return [weights[:half], weights[half:]]


def learn(client: list[str], charset: str, levels: int) -> bytes:
    split = four_levels if levels == 4 else two_levels
    text = "CONVERT(UNHEX(LPAD(HEX({}), {}, '0')) USING {}) COLLATE {}_czech_cs"
    one = text.format("seq", 2, charset, charset)
    single = ask(client, f"SELECT HEX(WEIGHT_STRING({one})) FROM seq_0_to_255 ORDER BY seq;")
    a = text.format("0x61", 2, charset, charset)
    between = ask(client, f"SELECT HEX(WEIGHT_STRING(CONCAT({a}, {one}, {a}))) FROM seq_0_to_255 ORDER BY seq;")
    weights = []
    for code in range(256):
        parts = [p[0] if p else 0 for p in split(single[code])]
        if levels == 4 and between[code][1] == WORD:
            parts = [WORD] * 4
        weights.append(bytes(parts))
    pair = text.format("seq", 4, charset, charset)
    together = ask(client, f"SELECT HEX(WEIGHT_STRING({pair})) FROM seq_0_to_65535 ORDER BY seq;")
    pairs = []
    for n, found in enumerate(together):
        x, y = weights[n >> 8], weights[n & 0xFF]
        if levels == 4 and WORD in (x[0], y[0]):
            continue
        alone = [bytes(w for w in (x[i], y[i]) if w) for i in range(levels)]
        if split(found) != alone:
            pairs.append(n.to_bytes(2, "big") + bytes(p[0] for p in split(found)))
    print(charset, [p.hex() for p in pairs])
    return b"".join(weights) + bytes([len(pairs)]) + b"".join(pairs)


def main() -> None:
    client = sys.argv[1:]
    data = learn(client, "latin2", 4) + learn(client, "cp1250", 2)
    path = Path(__file__).resolve().parent.parent / "crates/types/data/czech.bin"
    path.write_bytes(data)
    print(path, len(data))


if __name__ == "__main__":
    main()
