//! Statement texts for others' eyes: passwords and keys in them are replaced. Works on text that does not parse, too.

use crate::glance::tokens;
use crate::keyword::Kw;
use crate::sql_mode::SqlMode;
use crate::token::{Tok, Token};
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

/// True if tokens begin a statement whose strings are secrets unless they are names: of accounts, and of sources of
/// replication.
fn is_about_accounts(tokens: &[Token]) -> bool {
    let at = |n: usize| tokens.get(n).map_or(Tok::End, |t| t.tok);
    let Tok::Word(first) = at(0) else {
        return false;
    };
    match (first, at(1)) {
        (Kw::CREATE | Kw::ALTER, Tok::Word(Kw::USER)) => true,
        (Kw::SET, Tok::Word(Kw::PASSWORD)) | (Kw::GRANT, _) => true,
        (Kw::CREATE, Tok::Word(Kw::OR)) => at(3) == Tok::Word(Kw::USER),
        (Kw::CHANGE, Tok::Word(Kw::MASTER | Kw::REPLICATION)) => true,
        _ => false,
    }
}

/// The text with its secrets replaced.
pub fn mask(text: &str) -> Cow<'_, str> {
    mask_from(text, 0)
}

/// The part of a text from byte `at` on, with its secrets replaced.
pub fn mask_from(text: &str, at: usize) -> Cow<'_, str> {
    let secrets = secrets(text);
    if secrets.iter().all(|s| s.end <= at) {
        return Cow::Borrowed(&text[at..]);
    }
    let mut out = String::with_capacity(text.len() - at);
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
}

/// Where a text's secrets are, in order.
fn secrets(text: &str) -> Vec<Range<usize>> {
    let b = text.as_bytes();
    // A backslash may be an escape or not: both quotes that could be the end are inside.
    let quick = !mentions(b) && !text.contains(';');
    let tokens = match quick {
        // The words may be another's: only what is about accounts has secrets without them.
        true if !crate::glance::begins_with_account(b) => return Vec::new(),
        _ => tokens(text, SqlMode::DEFAULT),
    };
    let mut s = Scan {
        accounts: is_about_accounts(&tokens),
        ..Scan::default()
    };
    let mut end = 0;
    for (n, t) in tokens.iter().enumerate() {
        let (from, to) = (t.start as usize, t.end as usize);
        s.gap(text, end..from);
        end = to;
        let next = tokens.get(n + 1).map_or(Tok::End, |t| t.tok);
        match t.tok {
            Tok::String | Tok::NString | Tok::Hex | Tok::Bit => {
                // x'..', n'..': the letter is no secret.
                let quote = b[from..to].iter().position(|c| matches!(c, b'\'' | b'"'));
                let start = from + quote.filter(|q| *q == 1).unwrap_or(0);
                s.literal(start..to, &b[from..to], next == Tok::UserVar);
            }
            Tok::Bad if matches!(b.get(from), Some(b'\'' | b'"')) => {
                s.literal(from..to, &b[from..to], false);
            }
            // A comment or name in quotes without its end.
            Tok::Bad if to - from > 1 => s.gap(text, from..to),
            Tok::Word(_) => s.word(&b[from..to]),
            Tok::QuotedIdent | Tok::UserVar => s.other(),
            Tok::Introducer | Tok::End => {}
            Tok::Semicolon => {
                s = Scan {
                    secrets: s.secrets,
                    accounts: is_about_accounts(&tokens[n + 1..]),
                    ..Scan::default()
                };
            }
            tok => s.sign(tok),
        }
    }
    s.gap(text, end..text.len());
    s.secrets
}

impl Scan {
    /// What stands between tokens: what comments say is not looked at word by word.
    fn gap(&mut self, text: &str, at: Range<usize>) {
        let gap = &text[at.clone()];
        if gap.len() > 2 && mentions(gap.as_bytes()) {
            let start = at.start + (gap.len() - gap.trim_start().len());
            self.secrets.push(start..start + gap.trim().len());
        }
    }

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
            || [&b"MASTER_"[..], b"SOURCE_"].iter().any(|prefix| {
                word.len() > prefix.len() && word[..prefix.len()].eq_ignore_ascii_case(prefix)
            }) && !ends("PASSWORD");
    }

    fn sign(&mut self, tok: Tok) {
        match tok {
            Tok::LParen => self.depth += 1,
            Tok::RParen => {
                self.depth = self.depth.saturating_sub(1);
                self.expected = false;
            }
            _ => {}
        }
        if self.inside.is_some_and(|d| self.depth < d) && tok != Tok::LParen {
            self.inside = None;
        }
        self.joined = false;
        // `= '...'` and `:= '...'` leave things as they are.
        if !matches!(tok, Tok::Eq | Tok::ColonEq | Tok::LParen) {
            self.expected = false;
            self.name = tok == Tok::Comma;
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
