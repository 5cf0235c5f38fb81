"""(i) Many threads, one row; many threads, one page."""

from __future__ import annotations

from typing import Any

import pandas as pd

from ..bed import Bed
from ..experiment import Cell, Experiment, Plot, Table
from ..options import Options
from ..plots import bars, lines, per_run, pivot, ratio_sentences

PLACES = {"hot row": "update-one", "hot page": "hot-page", "spread": "update-nonindex"}


class Contention(Experiment):
    name, letter, title = "contention", "i", "Hot row and hot page"
    question = (
        "All threads update one row (each commit waits for the one before it), or each its own row of one page (nothing conflicts but "
        "the page), or rows spread over the tables. A server that holds a row's lock until its commit is on disk can make one commit "
        "a sync or two; one that lets the next transaction have the lock when the order in the log is fixed can put them into a group."
    )

    def cells(self, o: Options) -> list[Cell]:
        threads = o.only_threads(o.pick([64], [1, 8, 32, 64], [1, 2, 4, 8, 16, 32, 64, 128]))
        delays = o.only_delays([0, 2000])
        places = o.pick(["hot row", "hot page"], list(PLACES), list(PLACES))
        delayed = o.pick(["hot row"], ["hot row", "hot page"], ["hot row", "hot page"])
        return [Cell(place=p, delay_us=d, threads=n) for p in places for d in delays for n in threads if not d or p in delayed]

    def warm_up(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        op = PLACES[cell["place"]]
        bed.load(server, "micro", cell["threads"], bed.o.warmup, 7, cell["delay_us"], measured=False, op=op)

    def measure(self, bed: Bed, server: Any, subject: Any, cell: Cell, round_: int) -> dict[str, Any]:
        op = PLACES[cell["place"]]
        return bed.load(server, "micro", cell["threads"], None, 1000 + round_, cell["delay_us"], label=f"-{op}", op=op)

    def tables(self, df: pd.DataFrame) -> list[Table]:
        by = ["place", "delay_us", "threads"]
        return [
            pivot(df, "tps", by, "Updates a second"),
            per_run(df, by, ["p50_ms", "p99_ms", "syncs_per_commit", "cpu_us_per_transaction"], "Latency and cost of an update"),
        ]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        out = []
        for delay, part in df.groupby("delay_us"):
            title = f"Updates a second{f', {delay / 1000:g} ms added to each sync' if delay else ''}"
            if df.threads.nunique() > 1:
                out.append(lines(part, "threads", "tps", title, "threads", "updates/s", panels="place", log_y=True))
            else:
                out.append(bars(part, "place", "tps", f"{title}, {df.threads.iloc[0]} threads", "", "updates/s", log_y=True))
        return out

    def summary(self, df: pd.DataFrame) -> list[str]:
        out = []
        for delay, part in df[df.place == "hot row"].groupby("delay_us"):
            what = f"one hot row{f', {delay / 1000:g} ms added to each sync' if delay else ''}"
            out += ratio_sentences(part, "tps", "threads", what, "threads")
        return out
