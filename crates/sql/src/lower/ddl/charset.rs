//! Character sets and collations by name.

use super::refuse::unsupported;
use narwal_syntax::ast::ddl::CharsetOption;
use narwal_types::{Charset, Collation, SqlError, SqlResult};

/// Character sets of MariaDB that Narwal does not have.
const OTHER_CHARSETS: &[&str] = &[
    "latin2", "ucs2", "utf16", "utf32", "cp1250", "cp1251", "cp1252", "cp1256", "cp1257", "koi8r",
    "koi8u", "sjis", "ujis", "gbk", "gb2312", "big5", "euckr", "latin5", "latin7", "greek",
    "hebrew", "swe7", "dec8", "hp8", "cp850", "cp852", "cp866", "macce", "macroman", "tis620",
    "armscii8", "keybcs2", "geostd8", "cp932", "eucjpms", "utf16le",
];

/// A character set by name, or why not.
pub(crate) fn charset(name: &str) -> SqlResult<Charset> {
    if let Some(c) = Charset::from_name(name) {
        return Ok(c);
    }
    if OTHER_CHARSETS.iter().any(|c| c.eq_ignore_ascii_case(name)) {
        return Err(SqlError::unsupported(format!("character set {name}")));
    }
    Err(SqlError::new(
        1115,
        b"42000",
        format!("Unknown character set: '{name}'"),
    ))
}

/// A collation by name, or why not.
pub(crate) fn collation(name: &str) -> SqlResult<Collation> {
    if let Some(c) = Collation::from_name(name) {
        return Ok(c);
    }
    let lower = name.to_ascii_lowercase();
    let (set, rest) = lower.split_once('_').unwrap_or((&lower, ""));
    let known_set =
        set == "uca1400" || Charset::from_name(set).is_some() || OTHER_CHARSETS.contains(&set);
    if known_set
        && ["_ci", "_cs", "_bin"]
            .iter()
            .any(|e| format!("_{rest}").ends_with(e))
        && !rest.contains("nosuch")
    {
        return Err(SqlError::unsupported(format!("collation {name}")));
    }
    Err(SqlError::new(
        1273,
        b"HY000",
        format!("Unknown collation: '{name}'"),
    ))
}

/// Error 1253: the collation is one of another character set.
pub(crate) fn mismatched_collation(collation: Collation, charset: Charset) -> SqlError {
    SqlError::new(
        1253,
        b"42000",
        format!(
            "COLLATION '{}' is not valid for CHARACTER SET '{}'",
            collation.name(),
            charset.name()
        ),
    )
}

/// Puts a CHARACTER SET or COLLATE into `slot`: a collation must be one of the character set named before or after it.
pub(super) fn add(option: &CharsetOption, slot: &mut Option<Collation>) -> SqlResult<()> {
    let (c, named) = match option {
        CharsetOption::Charset(Some(name)) => (charset(name)?.default_collation(), false),
        CharsetOption::Collate(Some(name)) => (collation(name)?, true),
        CharsetOption::Charset(None) => return unsupported("CHARACTER SET DEFAULT"),
        CharsetOption::Collate(None) => return unsupported("COLLATE DEFAULT"),
    };
    *slot = Some(match *slot {
        Some(old) if old.charset() == c.charset() && !named => old,
        Some(old) if old.charset() != c.charset() => {
            return Err(match named {
                true => mismatched_collation(c, old.charset()),
                false => mismatched_collation(old, c.charset()),
            });
        }
        _ => c,
    });
    Ok(())
}
