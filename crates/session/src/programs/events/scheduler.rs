//! The scheduler: a thread that looks at the clock and starts what is due, each event on a thread of its own.

use crate::acl;
use crate::client::ConnectOptions;
use crate::clock::unix_micros;
use crate::instance::Instance;
use crate::privileges::PrivilegeSet;
use crate::programs::definition::{self, Definition, EventStatus, Stored};
use crate::programs::rights;
use crate::read_lock::Patience;
use crate::session::ClientSession;
use crate::status;
use crate::system_thread::{SystemTask, SystemThread};
use ahash::AHashMap;
use narwal_engine::{CatalogChange, Ddl, TxnOptions};
use narwal_sql::show::quote_ident;
use narwal_types::SqlResult;
use narwal_types::temporal::SECOND;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

/// The longest sleep while the scheduler is on: changes of the catalog that nobody rings for are seen after it.
const NAP: Duration = Duration::from_secs(1);

/// How long events get to end when the server stops, and how long the scheduler waits for a read lock.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often LAST_EXECUTED of an event goes into the catalog: a change of the catalog makes every session plan anew.
const KEPT_EVERY: i64 = 60;

/// An event that waits for its time.
struct Waiting {
    def: Definition,
    /// Seconds since 1970; `None`: it never runs again.
    next: Option<i64>,
    /// Its end has been seen to: it goes away after its last run.
    over: bool,
}

struct Scheduler {
    instance: Weak<Instance>,
    /// By key.
    queue: AHashMap<String, Waiting>,
    /// The catalog that the queue is of.
    version: u64,
    thread: Option<SystemThread>,
    /// KILL of the thread's line.
    killed: Arc<AtomicBool>,
}

fn now() -> i64 {
    unix_micros().div_euclid(SECOND)
}

impl Instance {
    /// Starts the scheduler of events, which waits for `event_scheduler=ON`; not if that is DISABLED.
    pub fn start_events(self: &Arc<Self>) {
        if self.global_value("event_scheduler").show() == "DISABLED" {
            return;
        }
        let weak = Arc::downgrade(self);
        let spawned = std::thread::Builder::new()
            .name("event-scheduler".into())
            .stack_size(narwal_memory::STATEMENT_STACK)
            .spawn(move || Scheduler::new(weak).run());
        match spawned {
            Ok(thread) => self.events.is_run_by(thread),
            Err(e) => tracing::error!("events don't run: no thread: {e}"),
        }
    }

    /// Stops the scheduler of events and those that run.
    pub fn stop_events(&self) {
        self.events.stop(PATIENCE);
        self.keep_last_executed();
    }

    /// Puts into the catalog when events ran last.
    fn keep_last_executed(&self) {
        for def in definition::all(&self.database().catalog(), Stored::Event) {
            let stored = def.event.as_ref().and_then(|e| e.last_executed);
            if self.events.last(&def.key()) > stored {
                self.mark(&def, |_| {});
            }
        }
    }

    /// Changes an event's definition without a word in the binary log: when it ran, whether it is done.
    fn mark(&self, def: &Definition, change: impl FnOnce(&mut definition::EventPart)) {
        let _writer = self.events.writer();
        let catalog = self.database().catalog();
        let Ok(Some(mut def)) = definition::find(&catalog, Stored::Event, &def.db, &def.name)
        else {
            return;
        };
        let last = self.events.last(&def.key());
        let Some(part) = &mut def.event else { return };
        part.last_executed = last.max(part.last_executed);
        change(part);
        let options = TxnOptions {
            log_bin: false,
            ..TxnOptions::default()
        };
        let done = def
            .put()
            .and_then(|c| self.change_event(String::new(), &def.db, c, &options));
        if let Err(e) = done {
            tracing::error!("event {}.{}: {}", def.db, def.name, e.message);
        }
    }

    fn change_event(
        &self,
        sql: String,
        db: &str,
        change: CatalogChange,
        options: &TxnOptions,
    ) -> SqlResult<()> {
        let patience = Patience {
            interrupt: &AtomicBool::new(false),
            until: Instant::now() + PATIENCE,
            inside: false,
            process: None,
        };
        let _permit = self.read_lock.enter(true, &patience)?;
        let ddl = Ddl {
            sql,
            db: db.to_string(),
            changes: vec![change],
            timestamp: u32::try_from(now()).unwrap_or(0),
            ..Ddl::default()
        };
        self.database().ddl(ddl, options)?;
        Ok(())
    }

    /// Drops an event that has come to its end.
    fn drop_ended(&self, def: &Definition) {
        let _writer = self.events.writer();
        let catalog = self.database().catalog();
        let found = definition::find(&catalog, Stored::Event, &def.db, &def.name);
        // Someone may have altered it meanwhile.
        let same = |d: &Definition| d.modified == def.modified && d.created == def.created;
        if !matches!(&found, Ok(Some(d)) if same(d)) {
            return;
        }
        let sql = format!(
            "DROP EVENT {}.{}",
            quote_ident(&def.db),
            quote_ident(&def.name)
        );
        let done = self.change_event(sql, &def.db, def.delete(), &TxnOptions::default());
        if let Err(e) = done {
            tracing::error!(
                "event {}.{} is not dropped: {}",
                def.db,
                def.name,
                e.message
            );
        }
    }

    /// A session of an event's definer. Errors 1449, 1044.
    fn event_session(self: &Arc<Self>, def: &Definition) -> SqlResult<ClientSession> {
        let acl = self.acl();
        let (user, host) = &def.definer;
        let account = acl.get(user, host).ok_or_else(|| rights::no_definer(def))?;
        let wanted = PrivilegeSet::EVENT;
        if !account.global.has(wanted) && !account.on_database(&def.db).has(wanted) {
            return Err(acl::database_denied(account, &def.db));
        }
        self.connect(ConnectOptions {
            user: user.clone(),
            account_user: user.clone(),
            account_host: host.clone(),
            host: host.clone(),
            ..ConnectOptions::local(self.system_ids(1))
        })
    }

    /// Runs an event, and does what is to be done at its end.
    fn run_event(self: &Arc<Self>, def: &Definition, ended: bool) {
        let who = format!(
            "[{}@{}][{}.{}]",
            def.definer.0, def.definer.1, def.db, def.name
        );
        let done = self.event_session(def).and_then(|mut session| {
            let process = session.process.clone();
            if !self.events.begins(&process) {
                return Ok(());
            }
            process.counters.add(status::EXECUTED_EVENTS, 1);
            let done = session.run_event(def.clone());
            session.tell_warnings(&who);
            drop(session);
            self.events.ended(&process);
            done
        });
        if let Err(e) = done {
            tracing::error!("event scheduler: {who} {}", e.message);
        }
        if ended {
            self.drop_ended(def);
        }
    }
}

impl Scheduler {
    fn new(instance: Weak<Instance>) -> Self {
        Scheduler {
            instance,
            queue: AHashMap::new(),
            version: u64::MAX,
            thread: None,
            killed: Arc::default(),
        }
    }

    fn run(mut self) {
        loop {
            let Some(instance) = self.instance.upgrade() else {
                return;
            };
            let nap = self.turn(&instance);
            // The thread must not keep the server open while it sleeps.
            let goes_on = instance.events.sleep(nap);
            if !goes_on {
                return;
            }
        }
    }

    /// Does what is to be done now; how long to sleep afterwards.
    fn turn(&mut self, instance: &Arc<Instance>) -> Option<Duration> {
        if self.killed.swap(false, Ordering::SeqCst) {
            // As in MariaDB, KILL of the scheduler switches it off.
            instance.switch_events_off();
        }
        if instance.global_value("event_scheduler").show() != "ON" {
            self.thread = None;
            self.queue.clear();
            self.version = u64::MAX;
            return None;
        }
        let (killed, weak) = (self.killed.clone(), self.instance.clone());
        let thread = self.thread.get_or_insert_with(|| {
            let kill = move |_| {
                killed.store(true, Ordering::SeqCst);
                if let Some(i) = weak.upgrade() {
                    i.events.ring();
                }
            };
            SystemThread::new(instance, SystemTask::Events, Arc::new(kill))
        });
        thread.state(match self.queue.is_empty() {
            true => "Waiting on empty queue",
            false => "Waiting for next activation",
        });
        self.load(instance);
        self.start_due(instance);
        let next = self.queue.values().filter_map(|w| w.next).min();
        Some(match next {
            Some(at) => {
                let micros = at.saturating_mul(SECOND) - unix_micros();
                Duration::from_micros(u64::try_from(micros).unwrap_or(0)).min(NAP)
            }
            None => NAP,
        })
    }

    /// Reads the events of the catalog, if it has changed.
    fn load(&mut self, instance: &Arc<Instance>) {
        if instance.database().catalog_version() == self.version {
            return;
        }
        let catalog = instance.database().catalog();
        self.version = catalog.version;
        let now = now();
        let mut queue = AHashMap::new();
        for def in definition::all(&catalog, Stored::Event) {
            let Some(part) = def.event.as_ref() else {
                continue;
            };
            if part.status != EventStatus::Enabled {
                continue;
            }
            let key = def.key();
            let same = |d: &Definition| d.modified == def.modified && d.created == def.created;
            let (next, over) = match self.queue.get(&key) {
                Some(w) if same(&w.def) => (w.next, w.over),
                _ => {
                    let last = instance.events.last(&key).unwrap_or(0);
                    (part.next(now.max(last + 1)), false)
                }
            };
            queue.insert(key, Waiting { def, next, over });
        }
        self.queue = queue;
    }

    fn start_due(&mut self, instance: &Arc<Instance>) {
        let now = now();
        for (key, w) in &mut self.queue {
            if w.over || w.next.is_some_and(|at| at > now) {
                continue;
            }
            // One without a next time came to its end while the server was down.
            let runs = w.next.is_some();
            let Some(part) = &w.def.event else { continue };
            let (once, preserve) = (part.at.is_some(), part.preserve);
            w.next = if once { None } else { part.next(now + 1) };
            w.over = w.next.is_none();
            if runs {
                instance.events.ran(key, now);
            }
            let kept = part
                .last_executed
                .is_some_and(|last| now - last < KEPT_EVERY);
            if w.over || !kept {
                // Before it runs: after a crash it does not run again.
                let over = w.over;
                instance.mark(&w.def, |p| {
                    p.done |= once;
                    if over && preserve {
                        p.status = EventStatus::Disabled;
                    }
                });
            }
            let drops = w.over && !preserve;
            if runs {
                start(instance, w.def.clone(), drops);
            } else if drops {
                instance.drop_ended(&w.def);
            }
        }
    }
}

/// Starts an event on a thread of its own.
fn start(instance: &Arc<Instance>, def: Definition, drops: bool) {
    let instance = instance.clone();
    let name = format!("{}.{}", def.db, def.name);
    let spawned = std::thread::Builder::new()
        .name("event".into())
        .stack_size(narwal_memory::STATEMENT_STACK)
        .spawn(move || instance.run_event(&def, drops));
    if let Err(e) = spawned {
        tracing::error!("event {name} does not run: no thread: {e}");
    }
}
