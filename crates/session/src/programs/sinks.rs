//! Where results of statements inside of programs go.

use narwal_program::{Program, TakeRows};
use narwal_types::{Collation, OkInfo, ResultColumn, ResultSink, SqlResult, ValueRef, errors};
use std::sync::Arc;

/// A statement inside of a program: its rows are one result among others, and that it has run is nothing to tell.
pub(crate) struct Forward<'a>(pub(crate) &'a mut dyn ResultSink, pub(crate) &'a Program);

impl Forward<'_> {
    /// Error 1312: rows are followed by the end of CALL, which the client would not wait for.
    fn check_client(&self) -> SqlResult<()> {
        if self.0.takes_several() {
            return Ok(());
        }
        let name = format!("{}.{}", self.1.db, self.1.name);
        Err(errors::SP_BADSELECT.with([&name]))
    }
}

impl ResultSink for Forward<'_> {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        self.check_client()?;
        self.0.begin_rows(columns)
    }

    fn begin_plan_rows(&mut self, columns: &Arc<[ResultColumn]>) -> SqlResult<()> {
        self.check_client()?;
        self.0.begin_plan_rows(columns)
    }

    fn takes_several(&self) -> bool {
        self.0.takes_several()
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.0.row(values)
    }

    fn end_rows(&mut self, warnings: u16, status: u16, _: bool) -> SqlResult<()> {
        self.0.end_rows(warnings, status, true)
    }

    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }

    fn set_results(&mut self, collation: Option<Collation>) {
        self.0.set_results(collation);
    }
}

/// Rows that a program takes for itself.
pub(crate) struct Taken<'a>(pub(crate) &'a mut dyn TakeRows);

impl ResultSink for Taken<'_> {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        self.0.columns(columns.len())
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        self.0.row(values)
    }

    fn end_rows(&mut self, _: u16, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }

    fn ok(&mut self, _: &OkInfo, _: u16, _: bool) -> SqlResult<()> {
        Ok(())
    }
}
