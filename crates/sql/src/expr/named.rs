//! Warnings about a column's text or number that is no date or time: they name the column and the row, as MariaDB's do.

use crate::env::StatementEnv;
use crate::expr::node::{Expr, ExprKind};
use narwal_types::errors::codes;

/// Calls `f`, which reads the values of these operands as dates or times. If it warns of one, the warning names the column
/// that the value is from.
#[inline]
pub(crate) fn naming<T, const N: usize>(
    of: [&Expr; N],
    env: &StatementEnv,
    f: impl FnOnce() -> T,
) -> T {
    let before = env.told();
    let out = f();
    if env.told() != before {
        name(&of, before, env);
    }
    out
}

#[cold]
fn name(of: &[&Expr], before: u64, env: &StatementEnv) {
    // MySQL's warnings don't name it.
    if narwal_types::face::is_mysql() {
        return;
    }
    let Some(column) = of.iter().find_map(|e| read_column(e)) else {
        return;
    };
    let row = env.row_number.get();
    env.retell_since(before, &|code, text| {
        let (kind, value) =
            (code == codes::TRUNCATED_WRONG_VALUE).then(|| told_of_moment(text))??;
        Some(format!(
            "Incorrect {kind} value: {value} for column {column} at row {row}"
        ))
    });
}

/// The column that an operand is, if it is none of dates or times.
fn read_column(e: &Expr) -> Option<&str> {
    match &e.kind {
        ExprKind::Column { name, .. } if !e.ty.ty.is_temporal() => Some(name),
        // The text of an ENUM or a SET.
        ExprKind::Cast(of) if of.ty.ty.is_member() => read_column(of),
        _ => None,
    }
}

/// The kind and the quoted value of a message about what is no date or time.
fn told_of_moment(text: &str) -> Option<(&str, &str)> {
    let rest = text
        .strip_prefix("Truncated i")
        .or(text.strip_prefix("I"))?;
    let (kind, value) = rest.strip_prefix("ncorrect ")?.split_once(" value: ")?;
    let of_moments = matches!(kind, "date" | "datetime" | "time" | "interval");
    (of_moments && value.ends_with('\'')).then_some((kind, value))
}

#[cfg(test)]
mod tests {
    use super::told_of_moment;

    #[test]
    fn only_what_is_about_dates_and_times_is_told_again() {
        for (text, kind) in [
            ("Incorrect datetime value: 'a'", Some("datetime")),
            ("Truncated incorrect time value: 'a'", Some("time")),
            ("Truncated incorrect DOUBLE value: 'a'", None),
            (
                "Incorrect time value: 'a' for column `a`.`b`.`c` at row 1",
                None,
            ),
        ] {
            assert_eq!(told_of_moment(text).map(|t| t.0), kind, "{text}");
        }
    }
}
