//! The process list: what each connection is doing, and how to stop it.

use crate::status::Counters;
use narwal_engine::KillFlag;
use parking_lot::{Mutex, RwLock};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering,
};
use std::time::Instant;

/// Ends a connection (`true`) or only its running statement (`false`); called from another connection's thread.
pub type Killer = Arc<dyn Fn(bool) + Send + Sync>;

/// Says what a thread is doing.
pub(crate) type StateTeller = Arc<dyn Fn() -> &'static str + Send + Sync>;

/// What a connection is doing, SHOW PROCESSLIST's Command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Command {
    Sleep = 0,
    Query = 1,
    Prepare = 2,
    Execute = 3,
    InitDb = 4,
    ResetConnection = 5,
    ChangeUser = 6,
    Killed = 7,
    RegisterReplica = 8,
    BinlogDump = 9,
    ReplicaIo = 10,
    ReplicaSql = 11,
    ReplicaWorker = 12,
    Daemon = 13,
    Connect = 14,
}

impl Command {
    fn name(v: u8) -> &'static str {
        match v {
            1 => "Query",
            2 => "Prepare",
            3 => "Execute",
            4 => "Init DB",
            5 => "Reset connection",
            6 => "Change user",
            7 => "Killed",
            8 => "Register Slave",
            9 => "Binlog Dump",
            10 => "Slave_IO",
            11 => "Slave_SQL",
            12 => "Slave_worker",
            13 => "Daemon",
            14 => "Connect",
            _ => "Sleep",
        }
    }
}

/// SHOW PROCESSLIST's State.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Stage {
    None = 0,
    Starting = 1,
    Executing = 2,
    Commit = 3,
    Ddl = 4,
    Rollback = 5,
    SendingEvents = 6,
    NextBinlog = 7,
    SentAll = 8,
    WaitingForReadLock = 9,
    WaitingForTableLock = 10,
}

impl Stage {
    fn name(v: u8) -> &'static str {
        match v {
            1 => "starting",
            2 => "Executing",
            3 => "Commit",
            4 => "altering table",
            5 => "Rollback",
            9 => "Waiting for backup lock",
            10 => "Waiting for table metadata lock",
            6 => "Sending binlog event to slave",
            7 => "Finished reading one binlog; switching to next binlog",
            8 => "Master has sent all binlog to slave; waiting for more updates",
            _ => "",
        }
    }
}

/// User, host and database of a connection; COM_CHANGE_USER and USE change them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Identity {
    /// User as given.
    pub user: String,
    /// `host:port` as SHOW PROCESSLIST prints it.
    pub host: String,
    /// Default database.
    pub db: Option<Arc<str>>,
}

/// Longest statement text kept for the process list, in bytes.
const INFO_LIMIT: usize = 64 << 10;

/// Commands so far, of all connections of all servers in this process.
static COMMANDS: AtomicU64 = AtomicU64::new(0);

/// One connection.
pub(crate) struct Process {
    pub id: u32,
    pub identity: Mutex<Identity>,
    command: AtomicU8,
    stage: AtomicU8,
    /// Microseconds since the server's start at which the command began.
    pub(crate) since: AtomicU64,
    info: Mutex<Vec<u8>>,
    /// The number of the command ([`Process::query_id`]).
    query: AtomicU64,
    /// Stops the running statement.
    pub interrupt: Arc<AtomicBool>,
    /// The connection is to end.
    pub killed: AtomicBool,
    /// What KILL asked for, for a commit that waits for a replica.
    pub kill_flag: Arc<KillFlag>,
    /// The interrupt came from `max_statement_time`.
    pub timed_out: AtomicBool,
    /// Microseconds since the server's start at which the running statement must end; 0 = never.
    pub deadline: AtomicU64,
    killer: Mutex<Option<Killer>>,
    /// Wakes the session where it sleeps at something else than the engine.
    waker: Mutex<Option<Arc<dyn Fn() + Send + Sync>>>,
    /// The state of a thread of the server's own; empty: that of [`Stage`].
    pub(crate) text: Mutex<&'static str>,
    /// Asked for the state instead of `text`, if there is one.
    pub(crate) teller: Mutex<Option<StateTeller>>,
    /// A thread of the server's own: no connection.
    system: bool,
    pub counters: Counters,
    pub memory: MemoryFacts,
    pub transaction: TransactionFacts,
}

/// What others see of a session's transaction. The counts are those at the end of its last statement.
#[derive(Default)]
pub(crate) struct TransactionFacts {
    /// Its number; 0: none.
    pub id: AtomicU64,
    /// Microseconds since the server's start at which it began.
    pub since: AtomicU64,
    /// It stays open behind the running statement.
    pub kept: AtomicBool,
    pub read_only: AtomicBool,
    /// As `SET TRANSACTION` numbers them, the weakest first.
    pub isolation: AtomicU8,
    pub locks: AtomicU64,
    pub tables: AtomicU64,
    /// It has changed rows.
    pub changed: AtomicBool,
}

/// What others see of a session's memory.
#[derive(Default)]
pub(crate) struct MemoryFacts {
    /// What its thread holds; `None` for threads that are no client's.
    gauge: Option<narwal_memory::Gauge>,
    /// From where on that counts.
    base: AtomicI64,
    most: AtomicI64,
}

impl MemoryFacts {
    /// Of a session that runs on the calling thread.
    pub(crate) fn of_this_thread() -> Self {
        let base = narwal_memory::keep(0);
        MemoryFacts {
            gauge: Some(narwal_memory::Gauge::of_this_thread()),
            base: AtomicI64::new(base),
            most: AtomicI64::new(0),
        }
    }

    /// A command has ended, and the session keeps so many bytes.
    #[inline]
    pub(crate) fn command_ends(&self, kept: i64) {
        let peak = narwal_memory::peak() - narwal_memory::base();
        if peak > self.most.load(Ordering::Relaxed) {
            self.most.store(peak, Ordering::Relaxed);
        }
        let base = narwal_memory::keep(kept);
        if let Some(g) = &self.gauge {
            self.base.store(base, Ordering::Relaxed);
            g.show();
        }
    }

    /// Bytes that the session holds.
    pub(crate) fn used(&self) -> i64 {
        let held = self.gauge.as_ref().map_or(0, narwal_memory::Gauge::bytes);
        (held - self.base.load(Ordering::Relaxed)).max(0)
    }

    /// The most it has held.
    pub(crate) fn most(&self) -> i64 {
        self.most.load(Ordering::Relaxed).max(self.used())
    }
}

impl Process {
    pub(crate) fn new(id: u32, identity: Identity, killer: Option<Killer>) -> Self {
        Process {
            id,
            identity: Mutex::new(identity),
            command: AtomicU8::new(Command::Sleep as u8),
            stage: AtomicU8::new(Stage::None as u8),
            since: AtomicU64::new(0),
            info: Mutex::new(Vec::new()),
            query: AtomicU64::new(0),
            interrupt: Arc::new(AtomicBool::new(false)),
            killed: AtomicBool::new(false),
            kill_flag: Arc::default(),
            timed_out: AtomicBool::new(false),
            deadline: AtomicU64::new(0),
            killer: Mutex::new(killer),
            waker: Mutex::new(None),
            text: Mutex::new(""),
            teller: Mutex::new(None),
            system: false,
            counters: Counters::default(),
            memory: MemoryFacts::default(),
            transaction: TransactionFacts::default(),
        }
    }

    /// A line for a thread of the server's own.
    pub(crate) fn system(id: u32, command: Command, now: u64, killer: Killer) -> Self {
        let identity = Identity {
            user: "system user".into(),
            ..Identity::default()
        };
        let mut this = Process::new(id, identity, Some(killer));
        this.system = true;
        this.begin(command, b"", now);
        this
    }

    /// A connection, and no thread of the server's own.
    pub(crate) fn is_client(&self) -> bool {
        !self.system
    }

    /// The number of the running statement, which no other one has; `None` while nothing runs.
    pub(crate) fn query_id(&self) -> Option<u64> {
        let idle = self.command.load(Ordering::Relaxed) == Command::Sleep as u8;
        (!idle).then(|| self.query.load(Ordering::Relaxed))
    }

    /// A command begins. Cheap: some stores, an uncontended mutex and a copy of the text.
    pub(crate) fn begin(&self, command: Command, text: &[u8], now: u64) {
        self.since.store(now, Ordering::Relaxed);
        self.command.store(command as u8, Ordering::Relaxed);
        self.stage.store(Stage::Starting as u8, Ordering::Relaxed);
        let query = COMMANDS.fetch_add(1, Ordering::Relaxed) + 1;
        self.query.store(query, Ordering::Relaxed);
        narwal_memory::begin();
        let mut info = self.info.lock();
        info.clear();
        info.extend_from_slice(&text[..text.len().min(INFO_LIMIT)]);
    }

    /// The command has ended.
    pub(crate) fn end(&self, now: u64) {
        self.since.store(now, Ordering::Relaxed);
        self.command.store(Command::Sleep as u8, Ordering::Relaxed);
        self.stage.store(Stage::None as u8, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn stage(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Relaxed);
    }

    /// Stops the running statement (`connection` false) or the connection.
    pub(crate) fn kill(&self, connection: bool) {
        self.stop(connection);
        let killer = self.killer.lock().clone();
        if let Some(k) = killer {
            k(connection);
        }
    }

    /// As [`Process::kill`], without a word to the front: it has asked for this, or knows.
    pub(crate) fn stop(&self, connection: bool) {
        if connection {
            self.killed.store(true, Ordering::SeqCst);
        }
        self.kill_flag.set(connection);
        self.interrupt();
    }

    /// Sets what wakes the session when it is interrupted; `None` takes it away.
    pub(crate) fn set_waker(&self, waker: Option<Arc<dyn Fn() + Send + Sync>>) {
        *self.waker.lock() = waker;
    }

    /// Stops the running statement, from another thread.
    pub(crate) fn interrupt(&self) {
        self.interrupt.store(true, Ordering::SeqCst);
        let waker = self.waker.lock().clone();
        if let Some(wake) = waker {
            wake();
        }
    }

    /// A line of the process list.
    pub(crate) fn line(&self, now: u64) -> Line {
        let identity = self.identity.lock().clone();
        let killed = self.killed.load(Ordering::Relaxed);
        let command = if killed {
            Command::Killed as u8
        } else {
            self.command.load(Ordering::Relaxed)
        };
        let running = command != Command::Sleep as u8;
        Line {
            id: self.id,
            user: identity.user,
            host: identity.host,
            db: identity.db,
            command: Command::name(command),
            seconds: now.saturating_sub(self.since.load(Ordering::Relaxed)) / 1_000_000,
            state: if self.kill_flag.waits_for_replica() {
                "Waiting for semi-sync ACK from slave"
            } else {
                let told = self.teller.lock().clone().map(|tell| tell());
                match told.unwrap_or(*self.text.lock()) {
                    "" => Stage::name(self.stage.load(Ordering::Relaxed)),
                    text => text,
                }
            },
            info: running
                .then(|| {
                    narwal_syntax::secrets::mask(&String::from_utf8_lossy(&self.info.lock()))
                        .into_owned()
                })
                .filter(|s| !s.is_empty()),
            memory: (self.memory.used(), self.memory.most()),
            query: self.query.load(Ordering::Relaxed),
        }
    }

    /// The text of the statement that runs, if one does.
    pub(crate) fn running_text(&self) -> Option<String> {
        let command = self.command.load(Ordering::Relaxed);
        let runs = command == Command::Query as u8 || command == Command::Execute as u8;
        let info = self.info.lock();
        // A text that was cut means something else.
        let whole = runs && !info.is_empty() && info.len() < INFO_LIMIT;
        whole.then(|| String::from_utf8_lossy(&info).into_owned())
    }

    pub(crate) fn is_running(&self) -> bool {
        self.command.load(Ordering::Relaxed) != Command::Sleep as u8
    }
}

/// A line of SHOW PROCESSLIST.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub id: u32,
    pub user: String,
    pub host: String,
    pub db: Option<Arc<str>>,
    pub command: &'static str,
    pub seconds: u64,
    pub state: &'static str,
    pub info: Option<String>,
    /// Bytes that the session holds, and the most it has held.
    pub memory: (i64, i64),
    /// The number of what runs, or ran last.
    pub query: u64,
}

/// All connections.
pub(crate) struct ProcessList {
    start: Instant,
    all: RwLock<BTreeMap<u32, Arc<Process>>>,
    max: AtomicU64,
    /// Threads of the server's own among them.
    own: AtomicUsize,
    /// Their ids so far.
    system: AtomicU32,
}

/// Ids from here on are those of the server's own threads.
const SYSTEM_IDS: u32 = 1_900_000_000;

impl ProcessList {
    /// The first of `n` ids that no client has.
    pub(crate) fn system_ids(&self, n: u32) -> u32 {
        SYSTEM_IDS + self.system.fetch_add(n, Ordering::Relaxed) % (1 << 27)
    }

    pub(crate) fn new() -> Self {
        ProcessList {
            start: Instant::now(),
            all: RwLock::new(BTreeMap::new()),
            max: AtomicU64::new(0),
            own: AtomicUsize::new(0),
            system: AtomicU32::new(0),
        }
    }

    /// Microseconds since the start, at least 1.
    pub(crate) fn now(&self) -> u64 {
        self.start.elapsed().as_micros() as u64 + 1
    }

    pub(crate) fn uptime_seconds(&self) -> u64 {
        self.start.elapsed().as_secs()
    }

    pub(crate) fn add(&self, p: Arc<Process>) {
        let mut all = self.all.write();
        self.own.fetch_add(usize::from(p.system), Ordering::Relaxed);
        all.insert(p.id, p);
        self.max
            .fetch_max(self.clients_of(&all) as u64, Ordering::Relaxed);
    }

    pub(crate) fn remove(&self, id: u32) {
        let removed = self.all.write().remove(&id);
        if removed.is_some_and(|p| p.system) {
            self.own.fetch_sub(1, Ordering::Relaxed);
        }
    }

    pub(crate) fn get(&self, id: u32) -> Option<Arc<Process>> {
        self.all.read().get(&id).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Process>> {
        self.all.read().values().cloned().collect()
    }

    /// Connections of clients.
    pub(crate) fn len(&self) -> usize {
        self.clients_of(&self.all.read())
    }

    fn clients_of(&self, all: &BTreeMap<u32, Arc<Process>>) -> usize {
        all.len().saturating_sub(self.own.load(Ordering::Relaxed))
    }

    /// Most connections at once.
    pub(crate) fn max(&self) -> u64 {
        self.max.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_kills() {
        let list = ProcessList::new();
        let calls = Arc::new(AtomicUsize::new(0));
        let c = calls.clone();
        let killer: Killer = Arc::new(move |connection| {
            c.fetch_add(if connection { 10 } else { 1 }, Ordering::SeqCst);
        });
        let p = Arc::new(Process::new(7, Identity::default(), Some(killer)));
        list.add(p.clone());
        p.begin(Command::Query, b"select 1", list.now());
        let line = list.get(7).unwrap().line(list.now());
        assert_eq!(
            (line.command, line.info.as_deref()),
            ("Query", Some("select 1"))
        );
        p.kill(false);
        assert!(p.interrupt.load(Ordering::SeqCst) && !p.killed.load(Ordering::SeqCst));
        p.end(list.now());
        assert_eq!(p.line(list.now()).info, None);
        p.kill(true);
        assert_eq!(calls.load(Ordering::SeqCst), 11);
        assert_eq!(p.line(list.now()).command, "Killed");
        list.remove(7);
        assert_eq!((list.len(), list.max()), (0, 1));
    }
}
