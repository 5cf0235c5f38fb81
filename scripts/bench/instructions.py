#!/usr/bin/env python3
"""Instructions that builds of the server need for a statement, in user space, counted by valgrind's callgrind.

    scripts/bench/instructions.py OLD/narwal NEW/narwal

Unlike times, they do not depend on what else the machine does: two builds can be compared while it compiles. One connection;
the rows are in the base and its cache; each statement is warmed up before it is counted. The count is of all threads of the
server, so a checkpoint in between shows: it takes the least of several portions.

Phases: `point`, `update`, `insert`: prepared statements; `text`: a SELECT by key as text that shares a plan; `parse`: texts
that no other statement resembles, so each is parsed and planned; `function`: SUM(LENGTH(CONCAT(UPPER(c), 'x'))) over 1000 rows;
`range`: SUM over 100 rows.
"""

from __future__ import annotations

import argparse
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.wire import Connection, Lost  # noqa: E402

ROWS = 5000
PORTIONS = 3


def free_port() -> int:
    import socket

    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Server:
    """A build that serves a folder, under callgrind or not."""

    def __init__(self, binary: Path, folder: Path, counted: bool):
        self.out = folder / "callgrind.out"
        self.port = free_port()
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={self.out}"] if counted else []
        # Valgrind does not know the call by which a thread asks for its processor.
        serve = [str(binary), "serve", f"--datadir={folder / 'data'}", f"--port={self.port}", "--bind-address=127.0.0.1",
                 "--narwal-client-affinity=OFF", "--innodb-buffer-pool-size=64M"]  # fmt: skip
        self.log = open(folder / "log", "a")  # noqa: SIM115: open as long as the server
        self.process = subprocess.Popen(valgrind + serve, stdout=self.log, stderr=subprocess.STDOUT)
        self.connection = self.connect()

    def connect(self) -> Connection:
        for _ in range(1200):
            try:
                return Connection(self.port)
            except (OSError, Lost):
                if self.process.poll() is not None:
                    raise RuntimeError(f"the server ended: {self.log.name}") from None
                time.sleep(0.1)
        raise RuntimeError(f"no answer from the server: {self.log.name}")

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()
        self.log.close()

    def count(self, run: Callable[[int], object], n: int) -> float:
        """Instructions a statement: the least of some portions of `n`."""
        at = 0
        for _ in range(50):
            run(at)
            at += 1
        found = []
        for portion in range(PORTIONS):
            self.control("--zero")
            for _ in range(n):
                run(at)
                at += 1
            name = f"p{portion}"
            before = set(self.out.parent.glob("callgrind.out*"))
            self.control(f"--dump={name}")
            for _ in range(100):
                new = set(self.out.parent.glob("callgrind.out*")) - before
                if new:
                    break
                time.sleep(0.05)
            for f in new:
                total = re.search(r"^(?:totals|summary): (\d+)", f.read_text(errors="replace"), re.M)
                if total:
                    found.append(int(total[1]) / n)
        return min(found)

    def control(self, what: str) -> None:
        subprocess.run(["callgrind_control", what, str(self.process.pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def prepare(binary: Path, folder: Path) -> None:
    server = Server(binary, folder, counted=False)
    q = server.connection.query
    q("CREATE DATABASE b")
    q("CREATE TABLE b.t (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY k_1 (k))")
    for a in range(0, ROWS, 500):
        q("INSERT INTO b.t VALUES " + ",".join(f"({i},{i * 7919 % ROWS},'{'c' * 119}','{'p' * 59}')" for i in range(a, a + 500)))
    server.stop()


def measure(binary: Path, folder: Path) -> dict[str, float]:
    prepare(binary, folder)
    server = Server(binary, folder, counted=True)
    c = server.connection
    c.query("USE b")
    c.query("SELECT COUNT(*), SUM(k) FROM t FORCE INDEX (PRIMARY)")
    c.query("SET GLOBAL innodb_flush_log_at_trx_commit = 2")
    select = c.prepare("SELECT c FROM t WHERE id = ?")
    update = c.prepare("UPDATE t SET k = k + 1 WHERE id = ?")
    insert = c.prepare("INSERT INTO t VALUES (?, ?, ?, ?)")

    def unlike(i: int) -> str:
        """A text whose names no other has: its plan is not shared."""
        return f"SELECT c AS a{i}, k + 1 AS b{i} FROM t AS t{i} WHERE t{i}.id = {i % ROWS} AND t{i}.k >= 0 ORDER BY a{i} LIMIT 3"

    phases: dict[str, tuple[Callable[[int], object], int]] = {
        "point": (lambda i: c.execute(select, i * 37 % ROWS), 500),
        "update": (lambda i: c.execute(update, i * 37 % ROWS), 500),
        "insert": (lambda i: c.execute(insert, 10000 + i, i, "c" * 119, "p" * 59), 500),
        "text": (lambda i: c.query(f"SELECT c FROM t WHERE id = {i * 37 % ROWS}"), 500),
        "parse": (lambda i: c.query(unlike(i)), 300),
        "function": (lambda i: c.query("SELECT SUM(LENGTH(CONCAT(UPPER(c), 'x'))) FROM t WHERE id < 1000"), 10),
        "range": (lambda i: c.query(f"SELECT SUM(k) FROM t WHERE id BETWEEN {i} AND {i + 99}"), 100),
    }
    counts = {name: server.count(run, n) for name, (run, n) in phases.items()}
    server.stop()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is needed: apt-get install valgrind")
    with tempfile.TemporaryDirectory(prefix="narwal-instructions-") as tmp:
        counts = []
        for name in ("old", "new"):
            folder = Path(tmp) / name
            folder.mkdir()
            counts.append(measure(getattr(args, name).resolve(), folder))
    old, new = counts
    print(f"{'':10} {'old':>10} {'new':>10}  new : old")
    for phase, a in old.items():
        print(f"{phase:10} {a:10,.0f} {new[phase]:10,.0f}  {new[phase] / a:.3f}")


if __name__ == "__main__":
    main()
