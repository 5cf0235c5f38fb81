//! YEAR columns as clients see them: the year 0 is `0000`, and YEAR(2) has two digits.

use narwal_types::{OkInfo, ResultColumn, ResultSink, SqlResult, TypeKind, ValueRef};
use smallvec::SmallVec;

/// Is there a YEAR column that shows more than its number? MariaDB gives the number of one that is computed and in no table,
/// not even its own of groups or of DISTINCT: `computed` is false if all are.
pub(crate) fn has_year(columns: &[ResultColumn], computed: bool) -> bool {
    columns.iter().any(|c| form(c, computed).is_some())
}

/// How a year is shown.
#[derive(Clone, Copy)]
enum Form {
    /// The year 0 has four digits.
    Four,
    /// Two digits.
    Two,
    /// The number that two digits are.
    OfTwo,
}

/// How the years of a column are shown, if not as their numbers.
fn form(c: &ResultColumn, computed: bool) -> Option<Form> {
    if c.ty.kind != TypeKind::Year {
        return None;
    }
    match (computed && is_computed(c), c.ty.year_digits()) {
        (true, 2) => Some(Form::OfTwo),
        (true, _) => None,
        (false, 2) => Some(Form::Two),
        (false, _) => Some(Form::Four),
    }
}

fn is_computed(c: &ResultColumn) -> bool {
    c.table.is_empty() && c.org_table.is_empty()
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
fn shown(v: ValueRef<'_>, form: Form) -> Option<ValueRef<'static>> {
    let year = match v {
        ValueRef::Int(y) => u64::try_from(y).ok()?,
        ValueRef::UInt(y) => y,
        _ => return None,
    };
    match (form, year) {
        (Form::Two, y) => Some(ValueRef::Str(&TWO_DIGITS[(y % 100) as usize])),
        (Form::OfTwo, y) => Some(ValueRef::Int((y % 100) as i64)),
        (Form::Four, 0) => Some(ValueRef::Str(b"0000")),
        (Form::Four, _) => None,
    }
}

/// Hands rows on with such years as text. All others have four digits anyway, and the binary protocol reads a number from it
/// again.
pub(crate) struct YearText<'a> {
    inner: &'a mut dyn ResultSink,
    /// The columns, and how they are shown.
    years: SmallVec<[(usize, Form); 4]>,
    /// Those that are no column of a table are in none: see [`has_year`].
    computed: bool,
}

impl<'a> YearText<'a> {
    pub(crate) fn new(inner: &'a mut dyn ResultSink, computed: bool) -> Self {
        YearText {
            inner,
            computed,
            years: SmallVec::new(),
        }
    }
}

impl ResultSink for YearText<'_> {
    fn begin_rows(&mut self, columns: &[ResultColumn]) -> SqlResult<()> {
        let shown = |(i, c)| Some((i, form(c, self.computed)?));
        self.years = columns.iter().enumerate().filter_map(shown).collect();
        self.inner.begin_rows(columns)
    }

    fn row(&mut self, values: &[ValueRef<'_>]) -> SqlResult<()> {
        let texts = |(i, form): &(usize, Form)| Some((*i, shown(values[*i], *form)?));
        if self.years.iter().all(|y| texts(y).is_none()) {
            return self.inner.row(values);
        }
        let mut row: SmallVec<[ValueRef<'_>; 16]> = values.iter().copied().collect();
        for (i, text) in self.years.iter().filter_map(texts) {
            row[i] = text;
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
