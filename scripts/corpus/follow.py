"""The corpus as the load of a source: a server of the other kind follows, and must not stop. With a MariaDB on both sides it is
the control: what stops there is MariaDB's own.

What was recorded of each file is played to the source. Then the replica has to come to the source's position, and to have its
databases. A replica that has stopped is counted with its error, and made anew at the source's position. Files drop what they
have made, so the two are also compared in front of statements that drop tables.
"""

from __future__ import annotations

import collections
import contextlib
import re
import shutil
import time
from pathlib import Path

from narwal_lab.subjects import binary_of
from testbed.compare import SYSTEM, compare
from testbed.replica import MariaReplica, NarwalReplica, Replica, ReplicaFailed, gtid_position
from testbed.wire import Connection, Lost, SqlError

from corpus.play import Player
from corpus.servers import BOTH, OF_MARIADB, make_databases, prepare_files

# What a source's administrator does not do while replicas follow.
_NOT_HERE = re.compile(r"reset\s+(master|binary)|sql_log_bin|gtid_|server_id|purge\s|read_only|skip_replication|binlog_(row_image|checksum)|"
                       r"\bmysql\s*\.|\b(user|role|grant|revoke|password)\b|set\s+(global|@@global)", re.I)  # fmt: skip


# In front of these there is something to compare that will be gone.
_DROPS = re.compile(r"\s*(/\*.*?\*/)?\s*drop\s+(table|database|schema)\b", re.I)
# So many times in a file at most, and so many seconds that a table may be locked by the file.
_COMPARED, _PATIENCE = 25, 3
# Seconds for a replica to come to the source's position. A MariaDB looks for each row of a table without a key from its first
# row on, whoever the source is.
_BEHIND = 120


class NoJudge:
    """Answers are not looked at: what is asked is whether the replica follows."""

    def verdict(self, event: dict, right: dict, got: dict) -> tuple[str, str, bool]:
        return "same", "", True

    def all_is_gone(self, cause: str) -> None:
        pass


class Source:
    """The server that files are played to, as a Player wants it."""

    def __init__(self, server: Replica, files: Path):
        self.server, self.files = server, files

    @property
    def port(self) -> int:
        return self.server.port

    def alive(self) -> bool:
        return self.server.alive()

    def log_tail(self) -> str:
        return self.server.log_tail()

    def start_fresh(self) -> None:
        self.server.start(60)


class FollowedPlayer(Player):
    """Has the two servers compared while a file is played, until they differ."""

    def __init__(self, following: Following, name: str, seconds: float):
        super().__init__(Source(following.source, following.folder / "files"), NoJudge(), seconds)
        self.following, self.name, self.compared = following, name, 0

    def _sql(self, number: int, event: dict) -> None:
        if self.compared < _COMPARED and _DROPS.match(event["text"]):
            self.compared += 1
            began = time.monotonic()
            if not self.following.same(f"{self.name}:{event['line']}", _PATIENCE):
                self.compared = _COMPARED
            self.end += time.monotonic() - began
        super()._sql(number, event)


class Following:
    """A source and its replica, each "narwal" or "mariadb". `peer`: the installation of the MariaDB that follows, if it is not
    this machine's own."""

    def __init__(self, folder: Path, source: str, follower: str, binary: Path, peer: str | None = None):
        self.folder, self.binary = folder, str(binary)
        self.other: dict = {}
        if peer:
            program, loader = binary_of(peer, ("mariadbd",))
            self.other = {"binary": str(program), "loader": loader}
        self.stops: collections.Counter = collections.Counter()
        self.examples: dict[str, str] = {}
        self.differing: list[str] = []
        self.files = self.compared = self.rows = 0
        self.kind, self.follower = source, follower
        self.source: Replica | None = None
        self.replica: Replica | None = None
        self.begin()

    def begin(self) -> None:
        """A new source, and a replica of it: at first, and when a file has left the source so that root can't come in."""
        if self.source:
            self.source.kill()
            shutil.rmtree(self.folder / "source", ignore_errors=True)
        # A MariaDB does not start without the folder.
        (self.folder / "files").mkdir(parents=True, exist_ok=True)
        files = f"--secure-file-priv={self.folder / 'files'}"
        log = ["--log-bin=source-bin", "--binlog-format=ROW", "--gtid-strict-mode=OFF"]
        if self.kind == "narwal":
            self.source = NarwalReplica(self.folder / "source", 1, [*BOTH, files], binary=self.binary)
        else:
            self.source = MariaReplica(self.folder / "source", 1, [*OF_MARIADB, *log, files], log=True)
        self.source.create()
        self.source.start(60)
        make_databases(self.source.port)
        self.attach()

    def attach(self) -> None:
        """A new replica that begins where the source stands, with empty databases."""
        if self.replica:
            self.replica.kill()
            shutil.rmtree(self.folder / "replica", ignore_errors=True)
        if self.follower == "mariadb":
            self.replica = MariaReplica(self.folder / "replica", 101, OF_MARIADB, **self.other)
        else:
            self.replica = NarwalReplica(self.folder / "replica", 101, BOTH, binary=self.binary)
        self.replica.create()
        self.replica.start(60)
        self.empty()
        make_databases(self.replica.port)
        self.replica.query(f"SET GLOBAL gtid_slave_pos = '{gtid_position(self.source.port)}'")
        self.replica.follow(self.source.port, heartbeat_period=1)

    def empty(self) -> None:
        """The source as a file expects it."""
        c = Connection(self.source.port)
        c.query("SET foreign_key_checks = 0")
        for (name,) in c.query("SHOW DATABASES").rows:
            if name not in SYSTEM:
                c.query("DROP DATABASE `%s`" % str(name).replace("`", "``"))
        c.close()
        make_databases(self.source.port)

    def file(self, name: str, events: list[dict], seconds: float) -> str:
        """Plays a file; in a word what came of it."""
        self.files += 1
        prepare_files(self.folder / "files")
        wanted = [e for e in events if not _NOT_HERE.search(e.get("text", "")[:2000])]
        differing, compared, rows = len(self.differing), self.compared, self.rows
        try:
            FollowedPlayer(self, name, seconds).run(wanted)
            if len(self.differing) == differing:
                self.same(name, 60)
            self.empty()
            self.replica.catch_up(self.source.port, _BEHIND)
            word = f"followed, compared {self.compared - compared} times, {self.rows - rows} rows"
            return word + (", differs" if len(self.differing) > differing else "")
        except (ReplicaFailed, SqlError, Lost) as e:
            error = ""
            # The replica may have lost its root as the source has.
            with contextlib.suppress(SqlError):
                error = self.replica.last_error()
            if not error and isinstance(e, SqlError):
                # The file has left a server that root can't read.
                self.begin()
                return f"followed as far as root may look: {e}"
            cause = re.sub(r"'[^']*'|\d+-\d+-\d+|\b\d{5,}\b", "..", error or str(e))[:160]
            self.stops[cause] += 1
            self.examples.setdefault(cause, f"{name}: {(error or str(e))[:600]}")
            # A new source as well: the file may have left it without tables of its own.
            self.begin()
            return f"STOPPED: {cause}"

    def same(self, where: str, patience: float) -> bool:
        """Whether the replica, once it has come to the source's position, has its tables, as far as that can be seen: a file may
        have locked them, or have made views that nobody can read."""
        self.replica.catch_up(self.source.port, _BEHIND)
        try:
            found = compare(self.source.port, self.replica.port, (self.source.name, "replica"), timeout=patience, engines=False)
        except (Lost, SqlError):
            return False
        self.compared += 1
        self.rows += found.rows
        if found.differences:
            self.differing.append(f"{where}: {found.differences[0]}")
        return not found.differences

    def end(self) -> None:
        for server in (self.source, self.replica):
            if server:
                server.kill()

    def report(self) -> str:
        lines = [f"{self.kind} is the source of {self.files} files, {self.follower} follows: {self.stops.total()} stops, {len(self.differing)} files with differences; "
                 f"compared {self.compared} times, {self.rows} rows"]
        lines += [f"{n:5} {cause}\n      {self.examples[cause]}" for cause, n in self.stops.most_common(40)]
        lines += [f"differs: {text[:1200]}" for text in self.differing[:40]]
        return "\n".join(lines)


def run(run_, source: str, follower: str | None = None, peer: str | None = None) -> int:
    """All files of a run that are recorded. Files that were not recorded yet are left out, and named."""
    follower = follower or ("mariadb" if source == "narwal" else "narwal")
    following, left_out = Following(run_.folder, source, follower, run_.binary, peer), []
    try:
        while (file := run_.next_file()) is not None:
            record = run_.store.record(file)
            if record is None:
                left_out.append(file.stem)
                continue
            began = time.monotonic()
            print(f"{file.stem:44} {following.file(file.stem, record['events'], 2 * run_.o.seconds)} ({time.monotonic() - began:.1f} s)", flush=True)
    finally:
        following.end()
    print(following.report())
    if left_out:
        print(f"not recorded yet (run ./corpus --record first): {' '.join(left_out)}")
    return 1 if following.stops else 0
