"""Random queries with window functions against MariaDB: ties, NULLs, partitions, frames of rows and of values, named windows,
groups below and DISTINCT and LIMIT above. And partitions that do not fit into memory.

NARWAL_SEED repeats one choice of queries, NARWAL_QUERIES says how many. Fixed statements and errors stand in
corner/windows.sql."""

from __future__ import annotations

import os
import random

import pytest

from support import Client, differences

COLUMNS = ["v", "d", "f"]
# Where the order of equal rows shows, `id` ends the order.
BY_PLACE = ["ROW_NUMBER()", "NTILE({n})", "LAG({c})", "LAG({c}, {n})", "LEAD({c})", "LEAD({c}, {n})", "LAG({c}, g)", "LEAD(s, v)"]
BY_RANK = ["RANK()", "DENSE_RANK()", "PERCENT_RANK()", "CUME_DIST()"]
VALUES = ["FIRST_VALUE({c})", "LAST_VALUE({c})", "NTH_VALUE({c}, {n})", "FIRST_VALUE(s)", "NTH_VALUE(s, g + 1)"]
AGGREGATES = [
    "COUNT(*)", "COUNT({c})", "SUM({c})", "AVG({c})", "MIN({c})", "MAX({c})", "MIN(s)", "MAX(s)",
    "STD(v)", "STDDEV_SAMP(v)", "VAR_POP(v)", "VAR_SAMP(v)", "SUM(v + d)",
]  # fmt: skip
GROUPS = ["MEDIAN({c})", "PERCENTILE_CONT({p}) WITHIN GROUP (ORDER BY {c}{desc})", "PERCENTILE_DISC({p}) WITHIN GROUP (ORDER BY {c}{desc})"]


class Queries:
    def __init__(self, seed: int):
        self.rng = random.Random(seed)

    def table(self) -> list[str]:
        rng = self.rng

        def value(choices: list) -> str:
            return "NULL" if rng.random() < 0.15 else str(rng.choice(choices))

        rows = [
            f"({i}, {rng.randint(1, 3)}, {value(list(range(9)))}, {value([0.5, 1.25, 1.5, 7, -2.75, 100.01])}, "
            f"{value([0.25, 0.5, -1.75, 3, 1024.5])}, {value(['a', 'B', 'dd', 'ccc', ''])!r})".replace("'NULL'", "NULL")
            for i in range(1, rng.choice([1, 7, 40, 90]))
        ]
        made = ["CREATE TABLE t (id INT PRIMARY KEY, g INT, v INT, d DECIMAL(8,2), f DOUBLE, s VARCHAR(9)) CHARACTER SET utf8mb4"]
        return [*made, *([f"INSERT INTO t VALUES {', '.join(rows)}"] if rows else [])]

    def keys(self, most: int, names: list[str]) -> list[str]:
        return [k + self.rng.choice(["", "", " DESC"]) for k in self.rng.sample(names, self.rng.randint(0, most))]

    def bound(self, end: bool, numbers: list[str]) -> tuple[int, str]:
        n = self.rng.choice(numbers)
        kinds = [(0, "UNBOUNDED PRECEDING")] if not end else [(4, "UNBOUNDED FOLLOWING")]
        kinds += [(1, f"{n} PRECEDING"), (2, "CURRENT ROW"), (3, f"{n} FOLLOWING")]
        return self.rng.choice(kinds)

    def frame(self, unit: str, numbers: list[str]) -> str:
        while True:
            (a, start), (b, end) = self.bound(False, numbers), self.bound(True, numbers)
            # What MariaDB gives for a frame that ends before it begins depends on the rows before (docs/differences.md).
            first, last = (float(b.split()[0]) if b[0].isdigit() else 0 for b in (start, end))
            empty = a == b and (first < last if a == 1 else first > last)
            if a <= b and not empty:
                return f" {unit} BETWEEN {start} AND {end}" if self.rng.random() < 0.9 or a > 2 else f" {unit} {start}"

    def fill(self, call: str) -> str:
        rng = self.rng
        column = rng.choice(COLUMNS)
        return call.format(c=column, n=rng.randint(1, 4), p=rng.choice(["0", "0.1", "0.5", "0.75", "1"]), desc=rng.choice(["", " DESC"]))

    def call(self, names: list[str]) -> str:
        rng = self.rng
        partition = [k.split()[0] for k in self.keys(2, ["g", "s", "v"])]
        over = f"PARTITION BY {', '.join(partition)}" if partition else ""
        kind = rng.choice(["place", "rank", "values", "aggregate", "aggregate", "group"])
        if kind == "group":
            return f"{self.fill(rng.choice(GROUPS))} OVER ({over})"
        order = self.keys(2, ["v", "d", "f", "s", "g"])
        frame = ""
        if kind == "place":
            call = rng.choice(BY_PLACE)
            order.append("id" + rng.choice(["", " DESC"]))
        elif kind == "rank":
            call = rng.choice(BY_RANK)
            order = order or ["g"]
        else:
            call = rng.choice(VALUES if kind == "values" else AGGREGATES)
            unit = rng.choice(["ROWS", "ROWS", "RANGE", "peers", ""])
            if unit == "ROWS" or kind == "values":
                order.append("id")
                frame = self.frame("ROWS", ["1", "2", "3", "10"]) if unit else ""
            elif unit == "RANGE":
                key = rng.choice(COLUMNS)
                order = [key + rng.choice(["", " DESC"])]
                # MariaDB rounds what it adds to an integer (docs/differences.md).
                frame = self.frame("RANGE", ["0", "1", "2", "10"] if key == "v" else ["0", "0.25", "1.5", "2"])
            elif unit == "peers" and order:
                ends = ["UNBOUNDED FOLLOWING", "CURRENT ROW"]
                frame = f" RANGE BETWEEN {rng.choice(['UNBOUNDED PRECEDING', 'CURRENT ROW'])} AND {rng.choice(ends)}"
            if kind == "aggregate" and not frame and rng.random() < 0.2 and names:
                return f"{self.fill(call)} OVER {rng.choice(names)}"
        if order:
            over += f" ORDER BY {', '.join(order)}"
        return f"{self.fill(call)} OVER ({over.strip()}{frame})"

    def next(self) -> str:
        rng = self.rng
        names = ["w", "x"] if rng.random() < 0.3 else []
        # Several calls beside each other disturb one another in MariaDB 10.11 (docs/differences.md).
        calls = [self.call(names)]
        window = " WINDOW w AS (PARTITION BY g), x AS (w ORDER BY v)" if names else ""
        shape = rng.random()
        if shape < 0.1:
            return "SELECT g, SUM(v), SUM(SUM(v)) OVER (ORDER BY g), RANK() OVER (ORDER BY COUNT(*) DESC), MAX(COUNT(*)) OVER () FROM t GROUP BY g"
        if shape < 0.2:
            return f"SELECT DISTINCT g, {calls[0]} AS one FROM t{window}"
        if shape < 0.3:
            return f"SELECT id, {calls[0]} AS one FROM t WHERE id % 3 > 0{window} ORDER BY one, id LIMIT {rng.randint(1, 9)}"
        if shape < 0.4:
            return f"SELECT x.id, x.one FROM (SELECT id, {calls[0]} AS one FROM t{window}) x WHERE x.one > 1"
        if shape < 0.5:
            return f"SELECT id FROM t{window} ORDER BY {calls[0]}, id"
        listed = ", ".join(f"{c} AS c{i}" for i, c in enumerate(calls))
        return f"SELECT id, {listed} FROM t{window}"


@pytest.mark.parametrize("seed", [int(os.environ["NARWAL_SEED"])] if "NARWAL_SEED" in os.environ else [31, 32, 33])
def test_random_queries(both, seed):
    # Of other seeds one query in a thousand meets a fault of MariaDB 10.11.
    count = int(os.environ.get("NARWAL_QUERIES", "400"))
    print(f"seed {seed} (repeat with NARWAL_SEED={seed})")
    queries = Queries(seed)
    for n in range(count):
        if n % 100 == 0:
            made = queries.table()
            for client in both:
                client.ok("DROP TABLE IF EXISTS t")
                for sql in made:
                    client.ok(sql)
        sql = queries.next()
        answers = [client.run(sql) for client in both]
        found = differences(*answers, ordered=" ORDER BY one, id" in sql or sql.startswith("SELECT id FROM"))
        assert not found, f"seed {seed}, query {n} (Narwal | MariaDB):\n  {sql}\n  " + "\n  ".join(found)


ROWS = 60_000
LARGE = [
    "SELECT SUM(r), SUM(o), SUM(a) FROM (SELECT ROW_NUMBER() OVER (ORDER BY s) r, RANK() OVER (ORDER BY k) o, LAG(id, 3) OVER (ORDER BY s) a FROM big) x",
    "SELECT SUM(a), MAX(b), SUM(c) FROM (SELECT SUM(k) OVER (ORDER BY s) a, MAX(id) OVER (PARTITION BY k ORDER BY s ROWS BETWEEN 5 PRECEDING AND 7 "
    "FOLLOWING) b, COUNT(*) OVER (ORDER BY k RANGE BETWEEN 1 PRECEDING AND 1 FOLLOWING) c FROM big) x",
    "SELECT SUM(a), SUM(b), MAX(c), MAX(d) FROM (SELECT NTILE(7) OVER (ORDER BY s) a, LEAD(id, k) OVER (ORDER BY s) b, LAST_VALUE(s) OVER (PARTITION BY k "
    "ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) c, MEDIAN(id) OVER (PARTITION BY k) d FROM big) x",
]


@pytest.fixture
def big(narwal, db):
    with Client(narwal, db) as client:
        client.ok("CREATE TABLE big (id INT PRIMARY KEY, k INT, s VARCHAR(60))")
        client.ok("INSERT INTO big VALUES (1, 1, SHA1(1))")
        have = 1
        while have < ROWS:
            more = min(have, ROWS - have)
            client.ok(f"INSERT INTO big SELECT id + {have}, (id + {have}) % 13, SHA1(id + {have}) FROM big WHERE id <= {more}")
            have += more
        yield client


@pytest.mark.parametrize("sql", LARGE)
def test_partitions_beyond_memory(big, sql):
    wanted = big.rows(sql)
    big.ok("SET sort_buffer_size = 65536, tmp_table_size = 65536, max_heap_table_size = 65536")
    assert big.rows(sql) == wanted


def test_a_time_limit_ends_window_functions(big):
    big.fails("SET STATEMENT max_statement_time = 0.05 FOR " + LARGE[1], 1969)
