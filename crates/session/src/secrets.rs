//! Statement texts for others' eyes: passwords and keys in them are replaced. Works on text that does not parse, too.

use crate::lex::leading_words;
use std::borrow::Cow;
use std::ops::Range;

/// What stands for a secret.
const MASK: &str = "<secret>";

/// Words after which, or within whose parentheses, a literal is a secret. A text without any of them is shown as it is.
const WORDS: [&[u8]; 3] = [b"PASSWORD", b"IDENTIFIED", b"CRYPT("];

/// Whether the text has one of the words, in any case.
fn mentions(text: &[u8]) -> bool {
    let has = |word: &[u8]| {
        text.windows(word.len())
            .any(|w| w[0].eq_ignore_ascii_case(&word[0]) && w.eq_ignore_ascii_case(word))
    };
    WORDS.iter().any(|w| has(w))
}

/// True for statements whose strings are secrets unless they are names: of accounts, and of sources of replication.
fn is_about_accounts(text: &str) -> bool {
    let (a, n, b, m) = leading_words(text);
    match (&a[..n], &b[..m]) {
        (b"CREATE" | b"ALTER", b"USER") | (b"SET", b"PASSWORD") | (b"GRANT", _) => true,
        (b"CREATE", b"OR") => {
            let head = text.as_bytes();
            head[..head.len().min(60)]
                .windows(4)
                .any(|w| w.eq_ignore_ascii_case(b"USER"))
        }
        (b"CHANGE", b"MASTER") => true,
        _ => false,
    }
}

/// The text with its secrets replaced.
pub fn mask(text: &str) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for s in secrets {
        out.push_str(&text[at..s.start]);
        out.push_str(MASK);
        at = s.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// The part of a text from byte `at` on, with its secrets replaced.
pub(crate) fn mask_from(text: &str, at: usize) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.iter().all(|s| s.end <= at) {
        return Cow::Borrowed(&text[at..]);
    }
    let mut out = String::new();
    let mut at = at;
    for s in secrets {
        if s.end <= at {
            continue;
        }
        out.push_str(&text[at..s.start.max(at)]);
        out.push_str(MASK);
        at = s.end;
    }
    out.push_str(&text[at..]);
    Cow::Owned(out)
}

/// What the scan knows of the place it is at.
#[derive(Default)]
struct Scan {
    secrets: Vec<Range<usize>>,
    /// The statement is about accounts.
    accounts: bool,
    /// A literal that comes now is a secret.
    expected: bool,
    /// The token before was a secret literal: what stands beside it belongs to it.
    joined: bool,
    /// Depth of parentheses, and that of the function whose literals are secrets.
    depth: usize,
    inside: Option<usize>,
    /// A name may stand here, and not a secret.
    name: bool,
    /// A new statement begins.
    fresh: bool,
}

/// Where a text's secrets are, in order.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let b = text.as_bytes();
    if !mentions(b) && !is_about_accounts(text) && !text.contains(';') {
        return Vec::new();
    }
    let mut s = Scan {
        fresh: true,
        ..Scan::default()
    };
    let mut i = 0;
    while i < b.len() {
        let c = b[i];
        if c.is_ascii_whitespace() {
            i += 1;
            continue;
        }
        if s.fresh {
            s.accounts = is_about_accounts(&text[i..]);
            s.fresh = false;
        }
        if let Some(end) = comment(b, i) {
            // What a comment says is not looked at word by word.
            if mentions(&b[i..end]) {
                s.secrets.push(i..end);
            }
            i = end;
        } else if b[i..].starts_with(b"/*") {
            // An executable comment: its head is passed over, and its words count.
            i += 2;
            while i < b.len() && (b[i] == b'!' || b[i] == b'M' || b[i].is_ascii_digit()) {
                i += 1;
            }
            s.accounts = s.accounts || is_about_accounts(&text[i..]);
        } else if b[i..].starts_with(b"*/") {
            i += 2;
        } else if matches!(c, b'\'' | b'"') {
            let end = literal_end(b, i);
            s.literal(i..end, &b[i..end], next_is_at(b, end));
            i = end;
        } else if c == b'`' {
            i = literal_end(b, i);
            s.other();
        } else if c.is_ascii_alphanumeric() || c == b'_' || c == b'$' || c >= 0x80 {
            let start = i;
            while i < b.len()
                && (b[i].is_ascii_alphanumeric() || matches!(b[i], b'_' | b'$') || b[i] >= 0x80)
            {
                i += 1;
            }
            let word = &b[start..i];
            // x'..', n'..', _utf8mb4'..': part of the literal that follows.
            let introduces =
                matches!(b.get(i), Some(b'\'')) && (word.len() == 1 || word[0] == b'_');
            if word.len() > 2 && word[..2].eq_ignore_ascii_case(b"0x") {
                s.literal(start..i, word, next_is_at(b, i));
            } else if !introduces {
                s.word(word);
            }
        } else {
            s.sign(c);
            i += 1;
        }
    }
    s.secrets
}

/// The end of a plain comment that begins here.
fn comment(b: &[u8], i: usize) -> Option<usize> {
    let line = |from: usize| {
        b[from..]
            .iter()
            .position(|c| *c == b'\n')
            .map_or(b.len(), |n| from + n)
    };
    match b[i] {
        b'#' => Some(line(i)),
        b'-' if b.get(i + 1) == Some(&b'-') && b.get(i + 2).is_none_or(u8::is_ascii_whitespace) => {
            Some(line(i))
        }
        b'/' if b.get(i + 1) == Some(&b'*')
            && !matches!(b.get(i + 2), Some(b'!'))
            && !(b.get(i + 2) == Some(&b'M') && b.get(i + 3) == Some(&b'!')) =>
        {
            Some(
                b[i + 2..]
                    .windows(2)
                    .position(|w| w == b"*/")
                    .map_or(b.len(), |n| i + 2 + n + 2),
            )
        }
        _ => None,
    }
}

/// The end of what is quoted from `i` on. A backslash may be an escape or not: both quotes that could be the end are inside.
fn literal_end(b: &[u8], i: usize) -> usize {
    let quote = b[i];
    let mut j = i + 1;
    while j < b.len() {
        if b[j] == b'\\' && quote != b'`' {
            j += 2;
        } else if b[j] == quote {
            if b.get(j + 1) != Some(&quote) {
                return j + 1;
            }
            j += 2;
        } else {
            j += 1;
        }
    }
    b.len()
}

fn next_is_at(b: &[u8], mut i: usize) -> bool {
    while b.get(i).is_some_and(u8::is_ascii_whitespace) {
        i += 1;
    }
    b.get(i) == Some(&b'@')
}

impl Scan {
    fn literal(&mut self, at: Range<usize>, text: &[u8], before_at: bool) {
        let secret = self.expected
            || self.joined
            || self.inside.is_some()
            || self.accounts && !self.name && !before_at
            || mentions(text);
        if secret {
            self.secrets.push(at);
        }
        self.joined = secret;
        self.expected = false;
        self.name = false;
    }

    fn other(&mut self) {
        (self.joined, self.expected, self.name) = (false, false, false);
    }

    fn word(&mut self, word: &[u8]) {
        let is = |w: &str| word.eq_ignore_ascii_case(w.as_bytes());
        let ends = |w: &str| {
            word.len() >= w.len() && word[word.len() - w.len()..].eq_ignore_ascii_case(w.as_bytes())
        };
        let keeps = self.expected
            && ["BY", "VIA", "WITH", "AS", "USING", "OR"]
                .iter()
                .any(|w| is(w));
        // The plugin's name stands between VIA and USING.
        let plugin = self.expected && !keeps && !is("FOR");
        self.joined = false;
        self.expected = keeps || ends("PASSWORD") || is("IDENTIFIED") || plugin && self.accounts;
        if ends("CRYPT") && self.inside.is_none() {
            self.inside = Some(self.depth + 1);
        }
        self.name = [
            "USER", "EXISTS", "TO", "FOR", "ISSUER", "SUBJECT", "CIPHER", "MASTER",
        ]
        .iter()
        .any(|w| is(w))
            || word.len() > 7 && word[..7].eq_ignore_ascii_case(b"MASTER_") && !ends("PASSWORD");
    }

    fn sign(&mut self, c: u8) {
        match c {
            b'(' => self.depth += 1,
            b')' => {
                self.depth = self.depth.saturating_sub(1);
                self.expected = false;
            }
            b';' => {
                *self = Scan {
                    secrets: std::mem::take(&mut self.secrets),
                    fresh: true,
                    ..Scan::default()
                };
                return;
            }
            _ => {}
        }
        if self.inside.is_some_and(|d| self.depth < d) && c != b'(' {
            self.inside = None;
        }
        self.joined = false;
        // `= '...'` and `:= '...'` leave things as they are.
        if !matches!(c, b'=' | b':' | b'(') {
            self.expected = false;
            self.name = matches!(c, b',' | b'@');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_and_names_stay() {
        for (text, want) in [
            ("select 'a', 1", "select 'a', 1"),
            (
                "create user u identified by 's3'",
                "create user u identified by <secret>",
            ),
            (
                "create user 'u'@'h' identified by 's3', 'v' identified via mysql_native_password using password('s3') require subject '/CN=x'",
                "create user 'u'@'h' identified by <secret>, 'v' identified via mysql_native_password using password(<secret>) require subject '/CN=x'",
            ),
            (
                "grant all on *.* to u identified by password '*s3'",
                "grant all on *.* to u identified by password <secret>",
            ),
            (
                "set password for 'u'@'h' = password('s3')",
                "set password for 'u'@'h' = password(<secret>)",
            ),
            ("set password = 's3'", "set password = <secret>"),
            (
                "SET PASSWORD:=PASSWORD(\"s3\")",
                "SET PASSWORD:=PASSWORD(<secret>)",
            ),
            (
                "change master to master_host='h', master_user='u', master_password='s3', master_port=3",
                "change master to master_host='h', master_user='u', master_password=<secret>, master_port=3",
            ),
            (
                "select aes_encrypt('x', 's3'), 'y'",
                "select aes_encrypt(<secret>, <secret>), 'y'",
            ),
            ("select old_password('s3')", "select old_password(<secret>)"),
            (
                "prepare p from 'create user u identified by ''s3'''",
                "prepare p from <secret>",
            ),
            (
                "/*!50000 create user u identified by 's3' */",
                "/*!50000 create user u identified by <secret> */",
            ),
            (
                "/* don't */ create user u identified by 's3'",
                "/* don't */ create user u identified by <secret>",
            ),
            (
                "select 1; create user u identified by 's3'; select 'x'",
                "select 1; create user u identified by <secret>; select 'x'",
            ),
            (
                "create user u identifeid by 's3'",
                "create user u identifeid by <secret>",
            ),
            (
                "create user u identified by 's3",
                "create user u identified by <secret>",
            ),
            (
                "create user u identified by 's3\\'s3' x",
                "create user u identified by <secret> x",
            ),
            (
                "create user u identified by 's3' 's3'",
                "create user u identified by <secret> <secret>",
            ),
            (
                "create user u identified by x'7333' -- password s3",
                "create user u identified by x<secret> <secret>",
            ),
            (
                "create user u identified by 0x7333",
                "create user u identified by <secret>",
            ),
            (
                "insert into t values (password('s3'), 'n')",
                "insert into t values (password(<secret>), 'n')",
            ),
        ] {
            let got = mask(text);
            assert_eq!(got, want);
            assert!(!got.contains("s3") || !want.contains(MASK), "{got}");
        }
        let text = "create user u identified by 's3' oops";
        assert_eq!(
            mask_from(text, 14),
            "identified by <secret> oops".to_string()
        );
        assert_eq!(mask_from(text, 30), "<secret> oops");
    }

    #[test]
    fn any_cut_of_a_statement_keeps_its_secret() {
        let text = "/*M!100100 create or replace user if not exists 'a'@'b' */ identified /* x */ by 'topsecret' account lock";
        for cut in (0..=text.len()).filter(|c| text.is_char_boundary(*c)) {
            assert!(
                !mask(&text[..cut]).contains("tops"),
                "{}",
                mask(&text[..cut])
            );
        }
    }
}
