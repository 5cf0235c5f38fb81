"""Row images, table map metadata, filters and sql_log_bin: what is logged, what MariaDB makes of it, what survives a kill."""

from __future__ import annotations

import random
import re

import pytest

import history
from conftest import STAND_IN
from support import Client
from test_binlog_export import binlog_text, check_gtids, content, export, rebuilt, replay  # noqa: F401

MODES = ["FULL", "NOBLOB", "MINIMAL"] if STAND_IN else ["FULL", "NOBLOB", "MINIMAL", "FULL_NODUP"]

# Every kind of key that decides what identifies a row.
TABLES = [
    "CREATE TABLE pk (a INT PRIMARY KEY, b INT, c TEXT, d VARCHAR(10), e BLOB, KEY (b), KEY (c(5)))",
    "CREATE TABLE pair (a INT, b VARCHAR(10), c TEXT, PRIMARY KEY (b, a), UNIQUE KEY (c(20)))",
    "CREATE TABLE prefixed (a INT, b INT NOT NULL, c VARCHAR(30) NOT NULL, d TEXT, PRIMARY KEY (c(10)))",
    "CREATE TABLE uniq (a INT, b INT NOT NULL, c TEXT NOT NULL, d VARCHAR(10), UNIQUE KEY (b), UNIQUE KEY (c(10)))",
    "CREATE TABLE uniqprefix (a INT, c VARCHAR(20) NOT NULL, UNIQUE KEY (c(5)))",
    "CREATE TABLE two (a INT NOT NULL, b INT, c VARCHAR(20) NOT NULL, UNIQUE KEY (c), UNIQUE KEY (a))",
    "CREATE TABLE nullable (a INT, b INT, c TEXT, d VARCHAR(10), UNIQUE KEY (a))",
    "CREATE TABLE nokey (a INT, b INT, c TEXT, d VARCHAR(10))",
    "CREATE TABLE wide (a INT PRIMARY KEY, " + ", ".join(f"c{n} INT" for n in range(20)) + ")",
]

# All columns are given and whatever is assigned changes, so that both servers have the same idea of "changed".
CHANGES = [
    "INSERT INTO pk VALUES (1, 1, 'x', 'y', 'z'), (2, NULL, NULL, NULL, NULL), (3, 3, 'x', 'y', NULL)",
    "UPDATE pk SET b = 2 WHERE a = 1",
    "UPDATE pk SET c = 'longer text', e = NULL WHERE a = 1",
    "UPDATE pk SET d = 'new', b = 9 WHERE a >= 2",
    "UPDATE pk SET a = 10 WHERE a = 1",
    "DELETE FROM pk WHERE a >= 3",
    "INSERT INTO pair VALUES (1, 'k', 't'), (2, 'K2', NULL)",
    "UPDATE pair SET c = 'u' WHERE a = 1",
    "UPDATE pair SET b = 'moved' WHERE a = 2",
    "DELETE FROM pair",
    "INSERT INTO prefixed VALUES (1, 1, 'key text', 'd')",
    "UPDATE prefixed SET b = 2",
    "UPDATE prefixed SET c = 'other key'",
    "DELETE FROM prefixed",
    "INSERT INTO uniq VALUES (1, 1, 'x', 'q'), (2, 2, 'y', NULL)",
    "UPDATE uniq SET a = 7 WHERE b = 1",
    "UPDATE uniq SET c = 'z' WHERE b = 2",
    "DELETE FROM uniq WHERE b = 1",
    "INSERT INTO uniqprefix VALUES (1, 'x'), (2, 'y')",
    "UPDATE uniqprefix SET a = 3 WHERE a = 1",
    "DELETE FROM uniqprefix WHERE a = 2",
    "INSERT INTO two VALUES (1, 1, 'x')",
    "UPDATE two SET b = 2",
    "DELETE FROM two",
    "INSERT INTO nullable VALUES (1, 1, 'x', 'y'), (NULL, 2, NULL, NULL)",
    "UPDATE nullable SET b = 7 WHERE a = 1",
    "DELETE FROM nullable WHERE a IS NULL",
    "INSERT INTO nokey VALUES (1, 1, 'x', 'y'), (1, 1, 'x', 'y'), (2, 2, 'x', NULL)",
    "UPDATE nokey SET b = 7 WHERE a = 2",
    "DELETE FROM nokey WHERE a = 1",
    "INSERT INTO wide VALUES (1" + ", 5" * 20 + ")",
    "UPDATE wide SET c0 = 6, c8 = NULL, c19 = 7",
    "UPDATE wide SET c8 = 1, c7 = NULL",
]


def changes_of(text: str) -> list[str]:
    """The pseudo SQL of `mariadb-binlog -v`, one change a string."""
    lines = [line.removeprefix("### ") for line in text.splitlines() if line.startswith("###")]
    return re.split(r"\n(?=INSERT|UPDATE|DELETE)", "\n".join(lines))


@pytest.mark.parametrize("mode", MODES)
def test_images_are_as_mariadbs(own_narwal, rebuilt, tmp_path, mode):  # noqa: F811
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("USE d")
        for table in TABLES:
            client.ok(table)
        client.ok(f"SET binlog_row_image = {mode}")
        for change in CHANGES:
            client.ok(change)
        expected = content(client, "d")
    server.stop()
    path = export(server, tmp_path / "e.000001")
    ours = changes_of(binlog_text(path, "-v"))
    replay(path, rebuilt)
    with Client(rebuilt) as client:
        assert content(client, "d") == expected
    # The same statements on MariaDB, which has all modes but the last.
    if mode == "FULL_NODUP":
        for change in ours:
            where, _, to = change.partition("SET\n")
            if change.startswith("UPDATE `d`.`pk`"):
                assert where.count("@") == 5 and to.count("@") < 5, change
            if change.startswith("UPDATE `d`.`nokey`"):
                assert where.count("@") == 4 and to.count("@") == 4, change
            if change.startswith("DELETE FROM `d`.`pk`"):
                assert change.count("@") == 5
        return
    with Client(rebuilt) as client:
        client.ok("DROP DATABASE d")
        client.ok("CREATE DATABASE d")
        client.ok("USE d")
        for table in TABLES:
            client.ok(table)
    reference_changes = reference(rebuilt, mode, tmp_path)
    assert ours == reference_changes


def reference(server, mode: str, folder) -> list[str]:
    """What MariaDB logs for the changes: it is started again with a binary log."""
    server.stop()
    server.args = [*server.args, "--log-bin=ref", "--server-id=9", "--binlog-format=ROW", f"--binlog-row-image={mode}"]
    server.start()
    with Client(server, database="d") as client:
        client.ok("RESET MASTER")
        for change in CHANGES:
            client.ok(change)
    server.stop()
    return changes_of(binlog_text(server.datadir / "ref.000001", "-v"))


@pytest.mark.skipif(STAND_IN, reason="there each life has a file of its own")
@pytest.mark.parametrize("seed", [1, 2])
def test_switching_modes_kill_and_replay(own_narwal, rebuilt, tmp_path, seed):  # noqa: F811
    """A random history whose session changes its mode all the time; kills in between; MariaDB comes to the same rows."""
    server = own_narwal("--innodb-flush-log-at-trx-commit=1")
    chance = random.Random(seed)
    source = history.History(seed)
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("USE d")
        for create, _ in history.TABLES.values():
            client.ok(create)
        for table in TABLES:
            client.ok(table)
    for _ in range(2):
        with Client(server, database="d") as client:
            for _ in range(150):
                if chance.random() < 0.3:
                    client.ok(f"SET binlog_row_image = {chance.choice(MODES)}")
                if chance.random() < 0.1:
                    client.ok(f"SET GLOBAL binlog_row_metadata = {chance.choice(['NO_LOG', 'MINIMAL', 'FULL'])}")
                client.run(source.next().sql)
                key, other, text = chance.randint(1, 15), chance.randint(0, 3), chance.choice("abc") * chance.choice([1, 300])
                client.run(
                    chance.choice([
                        f"INSERT INTO pk VALUES ({key}, {other}, '{text}', 'd', '{text}')",
                        f"UPDATE pk SET b = {other}, c = '{text}' WHERE a <= {key}",
                        f"UPDATE pk SET a = {key} + 20 WHERE a = {key}",
                        f"DELETE FROM pk WHERE a = {key}",
                        f"REPLACE INTO pair VALUES ({key}, 'k{other}', '{text}')",
                        f"INSERT INTO uniq VALUES ({other}, {key}, '{text}', NULL)",
                        f"UPDATE uniq SET a = {other}, d = 'w' WHERE b < {key}",
                        f"INSERT INTO nokey VALUES ({key}, {other}, '{text}', NULL)",
                        f"UPDATE nokey SET b = {other} WHERE a = {key}",
                        f"DELETE FROM nokey WHERE a = {key} LIMIT 1",
                    ])
                )  # fmt: skip
            client.run("COMMIT")
            expected = content(client, "d")
        source.in_transaction = False
        server.kill()
        server.start()
        with Client(server) as client:
            assert content(client, "d") == expected
    server.stop()
    path = export(server, tmp_path / "e.000001")
    check_gtids(binlog_text(path, "-v"))
    replay(path, rebuilt)
    with Client(rebuilt) as client:
        assert content(client, "d")["rows"] == expected["rows"]


def test_metadata_levels(own_narwal, tmp_path):
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT UNSIGNED PRIMARY KEY, v VARCHAR(10))")
        client.fails("SET SESSION binlog_row_metadata = FULL", 1229)
        for n, level in enumerate(["NO_LOG", "MINIMAL", "FULL"]):
            client.ok(f"SET GLOBAL binlog_row_metadata = {level}")
            client.ok(f"INSERT INTO d.t VALUES ({n}, 'x')")
        assert client.value("SELECT @@binlog_row_metadata") == "FULL"
    server.stop()
    text = binlog_text(export(server, tmp_path / "e.000001"), "-v", "--print-table-metadata")
    columns = re.findall(r"# Columns\((.*?)\)\n(# Primary Key)?", text.replace("\n#         ", " "))
    assert [(c[0].startswith("`id`"), "UNSIGNED" in c[0], "CHARSET" in c[0], bool(c[1])) for c in columns] == [
        (False, False, False, False), (False, True, True, False), (True, True, True, True),
    ]  # fmt: skip


def test_annotations_are_optional(own_narwal, tmp_path):
    server = own_narwal()
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE TABLE d.t (id INT PRIMARY KEY)")
        client.ok("INSERT INTO d.t VALUES (1)")
        client.ok("SET binlog_annotate_row_events = OFF")
        client.ok("INSERT INTO d.t VALUES (2)")
    server.stop()
    text = binlog_text(export(server, tmp_path / "e.000001"), "-v")
    assert re.findall(r"#Q> (.*)", text) == ["INSERT INTO d.t VALUES (1)"]


def test_sql_log_bin_off(own_narwal, tmp_path):
    server = own_narwal("--innodb-flush-log-at-trx-commit=1")
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("USE d")
        client.ok("CREATE TABLE t (id INT PRIMARY KEY, v INT, KEY (v))")
        client.ok("INSERT INTO t VALUES (1, 1)")
        position = client.rows("SHOW MASTER STATUS")[0][:2]
        gtid = client.value("SELECT @@gtid_binlog_pos")
        client.ok("SET sql_log_bin = 0")
        client.ok("INSERT INTO t VALUES (2, 2)")
        client.ok("UPDATE t SET v = 7 WHERE id = 1")
        client.ok("CREATE TABLE local (a INT, b TEXT)")
        client.ok("INSERT INTO local VALUES (1, 'x'), (1, 'x')")
        client.ok("DELETE FROM local LIMIT 1")
        assert client.rows("SHOW MASTER STATUS")[0][:2] == position
        assert client.value("SELECT @@gtid_binlog_pos") == gtid
        client.ok("SET sql_log_bin = 1")
        client.ok("BEGIN")
        client.ok("INSERT INTO t VALUES (3, 3)")
        client.fails("SET sql_log_bin = 0", 1694)
        client.ok("COMMIT")
        expected = content(client, "d")
    server.kill()
    server.start()
    with Client(server) as client:
        assert content(client, "d") == expected
    server.stop()
    text = binlog_text(export(server, tmp_path / "e.000001"), "-v")
    assert re.findall(r"### (\w+ .*`)", text) == ["INSERT INTO `d`.`t`"] * 2
    assert "local" not in text
    check_gtids(text)


FILTERS = ["--binlog-ignore-db=ig", "--binlog-do-db=d"]
if not STAND_IN:
    # Narwal's own. A statement about a table goes by that table too.
    FILTERS += ["--binlog-do-table=d.t", "--binlog-ignore-table=ig.t --binlog-ignore-table=ig.unseen"]


@pytest.mark.parametrize("option", FILTERS)
def test_filtered_databases(own_narwal, tmp_path, option):
    """The rows' database decides, for DDL the default database; what is filtered survives all the same."""
    server = own_narwal("--innodb-flush-log-at-trx-commit=1", *option.split())
    with Client(server) as client:
        client.ok("CREATE DATABASE d")
        client.ok("CREATE DATABASE ig")
        client.ok("USE d")
        client.ok("CREATE TABLE t (id INT PRIMARY KEY, v TEXT)")
        client.ok("CREATE TABLE ig.t (id INT PRIMARY KEY, v TEXT, KEY (v(10)))")
        client.ok("USE ig")
        client.ok("CREATE TABLE unseen (a INT, b INT)")
        client.ok("INSERT INTO unseen VALUES (1, 1), (2, 2)")
        for mode in MODES:
            client.ok(f"SET binlog_row_image = {mode}")
            client.ok("BEGIN")
            client.ok("REPLACE INTO d.t VALUES (1, 'logged'), (2, 'logged')")
            client.ok("REPLACE INTO t VALUES (1, 'filtered'), (2, 'filtered')")
            client.ok("SAVEPOINT s")
            client.ok("UPDATE t SET v = 'gone'")
            client.ok("UPDATE d.t SET v = 'gone'")
            client.ok("ROLLBACK TO s")
            client.ok("UPDATE t, d.t AS o SET t.v = CONCAT('x', t.id) WHERE t.id = o.id" if STAND_IN else "UPDATE t SET v = CONCAT('x', id)")
            client.ok("UPDATE unseen SET b = b + 1 WHERE a = 1")
            client.ok("COMMIT")
            client.ok("DELETE FROM t WHERE id = 2")
        expected = {database: content(client, database) for database in ("d", "ig")}
        gtid = client.value("SELECT @@gtid_binlog_pos")
    server.kill()
    server.start()
    with Client(server) as client:
        for database, there in expected.items():
            assert content(client, database) == there
        assert client.value("SELECT @@gtid_binlog_pos") == gtid
    server.stop()
    text = binlog_text(export(server, tmp_path / "e.000001"), "-v")
    assert set(re.findall(r"^### .*`(\w+)`\.`(\w+)`", text, re.M)) == {("d", "t")}
    assert "unseen" not in text and "gone" not in text
    by_table = "-table" in option
    assert ("CREATE TABLE ig.t" in text) != by_table, "the default database was d"
    assert ("CREATE DATABASE ig" in text) == by_table
    check_gtids(text)
