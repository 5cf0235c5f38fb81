//! The columns that a view shows, as DESCRIBE and information_schema tell them.

use crate::ast::Stmt;
use crate::env::StatementEnv;
use crate::plan::made::stored_type;
use crate::prepared::Prepared;
use crate::view_def::{invalid, parsed};
use crate::virtual_tables::VirtualTables;
use narwal_engine::{Catalog, ColumnDef, Database, DefaultDef, Table, TableDef, ViewDef};
use narwal_types::{Collation, ResultColumn, SqlResult, TypeKind};
use std::sync::Arc;

/// A view as a table without rows and indexes. Error 1356 if its tables or columns are not there any more.
pub fn describe(
    def: &ViewDef,
    db: &Database,
    catalog: &Arc<Catalog>,
    env: &StatementEnv,
    virtual_tables: Option<&dyn VirtualTables>,
) -> SqlResult<Arc<Table>> {
    let stmt = Stmt::Select(parsed(def)?);
    let plan = Prepared::new(&stmt, "", db, catalog, env, virtual_tables)
        .map_err(|_| invalid(&def.db, &def.name))?;
    let columns = plan
        .columns()
        .iter()
        .zip(&def.columns)
        .map(|(r, name)| {
            let mut c = match of_table(r, catalog) {
                Some(c) => c,
                None => match catalog.view(&r.db, &r.org_table) {
                    Some(v) if !r.org_name.is_empty() => {
                        of_view(v, r, db, catalog, env, virtual_tables)?
                    }
                    _ => of_virtual(r, virtual_tables).unwrap_or_else(|| of_expression(r)),
                },
            };
            c.name.clone_from(name);
            c.nullable = r.nullable;
            Ok(c)
        })
        .collect::<SqlResult<_>>()?;
    Ok(Table::made(TableDef {
        id: 0,
        db: def.db.clone(),
        name: def.name.clone(),
        columns,
        indexes: Vec::new(),
        hidden_index_id: 0,
        collation: Collation::default(),
        comment: "VIEW".into(),
        auto_increment_start: 0,
        engine: String::new(),
        created: 0,
        checks: Vec::new(),
        foreign_keys: Vec::new(),
        sequence: false,
        merge: None,
        period: None,
        declared: None,
        options: Vec::new(),
    })?)
}

/// The definition of a table's column, as a view shows it.
fn of_table(r: &ResultColumn, catalog: &Catalog) -> Option<ColumnDef> {
    let t = catalog.table(&r.db, &r.org_table)?;
    let mut c = t.def.columns[t.column(&r.org_name)?].clone();
    if std::mem::take(&mut c.auto_increment) {
        c.default = DefaultDef::Text("0".into());
    }
    c.on_update = None;
    c.generated = None;
    c.check = None;
    Some(c)
}

/// The definition of a virtual table's column.
fn of_virtual(r: &ResultColumn, tables: Option<&dyn VirtualTables>) -> Option<ColumnDef> {
    let (t, _) = tables?.table(&r.db, &r.org_table, None)?;
    t.column(&r.org_name).map(|c| t.columns()[c].clone())
}

fn of_view(
    v: &ViewDef,
    r: &ResultColumn,
    db: &Database,
    catalog: &Arc<Catalog>,
    env: &StatementEnv,
    virtual_tables: Option<&dyn VirtualTables>,
) -> SqlResult<ColumnDef> {
    let t = describe(v, db, catalog, env, virtual_tables)?;
    Ok(match t.column(&r.org_name) {
        Some(c) => t.columns()[c].clone(),
        None => of_expression(r),
    })
}

fn of_expression(r: &ResultColumn) -> ColumnDef {
    let (ty, display_width) = stored_type(r);
    let default = match ty.kind {
        _ if r.nullable => DefaultDef::None,
        TypeKind::Decimal(_, 0) => DefaultDef::Text("0".into()),
        TypeKind::Decimal(_, n) => DefaultDef::Text(format!("0.{}", "0".repeat(n.into()))),
        TypeKind::Date => DefaultDef::Text("0000-00-00".into()),
        TypeKind::DateTime(n) => DefaultDef::Text(with_digits("0000-00-00 00:00:00", n)),
        TypeKind::Time(n) => DefaultDef::Text(with_digits("00:00:00", n)),
        _ if ty.is_numeric() => DefaultDef::Text("0".into()),
        TypeKind::Text(_) | TypeKind::Blob(_) => DefaultDef::None,
        _ => DefaultDef::Text(String::new()),
    };
    ColumnDef {
        name: r.name.clone(),
        ty,
        nullable: r.nullable,
        default,
        auto_increment: false,
        on_update: None,
        comment: String::new(),
        display_width,
        generated: None,
        check: None,
        invisible: false,
        compressed: false,
        headed: false,
    }
}

fn with_digits(zero: &str, digits: u8) -> String {
    match digits {
        0 => zero.to_string(),
        n => format!("{zero}.{}", "0".repeat(n.into())),
    }
}
