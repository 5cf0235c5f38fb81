//! What the functions do.

use super::compare::{compare, on_today};
use super::date::{self, IntervalUnit};
use super::eval::{Num, Val, Warn, by_zero, date_rules, num, with_text};
use super::func::Func;
use super::{EvalCtx, Expr, RowAccess};
use narwal_types::collation::{char_count, char_prefix};
use narwal_types::convert::{self, to_decimal, to_f64, to_i64, to_integer};
use narwal_types::temporal::{DAY, SECOND, TIME_MAX};
use narwal_types::temporal_parse::DateRules;
use narwal_types::{
    Charset, Collation, Date, DateTime, Decimal, SqlError, SqlResult, Time, TypeKind, Value,
    ValueRef,
};
use std::cmp::Ordering;
use std::fmt::Write as _;

/// A call with its evaluated arguments.
struct Call<'a, 'c> {
    expr: &'a Expr,
    func: Func,
    ctx: &'c EvalCtx<'a>,
    args: Vec<Val<'a>>,
}

/// Evaluates a function.
pub(super) fn call<'a>(
    expr: &'a Expr,
    func: Func,
    args: &'a [Expr],
    ctx: &EvalCtx<'a>,
    row: &'a dyn RowAccess,
) -> SqlResult<Val<'a>> {
    // Functions that don't evaluate all their arguments.
    match func {
        Func::If => {
            let t = super::eval::truth(args[0].eval_ref(ctx, row)?.as_ref(), ctx)?;
            return args[if t == Some(true) { 1 } else { 2 }].eval_ref(ctx, row);
        }
        Func::Coalesce | Func::Ifnull => {
            for a in args {
                let v = a.eval_ref(ctx, row)?;
                if !v.is_null() {
                    return Ok(v);
                }
            }
            return Ok(Val::NULL);
        }
        _ => {}
    }
    let args = args
        .iter()
        .map(|a| a.eval_ref(ctx, row))
        .collect::<SqlResult<Vec<_>>>()?;
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
    );
    if null_is_null && c.args.iter().any(Val::is_null) {
        return Ok(Val::NULL);
    }
    c.run()
}

fn wrong_arguments(name: &str) -> SqlError {
    SqlError::new(1210, b"HY000", format!("Incorrect arguments to {name}"))
}

impl<'a> Call<'a, '_> {
    fn v(&self, i: usize) -> ValueRef<'_> {
        self.args.get(i).map_or(ValueRef::Null, Val::as_ref)
    }

    fn int(&self, i: usize) -> i64 {
        to_i64(self.v(i), &mut Warn(self.ctx.env))
    }

    fn f64(&self, i: usize) -> f64 {
        to_f64(self.v(i), &mut Warn(self.ctx.env))
    }

    fn text(&self, i: usize) -> String {
        self.v(i).to_text()
    }

    /// A string in the domain of the call's type: bytes stay bytes.
    fn string(&self, b: Vec<u8>) -> SqlResult<Val<'a>> {
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

    fn too_long(&self) {
        self.ctx.env.warn(
            1301,
            format!(
                "Result of {}() was larger than max_allowed_packet ({}) - truncated",
                self.func.name(),
                self.ctx.env.max_allowed_packet
            ),
        );
    }

    fn rules(&self) -> DateRules {
        date_rules(self.ctx.env)
    }

    /// An argument as a datetime; a warning and `None` if it is none.
    fn datetime(&self, i: usize) -> Option<DateTime> {
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
    fn real_date(&self, i: usize) -> Option<Date> {
        self.datetime(i).map(|t| t.date).filter(Date::is_real)
    }

    fn time(&self, i: usize) -> Option<Time> {
        let v = self.v(i);
        let t = convert::to_time(v);
        if t.is_none() {
            self.ctx
                .env
                .warn(1292, format!("Incorrect time value: '{}'", v.to_text()));
        }
        t
    }

    fn double(&self, f: f64) -> SqlResult<Val<'a>> {
        if f.is_finite() {
            Ok(Val::Ref(ValueRef::Double(f)))
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

    fn opt_int(v: Option<i64>) -> SqlResult<Val<'a>> {
        Ok(v.map_or(Val::NULL, Val::int))
    }

    fn local_now(&self) -> i64 {
        self.ctx.env.now_micros + self.ctx.env.time_zone_offset as i64 * SECOND
    }

    fn fsp(&self) -> u8 {
        self.expr.ty.ty.scale().unwrap_or(0)
    }

    fn moment(&self, micros: i64) -> SqlResult<Val<'a>> {
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

    /// Characters of a string, or bytes as one character each.
    fn chars(&self, i: usize) -> Vec<Vec<u8>> {
        with_text(self.v(i), |s| {
            if self.is_bytes(i) {
                return s.iter().map(|b| vec![*b]).collect();
            }
            String::from_utf8_lossy(s)
                .chars()
                .map(|c| c.to_string().into_bytes())
                .collect()
        })
    }

    fn is_bytes(&self, i: usize) -> bool {
        matches!(self.v(i), ValueRef::Bytes(_))
    }

    /// Character set of an argument's type.
    fn charset(&self, i: usize) -> Charset {
        match &self.expr.kind {
            super::ExprKind::Func { args, .. } => args
                .get(i)
                .map_or(Charset::Utf8mb4, |a| a.ty.ty.collation.charset()),
            _ => Charset::Utf8mb4,
        }
    }

    /// Bytes of a value in its own character set.
    fn byte_length(&self, i: usize) -> i64 {
        with_text(self.v(i), |s| match self.v(i) {
            ValueRef::Bytes(_) | ValueRef::Bits(_) => s.len(),
            _ => self.charset(i).encode(s).len(),
        }) as i64
    }

    fn length(&self, i: usize) -> usize {
        with_text(self.v(i), |s| {
            if self.is_bytes(i) {
                s.len()
            } else {
                char_count(s)
            }
        })
    }

    /// Characters `from..to` of an argument.
    fn slice(&self, i: usize, from: usize, to: usize) -> SqlResult<Val<'a>> {
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
    fn locate(&self, needle: usize, hay: usize, from: usize) -> SqlResult<Val<'a>> {
        let collation = super::types::compare_collation(
            match &self.expr.kind {
                super::ExprKind::Func { args, .. } => args.iter(),
                _ => [].iter(),
            }
            .take(2),
            "locate",
        )?;
        let collation = if self.is_bytes(needle) || self.is_bytes(hay) {
            Collation::Binary
        } else {
            collation
        };
        let weight = |c: &Vec<u8>| -> u32 {
            match std::str::from_utf8(c).ok().and_then(|s| s.chars().next()) {
                Some(ch) if !collation.is_bin() => collation.char_weight(ch as u32) as u32,
                Some(ch) => ch as u32,
                None => 0x11_0000 + c.first().copied().unwrap_or(0) as u32,
            }
        };
        let h: Vec<u32> = self.chars(hay).iter().map(weight).collect();
        let n: Vec<u32> = self.chars(needle).iter().map(weight).collect();
        if from > h.len() {
            return Ok(Val::int(0));
        }
        if n.is_empty() {
            return Ok(Val::int(from as i64 + 1));
        }
        let at = h[from..].windows(n.len()).position(|w| w == n);
        Ok(Val::int(at.map_or(0, |p| (from + p + 1) as i64)))
    }

    fn compare(&self, a: usize, b: usize) -> Option<Ordering> {
        let c = match &self.expr.kind {
            super::ExprKind::Func { args, .. } => {
                super::types::compare_collation([&args[a], &args[b]], self.func.name())
                    .unwrap_or_default()
            }
            _ => Collation::default(),
        };
        compare(self.v(a), self.v(b), c, self.ctx.env)
    }

    fn run(&self) -> SqlResult<Val<'a>> {
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
                let n = (1..self.args.len())
                    .take_while(|i| {
                        compare(self.v(*i), self.v(0), narwal_types::Collation::Binary, env)
                            .is_none_or(|o| o != Ordering::Greater)
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
            Ascii | BitLength | Char | CharLength | Concat | ConcatWs | Crc32 | Elt | Field
            | FindInSet | Format | Hex | Insert | Instr | Lcase | Left | Length | Locate | Lpad
            | Ltrim | Md5 | Oct | Ord | Quote | Repeat | Replace | Reverse | Right | Rpad
            | Rtrim | Sha1 | Sha2 | Space | Strcmp | Substring | SubstringIndex | Trim
            | TrimLeading | TrimTrailing | Ucase | Unhex | Uuid | Bin | Conv => self.strings(),
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
            Benchmark => Ok(Val::int(0)),
            _ => self.dates(),
        }
    }

    fn arg_collation(&self) -> Collation {
        match &self.expr.kind {
            super::ExprKind::Func { args, .. } if args[0].ty.ty.is_string() => {
                args[0].ty.ty.collation
            }
            _ => Collation::Binary,
        }
    }

    /// Waits in small steps, so that KILL ends it.
    fn sleep(&self) -> SqlResult<Val<'a>> {
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

    fn binlog_gtid_pos(&self) -> SqlResult<Val<'a>> {
        let file = self.text(0);
        let Ok(offset) = u64::try_from(self.int(1)) else {
            return Ok(Val::NULL);
        };
        let found = self.ctx.env.variables.binlog_gtid_pos(&file, offset)?;
        Ok(found.map_or(Val::NULL, Val::text))
    }

    /// Groups that it waited for until the position of a primary's log was applied, -1 if the seconds passed before; NULL
    /// if nothing applies that log, or there is no such connection (with a warning).
    fn master_pos_wait(&self) -> SqlResult<Val<'a>> {
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
    fn master_gtid_wait(&self) -> SqlResult<Val<'a>> {
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

    fn strings(&self) -> SqlResult<Val<'a>> {
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
                Ok(Val::int(self.chars(0).first().map_or(0, |c| {
                    c.iter().fold(0i64, |a, b| a << 8 | *b as i64)
                })))
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
            Crc32 => Ok(Val::Ref(ValueRef::UInt(
                with_text(self.v(0), crc32fast::hash) as u64,
            ))),
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
                let at =
                    (1..self.args.len()).find(|i| self.compare(0, *i) == Some(Ordering::Equal));
                Ok(Val::int(at.unwrap_or(0) as i64))
            }
            FindInSet => {
                let (needle, set) = (self.text(0), self.text(1));
                if set.is_empty() {
                    return Ok(Val::int(0));
                }
                let at = set.split(',').position(|p| {
                    narwal_types::Collation::Utf8mb4GeneralCi.equal(p.as_bytes(), needle.as_bytes())
                });
                Ok(Val::int(at.map_or(0, |p| p as i64 + 1)))
            }
            Format => {
                let digits = self.int(1).clamp(0, 38) as u8;
                let d = to_decimal(self.v(0), &mut Warn(env)).round(digits);
                let s = d.to_string();
                let (sign, s) = match s.strip_prefix('-') {
                    Some(r) => ("-", r),
                    None => ("", s.as_str()),
                };
                let (int, frac) = match s.split_once('.') {
                    Some((i, f)) => (i, Some(f)),
                    None => (s, None),
                };
                let mut out = String::from(sign);
                for (i, c) in int.chars().enumerate() {
                    if i > 0 && (int.len() - i).is_multiple_of(3) {
                        out.push(',');
                    }
                    out.push(c);
                }
                if let Some(f) = frac {
                    out.push('.');
                    out.push_str(f);
                }
                Ok(Val::text(out))
            }
            Hex => Ok(Val::text(match self.v(0) {
                ValueRef::Bytes(s) => hex_text(s, true),
                ValueRef::Str(s) => hex_text(&self.charset(0).encode(s), true),
                ValueRef::Date(_)
                | ValueRef::Time(_)
                | ValueRef::DateTime(_)
                | ValueRef::Member(_) => hex_text(self.text(0).as_bytes(), true),
                v => format!("{:X}", to_integer(v, &mut Warn(env)) as u64),
            })),
            Bin => Ok(Val::text(format!("{:b}", self.bits(0)))),
            Oct => Ok(Val::text(format!("{:o}", self.bits(0)))),
            Conv => {
                let (from, to) = (self.int(1), self.int(2));
                if !(2..=36).contains(&from.abs()) || !(2..=36).contains(&to.abs()) {
                    return Ok(Val::NULL);
                }
                let t = self.text(0);
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
                let s = self.chars(0);
                let (pos, len) = (self.int(1), self.int(2));
                if pos < 1 || pos as usize > s.len() {
                    return Ok(self.args[0].clone());
                }
                let start = pos as usize - 1;
                let end = if len < 0 {
                    s.len()
                } else {
                    start.saturating_add(len as usize).min(s.len())
                };
                let mut out = s[..start].concat();
                self.v(3).write_text(&mut out);
                out.extend(s[end..].concat());
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
                // One character each, as general_ci's case tables have it.
                let out: String = t
                    .chars()
                    .map(|c| {
                        let one =
                            |mut it: Box<dyn Iterator<Item = char>>| match (it.next(), it.next()) {
                                (Some(u), None) => u,
                                _ => c,
                            };
                        if self.func == Lcase {
                            one(Box::new(c.to_lowercase()))
                        } else {
                            one(Box::new(c.to_uppercase()))
                        }
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
                let (s, want) = (self.chars(0), self.int(1));
                if want < 0 {
                    return Ok(Val::NULL);
                }
                let want = want as usize;
                if want as u64 > env.max_allowed_packet {
                    self.too_long();
                    return Ok(Val::NULL);
                }
                if s.len() >= want {
                    return self.string(s[..want].concat());
                }
                let pad = if self.args.len() > 2 {
                    self.chars(2)
                } else {
                    vec![b" ".to_vec()]
                };
                if pad.is_empty() {
                    return self.string(Vec::new());
                }
                let fill: Vec<u8> = pad
                    .iter()
                    .cycle()
                    .take(want - s.len())
                    .flatten()
                    .copied()
                    .collect();
                let mut out = Vec::new();
                if self.func == Lpad {
                    out.extend(fill);
                    out.extend(s.concat());
                } else {
                    out.extend(s.concat());
                    out.extend(fill);
                }
                self.string(out)
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
                &with_text(self.v(0), super::md5::digest),
                false,
            ))),
            Sha1 => {
                use sha1::Digest;
                Ok(Val::text(hex_text(
                    &with_text(self.v(0), |s| sha1::Sha1::digest(s)),
                    false,
                )))
            }
            Sha2 => {
                use sha2::Digest;
                let bits = self.int(1);
                Ok(with_text(self.v(0), |s| match bits {
                    224 => Val::text(hex_text(&sha2::Sha224::digest(s), false)),
                    0 | 256 => Val::text(hex_text(&sha2::Sha256::digest(s), false)),
                    384 => Val::text(hex_text(&sha2::Sha384::digest(s), false)),
                    512 => Val::text(hex_text(&sha2::Sha512::digest(s), false)),
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
                if n.saturating_mul(s.len() as u64) > env.max_allowed_packet {
                    self.too_long();
                    return Ok(Val::NULL);
                }
                s = s.repeat(n as usize);
                self.string(s)
            }
            Replace => {
                let (mut s, mut from, mut to) = (Vec::new(), Vec::new(), Vec::new());
                self.v(0).write_text(&mut s);
                self.v(1).write_text(&mut from);
                self.v(2).write_text(&mut to);
                if from.is_empty() {
                    return self.string(s);
                }
                let mut out = Vec::with_capacity(s.len());
                let mut i = 0;
                while i < s.len() {
                    if s[i..].starts_with(&from) {
                        out.extend_from_slice(&to);
                        i += from.len();
                    } else {
                        out.push(s[i]);
                        i += 1;
                    }
                    if out.len() as u64 > env.max_allowed_packet {
                        self.too_long();
                        return Ok(Val::NULL);
                    }
                }
                self.string(out)
            }
            Reverse => {
                let mut c = self.chars(0);
                c.reverse();
                self.string(c.concat())
            }
            Strcmp => Ok(Val::int(
                match with_text(self.v(0), |a| {
                    with_text(self.v(1), |b| {
                        let c = match &self.expr.kind {
                            super::ExprKind::Func { args, .. } => {
                                super::types::compare_collation(args, "strcmp").unwrap_or_default()
                            }
                            _ => narwal_types::Collation::default(),
                        };
                        c.compare(a, b)
                    })
                }) {
                    Ordering::Less => -1,
                    Ordering::Equal => 0,
                    Ordering::Greater => 1,
                },
            )),
            Uuid => {
                let (a, b) = (self.random(), self.random());
                Ok(Val::text(format!(
                    "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
                    a >> 32,
                    a >> 16 & 0xffff,
                    a & 0xfff,
                    b >> 48 & 0x3fff | 0x8000,
                    b & 0xffff_ffff_ffff
                )))
            }
            _ => Err(SqlError::unsupported(self.func.name())),
        }
    }

    fn bits(&self, i: usize) -> u64 {
        to_integer(self.v(i), &mut Warn(self.ctx.env)) as u64
    }

    /// The next random number of the session (splitmix64).
    fn random(&self) -> u64 {
        let s = self
            .ctx
            .env
            .rand_state
            .get()
            .wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.ctx.env.rand_state.set(s);
        mix(s)
    }

    fn numbers(&self) -> SqlResult<Val<'a>> {
        use Func::*;
        let n = match self.func {
            Abs | Sign | Ceiling | Floor | Round | Truncate => num(self.v(0), self.ctx.env),
            _ => None,
        };
        match (self.func, n) {
            (Abs, Some(Num::Int(v))) => {
                let a = v.unsigned_abs();
                if self.expr.ty.ty.unsigned || matches!(self.v(0), ValueRef::UInt(_)) {
                    return Ok(Val::Ref(ValueRef::UInt(a as u64)));
                }
                i64::try_from(a).map(Val::int).map_err(|_| {
                    SqlError::new(
                        1690,
                        b"22003",
                        format!("BIGINT value is out of range in '{}'", self.expr),
                    )
                })
            }
            (Abs, Some(Num::Dec(d))) => Ok(Val::Ref(ValueRef::Decimal(d.abs()))),
            (Abs, Some(Num::Real(f))) => self.double(f.abs()),
            (Sign, Some(x)) => Ok(Val::int(match x {
                Num::Int(v) => v.signum() as i64,
                Num::Dec(d) if d.is_zero() => 0,
                Num::Dec(d) => 1 - 2 * d.is_negative() as i64,
                Num::Real(0.0) => 0,
                Num::Real(f) => f.signum() as i64,
            })),
            (Ceiling | Floor, Some(Num::Int(_))) => Ok(self.integer_arg()),
            (Ceiling | Floor, Some(Num::Dec(d))) => {
                let r = if self.func == Ceiling {
                    d.ceil()
                } else {
                    d.floor()
                };
                Ok(match r.to_i64() {
                    Some(v) if self.expr.ty.ty.is_integer() => Val::int(v),
                    _ => Val::Ref(ValueRef::Decimal(r)),
                })
            }
            (Ceiling, Some(Num::Real(f))) => self.double(f.ceil()),
            (Floor, Some(Num::Real(f))) => self.double(f.floor()),
            (Round | Truncate, Some(x)) => {
                let places = if self.args.len() > 1 { self.int(1) } else { 0 };
                let cut = self.func == Truncate;
                match x {
                    Num::Int(_) if places >= 0 => Ok(self.integer_arg()),
                    Num::Int(v) => {
                        let d = Decimal::from_i128(v, 0).round_places(places, cut);
                        Ok(match (d.to_i64(), d.to_u64()) {
                            (Some(v), _) => match self.v(0) {
                                ValueRef::UInt(_) => Val::Ref(ValueRef::UInt(v as u64)),
                                _ => Val::int(v),
                            },
                            (_, Some(v)) => Val::Ref(ValueRef::UInt(v)),
                            _ => Val::Ref(ValueRef::Decimal(d)),
                        })
                    }
                    Num::Dec(d) => Ok(Val::Ref(ValueRef::Decimal(d.round_places(places, cut)))),
                    Num::Real(f) => self.double(round_real(f, places, cut)),
                }
            }
            (BitCount, _) => Ok(Val::int(
                super::eval::bits(self.v(0), self.ctx.env).count_ones() as i64,
            )),
            (Pi, _) => {
                // Shown with six digits, computed with all.
                Ok(Val::Ref(ValueRef::Double(std::f64::consts::PI)))
            }
            (Rand, _) => {
                if !self.args.is_empty() {
                    // A seed gives the same number for the same seed.
                    let seed = if self.v(0).is_null() { 0 } else { self.int(0) };
                    return self.double(unit_interval(mix(seed as u64)));
                }
                self.double(unit_interval(self.random()))
            }
            (Log, _) if self.args.len() == 2 => {
                let (b, x) = (self.f64(0), self.f64(1));
                if b <= 0.0 || x <= 0.0 || b == 1.0 {
                    return Ok(by_zero(self.ctx));
                }
                self.double(x.ln() / b.ln())
            }
            (Ln | Log | Log10 | Log2, _) => {
                let x = self.f64(0);
                if x <= 0.0 {
                    return Ok(by_zero(self.ctx));
                }
                self.double(match self.func {
                    Log10 => x.log10(),
                    Log2 => x.log2(),
                    _ => x.ln(),
                })
            }
            (Pow, _) => self.double(self.f64(0).powf(self.f64(1))),
            (Atan, _) if self.args.len() == 2 => self.double(self.f64(0).atan2(self.f64(1))),
            (Cot, _) => {
                let t = self.f64(0).tan();
                self.double(1.0 / t)
            }
            (f, _) => {
                let x = self.f64(0);
                self.double(match f {
                    Acos => x.acos(),
                    Asin => x.asin(),
                    Atan => x.atan(),
                    Cos => x.cos(),
                    Degrees => x.to_degrees(),
                    Exp => x.exp(),
                    Radians => x.to_radians(),
                    Sin => x.sin(),
                    Sqrt => x.sqrt(),
                    _ => x.tan(),
                })
            }
        }
    }

    /// The first argument as the integer that it is.
    fn integer_arg(&self) -> Val<'a> {
        match self.v(0) {
            ValueRef::UInt(v) => Val::Ref(ValueRef::UInt(v)),
            _ => Val::int(self.int(0)),
        }
    }

    fn dates(&self) -> SqlResult<Val<'a>> {
        use Func::*;
        let env = self.ctx.env;
        match self.func {
            Now | Curdate | Curtime => self.moment(self.local_now()),
            UtcDate | UtcTime | UtcTimestamp => self.moment(env.now_micros),
            Sysdate => {
                let now = std::time::SystemTime::now()
                    .duration_since(std::time::UNIX_EPOCH)
                    .map_or(0, |d| d.as_micros() as i64);
                self.moment(now + env.time_zone_offset as i64 * SECOND)
            }
            Date => Ok(self
                .datetime(0)
                .map_or(Val::NULL, |t| Val::Ref(ValueRef::Date(t.date)))),
            Time => Ok(self.time(0).map_or(Val::NULL, |t| {
                Val::Ref(ValueRef::Time(t.truncate(self.fsp())))
            })),
            Timestamp => {
                let Some(t) = self.datetime(0) else {
                    return Ok(Val::NULL);
                };
                let fsp = self.fsp();
                if self.args.len() == 1 {
                    return Ok(Val::Ref(ValueRef::DateTime(t.truncate(fsp))));
                }
                let Some(add) = self.time(1) else {
                    return Ok(Val::NULL);
                };
                Ok(
                    DateTime::from_unix_micros(t.unix_micros() + add.micros, fsp)
                        .map_or(Val::NULL, |t| Val::Ref(ValueRef::DateTime(t))),
                )
            }
            Year | Month | DayOfMonth | Quarter => Self::opt_int(self.datetime(0).map(|t| {
                let d = t.date;
                match self.func {
                    Year => d.year as i64,
                    Month => d.month as i64,
                    DayOfMonth => d.day as i64,
                    _ => (d.month as i64 + 2) / 3,
                }
            })),
            Hour | Minute | Second | Microsecond => Self::opt_int(self.time(0).map(|t| {
                let us = t.micros.unsigned_abs() as i64;
                match self.func {
                    Hour => us / (3600 * SECOND),
                    Minute => us / (60 * SECOND) % 60,
                    Second => us / SECOND % 60,
                    _ => us % SECOND,
                }
            })),
            DayOfWeek => Self::opt_int(self.real_date(0).map(|d| (d.weekday() as i64 + 1) % 7 + 1)),
            Weekday => Self::opt_int(self.real_date(0).map(|d| d.weekday() as i64)),
            DayOfYear => Self::opt_int(self.real_date(0).map(|d| d.day_of_year() as i64)),
            WeekOfYear => Self::opt_int(self.real_date(0).map(|d| date::week(&d, 3).0 as i64)),
            Week => {
                let mode = if self.args.len() > 1 { self.int(1) } else { 0 };
                Self::opt_int(
                    self.real_date(0)
                        .map(|d| date::week(&d, mode as u64 & 7).0 as i64),
                )
            }
            YearWeek => {
                let mode = if self.args.len() > 1 { self.int(1) } else { 0 };
                Self::opt_int(self.real_date(0).map(|d| {
                    let (w, y) = date::week(&d, mode as u64 & 7 | 2);
                    y as i64 * 100 + w as i64
                }))
            }
            DayName => Ok(self
                .real_date(0)
                .map_or(Val::NULL, |d| Val::text(date::day_name(&d).into()))),
            MonthName => Ok(self
                .datetime(0)
                .and_then(|t| date::month_name(t.date.month))
                .map_or(Val::NULL, |n| Val::text(n.into()))),
            LastDay => Ok(self
                .datetime(0)
                .filter(|t| (1..=12).contains(&t.date.month))
                .map_or(Val::NULL, |t| {
                    let mut d = t.date;
                    d.day = narwal_types::temporal::days_in_month(d.year, d.month);
                    Val::Ref(ValueRef::Date(d))
                })),
            ToDays => Self::opt_int(self.real_date(0).map(|d| d.day_number())),
            ToSeconds => Self::opt_int(
                self.datetime(0)
                    .filter(|t| t.date.is_real())
                    .map(|t| t.date.day_number() * 86_400 + t.micros as i64 / SECOND),
            ),
            FromDays => Ok(
                narwal_types::Date::from_unix_days(self.int(0).saturating_sub(719_528))
                    .filter(|d| d.year > 0)
                    .map_or(
                        Val::Ref(ValueRef::Date(narwal_types::Date::default())),
                        |d| Val::Ref(ValueRef::Date(d)),
                    ),
            ),
            DateDiff => {
                let (a, b) = (self.real_date(0), self.real_date(1));
                Self::opt_int(a.zip(b).map(|(a, b)| a.unix_days() - b.unix_days()))
            }
            DateFormat => {
                let Some(t) = self.datetime(0) else {
                    return Ok(Val::NULL);
                };
                Ok(date::format(&t.date, t.micros, &self.text(1)).map_or(Val::NULL, Val::text))
            }
            TimeFormat => {
                let Some(t) = self.time(0) else {
                    return Ok(Val::NULL);
                };
                let d = narwal_types::Date::default();
                let us = t.micros.unsigned_abs();
                Ok(date::format(&d, us, &self.text(1)).map_or(Val::NULL, |s| {
                    Val::text(if t.micros < 0 { format!("-{s}") } else { s })
                }))
            }
            FromUnixtime => {
                let d = to_decimal(self.v(0), &mut Warn(env));
                let us = d
                    .truncate(6)
                    .checked_mul(&Decimal::from(SECOND))
                    .and_then(|d| d.to_i64())
                    .filter(|us| (0..=i32::MAX as i64 * SECOND + 999_999).contains(us));
                let Some(t) = us.and_then(|us| {
                    DateTime::from_unix_micros(us + env.time_zone_offset as i64 * SECOND, 6)
                }) else {
                    return Ok(Val::NULL);
                };
                if self.args.len() > 1 {
                    return Ok(
                        date::format(&t.date, t.micros, &self.text(1)).map_or(Val::NULL, Val::text)
                    );
                }
                Ok(Val::Ref(ValueRef::DateTime(t.truncate(self.fsp()))))
            }
            UnixTimestamp => {
                if self.args.is_empty() {
                    return Ok(Val::int(env.now_micros.div_euclid(SECOND)));
                }
                let Some(t) = self.datetime(0) else {
                    return Ok(Val::NULL);
                };
                let us = t.unix_micros() - env.time_zone_offset as i64 * SECOND;
                let ok = t.date.is_real() && (0..=i32::MAX as i64 * SECOND + 999_999).contains(&us);
                let us = if ok { us } else { 0 };
                Ok(if self.expr.ty.ty.is_integer() {
                    Val::int(us / SECOND)
                } else {
                    Val::Ref(ValueRef::Decimal(
                        Decimal::from_i128(us as i128, 6).truncate(self.fsp()),
                    ))
                })
            }
            TimeToSec if !self.expr.ty.ty.is_integer() => Ok(match self.time(0) {
                None => Val::NULL,
                Some(t) => Val::Ref(ValueRef::Decimal(
                    Decimal::from_i128(t.micros as i128, 6).truncate(self.fsp()),
                )),
            }),
            TimeToSec => Self::opt_int(self.time(0).map(|t| t.micros / SECOND)),
            SecToTime => {
                let d = to_decimal(self.v(0), &mut Warn(env));
                let us = d
                    .truncate(6)
                    .checked_mul(&Decimal::from(SECOND))
                    .and_then(|d| d.to_i64())
                    .unwrap_or(if d.is_negative() { i64::MIN } else { i64::MAX });
                self.clipped_time(us)
            }
            MakeDate => {
                let (mut y, n) = (self.int(0), self.int(1));
                if (0..70).contains(&y) {
                    y += 2000;
                } else if (70..100).contains(&y) {
                    y += 1900;
                }
                if n < 1 || !(0..=9999).contains(&y) {
                    return Ok(Val::NULL);
                }
                let first = narwal_types::Date::new(y as u16, 1, 1).unix_days();
                Ok(
                    narwal_types::Date::from_unix_days(first.saturating_add(n - 1))
                        .map_or(Val::NULL, |d| Val::Ref(ValueRef::Date(d))),
                )
            }
            MakeTime => {
                let (h, m) = (self.int(0), self.int(1));
                let s = to_decimal(self.v(2), &mut Warn(env)).truncate(6);
                let us = s
                    .checked_mul(&Decimal::from(SECOND))
                    .and_then(|d| d.to_i64())
                    .unwrap_or(-1);
                if !(0..60).contains(&m) || !(0..60 * SECOND).contains(&us) {
                    return Ok(Val::NULL);
                }
                let abs =
                    h.unsigned_abs().min(100_000) as i64 * 3600 * SECOND + m * 60 * SECOND + us;
                self.clipped_time(if h < 0 { -abs } else { abs })
            }
            AddTime | SubTime => {
                let Some(b) = self.time(1) else {
                    return Ok(Val::NULL);
                };
                let delta = if self.func == AddTime {
                    b.micros
                } else {
                    -b.micros
                };
                let as_text = self.expr.ty.ty.is_string();
                let v = self.v(0);
                let is_date = match v {
                    ValueRef::Date(_) | ValueRef::DateTime(_) => true,
                    ValueRef::Str(s) | ValueRef::Bytes(s) => {
                        narwal_types::temporal_parse::parse_datetime(s, self.rules()).is_some()
                            && s.contains(&b'-')
                            && !s.starts_with(b"-")
                    }
                    _ => false,
                };
                let out = if is_date {
                    let Some(t) = self.datetime(0) else {
                        return Ok(Val::NULL);
                    };
                    let Some(mut r) = DateTime::from_unix_micros(t.unix_micros() + delta, 6) else {
                        return Ok(Val::NULL);
                    };
                    r.fsp = if as_text {
                        text_fsp(r.micros)
                    } else {
                        self.fsp()
                    };
                    ValueRef::DateTime(r)
                } else {
                    let Some(t) = self.time(0) else {
                        return Ok(Val::NULL);
                    };
                    let us = (t.micros + delta).clamp(-TIME_MAX, TIME_MAX);
                    let fsp = if as_text {
                        text_fsp(us.unsigned_abs())
                    } else {
                        self.fsp()
                    };
                    ValueRef::Time(narwal_types::Time { micros: us, fsp })
                };
                Ok(if as_text {
                    Val::text(out.to_text())
                } else {
                    Val::Ref(out)
                })
            }
            TimeDiff => {
                let is_date = |i: usize| match self.v(i) {
                    ValueRef::DateTime(_) | ValueRef::Date(_) => true,
                    ValueRef::Str(s) => {
                        s.len() >= 10 && s.contains(&b'-') && s.first() != Some(&b'-')
                    }
                    _ => false,
                };
                if is_date(0) != is_date(1) {
                    return Ok(Val::NULL);
                }
                let us = if is_date(0) {
                    self.datetime(0)
                        .zip(self.datetime(1))
                        .map(|(a, b)| a.unix_micros() - b.unix_micros())
                } else {
                    self.time(0)
                        .zip(self.time(1))
                        .map(|(a, b)| a.micros - b.micros)
                };
                match us {
                    Some(us) => {
                        let fsp = match self.fsp() {
                            6 if us % SECOND == 0 && self.v(0).to_text().find('.').is_none() => 0,
                            f => f,
                        };
                        Ok(Val::Ref(ValueRef::Time(narwal_types::Time::from_micros(
                            us, fsp,
                        ))))
                    }
                    None => Ok(Val::NULL),
                }
            }
            PeriodAdd | PeriodDiff => {
                let months = |p: i64| -> Option<i64> {
                    let (mut y, m) = (p / 100, p % 100);
                    if !(1..=12).contains(&m) || p < 0 {
                        return None;
                    }
                    if y < 70 {
                        y += 2000;
                    } else if y < 100 {
                        y += 1900;
                    }
                    Some(y * 12 + m - 1)
                };
                let bad = || wrong_arguments(self.func.name());
                let a = months(self.int(0)).ok_or_else(bad)?;
                if self.func == PeriodDiff {
                    let b = months(self.int(1)).ok_or_else(bad)?;
                    return Ok(Val::int(a - b));
                }
                let n = a.saturating_add(self.int(1)).max(0);
                Ok(Val::int((n / 12).saturating_mul(100) + n % 12 + 1))
            }
            StrToDate => {
                let (t, f) = (self.text(0), self.text(1));
                match date::parse(&t, &f, self.rules()) {
                    Some(v) => Ok(Val::Owned(v)),
                    None => {
                        env.warn(
                            1411,
                            format!("Incorrect datetime value: '{t}' for function str_to_date"),
                        );
                        Ok(Val::NULL)
                    }
                }
            }
            Extract => {
                let Some(unit) = IntervalUnit::from_number(self.int(0)) else {
                    return Ok(Val::NULL);
                };
                let time_only = matches!(self.v(1), ValueRef::Time(_));
                if time_only
                    || (unit.has_time()
                        && !matches!(self.v(1), ValueRef::Date(_) | ValueRef::DateTime(_)))
                {
                    // Text may be a time of more than a day.
                    let as_date = convert::to_datetime(self.v(1), self.rules());
                    if time_only || as_date.is_none() {
                        let Some(t) = self.time(1) else {
                            return Ok(Val::NULL);
                        };
                        let us = t.micros.unsigned_abs();
                        let mut d = narwal_types::Date::default();
                        let mut rest = us;
                        if unit.name().starts_with("day") {
                            d.day = (us / DAY as u64) as u8;
                            rest = us % DAY as u64;
                        }
                        let n = date::extract(unit, &d, rest);
                        return Ok(Val::int(if t.micros < 0 { -n } else { n }));
                    }
                }
                Self::opt_int(
                    self.datetime(1)
                        .map(|t| date::extract(unit, &t.date, t.micros)),
                )
            }
            TimestampDiff => {
                let Some(unit) = IntervalUnit::from_number(self.int(0)) else {
                    return Ok(Val::NULL);
                };
                let (a, b) = (self.datetime(1), self.datetime(2));
                Self::opt_int(
                    a.zip(b)
                        .filter(|(a, b)| a.date.is_real() && b.date.is_real())
                        .map(|(a, b)| date::diff(unit, a, b)),
                )
            }
            _ => Err(SqlError::unsupported(self.func.name())),
        }
    }

    /// A time limited to TIME's range, with a warning if it had to be.
    fn clipped_time(&self, us: i64) -> SqlResult<Val<'a>> {
        if us.unsigned_abs() > TIME_MAX as u64 {
            self.ctx.env.warn(
                1292,
                format!("Truncated incorrect time value: '{}'", self.text(0)),
            );
        }
        let fsp = self.fsp();
        Ok(Val::Ref(ValueRef::Time(
            narwal_types::Time::from_micros(us.clamp(-TIME_MAX, TIME_MAX), fsp).truncate(fsp),
        )))
    }
}

/// Digits of a fraction in text: six or none.
fn text_fsp(micros: u64) -> u8 {
    if micros.is_multiple_of(SECOND as u64) {
        0
    } else {
        6
    }
}

fn mix(s: u64) -> u64 {
    let mut z = s;
    z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ z >> 31
}

/// 53 bits as a number in [0, 1).
fn unit_interval(v: u64) -> f64 {
    (v >> 11) as f64 / (1u64 << 53) as f64
}

/// ROUND and TRUNCATE of doubles: by multiplication with a power of ten, half to even.
fn round_real(f: f64, places: i64, cut: bool) -> f64 {
    let p = 10f64.powi(places.unsigned_abs().min(400) as i32);
    let op = |x: f64| if cut { x.trunc() } else { x.round_ties_even() };
    if places < 0 {
        if p.is_infinite() {
            return 0.0;
        }
        op(f / p) * p
    } else {
        let x = f * p;
        if !x.is_finite() {
            return f;
        }
        op(x) / p
    }
}
