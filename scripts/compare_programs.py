#!/usr/bin/env python3
"""Stored programs at random, on a MariaDB and on a Narwal: do both go the same way through them?

Blocks, loops, labels, handlers, cursors and conditions stand in each other as nobody would write them
(tests/program_text.py). Each program writes down where it comes by; compared are that, the rows, the error, and the list of
conditions at the end. The shortest programs that differ are printed.

The servers are made for the run and ended with it.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "lab"))
sys.path.insert(0, str(ROOT / "tests"))
import program_text as programs  # noqa: E402
from support import Client  # noqa: E402
from test_compare_programs import outcome  # noqa: E402
from testbed.servers import MariaDB, Narwal  # noqa: E402


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", type=int, default=1, help="of the programs (%(default)s)")
    p.add_argument("--programs", type=int, default=2000, help="how many (%(default)s)")
    p.add_argument("--show", type=int, default=5, help="of those that differ (%(default)s)")
    p.add_argument("--narwal", help="the binary (default: NARWAL_BIN, or this tree's release build)")
    return p.parse_args()


def main() -> int:
    o = options()
    if o.narwal:
        os.environ["NARWAL_BIN"] = o.narwal
    found, made = [], 0
    with tempfile.TemporaryDirectory(prefix="narwal-programs-") as folder:
        servers = [MariaDB(Path(folder) / "mariadb"), Narwal(Path(folder) / "narwal")]
        try:
            for server in servers:
                server.create()
                server.start()
            clients = [Client(server) for server in servers]
            for client in clients:
                for statement in ("CREATE DATABASE programs", "USE programs", *programs.TABLE):
                    client.ok(statement)
            for number in range(o.programs):
                text = programs.Body(o.seed, number).text()
                theirs, ours = (outcome(c, text, conditions=True) for c in clients)
                made += len(theirs) > 1
                if theirs != ours:
                    found.append((len(text), number, text, theirs, ours))
        finally:
            for server in servers:
                server.remove()
    for _, number, text, theirs, ours in sorted(found)[: o.show]:
        print(f"## {number}: {text}\n  MariaDB: {theirs}\n  Narwal:  {ours}")
    print(f"seed {o.seed}: of {o.programs} programs ({made} of them can be made) {len(found)} differ")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
