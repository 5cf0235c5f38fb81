//! The receiver: keeps a link to the source, and puts what comes over it into the queue.

use crate::assemble::{
    Assembler, Broken, Contents, Fault, Rules, STREAM_THRESHOLD, Seen, SourcePosition,
};
use crate::attach::{SourceFacts, Target, Wanted, attach, lost, refused};
use crate::lag::At;
use crate::queue::{Item, PushError};
use crate::semisync::Asked;
use crate::shared::{Shared, parse_gtids};
use narwal_binlog::{Gtid, GtidSet, connect_hash_text};
use narwal_client::{Connection, Dump, Packet};
use narwal_engine::SourceGtid;
use narwal_session::replica::{IoRunning, ReplicaError, Until, UseGtid};
use narwal_session::{SystemTask, SystemThread};
use narwal_types::errors::codes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// How long one look at the connection lasts.
const SLICE: Duration = Duration::from_secs(1);
/// The source is asked this often how far it is, and is given as long for its answer.
const WATCH: Duration = Duration::from_secs(1);
/// How long nothing comes before the source counts as having nothing more.
const BREATH: Duration = Duration::from_millis(1);
/// How long one look at other things lasts.
const LOOK: Duration = Duration::from_millis(50);

/// SHOW PROCESSLIST's and SHOW SLAVE STATUS' states, by MariaDB's names.
mod state {
    pub(super) const CONNECTING: &str = "Connecting to master";
    pub(super) const CHECKING: &str = "Checking master version";
    pub(super) const WAITING: &str = "Waiting for master to send event";
    pub(super) const QUEUEING: &str = "Queueing master event to the relay log";
    pub(super) const NAP: &str = "Waiting to reconnect after a failed master event read";
    pub(super) const RECONNECTING: &str = "Reconnecting after a failed master event read";
    pub(super) const SETTLING: &str = "Waiting for the slave SQL thread to apply what was received";
}

/// Why a link ended.
enum Over {
    /// STOP SLAVE, or KILL.
    Stopped,
    /// What was received has to be received again from what is applied.
    Cleared,
    /// START SLAVE UNTIL's GTIDs.
    Until,
    Fault(Fault),
}

impl From<Broken> for Over {
    fn from(b: Broken) -> Self {
        match b {
            Broken::Fault(f) => Over::Fault(f),
            Broken::Queue(PushError::Stopped) => Over::Stopped,
            Broken::Queue(PushError::Cleared) => Over::Cleared,
        }
    }
}

struct Receiver<'a> {
    shared: &'a Arc<Shared>,
    stop: &'a AtomicBool,
    thread: &'a SystemThread,
    /// Something has come over the present link beyond its beginning.
    useful: bool,
}

/// The receiver's thread.
pub(crate) fn run(shared: &Arc<Shared>, stop: &Arc<AtomicBool>) {
    let killed = {
        let (shared, stop) = (Arc::downgrade(shared), stop.clone());
        Arc::new(move |_: bool| {
            stop.store(true, Ordering::SeqCst);
            if let Some(shared) = shared.upgrade() {
                shared.queue.stop_pushing();
                if let Some(hangup) = shared.io.lock().hangup.take() {
                    hangup.hang_up();
                }
            }
        })
    };
    let thread = SystemThread::new(&shared.instance, SystemTask::ReplicaIo, killed);
    std::thread::scope(|scope| {
        let watching = shared.switch("rpl_semi_sync_slave_enabled");
        if watching {
            let watcher = std::thread::Builder::new().name("replica-ack".to_owned());
            if let Err(e) =
                watcher.spawn_scoped(scope, || shared.acks.watch(&shared.progress, stop))
            {
                tracing::error!(error = %e, "no thread for acknowledgements");
            }
        }
        let watcher = std::thread::Builder::new().name("replica-lag".to_owned());
        if let Err(e) = watcher.spawn_scoped(scope, || watch_source(shared, stop)) {
            tracing::error!(error = %e, "no thread that asks the source how far it is");
        }
        let mut receiver = Receiver {
            shared,
            stop,
            thread: &thread,
            useful: false,
        };
        receiver.links();
        // The watchers end with it.
        stop.store(true, Ordering::SeqCst);
        shared.rouse();
    });
    let mut io = shared.io.lock();
    io.running = IoRunning::No;
    io.state = "";
    io.hangup = None;
    io.semi_sync = false;
    io.drained = false;
}

/// Asks the source now and then how far it is, while its stream says it by half: what waits behind a full queue, or in the
/// network, is seen by nothing else.
fn watch_source(shared: &Shared, stop: &AtomicBool) {
    let mut link: Option<Connection> = None;
    let mut behind = false;
    while !stop.load(Ordering::SeqCst) {
        shared.nap(WATCH, stop);
        // Not for a moment's worth of groups.
        let was_behind = std::mem::replace(&mut behind, {
            let io = shared.io.lock();
            // A MySQL has no such list.
            io.running == IoRunning::Yes && !io.drained && !io.mysql
        });
        if !(behind && was_behind) {
            link = None;
            continue;
        }
        if link.is_none() {
            let credentials = shared.settings.lock().credentials.clone();
            let mut options = Target::new(&shared.config(), credentials.as_ref(), WATCH).options;
            "narwal-replica-lag".clone_into(&mut options.program);
            link = Connection::connect(&options).ok();
        }
        let said = link
            .as_mut()
            .and_then(|c| c.value("SELECT @@GLOBAL.gtid_binlog_pos").ok().flatten());
        match said.as_deref().and_then(parse_gtids) {
            Some(gtids) => shared.io.lock().source = Some((Instant::now(), gtids)),
            None => link = None,
        }
    }
}

impl Receiver<'_> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    fn state(&self, running: IoRunning, text: &'static str) {
        self.thread.state(text);
        let mut io = self.shared.io.lock();
        io.running = running;
        io.state = text;
        if running != IoRunning::Yes {
            io.drained = false;
        }
    }

    fn note(&self, fault: &Fault) {
        self.shared.io.lock().error = ReplicaError {
            code: fault.code,
            text: fault.text.clone(),
        };
    }

    /// One link after the other.
    fn links(&mut self) {
        let name = self.shared.name();
        let mut failures = 0u64;
        let mut last_text = String::new();
        while !self.stopped() {
            self.useful = false;
            let over = self.link(failures > 0);
            if let Some(hangup) = self.shared.io.lock().hangup.take() {
                hangup.hang_up();
            }
            match over {
                Over::Stopped => break,
                Over::Cleared => continue,
                Over::Until => {
                    tracing::info!(
                        connection = name,
                        "the replica's receiver has stopped: the source has sent everything up to UNTIL"
                    );
                    return;
                }
                Over::Fault(fault) if !fault.retry => {
                    self.note(&fault);
                    tracing::error!(
                        connection = name,
                        code = fault.code,
                        error = fault.text,
                        "the replica's receiver has stopped"
                    );
                    return;
                }
                Over::Fault(_) if self.stopped() => break,
                Over::Fault(fault) => {
                    if self.useful {
                        failures = 0;
                    }
                    failures += 1;
                    let config = self.shared.config();
                    self.note(&fault);
                    let first = failures == 1 && self.useful;
                    let wait = match first {
                        true => Duration::ZERO,
                        false => Duration::from_secs(u64::from(config.connect_retry)),
                    };
                    if last_text != fault.text || self.useful {
                        tracing::warn!(
                            connection = name,
                            code = fault.code,
                            error = fault.text,
                            again_in = wait.as_secs(),
                            "the replica has no link to its source"
                        );
                        last_text = fault.text;
                    }
                    if config.retry_count > 0 && failures > config.retry_count {
                        tracing::error!(
                            connection = name,
                            attempts = failures,
                            "the replica's receiver has stopped: too many attempts"
                        );
                        return;
                    }
                    self.state(IoRunning::Connecting, state::NAP);
                    self.shared.nap(wait, self.stop);
                }
            }
        }
        tracing::info!(connection = name, "the replica's receiver has stopped");
    }

    /// Connects; a thread of its own does, since neither looking up a name nor connecting can be interrupted.
    fn connect(&self, target: &Target) -> Result<Connection, Over> {
        let (tx, rx) = mpsc::channel();
        let options = target.options.clone();
        let spawned = std::thread::Builder::new()
            .name("replica-connect".to_owned())
            .spawn(move || {
                // Nobody waits for it any more: it is closed again.
                let _ = tx.send(Connection::connect(&options));
            });
        if let Err(e) = spawned {
            return Err(Over::Fault(lost(&narwal_client::Error::Io(e))));
        }
        loop {
            match rx.recv_timeout(LOOK) {
                Ok(Ok(c)) => return Ok(c),
                Ok(Err(e)) => return Err(Over::Fault(target.failed(&e))),
                Err(mpsc::RecvTimeoutError::Timeout) if self.stopped() => {
                    return Err(Over::Stopped);
                }
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    return Err(Over::Fault(lost(&narwal_client::Error::Closed)));
                }
            }
        }
    }

    /// A place that a source may take as acknowledged: with semi-synchronous replication, asking for what follows a group
    /// acknowledges it, so it has to be durable here.
    fn settle(&self, epoch: u64) -> Result<(), Over> {
        let received = {
            let io = self.shared.io.lock();
            if io.received.epoch != epoch {
                return Ok(());
            }
            io.received.place.clone()
        };
        let db = self.shared.instance.database();
        loop {
            if self.stopped() {
                return Err(Over::Stopped);
            }
            let state = db.replica_state();
            let own = parse_gtids(&db.binlog_position().gtid_pos).unwrap_or_default();
            let has = |g: &Gtid| {
                [state.slave_pos.get(&g.domain), own.get(&g.domain)]
                    .into_iter()
                    .flatten()
                    .any(|h| h.seq >= g.seq)
            };
            let mysql = received.mysql.is_subset(&state.mysql);
            if mysql && received.gtids.values().all(has) {
                return match db.durable_binlog_position() {
                    Ok(_) => Ok(()),
                    Err(e) => Err(Over::Fault(Fault::fatal(codes::GET_ERRNO, e.to_string()))),
                };
            }
            if !self.shared.sql.lock().running {
                self.shared.queue.clear();
                return Err(Over::Cleared);
            }
            if self.shared.queue.epoch() != epoch {
                return Err(Over::Cleared);
            }
            self.state(IoRunning::Connecting, state::SETTLING);
            self.shared.nap(Duration::from_millis(5), self.stop);
        }
    }

    /// One link, from connecting to its end.
    fn link(&mut self, again: bool) -> Over {
        match self.try_link(again) {
            Ok(never) => match never {},
            Err(over) => over,
        }
    }

    fn try_link(&mut self, again: bool) -> Result<std::convert::Infallible, Over> {
        let shared = self.shared;
        let config = shared.config();
        let text = match again {
            true => state::RECONNECTING,
            false => state::CONNECTING,
        };
        let epoch = shared.queue.epoch();
        let semi_sync = shared.switch("rpl_semi_sync_slave_enabled");
        if semi_sync {
            self.settle(epoch)?;
        }
        self.state(IoRunning::Connecting, text);
        let timeout = Duration::from_secs(shared.number("slave_net_timeout", 60).max(1));
        let credentials = shared.settings.lock().credentials.clone();
        let target = Target::new(&config, credentials.as_ref(), timeout);
        let mut c = self.connect(&target)?;
        {
            let mut io = shared.io.lock();
            io.hangup = c.hangup();
        }
        // A stop that came before the handle was there.
        if self.stopped() {
            return Err(Over::Stopped);
        }
        self.state(IoRunning::Preparing, state::CHECKING);
        let place = shared.start_place(epoch);
        let strict = shared.switch("gtid_strict_mode");
        let until = match &shared.sql.lock().until {
            Some(Until::Gtid(list)) => Some(crate::assemble::gtid_text(list.iter())),
            _ => None,
        };
        let contents = self.contents(&place);
        let own = GtidSet::of_state(&shared.instance.database().gtid_state());
        let wanted = Wanted {
            server_id: shared.number("server_id", 0) as u32,
            report_host: shared.text("report_host"),
            report_port: match shared.number("report_port", 0) {
                0 => shared.number("port", 0) as u16,
                port => port as u16,
            },
            heartbeat: Duration::from_millis(config.heartbeat_millis),
            use_gtid: config.use_gtid,
            place: &place,
            own: &own,
            strict,
            ignore_duplicates: shared.switch("gtid_ignore_duplicates"),
            until,
            semi_sync,
            contents: &contents,
        };
        let (dump, facts) = attach(c, &wanted).map_err(Over::Fault)?;
        {
            let mut io = shared.io.lock();
            io.server_id = facts.server_id;
            io.clock_ahead = facts.clock_ahead;
            io.narwal = facts.narwal;
            io.mysql = facts.mysql;
            io.semi_sync = facts.semi_sync;
            io.error = ReplicaError::default();
        }
        shared.links.fetch_add(1, Ordering::Relaxed);
        tracing::info!(
            connection = config.name, source = %target.options.address, server_id = facts.server_id, version = facts.version,
            tls = facts.tls, semi_sync = facts.semi_sync, gtids = place.gtid_text(), mysql = %place.mysql, file = %place.file, pos = place.pos,
            clock_ahead = facts.clock_ahead, "the replica is connected to its source"
        );
        let rules = Rules {
            server_id: wanted.server_id,
            config: config.clone(),
            strict,
            stop_at_gaps: strict
                && config.use_gtid != UseGtid::No
                && !shared.text("narwal_gtid_gaps").eq_ignore_ascii_case("WARN"),
            stream_threshold: STREAM_THRESHOLD,
            narwal: facts.narwal,
            domain: shared.number("gtid_domain_id", 0) as u32,
            pass_incident: shared.skip.load(Ordering::SeqCst) > 0,
            own: self.own(&place),
            contents: Some(self.known()),
        };
        let mut assembler = Assembler::new(rules, place);
        let over = self.receive(dump, &facts, &mut assembler, epoch);
        // Also into a full queue: an applier must not wait for the rest of a group that does not come.
        let _ = assembler.abandon(&mut |item| shared.queue.push_now(epoch, item));
        // If the queue was cleared, the link was ended for that. It has no fault of its own.
        Err(match shared.queue.epoch() == epoch || self.stopped() {
            true => over,
            false => Over::Cleared,
        })
    }

    /// The last GTID of each domain in this server's own log.
    fn own(&self, place: &SourcePosition) -> BTreeMap<u32, Gtid> {
        let db = self.shared.instance.database();
        let mut own = parse_gtids(&db.binlog_position().gtid_pos).unwrap_or_default();
        // What was applied is in it too.
        own.retain(|d, g| place.gtids.get(d).is_none_or(|r| r.seq < g.seq));
        own
    }

    /// This server's own groups, to be compared with what comes.
    fn known(&self) -> Contents {
        let db = self.shared.instance.database().clone();
        Contents(Arc::new(move |gtid| db.content_hash(gtid).ok().flatten()))
    }

    /// What a Narwal source compares with its own groups. Nothing where those of this server are others by right: if
    /// some changes are not applied, or in another way.
    fn contents(&self, place: &SourcePosition) -> String {
        let shared = self.shared;
        let by_right = !shared.settings.lock().filter.is_empty()
            || shared
                .text("slave_exec_mode")
                .eq_ignore_ascii_case("IDEMPOTENT")
            || !shared.text("slave_type_conversions").trim().is_empty();
        if by_right {
            return String::new();
        }
        let db = shared.instance.database();
        let hashes: Vec<_> = place
            .gtids
            .values()
            .filter_map(|g| Some((*g, db.content_hash(*g).ok().flatten()?)))
            .collect();
        connect_hash_text(&hashes)
    }

    /// Everything that comes over a link.
    fn receive(
        &mut self,
        mut dump: Dump,
        facts: &SourceFacts,
        assembler: &mut Assembler,
        epoch: u64,
    ) -> Over {
        let shared = self.shared;
        self.state(IoRunning::Yes, state::WAITING);
        let mut busy = false;
        let mut asked = Asked::default();
        loop {
            if self.stopped() {
                return Over::Stopped;
            }
            if assembler.is_parked() {
                // The applier stops where it stands; its next start begins anew.
                if shared.queue.epoch() != epoch {
                    return Over::Cleared;
                }
                shared.nap(LOOK, self.stop);
                continue;
            }
            if facts.semi_sync {
                while let Some((file, pos)) = shared.acks.take() {
                    if !asked.take(&file, pos) {
                        continue;
                    }
                    if let Err(e) = dump.acknowledge(&file, pos) {
                        return Over::Fault(lost(&e));
                    }
                    shared.acks.sent.fetch_add(1, Ordering::Relaxed);
                }
                match dump.ready(shared.acks.wake_fd(), SLICE) {
                    Ok(true) => {}
                    Ok(false) => {
                        busy = self.idle(busy);
                        continue;
                    }
                    Err(e) => return Over::Fault(lost(&e)),
                }
            }
            let wait = match busy {
                true => BREATH,
                false => SLICE,
            };
            let (bytes, ack) = match dump.next(wait) {
                Ok(Packet::Event(bytes)) => (bytes, false),
                Ok(Packet::WantsAck(bytes)) => (bytes, true),
                Ok(Packet::Idle) => {
                    busy = self.idle(busy);
                    if shared.queue.epoch() != epoch {
                        return Over::Cleared;
                    }
                    continue;
                }
                Ok(Packet::End) => {
                    return Over::Fault(Fault {
                        code: codes::SERVER_LOST,
                        text: "the source ended its stream: it stops, or another replica has this server_id".into(),
                        retry: true,
                    });
                }
                Err(e) => return Over::Fault(refused(&e)),
            };
            let mut put = |item: Item| shared.queue.push(epoch, item);
            let seen = assembler.event(bytes, ack, &mut put);
            if ack && seen.is_ok() {
                let place = assembler.place();
                asked.push(place.file.clone(), place.pos);
            }
            match seen {
                Ok(Seen::Event) if assembler.in_group() => {}
                Ok(Seen::Event) => self.moved(assembler),
                Ok(Seen::Group(gtid)) => {
                    if !busy {
                        busy = true;
                        self.thread.state(state::QUEUEING);
                    }
                    self.useful = true;
                    self.received(assembler, gtid);
                }
                Ok(Seen::Heartbeat) => {
                    self.useful = true;
                    shared.heartbeats.fetch_add(1, Ordering::Relaxed);
                    self.moved(assembler);
                }
                Ok(Seen::UntilReached) => return Over::Until,
                Err(broken) => return broken.into(),
            }
        }
    }

    /// The source has nothing more to send for now.
    fn idle(&self, was_busy: bool) -> bool {
        if was_busy {
            self.thread.state(state::WAITING);
        }
        self.shared.io.lock().drained = true;
        false
    }

    /// The stream has gone on without a group.
    fn moved(&self, assembler: &Assembler) {
        let place = assembler.place();
        let mut io = self.shared.io.lock();
        io.received.place.file = place.file.clone();
        io.received.place.pos = place.pos;
    }

    /// A group is in the queue.
    fn received(&self, assembler: &Assembler, gtid: Gtid) {
        let place = assembler.place();
        let last = assembler.last();
        let mut io = self.shared.io.lock();
        let r = &mut io.received.place;
        if let SourceGtid::Mysql(g) = last.source {
            r.mysql.insert(&g);
        }
        if let Some(last) = place.gtids.get(&gtid.domain) {
            r.gtids.insert(gtid.domain, *last);
        }
        r.pos = place.pos;
        if !Arc::ptr_eq(&r.file, &place.file) {
            r.file = place.file.clone();
        }
        let at = At {
            file: place.file.clone(),
            pos: place.pos,
        };
        io.drained = false;
        io.arrivals
            .group(at, last.bytes, last.timestamp, Instant::now());
    }
}
