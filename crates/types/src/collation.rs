//! Collations: `utf8mb4_general_ci`, `utf8mb4_bin` and `binary`.

use serde::{Deserialize, Serialize};

/// A collation Narwal can compare and sort by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
pub enum Collation {
    /// utf8mb4_general_ci, id 45, PAD SPACE: the default.
    #[default]
    Utf8mb4GeneralCi,
    /// utf8mb4_bin, id 46, PAD SPACE.
    Utf8mb4Bin,
    /// binary, id 63, NO PAD: bytes.
    Binary,
}
