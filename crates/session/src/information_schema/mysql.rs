//! The schema `mysql`: what accounts, grants and replication have there in MariaDB, as virtual tables. The others are empty.

use super::rows::Rows;
use crate::acl::{Account, Lifetime, TlsNeed};
use crate::privileges::PrivilegeSet;
use crate::programs::events::show::{event_column, event_rows};
use crate::programs::show as programs;
use crate::view::View;
use narwal_engine::{ColumnDef, Table, TableDef};
use narwal_sql::ast::DdlStmt;
use narwal_sql::{ParseOptions, Stmt, parse_statement};
use narwal_types::{Collation, SqlResult, Value};
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

/// The schema's name.
pub(crate) const MYSQL: &str = "mysql";

/// The tables by name.
fn definitions() -> &'static BTreeMap<String, Arc<Table>> {
    static MADE: OnceLock<BTreeMap<String, Arc<Table>>> = OnceLock::new();
    MADE.get_or_init(|| {
        include_str!("mysql.sql")
            .split(";\n")
            .filter_map(|text| {
                let at = text.find("CREATE TABLE")?;
                // The text is a constant; a test makes all tables.
                let Ok(Stmt::Ddl(ddl)) = parse_statement(&text[at..], &ParseOptions::default())
                else {
                    return None;
                };
                let DdlStmt::CreateTable(c) = *ddl else {
                    return None;
                };
                let table = Table::made(TableDef {
                    id: 0,
                    db: MYSQL.into(),
                    name: c.table.name.clone(),
                    columns: c
                        .elements
                        .columns
                        .into_iter()
                        .map(|c| column(c.def))
                        .collect(),
                    indexes: Vec::new(),
                    hidden_index_id: 0,
                    collation: Collation::default(),
                    comment: String::new(),
                    auto_increment_start: 0,
                    engine: "Aria".into(),
                    created: 0,
                    checks: Vec::new(),
                    foreign_keys: Vec::new(),
                    sequence: false,
                });
                Some((c.table.name, table.ok()?))
            })
            .collect()
    })
}

/// A column as it was parsed, with the collation that these tables have.
fn column(mut c: ColumnDef) -> ColumnDef {
    if c.ty.is_character() {
        c.ty.collation = Collation::Utf8mb3Bin;
    }
    c
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
            .flat_map(|a| a.tables.iter().map(move |t| (a, t)))
            .map(|(a, ((db, t), have))| {
                names(&|n| match n {
                    "Db" => Value::str(db.as_str()),
                    "Table_name" => Value::str(t.as_str()),
                    "Table_priv" => Value::str(listed(*have)),
                    "Timestamp" => Value::Null,
                    "Grantor" | "Column_priv" => Value::str(""),
                    n => user(a, n),
                })
            })
            .collect(),
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

/// `X_priv` as a privilege: Y or N.
fn granted(have: PrivilegeSet, column: &str) -> Option<Value> {
    let name = column.strip_suffix("_priv")?;
    let name = match name {
        "Grant" => "GRANT OPTION".to_string(),
        "Show_db" => "SHOW DATABASES".to_string(),
        "Create_tmp_table" => "CREATE TEMPORARY TABLES".to_string(),
        "Repl_slave" => "REPLICATION SLAVE".to_string(),
        "Repl_client" => "BINLOG MONITOR".to_string(),
        n => n.replace('_', " ").to_ascii_uppercase(),
    };
    let wanted = PrivilegeSet::from_names(&[name]);
    let yes = !wanted.is_empty() && have.has(wanted);
    Some(Value::str(if yes { "Y" } else { "N" }))
}

/// A column of `mysql.user`.
fn user(a: &Account, column: &str) -> Value {
    if let Some(v) = granted(a.global, column) {
        return v;
    }
    let native = a.native_hash().is_some() || a.auth.is_empty();
    match column {
        "Host" => Value::str(a.host.as_str()),
        "User" => Value::str(a.user.as_str()),
        "Password" => Value::str(if native { a.auth.as_str() } else { "" }),
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
        "is_role" => Value::str("N"),
        "max_statement_time" => Value::Decimal(narwal_types::Decimal::from(0u64)),
        c if c.starts_with("max_") => Value::Int(0),
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
    let mut all = serde_json::json!({
        "access": a.global.0,
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
    all.to_string()
}

/// Privileges as a SET shows them.
fn listed(have: PrivilegeSet) -> String {
    let names = have.names().into_iter().map(|n| {
        let mut c = n.chars();
        let first = c.next().map(String::from).unwrap_or_default();
        let name = first + &c.as_str().to_ascii_lowercase();
        // As the members of MariaDB's SET are written.
        name.replace("Create view", "Create View")
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
