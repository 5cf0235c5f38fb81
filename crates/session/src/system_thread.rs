//! Threads of the server's own in the process list.

use crate::instance::Instance;
use crate::process::{Command, Killer, Process};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// What a thread of the server's own does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SystemTask {
    /// It receives a source's log.
    ReplicaIo,
    /// It applies it.
    ReplicaSql,
    /// It helps with that.
    ReplicaWorker,
    /// It runs events by the clock.
    Events,
}

/// A thread of the server's own in the process list; its line goes with it.
pub struct SystemThread {
    instance: Arc<Instance>,
    process: Arc<Process>,
}

impl std::fmt::Debug for SystemThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SystemThread")
            .field(&self.process.id)
            .finish()
    }
}

impl SystemThread {
    /// Puts a line into the process list. `killer` is what KILL does: `true` for the connection, `false` for the statement.
    pub fn new(instance: &Arc<Instance>, task: SystemTask, killer: Killer) -> Self {
        let command = match task {
            SystemTask::ReplicaIo => Command::ReplicaIo,
            SystemTask::ReplicaSql => Command::ReplicaSql,
            SystemTask::ReplicaWorker => Command::ReplicaWorker,
            SystemTask::Events => Command::Daemon,
        };
        let list = &instance.processes;
        let id = list.system_ids(1);
        let process = Process::system(id, command, list.now(), killer);
        if task == SystemTask::Events {
            let mut identity = process.identity.lock();
            identity.user = "event_scheduler".into();
            identity.host = "localhost".into();
        }
        let process = Arc::new(process);
        list.add(process.clone());
        SystemThread {
            instance: instance.clone(),
            process,
        }
    }

    /// Its id in the process list.
    pub fn id(&self) -> u32 {
        self.process.id
    }

    /// What it is doing, SHOW PROCESSLIST's State; the time counts from here if that is something else than before.
    pub fn state(&self, text: &'static str) {
        let before = std::mem::replace(&mut *self.process.text.lock(), text);
        if before != text {
            let now = self.instance.processes.now();
            self.process.since.store(now, Ordering::Relaxed);
        }
    }
}

impl SystemThread {
    /// A reader of the process list asks `tell` what it is doing.
    pub fn state_from(&self, tell: impl Fn() -> &'static str + Send + Sync + 'static) {
        *self.process.teller.lock() = Some(Arc::new(tell));
    }
}

impl Drop for SystemThread {
    fn drop(&mut self) {
        self.instance.processes.remove(self.process.id);
    }
}
