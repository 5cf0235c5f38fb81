//! Session tracking: what a client that asked for it (CLIENT_SESSION_TRACK) is told of its session with the answers to its
//! statements, as the `session_track_*` variables have it.
//!
//! Which changes count, and how a transaction's state and characteristics are written: MariaDB knowledge base, "Result Set
//! Packets" and "OK_Packet"; what is not said there was looked up in the answers of a MariaDB 10.11 server.

use crate::session::ClientSession;
use crate::settings::{Tracking, TransactionInfo, Watched};
use crate::transaction::Open;
use crate::variables::{self, VARIABLES};
use narwal_engine::Isolation;
use narwal_types::{ResultSink, SessionChange};

/// `session_track_system_variables`.
#[derive(Debug, Default)]
enum WatchedRows {
    #[default]
    None,
    All,
    /// Positions in [`VARIABLES`].
    These(Vec<usize>),
}

impl WatchedRows {
    fn of(watched: &Watched) -> WatchedRows {
        match watched {
            Watched::None => WatchedRows::None,
            Watched::All => WatchedRows::All,
            Watched::These(names) => {
                WatchedRows::These(names.iter().filter_map(|n| variables::index(n)).collect())
            }
        }
    }
}

/// What the statements of the open transaction did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Done {
    read: bool,
    wrote: bool,
    sent_rows: bool,
}

const NO_TRANSACTION: [u8; 8] = *b"________";

/// What is watched, and what is to be told with the next answer.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    /// The client wants to be told.
    on: bool,
    watched: WatchedRows,
    schema: bool,
    state: bool,
    transaction: TransactionInfo,
    /// Something may have to be told.
    pub(crate) due: bool,
    /// `character_set_results` was set.
    results: bool,
    /// Variables that were set.
    set: Vec<usize>,
    schema_changed: bool,
    state_changed: bool,
    done: Done,
    told_state: [u8; 8],
    /// A transaction has begun, or SET TRANSACTION was said.
    characteristics_changed: bool,
    told_characteristics: Option<String>,
}

impl Tracker {
    /// Starts anew for a client that wants to be told, or does not.
    pub(crate) fn start(&mut self, on: bool) {
        *self = Tracker {
            on,
            told_state: NO_TRANSACTION,
            ..Tracker::default()
        };
    }

    /// Takes over the session variables after they changed.
    pub(crate) fn configure(&mut self, wanted: &Tracking) {
        if !self.on {
            return;
        }
        self.schema = wanted.schema;
        self.state = wanted.state;
        self.watched = WatchedRows::of(&wanted.variables);
        let info = wanted.transaction;
        if info != self.transaction {
            // What watches from now on says how it stands.
            if self.transaction == TransactionInfo::Off {
                self.told_state = [0; 8];
            }
            self.told_characteristics = None;
            self.transaction = info;
        }
        self.due |= info != TransactionInfo::Off;
    }

    /// `character_set_results` was set: that concerns the sink, whatever the client wants to know.
    pub(crate) fn results_changed(&mut self) {
        self.results = true;
        self.due = true;
    }

    /// A session variable was set.
    pub(crate) fn variable(&mut self, index: usize) {
        if self.on {
            self.set.push(index);
            self.state_changed();
        }
    }

    /// A session variable was set.
    pub(crate) fn variable_named(&mut self, name: &str) {
        if self.on
            && let Some(index) = variables::index(name)
        {
            self.variable(index);
        }
    }

    /// The default database was chosen, or is gone.
    pub(crate) fn schema(&mut self) {
        if self.on {
            self.schema_changed = true;
            self.state_changed();
        }
    }

    /// The session's state has changed in another way.
    pub(crate) fn state_changed(&mut self) {
        if self.on {
            self.state_changed = true;
            self.due = true;
        }
    }

    /// A transaction has begun, or SET TRANSACTION was said of the next.
    pub(crate) fn characteristics(&mut self) {
        self.characteristics_changed = true;
    }

    /// A new transaction has begun.
    pub(crate) fn begin(&mut self) {
        self.done = Done::default();
        self.characteristics_changed = true;
    }

    /// A consistent snapshot was taken, or a statement of the open transaction has read or written tables.
    pub(crate) fn touched(&mut self, read: bool, wrote: bool) {
        self.done.read |= read;
        self.done.wrote |= wrote;
    }

    /// Rows were sent.
    pub(crate) fn sent_rows(&mut self) {
        self.done.sent_rows = true;
    }
}

fn isolation_name(isolation: Isolation) -> &'static str {
    match isolation {
        Isolation::ReadCommitted => "READ COMMITTED",
        Isolation::RepeatableRead => "REPEATABLE READ",
        Isolation::Serializable => "SERIALIZABLE",
    }
}

impl ClientSession {
    /// Gives the sink what the client is to be told with the answer that follows.
    #[cold]
    pub(crate) fn announce(&mut self, out: &mut dyn ResultSink) {
        self.announce_results(out);
        let changes = self.take_changes();
        if !changes.is_empty() {
            out.session_changes(&changes);
        }
    }

    /// Tells the sink if `character_set_results` was set.
    pub(crate) fn announce_results(&mut self, out: &mut dyn ResultSink) {
        if std::mem::take(&mut self.track.results) {
            out.set_results(self.results);
        }
    }

    /// What the client is to be told since this was last asked; nothing, if it does not want that.
    pub fn take_changes(&mut self) -> Vec<SessionChange> {
        let mut changes = Vec::new();
        let (vars, t) = (&self.vars, &mut self.track);
        t.due = t.transaction != TransactionInfo::Off;
        let mut set = std::mem::take(&mut t.set);
        set.retain(|i| match &t.watched {
            WatchedRows::None => false,
            WatchedRows::All => true,
            WatchedRows::These(these) => these.contains(i),
        });
        set.sort_unstable();
        set.dedup();
        for i in set {
            changes.push(SessionChange::Variable(
                VARIABLES[i].name,
                vars.get(i).show(),
            ));
        }
        if std::mem::take(&mut t.schema_changed) && t.schema {
            let db = self.env.db.as_deref().unwrap_or_default();
            changes.push(SessionChange::Schema(db.to_string()));
        }
        if std::mem::take(&mut t.state_changed) && t.state {
            changes.push(SessionChange::State);
        }
        if self.track.transaction != TransactionInfo::Off {
            self.transaction_changes(&mut changes);
        }
        changes
    }

    fn transaction_changes(&mut self, changes: &mut Vec<SessionChange>) {
        let state = self.transaction_state();
        if self.open.is_none() {
            self.track.done = Done::default();
        }
        if state != self.track.told_state {
            self.track.told_state = state;
            changes.push(SessionChange::Transaction(state));
        }
        let marked = std::mem::take(&mut self.track.characteristics_changed);
        if self.track.transaction != TransactionInfo::Characteristics {
            return;
        }
        let now = self.characteristics();
        // Two transactions of one form are two.
        let told = self.track.told_characteristics.as_ref();
        if told != Some(&now) || (marked && !now.is_empty()) {
            changes.push(SessionChange::Characteristics(now.clone()));
            self.track.told_characteristics = Some(now);
        }
    }

    /// Eight marks: explicit or implicit transaction, reads and writes of tables without and with transactions, statements
    /// that are not safe to be repeated, rows sent, LOCK TABLES.
    fn transaction_state(&self) -> [u8; 8] {
        let mut s = NO_TRANSACTION;
        if self.open.is_some() {
            let done = self.track.done;
            s[0] = if self.explicit { b'T' } else { b'I' };
            for (at, mark, on) in [
                (2, b'R', done.read),
                (4, b'W', done.wrote),
                (6, b'S', done.sent_rows),
            ] {
                if on {
                    s[at] = mark;
                }
            }
        }
        if self.locked.is_some() {
            s[7] = b'L';
        }
        s
    }

    /// The statements that would begin such a transaction again, or those that stand for the next.
    fn characteristics(&self) -> String {
        let said = match &self.open {
            Some(o) if self.explicit => o.said,
            // An implicit transaction is what the settings make of it.
            Some(_) => return String::new(),
            None => self.next,
        };
        let mut text = String::new();
        if let Some(i) = said.isolation {
            text = format!("SET TRANSACTION ISOLATION LEVEL {}; ", isolation_name(i));
        }
        let access = said
            .read_only
            .map(|r| if r { "READ ONLY" } else { "READ WRITE" });
        match (self.open.as_deref(), access) {
            (Some(Open { snapshot, .. }), access) => {
                text.push_str("START TRANSACTION");
                if *snapshot {
                    text.push_str(" WITH CONSISTENT SNAPSHOT");
                }
                if let Some(a) = access {
                    text.push_str(if *snapshot { ", " } else { " " });
                    text.push_str(a);
                }
                text.push(';');
            }
            (None, Some(a)) => {
                text.push_str("SET TRANSACTION ");
                text.push_str(a);
                text.push(';');
            }
            (None, None) => {}
        }
        text.truncate(text.trim_end().len());
        text
    }
}
