//! LIKE and WHERE of SHOW statements: conditions over the columns of a small, ready-made result.

use crate::rows::Grid;
use narwal_syntax::ast::admin::Operand;
use narwal_types::errors;
use narwal_types::{Collation, SqlResult, Value};
use std::cmp::Ordering;

/// LIKE or WHERE of a SHOW.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum Filter {
    #[default]
    None,
    Like(String),
    Where(crate::show::filter::Condition),
    /// WHERE with functions, subqueries and the like.
    Query(Box<Operand>),
}

/// A comparison's operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    NullSafeEq,
}

/// A WHERE condition: columns compared with constants, joined by AND, OR and NOT.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    And(Box<Condition>, Box<Condition>),
    Or(Box<Condition>, Box<Condition>),
    Not(Box<Condition>),
    Compare(String, Cmp, String),
    Like(String, String, bool),
    In(String, Vec<String>, bool),
    IsNull(String, bool),
    Constant(bool),
}

fn text(v: &Value) -> Option<String> {
    match v {
        Value::Null => None,
        Value::Str(s) => Some(s.to_string()),
        Value::Int(i) => Some(i.to_string()),
        Value::UInt(i) => Some(i.to_string()),
        Value::Double(d) => Some(d.to_string()),
        Value::Bytes(b) => Some(String::from_utf8_lossy(b).into_owned()),
        other => Some(format!("{other:?}")),
    }
}

fn number(v: &Value) -> Option<f64> {
    match v {
        Value::Int(i) => Some(*i as f64),
        Value::UInt(i) => Some(*i as f64),
        Value::Double(d) => Some(*d),
        _ => None,
    }
}

fn compare(v: &Value, constant: &str) -> Option<Ordering> {
    if let Some(n) = number(v) {
        return n.partial_cmp(&constant.trim().parse::<f64>().unwrap_or(0.0));
    }
    let s = text(v)?;
    Some(
        s.trim_end()
            .to_lowercase()
            .cmp(&constant.trim_end().to_lowercase()),
    )
}

impl Condition {
    fn check(&self, grid: &Grid, row: &[Value]) -> SqlResult<Option<bool>> {
        let column = |name: &str| -> SqlResult<&Value> {
            grid.column(name)
                .and_then(|i| row.get(i))
                .ok_or_else(|| errors::BAD_FIELD_ERROR.with([&name, &"WHERE"]))
        };
        Ok(match self {
            Condition::Constant(b) => Some(*b),
            Condition::And(a, b) => match (a.check(grid, row)?, b.check(grid, row)?) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(a, b) => match (a.check(grid, row)?, b.check(grid, row)?) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
            Condition::Not(a) => a.check(grid, row)?.map(|b| !b),
            Condition::IsNull(c, negated) => Some(column(c)?.is_null() != *negated),
            Condition::Like(c, pattern, negated) => {
                text(column(c)?).map(|s| like(&s, pattern) != *negated)
            }
            Condition::In(c, values, negated) => {
                let v = column(c)?;
                if v.is_null() {
                    None
                } else {
                    Some(
                        values
                            .iter()
                            .any(|k| compare(v, k) == Some(Ordering::Equal))
                            != *negated,
                    )
                }
            }
            Condition::Compare(c, op, k) => {
                let v = column(c)?;
                match (compare(v, k), op) {
                    (None, Cmp::NullSafeEq) => Some(false),
                    (None, _) => None,
                    (Some(o), Cmp::Eq | Cmp::NullSafeEq) => Some(o == Ordering::Equal),
                    (Some(o), Cmp::Ne) => Some(o != Ordering::Equal),
                    (Some(o), Cmp::Lt) => Some(o == Ordering::Less),
                    (Some(o), Cmp::Le) => Some(o != Ordering::Greater),
                    (Some(o), Cmp::Gt) => Some(o == Ordering::Greater),
                    (Some(o), Cmp::Ge) => Some(o != Ordering::Less),
                }
            }
        })
    }
}

impl Filter {
    /// Drops the rows that don't match. LIKE looks at the first column, without case.
    pub(crate) fn apply(&self, grid: &mut Grid) -> SqlResult<()> {
        self.apply_by(grid, like)
    }

    /// The same of names of tables and databases: LIKE looks at their case.
    pub(crate) fn apply_to_tables(&self, grid: &mut Grid) -> SqlResult<()> {
        self.apply_by(grid, like_exactly)
    }

    fn apply_by(&self, grid: &mut Grid, like: fn(&str, &str) -> bool) -> SqlResult<()> {
        match self {
            Filter::None => {}
            Filter::Query(condition) => grid.condition = Some(condition.clone()),
            Filter::Like(p) => grid
                .rows
                .retain(|r| r.first().and_then(text).is_some_and(|s| like(&s, p))),
            Filter::Where(cond) => {
                let rows = std::mem::take(&mut grid.rows);
                // Unknown columns are an error even if there is no row.
                let nulls = vec![Value::Null; grid.columns.len()];
                cond.check(grid, &nulls)?;
                let mut kept = Vec::with_capacity(rows.len());
                for r in rows {
                    if cond.check(grid, &r)? == Some(true) {
                        kept.push(r);
                    }
                }
                grid.rows = kept;
            }
        }
        Ok(())
    }

    /// True for a WHERE.
    pub(crate) fn is_where(&self) -> bool {
        matches!(self, Filter::Where(_) | Filter::Query(_))
    }

    /// True if a name passes LIKE (or there is none): to skip the making of rows. WHERE passes all.
    pub(crate) fn may_match(&self, name: &str) -> bool {
        match self {
            Filter::Like(p) => like(name, p),
            _ => true,
        }
    }

    /// The same of the name of a table or a database: LIKE looks at its case.
    pub(crate) fn may_match_table(&self, name: &str) -> bool {
        match self {
            Filter::Like(p) => like_exactly(name, p),
            _ => true,
        }
    }
}

/// LIKE of names: without case.
pub fn like(text: &str, pattern: &str) -> bool {
    like_exactly(&text.to_lowercase(), &pattern.to_lowercase())
}

/// LIKE of names with their case.
fn like_exactly(text: &str, pattern: &str) -> bool {
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    narwal_sql::like::like(text, pattern, Some('\\'), Collation::Utf8mb4Bin)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn like_patterns() {
        for (t, p, want) in [
            ("autocommit", "auto%", true),
            ("autocommit", "AUTO%", true),
            ("autocommit", "auto", false),
            ("a_b", "a\\_b", true),
            ("axb", "a\\_b", false),
            ("axb", "a_b", true),
            ("", "%", true),
            ("abcabd", "%abd", true),
            ("abcabd", "%abc", false),
            ("com_select", "Com\\_sel%", true),
            ("100%", "100\\%", true),
            ("1000", "100\\%", false),
            ("ab", "a%%b", true),
            ("id", "%", true),
            ("id", "i_", true),
            ("id", "ID", true),
            ("id", "d%", false),
            ("a_long_name", "%long%", true),
            ("aab", "%ab", true),
            ("", "", true),
            ("x", "", false),
            ("abc", "a%b%c%%", true),
        ] {
            assert_eq!(like(t, p), want, "{t} LIKE {p}");
        }
    }

    /// The filter of SHOW VARIABLES WHERE.
    fn where_of(condition: &str) -> Filter {
        use crate::admin::{Admin, Show};
        match crate::lower::tests::lowered(&format!("show variables where {condition}")) {
            Ok(Admin::Show(Show::Variables { filter, .. })) => filter,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn where_conditions() {
        let mut g = Grid::new();
        g.text("Variable_name", 64).text("Value", 64);
        for (a, b) in [("autocommit", "ON"), ("port", "3306"), ("socket", "")] {
            g.rows.push(vec![Value::str(a), Value::str(b)]);
        }
        let count = |w: &str| {
            let mut g = g.clone();
            where_of(w).apply(&mut g).map(|()| g.rows.len())
        };
        assert_eq!(count("Variable_name = 'AUTOCOMMIT' OR value='3306'"), Ok(2));
        assert_eq!(
            count("`variable_name` in ('port','socket') and not Value = ''"),
            Ok(1)
        );
        assert_eq!(count("Variable_name LIKE '%o%' AND (Value <> 'ON')"), Ok(2));
        assert_eq!(count("1"), Ok(3));
        assert_eq!(count("foo=1").unwrap_err().code, 1054);
    }
}
