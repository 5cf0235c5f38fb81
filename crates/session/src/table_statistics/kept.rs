//! The rows of `mysql.table_stats`, `column_stats` and `index_stats`: how they are written, and how they follow the
//! definitions of their tables.

use super::rows::{Each, hex};
use crate::session::ClientSession;
use crate::system_schemas::MYSQL;
use narwal_engine::{ColumnDef, Table, TableDef};
use narwal_sql::ast::{AlterAction, DdlStmt, TableName};
use narwal_types::{Name, SqlResult, TypeKind};
use std::sync::Arc;

/// The three tables.
const TABLES: [&str; 3] = ["table_stats", "column_stats", "index_stats"];

/// What a statement is going to do to tables that may have statistics.
pub(crate) enum Follow {
    /// A database goes.
    Database(String),
    /// Tables go, if the statement does what it says.
    Gone(Vec<(String, String)>),
    /// Tables get other names.
    Renamed(Vec<[(String, String); 2]>),
    /// A table gets another definition. Its columns and indexes that get another name, and its own new name.
    Changed {
        before: Arc<Table>,
        columns: Vec<(String, String)>,
        indexes: Vec<(String, String)>,
        to: (String, String),
    },
}

/// A table as a condition.
fn of((db, name): &(String, String)) -> String {
    format!(
        "db_name = {} AND table_name = {}",
        hex(db.as_bytes()),
        hex(name.as_bytes())
    )
}

fn delete(table: &str, condition: &str) -> String {
    format!("DELETE FROM {MYSQL}.{table} WHERE {condition}")
}

fn forget(table: &(String, String)) -> Vec<String> {
    TABLES.iter().map(|t| delete(t, &of(table))).collect()
}

fn rename(from: &(String, String), to: &(String, String)) -> Vec<String> {
    let mut writes = forget(to);
    writes.extend(TABLES.iter().map(|t| {
        format!(
            "UPDATE {MYSQL}.{t} SET db_name = {}, table_name = {} WHERE {}",
            hex(to.0.as_bytes()),
            hex(to.1.as_bytes()),
            of(from)
        )
    }));
    writes
}

/// What is known of the old column's values is true of the new one's, too: it has the same type, or more room.
fn holds_the_same(new: &ColumnDef, old: &ColumnDef) -> bool {
    match (new.ty.kind, old.ty.kind) {
        (TypeKind::VarChar(n), TypeKind::VarChar(o)) => n >= o,
        (n, o) => n == o,
    }
}

/// The name of a column or index behind the statement, if it has not got lost: another may have taken its name.
fn name_after(name: &str, renamed: &[(String, String)]) -> Option<String> {
    let own = renamed.iter().find(|(from, _)| from.same_name(name));
    let is_taken = || renamed.iter().any(|(_, to)| to.same_name(name));
    match own {
        Some((_, to)) => Some(to.clone()),
        None if is_taken() => None,
        None => Some(name.to_string()),
    }
}

/// Rows that get other names. They may have changed them with each other, so each gets one between first.
#[derive(Default)]
struct Renames {
    away: Vec<String>,
    back: Vec<String>,
}

impl Renames {
    /// `named`: the column of the statistics table; `own`: the table as a condition.
    fn push(&mut self, (table, named): (&str, &str), own: &str, from: &str, to: &str) {
        let (between, to_hex) = (hex(format!("\x01{to}").as_bytes()), hex(to.as_bytes()));
        let set = format!("UPDATE {MYSQL}.{table} SET {named}");
        let of = |name: &str| format!("{own} AND {named} = {name}");
        let from = of(&hex(from.as_bytes()));
        self.away.push(format!("{set} = {between} WHERE {from}"));
        // What has the name by now belongs to nothing.
        self.back.push(delete(table, &of(&to_hex)));
        self.back
            .push(format!("{set} = {to_hex} WHERE {}", of(&between)));
    }

    fn writes(mut self) -> Vec<String> {
        self.away.append(&mut self.back);
        self.away
    }
}

/// What becomes of the statistics of a table with a new definition.
fn change(
    before: &TableDef,
    after: &TableDef,
    columns: &[(String, String)],
    indexes: &[(String, String)],
) -> Vec<String> {
    let own = of(&(before.db.clone(), before.name.clone()));
    let (mut writes, mut renames) = (Vec::new(), Renames::default());
    for c in &before.columns {
        let now = name_after(&c.name, columns);
        let now = now.and_then(|n| {
            let mut all = after.columns.iter();
            all.find(|a| a.name.same_name(&n))
        });
        match now {
            Some(a) if holds_the_same(a, c) => {
                if a.name != c.name {
                    renames.push(("column_stats", "column_name"), &own, &c.name, &a.name);
                }
            }
            _ => {
                let named = format!("{own} AND column_name = {}", hex(c.name.as_bytes()));
                writes.push(delete("column_stats", &named));
            }
        }
    }
    for i in &before.indexes {
        let parts: Option<Vec<String>> = i
            .columns
            .iter()
            .map(|c| name_after(&before.columns[c.column].name, columns))
            .collect();
        let now = name_after(&i.name, indexes);
        let same = after.indexes.iter().find(|a| {
            let names = a.columns.iter();
            let names = names.map(|c| after.columns[c.column].name.as_str());
            now.as_deref().is_some_and(|n| a.name.same_name(n))
                && (parts.as_ref()).is_some_and(|p| names.eq(p.iter().map(String::as_str)))
        });
        match same {
            Some(a) if a.name == i.name => {}
            Some(a) => renames.push(("index_stats", "index_name"), &own, &i.name, &a.name),
            None => {
                let named = format!("{own} AND index_name = {}", hex(i.name.as_bytes()));
                writes.push(delete("index_stats", &named));
            }
        }
    }
    writes.append(&mut renames.writes());
    writes
}

impl ClientSession {
    /// Runs statements that change the three tables, on this server alone.
    pub(super) fn write_statistics(&self, writes: &[String]) -> SqlResult<()> {
        let mut own = self.instance.connect_internal()?;
        own.query(b"SET sql_log_bin = 0", &mut Each(|_: &[_]| ()))?;
        for w in writes {
            own.query(w.as_bytes(), &mut Each(|_: &[_]| ()))?;
        }
        Ok(())
    }

    /// What a statement that defines is going to do to tables with statistics; `None` if there are none on this server.
    pub(crate) fn before_definition(&self, ddl: &DdlStmt) -> Option<Follow> {
        let catalog = self.instance.database().catalog();
        if !TABLES.iter().any(|t| catalog.table(MYSQL, t).is_some()) {
            return None;
        }
        let full = |t: &TableName| {
            let db =
                t.db.clone()
                    .or_else(|| self.env.db.as_deref().map(str::to_string))?;
            Some((db, t.name.clone()))
        };
        let changed = |table: &TableName, columns, indexes, to: Option<(String, String)>| {
            let (db, name) = full(table)?;
            let before = catalog.table(&db, &name)?.clone();
            let to = to.unwrap_or((db, name));
            Some(Follow::Changed {
                before,
                columns,
                indexes,
                to,
            })
        };
        match ddl {
            DdlStmt::DropDatabase { name, .. } => Some(Follow::Database(name.clone())),
            DdlStmt::DropTable { tables, .. } => {
                Some(Follow::Gone(tables.iter().filter_map(full).collect()))
            }
            DdlStmt::RenameTable { pairs, .. } => {
                let pairs = pairs
                    .iter()
                    .filter_map(|(from, to)| Some([full(from)?, full(to)?]));
                Some(Follow::Renamed(pairs.collect()))
            }
            DdlStmt::DropIndex { table, .. } => changed(table, Vec::new(), Vec::new(), None),
            DdlStmt::AlterTable { table, actions, .. } => {
                let mut to = None;
                let (mut columns, mut indexes) = (Vec::new(), Vec::new());
                for a in actions {
                    match a {
                        AlterAction::RenameTo(name) => to = full(name),
                        AlterAction::RenameColumn { from, to, .. } => {
                            columns.push((from.clone(), to.clone()));
                        }
                        AlterAction::RenameIndex { from, to, .. } => {
                            indexes.push((from.clone(), to.clone()));
                        }
                        AlterAction::Change {
                            column, elements, ..
                        } => {
                            let new = elements.columns.first().map(|c| c.def.name.clone());
                            columns.extend(new.map(|new| (column.clone(), new)));
                        }
                        _ => {}
                    }
                }
                changed(table, columns, indexes, to)
            }
            _ => None,
        }
    }

    /// Behind the statement. What fails is told in the server's log: the definition is done.
    pub(crate) fn after_definition(&self, follow: &Follow) {
        let catalog = self.instance.database().catalog();
        let writes: Vec<String> = match follow {
            Follow::Database(name) => {
                let named = format!("db_name = {}", hex(name.as_bytes()));
                TABLES.iter().map(|t| delete(t, &named)).collect()
            }
            Follow::Gone(tables) => {
                let gone = tables
                    .iter()
                    .filter(|(db, name)| catalog.table(db, name).is_none());
                gone.flat_map(forget).collect()
            }
            Follow::Renamed(pairs) => pairs
                .iter()
                .flat_map(|[from, to]| rename(from, to))
                .collect(),
            Follow::Changed {
                before,
                columns,
                indexes,
                to,
            } => {
                let from = (before.def.db.clone(), before.def.name.clone());
                let Some(after) = catalog.table(&to.0, &to.1) else {
                    return;
                };
                let mut writes = change(&before.def, &after.def, columns, indexes);
                if from != *to {
                    writes.extend(rename(&from, to));
                }
                writes
            }
        };
        if let Err(e) = self.write_statistics(&writes) {
            tracing::warn!("statistics of tables: {}", e.message);
        }
    }
}
