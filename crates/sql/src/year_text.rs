//! The year 0 of a YEAR column: clients see `0000`.

use narwal_types::{OkInfo, ResultColumn, ResultSink, SqlResult, TypeKind, ValueRef};
use smallvec::SmallVec;

/// Is there a YEAR column?
pub(crate) fn has_year(columns: &[ResultColumn]) -> bool {
    columns.iter().any(|c| c.ty.kind == TypeKind::Year)
}

/// Hands rows on with the year 0 as text. All other years have four digits anyway, and the binary protocol reads a
/// number from it again.
pub(crate) struct YearText<'a> {
    inner: &'a mut dyn ResultSink,
    years: SmallVec<[usize; 4]>,
}

impl<'a> YearText<'a> {
    pub(crate) fn new(inner: &'a mut dyn ResultSink) -> Self {
        YearText {
            inner,
            years: SmallVec::new(),
        }
    }
}

impl ResultSink for YearText<'_> {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        self.years = (0..columns.len())
            .filter(|i| columns[*i].ty.kind == TypeKind::Year)
            .collect();
        self.inner.begin_rows(columns)
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let zero = |v: &ValueRef<'_>| matches!(v, ValueRef::Int(0) | ValueRef::UInt(0));
        if !self.years.iter().any(|i| zero(&values[*i])) {
            return self.inner.row(values);
        }
        let mut shown: SmallVec<[ValueRef<'_>; 16]> = values.iter().copied().collect();
        for i in &self.years {
            if zero(&shown[*i]) {
                shown[*i] = ValueRef::Str(b"0000");
            }
        }
        self.inner.row(&shown)
    }

    fn end_rows(&mut self, warnings: u16, status: u16, more: bool) -> SqlResult<()> {
        self.inner.end_rows(warnings, status, more)
    }

    fn ok(&mut self, info: &OkInfo, status: u16, more: bool) -> SqlResult<()> {
        self.inner.ok(info, status, more)
    }
}
