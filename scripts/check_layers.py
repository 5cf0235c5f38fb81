#!/usr/bin/env python3
"""Looks whether data goes one way inside each crate: no file imports, by way of others, a file that imports it.

An arrow goes from a file to the file that defines what it names in `use crate::...`, `use super::...` or in a path that
begins so; re-exports are followed to the definition. A name that no item is found for is a macro's, and counts as its file's; a
glob counts as its file's, too. Tests do not count. A circle of arrows is an error.

Folders of a crate that ORDER names are floors: a folder imports from those below it only.

With a crate's name as argument it prints the arrows that make that crate's circles.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Crate -> its folders and files at the top of `src`, from the lowest floor up (docs/architecture.md says what each knows).
ORDER: dict[str, list[str]] = {
    "engine": [
        "error", "clock", "folder", "bell", "key", "gtid_list", "catalog", "store", "locks", "record", "groups", "classic",
        "options", "counters", "binlog", "pressure", "parts", "recovery", "txn", "checkpoint", "commit", "apply", "ddl",
        "xa", "backup", "db", "check",
    ],
    "sql": [
        "quote", "engine_name", "seeded", "user_kind", "like", "zone", "star", "twice", "year_text", "text", "file_format", "xml_file", "privilege", "charset_words", "ast", "param_type", "handlers",
        "status_counts", "env", "merge_table", "numbers", "programs", "virtual_tables", "literal", "lower", "expr", "shape", "bind", "kept_expression", "query_walk", "literal_rows",
        "view_def", "plan",
        "planner", "exec", "prepared", "show", "view", "ddl",
    ],
}  # fmt: skip

Path_ = tuple[str, ...]


def without_comments(text: str) -> str:
    """The code without comments and without what is in strings."""
    token = re.compile(
        r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\.[^\']*|[^\'\\])\'', re.S
    )
    return token.sub(lambda m: '""' if m[0][-1] in "\"#'" else " ", text)


def without_tests(text: str) -> str:
    """The code without its `#[cfg(test)]` items."""
    while m := re.search(r"#\[cfg\(test\)\]\s*(?:#\[[^\]]*\]\s*)*", text):
        end = m.end()
        depth = 0
        while end < len(text):
            c = text[end]
            depth += (c in "{([") - (c in "})]")
            end += 1
            if depth == 0 and (c == ";" or c == "}" or c == ","):
                break
            if depth < 0:
                end -= 1
                break
        text = text[: m.start()] + text[end:]
    return text


def expand(tree: str) -> list[tuple[Path_, str]]:
    """The paths of a use tree, each with the name that it gets."""
    tree = tree.strip()
    if (at := tree.find("{")) >= 0:
        head = [p.strip() for p in tree[:at].split("::") if p.strip()]
        inner, parts, depth, part = tree[at + 1 : tree.rindex("}")], [], 0, ""
        for c in inner:
            depth += (c == "{") - (c == "}")
            if c == "," and depth == 0:
                parts.append(part)
                part = ""
            else:
                part += c
        parts.append(part)
        return [(tuple(head) + p, name or head[-1]) for t in parts if t.strip() for p, name in expand(t)]
    path, _, alias = tree.partition(" as ")
    names = tuple(p.strip() for p in path.split("::") if p.strip())
    if names and names[-1] == "self":
        names = names[:-1]
    return [(names, alias.strip() or (names[-1] if names else ""))]


class File:
    """A source file: the module that it is, what it defines, what it names."""

    def __init__(self, src: Path, path: Path) -> None:
        rel = path.relative_to(src).with_suffix("")
        parts = rel.parts
        if parts[-1] in ("mod", "lib", "main"):
            parts = parts[:-1]
        self.module: Path_ = parts
        self.name = str(path.relative_to(src))
        text = without_tests(without_comments(path.read_text()))
        self.uses: list[tuple[Path_, str]] = []
        self.globs: list[Path_] = []
        for m in re.finditer(r"\buse\s+([^;]+);", text):
            uses = [(self.absolute(p), name) for p, name in expand(m[1])]
            self.uses += uses
            # Not `pub use`, which only names what is below; nor a glob of a module inside the file.
            if text[: m.start()].endswith("\n"):
                self.globs += [p for p, name in uses if name == "*"]
        rest = re.sub(r"\buse\s+[^;]+;", " ", text)
        self.paths = [
            self.absolute(tuple(re.split(r"\s*::\s*", m[0])))
            for m in re.finditer(r"\b(?:crate|super|self)(?:\s*::\s*\w+)+", rest)
        ]
        self.through: dict[str, set[str]] = defaultdict(set)
        for m in re.finditer(r"(?<![:\w])([a-z]\w*)\s*::\s*(\w+)", rest):
            self.through[m[1]].add(m[2])
        self.items = set(
            re.findall(r"(?<!')\b(?:struct|enum|trait|fn|type|const|static|union|mod|macro_rules!)\s+(\w+)", rest)
        )
        self.code = len(rest.split())

    def absolute(self, path: Path_) -> Path_:
        """A path from the crate's root; others as they are."""
        if path[:1] == ("crate",):
            return path
        at = list(self.module)
        if path[:1] == ("self",):
            return ("crate", *at, *path[1:])
        n = 0
        while path[n : n + 1] == ("super",):
            at = at[:-1]
            n += 1
        return ("crate", *at, *path[n:]) if n else path


class Crate:
    """A crate's files, and the arrows between them."""

    def __init__(self, folder: Path) -> None:
        src = folder / "src"
        self.name = folder.name
        files = [f for f in sorted(src.rglob("*.rs")) if not re.search(r"(^|[/_])tests?(/|\.rs$)", str(f.relative_to(src)))]
        self.files = {f.module: f for f in (File(src, p) for p in files)}
        self.arrows: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        for f in self.files.values():
            for path in [p for p, _ in f.uses] + f.paths + self.by_module(f):
                self.draw(f, path)
            for path in f.globs:
                to = self.files.get(path[1:-1])
                if path[0] == "crate" and to and to is not f:
                    self.arrows[f.name][to.name].add("*")

    def by_module(self, f: File) -> list[Path_]:
        """Paths that begin with a module's name: one that was imported, or a child."""
        out = []
        for name, items in f.through.items():
            heads = [p for p, n in f.uses if n == name and p[:1] == ("crate",)]
            if not heads and (*f.module, name) in self.files:
                heads = [("crate", *f.module, name)]
            out += [(*p, item) for p in heads for item in items]
        return out

    def draw(self, f: File, path: Path_) -> None:
        for module, item in self.defined(f, path, 0):
            to = self.files[module]
            if to is not f:
                self.arrows[f.name][to.name].add(item)

    def defined(self, f: File, path: Path_, depth: int, sure: bool = False) -> list[tuple[Path_, str]]:
        """The modules that define what a path names. With `sure`, only if the item itself is found there."""
        if depth > 12 or not path:
            return []
        if path[0] != "crate":
            # A child module, or a name that the file has from elsewhere.
            if (*f.module, path[0]) in self.files:
                path = ("crate", *f.module, *path)
            else:
                return []
        names = path[1:]
        n = len(names)
        while n and names[:n] not in self.files:
            n -= 1
        module, rest = names[:n], names[n:]
        if module not in self.files:
            return []
        at = self.files[module]
        if not rest:
            return []  # a module itself: what is used of it is seen where it is named in full
        if rest[0] in at.items:
            return [(module, rest[0])]
        for p, name in at.uses:
            if name == rest[0] and p != path:
                return self.defined(at, (*p, *rest[1:]), depth + 1, sure)
            if name == "*" and (found := self.defined(at, (*p[:-1], *rest), depth + 1, True)):
                return found
        if sure or rest[0] == "*" or any(name == rest[0] for _, name in at.uses):
            return []
        return [(module, rest[0])]

    def circles(self) -> list[list[str]]:
        """The sets of files that import each other."""
        index: dict[str, int] = {}
        low: dict[str, int] = {}
        stack: list[str] = []
        out: list[list[str]] = []
        sys.setrecursionlimit(10000)

        def visit(v: str) -> None:
            index[v] = low[v] = len(index)
            stack.append(v)
            for w in self.arrows.get(v, {}):
                if w not in index:
                    visit(w)
                    low[v] = min(low[v], low[w])
                elif w in stack:
                    low[v] = min(low[v], index[w])
            if low[v] == index[v]:
                at = stack.index(v)
                if len(part := stack[at:]) > 1:
                    out.append(sorted(part))
                del stack[at:]

        for f in self.files.values():
            if f.name not in index:
                visit(f.name)
        return out

    def upward(self, order: list[str]) -> list[str]:
        """Arrows from a floor to a higher one."""
        floor = {name: i for i, name in enumerate(order)}
        top = lambda name: name.split("/")[0].removesuffix(".rs")  # noqa: E731
        found = []
        for a, to in sorted(self.arrows.items()):
            for b, names in sorted(to.items()):
                if top(a) == top(b) or a == "lib.rs":
                    continue
                if top(b) not in floor or top(a) not in floor:
                    missing = top(b) if top(b) not in floor else top(a)
                    found.append(f"{missing} has no floor: say in ORDER where it stands")
                elif floor[top(b)] >= floor[top(a)]:
                    found.append(f"{a} -> {b}: {', '.join(sorted(names))}")
        return found


def main() -> int:
    crates = [Crate(p.parent) for p in sorted(ROOT.glob("crates/*/Cargo.toml"))]
    if len(sys.argv) > 1:
        for c in (c for c in crates if c.name == sys.argv[1]):
            for circle in c.circles():
                print(f"{len(circle)} files in a circle: {', '.join(circle)}")
                for a in circle:
                    for b in circle:
                        if names := c.arrows[a].get(b):
                            print(f"  {a} -> {b}: {', '.join(sorted(names))}")
            for line in c.upward(ORDER.get(c.name, [])) if c.name in ORDER else []:
                print(f"upward: {line}")
        return 0
    bad = []
    for c in crates:
        if n := sum(map(len, c.circles())):
            bad.append(f"crates/{c.name}: {n} files in circles (scripts/check_layers.py {c.name} shows them)")
        if c.name in ORDER:
            bad += [f"crates/{c.name}: upward: {line}" for line in dict.fromkeys(c.upward(ORDER[c.name]))]
    print("\n".join(bad) if bad else f"{len(crates)} crates: no circles, nothing imports upward")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
