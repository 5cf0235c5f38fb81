//! Names between backticks.

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

#[cfg(test)]
mod tests {
    use super::with_ansi_quotes;

    #[test]
    fn names_get_double_quotes_and_texts_stay() {
        let given = r#"CREATE TABLE `a``b` (`x"y` int COMMENT 'it''s `c` \' `d` here', `z` int)"#;
        let wanted = r#"CREATE TABLE "a`b" ("x""y" int COMMENT 'it''s `c` \' `d` here', "z" int)"#;
        assert_eq!(with_ansi_quotes(given), wanted);
    }
}
