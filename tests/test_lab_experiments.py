"""The lab's experiments and comparison, without their hours: what they compute out of figures, and the parts that they measure with."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from contextlib import contextmanager

import pytest
from testbed import latency, network, purging, readers
from testbed.cgroup import MemoryGroup
from testbed.proxy import Proxy, delayed

pd = pytest.importorskip("pandas", reason="the lab's packages are in .venv: run scripts/setup")
pytest.importorskip("matplotlib")

from narwal_lab import compare  # noqa: E402
from narwal_lab.experiments import ALL  # noqa: E402
from narwal_lab.experiments.ferry import Ferry  # noqa: E402
from narwal_lab.experiments.logcost import LogCost, share  # noqa: E402
from narwal_lab.experiments.memory import TIERS, Memory, steady  # noqa: E402
from narwal_lab.experiments.network import MODES, NetworkDurability  # noqa: E402
from narwal_lab.experiments.purge import BUSY, QUIET, Purge  # noqa: E402
from narwal_lab.experiments.replication import Replication  # noqa: E402
from narwal_lab.options import LabError, Options  # noqa: E402
from narwal_lab.plots import know_subjects  # noqa: E402
from narwal_lab.subjects import Subject  # noqa: E402

SUBJECTS = [{"name": n, "kind": k, "colour": "#123456", "version": "1"} for n, k in (("Narwal", "narwal"), ("MariaDB", "mariadb"))]


# -- compare -----------------------------------------------------------------------------------------------------------


def results(folder, values: dict[str, list[float]], metric: str = "tps", subjects: list[dict] = SUBJECTS, **more) -> object:
    """A run of one cell: figures by server, one per round."""
    rows = [{"subject": s, "round": n, metric: v, "error": None, **more} for s, all_ in values.items() for n, v in enumerate(all_)]
    lab = {"subjects": [s for s in subjects if s["name"] in values], "machine": {"date": "today", "commit": "c", "cpu": "x"},
           "options": {"rounds": len(rows), "seconds": 1}}  # fmt: skip
    folder.mkdir(exist_ok=True)
    (folder / "results.json").write_text(json.dumps({"lab": lab, "experiments": {"e": [{"params": {"threads": 8}, "rows": rows}]}}))
    return folder


def row_of(text: str, heading: str) -> list[str]:
    """Cells of the only row of a table."""
    lines = text[text.index(f"## {heading}") :].splitlines()
    return [c.strip() for c in next(x for x in lines if x.startswith("| e ")).strip("|").split("|")]


def test_ratios_are_taken_within_a_round(tmp_path):
    # The machine halves its speed from round to round, which hits both alike: the ratio is 2 in each.
    text = compare.report(results(tmp_path / "a", {"Narwal": [400, 200, 100], "MariaDB": [200, 100, 50]}))
    assert row_of(text, "Narwal / MariaDB")[-2:] == ["2.00 (2.00-2.00)", "better"]


def test_spread_wider_than_the_difference_is_said(tmp_path):
    text = compare.report(results(tmp_path / "a", {"Narwal": [110, 95, 120], "MariaDB": [100, 100, 100]}))
    assert row_of(text, "Narwal / MariaDB")[-2:] == ["1.10 (0.95-1.20)", "no difference shown: the spread is wider"]


def test_less_is_better_of_latencies(tmp_path):
    text = compare.report(results(tmp_path / "a", {"Narwal": [5, 5, 5], "MariaDB": [10, 10, 10]}, "p99_ms"))
    assert row_of(text, "Narwal / MariaDB")[2:] == ["p99_ms", "10.0 (10.0-10.0)", "5.00 (5.00-5.00)", "0.50 (0.50-0.50)", "better"]


def test_few_rounds_are_no_result(tmp_path):
    two = compare.report(results(tmp_path / "a", {"Narwal": [200, 200], "MariaDB": [100, 100]}))
    assert row_of(two, "Narwal / MariaDB")[-1] == "better (only 2 rounds: a hint, no result)"
    one = compare.report(results(tmp_path / "b", {"Narwal": [200], "MariaDB": [100]}))
    assert row_of(one, "Narwal / MariaDB")[-1] == "one round each: its spread is not known, no result"


def test_the_baseline_takes_the_machine_out_of_two_runs(tmp_path):
    # The second machine is twice as fast; Narwal has become 10 % slower beside MariaDB.
    a = results(tmp_path / "a", {"Narwal": [200, 202, 204], "MariaDB": [100, 101, 102]})
    b = results(tmp_path / "b", {"Narwal": [360, 362, 364], "MariaDB": [200, 201, 202]})
    text = compare.report(a, b)
    assert row_of(text, "Narwal")[-2].startswith("0.90 ")
    assert row_of(text, "Narwal")[-1] == "worse"
    assert row_of(text, "MariaDB")[-2].startswith("1.99 ") and "NOT PAIRED" not in text


def test_what_the_machine_does_not_change_is_compared_as_it_is(tmp_path):
    a = results(tmp_path / "a", {"Narwal": [1.0] * 3, "MariaDB": [2.0] * 3}, "syncs_per_commit")
    b = results(tmp_path / "b", {"Narwal": [0.5] * 3, "MariaDB": [1.0] * 3}, "syncs_per_commit")
    assert row_of(compare.report(a, b), "Narwal")[-2] == "0.50 (0.50-0.50)"


def test_runs_without_a_baseline_are_not_paired(tmp_path):
    a, b = (results(tmp_path / n, {"Narwal": v}) for n, v in (("a", [100, 130, 100]), ("b", [120, 110, 120])))
    text = compare.report(a, b)
    assert "NOT PAIRED" in text
    # The lowest of one by the highest of the other: nothing ties their rounds.
    assert row_of(text, "Narwal")[-2:] == ["1.20 (0.85-1.20)", "no difference shown: the spread is wider"]


def test_rows_that_an_experiment_varies_itself_are_kept_apart(tmp_path):
    folder = results(tmp_path / "a", {"Narwal": [100] * 3, "MariaDB": [50] * 3}, mode="local")
    assert row_of(compare.report(folder), "Narwal / MariaDB")[1] == "threads=8 mode=local"


def test_compare_refuses_what_is_no_result(tmp_path):
    with pytest.raises(LabError, match="no results.json"):
        compare.report(tmp_path)
    (tmp_path / "x.json").write_text("[1]")
    with pytest.raises(LabError, match="is not a results.json"):
        compare.report(tmp_path / "x.json")
    with pytest.raises(LabError, match="no server is in both"):
        compare.report(results(tmp_path / "a", {"Narwal": [1]}), results(tmp_path / "b", {"MariaDB": [1]}))


# -- what experiments compute ------------------------------------------------------------------------------------------


def test_letters_are_distinct_and_quick_cells_few():
    assert len({kind.letter for kind in ALL}) == len({kind.name for kind in ALL}) == len(ALL)
    for kind in (Memory, Replication, Ferry, NetworkDurability, LogCost, Purge):
        e = kind()
        quick, full = e.cells(Options.of_mode("quick")), e.cells(Options.of_mode("full"))
        assert 1 <= len(quick) <= 3, e.name
        assert len({c.label for c in full}) == len(full) >= len(quick)


def test_memory_tiers_share_their_data():
    e, o = Memory(), Options.of_mode("full")
    narwal = Subject("Narwal", "narwal", "x")
    budgets = [e.server_settings(narwal, c, o)["buffer_pool_mib"] for c in e.cells(o) if c["threads"] == 1 and c["test"] == "oltp_read_only"]
    assert budgets == [2048, 12288, 32768] and len(TIERS) == 3
    assert not e.applies(Subject("Narwal classic", "classic", "x"), e.cells(o)[0])


def test_steady():
    assert not steady([100, 100])
    assert steady([1, 99, 100, 105])
    assert not steady([100, 100, 80])


def frame(values: dict[tuple[str, str], list[float]], key: str, **more) -> object:
    rows = [{"subject": s, key: way, "round": n, "tps": v, "disk_ms": 0.1, **more} for (s, way), all_ in values.items() for n, v in enumerate(all_)]
    return pd.DataFrame(rows)


def test_cost_of_readers_is_of_the_same_round():
    know_subjects(SUBJECTS)
    df = frame({("Narwal", "nobody"): [100, 50], ("Narwal", "1 reader"): [95, 50], ("MariaDB", "nobody"): [10, 10], ("MariaDB", "log off"): [20, 20]},
               "log", test="t", threads=8, p99_ms=1.0, syncs_per_commit=1.0, cpu_us_per_transaction=1.0)  # fmt: skip
    assert share(df[df.subject == "Narwal"], "1 reader") == "0.975 (0.950-1.00)"
    assert share(df[df.subject == "Narwal"], "log off") == "-"
    table = LogCost().tables(df)[0].frame.set_index("server")
    assert table.loc["MariaDB", "log off"] == "2.00 (2.00-2.00)" and table.loc["Narwal", "log off"] == "-"
    assert "0.975 (0.950-1.00) with 1 reader" in LogCost().summary(df)[0]


def test_only_servers_with_another_log_do_without_theirs():
    assert "log off" in LogCost()._ways(Subject("M", "mariadb", "x")) and "log off" not in LogCost()._ways(Subject("N", "narwal", "x"))


def test_every_mode_of_durability_is_in_the_summary():
    know_subjects(SUBJECTS)
    df = frame({("Narwal", m): [100.0 + i] for i, m in enumerate(MODES)}, "mode", threads=16, rtt_us=1000, network="a proxy")
    assert NetworkDurability().summary(df) == [
        "Narwal, 16 threads, 1 ms network: none 100/s, local 101/s, after_sync 102/s, after_commit 103/s, both 104/s."
    ]


def test_held_back_commits_are_judged_by_the_best_setting():
    know_subjects(SUBJECTS)
    df = frame({("Narwal", "off"): [100.0, 10.0, 100.0], ("Narwal", "8/100"): [150.0, 15.0, 150.0], ("Narwal", "64/9000"): [50.0, 5.0, 50.0]},
               "wait", threads=8, delay_us=0, p50_ms=1.0, p99_ms=1.0, syncs_per_commit=1.0)  # fmt: skip
    assert Ferry().summary(df) == ["Narwal: the best delay setting gives 1.50 times the rate without a delay."]
    assert len(Ferry().tables(df)) == 2 and len(Ferry().figures(df)) == 1


def test_a_replica_that_does_not_catch_up_is_named():
    know_subjects(SUBJECTS)
    one = {"round": 0, "replica": "MariaDB", "tps": 1000.0, "lag_end_s": 9.0, "grows": 0.9, "lag_most_s": 9.0, "seconds_behind_master": None,
           "transactions_behind": 5, "cpu_primary_s": 1.0, "cpu_replica_s": 1.0, "disk_ms": 0.1, "error": None,
           "samples": [{"at": 1, "lag": 1.0}, {"at": 2, "lag": 9.0}]}  # fmt: skip
    df = pd.DataFrame([
        {"subject": "Narwal", **one, "drain_s": None, "caught_up": 0.0, "equal_rows": None},
        {"subject": "MariaDB", **one, "drain_s": 2.0, "caught_up": 1.0, "equal_rows": 0.0},
    ])  # fmt: skip
    assert list(Replication().tables(df)[0].frame["rows equal"]) == ["not caught up in time", "no"]
    assert "Narwal -> MariaDB 9.0 s (drain longer than waited for" in Replication().summary(df)[0]
    assert len(Replication().figures(df)) == 1


def test_purges_are_compared_with_quiet_stretches():
    know_subjects(SUBJECTS)
    df = frame({("Narwal", QUIET): [100.0], ("Narwal", BUSY): [90.0]}, "stretch", file_mib=16, ratio=1.25, p50_ms=1.0, p99_ms=2.0, p999_ms=3.0,
               max_ms=4.0, slowest_purge_s=0.1, purged_mib=64, purges=4)  # fmt: skip
    assert Purge().summary(df) == ["Through rotations and purges of the log: Narwal 1.25x its quiet p99."]
    assert len(Purge().tables(df)) == 3


def test_histograms_of_runs_are_added_up():
    text = "Latency histogram (values are in milliseconds)\n  1.000 |*** 99\n  2.000 |  1\n\n max:  7.5\n"
    assert latency.histogram(text) == [(1.0, 99), (2.0, 1)]
    both = latency.Latencies()
    both.add(text, 1)
    both.add(text.replace("2.000", "9.000"), 1)
    assert both.result() | {"p99_of_stretches_ms": None} == {
        "commits": 200, "per_second": 100, "p50_ms": 1.0, "p99_ms": 1.0, "p999_ms": 9.0, "max_ms": 7.5, "p99_of_stretches_ms": None,
    }  # fmt: skip
    assert latency.percentile([], 0.5) is None


# -- what they measure with --------------------------------------------------------------------------------------------


@contextmanager
def echo():
    """The port of a server that sends back what it gets until the other side has closed its half, and then says so."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        s, _ = listener.accept()
        with s:
            while piece := s.recv(1 << 16):
                s.sendall(piece)
            s.sendall(b"end")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    thread.join(10)
    listener.close()


def through(port: int, data: bytes) -> tuple[bytes, float]:
    """What comes back, and after how long the first of it."""
    got, first = b"", None
    with socket.create_connection(("127.0.0.1", port), timeout=20) as s:
        began = time.monotonic()
        sender = threading.Thread(target=lambda: (s.sendall(data), s.shutdown(socket.SHUT_WR)))
        sender.start()
        while piece := s.recv(1 << 16):
            first = first or time.monotonic() - began
            got += piece
        sender.join()
    return got, first


def test_a_delayed_link_carries_everything_and_takes_its_time():
    data = os.urandom(3 << 20)
    with echo() as port, Proxy(port, delay=0.03) as link:
        got, first = through(link.port, data)
    assert got == data + b"end"
    assert first >= 0.06


def test_a_delayed_link_in_a_process_of_its_own():
    with echo() as port, delayed(port, 20_000) as through_port:
        got, first = through(through_port, b"x")
    assert got == b"xend" and first >= 0.04
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", through_port), timeout=1)


def test_only_what_goes_to_or_comes_from_the_far_address_is_delayed():
    if subprocess.run(["unshare", "-n", "tc", "qdisc", "show"], capture_output=True).returncode:
        pytest.skip("no right to make a network namespace")
    before = os.readlink("/proc/thread-self/ns/net")
    with network.namespace():
        assert os.readlink("/proc/thread-self/ns/net") != before
        for rule in network.rules("pfifo"):  # in the place of netem, which kernels lack that have this
            if subprocess.run(["tc", *rule.split()], capture_output=True).returncode:
                pytest.skip("this kernel has no htb")
        listener = socket.create_server(("0.0.0.0", 0))

        def passed(host: str) -> int:
            with socket.create_connection((host, listener.getsockname()[1])) as s:
                there, _ = listener.accept()
                there.sendall(b"x")
                assert s.recv(1) == b"x"
                there.close()
            shown = json.loads(subprocess.run(["tc", "-s", "-j", "qdisc", "show", "dev", "lo"], capture_output=True, text=True).stdout)
            return next(q["packets"] for q in shown if q["kind"] == "pfifo")

        assert passed("127.0.0.1") == 0
        assert passed(network.FAR) >= 5  # both directions
        listener.close()
    assert os.readlink("/proc/thread-self/ns/net") == before


def test_a_memory_group_holds_a_process():
    try:
        group = MemoryGroup("test")
    except OSError as e:
        pytest.skip(f"no right to make a cgroup: {e}")
    child = subprocess.Popen(["sleep", "60"])
    try:
        assert not group.holds(child.pid)
        group.hold(child.pid, 64)
        assert group.holds(child.pid)
        assert group.folder.name in open(f"/proc/{child.pid}/cgroup").read()
        assert group._limit.read_text().strip() == str(64 << 20)
    finally:
        child.kill()
        child.wait()
        group.remove()
    assert not group.folder.exists()


def test_rotations_and_purges_beside_a_load(own_narwal):
    server = own_narwal(f"--max-binlog-size={1 << 20}")
    purging.fill(server, 3, 1 << 20)
    files = server.sql("SHOW BINARY LOGS")
    assert len(files) >= 4 and int(files[0][1]) > 900_000
    done: list[dict] = []
    purging.Purges(server, 2, 0.2, done).wait()
    assert [d["file"] for d in done] == [f[0] for f in files[:2]]
    assert server.sql("SHOW BINARY LOGS")[0][0] == files[2][0]
    assert not server.sql("SHOW DATABASES LIKE 'filler'")


def test_readers_get_what_is_written_and_notice_when_it_is_nothing(own_narwal):
    server = own_narwal()
    server.sql("CREATE DATABASE d; CREATE TABLE d.t (id INT PRIMARY KEY, c TEXT)")
    with readers.discarding(server, 2):
        server.sql("INSERT INTO d.t VALUES (1, REPEAT('x', 5000))")
        time.sleep(0.5)
    assert readers.dump(server)["bytes"] > 5000
    with pytest.raises(RuntimeError, match="got nothing"):
        with readers.discarding(server, 1):
            pass
