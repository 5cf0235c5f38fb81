"""What a run keeps below target/corpus: MariaDB's side of each file, and Narwal's verdicts with each binary.

MariaDB's side is found again by the file's content, MariaDB's version and the way of asking. Verdicts are found by the
content of the binary and by MariaDB's side that they were judged against.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from pathlib import Path

# Another number makes all that is kept worthless: raise it when events or verdicts change their meaning.
RECORDS = 2
VERDICTS = 3


def content(path: Path) -> str:
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()[:16]


class Store:
    def __init__(self, folder: Path, version: str, protocol: str):
        self.folder, self.protocol = folder, protocol
        self.version = hashlib.sha256(version.encode()).hexdigest()[:8]

    def record_path(self, file: Path) -> Path:
        return self.folder / "mariadb" / f"{self.version}-{self.protocol}-{RECORDS}" / f"{label(file)}-{content(file)}.json.gz"

    def record(self, file: Path) -> dict | None:
        return read(self.record_path(file))

    def keep_record(self, file: Path, record: dict) -> None:
        write(self.record_path(file), record)

    def verdicts_path(self, file: Path, binary: str) -> Path:
        return self.folder / "narwal" / f"{binary}-{self.protocol}-{VERDICTS}" / f"{label(file)}-{content(file)}.json.gz"

    def verdicts(self, file: Path, binary: str) -> dict | None:
        return read(self.verdicts_path(file, binary))

    def keep_verdicts(self, file: Path, binary: str, verdicts: dict) -> None:
        write(self.verdicts_path(file, binary), verdicts)

    def binaries(self) -> list[str]:
        """The binaries with verdicts, the newest first."""
        folders = sorted((self.folder / "narwal").glob(f"*-{self.protocol}-{VERDICTS}"), key=lambda p: -p.stat().st_mtime)
        return [p.name.split("-")[0] for p in folders]


def label(file: Path) -> str:
    suite = file.parent.parent.name if file.parent.name == "t" else file.parent.name
    return f"{suite}.{file.stem}"


def read(path: Path) -> dict | None:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError, EOFError):
        return None


def write(path: Path, value: dict) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}")
    with gzip.open(new, "wt", encoding="utf-8", compresslevel=3) as f:
        json.dump(value, f)
    new.rename(path)
