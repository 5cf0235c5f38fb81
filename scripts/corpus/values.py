"""Values that are another one on each server, as marks in a statement's text.

MariaDB's answers decide which way a file goes, and are kept; Narwal gets the same statements later. What a statement takes
from a server (let $id= followed by a query in backquotes) or from the run's folder stands in it as a mark, and each server puts its
own value there.
"""

from __future__ import annotations

import re

# The folder for files.
FOLDER = "\x01F\x02"
# \x01 number \x03 MariaDB's value \x02
_QUERIED = re.compile("\x01(\\d+)\x03([^\x01\x02]*)\x02")


def queried(number: int, value: str) -> str:
    """A value that query `number` of the file gave. Small ones, which are counts, names and yes or no, are the same text on
    both servers."""
    return f"\x01{number}\x03{value}\x02" if value.isdigit() and len(value) < 12 and int(value) > 1 else value


def plain(text: str, folder: str = FOLDER) -> str:
    """The text as MariaDB gets it."""
    return _QUERIED.sub(lambda m: m.group(2), text).replace(FOLDER, folder)


def of_server(text: str, folder: str, answers: dict[int, str]) -> str:
    """The text with one server's own answers in place of the marks."""
    return _QUERIED.sub(lambda m: answers.get(int(m.group(1)), m.group(2)), text).replace(FOLDER, folder)
