"""Several Narwals of which one is the primary, each in a network of its own whose links can be cut, and what keeps them going: a
watcher that notices when the primary does not take writes any more and runs `narwal promote`, and `narwal rejoin` for who comes back.

The networks are namespaces of the kernel with a pair of virtual wires for each two servers, and for each server and its clients. A
link that is cut swallows packets, as a broken switch does: nobody is told. Where this user may make no namespaces, all servers are
at 127.0.0.1 and no link can be cut.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import random
import re
import subprocess
import threading
import time
from pathlib import Path

import pymysql

from .network import namespace
from .replica import NarwalReplica
from .servers import ServerDied, free_port
from .wire import Connection, Lost, SqlError

PORT = 3306
# Of the account that sets servers up, and of those who only write.
ADMIN, APP = "ha", "app"
PASSWORD = "of-the-cluster"


@functools.cache
def namespaces_work() -> bool:
    """Whether this user and this kernel can make namespaces with bridges and wires between them."""
    script = "ip link add br0 type bridge && ip link add wire0 type veth peer name wire1 && ip link set wire0 master br0"
    with contextlib.suppress(OSError):
        return subprocess.run(["unshare", "-n", "sh", "-c", script], capture_output=True).returncode == 0
    return False


def _ip(*args: object, inside: int | None = None) -> None:
    enter = ["nsenter", "-t", str(inside), "-n"] if inside else []
    done = subprocess.run([*enter, "ip", *map(str, args)], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"ip {' '.join(map(str, args))}: {done.stderr.strip()}")


class Wires:
    """A namespace for each server, and a wire for each two of them; number 0 are the clients, here. To be made inside `namespace()`."""

    def __init__(self, servers: int):
        self.servers = servers
        self.cuts: set[tuple[int, int]] = set()
        self.lock = threading.Lock()
        # A process that sleeps holds each namespace.
        self.holders = {n: subprocess.Popen(["unshare", "-n", "sleep", "infinity"]) for n in range(1, servers + 1)}
        own = os.readlink("/proc/self/task/%d/ns/net" % threading.get_native_id())
        for n, holder in self.holders.items():
            while os.readlink(f"/proc/{holder.pid}/ns/net") == own:
                time.sleep(0.01)
            _ip("link", "set", "lo", "up", inside=holder.pid)
            _ip("addr", "add", f"{self.address(n)}/32", "dev", "lo", inside=holder.pid)
        for a, b in itertools.combinations(range(servers + 1), 2):
            self._wire(a, b)

    def address(self, n: int) -> str:
        """The one address of a server, whoever asks for it."""
        return f"10.9.0.{n}"

    def _wire(self, a: int, b: int) -> None:
        bridge, subnet = f"br{a}{b}", f"10.1.{10 * a + b}"
        _ip("link", "add", bridge, "type", "bridge", "forward_delay", 0, "stp_state", 0)
        if a == 0:
            _ip("addr", "add", f"{subnet}.100/24", "dev", bridge)
        _ip("link", "set", bridge, "up")
        for end in (a, b):
            if end == 0:
                continue
            pid = self.holders[end].pid
            _ip("link", "add", f"p{a}{b}{end}", "type", "veth", "peer", "name", f"e{a}{b}", "netns", pid)
            _ip("link", "set", f"p{a}{b}{end}", "up", "master", bridge)
            _ip("addr", "add", f"{subnet}.{end}/24", "dev", f"e{a}{b}", inside=pid)
            _ip("link", "set", f"e{a}{b}", "up", inside=pid)
        for end, other in ((a, b), (b, a)):
            if other == 0:
                continue
            where = {"inside": self.holders[end].pid} if end else {}
            source = ["src", self.address(end)] if end else []
            _ip("route", "add", self.address(other), "via", f"{subnet}.{other}", *source, **where)

    def cut(self, a: int, b: int) -> None:
        a, b = sorted((a, b))
        with self.lock:
            if (a, b) not in self.cuts:
                _ip("link", "set", f"p{a}{b}{b}", "nomaster")
                self.cuts.add((a, b))

    def mend(self) -> None:
        """All links."""
        with self.lock:
            for a, b in self.cuts:
                _ip("link", "set", f"p{a}{b}{b}", "master", f"br{a}{b}")
            self.cuts.clear()

    def close(self) -> None:
        for holder in self.holders.values():
            holder.kill()
            holder.wait()


class Node(NarwalReplica):
    """A server of the cluster: it starts read-only, follows nobody by itself, and is a primary only when it was made one."""

    def __init__(self, folder: Path, number: int, wires: Wires | None, args: list[str] | None = None, **kw):
        self.number, self.wires = number, wires
        super().__init__(folder, number, [
            "--read-only=ON", "--slave-net-timeout=2", "--rpl-semi-sync-master-wait-point=AFTER_SYNC", *(args or []),
        ], semi_sync=True, **kw)  # fmt: skip
        self.host, self.port = ("127.0.0.1", free_port()) if wires is None else (wires.address(number), PORT)

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def command(self) -> list[str]:
        command = super().command()
        if self.wires is None:
            return command
        here = [word.replace("--bind-address=127.0.0.1", "--bind-address=0.0.0.0") for word in command]
        return ["nsenter", "-t", str(self.wires.holders[self.number].pid), "-n", *here]

    def greets(self) -> bool:
        with contextlib.suppress(Lost, SqlError):
            self.query("SELECT 1", timeout=2)
            return True
        return False

    def query(self, sql: str, timeout: float = 60) -> list[tuple]:
        """On the server itself, whatever the network does."""
        c = Connection(0, unix_socket=str(self.socket), timeout=timeout)
        try:
            return c.query(sql).rows
        finally:
            c.close()

    def connect(self, user: str = APP, timeout: float = 2, **options) -> pymysql.Connection:
        """Over the network."""
        return pymysql.connect(
            host=self.host, port=self.port, user=user, password=PASSWORD, connect_timeout=timeout, read_timeout=timeout, write_timeout=timeout,
            autocommit=True, ssl_disabled=True, **options,
        )  # fmt: skip


class Cluster:
    """`with Cluster(folder, servers=3) as cluster:` has a primary, and gets another one whenever that is gone."""

    def __init__(self, folder: Path, servers: int = 3, seed: int = 0, binary: str | None = None, patience: float = 1.0, wires: bool | None = None):
        self.folder, self.servers = Path(folder).resolve(), servers
        self.folder.mkdir(parents=True, exist_ok=True)
        self.rng = random.Random(seed)
        self.binary, self.patience = binary, patience
        self.with_wires = namespaces_work() if wires is None else wires
        self.password = self.folder / "password"
        self.password.write_text(PASSWORD + "\n")
        # The primary that was opened last, as the watcher tells everybody.
        self.primary: Node | None = None
        self.promotions = self.rejoined = self.cut_short = 0
        self.notes: list[str] = []
        self.began = time.monotonic()
        self._newer = False
        self._tried = 0
        self._ended = threading.Event()
        self._stack = contextlib.ExitStack()
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Cluster:
        try:
            self._make()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _make(self) -> None:
        wires = None
        if self.with_wires:
            self._stack.enter_context(namespace())
            wires = Wires(self.servers)
            self._stack.callback(wires.close)
        self.wires = wires
        self.nodes = [Node(self.folder / f"node{n}", n, wires, binary=self.binary) for n in range(1, self.servers + 1)]
        for node in self.nodes:
            self._stack.callback(node.kill)
            node.start()
            self._accounts(node)
        if not self.promote():
            raise ServerDied("there is no first primary:\n" + "\n".join(self.notes[-20:]))
        c = self.primary.connect(timeout=10)
        with c.cursor() as cursor:
            for sql in ("CREATE DATABASE app", "CREATE TABLE app.beat (id INT PRIMARY KEY, n BIGINT)"):
                cursor.execute(sql)
        c.close()
        for work in (self._watch, self._gather):
            self._threads.append(threading.Thread(target=work, daemon=True))
            self._threads[-1].start()

    def _accounts(self, node: Node) -> None:
        """Each server's own."""
        c = Connection(0, unix_socket=str(node.socket))
        try:
            for sql in ("SET sql_log_bin = 0", f"CREATE USER {ADMIN}@'%' IDENTIFIED BY '{PASSWORD}'", f"GRANT ALL ON *.* TO {ADMIN}@'%'",
                        f"CREATE USER {APP}@'%' IDENTIFIED BY '{PASSWORD}'",
                        f"GRANT SELECT, INSERT, UPDATE, DELETE, CREATE ON app.* TO {APP}@'%'"):  # fmt: skip
                c.query(sql)
        finally:
            c.close()

    def __exit__(self, *_) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join(60)
        self._stack.close()

    def note(self, text: str) -> None:
        self.notes.append(f"{time.monotonic() - self.began:8.3f} {text}")

    # -- the watcher -------------------------------------------------------------------------------------------------
    def _watch(self) -> None:
        """Writes to the primary, as its clients do; when that does not work for a while, there has to be another one."""
        beat, worked, number = None, time.monotonic(), 0
        while not self._ended.wait(0.05):
            try:
                if beat is None:
                    beat = self.primary.connect(timeout=self.patience)
                with beat.cursor() as c:
                    number += 1
                    c.execute("INSERT INTO app.beat VALUES (1, %s) ON DUPLICATE KEY UPDATE n = VALUES(n)", (number,))
                worked = time.monotonic()
                if not self._newer:
                    continue
                # Servers were fenced for a term that came to nothing: they follow nobody of an older one.
                self._newer = False
                self.promote(prefer=self.primary)
                continue
            except (pymysql.MySQLError, OSError) as e:
                with contextlib.suppress(Exception):
                    beat._force_close()
                beat = None
                refused = e.args and e.args[0] == 1290
            if (refused or time.monotonic() - worked > self.patience) and self.promote():
                worked = time.monotonic()

    def promote(self, prefer: Node | None = None) -> bool:
        """One run of `narwal promote`, now and then cut short; whether there is a primary."""
        command = [
            str(self.nodes[0].binary), "promote", "--servers=" + ",".join(n.address for n in self.nodes), f"--user={ADMIN}",
            f"--password-file={self.password}", "--timeout=1", "--wait=4", "--ssl-mode=disabled",
            *([f"--prefer={prefer.address}"] if prefer else []),
        ]  # fmt: skip
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if self.promotions and self.rng.random() < 0.15:
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.wait(self.rng.uniform(0, 0.3))
            if run.poll() is None:
                self.cut_short += 1
            run.kill()
        text = run.communicate()[0]
        for line in text.splitlines():
            self.note(f"promote: {line}")
        if run.returncode == 0:
            self.primary = self._named(re.search(r"primary: (\S+) from term", text)[1])
            self.promotions += 1
            self._newer = False
            return True
        if closed := re.search(r"(\S+): no acknowledgement of the new term", text):
            # Those that can't follow it have to come back first.
            self.rejoin_all(self._named(closed[1]))
        return False

    def _named(self, address: str) -> Node:
        return next(n for n in self.nodes if n.address == address)

    def _gather(self) -> None:
        """Who does not follow the primary is made to."""
        while not self._ended.wait(0.3):
            self.rejoin_all(self.primary)

    def rejoin_all(self, primary: Node) -> None:
        for node in self.nodes:
            if node is not primary and not self._ended.is_set() and self.strays(node, primary):
                self.rejoin(node, primary)

    def strays(self, node: Node, primary: Node, strictly: bool = False) -> bool:
        """It answers, and does not follow; `strictly`: or does not answer, or is still looking for the primary."""
        try:
            c = node.connect(ADMIN, timeout=1)
        except (pymysql.MySQLError, OSError):
            return strictly
        try:
            with c.cursor(pymysql.cursors.DictCursor) as cursor:
                cursor.execute("SHOW SLAVE STATUS")
                row = cursor.fetchone()
        except (pymysql.MySQLError, OSError):
            return strictly
        finally:
            c._force_close()
        if not row or (row["Master_Host"], int(row["Master_Port"])) != (primary.host, primary.port):
            return True
        running = (row["Slave_IO_Running"], row["Slave_SQL_Running"])
        return running != ("Yes", "Yes") if strictly else "No" in running

    def rejoin(self, node: Node, primary: Node) -> None:
        self._tried += 1
        command = [
            str(node.binary), "rejoin", f"--from={primary.address}", f"--user={ADMIN}", f"--password-file={self.password}", "--ssl-mode=disabled",
            f"--host={node.host}", f"--port={node.port}", "--fence", "--yes", "--wait=0", f"--save={self.folder / f'taken-back-{self._tried}'}",
        ]  # fmt: skip
        try:
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=30)
            self.note(f"rejoin of {node.address} to {primary.address}: {done.returncode}: {' | '.join(done.stdout.split(chr(10))[-4:])}")
            self.rejoined += done.returncode == 0
            self._newer |= "knows of a newer term" in done.stdout and primary is self.primary
        except subprocess.TimeoutExpired:
            self.note(f"rejoin of {node.address} to {primary.address}: took too long")

    # -- looking -----------------------------------------------------------------------------------------------------
    def whole(self, seconds: float = 60) -> None:
        """Waits until all servers run and follow one primary."""
        end = time.monotonic() + seconds
        while True:
            primary = self.primary
            if not any(n is not primary and self.strays(n, primary, strictly=True) for n in self.nodes) and self.takes_writes(primary):
                return
            if time.monotonic() > end:
                raise ServerDied("the cluster does not become whole:\n" + "\n".join(self.notes[-40:]))
            time.sleep(0.1)

    def takes_writes(self, node: Node) -> bool:
        with contextlib.suppress(pymysql.MySQLError, OSError):
            c = node.connect(timeout=1)
            try:
                with c.cursor() as cursor:
                    cursor.execute("INSERT INTO app.beat VALUES (2, 0) ON DUPLICATE KEY UPDATE n = n + 1")
                return True
            finally:
                c._force_close()
        return False
