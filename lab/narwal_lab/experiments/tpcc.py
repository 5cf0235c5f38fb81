"""(m) TPC-C's mix of transactions."""

from __future__ import annotations

from typing import Any

import pandas as pd
from testbed import tpcc
from testbed.client import Client

from .. import load
from ..bed import Bed
from ..experiment import Cell, Experiment, Plot, Table
from ..options import Options
from ..plots import bars, per_run, pivot, ratio_sentences


class Tpcc(Experiment):
    name, letter, title = "tpcc", "m", "TPC-C"
    question = (
        "The five transactions of TPC-C in its mix, without think times: short and long ones, locking reads, joins, hot districts. "
        "New orders a minute count; 1 % of them roll back as specified. After each run the specification's consistency conditions 1 to 12 "
        "are checked: `violated` must be 0."
    )

    def cells(self, o: Options) -> list[Cell]:
        return [Cell(warehouses=w, threads=n) for w in o.pick([1], [2], [10]) for n in o.only_threads(o.pick([8], [1, 8, 32], [1, 8, 32, 64]))]

    def size(self, cell: Cell, o: Options) -> dict[str, Any]:
        small = o.pick({"items": 10000, "customers": 300}, {}, {})
        return {"warehouses": cell["warehouses"], **small}

    def estimate(self, cell: Cell, o: Options, subjects: int) -> float:
        return super().estimate(cell, o, subjects) + subjects * o.pick(8, 60, 600)

    def prepare(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        server.sql("DROP DATABASE IF EXISTS sbtest; CREATE DATABASE sbtest")
        load.run(server, "tpcc", "prepare", 1, self.size(cell, bed.o), bed.raw)

    def warm_up(self, bed: Bed, server: Any, subject: Any, cell: Cell) -> None:
        bed.load(server, "tpcc", cell["threads"], bed.o.warmup, 7, measured=False, **self.size(cell, bed.o))

    def measure(self, bed: Bed, server: Any, subject: Any, cell: Cell, round_: int) -> dict[str, Any]:
        client = Client(server.port, "sbtest")
        before = orders(client)
        out = bed.load(server, "tpcc", cell["threads"], None, 1000 + round_, **self.size(cell, bed.o))
        out["new_orders_per_minute"] = (orders(client) - before) * 60 / (out["transactions"] / out["tps"])
        out["violated"] = len(tpcc.violated(client.query))
        client.close()
        return out

    def tables(self, df: pd.DataFrame) -> list[Table]:
        by = ["warehouses", "threads"]
        return [
            pivot(df, "new_orders_per_minute", by, "New orders a minute"),
            per_run(df, by, ["tps", "p50_ms", "p99_ms", "errors", "violated", "cpu_us_per_transaction"], "All transactions"),
        ]

    def figures(self, df: pd.DataFrame) -> list[Plot]:
        return [bars(df, "threads", "new_orders_per_minute", "New orders a minute", "threads", "new orders/min")]

    def summary(self, df: pd.DataFrame) -> list[str]:
        return ratio_sentences(df, "new_orders_per_minute", "threads", "TPC-C, new orders a minute", "threads")


def orders(client: Client) -> int:
    """New orders that have ever been committed, and a constant."""
    return int(client.query("SELECT SUM(d_next_o_id) FROM district")[0][0] or 0)
