"""One round: a schema, its rows and statements from one seed, on one connection."""

from __future__ import annotations

import random
import re
import time

from packets import Error, Rows

from . import oracles
from .binary import decoded
from .changes import Changes
from .control import Control
from .expressions import KINDS, Expressions
from .node import Node, expr, optional, plain
from .selects import Selects
from .tables import Column, Table, create, rows
from .watch import LIMIT, SLACK, Connection, Dead, shown

# Modes that ask two builds.
BUILDS = ("against", "answers")
SETUP = ["SET time_zone = '+00:00', timestamp = 1700000000", "SET NAMES utf8mb4"]
MARIADB_SETUP = [*SETUP, "SET optimizer_switch = 'subquery_cache=off,materialization=off'", f"SET max_statement_time = {LIMIT}"]
NARWAL_SETUP = [*SETUP, f"SET max_statement_time = {LIMIT}"]
HINTABLE = re.compile(r"\b(t\d) (a\d+)(?: (?:USE|FORCE|IGNORE) INDEX \(\w+\))?")


class Finding(Exception):
    def __init__(self, kind: str, detail: str):
        super().__init__(kind, detail)
        self.kind, self.detail = kind, detail


class Round:
    def __init__(self, seed: int, mode: str, database: str, server, reference=None, statements: int = 120):
        self.r = random.Random(f"{seed} {mode}")
        self.seed, self.mode, self.database, self.server, self.reference = seed, mode, database, server, reference
        self.count = statements
        self.ours = Connection(server, [*NARWAL_SETUP, f"USE {database}"])
        setup = NARWAL_SETUP if mode in BUILDS else MARIADB_SETUP
        self.theirs = Connection(reference, [*setup, f"USE {database}"]) if reference else None
        self.history: list[tuple[Node, str]] = []
        self.ran = 0
        # What is told of each finding: (kind, detail, statement, history).
        self.settled = mode != "wild"

    # -- life --------------------------------------------------------------------------------------------------------
    def fresh(self) -> None:
        """A new database on all servers."""
        for c in self.connections():
            c.drop()
            setup, c.setup = c.setup, []
            c.run(f"SET max_statement_time = {LIMIT}")
            c.run("SET lock_wait_timeout = 3")
            c.run(f"DROP DATABASE IF EXISTS {self.database}")
            answer = c.run(f"CREATE DATABASE {self.database}")
            c.drop()
            c.setup = setup
            if isinstance(answer, Error):
                raise Finding("new database", shown(answer))

    def connections(self) -> list[Connection]:
        return [self.ours, *([self.theirs] if self.theirs else [])]

    def close(self) -> None:
        for c in self.connections():
            c.drop()

    def made(self) -> None:
        r = self.r
        self.makes = Expressions(r, self.settled)
        self.tables: list[Table] = []
        self.selects = Selects(r, self.makes, self.tables)
        self.changes = Changes(r, self.makes, self.selects, self.tables, self.settled)
        self.control = Control(r, self.makes, self.selects, self.changes, self.tables, self.database)

    def statements(self):
        """Pairs: a statement and how it is judged. What is sent back says whether it worked."""
        r = self.r
        self.made()
        self.makes.subquery = None
        for n in range(r.randint(2, 4)):
            name, temporary = f"t{n}", self.mode == "wild" and r.random() < 0.1
            for _ in range(6):
                table, node = create(r, name, self.makes, self.tables, self.settled, temporary)
                if (yield node, "definition"):
                    self.tables.append(table)
                    for _ in range(2):
                        yield rows(r, table, 1 + 10 * (_), r.choice([0, 3, 6, 10]) or 1), "change"
                    break
        if not self.tables:
            return
        self.makes.subquery = self.selects.subquery
        if self.mode != "self" and r.random() < 0.7:
            names = [f"d{n}" for n in range(r.randint(1, 3))]
            kinds = [r.choice(KINDS) for _ in names]
            if (yield plain("CREATE VIEW v1 AS ", self.selects.query(kinds, [], 1, names)), "definition"):
                self.tables.append(Table("v1", [Column(n, k, "") for n, k in zip(names, kinds)], view=True, keyed=False))
        for _ in range(self.count):
            x = r.random()
            if self.mode == "self" or self.mode in BUILDS and r.random() < 0.2:
                yield r.choice([self.partitioned, self.counted, self.hinted, self.viewed, self.bound])()
            elif self.mode in ("beside", *BUILDS):
                if x < 0.6:
                    yield self.selects.statement(), "select"
                elif x < 0.92:
                    yield self.changes.change(), "change"
                else:
                    node, then = self.changes.definition()
                    if (yield node, "definition"):
                        then()
            elif x < 0.4:
                yield self.selects.statement(), "alone"
            elif x < 0.6:
                yield self.changes.change(), "alone"
            elif x < 0.66:
                node, then = self.changes.definition()
                if (yield node, "alone"):
                    then()
            elif x < 0.67:
                yield self.control.deep(), "alone"
            elif x < 0.7:
                for _ in range(10):
                    yield self.control.calls(), "alone"
            elif x < 0.75:
                yield self.bound()
            else:
                yield self.control.statement(), "alone"

    def run(self, found, end: float) -> None:
        """Runs it all; `found(finding, statement, judged, history)` is told what is wrong."""
        self.fresh()
        source = self.statements()
        sent = None
        while time.monotonic() < end:
            try:
                node, judged = source.send(sent)
            except StopIteration:
                break
            self.ran += 1
            try:
                sent = self.judge(node, judged)
            except Finding as finding:
                sent = False
                if not found(self, finding, node, judged):
                    break
            self.history.append((node, judged))
        self.close()

    # -- judging -----------------------------------------------------------------------------------------------------
    def ask(self, sql: str, values: list | None = None):
        """The answer to a text, or to a prepared statement with these values."""
        began = time.monotonic()
        try:
            answer = self.ours.run(sql) if values is None else self.ours.prepared(sql, values)
        except Dead as e:
            raise self.death(str(e)) from None
        took = time.monotonic() - began
        if oracles.internal(answer):
            self.ours.drop()
            panic = self.server.panic()
            raise Finding(f"panic {panic}" if panic else f"internal error {answer.code}", shown(answer))
        # Many rows take long to be read here, too.
        if took > LIMIT + SLACK - 5 and not (isinstance(answer, Rows) and len(answer.rows) > 1000):
            raise Finding("slow", f"{took:.1f} s: {shown(answer)}")
        return answer

    def death(self, text: str) -> Finding:
        deadline = time.monotonic() + 1.0
        while time.monotonic() < deadline and self.server.alive():
            time.sleep(0.05)
        panic = self.server.panic()
        if not self.server.alive():
            return Finding("memory" if self.server.grown else f"death {panic}", text)
        if panic:
            return Finding(f"panic {panic}", text)
        return Finding("hang" if "no answer" in text else "lost", text)

    def judge(self, node: Node, judged: str) -> bool:
        """Runs the statement; whether it worked. Raises Finding."""
        if self.mode in BUILDS:
            return self.as_before(node, judged)
        sql = str(node)
        if judged.startswith("pair"):
            return self.equal(node)
        if judged == "bound":
            return self.as_bound(node)
        if judged == "alone" or self.theirs is None:
            return not isinstance(self.ask(sql), Error)
        if judged == "change":
            return self.judge_change(sql)
        ours, theirs = self.ask(sql), self.them(sql)
        how = oracles.beside(ours, theirs)
        if judged == "definition" and not how and not isinstance(ours, Error) and not isinstance(theirs, Error):
            if how := self.contents():
                raise Finding("table", how)
            return True
        if how:
            raise Finding(how, f"Narwal: {shown(ours)}\nMariaDB: {shown(theirs)}")
        if judged == "definition" and isinstance(ours, Error) != isinstance(theirs, Error):
            # Refused by one, as documented, or given up: they part here.
            raise Finding("parted", "")
        return not isinstance(ours, Error) and not isinstance(theirs, Error)

    def them(self, sql: str, values: list | None = None):
        try:
            return self.theirs.run(sql) if values is None else self.theirs.prepared(sql, values)
        except Dead as e:
            raise Finding("reference", str(e)) from None

    def judge_change(self, sql: str) -> bool:
        for c in self.connections():
            c.run("BEGIN")
        ours, theirs = self.ask(sql), self.them(sql)
        how = oracles.beside(ours, theirs)
        both = not isinstance(ours, Error) and not isinstance(theirs, Error)
        if not how and both:
            how = self.contents()
        end = "COMMIT" if both and not how else "ROLLBACK"
        for c in self.connections():
            c.run(end)
        if how:
            raise Finding(how.split("\n")[0], f"{how}\nNarwal: {shown(ours)}\nMariaDB: {shown(theirs)}")
        return both

    def contents(self, same=oracles.same_rows) -> str:
        for t in self.tables:
            if t.view:
                continue
            ours, theirs = self.ask(f"SELECT * FROM {t.name}"), self.them(f"SELECT * FROM {t.name}")
            if isinstance(ours, Rows) and isinstance(theirs, Rows) and not same(ours.rows, theirs.rows):
                a, b = oracles.bag(ours.rows), oracles.bag(theirs.rows)
                return f"table\n{t.name} only here: {[x for x in a if x not in b][:3]}\n  only there: {[x for x in b if x not in a][:3]}"
        return ""

    # -- one build against another -----------------------------------------------------------------------------------
    def as_before(self, node: Node, judged: str) -> bool:
        """Both builds give the same answers to a statement, or to each form of it, and the same tables behind it."""
        if isinstance(node, Bound):
            sql, values = node.prepared()
            worked = self.same_from_both(node.text()) and self.same_from_both(sql, values)
        else:
            forms = node.parts if judged in ("pair", "bound") else [node]
            worked = all([self.same_from_both(str(form)) for form in forms])
        if self.mode == "answers" and not worked and judged in ("change", "definition"):
            # One of them may have done it: they part here.
            raise Finding("parted", "")
        if worked and judged in ("change", "definition"):
            exactly = lambda one, other: sorted(one, key=repr) == sorted(other, key=repr)  # noqa: E731
            if how := self.contents(exactly):
                raise Finding("table", how)
        return worked

    def same_from_both(self, sql: str, values: list | None = None) -> bool:
        ours, theirs = self.ask(sql, values), self.them(sql, values)
        how = oracles.unequal(ours, theirs)
        if self.mode == "answers":
            if isinstance(ours, Error) or isinstance(theirs, Error):
                return False
            how = how if how in ("other rows", "another kind of answer", "another affected") else ""
        if how:
            raise Finding(how, f"here: {shown(ours)}\nthere: {shown(theirs)}")
        return not isinstance(ours, Error)

    # -- one server against itself -----------------------------------------------------------------------------------
    def equal(self, node: Node) -> bool:
        """Two forms of one query: `node.parts` are both."""
        one, other = [self.ask(str(part)) for part in node.parts]
        if isinstance(one, Rows) and isinstance(other, Rows) and not oracles.same_rows(one.rows, other.rows):
            raise Finding(f"forms differ", f"one: {shown(one)}\nother: {shown(other)}")
        return True

    def parts(self):
        self.selects.aliases = self.selects.depth = 0
        source, scope = self.selects.source(1)
        return source, scope, self.makes.make("bool", scope, 3)

    def partitioned(self):
        source, scope, p = self.parts()
        items = plain(self.makes.make(self.r.choice(KINDS), scope, 1), " x0, ", scope[0][0])
        whole = plain("SELECT ", items, " FROM ", source)
        parts = [plain("SELECT ", items, " FROM ", source, " WHERE ", q) for q in (p, plain("NOT (", p, ")"), plain("(", p, ") IS NULL"))]
        return Node("x", whole, Node("x", *parts, separator=" UNION ALL "), separator=";\n"), "pair"

    def counted(self):
        source, _, p = self.parts()
        return Node("x", plain("SELECT count(*) FROM ", source, " WHERE ", p), plain("SELECT coalesce(sum((", p, ") IS TRUE), 0) FROM ", source), separator=";\n"), "pair"

    def hinted(self):
        """The same without any index."""
        indexes = {t.name: ", ".join((["PRIMARY"] if False else []) + t.indexes) for t in self.tables}
        source, scope, p = self.parts()
        if self.r.random() < 0.6:
            # What an index is likely to answer.
            column, kind = self.r.choice(scope)
            value = self.makes.make(kind if self.r.random() < 0.7 else "any", [], 1)
            p = self.r.choice([
                lambda: expr("(", column, self.r.choice([" = ", " < ", " >= ", " <=> ", " <> "]), value, ")"),
                lambda: expr("(", column, " IN (", value, ", ", self.makes.make(kind, [], 0), "))"),
                lambda: expr("(", column, " BETWEEN ", value, " AND ", self.makes.make(kind, [], 0), ")"),
                lambda: expr("(", column, " LIKE ", value, ")"),
                lambda: expr("(", column, self.r.choice([" IS NULL)", " IS NOT NULL)"])),
                lambda: expr("((", column, " = ", value, ") OR (", column, " = ", self.makes.make(kind, [], 0), "))"),
            ])()  # fmt: skip
        query = plain("SELECT count(*), sum(crc32(concat_ws('|'", *[f", {c}" for c, _ in scope], "))) FROM ", source, " WHERE ", p)
        return Node("x", query, Without(query, indexes), separator=";\n"), "pair"

    def viewed(self):
        names = ["d0", "d1"]
        query = self.selects.query([self.r.choice(KINDS) for _ in names], [], 1, names)
        return Node("x", plain("CREATE OR REPLACE VIEW v0 AS ", query), query, plain("SELECT * FROM v0"), separator=";\n"), "bound"

    def bound(self):
        """Text and binary of a statement with values."""
        values = [self.r.choice([None, 0, 1, -1, 5, 2**31, -(2**63) + 1, 2**63 - 1, 1.5, -0.0, 1e300, "", "a", "é", "12", "3x", "2020-01-31", "0", "10:20:30", "😀"]) for _ in range(2)]
        self.selects.aliases = self.selects.depth = 0
        source, scope = self.selects.source(1)
        marked = [("?0?", "any"), ("?1?", "any")]
        item = self.makes.make(self.r.choice([*KINDS, "any"]), [*scope, *marked, *marked * (len(scope) // 3)], 3)
        p = self.makes.make("bool", [*scope, *marked * (1 + len(scope) // 3)], 2)
        return Bound(plain("SELECT ", item, " AS x FROM ", source, optional(" WHERE ", p)), values), "bound"

    def as_bound(self, node: Node) -> bool:
        if not isinstance(node, Bound):
            made = self.ask(str(node.parts[0]))
            if isinstance(made, Error):
                return False
            one, other = self.ask(str(node.parts[1])), self.ask(str(node.parts[2]))
        else:
            one = self.ask(node.text())
            sql, values = node.prepared()
            try:
                other = self.ours.prepared(sql, values)
            except Dead as e:
                raise self.death(str(e)) from None
            if oracles.internal(other):
                self.ours.drop()
                raise Finding(f"panic {self.server.panic()}", shown(other))
            if isinstance(other, Rows):
                other.rows = [decoded(other.columns, row) for row in other.rows]
        if isinstance(one, Rows) and isinstance(other, Rows) and self.settled and not oracles.same_rows(one.rows, other.rows):
            raise Finding("bound differs" if isinstance(node, Bound) else "view differs", f"one: {shown(one)}\nother: {shown(other)}")
        return True


class Without(Node):
    """A query that may use no index."""

    def __init__(self, query: Node, indexes: dict[str, str]):
        super().__init__("x", query)
        self.indexes = indexes

    def __str__(self) -> str:
        def hint(m):
            names = self.indexes.get(m[1])
            return f"{m[1]} {m[2]} IGNORE INDEX ({names})" if names else m[0]

        return HINTABLE.sub(hint, str(self.parts[0]))


class Bound(Node):
    """A query with marks `?n?` for values."""

    MARK = re.compile(r"\?(\d)\?")

    def __init__(self, query: Node, values: list):
        super().__init__("x", query)
        self.values = values

    @staticmethod
    def literal(value) -> str:
        match value:
            case None:
                return "NULL"
            case float():
                return f"{value:e}"
            case str():
                return f"'{value}'"
        return str(value)

    def text(self) -> str:
        return self.MARK.sub(lambda m: f"{self.literal(self.values[int(m[1])])}", super().__str__())

    def prepared(self) -> tuple[str, list]:
        sql = super().__str__()
        return self.MARK.sub("?", sql), [self.values[int(m[1])] for m in self.MARK.finditer(sql)]

    def __str__(self) -> str:
        sql, values = self.prepared()
        return f"{sql} /* values: {values} */"
