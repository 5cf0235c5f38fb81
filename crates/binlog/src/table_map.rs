//! TABLE_MAP events, read.

use smallvec::SmallVec;

use crate::column::{ColumnMeta, column_type, is_character, is_enum_or_set, is_numeric, real_type};
use crate::error::BinlogError;
use crate::lenenc::Reader;
use crate::template::field;
use crate::value::{bit, metadata_len};

/// Most columns accepted; servers stop at 4096.
const MAX_COLUMNS: usize = 1 << 14;
/// Most members of an ENUM.
const MAX_LABELS: usize = 65_535;

/// A table as a TABLE_MAP event tells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableMap<'a> {
    /// Id by which rows events refer to it.
    pub table_id: u64,
    /// 0x0001 bit lengths are exact, 0x4000 the table has triggers.
    pub flags: u16,
    /// Database name.
    pub db: &'a str,
    /// Table name.
    pub table: &'a str,
    types: &'a [u8],
    metas: Vec<&'a [u8]>,
    nullable: &'a [u8],
    optional: &'a [u8],
}

impl<'a> TableMap<'a> {
    pub(crate) fn parse(body: &'a [u8]) -> Result<Self, BinlogError> {
        let mut reader = Reader::new(body, "a table map");
        let table_id = reader.uint(6)?;
        let flags = reader.u16()?;
        let db = name(&mut reader)?;
        let table = name(&mut reader)?;
        let columns = reader.lenenc_len()?;
        if columns == 0 || columns > MAX_COLUMNS {
            return Err(BinlogError::TooLarge {
                what: "number of columns",
                size: columns as u64,
                limit: MAX_COLUMNS as u64,
            });
        }
        let types = reader.bytes(columns)?;
        let mut meta = Reader::new(reader.lenenc_str()?, "a table map's column metadata");
        let mut metas = Vec::with_capacity(columns);
        for &code in types {
            metas.push(meta.bytes(metadata_len(code)?)?);
        }
        if !meta.is_empty() {
            return Err(BinlogError::Invalid(
                "more column metadata than columns in a table map",
            ));
        }
        let nullable = reader.bytes(columns.div_ceil(8))?;
        Ok(Self {
            table_id,
            flags,
            db,
            table,
            types,
            metas,
            nullable,
            optional: reader.rest(),
        })
    }

    /// Number of columns.
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.types.len()
    }

    /// Type code and metadata of column `i`; (NULL, none) beyond the last.
    #[must_use]
    pub fn column_type(&self, i: usize) -> (u8, &'a [u8]) {
        match (self.types.get(i), self.metas.get(i)) {
            (Some(&code), Some(&meta)) => (code, meta),
            _ => (column_type::NULL, &[]),
        }
    }

    /// The optional metadata fields, as (field type, value), not taken apart.
    pub fn optional_fields(
        &self,
    ) -> impl Iterator<Item = Result<(u8, &'a [u8]), BinlogError>> + use<'a> {
        let mut reader = Reader::new(self.optional, "a table map's optional metadata");
        std::iter::from_fn(move || {
            if reader.is_empty() {
                return None;
            }
            let field = (|| Ok((reader.u8()?, reader.lenenc_str()?)))();
            if field.is_err() {
                reader = Reader::new(&[], "");
            }
            Some(field)
        })
    }

    /// All columns, with whatever the optional metadata tells: without it names are empty, signs and
    /// collations unknown.
    ///
    /// # Errors
    /// [`BinlogError::Truncated`] or [`BinlogError::Invalid`] if the optional metadata does not fit the
    /// columns.
    pub fn columns(&self) -> Result<Vec<ColumnMeta>, BinlogError> {
        let mut columns: Vec<ColumnMeta> = (0..self.column_count())
            .map(|i| {
                let (type_code, meta) = self.column_type(i);
                ColumnMeta {
                    type_code,
                    meta: SmallVec::from_slice(meta),
                    numeric: is_numeric(real_type(type_code, meta)),
                    nullable: bit(self.nullable, i),
                    ..ColumnMeta::default()
                }
            })
            .collect();
        let indexes = |wanted: &dyn Fn(u8) -> bool| -> Vec<usize> {
            (0..self.column_count())
                .filter(|&i| wanted(real_type(self.types[i], self.metas[i])))
                .collect()
        };
        for item in self.optional_fields() {
            let (field, value) = item?;
            let mut reader = Reader::new(value, "a table map's optional metadata");
            match field {
                field::SIGNEDNESS => {
                    for (nth, i) in indexes(&is_numeric).into_iter().enumerate() {
                        let byte = *value
                            .get(nth / 8)
                            .ok_or(BinlogError::Truncated("the signedness of columns"))?;
                        columns[i].unsigned = byte >> (7 - nth % 8) & 1 != 0;
                    }
                }
                field::DEFAULT_CHARSET => {
                    default_charset(&mut reader, &indexes(&is_character), &mut columns)?;
                }
                field::ENUM_AND_SET_DEFAULT_CHARSET => {
                    default_charset(&mut reader, &indexes(&is_enum_or_set), &mut columns)?;
                }
                field::COLUMN_CHARSET => {
                    for i in indexes(&is_character) {
                        columns[i].collation = Some(collation(&mut reader)?);
                    }
                }
                field::ENUM_AND_SET_COLUMN_CHARSET => {
                    for i in indexes(&is_enum_or_set) {
                        columns[i].collation = Some(collation(&mut reader)?);
                    }
                }
                field::COLUMN_NAME => {
                    for column in &mut columns {
                        column.name = utf8(reader.lenenc_str()?)?.to_owned();
                    }
                }
                field::SET_STR_VALUE => {
                    for i in indexes(&|t| t == column_type::SET) {
                        columns[i].labels = labels(&mut reader)?;
                    }
                }
                field::ENUM_STR_VALUE => {
                    for i in indexes(&|t| t == column_type::ENUM) {
                        columns[i].labels = labels(&mut reader)?;
                    }
                }
                _ => {}
            }
        }
        Ok(columns)
    }

    /// The primary key's columns, each with its prefix length in characters (0 for the whole column); empty
    /// if there is none or the metadata does not tell.
    ///
    /// # Errors
    /// As [`columns`](Self::columns).
    pub fn primary_key(&self) -> Result<Vec<(usize, u32)>, BinlogError> {
        let mut key = Vec::new();
        for item in self.optional_fields() {
            let (field, value) = item?;
            let prefixes = match field {
                field::SIMPLE_PRIMARY_KEY => false,
                field::PRIMARY_KEY_WITH_PREFIX => true,
                _ => continue,
            };
            let mut reader = Reader::new(value, "a table map's primary key");
            while !reader.is_empty() {
                let column = reader.lenenc()?;
                let prefix = if prefixes { reader.lenenc()? } else { 0 };
                if column >= self.column_count() as u64 || key.len() == self.column_count() {
                    return Err(BinlogError::Invalid(
                        "primary key column that the table does not have",
                    ));
                }
                let prefix = u32::try_from(prefix)
                    .map_err(|_| BinlogError::Invalid("length of a primary key prefix"))?;
                key.push((column as usize, prefix));
            }
        }
        Ok(key)
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, BinlogError> {
    std::str::from_utf8(bytes).map_err(|_| BinlogError::Invalid("name that is not UTF-8"))
}

fn name<'a>(reader: &mut Reader<'a>) -> Result<&'a str, BinlogError> {
    let len = usize::from(reader.u8()?);
    let name = utf8(reader.bytes(len)?)?;
    match reader.u8()? {
        0 => Ok(name),
        _ => Err(BinlogError::Invalid("name without its NUL in a table map")),
    }
}

fn collation(reader: &mut Reader<'_>) -> Result<u16, BinlogError> {
    u16::try_from(reader.lenenc()?).map_err(|_| BinlogError::Invalid("collation id"))
}

fn default_charset(
    reader: &mut Reader<'_>,
    indexes: &[usize],
    columns: &mut [ColumnMeta],
) -> Result<(), BinlogError> {
    let default = collation(reader)?;
    for &i in indexes {
        columns[i].collation = Some(default);
    }
    while !reader.is_empty() {
        let nth = reader.lenenc()?;
        let id = collation(reader)?;
        let i = usize::try_from(nth).ok().and_then(|nth| indexes.get(nth));
        let &i = i.ok_or(BinlogError::Invalid(
            "collation of a column that the table does not have",
        ))?;
        columns[i].collation = Some(id);
    }
    Ok(())
}

fn labels(reader: &mut Reader<'_>) -> Result<Vec<Vec<u8>>, BinlogError> {
    let count = reader.lenenc_len()?;
    if count > MAX_LABELS {
        return Err(BinlogError::Invalid("number of members of an ENUM or SET"));
    }
    (0..count)
        .map(|_| Ok(reader.lenenc_str()?.to_vec()))
        .collect()
}
