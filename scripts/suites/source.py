"""Where suites come from: source archives of PyPI and modules of Go, in versions that are pinned here.

Nothing of them is kept in this repository: they are fetched into a folder of the build (`target/suites`) and run there.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
import urllib.parse
import urllib.request
from pathlib import Path


def from_pypi(folder: Path, name: str, version: str, sha256: str) -> Path:
    """The unpacked source archive of a release; its checksum is compared before it is unpacked."""
    into = folder / f"{name}-{version}"
    if into.exists():
        return into
    # The simple index: mirrors have it too, other than PyPI's own JSON.
    index = f"https://pypi.org/simple/{name}/"
    page = urllib.request.urlopen(index, timeout=60).read().decode()
    found = re.search(rf'href="([^"#]*/{name}-{re.escape(version)}\.tar\.gz)[#"]', page, re.I)
    if not found:
        raise SystemExit(f"{index} has no source archive of {name} {version}")
    url = urllib.parse.urljoin(index, found[1])
    packed = urllib.request.urlopen(url, timeout=300).read()
    found = hashlib.sha256(packed).hexdigest()
    if found != sha256:
        raise SystemExit(f"{url} has the checksum {found}, not {sha256}: not run")
    archive = folder / "archive.tar.gz"
    archive.write_bytes(packed)
    new = folder / "new"
    shutil.rmtree(new, ignore_errors=True)
    with tarfile.open(archive) as tar:
        tar.extractall(new, filter="data")
    archive.unlink()
    next(new.iterdir()).rename(into)
    return into


def go_tests(folder: Path, module: str, version: str, package: str = ".") -> tuple[Path, Path]:
    """The folder of a Go package of a module, and its tests as a program. Go's own checksum database proves the module."""
    into = folder / f"{module.replace('/', '-')}-{version}"
    env = {**os.environ, "GOMODCACHE": str(folder / "go"), "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
    program = into / "tests.program"
    if not program.exists():
        run = lambda *words, **kw: subprocess.run(words, env=env, check=True, text=True, **kw)  # noqa: E731
        about = json.loads(run("go", "mod", "download", "-json", f"{module}@{version}", cwd=folder, stdout=subprocess.PIPE).stdout)
        shutil.rmtree(into, ignore_errors=True)
        shutil.copytree(about["Dir"], into)
        for path in [into, *into.rglob("*")]:
            path.chmod(path.stat().st_mode | 0o200)
        run("go", "test", "-c", "-o", str(program), f"./{package}", cwd=into)
    return into / package, program
