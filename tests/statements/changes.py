"""Statements that change rows, and those that change tables which have rows."""

from __future__ import annotations

import random

from .expressions import KINDS, Expressions
from .node import Node, expr, listed, optional, plain
from .selects import Selects
from .tables import Column, Table, column_of, definition, key_part, rows, value_for
from .values import TYPES


class Changes:
    def __init__(self, r: random.Random, makes: Expressions, selects: Selects, tables: list[Table], settled: bool):
        self.r, self.makes, self.selects, self.tables, self.settled = r, makes, selects, tables, settled
        self.next_id = 1000

    def base(self) -> Table:
        return self.r.choice([t for t in self.tables if not t.view])

    def value(self, column: Column, scope) -> Node:
        if self.r.random() < 0.5:
            return expr(value_for(self.r, column))
        return self.makes.make(column.kind if self.r.random() < 0.8 else "any", scope, 2)

    def assignments(self, t: Table, scope, alias: str = "") -> Node:
        columns = [c for c in t.given() if c.name != "id" or self.r.random() < 0.1]
        chosen = self.r.sample(columns, min(len(columns), self.r.choice([1, 1, 2, 3])))
        if self.settled:
            chosen = chosen[:1]
        return listed([plain(f"{alias}{c.name} = ", self.value(c, scope)) for c in chosen or t.columns[:1]])

    def where(self, t: Table, alias: str) -> Node:
        if self.r.random() < 0.15:
            return optional()
        if self.r.random() < 0.35:
            return optional(f" WHERE {alias}.id ", self.r.choice(["= 3", "IN (1, 4, 5)", "BETWEEN 2 AND 4", "> 5", "< 2"]))
        return optional(" WHERE ", self.makes.make("bool", t.scope(alias), 2))

    def change(self) -> Node:
        r, t = self.r, self.base()
        match r.randrange(10):
            case 0 | 1:
                self.next_id += 10
                made = rows(r, t, self.next_id if r.random() < 0.7 else r.randint(0, 6), r.randint(1, 4))
                verb = r.choice(["INSERT", "INSERT IGNORE", "REPLACE"])
                made.parts[0] = verb + made.parts[0].removeprefix("INSERT IGNORE")
                if verb != "REPLACE" and r.random() < 0.4:
                    scope = [(c.name, c.kind) for c in t.columns] + [(f"VALUES({c.name})", c.kind) for c in t.columns]
                    self.makes.subquery, kept = None, self.makes.subquery
                    made.parts.append(optional(" ON DUPLICATE KEY UPDATE ", self.assignments(t, scope)))
                    self.makes.subquery = kept
                return self.returned(made, t)
            case 2:
                columns = t.given()
                self.next_id += 100
                source = r.choice([x for x in self.tables if x.keyed] or self.tables)
                scope = source.scope("s")
                values = [f"s.id + {self.next_id}" if c.name == "id" else self.value(c, scope) if not r.random() < 0.2 else "NULL" for c in columns]
                values = [expr("NULL") if str(v) == "DEFAULT" else v for v in values]
                head = f"{r.choice(['INSERT', 'INSERT IGNORE', 'REPLACE'])} INTO {t.name} ({', '.join(c.name for c in columns)}) SELECT "
                return plain(head, Node("x", *values, separator=", "), f" FROM {source.name} s", optional(" WHERE ", self.makes.make("bool", scope, 1)))
            case 3 | 4 | 5:
                return plain(f"UPDATE {r.choice(['', '', 'IGNORE '])}{t.name} a SET ", self.assignments(t, t.scope("a"), "a."), self.where(t, "a"))
            case 6:
                other = r.choice(self.tables)
                scope = [*t.scope("a"), *other.scope("b")]
                how = r.choice(["JOIN", "LEFT JOIN"])
                on = expr("a.id = b.id") if other.columns[0].name == "id" else expr("1")
                return plain(f"UPDATE {t.name} a {how} {other.name} b ON ", on, " SET ", self.assignments(t, t.scope("a") if self.settled else scope, "a."), optional(" WHERE ", self.makes.make("bool", scope, 1)))
            case 7:
                made = plain(f"DELETE FROM {t.name}", self.where(t, t.name), optional(f" ORDER BY id LIMIT {r.randint(0, 3)}") if t.keyed else optional())
                return self.returned(made, t)
            case 8:
                other = r.choice(self.tables)
                scope = [*t.scope("a"), *other.scope("b")]
                return plain(f"DELETE a FROM {t.name} a {r.choice(['JOIN', 'LEFT JOIN'])} {other.name} b ON ", self.makes.make("bool", scope, 1), optional(" WHERE ", self.makes.make("bool", scope, 1)))
            case _:
                self.next_id += 1
                columns = [c for c in t.given() if c.name != "id" and (c.required or r.random() < 0.5)]
                return plain(f"{r.choice(['INSERT', 'REPLACE'])} INTO {t.name} SET ", listed([plain(f"{c.name} = ", self.value(c, [])) for c in [*columns]] + [f"id = {self.next_id}"]))

    def returned(self, made: Node, t: Table) -> Node:
        if self.r.random() < 0.15:
            self.makes.subquery, kept = None, self.makes.subquery
            made.parts.append(optional(" RETURNING ", self.makes.make(self.r.choice(KINDS), [(c.name, c.kind) for c in t.columns], 1)))
            self.makes.subquery = kept
        return made

    def definition(self) -> tuple[Node, object]:
        """A change of a table's definition, and what is to be done to what is known of the table if it works."""
        r = self.r
        t = r.choice([t for t in self.tables if not t.view and not t.temporary])
        changes, undo = [], []
        for _ in range(r.choice([1, 1, 1, 2, 3])):
            node, then = self.one_definition(t)
            changes.append(node)
            undo.append(then)

        def apply():
            for then in undo:
                then()

        if len(changes) == 1 and r.random() < 0.1 and str(changes[0]).startswith("ADD KEY"):
            index, columns = str(changes[0]).removeprefix("ADD KEY ").split(" ", 1)
            return plain(f"CREATE INDEX {index} ON {t.name} {columns}"), apply
        return plain(f"ALTER {r.choice(['', '', '', 'IGNORE '])}TABLE {t.name} ", listed(changes)), apply

    def one_definition(self, t: Table):
        r = self.r
        number = max((int("".join(filter(str.isdigit, c.name.split("_")[0])) or 0) for c in t.columns if c.name[0] == "c"), default=0) + 1
        others = [c for c in t.columns if c.name not in ("id", "ref")]
        column = r.choice(others) if others else None
        x = r.randrange(14)
        if x <= 2 or column is None:
            made = column_of(r, number, self.settled)
            node = definition(r, made, self.makes, t.columns)
            place = r.choice(["", "", " FIRST", f" AFTER {r.choice(t.columns).name}"])
            return plain("ADD COLUMN ", node, place), lambda: t.columns.append(made)
        if x == 3 and len(others) > 1:
            return plain(f"DROP COLUMN {column.name}"), lambda: t.columns.remove(column) if column in t.columns else None
        if x in (4, 5, 6):
            kind = r.choice([column.kind, column.kind, r.choice(list(TYPES))])
            made = Column(column.name, kind, r.choice(TYPES[kind][0]))
            node = definition(r, made, self.makes, [])

            def modify():
                if column in t.columns:
                    t.columns[t.columns.index(column)] = made

            return plain("MODIFY COLUMN ", node), modify
        if x == 7:
            return plain(f"RENAME COLUMN {column.name} TO c{number}_{column.kind}"), lambda: setattr(column, "name", f"c{number}_{column.kind}")
        if x in (8, 9):
            name = f"k{r.randint(10, 99)}"
            unique = r.choice(["", "", "", "UNIQUE "])
            parts = ", ".join(dict.fromkeys(key_part(r, c) for c in r.sample(t.columns, min(len(t.columns), r.choice([1, 2])))))
            return plain(f"ADD {unique}KEY {name} ({parts})"), lambda: t.indexes.append(name)
        if x == 10 and t.indexes:
            name = r.choice(t.indexes)
            return plain(f"DROP KEY {name}"), lambda: t.indexes.remove(name) if name in t.indexes else None
        if x == 11:
            return plain(r.choice(["CONVERT TO CHARACTER SET utf8mb4", "CONVERT TO CHARACTER SET latin1", "CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin", "FORCE", "COMMENT 'y'", "AUTO_INCREMENT 500", "ENGINE InnoDB"])), lambda: None
        if x == 12:
            return plain(f"ALTER COLUMN {column.name} SET DEFAULT {r.choice(TYPES[column.kind][1])}"), lambda: None
        return plain(r.choice([f"ALTER COLUMN {column.name} DROP DEFAULT", "DROP PRIMARY KEY", "ADD PRIMARY KEY (id)", f"ADD CONSTRAINT q{number} CHECK (id >= 0)", f"DROP CONSTRAINT q{number - 1}"])), lambda: None
