//! USER_PRIVILEGES, SCHEMA_PRIVILEGES, TABLE_PRIVILEGES: one's own, and all for who may see the accounts.

use super::rows::Rows;
use crate::acl::Account;
use crate::privileges::PrivilegeSet;
use crate::view::View;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_types::{SqlResult, Value};
use std::sync::Arc;

/// MariaDB shows the accounts of others to who may read its `mysql` schema; SELECT on everything stands for that.
fn visible(view: &View) -> impl Iterator<Item = &Arc<Account>> {
    let all = view.account.global.has(PrivilegeSet::SELECT);
    view.acl
        .accounts()
        .iter()
        .filter(move |a| all || (a.user == view.account.user && a.host == view.account.host))
}

/// One row for each privilege; USAGE if there is none.
fn rows_of(set: PrivilegeSet, head: &[Value], out: &mut Rows) {
    let grantable = Value::str(if set.has(PrivilegeSet::GRANT_OPTION) {
        "YES"
    } else {
        "NO"
    });
    let mut names = set.without(PrivilegeSet::GRANT_OPTION).names();
    if names.is_empty() {
        names.push("USAGE");
    }
    for name in names {
        let mut row = head.to_vec();
        row.push(Value::str(name));
        row.push(grantable.clone());
        out.push(row);
    }
}

pub(super) fn user_privileges(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut out = Vec::new();
    for a in visible(view) {
        rows_of(
            a.global,
            &[Value::str(a.quoted()), Value::str("def")],
            &mut out,
        );
    }
    Ok(out)
}

pub(super) fn schema_privileges(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut out = Vec::new();
    for a in visible(view) {
        for (db, set) in &a.databases {
            let head = [
                Value::str(a.quoted()),
                Value::str("def"),
                Value::str(db.as_str()),
            ];
            rows_of(*set, &head, &mut out);
        }
    }
    Ok(out)
}

pub(super) fn table_privileges(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut out = Vec::new();
    for a in visible(view) {
        for ((db, table), set) in &a.tables {
            let head = [
                Value::str(a.quoted()),
                Value::str("def"),
                Value::str(db.as_str()),
                Value::str(table.as_str()),
            ];
            rows_of(*set, &head, &mut out);
        }
    }
    Ok(out)
}
