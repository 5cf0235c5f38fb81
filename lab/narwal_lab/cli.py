"""The command line."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from pathlib import Path

from testbed.servers import ROOT

from .experiments import ALL, by_name
from .options import LabError, Options

EXAMPLES = """examples:
  ./narwal-lab run --quick                       everything, short: a first look in under 10 minutes
  ./narwal-lab run durability contention         two experiments, 3 interleaved rounds of 10 s per server and cell
  ./narwal-lab run figures --out lab-out/x       the table of promised figures; the same command again goes on where it stopped
  ./narwal-lab run a --mariadb /usr/sbin/mariadbd:debian --mariadb /opt/mariadb-11.8:11.8 --mysql /opt/mysql-8.4
  ./narwal-lab run a --narwal old/narwal:old --narwal target/release/narwal:new     two builds beside each other
  ./narwal-lab run a --threads 1,64 --delay-us 0,2000 --cells D1
  ./narwal-lab run --full                        the published sizes and durations: many hours
  ./narwal-lab compare lab-out/x/results.json lab-out/y/results.json
"""


def parser() -> argparse.ArgumentParser:
    """All commands and their help."""
    raw = argparse.RawDescriptionHelpFormatter
    p = argparse.ArgumentParser(
        prog="narwal-lab", formatter_class=raw, epilog=EXAMPLES,
        description="Experiments on Narwal, its classic commit path, MariaDB and MySQL side by side, on this machine and its disk.\n"
        "Servers run on 127.0.0.1 in throw-away folders; a report with pictures and tables is the result.",
    )  # fmt: skip
    commands = p.add_subparsers(dest="command", required=True, metavar="COMMAND")

    r = commands.add_parser("run", help="measure, then write the report", formatter_class=raw, epilog=EXAMPLES,
                            description="Measures experiments (all, without a name) and writes report.html and report.md.")  # fmt: skip
    r.add_argument("experiment", nargs="*", help="names or letters, see `narwal-lab list`; default: all")
    size = r.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small tables, 1 round of 2 s: everything in under 10 minutes on 2 cores")
    size.add_argument("--full", action="store_true", help="the published settings: 60 s rounds, tables of 1M rows, hours")
    r.add_argument("--rounds", type=int, help="interleaved rounds per cell; the median counts (default 3; quick 1)")
    r.add_argument("--seconds", type=int, help="of one measured run (default 10; quick 2; full 60)")
    r.add_argument("--warmup", type=int, help="seconds of load before a cell's rounds (default 3; quick 1; full 15)")
    r.add_argument("--tables", type=int, help="tables of sysbench (default 4)")
    r.add_argument("--rows", type=int, help="rows per table (default 100000; quick 20000; full 1000000)")
    r.add_argument("--buffer-pool", type=int, metavar="MIB", help="memory for data of each server (default 1024; quick 256; full 4096)")
    r.add_argument("--threads", type=numbers, metavar="LIST", help="only these thread counts, e.g. 1,64")
    r.add_argument("--delay-us", type=numbers, metavar="LIST", help="only these delays added to every sync, e.g. 0,500,2000,4000")
    r.add_argument("--cells", metavar="TEXT", help="only cells whose label contains this, e.g. durability=D1")
    r.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of one experiment, see docs/lab.md (repeatable)")
    r.add_argument("--out", metavar="DIR", help="folder of the run and of the servers' data: the disk that is measured "
                                                "(default lab-out/DATE). One that exists is gone on with")  # fmt: skip
    r.add_argument("--resume", action="store_true", help="go on with the newest folder in lab-out")
    s = r.add_argument_group("servers", "PATH is a binary, an installation's prefix or a chroot; LABEL names it in the report.")
    s.add_argument("--narwal", action="append", default=[], metavar="BIN[:LABEL]", help="a built narwal (default: this tree's release build)")
    s.add_argument("--mariadb", action="append", default=[], metavar="PATH[:LABEL]", help="a MariaDB (default: the one on PATH; none: leave it out)")
    s.add_argument("--mysql", action="append", default=[], metavar="PATH[:LABEL]", help="a MySQL (default: the one on PATH, if any)")
    s.add_argument("--no-classic", action="store_true", help="without Narwal's classic commit path (binlog_storage_engine=FILE)")
    for kind in ("narwal", "mariadb", "mysql"):
        s.add_argument(f"--{kind}-arg", action="append", default=[], metavar="OPTION", help=f"a further option of {kind}'s command line (repeatable)")

    commands.add_parser("list", help="the experiments, and what each one shows")
    w = commands.add_parser("report", help="write the report of a folder again")
    w.add_argument("folder")
    c = commands.add_parser("compare", help="ratios of two runs, or of the servers of one run, with their spread")
    c.add_argument("a", help="folder or results.json of the base")
    c.add_argument("b", nargs="?", help="folder or results.json of the other run; without one the servers of A are compared, round by round")
    d = commands.add_parser("disk", help="sync latency of a folder's disk")
    d.add_argument("folder", nargs="?", default=".")
    return p


def numbers(text: str) -> list[int]:
    """1,8,64"""
    try:
        return [int(x) for x in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers like 1,8,64, not {text!r}") from None


def options_of(a: argparse.Namespace) -> Options:
    """The mode's settings with what the command line changes of them."""
    o = Options.of_mode("quick" if a.quick else "full" if a.full else "normal")
    for name, value in (
        ("rounds", a.rounds), ("seconds", a.seconds), ("warmup", a.warmup), ("tables", a.tables), ("rows", a.rows),
        ("buffer_pool_mib", a.buffer_pool), ("threads", a.threads), ("delays_us", a.delay_us), ("cells", a.cells),
    ):  # fmt: skip
        if value is not None:
            setattr(o, name, value)
    for text in a.set:
        name, equals, value = text.partition("=")
        if not equals:
            raise LabError(f"--set {text}: expected NAME=VALUE")
        o.extra[name] = value
    if o.rounds < 1 or o.seconds <= 0:
        raise LabError("--rounds and --seconds must be positive")
    return o


def need_tools() -> None:
    """Names what is missing, and how to get it."""
    os.environ["PATH"] += ":/usr/sbin"
    wanted = {"sysbench": "sysbench", "gcc": "build-essential", "mariadb": "mariadb-client"}
    missing = [tool for tool in wanted if not shutil.which(tool)]
    if missing:
        packages = " ".join(wanted[t] for t in missing)
        raise LabError(f"{', '.join(missing)} missing: run scripts/setup (Debian: apt-get install {packages})")


def folder_of(a: argparse.Namespace) -> Path:
    """Where the run lives."""
    base = ROOT / "lab-out"
    if a.out:
        return Path(a.out).resolve()
    if a.resume:
        runs = sorted(base.glob("*/lab.json"), key=lambda p: p.stat().st_mtime)
        if not runs:
            raise LabError(f"nothing to resume in {base}")
        return runs[-1].parent
    return base / time.strftime("%Y%m%d-%H%M%S")


def command_run(a: argparse.Namespace) -> int:
    """narwal-lab run"""
    from . import report, subjects
    from .runner import Run, console, write_json

    need_tools()
    experiments = []
    for name in a.experiment:
        found = by_name(name)
        if not found:
            raise LabError(f"no experiment {name!r}: there are {', '.join(k.name for k in ALL)}")
        experiments.append(found)
    experiments = experiments or [kind() for kind in ALL if kind.by_default]
    options = options_of(a)
    args = {"narwal": a.narwal_arg, "mariadb": a.mariadb_arg, "mysql": a.mysql_arg}
    servers, notes = subjects.find(a.narwal, a.mariadb, a.mysql, not a.no_classic, args)
    out = folder_of(a)
    for note in notes:
        console.print(f"[yellow]{note}[/yellow]")
    run = Run(out, options, servers, experiments)
    run.lab["notes"] = notes
    write_json(out / "lab.json", run.lab)
    for s in servers:
        console.print(f"[bold]{s.name}[/bold]: {s.version}")
    for kind, d in run.lab["disk"].items():
        console.print(f"disk, 4 KiB write + fdatasync, {kind}: median {d['median_ms']} ms, p95 {d['p95_ms']} ms")
    already = f", {run.done} measured already" if run.done else ""
    console.print(f"{len(run.todo)} cells to measure{already}; about {max(1, round(run.seconds() / 60))} minutes -> {out}")
    code = 0
    try:
        run.go()
    except KeyboardInterrupt:
        console.print(f"[yellow]interrupted; all servers are stopped. The same command with --out {out} goes on.[/yellow]")
        code = 130
    html = report.write(out)
    console.print(f"report: {html}\n        {out / 'report.md'}")
    summary, unmet = report.outcome(out)
    for line in summary:
        console.print(f"- {line}")
    return code or (1 if unmet else 0)


def command_list() -> int:
    """narwal-lab list"""
    for kind in ALL:
        print(f"({kind.letter}) {kind.name:12} {kind.title}\n      {kind.question}")
    return 0


def main(argv: list[str] | None = None) -> int:
    """Runs a command; returns the exit code: 0 done, 1 a figure is not met, 2 it could not run, 130 interrupted."""
    a = parser().parse_args(argv)
    try:
        if a.command == "run":
            return command_run(a)
        if a.command == "list":
            return command_list()
        if a.command == "report":
            from . import report

            print(report.write(Path(a.folder).resolve()))
            return 0
        if a.command == "disk":
            from testbed.disk import fdatasync_latency

            print(json.dumps(fdatasync_latency(Path(a.folder)), indent=1))
            return 0
        if a.command == "compare":
            from . import compare

            print(compare.report(Path(a.a), Path(a.b) if a.b else None))
            return 0
    except LabError as error:
        print(f"narwal-lab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 2


if __name__ == "__main__":
    sys.exit(main())
