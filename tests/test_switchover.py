"""Roles are switched back and forth under load: the primary becomes read-only, its replica takes over, and the former primary follows
it with MASTER_DEMOTE_TO_SLAVE. Nothing acknowledged is lost, nothing stops, and both are equal in the end."""

from __future__ import annotations

import contextlib
import re

import pytest
from conftest import STAND_IN
from support import Client, wait_until

from testbed.load import Load
from testbed.replica import MariaReplica, Replica, gtid_position

# SET GLOBAL read_only in MariaDB waits for statements that wait for rows of transactions that wait for it.
LOCK_WAIT = "--innodb-lock-wait-timeout=1"
MARIADB = (LOCK_WAIT, "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci", "--innodb-snapshot-isolation=ON", "--sync-binlog=1",
           "--innodb-flush-log-at-trx-commit=1")  # fmt: skip


@pytest.fixture
def server(own_narwal_replica, own_replica):
    def make(kind: str) -> Replica:
        if kind == "narwal":
            return own_narwal_replica(*([LOCK_WAIT] if STAND_IN else []), threads=4)
        return own_replica(*MARIADB, log=True, threads=4, mode="optimistic")

    return make


def switch(primary: Replica, replica: Replica, load: Load) -> None:
    """The documented steps, while the load goes on."""
    # A DDL statement that MariaDB has let past its check runs when read_only is set already.
    with load.no_definitions() if isinstance(primary, MariaReplica) else contextlib.nullcontext():
        primary.query("SET GLOBAL read_only = 1")
    # Nobody without the privilege writes any more: what is there now is all there will be.
    end = gtid_position(primary.port)
    replica.wait_applied(end)
    assert gtid_position(primary.port) == end
    replica.stop_slave()
    replica.query("RESET SLAVE ALL")
    replica.query("SET GLOBAL read_only = 0")
    load.move(replica)
    load.wait(5)
    primary.change_master(replica.port, demote_to_slave=1)
    primary.start_slave()


@pytest.mark.parametrize("one, other", [("narwal", "mariadb"), ("narwal", "narwal")])
def test_back_and_forth(server, one, other):
    primary, replica = server(one), server(other)
    ids = {s.server_id for s in (primary, replica)}
    replica.follow(primary.port)
    with Load(primary, "switched", writers=3, user="app", large=0.01) as load:
        for _ in range(4):
            load.wait(60)
            switch(primary, replica, load)
            primary, replica = replica, primary
            replica.wait_running()
            with load.quiet():
                found = replica.same(primary.port)
                assert load.missing(primary) == load.missing(replica) == []
                assert gtid_position(primary.port) == gtid_position(replica.port)
        load.wait(20)
    found = replica.same(primary.port)
    assert found.tables >= 8 and load.missing(replica) == []
    # Each has written under its own server id, one after the other.
    with Client(replica) as client:
        events = [r for f in client.rows("SHOW BINARY LOGS") for r in client.rows(f"SHOW BINLOG EVENTS IN '{f[0]}'")]
    assert {int(re.search(r"GTID 0-(\d+)-", r[5])[1]) for r in events if r[2] == "Gtid"} == ids


@pytest.mark.parametrize("one, other", [("narwal", "mariadb"), ("mariadb", "narwal"), ("narwal", "narwal")])
def test_former_primary_that_died(server, one, other):
    """The primary is killed when its replica has everything; it comes back with its own writes in its log only, and joins by one
    statement. What the replica could not know of is not overwritten: the former primary's position covers it."""
    primary, replica = server(one), server(other)
    replica.follow(primary.port)
    with Load(primary, "failover", writers=3, ddl=False) as load:
        load.wait(40)
        with load.quiet():
            replica.catch_up(primary.port)
            primary.kill()
            replica.stop_slave()
            replica.query("RESET SLAVE ALL")
            load.move(replica)
        load.wait(40)
        primary.start()
        assert primary.position() == "", "it has never been a replica"
        primary.change_master(replica.port, demote_to_slave=1)
        assert primary.position() != ""
        primary.start_slave()
        load.wait(10)
    found = primary.same(replica.port)
    assert found.tables >= 8 and load.missing(primary) == []


def test_demoted_with_local_writes(server):
    """Local writes of the former primary in a domain of its own, which the new one has never seen, do not come back or get lost."""
    primary, replica = server("narwal"), server("narwal")
    replica.follow(primary.port)
    primary.query("CREATE DATABASE d")
    primary.query("CREATE TABLE d.t (id INT PRIMARY KEY)")
    replica.catch_up(primary.port)
    replica.stop_slave()
    replica.query("RESET SLAVE ALL")
    with Client(primary) as client:
        client.ok("SET gtid_domain_id = 7")
        client.ok("CREATE TABLE d.own (id INT PRIMARY KEY)")
    primary.change_master(replica.port, demote_to_slave=1)
    assert sorted(g.split("-")[0] for g in primary.position().split(",")) == ["0", "7"]
    primary.start_slave()
    replica.query("INSERT INTO d.t VALUES (1)")
    primary.catch_up(replica.port)
    assert primary.query("SELECT * FROM d.t") == [(1,)] and primary.query("SHOW TABLES FROM d") == [("own",), ("t",)]
    # Without gtid_slave_pos there is nothing to fold them into.
    primary.stop_slave()
    with Client(primary) as client:
        client.fails("CHANGE MASTER TO MASTER_DEMOTE_TO_SLAVE=1, MASTER_USE_GTID=no", 4191)


@pytest.mark.parametrize("one", ["narwal", "mariadb"])
def test_nothing_acknowledged_is_lost_with_the_primary(server, one):
    """Semi-synchronous, AFTER_SYNC: both die under load, the primary for good. What the replica has acknowledged was durable there."""
    primary, replica = server(one), server("narwal")
    replica.query("SET GLOBAL rpl_semi_sync_slave_enabled = 1")
    replica.follow(primary.port)
    primary.query("SET GLOBAL rpl_semi_sync_master_timeout = 600000")
    primary.query("SET GLOBAL rpl_semi_sync_master_wait_point = AFTER_SYNC")
    primary.query("SET GLOBAL rpl_semi_sync_master_enabled = 1")
    clients = lambda: primary.status("Rpl_semi_sync_master_clients")  # noqa: E731
    wait_until(lambda: list(clients().values()) == ["1"], clients)
    with Load(primary, "semi", writers=4, ddl=False, gtids=True) as load:
        load.wait(80)
        assert primary.status("Rpl_semi_sync_master_no_tx")["Rpl_semi_sync_master_no_tx"] == "0"
        primary.kill()
        replica.kill()
        replica.args.append("--skip-slave-start")
        replica.start()
        assert load.missing(replica) == []
        assert load.not_a_prefix(load.look(replica, "after both ended", position=True)) == ""
