"""Compares everything that two servers hold: definitions and every row, each column as bytes.

CHECKSUM TABLE is of no use between different servers, so the rows themselves are read and digested here.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, field

from .wire import Connection

# The engine of a table, and what another engine shows beside it.
_OF_ENGINE = re.compile(r" (ENGINE=\w+|PAGE_CHECKSUM=\d|ROW_FORMAT=(FIXED|PAGE))(?= |$)")
SYSTEM = {"mysql", "sys", "information_schema", "performance_schema", "INFORMATION_SCHEMA"}


@dataclass
class Comparison:
    """What was compared, and what differs, in words."""

    differences: list[str] = field(default_factory=list)
    tables: int = 0
    rows: int = 0
    # Of all rows of the first server, whatever their order.
    checksum: str = ""

    def __str__(self) -> str:
        return f"{self.tables} tables, {self.rows} rows, checksum {self.checksum}"


class _Side:
    def __init__(self, port: int, name: str, timeout: float, engines: bool = True):
        self.name, self.engines = name, engines
        self.c = Connection(port, raw=True, timeout=timeout)
        # The same text, whatever its column's character set; the same instant the same text.
        self.c.query("SET character_set_results = utf8mb4")
        self.c.query("SET time_zone = '+00:00'")

    def names(self, sql: str) -> list[str]:
        return [r[0].decode() for r in self.c.query(sql).rows]

    def databases(self) -> set[str]:
        return set(self.names("SHOW DATABASES")) - SYSTEM

    def definition(self, table: str) -> list[str]:
        text = self.c.query(f"SHOW CREATE TABLE {table}").rows[0][1].decode(errors="backslashreplace")
        if not self.engines:
            text = _OF_ENGINE.sub("", text)
        return re.sub(r" AUTO_INCREMENT=\d+", "", text).split("\n")

    def key(self, table: str) -> list[str]:
        """Columns of the primary key, else of a unique key that cannot be NULL, else none."""
        got = self.c.query(f"SHOW INDEX FROM {table}")
        at = {c: i for i, c in enumerate(got.columns)}
        keys: dict[str, list] = {}
        for r in got.rows:
            if r[at["Non_unique"]] == b"0":
                keys.setdefault(r[at["Key_name"]].decode(), []).append(r)
        usable = {
            name: [r[at["Column_name"]].decode() for r in parts]
            for name, parts in keys.items()
            if all(r[at["Null"]] == b"" and r[at["Sub_part"]] is None for r in parts)
        }
        return usable.get("PRIMARY") or next(iter(usable.values()), [])


@dataclass
class Contents:
    """Everything that a server holds at one moment: of each table its definition, columns and rows."""

    tables: dict[str, tuple[list[str], list[str], Counter]] = field(default_factory=dict)
    databases: set[str] = field(default_factory=set)

    def rows(self) -> int:
        return sum(rows.total() for _, _, rows in self.tables.values())

    def differences(self, other: Contents, names: tuple[str, str]) -> list[str]:
        """In words, with the names of the two."""
        out = [f"database {d} is only in the {names[d in other.databases]}" for d in sorted(self.databases ^ other.databases)]
        for t in sorted(self.tables.keys() | other.tables.keys()):
            if t not in self.tables or t not in other.tables:
                out.append(f"table {t} is only in the {names[t in other.tables]}")
                continue
            mine, theirs = self.tables[t], other.tables[t]
            if mine[:2] != theirs[:2]:
                out.append(f"definition of {t}: {names[0]} {mine[:2]}, {names[1]} {theirs[:2]}")
            for name, only in ((names[0], mine[2] - theirs[2]), (names[1], theirs[2] - mine[2])):
                if only:
                    shown = ", ".join(_shown(v) for v in min(only, key=repr))
                    out.append(f"{t}: {only.total()} rows are only in the {name}, such as ({shown[:500]})")
        return out


class Reader(_Side):
    """Reads all that a server holds, again and again; every read sees one snapshot. The caller sees to it that no DDL is under way."""

    def __init__(self, port: int, timeout: float = 120):
        super().__init__(port, "", timeout)

    def read(self) -> tuple[Contents, dict[str, str]]:
        """And the snapshot's place in the binary log: `Binlog_snapshot_file`, `_position`, `_gtid_executed`."""
        self.c.query("START TRANSACTION WITH CONSISTENT SNAPSHOT")
        place = {r[0].decode().lower(): r[1].decode() for r in self.c.query("SHOW STATUS LIKE 'binlog_snapshot_%'").rows}
        out = Contents(databases=self.databases())
        for database in out.databases:
            for name in self.names(f"SHOW TABLES FROM {quoted(database)}"):
                table = quoted(database, name)
                got = self.c.query(f"SELECT * FROM {table}")
                out.tables[table] = (self.definition(table), got.columns, Counter(got.rows))
        self.c.query("COMMIT")
        return out, place

    def close(self) -> None:
        self.c.close()


def quoted(*names: str) -> str:
    return ".".join("`" + n.replace("`", "``") + "`" for n in names)


def compare(port: int, other: int, names: tuple[str, str] = ("primary", "replica"), databases: set[str] | None = None,
            leave_out: set[str] = frozenset(), timeout: float = 120, engines: bool = True) -> Comparison:  # fmt: skip
    """Compares all databases (or those named) of the servers at two ports. `leave_out`: tables "database.table".
    `engines`: whether the names of tables' engines count."""
    a, b = _Side(port, names[0], timeout, engines), _Side(other, names[1], timeout, engines)
    out, digest = Comparison(), 0
    try:
        here, there = a.databases(), b.databases()
        if databases is not None:
            here, there = here & databases, there & databases
        for name in sorted(here ^ there):
            out.differences.append(f"database {name} is only on the {a.name if name in here else b.name}")
        for database in sorted(here & there):
            tables = [set(s.names(f"SHOW TABLES FROM {quoted(database)}")) for s in (a, b)]
            for name in sorted(tables[0] ^ tables[1]):
                if f"{database}.{name}" not in leave_out:
                    side = a.name if name in tables[0] else b.name
                    out.differences.append(f"table {database}.{name} is only on the {side}")
            for name in sorted(tables[0] & tables[1]):
                if f"{database}.{name}" not in leave_out:
                    digest += _table(a, b, database, name, out)
    finally:
        a.c.close()
        b.c.close()
    out.checksum = f"{digest % (1 << 64):016x}"
    return out


def _table(a: _Side, b: _Side, database: str, name: str, out: Comparison) -> int:
    table = quoted(database, name)
    texts = a.definition(table), b.definition(table)
    if texts[0] != texts[1]:
        for x, y in zip(*(t + [""] * (max(map(len, texts)) - len(t)) for t in texts)):
            if x != y:
                out.differences.append(f"definition of {table}: {a.name} {x.strip()!r}, {b.name} {y.strip()!r}")
                break
    first, second = (s.c.query(f"SELECT * FROM {table}") for s in (a, b))
    out.tables += 1
    out.rows += len(first.rows)
    if first.columns != second.columns:
        out.differences.append(f"columns of {table}: {a.name} {first.columns}, {b.name} {second.columns}")
        return 0
    mine, theirs = Counter(first.rows), Counter(second.rows)
    if mine != theirs:
        out.differences.append(_first_difference(a, b, table, first.columns, mine - theirs, theirs - mine))
    seed = table.encode()
    return sum(_digest(seed, row) * n for row, n in mine.items())


def _digest(seed: bytes, row: tuple) -> int:
    h = hashlib.blake2b(seed, digest_size=8)
    for v in row:
        h.update(b"-" if v is None else b"%d:" % len(v) + v)
    return int.from_bytes(h.digest(), "little")


def _first_difference(a: _Side, b: _Side, table: str, columns: list[str], mine: Counter, theirs: Counter) -> str:
    """Names the first row, in key order, that only one side has, and the columns in which it differs."""
    key = a.key(table) or columns
    at = [columns.index(k) for k in key]
    order = lambda r: tuple((r[i] is not None, _sortable(r[i])) for i in at)  # noqa: E731
    row = min([*mine, *theirs], key=order)
    same = lambda rows: next((r for r in rows if order(r) == order(row)), None)  # noqa: E731
    x, y = same(mine), same(theirs)
    where = ", ".join(f"{k}={_shown(row[i])}" for k, i in zip(key, at))
    counts = f"{sum(mine.values())} rows only on the {a.name}, {sum(theirs.values())} only on the {b.name}"
    head = f"{table}: {counts}; the first, {where[:300]}, "
    if x is None or y is None:
        return head + f"is only on the {a.name if y is None else b.name}"
    i = next(i for i in range(len(columns)) if x[i] != y[i])
    return head + f"column {columns[i]}: {a.name} {_shown(x[i])}, {b.name} {_shown(y[i])}"


def _sortable(v: bytes | None) -> tuple:
    text = v or b""
    return (0, int(text), b"") if re.fullmatch(rb"-?\d{1,20}", text) else (1, 0, text)


def _shown(v: bytes | None) -> str:
    if v is None:
        return "NULL"
    return f"{v[:60]!r}" + (f"... ({len(v)} bytes)" if len(v) > 60 else "")
