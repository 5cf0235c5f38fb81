"""Narwal and MariaDB behind each other in every role, under load with kills and cut links: the torture's topologies, each for a
few seconds and one seed. `./torture --topology` runs them for longer."""

from __future__ import annotations

import shutil
import struct
import sys
import time
from pathlib import Path

import pytest
from conftest import STAND_IN

from testbed.replica import ReplicaFailed, gtid_position
from testbed.topology import Topology

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "torture"))
from topologies import TopologyTorture  # noqa: E402

# kill -9 takes nothing from the operating system: no need to wait for the disk most of the time.
MODES = (2, 2, 2, 1, 0)


def run(topology: Topology, **options) -> TopologyTorture:
    torture = TopologyTorture(topology, **options)
    try:
        torture.run()
    except BaseException:
        print(f"{torture.so_far()}; folders are in {topology.folder}\n{topology.describe()}")
        raise
    shutil.rmtree(topology.folder)
    return torture


@pytest.mark.parametrize("shape", ["chain", "mariadb-source", "fan-out", "circular", "multi-source"])
def test_topology(tmp_path, shape):
    torture = run(Topology(shape, tmp_path, seed=5, stand_in=STAND_IN, modes=MODES, writers=2, large=0.005), seconds=6, rest=0.7)
    assert torture.comparisons == 1 and torture.t.committed > 50 and torture.t.looks > 0


def test_pair_of_narwals(tmp_path):
    """Kills of the replica, the primary and both: after each the replica is exactly where its position says."""
    torture = run(Topology("pair", tmp_path, seed=7, stand_in=STAND_IN, modes=MODES, writers=2, large=0.02), kills=8, rest=0.5)
    assert torture.killed >= 8 and torture.t.looks > 8


def test_an_event_that_a_killed_mariadb_has_half_written_stops_nobody(tmp_path):
    topology = Topology("chain", tmp_path, seed=5, stand_in=STAND_IN, modes=MODES, writers=2, ddl=False)
    with topology as t:
        (load,) = t.loads
        load.wait(20)
        _, middle, last = t.nodes
        # Who has all of a file begins with the next one.
        last.server.stop_slave()
        load.wait(20)
        t.kill(middle)
        log = max((tmp_path / middle.name).rglob("replica-bin.0*"))
        with log.open("ab") as f:  # an event's header: type 19, 1 MB
            f.write(struct.pack("<IBIIIH", int(time.time()), 19, 2, 1_000_000, 0, 0))
        middle.server.start(120)
        last.server.start_slave()
        end = time.monotonic() + 30
        while log.exists() and time.monotonic() < end:
            assert t.faults() == []
            time.sleep(0.1)
        assert not log.exists(), "nobody came to its end"
        load.wait(20)
        t.compare()
    shutil.rmtree(tmp_path)


def test_the_checks_see_lost_transactions(tmp_path):
    """A replica that is told that it has what it has not is found out, by its marks and in the end."""
    topology = Topology("pair", tmp_path, seed=1, stand_in=STAND_IN, modes=MODES, writers=2, ddl=False)
    with topology as t:
        primary, replica = (n.server for n in t.nodes)
        (load,) = t.loads
        load.wait(20)
        replica.catch_up(primary.port)
        replica.stop_slave()
        t.look(t.nodes[1], "as it is", position=True)
        assert t.not_prefixes() == []
        load.wait(20)
        replica.query(f"SET GLOBAL gtid_slave_pos = '{gtid_position(primary.port)}'")
        load.wait(10)
        t.look(t.nodes[1], "moved", position=True)
        assert t.not_prefixes() != []
        replica.start_slave()
        with pytest.raises((AssertionError, ReplicaFailed)):
            t.compare()
    shutil.rmtree(tmp_path)
