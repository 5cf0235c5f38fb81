#!/usr/bin/env python3
"""Size and start of binaries: bytes of the file, time of `--version`, time until a server answers, and its memory then.

Binaries are started in turn, `--rounds` times, over a data folder each that was closed in good order; files are in the page
cache. `--narwal BIN[:NAME]` may be given several times; without it target/dist/narwal, as ./run starts it, and
target/release/narwal, which has its symbols inside.

Called by `./bench --only start`.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.servers import ROOT, Narwal  # noqa: E402

COLUMNS = ["binary", "MiB", "--version ms", "start ms", "start ms at best", "memory MiB"]


def version_ms(binary: Path) -> float:
    began = time.monotonic()
    subprocess.run([binary, "--version"], check=True, capture_output=True)
    return (time.monotonic() - began) * 1000


def row(name: str, binary: Path, found: dict[str, list[float]]) -> list[str]:
    middle = {key: statistics.median(values) for key, values in found.items()}
    return [name, f"{binary.stat().st_size / 2**20:.1f}", f"{middle['version']:.1f}", f"{middle['start']:.0f}",
            f"{min(found['start']):.0f}", f"{middle['memory']:.1f}"]  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--narwal", action="append", default=[], metavar="BIN[:NAME]")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--out", help="writes the figures there, too, as JSON")
    o = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    given = o.narwal or [f"{target}/dist/narwal:stripped", f"{target}/release/narwal:with symbols"]
    binaries = {}
    for text in given:
        path, _, name = text.partition(":")
        binaries[name or path] = Path(path).resolve()
    figures: dict[str, dict[str, list[float]]] = {name: {"version": [], "start": [], "memory": []} for name in binaries}
    servers: dict[str, Narwal] = {}
    with tempfile.TemporaryDirectory(prefix="narwal-start-") as work:
        try:
            for n, (name, binary) in enumerate(binaries.items()):
                servers[name] = Narwal(Path(work) / str(n), binary=str(binary))
                # Makes the folder.
                servers[name].start()
                servers[name].stop()
            for _ in range(o.rounds):
                for name, server in servers.items():
                    figures[name]["version"].append(version_ms(binaries[name]))
                    figures[name]["start"].append(server.start() * 1000)
                    figures[name]["memory"].append(server.rss_mib())
                    server.stop()
        finally:
            for server in servers.values():
                server.remove()
    rows = [COLUMNS, *(row(name, binaries[name], found) for name, found in figures.items())]
    widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    for r in rows:
        print("  ".join(cell.rjust(width) if i else cell.ljust(width) for i, (cell, width) in enumerate(zip(r, widths))))
    if o.out:
        Path(o.out).write_text(json.dumps({"binaries": {n: str(b) for n, b in binaries.items()}, "figures": figures}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
