//! Storing a value into a column: coercion, range, strict mode. And the general conversions that expressions use.
//!
//! Messages, codes and the line between error, warning and note are MariaDB 10.11's.

use crate::charset;
use crate::collation::{char_count, char_prefix};
use crate::errors::{self, ErrorKind, codes};
use crate::narrow_double::{DOUBLE_DIGITS, FLOAT_DIGITS, narrow};
use crate::temporal::{SECOND, TIME_MAX};
use crate::temporal_parse::{
    DateRules, FIRST_DATED_TIME, datetime_from_number, parse_datetime, parse_time,
    parse_time_of_any_day, time_from_number,
};
use crate::{
    Bits, Charset, ColumnType, Date, DateTime, Decimal, Fixed, FixedKind, Member, Members,
    SqlError, SqlResult, Time, TypeKind, Value, ValueRef, Zone,
};
use std::borrow::Cow;

/// A condition for the diagnostics area that is not an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SqlWarning {
    /// Note rather than warning.
    pub note: bool,
    /// Error number.
    pub code: u16,
    /// Text.
    pub message: Box<str>,
}

/// Where warnings go.
pub trait Warnings {
    /// Takes one.
    fn push(&mut self, w: SqlWarning);
}

impl Warnings for Vec<SqlWarning> {
    fn push(&mut self, w: SqlWarning) {
        Vec::push(self, w);
    }
}

/// Drops warnings.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWarnings;

impl Warnings for NoWarnings {
    fn push(&mut self, _w: SqlWarning) {}
}

/// Adapts a function.
pub struct WarnWith<F: FnMut(SqlWarning)>(pub F);

impl<F: FnMut(SqlWarning)> Warnings for WarnWith<F> {
    fn push(&mut self, w: SqlWarning) {
        self.0(w);
    }
}

fn warning(code: u16, message: String) -> SqlWarning {
    SqlWarning {
        note: false,
        code,
        message: message.into(),
    }
}

/// The column that a value is stored into.
#[derive(Debug, Clone, Copy)]
pub struct StoreTarget<'a> {
    /// Its type.
    pub ty: &'a ColumnType,
    /// NULL is allowed.
    pub nullable: bool,
    /// Database, for messages.
    pub db: &'a str,
    /// Table, for messages.
    pub table: &'a str,
    /// Column name, for messages.
    pub column: &'a str,
}

/// How to treat values that don't fit.
#[derive(Debug, Clone, Copy, Default)]
pub struct StoreMode {
    /// Strict mode and not IGNORE: what changes the value is an error; else a warning, and the nearest value is stored.
    pub strict: bool,
    /// NULL for a NOT NULL column becomes 0 or '' with a warning (IGNORE; several rows outside of strict mode); else error 1048.
    pub null_to_default: bool,
    /// Which dates are valid.
    pub dates: DateRules,
    /// Session time zone: TIMESTAMP is stored in UTC.
    pub time_zone: Zone,
}

/// True if [`store`] would return the value unchanged: then it may be written to a row as it is, without a copy.
/// (Trailing spaces of CHAR and the padding of BINARY are the row layout's business.)
#[inline]
pub fn fits(v: ValueRef<'_>, ty: &ColumnType, nullable: bool) -> bool {
    match (v, ty.kind) {
        (ValueRef::Null, _) => nullable,
        (ValueRef::Int(v), TypeKind::Int) if !ty.unsigned => i32::try_from(v).is_ok(),
        (ValueRef::Int(_), TypeKind::BigInt) if !ty.unsigned => true,
        (ValueRef::UInt(_), TypeKind::BigInt) if ty.unsigned => true,
        (ValueRef::Int(v), _) if ty.is_integer() && !ty.unsigned => ty
            .int_range()
            .is_some_and(|(lo, hi)| (lo..=hi).contains(&(v as i128))),
        (ValueRef::UInt(v), _) if ty.is_integer() && ty.unsigned => {
            ty.int_range().is_some_and(|(_, hi)| v as i128 <= hi)
        }
        (ValueRef::Double(v), TypeKind::Double) => {
            ty.form.digits.is_none()
                && v.is_finite()
                && !(v.is_sign_negative() && (ty.unsigned || v == 0.0))
        }
        (ValueRef::Str(s), TypeKind::Char(n) | TypeKind::VarChar(n)) => {
            (s.len() <= n as usize || char_count(s) <= n as usize) && in_charset(s, ty)
        }
        (ValueRef::Str(s), TypeKind::Text(b)) => {
            stored_len(s, ty) as u64 <= b.max_bytes() && in_charset(s, ty)
        }
        (ValueRef::Bytes(s), TypeKind::VarBinary(n)) => s.len() <= n as usize,
        (ValueRef::Bytes(s), TypeKind::Blob(b)) => s.len() as u64 <= b.max_bytes(),
        (ValueRef::Member(m), TypeKind::Enum(of) | TypeKind::Set(of)) => {
            m.of == of && m.set == matches!(ty.kind, TypeKind::Set(_))
        }
        (ValueRef::Bits(b), TypeKind::Bit(n)) => b.width == n,
        (ValueRef::Fixed(f), TypeKind::Fixed(k)) => f.kind == k,
        _ => false,
    }
}

/// Bytes of a text in the column's character set.
#[inline]
fn stored_len(s: &[u8], ty: &ColumnType) -> usize {
    let charset = ty.collation.charset();
    if charset.stores_utf8() {
        s.len()
    } else {
        charset.encoded_len(s)
    }
}

/// Bytes of the longest beginning of a text, in whole characters, that the column's character set has in so many bytes.
fn longest_stored(s: &[u8], ty: &ColumnType, max: usize) -> usize {
    let charset = ty.collation.charset();
    if charset.stores_utf8() {
        let mut n = s.len().min(max);
        while n < s.len() && s[n] & 0xc0 == 0x80 {
            n -= 1;
        }
        return n;
    }
    let (mut left, mut n) = (max, 0);
    for c in String::from_utf8_lossy(s).chars() {
        let each = charset.encoded_len(c.encode_utf8(&mut [0; 4]).as_bytes());
        if each > left {
            return n;
        }
        left -= each;
        n += c.len_utf8();
    }
    s.len()
}

/// What lies between the first byte of a character of four bytes and a byte that begins no character in UTF-8.
const MARK: u8 = 8;

/// A text of utf8mb3 with characters of four bytes, which are none of that set, as bytes that are no UTF-8: a column takes
/// each byte of such a character for a question mark, also where its own set has the character.
pub fn ill_formed_utf8mb3(text: &str) -> Vec<u8> {
    let mark = |b: u8| if b >= 0xf0 { b + MARK } else { b };
    text.bytes().map(mark).collect()
}

/// A text of one character set on its way into a column of another: what its private characters stand for. Codes that stand for
/// no character make it bytes that are no UTF-8, which such a column refuses or takes for question marks. `None` if it goes as it is.
pub fn passed_on(text: &str, from: Charset, to: Charset) -> Option<Value> {
    if from == to || to == Charset::Binary {
        return None;
    }
    match from.passed_on(text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(t) if to.stores_utf8() && from.has_unknown(&t) => {
            Some(Value::bytes(from.ill_formed(&t)))
        }
        Cow::Owned(t) => Some(Value::str(t)),
    }
}

/// The beginning of bytes without the marks of [`ill_formed_utf8mb3`], for a message.
fn as_sent(s: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = s.iter().take(12).copied().collect();
    for at in 0..out.len() {
        let behind = out.iter().skip(at + 1).take(3);
        let marked = (0xf0 + MARK..=0xf4 + MARK).contains(&out[at]);
        if marked && behind.filter(|b| **b & 0xc0 == 0x80).count() == 3 {
            out[at] -= MARK;
        }
    }
    out
}

/// The column's character set has all characters of the text.
#[inline]
fn in_charset(s: &[u8], ty: &ColumnType) -> bool {
    let charset = ty.collation.charset();
    charset == Charset::Utf8mb4 || charset.fitting(s) == s.len()
}

/// Converts a value to a column's domain. `row_no` counts from 1, for messages. DATETIME values for a TIMESTAMP column are in the
/// session's time zone, the result is in UTC.
pub fn store(
    v: ValueRef<'_>,
    target: &StoreTarget<'_>,
    row_no: u64,
    mode: &StoreMode,
    warnings: &mut dyn Warnings,
) -> SqlResult<Value> {
    if fits(v, target.ty, target.nullable) {
        return Ok(v.to_value());
    }
    Store {
        t: target,
        row_no,
        mode,
        warnings,
    }
    .store(v)
}

/// The value that NOT NULL columns get for NULL outside of strict mode: 0, '' or a zero date.
pub fn implicit_default(ty: &ColumnType) -> Value {
    match ty.kind {
        _ if ty.is_integer() && ty.unsigned => Value::UInt(0),
        TypeKind::Float => Value::Float(0.0),
        TypeKind::Double => Value::Double(0.0),
        TypeKind::Decimal(_, s) => Value::Decimal(Decimal::ZERO.round(s)),
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_) => Value::str(""),
        TypeKind::Binary(n) => Value::bytes(vec![0; n as usize]),
        TypeKind::VarBinary(_) | TypeKind::Blob(_) => Value::bytes(Vec::new()),
        TypeKind::Date => Value::Date(Date::default()),
        TypeKind::Time(fsp) => Value::Time(Time { micros: 0, fsp }),
        TypeKind::DateTime(fsp) | TypeKind::Timestamp(fsp) => Value::DateTime(DateTime {
            fsp,
            ..DateTime::default()
        }),
        // An ENUM's first member.
        TypeKind::Enum(of) => Value::Member(Member {
            number: 1,
            set: false,
            of,
        }),
        TypeKind::Set(of) => Value::Member(Member {
            number: 0,
            set: true,
            of,
        }),
        TypeKind::Bit(width) => Value::Bits(Bits { value: 0, width }),
        TypeKind::Fixed(k) => Value::Fixed(Fixed::zero(k)),
        _ => Value::Int(0),
    }
}

/// As [`implicit_default`], but an ENUM's is the empty text: what LOAD DATA stores where it finds nothing.
pub fn zero_value(ty: &ColumnType) -> Value {
    match implicit_default(ty) {
        Value::Member(m) => Value::Member(Member { number: 0, ..m }),
        v => v,
    }
}

/// A column's constant DEFAULT, as the catalog has it, in the form that [`store`] takes: the text; of a BIT column, whose text
/// is `b'101'`, its number.
pub fn default_input<'a>(text: &'a str, ty: &ColumnType) -> ValueRef<'a> {
    if let TypeKind::Bit(_) = ty.kind
        && let Some(bits) = text.strip_prefix("b'").and_then(|t| t.strip_suffix('\''))
        && let Ok(v) = u64::from_str_radix(bits, 2)
    {
        return ValueRef::UInt(v);
    }
    ValueRef::Str(text.as_bytes())
}

struct Store<'a> {
    t: &'a StoreTarget<'a>,
    row_no: u64,
    mode: &'a StoreMode,
    warnings: &'a mut dyn Warnings,
}

impl Store<'_> {
    fn error(&self, kind: ErrorKind<2>) -> SqlError {
        kind.with([&self.t.column, &self.row_no])
    }

    /// Texts that name the column in full.
    fn incorrect(&self, code: u16, kind: &str, text: &str) -> SqlError {
        let shown = errors::abridged(text, 128);
        if crate::face::is_mysql() {
            let (column, row) = (&self.t.column, &self.row_no);
            return crate::mysql_errors::incorrect_value(code, kind, &shown, column, row);
        }
        SqlError::new(
            code,
            b"22007",
            format!(
                "Incorrect {kind} value: '{shown}' for column `{}`.`{}`.`{}` at row {}",
                self.t.db, self.t.table, self.t.column, self.row_no
            ),
        )
    }

    fn out_of_range(&self) -> SqlError {
        self.error(errors::WARN_DATA_OUT_OF_RANGE)
    }

    fn truncated(&self) -> SqlError {
        self.error(errors::WARN_DATA_TRUNCATED)
    }

    fn note_truncated(&mut self) {
        let e = self.truncated();
        self.warnings.push(SqlWarning {
            note: true,
            code: e.code,
            message: e.message,
        });
    }

    /// The error in strict mode; else a warning and the replacement.
    fn or(&mut self, e: SqlError, value: Value) -> SqlResult<Value> {
        if self.mode.strict {
            return Err(e);
        }
        self.warnings.push(SqlWarning {
            note: false,
            code: e.code,
            message: e.message,
        });
        Ok(value)
    }

    fn store(&mut self, v: ValueRef<'_>) -> SqlResult<Value> {
        if v.is_null() {
            if self.t.nullable {
                return Ok(Value::Null);
            }
            let e = errors::BAD_NULL_ERROR.with([&self.t.column]);
            if !self.mode.null_to_default {
                return Err(e);
            }
            self.warnings.push(SqlWarning {
                note: false,
                code: e.code,
                message: e.message,
            });
            return Ok(implicit_default(self.t.ty));
        }
        let text;
        let bytes;
        let v = match v {
            ValueRef::Coded(set, s) => {
                text = set.decode(s).into_owned();
                if let Some(other) = passed_on(&text, set, self.t.ty.collation.charset()) {
                    return self.store(other.as_ref());
                }
                if fits(ValueRef::Str(text.as_bytes()), self.t.ty, self.t.nullable) {
                    return Ok(Value::str(text));
                }
                ValueRef::Str(text.as_bytes())
            }
            // Numbers take their number, everything else their text.
            ValueRef::Member(m) if self.t.ty.is_numeric() => ValueRef::UInt(m.number),
            ValueRef::Member(m) => {
                // What is no member of one list is none of another, even of one that has an empty text.
                if let (TypeKind::Enum(of), 0, false) = (self.t.ty.kind, m.number, m.set) {
                    return Ok(Value::Member(Member { of, ..m }));
                }
                text = m.text();
                ValueRef::Str(text.as_bytes())
            }
            ValueRef::Bits(b) if self.t.ty.is_member() || !self.t.ty.is_string() => {
                ValueRef::UInt(b.value)
            }
            // Byte strings get the bytes, other strings the text.
            ValueRef::Fixed(f) if self.t.ty.is_binary_string() => {
                bytes = f;
                ValueRef::Bytes(bytes.bytes())
            }
            ValueRef::Fixed(f) if !self.t.ty.is_string() && self.t.ty.fixed().is_none() => {
                return Err(self.cannot_cast(f.kind.name()));
            }
            v => v,
        };
        match self.t.ty.kind {
            TypeKind::TinyInt
            | TypeKind::SmallInt
            | TypeKind::MediumInt
            | TypeKind::Int
            | TypeKind::BigInt => self.integer(v),
            TypeKind::Float | TypeKind::Double => self.double(v),
            TypeKind::Decimal(p, s) => self.decimal(v, p, s),
            TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_) => self.string(v),
            TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob(_) => self.binary(v),
            TypeKind::Date => self.date(v),
            TypeKind::Time(f) => self.time(v, f),
            TypeKind::DateTime(f) | TypeKind::Timestamp(f) => self.datetime(v, f),
            TypeKind::Year => self.year(v),
            TypeKind::Enum(of) => self.member(v, of, false),
            TypeKind::Set(of) => self.member(v, of, true),
            TypeKind::Bit(n) => self.bits(v, n),
            TypeKind::Fixed(k) => self.fixed(v, k),
        }
    }

    fn member(&mut self, v: ValueRef<'_>, of: Members, set: bool) -> SqlResult<Value> {
        let max = if set { of.set_mask() } else { of.len() as u64 };
        let value = |number| Value::Member(Member { number, set, of });
        let text;
        let number = match v {
            ValueRef::Int(_)
            | ValueRef::UInt(_)
            | ValueRef::Float(_)
            | ValueRef::Double(_)
            | ValueRef::Decimal(_) => {
                let n = match v {
                    ValueRef::Decimal(d) => saturate(&d.truncate(0)),
                    ValueRef::Float(f) => f as i128,
                    ValueRef::Double(f) => f as i128,
                    v => to_integer(v, &mut NoWarnings),
                };
                let n = n.clamp(i64::MIN as i128, u64::MAX as i128) as u64;
                if n <= max && (set || n > 0) {
                    return Ok(value(n));
                }
                if set { n & max } else { 0 }
            }
            v => {
                let charset = self.t.ty.collation.charset();
                let s = match v {
                    // Bytes are text of the column's character set.
                    ValueRef::Bytes(s) if !charset.stores_utf8() => {
                        text = charset.decode(&charset.aligned(s)).into_owned();
                        text.as_bytes()
                    }
                    ValueRef::Str(s) | ValueRef::Bytes(s) => s,
                    v => {
                        text = v.to_text();
                        text.as_bytes()
                    }
                };
                let (m, unknown) = Member::parse(of, set, s, self.t.ty.collation);
                // Spaces alone are no empty set.
                let of_nothing = set && m.number == 0 && !s.is_empty();
                if !unknown && !of_nothing {
                    return Ok(Value::Member(m));
                }
                // A number as text, as dumps have it.
                if m.number == 0
                    && s.len() < 22
                    && let Some(n) = std::str::from_utf8(s)
                        .ok()
                        .map(|s| if set { s } else { s.trim_end_matches(' ') })
                        .and_then(|s| {
                            let s = s.trim_start();
                            // Below zero they count from 2^64, as other numbers do.
                            s.parse()
                                .ok()
                                .or_else(|| Some(s.parse::<i64>().ok()? as u64))
                        })
                    && (set || n > 0)
                {
                    if n <= max {
                        return Ok(value(n));
                    }
                    if set {
                        let e = self.truncated();
                        return self.or(e, value(n & max));
                    }
                }
                m.number
            }
        };
        let e = self.truncated();
        self.or(e, value(number))
    }

    /// Error 4078: no value of such a type becomes one of the column's.
    fn cannot_cast(&self, from: &str) -> SqlError {
        SqlError::cannot_cast(
            from,
            &self.t.ty.family_name(),
            self.t.db,
            self.t.table,
            self.t.column,
        )
    }

    /// A text that is no value of the type becomes NULL outside of strict mode, or zeros where NULL is not allowed; a number zeros.
    fn fixed(&mut self, v: ValueRef<'_>, kind: FixedKind) -> SqlResult<Value> {
        let found = match v {
            ValueRef::Str(s) => Fixed::parse(kind, s),
            ValueRef::Bytes(s) => Fixed::from_bytes(kind, s),
            v => {
                let e = self.cannot_cast(&type_name(v));
                self.or(e, Value::Null)?;
                None
            }
        };
        match found {
            Some(f) => Ok(Value::Fixed(f)),
            None => {
                let e = self.incorrect(codes::TRUNCATED_WRONG_VALUE, kind.name(), &shown(v));
                let text = matches!(
                    v,
                    ValueRef::Str(_) | ValueRef::Bytes(_) | ValueRef::Fixed(_)
                );
                let kept = if self.t.nullable && text {
                    Value::Null
                } else {
                    Value::Fixed(Fixed::zero(kind))
                };
                self.or(e, kept)
            }
        }
    }

    fn bits(&mut self, v: ValueRef<'_>, width: u8) -> SqlResult<Value> {
        let value = match v {
            ValueRef::Str(s) | ValueRef::Bytes(s) => {
                let start = s.iter().position(|b| *b != 0).unwrap_or(s.len());
                let s = &s[start..];
                (s.len() <= 8).then(|| s.iter().fold(0u64, |a, b| a << 8 | u64::from(*b)))
            }
            ValueRef::Float(f) => Some(f as i64 as u64),
            ValueRef::Double(f) => Some(f as i64 as u64),
            ValueRef::Decimal(d) if d.to_i128().is_some_and(|n| n > u64::MAX.into()) => None,
            v => Some(to_integer(v, &mut NoWarnings) as u64),
        };
        let number = !matches!(v, ValueRef::Str(_) | ValueRef::Bytes(_));
        let max = if width < 64 {
            (1u64 << width) - 1
        } else {
            u64::MAX
        };
        match value.filter(|v| *v <= max) {
            Some(value) => Ok(Value::Bits(Bits { value, width })),
            None => {
                let e = if self.mode.strict && !(number && width == 64) {
                    self.error(errors::DATA_TOO_LONG)
                } else {
                    self.out_of_range()
                };
                self.or(e, Value::Bits(Bits { value: max, width }))
            }
        }
    }

    /// A number from text: the value, or what is wrong with it.
    fn text_number(&self, s: &[u8], kind: &str) -> (Decimal, Option<SqlError>, bool) {
        let (d, used) = Decimal::parse_prefix(s);
        if used == 0 {
            let text = String::from_utf8_lossy(s);
            return (
                d,
                Some(self.incorrect(codes::TRUNCATED_WRONG_VALUE_FOR_FIELD, kind, &text)),
                false,
            );
        }
        let rest = &s[used..];
        if rest.iter().all(u8::is_ascii_whitespace) {
            (d, None, !rest.is_empty())
        } else {
            (d, Some(self.truncated()), false)
        }
    }

    fn integer(&mut self, v: ValueRef<'_>) -> SqlResult<Value> {
        let mut problem = None;
        let wide: i128 = match v {
            ValueRef::Int(v) => v as i128,
            ValueRef::UInt(v) => v as i128,
            ValueRef::Float(f) => (f as f64).round_ties_even() as i128,
            ValueRef::Double(f) => f.round_ties_even() as i128,
            ValueRef::Decimal(d) => {
                // Below zero is out of range even where it would round to zero.
                if self.t.ty.unsigned && d.is_negative() && !d.is_zero() {
                    problem = Some(self.out_of_range());
                }
                saturate(&d)
            }
            ValueRef::Str(s) | ValueRef::Bytes(s) => {
                let (d, p, spaces) = self.text_number(s, "integer");
                problem = p;
                if spaces && problem.is_none() {
                    self.note_truncated();
                }
                saturate(&d)
            }
            ValueRef::Date(d) => d.to_number() as i128,
            ValueRef::Time(t) => {
                // Fractions are cut off.
                let (n, _) = t.to_number();
                n as i128 * if t.micros < 0 { -1 } else { 1 }
            }
            ValueRef::DateTime(t) => t.to_number().0 as i128,
            // Made numbers or text before.
            ValueRef::Null
            | ValueRef::Member(_)
            | ValueRef::Bits(_)
            | ValueRef::Fixed(_)
            | ValueRef::Coded(..) => 0,
        };
        let (lo, hi) = self
            .t
            .ty
            .int_range()
            .unwrap_or((i64::MIN as i128, i64::MAX as i128));
        let kept = wide.clamp(lo, hi);
        // The range is looked at before what stands behind a number.
        if kept != wide {
            problem = problem.filter(|e| {
                matches!(
                    e.code,
                    codes::WARN_DATA_OUT_OF_RANGE | codes::TRUNCATED_WRONG_VALUE_FOR_FIELD
                )
            });
        }
        let value = if self.t.ty.unsigned {
            Value::UInt(kept as u64)
        } else {
            Value::Int(kept as i64)
        };
        if kept != wide && problem.is_none() {
            problem = Some(self.out_of_range());
        }
        match problem {
            Some(e) => self.or(e, value),
            None => Ok(value),
        }
    }

    fn double(&mut self, v: ValueRef<'_>) -> SqlResult<Value> {
        let mut problem = None;
        let f = match v {
            ValueRef::Str(s) | ValueRef::Bytes(s) => {
                let (f, used) = parse_f64_prefix(s);
                if used == 0 {
                    problem = Some(self.incorrect(
                        codes::TRUNCATED_WRONG_VALUE_FOR_FIELD,
                        "double",
                        &String::from_utf8_lossy(s),
                    ));
                } else if !s[used..].iter().all(u8::is_ascii_whitespace) {
                    problem = Some(self.truncated());
                } else if used < s.len() {
                    self.note_truncated();
                }
                // What is beyond every double is out of range, not the largest one.
                match f.abs() == f64::MAX && beyond_doubles(&s[..used]) {
                    true => f * 2.0,
                    false => f,
                }
            }
            v => to_f64(v, &mut NoWarnings),
        };
        let is_float = self.t.ty.kind == TypeKind::Float;
        let f = match self.t.ty.form.digits {
            Some((_, d)) => rounded(f, d),
            None => f,
        };
        let max = match self.t.ty.largest_real() {
            Some(largest) => largest,
            None if is_float => f32::MAX as f64,
            None => f64::MAX,
        };
        let min = if self.t.ty.unsigned { 0.0 } else { -max };
        // There is no negative zero in a row.
        let kept = if f.is_nan() { 0.0 } else { f.clamp(min, max) } + 0.0;
        // A double a little beyond f32::MAX still rounds to it.
        let rounds = is_float && self.t.ty.form.digits.is_none() && (f as f32).is_finite();
        let out = kept != f && !(rounds && f >= min);
        let value = if is_float {
            Value::Float(kept as f32)
        } else {
            Value::Double(kept)
        };
        if out && problem.is_none() {
            problem = Some(self.out_of_range());
        }
        match problem {
            Some(e) => self.or(e, value),
            None => Ok(value),
        }
    }

    fn decimal(&mut self, v: ValueRef<'_>, p: u8, s: u8) -> SqlResult<Value> {
        let mut problem = None;
        let mut spaces = false;
        let d = match v {
            ValueRef::Str(b) | ValueRef::Bytes(b) => {
                let (d, e, trailing) = self.text_number(b, "decimal");
                (problem, spaces) = (e, trailing);
                d
            }
            v => to_decimal(v, &mut NoWarnings),
        };
        let mut kept = d.round(s);
        let mut clipped = false;
        if self.t.ty.unsigned && d.is_negative() {
            // Also what rounds to zero.
            kept = Decimal::ZERO.round(s);
            clipped = true;
        } else if !kept.fits(p, s) {
            kept = Decimal::max_value(p, s, kept.is_negative());
            clipped = true;
        }
        if clipped {
            let e = self.out_of_range();
            match problem.take() {
                // Both are told, the text first.
                Some(text) => {
                    self.or(text, Value::Null)?;
                    return self.or(e, Value::Decimal(kept));
                }
                None => problem = Some(e),
            }
        }
        match problem {
            Some(e) => self.or(e, Value::Decimal(kept)),
            None => {
                if kept != d || spaces {
                    self.note_truncated();
                }
                Ok(Value::Decimal(kept))
            }
        }
    }

    fn string(&mut self, v: ValueRef<'_>) -> SqlResult<Value> {
        let mut owned = Vec::new();
        let mut problem = None;
        let charset = self.t.ty.collation.charset();
        let bytes: &[u8] = match v {
            ValueRef::Str(s) => s,
            // Bytes are taken as text of the column's character set.
            ValueRef::Bytes(s) if !charset.stores_utf8() => {
                owned = charset
                    .decode(&charset.aligned(s))
                    .into_owned()
                    .into_bytes();
                if let Err(bad) = charset.text_of(s) {
                    let code = codes::TRUNCATED_WRONG_VALUE_FOR_FIELD;
                    problem = Some(self.incorrect(code, "string", &bad));
                }
                &owned
            }
            ValueRef::Bytes(s) => match std::str::from_utf8(s) {
                Ok(_) if charset.fitting(s) == s.len() => s,
                Ok(t) => {
                    let bad = charset::shown(&s[charset.fitting(s)..]);
                    let code = codes::TRUNCATED_WRONG_VALUE_FOR_FIELD;
                    problem = Some(self.incorrect(code, "string", &bad));
                    owned.extend_from_slice(charset.replaced_bytes(t).as_bytes());
                    &owned
                }
                Err(e) => {
                    let bad = charset::shown(&as_sent(&s[e.valid_up_to()..]));
                    let code = codes::TRUNCATED_WRONG_VALUE_FOR_FIELD;
                    problem = Some(self.incorrect(code, "string", &bad));
                    // A question mark for each byte that belongs to no character.
                    for part in s.utf8_chunks() {
                        owned.extend_from_slice(part.valid().as_bytes());
                        owned.resize(owned.len() + part.invalid().len(), b'?');
                    }
                    &owned
                }
            },
            v => {
                v.write_text(&mut owned);
                &owned
            }
        };
        let replaced;
        let mut bytes = bytes;
        let good = charset.fitting(bytes);
        if good < bytes.len() {
            let shown = charset::shown(&bytes[good..]);
            problem.get_or_insert_with(|| {
                self.incorrect(codes::TRUNCATED_WRONG_VALUE_FOR_FIELD, "string", &shown)
            });
            replaced = charset
                .replaced(&String::from_utf8_lossy(bytes))
                .into_owned();
            bytes = replaced.as_bytes();
        }
        let (kept, all) = match self.t.ty.kind {
            TypeKind::Char(n) | TypeKind::VarChar(n) => (char_prefix(bytes, n as usize), bytes),
            _ => {
                let max = self.t.ty.max_bytes().unwrap_or(u64::MAX) as usize;
                (&bytes[..longest_stored(bytes, self.t.ty, max)], bytes)
            }
        };
        let value = Value::Str(String::from_utf8_lossy(kept).into());
        if let Some(e) = problem {
            return self.or(e, value);
        }
        let lost = &all[kept.len()..];
        if lost.is_empty() {
            return Ok(value);
        }
        if let Some((text, fits)) = self.narrowed(v) {
            let value = Value::Str(text.into());
            return if fits {
                Ok(value)
            } else {
                self.too_long(value)
            };
        }
        if lost.iter().all(|b| *b == b' ') {
            if !matches!(self.t.ty.kind, TypeKind::Char(_)) {
                self.note_truncated();
            }
            return Ok(value);
        }
        self.too_long(value)
    }

    /// A double whose text is longer than the column, with the digits that have room.
    fn narrowed(&self, v: ValueRef<'_>) -> Option<(String, bool)> {
        let width = match self.t.ty.kind {
            TypeKind::Char(n) | TypeKind::VarChar(n) => n as usize,
            TypeKind::Binary(n) | TypeKind::VarBinary(n) => n as usize,
            _ => return None,
        };
        match v {
            ValueRef::Double(f) => Some(narrow(f, DOUBLE_DIGITS, width)),
            ValueRef::Float(f) => Some(narrow(f64::from(f), FLOAT_DIGITS, width)),
            _ => None,
        }
    }

    fn too_long(&mut self, value: Value) -> SqlResult<Value> {
        if self.mode.strict {
            return Err(self.error(errors::DATA_TOO_LONG));
        }
        let e = self.truncated();
        self.or(e, value)
    }

    fn binary(&mut self, v: ValueRef<'_>) -> SqlResult<Value> {
        let mut owned = Vec::new();
        let bytes: &[u8] = match v {
            ValueRef::Str(s) | ValueRef::Bytes(s) => s,
            v => {
                v.write_text(&mut owned);
                &owned
            }
        };
        let max = self.t.ty.max_bytes().unwrap_or(u64::MAX) as usize;
        let value = Value::bytes(self.padded(bytes[..bytes.len().min(max)].to_vec()));
        if bytes.len() > max {
            return match self.narrowed(v) {
                Some((text, true)) => Ok(Value::bytes(self.padded(text.into_bytes()))),
                Some((text, false)) => self.too_long(Value::bytes(self.padded(text.into_bytes()))),
                None => self.too_long(value),
            };
        }
        Ok(value)
    }

    /// BINARY has its length.
    fn padded(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if let TypeKind::Binary(n) = self.t.ty.kind {
            bytes.resize(n as usize, 0);
        }
        bytes
    }

    /// A valid datetime from any value, and whether a nonzero time or trailing text is to be noted. `None`: no valid date.
    fn to_datetime(&self, v: ValueRef<'_>, rules: DateRules) -> Option<(DateTime, bool)> {
        let (t, garbage) = match v {
            ValueRef::Date(d) => (d.at_midnight(), false),
            ValueRef::DateTime(t) => (t, false),
            // A time has no date of its own; the session supplies today's date before it comes here.
            ValueRef::Time(_) => return None,
            ValueRef::Str(s) | ValueRef::Bytes(s) => {
                let p = parse_datetime(s, rules)?;
                (p.value, p.garbage)
            }
            v => (number_as_datetime(v, rules)?.0, false),
        };
        rules.allows_moment(&t).then_some((t, garbage))
    }

    fn bad_temporal(&mut self, kind: &str, v: ValueRef<'_>, zero: Value) -> SqlResult<Value> {
        if self.mode.strict {
            return Err(self.incorrect(codes::TRUNCATED_WRONG_VALUE, kind, &v.to_text()));
        }
        let e = self.truncated();
        self.or(e, zero)
    }

    fn date(&mut self, v: ValueRef<'_>) -> SqlResult<Value> {
        match self.to_datetime(v, self.mode.dates.of_day()) {
            Some((t, false)) => {
                if t.micros != 0 || has_needless_fraction(v) || has_more_digits(v) {
                    self.note_truncated();
                }
                Ok(Value::Date(t.date))
            }
            Some((t, true)) => self.bad_temporal("date", v, Value::Date(t.date)),
            None => self.bad_temporal("date", v, Value::Date(Date::default())),
        }
    }

    fn datetime(&mut self, v: ValueRef<'_>, fsp: u8) -> SqlResult<Value> {
        let zero = DateTime {
            fsp,
            ..DateTime::default()
        };
        let rules = self.mode.dates;
        let (t, garbage) = match self.to_datetime(v, rules) {
            Some((t, g)) => (t, g),
            None => return self.bad_temporal("datetime", v, Value::DateTime(zero)),
        };
        let cut = t.truncate(fsp);
        let t = t.with_digits(fsp, rules.rounds);
        if has_needless_fraction(v) || has_more_digits(v) {
            self.note_truncated();
        }
        let value = if let TypeKind::Timestamp(_) = self.t.ty.kind
            && !t.is_zero()
        {
            let utc_of = |t: DateTime| {
                let (us, exists) = self.mode.time_zone.utc(t.unix_micros());
                let utc = (t.date.is_real() && us > 0 && us / SECOND <= i32::MAX as i64)
                    .then(|| DateTime::from_unix_micros(us, fsp))
                    .flatten();
                (utc, exists)
            };
            // What rounding takes out of the range is cut.
            let (utc, exists) = match utc_of(t) {
                (None, _) if cut != t => utc_of(cut),
                found => found,
            };
            match utc {
                Some(u) if exists => u,
                // The hour that the clocks skip.
                Some(u) if !self.mode.strict => {
                    let message = format!(
                        "Invalid TIMESTAMP value in column '{}' at row {}",
                        self.t.column, self.row_no
                    );
                    self.warnings
                        .push(warning(codes::WARN_INVALID_TIMESTAMP, message));
                    u
                }
                _ if self.mode.strict => {
                    return Err(self.incorrect(
                        codes::TRUNCATED_WRONG_VALUE,
                        "datetime",
                        &v.to_text(),
                    ));
                }
                // A date that exists, but beyond the type's range.
                _ if t.date.is_real() => {
                    let e = self.out_of_range();
                    return self.or(e, Value::DateTime(zero));
                }
                _ => return self.bad_temporal("datetime", v, Value::DateTime(zero)),
            }
        } else {
            t
        };
        if garbage {
            return self.bad_temporal("datetime", v, Value::DateTime(value));
        }
        Ok(Value::DateTime(value))
    }

    fn time(&mut self, v: ValueRef<'_>, fsp: u8) -> SqlResult<Value> {
        let (mut garbage, mut dated) = (false, false);
        let rounds = self.mode.dates.rounds;
        let t = match v {
            ValueRef::Time(t) => Some(t),
            ValueRef::Date(_) => {
                self.note_truncated();
                Some(Time { micros: 0, fsp })
            }
            ValueRef::DateTime(t) => {
                if !t.date.is_days_alone() {
                    self.note_truncated();
                }
                Some(t.as_time())
            }
            ValueRef::Str(s) | ValueRef::Bytes(s) => parse_time(s, rounds).map(|p| {
                garbage = p.garbage;
                dated = !garbage && has_date_and_time(s);
                p.value
            }),
            v => {
                let whole = number_parts(v, false).map_or(0, |(n, ..)| n);
                dated = (FIRST_DATED_TIME..=99_999_999_999_999).contains(&whole);
                number_as_time(v, rounds)
            }
        };
        match t {
            None => self.bad_temporal("time", v, Value::Time(Time { micros: 0, fsp })),
            Some(t) if !t.in_range() => {
                let value =
                    Value::Time(Time::from_micros(t.micros.signum() * TIME_MAX, fsp).truncate(fsp));
                if self.mode.strict {
                    return Err(self.incorrect(codes::TRUNCATED_WRONG_VALUE, "time", &v.to_text()));
                }
                let e = self.out_of_range();
                self.or(e, value)
            }
            Some(t) if garbage => {
                self.bad_temporal("time", v, Value::Time(t.with_digits(fsp, rounds)))
            }
            Some(t) => {
                if has_more_digits(v) || dated {
                    self.note_truncated();
                }
                Ok(Value::Time(t.with_digits(fsp, rounds)))
            }
        }
    }

    fn year(&mut self, v: ValueRef<'_>) -> SqlResult<Value> {
        let (mut problem, mut spaces) = (None, false);
        let beyond = |f: f64| !(0.0..=2155.0).contains(&f);
        let (n, text) = match v {
            ValueRef::Str(s) | ValueRef::Bytes(s) => {
                let (d, p, trailing) = self.text_number(s, "integer");
                (problem, spaces) = (p, trailing);
                (saturate(&d), s.len() != 4)
            }
            ValueRef::Date(d) => (d.year as i128, false),
            ValueRef::DateTime(t) => (t.date.year as i128, false),
            // A double's digits are cut off.
            ValueRef::Double(f) if beyond(f) => (-1, false),
            ValueRef::Float(f) if beyond(f.into()) => (-1, false),
            ValueRef::Double(f) => (f as i128, false),
            ValueRef::Float(f) => (f as i128, false),
            ValueRef::Decimal(d) if d.is_negative() => (-1, false),
            v => (saturate(&to_decimal(v, &mut NoWarnings)), false),
        };
        // In strict mode the range is looked at before what stands behind a number.
        let saw_number = problem
            .as_ref()
            .is_some_and(|e: &SqlError| e.code != codes::TRUNCATED_WRONG_VALUE_FOR_FIELD);
        let year = match n {
            0 if text
                && problem
                    .as_ref()
                    .is_none_or(|e| e.code != codes::TRUNCATED_WRONG_VALUE_FOR_FIELD) =>
            {
                2000
            }
            0 if self.t.ty.year_digits() == 2 => 2000,
            0 => 0,
            1..=69 => 2000 + n,
            70..=99 => 1900 + n,
            1901..=2155 => n,
            _ => -1,
        };
        if year < 0 && (problem.is_none() || self.mode.strict && saw_number) {
            problem = Some(self.out_of_range());
        }
        let value = Value::Int(year.max(0) as i64);
        match problem {
            Some(e) => self.or(e, value),
            None => {
                if spaces {
                    self.note_truncated();
                }
                Ok(value)
            }
        }
    }
}

/// A value in a message: bytes beyond ASCII as `\xNN`.
pub fn shown(v: ValueRef<'_>) -> String {
    match v {
        ValueRef::Bytes(b) => b
            .iter()
            .map(|b| match b {
                0x20..=0x7e => char::from(*b).to_string(),
                b => format!("\\x{b:02X}"),
            })
            .collect(),
        v => v.to_text(),
    }
}

/// What is no date or time, in a warning: byte by byte, as MariaDB shows it there, 128 of what is shown at most.
pub fn no_moment(v: ValueRef<'_>) -> String {
    let shown = match v {
        ValueRef::Str(s) => shown(ValueRef::Bytes(s)),
        v => shown(v),
    };
    errors::abridged(shown, 128)
}

/// The type of a value as messages name it.
fn type_name(v: ValueRef<'_>) -> String {
    let kind = match v {
        ValueRef::Int(n) if i32::try_from(n).is_ok() => TypeKind::Int,
        ValueRef::Int(_) | ValueRef::UInt(_) => TypeKind::BigInt,
        ValueRef::Float(_) => TypeKind::Float,
        ValueRef::Double(_) => TypeKind::Double,
        ValueRef::Decimal(d) => TypeKind::Decimal(d.precision(), d.scale()),
        ValueRef::Date(_) => TypeKind::Date,
        ValueRef::Time(t) => TypeKind::Time(t.fsp),
        ValueRef::DateTime(t) => TypeKind::DateTime(t.fsp),
        ValueRef::Bits(b) => TypeKind::Bit(b.width),
        ValueRef::Member(m) if m.set => TypeKind::Set(m.of),
        ValueRef::Member(m) => TypeKind::Enum(m.of),
        ValueRef::Fixed(f) => TypeKind::Fixed(f.kind),
        ValueRef::Null | ValueRef::Str(_) | ValueRef::Bytes(_) | ValueRef::Coded(..) => {
            TypeKind::VarChar(0)
        }
    };
    ColumnType::new(kind).family_name()
}

fn saturate(d: &Decimal) -> i128 {
    d.to_i128().unwrap_or(if d.is_negative() {
        i128::MIN
    } else {
        i128::MAX
    })
}

/// Integer part and microseconds of a number, for reading it as a date or time; `None` if it is no number or too large.
/// `rounds`: digits behind microseconds are not cut off, so that these may come to a whole second.
pub fn number_parts(v: ValueRef<'_>, rounds: bool) -> Option<(i64, u32, u8)> {
    match v {
        ValueRef::Int(n) => Some((n, 0, 0)),
        ValueRef::UInt(n) => Some((n.try_into().unwrap_or(i64::MAX), 0, 0)),
        ValueRef::Bits(b) => Some((b.value.try_into().unwrap_or(i64::MAX), 0, 0)),
        ValueRef::Float(f) => number_parts(ValueRef::Double(f64::from(f)), rounds),
        ValueRef::Double(f) if f.abs() < 1e18 => {
            // To nanoseconds, as they are.
            let nanos = (f.abs().fract() * 1e9) as u32;
            let us = match rounds {
                true => (nanos + 500) / 1000,
                false => nanos / 1000,
            };
            Some((f as i64, us, 6))
        }
        ValueRef::Decimal(_) | ValueRef::Double(_) => {
            let d = to_decimal(v, &mut NoWarnings);
            let int = d.truncate(0);
            let frac = d.checked_sub(&int)?.abs();
            let frac = match rounds {
                true => frac.round(6),
                false => frac.truncate(6),
            };
            let us = frac
                .round(6)
                .checked_mul(&Decimal::from(1_000_000i64))?
                .to_i64()?;
            // No moment is as large: the ends stand for what lies beyond them.
            let end = if int.is_negative() {
                i64::MIN
            } else {
                i64::MAX
            };
            Some((int.to_i64().unwrap_or(end), us as u32, d.scale().min(6)))
        }
        _ => None,
    }
}

/// A number as a time. MariaDB takes none for one whose last microsecond of a second is begun, but that of a datetime.
pub fn number_as_time(v: ValueRef<'_>, rounds: bool) -> Option<Time> {
    const FIRST_MOMENT: u64 = 10_000_000_000;
    let (n, us, fsp) = number_parts(v, rounds)?;
    let begun = us > 999_998 && number_parts(v, false)?.1 > 999_998;
    match begun && n.unsigned_abs() < FIRST_MOMENT {
        true => None,
        false => time_from_number(n, us, fsp).map(|t| with_sign(t, v)),
    }
}

fn is_below_zero(v: ValueRef<'_>) -> bool {
    match v {
        ValueRef::Int(n) => n < 0,
        ValueRef::Float(f) => f < 0.0,
        ValueRef::Double(f) => f < 0.0,
        ValueRef::Decimal(d) => d.is_negative(),
        _ => false,
    }
}

/// A time made of a number's parts: less than a second below zero is known by the number alone.
pub fn with_sign(t: Time, v: ValueRef<'_>) -> Time {
    Time {
        micros: match is_below_zero(v) {
            true => -t.micros.abs(),
            false => t.micros,
        },
        ..t
    }
}

/// A number as a date and time, and whether it has a time: none is below zero.
pub fn number_as_datetime(v: ValueRef<'_>, rules: DateRules) -> Option<(DateTime, bool)> {
    let (n, us, fsp) = number_parts(v, rules.rounds)?;
    match us > 0 && is_below_zero(v) {
        true => None,
        false => datetime_from_number(n, us, fsp, rules),
    }
}

/// Reads a double from the start of `s` after white space; returns the value and the bytes used (0: no number). Overflow gives the
/// largest double.
pub fn parse_f64_prefix(s: &[u8]) -> (f64, usize) {
    let start = s.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let mut i = start;
    if matches!(s.get(i), Some(b'+' | b'-')) {
        i += 1;
    }
    let digits = |i: usize| s[i..].iter().take_while(|b| b.is_ascii_digit()).count();
    let int = digits(i);
    i += int;
    let mut frac = 0;
    if s.get(i) == Some(&b'.') {
        frac = digits(i + 1);
        if int + frac > 0 {
            i += 1 + frac;
        }
    }
    if int + frac == 0 {
        return (0.0, 0);
    }
    if matches!(s.get(i), Some(b'e' | b'E')) {
        let sign = matches!(s.get(i + 1), Some(b'+' | b'-')) as usize;
        let n = if i + 1 + sign <= s.len() {
            digits(i + 1 + sign)
        } else {
            0
        };
        if n > 0 {
            i += 1 + sign + n;
        }
    }
    let v: f64 = std::str::from_utf8(&s[start..i])
        .ok()
        .and_then(|t| t.parse().ok())
        .unwrap_or(0.0);
    (v.clamp(f64::MIN, f64::MAX), i)
}

/// Warning 1292 for a text or for bytes that no number is made of whole.
fn truncated_value(kind: &str, v: ValueRef<'_>) -> SqlWarning {
    // More is not shown.
    let first = |s: &[u8]| s[..s.len().min(256)].to_vec();
    let value = match v {
        ValueRef::Bytes(s) => shown(ValueRef::Bytes(&first(s))),
        ValueRef::Str(s) => String::from_utf8_lossy(&first(s)).replace('\0', "\\0000"),
        v => v.to_text(),
    };
    warning(
        codes::TRUNCATED_WRONG_VALUE,
        format!(
            "Truncated incorrect {kind} value: '{}'",
            errors::abridged(value, 128)
        ),
    )
}

/// Tells of what stands behind a text's number: white space is worth a note (1292), all else a warning, as is a text
/// without a number or with one that does not fit (`whole` is false).
#[inline]
fn tell_rest(kind: &str, v: ValueRef<'_>, rest: &[u8], whole: bool, w: &mut dyn Warnings) {
    if rest.is_empty() && whole {
        return;
    }
    let note = whole && rest.iter().all(u8::is_ascii_whitespace);
    w.push(SqlWarning {
        note,
        ..truncated_value(kind, v)
    });
}

/// Whether the text of a number is larger than any double.
fn beyond_doubles(number: &[u8]) -> bool {
    let text = std::str::from_utf8(number).unwrap_or_default();
    text.trim().parse().is_ok_and(f64::is_infinite)
}

/// A value as a double. Text: its leading number, with warning 1292 if something else follows. NULL gives 0.
pub fn to_f64(v: ValueRef<'_>, w: &mut dyn Warnings) -> f64 {
    match v {
        ValueRef::Null => 0.0,
        ValueRef::Int(v) => v as f64,
        ValueRef::UInt(v) => v as f64,
        ValueRef::Float(v) => v as f64,
        ValueRef::Double(v) => v,
        ValueRef::Decimal(d) => d.to_f64(),
        ValueRef::Str(s) | ValueRef::Bytes(s) => {
            let (f, used) = parse_f64_prefix(s);
            tell_rest("DOUBLE", v, &s[used..], used > 0, w);
            f
        }
        ValueRef::Date(d) => d.to_number() as f64,
        ValueRef::Time(t) => {
            let (n, us) = t.to_number();
            let f = n as f64 + us as f64 / 1e6;
            if t.micros < 0 { -f } else { f }
        }
        ValueRef::DateTime(t) => {
            let (n, us) = t.to_number();
            n as f64 + us as f64 / 1e6
        }
        ValueRef::Member(m) => m.number as f64,
        ValueRef::Bits(b) => b.value as f64,
        ValueRef::Fixed(_) => 0.0,
        ValueRef::Coded(set, s) => to_f64(ValueRef::Str(set.decode(s).as_bytes()), w),
    }
}

/// A value as an exact number. Text: its leading number, with warning 1292 if something else follows. NULL gives 0.
pub fn to_decimal(v: ValueRef<'_>, w: &mut dyn Warnings) -> Decimal {
    match v {
        ValueRef::Null => Decimal::ZERO,
        ValueRef::Int(v) => v.into(),
        ValueRef::UInt(v) => v.into(),
        ValueRef::Float(v) => Decimal::from_f64(v as f64),
        ValueRef::Double(v) => Decimal::from_f64(v),
        ValueRef::Decimal(d) => d,
        ValueRef::Str(s) | ValueRef::Bytes(s) => {
            let (d, used) = Decimal::parse_prefix(s);
            tell_rest("DECIMAL", v, &s[used..], used > 0, w);
            d
        }
        ValueRef::Date(d) => d.to_number().into(),
        ValueRef::Time(t) => {
            let (n, us) = t.to_number();
            let d = Decimal::from_i128(n as i128 * 1_000_000 + us as i128, 6).truncate(t.fsp);
            if t.micros < 0 { d.neg() } else { d }
        }
        ValueRef::DateTime(t) => {
            let (n, us) = t.to_number();
            Decimal::from_i128(n as i128 * 1_000_000 + us as i128, 6).truncate(t.fsp)
        }
        ValueRef::Member(m) => m.number.into(),
        ValueRef::Bits(b) => b.value.into(),
        ValueRef::Fixed(_) => Decimal::ZERO,
        ValueRef::Coded(set, s) => to_decimal(ValueRef::Str(set.decode(s).as_bytes()), w),
    }
}

/// A value as an integer between `i64::MIN` and `u64::MAX`, saturating. Numbers are rounded; text gives its leading integer
/// (up to a point), with warning 1292 if something else follows. NULL gives 0.
pub fn to_integer(v: ValueRef<'_>, w: &mut dyn Warnings) -> i128 {
    const LO: i128 = i64::MIN as i128;
    const HI: i128 = u64::MAX as i128;
    match v {
        ValueRef::Null => 0,
        ValueRef::Int(v) => v as i128,
        ValueRef::UInt(v) => v as i128,
        ValueRef::Float(f) => ((f as f64).round_ties_even() as i128).clamp(LO, HI),
        ValueRef::Double(f) => (f.round_ties_even() as i128).clamp(LO, HI),
        ValueRef::Decimal(d) => saturate(&d).clamp(LO, HI),
        ValueRef::Str(s) | ValueRef::Bytes(s) => {
            let t = s.trim_ascii_start();
            let sign = matches!(t.first(), Some(b'+' | b'-')) as usize;
            let n = t[sign..].iter().take_while(|b| b.is_ascii_digit()).count();
            let mag = t[sign..sign + n].iter().fold(0i128, |a, b| {
                a.saturating_mul(10).saturating_add((*b - b'0') as i128)
            });
            let val = if t.first() == Some(&b'-') { -mag } else { mag };
            let kept = val.clamp(LO, HI);
            tell_rest("INTEGER", v, &t[sign + n..], n > 0 && kept == val, w);
            kept
        }
        ValueRef::Date(d) => d.to_number() as i128,
        ValueRef::Member(m) => m.number as i128,
        ValueRef::Bits(b) => b.value as i128,
        ValueRef::Fixed(_) => 0,
        ValueRef::Coded(set, s) => to_integer(ValueRef::Str(set.decode(s).as_bytes()), w),
        v @ (ValueRef::Time(_) | ValueRef::DateTime(_)) => saturate(&to_decimal(v, w)),
    }
}

/// A number rounded to so many digits behind the point, as FLOAT(M,D) and DOUBLE(M,D) keep it.
fn rounded(x: f64, decimals: u8) -> f64 {
    if !x.is_finite() {
        return x;
    }
    let scale = 10f64.powi(i32::from(decimals));
    let whole = x.floor();
    whole + ((x - whole) * scale).round_ties_even() / scale
}

/// A number with a fixed count of digits behind the point: its shortest form, filled with zeros or rounded.
pub fn fixed_text(x: f64, decimals: u8) -> String {
    let decimals = usize::from(decimals);
    // There is no negative zero.
    let x = if x == 0.0 { 0.0 } else { x };
    let mut text = x.to_string();
    let digits = text.split_once('.').map_or(0, |(_, f)| f.len());
    if digits > decimals {
        return format!("{x:.decimals$}");
    }
    if digits == 0 && decimals > 0 && x.is_finite() {
        text.push('.');
    }
    text.extend(std::iter::repeat_n('0', decimals - digits));
    text
}

/// An exact number as an integer of the type: rounded, and with warning 1916 if it lies beyond the type.
pub fn exact_to_integer(d: &Decimal, unsigned: bool, w: &mut dyn Warnings) -> i128 {
    let (low, high) = match unsigned {
        true => (0, i128::from(u64::MAX)),
        false => (i128::from(i64::MIN), i128::from(i64::MAX)),
    };
    let n = d.round(0).to_i128();
    let end = if d.is_negative() { low } else { high };
    let kept = n.map_or(end, |n| n.clamp(low, high));
    if n != Some(kept) {
        let ty = if unsigned { "UNSIGNED INT" } else { "INT" };
        let told = format!("Got overflow when converting '{d}' to {ty}. Value truncated");
        w.push(warning(codes::DATA_OVERFLOW, told));
    }
    kept
}

/// A value as a signed integer, saturating at its ends. See [`to_integer`].
pub fn to_i64(v: ValueRef<'_>, w: &mut dyn Warnings) -> i64 {
    match v {
        ValueRef::Int(v) => v,
        ValueRef::Decimal(d) => exact_to_integer(&d, false, w) as i64,
        v => to_integer(v, w).clamp(i64::MIN as i128, i64::MAX as i128) as i64,
    }
}

/// A value as an unsigned integer; negative numbers wrap as in MySQL. See [`to_integer`].
pub fn to_u64(v: ValueRef<'_>, w: &mut dyn Warnings) -> u64 {
    match v {
        ValueRef::UInt(v) => v,
        v => to_integer(v, w) as u64,
    }
}

/// True, false, or `None` for NULL: a number is true if it is not 0; text by its leading number.
pub fn to_bool(v: ValueRef<'_>, w: &mut dyn Warnings) -> Option<bool> {
    Some(match v {
        ValueRef::Null => return None,
        ValueRef::Int(v) => v != 0,
        ValueRef::UInt(v) => v != 0,
        ValueRef::Decimal(d) => !d.is_zero(),
        ValueRef::Fixed(f) => f.is_true(),
        v => to_f64(v, w) != 0.0,
    })
}

/// A text with more digits behind its seconds than a moment has: they are left out, with a note.
pub fn has_more_digits(v: ValueRef<'_>) -> bool {
    let (ValueRef::Str(s) | ValueRef::Bytes(s)) = v else {
        return false;
    };
    let point = s.iter().position(|b| *b == b'.');
    point.is_some_and(|at| s.len() > at + 7 && s[at + 1..at + 8].iter().all(u8::is_ascii_digit))
}

/// The text of a datetime whose date is more than a number of days: a TIME leaves it out, with a note.
fn has_date_and_time(s: &[u8]) -> bool {
    // Texts of times are shorter, but for fractions.
    s.len() >= 12
        && parse_datetime(s, DateRules::default())
            .is_some_and(|p| p.has_time && !p.value.date.is_days_alone())
}

/// A number that is a date and has a fraction, which no date has: it is left out, with a note.
pub fn has_needless_fraction(v: ValueRef<'_>) -> bool {
    let Some((n @ 1.., us @ 1.., fsp)) = number_parts(v, false) else {
        return false;
    };
    datetime_from_number(n, us, fsp, DateRules::default()).is_some_and(|(_, has_time)| !has_time)
}

/// A value as a datetime; a date is midnight. `None` if it is no valid one under the rules, or a TIME (which needs today's date).
pub fn to_datetime(v: ValueRef<'_>, rules: DateRules) -> Option<DateTime> {
    let t = match v {
        ValueRef::Date(d) => d.at_midnight(),
        ValueRef::DateTime(t) => t,
        ValueRef::Time(_) | ValueRef::Null => return None,
        ValueRef::Str(s) | ValueRef::Bytes(s) => return parse_datetime(s, rules).map(|p| p.value),
        ValueRef::Member(m) => {
            return parse_datetime(m.text().as_bytes(), rules).map(|p| p.value);
        }
        v => return number_as_datetime(v, rules).map(|(t, _)| t),
    };
    rules.allows_moment(&t).then_some(t)
}

/// True if a value is a time that TIME does not have: [`to_time`] gives the last one.
pub fn is_beyond_times(v: ValueRef<'_>, rounds: bool) -> bool {
    let beyond = |t: Time| !t.in_range();
    match v {
        ValueRef::Str(s) | ValueRef::Bytes(s) => {
            parse_time_of_any_day(s, rounds).is_some_and(|p| beyond(p.value))
        }
        ValueRef::Time(_) | ValueRef::Date(_) | ValueRef::DateTime(_) => false,
        v => number_as_time(v, rounds).is_some_and(beyond),
    }
}

/// A value as a time; a datetime gives its time of day. `None` if it is no time. `rounds`: as in [`DateRules`].
pub fn to_time(v: ValueRef<'_>, rounds: bool) -> Option<Time> {
    match v {
        ValueRef::Time(t) => Some(t),
        ValueRef::DateTime(t) => Some(Time {
            micros: t.micros as i64,
            fsp: t.fsp,
        }),
        ValueRef::Date(_) => Some(Time::default()),
        ValueRef::Null => None,
        ValueRef::Str(s) | ValueRef::Bytes(s) => {
            let read = parse_time_of_any_day(s, rounds);
            read.map(|p| Time::from_micros(p.value.micros, p.value.fsp))
        }
        ValueRef::Member(m) => to_time(ValueRef::Str(m.text().as_bytes()), rounds),
        v => number_as_time(v, rounds).map(|t| Time::from_micros(t.micros, t.fsp)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::BlobSize;

    fn put(ty: ColumnType, v: Value, strict: bool) -> (Result<String, String>, Vec<String>) {
        let mut w: Vec<SqlWarning> = Vec::new();
        let t = StoreTarget {
            ty: &ty,
            nullable: true,
            db: "x1",
            table: "t",
            column: "c",
        };
        let mode = StoreMode {
            strict,
            ..Default::default()
        };
        let r = store(v.as_ref(), &t, 1, &mode, &mut w)
            .map(|v| v.to_text())
            .map_err(|e| format!("{} ({}) {}", e.code, e.sqlstate_str(), e.message));
        let w = w
            .iter()
            .map(|w| {
                format!(
                    "{}{} {}",
                    if w.note { "note " } else { "" },
                    w.code,
                    w.message
                )
            })
            .collect();
        (r, w)
    }

    fn strict(ty: ColumnType, v: impl Into<Value>) -> Result<String, String> {
        put(ty, v.into(), true).0
    }

    impl From<&str> for Value {
        fn from(s: &str) -> Value {
            Value::str(s)
        }
    }

    impl From<i64> for Value {
        fn from(v: i64) -> Value {
            Value::Int(v)
        }
    }

    fn dec(s: &str) -> Value {
        Value::Decimal(Decimal::parse(s).unwrap())
    }

    const TINY: ColumnType = ColumnType::new(TypeKind::TinyInt);
    const RANGE: &str = "1264 (22003) Out of range value for column 'c' at row 1";
    const TRUNC: &str = "1265 (01000) Data truncated for column 'c' at row 1";
    const LONG: &str = "1406 (22001) Data too long for column 'c' at row 1";

    fn ok(s: &str) -> Result<String, String> {
        Ok(s.into())
    }

    fn err(s: &str) -> Result<String, String> {
        Err(s.into())
    }

    fn incorrect(code: u16, kind: &str, v: &str) -> Result<String, String> {
        Err(format!(
            "{code} (22007) Incorrect {kind} value: '{v}' for column `x1`.`t`.`c` at row 1"
        ))
    }

    #[test]
    fn fixed_digits() {
        for (x, decimals, text) in [
            (0.5, 2, "0.50"),
            (0.125, 2, "0.12"),
            (-0.0, 1, "0.0"),
            (1e15 + 1.0, 0, "1000000000000001"),
            (18_446_744_073_709_551_615.0, 1, "18446744073709552000.0"),
        ] {
            assert_eq!(super::fixed_text(x, decimals), text);
        }
    }

    #[test]
    fn strict_mode_as_mariadb() {
        assert_eq!(strict(TINY, 128), err(RANGE));
        assert_eq!(
            strict(ColumnType::unsigned(TypeKind::TinyInt), -1),
            err(RANGE)
        );
        assert_eq!(strict(TINY, "abc"), incorrect(1366, "integer", "abc"));
        assert_eq!(strict(TINY, "12abc"), err(TRUNC));
        assert_eq!(strict(TINY, ""), incorrect(1366, "integer", ""));
        assert_eq!(strict(TINY, "1.6"), ok("2"));
        assert_eq!(strict(TINY, "1e2"), ok("100"));
        assert_eq!(strict(TINY, dec("2.5")), ok("3"));
        assert_eq!(strict(TINY, Value::Double(2.5)), ok("2"));
        assert_eq!(strict(ColumnType::bigint(), "1e20"), err(RANGE));
        assert_eq!(
            strict(ColumnType::bigint(), Value::UInt(1 << 63)),
            err(RANGE)
        );
        assert_eq!(
            strict(ColumnType::double(), "abc"),
            incorrect(1366, "double", "abc")
        );
        assert_eq!(strict(ColumnType::double(), "1.5abc"), err(TRUNC));
        assert_eq!(
            strict(ColumnType::new(TypeKind::Float), Value::Double(1e39)),
            err(RANGE)
        );
        let n = ColumnType::decimal(5, 2);
        assert_eq!(strict(n, 1000), err(RANGE));
        assert_eq!(
            put(n, dec("1.555"), true),
            (
                ok("1.56"),
                vec!["note 1265 Data truncated for column 'c' at row 1".into()]
            )
        );
        assert_eq!(strict(n, "abc"), incorrect(1366, "decimal", "abc"));
        let vc = ColumnType::varchar(3);
        assert_eq!(strict(vc, "abcd"), err(LONG));
        assert_eq!(
            put(vc, "abc  ".into(), true),
            (
                ok("abc"),
                vec!["note 1265 Data truncated for column 'c' at row 1".into()]
            )
        );
        assert_eq!(
            put(ColumnType::char(3), "abc  ".into(), true),
            (ok("abc"), vec![])
        );
        assert_eq!(
            strict(ColumnType::new(TypeKind::VarBinary(3)), "abc  "),
            err(LONG)
        );
        assert_eq!(
            strict(ColumnType::char(3), Value::bytes(vec![0xff])),
            incorrect(1366, "string", "\\xFF")
        );
        assert_eq!(
            strict(
                ColumnType::text(TypeKind::Text(BlobSize::Tiny), Default::default()),
                "é".repeat(200).as_str()
            ),
            err(LONG)
        );
        let da = ColumnType::new(TypeKind::Date);
        assert_eq!(
            strict(da, "2024-02-30"),
            incorrect(1292, "date", "2024-02-30")
        );
        assert_eq!(
            strict(da, "2024-02-03abc"),
            incorrect(1292, "date", "2024-02-03abc")
        );
        assert_eq!(
            put(da, "2024-02-03 10:11:12".into(), true).0,
            ok("2024-02-03")
        );
        assert_eq!(strict(da, 240_203), ok("2024-02-03"));
        let tm = ColumnType::new(TypeKind::Time(1));
        assert_eq!(
            strict(tm, "900:00:00"),
            incorrect(1292, "time", "900:00:00")
        );
        assert_eq!(strict(tm, "10:11:12.99"), ok("10:11:12.9"));
        assert_eq!(strict(tm, dec("101112.96")), ok("10:11:12.9"));
        let dt = ColumnType::datetime(2);
        assert_eq!(
            strict(dt, "2024-02-03 10:11:12.999"),
            ok("2024-02-03 10:11:12.99")
        );
        assert_eq!(
            strict(dt, dec("20240203101112.567")),
            ok("2024-02-03 10:11:12.56")
        );
        let ts = ColumnType::new(TypeKind::Timestamp(0));
        assert_eq!(
            strict(ts, "2039-01-01 00:00:00"),
            incorrect(1292, "datetime", "2039-01-01 00:00:00")
        );
        let y = ColumnType::new(TypeKind::Year);
        assert_eq!(strict(y, 1900), err(RANGE));
        assert_eq!(strict(y, "0"), ok("2000"));
        assert_eq!(strict(y, 69), ok("2069"));
    }

    #[test]
    fn without_strict_mode() {
        let loose = |ty, v: Value| put(ty, v, false);
        let w = |s: &str| vec![s.to_string()];
        assert_eq!(
            loose(TINY, 300.into()),
            (
                ok("127"),
                w("1264 Out of range value for column 'c' at row 1")
            )
        );
        assert_eq!(
            loose(ColumnType::int(), "12abc".into()),
            (ok("12"), w("1265 Data truncated for column 'c' at row 1"))
        );
        assert_eq!(
            loose(ColumnType::char(3), "abcdef".into()),
            (ok("abc"), w("1265 Data truncated for column 'c' at row 1"))
        );
        assert_eq!(
            loose(ColumnType::new(TypeKind::Date), "2024-02-30".into()),
            (
                ok("0000-00-00"),
                w("1265 Data truncated for column 'c' at row 1")
            )
        );
        assert_eq!(
            loose(ColumnType::new(TypeKind::Time(1)), "900:00:00".into()),
            (
                ok("838:59:59.9"),
                w("1264 Out of range value for column 'c' at row 1")
            )
        );
    }

    #[test]
    fn null_and_time_zone() {
        let ty = ColumnType::new(TypeKind::Timestamp(0));
        let t = StoreTarget {
            ty: &ty,
            nullable: false,
            db: "d",
            table: "t",
            column: "c",
        };
        let mut mode = StoreMode {
            strict: true,
            time_zone: Zone::Offset(3600),
            ..Default::default()
        };
        let mut w: Vec<SqlWarning> = Vec::new();
        let v = store(ValueRef::Str(b"2024-02-03 00:30:00"), &t, 1, &mode, &mut w).unwrap();
        assert_eq!(v.to_text(), "2024-02-02 23:30:00");
        let e = store(ValueRef::Null, &t, 1, &mode, &mut w).unwrap_err();
        assert_eq!((e.code, e.sqlstate_str()), (1048, "23000"));
        mode.null_to_default = true;
        let v = store(ValueRef::Null, &t, 1, &mode, &mut w).unwrap();
        assert_eq!(v.to_text(), "0000-00-00 00:00:00");
        assert_eq!(w.len(), 1);
    }

    #[test]
    fn leading_numbers() {
        let mut w: Vec<SqlWarning> = Vec::new();
        assert_eq!(to_f64(ValueRef::Str(b"12abc"), &mut w), 12.0);
        assert_eq!(&*w[0].message, "Truncated incorrect DOUBLE value: '12abc'");
        assert_eq!(to_f64(ValueRef::Str(b" -1.5e2 "), &mut w), -150.0);
        // The space behind it is noted.
        assert_eq!(w.len(), 2);
        assert_eq!(to_i64(ValueRef::Str(b"1.9"), &mut w), 1);
        assert_eq!(to_i64(ValueRef::Double(1e30), &mut w), i64::MAX);
        assert_eq!(to_bool(ValueRef::Str(b"0.1"), &mut w), Some(true));
        assert_eq!(to_bool(ValueRef::Null, &mut w), None);
        assert_eq!(parse_f64_prefix(b"1e"), (1.0, 1));
        assert_eq!(parse_f64_prefix(b"."), (0.0, 0));
        assert_eq!(parse_f64_prefix(b"1e999").0, f64::MAX);
    }
}
