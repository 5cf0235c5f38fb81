//! How the rows of a file are written, in SELECT ... INTO and in LOAD.

/// FIELDS and LINES as far as they are given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct FileClauses {
    /// FIELDS TERMINATED BY.
    pub separator: Option<String>,
    /// ENCLOSED BY.
    pub quote: Option<String>,
    /// OPTIONALLY ENCLOSED BY: only strings are written enclosed.
    pub optionally: bool,
    /// ESCAPED BY.
    pub escape: Option<String>,
    /// LINES STARTING BY.
    pub start: Option<String>,
    /// LINES TERMINATED BY.
    pub end: Option<String>,
}
