//! Character sets and collations that a session can ask for.

use narwal_types::errors;
use narwal_types::{Charset, Collation, SqlResult};

/// A connection's character set by name.
pub(crate) fn charset(name: &str) -> SqlResult<Charset> {
    Charset::from_name(name).ok_or_else(|| errors::UNKNOWN_CHARACTER_SET.with([&name]))
}

/// A connection's collation by name.
pub(crate) fn collation(name: &str) -> SqlResult<Collation> {
    Collation::from_name(name).ok_or_else(|| errors::UNKNOWN_COLLATION.with([&name]))
}

/// The same, where `uca1400_*` is one of this character set.
pub(crate) fn collation_of(name: &str, set: Charset) -> SqlResult<Collation> {
    Collation::find(name, set)
}

/// The collation of a handshake's collation id; utf8mb4_general_ci for one that there is not.
pub(crate) fn from_handshake(id: u16) -> Collation {
    // Ids that only MySQL has mean something under its face alone.
    Collation::from_id(id)
        .filter(|c| c.id() == id && c.charset().for_clients())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_sets() {
        assert_eq!(charset("UTF8").unwrap(), Charset::Utf8mb3);
        assert_eq!(charset("Latin1").unwrap(), Charset::Latin1);
        assert_eq!(charset("cp1250").unwrap(), Charset::Cp1250);
        assert_eq!(charset("tis620").unwrap(), Charset::Tis620);
        assert_eq!(collation("utf8mb4_thai_520_w2").unwrap().id(), 610);
        assert_eq!(charset("foo").unwrap_err().code, 1115);
        assert_eq!(collation("utf8_bin").unwrap(), Collation::Utf8mb3Bin);
        assert_eq!(collation("foo").unwrap_err().code, 1273);
        assert_eq!(from_handshake(8), Collation::Latin1SwedishCi);
        assert_eq!(from_handshake(1), Collation::Big5ChineseCi);
        // ucs2: no client speaks it.
        assert_eq!(from_handshake(35), Collation::Utf8mb4GeneralCi);
    }
}
