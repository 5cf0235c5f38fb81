//! What the rows of the table may reach of the server and of the session that sets or reads a variable. The server and
//! the session implement it, so that the table knows neither of them.

use super::value::VarValue;
use crate::gtid_names::{GtidNext, HeldNames};
use crate::replica::filter::ReplicaFilter;
use narwal_binlog::Gtid;
use narwal_engine::Database;
use narwal_source::Source;
use narwal_types::{Collation, SqlResult};
use parking_lot::Mutex;
use std::fmt::{Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};

/// Settings of the server that every statement or commit asks for.
#[derive(Debug, Default)]
pub(crate) struct Switches {
    /// `read_only`.
    pub read_only: AtomicBool,
    /// `super_read_only`.
    pub super_read_only: AtomicBool,
    /// `gtid_strict_mode`.
    pub gtid_strict: AtomicBool,
}

/// The server, as rows see it.
pub(crate) trait ServerParts {
    fn database(&self) -> &Database;
    fn source(&self) -> &Source;
    fn switches(&self) -> &Switches;
    /// The names of transactions that sessions hold.
    fn held_names(&self) -> &Arc<HeldNames>;
    /// The global value of a variable.
    fn value(&self, name: &str) -> VarValue;
    /// Seconds after which the archive gets what there is.
    fn set_archive_timeout(&self, seconds: u64);
    /// Variables of the audit log have changed.
    fn audit_changed(&self);
    /// `event_scheduler` has changed.
    fn events_changed(&self);
    /// The audit log begins a new file.
    fn rotate_audit(&self);
    /// Variables about passwords have changed.
    fn password_rules_changed(&self);
    fn replica_filter(&self, connection: &str) -> Arc<ReplicaFilter>;
    /// The name of a connection to a source that runs.
    fn running_replica(&self) -> Option<String>;
    fn skip_counter(&self, connection: &str) -> u64;
    fn set_skip_counter(&self, connection: &str, groups: u64) -> SqlResult<()>;
    fn gtid_slave_pos_text(&self) -> String;
    fn gtid_current_pos(&self) -> String;
    fn set_gtid_slave_pos(&self, text: String) -> SqlResult<()>;
}

/// The GTID of a session's last commit. Each commit notes one, and hardly any is asked for: it becomes text then.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) enum LastGtid {
    #[default]
    None,
    Gtid(Gtid),
    Text(String),
}

impl From<Gtid> for LastGtid {
    fn from(gtid: Gtid) -> Self {
        LastGtid::Gtid(gtid)
    }
}

/// Empty: nothing was written.
impl From<String> for LastGtid {
    fn from(text: String) -> Self {
        match text.is_empty() {
            true => LastGtid::None,
            false => LastGtid::Text(text),
        }
    }
}

impl Display for LastGtid {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            LastGtid::None => Ok(()),
            LastGtid::Gtid(gtid) => gtid.fmt(f),
            LastGtid::Text(text) => f.write_str(text),
        }
    }
}

/// What is known of a session beside its settings. Written by its own thread, read by its statements.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    pub connection_id: u32,
    /// The statement's time, microseconds since 1970.
    pub now_micros: AtomicI64,
    /// `SET timestamp`: microseconds since 1970, 0 if the clock counts.
    pub fixed_micros: AtomicI64,
    pub last_insert_id: AtomicU64,
    /// `SET insert_id`: the next AUTO_INCREMENT value; 0 for the table's own. The insert that takes it clears it.
    pub insert_id: Arc<AtomicU64>,
    /// `rand_seed1` and `rand_seed2` in one word (`narwal_sql::with_seed`).
    pub rand_seeds: Arc<AtomicU64>,
    /// `SET pseudo_thread_id`; 0 for the connection's id.
    pub pseudo_thread_id: AtomicU64,
    pub warning_count: AtomicU64,
    pub error_count: AtomicU64,
    pub in_transaction: AtomicBool,
    pub last_gtid: Mutex<LastGtid>,
    /// Sequence number for the next GTID, 0 for the next in order.
    pub gtid_seq_no: AtomicU64,
    /// The name that the next transaction is to have.
    pub gtid_next: GtidNext,
}

impl Facts {
    /// Microseconds since 1970 as the session's statements have them.
    pub(crate) fn clock(&self) -> i64 {
        match self.fixed_micros.load(Ordering::Relaxed) {
            0 => self.now_micros.load(Ordering::Relaxed),
            fixed => fixed,
        }
    }

    /// Forgets all that a client has set (COM_RESET_CONNECTION).
    pub(crate) fn reset(&self) {
        self.fixed_micros.store(0, Ordering::Relaxed);
        self.last_insert_id.store(0, Ordering::Relaxed);
        self.insert_id.store(0, Ordering::Relaxed);
        self.rand_seeds.store(0, Ordering::Relaxed);
        self.pseudo_thread_id.store(0, Ordering::Relaxed);
        self.warning_count.store(0, Ordering::Relaxed);
        self.error_count.store(0, Ordering::Relaxed);
        *self.last_gtid.lock() = LastGtid::None;
        self.gtid_seq_no.store(0, Ordering::Relaxed);
        self.gtid_next.forget();
    }
}

/// A session whose variables are read.
pub(crate) trait SessionView {
    fn server(&self) -> &dyn ServerParts;
    fn facts(&self) -> &Facts;
    /// The session's value of a variable.
    fn value(&self, name: &str) -> VarValue;
    /// The default database's collation.
    fn database_collation(&self) -> Collation;
}

/// A session whose variables are set.
pub(crate) trait SessionParts {
    /// What is read of it.
    fn view(&self) -> &dyn SessionView;
    fn server(&self) -> &dyn ServerParts {
        self.view().server()
    }
    fn facts(&self) -> &Facts {
        self.view().facts()
    }
    /// The session's value of a variable.
    fn value(&self, name: &str) -> VarValue {
        self.view().value(name)
    }
    fn autocommit(&self) -> bool;
    fn in_transaction(&self) -> bool;
    /// Under LOCK TABLES.
    fn has_locked_tables(&self) -> bool;
    /// Commits the open transaction, if there is one.
    fn commit_open(&mut self) -> SqlResult<()>;
    fn last_insert_id(&self) -> u64;
    fn set_last_insert_id(&mut self, id: u64);
    /// What `collation_database` is until the next USE.
    fn set_database_collation(&mut self, collation: Collation);
    /// Error 1617 if there is no such connection to a source.
    fn need_connection(&self, connection: &str) -> SqlResult<()>;
    fn check_gtid_seq_no(&self, seq: u64) -> SqlResult<()>;
    fn check_gtid_slave_pos(&self, text: &str) -> SqlResult<()>;
    /// The name under which the table has a variable.
    fn variable_name(&self, name: &str) -> Option<&'static str>;
}
