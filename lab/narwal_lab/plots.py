"""Tables and figures that experiments share: one colour per server, axes with units, medians of the rounds."""

from __future__ import annotations

from collections.abc import Sequence

import matplotlib

matplotlib.use("Agg")
import pandas as pd  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator  # noqa: E402

from .experiment import Plot, Table  # noqa: E402

COLUMNS = {
    "tps": "TPS", "qps": "queries/s", "p50_ms": "p50 ms", "p95_ms": "p95 ms", "p99_ms": "p99 ms", "p999_ms": "p99.9 ms",
    "max_ms": "max ms", "avg_ms": "mean ms", "syncs_per_commit": "syncs per commit", "cpu_us_per_transaction": "server CPU, us per trx",
    "written_bytes_per_transaction": "bytes to disk per trx",
    "rss_mib": "RSS MiB", "peak_mib": "peak RSS MiB", "delay_us": "added per sync, us", "disk_ms": "disk fdatasync ms",
}  # fmt: skip
"""Headings of columns; others are shown by their name."""

_colours: dict[str, str] = {}
_order: list[str] = []
_baselines: list[str] = []


def know_subjects(subjects: Sequence[dict]) -> None:
    """Tells name, colour and kind of the servers of a report, in the order in which they are shown."""
    _colours.clear()
    _order.clear()
    _baselines.clear()
    for s in subjects:
        _colours[s["name"]] = s["colour"]
        _order.append(s["name"])
        if s["kind"] in ("mariadb", "mysql"):
            _baselines.append(s["name"])


def colour(subject: str) -> str:
    """The server's colour, the same in all plots of a report."""
    return _colours.get(subject, "#555555")


def subjects_in(df: pd.DataFrame) -> list[str]:
    """The servers of a frame in the report's order."""
    present = list(df.subject.unique())
    return [s for s in _order if s in present] + [s for s in present if s not in _order]


def base_of(df: pd.DataFrame) -> str | None:
    """The server that ratios are to: the first MariaDB or MySQL of the frame, else its second server (classic, another build)."""
    names = subjects_in(df)
    return next((b for b in _baselines if b in names), names[1] if len(names) > 1 else None)


def subject_under_test(df: pd.DataFrame) -> str | None:
    """The server that ratios are of: the first Narwal."""
    names = subjects_in(df)
    return names[0] if names else None


def good(df: pd.DataFrame) -> pd.DataFrame:
    """Without the runs that failed."""
    return df[df.error.isna()] if "error" in df else df


def medians(df: pd.DataFrame, by: Sequence[str], values: Sequence[str]) -> pd.DataFrame:
    """Median over the rounds of each value, by parameters and subject."""
    values = [v for v in values if v in df]
    return good(df).groupby([*by, "subject"], sort=False, dropna=False)[values].median(numeric_only=True).reset_index()


def paired_ratio(df: pd.DataFrame, value: str, by: Sequence[str], subject: str, base: str) -> pd.DataFrame:
    """Ratio subject/base of runs of the same round: median, lowest and highest, by parameters (columns ratio, low, high)."""
    keys = [*by, "round"]
    ok = good(df)
    a = ok[ok.subject == subject].groupby(keys, sort=False, dropna=False)[value].median()
    b = ok[ok.subject == base].groupby(keys, sort=False, dropna=False)[value].median()
    ratio = (a / b).replace([float("inf"), float("-inf")], float("nan")).dropna().rename("ratio").reset_index()
    if not by:
        return pd.DataFrame([{"ratio": ratio.ratio.median(), "low": ratio.ratio.min(), "high": ratio.ratio.max()}])
    out = ratio.groupby(list(by), sort=False, dropna=False).ratio.agg(["median", "min", "max"]).reset_index()
    return out.rename(columns={"median": "ratio", "min": "low", "max": "high"})


def number(value: object) -> str:
    """A figure as tables show it: about three significant digits, thousands separated."""
    if value is None or (isinstance(value, float) and value != value):
        return "-"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if value == 0:
        return "0"
    if isinstance(value, int) or float(value).is_integer() and abs(value) >= 100:
        return f"{value:,.0f}"
    size = abs(value)
    return f"{value:,.0f}" if size >= 1000 else f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 1 else f"{value:.3f}"


def heading(column: str) -> str:
    """What a column is called in a table."""
    return COLUMNS.get(column, column.replace("_", " ").replace(" mib", " MiB"))


def pivot(df: pd.DataFrame, value: str, by: Sequence[str], title: str, ratios: bool = True, note: str = "") -> Table:
    """A row per combination of parameters, a column per server with the median; with the ratios of Narwal to each other server.

    A ratio is the median of the rounds' ratios, with the lowest and highest behind it when there are several rounds.
    """
    mid = medians(df, by, [value])
    names = subjects_in(df)
    frame = pd.DataFrame([dict(zip(by, k, strict=True)) for k in _keys(df, by)])
    for name in names:
        column = mid[mid.subject == name].set_index(list(by))[value] if by else None
        frame[name] = [_at(column, k) for k in _keys(df, by)]
    subject = subject_under_test(df)
    several = df["round"].nunique() > 1
    for other in [n for n in names if n != subject] if ratios and subject else []:
        pairs = {tuple(r[b] for b in by): r for r in paired_ratio(df, value, by, subject, other).to_dict("records")}
        shown = []
        for k in _keys(df, by):
            r = pairs.get(k)
            text = "-" if r is None else f"{r['ratio']:.2f}"
            shown.append(text + (f" ({r['low']:.2f}-{r['high']:.2f})" if r is not None and several else ""))
        frame[f"{subject} / {other}"] = shown
    if "disk_ms" in df:
        disk = df.groupby(list(by), sort=False, dropna=False).disk_ms.median()
        frame["disk fdatasync ms"] = [_at(disk, k) for k in _keys(df, by)]
    return Table(title, frame.rename(columns={b: heading(b) for b in by}), note)


def per_run(df: pd.DataFrame, by: Sequence[str], values: Sequence[str], title: str, note: str = "") -> Table:
    """A row per combination of parameters and server, a column per value with the median."""
    mid = medians(df, by, values)
    order = {s: i for i, s in enumerate(subjects_in(df))}
    keys = {k: i for i, k in enumerate(_keys(df, by))}
    mid["_k"] = [keys[tuple(r)] for r in mid[list(by)].itertuples(index=False, name=None)] if by else 0
    mid["_s"] = mid.subject.map(order)
    mid = mid.sort_values(["_k", "_s"]).drop(columns=["_k", "_s"])
    columns = [*by, "subject", *[v for v in values if v in mid]]
    return Table(title, mid[columns].rename(columns={"subject": "server", **{c: heading(c) for c in columns if c != "subject"}}), note)


def _keys(df: pd.DataFrame, by: Sequence[str]) -> list[tuple]:
    return list(dict.fromkeys(df[list(by)].itertuples(index=False, name=None))) if by else [()]


def _at(column: pd.Series | None, key: tuple) -> float:
    if column is None:
        return float("nan")
    try:
        return float(column.loc[key if len(key) > 1 else key[0]])
    except KeyError:
        return float("nan")


def lines(
    df: pd.DataFrame, x: str, y: str, title: str, xlabel: str, ylabel: str, panels: str | None = None,
    log_x: bool = True, log_y: bool = False, note: str = "",
) -> Plot:  # fmt: skip
    """A line per server through its medians, a bar from the lowest to the highest round; one panel per value of `panels`."""
    df = good(df)
    values = list(dict.fromkeys(df[panels])) if panels else [None]
    figure = Figure(figsize=(4.2 * max(1, len(values)) + 0.8, 3.6), layout="constrained")
    axes = figure.subplots(1, max(1, len(values)), sharey=True, squeeze=False)[0]
    for ax, value in zip(axes, values, strict=False):
        part = df[df[panels] == value] if panels else df
        ticks = sorted(part[x].unique())
        for name in subjects_in(part):
            own = part[part.subject == name].groupby(x)[y].agg(["median", "min", "max"]).sort_index()
            if own["median"].isna().all():
                continue
            ax.errorbar(
                own.index, own["median"], yerr=[own["median"] - own["min"], own["max"] - own["median"]], marker="o", markersize=4,
                linewidth=1.8, capsize=2, color=colour(name), label=name,
            )  # fmt: skip
        if log_x and len(ticks) and min(ticks) > 0:
            ax.set_xscale("log", base=2)
            ax.set_xticks(ticks)
            ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
            ax.xaxis.set_minor_locator(NullLocator())
        finish(ax, f"{panels} {value}" if panels else "", xlabel, ylabel, log_y)
    if not log_y and len(df) and df[y].notna().any():
        axes[0].set_ylim(0, df[y].max() * 1.06 or 1)
    handles = {label: h for ax in axes for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    if handles:
        figure.legend(handles.values(), handles.keys(), fontsize=8, loc="outside upper left", ncols=4, frameon=False)
    return Plot(title, figure, note)


def bars(df: pd.DataFrame, x: str, y: str, title: str, xlabel: str, ylabel: str, log_y: bool = False, note: str = "") -> Plot:
    """A group of bars per value of `x`, one bar per server (median, with the rounds' extent)."""
    df = good(df)
    groups = list(dict.fromkeys(df[x]))
    names = subjects_in(df)
    figure = Figure(figsize=(max(5.0, 0.9 * len(groups) + 0.25 * len(groups) * len(names) + 1.5), 3.8), layout="constrained")
    ax = figure.subplots()
    width = 0.8 / max(1, len(names))
    for i, name in enumerate(names):
        own = df[df.subject == name].groupby(x)[y].agg(["median", "min", "max"]).reindex(groups)
        places = [g + (i - (len(names) - 1) / 2) * width for g in range(len(groups))]
        ax.bar(places, own["median"], width * 0.92, color=colour(name), label=name,
               yerr=[own["median"] - own["min"], own["max"] - own["median"]], capsize=2)  # fmt: skip
    ax.set_xticks(range(len(groups)))
    ax.set_xticklabels([str(g) for g in groups], rotation=30 if max((len(str(g)) for g in groups), default=0) > 9 else 0,
                       ha="right" if max((len(str(g)) for g in groups), default=0) > 9 else "center")  # fmt: skip
    finish(ax, "", xlabel, ylabel, log_y)
    if not log_y:
        ax.set_ylim(bottom=0)
    if names:
        figure.legend(fontsize=8, loc="outside upper left", ncols=4, frameon=False)
    return Plot(title, figure, note)


def relative_bars(df: pd.DataFrame, x: str, y: str, title: str, xlabel: str, note: str = "") -> Plot:
    """As `bars`, of each server's ratio to the base (`base_of`), whose own value is the line at 1."""
    base = base_of(df)
    parts = [
        paired_ratio(df, y, [x], name, base).assign(subject=name) for name in subjects_in(df) if base is not None and name != base
    ]
    if not parts:
        return bars(df, x, y, title, xlabel, heading(y), note=note)
    ratios = pd.concat(parts)
    long = pd.concat([ratios.assign(value=ratios[c], round=i) for i, c in enumerate(("low", "ratio", "high"))])
    order = {v: i for i, v in enumerate(dict.fromkeys(df[x]))}
    plot = bars(long.sort_values(x, key=lambda s: s.map(order)), x, "value", title, xlabel, f"ratio to {base}", note=note)
    plot.figure.axes[0].axhline(1, color=colour(base), linewidth=1.5)
    return plot


def pair_bars(rows: Sequence[tuple[str, float, float, bool]], title: str, note: str = "") -> Plot:
    """A horizontal bar per (label, value, wanted, met), with a mark at what is wanted."""
    figure = Figure(figsize=(9, 0.24 * len(rows) + 1.2), layout="constrained")
    ax = figure.subplots()
    places = range(len(rows))
    ax.barh(places, [r[1] - 1 for r in rows], left=1, height=0.7, color=["#1769aa" if r[3] else "#d98c84" for r in rows])
    for place, (_, value, _, _) in zip(places, rows, strict=True):
        ax.annotate(f"{value:.2f}", (value, place), (4 if value >= 1 else -4, 0), textcoords="offset points", va="center",
                    ha="left" if value >= 1 else "right", fontsize=7)  # fmt: skip
    ends = [r[1] for r in rows] + [r[2] for r in rows]
    ax.set_xlim(max(0.01, min(ends)) / 1.6, max(ends) * 1.6)
    ax.scatter([r[2] for r in rows], list(places), marker="|", s=90, color="black", zorder=3, label="wanted")
    ax.set_yticks(places)
    ax.set_yticklabels([r[0] for r in rows], fontsize=7.5)
    ax.invert_yaxis()
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.axvline(1, color="#888888", linewidth=0.8)
    ax.set_xlabel("ratio (red: not met)")
    ax.legend(fontsize=8, loc="lower right")
    ax.grid(True, axis="x", alpha=0.25)
    return Plot(title, figure, note)


def timeline(df: pd.DataFrame, curve: str, title: str, xlabel: str, ylabel: str, note: str = "") -> Plot:
    """A line per server over time; the column `curve` has lists of [x, y]. Only the first round of each server is shown."""
    figure = Figure(figsize=(8.5, 3.4), layout="constrained")
    ax = figure.subplots()
    for name in subjects_in(df):
        points = good(df)[good(df).subject == name][curve].iloc[:1]
        for p in points:
            ax.plot([x for x, _ in p], [y for _, y in p], color=colour(name), label=name, linewidth=1.5)
    finish(ax, "", xlabel, ylabel, False)
    ax.set_ylim(bottom=0)
    ax.legend(fontsize=8)
    return Plot(title, figure, note)


def finish(ax, title: str, xlabel: str, ylabel: str, log_y: bool) -> None:
    """Axes as all figures have them, once everything is drawn: texts, numbers of the scale, a grid."""
    ax.set_title(title, fontsize=10)
    ax.set_xlabel(xlabel)
    ax.set_ylabel(ylabel)
    if log_y:
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if abs(v) >= 10 else f"{v:g}"))
    ax.grid(True, alpha=0.25)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def ratio_sentences(df: pd.DataFrame, value: str, x: str, what: str, unit: str, order: Sequence | None = None) -> list[str]:
    """ "Narwal 2.3x MariaDB 10.11.19 at 64 threads, 1.8x at 1: durable commits" for each server that Narwal is compared with."""
    subject = subject_under_test(df)
    out = []
    for other in [n for n in subjects_in(df) if n != subject] if subject else []:
        pairs = paired_ratio(df, value, [x], subject, other)
        pairs = pairs.sort_values(x, key=(lambda c: c.map(list(order).index)) if order else None)
        if not len(pairs):
            continue
        parts = [f"{r.ratio:.2f}x {'in' if order else 'at'} {getattr(r, x)}" for r in pairs.itertuples()]
        out.append(f"{subject} beside {other}, {what}: " + ", ".join(parts) + (f" {unit}." if unit else "."))
    return out
