"""The servers of a run: a MariaDB that is cleaned or made anew between files, and a Narwal that is new for each file."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.servers import MariaDB, Narwal, ServerDied, free_port  # noqa: E402

from corpus.record import SUITES  # noqa: E402
from corpus.wire import Lost, SqlError, Wire  # noqa: E402

# What the corpus was written for, as far as a server without its harness has it.
BOTH = [
    "--character-set-server=latin1", "--collation-server=latin1_swedish_ci", "--local-infile=ON",
    "--innodb-snapshot-isolation=ON", "--innodb-flush-log-at-trx-commit=0", "--key-buffer-size=1M",
]  # fmt: skip
# Accounts of localhost are meant for connections from this machine, as on Narwal.
OF_MARIADB = [
    *BOTH, "--log-bin-trust-function-creators=1", "--performance-schema=OFF", "--innodb-buffer-pool-size=32M", "--innodb-log-file-size=10M",
    "--max-connections=100", "--sort-buffer-size=256K", "--innodb-use-native-aio=OFF",
    "--skip-name-resolve=0",
]  # fmt: skip

# After such statements a MariaDB is not cleaned but made anew.
_LASTING = re.compile(
    r"\bglobal\b|\bmysql\b|\buser\b|\bgrant\b|\brevoke\b|\brole\b|\binstall\b|password|\bserver\b|\bflush\b|\bmaster\b|event_scheduler|"
    r"\bsend\b|\bxa\b|\bbackup\b|max_connections|tablespace", re.I)  # fmt: skip


def options_of(file: Path, files: Path) -> list[str]:
    """The server's options that stand beside a file in FILE.opt."""
    beside = file.with_suffix(".opt")
    if not beside.is_file():
        return []
    text = beside.read_text(errors="replace").replace("$MYSQLTEST_VARDIR", str(files)).replace("$MYSQL_TEST_DIR", str(files))
    words = [w.strip("'\"") for w in text.split() if w.startswith("--")]
    return [w for w in words if "$" not in w and not re.search(r"plugin|debug|ssl|log.?bin|datadir|port|socket|timezone|init.?file|server.?id|log.?error", w)]


def prepare_files(folder: Path) -> None:
    """The folder that stands for mysqltest's own, as new."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "tmp").mkdir(parents=True)
    (folder / "std_data").symlink_to(SUITES / "std_data")


class MariaHome:
    """MariaDB with a template of its data folder, so that a new one is a copy."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.files = folder / "files"
        self.server = MariaDB(folder, OF_MARIADB)
        self.template = folder / "template"
        self.server.create()
        self.server.datadir.rename(self.template)
        self.clean = False

    @property
    def port(self) -> int:
        return self.server.port

    def fresh(self, text: str, options: list[str]) -> list[str]:
        """Makes the state that a file begins with. Returns the options that the server has taken."""
        prepare_files(self.files)
        if self.clean and not options and self.server.alive() and self._cleaned():
            self.clean = not _LASTING.search(text)
            return []
        self.server.kill()
        self.server.args = [*OF_MARIADB, f"--secure-file-priv={self.files}", *options]
        shutil.rmtree(self.server.datadir, ignore_errors=True)
        shutil.copytree(self.template, self.server.datadir)
        try:
            self.server.start()
        except ServerDied:
            if not options:
                raise
            return self.fresh(text, [])
        self._databases()
        self.clean = not options and not _LASTING.search(text)
        return options

    def _cleaned(self) -> bool:
        try:
            wire = Wire(self.port, "root", "", "", 20)
            wire.send("SHOW DATABASES")
            for (name,) in wire.answer()["sets"][0]["rows"]:
                if name not in ("mysql", "information_schema", "performance_schema", "sys"):
                    wire.send("DROP DATABASE `%s`" % name.replace("`", "``"))
                    wire.answer()
            wire.close()
            self._databases()
            return True
        except (Lost, SqlError, IndexError, KeyError):
            return False

    def _databases(self) -> None:
        make_databases(self.port)

    def end(self) -> None:
        self.server.kill()


def named_in(option: str, log: str) -> bool:
    """Whether the last complaint of a server that would not start is about this option."""
    complaints = [line for line in log.replace("-", "_").splitlines() if line.startswith("narwal: ")]
    name = option.split("=")[0].strip("-").replace("-", "_")
    return bool(complaints) and bool(re.search(rf"(?<!\w)_*{name}(?!\w)", complaints[-1]) or re.search(rf"\b{name}\b", complaints[-1]))


def make_databases(port: int) -> None:
    wire = Wire(port, "root", "", "", 20)
    for name in ("test", "mtr"):
        wire.send(f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET latin1")
        wire.answer()
    wire.close()


class NarwalHome:
    """A Narwal that begins each file without any data."""

    def __init__(self, folder: Path, binary: Path):
        self.folder, self.binary = folder, binary
        self.files = folder / "files"
        self.server: Narwal | None = None
        self.options: list[str] = []
        # Options that this binary does not take.
        self.refused: set[str] = set()

    @property
    def port(self) -> int:
        assert self.server is not None
        return self.server.port

    def fresh(self, options: list[str]) -> None:
        prepare_files(self.files)
        self.options = options
        self.start_fresh()

    def start_fresh(self) -> None:
        self.end()
        wanted = [*BOTH, f"--secure-file-priv={self.files}", *self.options]
        for _ in range(20):
            shutil.rmtree(self.folder / "server", ignore_errors=True)
            self.server = Narwal(self.folder / "server", [w for w in wanted if w.split("=")[0] not in self.refused], str(self.binary))
            try:
                self.server.start()
                return make_databases(self.port)
            except ServerDied:
                # An option that Narwal does not have is named in its last words.
                named = {w.split("=")[0] for w in wanted if named_in(w, self.server.log_tail(200))} - self.refused
                if not named:
                    raise
                self.refused |= named

    def alive(self) -> bool:
        return self.server is not None and self.server.alive()

    def log_tail(self) -> str:
        return self.server.log_tail() if self.server else ""

    def end(self) -> None:
        if self.server:
            self.server.kill()


__all__ = ["MariaHome", "NarwalHome", "free_port", "options_of"]
