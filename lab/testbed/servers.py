"""Starts, pauses, kills and asks MariaDB and Narwal servers in folders of their own.

Every server listens on 127.0.0.1 and a Unix socket, is started in the foreground and ended by its own process id.
"""

from __future__ import annotations

import os
import pwd
import random
import re
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

from . import syncshim

ROOT = Path(__file__).resolve().parents[2]
_ports = random.SystemRandom()


class ServerDied(Exception):
    """The server ended when it should run; the message carries the end of its log."""


def free_port() -> int:
    """A port that nobody listens at, below those that the system gives to outgoing connections: while a server is down, none of
    these takes its port, nor can a client that tries it connect to itself."""
    while True:
        port = _ports.randrange(12000, 32000)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                pass


def narwal_binary(given: str | None = None) -> Path:
    """The binary to test: the argument, else NARWAL_BIN, else the release or debug build of this tree."""
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    for candidate in (given, os.environ.get("NARWAL_BIN"), target / "release" / "narwal", target / "debug" / "narwal"):
        if candidate and Path(candidate).exists():
            return Path(candidate).resolve()
    raise SystemExit("no narwal binary: build it (cargo build --release -p narwal) or set NARWAL_BIN")


class Server:
    """One server process over one data folder; `start` may be called again after `stop` or `kill`."""

    name = "server"

    def __init__(
        self,
        folder: Path,
        binary: Path,
        args: list[str] | None = None,
        shim: Path | None = None,
        env: dict[str, str] | None = None,
    ):
        self.folder = Path(folder).resolve()
        self.binary = Path(binary)
        self.args = list(args or [])
        self.env = dict(env or {})
        self.datadir = self.folder / "data"
        # Unix socket paths are limited to 107 bytes; deep work folders go to /tmp instead.
        self.socket = self.folder / "sock"
        if len(str(self.socket)) > 100:
            self.socket = Path(f"/tmp/narwal-lab-{os.getpid()}-{id(self)}.sock")
        self.log_path = self.folder / "server.log"
        # An option file of this server's own, read instead of the system's.
        self.defaults_file: Path | None = None
        self.port = free_port()
        self.process: subprocess.Popen | None = None
        self.counters: syncshim.Counters | None = None
        self.folder.mkdir(parents=True, exist_ok=True)
        if shim:
            self.counters = syncshim.Counters(self.folder / "syncs")
            self.env.update(self.counters.environment(shim))

    # -- to be told by the kinds of server -------------------------------------------------------------------------
    def create(self) -> None:
        """Makes the data folder where the server itself would not."""

    def command(self) -> list[str]:
        raise NotImplementedError

    # -- life --------------------------------------------------------------------------------------------------------
    def start(self, wait: float = 60.0) -> float:
        """Starts the process and waits until it answers; returns the seconds that took."""
        began = time.monotonic()
        self.spawn()
        self.wait_ready(wait)
        return time.monotonic() - began

    def spawn(self) -> None:
        self.socket.unlink(missing_ok=True)
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(
                self.command(), stdout=log, stderr=log, stdin=subprocess.DEVNULL, env={**os.environ, **self.env},
                cwd=self.folder, start_new_session=True,
            )  # fmt: skip

    def wait_ready(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.process is None or self.process.poll() is not None:
                raise ServerDied(f"{self.name} ended while starting\n{self.log_tail()}")
            if self.greets():
                return
            time.sleep(0.005)
        raise ServerDied(f"{self.name} did not accept connections in {seconds} s\n{self.log_tail()}")

    def greets(self) -> bool:
        """Connects over TCP and reads the server's handshake packet: protocol version 10 means it serves."""
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=2) as s:
                s.settimeout(2)
                head = b""
                while len(head) < 5:
                    piece = s.recv(128)
                    if not piece:
                        return False
                    head += piece
                return head[4] == 10
        except OSError:
            return False

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def stop(self, seconds: float = 60.0) -> int:
        """A clean stop by SIGTERM; returns the exit code."""
        if self.process is None:
            return 0
        self.resume()
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerDied(f"{self.name} did not stop in {seconds} s\n{self.log_tail()}") from None
        self.process = None
        return code

    def kill(self) -> None:
        """kill -9, then reaps."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def pause(self) -> None:
        """SIGSTOP: while the other server is measured this one costs nothing. Back when every thread stands still."""
        if not self.alive():
            return
        os.kill(self.process.pid, signal.SIGSTOP)
        # The signal stops the other threads only when the one that takes it gets a processor. Until then a replica
        # can still receive a transaction and acknowledge it.
        end = time.monotonic() + 10
        while not self._stands_still():
            if time.monotonic() > end:
                raise ServerDied(f"{self.name} does not stop at SIGSTOP")
            time.sleep(0.001)

    def _stands_still(self) -> bool:
        """Every thread is stopped, or traced, or gone."""
        for stat in Path(f"/proc/{self.process.pid}/task").glob("*/stat"):
            try:
                state = stat.read_text().rpartition(")")[2].split()[0]
            except OSError:  # ended meanwhile
                continue
            if state not in "TtZX":
                return False
        return True

    def resume(self) -> None:
        if self.alive():
            os.kill(self.process.pid, signal.SIGCONT)

    def remove(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.socket.unlink(missing_ok=True)

    # -- questions -----------------------------------------------------------------------------------------------------
    def sql(self, text: str, database: str = "") -> list[list[str]]:
        """Rows of a statement by Debian's `mariadb` client as root; raises with its error text."""
        done = subprocess.run(
            ["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{self.port}", "-uroot", "-N", "-B", "-e", text]
            + ([database] if database else []),
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{self.name}: {text!r}: {done.stderr.strip()}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def status(self, like: str) -> dict[str, str]:
        return {r[0]: r[1] for r in self.sql(f"SHOW GLOBAL STATUS LIKE '{like}'") if len(r) > 1}

    def rss_mib(self) -> float:
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text).group(1)) / 1024

    def disk_mib(self) -> float:
        """Blocks really allocated under the data folder."""
        total = 0
        for base, _, files in os.walk(self.datadir):
            for f in files:
                try:
                    total += os.lstat(os.path.join(base, f)).st_blocks * 512
                except OSError:
                    pass
        return total / 2**20

    def log_tail(self, lines: int = 30) -> str:
        try:
            return "\n".join(self.log_path.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def version(self) -> str:
        done = subprocess.run([str(self.binary), "--version"], capture_output=True, text=True)
        return (done.stdout or done.stderr).strip()


class MariaDB(Server):
    """Debian's mariadbd with the settings named in the arguments and nothing from /etc."""

    name = "MariaDB"

    def __init__(
        self, folder: Path, args: list[str] | None = None, binary: str | None = None, loader: list[str] | None = None, **kw
    ):
        """`loader`: words in front of the binary, for one from a chroot (its dynamic loader and library folders)."""
        found = binary or shutil.which("mariadbd") or "/usr/sbin/mariadbd"
        if not Path(found).exists():
            raise SystemExit("mariadbd is not installed: run scripts/setup")
        super().__init__(folder, Path(found), args, **kw)
        self.loader = list(loader or [])
        system = (shutil.which("mariadbd") or "/usr/sbin/mariadbd", shutil.which("mysqld") or "/usr/sbin/mysqld")
        # An installation of its own finds its messages and plugins below its own folder.
        own = self.loader or self.binary.resolve() not in [Path(x).resolve() for x in system]
        self.basedir = self.binary.parent.parent if own else None

    def _options(self) -> list[str]:
        """What must stand first: the option file, and where the installation is."""
        first = [f"--defaults-file={self.defaults_file}" if self.defaults_file else "--no-defaults"]
        return first + ([f"--basedir={self.basedir}"] if self.basedir else [])

    def _user(self) -> list[str]:
        return ["--user=root"] if pwd.getpwuid(os.getuid()).pw_name == "root" else []

    def create(self) -> None:
        if self.datadir.exists():
            return
        self._install(self.datadir)

    def _install(self, datadir: Path, *settings: str) -> None:
        """Makes a data folder. Its server is started and stopped for that, which a busy machine has been seen to fail at:
        tried twice."""
        if self.basedir:
            return self._bootstrap(datadir)
        for _ in range(2):
            done = subprocess.run(
                ["mariadb-install-db", "--no-defaults", f"--datadir={datadir}", *self._user(),
                 "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", *settings],
                capture_output=True, text=True, env={**os.environ, "TMPDIR": str(self._tmpdir())},
            )  # fmt: skip
            if done.returncode == 0:
                return
            shutil.rmtree(datadir, ignore_errors=True)
        raise ServerDied(f"mariadb-install-db failed\n{(done.stdout + done.stderr)[-2000:]}")

    def _tmpdir(self) -> Path:
        """Its own: a server that starts removes what others have in a shared one."""
        tmpdir = self.folder / "tmp"
        tmpdir.mkdir(parents=True, exist_ok=True)
        return tmpdir

    def command(self) -> list[str]:
        return [
            *self.loader, str(self.binary), *self._options(), f"--datadir={self.datadir}", *self._user(),
            f"--port={self.port}", "--bind-address=127.0.0.1", f"--socket={self.socket}", f"--pid-file={self.folder / 'pid'}",
            "--skip-name-resolve", f"--tmpdir={self._tmpdir()}", *self.args,
        ]  # fmt: skip

    def _bootstrap(self, datadir: Path) -> None:
        """A data folder for an installation outside the system's: its own SQL files fed to its own server, as its script does."""
        share = next((d for name in ("share/mysql", "share/mariadb", "share", "scripts") for d in [self.basedir / name]
                      if list(d.glob("m*_system_tables.sql"))), None)  # fmt: skip
        if share is None:
            raise ServerDied(f"{self.basedir}: no share/mysql/mysql_system_tables.sql to make a data folder with")
        text = "CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket=NULL;\nSET @skip_auth_anonymous=1;\n"
        for name in ("system_tables", "performance_tables", "system_tables_data"):
            for file in sorted(share.glob(f"m*_{name}.sql")):
                text += file.read_text() + "\n"
        datadir.mkdir(parents=True)
        done = subprocess.run(
            [*self.loader, str(self.binary), "--no-defaults", f"--basedir={self.basedir}", "--bootstrap", f"--datadir={datadir}",
             *self._user(), "--skip-log-bin", "--innodb-log-file-size=32M", f"--lc-messages-dir={share}"],
            input=text, capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            shutil.rmtree(datadir, ignore_errors=True)
            raise ServerDied(f"{self.binary} --bootstrap failed\n{(done.stdout + done.stderr)[-2000:]}")


class MySQL(MariaDB):
    """Oracle's mysqld (8.0 or later); its data folder is made by the server itself."""

    name = "MySQL"

    def _own(self) -> list[str]:
        """What an installation of its own needs: nothing of it may point at the system's folders."""
        files = self.folder / "files"
        files.mkdir(parents=True, exist_ok=True)
        return [f"--secure-file-priv={files}", "--mysqlx=OFF", *([f"--basedir={self.basedir}"] if self.basedir else [])]

    def _options(self) -> list[str]:
        first = [f"--defaults-file={self.defaults_file}" if self.defaults_file else "--no-defaults"]
        return first + self._own()

    def _install(self, datadir: Path, *settings: str) -> None:
        # --initialize makes root@localhost only, and names are not resolved.
        init = self.folder / "init.sql"
        # A line for each: MySQL 8.0 reads the file so.
        init.write_text("CREATE USER root@'127.0.0.1';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n")
        done = subprocess.run(
            [*self.loader, str(self.binary), "--no-defaults", *self._own(), "--initialize-insecure", f"--init-file={init}",
             f"--datadir={datadir}", *self._user(), *settings],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            shutil.rmtree(datadir, ignore_errors=True)
            raise ServerDied(f"{self.binary} --initialize-insecure failed\n{(done.stdout + done.stderr)[-2000:]}")

    def create(self) -> None:
        if not self.datadir.exists():
            self._install(self.datadir)


class Narwal(Server):
    """`narwal serve`; makes its own data folder."""

    name = "Narwal"

    def __init__(self, folder: Path, args: list[str] | None = None, binary: str | None = None, **kw):
        super().__init__(folder, narwal_binary(binary), args, **kw)

    def command(self) -> list[str]:
        return [
            str(self.binary), "serve", f"--datadir={self.datadir}", f"--port={self.port}", "--bind-address=127.0.0.1",
            f"--socket={self.socket}", *([f"--config={self.defaults_file}"] if self.defaults_file else []), *self.args,
        ]  # fmt: skip
