//! Binary log events in the MariaDB dialect: encode, decode, GTIDs, virtual file positions.
//!
//! This crate knows the bytes of the binary log and nothing of SQL, tables or disks:
//!
//! - [`GroupBuilder`] grows one transaction's *event group* (GTID, row events, XID) in one buffer while
//!   statements execute; [`PendingGroup::into_stamped`] fixes GTID, positions and checksums at commit.
//! - [`VirtualFiles`] hands out GTIDs and virtual positions: the file name and offset a group would have in
//!   a classic binary log made of flat files.
//! - [`EventReader`] walks the events of a group, a file or a stream and checks every length and checksum.
//! - [`ContentHasher`] says whether two servers have the same under one GTID.
//! - [`FlatFileWriter`] writes real binary log files for `mariadb-binlog` and anything else that reads them.
//! - [`GtidSet`], [`put_mysql_gtid`] and the functions beside it say the same in MySQL's words.
//!
//! All formats are little-endian unless said otherwise. See `docs/binlog.md` for what is written and why.
#![cfg_attr(test, allow(clippy::unwrap_used))]

mod column;
mod compressed;
mod compressed_value;
mod content;
mod context;
mod decode;
mod error;
mod event;
mod file;
mod group;
mod gtid;
mod gtid_set;
mod invert;
mod lenenc;
mod mysql;
mod mysql_read;
mod names;
mod position;
mod rows;
mod table_map;
mod template;
mod value;
mod var_uint;
mod xid;

pub use column::{ColumnMeta, HASH_COLUMN, column_type};
pub use compressed::{decompressed_body, uncompressed_type};
pub use compressed_value::uncompressed;
pub use content::{
    ContentHash, ContentHasher, Detail, SameContent, connect_hash_text, parse_connect_hash,
};
pub use context::QueryContext;
pub use decode::{Event, EventReader, GtidEvent, QueryEvent, RawEvent};
pub use error::BinlogError;
pub use event::{
    CHECKSUM_LEN, EventHeader, HEADER_LEN, MAGIC, MAX_EVENT_LEN, MAX_GROUP_LEN, event_flags,
    event_type, gtid_flags, rows_flags, stamp_event,
};
pub use file::{
    FDE_LEN, FlatFileWriter, format_description_event, gtid_list_event, gtid_list_event_len,
    heartbeat_event, rotate_event, stop_event,
};
pub use group::{
    DEFAULT_ROW_EVENT_MAX_SIZE, DdlQuery, GTID_EVENT_LEN, GroupBuilder, Mark, PendingGroup,
    Presence,
};
pub use gtid::{Gtid, GtidChoice, GtidError, GtidState};
pub use gtid_set::{GtidSet, MysqlGtid, Tag, gtid_uuid};
pub use invert::Inverted;
pub use mysql::{
    LogicalClock, mysql_description_event, previous_gtids_event, put_mysql_gtid, put_mysql_query,
    put_query_for_mysql, put_rows_v2,
};
pub use mysql_read::{PayloadEvents, mysql_event};
pub use names::event_name;
pub use position::{DEFAULT_BASE_NAME, Placement, VirtualConfig, VirtualFiles};
pub use rows::{RowChange, RowIter, RowsEvent, RowsKind};
pub use table_map::TableMap;
pub use template::{RowMetadata, TableMapTemplate};
pub use value::{metadata_len, value_len};
pub use xid::{MAX_XID_PART, XaPrepare, Xid};
