"""Random SELECTs over random tables, each valid for both servers, and a way to make a failing one smaller.

An expression is a list of parts, texts and expressions, so that shrinking can put a constant or one of its parts in its place.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

# Column types by kind, with values to fill them from.
COLUMNS = {
    "int": [("INT", ["0", "1", "-1", "7", "100", "-2147483648", "NULL"]), ("BIGINT UNSIGNED", ["0", "1", "255", "NULL"])],
    "dec": [("DECIMAL(10,3)", ["0", "1.5", "-2.125", "1000.001", "NULL"])],
    "real": [("DOUBLE", ["0", "0.5", "-1.25", "1e10", "NULL"])],
    "text": [
        ("VARCHAR(20)", ["''", "'a'", "'A'", "'abc'", "'b '", "'é'", "'12'", "'3x'", "NULL"]),
        ("VARCHAR(20) COLLATE utf8mb4_bin", ["''", "'a'", "'B'", "'x_y%'", "NULL"]),
    ],
    "date": [("DATE", ["'2020-01-31'", "'1999-12-31'", "'2024-02-29'", "NULL"])],
    "time": [("DATETIME", ["'2020-01-31 10:20:30'", "'1999-12-31 23:59:59'", "NULL"])],
}
CONSTANTS = {
    "int": ["0", "1", "2", "-3", "10", "NULL"],
    "dec": ["0.5", "1.25", "-3.000", "NULL"],
    "real": ["1.5e0", "-2e0", "NULL"],
    "text": ["'a'", "'B'", "''", "'ab'", "'2'", "NULL"],
    "date": ["DATE '2020-02-29'", "DATE '1999-12-31'"],
    "time": ["TIMESTAMP '2020-01-31 10:20:30'"],
}
# Results by kind: templates whose {kind} is an operand of that kind. Doubles come in only where both servers compute the
# same bits.
FORMS = {
    "int": [
        "({int} + {small})", "({int} - {small})", "({int} * {small})", "({int} % {int})", "length({text})", "char_length({text})",
        "ascii({text})", "locate({text}, {text})", "instr({text}, {text})", "field({text}, {text}, {text})", "strcmp({text}, {text})",
        "year({date})", "month({date})", "dayofweek({date})", "to_days({date})", "datediff({date}, {date})", "hour({time})",
        "sign({dec})", "bit_count({int})", "crc32({text})", "if({bool}, {int}, {int})", "coalesce({int}, {int})",
        "nullif({int}, {int})", "abs({int})", "weekday({date})", "quarter({date})", "find_in_set({text}, {text})", "{bool}",
        "case {int} when {int} then {int} else {int} end", "week({date}, {mode})", "timestampdiff(MONTH, {date}, {date})",
        "interval({int}, {int}, {int})", "regexp_instr({text}, 'a|b')", "json_length(json_array({int}, {text}))", "isnull({text})",
    ],
    "dec": [
        "({dec} + {dec})", "({dec} - {int})", "({dec} * {dec})", "round({dec}, 1)", "truncate({dec}, 1)", "abs({dec})",
        "ifnull({dec}, {dec})", "({dec} / {dec})", "({int} / {int})", "(-{dec})", "if({bool}, {dec}, {int})",
    ],
    "real": ["({real} + {int})", "({real} * {small})", "abs({real})", "if({bool}, {real}, {dec})", "coalesce({real}, {int})"],
    "text": [
        "concat({text}, {text})", "concat_ws(',', {text}, {int}, {text})", "upper({text})", "lower({text})", "reverse({text})",
        "left({text}, {small})", "right({text}, {small})", "substring({text}, {small})", "substring({text}, {small}, {small})",
        "trim({text})", "replace({text}, {text}, {text})", "lpad({text}, 5, 'xy')", "repeat({text}, 2)", "hex({text})",
        "if({bool}, {text}, {text})", "coalesce({text}, {text})", "elt({small}, {text}, {text})", "cast({int} as char)",
        "cast({dec} as char)", "date_format({date}, '%Y/%m/%d %a')", "md5({text})", "regexp_replace({text}, '[ab]', '-')",
        "regexp_substr({text}, '[a-z]+')", "soundex({text})", "json_quote({text})", "json_array({int}, {text})",
        "json_object('k', {dec})", "json_extract(json_array({int}, {text}), '$[1]')", "substring_index({text}, 'a', 1)",
        "insert({text}, 2, 1, {text})", "greatest({text}, {text})", "case when {bool} then {text} end", "quote({text})",
        "make_set({small}, {text}, 'z')", "to_base64({text})", "conv({int}, 10, 16)", "dayname({date})",
    ],
    "date": ["last_day({date})", "({date} + interval {small} day)", "({date} - interval 1 month)", "date({time})", "coalesce({date}, {date})"],
    "time": ["({time} + interval {small} hour)", "coalesce({time}, {time})", "cast({date} as datetime)", "timestampadd(MINUTE, {small}, {time})"],
    "bool": [
        "({int} = {int})", "({int} < {dec})", "({text} = {text})", "({text} < {text})", "({text} like {pattern})", "({int} is null)",
        "({text} is not null)", "({bool} and {bool})", "({bool} or {bool})", "(not {bool})", "({int} between {int} and {int})",
        "({int} in ({int}, {int}, 5))", "({text} in ({text}, 'a'))", "({date} >= {date})", "({int} <=> {int})", "({bool} xor {bool})",
        "({text} regexp '^[a-c]')", "({date} < {time})", "({dec} <> {dec})", "({text} not like {pattern})",
    ],
    "small": ["0", "1", "2", "3", "-1"],
    "pattern": ["'a%'", "'%b%'", "'_'", "''", "'%'"],
    "mode": ["0", "1", "3", "6"],
}  # fmt: skip
# Where an order decides, it is that of the values: equal keys may come in any order.
AGGREGATES = [
    "count(*)", "count({int})", "count(distinct {text})", "sum({int})", "sum({dec})", "min({text})", "max({date})", "avg({int})",
    "avg({dec})", "min({dec})", "max({int})", "bit_or({int})", "bit_and({int})", "group_concat({int} order by 1)",
    "group_concat(distinct {int} order by 1)", "sum({bool})", "sum(json_length({text}) is null)", "count(distinct {int}, {text})",
]  # fmt: skip
KINDS = ["int", "dec", "real", "text", "date", "time"]


@dataclass
class Node:
    """An expression of a kind: its parts are texts and operands."""

    kind: str
    parts: list

    def __str__(self) -> str:
        return "".join(map(str, self.parts))

    def nodes(self):
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.nodes()


class Source:
    """Random tables, then random queries over them. A seed gives the same ones each time."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.tables: dict[str, list[tuple[str, str]]] = {}

    def schema(self) -> list[str]:
        """Statements that make the tables and fill them."""
        statements = []
        for name in ("q1", "q2"):
            columns, types, values = [], [], []
            for kind, choices in COLUMNS.items():
                for n in range(self.random.randint(1, 2)):
                    type_, fill = self.random.choice(choices)
                    columns.append((f"{kind[0]}{n}_{kind}", kind))
                    types.append(type_)
                    values.append(fill)
            keys = [f", KEY ({c})" for c, _ in self.random.sample(columns, 2)]
            defs = ", ".join(f"{c} {t}" for (c, _), t in zip(columns, types))
            statements.append(f"CREATE TABLE {name} (id INT PRIMARY KEY, {defs}{''.join(keys)})")
            rows = ", ".join(
                f"({i}, {', '.join(self.random.choice(v) for v in values)})" for i in range(self.random.randint(3, 12))
            )
            statements.append(f"INSERT INTO {name} VALUES {rows}")
            self.tables[name] = [("id", "int"), *columns]
        return statements

    def expression(self, kind: str, scope: list[tuple[str, str]], depth: int) -> Node:
        columns = [name for name, k in scope if k == kind]
        if kind in FORMS and kind not in COLUMNS and (kind != "bool" or depth <= -2):
            return Node(kind, [self.random.choice(FORMS[kind] if kind != "bool" else ["(1 = 1)", "(0 = 1)"])])
        if kind != "bool" and (depth <= 0 or self.random.random() < 0.3):
            pool = columns if columns and self.random.random() < 0.75 else CONSTANTS[kind]
            return Node(kind, [self.random.choice(pool)])
        return self.filled(kind, self.random.choice(FORMS[kind]), scope, depth - 1)

    def filled(self, kind: str, form: str, scope, depth: int) -> Node:
        parts: list = []
        for piece in form.replace("}", "{").split("{"):
            known = piece in COLUMNS or piece in FORMS
            parts.append(self.expression(piece, scope, depth) if known else piece)
        return Node(kind, parts)

    def query(self) -> Query:
        first = self.random.choice(list(self.tables))
        scope = [(f"a.{c}", k) for c, k in self.tables[first]]
        tables = f"{first} a"
        join = None
        if self.random.random() < 0.35:
            second = self.random.choice(list(self.tables))
            scope = scope + [(f"b.{c}", k) for c, k in self.tables[second]]
            join = self.expression("bool", scope, 1)
            tables += f" {self.random.choice(['JOIN', 'LEFT JOIN'])} {second} b ON "
        where = self.expression("bool", scope, 2) if self.random.random() < 0.6 else None
        grouped = self.random.random() < 0.3
        if grouped:
            keys = [self.expression(self.random.choice(["int", "text"]), scope, 1)] if self.random.random() < 0.6 else []
            forms = [self.random.choice(AGGREGATES) for _ in range(self.random.randint(1, 3))]
            items = [*keys, *(self.filled("aggregate", form, scope, 1) for form in forms)]
            return Query(items, tables, join, where, keys)
        count = self.random.randint(1, 3)
        items = [self.expression(self.random.choice([*KINDS, "bool"]), scope, 3) for _ in range(count)]
        return Query(items, tables, join, where, None)


@dataclass
class Query:
    """A SELECT whose rows come in no order."""

    items: list[Node]
    tables: str
    join: Node | None
    where: Node | None
    keys: list[Node] | None

    def __str__(self) -> str:
        # Text of a group is that of any of its rows: only its sort weight counts.
        shown = [
            f"hex(weight_string(min({item})))" if self.keys and item in self.keys and item.kind == "text"
            else f"min({item})" if self.keys and item in self.keys else str(item)
            for item in self.items
        ]  # fmt: skip
        sql = f"SELECT {', '.join(f'{text} AS c{n}' for n, text in enumerate(shown))} FROM {self.tables}{self.join or ''}"
        sql += f" WHERE {self.where}" if self.where else ""
        return sql + (f" GROUP BY {', '.join(map(str, self.keys))}" if self.keys else "")

    def smaller(self):
        """Changes that make it smaller, each a pair: do, undo."""
        if len(self.items) > 1 and not self.keys:
            for item in list(self.items):
                at = self.items.index(item)
                yield lambda i=item: self.items.remove(i), lambda i=item, at=at: self.items.insert(at, i)
        if self.where:
            old = self.where
            yield lambda: setattr(self, "where", None), lambda: setattr(self, "where", old)
        for root in [*self.items, *([self.where] if self.where else []), *([self.join] if self.join else [])]:
            for node in list(root.nodes()):
                parts = node.parts
                for part in [p for p in parts if isinstance(p, Node) and p.kind == node.kind]:
                    yield lambda n=node, p=part: setattr(n, "parts", p.parts), lambda n=node, p=parts: setattr(n, "parts", p)
                if len(parts) > 1 and node.kind in CONSTANTS:
                    for constant in CONSTANTS[node.kind][:2]:
                        yield lambda n=node, c=constant: setattr(n, "parts", [c]), lambda n=node, p=parts: setattr(n, "parts", p)


def shrink(query: Query, fails, tries: int = 200) -> str:
    """The smallest form found that still fails."""
    progress = True
    while progress and tries > 0:
        progress = False
        for do, undo in query.smaller():
            tries -= 1
            do()
            if fails(str(query)):
                progress = True
                break
            undo()
            if tries <= 0:
                break
    return str(query)
