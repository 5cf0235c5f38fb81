//! SHOW statements about the server: variables, status, processes, warnings, log positions, lists of names.

use crate::admin::Filter;
use crate::instance::Instance;
use crate::privileges::PrivilegeSet;
use crate::process::Process;
use crate::rows::Grid;
use crate::rows::opt;
use crate::session::ClientSession;
use crate::show::status::status_pairs;
use crate::variables::{VARIABLES, index};
use narwal_sql::virtual_tables::PERFORMANCE_SCHEMA;
use narwal_sql::{VariableScope, WarningLevel, engine_name};
use narwal_types::face::is_mysql;
use narwal_types::{Charset, Collation, SqlResult, TypeKind, Value, errors};
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn name_value(
    filter: &Filter,
    pairs: impl IntoIterator<Item = (String, String)>,
) -> SqlResult<Grid> {
    let mut g = Grid::new();
    g.text("Variable_name", 64).text("Value", 2048);
    for (n, v) in pairs {
        g.row(vec![Value::str(n), Value::str(v)]);
    }
    filter.apply(&mut g)?;
    Ok(g)
}

/// The sections of InnoDB's monitor that mean something here.
fn monitor_output(instance: &Instance) -> String {
    let db = instance.database();
    let kept = |p: &Arc<Process>| p.transaction.kept.load(Ordering::Relaxed);
    let open = instance.processes.all().iter().filter(|p| kept(p)).count();
    let (line, short) = ("=".repeat(37), "-".repeat(12));
    let visible = db.visible_seq();
    let reserved = db.reserved_seq();
    format!(
        "\n{line}\nNARWAL INNODB MONITOR OUTPUT\n{line}\n{short}\nTRANSACTIONS\n{short}\nOpen transactions {open}\n---\nLOG\n---\n\
         Commit sequence number {reserved}\nVisible up to          {visible}\n{}\nEND OF INNODB MONITOR OUTPUT\n{line}\n",
        "-".repeat(28)
    )
}

impl ClientSession {
    /// SHOW ENGINE. Of the store there is what tools look for in InnoDB's: the state of transactions and of the log.
    pub(super) fn show_engine(&mut self, engine: Option<&str>, status: bool) -> SqlResult<Grid> {
        if let Some(name) = engine
            && engine_name::own(name).is_none()
            && engine_name::stood_in_for(name).is_none()
            && !name.eq_ignore_ascii_case(PERFORMANCE_SCHEMA)
        {
            return Err(errors::UNKNOWN_STORAGE_ENGINE.with([&name]));
        }
        self.need_any(PrivilegeSet::PROCESS)?;
        let mut g = Grid::new();
        g.text("Type", 10).text("Name", 512).text("Status", 10);
        let own = |n: &str| n.eq_ignore_ascii_case("innodb") || n.eq_ignore_ascii_case("narwal");
        if status && engine.is_none_or(own) {
            let text = monitor_output(&self.instance);
            g.row(vec![Value::str("InnoDB"), Value::str(""), Value::str(text)]);
        }
        Ok(g)
    }

    pub(super) fn show_variables(&mut self, global: bool, filter: &Filter) -> SqlResult<Grid> {
        let mut pairs = Vec::new();
        for d in VARIABLES.iter() {
            if !d.shown_names().any(|n| filter.may_match(n)) || (global && !d.has_global()) {
                continue;
            }
            let scope = if global {
                VariableScope::Global
            } else {
                VariableScope::Any
            };
            let Some(i) = index(d.name) else { continue };
            let value = self.vars.read(scope, i)?.show();
            pairs.extend(d.shown_names().map(|n| (n.to_string(), value.clone())));
        }
        // MySQL's names stand where their order wants them.
        pairs.sort_unstable();
        name_value(filter, pairs)
    }

    pub(super) fn show_status(&mut self, global: bool, filter: &Filter) -> SqlResult<Grid> {
        let pairs = status_pairs(&self.view(), global, filter)?;
        name_value(filter, pairs)
    }

    pub(super) fn show_warnings(&mut self, errors: bool, offset: usize, limit: usize) -> Grid {
        let mut g = Grid::new();
        g.text("Level", 7)
            .any("Code", TypeKind::Int, false)
            .text("Message", 512);
        let conditions = self.env.conditions().clone();
        for c in conditions
            .iter()
            .filter(|c| !errors || c.level == WarningLevel::Error)
            .skip(offset)
            .take(limit)
        {
            g.row(vec![
                Value::str(match c.level {
                    WarningLevel::Note => "Note",
                    WarningLevel::Warning => "Warning",
                    WarningLevel::Error => "Error",
                }),
                Value::Int(i64::from(c.code)),
                Value::Str(c.message.clone()),
            ]);
        }
        g
    }

    pub(super) fn show_count_warnings(&mut self, errors: bool) -> Grid {
        let mut g = Grid::new();
        let (name, v) = if errors {
            ("@@session.error_count", &self.vars.facts.error_count)
        } else {
            ("@@session.warning_count", &self.vars.facts.warning_count)
        };
        g.uint(name, false);
        g.row(vec![Value::UInt(v.load(Ordering::Relaxed))]);
        g
    }

    pub(super) fn show_processlist(&mut self, full: bool) -> Grid {
        let mut g = Grid::new();
        g.int("Id", false)
            .text("User", 128)
            .text("Host", 64)
            .text_null("db", 64)
            .text("Command", 16)
            .any("Time", TypeKind::Int, false)
            .text_null("State", 30);
        if full {
            g.any("Info", TypeKind::Text(narwal_types::BlobSize::Long), true);
        } else {
            g.text_null("Info", 100);
        }
        // MariaDB's column.
        let progress = !is_mysql();
        if progress {
            g.any("Progress", TypeKind::Double, false);
            if let Some(c) = g.columns.last_mut() {
                c.decimals = 3;
            }
        }
        let all = self.account().global.has(PrivilegeSet::PROCESS);
        let now = self.instance.processes.now();
        for p in self.instance.processes.all() {
            let line = p.line(now);
            if !all && line.user != self.client.user {
                continue;
            }
            let info = line.info.map(|i| {
                if full {
                    i
                } else {
                    i.chars().take(100).collect()
                }
            });
            let mut row = vec![
                Value::Int(i64::from(line.id)),
                Value::str(line.user),
                Value::str(line.host),
                opt(line.db.as_deref().map(String::from)),
                Value::str(line.command),
                Value::Int(line.seconds as i64),
                Value::str(line.state),
                opt(info),
            ];
            row.extend(progress.then_some(Value::Double(0.0)));
            g.row(row);
        }
        g
    }
}

/// SHOW ENGINES.
pub(crate) fn engines() -> Grid {
    let mut g = Grid::new();
    g.text("Engine", 64)
        .text("Support", 8)
        .text("Comment", 160)
        .text_null("Transactions", 3)
        .text_null("XA", 3)
        .text_null("Savepoints", 3);
    for (name, support, comment) in [
        (
            "InnoDB",
            "DEFAULT",
            "Narwal's table store under the name that tools expect: snapshot isolation, row locks, one log",
        ),
        ("Narwal", "YES", "The same store by its own name"),
    ] {
        g.row(
            [name, support, comment, "YES", "YES", "YES"]
                .into_iter()
                .map(Value::str)
                .collect(),
        );
    }
    g
}

/// NO_NULL_COLLATION_IDS of `old_mode`.
pub(crate) fn has_collation_ids(env: &narwal_sql::StatementEnv) -> bool {
    let scope = narwal_sql::VariableScope::Session;
    let modes = env.variables.system(scope, "old_mode");
    matches!(modes, Ok(Value::Str(s)) if s.contains("NO_NULL_COLLATION_IDS"))
}

/// SHOW COLLATION: those that columns can have.
pub(crate) fn collations(filter: &Filter, with_ids: bool) -> SqlResult<Grid> {
    let mut g = all_collations(with_ids);
    filter.apply(&mut g)?;
    Ok(g)
}

/// How much longer than strings MariaDB's sort keys are where characters expand.
const SORTLEN: i64 = 8;

/// All collations. One that several character sets have is shown once, without an id, or for each of them (`with_ids`:
/// NO_NULL_COLLATION_IDS of `old_mode`).
pub(crate) fn all_collations(with_ids: bool) -> Grid {
    let mut g = Grid::new();
    g.text("Collation", 64)
        .text_null("Charset", 32)
        .int("Id", true)
        .text_null("Default", 3)
        .text("Compiled", 3)
        .int("Sortlen", false);
    for c in Collation::all() {
        // What MySQL has a name for is no kin of others there.
        let shared = c.shared_name().filter(|n| c.name().ends_with(n));
        if let Some(name) = shared.filter(|_| with_ids) {
            g.row(vec![
                Value::str(name),
                Value::str(c.charset().name()),
                Value::Int(i64::from(c.id())),
                Value::str(""),
                Value::str("Yes"),
                Value::Int(SORTLEN),
            ]);
            continue;
        }
        if let Some(name) = shared {
            // Once for all character sets.
            if c.charset() == Charset::Utf8mb4 {
                let mut row = vec![Value::str(name), Value::Null, Value::Null, Value::Null];
                row.extend([Value::str("Yes"), Value::Int(SORTLEN)]);
                g.row(row);
            }
            continue;
        }
        let default = c.charset().default_collation() == c;
        g.row(vec![
            Value::str(c.name()),
            Value::str(c.charset().name()),
            Value::Int(i64::from(c.id())),
            Value::str(if default { "Yes" } else { "" }),
            Value::str("Yes"),
            Value::Int(match c.name().contains("_0900_a") {
                true => 0,
                false => c.sort_length().into(),
            }),
        ]);
    }
    if is_mysql() {
        add_padding(&mut g);
    }
    g
}

/// MySQL's column Pad_attribute, and its order.
fn add_padding(g: &mut Grid) {
    g.text("Pad_attribute", 9);
    for row in &mut g.rows {
        let pads = match &row[0] {
            Value::Str(name) => Collation::from_name(name).is_none_or(Collation::pads),
            _ => true,
        };
        row.push(Value::str(if pads { "PAD SPACE" } else { "NO PAD" }));
    }
    g.rows.sort_by_cached_key(|row| format!("{:?}", row[0]));
}

/// SHOW CHARACTER SET: those that columns can have.
pub(crate) fn character_sets(filter: &Filter) -> SqlResult<Grid> {
    let mut g = all_character_sets();
    filter.apply(&mut g)?;
    Ok(g)
}

/// All character sets.
pub(crate) fn all_character_sets() -> Grid {
    let mut g = Grid::new();
    g.text("Charset", 32)
        .text("Description", 60)
        .text("Default collation", 64)
        .int("Maxlen", false);
    for c in Charset::ALL.iter().copied() {
        g.row(vec![
            Value::str(c.name()),
            Value::str(c.description()),
            Value::str(c.default_collation().name()),
            Value::Int(i64::from(c.char_bytes())),
        ]);
    }
    g
}

/// SHOW PRIVILEGES: those that rule something in Narwal.
pub(crate) fn privileges() -> Grid {
    let mut g = Grid::new();
    g.text("Privilege", 10)
        .text("Context", 15)
        .text("Comment", 27);
    for (name, context, comment) in [
        ("Alter", "Tables", "ALTER TABLE"),
        (
            "Binlog admin",
            "Server",
            "Settings of the log and of group commit",
        ),
        ("Binlog monitor", "Server", "SHOW MASTER STATUS"),
        (
            "Connection admin",
            "Server",
            "max_connections; KILL of other users' connections",
        ),
        (
            "Create",
            "Databases,Tables",
            "CREATE DATABASE and CREATE TABLE",
        ),
        (
            "Create user",
            "Server",
            "CREATE, ALTER, DROP and RENAME USER",
        ),
        ("Delete", "Tables", "DELETE and REPLACE"),
        ("Drop", "Databases,Tables", "DROP and TRUNCATE"),
        (
            "Grant option",
            "Databases,Tables",
            "GRANT of one's own privileges",
        ),
        ("Index", "Tables", "CREATE INDEX and DROP INDEX"),
        ("Insert", "Tables", "INSERT and REPLACE"),
        ("Process", "Server", "SHOW PROCESSLIST of all users"),
        (
            "Read_only admin",
            "Server",
            "Writes while read_only is ON, and read_only itself",
        ),
        ("Reload", "Server", "FLUSH and RESET"),
        (
            "Replication slave admin",
            "Server",
            "CHANGE MASTER, START SLAVE and STOP SLAVE, and their variables",
        ),
        ("Select", "Tables", "SELECT"),
        (
            "Show databases",
            "Server",
            "SHOW DATABASES of all databases",
        ),
        ("Shutdown", "Server", "SHUTDOWN"),
        ("Slave monitor", "Server", "SHOW REPLICA STATUS"),
        ("Super", "Server", "SET GLOBAL, KILL"),
        ("Update", "Tables", "UPDATE"),
        ("Usage", "Server", "To connect, and nothing else"),
    ] {
        g.row(
            [name, context, comment]
                .into_iter()
                .map(Value::str)
                .collect(),
        );
    }
    g
}
