//! The log of a folder, group by group, and what may go wrong with it.

use crate::failure::Failure;
use narwal_binlog::GtidState;
use narwal_engine::{EngineError, FolderRecords, GroupHead, GroupReader, Records};
use std::io;

/// The log of a folder, group by group.
pub type Groups = GroupReader<FolderRecords>;

/// Why an output could not go on.
#[derive(Debug)]
pub(crate) enum Trouble {
    /// The output can't be written.
    Write(io::Error),
    /// The log can't be read here.
    Log(EngineError),
    /// What was asked for is not possible.
    Fail(Failure),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trouble::Write(e) => write!(f, "can't write: {e}"),
            Trouble::Log(e) => write!(f, "{e}"),
            Trouble::Fail(e) => write!(f, "{e}"),
        }
    }
}

impl From<io::Error> for Trouble {
    fn from(e: io::Error) -> Self {
        Trouble::Write(e)
    }
}

impl From<EngineError> for Trouble {
    fn from(e: EngineError) -> Self {
        Trouble::Log(e)
    }
}

impl From<Failure> for Trouble {
    fn from(e: Failure) -> Self {
        Trouble::Fail(e)
    }
}

/// An error of the contents of a record that verified.
pub(crate) fn damaged(head: &GroupHead, e: impl std::fmt::Display) -> Trouble {
    Trouble::Log(EngineError::Corrupt(format!(
        "log record at LSN {}: {e}",
        head.lsn
    )))
}

/// The events of a group, one after the other.
pub(crate) trait Events {
    /// The next event; `None` behind the last one.
    fn next_event(&mut self) -> narwal_engine::Result<Option<&[u8]>>;

    /// The GTIDs written before the group.
    fn gtids_before(&self) -> &GtidState;

    /// The GTIDs written before the group's file, if known.
    fn file_gtids(&self) -> Option<&GtidState>;
}

impl<R: Records> Events for GroupReader<R> {
    fn next_event(&mut self) -> narwal_engine::Result<Option<&[u8]>> {
        GroupReader::next_event(self)
    }

    fn gtids_before(&self) -> &GtidState {
        GroupReader::gtids_before(self)
    }

    fn file_gtids(&self) -> Option<&GtidState> {
        GroupReader::file_gtids(self)
    }
}
