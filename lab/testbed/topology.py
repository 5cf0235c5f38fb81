"""Servers that follow each other, Narwal and MariaDB in any place: who follows whom, over links that can be cut, who writes,
and whether all of them are equal in the end."""

from __future__ import annotations

import contextlib
import random
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from .load import Load, Seen
from .proxy import Proxy
from .replica import PARALLEL, MariaReplica, NarwalReplica, Replica, ReplicaFailed, gtid_position
from .wire import SqlError


@dataclass
class Node:
    name: str
    # narwal or mariadb
    kind: str
    # Which databases are written here, and that all GTIDs of here are of this domain.
    writes: str = ""
    domain: int = 0
    # What the test is about; the others are given by lot.
    options: dict = field(default_factory=dict)
    server: Replica | None = None
    load: Load | None = None
    # innodb_flush_log_at_trx_commit=0: a kill may take back the last transactions.
    lossy: bool = False

    @property
    def port(self) -> int:
        return self.server.port

    @property
    def narwal(self) -> bool:
        return self.kind == "narwal"


@dataclass
class Link:
    source: Node
    replica: Node
    # Of the replica's connection.
    name: str = ""
    proxy: Proxy | None = None

    def __str__(self) -> str:
        return f"{self.source.name} -> {self.replica.name}"


def shape(name: str) -> tuple[list[Node], list[Link]]:
    """The topologies there are; links in an order in which what is written comes to rest."""
    n = lambda name, **kw: Node(name, "narwal", **kw)  # noqa: E731
    m = lambda name, **kw: Node(name, "mariadb", **kw)  # noqa: E731
    match name:
        case "pair":
            a, b = n("primary", writes="only"), n("replica")
            return [a, b], [Link(a, b)]
        case "chain":
            a, b, c = n("first", writes="only"), m("middle"), n("last")
            return [a, b, c], [Link(a, b), Link(b, c)]
        case "mariadb-source":
            a, b = m("primary", writes="only"), n("replica")
            return [a, b], [Link(a, b)]
        case "fan-out":
            a = n("primary", writes="only")
            replicas = [n("serial", options={"threads": 0}), n("parallel", options={"threads": 4, "mode": "optimistic"}), m("mariadb")]
            return [a, *replicas], [Link(a, r) for r in replicas]
        case "circular":
            a, b = n("west", writes="west", domain=1), n("east", writes="east", domain=2)
            c, d = n("narwal", writes="near", domain=1), m("mariadb", writes="far", domain=2)
            return [a, b, c, d], [Link(a, b), Link(b, a), Link(c, d), Link(d, c)]
        case "multi-source":
            a, b, c = n("one", writes="one", domain=1), m("two", writes="two", domain=2), n("both", domain=3)
            return [a, b, c], [Link(a, c, "one"), Link(b, c, "two")]
    raise ValueError(name)


TOPOLOGIES = ("pair", "chain", "mariadb-source", "fan-out", "circular", "multi-source")

MARIADB = ["--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--innodb-snapshot-isolation=ON"]


class Topology:
    """`with Topology(...) as t:` has them all running and writing."""

    def __init__(self, name: str, folder: Path, seed: int, binary: str | None = None, stand_in: bool = False, modes: tuple[int, ...] = (1, 1, 1, 2, 0),
                 writers: int = 3, pause: float = 0.01, large: float = 0.01, ddl: bool = True):  # fmt: skip
        """`stand_in`: MariaDB in Narwal's places, which shows that the checks are right. `modes`: the values of
        innodb_flush_log_at_trx_commit to draw from; a MariaDB does not get 0, in which its tables and its log come apart."""
        self.name, self.folder, self.seed, self.binary = name, folder, seed, binary
        self.rng = random.Random(seed)
        self.nodes, self.links = shape(name)
        self.modes = modes
        self.semi_sync = self.rng.random() < 0.4
        self.small_files = ["--max-binlog-size=256K"] if self.rng.random() < 0.5 else []
        # (load, state of its marks) pairs.
        self.seen: list[tuple[Load, Seen]] = []
        self.looks = 0
        self.writing = {"writers": writers, "pause": pause, "large": large, "ddl": ddl}
        if stand_in:
            for node in self.nodes:
                node.kind = "mariadb"
        for number, node in enumerate(self.nodes, 1):
            node.server = (self._narwal if node.narwal else self._mariadb)(node, number)

    # -- servers ---------------------------------------------------------------------------------------------------
    def _apply(self, node: Node) -> dict:
        options = dict(node.options) | {"semi_sync": self.semi_sync}
        if "threads" not in options and self.links_to(node):
            options["threads"] = self.rng.choice([0, 2, 4, 8])
            if options["threads"] and "mode" not in options:
                options["mode"] = self.rng.choice(PARALLEL[:3])
        return options

    def _primary(self, node: Node) -> list[str]:
        """Settings of who has replicas. A short timeout: where nobody is attached, the load goes on."""
        if not (self.semi_sync and self.links_from(node)):
            return []
        return ["--rpl-semi-sync-master-enabled=1", "--rpl-semi-sync-master-timeout=200",
                f"--rpl-semi-sync-master-wait-point={self.rng.choice(['AFTER_SYNC', 'AFTER_COMMIT'])}"]  # fmt: skip

    def _narwal(self, node: Node, number: int) -> NarwalReplica:
        rng = self.rng
        mode = rng.choice(self.modes)
        node.lossy = mode == 0
        args = [f"--gtid-domain-id={node.domain}", f"--innodb-flush-log-at-trx-commit={mode}", "--max-connections=200"]
        # Small memory and small files: checkpoints and changes of files all the time.
        for often, arg in ((0.5, "--innodb-buffer-pool-size=6M"), (0.5, "--innodb-log-file-size=4M"),
                           (0.3, "--narwal-log-compression=zstd")):  # fmt: skip
            if rng.random() < often:
                args.append(arg)
        # Positions are only the same where this is.
        args += self.small_files
        if rng.random() < 0.5:
            args += ["--binlog-oob-threshold=16K", f"--narwal-transaction-memory={rng.choice(['8K', '32K', '200K'])}"]
        return NarwalReplica(self.folder / node.name, number, args + self._primary(node), binary=self.binary, **self._apply(node))

    def _mariadb(self, node: Node, number: int) -> MariaReplica:
        log = bool(node.writes or self.links_from(node)) or self.rng.random() < 0.3
        mode = self.rng.choice([m for m in self.modes if m] or [1])
        args = [f"--gtid-domain-id={node.domain}", f"--innodb-flush-log-at-trx-commit={mode}", f"--sync-binlog={mode % 2}", *MARIADB]
        if log:
            args.append(f"--binlog-row-metadata={self.rng.choice(['NO_LOG', 'MINIMAL', 'FULL'])}")
        return MariaReplica(self.folder / node.name, number, args + self._primary(node), log=log, **self._apply(node))

    def describe(self) -> str:
        return "\n".join(f"  {n.name}: {n.kind}, {' '.join(a for a in n.server.args if 'report' not in a)}" for n in self.nodes)

    def links_to(self, node: Node) -> list[Link]:
        return [x for x in self.links if x.replica is node]

    def links_from(self, node: Node) -> list[Link]:
        return [x for x in self.links if x.source is node]

    def behind(self, node: Node) -> list[Node]:
        """Who gets what this node writes, nearest first."""
        out: list[Node] = []
        todo = [node]
        while todo:
            for link in self.links_from(todo.pop(0)):
                if link.replica is not node and link.replica not in out:
                    out.append(link.replica)
                    todo.append(link.replica)
        return out

    # -- life ------------------------------------------------------------------------------------------------------
    def __enter__(self) -> Topology:
        self._open = contextlib.ExitStack()
        try:
            for node in self.nodes:
                node.server.create()
                node.server.start()
                self._open.callback(node.server.kill)
            for link in self.links:
                link.proxy = self._open.enter_context(Proxy(link.source.server))
                link.replica.server.follow(link.proxy.port, name=link.name, heartbeat_period=1)
            for node in self.nodes:
                if node.writes:
                    node.load = Load(node.server, node.writes, seed=self.seed, gtids=True, **self.writing)
                    node.load.lossy = node.lossy
                    if node.lossy:  # its tables are not to go
                        node.server.query("FLUSH LOGS")
                    self._open.enter_context(node.load)
        except BaseException:
            self._open.close()
            raise
        return self

    def __exit__(self, *error) -> bool | None:
        return self._open.__exit__(*error)

    @property
    def loads(self) -> list[Load]:
        return [n.load for n in self.nodes if n.load]

    @property
    def committed(self) -> int:
        return sum(x.committed for x in self.loads)

    def faults(self) -> list[str]:
        """Errors of the load and of replication that nobody expects."""
        out = [f for x in self.loads for f in x.faults]
        for node in self.nodes:
            if not node.server.alive():
                out.append(f"{node.name} has ended\n{node.server.log_tail()}")
            elif self.links_to(node) and (error := node.server.last_error()) and not self._passed_over(node, error):
                out.append(f"{node.name}: {error}\n{node.server.explain()}")
        return out

    def _passed_over(self, node: Node, error: str) -> bool:
        """Whether an error is one that a MariaDB is known for after a kill, and replication goes on."""
        return node.server.pass_over_repeated_ddl() or self._past_a_torn_log(node, error)

    def _past_a_torn_log(self, node: Node, error: str) -> bool:
        """A MariaDB that is killed while it writes an event leaves a binary log file that ends in the middle of it. It goes on in
        another file, and refuses who comes to that end. Its only reader here has all that is whole in the file, which is purged."""
        torn = re.search(r"1236: .*binlog truncated in the middle of event.* the last event read from '([^']+)' at", error)
        links = [x for x in self.links_to(node) if not x.source.narwal]
        if not torn or len(links) != 1 or len(self.links_from(links[0].source)) != 1:
            return False
        source = links[0].source.server
        files = [row[0] for row in source.query("SHOW BINARY LOGS")]
        if torn[1] not in files[:-1]:
            return False
        source.query(f"PURGE BINARY LOGS TO '{files[files.index(torn[1]) + 1]}'")
        node.server.start_slave("IO_THREAD", name=links[0].name)
        return True

    def kill(self, *nodes: Node) -> None:
        """kill -9. MariaDB notes what it has applied of DDL in a transaction of its own, and a second time in its log if it is killed
        in between: it is killed when no DDL is under way there."""
        with contextlib.ExitStack() as held:
            maria = [n for n in nodes if not n.narwal]
            if maria:
                for load in self.loads:
                    held.enter_context(load.no_definitions())
                for node in maria:
                    self.arrived(node)
            for node in nodes:
                node.server.kill()

    def arrived(self, node: Node, seconds: float = 120) -> None:
        """Waits until everything that is written anywhere in front of this node now is applied there."""
        for link in self.links:
            if link.replica is node or node in self.behind(link.replica):
                self.wait(link, seconds)

    def expected(self, link: Link) -> str:
        """What the source has written, without what the replica itself is the origin of."""
        gtids = gtid_position(link.source.port).split(",")
        return ",".join(g for g in gtids if g and not (link.replica.writes and g.startswith(f"{link.replica.domain}-")))

    def wait(self, link: Link, seconds: float = 120) -> None:
        if wanted := self.expected(link):
            try:
                try:
                    link.replica.server.wait_applied(wanted, seconds)
                except ReplicaFailed as e:
                    if not self._past_a_torn_log(link.replica, str(e)):
                        raise
                    link.replica.server.wait_applied(wanted, seconds)
            except ReplicaFailed as e:
                raise ReplicaFailed(f"{link}: {e}") from None

    def settle(self, seconds: float = 180) -> None:
        """Nobody writes: all catch up."""
        for link in self.links:
            self.wait(link, seconds)

    def restart_at_rest(self, node: Node) -> None:
        """Starts a node whose replication stands still, looks at where it is, and lets it go on."""
        server = node.server
        server.args.append("--skip-slave-start")
        try:
            server.start(120)
        finally:
            server.args.remove("--skip-slave-start")
        self.look(node, "after a restart", position=True)
        server.query("START ALL SLAVES")

    # -- checks ----------------------------------------------------------------------------------------------------
    def look(self, node: Node, where: str, position: bool = False) -> None:
        """Notes the marks of all loads that arrive at this node, for `not_prefixes`. `position`: nothing is applied there now."""
        for source in self.nodes:
            if source.load and node in self.behind(source):
                try:
                    self.seen.append((source.load, source.load.look(node.server, f"{node.name} {where}", position)))
                except SqlError as e:
                    # Before the load's tables have arrived.
                    if e.code not in (1046, 1049, 1146):
                        raise

    def not_prefixes(self) -> list[str]:
        """Which of the states that were seen the writer has not gone through. They are forgotten."""
        self.looks += len(self.seen)
        seen, self.seen = self.seen, []
        return [text for load, state in seen if (text := load.not_a_prefix(state))]

    def compare(self) -> str:
        """Everything that replicas have is what is at its source, and everything acknowledged is everywhere; nobody writes meanwhile.
        Raises at a difference; what was compared, in words."""
        with contextlib.ExitStack() as held:
            for load in self.loads:
                held.enter_context(load.quiet())
            self.settle()
            problems, texts = self.not_prefixes(), []
            for link in self.links:
                wanted = set(self.expected(link).split(",")) - {""}
                if missing := wanted - set(link.replica.server.position().split(",")):
                    problems.append(f"{link}: gtid_slave_pos lacks {missing}: {link.replica.server.position()}")
            for node in self.nodes:
                for replica in self.behind(node) if node.load else []:
                    problems += node.load.missing(replica.server)
                    # Whoever gets everything from one node is equal in everything.
                    alone = sum(1 for x in self.nodes if x.writes and (x is replica or replica in self.behind(x))) == 1
                    databases = None if alone else {node.writes, f"{node.writes}_side"}
                    found = replica.server.compare(node.port, databases=databases)
                    problems += [f"{node.name} and {replica.name}: {d}" for d in found.differences[:5]]
                    texts.append(f"{node.name} = {replica.name}: {found}")
                    if replica.narwal or "--skip-log-bin" not in replica.server.args:
                        problems += self.positions(node, replica)
                if node.load:
                    problems += node.load.missing(node.server)
        if problems:
            raise AssertionError("\n".join(problems))
        return "; ".join(texts)

    def positions(self, node: Node, replica: Node) -> list[str]:
        """The replica's own log ends, in the node's domain, with the same GTID; and at the same file and offset if it is a copy of that of
        a Narwal."""
        own = [[g for g in gtid_position(n.port).split(",") if g.startswith(f"{node.domain}-")] for n in (node, replica)]
        if own[0] != own[1]:
            return [f"gtid_binlog_pos of {node.name} has {own[0]}, of {replica.name} {own[1]}"]
        if node.narwal and replica.narwal and [x.source for x in self.links_to(replica)] == [node] and not replica.writes:
            ends = [n.server.query("SHOW MASTER STATUS")[0][:2] for n in (node, replica)]
            if ends[0] != ends[1]:
                return [f"{node.name} has written up to {ends[0]}, {replica.name} up to {ends[1]}"]
        return []

    def check_folder(self, node: Node) -> None:
        """`narwal check` on a dead server's folder."""
        done = subprocess.run([str(node.server.binary), "check", str(node.server.datadir)], capture_output=True, text=True, timeout=300)
        if done.returncode:
            raise AssertionError(f"narwal check of {node.name} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-600:]}")
