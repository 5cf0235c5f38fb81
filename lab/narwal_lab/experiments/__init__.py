"""All experiments, in the order in which they run and are reported."""

from __future__ import annotations

from ..experiment import Experiment
from .durability import Durability

ALL: list[type[Experiment]] = [
    Durability,
]


def by_name(name: str) -> Experiment | None:
    """The experiment of this name or letter."""
    for kind in ALL:
        if name in (kind.name, kind.letter):
            return kind()
    return None
