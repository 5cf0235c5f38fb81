"""COM_REGISTER_SLAVE and COM_BINLOG_DUMP, packet by packet.

Where the same script can run against both, a MariaDB 10.11 with the same history says what is right.
"""

from __future__ import annotations

import os
import re
import struct
import subprocess
import time
import uuid

import pytest
from testbed.wire import BinlogEvent, Connection, Lost, SqlError

if os.environ.get("NARWAL_TEST_SERVER", "narwal") == "mariadb":
    pytest.skip("MariaDB is compared with here", allow_module_level=True)

# Two files, three domains and servers, a hole in domain 0 (6 to 19).
HISTORY = [
    "CREATE DATABASE d",
    "CREATE TABLE d.t(a INT PRIMARY KEY)",
    "INSERT INTO d.t VALUES(1)",
    "INSERT INTO d.t VALUES(2)",
    "FLUSH BINARY LOGS",
    "INSERT INTO d.t VALUES(3)",
    "SET gtid_domain_id=1",
    "INSERT INTO d.t VALUES(4)",
    "SET gtid_domain_id=0",
    "SET gtid_seq_no=20",
    "INSERT INTO d.t VALUES(5)",
    "SET server_id=7",
    "INSERT INTO d.t VALUES(6)",
    "SET server_id=1",
    "INSERT INTO d.t VALUES(7)",
]
NON_BLOCK, ANNOTATE = 1, 2
LOG_BIN = ["--log-bin=narwal-bin", "--server-id=1", "--binlog-format=ROW"]


def reader(server, *settings: str, checksum: str | None = "CRC32", capability: int | None = 4, **options) -> Connection:
    """A connection that has said what a replica says before its dump."""
    c = Connection(server.port, timeout=options.pop("timeout", 20), **options)
    if checksum is not None:
        c.query(f"SET @master_binlog_checksum='{checksum}'")
    if capability is not None:
        c.query(f"SET @mariadb_slave_capability={capability}")
    for s in settings:
        c.query(f"SET {s}")
    return c


def gtid(state: str, *more: str) -> tuple[str, ...]:
    return (f"@slave_connect_state='{state}'", *more)


def rest(c: Connection, limit: int = 100_000) -> list[BinlogEvent]:
    """Everything up to the orderly end."""
    events = []
    while len(events) < limit and (event := c.event()) is not None:
        events.append(event)
    return events


def dump(server, *settings: str, file: str = "", position: int = 4, flags: int = 0, **options) -> list[BinlogEvent]:
    """The log to its end."""
    c = reader(server, *settings, **options)
    try:
        c.start_dump(file, position, 0, flags)
        return rest(c)
    finally:
        c.drop()


def until(c: Connection, stop) -> list[BinlogEvent]:
    """Events up to the first for which `stop` holds; heartbeats are left out."""
    events = []
    while True:
        event = c.event()
        assert event is not None, "the dump ended"
        if event.name != "HEARTBEAT":
            events.append(event)
            if stop(event):
                return events


def gtids(events: list[BinlogEvent]) -> list[str]:
    return [e.gtid() for e in events if e.type == 162]


def refused(server, *settings: str, file: str = "", position: int = 4, **options) -> SqlError:
    """The error that a dump ends with."""
    with pytest.raises(SqlError) as error:
        dump(server, *settings, file=file, position=position, **options)
    return error.value


@pytest.fixture(scope="module")
def source(lab):
    server = lab.narwal()
    c = Connection(server.port)
    for sql in HISTORY:
        c.query(sql)
    c.close()
    yield server
    lab.remove(server)


@pytest.fixture(scope="module")
def reference(lab):
    """MariaDB with the same history."""
    server = lab.mariadb(LOG_BIN)
    c = Connection(server.port)
    for sql in HISTORY:
        c.query(sql)
    c.close()
    yield server
    lab.remove(server)


def seen(server, settings=(), **request) -> list[str]:
    """A dump without what differs by nature: positions, sizes, MariaDB's checkpoint events (or the dummies in their
    place), and where the artificial lists stand that tell of groups left out."""
    out = []
    for e in dump(server, *settings, **request):
        if e.type == 161 or (e.type == 2 and e.size == 44):
            continue
        name = e.name
        if e.type == 4:
            name += " " + e.rotate()[0]
        elif e.type == 163:
            flags, entries = e.gtid_list()
            if e.flags & 0x20 and flags == 0:
                continue
            name += f" {flags} {sorted(entries)}"
        elif e.type == 162:
            name += " " + e.gtid()
        elif e.type in (2, 160):
            name += " " + e.sql()
        out.append(f"{name} flags {e.flags:x} server {e.server_id} checksum {e.checksum} time {e.time > 0}")
    return out


@pytest.mark.parametrize(
    "settings, request_",
    [
        ((), {}),
        ((), {"flags": ANNOTATE}),
        ((), {"file": "narwal-bin.000002"}),
        ((), {"position": 256}),
        (gtid(""), {}),
        (gtid("0-1-3"), {}),
        (gtid("0-1-3,1-1-1"), {"position": 0}),
        (gtid("1-1-1"), {}),
        (gtid("0-1-22,1-1-1"), {}),
        (gtid("0-7-21"), {}),
        (gtid("0-7-5"), {}),
        (gtid("5-1-1"), {}),
        (gtid("0-1-10,1-1-1"), {}),
        (gtid("0-1-9999", "@slave_gtid_ignore_duplicates=1"), {}),
        (gtid("0-1-2", "@slave_until_gtid='0-1-20'"), {}),
        (gtid("0-1-2", "@slave_until_gtid='0-1-4,1-1-1'"), {}),
        (gtid("0-1-2", "@slave_until_gtid='1-1-1'"), {}),
        (gtid("0-1-2", "@slave_until_gtid='0-1-10'"), {}),
        ((), {"checksum": "NONE"}),
        ((), {"checksum": "ALL"}),
        ((), {"capability": None}),
        ((), {"capability": 0, "flags": ANNOTATE}),
        ((), {"capability": 1}),
        ((), {"capability": 2}),
        ((), {"capability": 3, "flags": ANNOTATE}),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, tuple) else str(v),
)
def test_streams_are_those_of_mariadb(source, reference, settings, request_):
    assert seen(source, settings, **request_) == seen(reference, settings, **request_)


@pytest.mark.parametrize(
    "settings, request_",
    [
        (gtid("0-1-9999"), {}),
        (gtid("0-9-5"), {}),
        (gtid("0-7-22"), {}),
        (gtid("abc"), {}),
        (gtid("0-1-2,"), {}),
        (gtid("0-1-99999999999999999999"), {}),
        (gtid("0-1-2,0-7-21"), {}),
        (gtid("0-1-2", "@slave_until_gtid='x'"), {}),
        (gtid("0-1-10,1-1-1", "@slave_gtid_strict_mode=1"), {}),
        ((), {"file": "narwal-bin.000009"}),
        ((), {"file": "no-such.000001"}),
        ((), {"position": 0}),
        ((), {"position": 3}),
        ((), {"position": 99_999}),
        ((), {"position": 300}),
        ((), {"checksum": None}),
    ],
    ids=lambda v: " ".join(v) if isinstance(v, tuple) else str(v),
)
def test_errors_are_those_of_mariadb(source, reference, settings, request_):
    ours, theirs = refused(source, *settings, **request_), refused(reference, *settings, **request_)
    assert (ours.code, ours.state) == (theirs.code, theirs.state)
    # Behind this stand positions; and what each side has is what only we say.
    first = re.compile("; the first event.*")
    assert first.sub("", str(ours)).startswith(first.sub("", str(theirs)))


def test_the_head_of_a_stream(source):
    events = dump(source, flags=ANNOTATE)
    rotate, description, gtid_list = events[:3]
    assert (rotate.name, rotate.time, rotate.end, rotate.rotate()) == ("ROTATE*", 0, 0, ("narwal-bin.000001", 4))
    assert (description.name, description.end, description.flags) == ("FDE", 256, 0)
    version, name, created, header = struct.unpack_from("<H50sIB", description.body)
    assert (version, created, header) == (4, 0, 19)
    assert b"MariaDB" in name
    lengths = description.body[57:-1]
    assert (len(lengths), lengths[161], description.body[-1]) == (171, 19, 1)
    assert (gtid_list.name, gtid_list.end, gtid_list.gtid_list()) == ("GTID_LIST", 285, (0, []))
    # Every event ends where the next begins, from the head on.
    end = 0
    for e in events:
        if e.name == "ROTATE*":
            end = 4
        else:
            assert e.end == end + e.size, e
            end = e.end
    assert all(e.checksum for e in events)


def test_what_was_left_out_is_told(source):
    events = dump(source, *gtid("0-1-22,1-1-1"))
    artificial = [e for e in events if e.name == "GTID_LIST*"][-1]
    assert sorted(artificial.gtid_list()[1]) == ["0-1-22", "0-7-21", "1-1-1"]
    assert artificial.end == dump(source)[-1].end and not gtids(events)
    # Behind a domain's group that the reader has, too.
    events = dump(source, *gtid("0-1-3,1-1-1"))
    at = [e.name for e in events].index("GTID_LIST*", 6)
    assert (sorted(events[at].gtid_list()[1]), events[at + 1].gtid()) == (["0-1-5", "1-1-1"], "0-1-20")
    assert events[at].end == events[at + 1].end - events[at + 1].size
    # A start in the middle of a file, of which the reader has one domain only.
    events = dump(source, *gtid("0-1-4"))
    assert gtids(events) == ["0-1-5", "1-1-1", "0-1-20", "0-7-21", "0-1-22"]


def test_every_gtid_is_a_start(source):
    whole = gtids(dump(source))
    have = {}
    for i, g in enumerate(whole):
        domain = g.split("-")[0]
        have[domain] = g
        if i < len(whole) - 1:
            assert gtids(dump(source, *gtid(",".join(have.values())))) == whole[i + 1 :]


def test_every_end_of_an_event_is_a_start(source):
    """A replica by position goes on wherever its connection broke, inside a group too."""
    whole = dump(source, flags=ANNOTATE)
    file = ""
    for i, e in enumerate(whole[:-1]):
        if e.type == 4 and e.flags & 0x20:
            file = e.rotate()[0]
            continue
        got = dump(source, file=file, position=e.end, flags=ANNOTATE)
        assert (got[0].rotate(), got[0].end) == ((file, e.end), 0)
        assert (got[1].name, got[1].end) == ("FDE", 0)
        want = whole[i + 1 :]
        if e.type == 4:  # behind the real ROTATE: the next file is named again
            assert got[2].name == "ROTATE*"
        assert [x.raw for x in got[2:]] == [x.raw for x in want], (file, e)
    # And nothing else.
    ends = {e.end for e in dump(source, file="narwal-bin.000002", flags=ANNOTATE)}
    last = max(ends)
    for position in range(5, last, 37):
        if position not in ends:
            assert refused(source, file="narwal-bin.000002", position=position).code == 1236


def test_without_the_annotate_flag_positions_have_gaps(source):
    with_, without = dump(source, flags=ANNOTATE), dump(source)
    assert [e.raw for e in with_ if e.type != 160] == [e.raw for e in without]
    assert sum(e.type == 160 for e in with_) == 7


def test_non_block_ends_at_the_end(source):
    for server_id, flags in ((0, 0), (0, NON_BLOCK), (77, NON_BLOCK)):
        c = reader(source)
        c.start_dump("", 4, server_id, flags)
        assert gtids(rest(c))[-1] == "0-1-22"
        # The connection ends with the dump.
        with pytest.raises(Lost):
            c.query("SELECT 1")


def test_the_file_name_ends_at_a_nul(source):
    c = reader(source)
    c.start_dump("narwal-bin.000002\0\0", 4, 0)
    assert c.event().rotate()[0] == "narwal-bin.000002"
    c.drop()


def test_packets_that_are_too_short(source):
    for command, body in ((0x12, b""), (0x12, b"\4\0\0\0\0\0\0"), (0x15, b"\1\0\0\0\xffabc"), (0x15, b"\1\0")):
        c = Connection(source.port)
        c._command(command, body)
        with pytest.raises(SqlError) as e:
            c.event()
        assert e.value.code == 1835
        c.drop()


def mysqls_dump(server, executed: bytes, size: int | None = None) -> list[BinlogEvent]:
    """COM_BINLOG_DUMP_GTID to the log's end, for a reader that has these transactions."""
    c = reader(server, capability=None)
    try:
        c._command(0x1E, struct.pack("<HIIQI", 1, 0, 0, 4, len(executed) if size is None else size) + executed)
        return rest(c)
    finally:
        c.drop()


def set_of(text: str) -> bytes:
    """A set of GTIDs of MySQL's as bytes."""
    parts = [p.strip().split(":") for p in text.split(",") if p.strip()]
    out = struct.pack("<Q", len(parts))
    for uid, *ranges in parts:
        out += uuid.UUID(uid).bytes + struct.pack("<Q", len(ranges))
        for r in ranges:
            first, _, last = r.partition("-")
            out += struct.pack("<QQ", int(first), int(last or first) + 1)
    return out


def test_mysqls_readers_get_what_they_lack(source):
    groups = [e for e in dump(source) if e.type == 162]
    c = Connection(source.port)
    executed = c.query("SELECT @@GLOBAL.gtid_executed").rows[0][0]
    c.close()
    events = mysqls_dump(source, set_of(""))
    types = [e.type for e in events if not e.flags & 0x20]
    # MySQL's kinds of events only: no MariaDB GTIDs, no rows of version 1; a GTID and a beginning for each transaction.
    assert types[:2] == [15, 35] and all(t < 42 and t not in (23, 24, 25) for t in types)
    assert types.count(33) == len(groups) and all(e.checksum for e in events)
    assert [struct.unpack_from("<Q", e.body, 17)[0] for e in events if e.type == 33] == [struct.unpack_from("<Q", e.body)[0] for e in groups]
    # Who has all gets none, whether it says so as the server does or one by one; who lacks one gets that one.
    assert 33 not in [e.type for e in mysqls_dump(source, set_of(executed))]
    named = [f"{uuid.UUID(bytes=e.body[1:17])}:{struct.unpack_from('<Q', e.body, 17)[0]}" for e in events if e.type == 33]
    assert 33 not in [e.type for e in mysqls_dump(source, set_of(",".join(named)))]
    for lacks in named:
        sent = mysqls_dump(source, set_of(",".join(n for n in named if n != lacks)))
        assert [uuid.UUID(bytes=e.body[1:17]) for e in sent if e.type == 33] == [uuid.UUID(lacks.split(":")[0])], lacks
        assert [struct.unpack_from("<Q", e.body, 17)[0] for e in sent if e.type == 33] == [int(lacks.split(":")[1])], lacks


@pytest.mark.parametrize("executed", [b"\1", struct.pack("<Q", 1), struct.pack("<QQ", 1 << 56, 0), struct.pack("<Q", 1) + b"u" * 16 + struct.pack("<QQQ", 1, 5, 5)])
def test_a_set_of_mysqls_that_is_none(source, executed):
    with pytest.raises(SqlError) as e:
        mysqls_dump(source, executed)
    assert e.value.code == 1835
    with pytest.raises(SqlError):
        mysqls_dump(source, executed, size=1 << 31)


# -- live ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def live(own_narwal):
    """A server of the test's own, with a table, and a connection."""
    server = own_narwal()
    c = Connection(server.port)
    c.query("CREATE DATABASE d")
    c.query("CREATE TABLE d.t(a INT PRIMARY KEY, b LONGBLOB)")
    yield server, c
    c.drop()


def attach(server, *settings: str, server_id: int = 9, flags: int = 0, **options) -> Connection:
    c = reader(server, *settings, **options)
    c.start_dump("", 4, server_id, flags)
    return c


def test_waiting_readers_get_what_comes(live):
    server, c = live
    r = attach(server, *gtid("0-1-2"))
    for n in range(3):
        c.query(f"INSERT INTO d.t VALUES({n}, NULL)")
        assert gtids(until(r, lambda e: e.name == "XID")) == [f"0-1-{n + 3}"]
    # A domain that comes up while the reader waits.
    c.query("SET gtid_domain_id=5")
    c.query("INSERT INTO d.t VALUES(10, NULL)")
    assert gtids(until(r, lambda e: e.name == "XID")) == ["5-1-1"]
    # In modes without a sync at commit, too.
    for mode in (0, 2):
        c.query(f"SET GLOBAL innodb_flush_log_at_trx_commit={mode}")
        c.query(f"INSERT INTO d.t VALUES({20 + mode}, NULL)")
        until(r, lambda e: e.name == "XID")
    r.drop()


def test_rotation_on_the_wire(live):
    server, c = live
    r = attach(server)
    until(r, lambda e: e.gtid() == "0-1-2" if e.type == 162 else False)
    until(r, lambda e: e.name == "QUERY")
    c.query("FLUSH BINARY LOGS")
    events = until(r, lambda e: e.name == "GTID_LIST")
    assert [e.name for e in events] == ["ROTATE", "ROTATE*", "FDE", "GTID_LIST"]
    assert events[0].rotate() == events[1].rotate() == ("narwal-bin.000002", 4)
    assert events[0].time > 0 and events[1].time == 0 and events[1].end == 0
    assert events[3].gtid_list() == (0, ["0-1-2"])
    # By size, and the first group follows the head at once.
    c.query("SET GLOBAL max_binlog_size=4096")
    for n in range(3):
        c.query(f"INSERT INTO d.t VALUES({n}, REPEAT('x', 3000))")
    events = until(r, lambda e: e.type == 162 and e.gtid() == "0-1-5")
    assert [e.name for e in events[-5:]] == ["ROTATE", "ROTATE*", "FDE", "GTID_LIST", "GTID"]
    size = dict(c.query("SHOW BINARY LOGS").rows)["narwal-bin.000002"]
    assert events[-5].end == size
    # Two at once, without a group.
    c.query("FLUSH BINARY LOGS")
    c.query("FLUSH BINARY LOGS")
    c.query("INSERT INTO d.t VALUES(100, NULL)")
    events = until(r, lambda e: e.type == 162 and e.gtid() == "0-1-6")
    named = [e.rotate()[0][-1] for e in events if e.name == "ROTATE*"]
    assert named == ["4", "5"]
    r.drop()


def test_heartbeats(live):
    server, c = live
    r = attach(server, "@master_heartbeat_period=200000000")
    events = []
    while sum(e.name == "HEARTBEAT" for e in events) < 2:
        events.append(r.event())
    beat = events[-1]
    end = [e for e in events if e.name != "HEARTBEAT"][-1].end
    assert (beat.body, beat.end, beat.time, beat.flags) == (b"narwal-bin.000001", end, 0, 0)
    c.query("FLUSH BINARY LOGS")
    c.query("INSERT INTO d.t VALUES(1, NULL)")
    end = until(r, lambda e: e.name == "XID")[-1].end
    beat = r.event()
    assert (beat.name, beat.body, beat.end) == ("HEARTBEAT", b"narwal-bin.000002", end)
    r.drop()
    # Not asked for: none.
    r = attach(server, timeout=0.7)
    with pytest.raises(Lost):
        while True:
            assert r.event().name != "HEARTBEAT"
    r.drop()


def test_groups_that_are_left_out_count_for_heartbeats(live):
    server, c = live
    r = attach(server, *gtid("0-1-2", "@slave_until_gtid='7-1-1'", "@master_heartbeat_period=100000000"))
    c.query("INSERT INTO d.t VALUES(1, NULL)")
    end = int(c.query("SHOW MASTER STATUS").rows[0][1])
    while (beat := r.event()).end < end or beat.name != "HEARTBEAT":
        assert beat.name in ("ROTATE*", "FDE", "GTID_LIST", "GTID_LIST*", "HEARTBEAT")
    r.drop()


def dumps(c: Connection) -> list[tuple]:
    return [r for r in c.query("SHOW PROCESSLIST").rows if r[4] == "Binlog Dump"]


def wait_for(what, seconds: float = 20):
    end = time.monotonic() + seconds
    while not (found := what()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
    return found


def test_the_same_server_id_twice(live):
    server, c = live
    first = attach(server, server_id=5)
    until(first, lambda e: e.name == "QUERY")
    other = attach(server, server_id=6)
    until(other, lambda e: e.name == "QUERY")
    second = attach(server, server_id=5)
    with pytest.raises(SqlError) as e:
        rest(first)
    assert e.value.code == 4052
    assert str(e.value).split(";")[0].endswith("A slave with the same server_uuid/server_id is already connected")
    c.query("INSERT INTO d.t VALUES(1, NULL)")
    for r in (other, second):
        until(r, lambda e: e.name == "XID")
        r.drop()


def test_kill_ends_a_dump(live):
    server, c = live
    for kill in ("KILL QUERY", "KILL"):
        r = attach(server)
        until(r, lambda e: e.name == "QUERY")
        [process] = wait_for(lambda: dumps(c))
        c.query(f"{kill} {process[0]}")
        assert rest(r)[-1].name == "QUERY"
        with pytest.raises(Lost):
            r.query("SELECT 1")
        wait_for(lambda: not dumps(c))


def test_a_clean_stop_says_so(live):
    server, _ = live
    r = attach(server)
    until(r, lambda e: e.name == "QUERY")
    server.stop()
    assert all(e.type in (2, 162) for e in rest(r))
    with pytest.raises(Lost):
        r.event()


def test_who_goes_is_noticed(live):
    server, c = live
    for leave in (Connection.drop, Connection.close):
        r = attach(server)
        until(r, lambda e: e.name == "QUERY")
        wait_for(lambda: dumps(c))
        leave(r)
        wait_for(lambda: not dumps(c))
    log = server.log_path.read_text()
    assert log.count("a reader of the binary log has attached") == 2
    left = [line for line in log.splitlines() if "a reader of the binary log has left" in line]
    assert len(left) == 2 and all("server_id=9" in line and "groups=2" in line for line in left)


def test_tls(live):
    server, c = live
    r = attach(server, "@master_heartbeat_period=100000000", tls=True)
    events = until(r, lambda e: e.name == "QUERY")
    assert all(e.checksum for e in events)
    assert r.event().name in ("GTID", "HEARTBEAT")
    c.query("INSERT INTO d.t VALUES(1, REPEAT('x', 300000))")
    until(r, lambda e: e.name == "XID")
    wait_for(lambda: dumps(c))
    r.drop()
    wait_for(lambda: not dumps(c))


def test_events_longer_than_a_packet(live):
    server, c = live
    c.query("SET GLOBAL max_allowed_packet=67108864")
    size = 0xFFFFFF
    with_limit = Connection(server.port)
    # A row's event is its payload and what a short one shows.
    with_limit.query("INSERT INTO d.t VALUES(0, 'x')")
    [short] = [e for e in dump(server) if e.name == "WRITE"]
    head = short.size - 1
    # One byte for the packet's OK: a payload of exactly the longest packet is followed by an empty one.
    for n, wanted in enumerate((size - 1, size + 1_000_000)):
        with_limit.query(f"INSERT INTO d.t VALUES({n + 1}, REPEAT('x', {wanted - head}))")
    with_limit.close()
    rows = [e for e in dump(server) if e.name == "WRITE"]
    assert [(e.size, e.checksum) for e in rows[1:]] == [(size - 1, True), (size + 1_000_000, True)]


def test_purge_with_a_reader_inside(live):
    server, c = live
    r = attach(server, *gtid(""))
    assert r.event().name == "ROTATE*"
    # More than the sockets hold, while nobody reads.
    for n in range(6):
        for i in range(4):
            c.query(f"INSERT INTO d.t VALUES({10 * n + i}, REPEAT('x', 900000))")
        c.query("FLUSH BINARY LOGS")
    newest = c.query("SHOW BINARY LOGS").rows[-1][0]
    c.query(f"PURGE BINARY LOGS TO '{newest}'")
    notes = c.query("SHOW WARNINGS").rows
    assert any("replica 9" in n[2] for n in notes), notes
    kept = c.query("SHOW BINARY LOGS").rows
    assert len(kept) > 1
    got = until(r, lambda e: e.name == "GTID_LIST" and e.gtid_list()[1] == ["0-1-26"])
    assert gtids(got) == [f"0-1-{n}" for n in range(1, 27)]
    r.drop()
    wait_for(lambda: not dumps(c))
    wait_for(lambda: c.query(f"PURGE BINARY LOGS TO '{newest}'") and len(c.query("SHOW BINARY LOGS").rows) == 1)
    # Who comes now is told where the log begins.
    for state in ("", "0-1-3"):
        e = refused(server, *gtid(state))
        assert e.code == 1236
        assert "Could not find GTID state requested by slave in any binlog files" in str(e)
    c.query("INSERT INTO d.t VALUES(1000, NULL)")
    e = refused(server, *gtid("0-1-3"))
    assert f"The oldest GTID that is still there is 0-1-27, at the start of {newest}, behind '0-1-26'." in str(e)
    assert gtids(dump(server, *gtid("0-1-26"))) == ["0-1-27"]
    assert refused(server, file="narwal-bin.000001").code == 1236


def test_readers_count_for_slave_connections_needed_for_purge(live):
    server, c = live
    c.query("SET GLOBAL slave_connections_needed_for_purge=1")
    for _ in range(3):
        c.query("FLUSH BINARY LOGS")
    # A reader that has no server id is no replica.
    dump(server)
    c.query("SET GLOBAL max_binlog_total_size=500")
    time.sleep(0.2)
    assert len(c.query("SHOW BINARY LOGS").rows) == 4
    r = attach(server, *gtid("0-1-2"))
    until(r, lambda e: e.name == "GTID_LIST")
    c.query("FLUSH BINARY LOGS")
    wait_for(lambda: len(c.query("SHOW BINARY LOGS").rows) < 4)
    r.drop()


def test_a_reader_that_does_not_read_is_dropped(live):
    server, c = live
    c.query("SET GLOBAL net_write_timeout=1")
    r = attach(server, *gtid(""))
    for n in range(16):
        c.query(f"INSERT INTO d.t VALUES({n}, REPEAT('x', 900000))")
    wait_for(lambda: dumps(c))
    wait_for(lambda: not dumps(c))
    r.drop()
    # Or killed at once, long before it would be dropped.
    c.query("SET GLOBAL net_write_timeout=600")
    r = attach(server, *gtid(""))
    assert r.event().name == "ROTATE*"
    [process] = wait_for(lambda: [p for p in dumps(c) if p[6] == "Sending binlog event to slave"])
    time.sleep(0.3)
    c.query(f"KILL {process[0]}")
    wait_for(lambda: not dumps(c))
    r.drop()


def test_a_copy_of_the_stream_is_the_export(own_narwal, tmp_path):
    """Groups in and out of band, compressed at rest, over several files: byte for byte what flat files have."""
    server = own_narwal("--binlog-oob-threshold=16K", "--max-binlog-size=20K", "--narwal-log-compression=zstd")
    c = Connection(server.port)
    c.query("CREATE DATABASE d")
    c.query("CREATE TABLE d.t(a INT PRIMARY KEY, b TEXT)")
    for n in range(30):
        rows = ",".join(f"({100 * n + i}, REPEAT('{n % 10}', {40 + 20 * n}))" for i in range(1 + n % 7 * 8))
        c.query(f"INSERT INTO d.t VALUES {rows}")
        if n % 9 == 0:
            c.query("FLUSH BINARY LOGS")
    assert int(dict(c.query("SHOW GLOBAL STATUS LIKE 'Narwal_oob_commits'").rows)["Narwal_oob_commits"]) > 3
    names = [row[0] for row in c.query("SHOW BINARY LOGS").rows]
    assert len(names) > 5
    copy, export = tmp_path / "copy", tmp_path / "export"
    copy.mkdir()
    for name in names:
        subprocess.run(
            ["mariadb-binlog", "--no-defaults", "--read-from-remote-server", "--raw", "--host=127.0.0.1", "--user=root",
             f"--port={server.port}", f"--result-file={copy}/", name],
            check=True, capture_output=True,
        )  # fmt: skip
    server.stop()
    done = subprocess.run(
        [server.binary, "binlog", "export", f"--datadir={server.datadir}", str(export)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for name in names:
        ours, flat = (copy / name).read_bytes(), (export / name).read_bytes()
        head = 256 + int.from_bytes(flat[256 + 9 : 256 + 13], "little")
        # The heads, and the ROTATE at the end, say when they were made.
        end = len(flat) - (0 if name == names[-1] else 19 + 8 + len(name) + 4)
        assert len(ours) == len(flat), name
        assert ours[head:end] == flat[head:end], name
        heads = []
        for data in (ours, flat):
            h = bytearray(data[:head])
            # Times and checksums, and the version's text.
            for at, n in ((4, 4), (25, 50), (252, 8), (head - 4, 4)):
                h[at : at + n] = bytes(n)
            heads.append(h)
        assert heads[0] == heads[1], name


def test_reset_master_ends_a_dump(live):
    server, c = live
    r = attach(server, *gtid("0-1-2"))
    until(r, lambda e: e.name == "GTID_LIST*" or e.name == "GTID_LIST")
    c.query("RESET MASTER")
    with pytest.raises(SqlError) as e:
        rest(r)
    assert e.value.code == 1236 and "RESET MASTER" in str(e.value)


def test_privileges_and_lists(live):
    server, c = live
    c.query("CREATE USER lowly@'%'")
    c.query("CREATE USER rep@'%'")
    c.query("GRANT REPLICATION SLAVE ON *.* TO rep@'%'")
    low = Connection(server.port, user="lowly")
    with pytest.raises(SqlError) as e:
        low.register(5)
    assert (e.value.code, e.value.state) == (1045, "28000")
    low.start_dump()
    with pytest.raises(SqlError) as e:
        low.event()
    assert (e.value.code, e.value.state) == (1227, "42000")
    assert "REPLICATION SLAVE" in str(e.value)
    low.drop()

    r = reader(server, user="rep")
    r.register(55, host="here", port=3311)
    r.register(55, host="there", port=3312)
    assert c.query("SHOW SLAVE HOSTS").rows == [(55, "there", 3312, 1)]
    r.start_dump("", 4, 55)
    until(r, lambda e: e.type == 162 and e.gtid() == "0-1-5")

    def sleeping():
        return [p for p in dumps(c) if p[6] == "Master has sent all binlog to slave; waiting for more updates"]

    [process] = wait_for(sleeping)
    assert (process[1], process[3], process[7]) == ("rep", None, None)
    assert c.query("SHOW SLAVE HOSTS").rows == [(55, "there", 3312, 1)]
    status = dict(c.query("SHOW GLOBAL STATUS LIKE 'Narwal_binlog_readers%'").rows)
    assert status == {
        "Narwal_binlog_readers": "1",
        "Narwal_binlog_readers_lag_bytes": "0",
        "Narwal_binlog_readers_lag_seconds": "0",
        "Narwal_binlog_readers_lag_transactions": "0",
    }
    r.drop()
    wait_for(lambda: not c.query("SHOW SLAVE HOSTS").rows)


def test_a_slow_reader_holds_nobody_up(live):
    server, c = live
    r = attach(server, *gtid("0-1-2"))
    assert r.event().name == "ROTATE*"
    for n in range(16):
        c.query(f"INSERT INTO d.t VALUES({n}, REPEAT('x', 900000))")

    def behind():
        s = dict(c.query("SHOW GLOBAL STATUS LIKE 'Narwal_binlog_readers%'").rows)
        return int(s["Narwal_binlog_readers_lag_bytes"]) > 1 << 20 and int(s["Narwal_binlog_readers_lag_transactions"])

    assert wait_for(behind) <= 16
    assert gtids(until(r, lambda e: e.type == 162 and e.gtid() == "0-1-18"))[0] == "0-1-3"
    r.drop()
