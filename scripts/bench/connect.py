#!/usr/bin/env python3
"""Start and connect on a long binary log: neither may depend on its length.

For each size of the log (`--sizes`, default 1G,20G), in a folder whose tables are small (the same rows are updated):
  - a replica's connect: time to find the place behind a GTID state and to read the first event there, at the oldest, the
    newest and 298 random places; most records of the log that one connect read; once with nothing of the folder in the
    page cache, once again with what that left there;
  - the server's start until it accepts connections: after a clean stop (nothing cached, then cached) and after kill -9
    under load; records of the log that it read.

Called by `./bench --only connect`. Needs 1.1 times the largest size of disk, and about 10 s per GiB.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
import biglog  # noqa: E402
from testbed.cgroup import forget  # noqa: E402
from testbed.servers import ROOT, Narwal, narwal_binary  # noqa: E402

COLUMNS = ["log", "state of cache", "open ms", "connect median ms", "p99 ms", "max ms", "records read at most"]
STARTS = ["log", "start after", "seconds", "log records read", "log MiB read"]


def connects(tool: Path, data: Path) -> dict:
    done = subprocess.run([str(tool), "connect", str(data)], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def start(server: Narwal, after: str) -> dict:
    seconds = server.start(300)
    s = server.status("Narwal_recovery%")
    return {"after": after, "seconds": round(seconds, 3), "records": int(s["Narwal_recovery_records"]),
            "mib": round(int(s["Narwal_recovery_bytes"]) / 2**20, 1)}  # fmt: skip


def load(server: Narwal, seconds: float) -> None:
    """Writes to the log for a while."""
    server.sql("CREATE DATABASE IF NOT EXISTS sbtest")
    base = ["sysbench", "oltp_update_non_index", "--db-driver=mysql", "--mysql-host=127.0.0.1",
            f"--mysql-port={server.port}", "--mysql-user=root", "--mysql-db=sbtest", "--tables=1", "--table-size=20000"]  # fmt: skip
    subprocess.run([*base, "prepare"], check=True, capture_output=True)
    subprocess.run([*base, "--threads=8", f"--time={seconds:g}", "--events=0", "run"], check=True, capture_output=True)


def measure(tool: Path, work: Path, size: str, o: argparse.Namespace) -> dict:
    server = Narwal(work / f"log-{size}", o.narwal_arg, binary=o.narwal)
    out: dict = {"size": size}
    try:
        out["build_seconds"] = round(biglog.build(tool, server.datadir, biglog.bytes_of(size)), 1)
        print(f"# {size}: made in {out['build_seconds']} s", flush=True)
        forget(server.datadir)
        out["connect"] = {"cold": connects(tool, server.datadir), "warm": connects(tool, server.datadir)}
        forget(server.datadir)
        out["starts"] = [start(server, "clean stop, cold")]
        server.stop()
        out["starts"].append(start(server, "clean stop"))
        load(server, o.load)
        server.kill()
        out["starts"].append(start(server, f"kill -9 under load ({o.load:g} s)"))
        out["files"] = len(server.sql("SHOW BINARY LOGS"))
        server.stop()
    finally:
        server.kill()
        if not o.keep:
            server.remove()
    return out


def table(columns: list[str], rows: list[list]) -> list[str]:
    return ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|",
            *("| " + " | ".join(map(str, r)) + " |" for r in rows), ""]  # fmt: skip


def tables(results: list[dict]) -> str:
    rows = []
    for r in results:
        for cache, c in r["connect"].items():
            rows.append([r["size"], cache, f"{c['open_ms']:.1f}", f"{c['connect_median_ms']:.2f}",
                         f"{c['connect_p99_ms']:.2f}", f"{c['connect_max_ms']:.2f}", c["records_scanned_most"]])  # fmt: skip
    starts = [[r["size"], s["after"], s["seconds"], s["records"], s["mib"]] for r in results for s in r["starts"]]
    return "\n".join(table(COLUMNS, rows) + table(STARTS, starts))


def main() -> int:
    p = argparse.ArgumentParser(prog="./bench --only connect", description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    p.add_argument("--sizes", default="1G,20G", help="lengths of the log, comma-separated (default 1G,20G)")
    p.add_argument("--load", type=float, default=5, help="seconds of load before kill -9 (default 5)")
    p.add_argument("--quick", action="store_true", help="100M and 400M")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--debug", action="store_true", help="builds the example without optimisation: not a result")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")))
    p.add_argument("--keep", action="store_true", help="keep the folders")
    o = p.parse_args()
    narwal_binary(o.narwal)
    sizes = ["100M", "400M"] if o.quick else o.sizes.split(",")
    out = Path(o.out).resolve()
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    tool = biglog.example(not o.debug)
    began = time.monotonic()
    results = []
    for size in sizes:
        results.append(measure(tool, work, size, o))
        (out / "connect.json").write_text(json.dumps({"connect": results}, indent=1) + "\n")
    text = tables(results)
    (out / "connect.md").write_text("# Start and connect\n\n" + text)
    print(text)
    interval = max(c["records_scanned_most"] for r in results for c in r["connect"].values())
    print(f"# written: {out}/connect.md and connect.json, {time.monotonic() - began:.0f} s; most records read: {interval}")
    if not o.keep:
        shutil.rmtree(work, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
