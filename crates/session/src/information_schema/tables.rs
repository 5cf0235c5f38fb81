//! Tables about databases, tables, columns and indexes.

use super::rows::Rows;
use super::system::{is_view, system_collation, system_tables};
use crate::acl::Account;
use crate::instance::Instance;
use crate::privileges::PrivilegeSet;
use crate::rows::type_facts;
use crate::system_schemas::{is_shown, system_schema, system_schemas};
use crate::view::View;
use narwal_engine::{
    ColumnDef, ForeignAction, ForeignKeyDef, IndexColumn, IndexDef, IndexMethod, Table, ViewDef,
};
use narwal_sql::StatementEnv;
use narwal_sql::show;
use narwal_sql::view::describe;
use narwal_sql::virtual_tables::{INFORMATION_SCHEMA, PERFORMANCE_SCHEMA, Wanted};
use narwal_types::face::is_mysql;
use narwal_types::{Collation, DateTime, Name, SqlResult, Value, Zone};
use std::sync::Arc;

pub(super) fn text(s: &str) -> Value {
    Value::str(s)
}

fn charset(c: Collation) -> &'static str {
    c.charset().name()
}

fn same(wanted: Option<&str>, name: &str) -> bool {
    // Only a hint: names that differ in case alone may be the same for the condition.
    wanted.is_none_or(|w| w.same_name(name))
}

/// The names that an account sees in SHOW DATABASES, without `information_schema`.
pub(crate) fn visible_databases(instance: &Instance, account: &Account) -> Vec<String> {
    let all = account.global.has(PrivilegeSet::SHOW_DATABASES);
    let catalog = instance.database().catalog();
    let names = catalog.databases().map(|d| d.name.as_str());
    names
        .chain(system_schemas(&catalog))
        .filter(|d| all || (is_mysql() && *d == PERFORMANCE_SCHEMA) || account.sees_database(d))
        .map(String::from)
        .collect()
}

/// The tables of a database that an account sees: those that it has any privilege on.
pub(crate) fn visible_tables(instance: &Instance, account: &Account, db: &str) -> Vec<Arc<Table>> {
    let catalog = instance.database().catalog();
    let system = system_schema(&catalog, db).map(system_tables);
    let system = system.into_iter().flatten();
    catalog
        .tables(db)
        .chain(system.filter(|t| is_shown(&catalog, db, &t.def.name)))
        .filter(|t| !account.about_table(db, &t.def.name).is_empty())
        .cloned()
        .collect()
}

/// The views of a database that an account sees.
pub(crate) fn visible_views(instance: &Instance, account: &Account, db: &str) -> Vec<Arc<ViewDef>> {
    instance
        .database()
        .catalog()
        .views(db)
        .filter(|v| !account.about_table(db, &v.name).is_empty())
        .cloned()
        .collect()
}

/// The views that a statement asks about.
pub(super) fn asked_views(
    view: &View,
    wanted: &Wanted,
    schema: usize,
    table: usize,
) -> Vec<Arc<ViewDef>> {
    let mut out = Vec::new();
    for d in view.instance.database().catalog().databases() {
        if same(wanted.value(schema), &d.name) {
            let all = visible_views(&view.instance, &view.account, &d.name);
            out.extend(
                all.into_iter()
                    .filter(|v| same(wanted.value(table), &v.name)),
            );
        }
    }
    out
}

/// A view as a table; one that can't be read any more is a warning.
fn described(view: &View, v: &ViewDef, env: &StatementEnv) -> SqlResult<Arc<Table>> {
    let db = view.instance.database();
    describe(
        v,
        db,
        &db.catalog(),
        env,
        Some(&super::definitions::Definitions),
    )
    .inspect_err(|e| env.warn_error(e))
}

/// The stored tables that a statement asks about, as far as it says so in these columns.
fn asked(view: &View, wanted: &Wanted, schema: usize, table: usize) -> Vec<Arc<Table>> {
    let catalog = view.instance.database().catalog();
    let stored = catalog.databases().map(|d| d.name.as_str());
    stored
        .chain(system_schemas(&catalog))
        .filter(|db| same(wanted.value(schema), db))
        .flat_map(|db| visible_tables(&view.instance, &view.account, db))
        .filter(|t| same(wanted.value(table), &t.def.name))
        .collect()
}

/// The virtual tables that it asks about.
fn asked_virtual(wanted: &Wanted, schema: usize, table: usize) -> Vec<&'static Arc<Table>> {
    if !same(wanted.value(schema), INFORMATION_SCHEMA) {
        return Vec::new();
    }
    super::definitions::all()
        .filter(|t| same(wanted.value(table), &t.def.name))
        .collect()
}

pub(super) fn schemata(view: &View, _: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let row = |name: &str, c: Collation, comment: &str| {
        vec![
            text("def"),
            text(name),
            text(charset(c)),
            text(c.name()),
            Value::Null,
            text(comment),
        ]
    };
    let mut rows = vec![row(INFORMATION_SCHEMA, super::columns::COLLATION, "")];
    let catalog = view.instance.database().catalog();
    for name in visible_databases(&view.instance, &view.account) {
        if !same(wanted.value(1), &name) {
            continue;
        }
        rows.push(match catalog.database(&name) {
            Some(d) => row(&d.name, d.collation, &d.comment),
            None => row(&name, system_collation(&name), ""),
        });
    }
    Ok(rows)
}

/// BASE TABLE, SEQUENCE, or VIEW for what MariaDB has as one.
pub(crate) fn table_type(t: &Table) -> &'static str {
    if is_view(t) {
        "VIEW"
    } else if t.def.sequence {
        "SEQUENCE"
    } else {
        "BASE TABLE"
    }
}

/// A rough length of a row in bytes: fixed columns at their width, strings at a quarter of their maximum.
fn average_row_length(t: &Table) -> u64 {
    t.columns()
        .iter()
        .map(|c| {
            let max = c.ty.max_bytes().unwrap_or(8);
            if c.ty.is_string() || c.ty.is_blob() {
                (max / 4).clamp(1, 1024)
            } else {
                max
            }
        })
        .sum()
}

/// Seconds since 1970 as a DATETIME in a time zone; NULL for 0.
pub(super) fn unix_time(seconds: u64, zone: Zone) -> Value {
    if seconds == 0 {
        return Value::Null;
    }
    DateTime::from_unix_micros(zone.local(seconds as i64 * 1_000_000), 0)
        .map_or(Value::Null, Value::DateTime)
}

/// Roughly the bytes of a stored table's rows.
pub(super) fn data_length(instance: &Instance, t: &Table) -> u64 {
    let rows = instance.database().table_rows(t);
    rows.saturating_mul(average_row_length(t))
}

/// Engine to Temporary: what SHOW TABLE STATUS and TABLES tell of a table.
pub(crate) fn table_status(instance: &Instance, t: &Table, zone: Zone) -> Vec<Value> {
    if is_view(t) {
        return view_status("VIEW");
    }
    let engine = instance.database();
    let virtual_table = t.def.db == INFORMATION_SCHEMA;
    let rows = if virtual_table {
        0
    } else {
        engine.table_rows(t)
    };
    let average = average_row_length(t);
    let size = data_length(instance, t);
    vec![
        text(&t.def.engine),
        Value::UInt(if virtual_table { 11 } else { 10 }),
        text(if virtual_table {
            "Fixed"
        } else {
            row_format(t)
        }),
        if virtual_table {
            Value::Null
        } else {
            Value::UInt(rows)
        },
        Value::UInt(if rows == 0 { 0 } else { average }),
        Value::UInt(if virtual_table { 0 } else { size }),
        Value::UInt(0),
        Value::UInt(0),
        Value::UInt(0),
        if t.auto_increment.is_some() {
            Value::UInt(engine.auto_increment(t))
        } else {
            Value::Null
        },
        unix_time(t.def.created, zone),
        Value::Null,
        Value::Null,
        text(t.def.collation.name()),
        Value::Null,
        text(&create_options(t)),
        text(&t.def.comment),
        Value::UInt(0),
        text(if virtual_table { "Y" } else { "N" }),
    ]
}

/// What ROW_FORMAT said.
fn row_format(t: &Table) -> &'static str {
    let said = t.def.options.iter().find(|(name, _)| name == "ROW_FORMAT");
    match said.map(|(_, value)| value.as_str()) {
        Some("COMPACT") => "Compact",
        Some("REDUNDANT") => "Redundant",
        Some("COMPRESSED") => "Compressed",
        _ => "Dynamic",
    }
}

/// The options that were said, as CREATE_OPTIONS has them.
fn create_options(t: &Table) -> String {
    let each = |(name, value): &(String, String)| format!("{}={value}", name.to_ascii_lowercase());
    let options = t
        .def
        .options
        .iter()
        .filter(|(name, _)| name != show::CONNECTION);
    let all: Vec<String> = options.map(each).collect();
    all.join(" ")
}

/// The same of a view.
pub(crate) fn view_status(comment: &str) -> Vec<Value> {
    let mut row = vec![Value::Null; 19];
    row[16] = text(comment);
    row
}

pub(super) fn tables(view: &View, env: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let row = |t: &Table, kind: &str| {
        let mut row = vec![text("def"), text(&t.def.db), text(&t.def.name), text(kind)];
        row.extend(table_status(&view.instance, t, env.time_zone));
        row
    };
    let mut rows: Rows = asked_virtual(wanted, 1, 2)
        .into_iter()
        .map(|t| row(t, "SYSTEM VIEW"))
        .collect();
    rows.extend(
        asked(view, wanted, 1, 2)
            .iter()
            .map(|t| row(t, table_type(t))),
    );
    for v in asked_views(view, wanted, 1, 2) {
        let mut row = vec![text("def"), text(&v.db), text(&v.name), text("VIEW")];
        let comment = match described(view, &v, env) {
            Ok(_) => "VIEW".into(),
            Err(e) => e.message,
        };
        row.extend(view_status(&comment));
        rows.push(row);
    }
    Ok(rows)
}

/// The privileges on a table's columns as SHOW FULL COLUMNS prints them.
pub(crate) fn column_privileges(account: &Account, t: &Table, column: &str) -> String {
    if t.def.db == INFORMATION_SCHEMA {
        return "select".into();
    }
    account
        .on_table(&t.def.db, &t.def.name)
        .with(account.on_column(&t.def.db, &t.def.name, column))
        .names()
        .into_iter()
        .filter(|n| matches!(*n, "SELECT" | "INSERT" | "UPDATE" | "REFERENCES"))
        .map(str::to_ascii_lowercase)
        .collect::<Vec<_>>()
        .join(",")
}

/// Whether an account may do anything with a column: MariaDB does not tell others of the indexes that it is in.
pub(crate) fn sees_column(account: &Account, t: &Table, column: &str) -> bool {
    let may = PrivilegeSet::SELECT
        .with(PrivilegeSet::INSERT)
        .with(PrivilegeSet::UPDATE)
        .with(PrivilegeSet::REFERENCES);
    let (db, table) = (&t.def.db, &t.def.name);
    is_mysql()
        || db == INFORMATION_SCHEMA
        || account.on_table(db, table).has_any(may)
        || account.on_column(db, table, column).has_any(may)
}

/// A column's DEFAULT as an expression, as MariaDB's COLUMN_DEFAULT has it: the text NULL where NULL is the default,
/// strings in quotes.
pub(crate) fn default_expression(c: &ColumnDef, zone: Zone) -> Value {
    match show::show_default(c, zone) {
        // Under MySQL's face as SHOW COLUMNS has it.
        shown if is_mysql() => shown.map_or(Value::Null, Value::str),
        None if c.nullable && !c.auto_increment => text("NULL"),
        None => Value::Null,
        Some(d) => {
            use narwal_engine::DefaultDef::{Moment, Text};
            let literal = matches!(c.default, Text(_) | Moment(_));
            if literal && !c.ty.is_numeric() {
                Value::str(format!("'{}'", d.replace('\\', "\\\\").replace('\'', "''")))
            } else {
                Value::str(d)
            }
        }
    }
}

fn column_row(account: &Account, t: &Table, i: usize, c: &ColumnDef, zone: Zone) -> Vec<Value> {
    let ty = &c.ty;
    let full = c.type_name();
    let kind = full.split(['(', ' ']).next().unwrap_or_default();
    // A JSON column of MySQL's has no character set.
    let json = is_mysql() && c.is_json();
    let mut facts = type_facts(ty);
    if json {
        for i in [0, 1, 5, 6] {
            facts[i] = Value::Null;
        }
    }
    let [chars, bytes, precision, scale, fsp, set, collation] = facts;
    // Nobody writes to these tables.
    let default = match t.def.db == INFORMATION_SCHEMA {
        true => Value::Null,
        false => default_expression(c, zone),
    };
    vec![
        text("def"),
        text(&t.def.db),
        text(&t.def.name),
        text(&c.name),
        Value::UInt(i as u64 + 1),
        default,
        text(if c.nullable { "YES" } else { "NO" }),
        text(kind),
        chars,
        bytes,
        precision,
        scale,
        fsp,
        set,
        collation,
        Value::str(full.as_str()),
        text(show::show_key(t, i)),
        Value::str(show::show_extra(c)),
        Value::str(column_privileges(account, t, &c.name)),
        text(&c.comment),
        text(if c.generated.is_some() {
            "ALWAYS"
        } else {
            "NEVER"
        }),
        match &c.generated {
            Some(g) if is_mysql() => Value::str(show::escaped_expression(&g.expr)),
            Some(g) => text(&g.expr),
            None if is_mysql() => text(""),
            None => Value::Null,
        },
    ]
}

pub(super) fn columns(view: &View, env: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let may = PrivilegeSet::SELECT
        .with(PrivilegeSet::INSERT)
        .with(PrivilegeSet::UPDATE)
        .with(PrivilegeSet::REFERENCES);
    let mut rows = Vec::new();
    let mut of = |t: &Table| {
        // A column that the account may do nothing with is not told of.
        let shown = |c: &ColumnDef| {
            let hidden = is_mysql() && c.is_hidden();
            !hidden && !column_privileges(&view.account, t, &c.name).is_empty()
        };
        for (i, c) in t.columns().iter().enumerate().filter(|(_, c)| shown(c)) {
            rows.push(column_row(&view.account, t, i, c, env.time_zone));
        }
    };
    for t in asked_virtual(wanted, 1, 2) {
        of(t);
    }
    for t in asked(view, wanted, 1, 2) {
        if view
            .account
            .about_table(&t.def.db, &t.def.name)
            .has_any(may)
        {
            of(&t);
        }
    }
    for v in asked_views(view, wanted, 1, 2) {
        if view.account.about_table(&v.db, &v.name).has_any(may)
            && let Ok(t) = described(view, &v, env)
        {
            of(&t);
        }
    }
    Ok(rows)
}

/// What SHOW INDEX and STATISTICS tell of one part of an index: Seq_in_index, Column_name, Collation, Cardinality,
/// Sub_part, Packed, Null, Index_type, Comment, Index_comment, Ignored.
pub(crate) fn index_part(instance: &Instance, t: &Table, ix: &IndexDef, n: usize) -> Vec<Value> {
    let part = &ix.columns[n];
    let c = &t.columns()[part.column];
    // The row count is exact for the whole of a unique index; what is not known is not guessed.
    let last = n + 1 == ix.columns.len();
    let hashes = ix.unique && ix.method == Some(IndexMethod::Hash);
    let analyzed = t.stats().and_then(|s| s.distinct(ix.id, n + 1));
    vec![
        Value::Int(n as i64 + 1),
        match is_mysql() && c.is_hidden() {
            true => Value::Null,
            false => text(&c.name),
        },
        text(if part.desc { "D" } else { "A" }),
        match analyzed {
            _ if hashes => Value::Null,
            _ if ix.unique && last => Value::Int(instance.database().table_rows(t) as i64),
            Some(n) => Value::Int(n as i64),
            None => Value::Null,
        },
        part.prefix
            .map_or(Value::Null, |p| Value::Int(i64::from(p))),
        Value::Null,
        text(if c.nullable { "YES" } else { "" }),
        text(if hashes { "HASH" } else { "BTREE" }),
        text(""),
        text(&ix.comment),
        text(if ix.ignored { "YES" } else { "NO" }),
    ]
}

/// What MySQL adds to a part of an index: IS_VISIBLE and EXPRESSION.
pub(crate) fn visible_and_expression(t: &Table, ix: &IndexDef, n: usize) -> [Value; 2] {
    let c = &t.columns()[ix.columns[n].column];
    let expression = c.generated.as_ref().filter(|_| c.is_hidden());
    [
        text(if ix.ignored { "NO" } else { "YES" }),
        expression.map_or(Value::Null, |g| {
            Value::str(show::escaped_expression(&g.expr))
        }),
    ]
}

pub(super) fn statistics(view: &View, _: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for t in asked(view, wanted, 1, 2) {
        for ix in show::show_indexes(&t) {
            let seen =
                |p: &IndexColumn| sees_column(&view.account, &t, &t.columns()[p.column].name);
            for n in (0..ix.columns.len()).filter(|n| seen(&ix.columns[*n])) {
                let mut row = vec![
                    text("def"),
                    text(&t.def.db),
                    text(&t.def.name),
                    Value::Int(i64::from(!ix.unique)),
                    text(&t.def.db),
                    text(&ix.name),
                ];
                row.extend(index_part(&view.instance, &t, ix, n));
                if is_mysql() {
                    row.extend(visible_and_expression(&t, ix, n));
                }
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// Tables whose keys and checks an account sees: SELECT alone does not show them.
fn constrained(view: &View, wanted: &Wanted, schema: usize, table: usize) -> Vec<Arc<Table>> {
    let mut tables = asked(view, wanted, schema, table);
    tables.retain(|t| {
        let have = view.account.on_table(&t.def.db, &t.def.name);
        !have.without(PrivilegeSet::SELECT).is_empty()
    });
    tables
}

/// Tables whose constraints' names it sees: a privilege on a column does as well.
fn with_named_constraints(
    view: &View,
    wanted: &Wanted,
    schema: usize,
    table: usize,
) -> Vec<Arc<Table>> {
    let mut tables = asked(view, wanted, schema, table);
    tables.retain(|t| sees_constraints(view, &t.def.db, &t.def.name));
    tables
}

fn sees_constraints(view: &View, db: &str, table: &str) -> bool {
    let have = view.account.about_table(db, table);
    !have.without(PrivilegeSet::SELECT).is_empty()
}

pub(super) fn key_column_usage(view: &View, _: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for t in constrained(view, wanted, 4, 5) {
        for ix in show::show_indexes(&t).into_iter().filter(|i| i.unique) {
            let columns = ix.columns.iter().enumerate();
            let named = |p: &IndexColumn| !(is_mysql() && t.columns()[p.column].is_hidden());
            for (n, part) in columns.filter(|(_, p)| named(p)) {
                rows.push(vec![
                    text("def"),
                    text(&t.def.db),
                    text(&ix.name),
                    text("def"),
                    text(&t.def.db),
                    text(&t.def.name),
                    text(&t.columns()[part.column].name),
                    Value::Int(n as i64 + 1),
                    Value::Null,
                    Value::Null,
                    Value::Null,
                    Value::Null,
                ]);
            }
        }
        for key in &t.def.foreign_keys {
            for (n, (own, parent)) in key.columns.iter().zip(&key.parent_columns).enumerate() {
                let n = Value::Int(n as i64 + 1);
                rows.push(vec![
                    text("def"),
                    text(&t.def.db),
                    text(&key.name),
                    text("def"),
                    text(&t.def.db),
                    text(&t.def.name),
                    text(own),
                    n.clone(),
                    n,
                    text(&key.parent_db),
                    text(&key.parent),
                    text(parent),
                ]);
            }
        }
    }
    Ok(rows)
}

/// The name of the key that a foreign key refers to, if its parent is there.
fn referenced_key(view: &View, key: &ForeignKeyDef) -> Option<String> {
    let catalog = view.instance.database().catalog();
    let parent = catalog.table(&key.parent_db, &key.parent)?;
    show::show_indexes(parent)
        .into_iter()
        .find(|i| {
            i.columns.len() >= key.parent_columns.len()
                && i.columns
                    .iter()
                    .zip(&key.parent_columns)
                    .all(|(p, n)| parent.columns()[p.column].name.same_name(n))
        })
        .map(|i| i.name.clone())
}

/// The name of a foreign key's action. MySQL calls the default NO ACTION, MariaDB RESTRICT.
fn action_name(action: ForeignAction) -> &'static str {
    match action {
        ForeignAction::Restrict if is_mysql() => ForeignAction::NoAction.name(),
        action => action.name(),
    }
}

pub(super) fn referential_constraints(
    view: &View,
    _: &StatementEnv,
    wanted: &Wanted,
) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for t in with_named_constraints(view, wanted, 1, 9) {
        for key in &t.def.foreign_keys {
            let parent = match sees_constraints(view, &key.parent_db, &key.parent) {
                true => text(&key.parent),
                false => Value::Null,
            };
            rows.push(vec![
                text("def"),
                text(&t.def.db),
                text(&key.name),
                text("def"),
                text(&key.parent_db),
                referenced_key(view, key).map_or(Value::Null, |n| text(&n)),
                text("NONE"),
                text(action_name(key.on_update)),
                text(action_name(key.on_delete)),
                text(&t.def.name),
                parent,
            ]);
        }
    }
    Ok(rows)
}

pub(super) fn check_constraints(view: &View, _: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for t in constrained(view, wanted, 1, 2) {
        let mut add = |name: &str, level: &str, clause: &str| {
            rows.push(vec![
                text("def"),
                text(&t.def.db),
                text(&t.def.name),
                text(name),
                text(level),
                text(clause),
            ]);
        };
        for c in t.columns() {
            if let Some(check) = c.check.as_ref().filter(|_| !(is_mysql() && c.is_json())) {
                add(&c.name, "Column", check);
            }
        }
        for c in t.def.period_check().iter().chain(&t.def.checks) {
            match is_mysql() {
                true => add(&c.name, "Table", &show::escaped_expression(&c.expr)),
                false => add(&c.name, "Table", &c.expr),
            }
        }
    }
    Ok(rows)
}

pub(super) fn table_constraints(view: &View, _: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for t in with_named_constraints(view, wanted, 3, 4) {
        for ix in show::show_indexes(&t).into_iter().filter(|i| i.unique) {
            rows.push(vec![
                text("def"),
                text(&t.def.db),
                text(&ix.name),
                text(&t.def.db),
                text(&t.def.name),
                text(if ix.name == "PRIMARY" {
                    "PRIMARY KEY"
                } else {
                    "UNIQUE"
                }),
                text("YES"),
            ]);
        }
        let of_period = t.def.period_check();
        let named = of_period.iter().chain(&t.def.checks);
        // In MySQL a JSON column has a type of its own, and no CHECK for it.
        let checks = (t.columns().iter())
            .filter(|c| !(is_mysql() && c.is_json()))
            .filter_map(|c| c.check.as_ref().map(|_| &c.name))
            .map(|n| (n, "CHECK", true))
            .chain(named.map(|c| (&c.name, "CHECK", !c.not_enforced)));
        let keys = (t.def.foreign_keys.iter()).map(|k| (&k.name, "FOREIGN KEY", true));
        for (name, kind, enforced) in checks.chain(keys) {
            rows.push(vec![
                text("def"),
                text(&t.def.db),
                text(name),
                text(&t.def.db),
                text(&t.def.name),
                text(kind),
                text(if enforced { "YES" } else { "NO" }),
            ]);
        }
    }
    if !is_mysql() {
        rows.iter_mut().for_each(|r| r.truncate(6));
    }
    Ok(rows)
}

/// One row for each table: none has partitions.
pub(super) fn partitions(view: &View, env: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    let stored = asked(view, wanted, 1, 2);
    let made = asked_virtual(wanted, 1, 2);
    for t in made.into_iter().chain(&stored) {
        let status = table_status(&view.instance, t, env.time_zone);
        let mut row = vec![text("def"), text(&t.def.db), text(&t.def.name)];
        row.extend(std::iter::repeat_n(Value::Null, 9));
        // Rows, average and data length; MariaDB gives no maximum here.
        row.push(match &status[3] {
            Value::Null => Value::UInt(0),
            v => v.clone(),
        });
        row.extend([status[4].clone(), status[5].clone(), Value::Null]);
        row.extend([status[7].clone(), status[8].clone(), status[10].clone()]);
        row.extend([Value::Null, Value::Null, Value::Null]);
        row.extend([text(""), text(""), Value::Null]);
        rows.push(row);
    }
    Ok(rows)
}
