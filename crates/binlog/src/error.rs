//! The crate's error type.

/// What can be wrong with events that are written or read.
#[derive(Debug, thiserror::Error)]
pub enum BinlogError {
    /// An event or group would pass a limit of the format.
    #[error("{what} of {size} bytes is larger than the limit of {limit} bytes")]
    TooLarge {
        /// What is too large.
        what: &'static str,
        /// Its size in bytes.
        size: u64,
        /// The largest size allowed, in bytes.
        limit: u64,
    },
    /// The bytes end before the thing they describe does.
    #[error("binary log data ends inside {0}")]
    Truncated(&'static str),
    /// A field has a value that the format does not allow.
    #[error("invalid binary log data: {0}")]
    Invalid(&'static str),
    /// An event's CRC32 does not match its bytes.
    #[error(
        "checksum of the event at byte {offset} is {stored:08x} in the data but {computed:08x} by its contents"
    )]
    Checksum {
        /// Offset of the event's first byte in the data that was given to the reader.
        offset: usize,
        /// The CRC32 found in the data.
        stored: u32,
        /// The CRC32 of the bytes found.
        computed: u32,
    },
    /// A text that is not a GTID or a list of GTIDs.
    #[error("malformed GTID or GTID list: '{0}'")]
    GtidSyntax(String),
    /// A group stands at another virtual position than the one it must have here.
    #[error("event group starts at virtual position {found}, expected {expected}")]
    Position {
        /// Position that the group's GTID event carries.
        found: u64,
        /// Position where it should stand.
        expected: u64,
    },
    /// Writing a flat file failed.
    #[error("writing the binary log file: {0}")]
    Io(#[from] std::io::Error),
}
