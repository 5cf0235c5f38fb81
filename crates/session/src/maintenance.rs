//! CHECK, ANALYZE, OPTIMIZE and REPAIR TABLE.

use crate::acl;
use crate::admin::{Maintenance, Persistent, TableRef};
use crate::information_schema::{Definitions, is_view, system_table};
use crate::privileges::PrivilegeSet;
use crate::rows::Grid;
use crate::session::ClientSession;
use crate::system_schemas::{MYSQL, is_information_schema, is_shown};
use crate::table_statistics::Refused;
use narwal_engine::{Isolation, Table, Transaction, ViewDef};
use narwal_sql::merge_table::tables_behind;
use narwal_sql::{VirtualTables, view};
use narwal_types::errors::codes;
use narwal_types::{SqlResult, TypeKind, Value};
use std::sync::Arc;

/// What one table's maintenance has to say: lines of the statement's result.
struct Report<'a> {
    grid: &'a mut Grid,
    op: &'static str,
    table: String,
}

impl Report<'_> {
    fn line(&mut self, kind: &str, text: &str) {
        self.grid.row(vec![
            Value::str(self.table.as_str()),
            Value::str(self.op),
            Value::str(kind),
            Value::str(text),
        ]);
    }

    fn ok(&mut self) {
        self.line("status", "OK");
    }

    fn failed(&mut self, why: &str) {
        self.line("Error", why);
        self.line("status", "Operation failed");
    }
}

/// What there is to say of a table of `mysql` that is only shown: it is as it should be.
fn maintain_shown(op: Maintenance, table: &Table, report: &mut Report<'_>) {
    match op {
        Maintenance::Check => report.ok(),
        _ if is_view(table) => {
            report.failed(&view::wrong_kind(MYSQL, &table.def.name, "BASE TABLE").message);
        }
        Maintenance::Repair => report.ok(),
        _ => report.line("status", "Table is already up to date"),
    }
}

impl ClientSession {
    /// CHECK, ANALYZE, OPTIMIZE, REPAIR TABLE.
    pub(crate) fn maintain(
        &mut self,
        op: Maintenance,
        persistent: Option<&Persistent>,
        tables: &[TableRef],
    ) -> SqlResult<Grid> {
        let name = match op {
            Maintenance::Check => "check",
            Maintenance::Analyze => "analyze",
            Maintenance::Optimize => "optimize",
            Maintenance::Repair => "repair",
            Maintenance::AssignToKeycache => "assign_to_keycache",
            Maintenance::PreloadKeys => "preload_keys",
        };
        if matches!(
            op,
            Maintenance::Analyze | Maintenance::Optimize | Maintenance::Repair
        ) {
            self.refuse_in_stages()?;
        }
        let mut g = maintenance_grid();
        for t in tables {
            self.env.check_interrupt()?;
            let db = match &t.db {
                Some(d) => d.clone(),
                None => self.env.require_db()?.to_string(),
            };
            let temporary = self.env.temporary_table(&db, &t.name);
            self.close_handlers_on(t);
            if temporary.is_none() {
                self.may_maintain(op, &db, &t.name)?;
            }
            let mut report = Report {
                grid: &mut g,
                op: name,
                table: format!("{db}.{}", t.name),
            };
            if temporary.is_none()
                && let Err(e) = self.check_locked(&db, &t.name)
            {
                report.failed(&e.message);
                continue;
            }
            let catalog = self.instance.database().catalog();
            if temporary.is_none()
                && let Some(v) = catalog.view(&db, &t.name)
            {
                self.maintain_view(op, v, &mut report);
                continue;
            }
            if temporary.is_none()
                && db == MYSQL
                && let Some(table) = system_table(&t.name)
                && is_shown(&catalog, MYSQL, &t.name)
            {
                maintain_shown(op, table, &mut report);
                continue;
            }
            match temporary.or_else(|| catalog.table(&db, &t.name).cloned()) {
                Some(table) => self.maintain_table(op, persistent, &table, &mut report),
                None => {
                    let why = format!("Table '{}' doesn't exist", report.table);
                    report.failed(&why);
                }
            }
        }
        Ok(g)
    }

    /// A stored table may be maintained by this account, now.
    fn may_maintain(&mut self, op: Maintenance, db: &str, name: &str) -> SqlResult<()> {
        let host = self.client.host.clone();
        if op == Maintenance::Check {
            let account = self.account();
            // Any privilege on tables will do.
            let any = PrivilegeSet::ALL_TABLE.with(PrivilegeSet::GRANT_OPTION);
            return match account.about_table(db, name).has_any(any) {
                false => Err(acl::table_denied("CHECK TABLE", &account, &host, db, name)),
                true => Ok(()),
            };
        }
        self.refuse_under_read_only()?;
        let account = self.account();
        if is_information_schema(db) {
            return Err(acl::database_denied(&account, db));
        }
        // As MariaDB: on some of its columns will do.
        let missing = PrivilegeSet::SELECT
            .with(PrivilegeSet::INSERT)
            .without(account.about_table(db, name));
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.names().join(", ");
        Err(acl::table_denied(&missing, &account, &host, db, name))
    }

    fn maintain_table(
        &mut self,
        op: Maintenance,
        persistent: Option<&Persistent>,
        table: &Arc<Table>,
        report: &mut Report<'_>,
    ) {
        match op {
            _ if table.def.merge.is_some() => self.maintain_merge(op, table, report),
            Maintenance::Check => match self.check_table(table) {
                Ok(problems) if problems.is_empty() => report.ok(),
                Ok(problems) => {
                    for p in problems {
                        report.line("error", &p);
                    }
                    report.line("error", "Corrupt");
                }
                // Damage that the reading met.
                Err(e) if e.code == codes::INDEX_CORRUPT => {
                    report.line("error", &e.message);
                    report.line("error", "Corrupt");
                }
                Err(e) => report.failed(&e.message),
            },
            Maintenance::Analyze => match self.analyze_table(table) {
                Ok(()) => self.report_statistics(persistent, table, report),
                Err(e) => report.failed(&e.message),
            },
            Maintenance::Optimize => {
                report.line(
                    "note",
                    "Table does not need optimize: the checkpoint reuses free pages",
                );
                report.ok();
            }
            Maintenance::Repair | Maintenance::AssignToKeycache | Maintenance::PreloadKeys => {
                let op = report.op;
                report.line(
                    "note",
                    &format!("The storage engine for the table doesn't support {op}"),
                );
            }
        }
    }

    /// The last of ANALYZE: statistics that are kept in tables, where they are wanted.
    fn report_statistics(
        &self,
        persistent: Option<&Persistent>,
        table: &Table,
        report: &mut Report<'_>,
    ) {
        let all = Persistent::default();
        let wanted = persistent.or_else(|| self.always_collects().then_some(&all));
        // Of its own tables the server keeps none.
        let kept = !table.temporary && table.def.db != MYSQL;
        let Some(wanted) = wanted.filter(|_| kept) else {
            return report.ok();
        };
        report.line("status", "Engine-independent statistics collected");
        match self.collect_statistics(table, wanted) {
            Ok(too_long) => {
                for column in too_long {
                    let why = "Engine-independent statistics are not collected for column";
                    report.line("Warning", &format!("{why} '{column}'"));
                }
                report.ok();
            }
            Err(Refused::Unknown) => report.line("error", "Invalid argument"),
            Err(Refused::Sql(e)) => report.failed(&e.message),
        }
    }

    /// The same of a MERGE table: the tables behind it fit, or not.
    fn maintain_merge(&self, op: Maintenance, table: &Table, report: &mut Report<'_>) {
        if op != Maintenance::Check {
            let op = report.op;
            let text = format!("The storage engine for the table doesn't support {op}");
            report.line("note", &text);
            return;
        }
        let catalog = self.instance.database().catalog();
        match tables_behind(table, &catalog, &self.env) {
            Ok(_) => report.ok(),
            Err(e) => {
                report.line("Error", &e.message);
                report.line("error", "Corrupt");
            }
        }
    }

    /// The same of a view: it can be read, and that is all there is to it.
    fn maintain_view(&self, op: Maintenance, v: &ViewDef, report: &mut Report<'_>) {
        let db = self.instance.database();
        if op != Maintenance::Check {
            report.failed(&view::wrong_kind(&v.db, &v.name, "BASE TABLE").message);
            return;
        }
        let tables = Some(&Definitions as &dyn VirtualTables);
        match view::describe(v, db, &db.catalog(), &self.env, tables) {
            Ok(_) => report.ok(),
            Err(e) => {
                report.line("Error", &e.message);
                report.line("error", "Corrupt");
            }
        }
    }

    /// A transaction that reads the tables as they are now.
    fn snapshot(&self) -> Transaction {
        let mut txn = self
            .instance
            .database()
            .begin(self.txn_options(Isolation::RepeatableRead, true));
        txn.begin_statement(self.env.timestamp(), None);
        txn.ensure_snapshot();
        txn
    }

    /// Counts the different values of a table's indexes, in one snapshot.
    fn analyze_table(&mut self, table: &Arc<Table>) -> SqlResult<()> {
        let mut txn = self.snapshot();
        let stats = narwal_sql::analyze(&mut txn, table, &self.env)?;
        table.set_stats(stats);
        Ok(())
    }

    /// Reads all of the table from the disk, then compares every secondary index with the rows, in one snapshot.
    fn check_table(&mut self, table: &Arc<Table>) -> SqlResult<Vec<String>> {
        use narwal_engine::{EngineError, KeyRange, ReadView};
        let env = &self.env;
        let go_on = || env.check_interrupt().map_err(EngineError::from);
        let damaged = (self.instance.database()).verify_table(table, go_on)?;
        if !damaged.is_empty() {
            return Ok(damaged.iter().map(|e| e.to_sql().message.into()).collect());
        }
        let mut txn = self.snapshot();
        let mut rows = 0u64;
        // Sum over (index number, key, clustered key) hashes, as the rows say they must be.
        let mut expected = vec![0u64; table.indexes.len()];
        let hash = |key: &[u8], pk: &[u8]| {
            use std::hash::{BuildHasher, Hash, Hasher};
            let mut h = ahash::RandomState::with_seeds(1, 2, 3, 4).build_hasher();
            key.hash(&mut h);
            pk.hash(&mut h);
            h.finish()
        };
        let mut key = Vec::new();
        let mut scan = txn.scan(table, 0, KeyRange::all(), false, ReadView::Snapshot, false)?;
        while let Some(item) = scan.next()? {
            rows += 1;
            if rows.is_multiple_of(1024) {
                self.env.check_interrupt()?;
            }
            for (i, index) in table.indexes.iter().enumerate().skip(1) {
                key.clear();
                narwal_types::key::encode_from_row(
                    &table.layout,
                    item.row,
                    &index.parts,
                    &mut key,
                )?;
                // The clustered key and its length complete a secondary key.
                key.extend_from_slice(item.pk);
                key.extend_from_slice(&(item.pk.len() as u16).to_be_bytes());
                expected[i] = expected[i].wrapping_add(hash(&key, item.pk));
            }
        }
        drop(scan);
        let mut problems = Vec::new();
        for (i, index) in table.indexes.iter().enumerate().skip(1) {
            let (mut n, mut sum) = (0u64, 0u64);
            let mut scan = txn.scan(table, i, KeyRange::all(), false, ReadView::Snapshot, true)?;
            while let Some(item) = scan.next()? {
                n += 1;
                if n.is_multiple_of(1024) {
                    self.env.check_interrupt()?;
                }
                sum = sum.wrapping_add(hash(item.key, item.pk));
            }
            drop(scan);
            if n != rows {
                problems.push(format!(
                    "Index '{}' has {n} entries for {rows} rows",
                    index.name
                ));
            } else if sum != expected[i] {
                problems.push(format!(
                    "Index '{}' does not agree with the rows",
                    index.name
                ));
            }
        }
        Ok(problems)
    }
}

/// The columns of the answer.
pub(crate) fn maintenance_grid() -> Grid {
    let mut g = Grid::new();
    g.text_null("Table", 387)
        .text_null("Op", 10)
        .text_null("Msg_type", 10)
        .any(
            "Msg_text",
            TypeKind::Text(narwal_types::BlobSize::Medium),
            true,
        );
    g
}
