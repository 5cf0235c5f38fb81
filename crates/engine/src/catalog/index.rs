//! An index at run time.

use narwal_types::key::KeyPart;
use std::sync::atomic::AtomicU64;

/// An index at run time.
#[derive(Debug)]
pub struct Index {
    /// The index's id.
    pub id: u32,
    /// Name, `PRIMARY` for the primary key; empty for the hidden clustered index.
    pub name: String,
    /// Unique.
    pub unique: bool,
    /// Key parts; empty for the hidden clustered index, whose key is an 8-byte big-endian row id.
    pub parts: Vec<KeyPart>,
    /// WITHOUT OVERLAPS: the last two parts are the end and the start of the table's period.
    pub without_overlaps: bool,
    /// The commit that made it: an older snapshot would find nothing in it. 0: before the server's start.
    pub(crate) since: AtomicU64,
}

impl Index {
    /// The parts before the period of a key WITHOUT OVERLAPS: rows that are the same in them have no time in common.
    #[must_use]
    pub fn parts_before_period(&self) -> &[KeyPart] {
        &self.parts[..self.parts.len().saturating_sub(2)]
    }
}
