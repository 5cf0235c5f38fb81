"""Random queries and changes: Narwal and MariaDB answer alike.

NARWAL_SEED repeats one run, NARWAL_QUERIES sets how many queries are asked (100000 for a long run).
"""

from __future__ import annotations

import os
import random

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
# What MariaDB 10.11 does not do either.
REFUSED = 1235


def seeds() -> list[int]:
    if "NARWAL_SEED" in os.environ:
        return [int(os.environ["NARWAL_SEED"])]
    return list(range(1, max(1, QUERIES // EACH) + 1)) + ([random.SystemRandom().randrange(10**6, 10**9)] if QUERIES > 5000 else [])


def compared(answers) -> list[str]:
    """How the answers differ. Warnings depend on how often an expression is computed: they are not compared."""
    if any(a.error in OPTIONAL for a in answers) or answers[1].error == REFUSED:
        return []
    for answer in answers:
        answer.warnings = 0
        answer.info = answer.info.split("Warnings:")[0]
    return differences(*answers, ordered=False)


def asked(clients, sql: str) -> list[str]:
    return compared([client.run(sql) for client in clients])


def changed(clients, tables, sql: str) -> list[str]:
    """How the answers to a change differ, or the tables behind it, which is then undone."""
    found = []
    for client in clients:
        client.ok("BEGIN")
    answers = [client.run(sql) for client in clients]
    if not any(a.error in OPTIONAL_IN_CHANGES for a in answers):
        found = compared(answers)
        for table in tables:
            found += asked(clients, f"SELECT * FROM {table}")
    for client in clients:
        client.ok("ROLLBACK")
    return found


@pytest.mark.parametrize("seed", seeds())
def test_random_queries(both, seed):
    source = queries.Source(seed)
    setup = source.schema()
    for client in both:
        for statement in setup:
            client.ok(statement)

    def check(number, made, differ):
        sql = str(made)
        if differ(sql):
            small = queries.shrink(made, lambda text: bool(differ(text)))
            found = "\n  ".join(differ(small))
            script = ";\n".join(setup)
            pytest.fail(f"seed {seed}, {number} (Narwal | MariaDB):\n  {sql}\nshrunk:\n  {small}\n  {found}\n{script};")

    for number in range(EACH):
        check(f"query {number}", source.statement(), lambda text: asked(both, text))
    for number in range(CHANGES):
        # Which of several rows fails first is up to the plan: values that don't fit are errors only where there is one row.
        single = number % 2 == 0
        for client in both:
            client.ok(f"SET sql_mode = '{'STRICT_ALL_TABLES' if single else ''}'")
        made = source.change(single)
        check(f"change {number}", made, lambda text: changed(both, source.tables, text))
