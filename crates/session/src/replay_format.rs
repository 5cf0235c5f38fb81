//! How the events are written that a session replays.

/// What the last format description event of BINLOG said.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReplayFormat {
    /// Each event ends in a checksum.
    pub(crate) checksums: bool,
}
