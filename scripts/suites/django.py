"""Django's own tests: the applications under its `tests/` that use a database."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from suites.source import from_pypi

SERVER = """
def database(name):
    return {{"ENGINE": "django.db.backends.mysql", "NAME": name, "USER": "root", "HOST": "127.0.0.1", "PORT": {port},
             "OPTIONS": {{"charset": "utf8mb4"}}, "TEST": {{"NAME": "test_" + name}}}}
DATABASES = {{"default": database("one"), "other": database("two")}}
SECRET_KEY = "of a test"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
"""
USES_A_DATABASE = re.compile(r"^(from django\.test import .*\b|    )(TestCase|TransactionTestCase)\b", re.M)
LEFT_OUT = {"gis_tests"}  # needs another engine of Django's and geometry


class Django:
    """All applications, or those named."""

    language = "Python"
    about = "Django 5.2.19, its applications with a database (15,076 tests), by mysqlclient"

    def prepare(self, folder: Path) -> None:
        self.source = from_pypi(folder, "django", "5.2.19", "ad03d8abc51dbff95ebf34b27123cf0c26a3b62db7ba0cd520783686362533d1")

    def applications(self) -> list[str]:
        tests = self.source / "tests"
        return sorted(
            app.name
            for app in tests.iterdir()
            if app.is_dir()
            and app.name not in LEFT_OUT
            and any(USES_A_DATABASE.search(f.read_text(errors="replace")) for f in app.rglob("*.py"))
        )

    def run(self, server, work: Path, only: list[str], seconds: float) -> tuple[dict[str, str], str]:
        name = f"settings_{server.name.lower()}"
        (work / f"{name}.py").write_text(SERVER.format(port=server.port))
        env = {**os.environ, "PYTHONPATH": f"{self.source}:{work}"}
        command = [sys.executable, "runtests.py", f"--settings={name}", "--parallel=1", "--noinput", "-v2", *(only or self.applications())]
        done = subprocess.run(
            command, cwd=self.source / "tests", env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", timeout=seconds
        )
        return results(done.stdout), done.stdout


def results(output: str) -> dict[str, str]:
    """What each test ended as: `ok`, `failed` or `skipped`, by the lines of unittest's reporter."""
    found: dict[str, str] = {}
    name = ""
    for line in output.splitlines():
        if m := re.match(r"(\w+) \(([\w.]+)\)", line):
            name = m[2] if m[2].endswith("." + m[1]) else f"{m[2]}.{m[1]}"
        if m := re.search(r"\.\.\. (ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b", line):
            ended = {"ok": "ok", "skipped": "skipped", "expected failure": "ok"}.get(m[1], "failed")
            found[name] = ended
        if m := re.match(r"(?:FAIL|ERROR): (\w+) \(([\w.]+)\)", line):
            name = m[2] if m[2].endswith("." + m[1]) else f"{m[2]}.{m[1]}"
            found[name] = "failed"
    return found
