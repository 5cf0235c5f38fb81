//! What was received and is not applied yet: a queue of event groups between the thread that receives and the one that
//! applies. It lives in memory only; what is lost with it is asked for again.

use narwal_binlog::{Gtid, MysqlGtid};
use narwal_engine::SourceGtid;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is known of a group before its events are looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupHead {
    /// Its GTID. Of a group of a MySQL the number is 0: it gets one here, at its commit.
    pub gtid: Gtid,
    /// The source's name for it.
    pub source: SourceGtid,
    /// One event and no commit: a statement that commits by itself (DDL).
    pub standalone: bool,
    /// The GTID event's bits ([`narwal_binlog::gtid_flags`]).
    pub flags2: u8,
    /// Commit time by the source's clock: seconds since 1970 of the GTID event.
    pub timestamp: u32,
    /// The source's file that the group stands in.
    pub file: Arc<str>,
    /// Offset behind the group in that file, by which the source knows the place. 0 where not known yet
    /// ([`Item::Begin`]).
    pub end_pos: u64,
    /// The source is Narwal, and the group is the first of its virtual file with this number.
    pub begins_file: Option<u32>,
    /// Bytes that the group has in the source's log, with its GTID event; in [`Item::Begin`] those of the latter.
    pub bytes: u64,
    /// The source waits for an acknowledgement that the group is durable here. Not known yet in [`Item::Begin`].
    pub wants_ack: bool,
}

impl GroupHead {
    /// The group for messages: by the GTID that the source knows.
    #[must_use]
    pub fn name(&self) -> String {
        match self.source {
            SourceGtid::MariaDb => self.gtid.to_string(),
            SourceGtid::Mysql(gtid) => gtid.to_string(),
            SourceGtid::Anonymous => "ANONYMOUS".to_owned(),
        }
    }
}

/// One thing to be done by the applier, in the source's order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A whole group.
    Group {
        /// What is known of it.
        head: GroupHead,
        /// The events behind the GTID event, back to back, each with its header. Their checksums were verified and cut off,
        /// compressed ones were decompressed, and the headers' sizes and types say so: for
        /// [`EventReader::without_checksums`](narwal_binlog::EventReader::without_checksums).
        events: Vec<u8>,
    },
    /// A group begins that is applied while it arrives; [`Item::Events`] follow until [`Item::End`] or [`Item::Abandon`].
    Begin {
        /// What is known of it at its beginning.
        head: GroupHead,
    },
    /// Whole events of the group that was begun, as in [`Item::Group`].
    Events(Vec<u8>),
    /// The group that was begun is complete: commit it.
    End {
        /// What is known of it now.
        head: GroupHead,
    },
    /// The rest of the group that was begun does not come: roll it back. It comes again from its beginning.
    Abandon,
    /// Nothing to apply: a group with the replica's own server id, or of one that is ignored, or of a domain that is
    /// filtered out, or the source has gone on without a group for replicas. Only positions move.
    Position {
        /// The group that was passed over.
        gtid: Option<Gtid>,
        /// The same, of a group of a MySQL.
        mysql: Option<MysqlGtid>,
        /// The source's file.
        file: Arc<str>,
        /// Offset in that file up to which there is nothing to do.
        pos: u64,
        /// The source waits for an acknowledgement of the group all the same, once everything before it is durable here.
        wants_ack: bool,
    },
    /// The applier stops here with this error, after everything before it: what follows must not be applied.
    Stop {
        /// MariaDB's error number (`Last_SQL_Errno`).
        code: u16,
        /// The sentence.
        text: String,
        /// The group that can't be applied.
        gtid: Option<Gtid>,
    },
}

impl Item {
    /// Memory that it takes, in bytes.
    fn size(&self) -> usize {
        const ENTRY: usize = 160;
        ENTRY
            + match self {
                Item::Group { events, .. } | Item::Events(events) => events.capacity(),
                _ => 0,
            }
    }

    /// It says nothing but how far the source is.
    fn is_mere_position(&self) -> bool {
        matches!(
            self,
            Item::Position {
                gtid: None,
                mysql: None,
                ..
            }
        )
    }

    /// Groups that it completes.
    fn groups(&self) -> u64 {
        match self {
            Item::Group { .. } | Item::End { .. } => 1,
            Item::Position { gtid, mysql, .. } => u64::from(gtid.is_some() || mysql.is_some()),
            Item::Begin { .. } | Item::Events(_) | Item::Abandon | Item::Stop { .. } => 0,
        }
    }
}

/// Why nothing could be put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushError {
    /// The receiver was told to stop ([`Queue::stop_pushing`]).
    Stopped,
    /// The queue was emptied since ([`Queue::clear`]): what is received has to begin anew from what is applied.
    Cleared,
}

/// What came out.
#[derive(Debug, PartialEq, Eq)]
pub enum Popped {
    /// The oldest item.
    Item(Item),
    /// Nothing came in time.
    Idle,
    /// The applier was told to stop ([`Queue::stop_popping`]).
    Stopped,
}

/// What is in a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueFill {
    /// Memory that the items take, in bytes.
    pub bytes: u64,
    /// Items.
    pub items: u64,
    /// Groups that end in it.
    pub groups: u64,
    /// Oldest group's timestamp (seconds since 1970), if there is a group.
    pub oldest: Option<u32>,
}

#[derive(Debug, Default)]
struct State {
    items: VecDeque<Item>,
    bytes: usize,
    groups: u64,
    limit: usize,
    epoch: u64,
    /// Something was put in since it was made or emptied.
    used: bool,
    /// And taken out.
    popped: bool,
    push_stopped: bool,
    pop_stopped: bool,
}

impl State {
    fn append(&mut self, item: Item, size: usize) {
        self.bytes += size;
        self.groups += item.groups();
        self.used = true;
        self.items.push_back(item);
    }
}

/// The queue. It is bounded by bytes; an item larger than the bound goes in when the queue is empty.
#[derive(Debug)]
pub struct Queue {
    state: Mutex<State>,
    /// There is an item, or no more will come.
    filled: Condvar,
    /// There is room, or none is needed any more.
    drained: Condvar,
}

impl Queue {
    /// Of at most `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Queue {
            state: Mutex::new(State {
                limit,
                epoch: 1,
                ..State::default()
            }),
            filled: Condvar::new(),
            drained: Condvar::new(),
        }
    }

    /// Changes the bound, in bytes.
    pub fn set_limit(&self, limit: usize) {
        self.state.lock().limit = limit;
        self.drained.notify_all();
    }

    /// Number of times that it was emptied, and one. What is pushed must have been received since.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.state.lock().epoch
    }

    /// Puts an item in that was received in `epoch`; waits for room.
    ///
    /// # Errors
    /// [`PushError`]; the item is dropped.
    pub fn push(&self, epoch: u64, item: Item) -> Result<(), PushError> {
        let size = item.size();
        let mut s = self.state.lock();
        loop {
            if s.epoch != epoch {
                return Err(PushError::Cleared);
            }
            if s.push_stopped {
                return Err(PushError::Stopped);
            }
            if s.items.is_empty() || s.bytes + size <= s.limit {
                break;
            }
            self.drained.wait(&mut s);
        }
        // Positions alone would pile up where nobody applies: the latest says what the ones before it said.
        if let Some(last) = s.items.back_mut()
            && item.is_mere_position()
            && last.is_mere_position()
        {
            *last = item;
            return Ok(());
        }
        s.append(item, size);
        drop(s);
        self.filled.notify_one();
        Ok(())
    }

    /// As [`push`](Self::push), without waiting for room, and though the receiver was told to stop: for the last word about
    /// a group.
    ///
    /// # Errors
    /// [`PushError::Cleared`].
    pub fn push_now(&self, epoch: u64, item: Item) -> Result<(), PushError> {
        let size = item.size();
        let mut s = self.state.lock();
        if s.epoch != epoch {
            return Err(PushError::Cleared);
        }
        s.append(item, size);
        drop(s);
        self.filled.notify_one();
        Ok(())
    }

    /// Takes the oldest item out; waits at most `timeout` for one.
    #[must_use]
    pub fn pop(&self, timeout: Duration) -> Popped {
        let deadline = Instant::now() + timeout;
        let mut s = self.state.lock();
        loop {
            if s.pop_stopped {
                return Popped::Stopped;
            }
            if let Some(item) = s.items.pop_front() {
                s.bytes -= item.size();
                s.groups -= item.groups();
                s.popped = true;
                drop(s);
                self.drained.notify_one();
                return Popped::Item(item);
            }
            if self.filled.wait_until(&mut s, deadline).timed_out() {
                return match s.pop_stopped {
                    true => Popped::Stopped,
                    false if s.items.is_empty() => Popped::Idle,
                    false => continue,
                };
            }
        }
    }

    /// Pushing, now or later, ends with an error. What is in the queue stays.
    pub fn stop_pushing(&self) {
        self.state.lock().push_stopped = true;
        self.drained.notify_all();
    }

    /// Takes [`stop_pushing`](Self::stop_pushing) back.
    pub fn allow_pushing(&self) {
        self.state.lock().push_stopped = false;
    }

    /// Popping, now or later, ends with an error. What is in the queue stays.
    pub fn stop_popping(&self) {
        self.state.lock().pop_stopped = true;
        self.filled.notify_all();
    }

    /// The applier was told to stop.
    #[must_use]
    pub fn is_pop_stopped(&self) -> bool {
        self.state.lock().pop_stopped
    }

    /// Takes [`stop_popping`](Self::stop_popping) back.
    pub fn allow_popping(&self) {
        self.state.lock().pop_stopped = false;
    }

    /// Empties it: what was taken out and what is in it must be received again. Without effect if nothing was ever put in
    /// since it was emptied last.
    pub fn clear(&self) {
        let mut s = self.state.lock();
        if !s.used {
            return;
        }
        s.items.clear();
        (s.bytes, s.groups, s.used, s.popped) = (0, 0, false, false);
        s.epoch += 1;
        drop(s);
        self.drained.notify_all();
    }

    /// As [`clear`](Self::clear), if something was taken out since the last time: before the applier starts again. Else what is
    /// in it follows on what is applied. True if it was emptied.
    pub fn clear_if_popped(&self) -> bool {
        let popped = self.state.lock().popped;
        if popped {
            self.clear();
        }
        popped
    }

    /// What is in it now.
    #[must_use]
    pub fn fill(&self) -> QueueFill {
        let s = self.state.lock();
        // The oldest item may be the middle of a group, whose head has gone; what follows is younger than that.
        let oldest = s.items.iter().take(64).find_map(|i| match i {
            Item::Group { head, .. } | Item::Begin { head } | Item::End { head } => {
                Some(head.timestamp)
            }
            Item::Events(_) | Item::Abandon | Item::Position { .. } | Item::Stop { .. } => None,
        });
        QueueFill {
            bytes: s.bytes as u64,
            items: s.items.len() as u64,
            groups: s.groups,
            oldest,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    const NOW: Duration = Duration::ZERO;
    const LONG: Duration = Duration::from_secs(30);

    fn head(seq: u64) -> GroupHead {
        GroupHead {
            gtid: Gtid {
                domain: 0,
                server: 1,
                seq,
            },
            source: SourceGtid::MariaDb,
            standalone: false,
            flags2: 0,
            timestamp: 100 + seq as u32,
            file: "bin.000001".into(),
            end_pos: seq * 100,
            begins_file: None,
            bytes: 100,
            wants_ack: false,
        }
    }

    fn group(seq: u64, len: usize) -> Item {
        Item::Group {
            head: head(seq),
            events: vec![0; len],
        }
    }

    fn position(pos: u64) -> Item {
        Item::Position {
            gtid: None,
            mysql: None,
            file: "bin.000001".into(),
            pos,
            wants_ack: false,
        }
    }

    #[test]
    fn order_and_fill() {
        let q = Queue::new(1 << 20);
        assert_eq!(q.pop(NOW), Popped::Idle);
        let items = [
            position(4),
            group(1, 10),
            Item::Begin { head: head(2) },
            Item::Events(vec![1; 20]),
            Item::End { head: head(2) },
            Item::Position {
                gtid: Some(head(3).gtid),
                mysql: None,
                file: "bin.000001".into(),
                pos: 300,
                wants_ack: false,
            },
            Item::Stop {
                code: 1950,
                text: "no".into(),
                gtid: None,
            },
        ];
        for item in &items {
            q.push(1, item.clone()).unwrap();
        }
        let fill = q.fill();
        assert_eq!((fill.items, fill.groups, fill.oldest), (7, 3, Some(101)));
        assert!(fill.bytes > 30);
        for item in items {
            assert_eq!(q.pop(NOW), Popped::Item(item));
        }
        assert_eq!(q.fill(), QueueFill::default());
    }

    #[test]
    fn positions_do_not_pile_up() {
        let q = Queue::new(1 << 20);
        for pos in 1..1000 {
            q.push(1, position(pos)).unwrap();
        }
        assert_eq!(q.pop(NOW), Popped::Item(position(999)));
        assert_eq!(q.pop(NOW), Popped::Idle);
    }

    #[test]
    fn a_full_queue_makes_the_receiver_wait() {
        let q = Arc::new(Queue::new(1000));
        // More than fits at all goes in alone.
        q.push(1, group(1, 5000)).unwrap();
        let pusher = {
            let q = q.clone();
            thread::spawn(move || (2..50).try_for_each(|seq| q.push(1, group(seq, 400))))
        };
        for seq in 1..50 {
            match q.pop(LONG) {
                Popped::Item(Item::Group { head, .. }) => assert_eq!(head.gtid.seq, seq),
                other => panic!("{other:?}"),
            }
            assert!(q.fill().bytes <= 1200);
        }
        assert_eq!(pusher.join().unwrap(), Ok(()));
    }

    #[test]
    fn stopping_wakes_either_side() {
        let q = Arc::new(Queue::new(10));
        let popper = {
            let q = q.clone();
            thread::spawn(move || q.pop(LONG))
        };
        q.stop_popping();
        assert_eq!(popper.join().unwrap(), Popped::Stopped);
        q.push(1, group(1, 100)).unwrap();
        let pusher = {
            let q = q.clone();
            thread::spawn(move || q.push(1, group(2, 100)))
        };
        q.stop_pushing();
        assert_eq!(pusher.join().unwrap(), Err(PushError::Stopped));
        // Both go on where they were.
        q.allow_popping();
        q.allow_pushing();
        assert_eq!(q.pop(NOW), Popped::Item(group(1, 100)));
        q.push(1, group(2, 100)).unwrap();
        assert_eq!(q.pop(NOW), Popped::Item(group(2, 100)));
    }

    #[test]
    fn an_emptied_queue_tells_the_receiver() {
        let q = Arc::new(Queue::new(10));
        q.clear();
        assert_eq!(q.epoch(), 1, "nothing was lost");
        q.push(1, group(1, 100)).unwrap();
        let pusher = {
            let q = q.clone();
            thread::spawn(move || q.push(1, group(2, 100)))
        };
        q.clear();
        assert_eq!(pusher.join().unwrap(), Err(PushError::Cleared));
        assert_eq!((q.epoch(), q.fill().items), (2, 0));
        assert_eq!(q.push(1, group(3, 1)), Err(PushError::Cleared));
        q.push(2, group(1, 1)).unwrap();
        assert!(
            !q.clear_if_popped(),
            "what is in it follows on what is applied"
        );
        // Also what was taken out counts as lost.
        assert_eq!(q.pop(NOW), Popped::Item(group(1, 1)));
        assert!(q.clear_if_popped());
        assert_eq!(q.epoch(), 3);
    }

    #[test]
    fn the_last_word_needs_no_room() {
        let q = Queue::new(10);
        q.push(1, Item::Begin { head: head(1) }).unwrap();
        q.stop_pushing();
        assert_eq!(q.push(1, group(2, 1)), Err(PushError::Stopped));
        q.push_now(1, Item::Abandon).unwrap();
        assert_eq!(q.fill().items, 2);
        assert_eq!(q.push_now(2, Item::Abandon), Err(PushError::Cleared));
    }

    #[test]
    fn a_new_bound_lets_waiting_ones_in() {
        let q = Arc::new(Queue::new(10));
        q.push(1, group(1, 100)).unwrap();
        let pusher = {
            let q = q.clone();
            thread::spawn(move || q.push(1, group(2, 100)))
        };
        q.set_limit(10_000);
        assert_eq!(pusher.join().unwrap(), Ok(()));
    }
}
