#!/usr/bin/env python3
"""Lists the longest functions: `scripts/function_sizes.py [LINES] [CRATE...]`, those of more than LINES lines (100).

A function of that length is a table, or it has several jobs. Tests do not count. Nothing calls this: it is for people.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from check_layers import ROOT  # noqa: E402

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.S)
FN = re.compile(r"^( *)(?:pub(?:\([^)]*\))? )?(?:default |const |async |unsafe |extern \"\" )*fn (\w+)", re.M)


def blank(text: str) -> str:
    """The code without comments and strings, with as many lines as before."""
    return TOKEN.sub(lambda m: "\n" * m[0].count("\n"), text)


def functions(text: str) -> list[tuple[int, str, int]]:
    """Lines, name and first line of each function that is no test."""
    code = blank(text)
    tests = code.find("#[cfg(test)]\nmod ")
    found = []
    for m in FN.finditer(code if tests < 0 else code[:tests]):
        body, end = code.find("{", m.end()), code.find(";", m.end())
        # A declaration, unless the semicolon is an array's in the head.
        if body < 0 or 0 <= end < body and code[m.end() : end].count("[") == code[m.end() : end].count("]"):
            continue
        last, depth = body, 0
        for brace in re.finditer(r"[{}]", code[body:]):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                last = body + brace.start()
                break
        first = code.count("\n", 0, m.start())
        found.append((code.count("\n", 0, last) - first + 1, m[2], first + 1))
    return found


def main() -> int:
    args = sys.argv[1:]
    least = int(args.pop(0)) if args and args[0].isdigit() else 100
    rows = []
    for path in sorted(ROOT.glob("crates/*/src/**/*.rs")):
        name = path.relative_to(ROOT)
        if (args and name.parts[1] not in args) or re.search(r"(^|/)tests?(/|\.rs$)", str(name)):
            continue
        rows += [(n, f"{name}:{at}", fn) for n, fn, at in functions(path.read_text()) if n > least]
    for n, where, fn in sorted(rows, reverse=True):
        print(f"{n:5} {fn:32} {where}")
    print(f"{len(rows)} functions of more than {least} lines")
    return 0


if __name__ == "__main__":
    sys.exit(main())
