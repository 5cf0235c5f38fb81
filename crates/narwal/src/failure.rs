//! Why a command ends without success.

use crate::options::Usage;

/// Why the command failed.
#[derive(Debug)]
pub enum Failure {
    /// Told wrongly what to do: exit status 2.
    Usage(String),
    /// Could not do it: exit status 1.
    Run(String),
    /// Did it, as far as damage in the files allows: exit status 3.
    Damaged(String),
    /// What was asked for is not there any more: exit status 4.
    Gone(String),
    /// Two histories are not the same: exit status 5.
    Parted(String),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (Failure::Usage(text)
        | Failure::Run(text)
        | Failure::Damaged(text)
        | Failure::Gone(text)
        | Failure::Parted(text)) = self;
        f.write_str(text)
    }
}

impl From<Usage> for Failure {
    fn from(Usage(text): Usage) -> Self {
        Failure::Usage(text)
    }
}

impl Failure {
    /// A failure named by what was being done.
    pub fn run(what: impl std::fmt::Display, e: impl std::fmt::Display) -> Self {
        Failure::Run(format!("{what}: {e}"))
    }
}
