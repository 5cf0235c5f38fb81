//! Back from index keys to the bytes of row images, for the types whose keys keep the whole value.

use crate::{ColumnType, Decimal, TypeKind, temporal};

/// Bytes of a value in an index key, without the byte for NULL; `None` if they depend on the value.
pub fn key_width(ty: &ColumnType) -> Option<usize> {
    Some(match ty.kind {
        TypeKind::TinyInt => 1,
        TypeKind::SmallInt | TypeKind::Year => 2,
        TypeKind::MediumInt | TypeKind::Date => 3,
        TypeKind::Int | TypeKind::Float => 4,
        TypeKind::BigInt | TypeKind::Double => 8,
        TypeKind::Decimal(p, s) => Decimal::binary_len(p, s),
        TypeKind::Time(f) => 3 + temporal::fraction_bytes(f),
        TypeKind::DateTime(f) => 5 + temporal::fraction_bytes(f),
        TypeKind::Timestamp(f) => 4 + temporal::fraction_bytes(f),
        TypeKind::Enum(m) => m.enum_bytes() as usize,
        TypeKind::Set(m) => m.set_bytes() as usize,
        TypeKind::Bit(n) => crate::Bits::bytes_of(n),
        _ => return None,
    })
}

/// True if the value can be told from its key: text is there as its weights only, and -0 as 0.
pub fn is_whole(ty: &ColumnType) -> bool {
    key_width(ty).is_some() && !matches!(ty.kind, TypeKind::Float | TypeKind::Double)
}

/// Appends the bytes that a row image has for the value of a key (ascending, without the byte for NULL). Only for types that
/// [`is_whole`] holds true for; false if the bytes are no such key.
pub fn push_row_bytes(key: &[u8], ty: &ColumnType, out: &mut Vec<u8>) -> bool {
    if key_width(ty) != Some(key.len()) {
        return false;
    }
    match ty.kind {
        TypeKind::TinyInt
        | TypeKind::SmallInt
        | TypeKind::MediumInt
        | TypeKind::Int
        | TypeKind::BigInt => {
            out.extend(key.iter().rev());
            if !ty.unsigned
                && let Some(top) = out.last_mut()
            {
                *top ^= 0x80;
            }
        }
        TypeKind::Date | TypeKind::Enum(_) | TypeKind::Set(_) => out.extend(key.iter().rev()),
        TypeKind::Year => {
            let year = u16::from_be_bytes([key[0], key[1]]);
            out.push(year.checked_sub(1900).map_or(0, |y| y as u8));
        }
        TypeKind::Decimal(..)
        | TypeKind::Time(_)
        | TypeKind::DateTime(_)
        | TypeKind::Timestamp(_)
        | TypeKind::Bit(_) => out.extend_from_slice(key),
        _ => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::key::{KeyPart, encode_value};
    use crate::{Bits, Date, DateTime, Member, Members, RowLayout, Time, ValueRef};

    #[test]
    fn keys_give_back_the_bytes_of_rows() {
        let dec = |s: &str| ValueRef::Decimal(Decimal::parse(s).unwrap());
        let of = Members::new(vec!["a".into(), "b".into(), "c".into()]);
        let day = Date::new(2024, 2, 29);
        let cases: Vec<(ColumnType, Vec<ValueRef<'_>>)> = vec![
            (
                ColumnType::new(TypeKind::TinyInt),
                vec![ValueRef::Int(-128), ValueRef::Int(127)],
            ),
            (
                ColumnType::new(TypeKind::MediumInt),
                vec![ValueRef::Int(-1), ValueRef::Int(70_000)],
            ),
            (
                ColumnType::int(),
                vec![ValueRef::Int(i64::from(i32::MIN)), ValueRef::Int(7)],
            ),
            (
                ColumnType::unsigned(TypeKind::BigInt),
                vec![ValueRef::UInt(u64::MAX), ValueRef::UInt(0)],
            ),
            (
                ColumnType::decimal(20, 4),
                vec![dec("-1234567890.1234"), dec("0"), dec("0.0001")],
            ),
            (
                ColumnType::new(TypeKind::Year),
                vec![ValueRef::Int(0), ValueRef::Int(1901), ValueRef::Int(2155)],
            ),
            (ColumnType::new(TypeKind::Date), vec![ValueRef::Date(day)]),
            (
                ColumnType::new(TypeKind::Time(3)),
                vec![ValueRef::Time(Time {
                    micros: -3_723_004_000,
                    fsp: 3,
                })],
            ),
            (
                ColumnType::new(TypeKind::DateTime(0)),
                vec![ValueRef::DateTime(day.at_midnight())],
            ),
            (
                ColumnType::new(TypeKind::Timestamp(6)),
                vec![ValueRef::DateTime(
                    DateTime::from_unix_micros(1_700_000_000_123_456, 6).unwrap(),
                )],
            ),
            (
                ColumnType::new(TypeKind::Enum(of)),
                vec![ValueRef::Member(Member::of_enum(of, 2).unwrap())],
            ),
            (
                ColumnType::new(TypeKind::Bit(11)),
                vec![ValueRef::Bits(Bits {
                    value: 1025,
                    width: 11,
                })],
            ),
        ];
        for (ty, values) in cases {
            let layout = RowLayout::new(&[ty]);
            for v in values {
                let (mut key, mut row, mut back) = (Vec::new(), Vec::new(), vec![0xfe]);
                encode_value(v, &ty, &KeyPart::column(0, false), &mut key).unwrap();
                layout.encode(&[v], &mut row).unwrap();
                assert!(
                    is_whole(&ty) && push_row_bytes(&key, &ty, &mut back),
                    "{ty:?}"
                );
                assert_eq!(back, row, "{v:?}");
                key.push(0);
                assert!(!push_row_bytes(&key, &ty, &mut back));
            }
        }
    }
}
