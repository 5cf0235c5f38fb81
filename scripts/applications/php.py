"""Debian's PHP, unpacked and not installed, and how programs are run by it."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

# Its libraries, too: a machine without PHP may lack them.
PACKAGES = [
    *(f"php8.2-{part}" for part in ("cli", "common", "mysql", "mbstring", "xml", "intl")),
    *("libonig5", "libargon2-1", "libsodium23", "libxml2", "libxslt1.1", "libicu72", "libedit2", "libmagic1"),
    # Gives a program another clock.
    "libfaketime",
]
# In the order in which they are loaded: some need others.
EXTENSIONS = [
    *("mysqlnd", "mysqli", "pdo", "pdo_mysql", "ctype", "fileinfo", "iconv", "tokenizer", "posix", "mbstring", "intl"),
    *("xml", "dom", "simplexml", "xmlreader", "xmlwriter"),
]
# Warnings of applications that are older than this PHP are no answers of a server.
SETTINGS = ["memory_limit=1G", "date.timezone=UTC", "display_errors=stderr", "error_reporting=E_ALL & ~E_DEPRECATED & ~E_STRICT & ~E_NOTICE"]
BEGIN = Path(__file__).with_name("begin.php")


class Php:
    def __init__(self, unpacked: Path, seconds: float = 600):
        self.binary = unpacked / "usr/bin/php8.2"
        self.modules = next(unpacked.glob("usr/lib/php/20*"))
        self.libraries = ":".join(str(p) for p in unpacked.glob("usr/lib/*-linux-gnu"))
        self.clock = next(unpacked.glob("usr/lib/*-linux-gnu/faketime/libfaketime.so.1"))
        self.seconds = seconds

    def command(self, *words: str) -> list[str]:
        settings = [*SETTINGS, f"auto_prepend_file={BEGIN}", f"extension_dir={self.modules}", *(f"extension={name}" for name in EXTENSIONS)]
        return [str(self.binary), "-n", *(w for s in settings for w in ("-d", s)), *words]

    def environment(self, at: int | None) -> dict[str, str]:
        """`at`: seconds after a day in 2026, when the program finds itself started. Its clock is slow, so that what takes longer
        on one server than on another is still done in the same second. Waits take as long as they do."""
        given = {**os.environ, "LD_LIBRARY_PATH": self.libraries, "LC_ALL": "C.UTF-8", "TZ": "UTC", "CHANCE": str(at or 1)}
        if at is not None:
            begin = datetime(2026, 3, 1, tzinfo=UTC) + timedelta(seconds=at)
            given |= {"LD_PRELOAD": str(self.clock), "FAKETIME": f"@{begin:%Y-%m-%d %H:%M:%S} x0.05", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        return given

    def run(self, words: list[str], folder: Path, text: str = "", at: int | None = None) -> tuple[int, str]:
        """How a program ends, and what it says, errors and all."""
        try:
            done = subprocess.run(
                self.command(*words), cwd=folder, env=self.environment(at), input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, errors="replace", timeout=self.seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            return -1, f"{(late.stdout or b'').decode(errors='replace')}\nit did not end in {self.seconds:.0f} s"
        return done.returncode, done.stdout


def redirect(unpacked: Path) -> None:
    """Links of packages to places in the system lead to these places below the unpacked packages. May be called again."""
    for path in unpacked.rglob("*"):
        if path.is_symlink():
            to = os.readlink(path)
            if to.startswith("/") and not to.startswith(f"{unpacked}/"):
                path.unlink()
                path.symlink_to(f"{unpacked}{to}")
