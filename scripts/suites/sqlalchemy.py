"""SQLAlchemy's own tests: those that it runs on every database."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree
from pathlib import Path

from suites.source import from_pypi


class SqlAlchemy:
    """The tests that SQLAlchemy marks as those of a backend."""

    language = "Python"
    about = "SQLAlchemy 2.0.44, its tests of a backend, by PyMySQL"

    def prepare(self, folder: Path) -> None:
        self.source = from_pypi(
            folder, "sqlalchemy", "2.0.44", "0ae7454e1ab1d780aee69fd2aae7d6b8670a581d8847f2d1e0f7ddfbf47e5a22"
        )

    def run(self, server, work: Path, only: list[str], seconds: float) -> tuple[dict[str, str], str]:
        for name in ("test", "test_schema"):
            server.client().ok(f"CREATE DATABASE IF NOT EXISTS {name}")
        report = work / f"sqlalchemy-{server.name.lower()}.xml"
        command = [
            sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--tb=line", "--backend-only",
            "--maxfail=100000", f"--junitxml={report}", "--dburi", f"mysql+pymysql://root@127.0.0.1:{server.port}/test?charset=utf8mb4",
            *(only or ["test"]),
        ]  # fmt: skip
        done = subprocess.run(
            command, cwd=self.source, env={**os.environ, "PYTHONPATH": "lib"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", timeout=seconds,
        )  # fmt: skip
        return (results(report) if report.exists() else {}), done.stdout


def results(report: Path) -> dict[str, str]:
    """What each test ended as, by pytest's report in JUnit's form."""
    found = {}
    for case in tree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        name = f"{case.get('classname')}.{case.get('name')}"
        # Its names carry the server's version, which differs.
        name = re.sub(r"_(mysql|mariadb)\+pymysql[0-9_]*", "", name)
        found[name] = "failed" if kinds & {"failure", "error"} else "skipped" if "skipped" in kinds else "ok"
    return found
