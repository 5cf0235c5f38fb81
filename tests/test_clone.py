"""`narwal replica --from`: replicas of running servers in one step, under load, through cut links and kills; and what it refuses."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from conftest import STAND_IN
from testbed.load import Load
from testbed.proxy import Proxy
from testbed.servers import narwal_binary
from support import Client, wait_until

pytestmark = pytest.mark.skipif(STAND_IN, reason="Narwal's own")


def words(port: int, datadir: Path, *args: str) -> list[str]:
    return [str(narwal_binary()), "replica", f"--from=127.0.0.1:{port}", f"--datadir={datadir}", *args]


def make(port: int, datadir: Path, *args: str, code: int = 0) -> str:
    """Runs the command to its end; what it said."""
    done = subprocess.run(words(port, datadir, *args), capture_output=True, text=True, timeout=180)
    said = done.stdout + done.stderr
    assert done.returncode == code, said
    return said


def fill(c: Client, mib: int) -> None:
    """A table of so many MiB that do not compress."""
    c.ok("CREATE DATABASE big")
    c.ok("CREATE TABLE big.t (id INT PRIMARY KEY, v LONGBLOB)")
    for i in range(mib):
        c.ok(f"INSERT INTO big.t VALUES ({i}, REPEAT(CHAR({65 + i % 26}), 1048576))")


def same(replica, primary, **options) -> None:
    """Catches up, is equal."""
    assert replica.same(primary.port, **options).tables > 0


@pytest.mark.parametrize("log", [True, False])
def test_a_narwal_under_load(lab, log):
    primary = lab.narwal()
    replica = lab.narwal_replica(start=False)
    with Load(primary, "loaded", writers=3) as load:
        load.wait(200)
        c = Client(primary)
        c.ok("CREATE USER app@'%' IDENTIFIED BY 'secret'")
        said = make(primary.port, replica.datadir, *([] if log else ["--no-log"]))
        assert "is a replica of 127.0.0.1" in said and "narwal serve" in said
        assert not replica.datadir.with_name("data.cloning").exists()
        load.wait(100)
        replica.start()
        load.wait(100)
    same(replica, primary)
    r = Client(replica)
    # Accounts and the binary log came along, positions are the source's.
    assert r.rows("SHOW GRANTS FOR app@'%'") == c.rows("SHOW GRANTS FOR app@'%'")
    assert r.value("SELECT @@gtid_binlog_pos") == c.value("SELECT @@gtid_binlog_pos")
    if log:
        assert r.rows("SHOW BINARY LOGS")[0][0] == c.rows("SHOW BINARY LOGS")[0][0]
    assert r.value("SELECT @@server_id") != c.value("SELECT @@server_id")
    # A clone of the clone is one of the clone, not of its source.
    second = lab.narwal_replica(start=False)
    make(replica.port, second.datadir)
    second.start()
    assert [int(s["Master_Port"]) for s in second.all_status()] == [replica.port]
    c.ok("INSERT INTO loaded.load_marks VALUES (100, 1)")
    replica.catch_up(primary.port)
    same(second, replica)


def test_cut_links_and_a_killed_clone_go_on(lab, tmp_path):
    primary = lab.narwal()
    fill(Client(primary), 60)
    replica = lab.narwal_replica(start=False)
    with Proxy(primary) as link:
        make(link.port, tmp_path / "whole")
        whole, before = link.bytes, link.bytes
        link.limit = 40 << 20
        process = subprocess.Popen(
            words(link.port, replica.datadir), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        for at in (15 << 20, 35 << 20):
            wait_until(lambda: link.bytes - before > at, lambda: f"{link.bytes} bytes", 60)  # noqa: B023
            link.break_()
        wait_until(lambda: link.bytes - before > 60 << 20, lambda: f"{link.bytes} bytes", 60)
        process.kill()
        said = process.communicate()[0]
        assert said.count("was lost") == 2 and "begins anew" not in said, said
        assert not replica.datadir.exists()
        # It takes what was not sent yet, and not all over again.
        link.limit = 0
        first = link.bytes - before
        said = make(link.port, replica.datadir)
        assert "begins anew" not in said, said
        assert link.bytes - before - first < whole - (25 << 20), f"{first} and then {link.bytes - before - first} of {whole}"
        # It follows by the link that it was cloned by.
        replica.start()
        with Load(primary, "loaded", writers=2) as load:
            load.wait(50)
        same(replica, primary)


def test_a_mariadb_under_load(lab, tmp_path):
    primary = lab.mariadb(["--log-bin=mb", "--server-id=7", "--binlog-format=ROW", "--gtid-domain-id=3"])
    c = Client(primary)
    c.ok("CREATE DATABASE types")
    c.ok(
        "CREATE TABLE types.t (id INT PRIMARY KEY AUTO_INCREMENT, f FLOAT, d DOUBLE, n DECIMAL(30,10), s VARCHAR(50),"
        " u TEXT, x VARBINARY(50), dt DATETIME(6), ts TIMESTAMP(3) NULL,"
        " ti TIME(2), y YEAR, bl BLOB, ub BIGINT UNSIGNED, `odd ``name``` INT)"
    )
    c.ok(
        "INSERT INTO types.t VALUES (0, 0.1, 0.1, 1.5, 'grün', '日本', x'00ff27', '2020-01-02 03:04:05.678901',"
        " '2021-06-07 08:09:10.123', '-12:34:56.78', 2024, x'deadbeef00', 18446744073709551615, -1)"
    )
    c.ok("INSERT INTO types.t (f, d) VALUES (16777216, 1e300), (3.4e38, 2.2250738585072014e-308), (1e-30, -0.3)")
    c.ok("CREATE VIEW types.v AS SELECT id FROM types.t")
    c.ok("CREATE TABLE types.child (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES types.t (id) ON DELETE CASCADE)")
    c.ok("INSERT INTO types.child SELECT id, id FROM types.t")
    c.ok("CREATE TABLE types.foreigner (id INT PRIMARY KEY, t INT) PARTITION BY HASH (id) PARTITIONS 2")
    c.ok("CREATE TABLE types.old (id INT PRIMARY KEY) ENGINE=MyISAM")
    replica = lab.narwal_replica(["--replicate-ignore-table=types.foreigner", "--replicate-ignore-table=types.old"], start=False)
    # What can't be copied is named, all of it, before anything else.
    said = make(primary.port, replica.datadir, code=1)
    assert "types.foreigner" in said and "types.old is of engine MyISAM" in said and "--ignore-table" in said, said
    ignored = ["--ignore-table=types.foreigner", "--ignore-table=types.old"]
    with Load(primary, "loaded", writers=3, ddl=False) as load:
        load.wait(200)
        said = make(primary.port, replica.datadir, *ignored)
        assert "left out" not in said and "--replicate-ignore-table=types.old" in said, said
        load.wait(100)
        replica.start()
        load.wait(100)
    same(replica, primary, leave_out={"types.v", "types.foreigner", "types.old"})
    r = Client(replica)
    assert r.value("SELECT @@gtid_slave_pos").startswith("3-7-")
    assert len(r.rows("SELECT * FROM types.v")) == len(c.rows("SELECT * FROM types.v"))
    # The floats to their last bit.
    for sql in ("SELECT id, f + 0e0, d FROM types.t ORDER BY id", "SELECT MAX(id) FROM types.t"):
        assert [tuple(map(float, row)) for row in r.rows(sql)] == [tuple(map(float, row)) for row in c.rows(sql)]


def test_start_goes_on_as_the_server(lab, tmp_path):
    primary = lab.narwal()
    c = Client(primary)
    c.ok("CREATE USER repl@'%' IDENTIFIED BY 'it''s \\\\ secret'")
    c.ok("GRANT RELOAD, REPLICATION SLAVE ON *.* TO repl@'%'")
    c.ok("CREATE DATABASE d")
    c.ok("CREATE TABLE d.t (id INT PRIMARY KEY)")
    replica = lab.narwal_replica(start=False)
    password = tmp_path / "password"
    password.write_text("it's \\ secret\nsecond line\n")
    command = replica.command()
    assert command[1] == "serve"
    server = [w for w in command[2:] if not w.startswith("--datadir")]
    replica.command = lambda: words(
        primary.port, replica.datadir, "--user=repl", f"--password-file={password}", "--start", "--", *server
    )
    replica.start()
    c.ok("INSERT INTO d.t VALUES (1)")
    same(replica, primary)


def test_what_is_refused(lab, tmp_path):
    primary = lab.narwal()
    c = Client(primary)
    c.ok("CREATE USER weak@'%' IDENTIFIED BY 'pw'")
    target = tmp_path / "new"
    said = make(primary.port, target, "--user=weak", "--password=wrong", code=1)
    assert "1045" in said, said
    said = make(primary.port, target, "--user=weak", "--password=pw", code=1)
    assert "1227" in said and "RELOAD" in said, said
    said = make(primary.port, target, "--start", "--", "--prot=1", code=2)
    assert "did you mean --port" in said, said
    said = make(primary.port, target, "--start", "--", "--server-id=1", code=2)
    assert "server id 1 is that of" in said, said
    full = tmp_path / "full"
    full.mkdir()
    (full / "precious").write_text("x")
    assert "is not empty" in make(primary.port, full, code=1)
    other = tmp_path / "other.cloning"
    other.mkdir()
    (other / "precious").write_text("x")
    assert "is in the way" in make(primary.port, tmp_path / "other", code=1)
    assert (full / "precious").exists() and (other / "precious").exists() and not target.exists()
    silent = lab.mariadb()
    assert "binary log is off" in make(silent.port, target, code=1)
    silent = lab.mariadb(["--log-bin=mb", "--binlog-format=MIXED"])
    assert "binlog_format is MIXED" in make(silent.port, target, code=1)
