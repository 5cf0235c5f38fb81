"""All experiments, in the order in which they run and are reported."""

from __future__ import annotations

from ..experiment import Experiment
from .contention import Contention
from .durability import Durability
from .ferry import Ferry
from .figures import Figures
from .insertbench import InsertBench
from .large import Large
from .logcost import LogCost
from .memory import Memory
from .micro import Micro
from .network import NetworkDurability
from .purge import Purge
from .recovery import Recovery
from .replication import Replication
from .tpcc import Tpcc

ALL: list[type[Experiment]] = sorted(
    [
        Contention, Durability, Ferry, Figures, InsertBench, Large, LogCost, Memory, Micro, NetworkDurability, Purge, Recovery,
        Replication, Tpcc,
    ],
    key=lambda kind: kind.letter,
)  # fmt: skip


def by_name(name: str) -> Experiment | None:
    """The experiment of this name or letter."""
    for kind in ALL:
        if name in (kind.name, kind.letter):
            return kind()
    return None
