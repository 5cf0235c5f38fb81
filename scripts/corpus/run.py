#!/usr/bin/env python3
"""Runs MariaDB's own test files on MariaDB and on Narwal, statement by statement, and says where the answers differ.

The files are those of Debian's package mariadb-test-data. Servers are started for the run and ended with it. MariaDB's
answers are kept in target/corpus, so a second run asks Narwal only; Narwal's verdicts are kept for each binary.
docs/corpus.md explains the kinds of verdicts and the tables.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from testbed.servers import ROOT, MariaDB, ServerDied, narwal_binary  # noqa: E402

from corpus import follow, report  # noqa: E402
from corpus.judge import KINDS, WRONG, Judge  # noqa: E402
from corpus.left_out import NEEDS  # noqa: E402
from corpus.play import Player  # noqa: E402
from corpus.record import SUITES, Recorder  # noqa: E402
from corpus.servers import MariaHome, NarwalHome, options_of  # noqa: E402
from corpus.store import Store, content, label  # noqa: E402
from corpus.wire import Lost, SqlError  # noqa: E402

# Small files of many families, which a quick run draws from.
QUICK = """type_blob func_if func_group bigint case null order_by_zerolength type_year func_op having insert_select func_isnull
negation_elimination func_test delete select_found update bool auto_increment keywords odbc join_nested
func_equal distinct truncate rename union_crash group_by_null ansi comments compare limit func_like empty_table""".split()


def options() -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./corpus", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("files", nargs="*", help="names (union, main.union, a path) or suites (main, json); none: all of main")
    p.add_argument("--quick", action="store_true", help="10 small files drawn by the seed; fails below the floor")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--shuffle", action="store_true", help="files in an order drawn by the seed: what a run has done so far is a fair sample")
    p.add_argument("--floor", type=float, default=90.0, help="with --quick: the least per cent of same answers (%(default)s)")
    p.add_argument("--narwal", help="the binary (default: NARWAL_BIN, or this tree's build)")
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--seconds", type=float, default=60, help="for one file on one server (%(default)s)")
    p.add_argument("--protocol", choices=["text", "prepared"], default="text", help="how statements are sent")
    p.add_argument("--again", action="store_true", help="ask Narwal again, also for files that this binary has been asked")
    p.add_argument("--record", action="store_true", help="only MariaDB's side")
    p.add_argument("--replica", choices=["narwal", "mariadb"], metavar="SOURCE",
                   help="play what is recorded to this kind of server while the other kind follows: stops of the replica, and other rows")
    p.add_argument("--follower", choices=["narwal", "mariadb"],
                   help="with --replica: the kind that follows, if not the other one; a MariaDB behind a MariaDB shows what is MariaDB's own")
    p.add_argument("--peer", metavar="FOLDER", help="with a MariaDB that follows: the one of this installation, as scripts/peers fetches it")
    p.add_argument("--report", action="store_true", help="run nothing: tables of what is kept for this binary")
    p.add_argument("--changed", metavar="BINARY", help="compare with another binary's kept verdicts: a path, or its hash; 'last': the one before")
    p.add_argument("--family", help="only files of this family")
    p.add_argument("--show", metavar="KINDS", help="print statements of these kinds (rows,accepted,...; 'wrong' for all wrong answers)")
    p.add_argument("--unexplained", action="store_true",
                   help="print rows that differ, with nothing refused before, by the causes that docs/differences.md has, and those without one")
    p.add_argument("--cause", default="", help="with --show: only with this in their cause")
    p.add_argument("--limit", type=int, default=40, help="rows of causes and of statements (%(default)s)")
    p.add_argument("--out", help="folder for what is kept (default target/corpus)")
    return p.parse_args()


def chosen(o: argparse.Namespace) -> list[Path]:
    if not (SUITES / "main").is_dir():
        raise SystemExit("MariaDB's test files are not installed: apt-get install mariadb-test-data (scripts/setup does)")
    if o.quick:
        there = [f for name in QUICK if (f := SUITES / "main" / f"{name}.test").is_file()]
        return random.Random(o.seed).sample(there, min(10, len(there)))
    out: list[Path] = []
    for name in o.files or ["main"]:
        out += files_named(name)
    if o.family:
        from families import family

        out = [f for f in out if family(*label(f).split(".", 1)) == o.family]
    out = list(dict.fromkeys(out))
    if o.shuffle:
        random.Random(o.seed).shuffle(out)
    return out


def files_named(name: str) -> list[Path]:
    if Path(name).is_file():
        return [Path(name)]
    if name == "main":
        return sorted((SUITES / "main").glob("*.test"))
    for folder in (SUITES / "suite" / name / "t", SUITES / "suite" / name):
        if found := sorted(folder.glob("*.test")):
            return found
    suite, _, file = name.rpartition(".")
    folders = [SUITES / "main"] if suite in ("", "main") else [SUITES / "suite" / suite / "t", SUITES / "suite" / suite]
    for folder in folders:
        if found := sorted(folder.glob(f"{file}.test")):
            return found
    raise SystemExit(f"no such file or suite: {name}")


def needs_more(file: Path) -> bool:
    """Files for a server built for debugging, or for several servers."""
    return bool(NEEDS.search(file.read_bytes().decode("latin1")))


class Worker(threading.Thread):
    """Takes files until there are none. Has a MariaDB and a Narwal of its own, which start when they are needed."""

    def __init__(self, run: Run, number: int):
        super().__init__(name=f"corpus-{number}", daemon=True)
        self.run_, self.folder = run, run.folder / str(number)
        self.maria: MariaHome | None = None
        self.narwal: NarwalHome | None = None

    def run(self) -> None:
        try:
            while (file := self.run_.next_file()) is not None:
                try:
                    self._file(file)
                except (ServerDied, Lost, SqlError, OSError) as e:
                    self.run_.failed(file, e)
                    if self.maria:
                        self.maria.clean = False
        finally:
            self.end_servers()

    def end_servers(self) -> None:
        for home in (self.maria, self.narwal):
            if home:
                home.end()

    def _file(self, file: Path) -> None:
        o, store = self.run_.o, self.run_.store
        began = time.monotonic()
        record = store.record(file)
        if record is None:
            record = self._record(file)
            store.keep_record(file, record)
        verdicts = None if o.again else store.verdicts(file, self.run_.binary_hash)
        if not o.record and (verdicts is None or verdicts["events"] != len(record["events"])):
            verdicts = self._play(file, record)
            store.keep_verdicts(file, self.run_.binary_hash, verdicts)
        self.run_.done(file, verdicts, record, time.monotonic() - began)

    def _record(self, file: Path) -> dict:
        if self.maria is None:
            (self.folder / "m").mkdir(parents=True)
            self.maria = MariaHome(self.folder / "m")
        text = file.read_bytes().decode("latin1")
        wanted = self.maria.fresh(text, options_of(file, self.maria.files))
        recorder = Recorder(file, self.maria.port, self.maria.files, self.run_.o.seconds, self.run_.o.protocol)
        events = recorder.run()
        # A statement that ended its server tells nothing.
        if not self.maria.server.alive():
            self.maria.clean = False
        portable = [w.replace(str(self.maria.files), "\x01F\x02") for w in wanted]
        return {"events": events, "ended": recorder.ended, "options": portable}

    def _play(self, file: Path, record: dict) -> dict:
        if self.narwal is None:
            (self.folder / "n").mkdir(parents=True)
            self.narwal = NarwalHome(self.folder / "n", self.run_.binary)
        self.narwal.fresh([w.replace("\x01F\x02", str(self.narwal.files)) for w in record["options"]])
        result = file.with_suffix(".result")
        if not result.is_file():
            result = file.parent.parent / "r" / result.name
        player = Player(self.narwal, Judge(result), 4 * self.run_.o.seconds)
        return {"events": len(record["events"]), "verdicts": player.run(record["events"])}


class Run:
    """The files, who takes them, and what came of them."""

    def __init__(self, o: argparse.Namespace, folder: Path):
        self.o, self.folder = o, folder
        self.files = [f for f in chosen(o) if not needs_more(f)]
        self.left = list(reversed(self.files))
        self.lock = threading.Lock()
        self.results: dict[str, dict] = {}
        self.failures: list[str] = []
        self.binary = narwal_binary(o.narwal)
        self.binary_hash = content(self.binary)
        version = MariaDB(folder / "version").version()
        self.store = Store(Path(o.out or Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "corpus"), version, o.protocol)

    def next_file(self) -> Path | None:
        with self.lock:
            return self.left.pop() if self.left else None

    def done(self, file: Path, verdicts: dict | None, record: dict, seconds: float) -> None:
        with self.lock:
            if verdicts is None:
                print(f"{label(file):44} {len(record['events']):6d} events, {record['ended']} ({seconds:.1f} s)", flush=True)
                return
            self.results[label(file)] = verdicts
            n = report.counts(verdicts)
            others = " ".join(f"{k} {n[k]}" for k in KINDS if n[k] and k != "same")
            print(f"{label(file):44} {sum(n.values()):6d} {100 * report.sameness(n):6.1f} %  {others} ({seconds:.1f} s)", flush=True)

    def failed(self, file: Path, error: Exception) -> None:
        with self.lock:
            self.failures.append(f"{label(file)}: {error}")
            print(f"{label(file):44} FAILED: {str(error)[:300]}", flush=True)

    def kept(self, binary: str) -> dict[str, dict]:
        found = ((f, self.store.verdicts(f, binary)) for f in self.files)
        return {label(f): v for f, v in found if v}

    def all(self) -> dict[str, dict]:
        if self.o.report:
            return self.kept(self.binary_hash)
        workers = [Worker(self, n) for n in range(min(self.o.workers, len(self.files)) or 1)]
        try:
            for w in workers:
                w.start()
            for w in workers:
                w.join()
        finally:
            self.left.clear()
            # Also after Ctrl-C and SIGTERM no server stays behind.
            for w in workers:
                w.end_servers()
        return dict(sorted(self.results.items()))


def print_tables(run: Run, results: dict[str, dict]) -> None:
    o = run.o
    if o.changed:
        other = o.changed
        if other == "last":
            other = next((b for b in run.store.binaries() if b != run.binary_hash), "")
        elif Path(other).is_file():
            other = content(Path(other))
        print(report.changed(run.kept(other), results, o.limit))
    elif o.unexplained:
        print(report.unexplained(results, o.limit))
    elif o.show:
        kinds = {k for name in o.show.split(",") for k in (WRONG if name == "wrong" else {name})}
        print(report.details(results, kinds, o.limit, o.cause))
    elif results:
        print("\n" + report.causes(results, o.limit) + "\n\n" + report.by_family(results))
    for line in run.failures:
        print("FAILED", line)


def main() -> int:
    o = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(130))
    place = next((p for p in (os.environ.get("NARWAL_TEST_DIR"), "/dev/shm") if p and os.access(p, os.W_OK)), None)
    folder = Path(tempfile.mkdtemp(prefix="narwal-corpus-", dir=place))
    try:
        run = Run(o, folder)
        if o.replica:
            return follow.run(run, o.replica, o.follower, o.peer)
        results = run.all()
        print_tables(run, results)
        if o.quick:
            return verdict_of_quick(o, results, run.failures)
        return 1 if run.failures else 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def verdict_of_quick(o: argparse.Namespace, results: dict[str, dict], failures: list[str]) -> int:
    n = sum((report.counts(v) for v in results.values()), report.collections.Counter())
    same = 100 * report.sameness(n)
    ended = sum(n[k] for k in ("lost", "hang", "died"))
    print(f"same answer: {same:.1f} % of {sum(n.values())}, floor {o.floor:.1f} %; connections lost, hangs, deaths: {ended}; seed {o.seed}")
    return 0 if same >= o.floor and not ended and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
