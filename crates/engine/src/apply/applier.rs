//! Table maps and rows of another server in, changes of a transaction out.

use super::behind;
use super::change::{self, Manner, Place, RowsApplied};
use crate::apply::convert::TypeConversions;
use crate::apply::map::{Mapped, Maps};
use crate::catalog::foreign::ForeignKeyMode;
use crate::catalog::image::RowImage;
use crate::catalog::names::Catalog;
use crate::catalog::table::CompleteRow;
use crate::catalog::table::Table;
use crate::txn::transaction::Transaction;
use crate::{EngineError, Result};
use narwal_binlog::{RowsEvent, TableMap};
use std::sync::Arc;

/// Applies row events. Keeps the table maps of the statement that is running.
#[derive(Debug, Default)]
pub struct RowApplier {
    maps: Maps,
    manner: Manner,
    scratch: Vec<u8>,
    place: Place,
    regenerate: Option<CompleteRow>,
}

impl RowApplier {
    /// An applier without table maps. With `compare`, every column of a before image is compared with the row that was
    /// found, and a difference is an error (1032): the log and the tables have come apart. Without it only the key
    /// counts, as on a MariaDB replica.
    #[must_use]
    pub fn new(compare: bool) -> Self {
        RowApplier {
            manner: Manner {
                compare,
                ..Manner::default()
            },
            ..RowApplier::default()
        }
    }

    /// `slave_exec_mode=IDEMPOTENT`: a row to insert that is there already is overwritten, a row to delete or change that
    /// is not there is passed over.
    #[must_use]
    pub fn idempotent(mut self, on: bool) -> Self {
        self.manner.idempotent = on;
        self
    }

    /// Takes columns of other types, too.
    #[must_use]
    pub fn converting(mut self, conversions: TypeConversions) -> Self {
        self.maps.conversions = conversions;
        self
    }

    /// How rows get the columns of functional indexes, which a MySQL's events do not have. Without it they stay NULL.
    #[must_use]
    pub fn completing(mut self, complete: CompleteRow) -> Self {
        self.manner.complete = Some(complete);
        self
    }

    /// How rows that cascades change get the values of their generated columns. Without it such a cascade is refused.
    #[must_use]
    pub fn regenerating(mut self, regenerate: CompleteRow) -> Self {
        self.regenerate = Some(regenerate);
        self
    }

    /// Forgets all table maps: at the end of a statement or group.
    pub fn clear(&mut self) {
        self.maps.clear();
    }

    /// Takes a table map whose rows are to be left out.
    pub fn skip_table(&mut self, map: &TableMap<'_>) {
        self.maps.skip(map.table_id);
    }

    /// Takes a table map again that was taken before, if neither it nor the table has changed; false if so.
    #[inline]
    pub fn known_map(&mut self, catalog: &Catalog, body: &[u8]) -> bool {
        self.maps.again(catalog, body)
    }

    /// Takes a table map and matches it with the table of that name. `body`: the event's.
    ///
    /// # Errors
    /// 1146 if there is no such table, 1168 if one behind a MERGE table is not there, 1677 if a column's type is not the
    /// table's (with both types named), 1235 for a type that Narwal does not have.
    pub fn table_map(&mut self, catalog: &Catalog, map: &TableMap<'_>, body: &[u8]) -> Result<()> {
        self.maps.add(catalog, map, body)
    }

    /// Takes a table map whose rows go to a table of the caller's, whatever the map calls it. A row to change that is not
    /// there is passed over.
    ///
    /// # Errors
    /// As [`RowApplier::table_map`], for the columns.
    pub fn table_map_to(
        &mut self,
        table: &Arc<Table>,
        map: &TableMap<'_>,
        body: &[u8],
    ) -> Result<()> {
        self.maps.add_to(table, map, body)
    }

    /// What of rows the event's images have, as far as it shows; `None` if it does not.
    #[must_use]
    pub fn row_image(&self, event: &RowsEvent<'_>) -> Option<RowImage> {
        self.maps.get(event.table_id)?.row_image(event)
    }

    /// Applies the rows of an event to `txn`, whose statement the caller has begun. `timestamp`: of the event, in
    /// seconds since 1970, for columns that default to it.
    ///
    /// # Errors
    /// 1032 if a row to change is not there (or differs, see [`RowApplier::new`]), 1062 if a row to insert is there
    /// already; [`EngineError::Corrupt`] for events that are not what they should be; and whatever writing gives. The
    /// transaction then holds a part of the event's rows and must be rolled back.
    pub fn rows(
        &mut self,
        txn: &mut Transaction,
        event: &RowsEvent<'_>,
        timestamp: u32,
    ) -> Result<RowsApplied> {
        let mapped = self.maps.get(event.table_id).ok_or_else(|| {
            EngineError::Corrupt(format!(
                "row event of table id {}, which no table map before it names",
                event.table_id
            ))
        })?;
        if let Some(regenerate) = self.regenerate {
            txn.regenerate_by(regenerate);
        }
        txn.set_foreign_keys(if event.has_foreign_key_checks() {
            ForeignKeyMode::Follow
        } else {
            ForeignKeyMode::Off
        });
        let manner = match mapped.apart {
            true => Manner {
                idempotent: true,
                compare: false,
                ..self.manner
            },
            false => self.manner,
        };
        let mut apply = |mapped: &Mapped, event: &RowsEvent<'_>| {
            change::apply(
                mapped,
                txn,
                event,
                timestamp,
                manner,
                &mut self.scratch,
                &mut self.place,
            )
        };
        match &mapped.table {
            Some(table) if let Some(merge) = &table.def.merge => {
                behind::apply((table, merge), mapped, event, apply)
            }
            _ => apply(mapped, event),
        }
    }

    /// Name of the table of a table id, if a map told it and it is not left out.
    #[must_use]
    pub fn table(&self, id: u64) -> Option<&Arc<Table>> {
        self.maps.get(id)?.table.as_ref()
    }
}
