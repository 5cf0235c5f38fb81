//! Row images: the bytes of a row in a MariaDB row event are also the stored row.

/// Knows where each column of a table's row image is.
#[derive(Debug, Clone)]
pub struct RowLayout {}
