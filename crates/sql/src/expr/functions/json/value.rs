//! JSON texts as trees whose scalars and keys stay as they are written: a changed document keeps the numbers and escapes of
//! its other parts.

use narwal_types::work::{Work, stopped};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

/// Nesting up to here is accepted: an array in an array is 2.
const MAX_DEPTH: usize = 31;

/// A value with its place in the text.
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'t> {
    /// What it is.
    pub kind: Kind<'t>,
    /// Bytes of the text that it was read from.
    pub span: Range<usize>,
}

/// The kinds of values.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind<'t> {
    /// null, true, false, a number or a string with its quotes, as written.
    Scalar(Cow<'t, str>),
    /// An array.
    Array(Vec<Node<'t>>),
    /// An object: keys as written, without quotes. Keys may repeat.
    Object(Vec<(Cow<'t, str>, Node<'t>)>),
}

/// What is wrong with a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// It ends too early.
    End,
    /// Character number n (from 1) can't stand there.
    Syntax(usize),
    /// A control character in a string.
    Character(usize),
    /// Nested too deeply.
    Depth(usize),
}

/// The first of several comparisons that tells two apart.
fn first_difference(mut orders: impl Iterator<Item = Ordering>) -> Ordering {
    orders.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
}

impl<'t> Node<'t> {
    /// A value that is in no text.
    pub fn new(kind: Kind<'t>) -> Self {
        Node { kind, span: 0..0 }
    }

    /// A scalar as written.
    pub fn scalar(text: impl Into<Cow<'t, str>>) -> Self {
        Node::new(Kind::Scalar(text.into()))
    }

    /// Reads the value that a text begins with.
    pub fn parse_first(text: &'t str) -> Result<Node<'t>, Fault> {
        let mut p = Parser::new(text);
        p.space();
        p.value(0)
    }

    /// Reads a text.
    pub fn parse(text: &'t str) -> Result<Node<'t>, Fault> {
        let mut p = Parser::new(text);
        p.space();
        let n = p.value(0)?;
        p.space();
        if p.at < text.len() {
            return Err(p.bad());
        }
        Ok(n)
    }

    /// For arrays and objects.
    pub fn is_container(&self) -> bool {
        !matches!(self.kind, Kind::Scalar(_))
    }

    /// The name of its type.
    pub fn type_name(&self) -> &'static str {
        match &self.kind {
            Kind::Array(_) => "ARRAY",
            Kind::Object(_) => "OBJECT",
            Kind::Scalar(s) => match s.as_bytes().first() {
                Some(b'"') => "STRING",
                Some(b't' | b'f') => "BOOLEAN",
                Some(b'n') => "NULL",
                _ if s.contains('.') => "DOUBLE",
                _ => "INTEGER",
            },
        }
    }

    /// Levels: a scalar has one.
    pub fn depth(&self) -> usize {
        1 + match &self.kind {
            Kind::Scalar(_) => 0,
            Kind::Array(a) => a.iter().map(Node::depth).max().unwrap_or(0),
            Kind::Object(o) => o.iter().map(|(_, v)| v.depth()).max().unwrap_or(0),
        }
    }

    /// Elements or members; 1 for a scalar.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Scalar(_) => 1,
            Kind::Array(a) => a.len(),
            Kind::Object(o) => o.len(),
        }
    }

    /// The first member of that name.
    pub fn member(&self, key: &str) -> Option<&Node<'t>> {
        match &self.kind {
            Kind::Object(o) => o.iter().find(|(k, _)| unescape(k) == key).map(|(_, v)| v),
            _ => None,
        }
    }

    /// The text in one line: `loose` with a space behind commas and colons.
    pub fn write(&self, loose: bool, out: &mut String) {
        narwal_memory::check_or_unwind();
        let comma = if loose { ", " } else { "," };
        match &self.kind {
            Kind::Scalar(s) => out.push_str(s),
            Kind::Array(a) => {
                out.push('[');
                for (i, v) in a.iter().enumerate() {
                    if i > 0 {
                        out.push_str(comma);
                    }
                    v.write(loose, out);
                }
                out.push(']');
            }
            Kind::Object(o) => {
                out.push('{');
                for (i, (k, v)) in o.iter().enumerate() {
                    if i > 0 {
                        out.push_str(comma);
                    }
                    out.push('"');
                    out.push_str(k);
                    out.push_str(if loose { "\": " } else { "\":" });
                    v.write(loose, out);
                }
                out.push('}');
            }
        }
    }

    /// The text in lines, `tab` spaces for each level. Members that are no scalars start a line of their own.
    pub fn write_lines(&self, tab: usize, level: usize, out: &mut String) {
        narwal_memory::check_or_unwind();
        let line = |out: &mut String, level: usize| {
            out.push('\n');
            out.extend(std::iter::repeat_n(' ', tab * level));
        };
        match &self.kind {
            Kind::Scalar(s) => out.push_str(s),
            // A lone scalar stays in its line.
            Kind::Array(a) if a.len() == 1 && !a[0].is_container() => self.write(false, out),
            Kind::Array(a) => {
                out.push('[');
                for (i, v) in a.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    line(out, level + 1);
                    v.write_lines(tab, level + 1, out);
                }
                if !a.is_empty() {
                    line(out, level);
                }
                out.push(']');
            }
            Kind::Object(o) => {
                out.push('{');
                for (i, (k, v)) in o.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    line(out, level + 1);
                    out.push('"');
                    out.push_str(k);
                    out.push_str("\": ");
                    if v.is_container() {
                        line(out, level + 1);
                    }
                    v.write_lines(tab, level + 1, out);
                }
                line(out, level);
                out.push('}');
            }
        }
    }

    /// The form in which equal documents are equal texts: sorted keys, numbers as `d.dEn`.
    pub fn normalize(&self) -> Node<'static> {
        narwal_memory::check_or_unwind();
        if stopped() {
            return Node::scalar("null");
        }
        Node::new(match &self.kind {
            Kind::Scalar(s) => Kind::Scalar(Cow::Owned(match s.as_bytes().first() {
                Some(b'-' | b'0'..=b'9') => normal_number(s),
                _ => s.to_string(),
            })),
            Kind::Array(a) => Kind::Array(a.iter().map(Node::normalize).collect()),
            Kind::Object(o) => {
                let mut list: Vec<(Cow<'static, str>, Node<'static>)> = o
                    .iter()
                    .map(|(k, v)| (Cow::Owned(k.to_string()), v.normalize()))
                    .collect();
                list.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.normal_order(&b.1)));
                Kind::Object(list)
            }
        })
    }

    /// The order of normalized values behind equal keys, as JSON_NORMALIZE has it: by kind, then the shorter ones first.
    fn normal_order(&self, other: &Node<'_>) -> Ordering {
        let kind = |n: &Node<'_>| match &n.kind {
            Kind::Object(_) => 0,
            Kind::Array(_) => 1,
            Kind::Scalar(s) => match s.as_bytes().first() {
                Some(b'"') => 2,
                Some(b't') => 4,
                Some(b'f') => 5,
                Some(b'n') => 6,
                _ => 3,
            },
        };
        kind(self)
            .cmp(&kind(other))
            .then_with(|| match (&self.kind, &other.kind) {
                (Kind::Scalar(a), Kind::Scalar(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
                (Kind::Array(a), Kind::Array(b)) => a.len().cmp(&b.len()).then_with(|| {
                    let pairs = a.iter().zip(b);
                    first_difference(pairs.map(|(a, b)| a.normal_order(b)))
                }),
                (Kind::Object(a), Kind::Object(b)) => a.len().cmp(&b.len()).then_with(|| {
                    let pairs = a.iter().zip(b);
                    first_difference(
                        pairs.map(|(a, b)| a.0.cmp(&b.0).then_with(|| a.1.normal_order(&b.1))),
                    )
                }),
                _ => Ordering::Equal,
            })
    }

    /// A copy that borrows nothing.
    pub fn into_owned(self) -> Node<'static> {
        Node::new(match self.kind {
            Kind::Scalar(s) => Kind::Scalar(Cow::Owned(s.into_owned())),
            Kind::Array(a) => Kind::Array(a.into_iter().map(Node::into_owned).collect()),
            Kind::Object(o) => Kind::Object(
                o.into_iter()
                    .map(|(k, v)| (Cow::Owned(k.into_owned()), v.into_owned()))
                    .collect(),
            ),
        })
    }

    /// Equality of scalars: numbers by value, strings by what their escapes mean.
    pub fn same_scalar(&self, other: &Node<'_>) -> bool {
        let (Kind::Scalar(a), Kind::Scalar(b)) = (&self.kind, &other.kind) else {
            return false;
        };
        match (self.type_name(), other.type_name()) {
            ("STRING", "STRING") => string_value(a) == string_value(b),
            ("INTEGER" | "DOUBLE", "INTEGER" | "DOUBLE") => {
                a == b || a.parse::<f64>().ok() == b.parse::<f64>().ok()
            }
            _ => a == b,
        }
    }
}

/// `1.50e2` as `1.5E2`.
fn normal_number(s: &str) -> String {
    let (neg, s) = match s.strip_prefix('-') {
        Some(r) => (true, r),
        None => (false, s),
    };
    let (mantissa, exp) = match s.split_once(['e', 'E']) {
        Some((m, e)) => (m, e.parse::<i64>().unwrap_or(0)),
        None => (s, 0),
    };
    let (whole, frac) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{frac}");
    let lead = digits.len() - digits.trim_start_matches('0').len();
    let body = digits.trim_start_matches('0').trim_end_matches('0');
    if body.is_empty() {
        return "0.0E0".into();
    }
    let exp = exp + whole.len() as i64 - 1 - lead as i64;
    let (first, rest) = body.split_at(1);
    let rest = if rest.is_empty() { "0" } else { rest };
    format!("{}{first}.{rest}E{exp}", if neg { "-" } else { "" })
}

/// What a string with its quotes means.
pub fn string_value(quoted: &str) -> Cow<'_, str> {
    let inner = quoted
        .strip_prefix('"')
        .and_then(|s| s.strip_suffix('"'))
        .unwrap_or(quoted);
    unescape(inner)
}

/// Resolves escapes.
pub fn unescape(s: &str) -> Cow<'_, str> {
    if !s.contains('\\') {
        return Cow::Borrowed(s);
    }
    let mut out = String::with_capacity(s.len());
    let mut it = s.chars();
    while let Some(c) = it.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        match it.next() {
            Some('b') => out.push('\u{8}'),
            Some('f') => out.push('\u{c}'),
            Some('n') => out.push('\n'),
            Some('r') => out.push('\r'),
            Some('t') => out.push('\t'),
            Some('u') => {
                let hex = |it: &mut std::str::Chars<'_>| {
                    let digits = it.as_str().get(..4)?;
                    let n = u32::from_str_radix(digits, 16).ok()?;
                    *it = it.as_str()[4..].chars();
                    Some(n)
                };
                let Some(high) = hex(&mut it) else {
                    continue;
                };
                let code = if (0xd800..0xdc00).contains(&high) && it.as_str().starts_with("\\u") {
                    let mut ahead = it.as_str()[2..].chars();
                    match hex(&mut ahead) {
                        Some(low) if (0xdc00..0xe000).contains(&low) => {
                            it = ahead;
                            0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)
                        }
                        _ => high,
                    }
                } else {
                    high
                };
                out.push(char::from_u32(code).unwrap_or('\u{fffd}'));
            }
            Some(c) => out.push(c),
            None => {}
        }
    }
    Cow::Owned(out)
}

/// Puts a text into a JSON string, without quotes.
pub fn escape(s: &str, out: &mut String) {
    use std::fmt::Write;
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if (c as u32) < 0x20 => {
                let _ = write!(out, "\\u{:04X}", c as u32);
            }
            c => out.push(c),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    work: Work,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Self {
        Parser {
            text,
            at: 0,
            work: Work::default(),
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// The character here can't stand here.
    fn bad(&self) -> Fault {
        if self.at >= self.text.len() {
            Fault::End
        } else {
            Fault::Syntax(self.at + 1)
        }
    }

    fn value(&mut self, depth: usize) -> Result<Node<'t>, Fault> {
        // A tree takes many times what its text does.
        narwal_memory::check_or_unwind();
        if self.work.stops(16) {
            return Err(Fault::End);
        }
        let start = self.at;
        let kind = match self.peek().ok_or(Fault::End)? {
            b'{' => {
                self.enter(depth)?;
                self.object(depth + 1)?
            }
            b'[' => {
                self.enter(depth)?;
                self.array(depth + 1)?
            }
            b'"' => {
                self.string()?;
                Kind::Scalar(Cow::Borrowed(&self.text[start..self.at]))
            }
            b'-' | b'0'..=b'9' => {
                self.number()?;
                Kind::Scalar(Cow::Borrowed(&self.text[start..self.at]))
            }
            b't' => self.word("true")?,
            b'f' => self.word("false")?,
            b'n' => self.word("null")?,
            _ => return Err(self.bad()),
        };
        Ok(Node {
            kind,
            span: start..self.at,
        })
    }

    fn enter(&mut self, depth: usize) -> Result<(), Fault> {
        if depth >= MAX_DEPTH {
            return Err(Fault::Depth(self.at + 1));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, w: &'static str) -> Result<Kind<'t>, Fault> {
        for (i, b) in w.bytes().enumerate() {
            match self.text.as_bytes().get(self.at + i) {
                Some(x) if *x == b => {}
                Some(_) => return Err(Fault::Syntax(self.at + i)),
                None => return Err(Fault::End),
            }
        }
        self.at += w.len();
        Ok(Kind::Scalar(Cow::Borrowed(w)))
    }

    fn digits(&mut self) -> usize {
        let from = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - from
    }

    fn number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let zero = self.peek() == Some(b'0');
        match self.digits() {
            0 => return Err(Fault::Syntax(self.text.len().min(self.at + 1))),
            n if zero && n > 1 => {
                self.at -= n - 1;
                return Err(self.bad());
            }
            _ => {}
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits();
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(Fault::Syntax(self.text.len().min(self.at + 1)));
            }
        }
        Ok(())
    }

    /// A string; what it means is found out where it matters.
    fn string(&mut self) -> Result<&'t str, Fault> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek().ok_or(Fault::End)? {
                b'"' => {
                    self.at += 1;
                    return Ok(&self.text[start..self.at - 1]);
                }
                b'\\' => {
                    self.at += 1;
                    match self.peek().ok_or(Fault::End)? {
                        b'u' => {
                            for i in 1..=4 {
                                match self.text.as_bytes().get(self.at + i) {
                                    None => return Err(Fault::End),
                                    Some(b) if b.is_ascii_hexdigit() => {}
                                    Some(_) => return Err(Fault::Syntax(self.at + i)),
                                }
                            }
                            self.surrogates()?;
                            self.at += 5;
                        }
                        _ => self.at += self.char_len(),
                    }
                }
                b if b < 0x20 => return Err(Fault::Character(self.at + 1)),
                _ => self.at += 1,
            }
        }
    }

    /// At the `u` of four digits: half of a character stands before the other half only. Goes on to the other one's `u`.
    fn surrogates(&mut self) -> Result<(), Fault> {
        let unit = |at: usize| {
            let digits = self.text.get(at + 1..at + 5)?;
            u16::from_str_radix(digits, 16).ok()
        };
        match unit(self.at) {
            Some(0xdc00..=0xdfff) => return Err(Fault::Character(self.at + 5)),
            Some(0xd800..=0xdbff) => {}
            _ => return Ok(()),
        }
        if self.text.get(self.at + 5..self.at + 7) != Some("\\u") {
            return Err(Fault::Syntax(self.at + 5));
        }
        match unit(self.at + 6) {
            Some(0xdc00..=0xdfff) => {
                self.at += 6;
                Ok(())
            }
            _ => Err(Fault::Character(self.at + 11)),
        }
    }

    fn char_len(&self) -> usize {
        self.text[self.at..]
            .chars()
            .next()
            .map_or(1, char::len_utf8)
    }

    fn array(&mut self, depth: usize) -> Result<Kind<'t>, Fault> {
        let mut list = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Kind::Array(list));
        }
        loop {
            self.space();
            list.push(self.value(depth)?);
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Kind::Array(list));
                }
                _ => return Err(self.bad()),
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Kind<'t>, Fault> {
        let mut list = Vec::new();
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Kind::Object(list));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return Err(self.bad());
            }
            let key = self.string()?;
            self.space();
            if self.peek() != Some(b':') {
                return Err(self.bad());
            }
            self.at += 1;
            self.space();
            list.push((Cow::Borrowed(key), self.value(depth)?));
            self.space();
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    return Ok(Kind::Object(list));
                }
                _ => return Err(self.bad()),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_kept() {
        let n = Node::parse(r#" {"a" :[1.50, "x\u0041" ],"b":{}} "#).unwrap();
        let mut s = String::new();
        n.write(true, &mut s);
        assert_eq!(s, r#"{"a": [1.50, "x\u0041"], "b": {}}"#);
        s.clear();
        n.write(false, &mut s);
        assert_eq!(s, r#"{"a":[1.50,"x\u0041"],"b":{}}"#);
        assert_eq!(n.depth(), 3);
    }

    #[test]
    fn faults_have_places() {
        assert_eq!(Node::parse(""), Err(Fault::End));
        assert_eq!(Node::parse("{bad"), Err(Fault::Syntax(2)));
        assert_eq!(Node::parse("[1,]"), Err(Fault::Syntax(4)));
        assert_eq!(Node::parse("[01]"), Err(Fault::Syntax(3)));
        assert_eq!(Node::parse("\"a"), Err(Fault::End));
        assert_eq!(Node::parse("\"\u{1}\""), Err(Fault::Character(2)));
        assert!(matches!(
            Node::parse(&"[".repeat(99)),
            Err(Fault::Depth(32))
        ));
    }

    #[test]
    fn numbers_are_normalized() {
        for (from, to) in [
            ("1", "1.0E0"),
            ("100", "1.0E2"),
            ("1.50", "1.5E0"),
            ("1e3", "1.0E3"),
            ("0.001", "1.0E-3"),
            ("-0", "0.0E0"),
            ("-12.5", "-1.25E1"),
        ] {
            assert_eq!(normal_number(from), to);
        }
    }

    #[test]
    fn escapes() {
        assert_eq!(string_value(r#""a\n\u0041\/""#), "a\nA/");
        assert_eq!(unescape(r"\ud83d\ude00"), "\u{1f600}");
        let mut s = String::new();
        escape("a\"\\\n\u{1}", &mut s);
        assert_eq!(s, r#"a\"\\\n\u0001"#);
    }
}
