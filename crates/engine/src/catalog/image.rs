//! How much of a changed row stands in its rows event (`binlog_row_image`), and which columns that takes.

use crate::catalog::def::TableDef;
use narwal_types::row::partial::set_bit;
use narwal_types::{Name, TypeKind};
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
            .position(|n| n.same_name(name))
            .and_then(|n| Self::from_u8(n as u8))
    }
}

pub(crate) type Bitmap = SmallVec<[u8; 8]>;

/// Bitmaps of a table with a key, made once.
#[derive(Debug)]
pub(crate) struct ImageColumns {
    pub(crate) all: Bitmap,
    pub(crate) key: Bitmap,
    pub(crate) noblob: Bitmap,
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
        let (columns, hashes) = (def.columns.len(), def.hashed_keys().len());
        let empty = Bitmap::from_elem(0, (columns + hashes).div_ceil(8));
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
        // Rows are looked for by them.
        for i in columns..columns + hashes {
            for of in [&mut all, &mut in_key, &mut noblob] {
                set_bit(of, i);
            }
        }
        Some(ImageColumns {
            all,
            key: in_key,
            noblob,
        })
    }

    pub(crate) fn before(&self, image: RowImage) -> &Bitmap {
        match image {
            RowImage::Minimal => &self.key,
            RowImage::Noblob => &self.noblob,
            RowImage::Full | RowImage::FullNodup => &self.all,
        }
    }
}
