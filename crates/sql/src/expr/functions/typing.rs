//! The arguments of a call as its result type sees them, and result types that many functions share.

use crate::expr::node::Typing;
use crate::expr::node::{ArithOp, Coercibility, Expr, ExprKind, ExprType, Function, NOT_FIXED};
use crate::expr::types::{collation_of, illegal_mix_of};
use crate::literal::bits_number;
use narwal_types::convert::{NoWarnings, to_i64};
use narwal_types::{Collation, SqlResult};
use narwal_types::{ColumnType, TypeKind, Value};

impl Typing<'_> {
    /// True if an argument may be NULL.
    pub fn nullable(&self) -> bool {
        self.args.iter().any(|a| a.ty.nullable)
    }

    /// An argument's type; that of NULL if it is not there.
    pub fn arg(&self, i: usize) -> ExprType {
        self.args.get(i).map_or_else(ExprType::null, |a| a.ty)
    }

    /// The types of all arguments.
    pub fn types(&self) -> impl Iterator<Item = &ExprType> {
        self.args.iter().map(|a| &a.ty)
    }

    /// Most characters of an argument's text.
    pub fn chars(&self, i: usize) -> u64 {
        self.arg(i).chars()
    }

    /// Most characters of all arguments' texts together.
    pub fn all_chars(&self) -> u64 {
        self.types().map(ExprType::chars).sum()
    }

    /// Most bytes of an argument's text.
    pub fn bytes(&self, i: usize) -> u64 {
        let t = self.arg(i);
        match t.ty.max_bytes() {
            Some(n) if t.ty.is_string() => n,
            _ => t.chars(),
        }
    }

    /// An argument that is written out, where an integer is wanted.
    pub fn literal_int(&self, i: usize) -> Option<i64> {
        constant_int(self.args.get(i)?)
    }

    /// Digits behind the point of an argument's seconds.
    pub fn fraction(&self, i: usize) -> u8 {
        let t = self.arg(i);
        match t.ty.kind {
            // A literal shows how many digits it has.
            _ if let Some(ExprKind::Literal(Value::Str(s))) = self.args.get(i).map(|a| &a.kind) => {
                let digits = |f: &str| f.bytes().take_while(u8::is_ascii_digit).count();
                s.rsplit_once('.')
                    .map_or(0, |(_, f)| digits(f).min(6) as u8)
            }
            TypeKind::Time(f) | TypeKind::DateTime(f) | TypeKind::Timestamp(f) => f,
            TypeKind::Decimal(_, s) => s.min(6),
            TypeKind::Date | TypeKind::Year | TypeKind::Bit(_) => 0,
            _ if t.null => 0,
            _ if t.ty.is_integer() || t.ty.is_member() || t.bits => 0,
            _ if t.is_fixed_double() => t.decimals.min(6),
            _ => match self.args.get(i).map(|a| &a.kind) {
                Some(ExprKind::Literal(Value::Bytes(_))) => 0,
                Some(_) if let Some(digits) = sum_digits(&self.args[i]) => digits,
                _ => 6,
            },
        }
    }

    /// A string of at most `chars` characters in the collation that the arguments from..to share.
    pub fn string_of(
        &self,
        args: std::ops::Range<usize>,
        chars: u64,
        nullable: bool,
    ) -> SqlResult<ExprType> {
        let end = args.end.min(self.args.len());
        let list = &self.args[args.start.min(end)..end];
        let (c, k) = collation_of(list.iter().map(|a| &a.ty), self.name)?;
        // These look for one text in another.
        if k == Coercibility::NoOne && matches!(self.name, "replace" | "trim") {
            return Err(illegal_mix_of(list.iter().map(|a| &a.ty), self.name));
        }
        Ok(ExprType::string(chars, c, of_text(k), nullable))
    }

    /// A string of at most `chars` characters in the collation of all arguments.
    pub fn string_of_all(&self, chars: u64, nullable: bool) -> SqlResult<ExprType> {
        self.string_of(0..self.args.len(), chars, nullable)
    }

    /// The same where numbers stand between the texts.
    pub fn string_of_both(
        &self,
        a: usize,
        b: usize,
        chars: u64,
        nullable: bool,
    ) -> SqlResult<ExprType> {
        let types = [a, b].map(|i| self.args.get(i).map(|a| &a.ty));
        let (c, k) = collation_of(types.into_iter().flatten(), self.name)?;
        Ok(ExprType::string(chars, c, of_text(k), nullable))
    }

    /// A string of at most `chars` characters in the first argument's collation.
    pub fn string_of_first(&self, chars: u64, nullable: bool) -> SqlResult<ExprType> {
        let (c, k) = collation_of([&self.arg(0)], self.name)?;
        Ok(ExprType::string(chars, c, of_text(k), nullable))
    }
}

/// What is made of numbers alone is a text like a literal.
fn of_text(k: Coercibility) -> Coercibility {
    match k {
        Coercibility::Numeric => Coercibility::Coercible,
        k => k,
    }
}

/// INT, NULL if an argument is.
pub(super) fn int(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::int(t.nullable()))
}

/// INT that is never NULL.
pub(super) fn int_not_null(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::int(false))
}

/// INT that may be NULL whatever the arguments are.
pub(super) fn int_or_null(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::int(true))
}

/// BIGINT, NULL if an argument is.
pub(super) fn bigint(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::bigint(false, t.nullable()))
}

/// BIGINT that may be NULL.
pub(super) fn bigint_or_null(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::bigint(false, true))
}

/// BIGINT that is never NULL.
pub(super) fn bigint_not_null(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::bigint(false, false))
}

/// BIGINT UNSIGNED that is never NULL.
pub(super) fn unsigned_not_null(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::bigint(true, false))
}

/// DOUBLE that may be NULL.
pub(super) fn double(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::double_with(NOT_FIXED, true))
}

/// A text as long as the first argument, in its collation.
pub(super) fn like_first(t: &Typing<'_>) -> SqlResult<ExprType> {
    t.string_of_first(t.chars(0), t.nullable())
}

/// At most `n` bytes.
pub(super) fn bytes(n: u64, nullable: bool) -> ExprType {
    ExprType::string(n, Collation::Binary, Coercibility::Coercible, nullable)
}

/// A type that may be NULL.
pub(super) fn kind(kind: TypeKind) -> ExprType {
    ExprType::of_column(ColumnType::new(kind), true)
}

/// How many digits the text of ADDTIME or SUBTIME has behind the point: as many as the operands. `None` if the first one is a
/// text: six or none then.
pub(crate) fn sum_digits(e: &Expr) -> Option<u8> {
    let ExprKind::Func { func, args } = &e.kind else {
        return None;
    };
    let first = args.first()?;
    let known = !first.ty.is_string() || sum_digits(first).is_some();
    (is_sum(func) && known).then(|| e.ty.chars().saturating_sub(20).min(6) as u8)
}

/// True for ADDTIME and SUBTIME.
pub(crate) fn is_sum(func: &Function) -> bool {
    ["addtime", "subtime"].contains(&func.name())
}

/// The integer that a literal, or arithmetic of literals, is.
fn constant_int(e: &Expr) -> Option<i64> {
    match &e.kind {
        ExprKind::Literal(Value::Int(v)) => Some(*v),
        ExprKind::Literal(Value::UInt(v)) => Some(i64::try_from(*v).unwrap_or(i64::MAX)),
        ExprKind::Literal(v @ (Value::Decimal(_) | Value::Double(_) | Value::Str(_))) => {
            Some(to_i64(v.as_ref(), &mut NoWarnings))
        }
        // 0x41 and b'1' are numbers here.
        ExprKind::Literal(Value::Bytes(b)) if e.ty.bits && b.len() < 8 => {
            Some(bits_number(b) as i64)
        }
        ExprKind::Neg(of) if of.ty.ty.is_integer() => constant_int(of)?.checked_neg(),
        ExprKind::Cast(of) if e.ty.ty.is_integer() => constant_int(of),
        ExprKind::Arith { op, left, right } if e.ty.ty.is_integer() => {
            let (a, b) = (constant_int(left)?, constant_int(right)?);
            match op {
                ArithOp::Add => a.checked_add(b),
                ArithOp::Sub => a.checked_sub(b),
                ArithOp::Mul => a.checked_mul(b),
                ArithOp::IntDiv => a.checked_div(b),
                ArithOp::Mod => a.checked_rem(b),
                _ => None,
            }
        }
        _ => None,
    }
}
