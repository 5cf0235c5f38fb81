"""The torture of replication in every role: Narwal and MariaDB behind each other, in chains, circles and fans (lab/topology.py).

Every node that is written to has a load that remembers the numbers and GTIDs of its transactions. While it runs, nodes are killed with
-9 or stopped, alone and in pairs, their recovery as well; links are cut, stalled and broken; slave threads are stopped and
started; log files are begun. No replication thread may stop with an error on the way. Replicas are looked at all the time: what
they have must be a prefix of what their source did, and after a restart exactly what their position says. Now and then and at the
end everything catches up: the same rows and GTIDs everywhere, and nothing acknowledged is missing anywhere.

With --topology pair: kills of the replica, the primary, or both, until there were --kills of them.
"""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.replica import ReplicaFailed  # noqa: E402
from testbed.servers import ServerDied  # noqa: E402
from testbed.topology import Link, Node, Topology  # noqa: E402
from testbed.wire import Connection, Lost, SqlError  # noqa: E402

EVENTS = {"kill": 6, "kill two": 2, "clean restart": 1, "cut": 2, "stall": 1, "break": 2, "stop and start slave": 2,
          "kill dump threads": 1, "new file": 2}  # fmt: skip
KILLS = {"kill replica": 2, "kill primary": 1, "kill both": 1}


class TopologyTorture:
    def __init__(self, topology: Topology, seconds: float = 0, kills: int = 0, rest: float = 1.0, compare_every: float = 30):
        """Ends after `seconds`, or after `kills`. `rest`: between events, at most."""
        self.t, self.rng = topology, topology.rng
        self.seconds, self.kills, self.rest, self.compare_every = seconds, kills, rest, compare_every
        self.counts: dict[str, int] = {}
        self.killed = self.comparisons = 0
        self.last = "nothing was compared"
        self.say = lambda text: print(text, flush=True)

    def run(self) -> None:
        """Raises at the first fault."""
        with self.t:
            began = compared = time.monotonic()
            while not self._over(began):
                self._load()
                what = self._event()
                self.counts[what] = self.counts.get(what, 0) + 1
                if faults := self.t.faults():
                    raise AssertionError("\n".join(faults))
                if time.monotonic() - compared > self.compare_every:
                    self.compare()
                    compared = time.monotonic()
                    self.say(f"  {compared - began:6.1f} s: {self.so_far()}")
            self.compare()

    def so_far(self) -> str:
        done = ", ".join(f"{n} x {what}" for what, n in self.counts.items())
        return (f"{done}; {self.t.committed} transactions, {sum(x.definitions for x in self.t.loads)} definitions, "
                f"{self.t.looks} states of replicas, {self.comparisons} comparisons")  # fmt: skip

    def compare(self) -> None:
        self.last = self.t.compare()
        self.comparisons += 1

    def _over(self, began: float) -> bool:
        return self.killed >= self.kills if self.kills else time.monotonic() - began > self.seconds

    def _load(self) -> None:
        """Some time with nothing but load, and looks at replicas."""
        end = time.monotonic() + self.rng.uniform(0.05, self.rest)
        replicas = [n for n in self.t.nodes if self.t.links_to(n)]
        while time.monotonic() < end:
            self.t.look(self.rng.choice(replicas), "under load")
            time.sleep(0.05)

    def _event(self) -> str:
        rng, t = self.rng, self.t
        events = KILLS if self.kills else EVENTS
        what = rng.choices([*events], weights=[*events.values()])[0]
        link = rng.choice(t.links)
        match what:
            case "kill":
                self._kill(rng.choice(t.nodes))
            case "kill two":
                self._kill(*rng.sample(t.nodes, 2))
            case "kill replica":
                self._kill(link.replica)
            case "kill primary":
                self._kill(link.source)
            case "kill both":
                self._kill(link.source, link.replica)
            case "clean restart":
                node = rng.choice(t.nodes)
                if (code := node.server.stop()) != 0:
                    raise AssertionError(f"a clean stop of {node.name} ended with exit code {code}")
                self._start(node)
            case "cut" | "stall":
                self._link(link, what)
            case "break":
                for _ in range(rng.choice([1, 1, 5])):
                    link.proxy.break_()
                    time.sleep(rng.uniform(0, 0.3))
            case "stop and start slave":
                server = link.replica.server
                server.stop_slave(thread := rng.choice(["", "IO_THREAD", "SQL_THREAD"]), name=link.name)
                if not thread:
                    t.look(link.replica, "stopped", position=len(t.links_to(link.replica)) == 1)
                time.sleep(rng.choice([0, rng.uniform(0, self.rest)]))
                server.start_slave(thread, name=link.name)
            case "kill dump threads":
                self._kill_dumps(link.source)
            case "new file":
                link.source.server.query("FLUSH BINARY LOGS")
        return what

    def _kill(self, *nodes: Node) -> None:
        rng = self.rng
        self.t.kill(*nodes)
        self.killed += len(nodes)
        for node in rng.sample(nodes, len(nodes)):
            if node.narwal and rng.random() < 0.2:
                self.t.check_folder(node)
            time.sleep(rng.choice([0, 0, rng.uniform(0, self.rest)]))
            # Of MariaDB only what is awake is killed: it would be in the middle of its DDL recovery.
            while node.narwal and rng.random() < 0.15:
                node.server.spawn()
                time.sleep(rng.uniform(0, 0.3))
                node.server.kill()
            self._start(node)

    def _start(self, node: Node) -> None:
        if self.t.links_to(node) and self.rng.random() < 0.7:
            self.t.restart_at_rest(node)
        else:
            node.server.start(120)

    def _link(self, link: Link, what: str) -> None:
        """Cuts or stalls it for a while, in which one end may be killed."""
        link.proxy.cut() if what == "cut" else link.proxy.stall()
        try:
            time.sleep(self.rng.uniform(0, self.rest))
            ends = [n for n in (link.source, link.replica) if n.narwal]
            if ends and self.rng.random() < 0.3:
                self._kill(self.rng.choice(ends))
        finally:
            link.proxy.mend()

    def _kill_dumps(self, node: Node) -> None:
        c = Connection(node.port)
        for row in c.query("SHOW PROCESSLIST").rows:
            if str(row[4]).startswith("Binlog Dump"):
                try:
                    c.query(f"KILL {row[0]}")
                except SqlError as e:
                    if e.code != 1094:  # it has gone already
                        raise
        c.close()


def main(o) -> int:
    """`./torture --topology`, with run.py's options."""
    folder = Path(o.out).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    seconds = 0 if o.topology == "pair" and not o.seconds else o.seconds or 60
    topology = Topology(o.topology, folder, o.seed, binary=o.narwal, stand_in=o.mariadb, ddl=not o.no_ddl, large=0.02,
                        modes=(1, 1, 1, 2, 0) if o.durability == "all" else (int(o.durability),))  # fmt: skip
    torture = TopologyTorture(topology, seconds, 0 if seconds else o.kills, rest=2.0 if seconds > 60 else 0.7)
    print(f"torture: {o.topology}, seed {o.seed}, {f'{seconds:.0f} s' if seconds else f'{o.kills} kills'}; work in {folder}\n"
          f"{topology.describe()}", flush=True)  # fmt: skip
    began, fault = time.monotonic(), None
    try:
        torture.run()
    except (ServerDied, ReplicaFailed, Lost, SqlError, AssertionError) as e:
        fault = f"{type(e).__name__}: {e}"
        print(f"FAULT: {fault}\n  seed {o.seed}; data folders and logs are kept in {folder}", flush=True)
    if not fault and not o.keep:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"torture: {torture.so_far()}")
    print(f"torture: {o.topology}, {torture.killed} kills, {time.monotonic() - began:.0f} s, seed {o.seed}; {torture.last}")
    print(f"torture: {1 if fault else 0} faults")
    return 1 if fault else 0
