//! The older string functions, by [`Func`].

use crate::expr::call::Call;
use crate::expr::compare::compare;
use crate::expr::eval::{Val, Warn, with_text};
use crate::expr::func::Func;
use narwal_types::convert::{to_f64, to_integer};
use narwal_types::work::{self, Work};
use narwal_types::{Fixed, FixedKind, SqlError, SqlResult, Value, ValueRef};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write as _;

/// A character in upper or lower case; one whose other case is several characters stays.
fn in_case(c: char, upper: bool) -> char {
    fn lone(c: char, mut it: impl Iterator<Item = char>) -> char {
        match (it.next(), it.next()) {
            (Some(other), None) => other,
            _ => c,
        }
    }
    match upper {
        _ if c.is_ascii() && upper => c.to_ascii_uppercase(),
        _ if c.is_ascii() => c.to_ascii_lowercase(),
        true => lone(c, c.to_uppercase()),
        false => lone(c, c.to_lowercase()),
    }
}

/// Bytes of a value that is a text; other values are short.
fn text_length(v: ValueRef<'_>) -> u64 {
    match v {
        ValueRef::Str(s) | ValueRef::Bytes(s) => s.len() as u64,
        _ => 0,
    }
}

/// A digest; of part of the bytes if the statement is to end.
fn digest<D: sha2::Digest>(bytes: &[u8]) -> Vec<u8> {
    let mut d = D::new();
    work::in_pieces(bytes, |piece| d.update(piece));
    d.finalize().to_vec()
}

impl<'a> Call<'a, '_> {
    /// Bytes of the texts among the arguments from one on.
    fn text_bytes(&self, from: usize) -> u64 {
        let texts = self.args[from.min(self.args.len())..].iter();
        texts.map(|a| text_length(a.as_ref())).sum()
    }

    pub(in crate::expr) fn strings(&self) -> SqlResult<Val<'a>> {
        use Func::*;
        let env = self.ctx.env;
        let hex_text = |b: &[u8], upper: bool| {
            let mut s = String::with_capacity(b.len() * 2);
            for x in b {
                let _ = if upper {
                    write!(s, "{x:02X}")
                } else {
                    write!(s, "{x:02x}")
                };
            }
            s
        };
        match self.func {
            Concat => {
                if !self.may_be(self.text_bytes(0))? {
                    return Ok(Val::NULL);
                }
                let mut out = Vec::new();
                for a in &self.args {
                    a.as_ref().write_text(&mut out);
                }
                self.string(out)
            }
            ConcatWs => {
                if self.v(0).is_null() {
                    return Ok(Val::NULL);
                }
                let between = self.args[1..].iter().filter(|a| !a.is_null()).count();
                let between = (between as u64).saturating_sub(1) * text_length(self.v(0));
                if !self.may_be(self.text_bytes(1) + between)? {
                    return Ok(Val::NULL);
                }
                let mut out = Vec::new();
                let mut first = true;
                for a in self.args[1..].iter().filter(|a| !a.is_null()) {
                    if !first {
                        self.v(0).write_text(&mut out);
                    }
                    first = false;
                    a.as_ref().write_text(&mut out);
                }
                self.string(out)
            }
            Length => Ok(Val::int(self.byte_length(0))),
            BitLength => Ok(Val::int(self.byte_length(0) * 8)),
            CharLength => Ok(Val::int(self.length(0) as i64)),
            Ascii => Ok(Val::int(
                with_text(self.v(0), |s| s.first().copied()).unwrap_or(0) as i64,
            )),
            Ord => {
                let text = self.bytes(0);
                let first = self.head(0, &text, 1).iter();
                Ok(Val::int(first.fold(0i64, |a, b| a << 8 | *b as i64)))
            }
            Char => {
                let mut out = Vec::new();
                for i in (0..self.args.len()).filter(|i| !self.v(*i).is_null()) {
                    let n = to_integer(self.v(i), &mut Warn(env)) as u32;
                    let b = n.to_be_bytes();
                    let skip = (n.leading_zeros() as usize / 8).min(3);
                    out.extend_from_slice(&b[skip..]);
                }
                self.string(out)
            }
            Elt => {
                let n = self.int(0);
                if self.v(0).is_null() || n < 1 || n as usize >= self.args.len() {
                    return Ok(Val::NULL);
                }
                Ok(match self.v(n as usize) {
                    ValueRef::Null => Val::NULL,
                    ValueRef::Str(_) | ValueRef::Bytes(_) => self.args[n as usize].clone(),
                    v => Val::text(v.to_text()),
                })
            }
            Field => {
                if self.v(0).is_null() {
                    return Ok(Val::int(0));
                }
                // Texts are compared by one collation, numbers each with the first.
                let shared = self.exprs().iter().all(|a| a.ty.is_string());
                let collation = shared.then(|| self.shared_collation());
                let at = (1..self.args.len()).find(|i| {
                    let order = match collation {
                        Some(c) => compare(self.v(0), self.v(*i), c, self.ctx.env),
                        None => self.compare(0, *i),
                    };
                    order == Some(Ordering::Equal)
                });
                Ok(Val::int(at.unwrap_or(0) as i64))
            }
            FindInSet => {
                let (needle, set) = (self.text(0), self.text(1));
                if set.is_empty() || set.len() < needle.len() {
                    return Ok(Val::int(0));
                }
                let collation = self.shared_collation();
                // Spaces at the end count.
                let spaces = |s: &str| s.len() - s.trim_end_matches(' ').len();
                if let ValueRef::Member(m) = self.v(1)
                    && m.set
                    && self.exprs()[0].is_const()
                {
                    // A column's value counts as its members are numbered.
                    let at = m.of.list().iter().position(|p| {
                        collation.equal(p.as_bytes(), needle.trim_end_matches(' ').as_bytes())
                    });
                    let at = at.filter(|p| m.number >> p & 1 == 1);
                    return Ok(Val::int(at.map_or(0, |p| p as i64 + 1)));
                }
                let at = set.split(',').position(|p| {
                    spaces(p) == spaces(&needle) && collation.equal(p.as_bytes(), needle.as_bytes())
                });
                Ok(Val::int(at.map_or(0, |p| p as i64 + 1)))
            }
            Hex if !self.may_be(2 * self.text_bytes(0))? => Ok(Val::NULL),
            Hex => Ok(Val::text(match self.v(0) {
                ValueRef::Bytes(s) => hex_text(s, true),
                ValueRef::Fixed(f) => hex_text(f.bytes(), true),
                ValueRef::Str(s) => hex_text(&self.charset(0).encode(s), true),
                ValueRef::Date(_)
                | ValueRef::Time(_)
                | ValueRef::DateTime(_)
                | ValueRef::Member(_) => hex_text(self.text(0).as_bytes(), true),
                // Exact numbers too are read as doubles.
                v @ (ValueRef::Double(_) | ValueRef::Decimal(_)) => {
                    let x = to_f64(v, &mut Warn(env)).round() as i128;
                    match x > i64::MIN.into() && x < u64::MAX.into() {
                        true => format!("{:X}", x as u64),
                        false => format!("{:X}", u64::MAX),
                    }
                }
                v => format!("{:X}", to_integer(v, &mut Warn(env)) as u64),
            })),
            Bin => Ok(Val::text(format!("{:b}", self.whole_bits()))),
            Oct => Ok(Val::text(format!("{:o}", self.whole_bits()))),
            Conv => {
                let (from, to) = (self.int(1), self.int(2));
                if !(2..=36).contains(&from.abs()) || !(2..=36).contains(&to.abs()) {
                    return Ok(Val::NULL);
                }
                let t = self.text(0);
                if t.is_empty() {
                    return Ok(Val::NULL);
                }
                let t = t.trim();
                let (neg, digits) = match t.strip_prefix('-') {
                    Some(r) => (true, r),
                    None => (false, t),
                };
                let mut n = 0u64;
                for c in digits.chars() {
                    let Some(d) = c.to_digit(from.unsigned_abs() as u32) else {
                        break;
                    };
                    n = n
                        .saturating_mul(from.unsigned_abs())
                        .saturating_add(d as u64);
                }
                if neg {
                    n = n.wrapping_neg();
                }
                let minus = to < 0 && (n as i64) < 0;
                let mut v = if minus { (n as i64).unsigned_abs() } else { n };
                let base = to.unsigned_abs();
                let mut out = Vec::new();
                loop {
                    let d = (v % base) as u32;
                    out.push(char::from_digit(d, 36).unwrap_or('0').to_ascii_uppercase());
                    v /= base;
                    if v == 0 {
                        break;
                    }
                }
                if minus {
                    out.push('-');
                }
                Ok(Val::text(out.iter().rev().collect()))
            }
            Unhex => {
                let t = self.text(0);
                let t = if t.len() % 2 == 1 { format!("0{t}") } else { t };
                let b: Option<Vec<u8>> = t
                    .as_bytes()
                    .chunks(2)
                    .map(|c| {
                        std::str::from_utf8(c)
                            .ok()
                            .filter(|c| c.bytes().all(|b| b.is_ascii_hexdigit()))
                            .and_then(|c| u8::from_str_radix(c, 16).ok())
                    })
                    .collect();
                Ok(b.map_or(Val::NULL, |b| Val::Owned(Value::bytes(b))))
            }
            Insert => {
                let (s, length) = (self.bytes(0), self.length(0));
                let (pos, len) = (self.int(1), self.int(2));
                if pos < 1 || pos as usize > length {
                    return Ok(self.args[0].clone());
                }
                let start = pos as usize - 1;
                let end = match len < 0 {
                    true => length,
                    false => start.saturating_add(len as usize).min(length),
                };
                let head = self.head(0, &s, start);
                let tail = &s[self.head(0, &s, end).len()..];
                let bytes = (head.len() + tail.len()) as u64 + text_length(self.v(3));
                if !self.may_be(bytes)? {
                    return Ok(Val::NULL);
                }
                let mut out = head.to_vec();
                self.v(3).write_text(&mut out);
                out.extend_from_slice(tail);
                self.string(out)
            }
            Instr => self.locate(1, 0, 0),
            Locate => {
                let from = if self.args.len() > 2 { self.int(2) } else { 1 };
                if from < 1 {
                    return Ok(Val::int(0));
                }
                self.locate(0, 1, from as usize - 1)
            }
            Lcase | Ucase => {
                if self.is_bytes(0) {
                    return Ok(self.args[0].clone());
                }
                let t = self.text(0);
                let latin1 = self.charset(0).name() == "latin1";
                // One character each, as general_ci's case tables have it.
                let mut work = Work::default();
                let out: String = t
                    .chars()
                    .take_while(|_| !work.stops(1))
                    .map(|c| match in_case(c, self.func == Ucase) {
                        // Latin1 does not have it.
                        '\u{178}' if latin1 => c,
                        other => other,
                    })
                    .collect();
                self.string(out.into_bytes())
            }
            Left => self.slice(0, 0, self.int(1).max(0) as usize),
            Right => {
                let n = self.length(0);
                let k = (self.int(1).max(0) as usize).min(n);
                self.slice(0, n - k, n)
            }
            Substring => {
                let n = self.length(0) as i64;
                let pos = self.int(1);
                let start = match pos {
                    0 => return self.string(Vec::new()),
                    p if p > 0 => p - 1,
                    p if p < -n => return self.string(Vec::new()),
                    p => n + p,
                };
                let len = if self.args.len() > 2 {
                    self.int(2).max(0)
                } else {
                    n
                };
                self.slice(0, start as usize, start.saturating_add(len) as usize)
            }
            SubstringIndex => {
                let (s, d, n) = (self.text(0), self.text(1), self.int(2));
                if d.is_empty() || n == 0 {
                    return self.string(Vec::new());
                }
                let at: Vec<usize> = s.match_indices(&d).map(|(i, _)| i).collect();
                let out = if n > 0 {
                    match at.get(n as usize - 1) {
                        Some(i) => &s[..*i],
                        None => &s[..],
                    }
                } else {
                    let k = n.unsigned_abs() as usize;
                    if k > at.len() {
                        &s[..]
                    } else {
                        &s[at[at.len() - k] + d.len()..]
                    }
                };
                self.string(out.as_bytes().to_vec())
            }
            Lpad | Rpad => {
                let want = self.int(1);
                if want < 0 {
                    return Ok(Val::NULL);
                }
                // As if each character took as many bytes as one may.
                let each = self.expr.ty.ty.collation.charset().max_width() as u64;
                if !self.may_be((want as u64).saturating_mul(each))? {
                    return Ok(Val::NULL);
                }
                let (s, have, want) = (self.bytes(0), self.length(0), want as usize);
                if have >= want {
                    return self.string(self.head(0, &s, want).to_vec());
                }
                let (pad, each) = match self.args.len() > 2 {
                    true => (self.bytes(2), self.length(2)),
                    false => (Cow::Borrowed(&b" "[..]), 1),
                };
                if pad.is_empty() {
                    return Ok(Val::NULL);
                }
                let missing = want - have;
                let mut fill = pad.repeat(missing / each);
                fill.extend_from_slice(self.head(2, &pad, missing % each));
                self.string(match self.func {
                    Lpad => [&fill, &*s].concat(),
                    _ => [&*s, &fill].concat(),
                })
            }
            Ltrim | Rtrim | Trim | TrimLeading | TrimTrailing => {
                let mut s = Vec::new();
                self.v(0).write_text(&mut s);
                let mut what = Vec::new();
                if self.args.len() > 1 {
                    self.v(1).write_text(&mut what);
                } else {
                    what.push(b' ');
                }
                let mut t: &[u8] = &s;
                if !what.is_empty() {
                    if matches!(self.func, Ltrim | Trim | TrimLeading) {
                        while let Some(r) = t.strip_prefix(&what[..]) {
                            t = r;
                        }
                    }
                    if matches!(self.func, Rtrim | Trim | TrimTrailing) {
                        while let Some(r) = t.strip_suffix(&what[..]) {
                            t = r;
                        }
                    }
                }
                self.string(t.to_vec())
            }
            Md5 => Ok(Val::text(hex_text(
                &with_text(self.v(0), crate::expr::md5::digest),
                false,
            ))),
            Sha1 => Ok(Val::text(hex_text(
                &with_text(self.v(0), digest::<sha1::Sha1>),
                false,
            ))),
            Sha2 => {
                let bits = self.int(1);
                Ok(with_text(self.v(0), |s| match bits {
                    224 => Val::text(hex_text(&digest::<sha2::Sha224>(s), false)),
                    0 | 256 => Val::text(hex_text(&digest::<sha2::Sha256>(s), false)),
                    384 => Val::text(hex_text(&digest::<sha2::Sha384>(s), false)),
                    512 => Val::text(hex_text(&digest::<sha2::Sha512>(s), false)),
                    _ => {
                        env.warn(
                            1583,
                            "Incorrect parameters in the call to native function 'sha2'",
                        );
                        Val::NULL
                    }
                }))
            }
            Quote => {
                if self.v(0).is_null() {
                    return Ok(Val::text("NULL".into()));
                }
                if !self.may_be(self.text_bytes(0) + 2)? {
                    return Ok(Val::NULL);
                }
                let mut out = String::from("'");
                for c in self.text(0).chars() {
                    match c {
                        '\'' => out.push_str("\\'"),
                        '\\' => out.push_str("\\\\"),
                        '\0' => out.push_str("\\0"),
                        '\u{1a}' => out.push_str("\\Z"),
                        c => out.push(c),
                    }
                }
                out.push('\'');
                self.string(out.into_bytes())
            }
            Repeat | Space => {
                let (mut s, n) = if self.func == Space {
                    (b" ".to_vec(), self.int(0))
                } else {
                    let mut s = Vec::new();
                    self.v(0).write_text(&mut s);
                    (s, self.int(1))
                };
                let n = n.max(0) as u64;
                if !self.may_be(n.saturating_mul(s.len() as u64))? {
                    return Ok(Val::NULL);
                }
                s = s.repeat(n as usize);
                self.string(s)
            }
            Replace => {
                if self.v(0).is_null() || self.v(1).is_null() {
                    return Ok(Val::NULL);
                }
                let (mut s, mut from, mut to) = (Vec::new(), Vec::new(), Vec::new());
                self.v(0).write_text(&mut s);
                self.v(1).write_text(&mut from);
                self.v(2).write_text(&mut to);
                if from.is_empty() {
                    return self.string(s);
                }
                if self.v(2).is_null() {
                    // Where bytes are characters a text that has nothing to replace stays, whatever would come instead.
                    let c = self.expr.ty.ty.collation;
                    let wide = !c.is_bin() && matches!(c.charset().name(), "utf8mb3" | "utf8mb4");
                    if wide || memchr::memmem::find(&s, &from).is_some() {
                        return Ok(Val::NULL);
                    }
                    return self.string(s);
                }
                let mut out = Vec::with_capacity(s.len());
                let mut done = 0;
                let mut work = Work::default();
                for at in memchr::memmem::find_iter(&s, &from) {
                    out.extend_from_slice(&s[done..at]);
                    out.extend_from_slice(&to);
                    done = at + from.len();
                    if out.len() as u64 > env.max_allowed_packet {
                        self.too_long();
                        return Ok(Val::NULL);
                    }
                    if work.stops(1) {
                        break;
                    }
                }
                out.extend_from_slice(&s[done..]);
                if out.len() as u64 > env.max_allowed_packet {
                    self.too_long();
                    return Ok(Val::NULL);
                }
                self.string(out)
            }
            Reverse => {
                let mut s = self.bytes(0).into_owned();
                if !self.is_bytes(0) && !s.is_ascii() {
                    // Each character's bytes turned round once, and once more with the whole.
                    for c in s.chunk_by_mut(|_, b| *b & 0xc0 == 0x80) {
                        c.reverse();
                    }
                }
                s.reverse();
                self.string(s)
            }
            Strcmp => Ok(Val::int(
                match with_text(self.v(0), |a| {
                    with_text(self.v(1), |b| self.shared_collation().compare(a, b))
                }) {
                    Ordering::Less => -1,
                    Ordering::Equal => 0,
                    Ordering::Greater => 1,
                },
            )),
            Uuid => {
                let (a, b) = (self.random(), self.random());
                let a = a & !0xf000 | 0x4000;
                let b = b & (u64::MAX >> 2) | 1 << 63;
                let bytes = (u128::from(a) << 64 | u128::from(b)).to_be_bytes();
                Ok(Fixed::from_bytes(FixedKind::Uuid, &bytes)
                    .map_or(Val::NULL, |f| Val::Ref(ValueRef::Fixed(f))))
            }
            _ => Err(SqlError::unsupported(self.func.name())),
        }
    }
}
