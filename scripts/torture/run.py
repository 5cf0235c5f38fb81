#!/usr/bin/env python3
"""Crash torture: load by many connections, kill -9 at random moments, restart, check what must hold.

Checked after each restart: every acknowledged transaction is there (modes 1 and 2: kill -9 takes nothing from the
operating system; mode 0: the state is a prefix of the commit order), nothing that a reader saw is gone, no half
transaction, indexes agree with rows, AUTO_INCREMENT values never come back, DDL is all or nothing; now and then and at
the end of each data folder the event stream from the start rebuilds exactly the tables, GTIDs without gap or repeat.
After each kill, before anything else, `narwal check` must find nothing in the dead folder.

--quick is for ten thousand kills: few clients, short loads, several data folders at once, and the checks that read most (indexes,
the dead folder, the event stream) behind a part of the kills only.

A part of the load are transactions that outgrow their share of memory (set very small): chunks in the log, rows and locks
in files. A third of the kills comes in the middle of one, a third right after one was acknowledged. In most data folders every
seventh transaction is an XA transaction: after a restart exactly those are prepared that have to be, and are ended at random.

With --replicas: scripts/torture/replicas.py. With --topology: scripts/torture/topologies.py. With --restore-points:
scripts/torture/points.py. With --disconnects: scripts/torture/disconnects.py. With --failover: scripts/torture/failover.py. With --programs: scripts/torture/programs.py.
With --ring: scripts/torture/ring.py.
With --flips or --simulate (first of all arguments): scripts/torture/flips.py and simulate.py, which have a --help of their own.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from testbed.servers import ROOT, MariaDB, Narwal, Server, ServerDied  # noqa: E402
from testbed.topology import TOPOLOGIES  # noqa: E402
from testbed.wire import Connection, Lost, SqlError  # noqa: E402

from check import check_state, check_stream, end_prepared  # noqa: E402
from workload import Load  # noqa: E402


class Torture:
    def __init__(self, o: argparse.Namespace):
        self.o = o
        self.out = Path(o.out).resolve()
        self.out.mkdir(parents=True, exist_ok=True)
        self.rng = random.Random(o.seed)
        self.kills_in = self.kills_after = self.checks = self.large = self.spills = self.prepared = 0
        self.kills = self.checkpoints = self.recovery_kills = self.clean_stops = self.acknowledged = self.streams = 0
        self.slowest_start = 0.0
        self.faults: list[str] = []
        self.began = time.monotonic()

    def server(self, folder: Path, mode: int) -> Server:
        args = [f"--innodb-flush-log-at-trx-commit={mode}", "--max-connections=200"]
        if self.o.mariadb:
            return MariaDB(folder, [*args, f"--sync-binlog={1 if mode == 1 else 0}", "--log-bin=binlog", "--server-id=1",
                                    "--binlog-format=ROW", "--character-set-server=utf8mb4",
                                    "--collation-server=utf8mb4_general_ci", *self.o.server_arg])  # fmt: skip
        # A small memory budget makes checkpoints start all the time, small segments make the log change files.
        if self.rng.random() < 0.6:
            args.append("--innodb-buffer-pool-size=6M")
        if self.rng.random() < 0.6:
            args.append("--innodb-log-file-size=4M")
        # Rows and locks of a transaction leave memory early, its events even earlier.
        if self.rng.random() < 0.8:
            memory = self.rng.choice(["8K", "32K", "200K"])
            args += ["--binlog-oob-threshold=16K", f"--narwal-transaction-memory={memory}"]
        if self.rng.random() < 0.3:
            args.append("--narwal-log-compression=zstd")
        self.keys = []
        if self.rng.random() < 0.2:
            folder.mkdir(parents=True, exist_ok=True)
            key = folder / "keys.txt"
            key.write_text(f"1;{self.rng.randbytes(32).hex()}\n")
            key.chmod(0o600)
            self.keys = [f"--encryption-key-file={key}"]
        return Narwal(folder, [*args, *self.keys, *self.o.server_arg], binary=self.o.narwal)

    def export(self, server: Server, number: int) -> list[Path]:
        """The event stream from the start as flat files, taken from the dead server's folder where possible."""
        if self.o.mariadb:
            return sorted(server.datadir.glob("binlog.0*"))
        flat = server.folder / f"export.{number}"
        done = subprocess.run(
            [str(server.binary), "export-binlog", "--datadir", str(server.datadir), "--out", str(flat), *self.keys],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise ServerDied(f"export-binlog failed: {done.stderr.strip()[-500:]}")
        return [flat] if flat.is_file() else sorted(p for p in flat.iterdir() if not p.name.endswith(".index"))

    def fault(self, folder: Path, cycle: str, faults: list[str]) -> None:
        for f in faults[:10]:
            print(f"FAULT {cycle}: {f}", flush=True)
        if len(faults) > 10:
            print(f"FAULT {cycle}: ... and {len(faults) - 10} more", flush=True)
        self.faults += [f"{cycle}: {f}" for f in faults]
        print(f"  seed {self.o.seed}; data folder, server log and acknowledgements kept in {folder}", flush=True)

    def folder_round(self, number: int, mode: int, kills: int) -> None:
        """One data folder through `kills` kills in one durability mode."""
        folder = self.out / f"round-{number}-mode-{mode}"
        server = self.server(folder, mode)
        server.create()
        print(f"  folder {number}: {' '.join(server.args)}", flush=True)
        with open(folder / "acknowledged.txt", "w") as acknowledgements:
            # One data folder in three has none: what they keep of the log and the lists of checkpoints is not always there.
            xa = 0.0 if self.o.mariadb or self.rng.random() < 0.3 else 0.15
            load = Load(self.o.clients, not self.o.no_ddl, acknowledgements, xa)
            cycle = f"round {number} mode {mode} start"
            try:
                server.start()
                load.create(server.port)
                n, end = 0, self.kills + kills
                while self.kills < end:
                    n += 1
                    cycle = f"round {number} mode {mode} kill {n}"
                    self.one_kill(server, load, mode, n, self.kills + 1 == end or n % self.o.stream_every == 0)
                    if load.faults:
                        self.fault(folder, cycle, load.faults)
                        break
                    if self.out_of_time():
                        break
            except (ServerDied, Lost, SqlError) as e:
                self.fault(folder, cycle, [f"{type(e).__name__}: {e}"])
            finally:
                server.kill()
                self.acknowledged += load.acknowledged
        if not load.faults and not self.faults and not self.o.keep:
            server.remove()

    def one_kill(self, server: Server, load: Load, mode: int, n: int, stream: bool) -> None:
        load.start(server.port, self.rng.randrange(1 << 30))
        low, high = self.o.load
        time.sleep(self.rng.uniform(low, high))
        if not server.alive():
            raise ServerDied(f"the server ended under load\n{server.log_tail()}")
        self.count_status(server)
        clean = self.rng.random() < 0.05
        if not clean and self.rng.random() < self.o.moments:
            self.choose_moment(load)
        if clean:
            code = server.stop()
            self.clean_stops += 1
            if code != 0:
                load.fault(f"a clean stop ended with exit code {code}")
        else:
            server.kill()
            self.kills += 1
        load.finish()
        if not self.o.mariadb and self.rng.random() < self.o.folders:
            self.check_folder(server, load)
        files = self.export(server, n) if stream and not self.o.mariadb else []
        while self.rng.random() < 0.15:  # recovery is killed as well, at any of its moments
            server.spawn()
            time.sleep(self.rng.uniform(0, self.o.recovery_kill))
            server.kill()
            self.recovery_kills += 1
        took = server.start(120)
        self.slowest_start = max(self.slowest_start, took)
        # kill -9 spares the operating system's memory, so mode 2 loses nothing either; a clean stop never does.
        strict = mode != 0 or clean
        faults, ended = end_prepared(load, server.port, strict, self.rng)
        self.prepared += len(ended)
        more, tables = check_state(load, server.port, strict, indexes=stream or self.rng.random() < self.o.indexes)
        faults += more
        if stream:
            if self.o.mariadb:
                server.stop()
                files = self.export(server, n)
            problems, replay = check_stream(files, tables, ended)
            faults += problems
            self.streams += 1
            if not problems and not self.o.mariadb and not self.o.keep:
                for f in files:
                    f.unlink()
            if self.o.mariadb:
                server.start(120)
        load.faults += faults
        if n % 5 == 0 or stream:
            extra = f", stream of {replay.groups} groups" if stream else ""
            print(f"  {time.monotonic() - self.began:6.1f} s: mode {mode}, {self.kills} kills, "
                  f"{self.acknowledged + load.acknowledged} acknowledged{extra}", flush=True)  # fmt: skip

    def choose_moment(self, load: Load) -> None:
        """Waits for the middle of a large transaction, or for the moment after one, or not at all."""
        what, end = self.rng.random(), time.monotonic() + 5
        if what < 0.35:
            while not load.large_running and time.monotonic() < end:
                time.sleep(0.001)
            time.sleep(self.rng.uniform(0, 0.3))
            self.kills_in += bool(load.large_running)
        elif what < 0.7:
            before = load.large_committed
            while load.large_committed == before and time.monotonic() < end:
                time.sleep(0.0002)
            self.kills_after += load.large_committed > before

    def check_folder(self, server: Server, load: Load) -> None:
        """`narwal check` on the dead server's folder; it changes nothing there."""
        done = subprocess.run(
            [str(server.binary), "check", str(server.datadir), *self.keys], capture_output=True, text=True, timeout=300
        )
        self.checks += 1
        if done.returncode:
            load.fault(f"narwal check ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-600:]}")

    def count_status(self, server: Server) -> None:
        """What this server process has done so far; its first checkpoint is one that every start makes."""
        if self.o.mariadb:
            return
        c = Connection(server.port)
        rows = dict(c.query("SHOW GLOBAL STATUS LIKE 'Narwal_%'").rows)
        c.drop()
        self.checkpoints += max(0, int(rows.get("Narwal_checkpoints", 1)) - 1)
        self.large += int(rows.get("Narwal_oob_commits", 0))
        self.spills += int(rows.get("Narwal_spills", 0))

    def out_of_time(self) -> bool:
        return bool(self.o.seconds) and time.monotonic() - self.began > self.o.seconds

    def run(self) -> int:
        print(f"torture: seed {self.o.seed}, {self.o.kills or 'any number of'} kills, modes {self.o.modes}, "
              f"{self.o.clients} clients; work in {self.out}", flush=True)  # fmt: skip
        number, rounds = 0, []
        while sum(rounds) < self.o.kills:  # spread the kills over data folders, a third each for three modes
            per = min(self.o.per_folder, -(-self.o.kills // len(self.o.modes)))
            rounds.append(min(per, self.o.kills - sum(rounds)))
        while not self.out_of_time() and (self.o.seconds or number < len(rounds)):
            kills = rounds[number] if number < len(rounds) else self.o.per_folder
            self.folder_round(number, self.o.modes[number % len(self.o.modes)], kills)
            number += 1
            if self.faults and not self.o.go_on:
                break
        print(f"torture: {self.kills_in} kills inside and {self.kills_after} right after a large transaction, {self.large} "
              f"out-of-band commits, {self.spills} spills, {self.prepared} prepared transactions found, {self.checks} data folders checked")  # fmt: skip
        print(f"torture: {self.recovery_kills} kills during recovery, {self.clean_stops} clean stops, {self.checkpoints} checkpoints "
              f"under load, {self.streams} event streams rebuilt, {self.acknowledged} transactions acknowledged, slowest start {self.slowest_start:.2f} s, "
              f"{time.monotonic() - self.began:.0f} s, seed {self.o.seed}")  # fmt: skip
        print(f"torture: {self.kills} kills, {len(self.faults)} faults")
        if not self.faults and not self.o.keep:
            shutil.rmtree(self.out, ignore_errors=True)
        return 1 if self.faults else 0


# What --quick sets.
QUICK = {"clients": 3, "per_folder": 30, "load": (0.03, 0.2), "recovery_kill": 0.05, "stream_every": 30, "moments": 0.15,
         "indexes": 0.1, "folders": 0.1, "jobs": max(2, os.cpu_count() or 2)}  # fmt: skip


def in_parts(o: argparse.Namespace) -> int:
    """--jobs processes, each with its share of the kills and a seed of its own."""
    began, out = time.monotonic(), Path(o.out)
    # What is given last counts.
    shares = [o.kills // o.jobs + (n < o.kills % o.jobs) for n in range(o.jobs)]
    parts = [
        subprocess.Popen(
            [sys.executable, *sys.argv, "--jobs=1", f"--kills={share}", f"--seed={o.seed + n}", f"--out={out / str(n)}"],
            stdout=subprocess.PIPE, text=True,
        )
        for n, share in enumerate(shares)
    ]  # fmt: skip
    said = [""] * o.jobs

    def listen(n: int) -> None:
        for line in parts[n].stdout:
            said[n] += line
            if line.startswith(("FAULT", "torture", "  seed")) or " kills, " in line:
                print(f"[{n}] {line}", end="", flush=True)

    threads = [threading.Thread(target=listen, args=(n,)) for n in range(o.jobs)]
    try:
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        failed = any([p.wait() for p in parts])
    finally:
        for p in parts:
            p.kill()
    kills, faults = (sum(int(m) for text in said for m in re.findall(rf"^torture: {what}", text, re.M)) for what in (r"(\d+) kills, \d+ faults", r"\d+ kills, (\d+) faults"))
    print(f"torture: together {kills} kills, {faults} faults, {time.monotonic() - began:.0f} s")
    if not failed and not o.keep:
        shutil.rmtree(out, ignore_errors=True)
    return 1 if failed else 0


def parse() -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="./torture", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--statements", action="store_true",
                   help="instead of kills: every statement of tests/hostile_statements.py, alone and 16 at once")
    p.add_argument("--kills", type=int, default=200)
    p.add_argument("--seconds", type=float, default=0, help="go on for this long instead of --kills")
    p.add_argument("--minutes", type=float, default=0, help="the same in minutes")
    p.add_argument("--replicas", type=int, default=0, metavar="N",
                   help="attach N MariaDB replicas and kill these as well (one data folder, for --seconds, default 60)")  # fmt: skip
    p.add_argument("--topology", choices=TOPOLOGIES,
                   help="Narwal and MariaDB as replicas of each other, kills and cut links (for --seconds, default 60;\n"
                   "pair: two Narwals, --kills of them)")  # fmt: skip
    p.add_argument("--disconnects", type=int, default=0, metavar="N",
                   help="no kills: N clients that vanish at random moments, and what is left of them")
    p.add_argument("--failover", type=int, default=0, metavar="N",
                   help="three Narwals: N primaries are killed, stopped or cut off, others promoted; nothing acknowledged is lost")
    p.add_argument("--programs", type=int, default=0, metavar="N",
                   help="N statements with triggers, functions, procedures and events; a Narwal and its replicas are killed, all equal at the end")
    p.add_argument("--ring", type=int, default=0, metavar="N",
                   help="N statements on a MariaDB, a Narwal and a MySQL that follow each other; they are killed, all equal at the end")
    p.add_argument("--mysql", default="mysql-8.4", metavar="NAME", help="with --ring: which of the servers that scripts/peers fetches")
    p.add_argument("--restore-points", type=int, default=0, metavar="N",
                   help="no kills: record what a client sees at random moments of --seconds of load (default 20), restore N of\n"
                   "them from backups and the archive, compare every row")  # fmt: skip
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    p.add_argument("--durability", default="all", choices=["0", "1", "2", "all"],
                   help="innodb_flush_log_at_trx_commit (default all: in turn, a data folder each)")  # fmt: skip
    p.add_argument("--quick", action="store_true", help="cheap kills, for many of them: sets the options from here to --jobs that aren't given")
    p.add_argument("--clients", type=int, default=12)
    p.add_argument("--per-folder", type=int, default=20, help="kills a data folder lives through")
    p.add_argument("--load", type=float, nargs=2, default=(0.1, 0.8), metavar=("MIN", "MAX"),
                   help="seconds of load before a kill, chosen between these")  # fmt: skip
    p.add_argument("--recovery-kill", type=float, default=0.2, help="recovery is killed up to this many seconds in")
    p.add_argument("--stream-every", type=int, default=5, help="kills between checks of the event stream")
    p.add_argument("--moments", type=float, default=1.0, help="share of the kills that may wait for a large transaction")
    p.add_argument("--indexes", type=float, default=1.0, help="share of the kills behind which all indexes are compared with the rows")
    p.add_argument("--folders", type=float, default=1.0, help="share of the kills behind which narwal check looks at the dead folder")
    p.add_argument("--jobs", type=int, default=1, help="data folders that are tortured at the same time, each by a process of its own")
    p.add_argument("--no-ddl", action="store_true", help="without CREATE, DROP and TRUNCATE beside the load")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal (else NARWAL_BIN, else it is built)")
    p.add_argument("--server-arg", action="append", default=[], help="a further argument for the server (repeatable)")
    p.add_argument("--mariadb", action="store_true", help="torture Debian's MariaDB: checks the checker")
    p.add_argument("--go-on", action="store_true", help="do not stop at the first fault")
    p.add_argument("--keep", action="store_true", help="keep data folders and exports")
    p.add_argument("--out", default=str(ROOT / "torture-out" / time.strftime("%Y%m%d-%H%M%S")))
    if "--quick" in sys.argv[1:]:
        p.set_defaults(**QUICK)
    o = p.parse_args()
    o.modes = [1, 0, 2] if o.durability == "all" else [int(o.durability)]
    o.seconds = o.seconds or 60 * o.minutes
    if o.seconds and not o.topology:
        o.kills = 0
    return o


def main() -> int:
    o = parse()
    if o.topology:
        import topologies

        return topologies.main(o)
    if o.disconnects:
        import disconnects

        return disconnects.main(o)
    if o.failover:
        import failover

        return failover.main(o)
    if o.programs:
        import programs

        return programs.main(o)
    if o.ring:
        import ring

        return ring.main(o)
    if o.restore_points:
        import points

        return points.main(o)
    if o.jobs > 1 and not o.replicas:
        return in_parts(o)
    torture = Torture(o)
    if not o.replicas:
        return torture.run()
    from replicas import ReplicaTorture

    return ReplicaTorture(torture).run()


if __name__ == "__main__":
    sys.exit(main())
