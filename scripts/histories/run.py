#!/usr/bin/env python3
"""Histories: random transactions by several clients, kill -9 and KILL among them, and a checker of what they saw.

Each level gets a server of its own. The history (every statement, its answer, when it was sent and answered) is checked
for the anomalies of Adya and Elle; those that the level forbids are faults. docs/isolation.md says what they are.

Exit code 1: an anomaly that the level forbids, or an error that no client should get.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.servers import MariaDB, Narwal, Server  # noqa: E402
from testbed.wire import Connection, Lost, SqlError  # noqa: E402

import load  # noqa: E402
from checker import Result, check  # noqa: E402
from record import History  # noqa: E402
from record import load as load_history  # noqa: E402
from levels import FORBIDDEN, SQL  # noqa: E402

COMMON = ["--innodb-flush-log-at-trx-commit=1"]
MARIADB = ["--innodb-buffer-pool-size=64M", "--performance-schema=OFF", "--character-set-server=utf8mb4", "--skip-log-bin"]


@dataclass
class Run:
    history: History
    result: Result
    kills: int
    connections_killed: int
    took: float
    check_took: float
    errors: Counter
    faults: list[str]


def make_server(kind: str, folder: Path, args: list[str], binary: str | None = None) -> Server:
    if kind == "mariadb":
        return MariaDB(folder, [*COMMON, *MARIADB, *args])
    return Narwal(folder, [*COMMON, *args], binary=binary)


def killer(shared: load.Shared, rng: random.Random, every: float, count: list[int]) -> None:
    """KILL of a random client's connection or statement."""
    while not shared.stop and len(shared.txns) < shared.wanted:
        time.sleep(rng.uniform(0.5, 1.5) * every)
        try:
            c = Connection(shared.port, timeout=10)
            victim = rng.choice(list(shared.connections.values()))
            c.query(f"KILL {rng.choice(['CONNECTION', 'QUERY'])} {victim}")
            count[0] += 1
            c.drop()
        except (Lost, SqlError, IndexError):
            pass


def run(server: Server, level: str, txns: int, clients: int, seed: int, kills: int, kill_every: float = 0.0) -> Run:
    """A history on a server that was made and not yet started."""
    rng = random.Random(seed)
    server.start()
    registers = load.create(server.port)
    shared = load.Shared(level, seed, txns)
    shared.port = server.port
    began, killed, faults = time.monotonic(), 0, []
    threads = [load.Client(shared, i + 1) for i in range(clients)]
    count = [0]
    for t in threads:
        t.start()
    if kill_every:
        threading.Thread(target=killer, args=(shared, rng, kill_every, count), daemon=True).start()
    moments = sorted(rng.sample(range(txns // 20, txns - txns // 20), kills)) if kills else []
    while any(t.is_alive() for t in threads):
        time.sleep(0.005)
        if not server.alive():
            faults.append(f"the server ended\n{server.log_tail()}")
            shared.stop = True
            break
        if moments and len(shared.txns) >= moments[0]:
            moments.pop(0)
            shared.up.clear()
            server.kill()
            killed += 1
            server.start(120)
            shared.up.set()
    for t in threads:
        t.join(60)
    faults += [t.fault for t in threads if t.fault]
    if not server.alive():
        server.start(120)
    h = load.history(shared, registers)
    h.notes = {"seed": seed, "kills": killed}
    took = time.monotonic() - began
    began = time.monotonic()
    return Run(h, check(h), killed, count[0], took, time.monotonic() - began, shared.errors, faults)


def line(cells: list) -> str:
    widths = (9, 7, 10, 6, 6, 8, 8, 6, 6, 8, 8)
    return "  ".join(f"{c!s:<{w}}" for c, w in zip(cells, widths)) + f"  {cells[-1]}"


HEAD = line(["server", "level", "seed", "txns", "ok", "aborted", "unknown", "kills", "KILLs", "load s", "check s", "anomalies (forbidden ones: !)"])


def row(kind: str, seed: int, r: Run) -> str:
    t = r.result.transactions
    bad = FORBIDDEN[r.history.level]
    kinds = ", ".join(f"{'!' if k in bad else ''}{k} {n}" for k, n in sorted(r.result.kinds().items())) or "none"
    return line([kind, r.history.level, seed, sum(t.values()), t["ok"], t["abort"], t["info"], r.kills, r.connections_killed,
                 f"{r.took:.1f}", f"{r.check_took:.1f}", kinds])  # fmt: skip


def show(result: Result, level: str, all_kinds: bool, most: int) -> None:
    kinds = result.kinds() if all_kinds else {a.kind for a in result.forbidden(level)}
    for kind in list(sorted(kinds))[:most]:
        print(f"\n{result.shortest(kind).words()}", flush=True)


def parse() -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./histories", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--server", choices=["narwal", "mariadb"], default="narwal")
    p.add_argument("--levels", default=",".join(SQL), help=f"of {','.join(SQL)} (default all; rr-off: innodb_snapshot_isolation=OFF)")
    p.add_argument("--txns", type=int, default=2000, help="transactions of a history")
    p.add_argument("--clients", type=int, default=8)
    p.add_argument("--kills", type=int, default=3, help="kill -9 of the server in each history")
    p.add_argument("--kill-every", type=float, default=0.3, metavar="SECONDS", help="KILL of a client about this often; 0: never")
    p.add_argument("--rounds", type=int, default=1, help="histories of each level, each with the next seed")
    p.add_argument("--minutes", type=float, default=0, help="rounds for this long")
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    p.add_argument("--show", type=int, default=3, metavar="N", help="print a shortest example of so many kinds")
    p.add_argument("--show-allowed", action="store_true", help="examples of what the level allows, too")
    p.add_argument("--go-on", action="store_true", help="do not stop at the first fault")
    p.add_argument("--check", metavar="FILE", help="check a kept history again, without a server")
    p.add_argument("--as-level", choices=list(SQL), help="check by what another level forbids")
    p.add_argument("--save", metavar="DIR", help="keep all histories there (else only those with faults, in ./torture-out)")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal (else NARWAL_BIN, else it is built)")
    p.add_argument("--server-arg", action="append", default=[], help="a further argument for the server (repeatable)")
    return p.parse_args()


def check_file(o: argparse.Namespace) -> int:
    result = check(load_history(Path(o.check)))
    level = o.as_level or result.level
    print(f"{sum(result.transactions.values())} transactions at {result.level}: {dict(result.kinds()) or 'no anomalies'}")
    show(result, level, o.show_allowed, o.show)
    return 1 if result.forbidden(level) else 0


def main() -> int:
    o = parse()
    # The servers end with the runner, also when it is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if o.check:
        return check_file(o)
    began, faults, number = time.monotonic(), 0, 0
    print(HEAD, flush=True)
    while number < o.rounds or o.minutes and time.monotonic() - began < 60 * o.minutes:
        for level in o.levels.split(","):
            faults += one(o, level, o.seed + number)
            if faults and not o.go_on:
                return 1
        number += 1
    print(f"histories: {number} rounds, {faults} histories with faults, {time.monotonic() - began:.0f} s, seed {o.seed}")
    return 1 if faults else 0


def one(o: argparse.Namespace, level: str, seed: int) -> int:
    folder = Path(tempfile.mkdtemp(prefix="narwal-histories-"))
    server = make_server(o.server, folder / "server", o.server_arg, o.narwal)
    server.create()
    try:
        r = run(server, level, o.txns, o.clients, seed, o.kills, o.kill_every)
    finally:
        server.remove()
        shutil.rmtree(folder, ignore_errors=True)
    print(row(o.server, seed, r), flush=True)
    for f in r.faults:
        print(f"FAULT: {f}")
    wrong = r.result.forbidden(o.as_level or level)
    show(r.result, o.as_level or level, o.show_allowed, o.show)
    place = Path(o.save) if o.save else Path(__file__).resolve().parents[2] / "torture-out" if wrong else None
    if place:
        place.mkdir(parents=True, exist_ok=True)
        file = place / f"history-{o.server}-{level}-{seed}.jsonl"
        r.history.save(file)
        print(f"  kept: {file} (./histories --check {file})")
    return 1 if wrong or r.faults else 0


if __name__ == "__main__":
    sys.exit(main())
