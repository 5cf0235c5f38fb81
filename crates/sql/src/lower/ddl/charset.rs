//! Character sets and collations by name.

use narwal_syntax::ast::ddl::CharsetOption;
use narwal_types::errors;
use narwal_types::{Charset, Collation, SqlError, SqlResult};

/// A character set by name, or why not.
pub(crate) fn charset(name: &str) -> SqlResult<Charset> {
    let Some(c) = Charset::from_name(name) else {
        return Err(errors::UNKNOWN_CHARACTER_SET.with([&name]));
    };
    Ok(c)
}

/// The default collation of a character set.
pub(super) fn default_of(set: Charset) -> SqlResult<Collation> {
    let c = set.default_collation();
    if !c.is_here() {
        return Err(SqlError::unsupported(format!("collation {}", c.name())));
    }
    Ok(c)
}

/// A collation by name, or why not; `uca1400_*` is one of this character set.
pub(crate) fn collation_of(name: &str, set: Charset) -> SqlResult<Collation> {
    if let Some(c) = Collation::of_charset(name, set) {
        return Ok(c);
    }
    if Collation::is_missing(name) {
        return Err(SqlError::unsupported(format!("collation {name}")));
    }
    Err(errors::UNKNOWN_COLLATION.with([&name]))
}

/// Error 1253: the collation is one of another character set.
pub(crate) fn mismatched_collation(collation: Collation, charset: Charset) -> SqlError {
    errors::COLLATION_CHARSET_MISMATCH.with([&collation.name(), &charset.name()])
}

/// Puts a CHARACTER SET or COLLATE into `slot`: a collation must be one of the character set named before or after it.
pub(super) fn add(option: &CharsetOption, slot: &mut Option<Collation>) -> SqlResult<()> {
    let (c, named) = match option {
        CharsetOption::Charset(Some(name)) => (default_of(charset(name)?)?, false),
        CharsetOption::Collate(Some(name)) => {
            let set = slot.map_or(Charset::Utf8mb4, Collation::charset);
            (collation_of(name, set)?, true)
        }
        // What stands above has it: the database for a table, the server for a database.
        CharsetOption::Charset(None) => return Ok(()),
        CharsetOption::Collate(None) => match *slot {
            Some(c) => (default_of(c.charset())?, true),
            None => return Ok(()),
        },
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
