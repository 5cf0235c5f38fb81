//! EXPLAIN: what a plan does, in MariaDB's words. ANALYZE: also what it did.

use super::access::{Access, Lookup};
use super::counts::{Count, Counts};
use super::json::Json;
use super::sarg::ColCond;
use crate::expr::node::{Expr, ExprKind};
use crate::plan::interval::key_len;
use crate::plan::query::SelectPlan;
use crate::plan::query::SetPlan;
use crate::plan::query::SubPlan;
use crate::plan::query::{Rows, TablePlan};
use narwal_engine::Table;
use narwal_syntax::ast::{ExplainForm, SetKind};
use narwal_types::{BlobSize, Collation, ColumnType, NumberForm, ResultColumn, TypeKind, Value};

/// A result column without a table.
pub fn plain_column(name: &str, ty: ColumnType, nullable: bool) -> ResultColumn {
    ResultColumn {
        db: String::new(),
        table: String::new(),
        org_table: String::new(),
        name: name.to_string(),
        org_name: String::new(),
        ty,
        nullable,
        length: 0,
        decimals: 0,
        primary_key: false,
        unique_key: false,
        multiple_key: false,
        auto_increment: false,
        no_default: false,
        set_by_time: false,
        on_update_now: false,
        null_type: false,
        json: false,
    }
}

/// A text type for made-up result columns.
pub fn text_type(chars: u16) -> ColumnType {
    ColumnType {
        kind: TypeKind::VarChar(chars),
        unsigned: false,
        collation: Collation::Utf8mb4GeneralCi,
        form: narwal_types::NumberForm::NONE,
    }
}

/// BIGINT.
pub fn bigint() -> ColumnType {
    ColumnType {
        kind: TypeKind::BigInt,
        unsigned: false,
        collation: Collation::Binary,
        form: narwal_types::NumberForm::NONE,
    }
}

/// A share or a mean, with two digits behind the point.
fn share(name: &str) -> ResultColumn {
    let ty = ColumnType {
        form: NumberForm {
            zeros: 0,
            digits: Some((10, 2)),
        },
        ..ColumnType::double()
    };
    ResultColumn {
        decimals: 2,
        ..plain_column(name, ty, true)
    }
}

/// The columns of the answer.
pub fn columns(form: ExplainForm) -> Vec<ResultColumn> {
    let t = |n: &str, len: u16, null: bool| plain_column(n, text_type(len), null);
    let mut columns = match form {
        ExplainForm::Json => return vec![t("EXPLAIN", 4096, false)],
        ExplainForm::AnalyzeJson => return vec![t("ANALYZE", 4096, false)],
        _ => vec![
            plain_column("id", bigint(), true),
            t("select_type", 19, false),
            t("table", 64, true),
        ],
    };
    if form == ExplainForm::Partitions {
        columns.push(t("partitions", 4096, true));
    }
    columns.extend([
        t("type", 10, true),
        t("possible_keys", 4096, true),
        t("key", 64, true),
        t("key_len", 4096, true),
        t("ref", 2048, true),
        plain_column("rows", bigint(), true),
    ]);
    match form {
        ExplainForm::Extended => columns.push(share("filtered")),
        ExplainForm::Analyze => {
            columns.extend(["r_rows", "filtered", "r_filtered"].map(share));
        }
        _ => {}
    }
    columns.push(t("Extra", 255, true));
    columns
}

fn type_key_len(ty: &ColumnType, prefix: Option<u16>) -> usize {
    let char_len = |n: usize| n * ty.char_bytes() as usize;
    match (ty.kind, prefix) {
        (TypeKind::Char(_) | TypeKind::Binary(_), Some(p)) => char_len(p as usize),
        (
            TypeKind::VarChar(_) | TypeKind::VarBinary(_) | TypeKind::Text(_) | TypeKind::Blob(_),
            Some(p),
        ) => char_len(p as usize) + 2,
        (TypeKind::Char(n) | TypeKind::Binary(n), None) => char_len(n as usize),
        (TypeKind::VarChar(n) | TypeKind::VarBinary(n), None) => char_len(n as usize) + 2,
        (TypeKind::Text(b) | TypeKind::Blob(b), None) => {
            b as usize + if b == BlobSize::Tiny { 255 } else { 0 }
        }
        _ => key_len(ty),
    }
}

fn used_parts(a: &Access) -> usize {
    match &a.lookup {
        Lookup::Full => 0,
        Lookup::Point(v) => v.len(),
        Lookup::Ranges(v) => v.len(),
    }
}

/// Length in bytes of the first `n` parts of an index, as MariaDB counts it.
fn index_key_len(table: &Table, index: usize, n: usize) -> usize {
    table.indexes[index]
        .parts
        .iter()
        .take(n)
        .map(|p| type_key_len(&table.def.columns[p.column].ty, p.prefix) + usize::from(p.nullable))
        .sum()
}

/// A table as EXPLAIN shows it.
#[derive(Default)]
struct Line {
    table: Option<String>,
    kind: Option<&'static str>,
    possible: Vec<String>,
    key: Option<String>,
    key_len: usize,
    key_parts: Vec<String>,
    refs: Vec<String>,
    rows: Option<u64>,
    extra: Vec<&'static str>,
    condition: Option<String>,
    /// What a derived table is made of.
    below: Option<Box<Block>>,
    /// What was read of it, for ANALYZE.
    count: Option<Count>,
    /// What is done to the table, for JSON.
    verb: Option<&'static str>,
    /// The target of INSERT: nothing is read.
    inserted: bool,
}

/// A SELECT as EXPLAIN shows it.
struct Block {
    id: Option<i64>,
    select_type: &'static str,
    lines: Vec<Line>,
    temporary: bool,
    filesort: bool,
    /// SELECTs put together: this block is their result.
    parts: Vec<Block>,
    subqueries: Vec<Block>,
}

/// What the making of blocks has to know.
#[derive(Default)]
struct Making<'c> {
    /// The number of the newest SELECT.
    last: i64,
    /// What the statement has read, if it ran.
    counts: Option<&'c Counts>,
}

impl Making<'_> {
    /// The number of the next SELECT.
    fn next(&mut self) -> i64 {
        self.last += 1;
        self.last
    }

    fn count(&self, t: &TablePlan) -> Option<Count> {
        self.counts.map(|c| c.of(t))
    }
}

impl Line {
    fn message(text: &'static str) -> Line {
        Line {
            extra: vec![text],
            ..Line::default()
        }
    }

    /// A table in the store. `others`: what its lookup takes from other tables, which are parameters from `params` on.
    fn stored(
        t: &TablePlan,
        name: &str,
        select: bool,
        others: Option<(usize, &[Expr])>,
        making: &Making<'_>,
    ) -> Line {
        let a = &t.access;
        let index_name = |i: usize| t.table.indexes[i].name.clone();
        let n = used_parts(a);
        let values: Vec<&Expr> = match &a.lookup {
            Lookup::Full => Vec::new(),
            Lookup::Point(v) => v.iter().collect(),
            Lookup::Ranges(v) => v
                .iter()
                .filter_map(|c| match c {
                    ColCond::Cmp(_, e) => Some(e),
                    _ => None,
                })
                .collect(),
        };
        let other = |e: &Expr| match (&e.kind, others) {
            (ExprKind::Param(p), Some((params, list))) => {
                p.checked_sub(params).and_then(|i| list.get(i))
            }
            _ => None,
        };
        // A value of the query around a subquery.
        let around = |e: &Expr| e.any(&|e| matches!(e.kind, ExprKind::Outer(_)));
        let refs = || -> Vec<String> {
            (0..n)
                .map(|i| match values.get(i).map(|e| (other(e), around(e))) {
                    Some((Some(e), _)) => e.to_string().replace('`', ""),
                    Some((None, true)) => "func".to_string(),
                    _ => "const".to_string(),
                })
                .collect()
        };
        let joined = values.iter().any(|e| other(e).is_some() || around(e));
        let (kind, parts, refs) = match &a.lookup {
            Lookup::Point(_) if joined => ("eq_ref", n, refs()),
            Lookup::Point(_) if select => ("const", n, refs()),
            Lookup::Ranges(c) if c.iter().all(ColCond::is_single) && select => ("ref", n, refs()),
            Lookup::Point(_) | Lookup::Ranges(_) => ("range", n, Vec::new()),
            Lookup::Full if a.index != 0 || (a.ordered && !t.table.hidden_pk) => {
                ("index", t.table.indexes[a.index].parts.len(), Vec::new())
            }
            Lookup::Full => ("ALL", 0, Vec::new()),
        };
        let used = kind != "ALL";
        Line {
            table: Some(name.to_string()),
            kind: Some(kind),
            possible: a.possible.iter().map(|i| index_name(*i)).collect(),
            key: used.then(|| index_name(a.index)),
            key_len: index_key_len(&t.table, a.index, parts),
            key_parts: t.table.indexes[a.index]
                .parts
                .iter()
                .take(if used { parts } else { 0 })
                .map(|p| t.table.columns()[p.column].name.clone())
                .collect(),
            refs,
            rows: Some(a.rows.max(1)),
            condition: t
                .filter
                .iter()
                .chain(&t.late)
                .map(|e| e.to_string().replace('`', ""))
                .reduce(|a, b| format!("{a} and {b}")),
            count: making.count(t),
            ..Line::default()
        }
    }

    fn row(
        &self,
        id: Option<i64>,
        select_type: &str,
        extra: &[&str],
        form: ExplainForm,
    ) -> Vec<Value> {
        let text = |s: Option<&str>| s.map_or(Value::Null, Value::str);
        let list = |v: &[String]| {
            if v.is_empty() {
                Value::Null
            } else {
                Value::str(v.join(","))
            }
        };
        let share = |n: Option<f64>| n.map_or(Value::Null, Value::Double);
        let key_len = self.key.as_ref().map(|_| self.key_len.to_string());
        let mut out = vec![
            id.map_or(Value::Null, Value::Int),
            Value::str(select_type),
            text(self.table.as_deref()),
        ];
        if form == ExplainForm::Partitions {
            out.push(Value::Null);
        }
        out.extend([
            text(self.kind),
            list(&self.possible),
            text(self.key.as_deref()),
            text(key_len.as_deref()),
            list(&self.refs),
            self.rows.map_or(Value::Null, |n| Value::Int(n as i64)),
        ]);
        let filtered = (self.rows.is_some() || self.inserted).then_some(100.0);
        match form {
            ExplainForm::Extended => out.push(share(filtered)),
            ExplainForm::Analyze => out.extend([
                share(self.count.and_then(|c| c.rows_per_loop())),
                share(filtered),
                share(match self.inserted {
                    true => filtered,
                    false => self.count.and_then(|c| c.filtered()),
                }),
            ]),
            _ => {}
        }
        let extra: Vec<&str> = self.extra.iter().chain(extra).copied().collect();
        out.push(match self.inserted {
            true => Value::Null,
            false => Value::str(extra.join("; ")),
        });
        out
    }

    fn json(&self) -> Json {
        let mut out = Json::object();
        match &self.table {
            None => out.put("message", Json::text(self.extra.first().unwrap_or(&""))),
            Some(t) if self.inserted => out.put("table_name", Json::text(t)),
            Some(t) => {
                if let Some(verb) = self.verb {
                    out.put(verb, Json::Plain("1".into()));
                }
                out.put("table_name", Json::text(t));
                out.put("access_type", Json::text(self.kind.unwrap_or("ALL")));
                let list = |v: &[String]| Json::List(v.iter().map(|s| Json::text(s)).collect());
                if !self.possible.is_empty() {
                    out.put("possible_keys", list(&self.possible));
                }
                if let Some(key) = &self.key {
                    out.put("key", Json::text(key));
                    out.put("key_length", Json::text(&self.key_len.to_string()));
                    out.put("used_key_parts", list(&self.key_parts));
                }
                if !self.refs.is_empty() {
                    out.put("ref", list(&self.refs));
                }
                self.json_rows(&mut out);
                if let Some(c) = &self.condition {
                    out.put("attached_condition", Json::text(c));
                }
                if self.extra.contains(&"Using index") {
                    out.put("using_index", Json::Plain("true".into()));
                }
                if let Some(b) = &self.below {
                    out.put("materialized", b.json());
                }
            }
        }
        out
    }
}

impl Line {
    /// How many rows there were to be, and were.
    fn json_rows(&self, out: &mut Json) {
        let number = |n: f64| Json::Plain(n.to_string());
        if let Some(c) = &self.count
            && self.verb.is_none()
        {
            out.put("r_loops", Json::Plain(c.loops.to_string()));
        }
        if let Some(n) = self.rows {
            out.put("rows", Json::Plain(n.to_string()));
        }
        if let Some(n) = self.count.and_then(|c| c.rows_per_loop()) {
            out.put("r_rows", number(n));
        }
        if self.verb.is_none() {
            out.put("filtered", Json::Plain("100".into()));
        }
        if let Some(n) = self.count.and_then(|c| c.filtered()) {
            out.put("r_filtered", number(n));
        }
    }
}

/// True if rows are counted without being looked at.
fn counts_entries(p: &SelectPlan, t: &TablePlan) -> bool {
    p.group
        .as_ref()
        .is_some_and(|g| g.counts_only && g.keys.is_empty())
        && (t.filter.is_none() || t.access.covers_filter)
        && t.late.is_none()
        && t.is_stored()
}

impl Block {
    fn new(id: Option<i64>, select_type: &'static str) -> Block {
        Block {
            id,
            select_type,
            lines: Vec::new(),
            temporary: false,
            filesort: false,
            parts: Vec::new(),
            subqueries: Vec::new(),
        }
    }

    /// A planned SELECT. `name`: of its only table.
    fn of(p: &SelectPlan, select_type: &'static str, making: &mut Making<'_>) -> Block {
        if let Some(TablePlan {
            rows: Rows::Set(set),
            ..
        }) = &p.table
        {
            return Block::of_set(set, p, select_type, making);
        }
        let mut b = Block::new(Some(making.next()), select_type);
        let sorted = !p.sort.is_empty();
        b.filesort = sorted;
        b.temporary = p
            .group
            .as_ref()
            .is_some_and(|g| !g.keys.is_empty() && g.by_index.is_none())
            || (p.distinct && !p.distinct_by_sort)
            || p.windows.is_some();
        let name = |i: usize| p.names.get(i).map_or("", String::as_str);
        match &p.table {
            None => b.lines.push(Line::message("No tables used")),
            Some(_) if p.group.as_ref().is_some_and(|g| !g.ends.is_empty()) => {
                b.lines.push(Line::message("Select tables optimized away"));
            }
            Some(t) => match &t.rows {
                Rows::Join(join) => {
                    for i in join.order() {
                        let leaf = &join.leaves[i];
                        let mut line = Line::of(
                            &leaf.plan,
                            name(i),
                            Some((leaf.params, &leaf.outer)),
                            making,
                        );
                        if leaf.plan.filter.is_some() {
                            line.extra.push("Using where");
                        }
                        if leaf.plan.cover.is_some() {
                            line.extra.push("Using index");
                        }
                        if let Some(kept) = &leaf.kept
                            && !b.lines.is_empty()
                        {
                            line.extra.push(match kept.hash {
                                Some(_) => "Using join buffer (flat, BNLH join)",
                                None => "Using join buffer (flat, BNL join)",
                            });
                        }
                        b.lines.push(line);
                    }
                    if (t.filter.is_some() || t.late.is_some())
                        && let Some(last) = b.lines.last_mut()
                        && !last.extra.contains(&"Using where")
                    {
                        last.extra.insert(0, "Using where");
                    }
                }
                _ => {
                    let mut line = Line::of(t, name(0), None, making);
                    let looked_up = matches!(t.access.lookup, Lookup::Point(_)) && t.is_stored();
                    if (t.filter.is_some() && !looked_up) || t.late.is_some() {
                        line.extra.push("Using where");
                    }
                    match p.group.as_ref().and_then(|g| g.by_index.as_ref()) {
                        Some(by) if by.skip_behind.is_some() => {
                            line.extra.push("Using index for group-by")
                        }
                        Some(_) => line.extra.push("Using index"),
                        None if t.cover.is_some() || counts_entries(p, t) => {
                            line.extra.push("Using index");
                        }
                        None => {}
                    }
                    b.lines.push(line);
                }
            },
        }
        for s in &p.subqueries {
            b.subqueries
                .push(Block::of(&s.plan, subquery_type(s), making));
        }
        b
    }

    fn of_set(
        set: &SetPlan,
        p: &SelectPlan,
        select_type: &'static str,
        making: &mut Making<'_>,
    ) -> Block {
        let first_type = if select_type == "SIMPLE" {
            "PRIMARY"
        } else {
            select_type
        };
        let mut parts = vec![Block::of(&set.first, first_type, making)];
        let mut kinds = Vec::new();
        for (op, part) in &set.rest {
            let kind = match op.kind {
                SetKind::Union => "UNION",
                SetKind::Intersect => "INTERSECT",
                SetKind::Except => "EXCEPT",
            };
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
            parts.push(Block::of(part, kind, making));
        }
        let ids: Vec<String> = parts
            .iter()
            .filter_map(|b| b.first_id())
            .map(|n| n.to_string())
            .collect();
        let (result, name) = match kinds.as_slice() {
            ["UNION"] => ("UNION RESULT", "union"),
            ["INTERSECT"] => ("INTERSECT RESULT", "intersect"),
            ["EXCEPT"] => ("EXCEPT RESULT", "except"),
            _ => ("UNIT RESULT", "unit"),
        };
        let mut b = Block::new(None, result);
        b.filesort = !p.sort.is_empty();
        b.lines.push(Line {
            table: Some(format!("<{name}{}>", ids.join(","))),
            kind: Some("ALL"),
            ..Line::default()
        });
        b.parts = parts;
        for s in &p.subqueries {
            b.subqueries
                .push(Block::of(&s.plan, subquery_type(s), making));
        }
        b
    }

    fn first_id(&self) -> Option<i64> {
        self.id.or_else(|| self.parts.first()?.first_id())
    }

    fn has_others(&self) -> bool {
        !self.subqueries.is_empty()
            || !self.parts.is_empty()
            || self.lines.iter().any(|l| l.below.is_some())
    }

    fn rows(&self, form: ExplainForm, out: &mut Vec<Vec<Value>>) {
        for p in &self.parts {
            p.rows(form, out);
        }
        for (i, l) in self.lines.iter().enumerate() {
            let mut extra = Vec::new();
            if i == 0 && self.temporary {
                extra.push("Using temporary");
            }
            if i == 0 && self.filesort {
                extra.push("Using filesort");
            }
            out.push(l.row(self.id, self.select_type, &extra, form));
        }
        for b in self.lines.iter().filter_map(|l| l.below.as_ref()) {
            b.rows(form, out);
        }
        for b in &self.subqueries {
            b.rows(form, out);
        }
    }

    fn json(&self) -> Json {
        let mut block = Json::object();
        if let Some(id) = self.id {
            block.put("select_id", Json::Plain(id.to_string()));
        }
        if matches!(self.select_type, "UNION" | "INTERSECT" | "EXCEPT") {
            block.put("operation", Json::text(self.select_type));
        }
        let lines: Vec<Json> = self
            .lines
            .iter()
            .map(|l| Json::of("table", l.json()))
            .collect();
        if self.parts.is_empty() {
            let mut body = match self.lines.as_slice() {
                [one] if one.table.is_none() || one.inserted || one.verb.is_some() => {
                    Json::of("table", one.json())
                }
                _ => Json::of("nested_loop", Json::List(lines)),
            };
            if self.temporary {
                body = Json::of("temporary_table", body);
            }
            if self.filesort {
                body = Json::of("filesort", body);
            }
            block.merge(body);
        } else {
            let mut result = Json::object();
            if let Some(l) = self.lines.first() {
                result.put("table_name", Json::text(l.table.as_deref().unwrap_or("")));
                result.put("access_type", Json::text("ALL"));
            }
            let parts = self.parts.iter().map(Block::json).collect();
            result.put("query_specifications", Json::List(parts));
            block.put("union_result", result);
        }
        if !self.subqueries.is_empty() {
            let list = self.subqueries.iter().map(Block::json).collect();
            block.put("subqueries", Json::List(list));
        }
        Json::of("query_block", block)
    }
}

impl Line {
    fn of(
        t: &TablePlan,
        name: &str,
        others: Option<(usize, &[Expr])>,
        making: &mut Making<'_>,
    ) -> Line {
        let count = making.count(t);
        let made = |below: Block| Line {
            table: Some(format!("<derived{}>", below.first_id().unwrap_or(0))),
            kind: Some("ALL"),
            rows: Some(t.access.rows.max(2)),
            condition: t.filter.as_ref().map(|e| e.to_string().replace('`', "")),
            below: Some(Box::new(below)),
            count,
            ..Line::default()
        };
        match &t.rows {
            Rows::Query(p) => made(Block::of(p, "DERIVED", making)),
            Rows::Recursive(r) => {
                let mut tables = r.members.iter();
                let anchors = tables.find_map(|m| m.anchors.as_ref());
                let Some(mut all) = anchors.map(|a| Block::of_set(a, &a.first, "DERIVED", making))
                else {
                    return Line::default();
                };
                for step in r.members.iter().flat_map(|m| &m.steps) {
                    all.parts.push(Block::of(step, "RECURSIVE UNION", making));
                }
                let ids: Vec<String> = all
                    .parts
                    .iter()
                    .filter_map(Block::first_id)
                    .map(|n| n.to_string())
                    .collect();
                if let Some(l) = all.lines.first_mut() {
                    l.table = Some(format!("<union{}>", ids.join(",")));
                }
                all.select_type = "UNION RESULT";
                made(all)
            }
            Rows::Stored => Line::stored(t, name, true, others, making),
            _ => Line {
                table: Some(name.to_string()),
                kind: Some("ALL"),
                count,
                ..Line::default()
            },
        }
    }
}

fn subquery_type(s: &SubPlan) -> &'static str {
    if s.volatile {
        "UNCACHEABLE SUBQUERY"
    } else if s.each_row {
        "DEPENDENT SUBQUERY"
    } else {
        "SUBQUERY"
    }
}

/// A statement as EXPLAIN shows it.
pub struct Explained(Block);

impl Explained {
    /// A statement that reads by a SELECT. `counts`: what it has read, if it ran.
    pub fn select(p: &SelectPlan, counts: Option<&Counts>) -> Explained {
        let mut making = Making { last: 0, counts };
        let mut b = Block::of(p, "SIMPLE", &mut making);
        if b.select_type == "SIMPLE" && b.has_others() {
            b.select_type = "PRIMARY";
        }
        Explained(b)
    }

    /// UPDATE (`verb` is `update`) and DELETE of one table.
    pub fn write(
        (t, alias): (&TablePlan, &str),
        verb: &'static str,
        sorts: bool,
        subqueries: &[SubPlan],
        counts: Option<&Counts>,
    ) -> Explained {
        let mut making = Making { last: 1, counts };
        let mut b = Block::new(Some(1), "SIMPLE");
        let mut line = Line::stored(t, alias, false, None, &making);
        line.verb = Some(verb);
        if t.filter.is_some() || t.late.is_some() {
            line.extra.push("Using where");
        }
        b.lines.push(line);
        b.filesort = sorts;
        for s in subqueries {
            b.subqueries
                .push(Block::of(&s.plan, subquery_type(s), &mut making));
        }
        if b.has_others() {
            b.select_type = "PRIMARY";
        }
        Explained(b)
    }

    /// INSERT and REPLACE of values.
    pub fn insert(alias: &str, subqueries: &[SubPlan], counts: Option<&Counts>) -> Explained {
        let mut making = Making { last: 1, counts };
        let mut b = Block::new(Some(1), "INSERT");
        b.lines.push(Line {
            table: Some(alias.to_string()),
            kind: Some("ALL"),
            inserted: true,
            ..Line::default()
        });
        for s in subqueries {
            b.subqueries
                .push(Block::of(&s.plan, subquery_type(s), &mut making));
        }
        Explained(b)
    }

    /// The rows of the answer.
    pub fn rows(&self, form: ExplainForm) -> Vec<Vec<Value>> {
        let mut out = Vec::new();
        if form.is_json() {
            let mut text = String::new();
            self.0.json().write(0, &mut text);
            return vec![vec![Value::str(text)]];
        }
        self.0.rows(form, &mut out);
        out
    }
}
