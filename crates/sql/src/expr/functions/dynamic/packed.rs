//! The bytes of a value with dynamic columns, as MariaDB documents them.
//!
//! A byte of flags, the number of columns, with names the length of all of them; then an entry a column; then the names; then
//! the data of all columns. Numbers are little-endian. An entry is a number, or where the name begins, in two bytes; and where
//! the data begins, shifted to the left by the bits of the kind, in as many bytes as the flags say. Entries are sorted: numbers
//! by value, names by length and then by bytes. Each name, and the data of each column, ends where the next one begins.

use std::cmp::Ordering;

/// Flag: columns have names.
const NAMED: u8 = 4;

/// Columns that one value can have, and bytes of all names.
const MOST: usize = u16::MAX as usize;

/// What a column is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Name {
    Number(u16),
    Text(Vec<u8>),
}

impl Name {
    /// The name in a value whose columns have names.
    pub(super) fn into_text(self) -> Name {
        match self {
            Name::Number(n) => Name::Text(n.to_string().into_bytes()),
            name => name,
        }
    }

    /// The name as it is shown.
    pub(super) fn shown(&self) -> Vec<u8> {
        match self {
            Name::Number(n) => n.to_string().into_bytes(),
            Name::Text(t) => t.clone(),
        }
    }

    fn order(&self, other: &Name) -> Ordering {
        match (self, other) {
            (Name::Number(a), Name::Number(b)) => a.cmp(b),
            (Name::Text(a), Name::Text(b)) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
            (Name::Number(_), Name::Text(_)) => Ordering::Less,
            (Name::Text(_), Name::Number(_)) => Ordering::Greater,
        }
    }
}

/// A column: its name, the number of its kind, its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Column<'b> {
    pub(super) name: Name,
    pub(super) kind: u8,
    pub(super) data: std::borrow::Cow<'b, [u8]>,
}

/// A value taken apart.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Packed<'b> {
    /// Columns have names, not numbers.
    pub(super) named: bool,
    /// In the order of their names.
    pub(super) columns: Vec<Column<'b>>,
}

/// Why columns can't be put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unpackable {
    /// Two have one name.
    Twice,
    /// Too many columns, or too long names.
    TooMuch,
}

/// A little-endian number of up to eight bytes.
pub(super) fn little(b: &[u8]) -> u64 {
    b.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b))
}

/// Bits of an entry that are its kind.
fn kind_bits(named: bool) -> u32 {
    if named { 4 } else { 3 }
}

/// Bytes in which an entry has its offset: as few as hold every place in so many bytes of data.
fn offset_bytes(named: bool, data: usize) -> usize {
    let (least, most) = if named { (2, 5) } else { (1, 4) };
    (least..most)
        .find(|n| (data as u64) < (1 << (8 * n - kind_bits(named) as usize)) - 1)
        .unwrap_or(most)
}

impl<'b> Packed<'b> {
    /// Takes bytes apart; `None` if they are no dynamic columns.
    pub(super) fn read(b: &'b [u8]) -> Option<Packed<'b>> {
        let Some(&flags) = b.first() else {
            return Some(Packed::default());
        };
        if flags > 7 {
            return None;
        }
        let named = flags & NAMED != 0;
        let count = little(b.get(1..3)?) as usize;
        let head = if named { 5 } else { 3 };
        let names_len = match named {
            true => little(b.get(3..5)?) as usize,
            false => 0,
        };
        let width = usize::from(flags & 3) + if named { 2 } else { 1 };
        let entries = b.get(head..head + count * (2 + width))?;
        let behind = &b[head + entries.len()..];
        let names = behind.get(..names_len)?;
        let data = &behind[names_len..];
        // Where each column begins: its name or number, its data, and its kind.
        let mut starts = Vec::with_capacity(count);
        for e in entries.chunks_exact(2 + width) {
            let place = little(&e[2..]);
            let kind = (place & ((1 << kind_bits(named)) - 1)) as u8;
            let offset = usize::try_from(place >> kind_bits(named)).ok()?;
            starts.push((little(&e[..2]) as usize, offset, kind));
        }
        let mut columns: Vec<Column<'b>> = Vec::with_capacity(count);
        for (i, (name, offset, kind)) in starts.iter().enumerate() {
            let next = starts.get(i + 1);
            let name = match named {
                false => Name::Number(*name as u16),
                true => {
                    let end = next.map_or(names.len(), |n| n.0);
                    Name::Text(names.get(*name..end)?.to_vec())
                }
            };
            if (columns.last()).is_some_and(|last| last.name.order(&name) != Ordering::Less) {
                return None;
            }
            let end = next.map_or(data.len(), |n| n.1);
            columns.push(Column {
                name,
                kind: *kind,
                data: data.get(*offset..end)?.into(),
            });
        }
        Some(Packed { named, columns })
    }

    /// Puts the columns together.
    pub(super) fn write(mut self) -> Result<Vec<u8>, Unpackable> {
        self.columns.sort_by(|a, b| a.name.order(&b.name));
        if self.columns.windows(2).any(|w| w[0].name == w[1].name) {
            return Err(Unpackable::Twice);
        }
        let data: usize = self.columns.iter().map(|c| c.data.len()).sum();
        let width = offset_bytes(self.named, data);
        let mut names = Vec::new();
        let mut entries = Vec::new();
        let mut offset = 0u64;
        for c in &self.columns {
            let name = match &c.name {
                Name::Number(n) => *n,
                Name::Text(t) => {
                    let at = names.len();
                    names.extend_from_slice(t);
                    u16::try_from(at).map_err(|_| Unpackable::TooMuch)?
                }
            };
            entries.extend_from_slice(&name.to_le_bytes());
            let place = offset << kind_bits(self.named) | u64::from(c.kind);
            entries.extend_from_slice(&place.to_le_bytes()[..width]);
            offset += c.data.len() as u64;
        }
        if self.columns.len() > MOST || names.len() > MOST || offset >= 1 << 28 {
            return Err(Unpackable::TooMuch);
        }
        let least = if self.named { 2 } else { 1 };
        let mut out = vec![(width - least) as u8 | if self.named { NAMED } else { 0 }];
        out.extend_from_slice(&(self.columns.len() as u16).to_le_bytes());
        if self.named {
            out.extend_from_slice(&(names.len() as u16).to_le_bytes());
        }
        out.extend_from_slice(&entries);
        out.extend_from_slice(&names);
        self.columns
            .iter()
            .for_each(|c| out.extend_from_slice(&c.data));
        Ok(out)
    }

    /// The column of a name.
    pub(super) fn find(&self, name: &Name) -> Option<&Column<'b>> {
        let name = match (name, self.named) {
            (Name::Number(_), false) | (Name::Text(_), true) => name.clone(),
            (Name::Number(_), true) => name.clone().into_text(),
            (Name::Text(t), false) => {
                let digits = std::str::from_utf8(t).ok()?;
                Name::Number(digits.parse().ok()?)
            }
        };
        let at = self
            .columns
            .binary_search_by(|c| c.name.order(&name))
            .ok()?;
        self.columns.get(at)
    }

    /// Gives the columns names.
    pub(super) fn name_columns(&mut self) {
        self.named = true;
        for c in &mut self.columns {
            c.name = std::mem::replace(&mut c.name, Name::Number(0)).into_text();
        }
        self.columns.sort_by(|a, b| a.name.order(&b.name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(name: Name, data: usize) -> Column<'static> {
        Column {
            name,
            kind: 3,
            data: vec![b'x'; data].into(),
        }
    }

    #[test]
    fn what_is_written_can_be_read() {
        for size in [0, 30, 31, 4094, 4095, 8190, 8191, 70_000, 1 << 21] {
            for named in [false, true] {
                let name = |n: u16| match named {
                    false => Name::Number(n),
                    true => Name::Text(vec![b'n'; n.into()]),
                };
                let packed = Packed {
                    named,
                    columns: vec![column(name(1), size), column(name(20), 3)],
                };
                let bytes = packed.clone().write().unwrap();
                assert_eq!(Packed::read(&bytes), Some(packed), "{size} {named}");
                // No beginning of it is read past its end.
                (0..bytes.len().min(200)).for_each(|n| drop(Packed::read(&bytes[..n])));
            }
        }
    }

    #[test]
    fn two_columns_of_one_name_are_refused() {
        let packed = Packed {
            named: false,
            columns: vec![column(Name::Number(1), 1), column(Name::Number(1), 2)],
        };
        assert_eq!(packed.write(), Err(Unpackable::Twice));
    }
}
