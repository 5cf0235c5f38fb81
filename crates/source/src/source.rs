//! The source side of one server, and the life of one dump.

use crate::dump::Dump;
use crate::error::DumpError;
use crate::io::DumpIo;
use crate::reader::{Client, ClientVars, DumpEnd};
use crate::registry::{ReaderInfo, Replica, now};
use crate::request::{DumpRequest, RegisterRequest};
use crate::semisync::SemiSync;
use crate::shared::{Entry, Shared};
use crate::start;
use crate::tail::{self, Tail, TailGroups};
use crate::wake::Wake;
use narwal_engine::Database;
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

/// The source side of replication of one server. Clones are the same one.
#[derive(Clone)]
pub struct Source(Arc<Shared>);

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").finish_non_exhaustive()
    }
}

/// Takes a dump out of the list when it ends.
struct Listed<'a>(&'a Shared, u64);

impl Drop for Listed<'_> {
    fn drop(&mut self) {
        self.0.readers.lock().all.remove(&self.1);
    }
}

impl Source {
    /// For an open database. `version` goes into format description events and must contain `MariaDB`, by which readers
    /// choose the dialect.
    #[must_use]
    pub fn new(db: Database, version: impl Into<String>) -> Self {
        Source(Arc::new(Shared {
            semi_sync: SemiSync::new(db.clone()),
            db,
            version: version.into(),
            tail: Tail::default(),
            readers: Mutex::default(),
            replicas: Mutex::default(),
            next: AtomicU64::new(1),
        }))
    }

    /// Semi-synchronous replication.
    #[must_use]
    pub fn semi_sync(&self) -> &SemiSync {
        &self.0.semi_sync
    }

    /// COM_REGISTER_SLAVE: the replica is listed until [`Source::disconnected`].
    pub fn register(&self, connection_id: u32, request: RegisterRequest) {
        let mut replicas = self.0.replicas.lock();
        // One that has come back is listed once.
        replicas.retain(|_, r| r.server_id != request.server_id);
        replicas.insert(
            connection_id,
            Replica {
                connection_id,
                server_id: request.server_id,
                host: request.host,
                user: request.user,
                port: request.port,
            },
        );
    }

    /// A connection has ended.
    pub fn disconnected(&self, connection_id: u32) {
        self.0.replicas.lock().remove(&connection_id);
    }

    /// The replicas that have registered, by `server_id`.
    #[must_use]
    pub fn replicas(&self) -> Vec<Replica> {
        let mut all: Vec<Replica> = self.0.replicas.lock().values().cloned().collect();
        all.sort_by_key(|r| r.server_id);
        all
    }

    /// The running dumps, oldest first.
    #[must_use]
    pub fn readers(&self) -> Vec<ReaderInfo> {
        let entries: Vec<Arc<Entry>> = self.0.readers.lock().all.values().cloned().collect();
        let durable = self.0.db.durable_lsn();
        let (end, seq) = self.0.db.log_end();
        let clock = now();
        entries
            .iter()
            .map(|e| {
                let p = *e.progress.lock();
                let behind = if p.caught_up && durable <= p.at.lsn {
                    0
                } else if p.at.timestamp > 0 {
                    clock.saturating_sub(u64::from(p.at.timestamp))
                } else {
                    0
                };
                ReaderInfo {
                    connection_id: e.connection_id,
                    user: e.user.clone(),
                    host: e.host.clone(),
                    server_id: e.server_id,
                    by_gtid: e.by_gtid,
                    semi_sync: e.semi_sync,
                    since: e.since,
                    at: p.at,
                    file: self.0.db.binlog_file_name(p.at.file_no),
                    groups: p.groups,
                    events: p.events,
                    bytes: p.bytes,
                    lag_bytes: durable.saturating_sub(p.at.lsn),
                    lag_transactions: match p.at.seq {
                        0 => 0,                    // not known yet
                        _ if p.at.lsn >= end => 0, // what followed was nothing for readers
                        at => seq.saturating_sub(at),
                    },
                    lag_seconds: behind,
                }
            })
            .collect()
    }

    /// COM_BINLOG_DUMP: sends events until something ends it, then an EOF packet, except where the client has gone. An
    /// error is the caller's to send. `wake` is what wakes the dump when [`Client::killed`] changes.
    ///
    /// # Errors
    /// See [`DumpError`].
    pub fn dump(
        &self,
        request: &DumpRequest,
        vars: &ClientVars,
        client: &dyn Client,
        wake: &Wake,
        io: &mut dyn DumpIo,
    ) -> Result<DumpEnd, DumpError> {
        let shared = &*self.0;
        let name = match request.server_id {
            0 => format!("reader {}@{}", vars.user, vars.host),
            id => format!("replica {id} ({}@{})", vars.user, vars.host),
        };
        // Before a place is looked up: no purge comes between.
        let hold = if request.server_id == 0 {
            shared.db.hold_log(&name, 0)
        } else {
            shared.db.register_reader(&name, 0)
        };
        let from = match &vars.connect_state {
            Some(gtids) => format!("GTID '{gtids}'"),
            None => format!("'{}' {}", request.file, request.position),
        };
        let began = Instant::now();
        let found = start::find(&shared.db, request, vars);
        let (groups, start) = match found {
            Ok(found) => found,
            Err(e) => {
                tracing::info!(
                    connection = vars.connection_id, user = vars.user, host = vars.host, server_id = request.server_id,
                    from, reason = %e, "a reader of the binary log was refused"
                );
                return Err(e);
            }
        };
        let entry = Arc::new(Entry {
            connection_id: vars.connection_id,
            user: vars.user.clone(),
            host: vars.host.clone(),
            server_id: request.server_id,
            by_gtid: vars.connect_state.is_some(),
            semi_sync: vars.semi_sync,
            since: now(),
            progress: Mutex::default(),
            asleep: AtomicBool::new(false),
            evicted: AtomicBool::new(false),
            wake: wake.clone(),
        });
        let id = shared.next.fetch_add(1, Ordering::Relaxed);
        {
            let mut readers = shared.readers.lock();
            // One that has come back does not know yet that its old connection is dead.
            for other in readers.all.values() {
                if request.server_id != 0 && other.server_id == request.server_id {
                    other.evict();
                }
            }
            readers.all.insert(id, entry.clone());
            if !readers.watched {
                readers.watched = tail::thread::start(&self.0);
            }
        }
        let _listed = Listed(shared, id);
        tracing::info!(
            connection = vars.connection_id, user = vars.user, host = vars.host, server_id = request.server_id, from,
            at = %format_args!("{} {}", start.file, start.pos), semi_sync = vars.semi_sync,
            "a reader of the binary log has attached"
        );
        let groups = TailGroups::new(&shared.db, &shared.tail, groups);
        let end = Dump::new(
            shared, client, vars, request, &entry, &hold, wake, io, groups,
        )
        .run(start);
        let p = *entry.progress.lock();
        let why = match &end {
            Ok(end) => end.to_string(),
            Err(e) => e.to_string(),
        };
        tracing::info!(
            connection = vars.connection_id, user = vars.user, host = vars.host, server_id = request.server_id,
            reason = why, at = %format_args!("{} {}", shared.db.binlog_file_name(p.at.file_no), p.at.pos),
            gtid = %p.at.gtid, groups = p.groups, events = p.events, bytes = p.bytes, seconds = began.elapsed().as_secs(),
            "a reader of the binary log has left"
        );
        end
    }
}
