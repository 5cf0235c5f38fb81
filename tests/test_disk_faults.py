"""The real binary with calls of the disk that fail once, chosen by kind, folder and number: lab/shim/diskfault.c.

What clients get, and what must hold then, stands in docs/faults.md; each case here names its row there. Without
NARWAL_FAULTS=all each row takes one number by chance (NARWAL_SEED); with it, several.
"""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lab"))
from testbed import diskfault  # noqa: E402
from testbed.servers import Narwal, ServerDied, narwal_binary  # noqa: E402
from testbed.wire import Connection, Lost, SqlError  # noqa: E402

ALL = os.environ.get("NARWAL_FAULTS") == "all"
SEED = int(os.environ.get("NARWAL_SEED", "0")) or random.SystemRandom().randrange(1 << 30)
STOPPED = 1598
ERRORS = {"EIO": errno.EIO, "ENOSPC": errno.ENOSPC, "EINTR": errno.EINTR, "short": 0}


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    return diskfault.build(tmp_path_factory.mktemp("faultshim"))


class Story:
    """A server under the shim, what was acknowledged, and what clients were told."""

    def __init__(self, folder: Path, library: Path, encrypted: bool = False):
        self.folder = folder
        for name in ("temporary", "archive"):
            (folder / name).mkdir(parents=True)
        self.faults = diskfault.Faults(folder / "faults")
        args = [
            f"--tmpdir={folder / 'temporary'}", "--tmp-table-size=65536", "--binlog-oob-threshold=65536",
            "--narwal-transaction-memory=65536", f"--narwal-archive-url=file://{folder / 'archive'}",
            "--narwal-archive-timeout=1",
        ]  # fmt: skip
        if encrypted:
            (folder / "keys.txt").write_text(f"1;{'5a' * 32}\n")
            args.append(f"--encryption-key-file={folder / 'keys.txt'}")
        self.server = Narwal(folder / "s", args=args, env=self.faults.environment(library))
        self.rows: dict[int, str] | None = None
        self.maybe: list[dict[int, str] | None] = []
        self.told: list[tuple[str, int]] = []
        self.stopped = False

    def connect(self) -> Connection:
        return Connection(self.server.port, timeout=60)

    def look(self, c: Connection) -> dict[int, str] | None:
        """The table by each of its ways."""
        if ("a",) not in c.query("SELECT table_name FROM information_schema.tables WHERE table_schema = 't'").rows:
            return None
        rows = dict(c.query("SELECT id, s FROM t.a").rows)
        by_key = c.query("SELECT k, COUNT(*), SUM(id) FROM t.a FORCE INDEX (k) GROUP BY k").rows
        counted: dict[int, list[int]] = {}
        for i in rows:
            counted.setdefault(i % 7, []).append(i)
        assert sorted((k, n, int(s)) for k, n, s in by_key) == sorted((k, len(v), sum(v)) for k, v in counted.items())
        return rows

    def check(self, c: Connection, what: str) -> None:
        now = self.look(c)
        assert now == self.rows or now in self.maybe, f"{what}: other rows"

    def step(self, c: Connection, sql: str, after: dict[int, str] | None) -> None:
        """A statement: done, or an error and nothing done; then it is tried again."""
        for _ in range(2):
            try:
                c.query(sql)
            except SqlError as e:
                self.told.append((sql[:30], e.code))
                if e.code == STOPPED:
                    self.stopped = True
                    self.maybe.append(after)
                    return
                self.check(c, sql[:30])
                self.faults.disarm()
                continue
            self.rows = after
            return
        raise AssertionError(f"{sql[:60]} fails twice: {self.told}, {self.faults.last}")

    def work(self) -> None:
        c = self.connect()
        c.query("SET SESSION max_statement_time = 60")
        c.query("CREATE DATABASE IF NOT EXISTS t")
        rows = dict(self.rows) if self.rows else {}
        first = max(rows, default=0) + 1

        def values(ids) -> str:
            return ",".join(f"({i},{i % 7},'{rows[i]}')" for i in ids)

        def put(n: int, width: int) -> None:
            nonlocal rows, first
            rows = dict(rows)
            ids = range(first, first + n)
            rows.update((i, f"row {i} " + "x" * (i % width)) for i in ids)
            first += n
            self.step(c, f"INSERT INTO t.a VALUES {values(ids)}", rows)

        plan = [
            lambda: self.rows is None and self.step(c, "CREATE TABLE t.a (id INT PRIMARY KEY, k INT, s VARCHAR(2000), KEY k (k))", {}),
            *[lambda: put(3, 20)] * 3,
            lambda: put(600, 900),  # chunks and runs
            lambda: self.step(c, "SELECT COUNT(*) FROM (SELECT s, COUNT(*) FROM t.a x GROUP BY s ORDER BY s) y", self.rows),
            lambda: self.step(c, "ALTER TABLE t.a FORCE", self.rows),
            lambda: self.step(c, "DROP INDEX IF EXISTS s ON t.a", self.rows),
            lambda: self.step(c, "CREATE INDEX s ON t.a (s(20))", self.rows),
            lambda: self.step(c, "FLUSH BINARY LOGS", self.rows),
            lambda: self.step(c, f"BACKUP TO '{self.backup_folder()}'", self.rows),
            lambda: put(3, 20),
        ]  # fmt: skip
        for part in plan:
            part()
            if self.stopped:
                break
        self.check(c, "at the end")
        if self.stopped:
            # Final: the same for everybody, and reads go on.
            with pytest.raises(SqlError) as again:
                self.connect().query("INSERT INTO t.a VALUES (-1, 0, 'x')")
            assert again.value.code == STOPPED
            assert self.look(self.connect()) == self.rows, "reads of a stopped log"

    def backup_folder(self) -> Path:
        return self.folder / f"backup{len(list(self.folder.glob('backup*')))}"

    def start(self, quietly: bool = False) -> bool:
        try:
            self.server.start()
            return True
        except ServerDied as e:
            assert quietly, e
            text = self.server.log_tail()
            assert "panicked" not in text, text
            self.told.append((text.strip().splitlines()[-1], 0))
            self.server.kill()
            return False

    def restart(self, kill: bool = True) -> None:
        """After a kill, or an orderly end under the same faults; then, on a healthy disk, everything is there."""
        self.server.kill() if kill else self.server.stop()
        self.faults.disarm()
        self.start()
        self.stopped = False
        c = self.connect()
        self.check(c, "after a restart")
        self.rows, self.maybe = self.look(c), []

    def whole(self) -> None:
        """The stopped folder has no fault, and no backup that says it is whole has one."""
        self.faults.disarm()
        assert "panicked" not in Path(self.server.log_path).read_text(errors="replace")
        self.server.stop()
        key = [a for a in self.server.args if "key-file" in a]
        done = subprocess.run([narwal_binary(), "check", *key, str(self.server.datadir)], capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        for backup in self.folder.glob("backup*"):
            done = subprocess.run([narwal_binary(), "backup", "verify", backup], capture_output=True, text=True, timeout=120)
            assert done.returncode == 0 or "was not finished" in done.stderr, done.stderr
        assert not list((self.folder / "temporary").iterdir()), "a temporary file is left"


# Row of docs/faults.md, call, part of the path, error.
RUNNING = [
    ("F1", "write", "/log/wal.", "EIO"),
    ("F1", "write", "/log/wal.", "ENOSPC"),
    ("F2", "sync", "/log/wal.", "EIO"),
    ("F3", "allocate", "/log/wal.", "ENOSPC"),
    ("F3", "allocate", "/log/wal.", "EIO"),
    ("F3", "open", "/log/wal.", "EIO"),
    ("F3", "rename", "/log/wal.", "EIO"),
    ("F4", "read", "/log/wal.", "EIO"),
    ("F5", "write", "/log/wal.", "short"),
    ("F5", "write", "/base.redb", "short"),
    ("F5", "read", "/base.redb", "short"),
    ("F5", "write", "/spill/", "EINTR"),
    ("F5", "write", "/temporary/", "short"),
    ("F6", "write", "/base.redb", "EIO"),
    ("F6", "sync", "/base.redb", "EIO"),
    ("F7", "write", "/base.redb", "ENOSPC"),
    ("F9", "write", "/spill/", "EIO"),
    ("F9", "write", "/spill/", "ENOSPC"),
    ("F9", "open", "/spill/", "EIO"),
    ("F9", "sync", "/spill/", "EIO"),
    ("F10", "read", "/spill/", "EIO"),
    ("F11", "unlink", "/spill/", "EIO"),
    ("F12", "write", "/temporary/", "EIO"),
    ("F12", "write", "/temporary/", "ENOSPC"),
    ("F12", "read", "/temporary/", "EIO"),
    ("F13", "write", "/backup", "EIO"),
    ("F13", "write", "/backup", "ENOSPC"),
    ("F13", "sync", "/backup", "EIO"),
    ("F13", "rename", "/backup", "EIO"),
    ("F13", "mkdir", "/backup", "EIO"),
    ("F15", "write", "/archive/", "EIO"),
    ("F15", "write", "/archive/", "ENOSPC"),
    ("F15", "sync", "/archive/", "EIO"),
    ("F15", "rename", "/archive/", "EIO"),
    ("F15", "open", "/archive/", "EIO"),
]  # fmt: skip


@pytest.mark.parametrize("row,op,pattern,error", RUNNING)
def test_a_call_fails_while_statements_run(row, op, pattern, error, tmp_path, library):
    rng = random.Random(f"{SEED} {row} {op} {pattern} {error}")
    print(f"NARWAL_SEED={SEED}")
    story = Story(tmp_path, library, encrypted=rng.random() < 0.3)
    try:
        story.start()
        story.faults.arm(op, pattern, 0, 0)
        story.work()
        story.restart(kill=False)
        calls = max(story.faults.matched, 1)
        tries = {1, 2, calls, *(rng.randint(1, calls) for _ in range(6))} if ALL else {rng.randint(1, calls)}
        for n in sorted(tries):
            story.faults.arm(op, pattern, n, ERRORS[error])
            story.work()
            story.restart(kill=rng.random() < 0.5)
            print(f"{row} {op} {n} {pattern} {error}: {story.faults.failed} failed, told {story.told}")
            codes = {code for _, code in story.told}
            allowed = {"EIO": {1105, STOPPED, 3}, "ENOSPC": {1021, STOPPED}, "EINTR": {1105}, "short": set()}[error]
            assert codes <= allowed, story.told
            if STOPPED in codes:
                assert pattern == "/log/wal.", story.told
            story.told = []
        story.whole()
    finally:
        story.server.kill()


STARTING = [
    ("F20", op, pattern)
    for pattern, ops in {
        "/log": ["open", "read", "write", "sync", "allocate", "readdir"],
        "/base.redb": ["open", "read", "write", "sync"],
        "/spill": ["open", "read", "readdir", "unlink"],
        "/data/keys": ["open", "read"],
        "keys.txt": ["open", "read"],
    }.items()
    for op in ops
]


@pytest.mark.parametrize("encrypted", [True, False])
def test_a_call_fails_in_a_start(encrypted, tmp_path, library):
    """A start that can't read or write says why and ends, or does without; the next one has everything."""
    rng = random.Random(f"{SEED} start {encrypted}")
    print(f"NARWAL_SEED={SEED}")
    story = Story(tmp_path, library, encrypted)
    cases = [c for c in STARTING if encrypted or "keys" not in c[2]]
    if not ALL:
        cases = rng.sample(cases, 6)
    try:
        story.start()
        story.work()
        for row, op, pattern in cases:
            story.server.kill()
            n = rng.randrange(1, 6)
            story.faults.arm(op, pattern, n, errno.EIO)
            if story.start(quietly=True):
                c = story.connect()
                try:
                    story.check(c, f"{row} {op} {pattern}")
                except SqlError as e:
                    story.told.append((f"{op} {pattern}", e.code))
            print(f"{row} {op} {n} {pattern}: {story.faults.failed} failed, told {story.told}")
            story.told = []
            story.restart()
        story.work()
        story.whole()
    finally:
        story.server.kill()
