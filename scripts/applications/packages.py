"""Debian's packages, fetched and unpacked below target/applications. Nothing is installed, and nothing of them is kept here."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from pathlib import Path


def unpacked(folder: Path, packages: list[str]) -> Path:
    """The folder that the packages are unpacked in; fetched by apt's own keys where they are not there yet."""
    name = "-".join(packages)
    # A folder's name has at most 255 bytes.
    into = folder / (name if len(name) < 200 else f"{packages[0]}-and-{hashlib.sha256(name.encode()).hexdigest()[:12]}")
    if into.exists():
        return into
    if not (shutil.which("apt-get") and shutil.which("dpkg-deb")):
        raise SystemExit("applications are fetched by Debian's apt-get, which is not here")
    new = folder / "new"
    shutil.rmtree(new, ignore_errors=True)
    archives = new / "archives"
    archives.mkdir(parents=True)
    done = subprocess.run(["apt-get", "download", "-qq", *packages], cwd=archives, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"apt-get download {' '.join(packages)}: {done.stderr.strip()}\n(apt-get update helps if the lists are old)")
    for archive in archives.glob("*.deb"):
        subprocess.run(["dpkg-deb", "-x", str(archive), str(new)], check=True)
    shutil.rmtree(archives)
    new.rename(into)
    return into
