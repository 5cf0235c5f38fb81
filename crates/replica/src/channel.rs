//! One named connection to a source: its receiver (MariaDB's IO thread) and its applier (MariaDB's SQL thread), which start
//! and stop each for itself.

use crate::apply::{self, ApplySettings, Conductor, Ended, Progress, Verdict};
use crate::attach::unix_now;
use crate::lag::compare;
use crate::queue::{GroupHead, Queue};
use crate::receive;
use crate::semisync::Acks;
use crate::shared::{Received, Settings, Shared};
use narwal_binlog::{Gtid, GtidSet, gtid_uuid};
use narwal_engine::SourceGtid;
use narwal_session::apply::{ApplyOptions, TypeConversions};
use narwal_session::replica::{
    ConnectionConfig, IoRunning, ReplicaError, ReplicaFilter, StartWhat, Threads, Until,
};
use narwal_session::{Instance, SystemTask, SystemThread};
use narwal_types::errors;
use narwal_types::errors::codes;
use narwal_types::{SqlError, SqlResult};
use parking_lot::{Condvar, Mutex};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Memory for what was received and is not applied, in bytes, if `narwal_replica_queue_bytes` does not say.
pub const DEFAULT_QUEUE_BYTES: u64 = 64 << 20;
/// How long STOP SLAVE lets the applier finish the groups that it has begun; then they are rolled back.
const PATIENCE: Duration = Duration::from_secs(10);
/// Ids that an applier's sessions may have.
const APPLIER_IDS: u32 = 1024;

struct Runner {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct Runners {
    io: Option<Runner>,
    sql: Option<Runner>,
}

/// A connection to a source.
pub struct Channel {
    shared: Arc<Shared>,
    /// One start or stop at a time.
    runners: Mutex<Runners>,
}

impl std::fmt::Debug for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Channel")
            .field("config", &self.shared.config())
            .finish_non_exhaustive()
    }
}

fn failed(what: &str, e: &std::io::Error) -> SqlError {
    SqlError::unknown(format!("{what}: {e}"))
}

impl Channel {
    /// A connection that does nothing yet.
    ///
    /// # Errors
    /// The system has no file descriptor left.
    pub fn new(
        instance: Arc<Instance>,
        config: Arc<ConnectionConfig>,
        filter: Arc<ReplicaFilter>,
    ) -> SqlResult<Channel> {
        let acks = Acks::new().map_err(|e| failed("eventfd", &e))?;
        let shared = Shared {
            instance,
            queue: Queue::new(DEFAULT_QUEUE_BYTES as usize),
            progress: Progress::default(),
            settings: Mutex::new(Settings {
                config,
                filter,
                credentials: None,
            }),
            io: Mutex::default(),
            sql: Mutex::default(),
            skip: AtomicU64::new(0),
            heartbeats: AtomicU64::new(0),
            links: AtomicU64::new(0),
            acks,
            nap: (Mutex::new(()), Condvar::new()),
        };
        Ok(Channel {
            shared: Arc::new(shared),
            runners: Mutex::default(),
        })
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Its settings.
    #[must_use]
    pub fn config(&self) -> Arc<ConnectionConfig> {
        self.shared.config()
    }

    /// Its filters.
    #[must_use]
    pub fn filter(&self) -> Arc<ReplicaFilter> {
        self.shared.settings.lock().filter.clone()
    }

    /// Which threads run.
    #[must_use]
    pub fn running(&self) -> Threads {
        Threads {
            io: self.shared.io.lock().running != IoRunning::No,
            sql: self.shared.sql.lock().running,
        }
    }

    /// New settings, for a connection that does not run (CHANGE MASTER, RESET SLAVE): what was received is forgotten. Its
    /// position is the engine's to know ([`narwal_engine::CatalogChange::SetReplicaState`]).
    pub fn set_config(&self, config: Arc<ConnectionConfig>) {
        let s = &self.shared;
        s.settings.lock().config = config;
        self.forget();
    }

    /// New filters; they count from the applier's next start on.
    pub fn set_filter(&self, filter: Arc<ReplicaFilter>) {
        self.shared.settings.lock().filter = filter;
    }

    /// Forgets what was received, errors and counters' places: for a connection that does not run, whose position has
    /// changed.
    pub fn forget(&self) {
        let s = &self.shared;
        s.queue.clear();
        s.progress.reset();
        let mut io = s.io.lock();
        io.received = Received::default();
        io.arrivals.clear();
        io.source = None;
        io.error = ReplicaError::default();
        s.sql.lock().until = None;
    }

    /// `sql_slave_skip_counter`: groups that the applier is to leave out yet.
    #[must_use]
    pub fn skip_counter(&self) -> u64 {
        self.shared.skip.load(Ordering::SeqCst)
    }

    /// Sets [`skip_counter`](Self::skip_counter), while the applier does not run.
    pub fn set_skip_counter(&self, groups: u64) {
        self.shared.skip.store(groups, Ordering::SeqCst);
    }

    /// START SLAVE. False if everything that was asked for runs already.
    ///
    /// # Errors
    /// 1200 if it has no source; 1105 if the system has no thread left.
    pub fn start(&self, what: &StartWhat) -> SqlResult<bool> {
        let s = &self.shared;
        let mut runners = self.runners.lock();
        reap(&mut runners.io);
        reap(&mut runners.sql);
        if s.config().host.is_empty() {
            return Err(errors::BAD_SLAVE.plain());
        }
        let io = what.threads.io && runners.io.is_none();
        let sql = what.threads.sql && runners.sql.is_none();
        if !io && !sql {
            return Ok(false);
        }
        let bytes = s.number("narwal_replica_queue_bytes", DEFAULT_QUEUE_BYTES);
        s.queue.set_limit(bytes.max(1 << 20) as usize);
        let cleared = match (&runners.sql, &runners.io) {
            (Some(_), _) => false,
            // What was taken out by an earlier run may not have been applied.
            (None, Some(_)) => s.queue.clear_if_popped(),
            (None, None) => {
                s.queue.clear();
                s.io.lock().received = Received::default();
                false
            }
        };
        if cleared {
            s.refetch();
        }
        if sql {
            s.progress.clear_error();
            s.queue.allow_popping();
            {
                let mut state = s.sql.lock();
                state.running = true;
                state.until.clone_from(&what.until);
                state.delayed_until = None;
            }
            let spawned = spawn("replica-sql", s, |shared, stop| apply_all(&shared, &stop));
            if spawned.is_err() {
                s.sql.lock().running = false;
            }
            runners.sql = Some(spawned?);
        }
        if io {
            s.settings.lock().credentials = what
                .user
                .clone()
                .map(|u| (u, what.password.clone().unwrap_or_default()));
            s.queue.allow_pushing();
            {
                let mut state = s.io.lock();
                state.running = IoRunning::Connecting;
                state.error = ReplicaError::default();
            }
            let spawned = spawn("replica-io", s, |shared, stop| receive::run(&shared, &stop));
            if spawned.is_err() {
                s.io.lock().running = IoRunning::No;
            }
            runners.io = Some(spawned?);
        }
        Ok(true)
    }

    /// STOP SLAVE: comes back when the threads have ended, which takes some seconds at most. False if nothing of it ran.
    pub fn stop(&self, threads: Threads) -> bool {
        let s = &self.shared;
        let mut runners = self.runners.lock();
        let io = threads.io.then(|| runners.io.take()).flatten();
        let sql = threads.sql.then(|| runners.sql.take()).flatten();
        let was = Threads {
            io: io.as_ref().is_some_and(|r| !r.thread.is_finished()),
            sql: sql.as_ref().is_some_and(|r| !r.thread.is_finished()),
        };
        if let Some(r) = &sql {
            s.queue.stop_popping();
            let patience = Instant::now() + PATIENCE;
            // A group that arrives in parts is not waited for: its receiver may be stopped too.
            while io.is_none() && !r.thread.is_finished() && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        if let Some(r) = &io {
            r.stop.store(true, Ordering::SeqCst);
            s.queue.stop_pushing();
            s.rouse();
            if let Some(hangup) = s.io.lock().hangup.take() {
                hangup.hang_up();
            }
        }
        if let Some(r) = sql {
            let patience = Instant::now() + PATIENCE;
            while !r.thread.is_finished() && Instant::now() < patience {
                std::thread::sleep(Duration::from_millis(2));
            }
            r.stop.store(true, Ordering::SeqCst);
            join(r);
        }
        if let Some(r) = io {
            join(r);
        }
        was.io || was.sql
    }

    /// MASTER_POS_WAIT: waits until the applier is at a place of the source's log or behind it. The number of groups that
    /// it applied meanwhile; `Some(-1)` when the time is up; `None` if the applier does not run, stops, or `killed` says so.
    pub fn wait_for_position(
        &self,
        file: &str,
        pos: u64,
        timeout: Option<Duration>,
        killed: &dyn Fn() -> bool,
    ) -> Option<i64> {
        const LOOK: Duration = Duration::from_millis(5);
        let s = &self.shared;
        let deadline = timeout.map(|t| Instant::now() + t);
        let before = s.progress.snapshot().groups;
        let db = s.instance.database();
        // The commit that got there.
        let mut reached = None;
        loop {
            let at = s.applied();
            if !at.file.is_empty() && compare(&at.file, at.pos, file, pos).is_ge() {
                reached.get_or_insert_with(|| db.replica_state().seq);
            }
            if reached.is_some_and(|seq| db.visible_seq() >= seq) {
                let groups = s.progress.snapshot().groups.saturating_sub(before);
                return Some(i64::try_from(groups).unwrap_or(i64::MAX));
            }
            if killed() || !s.sql.lock().running {
                return None;
            }
            if deadline.is_some_and(|d| Instant::now() >= d) {
                return Some(-1);
            }
            std::thread::sleep(LOOK);
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        self.stop(Threads::BOTH);
    }
}

fn reap(runner: &mut Option<Runner>) {
    if let Some(r) = runner.take_if(|r| r.thread.is_finished()) {
        join(r);
    }
}

fn join(r: Runner) {
    if r.thread.join().is_err() {
        tracing::error!("a thread of a replica's connection has panicked");
    }
}

fn spawn(
    name: &str,
    shared: &Arc<Shared>,
    body: impl FnOnce(Arc<Shared>, Arc<AtomicBool>) + Send + 'static,
) -> SqlResult<Runner> {
    let stop = Arc::new(AtomicBool::new(false));
    let (shared, flag) = (shared.clone(), stop.clone());
    let thread = std::thread::Builder::new()
        .name(name.to_owned())
        .stack_size(narwal_memory::STATEMENT_STACK)
        .spawn(move || body(shared, flag))
        .map_err(|e| failed("no thread for a replica's connection", &e))?;
    Ok(Runner { stop, thread })
}

/// Decides which groups are applied, and when.
struct Rule<'a> {
    shared: &'a Shared,
    until: Option<Until>,
    /// Domains of UNTIL that are not through.
    open: BTreeMap<u32, Gtid>,
    /// What was applied, for UNTIL of sets.
    executed: GtidSet,
    delay: i64,
}

/// The group's GTID in MySQL's form is in the set.
fn names(set: &GtidSet, head: &GroupHead) -> bool {
    match &head.source {
        SourceGtid::MariaDb => set.has(head.gtid),
        SourceGtid::Mysql(gtid) => set.has_mysql(gtid),
        SourceGtid::Anonymous => false,
    }
}

impl Rule<'_> {
    fn new(shared: &Shared, until: Option<Until>) -> Rule<'_> {
        let open = match &until {
            Some(Until::Gtid(list)) => list.iter().map(|g| (g.domain, *g)).collect(),
            _ => BTreeMap::new(),
        };
        Rule {
            shared,
            until,
            open,
            executed: GtidSet::new(),
            delay: i64::from(shared.config().delay),
        }
    }

    /// All that this server has, in MySQL's form.
    fn executed_now(&self) -> GtidSet {
        let db = self.shared.instance.database();
        let mut set = GtidSet::of_state(&db.gtid_state());
        set.merge(&db.replica_state().mysql);
        set
    }

    /// UNTIL is reached before anything is applied.
    fn is_over(&mut self) -> bool {
        match &self.until {
            None => false,
            Some(Until::Gtid(_)) => {
                let applied = self.shared.instance.database().replica_state().slave_pos;
                self.open
                    .retain(|d, until| applied.get(d).is_none_or(|g| g.seq < until.seq));
                self.open.is_empty()
            }
            Some(Until::MasterPos { file, pos }) => {
                let at = self.shared.applied();
                !at.file.is_empty() && compare(&at.file, at.pos, file, *pos).is_ge()
            }
            Some(Until::BeforeGtids(set)) => set.without(&self.executed_now()) != *set,
            Some(Until::AfterGtids(set)) => {
                let executed = self.executed_now();
                let over = set.is_subset(&executed);
                self.executed = executed;
                over
            }
        }
    }
}

impl Conductor for Rule<'_> {
    fn before(&mut self, head: &GroupHead) -> Verdict {
        let stop = match &self.until {
            None | Some(Until::AfterGtids(_)) => false,
            Some(Until::BeforeGtids(set)) => names(set, head),
            Some(Until::Gtid(_)) => self
                .open
                .get(&head.gtid.domain)
                .is_none_or(|until| head.gtid.seq > until.seq),
            Some(Until::MasterPos { file, pos }) => {
                let start = match head.end_pos {
                    0 => 0,
                    end => end.saturating_sub(head.bytes),
                };
                compare(&head.file, start, file, *pos).is_ge()
            }
        };
        if stop {
            return Verdict::Stop;
        }
        if self.shared.skip.load(Ordering::SeqCst) > 0 {
            self.shared.skip.fetch_sub(1, Ordering::SeqCst);
            tracing::info!(connection = self.shared.name(), gtid = %head.gtid, "a group is left out (sql_slave_skip_counter)");
            return Verdict::Skip;
        }
        if self.delay > 0 {
            let ahead = self.shared.io.lock().clock_ahead;
            let due = i64::from(head.timestamp) + ahead + self.delay;
            let left = due - unix_now();
            let wait = left > 0;
            self.shared.sql.lock().delayed_until = wait.then_some(due);
            if wait {
                return Verdict::Wait(Duration::from_secs(1));
            }
        }
        Verdict::Apply
    }

    fn behind(&mut self, head: &GroupHead) -> bool {
        match &self.until {
            None | Some(Until::BeforeGtids(_)) => false,
            Some(Until::AfterGtids(set)) => {
                // As `gtid_executed` counts them: numbers that other servers of the domain took are in it.
                let gtid = head.gtid;
                match &head.source {
                    SourceGtid::MariaDb => {
                        let uuid = gtid_uuid(gtid.domain, gtid.server);
                        self.executed.add(uuid, 1, gtid.seq);
                    }
                    SourceGtid::Mysql(gtid) => self.executed.insert(gtid),
                    SourceGtid::Anonymous => {}
                }
                set.is_subset(&self.executed)
            }
            Some(Until::Gtid(_)) => {
                self.open
                    .retain(|d, until| *d != head.gtid.domain || head.gtid.seq < until.seq);
                self.open.is_empty()
            }
            Some(Until::MasterPos { file, pos }) => {
                compare(&head.file, head.end_pos, file, *pos).is_ge()
            }
        }
    }

    fn passed(&mut self, file: &str, pos: u64) -> bool {
        match &self.until {
            Some(Until::MasterPos { file: f, pos: p }) => compare(file, pos, f, *p).is_ge(),
            _ => false,
        }
    }
}

/// The applier's thread.
fn apply_all(shared: &Arc<Shared>, stop: &Arc<AtomicBool>) {
    let config = shared.config();
    let killed = {
        let shared = Arc::downgrade(shared);
        Arc::new(move |_: bool| {
            if let Some(shared) = shared.upgrade() {
                shared.queue.stop_popping();
            }
        })
    };
    let thread = SystemThread::new(&shared.instance, SystemTask::ReplicaSql, killed);
    {
        let shared = Arc::downgrade(shared);
        thread.state_from(move || shared.upgrade().map_or("", |s| s.progress.snapshot().state));
    }
    let until = shared.sql.lock().until.clone();
    let mut rule = Rule::new(shared, until);
    let from = shared.instance.database().replica_state();
    tracing::info!(
        connection = config.name,
        gtid_slave_pos = from.slave_pos_text(),
        "the replica's applier starts"
    );
    let settings = apply_settings(shared);
    let mut tries = 0;
    let ended = loop {
        if rule.is_over() {
            break Ended::Until;
        }
        let ended = apply::run(
            &shared.instance,
            &settings,
            &shared.queue,
            &mut rule,
            &shared.progress,
            stop,
        );
        if ended != Ended::Refetch || tries >= settings.retries {
            break ended;
        }
        tries += 1;
        shared.queue.clear();
        shared.refetch();
    };
    let at = shared.applied();
    let position = shared.instance.database().replica_state().slave_pos_text();
    let (file, pos) = (at.file, at.pos);
    match ended {
        Ended::Stopped => tracing::info!(
            connection = config.name, gtid_slave_pos = position, file = %file, pos, "the replica's applier has stopped"
        ),
        Ended::Until => tracing::info!(
            connection = config.name, gtid_slave_pos = position, file = %file, pos,
            "the replica's applier has stopped: it is where START SLAVE UNTIL wanted it"
        ),
        Ended::Refetch => {
            let text = format!(
                "a large group met a lock wait timeout or a deadlock {tries} times (slave_transaction_retries)"
            );
            tracing::error!(
                connection = config.name,
                gtid_slave_pos = position,
                error = text,
                "the replica's applier has stopped"
            );
            shared.progress.fail(codes::LOCK_WAIT_TIMEOUT, text, None);
        }
        Ended::Failed => {
            let e = shared.progress.error();
            let (code, text, gtid) = match &e {
                Some(e) => (e.code, e.text.as_str(), e.gtid),
                None => (0, "", None),
            };
            tracing::error!(
                connection = config.name, gtid_slave_pos = position, file = %file, pos,
                group = gtid.map(|g| g.to_string()).unwrap_or_default(), code, error = text,
                "the replica's applier has stopped at a group that it can't apply"
            );
        }
    }
    // A receiver that waits for room goes on waiting for the next start; one that is to end does.
    let mut sql = shared.sql.lock();
    sql.running = false;
    sql.delayed_until = None;
}

/// How the applier works, by the global variables as they are when it starts.
fn apply_settings(shared: &Shared) -> ApplySettings {
    let mode = shared.text("slave_parallel_mode").to_ascii_lowercase();
    let serial = matches!(mode.as_str(), "none" | "minimal");
    ApplySettings {
        channel: shared.config().id,
        thread_id: shared.instance.system_ids(APPLIER_IDS),
        threads: match serial {
            true => 0,
            false => u32::try_from(shared.number("slave_parallel_threads", 0)).unwrap_or(u32::MAX),
        },
        retries: u32::try_from(shared.number("slave_transaction_retries", 10)).unwrap_or(u32::MAX),
        options: ApplyOptions {
            strict: shared.switch("gtid_strict_mode"),
            filter: shared.settings.lock().filter.clone(),
            idempotent: shared
                .text("slave_exec_mode")
                .eq_ignore_ascii_case("IDEMPOTENT"),
            ddl_idempotent: shared
                .text("slave_ddl_exec_mode")
                .eq_ignore_ascii_case("IDEMPOTENT"),
            conversions: TypeConversions::listed(&shared.text("slave_type_conversions")),
            skip_unsupported: true,
            ..ApplyOptions::default()
        },
    }
}
