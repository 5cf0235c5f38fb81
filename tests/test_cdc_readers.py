"""go-mysql and mysql_async read Narwal's binary log as they read MariaDB's: same events, same values."""

from __future__ import annotations

import re

import pytest

from readers import FINISHED, Reader, built
from support import Client


def go(port: int, server_id: int, *start, folder) -> Reader:
    return Reader([built("go_mysql") / "reader", port, server_id, *start], folder / f"go-{server_id}")


def rust(port: int, server_id: int, *start, folder) -> Reader:
    return Reader([built("mysql_async") / "reader", port, server_id, *start], folder / f"rust-{server_id}")


# Of the file, or artificial: by go-mysql's names, and by number.
LEFT_OUT = (
    "RotateEvent", "FormatDescriptionEvent", "MariadbGTIDListEvent", "MariadbBinLogCheckPointEvent", "HeartbeatEvent", "TableMapEvent",
    4, 15, 19, 27, 161, 163,
)  # fmt: skip


def told(events: list[dict]) -> list[dict]:
    """What must be equal on both servers, up to the last row of `change`: a waiting client may have told more already.

    Not positions and names of files, where rows events are split, the zero bytes that end a BINARY(n) value (MariaDB's
    events leave them out), SAVEPOINT (Narwal's events do without), and the comments that stand in the place of events
    that a reader of a low capability does not know.
    """
    out: list[dict] = []
    for event in events:
        if event["type"] in LEFT_OUT or event.get("query", "").startswith(("SAVEPOINT", "# Dummy event")):
            continue
        event = {name: value for name, value in event.items() if name not in ("end", "file", "position")}
        if "rows" in event:
            event["rows"] = strip_zeros(event["rows"])
            if out and {**out[-1], "rows": 0} == {**event, "rows": 0}:
                out[-1]["rows"] += event["rows"]
                continue
        out.append(event)
        if event.get("table") == "finish" and FINISHED in str(event):
            break
    return out


def strip_zeros(value):
    if isinstance(value, list):
        return [strip_zeros(part) for part in value]
    # Both clients print text in quotes, and such bytes as escapes.
    return re.sub(r'(\\x00)+"$', '"', value) if isinstance(value, str) else value


@pytest.mark.parametrize("start", ["file", "gtid", "beginning"])
def test_go_mysql(cdc_sources, tmp_path, start):
    both = []
    for number, (server, (file, position, gtid)) in enumerate(cdc_sources):
        where = {
            "file": ["file", file, position], "gtid": ["gtid", gtid], "beginning": ["gtid", ""],
        }[start]  # fmt: skip
        with go(server.port, 900 + number, *where, folder=tmp_path) as reader:
            both.append(told(reader.wait_for_row("finish", FINISHED)))
    ours, theirs = both
    for a, b in zip(ours, theirs):
        assert a == b
    assert len(ours) == len(theirs)
    rows = [event for event in ours if "rows" in event]
    assert ['"renamed"', "7"] in [row for event in rows for row in event["rows"]]
    assert any('"2024-02-29 12:34:56.789"' in row for event in rows for row in event["rows"])
    assert any(event.get("query", "").startswith("TRUNCATE") for event in ours)
    assert not any("never seen" in str(event) for event in rows)
    if start == "beginning":
        assert any("CREATE DATABASE cdc" in event.get("query", "") for event in ours)
    else:
        assert not any("CREATE DATABASE cdc" in event.get("query", "") for event in ours)
        assert "alltypes" in ours[1]["query"]


def test_go_mysql_acknowledges(own_narwal, tmp_path):
    """As a semi-synchronous replica: commits wait for it, and for nothing else."""
    server = own_narwal("--server-id=1", "--rpl-semi-sync-master-enabled=ON", "--rpl-semi-sync-master-timeout=30000",
                        "--rpl-semi-sync-master-wait-point=AFTER_SYNC")  # fmt: skip

    def status(name: str) -> str:
        return client.rows(f"SHOW STATUS LIKE 'Rpl_semi_sync_master_{name}'")[0][1]

    with Client(server) as client:
        with go(server.port, 930, "gtid", "", "semisync", folder=tmp_path) as reader:
            reader.wait(lambda events: len(events) > 0)
            for _ in range(200):
                if status("clients") == "1":
                    break
                client.rows("SELECT SLEEP(0.05)")
            before = int(status("no_tx"))
            client.ok("CREATE DATABASE acked")
            client.ok("CREATE TABLE acked.t (id INT PRIMARY KEY)")
            for n in range(20):
                client.ok(f"INSERT INTO acked.t VALUES ({n})")
            assert int(status("yes_tx")) >= 22 and int(status("no_tx")) == before
            assert status("status") == "ON"
            events = reader.wait(lambda events: any(["19"] in e.get("rows", []) for e in events))
            assert sum(event["type"] == "WriteRowsEventV1" for event in events) == 20


@pytest.mark.parametrize("start", ["file", "gtid"])
def test_mysql_async(cdc_sources, tmp_path, start):
    both = []
    for number, (server, (file, position, gtid)) in enumerate(cdc_sources):
        where = ["gtid", gtid] if start == "gtid" else ["file", file, position]
        with rust(server.port, 910 + number, *where, "nonblock", folder=tmp_path) as reader:
            assert reader.wait_end() == 0, reader.errors()
            assert FINISHED in str(reader.events[-2]), reader.events[-3:]
            both.append(told(reader.events))
    ours, theirs = both
    for a, b in zip(ours, theirs):
        assert a == b
    assert len(ours) == len(theirs)
    # A reader of the lowest capability gets BEGIN where the others get a GTID.
    kinds = {event["type"] for event in ours}
    assert (162 in kinds) == (start == "gtid")
    assert any(event.get("query") == "BEGIN" for event in ours) == (start == "file")


def test_mysql_async_waits_for_what_comes(narwal, tmp_path):
    with Client(narwal) as client:
        status = client.rows("SHOW MASTER STATUS")[0]
        with rust(narwal.port, 920, "file", status[0], status[1], folder=tmp_path) as reader:
            client.ok("CREATE DATABASE live")
            client.ok("CREATE TABLE live.t (id INT PRIMARY KEY, v VARCHAR(10))")
            for n in range(5):
                client.ok(f"INSERT INTO live.t VALUES ({n}, 'v{n}')")
                reader.wait_for(f"v{n}")
            # Two statements of one transaction come with its COMMIT, not before.
            client.ok("BEGIN")
            client.ok("INSERT INTO live.t VALUES (10, 'ten')")
            client.ok("DELETE FROM live.t WHERE id = 0")
            before = len(reader.events)
            client.ok("COMMIT")
            events = reader.wait_for("ten")[before:]
            assert not any("v4" in str(event) for event in events)
            client.ok("DROP DATABASE live")
