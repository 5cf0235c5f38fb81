#!/usr/bin/env python3
"""One bit is flipped at every byte of small folders: crates/archive/tests/flips.rs, built with optimisation.

Data folders (closed, killed, encrypted), key files, backups, a sealed stream, an archive: each flip is one run that opens
and reads everything. Ends with a table by kind of file and with 1 if any run gave other rows, a panic or a hang. See
docs/faults.md. All processors are used; temporary files are in memory.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    p = argparse.ArgumentParser(prog="./torture --flips", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--every", type=int, default=1, metavar="K", help="only each K-th byte, the first one by chance (default: every byte)")
    p.add_argument("--short", action="store_true", help="some by chance of each kind of file, as in cargo test")
    p.add_argument("--only", default="", metavar="KIND", help="only kinds of files whose name begins so: log, base, spill, keys, ...")
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 31))
    p.add_argument("--dev", action="store_true", help="a build without optimisation")
    o = p.parse_args()
    env = {**os.environ, "NARWAL_SEED": str(o.seed), "NARWAL_FLIPS_ONLY": o.only}
    if not o.short:
        env["NARWAL_FLIPS"] = str(o.every)
    if Path("/dev/shm").is_dir():
        env["TMPDIR"] = "/dev/shm"
    command = ["cargo", "test", *([] if o.dev else ["--profile", "quick"]), "-p", "narwal-archive", "--test", "flips", "--", "--nocapture"]
    return subprocess.run(command, cwd=ROOT, env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
