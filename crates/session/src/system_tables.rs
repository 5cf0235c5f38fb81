//! Tables of the schema `mysql` as stored tables: what a statement writes or defines there is in the catalog like any
//! other table.
//!
//! Most of them have no meaning for the server (`servers`, `plugin`, `help_topic`, `time_zone`): they are shown empty, and
//! the first write makes them, with a statement in the log that replicas run too.
//!
//! `proc` and `event` are made of the definitions of programs. A statement that defines them finds them as stored tables
//! with these rows (`bring_out`). Behind it (`settle_defined`) a table that has its definition again becomes the programs'
//! definitions and is gone; another one stays, and a mark in the catalog says what is wrong with it ([`Fault`]). As long
//! as it is there, whoever needs the table is told so.

use crate::information_schema::{system_collation, system_rows, system_table};
use crate::programs::written;
use crate::session::ClientSession;
use crate::system_schemas::{Fault, Home, MYSQL, fault, fault_key, home};
use crate::written_rows::{Texts, insert_text};
use narwal_engine::{
    CatalogChange, Database, DatabaseDef, Ddl, GtidChoice, Table, TableDef, TxnOptions,
};
use narwal_sql::ast::{AlterAction, DdlStmt};
use narwal_sql::{Needs, Prepared, SqlMode};
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult, Value, Zone};
use std::collections::HashSet;
use std::sync::Arc;

/// What is wrong with a table that somebody has defined, if anything is.
fn compare(found: &TableDef, made: &TableDef) -> Option<Fault> {
    if found.columns.len() != made.columns.len() {
        return Some(Fault::Columns {
            expected: made.columns.len(),
            found: found.columns.len(),
        });
    }
    let mut columns = found.columns.iter().zip(&made.columns);
    let primary = |def: &TableDef| -> Vec<usize> {
        let key = def.indexes.iter().find(|i| i.name == "PRIMARY");
        key.map(|i| i.columns.iter().map(|c| c.column).collect())
            .unwrap_or_default()
    };
    let same = columns.all(|(a, b)| a.name == b.name && a.ty == b.ty && a.nullable == b.nullable)
        && primary(found) == primary(made);
    (!same).then_some(Fault::Other)
}

/// Who changes the tables of `mysql` in the catalog, and how.
struct Change<'a> {
    db: &'a Database,
    thread_id: u32,
    timestamp: u32,
    options: TxnOptions,
}

impl Change<'_> {
    /// Commits changes that belong to this server alone.
    fn quietly(&self, changes: Vec<CatalogChange>) -> SqlResult<()> {
        self.commit(String::new(), changes, false)
    }

    fn commit(&self, sql: String, changes: Vec<CatalogChange>, log_bin: bool) -> SqlResult<()> {
        let ddl = Ddl {
            sql,
            db: MYSQL.into(),
            changes,
            thread_id: self.thread_id,
            timestamp: self.timestamp,
            suppress_use: true,
            ..Ddl::default()
        };
        // A GTID that was asked for is the statement's own, which follows.
        let for_statement = self.options.gtid.seq_no.is_some();
        let options = TxnOptions {
            log_bin: log_bin && self.options.log_bin && !for_statement,
            gtid: GtidChoice {
                seq_no: None,
                ..self.options.gtid
            },
            ..self.options.clone()
        };
        self.db.ddl(ddl, &options)?;
        Ok(())
    }

    /// `mysql` is a database of the catalog from the first table on that somebody makes in it.
    fn make_schema(&self) -> SqlResult<()> {
        if self.db.catalog().database(MYSQL).is_some() {
            return Ok(());
        }
        let made = self.quietly(vec![CatalogChange::PutDatabase(DatabaseDef {
            name: MYSQL.into(),
            collation: system_collation(MYSQL),
            comment: String::new(),
        })]);
        // Another session may have made it meanwhile.
        match self.db.catalog().database(MYSQL) {
            Some(_) => Ok(()),
            None => made,
        }
    }

    /// Makes a table that nothing depends on a stored one, unless it is.
    fn store_table(&self, table: &Table) -> SqlResult<()> {
        self.make_schema()?;
        let name = &table.def.name;
        if self.db.catalog().table(MYSQL, name).is_some() {
            return Ok(());
        }
        let text = narwal_sql::show::show_create_table(table, 0, SqlMode(0), Zone::UTC);
        let text = text.replacen(
            "CREATE TABLE ",
            &format!("CREATE TABLE IF NOT EXISTS `{MYSQL}`."),
            1,
        );
        let make = CatalogChange::CreateTable(table.def.clone());
        self.commit(text, vec![make], true)
    }
}

/// Row events of a source name a table of `mysql` that is only shown so far, and on which nothing depends: makes it a stored
/// one. True if it did. `options`: those of the source's transaction.
pub(crate) fn store_for_source(
    db: &Database,
    name: &str,
    timestamp: u32,
    options: TxnOptions,
) -> SqlResult<bool> {
    let Some(table) = system_table(name).filter(|_| home(name) == Home::Stored) else {
        return Ok(false);
    };
    if db.catalog().table(MYSQL, name).is_some() {
        return Ok(false);
    }
    let change = Change {
        db,
        thread_id: 0,
        timestamp,
        options: TxnOptions {
            log_bin: false,
            ..options
        },
    };
    change.store_table(table)?;
    Ok(true)
}

/// The tables that a statement gives their names, so that they need not be there before it.
fn made_by(ddl: &DdlStmt) -> Vec<&str> {
    match ddl {
        DdlStmt::CreateTable(c) if !c.if_not_exists => vec![c.table.name.as_str()],
        DdlStmt::RenameTable { pairs, .. } => {
            let from: HashSet<&str> = pairs.iter().map(|(from, _)| from.name.as_str()).collect();
            let to = pairs.iter().map(|(_, to)| to.name.as_str());
            to.filter(|name| !from.contains(name)).collect()
        }
        DdlStmt::AlterTable { actions, .. } => (actions.iter())
            .filter_map(|a| match a {
                AlterAction::RenameTo(to) => Some(to.name.as_str()),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

impl ClientSession {
    fn system_change(&self) -> Change<'_> {
        Change {
            db: self.instance.database(),
            thread_id: self.client.id,
            timestamp: self.env.timestamp(),
            options: self.txn_options(self.settings.isolation, false),
        }
    }

    /// A statement could not be planned (`e`) since it writes to a table of `mysql` that is only shown so far: makes it.
    /// False if that is not the reason.
    pub(crate) fn stores_system_table(
        &mut self,
        stmt: &narwal_sql::Stmt,
        e: &SqlError,
    ) -> SqlResult<bool> {
        if e.code != codes::NO_SUCH_TABLE || !stmt.writes() {
            return Ok(false);
        }
        let written = crate::access::first_table(stmt, &self.env);
        let Some((db, name)) = written.filter(|(db, _)| db == MYSQL) else {
            return Ok(false);
        };
        let catalog = self.instance.database().catalog();
        let (Some(table), None) = (system_table(&name), catalog.table(&db, &name)) else {
            return Ok(false);
        };
        if home(&name) != Home::Stored {
            return Ok(false);
        }
        self.check_sees_table(&db, &name)?;
        self.check_ddl_writable()?;
        self.system_change().store_table(table)?;
        Ok(true)
    }

    /// Before a statement that defines tables: those of `mysql` that it names are stored tables for it.
    /// Returns the ones that [`ClientSession::settle_defined`] looks at.
    pub(crate) fn bring_out(
        &mut self,
        ddl: &DdlStmt,
        needs: &[Needs],
    ) -> SqlResult<Vec<&'static Arc<Table>>> {
        let of_schema = |n: &&Needs| n.db == MYSQL && !n.table.is_empty();
        let mut named: Vec<&str> = needs.iter().filter(of_schema).map(|n| &*n.table).collect();
        named.sort_unstable();
        named.dedup();
        let mut out = Vec::new();
        if named.is_empty() {
            return Ok(out);
        }
        self.system_change().make_schema()?;
        let makes = made_by(ddl);
        for name in named {
            let Some(table) = system_table(name) else {
                continue;
            };
            match home(name) {
                Home::Stored if !makes.contains(&name) => {
                    self.system_change().store_table(table)?
                }
                Home::Programs => {
                    if fault(&self.instance.database().catalog(), name).is_none() {
                        self.show_as_stored(table)?;
                    }
                    out.push(table);
                }
                _ => {}
            }
        }
        Ok(out)
    }

    /// Makes the table of programs a stored table with the rows that it shows.
    fn show_as_stored(&mut self, table: &Table) -> SqlResult<()> {
        let name = &table.def.name;
        let rows = system_rows(&self.view(), table)?;
        let mut changes = Vec::new();
        if self
            .instance
            .database()
            .catalog()
            .table(MYSQL, name)
            .is_some()
        {
            // Of a statement that the server did not live through.
            changes.push(CatalogChange::DropTable {
                db: MYSQL.into(),
                name: name.clone(),
            });
        }
        changes.push(CatalogChange::CreateTable(table.def.clone()));
        changes.push(CatalogChange::PutObject {
            key: fault_key(name),
            value: Fault::Other.text(),
        });
        self.system_change().quietly(changes)?;
        if rows.is_empty() {
            return Ok(());
        }
        self.run_quietly(&insert_text(name, &rows)).map(drop)
    }

    /// Runs a statement of the server's own on a stored table of `mysql`, without a word in the binary log.
    fn run_quietly(&mut self, text: &str) -> SqlResult<Texts> {
        self.as_stored(|s| {
            let stmt = narwal_sql::parse_statement(text, &s.parse_options())?;
            let db = s.instance.database().clone();
            let catalog = db.catalog();
            let plan = Prepared::new(&stmt, "", &db, &catalog, &s.env, None)?;
            let mut txn = db.begin(TxnOptions {
                log_bin: false,
                ..TxnOptions::default()
            });
            txn.begin_statement(s.env.timestamp(), None);
            let values = vec![Value::Null; plan.params()];
            let mut rows = Texts::default();
            narwal_sql::execute(&plan, &values, &mut txn, &db, &mut s.env, &mut rows)?;
            txn.end_statement();
            txn.commit()?;
            Ok(rows)
        })
    }

    /// Behind a statement that defines tables, whether it has succeeded or not: what has become of those of programs.
    pub(crate) fn settle_defined(&mut self, tables: &[&'static Arc<Table>]) -> SqlResult<()> {
        for table in tables {
            self.settle_defined_table(table)?;
        }
        Ok(())
    }

    fn settle_defined_table(&mut self, table: &'static Arc<Table>) -> SqlResult<()> {
        let name = &table.def.name;
        let catalog = self.instance.database().catalog();
        let now = match catalog.table(MYSQL, name) {
            Some(found) => compare(&found.def, &table.def),
            None => Some(Fault::Missing),
        };
        let key = fault_key(name);
        if let Some(now) = now {
            if fault(&catalog, name) == Some(now) {
                return Ok(());
            }
            let value = now.text();
            return self
                .system_change()
                .quietly(vec![CatalogChange::PutObject { key, value }]);
        }
        let instance = self.instance.clone();
        let _one_writer = instance.acl_writer.lock();
        let _events = instance.events.writer();
        let rows = self.run_quietly(&format!("SELECT * FROM `{MYSQL}`.`{name}`"))?;
        let mut shown = Texts::default();
        for row in system_rows(&self.view(), table)? {
            let texts = row.iter().map(|v| v.as_ref().to_text().to_string());
            shown.0.push(texts.collect());
        }
        let mut changes = written::changes(&catalog, table, &shown, &rows)?;
        changes.push(CatalogChange::DropTable {
            db: MYSQL.into(),
            name: name.clone(),
        });
        changes.push(CatalogChange::DeleteObject { key });
        self.system_change().quietly(changes)?;
        instance.events.ring();
        Ok(())
    }
}
