"""Histories that part: found, shown, stopped on, mended. `narwal diverge`, `narwal rejoin`, FLASHBACK BINARY LOGS, and what replicas
that have parted from their source are told."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import threading
import time

import pytest
from conftest import MARIADB_AS_NARWAL, STAND_IN
from readers import change, prepare
from support import Client

from testbed.compare import compare
from testbed.replica import gtid_position
from testbed.servers import narwal_binary

if STAND_IN:
    pytest.skip("these are Narwal's own commands", allow_module_level=True)

ROWS = [
    "CREATE DATABASE d CHARACTER SET utf8mb4",
    "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, v VARCHAR(300), f DOUBLE, b VARBINARY(20), n DECIMAL(10,2))",
    "CREATE TABLE d.nokey (a INT, b TEXT)",
    "INSERT INTO d.t (v, f, b, n) VALUES ('a', 0.5, x'00ff', 1.25), ('ü', NULL, '', -1), (NULL, -2, NULL, NULL)",
    "INSERT INTO d.nokey VALUES (1, 'x'), (1, 'x'), (NULL, NULL)",
    "UPDATE d.t SET v = CONCAT(v, '!') WHERE id = 1",
    "DELETE FROM d.nokey WHERE a = 1 LIMIT 1",
]
# Three transactions that nobody else has.
ROGUE = [
    "INSERT INTO d.t (v) VALUES ('rogue''s; \\\\'), ('another')",
    "UPDATE d.t SET v = 'rogue', f = f + 1 WHERE id IN (1, 2)",
    "DELETE FROM d.nokey WHERE a = 1",
]


def run_all(server, statements) -> None:
    with Client(server) as client:
        for sql in statements:
            client.ok(sql)


def tool(*args: object, status: int = 0, cwd=None) -> subprocess.CompletedProcess:
    done = subprocess.run([str(narwal_binary()), *map(str, args)], capture_output=True, text=True, errors="replace", cwd=cwd, timeout=120)
    assert done.returncode == status, f"{args}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def diverge(here, there, *args: object, status: int = 5, cwd=None) -> dict:
    """`narwal diverge --json` of a server over its port, or of a folder."""
    side = [f"--port={here.port}"] if hasattr(here, "port") else [f"--datadir={here}"]
    return json.loads(tool("diverge", f"--from=127.0.0.1:{there.port}", *side, "--json", *args, status=status, cwd=cwd).stdout)


def client_runs(server, path) -> None:
    """The file, as people run it."""
    with open(path, "rb") as sql:
        done = subprocess.run(["mariadb", "--no-defaults", "-h127.0.0.1", f"-P{server.port}", "-uroot"], stdin=sql, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def content(server) -> dict:
    """Every row of every table here; tables without a key in no order."""
    with Client(server, database="d") as client:
        return {t: sorted(map(repr, client.rows(f"SELECT * FROM {t}"))) for (t,) in client.rows("SHOW TABLES")}


def assert_equal(one, other) -> None:
    found = compare(one.port, other.port)
    assert not found.differences, found.differences


@pytest.fixture
def parted(own_narwal):
    """Two servers with one history, then three transactions on the second and five on the first."""
    here, there = own_narwal("--server-id=1"), own_narwal("--server-id=1")
    for server in (here, there):
        run_all(server, ROWS)
    here.stop()
    here.args = ["--server-id=2"]
    here.start()
    before = content(here)
    run_all(here, ROGUE)
    run_all(there, [f"INSERT INTO d.t (v) VALUES ('good {n}')" for n in range(5)])
    return here, there, before


def test_report_and_files(parted, tmp_path):
    here, there, before = parted
    n = len(ROWS)
    found = diverge(here, there, "--save=saved", cwd=tmp_path)
    (domain,) = found["domains"]
    assert (domain["common"], domain["compared"]) == (f"0-1-{n}", n)
    assert [g["gtid"] for g in domain["only_here"]] == [f"0-2-{n + i}" for i in (1, 2, 3)]
    assert domain["only_there"] == {"count": 5, "first": f"0-1-{n + 1}", "last": f"0-1-{n + 5}"}
    assert domain["only_here"][1]["tables"] == {"d.t": {"inserted": 0, "updated": 2, "deleted": 0}}
    assert found["parted"] and found["undoable"]
    # The folder of the running server says the same, and as text too; nothing is written.
    again = diverge(here.datadir, there, "--save=none", cwd=tmp_path)
    assert again["domains"] == found["domains"] and again["saved"] is None
    text = tool("diverge", f"--from=127.0.0.1:{there.port}", f"--datadir={here.datadir}", "--save=none", status=5, cwd=tmp_path).stdout
    assert f"THE HISTORIES PART behind 0-1-{n}" in text
    assert 'update d.t: id=1 | v="a!"→"rogue" f=0.5→1.5' in text and "delete d.nokey: a=1" in text, text
    assert [p.name for p in tmp_path.iterdir()] == ["saved"]
    assert {p.name for p in (tmp_path / "saved").iterdir()} == {"rogue.sql", "rogue-undo.sql", "rogue.bin", "report.json"}
    # What was saved is never overwritten.
    tool("diverge", f"--from=127.0.0.1:{there.port}", f"--port={here.port}", "--save=saved", status=1, cwd=tmp_path)
    events = subprocess.run(["mariadb-binlog", "-v", str(tmp_path / "saved" / "rogue.bin")], capture_output=True, text=True, errors="replace")
    assert events.returncode == 0 and f"GTID 0-2-{n + 3}" in events.stdout and "### DELETE FROM `d`.`nokey`" in events.stdout
    # Undone, and done once more.
    after = content(here)
    assert after != before
    client_runs(here, tmp_path / "saved" / "rogue-undo.sql")
    assert content(here) == before
    client_runs(here, tmp_path / "saved" / "rogue.sql")
    assert content(here) == after
    # The other way round there are five, and none against itself.
    assert len(diverge(there, here, "--save=none")["domains"][0]["only_here"]) == 5
    assert not diverge(there, there, status=0)["parted"]


def test_statements_can_not_be_undone_and_that_is_said(parted, tmp_path):
    here, there, _ = parted
    run_all(here, ["CREATE TABLE d.own (a INT)"])
    found = diverge(here, there, cwd=tmp_path)
    assert not found["undoable"] and "CREATE TABLE d.own" in found["domains"][0]["only_here"][3]["not_undoable"]
    (folder,) = tmp_path.iterdir()
    assert {p.name for p in folder.iterdir()} == {"rogue.sql", "rogue.bin", "report.json"}
    assert "CREATE TABLE d.own (a INT);" in (folder / "rogue.sql").read_text()
    # rejoin refuses before it changes anything.
    state = content(here), gtid_position(here.port)
    said = tool("rejoin", f"--from=127.0.0.1:{there.port}", f"--port={here.port}", "--yes", f"--save={tmp_path / 'again'}", status=1).stderr
    tool("rejoin", f"--from=127.0.0.1:{there.port}", f"--port={here.port}", "--yes", "--save=none", status=2)
    assert "can't be undone from the log" in said and "CREATE TABLE d.own" in said and "narwal replica --from" in said
    assert (content(here), gtid_position(here.port)) == state
    with Client(here) as client:
        answer = client.fails("FLASHBACK BINARY LOGS GTIDS '0-2-8..11'", 1235)
        assert "0-2-11" in answer.message and "CREATE TABLE d.own" in answer.message
    assert (content(here), gtid_position(here.port)) == state


def test_rows_that_were_changed_since_are_not_taken_back(parted):
    here, _, _ = parted
    state = content(here), gtid_position(here.port)
    with Client(here) as client:
        client.ok("SET sql_log_bin = 0")
        client.ok("UPDATE d.t SET n = 99 WHERE id = 2")
        client.ok("SET sql_log_bin = 1")
        assert "Transaction 0-2-9" in client.fails("FLASHBACK BINARY LOGS GTIDS '0-2-8..10'", 1032).message
        client.ok("UPDATE d.t SET n = -1 WHERE id = 2")
        client.fails("FLASHBACK BINARY LOGS GTIDS '0-2-77'", 1105)
        client.fails("FLASHBACK BINARY LOGS GTIDS '0-2'", 1941)
    with Client(here) as client:
        assert content(here) == state[0]
        client.ok("CREATE USER plain@'%'")
    with Client(here, user="plain") as client:
        client.fails("FLASHBACK BINARY LOGS GTIDS '0-2-8'", 1227)


def test_flashback_survives_kills(parted):
    """Killed at any moment: what was to be taken back is all there or all gone, and the statement once more finishes it."""
    here, there, before = parted
    rng = random.Random(7)
    taken = 0
    for _ in range(6):
        after, n = content(here), int(gtid_position(here.port).split("-")[2])

        def flashback():
            try:
                with Client(here) as client:
                    client.run(f"FLASHBACK BINARY LOGS GTIDS '0-2-8..{n}'")
            except Exception:  # the kill
                pass

        thread = threading.Thread(target=flashback)
        thread.start()
        time.sleep(rng.random() * 0.02)
        here.kill()
        thread.join()
        here.start()
        assert content(here) in (before, after)
        with Client(here) as client:
            client.ok("FLASHBACK BINARY LOGS GTIDS ''")
            if gtid_position(here.port).startswith("0-2-"):
                assert content(here) == after
                client.ok(f"FLASHBACK BINARY LOGS GTIDS '0-2-8..{n}'")
            else:
                taken += 1
            assert content(here) == before and gtid_position(here.port) == "0-1-7"
            assert client.value("SELECT @@gtid_slave_pos") == "0-1-7"
        run_all(here, ROGUE)
    here.stop()
    tool("check", here.datadir)


def test_other_servers_write_the_same_content(own_narwal, own_replica):
    """Every type, and the statements that make the tables: a MariaDB replica's own log has the content that Narwal's has."""
    primary, replica = own_narwal("--server-id=1"), own_replica(log=True)
    with Client(primary) as client:
        prepare(client, "types")
        change(client, "types")
    run_all(primary, [*ROWS, *ROGUE, "DROP TABLE d.nokey", "ALTER TABLE d.t ADD KEY (v)", "TRUNCATE TABLE d.t", "CREATE USER u@'%'", "DROP DATABASE d"])
    replica.follow(primary.port)
    replica.catch_up(primary.port)
    found = diverge(replica, primary, status=0)
    (domain,) = found["domains"]
    assert domain["compared"] > 20 and domain["common"] == gtid_position(primary.port) and domain["only_there"]["count"] == 0


def test_replicas_that_write_less_are_not_taken_for_other_histories(own_narwal_replica):
    """Row images that lack columns, and tables that are left out: other content by right, so nobody is refused for it."""
    primary, minimal, filtered = own_narwal_replica(), own_narwal_replica("--binlog-row-image=MINIMAL"), own_narwal_replica()
    run_all(primary, ROWS)
    filtered.query("SET GLOBAL replicate_ignore_table = 'd.nokey'")
    both = ["BEGIN", "INSERT INTO d.nokey VALUES (7, 'left out')", "UPDATE d.t SET v = 'x' WHERE id = 1", "COMMIT"]
    for replica in (minimal, filtered):
        replica.follow(primary.port)
    run_all(primary, both)
    for replica in (minimal, filtered):
        replica.catch_up(primary.port)
        replica.stop_slave()
        replica.start_slave()
        replica.wait_running()
    run_all(primary, ["INSERT INTO d.t (v) VALUES ('on')"])
    for replica in (minimal, filtered):
        replica.catch_up(primary.port)
    assert not diverge(minimal, primary, "--save=none", status=0)["parted"]
    # What was left out shows.
    found = diverge(filtered, primary, "--save=none")
    assert found["domains"][0]["only_here"][-1]["other_content_there"]


def test_mariadb_as_the_other_server(lab, own_narwal_replica, tmp_path):
    primary = lab.mariadb(MARIADB_AS_NARWAL)
    replica = own_narwal_replica()
    try:
        run_all(primary, ROWS)
        replica.follow(primary.port)
        replica.catch_up(primary.port)
        assert not diverge(replica, primary, status=0)["parted"]
        replica.stop_slave()
        run_all(replica, ROGUE)
        run_all(primary, ["INSERT INTO d.t (v) VALUES ('good')"])
        tool("rejoin", f"--from=127.0.0.1:{primary.port}", f"--port={replica.port}", "--yes", cwd=tmp_path)
        assert_equal(replica, primary)
    finally:
        lab.remove(primary)


def test_the_story(own_narwal_replica, proxy, tmp_path):
    """A partition, writes on both sides, a replica that stops and says why, the report, and one command that mends it."""
    primary, replica = own_narwal_replica(), own_narwal_replica()
    link = proxy(primary)
    run_all(primary, ROWS)
    replica.follow(link.port, connect_retry=1)
    replica.catch_up(primary.port)
    fork = gtid_position(primary.port)
    n = int(fork.split("-")[2])

    link.cut()
    run_all(replica, ROGUE)
    run_all(primary, [f"INSERT INTO d.t (v, f) VALUES ('good {i}', {i})" for i in range(38)] + ["DELETE FROM d.t WHERE id = 3"])
    good = content(primary)
    link.mend()

    error = replica.wait_error()
    theirs, ours = f"0-{replica.server_id}-{n + 3}", f"0-{primary.server_id}-{n + 39}"
    assert theirs in error or f"0-{primary.server_id}-{n + 1}" in error, error
    assert f"0-{replica.server_id}-" in error and f"0-{primary.server_id}-" in error, f"both sides are named: {error}"
    assert content(primary) == good

    found = diverge(replica, primary, "--save=none")
    (domain,) = found["domains"]
    assert domain["common"] == fork and len(domain["only_here"]) == 3 and domain["only_there"]["count"] == 39
    assert domain["only_there"]["last"] == ours and domain["only_here"][-1]["gtid"] == theirs

    said = tool("rejoin", f"--from=127.0.0.1:{link.port}", f"--port={replica.port}", "--yes", "--save=saved", cwd=tmp_path).stdout
    assert "taken back: 3 transactions" in said and "has everything" in said, said
    assert gtid_position(replica.port) == gtid_position(primary.port) == ours
    assert content(primary) == good == content(replica)
    assert_equal(replica, primary)
    # It goes on, and what the replica's own readers see is the primary's history from the fork on.
    run_all(primary, ["INSERT INTO d.t (v) VALUES ('on')"])
    replica.catch_up(primary.port)
    assert_equal(replica, primary)
    assert not diverge(replica, primary, status=0)["parted"]
    # What was taken back applies where it is wanted, and can be undone there.
    state = content(primary)
    (tmp_path / "saved" / "rogue.sql").rename(tmp_path / "wanted.sql")
    with Client(primary) as client:
        # The primary has used the numbers meanwhile.
        client.ok("DELETE FROM d.t WHERE id IN (4, 5)")
    replica.catch_up(primary.port)
    state = content(primary)
    client_runs(primary, tmp_path / "wanted.sql")
    assert content(primary) != state
    client_runs(primary, tmp_path / "saved" / "rogue-undo.sql")
    assert content(primary) == state
    replica.catch_up(primary.port)
    assert_equal(replica, primary)


def test_by_hand(own_narwal_replica, tmp_path):
    """The documented statements."""
    primary, replica = own_narwal_replica(), own_narwal_replica()
    run_all(primary, ROWS)
    replica.follow(primary.port)
    replica.catch_up(primary.port)
    fork = gtid_position(primary.port)
    replica.stop_slave()
    run_all(replica, ROGUE)
    run_all(primary, ["INSERT INTO d.t (v) VALUES ('good')"])
    diverge(replica, primary, "--save=saved", cwd=tmp_path)
    with open(tmp_path / "saved" / "undo.sql", "w") as out:
        out.write("SET sql_log_bin = 0;\n" + (tmp_path / "saved" / "rogue-undo.sql").read_text())
    client_runs(replica, tmp_path / "saved" / "undo.sql")
    with Client(replica) as client:
        client.ok("STOP SLAVE")
        client.ok("RESET MASTER")
        client.ok(f"SET GLOBAL gtid_binlog_state = '{fork}'")
        client.ok(f"SET GLOBAL gtid_slave_pos = '{fork}'")
        client.ok(f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={primary.port}, MASTER_USER='root', MASTER_USE_GTID=slave_pos")
        client.ok("START SLAVE")
    replica.catch_up(primary.port)
    assert_equal(replica, primary)


def test_a_primary_that_was_set_back_to_an_older_copy(own_narwal_replica, tmp_path):
    """It gives the same GTIDs to other transactions. A replica with the first ones is refused, and the report says which."""
    primary, replica = own_narwal_replica(), own_narwal_replica()
    run_all(primary, ROWS)
    primary.stop()
    copy = tmp_path / "copy"
    shutil.copytree(primary.datadir, copy, ignore=shutil.ignore_patterns("*.sock"))
    primary.start()
    run_all(primary, ["INSERT INTO d.t (id, v) VALUES (100, 'first')", "INSERT INTO d.t (id, v) VALUES (101, 'same')"])
    replica.follow(primary.port)
    replica.catch_up(primary.port)
    last = gtid_position(primary.port)
    primary.stop()
    shutil.rmtree(primary.datadir)
    shutil.copytree(copy, primary.datadir)
    primary.start()
    # One transaction fewer: the replica is ahead.
    run_all(primary, ["INSERT INTO d.t (id, v) VALUES (100, 'other')"])
    replica.stop_slave()
    replica.start_slave()
    error = replica.wait_error()
    assert "1236" in error and f"{last}, which is not in the master's binlog" in error and "The slave has more" in error, error
    # As many, by the same names: only their contents tell.
    run_all(primary, ["INSERT INTO d.t (id, v) VALUES (102, 'other')", "INSERT INTO d.t (id, v) VALUES (103, 'third')"])
    replica.stop_slave()
    replica.start_slave()
    error = replica.wait_error()
    assert "1236" in error and f"{last}, which is in the master's binlog with other content" in error, error
    found = diverge(replica, primary, "--save=none")
    (domain,) = found["domains"]
    assert [g["other_content_there"] is not None for g in domain["only_here"]] == [True, True]
    assert domain["only_there"]["count"] == 3 and domain["common"].endswith(f"-{len(ROWS)}")
    tool("rejoin", f"--from=127.0.0.1:{primary.port}", f"--port={replica.port}", "--yes", cwd=tmp_path)
    assert_equal(replica, primary)


def test_a_former_primary_joins(own_narwal_replica, tmp_path):
    """It has what the new primary lacks; rejoin takes that back, though it has never been a replica."""
    former, new = own_narwal_replica(), own_narwal_replica()
    run_all(former, ROWS)
    new.follow(former.port)
    new.catch_up(former.port)
    new.stop_slave()
    new.query("RESET SLAVE ALL")
    run_all(former, ROGUE)
    run_all(new, ["INSERT INTO d.t (v) VALUES ('new')", "UPDATE d.nokey SET b = 'y'"])
    # Without it, the new primary refuses what it never had.
    former.change_master(new.port, demote_to_slave=1)
    former.start_slave()
    error = former.wait_error()
    assert "1236" in error and "is not in the master's binlog" in error and "The slave has more than the master" in error, error
    assert gtid_position(former.port) in error and gtid_position(new.port) in error, error
    tool("rejoin", f"--from=127.0.0.1:{new.port}", f"--datadir={former.datadir}", f"--socket={former.socket}", "--yes", status=2)
    tool("rejoin", f"--from=127.0.0.1:{new.port}", f"--socket={former.socket}", "--yes", cwd=tmp_path)
    assert_equal(former, new)


def test_nobody_to_ask(parted, tmp_path):
    here, there, _ = parted
    state = content(here), gtid_position(here.port)
    done = subprocess.run([str(narwal_binary()), "rejoin", f"--from=127.0.0.1:{there.port}", f"--port={here.port}", "--save=x"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, cwd=tmp_path)  # fmt: skip
    assert done.returncode == 2 and "--yes" in done.stderr, done.stderr
    assert (content(here), gtid_position(here.port)) == state


def follows_again(here, there) -> None:
    """Started once more, it is a replica that has and gets everything."""
    here.start()
    run_all(there, ["INSERT INTO d.t (v) VALUES ('after')"])
    with Client(here) as client:
        assert client.value(f"SELECT MASTER_GTID_WAIT('{gtid_position(there.port)}', 60)") == "0", client.rows("SHOW SLAVE STATUS")
    assert_equal(there, here)


def test_rejoin_of_a_server_that_does_not_run(parted, tmp_path):
    here, there, _ = parted
    here.stop()
    command = ["rejoin", f"--from=127.0.0.1:{there.port}", f"--datadir={here.datadir}", "--yes", f"--save={tmp_path}/saved"]
    said = tool(*command, "--", "--server-id=2").stdout
    assert "taken back: 3 transactions" in said and "has everything up to" in said
    assert "another" in (tmp_path / "saved" / "rogue.sql").read_text()
    follows_again(here, there)


def test_what_can_not_be_undone_is_fetched_anew(parted, tmp_path):
    here, there, _ = parted
    run_all(here, ["CREATE TABLE d.own (a INT)", "INSERT INTO d.own VALUES (4711)", "DROP TABLE d.nokey"])
    command = ["rejoin", f"--from=127.0.0.1:{there.port}", f"--datadir={here.datadir}", "--refetch", "--yes", f"--save={tmp_path}/saved"]
    # Not while it runs, wherever its socket is.
    before = content(here)
    assert "its server runs" in tool(*command, status=1).stderr
    assert not (tmp_path / "saved").exists()
    here.stop()
    # Not without being asked.
    said = tool(*[w for w in command if w not in ("--refetch", f"--save={tmp_path}/saved")], f"--save={tmp_path}/refused", status=1).stderr
    assert "--refetch" in said
    said = tool(*command).stdout
    kept = here.datadir.with_name("data.before-rejoin")
    assert "DROP TABLE" in said and str(kept) in said
    saved = (tmp_path / "saved" / "rogue.sql").read_text()
    assert "CREATE TABLE d.own" in saved and "4711" in saved
    follows_again(here, there)
    # What was is still there.
    here.stop()
    here.datadir.rename(here.datadir.with_name("new"))
    kept.rename(here.datadir)
    here.start()
    assert content(here) == before


def test_rows_that_others_have_changed_are_fetched_anew(parted, tmp_path):
    here, there, _ = parted
    with Client(here) as client:
        client.ok("SET sql_log_bin = 0")
        client.ok("UPDATE d.t SET v = 'nobody has seen this'")
    here.stop()
    command = ["rejoin", f"--from=127.0.0.1:{there.port}", f"--datadir={here.datadir}", "--yes"]
    assert "1032" in tool(*command, f"--save={tmp_path}/first", "--", "--server-id=2", status=1).stderr
    done = tool(*command, "--refetch", f"--save={tmp_path}/saved", "--", "--server-id=2")
    assert "1032" in done.stderr and (tmp_path / "saved" / "rogue.sql").exists()
    follows_again(here, there)
