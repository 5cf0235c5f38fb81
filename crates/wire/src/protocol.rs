//! The protocol's numbers: capabilities, commands, column types and flags. A test holds them against `mysql_common`.

use std::ops::{BitAnd, BitOr, BitOrAssign};

/// Capability flags (CLIENT_*), what both sides can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Capabilities(pub u32);

#[allow(missing_docs)]
impl Capabilities {
    pub const LONG_PASSWORD: Self = Self(1);
    pub const FOUND_ROWS: Self = Self(1 << 1);
    pub const LONG_FLAG: Self = Self(1 << 2);
    pub const CONNECT_WITH_DB: Self = Self(1 << 3);
    pub const COMPRESS: Self = Self(1 << 5);
    pub const IGNORE_SPACE: Self = Self(1 << 8);
    pub const PROTOCOL_41: Self = Self(1 << 9);
    pub const INTERACTIVE: Self = Self(1 << 10);
    pub const SSL: Self = Self(1 << 11);
    pub const IGNORE_SIGPIPE: Self = Self(1 << 12);
    pub const TRANSACTIONS: Self = Self(1 << 13);
    pub const SECURE_CONNECTION: Self = Self(1 << 15);
    pub const MULTI_STATEMENTS: Self = Self(1 << 16);
    pub const LOCAL_FILES: Self = Self(1 << 7);
    pub const MULTI_RESULTS: Self = Self(1 << 17);
    pub const PS_MULTI_RESULTS: Self = Self(1 << 18);
    pub const PLUGIN_AUTH: Self = Self(1 << 19);
    pub const CONNECT_ATTRS: Self = Self(1 << 20);
    pub const PLUGIN_AUTH_LENENC_CLIENT_DATA: Self = Self(1 << 21);
    pub const CAN_HANDLE_EXPIRED_PASSWORDS: Self = Self(1 << 22);
    pub const SESSION_TRACK: Self = Self(1 << 23);
    pub const DEPRECATE_EOF: Self = Self(1 << 24);
}

impl Capabilities {
    /// True if all of `other` are here.
    #[inline]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// Capabilities that only MariaDB's dialect has: its servers and clients leave out [`Capabilities::LONG_PASSWORD`] and send
/// these in the last four reserved bytes of greeting and answer.
pub mod mariadb_capability {
    /// MARIADB_CLIENT_STMT_BULK_OPERATIONS: COM_STMT_BULK_EXECUTE, a statement for many sets of parameters.
    pub const BULK_OPERATIONS: u32 = 1 << 2;
    /// MARIADB_CLIENT_EXTENDED_METADATA: a column definition says more of the type where its number does not.
    pub const EXTENDED_METADATA: u32 = 1 << 3;
    /// MARIADB_CLIENT_CACHE_METADATA: the column definitions of a prepared statement are sent again only if they have changed.
    pub const CACHE_METADATA: u32 = 1 << 4;
}

impl BitOr for Capabilities {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Capabilities {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}

impl BitAnd for Capabilities {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

/// Command bytes (COM_*).
#[allow(missing_docs)]
pub mod command {
    pub const QUIT: u8 = 1;
    pub const INIT_DB: u8 = 2;
    pub const QUERY: u8 = 3;
    pub const FIELD_LIST: u8 = 4;
    pub const REFRESH: u8 = 7;
    pub const STATISTICS: u8 = 9;
    pub const PROCESS_INFO: u8 = 10;
    pub const PROCESS_KILL: u8 = 12;
    pub const PING: u8 = 14;
    pub const CHANGE_USER: u8 = 17;
    pub const BINLOG_DUMP: u8 = 18;
    pub const REGISTER_SLAVE: u8 = 21;
    pub const STMT_PREPARE: u8 = 22;
    pub const STMT_EXECUTE: u8 = 23;
    pub const STMT_SEND_LONG_DATA: u8 = 24;
    pub const STMT_CLOSE: u8 = 25;
    pub const STMT_RESET: u8 = 26;
    pub const SET_OPTION: u8 = 27;
    pub const STMT_FETCH: u8 = 28;
    pub const BINLOG_DUMP_GTID: u8 = 30;
    pub const RESET_CONNECTION: u8 = 31;
    /// MariaDB's own.
    pub const STMT_BULK_EXECUTE: u8 = 0xFA;
}

/// Column and parameter types (MYSQL_TYPE_*).
#[allow(missing_docs)]
pub mod wire {
    pub const DECIMAL: u8 = 0;
    pub const TINY: u8 = 1;
    pub const SHORT: u8 = 2;
    pub const LONG: u8 = 3;
    pub const FLOAT: u8 = 4;
    pub const DOUBLE: u8 = 5;
    pub const NULL: u8 = 6;
    pub const TIMESTAMP: u8 = 7;
    pub const LONGLONG: u8 = 8;
    pub const INT24: u8 = 9;
    pub const DATE: u8 = 10;
    pub const TIME: u8 = 11;
    pub const DATETIME: u8 = 12;
    pub const YEAR: u8 = 13;
    pub const VARCHAR: u8 = 15;
    pub const BIT: u8 = 16;
    pub const JSON: u8 = 245;
    pub const NEWDECIMAL: u8 = 246;
    pub const ENUM: u8 = 247;
    pub const SET: u8 = 248;
    pub const TINY_BLOB: u8 = 249;
    pub const MEDIUM_BLOB: u8 = 250;
    pub const LONG_BLOB: u8 = 251;
    pub const BLOB: u8 = 252;
    pub const VAR_STRING: u8 = 253;
    pub const STRING: u8 = 254;
    pub const GEOMETRY: u8 = 255;
}

/// Flags of a column definition.
#[allow(missing_docs)]
pub mod column_flag {
    pub const NOT_NULL: u16 = 1;
    pub const PRI_KEY: u16 = 1 << 1;
    pub const UNIQUE_KEY: u16 = 1 << 2;
    pub const MULTIPLE_KEY: u16 = 1 << 3;
    pub const BLOB: u16 = 1 << 4;
    pub const UNSIGNED: u16 = 1 << 5;
    pub const BINARY: u16 = 1 << 7;
    pub const ENUM: u16 = 1 << 8;
    pub const ZEROFILL: u16 = 1 << 6;
    pub const AUTO_INCREMENT: u16 = 1 << 9;
    pub const TIMESTAMP: u16 = 1 << 10;
    pub const SET: u16 = 1 << 11;
    pub const NO_DEFAULT_VALUE: u16 = 1 << 12;
    pub const ON_UPDATE_NOW: u16 = 1 << 13;
    pub const PART_KEY: u16 = 1 << 14;
}

/// Server status flags as OK and EOF packets carry them (SERVER_STATUS_*).
pub mod status {
    /// A transaction is open.
    pub const IN_TRANS: u16 = 0x0001;
    /// Autocommit is on.
    pub const AUTOCOMMIT: u16 = 0x0002;
    /// Another result follows. Set by the front, never by a session.
    pub const MORE_RESULTS: u16 = 0x0008;
    /// The result's rows are asked for by COM_STMT_FETCH. Set by the front, never by a session; as the next.
    pub const CURSOR_EXISTS: u16 = 0x0040;
    /// They have all been sent.
    pub const LAST_ROW_SENT: u16 = 0x0080;
    /// NO_BACKSLASH_ESCAPES is in the SQL mode.
    pub const NO_BACKSLASH_ESCAPES: u16 = 0x0200;
    /// The open transaction is READ ONLY.
    pub const IN_TRANS_READONLY: u16 = 0x2000;
    /// The OK packet says what has changed in the session. Set by the front, never by a session.
    pub const SESSION_STATE_CHANGED: u16 = 0x4000;
    /// ANSI_QUOTES is in the SQL mode.
    pub const ANSI_QUOTES: u16 = 0x8000;
}

#[cfg(test)]
mod tests {
    use super::*;
    use mysql_common::constants::{
        CapabilityFlags as Cap, ColumnFlags, ColumnType, Command, StatusFlags,
    };

    #[test]
    fn as_mysql_common_has_them() {
        let caps = [
            (Capabilities::LONG_PASSWORD, Cap::CLIENT_LONG_PASSWORD),
            (Capabilities::FOUND_ROWS, Cap::CLIENT_FOUND_ROWS),
            (Capabilities::LONG_FLAG, Cap::CLIENT_LONG_FLAG),
            (Capabilities::CONNECT_WITH_DB, Cap::CLIENT_CONNECT_WITH_DB),
            (Capabilities::COMPRESS, Cap::CLIENT_COMPRESS),
            (Capabilities::IGNORE_SPACE, Cap::CLIENT_IGNORE_SPACE),
            (Capabilities::PROTOCOL_41, Cap::CLIENT_PROTOCOL_41),
            (Capabilities::INTERACTIVE, Cap::CLIENT_INTERACTIVE),
            (Capabilities::SSL, Cap::CLIENT_SSL),
            (Capabilities::IGNORE_SIGPIPE, Cap::CLIENT_IGNORE_SIGPIPE),
            (Capabilities::TRANSACTIONS, Cap::CLIENT_TRANSACTIONS),
            (
                Capabilities::SECURE_CONNECTION,
                Cap::CLIENT_SECURE_CONNECTION,
            ),
            (Capabilities::MULTI_STATEMENTS, Cap::CLIENT_MULTI_STATEMENTS),
            (Capabilities::MULTI_RESULTS, Cap::CLIENT_MULTI_RESULTS),
            (Capabilities::PS_MULTI_RESULTS, Cap::CLIENT_PS_MULTI_RESULTS),
            (Capabilities::PLUGIN_AUTH, Cap::CLIENT_PLUGIN_AUTH),
            (Capabilities::CONNECT_ATTRS, Cap::CLIENT_CONNECT_ATTRS),
            (
                Capabilities::PLUGIN_AUTH_LENENC_CLIENT_DATA,
                Cap::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA,
            ),
            (Capabilities::SESSION_TRACK, Cap::CLIENT_SESSION_TRACK),
            (Capabilities::DEPRECATE_EOF, Cap::CLIENT_DEPRECATE_EOF),
        ];
        for (ours, theirs) in caps {
            assert_eq!(ours.0, theirs.bits(), "{theirs:?}");
        }
        let commands = [
            (command::QUIT, Command::COM_QUIT),
            (command::INIT_DB, Command::COM_INIT_DB),
            (command::QUERY, Command::COM_QUERY),
            (command::FIELD_LIST, Command::COM_FIELD_LIST),
            (command::REFRESH, Command::COM_REFRESH),
            (command::STATISTICS, Command::COM_STATISTICS),
            (command::PROCESS_INFO, Command::COM_PROCESS_INFO),
            (command::PROCESS_KILL, Command::COM_PROCESS_KILL),
            (command::PING, Command::COM_PING),
            (command::CHANGE_USER, Command::COM_CHANGE_USER),
            (command::BINLOG_DUMP, Command::COM_BINLOG_DUMP),
            (command::REGISTER_SLAVE, Command::COM_REGISTER_SLAVE),
            (command::STMT_PREPARE, Command::COM_STMT_PREPARE),
            (command::STMT_EXECUTE, Command::COM_STMT_EXECUTE),
            (
                command::STMT_SEND_LONG_DATA,
                Command::COM_STMT_SEND_LONG_DATA,
            ),
            (command::STMT_CLOSE, Command::COM_STMT_CLOSE),
            (command::STMT_RESET, Command::COM_STMT_RESET),
            (command::SET_OPTION, Command::COM_SET_OPTION),
            (command::STMT_FETCH, Command::COM_STMT_FETCH),
            (command::BINLOG_DUMP_GTID, Command::COM_BINLOG_DUMP_GTID),
            (command::RESET_CONNECTION, Command::COM_RESET_CONNECTION),
        ];
        for (ours, theirs) in commands {
            assert_eq!(ours, theirs as u8, "{theirs:?}");
        }
        let types = [
            (wire::DECIMAL, ColumnType::MYSQL_TYPE_DECIMAL),
            (wire::TINY, ColumnType::MYSQL_TYPE_TINY),
            (wire::SHORT, ColumnType::MYSQL_TYPE_SHORT),
            (wire::LONG, ColumnType::MYSQL_TYPE_LONG),
            (wire::FLOAT, ColumnType::MYSQL_TYPE_FLOAT),
            (wire::DOUBLE, ColumnType::MYSQL_TYPE_DOUBLE),
            (wire::NULL, ColumnType::MYSQL_TYPE_NULL),
            (wire::TIMESTAMP, ColumnType::MYSQL_TYPE_TIMESTAMP),
            (wire::LONGLONG, ColumnType::MYSQL_TYPE_LONGLONG),
            (wire::INT24, ColumnType::MYSQL_TYPE_INT24),
            (wire::DATE, ColumnType::MYSQL_TYPE_DATE),
            (wire::TIME, ColumnType::MYSQL_TYPE_TIME),
            (wire::DATETIME, ColumnType::MYSQL_TYPE_DATETIME),
            (wire::YEAR, ColumnType::MYSQL_TYPE_YEAR),
            (wire::VARCHAR, ColumnType::MYSQL_TYPE_VARCHAR),
            (wire::BIT, ColumnType::MYSQL_TYPE_BIT),
            (wire::JSON, ColumnType::MYSQL_TYPE_JSON),
            (wire::NEWDECIMAL, ColumnType::MYSQL_TYPE_NEWDECIMAL),
            (wire::ENUM, ColumnType::MYSQL_TYPE_ENUM),
            (wire::SET, ColumnType::MYSQL_TYPE_SET),
            (wire::TINY_BLOB, ColumnType::MYSQL_TYPE_TINY_BLOB),
            (wire::MEDIUM_BLOB, ColumnType::MYSQL_TYPE_MEDIUM_BLOB),
            (wire::LONG_BLOB, ColumnType::MYSQL_TYPE_LONG_BLOB),
            (wire::BLOB, ColumnType::MYSQL_TYPE_BLOB),
            (wire::VAR_STRING, ColumnType::MYSQL_TYPE_VAR_STRING),
            (wire::STRING, ColumnType::MYSQL_TYPE_STRING),
            (wire::GEOMETRY, ColumnType::MYSQL_TYPE_GEOMETRY),
        ];
        for (ours, theirs) in types {
            assert_eq!(ours, theirs as u8, "{theirs:?}");
        }
        let flags = [
            (column_flag::NOT_NULL, ColumnFlags::NOT_NULL_FLAG),
            (column_flag::PRI_KEY, ColumnFlags::PRI_KEY_FLAG),
            (column_flag::UNIQUE_KEY, ColumnFlags::UNIQUE_KEY_FLAG),
            (column_flag::MULTIPLE_KEY, ColumnFlags::MULTIPLE_KEY_FLAG),
            (column_flag::BLOB, ColumnFlags::BLOB_FLAG),
            (column_flag::UNSIGNED, ColumnFlags::UNSIGNED_FLAG),
            (column_flag::BINARY, ColumnFlags::BINARY_FLAG),
            (
                column_flag::AUTO_INCREMENT,
                ColumnFlags::AUTO_INCREMENT_FLAG,
            ),
            (column_flag::TIMESTAMP, ColumnFlags::TIMESTAMP_FLAG),
            (
                column_flag::NO_DEFAULT_VALUE,
                ColumnFlags::NO_DEFAULT_VALUE_FLAG,
            ),
            (column_flag::ON_UPDATE_NOW, ColumnFlags::ON_UPDATE_NOW_FLAG),
            (column_flag::PART_KEY, ColumnFlags::PART_KEY_FLAG),
        ];
        for (ours, theirs) in flags {
            assert_eq!(ours, theirs.bits(), "{theirs:?}");
        }
        let statuses = [
            (status::IN_TRANS, StatusFlags::SERVER_STATUS_IN_TRANS),
            (status::AUTOCOMMIT, StatusFlags::SERVER_STATUS_AUTOCOMMIT),
            (
                status::MORE_RESULTS,
                StatusFlags::SERVER_MORE_RESULTS_EXISTS,
            ),
            (
                status::NO_BACKSLASH_ESCAPES,
                StatusFlags::SERVER_STATUS_NO_BACKSLASH_ESCAPES,
            ),
            (
                status::CURSOR_EXISTS,
                StatusFlags::SERVER_STATUS_CURSOR_EXISTS,
            ),
            (
                status::LAST_ROW_SENT,
                StatusFlags::SERVER_STATUS_LAST_ROW_SENT,
            ),
            (
                status::SESSION_STATE_CHANGED,
                StatusFlags::SERVER_SESSION_STATE_CHANGED,
            ),
            (
                status::IN_TRANS_READONLY,
                StatusFlags::SERVER_STATUS_IN_TRANS_READONLY,
            ),
        ];
        for (ours, theirs) in statuses {
            assert_eq!(ours, theirs.bits(), "{theirs:?}");
        }
    }
}
