#!/usr/bin/env python3
"""Checks the dependency tree from `cargo metadata`: licences, banned crates, duplicate versions, sources.

Exits with 1 and names every finding. Takes a second; needs only Python's standard library.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

# Licences that an Apache-2.0 program may link without taking on more than notices.
ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-1-Clause", "BSD-2-Clause", "BSD-3-Clause",
    "BSL-1.0", "CC0-1.0", "CDLA-Permissive-2.0", "ISC", "MIT", "MIT-0", "Unicode-3.0", "Unicode-DFS-2016",
    "Unlicense", "Zlib",
}  # fmt: skip

# Crate -> why it must not come in.
BANNED = {
    "openssl-sys": "TLS is rustls; no system OpenSSL",
    "native-tls": "TLS is rustls",
    "aws-lc-sys": "needs cmake and minutes to build; rustls runs on ring",
    "opensrv-mysql": "judged and not enough for a full server",
    "tokio": "threads and blocking sockets until something measures better",
    "async-std": "unmaintained",
    "rocksdb": "minutes to build; the base is redb",
    "librocksdb-sys": "minutes to build; the base is redb",
    "failure": "unmaintained",
    "chrono": "dates are our own types; avoid a second calendar",
}

# Workspace member -> banned crates that it, and nothing else, may bring in.
ONLY_BELOW = {
    "narwal-archive": {"tokio", "chrono"},  # what an object store's client runs on
    "narwal-types": {"chrono"},  # types/zone.rs: rules of named time zones come with chrono-tz, nothing else of it is used
}

# How many crates may be in the tree in more than one version (rsa 0.9 and mysql_common span two generations of digest
# and rand); raise it only with a look at what came in.
DUPLICATES_LIMIT = 16


def split_top(text: str, word: str) -> list[str]:
    """Splits an SPDX expression at `word` outside of parentheses."""
    parts, depth, current = [], 0, []
    for token in re.findall(r"\(|\)|[^\s()]+", text):
        depth += (token == "(") - (token == ")")
        if token == word and depth == 0:
            parts.append(" ".join(current))
            current = []
        else:
            current.append(token)
    return [*parts, " ".join(current)]


def acceptable(expression: str) -> bool:
    """Whether some choice that the SPDX expression offers is in ALLOWED as a whole."""
    expression = expression.strip().replace("/", " OR ")
    choices = split_top(expression, "OR")
    if len(choices) > 1:
        return any(acceptable(c) for c in choices)
    both = split_top(expression, "AND")
    if len(both) > 1:
        return all(acceptable(b) for b in both)
    if expression.startswith("(") and expression.endswith(")"):
        return acceptable(expression[1:-1])
    return expression in ALLOWED


def self_check() -> None:
    """The rules above on expressions whose answers are known: a check that cannot fail proves nothing."""
    for good in ("MIT", "MIT OR GPL-3.0", "(MIT OR GPL-2.0) AND Zlib", "MIT/Apache-2.0", "Apache-2.0 WITH LLVM-exception"):
        assert acceptable(good), good
    for bad in ("GPL-3.0", "MIT AND GPL-3.0", "(MIT AND MPL-2.0) OR AGPL-3.0", ""):
        assert not acceptable(bad), bad


def reachable(meta: dict, banned: str) -> set[str]:
    """Packages that members need by other ways than those by which they may need the banned one."""
    allowed = {member for member, names in ONLY_BELOW.items() if banned in names}
    names = {p["id"]: p["name"] for p in meta["packages"]}
    needs = {node["id"]: node["dependencies"] for node in meta["resolve"]["nodes"]}
    seen, todo = set(), [m for m in meta["workspace_members"] if names[m] not in allowed]
    while todo:
        package = todo.pop()
        if package not in seen and names[package] not in allowed:
            seen.add(package)
            todo += needs[package]
    return seen


def main() -> int:
    self_check()
    done = subprocess.run(
        ["cargo", "metadata", "--format-version=1", "--locked", "--filter-platform=x86_64-unknown-linux-gnu"],
        capture_output=True, text=True, cwd=ROOT,
    )  # fmt: skip
    if done.returncode:
        print(done.stderr.strip(), file=sys.stderr)
        return 1
    meta = json.loads(done.stdout)
    members = set(meta["workspace_members"])
    # With a platform filter only the packages of the resolved graph are built; the others are listed all the same.
    used = {node["id"] for node in meta["resolve"]["nodes"]}
    reached = {name: reachable(meta, name) for name in BANNED}
    findings, versions = [], defaultdict(set)
    for package in meta["packages"]:
        if package["id"] not in used:
            continue
        name, version, licence = package["name"], package["version"], package["license"] or ""
        versions[name].add(version)
        if package["id"] in members:
            if licence != "Apache-2.0":
                findings.append(f"{name}: workspace members are Apache-2.0, found {licence!r}")
            continue
        if not acceptable(licence):
            findings.append(f"{name} {version}: licence {licence!r} is not in the allow-list")
        if name in BANNED and package["id"] in reached[name]:
            findings.append(f"{name} {version}: banned: {BANNED[name]}")
        if package["source"] is None and Path(package["manifest_path"]).is_relative_to(ROOT / "vendor"):
            continue
        if package["source"] != "registry+https://github.com/rust-lang/crates.io-index":
            findings.append(f"{name} {version}: comes from {package['source']}, not crates.io")
    twice = {n: v for n, v in versions.items() if len(v) > 1}
    if len(twice) > DUPLICATES_LIMIT:
        listed = ", ".join(f"{n} {'/'.join(sorted(v))}" for n, v in sorted(twice.items()))
        findings.append(f"{len(twice)} crates in several versions, limit {DUPLICATES_LIMIT}: {listed}")
    for finding in findings:
        print(f"dependency check: {finding}")
    print(f"dependency check: {len(used)} packages, {len(twice)} in several versions, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
