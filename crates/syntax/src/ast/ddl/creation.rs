//! What all statements that define something have in common.

/// What CREATE does where the name may be taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Creation {
    /// OR REPLACE.
    pub or_replace: bool,
    /// IF NOT EXISTS.
    pub if_not_exists: bool,
}

/// How long to wait for locks on metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MetadataWait {
    /// NOWAIT.
    No,
    /// WAIT n, in seconds.
    Seconds(u64),
}
