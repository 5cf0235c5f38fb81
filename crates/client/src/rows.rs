//! Result sets of the text protocol.

use crate::channel::{Channel, server_error};
use crate::connection::{Connection, Done};
use crate::{Error, Result};
use narwal_wire::codec::Cursor;
use narwal_wire::protocol::column_flag;

/// Most columns of a result; servers stop at 4096.
const MAX_COLUMNS: u64 = 1 << 14;

/// A column of a result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Type, one of [`narwal_wire::protocol::wire`].
    pub kind: u8,
    /// Bits of [`narwal_wire::protocol::column_flag`].
    pub flags: u16,
    /// Collation id; 63 for bytes.
    pub collation: u16,
    /// Digits behind the decimal point, or of a fraction of a second.
    pub decimals: u8,
    /// Longest value in bytes.
    pub length: u32,
}

impl Column {
    fn parse(payload: &[u8]) -> Result<Self> {
        let mut c = Cursor::new(payload);
        // Catalog, database, table, original table.
        for _ in 0..4 {
            c.lenenc_bytes()?;
        }
        let name = String::from_utf8_lossy(c.lenenc_bytes()?).into_owned();
        c.lenenc_bytes()?;
        let mut fixed = Cursor::new(c.lenenc_bytes()?);
        Ok(Column {
            name,
            collation: fixed.u16()?,
            length: fixed.u32()?,
            kind: fixed.u8()?,
            flags: fixed.u16()?,
            decimals: fixed.u8()?,
        })
    }

    /// An unsigned number.
    #[must_use]
    pub fn is_unsigned(&self) -> bool {
        self.flags & column_flag::UNSIGNED != 0
    }
}

/// An EOF packet: never longer, where a row that begins with 0xFE is.
pub(crate) fn is_eof(payload: &[u8]) -> bool {
    payload.first() == Some(&0xFE) && payload.len() < 9
}

/// Reads `count` column definitions and the EOF behind them.
pub(crate) fn columns(channel: &mut Channel, count: u64) -> Result<Vec<Column>> {
    if count == 0 || count > MAX_COLUMNS {
        return Err(Error::Protocol("a result of no or too many columns"));
    }
    let mut columns = Vec::new();
    for _ in 0..count {
        columns.push(Column::parse(channel.read()?)?);
    }
    match channel.read()? {
        p if is_eof(p) => Ok(columns),
        _ => Err(Error::Protocol("no end behind the columns")),
    }
}

/// One row: a value for each column, `None` for NULL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row<'a> {
    values: Vec<Option<&'a [u8]>>,
}

impl<'a> Row<'a> {
    fn parse(payload: &'a [u8], columns: usize) -> Result<Self> {
        let mut c = Cursor::new(payload);
        let mut values = Vec::with_capacity(columns);
        for _ in 0..columns {
            if c.rest().first() == Some(&0xFB) {
                c.u8()?;
                values.push(None);
            } else {
                values.push(Some(c.lenenc_bytes()?));
            }
        }
        match c.is_empty() {
            true => Ok(Row { values }),
            false => Err(Error::Protocol("a row longer than its columns")),
        }
    }

    /// Column `i`; `None` for NULL, and behind the last one.
    #[must_use]
    pub fn get(&self, i: usize) -> Option<&'a [u8]> {
        self.values.get(i).copied().flatten()
    }

    /// Column `i` as text; bytes that are not UTF-8 are replaced.
    #[must_use]
    pub fn text(&self, i: usize) -> Option<String> {
        self.get(i).map(|b| String::from_utf8_lossy(b).into_owned())
    }
}

/// The rows of a result, which are read as they come.
#[derive(Debug)]
pub struct Rows<'c> {
    connection: &'c mut Connection,
    columns: Vec<Column>,
    open: bool,
    done: Done,
}

impl<'c> Rows<'c> {
    pub(crate) fn none(connection: &'c mut Connection, done: Done) -> Self {
        Rows {
            connection,
            columns: Vec::new(),
            open: false,
            done,
        }
    }

    pub(crate) fn some(connection: &'c mut Connection, columns: Vec<Column>) -> Self {
        Rows {
            connection,
            columns,
            open: true,
            done: Done::default(),
        }
    }

    /// The columns; none for a statement without rows.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(crate) fn done(&self) -> Done {
        self.done
    }

    /// The next row.
    ///
    /// # Errors
    /// [`Error::Server`] if the statement fails only now, and all others.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Row<'_>>> {
        if !self.open {
            return Ok(None);
        }
        let broken = &mut self.connection.broken;
        let result = match self.connection.channel.read() {
            Ok([0xFF, rest @ ..]) => Err(server_error(rest)),
            Ok(p) if is_eof(p) => Ok(None),
            Ok(p) => Row::parse(p, self.columns.len()).map(Some),
            Err(e) => Err(e),
        };
        match &result {
            Ok(Some(_)) => {}
            Ok(None) => self.open = false,
            Err(e) => {
                self.open = false;
                *broken |= e.code() == 0;
            }
        }
        result
    }

    /// The rest of the rows.
    ///
    /// # Errors
    /// As [`next`](Self::next).
    pub fn gather(mut self) -> Result<ResultSet> {
        let mut rows = Vec::new();
        while let Some(row) = self.next()? {
            rows.push(row.values.iter().map(|v| v.map(<[u8]>::to_vec)).collect());
        }
        Ok(ResultSet {
            columns: std::mem::take(&mut self.columns),
            rows,
        })
    }
}

impl Drop for Rows<'_> {
    fn drop(&mut self) {
        self.connection.broken |= self.open;
    }
}

/// A whole result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultSet {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows; `None` for NULL.
    pub rows: Vec<Vec<Option<Vec<u8>>>>,
}

impl ResultSet {
    /// A value as text; `None` for NULL and where there is none.
    #[must_use]
    pub fn text(&self, row: usize, column: usize) -> Option<String> {
        let value = self.rows.get(row)?.get(column)?.as_ref()?;
        Some(String::from_utf8_lossy(value).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use narwal_wire::codec::put_lenenc_bytes;
    use proptest::prelude::*;

    #[test]
    fn rows_and_columns() {
        let mut p = Vec::new();
        put_lenenc_bytes(&mut p, b"a");
        p.push(0xFB);
        put_lenenc_bytes(&mut p, &[7; 300]);
        let row = Row::parse(&p, 3).unwrap();
        assert_eq!(row.get(0), Some(&b"a"[..]));
        assert_eq!(row.get(1), None);
        assert_eq!(row.get(2).map(<[u8]>::len), Some(300));
        assert!(Row::parse(&p, 2).is_err() && Row::parse(&p, 4).is_err());
        let mut p = Vec::new();
        for s in ["def", "d", "t", "t", "name", "org"] {
            put_lenenc_bytes(&mut p, s.as_bytes());
        }
        put_lenenc_bytes(&mut p, &[45, 0, 80, 0, 0, 0, 253, 32, 0, 3, 0, 0]);
        let c = Column::parse(&p).unwrap();
        assert_eq!((c.name.as_str(), c.collation, c.length), ("name", 45, 80));
        assert_eq!((c.kind, c.decimals, c.is_unsigned()), (253, 3, true));
        for cut in 0..p.len() {
            assert!(Column::parse(&p[..cut]).is_err(), "{cut}");
        }
    }

    proptest! {
        #[test]
        fn hostile_rows_never_panic(p in prop::collection::vec(any::<u8>(), 0..80), n in 0usize..10) {
            let _ = Row::parse(&p, n);
            let _ = Column::parse(&p);
        }
    }
}
