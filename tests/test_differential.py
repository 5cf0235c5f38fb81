"""The same statements against Narwal and MariaDB 10.11: equal answers on the way, equal tables at the end.

NARWAL_SEED repeats one random history, NARWAL_HISTORIES sets how many are run, NARWAL_COMPARE_TEXT=1 compares
error messages and OK texts as well as codes.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path

import pytest

import history
from support import differences, dump

TEXTS = os.environ.get("NARWAL_COMPARE_TEXT") == "1"
LENGTH = int(os.environ.get("NARWAL_HISTORY_LENGTH", "400"))
CORNERS = sorted((Path(__file__).parent / "corner").glob("*.sql"))


def seeds() -> list[int]:
    if "NARWAL_SEED" in os.environ:
        return [int(os.environ["NARWAL_SEED"])]
    count = int(os.environ.get("NARWAL_HISTORIES", "6"))
    return [*range(1, count), int(os.environ["NARWAL_FRESH_SEED"])]


@pytest.mark.parametrize("seed", seeds())
def test_random_history(both, seed):
    narwal, mariadb = both
    print(f"seed {seed} (repeat with NARWAL_SEED={seed})")
    for client in both:
        for create, _ in history.TABLES.values():
            client.ok(create)
        client.ok("SET timestamp = 1700000000")
    source = history.History(seed)
    tail: list[str] = []
    for number in range(LENGTH):
        statement = source.next()
        tail = [*tail[-12:], statement.sql]
        answers = [client.run(statement.sql) for client in both]
        found = differences(*answers, ordered=statement.ordered, texts=TEXTS)
        if found:
            before = "\n    ".join(tail[:-1])
            pytest.fail(
                f"seed {seed}, statement {number} (Narwal | MariaDB):\n  {statement.sql}\n  "
                + "\n  ".join(found)
                + f"\n  statements before:\n    {before}"
            )
    for client in both:
        client.run("COMMIT")
    tables = list(history.TABLES)
    ours, theirs = dump(narwal, tables), dump(mariadb, tables)
    for table in tables:
        assert ours[table] == theirs[table], f"seed {seed}: table {table} differs at the end"
        # Every index agrees with the rows.
        for client in both:
            assert len(client.rows(f"SELECT id FROM {table}")) == int(client.value(f"SELECT COUNT(*) FROM {table}"))


def statements(path: Path) -> list[tuple[int, str, set[str]]]:
    """(line, statement, directives) of a file: statements end in ';' at the end of a line; `-- sorted` before
    one says that its rows come in no order, `-- anyid` that the insert id is not compared, `-- nowarn` that
    warnings are not, `-- wording` that the messages are, `-- later` that Narwal may refuse it as not supported yet."""
    found = []
    text, start, directives = "", 0, set()
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not text and (not line.strip() or line.startswith("--")):
            directives |= {word for word in line[2:].split() if word in ("sorted", "anyid", "nowarn", "wording", "later")}
            continue
        start = start or number
        text += line + "\n"
        if line.rstrip().endswith(";"):
            found.append((start, text.strip().rstrip(";"), directives))
            text, start, directives = "", 0, set()
    assert not text, f"{path}: statement without its end: {text}"
    return found


@pytest.mark.parametrize("path", CORNERS, ids=lambda p: p.stem)
def test_corner_cases(both, path):
    wrong = []
    tables = set()
    for line, sql, directives in statements(path):
        answers = [client.run(sql) for client in both]
        if answers[1].error == 1064 and re.search(r";\s+[A-Z]", re.sub(r"'[^']*'", "''", sql)) and "BEGIN" not in sql.upper():
            wrong.append(f"{path.name}:{line}: several statements, of which none was run: {sql}")
        words = sql.split()
        if [w.upper() for w in words[:2]] == ["CREATE", "TABLE"]:
            tables.add(words[2].strip("("))
        if "anyid" in directives:
            for answer in answers:
                answer.insert_id = 0
        if "nowarn" in directives:
            for answer in answers:
                answer.warnings = 0
        if "later" in directives and answers[0].error in (1064, 1235, 1305):
            continue
        texts = TEXTS or "wording" in directives
        found = differences(*answers, ordered="sorted" not in directives, texts=texts)
        if found:
            wrong.append(f"{path.name}:{line}: {sql}\n    " + "\n    ".join(found))
        elif answers[0].warnings and "nowarn" not in directives:
            warnings = [[row[: 3 if texts else 2] for row in client.rows("SHOW WARNINGS")] for client in both]
            if warnings[0] != warnings[1]:
                wrong.append(f"{path.name}:{line}: {sql}\n    warnings: {warnings[0]} | {warnings[1]}")
    existing = {row[0] for row in both[1].rows("SHOW TABLES")}
    tables = sorted(tables & existing)
    ours, theirs = dump(both[0], tables), dump(both[1], tables)
    for table in tables:
        if ours[table] != theirs[table]:
            wrong.append(f"table {table} differs at the end")
    if wrong:
        pytest.fail(f"{len(wrong)} differences (Narwal | MariaDB):\n" + "\n".join(wrong), pytrace=False)
