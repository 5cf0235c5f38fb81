//! Session tracking: what a client that asked for it (CLIENT_SESSION_TRACK) is told of its session with the answers to its
//! statements, as the `session_track_*` variables have it.
//!
//! Which changes count, and how a transaction's state and characteristics are written: MariaDB knowledge base, "Result Set
//! Packets" and "OK_Packet"; what is not said there was looked up in the answers of a MariaDB 10.11 server.

use crate::open_transaction::Open;
use crate::session::ClientSession;
use crate::settings::TransactionInfo;
use crate::tracker::{Done, LAST_GTID, NO_TRANSACTION, WatchedRows};
use crate::variables::VARIABLES;
use narwal_engine::Isolation;
use narwal_types::{ResultSink, SessionChange};

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
            let name = VARIABLES[i].name;
            let value = match name {
                LAST_GTID => vars.facts.last_gtid.lock().to_string(),
                _ => vars.get(i).show(),
            };
            changes.push(SessionChange::Variable(name, value));
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
        if self.tx.open.is_none() {
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
        if self.tx.open.is_some() {
            let done = self.track.done;
            s[0] = if self.tx.explicit { b'T' } else { b'I' };
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
        if self.locks.tables.is_some() {
            s[7] = b'L';
        }
        s
    }

    /// The statements that would begin such a transaction again, or those that stand for the next.
    fn characteristics(&self) -> String {
        let said = match &self.tx.open {
            Some(o) if self.tx.explicit => o.said,
            // An implicit transaction is what the settings make of it.
            Some(_) => return String::new(),
            None => self.tx.next,
        };
        let mut text = String::new();
        if let Some(i) = said.isolation {
            text = format!("SET TRANSACTION ISOLATION LEVEL {}; ", isolation_name(i));
        }
        let access = said
            .read_only
            .map(|r| if r { "READ ONLY" } else { "READ WRITE" });
        match (self.tx.open.as_deref(), access) {
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
