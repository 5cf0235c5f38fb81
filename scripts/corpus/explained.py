"""Why rows differ where they do: causes that docs/differences.md has, and the statements of main that they explain.

A cause is known by words of its row in docs/differences.md; a test looks for them there. Below each are files and, behind
them, lines of the file (or of one that it includes); a file alone stands for all of its statements.
"""

from __future__ import annotations

from pathlib import Path

# Answers that the table explains: other rows, another order of them, another number of changed rows.
KINDS = ("rows", "order", "count")

_TABLE = Path(__file__).with_name("explained.txt")


def causes() -> dict[str, dict[str, set[int] | None]]:
    """The files and lines of each cause; None for all lines of a file."""
    found: dict[str, dict[str, set[int] | None]] = {}
    files: dict[str, set[int] | None] = {}
    for line in _TABLE.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            files = found.setdefault(line[2:].strip(), {})
        elif line.strip() and not line.startswith("#"):
            name, *lines = line.split()
            files[name] = set(map(int, lines)) or None
    return found


class Explained:
    """Looks statements up."""

    def __init__(self) -> None:
        self._causes = causes()

    def cause(self, file: str, line: int | None) -> str | None:
        """The words of the cause; None if none is known. `file`: `suite.name`."""
        name = file.removeprefix("main.")
        for words, files in self._causes.items():
            if name in files:
                lines = files[name]
                if lines is None or line in lines:
                    return words
        return None
