"""Reads a run's folder back into data frames."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from .experiment import Experiment
from .experiments import ALL
from .options import LabError


def load_lab(out: Path) -> dict:
    """The folder's lab.json."""
    path = out / "lab.json"
    if not path.exists():
        raise LabError(f"{out} is not the folder of a run (it has no lab.json)")
    return json.loads(path.read_text())


def cells_of(out: Path, experiment: str) -> list[dict]:
    """The measured cells of an experiment, in the order in which they were measured."""
    found = [json.loads(p.read_text()) for p in (out / experiment / "cells").glob("*.json")]
    return sorted(found, key=lambda c: c["at"])


def frame(cells: list[dict]) -> pd.DataFrame:
    """A row per measured run; see experiment.py for its columns."""
    rows = []
    for cell in cells:
        disk = cell["disk"]["preallocated overwrite"]["median_ms"]
        rows += [{**cell["params"], "disk_ms": disk, "error": None, **row} for row in cell["rows"]]
    return pd.DataFrame(rows)


def experiments_in(out: Path) -> list[tuple[Experiment, list[dict]]]:
    """The experiments that have measured cells, in the report's order."""
    return [(kind(), cells) for kind in ALL if (cells := cells_of(out, kind.name))]
