"""Drivers and object-relational mappers of several languages: the same tour against Narwal and MariaDB, equal at every step.

Those that are not Python are built by `scripts/test_clients` from tests/clients.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import _numbers
from orm import sqlalchemy_tour
from readers import built
from support import Client

DJANGO = Path(__file__).parent / "orm" / "django_tour.py"


@pytest.fixture
def databases(narwal, mariadb):
    """A new database of one name in both servers: (server, name) of each."""
    name = f"orm_{next(_numbers)}"
    for server in (narwal, mariadb):
        with Client(server) as client:
            client.ok(f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
    yield [(server, name) for server in (narwal, mariadb)]
    for server in (narwal, mariadb):
        if server.alive():
            with Client(server) as client:
                client.run(f"DROP DATABASE IF EXISTS {name}")


def compare(ours: list, theirs: list) -> None:
    for number, (mine, other) in enumerate(zip(ours, theirs)):
        assert mine == other, f"step {number}"
    assert len(ours) == len(theirs)


@pytest.mark.parametrize("driver", ["pymysql", "mysqldb"])
def test_sqlalchemy(databases, driver):
    seen = [sqlalchemy_tour.tour(f"mysql+{driver}://root@127.0.0.1:{server.port}/{name}?charset=utf8mb4") for server, name in databases]
    compare(*seen)


def test_alembic(databases, tmp_path):
    seen = [
        sqlalchemy_tour.migrate(f"mysql+pymysql://root@127.0.0.1:{server.port}/{name}", tmp_path / str(server.port))
        for server, name in databases
    ]
    compare(*seen)


@pytest.mark.parametrize("uuid", ["", "1"])
def test_django(databases, uuid):
    """In a process of its own for each server: Django has one set of settings."""
    seen = []
    for server, name in databases:
        done = subprocess.run(
            [sys.executable, DJANGO], capture_output=True, text=True, timeout=300,
            env={**os.environ, "DATABASE_PORT": str(server.port), "DATABASE_NAME": name, "TOUR_UUID": uuid},
        )  # fmt: skip
        assert done.returncode == 0, f"{server.name}\n{done.stderr[-6000:]}"
        seen.append(json.loads(done.stdout))
    compare(*seen)


def node() -> list:
    return ["node", built("node") / "tour.js"]


def go() -> list:
    return [built("go_sql_driver") / "tour"]


def sqlx() -> list:
    return [built("sqlx") / "tour"]


def hibernate() -> list:
    folder = built("hibernate")
    return ["java", "-cp", f"{folder}/tour.jar:{folder}/lib/*", "Tour"]


@pytest.mark.parametrize("client", [
    pytest.param(node, id="mysql2 and Sequelize"),
    pytest.param(go, id="go-sql-driver"),
    pytest.param(sqlx, id="sqlx"),
    pytest.param(hibernate, id="Hibernate and Connector/J"),
])
def test_other_languages(databases, client):
    seen = []
    for server, name in databases:
        done = subprocess.run([*client(), str(server.port), name], capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, f"{server.name}\n{done.stdout[-1500:]}\n{done.stderr[-6000:]}"
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        seen.append(lines[0] if len(lines) == 1 else lines)
    compare(*seen)
