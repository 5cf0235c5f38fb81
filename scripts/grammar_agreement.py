#!/usr/bin/env python3
"""Asks a MariaDB 10.11 and Narwal's parser about the same statements: is each a syntax error?

usage: scripts/grammar_agreement.py FOLDER_OR_FILE... [--port N | --socket PATH] [--kind WORDS] [--show N] [--answers FILE]

The statements come from the .test and .inc files of MariaDB's own test corpus, read where it is installed (Debian's package
mariadb-test-data puts it under /usr/share/mysql/mysql-test). MariaDB is asked by COM_STMT_PREPARE, which parses and runs
nothing: error 1064 is a syntax error, any other answer is none. Narwal is asked by the example binary `parse_lines` of
crates/syntax. The agreement is printed for each kind of statement, and with --show the statements that differ.

A MariaDB must be running, as root without a password. With --answers its answers are kept in a file and not asked for twice.
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Words of mysqltest's own that begin a line which is no SQL.
COMMANDS = set(
    """
    append_file assert break cat_file change_user character_set chmod close connect connection copy_file copy_files_wildcard
    dec delimiter die diff_files dirty_close disable_abort_on_error disable_async_client disable_column_names
    disable_connect_log disable_info disable_metadata disable_ps2_protocol disable_ps_protocol disable_cursor_protocol
    disable_view_protocol disable_service_connection disable_query_log disable_reconnect disable_result_log disable_rpl_parse
    disable_session_track_info disable_testcase disable_warnings disable_prepare_warnings disable_non_blocking_api
    disconnect echo enable_abort_on_error enable_async_client enable_column_names enable_connect_log enable_info
    enable_metadata enable_ps2_protocol enable_ps_protocol enable_cursor_protocol enable_view_protocol
    enable_service_connection enable_query_log enable_reconnect enable_result_log enable_rpl_parse
    enable_session_track_info enable_testcase enable_warnings enable_prepare_warnings enable_non_blocking_api
    end end_timer error eval evalp exec execw exit file_exists horizontal_results if inc let list_files
    list_files_append_file list_files_write_file lowercase_result mkdir move_file output perl ping ps_bind ps_close
    ps_execute ps_prepare query query_attributes query_get_value query_horizontal query_vertical real_sleep reap
    remove_file remove_files_wildcard replace_column replace_numeric_round replace_regex replace_result require
    reset_connection result result_format rmdir save_master_pos send send_eval send_quit send_shutdown set_binlog_pos
    shutdown_server skip sleep sorted_result sort source start_timer sync_slave_with_master sync_with_master system
    use_result vertical_results wait_for_slave_to_stop while write_file write_line optimizer_trace
    """.split()
)
# Those that a statement follows.
BEFORE_SQL = {"query", "query_vertical", "query_horizontal", "send"}
# Commands of the same name as a statement: they are the command when something of theirs stands behind the word.
MODE = re.compile(r"set\s+(?:session\s+|local\s+|@@session\.|@@local\.|@@)?sql_mode\s*:?=\s*(.*)$", re.I | re.S)
TWO_WORDS = {"create", "alter", "drop", "show", "rename", "start", "stop", "change", "set", "xa", "flush", "get", "insert"}


def statements(path):
    """The statements of a test file with the sql_mode that they run in, where that can be told from the file alone."""
    text = path.read_bytes().decode("utf-8", "replace")
    delimiter, mode, held, lines = ";", "", "", iter(text.split("\n"))
    for line in lines:
        if not held.strip():
            line, delimiter, skip = command_line(line, delimiter, lines)
            if skip:
                continue
            held = ""
        held += line + "\n"
        while True:
            cut = end_of_statement(held, delimiter)
            if cut < 0:
                break
            one, held = held[:cut].strip(), held[cut + len(delimiter) :]
            one = without_comments(one)
            word = re.match(r"[a-z_0-9]*", one, re.I).group().lower()
            if word == "delimiter":
                delimiter = one.split(None, 1)[1].strip() if " " in one else ";"
                continue
            if word in BEFORE_SQL:
                one = one[len(word) :].strip()
            elif is_command(word, one):
                held = held.lstrip("\n") if word in ("if", "while") else held
                continue
            if not one or one[0] in "{}" or re.search(r"\$[a-z_0-9{]", one, re.I) or "\ufffd" in one:
                continue
            changed = MODE.match(one)
            if changed:
                mode = new_mode(changed.group(1), mode)
            yield mode, one
            if not held.strip():
                held = ""
                break
            # Something else on the same line.
            if not held.lstrip().startswith(("#", "--")):
                continue
            held = held[held.find("\n") + 1 :] if held.lstrip().startswith("#") else held


def command_line(line, delimiter, lines):
    """What a line is where no statement has begun: the rest of it that is SQL, the delimiter, and whether to go on."""
    bare = line.strip()
    if not bare or bare[0] in "#{}":
        return line, delimiter, True
    if bare.startswith("--"):
        words = bare[2:].split()
        if words and words[0].lower() == "delimiter":
            return "", words[1] if len(words) > 1 else ";", True
        if words and words[0].lower() in ("perl", "write_file", "append_file"):
            skip_text(words, lines)
        return line, delimiter, True
    word = re.match(r"[a-z_0-9]*", bare, re.I).group().lower()
    if word == "delimiter":
        rest = bare[len(word) :].strip()
        if rest.endswith(delimiter) and rest != delimiter:
            rest = rest[: -len(delimiter)].strip()
        return "", rest or ";", True
    if word in ("perl", "write_file", "append_file"):
        skip_text(bare.rstrip(";").split(), lines)
        return line, delimiter, True
    if word in ("if", "while") and bare.endswith("{"):
        return line, delimiter, True
    if word in ("if", "while") and not bare.endswith(delimiter):
        return line, delimiter, not (word == "if" and "(" not in bare)
    return line, delimiter, False


def skip_text(words, lines):
    """A script or a file's text, up to its end mark."""
    mark = "EOF"
    if words[0] == "perl" and len(words) > 1:
        mark = words[1]
    elif len(words) > 2:
        mark = words[2]
    for line in lines:
        if line.strip() == mark:
            return


def end_of_statement(text, delimiter):
    """Where the delimiter stands outside of strings and comments, or -1."""
    at, quote = 0, None
    while at < len(text):
        c = text[at]
        if quote:
            if c == "\\" and quote != "`":
                at += 1
            elif c == quote:
                quote = None
        elif text.startswith(delimiter, at):
            return at
        elif c in "'\"`":
            quote = c
        elif c == "#" or (c == "-" and text.startswith("-- ", at)):
            at = text.find("\n", at)
            if at < 0:
                return -1
        elif text.startswith("/*", at) and not text.startswith("/*!", at):
            at = text.find("*/", at)
            if at < 0:
                return -1
        at += 1
    return -1


def without_comments(text):
    """Without the comments before it."""
    while True:
        text = text.strip()
        if text.startswith("#") or text.startswith("-- ") or text.startswith("--\n"):
            text = text[text.find("\n") + 1 :] if "\n" in text else ""
        else:
            return text


def is_command(word, text):
    if word not in COMMANDS:
        return False
    rest = text[len(word) :].strip().lower()
    # Statements of MariaDB that begin with such a word.
    if word == "change_user" or word != "shutdown" and word not in ("end", "error", "sort", "skip"):
        return not (word == "exec" and rest.startswith("ute"))
    return True


def new_mode(value, mode):
    value = value.strip().strip("'\"").strip()
    if re.fullmatch(r"[a-z_, ]*", value, re.I):
        return "" if value.lower() == "default" else value.replace(" ", "").upper()
    return mode


def kind(text):
    """The kind of statement: its verb, and what it is about."""
    words = re.sub(r"/\*.*?\*/|#[^\n]*|--\s[^\n]*", " ", text, flags=re.S)
    words = [w.upper() for w in re.findall(r"[a-z_]+|\(|`[^`]*`|[^\sa-z_]", words[:400], re.I)]
    if not words:
        return "(none)"
    verb = words[0]
    if verb == "(":
        return "SELECT"
    if verb in ("CREATE", "ALTER", "DROP"):
        objects = """TABLE VIEW SEQUENCE INDEX DATABASE SCHEMA PROCEDURE FUNCTION TRIGGER EVENT PACKAGE USER ROLE SERVER TABLES
            TABLESPACE LOGFILE PREPARE""".split()
        found = next((w for w in words[1:30] if w in objects), words[1] if len(words) > 1 else "")
        return f"{verb} {dict(SCHEMA='DATABASE', TABLES='TABLE').get(found, found)}"
    if verb in ("SHOW", "SET", "START", "STOP", "XA", "FLUSH", "RENAME", "LOAD") and len(words) > 1:
        second = words[1] if re.fullmatch("[A-Z_]+", words[1]) else ""
        if verb == "SET" and second not in ("STATEMENT", "PASSWORD", "ROLE", "TRANSACTION", "NAMES", "CHARACTER", "DEFAULT"):
            second = ""
        return f"{verb} {second}".strip()
    return verb if re.fullmatch("[A-Z_]+", verb) else "(other)"


class Reference:
    """The MariaDB that knows."""

    def __init__(self, options):
        import pymysql

        where = {"unix_socket": options.socket} if options.socket else {"host": "127.0.0.1", "port": options.port}
        self.errors = pymysql.err.MySQLError
        self.connect = lambda: pymysql.connect(user="root", charset="utf8mb4", **where)
        self.link, self.mode = self.connect(), None
        with self.link.cursor() as cursor:
            cursor.execute("CREATE DATABASE IF NOT EXISTS grammar")
        self.link.select_db("grammar")

    def ask(self, mode, text):
        """(error number or 0, message)"""
        if mode != self.mode:
            self.mode = mode
            try:
                with self.link.cursor() as cursor:
                    cursor.execute("SET sql_mode = %s", (mode,))
            except self.errors:
                return None
        link = self.link
        try:
            link._execute_command(0x16, text)
            packet = link._read_packet()
            data = packet.get_all_data()
            number = int.from_bytes(data[1:5], "little")
            columns, parameters = (int.from_bytes(data[5:7], "little"), int.from_bytes(data[7:9], "little"))
            for n in (parameters, columns):
                for _ in range(n + 1 if n else 0):
                    link._read_packet()
            link._execute_command(0x19, number.to_bytes(4, "little"))
            return 0, ""
        except self.errors as e:
            if not isinstance(e.args[0], int) or e.args[0] in (0, 2006, 2013):
                self.link, self.mode = self.connect(), None
                self.link.select_db("grammar")
                return None
            return e.args[0], str(e.args[1])


def gather(paths):
    seen = {}
    for path in paths:
        path = pathlib.Path(path)
        files = [path] if path.is_file() else sorted([*path.rglob("*.test"), *path.rglob("*.inc")])
        for file in files:
            for mode, text in statements(file):
                if len(text) < 60000 and "\0" not in text:
                    seen.setdefault((mode, text), str(file))
    return seen


def known_answers(file):
    if not file or not pathlib.Path(file).exists():
        return {}
    with open(file) as f:
        return {(mode, text): (number, message) for mode, text, number, message in map(json.loads, f)}


def reference_answers(options, asked):
    known = known_answers(options.answers)
    missing = [a for a in asked if a not in known]
    if missing:
        reference = Reference(options)
        out = open(options.answers, "a") if options.answers else None
        for i, (mode, text) in enumerate(missing):
            answer = reference.ask(mode, text)
            if answer is None:
                continue
            known[mode, text] = answer
            if out:
                print(json.dumps([mode, text, *answer]), file=out)
            if i % 20000 == 0:
                print(f"asked MariaDB {i} of {len(missing)}", file=sys.stderr)
    return known


def our_answers(binary, asked):
    """(error number or 0, message) of each."""
    given = "".join(f"{mode}\x1f{text}\0" for mode, text in asked)
    done = subprocess.run([binary], input=given.encode(), stdout=subprocess.PIPE, check=True)
    answers = done.stdout.decode("utf-8", "replace").split("\0")[:-1]
    assert len(answers) == len(asked), f"{len(answers)} answers to {len(asked)} statements"
    split = (a.partition(" ") for a in answers)
    return {a: (int(number), message) for a, (number, _, message) in zip(asked, split)}


def near(message):
    found = re.search(r"near '(.*)' at line (\d+)$", message, re.S)
    return found.groups() if found else message


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("paths", nargs="+")
    args.add_argument("--port", type=int, default=3306)
    args.add_argument("--socket")
    args.add_argument("--answers", help="a file that keeps MariaDB's answers")
    args.add_argument("--kind", action="append", help="only kinds of statement that begin so")
    args.add_argument("--show", type=int, default=0, help="so many differing statements of each kind")
    args.add_argument("--oracle", action="store_true", help="those of sql_mode=ORACLE too")
    args.add_argument("--near", action="store_true", help="compare the text behind `near` too, where both refuse")
    args.add_argument("--binary", default=str(ROOT / "target/debug/examples/parse_lines"))
    options = args.parse_args()
    seen = gather(options.paths)
    asked = [a for a in seen if options.oracle or "ORACLE" not in a[0]]
    if options.kind:
        asked = [a for a in asked if any(kind(a[1]).startswith(k.upper()) for k in options.kind)]
    theirs = reference_answers(options, asked)
    asked = [a for a in asked if a in theirs]
    ours = our_answers(options.binary, asked)
    report(options, seen, asked, theirs, ours)


def report(options, seen, asked, theirs, ours):
    total, equal, differing = collections.Counter(), collections.Counter(), collections.defaultdict(list)
    for a in asked:
        k = kind(a[1])
        total[k] += 1
        same = (theirs[a][0] == 1064) == (ours[a][0] == 1064)
        if same and options.near and ours[a][0] == 1064:
            same = near(theirs[a][1]) == near(ours[a][1])
        equal[k] += same
        if not same:
            differing[k].append(a)
    for k, n in total.most_common():
        bad = n - equal[k]
        if n >= 5 or bad:
            print(f"{k:32} {n:7} {100 * equal[k] / n:7.2f} %  {bad} differ")
        for mode, text in differing[k][: options.show]:
            print(f"    {seen[mode, text]} [{mode}]")
            print("        " + text[:1500].replace("\n", "\n        "))
            print(f"      MariaDB: {theirs[mode, text]}\n      Narwal:  {ours[mode, text]}")
    n, good = sum(total.values()), sum(equal.values())
    print(f"{'all':32} {n:7} {100 * good / max(n, 1):7.2f} %  {n - good} differ")


if __name__ == "__main__":
    main()
