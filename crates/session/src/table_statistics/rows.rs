//! Rows that statements of the server's own read, and texts that they are given.

use narwal_types::{Collation, OkInfo, ResultColumn, ResultSink, SqlResult, ValueRef};

/// Gives the rows of a SELECT of the server's own to a function, as bytes; NULL is `None`.
pub(crate) struct Each<F>(pub(crate) F);

impl<F: FnMut(&[Option<Vec<u8>>])> ResultSink for Each<F> {
    fn begin_rows(&mut self, _: &[ResultColumn]) -> SqlResult<()> {
        Ok(())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let bytes = |v: &ValueRef<'_>| match v {
            ValueRef::Null => None,
            ValueRef::Bytes(b) => Some(b.to_vec()),
            v => Some(v.to_text().as_bytes().to_vec()),
        };
        let row: Vec<_> = values.iter().map(bytes).collect();
        (self.0)(&row);
        Ok(())
    }

    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }

    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }

    fn set_results(&mut self, _: Option<Collation>) {}
}

/// A text as SQL that means the same under every character set.
pub(crate) fn hex(s: &[u8]) -> String {
    let digits: String = s.iter().map(|b| format!("{b:02x}")).collect();
    format!("X'{digits}'")
}
