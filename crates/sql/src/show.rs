//! What SHOW prints about tables.

pub use crate::quote::quote_ident;
use narwal_engine::{ColumnDef, DatabaseDef, DefaultDef, IndexDef, Table};
use narwal_types::Collation;
use narwal_types::coltype::quoted;
use std::fmt::Write;

/// CURRENT_TIMESTAMP as SHOW prints it.
pub(crate) fn current_timestamp(digits: u8) -> String {
    if digits == 0 {
        "current_timestamp()".to_string()
    } else {
        format!("current_timestamp({digits})")
    }
}

/// The declared indexes in the order that MariaDB shows them: primary, unique, others.
pub fn show_indexes(table: &Table) -> Vec<&IndexDef> {
    let mut v: Vec<&IndexDef> = table.def.indexes.iter().collect();
    v.sort_by_key(|i| index_rank(i, &table.def.columns));
    v
}

/// SHOW CREATE TABLE's second column. `auto_increment`: the table's next value, shown if above 1.
pub fn show_create_table(table: &Table, auto_increment: u64) -> String {
    let def = &table.def;
    let temporary = if table.temporary { "TEMPORARY " } else { "" };
    let mut out = format!("CREATE {temporary}TABLE {} (\n", quote_ident(&def.name));
    for (i, c) in def.columns.iter().enumerate() {
        if i > 0 {
            out.push_str(",\n");
        }
        let _ = write!(out, "  {} {}", quote_ident(&c.name), c.type_name());
        if c.ty.has_charset()
            && c.ty.collation == Collation::Binary
            && def.collation != Collation::Binary
        {
            out.push_str(" CHARACTER SET binary");
        } else if c.ty.has_charset() && c.ty.collation != def.collation {
            let _ = write!(
                out,
                " CHARACTER SET {} COLLATE {}",
                c.ty.collation.charset().name(),
                c.ty.collation.name()
            );
        }
        if let Some(g) = &c.generated {
            let kind = if g.stored { "STORED" } else { "VIRTUAL" };
            let _ = write!(out, " GENERATED ALWAYS AS ({}) {kind}", g.expr);
            if c.invisible {
                out.push_str(" INVISIBLE");
            }
        }
        let timestamp = matches!(c.ty.kind, narwal_types::TypeKind::Timestamp(_));
        if !c.nullable {
            out.push_str(" NOT NULL");
        } else if timestamp && c.generated.is_none() {
            out.push_str(" NULL");
        }
        if c.invisible && c.generated.is_none() {
            out.push_str(" INVISIBLE");
        }
        if c.auto_increment {
            out.push_str(" AUTO_INCREMENT");
        } else if c.generated.is_none() {
            match &c.default {
                DefaultDef::None | DefaultDef::Null if c.nullable => {
                    out.push_str(" DEFAULT NULL");
                }
                DefaultDef::None | DefaultDef::Null => {}
                DefaultDef::CurrentTimestamp(f) => {
                    let _ = write!(out, " DEFAULT {}", current_timestamp(*f));
                }
                DefaultDef::Text(t) if c.ty.is_numeric() => {
                    let _ = write!(out, " DEFAULT {t}");
                }
                DefaultDef::Text(t) => {
                    let _ = write!(out, " DEFAULT {}", quoted(t));
                }
                DefaultDef::Expr(e) => {
                    let _ = write!(out, " DEFAULT {e}");
                }
            }
        }
        if let Some(f) = c.on_update {
            let _ = write!(out, " ON UPDATE {}", current_timestamp(f));
        }
        if !c.comment.is_empty() {
            let _ = write!(out, " COMMENT {}", quoted(&c.comment));
        }
        if let Some(check) = &c.check {
            let _ = write!(out, " CHECK ({check})");
        }
    }
    for i in show_indexes(table) {
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
        for (n, c) in i.columns.iter().enumerate() {
            if n > 0 {
                out.push(',');
            }
            out.push_str(&quote_ident(&def.columns[c.column].name));
            if let Some(p) = c.prefix {
                let _ = write!(out, "({p})");
            }
            if c.desc {
                out.push_str(" DESC");
            }
        }
        out.push(')');
        if !i.comment.is_empty() {
            let _ = write!(out, " COMMENT {}", quoted(&i.comment));
        }
        if i.ignored {
            out.push_str(" IGNORED");
        }
    }
    for k in &def.foreign_keys {
        let _ = write!(out, ",\n  {}", k.clause(&def.db));
    }
    for c in &def.checks {
        let _ = write!(
            out,
            ",\n  CONSTRAINT {} CHECK ({})",
            quote_ident(&c.name),
            c.expr
        );
    }
    let _ = write!(out, "\n) ENGINE={}", def.engine);
    if auto_increment > 1 && table.auto_increment.is_some() {
        let _ = write!(out, " AUTO_INCREMENT={auto_increment}");
    }
    if def.sequence {
        out.push_str(" SEQUENCE=1");
    } else if def.collation == Collation::Binary {
        out.push_str(" DEFAULT CHARSET=binary");
    } else {
        let _ = write!(
            out,
            " DEFAULT CHARSET={} COLLATE={}",
            def.collation.charset().name(),
            def.collation.name()
        );
    }
    if !def.comment.is_empty() {
        let _ = write!(out, " COMMENT={}", quoted(&def.comment));
    }
    out
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
    if !db.comment.is_empty() {
        let _ = write!(out, " COMMENT {}", quoted(&db.comment));
    }
    out
}

/// A column's DEFAULT as SHOW COLUMNS prints it; `None` for NULL.
pub fn show_default(column: &ColumnDef) -> Option<String> {
    match &column.default {
        DefaultDef::None | DefaultDef::Null => None,
        DefaultDef::Text(t) => Some(t.clone()),
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
        && let Some(i) = show_indexes(table)
            .first()
            .filter(|i| index_rank(i, &table.def.columns) == 1)
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
    } else if let Some(f) = column.on_update {
        format!("on update {}", current_timestamp(f))
    } else {
        String::new()
    }
}

/// The order in which MariaDB lists indexes: primary, unique without NULL, unique, others.
pub(crate) fn index_rank(i: &IndexDef, columns: &[ColumnDef]) -> u8 {
    if i.name == "PRIMARY" {
        0
    } else if !i.unique {
        3
    } else if i
        .columns
        .iter()
        .all(|c| columns.get(c.column).is_some_and(|c| !c.nullable))
    {
        1
    } else {
        2
    }
}
