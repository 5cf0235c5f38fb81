"""Runs experiments cell by cell into a folder, and goes on where an interrupted run stopped.

Layout of the folder: lab.json (settings, machine, servers), <experiment>/cells/<cell>.json (parameters, the disk's latency around it,
rows), raw/ (sysbench's output, samples, server logs), report.html, report.md, results.json (everything in one file, for `compare`).
"""

from __future__ import annotations

import json
import math
import signal
import sys
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from . import environment
from .bed import Bed
from .experiment import Cell, Experiment
from .options import LabError, Options
from .subjects import Subject

console = Console(stderr=True, highlight=False)


def _plain(value: Any) -> Any:
    """JSON has no NaN: such figures are kept as null."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value.item() if hasattr(value, "item") else value


def write_json(path: Path, value: Any) -> None:
    """Whole or not at all: a run may be interrupted at any moment."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    partial.write_text(json.dumps(_plain(value), indent=1) + "\n")
    partial.rename(path)


def open_folder(out: Path, options: Options, subjects: list[Subject]) -> dict:
    """The folder's lab.json, made if this is a new folder; a LabError when it holds a run with other settings."""
    path = out / "lab.json"
    servers = [environment.subject(s, options.buffer_pool_mib) for s in subjects]
    if path.exists():
        lab = json.loads(path.read_text())
        before, now = lab["options"], options.as_json()
        # What chooses among cells may change from call to call; what a cell is measured with may not.
        chosen = ("cells", "threads", "delays_us")
        changed = [f"{k} {before.get(k)} -> {now[k]}" for k in now if k not in chosen and before.get(k) != now[k]]
        was = {s["name"]: (s["version"], s["args"]) for s in lab["subjects"]}
        for s in servers:
            if s["name"] in was and list(was[s["name"]]) != [s["version"], s["args"]]:
                changed.append(f"{s['name']} {was[s['name']]} -> {(s['version'], s['args'])}")
        if set(was) != {s["name"] for s in servers}:
            changed.append(f"servers {sorted(was)} -> {sorted(s['name'] for s in servers)}")
        if changed:
            raise LabError(f"{out} holds a run with other settings ({'; '.join(changed)}): give the same ones, or another --out")
        return lab
    out.mkdir(parents=True, exist_ok=True)
    lab = {"machine": environment.machine(out), "options": options.as_json(), "subjects": servers, "command": command_line()}
    lab["disk"] = environment.disk(out)
    write_json(path, lab)
    return lab


def command_line() -> str:
    """The command that a reader repeats."""
    return "./narwal-lab " + " ".join(sys.argv[1:])


class Run:
    """One call of `narwal-lab run`."""

    def __init__(self, out: Path, options: Options, subjects: list[Subject], experiments: list[Experiment]):
        self.out, self.o, self.subjects, self.experiments = out, options, subjects, experiments
        self.lab = open_folder(out, options, subjects)
        self.todo: list[tuple[Experiment, Cell, Path]] = []
        self.done = 0
        for e in experiments:
            for cell in e.cells(options):
                if options.cells and options.cells not in cell.label:
                    continue
                path = out / e.name / "cells" / cell.file
                if path.exists() and not any(r.get("error") for r in json.loads(path.read_text())["rows"]):
                    self.done += 1
                else:
                    self.todo.append((e, cell, path))

    def seconds(self) -> float:
        """About how long the cells take that are still to be measured."""
        return sum(e.estimate(c, self.o, len(self.subjects_of(e))) for e, c, _ in self.todo) + 12 * len(self.subjects)

    def subjects_of(self, e: Experiment) -> list[Subject]:
        """The servers that an experiment measures in this run's mode."""
        return [s for s in self.subjects if s.kind != "classic" or self.o.mode != "quick" or e.classic_in_quick]

    def go(self) -> None:
        """Measures what is missing. Ends every server that it started, also when interrupted."""
        if not self.todo:
            return
        previous = signal.signal(signal.SIGTERM, signal.default_int_handler)
        progress = Progress(
            TextColumn("[bold]{task.fields[what]}"), BarColumn(), TextColumn("{task.percentage:>3.0f}%"), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(elapsed_when_finished=True), TextColumn("[dim]{task.fields[note]}"),
            console=console, transient=True, refresh_per_second=2,
        )  # fmt: skip
        try:
            with progress:
                task = progress.add_task("run", total=self.seconds(), what="lab", note="")
                note = lambda text: progress.update(task, note=text)  # noqa: E731
                with Bed(self.out, self.subjects, self.o, note) as bed:
                    bed.fairness.update(self.lab.get("fairness", {}))
                    self._cells(bed, progress, task)
        finally:
            signal.signal(signal.SIGTERM, previous)

    def _cells(self, bed: Bed, progress: Progress, task: TaskID) -> None:
        for e, cell, path in self.todo:
            progress.update(task, what=f"({e.letter}) {e.title}: {cell.label}")
            began = time.monotonic()
            bed.pause_all()
            bed.subjects = self.subjects_of(e)
            disk = environment.disk(self.out, 100)
            rows = e.run_cell(bed, cell)
            took = time.monotonic() - began
            write_json(path, {
                "experiment": e.name, "params": dict(cell), "disk": disk, "at": time.strftime("%Y-%m-%d %H:%M:%S"),
                "took_s": round(took, 1), "rows": rows,
            })  # fmt: skip
            if bed.fairness != self.lab.get("fairness"):
                self.lab["fairness"] = dict(bed.fairness)
                write_json(self.out / "lab.json", self.lab)
            progress.advance(task, e.estimate(cell, self.o, len(self.subjects_of(e))))
            self._tell(progress.console, e, cell, rows, took)

    def _tell(self, to: Console, e: Experiment, cell: Cell, rows: list[dict], took: float) -> None:
        """A line per cell above the progress bar: what has just been found."""
        parts = []
        for name in dict.fromkeys(r["subject"] for r in rows):
            own = [r for r in rows if r["subject"] == name]
            rates = sorted(r["tps"] for r in own if r.get("tps") is not None)
            if rates:
                parts.append(f"{name} {rates[len(rates) // 2]:,.0f}/s")
            elif all(r.get("error") for r in own):
                parts.append(f"[red]{name}: {str(own[0]['error']).splitlines()[0][:120]}[/red]")
        to.print(f"({e.letter}) {cell.label}: {'  '.join(parts) or 'measured'}  [dim]{took:.0f} s[/dim]")
