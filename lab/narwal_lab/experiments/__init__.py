"""All experiments, in the order in which they run and are reported."""

from __future__ import annotations

from ..experiment import Experiment
from .contention import Contention
from .durability import Durability
from .insertbench import InsertBench
from .large import Large
from .micro import Micro
from .recovery import Recovery

ALL: list[type[Experiment]] = sorted([Contention, Durability, InsertBench, Large, Micro, Recovery], key=lambda kind: kind.letter)


def by_name(name: str) -> Experiment | None:
    """The experiment of this name or letter."""
    for kind in ALL:
        if name in (kind.name, kind.letter):
            return kind()
    return None
