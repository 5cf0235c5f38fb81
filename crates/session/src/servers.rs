//! CREATE, ALTER and DROP SERVER: rows of `mysql.servers`, which nothing here connects to.

use crate::acl;
use crate::privileges::PrivilegeSet;
use crate::session::ClientSession;
use crate::table_statistics::{Each, hex};
use crate::words::ServerStatement;
use narwal_syntax::ast::ddl::{CreateServer, ServerOption};
use narwal_types::errors::{self, codes};
use narwal_types::{SqlError, SqlResult};

/// The columns of `mysql.servers` that options fill, and how many characters each takes.
const COLUMNS: [(&str, &str, usize); 6] = [
    ("HOST", "Host", 2048),
    ("DATABASE", "Db", 64),
    ("USER", "Username", 128),
    ("PASSWORD", "Password", 64),
    ("SOCKET", "Socket", 108),
    ("OWNER", "Owner", 512),
];

/// Most characters of a server's name and of its wrapper's.
const NAME: usize = 64;

/// A text that is cut to what a column takes, as a literal.
fn literal(text: &str, most: usize) -> String {
    let cut: String = text.chars().take(most).collect();
    hex(cut.as_bytes())
}

/// The columns that options set, each with its value.
fn values(options: &[ServerOption]) -> SqlResult<Vec<(&'static str, String)>> {
    let mut out = Vec::new();
    for o in options {
        if o.name == "PORT" {
            let port = (o.value.parse::<i32>()).map_err(|_| {
                errors::DATA_OUT_OF_RANGE.text("port value is out of range in 'INT'")
            })?;
            out.push(("Port", port.to_string()));
        } else if let Some((_, column, most)) = COLUMNS.iter().find(|c| c.0 == o.name) {
            out.push((*column, literal(&o.value, *most)));
        }
    }
    Ok(out)
}

/// The condition that finds a server, whatever case its name is written in.
fn named(name: &str) -> String {
    format!(
        "Server_name = CONVERT({} USING utf8mb3)",
        literal(name, NAME)
    )
}

fn missing(name: &str) -> SqlError {
    errors::FOREIGN_SERVER_DOESNT_EXIST.with([&name])
}

impl ClientSession {
    /// Runs a statement about servers; gives the number of rows that it changed.
    pub(crate) fn server_statement(&mut self, s: &ServerStatement) -> SqlResult<u64> {
        let wanted = PrivilegeSet::FEDERATED_ADMIN;
        if !self.account().global.has(wanted) {
            return Err(acl::privilege_needed(wanted));
        }
        self.refuse_under_read_only()?;
        self.refuse_under_read_lock()?;
        match s {
            ServerStatement::Create(c) => self.create_server(c),
            ServerStatement::Alter(name, options) => {
                if !self.has_server(name)? {
                    return Err(missing(name));
                }
                let set: Vec<String> = (values(options)?.iter())
                    .map(|(column, value)| format!("{column} = {value}"))
                    .collect();
                self.write_servers(&format!(
                    "UPDATE mysql.servers SET {} WHERE {}",
                    set.join(", "),
                    named(name)
                ))?;
                Ok(1)
            }
            ServerStatement::Drop(d) => match self.has_server(&d.name)? {
                true => self.drop_server(&d.name).map(|()| 1),
                false if d.if_exists => Ok(0),
                false => Err(missing(&d.name)),
            },
        }
    }

    fn create_server(&mut self, c: &CreateServer) -> SqlResult<u64> {
        let exists = self.has_server(&c.name)?;
        if exists && !c.creation.or_replace {
            let e = errors::FOREIGN_SERVER_EXISTS.with([&c.name]);
            if !c.creation.if_not_exists {
                return Err(e);
            }
            self.env.note(codes::FOREIGN_SERVER_EXISTS, e.message);
            return Ok(0);
        }
        let mysql = c.wrapper.eq_ignore_ascii_case("mysql");
        let says = |name: &str| c.options.iter().any(|o| o.name == name);
        if mysql && !says("HOST") && !says("SOCKET") {
            let why = "either HOST or SOCKET must be set";
            return Err(errors::CANT_CREATE_FEDERATED_TABLE.with([&why]));
        }
        let mut row = values(&c.options)?;
        row.push(("Server_name", literal(&c.name, NAME)));
        row.push(("Wrapper", literal(&c.wrapper, NAME)));
        if mysql && !says("PORT") {
            row.push(("Port", "3306".to_string()));
        }
        if exists {
            self.drop_server(&c.name)?;
        }
        let (columns, values): (Vec<_>, Vec<_>) = row.into_iter().unzip();
        self.write_servers(&format!(
            "INSERT INTO mysql.servers ({}) VALUES ({})",
            columns.join(", "),
            values.join(", ")
        ))?;
        Ok(0)
    }

    fn drop_server(&self, name: &str) -> SqlResult<()> {
        self.write_servers(&format!("DELETE FROM mysql.servers WHERE {}", named(name)))
    }

    fn has_server(&self, name: &str) -> SqlResult<bool> {
        let mut found = false;
        let text = format!("SELECT 1 FROM mysql.servers WHERE {}", named(name));
        let mut own = self.instance.connect_internal()?;
        own.query(text.as_bytes(), &mut Each(|_: &[_]| found = true))?;
        Ok(found)
    }

    /// Changes the table on this server alone, as MariaDB does.
    fn write_servers(&self, text: &str) -> SqlResult<()> {
        let mut own = self.instance.connect_internal()?;
        own.query(b"SET sql_log_bin = 0", &mut Each(|_: &[_]| ()))?;
        own.query(text.as_bytes(), &mut Each(|_: &[_]| ()))
    }
}
