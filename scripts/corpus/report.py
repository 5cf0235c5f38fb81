"""Tables of a run: by family, by cause, and between two binaries."""

from __future__ import annotations

import collections
import json

from corpus.explained import KINDS as EXPLAINED, Explained
from corpus.families import FAMILIES, family
from corpus.judge import KINDS, WRONG

_SHORT = {"unjudged": "unj.", "accepted": "acc.", "refused": "ref.", "cascade": "casc."}


def counts(verdicts: dict) -> collections.Counter:
    return collections.Counter(v["kind"] for v in verdicts["verdicts"])


def sameness(n: collections.Counter) -> float:
    judged = sum(n.values()) - n["unjudged"]
    return n["same"] / judged if judged else 1.0


def by_family(results: dict[str, dict]) -> str:
    """A Markdown table: a row for each family."""
    rows: dict[str, collections.Counter] = collections.defaultdict(collections.Counter)
    files: collections.Counter = collections.Counter()
    for name, verdicts in results.items():
        suite, file = name.split(".", 1)
        which = family(suite, file)
        rows[which] += counts(verdicts)
        files[which] += 1
    kinds = [k for k in KINDS if k != "same"]
    lines = ["| family | files | statements | same | % | " + " | ".join(_SHORT.get(k, k) for k in kinds) + " |", "|---" * (5 + len(kinds)) + "|"]
    for which in [f for f in FAMILIES if f in rows] + ["all"]:
        n = sum(rows.values(), collections.Counter()) if which == "all" else rows[which]
        number = sum(files.values()) if which == "all" else files[which]
        cells = [which, number, sum(n.values()), n["same"], f"{100 * sameness(n):.1f}", *(n[k] for k in kinds)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def causes(results: dict[str, dict], limit: int) -> str:
    """The causes by weight: what they refuse, and the cascades behind it."""
    own: collections.Counter = collections.Counter()
    behind: collections.Counter = collections.Counter()
    files: dict[str, set] = collections.defaultdict(set)
    for name, verdicts in results.items():
        for v in verdicts["verdicts"]:
            if cause := v.get("cause"):
                (behind if v["kind"] == "cascade" else own)[cause] += 1
                files[cause].add(name)
    lines = ["   all   itself  behind  files  cause"]
    for cause, n in (own + behind).most_common(limit):
        lines.append(f"{n:6d}  {own[cause]:7d} {behind[cause]:7d} {len(files[cause]):6d}  {cause}")
    return "\n".join(lines)


def details(results: dict[str, dict], kinds: set[str], limit: int, cause: str = "") -> str:
    """The statements of some kinds, with both answers."""
    lines = []
    for name, verdicts in results.items():
        for v in verdicts["verdicts"]:
            if v["kind"] not in kinds or cause not in v.get("cause", ""):
                continue
            lines.append(f"-- {name}:{v.get('line')} {v['kind']}{' (unsure)' if v.get('unsure') else ''} {v.get('cause', '')}")
            lines.append("   " + v.get("text", "")[:600].replace("\n", "\n   "))
            lines += [f"   MariaDB: {short(v.get('right'))}", f"   Narwal:  {short(v.get('got'))}"]
            if len(lines) > 4 * limit:
                return "\n".join(lines)
    return "\n".join(lines)


def unexplained(results: dict[str, dict], limit: int) -> str:
    """Rows that differ with nothing refused before in the file: how many each cause explains, and the others."""
    known = Explained()
    found: collections.Counter = collections.Counter()
    others: list[str] = []
    for name, verdicts in results.items():
        for v in verdicts["verdicts"]:
            if v["kind"] == "refused":
                break
            if v["kind"] not in EXPLAINED:
                continue
            if cause := known.cause(name, v.get("line")):
                found[cause] += 1
                continue
            others.append(f"-- {name}:{v.get('line')} {v['kind']}\n   " + v.get("text", "")[:300].replace("\n", "\n   ")
                          + f"\n   MariaDB: {short(v.get('right'))}\n   Narwal:  {short(v.get('got'))}")  # fmt: skip
    lines = [f"{n:6d}  {cause}" for cause, n in found.most_common()]
    lines.append(f"explained: {found.total()}; unexplained: {len(others)}")
    return "\n".join(lines + others[:limit])


def short(answer: dict | None) -> str:
    if not answer:
        return ""
    if "error" in answer:
        return "error %d %s" % tuple(answer["error"])
    if "lost" in answer:
        return "lost: " + answer["lost"]
    return json.dumps([s.get("rows", s) for s in answer["sets"]], ensure_ascii=False)[:500]


def families_changed(before: dict[str, dict], after: dict[str, dict]) -> str:
    """A Markdown table: each family with both binaries, over the files that both have been asked."""
    sums: dict[str, list] = collections.defaultdict(lambda: [0, collections.Counter(), collections.Counter()])
    for name in before.keys() & after.keys():
        for which in (family(*name.split(".", 1)), "all"):
            sums[which][0] += 1
            sums[which][1] += counts(before[name])
            sums[which][2] += counts(after[name])
    lines = ["| family | files | statements | same before, % | same now, % | refused and behind | wrong answers before | now |", "|---|---|---|---|---|---|---|---|"]
    for which in [f for f in [*FAMILIES, "all"] if f in sums]:
        files, old, new = sums[which]
        wrong = [sum(n[k] for k in WRONG) for n in (old, new)]
        cells = [which, files, sum(new.values()), f"{100 * sameness(old):.1f}", f"{100 * sameness(new):.1f}", new["refused"] + new["cascade"], *wrong]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def changed(before: dict[str, dict], after: dict[str, dict], limit: int) -> str:
    """Which statements got better between two binaries, and which worse. Only files that both have."""
    better: collections.Counter = collections.Counter()
    worse: list[str] = []
    total = [collections.Counter(), collections.Counter()]
    for name in sorted(before.keys() & after.keys()):
        old = {v["n"]: v for v in before[name]["verdicts"]}
        for v in after[name]["verdicts"]:
            was = old.get(v["n"])
            if was is None:
                continue
            total[0][was["kind"]] += 1
            total[1][v["kind"]] += 1
            if badness(v["kind"]) < badness(was["kind"]):
                better[f"{was['kind']} -> {v['kind']}"] += 1
            elif badness(v["kind"]) > badness(was["kind"]):
                worse.append(f"{name}:{v.get('line')} {was['kind']} -> {v['kind']} {v.get('cause', '')}\n    {v.get('text', '')[:200]!r}"
                             f"\n    MariaDB: {short(v.get('right'))[:200]}\n    Narwal:  {short(v.get('got'))[:200]}")  # fmt: skip
    lines = ["better:"] + [f"{n:7d}  {what}" for what, n in better.most_common()]
    lines += [f"worse: {len(worse)}"] + worse[:limit]
    lines += [f"same answer: {100 * sameness(total[0]):.2f} % before, {100 * sameness(total[1]):.2f} % now"]
    return "\n".join([*lines, "", families_changed(before, after)])


def badness(kind: str) -> int:
    """0 right, 1 nobody knows, 2 not done, 3 wrong number, 4 wrong answer, 5 no answer."""
    if kind in ("lost", "hang", "died"):
        return 5
    return 4 if kind in WRONG else {"same": 0, "unjudged": 1, "cascade": 2, "refused": 2}.get(kind, 3)
