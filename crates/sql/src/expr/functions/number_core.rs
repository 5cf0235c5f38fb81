//! The older numeric functions, by [`Func`].

use crate::expr::ExprKind;
use crate::expr::call::{Call, unit_interval};
use crate::expr::eval::{Num, Val, by_zero, num};
use crate::expr::func::Func;
use narwal_types::{DateTime, Decimal, SqlError, SqlResult, Time, TypeKind, ValueRef};

impl<'a> Call<'a, '_> {
    /// A TIME or DATETIME with fewer digits behind the point, which stays one; `None` for other values.
    fn rounded_moment(&self) -> Option<Val<'a>> {
        let shown = match self.expr.ty.ty.kind {
            TypeKind::Time(f) | TypeKind::DateTime(f) => f,
            _ => return None,
        };
        let digits = if self.args.len() > 1 { self.int(1) } else { 0 }.clamp(0, 6) as u8;
        let v = match self.v(0) {
            ValueRef::Time(t) => {
                let cut = t.truncate(digits);
                let up = |sign: i64| Time::from_micros(t.micros + sign * 500_000, 6).round(0);
                let r = match self.func {
                    Func::Round => t.round(digits),
                    Func::Ceiling if t.micros > cut.micros => up(1).truncate(0),
                    Func::Floor if t.micros < cut.micros => up(-1).truncate(0),
                    _ => cut,
                };
                ValueRef::Time(Time { fsp: shown, ..r })
            }
            ValueRef::DateTime(t) => {
                let cut = t.truncate(digits);
                let r = match self.func {
                    Func::Round => t.round(digits),
                    Func::Ceiling if t.micros > cut.micros => DateTime {
                        micros: cut.micros + 500_000,
                        ..t
                    }
                    .round(0),
                    _ => Some(cut),
                };
                match r {
                    Some(r) => ValueRef::DateTime(DateTime { fsp: shown, ..r }),
                    None => return Some(Val::NULL),
                }
            }
            _ => return None,
        };
        Some(Val::Ref(v))
    }

    pub(in crate::expr) fn numbers(&self) -> SqlResult<Val<'a>> {
        use Func::*;
        if matches!(self.func, Ceiling | Floor | Round | Truncate)
            && let Some(v) = self.rounded_moment()
        {
            return Ok(v);
        }
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
                    Num::Dec(d) => {
                        let r = d.round_places(places, cut);
                        // More places than it has are zeros.
                        let scale = match self.expr.ty.ty.kind {
                            TypeKind::Decimal(_, s) => s.max(r.scale()),
                            _ => r.scale(),
                        };
                        Ok(Val::Ref(ValueRef::Decimal(r.round(scale))))
                    }
                    Num::Real(f) => self.double(round_real(f, places, cut)),
                }
            }
            (BitCount, _) => Ok(Val::int(
                crate::expr::eval::bits(self.v(0), self.ctx.env).count_ones() as i64,
            )),
            (Pi, _) => {
                // Shown with six digits, computed with all.
                Ok(Val::Ref(ValueRef::Double(std::f64::consts::PI)))
            }
            (Rand, _) => {
                if !self.args.is_empty() {
                    return self.seeded_random();
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
            (Pow, _) => {
                // No number at all is out of range too.
                let r = self.f64(0).powf(self.f64(1));
                self.double(if r.is_nan() { f64::INFINITY } else { r })
            }
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
}

/// ROUND and TRUNCATE of doubles: by multiplication with a power of ten, half to even.
pub(super) fn round_real(f: f64, places: i64, cut: bool) -> f64 {
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

impl<'a> Call<'a, '_> {
    /// `RAND(seed)`. A seed that is the same for all rows begins a series, of which each row gets the next number.
    fn seeded_random(&self) -> SqlResult<Val<'a>> {
        let seed = || {
            if self.v(0).is_null() {
                0
            } else {
                self.int(0) as u32
            }
        };
        let ExprKind::Func { args, .. } = &self.expr.kind else {
            return self.double(Seeded::new(seed()).next());
        };
        let of_row = args[0].any(&|e| match &e.kind {
            ExprKind::UserVariable(_) => false,
            ExprKind::Func { func, .. } => func.is_volatile(),
            kind => matches!(
                kind,
                ExprKind::Column { .. }
                    | ExprKind::Aggregate(_)
                    | ExprKind::InsertValue(_)
                    | ExprKind::SetUserVariable(..)
            ),
        });
        if of_row {
            return self.double(Seeded::new(seed()).next());
        }
        let site = std::ptr::from_ref(self.expr) as usize;
        let mut series = self.ctx.env.seeded.borrow_mut();
        if let Some((_, s)) = series.iter_mut().find(|(at, _)| *at == site) {
            return self.double(s.next());
        }
        let mut s = Seeded::new(seed());
        let first = s.next();
        series.push((site, s));
        self.double(first)
    }
}

/// MariaDB's generator with a seed: two remainders that move on together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seeded(u64, u64);

impl Seeded {
    const MAX: u64 = 0x3fff_ffff;

    fn new(seed: u32) -> Self {
        Seeded(
            u64::from(seed.wrapping_mul(0x1_0001).wrapping_add(55_555_555)) % Self::MAX,
            u64::from(seed.wrapping_mul(0x1000_0001)) % Self::MAX,
        )
    }

    fn next(&mut self) -> f64 {
        self.0 = (self.0 * 3 + self.1) % Self::MAX;
        self.1 = (self.0 + self.1 + 33) % Self::MAX;
        self.0 as f64 / Self::MAX as f64
    }
}
