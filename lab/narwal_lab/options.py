"""How large and how long a run is: the three modes and what the command line changes of them."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

MODES = ("quick", "normal", "full")


class LabError(Exception):
    """Something that the person at the keyboard must change; shown without a traceback."""


@dataclass
class Options:
    """Settings of a run. A folder's settings are kept in its lab.json; a run that resumes must have the same."""

    mode: str = "normal"
    seconds: float = 10
    """Of one measured run of one server."""
    warmup: float = 3
    """Seconds of load before the first round of a cell; not measured."""
    rounds: int = 3
    """How often each server is measured per cell, in turn with the others; the median counts."""
    tables: int = 4
    rows: int = 100_000
    """Rows per table."""
    buffer_pool_mib: int = 1024
    threads: list[int] | None = None
    """Only these thread counts, where an experiment varies them."""
    delays_us: list[int] | None = None
    """Only these delays added to each sync, where an experiment varies them."""
    cells: str | None = None
    """Only the cells whose label contains this text."""
    extra: dict[str, str] = field(default_factory=dict)
    """Settings of single experiments, `--set NAME=VALUE`."""

    @classmethod
    def of_mode(cls, mode: str) -> Options:
        if mode == "quick":
            return cls(mode, seconds=2, warmup=1, rounds=1, tables=4, rows=20_000, buffer_pool_mib=256)
        if mode == "full":
            return cls(mode, seconds=60, warmup=15, rounds=3, tables=4, rows=1_000_000, buffer_pool_mib=4096)
        return cls(mode)

    def pick(self, quick: Any, normal: Any, full: Any) -> Any:
        """The value for this run's mode."""
        return {"quick": quick, "normal": normal, "full": full}[self.mode]

    def only_threads(self, counts: list[int]) -> list[int]:
        """An experiment's thread counts, as far as --threads leaves them."""
        return [n for n in counts if n in self.threads] if self.threads else counts

    def only_delays(self, delays_us: list[int]) -> list[int]:
        """An experiment's added delays, as far as --delay-us leaves them."""
        return [d for d in delays_us if d in self.delays_us] if self.delays_us is not None else delays_us

    def setting(self, name: str, default: Any) -> Any:
        """A setting of one experiment (`--set name=value`), in the type of its default."""
        if name not in self.extra:
            return default
        text = self.extra[name]
        try:
            if isinstance(default, list):
                kind = type(default[0]) if default else str
                return [kind(x) for x in text.split(",")]
            return type(default)(text)
        except ValueError:
            raise LabError(f"--set {name}={text}: expected something like {default!r}") from None

    def as_json(self) -> dict:
        return asdict(self)
