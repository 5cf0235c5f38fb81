"""MariaDB, Narwal and MySQL, each writing and each following: random statements on all three, with kills, and all are equal at the end.

    MariaDB <-> Narwal <-> MySQL

Narwal follows both and both follow Narwal, so what one writes comes to the other through Narwal's log, and comes back to nobody. Each
server has a database of its own with tables of many types that its writers make, change, fill, empty and drop; one table is written by
all three, each its own rows. Servers are killed with -9 in between and started again.

At the end: what was acknowledged is on all three, all tables have the same columns and rows, no replication thread has stopped, MySQL's
set of GTIDs is Narwal's, and no log grows any more once nobody writes: nothing goes round.

MariaDB runs a definition and notes that it did in two transactions, so that one which is killed in between runs it again. Definitions
that can't be run twice are only given on MariaDB itself.
"""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import sys
import threading
import time
from pathlib import Path

import pymysql

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from narwal_lab.subjects import binary_of  # noqa: E402
from testbed.replica import MariaReplica, NarwalReplica  # noqa: E402
from testbed.servers import ROOT, MySQL, Server, ServerDied  # noqa: E402

IDS = {"mariadb": 11, "narwal": 22, "mysql": 77}
TABLES = 4
WRITERS = 2
# Deadlocks and waits, a key that is there, a table or column that is there or gone, a definition that has changed meanwhile.
EXPECTED = {1020, 1205, 1213, 1062, 1050, 1051, 1054, 1060, 1061, 1091, 1146, 1412, 1615}
COLLATIONS = ["utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_bin", "latin1_swedish_ci"]
# A type, and values of it as all three write them.
TYPES = {
    "TINYINT": ["-128", "127", "0"],
    "SMALLINT UNSIGNED": ["65535", "1"],
    "MEDIUMINT": ["-8388608", "8388607"],
    "BIGINT UNSIGNED": ["18446744073709551615", "0"],
    "DECIMAL(20,6)": ["-12345678901234.567891", "0.000001"],
    "DOUBLE": ["1.5", "-2.25e10"],
    "VARCHAR(300)": ["'naive'", "''", "REPEAT('v', 300)", "'O''Reilly'"],
    "CHAR(5)": ["'abc'", "''", "'zwei'"],
    "TEXT": ["REPEAT('text ', 700)", "''"],
    "VARBINARY(20)": ["X'00ff'", "X''"],
    "BLOB": ["X'000102'", "REPEAT('b', 3000)"],
    "DATE": ["'2024-02-29'", "'1000-01-01'"],
    "TIME(6)": ["'-838:59:58.999999'", "'00:00:00'", "'23:59:59.5'"],
    "DATETIME(3)": ["'2024-01-02 03:04:05.678'", "'9999-12-31 23:59:59'"],
    "TIMESTAMP(6) NULL": ["'2001-02-03 04:05:06.789012'", "CURRENT_TIMESTAMP(6)"],
    "YEAR": ["1999", "2155"],
    "BIT(11)": ["1027", "0"],
    "ENUM('x','y','z')": ["'y'", "'z'"],
    "SET('s','t','u')": ["'s,u'", "''"],
}


class Writer(threading.Thread):
    """One session that writes to one server, through its deaths, until it is told to end."""

    def __init__(self, ring: Ring, where: str, number: int):
        super().__init__(daemon=True)
        self.ring, self.where, self.number = ring, where, number
        self.rng = random.Random(f"{ring.seed}-{where}-{number}")
        self.done = self.refused = self.lost = 0
        self.acknowledged: list[int] = []
        self.fault = ""

    def run(self) -> None:
        c, n = None, 0
        while self.ring.wanted():
            try:
                c = c or self.ring.connect(self.where)
                n += 1
                self._unit(c, n)
            except pymysql.err.OperationalError as e:
                # Errors of the client's side, and servers that end.
                if not (2000 <= e.args[0] < 2100 or e.args[0] in (1053, 1927, 0)):
                    self.fault = f"{self.where}: {e}"
                    return
                self.lost += 1
                c = None
                time.sleep(0.05)
            except OSError:
                c = None
                time.sleep(0.05)

    def _unit(self, c, n: int) -> None:
        for text in self._statements(n):
            try:
                with c.cursor() as cursor:
                    cursor.execute(text)
                self.done += 1
            except pymysql.err.MySQLError as e:
                if e.args[0] not in EXPECTED:
                    if isinstance(e, pymysql.err.OperationalError):
                        raise
                    self.fault = f"{self.where}: {e} from {text[:300]}"
                    return
                self.refused += 1
                with c.cursor() as cursor:
                    cursor.execute("ROLLBACK")
                return
        self.acknowledged.append(n)

    def _statements(self, n: int) -> list[str]:
        """A definition, or a transaction that leaves its mark in the table of all."""
        rng, table = self.rng, f"of_{self.where}.t{self.rng.randrange(TABLES)}"
        mark = f"INSERT INTO everyone.marks (server, writer, n, note) VALUES ({IDS[self.where]}, {self.number}, {n}, '{self.where} {n}')"
        if rng.random() < 0.06:
            return [self._definition(table), mark]
        changes = [self._change(table) for _ in range(rng.choice([1, 1, 1, 2, 3, 8]))]
        if rng.random() < 0.2:
            changes.append(f"UPDATE everyone.marks SET note = CONCAT(note, '!') WHERE server = {IDS[self.where]} AND writer = {self.number}"
                           f" AND n = {max(1, n - rng.randrange(1, 50))}")  # fmt: skip
        ends = rng.choices(["COMMIT", "ROLLBACK"], [12, 1])[0]
        return ["BEGIN", *changes, ends, mark] if rng.random() < 0.3 else ["BEGIN", *changes, mark, "COMMIT"]

    def _change(self, table: str) -> str:
        rng, key = self.rng, self.rng.randrange(500)
        match rng.randrange(8):
            case 0:
                return f"DELETE FROM {table} WHERE id BETWEEN {key} AND {key + 3}"
            case 1:
                return f"UPDATE {table} SET v = CONCAT('u', {rng.randrange(1000)}), n = n + 1 WHERE id = {key}"
            case 2:
                return f"UPDATE {table} SET n = {rng.randrange(1000)} WHERE n BETWEEN {key} AND {key + 5}"
            case 3:
                return f"REPLACE INTO {table} (id, v) VALUES ({key}, 'r'), ({key + 1}, NULL)"
            case 4:
                return f"INSERT INTO {table} (id, n, v) SELECT id + 1000, n, v FROM {table} WHERE id < {key} ORDER BY id LIMIT 5"
            case _:
                return f"INSERT INTO {table} (id, n, v) VALUES ({key}, {rng.randrange(9999)}, '{'v' * rng.randrange(20)}') ON DUPLICATE KEY UPDATE n = {key}"

    def _definition(self, table: str) -> str:
        rng = self.rng
        kinds = rng.sample([*TYPES], 6)
        columns = "".join(f", c{i} {kind} DEFAULT {rng.choice([v for v in TYPES[kind] if 'REPEAT' not in v and '(' not in v])}"
                          if not kind.startswith(("TEXT", "BLOB")) else f", c{i} {kind}" for i, kind in enumerate(kinds))  # fmt: skip
        collation = rng.choice(COLLATIONS)
        create = (f"CREATE TABLE IF NOT EXISTS {table} (id INT PRIMARY KEY, n INT, v VARCHAR(60){columns}, KEY (n))"
                  f" CHARACTER SET {collation.split('_')[0]} COLLATE {collation}")  # fmt: skip
        repeatable = [
            create, create, create, f"DROP TABLE IF EXISTS {table}", f"TRUNCATE TABLE {table}", f"ALTER TABLE {table} COMMENT 'c{rng.randrange(9)}'",
            f"ALTER TABLE {table} MODIFY v VARCHAR({rng.choice([60, 80, 200])})",
            f"CREATE OR REPLACE VIEW of_{self.where}.w AS SELECT id, n FROM {table} WHERE n > {rng.randrange(99)}",
        ]  # fmt: skip
        once = [
            f"ALTER TABLE {table} ADD COLUMN x{rng.randrange(3)} {rng.choice([*TYPES])}", f"ALTER TABLE {table} DROP COLUMN x{rng.randrange(3)}",
            f"CREATE INDEX i{rng.randrange(3)} ON {table} (v)", f"ALTER TABLE {table} DROP INDEX i{rng.randrange(3)}",
            f"RENAME TABLE {table} TO of_{self.where}.t{rng.randrange(TABLES)}",
        ]  # fmt: skip
        return rng.choice(repeatable + once if self.where == "mariadb" else repeatable)


class Ring:
    """`statements`: how many are acknowledged before it ends. `mysql`: which of the servers of `scripts/peers`."""

    def __init__(self, folder: Path, statements: int, seed: int, binary: str | None = None, mysql: str = "mysql-8.4", rest: float = 4.0):
        self.folder, self.left, self.seed, self.rest = Path(folder), statements, seed, rest
        self.rng = random.Random(seed)
        found, loader = binary_of(str(peers() / mysql), ("mysqld",))
        self.servers: dict[str, Server] = {
            "mariadb": MariaReplica(self.folder / "mariadb", IDS["mariadb"], ["--log-bin=own", "--binlog-format=ROW", "--gtid-domain-id=11",
                                    "--character-set-server=utf8mb4"], threads=self.rng.choice([0, 4])),
            "narwal": NarwalReplica(self.folder / "narwal", IDS["narwal"], ["--gtid-domain-id=22", "--innodb-buffer-pool-size=16M"],
                                    threads=self.rng.choice([0, 1, 4]), binary=binary),
            "mysql": MySQL(self.folder / "mysql", [f"--server-id={IDS['mysql']}", "--gtid-mode=ON", "--enforce-gtid-consistency=ON",
                           "--relay-log=relay", "--log-bin=own", "--innodb-buffer-pool-size=64M", "--performance-schema=OFF",
                           f"--log-replica-updates={self.rng.choice(['ON', 'OFF'])}"], binary=str(found), loader=loader),
        }  # fmt: skip
        self.servers["mariadb"].args = [a for a in self.servers["mariadb"].args if a != "--skip-log-bin"]
        self.writers = [Writer(self, where, i) for where in IDS for i in range(WRITERS)]
        self.kills = dict.fromkeys(IDS, 0)
        self.compared = "nothing was compared"

    def connect(self, where: str):
        return pymysql.connect(host="127.0.0.1", port=self.servers[where].port, user="root", charset="utf8mb4", collation="utf8mb4_general_ci",
                               autocommit=True, read_timeout=120)  # fmt: skip

    def ask(self, where: str, *texts: str) -> list[tuple]:
        c = self.connect(where)
        try:
            with c.cursor() as cursor:
                for text in texts:
                    try:
                        cursor.execute(text)
                    except pymysql.err.OperationalError as e:
                        e.add_note(f"{where}, asked for {text[:200]}")
                        raise
                return list(cursor.fetchall())
        finally:
            c.close()

    def wanted(self) -> bool:
        return sum(w.done for w in self.writers) < self.left and not any(w.fault for w in self.writers)

    def run(self) -> None:
        """Raises at the first fault."""
        try:
            self._start()
            for writer in self.writers:
                writer.start()
            while self.wanted():
                self._one_kill()
            for writer in self.writers:
                writer.join(150)
            if faults := [w.fault for w in self.writers if w.fault]:
                raise AssertionError("\n".join(faults))
            self._end()
        except (pymysql.err.OperationalError, AssertionError) as e:
            e.add_note(self._busy())
            raise
        finally:
            self.left = 0
            for server in self.servers.values():
                server.kill()

    def _start(self) -> None:
        for server in self.servers.values():
            server.create()
            server.start(120)
        ports = {where: server.port for where, server in self.servers.items()}
        self.ask("narwal", "CREATE USER repl@'%'", "GRANT REPLICATION SLAVE ON *.* TO repl@'%'")
        self.ask("mysql", "CREATE USER repl@'%' IDENTIFIED BY 'secret'", "GRANT REPLICATION SLAVE ON *.* TO repl@'%'", "RESET BINARY LOGS AND GTIDS")
        self.ask("mariadb", "RESET MASTER")
        common = "CHANGE REPLICATION SOURCE TO SOURCE_HOST='127.0.0.1', SOURCE_USER='repl', SOURCE_CONNECT_RETRY=1, SOURCE_HEARTBEAT_PERIOD=1"
        self.ask("narwal", f"{common}, SOURCE_PORT={ports['mysql']}, SOURCE_PASSWORD='secret', SOURCE_AUTO_POSITION=1, SOURCE_SSL=1,"
                           " SOURCE_SSL_VERIFY_SERVER_CERT=0 FOR CHANNEL 'mysql'", "START REPLICA FOR CHANNEL 'mysql'")  # fmt: skip
        self.servers["narwal"].follow(ports["mariadb"], "mariadb", heartbeat_period=1)
        self.servers["mariadb"].follow(ports["narwal"], heartbeat_period=1)
        self.ask("mysql", f"{common}, SOURCE_PORT={ports['narwal']}, SOURCE_AUTO_POSITION=1, SOURCE_RETRY_COUNT=1000", "START REPLICA")
        self.ask("narwal", "CREATE DATABASE everyone CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", "CREATE TABLE everyone.marks (server INT,"
                 " writer INT, n INT, note VARCHAR(120), PRIMARY KEY (server, writer, n)) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")  # fmt: skip
        for where in IDS:
            self.ask("narwal", f"CREATE DATABASE of_{where} CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci")
            for t in range(TABLES):
                self.ask("narwal", f"CREATE TABLE of_{where}.t{t} (id INT PRIMARY KEY, n INT, v VARCHAR(60), KEY (n)) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin")
        for where in ("mariadb", "mysql"):
            self._until(lambda where=where: self._has(where, f"of_{[*IDS][-1]}.t{TABLES - 1}"), f"{where} has the tables")

    def _has(self, where: str, table: str) -> bool:
        """By the table itself: MySQL 8.4 has ended by signal 11 where information_schema was asked while tables came."""
        try:
            return self.ask(where, f"SELECT COUNT(*) FROM {table}") == [(0,)]
        except pymysql.err.MySQLError as e:
            if e.args[0] in (1049, 1146):
                return False
            raise

    def _busy(self) -> str:
        """What the sessions of all servers do, for one who looks for what hangs."""
        told = []
        for where, server in self.servers.items():
            try:
                c = pymysql.connect(host="127.0.0.1", port=server.port, user="root", connect_timeout=5, read_timeout=5)
                with contextlib.closing(c), c.cursor() as cursor:
                    cursor.execute("SHOW FULL PROCESSLIST")
                    told += [f"{where}: {row}" for row in cursor.fetchall() if "Sleep" not in row]
            except (pymysql.err.MySQLError, OSError) as e:
                told.append(f"{where}: {e}, exit status {server.process and server.process.poll()}\n{server.log_tail(15)}")
        return "\n".join(told)

    # -- kills -------------------------------------------------------------------------------------------------------
    def _one_kill(self) -> None:
        end = time.monotonic() + self.rng.uniform(0.5, self.rest)
        while time.monotonic() < end and self.wanted():
            time.sleep(0.1)
        self._look()
        where = self.rng.choice([*IDS])
        self.servers[where].kill()
        self.kills[where] += 1
        time.sleep(self.rng.choice([0, self.rng.uniform(0, 1)]))
        self.servers[where].start(120)

    def _look(self) -> None:
        """Raises if a replication thread has stopped."""
        for where in ("mariadb", "narwal"):
            if error := self.servers[where].last_error():
                raise AssertionError(f"{where}: {error}\n{self.servers[where].log_tail(15)}")
        c = self.connect("mysql")
        with c.cursor(pymysql.cursors.DictCursor) as cursor:
            cursor.execute("SHOW REPLICA STATUS")
            s = cursor.fetchone()
        c.close()
        if s["Replica_SQL_Running"] == "No" or (s["Replica_IO_Running"] == "No" and s["Last_IO_Errno"]):
            raise AssertionError(f"mysql: {s['Last_SQL_Errno']} {s['Last_SQL_Error']} {s['Last_IO_Errno']} {s['Last_IO_Error']}\n{self.servers['mysql'].log_tail(15)}")

    # -- the end -----------------------------------------------------------------------------------------------------
    def _until(self, holds, what: str, seconds: float = 300) -> None:
        end = time.monotonic() + seconds
        while not holds():
            self._look()
            if time.monotonic() > end:
                raise AssertionError(f"it did not come to be in {seconds:.0f} s that {what}: {self.positions()}")
            time.sleep(0.2)

    def positions(self) -> dict[str, tuple]:
        return {
            "mariadb": self.ask("mariadb", "SELECT @@gtid_binlog_pos, @@gtid_slave_pos")[0],
            "narwal": self.ask("narwal", "SELECT @@gtid_binlog_pos, REPLACE(@@GLOBAL.gtid_executed, '\\n', '')")[0],
            "mysql": self.ask("mysql", "SELECT REPLACE(@@GLOBAL.gtid_executed, '\\n', '')")[0],
        }

    def _end(self) -> None:
        for where in IDS:
            for other in IDS:
                self._until(lambda where=where, other=other: self._marks(where, other) == self._marks(where, where), f"{other} has what {where} wrote")
            for writer in (w for w in self.writers if w.where == where):
                there = {n for (n,) in self.ask("narwal", f"SELECT n FROM everyone.marks WHERE server = {IDS[where]} AND writer = {writer.number}")}
                if lost := sorted(set(writer.acknowledged) - there):
                    raise AssertionError(f"acknowledged by {where} and lost: {lost[:5]} of {len(lost)}")
        # A statement behind the last mark is on its way still.
        self._until(lambda: self._settled(), "the logs stand still")
        columns, rows = ({where: asked(where) for where in IDS} for asked in (self._columns, self._rows))
        for where in ("mariadb", "mysql"):
            differ(columns["narwal"], columns[where], f"columns on narwal and {where}")
            differ(rows["narwal"], rows[where], f"rows on narwal and {where}")
        executed, narwal = self.positions()["mysql"][0], self.positions()["narwal"][1]
        if self.ask("mysql", f"SELECT GTID_SUBSET('{executed}', '{narwal}')") != [(1,)]:
            raise AssertionError(f"MySQL has GTIDs that Narwal has not: {executed}, Narwal {narwal}")
        self.compared = f"{len(rows['narwal'])} tables, {sum(map(len, rows['narwal'].values()))} rows"

    def _settled(self) -> bool:
        before = self.positions()
        time.sleep(2)
        return before == self.positions()

    def _marks(self, where: str, on: str) -> list[tuple]:
        """What there is on one server of what another wrote."""
        with contextlib.suppress(pymysql.err.OperationalError, OSError):
            return self.ask(on, f"SELECT COUNT(*), SUM(n), SUM(LENGTH(note)) FROM everyone.marks WHERE server = {IDS[where]}")
        return [(on,)]

    def _columns(self, where: str) -> dict[tuple, tuple]:
        found = self.ask(where, "SELECT table_schema, table_name, column_name, ordinal_position, data_type, is_nullable, collation_name,"
                         " character_maximum_length, numeric_precision, numeric_scale, datetime_precision FROM information_schema.columns"
                         " WHERE table_schema IN ('everyone', 'of_mariadb', 'of_narwal', 'of_mysql')")  # fmt: skip
        return {tuple(row[:3]): tuple(row[3:]) for row in found}

    def _rows(self, where: str) -> dict[str, list[tuple]]:
        tables = {f"{schema}.{table}" for schema, table, _ in self._columns(where)}
        return {t: self.ask(where, "SET time_zone = '+00:00'", f"SELECT * FROM {t} ORDER BY 1, 2, 3") for t in sorted(tables - {f"of_{w}.w" for w in IDS})}

    def report(self) -> str:
        done, refused, lost = (sum(getattr(w, what) for w in self.writers) for what in ("done", "refused", "lost"))
        by = ", ".join(f"{sum(w.done for w in self.writers if w.where == where)} on {where}" for where in IDS)
        kills = ", ".join(f"{n} of {where}" for where, n in self.kills.items())
        return f"{done} statements acknowledged ({by}), {refused} refused, {lost} connections lost; kills: {kills}; equal: {self.compared}"


def differ(one: dict, other: dict, what: str) -> None:
    for name in sorted(one.keys() | other.keys()):
        if one.get(name) != other.get(name):
            a, b = one.get(name), other.get(name)
            if isinstance(a, list) and isinstance(b, list):
                a, b = [r for r in a if r not in b][:2], [r for r in b if r not in a][:2]
            raise AssertionError(f"{what} differ: {name}: {str(a)[:600]} and {str(b)[:600]}")


def peers() -> Path:
    return Path(os.environ.get("NARWAL_PEERS", ROOT / ".peers"))


def main(o) -> int:
    """`./torture --ring N`, with run.py's options."""
    folder = Path(o.out)
    print(f"torture: seed {o.seed}, {o.ring} statements on MariaDB, Narwal and MySQL that follow each other; work in {folder}", flush=True)
    ring = Ring(folder, o.ring, o.seed, o.narwal, mysql=o.mysql)
    began = time.monotonic()
    fault = ""
    try:
        ring.run()
    except (ServerDied, pymysql.err.MySQLError, AssertionError, OSError) as e:
        fault = f"{type(e).__name__}: {e}"
    print(f"torture: {ring.report()}; {time.monotonic() - began:.0f} s", flush=True)
    if fault:
        print(f"FAULT: {fault}\n  seed {o.seed}; folders and logs are kept in {folder}", flush=True)
    elif not o.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if fault else 0
