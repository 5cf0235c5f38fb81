//! CAST and CONVERT: a value as one of the type that the expression has.

use crate::env::StatementEnv;
use crate::expr::node::{EvalCtx, Expr, ExprKind, NO_LENGTH};
use crate::expr::value::{Val, Warn, date_rules, rounds};
use narwal_types::charset::shown;
use narwal_types::collation::char_prefix;
use narwal_types::convert;
use narwal_types::convert::{no_moment, to_decimal, to_f64, to_integer};
use narwal_types::errors::{abridged, codes};
use narwal_types::temporal::TIME_MAX;
use narwal_types::temporal_parse::leftover;
use narwal_types::{Charset, ColumnType, Decimal, SqlResult, TypeKind, Value, ValueRef};

impl Expr {
    /// A number as DOUBLE, rounded to the digits of DOUBLE(M,D).
    fn fixed_double(&self, r: ValueRef<'_>, env: &StatementEnv) -> f64 {
        let x = to_f64(r, &mut Warn(env));
        let Some((_, decimals)) = self.ty.ty.form.digits else {
            return x;
        };
        let unit = 10f64.powi(i32::from(decimals));
        // As MariaDB: what stands behind the point is rounded alone.
        let whole = x.floor();
        let rounded = whole + ((x - whole) * unit).round_ties_even() / unit;
        match self.ty.ty.largest_real() {
            Some(most) if rounded.abs() > most => {
                let told = format!("Out of range value for column '{self}' at row 1");
                env.note(codes::WARN_DATA_OUT_OF_RANGE, told);
                most.copysign(x)
            }
            _ if rounded.is_finite() => rounded,
            _ => x,
        }
    }

    /// CAST of a value that is not NULL.
    pub(super) fn cast<'a>(&self, v: Val<'a>, ctx: &EvalCtx<'_>) -> SqlResult<Val<'a>> {
        let env = ctx.env;
        let r = v.as_ref();
        if let ValueRef::Str(s) | ValueRef::Bytes(s) = r {
            // A copy, in another character set too, and the warning that quotes it.
            narwal_memory::reserve(4 * s.len() as u64)?;
        }
        let ty = &self.ty.ty;
        Ok(match ty.kind {
            _ if ty.is_integer() => integer(r, ty.unsigned, env),
            TypeKind::Decimal(p, s) => {
                let d = to_decimal(r, &mut Warn(env));
                let mut k = d.round(s);
                if !k.fits(p, s) {
                    env.warn(
                        codes::WARN_DATA_OUT_OF_RANGE,
                        format!("Out of range value for column '{self}' at row 0"),
                    );
                    k = Decimal::max_value(p, s, d.is_negative());
                }
                Val::Ref(ValueRef::Decimal(k))
            }
            // Zero has no sign.
            TypeKind::Double => Val::Ref(ValueRef::Double(self.fixed_double(r, env) + 0.0)),
            TypeKind::Float => {
                let given = to_f64(r, &mut Warn(env));
                let mut x = given as f32;
                if x.is_infinite() {
                    x = f32::MAX.copysign(x);
                    env.note(
                        codes::WARN_DATA_OUT_OF_RANGE,
                        format!("Out of range value for column '{self}' at row 1"),
                    );
                }
                Val::Ref(ValueRef::Float(x + 0.0))
            }
            TypeKind::Date | TypeKind::DateTime(_) | TypeKind::Timestamp(_) => {
                date(r, ty.kind, env)
            }
            TypeKind::Time(f) => match convert::to_time(r, rounds(env)) {
                Some(t) => {
                    note_digits(r, "time", env);
                    if t.micros.abs() >= TIME_MAX && convert::is_beyond_times(r, rounds(env)) {
                        let told = abridged(r.to_text(), 128);
                        env.warn(
                            codes::TRUNCATED_WRONG_VALUE,
                            format!("Truncated incorrect time value: '{told}'"),
                        );
                    }
                    Val::Ref(ValueRef::Time(t.with_digits(f, rounds(env))))
                }
                None => incorrect("time", r, env),
            },
            TypeKind::Fixed(kind) => {
                Val::Ref(super::fixed::read(r, kind, env).map_or(ValueRef::Null, ValueRef::Fixed))
            }
            TypeKind::Year => Val::int(to_integer(r, &mut Warn(env)).clamp(0, 9999) as i64),
            TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_) => {
                self.cast_text(v, ty, env)
            }
            _ => self.cast_bytes(r, ty.kind, env),
        })
    }

    /// To CHAR.
    fn cast_text<'a>(&self, v: Val<'a>, ty: &ColumnType, env: &StatementEnv) -> Val<'a> {
        let max = match ty.kind {
            TypeKind::Char(n) | TypeKind::VarChar(n) if n != NO_LENGTH => n as usize,
            _ => usize::MAX,
        };
        if max != usize::MAX && max as u64 > env.max_allowed_packet {
            cast_too_long("cast_as_char", env);
        }
        let set = ty.collation.charset();
        if let Val::Ref(ValueRef::Str(s)) = v
            && max >= s.len()
            && set == Charset::Utf8mb4
            && !self.is_of_set_with_private()
        {
            return v;
        }
        let t = text_of(v.as_ref(), set, env);
        let t = match &self.kind {
            ExprKind::Cast(e) if e.ty.ty.collation.charset() != set => {
                e.ty.ty.collation.charset().unveiled(&t)
            }
            _ => t.as_str().into(),
        };
        let t = set.replaced(&t);
        let kept = char_prefix(t.as_bytes(), max);
        if kept.len() < t.len() {
            let told = format!("Truncated incorrect CHAR({max}) value: '{t}'");
            self.warn_of_cut(told, env);
        }
        Val::text(String::from_utf8_lossy(kept).into_owned())
    }

    /// What is cast is text of a character set with codes of its own.
    fn is_of_set_with_private(&self) -> bool {
        matches!(&self.kind, ExprKind::Cast(e) if e.ty.ty.collation.charset().has_private())
    }

    /// A text that is cut is a warning where a number is an error in strict mode.
    fn warn_of_cut(&self, told: String, env: &StatementEnv) {
        match &self.kind {
            ExprKind::Cast(e) if e.ty.is_string() => {
                env.only_warn(codes::TRUNCATED_WRONG_VALUE, told);
            }
            _ => env.warn(codes::TRUNCATED_WRONG_VALUE, told),
        }
    }

    /// To BINARY.
    fn cast_bytes<'a>(&self, r: ValueRef<'_>, kind: TypeKind, env: &StatementEnv) -> Val<'a> {
        let mut b = Vec::new();
        match r {
            ValueRef::Fixed(f) => b.extend_from_slice(f.bytes()),
            r => r.write_text(&mut b),
        }
        if let ExprKind::Cast(e) = &self.kind
            && e.ty.is_string()
            && !matches!(r, ValueRef::Bytes(_))
        {
            // The bytes are those of the character set.
            b = e.ty.ty.collation.charset().encode(&b).into_owned();
        }
        let truncated = |n: u16| {
            let value = abridged(r.to_text(), 128);
            self.warn_of_cut(
                format!("Truncated incorrect BINARY({n}) value: '{value}'"),
                env,
            );
        };
        match kind {
            TypeKind::Binary(n) if n != NO_LENGTH => {
                let n = match env.max_allowed_packet {
                    most if u64::from(n) > most => {
                        cast_too_long("cast_as_binary", env);
                        most as u16
                    }
                    _ => n,
                };
                if b.len() > n as usize {
                    truncated(n);
                }
                b.resize(n as usize, 0);
            }
            TypeKind::VarBinary(n) if n != NO_LENGTH && b.len() > n as usize => {
                truncated(n);
                b.truncate(n as usize);
            }
            _ => {}
        }
        Val::Owned(Value::bytes(b))
    }
}

/// NULL, with a warning that quotes the value.
fn incorrect<'a>(kind: &str, v: ValueRef<'_>, env: &StatementEnv) -> Val<'a> {
    env.warn(
        codes::TRUNCATED_WRONG_VALUE,
        format!("Incorrect {kind} value: '{}'", convert::no_moment(v)),
    );
    Val::NULL
}

/// The note that a number lies beyond the integers of its type.
fn overflows(v: ValueRef<'_>, ty: &str, env: &StatementEnv) {
    env.note(
        codes::DATA_OVERFLOW,
        format!(
            "Got overflow when converting '{}' to {ty}. Value truncated",
            v.to_text()
        ),
    );
}

/// To SIGNED or UNSIGNED.
fn integer<'a>(r: ValueRef<'_>, unsigned: bool, env: &StatementEnv) -> Val<'a> {
    let n = match r {
        ValueRef::Decimal(d) => return exact_as_integer(d, unsigned, env),
        ValueRef::Double(f) => double_as_integer(f, unsigned, env),
        ValueRef::Time(t) => to_integer(ValueRef::Time(t.truncate(0)), &mut Warn(env)),
        ValueRef::DateTime(t) => to_integer(ValueRef::DateTime(t.truncate(0)), &mut Warn(env)),
        r => to_integer(r, &mut Warn(env)),
    };
    if !unsigned {
        if n > i64::MAX as i128 && matches!(r, ValueRef::Str(_) | ValueRef::Bytes(_)) {
            env.note(
                codes::UNKNOWN_ERROR,
                "Cast to signed converted positive out-of-range integer to it's negative complement",
            );
        }
        return Val::int(n as u64 as i64);
    }
    if n < 0 {
        // Doubles and times become 0; others keep their bits.
        if matches!(
            r,
            ValueRef::Double(_) | ValueRef::Float(_) | ValueRef::Time(_)
        ) {
            overflows(r, "UNSIGNED BIGINT", env);
            return Val::Ref(ValueRef::UInt(0));
        }
        env.note(
            codes::UNKNOWN_ERROR,
            "Cast to unsigned converted negative integer to it's positive complement",
        );
    }
    Val::Ref(ValueRef::UInt(n as u64))
}

/// A double as an integer, with a note if it is too large for the type.
fn double_as_integer(f: f64, unsigned: bool, env: &StatementEnv) -> i128 {
    let v = ValueRef::Double(f);
    let n = to_integer(v, &mut Warn(env));
    let (most, ty) = match unsigned {
        true => (u64::MAX as i128, "UNSIGNED BIGINT"),
        false => (i64::MAX as i128, "SIGNED BIGINT"),
    };
    if f.abs() > 2e19 || n > most {
        overflows(v, ty, env);
    }
    match unsigned {
        true => n,
        false => n.min(most),
    }
}

/// The warning about what a text has behind a moment, or a time, and the note about digits that are beyond those of one.
pub(super) fn note_digits(r: ValueRef<'_>, kind: &str, env: &StatementEnv) {
    let rest = match r {
        ValueRef::Str(s) | ValueRef::Bytes(s) => leftover(s, kind != "datetime"),
        _ => None,
    };
    if let Some(read) = rest {
        let kind = if kind == "time" || kind == "datetime" {
            read
        } else {
            kind
        };
        let told = format!("Truncated incorrect {kind} value: '{}'", no_moment(r));
        return env.warn(codes::TRUNCATED_WRONG_VALUE, told);
    }
    if !convert::has_more_digits(r) {
        return;
    }
    let text = r.to_text();
    // A date before it makes a time a moment.
    let kind = match kind == "time" && text.trim_start().get(1..).is_some_and(|t| t.contains('-')) {
        true => "datetime",
        false => kind,
    };
    env.note(
        codes::TRUNCATED_WRONG_VALUE,
        format!(
            "Truncated incorrect {kind} value: '{}'",
            abridged(text, 128)
        ),
    );
}

/// The note about a fraction of a number that is a date.
pub(super) fn note_fraction(r: ValueRef<'_>, env: &StatementEnv) {
    note_digits(r, "datetime", env);
    if convert::has_needless_fraction(r) {
        env.note(
            codes::TRUNCATED_WRONG_VALUE,
            format!(
                "Truncated incorrect date value: '{}'",
                abridged(r.to_text(), 128)
            ),
        );
    }
}

/// To DATE or DATETIME. A time is one of today.
fn date<'a>(r: ValueRef<'_>, kind: TypeKind, env: &StatementEnv) -> Val<'a> {
    let t = match r {
        ValueRef::Time(t) => super::compare::as_moment(t, env),
        r => convert::to_datetime(
            r,
            match kind {
                TypeKind::Date => date_rules(env).of_day(),
                _ => date_rules(env),
            },
        ),
    };
    if t.is_some() {
        note_fraction(r, env);
    }
    match (t, kind) {
        (None, _) => incorrect("datetime", r, env),
        (Some(t), TypeKind::DateTime(f) | TypeKind::Timestamp(f)) => {
            Val::Ref(ValueRef::DateTime(t.with_digits(f, rounds(env))))
        }
        (Some(t), _) => Val::Ref(ValueRef::Date(t.date)),
    }
}

/// The text of a value. Bytes are taken as text of the set; a warning tells of those that are none.
fn text_of(r: ValueRef<'_>, set: Charset, env: &StatementEnv) -> String {
    let ValueRef::Bytes(b) = r else {
        return r.to_text();
    };
    if set.stores_utf8() {
        if let Err(e) = std::str::from_utf8(b) {
            let bad = shown(&b[e.valid_up_to()..]);
            let told = format!("Invalid {} character string: '{bad}'", set.name());
            env.warn(codes::INVALID_CHARACTER_STRING, told);
            return questioned(b);
        }
        return r.to_text();
    }
    match set.text_of(b) {
        Ok(t) => t.into_owned(),
        Err(bad) => {
            let told = format!("Invalid {} character string: '{bad}'", set.name());
            env.warn(codes::INVALID_CHARACTER_STRING, told);
            set.decode(&set.aligned(b)).into_owned()
        }
    }
}

/// The text with a question mark for each byte that is part of no character.
fn questioned(b: &[u8]) -> String {
    let mut out = String::with_capacity(b.len());
    for part in b.utf8_chunks() {
        out.push_str(part.valid());
        out.extend(part.invalid().iter().map(|_| '?'));
    }
    out
}

/// Warning 1301 for a CAST to more than a value may have.
#[cold]
fn cast_too_long(name: &str, env: &StatementEnv) {
    env.warn(
        codes::WARN_ALLOWED_PACKET_OVERFLOWED,
        format!(
            "Result of {name}() was larger than max_allowed_packet ({}) - truncated",
            env.max_allowed_packet
        ),
    );
}

/// CAST of an exact number to an integer: rounded, and what is out of range becomes the end of the range.
fn exact_as_integer<'a>(d: Decimal, unsigned: bool, env: &StatementEnv) -> Val<'a> {
    let kept = convert::exact_to_integer(&d, unsigned, &mut Warn(env));
    Val::Ref(match unsigned {
        true => ValueRef::UInt(kept as u64),
        false => ValueRef::Int(kept as i64),
    })
}
