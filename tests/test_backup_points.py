"""Restores to random moments of a load, compared row by row with what a client saw then. The long form is
`./torture --restore-points 20`."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest
from conftest import STAND_IN

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scripts" / "torture"))
from points import RestorePoints  # noqa: E402

pytestmark = pytest.mark.skipif(STAND_IN, reason="Narwal's own commands")


def test_random_moments(tmp_path):
    torture = RestorePoints(tmp_path / "points", points=6, seconds=3, seed=11)
    torture.run()
    counts = torture.counts
    assert counts["by gtid"] + counts["by position"] == 4 and counts["by datetime"] == 2
    assert torture.rows > 100 and torture.definitions > 3
    # The comparison itself: another moment is not taken for this one.
    first, *_, last = torture.recorded
    assert first.contents.differences(last.contents, ("recording", "copy"))
    assert not first.contents.differences(first.contents, ("recording", "copy"))
    shutil.rmtree(torture.folder)
