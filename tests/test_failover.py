"""High availability: primaries that are lost, `narwal promote`, `narwal rejoin --fence`, and reads behind one's own writes."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from conftest import STAND_IN
from packets import DEPRECATE_EOF, SESSION_TRACK, Link
from support import Client

from testbed.servers import narwal_binary
from testbed.wire import Connection, Lost, SqlError

if STAND_IN:
    pytest.skip("these are Narwal's own commands", allow_module_level=True)

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "torture"))
from failover import FailoverTorture  # noqa: E402


def test_no_acknowledged_write_is_lost_and_none_is_acknowledged_twice(tmp_path):
    torture = FailoverTorture(tmp_path, faults=3, seed=3)
    try:
        torture.run()
    except BaseException:
        print("\n".join(torture.cluster.notes))
        raise
    assert not torture.problems, torture.problems[:10]
    assert len(torture.times) == 3 and len(torture.clients.acks) > 50


def tool(*args: object, status: int = 0) -> str:
    done = subprocess.run([str(narwal_binary()), *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    assert done.returncode == status, f"{args}: {done.returncode}\n{done.stdout}"
    return done.stdout


def promote(*servers, status: int = 0, **options) -> str:
    """Of servers, or of ports at which nobody is."""
    given = [f"--{name.replace('_', '-')}={value}" for name, value in ({"timeout": 5, "wait": 20} | options).items()]
    return tool("promote", "--servers=" + ",".join(f"127.0.0.1:{getattr(s, 'port', s)}" for s in servers), "--ssl-mode=disabled", *given, status=status)


@pytest.fixture
def pair(own_narwal_replica):
    """A primary and its replica, made by the tool."""
    one, other = (own_narwal_replica("--read-only=ON", semi_sync=True) for _ in range(2))
    assert f"primary: 127.0.0.1:{one.port}" in promote(one, other)
    one.query("CREATE DATABASE d")
    one.query("CREATE TABLE d.t (n INT PRIMARY KEY)")
    return one, other


def writer(server, number: int, told: list) -> threading.Thread:
    """Writes a row; what it was told."""

    def write():
        c = Connection(server.port, timeout=60)
        try:
            c.query(f"INSERT INTO d.t VALUES ({number})")
            told.append("OK")
        except (Lost, SqlError) as e:
            told.append(e)

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    return thread


def waits(server, commits: int) -> None:
    end = time.monotonic() + 20
    while server.status("Rpl_semi_sync_master_wait_sessions")["Rpl_semi_sync_master_wait_sessions"] != str(commits):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_what_waits_at_a_former_primary_is_never_answered(pair, tmp_path):
    one, other = pair
    # Of three servers one alone is not enough, and nothing is done to it.
    text = promote(other, 1, 2, timeout=1, status=1)
    assert "1 of 3 servers answer, and 2 have to" in text, text
    assert other.slave_status()["Slave_IO_Running"] == "Yes"
    # The replica is promoted while the former primary has a commit that waits.
    other.query("STOP ALL SLAVES")
    told: list = []
    thread = writer(one, 1, told)
    waits(one, 1)
    with pytest.raises(SqlError, match="1 commits wait for replicas"):
        one.query("FLASHBACK BINARY LOGS GTIDS '0-1-1'")
    # The former one's history has parted, so it can't acknowledge: that is told, not waited for.
    text = promote(one, other, wait=300, catch_up=0.1, status=1)
    assert f"127.0.0.1:{one.port}: does not follow: " in text, text
    assert f"127.0.0.1:{other.port}: no acknowledgement of the new term" in text, text
    thread.join(20)
    assert told and told[0] != "OK", told
    # It comes back: its row is taken back, and the new primary's term is acknowledged.
    text = tool("rejoin", f"--from=127.0.0.1:{other.port}", f"--port={one.port}", "--fence", "--yes", "--wait=20", f"--save={tmp_path / 'saved'}",
                "--ssl-mode=disabled")  # fmt: skip
    assert "taken back: 1 transactions" in text, text
    assert f"primary: 127.0.0.1:{other.port}" in promote(one, other, prefer=f"127.0.0.1:{other.port}")
    other.query("INSERT INTO d.t VALUES (1)")
    one.wait_applied(other.query("SELECT @@gtid_binlog_pos")[0][0])
    assert one.query("SELECT n FROM d.t") == [(1,)]
    # Who was fenced for a newer term follows nobody of an older one.
    c = Connection(one.port)
    c.query("SET sql_log_bin = 0")
    c.query("UPDATE narwal_ha_local.promised SET term = term + 1")
    text = tool("rejoin", f"--from=127.0.0.1:{other.port}", f"--port={one.port}", "--yes", f"--save={tmp_path / 'again'}", "--ssl-mode=disabled",
                status=1)  # fmt: skip
    assert "knows of a newer term" in text, text


def test_a_switch_in_good_order_takes_nothing_back(pair):
    one, other = pair
    for n in range(20):
        one.query(f"INSERT INTO d.t VALUES ({n})")
    text = promote(one, other, prefer=f"127.0.0.1:{other.port}")
    assert f"primary: 127.0.0.1:{other.port}" in text, text
    other.query("INSERT INTO d.t VALUES (100)")
    one.wait_applied(other.query("SELECT @@gtid_binlog_pos")[0][0])
    assert one.query("SELECT COUNT(*) FROM d.t") == [(21,)]
    assert (one.query("SELECT @@read_only"), other.query("SELECT @@read_only")) == ([(1,)], [(0,)])
    text = promote(one, other)
    assert "primary" in text and text.count("fenced at") == 2, text
    assert "--acks=2: of 2 servers at least 1 and at most 1" in promote(one, other, acks=2, status=2)


def test_reads_behind_ones_own_writes(pair):
    """What a proxy needs to route a read: the GTID of the write, and a replica that says when it has it."""
    primary, replica = pair
    with Link(primary, SESSION_TRACK | DEPRECATE_EOF) as link, Client(replica) as reader:
        link.query("SET session_track_system_variables = 'last_gtid'")
        for n in range(5):
            done = link.query(f"INSERT INTO d.t VALUES ({n})")
            gtid = link.query("SELECT @@last_gtid").rows[0][0].decode()
            assert done.changes == [(0, [("last_gtid", gtid.encode())])]
            assert reader.rows(f"SELECT MASTER_GTID_WAIT('{gtid}', 20)") == [("0",)]
            assert reader.rows(f"SELECT n FROM d.t WHERE n = {n}") == [(str(n),)]
        # In one statement, and one that does not come in time.
        assert reader.rows(f"SELECT WAIT_FOR_EXECUTED_GTID_SET('{link.query('SELECT @@gtid_executed').rows[0][0].decode()}', 20)") == [("0",)]
        domain, server, seq = gtid.split("-")
        assert reader.rows(f"SELECT MASTER_GTID_WAIT('{domain}-{server}-{int(seq) + 100}', 0.1)") == [("-1",)]
