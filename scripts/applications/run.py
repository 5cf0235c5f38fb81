#!/usr/bin/env python3
"""Applications of Debian's packages on MariaDB and on Narwal: their tables, triggers and procedures are loaded as their installers do
it, called and fired, dumped by mariadb-dump and loaded on the other side. Applications in PHP are installed by their own
installers and used by their own programs and pages.

Servers are made for the run and ended with it: Narwal, MariaDB 10.11, and MariaDB 11.8 where `scripts/peers mariadb-11.8` has
fetched it. Packages are unpacked in target/applications; none is installed, none is part of Narwal.

Ends with 1 if anything differs that should not.
"""

from __future__ import annotations

import argparse
import difflib
import gzip
import itertools
import re
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from narwal_lab.subjects import binary_of  # noqa: E402
from testbed.servers import ROOT, MariaDB, Narwal, narwal_binary  # noqa: E402

from applications.known import APPLICATIONS, Application  # noqa: E402
from applications.packages import unpacked  # noqa: E402

NARWAL, MARIADB, NEWER = "Narwal", "MariaDB 10.11", "MariaDB 11.8"
SETTINGS = ["--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--log-bin-trust-function-creators=ON"]
# The others need not be durable. Applications ask for the binary log and its format and do things otherwise then; Narwal has one.
RELAXED = ["--innodb-flush-log-at-trx-commit=2", "--performance-schema=OFF", "--log-bin", "--binlog-format=ROW"]
DUMP = ["--routines", "--triggers", "--events", "--skip-dump-date", "--skip-comments", "--no-tablespaces", "--skip-extended-insert", "--no-autocommit"]
ENGINE = re.compile(r"ENGINE=(MEMORY|MyISAM|Aria)\b")
# A server without names has no root@localhost.
ROOT_OF = re.compile(r"`root`@`[^`]*`")

# MariaDB 11.8 writes so what 10.11 writes as a text.
BYTES = re.compile(r"(?<= DEFAULT )x'([0-9a-f]*)'")


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./applications", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("applications", nargs="*", metavar="NAME", help="which ones (default: all; --list names them)")
    p.add_argument("--list", action="store_true", help="name the applications and end")
    p.add_argument("--narwal", help="the binary (default: NARWAL_BIN, or this tree's release build)")
    p.add_argument("--seconds", type=float, default=60, help="for a program of an application on each server (%(default)s)")
    return p.parse_args()


class Place:
    """A server, and the client programs that speak to it."""

    def __init__(self, name: str, server, dumper: list[str]):
        self.name, self.server, self.dumper = name, server, dumper
        server.create()
        server.start()

    def words(self) -> list[str]:
        return ["--no-defaults", "-h127.0.0.1", f"-P{self.server.port}", "-uroot", "--default-character-set=utf8mb4"]

    def feed(self, text: bytes, database: str = "") -> str:
        """What the client says of statements, errors and all, in their order."""
        command = ["mariadb", *self.words(), "--batch", "--force", *([database] if database else [])]
        return subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode(errors="replace")

    def make(self, database: str) -> None:
        self.server.sql(
            f"SET foreign_key_checks = 0; DROP DATABASE IF EXISTS {database}; CREATE DATABASE {database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        )

    def dump(self, database: str, dumper: list[str]) -> str:
        done = subprocess.run([*dumper, *self.words(), *DUMP, database], capture_output=True)
        if done.returncode:
            raise SystemExit(f"mariadb-dump of {database} on {self.name}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode(errors="replace")


def places(folder: Path, binary: str | None) -> dict[str, Place]:
    of_debian = ["mariadb-dump"]
    found = {
        NARWAL: Place(NARWAL, Narwal(folder / "narwal", SETTINGS, binary=binary), of_debian),
        MARIADB: Place(MARIADB, MariaDB(folder / "mariadb", [*SETTINGS, *RELAXED]), of_debian),
    }
    peer = ROOT / ".peers" / "mariadb-11.8"
    if not (peer / ".complete").exists():
        print(f"without {NEWER}: scripts/peers mariadb-11.8 fetches it", flush=True)
        return found
    program, loader = binary_of(str(peer), ("mariadbd",))
    dumper, _ = binary_of(str(peer), ("mariadb-dump",))
    server = MariaDB(folder / "newer", [*SETTINGS, *RELAXED], binary=str(program), loader=loader)
    found[NEWER] = Place(NEWER, server, [*loader, str(dumper)])
    return found


def installer_text(at: Path, files: list[str]) -> bytes:
    """The statements of an application's installer. `source` leads to where the packages are unpacked."""
    pieces = []
    for name in files:
        data = (at / name).read_bytes()
        data = gzip.decompress(data) if name.endswith(".gz") else data
        pieces.append(re.sub(rb"(?m)^source /", b"source " + str(at).encode() + b"/", data))
    return b"\n".join(pieces)


def normal(dump: str) -> list[str]:
    """A dump's lines with the rows of each table in one order. Narwal has one engine (docs/differences.md)."""
    lines = [ROOT_OF.sub("`root`@`localhost`", ENGINE.sub("ENGINE=InnoDB", line)) for line in dump.rstrip("\n").split("\n")]
    lines = [BYTES.sub(lambda found: repr_of_bytes(found[1]), line) if line.startswith("  `") else line for line in lines]
    out: list[str] = []
    for rows, run in itertools.groupby(lines, lambda line: line.startswith("INSERT INTO ")):
        out += sorted(run) if rows else run
    return out


def repr_of_bytes(digits: str) -> str:
    return "'" + bytes.fromhex(digits).decode(errors="replace").replace("\0", "\\0") + "'"


class Run:
    """One application on all servers; counts what differs."""

    def __init__(self, name: str, application: Application, servers: dict[str, Place], work: Path):
        self.application, self.servers, self.work = application, servers, work
        self.database = application.database or name.replace("-", "_")
        self.faults = 0

    def tell(self, what: str, differences: list[str]) -> None:
        print(f"  {what}: {'as it should be' if not differences else 'DIFFERS'}", flush=True)
        for line in differences[:20]:
            print(f"    {line[:200]}")
        self.faults += bool(differences)

    def compare(self, what: str, answers: dict[str, list[str]]) -> None:
        """Narwal's answer is MariaDB 10.11's. Where 11.8 answers otherwise that is said."""
        right = answers[MARIADB]
        self.tell(what, differing(right, answers[NARWAL]))
        if NEWER in answers and answers[NEWER] != right:
            print(f"    ({NEWER} differs from {MARIADB} here: {differing(right, answers[NEWER])[0][:150]})")

    def load(self, folder: Path) -> Path:
        at = unpacked(folder, self.application.packages)
        if not self.application.files:
            return at
        text = installer_text(at, self.application.files)
        said = {}
        for name, place in self.servers.items():
            place.make(self.database)
            said[name] = place.feed(text, self.database).splitlines()
        self.tell("load on MariaDB", [line for line in said[MARIADB] if line.startswith("ERROR")])
        self.compare("load", said)
        return at

    def use(self) -> None:
        if self.application.uses:
            answers = {n: p.feed(self.application.uses.encode(), self.database).splitlines() for n, p in self.servers.items()}
            self.tell(f"uses give {len(answers[MARIADB])} lines, errors", [line for line in answers[MARIADB] if line.startswith("ERROR")])
            self.compare("uses", answers)

    def round_trips(self) -> None:
        """From Narwal to the others and back, by each one's own mariadb-dump: the dump of what was loaded is the dump."""
        ours = self.servers[NARWAL]
        settled = self.application.settled or str
        of = {n: normal(settled(p.dump(self.database, ["mariadb-dump"]))) for n, p in self.servers.items() if n != NEWER}
        self.compare(f"rows and definitions ({len(of[MARIADB])} lines)", of)
        for name, other in self.servers.items():
            for source, target in ((ours, other), (other, ours)) if other is not ours else ((ours, ours),):
                before = source.dump(self.database, other.dumper)
                target.make("came_back")
                said = target.feed(before.encode(), "came_back").splitlines()
                after = target.dump("came_back", other.dumper)
                self.tell(f"dump of {name}'s tool, {source.name} to {target.name}", said + differing(normal(before), normal(after)))
        for place in self.servers.values():
            place.server.sql("SET foreign_key_checks = 0; DROP DATABASE IF EXISTS came_back")

    def run_program(self, at: Path, folder: Path, seconds: float) -> None:
        if not self.application.program:
            return
        libraries = unpacked(folder, self.application.libraries)
        said = {}
        for name, place in self.servers.items():
            said[name] = self.application.program(at, libraries, place.server, self.database, self.work / self.database / place.name.replace(" ", "-"), seconds)
        self.tell(f"its program for {seconds:.0f} s, complaints", [f"{n}: {s}" for n, lines in said.items() for s in lines if s.startswith("complaint")])
        for note in dict.fromkeys(s for lines in said.values() for s in lines if s.startswith("note")):
            print(f"    {note}", flush=True)
        told = {n: [s for s in lines if not s.startswith(("note", "complaint"))] for n, lines in said.items()}
        self.compare(f"its program ({len(told[MARIADB])} lines)", told)


def differing(right: list[str], mine: list[str]) -> list[str]:
    """The first lines that one side has alone, below what they are part of if the lines have headings."""
    found: list[str] = []
    for kind, i, i_end, j, j_end in difflib.SequenceMatcher(None, right, mine).get_opcodes() if right != mine else ():
        if kind == "equal":
            continue
        heading = next((line for line in reversed(right[:i]) if line.startswith("== ")), "")
        found += [heading] if heading and heading not in found else []
        found += [f"right {a!r} here {b!r}" for a, b in itertools.zip_longest(right[i:i_end], mine[j:j_end])]
    return found[:20]


def main() -> int:
    a = options()
    if a.list:
        for name, application in APPLICATIONS.items():
            print(f"{name:18} {application.about}")
        return 0
    if unknown := [n for n in a.applications if n not in APPLICATIONS]:
        raise SystemExit(f"no application {unknown[0]}: there are {', '.join(APPLICATIONS)}")
    narwal_binary(a.narwal)
    folder = ROOT / "target" / "applications"
    folder.mkdir(parents=True, exist_ok=True)
    faults = 0
    with tempfile.TemporaryDirectory(prefix="narwal-applications-") as work:
        servers = places(Path(work), a.narwal)
        try:
            for name in a.applications or APPLICATIONS:
                print(f"{name}: {APPLICATIONS[name].about}", flush=True)
                run = Run(name, APPLICATIONS[name], servers, Path(work))
                at = run.load(folder)
                run.use()
                # What a program installs and fills is dumped when it is there.
                if APPLICATIONS[name].files:
                    run.round_trips()
                    run.run_program(at, folder, a.seconds)
                else:
                    run.run_program(at, folder, a.seconds)
                    run.round_trips()
                faults += run.faults
        finally:
            for place in servers.values():
                place.server.kill()
    print(f"{faults} differences" if faults else "no difference")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
