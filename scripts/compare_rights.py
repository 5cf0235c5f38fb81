#!/usr/bin/env python3
"""Grants at random, on a MariaDB and on a Narwal: may an account do the same on both?

Two accounts get privileges on all levels (tests/rights_text.py). One of them runs statements on tables, views and programs,
some of which the other one has made. Compared are the errors. Each statement is printed with the first case in which it goes
otherwise, the most frequent ones first. The run fails when one server does what the other one refuses, and it is not known that
it does (docs/accounts.md).

The servers are made for the run and ended with it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "lab"))
sys.path.insert(0, str(ROOT / "tests"))
from support import Client  # noqa: E402
from test_compare_rights import judged, outcomes  # noqa: E402
from testbed.servers import MariaDB, Narwal  # noqa: E402


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1, help="of the grants (%(default)s)")
    p.add_argument("--cases", type=int, default=300, help="how many (%(default)s)")
    p.add_argument("--show", type=int, default=20, help="of the statements that differ (%(default)s)")
    p.add_argument("--narwal", help="the binary (default: NARWAL_BIN, or this tree's release build)")
    return p.parse_args()


def main() -> int:
    o = options()
    if o.narwal:
        os.environ["NARWAL_BIN"] = o.narwal
    first: dict[str, str] = {}
    times: Counter[str] = Counter()
    cases = 0
    bad: set[int] = set()
    with tempfile.TemporaryDirectory(prefix="narwal-rights-") as folder:
        servers = [Narwal(Path(folder) / "narwal"), MariaDB(Path(folder) / "mariadb")]
        try:
            for server in servers:
                server.create()
                server.start()
            roots = [Client(server) for server in servers]
            for root in roots:
                root.ok("SET GLOBAL log_bin_trust_function_creators = 1")
            for number in range(o.cases):
                grants, found = outcomes(roots, o.seed, number)
                cases += bool(found)
                for statement, narwal, mariadb in found:
                    times[statement] += 1
                    told = f"{statement}\n    Narwal:  {narwal or 'done'}\n    MariaDB: {mariadb or 'done'}"
                    first.setdefault(statement, f"{told}\n    case {number}: {'; '.join(grants)}")
                    if judged(statement, narwal, mariadb):
                        bad.add(number)
        finally:
            for server in servers:
                server.remove()
    for statement, n in times.most_common(o.show):
        print(f"## {n} times: {first[statement]}")
    print(f"seed {o.seed}: of {o.cases} cases {cases} differ, in {len(times)} statements; {len(bad)} fail")
    for number in sorted(bad):
        print(f"fails: case {number}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
