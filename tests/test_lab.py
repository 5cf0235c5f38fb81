"""The lab (lab/narwal_lab): what it reads from sysbench, a whole small run that is interrupted and goes on, what it refuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from narwal_lab import cli, load, plots, report
from narwal_lab.bed import Bed
from narwal_lab.experiment import Cell
from narwal_lab.experiments.figures import Figures
from narwal_lab.options import LabError, Options
from narwal_lab.results import frame
from narwal_lab.runner import open_folder
from narwal_lab.subjects import Subject, classic_refusal, find
from testbed.servers import ROOT, narwal_binary

SYSBENCH = """
[ 1s ] thds: 4 tps: 870.10 qps: 5220.60 (r/w/o: 0.00/3480.40/1740.20) lat (ms,95%): 7.56 err/s: 0.00 reconn/s: 0.00
[ 2s ] thds: 4 tps: 910.00 qps: 5460.00 (r/w/o: 0.00/3640.00/1820.00) lat (ms,95%): 7.17 err/s: 0.00 reconn/s: 0.00
Latency histogram (values are in milliseconds)
       value  ------------- distribution ------------- count
       0.500 |*************                            90
       2.000 |*                                        9
      40.000 |                                         1

SQL statistics:
    transactions:                        100    (870.10 per sec.)
    queries:                             600    (5220.60 per sec.)
    ignored errors:                      3      (26.10 per sec.)
    reconnects:                          0      (0.00 per sec.)

General statistics:
    total time:                          0.1149s

Latency (ms):
         min:                                    0.31
         avg:                                    0.92
         max:                                   41.27
"""


def test_reads_what_sysbench_prints():
    r = load.parse(SYSBENCH)
    assert (r["transactions"], r["tps"], r["errors"], r["max_ms"]) == (100, 870.10, 3, 41.27)
    assert (r["p50_ms"], r["p95_ms"], r["p99_ms"], r["p999_ms"]) == (0.5, 2.0, 2.0, 40.0)
    assert load.intervals(SYSBENCH) == [(1.0, 870.1), (2.0, 910.0)]
    with pytest.raises(load.LoadFailed, match="not a report"):
        load.parse("FATAL: unable to connect")


def test_option_files_promise_what_the_durability_says():
    for kind in ("mariadb", "mysql"):
        subject = Subject(kind, kind, Path("/bin/true"))
        assert "sync_binlog = 1" in subject.config("D1") and "innodb_flush_log_at_trx_commit = 1" in subject.config("D1")
        assert "sync_binlog = 0" in subject.config("D2") and "innodb_flush_log_at_trx_commit = 2" in subject.config("D2")
    narwal = Subject("Narwal", "narwal", Path("/bin/true")).config("D3", buffer_pool_mib=64)
    assert "innodb_flush_log_at_trx_commit = 0" in narwal and "innodb_buffer_pool_size = 64M" in narwal


def rows(**values: dict[str, list[float]]) -> list[dict]:
    return [{"subject": s, "round": i, "tps": v, "syncs_per_commit": 1.0} for s, vs in values.items() for i, v in enumerate(vs)]


def test_ratios_pair_the_rounds_and_targets_are_judged_by_their_median():
    plots.know_subjects([{"name": "Narwal", "kind": "narwal", "colour": "#111111"}, {"name": "MariaDB", "kind": "mariadb", "colour": "#222222"}])
    cell = dict(test="oltp_write_only", threads=8, delay_us=0, durability="D1")
    disk = {"preallocated overwrite": {"median_ms": 0.1}}
    # Slow minutes hit both servers of a round: the rounds' ratios are 3, 4 and 2.
    df = frame([{"params": cell, "disk": disk, "rows": rows(Narwal=[300, 40, 200], MariaDB=[100, 10, 100])}])
    ratio = plots.paired_ratio(df, "tps", ["threads"], "Narwal", "MariaDB").iloc[0]
    assert (ratio.ratio, ratio.low, ratio.high) == (3, 2, 4)
    judged = [r for r in Figures().judge(df) if r["figure"] == "oltp_write_only"]
    assert [(r["threads"], r["ratio"], r["met"]) for r in judged] == [(8, 3, "yes")]
    df.loc[df.subject == "Narwal", "tps"] *= 0.9
    assert Figures().unmet(df.assign(error=None)) == ["oltp_write_only at 8 threads"]


def arguments(out: Path, *more: str) -> list[str]:
    return ["run", "durability", "--seconds", "1", "--warmup", "0", "--rounds", "1", "--tables", "1", "--rows", "300", "--threads", "1,8",
            "--cells", "durability=D1", "--delay-us", "0", "--buffer-pool", "64", "--no-classic", "--narwal", str(narwal_binary()), "--out", str(out), *more]  # fmt: skip


def running(out: Path) -> list[str]:
    """Command lines of processes that name the folder: servers and their clients."""
    found = []
    for p in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = p.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"{out}/work" in text:
            found.append(text)
    return found


def heeds_interrupts() -> None:
    """A shell lets what it runs in the background ignore SIGINT, and so would everything below it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_run_that_is_interrupted_leaves_no_server_and_goes_on(tmp_path):
    out = tmp_path / "run"
    cells = out / "durability" / "cells"
    child = subprocess.Popen([sys.executable, "-m", "narwal_lab.cli", *arguments(out)], cwd=ROOT / "lab", stderr=subprocess.PIPE, text=True,
                             preexec_fn=heeds_interrupts)  # fmt: skip
    deadline = time.monotonic() + 90
    while not list(cells.glob("*.json")) and child.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    child.send_signal(signal.SIGINT)
    _, said = child.communicate(timeout=60)
    assert child.returncode == 130, said
    assert running(out) == []
    first = {p.name: p.read_text() for p in cells.glob("*.json")}
    assert len(first) == 1

    with pytest.raises(LabError, match="other settings.*rounds 1 -> 2"):
        a = cli.parser().parse_args(arguments(out, "--rounds", "2"))
        servers, _ = find(a.narwal, a.mariadb, a.mysql, classic=False)
        open_folder(out, cli.options_of(a), servers)

    assert cli.main(arguments(out)) == 0
    assert running(out) == []
    assert {p.name for p in cells.glob("*.json")} == {f"durability=D1_delay_us=0_threads={n}.json" for n in (1, 8)}
    assert {name: (cells / name).read_text() for name in first} == first, "a measured cell was measured again"

    measured = json.loads((out / "results.json").read_text())["experiments"]["durability"]
    by_subject = {(c["params"]["threads"], r["subject"].split()[0]): r for c in measured for r in c["rows"]}
    assert set(by_subject) == {(n, s) for n in (1, 8) for s in ("Narwal", "MariaDB")}
    for (threads, subject), row in by_subject.items():
        assert row.get("error") is None and row["tps"] > 0 and row["p99_ms"] > 0
        if threads == 1:
            needed = {"Narwal": 1, "MariaDB": 2}[subject]
            # A checkpoint's syncs may fall into the second too.
            assert needed * 0.97 <= row["syncs_per_commit"] <= needed + 8 / row["transactions"] + 0.02
    html = (out / "report.html").read_text()
    assert html.count("data:image/png;base64,") >= 3 and "http" not in html.replace("http-equiv", "")
    text = (out / "report.md").read_text()
    assert "| D1 | 1 |" in text and "fdatasync" in text and "Narwal beside MariaDB" in text
    assert list((out / "raw").glob("*-run.txt")) and list((out / "raw").glob("*.samples.jsonl"))
    assert report.outcome(out)[1] == []


def test_a_baseline_that_does_not_sync_is_refused(tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(Bed, "_end_strace", lambda *_: None)
    real = Bed.count_syncs
    monkeypatch.setattr(Bed, "count_syncs", lambda self, server: real(self, server) // (2 if "MariaDB" in server.name else 1))
    assert cli.main(arguments(tmp_path / "run")) == 2
    said = capfd.readouterr().err
    assert "MariaDB" in said and "is refused" in said and "/dev/shm" in said and "mount -t tmpfs" in said
    assert running(tmp_path / "run") == []


def test_says_what_is_wrong_with_a_command(tmp_path, monkeypatch, capfd):
    assert cli.main(["run", "nonsense", "--out", str(tmp_path)]) == 2
    assert "durability" in capfd.readouterr().err
    assert cli.main(["run", "durability", "--narwal", "/bin/false", "--mariadb", str(tmp_path)]) == 2
    assert "neither a binary" in capfd.readouterr().err
    # A binary that does not start: the end of its log is what tells why.
    broken = tmp_path / "narwal"
    broken.write_text("#!/bin/sh\necho 'the disk is made of cheese' >&2\nexit 1\n")
    broken.chmod(0o755)
    assert "cheese" in str(classic_refusal(broken))
    args = ["run", "durability", "--quick", "--narwal", str(broken), "--mariadb", "none", "--no-classic", "--cells", "D1", "--threads", "1"]
    assert cli.main([*args, "--out", str(tmp_path / "broken")]) == 0
    assert "cheese" in (tmp_path / "broken" / "report.md").read_text()
    monkeypatch.setattr(load.shutil, "which", lambda name: None)
    assert cli.main(["run", "durability", "--out", str(tmp_path / "x")]) == 2
    assert "scripts/setup" in capfd.readouterr().err


def test_cells_name_their_files_and_keep_to_the_options():
    o = Options.of_mode("quick")
    o.threads = [1, 64]
    cells = Figures().cells(o)
    assert cells and all(c["threads"] in (1, 64) for c in cells)
    assert len({c.file for c in cells}) == len(cells)
    assert Cell(place="hot row", threads=8).file == "place=hot-row_threads=8.json"
