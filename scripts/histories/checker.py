"""The checker: from a history to the anomalies in it.

Versions of rows come from their lists (objects.py). Each answered read tells of every row that its predicate can concern
which versions it may have met: one, if the row's list was read; those that match, if only its id was; those that do not
match, if it is not in the answer. The writer of the earliest of these is read from (wr), the writer of the version after the
latest is depended on the other way (rw). Time narrows them: nobody sees a version before its statement was sent, and nobody
misses one that was acknowledged before he began.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from cycles import NAMES, RT, RW, WR, WW, Graph, find
from record import ABORT, BACK, COUNT, DELETE, GET, OK, READ, SAVEPOINT, SET, WRITE, WRITE_WHERE, History, Op, Txn
from levels import FORBIDDEN
from objects import NEVER, Object, Objects, Write, matches


@dataclass
class Anomaly:
    kind: str
    text: str
    txns: list[Txn]
    steps: list[str] = field(default_factory=list)

    def words(self) -> str:
        seen, parts = set(), [f"{self.kind}: {self.text}", *(f"  {s}" for s in self.steps)]
        for t in self.txns:
            if t.id not in seen and len(t.ops) < 100:
                seen.add(t.id)
                parts.append(t.words())
        return "\n".join(parts)


@dataclass
class Result:
    level: str
    anomalies: list[Anomaly]
    transactions: Counter
    edges: int

    def kinds(self) -> Counter:
        return Counter(a.kind for a in self.anomalies)

    def forbidden(self, level: str | None = None) -> list[Anomaly]:
        names = FORBIDDEN[level or self.level]
        return sorted((a for a in self.anomalies if a.kind in names), key=lambda a: sum(len(t.ops) for t in a.txns))

    def shortest(self, kind: str) -> Anomaly:
        return min((a for a in self.anomalies if a.kind == kind), key=lambda a: (len(a.txns), sum(len(t.ops) for t in a.txns)))


def check(history: History) -> Result:
    return Checker(history).run()


class Checker:
    def __init__(self, history: History):
        self.history = history
        self.found: list[Anomaly] = []
        self.graph = Graph()
        self.readers = Graph()  # rw only of transactions that do nothing but plain reads
        self.objects = Objects(history, self.report)
        # READ COMMITTED looks anew for each statement.
        self.per_statement = history.level in ("ru", "rc")

    def report(self, kind: str, text: str, txns: list[Txn]) -> None:
        self.found.append(Anomaly(kind, text, txns))

    def run(self) -> Result:
        committed = [t for t in self.history.txns if t.id in self.objects.committed]
        self.written()
        self.bad_reads()
        for o in self.objects.rows.values():
            self.version_edges(o)
        for txn in committed:
            self.read_edges(txn)
        Registers(self).run()
        self.time_edges(committed)
        self.cycles()
        outcomes = Counter(t.outcome for t in self.history.txns)
        return Result(self.history.level, self.found, outcomes, sum(len(v) for v in self.graph.out.values()))

    # -- writes --------------------------------------------------------------------------------------------------------------
    def written(self) -> None:
        """What was acknowledged is there, and of each transaction all or nothing."""
        objects = self.objects
        if not self.history.complete:
            return
        places = Counter(t for o in objects.rows.values() for t in o.tokens)
        vanished = objects.unknown_deletes
        missing: dict[int, list[Write]] = {}
        there: set[int] = {w.txn.id for w in (o.deleted for o in objects.rows.values()) if w}
        for token, w in objects.tokens.items():
            if w.undone or not w.op.done or w.txn.outcome == ABORT:
                continue
            wanted = w.op.n if w.op.kind == WRITE_WHERE else min(1, w.op.n)
            if places[token]:
                there.add(w.txn.id)
            if places[token] < wanted and not vanished and not self.taken_back(w):
                missing.setdefault(w.txn.id, []).append(w)
        for txn, writes in missing.items():
            t = objects.txns[txn]
            text = "; ".join(f"token {w.op.token} is nowhere ({w.op.sql or w.op.kind})" for w in writes[:3])
            if t.outcome == OK:
                self.report("lost-write", f"T{txn} was acknowledged, and {text}", [t])
            elif txn in there:
                self.report("half-transaction", f"a part of T{txn} is there, but {text}", [t])

    @staticmethod
    def taken_back(w: Write) -> bool:
        """Its own transaction deleted the row afterwards: nothing of it has to be there."""
        deletes = (op for op in w.txn.ops[w.at + 1 :] if op.kind == DELETE and op.done)
        return any(w.op.token in (row.tokens or []) for op in deletes for row in op.rows or [])

    # -- reads that no order explains ------------------------------------------------------------------------------------------
    def bad_reads(self) -> None:
        objects, told = self.objects, set()

        def once(kind: str, text: str, txns: list[Txn], *key) -> None:
            if (kind, *key) not in told:
                told.add((kind, *key))
                self.report(kind, text, txns)

        for txn, at, op, row in objects.reads():
            before = None
            for t in row.tokens:
                w = objects.tokens.get(t)
                if w is None:
                    once("unknown-token", f"T{txn.id} read {t} in row {row.id}", [txn], t)
                elif w.txn is txn:
                    if w.at > at or w.undone and self.is_undone(txn, w, at):
                        once("internal", f"T{txn.id} reads its own {t} in row {row.id}, which is not there", [txn], t, txn.id)
                elif w.txn.outcome == ABORT or w.undone:
                    once("G1a", f"T{txn.id} read {t} in row {row.id}, which T{w.txn.id} has taken back", [txn, w.txn], t, txn.id)
                    before = w
                elif before and w.txn is not before.txn:
                    once("dirty-update", f"T{w.txn.id} built {t} in row {row.id} on what T{before.txn.id} took back", [w.txn, before.txn], t)
            if row.grp is not None and row.tokens and row.id in objects.rows and txn.id in objects.committed:
                o = objects.rows[row.id]
                n = len(row.tokens)
                if o.tokens[:n] == row.tokens and o.states[n] != (row.grp, row.num):
                    once("torn-row", f"row {row.id} {row.tokens} says grp {row.grp}, num {row.num}; its history {o.states[n]}", [txn], row.id, n)
            if op.where and row.grp is not None and not matches(op.where, row.id, (row.grp, row.num)):
                once("torn-row", f"row {row.id} with grp {row.grp}, num {row.num} came for {op.where}", [txn], row.id, at, txn.id)

    @staticmethod
    def is_undone(txn: Txn, w: Write, at: int) -> bool:
        return any(o.kind == "back" and o.done and w.at < i < at for i, o in enumerate(txn.ops))

    # -- edges -------------------------------------------------------------------------------------------------------------------
    def version_edges(self, o: Object) -> None:
        for i in range(2, len(o.writes)):
            a, b = o.writes[i - 1], o.writes[i]
            if a and b:
                self.add(a.txn, b.txn, WW, ("row", o.id, i))

    def add(self, a: Txn, b: Txn, kind: int, why: tuple, by_predicate: bool = False, reader_only: bool = False) -> None:
        if a is b or a.id not in self.objects.committed or b.id not in self.objects.committed:
            return
        self.graph.add(a.id, b.id, kind, why, by_predicate)
        if kind != RW or reader_only:
            self.readers.add(a.id, b.id, kind, why, by_predicate)

    def own_rows(self, txn: Txn) -> dict[int, list[tuple[int, int, Object]]]:
        """Rows that the transaction changed: (place of the operation, version)."""
        own: dict[int, list[tuple[int, int, Object]]] = {}
        tokens = {op.token for op in txn.ops if op.kind in (WRITE, WRITE_WHERE)}
        deleted = {r.id for op in txn.ops if op.kind == DELETE and op.done for r in op.rows or []}
        if tokens or deleted:
            for o in self.touched(txn, tokens, deleted):
                for i, w in enumerate(o.writes):
                    if w and w.txn is txn:
                        own.setdefault(o.id, []).append((w.at, i, o))
        return own

    def touched(self, txn: Txn, tokens: set[int], deleted: set[int]) -> list[Object]:
        if not hasattr(self, "_of_token"):
            self._of_token: dict[int, list[Object]] = {}
            for o in self.objects.rows.values():
                for t in o.tokens:
                    self._of_token.setdefault(t, []).append(o)
        found = {o.id: o for t in tokens for o in self._of_token.get(t, [])}
        found |= {i: self.objects.rows[i] for i in deleted if i in self.objects.rows}
        return list(found.values())

    def read_edges(self, txn: Txn) -> None:
        own = self.own_rows(txn)
        pure = not any(op.kind in (WRITE, WRITE_WHERE, DELETE, SET) or op.lock for op in txn.ops)
        met: dict[int, int] = {}  # row: version that a plain read met
        undone = self.undone_changes(txn)
        for at, op in enumerate(txn.ops):
            if not op.done or op.where is None or op.kind == COUNT and op.n:
                continue
            if op.kind == WRITE_WHERE and op.n or op.kind == WRITE and op.n:
                continue
            if op.kind == DELETE and op.rows is None:
                continue
            hidden = [ids for made, back, ids in undone if made < at < back]
            if None not in hidden:
                self.one_read(txn, at, op, own, pure, met, set().union(*hidden))

    @staticmethod
    def undone_changes(txn: Txn) -> list[tuple[int, int, set[int] | None]]:
        """Changes that a ROLLBACK TO took back later: their place, its place, the rows (None: nobody knows which). Between the
        two the transaction sees what is in no version of these rows."""
        found: list[tuple[int, int, set[int] | None]] = []
        marks: dict[str, int] = {}
        for back, op in enumerate(txn.ops):
            if op.kind == SAVEPOINT:
                marks[op.name] = back
            elif op.kind == BACK and op.done and op.name in marks:
                for at in range(marks[op.name], back):
                    w = txn.ops[at]
                    if w.kind == WRITE and w.id:
                        found.append((at, back, {w.id}))
                    elif w.kind == DELETE and w.rows is not None:
                        found.append((at, back, {r.id for r in w.rows}))
                    elif w.kind in (WRITE, WRITE_WHERE, DELETE):
                        found.append((at, back, None))
        return found

    def one_read(self, txn: Txn, at: int, op: Op, own: dict, pure: bool, met: dict[int, int], hidden: set[int]) -> None:
        answer = {r.id: r for r in op.rows or []}
        writes = op.kind in (WRITE, WRITE_WHERE, DELETE)
        locks = op.lock or writes
        before = op.began if self.per_statement or locks else txn.began
        # Under snapshot isolation a locking read that finds nothing may have looked into the snapshot or at what is newest.
        absent = txn.began if self.history.level == "rr" else before
        for o, fits in self.objects.relevant(op.where):
            if o.id in hidden:
                continue
            row = answer.get(o.id)
            mine = [v for v in own.get(o.id, []) if v[0] < at]
            if mine:
                self.own_read(txn, op, o, fits, row, mine)
                continue
            low, high = o.window(absent if row is None else before, op.ended)
            if row is not None and row.tokens is not None:
                self.exact(txn, op, o, row, low, locks, pure, met, bool(own.get(o.id)))
                continue
            if row is None and not any(fits[low : high + 1]) and high == len(fits) - 1:
                continue  # all that it may have met is out of the predicate for good
            wanted = row is not None
            possible = [i for i in range(low, high + 1) if fits[i] == wanted]
            if not possible:
                self.nothing_possible(txn, op, o, fits, wanted, low, high)
                continue
            if writes and self.history.level == "rr":
                continue  # UPDATE and DELETE take what is newest and lock the rows that are there: docs/isolation.md
            self.edges(txn, op, o, *changes(fits, wanted, possible[0], possible[-1]), True, pure)
        for row in op.rows or []:
            if row.id not in self.objects.rows and row.tokens is None and op.lock is False and self.history.complete:
                if not any(w.txn is txn for w in self.objects.tokens.values() if w.op.id == row.id):
                    self.report("impossible-read", f"T{txn.id} met row {row.id}, which never was there: {op.sql}", [txn])

    def nothing_possible(self, txn: Txn, op: Op, o: Object, fits: list[bool], wanted: bool, low: int, high: int) -> None:
        verb = "met" if wanted else "missed"
        text = f"T{txn.id} {verb} row {o.id} by {op.where}, whose versions {low} to {high} of {o.tokens} all say otherwise"
        # Earlier versions would do: what was acknowledged before is not seen.
        stale = any(fits[i] == wanted for i in range(low))
        w = o.writes[low]
        self.report("stale-read" if stale else "impossible-read", text, [txn, *([w.txn] if w else [])])

    def own_read(self, txn: Txn, op: Op, o: Object, fits: list[bool], row, mine: list) -> None:
        version = max(v for _, v, _ in mine)
        if o.writes[version] is None or o.writes[version].undone:
            return
        if (row is not None) != fits[version]:
            verb = "met" if row is not None else "missed"
            self.report("internal", f"T{txn.id} {verb} row {o.id} by {op.where} after it changed it to version {version} of {o.tokens}", [txn])
        elif row is not None and row.tokens is not None and [t for t in row.tokens if self.objects.good(t)] != o.tokens[:version]:
            self.report("internal", f"T{txn.id} read {row.tokens} in row {o.id} after it had made it {o.tokens[:version]}", [txn])

    def exact(self, txn: Txn, op: Op, o: Object, row, low: int, locks: bool, pure: bool, met: dict, writes_later: bool) -> None:
        version = len([t for t in row.tokens if self.objects.good(t)])
        if version > o.last():
            return
        w = o.writes[version]
        if version < low:
            self.report("stale-read", f"T{txn.id} read {row.tokens} in row {o.id}; {o.tokens[:low]} was acknowledged before it began", [txn, o.writes[low].txn])
        if w and version + 1 < len(o.writes) and w.txn is not txn and o.writes[version + 1] and o.writes[version + 1].txn is w.txn:
            self.report("G1b", f"T{txn.id} read {row.tokens} in row {o.id}, which T{w.txn.id} changed again", [txn, w.txn])
        if not locks and not self.per_statement:
            if met.setdefault(o.id, version) != version:
                self.report("unrepeatable-read", f"T{txn.id} read versions {met[o.id]} and {version} of row {o.id} {o.tokens}", [txn])
        if writes_later and not locks:
            self.lost_update(txn, o, version)
        self.edges(txn, op, o, version, version, False, pure)

    def lost_update(self, txn: Txn, o: Object, version: int) -> None:
        first = next((i for i, w in enumerate(o.writes) if w and w.txn is txn), 0)
        between = [w.txn for w in o.writes[version + 1 : first] if w and w.txn is not txn]
        if between:
            self.report("lost-update", f"T{txn.id} read version {version} of row {o.id} and wrote version {first} of {o.tokens}", [txn, *between[:2]])

    def edges(self, txn: Txn, op: Op, o: Object, low: int, high: int, by_predicate: bool, pure: bool) -> None:
        why = ("row", o.id, low, high, op)
        if o.writes[low]:
            self.add(o.writes[low].txn, txn, WR, why, by_predicate)
        if high < o.last() and o.writes[high + 1]:
            self.add(txn, o.writes[high + 1].txn, RW, why, by_predicate, pure)

    def time_edges(self, committed: list[Txn]) -> None:
        """Only edges that no others imply: from those that no third one has followed before this one began."""
        ended = sorted((t for t in committed if t.outcome == OK), key=lambda t: t.ended)
        frontier: list[Txn] = []
        latest, at = 0.0, 0
        for t in sorted(committed, key=lambda t: t.began):
            while at < len(ended) and ended[at].ended < t.began:
                latest = max(latest, ended[at].began)
                frontier.append(ended[at])
                at += 1
            frontier = [f for f in frontier if f.ended >= latest]
            for f in frontier:
                self.graph.add(f.id, t.id, RT, ("time",))

    # -- cycles ------------------------------------------------------------------------------------------------------------------
    def cycles(self) -> None:
        level = self.history.level
        # Where a transaction is promised one view, time counts for it as well.
        kept = [("", c) for c in find(self.graph, False)]
        names = {"rc": {"G0-realtime", "G1c-realtime"}}
        timed = [("", c) for c in find(self.graph, True)]
        allowed = None if level in ("rr", "ser") else names["rc"]
        kept += [x for x in timed if allowed is None or x[1][0] in allowed]
        for _, (name, cycle) in kept:
            self.cycle(name, cycle)
        for name, cycle in find(self.readers, False):
            if any(k == RW for _, _, k in cycle):
                self.cycle("read-only-skew", cycle)

    def cycle(self, name: str, cycle: list[tuple[int, int, int]]) -> None:
        txns = self.objects.txns
        steps = [self.step(a, b, k) for a, b, k in cycle]
        text = " -> ".join([*(f"T{a} {NAMES[k]}" for a, _, k in cycle), f"T{cycle[0][0]}"])
        self.found.append(Anomaly(name, text, [txns[a] for a, _, _ in cycle], steps))

    def step(self, a: int, b: int, kind: int) -> str:
        why = self.graph.why.get((a, b, kind)) or self.readers.why.get((a, b, kind)) or ("time",)
        if kind == RT:
            return f"T{a} was acknowledged before T{b} began"
        if why[0] == "register":
            return f"{NAMES[kind]}: register {why[1]}: {why[2]}"
        o = self.objects.rows[why[1]]
        if kind == WW:
            return f"ww: T{b} wrote version {why[2]} of row {o.id} {o.tokens} on T{a}'s"
        _, _, low, high, op = why
        versions = f"version {low}" if low == high else f"one of versions {low} to {high}"
        if kind == WR:
            return f"wr: T{b} met {versions} of row {o.id} {o.tokens}, which T{a} had made, by: {op.sql or op.where}"
        gone = " (the delete)" if o.states[high + 1] is None else ""
        return f"rw: T{a} met {versions} of row {o.id} {o.tokens} by: {op.sql or op.where}; T{b} wrote version {high + 1}{gone}"


def changes(fits: list[bool], wanted: bool, low: int, high: int) -> tuple[int, int]:
    """The same bounds, moved out to where the row comes into the predicate or goes out of it: changes between these do not
    concern a reader who only knows whether the row matches."""
    while low and fits[low - 1] == wanted:
        low -= 1
    while high + 1 < len(fits) and fits[high + 1] == wanted:
        high += 1
    return low, high


class Registers:
    """Registers are overwritten, so the order of their values is known in part only: the first value comes first, the last
    read last, a value after the one that its writer read before, and after those that were acknowledged before it was sent."""

    def __init__(self, checker: Checker):
        self.c = checker
        self.objects = checker.objects
        self.writes: dict[int, dict[int, Write]] = {}
        for (row, value), w in self.objects.values.items():
            if not w.undone and w.txn.id in self.objects.committed and (w.op.done or w.txn.outcome != OK):
                self.writes.setdefault(row, {})[value] = w

    def run(self) -> None:
        self.bad_reads()
        for row in self.c.history.registers:
            self.register(row)

    def bad_reads(self) -> None:
        for txn, _, op in self.objects.gets():
            for row, value in op.values:
                w = self.objects.values.get((row, value))
                if w is None:
                    if value != self.c.history.registers.get(row):
                        self.c.report("unknown-token", f"T{txn.id} read {value} in register {row}", [txn])
                elif w.txn is not txn and (w.txn.outcome == ABORT or w.undone):
                    self.c.report("G1a", f"T{txn.id} read {value} in register {row}, which T{w.txn.id} has taken back", [txn, w.txn])
                elif w.txn is not txn and any(s.kind == SET and s.done and s.values[0][0] == row and i > w.at
                                              and not self.undone(s) for i, s in enumerate(w.txn.ops)):  # fmt: skip
                    self.c.report("G1b", f"T{txn.id} read {value} in register {row}, which T{w.txn.id} changed again", [txn, w.txn])

    def undone(self, op: Op) -> bool:
        return self.objects.values[op.values[0][0], op.values[0][1]].undone

    def register(self, row: int) -> None:
        first = self.c.history.registers[row]
        writes = self.last_of_each(row)
        by_txn = {w.txn.id: v for v, w in writes.items()}
        after: dict[int, set[int]] = {first: set(writes)}
        reads, based = [], {}
        for txn in self.c.history.txns:
            if txn.id not in self.objects.committed:
                continue
            for at, op in enumerate(txn.ops):
                if op.kind != GET or not op.done:
                    continue
                mine = [s for s in txn.ops[:at] if s.kind == SET and s.done and s.values[0][0] == row and not self.undone(s)]
                for r, value in op.values:
                    if r != row:
                        continue
                    if mine:
                        if value != mine[-1].values[0][1]:
                            self.c.report("internal", f"T{txn.id} read {value} in register {row} after it had written {mine[-1].values[0][1]}", [txn])
                    elif value in writes or value == first:
                        reads.append((txn, op, value))
                        if txn.id in by_txn and value != by_txn[txn.id]:
                            after.setdefault(value, set()).add(by_txn[txn.id])
                            based.setdefault(txn.id, (value, op.lock))
        self.by_time(writes, after)
        if self.c.history.complete and reads and reads[-1][0] is self.c.history.txns[-1]:
            last = reads[-1][2]
            for v in [first, *writes]:
                if v != last:
                    after.setdefault(v, set()).add(last)
        self.edges(row, writes, after, reads)
        self.lost_updates(row, based, by_txn)

    def last_of_each(self, row: int) -> dict[int, Write]:
        last: dict[int, tuple[int, Write]] = {}
        for value, w in self.writes.get(row, {}).items():
            if w.txn.id not in last or last[w.txn.id][1].at < w.at:
                last[w.txn.id] = (value, w)
        return dict(last.values())

    @staticmethod
    def by_time(writes: dict[int, Write], after: dict[int, set[int]]) -> None:
        """A row is locked from its change to the commit, so one that was sent after the other's answer comes later. Only
        edges that no others imply."""
        ended = sorted((w.txn.ended, w.op.began, v) for v, w in writes.items() if w.txn.outcome == OK)
        frontier, latest, at = [], 0.0, 0
        for v, w in sorted(writes.items(), key=lambda x: x[1].op.began):
            while at < len(ended) and ended[at][0] < w.op.began:
                latest = max(latest, ended[at][1])
                frontier.append(ended[at])
                at += 1
            frontier = [f for f in frontier if f[0] >= latest]
            for _, _, u in frontier:
                if u != v:
                    after.setdefault(u, set()).add(v)

    def edges(self, row: int, writes: dict[int, Write], after: dict[int, set[int]], reads: list) -> None:
        for u, later in after.items():
            for v in later:
                if u in writes and v in writes:
                    self.c.add(writes[u].txn, writes[v].txn, WW, ("register", row, f"{v} came after {u}"))
        for txn, op, value in reads:
            if value in writes:
                self.c.add(writes[value].txn, txn, WR, ("register", row, f"{value} was read by {op.sql or op.kind}"))
            pure = not any(o.kind in (WRITE, WRITE_WHERE, DELETE, SET) or o.lock for o in txn.ops)
            before = op.began if self.c.per_statement or op.lock else txn.began
            for v in after.get(value, ()):
                w = writes[v]
                self.c.add(txn, w.txn, RW, ("register", row, f"{value} was read by {op.sql or op.kind}; {v} came after it"), False, pure)
                if w.txn is not txn and w.txn.outcome == OK and w.txn.ended < before:
                    self.c.report("stale-read", f"T{txn.id} read {value} in register {row}; {v} after it was acknowledged before it began", [txn, w.txn])

    def lost_updates(self, row: int, based: dict[int, tuple[int, bool]], by_txn: dict[int, int]) -> None:
        """Two that read the same value and both overwrote it."""
        same: dict[int, list[int]] = {}
        for txn, (value, lock) in based.items():
            if not lock:
                same.setdefault(value, []).append(txn)
        for value, txns in same.items():
            if len(txns) > 1:
                self.c.report("lost-update", f"all of {['T%d' % t for t in txns]} read {value} in register {row} and wrote it", [self.objects.txns[t] for t in txns[:3]])
