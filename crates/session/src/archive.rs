//! The archive of the log, as sessions see it: a setting and lines of SHOW STATUS. What ships is behind
//! [`ArchiveControl`], which the server's start gives to its [`Instance`](crate::Instance).

/// What runs the server's archive.
pub trait ArchiveControl: Send + Sync {
    /// `narwal_archive_timeout` in seconds; 0: only full segments are shipped.
    fn set_timeout(&self, seconds: u64);

    /// Names, without `Narwal_archive_`, and values for SHOW STATUS.
    fn status(&self) -> Vec<(&'static str, String)>;
}
