//! Character sets and collations by name.

use crate::charset_words::{CharsetWords, CollateWord};
use narwal_syntax::ast::ddl::CharsetOption;
use narwal_types::errors;
use narwal_types::{Charset, Collation, SqlError, SqlResult};

pub(crate) use crate::charset_words::of_charset as collation_of;

/// A character set by name, or why not.
pub(crate) fn charset(name: &str) -> SqlResult<Charset> {
    let Some(c) = Charset::from_name(name) else {
        return Err(errors::UNKNOWN_CHARACTER_SET.with([&name]));
    };
    Ok(c)
}

/// Error 1253: the collation is one of another character set.
pub(crate) fn mismatched_collation(collation: Collation, charset: Charset) -> SqlError {
    errors::COLLATION_CHARSET_MISMATCH.with([&collation.name(), &charset.name()])
}

/// Adds a CHARACTER SET or COLLATE to what is said.
pub(super) fn add(option: &CharsetOption, words: &mut CharsetWords) -> SqlResult<()> {
    match option {
        CharsetOption::Charset(None) => words.add_charset(None),
        CharsetOption::Charset(Some(name)) => words.add_charset(Some(charset(name)?)),
        CharsetOption::Collate(None) => words.add_collate(CollateWord::Default),
        CharsetOption::Collate(Some(name)) => words.add_collate(CollateWord::of(name)?),
    }
}
