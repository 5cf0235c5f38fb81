//! Row images: the bytes of a row in a MariaDB row event are also the stored row.
//!
//! ```text
//! +-----------------------------+----------------------------------+
//! | NULL bitmap, (n+7)/8 bytes  | values of the columns, in order, |
//! | LSB first, 1 = NULL,        | NULLs have no bytes              |
//! | unused bits 1               |                                  |
//! +-----------------------------+----------------------------------+
//! ```
//!
//! Values: integers little-endian at their width; FLOAT and DOUBLE IEEE little-endian; DECIMAL in packed digit groups; YEAR one
//! byte; DATE 3 bytes; TIME2, DATETIME2, TIMESTAMP2 as in [`crate::temporal`]; CHAR, VARCHAR, BINARY and VARBINARY with a length of
//! one byte if the column holds at most 255 bytes, else two; TEXT and BLOB with a length of 1 to 4 bytes; ENUM and SET their
//! number, little-endian, in as many bytes as all members need; BIT its bits, big-endian; UUID, INET4 and INET6 as BINARY.
//!
//! CHAR is written without trailing spaces. MariaDB writes BINARY without its trailing zero bytes; Narwal keeps them (readers
//! take both: they pad what is short), so that a value can be borrowed from the row.
//!
//! Values of COMPRESSED columns have a byte in front, which their length counts: 0, not compressed. An empty one has no such byte.

use crate::decimal::Decimal;
use crate::errors;
use crate::temporal::{self, Date, DateTime, Time};
use crate::{
    Bits, Charset, ColumnType, Fixed, FixedKind, Member, Members, SqlError, SqlResult, TypeKind,
    ValueRef,
};

pub mod hash;
pub mod partial;

/// A key whose hash stands in a column of its own: columns, each with the characters that count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashedKey {
    /// The columns.
    pub parts: Vec<(usize, Option<u16>)>,
}

/// How a column's value is written.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Enc {
    /// Signed little-endian integer of so many bytes.
    Int(u8),
    /// Unsigned.
    UInt(u8),
    Float,
    Double,
    Decimal(u8, u8),
    Date,
    Time(u8),
    DateTime(u8),
    Timestamp(u8),
    Year,
    /// Character string with a length prefix of `len` bytes.
    Str {
        len: u8,
        strip: bool,
    },
    /// Byte string with a length prefix of `len` bytes.
    Bytes {
        len: u8,
    },
    /// Character string in a character set that is not UTF-8.
    Coded {
        set: Charset,
        len: u8,
        strip: bool,
    },
    /// A string of a COMPRESSED column: a byte that is 0 stands in front of it.
    Headed {
        len: u8,
        of: Headed,
    },
    Enum(Members),
    Set(Members),
    Bit(u8),
    /// Bytes behind one that tells how many; those missing at the end are zeros.
    Fixed(FixedKind),
}

/// What a COMPRESSED column holds.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Headed {
    Str,
    Coded(Charset),
    Bytes,
}

#[derive(Debug, Clone, Copy)]
struct Col {
    ty: ColumnType,
    enc: Enc,
    /// Width in bytes, 0 for variable width.
    width: u8,
    /// Offset in the row if no column before it is NULL; 0 if a column before it has a variable width.
    offset: u32,
    /// Most bytes of a string.
    max: u64,
}

/// Knows where each column of a table's row image is.
#[derive(Debug, Clone)]
pub struct RowLayout {
    cols: Vec<Col>,
    types: Vec<ColumnType>,
    /// Keys whose hashes stand in columns behind those of `types`.
    hashed: Vec<HashedKey>,
    bitmap: usize,
    /// Number of columns with a known offset: the leading fixed-width ones and the one after them. At least 1 if there are columns.
    fixed_head: usize,
}

#[cold]
fn damaged() -> SqlError {
    errors::CRASHED_ON_USAGE.text("A row image is damaged")
}

#[cold]
fn mismatch(i: usize, ty: &ColumnType) -> SqlError {
    SqlError::unknown(format!(
        "Value for column {} is not in the domain of {}",
        i + 1,
        ty.sql_name()
    ))
}

#[cold]
fn out_of_range(i: usize) -> SqlError {
    errors::WARN_DATA_OUT_OF_RANGE.text(format!("Out of range value for column {}", i + 1))
}

#[cold]
fn too_long(i: usize) -> SqlError {
    errors::DATA_TOO_LONG.text(format!("Data too long for column {}", i + 1))
}

impl Col {
    fn new(ty: ColumnType) -> Self {
        let prefix = |bytes: u64| if bytes < 256 { 1 } else { 2 };
        let max = ty.max_bytes().unwrap_or(0);
        let int = |n: u8| {
            if ty.unsigned {
                Enc::UInt(n)
            } else {
                Enc::Int(n)
            }
        };
        let (enc, width) = match ty.kind {
            TypeKind::TinyInt => (int(1), 1),
            TypeKind::SmallInt => (int(2), 2),
            TypeKind::MediumInt => (int(3), 3),
            TypeKind::Int => (int(4), 4),
            TypeKind::BigInt => (int(8), 8),
            TypeKind::Float => (Enc::Float, 4),
            TypeKind::Double => (Enc::Double, 8),
            TypeKind::Decimal(p, s) => (Enc::Decimal(p, s), Decimal::binary_len(p, s) as u8),
            TypeKind::Char(_) => (
                Enc::Str {
                    len: prefix(max),
                    strip: true,
                },
                0,
            ),
            TypeKind::VarChar(_) => (
                Enc::Str {
                    len: prefix(max),
                    strip: false,
                },
                0,
            ),
            TypeKind::Text(s) => (
                Enc::Str {
                    len: s as u8,
                    strip: false,
                },
                0,
            ),
            TypeKind::Binary(_) | TypeKind::VarBinary(_) => (Enc::Bytes { len: prefix(max) }, 0),
            TypeKind::Blob(s) => (Enc::Bytes { len: s as u8 }, 0),
            TypeKind::Date => (Enc::Date, 3),
            TypeKind::Time(f) => (Enc::Time(f), 3 + temporal::fraction_bytes(f) as u8),
            TypeKind::DateTime(f) => (Enc::DateTime(f), 5 + temporal::fraction_bytes(f) as u8),
            TypeKind::Timestamp(f) => (Enc::Timestamp(f), 4 + temporal::fraction_bytes(f) as u8),
            TypeKind::Year => (Enc::Year, 1),
            TypeKind::Enum(m) => (Enc::Enum(m), m.enum_bytes()),
            TypeKind::Set(m) => (Enc::Set(m), m.set_bytes()),
            TypeKind::Bit(n) => (Enc::Bit(n), Bits::bytes_of(n) as u8),
            TypeKind::Fixed(k) => (Enc::Fixed(k), 0),
        };
        let enc = match enc {
            Enc::Str { len, strip } if !ty.collation.charset().stores_utf8() => Enc::Coded {
                set: ty.collation.charset(),
                len,
                strip,
            },
            enc => enc,
        };
        Col {
            ty,
            enc,
            width,
            offset: 0,
            max,
        }
    }

    /// End of the value that starts at `pos`; `None` if the row ends before.
    #[inline]
    fn end(&self, row: &[u8], pos: usize) -> Option<usize> {
        let end = if self.width > 0 {
            pos.checked_add(self.width as usize)?
        } else {
            let n = self.prefix_len();
            let len = read_len(row.get(pos..pos.checked_add(n)?)?);
            pos.checked_add(n)?.checked_add(len)?
        };
        (end <= row.len()).then_some(end)
    }

    #[inline]
    fn prefix_len(&self) -> usize {
        match self.enc {
            Enc::Str { len, .. }
            | Enc::Bytes { len }
            | Enc::Coded { len, .. }
            | Enc::Headed { len, .. } => len as usize,
            Enc::Fixed(_) => 1,
            _ => 0,
        }
    }

    /// Reads the value that fills `b`.
    #[inline]
    fn decode<'a>(&self, b: &'a [u8]) -> Option<ValueRef<'a>> {
        Some(match self.enc {
            Enc::Int(4) => ValueRef::Int(i32::from_le_bytes(b.try_into().ok()?) as i64),
            Enc::Int(8) => ValueRef::Int(i64::from_le_bytes(b.try_into().ok()?)),
            Enc::Int(n) => {
                let shift = 64 - 8 * n as u32;
                ValueRef::Int(((read_le(b) << shift) as i64) >> shift)
            }
            Enc::UInt(_) => ValueRef::UInt(read_le(b)),
            Enc::Float => ValueRef::Float(f32::from_le_bytes(b.try_into().ok()?)),
            Enc::Double => ValueRef::Double(f64::from_le_bytes(b.try_into().ok()?)),
            Enc::Decimal(p, s) => ValueRef::Decimal(Decimal::decode_binary(b, p, s)?),
            Enc::Date => ValueRef::Date(Date::unpack(read_le(b) as u32)),
            Enc::Time(f) => ValueRef::Time(Time::unpack(b, f)?),
            Enc::DateTime(f) => ValueRef::DateTime(DateTime::unpack(b, f)?),
            Enc::Timestamp(f) => ValueRef::DateTime(DateTime::unpack_timestamp(b, f)?),
            Enc::Year => ValueRef::Int(match b.first()? {
                0 => 0,
                y => 1900 + *y as i64,
            }),
            Enc::Str { len, .. } => ValueRef::Str(b.get(len as usize..)?),
            Enc::Bytes { len } => ValueRef::Bytes(b.get(len as usize..)?),
            Enc::Coded { set, len, .. } => coded(set, b.get(len as usize..)?),
            Enc::Headed { len, of } => {
                let value = match b.get(len as usize..)? {
                    [] => &[],
                    [0, value @ ..] => value,
                    _ => return None,
                };
                match of {
                    Headed::Str => ValueRef::Str(value),
                    Headed::Coded(set) => coded(set, value),
                    Headed::Bytes => ValueRef::Bytes(value),
                }
            }
            Enc::Enum(m) => ValueRef::Member(Member::of_enum(m, read_le(b))?),
            Enc::Set(m) => ValueRef::Member(Member::of_set(m, read_le(b))?),
            Enc::Bit(width) => {
                let value = b.iter().fold(0u64, |a, x| a << 8 | u64::from(*x));
                if width < 64 && value >> width != 0 {
                    return None;
                }
                ValueRef::Bits(Bits { value, width })
            }
            Enc::Fixed(k) => ValueRef::Fixed(Fixed::padded(k, b.get(1..)?)?),
        })
    }

    /// Appends a value that is not NULL.
    fn encode(&self, i: usize, v: ValueRef<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
        match (self.enc, v) {
            (Enc::Int(n), v) => self.push_int(i, n, v, out)?,
            (Enc::UInt(n), v) => self.push_uint(i, n, v, out)?,
            (Enc::Float, ValueRef::Float(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (Enc::Float, ValueRef::Double(v)) => out.extend_from_slice(&(v as f32).to_le_bytes()),
            (Enc::Double, ValueRef::Double(v)) => out.extend_from_slice(&v.to_le_bytes()),
            (Enc::Double, ValueRef::Float(v)) => out.extend_from_slice(&(v as f64).to_le_bytes()),
            (Enc::Decimal(p, s), ValueRef::Decimal(d)) => {
                if !d.round(s).fits(p, s) {
                    return Err(out_of_range(i));
                }
                d.encode_binary(p, s, out);
            }
            (Enc::Decimal(..), ValueRef::Int(v)) => {
                return self.encode(i, ValueRef::Decimal(v.into()), out);
            }
            (Enc::Decimal(..), ValueRef::UInt(v)) => {
                return self.encode(i, ValueRef::Decimal(v.into()), out);
            }
            (Enc::Date, ValueRef::Date(d)) => {
                out.extend_from_slice(&d.pack().to_le_bytes()[..3]);
            }
            (Enc::Time(f), ValueRef::Time(t)) => t.pack(f, out),
            (Enc::DateTime(f), ValueRef::DateTime(t)) => t.pack(f, out),
            (Enc::Timestamp(f), ValueRef::DateTime(t)) => t.pack_timestamp(f, out),
            (Enc::Year, v) => out.push(self.year(i, v)?),
            (Enc::Str { .. }, ValueRef::Coded(set, s)) => {
                let text = set.decode(s);
                return self.encode(i, ValueRef::Str(set.passed_on(&text).as_bytes()), out);
            }
            (Enc::Str { len, strip }, ValueRef::Str(s) | ValueRef::Bytes(s)) => {
                let mut s = s;
                if strip {
                    while let [head @ .., b' '] = s {
                        s = head;
                    }
                }
                self.push_string(i, len, s, out)?;
            }
            (Enc::Bytes { len }, ValueRef::Str(s) | ValueRef::Bytes(s)) => {
                self.push_string(i, len, s, out)?;
                if let TypeKind::Binary(n) = self.ty.kind
                    && s.len() < n as usize
                {
                    // A short value is padded to the column's width.
                    let at = out.len() - s.len() - len as usize;
                    out[at..at + len as usize]
                        .copy_from_slice(&(n as u64).to_le_bytes()[..len as usize]);
                    out.resize(out.len() + n as usize - s.len(), 0);
                }
            }
            (Enc::Coded { set, len, strip }, v) => {
                let (text, bytes);
                let s = match v {
                    ValueRef::Coded(from, s) if from == set && !strip => s,
                    v => {
                        text = match v {
                            ValueRef::Coded(from, s) => {
                                let text = from.decode(s);
                                from.passed_on(&text).into_owned().into()
                            }
                            ValueRef::Str(s) | ValueRef::Bytes(s) => String::from_utf8_lossy(s),
                            _ => return Err(mismatch(i, &self.ty)),
                        };
                        let kept = if strip {
                            text.trim_end_matches(' ')
                        } else {
                            &*text
                        };
                        bytes = set.encode(kept.as_bytes());
                        &*bytes
                    }
                };
                self.push_string(i, len, s, out)?;
            }
            (Enc::Enum(of) | Enc::Set(of), ValueRef::Member(m)) if m.of == of => {
                out.extend_from_slice(&m.number.to_le_bytes()[..self.width as usize]);
            }
            (Enc::Bit(width), ValueRef::Bits(b)) => {
                if width < 64 && b.value >> width != 0 {
                    return Err(out_of_range(i));
                }
                Bits { width, ..b }.write(out);
            }
            (Enc::Fixed(k), ValueRef::Fixed(f)) if f.kind == k => {
                out.push(k.bytes() as u8);
                out.extend_from_slice(f.bytes());
            }
            (Enc::Headed { len, of }, v) => self.push_headed(i, (len, of), v, out)?,
            _ => return Err(mismatch(i, &self.ty)),
        }
        Ok(())
    }

    /// A COMPRESSED column's value, as the same column would have it without COMPRESSED, and then the byte in front.
    fn push_headed(
        &self,
        i: usize,
        (len, of): (u8, Headed),
        v: ValueRef<'_>,
        out: &mut Vec<u8>,
    ) -> SqlResult<()> {
        let strip = false;
        let enc = match of {
            Headed::Str => Enc::Str { len, strip },
            Headed::Coded(set) => Enc::Coded { set, len, strip },
            Headed::Bytes => Enc::Bytes { len },
        };
        let (at, n) = (out.len(), len as usize);
        Col { enc, ..*self }.encode(i, v, out)?;
        let bytes = out.len() - at - n;
        if bytes > 0 {
            out[at..at + n].copy_from_slice(&(bytes as u64 + 1).to_le_bytes()[..n]);
            out.insert(at + n, 0);
        }
        Ok(())
    }

    /// The same column with COMPRESSED, if it is a string of variable length.
    fn headed(self) -> Self {
        let (len, of) = match self.enc {
            Enc::Str { len, strip: false } => (len, Headed::Str),
            Enc::Coded {
                set,
                len,
                strip: false,
            } => (len, Headed::Coded(set)),
            Enc::Bytes { len } => (len, Headed::Bytes),
            _ => return self,
        };
        let (len, max) = match self.ty.is_blob() {
            // The byte takes one of those that the length can tell.
            true => (len, self.max - 1),
            false => (if self.max < 255 { 1 } else { 2 }, self.max),
        };
        Col {
            enc: Enc::Headed { len, of },
            max,
            ..self
        }
    }

    #[inline]
    fn push_int(&self, i: usize, n: u8, v: ValueRef<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
        let v = match v {
            ValueRef::Int(v) => v,
            ValueRef::UInt(v) => i64::try_from(v).map_err(|_| out_of_range(i))?,
            _ => return Err(mismatch(i, &self.ty)),
        };
        if n < 8 && !matches!(v >> (8 * n as u32 - 1), 0 | -1) {
            return Err(out_of_range(i));
        }
        out.extend_from_slice(&v.to_le_bytes()[..n as usize]);
        Ok(())
    }

    #[inline]
    fn push_uint(&self, i: usize, n: u8, v: ValueRef<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
        let v = match v {
            ValueRef::UInt(v) => v,
            ValueRef::Int(v) => u64::try_from(v).map_err(|_| out_of_range(i))?,
            _ => return Err(mismatch(i, &self.ty)),
        };
        if n < 8 && v >> (8 * n as u32) != 0 {
            return Err(out_of_range(i));
        }
        out.extend_from_slice(&v.to_le_bytes()[..n as usize]);
        Ok(())
    }

    fn year(&self, i: usize, v: ValueRef<'_>) -> SqlResult<u8> {
        let y = match v {
            ValueRef::Int(y) => y,
            ValueRef::UInt(y) => i64::try_from(y).unwrap_or(-1),
            _ => return Err(mismatch(i, &self.ty)),
        };
        match y {
            0 => Ok(0),
            1901..=2155 => Ok((y - 1900) as u8),
            _ => Err(out_of_range(i)),
        }
    }

    fn push_string(&self, i: usize, len: u8, s: &[u8], out: &mut Vec<u8>) -> SqlResult<()> {
        if s.len() as u64 > self.max {
            return Err(too_long(i));
        }
        out.extend_from_slice(&(s.len() as u64).to_le_bytes()[..len as usize]);
        out.extend_from_slice(s);
        Ok(())
    }
}

#[inline]
fn coded(set: Charset, s: &[u8]) -> ValueRef<'_> {
    match set.keeps_ascii() && s.is_ascii() {
        true => ValueRef::Str(s),
        false => ValueRef::Coded(set, s),
    }
}

#[inline]
fn read_le(b: &[u8]) -> u64 {
    b.iter().rev().fold(0, |a, x| a << 8 | *x as u64)
}

#[inline]
fn read_len(b: &[u8]) -> usize {
    match b {
        [a] => *a as usize,
        [a, b] => u16::from_le_bytes([*a, *b]) as usize,
        _ => read_le(b) as usize,
    }
}

impl RowLayout {
    /// The layout of a table with these columns.
    pub fn new(types: &[ColumnType]) -> Self {
        let cols = types.iter().map(|t| Col::new(*t)).collect();
        Self::of(cols, types.to_vec(), Vec::new())
    }

    fn of(mut cols: Vec<Col>, types: Vec<ColumnType>, hashed: Vec<HashedKey>) -> Self {
        let bitmap = cols.len().div_ceil(8);
        let mut offset = bitmap;
        let mut fixed_head = 0;
        for c in &mut cols {
            c.offset = offset as u32;
            fixed_head += 1;
            if c.width == 0 {
                break;
            }
            offset += c.width as usize;
        }
        RowLayout {
            cols,
            types,
            hashed,
            bitmap,
            fixed_head,
        }
    }

    /// The same with columns behind the others that hold hashes of keys. They are filled in by whatever makes a row, and no
    /// value of theirs is given or taken.
    pub fn with_hashed(self, keys: Vec<HashedKey>) -> Self {
        let mut cols = self.cols;
        let hash = Col::new(ColumnType::unsigned(TypeKind::BigInt));
        cols.extend(keys.iter().map(|_| hash));
        Self::of(cols, self.types, keys)
    }

    /// Columns with those of hashes.
    pub fn stored_columns(&self) -> usize {
        self.cols.len()
    }

    /// As [`RowLayout::new`], but all text is kept in UTF-8: for rows that are not stored in tables.
    pub fn in_utf8(types: &[ColumnType]) -> Self {
        let mut layout = Self::new(types);
        for c in &mut layout.cols {
            if let Enc::Coded { strip, .. } = c.enc {
                // A byte of another set is up to three here, a character up to four.
                c.max = c.max.saturating_mul(4).min(u32::MAX.into());
                let len = match c.max {
                    0..=0xff => 1,
                    0x100..=0xffff => 2,
                    _ => 4,
                };
                c.enc = Enc::Str { len, strip };
            }
        }
        layout
    }

    /// The same with columns that are COMPRESSED: `headed` says which.
    pub fn with_headed(mut self, headed: impl Fn(usize) -> bool) -> Self {
        for (i, c) in self.cols.iter_mut().enumerate() {
            if headed(i) {
                *c = c.headed();
            }
        }
        self
    }

    /// The columns' types.
    pub fn columns(&self) -> &[ColumnType] {
        &self.types
    }

    /// Bytes that are enough for the image of such a row, in most cases.
    pub fn room(values: &[ValueRef<'_>]) -> usize {
        let of = |v: &ValueRef<'_>| match v {
            ValueRef::Null => 0,
            ValueRef::Str(b) | ValueRef::Bytes(b) => b.len() + 4,
            _ => 9,
        };
        values.len().div_ceil(8) + values.iter().map(of).sum::<usize>()
    }

    /// Appends the row image of `values`, one per column in order. Values must be in their column's domain (see
    /// [`crate::convert::store`]): anything else is an error, and `out` then holds a part of a row.
    pub fn encode(&self, values: &[ValueRef<'_>], out: &mut Vec<u8>) -> SqlResult<()> {
        if values.len() != self.types.len() {
            return Err(SqlError::unknown(format!(
                "A row has {} values for {} columns",
                values.len(),
                self.types.len()
            )));
        }
        let start = out.len();
        out.resize(start + self.bitmap, 0xff);
        for (i, (c, v)) in self.cols.iter().zip(values).enumerate() {
            if v.is_null() {
                continue;
            }
            out[start + i / 8] &= !(1 << (i % 8));
            c.encode(i, *v, out)?;
        }
        if self.hashed.is_empty() {
            return Ok(());
        }
        self.push_hashes(start, out)
    }

    /// True if the bytes of a value in column `j` of `from` are those of the same value in column `i`.
    pub fn takes_bytes(&self, i: usize, from: &RowLayout, j: usize) -> bool {
        match (self.cols.get(i), from.cols.get(j)) {
            (Some(a), Some(b)) => a.enc == b.enc && a.width == b.width && a.max == b.max,
            _ => false,
        }
    }

    /// Begins a row image, in place of what `out` holds, that is all NULL so far.
    pub fn begin(&self, out: &mut Vec<u8>) {
        out.clear();
        out.resize(self.bitmap, 0xff);
    }

    /// Gives column `i` of a row that was begun a value. Columns must come in their order, each at most once.
    pub fn put(&self, i: usize, v: ValueRef<'_>, out: &mut Vec<u8>) -> SqlResult<()> {
        let (Some(c), false) = (self.cols.get(i), v.is_null()) else {
            return Ok(());
        };
        out[i / 8] &= !(1 << (i % 8));
        c.encode(i, v, out)
    }

    /// As [`RowLayout::put`], with the value that stands in column `j` of a row of another layout, for columns that
    /// [`RowLayout::takes_bytes`] says yes to.
    pub fn put_bytes(
        &self,
        i: usize,
        (from, row, j): (&RowLayout, &[u8], usize),
        out: &mut Vec<u8>,
    ) -> SqlResult<()> {
        if row.len() < from.bitmap {
            return Err(damaged());
        }
        if i >= self.cols.len() || from.is_null(row, j) {
            return Ok(());
        }
        let (a, b) = from.span(row, j).ok_or_else(damaged)?;
        out[i / 8] &= !(1 << (i % 8));
        out.extend_from_slice(&row[a..b]);
        Ok(())
    }

    /// True if column `i` of the row is NULL (also for a row too short to have it).
    #[inline]
    pub fn is_null(&self, row: &[u8], i: usize) -> bool {
        row.get(i / 8).is_none_or(|b| b >> (i % 8) & 1 == 1)
    }

    /// True if no column before `i` is NULL.
    #[inline]
    fn no_null_before(&self, row: &[u8], i: usize) -> bool {
        let (full, rest) = (i / 8, i % 8);
        row[..full].iter().all(|b| *b == 0)
            && row[full.min(row.len() - 1)] & ((1u8 << rest) - 1) == 0
    }

    /// Start and end of the bytes of column `i`, which is not NULL.
    #[inline]
    fn span(&self, row: &[u8], i: usize) -> Option<(usize, usize)> {
        let c = self.cols.get(i)?;
        let (mut at, mut pos) = (0, self.bitmap);
        if i < self.fixed_head && self.no_null_before(row, i) {
            (at, pos) = (i, c.offset as usize);
        } else if i >= self.fixed_head && self.no_null_before(row, self.fixed_head - 1) {
            // Skip the head of fixed-width columns at once.
            at = self.fixed_head - 1;
            pos = self.cols[at].offset as usize;
        }
        for (k, c) in self.cols[at..i].iter().enumerate() {
            if !self.is_null(row, at + k) {
                pos = c.end(row, pos)?;
            }
        }
        Some((pos, c.end(row, pos)?))
    }

    /// The value of column `i`. TIMESTAMP comes in UTC. A row that is too short for it, or whose bytes are no value of the
    /// column's type, gives error 1194.
    #[inline]
    pub fn column<'a>(&self, row: &'a [u8], i: usize) -> SqlResult<ValueRef<'a>> {
        if row.len() < self.bitmap || i >= self.cols.len() {
            return Err(damaged());
        }
        if self.is_null(row, i) {
            return Ok(ValueRef::Null);
        }
        self.span(row, i)
            .and_then(|(a, b)| self.cols[i].decode(&row[a..b]))
            .ok_or_else(damaged)
    }

    /// The value of an integer column as [`RowLayout::column`] has it, in one step; `None` for NULL, other columns, and what
    /// does not fit.
    #[inline]
    pub fn int(&self, row: &[u8], i: usize) -> Option<i64> {
        let c = self.cols.get(i)?;
        let signed = match c.enc {
            Enc::Int(_) => true,
            Enc::UInt(_) => false,
            _ => return None,
        };
        if row.len() < self.bitmap || self.is_null(row, i) {
            return None;
        }
        let (a, b) = self.span(row, i)?;
        let b = &row[a..b];
        match (b.len(), signed) {
            (4, true) => Some(i64::from(i32::from_le_bytes(b.try_into().ok()?))),
            (8, true) => Some(i64::from_le_bytes(b.try_into().ok()?)),
            (n, true) => {
                let shift = 64 - 8 * n as u32;
                Some(((read_le(b) << shift) as i64) >> shift)
            }
            (_, false) => i64::try_from(read_le(b)).ok(),
        }
    }

    /// The value of a DECIMAL column of at most 18 digits as an integer, times 10^scale; `None` for NULL, other columns, and what
    /// is damaged.
    #[inline]
    pub fn units(&self, row: &[u8], i: usize) -> Option<(i64, u8)> {
        let Enc::Decimal(p, s) = self.cols.get(i)?.enc else {
            return None;
        };
        if row.len() < self.bitmap || self.is_null(row, i) {
            return None;
        }
        let (a, b) = self.span(row, i)?;
        Some((Decimal::units_of_binary(&row[a..b], p, s)?, s))
    }

    /// Appends bytes that compare as the values of column `i` do, NULL first; no such key is the beginning of another. False, and
    /// nothing is appended, if the row's bytes cannot give that for the column, whatever its value.
    pub fn order_key(&self, row: &[u8], i: usize, out: &mut Vec<u8>) -> SqlResult<bool> {
        let Some(c) = self.cols.get(i) else {
            return Ok(false);
        };
        if !matches!(
            c.enc,
            Enc::Int(_)
                | Enc::UInt(_)
                | Enc::Decimal(..)
                | Enc::Date
                | Enc::DateTime(_)
                | Enc::Timestamp(_)
        ) {
            return Ok(false);
        }
        if row.len() < self.bitmap {
            return Err(damaged());
        }
        if self.is_null(row, i) {
            out.push(0);
            return Ok(true);
        }
        let (a, b) = self.span(row, i).ok_or_else(damaged)?;
        let value = &row[a..b];
        out.push(1);
        let start = out.len();
        out.extend_from_slice(value);
        let key = &mut out[start..];
        match c.enc {
            Enc::Int(_) => {
                key.reverse();
                key[0] ^= 0x80;
            }
            Enc::UInt(_) | Enc::Date => key.reverse(),
            Enc::Decimal(p, s) => Decimal::binary_order_key(key, p, s),
            // These are stored big-endian.
            _ => {}
        }
        Ok(true)
    }

    /// Appends the image of `row` with some of its columns only, given in ascending order; all others are NULL in it. On an error
    /// `out` holds a part of a row.
    pub fn project(&self, row: &[u8], columns: &[usize], out: &mut Vec<u8>) -> SqlResult<()> {
        if row.len() < self.bitmap {
            return Err(damaged());
        }
        let start = out.len();
        out.resize(start + self.bitmap, 0xff);
        let (mut at, mut pos) = (0, self.bitmap);
        let head = self.fixed_head.saturating_sub(1);
        for &i in columns {
            if at < head && i >= head && i < self.cols.len() && self.no_null_before(row, head) {
                (at, pos) = (head, self.cols[head].offset as usize);
            }
            for k in at..=i {
                let c = self.cols.get(k).ok_or_else(damaged)?;
                if self.is_null(row, k) {
                    continue;
                }
                let end = c.end(row, pos).ok_or_else(damaged)?;
                if k == i {
                    out[start + i / 8] &= !(1 << (i % 8));
                    out.extend_from_slice(&row[pos..end]);
                }
                pos = end;
            }
            at = i + 1;
        }
        Ok(())
    }

    /// All values in order; replaces the content of `out`.
    pub fn decode_into<'a>(&self, row: &'a [u8], out: &mut Vec<ValueRef<'a>>) -> SqlResult<()> {
        out.clear();
        let mut pos = self.bitmap;
        if row.len() < pos {
            return Err(damaged());
        }
        for (i, c) in self.cols[..self.types.len()].iter().enumerate() {
            if self.is_null(row, i) {
                out.push(ValueRef::Null);
                continue;
            }
            let end = c.end(row, pos).ok_or_else(damaged)?;
            out.push(c.decode(&row[pos..end]).ok_or_else(damaged)?);
            pos = end;
        }
        Ok(())
    }

    /// Length of the row image at the start of `buf`, which may go on after it. Only lengths are checked, not values.
    pub fn row_len(&self, buf: &[u8]) -> SqlResult<usize> {
        let mut pos = self.bitmap;
        if buf.len() < pos {
            return Err(damaged());
        }
        for (i, c) in self.cols.iter().enumerate() {
            if !self.is_null(buf, i) {
                pos = c.end(buf, pos).ok_or_else(damaged)?;
            }
        }
        Ok(pos)
    }

    /// Appends the image of `old` with some columns changed. `changes`: positions and new values, each position at most once,
    /// in any order. On an error `out` holds a part of a row.
    pub fn patch(
        &self,
        old: &[u8],
        changes: &[(usize, ValueRef<'_>)],
        out: &mut Vec<u8>,
    ) -> SqlResult<()> {
        if old.len() < self.bitmap {
            return Err(damaged());
        }
        let start = out.len();
        out.extend_from_slice(&old[..self.bitmap]);
        let mut pos = self.bitmap;
        // Bytes of `old` up to here are in `out`.
        let mut copied = pos;
        for (i, c) in self.cols[..self.types.len()].iter().enumerate() {
            let end = if self.is_null(old, i) {
                pos
            } else {
                c.end(old, pos).ok_or_else(damaged)?
            };
            if let Some((_, v)) = changes.iter().find(|(k, _)| *k == i) {
                out.extend_from_slice(&old[copied..pos]);
                copied = end;
                let bit = 1u8 << (i % 8);
                if v.is_null() {
                    out[start + i / 8] |= bit;
                } else {
                    out[start + i / 8] &= !bit;
                    c.encode(i, *v, out)?;
                }
            }
            pos = end;
        }
        out.extend_from_slice(&old[copied..pos]);
        if self.hashed.is_empty() {
            return Ok(());
        }
        for i in self.types.len()..self.cols.len() {
            out[start + i / 8] |= 1 << (i % 8);
        }
        self.push_hashes(start, out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlobSize, Charset, Value};

    fn hex(s: &str) -> Vec<u8> {
        let d: Vec<u8> = s.bytes().filter(|b| !b.is_ascii_whitespace()).collect();
        d.chunks(2)
            .map(|c| u8::from_str_radix(std::str::from_utf8(c).unwrap(), 16).unwrap())
            .collect()
    }

    fn dt(date: Date, (h, mi, s): (u64, u64, u64), us: u64, fsp: u8) -> DateTime {
        DateTime::new(date, ((h * 60 + mi) * 60 + s) * 1_000_000 + us, fsp)
    }

    // MariaDB 10.11: varchar(255), varchar(10), tinytext, varbinary(300), COMPRESSED, latin1.
    #[test]
    fn compressed_columns_have_a_byte_in_front_of_their_values() {
        let latin1 = crate::Collation::from_id(8).unwrap();
        let l = RowLayout::new(&[
            ColumnType::text(TypeKind::VarChar(255), latin1),
            ColumnType::text(TypeKind::VarChar(10), latin1),
            ColumnType::text(TypeKind::Text(crate::BlobSize::Tiny), latin1),
            ColumnType::new(TypeKind::VarBinary(300)),
            ColumnType::int(),
        ])
        .with_headed(|_| true);
        let values = [
            Value::str("a"),
            Value::str(""),
            Value::str("tt"),
            Value::Bytes(b"q".to_vec().into()),
            Value::Int(7),
        ];
        let refs: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
        let mut row = Vec::new();
        l.encode(&refs, &mut row).unwrap();
        assert_eq!(row, b"\xe0\x02\0\0a\0\x03\0tt\x02\0\0q\x07\0\0\0");
        for (i, v) in refs.iter().enumerate() {
            assert_eq!(l.column(&row, i).unwrap(), *v);
        }
        let long = "c".repeat(255);
        let one = |n: usize| {
            let mut row = Vec::new();
            l.begin(&mut row);
            l.put(2, ValueRef::Str(&long.as_bytes()[..n]), &mut row)
        };
        assert!(one(254).is_ok());
        assert!(one(255).is_err());
        // What another server has compressed is no value of ours.
        row[3] = 0x89;
        assert!(l.column(&row, 0).is_err());
        assert!(l.column(&row, 2).is_ok());
    }

    #[test]
    fn full_texts_of_every_set_fit_in_utf8() {
        let kinds = [
            (TypeKind::Char(1), 1),
            (TypeKind::VarChar(100), 100),
            (TypeKind::Char(255), 255),
            (TypeKind::VarChar(16_000), 16_000),
            (TypeKind::Text(BlobSize::Tiny), 127),
            (TypeKind::Text(BlobSize::Normal), 32_000),
        ];
        for name in [
            "latin1", "cp1251", "ucs2", "sjis", "gbk", "utf16", "utf32", "euckr",
        ] {
            let set = Charset::from_name(name).unwrap();
            let widest = ['ﾇ', '日', '€', 'я', '😀']
                .into_iter()
                .find(|c| set.has(*c))
                .unwrap();
            for (kind, n) in kinds {
                let mut ty = ColumnType::new(kind);
                ty.collation = set.default_collation();
                let n = match kind {
                    TypeKind::Text(_) => n * 2 / set.char_bytes() as usize,
                    _ => n,
                };
                let text = widest.to_string().repeat(n);
                let l = RowLayout::in_utf8(&[ty, ColumnType::int()]);
                let mut row = Vec::new();
                let values = [ValueRef::Str(text.as_bytes()), ValueRef::Int(7)];
                l.encode(&values, &mut row).unwrap();
                assert_eq!(l.column(&row, 0).unwrap(), values[0], "{name} {kind:?}");
                assert_eq!(l.column(&row, 1).unwrap(), values[1]);
            }
        }
    }

    #[test]
    fn captured_row_of_mariadb() {
        let l = RowLayout::new(&[
            ColumnType::int(),
            ColumnType::varchar(20),
            ColumnType::decimal(10, 2),
            ColumnType::datetime(3),
            ColumnType::text(TypeKind::Text(BlobSize::Long), Default::default()),
        ]);
        let mut out = Vec::new();
        let d = |s| ValueRef::Decimal(Decimal::parse(s).unwrap());
        l.encode(
            &[
                ValueRef::Int(1),
                ValueRef::Str(b"x"),
                d("1.50"),
                ValueRef::DateTime(dt(Date::new(2024, 1, 2), (3, 4, 5), 678_000, 3)),
                ValueRef::Str(b"{\"k\":1}"),
            ],
            &mut out,
        )
        .unwrap();
        let first = out.len();
        l.encode(
            &[
                ValueRef::Int(2),
                ValueRef::Null,
                d("-2.00"),
                ValueRef::Null,
                ValueRef::Null,
            ],
            &mut out,
        )
        .unwrap();
        let want = hex(
            "e0 01000000 0178 8000000132 99b24431051a7c 07000000 7b226b223a317d fa 02000000 7ffffffdff",
        );
        assert_eq!(out, want);
        assert_eq!(l.row_len(&out).unwrap(), first);
        assert_eq!(l.column(&out[first..], 2).unwrap(), d("-2.00"));
        assert_eq!(l.column(&out, 4).unwrap(), ValueRef::Str(b"{\"k\":1}"));
        // Every cut of the row is reported, none panics.
        for n in 0..first {
            assert!(l.row_len(&out[..n]).is_err());
            assert!(l.column(&out[..n], 4).is_err());
        }
    }

    #[test]
    fn captured_values_of_mariadb() {
        let one = |ty: ColumnType, v: Value, want: &str| {
            let l = RowLayout::new(&[ty]);
            let mut out = Vec::new();
            l.encode(&[v.as_ref()], &mut out).unwrap();
            assert_eq!(out[1..], hex(want)[..], "{}", ty.sql_name());
            assert_eq!(l.column(&out, 0).unwrap().to_value(), v);
        };
        let n = ColumnType::new;
        one(
            ColumnType::decimal(20, 6),
            Value::Decimal(Decimal::parse("-12345678901234.567891").unwrap()),
            "7fcfc6d788ca0df755ac",
        );
        one(n(TypeKind::Year), Value::Int(2024), "7c");
        one(
            n(TypeKind::Date),
            Value::Date(Date::new(2024, 2, 3)),
            "43d00f",
        );
        let t = |us, fsp| Value::Time(Time::from_micros(us, fsp));
        one(n(TypeKind::Time(0)), t(-3_723_000_000, 0), "7fef7d");
        one(n(TypeKind::Time(3)), t(45_296_789_000, 3), "80c8b81ed2");
        one(
            n(TypeKind::DateTime(0)),
            Value::DateTime(dt(Date::new(2024, 2, 3), (4, 5, 6), 0, 0)),
            "99b2864146",
        );
        one(
            n(TypeKind::Timestamp(2)),
            Value::DateTime(dt(Date::new(2024, 2, 3), (4, 5, 6), 780_000, 2)),
            "65bdbb724e",
        );
        let of = Members::new(["b", "a", "C"].map(String::from).to_vec());
        let member = |m: Option<Member>| Value::Member(m.unwrap());
        one(
            ColumnType::text(TypeKind::Enum(of), Default::default()),
            member(Member::of_enum(of, 2)),
            "02",
        );
        one(
            ColumnType::text(TypeKind::Set(of), Default::default()),
            member(Member::of_set(of, 5)),
            "05",
        );
        one(
            n(TypeKind::Bit(10)),
            Value::Bits(Bits {
                value: 513,
                width: 10,
            }),
            "0201",
        );
        one(n(TypeKind::Time(2)), t(-10_000, 2), "7fffffff");
        one(n(TypeKind::MediumInt), Value::Int(-2), "feffff");
        one(
            ColumnType::unsigned(TypeKind::BigInt),
            Value::UInt(u64::MAX),
            "ffffffffffffffff",
        );
    }

    #[test]
    fn patch_changes_and_nulls() {
        let l = RowLayout::new(&[
            ColumnType::int(),
            ColumnType::int(),
            ColumnType::char(120),
            ColumnType::char(60),
        ]);
        let vals = [
            ValueRef::Int(7),
            ValueRef::Int(8),
            ValueRef::Str(b"hello  "),
            ValueRef::Str(b"pad"),
        ];
        let mut old = Vec::new();
        l.encode(&vals, &mut old).unwrap();
        for changes in [
            vec![(1, ValueRef::Int(-9))],
            vec![(3, ValueRef::Str(b"longer")), (0, ValueRef::Null)],
            vec![(2, ValueRef::Null)],
            vec![],
        ] {
            let mut want_vals = vals;
            for (i, v) in &changes {
                want_vals[*i] = *v;
            }
            let (mut want, mut got) = (Vec::new(), Vec::new());
            l.encode(&want_vals, &mut want).unwrap();
            l.patch(&old, &changes, &mut got).unwrap();
            assert_eq!(got, want);
            // And back, over rows with NULLs.
            let back: Vec<_> = changes.iter().map(|(i, _)| (*i, vals[*i])).collect();
            let mut again = Vec::new();
            l.patch(&got, &back, &mut again).unwrap();
            assert_eq!(again, old);
            for (i, want) in want_vals.iter().enumerate() {
                let got_v = l.column(&got, i).unwrap();
                if i == 2 && !want.is_null() {
                    assert_eq!(got_v, ValueRef::Str(b"hello"));
                } else {
                    assert_eq!(got_v, *want);
                }
            }
        }
    }

    #[test]
    fn values_out_of_domain_are_refused() {
        let l = RowLayout::new(&[ColumnType::new(TypeKind::TinyInt)]);
        let mut out = Vec::new();
        assert!(l.encode(&[ValueRef::Int(128)], &mut out).is_err());
        assert!(l.encode(&[ValueRef::Str(b"1")], &mut out).is_err());
        assert!(l.encode(&[], &mut out).is_err());
    }

    mod round_trip {
        use super::*;
        use proptest::prelude::*;

        fn column() -> impl Strategy<Value = (ColumnType, Value)> {
            let text = "[a-zé]{0,12}".prop_map(Value::str);
            prop_oneof![
                any::<i32>().prop_map(|v| (ColumnType::int(), Value::Int(v as i64))),
                (-8_388_608i64..8_388_608)
                    .prop_map(|v| (ColumnType::new(TypeKind::MediumInt), Value::Int(v))),
                any::<u64>().prop_map(|v| (ColumnType::unsigned(TypeKind::BigInt), Value::UInt(v))),
                any::<f32>()
                    .prop_filter("number", |f| !f.is_nan())
                    .prop_map(|v| (ColumnType::new(TypeKind::Float), Value::Float(v))),
                any::<i32>().prop_map(|v| (
                    ColumnType::decimal(12, 2),
                    Value::Decimal(Decimal::from_i128(v as i128, 2))
                )),
                (-20i64..20).prop_map(|v| (
                    ColumnType::decimal(18, 18),
                    Value::Decimal(Decimal::from_i128(v as i128, 18))
                )),
                (0i64..253_402_300_799_000_000).prop_map(|v| (
                    ColumnType::datetime(6),
                    Value::DateTime(DateTime::from_unix_micros(v, 6).unwrap())
                )),
                (0u16..2000, 0u8..13, 0u8..32).prop_map(|(y, m, d)| (
                    ColumnType::new(TypeKind::Date),
                    Value::Date(Date::new(y, m, d))
                )),
                any::<i64>().prop_map(|v| (
                    ColumnType::decimal(30, 5),
                    Value::Decimal(Decimal::from_i128(v as i128, 5))
                )),
                text.clone().prop_map(|v| (ColumnType::char(12), v)),
                text.clone().prop_map(|v| (ColumnType::varchar(100), v)),
                text.prop_map(|v| (
                    ColumnType::text(TypeKind::Text(BlobSize::Medium), Default::default()),
                    v
                )),
                (0u64..=300).prop_map(|n| {
                    let of = Members::new((0..300).map(|i| format!("m{i}")).collect());
                    let ty = ColumnType::text(TypeKind::Enum(of), Default::default());
                    (ty, Value::Member(Member::of_enum(of, n).unwrap()))
                }),
                (0u64..1 << 20).prop_map(|n| {
                    let of = Members::new((0..20).map(|i| format!("m{i}")).collect());
                    let ty = ColumnType::text(TypeKind::Set(of), Default::default());
                    (ty, Value::Member(Member::of_set(of, n).unwrap()))
                }),
                (0u64..1 << 10).prop_map(|value| {
                    let ty = ColumnType::new(TypeKind::Bit(10));
                    (ty, Value::Bits(Bits { value, width: 10 }))
                }),
                any::<[u8; 4]>().prop_map(|v| (
                    ColumnType::new(TypeKind::Binary(4)),
                    Value::bytes(v.to_vec())
                )),
                Just((ColumnType::datetime(2), Value::Null)),
            ]
        }

        proptest! {
            #[test]
            fn rows(cols in proptest::collection::vec((column(), any::<bool>()), 1..20)) {
                let types: Vec<ColumnType> = cols.iter().map(|((t, _), _)| *t).collect();
                let values: Vec<Value> = cols
                    .iter()
                    .map(|((_, v), null)| if *null { Value::Null } else { v.clone() })
                    .collect();
                let refs: Vec<ValueRef<'_>> = values.iter().map(Value::as_ref).collect();
                let l = RowLayout::new(&types);
                let mut row = Vec::new();
                l.encode(&refs, &mut row).unwrap();
                let mut all = Vec::new();
                l.decode_into(&row, &mut all).unwrap();
                prop_assert_eq!(&all, &refs);
                for (i, v) in refs.iter().enumerate() {
                    prop_assert_eq!(&l.column(&row, i).unwrap(), v);
                    prop_assert_eq!(l.is_null(&row, i), v.is_null());
                }
                let len = row.len();
                prop_assert_eq!(l.row_len(&row).unwrap(), len);
                row.extend_from_slice(b"next");
                prop_assert_eq!(l.row_len(&row).unwrap(), len);
            }

            #[test]
            fn parts_and_keys(
                cols in proptest::collection::vec((column(), column(), any::<[bool; 3]>()), 1..20),
            ) {
                // Two rows of one table: the second has the first's value where the types differ.
                let types: Vec<ColumnType> = cols.iter().map(|((t, _), ..)| *t).collect();
                let mut rows = [Vec::new(), Vec::new()];
                let mut wanted = Vec::new();
                for (i, ((t, v), (u, w), [a, b, want])) in cols.iter().enumerate() {
                    let w = if t == u { w } else { v };
                    rows[0].push(if *a { Value::Null } else { v.clone() });
                    rows[1].push(if *b { Value::Null } else { w.clone() });
                    if *want {
                        wanted.push(i);
                    }
                }
                let l = RowLayout::new(&types);
                let images = rows.each_ref().map(|r| {
                    let refs: Vec<ValueRef<'_>> = r.iter().map(Value::as_ref).collect();
                    let mut out = Vec::new();
                    l.encode(&refs, &mut out).unwrap();
                    out
                });
                for (row, image) in rows.iter().zip(&images) {
                    let mut part = b"before".to_vec();
                    l.project(image, &wanted, &mut part).unwrap();
                    let part = &part[6..];
                    prop_assert_eq!(l.row_len(part).unwrap(), part.len());
                    let mut copy = Vec::new();
                    l.begin(&mut copy);
                    for (i, v) in row.iter().enumerate() {
                        prop_assert!(l.takes_bytes(i, &l, i));
                        match i % 2 {
                            0 => l.put_bytes(i, (&l, image, i), &mut copy).unwrap(),
                            _ => l.put(i, v.as_ref(), &mut copy).unwrap(),
                        }
                    }
                    prop_assert_eq!(&copy, image);
                    for (i, v) in row.iter().enumerate() {
                        let want = if wanted.contains(&i) { v.as_ref() } else { ValueRef::Null };
                        prop_assert_eq!(l.column(part, i).unwrap(), want);
                        if let (Value::Decimal(d), Some((units, scale))) = (v, l.units(image, i)) {
                            prop_assert_eq!(Decimal::from_i128(units.into(), scale), *d);
                        }
                    }
                }
                for (i, pair) in rows[0].iter().zip(&rows[1]).enumerate() {
                    let keys = images.each_ref().map(|image| {
                        let mut out = Vec::new();
                        l.order_key(image, i, &mut out).unwrap().then_some(out)
                    });
                    let [Some(a), Some(b)] = keys else { continue };
                    let want = match pair {
                        (Value::Null, Value::Null) => std::cmp::Ordering::Equal,
                        (Value::Null, _) => std::cmp::Ordering::Less,
                        (_, Value::Null) => std::cmp::Ordering::Greater,
                        (Value::Int(x), Value::Int(y)) => x.cmp(y),
                        (Value::UInt(x), Value::UInt(y)) => x.cmp(y),
                        (Value::Decimal(x), Value::Decimal(y)) => x.cmp(y),
                        (Value::Date(x), Value::Date(y)) => x.cmp(y),
                        (Value::DateTime(x), Value::DateTime(y)) => (x.date, x.micros).cmp(&(y.date, y.micros)),
                        other => panic!("no order known: {other:?}"),
                    };
                    prop_assert_eq!(a.cmp(&b), want);
                    prop_assert!(a == b || !b.starts_with(&a));
                }
            }

            #[test]
            fn hostile_bytes(cols in proptest::collection::vec(column(), 1..12), bytes: Vec<u8>) {
                let types: Vec<ColumnType> = cols.iter().map(|(t, _)| *t).collect();
                let l = RowLayout::new(&types);
                let mut all = Vec::new();
                let _ = l.decode_into(&bytes, &mut all);
                let mut out = Vec::new();
                for i in 0..types.len() + 1 {
                    let _ = l.column(&bytes, i);
                    let _ = l.units(&bytes, i);
                    let _ = l.order_key(&bytes, i, &mut out);
                    let _ = l.project(&bytes, &[i], &mut out);
                }
                if let Ok(n) = l.row_len(&bytes) {
                    prop_assert!(n <= bytes.len());
                }
                let mut out = Vec::new();
                let _ = l.patch(&bytes, &[(0, ValueRef::Null)], &mut out);
            }
        }
    }
}
