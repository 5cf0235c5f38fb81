"""Writes a run's folder as report.html (self-contained), report.md and results.json."""

from __future__ import annotations

import base64
import io
import json
from dataclasses import dataclass, field
from pathlib import Path

import jinja2
import pandas as pd
from pandas.api.types import is_numeric_dtype

from . import plots
from .experiment import Experiment, Table
from .results import experiments_in, frame, load_lab

TEMPLATES = Path(__file__).resolve().parent / "templates"


@dataclass
class Section:
    """An experiment as the templates want it."""

    name: str
    letter: str
    title: str
    question: str
    disk: str
    summary: list[str] = field(default_factory=list)
    tables: list[dict] = field(default_factory=list)
    plots: list[dict] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    unmet: list[str] = field(default_factory=list)


def shown(table: Table) -> dict:
    """A table with formatted cells."""
    columns = [{"name": str(c), "text": not is_numeric_dtype(table.frame[c]) and c != "-"} for c in table.frame.columns]
    rows = [[plots.number(v) for v in row] for row in table.frame.itertuples(index=False, name=None)]
    return {"title": table.title, "note": table.note, "columns": columns, "rows": rows}


def disk_line(cells: list[dict]) -> str:
    """The disk's latency while an experiment ran, for the head of its tables."""
    parts = []
    for kind in ("append", "preallocated overwrite"):
        found = [c["disk"][kind] for c in cells if kind in c["disk"]]
        if found:
            middle = pd.Series([f["median_ms"] for f in found])
            parts.append(f"{kind} {middle.median():.3f} ms ({middle.min():.3f}-{middle.max():.3f})")
    return "Disk, 4 KiB write + fdatasync, median (lowest-highest of the cells): " + ", ".join(parts)


def section(e: Experiment, cells: list[dict]) -> Section:
    """Tables, figures and words of an experiment out of its measured cells."""
    df = frame(cells)
    out = Section(e.name, e.letter, e.title, e.question, disk_line(cells))
    for row in df[df.error.notna()].to_dict("records"):
        params = " ".join(f"{k}={row[k]}" for k in cells[0]["params"])
        out.errors.append(f"{row['subject']}, {params}: {row['error']}")
    ok = plots.good(df)
    if not len(ok):
        return out
    try:
        out.summary, out.unmet = e.summary(ok), e.unmet(ok)
        out.tables = [shown(t) for t in e.tables(ok)]
        for plot in e.figures(ok):
            buffer = io.BytesIO()
            plot.figure.savefig(buffer, format="png", dpi=130)
            data = base64.b64encode(buffer.getvalue()).decode()
            out.plots.append({"title": plot.title, "note": plot.note, "data": data})
    except Exception as error:  # one experiment's broken evaluation must not hide the others' figures
        out.errors.append(f"the evaluation failed: {type(error).__name__}: {error}")
    return out


def caveats(lab: dict, sections: list[Section]) -> list[str]:
    """What a reader must know before believing the figures."""
    out = []
    if lab["options"]["rounds"] < 3:
        out.append(
            f"A first look, not a result: {lab['options']['rounds']} round(s) of {lab['options']['seconds']:g} s. "
            "Use the default settings or --full for medians of 3 interleaved rounds."
        )
    if lab["machine"].get("load_before", 0) > 0.5 * (lab["machine"]["cores"] or 1):
        out.append(f"The machine was busy when this began (load {lab['machine']['load_before']}): compare ratios, not absolute figures.")
    failed = sum(len(s.errors) for s in sections)
    if failed:
        out.append(f"{failed} run(s) failed; they are listed in their sections.")
    return [*lab.get("notes", []), *out]


def write(out: Path) -> Path:
    """Makes the reports of a folder anew; returns the HTML file."""
    lab = load_lab(out)
    plots.know_subjects(lab["subjects"])
    found = experiments_in(out)
    sections = [section(e, cells) for e, cells in found]
    slug = lambda name: "".join(c if c.isalnum() or c == "." else "-" for c in name.lower())  # noqa: E731
    servers = [{**s, "fair": lab.get("fairness", {}).get(slug(s["name"]), {})} for s in lab["subjects"]]
    values = {
        "lab": lab, "sections": sections, "summary": [line for s in sections for line in s.summary],
        "caveats": caveats(lab, sections), "servers": servers,
    }  # fmt: skip
    jinja = jinja2.Environment(loader=jinja2.FileSystemLoader(TEMPLATES), autoescape=True, undefined=jinja2.ChainableUndefined)
    html = out / "report.html"
    html.write_text(jinja.get_template("report.html.j2").render(values))
    (out / "report.md").write_text(markdown(values))
    unmet = [x for s in sections for x in s.unmet]
    results = {"summary": values["summary"], "unmet": unmet, "lab": lab, "experiments": {e.name: cells for e, cells in found}}
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    return html


def markdown(values: dict) -> str:
    """The report without pictures."""
    lab = values["lab"]
    m = lab["machine"]
    lines = ["# Narwal lab", "", f"- {m['date']}, commit {m['commit']}, `{lab['command']}`"]
    lines.append(f"- {m['cpu']}, {m['cores']} cores, {m['memory_gib']} GiB, {m['kernel']}, {m['filesystem']}, {m['sysbench']}")
    lines += [f"- disk, 4 KiB write + fdatasync, {k}: median {v['median_ms']} ms, p95 {v['p95_ms']} ms" for k, v in lab["disk"].items()]
    for s in values["servers"]:
        fair = s["fair"].get("syncs_per_lone_commit")
        lines.append(f"- {s['name']}: {s['version']}" + (f"; {fair} syncs a lone durable commit (needs {s['fair']['needed']:g})" if fair else ""))
    o = lab["options"]
    lines.append(f"- {o['tables']} tables x {o['rows']} rows, {o['rounds']} interleaved rounds of {o['seconds']:g} s, buffer pool {o['buffer_pool_mib']} MiB")
    lines += ["", "## In short", ""] + [f"- {line}" for line in values["summary"]] + [""]
    lines += [f"> {line}" for line in values["caveats"]]
    for s in values["sections"]:
        lines += ["", f"## ({s.letter}) {s.title}", "", s.question, ""]
        for t in s.tables:
            lines += ["", f"### {t['title']}", "", s.disk, ""]
            lines.append("| " + " | ".join(c["name"] for c in t["columns"]) + " |")
            lines.append("|" + "|".join("---" if c["text"] else "---:" for c in t["columns"]) + "|")
            lines += ["| " + " | ".join(row) + " |" for row in t["rows"]]
            if t["note"]:
                lines += ["", t["note"]]
        if s.errors:
            lines += ["", "Failed runs:", ""] + [f"- {e.splitlines()[0]}" for e in s.errors]
    return "\n".join(lines) + "\n"


def outcome(out: Path) -> tuple[list[str], list[str]]:
    """The report's sentences and the promises that are not met, as `write` has left them."""
    results = json.loads((out / "results.json").read_text())
    return results["summary"], results["unmet"]
