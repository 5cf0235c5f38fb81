//! Names between backticks.

use narwal_syntax::Kw;

/// `name` in backticks, backticks inside doubled.
pub fn quote_ident(name: &str) -> String {
    format!("`{}`", name.replace('`', "``"))
}

/// A statement whose names stand in backticks, with double quotes in their place. Texts and comments stay as they are.
pub fn with_ansi_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    // What the text or the name that is being read ends with.
    let mut end: Option<char> = None;
    while let Some(c) = chars.next() {
        match end {
            None if c == '\'' => {
                end = Some(c);
                out.push(c);
            }
            None if c == '`' => {
                end = Some(c);
                out.push('"');
            }
            Some('`') if c == '`' && chars.peek() == Some(&'`') => {
                chars.next();
                out.push('`');
            }
            Some('`') if c == '`' => {
                end = None;
                out.push('"');
            }
            Some('`') if c == '"' => out.push_str("\"\""),
            Some('\'') if c == '\\' => {
                out.push(c);
                out.extend(chars.next());
            }
            // A doubled quote ends a text and begins the next one.
            Some('\'') if c == '\'' => {
                end = None;
                out.push(c);
            }
            _ => out.push(c),
        }
    }
    out
}

/// A statement whose names stand in backticks or double quotes, with quotes only where a name needs them: for
/// `sql_quote_show_create=OFF`. Texts stay as they are.
pub fn without_quotes(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['`', '"', '\'']) {
        let (before, quoted) = rest.split_at(at);
        out.push_str(before);
        let end = quoted_end(quoted);
        let (whole, behind) = quoted.split_at(end);
        let inner = whole.get(1..whole.len().saturating_sub(1)).unwrap_or("");
        match whole.starts_with('\'') || needs_quotes(inner) {
            true => out.push_str(whole),
            false => out.push_str(inner),
        }
        rest = behind;
    }
    out.push_str(rest);
    out
}

/// Where what begins with a quote ends, behind its other quote.
fn quoted_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let quote = bytes[0];
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote == b'\'' => at += 1,
            c if c == quote && bytes.get(at + 1) == Some(&quote) => at += 1,
            c if c == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// True for a name that is a word of the language, or has characters that no word has.
fn needs_quotes(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    name.is_empty()
        || !name.chars().all(plain)
        || name.bytes().all(|b| b.is_ascii_digit())
        || Kw::of(name) != Kw::Plain
}

#[cfg(test)]
mod tests {
    use super::{with_ansi_quotes, without_quotes};

    #[test]
    fn quotes_stay_where_a_name_needs_them() {
        let given = r#"CREATE TABLE `t1` (`name` int COMMENT 'a `b` it''s', `c-b` int, "x" int, ```a` int, `5` int)"#;
        let wanted = r#"CREATE TABLE t1 (`name` int COMMENT 'a `b` it''s', `c-b` int, x int, ```a` int, `5` int)"#;
        assert_eq!(without_quotes(given), wanted);
    }

    #[test]
    fn names_get_double_quotes_and_texts_stay() {
        let given = r#"CREATE TABLE `a``b` (`x"y` int COMMENT 'it''s `c` \' `d` here', `z` int)"#;
        let wanted = r#"CREATE TABLE "a`b" ("x""y" int COMMENT 'it''s `c` \' `d` here', "z" int)"#;
        assert_eq!(with_ansi_quotes(given), wanted);
    }
}
