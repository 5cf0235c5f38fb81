//! The channel's coordinator: takes items out of the queue, in the source's order, and sees to it that they are applied.

use super::committer::Committer;
use super::error::{is_temporary, malformed, tell};
use super::pool::{Pool, Task, place_of};
use super::progress::{GroupEnd, Progress};
use super::settings::{ApplySettings, Conductor, Ended, Verdict};
use super::touch::Touched;
use crate::queue::{GroupHead, Item, Popped, Queue};
use narwal_binlog::{Gtid, GtidSet};
use narwal_engine::{CatalogChange, Database, Ddl, Origin, TxnOptions};
use narwal_session::Instance;
use narwal_session::apply::{Applied, Applier, ApplyError, Executed, Ready};
use narwal_types::errors::codes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How long nothing must come before positions are logged that only moved.
const IDLE: Duration = Duration::from_millis(200);

/// Between two looks whether to stop, while it waits for something else than the queue.
const SLICE: Duration = Duration::from_millis(50);

/// A group that is applied while it arrives.
struct Stream {
    head: GroupHead,
    ready: Option<Ready>,
    /// It was a statement with rows, and has run.
    done: Option<Applied>,
    bytes: u64,
}

/// Positions behind the last commit, that no commit has told.
#[derive(Default)]
struct Passed {
    gtids: BTreeMap<u32, Gtid>,
    mysql: GtidSet,
    at: Option<(Arc<str>, u64)>,
}

pub(super) struct Coordinator<'a> {
    db: &'a Database,
    settings: &'a ApplySettings,
    queue: &'a Queue,
    committer: &'a Committer,
    pool: Option<&'a Pool>,
    progress: &'a Progress,
    stop: &'a Arc<AtomicBool>,
    applier: Applier,
    touched: Touched,
    stream: Option<Stream>,
    passed: Passed,
}

impl<'a> Coordinator<'a> {
    pub(super) fn new(
        instance: &'a Arc<Instance>,
        settings: &'a ApplySettings,
        queue: &'a Queue,
        committer: &'a Committer,
        pool: Option<&'a Pool>,
        progress: &'a Progress,
        stop: &'a Arc<AtomicBool>,
    ) -> Self {
        Coordinator {
            db: instance.database(),
            queue,
            committer,
            pool,
            progress,
            stop,
            applier: Applier::with_interrupt(
                instance,
                settings.thread_id,
                settings.options.clone(),
                stop.clone(),
            ),
            touched: Touched::new(&settings.options),
            stream: None,
            passed: Passed::default(),
            settings,
        }
    }

    /// Works until it ends.
    pub(super) fn run(&mut self, conductor: &mut dyn Conductor) -> Ended {
        self.progress
            .state("Slave has read all relay log; waiting for more updates");
        let mut idle = true;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ended::Stopped;
            }
            let item = match self.queue.pop(IDLE) {
                Popped::Item(item) => item,
                Popped::Stopped => return Ended::Stopped,
                Popped::Idle => {
                    // Nothing may come that would be refused.
                    if self.pool.is_some_and(Pool::failed) {
                        return self.broken();
                    }
                    if !idle {
                        idle = true;
                        self.progress
                            .state("Slave has read all relay log; waiting for more updates");
                    }
                    if let Err(ended) = self.log_passed() {
                        return ended;
                    }
                    continue;
                }
            };
            if idle {
                idle = false;
                self.progress.state("Reading event from the relay log");
            }
            if let Err(ended) = self.item(item, conductor) {
                return ended;
            }
        }
    }

    /// Sees to what is under way.
    pub(super) fn end(&mut self, ended: Ended) {
        self.stream = None;
        self.applier.abandon();
        if let Some(pool) = self.pool
            && (ended == Ended::Failed || !pool.drain(self.stop))
        {
            pool.abort();
        }
        if self.progress.error().is_none() {
            // Only a hint for the next start: what it would spare is passed over again.
            let _ = self.log_passed();
        }
        self.committer.finish();
    }

    fn item(&mut self, item: Item, conductor: &mut dyn Conductor) -> Result<(), Ended> {
        match item {
            Item::Group { head, .. } if self.applier.has_applied(&head.source) => {
                self.pass_known(&head)?;
                self.behind(&head, conductor)
            }
            // Its end tells how far it goes.
            Item::Begin { head } if self.applier.has_applied(&head.source) => Ok(()),
            Item::Group { head, events } => {
                let verdict = self.verdict(&head, conductor)?;
                self.group(&head, events, verdict)?;
                self.behind(&head, conductor)
            }
            Item::Begin { head } => {
                let verdict = self.verdict(&head, conductor)?;
                self.begin(head, verdict)
            }
            Item::Events(events) => self.events(&events),
            Item::End { head } => {
                match self.stream.take() {
                    Some(stream) => self.finish(&head, stream)?,
                    None => self.pass_known(&head)?,
                }
                self.behind(&head, conductor)
            }
            Item::Abandon => {
                self.stream = None;
                self.applier.abandon();
                Ok(())
            }
            Item::Position {
                gtid,
                mysql,
                file,
                pos,
                wants_ack,
            } => {
                if let Some(g) = &mysql {
                    self.passed.mysql.insert(g);
                }
                self.pass(gtid, &file, pos, wants_ack)?;
                match conductor.passed(&file, pos) {
                    true => Err(Ended::Until),
                    false => Ok(()),
                }
            }
            Item::Stop { code, text, gtid } => {
                self.barrier()?;
                self.progress.fail(code, text, gtid);
                Err(Ended::Failed)
            }
        }
    }

    fn behind(&self, head: &GroupHead, conductor: &mut dyn Conductor) -> Result<(), Ended> {
        match conductor.behind(head) {
            true => Err(Ended::Until),
            false => Ok(()),
        }
    }

    fn verdict(&self, head: &GroupHead, conductor: &mut dyn Conductor) -> Result<bool, Ended> {
        loop {
            match conductor.before(head) {
                Verdict::Apply => return Ok(true),
                Verdict::Skip => return Ok(false),
                Verdict::Stop => return Err(Ended::Until),
                Verdict::Wait(time) => {
                    self.progress
                        .state("Waiting until MASTER_DELAY seconds after master executed event");
                    let until = Instant::now() + time;
                    while Instant::now() < until {
                        if self.stop.load(Ordering::Relaxed) || self.queue.is_pop_stopped() {
                            return Err(Ended::Stopped);
                        }
                        let left = until.saturating_duration_since(Instant::now());
                        std::thread::sleep(left.min(SLICE));
                    }
                    self.progress.state("Reading event from the relay log");
                }
            }
        }
    }

    /// Waits until everything handed out has ended.
    fn barrier(&self) -> Result<(), Ended> {
        let Some(pool) = self.pool else { return Ok(()) };
        if pool.drain(self.stop) {
            return Ok(());
        }
        Err(self.broken())
    }

    /// Why the workers do not go on.
    fn broken(&self) -> Ended {
        match self.progress.error() {
            Some(_) => Ended::Failed,
            None => Ended::Stopped,
        }
    }

    fn origin(&self, head: &GroupHead) -> Arc<Origin> {
        Arc::new(Origin {
            channel: self.settings.channel,
            file: head.file.clone(),
            pos: head.end_pos,
            gtid: head.source,
        })
    }

    fn fail(&self, head: &GroupHead, e: &ApplyError) -> Ended {
        if self.stop.load(Ordering::Relaxed)
            && matches!(e.code, codes::QUERY_INTERRUPTED | codes::LOCK_WAIT_TIMEOUT)
        {
            return Ended::Stopped;
        }
        tell(self.progress, head, e);
        Ended::Failed
    }

    fn follow_file(&self, head: &GroupHead) -> Result<(), Ended> {
        let Some(number) = head.begins_file else {
            return Ok(());
        };
        self.barrier()?;
        (self.db.follow_file(number)).map_err(|e| self.fail(head, &e.into()))
    }

    fn group(&mut self, head: &GroupHead, events: Vec<u8>, apply: bool) -> Result<(), Ended> {
        self.follow_file(head)?;
        let origin = self.origin(head);
        if !apply {
            self.barrier()?;
            return self.skip(head, origin);
        }
        if let Some(pool) = self.pool
            && !head.standalone
        {
            let (n, done) = pool.numbers();
            let catalog = self.db.catalog();
            let options = &self.settings.options;
            let after = self.touched.group(n, done, &catalog, options, &events);
            if let Some(after) = after {
                self.forget_passed(head);
                let task = Task {
                    head: head.clone(),
                    events,
                    origin,
                    after,
                };
                return match pool.put(task, self.stop) {
                    true => Ok(()),
                    false => Err(self.broken()),
                };
            }
        }
        self.barrier()?;
        self.here(head, &events, &origin)
    }

    /// Applies a group on this thread, alone.
    fn here(&mut self, head: &GroupHead, events: &[u8], origin: &Arc<Origin>) -> Result<(), Ended> {
        self.progress.begin(place_of(head));
        let mut tries = 0;
        loop {
            match self.attempt(head, events, origin) {
                Ok(()) => return Ok(()),
                // Another connection has brought it meanwhile.
                Err(_) if self.applier.has_applied(&head.source) => return self.pass_known(head),
                Err(e) if self.again(&e, &mut tries) => {}
                Err(e) => return Err(self.fail(head, &e)),
            }
        }
    }

    /// Whether to try again after an error.
    fn again(&self, e: &ApplyError, tries: &mut u32) -> bool {
        let again =
            is_temporary(e) && *tries < self.settings.retries && !self.stop.load(Ordering::Relaxed);
        if again {
            *tries += 1;
            self.progress.retry();
        }
        again
    }

    fn attempt(
        &mut self,
        head: &GroupHead,
        events: &[u8],
        origin: &Arc<Origin>,
    ) -> Result<(), ApplyError> {
        self.applier
            .begin_from(head.gtid, Some(head.standalone), Some(origin.clone()))?;
        match self.applier.execute(events)? {
            Some(Executed::Ready(ready)) => self.commit(head, ready, events.len() as u64),
            Some(Executed::Done(applied)) => {
                self.done(head, &applied);
                Ok(())
            }
            None => {
                self.applier.abandon();
                Err(malformed("a group without an end"))
            }
        }
    }

    /// A statement has run: it has waited until it was durable.
    fn done(&mut self, head: &GroupHead, applied: &Applied) {
        self.progress.reserve(place_of(head));
        self.progress.count(applied.rows, applied.statement);
        self.forget_passed(head);
        self.committer.finish();
        self.progress
            .durable(Some(place_of(head)), head.wants_ack.then(|| place_of(head)));
    }

    fn commit(&mut self, head: &GroupHead, ready: Ready, bytes: u64) -> Result<(), ApplyError> {
        let (reserved, applied) = self.applier.commit_ready(ready, || ())?;
        self.progress.reserve(place_of(head));
        self.progress.count(applied.rows, applied.statement);
        self.forget_passed(head);
        self.committer
            .note(reserved, place_of(head), head.wants_ack, bytes);
        Ok(())
    }

    /// Logs a group without effect.
    fn skip(&mut self, head: &GroupHead, origin: Arc<Origin>) -> Result<(), Ended> {
        let skipped = self.applier.skip(head.gtid, Some(origin), head.timestamp);
        let (reserved, _) = skipped.map_err(|e| self.fail(head, &e))?;
        self.progress.reserve(place_of(head));
        self.forget_passed(head);
        self.committer
            .note(reserved, place_of(head), head.wants_ack, head.bytes);
        Ok(())
    }

    /// A large group begins. It is applied on this thread, with nothing beside it.
    fn begin(&mut self, head: GroupHead, apply: bool) -> Result<(), Ended> {
        self.follow_file(&head)?;
        self.barrier()?;
        self.applier.abandon();
        if apply {
            self.progress.begin(place_of(&head));
            // Its end is not known yet: `finish` tells.
            let origin = self.origin(&head);
            let begun = self
                .applier
                .begin_from(head.gtid, Some(head.standalone), Some(origin));
            begun.map_err(|e| self.fail(&head, &e))?;
        }
        self.stream = Some(Stream {
            head,
            ready: None,
            done: None,
            bytes: 0,
        });
        Ok(())
    }

    fn events(&mut self, events: &[u8]) -> Result<(), Ended> {
        let Some(stream) = &mut self.stream else {
            return Ok(());
        };
        stream.bytes += events.len() as u64;
        if !self.applier.in_group() && stream.ready.is_none() && stream.done.is_none() {
            return Ok(()); // it is left out
        }
        let executed = match stream.ready.is_some() || stream.done.is_some() {
            true => Err(malformed("events behind the end of a group")),
            false => self.applier.execute(events),
        };
        let head = stream.head.clone();
        match executed {
            Ok(Some(Executed::Ready(ready))) => stream.ready = Some(ready),
            Ok(None) => {}
            // CREATE TABLE ... SELECT with many rows.
            Ok(Some(Executed::Done(applied))) => stream.done = Some(applied),
            Err(e) if is_temporary(&e) && !self.stop.load(Ordering::Relaxed) => {
                // Its events are gone.
                self.progress.retry();
                tracing::warn!("group {} has to be fetched again: {e}", head.name());
                return Err(Ended::Refetch);
            }
            Err(e) => return Err(self.fail(&head, &e)),
        }
        Ok(())
    }

    fn finish(&mut self, head: &GroupHead, stream: Stream) -> Result<(), Ended> {
        if let Some(applied) = stream.done {
            self.done(head, &applied);
            return Ok(());
        }
        match stream.ready {
            Some(mut ready) => {
                ready.set_origin(self.origin(head));
                self.commit(head, ready, stream.bytes)
                    .map_err(|e| self.fail(head, &e))
            }
            None if self.applier.in_group() => {
                self.applier.abandon();
                Err(self.fail(head, &malformed("a group without an end")))
            }
            None => {
                let origin = self.origin(head);
                self.skip(head, origin)
            }
        }
    }

    /// Passes over a group that is here already: it came by another connection.
    fn pass_known(&mut self, head: &GroupHead) -> Result<(), Ended> {
        self.applier.abandon();
        self.pass(None, &head.file, head.end_pos, head.wants_ack)
    }

    /// Nothing to apply up to here.
    fn pass(
        &mut self,
        gtid: Option<Gtid>,
        file: &Arc<str>,
        pos: u64,
        wants_ack: bool,
    ) -> Result<(), Ended> {
        if let Some(g) = gtid {
            self.passed.gtids.insert(g.domain, g);
        }
        self.passed.at = Some((file.clone(), pos));
        let place = GroupEnd {
            gtid,
            file: file.clone(),
            pos,
            timestamp: 0,
        };
        if wants_ack {
            self.barrier()?;
            self.committer.acknowledge(place.clone());
        }
        // Else it is told when all before it have ended, at the latest when it is idle.
        let all_ended = self.pool.is_none_or(|p| {
            let (next, done) = p.numbers();
            next == done + 1
        });
        if all_ended {
            self.progress.reserve(place);
        }
        Ok(())
    }

    /// A commit will tell positions behind these; GTIDs of other domains are to be logged yet.
    fn forget_passed(&mut self, head: &GroupHead) {
        self.passed.gtids.remove(&head.gtid.domain);
        let left = !self.passed.gtids.is_empty() || !self.passed.mysql.is_empty();
        self.passed.at = left.then(|| (head.file.clone(), head.end_pos));
    }

    /// Logs positions that only moved.
    fn log_passed(&mut self) -> Result<(), Ended> {
        let Some((file, pos)) = self.passed.at.clone() else {
            return Ok(());
        };
        self.barrier()?;
        let place = GroupEnd {
            gtid: None,
            file,
            pos,
            timestamp: 0,
        };
        let gtids: Vec<String> = self.passed.gtids.values().map(Gtid::to_string).collect();
        let change = CatalogChange::MoveReplicaState {
            gtids: gtids.join(","),
            channel: self.settings.channel,
            file: place.file.to_string(),
            pos,
            mysql: self.passed.mysql.to_string(),
        };
        let ddl = Ddl {
            changes: vec![change],
            ..Ddl::default()
        };
        let options = TxnOptions {
            log_bin: false,
            ..TxnOptions::default()
        };
        match self.db.ddl_reserved(&ddl, &options, || ()) {
            Ok(reserved) => {
                self.progress.reserve(place.clone());
                self.committer.note(reserved, place, false, 0);
                self.passed = Passed::default();
                Ok(())
            }
            Err(e) => {
                let e = e.to_sql();
                self.progress.fail(e.code, e.message.to_string(), None);
                Err(Ended::Failed)
            }
        }
    }
}
