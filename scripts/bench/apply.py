#!/usr/bin/env python3
"""How fast a replica applies a log that is there already: Narwal and MariaDB 10.11 at several numbers of apply threads.

A source, once Narwal and once MariaDB, gets sysbench's tables, which a replica of each kind copies and then is stopped. The source
is written to by --transactions of oltp_write_only. Then each replica begins from a copy of its folder: the time from START SLAVE
until it has applied the last of them, while the source does nothing but send. All sync each commit or group of commits, and all write a
binary log of their own; `MariaDB, no log` writes none. The replica's rows are compared with the source's at the end.

Called by `./bench --only apply`.
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
from testbed import syncshim  # noqa: E402
from testbed.following import binlog_end, content, copy, cpu_seconds, prepare, sequence, server, sysbench, wait_for  # noqa: E402
from testbed.replica import Replica  # noqa: E402
from testbed.servers import ROOT, narwal_binary  # noqa: E402

WANTED = 2.0
KINDS = ("Narwal", "MariaDB", "MariaDB, no log")


def replica(kind: str, folder: Path, o: argparse.Namespace, threads: int = 4) -> Replica:
    # MariaDB has its template's log settings: with and without a binary log are two.
    args = ["--skip-slave-start", *(o.narwal_arg if kind == "Narwal" else o.mariadb_arg)]
    mode = o.mode if threads else None
    return server(kind.partition(",")[0], folder, 2, o.narwal, args, threads, mode, log=kind == "MariaDB", shim=o.shim)


def apply(kind: str, threads: int, template: Path, folder: Path, wanted: int, end: list, o: argparse.Namespace, source: Replica) -> dict:
    """One run from a copy of the template."""
    folder.mkdir(parents=True, exist_ok=True)
    copy(template, folder / "data")
    r = replica(kind, folder, o, threads)
    try:
        r.start()
        begin = sequence(r.position())
        cpu = cpu_seconds(source), cpu_seconds(r)
        syncs = r.counters.syncs()
        began = time.monotonic()
        r.start_slave()
        wait_for(r, wanted, o.limit)
        seconds = time.monotonic() - began
        syncs = r.counters.syncs() - syncs
        used = [round(cpu_seconds(s) - before, 2) for s, before in zip((source, r), cpu, strict=True)]
        retries = r.status("Slave_retried_transactions") | r.status("Narwal_replica_%")
        if content(r, o.tables) != end:
            raise RuntimeError(f"{kind} with {threads} threads: its rows are not the source's")
    finally:
        r.remove()
    n = wanted - begin
    return {"transactions": n, "seconds": seconds, "per_second": n / seconds, "cpu_source": used[0], "cpu_replica": used[1],
            "cpu_us": 1e6 * used[1] / n, "syncs": syncs, "status": retries}  # fmt: skip


def of_source(kind: str, work: Path, o: argparse.Namespace) -> list[dict]:
    source = server(kind, work / "source", 1, o.narwal, o.narwal_arg if kind == "Narwal" else o.mariadb_arg)
    templates, out = {}, []
    try:
        source.create()
        source.start()
        prepare(source, o.tables, o.table_size)
        for name in o.kinds:
            r = replica(name, work / f"template-{name.replace(', ', '-')}", o)
            templates[name] = r
            r.create()
            r.start()
            r.follow(source.port)
            wait_for(r, binlog_end(source), 600)
            r.stop_slave()
            r.stop(120)
        text = sysbench(source, "run", o.load_threads, o.tables, o.table_size, "--time=0", f"--events={o.transactions}")
        print(f"# {kind} as the source: " + next(x.strip() for x in text.splitlines() if "transactions:" in x), flush=True)
        wanted, end = binlog_end(source), content(source, o.tables)
        cells: dict[tuple, list[dict]] = {}
        for _ in range(o.rounds):
            for threads in o.threads:
                for name in o.kinds:
                    one = apply(name, threads, templates[name].datadir, work / "run", wanted, end, o, source)
                    cells.setdefault((name, threads), []).append(one)
                    print(f"# {kind} -> {name}, {threads} threads: {one['per_second']:,.0f} /s; {one}", flush=True)
        for (name, threads), runs in cells.items():
            out.append({"source": kind, "replica": name, "threads": threads, "runs": runs,
                        "per_second": statistics.median(r["per_second"] for r in runs),
                        "cpu_us": statistics.median(r["cpu_us"] for r in runs),
                        "syncs": statistics.median(r["syncs"] for r in runs)})  # fmt: skip
    finally:
        for s in (*templates.values(), source):
            s.remove()
    return out


def table(cells: list[dict]) -> tuple[str, list[str]]:
    names = list(dict.fromkeys(c["replica"] for c in cells))
    others = [n for n in names if n != "Narwal"] if "Narwal" in names else []
    head = [f"{n} /s (CPU us, syncs)" for n in names] + [f"Narwal / {n}" for n in others]
    lines, failures = ["| source | threads | " + " | ".join(head) + " |", "|---" * (2 + len(head)) + "|"], []
    find = {(c["source"], c["threads"], c["replica"]): c for c in cells}
    for source, threads in dict.fromkeys((c["source"], c["threads"]) for c in cells):
        row = [source, str(threads)]
        for n in names:
            c = find[source, threads, n]
            row.append(f"{c['per_second']:,.0f} ({c['cpu_us']:.0f}, {c['syncs']:,.0f})")
        for n in others:
            ratio = find[source, threads, "Narwal"]["per_second"] / find[source, threads, n]["per_second"]
            row.append(f"{ratio:.2f}")
            if n == "MariaDB" and ratio < WANTED:
                failures.append(f"{source}, {threads} threads: {ratio:.2f}")
        lines.append("| " + " | ".join(row) + " |")
    lines += ["", "Not met: " + ("; ".join(failures) or "none")]
    return "\n".join(lines) + "\n", failures


def main() -> int:
    p = argparse.ArgumentParser(prog="./bench --only apply", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    p.add_argument("--sources", default="Narwal,MariaDB")
    p.add_argument("--replicas", default="Narwal,MariaDB,MariaDB no log", help="which kinds of replica (default all)")
    p.add_argument("--threads", default="0,2,4", help="slave_parallel_threads (default 0,2,4)")
    p.add_argument("--mode", default="optimistic", help="slave_parallel_mode where there are threads")
    p.add_argument("--transactions", type=int, default=60000)
    p.add_argument("--load-threads", type=int, default=16, help="that write them")
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--tables", type=int, default=4)
    p.add_argument("--table-size", type=int, default=100000)
    p.add_argument("--limit", type=float, default=1200, help="seconds that a replica gets")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--mariadb-arg", action="append", default=[], help="a further argument for mariadbd (repeatable)")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")))
    o = p.parse_args()
    o.threads = [int(n) for n in o.threads.split(",")]
    o.kinds = [n.replace("MariaDB no log", "MariaDB, no log") for n in o.replicas.split(",")]
    narwal_binary(o.narwal)
    out = Path(o.out).resolve()
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    o.shim = syncshim.build(work)
    # A kill is no reason to leave servers behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    cells = []
    for kind in o.sources.split(","):
        cells += of_source(kind, work, o)
        (out / "apply.json").write_text(json.dumps(cells, indent=1) + "\n")
    text, failures = table(cells)
    (out / "apply.md").write_text(f"# Apply rate, {o.transactions:,} transactions of oltp_write_only\n\n{text}")
    print(text)
    print(f"# written: {out}/apply.md and apply.json")
    shutil.rmtree(work, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
