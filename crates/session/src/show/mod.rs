//! SHOW and DESCRIBE: each statement makes a small result in memory, which LIKE or WHERE then thins out.

pub(crate) mod binlog;
mod condition;
pub(crate) mod events;
pub(crate) mod filter;
pub(crate) mod server;
pub(crate) mod status;
mod tables;

use crate::admin::{Filter, Show, UserName};
use crate::grant_texts;
use crate::information_schema::uncounted;
use crate::rows::{Grid, column};
use crate::session::ClientSession;
use narwal_types::{SqlResult, TypeKind, Value};

/// The title of a first column that names the pattern, as MariaDB's do.
fn title(name: &str, filter: &Filter) -> String {
    match filter {
        Filter::Like(p) => format!("{name} ({p})"),
        _ => name.to_string(),
    }
}

impl ClientSession {
    /// Makes a SHOW statement's result.
    pub(crate) fn show(&mut self, show: &Show) -> SqlResult<Grid> {
        let mut grid = self.unfiltered(show)?;
        if let Some(condition) = grid.condition.take() {
            self.keep_where(&mut grid, &condition)?;
        }
        Ok(grid)
    }

    /// The same before a WHERE that only a SELECT can tell.
    fn unfiltered(&mut self, show: &Show) -> SqlResult<Grid> {
        match show {
            Show::Databases(f) => self.show_databases(f),
            Show::Tables { full, db, filter } => self.show_tables(*full, db.as_deref(), filter),
            Show::TableStatus { db, filter } => self.show_table_status(db.as_deref(), filter),
            Show::Columns {
                full,
                table,
                filter,
            } => self.show_columns(*full, table, filter),
            Show::Index { table, filter } => self.show_index(table, filter),
            Show::CreateTable(t) => self.show_create_table(t),
            Show::CreateView(t) => self.show_create_view(t),
            Show::CreateSequence(t) => self.show_create_sequence(t),
            Show::CreateRoutine(kind, t) => self.show_create_routine(*kind, t),
            Show::CreateTrigger(t) => self.show_create_trigger(t),
            Show::CreateEvent(t) => self.show_create_event(t),
            Show::Events { db, filter } => self.show_events(db.as_deref(), filter),
            Show::RoutineStatus(kind, f) => self.show_routine_status(*kind, f),
            Show::Triggers { db, filter } => self.show_triggers(db.as_deref(), filter),
            Show::CreateDatabase {
                if_not_exists,
                name,
            } => self.show_create_database(*if_not_exists, name),
            Show::CreateUser(name) => {
                let a = self.shown_account(name, |_, _| crate::users::no_such_user())?;
                let mut g = Grid::new();
                g.text(&format!("CREATE USER for {}@{}", a.user, a.host), 1024);
                g.row(vec![Value::str(self.quoted(a.show_create()))]);
                if let Some(more) = a.show_create_more() {
                    g.row(vec![Value::str(more)]);
                }
                Ok(g)
            }
            Show::Grants(name) => {
                let a = self.shown_grants(name)?;
                let mut g = Grid::new();
                g.text(&grant_texts::title(&a), 1024);
                let with_role = *name == UserName::CurrentWithRole;
                let session = with_role.then_some(self.rights.role.as_deref());
                for line in grant_texts::show_grants(&self.instance.acl(), &a, session) {
                    let line = narwal_sql::show::in_mode(line, self.env.sql_mode);
                    let line = self.quoted(line);
                    g.row(vec![Value::str(line)]);
                }
                Ok(g)
            }
            Show::Variables { global, filter } => self.show_variables(*global, filter),
            Show::Status { global, filter } => self.show_status(*global, filter),
            Show::Warnings {
                errors,
                offset,
                limit,
            } => Ok(self.show_warnings(*errors, *offset, *limit)),
            Show::CountWarnings { errors } => Ok(self.show_count_warnings(*errors)),
            Show::ProcessList { full } => Ok(self.show_processlist(*full)),
            Show::Engines => Ok(server::engines()),
            Show::Engine { engine, status } => self.show_engine(engine.as_deref(), *status),
            Show::Collation(f) => server::collations(f, server::has_collation_ids(&self.env)),
            Show::CharacterSet(f) => server::character_sets(f),
            Show::MasterStatus(mysql) => self.show_master_status(*mysql),
            Show::BinaryLogs => self.show_binary_logs(),
            Show::BinlogEvents(_) => Ok(events::events_grid()),
            Show::ReplicaStatus(target) => self.show_replica_status(target),
            Show::ReplicaHosts => self.show_replica_hosts(),
            Show::Privileges => Ok(server::privileges()),
            Show::Plugins => {
                let mut g = Grid::new();
                g.text("Name", 64)
                    .text("Status", 16)
                    .text("Type", 80)
                    .text_null("Library", 64)
                    .text("License", 80);
                for (name, kind, library) in self.instance.plugins.listed() {
                    g.row(
                        [name, "ACTIVE", kind, library, "Apache-2.0"]
                            .map(Value::str)
                            .to_vec(),
                    );
                }
                Ok(g)
            }
            Show::Empty(columns) => {
                let mut g = Grid::new();
                for c in *columns {
                    g.text_null(c, 64);
                }
                Ok(g)
            }
            Show::Uncounted(table) => Ok(empty_list(table)),
        }
    }
}

/// An empty list with the columns of one of `information_schema`'s tables, named as SHOW names them: `Rows_read`.
fn empty_list(table: &str) -> Grid {
    let mut g = Grid::new();
    for c in uncounted(table) {
        let (first, rest) = c.name.split_at(1);
        let name = format!("{first}{}", rest.to_ascii_lowercase());
        // The one name that is another.
        let name = name.replace("_x_indexes", "_x_#indexes");
        let length = match c.ty.kind {
            TypeKind::VarChar(n) => u32::from(n),
            _ => u32::from(c.display_width.unwrap_or(0)),
        };
        g.columns
            .push(column(&name, c.ty.kind, c.ty.unsigned, length, c.nullable));
    }
    g
}
