//! Reading a table's part of the base to compare it with its checksums.

use crate::catalog::table::Table;
use crate::checkpoint::verify::name;
use crate::db::database::Database;
use crate::store::base::{base_err, io_err, table_name};
use crate::store::damage::Owned;
use crate::{EngineError, Result};
use redb::ReadableDatabase;

/// Bytes of a table that are read at once.
pub(crate) const PART: u64 = 1 << 20;

impl Database {
    /// Reads all that the base has of a table from the disk and compares it with its checksums: an error for each damaged
    /// block. `f` is asked now and then whether to go on.
    ///
    /// # Errors
    /// Errors of reading, and what `f` says.
    pub fn verify_table(
        &self,
        table: &Table,
        mut f: impl FnMut() -> Result<()>,
    ) -> Result<Vec<EngineError>> {
        let db = &self.parts;
        // While it lives, no page of the table is used for something else.
        let txn = db.store.base.redb.begin_read().map_err(base_err)?;
        let mut found = Vec::new();
        for ix in &table.indexes {
            let mut pages = Vec::new();
            txn.tell_table_pages(&table_name(ix.id), &mut |range| pages.push(range))
                .map_err(base_err)?;
            pages.sort_unstable_by_key(|r| r.start);
            // What lies together is read together.
            let mut parts = pages.into_iter().peekable();
            while let Some(mut part) = parts.next() {
                while let Some(next) =
                    parts.next_if(|n| n.start == part.end && n.end - part.start <= PART)
                {
                    part.end = next.end;
                }
                f()?;
                let damaged = db.store.base.file.verify_content(part).map_err(io_err)?;
                found.extend(damaged.into_iter().map(|damage| Owned {
                    damage,
                    index: Some(ix.id),
                }));
            }
        }
        Ok(name(db, found))
    }
}
