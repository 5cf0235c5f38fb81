"""A real MariaDB replica when things end: restarts and kills of either side under load, purged files, threads and
connections stopped at any moment. It goes on where it stood, and is equal at the end."""

from __future__ import annotations

import random

import pytest

from conftest import STAND_IN
from testbed.load import Load
from support import Client, wait_until


def dump_threads(client: Client) -> list[int]:
    return [int(r[0]) for r in client.rows("SHOW PROCESSLIST") if r[4].startswith("Binlog Dump")]


def end_of(client: Client) -> str:
    return client.value("SELECT @@GLOBAL.gtid_binlog_pos")


def sequence(gtids: str) -> int:
    return max(int(g.split("-")[2]) for g in gtids.split(","))


def purge_to_last(client: Client) -> str:
    """All files but the current one go; MariaDB does so a moment after the last reader has left them."""
    last = client.rows("SHOW BINARY LOGS")[-1][0]

    def purged() -> bool:
        client.ok(f"PURGE BINARY LOGS TO '{last}'")
        return client.rows("SHOW BINARY LOGS")[0][0] == last

    wait_until(purged, lambda: client.rows("SHOW BINARY LOGS"))
    return last


# MariaDB itself recovers its binary log and its tables to different places in mode 0.
@pytest.mark.parametrize("durability", [1, 2] if STAND_IN else [1, 2, 0])
def test_kills_and_restarts_of_both(own_narwal, own_replica, durability):
    """Whatever was killed, the replica is never ahead of what its primary recovered, and equal at the end."""
    rng = random.Random(durability)
    small = ["--sync-binlog=1"] if STAND_IN else ["--binlog-oob-threshold=16K", "--innodb-log-file-size=4M"]
    primary = own_narwal(f"--innodb-flush-log-at-trx-commit={durability}", *small)
    replica = own_replica()
    replica.follow(primary.port)
    with Load(primary, "kills", writers=4, seed=durability) as load:
        load.lossy = durability == 0
        for kind in rng.sample(["kill primary", "kill primary", "kill replica", "stop primary", "stop replica", "kill both"], 6):
            load.wait(rng.randrange(20, 80))
            what, _, which = kind.partition(" ")
            for server in [primary] * (which in ("primary", "both")) + [replica] * (which in ("replica", "both")):
                assert (server.kill() if what == "kill" else server.stop()) in (None, 0)
                if server is primary and which == "primary":
                    # All that came through the socket is applied before the primary lives again.
                    settled = replica_at_rest(replica)
                server.start()
                if server is primary and which == "primary":
                    with Client(primary) as client:
                        assert sequence(settled) <= sequence(end_of(client)), f"after {kind}"
        load.wait(20)
    found = replica.same(primary.port)
    assert found.tables >= 3


def replica_at_rest(replica) -> str:
    """Its position when it has applied all that it received."""
    while True:
        before = replica.slave_status()["Gtid_IO_Pos"]
        if before:
            replica.wait_applied(before)
        if replica.slave_status()["Gtid_IO_Pos"] == before:
            return replica.position() or "0-0-0"


def test_purged_while_away(own_narwal, own_replica):
    primary, replica, late = own_narwal(), own_replica(), own_replica()
    replica.follow(primary.port)
    with Client(primary) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY)")
        replica.catch_up(primary.port)
        replica.stop_slave()
        # Files that it has read already may go.
        client.ok("FLUSH BINARY LOGS")
        client.ok("INSERT INTO d.t VALUES (1)")
        last = purge_to_last(client)
        replica.start_slave()
        replica.same(primary.port)
        # One that needs them from the start is told so, for good.
        late.follow(primary.port)
        assert "1236" in (error := late.wait_error()) and "purged" in error, error
        # As is one whose place is in the middle of what is gone.
        replica.stop_slave()
        client.ok("INSERT INTO d.t VALUES (2)")
        client.ok("FLUSH BINARY LOGS")
        client.ok("INSERT INTO d.t VALUES (3)")
        purge_to_last(client)
        replica.start_slave()
        assert "1236" in (error := replica.wait_error()), error
        assert replica.query("SELECT COUNT(*) FROM d.t") == [(1,)]
        # By file and position as well.
        late.stop_slave()
        late.change_master(primary.port, gtid="no", file=last, pos=4)
        late.start_slave()
        assert "1236" in (error := late.wait_error()), error
        # A new copy of the state is all it takes to go on.
        replica.stop_slave()
        replica.query("INSERT INTO d.t VALUES (2), (3)")
        replica.query(f"SET GLOBAL gtid_slave_pos = '{end_of(client)}'")
        replica.start_slave()
        client.ok("INSERT INTO d.t VALUES (4)")
    replica.same(primary.port)


def test_a_reader_keeps_what_it_reads(own_narwal, own_replica):
    """PURGE while a replica is attached takes nothing that it still has to get."""
    primary, replica = own_narwal("--max-binlog-size=16K", "--innodb-log-file-size=1M"), own_replica()
    replica.follow(primary.port)
    with Load(primary, "kept", writers=4, pause=0) as load:
        with Client(primary) as client:
            for _ in range(10):
                load.wait(15)
                replica.stop_slave("SQL_THREAD") if load.committed % 2 else replica.start_slave("SQL_THREAD")
                client.ok("FLUSH BINARY LOGS")
                client.ok(f"PURGE BINARY LOGS TO '{client.rows('SHOW BINARY LOGS')[-1][0]}'")
    replica.start_slave()
    replica.same(primary.port)
    assert replica.last_error() == ""


def test_stopped_and_killed_threads(followed):
    """STOP and START SLAVE in a loop, KILL of the dump thread, KILL of everything: nothing is lost or comes twice."""
    primary, replica = followed
    rng = random.Random(5)
    replica.wait_running()
    with Load(primary, "stops", writers=3) as load, Client(primary) as client:
        for n in range(20):
            load.wait(rng.randrange(0, 15))
            match n % 4:
                case 0:
                    replica.stop_slave()
                    replica.start_slave()
                case 1:
                    replica.stop_slave("IO_THREAD")
                    replica.start_slave("IO_THREAD")
                case 2:
                    for number in dump_threads(client):
                        client.run(f"KILL {number}")  # 1094 if it has just gone
                case 3:
                    replica.stop_slave("SQL_THREAD")
                    load.wait(10)
                    replica.start_slave("SQL_THREAD")
        # A stop and a start leave no dump thread behind.
        replica.wait_running()
        wait_until(lambda: len(dump_threads(client)) == 1, lambda: client.rows("SHOW PROCESSLIST"))
    replica.same(primary.port)


def test_killed_dump_thread_says_what_it_is(followed):
    primary, replica = followed
    replica.catch_up(primary.port)
    replica.wait_running()
    with Client(primary) as client:
        (row,) = [r for r in client.rows("SHOW PROCESSLIST") if r[4].startswith("Binlog Dump")]
        assert row[6] == "Master has sent all binlog to slave; waiting for more updates", row
        hosts = client.rows("SHOW SLAVE HOSTS")
        assert (str(replica.server_id), f"replica-{replica.server_id}", str(replica.port)) in [h[:3] for h in hosts]
        client.ok(f"KILL {row[0]}")
        wait_until(lambda: dump_threads(client) not in ([], [int(row[0])]), lambda: client.rows("SHOW PROCESSLIST"))
        client.ok("CREATE DATABASE IF NOT EXISTS after_kill")
    replica.same(primary.port)


def test_heartbeats(followed):
    """A short period: a replica that hears nothing for slave_net_timeout would reconnect."""
    primary, replica = followed
    received = lambda: int(replica.status("Slave_received_heartbeats")["Slave_received_heartbeats"])  # noqa: E731
    replica.stop_slave()
    replica.query("SET GLOBAL slave_net_timeout = 1")
    replica.change_master(primary.port, heartbeat_period=0.1)
    replica.start_slave()
    try:
        replica.wait_running()
        with Client(primary) as client:
            (thread,) = dump_threads(client)
            before = received()
            wait_until(lambda: received() >= before + 15, lambda: f"{received() - before} heartbeats")
            assert dump_threads(client) == [thread]
            client.ok("CREATE DATABASE IF NOT EXISTS after_heartbeats")
        replica.catch_up(primary.port)
    finally:
        replica.stop_slave()
        replica.query("SET GLOBAL slave_net_timeout = 20")
        replica.change_master(primary.port)
        replica.start_slave()
    replica.same(primary.port)


def test_another_replica_with_the_same_server_id(followed, own_replica):
    """Only one of the two is served at a time, and the other is told why it is not."""
    primary, replica = followed
    other = own_replica(f"--server-id={replica.server_id}")
    replica.catch_up(primary.port)
    other.follow(primary.port)
    told = lambda r: "same server_uuid/server_id" in r.log_path.read_text(errors="replace")  # noqa: E731
    wait_until(lambda: told(replica) or told(other), lambda: (replica.explain(), other.explain()))
    other.stop()
    replica.stop_slave()
    replica.start_slave()
    with Client(primary) as client:
        client.ok("CREATE DATABASE IF NOT EXISTS after_other")
        replica.same(primary.port)
        (row,) = [h for h in client.rows("SHOW SLAVE HOSTS") if h[0] == str(replica.server_id)]
        assert row[1] == f"replica-{replica.server_id}"


def test_replica_that_does_not_read(followed):
    """A stopped process at the other end, its buffers full: the primary goes on, and so does the replica afterwards."""
    primary, replica = followed
    with Client(primary) as client:
        client.ok("CREATE DATABASE IF NOT EXISTS still")
        client.ok("CREATE TABLE still.t (id INT PRIMARY KEY, v LONGBLOB)")
        replica.catch_up(primary.port)
        replica.pause()
        try:
            for i in range(12):
                client.ok(f"INSERT INTO still.t VALUES ({i}, REPEAT('x', 2000000))")
            for i in range(12):
                client.ok(f"UPDATE still.t SET v = '{i}' WHERE id = {i}")
        finally:
            replica.resume()
    replica.same(primary.port)
