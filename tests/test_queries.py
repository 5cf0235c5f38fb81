"""Random queries: Narwal and MariaDB answer alike.

NARWAL_SEED repeats one run, NARWAL_QUERIES sets how many queries are asked (100000 for a long run).
"""

from __future__ import annotations

import os
import random

import pytest

import queries
from support import differences

# It still finds differences faster than they are mended (about one in 60 queries), so it is run by hand, not by ./test.
QUERIES = int(os.environ.get("NARWAL_QUERIES", "0"))
pytestmark = pytest.mark.skipif(not QUERIES, reason="run with NARWAL_QUERIES=600 or more; see docs/differences.md")
# A schema serves so many queries.
EACH = 200


def seeds() -> list[int]:
    if "NARWAL_SEED" in os.environ:
        return [int(os.environ["NARWAL_SEED"])]
    runs = max(1, QUERIES // EACH)
    return [*range(1, runs), random.SystemRandom().randrange(10**6, 10**9)]


def asked(clients, sql: str) -> list[str]:
    """How the answers differ. Warnings depend on how often an expression is computed: they are not compared."""
    answers = [client.run(sql) for client in clients]
    for answer in answers:
        answer.warnings = 0
    return differences(*answers, ordered=False)


@pytest.mark.parametrize("seed", seeds())
def test_random_queries(both, seed):
    source = queries.Source(seed)
    setup = source.schema()
    for client in both:
        for statement in setup:
            client.ok(statement)
    for number in range(EACH):
        query = source.query()
        sql = str(query)
        if asked(both, sql):
            small = queries.shrink(query, lambda text: bool(asked(both, text)))
            found = "\n  ".join(asked(both, small))
            script = ";\n".join(setup)
            pytest.fail(f"seed {seed}, query {number} (Narwal | MariaDB):\n  {sql}\nshrunk:\n  {small}\n  {found}\n{script};")
