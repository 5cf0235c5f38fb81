//! Row images: how much of a changed row goes into its rows event (`binlog_row_image`).
//!
//! | | before image | after image of an UPDATE |
//! |---|---|---|
//! | FULL | all columns | all columns |
//! | FULL_NODUP | all columns | changed columns |
//! | NOBLOB | all but BLOB and TEXT columns, and the key | the same, and changed BLOB and TEXT columns |
//! | MINIMAL | the key | changed columns |
//!
//! The key is the primary key, else the first unique key over whole columns that can't be NULL. A table without one gets
//! full images always, as from MariaDB. An inserted row is always whole. Columns are cut out of the full image that the
//! store has; no value is decoded.

use crate::Result;
use crate::catalog::TableDef;
use crate::table::Table;
use crate::txn::binlog_err;
use narwal_binlog::{GroupBuilder, Presence, TableMapTemplate};
use narwal_types::TypeKind;
use narwal_types::row::partial::set_bit;
use smallvec::SmallVec;

/// `binlog_row_image`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RowImage {
    /// The key before, the changed columns after.
    Minimal,
    /// Everything but BLOB and TEXT columns that are neither changed nor of the key.
    Noblob,
    /// Everything.
    #[default]
    Full,
    /// Everything before, the changed columns after.
    FullNodup,
}

impl RowImage {
    /// By the variable's number: 0 MINIMAL, 1 NOBLOB, 2 FULL, 3 FULL_NODUP; `None` for others.
    pub fn from_u8(n: u8) -> Option<Self> {
        [Self::Minimal, Self::Noblob, Self::Full, Self::FullNodup]
            .get(usize::from(n))
            .copied()
    }

    /// By the variable's text, without case.
    pub fn from_name(name: &str) -> Option<Self> {
        ["MINIMAL", "NOBLOB", "FULL", "FULL_NODUP"]
            .iter()
            .position(|n| n.eq_ignore_ascii_case(name))
            .and_then(|n| Self::from_u8(n as u8))
    }
}

type Bitmap = SmallVec<[u8; 8]>;

/// A wider after image that goes into the growing rows event is taken if it costs at most this many bytes more: what the
/// head and end of another event would cost.
const WIDEN_BYTES: usize = 48;

/// Bitmaps of a table with a key, made once.
#[derive(Debug)]
pub(crate) struct ImageColumns {
    all: Bitmap,
    key: Bitmap,
    noblob: Bitmap,
}

impl ImageColumns {
    /// `None` for a table without a usable key.
    pub(crate) fn new(def: &TableDef) -> Option<Self> {
        let key = def
            .indexes
            .iter()
            .find(|i| i.name == "PRIMARY")
            .or_else(|| {
                def.indexes.iter().find(|i| {
                    i.unique
                        && i.columns.iter().all(|c| {
                            c.prefix.is_none()
                                && def.columns.get(c.column).is_some_and(|d| !d.nullable)
                        })
                })
            })?;
        let empty = Bitmap::from_elem(0, def.columns.len().div_ceil(8));
        let (mut all, mut in_key, mut noblob) = (empty.clone(), empty.clone(), empty);
        for (i, c) in def.columns.iter().enumerate() {
            set_bit(&mut all, i);
            if key.columns.iter().any(|k| k.column == i) {
                set_bit(&mut in_key, i);
                set_bit(&mut noblob, i);
            } else if !matches!(c.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_)) {
                set_bit(&mut noblob, i);
            }
        }
        Some(ImageColumns {
            all,
            key: in_key,
            noblob,
        })
    }

    fn before(&self, image: RowImage) -> &Bitmap {
        match image {
            RowImage::Minimal => &self.key,
            RowImage::Noblob => &self.noblob,
            RowImage::Full | RowImage::FullNodup => &self.all,
        }
    }
}

/// Adds an UPDATE's images to the events.
#[inline]
pub(crate) fn log_update(
    b: &mut GroupBuilder,
    table: &Table,
    template: &TableMapTemplate,
    image: RowImage,
    old: &[u8],
    new: &[u8],
) -> Result<()> {
    match &table.image {
        Some(columns) if image != RowImage::Full => {
            partial_update(b, table, template, columns, image, old, new)
        }
        _ => b.update_row(template, old, new).map_err(binlog_err),
    }
}

/// Adds a DELETE's image to the events.
#[inline]
pub(crate) fn log_delete(
    b: &mut GroupBuilder,
    table: &Table,
    template: &TableMapTemplate,
    image: RowImage,
    old: &[u8],
) -> Result<()> {
    match &table.image {
        Some(columns) if matches!(image, RowImage::Minimal | RowImage::Noblob) => {
            let before = columns.before(image);
            if *before == columns.all {
                return b.delete_row(template, old).map_err(binlog_err);
            }
            let mut first = Vec::with_capacity(old.len());
            table.layout.cut(old, before, &mut first)?;
            let present = Presence { before, after: &[] };
            b.delete_row_partial(template, present, &first)
                .map_err(binlog_err)
        }
        _ => b.delete_row(template, old).map_err(binlog_err),
    }
}

fn partial_update(
    b: &mut GroupBuilder,
    table: &Table,
    template: &TableMapTemplate,
    columns: &ImageColumns,
    image: RowImage,
    old: &[u8],
    new: &[u8],
) -> Result<()> {
    let layout = &table.layout;
    let mut after = Bitmap::from_elem(0, layout.bitmap_len());
    layout.changed(old, new, &mut after)?;
    if image == RowImage::Noblob {
        unite(&mut after, &columns.noblob);
    } else if after.iter().all(|b| *b == 0) {
        // An image must have a column: the row is written though nothing changed.
        after.copy_from_slice(&columns.key);
    }
    let before = columns.before(image);
    if *before == columns.all && after == columns.all {
        return b.update_row(template, old, new).map_err(binlog_err);
    }
    let mut first = Vec::with_capacity(old.len());
    layout.cut(old, before, &mut first)?;
    let mut second = Vec::with_capacity(new.len());
    layout.cut(new, &after, &mut second)?;
    // Rows of one statement often change different columns by chance (`SET a = 5` where a is 5 already). Another bitmap
    // means another event; a column too many is often less.
    if let Some(open) = b.open_update_columns(template)
        && *open != *after
    {
        let mut wider = after.clone();
        unite(&mut wider, open);
        let mut image = Vec::with_capacity(new.len());
        layout.cut(new, &wider, &mut image)?;
        if image.len() <= second.len() + WIDEN_BYTES {
            (after, second) = (wider, image);
        }
    }
    let present = Presence {
        before,
        after: &after,
    };
    b.update_row_partial(template, present, &first, &second)
        .map_err(binlog_err)
}

fn unite(a: &mut [u8], b: &[u8]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a |= b;
    }
}
