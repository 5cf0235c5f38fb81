//! Result types of expressions, and which collation a result or a comparison has.

use crate::expr::node::NOT_FIXED;
use crate::expr::node::{ArithOp, Coercibility, Expr, ExprType};
use narwal_types::collation::char_count;
use narwal_types::decimal::{MAX_PRECISION, MAX_SCALE};
use narwal_types::errors::codes;
use narwal_types::{
    BlobSize, Charset, Collation, ColumnType, SqlError, SqlResult, TypeKind, Value, ValueRef,
};

/// Characters of a double that an operator or a function gives: with as many digits as it needs, and without those behind
/// the point if their number is fixed.
const DOUBLE_CHARS: u32 = 23;
const FIXED_DOUBLE_CHARS: u32 = 17;
/// Characters of the widest integer with a sign.
pub(crate) const BIGINT_CHARS: u32 = 21;

/// Most digits of a FLOAT or DOUBLE with a fixed number of them behind the point.
const MOST_FIXED_DIGITS: u32 = 255;

/// Most characters of an integer that is made of a text or a double.
const ANY_CHARS: u64 = 21;

/// The type of a `?` that is known only when the statement is executed; a string can stand for everything.
pub fn param() -> ExprType {
    ExprType::text(16_383, true)
}

impl ExprType {
    /// The type of a column or of a value in a column's domain.
    pub fn of_column(ty: ColumnType, nullable: bool) -> Self {
        ExprType {
            ty,
            nullable,
            decimals: match ty.kind {
                TypeKind::Float | TypeKind::Double => ty.form.digits.map_or(NOT_FIXED, |(_, d)| d),
                // As a number a text has as many as it needs.
                _ if ty.is_string() => NOT_FIXED,
                _ => ty.scale().unwrap_or(0),
            },
            null: false,
            json: false,
            width: 0,
            digits: 0,
            natural: false,
            boolean: false,
            bits: false,
            year_text: ty.kind == TypeKind::Year,
            as_text: None,
            coercibility: if ty.is_string() {
                Coercibility::Implicit
            } else {
                Coercibility::Numeric
            },
        }
    }

    /// INT, as comparisons return it.
    pub fn int(nullable: bool) -> Self {
        Self::of_column(ColumnType::int(), nullable)
    }

    /// BIGINT.
    pub fn bigint(unsigned: bool, nullable: bool) -> Self {
        let ty = if unsigned {
            ColumnType::unsigned(TypeKind::BigInt)
        } else {
            ColumnType::bigint()
        };
        Self::of_column(ty, nullable)
    }

    /// DOUBLE.
    pub fn double(nullable: bool) -> Self {
        Self::of_column(ColumnType::double(), nullable)
    }

    /// An integer of so many digits that an operator or a function gives.
    pub(crate) fn with_digits(self, digits: u32) -> Self {
        let sign = u32::from(!self.ty.unsigned);
        ExprType {
            digits: digits.min(u32::from(MAX_PRECISION)) as u8,
            width: digits + sign,
            natural: false,
            ..self
        }
    }

    /// An integer column whose declared width is larger than its values are: it counts for what is made of it.
    pub(crate) fn with_display_width(self, declared: Option<u8>) -> Self {
        match declared.map(u32::from) {
            Some(width) if self.ty.is_integer() && width > self.ty.display_length() => ExprType {
                width,
                digits: (width - u32::from(!self.ty.unsigned)).min(u32::from(MAX_PRECISION)) as u8,
                ..self
            },
            _ => self,
        }
    }

    /// The same without a sign, if the other one has none.
    pub(crate) fn with_sign_of(mut self, other: &ExprType) -> Self {
        self.ty.unsigned = other.ty.unsigned;
        self
    }

    /// The same, unsigned if what counts as a number of the other type is.
    fn with_sign_like(mut self, other: &ExprType) -> Self {
        self.ty.unsigned = other.counts_unsigned();
        self
    }

    /// The same with another width.
    pub(crate) fn with_width(self, width: u32) -> Self {
        ExprType { width, ..self }
    }

    /// An integer that a function gives, of so many characters.
    pub(crate) fn with_chars(self, width: u32, natural: bool) -> Self {
        let sign = u32::from(!self.ty.unsigned);
        ExprType {
            width,
            digits: width.saturating_sub(sign).clamp(1, 21) as u8,
            natural,
            ..self
        }
    }

    /// DOUBLE that is shown with so many digits behind the point; [`NOT_FIXED`] or more: as many as it needs.
    pub(crate) fn double_with(decimals: u8, nullable: bool) -> Self {
        let decimals = decimals.min(NOT_FIXED);
        ExprType {
            decimals,
            width: match decimals < NOT_FIXED {
                true => FIXED_DOUBLE_CHARS + u32::from(decimals),
                false => DOUBLE_CHARS,
            },
            ..Self::double(nullable)
        }
    }

    /// A FLOAT or DOUBLE whose text has a fixed number of digits behind the point.
    pub fn is_fixed_double(&self) -> bool {
        matches!(self.ty.kind, TypeKind::Double | TypeKind::Float) && self.decimals < NOT_FIXED
    }

    /// A number whose text its value alone does not say: digits behind the point, ZEROFILL, a column's YEAR.
    pub fn has_form(&self) -> bool {
        self.is_fixed_double() || self.ty.form.zeros > 0 || self.year_text || self.is_short_year()
    }

    /// A YEAR that shows two digits.
    fn is_short_year(&self) -> bool {
        self.ty.kind == TypeKind::Year && self.ty.year_digits() == 2
    }

    /// The text of a value of a type that [`Self::has_form`].
    pub fn formed_text(&self, v: ValueRef<'_>) -> String {
        let mut text = match v {
            ValueRef::Double(x) if self.is_fixed_double() => self.double_text(x),
            ValueRef::Float(x) if self.is_fixed_double() => self.double_text(f64::from(x)),
            ValueRef::Int(y) => self
                .year_text(y.unsigned_abs())
                .unwrap_or_else(|| v.to_text()),
            ValueRef::UInt(y) => self.year_text(y).unwrap_or_else(|| v.to_text()),
            v => v.to_text(),
        }
        .into_bytes();
        self.ty.form.filled(&mut text);
        String::from_utf8(text).unwrap_or_default()
    }

    /// The text of a year, if it is not its number's. What is computed of a column has no zeros in front.
    fn year_text(&self, year: u64) -> Option<String> {
        match (self.is_short_year(), self.year_text) {
            (true, true) => Some(format!("{:02}", year % 100)),
            (true, false) => Some((year % 100).to_string()),
            (false, true) => Some(format!("{year:04}")),
            (false, false) => None,
        }
    }

    /// The same without ZEROFILL, and without a year's zeros.
    pub fn without_zeros(self) -> Self {
        ExprType {
            year_text: false,
            ty: self.ty.without_zeros(),
            ..self
        }
    }

    /// The text of a value of a type that [`Self::is_fixed_double`].
    pub fn double_text(&self, v: f64) -> String {
        narwal_types::convert::fixed_text(v, self.decimals)
    }

    /// DECIMAL with limits applied.
    pub fn decimal(int_digits: u32, scale: u32, nullable: bool) -> Self {
        let scale = scale.min(MAX_SCALE as u32);
        let p = (int_digits + scale).clamp(1, MAX_PRECISION as u32);
        Self::of_column(ColumnType::decimal(p as u8, scale.min(p) as u8), nullable)
    }

    /// A string of at most `chars` characters.
    pub fn string(
        chars: u64,
        collation: Collation,
        coercibility: Coercibility,
        nullable: bool,
    ) -> Self {
        let ty = if collation == Collation::Binary {
            match chars {
                0..=65_532 => ColumnType::new(TypeKind::VarBinary(chars as u16)),
                _ => ColumnType::new(TypeKind::Blob(BlobSize::holding(chars))),
            }
        } else {
            match chars {
                0..=16_383 => ColumnType::text(TypeKind::VarChar(chars as u16), collation),
                _ => {
                    let bytes = chars.saturating_mul(u64::from(collation.charset().char_bytes()));
                    ColumnType::text(TypeKind::Text(BlobSize::holding(bytes)), collation)
                }
            }
        };
        ExprType {
            ty,
            nullable,
            decimals: NOT_FIXED,
            null: false,
            json: false,
            width: 0,
            digits: 0,
            natural: false,
            boolean: false,
            bits: false,
            year_text: false,
            as_text: None,
            coercibility,
        }
    }

    /// A TEXT or BLOB that holds so many characters.
    fn large_text(
        chars: u64,
        collation: Collation,
        coercibility: Coercibility,
        nullable: bool,
    ) -> Self {
        let bytes = chars.saturating_mul(u64::from(collation.charset().char_bytes()));
        let size = BlobSize::for_bytes(bytes);
        let ty = match collation {
            Collation::Binary => ColumnType::new(TypeKind::Blob(size)),
            _ => ColumnType::text(TypeKind::Text(size), collation),
        };
        ExprType {
            ty,
            ..Self::string(0, collation, coercibility, nullable)
        }
    }

    /// A TEXT or BLOB.
    fn is_large_text(&self) -> bool {
        matches!(self.ty.kind, TypeKind::Text(_) | TypeKind::Blob(_))
    }

    /// The type of a text that a user variable takes: one of variable length.
    pub(crate) fn kept_text(self) -> Self {
        let (c, k) = (self.ty.collation, self.coercibility);
        match self.ty.kind {
            _ if self.null => self,
            TypeKind::Char(_)
            | TypeKind::Binary(_)
            | TypeKind::Enum(_)
            | TypeKind::Set(_)
            | TypeKind::VarChar(_)
            | TypeKind::Text(_)
            | TypeKind::Blob(_)
                if self.width == 0 =>
            {
                ExprType {
                    decimals: self.decimals,
                    json: self.json,
                    ..Self::string(self.chars(), c, k, self.nullable)
                }
            }
            _ => self,
        }
    }

    /// The type of a text that was chosen among others: no CHAR, no ENUM, and a TEXT that holds as many characters.
    pub(super) fn chosen_text(self) -> Self {
        let (c, k) = (self.ty.collation, self.coercibility);
        match self.ty.kind {
            _ if self.null => self,
            TypeKind::Text(_) | TypeKind::Blob(_) => ExprType {
                json: self.json,
                ..Self::large_text(self.chars(), c, k, self.nullable)
            },
            TypeKind::Char(_) | TypeKind::Binary(_) | TypeKind::Enum(_) | TypeKind::Set(_) => {
                Self::string(self.chars(), c, k, self.nullable)
            }
            _ => self,
        }
    }

    /// A string in the connection's collation.
    pub fn text(chars: u64, nullable: bool) -> Self {
        Self::string(
            chars,
            Collation::Utf8mb4GeneralCi,
            Coercibility::Coercible,
            nullable,
        )
    }

    /// The NULL literal.
    pub fn null() -> Self {
        ExprType {
            ty: ColumnType::new(TypeKind::VarBinary(0)),
            nullable: true,
            decimals: 0,
            null: true,
            json: false,
            width: 0,
            digits: 0,
            natural: false,
            boolean: false,
            bits: false,
            year_text: false,
            as_text: None,
            coercibility: Coercibility::Ignorable,
        }
    }

    /// A type that only depends on one more flag.
    pub fn with_nullable(self, nullable: bool) -> Self {
        ExprType { nullable, ..self }
    }

    /// The type of a literal.
    pub fn of_value(v: &Value) -> Self {
        match v {
            Value::Null => Self::null(),
            // What has ten digits may be beyond INT.
            Value::Int(n) if n.unsigned_abs() < 1_000_000_000 => Self::int(false).of_number(v),
            Value::Int(_) => Self::bigint(false, false).of_number(v),
            Value::UInt(_) => Self::bigint(true, false).of_number(v),
            Value::Float(_) | Value::Double(_) => Self::double(false),
            // The zero before the point counts.
            Value::Decimal(d) => Self::decimal(
                u32::from(d.precision().saturating_sub(d.scale()).max(1)),
                u32::from(d.scale()),
                false,
            ),
            Value::Str(s) => Self::text(char_count(s.as_bytes()) as u64, false),
            Value::Bytes(b) => Self::string(
                b.len() as u64,
                Collation::Binary,
                Coercibility::Coercible,
                false,
            ),
            Value::Date(_) => Self::of_column(ColumnType::new(TypeKind::Date), false),
            Value::Time(t) => Self::of_column(ColumnType::new(TypeKind::Time(t.fsp)), false),
            Value::DateTime(t) => Self::of_column(ColumnType::datetime(t.fsp), false),
            Value::Member(m) => Self::text(m.text().chars().count() as u64, false),
            Value::Bits(b) => Self::of_column(ColumnType::new(TypeKind::Bit(b.width)), false),
            Value::Fixed(f) => Self::fixed(f.kind, false),
        }
    }

    /// The type of an integer that is known: it has its own digits.
    fn of_number(self, v: &Value) -> Self {
        let text = v.to_text();
        ExprType {
            width: text.len() as u32,
            digits: text.trim_start_matches('-').len() as u8,
            ..self
        }
    }

    /// The same without what a known value says of its length.
    pub(crate) fn of_any_length(self) -> Self {
        ExprType {
            width: 0,
            digits: 0,
            natural: false,
            ..self
        }
    }

    /// Most characters of the value as text.
    pub fn chars(&self) -> u64 {
        match self.ty.kind {
            _ if self.width > 0 => u64::from(self.width - u32::from(self.natural)),
            TypeKind::Char(n)
            | TypeKind::VarChar(n)
            | TypeKind::Binary(n)
            | TypeKind::VarBinary(n) => n as u64,
            TypeKind::Text(s) | TypeKind::Blob(s) => s.max_bytes(),
            TypeKind::Enum(m) => m.enum_chars() as u64,
            TypeKind::Set(m) => m.set_chars() as u64,
            TypeKind::Fixed(k) => u64::from(k.chars()),
            _ => self.ty.display_length() as u64,
        }
    }

    /// Digits before the point of an exact number.
    pub(crate) fn int_digits(&self) -> u32 {
        match self.ty.kind {
            _ if self.digits > 0 && self.ty.is_integer() => u32::from(self.digits),
            TypeKind::Decimal(p, s) => (p - s) as u32,
            TypeKind::TinyInt => 3,
            TypeKind::SmallInt => 5,
            TypeKind::MediumInt => 8,
            TypeKind::Int => 10,
            TypeKind::BigInt => 20 - !self.ty.unsigned as u32,
            TypeKind::Year => 4,
            TypeKind::Enum(m) => m.enum_chars().max(1) as u32,
            TypeKind::Set(m) => m.set_chars().max(1) as u32,
            TypeKind::Bit(n) => n as u32,
            TypeKind::Date => 8,
            TypeKind::Time(_) => 7,
            TypeKind::DateTime(_) | TypeKind::Timestamp(_) => 14,
            _ => 20,
        }
    }

    pub(super) fn scale(&self) -> u32 {
        self.ty.scale().unwrap_or(0) as u32
    }

    /// What the value counts as in arithmetic.
    pub(crate) fn class(&self) -> Class {
        match self.ty.kind {
            _ if self.null => Class::Double,
            _ if self.ty.is_integer() || self.ty.kind == TypeKind::Year => Class::Int,
            TypeKind::Enum(_) | TypeKind::Set(_) | TypeKind::Bit(_) => Class::Int,
            TypeKind::Decimal(..) => Class::Decimal,
            TypeKind::Date => Class::Int,
            TypeKind::Time(0) | TypeKind::DateTime(0) | TypeKind::Timestamp(0) => Class::Int,
            TypeKind::Time(_) | TypeKind::DateTime(_) | TypeKind::Timestamp(_) => Class::Decimal,
            _ => Class::Double,
        }
    }

    /// A number that is counted as one without a sign.
    pub(crate) fn counts_unsigned(&self) -> bool {
        self.ty.unsigned || matches!(self.ty.kind, TypeKind::Year | TypeKind::Bit(_))
    }

    /// An exact number: an integer or DECIMAL.
    pub fn is_exact(&self) -> bool {
        self.class() != Class::Double
    }

    /// True for strings, also those of unknown type (parameters).
    pub fn is_string(&self) -> bool {
        self.ty.is_string() && !self.null
    }
}

/// What a value counts as in arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    Int,
    Decimal,
    Double,
}

/// Type of a binary operator's result. `div_precision`: digits that a division adds.
pub fn arith(op: ArithOp, a: &ExprType, b: &ExprType, div_precision: u8) -> ExprType {
    let nullable =
        a.nullable || b.nullable || matches!(op, ArithOp::Div | ArithOp::IntDiv | ArithOp::Mod);
    let unsigned = a.counts_unsigned() || b.counts_unsigned();
    let class = a.class().max(b.class());
    // An exact number with a scale has a sign unless none of both has one.
    let sign = match a.counts_unsigned() {
        true => b,
        false => a,
    };
    match op {
        ArithOp::BitAnd
        | ArithOp::BitOr
        | ArithOp::BitXor
        | ArithOp::ShiftLeft
        | ArithOp::ShiftRight => ExprType::bigint(true, nullable).with_chars(BIGINT_CHARS, false),
        ArithOp::IntDiv => {
            let digits = match (a.class(), a.ty.form.digits) {
                (Class::Double, Some((all, behind))) => u32::from(all - behind),
                (Class::Double, None) if !a.null => a.chars().clamp(1, ANY_CHARS) as u32,
                _ if a.null => return ExprType::int(true).with_width(1),
                _ => a.int_digits(),
            };
            let ty = ExprType::bigint(unsigned, nullable).with_digits(digits);
            ty.with_width(digits)
        }
        ArithOp::Div if class != Class::Double => {
            let scale = a.scale() + u32::from(div_precision);
            let ty = ExprType::decimal(a.int_digits() + b.scale(), scale, nullable);
            ty.with_sign_like(sign)
        }
        _ => match class {
            Class::Double => {
                // A fixed number of digits stays fixed.
                let more = match op {
                    ArithOp::Div => div_precision,
                    _ => 0,
                };
                let decimals = a.decimals.max(b.decimals).saturating_add(more);
                let ty = ExprType::double_with(decimals, nullable);
                match a.ty.form.digits {
                    Some((digits, _)) if op == ArithOp::Div && ty.is_fixed_double() => {
                        ty.with_width(u32::from(digits) + u32::from(more))
                    }
                    _ => ty,
                }
            }
            Class::Int => {
                let (x, y) = (a.int_digits(), b.int_digits());
                let (unsigned, digits) = match op {
                    ArithOp::Mod => (a.counts_unsigned(), x.max(y)),
                    ArithOp::Mul => (unsigned, x + y),
                    _ => (unsigned, x.max(y) + 1),
                };
                ExprType::bigint(unsigned, nullable).with_digits(digits)
            }
            Class::Decimal => match op {
                ArithOp::Mul => ExprType::decimal(
                    a.int_digits() + b.int_digits(),
                    a.scale() + b.scale(),
                    nullable,
                )
                .with_sign_like(sign),
                ArithOp::Mod => {
                    // As many digits in all as the longer operand.
                    let digits = |t: &ExprType| t.int_digits() + t.scale();
                    let (all, scale) = (digits(a).max(digits(b)), a.scale().max(b.scale()));
                    ExprType::decimal(all.saturating_sub(scale), scale, nullable).with_sign_of(a)
                }
                _ => ExprType::decimal(
                    a.int_digits().max(b.int_digits()) + 1,
                    a.scale().max(b.scale()),
                    nullable,
                )
                .with_sign_like(sign),
            },
        },
    }
}

/// Type of `-x`.
pub fn negated(a: &ExprType) -> ExprType {
    match a.class() {
        Class::Int if a.ty.is_temporal() => ExprType::decimal(a.chars() as u32, 0, a.nullable),
        Class::Int => {
            let ty = ExprType::bigint(false, a.nullable).with_digits(a.int_digits());
            ty.with_width(a.chars() as u32 + 1)
        }
        Class::Decimal => ExprType::decimal(a.int_digits(), a.scale(), a.nullable),
        Class::Double if a.null => ExprType::double_with(0, true).with_width(1),
        Class::Double => {
            let ty = ExprType::double_with(a.decimals, a.nullable);
            match a.ty.form.digits {
                Some((digits, _)) => ty.with_width(u32::from(digits) + 1),
                None => ty,
            }
        }
    }
}

/// The collation of two strings that have the same coercibility; `None` if neither gives way.
fn shared_collation(
    a: Collation,
    b: Collation,
    k: Coercibility,
    of_literals: bool,
) -> Option<Collation> {
    if k == Coercibility::Explicit {
        return None;
    }
    let (x, y) = (a.charset(), b.charset());
    if x == y {
        return match (a.is_bin(), b.is_bin()) {
            (true, false) => Some(a),
            (false, true) => Some(b),
            // Texts without a collation of their own are one's own to compare.
            _ if k > Coercibility::Implicit => Some(x.bin_collation()),
            _ => None,
        };
    }
    // Bytes make everything bytes; a character set gives way to one that has all its characters.
    // Literals are mostly of ASCII, and so are the texts of a VALUES.
    let rank = |c: Charset| match c {
        Charset::Utf8mb3 => 1,
        Charset::Ucs2 => 2,
        Charset::Utf8mb4 => 3,
        _ => 4,
    };
    let gives_way = |x: Charset, y: Charset| match (x, y) {
        (_, Charset::Binary) | (Charset::Ascii, _) => true,
        (Charset::Binary, _) | (_, Charset::Ascii) => false,
        (Charset::Utf8mb3, Charset::Utf8mb4) => true,
        (x, y) if x.is_unicode() && y.is_unicode() => of_literals && rank(x) < rank(y),
        (x, y) => y.is_unicode() && !x.is_unicode(),
    };
    if gives_way(x, y) {
        Some(b)
    } else if gives_way(y, x) {
        Some(a)
    } else {
        None
    }
}

/// Collation of strings that meet in one operation; error 1267 if two COLLATE clauses differ.
pub fn collation_of<'a>(
    types: impl IntoIterator<Item = &'a ExprType>,
    operation: &str,
) -> SqlResult<(Collation, Coercibility)> {
    let types: Vec<&ExprType> = types.into_iter().collect();
    let of = |t: &ExprType| match t.ty.kind {
        _ if t.ty.is_string() => (t.ty.collation, t.coercibility),
        // Shown as text a column is its bytes, a choice among columns its number.
        TypeKind::Bit(_) if t.coercibility != Coercibility::Ignorable => {
            (Collation::Binary, Coercibility::Implicit)
        }
        _ if let Some(c) = t.as_text => (c, Coercibility::Coercible),
        _ => (Collation::Utf8mb4GeneralCi, Coercibility::Numeric),
    };
    let mut best: Option<(Collation, Coercibility)> = None;
    let mut nothing = (Collation::Utf8mb4GeneralCi, Coercibility::Ignorable);
    // Of those so far none gives way; a later one may be stronger than all.
    let mut at_odds = false;
    for t in &types {
        if t.null {
            nothing.0 = Collation::Binary;
            continue;
        }
        let (c, k) = of(t);
        best = Some(match best {
            None => (c, k),
            Some((bc, bk)) if bc == c => (bc, bk.min(k)),
            // A byte string makes everything bytes unless a COLLATE says otherwise.
            Some((bc, bk)) => match k.cmp(&bk) {
                std::cmp::Ordering::Less => {
                    at_odds = false;
                    (c, k)
                }
                std::cmp::Ordering::Greater => (bc, bk),
                std::cmp::Ordering::Equal => match shared_collation(
                    bc,
                    c,
                    k,
                    k > Coercibility::Implicit || operation == "UNION",
                ) {
                    Some(c) => (c, k),
                    None => {
                        at_odds = true;
                        (bc, bk)
                    }
                },
            },
        });
    }
    match best {
        // As codes they can still be put together.
        Some((c, Coercibility::Implicit | Coercibility::NoOne)) if at_odds && same_set(&types) => {
            Ok((c.charset().bin_collation(), Coercibility::NoOne))
        }
        Some(_) if at_odds => Err(illegal_mix_of(types, operation)),
        best => Ok(best.unwrap_or(nothing)),
    }
}

/// All texts among them are of one character set.
fn same_set(types: &[&ExprType]) -> bool {
    let mut sets = types
        .iter()
        .filter(|t| t.ty.is_string() && !t.null)
        .map(|t| t.ty.collation.charset());
    let first = sets.next();
    sets.all(|s| Some(s) == first)
}

/// Error 1267 and its kin: texts of these types can't be put together.
pub(crate) fn illegal_mix_of<'a>(
    types: impl IntoIterator<Item = &'a ExprType>,
    operation: &str,
) -> SqlError {
    let of = |t: &ExprType| match t.ty.is_string() {
        true => (t.ty.collation, t.coercibility),
        // Whatever the session's set is.
        false => (Collation::Latin1SwedishCi, Coercibility::Numeric),
    };
    let all: Vec<_> = types.into_iter().map(of).collect();
    illegal_mix(&all, operation)
}

/// Texts of these collations can't be put together.
fn illegal_mix(all: &[(Collation, Coercibility)], operation: &str) -> SqlError {
    let one = |(c, k): &(Collation, Coercibility)| format!("({},{})", c.name(), k.name());
    let (code, which) = match all {
        [a, b] => (
            codes::CANT_AGGREGATE_2COLLATIONS,
            format!(" {} and {}", one(a), one(b)),
        ),
        [a, b, c] => (
            codes::CANT_AGGREGATE_3COLLATIONS,
            format!(" {}, {}, {}", one(a), one(b), one(c)),
        ),
        _ => (codes::CANT_AGGREGATE_NCOLLATIONS, String::new()),
    };
    SqlError::new(
        code,
        b"HY000",
        format!("Illegal mix of collations{which} for operation '{operation}'"),
    )
}

/// Collation for comparing expressions.
pub fn compare_collation<'a>(
    exprs: impl IntoIterator<Item = &'a Expr>,
    op: &str,
) -> SqlResult<Collation> {
    let all: Vec<&ExprType> = exprs.into_iter().map(|e| &e.ty).collect();
    // Patterns and places are searched in the text.
    if !matches!(op, "like" | "regexp" | "locate") {
        super::fixed::shared(all.iter().copied(), op)?;
    }
    // Numbers don't take part: a comparison with one is numeric.
    let strings: Vec<&ExprType> = all.into_iter().filter(|t| t.is_string()).collect();
    match collation_of(strings.iter().copied(), op)? {
        (_, Coercibility::NoOne) => Err(illegal_mix_of(strings, op)),
        (c, _) => Ok(c),
    }
}

/// The type that several alternatives share (CASE, IF, COALESCE, UNION).
pub fn unify<'a>(types: impl IntoIterator<Item = &'a ExprType>, op: &str) -> SqlResult<ExprType> {
    let all: Vec<&ExprType> = types.into_iter().collect();
    let nullable = all.iter().any(|t| t.nullable);
    let some: Vec<&ExprType> = all.iter().filter(|t| !t.null).copied().collect();
    let Some(first) = some.first() else {
        return Ok(ExprType::null());
    };
    // Doubles are shown with as many digits as the one that has most.
    let decimals = some.iter().map(|t| t.decimals).max().unwrap_or(NOT_FIXED);
    // A NULL counts as a signed number, but for where another value is chosen by it.
    let signed_null = some.len() < all.len()
        && first.ty.is_numeric()
        && matches!(op, "coalesce" | "ifnull" | "case" | "UNION");
    let sign_of_null = signed_null && some.iter().any(|t| t.ty.unsigned);
    if let [one] = some[..]
        && op == "UNION"
        && one.ty.is_string()
    {
        return Ok(one.with_nullable(nullable));
    }
    if some.iter().any(|t| t.is_fixed_double()) && some.iter().all(|t| t.ty.is_numeric()) {
        return Ok(unify_fixed(&some, decimals, op).with_nullable(nullable));
    }
    let alike = some.iter().all(|t| t.ty == first.ty) && !first.ty.is_string();
    if alike && !(sign_of_null && first.ty.is_integer()) {
        let ty = ExprType {
            nullable,
            decimals,
            coercibility: match first.ty.kind {
                TypeKind::Bit(_) => Coercibility::Ignorable,
                _ => first.coercibility,
            },
            ..first.without_zeros()
        };
        let digits = some.iter().map(|t| t.int_digits()).max().unwrap_or(1);
        if sign_of_null {
            let column = ColumnType {
                unsigned: false,
                ..ty.ty
            };
            return Ok(ExprType { ty: column, ..ty });
        }
        return Ok(match ty.ty.is_integer() {
            true => ExprType {
                boolean: some.iter().all(|t| t.boolean),
                ..ty.with_digits(digits)
            },
            false => ty,
        });
    }
    if let Some(kind) = super::fixed::shared(some.iter().copied(), op)? {
        // A text may be none.
        return Ok(ExprType::fixed(kind, true));
    }
    if !matches!(op, "least" | "greatest")
        && some.iter().any(|t| t.ty.kind == TypeKind::Float)
        && some.iter().all(|t| is_float_or_shorter(t))
    {
        return Ok(ExprType::of_column(
            ColumnType::new(TypeKind::Float),
            nullable,
        ));
    }
    let numeric = |t: &&ExprType| t.ty.is_numeric();
    if some.iter().all(numeric) {
        return Ok(unify_numbers(&some, decimals, sign_of_null, nullable));
    }
    if some.iter().all(|t| t.ty.is_temporal()) {
        let fsp = some.iter().map(|t| t.scale()).max().unwrap_or(0) as u8;
        let kind = if some.iter().all(|t| matches!(t.ty.kind, TypeKind::Time(_))) {
            TypeKind::Time(fsp)
        } else {
            TypeKind::DateTime(fsp)
        };
        return Ok(ExprType::of_column(ColumnType::new(kind), nullable));
    }
    unify_texts(&some, nullable, op)
}

/// The text that holds all of several values.
fn unify_texts(some: &[&ExprType], nullable: bool, op: &str) -> SqlResult<ExprType> {
    let (c, k) = collation_of(some.iter().copied(), op)?;
    if k == Coercibility::NoOne && op == "UNION" {
        return Err(illegal_mix(&[], op));
    }
    let chars = some.iter().map(|t| t.chars()).max().unwrap_or(0);
    let ty = ExprType {
        // LEAST and GREATEST compare JSON as text, and give text.
        json: !matches!(op, "least" | "greatest") && some.iter().all(|t| t.json),
        ..match some.iter().any(|t| t.is_large_text()) {
            true => ExprType::large_text(chars, c, k, nullable),
            false => ExprType::string(chars, c, k, nullable),
        }
    };
    let texts = some.iter().filter(|t| t.ty.is_string());
    let (mut some_char, mut some_binary, mut others) = (false, false, false);
    for t in texts {
        match t.ty.kind {
            TypeKind::Char(_) => some_char = true,
            // Shorter ones would have to be filled.
            TypeKind::Binary(n) if u64::from(n) == chars => some_binary = true,
            _ => others = true,
        }
    }
    Ok(match ty.ty.kind {
        TypeKind::VarBinary(n @ 1..=255)
            if op == "UNION" && some_binary && !some_char && !others =>
        {
            ExprType {
                ty: ColumnType::new(TypeKind::Binary(n)),
                ..ty
            }
        }
        TypeKind::VarChar(n @ 1..=255) if op == "UNION" && some_char && !some_binary && !others => {
            ExprType {
                ty: ColumnType::text(TypeKind::Char(n), c),
                ..ty
            }
        }
        _ => ty,
    })
}

/// The type of several numbers one of which is a FLOAT or DOUBLE with so many digits behind the point.
fn unify_fixed(some: &[&ExprType], decimals: u8, op: &str) -> ExprType {
    let before = |t: &&ExprType| (t.chars() as u32).saturating_sub(u32::from(t.decimals));
    let ty = ExprType::double_with(decimals, true);
    let ty = match op {
        "least" | "greatest" => ty,
        _ if !ty.is_fixed_double() => ty,
        _ => {
            let before = some.iter().map(before).max().unwrap_or(1);
            ty.with_width((before + u32::from(decimals)).min(MOST_FIXED_DIGITS))
        }
    };
    match some.iter().all(|t| t.ty.kind == TypeKind::Float) {
        true => ExprType {
            ty: ColumnType {
                kind: TypeKind::Float,
                ..ty.ty
            },
            ..ty
        },
        false => ty,
    }
}

/// The type that holds all of several numbers, with `decimals` for doubles.
fn unify_numbers(some: &[&ExprType], decimals: u8, sign_of_null: bool, nullable: bool) -> ExprType {
    let is_real = |k| matches!(k, TypeKind::Float | TypeKind::Double);
    if some.iter().any(|t| is_real(t.ty.kind)) {
        return ExprType::double_with(decimals, nullable);
    }
    let int_digits = some.iter().map(|t| t.int_digits()).max().unwrap_or(1);
    let scale = some.iter().map(|t| t.scale()).max().unwrap_or(0);
    if some
        .iter()
        .any(|t| matches!(t.ty.kind, TypeKind::Decimal(..)))
    {
        let mut ty = ExprType::decimal(int_digits, scale, nullable);
        ty.ty.unsigned = some.iter().all(|t| t.counts_unsigned());
        return ty;
    }
    // No integer type holds all signed and all unsigned numbers.
    let unsigned = some.iter().filter(|t| t.counts_unsigned()).count();
    if unsigned > 0 && (unsigned < some.len() || sign_of_null) {
        return ExprType::decimal(int_digits, 0, nullable);
    }
    let widest = some.iter().max_by_key(|t| (bytes_of(t), t.int_digits()));
    let widest = widest.map_or(ExprType::null(), |t| **t);
    let ty = widest.with_nullable(nullable).without_zeros();
    ExprType {
        boolean: false,
        ..ty.with_digits(int_digits)
    }
}

/// A FLOAT, or one of the types of one or two bytes, which it holds without a loss.
fn is_float_or_shorter(t: &ExprType) -> bool {
    matches!(
        t.ty.kind,
        TypeKind::Float | TypeKind::TinyInt | TypeKind::SmallInt | TypeKind::Year
    )
}

/// Bytes of an integer type; none of what counts as an integer.
fn bytes_of(t: &ExprType) -> u32 {
    match t.ty.kind {
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt => 2,
        TypeKind::MediumInt => 3,
        TypeKind::Int => 4,
        TypeKind::BigInt => 8,
        _ => 0,
    }
}

impl ExprType {
    /// An integer type for what counts as one (dates in ROUND and such).
    pub(super) fn as_int(self) -> Self {
        if self.ty.is_integer() {
            self.without_zeros()
        } else {
            ExprType::bigint(false, self.nullable)
        }
    }
}

pub(crate) fn bool_ty(nullable: bool) -> ExprType {
    ExprType {
        width: 1,
        digits: 1,
        boolean: true,
        ..ExprType::int(nullable)
    }
}

/// The type of a number that stands in a text: of an exact one, zeros in front count as digits.
pub(crate) fn as_written(ty: ExprType, text: &str) -> ExprType {
    let digits = text.trim_start_matches('-');
    match digits.split_once('.') {
        _ if matches!(ty.ty.kind, TypeKind::Double) => ty,
        // More digits than an exact number has were cut when it was read.
        Some((int, fraction)) if int.len() + fraction.len() > usize::from(MAX_PRECISION) => ty,
        Some((int, fraction)) => {
            let (int, scale) = (int.len() as u32, fraction.len() as u32);
            ExprType::decimal(int, scale, false)
        }
        None if ty.ty.is_integer() && text.len() as u32 > ty.width => ExprType {
            width: text.len() as u32,
            digits: digits.len().min(usize::from(MAX_PRECISION)) as u8,
            ..match ty.ty.unsigned || digits.len() < 10 {
                true => ty,
                false => ExprType::bigint(false, false),
            }
        },
        None => ty,
    }
}
