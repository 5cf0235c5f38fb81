"""The torture with MariaDB replicas attached: kills of both sides under load, everything equal at the end.

One primary, N replicas from its first GTID on, each with settings of its own (parallel modes, a binary log, semi-sync). While the
load of the crash torture and a second one (all types, DDL, no memory) run, these are killed with -9, stopped, purged from,
and started again at random. At each end of the primary: what it acknowledged is there, and no replica has received a GTID
that is not. Now and then and at the end: every replica catches up, stands at the primary's GTIDs, and has the same rows.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.load import Load as Beside  # noqa: E402
from testbed.replica import PARALLEL, MariaReplica, ReplicaFailed, gtid_position  # noqa: E402
from testbed.servers import ServerDied  # noqa: E402
from testbed.wire import Connection, Lost, SqlError  # noqa: E402

from check import check_state  # noqa: E402
from workload import Load  # noqa: E402

# What happens while the primary lives, with its weight.
EVENTS = {"kill replica": 5, "stop replica": 1, "stop and start slave": 2, "kill dump threads": 1, "new file": 2, "purge": 2, "primary": 6}

def numbers(gtids: str) -> dict[str, int]:
    """The sequence number of each domain."""
    return {g.split("-")[0]: int(g.split("-")[2]) for g in gtids.split(",") if g}


class ReplicaTorture:
    def __init__(self, torture):
        self.t, self.o, self.rng = torture, torture.o, torture.rng
        self.counts = dict.fromkeys([*EVENTS, "clean stop of the primary"], 0)
        self.comparisons = 0
        self.faults: list[str] = []
        self.last = "nothing was compared"
        self.load = self.beside = None

    def run(self) -> int:
        o, folder = self.o, self.t.out
        length = o.seconds or 60
        self.rest = 2.0 if length > 60 else 0.7  # seconds between events, at most
        print(f"torture: seed {o.seed}, {o.replicas} replicas, {length:.0f} s, modes {o.modes}, {o.clients} clients; "
              f"work in {folder}", flush=True)  # fmt: skip
        self.primary = self.t.server(folder / "primary", 1)
        self.semi_sync = self.rng.random() < 0.5 and not o.mariadb
        if self.rng.random() < 0.7:
            self.primary.args.append(f"--max-binlog-size={self.rng.choice(['16K', '256K', '4M'])}")
        self.replicas = [self.replica(i) for i in range(o.replicas)]
        self.new_life()
        print(f"  primary: {' '.join(self.primary.args)}", flush=True)
        began = time.monotonic()
        try:
            with open(folder / "acknowledged.txt", "w") as acknowledgements:
                self.load = Load(o.clients, not o.no_ddl, acknowledgements)
                self.load.pause = 0.01 * o.clients / 6
                self.primary.create()
                self.primary.start()
                for replica in self.replicas:
                    replica.create()
                    replica.start()
                    replica.follow(self.primary.port, heartbeat_period=1)
                self.load.create(self.primary.port)
                lives = 0
                with Beside(self.primary, "beside", writers=2, ddl=not o.no_ddl, seed=o.seed, pause=0.02) as self.beside:
                    while time.monotonic() - began < length:
                        self.life(began + length)
                        lives += 1
                        if lives % 5 == 0:
                            print(f"  {time.monotonic() - began:6.1f} s: {self.so_far()}", flush=True)
                        if self.load.faults or self.beside.faults or self.faults:
                            break
                self.faults += self.load.faults + self.beside.faults
                if not self.faults:
                    self.compare()
                    # What the replicas are equal to is right.
                    state, _ = check_state(self.load, self.primary.port, strict=True)
                    self.faults += state
        except (ServerDied, ReplicaFailed, Lost, SqlError, AssertionError) as e:
            self.faults += [*self.load.faults, f"{type(e).__name__}: {e}"]
        finally:
            self.t.fault(folder, "replicas", self.faults) if self.faults else None
            for server in (self.primary, *self.replicas):
                server.kill()
        if not self.faults and not o.keep:
            shutil.rmtree(folder, ignore_errors=True)
        print(f"torture: {self.so_far()}; at the end {self.last}; {time.monotonic() - began:.0f} s, seed {o.seed}")
        if passed := sum(r.passed_over for r in self.replicas):
            print(f"torture: {passed} DDL statements that a killed replica had run, but not noted")
        if anew := sum(r.attached_anew for r in self.replicas):
            print(f"torture: {anew} starts of a killed replica that had lost its relay log")
        kills = self.counts["primary"] + self.counts["kill replica"]
        print(f"torture: {kills} kills, {len(self.faults)} faults")
        return 1 if self.faults else 0

    def so_far(self) -> str:
        done = ", ".join(f"{n} x {what}" for what, n in self.counts.items() if n)
        if self.beside:
            done += f"; {self.load.acknowledged} + {self.beside.committed} transactions, {self.beside.definitions} definitions"
        return f"{done}; {self.comparisons} comparisons of all {self.o.replicas} replicas"

    def replica(self, i: int) -> MariaReplica:
        mode = self.rng.choice([None, *PARALLEL])
        options = {
            "threads": self.rng.choice([2, 4, 8]) if mode else 0, "mode": mode, "log": self.rng.random() < 0.3,
            "semi_sync": self.semi_sync and (i == 0 or self.rng.random() < 0.5),
        }  # fmt: skip
        print(f"  replica {101 + i}: {options}", flush=True)
        return MariaReplica(self.t.out / f"replica-{101 + i}", 101 + i, ["--innodb-flush-log-at-trx-commit=1"], **options)

    def new_life(self) -> None:
        """Other durability for the next start of the primary; with semi-sync, another wait point."""
        self.mode = self.rng.choice(self.o.modes)
        changed = ("--innodb-flush-log-at-trx-commit", "--rpl-semi-sync-master")
        self.primary.args = [a for a in self.primary.args if not a.startswith(changed)]
        self.primary.args.append(f"--innodb-flush-log-at-trx-commit={self.mode}")
        if self.semi_sync:
            point = self.rng.choice(["AFTER_SYNC", "AFTER_COMMIT"])
            self.primary.args += ["--rpl-semi-sync-master-enabled=1", f"--rpl-semi-sync-master-wait-point={point}",
                                  f"--rpl-semi-sync-master-timeout={self.rng.choice([50, 1000])}"]  # fmt: skip

    def life(self, end: float) -> None:
        """From a start of the primary to its end."""
        self.load.start(self.primary.port, self.rng.randrange(1 << 30))
        while True:
            time.sleep(self.rng.uniform(0.05, self.rest))
            if not self.primary.alive():
                raise ServerDied(f"the primary ended under load\n{self.primary.log_tail()}")
            what = self.rng.choices([*EVENTS], weights=[*EVENTS.values()])[0]
            if time.monotonic() > end:
                self.load.finish()
                return
            for replica in self.replicas:
                if (error := replica.last_error()) and not replica.pass_over_repeated_ddl():
                    raise ReplicaFailed(f"replica {replica.server_id}: {error}\n{replica.explain()}")
            if what == "primary":
                break
            self.counts[what] += 1
            self.event(what, self.rng.choice(self.replicas))
        self.end_primary()
        if self.rng.random() < 0.15:
            self.compare()

    def event(self, what: str, replica: MariaReplica) -> None:
        match what:
            case "kill replica" | "stop replica":
                if what == "kill replica":
                    replica.kill()
                    while self.rng.random() < 0.2:  # its recovery is killed as well
                        replica.spawn()
                        time.sleep(self.rng.uniform(0, 0.5))
                        replica.kill()
                else:
                    replica.stop()
                time.sleep(self.rng.choice([0, 0, self.rng.uniform(0, 2)]))
                replica.start(120)
            case "stop and start slave":
                replica.stop_slave(thread := self.rng.choice(["", "IO_THREAD", "SQL_THREAD"]))
                time.sleep(self.rng.choice([0, self.rng.uniform(0, 1)]))
                replica.start_slave(thread)
            case "kill dump threads":
                c = Connection(self.primary.port)
                for row in c.query("SHOW PROCESSLIST").rows:
                    if str(row[4]).startswith("Binlog Dump"):
                        try:
                            c.query(f"KILL {row[0]}")
                        except SqlError as e:
                            if e.code != 1094:  # it has gone already
                                raise
                c.close()
            case "new file":
                self.on_primary("FLUSH BINARY LOGS")
            case "purge":
                # What the slowest replica has received in full, by its own word, is needed no more.
                files = [r.slave_status()["Relay_Master_Log_File"] for r in self.replicas]
                if all(files):
                    self.on_primary(f"PURGE BINARY LOGS TO '{min(files, key=lambda f: int(str(f).rpartition('.')[2]))}'")

    def on_primary(self, sql: str) -> None:
        c = Connection(self.primary.port)
        c.query(sql)
        c.close()

    def end_primary(self) -> None:
        self.t.count_status(self.primary)
        clean = self.rng.random() < 0.1
        if clean:
            self.counts["clean stop of the primary"] += 1
            if (code := self.primary.stop()) != 0:
                self.load.fault(f"a clean stop ended with exit code {code}")
        else:
            self.t.choose_moment(self.load)
            self.primary.kill()
            self.counts["primary"] += 1
        self.load.finish()
        if not self.o.mariadb:
            self.t.check_folder(self.primary, self.load)
        received = {r.server_id: self.received(r) for r in self.replicas}
        strict = self.mode != 0 or clean
        if not strict:
            self.beside.may_have_lost()
        self.new_life()
        while self.rng.random() < 0.15:
            self.primary.spawn()
            time.sleep(self.rng.uniform(0, self.o.recovery_kill))
            self.primary.kill()
            self.t.recovery_kills += 1
            if self.mode == 0:  # it may have been ready already, and have acknowledged more
                self.beside.may_have_lost()
        self.primary.start(120)
        recovered = gtid_position(self.primary.port)
        there = numbers(recovered)
        for server_id, gtids in received.items():
            for domain, n in numbers(gtids).items():
                if n > there.get(domain, 0):
                    self.load.fault(f"replica {server_id} has received {gtids}, the primary recovered {recovered}")
        faults, _ = check_state(self.load, self.primary.port, strict)
        self.load.faults += faults

    def received(self, replica: MariaReplica) -> str:
        """The last GTIDs that came through the socket, when all that was in it is read: the primary is dead."""
        end = time.monotonic() + 60
        while (status := replica.slave_status())["Slave_IO_Running"] == "Yes":
            if time.monotonic() > end:
                raise ReplicaFailed(f"replica {replica.server_id} does not notice that its primary is gone: {replica.explain()}")
            time.sleep(0.02)
        return str(status["Gtid_IO_Pos"] or "")

    def compare(self) -> None:
        """All replicas catch up with a primary that nobody writes to."""
        with self.beside.quiet():
            for replica in self.replicas:
                found = replica.same(self.primary.port)
                mine, its = (sorted(p.split(",")) for p in (gtid_position(self.primary.port), replica.position()))
                if mine != its:
                    raise AssertionError(f"replica {replica.server_id} stands at {its}, the primary at {mine}")
                self.last = str(found)
        self.comparisons += 1
