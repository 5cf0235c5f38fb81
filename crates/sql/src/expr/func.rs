//! Functions that the binder makes calls of, by short names.

use crate::expr::functions::{control, date, number, regexp, string};
use crate::expr::node::Function;

/// A function of the registry.
#[derive(Debug)]
pub struct Func;

#[allow(missing_docs, non_upper_case_globals)]
impl Func {
    pub const Ceiling: &'static Function = &number::CEILING;
    pub const Concat: &'static Function = &string::CONCAT;
    pub const Extract: &'static Function = &date::EXTRACT;
    pub const ExtractWeek: &'static Function = &date::EXTRACT_WEEK;
    pub const Floor: &'static Function = &number::FLOOR;
    pub const Greatest: &'static Function = &control::GREATEST;
    pub const Least: &'static Function = &control::LEAST;
    pub const Locate: &'static Function = &string::LOCATE;
    pub const If: &'static Function = &control::IF;
    pub const Nullif: &'static Function = &control::NULLIF;
    pub const Regexp: &'static Function = &regexp::REGEXP;
    pub const Substring: &'static Function = &string::SUBSTRING;
    pub const TimestampDiff: &'static Function = &date::TIMESTAMPDIFF;
    pub const Trim: &'static Function = &string::TRIM;
    pub const TrimLeading: &'static Function = &string::TRIM_LEADING;
    pub const TrimTrailing: &'static Function = &string::TRIM_TRAILING;
}
