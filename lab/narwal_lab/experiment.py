"""How an experiment is written.

An experiment is a class in experiments/<name>.py, listed in experiments/__init__.py. It names its cells (what is varied: threads,
durability, added delay ...); the runner measures each cell for all subjects, in interleaved rounds, and keeps a JSON file per cell,
so that an interrupted run goes on where it stopped; the report asks it for tables, figures and a summary in words.

The least that one must say:

    class Example(Experiment):
        name, letter, title = "example", "z", "An example"
        question = "What does the example show?"

        def cells(self, o):
            return [Cell(threads=n) for n in o.only_threads([1, 8, 64])]

        def measure(self, bed, server, subject, cell, round_):
            return bed.load(server, "oltp_write_only", cell["threads"], seed=round_)

        def tables(self, df):
            return [pivot(df, "tps", ["threads"], "Transactions a second")]

        def figures(self, df):
            return [lines(df, x="threads", y="tps", title="...", xlabel="threads", ylabel="transactions/s", log_x=True)]

`df` is a pandas DataFrame with one row per measured run: `subject` (name), `round`, the cell's parameters, everything `measure`
gave (numbers and texts; nested values too), `disk_ms` (fdatasync latency of the disk around the cell) and `error` (text of a
failure, else NaN; such rows have no figures). Only subjects' names are in it; `colours` of plots.py knows their colours.

An experiment that needs servers of its own (kills them, fills them, wants a replica) overrides `run_cell` and takes them by
`bed.fresh(subject, ...)`; it returns the rows itself: `{"subject": name, "round": n, ...}`. `interleaved` gives the order of rounds.
Settings that only one experiment has are asked by `o.setting("example_seconds", 180.0)` and given by `--set example_seconds=60`.
"""

from __future__ import annotations

import traceback
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from testbed.servers import Server, ServerDied

from .bed import Bed
from .load import LoadFailed
from .options import Options
from .subjects import Subject


class Cell(dict):
    """Parameters of one thing to measure, e.g. Cell(durability="D1", threads=8): what is the same for all servers of a row."""

    @property
    def label(self) -> str:
        """For people and as the key of `--cells`: durability=D1 threads=8."""
        return self._label(" ")

    def _label(self, between: str) -> str:
        return between.join(f"{k}={v}" for k, v in self.items())

    @property
    def file(self) -> str:
        """Name of its JSON file."""
        safe = "".join(c if c.isalnum() or c in "=.-_" else "-" for c in self._label("_"))
        return f"{safe or 'all'}.json"


@dataclass
class Table:
    """A table of the report. Numbers are formatted by `formats` (column -> format spec, default ',.3g'-like)."""

    title: str
    frame: pd.DataFrame
    note: str = ""


@dataclass
class Plot:
    """A figure of the report, and what it is called."""

    title: str
    figure: Figure
    note: str = ""


class Experiment(ABC):
    """See the module."""

    name: str
    """On the command line and as folder."""
    letter: str
    """In the report's headings."""
    title: str
    question: str
    """One paragraph for the report: what is varied, what to look at."""
    classic_in_quick = False
    """Whether --quick measures Narwal's classic path too, which takes its time from the others."""
    by_default = True
    """Whether `narwal-lab run` without names includes it."""

    @abstractmethod
    def cells(self, o: Options) -> list[Cell]:
        """What is to be measured, in order."""

    def applies(self, subject: Subject, cell: Cell) -> bool:
        """False for a subject that this cell has no meaning for."""
        return True

    def server_settings(self, subject: Subject, cell: Cell, o: Options) -> dict[str, Any]:
        """Arguments of Bed.server for this cell: durability, data, args, buffer_pool_mib ..."""
        return {"durability": cell.get("durability", "D1")}

    def prepare(self, bed: Bed, server: Server, subject: Subject, cell: Cell) -> None:
        """Before the first round of a cell on each server; by default sysbench's tables."""
        bed.prepare(server)

    def warm_up(self, bed: Bed, server: Server, subject: Subject, cell: Cell) -> None:
        """After `prepare`; by default nothing."""

    def measure(self, bed: Bed, server: Server, subject: Subject, cell: Cell, round_: int) -> dict[str, Any]:
        """One measured run: a flat dict of figures. Called once a round for each server."""
        raise NotImplementedError

    def rounds(self, cell: Cell, o: Options) -> int:
        """Rounds of this cell."""
        return o.rounds

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        """About how many seconds a cell takes, for the progress bar only."""
        return subjects * (self.rounds(cell, o) * (o.seconds + 0.5) + o.warmup)

    def run_cell(self, bed: Bed, cell: Cell) -> list[dict[str, Any]]:
        """Measures the cell for all subjects: prepares and warms up each, then rounds in turn. Failures become rows with `error`."""
        rows: list[dict[str, Any]] = []
        subjects = []
        for subject in bed.subjects:
            if not self.applies(subject, cell):
                continue
            try:
                with bed.turn(subject, **self.server_settings(subject, cell, bed.o)) as server:
                    self.prepare(bed, server, subject, cell)
                    self.warm_up(bed, server, subject, cell)
                subjects.append(subject)
            except FAILURES as e:
                rows.append({"subject": subject.name, "round": 0, "error": describe(e)})
        for round_, subject in interleaved(subjects, self.rounds(cell, bed.o)):
            bed.note(f"{subject.name}: {cell.label}, round {round_ + 1}")
            row: dict[str, Any] = {"subject": subject.name, "round": round_}
            try:
                with bed.turn(subject, **self.server_settings(subject, cell, bed.o)) as server:
                    row |= self.measure(bed, server, subject, cell, round_)
            except FAILURES as e:
                row["error"] = describe(e)
            rows.append(row)
        return rows

    def tables(self, df: pd.DataFrame) -> list[Table]:
        """Tables of the report. Without them only the figures are shown."""
        return []

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        """Figures of the report."""
        return []

    def summary(self, df: pd.DataFrame) -> list[str]:
        """One to three sentences for the top of the report: "Narwal 2.3x MariaDB 10.11.19 at 64 threads (D1)"."""
        return []

    def unmet(self, df: pd.DataFrame) -> list[str]:
        """Promises that this run has measured and not met; `narwal-lab run` ends with exit code 1 then."""
        return []


FAILURES = (LoadFailed, ServerDied, RuntimeError, OSError)
"""What a run of one server may fail with while the others go on (a LabError ends the whole run)."""


def describe(error: BaseException) -> str:
    """A failure as it is kept in a cell's JSON."""
    text = str(error) or "".join(traceback.format_exception_only(error)).strip()
    if len(text) <= 1600:
        return text
    first, _, rest = text.partition("\n")
    return f"{first[:300]}\n...\n{rest[-1200:]}"


def interleaved(subjects: list[Subject], rounds: int) -> Iterator[tuple[int, Subject]]:
    """(round, subject) so that all subjects are measured within each round, each round beginning with another one."""
    for round_ in range(rounds):
        start = round_ % max(1, len(subjects))
        for subject in subjects[start:] + subjects[:start]:
            yield round_, subject
