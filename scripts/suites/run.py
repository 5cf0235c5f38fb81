#!/usr/bin/env python3
"""Runs the test suites of other projects on MariaDB and on Narwal, and says which tests end otherwise.

Nobody here wrote these tests, and they ask what programs ask. Each suite runs on a MariaDB 10.11 and on a Narwal of its own,
made for the run and ended with it. A test that fails on both says nothing about Narwal. Suites are fetched on first use, in the
versions that scripts/suites pins; what they printed stays in target/suites.

Ends with 1 if a test fails on Narwal only.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# This folder has modules with the names of the suites: it must not be where Python looks for them.
sys.path = [p for p in sys.path if Path(p or ".").resolve() != Path(__file__).resolve().parent]
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support import Client  # noqa: E402
from testbed.servers import ROOT, MariaDB, Narwal, narwal_binary  # noqa: E402

from suites import go  # noqa: E402
from suites.django import Django  # noqa: E402
from suites.sqlalchemy import SqlAlchemy  # noqa: E402

SUITES = {
    "django": Django(),
    "sqlalchemy": SqlAlchemy(),
    "go-driver": go.DRIVER,
    "sqlx": go.SQLX,
    "goqu": go.GOQU,
    "beego": go.BEEGO,
}
SETTINGS = ["--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--max-connections=300"]
# The reference need not be durable.
MARIADB = ["--innodb-flush-log-at-trx-commit=2", "--performance-schema=OFF"]


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./suites", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("suites", nargs="*", metavar="SUITE", help="suites to run (default: all; --list names them)")
    p.add_argument("--list", action="store_true", help="name the suites and end")
    p.add_argument("--only", default="", metavar="NAMES", help="with one suite: only these, comma-separated, as the suite names its parts "
                   "(applications of Django, files of SQLAlchemy, tests of Go)")  # fmt: skip
    p.add_argument("--server", choices=["both", "mariadb", "narwal"], default="both")
    p.add_argument("--narwal", help="the binary (default: NARWAL_BIN, or this tree's release build)")
    p.add_argument("--seconds", type=float, default=4 * 3600, help="for one suite on one server (%(default)s)")
    return p.parse_args()


class Place:
    """A server for one suite, in a temporary folder."""

    def __init__(self, name: str, folder: Path, binary: str | None):
        make = {"mariadb": lambda: MariaDB(folder, [*SETTINGS, *MARIADB]), "narwal": lambda: Narwal(folder, SETTINGS, binary=binary)}
        self.name = name
        self.server = make[name]()
        self.server.create()
        self.server.start()
        self.port = self.server.port

    def client(self) -> Client:
        return Client(self.server)


def run_on(name: str, suite, only: list[str], a: argparse.Namespace, kept: Path) -> dict[str, str]:
    """Runs a suite on a new server; what each of its tests ended as."""
    work = Path(tempfile.mkdtemp(prefix="narwal-suites-"))
    place = Place(name, work / "server", a.narwal)
    began = time.monotonic()
    try:
        results, output = suite.run(place, work, only, a.seconds)
    except subprocess.TimeoutExpired as e:
        results, output = {}, (e.stdout or b"").decode(errors="replace") + f"\nended after {a.seconds:.0f} s"
    finally:
        alive = place.server.alive()
        place.server.kill()
        shutil.rmtree(work, ignore_errors=True)
    (kept / f"{name}.log").write_text(output)
    (kept / f"{name}.json").write_text(json.dumps(results, indent=1, sort_keys=True))
    if not alive:
        results["the server lives"] = "failed"
    print(f"  {name}: {len(results)} tests in {time.monotonic() - began:.0f} s", flush=True)
    return results


def tell(name: str, suite, found: dict[str, dict[str, str]]) -> int:
    """Prints how a suite ended; how many of its tests fail on Narwal only."""
    count = lambda results, kind: sum(1 for r in results.values() if r == kind)  # noqa: E731
    for server, results in found.items():
        print(f"  {server:8} ok {count(results, 'ok'):6}  failed {count(results, 'failed'):5}  skipped {count(results, 'skipped'):5}")
    if len(found) < 2:
        return 0
    mine, theirs = found["narwal"], found["mariadb"]
    worse = sorted(t for t in mine.keys() | theirs.keys() if theirs.get(t) == "ok" and mine.get(t) != "ok")
    better = sorted(t for t in mine.keys() | theirs.keys() if mine.get(t) == "ok" and theirs.get(t) != "ok")
    for test in worse:
        print(f"  only on MariaDB: {test} ({mine.get(test, 'did not run')})")
    for test in better:
        print(f"  only on Narwal:  {test}")
    return len(worse)


def main() -> int:
    a = options()
    if a.list:
        for name, suite in SUITES.items():
            print(f"{name:12} {suite.language:8} {suite.about}")
        return 0
    if unknown := [s for s in a.suites if s not in SUITES]:
        raise SystemExit(f"no suite {unknown[0]}: there are {', '.join(SUITES)}")
    only = [x for x in a.only.split(",") if x]
    if only and len(a.suites) != 1:
        raise SystemExit("--only is for one suite: name it")
    if a.server != "mariadb":
        narwal_binary(a.narwal)
    folder = ROOT / "target" / "suites"
    folder.mkdir(parents=True, exist_ok=True)
    worse = 0
    for name in a.suites or SUITES:
        suite = SUITES[name]
        print(f"{name}: {suite.about}", flush=True)
        suite.prepare(folder)
        kept = folder / "results" / name
        kept.mkdir(parents=True, exist_ok=True)
        servers = ["mariadb", "narwal"] if a.server == "both" else [a.server]
        # Both at once: a suite waits for its server most of the time.
        with ThreadPoolExecutor(len(servers)) as pool:
            results = pool.map(lambda server: run_on(server, suite, only, a, kept), servers)  # noqa: B023
            found = dict(zip(servers, results))
        if not all(found.values()):
            print(f"  no test was counted: see {kept}")
            worse += 1
        worse += tell(name, suite, found)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
