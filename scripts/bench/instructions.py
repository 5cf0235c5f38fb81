#!/usr/bin/env python3
"""Instructions that builds of the server need for a statement, in user space, counted by valgrind's callgrind.

    scripts/bench/instructions.py OLD/narwal NEW/narwal

Unlike times, they do not depend on what else the machine does: two builds can be compared while it compiles. One connection;
the rows are in the base and its cache; each statement is warmed up before it is counted. The count is of the connection's
thread, which alone commits here: others work by the clock (the scrub, checkpoints), and on a busy machine more of that falls
into a portion. It takes the least of several portions.

Phases: `point`, `update`, `insert`: prepared statements; `text`: a SELECT by key as text that shares a plan; `parse`: texts
that no other statement resembles, so each is parsed and planned; `function`: SUM(LENGTH(CONCAT(UPPER(c), 'x'))) over 1000 rows;
`range`: SUM over 100 rows; `write_only` and `read_only`: a transaction as sysbench's of that name makes it, with BEGIN and
COMMIT; `delete`: of one row by key, prepared; `gone`: of a row that there is not.

`--functions 20` also prints, for each phase, where the difference is: the functions whose own instructions differ the most. The
compiler may inline a function in one build and not in the other, so look at sums of neighbours.
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
from collections import Counter
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.wire import Connection, Lost  # noqa: E402

ROWS = 5000
PORTIONS = 3
# A function's name that the dump of a connection's thread has.
OF_CONNECTION = "narwal_server::"


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
        valgrind = ["valgrind", "--tool=callgrind", "--separate-threads=yes", f"--callgrind-out-file={self.out}"] if counted else []
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

    def count(self, run: Callable[[int], object], n: int) -> tuple[float, Counter[str]]:
        """Instructions a statement, and those of each function: the least of some portions of `n`."""
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
            dumps = self.dumps_beside(before)
            ours = [text for text in dumps if OF_CONNECTION in text]
            totals = [re.search(r"^(?:totals|summary): (\d+)", text, re.M) for text in ours]
            found.append(max((int(t[1]) / n, text) for t, text in zip(totals, ours, strict=True) if t))
        least, text = min(found)
        return least, Counter({f: cost / n for f, cost in of_functions(text).items()})

    def dumps_beside(self, before: set[Path]) -> list[str]:
        """What each thread has dumped."""
        for _ in range(100):
            dumps = [f.read_text(errors="replace") for f in set(self.out.parent.glob("callgrind.out*")) - before]
            if any(OF_CONNECTION in text for text in dumps) and all(re.search("^(totals|summary):", text, re.M) for text in dumps):
                return dumps
            time.sleep(0.1)
        raise RuntimeError("callgrind has written no dump of the connection's thread")

    def control(self, what: str) -> None:
        subprocess.run(["callgrind_control", what, str(self.process.pid)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def of_functions(dump: str) -> Counter[str]:
    """What each function costs by itself, out of a dump of callgrind's."""
    names: dict[str, str] = {}
    costs: Counter[str] = Counter()
    function, of_call = "", False
    for line in dump.splitlines():
        if m := re.match(r"fn=\((\d+)\)(?: (.*))?", line):
            if m[2]:
                names[m[1]] = re.sub(r"::h[0-9a-f]{16}|'\d+$", "", m[2])
            function = names.get(m[1], "")
        elif m := re.match(r"cfn=\((\d+)\) (.*)", line):
            names[m[1]] = re.sub(r"::h[0-9a-f]{16}|'\d+$", "", m[2])
        elif line.startswith("calls="):
            # The next line has the callee's costs.
            of_call = True
        elif re.match(r"[+*\-\d]", line):
            if not of_call and len(fields := line.split()) > 1:
                costs[function] += int(fields[1])
            of_call = False
    return costs


def print_functions(phase: str, old: Counter[str], new: Counter[str], most: int) -> None:
    differences = {f: new[f] - old[f] for f in old | new}
    print(f"\n{phase}: functions that cost more or less")
    for f in sorted(differences, key=lambda f: -abs(differences[f]))[:most]:
        print(f"  {differences[f]:+10,.1f}  ({old[f]:,.1f} -> {new[f]:,.1f})  {f[:150]}")


def prepare(binary: Path, folder: Path) -> None:
    server = Server(binary, folder, counted=False)
    q = server.connection.query
    q("CREATE DATABASE b")
    q("CREATE TABLE b.t (id INT PRIMARY KEY, k INT NOT NULL, c CHAR(120) NOT NULL, pad CHAR(60) NOT NULL, KEY k_1 (k))")
    for a in range(0, ROWS, 500):
        q("INSERT INTO b.t VALUES " + ",".join(f"({i},{i * 7919 % ROWS},'{'c' * 119}','{'p' * 59}')" for i in range(a, a + 500)))
    server.stop()


def measure(binary: Path, folder: Path, only: list[str]) -> dict[str, tuple[float, Counter[str]]]:
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

    set_c = c.prepare("UPDATE t SET c = ? WHERE id = ?")
    delete = c.prepare("DELETE FROM t WHERE id = ?")

    def write_only(i: int) -> None:
        row = i * 37 % ROWS
        c.query("BEGIN")
        c.execute(update, row)
        c.execute(set_c, f"{i:0119}", (row + 1) % ROWS)
        c.execute(delete, (row + 2) % ROWS)
        c.execute(insert, (row + 2) % ROWS, i, "c" * 119, "p" * 59)
        c.query("COMMIT")

    reads = [
        c.prepare(f"SELECT {what} FROM t WHERE id BETWEEN ? AND ?{order}")
        for what, order in (("c", ""), ("SUM(k)", ""), ("c", " ORDER BY c"), ("DISTINCT c", " ORDER BY c"))
    ]

    def read_only(i: int) -> None:
        c.query("BEGIN")
        for n in range(10):
            c.execute(select, (i * 37 + n * 411) % ROWS)
        for r in reads:
            c.execute(r, i, i + 99)
        c.query("COMMIT")

    phases: dict[str, tuple[Callable[[int], object], int]] = {
        "point": (lambda i: c.execute(select, i * 37 % ROWS), 500),
        "update": (lambda i: c.execute(update, i * 37 % ROWS), 500),
        "insert": (lambda i: c.execute(insert, 10000 + i, i, "c" * 119, "p" * 59), 500),
        "text": (lambda i: c.query(f"SELECT c FROM t WHERE id = {i * 37 % ROWS}"), 500),
        "parse": (lambda i: c.query(unlike(i)), 300),
        "function": (lambda i: c.query("SELECT SUM(LENGTH(CONCAT(UPPER(c), 'x'))) FROM t WHERE id < 1000"), 10),
        "range": (lambda i: c.query(f"SELECT SUM(k) FROM t WHERE id BETWEEN {i} AND {i + 99}"), 100),
        "write_only": (write_only, 200),
        "read_only": (read_only, 50),
        # Last: they take rows away that the others read.
        "gone": (lambda i: c.execute(delete, 10_000_000 + i), 500),
        "delete": (lambda i: c.execute(delete, i), 500),
    }
    counts = {name: server.count(run, n) for name, (run, n) in phases.items() if not only or name in only}
    server.stop()
    return counts


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--functions", type=int, default=0, metavar="N", help="how many functions to print for each phase")
    parser.add_argument("--phases", default="", help="some phases, with commas between them")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is needed: apt-get install valgrind")
    with tempfile.TemporaryDirectory(prefix="narwal-instructions-") as tmp:
        counts = []
        for name in ("old", "new"):
            folder = Path(tmp) / name
            folder.mkdir()
            counts.append(measure(getattr(args, name).resolve(), folder, args.phases.split(",") if args.phases else []))
    old, new = counts
    print(f"{'':10} {'old':>10} {'new':>10}  new : old")
    for phase, (a, _) in old.items():
        b, _ = new[phase]
        print(f"{phase:10} {a:10,.0f} {b:10,.0f}  {b / a:.3f}")
    for phase in old if args.functions else []:
        print_functions(phase, old[phase][1], new[phase][1], args.functions)


if __name__ == "__main__":
    main()
