"""The smallest schema, data and statement that still show a finding."""

from __future__ import annotations

import time

from .node import Node, shrink


def fewer(members: list, fails, end: float) -> list:
    """Delta debugging: the members without those that are not needed."""
    size = max(1, len(members) // 2)
    while time.monotonic() < end:
        removed = False
        at = 0
        while at < len(members) and time.monotonic() < end:
            tried = members[:at] + members[at + size :]
            if fails(tried):
                members, removed = tried, True
            else:
                at += size
        if size == 1 and not removed:
            break
        size = max(1, size // 2)
    return members


def smallest(before: list[Node], statement: Node, shows, seconds: float) -> list[Node] | None:
    """`shows(statements)`: the last of them shows the finding in a new database. None: it can't be repeated."""
    end = time.monotonic() + seconds
    if not shows([*before, statement]):
        return None
    before = fewer(before, lambda kept: shows([*kept, statement]), end)
    # Then inside of each, the statement itself first.
    for node in [statement, *reversed(before)]:
        if time.monotonic() < end:
            shrink(node, lambda: time.monotonic() < end and shows([*before, statement]), 150)
    before = fewer(before, lambda kept: shows([*kept, statement]), end)
    return [*before, statement]
