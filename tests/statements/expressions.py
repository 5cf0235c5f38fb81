"""Expressions over all functions that the server's source names, with arguments of any type."""

from __future__ import annotations

import functools
import random
import re
from pathlib import Path

from .node import Node, expr, listed, optional, plain
from .values import SMALL, constant

SOURCES = Path(__file__).resolve().parents[2] / "crates" / "sql" / "src" / "expr"
KINDS = ["int", "dec", "real", "text", "bytes", "date", "moment", "clock", "json"]
# What waits, ends or tells the time is tried by hand, in `control.py`, or left out.
LEFT_OUT = {"sleep", "benchmark", "master_pos_wait", "master_gtid_wait", "get_lock", "load_file", "nextval", "lastval", "setval", "release_all_locks"}
# Their values differ from run to run, from server to server, or are documented as different.
UNSETTLED = {"rand", "uuid", "uuid_short", "sys_guid", "connection_id", "now", "sysdate", "curdate", "curtime", "current_timestamp", "current_date",
             "current_time", "localtime", "localtimestamp", "utc_date", "utc_time", "utc_timestamp", "unix_timestamp", "version", "user", "session_user",
             "system_user", "current_user", "database", "schema", "found_rows", "row_count", "last_insert_id", "encrypt", "random_bytes", "compress",
             "is_used_lock", "is_free_lock", "release_lock", "coercibility", "binlog_gtid_pos", "last_value", "password", "old_password", "current_role", "default",
             "time", "timestamp", "rownum", "kdf", "charset", "collation", "decode_histogram", "name_const"}  # fmt: skip
UNITS = ["MICROSECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "SECOND_MICROSECOND", "MINUTE_SECOND", "HOUR_MICROSECOND",
         "HOUR_SECOND", "DAY_MICROSECOND", "DAY_HOUR", "DAY_SECOND", "YEAR_MONTH"]  # fmt: skip
PLAIN_UNITS = [u for u in UNITS if "_" not in u]
CASTS = ["SIGNED", "UNSIGNED", "CHAR", "CHAR(3)", "BINARY(3)", "BINARY", "DATE", "DATETIME", "DATETIME(6)", "TIME", "TIME(3)", "DECIMAL(10,2)", "DECIMAL(65,30)",
         "DECIMAL", "DOUBLE", "FLOAT", "CHAR CHARACTER SET latin1", "INTEGER"]  # fmt: skip
COLLATIONS = ["utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_nopad_bin", "latin1_swedish_ci", "binary", "utf8mb4_uca1400_as_cs"]
BINARY_OPS = ["+", "-", "*", "/", "%", "DIV", "MOD", "&", "|", "^", "<<", ">>", "=", "<>", "<", "<=", ">", ">=", "<=>", "AND", "OR", "XOR", "LIKE", "NOT LIKE",
              "REGEXP", "RLIKE", "NOT REGEXP", "IS NOT DISTINCT FROM"][:-1]  # fmt: skip
# Templates over the kinds of arguments: what is typical, so that not every call is nonsense.
TYPICAL: dict[str, list[str]] = {
    "int": ["({int} + {int})", "({int} - {small})", "length({text})", "locate({text}, {text})", "year({date})", "datediff({date}, {moment})", "hour({clock})",
            "sign({dec})", "bit_count({int})", "crc32({text})", "if({bool}, {int}, {int})", "coalesce({int}, {dec})", "ascii({text})", "to_days({date})",
            "timestampdiff({unit}, {moment}, {moment})", "extract({units} FROM {moment})", "json_length({json}, {path})", "cast({text} as signed)", "week({date}, {small})",
            "interval({int}, {int}, {int})", "field({text}, {text}, {text})", "find_in_set({text}, {text})", "strcmp({text}, {text})", "regexp_instr({text}, {text})",
            "json_valid({text})", "json_contains({json}, {json}, {path})", "greatest({int}, {dec})", "round({real})", "period_diff({int}, {int})", "inet_aton({text})"],
    "dec": ["({dec} * {dec})", "({int} / {dec})", "round({dec}, {small})", "truncate({dec}, {small})", "cast({text} as decimal(20,5))", "({dec} % {dec})", "abs({dec})", "nullif({dec}, {int})"],
    "real": ["({real} + {dec})", "sqrt({int})", "pow({small}, {small})", "exp({small})", "log({int}, {int})", "sin({real})", "cast({text} as double)", "({text} + 0)"],
    "text": ["concat({text}, {any})", "concat_ws({text}, {text}, {any})", "upper({text})", "reverse({text})", "left({text}, {small})", "substring({text}, {small}, {small})",
             "replace({text}, {text}, {text})", "lpad({text}, {small}, {text})", "rpad({text}, {small}, {text})", "repeat({text}, {small})", "hex({any})", "trim(BOTH {text} FROM {text})", "date_format({moment}, {text})",
             "regexp_replace({text}, {text}, {text})", "regexp_substr({text}, {text})", "json_extract({json}, {path})", "json_set({json}, {path}, {any})", "json_object({text}, {any})",
             "json_array({any}, {any})", "json_unquote({json})", "json_merge_patch({json}, {json})", "json_search({json}, 'all', {text})", "cast({any} as char)", "convert({text} USING latin1)",
             "elt({small}, {text}, {any})", "insert({text}, {small}, {small}, {text})", "format({dec}, {small})", "conv({any}, {small}, {small})", "to_base64({any})", "case {any} when {any} then {text} else {any} end",
             "({text} COLLATE {collation})", "weight_string({text})", "sformat({text}, {any})", "quote({any})", "to_char({moment}, {text})", "json_value({json}, {path})", "substring_index({text}, {text}, {small})", "md5({any})", "unhex({text})"],
    "bytes": ["aes_encrypt({text}, {text})", "aes_decrypt({bytes}, {text})", "unhex(hex({text}))", "binary {text}", "from_base64({text})", "inet6_aton({text})", "uncompress({bytes})"],
    "date": ["last_day({date})", "({date} + interval {small} {unit})", "({date} - interval {any} {units})", "from_days({int})", "makedate({int}, {int})", "str_to_date({text}, {text})", "cast({any} as date)"],
    "moment": ["({moment} + interval {int} {units})", "from_unixtime({int})", "cast({any} as datetime(3))", "timestamp({date}, {clock})", "convert_tz({moment}, {text}, '+01:00')", "addtime({moment}, {clock})"],
    "clock": ["timediff({clock}, {clock})", "sec_to_time({int})", "maketime({small}, {small}, {small})", "cast({any} as time(2))", "subtime({clock}, {clock})"],
    "json": ["json_array({any})", "json_object('k', {any})", "json_insert({json}, {path}, {any})", "json_remove({json}, {path})", "json_merge({json}, {json})"],
    "bool": ["({any} = {any})", "({int} < {int})", "({text} LIKE {text})", "({text} REGEXP {text})", "({int} BETWEEN {int} AND {int})", "({any} IN ({any}, {any}, {any}))", "({any} IS NULL)",
             "({bool} AND {bool})", "({bool} OR {bool})", "(NOT {bool})", "(({any}, {any}) = ({any}, {any}))", "({text} = {text})", "({date} >= {date})", "({text} NOT LIKE {text} ESCAPE '|')", "({bool} IS NOT TRUE)",
             "({int} NOT IN ({int}, NULL))", "({any} <=> {any})", "({any} IS UNKNOWN)", "({bool} XOR {bool})", "({text} SOUNDS LIKE {text})", "(({int}, {text}) IN (({int}, {text}), ({int}, {text})))", "({any} <> {any})"],
}  # fmt: skip
TYPICAL["any"] = [f for forms in TYPICAL.values() for f in forms]
HOLE = re.compile(r"\{(\w+)\}")
AGGREGATES = ["count(*)", "count({any})", "count(distinct {any})", "count(distinct {any}, {any})", "sum({any})", "sum(distinct {any})", "avg({any})", "min({any})", "max({any})", "group_concat({any} order by 1)",
              "group_concat(distinct {any} order by 1 desc separator '|')", "bit_and({any})", "bit_or({any})", "bit_xor({any})", "std({any})", "var_samp({any})", "stddev_pop({any})", "json_arrayagg({any})",
              "json_objectagg(coalesce({text}, 'n'), {any})", "group_concat({any}, {any} order by {any} limit 2)", "any_value({any})"][:-1]  # fmt: skip


def argument_counts(usage: str) -> tuple[int, int]:
    """Fewest and most arguments of what documentation shows: `text, from[, length]`; five stand for any number."""
    arguments = [[a.strip() for a in re.split(r"[\[\],]", text)] for text in (re.sub(r"\[.*\]", "", usage), usage)]
    least, most = (len([a for a in some if a and a != "..."]) for some in arguments)
    return least, 5 if "..." in usage else most


@functools.cache
def functions() -> list[tuple[str, int, int]]:
    """Name, fewest and most arguments of every function in the server's source."""
    found = {}
    entry = re.compile(r'Function::(?:new|of_operands)\(\s*"([a-z_0-9]+)",\s*"([^"]*)",(.*?)(?=Function::(?:new|of_operands)\(|\Z)', re.S)
    for path in sorted((SOURCES / "functions").rglob("*.rs")):
        for name, usage, rest in entry.findall(path.read_text()):
            aliases = re.search(r'\n\s*\.or\(&\[([^\]]*)\]\)', rest)
            for called in [name, *re.findall(r'"(\w+)"', aliases[1] if aliases else "")]:
                found[called] = argument_counts(usage)
    for aggregate in ("count", "sum", "avg", "min", "max", "group_concat", "bit_and", "bit_or", "bit_xor", "std", "stddev", "stddev_pop", "stddev_samp", "variance", "var_pop", "var_samp", "json_arrayagg", "json_objectagg"):
        found.pop(aggregate, None)
    assert len(found) > 200, f"functions are no longer found in {SOURCES}"
    return [(name, *counts) for name, counts in sorted(found.items())]


class Expressions:
    """Makes expressions over columns in sight: `scope` is a list of (text, kind)."""

    def __init__(self, r: random.Random, settled: bool):
        self.r = r
        # Only what every server answers in the same way at any time.
        self.settled = settled
        self.functions = [f for f in functions() if f[0] not in LEFT_OUT and not (settled and f[0] in UNSETTLED)]
        # Makes a subquery that sees a scope; `selects.py` sets it.
        self.subquery = None

    def leaf(self, kind: str, scope) -> Node:
        r = self.r
        if kind == "bool":
            return expr("(", self.leaf("any", scope), r.choice([" = ", " < ", " > ", " <> "]), self.leaf("any", scope), ")")
        fitting = [text for text, k in scope if k == kind or kind == "any" or r.random() < 0.1]
        if fitting and r.random() < 0.65 and kind not in ("small", "path"):
            return expr(r.choice(fitting))
        return expr(self.const(kind))

    def const(self, kind: str) -> str:
        r = self.r
        if kind == "small":
            return r.choice(SMALL) if r.random() < 0.97 else constant(r, "int")
        found = constant(r, kind)
        while self.settled and (found.startswith("@") or found == "CURRENT_DATE"):
            found = constant(r, kind)
        return found

    def make(self, kind: str, scope, depth: int) -> Node:
        r = self.r
        if depth <= 0 or r.random() < 0.15 or kind in ("small", "path"):
            return self.leaf(kind, scope)
        x = r.random()
        if x < 0.55:
            return self.filled(r.choice(TYPICAL.get(kind) or TYPICAL["any"]), scope, depth - 1)
        if x < 0.62 and self.subquery:
            return self.nested(kind, scope, depth - 1)
        if kind == "bool":
            return self.filled(r.choice(TYPICAL["bool"]), scope, depth - 1)
        if x < 0.78:
            return self.call(scope, depth - 1)
        return self.operator(scope, depth - 1)

    def filled(self, form: str, scope, depth: int) -> Node:
        parts, end = [], 0
        for m in HOLE.finditer(form):
            parts.append(form[end : m.start()])
            end = m.end()
            parts.append(self.hole(m[1], scope, depth))
        return expr(*parts, form[end:])

    def hole(self, kind: str, scope, depth: int) -> str | Node:
        match kind:
            case "unit":
                return self.r.choice(PLAIN_UNITS)
            case "units":
                return self.r.choice(UNITS)
            case "collation":
                return self.r.choice(COLLATIONS)
        return self.make(kind, scope, depth)

    def call(self, scope, depth: int) -> Node:
        """Any function with arguments of any kind."""
        name, least, most = self.r.choice(self.functions)
        if name in ("interval", "char", "extract", "position", "trim", "substring", "weight_string") and self.r.random() < 0.7:
            name, least, most = "ifnull", 2, 2
        count = self.r.randint(least, max(least, min(most, least + 3)))
        if self.r.random() < 0.02:
            count += self.r.choice([-1, 1])
        kinds = [self.r.choice([*KINDS, "any", "any", "small", "path"]) for _ in range(max(0, count))]
        return expr(f"{name}(", Node("x", *[self.make(k, scope, depth) for k in kinds], separator=", "), ")")

    def operator(self, scope, depth: int) -> Node:
        r = self.r
        one = self.make("any", scope, depth)
        match r.randrange(8):
            case 0:
                return expr(r.choice(["(-", "(~", "(!", "(NOT "]), one, ")")
            case 1:
                return expr("cast(", one, f" as {r.choice(CASTS)})")
            case 2:
                return expr("(CASE WHEN ", self.make("bool", scope, depth), " THEN ", one, optional(" ELSE ", self.make("any", scope, depth)), " END)")
            case 3:
                return expr("(", one, " IS ", r.choice(["NULL", "NOT NULL", "TRUE", "NOT FALSE", "UNKNOWN"]), ")")
            case 4:
                return expr("(", one, r.choice([" IN (", " NOT IN ("]), listed([self.make("any", scope, depth) for _ in range(r.randint(1, 4))]), "))")
            case 5:
                return expr("(", one, r.choice([" BETWEEN ", " NOT BETWEEN "]), self.make("any", scope, depth), " AND ", self.make("any", scope, depth), ")")
            case _:
                return expr("(", one, f" {r.choice(BINARY_OPS)} ", self.make("any", scope, depth), ")")

    def nested(self, kind: str, scope, depth: int) -> Node:
        r = self.r
        if kind == "bool":
            match r.randrange(4):
                case 0:
                    return expr(r.choice(["EXISTS", "NOT EXISTS"]), " (", self.subquery(scope, r.randint(1, 2), depth), ")")
                case 1:
                    op = r.choice(["=", "<>", "<", ">", ">=", "<="])
                    return expr("(", self.make("any", scope, depth), f" {op} {r.choice(['ANY', 'ALL', 'SOME'])} (", self.subquery(scope, 1, depth), "))")
                case 2:
                    left = listed([self.make("any", scope, depth), self.make("any", scope, depth)])
                    return expr("((", left, r.choice([") IN (", ") NOT IN ("]), self.subquery(scope, 2, depth), "))")
                case _:
                    return expr("(", self.make("any", scope, depth), r.choice([" IN (", " NOT IN ("]), self.subquery(scope, 1, depth), "))")
        return expr("(", self.subquery(scope, 1, depth, single=True), ")")

    def aggregate(self, scope, depth: int) -> Node:
        """No expression to the minimiser: it stands in a SELECT list only."""
        form = self.r.choice(AGGREGATES)
        while self.settled and (form.startswith("json_") or "limit" in form):
            # The order of what they show is up to the plan.
            form = self.r.choice(AGGREGATES)
        return plain(*self.filled(form, scope, depth).parts)
