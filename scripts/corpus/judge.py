"""Compares answers: MariaDB's, which is right, and Narwal's.

Kinds of verdicts:
  same       the answer is MariaDB's                     unjudged   may differ: EXPLAIN, and others that name what runs here
  refused    error 1235: Narwal says that it can't       cascade    can't be right, because of an earlier refusal
  error      another error where MariaDB answers         errno      another error number than MariaDB's
  accepted   an answer where MariaDB has an error        rows       other rows
  order      the rows in another order                   count      another number of changed rows
  lost       the connection was closed                   hang       no answer in time          died       the server ended
  waits      no answer in time, as the server says that the statement waits for another connection's lock
"""

from __future__ import annotations

import re
import socket
from datetime import datetime, timezone
from pathlib import Path

KINDS = ["same", "unjudged", "refused", "cascade", "error", "errno", "accepted", "rows", "order", "count", "waits", "lost", "hang", "died"]
# Wrong answers: worse than a refusal.
WRONG = {"accepted", "rows", "order", "waits", "lost", "hang", "died"}

# Answers that tell how this server works, or what it has done so far.
_OWN_WAY = re.compile(
    r"""^\s*(set\s+statement\s[^;]*?\sfor\s+)?(explain|analyze\s+(format|select|update|delete|insert|with)|analyze\s+table|describe\s+(select|extended|partitions)
      |desc\s+(select|extended)|check\s|optimize|repair|checksum|flush|cache\s|help|load\s+index
      |show\s+(full\s+)?(status|session\s+status|global\s+status|engine\s|engines|storage|processlist|table\s+status|index|indexes|keys
               |plugins|profile|profiles|master|slave|replica|binary|binlog|privileges|open\s|(user|client|index|table)_statistics|explain|collation|charset|character|variables|global\s+variables|session\s+variables))
    |\b(connection_id|uuid|uuid_short|sys_guid|rand|random_bytes|sysdate|now|curdate|curtime|current_date|current_time|current_timestamp|
        localtime|localtimestamp|utc_date|utc_time|utc_timestamp|unix_timestamp|version|encrypt|des_encrypt|benchmark)\s*\(
    |\b(current_timestamp|current_date|current_time|localtime|localtimestamp|utc_timestamp|utc_date|utc_time)\b
    |performance_schema|innodb_(sys|buffer|metrics|trx|lock|cmp|ft|index_stats|table_stats)|processlist|information_schema\.(global_|session_)?(status|variables|statistics|partitions|files|plugins|engines)
    |@@(global\.|session\.)?(version|port|socket|datadir|basedir|hostname|pid_file|timestamp|pseudo_thread|server_uid|in_transaction|gtid|tmpdir|rand_seed)
    |information_schema\.((index|table|user|client)_statistics|tables)|optimizer_trace|\brows\s+examined\b|\blast_query_cost|_size\b.*information_schema""",
    re.I | re.X,
)  # fmt: skip

# What is read of counters and of the optimizer's trace stays such wherever it is kept: in a variable, a view, a table.
_KEPT_COUNTS = re.compile(
    r"optimizer_trace|(session|global)_status|com_stmt_reprepare|handler_(read|write|icp|tmp)|table_statistics|index_statistics|innodb_(buffer_page|metrics|sys_)", re.I)  # fmt: skip
# Of a program: plans, and what maintenance says of a table.
_PLANS_INSIDE = re.compile(r"(?:^|;|\bbegin|\bthen|\belse|\bdo|['\"])\s*(explain|analyze|optimize|repair|check\s+table|show\s+(session\s+|global\s+)?status)\b", re.I)
_COMMENTS = re.compile(r"/\*(?![!M]).*?\*/", re.S)

# Answers that tell when definitions were made, and which accounts there are.
_OF_THE_RUN = re.compile(
    r"""^\s*(call|show\s+((procedure|function|package(\s+body)?)\s+status|(full\s+)?triggers|events|create\s+(event|trigger)))\b
    |\bmysql\.(proc|event|user|global_priv|db|tables_priv|columns_priv|procs_priv|proxies_priv|roles_mapping)\b
    |\binformation_schema\.(routines|events|triggers|user_privileges|applicable_roles)\b""",
    re.I | re.X,
)

# What lists the tables that there are.
_LISTS = re.compile(r"\s*show\s+(full\s+)?tables\b", re.I)

# Some texts are very long: names are looked for in their first characters.
LOOKED_AT = 20_000

# Errors that say that something is not there.
_MISSING = {1146, 1054, 1109, 1051, 1305, 1243, 1091, 1049, 1008, 1176, 1360, 1539, 4091, 4092, 1347, 1072, 1324, 1356, 1396, 1141,
            1133, 1370, 1410, 1449, 1046, 1099, 1100, 1507, 1286, 1477, 1959, 1476}  # fmt: skip

_NAME = r"(`[^`]+`|[A-Za-z_$\x80-\xff][\w$\x80-\xff]*)"
_QUALIFIED = rf"(?:{_NAME}\s*\.\s*)?{_NAME}"
_TARGETS = [
    re.compile(p, re.I | re.S)
    for p in (
        rf"\bcreate\s+(?:or\s+replace\s+)?(?:\w+\s*(?:=\s*\S+)?\s+){{0,5}}?(?:table|view|procedure|function|trigger|event|sequence|database|schema|user|role|server)\s+(?:if\s+not\s+exists\s+)?{_QUALIFIED}",
        rf"\balter\s+(?:ignore\s+|online\s+)*(?:table|view|procedure|function|event|sequence|database|user)\s+(?:if\s+exists\s+)?{_QUALIFIED}",
        rf"\b(?:insert|replace)\s+(?:low_priority\s+|delayed\s+|high_priority\s+|ignore\s+)*(?:into\s+)?{_QUALIFIED}",
        rf"\b(?:update)\s+(?:low_priority\s+|ignore\s+)*{_QUALIFIED}",
        rf"\bdelete\s+(?:low_priority\s+|quick\s+|ignore\s+)*from\s+{_QUALIFIED}",
        rf"\binto\s+table\s+{_QUALIFIED}",
        rf"\btruncate\s+(?:table\s+)?{_QUALIFIED}",
        rf"\brename\s+table\s+{_QUALIFIED}\s+to\s+{_QUALIFIED}",
        rf"\bcreate\s+(?:unique\s+|fulltext\s+|spatial\s+)?index\s+(?:if\s+not\s+exists\s+)?\S+\s+(?:using\s+\w+\s+)?on\s+{_QUALIFIED}",
        rf"\bprepare\s+{_NAME}",
        rf"\bhandler\s+{_QUALIFIED}\s+open",
        rf"\b(?:drop)\s+(?:table|view|procedure|function|trigger|event|database|user|role)\s+(?:if\s+exists\s+)?{_QUALIFIED}",
        rf"\binto\s+@{_NAME}",
    )
]
_TRIGGER_ON = re.compile(rf"\btrigger\b.*?\bon\s+{_QUALIFIED}", re.I | re.S)
_USER_VARIABLE = re.compile(r"@(`[^`]+`|[A-Za-z_$][\w$.]*)\s*:?=", re.I)
_SET = re.compile(r"^\s*set\s+(?:session\s+|global\s+|local\s+)?(?:@@(?:\w+\.)?)?([a-z_]\w*)\s*=", re.I)
_MAKES = re.compile(r"^\s*(create|drop)\b", re.I)


def bare(name: str) -> str:
    return name.strip("`").lower()


def targets(text: str) -> set[str]:
    """The names of what a statement makes or changes."""
    text = text[:LOOKED_AT]
    found = set()
    for pattern in _TARGETS:
        for m in pattern.finditer(text):
            names = [g for g in m.groups() if g]
            found.add(bare(names[-1]))
    if m := _TRIGGER_ON.search(text):
        found.add(bare(m.groups()[-1]))
    for m in _USER_VARIABLE.finditer(text):
        found.add("@" + bare(m.group(1)))
    if m := _SET.match(text):
        found.add("@@" + m.group(1).lower())
    return found - {"table", "if", "ignore", "into", "select"}


def words(text: str) -> set[str]:
    """All names in a statement."""
    text = text[:LOOKED_AT]
    found = {bare(w) for w in re.findall(_NAME, text)}
    return found | {"@" + bare(w) for w in re.findall(r"@(`[^`]+`|[A-Za-z_$][\w$]*)", text)}


def cause_of(error: list) -> str:
    """An error's text without what is only this statement's: names and numbers in quotes."""
    code, text = error
    if code == 1235:
        found = re.search(r"doesn't yet support '(.*)'\s*$", text, re.S)
        return "1235 " + (found.group(1) if found else text)[:100]
    return f"{code} " + re.sub(r"\d+", "N", re.sub(r"'[^']*'|`[^`]*`", "'..'", text))[:90]


class Judge:
    """Looks at one file's statements in turn, and remembers what refusals have spoilt."""

    def __init__(self, result_file: Path | None):
        self.spoilt: dict[str, str] = {}
        # What holds something of a server's own way: user variables, views, programs, prepared statements.
        self.own: set[str] = set()
        self.last_cause = ""
        self.result = ""
        self.at = 0
        if result_file and result_file.is_file():
            self.result = result_file.read_bytes().decode("latin1")

    def verdict(self, event: dict, right: dict, got: dict) -> tuple[str, str, bool]:
        """Kind, cause, and whether MariaDB's own record of the file has the same rows as MariaDB has now."""
        text = event.get("text", "")
        kind, cause = self._kind(event, text, right, got)
        sure = kind not in ("rows", "order", "unjudged") or self._witness(text, right)
        if kind in ("error", "errno", "accepted", "rows", "order", "count", "refused"):
            if earlier := self._spoilt_by(text, kind, got):
                kind, cause = "cascade", earlier
            elif kind == "rows" and (earlier := self._lists_spoilt(text, right, got)):
                kind, cause = "cascade", earlier
        self._remember(text, kind, cause, right)
        return kind, cause, sure

    def _kind(self, event: dict, text: str, right: dict, got: dict) -> tuple[str, str]:
        if "lost" in got:
            kind = got.get("how", "lost")
            if "lost" in right and kind != "died":
                return "same", ""
            return kind, f"{kind}: " + re.sub(r"\s+", " ", text)[:70]
        if "lost" in right:
            return "unjudged", ""
        a, b = right.get("error"), got.get("error")
        if a and b:
            if a[0] == b[0]:
                return "same", ""
            return ("refused", cause_of(b)) if b[0] == 1235 else ("errno", f"{a[0]} is {cause_of(b)}")
        if b:
            return ("refused" if b[0] == 1235 else "error"), cause_of(b)
        if a:
            return "accepted", "accepted: " + cause_of(a)
        return self._rows(event, text, right["sets"], got["sets"]), ""

    def _rows(self, event: dict, text: str, right: list, got: list) -> str:
        kind = compare(right, got, event, text[:LOOKED_AT])
        if kind == "same":
            return kind
        if event.get("quiet") or any(is_plan(one) for one in right) or self._own_way(text[:LOOKED_AT]):
            return "unjudged"
        if compare(of_one_engine(right), of_one_engine(got), event, text[:LOOKED_AT]) == "same":
            return "unjudged"
        # Without ORDER BY, or where the file sorts, any order is right.
        if kind == "order" and (event.get("sorted") or not re.search(r"order\s+by", text, re.I)):
            return "same"
        return kind

    def _own_way(self, text: str) -> bool:
        return bool(_OWN_WAY.search(_COMMENTS.sub(" ", text))) or not self.own.isdisjoint(words(text))

    def _follow(self, text: str) -> None:
        """Notes what a statement puts something of a server's own way into, and what is written anew."""
        text = text[:LOOKED_AT]
        made = targets(text)
        if not made or re.match(r"\s*(alter|drop|truncate|rename|handler)\b", text, re.I):
            return
        prepares = re.match(r"\s*prepare\b|\s*create\s.*?\b(procedure|function)\b", text, re.I | re.S)
        if _KEPT_COUNTS.search(text) or (prepares and _PLANS_INSIDE.search(text)) or not self.own.isdisjoint(words(text) - made):
            self.own |= made
        elif not re.match(r"\s*(insert|update|delete|replace|load)\b", text, re.I):
            self.own -= made

    def _witness(self, text: str, right: dict) -> bool:
        at = self.result.find(text, self.at)
        if at < 0:
            return False
        self.at = at
        behind = self.result[at + len(text) :].split("\n", 1)
        return len(behind) > 1 and all(behind[1].startswith(shown(one)) for one in right["sets"][:1])

    def _spoilt_by(self, text: str, kind: str, got: dict) -> str:
        names = words(text)
        for name in names:
            if name in self.spoilt:
                return self.spoilt[name]
        if kind in ("error", "errno") and self.last_cause and got["error"][0] in _MISSING:
            return self.last_cause
        return ""

    def _lists_spoilt(self, text: str, right: dict, got: dict) -> str:
        """The cause, if a list of tables lacks nothing but those that a refusal has kept from being made."""
        if not _LISTS.match(text) or len(right["sets"]) != 1 or len(got["sets"]) != 1:
            return ""
        a, b = ([tuple(row) for row in one["sets"][0].get("rows", [])] for one in (right, got))
        lacking = [str(row[0]).lower() for row in a if row not in b]
        if lacking and all(row in a for row in b) and all(name in self.spoilt for name in lacking):
            return self.spoilt[lacking[0]]
        return ""

    def _remember(self, text: str, kind: str, cause: str, right: dict) -> None:
        if "error" not in right:
            self._follow(text)
        if kind in ("refused", "error", "cascade", "waits", "lost", "hang", "died") and "error" not in right:
            self.last_cause = cause
            for name in targets(text):
                self.spoilt[name] = cause
        elif kind == "died":
            self.last_cause = cause
        elif kind == "same" and "error" not in right and _MAKES.match(text):
            for name in targets(text):
                self.spoilt.pop(name, None)

    def all_is_gone(self, cause: str) -> None:
        """The server has been started anew, without any data."""
        self.last_cause = cause


# Narwal makes its own table of each of them, with warning 1266 (docs/differences.md), and says so.
_ENGINE = re.compile(r"\bENGINE=(?:MyISAM|Aria|MEMORY|HEAP|MRG_MyISAM|CSV|ARCHIVE|BLACKHOLE)\b")
# Aria says so of each of its tables, whether the statement did or not.
_OF_ARIA = re.compile(r"\bENGINE=Aria\b(.*?) PAGE_CHECKSUM=1\b")


def of_one_engine(sets: list) -> list:
    """Results as if all tables in them were InnoDB's."""

    def text(v: str) -> str:
        return _ENGINE.sub("ENGINE=InnoDB", _OF_ARIA.sub(r"ENGINE=Aria\1", v))

    return [{**one, "rows": [[v and text(v) for v in row] for row in one["rows"]]} if "rows" in one else one for one in sets]


def is_plan(one: dict) -> bool:
    """EXPLAIN's table, of a prepared statement say, or the query that it leaves as a note."""
    rows = one.get("rows", [])
    return one.get("columns", [])[:3] == ["id", "select_type", "table"] or bool(rows) and rows[0][:2] == ["Note", "1003"]


def same_host(rows: list) -> list:
    """MariaDB does not resolve names in these runs, so its clients are on 127.0.0.1."""
    return [[v and v.replace("127.0.0.1", "localhost") for v in row] for row in rows]


_TIME = re.compile(r"\b20\d\d-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?")
# What is recorded of MariaDB is as old at most, and Narwal was asked just now; seconds.
_RECORDED, _ASKED = 90 * 86_400, 1_800


def without_run_times(rows: list, seconds: int) -> list:
    """Rows whose times of the last `seconds` are no times any more: no two runs share the second in which something was
    made, changed or begun. Times that a file says itself stand in the past, the future, or are the same."""
    now = datetime.now(timezone.utc).replace(tzinfo=None)

    def run_time(m: re.Match) -> str:
        try:
            at = datetime.fromisoformat(m[0])
        except ValueError:
            return m[0]
        return "<time>" if -120 <= (now - at).total_seconds() <= seconds else m[0]

    return [[v and _TIME.sub(run_time, v) for v in row] for row in rows]


# MariaDB's installation makes this account, and one of root for the name of the machine.
_INSTALLED = ("mariadb.sys", socket.gethostname())


def without_installed(rows: list) -> list:
    """Rows without those of the accounts that MariaDB's installation makes, and no file asks for."""
    return [row for row in rows if not any(v in _INSTALLED for v in row)]


def replaced(rows: list, event: dict) -> list:
    """Rows after `replace_regex` and `replace_result` of the file."""
    pairs = event.get("replace", [])
    patterns = []
    for pattern, to, flags in event.get("regex", []):
        try:
            patterns.append((re.compile(pattern, re.I if "i" in flags else 0), re.sub(r"\\(\d)", r"\\g<\1>", to)))
        except re.error:
            pass

    def value(v):
        if v is None:
            return v
        for old, new in pairs:
            v = v.replace(old, new)
        for pattern, to in patterns:
            try:
                v = pattern.sub(to, v)
            except (re.error, IndexError):
                pass
        return v

    return [[value(v) for v in row] for row in rows]


def compare(right: list, got: list, event: dict, text: str = "") -> str:
    """same, order, count or rows, of two lists of results."""
    if len(right) != len(got):
        return "rows"
    worst = "same"
    for a, b in zip(right, got):
        kind = compare_one(a, b, event, text)
        if kind == "rows":
            return kind
        worst = kind if kind != "same" else worst
    return worst


def compare_one(a: dict, b: dict, event: dict, text: str = "") -> str:
    if "rows" not in a or "rows" not in b:
        if "rows" in a or "rows" in b:
            return "rows"
        return "same" if a == b else "count"
    if len(a["columns"]) != len(b["columns"]) or a.get("count") != b.get("count"):
        return "rows"
    if "count" in a:
        return "same" if a["all"] == b["all"] else "order" if a["set"] == b["set"] else "rows"
    x, y = a["rows"], b["rows"]
    if event.get("replace") or event.get("regex"):
        x, y = replaced(x, event), replaced(y, event)
    x, y = same_host(x), same_host(y)
    if x != y and _OF_THE_RUN.search(text):
        x, y = without_installed(without_run_times(x, _RECORDED)), without_run_times(y, _ASKED)
    if x == y:
        return "same" if a["columns"] == b["columns"] else "rows"
    return "order" if sorted(map(repr, x)) == sorted(map(repr, y)) else "rows"


def shown(one: dict) -> str:
    """A result as mysqltest writes it."""
    if "rows" not in one or not one["columns"]:
        return ""
    lines = ["\t".join(one["columns"])] + ["\t".join("NULL" if v is None else v for v in row) for row in one["rows"]]
    return "\n".join(lines) + "\n"
