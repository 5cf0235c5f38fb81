//! What the functions do.

use super::compare::{compare, on_today};
use super::eval::{Val, Warn, date_rules, with_text};
use super::func::Func;
use super::{EvalCtx, Expr, RowAccess};
use narwal_types::collation::{char_count, char_prefix};
use narwal_types::convert::{self, to_f64, to_i64, to_integer};
use narwal_types::temporal_parse::DateRules;
use narwal_types::work::Work;
use narwal_types::{
    Charset, Collation, Date, DateTime, SqlError, SqlResult, Time, TypeKind, Value, ValueRef,
};
use std::borrow::Cow;
use std::cmp::Ordering;

/// A call with its evaluated arguments.
pub(super) struct Call<'a, 'c> {
    pub(super) expr: &'a Expr,
    pub(super) func: Func,
    pub(super) ctx: &'c EvalCtx<'a>,
    pub(super) args: Vec<Val<'a>>,
}

/// Evaluates a function; `raw`: a quotient that it gives on keeps all its digits.
pub(super) fn call<'a>(
    expr: &'a Expr,
    (func, args): (Func, &'a [Expr]),
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
    raw: bool,
) -> SqlResult<Val<'a>> {
    let passed = |e: &'a Expr| expr.branch_value(e, ctx, row);
    // Functions that don't evaluate all their arguments.
    match func {
        Func::If => {
            let t = super::eval::truth(args[0].eval_unrounded(ctx, row)?.as_ref(), ctx)?;
            return Ok(expr.fitted(passed(&args[if t == Some(true) { 1 } else { 2 }])?, raw));
        }
        Func::Coalesce | Func::Ifnull => {
            for a in args {
                let v = passed(a)?;
                if !v.is_null() {
                    return Ok(expr.fitted(v, raw));
                }
            }
            return Ok(Val::NULL);
        }
        Func::Benchmark => return benchmark(args, ctx, row),
        _ => {}
    }
    let unrounded = func.computes();
    let first = args.first();
    let args = args
        .iter()
        .map(|a| match unrounded {
            true => a.eval_unrounded(ctx, row),
            false => a.eval_ref(ctx, row),
        })
        .collect::<SqlResult<Vec<_>>>()?;
    reserve_for(&args, ctx)?;
    let c = Call {
        expr,
        func,
        ctx,
        args,
    };
    // Most functions of NULL are NULL.
    let null_is_null = !matches!(
        func,
        Func::ConcatWs
            | Func::Char
            | Func::Elt
            | Func::Field
            | Func::Isnull
            | Func::Interval
            | Func::Nullif
            | Func::Quote
            | Func::Replace
            | Func::Charset
            | Func::Collation
            | Func::Coercibility
            | Func::LastInsertId
            | Func::Rand
            | Func::Sleep
            | Func::Benchmark
            | Func::MasterGtidWait
            | Func::MasterPosWait
            | Func::GetLock
    ) && !matches!(func, Func::Listed(f) if f.takes_null);
    // The mode of a week is 0 where it is NULL.
    let of_first = matches!(func, Func::Week | Func::YearWeek);
    let asked = if of_first { c.args.get(..1) } else { None }.unwrap_or(&c.args);
    if null_is_null && asked.iter().any(Val::is_null) {
        return Ok(Val::NULL);
    }
    let v = c.run()?;
    // A long one ends early when its statement is to end; its value is nothing then.
    ctx.env.check_interrupt()?;
    match (v.as_ref(), func, first) {
        // What it compares are shown digits.
        (ValueRef::Decimal(_), Func::Nullif, Some(e)) if raw => e.eval_unrounded(ctx, row),
        (ValueRef::Decimal(d), Func::TimeToSec, _) if raw => {
            Ok(Val::Ref(ValueRef::Decimal(d.round(6))))
        }
        _ if unrounded => Ok(expr.fitted(v, raw)),
        _ => Ok(v),
    }
}

/// A function may take so many times its texts while it works: a copy, another form of it, the result and its growth.
const COPIES: u64 = 4;

/// Bytes of texts that take a function some time.
const LONG: u64 = 64 << 10;

/// Asks the accountant for what a function needs of its texts. So each call of an expression is a place where a statement that
/// holds too much ends, and no function has to ask for itself unless it makes more of its arguments than that.
#[inline]
fn reserve_for(args: &[Val<'_>], ctx: &EvalCtx<'_>) -> SqlResult<()> {
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

/// BENCHMARK(): evaluates an expression so many times. NULL, with a warning, for a negative number.
fn benchmark<'a>(
    args: &'a [Expr],
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Val<'a>> {
    let times = args[0].eval_ref(ctx, row)?;
    if times.is_null() {
        return Ok(Val::NULL);
    }
    let times = to_i64(times.as_ref(), &mut Warn(ctx.env));
    if times < 0 {
        ctx.env.warn(
            1411,
            format!("Incorrect count value: '{times}' for function benchmark"),
        );
        return Ok(Val::NULL);
    }
    for _ in 0..times {
        args[1].eval_ref(ctx, row)?;
        ctx.env.check_interrupt()?;
    }
    Ok(Val::int(0))
}

pub(super) fn wrong_arguments(name: &str) -> SqlError {
    SqlError::new(1210, b"HY000", format!("Incorrect arguments to {name}"))
}

impl<'a> Call<'a, '_> {
    pub(in crate::expr) fn v(&self, i: usize) -> ValueRef<'_> {
        self.args.get(i).map_or(ValueRef::Null, Val::as_ref)
    }

    /// The arguments as bound.
    pub(in crate::expr) fn exprs(&self) -> &'a [Expr] {
        match &self.expr.kind {
            super::ExprKind::Func { args, .. } => args,
            _ => &[],
        }
    }

    pub(in crate::expr) fn int(&self, i: usize) -> i64 {
        to_i64(self.v(i), &mut Warn(self.ctx.env))
    }

    pub(in crate::expr) fn f64(&self, i: usize) -> f64 {
        to_f64(self.v(i), &mut Warn(self.ctx.env))
    }

    pub(in crate::expr) fn text(&self, i: usize) -> String {
        self.v(i).to_text()
    }

    /// A string in the domain of the call's type: bytes stay bytes.
    pub(in crate::expr) fn string(&self, b: Vec<u8>) -> SqlResult<Val<'a>> {
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
    pub(in crate::expr) fn may_be(&self, bytes: u64) -> SqlResult<bool> {
        if bytes > self.ctx.env.max_allowed_packet {
            self.too_long();
            return Ok(false);
        }
        narwal_memory::reserve(bytes)?;
        Ok(true)
    }

    pub(in crate::expr) fn too_long(&self) {
        self.ctx.env.warn(
            1301,
            format!(
                "Result of {}() was larger than max_allowed_packet ({}) - truncated",
                self.func.name(),
                self.ctx.env.max_allowed_packet
            ),
        );
    }

    pub(in crate::expr) fn rules(&self) -> DateRules {
        date_rules(self.ctx.env)
    }

    /// An argument as a datetime; a warning and `None` if it is none.
    pub(in crate::expr) fn datetime(&self, i: usize) -> Option<DateTime> {
        let v = self.v(i);
        if let ValueRef::Time(t) = v {
            return Some(on_today(t, self.ctx.env));
        }
        let t = convert::to_datetime(v, self.rules());
        if t.is_none() {
            self.ctx
                .env
                .warn(1292, format!("Incorrect datetime value: '{}'", v.to_text()));
        }
        t
    }

    /// A day of the calendar.
    pub(in crate::expr) fn real_date(&self, i: usize) -> Option<Date> {
        self.datetime(i).map(|t| t.date).filter(Date::is_real)
    }

    pub(in crate::expr) fn time(&self, i: usize) -> Option<Time> {
        let v = self.v(i);
        let t = convert::to_time(v);
        if t.is_none() {
            self.ctx
                .env
                .warn(1292, format!("Incorrect time value: '{}'", v.to_text()));
        }
        t
    }

    pub(in crate::expr) fn double(&self, f: f64) -> SqlResult<Val<'a>> {
        if f.is_finite() {
            // There is no negative zero.
            Ok(Val::Ref(ValueRef::Double(f + 0.0)))
        } else if f.is_nan() {
            Ok(Val::NULL)
        } else {
            Err(SqlError::new(
                1690,
                b"22003",
                format!("DOUBLE value is out of range in '{}'", self.expr),
            ))
        }
    }

    pub(in crate::expr) fn opt_int(v: Option<i64>) -> SqlResult<Val<'a>> {
        Ok(v.map_or(Val::NULL, Val::int))
    }

    pub(in crate::expr) fn local_now(&self) -> i64 {
        self.ctx.env.time_zone.local(self.ctx.env.now_micros)
    }

    pub(in crate::expr) fn fsp(&self) -> u8 {
        self.expr.ty.ty.scale().unwrap_or(0)
    }

    pub(in crate::expr) fn moment(&self, micros: i64) -> SqlResult<Val<'a>> {
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
    pub(in crate::expr) fn bytes(&self, i: usize) -> Cow<'_, [u8]> {
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
    pub(in crate::expr) fn head<'s>(&self, i: usize, text: &'s [u8], n: usize) -> &'s [u8] {
        match self.is_bytes(i) {
            true => &text[..n.min(text.len())],
            false => char_prefix(text, n),
        }
    }

    pub(in crate::expr) fn is_bytes(&self, i: usize) -> bool {
        matches!(self.v(i), ValueRef::Bytes(_))
    }

    /// Character set of an argument's type.
    pub(in crate::expr) fn charset(&self, i: usize) -> Charset {
        match &self.expr.kind {
            super::ExprKind::Func { args, .. } => args
                .get(i)
                .map_or(Charset::Utf8mb4, |a| a.ty.ty.collation.charset()),
            _ => Charset::Utf8mb4,
        }
    }

    /// Bytes of a value in its own character set.
    pub(in crate::expr) fn byte_length(&self, i: usize) -> i64 {
        with_text(self.v(i), |s| match self.v(i) {
            ValueRef::Bytes(_) | ValueRef::Bits(_) => s.len(),
            _ => self.charset(i).encode(s).len(),
        }) as i64
    }

    pub(in crate::expr) fn length(&self, i: usize) -> usize {
        with_text(self.v(i), |s| {
            if self.is_bytes(i) {
                s.len()
            } else {
                char_count(s)
            }
        })
    }

    /// Characters `from..to` of an argument.
    pub(in crate::expr) fn slice(&self, i: usize, from: usize, to: usize) -> SqlResult<Val<'a>> {
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
    pub(in crate::expr) fn locate(
        &self,
        needle: usize,
        hay: usize,
        from: usize,
    ) -> SqlResult<Val<'a>> {
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
        // latin1 that is as many characters.
        let latin1 = collation.charset() == Charset::Latin1;
        let wanted = match latin1 && !self.is_bytes(needle) {
            true => char_count(&n),
            false => n.len(),
        };
        let plain = self.is_bytes(hay);
        let begins = |at: usize| plain || h.get(at).is_none_or(|b| *b & 0xc0 != 0x80);
        let mut at = self.head(hay, &h, from).len();
        let mut number = from;
        while at < h.len() {
            let place = match latin1 && !plain {
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
    pub(in crate::expr) fn shared_collation(&self) -> Collation {
        super::types::compare_collation(self.exprs(), self.func.name()).unwrap_or_default()
    }

    pub(in crate::expr) fn compare(&self, a: usize, b: usize) -> Option<Ordering> {
        let c = match self.exprs() {
            [] => Collation::default(),
            args => super::types::compare_collation([&args[a], &args[b]], self.func.name())
                .unwrap_or_default(),
        };
        compare(self.v(a), self.v(b), c, self.ctx.env)
    }

    pub(in crate::expr) fn run(&self) -> SqlResult<Val<'a>> {
        use Func::*;
        let env = self.ctx.env;
        match self.func {
            If | Coalesce | Ifnull => Ok(Val::NULL),
            Isnull => Ok(Val::int(self.v(0).is_null() as i64)),
            Nullif => Ok(if self.compare(0, 1) == Some(Ordering::Equal) {
                Val::NULL
            } else {
                self.args[0].clone()
            }),
            Interval => {
                if self.v(0).is_null() {
                    return Ok(Val::int(-1));
                }
                // Texts count as numbers.
                let texts = (0..self.args.len())
                    .any(|i| matches!(self.v(i), ValueRef::Str(_) | ValueRef::Bytes(_)));
                let n = (1..self.args.len())
                    .take_while(|i| match texts {
                        true => self.v(*i).is_null() || self.f64(*i) <= self.f64(0),
                        false => {
                            compare(self.v(*i), self.v(0), narwal_types::Collation::Binary, env)
                                .is_none_or(|o| o != Ordering::Greater)
                        }
                    })
                    .count();
                Ok(Val::int(n as i64))
            }
            Greatest | Least => {
                let want = if self.func == Greatest {
                    Ordering::Greater
                } else {
                    Ordering::Less
                };
                let mut best = 0;
                for i in 1..self.args.len() {
                    if self.compare(i, best) == Some(want) {
                        best = i;
                    }
                }
                Ok(self.args[best].clone())
            }
            Ascii | BitLength | Char | CharLength | Concat | ConcatWs | Elt | Field | FindInSet
            | Hex | Insert | Instr | Lcase | Left | Length | Locate | Lpad | Ltrim | Md5 | Oct
            | Ord | Quote | Repeat | Replace | Reverse | Right | Rpad | Rtrim | Sha1 | Sha2
            | Space | Strcmp | Substring | SubstringIndex | Trim | TrimLeading | TrimTrailing
            | Ucase | Unhex | Uuid | Bin | Conv => self.strings(),
            Abs | Acos | Asin | Atan | BitCount | Ceiling | Cos | Cot | Degrees | Exp | Floor
            | Ln | Log | Log10 | Log2 | Pi | Pow | Radians | Rand | Round | Sign | Sin | Sqrt
            | Tan | Truncate => self.numbers(),
            Charset => Ok(Val::text(self.arg_collation().charset().name().to_string())),
            Collation => Ok(Val::text(self.arg_collation().name().to_string())),
            Coercibility => Ok(Val::int(match &self.expr.kind {
                super::ExprKind::Func { args, .. } => match args[0].ty.coercibility {
                    super::Coercibility::Explicit => 0,
                    super::Coercibility::Implicit => 2,
                    super::Coercibility::SysConst => 3,
                    super::Coercibility::Coercible => 4,
                    super::Coercibility::Numeric => 5,
                    super::Coercibility::Ignorable => 6,
                },
                _ => 4,
            })),
            ConnectionId => Ok(Val::Ref(ValueRef::UInt(env.connection_id))),
            CurrentUser => Ok(Val::text(env.current_user.to_string())),
            User => Ok(Val::text(env.user.to_string())),
            Version => Ok(Val::text(env.version.to_string())),
            Database => Ok(match &env.db {
                Some(d) => Val::text(d.to_string()),
                None => Val::NULL,
            }),
            FoundRows => Ok(Val::int(env.found_rows as i64)),
            RowCount => Ok(Val::int(env.row_count)),
            LastInsertId => {
                if self.args.is_empty() {
                    return Ok(Val::Ref(ValueRef::UInt(env.last_insert_id)));
                }
                if self.v(0).is_null() {
                    env.last_insert_id_set.set(Some(0));
                    return Ok(Val::NULL);
                }
                let n = convert::to_u64(self.v(0), &mut Warn(env));
                env.last_insert_id_set.set(Some(n));
                Ok(Val::Ref(ValueRef::UInt(n)))
            }
            Sleep => self.sleep(),
            BinlogGtidPos => self.binlog_gtid_pos(),
            MasterGtidWait => self.master_gtid_wait(),
            MasterPosWait => self.master_pos_wait(),
            GetLock | ReleaseLock | ReleaseAllLocks | IsFreeLock | IsUsedLock => self.named_lock(),
            Listed(f) => f.run(self),
            Regexp => Ok(Val::int(super::functions::regexp_matches(
                env,
                self.v(0),
                self.v(1),
                super::types::compare_collation(self.exprs(), "regexp")?,
            )? as i64)),
            _ => self.dates(),
        }
    }

    pub(in crate::expr) fn arg_collation(&self) -> Collation {
        match &self.expr.kind {
            super::ExprKind::Func { args, .. } if args[0].ty.ty.is_string() => {
                args[0].ty.ty.collation
            }
            _ => Collation::Binary,
        }
    }

    /// Waits in small steps, so that KILL ends it.
    pub(in crate::expr) fn sleep(&self) -> SqlResult<Val<'a>> {
        if self.v(0).is_null() || self.f64(0) < 0.0 {
            return Ok(Val::int(0));
        }
        let secs = self.f64(0).min(1e9);
        let end = std::time::Instant::now() + std::time::Duration::from_secs_f64(secs);
        loop {
            let left = end.saturating_duration_since(std::time::Instant::now());
            if left.is_zero() {
                return Ok(Val::int(0));
            }
            if self
                .ctx
                .env
                .interrupt
                .load(std::sync::atomic::Ordering::Relaxed)
            {
                return Ok(Val::int(1));
            }
            std::thread::sleep(left.min(std::time::Duration::from_millis(20)));
        }
    }

    fn named_lock(&self) -> SqlResult<Val<'a>> {
        let seconds = match self.func {
            Func::GetLock if !self.v(1).is_null() => self.f64(1),
            _ => 0.0,
        };
        let args: Vec<ValueRef<'_>> = self.args.iter().map(Val::as_ref).collect();
        super::named_lock::run(self.func, &args, seconds, self.ctx.env).map(Val::Owned)
    }

    pub(in crate::expr) fn binlog_gtid_pos(&self) -> SqlResult<Val<'a>> {
        let file = self.text(0);
        let Ok(offset) = u64::try_from(self.int(1)) else {
            return Ok(Val::NULL);
        };
        let found = self.ctx.env.variables.binlog_gtid_pos(&file, offset)?;
        Ok(found.map_or(Val::NULL, Val::text))
    }

    /// Groups that it waited for until the position of a primary's log was applied, -1 if the seconds passed before; NULL
    /// if nothing applies that log, or there is no such connection (with a warning).
    pub(in crate::expr) fn master_pos_wait(&self) -> SqlResult<Val<'a>> {
        if self.v(0).is_null() || self.v(1).is_null() {
            return Ok(Val::NULL);
        }
        let env = self.ctx.env;
        let Ok(position) = u64::try_from(self.int(1)) else {
            return Ok(Val::NULL);
        };
        let timeout = match self.args.get(2) {
            Some(v) if !v.is_null() => Some(self.f64(2)).filter(|s| *s > 0.0),
            _ => None,
        };
        let connection = match self.args.get(3) {
            Some(v) if !v.is_null() => Some(self.text(3)),
            _ => None,
        };
        let killed = || env.interrupt.load(std::sync::atomic::Ordering::Relaxed);
        let waited = env.variables.wait_for_source_position(
            connection.as_deref(),
            &self.text(0),
            position,
            timeout.map(|s| std::time::Duration::from_secs_f64(s.min(1e9))),
            &killed,
        );
        env.check_interrupt()?;
        match waited {
            Ok(groups) => Ok(groups.map_or(Val::NULL, Val::int)),
            Err(e) if e.code == 1617 => {
                if connection.is_some() {
                    env.warn(1617, e.message.to_string());
                }
                Ok(Val::NULL)
            }
            Err(e) => Err(e),
        }
    }

    /// 0 once the GTIDs have been applied, -1 if the seconds passed before. Waits for ever if none are given.
    pub(in crate::expr) fn master_gtid_wait(&self) -> SqlResult<Val<'a>> {
        if self.v(0).is_null() {
            return Ok(Val::NULL);
        }
        let env = self.ctx.env;
        let gtids = self.text(0);
        let timeout = match self.args.get(1) {
            None => None,
            Some(v) if v.is_null() => None,
            Some(_) => Some(self.f64(1)).filter(|s| *s >= 0.0),
        };
        let end = timeout
            .map(|s| std::time::Instant::now() + std::time::Duration::from_secs_f64(s.min(1e9)));
        let mut step = std::time::Duration::from_micros(500);
        loop {
            if env.variables.replica_has_applied(&gtids)? {
                return Ok(Val::int(0));
            }
            step = (step * 2).min(std::time::Duration::from_millis(10));
            let left = end.map_or(step, |e| {
                e.saturating_duration_since(std::time::Instant::now())
            });
            if left.is_zero() {
                return Ok(Val::int(-1));
            }
            env.check_interrupt()?;
            std::thread::sleep(left.min(step));
        }
    }

    pub(in crate::expr) fn bits(&self, i: usize) -> u64 {
        to_integer(self.v(i), &mut Warn(self.ctx.env)) as u64
    }

    /// The first argument for BIN and OCT: its digits behind the point are cut off.
    pub(in crate::expr) fn whole_bits(&self) -> u64 {
        match self.v(0) {
            ValueRef::Decimal(d) => {
                to_integer(ValueRef::Decimal(d.truncate(0)), &mut Warn(self.ctx.env)) as u64
            }
            ValueRef::Double(x) => {
                to_integer(ValueRef::Double(x.trunc()), &mut Warn(self.ctx.env)) as u64
            }
            _ => self.bits(0),
        }
    }

    /// The next random number of the session (splitmix64).
    pub(in crate::expr) fn random(&self) -> u64 {
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
pub(super) fn unit_interval(v: u64) -> f64 {
    (v >> 11) as f64 / (1u64 << 53) as f64
}
