"""Backup and restore by the real server and the command: under load, incremental, as a stream, encrypted, damaged, to
earlier moments, as a replica.

The load is one writer whose n-th transaction inserts n into `d.log` and counts up `d.sum`: so the whole state belongs to
the number of transactions, and the GTID of each is its number plus what the DDL took.
"""

from __future__ import annotations

import json
import random
import secrets
import subprocess
import threading
import time
from pathlib import Path

import pytest
from conftest import STAND_IN
from testbed.s3 import S3
from testbed.servers import Narwal, narwal_binary
from support import Client

pytestmark = pytest.mark.skipif(STAND_IN, reason="Narwal's own commands")

MARK = "zebra-0451-marker-in-clear-text"
KEYS = 8


def command(*args: str | Path, stdin: bytes | None = None, code: int | None = 0) -> subprocess.CompletedProcess:
    done = subprocess.run([narwal_binary(), *map(str, args)], input=stdin, capture_output=True, timeout=120)
    if code is not None:
        assert done.returncode == code, f"{args}: {done.returncode}\n{done.stderr.decode()}"
    return done


class Load:
    """The writer, in a thread of its own between `with` and its end. `before`: the last GTID number before it."""

    def __init__(self, server, filler: int = 0):
        self.server, self.filler = server, filler
        # Seconds between transactions: a backup that is held to a rate never ends beside more than that.
        self.pause = 0.0
        self.count, self.stop = 0, threading.Event()
        with Client(server) as c:
            c.ok("CREATE DATABASE d")
            c.ok("CREATE TABLE d.log (n INT PRIMARY KEY, k INT, v VARCHAR(2000), KEY (k))")
            c.ok("CREATE TABLE d.sum (k INT PRIMARY KEY, n INT)")
            c.ok("INSERT INTO d.sum VALUES " + ",".join(f"({k},0)" for k in range(KEYS)))
            self.before = gtid_number(c.value("SELECT @@gtid_binlog_pos"))

    def some(self, c: Client, n: int) -> None:
        for _ in range(n):
            self.count += 1
            i, k = self.count, self.count % KEYS
            c.ok("BEGIN")
            c.ok(f"INSERT INTO d.log VALUES ({i}, {k}, '{MARK}{'x' * self.filler}')")
            c.ok(f"UPDATE d.sum SET n = n + 1 WHERE k = {k}")
            c.ok("COMMIT")

    def run(self) -> None:
        with Client(self.server) as c:
            while not self.stop.is_set():
                self.some(c, 1)
                time.sleep(self.pause)

    def __enter__(self) -> Load:
        self.thread = threading.Thread(target=self.run)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        self.stop.clear()

    def check(self, c: Client, gtid: str) -> int:
        """The state is that of the GTID; the number of the load's transactions."""
        n = gtid_number(gtid) - self.before
        assert c.ints("SELECT COUNT(*), MIN(n), MAX(n) FROM d.log") == [(n, 1 if n else None, n or None)]
        assert c.ints("SELECT k, n FROM d.sum ORDER BY k") == [(k, len(range(k or KEYS, n + 1, KEYS))) for k in range(KEYS)]
        for table in ("log", "sum"):
            assert c.rows(f"CHECK TABLE d.{table}")[0][3] == "OK"
        return n


def gtid_number(gtid: str) -> int:
    return int(gtid.rsplit("-", 1)[1]) if gtid else 0


def manifest(folder: Path) -> dict:
    return json.loads((folder / "backup.json").read_text())


@pytest.fixture
def restored(own_narwal):
    """Restores and starts: returns the server and what the command said."""

    def restore(*args: str | Path, serve: list[str] = (), stdin: bytes | None = None) -> tuple[Narwal, str]:
        server = own_narwal("--server-id=77", *serve, start=False)
        done = command("restore", f"--datadir={server.datadir}", *args, stdin=stdin)
        server.start()
        return server, done.stdout.decode()

    return restore


@pytest.fixture
def source(own_narwal):
    """A server and its load."""

    def start(*args: str, filler: int = 0) -> tuple[Narwal, Load]:
        server = own_narwal(*args)
        return server, Load(server, filler)

    return start


def test_under_load_through_both_ways_incremental_and_without_the_log(source, restored, tmp_path):
    server, load = source("--innodb-buffer-pool-size=32M", filler=1000)
    with Client(server) as c:
        load.some(c, 300)
    with load:
        command("backup", f"--to={tmp_path}/full", f"--socket={server.socket}")
        time.sleep(0.5)
        command("backup", f"--to={tmp_path}/inc", f"--incremental-from={tmp_path}/full", f"--socket={server.socket}")
        command("backup", f"--to={tmp_path}/net", f"--port={server.port}", "--no-log", "--max-rate=200")
        command("backup", f"--to={tmp_path}/net-inc", f"--incremental-from={tmp_path}/net", f"--port={server.port}")
    counts = []
    for name in ("full", "inc", "net", "net-inc"):
        said = command("backup", "verify", tmp_path / name).stdout.decode()
        assert "whole" in said
        end = manifest(tmp_path / name)["end"]
        copy, said = restored(f"--from={tmp_path / name}")
        with Client(copy) as c:
            counts.append(load.check(c, end["gtid_binlog_pos"]))
            assert c.value("SELECT @@gtid_slave_pos") == end["gtid_binlog_pos"]
            assert end["gtid_binlog_pos"] in said
            c.ok("INSERT INTO d.log VALUES (0, 0, 'it goes on')")
    assert counts == sorted(counts) and counts[0] >= 300
    # What has not changed is not stored again.
    inc, full = manifest(tmp_path / "inc"), manifest(tmp_path / "full")
    assert inc["parent"]["id"] == full["id"]
    stored = sum(f.stat().st_size for f in (tmp_path / "inc").rglob("*.blocks"))
    assert stored < (tmp_path / "full" / "base.redb").stat().st_size
    # The parent may be elsewhere, but must be the one.
    (tmp_path / "full").rename(tmp_path / "moved")
    said = command("backup", "verify", tmp_path / "inc", code=3).stderr.decode()
    assert full["id"] in said
    command("backup", "verify", tmp_path / "inc", f"--parent={tmp_path}/moved")
    command("backup", "verify", tmp_path / "inc", f"--parent={tmp_path}/net", code=3)


def test_any_moment_of_the_log(source, restored, tmp_path):
    """Restores to GTIDs by chance, to a position and to a second."""
    server, load = source()
    seen = []
    with Client(server) as c:
        for _ in range(12):
            load.some(c, random.randint(1, 6))
            file, position = c.rows("SHOW MASTER STATUS")[0][:2]
            seen.append((c.value("SELECT @@gtid_binlog_pos"), f"{file}:{position}", load.count))
        now = int(c.value("SELECT UNIX_TIMESTAMP()"))
        while int(c.value("SELECT UNIX_TIMESTAMP()")) <= now + 1:
            time.sleep(0.05)
        before, at = load.count, now
        load.some(c, 5)
    command("backup", f"--to={tmp_path}/b", f"--socket={server.socket}")
    base_seq = manifest(tmp_path / "b")["end"]["base_gtid_state"]
    late = [s for s in seen if gtid_number(s[0]) > gtid_number(base_seq)]
    assert len(late) > 3, "a checkpoint has come between"
    for gtid, position, count in random.sample(late, 2):
        for option in (f"--to-gtid={gtid}", f"--to-position={position}"):
            copy, said = restored(f"--from={tmp_path}/b", option)
            with Client(copy) as c:
                assert load.check(c, gtid) == count
                assert c.value("SELECT @@gtid_slave_pos") == gtid and gtid in said
    copy, _ = restored(f"--from={tmp_path}/b", f"--to-datetime={at}")
    with Client(copy) as c:
        assert c.ints("SELECT COUNT(*) FROM d.log") == [before]
    file, position = seen[-1][1].split(":")
    for wrong, words in (
        ("--to-gtid=0-1-99999", "--archive"),
        (f"--to-position={file}:{int(position) - 1}", "inside the transaction"),
        # A base without transactions is what there was at any time before the first.
        *([("--to-datetime=10", "earlier backup")] if base_seq else []),
    ):
        said = command("restore", f"--from={tmp_path}/b", f"--datadir={tmp_path}/w{len(wrong)}", wrong, code=1).stderr.decode()
        assert words in said, said
    # What was not restored to the end is not started.
    folder = next(tmp_path.glob("w*"))
    refused = subprocess.run([narwal_binary(), "serve", f"--datadir={folder}", "--port=0"], capture_output=True, timeout=60)
    assert refused.returncode != 0 and b"not finished" in refused.stderr + refused.stdout


@pytest.mark.parametrize("store", ["folder", "bucket"])
def test_a_backup_and_the_archive_behind_it(store, source, restored, tmp_path, monkeypatch):
    """To the archive's end, to GTIDs behind the backup; parts of the archive that are missing or damaged are named."""
    with S3(page=3) as s3:
        for name, value in s3.environment().items():
            monkeypatch.setenv(name, value)
        url = s3.url("db") if store == "bucket" else (tmp_path / "archive").as_uri()
        server, load = source(
            f"--narwal-archive-url={url}", "--narwal-archive-timeout=1", "--innodb-log-file-size=1M", "--innodb-flush-log-at-trx-commit=2",
            filler=1900,
        )  # fmt: skip
        seen = []
        with Client(server) as c:
            load.some(c, 30)
            command("backup", f"--to={tmp_path}/b", f"--socket={server.socket}")
            for _ in range(5):
                load.some(c, 300)
                file, position = c.rows("SHOW MASTER STATUS")[0][:2]
                seen.append((c.value("SELECT @@gtid_binlog_pos"), f"{file}:{position}", load.count))
        server.stop()  # ships the rest
        from_both = [f"--from={tmp_path}/b", f"--archive={url}"]

        def check(gtid: str, count: int, *args: str) -> None:
            copy, said = restored(*from_both, *args)
            with Client(copy) as c:
                assert load.check(c, gtid) == count and gtid in said

        check(seen[-1][0], seen[-1][2])
        check(seen[0][0], seen[0][2], f"--to-gtid={seen[0][0]}")
        check(seen[3][0], seen[3][2], f"--to-position={seen[3][1]}")
        done = command("restore", *from_both, f"--datadir={tmp_path}/late", "--to-gtid=0-1-999999", code=1)
        assert b"0-1-999999" in done.stderr and seen[-1][0].encode() in done.stderr

        listed = [json.loads(line) for line in command("archive", "list", "--json", url).stdout.splitlines()]
        assert len(listed) > 4
        gone = listed[-3]

        def change(name: str, how) -> None:
            if store == "bucket":
                key = next(k for k in s3.objects if k.endswith(f"/{name}"))
                content = how(s3.objects.pop(key))
                if content is not None:
                    s3.objects[key] = content
                return
            path = next((tmp_path / "archive").glob(f"*/{name}"))
            content = how(path.read_bytes())
            path.unlink() if content is None else path.write_bytes(content)

        middle = gone["bytes"] // 2
        change(gone["object"], lambda b: b[:middle] + bytes([b[middle] ^ 4]) + b[middle + 1 :])
        done = command("restore", *from_both, f"--datadir={tmp_path}/damaged", code=3)
        assert gone["object"].encode() in done.stderr
        # Without its bytes; then without its marker, too.
        for name in (gone["object"], f"{gone['object']}.json"):
            change(name, lambda _: None)
            done = command("restore", *from_both, f"--datadir={tmp_path}/gap-{len(name)}", code=3)
            for what in (gone["start"], gone["next"], listed[-4]["gtids_after"]):
                assert str(what).encode() in done.stderr, done.stderr
        # What needs nothing of it can be had all the same.
        check(seen[0][0], seen[0][2], f"--to-gtid={seen[0][0]}")


def test_streams(source, restored, tmp_path):
    """Plain, compressed, sealed; cut off and damaged."""
    server, load = source(filler=200)
    with Client(server) as c:
        load.some(c, 100)
        gtid = c.value("SELECT @@gtid_binlog_pos")
    key = tmp_path / "key"
    key.write_text(f"3;{secrets.token_hex(32)}\n")
    key.chmod(0o600)
    sealed = ["--compress=zstd", f"--encrypt-key-file={key}"]
    sizes = []
    for extra, open_with in (([], []), (["--compress=zstd"], []), (sealed, [f"--encrypt-key-file={key}"])):
        out = command("backup", "--stream", f"--socket={server.socket}", *extra).stdout
        sizes.append(len(out))
        assert (MARK.encode() in out) == (extra == [])
        copy, _ = restored("--from=-", *open_with, stdin=out)
        with Client(copy) as c:
            load.check(c, gtid)
        for i in range(3):
            bad = bytearray(out)
            at = random.randrange(len(bad))
            bad[at] ^= 1 << random.randrange(8)
            folder = tmp_path / f"bad{len(sizes)}-{i}"
            done = command("restore", "--from=-", f"--datadir={folder}", *open_with, stdin=bytes(bad), code=None)
            if extra == ["--compress=zstd"] and done.returncode == 0:
                continue  # a bit of the frame's that does not count: what came out was what went in
            assert done.returncode == 3 and b"damaged" in done.stderr, (at, done.stderr)
        cut = command("restore", "--from=-", f"--datadir={tmp_path}/cut{len(sizes)}", *open_with, stdin=out[: len(out) // 2], code=3)
        assert b"damaged" in cut.stderr or b"cut off" in cut.stderr
    assert sizes[1] < sizes[0] / 2
    assert b"sealed" in command("restore", "--from=-", f"--datadir={tmp_path}/k", stdin=out, code=2).stderr


def test_an_encrypted_folder_stays_so(source, restored, tmp_path):
    key = tmp_path / "key"
    key.write_text(f"1;{secrets.token_hex(32)}\n")
    key.chmod(0o600)
    option = f"--encryption-key-file={key}"
    server, load = source(option)
    with Client(server) as c:
        load.some(c, 50)
        gtid = c.value("SELECT @@gtid_binlog_pos")
    command("backup", f"--to={tmp_path}/b", f"--socket={server.socket}")
    stream = command("backup", "--stream", f"--port={server.port}").stdout
    (tmp_path / "b.tar").write_bytes(stream)
    files = [f for f in tmp_path.rglob("*") if f.is_file()]
    assert len(files) > 4 and not [f for f in files if MARK.encode() in f.read_bytes()]
    command("backup", "verify", tmp_path / "b")
    assert b"encrypted" in command("restore", f"--from={tmp_path}/b", f"--datadir={tmp_path}/r", code=2).stderr
    for where in ("b", "b.tar"):
        copy, _ = restored(f"--from={tmp_path / where}", option, serve=[option])
        with Client(copy) as c:
            load.check(c, gtid)
        assert not [f for f in Path(copy.datadir).rglob("*") if f.is_file() and MARK.encode() in f.read_bytes()]


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 512 KiB."""
    folder = tmp_path / "small"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("no file system can be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


def test_a_full_disk_ends_the_backup_and_nothing_else(source, small_disk, tmp_path):
    server, load = source(filler=1500)
    with Client(server) as c:
        load.some(c, 600)
    with load:
        to = small_disk / "b"
        with Client(server) as c:
            # 1021 is MariaDB's error of a full disk.
            assert "full" in c.fails(f"BACKUP TO '{to}'", 1021).message
        for way in ([f"--socket={server.socket}"], [f"--port={server.port}"]):
            assert not [f for f in small_disk.rglob("*") if f.is_file()]
            assert b"No space left" in command("backup", f"--to={to}", *way, code=1).stderr
            assert b"was not finished" in command("backup", "verify", to, code=3).stderr
        with open(small_disk / "stream", "wb") as out:
            done = subprocess.run([narwal_binary(), "backup", "--stream", f"--port={server.port}"], stdout=out, stderr=subprocess.PIPE, timeout=60)
        assert done.returncode == 1 and b"No space left" in done.stderr, done.stderr
        cut = command("restore", f"--from={small_disk}/stream", f"--datadir={tmp_path}/r", code=3).stderr
        assert b"cut off" in cut or b"it ends" in cut
        # The server has not noticed.
        before = load.count
        command("backup", f"--to={tmp_path}/b", f"--socket={server.socket}")
        command("backup", "verify", tmp_path / "b")
    assert load.count > before
    with Client(server) as c:
        load.check(c, c.value("SELECT @@gtid_binlog_pos"))


def test_damage_is_named(source, tmp_path):
    server, load = source()
    with Client(server) as c:
        load.some(c, 20)
        c.ok(f"BACKUP TO '{tmp_path}/b'")
    folder = tmp_path / "b"
    files = [f for f in folder.rglob("*") if f.is_file()]
    assert {f.name for f in files} >= {"backup.json", "base.redb"}
    for n in range(12):
        path = random.choice(files)
        was = path.read_bytes()
        at = random.randrange(len(was))
        now = bytearray(was)
        now[at] ^= 1 << random.randrange(8)
        path.write_bytes(now)
        for args in (["backup", "verify", folder], ["restore", f"--from={folder}", f"--datadir={tmp_path}/r"]):
            said = command(*args, code=3).stderr.decode()
            assert str(path) in said
            if path.name != "backup.json":
                named = int(said.split(f"{path}, byte ")[1].split(":")[0])
                assert named <= at < named + (1 << 20)
        assert not (tmp_path / "r").exists()
        path.write_bytes(was)
    command("backup", "verify", folder)
    (folder / "backup.json").rename(tmp_path / "m")
    assert "was not finished" in command("backup", "verify", folder, code=3).stderr.decode()


def test_a_restored_backup_joins_as_a_replica(source, restored, tmp_path):
    server, load = source()
    with Client(server) as c:
        load.some(c, 40)
        c.ok("CREATE USER repl@'%' IDENTIFIED BY 'secret'")
        c.ok("GRANT REPLICATION SLAVE ON *.* TO repl@'%'")
        command("backup", f"--to={tmp_path}/b", f"--socket={server.socket}")
        copy, said = restored(f"--from={tmp_path}/b")
        load.some(c, 30)
        gtid = c.value("SELECT @@gtid_binlog_pos")
        with Client(copy) as r:
            statement = said.split("as a replica: ")[1].split(";")[0]
            assert "MASTER_USE_GTID=slave_pos" in statement
            r.ok(
                f"CHANGE MASTER TO MASTER_HOST='127.0.0.1', MASTER_PORT={server.port}, MASTER_USER='repl',"
                " MASTER_PASSWORD='secret', MASTER_USE_GTID=slave_pos"
            )
            r.ok("START SLAVE")
            assert r.value(f"SELECT MASTER_GTID_WAIT('{gtid}', 30)") == "0", r.rows("SHOW SLAVE STATUS")
            assert r.ints("SELECT COUNT(*), SUM(n) FROM d.log") == c.ints("SELECT COUNT(*), SUM(n) FROM d.log")
            assert r.value("SELECT @@gtid_binlog_pos") == gtid
        # A backup of the replica does not bring its connection along.
        command("backup", f"--to={tmp_path}/of-replica", f"--socket={copy.socket}")
        second, said = restored(f"--from={tmp_path}/of-replica")
        assert "is not kept" in said
        with Client(second) as s:
            assert s.rows("SHOW SLAVE STATUS") == []
            assert s.value("SELECT @@gtid_slave_pos") == gtid


def test_statements_and_privileges(source, tmp_path):
    server, load = source()
    with Client(server) as c:
        load.some(c, 5)
        rows = c.rows(f"BACKUP TO '{tmp_path}/a' NO LOG MAX RATE 1000")
        assert [r[0] for r in rows][-1] == "done" and json.loads(rows[-1][3])["folder"] == f"{tmp_path}/a"
        c.fails(f"BACKUP TO '{tmp_path}/a'", 1105)  # is not empty
        c.fails("BACKUP TO 'relative'", 1105)
        c.fails(f"BACKUP TO '{server.datadir}/b'", 1105)
        c.fails(f"BACKUP TO '{tmp_path}/b' INCREMENTAL FROM '{tmp_path}/nothing'", 1712)
        c.fails("BACKUP STREAM RESUME 'nonsense' AFTER 3", 1105)
        c.ok("CREATE USER b@'%'")
        with Client(server, user="b") as b:
            b.fails(f"BACKUP TO '{tmp_path}/c'", 1227)
            b.fails("BACKUP STREAM", 1227)
            c.ok("GRANT RELOAD ON *.* TO b@'%'")
            b.fails("BACKUP STREAM", 1227)
        c.ok("GRANT REPLICATION SLAVE ON *.* TO b@'%'")
        with Client(server, user="b") as b:
            kinds = [r[0] for r in b.rows("BACKUP STREAM")]
        assert kinds[0] == "begin" and kinds[-1] == "done" and set(kinds[1:-1]) == {"data", "end"}
    assert not (tmp_path / "c").exists()


def test_a_broken_link_is_taken_up_again(source, restored, tmp_path, lab):
    from testbed.proxy import Proxy

    server, load = source(filler=1500)
    with Client(server) as c:
        load.some(c, 1500)
    load.pause = 0.002
    proxy = Proxy(server.port)
    try:
        with load:
            backup = subprocess.Popen(
                [narwal_binary(), "backup", f"--to={tmp_path}/b", f"--port={proxy.port}", "--max-rate=4", "--ssl-mode=disabled"],
                stderr=subprocess.PIPE,
            )
            for _ in range(2):
                time.sleep(0.7)
                proxy.break_()
            said = backup.communicate(timeout=100)[1].decode()
        assert backup.returncode == 0, said
        assert said.count("connection was lost") >= 1, said
        command("backup", "verify", tmp_path / "b")
        copy, _ = restored(f"--from={tmp_path}/b")
        with Client(copy) as c:
            load.check(c, manifest(tmp_path / "b")["end"]["gtid_binlog_pos"])
    finally:
        proxy.close()


def test_a_backup_that_the_server_has_forgotten_ends(source, tmp_path, lab):
    server, load = source(filler=1500)
    with Client(server) as c:
        load.some(c, 1500)
    backup = subprocess.Popen(
        [narwal_binary(), "backup", f"--to={tmp_path}/b", f"--port={server.port}", "--max-rate=4", "--ssl-mode=disabled"],
        stderr=subprocess.PIPE,
    )
    time.sleep(0.7)
    server.kill()
    server.start()
    # Not for the 300 seconds of --retry: a server that was started again does not get the backup back.
    said = backup.communicate(timeout=60)[1].decode()
    assert backup.returncode == 1 and "of this token" in said, said


def test_roles_through_a_crash_a_backup_and_a_replica(own_narwal, own_narwal_replica, restored, tmp_path):
    """Accounts, roles, default roles and privileges are the same after kill -9, in a restored backup and on a replica."""
    server = own_narwal()
    replica = own_narwal_replica()
    replica.follow(server.port)
    statements = [
        "CREATE DATABASE d", "CREATE TABLE d.t (a INT, b INT)", "CREATE FUNCTION d.f() RETURNS INT RETURN 1", "CREATE ROLE r1, r2", "GRANT r1 TO r2",
        "GRANT SELECT (a), INSERT ON d.t TO r1", "GRANT EXECUTE ON FUNCTION d.f TO r2", "CREATE USER u@localhost IDENTIFIED BY 'x' WITH MAX_QUERIES_PER_HOUR 5",
        "GRANT r2 TO u@localhost WITH ADMIN OPTION", "SET DEFAULT ROLE r2 FOR u@localhost", "CREATE USER gone", "RENAME USER gone TO here@'%'",
        "GRANT ALL ON d.* TO here WITH GRANT OPTION", "CREATE ROLE r3", "DROP ROLE r3", "GRANT PROXY ON u@localhost TO here",
    ]  # fmt: skip
    with Client(server) as client:
        for sql in statements:
            client.ok(sql)

    def accounts(of) -> list:
        with Client(of) as client:
            grants = [client.rows(f"SHOW GRANTS FOR {who}") for who in ("r1", "r2", "u@localhost", "here")]
            users = client.rows("SELECT user, host, is_role, default_role, max_questions FROM mysql.user WHERE user IN ('r1', 'r2', 'r3', 'u', 'here') ORDER BY 1")
            return [grants, users, client.rows("SELECT * FROM mysql.roles_mapping ORDER BY 1, 2, 3")]

    wanted = accounts(server)
    assert len(wanted[1]) == 4 and any("EXECUTE" in row[0] for row in wanted[0][1])
    command("backup", f"--to={tmp_path}/b", f"--socket={server.socket}")
    replica.catch_up(server.port, 30)
    assert accounts(replica) == wanted
    server.kill()
    server.start()
    assert accounts(server) == wanted
    other, _ = restored(f"--from={tmp_path}/b")
    assert accounts(other) == wanted
