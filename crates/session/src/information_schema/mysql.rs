//! The schema `mysql`: what accounts, grants and replication have there in MariaDB, as virtual tables. The others are empty.

use super::rows::Rows;
use crate::acl::{Account, Lifetime, NATIVE, OLD, TlsNeed};
use crate::privileges::PrivilegeSet;
use crate::programs::events::show::{event_column, event_rows};
use crate::programs::show as programs;
use crate::system_schemas::MYSQL;
use crate::view::View;
use narwal_engine::{ColumnDef, IndexColumn, IndexDef, Table, TableDef};
use narwal_sql::ast::{ColumnSpec, DdlStmt, IndexSpec};
use narwal_sql::{ParseOptions, Stmt, parse_statement};
use narwal_types::face::PerFace;
use narwal_types::{Collation, SqlResult, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The tables by name.
fn definitions() -> &'static BTreeMap<String, Arc<Table>> {
    static MADE: PerFace<BTreeMap<String, Arc<Table>>> = PerFace::new();
    MADE.get_or_init(|| {
        made(
            MYSQL,
            "Aria",
            Collation::Utf8mb3Bin,
            include_str!("mysql.sql"),
        )
    })
}

/// The tables of a schema that are made by these statements; their texts have the collation.
pub(super) fn made(
    db: &str,
    engine: &str,
    collation: Collation,
    statements: &str,
) -> BTreeMap<String, Arc<Table>> {
    let tables = statements.split(";\n").filter_map(|text| {
        let at = text.find("CREATE TABLE")?;
        // The text is a constant; a test makes all tables.
        let Ok(Stmt::Ddl(ddl)) = parse_statement(&text[at..], &ParseOptions::default()) else {
            return None;
        };
        let DdlStmt::CreateTable(c) = *ddl else {
            return None;
        };
        let own = c.options.collation.collation(collation, collation);
        let collation = own.ok().flatten().unwrap_or(collation);
        let columns: Vec<ColumnDef> = (c.elements.columns.into_iter())
            .map(|c| column(c, collation))
            .collect();
        let indexes = c.elements.indexes.iter();
        let table = Table::made(TableDef {
            id: 0,
            db: db.into(),
            name: c.table.name.clone(),
            indexes: indexes.filter_map(|i| index(i, &columns)).collect(),
            columns,
            hidden_index_id: 0,
            collation,
            comment: c.options.comment.unwrap_or_default(),
            auto_increment_start: 0,
            engine: c.options.engine.unwrap_or_else(|| engine.into()),
            created: 0,
            checks: Vec::new(),
            foreign_keys: Vec::new(),
            sequence: false,
            merge: None,
            period: None,
            declared: None,
            options: (c.options.kept.iter())
                .filter_map(|(name, value)| Some(((*name).to_string(), value.clone()?)))
                .collect(),
        });
        Some((c.table.name, table.ok()?))
    });
    tables.collect()
}

/// A column as it was parsed, with the collation of its table if it names none.
fn column(c: ColumnSpec, collation: Collation) -> ColumnDef {
    let mut def = c.def;
    if def.ty.has_charset() {
        let own = c.collation.collation(collation, collation);
        def.ty.collation = own.ok().flatten().unwrap_or(collation);
    }
    def
}

/// An index as it was parsed. It is shown, and nothing is kept in it.
fn index(i: &IndexSpec, columns: &[ColumnDef]) -> Option<IndexDef> {
    let position = |name: &str| columns.iter().position(|c| c.name == name);
    let parts = i.columns.iter().map(|(name, prefix, desc)| {
        Some(IndexColumn {
            column: position(name)?,
            prefix: prefix.and_then(|p| u16::try_from(p).ok()),
            desc: *desc,
        })
    });
    Some(IndexDef {
        id: 0,
        name: match i.primary {
            true => "PRIMARY".into(),
            false => i.name.clone().unwrap_or_default(),
        },
        unique: i.unique || i.primary,
        columns: parts.collect::<Option<_>>()?,
        comment: String::new(),
        implied: false,
        hashed: false,
        ignored: false,
        method: None,
        key_block_size: 0,
        without_overlaps: false,
    })
}

/// All tables by name.
pub(super) fn all() -> impl Iterator<Item = &'static Arc<Table>> {
    definitions().values()
}

/// A table's definition.
pub(super) fn definition(name: &str) -> Option<&'static Arc<Table>> {
    definitions().get(name)
}

/// The rows of a table.
pub(super) fn rows(view: &View, table: &Table) -> SqlResult<Rows> {
    let accounts = || view.acl.accounts().iter();
    let names = |values: &dyn Fn(&str) -> Value| -> Vec<Value> {
        table.columns().iter().map(|c| values(&c.name)).collect()
    };
    Ok(match table.def.name.as_str() {
        "user" => accounts().map(|a| names(&|n| user(a, n))).collect(),
        "global_priv" => accounts()
            .map(|a| {
                names(&|n| match n {
                    "Priv" => Value::str(global_priv(a)),
                    n => user(a, n),
                })
            })
            .collect(),
        "proc" => programs::proc_rows(view)
            .iter()
            .map(|d| names(&|n| programs::proc_column(d, n, narwal_types::Zone::UTC)))
            .collect(),
        "event" => event_rows(view)
            .iter()
            .map(|(d, last)| names(&|n| event_column(d, *last, n)))
            .collect(),
        "db" => accounts()
            .flat_map(|a| a.databases.iter().map(move |d| (a, d)))
            .map(|(a, (db, have))| {
                names(&|n| match n {
                    "Db" => Value::str(db.as_str()),
                    n => granted(*have, n).unwrap_or_else(|| user(a, n)),
                })
            })
            .collect(),
        "tables_priv" => accounts()
            .flat_map(|a| {
                let keys: BTreeSet<_> = a.tables.keys().chain(a.columns.keys()).collect();
                keys.into_iter().map(move |k| (a, k))
            })
            .map(|(a, key)| {
                let of_columns = a.columns.get(key).map(|list| {
                    let all = list.values();
                    all.fold(PrivilegeSet::NONE, |p, c| p.with(*c))
                });
                names(&|n| match n {
                    "Db" => Value::str(key.0.as_str()),
                    "Table_name" => Value::str(key.1.as_str()),
                    "Table_priv" => {
                        Value::str(listed(a.tables.get(key).copied().unwrap_or_default()))
                    }
                    "Column_priv" => Value::str(listed(of_columns.unwrap_or_default())),
                    n => granted_at(n).unwrap_or_else(|| user(a, n)),
                })
            })
            .collect(),
        "columns_priv" => columns_priv(view, table),
        "procs_priv" => procs_priv(view, table),
        "proxies_priv" => proxies_priv(view, table),
        "roles_mapping" => roles_mapping(view),
        "gtid_slave_pos" => {
            let state = view.instance.database().replica_state();
            state
                .slave_pos
                .values()
                .map(|g| {
                    vec![
                        Value::UInt(g.domain.into()),
                        Value::UInt(g.seq),
                        Value::UInt(g.server.into()),
                        Value::UInt(g.seq),
                    ]
                })
                .collect()
        }
        _ => Vec::new(),
    })
}

/// Grantor and time of a grant are not kept.
fn granted_at(column: &str) -> Option<Value> {
    match column {
        "Timestamp" => Some(Value::DateTime(narwal_types::DateTime::default())),
        "Grantor" => Some(Value::str("")),
        _ => None,
    }
}

fn columns_priv(view: &View, table: &Table) -> Rows {
    let mut rows = Vec::new();
    for a in view.acl.accounts() {
        for (key, list) in &a.columns {
            for (column, have) in list {
                let value = |n: &str| match n {
                    "Db" => Value::str(key.0.as_str()),
                    "Table_name" => Value::str(key.1.as_str()),
                    "Column_name" => Value::str(column.as_str()),
                    "Column_priv" => Value::str(listed(*have)),
                    n => granted_at(n).unwrap_or_else(|| user(a, n)),
                };
                rows.push(table.columns().iter().map(|c| value(&c.name)).collect());
            }
        }
    }
    rows
}

fn procs_priv(view: &View, table: &Table) -> Rows {
    let mut rows = Vec::new();
    for a in view.acl.accounts() {
        for ((kind, db, name), have) in &a.routines {
            let value = |n: &str| match n {
                "Db" => Value::str(db.as_str()),
                "Routine_name" => Value::str(name.as_str()),
                "Routine_type" => Value::str(kind.word()),
                "Proc_priv" => Value::str(listed(*have)),
                n => granted_at(n).unwrap_or_else(|| user(a, n)),
            };
            rows.push(table.columns().iter().map(|c| value(&c.name)).collect());
        }
    }
    rows
}

fn proxies_priv(view: &View, table: &Table) -> Rows {
    let mut rows = Vec::new();
    for a in view.acl.accounts() {
        for ((proxied, host), grant) in &a.proxies {
            let anybody = proxied.is_empty() && host == "%";
            let value = |n: &str| match n {
                "Proxied_host" => Value::str(if anybody { "" } else { host }),
                "Proxied_user" => Value::str(proxied.as_str()),
                "With_grant" => Value::Int(i64::from(*grant)),
                n => granted_at(n).unwrap_or_else(|| user(a, n)),
            };
            rows.push(table.columns().iter().map(|c| value(&c.name)).collect());
        }
    }
    rows
}

fn roles_mapping(view: &View) -> Rows {
    let accounts = view.acl.accounts().iter();
    accounts
        .flat_map(|a| a.roles.iter().map(move |r| (a, r)))
        .map(|(a, (role, admin))| {
            vec![
                Value::str(a.host.as_str()),
                Value::str(a.user.as_str()),
                Value::str(role.as_str()),
                Value::str(if *admin { "Y" } else { "N" }),
            ]
        })
        .collect()
}

/// The privilege that `X_priv` is about.
pub(super) fn privilege_of(column: &str) -> Option<PrivilegeSet> {
    let name = column.strip_suffix("_priv")?;
    let name = match name {
        "Grant" => "GRANT OPTION".to_string(),
        "Show_db" => "SHOW DATABASES".to_string(),
        "Create_tmp_table" => "CREATE TEMPORARY TABLES".to_string(),
        "Repl_slave" => "REPLICATION SLAVE".to_string(),
        "Repl_client" => "BINLOG MONITOR".to_string(),
        n => n.replace('_', " ").to_ascii_uppercase(),
    };
    Some(PrivilegeSet::from_names(&[name]))
}

/// `X_priv` as a privilege: Y or N.
fn granted(have: PrivilegeSet, column: &str) -> Option<Value> {
    let wanted = privilege_of(column)?;
    let yes = !wanted.is_empty() && have.has(wanted);
    Some(Value::str(if yes { "Y" } else { "N" }))
}

/// A column of `mysql.user`.
fn user(a: &Account, column: &str) -> Value {
    if let Some(v) = granted(a.global, column) {
        return v;
    }
    match column {
        "Host" => Value::str(a.host.as_str()),
        "User" => Value::str(a.user.as_str()),
        "Password" if a.plugin != NATIVE && a.plugin != OLD => Value::str(""),
        "Password" => Value::str(a.auth.as_str()),
        "plugin" => Value::str(a.plugin.as_str()),
        "authentication_string" => Value::str(a.auth.as_str()),
        "ssl_type" => Value::str(match &a.tls {
            TlsNeed::None => "",
            TlsNeed::Any => "ANY",
            TlsNeed::X509 => "X509",
            TlsNeed::Specified { .. } => "SPECIFIED",
        }),
        "ssl_cipher" | "x509_issuer" | "x509_subject" => Value::str(tls_part(a, column)),
        "password_expired" => Value::str(if a.expired { "Y" } else { "N" }),
        "is_role" => Value::str(if a.is_role { "Y" } else { "N" }),
        "default_role" => Value::str(a.default_role.as_str()),
        "max_statement_time" => Value::str(a.limits.seconds()),
        "max_questions" => Value::UInt(a.limits.queries),
        "max_updates" => Value::UInt(a.limits.updates),
        "max_connections" => Value::UInt(a.limits.connections),
        "max_user_connections" => Value::Int(a.limits.user_connections),
        _ => Value::str(""),
    }
}

/// `ssl_cipher`, `x509_issuer` or `x509_subject`.
fn tls_part<'a>(a: &'a Account, column: &str) -> &'a str {
    match &a.tls {
        TlsNeed::Specified {
            issuer,
            subject,
            cipher,
        } => match column {
            "ssl_cipher" => cipher.as_deref().unwrap_or(""),
            "x509_issuer" => issuer,
            _ => subject,
        },
        _ => "",
    }
}

/// The JSON of `mysql.global_priv`.
fn global_priv(a: &Account) -> String {
    if a.is_role {
        return format!(r#"{{"access":{},"is_role":true}}"#, a.global.access());
    }
    let mut all = serde_json::json!({
        "access": a.global.access(),
        "plugin": a.plugin,
        "authentication_string": a.auth,
        "account_locked": a.locked,
        "password_last_changed": if a.expired { 0 } else { a.password_changed },
        "password_lifetime": match a.lifetime {
            Lifetime::Default => -1,
            Lifetime::Never => 0,
            Lifetime::Days(n) => i64::from(n),
        },
    });
    if a.tls.is_some() {
        all["ssl_type"] = match &a.tls {
            TlsNeed::None => 0,
            TlsNeed::Any => 1,
            TlsNeed::X509 => 2,
            TlsNeed::Specified { .. } => 3,
        }
        .into();
        for part in ["ssl_cipher", "x509_issuer", "x509_subject"] {
            all[part] = tls_part(a, part).into();
        }
    }
    for (name, n) in [
        ("max_questions", a.limits.queries),
        ("max_updates", a.limits.updates),
        ("max_connections", a.limits.connections),
    ] {
        if n > 0 {
            all[name] = n.into();
        }
    }
    if a.limits.user_connections != 0 {
        all["max_user_connections"] = a.limits.user_connections.into();
    }
    if a.limits.statement_micros > 0 {
        all["max_statement_time"] = (a.limits.statement_micros as f64 / 1e6).into();
    }
    if !a.default_role.is_empty() {
        all["default_role"] = a.default_role.as_str().into();
    }
    all.to_string()
}

/// Privileges as a SET shows them. GRANT OPTION is Grant there.
fn listed(have: PrivilegeSet) -> String {
    let names = have.names().into_iter().map(|n| {
        let n = n.strip_suffix(" OPTION").unwrap_or(n);
        let mut c = n.chars();
        let first = c.next().map(String::from).unwrap_or_default();
        let name = first + &c.as_str().to_ascii_lowercase();
        // As the members of MariaDB's SET are written.
        name.replace("Create view", "Create View")
            .replace("Alter routine", "Alter Routine")
    });
    names.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_definitions_make_tables() {
        let written = include_str!("mysql.sql").matches("CREATE TABLE").count();
        assert_eq!(definitions().len(), written);
        assert_eq!(definition("user").unwrap().columns().len(), 47);
    }

    #[test]
    fn columns_are_privileges() {
        let have = PrivilegeSet::SELECT.with(PrivilegeSet::CREATE_VIEW);
        let of = |c| granted(have, c);
        assert_eq!(of("Select_priv"), Some(Value::str("Y")));
        assert_eq!(of("Create_view_priv"), Some(Value::str("Y")));
        assert_eq!(of("Insert_priv"), Some(Value::str("N")));
        assert_eq!(of("User"), None);
        assert_eq!(listed(have), "Select,Create View");
    }
}
