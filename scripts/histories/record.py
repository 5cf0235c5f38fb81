"""What clients did and saw: transactions of operations, as objects and as JSON lines.

The rows of table `h` are named so that a history can be read out of the data: every change of a row appends a token of
its own to the row's column `v`, and a row's id is never used again once it was deleted. So a row that is read tells which
changes made it and in which order, as the lists of Elle do, and rows come and go from predicates all the same. Table `reg`
has plain registers, which are overwritten by unique values.

A read by a predicate names its predicate: ("id", low, high), ("grp", low, high) or ("num", low, high), both ends included.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path

# Kinds of operations
WRITE = "write"  # one row of h by its id: token, birth (grp, num if it makes the row), change (grp, num if it moves the row)
WRITE_WHERE = "write_where"  # all rows of a predicate get the token; n rows were changed
DELETE = "delete"  # rows of a predicate; `rows` are those that went, as they were
READ = "read"  # rows of a predicate
COUNT = "count"  # only how many there are; says something of the rows if it is 0
SET = "set"  # a register
GET = "get"  # registers
SAVEPOINT = "savepoint"
BACK = "back"  # to a savepoint

OK, ABORT, INFO = "ok", "abort", "info"


@dataclass
class Row:
    """A row as it was read: its tokens in order, and what its columns said. No tokens: only its id was read."""

    id: int
    tokens: list[int] | None = None
    grp: int | None = None
    num: int | None = None


@dataclass
class Op:
    kind: str
    sql: str = ""
    began: float = 0.0
    ended: float = 0.0
    done: bool = True  # False: no answer, or an error
    id: int = 0
    token: int = 0
    birth: list[int] | None = None
    change: list[int | None] | None = None
    where: list | None = None
    rows: list[Row] | None = None
    n: int = 0
    lock: bool = False  # a read that locks, so it reads what is newest
    values: list[list[int]] | None = None  # of registers: [id, value]
    name: str = ""


@dataclass
class Txn:
    id: int
    client: int = 0
    ops: list[Op] = field(default_factory=list)
    outcome: str = OK
    began: float = 0.0
    ended: float = 0.0
    why: str = ""  # error that ended it

    def words(self) -> str:
        lines = [f"T{self.id} (client {self.client}, {self.began:.4f} to {self.ended:.4f} s, {self.outcome}{' ' + self.why if self.why else ''})"]
        for op in self.ops:
            lines.append(f"    {op.began:.4f} {op.sql or op.kind}{answer(op)}")
        return "\n".join(lines)


def answer(op: Op) -> str:
    if not op.done:
        return " -> no answer or an error"
    if op.kind == COUNT:
        return f" -> {op.n}"
    if op.kind == WRITE_WHERE:
        return f" -> {op.n} rows changed"
    if op.values is not None and op.kind == GET:
        return f" -> {op.values}"
    if op.rows is not None:
        shown = [f"{r.id}{'' if r.tokens is None else ':' + ','.join(map(str, r.tokens))}" for r in op.rows]
        return " -> [" + " ".join(shown[:12]) + (" ..." if len(shown) > 12 else "") + "]"
    return ""


@dataclass
class History:
    """All transactions of a run. `registers` are the first values. The last transaction, if `complete`, has read everything
    when nobody else was there: what it does not see is not there."""

    level: str
    txns: list[Txn]
    registers: dict[int, int] = field(default_factory=dict)
    complete: bool = True
    notes: dict = field(default_factory=dict)

    def save(self, path: Path) -> None:
        with open(path, "w") as out:
            head = {"level": self.level, "registers": self.registers, "complete": self.complete, "notes": self.notes}
            out.write(json.dumps(head) + "\n")
            for t in self.txns:
                out.write(json.dumps(bare(asdict(t))) + "\n")


def bare(value):
    """Without the fields that say nothing."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if v is not None and v != ""}
    if isinstance(value, list):
        return [bare(v) for v in value]
    return value


def load(path: Path) -> History:
    with open(path) as lines:
        head = json.loads(next(lines))
        txns = []
        for line in lines:
            raw = json.loads(line)
            ops = []
            for o in raw.pop("ops", []):
                if o.get("rows") is not None:
                    o["rows"] = [Row(**{"id": 0, **r}) for r in o["rows"]]
                ops.append(Op(**o))
            txns.append(Txn(**{"id": 0, **raw}, ops=ops))
    registers = {int(k): v for k, v in head["registers"].items()}
    return History(head["level"], txns, registers, head["complete"], head["notes"])
