//! YEAR columns as clients see them: the year 0 is `0000`, and YEAR(2) has two digits.

use narwal_types::{OkInfo, ResultColumn, ResultSink, SqlResult, TypeKind, ValueRef};
use smallvec::SmallVec;

/// Is there a YEAR column?
pub(crate) fn has_year(columns: &[ResultColumn]) -> bool {
    columns.iter().any(|c| c.ty.kind == TypeKind::Year)
}

/// The last two digits of each year.
static TWO_DIGITS: [[u8; 2]; 100] = two_digits();

const fn two_digits() -> [[u8; 2]; 100] {
    let mut all = [[b'0'; 2]; 100];
    let mut n = 0;
    while n < 100 {
        all[n] = [b'0' + (n / 10) as u8, b'0' + (n % 10) as u8];
        n += 1;
    }
    all
}

/// The text of a year, if it is not its number's.
fn shown(v: ValueRef<'_>, two: bool) -> Option<&'static [u8]> {
    let year = match v {
        ValueRef::Int(y) => u64::try_from(y).ok()?,
        ValueRef::UInt(y) => y,
        _ => return None,
    };
    match (two, year) {
        (true, y) => Some(&TWO_DIGITS[(y % 100) as usize]),
        (false, 0) => Some(b"0000"),
        _ => None,
    }
}

/// Hands rows on with such years as text. All others have four digits anyway, and the binary protocol reads a number from it
/// again.
pub(crate) struct YearText<'a> {
    inner: &'a mut dyn ResultSink,
    /// The columns, and whether they have two digits.
    years: SmallVec<[(usize, bool); 4]>,
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
            .map(|i| (i, columns[i].ty.year_digits() == 2))
            .collect();
        self.inner.begin_rows(columns)
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let texts = |(i, two): &(usize, bool)| Some((*i, shown(values[*i], *two)?));
        if self.years.iter().all(|y| texts(y).is_none()) {
            return self.inner.row(values);
        }
        let mut row: SmallVec<[ValueRef<'_>; 16]> = values.iter().copied().collect();
        for (i, text) in self.years.iter().filter_map(texts) {
            row[i] = ValueRef::Str(text);
        }
        self.inner.row(&row)
    }

    fn end_rows(&mut self, warnings: u16, status: u16, more: bool) -> SqlResult<()> {
        self.inner.end_rows(warnings, status, more)
    }

    fn ok(&mut self, info: &OkInfo, status: u16, more: bool) -> SqlResult<()> {
        self.inner.ok(info, status, more)
    }
}
