"""Seeded random statement histories in the subset of SQL that both servers answer alike.

What is left out on purpose has more than one right answer: order without ORDER BY, LIMIT without a unique order,
which of several values equal by collation is shown, sums of floating-point numbers, gaps in AUTO_INCREMENT.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

WORDS = ["Alpha", "beta", "GAMMA", "delta-long-word", "", "ñandu", "Ωmega", "x", "yy", "10", "007", "a'quote", "per%cent", "under_score"]
LONG = "0123456789" * 8


@dataclass
class Statement:
    sql: str
    ordered: bool = True


@dataclass
class Column:
    name: str
    kind: str
    null: bool = True


TABLES = {
    "t1": (
        """CREATE TABLE t1 (id INT NOT NULL PRIMARY KEY, a INT, b BIGINT UNSIGNED, c VARCHAR(30), d DECIMAL(10,2),
        e DOUBLE, f DATETIME(3), g DATE, h TIME, i TEXT, j TINYINT NOT NULL DEFAULT 7,
        KEY ka (a), KEY kc (c), UNIQUE KEY ub (b))""",
        [
            Column("a", "int"), Column("b", "ubigint"), Column("c", "word"), Column("d", "decimal"), Column("e", "double"),
            Column("f", "datetime"), Column("g", "date"), Column("h", "time"), Column("i", "word"), Column("j", "tiny", False),
        ],
    ),
    "t2": (
        """CREATE TABLE t2 (id BIGINT UNSIGNED NOT NULL, s CHAR(10) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL DEFAULT 'dflt',
        v VARBINARY(20), y SMALLINT UNSIGNED, ts TIMESTAMP(6) NULL DEFAULT NULL, x FLOAT, bl BLOB, m MEDIUMINT,
        PRIMARY KEY (id), KEY ksy (s, y), KEY kv (v))""",
        [
            Column("s", "word", False), Column("v", "binary"), Column("y", "usmall"), Column("ts", "timestamp"), Column("x", "float"),
            Column("bl", "binary"), Column("m", "medium"),
        ],
    ),
    "t3": (
        """CREATE TABLE t3 (id INT NOT NULL, p VARCHAR(20) NOT NULL, q INT NOT NULL, r DECIMAL(20,6), w VARCHAR(300),
        PRIMARY KEY (p, q), KEY kid (id), KEY kr (r, id))""",
        [Column("p", "word", False), Column("q", "small", False), Column("r", "decimal"), Column("w", "word")],
    ),
}  # fmt: skip
KEYS = {"t1": ["id"], "t2": ["id"], "t3": ["p", "q"]}


def quote(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


class History:
    """Makes statements one by one; knows only roughly what the tables hold."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.in_transaction = False
        self.savepoints: list[str] = []
        self.indexes: set[str] = set()

    # -- values ------------------------------------------------------------------------------------------------------
    def value(self, column: Column, wild: float = 0.03) -> str:
        r = self.random
        if r.random() < 0.1:
            return "NULL" if column.null or r.random() < wild else self.value(column, wild)
        bad = r.random() < wild
        match column.kind:
            case "int":
                return str(r.choice([2**31, -(2**31) - 1, 10**15]) if bad else r.choice([0, 1, -1, 2**31 - 1, -(2**31), r.randint(-50, 50)]))
            case "small":
                return str(r.randint(0, 5))
            case "tiny":
                return str(r.choice([128, -129, 1000]) if bad else r.choice([0, 127, -128, r.randint(-9, 9)]))
            case "usmall":
                return str(r.choice([65536, -1]) if bad else r.choice([0, 65535, r.randint(0, 20)]))
            case "medium":
                return str(r.choice([2**23, -(2**23) - 1]) if bad else r.choice([2**23 - 1, -(2**23), r.randint(-99, 99)]))
            case "ubigint":
                return str(r.choice([2**64, -1]) if bad else r.choice([2**64 - 1, 2**63, r.randint(0, 300)]))
            case "decimal":
                return r.choice(["'abc'", "1e30", "-1e30"]) if bad else r.choice(["0", "-0.01", "12345.67", f"{r.randint(-999, 999)}.{r.randint(0, 99):02}", f"{r.randint(-9, 9)}.{r.randint(0, 9999):04}"])
            case "double":
                return "'x1'" if bad else r.choice(["0", "1.5", "-2.25", "1e20", "1.5e-10", "3.14159265358979", str(r.randint(-1000, 1000) / 8)])
            case "float":
                return "'x1'" if bad else r.choice(["0", "1.5", "-2.25", "1e10", str(r.randint(-1000, 1000) / 8)])
            case "datetime" | "timestamp":
                if bad:
                    return r.choice(["'2024-02-30 00:00:00'", "'not a date'", "'2024-13-01 00:00:00'"])
                return f"'20{r.randint(10, 29)}-{r.randint(1, 12):02}-{r.randint(1, 28):02} {r.randint(0, 23):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}{r.choice(['', '.5', '.123456', '.9999'])}'"
            case "date":
                return r.choice(["'2023-02-29'", "'abc'"]) if bad else f"'{r.randint(1900, 2100)}-{r.randint(1, 12):02}-{r.randint(1, 28):02}'"
            case "time":
                return r.choice(["'900:00:00'", "'12:99:00'"]) if bad else f"'{r.choice(['', '-'])}{r.randint(0, 200):02}:{r.randint(0, 59):02}:{r.randint(0, 59):02}'"
            case "binary":
                return quote(LONG) if bad else "X'" + bytes(r.choice([0, 1, 0x20, 0x41, 0x61, 0xFF]) for _ in range(r.randint(0, 6))).hex() + "'"
            case _:
                return quote(LONG * 5) if bad else quote(r.choice(WORDS))

    def identity(self) -> int:
        return self.random.randint(1, 60)

    # -- conditions --------------------------------------------------------------------------------------------------
    def condition(self, table: str, depth: int = 2) -> str:
        r = self.random
        if depth and r.random() < 0.4:
            joint = r.choice(["AND", "OR", "AND", "OR", "XOR"])
            left, right = self.condition(table, depth - 1), self.condition(table, depth - 1)
            return f"({left} {joint} {right})" if r.random() < 0.9 else f"NOT ({left} {joint} {right})"
        if r.random() < 0.35:
            low = self.identity()
            return r.choice([
                f"id = {low}", f"id BETWEEN {low} AND {low + r.randint(0, 15)}", f"id > {low}", f"id <= {low}",
                f"id IN ({low}, {self.identity()}, {self.identity()})", f"id <> {low}", f"id % 3 = {r.randint(0, 2)}",
            ])  # fmt: skip
        column = r.choice(TABLES[table][1])
        if r.random() < 0.15:
            return f"{column.name} IS {r.choice(['', 'NOT '])}NULL"
        value = self.value(column, wild=0)
        if column.kind in ("float", "double"):
            return f"{column.name} {r.choice(['<', '>'])} {r.randint(-100, 100)}"
        if column.kind == "word" and r.random() < 0.3:
            pattern = r.choice(["a%", "%a", "%e%", "_", "yy", "%\\_%", "GAM%", "%mm%"])
            return f"{column.name} {r.choice(['', 'NOT '])}LIKE '{pattern}'"
        return r.choice([
            f"{column.name} = {value}", f"{column.name} <=> {value}", f"{column.name} < {value}", f"{column.name} >= {value}",
            f"{column.name} <> {value}", f"{column.name} IN ({value}, {self.value(column, 0)})",
            f"{column.name} BETWEEN {value} AND {self.value(column, 0)}",
        ])  # fmt: skip

    # -- statements --------------------------------------------------------------------------------------------------
    def next(self) -> Statement:
        r = self.random
        kind = r.random()
        if kind < 0.05:
            return self.transaction()
        if kind < 0.06 and not self.in_transaction:
            return self.ddl()
        if kind < 0.36:
            return self.insert()
        if kind < 0.51:
            return self.update()
        if kind < 0.58:
            return self.delete()
        return self.select()

    def transaction(self) -> Statement:
        r = self.random
        if not self.in_transaction:
            self.in_transaction = True
            return Statement(r.choice(["BEGIN", "START TRANSACTION"]))
        kind = r.random()
        if kind < 0.3:
            name = r.choice(["s1", "s2", "s3"])
            self.savepoints = [s for s in self.savepoints if s != name] + [name]
            return Statement(f"SAVEPOINT {name}")
        if kind < 0.5 and self.savepoints:
            return Statement(f"ROLLBACK TO SAVEPOINT {r.choice(self.savepoints)}")
        if kind < 0.55 and self.savepoints:
            return Statement(f"RELEASE SAVEPOINT {r.choice(self.savepoints)}")
        self.in_transaction = False
        self.savepoints = []
        return Statement(r.choice(["COMMIT", "COMMIT", "ROLLBACK"]))

    def ddl(self) -> Statement:
        r = self.random
        if r.random() < 0.2:
            return Statement(f"TRUNCATE TABLE {r.choice(list(TABLES))}")
        table, column = r.choice([("t1", "d"), ("t1", "f"), ("t1", "g, h"), ("t2", "y"), ("t2", "m, s"), ("t3", "w(10)"), ("t3", "q")])
        name = f"x_{table}_{column[0]}"
        if name in self.indexes:
            self.indexes.discard(name)
            return Statement(f"DROP INDEX {name} ON {table}")
        self.indexes.add(name)
        return Statement(f"CREATE INDEX {name} ON {table} ({column})")

    def row(self, table: str) -> str:
        columns = TABLES[table][1]
        return f"({self.identity()}, " + ", ".join(self.value(c) for c in columns) + ")"

    def insert(self) -> Statement:
        r = self.random
        table = r.choice(list(TABLES))
        columns = TABLES[table][1]
        names = ", ".join(["id", *(c.name for c in columns)])
        kind = r.random()
        if kind < 0.08:
            source = r.choice([t for t in TABLES if t != table])
            low = self.identity()
            where = f"id BETWEEN {low} AND {low + 3}"
            if table == "t1":
                return Statement(f"INSERT IGNORE INTO t1 (id, j) SELECT id + 100, 3 FROM {source} WHERE {where} ORDER BY {', '.join(KEYS[source])}")
            if table == "t2":
                return Statement(f"INSERT IGNORE INTO t2 (id, y) SELECT id + 200, id % 7 FROM {source} WHERE {where} ORDER BY {', '.join(KEYS[source])}")
            return Statement(f"REPLACE INTO t3 (id, p, q) SELECT id, 'from', id FROM {source} WHERE {where} ORDER BY {', '.join(KEYS[source])}")
        if kind < 0.16:
            chosen = r.sample(columns, k=min(3, len(columns)))
            required = [c for c in columns if not c.null and c.name not in ("j", "s") and c not in chosen]
            # In the table's order: the first value that does not fit is the same then.
            listed = [c for c in columns if c in chosen or c in required]
            sets = ", ".join([f"id = {self.identity()}", *(f"{c.name} = {self.value(c)}" for c in listed)])
            return Statement(f"INSERT INTO {table} SET {sets}")
        rows = ", ".join(self.row(table) for _ in range(r.choice([1, 1, 1, 2, 3, 6])))
        if kind < 0.45:
            return Statement(f"INSERT INTO {table} ({names}) VALUES {rows}")
        if kind < 0.65:
            return Statement(f"INSERT IGNORE INTO {table} ({names}) VALUES {rows}")
        if kind < 0.85:
            column = r.choice([c for c in columns if c.name not in ("b", "p", "q")])
            change = r.choice([
                f"{column.name} = VALUES({column.name})",
                f"{column.name} = {self.value(column)}",
                f"id = {table}.id" if table == "t3" else f"{column.name} = {column.name}",
            ])  # fmt: skip
            return Statement(f"INSERT INTO {table} ({names}) VALUES {rows} ON DUPLICATE KEY UPDATE {change}")
        return Statement(f"REPLACE INTO {table} ({names}) VALUES {rows}")

    def update(self) -> Statement:
        r = self.random
        table = r.choice(list(TABLES))
        columns = [c for c in TABLES[table][1] if c.name not in ("b", "p", "q")]
        chosen = r.sample(columns, k=r.choice([1, 1, 2]))
        sets = []
        for c in chosen:
            if c.kind in ("int", "tiny", "medium", "usmall", "decimal") and r.random() < 0.4:
                sets.append(f"{c.name} = {c.name} {r.choice(['+', '-', '*'])} {r.randint(0, 3)}")
            elif c.kind == "word" and r.random() < 0.2:
                sets.append(f"{c.name} = CONCAT({c.name}, '+')")
            else:
                sets.append(f"{c.name} = {self.value(c)}")
        if r.random() < 0.1:
            # Keys only one row at a time: whether several collide on the way depends on the order.
            if table == "t3":
                return Statement(f"UPDATE t3 SET p = {self.value(TABLES['t3'][1][0])}, id = {self.identity()} WHERE p = {quote(r.choice(WORDS))} AND q = {r.randint(0, 5)}")
            return Statement(f"UPDATE {table} SET id = {self.identity()} WHERE id = {self.identity()}")
        order = f" ORDER BY {', '.join(KEYS[table])}{r.choice(['', ' DESC'])}"
        limit = f"{order} LIMIT {r.randint(0, 4)}" if r.random() < 0.25 else ""
        ignore = "IGNORE " if r.random() < 0.15 else ""
        # A fixed order, so that the first row that fails is the same.
        return Statement(f"UPDATE {ignore}{table} SET {', '.join(sets)} WHERE {self.condition(table)}{limit or order}")

    def delete(self) -> Statement:
        r = self.random
        table = r.choice(list(TABLES))
        limit = f" ORDER BY {', '.join(KEYS[table])}{r.choice(['', ' DESC'])} LIMIT {r.randint(0, 3)}" if r.random() < 0.5 else ""
        where = f"id = {self.identity()}" if r.random() < 0.5 else f"{self.condition(table)} AND id % 4 = {r.randint(0, 3)}"
        return Statement(f"DELETE FROM {table} WHERE {where}{limit}")

    EXPRESSIONS = {
        "t1": [
            "a + 1", "a * 2 - j", "-a", "d * 3", "d / 7", "d + a", "a DIV 3", "a % 5", "d % 2.5", "ABS(a)", "ROUND(d, 1)", "ROUND(d)",
            "FLOOR(d)", "CEIL(d)", "TRUNCATE(d, 1)", "IFNULL(a, 0)", "COALESCE(c, i, '-')", "CONCAT(c, '-', a)", "CONCAT_WS('/', a, c, d)",
            "LENGTH(c)", "CHAR_LENGTH(c)", "UPPER(c)", "LOWER(c)", "LEFT(c, 3)", "RIGHT(c, 2)", "SUBSTRING(c, 2, 3)", "REPLACE(c, 'a', 'b')",
            "REVERSE(c)", "TRIM(c)", "LPAD(c, 8, '*')", "HEX(c)", "MD5(c)", "IF(a > 0, 'p', 'n')", "IF(a > d, a, d)", "a IS NULL",
            "CASE WHEN a < 0 THEN 'neg' WHEN a = 0 THEN 'zero' ELSE c END", "CASE j WHEN 7 THEN 1 WHEN 3 THEN 2 END", "a BETWEEN 0 AND 10",
            "c LIKE 'a%'", "a IN (0, 1, NULL)", "NOT a", "a AND j", "a OR j", "a XOR j", "a <=> NULL", "a = j", "YEAR(f)", "MONTH(g)", "DAY(g)",
            "DATE(f)", "HOUR(h)", "MINUTE(f)", "SECOND(f)", "DATEDIFF(g, '2024-01-01')", "DATE_ADD(g, INTERVAL 1 MONTH)",
            "DATE_SUB(f, INTERVAL 90 MINUTE)", "g + INTERVAL 3 DAY", "DATE_FORMAT(f, '%Y/%m/%d %H:%i')", "a & 7", "a | 8", "a ^ 3", "b >> 2",
            "GREATEST(a, j)", "LEAST(a, d)", "NULLIF(a, 1)", "CAST(a AS CHAR)", "CAST(d AS SIGNED)", "CAST(g AS CHAR)", "SIGN(d)", "a = '1'",
            "d > 10", "f > '2020-01-01'", "g < '2000-06-01 00:00:00'", "e", "e * 2", "e > 1", "b", "b + 0", "h", "f", "g", "1 + 1", "'lit'", "NULL", "1.50",
            "TRUE", "a / 4", "INSTR(c, 'a')", "LOCATE('e', c)", "REPEAT(j, 2)", "ASCII(c)", "FIELD(j, 1, 7, 3)", "POW(j, 2)", "MOD(a, 4)",
        ],
        "t2": [
            "s", "v", "HEX(v)", "LENGTH(v)", "y + 1", "y * 1000", "ts", "DATE(ts)", "x", "x + 1", "HEX(bl)", "m * m", "m - y", "CONCAT(s, '|')",
            "LENGTH(s)", "UPPER(s)", "s = 'ALPHA'", "s LIKE 'A%'", "v = 'A'", "v < 'a'", "IFNULL(y, m)", "COALESCE(m, y, 0)", "y / 3", "m DIV 7", "m % 7",
            "-y", "id + y", "ts > '2020-01-01'", "TIME(ts)", "y IN (1, 2, 65535)", "CAST(y AS CHAR)", "ABS(m)",
        ],
        "t3": [
            "p", "q", "r", "r * 2", "r / 3", "ROUND(r, 3)", "w", "LENGTH(w)", "CONCAT(p, q)", "q - 10", "q * r", "IF(r IS NULL, q, r)", "p = 'alpha'",
            "id + q", "CAST(r AS CHAR)", "r + 0.1", "FLOOR(r)", "UPPER(w)",
        ],
    }  # fmt: skip
    AGGREGATES = {
        "t1": [
            "COUNT(*)", "COUNT(a)", "SUM(a)", "AVG(a)", "MIN(a)", "MAX(a)", "SUM(d)", "AVG(d)", "MIN(d)", "MAX(f)", "MIN(g)", "MAX(h)", "COUNT(DISTINCT a)",
            "SUM(a + j)", "SUM(a) + 1", "MAX(b)", "COUNT(DISTINCT c)", "SUM(DISTINCT j)", "MIN(e)", "MAX(e)", "SUM(a > 0)", "COUNT(*) * 2", "MAX(c)", "MIN(c)",
            "BIT_OR(j)",
        ],
        "t2": ["COUNT(*)", "SUM(y)", "AVG(y)", "MIN(s)", "MAX(v)", "MIN(ts)", "COUNT(DISTINCT y)", "SUM(m)", "MAX(x)", "AVG(m)", "COUNT(bl)"],
        "t3": ["COUNT(*)", "SUM(q)", "SUM(r)", "AVG(r)", "MIN(r)", "MAX(q)", "COUNT(DISTINCT r)", "COUNT(w)"],
    }  # fmt: skip
    GROUPS = {"t1": ["a", "j", "YEAR(f)", "a % 3", "g", "d"], "t2": ["y", "s", "v", "y % 2"], "t3": ["q", "r", "id"]}

    def select(self) -> Statement:
        r = self.random
        table = r.choice(list(TABLES))
        key = ", ".join(KEYS[table])
        where = f" WHERE {self.condition(table)}" if r.random() < 0.8 else ""
        kind = r.random()
        if kind < 0.15:
            aggregates = ", ".join(r.sample(self.AGGREGATES[table], k=3))
            return Statement(f"SELECT {aggregates} FROM {table}{where}")
        if kind < 0.35:
            group = r.choice(self.GROUPS[table])
            aggregates = ", ".join(r.sample(self.AGGREGATES[table], k=2))
            having = " HAVING COUNT(*) > 1" if r.random() < 0.25 else ""
            order = r.choice(["", " ORDER BY 1", " ORDER BY k DESC", " ORDER BY COUNT(*), k"])
            limit = f" LIMIT {r.randint(1, 5)}" if order and r.random() < 0.3 else ""
            return Statement(f"SELECT {group} AS k, {aggregates} FROM {table}{where} GROUP BY {r.choice([group, 'k', '1'])}{having}{order}{limit}", bool(order))
        if kind < 0.45:
            column = r.choice(self.GROUPS[table])
            order = f" ORDER BY {column}" if r.random() < 0.5 else ""
            return Statement(f"SELECT DISTINCT {column} FROM {table}{where}{order}", bool(order))
        if kind < 0.5:
            return Statement(f"SELECT {key} FROM {table}{where} ORDER BY {key} {r.choice(['', 'FOR UPDATE', 'LOCK IN SHARE MODE'])}")
        expressions = r.sample(self.EXPRESSIONS[table], k=r.randint(1, 4))
        listed = ", ".join([key, *expressions]) if r.random() < 0.85 else "*"
        if r.random() < 0.3:
            return Statement(f"SELECT {listed} FROM {table}{where}", False)
        first = ""
        if r.random() < 0.5:
            sortable = [c.name for c in TABLES[table][1] if c.kind not in ("word", "float", "double")]
            first = f"{r.choice(sortable)}{r.choice(['', ' DESC', ' ASC'])}, "
        limit = r.choice(["", "", f" LIMIT {r.randint(0, 9)}", f" LIMIT {r.randint(0, 5)}, {r.randint(1, 5)}", f" LIMIT {r.randint(1, 5)} OFFSET {r.randint(0, 9)}"])
        direction = r.choice(["", " DESC"])
        keys = ", ".join(k + direction for k in KEYS[table])
        return Statement(f"SELECT {listed} FROM {table}{where} ORDER BY {first}{keys}{limit}")
