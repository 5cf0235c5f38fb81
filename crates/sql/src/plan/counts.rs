//! What a statement has read of which table: ANALYZE shows it, and LIMIT ROWS EXAMINED ends a statement by it.

use crate::plan::query::TablePlan;
use ahash::AHashMap;
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use std::cell::{Cell, RefCell};

/// What was read of one table of a plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// How often it was read or looked up.
    pub loops: u64,
    /// Rows that it gave.
    pub rows: u64,
    /// Those of them that its condition let through.
    pub passed: u64,
}

impl Count {
    /// Rows of one loop; `None` if there was no loop.
    pub fn rows_per_loop(&self) -> Option<f64> {
        (self.loops > 0).then(|| self.rows as f64 / self.loops as f64)
    }

    /// How many of a hundred rows the condition let through.
    pub fn filtered(&self) -> Option<f64> {
        match (self.loops, self.rows) {
            (0, _) => None,
            (_, 0) => Some(100.0),
            (_, rows) => Some(100.0 * self.passed as f64 / rows as f64),
        }
    }
}

/// The counts of a statement that runs.
pub struct Counts {
    /// By the address of the table's plan. Plans do not move while they run.
    tables: RefCell<AHashMap<usize, Count>>,
    examined: Cell<u64>,
    /// LIMIT ROWS EXAMINED.
    most: u64,
    /// The limit was met when all rows had been read.
    at_end: Cell<bool>,
}

impl Counts {
    /// `most`: how many rows the statement may look at.
    pub fn new(most: u64) -> Self {
        Counts {
            tables: RefCell::default(),
            examined: Cell::new(0),
            most,
            at_end: Cell::new(false),
        }
    }

    fn change(&self, t: &TablePlan, f: impl FnOnce(&mut Count)) {
        let mut tables = self.tables.borrow_mut();
        f(tables.entry(std::ptr::from_ref(t) as usize).or_default());
    }

    /// A table is read, or looked up.
    pub fn begins(&self, t: &TablePlan) {
        self.change(t, |c| c.loops += 1);
    }

    /// A row was read.
    ///
    /// # Errors
    /// 1931 behind the last row that LIMIT ROWS EXAMINED allows.
    pub fn reads(&self, t: &TablePlan) -> SqlResult<()> {
        self.examines()?;
        self.gets(t);
        Ok(())
    }

    /// A row came that does not count for the limit: of a table that is made, or the only one of a constant key.
    pub fn gets(&self, t: &TablePlan) {
        self.change(t, |c| c.rows += 1);
    }

    /// The condition let the row through.
    pub fn passes(&self, t: &TablePlan) {
        self.change(t, |c| c.passed += 1);
    }

    /// Something was looked at that gave no row, or a row was written: it counts for the limit.
    ///
    /// # Errors
    /// As [`Counts::reads`].
    pub fn examines(&self) -> SqlResult<()> {
        self.examined.set(self.examined.get().saturating_add(1));
        match self.examined.get() > self.most {
            true => Err(self.exceeded()),
            false => Ok(()),
        }
    }

    /// A read came to its end, which is looked at like a row.
    ///
    /// # Errors
    /// As [`Counts::reads`].
    pub fn ends(&self) -> SqlResult<()> {
        self.examines().inspect_err(|_| self.at_end.set(true))
    }

    /// True if the limit ended a read whose rows had all been read.
    pub fn met_at_end(&self) -> bool {
        self.at_end.get()
    }

    /// True for a statement with LIMIT ROWS EXAMINED.
    pub fn is_limit(&self) -> bool {
        self.most < u64::MAX
    }

    /// What ends a statement at its limit, and what is told of it then.
    pub fn exceeded(&self) -> SqlError {
        errors::QUERY_RESULT_INCOMPLETE.text(format!(
            "Query execution was interrupted. The query exceeded LIMIT ROWS EXAMINED {}. \
             The query result may be incomplete",
            self.most
        ))
    }

    /// True for the error that ends a statement at its limit.
    pub fn is_exceeded(&self, e: &SqlError) -> bool {
        self.is_limit() && e.code == codes::QUERY_RESULT_INCOMPLETE
    }

    /// What was read of a table.
    pub fn of(&self, t: &TablePlan) -> Count {
        let tables = self.tables.borrow();
        let at = std::ptr::from_ref(t) as usize;
        tables.get(&at).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_allows_so_many_rows_and_not_one_more() {
        let c = Counts::new(2);
        assert!(c.examines().is_ok() && c.examines().is_ok());
        let e = c.ends().unwrap_err();
        assert!(c.is_exceeded(&e) && c.met_at_end());
        assert!(!Counts::new(u64::MAX).is_limit());
    }

    #[test]
    fn a_table_that_was_not_read_has_no_share() {
        let none = Count::default();
        assert_eq!((none.rows_per_loop(), none.filtered()), (None, None));
        let some = Count {
            loops: 4,
            rows: 2,
            passed: 1,
        };
        assert_eq!(
            (some.rows_per_loop(), some.filtered()),
            (Some(0.5), Some(50.0))
        );
    }
}
