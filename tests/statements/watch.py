"""The servers under the statements: connections that lose nothing unseen, and a process that is watched."""

from __future__ import annotations

import contextlib
import os
import re
import resource
import socket
import threading
import time
from pathlib import Path

import packets
from packets import Error, Link, Lost, Rows
from testbed.servers import MariaDB, Narwal

LIMIT = 5  # seconds of max_statement_time
SLACK = 20
MEMORY_MIB = 1500
MARIADB = ["--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--innodb-snapshot-isolation=ON", "--innodb-flush-log-at-trx-commit=0",
           "--innodb-buffer-pool-size=64M", "--performance-schema=OFF", "--skip-log-bin"]  # fmt: skip
NARWAL = ["--innodb-flush-log-at-trx-commit=2"]
PANIC = re.compile(r"panicked at ([^\n]*)|stack overflow|memory allocation of|SIGABRT|overflowed its stack")


class Dead(Exception):
    """A connection is gone, or does not answer."""


class Watched(Narwal):
    """A Narwal whose memory is bounded by the kernel, so that one statement can't take the machine with it."""

    def __init__(self, folder: Path, **kw):
        super().__init__(folder, [*NARWAL, *kw.pop("args", [])], **kw)
        self.seen = self.began = 0
        self.peak = 0.0
        self.grown = False

    def spawn(self) -> None:
        super().spawn()
        resource.prlimit(self.process.pid, resource.RLIMIT_AS, (8 << 30, 8 << 30))
        resource.prlimit(self.process.pid, resource.RLIMIT_CORE, (0, 0))
        self.grown = False
        self.began = self.seen = self.log_path.stat().st_size
        threading.Thread(target=self._weigh, args=(self.process,), daemon=True).start()

    def _weigh(self, process) -> None:
        """Ends a server that has grown beyond measure: that is a finding."""
        while process.poll() is None:
            with contextlib.suppress(OSError, TypeError):
                rss = int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())[1]) / 1024
                self.peak = max(self.peak, rss)
                if rss > MEMORY_MIB:
                    self.grown = True
                    process.kill()
                    return
            time.sleep(0.1)

    def panic(self) -> str:
        """What the log says about a panic since it was asked before; of a server that has died, since it was started."""
        with open(self.log_path, errors="replace") as log:
            log.seek(self.seen if self.alive() else self.began)
            text = log.read()
            self.seen = log.tell()
        found = [m for m in PANIC.finditer(text)]
        return "; ".join(dict.fromkeys(m[0] for m in found)) if found else ""


def maria(folder: Path) -> MariaDB:
    return MariaDB(folder, MARIADB)


class Connection:
    """One session, text and binary."""

    def __init__(self, server, setup: list[str]):
        self.server, self.setup, self.link = server, setup, None

    def open(self) -> Link:
        if self.link is None:
            try:
                self.link = Link(self.server, mariadb=0)
                self.link.sock.settimeout(LIMIT + SLACK)
                for sql in self.setup:
                    self.link.query(sql)
            except (OSError, Lost, AssertionError) as e:
                self.drop()
                raise Dead(f"can't connect: {e!r}") from None
        return self.link

    def drop(self) -> None:
        if self.link is not None:
            with contextlib.suppress(OSError):
                self.link.sock.close()
            self.link = None

    def run(self, sql: str):
        """The answer: Error, Ok or Rows (of several, the last). Raises Dead."""
        return self._guarded(lambda link: link.query(sql.encode("utf8", "surrogatepass")))

    def prepared(self, sql: str, values: list):
        def work(link):
            statement = link.prepare(sql.encode())
            if isinstance(statement, Error):
                return statement
            try:
                return link.execute(statement, *values)
            finally:
                link.command(packets.CLOSE, statement.id.to_bytes(4, "little"))

        return self._guarded(work)

    def _guarded(self, work):
        link = self.open()
        try:
            answer = work(link)
        except TimeoutError:
            self.drop()
            raise Dead(f"no answer in {LIMIT + SLACK} s") from None
        except (OSError, Lost, AssertionError, IndexError) as e:
            self.drop()
            raise Dead(f"connection lost: {e!r}") from None
        if isinstance(answer, list):
            answer = answer[-1]
        if isinstance(answer, Rows) and isinstance(answer.end, Error):
            answer = answer.end
        return answer


def shown(answer) -> str:
    match answer:
        case Error():
            return f"ERROR {answer.code} ({answer.state}): {answer.message.decode('utf8', 'replace')}"
        case Rows():
            lines = [", ".join("NULL" if v is None else repr(v) for v in row) if isinstance(row, tuple) else repr(row) for row in answer.rows[:12]]
            return f"{len(answer.rows)} rows:\n  " + "\n  ".join(lines) + (" ..." if len(answer.rows) > 12 else "")
    return f"OK, {answer.affected} rows"
