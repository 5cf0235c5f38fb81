//! Columns behind those of a table that hold hashes of its long unique keys.
//!
//! MariaDB keeps a unique key that is too long for an index as one of hashes, in hidden columns that its row events have as
//! well (`DB_ROW_HASH_1` and so on, BIGINT UNSIGNED). Where there is no primary key its replicas look for rows by them. The
//! numbers were found by giving a running server values and reading its events:
//!
//! ```text
//! a, b = 1, 4
//! for each byte of the key's values: a ^= ((a & 63) + b) * byte + (a << 8); b += 3
//! the hash is the low 32 bits of a; NULL if one of the values is
//! ```
//!
//! The bytes of a text are its weights, without spaces at the end unless the collation is NO PAD; those of a binary string are
//! the string's. Numbers count as texts in latin1 (their bytes, folded), dates and members as they are stored.

use super::{HashedKey, RowLayout, damaged};
use crate::collation::shown::Levels;
use crate::{Charset, Collation, ColumnType, SqlResult, TypeKind, ValueRef};
use std::sync::OnceLock;

/// Weights of the first level, as they are.
const FIRST_LEVEL: Levels = Levels {
    wanted: 1,
    turned: 0,
    backwards: 0,
};

/// Where the bytes of a value come from.
enum Bytes {
    /// Those of the row.
    Stored,
    /// Those of a number.
    Folded,
    /// The text as it is encoded.
    Encoded,
    /// A text's weights.
    Weights,
    /// The same, each with its low byte first.
    SwappedWeights,
}

/// `None` for types and collations whose hashes are not known.
fn bytes_of(ty: &ColumnType) -> Option<Bytes> {
    use TypeKind as T;
    Some(match ty.kind {
        T::TinyInt | T::SmallInt | T::MediumInt | T::Int | T::BigInt => Bytes::Folded,
        T::Float | T::Double | T::Decimal(..) | T::Year => Bytes::Folded,
        T::Date | T::Time(_) | T::DateTime(_) | T::Enum(_) | T::Set(_) => Bytes::Stored,
        T::Binary(_) | T::VarBinary(_) | T::Blob(_) => Bytes::Encoded,
        T::Char(_) | T::VarChar(_) | T::Text(_) => of_text(ty.collation)?,
        T::Timestamp(_) | T::Bit(_) | T::Fixed(_) => return None,
    })
}

fn of_text(c: Collation) -> Option<Bytes> {
    let (name, set) = (c.name(), c.charset());
    let general = name.ends_with("_general_ci") || name.ends_with("_general_nopad_ci");
    let unicode = matches!(set, Charset::Utf8mb3 | Charset::Utf8mb4);
    Some(match unicode {
        _ if c.is_bin() && (unicode || set.char_bytes() == 1) => Bytes::Encoded,
        true if general => Bytes::SwappedWeights,
        true if name.ends_with("_unicode_ci") || name.ends_with("_uca1400_ai_ci") => Bytes::Weights,
        false if set.char_bytes() == 1 && (general || name.starts_with("latin1_swedish_")) => {
            Bytes::Weights
        }
        _ => return None,
    })
}

fn latin1_swedish() -> Collation {
    Collation::from_id(8).unwrap_or_default()
}

/// What a byte of a number counts as.
fn folded() -> &'static [u8; 256] {
    static TABLE: OnceLock<[u8; 256]> = OnceLock::new();
    TABLE.get_or_init(|| {
        std::array::from_fn(|b| {
            let text = Charset::Latin1.decode(&[b as u8]).into_owned();
            let weight = latin1_swedish().weight_string(text.as_bytes(), None, FIRST_LEVEL);
            weight.and_then(|w| w.first().copied()).unwrap_or(b as u8)
        })
    })
}

/// A value's bytes.
fn value(ty: &ColumnType, stored: &[u8], v: ValueRef<'_>, chars: Option<u16>) -> Option<Vec<u8>> {
    let kind = bytes_of(ty)?;
    let text;
    let s = match (&kind, v) {
        (Bytes::Stored, _) => return Some(stored.to_vec()),
        (Bytes::Folded, _) => {
            let end = stored.iter().rposition(|b| *b != b' ').map_or(0, |i| i + 1);
            return Some(
                stored[..end]
                    .iter()
                    .map(|b| folded()[*b as usize])
                    .collect(),
            );
        }
        (_, ValueRef::Bytes(b)) => {
            let n = chars.map_or(b.len(), |n| b.len().min(n.into()));
            return Some(b[..n].to_vec());
        }
        (_, ValueRef::Coded(set, s)) => {
            text = set.decode(s);
            &*text
        }
        (_, ValueRef::Str(s)) => std::str::from_utf8(s).ok()?,
        _ => return None,
    };
    let end = chars.and_then(|n| s.char_indices().nth(n.into()));
    let s = &s[..end.map_or(s.len(), |(at, _)| at)];
    let s = match ty.collation.pads() {
        true => s.trim_end_matches(' '),
        false => s,
    };
    if let Bytes::Encoded = kind {
        return Some(ty.collation.charset().encode(s.as_bytes()).into_owned());
    }
    let mut weights = ty
        .collation
        .weight_string(s.as_bytes(), None, FIRST_LEVEL)?;
    if let Bytes::SwappedWeights = kind {
        weights.chunks_exact_mut(2).for_each(|w| w.swap(0, 1));
    }
    Some(weights)
}

impl HashedKey {
    /// True if MariaDB's hashes of such values are known.
    pub fn is_known(ty: &ColumnType) -> bool {
        bytes_of(ty).is_some()
    }
}

impl RowLayout {
    /// Appends a hash of the row that `out` holds from `start` on, with all columns before; false, and nothing is appended, for
    /// NULL. `column`: a position behind those of the table.
    ///
    /// # Errors
    /// 1194 if the row is damaged.
    pub fn push_hash(&self, column: usize, start: usize, out: &mut Vec<u8>) -> SqlResult<bool> {
        let key = column.checked_sub(self.types.len());
        let Some(key) = key.and_then(|k| self.hashed.get(k)) else {
            return Ok(false);
        };
        let row = out.get(start..).ok_or_else(damaged)?;
        let (mut a, mut b) = (1u64, 4u64);
        for (column, chars) in &key.parts {
            if self.is_null(row, *column) {
                return Ok(false);
            }
            let (from, to) = self.span(row, *column).ok_or_else(damaged)?;
            let v = self.column(row, *column)?;
            let ty = &self.types[*column];
            let bytes = value(ty, &row[from..to], v, *chars).ok_or_else(damaged)?;
            for byte in bytes {
                let step = ((a & 63) + b).wrapping_mul(byte.into());
                a ^= step.wrapping_add(a << 8);
                b = b.wrapping_add(3);
            }
        }
        out.extend_from_slice(&u64::from(a as u32).to_le_bytes());
        Ok(true)
    }

    /// Appends the hashes to a row that has all other columns.
    pub(super) fn push_hashes(&self, start: usize, out: &mut Vec<u8>) -> SqlResult<()> {
        for i in self.types.len()..self.cols.len() {
            if self.push_hash(i, start, out)? {
                out[start + i / 8] &= !(1 << (i % 8));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlobSize, Value};

    fn hash(columns: &[(ColumnType, Value)]) -> Option<u64> {
        let types: Vec<ColumnType> = columns.iter().map(|c| c.0).collect();
        let parts = (0..types.len()).map(|c| (c, None)).collect();
        let l = RowLayout::new(&types).with_hashed(vec![HashedKey { parts }]);
        let values: Vec<ValueRef<'_>> = columns.iter().map(|c| c.1.as_ref()).collect();
        let mut row = b"before".to_vec();
        l.encode(&values, &mut row).unwrap();
        let row = &row[6..];
        assert_eq!(l.row_len(row).unwrap(), row.len());
        let mut back = Vec::new();
        l.decode_into(row, &mut back).unwrap();
        assert_eq!(back.len(), columns.len());
        // A changed row has other hashes: those of the values that it has then.
        let other = (0, ValueRef::Null);
        let mut patched = Vec::new();
        l.patch(row, &[other], &mut patched).unwrap();
        assert!(l.is_null(&patched, columns.len()));
        let mut again = Vec::new();
        l.patch(&patched, &[(0, values[0])], &mut again).unwrap();
        assert_eq!(again, row);
        let i = columns.len();
        (!l.is_null(row, i)).then(|| u64::from_le_bytes(row[row.len() - 8..].try_into().unwrap()))
    }

    // What MariaDB 10.11 wrote into its events.
    #[test]
    fn hashes_are_those_of_mariadb() {
        let text = |collation: &str, s: &str| {
            let c = Collation::from_name(collation).unwrap();
            hash(&[(
                ColumnType::text(TypeKind::Text(BlobSize::Normal), c),
                Value::str(s),
            )])
        };
        for (collation, s, wanted) in [
            ("latin1_swedish_ci", "x", 697),
            ("latin1_swedish_ci", "x ", 697),
            ("latin1_swedish_ci", "", 1),
            ("latin1_swedish_ci", "Aß", 151_505),
            ("latin1_swedish_ci", "abcdefghijkl", 181_172_010),
            ("latin1_swedish_nopad_ci", "x ", 181_177),
            ("latin1_general_ci", "Aß", 149_561),
            ("latin1_bin", "abcdefghijkl", 2_650_434_890),
            ("cp1251_general_ci", "abcdefghijkl", 2_376_565_659),
            ("latin2_general_ci", "abcdefghijkl", 1_427_451_783),
            ("utf8mb3_general_ci", "Aß", 1_179_304_142),
            ("utf8mb4_general_ci", "abcdefghijkl", 3_301_788_376),
            ("utf8mb4_general_ci", "\u{1f600}", 402_233),
            ("utf8mb4_bin", "Aß", 38_538_260),
            ("utf8mb4_unicode_ci", "Aß", 2_106_364_922),
            ("utf8mb4_unicode_ci", "abcdefghijkl", 954_088_338),
            ("utf8mb4_uca1400_ai_ci", "abcdefghijkl", 2_460_900_254),
        ] {
            assert_eq!(text(collation, s), Some(wanted), "{collation} {s:?}");
        }
        let int = |kind, n| hash(&[(ColumnType::new(kind), Value::Int(n))]);
        assert_eq!(int(TypeKind::Int, 1), Some(84_215_044));
        assert_eq!(int(TypeKind::Int, -16), Some(1_927_884_235));
        assert_eq!(int(TypeKind::Int, 536_870_912), Some(16_843_009));
        assert_eq!(int(TypeKind::TinyInt, 97), Some(580));
        assert_eq!(int(TypeKind::BigInt, -2), Some(4_205_077_143));
        let double = (ColumnType::double(), Value::Double(1.0));
        assert_eq!(hash(&[double]), Some(404_823));
        let varchar = ColumnType::text(TypeKind::VarChar(10), latin1_swedish());
        let (one, x) = (Value::Int(1), Value::str("x"));
        let int = ColumnType::int();
        assert_eq!(
            hash(&[(int, one.clone()), (varchar, x.clone())]),
            Some(4068)
        );
        assert_eq!(
            hash(&[(varchar, x.clone()), (int, one)]),
            Some(1_077_953_273)
        );
        assert_eq!(hash(&[(int, Value::Null), (varchar, x)]), None);
        let blob = ColumnType::new(TypeKind::Blob(BlobSize::Normal));
        assert_eq!(
            hash(&[(blob, Value::Bytes(b"x ".to_vec().into()))]),
            Some(220_761)
        );
    }
}
