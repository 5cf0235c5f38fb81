"""Tests of Go's drivers and query builders, each compiled from its module."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from suites.source import go_tests


class Go:
    """A package's tests. `settings`: the environment that tells them where the server is."""

    language = "Go"

    def __init__(self, about: str, module: str, version: str, package: str, settings: Callable[[int], dict[str, str]], databases: list[str]):
        self.about = about
        self.module, self.version, self.package = module, version, package
        self.settings = settings
        self.databases = databases

    def prepare(self, folder: Path) -> None:
        self.folder, self.program = go_tests(folder, self.module, self.version, self.package)

    def run(self, server, work: Path, only: list[str], seconds: float) -> tuple[dict[str, str], str]:
        for name in self.databases:
            server.client().ok(f"CREATE DATABASE IF NOT EXISTS {name}")
        command = [str(self.program), "-test.v", *([f"-test.run={'|'.join(only)}"] if only else [])]
        done = subprocess.run(
            command, cwd=self.folder, env={**os.environ, **self.settings(server.port)}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", timeout=seconds,
        )  # fmt: skip
        return results(done.stdout), done.stdout


def results(output: str) -> dict[str, str]:
    """What each test ended as, its parts included, by the lines of `go test -v`."""
    ends = {"PASS": "ok", "FAIL": "failed", "SKIP": "skipped"}
    return {m[2]: ends[m[1]] for m in re.finditer(r"^\s*--- (PASS|FAIL|SKIP): (\S+)", output, re.M)}


DRIVER = Go(
    "go-sql-driver/mysql 1.9.3, the driver's own tests",
    "github.com/go-sql-driver/mysql", "v1.9.3", ".",
    lambda port: {"MYSQL_TEST_USER": "root", "MYSQL_TEST_PASS": "", "MYSQL_TEST_ADDR": f"127.0.0.1:{port}", "MYSQL_TEST_DBNAME": "gotest",
                  "MYSQL_TEST_CONCURRENT": "1"},
    ["gotest"],
)  # fmt: skip
SQLX = Go(
    "jmoiron/sqlx 1.4.0",
    "github.com/jmoiron/sqlx", "v1.4.0", ".",
    lambda port: {"SQLX_MYSQL_DSN": f"root@tcp(127.0.0.1:{port})/sqlx?parseTime=true", "SQLX_POSTGRES_DSN": "skip", "SQLX_SQLITE_DSN": "skip"},
    ["sqlx"],
)  # fmt: skip
GOQU = Go(
    "doug-martin/goqu 9.19.0, its MySQL dialect",
    "github.com/doug-martin/goqu/v9", "v9.19.0", "dialect/mysql",
    lambda port: {"MYSQL_URI": f"root@tcp(127.0.0.1:{port})/goqumysql?parseTime=true"},
    ["goqumysql"],
)  # fmt: skip
BEEGO = Go(
    "beego 2.3.8, its ORM",
    "github.com/beego/beego/v2", "v2.3.8", "client/orm",
    lambda port: {"ORM_DRIVER": "mysql", "ORM_SOURCE": f"root@tcp(127.0.0.1:{port})/orm_test?charset=utf8mb4"},
    ["orm_test"],
)  # fmt: skip
