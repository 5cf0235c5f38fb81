//! KEYWORDS, SQL_FUNCTIONS and USER_VARIABLES: names that the parser and the session know.

use super::rows::Rows;
use crate::view::View;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_syntax::Kw;
use narwal_types::face::is_mysql;
use narwal_types::{SqlResult, Value};

pub(super) fn keywords(_: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let row = |word: &'static str| {
        let mut row = vec![Value::str(word)];
        if is_mysql() {
            row.push(Value::Int(i64::from(Kw::of(word).is_reserved())));
        }
        row
    };
    Ok(Kw::all().map(row).collect())
}

pub(super) fn functions(_: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut names: Vec<String> = (narwal_sql::expr::functions::names())
        .map(str::to_ascii_uppercase)
        .collect();
    names.sort();
    names.dedup();
    Ok(names.into_iter().map(|n| vec![Value::str(n)]).collect())
}

pub(super) fn user_variables(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let row = |(name, value, collation): (String, Value, narwal_types::Collation)| {
        let kind = match &value {
            Value::Int(_) => "INT",
            Value::UInt(_) => "INT UNSIGNED",
            Value::Double(_) | Value::Float(_) => "DOUBLE",
            Value::Decimal(_) => "DECIMAL",
            _ => "VARCHAR",
        };
        let shown = match &value {
            Value::Null => Value::Null,
            v => Value::str(v.to_text()),
        };
        // MariaDB says so of all numbers.
        let set = match kind {
            "VARCHAR" => collation.charset().name(),
            _ => "latin1",
        };
        vec![Value::str(name), shown, Value::str(kind), Value::str(set)]
    };
    Ok(view.vars.all_of_user().into_iter().map(row).collect())
}
