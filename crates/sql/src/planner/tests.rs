//! The steps of planning one by one: the logical plan, what each rule makes of it, and the physical plan.

use super::condition::split_late;
use super::logical::LogicalSelect;
use super::resolve::Resolver;
use super::rules::alternatives::alternatives;
use super::rules::having::having_is_where;
use super::rules::rollup::roll_up;
use super::subqueries::Subqueries;
use crate::{NoVariables, ParseOptions, StatementEnv, Stmt, execute_ddl, parse_statement};
use narwal_engine::{Database, TxnOptions};
use narwal_syntax::ast::Select;
use std::sync::Arc;

struct Fixture {
    _dir: tempfile::TempDir,
    db: Database,
    env: StatementEnv,
}

fn fixture() -> Fixture {
    let dir = tempfile::tempdir().unwrap();
    let db = Database::open(dir.path()).unwrap();
    let mut env = StatementEnv::new(Arc::new(NoVariables));
    env.db = Some("d".into());
    for text in [
        "create database d",
        "create table t (id int primary key, a int, b int not null, c varchar(9), key ab (a, b))",
        "create table u (id int primary key, t_id int, x int)",
    ] {
        let Stmt::Ddl(ddl) = parse_statement(text, &ParseOptions::default()).unwrap() else {
            panic!("{text}");
        };
        execute_ddl(&ddl, text, &db, &TxnOptions::default(), &env).unwrap();
    }
    Fixture { _dir: dir, db, env }
}

fn parsed(text: &str) -> Box<Select> {
    match parse_statement(text, &ParseOptions::default()).unwrap() {
        Stmt::Select(s) => s,
        _ => panic!("{text}"),
    }
}

impl Fixture {
    /// The logical plan, before and after a rule.
    fn ruled(&self, text: &str, rule: impl FnOnce(&mut LogicalSelect)) -> (String, String) {
        let catalog = self.db.catalog();
        let resolver = Resolver::new(&self.db, &catalog, &self.env, None);
        let select = parsed(text);
        let subqueries = Subqueries::new(&resolver, &select.subqueries);
        let mut l = resolver.logical_select(&select, &subqueries, None).unwrap();
        let before = l.to_string();
        rule(&mut l);
        (before, l.to_string())
    }

    fn logical(&self, text: &str) -> String {
        self.ruled(text, |_| ()).0
    }

    fn physical(&self, text: &str) -> String {
        let catalog = self.db.catalog();
        let resolver = Resolver::new(&self.db, &catalog, &self.env, None);
        resolver.select(&parsed(text)).unwrap().to_string()
    }
}

#[test]
fn a_logical_plan_says_what_the_text_says() {
    let f = fixture();
    let text = "select distinct a, b + 1 x from t where a > 1 group by a having x > 2 order by b";
    let want = "from t
where `d`.`t`.`a` > 1
group by `d`.`t`.`a`
having `d`.`t`.`b` + 1 > 2
select `d`.`t`.`a`, `d`.`t`.`b` + 1
distinct
order by `d`.`t`.`b`
";
    assert_eq!(f.logical(text), want);
    let text = "select t.c, u.x from t left join u on u.t_id = t.id and u.x > 3";
    let want = "from (t left join u on `d`.`u`.`t_id` = `d`.`t`.`id` and `d`.`u`.`x` > 3)
select `d`.`t`.`c`, `d`.`u`.`x`
";
    assert_eq!(f.logical(text), want);
}

#[test]
fn having_without_groups_becomes_where() {
    let f = fixture();
    let (before, after) = f.ruled("select a from t where b = 2 having a > 1", having_is_where);
    assert_eq!(
        before,
        "from t\nwhere `d`.`t`.`b` = 2\nhaving `d`.`t`.`a` > 1\nselect `d`.`t`.`a`\n"
    );
    assert_eq!(
        after,
        "from t\nwhere `d`.`t`.`b` = 2 and `d`.`t`.`a` > 1\nselect `d`.`t`.`a`\n"
    );
    // With groups it stays.
    let text = "select a from t group by a having a > 1";
    let (before, after) = f.ruled(text, having_is_where);
    assert_eq!(before, after);
}

#[test]
fn what_all_branches_of_an_or_say_is_said_beside_it() {
    let f = fixture();
    let ruled = |text: &str| {
        let (_, after) = f.ruled(text, |l| {
            l.filter = alternatives(l.filter.take(), &l.sources);
        });
        let of = |l: &str| l.strip_prefix("where ").map(|l| l.replace("`d`.", ""));
        after
            .lines()
            .find_map(of)
            .unwrap_or_default()
            .replace('`', "")
    };
    for (text, want) in [
        (
            "select 1 from t, u where t.id = u.t_id and u.x = 1 or u.t_id = t.id and u.x = 2",
            "t.id = u.t_id and (u.x = 1 or u.x = 2)",
        ),
        (
            "select 1 from t, u where t.a = 1 and u.x = 1 or t.a = 2",
            "(t.a = 1 or t.a = 2) and (t.a = 1 and u.x = 1 or t.a = 2)",
        ),
        // The first column of an index.
        (
            "select 1 from t where a = 1 and b = 2 or a = 3 and b = 4",
            "(a = 1 or a = 3) and (a = 1 and b = 2 or a = 3 and b = 4)",
        ),
        ("select 1 from t where a = 1 or a = 1 and b = 2", "a = 1"),
        // A branch says nothing of it; or each evaluation counts.
        (
            "select 1 from t, u where t.a = 1 and u.x = 1 or u.x = t.b",
            "t.a = 1 and u.x = 1 or u.x = t.b",
        ),
        (
            "select 1 from t where a = 1 and rand() > 0.5 or a = 1 and b = 2",
            "a = 1 and rand() > 0.5 or a = 1 and b = 2",
        ),
    ] {
        assert_eq!(
            ruled(text).replace("t.a", "a").replace("t.b", "b"),
            want.replace("t.a", "a").replace("t.b", "b"),
            "{text}"
        );
    }
}

#[test]
fn conditions_with_subqueries_for_each_row_come_late() {
    let f = fixture();
    let text = "select a from t where b = 2 and exists (select 1 from u where u.x > t.a)";
    let (before, after) = f.ruled(text, |l| {
        (l.filter, l.late) = split_late(l.filter.take());
    });
    let lines = |s: &str| s.lines().map(str::to_string).collect::<Vec<_>>();
    assert!(
        before.starts_with("from t\nwhere `d`.`t`.`b` = 2 and "),
        "{before}"
    );
    let after = lines(&after);
    assert_eq!(after[1], "where `d`.`t`.`b` = 2");
    assert!(after[2].starts_with("for each row "), "{after:?}");
}

#[test]
fn physical_plans_name_their_access_paths() {
    let f = fixture();
    for (text, want) in [
        (
            "select c from t where id = 1",
            "point of t.PRIMARY\nput out #3\n",
        ),
        (
            "select a, b from t where a = 1 and b > 2",
            "ranges of t.ab, 2 parts, index only\nput out #1, #2\n",
        ),
        (
            "select c from t order by id desc",
            "all of t.PRIMARY, backwards\nput out #3\n",
        ),
        (
            "select c from t order by c, id",
            "all of t.PRIMARY\nsort `d`.`t`.`c`, `d`.`t`.`id`\nput out #3\n",
        ),
        (
            "select a, max(b) from t group by a",
            "all of t.ab, index only\ngroup along the index `d`.`t`.`a`\naggregates max(`d`.`t`.`b`)\nput out #1, max(`d`.`t`.`b`)\n",
        ),
        (
            "select max(id) from t",
            "all of t.ab, index only\nends of indexes\naggregates max(`d`.`t`.`id`)\nput out max(`d`.`t`.`id`)\n",
        ),
    ] {
        assert_eq!(f.physical(text), want, "{text}");
    }
}

#[test]
fn a_join_prints_its_sources_in_the_order_in_which_they_are_read() {
    let f = fixture();
    let text = "select t.c, u.x from u join t on t.id = u.t_id where u.x = 5";
    // The tables are empty: t is read first, and each of its rows looks into the rows that are kept of u.
    let want = "join (1, 0)
  0, kept by a hash:
  all of u.PRIMARY
  where `d`.`u`.`x` = 5
  1:
  all of t.PRIMARY
put out #6, #2
";
    assert_eq!(f.physical(text), want);
}

#[test]
fn the_order_of_a_select_with_window_functions_is_in_their_plan() {
    let f = fixture();
    let text = "select c, sum(b) over (partition by a order by id desc) s from t order by s";
    let want = "from t
window sum(`d`.`t`.`b`) partition by `d`.`t`.`a` order by `d`.`t`.`id` desc
select `d`.`t`.`c`, window#0
order by window#0
";
    assert_eq!(f.logical(text), want);
    let want = "all of t.PRIMARY
windows sum(`d`.`t`.`b`) partition by `d`.`t`.`a` order by `d`.`t`.`id` desc
sort window function
put out #3, window function
";
    assert_eq!(f.physical(text), want);
    // What is computed of groups comes in the order of their keys; the index need not give it.
    let text = "select c, count(*), rank() over (order by c) from t group by c";
    let want = "all of t.PRIMARY
group `d`.`t`.`c`
aggregates count()
sort `d`.`t`.`c`
windows Rank() order by `d`.`t`.`c`
put out #3, count(), window function
";
    assert_eq!(f.physical(text), want);
}

#[test]
fn having_prefers_the_keys_of_groups_to_names_of_items() {
    let f = fixture();
    let text = "select b a, a c from t group by t.a having a > 1";
    let want = "from t
group by `d`.`t`.`a`
having `d`.`t`.`a` > 1
select `d`.`t`.`b`, `d`.`t`.`a`
";
    assert_eq!(f.logical(text), want);
}

#[test]
fn rollup_reads_keys_behind_the_aggregates() {
    let f = fixture();
    let text = "select a, count(*), rank() over (order by a) from t group by a with rollup";
    let (_, after) = f.ruled(text, |l| roll_up(l).unwrap());
    let want = "from t
group by `d`.`t`.`a`
aggregates count()
window Rank() order by `d`.`t`.`a`
select `d`.`t`.`a`, count(), window#0
";
    assert_eq!(after, want);
}
