//! USER_PRIVILEGES, SCHEMA_PRIVILEGES, TABLE_PRIVILEGES, COLUMN_PRIVILEGES: one's own, and all for who may see the accounts;
//! APPLICABLE_ROLES and ENABLED_ROLES: the session's.

use super::rows::Rows;
use crate::acl::Account;
use crate::privileges::PrivilegeSet;
use crate::view::View;
use narwal_sql::StatementEnv;
use narwal_sql::virtual_tables::Wanted;
use narwal_types::{SqlResult, Value};
use std::collections::BTreeMap;
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
    for a in visible(view).filter(|a| !a.is_role) {
        rows_of(
            a.global,
            &[Value::str(a.quoted()), Value::str("def")],
            &mut out,
        );
    }
    Ok(out)
}

/// A role's own privileges, and those of the roles that are granted to it. An account's are its own.
fn with_granted(view: &View, a: &Arc<Account>) -> Vec<Arc<Account>> {
    match a.is_role {
        true => view.acl.with_granted(&a.user),
        false => vec![a.clone()],
    }
}

/// Sets of the same thing are one.
fn merged<K: Ord + Clone>(
    all: &[Arc<Account>],
    of: impl Fn(&Account) -> &BTreeMap<K, PrivilegeSet>,
) -> BTreeMap<K, PrivilegeSet> {
    let mut out: BTreeMap<K, PrivilegeSet> = BTreeMap::new();
    for (k, set) in all.iter().flat_map(|a| of(a)) {
        let have = out.entry(k.clone()).or_default();
        *have = have.with(*set);
    }
    out
}

fn grantee(a: &Account) -> Value {
    Value::str(format!("'{}'@'{}'", a.user, a.host))
}

pub(super) fn schema_privileges(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut out = Vec::new();
    for a in visible(view) {
        for (db, set) in merged(&with_granted(view, a), |a| &a.databases) {
            let head = [grantee(a), Value::str("def"), Value::str(db)];
            rows_of(set, &head, &mut out);
        }
    }
    Ok(out)
}

pub(super) fn table_privileges(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut out = Vec::new();
    for a in visible(view) {
        for ((db, table), set) in merged(&with_granted(view, a), |a| &a.tables) {
            let head = [
                grantee(a),
                Value::str("def"),
                Value::str(db),
                Value::str(table),
            ];
            rows_of(set, &head, &mut out);
        }
    }
    Ok(out)
}

pub(super) fn column_privileges(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut out = Vec::new();
    for a in visible(view) {
        let all = with_granted(view, a);
        let tables = merged(&all, |a| &a.tables);
        let mut columns: BTreeMap<_, BTreeMap<&str, PrivilegeSet>> = BTreeMap::new();
        for (key, list) in all.iter().flat_map(|a| &a.columns) {
            let of = columns.entry(key).or_default();
            for (c, set) in list {
                let have = of.entry(c).or_default();
                *have = have.with(*set);
            }
        }
        for (key, list) in columns {
            // The option is the table's.
            let table = tables.get(key).copied().unwrap_or_default();
            for (column, set) in list {
                let head = [
                    grantee(a),
                    Value::str("def"),
                    Value::str(key.0.as_str()),
                    Value::str(key.1.as_str()),
                    Value::str(column),
                ];
                let grantable = PrivilegeSet(table.0 & PrivilegeSet::GRANT_OPTION.0);
                rows_of(set.with(grantable), &head, &mut out);
            }
        }
    }
    Ok(out)
}

fn yes_no(yes: bool) -> Value {
    Value::str(if yes { "YES" } else { "NO" })
}

/// The roles that the session's account has, by others or itself.
pub(super) fn applicable_roles(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let mut out = Vec::new();
    let Some(own) = view.acl.get(&view.account.user, &view.account.host) else {
        return Ok(out);
    };
    let mut seen: Vec<String> = Vec::new();
    let mut open: Vec<(Arc<Account>, String)> = Vec::new();
    open.push((own.clone(), format!("{}@{}", own.user, own.host)));
    while let Some((a, name)) = open.pop() {
        for (role, admin) in &a.roles {
            let default = match a.is_role {
                true => Value::Null,
                false => yes_no(a.default_role == *role),
            };
            out.push(vec![
                Value::str(name.as_str()),
                Value::str(role.as_str()),
                yes_no(*admin),
                default,
            ]);
            if !seen.contains(role)
                && let Some(r) = view.acl.role(role)
            {
                seen.push(role.clone());
                open.push((r.clone(), role.clone()));
            }
        }
    }
    Ok(out)
}

/// The role that is set, and those that it has. One NULL if none is.
pub(super) fn enabled_roles(view: &View, _: &StatementEnv, _: &Wanted) -> SqlResult<Rows> {
    let Some(role) = &view.role else {
        return Ok(vec![vec![Value::Null]]);
    };
    let roles = view.acl.with_granted(role);
    // It has been dropped since.
    if roles.is_empty() {
        return Ok(vec![vec![Value::Null]]);
    }
    Ok(roles
        .iter()
        .map(|r| vec![Value::str(r.user.as_str())])
        .collect())
}
