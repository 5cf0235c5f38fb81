//! With whose privileges programs run, and who may run them.

use super::definition::Definition;
use super::store::Store;
use crate::acl::{self, Account, RoutineKind};
use crate::privileges::PrivilegeSet;
use narwal_engine::Table;
use narwal_program::RowSlot;
use narwal_sql::{ColumnUse, Needs, StatementEnv};
use narwal_types::errors;
use narwal_types::{Name, SqlError, SqlResult};
use std::sync::Arc;

/// Error 1449.
pub(crate) fn no_definer(def: &Definition) -> SqlError {
    errors::NO_SUCH_USER.with([&def.definer.0, &def.definer.1])
}

/// The account that expressions see as the current one; one that was dropped meanwhile has no privileges. `None` for an
/// applier's, which is none of the accounts.
fn current(store: &Store, env: &StatementEnv) -> Option<Arc<Account>> {
    let (user, host) = env.current_user.rsplit_once('@')?;
    let found = (store.acl()).effective(user, host, env.current_role.as_deref());
    match found {
        None if env.applies => None,
        None => Some(Arc::new(Account::new(user, host))),
        found => found,
    }
}

/// Error 1370 unless the account may run it: by EXECUTE, or because it is its own. `caller`: whose privileges count in the
/// place of the current account's.
pub(crate) fn check_execute(
    store: &Store,
    def: &Definition,
    caller: Option<&(String, String)>,
    env: &StatementEnv,
) -> SqlResult<()> {
    let account = match caller {
        None => current(store, env),
        Some((user, host)) => Some(
            (store.acl().definer(user, host))
                .ok_or_else(|| errors::NO_SUCH_USER.with([user, host]))?,
        ),
    };
    let Some(account) = account else {
        return Ok(());
    };
    if !may(&account, def, PrivilegeSet::EXECUTE) {
        return Err(denied(&account, def, "execute"));
    }
    if def.invoker {
        return Ok(());
    }
    // So may the definer.
    match account_of(store, def, env)? {
        Some(a) if !may(&a, def, PrivilegeSet::EXECUTE) => Err(denied(&a, def, "execute")),
        _ => Ok(()),
    }
}

/// The account has a privilege on a routine.
pub(crate) fn may(account: &Account, def: &Definition, wanted: PrivilegeSet) -> bool {
    if let Some((package, _)) = def.name.split_once('.') {
        let kind = RoutineKind::PackageBody;
        return account.on_routine(kind, &def.db, package).has(wanted);
    }
    match def.kind.routine() {
        Some(kind) => account.on_routine(kind, &def.db, &def.name).has(wanted),
        None => account
            .global
            .with(account.on_database(&def.db))
            .has(wanted),
    }
}

/// Error 1370.
pub(crate) fn denied(account: &Account, def: &Definition, verb: &str) -> SqlError {
    let full = format!("{}.{}", def.db, def.name);
    errors::PROCACCESS_DENIED_ERROR.with([&verb, &account.user, &account.host, &full])
}

/// The account that a program's statements run with.
pub(crate) fn account_of(
    store: &Store,
    def: &Definition,
    env: &StatementEnv,
) -> SqlResult<Option<Arc<Account>>> {
    if def.invoker {
        return Ok(current(store, env));
    }
    let acl = store.acl();
    match acl.definer(&def.definer.0, &def.definer.1) {
        Some(a) => Ok(Some(a)),
        None => Err(no_definer(def)),
    }
}

/// Checks what a trigger needs of its own table: TRIGGER, and SELECT and UPDATE for the columns that it reads and sets.
/// Error 1142 or 1143.
pub(super) fn check_trigger(
    store: &Store,
    def: &Definition,
    row: &[RowSlot],
    table: &Table,
    env: &StatementEnv,
) -> SqlResult<()> {
    let Some(account) = account_of(store, def, env)? else {
        return Ok(());
    };
    let (db, name) = (&table.def.db, &table.def.name);
    let have = account.global.with(account.on_table(db, name));
    if !have.has(PrivilegeSet::TRIGGER) {
        let host = &account.host;
        return Err(acl::table_denied("TRIGGER", &account, host, db, name));
    }
    for r in row {
        let column = &table.def.columns[r.column].name;
        let may = have.with(account.on_column(db, name, column));
        let wanted = [
            (r.read, PrivilegeSet::SELECT),
            (r.written, PrivilegeSet::UPDATE),
        ];
        for (_, wanted) in wanted.into_iter().filter(|(used, _)| *used) {
            if !may.has(wanted) {
                let host = &account.host;
                return Err(acl::column_denied(wanted, &account, host, name, column));
            }
        }
    }
    Ok(())
}

/// Error 1142 or 1143 unless the account that a program runs with may read a column of a table, or all of them.
pub(super) fn check_type_of(
    store: &Store,
    table: &Table,
    column: Option<&str>,
    env: &StatementEnv,
) -> SqlResult<()> {
    let Some(account) = current(store, env) else {
        return Ok(());
    };
    // One that was dropped runs nothing: error 1449 comes before the program's first step.
    if (store.acl().definer(&account.user, &account.host)).is_none() {
        return Ok(());
    }
    let wanted = PrivilegeSet::SELECT;
    let (db, name) = (&table.def.db, &table.def.name);
    let have = account.global.with(account.on_table(db, name));
    if have.has(wanted) || table.temporary {
        return Ok(());
    }
    let host = &account.host;
    if !account.on_some_column(db, name).has(wanted) {
        return Err(acl::table_denied("SELECT", &account, host, db, name));
    }
    let mut columns = table.def.columns.iter();
    let is_wanted = |c: &str| column.is_none_or(|w| w.same_name(c));
    let denied =
        columns.find(|c| is_wanted(&c.name) && !account.on_column(db, name, &c.name).has(wanted));
    match denied {
        Some(c) => Err(acl::column_denied(wanted, &account, host, name, &c.name)),
        None => Ok(()),
    }
}

/// Checks what a statement of a function or a trigger needs. `uses` says which columns it uses, where privileges on single
/// columns have to do.
pub(crate) fn check_nested(
    store: &Store,
    def: &Definition,
    needs: &[Needs],
    env: &StatementEnv,
    uses: impl FnOnce() -> SqlResult<Vec<ColumnUse>>,
) -> SqlResult<()> {
    let Some(account) = account_of(store, def, env)? else {
        return Ok(());
    };
    let mut by_column = false;
    for n in needs {
        let wanted = PrivilegeSet::from(n.privilege);
        let through = n.through.as_ref().and_then(|t| t.account.as_ref());
        let of_view = match through {
            Some((user, host)) => store.acl().definer(user, host),
            None => None,
        };
        let who = of_view.as_ref().unwrap_or(&account);
        let have = match n.table.is_empty() {
            true => who.on_database(&n.db),
            false => who.on_table(&n.db, &n.table),
        };
        if n.db.eq_ignore_ascii_case("information_schema")
            || who.global.has(wanted)
            || have.has(wanted)
        {
            continue;
        }
        if who.on_some_column(&n.db, &n.table).has(wanted) {
            by_column = true;
            continue;
        }
        return Err(acl::table_denied(
            &wanted.names().join(", "),
            &account,
            &account.host,
            &n.db,
            &n.table,
        ));
    }
    match by_column {
        true => check_columns(store, &account, &uses()?),
        false => Ok(()),
    }
}

fn check_columns(store: &Store, account: &Arc<Account>, uses: &[ColumnUse]) -> SqlResult<()> {
    for u in uses {
        let wanted = PrivilegeSet::from(u.privilege);
        let through = u.through.as_ref().and_then(|t| t.account.as_ref());
        let who = match through {
            Some((user, host)) => store.acl().definer(user, host),
            None => Some(account.clone()),
        };
        let may = who.is_some_and(|a| {
            a.on_table(&u.db, &u.table)
                .with(a.on_column(&u.db, &u.table, &u.column))
                .has(wanted)
        });
        if !may && !u.db.eq_ignore_ascii_case("information_schema") {
            return Err(acl::column_denied(
                wanted,
                account,
                &account.host,
                &u.table,
                &u.column,
            ));
        }
    }
    Ok(())
}
