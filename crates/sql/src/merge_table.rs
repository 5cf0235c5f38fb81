//! MERGE tables: a definition without rows of its own, which shows the rows of other tables. This file knows which tables
//! these are; whoever reads or writes a MERGE table asks here.

use crate::env::{StatementEnv, WarningLevel};
use narwal_engine::{Catalog, IndexDef, Table};
use narwal_types::{SqlError, SqlResult, errors};
use std::sync::Arc;

/// The tables behind a MERGE table, in its order. Those of a temporary one may be temporary.
///
/// # Errors
/// 1168 if one is missing or has another form, 1472 if it is a MERGE table itself.
pub fn tables_behind(
    table: &Table,
    catalog: &Catalog,
    env: &StatementEnv,
) -> SqlResult<Vec<Arc<Table>>> {
    let names = table.def.merge.iter().flat_map(|m| &m.tables);
    names
        .map(|(db, name)| {
            let temporary = match table.temporary {
                true => env.temporary_table(db, name),
                false => None,
            };
            let Some(found) = temporary.or_else(|| catalog.table(db, name).cloned()) else {
                let e = errors::NO_SUCH_TABLE.with([db, name]);
                env.push_condition(WarningLevel::Error, e.code, e.message);
                return Err(errors::WRONG_MRG_TABLE.plain());
            };
            if found.def.merge.is_some() {
                return Err(errors::ADMIN_WRONG_MRG_TABLE.with([name]));
            }
            match !found.def.sequence && fits(table, &found) {
                true => Ok(found),
                false => Err(errors::WRONG_MRG_TABLE.plain()),
            }
        })
        .collect()
}

/// Tables of MyISAM alone stand behind MERGE tables in MariaDB. Here any may, since a dump does not say the engine; but what
/// MariaDB does not open it does not alter either, and replicas would stop.
///
/// # Errors
/// 1168 for others, and those of [`tables_behind`].
pub(crate) fn may_alter(table: &Table, catalog: &Catalog, env: &StatementEnv) -> SqlResult<()> {
    let of_myisam = |t: &Arc<Table>| {
        let engine = t.def.declared.as_deref();
        engine.is_some_and(|e| e.eq_ignore_ascii_case("MyISAM"))
    };
    match tables_behind(table, catalog, env)?.iter().all(of_myisam) {
        true => Ok(()),
        false => Err(errors::WRONG_MRG_TABLE.plain()),
    }
}

/// The table behind a MERGE table that new rows go to, out of those that [`tables_behind`] gave.
///
/// # Errors
/// 1036 if there is none.
pub fn table_for_inserts(table: &Table, behind: &[Arc<Table>]) -> SqlResult<usize> {
    let merge = table.def.merge.as_ref();
    merge
        .and_then(|m| m.place_for_inserts(behind.len()))
        .ok_or_else(|| read_only(&table.def.name))
}

/// Error 1036.
pub fn read_only(name: &str) -> SqlError {
    errors::OPEN_AS_READONLY.with([&name])
}

/// Rows of `child` are rows of the MERGE table: the columns are stored alike, whatever they are called, and the indexes are
/// among the child's first ones.
fn fits(merge: &Table, child: &Table) -> bool {
    let (columns, own) = (merge.columns(), child.columns());
    let alike = |(a, b): (&narwal_engine::ColumnDef, &narwal_engine::ColumnDef)| {
        a.binlog_type() == b.binlog_type()
            && a.nullable == b.nullable
            && a.ty.has_charset() == b.ty.has_charset()
            && b.generated.is_none()
    };
    let same_parts = |(a, b): (&IndexDef, &IndexDef)| {
        let parts =
            |i: &IndexDef| -> Vec<_> { i.columns.iter().map(|c| (c.column, c.prefix)).collect() };
        let collation = |c: &narwal_engine::IndexColumn| {
            columns[c.column].ty.collation == own[c.column].ty.collation
        };
        parts(a) == parts(b) && a.columns.iter().all(collation)
    };
    let (indexes, others) = (&merge.def.indexes, &child.def.indexes);
    columns.len() == own.len()
        && columns.iter().zip(own).all(alike)
        && indexes.len() <= others.len()
        && indexes.iter().zip(others).all(same_parts)
}
