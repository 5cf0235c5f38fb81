"""Runs a file on MariaDB and writes down what was done and answered: a list of events that can be played to another server.

Loops, conditions and variables are decided here, by MariaDB's answers. An event is a dict:
  do       sql, send, reap, connect, connection, disconnect, query (of `let`), wait (for a condition), write, remove
  text     the statement, with marks (values.py)       answer   what MariaDB said, if it was asked
  line     of the file or of the included one          sorted, columns, quiet   how answers are to be looked at
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from pathlib import Path

from corpus import language, left_out, values
from corpus.wire import Lost, SqlError, Wire

SUITES = Path("/usr/share/mysql/mysql-test")
MAX_INCLUDES = 20
MAX_EVENTS = 30_000
KEPT_ROWS = 40


class End(Exception):
    """The file ends here: `skip`, `exit`, `die`, or its time is over."""


class Recorder:
    """One run of one file. `port`: a MariaDB with a fresh state."""

    def __init__(self, path: Path, port: int, folder: Path, seconds: float, protocol: str):
        self.path, self.port, self.folder, self.protocol = path, port, folder, protocol
        self.end = time.monotonic() + seconds
        self.events: list[dict] = []
        self.vars: dict[str, str] = dict(ENVIRONMENT)
        self.connections: dict[str, Wire] = {}
        self.current = "default"
        self.pending: set[str] = set()
        self.queries = 0
        self.includes = 0
        # What holds for the next statement, and until it is switched.
        self.once: dict = {}
        self.send_next = False
        self.result_log = True
        self.ended = "end of file"

    def run(self) -> list[dict]:
        self._open("default", "root", "", "test")
        try:
            self._block(language.parse(self.path.read_bytes().decode("latin1")), self.path)
        except End as e:
            self.ended = str(e)
        except RecursionError:
            self.ended = "nested too deep"
        for wire in self.connections.values():
            wire.drop()
        return self.events

    # -- steps -----------------------------------------------------------------------------------------------------
    def _block(self, steps: list[language.Step], where: Path) -> None:
        for step in steps:
            if time.monotonic() > self.end:
                raise End("time is over")
            if len(self.events) > MAX_EVENTS:
                raise End("too many statements")
            method = getattr(self, "_do_" + step.name, None)
            if method:
                method(step, where)

    def _do_while(self, step, where) -> None:
        turns = 0
        while self._true(step.text) and turns < 20_000:
            turns += 1
            self._block(step.body, where)

    def _do_if(self, step, where) -> None:
        if self._true(step.text):
            self._block(step.body, where)

    def _do_sql(self, step, where) -> None:
        self._statement(step.text, step, where)

    def _do_query(self, step, where) -> None:
        self._statement(step.text, step, where)

    _do_query_vertical = _do_query_horizontal = _do_query

    def _do_eval(self, step, where) -> None:
        self._statement(self._expand(step.text), step, where)

    _do_evalp = _do_eval_p = _do_eval

    def _do_source(self, step, where) -> None:
        name = values.plain(self._expand(step.text), "/nowhere").strip().strip("'\"").rstrip(";").strip()
        if left_out.include(name):
            if "diff_tables" not in name:
                self.vars.pop("$wait_condition", None)
            return
        if name.endswith("/wait_condition.inc") or name.endswith("/wait_condition_with_debug.inc"):
            return self._wait(step)
        path = next((p for p in (SUITES / name, where.parent / name, self.path.parent / name) if p.is_file()), None)
        if path is None or self.includes >= MAX_INCLUDES:
            return
        self.includes += 1
        self._block(language.parse(path.read_bytes().decode("latin1")), path)
        self.includes -= 1

    def _do_let(self, step, where) -> None:
        found = re.match(r"\$?(\w+)\s*=\s*(.*)$", step.text, re.S)
        if found:
            self.vars["$" + found.group(1)] = self._value(found.group(2).strip(), step)

    def _do_inc(self, step, where) -> None:
        self._add(step.text, 1)

    def _do_dec(self, step, where) -> None:
        self._add(step.text, -1)

    def _do_skip(self, step, where) -> None:
        raise End("skipped: " + step.text[:80])

    def _do_exit(self, step, where) -> None:
        raise End("exit")

    def _do_die(self, step, where) -> None:
        raise End("die: " + step.text[:80])

    def _do_sleep(self, step, where) -> None:
        time.sleep(min(number(self._expand(step.text)), 2))

    _do_real_sleep = _do_sleep

    def _do_delimiter(self, step, where) -> None:
        """The reader has followed it."""

    def _do_sorted_result(self, step, where) -> None:
        self.once["sorted"] = True

    def _do_replace_column(self, step, where) -> None:
        self.once["columns"] = [int(n) for n in self._expand(step.text).split()[::2] if n.isdigit()]

    def _do_replace_regex(self, step, where) -> None:
        self.once["regex"] = regexes(values.plain(self._expand(step.text)))

    def _do_replace_result(self, step, where) -> None:
        words = values.plain(self._expand(step.text)).split()
        self.once["replace"] = [[a, b] for a, b in zip(words[::2], words[1::2])]

    def _do_disable_result_log(self, step, where) -> None:
        self.result_log = False

    def _do_enable_result_log(self, step, where) -> None:
        self.result_log = True

    def _do_disable_ps_protocol(self, step, where) -> None:
        self.vars["$no_ps"] = "1"

    def _do_enable_ps_protocol(self, step, where) -> None:
        self.vars.pop("$no_ps", None)

    # -- connections -----------------------------------------------------------------------------------------------
    def _do_connect(self, step, where) -> None:
        parts = [p.strip().strip("'\"") for p in values.plain(self._expand(step.text)).strip("() ").split(",")]
        parts += [""] * (5 - len(parts))
        name, _, user, password, database = parts[:5]
        database = {"": "test", "*NO-ONE*": ""}.get(database, database)
        self._open(name, user or "root", password, database, step.line)

    def _open(self, name: str, user: str, password: str, database: str, line: int = 0) -> None:
        event = {"do": "connect", "name": name, "user": user, "password": password, "database": database, "line": line}
        self.events.append(event)
        try:
            self.connections[name] = self._wire(user, password, database)
            self.current = name
        except SqlError as e:
            event["answer"] = {"sets": [], "error": [e.code, str(e)]}
        except Lost as e:
            event["answer"] = {"sets": [], "lost": str(e)}

    def _wire(self, user: str, password: str, database: str) -> Wire:
        return Wire(self.port, user, password, database, 60, lambda name: readable(name, self.folder))

    def _do_connection(self, step, where) -> None:
        name = values.plain(self._expand(step.text)).strip()
        if name in self.connections:
            self.current = name
            self.events.append({"do": "connection", "name": name})

    def _do_disconnect(self, step, where) -> None:
        name = values.plain(self._expand(step.text)).strip()
        if name in self.connections:
            self.connections.pop(name).close()
            self.pending.discard(name)
            self.events.append({"do": "disconnect", "name": name})

    _do_dirty_close = _do_disconnect

    def _do_send(self, step, where) -> None:
        self._send_or_next(step.text, step)

    def _do_send_eval(self, step, where) -> None:
        self._send_or_next(self._expand(step.text), step)

    def _send_or_next(self, text: str, step) -> None:
        """A word without a statement means the one that follows."""
        if text.strip():
            self._send(text, step)
        else:
            self.send_next = True

    def _send(self, text: str, step) -> None:
        wire = self.connections.get(self.current)
        if wire and self.current not in self.pending and not left_out.statement(text):
            try:
                wire.send(values.plain(text, str(self.folder)))
                self.pending.add(self.current)
                self.events.append({"do": "send", "text": text, "line": step.line})
                time.sleep(0.02)
            except Lost:
                self._gone()

    def _do_reap(self, step, where) -> None:
        if self.current in self.pending:
            self.pending.discard(self.current)
            event = {"do": "reap", "line": step.line, **self._look()}
            self._ask(event, lambda wire: wire.answer())

    # -- files -----------------------------------------------------------------------------------------------------
    def _do_write_file(self, step, where) -> None:
        self._file("write", step)

    def _do_append_file(self, step, where) -> None:
        self._file("append", step)

    def _do_remove_file(self, step, where) -> None:
        self._file("remove", step)

    def _file(self, what: str, step) -> None:
        name = self._expand(step.text).split()
        if name and name[0].startswith(values.FOLDER + "/") and ".." not in name[0]:
            event = {"do": what, "name": name[0], "content": step.content}
            self.events.append(event)
            file_event(event, self.folder)

    # -- asking ----------------------------------------------------------------------------------------------------
    def _statement(self, text: str, step, where: Path) -> None:
        if self.send_next:
            self.send_next = False
            return self._send(text, step)
        look = self._look()
        if left_out.statement(text):
            return
        event = {"do": "sql", "text": text, "line": step.line, **look}
        if where != self.path:
            event["in"] = where.name
        if self.protocol == "prepared" and "$no_ps" not in self.vars:
            event["ps"] = True
        self._ask(event, lambda wire: ask(wire, values.plain(text, str(self.folder)), "ps" in event))

    def _look(self) -> dict:
        look, self.once = self.once, {}
        return look if self.result_log else {**look, "quiet": True}

    def _ask(self, event: dict, how) -> dict:
        if self.current in self.pending:
            return {"sets": []}
        wire = self.connections.get(self.current)
        began = time.monotonic()
        try:
            if wire is None:
                wire = self.connections[self.current] = self._wire("root", "", "test")
            answer = how(wire)
        except SqlError as e:
            answer = {"sets": [], "error": [e.code, str(e)]}
        except (Lost, IndexError, KeyError, ValueError) as e:
            answer = {"sets": [], "lost": str(e)}
            self._gone()
        took = time.monotonic() - began
        if took > 0.3:
            event["seconds"] = round(took, 1)
        event["answer"] = shortened(answer, event.get("columns"))
        self.events.append(event)
        return answer

    def _gone(self) -> None:
        wire = self.connections.pop(self.current, None)
        if wire:
            wire.drop()

    def _wait(self, step) -> None:
        condition = self.vars.pop("$wait_condition", "")
        if not condition:
            return
        event = {"do": "wait", "text": condition, "line": step.line}
        end = time.monotonic() + 5
        while True:
            answer = self._ask(event, lambda wire: wire.send(values.plain(condition, str(self.folder))) or wire.answer())
            if first_cell(answer) not in ("", "0") or time.monotonic() > end:
                return
            self.events.pop()
            time.sleep(0.05)

    # -- values ----------------------------------------------------------------------------------------------------
    def _expand(self, text: str) -> str:
        def value(m: re.Match) -> str:
            word = m.group(0)
            # The longest name that is known: $a stands in $ab if there is no $ab.
            for end in range(len(word), 1, -1):
                if word[:end] in self.vars:
                    return self.vars[word[:end]] + word[end:]
            return ""

        if "`" in text and "$" not in text:
            return text
        return re.sub(r"\$[A-Za-z_][A-Za-z0-9_]*", value, text).replace("\\$", "$")

    def _value(self, text: str, step) -> str:
        if text.startswith("`"):
            return self._query(self._expand(text.strip().strip("`")), step, 0, 1)
        found = re.match(r"query_get_value\s*\((.*),\s*([^,]+)\s*,\s*(\S+)\s*\)\s*$", text, re.S | re.I)
        if found:
            row = values.plain(self._expand(found.group(3)))
            query = self._expand(found.group(1).strip().strip("'\"")).replace("\\'", "'")
            return self._query(query, step, found.group(2).strip().strip("'\""), int(row) if row.isdigit() else 1)
        if re.fullmatch(r"\$\w+", text):
            return self.vars.get(text, "")
        return self._expand(text)

    def _query(self, text: str, step, column: int | str, row: int) -> str:
        """The value of a query of the file's own, which Narwal is asked too."""
        if left_out.statement(text):
            return ""
        self.queries += 1
        event = {"do": "query", "text": text, "line": step.line, "number": self.queries, "column": column, "row": row}
        answer = self._ask(event, lambda wire: wire.send(values.plain(text, str(self.folder))) or wire.answer())
        return values.queried(self.queries, cell(answer, column, row))

    def _add(self, text: str, n: int) -> None:
        name = text.strip().split()[0] if text.strip() else ""
        name = name if name.startswith("$") else "$" + name
        self.vars[name] = str(int(number(values.plain(self.vars.get(name, "0")))) + n)

    def _true(self, text: str) -> bool:
        negated = text.startswith("!")
        text = text[1:].strip() if negated else text.strip()
        found = re.fullmatch(r"(\$\w+|`.*`|'[^']*'|\"[^\"]*\"|[\w.]+)\s*(==|!=|<=|>=|<|>)\s*(.*)", text, re.S)
        step = language.Step("if", text, 0)
        if found and not (text.startswith("`") and text.endswith("`") and text.count("`") == 2):
            left, right = (values.plain(self._value(x.strip(), step)).strip().strip("'\"") for x in found.group(1, 3))
            verdict = compared(left, found.group(2), right)
        else:
            value = values.plain(self._value(text, step)).strip()
            verdict = bool(number(value)) if re.match(r"[-+]?\d", value) else bool(value)
        return verdict != negated


# What mysqltest's harness gives to files.
ENVIRONMENT = {
    "$MYSQLTEST_VARDIR": values.FOLDER,
    "$MYSQL_TMP_DIR": values.FOLDER + "/tmp",
    "$MYSQL_TEST_DIR": values.FOLDER,
    "$MYSQLTEST_FILE": "",
    "$MASTER_MYPORT": "1",
    "$MASTER_MYSOCK": "",
    "$ENGINE": "InnoDB",
    "$MTR_COMBINATION_INNODB": "1",
    "$default_charset": "latin1",
}


def ask(wire: Wire, text: str, prepared: bool) -> dict:
    if prepared:
        answer = wire.prepared(text)
        if answer is not None:
            return answer
    wire.send(text)
    return wire.answer()


def compared(left: str, how: str, right: str) -> bool:
    numbers = re.fullmatch(r"-?\d+", left) and re.fullmatch(r"-?\d+", right)
    a, b = (int(left), int(right)) if numbers else (left, right)
    return {"==": a == b, "!=": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}[how]


def number(text: str) -> float:
    found = re.match(r"\s*[-+]?\d*\.?\d*", text)
    try:
        return float(found.group(0)) if found else 0
    except ValueError:
        return 0


def regexes(text: str) -> list[list[str]]:
    """/from/to/ pairs; the separator is the first character."""
    out, at = [], 0
    while at < len(text):
        separator = text[at]
        if separator in " \t\n":
            at += 1
            continue
        parts = re.split(r"(?<!\\)" + re.escape(separator), text[at + 1 :], maxsplit=2)
        if len(parts) < 3:
            break
        flags = re.match(r"[a-z]*", parts[2]).group(0)
        out.append([parts[0].replace("\\" + separator, separator), parts[1], flags])
        at = len(text) - len(parts[2]) + len(flags)
    return out


def first_cell(answer: dict) -> str:
    return cell(answer, 0, 1)


def cell(answer: dict, column: int | str, row: int) -> str:
    """A value of an answer's last rows. `let` takes a first row's columns with tabs between."""
    for one in reversed(answer["sets"]):
        if one.get("rows") and 0 < row <= len(one["rows"]):
            if isinstance(column, str):
                names = [c.lower() for c in one["columns"]]
                return str(one["rows"][row - 1][names.index(column.lower())] or "") if column.lower() in names else ""
            return "\t".join("" if v is None else v for v in one["rows"][row - 1])
    return ""


def digest(rows: list) -> str:
    return hashlib.sha1(repr(rows).encode()).hexdigest()[:16]


def masked(rows: list, columns: list[int]) -> list:
    return [["#" if i + 1 in columns else v for i, v in enumerate(r)] for r in rows]


def shortened(answer: dict, columns: list[int] | None) -> dict:
    """The answer with long results cut to their first rows, and hashes of all rows as they came and as a set."""
    out = dict(answer, sets=[])
    for one in answer["sets"]:
        if "rows" in one:
            rows = masked(one["rows"], columns) if columns else one["rows"]
            one = {"columns": one["columns"], "rows": rows}
            if len(rows) > KEPT_ROWS:
                one |= {"rows": rows[:KEPT_ROWS], "count": len(rows), "all": digest(rows), "set": digest(sorted(rows, key=repr))}
        out["sets"].append(one)
    return out


def readable(name: str, folder: Path) -> bytes | None:
    """A file of the run's folder or of the corpus; nothing else."""
    path = os.path.realpath(name)
    allowed = (os.path.realpath(folder) + "/", os.path.realpath(SUITES) + "/")
    try:
        return Path(path).read_bytes() if path.startswith(allowed) else None
    except OSError:
        return None


def file_event(event: dict, folder: Path) -> None:
    path = Path(event["name"].replace(values.FOLDER, str(folder)))
    try:
        if event["do"] == "remove":
            path.unlink()
        else:
            with open(path, "a" if event["do"] == "append" else "w", encoding="latin1") as f:
                f.write(event["content"])
    except OSError:
        pass
