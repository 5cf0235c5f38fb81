//! The session settings that stand in a QUERY event.

/// Session settings written with a QUERY event, so that it means the same when replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryContext {
    /// FLAGS2: 0x0100_0000 explicit_defaults_for_timestamp, 0x0400_0000 no foreign key checks, 0x0800_0000
    /// relaxed unique checks, 0x4000 auto_is_null, 0x8000 no checks of CHECK constraints, 0x8_0000 not autocommit,
    /// 0x1000_0000 sql_if_exists.
    pub flags2: u32,
    /// SQL_MODE bits.
    pub sql_mode: u64,
    /// Collation id of `character_set_client`.
    pub charset_client: u16,
    /// Collation id of `collation_connection`.
    pub collation_connection: u16,
    /// Collation id of `collation_server`.
    pub collation_server: u16,
    /// Microseconds of the statement's time, beside the event's seconds; 0..1,000,000.
    pub micros: u32,
}

impl Default for QueryContext {
    /// MariaDB 10.11's defaults with utf8mb4_general_ci (45) everywhere.
    fn default() -> Self {
        Self {
            flags2: 0x0100_0000,
            sql_mode: 0x5420_0000,
            charset_client: 45,
            collation_connection: 45,
            collation_server: 45,
            micros: 0,
        }
    }
}
