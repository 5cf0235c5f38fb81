//! Rows for the tables that a DDL statement makes: ALTER TABLE that has to write rows anew, CREATE TABLE ... SELECT.
//!
//! They go the way of a transaction's rows: into a write set that spills to run files, and as events into the log, sent out of
//! band when they are many. So memory stays bounded. The statement's one commit record names them all: before it is durable
//! there is nothing, and what was written for a statement that fails or dies is dead. The rows that ALTER TABLE writes are
//! local events, which replicas do not see: they run the statement. Those of CREATE TABLE ... SELECT are part of its group.

use crate::apply::applier::RowApplier;
use crate::catalog::names::Catalog;
use crate::catalog::steps::Steps;
use crate::catalog::table::Table;
use crate::key::{KeyRange, full_key};
use crate::parts::Parts;
use crate::store::scan::Scan;
use crate::store::writeset::WriteSet;
use crate::txn::options::{Isolation, TxnOptions};
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use narwal_binlog::{DdlQuery, RowsEvent};
use std::sync::Arc;

/// How the rows are logged.
#[derive(Debug, Clone, Copy)]
pub enum FillRows<'a> {
    /// For recovery only: replicas make them themselves.
    Local,
    /// Replicas get them, after the statement's text.
    Logged {
        /// The statement as the client wrote it, if it should be there too.
        annotate: Option<&'a [u8]>,
    },
}

/// The tables of a statement while they get their rows. See [`crate::Database::ddl_filled`].
pub struct TableFill<'a> {
    db: &'a Arc<Parts>,
    before: &'a Catalog,
    after: &'a Catalog,
    pub(crate) txn: Transaction,
    /// Rows of the old table, if it is a temporary one.
    pub(crate) old_rows: WriteSet,
}

impl<'a> TableFill<'a> {
    pub(crate) fn new(
        db: &'a Arc<Parts>,
        before: &'a Catalog,
        after: &'a Catalog,
        options: &TxnOptions,
    ) -> Self {
        let options = TxnOptions {
            isolation: Isolation::ReadCommitted,
            interrupt: options.interrupt.clone(),
            thread_id: options.thread_id,
            log_bin: false,
            ..TxnOptions::default()
        };
        let mut txn = Transaction::new(db.clone(), options);
        // Nobody else knows them: they need no lock.
        let made = |t: &&Arc<Table>| !before.by_id.contains_key(&t.def.id);
        txn.tables
            .extend(after.by_id.values().filter(made).cloned());
        TableFill {
            db,
            before,
            after,
            txn,
            old_rows: WriteSet::default(),
        }
    }

    /// `logged`: the statement goes into the binary log.
    pub(crate) fn begin(
        &mut self,
        rows: &FillRows<'_>,
        logged: bool,
        query: &DdlQuery<'_>,
    ) -> Result<()> {
        match rows {
            FillRows::Logged { annotate } if logged => {
                self.txn.options.log_bin = true;
                self.txn.begin_fill(query.timestamp, Some(query), *annotate)
            }
            _ => self.txn.begin_fill(query.timestamp, None, None),
        }
    }

    pub(crate) fn into_transaction(self) -> Transaction {
        self.txn
    }

    /// A table as it was before the statement.
    pub fn old(&self, db: &str, name: &str) -> Result<Arc<Table>> {
        find(self.before, db, name)
    }

    /// A table as the statement makes it.
    pub fn new_table(&self, db: &str, name: &str) -> Result<Arc<Table>> {
        find(self.after, db, name)
    }

    /// Applies a row event of another server to a table that the statement makes.
    ///
    /// # Errors
    /// As [`RowApplier::rows`].
    pub fn apply(
        &mut self,
        rows: &mut RowApplier,
        event: &RowsEvent<'_>,
        timestamp: u32,
    ) -> Result<u64> {
        Ok(rows.rows(&mut self.txn, event, timestamp)?.rows)
    }

    /// The tables as the statement makes them.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        self.after
    }

    /// Takes a row away that stands in the way of one to be inserted, by its clustered key.
    pub fn remove(&mut self, table: &Arc<Table>, pk: &[u8]) -> Result<()> {
        match self.txn.own(&full_key(table.indexes[0].id, pk))? {
            Some(Some(row)) => self.txn.delete(table, pk, &row),
            _ => Ok(()),
        }
    }

    /// Inserts a row image into a table that the statement makes. `checked`: the numbers of the unique secondary indexes that
    /// may find a duplicate; the primary key always may.
    ///
    /// # Errors
    /// [`EngineError::Duplicate`]: the row was not inserted.
    pub fn insert(&mut self, table: &Arc<Table>, row: &[u8], checked: &[usize]) -> Result<()> {
        self.txn.load(table, row, checked)
    }

    /// The next value of a made table's AUTO_INCREMENT counter, taken.
    pub fn next_auto_increment(&mut self, table: &Arc<Table>, steps: Steps) -> Result<u64> {
        Ok(self.txn.reserve_auto_increment(table, 1, steps))
    }

    /// Tells that counter about a value.
    pub fn observe_auto_increment(&mut self, table: &Arc<Table>, value: u64, steps: Steps) {
        self.txn.observe_auto_increment(table, value, steps);
    }

    /// Calls back with every row of a table that the statement found, in the order of its clustered key. Nobody writes it now.
    pub fn each_row(
        &mut self,
        table: &Arc<Table>,
        each: &mut dyn FnMut(&mut Self, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let rows = std::mem::take(&mut self.old_rows);
        let done = self.each_row_of(&rows, table, each);
        self.old_rows = rows;
        done
    }

    fn each_row_of(
        &mut self,
        rows: &WriteSet,
        table: &Arc<Table>,
        each: &mut dyn FnMut(&mut Self, &[u8]) -> Result<()>,
    ) -> Result<()> {
        let state = self.db.store.state.load_full();
        let all = KeyRange::all();
        let mut scan = Scan::new(rows, state, u64::MAX, table, 0, all, false, false)?;
        while let Some(item) = scan.next()? {
            each(self, item.row)?;
        }
        Ok(())
    }
}

fn find(catalog: &Catalog, db: &str, name: &str) -> Result<Arc<Table>> {
    catalog
        .table(db, name)
        .cloned()
        .ok_or_else(|| EngineError::Catalog(format!("table {db}.{name} doesn't exist")))
}
