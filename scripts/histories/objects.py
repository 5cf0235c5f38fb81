"""Rows and registers of a history: their versions in order, and who wrote them.

A row's versions are 0 (not born), one for each token of its list, and one more if it was deleted. The order is what the
longest list that anybody read says; all others must be beginnings of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from record import DELETE, INFO, OK, SAVEPOINT, BACK, SET, WRITE, WRITE_WHERE, ABORT, History, Op, Txn

NEVER = float("inf")


@dataclass
class Write:
    """What stands behind a token, a delete, or a value of a register."""

    txn: Txn
    op: Op
    at: int  # place of the operation in its transaction
    undone: bool = False  # by ROLLBACK TO


@dataclass
class Object:
    id: int
    tokens: list[int] = field(default_factory=list)
    deleted: Write | None = None
    vanished: bool = False  # gone, and who deleted it is not known
    states: list = field(default_factory=list)  # (grp, num) of each version, None where there is no row
    writes: list = field(default_factory=list)  # Write of each version, None where it is not known
    began: list[float] = field(default_factory=list)  # nobody can have seen a version before this
    acked: list[float] = field(default_factory=list)  # everybody who begins later sees this version or a later one

    def last(self) -> int:
        return len(self.states) - 1

    def window(self, before: float, ended: float) -> tuple[int, int]:
        """First and last version that a read may have met whose view was made after `before` and that ended at `ended`."""
        low, high = 0, 0
        for i in range(1, len(self.states)):
            if self.began[i] >= ended:
                break
            high = i
            if self.acked[i] < before:
                low = i
        return low, high


def matches(where: list, row: int, state: tuple | None) -> bool:
    if state is None:
        return False
    what, *ends = where
    value = row if what == "id" else state[0] if what == "grp" else state[1]
    return value is not None and ends[0] <= value <= ends[-1]


class Objects:
    """Built once from a history; `report(kind, text, txns)` is told what no order of the versions can explain."""

    def __init__(self, history: History, report):
        self.history = history
        self.report = report
        self.txns = {t.id: t for t in history.txns}
        self.tokens: dict[int, Write] = {}
        self.values: dict[tuple[int, int], Write] = {}
        self.deletes: list[Write] = []
        self.rows: dict[int, Object] = {}
        self.by_predicate: dict[tuple, list[Object]] = {}
        self._writes()
        self.final = self._final()
        self._order()
        self.committed = {t.id for t in history.txns if t.outcome == OK} | self._resolved()
        self._ends()
        self._versions()

    # -- what was written ------------------------------------------------------------------------------------------------
    def _writes(self) -> None:
        for txn in self.history.txns:
            open_writes: list[Write] = []
            marks: dict[str, int] = {}
            for at, op in enumerate(txn.ops):
                if op.kind == SAVEPOINT:
                    marks[op.name] = len(open_writes)
                elif op.kind == BACK and op.done and op.name in marks:
                    for w in open_writes[marks[op.name] :]:
                        w.undone = True
                    del open_writes[marks[op.name] :]
                elif op.kind in (WRITE, WRITE_WHERE, DELETE, SET):
                    w = Write(txn, op, at)
                    open_writes.append(w)
                    if op.kind == DELETE:
                        self.deletes.append(w)
                    elif op.kind == SET:
                        self.values[op.values[0][0], op.values[0][1]] = w
                    else:
                        self.tokens[op.token] = w

    def good(self, token: int) -> bool:
        """Of a transaction that may have committed, and not taken back by it."""
        w = self.tokens.get(token)
        return w is not None and not w.undone and w.txn.outcome != ABORT

    def _final(self) -> dict[int, list[int]] | None:
        if not self.history.complete or not self.history.txns:
            return None
        return {r.id: r.tokens or [] for op in self.history.txns[-1].ops for r in op.rows or []}

    # -- the order of versions -------------------------------------------------------------------------------------------
    def reads(self):
        """(transaction, place, operation, row) of each list that an answered operation gave."""
        for txn in self.history.txns:
            for at, op in enumerate(txn.ops):
                if op.done and op.rows:
                    for row in op.rows:
                        if row.tokens is not None:
                            yield txn, at, op, row

    def _order(self) -> None:
        longest: dict[int, tuple[list[int], Txn]] = {}
        lists: list[tuple[int, list[int], Txn]] = []
        for txn, _, _, row in self.reads():
            tokens = [t for t in row.tokens if self.good(t)]
            if len(set(tokens)) < len(tokens):
                self.report("double-write", f"row {row.id} is {row.tokens}", [txn])
                tokens = list(dict.fromkeys(tokens))
            # Of an uncertain transaction only what others saw is known to be there.
            if txn.outcome != OK:
                tokens = tokens[: next((i for i, t in enumerate(tokens) if self.tokens[t].txn is txn), len(tokens))]
            lists.append((row.id, tokens, txn))
            if row.id not in longest or len(tokens) > len(longest[row.id][0]):
                longest[row.id] = (tokens, txn)
        told = set()
        for row, tokens, txn in lists:
            best, by = longest[row]
            if best[: len(tokens)] != tokens and (row, txn.id) not in told:
                told.add((row, txn.id))
                self.report("incompatible-order", f"row {row} is {tokens} for T{txn.id} and {best} for T{by.id}", [txn, by])
        # A row of which only its own, uncertain or undone, transaction knows never was there.
        self.rows = {row: Object(row, tokens) for row, (tokens, _) in longest.items() if tokens}

    def _resolved(self) -> set[int]:
        """Transactions without an answer to their COMMIT of which something is there."""
        found = set()
        for o in self.rows.values():
            found |= {self.tokens[t].txn.id for t in o.tokens if self.tokens[t].txn.outcome == INFO}
        for _, _, op in self.gets():
            for row, value in op.values:
                w = self.values.get((row, value))
                if w and w.txn.outcome == INFO and not w.undone:
                    found.add(w.txn.id)
        return found

    def gets(self):
        for txn in self.history.txns:
            for at, op in enumerate(txn.ops):
                if op.kind == "get" and op.done:
                    # What a transaction reads of itself says nothing.
                    own = {(s.values[0][0], s.values[0][1]) for s in txn.ops if s.kind == SET}
                    yield txn, at, Op(**{**op.__dict__, "values": [v for v in op.values if tuple(v) not in own]})

    # -- who deleted -----------------------------------------------------------------------------------------------------
    def _ends(self) -> None:
        by_row: dict[int, list[Write]] = {}
        unknown = False
        for w in self.deletes:
            if w.undone or w.txn.outcome == ABORT:
                continue
            if w.op.rows is None:
                unknown |= w.txn.outcome == INFO
                continue
            for row in w.op.rows:
                by_row.setdefault(row.id, []).append(w)
        self.unknown_deletes = unknown
        for o in self.rows.values():
            by = by_row.get(o.id, [])
            sure = [w for w in by if w.txn.id in self.committed]
            there = None if self.final is None else o.id in self.final
            if len({w.txn.id for w in sure}) > 1:
                self.report("double-delete", f"row {o.id} was deleted twice", [w.txn for w in sure])
            if there is False and not sure:
                maybe = [w for w in by if w.txn.outcome == INFO]
                if len({w.txn.id for w in maybe}) == 1:
                    sure = maybe
                    self.committed.add(maybe[0].txn.id)
                elif maybe or unknown:
                    o.vanished = True
                else:
                    o.vanished = True
                    self.report("lost-write", f"row {o.id} {o.tokens} is gone, and nobody deleted it", self._writers(o))
            if there and sure:
                self.report("lost-write", f"row {o.id} is there at the end, though its delete was acknowledged", [sure[0].txn])
                sure = []
            if sure:
                o.deleted = sure[0]

    def _writers(self, o: Object) -> list[Txn]:
        return [self.tokens[t].txn for t in o.tokens[-2:]]

    # -- versions --------------------------------------------------------------------------------------------------------
    def _versions(self) -> None:
        for o in self.rows.values():
            state = None
            o.states, o.writes = [None], [None]
            for t in o.tokens:
                w = self.tokens[t]
                if state is None:
                    state = tuple(w.op.birth) if w.op.birth else (None, None)
                    if not w.op.birth:
                        self.report("impossible-read", f"row {o.id} {o.tokens} begins with a change of what was not there", [w.txn])
                elif w.op.change:
                    state = tuple(new if new is not None else old for new, old in zip(w.op.change, state))
                o.states.append(state)
                o.writes.append(w)
            if o.deleted or o.vanished:
                o.states.append(None)
                o.writes.append(o.deleted)
            o.began, o.acked, latest = [], [], 0.0
            for i, w in enumerate(o.writes):
                latest = max(latest, w.op.began if w else 0.0)
                o.began.append(latest)
                o.acked.append(-1.0 if i == 0 else w.txn.ended if w and w.txn.outcome == OK else NEVER)

    def relevant(self, where: list) -> list[tuple[Object, list[bool]]]:
        """Rows that some version of matches, each with which versions do."""
        key = tuple(where)
        if key not in self.by_predicate:
            found = []
            for o in self.rows.values():
                if where[0] == "id" and not where[1] <= o.id <= where[-1]:
                    continue
                fits = [matches(where, o.id, s) for s in o.states]
                if any(fits):
                    found.append((o, fits))
            self.by_predicate[key] = found
        return self.by_predicate[key]
