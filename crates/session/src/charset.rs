//! Character sets and collations that a session can ask for.

use narwal_types::errors;
use narwal_types::{Charset, Collation, SqlError, SqlResult};

/// A connection's character set by name.
pub(crate) fn charset(name: &str) -> SqlResult<Charset> {
    if let Some(c) = Charset::from_name(name) {
        return Ok(c);
    }
    match name.to_ascii_lowercase().as_str() {
        "latin2" | "latin5" | "latin7" | "cp1250" | "cp1251" | "cp1252" | "cp1256" | "cp1257"
        | "cp850" | "cp852" | "cp866" | "cp932" | "big5" | "gbk" | "gb2312" | "sjis" | "ujis"
        | "euckr" | "eucjpms" | "koi8r" | "koi8u" | "tis620" | "greek" | "hebrew" | "hp8"
        | "dec8" | "swe7" | "macce" | "macroman" | "armscii8" | "geostd8" | "keybcs2" | "ucs2"
        | "utf16" | "utf16le" | "utf32" => {
            Err(SqlError::unsupported(format!("character set {name}")))
        }
        _ => Err(errors::UNKNOWN_CHARACTER_SET.with([&name])),
    }
}

/// A connection's collation by name.
pub(crate) fn collation(name: &str) -> SqlResult<Collation> {
    Collation::from_name(name).ok_or_else(|| errors::UNKNOWN_COLLATION.with([&name]))
}

/// The collation of a handshake's collation id; utf8mb4_general_ci for one that there is not.
pub(crate) fn from_handshake(id: u16) -> Collation {
    Collation::from_id(id).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_sets() {
        assert_eq!(charset("UTF8").unwrap(), Charset::Utf8mb3);
        assert_eq!(charset("Latin1").unwrap(), Charset::Latin1);
        assert_eq!(charset("cp1250").unwrap_err().code, 1235);
        assert_eq!(charset("foo").unwrap_err().code, 1115);
        assert_eq!(collation("utf8_bin").unwrap(), Collation::Utf8mb3Bin);
        assert_eq!(collation("foo").unwrap_err().code, 1273);
        assert_eq!(from_handshake(8), Collation::Latin1SwedishCi);
        assert_eq!(from_handshake(1), Collation::Utf8mb4GeneralCi);
    }
}
