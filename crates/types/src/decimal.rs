//! Exact numbers: up to 65 digits, up to 38 after the point.
//!
//! A value is an unsigned integer of at most 72 digits in base 10^9 limbs, a sign and a scale.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

/// Most digits of a DECIMAL.
pub const MAX_PRECISION: u8 = 65;
/// Most digits after the point.
pub const MAX_SCALE: u8 = 38;
/// Digits that a division adds to the dividend's scale (`div_precision_increment`).
pub const DIV_PRECISION_INCREMENT: u8 = 4;

const BASE: u64 = 1_000_000_000;
const N: usize = 8;
/// Limbs of intermediate results: a product, or a dividend that was scaled up.
const W: usize = 20;
const POW10: [u32; 10] = [
    1,
    10,
    100,
    1000,
    10_000,
    100_000,
    1_000_000,
    10_000_000,
    100_000_000,
    1_000_000_000,
];
/// Bytes of a group of 0 to 9 digits in the binary form.
const GROUP_BYTES: [u8; 10] = [0, 1, 1, 2, 2, 3, 3, 4, 4, 4];

/// A DECIMAL value. Equality and order are those of the number: 1.0 equals 1.00.
#[derive(Debug, Clone, Copy, Default)]
pub struct Decimal {
    /// Little-endian base 10^9 limbs of the number times 10^scale.
    limbs: [u32; N],
    scale: u8,
    /// Never set for zero.
    neg: bool,
}

/// An unsigned integer with room for intermediate results.
#[derive(Clone, Copy)]
struct Wide([u32; W]);

impl Wide {
    fn from(d: &[u32; N]) -> Self {
        let mut w = [0; W];
        w[..N].copy_from_slice(d);
        Wide(w)
    }

    fn from_u128(mut v: u128) -> Self {
        let mut w = [0; W];
        for limb in w.iter_mut() {
            *limb = (v % BASE as u128) as u32;
            v /= BASE as u128;
            if v == 0 {
                break;
            }
        }
        Wide(w)
    }

    fn len(&self) -> usize {
        self.0.iter().rposition(|l| *l != 0).map_or(0, |i| i + 1)
    }

    fn is_zero(&self) -> bool {
        self.len() == 0
    }

    fn digits(&self) -> usize {
        match self.len() {
            0 => 0,
            n => (n - 1) * 9 + digits_of(self.0[n - 1]),
        }
    }

    fn cmp(&self, other: &Wide) -> Ordering {
        self.0.iter().rev().cmp(other.0.iter().rev())
    }

    /// Multiplies by 10^k; `None` on overflow of the intermediate width.
    fn mul_pow10(&self, k: usize) -> Option<Wide> {
        let (q, r) = (k / 9, k % 9);
        let n = self.len();
        if n == 0 {
            return Some(*self);
        }
        let mut out = [0u32; W];
        let m = POW10[r] as u64;
        let mut carry = 0u64;
        for i in 0..n {
            let v = self.0[i] as u64 * m + carry;
            *out.get_mut(i + q)? = (v % BASE) as u32;
            carry = v / BASE;
        }
        if carry > 0 {
            *out.get_mut(n + q)? = carry as u32;
        }
        Some(Wide(out))
    }

    /// Divides by 10^k; also tells how the remainder compares with one half, and if it is zero.
    fn div_pow10(&self, k: usize) -> (Wide, Ordering, bool) {
        let (q, r) = (k / 9, k % 9);
        if k == 0 {
            return (*self, Ordering::Less, true);
        }
        let mut out = [0u32; W];
        let m = POW10[r] as u64;
        let mut rem = 0u64;
        for i in (q..W).rev() {
            let v = rem * BASE + self.0[i] as u64;
            out[i - q] = (v / m) as u32;
            rem = v % m;
        }
        let low: &[u32] = &self.0[..q.min(W)];
        let low_zero = low.iter().all(|l| *l == 0);
        let half = if r > 0 {
            match (rem * 2).cmp(&m) {
                Ordering::Equal if !low_zero => Ordering::Greater,
                o => o,
            }
        } else {
            // The remainder is the low limbs alone; its highest limb decides.
            match (low[q - 1] as u64 * 2).cmp(&BASE) {
                Ordering::Equal if low[..q - 1].iter().any(|l| *l != 0) => Ordering::Greater,
                o => o,
            }
        };
        (Wide(out), half, rem == 0 && low_zero)
    }

    fn add_one(&mut self) {
        for l in self.0.iter_mut() {
            if *l as u64 + 1 < BASE {
                *l += 1;
                return;
            }
            *l = 0;
        }
    }

    fn add(&self, other: &Wide) -> Wide {
        let mut out = [0u32; W];
        let mut carry = 0u64;
        for (o, (a, b)) in out.iter_mut().zip(self.0.iter().zip(&other.0)) {
            let v = *a as u64 + *b as u64 + carry;
            carry = (v >= BASE) as u64;
            *o = (v - carry * BASE) as u32;
        }
        Wide(out)
    }

    /// `self - other`, where `self >= other`.
    fn sub(&self, other: &Wide) -> Wide {
        let mut out = [0u32; W];
        let mut borrow = 0i64;
        for (o, (a, b)) in out.iter_mut().zip(self.0.iter().zip(&other.0)) {
            let v = *a as i64 - *b as i64 - borrow;
            borrow = (v < 0) as i64;
            *o = (v + borrow * BASE as i64) as u32;
        }
        Wide(out)
    }

    fn mul(&self, other: &Wide) -> Wide {
        let (a, b) = (self.len(), other.len());
        let mut out = [0u32; W];
        for i in 0..a {
            let mut carry = 0u64;
            for j in 0..b {
                if i + j >= W {
                    break;
                }
                let v = self.0[i] as u64 * other.0[j] as u64 + out[i + j] as u64 + carry;
                out[i + j] = (v % BASE) as u32;
                carry = v / BASE;
            }
            if i + b < W {
                out[i + b] = carry as u32;
            }
        }
        Wide(out)
    }

    /// Quotient and remainder (Knuth's algorithm D); `None` for a zero divisor.
    fn div_rem(&self, other: &Wide) -> Option<(Wide, Wide)> {
        let n = other.len();
        let m = self.len();
        if n == 0 {
            return None;
        }
        if self.cmp(other) == Ordering::Less {
            return Some((Wide([0; W]), *self));
        }
        let mut q = [0u32; W];
        if n == 1 {
            let d = other.0[0] as u64;
            let mut rem = 0u64;
            for i in (0..m).rev() {
                let v = rem * BASE + self.0[i] as u64;
                q[i] = (v / d) as u32;
                rem = v % d;
            }
            let mut r = [0u32; W];
            r[0] = rem as u32;
            return Some((Wide(q), Wide(r)));
        }
        let f = BASE / (other.0[n - 1] as u64 + 1);
        let mut u = [0u64; W + 1];
        let mut carry = 0;
        for (o, a) in u.iter_mut().zip(&self.0[..m]) {
            let v = *a as u64 * f + carry;
            *o = v % BASE;
            carry = v / BASE;
        }
        u[m] = carry;
        let mut v = [0u64; W];
        carry = 0;
        for (o, b) in v.iter_mut().zip(&other.0[..n]) {
            let x = *b as u64 * f + carry;
            *o = x % BASE;
            carry = x / BASE;
        }
        for j in (0..=m - n).rev() {
            let num = u[j + n] * BASE + u[j + n - 1];
            let mut qhat = num / v[n - 1];
            let mut rhat = num % v[n - 1];
            while qhat >= BASE || qhat * v[n - 2] > rhat * BASE + u[j + n - 2] {
                qhat -= 1;
                rhat += v[n - 1];
                if rhat >= BASE {
                    break;
                }
            }
            let mut borrow = 0i64;
            let mut carry = 0u64;
            for i in 0..n {
                let p = qhat * v[i] + carry;
                carry = p / BASE;
                let mut t = u[i + j] as i64 - borrow - (p % BASE) as i64;
                borrow = (t < 0) as i64;
                if t < 0 {
                    t += BASE as i64;
                }
                u[i + j] = t as u64;
            }
            let t = u[j + n] as i64 - borrow - carry as i64;
            if t < 0 {
                // The estimate was one too large: add the divisor back.
                u[j + n] = (t + BASE as i64) as u64;
                qhat -= 1;
                let mut c = 0u64;
                for i in 0..n {
                    let s = u[i + j] + v[i] + c;
                    u[i + j] = s % BASE;
                    c = s / BASE;
                }
                u[j + n] = (u[j + n] + c) % BASE;
            } else {
                u[j + n] = t as u64;
            }
            q[j] = qhat as u32;
        }
        let mut r = [0u32; W];
        let mut rem = 0u64;
        for i in (0..n).rev() {
            let x = rem * BASE + u[i];
            r[i] = (x / f) as u32;
            rem = x % f;
        }
        Some((Wide(q), Wide(r)))
    }
}

/// The digits of a number of at most 18 in the binary form, as one integer.
fn small_binary(bytes: &[u8], precision: u8, scale: u8, mask: u8) -> Option<u64> {
    let mut at = 0;
    let mut out = 0u64;
    let mut group = |digits: usize| -> Option<()> {
        let n = GROUP_BYTES[digits] as usize;
        let mut v = 0u32;
        for (i, b) in bytes.get(at..at + n)?.iter().enumerate() {
            let sign = if at + i == 0 { 0x80 } else { 0 };
            v = v << 8 | u32::from(b ^ mask ^ sign);
        }
        at += n;
        if v >= POW10[digits] {
            return None;
        }
        out = out * u64::from(POW10[digits]) + u64::from(v);
        Some(())
    };
    let (int, scale) = (usize::from(precision - scale), usize::from(scale));
    let groups = [int % 9, if int >= 9 { 9 } else { 0 }];
    let more = [if scale >= 9 { 9 } else { 0 }, scale % 9];
    // Of 18 digits before or behind the point there are two whole groups.
    let twice = [usize::from(int == 18) * 9, usize::from(scale == 18) * 9];
    for digits in groups.into_iter().chain(twice).chain(more) {
        if digits > 0 {
            group(digits)?;
        }
    }
    Some(out)
}

fn digits_of(limb: u32) -> usize {
    POW10[1..]
        .iter()
        .position(|p| limb < *p)
        .map_or(9, |i| i + 1)
}

impl Decimal {
    /// 0 with no digits after the point.
    pub const ZERO: Decimal = Decimal {
        limbs: [0; N],
        scale: 0,
        neg: false,
    };

    /// `mantissa / 10^scale`.
    pub fn from_i128(mantissa: i128, scale: u8) -> Self {
        let mut limbs = [0; N];
        limbs.copy_from_slice(&Wide::from_u128(mantissa.unsigned_abs()).0[..N]);
        Decimal {
            limbs,
            scale: scale.min(MAX_SCALE),
            neg: mantissa < 0,
        }
    }

    /// Makes a value of an intermediate result; reduces the scale (with rounding) to fit 65 digits, `None` if the
    /// integer part alone has more.
    fn from_wide(mut w: Wide, mut scale: usize, neg: bool) -> Option<Self> {
        let mut cut = scale.saturating_sub(MAX_SCALE as usize);
        let over = w.digits().saturating_sub(MAX_PRECISION as usize);
        cut = cut.max(over);
        if cut > 0 {
            if cut > scale {
                return None;
            }
            let (q, half, _) = w.div_pow10(cut);
            w = q;
            if half != Ordering::Less {
                w.add_one();
            }
            scale -= cut;
            if w.digits() > MAX_PRECISION as usize {
                return Decimal::from_wide(w, scale, neg);
            }
        }
        let mut limbs = [0; N];
        limbs.copy_from_slice(&w.0[..N]);
        Some(Decimal {
            limbs,
            scale: scale as u8,
            neg: neg && !w.is_zero(),
        })
    }

    /// Parses `[+-]digits[.digits][e[+-]digits]` from the start of `s`, after white space. Returns the value and the
    /// number of bytes used (0 if there is no number). Digits beyond 38 after the point are rounded; a number of more than
    /// 65 digits saturates.
    pub fn parse_prefix(s: &[u8]) -> (Decimal, usize) {
        let mut i = 0;
        while s.get(i).is_some_and(|b| b.is_ascii_whitespace()) {
            i += 1;
        }
        let mut neg = false;
        if let Some(c @ (b'+' | b'-')) = s.get(i) {
            neg = *c == b'-';
            i += 1;
        }
        let int_start = i;
        while s.get(i).is_some_and(u8::is_ascii_digit) {
            i += 1;
        }
        let int = &s[int_start..i];
        let mut frac: &[u8] = &[];
        if s.get(i) == Some(&b'.') {
            let mut j = i + 1;
            while s.get(j).is_some_and(u8::is_ascii_digit) {
                j += 1;
            }
            frac = &s[i + 1..j];
            if !(int.is_empty() && frac.is_empty()) {
                i = j;
            }
        }
        if int.is_empty() && frac.is_empty() {
            return (Decimal::ZERO, 0);
        }
        let mut exp = 0i64;
        if matches!(s.get(i), Some(b'e' | b'E')) {
            let mut j = i + 1;
            let mut eneg = false;
            if let Some(c @ (b'+' | b'-')) = s.get(j) {
                eneg = *c == b'-';
                j += 1;
            }
            if s.get(j).is_some_and(u8::is_ascii_digit) {
                while let Some(d) = s.get(j).filter(|d| d.is_ascii_digit()) {
                    exp = (exp * 10 + (*d - b'0') as i64).min(100_000);
                    j += 1;
                }
                if eneg {
                    exp = -exp;
                }
                i = j;
            }
        }
        (Self::from_digits(neg, int, frac, exp), i)
    }

    fn from_digits(neg: bool, int: &[u8], frac: &[u8], exp: i64) -> Decimal {
        let lead = int.iter().take_while(|d| **d == b'0').count();
        let int = &int[lead..];
        // Position of the point within the digits int ++ frac.
        let point = int.len() as i64 + exp;
        let digits = || int.iter().chain(frac);
        let total = int.len() + frac.len();
        let leading_zeros = digits().take_while(|d| **d == b'0').count();
        if leading_zeros == total {
            let scale = (frac.len() as i64 - exp).clamp(0, MAX_SCALE as i64);
            return Decimal {
                scale: scale as u8,
                ..Decimal::ZERO
            };
        }
        if point - leading_zeros as i64 > MAX_PRECISION as i64 {
            return Decimal::max_value(MAX_PRECISION, 0, neg);
        }
        // Keep as many digits after the point as fit.
        let int_digits = (point - leading_zeros as i64).max(0);
        let want_scale = (total as i64 - point)
            .clamp(0, MAX_SCALE as i64)
            .min(MAX_PRECISION as i64 - int_digits);
        let keep = point + want_scale; // digits to keep, may exceed total (zeros appended)
        let mut w = Wide([0; W]);
        let mut round_up = false;
        let mut chunk = 0u32;
        let mut n = 0;
        let push = |w: &mut Wide, v: u32, count: usize| {
            if let Some(x) = w.mul_pow10(count) {
                let mut add = [0; W];
                add[0] = v;
                *w = x.add(&Wide(add));
            }
        };
        for (k, d) in digits().enumerate() {
            if k as i64 >= keep {
                round_up = k as i64 == keep && *d >= b'5';
                break;
            }
            chunk = chunk * 10 + (*d - b'0') as u32;
            n += 1;
            if n == 9 {
                push(&mut w, chunk, 9);
                chunk = 0;
                n = 0;
            }
        }
        push(&mut w, chunk, n);
        if keep > total as i64
            && let Some(x) = w.mul_pow10((keep - total as i64) as usize)
        {
            w = x;
        }
        if round_up {
            w.add_one();
        }
        Decimal::from_wide(w, want_scale as usize, neg)
            .unwrap_or_else(|| Decimal::max_value(MAX_PRECISION, 0, neg))
    }

    /// Parses a whole string; `None` if it is no number or something follows it.
    pub fn parse(s: &str) -> Option<Decimal> {
        let (d, n) = Decimal::parse_prefix(s.as_bytes());
        (n > 0 && s.as_bytes()[n..].iter().all(u8::is_ascii_whitespace)).then_some(d)
    }

    /// The largest (or, with `neg`, smallest) value of DECIMAL(precision, scale).
    pub fn max_value(precision: u8, scale: u8, neg: bool) -> Decimal {
        let mut d = Decimal {
            scale,
            neg,
            ..Decimal::ZERO
        };
        for k in 0..precision.min(MAX_PRECISION) as usize {
            d.limbs[k / 9] += 9 * POW10[k % 9];
        }
        d
    }

    /// The number times 10^scale, if it has at most 18 digits.
    #[inline]
    pub fn unscaled(&self) -> Option<i64> {
        if self.limbs[2..].iter().any(|l| *l != 0) {
            return None;
        }
        let v = (u64::from(self.limbs[1]) * BASE + u64::from(self.limbs[0])) as i64;
        Some(if self.neg { -v } else { v })
    }

    /// Appends bytes that compare as the numbers do, equal for equal numbers of any scale; no such key is the beginning of
    /// another.
    ///
    /// ```text
    /// 1 byte: 0x80 + number of 9-digit groups before the point | groups, 4 bytes each, big-endian |
    /// behind the point: 0x01 and a group of 9 digits, as often as one that is not 0 follows | 0x00
    /// ```
    ///
    /// All bytes are inverted below 0.
    pub fn push_order_key(&self, out: &mut Vec<u8>) {
        let start = out.len();
        let w = self.wide();
        let (int, _, whole) = w.div_pow10(self.scale as usize);
        let n = int.len();
        out.push(0x80 + n as u8);
        for limb in int.0[..n].iter().rev() {
            out.extend_from_slice(&limb.to_be_bytes());
        }
        if !whole {
            // Five groups hold all digits behind the point.
            let shift = 45 - self.scale as usize;
            let fraction = int
                .mul_pow10(self.scale as usize)
                .and_then(|i| w.sub(&i).mul_pow10(shift))
                .unwrap_or(Wide([0; W]));
            let used = 5 - fraction.0[..5].iter().take_while(|l| **l == 0).count();
            for limb in fraction.0[..5].iter().rev().take(used) {
                out.push(1);
                out.extend_from_slice(&limb.to_be_bytes());
            }
        }
        out.push(0);
        if self.neg {
            for b in &mut out[start..] {
                *b = !*b;
            }
        }
    }

    /// As [`Decimal::push_order_key`], for an integer.
    pub fn push_int_order_key(v: i64, out: &mut Vec<u8>) {
        let start = out.len();
        let m = v.unsigned_abs();
        let groups = [m / (BASE * BASE), m / BASE % BASE, m % BASE];
        let skip = groups.iter().take_while(|g| **g == 0).count();
        out.push(0x80 + (3 - skip) as u8);
        for g in &groups[skip..] {
            out.extend_from_slice(&(*g as u32).to_be_bytes());
        }
        out.push(0);
        if v < 0 {
            for b in &mut out[start..] {
                *b = !*b;
            }
        }
    }

    /// Bytes from which [`Decimal::from_raw`] makes the same number, with its scale: for temporary files.
    pub fn to_raw(&self) -> [u8; 4 * N + 2] {
        let mut out = [0; 4 * N + 2];
        for (to, limb) in out.chunks_exact_mut(4).zip(self.limbs) {
            to.copy_from_slice(&limb.to_le_bytes());
        }
        out[4 * N] = self.scale;
        out[4 * N + 1] = self.neg.into();
        out
    }

    /// What [`Decimal::to_raw`] gave.
    pub fn from_raw(raw: &[u8; 4 * N + 2]) -> Decimal {
        let mut limbs = [0; N];
        for (limb, from) in limbs.iter_mut().zip(raw.chunks_exact(4)) {
            *limb = from.try_into().map_or(0, u32::from_le_bytes);
        }
        Decimal {
            limbs,
            scale: raw[4 * N],
            neg: raw[4 * N + 1] != 0,
        }
    }

    /// Digits after the point.
    pub fn scale(&self) -> u8 {
        self.scale
    }

    /// Significant digits: at least the scale, at least 1.
    pub fn precision(&self) -> u8 {
        (self.wide().digits() as u8).max(self.scale).max(1)
    }

    /// Digits before the point, without leading zeros.
    pub fn int_digits(&self) -> u8 {
        (self.wide().digits() as u8).saturating_sub(self.scale)
    }

    /// True for 0.
    pub fn is_zero(&self) -> bool {
        self.limbs.iter().all(|l| *l == 0)
    }

    /// True below 0.
    pub fn is_negative(&self) -> bool {
        self.neg
    }

    fn wide(&self) -> Wide {
        Wide::from(&self.limbs)
    }

    /// -self.
    #[allow(clippy::should_implement_trait)]
    pub fn neg(self) -> Decimal {
        Decimal {
            neg: !self.neg && !self.is_zero(),
            ..self
        }
    }

    /// The absolute value.
    pub fn abs(self) -> Decimal {
        Decimal { neg: false, ..self }
    }

    /// Both magnitudes at the larger scale.
    fn align(&self, other: &Decimal) -> (Wide, Wide, u8) {
        let scale = self.scale.max(other.scale);
        let up = |d: &Decimal| {
            // 72 digits and a shift of at most 38 always fit in 180.
            d.wide()
                .mul_pow10((scale - d.scale) as usize)
                .unwrap_or(Wide([0; W]))
        };
        (up(self), up(other), scale)
    }

    /// self + other; `None` beyond 65 digits.
    pub fn checked_add(&self, other: &Decimal) -> Option<Decimal> {
        let (a, b, scale) = self.align(other);
        let (w, neg) = if self.neg == other.neg {
            (a.add(&b), self.neg)
        } else {
            match a.cmp(&b) {
                Ordering::Less => (b.sub(&a), other.neg),
                _ => (a.sub(&b), self.neg),
            }
        };
        Decimal::from_wide(w, scale as usize, neg)
    }

    /// self - other; `None` beyond 65 digits.
    pub fn checked_sub(&self, other: &Decimal) -> Option<Decimal> {
        self.checked_add(&other.neg())
    }

    /// self * other, with the sum of the scales (at most 38); `None` beyond 65 digits.
    pub fn checked_mul(&self, other: &Decimal) -> Option<Decimal> {
        Decimal::from_wide(
            self.wide().mul(&other.wide()),
            (self.scale + other.scale) as usize,
            self.neg != other.neg,
        )
    }

    /// self / other with `scale` digits after the point, the rest cut off; `None` for division by zero or beyond 65 digits.
    pub fn checked_div(&self, other: &Decimal, scale: u8) -> Option<Decimal> {
        let scale = scale.min(MAX_SCALE);
        let shift = scale as i32 + other.scale as i32 - self.scale as i32;
        let (a, b) = if shift >= 0 {
            (self.wide().mul_pow10(shift as usize)?, other.wide())
        } else {
            (self.wide(), other.wide().mul_pow10(-shift as usize)?)
        };
        let (q, _) = a.div_rem(&b)?;
        Decimal::from_wide(q, scale as usize, self.neg != other.neg)
    }

    /// Remainder with the sign of `self`, as `MOD()`; `None` for division by zero.
    pub fn checked_rem(&self, other: &Decimal) -> Option<Decimal> {
        let (a, b, scale) = self.align(other);
        let (_, r) = a.div_rem(&b)?;
        Decimal::from_wide(r, scale as usize, self.neg)
    }

    /// The integer part of self / other (`DIV`); `None` for division by zero.
    pub fn checked_int_div(&self, other: &Decimal) -> Option<Decimal> {
        let (a, b, _) = self.align(other);
        let (q, _) = a.div_rem(&b)?;
        Decimal::from_wide(q, 0, self.neg != other.neg)
    }

    /// With `scale` digits after the point, rounded half away from zero. Saturates at 65 digits. Exact when the scale grows.
    pub fn round(&self, scale: u8) -> Decimal {
        self.rescale(scale.min(MAX_SCALE), |half, _, _| half != Ordering::Less)
    }

    /// With `scale` digits after the point, the rest cut off.
    pub fn truncate(&self, scale: u8) -> Decimal {
        self.rescale(scale.min(MAX_SCALE), |_, _, _| false)
    }

    /// The smallest integer not below.
    pub fn ceil(&self) -> Decimal {
        self.rescale(0, |_, exact, neg| !exact && !neg)
    }

    /// The largest integer not above.
    pub fn floor(&self) -> Decimal {
        self.rescale(0, |_, exact, neg| !exact && neg)
    }

    fn rescale(&self, scale: u8, up: impl Fn(Ordering, bool, bool) -> bool) -> Decimal {
        let w = if scale >= self.scale {
            self.wide().mul_pow10((scale - self.scale) as usize)
        } else {
            let (mut q, half, exact) = self.wide().div_pow10((self.scale - scale) as usize);
            if up(half, exact, self.neg) {
                q.add_one();
            }
            Some(q)
        };
        match w {
            Some(w) if w.digits() <= MAX_PRECISION as usize => {
                Decimal::from_wide(w, scale as usize, self.neg).unwrap_or(*self)
            }
            _ => Decimal::max_value(MAX_PRECISION, scale, self.neg),
        }
    }

    /// Rounded to 10^-`places`, where `places` may be negative (`ROUND(x, -2)`); the scale is at most the present one.
    pub fn round_places(&self, places: i64, truncate: bool) -> Decimal {
        if places >= 0 {
            let scale = places.min(self.scale as i64) as u8;
            return if truncate {
                self.truncate(scale)
            } else {
                self.round(scale)
            };
        }
        let k = places.unsigned_abs().min(80) as usize;
        let int = self.truncate(0);
        let (mut q, half, _) = int.wide().div_pow10(k);
        if !truncate && half != Ordering::Less {
            q.add_one();
        }
        q.mul_pow10(k)
            .and_then(|w| Decimal::from_wide(w, 0, self.neg))
            .unwrap_or_else(|| Decimal::max_value(MAX_PRECISION, 0, self.neg))
    }

    /// True if DECIMAL(precision, scale) holds the integer part of the value.
    pub fn fits(&self, precision: u8, scale: u8) -> bool {
        self.int_digits() <= precision - scale.min(precision)
    }

    /// Nearest double.
    pub fn to_f64(&self) -> f64 {
        let w = self.wide();
        if w.digits() <= 15 && self.scale <= 22 {
            let m = self.limbs[0] as f64 + self.limbs[1] as f64 * BASE as f64;
            let v = m / 10f64.powi(self.scale as i32);
            return if self.neg { -v } else { v };
        }
        self.to_string().parse().unwrap_or(0.0)
    }

    /// The shortest decimal text of a double, as a decimal; saturates, NaN is 0.
    pub fn from_f64(v: f64) -> Decimal {
        if v.is_nan() {
            return Decimal::ZERO;
        }
        if v.is_infinite() {
            return Decimal::max_value(MAX_PRECISION, 0, v < 0.0);
        }
        Decimal::parse_prefix(format!("{v:e}").as_bytes()).0
    }

    /// Rounded to an integer; `None` beyond i64.
    pub fn to_i64(&self) -> Option<i64> {
        self.to_i128().and_then(|v| v.try_into().ok())
    }

    /// Rounded to an integer; `None` beyond u64.
    pub fn to_u64(&self) -> Option<u64> {
        self.to_i128().and_then(|v| v.try_into().ok())
    }

    /// Rounded to an integer; `None` beyond 36 digits.
    pub fn to_i128(&self) -> Option<i128> {
        let r = if self.scale == 0 {
            *self
        } else {
            self.round(0)
        };
        if r.limbs[4..].iter().any(|l| *l != 0) {
            return None;
        }
        let m = r.limbs[..4]
            .iter()
            .rev()
            .fold(0i128, |a, l| a * BASE as i128 + *l as i128);
        Some(if r.neg { -m } else { m })
    }

    /// True if there is nothing but zeros after the point.
    pub fn is_integer(&self) -> bool {
        self.scale == 0 || self.wide().div_pow10(self.scale as usize).2
    }

    /// All digits, most significant first, at least `min`.
    fn ascii_digits(&self, buf: &mut [u8; N * 9], min: usize) -> usize {
        for (i, l) in self.limbs.iter().enumerate() {
            let mut v = *l;
            let end = N * 9 - i * 9;
            for b in buf[end - 9..end].iter_mut().rev() {
                *b = b'0' + (v % 10) as u8;
                v /= 10;
            }
        }
        let n = self.wide().digits().max(min);
        N * 9 - n
    }

    /// Appends the text, with exactly `scale()` digits after the point.
    pub fn write(&self, out: &mut Vec<u8>) {
        if self.neg {
            out.push(b'-');
        }
        let mut buf = [0; N * 9];
        let start = self.ascii_digits(&mut buf, self.scale as usize + 1);
        let point = N * 9 - self.scale as usize;
        out.extend_from_slice(&buf[start..point]);
        if self.scale > 0 {
            out.push(b'.');
            out.extend_from_slice(&buf[point..]);
        }
    }

    /// Bytes of DECIMAL(precision, scale) in the binary form of row events.
    pub const fn binary_len(precision: u8, scale: u8) -> usize {
        let int = (precision - scale) as usize;
        let scale = scale as usize;
        int / 9 * 4
            + GROUP_BYTES[int % 9] as usize
            + scale / 9 * 4
            + GROUP_BYTES[scale % 9] as usize
    }

    /// Appends the binary form of row events: big-endian groups of 9 digits on both sides of the point, top bit set, all bits
    /// inverted for negative numbers. Bytes compare as numbers do. A value that doesn't fit is rounded or saturates.
    pub fn encode_binary(&self, precision: u8, scale: u8, out: &mut Vec<u8>) {
        let mut d = self.round(scale);
        if !d.fits(precision, scale) {
            d = Decimal::max_value(precision, scale, d.neg);
        }
        let start = out.len();
        let mut buf = [0; N * 9];
        d.ascii_digits(&mut buf, 0);
        let point = N * 9 - scale as usize;
        let int = (precision - scale) as usize;
        let group = |digits: &[u8], out: &mut Vec<u8>| {
            let v = digits.iter().fold(0u32, |a, b| a * 10 + (b - b'0') as u32);
            let n = GROUP_BYTES[digits.len()] as usize;
            out.extend_from_slice(&v.to_be_bytes()[4 - n..]);
        };
        let head = int % 9;
        let mut at = point - int;
        if head > 0 {
            group(&buf[at..at + head], out);
            at += head;
        }
        while at < point {
            group(&buf[at..at + 9], out);
            at += 9;
        }
        let mut rest = &buf[point..];
        while !rest.is_empty() {
            let n = rest.len().min(9);
            group(&rest[..n], out);
            rest = &rest[n..];
        }
        if let Some(b) = out.get_mut(start) {
            *b ^= 0x80;
        }
        if d.neg {
            for b in &mut out[start..] {
                *b = !*b;
            }
        }
    }

    /// The binary form's number times 10^scale, if it has at most 18 digits and is not damaged.
    #[inline]
    pub fn units_of_binary(bytes: &[u8], precision: u8, scale: u8) -> Option<i64> {
        if precision > 18 || bytes.len() != Self::binary_len(precision, scale) {
            return None;
        }
        let neg = bytes.first()? & 0x80 == 0;
        let v = small_binary(bytes, precision, scale, if neg { 0xff } else { 0 })? as i64;
        Some(if neg { -v } else { v })
    }

    /// Makes bytes that compare as the numbers do of the binary form: they do already, but there are two zeros.
    #[inline]
    pub fn binary_order_key(bytes: &mut [u8], precision: u8, scale: u8) {
        debug_assert_eq!(bytes.len(), Self::binary_len(precision, scale));
        if let [0x7f, rest @ ..] = bytes
            && rest.iter().all(|b| *b == 0xff)
        {
            bytes.fill(0);
            bytes[0] = 0x80;
        }
    }

    /// Reads the binary form; `None` if `bytes` has the wrong length or a group is out of range.
    pub fn decode_binary(bytes: &[u8], precision: u8, scale: u8) -> Option<Decimal> {
        if bytes.len() != Self::binary_len(precision, scale) || bytes.is_empty() {
            return None;
        }
        let neg = bytes[0] & 0x80 == 0;
        let mask = if neg { 0xffu8 } else { 0 };
        if precision <= 18 {
            let v = small_binary(bytes, precision, scale, mask)?;
            return Some(Decimal {
                limbs: [(v % BASE) as u32, (v / BASE) as u32, 0, 0, 0, 0, 0, 0],
                scale,
                neg: neg && v != 0,
            });
        }
        let mut at = 0;
        let mut w = Wide([0; W]);
        let mut group = |w: &mut Wide, digits: usize| -> Option<()> {
            let n = GROUP_BYTES[digits] as usize;
            let mut v = 0u32;
            for (i, b) in bytes[at..at + n].iter().enumerate() {
                let mut b = b ^ mask;
                if at + i == 0 {
                    b ^= 0x80;
                }
                v = v << 8 | b as u32;
            }
            at += n;
            if v >= POW10[digits] {
                return None;
            }
            *w = w.mul_pow10(digits)?;
            // The low limb's last `digits` digits are zero now, so this can't carry.
            w.0[0] += v;
            Some(())
        };
        let int = (precision - scale) as usize;
        if !int.is_multiple_of(9) {
            group(&mut w, int % 9)?;
        }
        for _ in 0..int / 9 {
            group(&mut w, 9)?;
        }
        for _ in 0..scale / 9 {
            group(&mut w, 9)?;
        }
        if !scale.is_multiple_of(9) {
            group(&mut w, scale as usize % 9)?;
        }
        let mut limbs = [0; N];
        limbs.copy_from_slice(&w.0[..N]);
        Some(Decimal {
            limbs,
            scale,
            neg: neg && !w.is_zero(),
        })
    }
}

impl PartialEq for Decimal {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Decimal {}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.neg, other.neg) {
            (false, true) => return Ordering::Greater,
            (true, false) => return Ordering::Less,
            _ => {}
        }
        let o = if self.scale == other.scale {
            self.limbs.iter().rev().cmp(other.limbs.iter().rev())
        } else {
            let (a, b, _) = self.align(other);
            a.cmp(&b)
        };
        if self.neg { o.reverse() } else { o }
    }
}

impl Hash for Decimal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal numbers of different scale must hash alike: drop trailing zeros.
        let mut d = *self;
        while d.scale > 0 && d.limbs[0].is_multiple_of(10) {
            let (q, _, exact) = d.wide().div_pow10(1);
            if !exact {
                break;
            }
            d.limbs.copy_from_slice(&q.0[..N]);
            d.scale -= 1;
        }
        (d.limbs, d.scale, d.neg).hash(state);
    }
}

impl From<i64> for Decimal {
    fn from(v: i64) -> Self {
        Decimal::from_i128(v as i128, 0)
    }
}

impl From<u64> for Decimal {
    fn from(v: u64) -> Self {
        Decimal::from_i128(v as i128, 0)
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut b = Vec::with_capacity(40);
        self.write(&mut b);
        f.write_str(std::str::from_utf8(&b).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn d(s: &str) -> Decimal {
        Decimal::parse(s).unwrap()
    }

    #[test]
    fn text_and_rounding() {
        for s in [
            "0",
            "0.00",
            "-1.50",
            "12345678901234567890.123456789012345678",
            "0.000000000000000000000000000001",
        ] {
            assert_eq!(d(s).to_string(), s);
        }
        assert_eq!(d("1e3").to_string(), "1000");
        assert_eq!(d("12.5e-3").to_string(), "0.0125");
        assert_eq!(d("-0").to_string(), "0");
        assert_eq!(d(".5").to_string(), "0.5");
        assert_eq!(d("2.").to_string(), "2");
        assert_eq!(d("2.5").round(0).to_string(), "3");
        assert_eq!(d("-2.5").round(0).to_string(), "-3");
        assert_eq!(d("2.4999999999").round(0).to_string(), "2");
        assert_eq!(d("1000000000.5").round(0).to_string(), "1000000001");
        assert_eq!(d("0.4999999999").round(9).to_string(), "0.500000000");
        assert_eq!(d("-1.01").floor().to_string(), "-2");
        assert_eq!(d("-1.01").ceil().to_string(), "-1");
        assert_eq!(d("1.00").ceil().to_string(), "1");
        assert_eq!(d("155").round_places(-1, false).to_string(), "160");
        assert_eq!(d("999.9").round(0).to_string(), "1000");
        assert_eq!(Decimal::parse("abc"), None);
        assert_eq!(Decimal::parse_prefix(b"12abc"), (d("12"), 2));
        assert_eq!(Decimal::parse_prefix(b"1e").1, 1);
        assert_eq!(
            d(&"9".repeat(66)),
            Decimal::max_value(65, 0, false),
            "saturates"
        );
        assert_eq!(
            d("1").checked_div(&d("3"), 4).unwrap().to_string(),
            "0.3333"
        );
        assert_eq!(d("1").checked_div(&d("0"), 4), None);
        assert_eq!(d("-7.5").checked_rem(&d("2")).unwrap().to_string(), "-1.5");
        let m = Decimal::max_value(65, 0, false);
        assert_eq!(m.checked_add(&d("1")), None);
        assert_eq!(m.checked_mul(&d("10")), None);
        assert_eq!(
            d("1e40")
                .checked_div(&d("12345678901234567891"), 10)
                .unwrap()
                .to_string(),
            "810000007290000066281.4906025768"
        );
    }

    #[test]
    fn equal_numbers_hash_alike() {
        use std::collections::HashSet;
        let set: HashSet<Decimal> = ["1", "1.0", "1.000", "-0.0", "0"].map(d).into();
        assert_eq!(set.len(), 2);
    }

    fn any_small() -> impl Strategy<Value = (i128, u8)> {
        (
            prop_oneof![
                -1_000_000_000_000_000_000i128..1_000_000_000_000_000_000,
                -2000i128..2000,
                Just(999_999_999),
                Just(1_000_000_000),
            ],
            0u8..6,
        )
    }

    proptest! {
        #[test]
        fn arithmetic_as_i128((a, s) in any_small(), (b, t) in any_small()) {
            let (x, y) = (Decimal::from_i128(a, s), Decimal::from_i128(b, t));
            let m = s.max(t);
            let (am, bm) = (a * 10i128.pow((m - s) as u32), b * 10i128.pow((m - t) as u32));
            prop_assert_eq!(x.checked_add(&y).unwrap().to_string(), Decimal::from_i128(am + bm, m).to_string());
            prop_assert_eq!(x.checked_sub(&y).unwrap().to_string(), Decimal::from_i128(am - bm, m).to_string());
            prop_assert_eq!(x.checked_mul(&y).unwrap().to_string(), Decimal::from_i128(a * b, s + t).to_string());
            prop_assert_eq!(x.cmp(&y), am.cmp(&bm));
            if b != 0 {
                prop_assert_eq!(x.checked_rem(&y).unwrap(), Decimal::from_i128(am % bm, m));
                prop_assert_eq!(x.checked_int_div(&y).unwrap(), Decimal::from_i128(am / bm, 0));
                let q = x.checked_div(&y, 4).unwrap();
                prop_assert_eq!(q, Decimal::from_i128(am * 10_000 / bm, 4));
            }
            let unit = 10i128.pow(s as u32);
            prop_assert_eq!(x.to_i128().unwrap(), (a.abs() + unit / 2) / unit * a.signum());
            prop_assert_eq!(Decimal::parse(&x.to_string()).unwrap(), x);
            prop_assert_eq!(x.to_f64(), x.to_string().parse::<f64>().unwrap());
        }

        #[test]
        fn division_of_long_numbers(a in "[1-9][0-9]{30,60}", b in "[1-9][0-9]{10,29}") {
            let (x, y) = (d(&a), d(&b));
            let (q, r) = (x.checked_int_div(&y).unwrap(), x.checked_rem(&y).unwrap());
            prop_assert!(r < y && !r.is_negative());
            prop_assert_eq!(q.checked_mul(&y).unwrap().checked_add(&r).unwrap(), x);
        }

        #[test]
        fn binary_form(int in "[0-9]{0,27}", frac in "[0-9]{0,20}", neg: bool, p_extra in 0u8..5) {
            let s = format!("{}{}.{}", if neg { "-" } else { "" }, if int.is_empty() { "0" } else { &int }, frac);
            let x = Decimal::parse(s.trim_end_matches('.')).unwrap();
            let scale = frac.len() as u8;
            let p = (int.len() as u8 + scale + p_extra).max(1);
            let mut b = Vec::new();
            x.encode_binary(p, scale, &mut b);
            prop_assert_eq!(b.len(), Decimal::binary_len(p, scale));
            prop_assert_eq!(Decimal::decode_binary(&b, p, scale).unwrap().to_string(), x.to_string());
        }
    }
}
