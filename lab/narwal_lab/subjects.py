"""The servers under test: what they are called, how they are found, configured and started."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
from testbed.servers import MariaDB, MySQL, Narwal, Server, narwal_binary

from .options import LabError

CONFIGS = Path(__file__).resolve().parent / "configs"

DURABILITY = {"D1": (1, 1), "D2": (2, 0), "D3": (0, 0)}
"""innodb_flush_log_at_trx_commit and sync_binlog of each durability that the studies compare."""

COLOURS = {"narwal": "#1769aa", "classic": "#5fb3d9", "mariadb": "#c0712b", "mysql": "#6b8e23"}
"""One colour per kind of server in every plot; a second server of a kind takes one of MORE_COLOURS."""
MORE_COLOURS = ["#7b4fa3", "#c44e52", "#8c8c8c", "#2a9d8f", "#e0a100", "#444444"]


@dataclass
class Subject:
    """One server under test."""

    name: str
    """As tables and plots call it."""
    kind: str
    """narwal, classic, mariadb or mysql."""
    binary: Path
    loader: list[str] = field(default_factory=list)
    """Words in front of the binary: the dynamic loader of a chroot and its library folders."""
    args: list[str] = field(default_factory=list)
    """Further options of the command line (`--narwal-arg` and so on)."""
    colour: str = "#000000"

    @property
    def is_baseline(self) -> bool:
        """True for the servers that Narwal is compared with."""
        return self.kind in ("mariadb", "mysql")

    @property
    def is_narwal(self) -> bool:
        return self.kind in ("narwal", "classic")

    @property
    def slug(self) -> str:
        """The name for folders and files."""
        return re.sub(r"[^a-z0-9.]+", "-", self.name.lower()).strip("-")

    @property
    def lone_syncs(self) -> float:
        """Syncs that a commit of a lone client needs under D1, if the server keeps its promise."""
        return 1 if self.kind == "narwal" else 2

    @functools.cached_property
    def version(self) -> str:
        done = subprocess.run([*self.loader, str(self.binary), "--version"], capture_output=True, text=True)
        return (done.stdout or done.stderr).strip().split("\n")[0]

    def config(self, durability: str = "D1", **values: object) -> str:
        """Text of the option file: configs/<kind>.cnf with its names filled in.

        Names: trx_commit, sync_binlog (from the durability), buffer_pool_mib, redo_mib, max_connections, server_id.
        """
        trx_commit, sync_binlog = DURABILITY[durability]
        names = {
            "trx_commit": trx_commit, "sync_binlog": sync_binlog, "buffer_pool_mib": 1024, "redo_mib": 1024,
            "max_connections": 700, "server_id": None, **values,
        }  # fmt: skip
        text = (CONFIGS / f"{self.kind}.cnf").read_text()
        return jinja2.Environment(undefined=jinja2.StrictUndefined, trim_blocks=True).from_string(text).render(names)

    def server(self, folder: Path, shim: Path | None, args: list[str] | None = None) -> Server:
        """A server of this kind over `folder`, not started; `configure` it first."""
        args = [*self.args, *(args or [])]
        if self.is_narwal:
            server: Server = Narwal(folder, args, binary=str(self.binary), shim=shim)
        elif self.kind == "mariadb":
            server = MariaDB(folder, args, binary=str(self.binary), shim=shim, loader=self.loader)
        else:
            server = MySQL(folder, args, binary=str(self.binary), shim=shim, loader=self.loader)
        server.name = self.name
        return server

    def configure(self, server: Server, **values: object) -> None:
        """Writes the server's option file for its next start; `values` as for `config`."""
        server.defaults_file = server.folder / "server.cnf"
        server.defaults_file.write_text(self.config(**values))


def _split(text: str) -> tuple[str, str | None]:
    path, _, label = text.partition(":")
    return path, label or None


def binary_of(path: str, names: tuple[str, ...]) -> tuple[Path, list[str]]:
    """The server's binary behind a path that may be the binary, an installation's prefix or a chroot; and the loader."""
    given = Path(path).expanduser()
    if given.is_file():
        return given.resolve(), []
    chroot = (given / "usr").is_dir()
    for root in (given / "usr", given) if chroot else (given,):
        for sub in ("sbin", "bin", "libexec", "sql"):
            for name in names:
                if (root / sub / name).is_file():
                    return (root / sub / name).resolve(), _loader(given) if chroot else []
    raise LabError(f"{path}: neither a binary nor a folder with sbin/ or bin/{names[0]} (also looked below usr/)")


def _loader(chroot: Path) -> list[str]:
    """How to start a chroot's programs from outside: by its own dynamic loader, with its own libraries."""
    loaders = sorted(chroot.glob("lib64/ld-linux-*.so.*")) + sorted(chroot.glob("lib/ld-linux-*.so.*"))
    if not loaders:
        raise LabError(f"{chroot} looks like a chroot but has no lib64/ld-linux-*.so.*")
    folders = [p for pattern in ("lib/*-linux-gnu", "usr/lib/*-linux-gnu", "lib64", "usr/lib64") for p in chroot.glob(pattern)]
    return [str(loaders[0].resolve()), "--library-path", ":".join(str(p.resolve()) for p in folders)]


def _number(version: str) -> str:
    found = re.search(r"\d+\.\d+(\.\d+)?", version.split("Ver", 1)[-1])
    return found.group(0) if found else "?"


def find(
    narwal: list[str], mariadb: list[str], mysql: list[str], classic: bool, args: dict[str, list[str]] | None = None
) -> tuple[list[Subject], list[str]]:
    """The subjects of a run, and what to tell about those that were left out.

    Each text is `PATH[:LABEL]`. Without any, Narwal is the built binary, MariaDB and MySQL are those on PATH, if any.
    """
    out: list[Subject] = []
    notes: list[str] = []
    for text in narwal or [""]:
        path, label = _split(text)
        if path and not Path(path).is_file():
            raise LabError(f"--narwal {path}: no such file")
        try:
            binary = narwal_binary(path or None)
        except SystemExit as e:
            raise LabError(str(e)) from None
        out.append(Subject(f"Narwal {label}" if label else "Narwal", "narwal", binary))
    if classic:
        reason = classic_refusal(out[0].binary)
        if reason:
            notes.append(f"Narwal classic is skipped: {reason}")
        else:
            out.append(Subject("Narwal classic", "classic", out[0].binary))
    for kind, title, names, given in (
        ("mariadb", "MariaDB", ("mariadbd",), mariadb),
        ("mysql", "MySQL", ("mysqld",), mysql),
    ):
        if given == ["none"]:
            continue
        texts = given or [p for p in [_on_path(names[0])] if p]
        if not texts:
            hint = "run scripts/setup or give --mariadb PATH" if kind == "mariadb" else "give --mysql PATH to include it"
            notes.append(f"{title}: no {names[0]} found ({hint})")
        for text in texts:
            path, label = _split(text)
            binary, loader = binary_of(path, names)
            subject = Subject(title, kind, binary, loader)
            if kind == "mysql" and "MariaDB" in subject.version:
                notes.append(f"MySQL: {path} is a MariaDB (give --mysql PATH to include MySQL)")
                continue
            subject.name = f"{title} {label or _number(subject.version)}"
            out.append(subject)
    seen: set[str] = set()
    more = iter(MORE_COLOURS * 4)
    kinds: set[str] = set()
    for subject in out:
        if subject.slug in seen:
            raise LabError(f"two servers are called {subject.name}: give them labels, PATH:LABEL")
        seen.add(subject.slug)
        subject.colour = next(more) if subject.kind in kinds else COLOURS[subject.kind]
        kinds.add(subject.kind)
        subject.args = list((args or {}).get(subject.kind, (args or {}).get("narwal", []) if subject.kind == "classic" else []))
    return out, notes


def _on_path(name: str) -> str | None:
    return shutil.which(name) or next((p for p in (f"/usr/sbin/{name}",) if Path(p).is_file()), None)


def classic_refusal(binary: Path) -> str | None:
    """Why this Narwal cannot run its classic commit path, or None: it is started with it for a moment to see."""
    import tempfile

    with tempfile.TemporaryDirectory(prefix="narwal-lab-") as folder:
        subject = Subject("Narwal classic", "classic", binary)
        server = subject.server(Path(folder) / "classic", None)
        try:
            subject.configure(server)
            server.start(20)
            value = server.sql("SHOW GLOBAL VARIABLES LIKE 'binlog_storage_engine'")
            if not value or value[0][1].upper() != "FILE":
                return "this narwal starts but has no binlog_storage_engine=FILE"
            return None
        except Exception as e:
            lines = [x.strip() for x in str(e).splitlines() if x.strip()]
            said = [x for x in lines if x.startswith("narwal:")] or lines
            return f"this narwal does not take binlog_storage_engine=FILE ({said[-1] if said else 'it does not start'})"
        finally:
            server.remove()
