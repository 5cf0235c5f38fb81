"""Random queries and changes: Narwal and MariaDB answer alike.

NARWAL_QUERIES sets how many queries are asked (100000 for the long form: seeds 1 to 500 and one at random). NARWAL_SEED repeats
one seed (`7`) or several (`1-250`), so that two processes can share the long form.
"""

from __future__ import annotations

import os
import random
import re

import pytest

import queries
from support import differences

QUERIES = int(os.environ.get("NARWAL_QUERIES", "1000"))
# A schema serves so many queries, and then so many changes.
EACH = 200
CHANGES = 40
# Errors of values that are not needed: whether they are computed at all is up to the server.
OPTIONAL = (1690,)
# In strict mode also those of texts that are no numbers.
OPTIONAL_IN_CHANGES = (1690, 1292)
# Of several values that are errors in strict mode, the first is told, and the order is up to the plan.
ERRORS_OF_VALUES = (1048, 1264, 1265, 1366, 1406, 1411, 1441)
# What MariaDB 10.11 does not do either.
REFUSED = 1235
NEGATIVE_ZERO = re.compile(r"^-00:00:00(?=$|\.0+$)")


def seeds() -> list[int]:
    if "NARWAL_SEED" in os.environ:
        first, _, last = os.environ["NARWAL_SEED"].partition("-")
        return list(range(int(first), int(last or first) + 1))
    return list(range(1, max(1, QUERIES // EACH) + 1)) + ([random.SystemRandom().randrange(10**6, 10**9)] if QUERIES > 5000 else [])


def settled(value):
    """A value as it is compared: MariaDB has a negative zero of TIME."""
    return NEGATIVE_ZERO.sub("00:00:00", value) if isinstance(value, str) else value


def compared(answers) -> list[str]:
    """How the answers differ. Warnings depend on how often an expression is computed: they are not compared."""
    if any(a.error in OPTIONAL for a in answers) or answers[1].error == REFUSED:
        return []
    for answer in answers:
        answer.warnings = 0
        answer.info = answer.info.split("Warnings:")[0]
        answer.rows = [tuple(map(settled, row)) for row in answer.rows]
    return differences(*answers, ordered=False)


def run(clients, sql: str) -> list:
    """What the servers answer, which they find out at the same time."""
    for client in clients:
        client.send(sql)
    return [client.receive() for client in clients]


def asked(clients, sql: str) -> list[str]:
    return compared(run(clients, sql))


def changed(clients, tables, sql: str) -> list[str]:
    """How the answers to a change differ, or the tables behind it, which is then undone."""
    found = []
    run(clients, "BEGIN")
    answers = run(clients, sql)
    if not any(a.error in OPTIONAL_IN_CHANGES for a in answers) and not all(a.error in ERRORS_OF_VALUES for a in answers):
        found = compared(answers)
        for table in tables:
            found += asked(clients, f"SELECT * FROM {table}")
    run(clients, "ROLLBACK")
    return found


@pytest.mark.parametrize("seed", seeds())
def test_random_queries(both, seed):
    source = queries.Source(seed)
    setup = source.schema()
    # MariaDB's cache keeps the answers for 'a' and 'A' as one; its materialised sets forget a NULL beside values out of range.
    both[1].ok("SET optimizer_switch = 'subquery_cache=off,materialization=off'")
    for client in both:
        for statement in setup:
            client.ok(statement)
    # All that differs is told, each by its smallest statement.
    found: dict[str, str] = {}

    def check(number, made, differ):
        sql = str(made)
        if differ(sql):
            small = queries.shrink(made, lambda text: bool(differ(text)))
            if any(known.search(small) for known in queries.KNOWN):
                return
            how = "\n  ".join(differ(small))
            found.setdefault(small, f"{number}:\n  {sql}\nshrunk:\n  {small}\n  {how}")

    for number in range(EACH):
        check(f"query {number}", source.statement(), lambda text: asked(both, text))
    for number in range(CHANGES):
        # Which of several rows fails first is up to the plan: values that don't fit are errors only where there is one row.
        single = number % 2 == 0
        for client in both:
            client.ok(f"SET sql_mode = '{'STRICT_ALL_TABLES' if single else ''}'")
        made = source.change(single)
        check(f"change {number}", made, lambda text: changed(both, source.tables, text))
    if found:
        script = ";\n".join(setup)
        pytest.fail(f"seed {seed} (Narwal | MariaDB)\n" + "\n".join(found.values()) + f"\n{script};")
