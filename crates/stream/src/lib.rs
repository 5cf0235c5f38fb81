//! Change streams: what a binary log says happened to rows, as typed records or as JSON lines in Debezium's envelope.
//!
//! A [`Source`] gives event groups: of a database that is open in this process ([`DatabaseSource`]), of a data folder
//! ([`FolderSource`]), of a server ([`NetworkSource`]). A [`Stream`] makes [`Record`]s of them, which need no catalog: names, signs, character sets and
//! keys are in the log. [`JsonLines`] renders them; [`pump()`] moves them into a [`Sink`] and keeps the place.
//!
//! ```no_run
//! use narwal_stream::{DatabaseSource, Filter, Next, Start, Stream};
//! # fn main() -> narwal_stream::Result<()> {
//! # let db = narwal_engine::Database::open("data")?;
//! let source = DatabaseSource::open(&db, &Start::Now)?;
//! let mut stream = Stream::new(source, None, Filter::all().table("shop.orders")?);
//! loop {
//!     match stream.next(std::time::Duration::from_secs(1))? {
//!         Next::Record(record, place) => println!("{record:?}: keep {place} to go on here"),
//!         Next::Committed(_) | Next::Idle => {}
//!         Next::End => break,
//!     }
//! }
//! # Ok(()) }
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `source/` | where event groups come from |
//! | `snapshot.rs` | the rows that are there at the start |
//! | `stream.rs` | events as records |
//! | `record.rs`, `cell.rs` | records and values |
//! | `statement.rs` | what logged statements are about |
//! | `filter.rs` | databases and tables that are wanted |
//! | `place.rs` | where a stream stands |
//! | `json.rs`, `charset.rs` | rendering |
//! | `sink.rs`, `state.rs`, `pump.rs` | out of the stream, with its place |
#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod cell;
pub mod charset;
mod error;
mod filter;
mod held;
pub mod json;
mod place;
mod pump;
mod record;
mod sink;
mod snapshot;
pub mod source;
mod state;
pub mod statement;
mod stream;

pub use cell::{Cell, Image};
pub use error::{Error, Result};
pub use filter::Filter;
pub use json::{Binary, DecimalForm, Format, JsonLines, Temporal};
pub use place::Place;
pub use pump::{Ended, Progress, PumpOptions, Stop, pump};
pub use record::{Op, Origin, Record, RowChange, SnapshotMark, StatementChange, Table};
pub use sink::{FileSink, Sink, WriterSink, read_place};
pub use snapshot::{SnapshotOptions, SnapshotProgress, snapshot_database, snapshot_network};
pub use source::database::DatabaseSource;
pub use source::folder::FolderSource;
pub use source::network::{NetworkOptions, NetworkSource};
pub use source::{EventGroup, Source, Start, Step};
pub use state::{State, StateFile};
pub use stream::{Counts, Next, Stream};
