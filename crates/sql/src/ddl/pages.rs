//! Rows and keys that are too large for InnoDB's pages. Narwal's own pages take them, but the statement has MariaDB's answer, as
//! it would have from a replica. The limits are those that tables of many shapes met on MariaDB 10.11.

use crate::ddl::column::stored_bytes;
use crate::env::StatementEnv;
use narwal_engine::{ColumnDef, IndexColumn, IndexDef, IndexMethod, TableDef};
use narwal_types::errors::{self, codes};
use narwal_types::{SqlError, SqlResult, TypeKind};

/// So many bytes of a row are too many, in the format REDUNDANT and in the others.
const TOO_MANY_REDUNDANT: u64 = 8123;
const TOO_MANY: u64 = 8126;
/// What a page of a compressed table has no room for, of its size.
const PAGE_HEAD: u64 = 126;
/// The same of half a page, for the keys of a clustered index and of another one.
const CLUSTERED_HEAD: u64 = 71;
const INDEX_HEAD: u64 = 68;
/// Numbers of the transaction and of the undo log in each row, and the row's own where no key is the clustered one.
const OWN_COLUMNS: u64 = 13;
const ROW_ID: u64 = 6;
/// Bytes of a long value that stand in the row, in the older formats, and of the place of the rest.
const KEPT: u64 = 768;
const ELSEWHERE: u64 = 20;

/// How rows are kept.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Format {
    Redundant,
    Compact,
    Dynamic,
    /// With pages of so many KiB.
    Compressed(u64),
}

impl Format {
    fn of(def: &TableDef) -> Self {
        let value = |name: &str| {
            let found = def.options.iter().find(|(n, _)| n == name);
            found.map(|(_, v)| v.as_str())
        };
        let pages = value("KEY_BLOCK_SIZE").and_then(|n| n.parse().ok());
        match (value("ROW_FORMAT"), pages.filter(|n| *n > 0)) {
            (Some("REDUNDANT"), _) => Format::Redundant,
            (Some("COMPACT"), _) => Format::Compact,
            (Some("COMPRESSED"), None) => Format::Compressed(8),
            (_, Some(pages)) => Format::Compressed(pages),
            _ => Format::Dynamic,
        }
    }

    fn is_old(self) -> bool {
        matches!(self, Format::Redundant | Format::Compact)
    }

    /// The most that a column takes in a row.
    fn bytes(self, c: &ColumnDef) -> u64 {
        let is_long = matches!(c.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_));
        let varies = is_long
            || match c.ty.kind {
                TypeKind::VarChar(_) | TypeKind::VarBinary(_) => true,
                TypeKind::Char(_) => c.ty.char_bytes() > 1,
                _ => false,
            };
        let max = match is_long {
            true => u64::MAX,
            // A COMPRESSED value has a byte in front.
            false => content_bytes(c) + u64::from(c.compressed),
        };
        let length = match varies {
            true if max > 255 => 2,
            true => 1,
            false => 0,
        };
        match self {
            Format::Redundant => max.min(KEPT + ELSEWHERE) + 2,
            Format::Compact => max.min(KEPT + ELSEWHERE) + length,
            _ if length == 2 => ELSEWHERE + 1,
            _ => max + length,
        }
    }
}

/// The most bytes of a column's value, without its length.
fn content_bytes(c: &ColumnDef) -> u64 {
    match c.ty.kind {
        TypeKind::VarChar(_) | TypeKind::VarBinary(_) => c.ty.max_bytes().unwrap_or(0),
        _ => stored_bytes(&c.ty),
    }
}

fn is_stored(c: &ColumnDef) -> bool {
    c.generated.as_ref().is_none_or(|g| g.stored)
}

/// The key that a table's rows stand in the order of.
fn clustered(def: &TableDef) -> Option<&IndexDef> {
    let whole = |i: &&IndexDef| {
        let hashed = i.method == Some(IndexMethod::Hash);
        let mut parts = i.columns.iter();
        let known = |p: &IndexColumn| p.prefix.is_none() && !def.columns[p.column].nullable;
        i.unique && (i.name == "PRIMARY" || (!hashed && parts.all(known)))
    };
    def.indexes.iter().find(whole)
}

/// Bytes of a key's parts, the lengths of those that vary, and one for each part.
fn key_bytes(def: &TableDef, index: &IndexDef) -> u64 {
    let part = |p: &IndexColumn| {
        let c = &def.columns[p.column];
        let max = match p.prefix {
            Some(n) => u64::from(n) * u64::from(c.ty.char_bytes()),
            None => content_bytes(c),
        };
        let varies = c.ty.is_string() && !c.ty.is_member();
        max + u64::from(varies) + u64::from(varies && max > 255) + 1
    };
    index.columns.iter().map(part).sum()
}

/// Whether a row fits on a page in a format.
fn row_fits(def: &TableDef, format: Format) -> bool {
    let stored = || def.columns.iter().filter(|c| is_stored(c));
    let row_id = clustered(def).is_none();
    let own = OWN_COLUMNS + if row_id { ROW_ID } else { 0 };
    let bytes: u64 = stored().map(|c| format.bytes(c)).sum();
    let nullable = stored().filter(|c| c.nullable).count() as u64;
    match format {
        Format::Redundant => {
            let own_places = 2 * (2 + u64::from(row_id));
            6 + own + own_places + bytes < TOO_MANY_REDUNDANT
        }
        _ => {
            let all = 5 + own + bytes + nullable.div_ceil(8);
            let fields = stored().count() as u64;
            let compressed = match format {
                Format::Compressed(pages) => all + 2 * fields + PAGE_HEAD <= 1024 * pages,
                _ => true,
            };
            all < TOO_MANY && compressed
        }
    }
}

/// Whether two entries of each index fit on a compressed page.
fn keys_fit(def: &TableDef, pages: u64) -> bool {
    let clustered = clustered(def);
    let behind = clustered.map_or(ROW_ID + 1, |i| key_bytes(def, i));
    (def.indexes.iter()).all(|i| {
        if i.unique && i.method == Some(IndexMethod::Hash) {
            return true;
        }
        let nullable = i.columns.iter().filter(|p| def.columns[p.column].nullable);
        let (all, head) = match clustered.is_some_and(|c| c.name == i.name) {
            true => (key_bytes(def, i), CLUSTERED_HEAD),
            false => {
                let bits = (nullable.count() as u64).div_ceil(8);
                (key_bytes(def, i) + bits + behind, INDEX_HEAD)
            }
        };
        all + head <= 512 * pages
    })
}

/// Error 1118 for a table whose rows or keys are too large, if `innodb_strict_mode` is ON; else a warning.
///
/// # Errors
/// 1118.
pub(super) fn check(def: &TableDef, env: &StatementEnv) -> SqlResult<()> {
    let other = def.declared.is_some() || def.merge.is_some() || def.sequence;
    if other || env.of_mysql || narwal_types::face::is_mysql() {
        return Ok(());
    }
    let format = Format::of(def);
    let keys = match format {
        Format::Compressed(pages) => keys_fit(def, pages),
        _ => true,
    };
    if keys && row_fits(def, format) {
        return Ok(());
    }
    let e = too_large(format);
    match env.innodb_strict {
        true => Err(e),
        false => {
            env.warn(codes::TO_BIG_ROW, e.message);
            Ok(())
        }
    }
}

fn too_large(format: Format) -> SqlError {
    let most = match format {
        Format::Redundant => TOO_MANY_REDUNDANT,
        _ => TOO_MANY,
    };
    let (other, kept) = match format.is_old() {
        true => (
            " or using ROW_FORMAT=DYNAMIC or ROW_FORMAT=COMPRESSED",
            KEPT,
        ),
        false => ("", 0),
    };
    errors::TOO_BIG_ROWSIZE.text(format!(
        "Row size too large (> {most}). Changing some columns to TEXT or BLOB{other} may help. In current row format, BLOB prefix of {kept} bytes is stored inline."
    ))
}
