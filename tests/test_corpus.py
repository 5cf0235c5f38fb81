"""MariaDB's own test files, a few small ones: ./corpus --quick. All of them: docs/corpus.md."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "scripts"))

from corpus import language  # noqa: E402
from corpus.explained import causes  # noqa: E402
from corpus.judge import Judge  # noqa: E402
from corpus.record import SUITES, regexes  # noqa: E402


@pytest.mark.skipif(not (SUITES / "main").is_dir(), reason="mariadb-test-data is not installed")
@pytest.mark.skipif(os.environ.get("NARWAL_TEST_SERVER") == "mariadb", reason="./corpus starts its own servers")
def test_a_few_files_give_the_same_answers(tmp_path):
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "corpus" / "run.py", "--quick", "--out", str(tmp_path)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_files_are_read_as_mysqltest_reads_them():
    text = """
# a comment
SELECT 'a;b', "#"; --error 1
let $i= 2;
while ($i)
{
  eval INSERT INTO t VALUES ($i);
  dec $i;
}
delimiter |;
CREATE PROCEDURE p() BEGIN SELECT 1; END|
delimiter ;|
--disable_parsing
SELECT 'left out';
--enable_parsing
write_file $MYSQLTEST_VARDIR/tmp/x;
it's text;
EOF
SELECT 1 -- it's a comment;
;
"""
    steps = language.parse(text)
    assert [s.name for s in steps] == ["sql", "error", "let", "while", "sql", "write_file", "sql"]
    assert steps[0].text == "SELECT 'a;b', \"#\""
    assert [(s.name, s.text) for s in steps[3].body] == [("eval", "INSERT INTO t VALUES ($i)"), ("dec", "$i")]
    assert steps[4].text == "CREATE PROCEDURE p() BEGIN SELECT 1; END"
    assert steps[5].content == "it's text;\n"
    assert regexes("/a/b/ /c[0-9]/d/i") == [["a", "b", ""], ["c[0-9]", "d", "i"]]


def test_what_a_refusal_spoils_is_counted_behind_it():
    judge = Judge(None)
    fine, refused = {"sets": [{"affected": 0}]}, {"sets": [], "error": [1235, "This version of MariaDB doesn't yet support 'X'"]}
    rows = lambda *values: {"sets": [{"columns": ["a"], "rows": [[v] for v in values]}]}  # noqa: E731

    def kind(text, right, got):
        return judge.verdict({"text": text}, right, got)[:2]

    assert kind("CREATE TABLE t1 (a INT) X", fine, refused) == ("refused", "1235 X")
    assert kind("SELECT a FROM t1", rows("1"), {"sets": [], "error": [1146, "no"]}) == ("cascade", "1235 X")
    assert kind("SELECT 2 AS a", rows("2"), rows("3"))[0] == "rows"
    assert kind("DROP TABLE t1", fine, fine)[0] == "same"
    assert kind("SELECT a FROM t1", rows("1"), rows("2"))[0] == "rows"
    assert kind("SELECT a FROM t2", rows("1", "2"), rows("2", "1"))[0] == "same"
    assert kind("SELECT a FROM t2 ORDER BY a", rows("1", "2"), rows("2", "1"))[0] == "order"
    assert kind("SELECT nope", {"sets": [], "error": [1054, ""]}, rows("1"))[0] == "accepted"
    # Another engine's table is Narwal's, which is said with a warning.
    made, other = rows("CREATE TABLE `t` (...) ENGINE=InnoDB"), rows("CREATE TABLE `t` (..) ENGINE=InnoDB")
    assert kind("SHOW CREATE TABLE t3", rows("CREATE TABLE `t` (...) ENGINE=MyISAM"), made)[0] == "unjudged"
    assert kind("SHOW CREATE TABLE t3", rows("CREATE TABLE `t` (...) ENGINE=MyISAM"), other)[0] == "rows"


def test_causes_of_rows_that_differ_are_in_the_list_of_differences():
    """./corpus --unexplained counts a statement as explained by words: a reader must find them, and the files must be there."""
    differences = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
    missing = [words for words in causes() if words not in differences]
    assert not missing
    if (SUITES / "main").is_dir():
        files = {file for found in causes().values() for file in found}
        # Of other suites with the folder's name in front.
        places = [("main." + file).rsplit(".", 2)[-2:] for file in files]
        unknown = [name for suite, name in places if not any(SUITES.glob(f"**/{suite}/**/{name}.test"))]
        assert not unknown
