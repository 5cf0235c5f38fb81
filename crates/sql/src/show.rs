//! What SHOW prints about tables.

use crate::bind::table_rules::casts_as_parsed;
use crate::expr::{functions, print_mysql};
use crate::lower::parse_expression;
pub use crate::quote::quote_ident;
use crate::quote::with_ansi_quotes;
use narwal_engine::{
    ColumnDef, DatabaseDef, DefaultDef, IndexDef, IndexMethod, MergeDef, MergeInsert, Table,
    TableDef,
};
use narwal_syntax::ast::ORACLE_SCHEMA;
use narwal_syntax::sql_mode::SQL_MODE_NAMES;
use narwal_syntax::{ParseOptions, SqlMode, Tok};
use narwal_types::coltype::quoted;
use narwal_types::convert::fixed_text;
use narwal_types::face::is_mysql;
use narwal_types::{Charset, Collation, ColumnType, TypeKind, Value, Zone};
use std::borrow::Cow;
use std::fmt::Write;

/// CURRENT_TIMESTAMP as SHOW prints it.
pub(crate) fn current_timestamp(digits: u8) -> String {
    match (digits, is_mysql()) {
        (0, false) => "current_timestamp()".to_string(),
        (_, false) => format!("current_timestamp({digits})"),
        (0, true) => "CURRENT_TIMESTAMP".to_string(),
        (_, true) => format!("CURRENT_TIMESTAMP({digits})"),
    }
}

/// The declared indexes in the order that MariaDB shows them: primary, unique, others. Those of one kind stand as the definition
/// has them.
pub fn show_indexes(table: &Table) -> Vec<&IndexDef> {
    let mut v: Vec<&IndexDef> = table.def.indexes.iter().collect();
    v.sort_by_key(|i| (i.name != "PRIMARY", !i.unique));
    v
}

/// What a statement looks like under a sql_mode: names in double quotes under ANSI_QUOTES.
pub fn in_mode(text: String, mode: SqlMode) -> String {
    match mode.has(SqlMode::ANSI_QUOTES) {
        true => with_ansi_quotes(&text),
        false => text,
    }
}

/// A view's SELECT as sql_mode=ORACLE shows it: functions that it has in its own way stand there without their schema, and the
/// others of these names with theirs.
pub(crate) fn in_oracle(text: &str) -> String {
    let tokens = narwal_syntax::glance::tokens(text, SqlMode(0));
    let of = |i: usize| tokens.get(i);
    let word = |i: usize| match of(i) {
        Some(t) if matches!(t.tok, Tok::Word(_)) => &text[t.start as usize..t.end as usize],
        _ => "",
    };
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (i, t) in tokens.iter().enumerate() {
        let name = word(i);
        let (start, behind) = (t.start as usize, of(i + 1).map(|t| t.tok));
        let inside = i > 0 && tokens[i - 1].tok == Tok::Dot;
        if name == ORACLE_SCHEMA && behind == Some(Tok::Dot) {
            out.push_str(&text[done..start]);
            done = tokens[i + 1].end as usize;
        } else if !inside
            && behind == Some(Tok::LParen)
            && functions::oracle::name_of(name, 1).is_some()
        {
            out.push_str(&text[done..start]);
            out.push_str("mariadb_schema.");
            done = start;
        }
    }
    out.push_str(&text[done..]);
    out
}

/// SHOW CREATE TABLE's second column. `auto_increment`: the table's next value, shown if above 1. `mode`: the session's, which
/// says how names are quoted and what is left out for other servers. `zone`: its time zone, for defaults that are moments.
pub fn show_create_table(table: &Table, auto_increment: u64, mode: SqlMode, zone: Zone) -> String {
    let def = &table.def;
    let temporary = if table.temporary { "TEMPORARY " } else { "" };
    let mut out = format!("CREATE {temporary}TABLE {} (\n", quote_ident(&def.name));
    let shown = def
        .columns
        .iter()
        .filter(|c| !(is_mysql() && c.is_hidden()));
    for (i, c) in shown.enumerate() {
        if i > 0 {
            out.push_str(",\n");
        }
        show_column(&mut out, c, def.collation, (mode, zone));
    }
    if let Some(p) = &def.period {
        let (start, end) = (quote_ident(&p.start), quote_ident(&p.end));
        let _ = write!(
            out,
            ",\n  PERIOD FOR {} ({start}, {end})",
            quote_ident(&p.name)
        );
    }
    for i in show_indexes(table) {
        show_index(&mut out, i, def, mode);
    }
    for k in &def.foreign_keys {
        let _ = write!(out, ",\n  {}", k.clause(&def.db));
    }
    let mut checks: Vec<_> = def.checks.iter().collect();
    if is_mysql() {
        checks.sort_by(|a, b| a.name.cmp(&b.name));
    }
    for c in checks {
        let _ = write!(
            out,
            ",\n  CONSTRAINT {} CHECK {}",
            quote_ident(&c.name),
            enclosed(&c.expr)
        );
        if c.not_enforced {
            out.push_str(" /*!80016 NOT ENFORCED */");
        }
    }
    out.push_str("\n)");
    if mode.has(SqlMode::NO_TABLE_OPTIONS) || for_another_server(mode) {
        return in_mode(out, mode);
    }
    let old = for_an_old_mysql(mode);
    let engine = if old { "TYPE" } else { "ENGINE" };
    let _ = write!(out, " {engine}={}", def.engine);
    if auto_increment > 1 && table.auto_increment.is_some() {
        let _ = write!(out, " AUTO_INCREMENT={auto_increment}");
    }
    if def.sequence {
        out.push_str(" SEQUENCE=1");
    } else if old {
        // It has no character sets.
    } else if def.collation == Collation::Binary {
        out.push_str(" DEFAULT CHARSET=binary");
    } else {
        let set = def.collation.charset();
        let _ = write!(out, " DEFAULT CHARSET={}", set.name());
        // MySQL leaves a set's default out, but for the set whose default has changed.
        let implied = def.collation == set.default_collation() && set != Charset::Utf8mb4;
        if !is_mysql() || !implied {
            let _ = write!(out, " COLLATE={}", def.collation.name());
        }
    }
    let (behind, options): (Vec<_>, Vec<_>) =
        (def.options.iter()).partition(|(name, _)| name == CONNECTION || is_engines(name));
    for (name, value) in options {
        let _ = write!(out, " {name}={value}");
    }
    if let Some(merge) = &def.merge {
        push_merge(&mut out, merge, &def.db);
    }
    if !def.comment.is_empty() {
        let _ = write!(out, " COMMENT={}", quoted(&def.comment));
    }
    for (name, value) in behind {
        let _ = write!(out, " {name}={value}");
    }
    in_mode(out, mode)
}

/// The option that says where a table of another server lies. It is shown behind the comment, and not listed with the others.
pub const CONNECTION: &str = "CONNECTION";

/// An option that belongs to an engine: its name stands in quotes, as SHOW CREATE TABLE has it.
pub(crate) fn is_engines(name: &str) -> bool {
    name.starts_with('`')
}

/// The options of a MERGE table in the database `db`.
fn push_merge(out: &mut String, merge: &MergeDef, db: &str) {
    match merge.insert {
        MergeInsert::No => {}
        MergeInsert::First => out.push_str(" INSERT_METHOD=FIRST"),
        MergeInsert::Last => out.push_str(" INSERT_METHOD=LAST"),
    }
    if merge.tables.is_empty() {
        return;
    }
    let name = |(of, name): &(String, String)| match of == db {
        true => quote_ident(name),
        false => format!("{}.{}", quote_ident(of), quote_ident(name)),
    };
    let names: Vec<String> = merge.tables.iter().map(name).collect();
    let _ = write!(out, " UNION=({})", names.join(","));
}

/// A mode that shows definitions as other servers take them: without the options of tables.
pub(crate) fn for_another_server(mode: SqlMode) -> bool {
    const OTHERS: [&str; 6] = ["ANSI", "POSTGRESQL", "ORACLE", "MSSQL", "DB2", "MAXDB"];
    has_one_of(mode, &OTHERS)
}

/// A mode that shows definitions as MySQL 3.23 or 4.0 takes them: without character sets.
fn for_an_old_mysql(mode: SqlMode) -> bool {
    has_one_of(mode, &["MYSQL323", "MYSQL40"])
}

fn has_one_of(mode: SqlMode, names: &[&str]) -> bool {
    let set = SQL_MODE_NAMES.iter().enumerate();
    set.filter(|(i, _)| mode.0 >> i & 1 == 1)
        .any(|(_, name)| names.contains(name))
}

/// The line of a column. `collation`: the table's.
fn show_column(
    out: &mut String,
    c: &ColumnDef,
    collation: Collation,
    (mode, zone): (SqlMode, Zone),
) {
    let name = c.type_name();
    // Oracle's DATE is another type.
    let schema = match mode.has(SqlMode::ORACLE) && name == "date" {
        true => "mariadb_schema.",
        false => "",
    };
    let _ = write!(out, "  {} {schema}{name}", quote_ident(&c.name));
    let own = c.ty.collation;
    let json = is_mysql() && c.is_json();
    if json {
        // It has no character set there.
    } else if for_an_old_mysql(mode) {
        let short = matches!(c.ty.kind, TypeKind::Char(_) | TypeKind::VarChar(_));
        if short && own.is_bin() {
            out.push_str(" binary");
        }
    } else if c.ty.has_charset() && own == Collation::Binary && collation != Collation::Binary {
        out.push_str(" CHARACTER SET binary");
    } else if c.ty.has_charset() && own != collation {
        let _ = write!(
            out,
            " CHARACTER SET {} COLLATE {}",
            own.charset().name(),
            own.name()
        );
    }
    if let Some(g) = &c.generated {
        let kind = if g.stored { "STORED" } else { "VIRTUAL" };
        let _ = write!(out, " GENERATED ALWAYS AS {} {kind}", enclosed(&g.expr));
        if c.invisible && !is_mysql() {
            out.push_str(" INVISIBLE");
        }
    }
    let timestamp = matches!(c.ty.kind, TypeKind::Timestamp(_));
    if !c.nullable {
        out.push_str(" NOT NULL");
    } else if timestamp && c.generated.is_none() {
        out.push_str(" NULL");
    }
    if c.invisible && c.generated.is_none() && !is_mysql() {
        out.push_str(" INVISIBLE");
    }
    let options = !mode.has(SqlMode::NO_FIELD_OPTIONS);
    if c.auto_increment {
        if options {
            out.push_str(" AUTO_INCREMENT");
        }
    } else if c.generated.is_none() {
        push_default(out, c, zone);
    }
    if let Some(f) = c.on_update.filter(|_| options) {
        let _ = write!(out, " ON UPDATE {}", current_timestamp(f));
    }
    if !c.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", quoted(&c.comment));
    }
    if c.invisible && is_mysql() {
        out.push_str(" /*!80023 INVISIBLE */");
    }
    if let Some(check) = c.check.as_ref().filter(|_| !json) {
        let _ = write!(out, " CHECK {}", enclosed(check));
    }
}

/// An expression in parentheses.
fn enclosed(expr: &str) -> String {
    format!("({})", shown_expression(expr))
}

/// The expression of a definition as the shown server prints it: in MySQL each operator has parentheses of its own.
pub fn shown_expression(text: &str) -> Cow<'_, str> {
    if !is_mysql() {
        return text.into();
    }
    let e = parse_expression(&casts_as_parsed(text), &ParseOptions::default());
    match e {
        Ok(e) => print_mysql(&e).into(),
        Err(_) => text.into(),
    }
}

/// The same as `information_schema` and SHOW INDEX have it, where MySQL escapes its quotes.
pub fn escaped_expression(text: &str) -> String {
    let shown = shown_expression(text);
    shown.replace('\\', "\\\\").replace('\'', "\\'")
}

/// A number's text with the digits that FLOAT(M,D) and ZEROFILL show.
fn with_digits(text: &str, ty: &ColumnType) -> String {
    let text = match (ty.form.digits, text.parse::<f64>()) {
        (Some((_, decimals)), Ok(x)) => fixed_text(x, decimals),
        _ => text.to_string(),
    };
    let mut bytes = text.into_bytes();
    ty.form.filled(&mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn push_default(out: &mut String, c: &ColumnDef, zone: Zone) {
    // Texts have none that MySQL shows.
    let long = c.ty.is_blob() && is_mysql() && !c.is_json();
    let shown = match &c.default {
        DefaultDef::None | DefaultDef::Null if long => return,
        DefaultDef::None | DefaultDef::Null if c.nullable => "NULL".to_string(),
        DefaultDef::None | DefaultDef::Null => return,
        DefaultDef::CurrentTimestamp(f) => current_timestamp(*f),
        DefaultDef::Text(t) if matches!(c.ty.kind, TypeKind::Bit(_)) => t.to_string(),
        DefaultDef::Moment(_) => quoted(&moment_text(c, zone)),
        DefaultDef::Text(t) if c.ty.is_numeric() && !is_mysql() => with_digits(t, &c.ty),
        DefaultDef::Text(t) => quoted(&with_digits(t, &c.ty)),
        DefaultDef::Expr(e) if is_mysql() => enclosed(e),
        DefaultDef::Expr(e) => e.to_string(),
    };
    let _ = write!(out, " DEFAULT {shown}");
}

/// The line of an index, with the comma behind the line before.
fn show_index(out: &mut String, i: &IndexDef, def: &TableDef, mode: SqlMode) {
    let columns = &def.columns;
    let period = def.period.as_ref().filter(|_| i.without_overlaps);
    let written = i.columns.len() - if period.is_some() { 2 } else { 0 };
    out.push_str(",\n  ");
    if i.name == "PRIMARY" {
        out.push_str("PRIMARY KEY");
    } else {
        if i.unique {
            out.push_str("UNIQUE ");
        }
        let _ = write!(out, "KEY {}", quote_ident(&i.name));
    }
    out.push_str(" (");
    for (n, c) in i.columns[..written].iter().enumerate() {
        if n > 0 {
            out.push(',');
        }
        let column = &columns[c.column];
        match column
            .generated
            .as_ref()
            .filter(|_| is_mysql() && column.is_hidden())
        {
            Some(g) => out.push_str(&enclosed(&g.expr)),
            None => out.push_str(&quote_ident(&column.name)),
        }
        if let Some(p) = c.prefix {
            let _ = write!(out, "({p})");
        }
        if c.desc {
            out.push_str(" DESC");
        }
    }
    if let Some(p) = period {
        let _ = write!(out, ",{} WITHOUT OVERLAPS", quote_ident(&p.name));
    }
    out.push(')');
    if mode.has(SqlMode::NO_KEY_OPTIONS) || mode.has(SqlMode::NO_FIELD_OPTIONS) {
        return;
    }
    match i.method {
        Some(IndexMethod::BTree) => out.push_str(" USING BTREE"),
        Some(IndexMethod::Hash) => out.push_str(" USING HASH"),
        None => {}
    }
    if i.key_block_size > 0 {
        let _ = write!(out, " KEY_BLOCK_SIZE={}", i.key_block_size);
    }
    if !i.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", quoted(&i.comment));
    }
    if i.ignored {
        out.push_str(match is_mysql() {
            true => " /*!80000 INVISIBLE */",
            false => " IGNORED",
        });
    }
}

/// SHOW CREATE DATABASE's second column.
pub fn show_create_database(db: &DatabaseDef) -> String {
    let charset = match db.collation {
        Collation::Binary => "binary".to_string(),
        c => format!("{} COLLATE {}", c.charset().name(), c.name()),
    };
    let mut out = format!(
        "CREATE DATABASE {} /*!40100 DEFAULT CHARACTER SET {charset} */",
        quote_ident(&db.name)
    );
    if is_mysql() {
        out.push_str(" /*!80016 DEFAULT ENCRYPTION='N' */");
    } else if !db.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", quoted(&db.comment));
    }
    out
}

/// A default that is a moment, as clocks of this zone show it.
fn moment_text(c: &ColumnDef, zone: Zone) -> String {
    (c.default_moment(zone)).map_or_else(String::new, |t| Value::DateTime(t).to_text())
}

/// A column's DEFAULT as SHOW COLUMNS prints it in a session of this time zone; `None` for NULL.
pub fn show_default(column: &ColumnDef, zone: Zone) -> Option<String> {
    match &column.default {
        DefaultDef::None | DefaultDef::Null => None,
        DefaultDef::Moment(_) => Some(moment_text(column, zone)),
        DefaultDef::Text(t) => Some(with_digits(t, &column.ty)),
        DefaultDef::CurrentTimestamp(f) => Some(current_timestamp(*f)),
        DefaultDef::Expr(e) => Some(e.clone()),
    }
}

/// Key column of SHOW COLUMNS: `PRI`, `UNI`, `MUL` or empty.
pub fn show_key(table: &Table, column: usize) -> &'static str {
    let mut best = "";
    for i in &table.def.indexes {
        let Some(at) = i.columns.iter().position(|c| c.column == column) else {
            continue;
        };
        if i.name == "PRIMARY" {
            return "PRI";
        }
        if at > 0 {
            continue;
        }
        if i.unique && i.columns.len() == 1 {
            best = "UNI";
        } else if best.is_empty() {
            best = "MUL";
        }
    }
    // Without a primary key the first unique key without NULL plays its part.
    if !table.def.indexes.iter().any(|i| i.name == "PRIMARY")
        && let Some(i) = show_indexes(table).iter().find(|i| {
            let whole = i.columns.iter().all(|c| c.prefix.is_none());
            whole && index_rank(i, |c| table.def.columns.get(c).is_none_or(|c| c.nullable)).0 == 1
        })
        && i.columns.iter().any(|c| c.column == column)
    {
        return "PRI";
    }
    best
}

/// Extra column of SHOW COLUMNS: `auto_increment`, `on update current_timestamp()`, `VIRTUAL GENERATED`.
pub fn show_extra(column: &ColumnDef) -> String {
    let extra = extra_of_value(column);
    match (column.invisible, extra.is_empty()) {
        (false, _) => extra,
        (true, true) => "INVISIBLE".to_string(),
        (true, false) => format!("{extra}, INVISIBLE"),
    }
}

/// How a column gets its values.
fn extra_of_value(column: &ColumnDef) -> String {
    if let Some(g) = &column.generated {
        let kind = if g.stored { "STORED" } else { "VIRTUAL" };
        format!("{kind} GENERATED")
    } else if column.auto_increment {
        "auto_increment".to_string()
    } else {
        let made = matches!(
            column.default,
            DefaultDef::Expr(_) | DefaultDef::CurrentTimestamp(_)
        );
        let mut extra = Vec::new();
        if made && is_mysql() {
            extra.push("DEFAULT_GENERATED".to_string());
        }
        if let Some(f) = column.on_update {
            extra.push(format!("on update {}", current_timestamp(f)));
        }
        extra.join(" ")
    }
}

/// The order in which MariaDB lists indexes: primary, unique without NULL, unique, unique by hashes, others; unique ones of
/// whole columns before those that have a part of one. `nullable`: of a column.
fn index_rank(i: &IndexDef, nullable: impl Fn(usize) -> bool) -> (u8, bool) {
    let part = i.columns.iter().any(|c| c.prefix.is_some());
    if i.name == "PRIMARY" {
        (0, false)
    } else if !i.unique {
        (4, false)
    } else if i.method == Some(IndexMethod::Hash) {
        (3, false)
    } else if i.columns.iter().all(|c| !nullable(c.column)) {
        (1, part)
    } else {
        (2, part)
    }
}

/// Puts the indexes of a new definition in order, or those of one that has new ones. A primary key makes columns NOT NULL for
/// itself and for those that stand behind it: `before` are those that may have NULL without it.
pub(crate) fn sort_indexes(
    indexes: &mut Vec<IndexDef>,
    columns: &[ColumnDef],
    before: impl Fn(usize) -> bool,
) {
    let primary = indexes.iter().position(|i| i.name == "PRIMARY");
    let mut ranked: Vec<_> = (indexes.drain(..).enumerate())
        .map(|(n, i)| {
            let rank = index_rank(&i, |c| match primary {
                Some(p) if n < p => before(c),
                _ => columns.get(c).is_none_or(|c| c.nullable),
            });
            (rank, i)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    indexes.extend(ranked.into_iter().map(|(_, i)| i));
}
