"""Statements at random, in short: schemas, rows and statements from fixed seeds (`./fuzz statements` is the long form)."""

from __future__ import annotations

import pytest

from statements import known, run
from statements.expressions import functions
from statements.node import expr, listed, plain, shrink


def test_known_differences_are_documented():
    """Nothing is passed over that docs/differences.md does not have."""
    assert known.unlisted() == []


def test_functions_are_found_in_the_source():
    names = {name for name, _, _ in functions()}
    assert {"concat", "json_extract", "regexp_replace", "aes_encrypt", "period_add", "inet6_aton"} <= names


def test_shrinking_keeps_what_matters():
    """What is made smaller still fails, and has nothing in it that could go."""
    tree = plain("SELECT ", listed([expr("f(", expr("a"), ", ", expr("bad(", expr("'x'"), ")"), ")"), expr("1 + 2")]), " FROM t")
    shrink(tree, lambda: "bad(" in str(tree))
    assert str(tree) in ("SELECT bad(1) FROM t", "SELECT bad(NULL) FROM t", "SELECT bad('x') FROM t")


@pytest.mark.parametrize("mode", ["wild", "self", "beside"])
def test_fixed_seeds(mode, tmp_path, capsys):
    out = tmp_path / "found"
    code = run.main(["--seconds", "200", "--rounds", "3", "--connections", "1", "--statements", "60", "--modes", mode, "--seed", "7", "--minimise", "10", "--out", str(out)])
    told = capsys.readouterr().out
    found = "\n".join(path.read_text()[:2000] for path in sorted(out.glob("*.sql")))
    assert code == 0, f"{told}\n{found}"
