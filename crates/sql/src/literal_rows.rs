//! The values of rows that were kept as text ([`narwal_syntax::LiteralRows`]).

use crate::literal::{negate_literal, number};
use narwal_syntax::LiteralRows;
use narwal_syntax::literal_rows::LiteralRef;
use narwal_types::Value;

/// Hands the rows over one by one, as values.
///
/// # Errors
/// Those of `each`, which end it.
pub fn values<E>(
    rows: &LiteralRows,
    mut each: impl FnMut(&[Value]) -> Result<(), E>,
) -> Result<(), E> {
    let mut out = Vec::with_capacity(rows.columns());
    rows.rows(|row| {
        out.clear();
        out.extend(row.map(|l| match l {
            LiteralRef::Null => Value::Null,
            LiteralRef::Text(s) => Value::str(&*s),
            LiteralRef::Number {
                digits,
                negative: false,
            } => number(digits),
            LiteralRef::Number {
                digits,
                negative: true,
            } => negate_literal(number(digits)),
        }));
        each(&out)
    })
}
