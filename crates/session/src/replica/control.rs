//! What the statements about connections ask of what receives and applies.

use super::{ChangeMaster, ConnectionStatus, Until};
use narwal_sql::Condition;
use narwal_types::SqlResult;
use std::time::Duration;

/// Which connections a statement is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    /// The connection of this name; the default connection's name is empty. Names are compared without case.
    Named(&'a str),
    /// All of them.
    All,
}

/// Threads of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Threads {
    /// The receiver (`IO_THREAD`).
    pub io: bool,
    /// The applier (`SQL_THREAD`).
    pub sql: bool,
}

impl Threads {
    /// Both.
    pub const BOTH: Threads = Threads {
        io: true,
        sql: true,
    };
    /// None.
    pub const NONE: Threads = Threads {
        io: false,
        sql: false,
    };
}

/// What START SLAVE is to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartWhat {
    /// The threads.
    pub threads: Threads,
    /// Where to stop again.
    pub until: Option<Until>,
    /// `USER`, for this start only.
    pub user: Option<String>,
    /// `PASSWORD`, for this start only.
    pub password: Option<String>,
}

impl StartWhat {
    /// Both threads, with no end.
    pub fn both() -> Self {
        StartWhat {
            threads: Threads::BOTH,
            until: None,
            user: None,
            password: None,
        }
    }
}

/// What runs the connections. Errors and warnings are those that the client gets.
pub trait ReplicaControl: Send + Sync {
    /// CHANGE MASTER: makes the connection, or changes it. Errors: 1198 if it runs, and what its settings deserve.
    fn change_master(&self, name: &str, change: &ChangeMaster) -> SqlResult<Vec<Condition>>;

    /// START SLAVE, START ALL SLAVES.
    fn start(&self, which: Which<'_>, what: &StartWhat) -> SqlResult<Vec<Condition>>;

    /// STOP SLAVE, STOP ALL SLAVES. Comes back when the threads have ended.
    fn stop(&self, which: Which<'_>, threads: Threads) -> SqlResult<Vec<Condition>>;

    /// RESET SLAVE; with `all` its settings are forgotten too.
    fn reset(&self, name: &str, all: bool) -> SqlResult<Vec<Condition>>;

    /// The connections' status, by name. Error 1617 if there is none of the name given, save for the default connection.
    fn status(&self, which: Which<'_>) -> SqlResult<Vec<ConnectionStatus>>;

    /// `sql_slave_skip_counter` of a connection: groups that its applier is to leave out yet.
    fn skip_counter(&self, name: &str) -> u64;

    /// Sets `sql_slave_skip_counter`. Errors: 1198 while the applier runs, 1617, 1966.
    fn set_skip_counter(&self, name: &str, groups: u64) -> SqlResult<()>;

    /// The name of a connection with a running thread.
    fn running(&self) -> Option<String>;

    /// MASTER_POS_WAIT: waits until the connection's applier is at or behind a position of its source. The number of
    /// groups it waited for; `None` if the connection does not exist, does not run or stops meanwhile, `Some(-1)` when
    /// the time is up. `killed` ends the wait.
    fn wait_for_position(
        &self,
        name: &str,
        file: &str,
        pos: u64,
        timeout: Option<Duration>,
        killed: &dyn Fn() -> bool,
    ) -> Option<i64>;

    /// Stops all connections, for the server's end. They start again with the server.
    fn shutdown(&self);
}
