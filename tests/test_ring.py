"""A MariaDB, a Narwal and a MySQL that follow each other, with kills: `./torture --ring`, a short one."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "torture"))
from ring import Ring, peers  # noqa: E402


@pytest.mark.skipif(not (peers() / "mysql-8.4" / ".complete").exists(), reason="scripts/peers mysql-8.4 has not been run")
def test_three_kinds_of_servers_in_a_ring(tmp_path):
    seed = random.SystemRandom().randrange(1 << 31)
    ring = Ring(tmp_path, 500, seed, rest=1.0)
    print(f"seed {seed}")
    ring.run()
    print(ring.report())
