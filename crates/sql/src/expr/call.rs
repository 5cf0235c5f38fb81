//! Calls: their arguments evaluated, and what functions need of them.

use super::compare::{as_moment, compare_one};
use super::named::naming;
use crate::expr::node::Call;
use crate::expr::node::Function;
use crate::expr::node::{EvalCtx, Expr, ExprKind, RowAccess};
use crate::expr::node::{Nulls, Operands, Run};
use crate::expr::value::{Told, Val, Warn, date_rules, with_text};
use crate::literal::bits_number;
use crate::seeded::Seeded;
use narwal_types::collation::{char_count, char_prefix};
use narwal_types::convert::no_moment;
use narwal_types::convert::{self, to_f64, to_i64, to_integer};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::temporal_parse::DateRules;
use narwal_types::work::Work;
use narwal_types::{
    Charset, Collation, Date, DateTime, SqlError, SqlResult, Time, TypeKind, Value, ValueRef,
};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::atomic::Ordering::Relaxed;

/// Evaluates a function; `raw`: a quotient that it gives on keeps all its digits.
pub(crate) fn call<'a>(
    expr: &'a Expr,
    (func, args): (&'static Function, &'a [Expr]),
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
    raw: bool,
) -> SqlResult<Val<'a>> {
    // Before its arguments, which may be long.
    ctx.env.check_stopped()?;
    let run = match func.run {
        Run::Values(run) => run,
        Run::Operands(run) => {
            let v = run(&Operands {
                expr,
                args,
                ctx,
                row,
                raw,
            })?;
            ctx.env.check_stopped()?;
            return Ok(v);
        }
    };
    let args = args
        .iter()
        .map(|a| match func.computes {
            true => a.eval_unrounded(ctx, row),
            false => a.eval_ref(ctx, row),
        })
        .collect::<SqlResult<Vec<_>>>()?;
    reserve_for(&args, ctx)?;
    let null = match func.nulls {
        Nulls::Result => args.iter().any(Val::is_null),
        Nulls::OfFirst => args.first().is_some_and(Val::is_null),
        Nulls::Seen => false,
    };
    if null {
        return Ok(Val::NULL);
    }
    let c = Call {
        expr,
        func,
        ctx,
        args,
        raw,
    };
    let v = match func.unwinds {
        true => narwal_memory::unwinding(|| run(&c))??,
        false => run(&c)?,
    };
    // A long one ends early when its statement is to end; its value is nothing then.
    ctx.env.check_interrupt()?;
    Ok(match func.computes {
        true => expr.fitted(v, raw),
        false => v,
    })
}

/// A function may take so many times its texts while it works: a copy, another form of it, the result and its growth.
const COPIES: u64 = 4;

/// Bytes of texts that take a function some time.
const LONG: u64 = 64 << 10;

/// Asks the accountant for what a function needs of its texts. So each call of an expression is a place where a statement that
/// holds too much ends, and no function has to ask for itself unless it makes more of its arguments than that.
#[inline]
pub(crate) fn reserve_for(args: &[Val<'_>], ctx: &EvalCtx<'_>) -> SqlResult<()> {
    let mut bytes = 0;
    for a in args {
        if let ValueRef::Str(s) | ValueRef::Bytes(s) = a.as_ref() {
            bytes += s.len() as u64;
        }
    }
    // What works on long texts takes long, too.
    if bytes >= LONG {
        ctx.env.check_interrupt()?;
    }
    Ok(narwal_memory::reserve(bytes * COPIES)?)
}

/// Error 1210.
pub(crate) fn wrong_arguments(name: &str) -> SqlError {
    errors::WRONG_ARGUMENTS.with([&name])
}

/// Digits behind the point of a moment's text.
pub(super) fn fraction_of_text(s: &[u8]) -> u8 {
    let point = s.iter().rposition(|b| *b == b'.');
    point.map_or(0, |at| (s.len() - at - 1).min(6) as u8)
}

impl<'a> Call<'a, '_> {
    pub(crate) fn v(&self, i: usize) -> ValueRef<'_> {
        self.args.get(i).map_or(ValueRef::Null, Val::as_ref)
    }

    /// The arguments as bound.
    pub(crate) fn exprs(&self) -> &'a [Expr] {
        match &self.expr.kind {
            crate::expr::node::ExprKind::Func { args, .. } => args,
            _ => &[],
        }
    }

    /// An argument in a numeric place: a literal `0x41` is a number there, and so is BIT, though functions of texts have its
    /// bytes.
    pub(crate) fn number(&self, i: usize) -> ValueRef<'_> {
        let is_number = |e: &Expr| match &e.kind {
            ExprKind::Literal(_) => e.ty.bits,
            ExprKind::Cast(of) => matches!(of.ty.ty.kind, TypeKind::Bit(_)),
            _ => false,
        };
        match self.v(i) {
            ValueRef::Bytes(b) if self.exprs().get(i).is_some_and(is_number) => {
                ValueRef::UInt(bits_number(b))
            }
            v => v,
        }
    }

    /// Who is told what is wrong with a text that should be a number: nobody if it is that of a user variable.
    pub(crate) fn told(&self, i: usize) -> Told<'_> {
        let silent = self.exprs().get(i).is_some_and(Expr::is_user_variable);
        Told((!silent).then_some(Warn(self.ctx.env)))
    }

    pub(crate) fn int(&self, i: usize) -> i64 {
        to_i64(self.number(i), &mut self.told(i))
    }

    pub(crate) fn f64(&self, i: usize) -> f64 {
        to_f64(self.number(i), &mut self.told(i))
    }

    pub(crate) fn text(&self, i: usize) -> String {
        self.v(i).to_text()
    }

    /// A string in the domain of the call's type: bytes stay bytes.
    pub(crate) fn string(&self, b: Vec<u8>) -> SqlResult<Val<'a>> {
        if b.len() as u64 > self.ctx.env.max_allowed_packet {
            self.too_long();
            return Ok(Val::NULL);
        }
        if self.expr.ty.ty.collation == Collation::Binary && self.expr.ty.ty.is_string() {
            return Ok(Val::Owned(Value::bytes(b)));
        }
        Ok(match String::from_utf8(b) {
            Ok(s) => Val::text(s),
            Err(e) => Val::Owned(Value::bytes(e.into_bytes())),
        })
    }

    /// Asked before a result of so many bytes is made: false, with a warning, if it would be longer than a value may be.
    pub(crate) fn may_be(&self, bytes: u64) -> SqlResult<bool> {
        if bytes > self.ctx.env.max_allowed_packet {
            self.too_long();
            return Ok(false);
        }
        narwal_memory::reserve(bytes)?;
        Ok(true)
    }

    pub(crate) fn too_long(&self) {
        self.ctx.env.warn(
            codes::WARN_ALLOWED_PACKET_OVERFLOWED,
            format!(
                "Result of {}() was larger than max_allowed_packet ({}) - truncated",
                self.func.name(),
                self.ctx.env.max_allowed_packet
            ),
        );
    }

    pub(crate) fn rules(&self) -> DateRules {
        date_rules(self.ctx.env)
    }

    /// An argument as a datetime; a warning and `None` if it is none.
    pub(crate) fn datetime(&self, i: usize) -> Option<DateTime> {
        self.naming(i, || self.datetime_by(i, self.rules()))
    }

    /// The same of which only the day is wanted.
    pub(crate) fn day(&self, i: usize) -> Option<Date> {
        self.naming(i, || self.datetime_by(i, self.rules().of_day()))
            .map(|t| t.date)
    }

    fn is_year(&self, i: usize) -> bool {
        !self.v(i).is_null()
            && (self.exprs().get(i)).is_some_and(|e| e.ty.ty.kind == TypeKind::Year)
    }

    /// An argument as dates and times are read of it: a year is one without month and day, BIT is bytes.
    fn as_moment_is_read<'v>(&'v self, i: usize, bytes: &'v mut Vec<u8>) -> ValueRef<'v> {
        match self.v(i) {
            ValueRef::Int(y) if self.is_year(i) => ValueRef::Int(y * 10_000),
            ValueRef::UInt(y) if self.is_year(i) => ValueRef::UInt(y * 10_000),
            ValueRef::Bits(b) => {
                b.write(bytes);
                ValueRef::Bytes(bytes)
            }
            v => v,
        }
    }

    fn datetime_by(&self, i: usize, rules: DateRules) -> Option<DateTime> {
        let mut bytes = Vec::new();
        let v = self.as_moment_is_read(i, &mut bytes);
        let t = match v {
            ValueRef::Time(t) if !self.ctx.env.zero_dates => return as_moment(t, self.ctx.env),
            // Whether such a moment will do is a question of the rules.
            ValueRef::Time(t) => as_moment(t, self.ctx.env)
                .and_then(|t| convert::to_datetime(ValueRef::DateTime(t), rules)),
            v => convert::to_datetime(v, rules),
        };
        if t.is_none() {
            self.ctx.env.warn(
                codes::TRUNCATED_WRONG_VALUE,
                format!("Incorrect datetime value: '{}'", no_moment(v)),
            );
        } else {
            super::cast::note_fraction(v, self.ctx.env);
        }
        t
    }

    /// A day of the calendar.
    pub(crate) fn real_date(&self, i: usize) -> Option<Date> {
        let date = self.datetime(i)?.date;
        let v = self.v(i);
        if !date.is_real() && !matches!(v, ValueRef::Date(_) | ValueRef::DateTime(_)) {
            // What is read as a date is asked for one of the calendar.
            let shown = match v {
                ValueRef::Int(_) | ValueRef::UInt(_) if self.is_year(i) => {
                    no_moment(ValueRef::Int(i64::from(date.year) * 10_000))
                }
                v => no_moment(v),
            };
            self.naming(i, || {
                self.ctx.env.warn(
                    codes::TRUNCATED_WRONG_VALUE,
                    format!("Incorrect datetime value: '{shown}'"),
                );
            });
        }
        date.is_real().then_some(date)
    }

    pub(crate) fn time(&self, i: usize) -> Option<Time> {
        self.naming(i, || self.read_time(i))
    }

    /// Calls `f`, which reads an argument as a date or a time: warnings name the column that it is.
    pub(crate) fn naming<T>(&self, i: usize, f: impl FnOnce() -> T) -> T {
        match self.exprs().get(i) {
            Some(e) => naming([e], self.ctx.env, f),
            None => f(),
        }
    }

    fn read_time(&self, i: usize) -> Option<Time> {
        let mut bytes = Vec::new();
        let v = match self.is_year(i) {
            // The time of day of a date.
            true => ValueRef::Time(Time::default()),
            false => self.as_moment_is_read(i, &mut bytes),
        };
        let t = convert::to_time(v, self.rules().rounds);
        if t.is_none() {
            self.ctx.env.warn(
                codes::TRUNCATED_WRONG_VALUE,
                format!("Incorrect time value: '{}'", no_moment(v)),
            );
        } else {
            super::cast::note_digits(v, "time", self.ctx.env);
        }
        t
    }

    pub(crate) fn double(&self, f: f64) -> SqlResult<Val<'a>> {
        if f.is_finite() {
            // There is no negative zero.
            Ok(Val::Ref(ValueRef::Double(f + 0.0)))
        } else if f.is_nan() {
            Ok(Val::NULL)
        } else {
            Err(errors::DATA_OUT_OF_RANGE
                .text(format!("DOUBLE value is out of range in '{}'", self.said())))
        }
    }

    /// The call as messages have it.
    pub(crate) fn said(&self) -> Expr {
        self.expr.with_values(self.ctx.params)
    }

    pub(crate) fn opt_int(v: Option<i64>) -> SqlResult<Val<'a>> {
        Ok(v.map_or(Val::NULL, Val::int))
    }

    pub(crate) fn local_now(&self) -> i64 {
        self.ctx.env.time_zone.local(self.ctx.env.now_micros)
    }

    /// Digits behind the seconds of a moment among the arguments. A text that is known before the rows are read has its own,
    /// others have all.
    pub(crate) fn fraction(&self, i: usize) -> u8 {
        let Some(e) = self.exprs().get(i) else {
            return 0;
        };
        match (self.v(i), e.ty.ty.kind) {
            (_, TypeKind::Time(f) | TypeKind::DateTime(f) | TypeKind::Timestamp(f)) => f,
            (_, TypeKind::Decimal(_, s)) => s.min(6),
            (_, TypeKind::Date | TypeKind::Year | TypeKind::Bit(_)) => 0,
            _ if e.ty.ty.is_integer() => 0,
            (ValueRef::Str(s) | ValueRef::Bytes(s), _) if !e.is_of_rows() => fraction_of_text(s),
            _ => 6,
        }
    }

    pub(crate) fn fsp(&self) -> u8 {
        self.expr.ty.ty.scale().unwrap_or(0)
    }

    pub(crate) fn moment(&self, micros: i64) -> SqlResult<Val<'a>> {
        let t = DateTime::from_unix_micros(micros, 6).unwrap_or_default();
        let fsp = self.fsp();
        Ok(Val::Ref(match self.expr.ty.ty.kind {
            TypeKind::Date => ValueRef::Date(t.date),
            TypeKind::Time(_) => ValueRef::Time(
                Time {
                    micros: t.micros as i64,
                    fsp: 6,
                }
                .truncate(fsp),
            ),
            _ => ValueRef::DateTime(t.truncate(fsp)),
        }))
    }

    /// An argument's text.
    pub(crate) fn bytes(&self, i: usize) -> Cow<'_, [u8]> {
        match self.v(i) {
            ValueRef::Str(s) | ValueRef::Bytes(s) => Cow::Borrowed(s),
            v => {
                let mut text = Vec::new();
                v.write_text(&mut text);
                Cow::Owned(text)
            }
        }
    }

    /// The first `n` characters of an argument's text.
    pub(crate) fn head<'s>(&self, i: usize, text: &'s [u8], n: usize) -> &'s [u8] {
        match self.is_bytes(i) {
            true => &text[..n.min(text.len())],
            false => char_prefix(text, n),
        }
    }

    pub(crate) fn is_bytes(&self, i: usize) -> bool {
        matches!(self.v(i), ValueRef::Bytes(_))
    }

    /// Character set of an argument's type.
    pub(crate) fn charset(&self, i: usize) -> Charset {
        self.collation_of(i).charset()
    }

    /// Collation of an argument.
    pub(crate) fn collation_of(&self, i: usize) -> Collation {
        match &self.expr.kind {
            crate::expr::node::ExprKind::Func { args, .. } => args
                .get(i)
                .map_or(Collation::default(), |a| a.ty.ty.collation),
            _ => Collation::default(),
        }
    }

    /// The bytes of a value in its own character set: what functions see that work on bytes.
    pub(crate) fn with_bytes<T>(&self, i: usize, f: impl FnOnce(&[u8]) -> T) -> T {
        with_text(self.v(i), |s| match self.v(i) {
            ValueRef::Bytes(_) | ValueRef::Bits(_) => f(s),
            _ => f(&self.charset(i).encode(s)),
        })
    }

    /// How many bytes a value has in its own character set.
    pub(crate) fn byte_length(&self, i: usize) -> i64 {
        self.with_bytes(i, <[u8]>::len) as i64
    }

    pub(crate) fn length(&self, i: usize) -> usize {
        with_text(self.v(i), |s| {
            if self.is_bytes(i) {
                s.len()
            } else {
                char_count(s)
            }
        })
    }

    /// Characters `from..to` of an argument.
    pub(crate) fn slice(&self, i: usize, from: usize, to: usize) -> SqlResult<Val<'a>> {
        let b = with_text(self.v(i), |s| {
            if self.is_bytes(i) {
                let to = to.min(s.len());
                s[from.min(to)..to].to_vec()
            } else {
                let head = char_prefix(s, to);
                let skip = char_prefix(head, from).len();
                head[skip..].to_vec()
            }
        });
        self.string(b)
    }

    /// Position of `needle` in `hay` from character `from`, both by collation; counts characters from 1, 0 if absent.
    pub(crate) fn locate(&self, needle: usize, hay: usize, from: usize) -> SqlResult<Val<'a>> {
        let collation = super::types::compare_collation(self.exprs().iter().take(2), "locate")?;
        let collation = if self.is_bytes(needle) || self.is_bytes(hay) {
            Collation::Binary
        } else {
            collation
        };
        let (h, n) = (self.bytes(hay), self.bytes(needle));
        let mut work = Work::default();
        let length = self.length(hay);
        if from > length || from > 0 && from == length {
            return Ok(Val::int(0));
        }
        if n.is_empty() {
            return Ok(Val::int(from as i64 + 1));
        }
        // As MariaDB searches: a place has as many bytes as what is looked for, whatever its characters are equal to. In
        // latin1 and others that is as many characters.
        let by_characters = !collation.charset().stores_utf8();
        let wanted = match by_characters && !self.is_bytes(needle) {
            true => char_count(&n),
            false => n.len(),
        };
        let plain = self.is_bytes(hay);
        let begins = |at: usize| plain || h.get(at).is_none_or(|b| *b & 0xc0 != 0x80);
        let mut at = self.head(hay, &h, from).len();
        let mut number = from;
        while at < h.len() {
            let place = match by_characters && !plain {
                true => {
                    let place = char_prefix(&h[at..], wanted);
                    (char_count(place) == wanted).then_some(place)
                }
                false => {
                    (h.len() - at >= wanted && begins(at + wanted)).then(|| &h[at..at + wanted])
                }
            };
            if place.is_some_and(|p| *p == *n || collation.equal(p, &n)) {
                return Ok(Val::int(number as i64 + 1));
            }
            if work.stops(wanted) {
                break;
            }
            number += 1;
            at += 1;
            while !begins(at) {
                at += 1;
            }
        }
        Ok(Val::int(0))
    }

    /// The collation that the arguments are compared by.
    pub(crate) fn shared_collation(&self) -> Collation {
        super::types::compare_collation(self.exprs(), self.func.name()).unwrap_or_default()
    }

    /// The collation that two of the arguments are compared by.
    pub(crate) fn shared_collation_of(&self, a: usize, b: usize) -> Collation {
        match self.exprs() {
            [] => Collation::default(),
            args => super::types::compare_collation([&args[a], &args[b]], self.func.name())
                .unwrap_or_default(),
        }
    }

    pub(crate) fn compare(&self, a: usize, b: usize) -> Option<Ordering> {
        let c = self.shared_collation_of(a, b);
        let order = || compare_one(self.v(a), self.v(b), c, self.ctx.env);
        match self.exprs() {
            [] => order(),
            args => naming([&args[a], &args[b]], self.ctx.env, order),
        }
    }

    pub(crate) fn bits(&self, i: usize) -> u64 {
        to_integer(self.number(i), &mut self.told(i)) as u64
    }

    /// The next number of the series that `rand_seed1` and `rand_seed2` begin, if they were set.
    pub(crate) fn in_series(&self) -> Option<f64> {
        let word = &self.ctx.env.rand_seeds;
        let mut series = Seeded::of_word(word.load(Relaxed))?;
        let next = series.next();
        word.store(series.word(), Relaxed);
        Some(next)
    }

    /// The next random number of the session (splitmix64).
    pub(crate) fn random(&self) -> u64 {
        let s = self
            .ctx
            .env
            .rand_state
            .get()
            .wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.ctx.env.rand_state.set(s);
        mix(s)
    }
}

fn mix(s: u64) -> u64 {
    let mut z = s;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// 53 bits as a number in [0, 1).
pub(crate) fn unit_interval(v: u64) -> f64 {
    (v >> 11) as f64 / (1u64 << 53) as f64
}
