"""PyPI's mysql-replication (BinLogStreamReader) reads Narwal's binary log: by file and position, and by GTID."""

from __future__ import annotations

import threading

import pymysql
import pytest
from pymysqlreplication import BinLogStreamReader
from pymysqlreplication.event import MariadbAnnotateRowsEvent, MariadbGtidEvent, QueryEvent, RotateEvent, XidEvent
from pymysqlreplication.row_event import DeleteRowsEvent, UpdateRowsEvent, WriteRowsEvent

from readers import FINISHED
from support import Client

ROWS = [WriteRowsEvent, UpdateRowsEvent, DeleteRowsEvent]
IMAGES = ("values", "before_values", "after_values")


def stream(server, server_id: int, **options) -> BinLogStreamReader:
    settings = {"host": "127.0.0.1", "port": server.port, "user": "root", "password": ""}
    options.setdefault("enable_logging", False)
    return BinLogStreamReader(connection_settings=settings, server_id=server_id, **options)


def starts(middle) -> dict[str, dict]:
    """The same place in both modes."""
    file, position, gtid = middle
    return {
        "file": {"log_file": file, "log_pos": position, "resume_stream": True},
        "gtid": {"is_mariadb": True, "auto_position": gtid, "annotate_rows_event": True},
    }


def until_finished(reader: BinLogStreamReader):
    """The events up to the last row of `change`."""
    for event in reader:
        yield event
        if isinstance(event, WriteRowsEvent) and event.table == "finish":
            break
    reader.close()


def plain(value):
    """MariaDB's events leave out the zero bytes that end a BINARY(n) value; an empty one is decoded as text."""
    return value.rstrip(b"\0") or "" if isinstance(value, bytes) else value


def told(events) -> list[tuple]:
    """Events as tuples that must be equal on both servers. Where rows events are split is not told."""
    out: list[tuple] = []
    for event in events:
        if isinstance(event, tuple(ROWS)):
            for row in event.rows:
                images = [{name: plain(v) for name, v in row[image].items()} for image in IMAGES if image in row]
                out.append((type(event).__name__, event.schema, event.table, event.primary_key, *images))
        elif isinstance(event, MariadbGtidEvent):
            out.append(("gtid", event.gtid))
        elif isinstance(event, MariadbAnnotateRowsEvent):
            out.append(("statement", event.sql_statement))
        elif isinstance(event, QueryEvent) and not event.query.startswith("SAVEPOINT"):
            out.append(("query", event.schema, event.query))
        elif isinstance(event, XidEvent):
            out.append(("commit",))
    return out


@pytest.mark.parametrize("mode", ["file", "gtid"])
def test_same_events_as_from_mariadb(cdc_sources, mode):
    both = []
    for number, (server, middle) in enumerate(cdc_sources):
        # Not waiting by GTID: the package sends a byte too many there, for which MariaDB may reset the connection.
        reader = stream(server, 800 + number, verify_checksum=True, blocking=mode == "gtid", **starts(middle)[mode])
        both.append(told(until_finished(reader)))
    ours, theirs = both
    for a, b in zip(ours, theirs):
        assert a == b
    assert len(ours) == len(theirs)
    kinds = {entry[0] for entry in ours}
    assert ("WriteRowsEvent", "cdc", "finish", "id", {"id": 1, "word": FINISHED}) in ours
    assert ("statement" in kinds) == (mode == "gtid") and "gtid" in kinds
    update = next(entry for entry in ours if entry[0] == "UpdateRowsEvent" and entry[2] == "named")
    assert update[3:] == ("name", {"name": "", "n": 4000000000}, {"name": "renamed", "n": 7})
    assert not any("never seen" in str(entry) for entry in ours if entry[0] == "WriteRowsEvent")


def test_from_the_beginning_without_a_position(cdc_sources):
    """auto_position with nothing read yet starts at the first event there is."""
    server, (_, _, gtid) = cdc_sources[0]
    reader = stream(server, 810, blocking=True, is_mariadb=True, auto_position="", only_events=[MariadbGtidEvent, QueryEvent, WriteRowsEvent])
    events = told(until_finished(reader))
    assert events[0] == ("gtid", "0-1-1") and "CREATE DATABASE elsewhere" in events[1][2]


def test_filters(cdc_sources):
    server, middle = cdc_sources[0]
    for options, tables in [
        ({"only_schemas": ["elsewhere"]}, {("elsewhere", "named")}),
        ({"only_tables": ["named"]}, {("elsewhere", "named"), ("cdc", "named")}),
        ({"only_schemas": ["cdc"], "only_tables": ["later"]}, {("cdc", "later")}),
        ({"ignored_schemas": ["elsewhere"], "ignored_tables": ["named", "alltypes"]}, {("cdc", t) for t in ("later", "keyless", "finish")}),
    ]:
        reader = stream(server, 811, only_events=ROWS, **options, **starts(middle)["file"])
        assert {(event.schema, event.table) for event in reader} == tables
        reader.close()


def test_resumes_where_it_stopped(own_narwal):
    """Stopped after any event, in either mode, and over a change of file: every row once."""
    server = own_narwal("--server-id=1")
    with Client(server) as client:
        client.ok("CREATE DATABASE cdc")
        client.ok("CREATE TABLE cdc.t (id INT PRIMARY KEY)")
        for n in range(20):
            client.ok(f"INSERT INTO cdc.t VALUES ({2 * n}), ({2 * n + 1})")
            if n % 7 == 6:
                client.ok("FLUSH BINARY LOGS")
    by_file: list[int] = []
    place: dict = {"log_file": "narwal-bin.000001", "log_pos": 4, "resume_stream": True}
    files = set()
    for _ in range(60):
        reader = stream(server, 820, only_events=[*ROWS, XidEvent, RotateEvent], **place)
        ended = True
        rows: list[int] = []
        for event in reader:
            files.add(reader.log_file)
            if isinstance(event, WriteRowsEvent):
                rows += [row["values"]["id"] for row in event.rows]
            if isinstance(event, XidEvent):
                # A position inside a group would be no place to start from.
                place.update(log_file=reader.log_file, log_pos=reader.log_pos)
                ended = False
                break
        reader.close()
        by_file += rows
        if ended:
            break
    assert by_file == list(range(40))
    assert len(files) == 3
    by_gtid: list[int] = []
    gtid = ""
    for _ in range(60):
        reader = stream(server, 821, is_mariadb=True, auto_position=gtid, only_events=[*ROWS, MariadbGtidEvent, XidEvent])
        ended, rows, now = True, [], gtid
        for event in reader:
            if isinstance(event, MariadbGtidEvent):
                now = event.gtid
            elif isinstance(event, XidEvent):
                gtid, ended = now, False
                break
            else:
                rows += [row["values"]["id"] for row in event.rows]
        reader.close()
        by_gtid += rows
        if ended:
            break
    assert by_gtid == list(range(40))


@pytest.mark.parametrize("mode", ["file", "gtid"])
def test_blocking_reader_gets_what_comes(own_narwal, mode):
    """The reader waits, gets each transaction when it commits, and heartbeats while nothing happens."""
    server = own_narwal("--server-id=1")
    with Client(server) as client:
        client.ok("CREATE DATABASE cdc")
        client.ok("CREATE TABLE cdc.t (id INT PRIMARY KEY, v VARCHAR(20))")
        file, position = client.rows("SHOW MASTER STATUS")[0][:2]
        start = starts((file, int(position), client.value("SELECT @@gtid_binlog_pos")))[mode]
        seen: list = []
        arrived = threading.Condition()

        def read():
            reader = stream(server, 830, blocking=True, slave_heartbeat=0.2, only_events=ROWS, **{**start, "annotate_rows_event": False})
            for event in reader:
                with arrived:
                    seen.extend(row["values"]["v"] for row in event.rows)
                    arrived.notify()
                if seen[-1] == FINISHED:
                    break
            reader.close()

        thread = threading.Thread(target=read, daemon=True)
        thread.start()
        for n in range(20):
            client.ok(f"INSERT INTO cdc.t VALUES ({n}, 'v{n}')")
            with arrived:
                assert arrived.wait_for(lambda: f"v{n}" in seen, 30)
            if n == 10:
                client.rows("SELECT SLEEP(0.7)")
        client.ok("BEGIN")
        client.ok("INSERT INTO cdc.t VALUES (100, 'half')")
        client.rows("SELECT SLEEP(0.1)")
        assert "half" not in seen
        client.ok(f"INSERT INTO cdc.t VALUES (101, '{FINISHED}')")
        client.ok("COMMIT")
        thread.join(30)
        assert not thread.is_alive()
        assert seen == [*(f"v{n}" for n in range(20)), "half", FINISHED]


def test_errors_of_a_wrong_start(cdc_sources):
    server, (file, position, _) = cdc_sources[0]
    for options, text in [
        ({"is_mariadb": True, "auto_position": "0-1-9999"}, "not in the master's binlog"),
        ({"is_mariadb": True, "auto_position": "0-7-3"}, "diverged"),
        ({"log_file": "narwal-bin.000099", "log_pos": 4, "resume_stream": True}, "Could not find first log file name"),
        ({"log_file": file, "log_pos": 1 << 30, "resume_stream": True}, "impossible position"),
    ]:
        reader = stream(server, 840, **options)
        with pytest.raises(pymysql.err.OperationalError) as error:
            list(reader)
        reader.close()
        assert error.value.args[0] == 1236 and text in error.value.args[1]


def test_second_reader_of_the_same_id_takes_over(narwal):
    """As on MariaDB: a replica that comes back before its old connection was seen to be gone."""
    with Client(narwal) as client:
        client.ok("CREATE DATABASE IF NOT EXISTS taken_over")
        gtid = client.value("SELECT @@gtid_binlog_pos")
    outcome: list = []

    def read():
        reader = stream(narwal, 850, blocking=True, is_mariadb=True, auto_position=gtid)
        try:
            for event in reader:
                outcome.append(event)
        except pymysql.err.OperationalError as error:
            outcome.append(error)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    with Client(narwal) as client:
        for _ in range(100):
            if any(row[4] == "Binlog Dump" for row in client.rows("SHOW PROCESSLIST")):
                break
            client.rows("SELECT SLEEP(0.05)")
        second = stream(narwal, 850, is_mariadb=True, auto_position=gtid)
        list(second)
        second.close()
        thread.join(30)
        assert not thread.is_alive()
        assert isinstance(outcome[-1], pymysql.err.OperationalError) and "same server_uuid/server_id" in str(outcome[-1])
        client.ok("DROP DATABASE taken_over")
