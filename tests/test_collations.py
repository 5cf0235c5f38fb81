"""Random strings over many scripts in the order, the groups and the keys of every collation with expansions, against MariaDB.

NARWAL_SEED repeats one choice of strings, NARWAL_STRINGS says how many."""

from __future__ import annotations

import os
import random

import pytest

COLLATIONS = [
    f"utf8mb4_{kind}"
    for kind in (
        "unicode_ci", "unicode_nopad_ci", "unicode_520_ci", "unicode_520_nopad_ci", "uca1400_ai_ci", "uca1400_ai_cs", "uca1400_as_ci",
        "uca1400_as_cs", "uca1400_nopad_ai_ci", "uca1400_nopad_ai_cs", "uca1400_nopad_as_ci", "uca1400_nopad_as_cs",
    )
]  # fmt: skip
# Latin with accents and ligatures, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Bengali, Thai, Lao, Tibetan, Myanmar, Hangul, Kana,
# ideographs, symbols, controls, combining marks, Tangut, Gothic, musical and mathematical characters, emoji, what is not assigned.
RANGES = [
    (0x20, 0x7E), (0x20, 0x7E), (0xA0, 0x17F), (0xA0, 0x17F), (0x180, 0x24F), (0x1E00, 0x1EFF), (0xFB00, 0xFB06), (0x370, 0x3FF), (0x400, 0x52F),
    (0x5D0, 0x5EA), (0x620, 0x6FF), (0x900, 0x97F), (0x980, 0x9FF), (0xE01, 0xE4E), (0xE81, 0xECD), (0xF40, 0xFBC), (0x1000, 0x109F),
    (0xAC00, 0xD7A3), (0x3041, 0x30FF), (0xFF66, 0xFF9F), (0x3400, 0x34FF), (0x4E00, 0x4F00), (0x9FA0, 0x9FFF), (0x2000, 0x206F), (0x2190, 0x21FF),
    (0x1, 0x1F), (0x300, 0x36F), (0x300, 0x36F), (0x17000, 0x17100), (0x10330, 0x1034A), (0x1D100, 0x1D1FF), (0x1D400, 0x1D4FF), (0x1F600, 0x1F64F),
    (0x20000, 0x20100), (0xE000, 0xE010), (0xF900, 0xFAFF), (0xFFF0, 0xFFFD), (0x1B00, 0x1B4C), (0x19B0, 0x19C9), (0xAA80, 0xAAC2), (0x11131, 0x11134),
]  # fmt: skip
# Characters that have weights of their own together.
TOGETHER = ["l·", "L·", "\u0e40\u0e01", "\u0ec0\u0e81", "\u0fb2\u0f71\u0f80", "\u09c7\u09be", "\u1025\u102e", "\u0438\u0306", "\u0418\u0306", "ǉ", "ß", "ﬃ", "℡"]


def text(rng: random.Random) -> str:
    few = [rng.choice(RANGES) for _ in range(2)]
    out = ""
    for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4, 6])):
        if rng.random() < 0.1:
            out += rng.choice(TOGETHER)
        elif rng.random() < 0.2:
            out += rng.choice("  aAbBeEéß\t")
        else:
            out += chr(rng.randint(*rng.choice(few)))
    return out + rng.choice(["", "", "", " ", "  "])


def strings(seed: int, count: int) -> list[str]:
    rng = random.Random(seed)
    found: list[str] = []
    while len(found) < count:
        s = text(rng)
        found.append(s)
        # What may be equal to it.
        found.extend(t for t in (s.upper(), s.lower(), s + " ", s.strip()) if rng.random() < 0.2)
    return found[:count]


def literal(s: str) -> str:
    return f"CONVERT(X'{s.encode().hex()}' USING utf8mb4)"


@pytest.mark.parametrize("collation", COLLATIONS)
def test_order_and_equality(both, collation):
    seed = int(os.environ.get("NARWAL_SEED", random.SystemRandom().randrange(10**9)))
    chosen = strings(seed, int(os.environ.get("NARWAL_STRINGS", "1200")))
    print(f"seed {seed} (repeat with NARWAL_SEED={seed})")
    answers = []
    # MariaDB's ranges on the index of prefixes miss rows whose first characters have no weight (docs/differences.md).
    for client, hint in zip(both, ("", "IGNORE INDEX (s_2)"), strict=True):
        client.ok(f"CREATE TABLE t (id INT PRIMARY KEY, s VARCHAR(40) COLLATE {collation}, KEY (s), KEY (s(2))) CHARACTER SET utf8mb4")
        for first in range(0, len(chosen), 200):
            rows = ", ".join(f"({first + i}, {literal(s)})" for i, s in enumerate(chosen[first : first + 200]))
            client.ok(f"INSERT INTO t VALUES {rows}")
        probes = [f"{literal(s)} COLLATE {collation}" for s in chosen[::37]]
        answers.append({
            "order": client.rows("SELECT id FROM t ORDER BY s, id"),
            "computed order": client.rows("SELECT id FROM t ORDER BY CONCAT(s), id"),
            "groups": sorted(client.rows("SELECT MIN(id), COUNT(*) FROM t GROUP BY s")),
            "distinct": client.rows("SELECT COUNT(DISTINCT s) FROM t"),
            "below": [client.rows(f"SELECT COUNT(*), MAX(id) FROM t {hint} WHERE s < {p}") for p in probes],
            "equal": [client.rows(f"SELECT id FROM t WHERE s = {p} ORDER BY id") for p in probes],
            "weights": client.rows("SELECT id, HEX(WEIGHT_STRING(s)) FROM t ORDER BY id"),
        })  # fmt: skip
    ours, theirs = answers
    for what, found in ours.items():
        about = chosen[::37] if what in ("below", "equal") else None
        wrong = [(n, a, b) for n, (a, b) in enumerate(zip(found, theirs[what], strict=True)) if a != b]
        names = [about[n] if about else chosen[int(a[0])] for n, a, _ in wrong[:3]]
        assert not wrong, f"{what}: {len(wrong)} differ, number, Narwal | MariaDB: {wrong[:3]}; {names!r}"


@pytest.mark.parametrize("collation", COLLATIONS[::5])
def test_functions(both, collation):
    seed = int(os.environ.get("NARWAL_SEED", random.SystemRandom().randrange(10**9)))
    print(f"seed {seed} (repeat with NARWAL_SEED={seed})")
    rng = random.Random(seed)
    chosen = strings(seed, 150)
    for client in both:
        client.ok("SET NAMES utf8mb4")
    for s in chosen:
        part = s[rng.randint(0, len(s)) :][: rng.randint(0, 3)].swapcase()
        a, b = (f"{literal(x)} COLLATE {collation}" for x in (s, part))
        sql = f"SELECT {a} LIKE CONCAT({b}, '%'), {a} = {b}, {a} < {b}, STRCMP({a}, {b}), {a} IN ({b}, {a}), GREATEST({a}, {b}) = {a}"
        ours, theirs = (client.rows(sql) for client in both)
        assert ours == theirs, f"{sql}  -- {s!r} {part!r}"
