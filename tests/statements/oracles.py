"""What is wrong with an answer, by itself or beside another."""

from __future__ import annotations

import re

from packets import Error, Ok, Rows

# Warnings and other things that a server may find out or not, as its plan goes.
OPTIONAL = {1690, 1365}
# Of values that one statement may meet in one order, another in another, or in the parser.
OPTIONAL |= {1367, 1292, 1366, 1411, 1264, 1406, 1265, 1048, 4037, 4038, 4078, 4079, 1210, 1267, 1270, 1271, 1139, 1582, 4161}
REFUSED = 1235
INTERNAL = {1105, 1815, 3}
# Messages of such errors that MariaDB has too: EXTRACTVALUE's and UPDATEXML's.
MARIADBS = (b"utside", b"XPATH")
# MariaDB's own way of saying that a statement took too long or is too large.
GAVE_UP = {1969, 1317, 1153, 1301, 1038, 1436, 1104, 3024, 1226, 1205, 1213, 5, 1041, 1037}
NUMBER = re.compile(rb"^-?\d+(\.\d*)?([eE][-+]?\d+)?$")


def internal(answer) -> bool:
    return isinstance(answer, Error) and answer.code in INTERNAL and not any(m in answer.message for m in MARIADBS)


def settled(value: bytes | None):
    """A number as what it is worth; the rest as it is."""
    if value is not None and NUMBER.match(value):
        if len(value) < 16 and b"e" not in value.lower() and b"." not in value:
            return int(value)
        try:
            return float(f"{float(value):.9g}") + 0.0
        except OverflowError:
            return value
    if value in (b"-00:00:00",) or value and re.match(rb"^-00:00:00\.0+$", value):
        return value[1:]
    return value


def bag(rows) -> list:
    return sorted((tuple(map(settled, row)) for row in rows), key=repr)


def same_rows(one, other) -> bool:
    return bag(one) == bag(other)


def unequal(one, other) -> str:
    """How two builds of one server differ in an answer, '' if they do not: only rows may come in another order."""
    if any(isinstance(a, Error) and a.code in GAVE_UP for a in (one, other)):
        return ""
    if type(one) is not type(other):
        return "another kind of answer"
    if isinstance(one, Error):
        return "" if one == other else "another error"
    if isinstance(one, Ok):
        parts = ("affected", "insert_id", "warnings", "info")
        return next((f"another {p}" for p in parts if getattr(one, p) != getattr(other, p)), "")
    if one.columns != other.columns:
        return "other columns"
    if sorted(one.rows, key=repr) != sorted(other.rows, key=repr):
        return "other rows"
    return "" if one.end is None or one.end.warnings == other.end.warnings else "other warnings"


def beside(ours, theirs) -> str:
    """How ours differs from the reference's answer, '' if it does not."""
    codes = [a.code if isinstance(a, Error) else 0 for a in (ours, theirs)]
    if REFUSED in codes or any(c in GAVE_UP or c in OPTIONAL for c in codes):
        return ""
    if codes[0] and codes[1]:
        return ""
    if codes[0]:
        return f"refused: {codes[0]}"
    if codes[1]:
        return f"accepted: {codes[1]}"
    if isinstance(ours, Rows) != isinstance(theirs, Rows):
        return "another kind of answer"
    if isinstance(ours, Rows):
        return "" if same_rows(ours.rows, theirs.rows) else "rows"
    if isinstance(ours, Ok) and ours.affected != theirs.affected:
        return "affected rows"
    return ""
