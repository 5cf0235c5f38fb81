//! Names of character sets, collations and time zones that a session can ask for.

use narwal_types::{SqlError, SqlResult};

/// The canonical name of a connection character set. Narwal speaks UTF-8 only; `ascii` is a part of it, and `utf8mb3`
/// clients get what they would of a utf8mb4 column.
pub(crate) fn charset(name: &str) -> SqlResult<&'static str> {
    match name.to_ascii_lowercase().as_str() {
        "utf8mb4" => Ok("utf8mb4"),
        "utf8" | "utf8mb3" => Ok("utf8mb3"),
        "ascii" => Ok("ascii"),
        "binary" => Ok("binary"),
        "latin1" | "latin2" | "latin5" | "latin7" | "cp1250" | "cp1251" | "cp1252" | "cp1256"
        | "cp1257" | "cp850" | "cp852" | "cp866" | "cp932" | "big5" | "gbk" | "gb2312" | "sjis"
        | "ujis" | "euckr" | "eucjpms" | "koi8r" | "koi8u" | "tis620" | "greek" | "hebrew"
        | "hp8" | "dec8" | "swe7" | "macce" | "macroman" | "armscii8" | "geostd8" | "keybcs2"
        | "ucs2" | "utf16" | "utf16le" | "utf32" => {
            Err(SqlError::unsupported(format!("character set {name}")))
        }
        _ => Err(SqlError::new(
            1115,
            b"42000",
            format!("Unknown character set: '{name}'"),
        )),
    }
}

/// The canonical name of a connection collation and its character set.
pub(crate) fn collation(name: &str) -> SqlResult<(&'static str, &'static str)> {
    Ok(match name.to_ascii_lowercase().as_str() {
        "utf8mb4_general_ci" => ("utf8mb4_general_ci", "utf8mb4"),
        "utf8mb4_bin" => ("utf8mb4_bin", "utf8mb4"),
        "utf8_general_ci" | "utf8mb3_general_ci" => ("utf8mb3_general_ci", "utf8mb3"),
        "utf8_bin" | "utf8mb3_bin" => ("utf8mb3_bin", "utf8mb3"),
        "ascii_general_ci" => ("ascii_general_ci", "ascii"),
        "ascii_bin" => ("ascii_bin", "ascii"),
        "binary" => ("binary", "binary"),
        _ => {
            return Err(SqlError::new(
                1273,
                b"HY000",
                format!("Unknown collation: '{name}'"),
            ));
        }
    })
}

/// The collation that a character set has if none is named.
pub(crate) fn default_collation(charset: &str) -> &'static str {
    match charset {
        "utf8mb3" => "utf8mb3_general_ci",
        "ascii" => "ascii_general_ci",
        "binary" => "binary",
        _ => "utf8mb4_general_ci",
    }
}

/// Character set and collation of a handshake's collation id. Clients name there what their build defaults to
/// (latin1, often) and send UTF-8 all the same, so anything that is not known becomes utf8mb4.
pub(crate) fn from_handshake(id: u16) -> (&'static str, &'static str) {
    match id {
        33 => ("utf8mb3", "utf8mb3_general_ci"),
        83 => ("utf8mb3", "utf8mb3_bin"),
        46 => ("utf8mb4", "utf8mb4_bin"),
        11 => ("ascii", "ascii_general_ci"),
        65 => ("ascii", "ascii_bin"),
        63 => ("binary", "binary"),
        _ => ("utf8mb4", "utf8mb4_general_ci"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn character_sets() {
        assert_eq!(charset("UTF8").unwrap(), "utf8mb3");
        assert_eq!(charset("latin1").unwrap_err().code, 1235);
        assert_eq!(charset("foo").unwrap_err().code, 1115);
        assert_eq!(from_handshake(8), ("utf8mb4", "utf8mb4_general_ci"));
    }
}
