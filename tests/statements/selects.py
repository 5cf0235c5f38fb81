"""SELECT in all its forms."""

from __future__ import annotations

import random

from .expressions import KINDS, Expressions
from .node import Node, expr, listed, optional, plain
from .tables import Table


class Selects:
    def __init__(self, r: random.Random, makes: Expressions, tables: list[Table]):
        self.r, self.makes, self.tables = r, makes, tables
        self.aliases = 0
        self.depth = 0
        makes.subquery = self.subquery

    def alias(self) -> str:
        self.aliases += 1
        return f"a{self.aliases}"

    def table(self, depth: int) -> tuple[Node, list]:
        """A table, a derived one, or one of parentheses; with what it shows."""
        alias, x = self.alias(), self.r.random()
        if x < 0.15 and depth > 0:
            kinds = [self.r.choice(KINDS) for _ in range(self.r.randint(1, 3))]
            names = [f"d{n}" for n in range(len(kinds))]
            inner = self.query(kinds, [], depth - 1, names)
            return plain("(", inner, f") {alias}"), [(f"{alias}.{n}", k) for n, k in zip(names, kinds)]
        t = self.r.choice(self.tables)
        hint = ""
        if t.indexes and self.r.random() < 0.15:
            hint = f" {self.r.choice(['USE', 'FORCE', 'IGNORE'])} INDEX ({self.r.choice(t.indexes)})"
        return plain(f"{t.name} {alias}", optional(hint)), t.scope(alias)

    def source(self, depth: int) -> tuple[Node, list]:
        """Tables with joins."""
        node, scope = self.table(depth)
        parts: list = [node]
        for _ in range(self.r.choice([0, 0, 0, 1, 1, 2, 3]) if depth > 0 else self.r.choice([0, 0, 1])):
            joined, more = self.table(depth - 1)
            how = self.r.choice(["JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "CROSS JOIN", "STRAIGHT_JOIN", ","])
            if how in (",", "CROSS JOIN"):
                parts.append(optional(f" {how} ", joined) if how != "," else plain(" CROSS JOIN ", joined))
            else:
                on = self.condition([*scope, *more], 1)
                if self.r.random() < 0.5:
                    on = expr("(", expr(self.r.choice(scope)[0]), " = ", expr(self.r.choice(more)[0]), ")")
                parts.append(plain(f" {how} ", joined, " ON ", on))
            scope = [*scope, *more]
        return plain(*parts), scope

    def condition(self, scope, depth: int) -> Node:
        return self.makes.make("bool", scope, depth)

    def subquery(self, scope, count: int, depth: int, single: bool = False) -> Node:
        """One that sees what is around it."""
        self.depth += 1
        if self.depth > 3:
            self.depth -= 1
            return Node("q", "SELECT " + ", ".join(["1"] * count))
        kinds = [self.r.choice(KINDS) for _ in range(count)]
        outer = scope if self.r.random() < 0.5 else []
        made = self.simple(kinds, outer, min(depth, 1), None, single)
        self.depth -= 1
        return made

    def simple(self, kinds, outer, depth: int, names=None, single: bool = False) -> Node:
        """A SELECT of such columns. `single`: of one row at most, whatever the rows are."""
        r = self.r
        if r.random() < 0.08:
            items = self.items([self.makes.make(k, outer, depth) for k in kinds], names)
            return Node("q", "SELECT ", items)
        source, scope = self.source(depth)
        seen = [*scope, *outer]
        where = optional(" WHERE ", self.condition(seen, depth + 1)) if r.random() < 0.6 else optional()
        if single or r.random() < 0.12:
            aggregated = [plain(r.choice(["min(", "max(", "count(", "sum("]), self.makes.make(k, scope, depth), ")") for k in kinds]
            return Node("q", "SELECT ", self.items(aggregated, names), " FROM ", source, where)
        values = [self.makes.make(k, seen, depth) for k in kinds]
        if r.random() < 0.2:
            return self.grouped(values, source, scope, where, names, depth)
        distinct = optional("DISTINCT ") if r.random() < 0.15 else optional()
        return Node("q", "SELECT ", distinct, self.items(values, names), " FROM ", source, where)

    def items(self, values, names) -> Node:
        shown = [plain(v, f" AS {n}") if (n := (names or [])[i : i + 1] and names[i]) else v for i, v in enumerate(values)]
        return Node("x" if names else "x", *shown, separator=", ")

    def grouped(self, values, source, scope, where, names, depth: int) -> Node:
        r = self.r
        keys = values[: r.randint(0, len(values))]
        others = [self.makes.aggregate(scope, depth) for _ in values[len(keys) :]]
        parts = ["SELECT ", self.items([*keys, *others], names), " FROM ", source, where]
        if keys:
            # By the same text: a key is shown as it is.
            parts += [" GROUP BY ", listed([str(n + 1) for n in range(len(keys))])]
            parts.append(optional(" WITH ROLLUP") if r.random() < 0.2 else optional())
        if r.random() < 0.3:
            parts.append(optional(" HAVING ", expr("(", self.makes.aggregate(scope, 1), r.choice([" > ", " < ", " <> "]), self.makes.leaf("int", []), ")")))
        return Node("q", *parts)

    def query(self, kinds, outer, depth: int, names=None) -> Node:
        """Also set operations, sorted and cut."""
        r, x = self.r, self.r.random()
        if x < 0.1 and depth > 0:
            ops = [r.choice([" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "]) for _ in range(r.randint(1, 2))]
            parts: list = ["(", self.simple(kinds, outer, depth - 1, names), ")"]
            for op in ops:
                parts.append(optional(op, "(", self.simple(kinds, outer, depth - 1, names), ")"))
            made = Node("q", *parts)
        else:
            made = self.simple(kinds, outer, depth, names)
        if r.random() < 0.25:
            # By all columns: then the rows that are left are the same wherever they come from.
            places = [f"{n + 1}{r.choice(['', ' DESC'])}" for n in range(len(kinds))]
            made.parts.append(optional(f" ORDER BY {', '.join(places)}", optional(f" LIMIT {r.randint(0, 6)}{r.choice(['', '', ' OFFSET 1'])}")))
        return made

    def statement(self) -> Node:
        r = self.r
        self.aliases = self.depth = 0
        kinds = [r.choice([*KINDS, "any", "bool"]) for _ in range(r.randint(1, 4))]
        x = r.random()
        if x < 0.06:
            return self.recursive()
        if x < 0.14:
            names = [f"d{n}" for n in range(len(kinds))]
            inner = self.query(kinds, [], 1, names)
            self.tables = [*self.tables, Table("w0", view=True)]
            self.tables[-1].columns = [type(self.tables[0].columns[0])(n, k, "") for n, k in zip(names, kinds)]
            made = plain("WITH w0 AS (", inner, ") ", self.query([r.choice(KINDS)], [], 2))
            self.tables = self.tables[:-1]
            return made
        return self.query(kinds, [], 2)

    def recursive(self) -> Node:
        r = self.r
        bound = r.choice([0, 1, 3, 10, 50, 1500])
        step = self.makes.make("any", [("n", "int"), ("v", "text")], 2)
        op = r.choice(["UNION", "UNION ALL"])
        first = self.makes.make("text", [], 1)
        made = f"cast({first} as char(30))", f"left(concat({step}, ''), 30)"
        return plain(f"WITH RECURSIVE w (n, v) AS (SELECT 1, {made[0]} {op} SELECT n + 1, ", made[1], f" FROM w WHERE n < {bound}) SELECT count(*), max(n), min(v) FROM w")
