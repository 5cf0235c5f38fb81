//! What a statement answers.

use crate::exec::returning::Returned;

/// What a statement did.
pub enum Outcome {
    /// A result set: `begin_rows` and the rows went to the sink; `end_rows` is the session's.
    Rows {
        /// Rows sent.
        rows: u64,
        /// FOUND_ROWS() for the next statement.
        found_rows: u64,
    },
    /// A result set of a statement that changed rows.
    Returned {
        /// Its rows, not sent yet.
        rows: Returned,
        /// As in `Done`.
        last_insert_id: u64,
    },
    /// No result set.
    Done {
        /// Affected rows, for the OK packet and ROW_COUNT().
        affected: u64,
        /// First generated AUTO_INCREMENT value, for the OK packet and LAST_INSERT_ID(); 0 = none, keep the old one.
        last_insert_id: u64,
        /// The OK packet's text.
        info: String,
    },
}

impl Outcome {
    /// The first number that AUTO_INCREMENT gave.
    #[must_use]
    pub fn given_id(&self) -> Option<u64> {
        match self {
            Outcome::Done { last_insert_id, .. } | Outcome::Returned { last_insert_id, .. } => {
                Some(*last_insert_id).filter(|id| *id != 0)
            }
            Outcome::Rows { .. } => None,
        }
    }
}
