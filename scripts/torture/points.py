"""The torture of restores: a server under load of every kind, DDL and large transactions included, is backed up in every way and
archived, while a client records at random moments all that it sees in one snapshot, and its GTID. Then some of these moments are
restored, from the backups with and without the archive, by GTID, by position and by time, and every row is compared.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from testbed.compare import Contents, Reader
from testbed.load import Load
from testbed.servers import Narwal, ServerDied
from testbed.wire import Connection, Lost, SqlError


@dataclass
class Point:
    """A moment, as a client saw it."""

    gtids: str
    file: str
    position: int
    contents: Contents
    # Nothing happened from this second's end until the next one had begun.
    second: int | None = None


@dataclass
class Backup:
    source: Path
    end: dict

    def reaches(self, point: Point) -> bool:
        """Whether its table store is of the moment or earlier: then it can be restored to it."""
        return covers(point.gtids, self.end["base_gtid_state"])

    def has(self, point: Point) -> bool:
        """Whether its own log goes as far."""
        return covers(self.end["gtid_binlog_state"], point.gtids)


def covers(gtids: str, others: str) -> bool:
    def numbers(text: str) -> dict[str, int]:
        out: dict[str, int] = {}
        for g in filter(None, text.split(",")):
            domain, _, n = g.split("-")
            out[domain] = max(out.get(domain, 0), int(n))
        return out

    have = numbers(gtids)
    return all(have.get(d, 0) >= n for d, n in numbers(others).items())


class RestorePoints:
    """`seconds` of load with recordings; then `points` of them are restored. Raises at the first fault."""

    WAYS = ("server", "connection", "stream", "no log")

    def __init__(self, folder: Path, points: int, seconds: float, seed: int, backups: int = 3, binary: str | None = None,
                 server_args: tuple[str, ...] = ()):  # fmt: skip
        self.folder, self.points, self.seconds, self.backups = folder, points, seconds, backups
        self.rng = random.Random(seed)
        self.seed = seed
        self.archive = folder / "archive"
        rng = self.rng
        # A small memory budget makes checkpoints start all the time, small segments make the log change files; what a
        # transaction may have in memory is little, too.
        args = [
            f"--narwal-archive-url={self.archive.as_uri()}", "--narwal-archive-timeout=1", "--innodb-flush-log-at-trx-commit=2",
            f"--innodb-buffer-pool-size={rng.choice(['6M', '32M'])}", f"--innodb-log-file-size={rng.choice(['1M', '4M'])}",
            "--binlog-oob-threshold=16K", f"--narwal-transaction-memory={rng.choice(['8K', '200K'])}",
            f"--max-binlog-size={rng.choice(['1M', '1G'])}", *server_args,
        ]  # fmt: skip
        self.server = Narwal(folder / "source", args, binary=binary)
        self.recorded: list[Point] = []
        self.taken: list[Backup] = []
        self.counts: Counter[str] = Counter()
        self.rows = self.transactions = self.definitions = 0
        self.say = lambda text: print(text, flush=True)

    def command(self, *args: str | Path, out=subprocess.PIPE) -> str:
        done = subprocess.run([self.server.binary, *map(str, args)], stdout=out, stderr=subprocess.PIPE, timeout=300)
        if done.returncode:
            raise AssertionError(f"narwal {' '.join(map(str, args))}: {done.returncode}\n{done.stderr.decode()}")
        return (done.stdout or b"").decode()

    def run(self) -> None:
        try:
            self.server.start()
            self.record()
            # A clean stop ships the rest of the log.
            self.server.stop()
        finally:
            self.server.kill()
        for number, point in enumerate(self.choose()):
            self.restore(number, point)

    # -- under load ----------------------------------------------------------------------------------------------------
    def record(self) -> None:
        reader = Reader(self.server.port)
        # Every backup copies the whole log, and every restore again: the load leaves pauses, or a fast machine fills the disk.
        with Load(self.server, "points", writers=3, seed=self.seed, large=0.01, pause=0.03) as load, _other_domain(self.server) as other:
            self.back_up("server", incremental=False)
            began, due = time.monotonic(), 1
            # On a machine that is busy with other things, until there are enough.
            while (passed := time.monotonic() - began) < self.seconds or len(self.recorded) < self.points or due < self.backups:
                if due < self.backups and passed > self.seconds * due / self.backups:
                    self.back_up(self.rng.choice(self.WAYS), incremental=self.rng.random() < 0.5)
                    due += 1
                time.sleep(self.rng.uniform(0, self.seconds / (6 * self.points)))
                other.write()
                with load.no_definitions():
                    self.recorded.append(self.look(reader))
            # Moments that a second can name.
            for _ in range(2):
                with load.quiet():
                    point = self.look(reader)
                    now = time.time()
                    while time.time() < int(now) + 1.1:
                        time.sleep(0.01)
                    point.second = int(now)
                    self.recorded.append(point)
                load.wait(5)
            self.transactions, self.definitions = load.committed, load.definitions
        reader.close()

    def look(self, reader: Reader) -> Point:
        contents, place = reader.read()
        return Point(place["binlog_snapshot_gtid_executed"], place["binlog_snapshot_file"], int(place["binlog_snapshot_position"]), contents)

    def back_up(self, way: str, incremental: bool) -> None:
        to = self.folder / f"backup-{len(self.taken)}"
        args: list[str] = [f"--socket={self.server.socket}"] if way == "server" else ["--host=127.0.0.1", f"--port={self.server.port}"]
        # At the default pace a log that grows as fast is chased for long.
        args.append("--max-rate=0")
        if way == "no log":
            args.append("--no-log")
        if way == "stream":
            with open(to, "wb") as out:
                self.command("backup", "--stream", *args, out=out)
            # Its manifest is at its end; the folder that it becomes at once is asked instead.
            text = to.read_bytes()
            end = json.loads(text[text.rindex(b'{\n  "format"') :].split(b"\0")[0])["end"]
        else:
            folders = [b.source for b in self.taken if b.source.is_dir()]
            if incremental and folders:
                args.append(f"--incremental-from={self.rng.choice(folders)}")
                way = f"incremental, {way}"
            self.command("backup", f"--to={to}", *args)
            end = json.loads((to / "backup.json").read_text())["end"]
        self.taken.append(Backup(to, end))
        self.counts[f"backup: {way}"] += 1

    # -- afterwards ----------------------------------------------------------------------------------------------------
    def choose(self) -> list[Point]:
        """Points that some backup reaches, those of seconds among them."""
        able = [p for p in self.recorded if any(b.reaches(p) for b in self.taken)]
        seconds = [p for p in able if p.second is not None]
        others = [p for p in able if p.second is None]
        if len(able) < self.points:
            raise AssertionError(f"{len(self.recorded)} moments recorded, {len(able)} of them can be restored: {self.points} are wanted")
        return self.rng.sample(others, self.points - len(seconds)) + seconds

    def restore(self, number: int, point: Point) -> None:
        rng = self.rng
        able = [b for b in self.taken if b.reaches(point)]
        backup = rng.choice([b for b in able if b.has(point) and rng.random() < 0.7] or able)
        ways = {"gtid": f"--to-gtid={point.gtids}", "position": f"--to-position={point.file}:{point.position}"}
        by = rng.choice(["gtid", "gtid", "gtid", "position"])
        if point.second is not None:
            by, ways["datetime"] = "datetime", f"--to-datetime={point.second}"
        args = [f"--from={backup.source}", ways[by]]
        if not backup.has(point) or by == "datetime" or rng.random() < 0.3:
            args.append(f"--archive={self.archive}")
            self.counts["from a backup and the archive"] += 1
        else:
            self.counts["from a backup alone"] += 1
        server = Narwal(self.folder / f"restored-{number}", ["--server-id=77", "--innodb-flush-log-at-trx-commit=2"], binary=str(self.server.binary))
        try:
            self.command("restore", f"--datadir={server.datadir}", *args)
            self.counts[f"by {by}"] += 1
            server.start()
            reader = Reader(server.port)
            contents, place = reader.read()
            reader.close()
            what = f"restored by {args}"
            faults = point.contents.differences(contents, ("recording", "restored server"))
            if not point.contents.rows():
                faults.append("there was nothing to compare")
            if place["binlog_snapshot_gtid_executed"] != point.gtids:
                faults.append(f"its GTIDs are {place['binlog_snapshot_gtid_executed']}, recorded were {point.gtids}")
            if faults:
                raise AssertionError("\n".join([what, *faults[:10]]))
        finally:
            server.kill()
        self.rows += contents.rows()
        self.say(f"  {' '.join(args[1:])}: {len(contents.tables)} tables, {contents.rows()} rows, all as recorded")
        server.remove()

    def so_far(self) -> str:
        return (f"{self.transactions} transactions, {self.definitions} definitions, {len(self.recorded)} moments recorded; "
                + ", ".join(f"{n} x {what}" for what, n in sorted(self.counts.items())) + f"; {self.rows} rows compared")  # fmt: skip


class _other_domain:
    """A writer with a GTID domain of its own, so that a moment is a list of GTIDs."""

    def __init__(self, server):
        self.c = Connection(server.port, database="points")
        self.c.query("CREATE TABLE IF NOT EXISTS load_other (n INT PRIMARY KEY, s VARCHAR(30))")
        self.c.query("SET gtid_domain_id = 7")
        self.n = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.c.close()

    def write(self) -> None:
        self.n += 1
        self.c.query(f"INSERT INTO load_other VALUES ({self.n}, 'of another domain')")


def main(o) -> int:
    """`./torture --restore-points`, with run.py's options."""
    folder = Path(o.out).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    torture = RestorePoints(folder, o.restore_points, o.seconds or 20, o.seed, binary=o.narwal, server_args=tuple(o.server_arg))
    print(f"torture: {o.restore_points} moments to restore, seed {o.seed}; work in {folder}\n  {' '.join(torture.server.args)}", flush=True)
    began, fault = time.monotonic(), None
    try:
        torture.run()
    except (ServerDied, Lost, SqlError, AssertionError) as e:
        fault = f"{type(e).__name__}: {e}"
        print(f"FAULT: {fault}\n  seed {o.seed}; everything is kept in {folder}", flush=True)
    if not fault and not o.keep:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"torture: {torture.so_far()}")
    print(f"torture: {o.restore_points} moments, {time.monotonic() - began:.0f} s, seed {o.seed}; {1 if fault else 0} faults")
    return 1 if fault else 0
