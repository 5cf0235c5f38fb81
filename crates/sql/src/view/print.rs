//! A SELECT as MariaDB prints it in the definition of a view.

use crate::expr::{print_condition, print_with};
use crate::quote::quote_ident;
use narwal_syntax::ast::{
    Cte, Expr as AstExpr, From, IndexHintKind, Join, JoinKind, JoinOn, Limit, LockWait, OrderItem,
    Select, SelectItem, SetKind, SetOp, TableRef,
};

/// A table of WITH.
fn table_of_with(c: &Cte) -> String {
    let columns = match c.columns.is_empty() {
        true => String::new(),
        false => format!("({})", names(&c.columns)),
    };
    let cycle = match c.cycle.is_empty() {
        true => String::new(),
        false => format!(" CYCLE {} RESTRICT ", names(&c.cycle)),
    };
    let query = nested(&c.query);
    format!("{}{columns} as ({query}){cycle}", cte_name(&c.name))
}

/// A query's text. All its names are in full, see [`super::names`].
pub(super) fn select(s: &Select) -> String {
    let mut out = with_clause(s);
    match is_shown_parenthesised(s) {
        true => out.push_str(&format!("({})", body(s, true))),
        false => out.push_str(&body(s, true)),
    }
    out
}

/// MariaDB keeps parentheses around one SELECT or VALUES.
fn is_shown_parenthesised(s: &Select) -> bool {
    s.form.parenthesised && (s.form.values || !matches!(s.from, Some(From::Set { .. })))
}

/// WITH and its tables.
fn with_clause(s: &Select) -> String {
    let mut out = String::new();
    if let Some(with) = &s.with {
        out.push_str(if with.recursive {
            "with recursive "
        } else {
            "with "
        });
        let ctes: Vec<String> = with.ctes.iter().map(|c| table_of_with(c)).collect();
        out.push_str(&ctes.join(", "));
    }
    out
}

/// A query's text without its parentheses. `ordered`: with an ORDER BY that no LIMIT needs.
fn body(s: &Select, ordered: bool) -> String {
    let mut out = String::new();
    let e = |e: &AstExpr| expression(e, s);
    match &s.from {
        Some(From::Set { first, rest }) if s.form.values => out.push_str(&values(first, rest)),
        Some(From::Set { first, rest }) => out.push_str(&set(first, rest)),
        from => {
            out.push_str("select ");
            for (on, word) in [
                (s.straight, "straight_join "),
                (s.distinct, "distinct "),
                (s.calc_found_rows, "sql_calc_found_rows "),
            ] {
                if on {
                    out.push_str(word);
                }
            }
            let items: Vec<String> = s
                .items
                .iter()
                .map(|i| match i {
                    SelectItem::Wildcard => "*".to_string(),
                    SelectItem::TableWildcard(t) => format!("{}.*", quote_ident(&t.name)),
                    SelectItem::Expr { expr, alias, .. } => match alias {
                        Some(a) => format!("{} AS {}", e(expr), quote_ident(a)),
                        None => e(expr),
                    },
                })
                .collect();
            out.push_str(&items.join(","));
            if let Some(f) = from {
                out.push_str(" from ");
                out.push_str(&source(f, s));
            } else if s.where_.is_some() {
                out.push_str(" from DUAL ");
            }
        }
    }
    if let Some(w) = &s.where_ {
        out.push_str(" where ");
        out.push_str(&print_condition(w, &|n| subquery(s, n)));
    }
    if !s.group_by.is_empty() {
        out.push_str(" group by ");
        out.push_str(&order(&s.group_by, s));
        if s.rollup {
            out.push_str(" with rollup");
        }
    }
    if let Some(h) = &s.having {
        out.push_str(" having ");
        out.push_str(&print_condition(h, &|n| subquery(s, n)));
    }
    if !s.order_by.is_empty() && (ordered || s.limit.is_some()) {
        out.push_str(" order by ");
        out.push_str(&order(&s.order_by, s));
    }
    if let (Some(Limit { offset, count }), true) = (&s.limit, s.with_ties) {
        if let Some(o) = offset {
            out.push_str(&format!(" offset {} rows ", e(o)));
        }
        out.push_str(&format!(" fetch first {} rows with ties", e(count)));
    } else if let Some(Limit { offset, count }) = &s.limit {
        out.push_str(" limit ");
        if let Some(o) = offset {
            out.push_str(&e(o));
            out.push(',');
        }
        out.push_str(&e(count));
    }
    for l in &s.locking {
        out.push_str(match (l.exclusive, l.of.is_empty()) {
            (true, _) => " for update",
            (false, true) => " lock in share mode",
            (false, false) => " for share",
        });
        if !l.of.is_empty() {
            out.push_str(" of ");
            out.push_str(&names(&l.of));
        }
        if l.wait == LockWait::SkipLocked {
            out.push_str(" skip locked");
        }
    }
    out
}

fn names(list: &[String]) -> String {
    let list: Vec<String> = list.iter().map(|n| quote_ident(n)).collect();
    list.join(",")
}

fn set(first: &Select, rest: &[(SetOp, Select)]) -> String {
    let mut out = part(first, rest.is_empty());
    for (op, s) in rest {
        out.push_str(match op.kind {
            SetKind::Union => " union ",
            SetKind::Intersect => " intersect ",
            SetKind::Except => " except ",
        });
        if op.all {
            out.push_str("all ");
        }
        out.push_str(&part(s, false));
    }
    out
}

/// One of several SELECTs put together.
fn part(s: &Select, alone: bool) -> String {
    let own = alone
        || is_shown_parenthesised(s)
        || s.with.is_some()
        || !s.order_by.is_empty()
        || s.limit.is_some()
        || !s.locking.is_empty()
        || matches!(s.from, Some(From::Set { .. })) && !s.form.values;
    let text = with_clause(s) + &body(s, alone);
    match own {
        true => format!("({text})"),
        false => text,
    }
}

/// The rows of VALUES.
fn values(first: &Select, rest: &[(SetOp, Select)]) -> String {
    let row = |s: &Select| {
        let of = |i: &SelectItem| match i {
            SelectItem::Expr { expr, .. } => expression(expr, s),
            _ => String::new(),
        };
        let row: Vec<String> = s.items.iter().map(of).collect();
        format!("({})", row.join(","))
    };
    let rows = std::iter::once(first).chain(rest.iter().map(|(_, s)| s));
    format!("values {}", rows.map(row).collect::<Vec<_>>().join(","))
}

fn order(list: &[OrderItem], s: &Select) -> String {
    let list: Vec<String> = list
        .iter()
        .map(|o| {
            let way = if o.desc { " desc" } else { "" };
            format!("{}{way}", expression(&o.expr, s))
        })
        .collect();
    list.join(",")
}

fn source(f: &From, of: &Select) -> String {
    match f {
        From::Table(t) => table(t),
        From::Query { query, alias, .. } => {
            format!("({}) {}", nested(query), quote_ident(alias))
        }
        From::Set { first, rest } => format!("({})", set(first, rest)),
        From::Join(j) => join(j, of),
        // Refused before.
        From::JsonTable(_) => String::new(),
    }
}

fn join(j: &Join, of: &Select) -> String {
    // Right joins are printed as left ones.
    let (left, word, right) = match j.kind {
        JoinKind::Inner => (&j.left, "join", &j.right),
        JoinKind::Left => (&j.left, "left join", &j.right),
        JoinKind::Right => (&j.right, "left join", &j.left),
    };
    let on = match &j.on {
        JoinOn::On(e) => format!(" on({})", expression(e, of)),
        JoinOn::Using(columns) => format!(" using ({})", names(columns)),
        JoinOn::Nothing | JoinOn::Natural => String::new(),
    };
    format!("({} {word} {}{on})", source(left, of), source(right, of))
}

fn table(t: &TableRef) -> String {
    let mut out = match &t.name.db {
        Some(d) => format!("{}.{}", quote_ident(d), quote_ident(&t.name.name)),
        None => quote_ident(&t.name.name),
    };
    if let Some(a) = &t.alias {
        out.push(' ');
        out.push_str(&quote_ident(a));
    }
    for h in &t.hints {
        let kind = match h.kind {
            IndexHintKind::Use => "USE",
            IndexHintKind::Force => "FORCE",
            IndexHintKind::Ignore => "IGNORE",
        };
        out.push_str(&format!(" {kind} INDEX ({})", names(&h.indexes)));
    }
    out
}

/// An expression's text, with its subqueries.
fn expression(e: &AstExpr, of: &Select) -> String {
    print_with(e, &|n| subquery(of, n))
}

/// The text of a query that stands in parentheses anyway.
fn nested(s: &Select) -> String {
    with_clause(s) + &body(s, true)
}

/// The text of a subquery by its number.
fn subquery(of: &Select, n: usize) -> String {
    let found = of.subqueries.iter().find(|(k, _)| *k == n);
    found.map_or_else(String::new, |(_, q)| nested(q))
}

/// MariaDB prints the names of WITH bare; what is no plain word gets its backticks.
fn cte_name(name: &str) -> String {
    let plain = !narwal_syntax::Kw::of(name).is_reserved()
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match plain {
        true => name.to_string(),
        false => quote_ident(name),
    }
}
