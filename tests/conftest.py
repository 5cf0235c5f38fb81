"""Fixtures: servers in folders of their own on free ports, ended by their process ids.

The server under test is `narwal`; the reference is Debian's MariaDB 10.11. With NARWAL_TEST_SERVER=mariadb a
second MariaDB stands in for Narwal, which shows that the tests themselves are right.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "lab"))
sys.path.insert(0, str(ROOT / "tests"))

from testbed.proxy import Proxy  # noqa: E402
from testbed.replica import MariaReplica, NarwalReplica  # noqa: E402
from testbed.servers import MariaDB, Narwal  # noqa: E402
from support import Client  # noqa: E402

# A seed of this run. Tests that are named by one need the same in every process of the run: those inherit this.
os.environ.setdefault("NARWAL_FRESH_SEED", str(random.SystemRandom().randrange(10**6, 10**9)))

STAND_IN = os.environ.get("NARWAL_TEST_SERVER", "narwal") == "mariadb"

COMMON = [
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_general_ci",
]
MARIADB = [
    *COMMON,
    "--innodb-snapshot-isolation=ON",
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-buffer-pool-size=96M",
    "--performance-schema=OFF",
    "--max-connections=300",
]
MARIADB_AS_NARWAL = [
    *MARIADB,
    "--log-bin=narwal-bin",
    "--server-id=1",
    "--binlog-format=ROW",
    "--binlog-row-metadata=FULL",
]

# Rows of up to 17 MiB for the tests with replicas.
PRIMARY = ["--max-allowed-packet=64M"]

_numbers = itertools.count(1)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        stash = item.session.stash
        stash[_failures] = stash.get(_failures, 0) + 1
        for server in stash.get(_servers, []):
            # The folders of a few failures tell enough; those of all would fill a small disk.
            if stash[_failures] <= KEPT_FAILURES:
                stash.setdefault(_kept, set()).add(server.folder)
            tail = server.log_tail()
            if tail and server.name.startswith("Narwal"):
                report.sections.append((f"{server.name} log {server.log_path}", tail))


KEPT_FAILURES = 3
_failures = pytest.StashKey[int]()
_kept = pytest.StashKey[set]()
_servers = pytest.StashKey[list]()


class Lab:
    """Makes servers and forgets none."""

    def __init__(self, folder: Path, servers: list, kept: set):
        self.folder = folder
        self.servers = servers
        # Folders of servers that ran when a test failed.
        self.kept = kept

    def narwal(self, args: list[str] | None = None, start: bool = True):
        folder = self.folder / f"narwal-{next(_numbers)}"
        if STAND_IN:
            return self._add(MariaDB(folder, [*MARIADB_AS_NARWAL, *(args or [])]), start)
        return self._add(Narwal(folder, [*(args or [])]), start)

    def mariadb(self, args: list[str] | None = None, start: bool = True):
        folder = self.folder / f"mariadb-{next(_numbers)}"
        return self._add(MariaDB(folder, [*MARIADB, *(args or [])]), start)

    def replica(self, args: list[str] | None = None, start: bool = True, **options):
        """A MariaDB that can follow any of the servers; each has a server id of its own, from 101 on."""
        number = next(_numbers)
        return self._add(MariaReplica(self.folder / f"replica-{number}", 100 + number, args, **options), start)

    def narwal_replica(self, args: list[str] | None = None, start: bool = True, **options):
        """A Narwal that can follow any of the servers, with a server id of its own, from 101 on."""
        number = next(_numbers)
        if STAND_IN:
            settings = [*COMMON, "--innodb-snapshot-isolation=ON", *(args or [])]
            return self._add(MariaReplica(self.folder / f"replica-{number}", 100 + number, settings, log=True, **options), start)
        return self._add(NarwalReplica(self.folder / f"replica-{number}", 100 + number, args, **options), start)

    def _add(self, server, start: bool):
        self.servers.append(server)
        server.create()
        if start:
            server.start()
        return server

    def remove(self, server) -> None:
        self.servers.remove(server)
        server.kill()
        server.socket.unlink(missing_ok=True)
        # The servers of a whole session are more than a small disk holds.
        if server.folder not in self.kept:
            shutil.rmtree(server.folder, ignore_errors=True)


# Folders of runs that have ended, because a test failed or because they were killed, that stay to be looked at.
FOLDERS_KEPT = 4


def forget_old_folders() -> None:
    """Removes what ended runs left behind, but for the newest few of the last day: they fill a disk."""
    place = Path(os.environ.get("NARWAL_TEST_DIR") or tempfile.gettempdir())
    found = []
    for folder in [*place.glob("narwal-tests-*"), *place.glob("narwal-replica-template-*")]:
        # Another run may take its own away just now.
        with contextlib.suppress(FileNotFoundError):
            found.append((folder.stat().st_mtime, folder))
    ended = [(when, folder) for when, folder in found if not of_living_run(folder)]
    for place_in_line, (when, folder) in enumerate(sorted(ended, reverse=True)):
        if place_in_line >= FOLDERS_KEPT or time.time() - when > 24 * 3600:
            shutil.rmtree(folder, ignore_errors=True)


def of_living_run(folder: Path) -> bool:
    """Whether the process that a folder is named for still runs. Folders without one are taken for a living run's for an hour."""
    number = re.search(r"-(\d+)-", folder.name)
    if not number:
        with contextlib.suppress(FileNotFoundError):
            return time.time() - folder.stat().st_mtime < 3600
        return False
    return Path(f"/proc/{number[1]}").exists()


@pytest.fixture(scope="session")
def lab(request):
    """The session's servers. The folders of those that ran when a test failed are kept."""
    forget_old_folders()
    folder = Path(tempfile.mkdtemp(prefix=f"narwal-tests-{os.getpid()}-", dir=os.environ.get("NARWAL_TEST_DIR")))
    servers = request.session.stash.setdefault(_servers, [])
    kept = request.session.stash.setdefault(_kept, set())
    yield Lab(folder, servers, kept)
    for server in servers:
        server.kill()
        server.socket.unlink(missing_ok=True)
        if server.folder not in kept:
            shutil.rmtree(server.folder, ignore_errors=True)
    if kept:
        print(f"\nserver folders and logs are kept in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def narwal_server(lab):
    """The server under test, one for all tests that only need a database in it."""
    return lab.narwal()


@pytest.fixture
def narwal(narwal_server):
    if not narwal_server.alive():
        narwal_server.start()
    return narwal_server


@pytest.fixture(scope="session")
def mariadb(lab):
    """The reference server."""
    return lab.mariadb()


@pytest.fixture
def own(lab):
    """Takes a server of the lab for this test alone, which may restart, kill and break it: `own(lab.narwal(...))`."""
    made = []

    def take(server):
        made.append(server)
        return server

    yield take
    for server in made:
        lab.remove(server)


@pytest.fixture
def own_narwal(lab, own):
    """A factory of servers that a test has for itself: to restart, kill, or start with options."""
    return lambda *args, start=True: own(lab.narwal(list(args), start))


@pytest.fixture
def own_replica(lab, own):
    """A factory of MariaDB replicas that a test has for itself; options are those of MariaReplica."""
    return lambda *args, **options: own(lab.replica(list(args), **options))


@pytest.fixture
def own_narwal_replica(lab, own):
    """A factory of Narwal replicas that a test has for itself; options are those of NarwalReplica."""
    return lambda *args, **options: own(lab.narwal_replica(list(args), **options))


@pytest.fixture
def proxy():
    """A factory of links that can be cut, stalled and mended, to a server or a port."""
    made = []

    def make(target) -> Proxy:
        made.append(Proxy(target))
        return made[-1]

    yield make
    for p in made:
        p.close()


@pytest.fixture(scope="session")
def _followed(lab):
    """The pair of `followed`, made anew when a test left it broken."""
    return {}


@pytest.fixture
def followed(lab, _followed):
    """A server under test that a MariaDB replica has followed from its first GTID on: (primary, replica). Shared by the
    tests, which must leave the replica running and equal."""
    if _followed:
        try:
            for server in _followed["pair"]:
                if not server.alive():
                    server.start()
            _followed["pair"][1].catch_up(_followed["pair"][0].port, 20)
        except Exception:  # whatever is wrong with it, the next test gets another
            for server in _followed.pop("pair"):
                lab.remove(server)
    if not _followed:
        primary, replica = lab.narwal(PRIMARY), lab.replica()
        replica.follow(primary.port)
        _followed["pair"] = (primary, replica)
    return _followed["pair"]


@pytest.fixture
def db(narwal):
    """A new database in the server under test; its name."""
    name = f"test_{next(_numbers)}"
    with Client(narwal) as client:
        client.ok(f"CREATE DATABASE {name}")
    yield name
    if narwal.alive():
        with Client(narwal) as client:
            client.run(f"DROP DATABASE IF EXISTS {name}")


@pytest.fixture
def connect(narwal, db):
    """A factory of clients of that database."""
    clients = []

    def make(**options) -> Client:
        client = Client(narwal, database=db, **options)
        clients.append(client)
        return client

    yield make
    for client in clients:
        client.close()


@pytest.fixture
def both(narwal, mariadb):
    """A client of the server under test and one of the reference, in a new database of the same name."""
    name = f"test_{next(_numbers)}"
    clients = []
    for server in (narwal, mariadb):
        client = Client(server)
        clients.append(client)
        client.ok(f"CREATE DATABASE {name}")
        client.ok(f"USE {name}")
        client.ok("SET time_zone = '+00:00'")
    yield clients
    for server, client in zip((narwal, mariadb), clients):
        client.close()
        if server.alive():
            with Client(server) as cleaner:
                cleaner.run(f"DROP DATABASE IF EXISTS {name}")


@pytest.fixture(scope="session")
def cdc_sources(lab):
    """The server under test and MariaDB as primaries with the same history, for change-data-capture clients to read.

    Pairs of a server and the place between the history's two parts: file, position, GTID.
    """
    from readers import change, prepare

    pairs = []
    for server in (lab.narwal(["--server-id=1"]), lab.mariadb(MARIADB_AS_NARWAL)):
        with Client(server) as client:
            prepare(client, "cdc")
            file, position = client.rows("SHOW MASTER STATUS")[0][:2]
            pairs.append((server, (file, int(position), client.value("SELECT @@gtid_binlog_pos"))))
            change(client, "cdc")
    return pairs
