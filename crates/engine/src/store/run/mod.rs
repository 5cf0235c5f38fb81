//! Run files: the write set of a huge transaction as immutable files of sorted entries.
//!
//! A transaction whose overlay outgrows its share of memory writes it, in key order, to a run file and goes on with an
//! empty overlay. At commit the runs become a layer of the store between memtables and base; a later checkpoint merges
//! them into the base. A run holds one version per key, full keys (index id in front) in strictly ascending order.
//!
//! | file | holds |
//! |---|---|
//! | `format.rs` | the bytes: frames, checksums, numbers |
//! | `bloom.rs` | the filter in front of each block |
//! | `block.rs` | data blocks, index pages and the top, decoded |
//! | `cache.rs` | [`RunCache`]: bounded memory for blocks and index pages of all runs |
//! | `writer.rs` | [`RunWriter`] |
//! | `reader.rs` | [`Run`]: one file, point reads |
//! | `cursor.rs` | [`RunCursor`]: ordered reads, both directions |
//! | `set.rs` | [`RunSet`]: several runs, newest first, as one; [`merge_runs`] |
//!
//! # The file
//!
//! ```text
//! header    magic "NARWRUN1" | u64 file id
//! blocks    data blocks of about 32 KiB; after each group of them the index page that names them
//! top       names the index pages; counts; per index: entries, first and last key
//! trailer   u64 file id | u64 offset of the top | u32 length of the top's frame | u32 version | u64 file length
//!           | u32 reserved, 0 | u32 CRC32C of the trailer before it
//! ```
//!
//! Blocks, index pages and the top are *frames*: `u32 length of the body | u32 CRC32C | body`. The checksum covers
//! file id, offset in the file and body, so a frame of another file or place is not mistaken for the right one. All
//! numbers are little-endian except index ids, which are the first four bytes of a key, big-endian. A body starts with
//! a byte for its kind:
//!
//! ```text
//! data block 1   varint n, common prefix of all keys (n bytes) | entries | u32 offset in the body, per entry | u32 entries
//!     entry      varint n, rest of the key | varint tag: 0 tombstone, 1 present, otherwise length of the row + 2 | row
//! index page 2   u32 blocks | per block: varint n, its first key | varint offset | varint frame length | varint n, filter
//! top 3          u64 entries | u64 tombstones | u32 pages | per page: varint n, first key | varint offset
//!                | varint frame length
//!                | u32 indexes | per index: u32 id (big-endian) | varint entries | varint n, first key | varint n, last key
//! ```
//!
//! An index page carries the Bloom filter of each block that it names (10 bits per key, 7 probes). So only the top is
//! in memory for good (some KiB per GiB); pages and blocks share a cache of fixed size.

mod block;
mod bloom;
pub(crate) mod cache;
pub(crate) mod cursor;
mod format;
pub(crate) mod reader;
pub(crate) mod set;

pub(crate) mod writer;

pub(crate) use block::IndexSpan;
pub(crate) use cache::RunCache;
pub(crate) use cursor::RunCursor;
pub(crate) use reader::Run;
pub(crate) use set::{RunSet, RunSetCursor, merge_runs};
pub(crate) use writer::{RunMeta, RunSizes, RunWriter};

#[cfg(test)]
mod tests;
