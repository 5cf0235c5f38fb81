"""Schemas and their first rows."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from .expressions import Expressions
from .node import Node, listed, optional, plain
from .values import TYPES, constant


@dataclass
class Column:
    name: str
    kind: str
    type: str
    generated: bool = False
    required: bool = False


@dataclass
class Table:
    name: str
    columns: list[Column] = field(default_factory=list)
    indexes: list[str] = field(default_factory=list)
    temporary: bool = False
    view: bool = False
    # There is a column `id` that tells the rows apart.
    keyed: bool = True

    def scope(self, alias: str) -> list[tuple[str, str]]:
        return [(f"{alias}.{c.name}", c.kind) for c in self.columns]

    def given(self) -> list[Column]:
        return [c for c in self.columns if not c.generated]


def column_of(r: random.Random, number: int, settled: bool) -> Column:
    kind = r.choice([k for k in TYPES if not (settled and k in ("net",) and r.random() < 0.7)])
    return Column(f"c{number}_{kind}", kind, r.choice(TYPES[kind][0]))


def value_for(r: random.Random, column: Column) -> str:
    """Mostly what fits."""
    x = r.random()
    if x < 0.12:
        return "NULL"
    if x < 0.16:
        return "DEFAULT"
    return r.choice(TYPES[column.kind][1]) if x < 0.93 else constant(r)


def key_part(r: random.Random, column: Column) -> str:
    length = ""
    if any(w in column.type for w in ("TEXT", "BLOB", "JSON")) or ("VARCHAR" in column.type and r.random() < 0.3):
        length = f"({r.choice([1, 2, 5, 10])})"
    return f"{column.name}{length}{r.choice(['', '', '', ' DESC'])}"


def definition(r: random.Random, column: Column, makes: Expressions, before: list[Column]) -> Node:
    """A column's definition, whose type is already chosen."""
    parts: list = [f"{column.name} {column.type}"]
    x = r.random()
    if x < 0.12 and before:
        column.generated = True
        scope = [(c.name, c.kind) for c in before if not c.generated]
        makes.subquery, kept = None, makes.subquery
        parts += [" AS (", makes.make(column.kind, scope, 2), ")", r.choice([" STORED", " VIRTUAL", ""])]
        makes.subquery = kept
    elif x < 0.3:
        column.required = True
        column.type = column.type.removesuffix(" NULL")
        parts[0] = f"{column.name} {column.type}"
        parts.append(optional(" NOT NULL"))
    elif x < 0.5 and "TEXT" not in column.type:
        parts.append(optional(f" DEFAULT {r.choice([*TYPES[column.kind][1], 'NULL'])}"))
    if x > 0.94 and not column.generated:
        scope = [(column.name, column.kind)]
        makes.subquery, kept = None, makes.subquery
        parts.append(optional(" CHECK (", makes.make("bool", scope, 1), ")"))
        makes.subquery = kept
    return plain(*parts)


def create(r: random.Random, name: str, makes: Expressions, others: list[Table], settled: bool, temporary: bool = False) -> tuple[Table, Node]:
    table = Table(name, temporary=temporary)
    x = r.random()
    key = "id INT PRIMARY KEY" if x < 0.5 else "id BIGINT UNSIGNED AUTO_INCREMENT PRIMARY KEY" if x < 0.75 else "id INT NOT NULL, UNIQUE KEY (id)" if x < 0.85 else "id INT"
    table.keyed = "KEY" in key
    table.columns.append(Column("id", "int", "INT", required=x >= 0.75 or x < 0.5))
    members: list = [key]
    for n in range(r.randint(2, 7)):
        column = column_of(r, n, settled)
        members.append(definition(r, column, makes, table.columns))
        table.columns.append(column)
    for n in range(r.choice([0, 1, 1, 2, 3])):
        parts = ", ".join(dict.fromkeys(key_part(r, c) for c in r.sample(table.columns, min(len(table.columns), r.choice([1, 1, 2, 3])))))
        unique = "UNIQUE " if r.random() < 0.2 else ""
        members.append(f"{unique}KEY k{n} ({parts})")
        table.indexes.append(f"k{n}")
    parents = [t for t in others if t.keyed and not t.temporary and not t.view]
    if parents and r.random() < 0.25 and not temporary:
        parent = r.choice(parents)
        kind = "INT"
        table.columns.append(Column("ref", "int", kind))
        action = r.choice(["", " ON DELETE CASCADE", " ON DELETE SET NULL ON UPDATE CASCADE", " ON UPDATE CASCADE"])
        members.append("ref INT")
        members.append(f"CONSTRAINT f_{name} FOREIGN KEY (ref) REFERENCES {parent.name} (id){action}")
    tail = optional(r.choice(["", "", " COLLATE utf8mb4_bin", " DEFAULT CHARSET latin1", " COMMENT 'x'", " AUTO_INCREMENT 5", " COLLATE utf8mb4_unicode_ci"]))
    head = f"CREATE {'TEMPORARY ' if temporary else ''}TABLE {name} ("
    return table, plain(head, listed(members), ")", tail)


def rows(r: random.Random, table: Table, start: int, count: int) -> Node:
    """An INSERT of several rows; IGNORE, so that most stay."""
    columns = table.given()
    made = []
    for n in range(count):
        values = [str(start + n) if c.name == "id" else str(r.randint(1, 5)) if c.name == "ref" else value_for(r, c) for c in columns]
        made.append(f"({', '.join(values)})")
    return plain(f"INSERT IGNORE INTO {table.name} ({', '.join(c.name for c in columns)}) VALUES ", listed(made))
