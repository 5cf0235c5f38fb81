"""Zabbix' own server on a database: it reads its configuration, checks its version, keeps histories and housekeeps."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from testbed.servers import free_port

# Its lines have a process and a time in front.
LINE = re.compile(r"^ *\d+:\d+:\d+\.\d+ ")
BAD = re.compile(r"query failed|\[Z3\d\d\d\]|cannot (connect|use|set)|database is down|exit|crash", re.IGNORECASE)
# What it writes when it watches itself.
WRITTEN = ("history", "history_uint", "items", "hosts", "item_rtdata", "ha_node")


def serve(unpacked: Path, libraries: Path, server, database: str, folder: Path, seconds: float) -> list[str]:
    """Runs it for some seconds. What it complains of, and which of its tables have rows; empty complaints are what is hoped for."""
    server.sql("CREATE OR REPLACE USER zabbix@127.0.0.1 IDENTIFIED BY 'zz'")
    server.sql(f"GRANT ALL ON {database}.* TO zabbix@127.0.0.1")
    folder.mkdir(parents=True, exist_ok=True)
    log = folder / "zabbix.log"
    (folder / "zabbix.conf").write_text(
        f"ListenPort={free_port()}\nLogType=file\nLogFile={log}\nPidFile={folder / 'pid'}\nSocketDir={folder}\nAllowRoot=1\n"
        f"DBHost=127.0.0.1\nDBPort={server.port}\nDBName={database}\nDBUser=zabbix\nDBPassword=zz\nAllowUnsupportedDBVersions=1\n"
        "FpingLocation=/bin/false\nFping6Location=\nHousekeepingFrequency=1\n"
    )
    paths = ":".join(str(p) for p in libraries.glob("usr/lib/*-linux-gnu"))
    program = subprocess.Popen(
        [str(unpacked / "usr/sbin/zabbix_server"), "-f", "-c", str(folder / "zabbix.conf")],
        env={**os.environ, "LD_LIBRARY_PATH": paths}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    end = time.monotonic() + seconds
    while time.monotonic() < end and program.poll() is None:
        time.sleep(0.2)
    ended = program.poll()
    lines = log.read_text(errors="replace").splitlines() if log.exists() else ["it wrote no log"]
    program.send_signal(signal.SIGTERM)
    try:
        program.wait(60)
    except subprocess.TimeoutExpired:
        program.kill()
        program.wait()
    said = [f"complaint: {LINE.sub('', line)}" for line in lines if BAD.search(line)]
    if ended is not None:
        said.append(f"it ended by itself with {ended}: {lines[-1]}")
    for table in WRITTEN:
        said.append(f"{table}: {'rows' if server.sql(f'SELECT EXISTS (SELECT 1 FROM {table})', database)[0][0] == '1' else 'empty'}")
    return said
