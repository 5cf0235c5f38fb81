"""Random SELECTs over random tables, each valid for both servers, and a way to make a failing one smaller.

An expression is a list of parts, texts and expressions, so that shrinking can put a constant or one of its parts in its place.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

# Column types by kind, with values to fill them from.
COLUMNS = {
    "int": [
        ("INT", ["0", "1", "-1", "7", "100", "-2147483648", "NULL"]), ("BIGINT UNSIGNED", ["0", "1", "255", "NULL"]),
        ("TINYINT", ["0", "1", "-128", "127", "NULL"]), ("SMALLINT UNSIGNED NOT NULL", ["0", "1", "65535"]),
    ],
    "dec": [
        ("DECIMAL(10,3)", ["0", "1.5", "-2.125", "1000.001", "NULL"]), ("DECIMAL(5,0)", ["0", "17", "-99994", "NULL"]),
        ("DECIMAL(30,10) NOT NULL", ["0", "1.5", "-0.0000000001", "12345.6789"]),
    ],
    "real": [("DOUBLE", ["0", "0.5", "-1.25", "1e10", "NULL"]), ("FLOAT", ["0", "0.5", "-8", "NULL"])],
    "text": [
        ("VARCHAR(20)", ["''", "'a'", "'A'", "'abc'", "'b '", "'é'", "'12'", "'3x'", "NULL"]),
        ("VARCHAR(20) COLLATE utf8mb4_bin", ["''", "'a'", "'B'", "'x_y%'", "NULL"]),
        ("CHAR(5) NOT NULL", ["''", "'a'", "'Ab'", "'-1.5'", "' b'"]), ("TEXT", ["''", "'a,b'", "'ß'", "'2020-01-31'", "NULL"]),
    ],
    "latin": [("VARCHAR(20) CHARACTER SET latin1", ["''", "'a'", "'A'", "'é'", "'ÿ'", "'12'", "NULL"])],
    "date": [("DATE", ["'2020-01-31'", "'1999-12-31'", "'2024-02-29'", "NULL"])],
    "time": [
        ("DATETIME", ["'2020-01-31 10:20:30'", "'1999-12-31 23:59:59'", "NULL"]),
        ("DATETIME(3)", ["'2020-01-31 10:20:30.125'", "'2000-01-01'", "NULL"]), ("TIMESTAMP NULL", ["'2020-01-31 00:00:01'", "NULL"]),
    ],
    "clock": [("TIME", ["'00:00:00'", "'10:20:30'", "'-01:00:00'", "'838:59:59'", "NULL"]), ("TIME(2)", ["'00:00:00.25'", "'23:59:59'"])],
    "year": [("YEAR", ["1999", "2020", "NULL"])],
    "enum": [("ENUM('a','B','x y')", ["'a'", "'b'", "'x y'", "NULL"])],
    "set": [("SET('a','b','c')", ["''", "'a'", "'a,c'", "'b,c'", "NULL"])],
    "bit": [("BIT(8)", ["0", "1", "b'10000001'", "NULL"])],
    "json": [("JSON", ["'{}'", "'[1, \"a\", null]'", "'{\"a\": {\"b\": [1, 2.5]}, \"k\": \"a\"}'", "'true'", "'\"abc\"'", "NULL"])],
}
CONSTANTS = {
    "int": ["0", "1", "2", "-3", "10", "NULL"],
    "dec": ["0.5", "1.25", "-3.000", "NULL"],
    "real": ["1.5e0", "-2e0", "NULL"],
    "text": ["'a'", "'B'", "''", "'ab'", "'2'", "NULL"],
    "latin": ["_latin1'a'", "_latin1'B'"],
    "date": ["DATE '2020-02-29'", "DATE '1999-12-31'"],
    "time": ["TIMESTAMP '2020-01-31 10:20:30'", "TIMESTAMP '2020-01-31 10:20:30.5'"],
    "clock": ["TIME '10:00:00'", "TIME '-00:00:01.5'"],
    "year": ["2020"],
    "enum": ["'a'"],
    "set": ["'a,b'"],
    "bit": ["1"],
    "json": ["'{\"a\": 1}'", "'[1, [2, 3], \"a\"]'", "'1'", "NULL"],
}
# Results by kind: templates whose {kind} is an operand of that kind. Doubles come in only where both servers compute the
# same bits.
FORMS = {
    "int": [
        "({int} + {small})", "({int} - {small})", "({int} * {small})", "({int} % {int})", "length({text})", "char_length({text})",
        "ascii({text})", "locate({text}, {text})", "instr({text}, {text})", "field(ifnull({text}, ''), ifnull({text}, 'q'), ifnull({text}, 'a'))", "strcmp({text}, {text})",
        "year({date})", "month({date})", "dayofweek({date})", "to_days({date})", "datediff({date}, {date})", "hour({time})",
        "sign({dec})", "bit_count({int})", "crc32({text})", "if({bool}, {int}, {int})", "coalesce({int}, {int})",
        "nullif({int}, {int})", "abs({int})", "weekday({date})", "quarter({date})", "find_in_set({text}, {text})", "{bool}",
        "case {int} when {int} then {int} else {int} end", "week({date}, {mode})", "timestampdiff(MONTH, {date}, {date})",
        "interval(ifnull({int}, 1), ifnull({int}, 2), ifnull({int}, 3))", "regexp_instr({text}, 'a|b')", "json_length(json_array(ifnull({int}, 1), ifnull({text}, 'q')))", "isnull({text})",
        "({enum} + 0)", "({set} + 0)", "({bit} + 0)", "({year} + {small})", "find_in_set('b', concat({set}, ''))", "json_length({json})",
        "json_valid({json})", "json_valid({text})", "json_depth({json})", "json_length({json}, {path})", "hour({clock})",
        "time_to_sec({clock})", "minute({time})", "second({clock})", "microsecond({time})", "extract(YEAR_MONTH FROM {date})",
        "extract(DAY_SECOND FROM {time})", "mod(yearweek({date}, {mode}), 1000)", "weekofyear({date})", "dayofyear({date})",
        "cast({text} as signed)", "cast({dec} as signed)", "cast({date} as signed)", "cast({time} as signed)", "cast({int} as signed)",
        "to_seconds({time})", "ord({text})", "length({latin})", "length({json})", "({int} DIV {int})", "({int} & {int})",
        "({int} | {small})", "({int} ^ {small})", "(~{int})", "({int} << {small})", "(-{small})", "ceil({dec})", "floor({dec})",
        "period_diff(202001, extract(YEAR_MONTH FROM {date}))", "greatest(ifnull({int}, 1), ifnull({int}, 2))", "least(ifnull({int}, 0), ifnull({int}, 3), ifnull({int}, 1))",
        "timestampdiff(DAY, {date}, {time})", "timestampdiff(SECOND, {time}, {time})", "char_length({latin})", "mod({int}, 3)",
        "inet_aton(concat({small}, '.0.0.1'))", "json_contains({json}, '1')", "json_exists({json}, {path})", "ifnull({int}, {small})",
    ],
    "dec": [
        "({dec} + {dec})", "({dec} - {int})", "({dec} * {dec})", "round({dec}, 1)", "truncate({dec}, 1)", "abs({dec})",
        "ifnull({dec}, {dec})", "({dec} / {dec})", "({int} / {int})", "(-{dec})", "if({bool}, {dec}, {int})", "round({dec}, {small})",
        "truncate({dec}, -1)", "round({dec})", "cast({text} as decimal(10,2))", "cast({dec} as decimal(8,1))", 
        "coalesce({dec}, {int})", "greatest(ifnull({dec}, 1), ifnull({dec}, 0.5))", "nullif({dec}, {int})", "case when {bool} then {dec} else {int} end",
        "cast({int} as decimal(20,4))", "least(ifnull({dec}, 1), ifnull({int}, 0))",
    ],
    "real": [
        "({real} + {int})", "({real} * {small})", "abs({real})", "if({bool}, {real}, {dec})", "coalesce({real}, {int})",
        "(-{real})", "floor({real})", "ceil({real})", "round({real}, 1)", "truncate({real}, 1)", "ifnull({real}, {real})",
        "cast({text} as double)", "sqrt({small})", "nullif({real}, {int})", "case when {bool} then {real} else {real} end",
    ],
    "text": [
        "concat({text}, {text})", "concat_ws(',', {text}, {int}, {text})", "upper({text})", "lower({text})", "reverse({text})",
        "left({text}, {small})", "right({text}, {small})", "substring({text}, {small})", "substring({text}, {small}, {small})",
        "trim({text})", "replace({text}, {text}, {text})", "lpad({text}, 5, 'xy')", "repeat({text}, 2)", "hex({text})",
        "if({bool}, {text}, {text})", "coalesce({text}, {text})", "elt({small}, {text}, {text})", "cast({int} as char)",
        "cast({dec} as char)", "date_format({date}, '%Y/%m/%d %a')", "md5({text})", "regexp_replace({text}, '[ab]', '-')",
        "regexp_substr({text}, '[a-z]+')", "soundex({text})", "json_quote({text})", "json_array(ifnull({int}, 1), ifnull({text}, 'q'))",
        "json_object('k', ifnull({dec}, 0))", "json_extract(json_array(1, ifnull({text}, 'q')), '$[1]')", "substring_index({text}, 'a', 1)",
        "insert({text}, 2, 1, {text})", "greatest({text}, {text})", "case when {bool} then {text} end", "quote({text})",
        "make_set({small}, ifnull({text}, 'q'), 'z')", "to_base64({text})", "conv({int}, 10, 16)", "dayname({date})",
        "concat({enum}, '')", "concat({set}, '')", "convert(upper({latin}) using utf8mb4)",
        "json_extract({json}, {path})", "json_set({json}, '$.a', {int})",
        "json_keys({json})", "json_merge_patch({json}, {json})", "json_search({json}, 'one', {text})", "json_value({json}, {path})",
        "trim(json_query({json}, {path}))", "json_remove({json}, '$.a')", "json_compact({json})", "json_array_append({json}, '$', {text})",
        "json_insert({json}, {path}, {text})", "json_detailed({json})", "format({dec}, 2)", "cast({date} as char)",
        "cast({time} as char(10))", "cast({clock} as char)", "time_format({clock}, '%H-%i')", "monthname({date})",
        "export_set({small}, 'Y', 'N', ',', 4)", "oct({int})", "bin({int})", "hex({int})", "hex({bit})", "hex({latin})",
        "rpad({text}, 4, '-')", "ltrim({text})", "rtrim({text})", "trim(BOTH 'a' FROM {text})", "trim(LEADING ' ' FROM {text})",
        "space({small})", "mid({text}, {small}, 2)", "ucase({text})", "char(65, {small} + 66 using utf8mb4)", "unhex(hex({text}))",
        "date_format({time}, '%H:%i:%s.%f %p %j')", "sha1({text})", "nullif({text}, {text})", "ifnull({text}, {int})",
        "case {text} when {text} then {text} else {int} end", "least({text}, {text})", "concat({date}, {time})", "concat({real}, '')",
        "json_array(ifnull({dec}, 0), ifnull({bool}, 1), ifnull({json}, 1))", "json_object({path}, ifnull({text}, ''))", "concat({year}, {bit} + 0)", "inet_ntoa({small})",
        "convert({text} using utf8mb4)", "json_object('a', ifnull({date}, 1), 'b', ifnull({time}, 2))",
    ],
    "latin": ["lower({latin})", "left({latin}, {small})", "replace({latin}, 'a', 'e')", "if({bool}, {latin}, {latin})"],
    "date": [
        "last_day({date})", "({date} + interval {small} day)", "({date} - interval 1 month)", "date({time})", "coalesce({date}, {date})",
        "({date} + interval {small} year)", "({date} + interval '1-2' YEAR_MONTH)", "from_days(730000 + {small})", "makedate(2020, 60)",
        "cast({time} as date)", "if({bool}, {date}, {date})", "greatest({date}, {date})", "str_to_date(concat('2020-1-', {small}), '%Y-%m-%d')",
        "date_sub({date}, interval {small} week)", "nullif({date}, {date})",
    ],
    "time": [
        "({time} + interval {small} hour)", "coalesce({time}, {time})", "cast({date} as datetime)", "timestampadd(MINUTE, {small}, {time})",
        "({time} + interval '1:2' MINUTE_SECOND)", "({date} + interval {small} second)", "timestamp({date}, {clock})", "cast({time} as datetime(2))",
        "if({bool}, {time}, {date})", "greatest({time}, {date})", "addtime({time}, '1:00:00')",
        "({time} - interval 500 microsecond)", "ifnull({time}, {date})",
    ],
    "clock": [
        "timediff({time}, {time})", "sec_to_time({small})", "maketime({small}, 10, 20)", "addtime({clock}, '00:10:00')", "time({time})",
        "subtime({clock}, {clock})", "cast({time} as time(6))", "coalesce({clock}, {clock})", "if({bool}, {clock}, {clock})",
        "({clock} + interval {small} minute)",
    ],
    "json": ["json_array(ifnull({text}, 1))", "json_object('a', ifnull({int}, 1))", "json_set({json}, '$.a', {text})", "coalesce({json}, {json})"],
    "year": ["{year}"],
    "enum": ["coalesce({enum}, {enum})"],
    "set": ["if({bool}, {set}, {set})"],
    "bit": ["coalesce({bit}, {bit})"],
    "bool": [
        "({int} = {int})", "({int} < {dec})", "({text} = {text})", "({text} < {text})", "({text} like {pattern})", "({int} is null)",
        "({text} is not null)", "({bool} and {bool})", "({bool} or {bool})", "(not {bool})", "({int} between {int} and {int})",
        "({int} in ({int}, {int}, 5))", "({text} in ({text}, 'a'))", "({date} >= {date})", "({int} <=> {int})", "({bool} xor {bool})",
        "({text} regexp '^[a-c]')", "({date} < {time})", "({dec} <> {dec})", "({text} not like {pattern})", "({enum} = {text})",
        "({set} like {pattern})", "({bit} = {small})", "({json} is null)", "({latin} = {latin})", "({clock} < {clock})",
        "({time} between {time} and {time})", "(({int}, {text}) = ({int}, {text}))", "(({int}, {small}) < ({int}, 2))",
        "({year} > 1999)", "({enum} in ('a', 'x y'))", "({date} in ({date}, '2020-01-31'))", "({real} < {int})", "({int} is true)",
        "({bool} is not false)", "({text} between {text} and {text})", "({dec} in ({int}, {dec}))", "({latin} < {latin})",
        "({text} = {int})", "({int} not in ({int}, {small}))", "({dec} between {int} and {dec})", "(concat({text}, '') <=> concat({text}, ''))", "({enum} = {small})", "({set} = 'a,c')", "({json} = {text})", "({year} = {int})",
    ],
    "small": ["0", "1", "2", "3", "-1"],
    "pattern": ["'a%'", "'%b%'", "'_'", "''", "'%'"],
    "mode": ["0", "1", "3", "6"],
    "path": ["'$'", "'$.a'", "'$[0]'", "'$[1]'", "'$.a.b[1]'", "'$.k'"],
}  # fmt: skip
# Where there is an outer join, MariaDB takes these for conditions that NULL can't fulfil, and loses rows.
NOT_OUTER = ("json_set(", "json_insert(", "json_array_append(", "json_object(", "(({int}, ")
# Where an order decides, it is that of the values: equal keys may come in any order.
AGGREGATES = [
    "count(*)", "count({int})", "count(distinct {text})", "sum({int})", "sum({dec})", "max({date})", "avg({int})",
    "avg({dec})", "min({dec})", "max({int})", "bit_or({int})", "bit_and({int})", "group_concat({int} order by 1)",
    "group_concat(distinct {int} order by 1)", "sum({bool})", "sum(json_valid({text}))", "count(distinct {int}, {text})",
    "bit_xor({int})", "min({time})", "max({clock})", "sum(distinct {int})", "hex(weight_string(rtrim(max({text}))))", "count({enum})",
    "min({year})", "max({real})", "avg(distinct {int})", "count({json})", "group_concat({dec} order by 1 desc separator '|')",
    "sum({bit})", "count(distinct {date})", "std({small})", "max(length({json}))", "json_arrayagg({small})",
]  # fmt: skip
# A sum of quotients in groups is rounded on the way where the server keeps the groups in a table.
ROUNDED = {"sum({dec})": "sum(cast({dec} as decimal(40,6)))", "avg({dec})": "avg(cast({dec} as decimal(40,6)))"}
# Subqueries: {table} is a table under the name {alias}, whose columns the operands behind it see too.
SUBQUERIES = {
    "int": [
        "(select count(*) from {table} {alias} where {bool})", "(select max(if({alias}.id is null, NULL, {int})) from {table} {alias} where {bool})",
        "(select min(if({alias}.id is null, NULL, {int})) from {table} {alias})", "(select {int} from {table} {alias} where {alias}.id = {small})",
        "(select count(distinct if({alias}.id is null, NULL, {text})) from {table} {alias} where {bool} having count(*) > 1)",
    ],
    "dec": ["(select sum(if({alias}.id is null, NULL, {int})) from {table} {alias} where {bool})", "(select max(if({alias}.id is null, NULL, {dec})) from {table} {alias} where {bool})"],
    "date": ["(select min(if({alias}.id is null, NULL, {date})) from {table} {alias} where {bool})"],
    "text": ["(select concat({text}, '') from {table} {alias} where {alias}.id = {small})"],
    "bool": [
        "({int} in (select {int} from {table} {alias} where {bool}))", "exists (select 1 from {table} {alias} where {bool})",
        "({text} in (select {text} from {table} {alias}))", "({int} > all (select {int} from {table} {alias} where {bool}))",
        "({dec} = any (select {dec} from {table} {alias}))", "({int} not in (select {int} from {table} {alias} where {bool}))",
        "(not exists (select {alias}.id from {table} {alias} where {bool} and {bool}))",
                "({date} >= (select max(if({alias}.id is null, NULL, {date})) from {table} {alias}))", "({int} in (select {int} from {table} {alias} group by {alias}.id))",
    ],
}  # fmt: skip
KINDS = ["int", "dec", "real", "text", "date", "time", "clock", "latin", "json", "year"]
# Kinds that a column of a kind may be given instead of its own.
OTHER = {kind: ["int", "dec", "real", "text"] for kind in COLUMNS}
OTHER |= {"date": ["time", "text"], "time": ["date", "text"], "clock": ["time"], "text": ["text", "date", "json"], "bit": ["bit"], "enum": ["text"], "set": ["text"], "json": ["text"]}
# Kinds whose equal values look alike: a LIMIT may cut between them.
PLAIN = ["int", "date", "clock", "year"]


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


# Smallest statements whose difference is a fault of MariaDB's, which docs/differences.md describes.
KNOWN = [
    # A binary string in JSON: each byte is a character.
    re.compile(r"json_.*unhex\("),
    # A subquery on the left of one that selects an outer column, or nothing of its own under an outer condition: another row's.
    re.compile(r"\(select .*\) ((not )?in|= any|> all) \(select [^.]*\b[abcz]\.\w+.* from"),
    re.compile(r"\(select .*\) (> all|(not )?in) \(select .* where .*\b[abcz]\."),
    # An outer joined column in NOT IN: TRUE for NULL.
    re.compile(r"JOIN.* not in \(select [bc]\.\w+ from"),
    # ELT and REPLACE of an outer joined column: taken for a condition that NULL can't fulfil.
    re.compile(r"(LEFT|RIGHT) JOIN.*\b(elt|replace)\("),
    # The order of rows is NULL or not, but IS NULL takes it for never NULL.
    re.compile(r"\(\(\(.+, .+\) < \(.+, 2\)\) is null\)"),
    # A value out of JSON in a subquery's values: with its quotes or without them, as the plan goes.
    re.compile(r"json_extract\(.* in \(select "),
    # The month before its first day: whether that is a date depends on the functions around.
    re.compile(r"str_to_date\(concat\('2020-1-', 0\)"),
    # A group's JSON without its last byte; a minus and a space that are valid JSON.
    re.compile(r"min\(json_array_append\("),
    re.compile(r"json_valid\(regexp_replace\("),
    # An index of ENUM beside a value out of JSON: its quotes are looked for too.
    re.compile(r"_enum = json_extract\("),
    # A number as text beside an integer: rounded, as with no other text.
    re.compile(r"\(cast\([^()]+ as char\) = "),
    # A negative fraction of a second beside an index of TIME: rounded to zero.
    re.compile(r"(timediff|TIME '-00:00:01.5').* < [abc]\.\w+_clock"),
    # A quotient that is a negative zero is in no list of zeros.
    re.compile(r"\([^()]+ / [^()]+\) in \("),
]
# In a subquery's value beside a DOUBLE, numbers from 2^63 on are negative there.
NOT_NESTED = ("(~", "({int} & ", "({int} | ", "({int} ^ ", "({int} << ")


class Source:
    """Random tables, then random queries over them. A seed gives the same ones each time."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.tables: dict[str, list[tuple[str, str]]] = {}
        # Columns that a new row must have a value for.
        self.required: dict[str, list[tuple[str, str]]] = {}
        # Subqueries around the expression that is being made, and whether it may have any.
        self.nested = 0
        self.subqueries = True
        # The expression that is being made is a condition beside an outer join.
        self.outer = False

    def schema(self) -> list[str]:
        """Statements that make the tables and fill them."""
        statements = []
        for name in ("q1", "q2", "q3"):
            columns, types, values = [], [], []
            for kind, choices in COLUMNS.items():
                rare = kind not in ("int", "dec", "real", "text", "date", "time")
                for n in range(self.random.randint(0, 1) if rare else self.random.randint(1, 2)):
                    type_, fill = self.random.choice(choices)
                    columns.append((f"{kind[0]}{n}_{kind}", kind))
                    types.append(type_)
                    values.append(fill)
            short = [c for (c, _), t in zip(columns, types) if t not in ("TEXT", "JSON")]
            keys = [f", KEY ({c})" for c in self.random.sample(short, 2)]
            defs = ", ".join(f"{c} {t}" for (c, _), t in zip(columns, types))
            statements.append(f"CREATE TABLE {name} (id INT PRIMARY KEY, {defs}{''.join(keys)})")
            rows = ", ".join(
                f"({i}, {', '.join(self.random.choice(v) for v in values)})" for i in range(self.random.randint(3, 12))
            )
            statements.append(f"INSERT INTO {name} VALUES {rows}")
            self.tables[name] = [("id", "int"), *columns]
            self.required[name] = [c for c, t in zip(columns, types) if "NOT NULL" in t]
        return statements

    def expression(self, kind: str, scope: list[tuple[str, str]], depth: int) -> Node:
        columns = [name for name, k in scope if k == kind]
        if kind in FORMS and kind not in COLUMNS and (kind != "bool" or depth <= -2):
            return Node(kind, [self.random.choice(FORMS[kind] if kind != "bool" else ["(1 = 1)", "(0 = 1)"])])
        if self.subqueries and self.nested < 2 and kind in SUBQUERIES and self.random.random() < 0.05:
            return self.subquery(kind, scope, depth)
        if kind != "bool" and (depth <= 0 or self.random.random() < 0.3):
            pool = columns if columns and self.random.random() < 0.75 else CONSTANTS[kind]
            return Node(kind, [self.random.choice(pool)])
        left_out = (NOT_OUTER if self.outer else ()) + (NOT_NESTED if self.nested else ())
        forms = [form for form in FORMS[kind] if not form.startswith(left_out)] if left_out else FORMS[kind]
        return self.filled(kind, self.random.choice(forms), scope, depth - 1)

    def filled(self, kind: str, form: str, scope, depth: int) -> Node:
        parts: list = []
        for piece in form.replace("}", "{").split("{"):
            known = piece in COLUMNS or piece in FORMS
            parts.append(self.expression(piece, scope, depth) if known else piece)
        return Node(kind, parts)

    def subquery(self, kind: str, scope, depth: int) -> Node:
        self.nested += 1
        table, alias = self.random.choice(list(self.tables)), f"s{self.nested}"
        inner = [(f"{alias}.{c}", k) for c, k in self.tables[table]]
        form = self.random.choice(SUBQUERIES[kind]).replace("{table}", table).replace("{alias}", alias)
        # What is around is seen too, now and then.
        node = self.filled(kind, form, inner + (scope if self.random.random() < 0.5 else []), min(depth - 1, 1))
        self.nested -= 1
        return node

    def table(self, alias: str) -> tuple[Node, list[tuple[str, str]]]:
        """A table or a derived one."""
        name = self.random.choice(list(self.tables))
        scope = [(f"{alias}.{c}", k) for c, k in self.tables[name]]
        if self.random.random() < 0.1:
            where = self.expression("bool", [(f"z.{c}", k) for c, k in self.tables[name]], 1)
            return Node("table", [f"(SELECT * FROM {name} z WHERE ", where, f") {alias}"]), scope
        return Node("table", [f"{name} {alias}"]), scope

    def query(self, kinds: list[str] | None = None) -> Query:
        """A query whose items are of these kinds, or of any."""
        tables, scope = self.table("a")
        joins = []
        count = 0 if self.random.random() < 0.7 else 1 if self.random.random() < 0.7 else 2
        hows = [self.random.choice(["JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN"]) for _ in range(count)]
        self.outer = any(how != "JOIN" for how in hows)
        for alias, how in zip("bc", hows):
            joined, more = self.table(alias)
            scope = scope + more
            key = self.random.random() < 0.3
            on = Node("bool", [f"(a.id = {alias}.id)"]) if key else self.expression("bool", scope, 1)
            joins.append(Node("join", [f" {how} ", joined, " ON ", on]))
        where = self.expression("bool", scope, 2) if self.random.random() < 0.6 else None
        self.outer = False
        made = Query([], tables, joins, where)
        if kinds is None and self.random.random() < 0.3:
            return self.grouped(made, scope)
        if kinds is None:
            kinds = [self.random.choice([*KINDS, "bool"]) for _ in range(self.random.randint(1, 3))]
        made.items = [self.expression(kind, scope, 3) for kind in kinds]
        if all(kind in PLAIN for kind in kinds):
            made.distinct = self.random.random() < 0.2
            if self.random.random() < 0.3:
                places = ", ".join(f"{n + 1}{self.random.choice(['', ' DESC'])}" for n in range(len(kinds)))
                made.tail = f" ORDER BY {places} LIMIT {self.random.randint(0, 5)}"
        return made

    def grouped(self, made: Query, scope) -> Query:
        # Subqueries in groups are left to the corner files.
        self.subqueries = False
        keys = []
        rollup = self.random.random() < 0.2
        for _ in range(self.random.choice([0, 1, 1, 2])):
            if rollup:
                plain = [name for name, kind in scope if kind in ("int", "date", "year")]
                key = Node("int", [self.random.choice(plain)])
                keys += [key] if key not in keys else []
            else:
                key = self.expression(self.random.choice(["int", "text", "date", "dec"]), scope, 1)
                # A quotient has more digits than it shows, and the server's plan decides how many a group has.
                keys.append(Node("dec", ["cast(", key, " as decimal(40,6))"]) if " / " in str(key) else key)
        forms = [self.random.choice(AGGREGATES) for _ in range(self.random.randint(1, 3))]
        if rollup:
            forms = [form for form in forms if "distinct" not in form and "group_concat" not in form]
        if keys:
            forms = [ROUNDED.get(form, form) for form in forms]
        made.items = [*keys, *(self.filled("aggregate", form, scope, 1) for form in forms)]
        made.keys = keys
        made.rollup = rollup and bool(keys)
        if self.random.random() < 0.2:
            made.tail = f" HAVING count(*) > {self.random.randint(0, 2)}"
        self.subqueries = True
        return made

    def union(self) -> Union:
        count = self.random.randint(1, 2)
        kinds = [self.random.choice(PLAIN) for _ in range(count)]
        others = ["dec" if k == "int" and self.random.random() < 0.5 else k for k in kinds]
        op = self.random.choice(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"])
        one, other = self.query(kinds), self.query(others)
        # MAX(10), ASCII(...) and the like have too few digits beside a DECIMAL there.
        for n, (k, o) in enumerate(zip(kinds, others)):
            if k != o:
                one.items[n] = Node("int", ["(cast(", one.items[n], " as signed) + 0)"])
        return Union([one, other], op)

    def change(self, single: bool) -> Change:
        """A statement that changes rows: of one row, or of those of a condition."""
        # MariaDB refuses most subqueries about the table that is changed.
        self.subqueries = False
        made = self.changed(single)
        self.subqueries = True
        return made

    def changed(self, single: bool) -> Change:
        name = self.random.choice(list(self.tables))
        scope = [(f"a.{c}", k) for c, k in self.tables[name]]
        where = self.expression("bool", scope, 1)
        if single:
            where = Node("row", [f"a.id = {self.random.randint(0, 3)} AND ", where])
        form = self.random.choice(["update", "update", "insert", "delete", "join"])
        if form == "delete":
            return Change(Node("change", [f"DELETE FROM a USING {name} a WHERE ", where]))
        columns = self.random.sample(self.tables[name][1:], self.random.randint(1, 3))
        if form == "insert":
            columns += [c for c in self.required[name] if c not in columns]
        if form == "join":
            # With several columns it is not said which of the old and new values are seen.
            columns = columns[:1]
        # Now and then a value of another kind.
        values = [
            self.expression(kind if self.random.random() < 0.7 else self.random.choice(OTHER[kind]), scope, 1)
            for _, kind in columns
        ]
        if form == "insert":
            if not single:
                # Rows of the table itself are kept in a table first, with the digits that quotients show.
                values = [Node("dec", ["cast(", v, " as decimal(40,6))"]) if " / " in str(v) and v.kind == "dec" else v for v in values]
            parts: list = [f"INSERT INTO {name} (id, {', '.join(c for c, _ in columns)}) SELECT a.id + 100"]
            parts += [part for value in values for part in (", ", value)]
            return Change(Node("change", [*parts, f" FROM {name} a WHERE ", where]))
        head = f"UPDATE {name} a SET "
        if form == "join":
            head = f"UPDATE {name} a JOIN {self.random.choice(list(self.tables))} b ON a.id = b.id SET "
        parts = [head]
        for n, ((column, _), value) in enumerate(zip(columns, values)):
            parts += [f"{', ' if n else ''}a.{column} = ", value]
        return Change(Node("change", [*parts, " WHERE ", where]))

    def statement(self) -> Query | Union:
        return self.union() if self.random.random() < 0.1 else self.query()


def set_parts(node: Node, parts: list):
    return lambda: setattr(node, "parts", parts)


def smaller_node(root: Node):
    """Changes that make an expression smaller, each a pair: do, undo."""
    for node in list(root.nodes()):
        parts = node.parts
        for part in [p for p in parts if isinstance(p, Node) and p.kind == node.kind]:
            yield set_parts(node, part.parts), set_parts(node, parts)
        if len(parts) > 1:
            for constant in CONSTANTS.get(node.kind, ["(1 = 1)", "(0 = 1)"] if node.kind == "bool" else [])[:2]:
                yield set_parts(node, [constant]), set_parts(node, parts)


@dataclass
class Query:
    """A SELECT whose rows come in no order."""

    items: list[Node]
    tables: Node
    joins: list[Node]
    where: Node | None
    keys: list[Node] | None = None
    rollup: bool = False
    distinct: bool = False
    tail: str = ""

    def __str__(self) -> str:
        # Text of a group is that of any of its rows: only its sort weight counts.
        shown = [
            str(item) if not self.keys or item not in self.keys or self.rollup
            else f"hex(weight_string(rtrim(min({item}))))" if item.kind == "text"
            else f"min({item})"
            for item in self.items
        ]  # fmt: skip
        distinct = "DISTINCT " if self.distinct else ""
        sql = f"SELECT {distinct}{', '.join(f'{text} AS c{n}' for n, text in enumerate(shown))}"
        sql += f" FROM {self.tables}{''.join(map(str, self.joins))}"
        sql += f" WHERE {self.where}" if self.where else ""
        if self.keys:
            sql += f" GROUP BY {', '.join(map(str, self.keys))}{' WITH ROLLUP' if self.rollup else ''}"
        return sql + self.tail

    def fields(self, **values):
        """A change of fields and its undoing."""
        old = {name: getattr(self, name) for name in values}
        return (lambda: self.__dict__.update(values)), (lambda: self.__dict__.update(old))

    def smaller(self, alone: bool = True):
        if alone and len(self.items) > 1 and not self.keys and " ORDER" not in self.tail:
            for item in list(self.items):
                yield self.fields(items=[i for i in self.items if i is not item])
        if alone and self.keys:
            for item in [i for i in self.items if i not in self.keys]:
                if len(self.items) > 1:
                    yield self.fields(items=[i for i in self.items if i is not item])
        if self.where:
            yield self.fields(where=None)
        if self.joins:
            yield self.fields(joins=self.joins[:-1])
        if self.tail:
            yield self.fields(tail="")
        for root in [*self.items, *([self.where] if self.where else []), *self.joins, self.tables]:
            yield from smaller_node(root)


@dataclass
class Union:
    """A set operation on two queries."""

    sides: list[Query]
    op: str

    def __str__(self) -> str:
        return f" {self.op} ".join(f"({side})" for side in self.sides)

    def smaller(self):
        for side in self.sides:
            yield from side.smaller(alone=False)


@dataclass
class Change:
    """A statement that changes rows."""

    root: Node

    def __str__(self) -> str:
        return str(self.root)

    def smaller(self):
        yield from smaller_node(self.root)


def shrink(query, fails, tries: int = 200) -> str:
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
