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
use crate::catalog::image::{Bitmap, ImageColumns, RowImage};
use crate::catalog::table::Table;
use crate::error::binlog_err;
use narwal_binlog::{GroupBuilder, Presence, TableMapTemplate};

/// A wider after image that goes into the growing rows event is taken if it costs at most this many bytes more: what the
/// head and end of another event would cost.
const WIDEN_BYTES: usize = 48;

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
