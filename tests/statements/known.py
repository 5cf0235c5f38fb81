"""Differences from MariaDB that are documented, by what their smallest statements look like."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "differences.md"


@dataclass
class Known:
    name: str
    #: Of the smallest statement.
    pattern: re.Pattern
    #: How its line in docs/differences.md begins, or a part of it.
    line: str


def known(name: str, pattern: str, line: str) -> Known:
    return Known(name, re.compile(pattern, re.I | re.S), line)


KNOWN = [
    known("not written", r"\bjson_table\(", "`ST_*`, `JSON_TABLE`"),
    known("salts by chance, and those of methods without an end", r"\bencrypt\(", "| `ENCRYPT` with a salt of yescrypt"),
    known("keys of DES", r"\bdes_\w+\(", "`DES_ENCRYPT` with a key's number"),
    known("remainder", r" % |\bmod\b", "other remainders that are zero"),
    known("convert to ascii", r"convert\(.* using", "`CONVERT('é' USING ascii)`"),
    known("round of nines", r"round\(.*, ?-\d", "`ROUND(d, -1)`"),
    known("subquery of JSON", r"json_\w+\(.*\(select", "a scalar subquery whose value is JSON"),
    known("truth of json", r"json_(extract|query|value)\(", "truth of `JSON_EXTRACT("),
    known("bytes in json", r"json_\w+\(.*(unhex|x'|_binary|aes_|inet6|binary)", "a binary string as a value in JSON"),
    known("latin1 with utf8mb4", r"latin1", "a comparison of an expression in latin1"),
    known("UUID as number", r"_net\b", "`FORMAT(uuid, 1)`"),
    known("rollup", r"with rollup", "`COUNT(DISTINCT ...)`, `GROUP_CONCAT` in the super-aggregate rows"),
    known("outer joins and JSON", r"(left|right) join.*(json_|interval\(|field\(|elt\(|replace\()", "an outer join under WHERE or ON"),
    known("not in of joins", r"join.* not in \(select", "`x NOT IN (SELECT outer_joined_column ...)`"),
    known("number as text", r"cast\(.* as char", "`CAST(0.5 AS CHAR) = 1`"),
    known("quotient of groups", r"group by.* / | / .*group by", "a quotient as a key of GROUP BY"),
    known("ONLY_FULL_GROUP_BY", r"\bhaving\b", "`RAND() r ... HAVING"),
    known("a zero date of a cast", r"\b(min|max)\(cast\([^()]* as date\)\)|cast\([^()]* as date\).*group by|group by.*cast\([^()]* as date\)", "in a comparison, in GROUP BY and in MIN"),
    known("no date compared", r"cast\([^()]* as date\)\)? *(<|>|=|!=)|[<>=] *\(?cast\([^()]* as date\)", "in a comparison, in GROUP BY and in MIN"),
    known("a date of no month", r"last_day\(|'\d{4}-(00|\d\d-00)", "`DAYNAME(LAST_DAY("),
    known("ALTER IGNORE", r"^alter ignore", "`ALTER IGNORE TABLE t ADD PRIMARY KEY`"),
    known("double in a text", r"e308|e-308|e\+", "a DOUBLE stored in a text too short for it"),
    known("a zero date is NULL", r"_(date|moment)\b IS (NOT )?NULL|isnull\(.*_(date|moment)", "`date_column IS NULL` of a NOT NULL column"),
    known("numbers as TIME", r"\b(time|timediff|addtime|subtime|sec_to_time|maketime|hour|minute|second|microsecond)\b.*\d|_clock\b *(<|>|=|!=)|(<|>|=) *(\w+\.)?\w+_clock\b", "`CAST(10000000000 AS TIME)`"),
    known("DATE in BIT", r"_bytes.*\b(date|timestamp|time) '", "a DATE or TIME stored in a BIT column"),
    known("TO_CHAR of NULL", r"to_char\(", "`TO_CHAR(NULL, 'no format')`"),
    known("VALUES in IN", r"in \(values\(", "`x IN (VALUES(c), 1)`"),
    known("RETURNING of nothing", r"(limit 0|where (null|0|false))\b.* returning", "`DELETE ... LIMIT 0 RETURNING"),
    known("dropped default", r"drop default", "`ALTER TABLE t ALTER c DROP DEFAULT`"),
]


def known_of(statement: str) -> str:
    return next((k.name for k in KNOWN if k.pattern.search(statement)), "")


def unlisted() -> list[str]:
    """Entries that name no line of the document: none, or the list is wrong."""
    text = DOCUMENT.read_text()
    return [k.name for k in KNOWN if k.line not in text]
