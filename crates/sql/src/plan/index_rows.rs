//! Rows made of index entries: where an index has all columns that a statement looks at, the rows are not read.

use narwal_engine::Table;
use narwal_types::errors;
use narwal_types::key::KeyPart;
use narwal_types::key_decode::{is_whole, key_width, push_row_bytes};
use narwal_types::{ColumnType, SqlError, SqlResult};

/// Where a part of an index stands in its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// So many parts, none of them text, stand before it.
    Front,
    /// So many bytes behind its start the parts end.
    Back(usize),
}

/// A column that an index has.
#[derive(Debug, Clone)]
struct Field {
    column: usize,
    ty: ColumnType,
    /// Position among the parts of the key that has it.
    part: usize,
    place: Place,
    /// It is a part of the clustered key behind the index's own.
    in_pk: bool,
}

/// The columns that entries of an index have.
#[derive(Debug, Clone)]
pub struct IndexRows {
    /// In the order of the table's columns.
    fields: Vec<Field>,
    parts: Vec<KeyPart>,
    types: Vec<ColumnType>,
    pk_parts: Vec<KeyPart>,
    /// The bitmap of a row in which all these columns have values.
    bitmap: Vec<u8>,
}

/// Bytes of an index's entries, roughly: what reads as a whole are compared by.
pub fn entry_width(table: &Table, index: usize) -> usize {
    let types = table.layout.columns();
    let parts = table.indexes[index].parts.iter();
    parts
        .map(|p| match key_width(&types[p.column]) {
            Some(n) => n + usize::from(p.nullable),
            // Text: half of what it may have.
            None => {
                let most = types[p.column].max_bytes().unwrap_or(255).min(1024) as usize / 2;
                p.prefix.map_or(most, |n| most.min(usize::from(n)))
            }
        })
        .sum()
}

/// Where part `n` stands, if that does not depend on text.
fn place(parts: &[KeyPart], n: usize, types: &[ColumnType]) -> Option<Place> {
    let width = |p: &KeyPart| match p.prefix {
        None => key_width(&types[p.column]),
        Some(_) => None,
    };
    if parts[..=n].iter().all(|p| width(p).is_some()) {
        return Some(Place::Front);
    }
    let mut behind = 0;
    for p in &parts[n..] {
        if p.nullable {
            return None;
        }
        behind += width(p)?;
    }
    Some(Place::Back(behind))
}

#[cold]
fn damaged() -> SqlError {
    errors::CRASHED_ON_USAGE.text("An index entry is damaged")
}

/// One part of a key, from its start: the bytes of its value (`None` for NULL), and those behind it.
fn split_part<'k>(
    key: &'k [u8],
    part: &KeyPart,
    ty: &ColumnType,
) -> Option<(Option<&'k [u8]>, &'k [u8])> {
    let mut key = key;
    if part.nullable {
        let (flag, rest) = key.split_first()?;
        key = rest;
        if *flag == if part.desc { 0xff } else { 0 } {
            return Some((None, key));
        }
    }
    let (value, rest) = key.split_at_checked(key_width(ty)?)?;
    Some((Some(value), rest))
}

/// The parts of an entry of a secondary index, without the clustered key and its length.
fn own_parts<'k>(key: &'k [u8], pk: &[u8]) -> &'k [u8] {
    &key[..key.len().saturating_sub(pk.len() + 2)]
}

impl IndexRows {
    /// If the entries of an index have all these columns.
    pub fn of(table: &Table, index: usize, columns: &[usize]) -> Option<IndexRows> {
        let types = table.layout.columns();
        let parts = &table.indexes.get(index).filter(|_| index > 0)?.parts;
        let pk_parts = &table.indexes[0].parts;
        let mut columns = columns.to_vec();
        columns.sort_unstable();
        columns.dedup();
        let mut fields = Vec::with_capacity(columns.len());
        for column in columns {
            let ty = *types.get(column)?;
            if !is_whole(&ty) {
                return None;
            }
            let find = |parts: &[KeyPart]| {
                let n = parts.iter().position(|p| p.column == column)?;
                Some((n, place(parts, n, types)?))
            };
            let (part, place, in_pk) = match find(parts) {
                Some((n, place)) => (n, place, false),
                None => {
                    let (n, place) = find(pk_parts)?;
                    (n, place, true)
                }
            };
            fields.push(Field {
                column,
                ty,
                part,
                place,
                in_pk,
            });
        }
        let mut bitmap = vec![0xff; types.len().div_ceil(8)];
        for f in &fields {
            bitmap[f.column / 8] &= !(1 << (f.column % 8));
        }
        Some(IndexRows {
            fields,
            parts: parts.clone(),
            types: types.to_vec(),
            pk_parts: pk_parts.clone(),
            bitmap,
        })
    }

    /// Makes the image of a row, in place of what `out` holds: NULL but for the index's columns.
    pub fn image(&self, key: &[u8], pk: &[u8], out: &mut Vec<u8>) -> SqlResult<()> {
        out.clear();
        out.extend_from_slice(&self.bitmap);
        let own = own_parts(key, pk);
        let mut ascending = [0u8; 40];
        for f in &self.fields {
            let (parts, key) = match f.in_pk {
                true => (&self.pk_parts, pk),
                false => (&self.parts, own),
            };
            let part = &parts[f.part];
            let mut rest = match f.place {
                Place::Front => key,
                Place::Back(n) => &key[key.len().saturating_sub(n)..],
            };
            if f.place == Place::Front {
                for p in &parts[..f.part] {
                    (_, rest) = split_part(rest, p, &self.types[p.column]).ok_or_else(damaged)?;
                }
            }
            let (value, _) = split_part(rest, part, &f.ty).ok_or_else(damaged)?;
            let Some(mut value) = value else {
                out[f.column / 8] |= 1 << (f.column % 8);
                continue;
            };
            if part.desc {
                let copy = ascending.get_mut(..value.len()).ok_or_else(damaged)?;
                for (a, b) in copy.iter_mut().zip(value) {
                    *a = !b;
                }
                value = copy;
            }
            if !push_row_bytes(value, &f.ty, out) {
                return Err(damaged());
            }
        }
        Ok(())
    }
}

/// How to tell the groups of an index's first parts from each other.
#[derive(Debug, Clone)]
pub enum GroupPrefix {
    /// They are all parts.
    Whole,
    /// The other parts take so many bytes.
    WithoutLast(usize),
    /// The first parts are no text.
    Front(Vec<(KeyPart, ColumnType)>),
}

impl GroupPrefix {
    /// For the first `n` parts of an index; `None` where text behind them hides their end.
    pub fn of(table: &Table, index: usize, n: usize) -> Option<GroupPrefix> {
        let types = table.layout.columns();
        let parts = &table.indexes.get(index)?.parts;
        if n >= parts.len() {
            return Some(GroupPrefix::Whole);
        }
        match place(parts, n, types) {
            Some(Place::Back(behind)) => Some(GroupPrefix::WithoutLast(behind)),
            _ => match place(parts, n - 1, types)? {
                Place::Front => Some(GroupPrefix::Front(
                    parts[..n]
                        .iter()
                        .map(|p| (p.clone(), types[p.column]))
                        .collect(),
                )),
                Place::Back(_) => None,
            },
        }
    }

    /// The bytes of a key that its group has in common.
    pub fn cut<'k>(&self, index: usize, key: &'k [u8], pk: &[u8]) -> SqlResult<&'k [u8]> {
        let own = if index == 0 { key } else { own_parts(key, pk) };
        let len = match self {
            GroupPrefix::Whole => own.len(),
            GroupPrefix::WithoutLast(n) => own.len().saturating_sub(*n),
            GroupPrefix::Front(parts) => {
                let mut rest = own;
                for (p, ty) in parts {
                    (_, rest) = split_part(rest, p, ty).ok_or_else(damaged)?;
                }
                own.len() - rest.len()
            }
        };
        Ok(&own[..len])
    }
}
