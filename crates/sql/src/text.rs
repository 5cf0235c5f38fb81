//! Statement text before parsing: splitting, executable comments.

use std::borrow::Cow;

/// Splits a text at its semicolons, outside of quotes and comments. Empty statements are left out.
/// `no_backslash`: NO_BACKSLASH_ESCAPES.
pub fn split_statements(_text: &str, _no_backslash: bool) -> Vec<&str> {
    todo!()
}

/// Replaces `/*! ... */`, `/*!NNNNN ... */` and `/*M! ... */` by their contents (if the version is at most ours, 10.11),
/// and other comments by a space. Borrowed if there is nothing to do.
pub fn unwrap_comments(_text: &str, _no_backslash: bool) -> Cow<'_, str> {
    todo!()
}
