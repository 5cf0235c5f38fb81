//! A SELECT with all its names in full: tables with their databases, columns with their tables, `*` spelt out, USING as
//! conditions, every column of the result named. Such a text means the same wherever it is read again.

use crate::expr::{for_each_leaf, for_each_operand};
use crate::planner::resolve::{Resolver, no_such_table};
use crate::planner::sequence_table::is_sequence_table;
use crate::query_walk::{for_each_expr, for_each_select, for_each_table};
use crate::star::{At, joined};
use narwal_engine::Table;
use narwal_syntax::ast::BinaryOp;
use narwal_syntax::ast::{
    Cte, Expr as AstExpr, From, Join, JoinKind, JoinOn, Limit, Literal, Qualified, Select,
    SelectItem, TableName, TableRef, With,
};
use narwal_types::{Name, SqlError, SqlResult};
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

/// The longest name of a column, in characters.
const MAX_NAME: usize = 64;

/// A SELECT with its names in full, and the names of its columns. It can be planned, so its names mean something.
pub(super) fn in_full(resolver: &Resolver<'_>, s: &Select) -> SqlResult<(Select, Vec<String>)> {
    let w = Writer {
        resolver,
        ctes: RefCell::default(),
    };
    w.query(s, None, Naming::All)
}

/// Which items of a select list get an AS.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    /// All.
    All,
    /// Those that have one: subqueries in expressions.
    AsWritten,
}

/// A table that column names are looked up in.
struct Source {
    /// Alias or name.
    name: String,
    /// Database of a table.
    db: Option<String>,
    /// The database belongs to the full names of its columns: a table without an alias.
    prefixed: bool,
    columns: Vec<String>,
    /// Columns that USING shows as the other side's.
    hidden: Vec<usize>,
    /// Columns that `*` does not mean.
    invisible: Vec<usize>,
}

/// The tables of a SELECT and of those around it.
struct Level<'l> {
    sources: &'l [Source],
    outer: Option<&'l Level<'l>>,
}

impl Source {
    /// The columns that `*` means.
    fn visible(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.columns.len()).filter(|c| !self.invisible.contains(c))
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.same_name(name))
    }

    /// A column's full name.
    fn full(&self, column: usize) -> AstExpr {
        let db = self.db.as_ref().filter(|_| self.prefixed);
        let virtual_db = db.is_some_and(|d| d.eq_ignore_ascii_case("information_schema"));
        AstExpr::Qualified(Box::new(Qualified {
            // FROM has that one as it was written, columns have not.
            db: match virtual_db {
                true => Some("information_schema".into()),
                false => db.cloned(),
            },
            table: self.name.clone(),
            column: self.columns[column].clone(),
        }))
    }
}

impl Level<'_> {
    /// The full form of a name, if it is a column's.
    fn find(&self, name: &str) -> Option<AstExpr> {
        let here = self.sources.iter().find_map(|s| {
            let c = s.column(name).filter(|c| !s.hidden.contains(c))?;
            Some(s.full(c))
        });
        here.or_else(|| self.outer?.find(name))
    }

    fn find_in(&self, db: Option<&str>, table: &str, name: &str) -> Option<AstExpr> {
        let here = self.sources.iter().find_map(|s| {
            let meant = s.name == table && (db.is_none() || s.db.as_deref() == db);
            Some(s.full(s.column(name).filter(|_| meant)?))
        });
        here.or_else(|| self.outer?.find_in(db, table, name))
    }

    /// Writes a name in full.
    fn complete(&self, leaf: &mut AstExpr) {
        let full = match leaf {
            AstExpr::Column(name) => self.find(name),
            AstExpr::Qualified(q) => self.find_in(q.db.as_deref(), &q.table, &q.column),
            _ => None,
        };
        if let Some(full) = full {
            *leaf = full;
        }
    }

    /// The select list in full, with the names of its columns. `shown`: what `*` means.
    fn items(
        &self,
        items: &[SelectItem],
        shown: &[At],
        naming: Naming,
    ) -> SqlResult<(Vec<SelectItem>, Vec<String>)> {
        let mut out = Vec::with_capacity(items.len());
        let mut names: Vec<String> = Vec::with_capacity(items.len());
        for item in items {
            narwal_memory::check()?;
            let SelectItem::Expr { expr, alias, text } = item else {
                for (at, c) in star(self.sources, item, shown) {
                    let name = self.sources[at].columns[c].clone();
                    out.push(SelectItem::Expr {
                        expr: self.sources[at].full(c),
                        alias: (naming == Naming::All).then(|| name.clone()),
                        text: name.clone(),
                    });
                    names.push(name);
                }
                continue;
            };
            let mut expr = expr.clone();
            for_each_leaf(&mut expr, &mut |leaf| self.complete(leaf));
            let name = match alias {
                Some(a) => a.clone(),
                None if !is_name(text) => format!("Name_exp_{}", names.len() + 1),
                None => text.trim_start().to_string(),
            };
            out.push(SelectItem::Expr {
                expr,
                alias: match naming {
                    Naming::All => Some(name.clone()),
                    Naming::AsWritten => alias.clone(),
                },
                text: text.clone(),
            });
            names.push(name);
        }
        Ok((out, names))
    }

    /// GROUP BY, ORDER BY and HAVING of `s` in full, in `out`, which has the select list in full already.
    fn clauses(&self, s: &Select, out: &mut Select) {
        let aliases = aliases(&s.items);
        let star = |i: &SelectItem| !matches!(i, SelectItem::Expr { .. });
        let first_star = s.items.iter().position(star).unwrap_or(s.items.len());
        // An item's expression in the place of its name. Items before a `*` keep their positions.
        let replaced = |leaf: &AstExpr| {
            let at = item_named(&aliases, leaf)?;
            match out.items.get(at)? {
                SelectItem::Expr { expr, .. } if at < first_star => {
                    Some(AstExpr::Nested(Box::new(expr.clone())))
                }
                _ => None,
            }
        };
        let mut group_by = s.group_by.clone();
        for g in &mut group_by {
            for_each_leaf(&mut g.expr, &mut |leaf| {
                let was = leaf.clone();
                self.complete(leaf);
                if *leaf == was
                    && let Some(e) = replaced(leaf)
                {
                    *leaf = e;
                }
            });
        }
        let mut order_by = s.order_by.clone();
        for o in &mut order_by {
            for_each_leaf(&mut o.expr, &mut |leaf| match replaced(leaf) {
                Some(e) => *leaf = e,
                None => self.complete(leaf),
            });
        }
        out.group_by = group_by;
        out.order_by = order_by;
        if let Some(h) = &mut out.having {
            for_each_leaf(h, &mut |leaf| {
                if item_named(&aliases, leaf).is_none() {
                    self.complete(leaf);
                }
            });
        }
    }
}

/// True if an expression's text can be the name of a column.
fn is_name(text: &str) -> bool {
    let text = text.trim_start();
    !text.is_empty() && !text.ends_with(' ') && text.chars().count() <= MAX_NAME
}

/// The SELECT that names the columns: the first of a UNION.
fn first_of(mut s: &Select) -> &Select {
    while let Some(From::Set { first, .. }) = &s.from {
        s = first;
    }
    s
}

/// Other names for expressions that have no AS and would be called as another column: `select 1,1` has `1` and `My_exp_1`.
/// `written`: the SELECT as it was written, `select`: in full.
pub(super) fn apart(written: &Select, select: &Select, columns: &mut [String]) {
    let free = may_be_renamed(written, select, columns);
    let mut taken = Taken::new(columns);
    for at in 1..columns.len() {
        let mut from = 0;
        while let Some(holder) = taken.holder(&columns[at], from..at) {
            from = holder + 1;
            let Some(other) = [at, holder].into_iter().find(|i| free[*i]) else {
                break;
            };
            columns[other] = taken.rename(other, &columns[other]);
            if other == at {
                break;
            }
        }
    }
}

/// Which columns are expressions without an AS.
fn may_be_renamed(written: &Select, select: &Select, columns: &[String]) -> Vec<bool> {
    let written = &first_of(written).items;
    let one_by_one = written.iter().all(|i| matches!(i, SelectItem::Expr { .. }));
    let all: HashSet<&str> = written.iter().filter_map(alias).collect();
    // Behind a `*` positions are others, and the name has to do.
    let given = |at: usize, name: &str| match one_by_one {
        true => (written.get(at)).is_some_and(|i| alias(i) == Some(name)),
        false => all.contains(name),
    };
    let items = &first_of(select).items;
    let unnamed = |at: usize, name: &str| match items.get(at) {
        Some(SelectItem::Expr { expr, text, .. }) => {
            !matches!(expr, AstExpr::Qualified(_) | AstExpr::Column(_))
                && (text.trim_start() == name && !given(at, name) || !is_name(text))
        }
        _ => false,
    };
    (columns.iter().enumerate())
        .map(|(at, name)| unnamed(at, name))
        .collect()
}

/// Who has which name. A view can have as many columns as a packet has room for.
struct Taken {
    holders: HashMap<String, BTreeSet<usize>>,
    /// For each name the number of the other name made of it last.
    numbers: HashMap<String, u64>,
}

impl Taken {
    fn new(columns: &[String]) -> Taken {
        let mut holders: HashMap<_, BTreeSet<_>> = HashMap::with_capacity(columns.len());
        for (at, name) in columns.iter().enumerate() {
            let of_name = holders.entry(name.name_key()).or_default();
            of_name.insert(at);
        }
        Taken {
            holders,
            numbers: HashMap::new(),
        }
    }

    /// The first column of a range that has a name.
    fn holder(&self, name: &str, range: Range<usize>) -> Option<usize> {
        let holders = self.holders.get(&name.name_key())?;
        holders.range(range).next().copied()
    }

    /// Gives the column `at` a name that no column has: `My_exp_` and its own, then with a number between.
    fn rename(&mut self, at: usize, own: &str) -> String {
        let key = own.name_key();
        let number = self.numbers.entry(key.clone()).or_default();
        let mut name;
        loop {
            name = match *number {
                0 => format!("My_exp_{own}"),
                n => format!("My_exp_{n}_{own}"),
            };
            *number += 1;
            if !self.holders.contains_key(&name.name_key()) {
                break;
            }
        }
        if let Some(holders) = self.holders.get_mut(&key) {
            holders.remove(&at);
        }
        self.holders.insert(name.name_key(), [at].into());
        name
    }
}

/// An item's name that AS gives.
fn alias(item: &SelectItem) -> Option<&str> {
    match item {
        SelectItem::Expr { alias, .. } => alias.as_deref(),
        _ => None,
    }
}

/// Where the first item with an alias is.
fn aliases(items: &[SelectItem]) -> HashMap<String, usize> {
    let named = items.iter().enumerate().rev();
    named
        .filter_map(|(at, item)| Some((alias(item)?.name_key(), at)))
        .collect()
}

/// The item whose alias a name is.
fn item_named(aliases: &HashMap<String, usize>, leaf: &AstExpr) -> Option<usize> {
    match leaf {
        AstExpr::Column(name) => aliases.get(&name.name_key()).copied(),
        _ => None,
    }
}

struct Writer<'a, 'r> {
    resolver: &'a Resolver<'r>,
    /// Tables of WITH and their columns.
    ctes: RefCell<Vec<(String, Vec<String>)>>,
}

impl Writer<'_, '_> {
    fn query(
        &self,
        s: &Select,
        outer: Option<&Level<'_>>,
        naming: Naming,
    ) -> SqlResult<(Select, Vec<String>)> {
        let known = self.ctes.borrow().len();
        let with = s.with.as_ref().map(|w| self.with(w, outer)).transpose();
        let done = with.and_then(|with| {
            let (mut out, names) = self.body(s, outer, naming)?;
            out.with = with;
            Ok((out, names))
        });
        self.ctes.borrow_mut().truncate(known);
        done
    }

    fn with(&self, with: &With, outer: Option<&Level<'_>>) -> SqlResult<With> {
        let mut ctes = Vec::with_capacity(with.ctes.len());
        for cte in &with.ctes {
            let mut known = false;
            if with.recursive {
                // It may name itself.
                let names = match (&cte.query.from, cte.columns.is_empty()) {
                    (_, false) => cte.columns.clone(),
                    (Some(From::Set { first, .. }), true) => {
                        self.query(first, outer, Naming::All)?.1
                    }
                    _ => Vec::new(),
                };
                known = !names.is_empty();
                if known {
                    self.ctes.borrow_mut().push((cte.name.clone(), names));
                }
            }
            let (mut query, mut names) = self.query(&cte.query, outer, Naming::All)?;
            if !cte.columns.is_empty() {
                crate::view_def::name_columns(&mut query, &cte.columns);
                names.clone_from(&cte.columns);
            }
            if !known {
                self.ctes.borrow_mut().push((cte.name.clone(), names));
            }
            ctes.push(Arc::new(Cte {
                query,
                ..(**cte).clone()
            }));
        }
        Ok(With {
            recursive: with.recursive,
            ctes,
        })
    }

    fn body(
        &self,
        s: &Select,
        outer: Option<&Level<'_>>,
        naming: Naming,
    ) -> SqlResult<(Select, Vec<String>)> {
        super::copy::reserve_copy(s)?;
        let mut out = s.clone();
        if let Some(From::Set { first, rest }) = &mut out.from {
            let (f, names) = self.query(first, outer, naming)?;
            **first = f;
            for (_, s) in rest {
                *s = self.query(s, outer, naming)?.0;
            }
            return Ok((out, names));
        }
        let mut sources = Vec::new();
        let mut shown = Vec::new();
        if let Some(f) = &s.from {
            let (from, columns) = self.from(f, &mut sources, outer)?;
            out.from = Some(from);
            shown = columns;
        }
        let level = Level {
            sources: &sources,
            outer,
        };
        let (items, names) = level.items(&s.items, &shown, naming)?;
        out.items = items;
        if let Some(w) = &mut out.where_ {
            for_each_leaf(w, &mut |leaf| level.complete(leaf));
        }
        level.clauses(s, &mut out);
        let exists = exists_in(s);
        for (n, q) in &mut out.subqueries {
            let mut full = self.query(q, Some(&level), Naming::AsWritten)?.0;
            if exists.contains(n) {
                only_whether(&mut full, q);
            }
            *q = full;
        }
        Ok((out, names))
    }

    fn from(
        &self,
        f: &From,
        sources: &mut Vec<Source>,
        outer: Option<&Level<'_>>,
    ) -> SqlResult<(From, Vec<At>)> {
        let at = sources.len();
        let out = match f {
            From::Table(t) => From::Table(self.table(t, sources)?),
            From::Query {
                query,
                alias,
                columns,
                lateral,
            } => {
                if *lateral {
                    return Err(SqlError::unsupported("LATERAL in a view"));
                }
                let (query, names) = self.query(query, None, Naming::All)?;
                sources.push(Source {
                    name: alias.clone(),
                    db: None,
                    prefixed: false,
                    columns: match columns.is_empty() {
                        true => names,
                        false => columns.clone(),
                    },
                    hidden: Vec::new(),
                    invisible: Vec::new(),
                });
                From::Query {
                    query: Box::new(query),
                    alias: alias.clone(),
                    columns: columns.clone(),
                    lateral: false,
                }
            }
            From::Set { .. } | From::JsonTable(_) => f.clone(),
            From::Join(j) => {
                let first = sources.len();
                let (left, left_shown) = self.from(&j.left, sources, outer)?;
                let middle = sources.len();
                let (right, right_shown) = self.from(&j.right, sources, outer)?;
                let shared = || common(&sources[first..middle], &sources[middle..]);
                let shared = match &j.on {
                    JoinOn::Nothing | JoinOn::On(_) => None,
                    // In the order of the table's columns, not of the names.
                    JoinOn::Using(names) => {
                        let mut shared = shared();
                        shared.retain(|s| names.iter().any(|n| n.same_name(s)));
                        Some(shared)
                    }
                    JoinOn::Natural => Some(shared()),
                };
                let on = match &j.on {
                    JoinOn::Nothing => JoinOn::Nothing,
                    JoinOn::On(e) => {
                        let mut e = e.clone();
                        let level = Level {
                            sources: &sources[first..],
                            outer,
                        };
                        for_each_leaf(&mut e, &mut |leaf| level.complete(leaf));
                        JoinOn::On(e)
                    }
                    JoinOn::Using(_) | JoinOn::Natural => {
                        let names = shared.as_deref().unwrap_or_default();
                        equal(names, &mut sources[first..], middle - first, j)
                    }
                };
                let shown = match &shared {
                    Some(names) => {
                        let name = |(s, c): At| sources[s].columns[c].as_str();
                        joined(left_shown, right_shown, j.kind, names, name)
                    }
                    None => [left_shown, right_shown].concat(),
                };
                let join = Join {
                    left,
                    right,
                    kind: j.kind,
                    on,
                    straight: j.straight,
                };
                return Ok((From::Join(Box::new(join)), shown));
            }
        };
        let visible = sources.get(at).into_iter().flat_map(Source::visible);
        let shown = visible.map(|c| (at, c)).collect();
        Ok((out, shown))
    }

    fn table(&self, t: &TableRef, sources: &mut Vec<Source>) -> SqlResult<TableRef> {
        let name = t.alias.as_ref().unwrap_or(&t.name.name).clone();
        let cte = self
            .ctes
            .borrow()
            .iter()
            .rev()
            .find(|(n, _)| t.name.db.is_none() && n.same_name(&t.name.name))
            .map(|(_, columns)| columns.clone());
        if let Some(columns) = cte {
            sources.push(Source {
                name,
                db: None,
                prefixed: false,
                columns,
                hidden: Vec::new(),
                invisible: Vec::new(),
            });
            return Ok(t.clone());
        }
        let r = self.resolver;
        let db = r.db_of(&t.name)?.to_string();
        let mut prefixed = t.alias.is_none();
        let of = |t: &Table| t.columns().iter().map(|c| c.name.clone()).collect();
        let mut invisible = Vec::new();
        let columns = if let Some(v) = r.catalog.view(&db, &t.name.name) {
            prefixed = false;
            Some(v.columns.clone())
        } else if let Some(t) = r.catalog.table(&db, &t.name.name) {
            let columns = t.columns().iter().enumerate();
            invisible.extend(columns.filter(|(_, c)| c.invisible).map(|(i, _)| i));
            Some(of(t))
        } else {
            let made = r
                .virtual_tables
                .and_then(|v| v.table(&db, &t.name.name, None));
            let sequence = || {
                let known = is_sequence_table(&t.name.name);
                known.then(|| vec!["seq".to_string()])
            };
            made.map(|(t, _)| of(&t)).or_else(sequence)
        };
        sources.push(Source {
            name,
            columns: columns.ok_or_else(|| no_such_table(&db, &t.name.name))?,
            db: Some(db.clone()),
            prefixed,
            hidden: Vec::new(),
            invisible,
        });
        Ok(TableRef {
            name: TableName {
                db: Some(db),
                name: t.name.name.clone(),
            },
            ..t.clone()
        })
    }
}

/// The columns that `*` or `t.*` means. `shown`: those of `*`.
fn star(sources: &[Source], item: &SelectItem, shown: &[At]) -> Vec<At> {
    if let SelectItem::TableWildcard(t) = item {
        let at = sources
            .iter()
            .position(|s| s.name == t.name && (t.db.is_none() || s.db == t.db));
        return at.map_or_else(Vec::new, |at| {
            sources[at].visible().map(|c| (at, c)).collect()
        });
    }
    shown.to_vec()
}

fn common(left: &[Source], right: &[Source]) -> Vec<String> {
    let shown = |list: &[Source]| -> Vec<String> {
        list.iter()
            .flat_map(|s| {
                let shown = s.columns.iter().enumerate();
                shown
                    .filter(|(c, _)| !s.hidden.contains(c) && !s.invisible.contains(c))
                    .map(|(_, n)| n.clone())
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    let others = shown(right);
    shown(left)
        .into_iter()
        .filter(|n| others.iter().any(|o| o.same_name(n)))
        .collect()
}

/// USING as a condition; of each pair one side hides.
fn equal(names: &[String], sources: &mut [Source], middle: usize, j: &Join) -> JoinOn {
    let mut on: Option<AstExpr> = None;
    for name in names {
        let find = |list: &[Source]| {
            list.iter()
                .enumerate()
                .find_map(|(at, s)| Some((at, s.column(name).filter(|c| !s.hidden.contains(c))?)))
        };
        let (Some(l), Some((at, c))) = (find(&sources[..middle]), find(&sources[middle..])) else {
            continue;
        };
        let r = (middle + at, c);
        let both = |op, left, right| AstExpr::Binary {
            left: Box::new(left),
            op,
            right: Box::new(right),
        };
        let same = both(BinaryOp::Eq, sources[l.0].full(l.1), sources[r.0].full(r.1));
        on = Some(match on {
            Some(e) => both(BinaryOp::And, e, same),
            None => same,
        });
        let (at, c) = if j.kind == JoinKind::Right { l } else { r };
        sources[at].hidden.push(c);
    }
    on.map_or(JoinOn::Nothing, JoinOn::On)
}

/// The numbers of the subqueries that stand in EXISTS.
fn exists_in(s: &Select) -> Vec<usize> {
    let mut out = Vec::new();
    let mut s = s.clone();
    for_each_expr(&mut s, &mut |e| {
        for_each_leaf(e, &mut |leaf| {
            if let AstExpr::Exists(n) = leaf {
                out.push(*n);
            }
        });
    });
    out
}

/// EXISTS needs one row, in no order, and of `*` no column. `written`: the query before its names were completed.
fn only_whether(s: &mut Select, written: &Select) {
    let number = |n: &str| AstExpr::Literal(Literal::Number(n.into()));
    let none = (s.limit.as_ref()).is_some_and(|l| l.count == number("0"));
    if none || s.with_ties || s.rows_examined.is_some() {
        return;
    }
    if let [item] = written.items.as_slice()
        && !matches!(item, SelectItem::Expr { .. })
        && !matches!(s.from, Some(From::Set { .. }))
    {
        s.items = vec![SelectItem::Expr {
            expr: number("1"),
            alias: None,
            text: "1".into(),
        }];
    }
    s.order_by.clear();
    s.limit = Some(Limit {
        offset: s.limit.take().and_then(|l| l.offset),
        count: number("1"),
    });
}

/// True if a variable is in it, which stays as it is.
pub(super) fn any_variable(s: &mut Select) -> bool {
    let mut found = false;
    for_each_select(s, &mut |s| {
        for_each_expr(s, &mut |e| found |= has_variable(e));
    });
    found
}

fn has_variable(e: &mut AstExpr) -> bool {
    let mut found = matches!(
        e,
        AstExpr::UserVar(_) | AstExpr::SystemVar(_) | AstExpr::Assign { .. }
    );
    for_each_operand(e, &mut |e| found |= has_variable(e));
    found
}

/// True if all its tables are of one database.
pub(super) fn only_of(s: &Select, db: &str) -> bool {
    let mut only = true;
    for_each_table(&mut s.clone(), &mut |t| {
        only &= t.name.db.as_deref().is_none_or(|d| d == db);
    });
    only
}

/// Takes the databases out of all names.
pub(super) fn without_database(s: &mut Select) {
    for_each_table(s, &mut |t| t.name.db = None);
    for_each_select(s, &mut |s| {
        for_each_expr(s, &mut |e| {
            for_each_leaf(e, &mut |leaf| {
                if let AstExpr::Qualified(q) = leaf {
                    q.db = None;
                }
            });
        });
    });
}

/// Takes the databases out of the names of tables alone, and leaves those within derived tables: so MariaDB shows a view that
/// it can't open.
pub(super) fn tables_without_database(s: &mut Select) {
    if let Some(with) = &mut s.with {
        for c in &mut with.ctes {
            tables_without_database(&mut std::sync::Arc::make_mut(c).query);
        }
    }
    if let Some(from) = &mut s.from {
        sources_without_database(from);
    }
    for (_, subquery) in &mut s.subqueries {
        tables_without_database(subquery);
    }
}

fn sources_without_database(from: &mut From) {
    match from {
        From::Table(t) => t.name.db = None,
        From::Join(j) => {
            sources_without_database(&mut j.left);
            sources_without_database(&mut j.right);
        }
        From::Set { first, rest } => {
            tables_without_database(first);
            for (_, s) in rest {
                tables_without_database(s);
            }
        }
        From::Query { .. } | From::JsonTable(_) => {}
    }
}
