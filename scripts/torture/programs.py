"""Triggers, functions, procedures and events under load, with kills of the source and of its replicas: all are equal at the end.

One Narwal that is written to, and replicas of it: MariaDB 10.11, a later MariaDB where `scripts/peers` has fetched one, and a Narwal.
Writers run statements whose programs change further tables; beside them one session makes programs anew, and events run. Source
and replicas are killed with -9 in between. After each start the source is asked what must hold at any moment, since a statement and
all that its programs change are one: each change has its line in `audit`, and the counters that a trigger of `audit` keeps agree with
it. What was acknowledged is there. At the end every replica has the source's rows and definitions.
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

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from narwal_lab.subjects import binary_of  # noqa: E402
from testbed.replica import MariaReplica, NarwalReplica, Replica, ReplicaFailed  # noqa: E402
from testbed.servers import ROOT, ServerDied  # noqa: E402
from testbed.wire import Connection, Lost, SqlError  # noqa: E402

WRITERS = 4
ACCOUNTS = 200
# Errors that a statement may end with under this load: deadlocks and waits, rows that are there or gone, what programs signal.
EXPECTED = {1020, 1205, 1213, 1062, 1452, 1644, 1305, 1360, 1539, 1412}

SCHEMA = """
CREATE DATABASE p CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;
USE p;
CREATE TABLE account (id INT PRIMARY KEY, balance DECIMAL(12,2) NOT NULL, version INT NOT NULL DEFAULT 0, note VARCHAR(60), KEY (version));
CREATE TABLE entry (id BIGINT AUTO_INCREMENT PRIMARY KEY, account INT NOT NULL, amount DECIMAL(10,2) NOT NULL, fee DECIMAL(10,4),
    FOREIGN KEY (account) REFERENCES account (id) ON DELETE CASCADE);
CREATE TABLE audit (id BIGINT AUTO_INCREMENT PRIMARY KEY, what VARCHAR(12) NOT NULL, account INT, amount DECIMAL(12,2), writer INT);
CREATE TABLE counter (what VARCHAR(12) PRIMARY KEY, n BIGINT NOT NULL, amount DECIMAL(20,2) NOT NULL);
CREATE TABLE done (writer INT, number INT, PRIMARY KEY (writer, number));
CREATE TABLE tick (id BIGINT AUTO_INCREMENT PRIMARY KEY, event VARCHAR(20), seen BIGINT);
CREATE TABLE plain (id INT PRIMARY KEY, v VARCHAR(40)) COLLATE utf8mb4_bin
"""

# Each of these may be run again at any time. Many are: a text with a number in it is another definition each time.
PROGRAMS = [
    "CREATE OR REPLACE FUNCTION fee(x DECIMAL(10,2)) RETURNS DECIMAL(10,4) DETERMINISTIC"
    " BEGIN DECLARE f DECIMAL(10,4) DEFAULT 0; DECLARE i INT DEFAULT 0; /* {n} */"
    " WHILE i < 3 DO SET f = f + x / 100, i = i + 1; END WHILE; RETURN f; END",
    "CREATE OR REPLACE FUNCTION noted(a INT, w INT) RETURNS INT"
    " BEGIN INSERT INTO audit (what, account, amount, writer) VALUES ('noted', a, 1, w); RETURN a; /* {n} */ END",
    "CREATE OR REPLACE FUNCTION held(a INT) RETURNS DECIMAL(12,2) READS SQL DATA"
    " BEGIN DECLARE b DECIMAL(12,2); SELECT balance INTO b FROM account WHERE id = a; RETURN IFNULL(b, 0); /* {n} */ END",
    "CREATE OR REPLACE TRIGGER entry_before BEFORE INSERT ON entry FOR EACH ROW"
    " BEGIN IF NEW.amount < 0 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'less than nothing'; END IF;"
    " SET NEW.fee = fee(NEW.amount); /* {n} */ END",
    "CREATE OR REPLACE TRIGGER entry_after AFTER INSERT ON entry FOR EACH ROW"
    " BEGIN UPDATE account SET balance = balance + NEW.amount, version = version + 1 WHERE id = NEW.account;"
    " INSERT INTO audit (what, account, amount) VALUES ('entry', NEW.account, NEW.amount); /* {n} */ END",
    "CREATE OR REPLACE TRIGGER entry_gone AFTER DELETE ON entry FOR EACH ROW"
    " INSERT INTO audit (what, account, amount) VALUES ('gone', OLD.account, OLD.amount) /* {n} */",
    "CREATE OR REPLACE TRIGGER account_changed AFTER UPDATE ON account FOR EACH ROW"
    " BEGIN IF NEW.version <> OLD.version THEN"
    " INSERT INTO audit (what, account, amount) VALUES ('version', NEW.id, NEW.version - OLD.version); END IF; /* {n} */ END",
    "CREATE OR REPLACE TRIGGER audit_counted AFTER INSERT ON audit FOR EACH ROW"
    " INSERT INTO counter VALUES (NEW.what, 1, IFNULL(NEW.amount, 0))"
    " ON DUPLICATE KEY UPDATE n = n + 1, amount = amount + VALUES(amount) /* {n} */",
    "CREATE OR REPLACE PROCEDURE transfer(IN a INT, IN b INT, IN x DECIMAL(10,2), IN w INT, IN k INT)"
    " BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;"
    " START TRANSACTION; UPDATE account SET balance = balance - x, version = version + 1 WHERE id = LEAST(a, b);"
    " UPDATE account SET balance = balance + x, version = version + 1 WHERE id = GREATEST(a, b);"
    " INSERT INTO done VALUES (w, k); COMMIT; /* {n} */ END",
    "CREATE OR REPLACE PROCEDURE several(IN a INT, IN times INT)"
    " BEGIN DECLARE i INT DEFAULT 0; DECLARE v INT; DECLARE ended INT DEFAULT 0;"
    " DECLARE c CURSOR FOR SELECT id FROM account WHERE id >= a ORDER BY id LIMIT 5;"
    " DECLARE CONTINUE HANDLER FOR NOT FOUND SET ended = 1;"
    " OPEN c; again: LOOP FETCH c INTO v; IF ended OR i >= times THEN LEAVE again; END IF;"
    " INSERT INTO entry (account, amount) VALUES (v, i + 1); SET i = i + 1; END LOOP; CLOSE c; /* {n} */ END",
    "CREATE OR REPLACE PROCEDURE prepared(IN a INT, IN t VARCHAR(40))"
    " BEGIN PREPARE s FROM 'REPLACE INTO plain VALUES (?, ?)'; EXECUTE s USING a, t; DEALLOCATE PREPARE s; /* {n} */ END",
    "CREATE OR REPLACE VIEW rich AS SELECT id, balance, note FROM account WHERE balance > 100 /* {n} */",
    "CREATE OR REPLACE EVENT ticking ON SCHEDULE EVERY 1 SECOND DO"
    " INSERT INTO tick (event, seen) SELECT 'ticking {n}', COUNT(*) FROM audit WHERE what = 'entry'",
    "CREATE OR REPLACE EVENT swept ON SCHEDULE EVERY 2 SECOND DO BEGIN"
    " DELETE FROM entry ORDER BY id LIMIT 20; INSERT INTO tick (event) VALUES ('swept'); /* {n} */ END",
    "CREATE OR REPLACE EVENT once_{k} ON SCHEDULE AT CURRENT_TIMESTAMP + INTERVAL 1 SECOND DO INSERT INTO tick (event) VALUES ('once {n}')",
    "DROP EVENT IF EXISTS once_{k}",
    "ALTER EVENT ticking COMMENT 'changed {n}'",
    "DROP FUNCTION IF EXISTS held",
]

# What must hold at any moment, each as a query without rows.
HOLDS = {
    "the counters are those of audit": "SELECT a.what, a.n, c.n, a.amount, c.amount FROM (SELECT what, COUNT(*) n, SUM(IFNULL(amount, 0))"
    " amount FROM audit GROUP BY what) a LEFT JOIN counter c ON c.what = a.what WHERE c.n IS NULL OR c.n <> a.n OR c.amount <> a.amount",
    "each version of an account has its line in audit": "SELECT account.id, version, n FROM account JOIN (SELECT account, SUM(amount) n"
    " FROM audit WHERE what = 'version' GROUP BY account) a ON a.account = account.id WHERE version <> n",
    "entries are paid into accounts": "SELECT s.b, c.amount FROM (SELECT SUM(balance) b FROM account) s, counter c"
    f" WHERE c.what = 'entry' AND s.b <> c.amount + 100 * {ACCOUNTS}",
    "each entry is there or was deleted": "SELECT e.n, x.n, g.n FROM (SELECT COUNT(*) n FROM entry) e, (SELECT COUNT(*) n FROM audit WHERE"
    " what = 'entry') x, (SELECT COUNT(*) n FROM audit WHERE what = 'gone') g WHERE e.n + g.n <> x.n",
    "fees are computed": "SELECT id, amount, fee FROM entry WHERE fee IS NULL OR fee <> amount * 3 / 100",
}  # fmt: skip


def statements(rng: random.Random, writer: int, number: int) -> list[str]:
    """One unit of work: a statement, or a transaction of several."""
    a, b = rng.randrange(ACCOUNTS), rng.randrange(ACCOUNTS)
    mark = f"INSERT INTO done VALUES ({writer}, {number})"
    match rng.choices(range(10), [30, 8, 8, 8, 10, 5, 4, 6, 6, 4])[0]:
        case 0:
            return [f"INSERT INTO entry (account, amount) VALUES ({a}, {rng.randrange(1, 500)})"]
        case 1:
            return [f"CALL transfer({a}, {b}, {rng.randrange(1, 50)}, {writer}, {number})"]
        case 2:
            return [f"CALL several({a}, {rng.randrange(6)})"]
        case 3:
            return ["BEGIN", f"INSERT INTO entry (account, amount) VALUES ({a}, 1), ({b}, 2)", mark, "COMMIT"]
        case 4:
            return [f"UPDATE account SET version = version + 1, note = CONCAT('w', noted({a}, {writer})) WHERE id = {a}"]
        case 5:
            return [f"INSERT INTO plain SELECT noted(id, {writer}) * 1000 + {number % 1000}, held(id) FROM account WHERE id BETWEEN {a}"
                    f" AND {a + 2} ON DUPLICATE KEY UPDATE v = held({a})"]  # fmt: skip
        case 6:
            return [f"DELETE FROM entry WHERE account = {a} LIMIT 3"]
        case 7:
            return [f"CALL prepared({a}, '{writer} {number}')"]
        case 8:
            return [f"UPDATE rich SET note = 'rich {number}' WHERE id = {a}"]
        case _:
            # Its trigger signals: nothing of the statement may stay.
            return [f"INSERT INTO entry (account, amount) VALUES ({a}, 5), ({b}, -1)"]


class Writers:
    """Sessions that write until the statements are used up, through all deaths of the server."""

    def __init__(self, source: Replica, wanted: int, seed: int):
        self.source, self.seed, self.left = source, seed, wanted
        self.done = self.refused = self.lost = 0
        # Goes on also when all statements are done.
        self.hold = False
        self.acknowledged: set[tuple[int, int]] = set()
        self.faults: list[str] = []
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self._write, args=(w,), daemon=True) for w in range(WRITERS)]
        self.threads.append(threading.Thread(target=self._define, daemon=True))

    def working(self) -> bool:
        return (self.left > 0 or self.hold) and not self.faults

    def _open(self) -> Connection | None:
        try:
            return Connection(self.source.port, database="p", timeout=60)
        except (Lost, SqlError, OSError):
            time.sleep(0.05)
            return None

    def _run(self, c: Connection, unit: list[str]) -> bool:
        """Whether all of it was acknowledged. `Lost` if the server is gone."""
        for text in unit:
            try:
                c.query(text)
                with self.lock:
                    self.done += 1
                    self.left -= 1
            except SqlError as e:
                with self.lock:
                    self.refused += 1
                    if e.code not in EXPECTED and not (1053 == e.code):
                        self.faults.append(f"{e.code} {e} from {text}")
                if len(unit) > 1:
                    with contextlib.suppress(SqlError):
                        c.query("ROLLBACK")
                return False
        return True

    def _write(self, writer: int) -> None:
        rng, number, c = random.Random(f"{self.seed}-{writer}"), 0, None
        while self.working():
            c = c or self._open()
            if c is None:
                continue
            number += 1
            unit = statements(rng, writer, number)
            try:
                if self._run(c, unit) and any("done VALUES" in s or "transfer" in s for s in unit):
                    with self.lock:
                        self.acknowledged.add((writer, number))
            except (Lost, OSError):
                self.lost += 1
                c = None
        if c:
            c.close()

    def _define(self) -> None:
        rng, n, c = random.Random(f"{self.seed}-define"), 0, None
        while self.working():
            c = c or self._open()
            if c is None:
                continue
            n += 1
            try:
                self._run(c, [rng.choice(PROGRAMS).format(n=n, k=n % 5)])
            except (Lost, OSError):
                c = None
            time.sleep(rng.uniform(0, 0.2))
        if c:
            c.close()


class ProgramsTorture:
    """`statements`: how many are acknowledged before it ends; `least`: how many kills there are at least."""

    def __init__(self, folder: Path, statements: int, seed: int, binary: str | None = None, later: bool = True, rest: float = 3.0,
                 least: int = 0):  # fmt: skip
        self.folder, self.rng, self.rest, self.least = Path(folder), random.Random(seed), rest, least
        memory = self.rng.choice(["6M", "16M", "64M"])
        args = ["--event-scheduler=ON", "--max-connections=100", f"--innodb-buffer-pool-size={memory}", "--log-bin-trust-function-creators=ON",
                f"--innodb-flush-log-at-trx-commit={self.rng.choice([1, 2])}"]  # fmt: skip
        self.source = NarwalReplica(self.folder / "source", 1, args, binary=binary)
        threads = self.rng.choice([0, 2, 4])
        self.replicas: list[Replica] = [
            MariaReplica(self.folder / "mariadb", 101, ["--event-scheduler=ON"], threads=threads),
            NarwalReplica(self.folder / "narwal", 102, ["--event-scheduler=ON"], threads=self.rng.choice([1, 4]), binary=binary),
        ]
        peer = Path(os.environ.get("NARWAL_PEERS", ROOT / ".peers")) / "mariadb-11.8"
        if later and peer.is_dir():
            found, loader = binary_of(str(peer), ("mariadbd",))
            self.replicas.append(MariaReplica(self.folder / "mariadb-11.8", 103, binary=str(found), loader=loader))
        self.writers = Writers(self.source, statements, seed)
        self.kills = {"source": 0, "replica": 0, "both": 0, "recovery": 0}
        self.checks = 0
        self.compared = ""

    def run(self) -> None:
        """Raises at the first fault."""
        try:
            self._start()
            for thread in self.writers.threads:
                thread.start()
            self.writers.hold = self.least > 0
            while self.writers.working():
                self._one_kill()
                self.writers.hold = sum(self.kills.values()) < self.least
            for thread in self.writers.threads:
                thread.join(120)
            if self.writers.faults:
                raise AssertionError("\n".join(self.writers.faults[:10]))
            self._end()
        finally:
            self.writers.left, self.writers.hold = 0, False
            for server in (self.source, *self.replicas):
                server.kill()

    def _start(self) -> None:
        for server in (self.source, *self.replicas):
            server.create()
            server.start(120)
        c = Connection(self.source.port)
        for text in SCHEMA.strip().split(";\n"):
            c.query(text)
        for n, text in enumerate(PROGRAMS):
            c.query(text.format(n=0, k=n % 5))
            if "FUNCTION held" in text:
                held = text.format(n=0)
        c.query(held)
        c.query(f"INSERT INTO account (id, balance) SELECT seq - 1, 100 FROM seq_1_to_{ACCOUNTS}")
        c.close()
        for replica in self.replicas:
            replica.follow(self.source.port, heartbeat_period=1)

    # -- kills -------------------------------------------------------------------------------------------------------
    def _one_kill(self) -> None:
        time.sleep(self.rng.uniform(0.2, self.rest))
        for server in self.replicas:
            if (error := server.last_error()) and not server.pass_over_repeated_ddl():
                raise ReplicaFailed(f"{server.name} {server.server_id}: {error}\n{server.explain()}")
        if not self.source.alive():
            raise ServerDied(f"the source ended under load\n{self.source.log_tail()}")
        what = self.rng.choices(["source", "replica", "both"], [4, 4, 1])[0]
        self.kills[what] += 1
        hit = [] if what == "replica" else [self.source]
        hit += [] if what == "source" else [self.rng.choice(self.replicas)]
        for server in hit:
            server.kill()
        for server in hit:
            while self.rng.random() < 0.15:
                server.spawn()
                time.sleep(self.rng.uniform(0, 0.3))
                server.kill()
                self.kills["recovery"] += 1
            server.start(120)
        if self.source in hit:
            self._check(self.source)

    def _check(self, server: Replica) -> None:
        """What must hold at any moment, in one snapshot; and that nothing acknowledged is lost."""
        with self.writers.lock:
            acknowledged = set(self.writers.acknowledged)
        c = Connection(server.port, database="p")
        c.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        for what, query in HOLDS.items():
            if rows := c.query(query).rows:
                raise AssertionError(f"{server.name}: it does not hold that {what}: {rows[:3]}")
        there = {(int(w), int(n)) for w, n in c.query("SELECT writer, number FROM done").rows}
        c.query("COMMIT")
        c.close()
        if lost := sorted(acknowledged - there):
            raise AssertionError(f"{server.name}: acknowledged and lost: {lost[:5]} of {len(lost)}")
        self.checks += 1

    # -- the end -----------------------------------------------------------------------------------------------------
    def _end(self) -> None:
        self.source.query("SET GLOBAL event_scheduler = OFF")
        time.sleep(0.5)
        self._check(self.source)
        wanted = definitions(self.source)
        for replica in self.replicas:
            self.compared = str(replica.same(self.source.port, 300, databases={"p"}))
            self._check(replica)
            got = definitions(replica)
            for name in sorted(wanted.keys() | got.keys()):
                if wanted.get(name) != got.get(name):
                    raise AssertionError(f"{replica.name} {replica.server_id}: {name} is {got.get(name)}, on the source {wanted.get(name)}")
        if not any(int(n) for (n,) in self.source.query("SELECT COUNT(*) FROM p.tick")):
            raise AssertionError("no event has run")

    def report(self) -> str:
        w, k = self.writers, self.kills
        names = ", ".join(f"{r.name} {r.server_id}" for r in self.replicas)
        return (f"{w.done} statements acknowledged, {w.refused} refused, {w.lost} connections lost; kills: {k['source']} of the source, "
                f"{k['replica']} of a replica, {k['both']} of both, {k['recovery']} in recovery; {self.checks} checks; "
                f"{len(self.replicas)} replicas ({names}) equal: {self.compared}")  # fmt: skip


def definitions(server: Replica) -> dict[tuple, tuple]:
    """The programs of the database: kind and name, and what is told of them on source and replica alike."""
    out = {}
    for kind, name, *rest in server.query(
        "SELECT routine_type, routine_name, routine_definition, sql_data_access, is_deterministic, security_type, definer, sql_mode"
        " FROM information_schema.routines WHERE routine_schema = 'p'"
    ):
        out[kind, name] = tuple(rest)
    for name, *rest in server.query(
        "SELECT trigger_name, event_manipulation, event_object_table, action_statement, action_timing, action_order, sql_mode, definer"
        " FROM information_schema.triggers WHERE trigger_schema = 'p'"
    ):
        out["TRIGGER", name] = tuple(rest)
    for name, *rest in server.query(
        "SELECT event_name, event_definition, interval_value, interval_field, execute_at, on_completion, event_comment, definer, originator"
        " FROM information_schema.events WHERE event_schema = 'p'"
    ):
        out["EVENT", name] = tuple(rest)
    return out


def main(o) -> int:
    folder = Path(o.out)
    print(f"torture: seed {o.seed}, {o.programs} statements with programs; work in {folder}", flush=True)
    torture = ProgramsTorture(folder, o.programs, o.seed, o.narwal, rest=6.0)
    began = time.monotonic()
    faults = []
    try:
        torture.run()
    except (ServerDied, ReplicaFailed, Lost, SqlError, AssertionError, OSError) as e:
        faults.append(f"{type(e).__name__}: {e}")
    print(f"torture: {torture.report()}; {time.monotonic() - began:.0f} s", flush=True)
    for fault in faults:
        print(f"FAULT: {fault}\n  seed {o.seed}; folders and logs are kept in {folder}", flush=True)
    if not faults and not o.keep:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if faults else 0
