//! Partial row images: rows events with a bitmap of the columns that are there.
//!
//! A bitmap has bit `i % 8` of byte `i / 8` for column `i`, 1 = present. An image is a null bitmap over the present columns only
//! (unused bits 1), then the values of those that are not NULL. Nothing here decodes a value: bytes are cut out and put together.

use super::{RowLayout, damaged};
use crate::SqlResult;

/// Bit `i` of a bitmap; false beyond its end.
#[inline]
pub fn bit(bitmap: &[u8], i: usize) -> bool {
    bitmap.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 != 0)
}

/// Sets bit `i`, which the bitmap must have.
#[inline]
pub fn set_bit(bitmap: &mut [u8], i: usize) {
    bitmap[i / 8] |= 1 << (i % 8);
}

impl RowLayout {
    /// Bytes of a bitmap over all columns.
    #[inline]
    pub fn bitmap_len(&self) -> usize {
        self.bitmap
    }

    /// Appends the part of the full image `row` that has the columns in `present`.
    ///
    /// # Errors
    /// 1194 if the row is damaged; `out` then holds a part of an image.
    pub fn cut(&self, row: &[u8], present: &[u8], out: &mut Vec<u8>) -> SqlResult<()> {
        if row.len() < self.bitmap {
            return Err(damaged());
        }
        let count = (0..self.cols.len()).filter(|&i| bit(present, i)).count();
        let start = out.len();
        out.resize(start + count.div_ceil(8), 0xff);
        let mut nth = 0;
        let mut pos = self.bitmap;
        // Bytes from here to `pos` are to be copied: neighbours go together.
        let mut pending = pos;
        for (i, c) in self.cols.iter().enumerate() {
            let null = self.is_null(row, i);
            let end = if null {
                pos
            } else {
                c.end(row, pos).ok_or_else(damaged)?
            };
            if bit(present, i) {
                if !null {
                    out[start + nth / 8] &= !(1 << (nth % 8));
                }
                nth += 1;
            } else {
                out.extend_from_slice(&row[pending..pos]);
                pending = end;
            }
            pos = end;
        }
        out.extend_from_slice(&row[pending..pos]);
        Ok(())
    }

    /// Length of the partial image at the start of `buf`, which may go on after it.
    ///
    /// # Errors
    /// 1194 if it is cut short.
    pub fn partial_len(&self, buf: &[u8], present: &[u8]) -> SqlResult<usize> {
        let count = (0..self.cols.len()).filter(|&i| bit(present, i)).count();
        let mut pos = count.div_ceil(8);
        if buf.len() < pos {
            return Err(damaged());
        }
        let mut nth = 0;
        for (i, c) in self.cols.iter().enumerate() {
            if bit(present, i) {
                if !bit(buf, nth) {
                    pos = c.end(buf, pos).ok_or_else(damaged)?;
                }
                nth += 1;
            }
        }
        Ok(pos)
    }

    /// Appends the full image that has the columns in `present` from the partial image `image` and all others from the full
    /// image `base`; without a base the others are NULL.
    ///
    /// # Errors
    /// 1194 if one of them is damaged; `out` then holds a part of a row.
    pub fn complete(
        &self,
        base: Option<&[u8]>,
        present: &[u8],
        image: &[u8],
        out: &mut Vec<u8>,
    ) -> SqlResult<()> {
        if base.is_some_and(|b| b.len() < self.bitmap) {
            return Err(damaged());
        }
        let count = (0..self.cols.len()).filter(|&i| bit(present, i)).count();
        let mut at = count.div_ceil(8);
        if image.len() < at {
            return Err(damaged());
        }
        let start = out.len();
        out.resize(start + self.bitmap, 0xff);
        let mut nth = 0;
        let mut pos = self.bitmap;
        for (i, c) in self.cols.iter().enumerate() {
            let mut value: Option<&[u8]> = None;
            if let Some(base) = base
                && !self.is_null(base, i)
            {
                let end = c.end(base, pos).ok_or_else(damaged)?;
                value = Some(&base[pos..end]);
                pos = end;
            }
            if bit(present, i) {
                value = None;
                if !bit(image, nth) {
                    let end = c.end(image, at).ok_or_else(damaged)?;
                    value = Some(&image[at..end]);
                    at = end;
                }
                nth += 1;
            }
            if let Some(v) = value {
                out[start + i / 8] &= !(1 << (i % 8));
                out.extend_from_slice(v);
            }
        }
        Ok(())
    }

    /// Sets in `changed`, a bitmap over all columns, the columns whose bytes differ between two full images.
    ///
    /// # Errors
    /// 1194 if one of them is damaged.
    pub fn changed(&self, old: &[u8], new: &[u8], changed: &mut [u8]) -> SqlResult<()> {
        if old.len() < self.bitmap || new.len() < self.bitmap || changed.len() < self.bitmap {
            return Err(damaged());
        }
        let (mut from, mut to) = (self.bitmap, self.bitmap);
        for (i, c) in self.cols.iter().enumerate() {
            let (a, b) = (self.is_null(old, i), self.is_null(new, i));
            let from_end = if a {
                from
            } else {
                c.end(old, from).ok_or_else(damaged)?
            };
            let to_end = if b {
                to
            } else {
                c.end(new, to).ok_or_else(damaged)?
            };
            if a != b || old[from..from_end] != new[to..to_end] {
                set_bit(changed, i);
            }
            (from, to) = (from_end, to_end);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlobSize, ColumnType, TypeKind, Value, ValueRef};
    use proptest::prelude::*;

    fn bitmap(bits: &[bool]) -> Vec<u8> {
        let mut b = vec![0; bits.len().div_ceil(8)];
        for (i, _) in bits.iter().enumerate().filter(|(_, b)| **b) {
            set_bit(&mut b, i);
        }
        b
    }

    fn encode(l: &RowLayout, values: &[Value]) -> Vec<u8> {
        let refs: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
        let mut row = Vec::new();
        l.encode(&refs, &mut row).unwrap();
        row
    }

    #[test]
    fn captured_minimal_images() {
        // MariaDB 10.11, binlog_row_image=MINIMAL, table (a int, b int, c text, d varchar(10)).
        let l = RowLayout::new(&[
            ColumnType::int(),
            ColumnType::int(),
            ColumnType::text(TypeKind::Text(BlobSize::Normal), Default::default()),
            ColumnType::varchar(10),
        ]);
        let row = |b, c: &str| {
            encode(
                &l,
                &[Value::Int(1), Value::Int(b), Value::str(c), Value::str("y")],
            )
        };
        let mut out = Vec::new();
        l.cut(&row(1, "x"), &[0x01], &mut out).unwrap();
        l.cut(&row(2, "x"), &[0x02], &mut out).unwrap();
        l.cut(&row(2, "zz"), &[0x04], &mut out).unwrap();
        assert_eq!(out, b"\xfe\x01\0\0\0\xfe\x02\0\0\0\xfe\x02\0zz");
        let nulls = encode(&l, &[Value::Int(3), Value::Null, Value::Null, Value::Null]);
        out.clear();
        l.cut(&nulls, &[0x09], &mut out).unwrap();
        assert_eq!(out, b"\xfe\x03\0\0\0");
    }

    type Cols = Vec<(ColumnType, [Value; 2], bool)>;

    fn cols() -> impl Strategy<Value = Cols> {
        let text = proptest::option::of("[a-z]{0,12}")
            .prop_map(|v| v.map_or(Value::Null, Value::str))
            .boxed();
        let int = proptest::option::of(-5i64..5)
            .prop_map(|v| v.map_or(Value::Null, Value::Int))
            .boxed();
        let kinds = prop_oneof![
            Just((ColumnType::int(), int.clone())),
            Just((ColumnType::new(TypeKind::TinyInt), int)),
            Just((ColumnType::varchar(300), text.clone())),
            Just((
                ColumnType::text(TypeKind::Text(BlobSize::Medium), Default::default()),
                text
            )),
        ];
        let column = kinds.prop_flat_map(|(ty, v)| (Just(ty), v.clone(), v, any::<bool>()));
        proptest::collection::vec(column.prop_map(|(t, a, b, p)| (t, [a, b], p)), 1..20)
    }

    proptest! {
        #[test]
        fn cut_and_complete(cols in cols()) {
            let l = RowLayout::new(&cols.iter().map(|c| c.0).collect::<Vec<_>>());
            let of = |n: usize| encode(&l, &cols.iter().map(|c| c.1[n].clone()).collect::<Vec<_>>());
            let (a, b) = (of(0), of(1));
            let present = bitmap(&cols.iter().map(|c| c.2).collect::<Vec<_>>());
            let mut image = Vec::new();
            l.cut(&b, &present, &mut image).unwrap();
            let len = image.len();
            image.extend_from_slice(b"next");
            prop_assert_eq!(l.partial_len(&image, &present).unwrap(), len);
            let mixed = encode(&l, &cols.iter().map(|c| c.1[usize::from(c.2)].clone()).collect::<Vec<_>>());
            let mut out = Vec::new();
            l.complete(Some(&a), &present, &image, &mut out).unwrap();
            prop_assert_eq!(&out, &mixed);
            let nulled: Vec<Value> =
                cols.iter().map(|c| if c.2 { c.1[1].clone() } else { Value::Null }).collect();
            out.clear();
            l.complete(None, &present, &image, &mut out).unwrap();
            prop_assert_eq!(&out, &encode(&l, &nulled));
            // The changed columns of the new row make the new row out of the old one.
            let mut changed = vec![0; l.bitmap_len()];
            l.changed(&a, &b, &mut changed).unwrap();
            for (i, c) in cols.iter().enumerate() {
                prop_assert_eq!(bit(&changed, i), c.1[0] != c.1[1]);
            }
            image.clear();
            l.cut(&b, &changed, &mut image).unwrap();
            out.clear();
            l.complete(Some(&a), &changed, &image, &mut out).unwrap();
            prop_assert_eq!(&out, &b);
            for n in 0..image.len() {
                prop_assert!(l.partial_len(&image[..n], &changed).is_err());
            }
        }

        #[test]
        fn hostile_bytes(cols in cols(), a: Vec<u8>, b: Vec<u8>, present: Vec<u8>) {
            let l = RowLayout::new(&cols.iter().map(|c| c.0).collect::<Vec<_>>());
            let mut out = Vec::new();
            let _ = l.cut(&a, &present, &mut out);
            let _ = l.complete(Some(&a), &present, &b, &mut out);
            let _ = l.complete(None, &present, &b, &mut out);
            let mut changed = vec![0; l.bitmap_len()];
            let _ = l.changed(&a, &b, &mut changed);
            if let Ok(n) = l.partial_len(&a, &present) {
                prop_assert!(n <= a.len());
            }
        }
    }
}
