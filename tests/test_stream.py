"""`narwal stream`: the changes of a server or a data folder as JSON lines, from any place, each exactly once in a file."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from conftest import STAND_IN
from support import Client, peak_memory

pytestmark = pytest.mark.skipif(STAND_IN, reason="what only Narwal has")


def command(binary, where: list[str], *args: str) -> list[str]:
    return [str(binary), "stream", *where, *args]


def folder(server) -> list[str]:
    return [f"--datadir={server.datadir}"]


def network(server) -> list[str]:
    return ["--host=127.0.0.1", f"--port={server.port}", "--user=root"]


def run(server, *args: str, where=network, code: int = 0, **options) -> subprocess.CompletedProcess:
    done = subprocess.run(command(server.binary, where(server), *args), capture_output=True, timeout=60, **options)
    assert done.returncode == code, (done.returncode, done.stderr.decode(errors="replace"))
    return done


def lines(server, *args: str, where=network, **options) -> list[dict]:
    if not any(arg.startswith("--until") for arg in args):
        args = ("--until=end", *args)
    return [json.loads(line) for line in run(server, *args, where=where, **options).stdout.splitlines()]


def same(line: dict) -> dict:
    """A line without the time at which it was written."""
    return {name: value for name, value in line.items() if name != "ts_ms"}


def ids(found: list[dict]) -> list[tuple]:
    return [(line["transaction"]["id"], line["transaction"]["total_order"]) for line in found]


def replay(found: list[dict], key: str = "id") -> dict[str, dict]:
    """The tables that the lines make."""
    tables: dict[str, dict] = {}
    for line in found:
        if "op" not in line:
            continue
        rows = tables.setdefault(line["source"]["table"], {})
        before, after = line["before"], line["after"]
        if line["op"] == "t":
            rows.clear()
        if before is not None:
            assert rows.pop(before[key]) == before, line
        if after is not None:
            assert after[key] not in rows, line
            rows[after[key]] = after
    return tables


class Load:
    """Threads that insert, change and delete rows of table t until they are told to stop."""

    def __init__(self, server, db: str, threads: int = 2):
        self.server, self.db = server, db
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.work, args=(n,)) for n in range(threads)]

    def __enter__(self) -> Load:
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stopped.set()
        for thread in self.threads:
            thread.join()

    def work(self, n: int) -> None:
        chance = random.Random(n)
        number = 0
        while not self.stopped.is_set():
            try:
                with Client(self.server, self.db) as c:
                    while not self.stopped.is_set():
                        number += 1
                        self.once(c, chance, n * 1_000_000 + number * 10)
            except Exception:  # the server is restarting
                time.sleep(0.05)

    @staticmethod
    def once(c: Client, chance: random.Random, at: int) -> None:
        c.run("BEGIN")
        rows = ",".join(f"({at + i}, 'v{at + i}', {chance.random()})" for i in range(chance.randrange(1, 6)))
        c.run(f"INSERT INTO t VALUES {rows}")
        c.run(f"UPDATE t SET v = CONCAT(v, 'x') WHERE id BETWEEN {at - 30} AND {at}")
        c.run(f"DELETE FROM t WHERE id BETWEEN {at - 60} AND {at - 40}")
        c.run(chance.choice(["COMMIT", "COMMIT", "COMMIT", "ROLLBACK"]))


@pytest.fixture
def server(own_narwal):
    made = own_narwal()
    with Client(made) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(100), f DOUBLE)")
    return made


def table(server) -> dict:
    with Client(server, "d") as c:
        rows = c.rows("SELECT id, v FROM t")
    return {int(i): v for i, v in rows}


def test_every_start(server):
    with Client(server, "d") as c:
        for i in range(10):
            c.ok(f"INSERT INTO t VALUES ({i}, 'a', 0), ({i + 100}, 'b', 1)")
        c.ok("UPDATE t SET v = 'c' WHERE id < 3")
        c.ok("DELETE FROM t WHERE id > 100")
        c.ok("TRUNCATE TABLE t")
        place = c.rows("SELECT @@gtid_binlog_pos")[0][0]
        file, offset = c.rows("SHOW MASTER STATUS")[0][:2]
        c.ok("ALTER TABLE t ADD INDEX (v)")
        c.ok("DROP TABLE t")
        c.ok("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100), f DOUBLE, more INT)")
        c.ok("INSERT INTO t VALUES (1, 'last', 0, 5)")
    whole = lines(server)
    assert [same(line) for line in lines(server, where=folder)] == [same(line) for line in whole]
    assert len(whole) == 2 + 20 + 3 + 9 + 1 + 4
    for where in (network, folder):
        for start in (place, f"{file}:{offset}"):
            found = lines(server, f"--from={start}", where=where)
            assert [same(line) for line in found] == [same(line) for line in whole[-4:]], (where, start)
        assert lines(server, "--from=now", where=where) == []
        for nth in (0, 1, 2, 9, 23, len(whole) - 2):
            found = lines(server, f"--from={whole[nth]['resume']}", where=where)
            assert [same(line) for line in found] == [same(line) for line in whole[nth + 1 :]], (where, nth)
    ddl = whole[-4]
    assert (ddl["databaseName"], ddl["ddl"]) == ("d", "ALTER TABLE t ADD INDEX (v)")
    assert ddl["tableChanges"] == [{"type": "ALTER", "id": '"d"."t"'}]
    assert whole[-5]["op"] == "t" and whole[-5]["source"]["table"] == "t"
    last = whole[-1]
    assert last["after"] == {"id": 1, "v": "last", "f": 0.0, "more": 5} and last["key"] == {"id": 1}
    assert last["before"] is None and last["op"] == "c" and last["source"]["snapshot"] == "false"
    update = next(line for line in whole if line.get("op") == "u")
    assert (update["before"]["v"], update["after"]["v"]) == ("a", "c")
    assert replay(whole)["t"].keys() == {1}
    until = lines(server, f"--until={whole[5]['transaction']['id']}")
    assert [same(line) for line in until] == [same(line) for line in whole[: len(until)]] and 5 < len(until) <= 7


def test_a_file_has_every_line_once_whenever_it_is_killed(server, tmp_path):
    chance = random.Random(7)
    for with_state in (True, False):
        out, state = tmp_path / f"out{with_state}", tmp_path / "state"
        args = [f"--output={out}"] + ([f"--state={state}"] if with_state else [])
        where = network if with_state else folder
        sizes = []
        with Load(server, "d"):
            for _ in range(7):
                process = subprocess.Popen(command(server.binary, where(server), *args), stderr=subprocess.PIPE)
                time.sleep(chance.uniform(0.05, 0.6))
                assert process.poll() is None, process.stderr.read()
                process.kill()
                process.wait()
                sizes.append(out.stat().st_size if out.exists() else 0)
                if not with_state and out.exists() and sizes[-1] > 5000:
                    os.truncate(out, sizes[-1] - chance.randrange(3000))
        run(server, "--until=end", *args, where=where)
        found = [json.loads(line) for line in out.read_text().splitlines()]
        assert ids(found) == ids(lines(server))
        assert max(sizes) > 0 and {i: row["v"] for i, row in replay(found)["t"].items()} == table(server)


def test_a_pipe_loses_nothing(server, tmp_path):
    state, got = tmp_path / "state", []
    chance = random.Random(8)
    with Load(server, "d"):
        for _ in range(5):
            process = subprocess.Popen(
                command(server.binary, network(server), f"--state={state}"),
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )  # fmt: skip
            killer = threading.Timer(chance.uniform(0.3, 1.6), process.kill)
            killer.start()
            got.append([json.loads(line) for line in process.stdout if line.endswith(b"\n")])
            killer.join()
            process.wait()
    got.append(lines(server, f"--state={state}"))
    whole = ids(lines(server))
    end = 0
    for part in got:
        if part:
            first = whole.index(ids(part)[0])
            assert first <= end, "lines are missing"
            assert ids(part) == whole[first : first + len(part)]
            end = first + len(part)
    assert end == len(whole)


def test_a_snapshot_under_load_and_what_follows(server, tmp_path):
    with Client(server, "d") as c:
        c.ok("CREATE TABLE still (id INT PRIMARY KEY, v VARCHAR(10))")
        c.ok("INSERT INTO still VALUES (1, 'one'), (2, NULL)")
        rows = ",".join(f"({-i}, 'old', 0.1)" for i in range(1, 5000))
        c.ok(f"INSERT INTO t VALUES {rows}")
    out = tmp_path / "out"
    with Load(server, "d"):
        time.sleep(0.3)
        process = subprocess.Popen(
            command(server.binary, network(server), "--snapshot=initial", f"--output={out}"), stderr=subprocess.PIPE
        )
        time.sleep(1)
        # In the middle of the changes: the next run goes on with them.
        process.send_signal(signal.SIGTERM)
        stderr = process.communicate(timeout=30)[1].decode()
        assert process.returncode == 0 and "stands at" in stderr
    run(server, "--until=end", "--snapshot=initial", f"--output={out}")
    found = [json.loads(line) for line in out.read_text().splitlines()]
    reads = [line for line in found if line.get("op") == "r"]
    assert len(reads) > 4900 and [line["source"]["snapshot"] for line in reads].count("last") == 1
    assert any(line.get("op") in ("c", "u") for line in found)
    tables = replay(found)
    assert {i: row["v"] for i, row in tables["t"].items()} == table(server)
    assert tables["still"] == {1: {"id": 1, "v": "one"}, 2: {"id": 2, "v": None}}
    made = [line["ddl"] for line in found if "ddl" in line]
    assert len(made) == 2 and all("CREATE TABLE" in sql for sql in made)
    only = lines(server, "--snapshot=only", "-t", "still")
    assert [line.get("after") for line in only if "op" in line] == [{"id": 1, "v": "one"}, {"id": 2, "v": None}]
    run(server, "--snapshot=only", where=folder, code=2)


TYPES = """
CREATE TABLE all_types (
  id INT PRIMARY KEY, i1 TINYINT, u1 TINYINT UNSIGNED, i2 SMALLINT, u2 SMALLINT UNSIGNED, i3 MEDIUMINT,
  u3 MEDIUMINT UNSIGNED, i4 INT, u4 INT UNSIGNED, i8 BIGINT, u8 BIGINT UNSIGNED, f FLOAT, dbl DOUBLE,
  dec1 DECIMAL(65,30), dec2 DECIMAL(10,0), c CHAR(10), vc VARCHAR(300), b BINARY(6), vb VARBINARY(300), tx MEDIUMTEXT,
  bl MEDIUMBLOB, d DATE, t0 TIME, t6 TIME(6), dt0 DATETIME, dt6 DATETIME(6), ts0 TIMESTAMP NULL, ts6 TIMESTAMP(6) NULL,
  y YEAR)
"""
ROWS = [
    "1, -128, 0, -32768, 0, -8388608, 0, -2147483648, 0, -9223372036854775808, 0, -3.4e38, -1.7e308,"
    " -99999999999999999999999999999999999.999999999999999999999999999999, -9999999999, '', '', '', '', '', '',"
    " '0000-00-00', '-838:59:59', '-838:59:59', '0000-00-00', '0000-00-00', '1970-01-01 00:00:01',"
    " '1970-01-01 00:00:01.000001', 0",
    "2, 127, 255, 32767, 65535, 8388607, 16777215, 2147483647, 4294967295, 9223372036854775807, 18446744073709551615,"
    " 0.1, 0.1, 0.000000000000000000000000000001, 1, 'ä€😀', 'a\"\\\\\\n\\t\\0\\'', x'00ff0100', x'ff00', 'text', x'0001',"
    " '9999-12-31', '838:59:59', '12:34:56.000001', '9999-12-31 23:59:59', '9999-12-31 23:59:59.999999',"
    " '2038-01-19 03:14:07', '2038-01-19 03:14:07.999999', 2155",
    "3" + ", NULL" * 28,
    "4, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, 16777216, 123456789.125, -0.5, 0, ' x', 'y ', 'abcdef', 'bytes', 'z', 'blob',"
    " '2024-02-29', '-00:00:01', '-00:00:00.5', '2024-02-29 12:34:56', '1000-01-01 00:00:00.5', '2024-02-29 12:34:56',"
    " '2024-02-29 12:34:56.5', 1901",
]  # fmt: skip


def test_values_are_those_of_mariadb_in_changes_and_in_snapshots(own_narwal, lab):
    servers = [own_narwal(), lab.mariadb(["--log-bin=mb", "--server-id=9", "--binlog-format=ROW", "--binlog-row-metadata=FULL"])]  # fmt: skip
    try:
        found = []
        for server in servers:
            with Client(server) as c:
                c.ok("SET sql_mode='', time_zone='+00:00'")
                c.ok("CREATE DATABASE d")
                c.ok("USE d")
                c.ok(TYPES)
                for row in ROWS:
                    c.ok(f"INSERT INTO all_types VALUES ({row})")
            for args in (["--until=end"], ["--until=end", "--time=debezium", "--binary=hex", "--bigint=text"], ["--snapshot=only"]):  # fmt: skip
                done = subprocess.run(
                    command(servers[0].binary, network(server), *args), capture_output=True, timeout=60, check=True
                )
                rows = [json.loads(line) for line in done.stdout.splitlines()]
                found.append([line["after"] for line in rows if "op" in line])
        for one, other in zip(found[:3], found[3:]):
            assert [row.items() ^ other_row.items() for row, other_row in zip(one, other)] == [set()] * 4
        assert found[0] == found[2], "the snapshot has other values than the log"
        first, second, nulls, fourth = found[0]
        assert second["u8"] == 2**64 - 1 and second["i8"] == 2**63 - 1 and first["i8"] == -(2**63)
        assert second["c"] == "ä€😀" and second["vc"] == "a\"\\\n\t\0'" and second["f"] == 0.1
        assert (first["d"], first["dt6"]) == ("0000-00-00", "0000-00-00T00:00:00.000000")
        assert (second["ts6"], second["dt0"]) == ("2038-01-19T03:14:07.999999Z", "9999-12-31T23:59:59")
        assert (first["t6"], fourth["t6"]) == ("-838:59:59.000000", "-00:00:00.500000")
        assert first["dec1"] == "-" + "9" * 35 + "." + "9" * 30 and second["b"] == "AP8BAAAA" and second["vb"] == "/wA="
        assert set(nulls.values()) == {3, None} and fourth["f"] == 16777216.0 and fourth["y"] == 1901
        numbers = found[1]
        assert numbers[3]["d"] == 19782 and numbers[3]["t0"] == -1_000_000 and numbers[1]["u8"] == str(2**64 - 1)
        assert numbers[3]["dt0"] == 1709210096000 and numbers[1]["vb"] == "ff00" and numbers[0]["d"] is None
    finally:
        lab.remove(servers[1])


def test_selection(server):
    with Client(server) as c:
        for db in ("shop1", "shop2"):
            c.ok(f"CREATE DATABASE {db}")
            for name in ("orders", "items", "log"):
                c.ok(f"CREATE TABLE {db}.{name} (id INT PRIMARY KEY)")
                c.ok(f"INSERT INTO {db}.{name} VALUES (1)")
        c.ok("BEGIN")
        for db in ("shop1", "shop2"):
            c.ok(f"INSERT INTO {db}.log VALUES (2)")
            c.ok(f"INSERT INTO {db}.orders VALUES (2)")
        c.ok("COMMIT")

    def tables(*args: str) -> list[str]:
        found = lines(server, *args)
        return sorted(f"{line['source']['db']}.{line['source']['table']}" for line in found if line.get("op"))

    assert tables("-d", "shop1") == ["shop1.items", "shop1.log", "shop1.log", "shop1.orders", "shop1.orders"]
    assert tables("-t", "orders") == ["shop1.orders"] * 2 + ["shop2.orders"] * 2
    assert tables("-t", "shop2.*", "--exclude-table=*.log") == ["shop2.items", "shop2.orders", "shop2.orders"]
    assert tables("-t", "/shop[0-9][.](items|log)/", "--exclude-database=shop1") == [
        "shop2.items", "shop2.log", "shop2.log",
    ]  # fmt: skip
    assert tables("-d", "none") == []
    whole, some = lines(server), lines(server, "-t", "orders")
    assert [same(line) for line in some] == [
        same(line) for line in whole if line["source"].get("table") == "orders"
    ], "a selection changes neither places nor numbers"
    ddl = [line["ddl"] for line in lines(server, "-d", "shop2") if "ddl" in line]
    assert ddl[0] == "CREATE DATABASE shop2" and len(ddl) == 4
    run(server, "-t", "/(/", code=2)


def test_a_large_transaction_and_a_slow_reader_take_little_memory(own_narwal, tmp_path):
    server = own_narwal("--binlog-oob-threshold=1M")
    with Client(server) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(2000))")
        c.ok("BEGIN")
        for i in range(40):
            rows = ",".join(f"({i * 1000 + n}, REPEAT('x', 1000))" for n in range(1000))
            c.ok(f"INSERT INTO d.t VALUES {rows}")
        c.ok("COMMIT")
    # The reader of a folder has a segment of the log in memory.
    for where, most in ((network, 40_000_000), (folder, 120_000_000)):
        out = tmp_path / "out"
        peak = peak_memory(command(server.binary, where(server), "--until=end"), out)
        assert out.stat().st_size > 40_000_000 and peak < most
        count = sum(1 for line in out.open() if '"op":"c"' in line)
        assert count == 40_000
    # A reader who takes a little and then sleeps holds the stream, which goes on where it was.
    process = subprocess.Popen(command(server.binary, network(server), "--until=end"), stdout=subprocess.PIPE)
    head = [process.stdout.readline() for _ in range(100)]
    time.sleep(1.5)
    status = Path(f"/proc/{process.pid}/status").read_text()
    assert int(status.split("VmRSS:")[1].split()[0]) < 40_000
    rest = process.stdout.read().splitlines()
    assert process.wait() == 0 and len(head) + len(rest) == 40_002
    # In the middle of it a run can be resumed too.
    middle = json.loads(rest[20_000])
    found = lines(server, f"--from={middle['resume']}")
    assert ids(found) == ids([json.loads(line) for line in rest[20_001:]])


def test_the_server_goes_and_comes_back(server, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        command(server.binary, network(server), f"--output={out}", f"--state={tmp_path / 'state'}"),
        stderr=subprocess.PIPE,
    )
    with Load(server, "d"):
        for how in (server.kill, server.stop):
            time.sleep(0.6)
            how()
            server.start()
        time.sleep(0.8)
    assert process.poll() is None
    whole = lines(server)
    end = time.monotonic() + 30
    while time.monotonic() < end and len(out.read_bytes().splitlines()) < len(whole):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    stderr = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 0 and "trying again" in stderr and "connected again" in stderr
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert ids(found) == ids(whole)
    assert {i: row["v"] for i, row in replay(found)["t"].items()} == table(server)


def test_columns_are_those_of_their_time_and_a_mariadb_is_read_too(narwal_server, lab):
    mariadb = lab.mariadb(["--log-bin=mb", "--server-id=9", "--binlog-format=ROW", "--binlog-row-metadata=FULL"])
    try:
        with Client(mariadb) as c:
            c.ok("CREATE DATABASE d")
            c.ok("USE d")
            c.ok("CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(100), f DOUBLE)")
            c.ok("INSERT INTO t VALUES (1, 'a', 0)")
            c.ok("ALTER TABLE t DROP COLUMN f")
            c.ok("INSERT INTO t VALUES (2, 'b')")
            c.ok("ALTER TABLE t CHANGE v w VARCHAR(10)")
            c.ok("INSERT INTO t VALUES (3, 'c')")
            c.ok("RENAME TABLE t TO u")
            c.ok("SET GLOBAL log_bin_compress_min_len = 10")
            c.ok("SET GLOBAL log_bin_compress = 1")
            c.ok("INSERT INTO u VALUES (4, REPEAT('d', 10))")
            c.ok("DROP TABLE u")
            c.ok("SET GLOBAL log_bin_compress = 0")
            c.ok("CREATE TABLE t (k VARCHAR(5), n INT, e ENUM('x','y'), s SET('a','b'), b BIT(9), PRIMARY KEY (n, k))")
            c.ok("INSERT INTO t VALUES ('x', 7, 'y', 'a,b', b'100000001')")
            c.ok("CREATE TABLE copy SELECT k, 1 one FROM t")
            c.ok("CREATE USER secret IDENTIFIED BY 'hidden'")
            c.ok("SET gtid_domain_id = 3")
            c.ok("INSERT INTO copy VALUES ('y', 2)")
            c.ok("SET binlog_format = STATEMENT, gtid_domain_id = 0")
            place = c.rows("SELECT @@gtid_binlog_pos")[0][0]
            c.ok("INSERT INTO copy VALUES ('z', 3)")
        mariadb.binary = narwal_server.binary
        found = lines(mariadb, f"--until={place}", "-d", "d")
        assert [line["after"] for line in found if line.get("op") == "c"] == [
            {"id": 1, "v": "a", "f": 0.0}, {"id": 2, "v": "b"}, {"id": 3, "w": "c"}, {"id": 4, "w": "d" * 10},
            {"k": "x", "n": 7, "e": "y", "s": "a,b", "b": 257}, {"k": "x", "one": 1}, {"k": "y", "one": 2},
        ]  # fmt: skip
        assert found[-4]["key"] == {"n": 7, "k": "x"}
        changes = [[(t["type"], t["id"]) for t in line["tableChanges"]] for line in found if "ddl" in line]
        assert changes[-4:] == [
            [("RENAME", '"d"."t"'), ("RENAME", '"d"."u"')], [("DROP", '"d"."u"')], [("CREATE", '"d"."t"')],
            [("CREATE", '"d"."copy"')],
        ]  # fmt: skip
        assert "secret" not in json.dumps(found), "accounts are nobody's business"
        for nth, line in enumerate(found):
            rest = lines(mariadb, f"--until={place}", f"--from={line['resume']}")
            assert ids(rest) == ids(found[nth + 1 :]), line["resume"]
        assert b"binlog_format=ROW" in run(mariadb, "--until=end", code=1).stderr
        snapshot = [line["after"] for line in lines(mariadb, "--snapshot=only", "-d", "d") if "op" in line]
        assert snapshot[-1] == {"k": "x", "n": 7, "e": "y", "s": "a,b", "b": 257}
    finally:
        mariadb.kill()
        lab.servers.remove(mariadb)


def test_how_it_ends(server, tmp_path):
    with Client(server, "d") as c:
        c.ok("INSERT INTO t VALUES (1, 'a', 0)")
        old = lines(server)[-1]["resume"]
        c.ok("FLUSH BINARY LOGS")
        c.ok("INSERT INTO t VALUES (2, 'b', 0)")
        c.ok("FLUSH BINARY LOGS")
        c.ok("INSERT INTO t VALUES (3, 'c', 0)")
        # Nobody reads.
        process = subprocess.Popen(command(server.binary, network(server)), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        time.sleep(0.3)
        c.ok("INSERT INTO t VALUES (4, 'd', 0)")
        assert process.wait(30) == 0
        c.ok("PURGE BINARY LOGS TO 'narwal-bin.000003'")
    for where in (network, folder):
        # The place is gone.
        assert b"purged" in run(server, f"--from={old}", "--until=end", where=where, code=4).stderr or where is folder
        assert [line["after"]["id"] for line in lines(server, where=where)] == [3, 4]
        run(server, "--from=0-1-999", "--until=end", where=where, code=4)
        run(server, "--from=nonsense", where=where, code=2)
        run(server, "--from=narwal-bin.000003:10000000", "--until=end", where=where, code=4 if where is network else 2)
    run(server, "--user=nobody", where=lambda s: network(s)[:2], code=1)
    run(server, where=lambda s: ["--host=127.0.0.1", "--port=1"], code=1)
    run(server, where=lambda s: [f"--datadir={tmp_path}"], code=1)
    run(server, "--snapshot=initial", "--from=now", code=2)
    (tmp_path / "state").write_text("{}")
    run(server, f"--state={tmp_path / 'state'}", code=2)
    assert b"Examples:" in run(server, "--help", where=lambda s: []).stdout


def test_tls_and_passwords(server):
    with Client(server) as c:
        for plugin, name in (("mysql_native_password", "n"), ("caching_sha2_password", "s")):
            made = c.run(f"CREATE USER {name} IDENTIFIED VIA {plugin} USING PASSWORD('päss')")
            if made.error:
                c.ok(f"CREATE USER {name} IDENTIFIED WITH {plugin} BY 'päss'")
            c.ok(f"GRANT REPLICATION SLAVE ON *.* TO {name}")
        c.ok("INSERT INTO d.t VALUES (1, 'a', 0)")
    ca = f"--ssl-ca={server.datadir / 'server-cert.pem'}"
    environment = {**os.environ, "MYSQL_PWD": "päss"}
    for user in ("n", "s"):
        for tls in (["--ssl-mode=disabled"], ["--ssl-mode=required"], ["--ssl-mode=verify-ca", ca]):
            found = lines(server, f"--user={user}", *tls, where=lambda s: network(s)[:2], env=environment)
            assert found[-1]["after"]["id"] == 1
        wrong = {**environment, "MYSQL_PWD": "wrong"}
        assert b"1045" in run(server, f"--user={user}", where=lambda s: network(s)[:2], env=wrong, code=1).stderr
    local = lines(server, where=lambda s: [f"--socket={s.socket}", "--user=root"])
    assert local[-1]["after"]["id"] == 1
    identity = lines(
        server, "--ssl-mode=verify-identity", ca, where=lambda s: ["--host=localhost", f"--port={s.port}", "--user=root"]
    )
    assert identity[-1]["after"]["id"] == 1
    # The certificate is not made out to an address.
    run(server, "--ssl-mode=verify-identity", ca, code=1)


def xa_mix(server, seed: int) -> None:
    """XA transactions, committed and rolled back late, among others and in two domains; one stays prepared."""
    chance = random.Random(seed)
    with Client(server) as c:
        c.ok("CREATE DATABASE d")
        c.ok("CREATE TABLE d.t (id INT PRIMARY KEY, v VARCHAR(1000))")
    open_branches: list[tuple[str, Client]] = []
    for i in range(30):
        name, c = f"'branch{i}','q',{i + 1}", Client(server)
        c.ok(f"SET gtid_domain_id={chance.randrange(2)}")
        c.ok(f"XA START {name}")
        # The events of some do not stay in memory.
        count = 3000 if i % 10 == 3 else chance.randrange(1, 4)
        c.ok("INSERT INTO d.t VALUES " + ",".join(f"({i * 10000 + n},REPEAT('x',{chance.randrange(1000)}))" for n in range(count)))
        c.ok(f"UPDATE d.t SET v='changed' WHERE id={i * 10000}")
        c.ok(f"XA END {name}")
        c.ok(f"XA PREPARE {name}")
        open_branches.append((name, c))
        with Client(server) as plain:
            plain.ok(f"SET gtid_domain_id={chance.randrange(2)}")
            plain.ok(f"INSERT INTO d.t VALUES ({1000000 + i},'plain')")
        while len(open_branches) > chance.randrange(1, 5):
            name, c = open_branches.pop(chance.randrange(1, len(open_branches)) if len(open_branches) > 1 else 0)
            c.ok(f"XA {chance.choice(['COMMIT', 'COMMIT', 'ROLLBACK'])} {name}")
            c.close()
    name, c = open_branches.pop()
    c.ok(f"XA COMMIT {name}")


@pytest.mark.parametrize("kind", ["narwal", "mariadb"])
def test_xa_transactions_come_when_they_are_committed(kind, own_narwal, lab):
    narwal = own_narwal()
    server, ways = narwal, (network, folder)
    if kind == "mariadb":
        server = lab.mariadb(["--log-bin=mb", "--server-id=9", "--binlog-format=ROW", "--binlog-row-metadata=FULL"])
        server.binary, ways = narwal.binary, (network,)
    xa_mix(server, 5)
    with Client(server) as c:
        c.ok("XA START 'late'")
        c.ok("INSERT INTO d.t VALUES (-1, 'late')")
        c.ok("XA END 'late'")
        c.ok("XA PREPARE 'late'")
        whole = lines(server)
        assert -1 not in replay(whole)["t"]
        c.ok("XA COMMIT 'late'")
    for where in ways:
        after = lines(server, f"--from={whole[-1]['resume']}", where=where)
        assert [line["after"]["id"] for line in after] == [-1], where
    whole = lines(server)
    with Client(server) as c:
        there = {int(row[0]): row[1] for row in c.rows("SELECT id, v FROM d.t")}
    assert {i: row["v"] for i, row in replay(whole)["t"].items()} == there
    places = [n for n in range(len(whole)) if n % 211 == 0 or n == 0 or whole[n]["transaction"]["id"] != whole[n - 1]["transaction"]["id"]]
    assert any("~" in whole[n]["resume"] for n in places)
    for nth in random.Random(6).sample(places, 12):
        for where in ways:
            rest = lines(server, f"--from={whole[nth]['resume']}", where=where)
            assert [same(line) for line in rest] == [same(line) for line in whole[nth + 1 :]], (where, whole[nth]["resume"])
    # What was prepared before the stream began can't be given.
    with Client(server) as c:
        c.ok("XA START 'before'")
        c.ok("INSERT INTO d.t VALUES (-3, 'before')")
        c.ok("XA END 'before'")
        c.ok("XA PREPARE 'before'")
        place = c.value("SELECT @@gtid_binlog_pos")
        c.ok("XA COMMIT 'before'")
    assert b"prepared before the stream began" in run(server, f"--from={place}", "--until=end", code=1).stderr
