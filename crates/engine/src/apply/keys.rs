//! The keys that row events touch, as hashes: what must not be applied at once.
//!
//! Two groups that touch no key in common can be executed in any order. A key here is a unique index (the primary key
//! among them) and a value in it, before or after the change; equal values by the column's collation are the same key, as
//! the engine's key encoding has it. Where an image does not tell a key that its change may touch (no primary key,
//! MINIMAL images beside other unique keys), the change stands for its whole table.

use crate::Result;
use crate::apply::cell::Cell;
use crate::apply::convert::TypeConversions;
use crate::apply::map::{Mapped, Maps, bit, build};
use crate::catalog::names::Catalog;
use crate::catalog::table::Table;
use crate::txn::overlaps::group_of;
use narwal_binlog::{RowsEvent, RowsKind, TableMap};
use smallvec::SmallVec;
use std::hash::Hash;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::Ordering;

/// What a group touches.
#[derive(Debug, Default)]
pub struct TouchedKeys {
    /// Hashes of keys. Different keys may have the same hash; that costs time only.
    pub keys: Vec<u64>,
    /// Tables by id, and whether all of the table is meant.
    pub tables: SmallVec<[(u64, bool); 4]>,
}

impl TouchedKeys {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.tables.clear();
    }

    fn table(&mut self, id: u64, whole: bool) {
        match self.tables.iter_mut().find(|t| t.0 == id) {
            Some(t) => t.1 |= whole,
            None => self.tables.push((id, whole)),
        }
    }
}

/// Reads the keys of row events.
#[derive(Debug)]
pub struct RowKeys {
    maps: Maps,
    hasher: ahash::RandomState,
    scratch: Vec<u8>,
    key: Vec<u8>,
}

impl RowKeys {
    /// With the conversions that the rows are applied with.
    #[must_use]
    pub fn new(conversions: TypeConversions) -> Self {
        RowKeys {
            maps: Maps::new(conversions),
            hasher: ahash::RandomState::new(),
            scratch: Vec::new(),
            key: Vec::new(),
        }
    }

    /// As [`crate::apply::applier::RowApplier::clear`].
    pub fn clear(&mut self) {
        self.maps.clear();
    }

    /// As [`crate::apply::applier::RowApplier::known_map`].
    #[inline]
    pub fn known_map(&mut self, catalog: &Catalog, body: &[u8]) -> bool {
        self.maps.again(catalog, body)
    }

    /// As [`crate::apply::applier::RowApplier::table_map`].
    ///
    /// # Errors
    /// As there.
    pub fn table_map(&mut self, catalog: &Catalog, map: &TableMap<'_>, body: &[u8]) -> Result<()> {
        self.maps.add(catalog, map, body)
    }

    /// Takes a table map of a table whose rows are left out.
    pub fn skip_table(&mut self, map: &TableMap<'_>) {
        self.maps.skip(map.table_id);
    }

    /// Adds the keys of an event's rows. False if the event can't be read so: what it touches is not known.
    pub fn rows(&mut self, event: &RowsEvent<'_>, out: &mut TouchedKeys) -> bool {
        let Some(mapped) = self.maps.get(event.table_id) else {
            return false;
        };
        let Some(table) = &mapped.table else {
            return true;
        };
        // What a cascade touches does not show.
        // Nor do the tables behind a MERGE table.
        if event.column_count != mapped.columns.len()
            || !mapped.behind.is_empty()
            || (event.has_foreign_key_checks()
                && (!table.foreign.is_empty() || table.counters.referenced.load(Ordering::Relaxed)))
        {
            return false;
        }
        let mut reader = Reader {
            mapped,
            table,
            hasher: &self.hasher,
            key: &mut self.key,
            scratch: &mut self.scratch,
            out,
        };
        reader.event(event).is_ok()
    }
}

struct Reader<'r> {
    mapped: &'r Mapped,
    table: &'r Table,
    hasher: &'r ahash::RandomState,
    key: &'r mut Vec<u8>,
    scratch: &'r mut Vec<u8>,
    out: &'r mut TouchedKeys,
}

impl Reader<'_> {
    fn event(&mut self, event: &RowsEvent<'_>) -> Result<()> {
        let table = self.table;
        let before = event.kind != RowsKind::Write;
        let has = |present: &[u8], index: usize| {
            table.indexes[index]
                .parts
                .iter()
                .all(|p| bit(present, p.column))
        };
        let unique = |i: &usize| table.indexes[*i].unique;
        let mut whole = before && (table.hidden_pk || !has(event.present, 0));
        if before && !whole {
            // A unique value that goes away must be known, unless an update says that it stays.
            whole = (1..table.indexes.len()).filter(unique).any(|i| {
                !has(event.present, i)
                    && event.present_after.is_none_or(|after| {
                        (table.indexes[i].parts.iter()).any(|p| bit(after, p.column))
                    })
            });
        }
        self.out.table(table.def.id, whole);
        if whole {
            return Ok(());
        }
        let images = [Some(event.present), event.present_after];
        let mut data = event.data;
        while !data.is_empty() {
            for present in images.iter().flatten() {
                self.image(present, &mut data)?;
            }
        }
        Ok(())
    }

    fn image(&mut self, present: &[u8], data: &mut &[u8]) -> Result<()> {
        let (mapped, table) = (self.mapped, self.table);
        if mapped.is_plain(present) {
            let row = mapped.plain_image(table, data)?;
            return self.keys_of(row, |_| true);
        }
        self.scratch.clear();
        let cells = mapped.image(table, present, data, self.scratch)?;
        let row = build(&cells, self.scratch, |_, _| Ok(false))?;
        self.keys_of(&row, |index| {
            table.indexes[index]
                .parts
                .iter()
                .all(|p| cells.get(p.column).is_some_and(|c| *c != Cell::Absent))
        })
    }

    fn keys_of(&mut self, row: &[u8], has: impl Fn(usize) -> bool) -> Result<()> {
        let table = self.table;
        for (i, index) in table.indexes.iter().enumerate() {
            if !index.unique || (i == 0 && table.hidden_pk) || !has(i) {
                continue;
            }
            self.key.clear();
            let null = match i {
                0 => {
                    table.primary_key(row, self.key)?;
                    false
                }
                _ => table.secondary_parts(i, row, self.key)?,
            };
            // NULLs are never equal.
            if null {
                continue;
            }
            // What may overlap is one key.
            if index.without_overlaps
                && let Some(group) = group_of(table, i, row)?
            {
                self.key.clear();
                self.key.extend_from_slice(&group);
            }
            let mut hasher = self.hasher.build_hasher();
            index.id.hash(&mut hasher);
            hasher.write(self.key);
            self.out.keys.push(hasher.finish());
        }
        Ok(())
    }
}
