//! Order-preserving index keys: byte strings that compare as the indexed values do.
//!
//! A key is the concatenation of its parts; each part is prefix-free. A nullable part starts with 0x00 for NULL or 0x01; NULL
//! sorts first. Integers are big-endian at the column's width with the sign bit flipped. Strings are sort keys of their
//! collation. A descending part has all its bits inverted.

use crate::collation::char_prefix;
use crate::{Bits, ColumnType, Decimal, RowLayout, SqlError, SqlResult, TypeKind, Value, ValueRef};

/// One part of an index key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPart {
    /// Position of the column in the table.
    pub column: usize,
    /// Prefix length in characters (bytes for binary types).
    pub prefix: Option<u16>,
    /// The column may be NULL: one more byte in the key.
    pub nullable: bool,
    /// Descending order.
    pub desc: bool,
}

impl KeyPart {
    /// An ascending part over a whole column.
    pub fn column(column: usize, nullable: bool) -> Self {
        KeyPart {
            column,
            prefix: None,
            nullable,
            desc: false,
        }
    }
}

#[cold]
fn mismatch(ty: &ColumnType) -> SqlError {
    SqlError::unknown(format!(
        "Key value is not in the domain of {}",
        ty.sql_name()
    ))
}

/// Appends one part of a key. `v` is in the domain of the column's type; numbers beyond the column's range are limited to it
/// (see [`fit_bound`] for what to do before). NULL for a part that is not nullable, or a value of another domain, is an error.
pub fn encode_value(
    v: ValueRef<'_>,
    ty: &ColumnType,
    part: &KeyPart,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    let start = out.len();
    if part.nullable {
        out.push(!v.is_null() as u8);
    }
    if !v.is_null() {
        encode_not_null(v, ty, part.prefix, out)?;
    } else if !part.nullable {
        return Err(mismatch(ty));
    }
    if part.desc {
        for b in &mut out[start..] {
            *b = !*b;
        }
    }
    Ok(())
}

fn push_int(v: ValueRef<'_>, ty: &ColumnType, bytes: usize, out: &mut Vec<u8>) -> SqlResult<()> {
    let flip = 1u64 << (8 * bytes - 1);
    let raw = if ty.unsigned {
        let v = match v {
            ValueRef::UInt(v) => v,
            ValueRef::Int(v) => v.max(0) as u64,
            _ => return Err(mismatch(ty)),
        };
        v.min(u64::MAX >> (64 - 8 * bytes))
    } else {
        let v = match v {
            ValueRef::Int(v) => v,
            ValueRef::UInt(v) => v.min(i64::MAX as u64) as i64,
            _ => return Err(mismatch(ty)),
        };
        let max = (i64::MAX as u64 >> (64 - 8 * bytes)) as i64;
        v.clamp(-max - 1, max) as u64 ^ flip
    };
    out.extend_from_slice(&raw.to_be_bytes()[8 - bytes..]);
    Ok(())
}

/// ENUM and SET sort by their number.
fn push_member(v: ValueRef<'_>, ty: &ColumnType, bytes: u8, out: &mut Vec<u8>) -> SqlResult<()> {
    let ValueRef::Member(m) = v else {
        return Err(mismatch(ty));
    };
    out.extend_from_slice(&m.number.to_be_bytes()[8 - bytes as usize..]);
    Ok(())
}

fn push_float(v: ValueRef<'_>, ty: &ColumnType, out: &mut Vec<u8>) -> SqlResult<()> {
    let f = match v {
        ValueRef::Float(f) => f,
        ValueRef::Double(f) => f as f32,
        _ => return Err(mismatch(ty)),
    };
    // -0 equals 0.
    let b = (f + 0.0).to_bits();
    let b = if b >> 31 == 1 { !b } else { b | 1 << 31 };
    out.extend_from_slice(&b.to_be_bytes());
    Ok(())
}

fn push_double(v: ValueRef<'_>, ty: &ColumnType, out: &mut Vec<u8>) -> SqlResult<()> {
    let f = match v {
        ValueRef::Double(f) => f,
        ValueRef::Float(f) => f as f64,
        _ => return Err(mismatch(ty)),
    };
    let b = (f + 0.0).to_bits();
    let b = if b >> 63 == 1 { !b } else { b | 1 << 63 };
    out.extend_from_slice(&b.to_be_bytes());
    Ok(())
}

fn encode_not_null(
    v: ValueRef<'_>,
    ty: &ColumnType,
    prefix: Option<u16>,
    out: &mut Vec<u8>,
) -> SqlResult<()> {
    match ty.kind {
        TypeKind::TinyInt => push_int(v, ty, 1, out)?,
        TypeKind::SmallInt => push_int(v, ty, 2, out)?,
        TypeKind::MediumInt => push_int(v, ty, 3, out)?,
        TypeKind::Int => push_int(v, ty, 4, out)?,
        TypeKind::BigInt => push_int(v, ty, 8, out)?,
        TypeKind::Float => push_float(v, ty, out)?,
        TypeKind::Double => push_double(v, ty, out)?,
        TypeKind::Decimal(p, s) => {
            let d = match v {
                ValueRef::Decimal(d) => d,
                ValueRef::Int(v) => v.into(),
                ValueRef::UInt(v) => v.into(),
                _ => return Err(mismatch(ty)),
            };
            d.encode_binary(p, s, out);
        }
        TypeKind::Char(_) | TypeKind::VarChar(_) | TypeKind::Text(_) => {
            let text;
            let s = match v {
                ValueRef::Str(s) | ValueRef::Bytes(s) => s,
                ValueRef::Coded(set, s) => {
                    text = set.decode(s);
                    text.as_bytes()
                }
                _ => return Err(mismatch(ty)),
            };
            let s = prefix.map_or(s, |n| char_prefix(s, n as usize));
            ty.collation.sort_key(s, out);
        }
        TypeKind::Binary(_) | TypeKind::VarBinary(_) | TypeKind::Blob(_) => {
            let (ValueRef::Str(s) | ValueRef::Bytes(s)) = v else {
                return Err(mismatch(ty));
            };
            let s = prefix.map_or(s, |n| &s[..s.len().min(n as usize)]);
            crate::Collation::Binary.sort_key(s, out);
        }
        TypeKind::Date => {
            let ValueRef::Date(d) = v else {
                return Err(mismatch(ty));
            };
            out.extend_from_slice(&d.pack().to_be_bytes()[1..]);
        }
        TypeKind::Time(f) => {
            let ValueRef::Time(t) = v else {
                return Err(mismatch(ty));
            };
            t.pack(f, out);
        }
        TypeKind::DateTime(f) => {
            let ValueRef::DateTime(t) = v else {
                return Err(mismatch(ty));
            };
            t.pack(f, out);
        }
        TypeKind::Timestamp(f) => {
            let ValueRef::DateTime(t) = v else {
                return Err(mismatch(ty));
            };
            t.pack_timestamp(f, out);
        }
        TypeKind::Year => {
            let y = match v {
                ValueRef::Int(y) => y.clamp(0, 0xffff) as u16,
                ValueRef::UInt(y) => y.min(0xffff) as u16,
                _ => return Err(mismatch(ty)),
            };
            out.extend_from_slice(&y.to_be_bytes());
        }
        TypeKind::Enum(m) => push_member(v, ty, m.enum_bytes(), out)?,
        TypeKind::Set(m) => push_member(v, ty, m.set_bytes(), out)?,
        TypeKind::Bit(n) => {
            let ValueRef::Bits(b) = v else {
                return Err(mismatch(ty));
            };
            Bits { width: n, ..b }.write(out);
        }
        TypeKind::Fixed(k) => match v {
            ValueRef::Fixed(f) if f.kind == k => {
                out.extend_from_slice(&f.sort_bytes()[..k.bytes()]);
            }
            _ => return Err(mismatch(ty)),
        },
    }
    Ok(())
}

/// Appends the key of a row image. True if some part is NULL (such a key never conflicts in a unique index).
pub fn encode_from_row(
    layout: &RowLayout,
    row: &[u8],
    parts: &[KeyPart],
    out: &mut Vec<u8>,
) -> SqlResult<bool> {
    let mut any_null = false;
    for p in parts {
        let v = layout.column(row, p.column)?;
        any_null |= v.is_null();
        encode_value(v, &layout.columns()[p.column], p, out)?;
    }
    Ok(any_null)
}

/// The smallest key above all keys that start with `prefix`; `None` if there is none (the range is unbounded).
pub fn successor(prefix: &[u8]) -> Option<Vec<u8>> {
    let n = prefix.iter().rposition(|b| *b != 0xff)? + 1;
    let mut v = prefix[..n].to_vec();
    v[n - 1] += 1;
    Some(v)
}

/// Where a constant lies among the values that a numeric column can hold.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// The column can hold it: this is the value in the column's domain.
    Exact(Value),
    /// Below all values of the column.
    Below,
    /// Above all values of the column.
    Above,
    /// Between two neighbouring values of the column (e.g. 1.5 among integers).
    Between(Value, Value),
}

/// Places a constant among the values of a numeric column, for range planning. `None` if the constant is not an exact number or a
/// double, or the column is not numeric or is inexact (compare row by row then).
pub fn fit_bound(v: ValueRef<'_>, ty: &ColumnType) -> Option<Fit> {
    let d = match v {
        ValueRef::Int(v) => {
            if let Some((lo, hi)) = ty.int_range() {
                // The common case, without decimals.
                return Some(fit_int(v as i128, lo, hi, ty.unsigned));
            }
            Decimal::from(v)
        }
        ValueRef::UInt(v) => {
            if let Some((lo, hi)) = ty.int_range() {
                return Some(fit_int(v as i128, lo, hi, ty.unsigned));
            }
            Decimal::from(v)
        }
        ValueRef::Decimal(d) => d,
        ValueRef::Double(f) if f.is_finite() => {
            if ty.kind == TypeKind::Double {
                return Some(Fit::Exact(Value::Double(f)));
            }
            // Integers up to 2^53 are exact in a double; beyond that a comparison is one of doubles.
            if f.abs() > 9_007_199_254_740_992.0 || !ty.is_integer() {
                return None;
            }
            if f.fract() != 0.0 {
                let lo = f.floor() as i128;
                let (min, max) = ty.int_range()?;
                return Some(if lo < min {
                    Fit::Below
                } else if lo >= max {
                    Fit::Above
                } else {
                    Fit::Between(int_value(lo, ty.unsigned), int_value(lo + 1, ty.unsigned))
                });
            }
            let (lo, hi) = ty.int_range()?;
            return Some(fit_int(f as i128, lo, hi, ty.unsigned));
        }
        _ => return None,
    };
    match ty.kind {
        TypeKind::Decimal(p, s) => {
            let max = Decimal::max_value(p, s, false);
            let min = if ty.unsigned {
                Decimal::ZERO.round(s)
            } else {
                max.neg()
            };
            if d < min {
                return Some(Fit::Below);
            }
            if d > max {
                return Some(Fit::Above);
            }
            let cut = d.truncate(s);
            if cut == d {
                return Some(Fit::Exact(Value::Decimal(cut)));
            }
            let unit = Decimal::from_i128(if d.is_negative() { -1 } else { 1 }, s);
            let next = cut.checked_add(&unit)?;
            Some(if d.is_negative() {
                Fit::Between(Value::Decimal(next), Value::Decimal(cut))
            } else {
                Fit::Between(Value::Decimal(cut), Value::Decimal(next))
            })
        }
        TypeKind::Double => Some(Fit::Exact(Value::Double(d.to_f64()))),
        _ => {
            let (lo, hi) = ty.int_range()?;
            let floor = match d.floor().to_i128() {
                Some(f) => f,
                None if d.is_negative() => return Some(Fit::Below),
                None => return Some(Fit::Above),
            };
            if d.is_integer() {
                return Some(fit_int(floor, lo, hi, ty.unsigned));
            }
            Some(if floor < lo {
                Fit::Below
            } else if floor >= hi {
                Fit::Above
            } else {
                Fit::Between(
                    int_value(floor, ty.unsigned),
                    int_value(floor + 1, ty.unsigned),
                )
            })
        }
    }
}

fn int_value(v: i128, unsigned: bool) -> Value {
    if unsigned {
        Value::UInt(v as u64)
    } else {
        Value::Int(v as i64)
    }
}

fn fit_int(v: i128, lo: i128, hi: i128, unsigned: bool) -> Fit {
    if v < lo {
        Fit::Below
    } else if v > hi {
        Fit::Above
    } else {
        Fit::Exact(int_value(v, unsigned))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successor_of_prefixes() {
        assert_eq!(successor(&[1, 2]), Some(vec![1, 3]));
        assert_eq!(successor(&[1, 0xff]), Some(vec![2]));
        assert_eq!(successor(&[0xff, 0xff]), None);
        assert_eq!(successor(&[]), None);
    }

    #[test]
    fn bounds() {
        let int = ColumnType::int();
        let f = |s: &str, ty| fit_bound(ValueRef::Decimal(Decimal::parse(s).unwrap()), ty);
        assert_eq!(
            f("1.5", &int),
            Some(Fit::Between(Value::Int(1), Value::Int(2)))
        );
        assert_eq!(
            f("-1.5", &int),
            Some(Fit::Between(Value::Int(-2), Value::Int(-1)))
        );
        assert_eq!(f("3.0", &int), Some(Fit::Exact(Value::Int(3))));
        assert_eq!(f("2147483647.5", &int), Some(Fit::Above));
        assert_eq!(f("-2147483648.5", &int), Some(Fit::Below));
        let u = ColumnType::unsigned(TypeKind::TinyInt);
        assert_eq!(fit_bound(ValueRef::Int(-1), &u), Some(Fit::Below));
        assert_eq!(fit_bound(ValueRef::Int(256), &u), Some(Fit::Above));
        assert_eq!(
            fit_bound(ValueRef::Int(255), &u),
            Some(Fit::Exact(Value::UInt(255)))
        );
        let dec = ColumnType::decimal(4, 1);
        let d = |s: &str| Value::Decimal(Decimal::parse(s).unwrap());
        assert_eq!(f("1.55", &dec), Some(Fit::Between(d("1.5"), d("1.6"))));
        assert_eq!(f("-1.55", &dec), Some(Fit::Between(d("-1.6"), d("-1.5"))));
        assert_eq!(f("1000", &dec), Some(Fit::Above));
        assert_eq!(
            f("-0.5", &ColumnType::unsigned(TypeKind::Decimal(4, 0))),
            Some(Fit::Below)
        );
    }

    #[test]
    fn wider_numbers_are_limited() {
        let ty = ColumnType::int();
        let p = KeyPart::column(0, false);
        let key = |v| {
            let mut out = Vec::new();
            encode_value(v, &ty, &p, &mut out).unwrap();
            out
        };
        assert_eq!(key(ValueRef::Int(i64::MAX)), vec![0xff; 4]);
        assert_eq!(key(ValueRef::Int(i64::MIN)), vec![0; 4]);
        assert_eq!(key(ValueRef::Int(0)), vec![0x80, 0, 0, 0]);
    }

    mod order {
        use super::super::*;
        use crate::{BlobSize, Collation, Date, DateTime, Member, Members, Time};
        use proptest::prelude::*;
        use std::cmp::Ordering;

        fn members(n: usize) -> Members {
            Members::new((0..n).map(|i| format!("m{i}")).collect())
        }

        /// A column type with two of its values.
        fn pair() -> impl Strategy<Value = (ColumnType, Value, Value)> {
            let two = |ty: ColumnType, s: BoxedStrategy<Value>| (Just(ty), s.clone(), s).boxed();
            let text = || "[ a-cA-Cé\\t\\x00]{0,5}".prop_map(Value::str).boxed();
            let bytes = || {
                proptest::collection::vec(prop_oneof![Just(0u8), Just(255), any::<u8>()], 0..5)
                    .prop_map(Value::bytes)
                    .boxed()
            };
            let date = || (0u16..10_000, 0u8..13, 0u8..32).prop_map(|(y, m, d)| Date::new(y, m, d));
            let ints = |ty: ColumnType| {
                let (lo, hi) = ty.int_range().unwrap();
                let s = prop_oneof![lo..=hi, -3i128..3, Just(lo), Just(hi)]
                    .prop_map(move |v| int_value(v.clamp(lo, hi), ty.unsigned))
                    .boxed();
                two(ty, s)
            };
            prop_oneof![
                ints(ColumnType::new(TypeKind::TinyInt)),
                ints(ColumnType::unsigned(TypeKind::SmallInt)),
                ints(ColumnType::new(TypeKind::MediumInt)),
                ints(ColumnType::int()),
                ints(ColumnType::bigint()),
                ints(ColumnType::unsigned(TypeKind::BigInt)),
                two(
                    ColumnType::double(),
                    prop_oneof![
                        any::<f64>().prop_filter("number", |f| !f.is_nan()),
                        Just(0.0),
                        Just(-0.0)
                    ]
                    .prop_map(Value::Double)
                    .boxed()
                ),
                two(
                    ColumnType::new(TypeKind::Float),
                    any::<f32>()
                        .prop_filter("number", |f| !f.is_nan())
                        .prop_map(Value::Float)
                        .boxed()
                ),
                two(
                    ColumnType::decimal(20, 7),
                    (-10i128.pow(19)..10i128.pow(19))
                        .prop_map(|m| Value::Decimal(Decimal::from_i128(m, 7)))
                        .boxed()
                ),
                two(ColumnType::char(30), text()),
                two(
                    ColumnType::text(TypeKind::VarChar(30), Collation::Utf8mb4Bin),
                    text()
                ),
                two(
                    ColumnType::text(TypeKind::Text(BlobSize::Normal), Collation::default()),
                    text()
                ),
                two(ColumnType::new(TypeKind::VarBinary(30)), bytes()),
                two(ColumnType::new(TypeKind::Blob(BlobSize::Long)), bytes()),
                two(
                    ColumnType::new(TypeKind::Date),
                    date().prop_map(Value::Date).boxed()
                ),
                two(
                    ColumnType::new(TypeKind::Time(6)),
                    (-crate::temporal::TIME_MAX..=crate::temporal::TIME_MAX)
                        .prop_map(|micros| Value::Time(Time { micros, fsp: 6 }))
                        .boxed()
                ),
                two(
                    ColumnType::datetime(6),
                    (date(), 0u64..86_400_000_000)
                        .prop_map(|(d, us)| Value::DateTime(DateTime::new(d, us, 6)))
                        .boxed()
                ),
                two(
                    ColumnType::new(TypeKind::Timestamp(6)),
                    (1_000_000i64..4_000_000_000_000_000)
                        .prop_map(|us| Value::DateTime(DateTime::from_unix_micros(us, 6).unwrap()))
                        .boxed()
                ),
                two(
                    ColumnType::text(TypeKind::Enum(members(300)), Collation::default()),
                    (0u64..=300)
                        .prop_map(|n| Value::Member(Member::of_enum(members(300), n).unwrap()))
                        .boxed()
                ),
                two(
                    ColumnType::text(TypeKind::Set(members(19)), Collation::default()),
                    (0u64..1 << 19)
                        .prop_map(|n| Value::Member(Member::of_set(members(19), n).unwrap()))
                        .boxed()
                ),
                two(
                    ColumnType::new(TypeKind::Bit(33)),
                    (0u64..1 << 33)
                        .prop_map(|value| Value::Bits(Bits { value, width: 33 }))
                        .boxed()
                ),
                two(
                    ColumnType::new(TypeKind::Year),
                    (1901i64..2156).prop_map(Value::Int).boxed()
                ),
            ]
        }

        fn compare(ty: &ColumnType, a: &Value, b: &Value) -> Ordering {
            match (a, b) {
                (Value::Int(a), Value::Int(b)) => a.cmp(b),
                (Value::UInt(a), Value::UInt(b)) => a.cmp(b),
                (Value::Double(a), Value::Double(b)) => a.partial_cmp(b).unwrap(),
                (Value::Float(a), Value::Float(b)) => a.partial_cmp(b).unwrap(),
                (Value::Decimal(a), Value::Decimal(b)) => a.cmp(b),
                (Value::Str(a), Value::Str(b)) => ty.collation.compare(a.as_bytes(), b.as_bytes()),
                (Value::Bytes(a), Value::Bytes(b)) => a.cmp(b),
                (Value::Date(a), Value::Date(b)) => a.cmp(b),
                (Value::Time(a), Value::Time(b)) => a.cmp(b),
                (Value::DateTime(a), Value::DateTime(b)) => a.cmp(b),
                (Value::Member(a), Value::Member(b)) => a.number.cmp(&b.number),
                (Value::Bits(a), Value::Bits(b)) => a.value.cmp(&b.value),
                _ => panic!("{a:?} {b:?}"),
            }
        }

        proptest! {
            #![proptest_config(ProptestConfig::with_cases(2000))]

            #[test]
            fn keys_sort_as_values((ty, a, b) in pair(), nullable: bool, desc: bool) {
                let part = KeyPart { column: 0, prefix: None, nullable, desc };
                let key = |v: &Value| {
                    let mut out = Vec::new();
                    encode_value(v.as_ref(), &ty, &part, &mut out).unwrap();
                    out
                };
                let (x, y) = (key(&a), key(&b));
                let want = compare(&ty, &a, &b);
                prop_assert_eq!(x.cmp(&y), if desc { want.reverse() } else { want });
                prop_assert!(x == y || !y.starts_with(&x), "prefix-free");
                if nullable {
                    let null = key(&Value::Null);
                    prop_assert_eq!(null.cmp(&x), if desc { Ordering::Greater } else { Ordering::Less });
                }
                // The same key comes from the stored row, whose values are the same.
                let layout = RowLayout::new(&[ColumnType::int(), ty]);
                let mut row = Vec::new();
                layout.encode(&[ValueRef::Int(1), a.as_ref()], &mut row).unwrap();
                let part = KeyPart { column: 1, ..part };
                let mut from_row = Vec::new();
                prop_assert!(!encode_from_row(&layout, &row, std::slice::from_ref(&part), &mut from_row).unwrap());
                prop_assert_eq!(from_row, x);
                let got = layout.column(&row, 1).unwrap().to_value();
                prop_assert_eq!(compare(&ty, &got, &a), Ordering::Equal);
            }
        }
    }
}
