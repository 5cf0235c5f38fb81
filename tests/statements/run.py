"""The word: rounds of statements at random until the time is over, and what they found."""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "lab"), str(ROOT / "tests")]

from packets import Error, Rows  # noqa: E402

from statements import oracles  # noqa: E402
from statements.known import known_of  # noqa: E402
from statements.minimise import smallest  # noqa: E402
from statements.node import shrink  # noqa: E402
from statements.rounds import BUILDS, Finding, Round  # noqa: E402
from statements.watch import Dead, Watched, maria, shown  # noqa: E402

HELP = """\
Schemas, rows and statements at random over all that Narwal takes, from one seed, with the server's process watched:
  wild    everything, also what is refused: the process lives, no panic, no internal error, no lost connection, no statement that
          outlives max_statement_time, no memory beyond measure
  self    each query in two forms whose answers must be equal: cut by a condition (TLP), counted (NoREC), without its indexes,
          through a view, as text and bound
  beside  the same statements in MariaDB 10.11: equal rows, both refused or both taken, equal tables behind each change
  against the same statements in another build (--against PATH): equal answers to the byte, but for the order of rows;
          with --answers only what both answer, for a build that refuses more
At the end the server is killed (kill -9) and started again: the same rows; then stopped, and `narwal check` of its folder is clean.
Each finding is made small and written to --out as a script of its own with both answers. What docs/differences.md documents
(tests/statements/known.py) is only counted."""
# Words that say what a finding is about.
WORDS = re.compile(r"[a-z_][a-z_0-9]*\(|[A-Z][A-Z ]+[A-Z]|<=>|[-+*/%&|^~]")


def signature(kind: str, statement: str) -> str:
    """Findings with the same one are told once."""
    if kind.startswith(("panic", "death")):
        return re.sub(r"\(\d+\)|thread '[^']*'|conn-\d+|connection=\d+", "", kind)
    words = sorted({w.strip() for w in WORDS.findall(re.sub(r"'[^']*'|\b[a-z]\w*\.\w+", "x", statement))})
    return f"{kind}: {' '.join(words)}"


class Fuzzer:
    def __init__(self, options):
        self.options = options
        self.out = Path(options.out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.folder = Path(tempfile.mkdtemp(prefix="narwal-statements-"))
        self.lock = threading.RLock()
        self.told: dict[str, str] = {}
        self.counts: Counter[str] = Counter()
        self.ran: Counter[str] = Counter()
        self.rounds = 0
        self.end = time.monotonic() + options.seconds

    # -- servers -----------------------------------------------------------------------------------------------------
    def start(self) -> None:
        self.server = Watched(self.folder / "narwal")
        self.server.start()
        self.reference = None
        if self.options.against:
            self.reference = Watched(self.folder / "other", binary=self.options.against)
            self.reference.start()
        elif "beside" in self.options.modes:
            self.reference = maria(self.folder / "mariadb")
            self.reference.create()
            self.reference.start()

    def alive(self) -> None:
        """Starts what has died."""
        with self.lock:
            if not self.server.alive():
                self.server.kill()
                self.server.start()
            if self.reference and not self.reference.alive():
                self.counts["deaths of the reference"] += 1
                self.reference.kill()
                self.reference.start()

    def restart(self) -> None:
        """For a server that hangs."""
        with self.lock:
            self.server.kill()
            self.server.start()

    # -- rounds ------------------------------------------------------------------------------------------------------
    def work(self, number: int) -> None:
        seed = self.options.seed + number
        last = seed + (self.options.rounds or 10**9) * self.options.connections
        while time.monotonic() < self.end and seed < last and self.ran.total() < self.options.queries:
            mode = self.options.modes[(seed // self.options.connections) % len(self.options.modes)]
            made = Round(seed, mode, f"fz{number}", self.server, self.reference if mode in ("beside", *BUILDS) else None, self.options.statements)
            try:
                self.alive()
                made.run(self.found, self.end)
            except (Dead, Finding, OSError) as e:
                # Another connection's finding: the server is just being started again.
                self.counts[f"rounds cut short ({type(e).__name__}: {str(e)[:60]})"] += 1
                if self.server.alive() and isinstance(e, Finding):
                    self.tell(f"new database", str(e), [], made)
                    self.restart()
            with self.lock:
                self.ran[mode] += made.ran
                self.rounds += 1
            seed += self.options.connections

    def found(self, made: Round, finding: Finding, node, judged: str) -> bool:
        """Tells of it; whether the round goes on."""
        kind = finding.kind
        if kind in ("parted", "reference"):
            self.counts[f"rounds ended: {kind}"] += 1
            return False
        alive = self.server.alive()
        if not alive or kind == "hang":
            self.restart() if kind == "hang" else self.alive()
        # Deaths and panics are known by their place, the rest only once it is small.
        if kind.startswith("accepted") and not self.options.all:
            self.counts[f"{kind} (MariaDB refuses it)"] += 1
            return judged != "definition"
        loud = kind.startswith(("panic", "death", "memory", "hang", "slow", "lost"))
        if loud and signature(kind, str(node)) in self.told:
            self.counts[kind[:90]] += 1
            return alive and kind != "hang"
        before = [n for n, _ in made.history]
        if not loud:
            self.shrink_in_place(made, node, judged, kind)
            if made.mode not in BUILDS and (why := known_of(str(node))):
                self.counts[f"known: {why}"] += 1
                return judged != "definition"
        name = signature(kind, str(node))
        if name in self.told:
            self.counts[kind[:90]] += 1
            return judged != "definition"
        self.told[name] = ""
        script = [*map(str, before), str(node)]
        if not self.options.quick:
            script = self.small(made, before, node, judged, kind) or script
            if loud and not kind.startswith(("panic", "death")):
                self.told[signature(kind, script[-1])] = ""
        self.tell(kind, finding.detail, script, made)
        # A database that was made anew for it, or in which a table is another, ends the round.
        return self.options.quick and alive and judged != "definition"

    def shrink_in_place(self, made: Round, node, judged: str, kind: str) -> None:
        def still() -> bool:
            try:
                made.judge(node, judged)
            except Finding as f:
                return f.kind == kind
            return False

        if judged != "definition" and still():
            shrink(node, still, 200)

    def small(self, made: Round, before, node, judged: str, kind: str) -> list[str] | None:
        """The smallest script found, in a database of its own."""
        other = Round(made.seed, made.mode, made.database, self.server, made.theirs and self.reference)
        other.tables, other.settled = made.tables, made.settled
        loud = signature(kind, "")

        def shows(statements) -> bool:
            try:
                self.alive()
                other.fresh()
                for n in statements[:-1]:
                    for c in other.connections():
                        c.run(str(n))
                other.judge(statements[-1], judged)
            except Finding as f:
                if not self.server.alive():
                    self.alive()
                return f.kind == kind or signature(f.kind, "") == loud
            except (Dead, OSError):
                self.alive()
            return False

        try:
            found = smallest(before, node, shows, self.options.minimise)
        finally:
            other.close()
        return found and [str(n) for n in found]

    def tell(self, kind: str, detail: str, script: list[str], made: Round) -> None:
        with self.lock:
            self.counts[kind[:90]] += 1
            number = len(list(self.out.glob("*.sql"))) + 1
            short = re.sub(r"\W+", "-", kind)[:50].strip("-")
            path = self.out / f"{number:04}-{short}.sql"
            head = f"{kind}\nseed {made.seed}, {made.mode}\n{detail}"
            path.write_text("".join(f"-- {line}\n" for line in head.splitlines()) + ";\n".join(script) + ";\n", errors="replace")
            if self.options.verbose:
                print(f"{path.name}: {(script or [''])[-1][:300]}", flush=True)

    # -- the end -----------------------------------------------------------------------------------------------------
    def contents(self) -> dict[str, list]:
        """All rows of all databases that rounds left."""
        found = {}
        probe = Round(0, "wild", "fz0", self.server)
        probe.ours.setup = ["SET max_statement_time = 60"]
        databases = [row[0].decode() for row in probe.ours.run("SHOW DATABASES").rows if row[0].startswith(b"fz")]
        for d in databases:
            for row in probe.ours.run(f"SHOW FULL TABLES FROM {d}").rows:
                if row[1] == b"BASE TABLE":
                    answer = probe.ours.run(f"SELECT * FROM {d}.`{row[0].decode()}`")
                    found[f"{d}.{row[0].decode()}"] = sorted(answer.rows, key=repr) if isinstance(answer, Rows) else shown(answer)
        probe.close()
        return found

    def judge_folder(self) -> None:
        """kill -9 and a start give the same rows; `narwal check` finds nothing."""
        made = Round(0, "wild", "fz0", self.server)
        before = self.contents()
        self.server.kill()
        self.server.start()
        behind = self.contents()
        if before != behind:
            wrong = [t for t in {*before, *behind} if before.get(t) != behind.get(t)]
            self.tell("rows behind a kill", "\n".join(f"{t}: {before.get(t)} | {behind.get(t)}" for t in wrong), [], made)
        if code := self.server.stop():
            self.tell("exit code", str(code), [], made)
        done = subprocess.run([self.server.binary, "check", self.server.datadir], capture_output=True, text=True)
        if done.returncode:
            self.tell("check", done.stdout[-3000:] + done.stderr[-3000:], [], made)
            shutil.copytree(self.server.datadir, self.out / "folder", dirs_exist_ok=True)

    def go(self) -> int:
        began = time.monotonic()
        try:
            self.start()
            self.end = time.monotonic() + self.options.seconds
            threads = [threading.Thread(target=self.work, args=(n,), daemon=True) for n in range(self.options.connections)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            self.alive()
            self.judge_folder()
        finally:
            for server in (getattr(self, "server", None), getattr(self, "reference", None)):
                if server:
                    server.kill()
            shutil.rmtree(self.folder, ignore_errors=True)
        return self.report(time.monotonic() - began)

    def report(self, took: float) -> int:
        print(f"{sum(self.ran.values())} statements in {self.rounds} rounds, {took:.0f} s: {dict(self.ran)}; peak memory {self.server.peak:.0f} MiB")
        for kind, count in sorted(self.counts.items()):
            print(f"{count:7}  {kind}")
        found = len(list(self.out.glob("*.sql")))
        print(f"{found} findings in {self.out}" if found else "nothing found")
        return 1 if found else 0


def main(arguments=None) -> int:
    p = argparse.ArgumentParser(prog="./fuzz statements", description=HELP, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seconds", type=float, help="how long (30; with --queries, until there are so many)")
    p.add_argument("--answers", action="store_true",
                   help="with --against, for a build that refuses more: only rows, and numbers of changed ones, of what both answer")
    p.add_argument("--against", help="another narwal binary: both have to give the same answers; no other rounds")
    p.add_argument("--queries", type=int, default=0, help="end behind about so many statements")
    p.add_argument("--seed", type=int, default=1, help="the first seed (1)")
    p.add_argument("--connections", type=int, default=3, help="rounds at the same time, each in its own database (3)")
    p.add_argument("--statements", type=int, default=120, help="statements of a round (120)")
    p.add_argument("--rounds", type=int, default=0, help="end behind so many rounds of each connection (0: when the time is over)")
    p.add_argument("--modes", default="wild,self,beside", help="kinds of rounds (wild,self,beside)")
    p.add_argument("--out", default=str(Path(tempfile.gettempdir()) / f"narwal-statements-found-{os.getpid()}"), help="where findings go")
    p.add_argument("--minimise", type=float, default=40, help="seconds to make one finding small (40)")
    p.add_argument("--all", action="store_true", help="tell also of what Narwal takes and MariaDB refuses, not only count it")
    p.add_argument("--quick", action="store_true", help="do not make findings small")
    p.add_argument("--verbose", action="store_true", help="tell of each finding when it is found")
    options = p.parse_args(arguments)
    options.modes = ["answers" if options.answers else "against"] if options.against else options.modes.split(",")
    options.seconds = options.seconds or (86400 if options.queries else 30)
    options.queries = options.queries or 10**12
    return Fuzzer(options).go()


if __name__ == "__main__":
    sys.exit(main())
