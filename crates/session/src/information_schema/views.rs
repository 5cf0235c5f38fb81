//! VIEWS.

use super::rows::Rows;
use super::tables::{asked_views, text};
use crate::privileges::PrivilegeSet;
use crate::view::View;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_types::{SqlResult, Value};

pub(super) fn views(view: &View, _: &StatementEnv, wanted: &Wanted) -> SqlResult<Rows> {
    let mut rows = Vec::new();
    for v in asked_views(view, wanted, 1, 2) {
        let account = &view.account;
        let has = account.on_table(&v.db, &v.name);
        let shown = has.has(PrivilegeSet::SHOW_VIEW) && has.has(PrivilegeSet::SELECT)
            || (&account.user, &account.host) == (&v.definer.0, &v.definer.1);
        rows.push(vec![
            text("def"),
            text(&v.db),
            text(&v.name),
            text(if shown { &v.select } else { "" }),
            text(v.check.name()),
            text(if v.updatable { "YES" } else { "NO" }),
            Value::str(format!("{}@{}", v.definer.0, v.definer.1)),
            text(if v.invoker { "INVOKER" } else { "DEFINER" }),
            text(&v.charset.0),
            text(&v.charset.1),
            text(v.algorithm.name()),
        ]);
    }
    Ok(rows)
}
