//! A table as the source's table map describes it, matched with ours, and images of its rows.

use super::convert;
use crate::apply::cell::{Cell, not_text};
use crate::apply::convert::{Conversion, TypeConversions};
use crate::apply::error::bad_event;
use crate::catalog::image::RowImage;
use crate::catalog::names::Catalog;
use crate::catalog::table::Table;
use crate::{EngineError, Result};
use narwal_binlog::{RowsEvent, RowsKind, TableMap, value_len};
use narwal_types::errors;
use smallvec::SmallVec;
use std::sync::Arc;

/// Table maps kept at most, beyond those in use.
const KEPT: usize = 256;

/// A source's column and what becomes of its values.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(super) type_code: u8,
    pub(super) meta: SmallVec<[u8; 2]>,
    pub(super) conversion: Conversion,
    /// Bytes of a value, where they are always the same.
    fixed: Option<u16>,
}

/// A table as the source's table map describes it, matched with ours.
#[derive(Debug)]
pub(crate) struct Mapped {
    id: u64,
    /// The table map, to know it again.
    body: Box<[u8]>,
    /// Named by a table map of the statement under way.
    live: bool,
    /// `None`: its rows are to be left out.
    pub(super) table: Option<Arc<Table>>,
    pub(super) columns: Vec<Source>,
    /// The types of our stored rows, in the words of table maps.
    own: Vec<(u8, SmallVec<[u8; 2]>)>,
    /// So many of them have values that a source may say; the others are hashes.
    said: usize,
    /// Full images of the source are rows of ours.
    plain: bool,
    /// The rows go to a table of the caller's ([`Maps::add_to`]).
    pub(super) apart: bool,
    /// The same of each table behind a MERGE table.
    pub(super) behind: Vec<Mapped>,
}

/// Table maps by id. Those of former statements are kept: the next one mostly repeats them.
#[derive(Debug, Default)]
pub(crate) struct Maps {
    maps: Vec<Mapped>,
    pub(super) conversions: TypeConversions,
}

impl Maps {
    pub(super) fn new(conversions: TypeConversions) -> Self {
        Maps {
            maps: Vec::new(),
            conversions,
        }
    }

    /// None of them is in use any more.
    pub(super) fn clear(&mut self) {
        for m in &mut self.maps {
            m.live = false;
        }
        if self.maps.len() > KEPT {
            self.maps.clear();
        }
    }

    pub(super) fn get(&self, id: u64) -> Option<&Mapped> {
        self.maps.iter().find(|m| m.id == id && m.live)
    }

    #[inline]
    pub(super) fn again(&mut self, catalog: &Catalog, body: &[u8]) -> bool {
        for m in &mut self.maps {
            if *m.body == *body
                && m.is_of_now(catalog)
                && m.behind.iter().all(|b| b.is_of_now(catalog))
            {
                m.live = true;
                return true;
            }
        }
        false
    }

    fn put(&mut self, mapped: Mapped) {
        self.maps.retain(|m| m.id != mapped.id);
        self.maps.push(mapped);
    }

    pub(super) fn skip(&mut self, id: u64) {
        self.put(Mapped {
            id,
            body: Box::default(),
            live: true,
            table: None,
            columns: Vec::new(),
            own: Vec::new(),
            said: 0,
            plain: false,
            apart: false,
            behind: Vec::new(),
        });
    }

    pub(super) fn add(&mut self, catalog: &Catalog, map: &TableMap<'_>, body: &[u8]) -> Result<()> {
        let table = catalog
            .table(map.db, map.table)
            .ok_or_else(|| EngineError::Sql(errors::NO_SUCH_TABLE.with([&map.db, &map.table])))?;
        let mut mapped = self.matched(table.clone(), map, body)?;
        for (db, name) in table.def.merge.iter().flat_map(|m| &m.tables) {
            let own = catalog
                .table(db, name)
                .filter(|t| t.def.merge.is_none())
                .ok_or_else(|| EngineError::Sql(errors::WRONG_MRG_TABLE.plain()))?;
            mapped.behind.push(self.matched(own.clone(), map, &[])?);
        }
        self.put(mapped);
        Ok(())
    }

    /// Takes a table map whose rows go to a table that no catalog has.
    pub(super) fn add_to(
        &mut self,
        table: &Arc<Table>,
        map: &TableMap<'_>,
        body: &[u8],
    ) -> Result<()> {
        let mut mapped = self.matched(table.clone(), map, body)?;
        mapped.apart = true;
        self.put(mapped);
        Ok(())
    }

    fn matched(&self, table: Arc<Table>, map: &TableMap<'_>, body: &[u8]) -> Result<Mapped> {
        let count = map.column_count();
        let metas = map.columns().map_err(|e| bad_event(&table, e))?;
        let mut columns = Vec::with_capacity(count);
        for (i, info) in metas.iter().enumerate() {
            let (type_code, meta) = map.column_type(i);
            let conversion = match table.def.columns.get(i) {
                // The source has more columns than we have.
                None => Conversion::Ignore,
                Some(def) => convert::conversion(type_code, meta, info, def, self.conversions)
                    .ok_or_else(|| convert::mismatch(&table, i, type_code, meta, info.collation))?,
            };
            columns.push(Source {
                type_code,
                meta: SmallVec::from_slice(meta),
                conversion,
                fixed: convert::fixed_len(type_code, meta),
            });
        }
        let own: Vec<_> = (table.log_columns().into_iter())
            .map(|c| (c.type_code, c.meta))
            .collect();
        let said = table.def.columns.len();
        let plain = count == own.len()
            && (columns.iter())
                .all(|c| matches!(c.conversion, Conversion::Same | Conversion::Text { .. }));
        Ok(Mapped {
            id: map.table_id,
            body: body.into(),
            live: true,
            table: Some(table),
            columns,
            own,
            said,
            plain,
            apart: false,
            behind: Vec::new(),
        })
    }
}

pub(crate) type Cells<'a> = SmallVec<[Cell<'a>; 16]>;

pub(crate) fn bit(bitmap: &[u8], i: usize) -> bool {
    bitmap.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 != 0)
}

/// The first `n` bits are set.
fn all_set(bitmap: &[u8], n: usize) -> bool {
    let (whole, rest) = (n / 8, n % 8);
    bitmap
        .get(..whole)
        .is_some_and(|b| b.iter().all(|b| *b == 0xff))
        && (rest == 0 || bitmap.get(whole).is_some_and(|b| b | !0 << rest == 0xff))
}

impl Mapped {
    /// The table has not changed since.
    fn is_of_now(&self, catalog: &Catalog) -> bool {
        self.table
            .as_ref()
            .is_some_and(|t| (catalog.table_by_id(t.def.id)).is_some_and(|now| Arc::ptr_eq(now, t)))
    }

    pub(super) fn row_image(&self, event: &RowsEvent<'_>) -> Option<RowImage> {
        let table = self.table.as_ref()?;
        let n = self.columns.len();
        if event.kind == RowsKind::Write {
            return None;
        }
        if !all_set(event.present, n) {
            let keys = match table.hidden_pk {
                true => return Some(RowImage::Noblob),
                false => &table.indexes[0].parts,
            };
            let key_only =
                (0..n).all(|i| !bit(event.present, i) || keys.iter().any(|p| p.column == i));
            return Some(match key_only {
                true => RowImage::Minimal,
                false => RowImage::Noblob,
            });
        }
        match event.present_after {
            Some(after) if !all_set(after, n) => Some(RowImage::FullNodup),
            _ => Some(RowImage::Full),
        }
    }

    /// Images with these columns are rows of ours as they stand.
    pub(super) fn is_plain(&self, present: &[u8]) -> bool {
        self.plain && all_set(present, self.columns.len())
    }

    /// Cuts one image off `data` that is a row of ours, save that unused bits of its null bitmap may be anything.
    #[inline]
    pub(super) fn plain_image<'a>(&self, table: &Table, data: &mut &'a [u8]) -> Result<&'a [u8]> {
        let short = || bad_event(table, "a row image is cut short");
        let row = *data;
        let mut at = self.columns.len().div_ceil(8);
        let nulls = row.get(..at).ok_or_else(short)?;
        for (i, source) in self.columns.iter().enumerate() {
            if bit(nulls, i) {
                continue;
            }
            if let Some(len) = source.fixed {
                at += usize::from(len);
                continue;
            }
            let rest = row.get(at..).ok_or_else(short)?;
            let len =
                value_len(source.type_code, &source.meta, rest).map_err(|e| bad_event(table, e))?;
            if let Conversion::Text { prefix } = source.conversion {
                let text = &rest[usize::from(prefix).min(len)..len];
                if !text.is_ascii() && std::str::from_utf8(text).is_err() {
                    return Err(not_text(table, i));
                }
            }
            at += len;
        }
        let (image, rest) = row.split_at_checked(at).ok_or_else(short)?;
        if image.is_empty() {
            return Err(bad_event(table, "an image without columns"));
        }
        *data = rest;
        Ok(image)
    }

    /// A row of ours out of such an image.
    pub(super) fn plain_row(&self, image: &[u8]) -> Vec<u8> {
        let mut row = image.to_vec();
        let n = self.columns.len();
        if !n.is_multiple_of(8)
            && let Some(last) = row.get_mut(n / 8)
        {
            *last |= !0 << (n % 8);
        }
        row
    }

    /// Cuts one image off `data`, converting values as needed.
    pub(super) fn image<'a>(
        &self,
        table: &Table,
        present: &[u8],
        data: &mut &'a [u8],
        scratch: &mut Vec<u8>,
    ) -> Result<Cells<'a>> {
        let columns = self.columns.len();
        let count = (0..columns).filter(|i| bit(present, *i)).count();
        if count == 0 {
            return Err(bad_event(table, "an image without columns"));
        }
        let short = || bad_event(table, "a row image is cut short");
        let (nulls, mut rest) = data.split_at_checked(count.div_ceil(8)).ok_or_else(short)?;
        let mut cells = SmallVec::with_capacity(columns.max(self.own.len()));
        let mut nth = 0;
        for (i, source) in self.columns.iter().enumerate() {
            let ours = i < self.own.len();
            if !bit(present, i) {
                if ours {
                    cells.push(Cell::Absent);
                }
                continue;
            }
            let null = bit(nulls, nth);
            nth += 1;
            if null {
                if ours {
                    cells.push(if i < self.said {
                        Cell::Null
                    } else {
                        Cell::Absent
                    });
                }
                continue;
            }
            let len =
                value_len(source.type_code, &source.meta, rest).map_err(|e| bad_event(table, e))?;
            let (value, after) = rest.split_at_checked(len).ok_or_else(short)?;
            rest = after;
            if ours {
                cells.push(convert::convert(
                    &source.conversion,
                    table,
                    i,
                    value,
                    scratch,
                )?);
            }
        }
        // We have more columns than the source has.
        while cells.len() < self.own.len() {
            cells.push(Cell::Absent);
        }
        *data = rest;
        Ok(cells)
    }

    /// The cells of one of our own rows.
    pub(super) fn own_cells<'a>(&self, table: &Table, row: &'a [u8]) -> Result<Cells<'a>> {
        let short = || EngineError::Corrupt(format!("a row of {} is cut short", table.def.name));
        let (nulls, mut rest) = row
            .split_at_checked(self.own.len().div_ceil(8))
            .ok_or_else(short)?;
        let mut cells = SmallVec::with_capacity(self.own.len());
        for (i, (code, meta)) in self.own.iter().enumerate() {
            if bit(nulls, i) {
                cells.push(Cell::Null);
                continue;
            }
            let len = value_len(*code, meta, rest).map_err(|e| bad_event(table, e))?;
            let (value, after) = rest.split_at_checked(len).ok_or_else(short)?;
            cells.push(Cell::Bytes(value));
            rest = after;
        }
        Ok(cells)
    }
}

/// Puts a row together. `missing` gives the columns that the image does not have.
pub(crate) fn build(
    cells: &[Cell<'_>],
    scratch: &[u8],
    mut missing: impl FnMut(usize, &mut Vec<u8>) -> Result<bool>,
) -> Result<Vec<u8>> {
    let bitmap = cells.len().div_ceil(8);
    let mut row = Vec::with_capacity(bitmap + 64);
    row.resize(bitmap, 0xff);
    for (i, cell) in cells.iter().enumerate() {
        let there = match *cell {
            Cell::Null => false,
            Cell::Bytes(b) => {
                row.extend_from_slice(b);
                true
            }
            Cell::Scratch(from, to) => {
                row.extend_from_slice(scratch.get(from..to).unwrap_or_default());
                true
            }
            Cell::Absent => missing(i, &mut row)?,
        };
        if there {
            row[i / 8] &= !(1 << (i % 8));
        }
    }
    Ok(row)
}

pub(crate) fn cell_bytes<'a>(cell: Cell<'a>, scratch: &'a [u8]) -> Option<&'a [u8]> {
    match cell {
        Cell::Bytes(b) => Some(b),
        Cell::Scratch(from, to) => scratch.get(from..to),
        Cell::Null | Cell::Absent => None,
    }
}
