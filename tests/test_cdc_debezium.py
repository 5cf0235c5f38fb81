"""Debezium's MariaDB and MySQL connectors, in its embedded engine, take Narwal for a primary of theirs.

The same connector reads MariaDB 10.11 or MySQL 8.4 beside it: what it prints for the same statements must be equal.
"""

from __future__ import annotations

import json
import os
import random
import threading
from pathlib import Path

import pytest

from conftest import MARIADB_AS_NARWAL, STAND_IN
from narwal_lab.subjects import binary_of
from readers import FINISHED, Reader, built, change, prepare
from support import Client
from test_binlog_export import ALL_VALUES
from testbed.servers import MySQL

PEERS = Path(os.environ.get("NARWAL_PEERS", Path(__file__).resolve().parents[1] / ".peers"))

SERVER_OPTIONS = ["--server-id=1"]


class Connector:
    """One connector with its files: started and ended as often as wanted, it goes on at its stored offset."""

    def __init__(self, server, folder: Path, number: int, **settings: str):
        folder.mkdir()
        self.folder = folder
        self.properties = {
            "name": "engine",
            "connector.class": "io.debezium.connector.mariadb.MariaDbConnector",
            "offset.storage": "org.apache.kafka.connect.storage.FileOffsetBackingStore",
            "offset.storage.file.filename": folder / "offsets",
            "offset.flush.interval.ms": 0,
            "schema.history.internal": "io.debezium.storage.file.history.FileSchemaHistory",
            "schema.history.internal.file.filename": folder / "history",
            "topic.prefix": "cdc",
            "database.hostname": "127.0.0.1",
            "database.port": server.port,
            "database.user": "cdc",
            "database.password": "secret",
            "database.ssl.mode": "disable",
            "database.server.id": 7000 + number,
            "database.include.list": "cdc",
            # The schema beside every value would hide the value.
            "converter.schemas.enable": "false",
            "decimal.handling.mode": "string",
            "binary.handling.mode": "hex",
            "bigint.unsigned.handling.mode": "precise",
            "include.query": "true",
            # TRUNCATE is left out by default.
            "skipped.operations": "none",
            "errors.max.retries": 0,
            "poll.interval.ms": 50,
            **{name.replace("_", "."): value for name, value in settings.items()},
        }

        with Client(server) as client:
            client.ok("CREATE USER IF NOT EXISTS cdc@localhost IDENTIFIED BY 'secret'")
            client.ok("CREATE USER IF NOT EXISTS cdc@127.0.0.1 IDENTIFIED BY 'secret'")
            for host in ("localhost", "127.0.0.1"):
                # What docs/cdc.md tells, and no more.
                client.ok(f"GRANT SELECT, RELOAD, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO cdc@{host}")

    def stored_in_stream(self) -> bool:
        """Whether its stored offset is one behind the snapshot."""
        try:
            stored = (self.folder / "offsets").read_bytes()
        except FileNotFoundError:
            return False
        return b'"pos"' in stored and b'"snapshot' not in stored

    def start(self, **settings: str) -> Reader:
        properties = {**self.properties, **{name.replace("_", "."): value for name, value in settings.items()}}
        file = self.folder / "connector.properties"
        file.write_text("".join(f"{name}={value}\n" for name, value in properties.items()))
        here = built("debezium")
        return Reader(
            ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Duser.timezone=UTC",
             "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-cp", f"{here}/reader.jar:{here}/lib/*", "Reader", file],
            self.folder / "errors",
        )  # fmt: skip


def snapshot_done(events: list[dict]) -> bool:
    return any((event["value"] or {}).get("source", {}).get("snapshot") == "last" for event in events)


def told(event: dict) -> dict:
    """An event without what may differ: times, GTIDs, positions and names of files, places in rows events, ids."""
    volatile = ("ts_ms", "ts_us", "ts_ns", "gtid", "file", "pos", "row", "server_id", "thread", "position")
    event = json.loads(json.dumps(event))
    value = event["value"]
    for part in (value, (value or {}).get("source")):
        for name in volatile:
            (part or {}).pop(name, None)
    return event


def assert_same(ours: list[dict], theirs: list[dict]) -> None:
    for number, (a, b) in enumerate(zip(map(told, ours), map(told, theirs))):
        assert a == b, f"event {number}"
    assert len(ours) == len(theirs), (ours[len(theirs) :], theirs[len(ours) :])


def rows(events: list[dict], table: str, op: str) -> list:
    found = [event["value"] for event in events if event["topic"] == f"cdc.cdc.{table}" and event["value"]]
    return [(value["before"], value["after"]) for value in found if value["op"] == op]


def test_same_events_as_from_mariadb(lab, tmp_path):
    """Snapshot, streaming with DDL in between, an incremental snapshot; then changes while the connector is away."""
    servers = [lab.narwal(SERVER_OPTIONS), lab.mariadb(MARIADB_AS_NARWAL)]
    connectors, readers = [], []
    for number, server in enumerate(servers):
        with Client(server) as client:
            prepare(client, "cdc")
            client.ok("CREATE TABLE signals (id VARCHAR(42) PRIMARY KEY, type VARCHAR(32) NOT NULL, data VARCHAR(2048))")
        connectors.append(
            Connector(server, tmp_path / f"connector-{number}", number, signal_data_collection="cdc.signals", incremental_snapshot_chunk_size="2")
        )
        with Client(server) as client:
            for host in ("localhost", "127.0.0.1"):
                client.ok(f"GRANT INSERT ON cdc.signals TO cdc@{host}")
    try:
        readers = [connector.start() for connector in connectors]
        first = []
        for reader in readers:
            reader.wait(snapshot_done)
        for server, reader in zip(servers, readers):
            with Client(server) as client:
                change(client, "cdc")
            reader.wait_for(FINISHED)
            with Client(server, database="cdc") as client:
                wanted = json.dumps({"data-collections": ["cdc.later", "cdc.finish"], "type": "incremental"})
                client.ok(f"INSERT INTO signals VALUES ('s1', 'execute-snapshot', '{wanted}')")
            reader.wait(lambda events: any("incremental" in str(e["value"]["source"]) for e in events if e["value"] and FINISHED in str(e)))
        for reader in readers:
            first.append(reader.stop())
            assert reader.process.returncode == 0 or reader.process.returncode == 143, reader.errors()
        # The connector's own marks in the signal table have random names.
        ours, theirs = ([e for e in events if e["topic"] != "cdc.cdc.signals"] for events in first)
        assert_same(ours, theirs)
        assert [after["vs"] for _, after in rows(ours, "alltypes", "r")][0] == "v"
        assert ({"name": "", "n": 4000000000}, None) in rows(ours, "named", "d")
        assert rows(ours, "later", "t") == [(None, None)]
        assert rows(ours, "later", "c")[-1][1]["c"] == "new"
        assert not any("never seen" in str(event["value"].get("after")) or "elsewhere" in event["topic"] for event in ours if event["value"])

        # While it is away: the tables change their form, and rows come in between. Its history must have both forms.
        for server in servers:
            with Client(server, database="cdc") as client:
                client.ok("INSERT INTO later VALUES (1, NULL, 'before')")
                client.ok("DROP TABLE later")
                client.ok("CREATE TABLE later (other VARCHAR(10) NOT NULL PRIMARY KEY)")
                client.ok("INSERT INTO later VALUES ('after')")
                client.ok("DROP TABLE finish")
                client.ok("CREATE TABLE finish (word VARCHAR(20) PRIMARY KEY, id TINYINT)")
                client.ok("INSERT INTO finish VALUES ('second end', 2)")
        readers = [connector.start() for connector in connectors]
        again = []
        for reader in readers:
            reader.wait_for("second end")
            again.append([e for e in reader.stop() if e["topic"] != "cdc.cdc.signals"])
        assert_same(*again)
        assert [after for _, after in rows(again[0], "later", "c")] == [{"a": "AQ==", "b": None, "c": "before"}, {"other": "after"}]
    finally:
        for reader in readers:
            reader.kill()
        for server in servers:
            lab.remove(server)


MYSQL = {
    "connector_class": "io.debezium.connector.mysql.MySqlConnector",
    # MySQL logs no statements beside rows unless it is told to.
    "include_query": "false",
    "database_ssl_mode": "disabled",
    "driver_allowPublicKeyRetrieval": "true",
}

# MySQL's TIME ends at a whole second.
MYSQL_VALUES = [v.replace("'838:59:59.999'", "'838:59:58.999'") for v in ALL_VALUES]


@pytest.fixture
def mysql(tmp_path):
    if not (PEERS / "mysql-8.4" / ".complete").exists():
        pytest.skip("scripts/peers mysql-8.4 has not been run")
    binary, loader = binary_of(str(PEERS / "mysql-8.4"), ("mysqld",))
    args = ["--server-id=1", "--gtid-mode=ON", "--enforce-gtid-consistency=ON", "--log-bin=own", "--innodb-buffer-pool-size=64M"]
    server = MySQL(tmp_path / "mysql", args, binary=str(binary), loader=loader)
    server.create()
    server.start(120)
    yield server
    server.kill()


def test_mysqls_connector_sees_the_same_as_at_mysql(lab, mysql, tmp_path):
    """Snapshot, streaming with DDL in between, and what came while it was away, by MySQL's GTIDs."""
    narwal = lab.narwal(["--narwal-dialect=mysql", "--server-id=1"])
    servers, readers, seen = [narwal, mysql], [], []
    try:
        connectors = []
        for number, server in enumerate(servers):
            with Client(server) as client:
                prepare(client, "cdc", MYSQL_VALUES)
            connectors.append(Connector(server, tmp_path / f"connector-{number}", number, **MYSQL))
        readers = [connector.start() for connector in connectors]
        for reader in readers:
            reader.wait(snapshot_done)
        for server, reader in zip(servers, readers):
            with Client(server) as client:
                change(client, "cdc", MYSQL_VALUES)
            reader.wait_for(FINISHED)
            seen.append(reader.stop())
        assert_same(*seen)
        for server in servers:
            with Client(server, database="cdc") as client:
                client.ok("INSERT INTO finish VALUES (2, 'second end')")
        readers = [connector.start() for connector in connectors]
        for reader in readers:
            reader.wait_for("second end")
        assert_same(*[reader.stop() for reader in readers])
    finally:
        for reader in readers:
            reader.kill()
        lab.remove(narwal)


class Writer(threading.Thread):
    """Writes transactions until it is told to stop; the accounts' sum stays the same in each."""

    def __init__(self, server, seed: int):
        super().__init__(daemon=True)
        self.server = server
        self.rng = random.Random(seed)
        self.fresh = seed * 100_000
        self.ending = threading.Event()
        self.failure: BaseException | None = None
        self.transactions = 0

    def run(self):
        try:
            with Client(self.server, database="cdc") as client:
                while not self.ending.is_set():
                    a, b = self.rng.sample(range(300), 2)
                    amount = self.rng.randrange(1, 100)
                    client.ok("BEGIN")
                    client.ok(f"UPDATE accounts SET balance = balance - {amount} WHERE id = {a}")
                    client.ok(f"UPDATE accounts SET balance = balance + {amount} WHERE id = {b}")
                    if self.rng.random() < 0.3:
                        self.fresh += 1
                        client.ok(f"INSERT INTO accounts VALUES ({self.fresh}, 0, 'fresh')")
                        if self.rng.random() < 0.5:
                            client.ok(f"DELETE FROM accounts WHERE id = {self.fresh - self.rng.randrange(5)}")
                    client.ok("COMMIT" if self.rng.random() < 0.95 else "ROLLBACK")
                    self.transactions += 1
                    self.ending.wait(0.002)
        except BaseException as failure:  # handed to the test's thread
            self.failure = failure

    def stop(self):
        self.ending.set()
        self.join(60)
        if self.failure:
            raise self.failure


def test_nothing_is_lost_when_the_connector_is_killed(own_narwal, tmp_path):
    """Under load: snapshot, kill -9, restart at the stored offset, another kill, the server's restart."""
    server = own_narwal(*SERVER_OPTIONS)
    with Client(server) as client:
        client.ok("CREATE DATABASE cdc")
        client.ok("CREATE TABLE cdc.accounts (id INT PRIMARY KEY, balance INT NOT NULL, note VARCHAR(20))")
        client.ok("INSERT INTO cdc.accounts VALUES " + ", ".join(f"({n}, 1000, NULL)" for n in range(300)))
    connector = Connector(server, tmp_path / "connector", 10, tombstones_on_delete="false")
    runs = []
    writer = Writer(server, 1)
    writer.start()
    reader = None
    try:
        for enough in (700, 400):
            reader = connector.start()
            reader.wait(lambda events: snapshot_done(events) or runs)
            # Not before it has stored an offset behind its snapshot: it would only make another one.
            reader.wait(lambda events, n=enough: len(events) > n and connector.stored_in_stream())
            runs.append(reader.kill())
        # The connector comes back to a server that was restarted meanwhile, and its load goes on.
        writer.stop()
        server.stop()
        server.start()
        last = Writer(server, 2)
        reader = connector.start()
        last.start()
        reader.wait(lambda events: len(events) > 100)
        last.stop()
        with Client(server) as client:
            client.ok(f"INSERT INTO cdc.accounts VALUES (-1, 0, '{FINISHED}')")
            reader.wait_for(FINISHED)
            runs.append(reader.stop())
            final = {int(row[0]): (int(row[1]), row[2]) for row in client.rows("SELECT id, balance, note FROM cdc.accounts")}
    finally:
        if reader:
            reader.kill()
        writer.ending.set()
    changes = [[e for e in run if e["topic"] == "cdc.cdc.accounts"] for run in runs]
    # Each run begins inside or right after what the one before it had printed, and repeats it exactly.
    history = changes[0]
    for later in changes[1:]:
        if later and later[0]["value"]["op"] == "r":
            # Its offset file is written in place, and the kill came in the middle of that: it begins anew.
            history = later
            continue
        places = [told(event) | {"at": place(event)} for event in later]
        seen = [told(event) | {"at": place(event)} for event in history]
        at = seen.index(places[0]) if places[0] in seen else len(seen)
        assert seen[at:] == places[: len(seen) - at]
        history = history[:at] + later
    # Whoever applies the events in order has the table.
    table: dict[int, tuple] = {}
    for event in history:
        before, after = event["value"]["before"], event["value"]["after"]
        if event["value"]["op"] in ("u", "d"):
            assert table.pop(before["id"]) == (before["balance"], before["note"])
        if after:
            assert after["id"] not in table
            table[after["id"]] = (after["balance"], after["note"])
    assert table == final
    assert sum(balance for balance, _ in final.values()) == 300 * 1000


def place(event: dict) -> tuple:
    source = event["value"]["source"]
    return source["file"], source["pos"], source["row"], source["gtid"]


@pytest.mark.parametrize("mode", ["no_data", "recovery"])
def test_starts_without_rows(own_narwal, tmp_path, mode):
    """Only the tables' forms are taken; `recovery` makes a lost history again and goes on at the stored offset."""
    server = own_narwal(*SERVER_OPTIONS)
    # One of them over TLS, with the certificate that Narwal makes for itself.
    tls = {"database_ssl_mode": "trust"} if mode == "recovery" and not STAND_IN else {}
    with Client(server) as client:
        client.ok("CREATE DATABASE cdc")
        client.ok("USE cdc")
        client.ok("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(10))")
        client.ok("INSERT INTO t VALUES (1, 'old')")
        connector = Connector(server, tmp_path / "connector", 20, **tls)
        with connector.start(snapshot_mode="no_data", include_schema_changes="false") as reader:
            # Nothing is printed at this start: what comes after it is.
            for n in range(2, 200):
                client.ok(f"INSERT INTO t VALUES ({n}, 'new')")
                try:
                    reader.wait(lambda events: len(events) > 0, 0.5)
                    break
                except AssertionError:
                    assert reader.process.poll() is None, reader.errors()
            client.ok("INSERT INTO t VALUES (1000, 'marker')")
            events = reader.wait_for("marker")
            reader.stop()
            ids = [after["id"] for _, after in rows(events, "t", "c")]
            assert ids == [*range(ids[0], n + 1), 1000] and ids[0] > 1
            assert not rows(events, "t", "r")
        if mode == "recovery":
            (tmp_path / "connector" / "history").unlink()
            client.ok("INSERT INTO t VALUES (2000, 'away')")
            with connector.start(snapshot_mode="recovery") as reader:
                client.ok("INSERT INTO t VALUES (2001, 'back')")
                events = reader.wait_for("back")
                assert [after["id"] for _, after in rows(events, "t", "c")] == [2000, 2001]
                reader.stop()
