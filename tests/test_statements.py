"""Statements at random, in short: schemas, rows and statements from fixed seeds (`./fuzz statements` is the long form)."""

from __future__ import annotations

import pytest

from packets import Error, Ok, Rows
from testbed.servers import narwal_binary

from statements import known, run
from statements.expressions import functions
from statements.node import expr, listed, plain, shrink
from statements.oracles import unequal


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


def test_two_builds_differ_in_all_but_the_order_of_rows():
    def rows(*values, columns=("a",), warnings=0):
        return Rows(list(columns), [(v,) for v in values], Ok(0, 0, 2, warnings))

    assert unequal(rows(b"1", b"2"), rows(b"2", b"1")) == ""
    assert unequal(rows(b"1"), rows(b"1.0")) == "other rows"
    assert unequal(rows(b"1"), rows(b"1", b"1")) == "other rows"
    assert unequal(rows(b"1"), rows(b"1", columns=("b",))) == "other columns"
    assert unequal(rows(b"1"), rows(b"1", warnings=1)) == "other warnings"
    assert unequal(Ok(1, 0, 2, 0), Ok(2, 0, 2, 0)) == "another affected"
    assert unequal(Error(1048, "23000", b"x"), Error(1048, "23000", b"y")) == "another error"
    assert unequal(Error(1048, "23000", b"x"), rows()) == "another kind of answer"
    # The time was over in one of them.
    assert unequal(Error(1969, "70100", b"x"), rows()) == ""


@pytest.mark.parametrize("mode", ["wild", "self", "beside", "against"])
def test_fixed_seeds(mode, tmp_path, capsys):
    out = tmp_path / "found"
    how = ["--against", str(narwal_binary())] if mode == "against" else ["--modes", mode]
    code = run.main(["--seconds", "200", "--rounds", "3", "--connections", "1", "--statements", "60", *how, "--seed", "7", "--minimise", "10", "--out", str(out)])
    told = capsys.readouterr().out
    found = "\n".join(path.read_text()[:2000] for path in sorted(out.glob("*.sql")))
    assert code == 0, f"{told}\n{found}"
