//! Names of event types.

use crate::compressed::uncompressed_type;
use crate::event::event_type;

/// An event type's name, as MariaDB shows it.
#[must_use]
pub fn event_name(event_type: u8) -> &'static str {
    match event_type {
        event_type::QUERY => "Query",
        event_type::STOP => "Stop",
        event_type::ROTATE => "Rotate",
        5 => "Intvar",
        13 => "RAND",
        14 => "User var",
        event_type::FORMAT_DESCRIPTION => "Format_desc",
        event_type::XID => "Xid",
        event_type::XA_PREPARE => "XA_prepare",
        event_type::TABLE_MAP => "Table_map",
        event_type::WRITE_ROWS_V1 => "Write_rows_v1",
        event_type::UPDATE_ROWS_V1 => "Update_rows_v1",
        event_type::DELETE_ROWS_V1 => "Delete_rows_v1",
        event_type::WRITE_ROWS_V2 => "Write_rows",
        event_type::UPDATE_ROWS_V2 => "Update_rows",
        event_type::DELETE_ROWS_V2 => "Delete_rows",
        event_type::ANNOTATE_ROWS => "Annotate_rows",
        event_type::BINLOG_CHECKPOINT => "Binlog_checkpoint",
        event_type::GTID => "Gtid",
        event_type::GTID_LIST => "Gtid_list",
        other => match uncompressed_type(other) {
            Some(event_type::QUERY) => "Query_compressed",
            Some(event_type::WRITE_ROWS_V1) => "Write_rows_compressed_v1",
            Some(event_type::UPDATE_ROWS_V1) => "Update_rows_compressed_v1",
            Some(event_type::DELETE_ROWS_V1) => "Delete_rows_compressed_v1",
            Some(event_type::WRITE_ROWS_V2) => "Write_rows_compressed",
            Some(event_type::UPDATE_ROWS_V2) => "Update_rows_compressed",
            Some(event_type::DELETE_ROWS_V2) => "Delete_rows_compressed",
            _ => "Unknown",
        },
    }
}
