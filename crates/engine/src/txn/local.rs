//! Logging of row changes: which buffer they go to, and how much of a row.
//!
//! A transaction has one buffer for what it logs (the event group, or with `sql_log_bin=0` redo that replicas never see)
//! and, once it writes to a table that the binlog filter leaves out, a second one with that redo. The log keeps both in
//! the transaction's one record. A table's rows are all in one of them, so their order against each other is free.
//!
//! With `binlog_format=STATEMENT` all rows are such redo, and the event group has the statements.

use crate::catalog::table::Table;
use crate::error::binlog_err;
use crate::txn::events::{Change, LocalMark, LocalRedo, new_builder};
use crate::txn::image::{log_delete, log_update};
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use narwal_binlog::{DdlQuery, RowMetadata};

impl Transaction {
    /// True if the table's rows go into the transaction's first buffer.
    #[inline]
    pub(crate) fn logs(&self, table: &Table) -> bool {
        !self.options.log_bin
            || !self.options.statements
                && self
                    .db
                    .options
                    .binlog_filter
                    .logs_rows(&table.def.db, &table.def.name)
    }

    /// Logs the statement that has just run, for readers to run it too: see [`TxnOptions::statements`](crate::TxnOptions). Its
    /// rows are redo for this server.
    ///
    /// # Errors
    /// The statement is too long, or its database's name.
    pub fn log_statement(&mut self, query: &DdlQuery<'_>) -> Result<()> {
        debug_assert!(self.options.statements, "its rows are in the group already");
        if !self.options.log_bin || !self.options.statements {
            return Ok(());
        }
        let builder = self
            .events
            .builder
            .get_or_insert_with(|| new_builder(&self.db, narwal_log::HEADER_LEN));
        builder.set_timestamp(query.timestamp);
        builder.change(query).map_err(binlog_err)
    }

    /// Makes room for a filtered table's row.
    pub(crate) fn begin_local_write(&mut self, timestamp: u32) -> Result<()> {
        // Not sent out of band, so it must fit one record.
        let limit = self
            .db
            .settings
            .max_binlog_cache_size
            .load(std::sync::atomic::Ordering::Relaxed)
            .min(128 << 20);
        let local = self.events.local.get_or_insert_with(|| {
            Box::new(LocalRedo {
                builder: new_builder(&self.db, 0),
                row_ids: Vec::new(),
            })
        });
        if local.builder.len() as u64 > limit {
            return Err(EngineError::TransactionTooLarge(limit));
        }
        local.builder.set_timestamp(timestamp);
        Ok(())
    }

    /// Logs a row change. `row_id`: the row's hidden id, if its table has no primary key.
    #[inline]
    pub(crate) fn log_change(
        &mut self,
        table: &Table,
        change: Change<'_>,
        row_id: Option<u64>,
    ) -> Result<()> {
        if table.temporary {
            return Ok(());
        }
        let public = self.logs(table);
        let builder = if public {
            self.events.builder.as_mut()
        } else {
            self.events.local.as_mut().map(|l| &mut l.builder)
        };
        let Some(b) = builder else {
            return Ok(());
        };
        let metadata = if public {
            self.events.row_metadata
        } else {
            RowMetadata::Full
        };
        let template = table.template(metadata);
        let image = self.options.row_image;
        match change {
            Change::Insert(row) => b.write_row(template, row).map_err(binlog_err)?,
            Change::Update(old, new) => log_update(b, table, template, image, old, new)?,
            Change::Delete(old) => log_delete(b, table, template, image, old)?,
        }
        if let Some(id) = row_id {
            match &mut self.events.local {
                Some(l) if !public => l.row_ids.push(id),
                _ => self.push_row_id(id),
            }
        }
        Ok(())
    }

    /// The place in the redo of filtered tables, for a savepoint.
    pub(crate) fn local_mark(&self) -> Option<LocalMark> {
        self.events.local.as_ref().map(|l| LocalMark {
            mark: l.builder.mark(),
            row_ids: l.row_ids.len(),
        })
    }

    /// Back to such a place; `None`: there was none.
    pub(crate) fn truncate_local(&mut self, to: &Option<LocalMark>) {
        match (to, &mut self.events.local) {
            (Some(m), Some(l)) => {
                l.builder.truncate(m.mark.clone());
                l.row_ids.truncate(m.row_ids);
            }
            (_, local) => *local = None,
        }
    }
}
