"""The registry of errors beside the names and texts that a real MariaDB has for its numbers."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

REGISTRY = Path(__file__).parent.parent / "crates/types/src/errors.rs"
ROW = re.compile(r'^    (\w+): (\d+) = (\d+), b"(\w{5})", "(\w+)",\s*"((?:[^"\\]|\\.|\\\n)*)";', re.M)

# Numbers that perror does not know by a name of its own: those of the store, of the file layer, of clients, of MySQL.
UNNAMED = {
    1, 3, 121, 139, 150, 152, 167, 201, 1721, 2003, 2013, 2026, 2027, 2059, 3065, 3140, 3141, 3505, 3568, 3569, 3572, 3615, 3686, 3753, 3754, 3756, 3757, 3758, 3762,
    3772, 3800, 3819, 3821, 3822, 3837, 3940, 3959,
}  # fmt: skip


def rows():
    text = REGISTRY.read_text()
    for name, args, code, state, symbol, template in ROW.findall(text):
        yield name, int(args), int(code), state, symbol, re.sub(r"\\\n\s*", "", template)


def perror(code):
    out = subprocess.run(["perror", str(code)], capture_output=True, text=True, check=False).stdout
    found = re.match(r"MariaDB error code \d+ \((\w+)\): (.*)", out)
    return found.groups() if found else None


def words(template):
    """What stands between the arguments, without the marks around them."""
    text = re.sub(r"%(?:`(?:-?\.?\d*)?s|[-.*\d]*(?:lld|llu|lu|ld|zu|[sdTMui])|M|f)|\{\}", " ", template)
    return re.sub(r"[^A-Za-z]+", " ", text.replace("\\", "")).split()


def test_the_registry_is_read_whole():
    text = REGISTRY.read_text()
    text = text[text.index("\nerrors! {") : text.index("\n}\n", text.index("\nerrors! {"))]
    assert len(list(rows())) == len(re.findall(r', b"\w{5}", ', text)) > 250


@pytest.mark.skipif(shutil.which("perror") is None, reason="needs MariaDB's perror")
def test_numbers_have_mariadbs_names():
    wrong = []
    for _, _, code, _, symbol, _ in rows():
        known = perror(code)
        if known is None or code in UNNAMED:
            assert code in UNNAMED, f"{code} ({symbol}) is unknown to MariaDB"
            continue
        if known[0] != symbol:
            wrong.append((code, symbol, known[0]))
    assert not wrong


# Narwal says these in words of its own: it says more, or something else is true of it.
OWN_WORDS = {
    1020, 1021, 1024, 1034, 1055, 1056, 1064, 1076, 1098, 1135, 1198, 1201, 1235, 1259, 1287, 1397, 1436, 1473, 1598,
    1721, 1761, 1827, 4052,
    # MySQL's, whose variable gtid_next is.
    1778, 1782, 1790, 1837,
}  # fmt: skip


@pytest.mark.skipif(shutil.which("perror") is None, reason="needs MariaDB's perror")
def test_texts_are_mariadbs():
    compared, different = 0, []
    for _, _, code, _, symbol, template in rows():
        known = perror(code)
        if known is None or template == "{}":
            continue
        compared += 1
        if words(known[1]) != words(template):
            different.append((code, symbol, template, known[1]))
    assert compared > 200
    assert {d[0] for d in different} <= OWN_WORDS, different
