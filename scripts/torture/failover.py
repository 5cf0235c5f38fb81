"""Primaries that are killed, stopped and cut off, others that are promoted, and clients that remember what was acknowledged.

Three Narwals with semi-synchronous replication, a watcher that runs `narwal promote` and `narwal rejoin` (lab/testbed/cluster.py), and
writers. Each number is tried by two writers or more, with different values, on whatever server they take for the primary; some hold
on to a former one as long as they can. Checked at the end: every acknowledged row is there, with the values that were acknowledged; no
number was acknowledged to two of them; what a reader saw on an open primary is there; all servers have the same. Of each fault the time
is noted until a write that began after it is acknowledged.
"""

from __future__ import annotations

import contextlib
import random
import shutil
import statistics
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pymysql

from testbed.cluster import Cluster, Node
from testbed.servers import ServerDied

# What happens to the primary, with its weight. The second part needs a network that can be cut.
FAULTS = {"kill": 4, "kill for long": 3, "pause": 3, "switch": 1}
CUTS = {"alone": 3, "without replicas": 3, "without clients": 3}
WRITERS = 6


@dataclass(frozen=True)
class Ack:
    number: int
    writer: int
    attempt: int
    server: int
    began: float
    ended: float


class Clients:
    """Writers and a reader, until they are told to stop."""

    def __init__(self, cluster: Cluster, seed: int):
        self.cluster, self.seed = cluster, seed
        self.acks: list[Ack] = []
        self.seen: dict[int, tuple[int, int]] = {}
        self.faults: list[str] = []
        self.attempts = self.refused = self.lost = 0
        self.lock = threading.Lock()
        self.ended = threading.Event()
        self.numbers: list[int] = [0]
        self.threads = [threading.Thread(target=self._write, args=(w,), daemon=True) for w in range(WRITERS)]
        self.threads.append(threading.Thread(target=self._read, daemon=True))

    def start(self) -> None:
        for thread in self.threads:
            thread.start()

    def stop(self) -> None:
        self.ended.set()
        for thread in self.threads:
            thread.join(30)

    def _number(self, rng: random.Random) -> int:
        """A new one, or one that another writer has just been given."""
        with self.lock:
            self.attempts += 1
            if rng.random() < 0.5:
                return rng.choice(self.numbers[-WRITERS:])
            self.numbers.append(self.numbers[-1] + 1)
            return self.numbers[-1]

    def _write(self, writer: int) -> None:
        rng = random.Random(f"{self.seed}-{writer}")
        faithful = writer % 3 == 0
        node, c, attempt = self.cluster.primary, None, 0
        gone = None
        while not self.ended.is_set():
            attempt += 1
            try:
                if c is None:
                    c = node.connect(timeout=3 if faithful else 1.5)
                number, began = self._number(rng), time.monotonic()
                with c.cursor() as cursor:
                    cursor.execute("INSERT INTO app.t (number, writer, attempt) VALUES (%s, %s, %s)", (number, writer, attempt))
                ack = Ack(number, writer, attempt, node.number, began, time.monotonic())
                with self.lock:
                    self.acks.append(ack)
                gone = None
                time.sleep(rng.uniform(0, 0.01))
            except (pymysql.MySQLError, OSError) as e:
                code = e.args[0] if e.args else 0
                if code == 1062:
                    continue
                with self.lock:
                    self.refused += code == 1290
                    self.lost += code != 1290
                with contextlib.suppress(Exception):
                    c._force_close()
                c = None
                gone = gone or time.monotonic()
                # Some try the server that they know for a while, whatever they are told.
                if not faithful or time.monotonic() - gone > 4:
                    node, gone = self.cluster.primary, None
                time.sleep(rng.uniform(0.005, 0.03))

    def _read(self) -> None:
        """What is seen on a server that takes writes must stay."""
        while not self.ended.wait(0.02):
            try:
                c = self.cluster.primary.connect(timeout=1)
                try:
                    while not self.ended.wait(0.02):
                        with c.cursor() as cursor:
                            cursor.execute("SELECT number, writer, attempt, @@GLOBAL.read_only FROM app.t ORDER BY number DESC LIMIT 20")
                            rows = cursor.fetchall()
                        for number, writer, attempt, closed in rows:
                            if not closed and self.seen.setdefault(number, (writer, attempt)) != (writer, attempt):
                                self.faults.append(f"number {number} was seen as {self.seen[number]}, then as {(writer, attempt)}")
                finally:
                    c._force_close()
            except (pymysql.MySQLError, OSError):
                pass

    def after(self, moment: float) -> float | None:
        """Seconds until a write that began after this moment was acknowledged."""
        with self.lock:
            ends = [a.ended for a in self.acks[-2000:] if a.began > moment]
        return min(ends) - moment if ends else None


class FailoverTorture:
    def __init__(self, folder: Path, faults: int, seed: int, binary: str | None = None, wires: bool | None = None, say=lambda text: None):
        self.rng = random.Random(seed)
        self.faults, self.seed, self.say = faults, seed, say
        self.cluster = Cluster(folder, seed=seed, binary=binary, wires=wires)
        self.times: list[tuple[str, float]] = []
        self.problems: list[str] = []
        self.clients = Clients(self.cluster, seed)
        self.rows = 0

    def run(self) -> None:
        with self.cluster:
            c = self.cluster.primary.connect(timeout=10)
            with c.cursor() as cursor:
                cursor.execute("CREATE TABLE app.t (number INT PRIMARY KEY, writer INT NOT NULL, attempt INT NOT NULL, KEY (writer, attempt))")
            c.close()
            self.cluster.whole()
            self.clients.start()
            try:
                for n in range(self.faults):
                    self.one(n)
                self.cluster.whole()
            finally:
                self.clients.stop()
            self.check()

    # -- faults ------------------------------------------------------------------------------------------------------
    def one(self, n: int) -> None:
        self.cluster.whole()
        time.sleep(self.rng.uniform(0.2, 1.0))
        primary = self.cluster.primary
        kinds = FAULTS | (CUTS if self.cluster.wires else {})
        kind = self.rng.choices(list(kinds), list(kinds.values()))[0]
        self.cluster.note(f"-- {n + 1}: {kind} of {primary.address}")
        began = time.monotonic()
        # What ends the fault, and when.
        mend, after = self.strike(kind, primary)
        struck = time.monotonic()
        beside = None
        if self.rng.random() < 0.1 and kind != "switch":
            beside = self.rng.choice([x for x in self.cluster.nodes if x is not primary])
            self.cluster.note(f"-- and a kill of {beside.address}")
            beside.kill()
        took = None
        while took is None:
            time.sleep(0.02)
            passed = time.monotonic() - began
            if mend and after is not None and passed > after:
                mend = mend()
            if beside and passed > 1.5:
                beside = beside.start() and None
            took = self.clients.after(struck)
            if passed > 60:
                raise ServerDied(f"no write is acknowledged 60 s after {kind}\n" + "\n".join(self.cluster.notes[-60:]))
        took += struck - began
        self.times.append((kind, took))
        self.say(f"{n + 1:4} {kind:18} {took:6.2f} s to the next acknowledged write, on {self.cluster.primary.address}")
        if beside:
            beside.start()
        if mend:
            time.sleep(self.rng.uniform(0, 1.5))
            mend()

    def strike(self, kind: str, primary: Node):
        """What ends it, and after how many seconds; None for not before writes go on."""
        soon = self.rng.uniform(0, 3)
        others = [n.number for n in self.cluster.nodes if n is not primary]
        if kind.startswith("kill"):
            primary.kill()
            return (lambda: primary.start() and None), (soon if kind == "kill" else None)
        if kind == "pause":
            primary.pause()
            return primary.resume, soon + 1
        if kind == "switch":
            self.cluster.promote(prefer=self.rng.choice(self.cluster.nodes))
            return None, None
        wires = self.cluster.wires
        if kind != "without replicas":
            wires.cut(0, primary.number)
        if kind != "without clients":
            for other in others:
                wires.cut(primary.number, other)
        return wires.mend, (soon + 1 if self.rng.random() < 0.3 else None)

    # -- the checks --------------------------------------------------------------------------------------------------
    def check(self) -> None:
        self.cluster.whole()
        primary = self.cluster.primary
        rows = {r[0]: (r[1], r[2]) for r in primary.query("SELECT number, writer, attempt FROM app.t")}
        self.rows = len(rows)
        acknowledged: dict[int, Ack] = {}
        for ack in self.clients.acks:
            if (before := acknowledged.setdefault(ack.number, ack)) is not ack:
                self.problems.append(f"two were told that they have number {ack.number}: {before} and {ack}")
            if rows.get(ack.number) != (ack.writer, ack.attempt):
                self.problems.append(f"acknowledged and lost: {ack}; there is {rows.get(ack.number)}")
        for number, seen in self.clients.seen.items():
            if rows.get(number) != seen:
                self.problems.append(f"seen and lost: number {number} was {seen}, there is {rows.get(number)}")
        self.problems += self.clients.faults
        self.equal(primary)

    def equal(self, primary: Node) -> None:
        """All have the same, behind all that was written."""
        end = primary.query("SELECT @@GLOBAL.gtid_binlog_pos")[0][0]
        table = "SELECT number, writer, attempt FROM app.t ORDER BY number"
        want = primary.query(table)
        for node in self.cluster.nodes:
            if node is primary:
                continue
            if node.query(f"SELECT MASTER_GTID_WAIT('{end}', 30)")[0][0] != 0:
                self.problems.append(f"{node.address} does not come to {end}: {node.slave_status()}")
            elif node.query(table) != want:
                self.problems.append(f"{node.address} has other rows than the primary")

    def report(self) -> str:
        all_ = sorted(t for _, t in self.times)
        at = lambda share: all_[min(len(all_) - 1, int(share * len(all_)))]  # noqa: E731
        c = self.clients
        by_kind = {k: statistics.median(t for kind, t in self.times if kind == k) for k in dict(self.times)}
        return (
            f"{len(all_)} faults, {self.cluster.promotions} promotions ({self.cluster.cut_short} runs cut short), {self.cluster.rejoined} rejoins; "
            f"{len(c.acks)} acknowledged of {c.attempts} attempts ({c.refused} refused, {c.lost} lost), {self.rows} rows; "
            f"time to the next acknowledged write: p50 {at(0.5):.2f} s, p99 {at(0.99):.2f} s, most {all_[-1]:.2f} s; "
            + ", ".join(f"{k} {v:.2f}" for k, v in sorted(by_kind.items()))
        )


def main(o) -> int:
    folder = Path(o.out)
    torture = FailoverTorture(folder, o.failover, o.seed, o.narwal, say=lambda text: print(text, flush=True))
    print(f"torture: seed {o.seed}, {o.failover} failovers, {'networks that are cut' if torture.cluster.with_wires else 'no cut networks'}; "
          f"work in {folder}", flush=True)  # fmt: skip
    try:
        torture.run()
    except (ServerDied, OSError) as e:
        torture.problems.append(f"{type(e).__name__}: {e}")
    if torture.times:
        print(torture.report(), flush=True)
    (folder / "notes.txt").write_text("\n".join(torture.cluster.notes) + "\n")
    if torture.problems:
        for problem in torture.problems[:20]:
            print(f"FAULT: {problem}", flush=True)
        print(f"  seed {o.seed}; folders, logs and notes.txt are kept in {folder}", flush=True)
        return 1
    if not o.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return 0
