//! What a client sends in its own character set, as the UTF-8 that everything here is in.

use crate::raw_literals;
use crate::session::ClientSession;
use crate::statement::utf8;
use narwal_sql::SqlMode;
use narwal_syntax::Tok;
use narwal_types::errors;
use narwal_types::{Charset, SqlResult, Value, ValueRef};
use std::borrow::Cow;

/// Protocol types whose values are bytes and no text (MYSQL_TYPE_TINY_BLOB to MYSQL_TYPE_BLOB).
const BLOBS: std::ops::RangeInclusive<u8> = 249..=252;

/// What clients send in this set is no UTF-8.
fn converts(set: Charset) -> bool {
    !matches!(set, Charset::Utf8mb4 | Charset::Utf8mb3 | Charset::Binary)
}

impl ClientSession {
    /// A statement's text.
    ///
    /// # Errors
    /// 1300 for one that is not a text of the client's character set.
    pub(crate) fn client_text<'s>(&self, sql: &'s [u8]) -> SqlResult<Cow<'s, str>> {
        if let Some(text) = self.of_client(sql) {
            let ill = raw_literals::is_ill_formed(sql, self.settings.client_charset);
            self.env.raw_literals.set(ill);
            return Ok(Cow::Owned(text));
        }
        let no_backslash = self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        let text = utf8(sql, no_backslash)?;
        self.env.raw_literals.set(matches!(text, Cow::Owned(_)));
        Ok(text)
    }

    /// A statement in the client's character set as UTF-8; `None` if it may stay as it is.
    pub(crate) fn of_client(&self, sql: &[u8]) -> Option<String> {
        let set = self.settings.client_charset;
        if !converts(set) || sql.is_ascii() {
            return None;
        }
        let no_backslash = self.env.sql_mode.has(SqlMode::NO_BACKSLASH_ESCAPES);
        raw_literals::decoded(sql, set, no_backslash)
    }

    /// Error 1300 for a text with a name that the client's character set can say, but that stands for no text.
    pub(crate) fn names_are_text(&self, text: &str) -> SqlResult<()> {
        let set = self.settings.client_charset;
        // Codes without a character begin with these two bytes while they are UTF-8.
        let has_codes = || {
            let mut pairs = text.as_bytes().windows(2);
            pairs.any(|w| w[0] == 0xf4 && w[1] >= 0x80)
        };
        if set.stores_utf8() || !has_codes() {
            return Ok(());
        }
        for token in narwal_syntax::glance::tokens(text, self.env.sql_mode) {
            let name = matches!(token.tok, Tok::Word(_) | Tok::QuotedIdent);
            let Some(from) = name
                .then(|| token.of(text).find(|c| c >= '\u{100000}'))
                .flatten()
            else {
                continue;
            };
            let bad = set.encode(&token.of(text).as_bytes()[from..]).into_owned();
            let bad = narwal_types::charset::shown(&bad);
            return Err(errors::INVALID_CHARACTER_STRING.with([&set.name(), &bad]));
        }
        Ok(())
    }

    /// Text among parameters from the client's character set; `None` if they may stay as they are.
    pub(crate) fn client_params(
        &self,
        params: &[ValueRef<'_>],
        wire_types: &[(u8, u8)],
    ) -> Option<Vec<Value>> {
        let set = self.settings.client_charset;
        if !converts(set) {
            return None;
        }
        let text = |i: usize| !wire_types.get(i).is_some_and(|t| BLOBS.contains(&t.0));
        let convert = |(i, v): (usize, &ValueRef<'_>)| match v {
            ValueRef::Str(s) | ValueRef::Bytes(s) if text(i) => {
                Value::Str(String::from_utf8_lossy(&set.from_client(s)).into())
            }
            v => v.to_value(),
        };
        Some(params.iter().enumerate().map(convert).collect())
    }
}
