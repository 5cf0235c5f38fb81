//! SHOW GRANTS: what an account or a role has been given, as the statements that give it.

use crate::acl::{Account, Acl, PUBLIC, RoutineKind};
use crate::privileges::PrivilegeSet;
use narwal_sql::show::quote_ident;
use narwal_types::face::is_mysql;
use std::collections::BTreeSet;

/// An account or a role as statements name it.
pub(crate) fn name(a: &Account) -> String {
    match (a.is_role, a.user.as_str()) {
        (true, PUBLIC) => PUBLIC.into(),
        (true, role) => quote_ident(role),
        (false, user) => format!("{}@{}", quote_ident(user), quote_ident(&a.host)),
    }
}

/// The account or role that SHOW GRANTS names in its heading.
pub(crate) fn title(a: &Account) -> String {
    match a.is_role {
        true => format!("Grants for {}", a.user),
        false => format!("Grants for {}@{}", a.user, a.host),
    }
}

fn option(p: PrivilegeSet) -> &'static str {
    match p.has(PrivilegeSet::GRANT_OPTION) {
        true => " WITH GRANT OPTION",
        false => "",
    }
}

/// SHOW GRANTS of an account or a role: one line each. `session`: that of this session, whose role and PUBLIC count.
pub(crate) fn show_grants(acl: &Acl, a: &Account, session: Option<Option<&str>>) -> Vec<String> {
    let mut lines = Vec::new();
    if a.is_role {
        for role in acl.with_granted(&a.user) {
            lines.extend(of_one(&role));
        }
        return lines;
    }
    lines.extend(of_one(a));
    if let Some(role) = session {
        for top in role.into_iter().chain([PUBLIC]) {
            for role in acl.with_granted(top) {
                lines.extend(of_one(&role));
            }
        }
    }
    if !a.default_role.is_empty() {
        let role = quote_ident(&a.default_role);
        lines.push(format!("SET DEFAULT ROLE {role} FOR {}", name(a)));
    }
    lines
}

/// What one account or role itself has been given.
fn of_one(a: &Account) -> Vec<String> {
    let to = name(a);
    let mut lines = Vec::new();
    for (role, admin) in &a.roles {
        let option = if *admin { " WITH ADMIN OPTION" } else { "" };
        lines.push(format!("GRANT {} TO {to}{option}", quote_ident(role)));
    }
    lines.extend(global(a, &to));
    for (db, p) in a.databases.iter().filter(|(_, p)| !p.is_empty()) {
        lines.push(format!(
            "GRANT {} ON {}.* TO {to}{}",
            p.grant_list(PrivilegeSet::ALL_DATABASE),
            quote_ident(db),
            option(*p)
        ));
    }
    tables(a, &to, &mut lines);
    for kind in RoutineKind::ALL {
        for ((_, db, routine), p) in a.routines.iter().filter(|((k, ..), _)| *k == kind) {
            lines.push(format!(
                "GRANT {} ON {} {}.{} TO {to}{}",
                p.grant_list(PrivilegeSet::NONE),
                kind.word(),
                quote_ident(db),
                quote_ident(routine),
                option(*p)
            ));
        }
    }
    for ((user, host), grant) in &a.proxies {
        lines.push(format!(
            "GRANT PROXY ON {}@{} TO {to}{}",
            quote_ident(user),
            quote_ident(host),
            if *grant { " WITH GRANT OPTION" } else { "" }
        ));
    }
    lines
}

fn global(a: &Account, to: &str) -> Option<String> {
    if a.is_role && a.user == PUBLIC && a.global.is_empty() {
        return None;
    }
    let limits = a.limits.clause();
    let with = match (option(a.global), limits.is_empty()) {
        ("", true) => String::new(),
        ("", false) => format!(" WITH{limits}"),
        (grant, _) => format!("{grant}{limits}"),
    };
    // MySQL says what an account proves itself by in SHOW CREATE USER alone.
    let proof = match is_mysql() {
        true => String::new(),
        false => format!("{}{}", a.identified(), a.tls.clause()),
    };
    Some(format!(
        "GRANT {} ON *.* TO {to}{proof}{with}",
        a.global.grant_list(PrivilegeSet::ALL_GLOBAL),
    ))
}

/// Privileges on tables and their columns: one line for each table.
fn tables(a: &Account, to: &str, lines: &mut Vec<String>) {
    let named: BTreeSet<_> = a.tables.keys().chain(a.columns.keys()).collect();
    for key in named {
        let whole = a.tables.get(key).copied().unwrap_or_default();
        let columns = a.columns.get(key);
        if whole.is_empty() && columns.is_none() {
            continue;
        }
        let list = match columns {
            None => whole.grant_list(PrivilegeSet::ALL_TABLE),
            Some(columns) => list_with_columns(whole, columns),
        };
        lines.push(format!(
            "GRANT {list} ON {}.{} TO {to}{}",
            quote_ident(&key.0),
            quote_ident(&key.1),
            option(whole)
        ));
    }
}

/// `SELECT (a), UPDATE`: a privilege that is on columns, too, stands twice.
pub(crate) fn list_with_columns(
    whole: PrivilegeSet,
    columns: &crate::acl::ColumnPrivileges,
) -> String {
    if whole.without(PrivilegeSet::GRANT_OPTION) == PrivilegeSet::ALL_TABLE {
        return "ALL PRIVILEGES".into();
    }
    let mut parts = Vec::new();
    for name in PrivilegeSet::ALL_TABLE.names() {
        let p = PrivilegeSet::from_names(&[name]);
        if whole.has(p) {
            parts.push(name.to_string());
        }
        let of: Vec<String> = columns
            .iter()
            .filter(|(_, set)| set.has(p))
            .map(|(c, _)| quote_ident(c))
            .collect();
        if !of.is_empty() {
            parts.push(format!("{name} ({})", of.join(", ")));
        }
    }
    match parts.is_empty() {
        true => "USAGE".into(),
        false => parts.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::password;

    #[test]
    fn grants_as_mariadb_prints_them() {
        let mut a = Account::new("u1", "localhost");
        a.auth = password::native_hash("x");
        a.databases.insert(
            "d".into(),
            PrivilegeSet::SELECT.with(PrivilegeSet::GRANT_OPTION),
        );
        a.databases
            .insert("test2".into(), PrivilegeSet::ALL_DATABASE);
        a.tables
            .insert(("d".into(), "t".into()), PrivilegeSet::ALL_TABLE);
        assert_eq!(
            show_grants(&Acl::default(), &a, None),
            [
                "GRANT USAGE ON *.* TO `u1`@`localhost` IDENTIFIED BY PASSWORD '*B69027D44F6E5EDC07F1AEAD1477967B16F28227'",
                "GRANT SELECT ON `d`.* TO `u1`@`localhost` WITH GRANT OPTION",
                "GRANT ALL PRIVILEGES ON `test2`.* TO `u1`@`localhost`",
                "GRANT ALL PRIVILEGES ON `d`.`t` TO `u1`@`localhost`",
            ]
        );
    }
}
