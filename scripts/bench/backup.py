#!/usr/bin/env python3
"""What writers feel of a backup: `./bench --only backup`.

A database of `--gb` (default 5) of sysbench rows, 8 threads of oltp_write_only, both durable. Rounds of a quiet stretch, then a
backup from its beginning to its end; throughput of the load is counted each second, and a round's ratio is that of the seconds
of the backup to those of the quiet stretches before and after. Wanted: 0.80 at least. Then each backup is verified, the last
one restored and its tables are checked.

Two ways of backing up: by the server into a folder (--socket), and through the connection with --max-rate.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.servers import ROOT, Narwal, narwal_binary  # noqa: E402

WANTED = 0.80
# A row of sbtest with its index entry in the table store, bytes.
ROW = 240
TABLES = 8


def args_of(server: Narwal, o: argparse.Namespace) -> list[str]:
    return ["sysbench", "oltp_write_only", "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}",
            "--mysql-user=root", "--mysql-db=sbtest", f"--tables={TABLES}", f"--table-size={o.rows}"]  # fmt: skip


class Load:
    """sysbench in the background; commits of each second."""

    def __init__(self, server: Narwal, o: argparse.Namespace):
        self.process = subprocess.Popen(
            [*args_of(server, o), f"--threads={o.threads}", "--time=0", "--events=0", "--report-interval=1", "run"],
            stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.seconds: list[tuple[float, float]] = []
        self.thread = threading.Thread(target=self._read)
        self.thread.start()

    def _read(self) -> None:
        for line in self.process.stdout:
            if found := re.search(r"tps: ([\d.]+)", line):
                self.seconds.append((time.monotonic(), float(found.group(1))))

    def rates(self, begin: float, end: float) -> list[float]:
        """Of the whole seconds between two moments."""
        return [rate for at, rate in self.seconds if begin + 1 <= at <= end]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.thread.join()


def directory_bytes(folder: Path) -> int:
    return sum(f.stat().st_size for f in folder.rglob("*") if f.is_file())


def measure(work: Path, o: argparse.Namespace) -> dict:
    binary = narwal_binary(o.narwal)
    server = Narwal(work / "server", [f"--innodb-buffer-pool-size={o.memory}", *o.narwal_arg], binary=o.narwal)
    out: dict = {"gb": o.gb, "threads": o.threads, "memory": o.memory, "rounds": []}
    load = None
    try:
        server.start()
        server.sql("CREATE DATABASE sbtest")
        began = time.monotonic()
        server.sql("SET GLOBAL innodb_flush_log_at_trx_commit=0")
        done = subprocess.run([*args_of(server, o), "--threads=2", "prepare"], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stdout[-400:] + done.stderr[-400:])
        server.sql("SET GLOBAL innodb_flush_log_at_trx_commit=1")
        # The log of the preparation is not what is to be measured.
        server.sql("FLUSH BINARY LOGS")
        server.sql(f"PURGE BINARY LOGS TO '{server.sql('SHOW BINARY LOGS')[-1][0]}'")
        out["base_bytes"] = (server.datadir / "base.redb").stat().st_size
        print(f"# {out['base_bytes'] / 2**30:.2f} GiB of tables made in {time.monotonic() - began:.0f} s", flush=True)
        load = Load(server, o)
        time.sleep(o.warmup)
        for n in range(o.rounds):
            for way in ("server", "connection"):
                folder = work / f"backup-{n}-{way}"
                quiet = time.monotonic()
                time.sleep(o.seconds)
                begin = time.monotonic()
                where = [f"--socket={server.socket}"]
                if way == "connection":
                    where += ["--over-connection"]
                if o.max_rate:
                    where += [f"--max-rate={o.max_rate}"]
                subprocess.run([binary, "backup", f"--to={folder}", *where], check=True)
                end = time.monotonic()
                time.sleep(o.seconds)
                after = time.monotonic()
                without = load.rates(quiet, begin) + load.rates(end, after)
                during = load.rates(begin, end) or [0.0]
                size = directory_bytes(folder)
                r = {
                    "way": way, "seconds": round(end - begin, 1), "bytes": size,
                    "mib_per_second": round(size / 2**20 / (end - begin)),
                    "without": round(statistics.mean(without)), "during": round(statistics.mean(during)),
                    "worst_second": round(min(during)), "worst_second_without": round(min(without)),
                    "ratio": round(statistics.mean(during) / statistics.mean(without), 3),
                }  # fmt: skip
                out["rounds"].append(r)
                print(f"# {r}", flush=True)
                last = n == o.rounds - 1 and way == "connection"
                if not last:
                    shutil.rmtree(folder)
        load.stop()
        load = None
        server.stop()
        began = time.monotonic()
        subprocess.run([binary, "backup", "verify", folder], check=True, stdout=subprocess.DEVNULL)
        out["verify_seconds"] = round(time.monotonic() - began, 1)
        copy = Narwal(work / "copy", ["--server-id=2"], binary=o.narwal)
        began = time.monotonic()
        subprocess.run([binary, "restore", f"--from={folder}", f"--datadir={copy.datadir}"], check=True, stdout=subprocess.DEVNULL)
        out["restore_seconds"] = round(time.monotonic() - began, 1)
        try:
            copy.start()
            bad = [r for t in range(1, TABLES + 1) if (r := copy.sql(f"CHECK TABLE sbtest.sbtest{t}")[0])[3] != "OK"]
            if bad:
                raise RuntimeError(f"the restored tables are not whole: {bad}")
        finally:
            copy.kill()
            copy.remove()
    finally:
        if load:
            load.stop()
        server.kill()
        if not o.keep:
            server.remove()
            shutil.rmtree(work, ignore_errors=True)
    for way in ("server", "connection"):
        out[way] = statistics.median(r["ratio"] for r in out["rounds"] if r["way"] == way)
    out["met"] = min(out["server"], out["connection"]) >= WANTED
    return out


def table(r: dict) -> str:
    lines = [f"{r['base_bytes'] / 2**30:.2f} GiB of tables, {r['threads']} threads of oltp_write_only, durable.", "",
             "| backup | took s | MiB/s | commits/s without | during | ratio | worst second without | during |", "|---" * 8 + "|"]  # fmt: skip
    for c in r["rounds"]:
        lines.append(f"| by the {c['way']} | {c['seconds']} | {c['mib_per_second']} | {c['without']:,} | {c['during']:,} "
                     f"| {c['ratio']:.2f} | {c['worst_second_without']:,} | {c['worst_second']:,} |")  # fmt: skip
    lines += ["", f"Ratios {r['server']:.2f} and {r['connection']:.2f} (wanted: {WANTED:.2f} at least): "
              f"{'met' if r['met'] else 'NOT MET'}. Verified in {r['verify_seconds']} s, restored in {r['restore_seconds']} s.", ""]  # fmt: skip
    return "\n".join(lines)


def main() -> int:
    p = argparse.ArgumentParser(prog="./bench --only backup", description=__doc__,
                                formatter_class=argparse.RawTextHelpFormatter)  # fmt: skip
    p.add_argument("--gb", type=float, default=5, help="size of the tables (default 5)")
    p.add_argument("--rounds", type=int, default=2)
    p.add_argument("--seconds", type=float, default=15, help="of each quiet stretch (default 15)")
    p.add_argument("--threads", type=int, default=8)
    p.add_argument("--memory", default="512M", help="innodb_buffer_pool_size (default 512M)")
    p.add_argument("--max-rate", type=int, default=0, help="of the backups, MiB/s (default: none)")
    p.add_argument("--warmup", type=float, default=10)
    p.add_argument("--quick", action="store_true", help="0.2 GB, one round of short stretches")
    p.add_argument("--narwal", metavar="BIN", help="a built narwal instead of building one")
    p.add_argument("--narwal-arg", action="append", default=[], help="a further argument for narwal serve (repeatable)")
    p.add_argument("--out", default=str(ROOT / "bench-out" / time.strftime("%Y%m%d-%H%M%S")))
    p.add_argument("--keep", action="store_true", help="keep the folder")
    o = p.parse_args()
    if o.quick:
        o.gb, o.rounds, o.seconds, o.warmup = 0.2, 1, 5, 2
    o.rows = int(o.gb * 1e9 / ROW / TABLES)
    narwal_binary(o.narwal)
    out = Path(o.out).resolve()
    work = out / "work"
    work.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    result = measure(work, o)
    (out / "backup.json").write_text(json.dumps({"backup": result}, indent=1) + "\n")
    text = table(result)
    (out / "backup.md").write_text("# Backup under load\n\n" + text)
    print(text)
    print(f"# written: {out}/backup.md and backup.json, {time.monotonic() - began:.0f} s")
    return 0 if result["met"] else 1


if __name__ == "__main__":
    sys.exit(main())
