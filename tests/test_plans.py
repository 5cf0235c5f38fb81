"""What EXPLAIN says of plans that must be so: joins and semi-joins that do not read the large side."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from conftest import STAND_IN
from support import Client

pytestmark = pytest.mark.skipif(STAND_IN, reason="Narwal's own plans")


@pytest.fixture(scope="module")
def tables(narwal_server):
    with Client(narwal_server) as client:
        client.ok("CREATE DATABASE plans")
        client.ok("USE plans")
        client.ok("CREATE TABLE n (n INT PRIMARY KEY)")
        client.ok(
            "INSERT INTO n WITH RECURSIVE r AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM r WHERE n < 99) SELECT n FROM r"
        )
        client.ok("CREATE TABLE big (id INT PRIMARY KEY, k INT, v VARCHAR(10))")
        client.ok("INSERT INTO big SELECT a.n * 100 + b.n, b.n, 'v' FROM n a, n b")
        client.ok("CREATE TABLE small (id INT PRIMARY KEY, bid INT, f INT, KEY (f))")
        client.ok("INSERT INTO small SELECT n, n * 7, n % 10 FROM n")
        yield client
        client.ok("DROP DATABASE plans")


def plan(client, sql: str) -> list[tuple]:
    """(select_type, table, type, key) of each row of EXPLAIN."""
    return [(row[1], row[2], row[3], row[5]) for row in client.rows("EXPLAIN " + sql)]


@pytest.mark.parametrize(
    "tables_of",
    ["small JOIN big ON big.id = small.bid", "big JOIN small ON big.id = small.bid", "big, small"],
)
def test_the_large_side_is_looked_up(tables, tables_of):
    where = "small.f = 3" + (" AND big.id = small.bid" if "," in tables_of else "")
    assert plan(tables, f"SELECT COUNT(*) FROM {tables_of} WHERE {where}") == [
        ("SIMPLE", "small", "ref", "f"),
        ("SIMPLE", "big", "eq_ref", "PRIMARY"),
    ]


def test_the_order_of_the_text_is_kept_on_demand(tables):
    found = plan(tables, "SELECT STRAIGHT_JOIN COUNT(*) FROM big JOIN small ON big.id = small.bid WHERE small.f = 3")
    assert [row[1] for row in found] == ["big", "small"]


def test_a_prepared_range_is_planned_by_its_values(tables):
    """What a plan of a prepared statement does shows in how long it takes only, so it is looked at in crates/sql/tests/estimates.rs;
    here: its answers stay the same whatever values come first."""
    sql = "SELECT COUNT(*), SUM(big.k) FROM small JOIN big ON big.id = small.bid WHERE big.id BETWEEN ? AND ?"
    tables.ok(f"PREPARE ranges FROM '{sql}'")
    for low, high in [(0, 9999), (70, 77), (0, 9999), (5, 1), (70, 77)]:
        tables.ok(f"SET @low = {low}, @high = {high}")
        want = tables.rows(sql.replace("?", str(low), 1).replace("?", str(high), 1))
        assert tables.rows("EXECUTE ranges USING @low, @high") == want
    tables.ok("DEALLOCATE PREPARE ranges")


def test_an_outer_join_that_where_makes_an_inner_one(tables):
    found = plan(tables, "SELECT COUNT(*) FROM big LEFT JOIN small ON big.id = small.bid WHERE small.f = 3")
    assert [row[1] for row in found] == ["small", "big"]
    found = plan(tables, "SELECT COUNT(*) FROM big LEFT JOIN small ON big.id = small.bid AND small.f = 3")
    assert [row[1] for row in found] == ["big", "small"]


def test_in_looks_up_what_the_subquery_gave(tables):
    assert plan(tables, "SELECT COUNT(*) FROM big WHERE id IN (SELECT bid FROM small WHERE f = 3)") == [
        ("PRIMARY", "big", "range", "PRIMARY"),
        ("SUBQUERY", "small", "ref", "f"),
    ]


def test_exists_runs_once_where_that_reads_less(tables):
    found = plan(tables, "SELECT COUNT(*) FROM big WHERE EXISTS (SELECT 1 FROM small WHERE bid = big.id AND f = 3)")
    assert found[-1][:2] == ("SUBQUERY", "small")
    # One row of the table around: the subquery runs for it alone.
    found = plan(tables, "SELECT 1 FROM small WHERE id = 5 AND EXISTS (SELECT 1 FROM big WHERE big.id = small.bid)")
    assert found[-1] == ("DEPENDENT SUBQUERY", "big", "eq_ref", "PRIMARY")


def test_json(tables):
    (text,), = tables.rows(
        "EXPLAIN FORMAT=JSON SELECT small.id, (SELECT MAX(k) FROM big) FROM small JOIN big ON big.id = small.bid WHERE f = 3"
    )
    block = json.loads(text)["query_block"]
    names = [step["table"]["table_name"] for step in block["nested_loop"]]
    assert names == ["small", "big"]
    assert block["nested_loop"][1]["table"]["access_type"] == "eq_ref"
    assert block["nested_loop"][1]["table"]["ref"] == ["plans.small.bid"]
    assert block["subqueries"][0]["query_block"]["select_id"] == 2


def extra(client, sql: str) -> list[tuple]:
    """(table, key, Extra) of each row of EXPLAIN."""
    return [(row[2], row[5], row[9]) for row in client.rows("EXPLAIN " + sql)]


def test_an_index_alone_answers(tables):
    assert extra(tables, "SELECT bid FROM small WHERE f = 3") == [("small", "f", "Using where")]
    assert extra(tables, "SELECT id, f FROM small WHERE f = 3") == [("small", "f", "Using where; Using index")]
    assert extra(tables, "SELECT SUM(f) FROM small") == [("small", "f", "Using index")]
    assert extra(tables, "SELECT SUM(f) FROM small IGNORE INDEX (f)")[0][1] is None


def test_ends_and_groups_along_an_index(tables):
    assert extra(tables, "SELECT MIN(f), MAX(f) FROM small") == [(None, None, "Select tables optimized away")]
    assert extra(tables, "SELECT f, COUNT(*) FROM small GROUP BY f") == [("small", "f", "Using index")]
    assert extra(tables, "SELECT DISTINCT f FROM small") == [("small", "f", "Using index")]
    assert "filesort" in extra(tables, "SELECT bid, COUNT(*) FROM small GROUP BY bid")[0][2]


def test_analyze_counts_different_values(tables):
    different = int(tables.value("SELECT COUNT(DISTINCT f) FROM small"))
    assert tables.rows("ANALYZE TABLE small")[0][3] == "OK"
    found = {row[2]: row[6] for row in tables.rows("SHOW INDEX FROM small")}
    assert int(found["f"]) == different
    assert found["PRIMARY"] == tables.value("SELECT COUNT(*) FROM small")


def test_a_sort_beyond_its_buffer_leaves_no_file(narwal_server, tables):
    tables.ok("SET sort_buffer_size = 1024")
    ids = [int(row[0]) for row in tables.rows("SELECT id FROM big ORDER BY -id")]
    assert ids == list(range(9999, -1, -1))
    tables.ok("SET sort_buffer_size = DEFAULT")
    open_files = [os.readlink(f) for f in Path(f"/proc/{narwal_server.process.pid}/fd").iterdir() if f.is_symlink()]
    assert not [f for f in open_files if f.endswith("(deleted)")]
