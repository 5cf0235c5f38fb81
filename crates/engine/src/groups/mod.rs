//! Event groups and their events out of log records: of the live log, of a folder.
//!
//! Knows records. Does not know the binary log's index: who reads says where to begin.

pub(crate) mod folder;
pub(crate) mod reader;
pub(crate) mod records;

pub use crate::record::chunk::{CHUNK_HEAD_LEN, Chunk, Oob};
pub use reader::{BegunFile, GroupHead, GroupKind, GroupReader};
pub use records::{FolderRecords, LiveRecords, Records};
