//! CREATE TABLE ... SELECT of another server: one group of a CREATE TABLE statement and the row events of the table. Here too
//! it is one commit, so the statement waits for the group's end.

use crate::apply_error::ApplyError;
use narwal_binlog::{Event, EventHeader, QueryEvent, RawEvent};
use narwal_engine::apply::RowApplier;
use narwal_engine::{EngineError, TableFill};
use narwal_sql::MadeRows;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of row events that are kept in memory for one such group.
const MAX_BYTES: usize = 1 << 30;

/// The statement and what has come of its rows.
pub(crate) struct Made {
    pub(crate) header: EventHeader,
    thread_id: u32,
    exec_time: u32,
    error_code: u16,
    pub(crate) status_vars: Vec<u8>,
    db: Vec<u8>,
    sql: Vec<u8>,
    events: Vec<(EventHeader, Vec<u8>)>,
    bytes: usize,
}

impl Made {
    pub(crate) fn new(header: &EventHeader, q: &QueryEvent<'_>) -> Self {
        Made {
            header: *header,
            thread_id: q.thread_id,
            exec_time: q.exec_time,
            error_code: q.error_code,
            status_vars: q.status_vars.to_vec(),
            db: q.db.to_vec(),
            sql: q.sql.to_vec(),
            events: Vec::new(),
            bytes: 0,
        }
    }

    /// The statement's event.
    pub(crate) fn query(&self) -> QueryEvent<'_> {
        QueryEvent {
            thread_id: self.thread_id,
            exec_time: self.exec_time,
            error_code: self.error_code,
            status_vars: &self.status_vars,
            db: &self.db,
            sql: &self.sql,
        }
    }

    /// Keeps an event until the group's end.
    pub(crate) fn keep(&mut self, event: &RawEvent<'_>) -> Result<(), ApplyError> {
        self.bytes += event.body.len() + 64;
        if self.bytes > MAX_BYTES {
            return Err(ApplyError::new(
                "CREATE TABLE ... SELECT of the source has more than 1 GiB of rows",
            ));
        }
        self.events.push((event.header, event.body.to_vec()));
        Ok(())
    }

    /// The rows, for the statement; their number is told when it has run.
    pub(crate) fn rows(&mut self, mut applier: RowApplier) -> (MadeRows, Arc<AtomicU64>) {
        let events = std::mem::take(&mut self.events);
        let count = Arc::new(AtomicU64::new(0));
        let counted = count.clone();
        let mut annotate = None;
        for (header, body) in &events {
            if let Ok(Event::Annotate(text)) = raw(header, body).decode() {
                annotate = Some(text.to_vec());
                break;
            }
        }
        let fill = move |fill: &mut TableFill<'_>| -> Result<(), EngineError> {
            applier.clear();
            for (header, body) in &events {
                match raw(header, body).decode().map_err(corrupt)? {
                    Event::TableMap(map) => applier.table_map(fill.catalog(), &map, body)?,
                    Event::Rows(rows) if !rows.data.is_empty() => {
                        let done = fill.apply(&mut applier, &rows, header.timestamp)?;
                        counted.fetch_add(done, Ordering::Relaxed);
                    }
                    _ => {}
                }
            }
            Ok(())
        };
        let rows = MadeRows {
            annotate,
            fill: Box::new(fill),
        };
        (rows, count)
    }
}

fn raw<'a>(header: &EventHeader, body: &'a [u8]) -> RawEvent<'a> {
    RawEvent {
        header: *header,
        bytes: &[],
        body,
    }
}

fn corrupt(e: narwal_binlog::BinlogError) -> EngineError {
    EngineError::Corrupt(e.to_string())
}
