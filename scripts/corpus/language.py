"""The language of mysqltest files: text in, a tree of steps out.

A step is Step(name, text, line, body): `name` is "sql" or a command of mysqltest; `body` holds the steps of `if` and `while`.
Nothing is run or replaced here. Files are read as latin1: one character is one byte.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

WORDS = """append_file assert cat_file change_user character_set chmod connect connection copy_file copy_files_wildcard dec
delimiter die diff_files dirty_close disconnect echo end_timer error eval eval_p evalp exec execw exit file_exists
force-cpdir force-rmdir horizontal_results if inc let list_files list_files_append_file list_files_write_file
lowercase_result mkdir move_file output perl ping ps_prepare ps_execute ps_bind ps_close query query_attributes
query_horizontal query_vertical real_sleep reap reap_p remove_file remove_files_wildcard replace_column
replace_numeric_round replace_regex replace_result require reset_connection result result_format rmdir rpl_sync
save_master_pos send send_eval send_p send_quit send_shutdown shutdown_server skip sleep sort_result sorted_result
source start_timer sync_slave_with_master sync_with_master system vertical_results wait_for_slave_to_stop while
write_file write_line""".split()
SWITCHES = """abort_on_error async_client column_names connect_log cursor_protocol info metadata non_blocking_api
optimizer_trace parsing prepare_warnings ps2_protocol ps_protocol query_log reconnect result_log rpl_parse
service_connection session_track_info view_protocol warnings""".split()
COMMANDS = {*WORDS, *("enable_" + s for s in SWITCHES), *("disable_" + s for s in SWITCHES)}
# These read lines up to a mark.
WITH_TEXT = {"perl", "write_file", "append_file"}


@dataclass
class Step:
    name: str
    text: str
    line: int
    body: list["Step"] = field(default_factory=list)
    # write_file and the like: the lines.
    content: str = ""


class Reader:
    """Reads one file."""

    def __init__(self, text: str):
        self.text = text.replace("\r\n", "\n")
        self.at = 0
        self.delimiter = ";"
        self.parsing = True
        self.counted = (0, 1)

    def line(self) -> int:
        at, line = self.counted
        self.counted = (self.at, line + self.text.count("\n", at, self.at))
        return self.counted[1]

    def block(self, inner: bool = False) -> list[Step]:
        """Steps up to the file's end, or to the brace that closes the block."""
        out: list[Step] = []
        while (step := self.step(inner)) is not None:
            if step.name == "enable_parsing":
                self.parsing = True
            elif step.name == "disable_parsing":
                self.parsing = False
            elif self.parsing and step.name:
                out.append(step)
        return out

    def step(self, inner: bool) -> Step | None:
        """The next step; a step without a name is one to leave out. None: no more."""
        self._spaces()
        if self.at >= len(self.text):
            return None
        here, first = self.line(), self.text[self.at]
        if first == "#":
            self._rest_of_line()
            return Step("", "", here)
        if first == "}":
            self.at += 1
            return None if inner else Step("", "", here)
        if self.text.startswith("--", self.at):
            self.at += 2
            return self._command_line(here)
        block = re.compile(r"(if|while)\s*\(", re.I).match(self.text, self.at)
        if block:
            return self._conditional(block.group(1).lower(), block.end(), here)
        statement = self._statement().strip()
        word, rest = first_word(statement)
        if word == "delimiter":
            self.delimiter = rest.strip() or self.delimiter
            return Step("", "", here)
        if word in WITH_TEXT:
            return self._with_text(word, rest, here)
        if word in COMMANDS:
            return Step(word, rest.strip(), here)
        return Step("sql" if statement else "", statement, here)

    def _spaces(self) -> None:
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r\f\v":
            self.at += 1

    def _rest_of_line(self) -> str:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        rest, self.at = self.text[self.at : end], end + 1
        return rest

    def _command_line(self, here: int) -> Step:
        rest = self._rest_of_line()
        word, rest = first_word(rest.strip())
        rest = rest.strip()
        if word == "delimiter":
            self.delimiter = rest or self.delimiter
            return Step("", "", here)
        if word in WITH_TEXT:
            return self._with_text(word, rest, here)
        if word in ("if", "while"):
            return Step("", "", here)
        return Step(word if word in COMMANDS else "", rest, here)

    def _with_text(self, word: str, rest: str, here: int) -> Step:
        parts = rest.split()
        named = parts[0:1] if word == "perl" else parts[1:2]
        mark = named[0] if named else "EOF"
        # Behind a delimiter the rest of its line is empty.
        if self.text[self.at : self.at + 1] == "\n":
            self.at += 1
        lines = []
        while self.at < len(self.text):
            line = self._rest_of_line()
            if line.strip() == mark:
                break
            lines.append(line + "\n")
        return Step(word, rest, here, content="".join(lines))

    def _conditional(self, word: str, start: int, here: int) -> Step:
        depth, at, quote = 1, start, ""
        while at < len(self.text) and depth:
            c = self.text[at]
            if quote:
                quote = "" if c == quote else quote
            elif c in "'\"`":
                quote = c
            else:
                depth += (c == "(") - (c == ")")
            at += 1
        condition, self.at = self.text[start : at - 1], at
        brace = self.text.find("{", self.at)
        self.at = len(self.text) if brace < 0 else brace + 1
        return Step(word, condition.strip(), here, self.block(inner=True))

    def _statement(self) -> str:
        """Text up to the delimiter outside of quotes and comments."""
        start, at, quote, text = self.at, self.at, "", self.text
        line_start = False
        while at < len(text):
            c = text[at]
            if quote:
                if c == "\\" and quote != "`":
                    at += 1
                elif c == quote:
                    quote = ""
            elif text.startswith(self.delimiter, at):
                self.at = at + len(self.delimiter)
                return text[start:at]
            elif c in "'\"`":
                quote = c
            elif c == "#" and line_start or text.startswith(("-- ", "--\n"), at):
                end = text.find("\n", at)
                at = len(text) if end < 0 else end
                continue
            elif text.startswith("/*", at):
                end = text.find("*/", at + 2)
                inside = text[at:end]
                if end > 0 and self.delimiter not in inside and text[at + 2 : at + 3] not in "!M":
                    at = end + 2
                    continue
            line_start = c == "\n" or line_start and c in " \t"
            at += 1
        self.at = len(text)
        return text[start:]


def first_word(text: str) -> tuple[str, str]:
    """The first word in small letters, and what follows."""
    found = re.match(r"[a-zA-Z_0-9]+", text)
    return (found.group(0).lower(), text[found.end() :]) if found else ("", text)


def parse(text: str) -> list[Step]:
    return Reader(text).block()
