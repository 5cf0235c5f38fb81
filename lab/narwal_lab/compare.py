"""`narwal-lab compare`: ratios of two runs, or of the servers of one run, with their spread.

Within a run the servers are measured in turn, round by round, so a ratio of two of them is taken within each round: what the machine does
meanwhile hits both. The runs of two files lie hours apart. Where both have a baseline (MariaDB, MySQL) the ratio to it is
compared, which takes the machine out; else the figures themselves, with the warning that this is not paired.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass
from pathlib import Path

from .options import LabError

METRICS = {
    "tps": 1, "p50_ms": -1, "p99_ms": -1, "p999_ms": -1, "max_ms": -1, "cpu_us_per_transaction": -1,
    "syncs_per_commit": -1, "written_bytes_per_transaction": -1, "peak_mib": -1, "lag_end_s": -1, "drain_s": -1, "ready_s": -1,
    "commit_ms": -1,
}  # fmt: skip
"""What is compared: 1 where more is better, -1 where less is."""
OF_THE_MACHINE = ("tps", "p50_ms", "p99_ms", "p999_ms", "max_ms", "cpu_us_per_transaction", "drain_s", "ready_s", "commit_ms")
"""What a busier machine changes, so that between two runs the ratio to the baseline is compared; the others are compared as they are."""
ENOUGH = 3
"""Rounds that make a result."""
BASELINES = ("mariadb", "mysql")

Key = tuple[tuple[str, str], ...]
Values = dict[int, float]
"""By round."""


@dataclass
class Ratio:
    """How many times the first a second is: median, and the least and most that the rounds give."""

    middle: float
    low: float
    high: float
    rounds: int

    @property
    def decided(self) -> bool:
        """False when the rounds do not even agree on which of the two is more: the spread is wider than the difference."""
        return self.low > 1 or self.high < 1

    def verdict(self, better: int) -> str:
        """In words; `better` as in METRICS."""
        if self.rounds == 1:
            return "one round each: its spread is not known, no result"
        if not self.decided:
            word = "no difference shown: the spread is wider"
        else:
            word = "better" if (self.middle > 1) == (better > 0) else "worse"
        return word if self.rounds >= ENOUGH else f"{word} (only {self.rounds} rounds: a hint, no result)"


def paired(a: Values, b: Values) -> Ratio | None:
    """b / a within each round that both have."""
    ratios = [b[n] / a[n] for n in a if n in b and a[n]]
    if not ratios:
        return None
    return Ratio(statistics.median(ratios), min(ratios), max(ratios), len(ratios))


def unpaired(a: Values, b: Values) -> Ratio | None:
    """b / a of the medians; the spread is that of the lowest of one by the highest of the other, as nothing ties their rounds."""
    first, second = [v for v in a.values() if v], list(b.values())
    if not first or not second:
        return None
    middle = statistics.median(second) / statistics.median(first)
    return Ratio(middle, min(second) / max(first), max(second) / min(first), min(len(first), len(second)))


def relative(values: Values, base: Values) -> Values:
    """Each round's value as a share of the baseline's of the same round."""
    return {n: v / base[n] for n, v in values.items() if base.get(n)}


class Results:
    """A results.json: {experiment: {what was measured: {subject: {metric: values by round}}}}."""

    def __init__(self, data: dict, name: str):
        self.name = name
        lab = data["lab"]
        self.kinds = {s["name"]: s["kind"] for s in lab["subjects"]}
        self.subjects = list(self.kinds)
        self.versions = {s["name"]: s["version"] for s in lab["subjects"]}
        self.when = f"{lab['machine']['date']}, commit {lab['machine']['commit']}"
        self.cpu = lab["machine"].get("cpu")
        self.options = lab["options"]
        self.cells: dict[str, dict[Key, dict[str, dict[str, Values]]]] = {}
        for experiment, cells in data["experiments"].items():
            place = self.cells.setdefault(experiment, {})
            for cell in cells:
                for row in cell["rows"]:
                    if not row.get("error"):
                        self._add(place, cell["params"], row)

    def _add(self, place: dict, params: dict, row: dict) -> None:
        values = place.setdefault(key_of(params, row), {}).setdefault(row["subject"], {})
        for metric in METRICS:
            if isinstance(row.get(metric), (int, float)):
                values.setdefault(metric, {})[row["round"]] = float(row[metric])

    def baseline(self) -> str | None:
        """The first MariaDB or MySQL."""
        return next((n for n, kind in self.kinds.items() if kind in BASELINES), None)


def key_of(params: dict, row: dict) -> Key:
    """What a row is of: the cell's parameters, and what the experiment itself varies within a cell, which are its texts."""
    own = {k: v for k, v in row.items() if isinstance(v, str) and k not in ("subject", "error")}
    return tuple((k, str(v)) for k, v in {**params, **own}.items())


def load(path: Path) -> Results:
    """A results.json, or the folder that it is in."""
    file = path / "results.json" if path.is_dir() else path
    try:
        return Results(json.loads(file.read_text()), str(path))
    except FileNotFoundError:
        raise LabError(f"{path}: there is no results.json (make it by `narwal-lab report {path}`)") from None
    except (ValueError, KeyError, TypeError) as e:
        raise LabError(f"{file} is not a results.json of narwal-lab: {e!r}") from None


def report(a: Path, b: Path | None = None) -> str:
    """Markdown: two runs, or with only one its servers beside its first one."""
    first = load(a)
    return between(first, load(b)) if b else within(first)


def within(r: Results) -> str:
    """The first server of a run beside each of its others, paired by round."""
    subject = r.subjects[0]
    lines = [f"# {r.name}: {subject} beside the other servers of the run", "", f"- {r.when}; {r.options['rounds']} interleaved rounds; "
             "ratios are taken within a round: median (least-most)"]  # fmt: skip
    for other in r.subjects[1:]:
        rows = []
        for experiment, cells in r.cells.items():
            for key, found in cells.items():
                if subject not in found or other not in found:
                    continue
                for metric, better in METRICS.items():
                    a, b = found[other].get(metric), found[subject].get(metric)
                    ratio = paired(a, b) if a and b else None
                    if a and b and ratio:
                        rows.append(_row(experiment, key, metric, a, b, ratio, better))
        lines += _table(f"{subject} / {other}", other, subject, rows)
    return "\n".join(lines) + "\n"


def between(first: Results, second: Results) -> str:
    """Each server that two runs have in common, second / first."""
    lines = [f"# {second.name} beside {first.name}", "", f"- A: {first.when}; B: {second.when}; ratios are B / A: median (least-most)"]
    base = first.baseline()
    base = base if base in second.subjects else None
    if base:
        lines.append(f"- The machine is taken out: rates, latencies and CPU time of the other servers are divided by {base}'s of the same round "
                     "before their ratio is taken. Columns A and B have the figures themselves.")  # fmt: skip
    else:
        lines.append("- NOT PAIRED: no baseline is in both runs, so a busier machine looks like a slower server. Better: both builds "
                     "in one run, `run --narwal A:a --narwal B:b`, then `compare` of that one.")  # fmt: skip
    for what, x, y in (("CPUs", first.cpu, second.cpu), ("settings", sized(first.options), sized(second.options))):
        if x != y:
            lines.append(f"- Different {what}: A {x}, B {y}")
    missing = [f"{e} {_label(k)}" for e, cells in first.cells.items() for k in cells if k not in second.cells.get(e, {})]
    common = [s for s in first.subjects if s in second.subjects]
    if not common:
        raise LabError(f"no server is in both runs: {', '.join(first.subjects)}; {', '.join(second.subjects)}")
    for subject in common:
        if first.versions[subject] != second.versions[subject]:
            lines.append(f"- {subject}: A {first.versions[subject]}, B {second.versions[subject]}")
    for subject in common:
        rows = []
        for experiment, cells in first.cells.items():
            for key, found in cells.items():
                other = second.cells.get(experiment, {}).get(key, {})
                for metric, better in METRICS.items():
                    a, b = found.get(subject, {}).get(metric), other.get(subject, {}).get(metric)
                    if not a or not b:
                        continue
                    if base and subject != base and metric in OF_THE_MACHINE:
                        x, y = (side.get(base, {}).get(metric, {}) for side in (found, other))
                        ratio = unpaired(relative(a, x), relative(b, y)) or unpaired(a, b)
                    else:
                        ratio = unpaired(a, b)
                    if ratio:
                        rows.append(_row(experiment, key, metric, a, b, ratio, better))
        lines += _table(subject, "A", "B", rows)
    if missing:
        lines += ["", f"Only in A: {len(missing)} cells ({'; '.join(missing[:4])}{' ...' if len(missing) > 4 else ''})."]
    return "\n".join(lines) + "\n"


def sized(options: dict) -> str:
    """Of a run's options those that its figures depend on."""
    return ", ".join(f"{k} {options.get(k)}" for k in ("seconds", "warmup", "rounds", "tables", "rows", "buffer_pool_mib"))


def _label(key: Key) -> str:
    return " ".join(f"{k}={v}" for k, v in key)


def _shown(values: Values) -> str:
    from .plots import number

    middle = number(statistics.median(values.values()))
    return middle if len(values) == 1 else f"{middle} ({number(min(values.values()))}-{number(max(values.values()))})"


def _row(experiment: str, key: Key, metric: str, a: Values, b: Values, ratio: Ratio, better: int) -> list[str]:
    text = f"{ratio.middle:.2f}" + (f" ({ratio.low:.2f}-{ratio.high:.2f})" if ratio.rounds > 1 else "")
    return [experiment, _label(key), metric, _shown(a), _shown(b), text, ratio.verdict(better)]


def _table(title: str, a: str, b: str, rows: list[list[str]]) -> list[str]:
    if not rows:
        return ["", f"## {title}", "", "Nothing in common."]
    lines = ["", f"## {title}", "", f"| experiment | cell | figure | {a} | {b} | ratio | verdict |", "|---|---|---|---:|---:|---:|---|"]
    return lines + ["| " + " | ".join(r) + " |" for r in rows]
