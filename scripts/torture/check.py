"""Checks a restarted server against the memory of the load, and the event stream against its tables."""

from __future__ import annotations

import random
import sys
from collections import defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "lab"))
from testbed.wire import Connection, SqlError  # noqa: E402

from binlog import Corrupt, Replay  # noqa: E402
from workload import ACCOUNTS, DATABASE, KEYS, OWNERS, START_BALANCE, Load  # noqa: E402

BASE_TABLES = {"acct": "id", "journal": "client, txn", "cnt": "client", "tick": "id", "hot": "id",
               "big": "client, txn, i"}  # fmt: skip


def dump(c: Connection) -> dict[str, list[tuple]]:
    """Every table in primary key order."""
    tables = [r[0] for r in c.query("SHOW TABLES").rows]
    return {t: c.query(f"SELECT * FROM {t} ORDER BY {BASE_TABLES.get(t, 'id')}").rows for t in tables}


def end_prepared(load: Load, port: int, strict: bool, rng: random.Random) -> tuple[list[str], dict[str, bool]]:
    """Commits or rolls back what is prepared after a restart, and moves the load's memory along. `strict`: what was prepared and
    not told to end must be there, and nothing that has ended. Returns the faults, and what was committed (or not)."""
    if not load.xa:
        return [], {}
    faults, ended = [], {}
    c = Connection(port)
    found = {row[3].decode() if isinstance(row[3], bytes) else row[3] for row in c.query("XA RECOVER").rows}
    for client in load.clients:
        for t in client.txns:
            if not t.xa or t.xa not in found:
                if strict and t.prepared and not t.end_sent:
                    faults.append(f"XA transaction {t.xa} was prepared and is gone")
                continue
            found.discard(t.xa)
            if not t.prepare_sent:
                faults.append(f"XA transaction {t.xa} is prepared, which nobody asked for")
            if strict and t.acked:
                faults.append(f"XA transaction {t.xa} was committed and is only prepared")
            ended[t.xa] = rng.random() < 0.5
            c.query(f"XA {'COMMIT' if ended[t.xa] else 'ROLLBACK'} '{t.xa}'")
            # Its place in the log is that of its preparation.
            t.sent = t.prepare_sent
            t.prepared = 0.0
    if not strict:
        # In mode 0 a kill may take the last rollbacks back, and only those.
        for name in found & load.undone:
            ended[name] = False
            c.query(f"XA ROLLBACK '{name}'")
        found -= load.undone
    if found:
        faults.append(f"XA transactions of nobody: {sorted(found)[:5]}")
    if ended and not strict:
        # Mode 0: a kill within the next second would take these ends back, which nobody would know of any more.
        for mode in (1, 0):
            c.query(f"SET GLOBAL innodb_flush_log_at_trx_commit={mode}")
    c.close()
    return faults, ended


def check_state(load: Load, port: int, strict: bool, indexes: bool = True) -> tuple[list[str], dict[str, list[tuple]]]:
    """Faults in the state after a restart. `strict`: nothing acknowledged or seen may be missing; otherwise the state
    must be a prefix of the commit order. `indexes`: they are compared with the rows. Moves the load's memory to what is there, so that the next crash starts
    from it. Returns the faults and the dump."""
    faults: list[str] = []
    c = Connection(port, database=DATABASE)
    tables = dump(c)
    counters = dict(tables["cnt"])
    journal = {(r[0], r[1]): r[2:] for r in tables["journal"]}
    ticks = {(r[1], r[2]): r[0] for r in tables["tick"]}
    bigs: dict[tuple[int, int], list] = defaultdict(list)
    for r in tables["big"]:
        bigs[r[0], r[1]].append(r[2:])
    balance = dict.fromkeys(range(ACCOUNTS), START_BALANCE)
    version = dict.fromkeys(range(ACCOUNTS), 0)
    lost_acked, present_sent = [], []

    for client in load.clients:
        n = counters.pop(client.id, None)
        if n is None:
            faults.append(f"client {client.id} has no counter row")
            continue
        if n > len(client.txns):
            faults.append(f"client {client.id}: counter {n}, but only {len(client.txns)} were ever sent")
        if strict and n < client.acked():
            faults.append(f"client {client.id}: {client.acked()} acknowledged, {n} there")
        if strict and n < load.seen.get(client.id, 0):
            faults.append(f"client {client.id}: a reader saw {load.seen[client.id]}, {n} there")
        lost_acked += [(t.acked, client.id, t.number) for t in client.txns[n:] if t.acked]
        present_sent += [(t.sent, client.id, t.number) for t in client.txns[:n]]
        del client.txns[n:]
        gone = {t.tick_deleted for t in client.txns}
        big = next((t for t in reversed(client.txns) if t.big), None)
        for t in client.txns:
            got = journal.pop((client.id, t.number), None)
            if got != t.journal:
                faults.append(f"client {client.id} transaction {t.number}: journal has {got}, expected {t.journal}")
            if t.journal:
                src, dst, amount = t.journal[:3]
                balance[src] -= amount
                balance[dst] += amount
                version[src] += 1
                version[dst] += 1
            got = ticks.pop((client.id, t.number), None)
            want = t.tick if t.number not in gone else None
            if got != want:
                faults.append(f"client {client.id} transaction {t.number}: tick id {got}, expected {want}")
            got = bigs.pop((client.id, t.number), [])
            want = [(i, t.data + "!" * (i < t.marked)) for i in range(t.big)] if t is big else []
            if got != want:
                wrong = next((i for i, pair in enumerate(zip(got, want)) if pair[0] != pair[1]), min(len(got), len(want)))
                faults.append(f"client {client.id} transaction {t.number}{' (large)' * t.large}: {len(got)} bulk rows, "
                              f"expected {len(want)}; the first difference is at row {wrong}: "
                              f"{str(got[wrong:wrong + 1])[:60]}, {str(want[wrong:wrong + 1])[:60]}")  # fmt: skip
        load.seen[client.id] = min(n, load.seen.get(client.id, 0)) if not strict else n
    for what, rest in (("cnt", counters), ("journal", journal), ("tick", ticks), ("big", bigs)):
        if rest:
            faults.append(f"{what} has rows of no transaction: {sorted(rest)[:5]}")
    for row in tables["acct"]:
        i = row[0]
        want = (i, i % OWNERS, balance[i], version[i], "p" * (i % 60))
        if row != want:
            faults.append(f"acct row {row}, expected {want}: half a transaction")
    if len(tables["acct"]) != ACCOUNTS:
        faults.append(f"acct has {len(tables['acct'])} rows")
    places = sorted(r[5] for r in tables["journal"] if r[5] is not None)
    hot = tables["hot"][0][1] if tables["hot"] else None
    if hot != len(places) or places != list(range(1, len(places) + 1)):
        faults.append(f"hot.n = {hot}, {len(places)} places up to {places[-1] if places else 0}: a hole in the commit order")

    faults += check_ddl(load, c, tables, strict, lost_acked, present_sent)
    # A prefix: whoever sent its commit after another's acknowledgement is behind it in the commit order.
    if lost_acked and present_sent:
        lost, present = min(lost_acked), max(present_sent)
        if lost[0] < present[0]:
            faults.append(f"not a prefix: client {lost[1]} transaction {lost[2]} is lost, but client {present[1]} "
                          f"transaction {present[2]}, sent {present[0] - lost[0]:.4f} s after that acknowledgement, is there")  # fmt: skip
    load.ids = {t.tick for x in load.clients for t in x.txns if t.tick is not None}
    if indexes:
        faults += check_indexes(c, tables)
    faults += check_auto_increment(load, c)
    c.close()
    return faults, tables


def check_ddl(load: Load, c: Connection, tables: dict, strict: bool, lost: list, present: list) -> list[str]:
    """The DDL client's tables are in one of the states after its last acknowledged step (strict) or any step."""
    if load.ddl is None:
        return []
    faults = []
    indexes = defaultdict(set)
    for t in [*(t for t in tables if t.startswith("ddl_")), "acct"]:
        for r in c.query(f"SHOW INDEX FROM {t}").rows:
            if r[2] != "PRIMARY":
                indexes[t].add(r[2])
    state = {t: (len(rows), frozenset(indexes[t])) for t, rows in tables.items() if t.startswith("ddl_")}
    for t, rows in tables.items():
        if t.startswith("ddl_") and any(r != (i, i % 7, f"row {i}") for i, r in enumerate(rows)):
            faults.append(f"{t} holds rows that were never written: {rows[:3]}")
        elif not t.startswith("ddl_") and t not in BASE_TABLES:
            faults.append(f"unknown table {t}")
    found = (frozenset(state.items()), "k_extra" in indexes["acct"])
    steps = load.ddl.steps
    # A state can come back (an index made and dropped): take the reading that is no fault, if there is one.
    matching = [i for i, s in enumerate(steps) if s.state == found]
    at = max(matching, default=None)
    acked = max(i for i, s in enumerate(steps) if s.acked)
    if at is None or strict and at < acked:
        names = lambda s: (sorted((n, r, sorted(x)) for n, (r, x) in s[0]), s[1])  # noqa: E731
        faults.append(f"DDL state {names(found)} is {'behind' if at is not None else 'none of'} the acknowledged; "
                      f"last acknowledged {names(steps[acked].state)}")  # fmt: skip
    else:
        lost += [(s.acked, "DDL", i) for i, s in enumerate(steps) if i > at and s.acked]
        present += [(s.sent, "DDL", i) for i, s in enumerate(steps) if i <= min(matching)]
    load.ddl.restore(found)
    return faults


def check_indexes(c: Connection, tables: dict[str, list[tuple]]) -> list[str]:
    """The same rows by every secondary index as by the primary key."""
    faults = []

    def same(table: str, sql: str, want: list[tuple]) -> None:
        got = sorted(c.query(sql).rows, key=repr)
        if got != sorted(want, key=repr):
            extra, missing = set(got) - set(want), set(want) - set(got)
            faults.append(f"index of {table}: {sql}: {len(extra)} rows too many {list(extra)[:2]}, "
                          f"{len(missing)} missing {list(missing)[:2]}, {len(got)} for {len(want)}")  # fmt: skip

    def groups(rows: list[tuple], column: int) -> dict:
        out = defaultdict(list)
        for r in rows:
            out[r[column]].append(r)
        return out

    for owner in range(-1, OWNERS + 2):
        same("acct", f"SELECT * FROM acct WHERE owner = {owner}", groups(tables["acct"], 1)[owner])
    for balance, rows in groups(tables["acct"], 2).items():
        same("acct", f"SELECT * FROM acct WHERE balance = {balance}", rows)
    for low in (-10_000, 900, 1000, 1100):
        same("acct", f"SELECT id FROM acct WHERE balance >= {low} AND balance < {low + 200}",
             [(r[0],) for r in tables["acct"] if low <= r[2] < low + 200])  # fmt: skip
    for column, at in (("src", 2), ("dst", 3)):
        by = groups(tables["journal"], at)
        for account in range(0, ACCOUNTS, 3):
            same("journal", f"SELECT * FROM journal WHERE {column} = {account}", by[account])
    for row in tables["journal"][::17]:
        if row[5] is not None:
            same("journal", f"SELECT * FROM journal WHERE place = {row[5]}", [row])
    for row in tables["tick"][::5]:
        same("tick", f"SELECT * FROM tick WHERE client = {row[1]} AND txn = {row[2]}", [row])
    by = groups([(r[0], r[1], r[2]) for r in tables["big"]], 2)
    for i in (0, 7, 100, 299):
        same("big", f"SELECT client, txn, i FROM big WHERE i = {i}", by[i])
    for table, rows in tables.items():
        if table.startswith("ddl_"):
            by = groups(rows, 1)
            for v in range(7):
                same(table, f"SELECT * FROM {table} WHERE v = {v}", by[v])
            same(table, f"SELECT * FROM {table} WHERE s = 'row 3'", [r for r in rows if r[2] == "row 3"])
    return faults


def check_auto_increment(load: Load, c: Connection) -> list[str]:
    """The next value is beyond every one that an acknowledged transaction got, whether its row is still there."""
    top = max(load.ids, default=0)
    c.query("BEGIN")
    try:
        got = c.query("INSERT INTO tick (client, txn) VALUES (0, 0)").insert_id
    except SqlError as e:
        return [f"an INSERT that needs an AUTO_INCREMENT value beyond {top} fails: {e}"]
    c.query("ROLLBACK")
    return [f"AUTO_INCREMENT starts again at {got} although {top} was handed out"] if got <= top else []


def check_stream(files: list[Path], tables: dict[str, list[tuple]], ended: dict[str, bool]) -> tuple[list[str], Replay]:
    """The event stream from the start rebuilds exactly the tables, its GTIDs without gap or repeat. `ended`: the prepared
    transactions that were committed (or not) since."""
    replay = Replay(KEYS, DATABASE)
    try:
        for f in files:
            replay.file(f)
        if replay.prepared() != set(ended):
            return [f"event stream: prepared are {sorted(replay.prepared())}, the server has {sorted(ended)}"], replay
        for name, commit in ended.items():
            replay.end_xa(name, commit, "after the restart")
    except Corrupt as e:
        return [f"event stream: {e}"], replay
    faults = []
    for table in sorted(set(tables) | set(replay.tables)):
        if table not in replay.tables or table not in tables:
            faults.append(f"event stream: table {table} is only in the {'tables' if table in tables else 'stream'}")
            continue
        want = {replay.key(table, r): r for r in tables[table]}
        got = replay.tables[table]
        if want != got:
            wrong = [k for k in want.keys() | got.keys() if want.get(k) != got.get(k)]
            k = wrong[0]
            faults.append(f"event stream: {table} differs in {len(wrong)} rows, as {k}: the stream makes {got.get(k)}, "
                          f"the table has {want.get(k)}")  # fmt: skip
    return faults, replay
