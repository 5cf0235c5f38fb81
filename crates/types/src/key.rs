//! Order-preserving index keys.

/// One part of an index key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPart {
    /// Position of the column in the table.
    pub column: usize,
    /// Prefix length in characters (bytes for binary types).
    pub prefix: Option<u16>,
    /// The column may be NULL: one more byte in the key.
    pub nullable: bool,
    /// Descending order.
    pub desc: bool,
}
