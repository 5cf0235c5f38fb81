"""What a server process uses: read at the two ends of a run, and once a second into raw/*.jsonl."""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import time
from pathlib import Path
from types import TracebackType

from testbed.client import Client, ServerError
from testbed.servers import Server

TICKS = os.sysconf("SC_CLK_TCK")


def process(pid: int) -> dict[str, float]:
    """CPU seconds, resident MiB now and at most, bytes read from the disk, context switches of the living threads."""
    base = Path(f"/proc/{pid}")
    fields = (base / "stat").read_text().rsplit(")", 1)[1].split()
    out = {"cpu_s": (int(fields[11]) + int(fields[12])) / TICKS, "threads": float(fields[17])}
    status = (base / "status").read_text()
    for key, name in (("rss_mib", "VmRSS"), ("peak_mib", "VmHWM")):
        found = re.search(rf"{name}:\s+(\d+)", status)
        out[key] = int(found.group(1)) / 1024 if found else 0.0
    try:
        io = dict(line.split(": ") for line in (base / "io").read_text().splitlines())
        out["read_bytes"] = float(io["read_bytes"])
    except PermissionError:
        pass
    switches = 0
    for task in (base / "task").iterdir():
        try:
            switches += sum(int(x) for x in re.findall(r"ctxt_switches:\s+(\d+)", (task / "status").read_text()))
        except OSError:  # the thread ended meanwhile
            pass
    out["switches"] = float(switches)
    return out


class Sampler:
    """While entered: a line of JSON a second with the process, the sync counters and the changed numbers of SHOW GLOBAL STATUS.

    Lines: {"t": seconds since the start, "process": {...}, "syncs": {...}, "status": {...}}; the first has the whole status,
    the others only what has changed. `samples` keeps t and process for plots.
    """

    def __init__(self, server: Server, path: Path, every: float = 1.0):
        self.server, self.path, self.every = server, path, every
        self.samples: list[dict[str, float]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._loop, daemon=True)

    def __enter__(self) -> Sampler:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._thread.start()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join(10)

    def _loop(self) -> None:
        began = time.monotonic()
        client: Client | None = None
        before: dict[str, str | None] = {}
        # The load and the server come first: a sample takes milliseconds of one processor.
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), 19)
        with open(self.path, "a") as out:
            while True:
                t = round(time.monotonic() - began, 3)
                line: dict = {"t": t}
                try:
                    line["process"] = process(self.server.process.pid)  # type: ignore[union-attr]
                    self.samples.append({"t": t, **line["process"]})
                    if self.server.counters:
                        line["syncs"] = self.server.counters.read()
                    client = client or Client(self.server.port, timeout=10)
                    status = {r[0]: r[1] for r in client.query("SHOW GLOBAL STATUS")}
                    line["status"] = {k: v for k, v in status.items() if before.get(str(k)) != v}
                    before = {str(k): v for k, v in status.items()}
                except (OSError, ServerError, AttributeError) as e:  # killed or not yet up: that is data too
                    line["error"] = str(e)
                    client = None
                out.write(json.dumps(line) + "\n")
                if self._stop.wait(self.every):
                    break
        if client:
            client.close()
