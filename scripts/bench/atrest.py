"""What encryption and compression at rest cost and save: four Narwal servers side by side, `./bench --only atrest`.

The servers differ in the two options only. Each round runs all four one after the other within a minute or less (the three
that are not measured are stopped by SIGSTOP), and a ratio compares runs of one round, so that a disk or a neighbour that
is slow for a while slows both sides of it. The table has the medians of the rounds.
"""

from __future__ import annotations

import secrets
import statistics
import subprocess
import time

from testbed.servers import Narwal

ARGS = ["--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=256M"]
TABLES, ROWS = 2, 50_000
BULK_ROWS = 120_000

HEADER = (
    "| load | folder | per s | ratio | log bytes each | ratio | server CPU us each | ratio |\n" + "|---" * 8 + "|"
)


def kinds(folder) -> dict[str, list[str]]:
    """Arguments of each server beyond the common ones."""
    key = folder / "keys"
    key.write_text(f"1;{secrets.token_hex(32)}\n")
    key.chmod(0o600)
    packed, secret = ["--narwal-log-compression=zstd"], [f"--encryption-key-file={key}"]
    return {"plain": [], "zstd": packed, "encrypted": secret, "both": packed + secret}


class AtRest:
    """`bench` is run.py's Bench: its options, folders and sysbench; `cpu` tells the seconds that a process has used."""

    def __init__(self, bench, cpu):
        self.b, self.cpu = bench, cpu
        self.seconds = max(2, bench.o.seconds // 2)

    def run(self) -> None:
        servers = {}
        began = time.monotonic()
        try:
            for name, args in kinds(self.b.work).items():
                server = Narwal(
                    self.b.work / f"atrest-{name}", ARGS + args + self.b.o.narwal_arg, binary=self.b.o.narwal
                )
                server.name = f"Narwal-{name}"
                servers[name] = server
                server.start()
                server.sql("CREATE DATABASE sbtest; CREATE DATABASE bulk")
                self.b.sysbench(server, "oltp_write_only", "prepare", 2, tables=TABLES, rows=ROWS)
                server.pause()
            print(HEADER, flush=True)
            out = {}
            for threads in (1, 8):
                load = f"oltp_write_only, {threads} thread{'s' if threads > 1 else ''}"
                out[load] = self.rounds(servers, load, lambda s, n, t=threads: self.oltp(s, t, n))
            out["bulk load, rows"] = self.rounds(servers, "bulk load, rows", self.bulk)
            self.b.report["atrest"] = out
            print(f"# at rest: {time.monotonic() - began:.0f} s", flush=True)
        finally:
            for server in servers.values():
                server.resume()
                server.remove()

    def rounds(self, servers: dict[str, Narwal], load: str, measure) -> dict:
        got: dict[str, list[dict]] = {name: [] for name in servers}
        for n in range(self.b.o.rounds + 1):
            # In turn from another one each time; round 0 warms up.
            names = list(servers)[n % 4 :] + list(servers)[: n % 4]
            for name in names:
                server = servers[name]
                server.resume()
                one = self.counted(server, lambda s=server, n=n: measure(s, n))
                server.pause()
                if n:
                    got[name].append(one)
        out = {}
        for name, runs in got.items():
            middle = {k: statistics.median(r[k] for r in runs) for k in runs[0]}
            ratios = {
                k: statistics.median(r[k] / p[k] for r, p in zip(runs, got["plain"], strict=True)) for k in middle
            }
            out[name] = {**{k: round(v, 1) for k, v in middle.items()}, "ratios": {k: round(v, 3) for k, v in ratios.items()}}
            print(line(load, name, out[name]), flush=True)
        return out

    def counted(self, server: Narwal, work) -> dict:
        """Runs `work`, which gives how much it did and how many a second, and looks at what the server used for it."""
        log = lambda: int(server.status("Narwal_log_bytes_written")["Narwal_log_bytes_written"])  # noqa: E731
        before, cpu = log(), self.cpu(server.process.pid)
        count, rate = work()
        used = self.cpu(server.process.pid) - cpu
        return {"rate": rate, "bytes": (log() - before) / count, "cpu_us": used * 1e6 / count}

    def oltp(self, server: Narwal, threads: int, round_: int) -> tuple[float, float]:
        text = self.b.sysbench(
            server, "oltp_write_only", "run", threads, self.seconds if round_ else 2, 100 + round_, TABLES, ROWS
        )
        words = next(x for x in text.splitlines() if "transactions:" in x).replace("(", " ").split()
        return float(words[1]), float(words[2])

    def bulk(self, server: Narwal, _: int) -> tuple[float, float]:
        """sysbench's own load: INSERTs of some thousand rows each, without the secondary index."""
        server.sql("DROP DATABASE bulk; CREATE DATABASE bulk")
        began = time.monotonic()
        done = subprocess.run(
            ["sysbench", "oltp_write_only", "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={server.port}",
             "--mysql-user=root", "--mysql-db=bulk", "--tables=1", f"--table-size={BULK_ROWS}",
             "--create_secondary=off", "prepare"],
            capture_output=True, text=True,
        )  # fmt: skip
        took = time.monotonic() - began
        if done.returncode:
            raise RuntimeError(f"{server.name}: bulk load: {(done.stdout + done.stderr)[-300:]}")
        return BULK_ROWS, BULK_ROWS / took


def line(load: str, name: str, r: dict) -> str:
    ratio = r["ratios"]
    return (
        f"| {load} | {name} | {r['rate']:,.0f} | {ratio['rate']:.2f} | {r['bytes']:,.0f} | {ratio['bytes']:.2f} "
        f"| {r['cpu_us']:,.1f} | {ratio['cpu_us']:.2f} |"
    )


def table(report: dict) -> list[str]:
    """The table again, from a report."""
    return [HEADER, *(line(load, name, r) for load, each in report.items() for name, r in each.items()), ""]
