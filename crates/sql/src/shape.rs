//! The shape of a statement: its text with a mark in the place of each literal. Statements of one shape differ in their
//! literals alone, so one plan can serve them all if the literals stand where only their type matters to the plan.
//! Such literals become slots ([`crate::expr::node::ExprKind::Slot`]): their type is known when the statement is planned, their
//! value comes with each execution.

use crate::ast::Stmt;
use crate::literal::number;
use narwal_syntax::ast::{
    Assignment, Expr as AstExpr, From, InsertSource, JoinOn, Limit, Select, SetValue,
};
use narwal_syntax::ast::{BinaryOp as Op, UnaryOp};
use narwal_syntax::scan::{end_of_quoted, is_word, string_literal};
use narwal_types::Value;
use std::ops::Range;

/// Statements with more literals, and longer ones, are not looked at.
const MAX_LITERALS: usize = 256;
const MAX_TEXT: usize = 16 << 10;
/// Stands for a literal in a shape's key; its class follows.
const MARK: u8 = 1;

/// A statement's shape and its literals.
#[derive(Debug, Default)]
pub struct Shape {
    key: Vec<u8>,
    literals: Vec<Literal>,
}

#[derive(Debug)]
struct Literal {
    /// Where it stands in the text.
    at: Range<usize>,
    class: Class,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// An unsigned integer of at most 18 digits.
    Int,
    /// An exact number: digits before and behind the point.
    Decimal(u8, u8),
    /// A string in quotes; whether it is ASCII.
    Text(bool),
}

/// True for the statements whose shapes are worth a look: SELECT, INSERT, UPDATE, DELETE and REPLACE.
pub fn has_shape(text: &str) -> bool {
    let b = text.as_bytes();
    b.len() > 12
        && b.len() <= MAX_TEXT
        && [&b"SELECT"[..], b"INSERT", b"UPDATE", b"DELETE", b"REPLACE"]
            .iter()
            .any(|w| b[..w.len()].eq_ignore_ascii_case(w) && b[w.len()].is_ascii_whitespace())
}

impl Shape {
    /// Reads a statement in a mode without ANSI_QUOTES and NO_BACKSLASH_ESCAPES. False if it has something that plans may
    /// depend on in other ways: comments, variables, parameters, literals of other kinds than plain numbers and strings.
    pub fn read(&mut self, text: &str) -> bool {
        self.key.clear();
        self.literals.clear();
        let b = text.as_bytes();
        let mut i = 0;
        // Copied up to here.
        let mut copied = 0;
        while let Some(&c) = b.get(i) {
            let start = i;
            let class = match c {
                b'0'..=b'9' => {
                    let Some((end, class)) = number_at(b, i) else {
                        return false;
                    };
                    i = end;
                    class
                }
                b'\'' | b'"' => {
                    let Some(end) = end_of_quoted(b, i) else {
                        return false;
                    };
                    // N'...', x'...' and _utf8'...'
                    if start > 0 && is_word(b[start - 1]) {
                        return false;
                    }
                    i = end;
                    Class::Text(b[start..end].is_ascii())
                }
                b'`' => {
                    let Some(n) = b[i + 1..].iter().position(|c| *c == b'`') else {
                        return false;
                    };
                    i += n + 2;
                    continue;
                }
                c if is_word(c) => {
                    while i < b.len() && is_word(b[i]) {
                        i += 1;
                    }
                    continue;
                }
                b'@' | b'?' | b'#' | b':' | b'{' | b'\\' | b';' | 0..=8 | 11 => return false,
                b'-' if b.get(i + 1) == Some(&b'-') => return false,
                b'/' if b.get(i + 1) == Some(&b'*') => return false,
                b'.' if b.get(i + 1).is_some_and(u8::is_ascii_digit) => return false,
                _ => {
                    i += 1;
                    continue;
                }
            };
            if self.literals.len() == MAX_LITERALS {
                return false;
            }
            self.key.extend_from_slice(&b[copied..start]);
            match class {
                Class::Int => self.key.extend([MARK, b'i']),
                Class::Decimal(whole, scale) => self.key.extend([MARK, b'd', whole, scale]),
                Class::Text(ascii) => self.key.extend([MARK, if ascii { b's' } else { b'u' }]),
            }
            copied = i;
            self.literals.push(Literal {
                at: start..i,
                class,
            });
        }
        self.key.extend_from_slice(&b[copied..]);
        true
    }

    /// Equal for two statements exactly if they have the same shape and literals of the same classes.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    /// Appends to the key the literals that are not slots, in their own words: `out` is equal for two statements exactly
    /// if they differ in the values of slots alone.
    pub fn key_with_fixed(&self, text: &str, slots: &[bool], out: &mut Vec<u8>) {
        out.clear();
        out.extend_from_slice(&self.key);
        for (l, slot) in self.literals.iter().zip(slots) {
            if !slot {
                out.push(MARK);
                out.extend_from_slice(&text.as_bytes()[l.at.clone()]);
            }
        }
    }

    /// The text with `?` in the place of the slots; of all literals if `slots` is `None`.
    pub fn with_placeholders(&self, text: &str, slots: Option<&[bool]>) -> String {
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for (n, l) in self.literals.iter().enumerate() {
            if slots.is_none_or(|s| s.get(n) == Some(&true)) {
                out.push_str(&text[copied..l.at.start]);
                out.push('?');
                copied = l.at.end;
            }
        }
        out.push_str(&text[copied..]);
        out
    }

    /// The values of the slots, in their order. False if one can't be read.
    pub fn values(&self, text: &str, slots: &[bool], out: &mut Vec<Value>) -> bool {
        out.clear();
        for (l, slot) in self.literals.iter().zip(slots) {
            if !slot {
                continue;
            }
            let t = &text[l.at.clone()];
            out.push(match l.class {
                Class::Int | Class::Decimal(..) => number(t),
                Class::Text(_) => {
                    let inner = &t[1..t.len() - 1];
                    let quote = t.as_bytes()[0];
                    if memchr::memchr2(quote, b'\\', inner.as_bytes()).is_some() {
                        match string_literal(t) {
                            Some(s) => Value::str(s.as_str()),
                            None => return false,
                        }
                    } else {
                        Value::str(inner)
                    }
                }
            });
        }
        true
    }

    /// Which literals can be slots, of a statement that was parsed from [`Self::with_placeholders`] of them all: those in
    /// comparisons with columns in WHERE and ON, values of INSERT and SET, numbers of LIMIT.
    pub fn slots(&self, stmt: &Stmt) -> Vec<bool> {
        let mut s = Slots {
            literals: &self.literals,
            found: vec![false; self.literals.len()],
        };
        match stmt {
            Stmt::Select(q) => s.select(q),
            Stmt::Insert(i) => {
                match &i.source {
                    InsertSource::Values(rows) => rows.iter().flatten().for_each(|v| s.set(v)),
                    InsertSource::Literals(_) => {}
                    InsertSource::Select(q) => s.select(q),
                }
                s.assignments(&i.on_duplicate);
            }
            Stmt::Update(u) => {
                s.assignments(&u.assignments);
                s.condition(u.where_.as_ref());
                s.count(u.limit.as_ref());
            }
            Stmt::Delete(d) => {
                s.condition(d.where_.as_ref());
                s.count(d.limit.as_ref());
            }
            _ => {}
        }
        s.found
    }
}

/// The end of the number at `i`; `None` if it is none that has a shape.
fn number_at(b: &[u8], mut i: usize) -> Option<(usize, Class)> {
    let digits = |i: usize| b[i..].iter().take_while(|c| c.is_ascii_digit()).count();
    let whole = digits(i);
    i += whole;
    let class = if b.get(i) == Some(&b'.') {
        let scale = digits(i + 1);
        i += 1 + scale;
        if scale == 0 || whole + scale > 30 {
            return None;
        }
        Class::Decimal(whole as u8, scale as u8)
    } else {
        if whole > 18 {
            return None;
        }
        Class::Int
    };
    // Hexadecimal numbers, exponents, names that begin with digits.
    match b.get(i) {
        Some(c) if is_word(*c) || *c == b'.' => None,
        _ => Some((i, class)),
    }
}

struct Slots<'a> {
    literals: &'a [Literal],
    found: Vec<bool>,
}

impl Slots<'_> {
    /// The literal's class, if this is the place of one.
    fn literal(&self, e: &AstExpr) -> Option<(usize, Class)> {
        let AstExpr::Param(n) = *e else { return None };
        Some((n, self.literals.get(n)?.class))
    }

    /// Takes a literal, or a number with a minus before it.
    fn take(&mut self, e: &AstExpr) {
        if let Some((n, _)) = self.literal(e) {
            self.found[n] = true;
        } else if let AstExpr::Unary {
            op: UnaryOp::Minus,
            expr,
        } = e
            && let Some((n, Class::Int | Class::Decimal(..))) = self.literal(expr)
        {
            self.found[n] = true;
        }
    }

    fn select(&mut self, q: &Select) {
        if let Some(f) = &q.from {
            self.from(f);
        }
        self.condition(q.where_.as_ref());
        if let Some(Limit { offset, count }) = &q.limit {
            self.count(offset.as_ref());
            self.count(Some(count));
        }
    }

    fn from(&mut self, f: &From) {
        if let From::Join(j) = f {
            self.from(&j.left);
            self.from(&j.right);
            if let JoinOn::On(e) = &j.on {
                self.condition(Some(e));
            }
        }
    }

    fn count(&mut self, e: Option<&AstExpr>) {
        if let Some((n, Class::Int)) = e.and_then(|e| self.literal(e)) {
            self.found[n] = true;
        }
    }

    fn assignments(&mut self, list: &[Assignment]) {
        list.iter().for_each(|a| self.set(&a.value));
    }

    fn set(&mut self, v: &SetValue) {
        if let SetValue::Expr(e) = v {
            self.value(e);
        }
    }

    /// A literal alone, or numbers in sums, differences and products.
    fn value(&mut self, e: &AstExpr) {
        match e {
            AstExpr::Binary {
                left,
                op: Op::Add | Op::Sub | Op::Mul,
                right,
            } => {
                for e in [left, right] {
                    match self.literal(e) {
                        Some((_, Class::Text(_))) => {}
                        _ => self.value(e),
                    }
                }
            }
            AstExpr::Nested(e) => self.value(e),
            e => self.take(e),
        }
    }

    fn condition(&mut self, e: Option<&AstExpr>) {
        match e {
            Some(AstExpr::Nested(e)) => self.condition(Some(e)),
            Some(AstExpr::Binary {
                left,
                op: Op::And | Op::Or,
                right,
            }) => {
                self.condition(Some(left));
                self.condition(Some(right));
            }
            Some(AstExpr::Binary {
                left,
                op: Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge,
                right,
            }) => {
                if is_column(left) {
                    self.take(right);
                } else if is_column(right) {
                    self.take(left);
                }
            }
            Some(AstExpr::Between {
                expr, low, high, ..
            }) if is_column(expr) => {
                self.take(low);
                self.take(high);
            }
            Some(AstExpr::InList { expr, list, .. }) if is_column(expr) => {
                list.iter().for_each(|e| self.take(e));
            }
            _ => {}
        }
    }
}

fn is_column(e: &AstExpr) -> bool {
    matches!(e, AstExpr::Column(_) | AstExpr::Qualified(_))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse_statement;
    use narwal_syntax::ParseOptions;

    fn slots_of(text: &str) -> (String, Vec<Value>) {
        let mut s = Shape::default();
        assert!(has_shape(text) && s.read(text), "{text}");
        let stmt =
            parse_statement(&s.with_placeholders(text, None), &ParseOptions::default()).unwrap();
        let slots = s.slots(&stmt);
        let mut values = Vec::new();
        assert!(s.values(text, &slots, &mut values));
        (s.with_placeholders(text, Some(&slots)), values)
    }

    #[test]
    fn literals_beside_columns_are_slots() {
        let (t, v) = slots_of(
            "SELECT a, 1 FROM t WHERE id = 5 AND (n > 1.50 OR c IN ('x', 'it''s')) LIMIT 7",
        );
        assert_eq!(
            t,
            "SELECT a, 1 FROM t WHERE id = ? AND (n > ? OR c IN (?, ?)) LIMIT ?"
        );
        assert_eq!(
            v.iter().map(Value::to_text).collect::<Vec<_>>(),
            ["5", "1.50", "x", "it's", "7"]
        );
    }

    #[test]
    fn values_of_changes_are_slots() {
        assert_eq!(
            slots_of("INSERT INTO t VALUES (1, -2, 'a\\n', NOW(), f(3)) ON DUPLICATE KEY UPDATE a = a + 1, b = 'x' * 2").0,
            "INSERT INTO t VALUES (?, -?, ?, NOW(), f(3)) ON DUPLICATE KEY UPDATE a = a + ?, b = 'x' * ?"
        );
        assert_eq!(
            slots_of("UPDATE t SET a = 1, b = (b - 2.5) * 3, c = LEFT(c, 4) WHERE id BETWEEN 1 AND -2 LIMIT 3").0,
            "UPDATE t SET a = ?, b = (b - ?) * ?, c = LEFT(c, 4) WHERE id BETWEEN ? AND -? LIMIT ?"
        );
    }

    #[test]
    fn other_places_stay() {
        for t in [
            "SELECT * FROM t WHERE a + 1 = 2 GROUP BY 1 HAVING COUNT(*) > 3 ORDER BY 2",
            "SELECT * FROM t WHERE f(a, 1) AND a LIKE 'x%' AND 1",
            "SELECT 'a', 5 FROM t WHERE a IN (SELECT 1 FROM t WHERE b = 2)",
        ] {
            assert_eq!(slots_of(t).0, t);
        }
    }

    #[test]
    fn keys_tell_classes_apart() {
        let key = |t: &str| {
            let mut s = Shape::default();
            s.read(t).then(|| s.key().to_vec())
        };
        assert_eq!(
            key("SELECT a FROM t WHERE b=1"),
            key("SELECT a FROM t WHERE b=234")
        );
        let all = [
            "SELECT a FROM t WHERE b=1",
            "SELECT a FROM t WHERE b=1.0",
            "SELECT a FROM t WHERE b=1.00",
            "SELECT a FROM t WHERE b='1'",
            "SELECT a FROM t WHERE b='\u{e9}'",
            "SELECT a FROM t WHERE  b=1",
            "SELECT a FROM t1 WHERE b=1",
            "SELECT a FROM t WHERE b=1\u{1}i",
        ];
        for (i, a) in all.iter().enumerate() {
            for b in &all[..i] {
                assert!(key(a).is_none() || key(a) != key(b), "{a} {b}");
            }
        }
    }

    #[test]
    fn what_has_no_shape() {
        for t in [
            "SELECT a FROM t WHERE b=0x10",
            "SELECT a FROM t WHERE b=1e3",
            "SELECT a FROM t WHERE b=.5",
            "SELECT a FROM t WHERE b=x'10'",
            "SELECT a FROM t WHERE b=_utf8'1'",
            "SELECT a FROM t WHERE b=@x",
            "SELECT a FROM t WHERE b=?",
            "SELECT a FROM t -- x",
            "SELECT a /*! b */ FROM t",
            "SELECT a FROM t WHERE b='x",
            "SELECT a FROM t WHERE b=12345678901234567890",
        ] {
            assert!(!Shape::default().read(t), "{t}");
        }
    }
}
