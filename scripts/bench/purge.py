#!/usr/bin/env python3
"""What 8 writers feel of rotations and purges of 1 GiB binary log files.

A data folder with one file more than there are purges (`--files`, default 20, of `--size`, default 1 GiB each), then
rounds of a quiet stretch and of one with FLUSH BINARY LOGS and the purge of the oldest file every few seconds, half of them by
PURGE BINARY LOGS TO, half by the background (max_binlog_total_size). The latencies of all quiet stretches go into one
histogram, those of the others into another; their p99 are compared. Wanted: at most 1.5 times.

Called by `./bench --only purge`. Needs 22 GiB of disk and about 8 minutes with defaults.
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
from testbed import purging  # noqa: E402
from testbed.servers import ROOT, Narwal, narwal_binary  # noqa: E402

WANTED = 1.5
ROUNDS = 5


def sysbench(server: Narwal, command: str, o: argparse.Namespace, seconds: float = 0) -> str:
    args = ["sysbench", o.test, "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}",
            "--mysql-user=root", "--mysql-db=sbtest", "--tables=1", "--table-size=50000", "--rand-type=uniform"]  # fmt: skip
    if command == "run":
        args += ["--threads=8", f"--time={seconds:g}", "--events=0", "--histogram", "--percentile=99"]
    done = subprocess.run([*args, command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"sysbench {command}: {done.stdout[-600:]}{done.stderr[-300:]}")
    return done.stdout


def measure(tool: Path, work: Path, o: argparse.Namespace) -> dict:
    size = biglog.bytes_of(o.size)
    server = Narwal(work / "purge", [f"--max-binlog-size={size}", *o.narwal_arg], binary=o.narwal)
    out: dict = {"files": o.files, "size": o.size, "test": o.test, "seconds": o.seconds}
    try:
        out["build_seconds"] = round(biglog.build(tool, server.datadir, size * o.files + size // 2, size), 1)
        print(f"# {o.files} files of {o.size} made in {out['build_seconds']} s", flush=True)
        server.start()
        files = server.sql("SHOW BINARY LOGS")
        if len(files) <= o.files:
            raise RuntimeError(f"only {len(files)} files: {files}")
        server.sql("CREATE DATABASE sbtest; FLUSH BINARY LOGS")
        sysbench(server, "prepare", o)
        sysbench(server, "run", o, o.warmup)
        disk = server.disk_mib()
        out |= purging.stretches(server, lambda seconds: sysbench(server, "run", o, seconds), ROUNDS, o.files, o.seconds,
                                 lambda text: print(f"# {text}", flush=True))  # fmt: skip
        time.sleep(1)
        out["given_back_mib"] = round(disk - server.disk_mib())
        server.stop()
    finally:
        server.kill()
        if not o.keep:
            server.remove()
    out["met"] = out["ratio"] <= WANTED
    return out


def table(r: dict) -> str:
    lines = ["| stretch | commits/s | p50 ms | p99 ms | p99.9 ms | max ms |", "|---" * 6 + "|"]
    for name, key in (("quiet", "quiet"), (f"{len(r['purges'])} rotations and purges of {r['size']}", "busy")):
        s = r[key]
        lines.append(f"| {name} | {s['per_second']:,} | {s['p50_ms']:.2f} | {s['p99_ms']:.2f} | {s['p999_ms']:.2f} "
                     f"| {s['max_ms']:.1f} |")  # fmt: skip
    purged = sum(p["mib"] for p in r["purges"])
    slow = max(p["seconds"] for p in r["purges"])
    lines += ["", f"p99 ratio {r['ratio']:.2f} (wanted: at most {WANTED}): {'met' if r['met'] else 'NOT MET'}. "
              f"{purged} MiB of files purged, the disk got {r['given_back_mib']} MiB back; slowest purge {slow:.2f} s.", ""]  # fmt: skip
    return "\n".join(lines)


def main() -> int:
    p = argparse.ArgumentParser(prog="./bench --only purge", description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    p.add_argument("--files", type=int, default=20, help="rotations and purges (default 20)")
    p.add_argument("--size", default="1G", help="of each file (default 1G)")
    p.add_argument("--seconds", type=float, default=16, help=f"of a stretch; there are {ROUNDS} of each kind (default 16)")
    p.add_argument("--warmup", type=float, default=5)
    p.add_argument("--test", default="oltp_update_non_index", help="sysbench test (default oltp_update_non_index)")
    p.add_argument("--quick", action="store_true", help="10 files of 100M, stretches of 5 s")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--debug", action="store_true", help="builds the example without optimisation: not a result")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")))
    p.add_argument("--keep", action="store_true", help="keep the folder")
    o = p.parse_args()
    if o.quick:
        o.files, o.size, o.seconds, o.warmup = 10, "100M", 5, 2
    narwal_binary(o.narwal)
    out = Path(o.out).resolve()
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    result = measure(biglog.example(not o.debug), work, o)
    (out / "purge.json").write_text(json.dumps({"purge": result}, indent=1) + "\n")
    text = table(result)
    (out / "purge.md").write_text("# Rotations and purges\n\n" + text)
    print(text)
    print(f"# written: {out}/purge.md and purge.json, {time.monotonic() - began:.0f} s")
    if not o.keep:
        shutil.rmtree(work, ignore_errors=True)
    return 0 if result["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
