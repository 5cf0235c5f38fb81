"""Bodies of stored programs at random: blocks, loops, labels, handlers, cursors and conditions in each other.

A body writes down where it comes by in the user variable @t, and counts the turns of its loops in @g, so that none is without an
end. It reads and writes a table `pt` (see TABLE).
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace

TABLE = ["CREATE TABLE pt (a INT PRIMARY KEY, b INT)"]
# Before each run.
BEGIN = ["DELETE FROM pt", "INSERT INTO pt VALUES (1, 1), (2, 2), (3, 3), (5, 5)", "SET @t = '', @g = 0, @k = 0"]
# What a run has left.
LEFT = "SELECT @t, @g, @k, (SELECT SUM(b) FROM pt)"

CONDITIONS = ["sqlexception", "sqlwarning", "not found", "sqlstate '45000'", "1062", "1146", "sqlstate '01000'", "1329", "1172"]
RAISE = [
    "signal sqlstate '45000'", "signal sqlstate '45000' set mysql_errno = 1644, message_text = 'm'", "signal sqlstate '01000'",
    "signal sqlstate '02000'", "insert into pt values (1)", "insert into nosuch values (1)", "set @k = @k + 1",
    "update pt set b = b + 1 where a = 2",
]  # fmt: skip
DEEPEST = 4


@dataclass(frozen=True)
class Place:
    """What can be named where a statement stands."""

    variables: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    loops: tuple[str, ...] = ()
    cursors: tuple[str, ...] = ()
    depth: int = 0
    in_handler: bool = False

    def inside(self, **changes) -> Place:
        return replace(self, depth=self.depth + 1, **changes)


class Body:
    """One body; the same for the same seed and number."""

    def __init__(self, seed: int, number: int):
        self.random = random.Random(f"{seed} {number}")
        self.numbers = 0

    def text(self) -> str:
        return self.block(Place())

    def number(self) -> int:
        self.numbers += 1
        return self.numbers

    def trace(self) -> str:
        return f"set @t = concat(@t, '{self.number()},')"

    def condition(self, p: Place) -> str:
        r, v = self.random, self.random.choice(p.variables)
        return r.choice([
            f"{v} > {r.randint(0, 6)}", f"{v} mod {r.randint(2, 4)} = 0", f"{v} is null", f"not {v}", f"{v} = {r.randint(0, 5)}",
            f"{v} < {r.randint(0, 5)} or {r.choice(p.variables)} = 2", "null", "@k > 3", f"exists(select 1 from pt where a = {v})",
        ])  # fmt: skip

    def value(self, p: Place) -> str:
        r, v = self.random, self.random.choice(p.variables)
        return r.choice([
            str(r.randint(0, 5)), f"{v} + 1", f"coalesce({v}, 0) + {r.randint(1, 3)}", "null", f"{v} * 2 mod 7",
            f"(select max(a) from pt where a < {r.randint(0, 6)})", f"'{r.randint(0, 9)}'", f"if({v} > 2, {v}, 3)",
        ])  # fmt: skip

    def statements(self, p: Place) -> str:
        return " ".join(self.statement(p) + ";" for _ in range(self.random.randint(1, 4)))

    def statement(self, p: Place) -> str:
        r, k = self.random, self.random.random()
        if p.depth > DEEPEST or k < 0.3:
            return self.trace()
        if k < 0.42:
            return f"set {r.choice(p.variables)} = {self.value(p)}"
        if k < 0.5:
            return self.raising(p)
        if k < 0.56 and p.labels:
            return f"leave {r.choice(p.labels)}"
        if k < 0.62 and p.loops:
            return f"if {self.condition(p)} then {self.trace()}; iterate {r.choice(p.loops)}; end if"
        if k < 0.72:
            return self.choice(p)
        if k < 0.77:
            return self.case(p)
        if k < 0.92:
            return self.loop(p)
        if p.cursors and k < 0.95:
            c = r.choice(p.cursors)
            return r.choice([f"fetch {c} into {r.choice(p.variables)}", f"open {c}", f"close {c}"])
        return self.block(p.inside())

    def raising(self, p: Place) -> str:
        r, v = self.random, self.random.choice(p.variables)
        again = ["resignal", "resignal sqlstate '45001'"] if p.in_handler else []
        return r.choice([*RAISE, *again, f"select a into {v} from pt where a = {r.randint(0, 9)}", f"select a into {v} from pt"])

    def choice(self, p: Place) -> str:
        inner = p.inside()
        text = f"if {self.condition(p)} then {self.statements(inner)}"
        if self.random.random() < 0.3:
            text += f" elseif {self.condition(p)} then {self.statements(inner)}"
        if self.random.random() < 0.5:
            text += f" else {self.statements(inner)}"
        return text + " end if"

    def case(self, p: Place) -> str:
        inner, r = p.inside(), self.random
        if r.random() < 0.5:
            text = f"case {r.choice(p.variables)} when {r.randint(0, 3)} then {self.statements(inner)} when null then {self.trace()};"
        else:
            text = f"case when {self.condition(p)} then {self.statements(inner)} when {self.condition(p)} then {self.trace()};"
        if r.random() < 0.6:
            text += f" else {self.statements(inner)}"
        return text + " end case"

    def loop(self, p: Place) -> str:
        label = f"l{self.number()}"
        inner = p.inside(labels=(*p.labels, label), loops=(*p.loops, label))
        body = f"set @g = @g + 1; if @g > 60 then leave {label}; end if; {self.statements(inner)}"
        return self.random.choice([
            f"{label}: while {self.condition(p)} do {body} end while",
            f"{label}: repeat {body} until {self.condition(p)} end repeat",
            f"{label}: loop {body} if {self.condition(p)} then leave {label}; end if; end loop",
        ])  # fmt: skip

    def block(self, p: Place) -> str:
        r, declared, begin = self.random, "", ""
        variables = list(p.variables)
        for _ in range(r.randint(0, 2) or (0 if variables else 1)):
            name = f"v{self.number()}" if not variables or r.random() < 0.8 else r.choice(variables)
            if f" {name} " in declared:
                continue
            declared += f"declare {name} int{r.choice(['', f' default {r.randint(0, 4)}'])}; "
            if name not in variables:
                variables.append(name)
        p = replace(p, variables=tuple(variables))
        if r.random() < 0.3:
            cursor = f"c{self.number()}"
            declared += f"declare {cursor} cursor for select a from pt where a > {r.randint(0, 4)} order by a; "
            p = replace(p, cursors=(*p.cursors, cursor))
            begin = f"open {cursor}; " if r.random() < 0.7 else ""
        label = ""
        if r.random() < 0.6:
            label = f"b{self.number()}"
            p = replace(p, labels=(*p.labels, label))
        for wanted in r.sample(CONDITIONS, r.choice([0, 0, 1, 1, 2])):
            declared += f"declare {r.choice(['continue', 'exit'])} handler for {wanted} {self.handler(p)}; "
        return f"{label + ': ' if label else ''}begin {declared}{begin}{self.statements(p)} end"

    def handler(self, p: Place) -> str:
        if self.random.random() < 0.5:
            return self.trace()
        return f"begin {self.statements(p.inside(labels=(), loops=(), in_handler=True))} end"
