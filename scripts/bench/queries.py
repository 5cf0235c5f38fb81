#!/usr/bin/env python3
"""Single queries beside MariaDB 10.11: joins, grouping, sorting and reads that an index alone can answer; latency of one client.

`big` has --rows rows (1,000,000), `small` a tenth of it, each row naming one of `big` by its primary key. Both servers get the same
rows, the same memory, and each query once to warm up; then rounds in turn. The figure is the median of a query's runs. The answers
are compared: a difference is a failure. Wanted is a latency of at most MariaDB's, in each line that is marked `*`.

Called by `./bench --only queries`. With --keep FOLDER the filled data folders stay there and are used again.
"""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.client import Client  # noqa: E402
from testbed.servers import ROOT, MariaDB, Narwal, Server  # noqa: E402

TABLES = """
CREATE TABLE n (i INT PRIMARY KEY);
CREATE TABLE big (id INT PRIMARY KEY, few INT NOT NULL, many INT NOT NULL, k INT NOT NULL, kind VARCHAR(20) NOT NULL,
    name VARCHAR(40) NOT NULL, amount DECIMAL(12,2) NOT NULL, day DATE NOT NULL, pad CHAR(80) NOT NULL, KEY (k), KEY kind_k (kind, k));
CREATE TABLE small (id INT PRIMARY KEY, big_id INT NOT NULL, flag INT NOT NULL, tag INT NOT NULL, note VARCHAR(40), KEY (tag));
"""

# name, query, whether MariaDB's latency is the goal
QUERIES = [
    ("join by key, 0.1 % of small", "SELECT s.id, b.name, b.amount FROM small s JOIN big b ON b.id = s.big_id WHERE s.flag = 7", True),
    ("join by key, 1 %", "SELECT s.id, b.name, b.amount FROM small s JOIN big b ON b.id = s.big_id WHERE s.flag < 10", True),
    ("join by key, 1 %, by index", "SELECT SUM(b.amount), COUNT(*) FROM small s JOIN big b ON b.id = s.big_id WHERE s.tag = 7", True),
    ("join by key, all of small", "SELECT SUM(b.amount), COUNT(*) FROM small s JOIN big b ON b.id = s.big_id", True),
    ("hash join", "SELECT COUNT(*), SUM(b.few) FROM big b JOIN small s ON s.flag = b.many WHERE b.few = 3 AND s.tag < 3", False),
    ("group by few, 100 groups", "SELECT few, COUNT(*), SUM(amount), MAX(k) FROM big GROUP BY few", True),
    ("group by many, 100,000 groups", "SELECT many, COUNT(*), SUM(k) s FROM big GROUP BY many ORDER BY s DESC, many LIMIT 10", True),
    ("group by text", "SELECT kind, COUNT(*), SUM(amount), AVG(k) FROM big GROUP BY kind", True),
    ("group by expression", "SELECT YEAR(day) y, COUNT(*), SUM(amount) FROM big GROUP BY y", True),
    ("one group", "SELECT COUNT(*), SUM(amount), MIN(k), MAX(day) FROM big WHERE few <> 5", True),
    ("count distinct", "SELECT COUNT(DISTINCT many) FROM big", False),
    ("filter by scan", "SELECT id, name FROM big WHERE many = 77", True),
    ("group by index", "SELECT kind, COUNT(*) FROM big GROUP BY kind", True),
    ("distinct by index", "SELECT DISTINCT kind FROM big", True),
    ("min, max of each group by index", "SELECT kind, MIN(k), MAX(k) FROM big GROUP BY kind", True),
    ("min by index", "SELECT MIN(k), MAX(k) FROM big WHERE kind = 'kind 7'", True),
    ("index alone", "SELECT SUM(k) FROM big WHERE k BETWEEN 1000 AND 50000", True),
    ("rows by index", "SELECT SUM(amount) FROM big WHERE k BETWEEN 1000 AND 20000", True),
    ("count rows", "SELECT COUNT(*) FROM big", True),
    ("order by, limit", "SELECT id, name FROM big ORDER BY amount DESC, id LIMIT 10", True),
    ("order by all", "SELECT MAX(x), COUNT(*) FROM (SELECT name x FROM big ORDER BY amount, id LIMIT 900000) t", False),
    ("sort, 100,000 rows sent", "SELECT id, note FROM small ORDER BY note, id", True),
    ("window of pages", "SELECT id, name FROM big ORDER BY id LIMIT 100000, 10", False),
]


def fill(port: int, rows: int) -> None:
    c = Client(port)
    c.query("CREATE DATABASE IF NOT EXISTS q")
    c.query("USE q")
    if c.query("SHOW TABLES LIKE 'done'"):
        return
    for statement in TABLES.split(";\n"):
        if statement.strip():
            c.query(statement)
    c.query("INSERT INTO n VALUES " + ",".join(f"({i})" for i in range(1000)))
    number = "a.i * 1000 + b.i"
    step = 50
    for start in range(0, rows // 1000, step):
        c.query(
            f"INSERT INTO big SELECT x, x * 7919 % 100, x * 104729 % 100003, x * 7907 % 999983, CONCAT('kind ', x * 31 % 200),"
            f" CONCAT('name of ', x * 15485863 % 1000000), x * 179424673 % 10000019 / 100,"
            f" DATE '2001-01-01' + INTERVAL x * 17 % 8000 DAY, REPEAT(CHAR(97 + x % 26), 70)"
            f" FROM (SELECT {number} x FROM n a, n b WHERE a.i >= {start} AND a.i < {min(start + step, rows // 1000)}) t"
        )
    c.query(
        f"INSERT INTO small SELECT x, x * 611953 % {rows}, x * 7919 % 1000, x * 13 % 100, CONCAT('note ', x * 15485863 % 100000)"
        f" FROM (SELECT {number} x FROM n a, n b WHERE a.i < {rows // 10000}) t"
    )
    for table in ("big", "small"):
        c.query(f"ANALYZE TABLE {table}")
    c.query("CREATE TABLE done (i INT)")


def run(server: Server, query: str) -> tuple[float, list]:
    c = Client(server.port, "q")
    try:
        began = time.perf_counter()
        rows = c.query(query)
        return (time.perf_counter() - began) * 1000, rows
    finally:
        c.socket.close()


def main() -> int:
    p = argparse.ArgumentParser(prog="./bench --only queries", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--rows", type=int, default=1_000_000, help="of the larger table, in thousands (default 1,000,000)")
    p.add_argument("--rounds", type=int, default=5)
    p.add_argument("--query", action="append", default=[], help="only those whose name has this text (repeatable)")
    p.add_argument("--keep", metavar="FOLDER", help="where the filled data folders stay")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--mariadb-arg", action="append", default=[], help="a further argument for mariadbd (repeatable)")
    p.add_argument("--pid-file", help="writes Narwal's process id there, for a profiler")
    p.add_argument("--only-narwal", action="store_true", help="without MariaDB")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")))
    o = p.parse_args()
    out = Path(o.out).resolve()
    work = Path(o.keep).resolve() if o.keep else out / "work"
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    buffer = "--innodb-buffer-pool-size=1G"
    servers: list[Server] = [Narwal(work / "narwal", [buffer, *o.narwal_arg], binary=o.narwal)]
    if not o.only_narwal:
        servers.append(MariaDB(work / "mariadb", [buffer, "--performance-schema=OFF", *o.mariadb_arg]))
    cells, failures = [], []
    try:
        for s in servers:
            s.create()
            s.start()
            fill(s.port, o.rows)
            s.sql("ANALYZE TABLE big, small", "q")
        if o.pid_file:
            Path(o.pid_file).write_text(str(servers[0].process.pid))
        for name, query, wanted in QUERIES:
            if o.query and not any(q in name for q in o.query):
                continue
            times: dict[str, list[float]] = {s.name: [] for s in servers}
            answers = []
            for round_ in range(o.rounds + 1):
                for s in servers:
                    ms, rows = run(s, query)
                    if round_:
                        times[s.name].append(ms)
                    else:
                        answers.append(sorted(map(repr, rows)))
            cell = {"query": name, "sql": query, "wanted": wanted, **{n: statistics.median(t) for n, t in times.items()}, "runs": times}
            cells.append(cell)
            line = f"{'*' if wanted else ' '} {name:34}" + "".join(f"{n} {statistics.median(t):9.2f} ms  " for n, t in times.items())
            if not o.only_narwal:
                cell["ratio"] = cell["MariaDB"] / cell["Narwal"]
                line += f"{cell['ratio']:6.2f}x"
                if wanted and cell["ratio"] < 1:
                    failures.append(f"{name}: {cell['ratio']:.2f}")
                if answers[0] != answers[1]:
                    failures.append(f"{name}: the answers differ")
            print(line, flush=True)
    finally:
        for s in servers:
            if o.keep:
                s.stop()
            else:
                s.remove()
    out.mkdir(parents=True, exist_ok=True)
    (out / "queries.json").write_text(json.dumps(cells, indent=1) + "\n")
    print("Not met: " + ("; ".join(failures) or "none"))
    if not o.keep:
        shutil.rmtree(work, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
