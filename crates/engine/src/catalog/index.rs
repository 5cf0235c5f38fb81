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
    /// The commit that made it: an older snapshot would find nothing in it. 0: before the server's start.
    pub(crate) since: AtomicU64,
}
