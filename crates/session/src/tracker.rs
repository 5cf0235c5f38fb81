//! What a client is to be told of its session: what it watches, and what has changed.

use crate::settings::{Tracking, TransactionInfo, Watched};
use crate::variables;

/// `session_track_system_variables`.
#[derive(Debug, Default)]
pub(crate) enum WatchedRows {
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
pub(crate) struct Done {
    pub(crate) read: bool,
    pub(crate) wrote: bool,
    pub(crate) sent_rows: bool,
}

/// The variable that is set by commits.
pub(crate) const LAST_GTID: &str = "last_gtid";

pub(crate) const NO_TRANSACTION: [u8; 8] = *b"________";

/// What is watched, and what is to be told with the next answer.
#[derive(Debug, Default)]
pub(crate) struct Tracker {
    /// The client wants to be told.
    pub(crate) on: bool,
    pub(crate) watched: WatchedRows,
    /// `last_gtid` is watched.
    gtids: bool,
    pub(crate) schema: bool,
    pub(crate) state: bool,
    pub(crate) transaction: TransactionInfo,
    /// Something may have to be told.
    pub(crate) due: bool,
    /// `character_set_results` was set.
    pub(crate) results: bool,
    /// Variables that were set.
    pub(crate) set: Vec<usize>,
    pub(crate) schema_changed: bool,
    pub(crate) state_changed: bool,
    pub(crate) done: Done,
    pub(crate) told_state: [u8; 8],
    /// A transaction has begun, or SET TRANSACTION was said.
    pub(crate) characteristics_changed: bool,
    pub(crate) told_characteristics: Option<String>,
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
        self.gtids = match &self.watched {
            WatchedRows::None => false,
            WatchedRows::All => true,
            WatchedRows::These(these) => {
                variables::index(LAST_GTID).is_some_and(|i| these.contains(&i))
            }
        };
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

    /// A transaction of the session's has got a GTID: a proxy that reads from replicas waits for it there.
    #[inline]
    pub(crate) fn gtid(&mut self) {
        if self.gtids {
            self.set.extend(variables::index(LAST_GTID));
            self.due = true;
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
