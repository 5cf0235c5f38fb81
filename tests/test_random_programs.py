"""Stored programs at random: the server goes on, none outlives its time, memory does not grow. `./fuzz programs` has more of them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import random_programs
from conftest import STAND_IN

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "torture"))
from programs import ProgramsTorture  # noqa: E402


def test_programs_at_random(own_narwal):
    server = own_narwal()
    n, good = random_programs.run(server, 1, lambda n: n < 60)
    # Most fail somewhere; what runs to its end shows that they are programs at all.
    assert n == 60 and good > 20


@pytest.mark.skipif(STAND_IN, reason="kills Narwal's own processes")
def test_source_and_replicas_are_equal_after_kills_under_programs(tmp_path):
    """A short form of `./torture --programs`."""
    torture = ProgramsTorture(tmp_path, statements=300, seed=5, later=False, rest=0.8, least=3)
    torture.run()
    assert torture.writers.done >= 300 and sum(torture.kills.values()) >= 3 and torture.checks >= 3, torture.report()
