"""Statements that want all memory (hostile_statements.py), each alone and sixteen at once: the same process serves afterwards, and
its peak stays within narwal_memory plus a tenth.

A run of some seconds takes a sample by a seed. All of them: ./torture --statements (HOSTILE=all), with HOSTILE_MEMORY (MiB) for
another limit and HOSTILE_ONLY for names that contain a text.

And the same where the kernel refuses memory long before the accountant would: a limit of the process's address space.
"""

from __future__ import annotations

import contextlib
import os
import random
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from conftest import STAND_IN  # noqa: E402
from hostile_statements import SETUP, statements, the_four  # noqa: E402
from testbed.servers import Narwal  # noqa: E402
from testbed.wire import Connection, Lost, Result, SqlError  # noqa: E402

pytestmark = pytest.mark.skipif(STAND_IN, reason="MariaDB has no limit for the whole server")

ALL = os.environ.get("HOSTILE") == "all"
ONLY = os.environ.get("HOSTILE_ONLY", "")
MEMORY = int(os.environ.get("HOSTILE_MEMORY", 1024)) << 20
SEED = int(os.environ.get("HOSTILE_SEED", 0)) or random.randrange(1 << 30)
SAMPLE = 24
SECONDS = 5 if ALL else 1
PATIENCE = int(os.environ.get("HOSTILE_PATIENCE", 240))
AT_ONCE = 16


class Reader(Connection):
    """Reads rows and forgets them."""

    def _result(self, statement=None) -> Result:
        first = self._packet()
        if first[:1] == b"\xff":
            raise self._error(first)
        if first[:1] == b"\0":
            return Result()
        ends = 0
        while ends < 2:
            head = self._read(4)
            n = int.from_bytes(head[:3], "little")
            self.sequence = (head[3] + 1) & 255
            kept = b""
            while n:
                piece = self._read(min(n, 1 << 16))
                kept = kept or piece
                n -= len(piece)
            if kept[:1] == b"\xff":
                raise self._error(kept)
            ends += kept[:1] == b"\xfe" and len(kept) < 9
        return Result()


class Process:
    """The server's process, as the kernel has it."""

    def __init__(self, pid: int):
        self.folder = Path(f"/proc/{pid}")
        self.started = self._started()

    def _started(self) -> str:
        return self._stat()[19]

    def _stat(self) -> list[str]:
        return (self.folder / "stat").read_text().rsplit(")", 1)[1].split()

    def is_the_same(self) -> bool:
        """False of one that has ended and waits for its parent, too."""
        try:
            return self._started() == self.started and self._stat()[0] not in "ZX"
        except OSError:
            return False

    def peak(self) -> int:
        """0 of a process that has ended."""
        try:
            lines = (self.folder / "status").read_text().splitlines()
        except OSError:
            return 0
        return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM")), 0)

    def forget_peak(self) -> None:
        (self.folder / "clear_refs").write_text("5")


def serve(folder: Path, memory: int) -> Narwal:
    s = Narwal(folder, [f"--narwal-memory={memory}", "--max-tmp-session-space-usage=256M", "--max-connections=200"])
    s.create()
    s.start()
    c = Connection(s.port)
    for sql in SETUP:
        c.query(sql)
    c.close()
    return s


@pytest.fixture
def server(tmp_path):
    s = serve(tmp_path / "narwal", MEMORY)
    yield s
    s.kill()


@pytest.fixture
def short_server(tmp_path):
    """One that believes in 64 GiB, and whose process can map some hundred MiB more."""
    s = serve(tmp_path / "narwal", 64 << 30)
    shorten(s)
    yield s
    s.kill()


def shorten(server: Narwal) -> None:
    text = Path(f"/proc/{server.process.pid}/status").read_text()
    mapped = next(int(line.split()[1]) << 10 for line in text.splitlines() if line.startswith("VmSize"))
    resource.prlimit(server.process.pid, resource.RLIMIT_AS, (mapped + (700 << 20),) * 2)


def run(port: int, name: str, session: list) -> str:
    """Runs an entry; how it ended."""
    c = Reader(port, timeout=PATIENCE)
    outcome = "no statement"
    try:
        c.query(f"SET max_statement_time = {SECONDS}")
        c.query("USE h")
        for sql in session:
            try:
                c.query(sql() if callable(sql) else sql)
                outcome = "ok"
            except SqlError as e:
                outcome = str(e)[:110]
        c.query("SELECT 1")
        c.close()
    except Lost as e:
        # A packet that is too large ends the connection.
        outcome = f"lost: {e}"
        c.drop()
    except SqlError as e:
        outcome = str(e)[:110]
    return outcome


def ended(server: Narwal) -> str:
    """How a server's process ended, with the end of its log."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.process.wait(10)
    return f"exit status {server.process.returncode}\n{server.log_tail(15)}"


def chosen() -> list:
    wanted = [entry for entry in statements() if ONLY in entry[0]]
    if ALL or ONLY:
        return wanted
    print(f"HOSTILE_SEED={SEED}")
    four = list(the_four())
    rest = [entry for entry in wanted if entry[0] not in {name for name, _ in four}]
    return four + random.Random(SEED).sample(rest, SAMPLE)


def serves(port: int) -> bool:
    c = Connection(port, database="h")
    good = c.query("SELECT COUNT(*), MIN(LENGTH(v)) FROM t").rows == [(8000, 100)]
    c.query("INSERT INTO w (a) VALUES ('after')")
    c.query("DELETE FROM w")
    c.close()
    return good


def told(name: str, peak: int, seconds: float, outcome: str) -> None:
    print(f"{peak >> 20:6} MiB {seconds:6.1f} s  {name[:60]:60}  {outcome}", flush=True)


def test_each_alone(server):
    process = Process(server.process.pid)
    faults = []
    for name, session in chosen():
        process.forget_peak()
        began = time.monotonic()
        outcome = run(server.port, name, session)
        if not process.is_the_same():
            print(ended(server), flush=True)
            server.start()
            process = Process(server.process.pid)
            faults.append((name, "the server ended"))
            told(name, 0, time.monotonic() - began, "THE SERVER ENDED")
            continue
        peak = process.peak()
        told(name, peak, time.monotonic() - began, outcome)
        if peak > MEMORY * 1.1:
            faults.append((name, f"{peak >> 20} MiB"))
        if outcome.startswith("lost") and "packet" not in name:
            faults.append((name, outcome))
    assert not faults
    assert serves(server.port)


def test_the_kernel_refuses(short_server):
    process = Process(short_server.process.pid)
    faults = []
    for name, session in chosen():
        began = time.monotonic()
        outcome = run(short_server.port, name, session)
        told(name, process.peak(), time.monotonic() - began, outcome)
        if not process.is_the_same():
            print(ended(short_server), flush=True)
            faults.append(name)
            short_server.start()
            shorten(short_server)
            process = Process(short_server.process.pid)
    assert not faults
    assert serves(short_server.port)


def test_sixteen_at_once(server):
    process = Process(server.process.pid)
    process.forget_peak()
    entries = chosen()
    random.Random(SEED).shuffle(entries)
    lock, lost, outcomes = threading.Lock(), [], {}

    def work() -> None:
        while process.is_the_same():
            with lock:
                if not entries:
                    return
                name, session = entries.pop()
            began = time.monotonic()
            try:
                outcome = run(server.port, name, session)
            except Lost as e:
                outcome = f"lost: {e}"
            if outcome.startswith("lost") and "packet" not in name:
                lost.append((name, outcome))
            outcomes[outcome[:4]] = outcomes.get(outcome[:4], 0) + 1
            if process.is_the_same():
                told(name, process.peak(), time.monotonic() - began, outcome)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(AT_ONCE)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert process.is_the_same(), ended(server)
    print("outcomes", outcomes)
    assert serves(server.port)
    assert not lost
    assert process.peak() <= MEMORY * 1.1, f"{process.peak() >> 20} MiB of {MEMORY >> 20}"
