//! A row that was read.

use crate::store::base::BaseRow;
use std::ops::Deref;
use std::sync::Arc;

pub(crate) enum RowInner {
    Memory(Arc<[u8]>),
    Base(BaseRow),
}

/// A row that was read: a reference to it in memory or in a base page. Derefs to the row image.
pub struct Row(pub(crate) RowInner);

impl Deref for Row {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            RowInner::Memory(r) => r,
            // Checked when the row was read.
            RowInner::Base(b) => b.parts().map_or(&[], |(_, row)| row),
        }
    }
}

impl From<&[u8]> for Row {
    /// A row whose image was put aside.
    fn from(image: &[u8]) -> Self {
        Row(RowInner::Memory(image.into()))
    }
}

impl Clone for Row {
    fn clone(&self) -> Self {
        Row(RowInner::Memory(match &self.0 {
            RowInner::Memory(r) => r.clone(),
            RowInner::Base(_) => Arc::from(&**self),
        }))
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Row({} bytes)", self.len())
    }
}
