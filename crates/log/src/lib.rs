//! The write-ahead log that is also the binary log: segments, records, group commit, recovery scan, retention.
//!
//! The log knows bytes, log sequence numbers ([`Lsn`]) and commit sequence numbers ([`Seq`]); it knows no SQL, no
//! tables and no binlog events. `docs/log-format.md` describes the bytes, the assumptions about the disk and the crash
//! cases.
//!
//! A committer calls [`Log::reserve`] (one short step that fixes its place in every order at once), fills its own
//! buffer, applies its changes to memory, hands the buffer over with [`Log::fill`] and calls [`Log::wait`]. A
//! committer that finds no flush in progress writes and syncs for all whose records are complete.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod background;
mod buffers;
mod copy;
mod core;
mod cut;
mod disk;
mod error;
mod ferry;
mod flight;
pub mod frame;
mod gate;
mod graves;
mod group;
mod inner;
mod log;
mod lsn;
mod open;
mod options;
mod order;
mod overlap;
mod purge;
mod random;
mod reader;
mod record;
mod scan;
mod second;
mod segment;
pub mod sim;
mod slot;
mod stats;
mod ticket;

pub use buffers::spare_buffer;
pub use copy::{BadCopy, Mended, SegmentCopy, SegmentSpan, log_id};
pub use cut::cut_behind;
pub use disk::{Disk, DiskFile, RealDisk};
pub use error::{Corruption, LogError, OpenError, ReserveError, is_no_space};
pub use frame::{HEADER_LEN, RecordKind};
pub use gate::{Gate, GateStats, Held};
pub use log::Log;
pub use lsn::{Lsn, Seq};
pub use open::{LostTail, OpenLog, OpenReport, TornTail, log_exists};
pub use options::{Durability, LogOptions};
pub use purge::Purged;
pub use random::{DirRecords, LogRecords};
pub use reader::{DirEnd, DirReader, LogReader};
pub use record::{RecordAt, RecordRef, Reserved};
pub use second::SecondLog;
pub use segment::{FIRST_LSN, SEGMENT_HEADER_LEN, SegmentFile, parse_segment_name, segment_name};
pub use slot::OnDone;
pub use stats::LogStats;
pub use ticket::Ticket;
