"""Stored programs at random on Narwal and on MariaDB: the same way through them, the same error at the end.

NARWAL_PROGRAMS sets how many, NARWAL_SEED repeats a run. A long run is `scripts/compare_programs.py`.
"""

from __future__ import annotations

import os

import program_text as programs
import pytest


def outcome(client, text: str, conditions: bool = False) -> list:
    """What a program came to: the error of making it, or of running it, what it has left, and perhaps the list of conditions."""
    for statement in (*programs.BEGIN, "DROP PROCEDURE IF EXISTS p"):
        client.ok(statement)
    made = client.run(f"CREATE PROCEDURE p() {text}")
    if made.error:
        return [made.error]
    client.rows("SELECT COUNT(*) FROM pt")
    ran = client.run("CALL p()")
    listed = client.rows("SHOW WARNINGS") if conditions else []
    return [str(ran) if ran.error else "", listed, client.rows(programs.LEFT)]


def test_programs_at_random(both):
    seed = int(os.environ.get("NARWAL_SEED", os.environ["NARWAL_FRESH_SEED"]))
    count = int(os.environ.get("NARWAL_PROGRAMS", "150"))
    print(f"seed {seed} (repeat with NARWAL_SEED={seed})")
    for client in both:
        for statement in programs.TABLE:
            client.ok(statement)
    for number in range(count):
        text = programs.Body(seed, number).text()
        ours, theirs = (outcome(client, text) for client in both)
        if ours != theirs:
            pytest.fail(f"seed {seed}, program {number}:\n  {text}\n  Narwal:  {ours}\n  MariaDB: {theirs}")
