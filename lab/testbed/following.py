"""What measurements of replicas share: durable servers in both roles, sysbench's tables, what they hold."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

from .replica import MariaReplica, NarwalReplica, Replica
from .wire import Connection

NARWAL = ["--innodb-flush-log-at-trx-commit=1", "--innodb-buffer-pool-size=512M", "--max-connections=300"]
MARIADB = ["--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1", "--innodb-buffer-pool-size=512M", "--innodb-log-file-size=512M",
           "--max-connections=300", "--character-set-server=utf8mb4", "--collation-server=utf8mb4_general_ci"]  # fmt: skip


def server(kind: str, folder: Path, server_id: int, narwal: str | None = None, args: list[str] | None = None, threads: int | None = None,
           mode: str | None = None, log: bool = True, shim: Path | None = None, mariadb: dict | None = None) -> Replica:  # fmt: skip
    """A server of either kind that syncs each commit, and writes a binary log. `threads`: slave_parallel_threads; `mariadb`: binary and
    loader of MariaDB, as for its class."""
    options: dict = {"shim": shim} | ({} if threads is None else {"threads": threads, "mode": mode})
    if kind == "Narwal":
        return NarwalReplica(folder, server_id, NARWAL + (args or []), binary=narwal, **options)
    return MariaReplica(folder, server_id, MARIADB + (args or []), log=log, **options, **(mariadb or {}))


def sysbench(at: Replica, command: str, threads: int, tables: int, rows: int, *more: str, test: str = "oltp_write_only") -> str:
    args = ["sysbench", test, "--db-driver=mysql", "--mysql-host=127.0.0.1", f"--mysql-port={at.port}", "--mysql-user=root",
            "--mysql-db=sbtest", f"--threads={threads}", f"--tables={tables}", f"--table-size={rows}", *more]  # fmt: skip
    if command == "run":
        args += ["--histogram=off", "--percentile=95", "--mysql-ignore-errors=1213,1205,1020"]
    done = subprocess.run([*args, command], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{at.name}: sysbench {command}: {(done.stdout + done.stderr)[-600:]}")
    return done.stdout


def prepare(at: Replica, tables: int, rows: int) -> None:
    at.query("CREATE DATABASE sbtest")
    sysbench(at, "prepare", min(4, tables), tables, rows)


def per_second(text: str) -> float:
    return float(re.search(r"transactions:\s+\d+\s+\(([\d.]+) per sec", text)[1])


def sequence(gtids: str | None) -> int:
    """Of the only domain there is; 0 for none."""
    return int(gtids.split("-")[2]) if gtids else 0


def binlog_end(at: Replica) -> int:
    return sequence(at.query("SELECT @@GLOBAL.gtid_binlog_pos")[0][0])


def wait_for(replica: Replica, wanted: int, seconds: float) -> float:
    """Until that sequence number is applied; the seconds that took. Raises when its threads stop or the time is over."""
    began = time.monotonic()
    c = Connection(replica.port)
    try:
        checked = began
        while sequence(c.query("SELECT @@GLOBAL.gtid_slave_pos").rows[0][0]) < wanted:
            now = time.monotonic()
            if now - began > seconds:
                raise TimeoutError(f"{replica.name} stands at {replica.position()} after {seconds:.0f} s, wanted {wanted}")
            if now - checked > 2:
                checked = now
                if error := replica.last_error():
                    raise RuntimeError(f"{replica.name}: {error}")
            time.sleep(0.02)
    finally:
        c.close()
    return time.monotonic() - began


def content(at: Replica, tables: int) -> list:
    """A digest of sysbench's tables."""
    return [at.query(f"SELECT COUNT(*), SUM(CRC32(CONCAT_WS(',', id, k, c, pad))) FROM sbtest.sbtest{i}", timeout=300)
            for i in range(1, tables + 1)]  # fmt: skip


def cpu_seconds(at: Replica) -> float:
    fields = Path(f"/proc/{at.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def copy(folder: Path, to: Path) -> None:
    """A data folder of a stopped server."""
    shutil.rmtree(to, ignore_errors=True)
    subprocess.run(["cp", "-a", "--reflink=auto", str(folder), str(to)], check=True)
