//! The window functions that are no aggregates: one entry each. `exec/window/` computes them.

use super::gathered::{Gathered, entry};
use crate::expr::ExprType;
use crate::expr::node::Typing;
use crate::expr::types::BIGINT_CHARS;
use crate::expr::window::WindowFunc;
use narwal_types::SqlResult;
use narwal_types::face::is_mysql;

/// What the clauses of a window mean to a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wants {
    /// An order, and no frame: its place decides.
    Order,
    /// No frame.
    NoFrame,
    /// An order; a frame means nothing.
    OrderAlone,
    /// It looks at the rows of the frame.
    Frame,
    /// It has an order of its own.
    Group,
}

/// A window function.
pub type WindowFunction = Gathered<WindowFunc, Wants>;

/// All window functions. MEDIAN is the last, as another name of PERCENTILE_CONT.
pub static WINDOW_FUNCTIONS: &[WindowFunction] = &[
    entry(
        WindowFunc::RowNumber,
        (
            "row_number",
            "",
            "The row's number in its partition, from 1.",
        ),
        Wants::NoFrame,
        number,
    ),
    entry(
        WindowFunc::Rank,
        (
            "rank",
            "",
            "One more than the rows of the partition that stand before the row and its equals.",
        ),
        Wants::Order,
        number,
    ),
    entry(
        WindowFunc::DenseRank,
        (
            "dense_rank",
            "",
            "The number of the row's group of equals in its partition, from 1.",
        ),
        Wants::Order,
        number,
    ),
    entry(
        WindowFunc::PercentRank,
        (
            "percent_rank",
            "",
            "Where the row's rank stands between the partition's first and last row: from 0 to 1.",
        ),
        Wants::Order,
        share,
    ),
    entry(
        WindowFunc::CumeDist,
        (
            "cume_dist",
            "",
            "The share of the partition's rows that stand before the row or are equal to it.",
        ),
        Wants::Order,
        share,
    ),
    entry(
        WindowFunc::Ntile,
        (
            "ntile",
            "n",
            "The number of the row's part if the partition is cut into n parts of one size.",
        ),
        Wants::NoFrame,
        number,
    ),
    entry(
        WindowFunc::Lag,
        ("lag", "value[, n]", "The value in the n-th row before."),
        Wants::OrderAlone,
        value,
    ),
    entry(
        WindowFunc::Lead,
        ("lead", "value[, n]", "The value in the n-th row behind."),
        Wants::OrderAlone,
        value,
    ),
    entry(
        WindowFunc::FirstValue,
        (
            "first_value",
            "value",
            "The value in the frame's first row.",
        ),
        Wants::Frame,
        value,
    ),
    entry(
        WindowFunc::LastValue,
        ("last_value", "value", "The value in the frame's last row."),
        Wants::Frame,
        value,
    ),
    entry(
        WindowFunc::NthValue,
        (
            "nth_value",
            "value, n",
            "The value in the frame's n-th row, from 1.",
        ),
        Wants::Frame,
        value,
    ),
    entry(
        WindowFunc::PercentileCont,
        (
            "percentile_cont",
            "share) WITHIN GROUP (ORDER BY n",
            "The value at a share, from 0 to 1, of the partition's sorted values; between two values what lies there.",
        ),
        Wants::Group,
        value_at_share,
    ),
    entry(
        WindowFunc::PercentileDisc,
        (
            "percentile_disc",
            "share) WITHIN GROUP (ORDER BY value",
            "The first of the partition's sorted values at which that share of them, from 0 to 1, is reached.",
        ),
        Wants::Group,
        last,
    ),
    entry(
        WindowFunc::PercentileCont,
        (
            "median",
            "n",
            "The middle of the partition's sorted values: PERCENTILE_CONT of 0.5.",
        ),
        Wants::Group,
        value_at_share,
    ),
];

/// Finds a window function by its name in lower case.
pub fn lookup(name: &str) -> Option<&'static WindowFunction> {
    WINDOW_FUNCTIONS.iter().find(|w| w.name == name)
}

/// The name of a function in lower case.
pub fn name_of(func: WindowFunc) -> &'static str {
    let found = WINDOW_FUNCTIONS.iter().find(|w| w.func == func);
    found.map_or("", |w| w.name)
}

fn number(_: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType::bigint(false, false).with_chars(BIGINT_CHARS, false))
}

/// Digits of a share behind the point, and characters of its type.
const DIGITS: u8 = 10;
const WIDTH: u32 = 17;

/// A number with ten digits behind the point.
fn share(_: &Typing<'_>) -> SqlResult<ExprType> {
    // MySQL shows all digits.
    Ok(match is_mysql() {
        true => ExprType::double(true),
        false => ExprType::double_with(DIGITS, true).with_width(WIDTH),
    })
}

/// The value at a share of others, which is one character wider.
fn value_at_share(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(match is_mysql() {
        true => share(t)?,
        false => share(t)?.with_width(WIDTH + 1),
    })
}

/// The first argument's: of NULL they have no type either, but one that counts.
fn value(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType {
        null: false,
        ..t.arg(0).with_nullable(true)
    })
}

fn last(t: &Typing<'_>) -> SqlResult<ExprType> {
    Ok(ExprType {
        null: false,
        ..t.arg(t.args.len() - 1).with_nullable(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_by_their_names() {
        for w in WINDOW_FUNCTIONS {
            assert_eq!(lookup(w.name).map(|f| f.func), Some(w.func));
        }
        assert_eq!(name_of(WindowFunc::PercentileCont), "percentile_cont");
        assert!(lookup("nosuch").is_none());
    }
}
