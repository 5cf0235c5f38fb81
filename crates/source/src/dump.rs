//! The loop of a dump: event groups out, heartbeats, waiting.

use crate::dialect::{Capable, Dialect};
use crate::error::DumpError;
use crate::filter::{GtidStream, Verdict};
use crate::groups::Groups;
use crate::io::DumpIo;
use crate::mysql::Translator;
use crate::reader::{Checksum, Client, ClientVars, DumpEnd, State};
use crate::rendered::Rendered;
use crate::request::DumpRequest;
use crate::semisync::{GroupEnd, SemiSyncReader};
use crate::shared::{Entry, Shared};
use crate::start::{FIRST_EVENT, LIST_POS, ROTATE_LEN, Start, no_event_at, with_place};
use crate::wake::Wake;
use narwal_binlog::{
    CHECKSUM_LEN, EventHeader, GtidSet, GtidState, event_flags, format_description_event,
    gtid_list_event, gtid_list_event_len, heartbeat_event, mysql_description_event,
    previous_gtids_event, rotate_event,
};
use narwal_engine::{BegunFile, GroupHead, ReaderHold};
use narwal_types::errors;
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

/// Bytes sent after which others see how far the dump has come, and the client's packets are looked at.
const NOTE_BYTES: u64 = 256 << 10;
/// Groups skipped between two looks at the clock.
const SKIPPED_GROUPS: u32 = 256;
/// An EOF packet: the orderly end of a dump, whatever the client's capabilities. Its status is "autocommit".
const EOF: [u8; 5] = [0xfe, 0, 0, 2, 0];
/// Flag of an artificial GTID_LIST: the reader has got everything up to where it wanted it.
const UNTIL_REACHED: u8 = 1;
/// What marks semi-synchronous packets.
const SEMI_SYNC_MAGIC: u8 = 0xef;
const COM_QUIT: u8 = 1;

/// An end position; what lies behind 4 GiB has none.
fn end_pos(pos: u64) -> u32 {
    u32::try_from(pos).unwrap_or(0)
}

/// Takes the checksum off an event.
fn without_checksum(mut event: Vec<u8>) -> Vec<u8> {
    event.truncate(event.len().saturating_sub(CHECKSUM_LEN));
    let len = (event.len() as u32).to_le_bytes();
    if let Some(size) = event.get_mut(9..13) {
        size.copy_from_slice(&len);
    }
    event
}

/// What events go through on their way out.
struct Out<'a> {
    io: &'a mut dyn DumpIo,
    dialect: Dialect,
    /// A replacement for an event.
    buffer: Vec<u8>,
    semi: bool,
    events: u64,
    bytes: u64,
    /// Where a reader stands that counts the bytes of what it is sent, as MySQL's do: no heartbeat may name less.
    counted: u64,
}

impl Out<'_> {
    /// Sends an event as the reader understands it. `ack`: its acknowledgement is wanted.
    #[inline]
    fn event(&mut self, event: &[u8], ack: bool) -> Result<(), DumpError> {
        match self.dialect.render(event, &mut self.buffer)? {
            Rendered::AsIs => self.as_is(event, ack),
            Rendered::Replaced => self.replaced(ack),
            Rendered::LeftOut => Ok(()),
        }
    }

    /// Where the reader will say that it stands when it has got this event, the last one of its group, which ends at `end`.
    fn place_behind(&mut self, event: &[u8], end: u64) -> Result<u64, DumpError> {
        if !self.dialect.is_mysql() {
            return Ok(end);
        }
        Ok(match self.dialect.render(event, &mut self.buffer)? {
            Rendered::AsIs => self.counted + event.len() as u64,
            Rendered::Replaced => self.counted + self.buffer.len() as u64,
            Rendered::LeftOut => self.counted,
        })
    }

    /// Sends the events in the buffer.
    fn replaced(&mut self, ack: bool) -> Result<(), DumpError> {
        let buffer = std::mem::take(&mut self.buffer);
        let mut rest = &buffer[..];
        while !rest.is_empty() {
            let size = EventHeader::parse(rest)?.event_size as usize;
            let (event, behind) = rest.split_at_checked(size).unwrap_or((rest, &[]));
            self.as_is(event, ack && behind.is_empty())?;
            rest = behind;
        }
        self.buffer = buffer;
        Ok(())
    }

    /// Sends an event.
    #[inline]
    fn as_is(&mut self, event: &[u8], ack: bool) -> Result<(), DumpError> {
        self.events += 1;
        self.bytes += event.len() as u64;
        self.counted += event.len() as u64;
        if self.semi {
            let head = [0, SEMI_SYNC_MAGIC, u8::from(ack)];
            self.io.write(&[&head, event])?;
            if ack {
                self.io.reset_sequence();
            }
        } else {
            self.io.write(&[&[0], event])?;
        }
        Ok(())
    }
}

/// A running dump.
pub(crate) struct Dump<'a, G> {
    shared: &'a Shared,
    client: &'a dyn Client,
    vars: &'a ClientVars,
    entry: &'a Entry,
    hold: &'a ReaderHold,
    wake: &'a Wake,
    non_block: bool,
    out: Out<'a>,
    groups: G,
    semi: Option<SemiSyncReader>,
    /// The file in which the stream stands, and where.
    file_no: u32,
    file: String,
    pos: u64,
    /// The last position in the file that 32 bits can say. What heartbeats name: a replica takes it amiss if they name
    /// one that is less than what it was sent before.
    said: u32,
    /// Timestamp of the last group.
    time: u32,
    stream: Option<GtidStream>,
    /// Groups were left out, and the reader does not know it yet.
    skipped: bool,
    resets: u64,
    /// Groups sent.
    sent: u64,
    /// Commit number of the last group.
    seq: u64,
    gtid: narwal_binlog::Gtid,
    /// When something was sent last, and what had been sent by then.
    quiet_since: Instant,
    events_then: u64,
    noted: u64,
    /// The client's last packet.
    packet: Vec<u8>,
}

impl<'a, G: Groups> Dump<'a, G> {
    #[allow(clippy::too_many_arguments, reason = "called in one place")]
    pub(crate) fn new(
        shared: &'a Shared,
        client: &'a dyn Client,
        vars: &'a ClientVars,
        request: &DumpRequest,
        entry: &'a Entry,
        hold: &'a ReaderHold,
        wake: &'a Wake,
        io: &'a mut dyn DumpIo,
        groups: G,
    ) -> Self {
        let semi = vars
            .semi_sync
            .then(|| shared.semi_sync.attach(request.server_id));
        Dump {
            shared,
            client,
            vars,
            entry,
            hold,
            wake,
            non_block: request.non_block(),
            out: Out {
                io,
                dialect: if vars.executed.is_some() {
                    Dialect::MySql(Translator::of(vars.source_id))
                } else {
                    Dialect::MariaDb(Capable::new(vars.capability, request.annotate()))
                },
                buffer: Vec::new(),
                semi: semi.is_some(),
                events: 0,
                bytes: 0,
                counted: 0,
            },
            resets: groups.resets(),
            groups,
            semi,
            file_no: 0,
            file: String::new(),
            pos: 0,
            said: 0,
            time: 0,
            stream: None,
            skipped: false,
            sent: 0,
            seq: 0,
            gtid: narwal_binlog::Gtid::default(),
            quiet_since: Instant::now(),
            events_then: 0,
            noted: 0,
            packet: Vec::new(),
        }
    }

    /// Sends everything from the start on, until something ends it.
    pub(crate) fn run(&mut self, start: Start) -> Result<DumpEnd, DumpError> {
        let end = self.send(start);
        self.note(false);
        let end = end?;
        if end != DumpEnd::Quit {
            self.out.io.write(&[&EOF])?;
            self.out.io.flush()?;
        }
        Ok(end)
    }

    fn send(&mut self, mut start: Start) -> Result<DumpEnd, DumpError> {
        self.begin(&mut start)?;
        if self.stream.as_ref().is_some_and(GtidStream::until_reached) {
            return self.until_reached(false);
        }
        let mut skipped = 0u32;
        loop {
            if self.client.killed() {
                return Ok(DumpEnd::Killed);
            }
            let next = self.groups.next_group()?;
            self.check()?;
            let Some(head) = next else {
                self.begun_files(u32::MAX)?;
                if self.non_block {
                    return Ok(DumpEnd::LogEnd);
                }
                if let Some(end) = self.sleep()? {
                    return Ok(end);
                }
                continue;
            };
            if self.seq == 0 {
                self.seq = head.seq.saturating_sub(1);
                self.note(false);
                if let Some(semi) = &mut self.semi {
                    semi.skipped(self.seq);
                }
            }
            let verdict = self.group(&head, &mut start)?;
            (self.seq, self.gtid, self.time) = (head.seq, head.gtid, head.timestamp);
            match verdict {
                Verdict::Send => self.sent += 1,
                Verdict::Skip | Verdict::Unwanted => {
                    skipped += 1;
                    if skipped.is_multiple_of(SKIPPED_GROUPS) {
                        self.still_there()?;
                        self.note(false);
                    }
                }
                Verdict::SendAndStop | Verdict::Stop => {
                    self.sent += u64::from(verdict == Verdict::SendAndStop);
                    return self.until_reached(true);
                }
            }
            if self.out.bytes - self.noted >= NOTE_BYTES {
                self.note(false);
                if let Some(end) = self.look()? {
                    return Ok(end);
                }
            }
        }
    }

    /// What must not go on.
    fn check(&self) -> Result<(), DumpError> {
        if self.groups.resets() != self.resets {
            return Err(DumpError::fatal(
                "The binary log was reset (RESET MASTER): what follows is another history. The replica must be set up anew, or told from where to go on",
            ));
        }
        if self.entry.is_evicted() {
            // Not 1236: the replica that is meant is the other one.
            return Err(DumpError::Refused(errors::SLAVE_SAME_ID.plain()));
        }
        Ok(())
    }

    /// The head of the stream.
    fn begin(&mut self, start: &mut Start) -> Result<(), DumpError> {
        self.file_no = start.file_no;
        self.file.clone_from(&start.file);
        self.stream = start.stream.take();
        self.skipped = start.skipped;
        self.time = start.file_time;
        self.pos = start.rotate_pos;
        self.client.state(State::Sending);
        let rotate = self.artificial_rotate(start.rotate_pos);
        match self.vars.checksum {
            Checksum::Crc32 => self.out.event(&rotate, false)?,
            Checksum::Unset | Checksum::None => {
                self.out.event(&without_checksum(rotate), false)?;
            }
        }
        if self.vars.checksum == Checksum::Unset {
            return Err(with_place(
                "Slave can not handle replication events with the checksum that master is configured to log",
                &self.file,
                self.pos,
                FIRST_EVENT,
                LIST_POS,
            ));
        }
        self.out.counted = start.rotate_pos;
        self.description(start.file_time, start.rotate_pos == FIRST_EVENT)?;
        if start.list {
            self.list(&start.file_gtids, start.file_time)?;
        }
        self.pos = start.pos;
        self.tell_skipped()?;
        if start.behind_rotate {
            // The reader has read the file to its end: the next one follows, without another ROTATE.
            let next = self.file_no + 1;
            if let Some((gtids, time)) = self.shared.db.binlog_file_start(next) {
                self.new_file(next, &gtids, time)?;
            }
        }
        Ok(())
    }

    fn artificial_rotate(&self, pos: u64) -> Vec<u8> {
        let me = self.vars.source_id;
        rotate_event(pos, &self.file, me, 0, 0, event_flags::ARTIFICIAL)
    }

    fn description(&mut self, time: u32, from_head: bool) -> Result<(), DumpError> {
        let end = if from_head { LIST_POS as u32 } else { 0 };
        let me = self.vars.source_id;
        let event = match &mut self.out.dialect {
            Dialect::MySql(translator) => {
                translator.begin_file();
                mysql_description_event(me, time, end)
            }
            Dialect::MariaDb(_) => {
                format_description_event(&self.shared.version, me, time, 0, end, 0)
            }
        };
        self.out.event(&event, false)
    }

    /// The file's own GTID_LIST.
    fn list(&mut self, gtids: &GtidState, time: u32) -> Result<(), DumpError> {
        let end = LIST_POS + gtid_list_event_len(gtids.len()) as u64;
        let (me, at) = (self.vars.source_id, end_pos(end));
        let event = if self.out.dialect.is_mysql() {
            previous_gtids_event(&GtidSet::of_state(gtids), me, time, at)
        } else {
            gtid_list_event(gtids, 0, me, time, at, 0)
        };
        self.pos = end;
        self.out.event(&event, false)
    }

    /// Says which GTIDs the stream has passed at `pos`.
    fn artificial_list(
        &mut self,
        flags: u8,
        passed: &GtidState,
        pos: u64,
    ) -> Result<(), DumpError> {
        let event = gtid_list_event(
            passed,
            flags,
            self.vars.source_id,
            0,
            end_pos(pos),
            event_flags::ARTIFICIAL,
        );
        self.out.event(&event, false)
    }

    /// Tells the reader of groups that were left out because it has them, and where the stream stands now.
    fn tell_skipped(&mut self) -> Result<(), DumpError> {
        if std::mem::take(&mut self.skipped) {
            let passed = self.groups.gtids_before().clone();
            self.artificial_list(0, &passed, self.pos)?;
        }
        Ok(())
    }

    /// The reader has everything that it wanted; the stream is behind the present group if `in_group`.
    fn until_reached(&mut self, in_group: bool) -> Result<DumpEnd, DumpError> {
        let mut passed = self.groups.gtids_before().clone();
        if in_group {
            passed.observe(self.gtid);
        }
        self.artificial_list(UNTIL_REACHED, &passed, self.pos)?;
        Ok(DumpEnd::UntilReached)
    }

    /// Ends the present file and begins another.
    fn rotate(&mut self, number: u32, gtids: &GtidState, time: u32) -> Result<(), DumpError> {
        let next = self.shared.db.binlog_file_name(number);
        let end = self.pos + ROTATE_LEN + next.len() as u64;
        let event = rotate_event(4, &next, self.vars.source_id, self.time, end_pos(end), 0);
        self.pos = end;
        self.out.event(&event, false)?;
        self.new_file(number, gtids, time)
    }

    fn new_file(&mut self, number: u32, gtids: &GtidState, time: u32) -> Result<(), DumpError> {
        self.client.state(State::NextFile);
        self.file_no = number;
        self.file = self.shared.db.binlog_file_name(number);
        self.pos = FIRST_EVENT;
        // Behind the first one they carry a checksum like everything in the log.
        let rotate = self.artificial_rotate(FIRST_EVENT);
        self.out.event(&rotate, false)?;
        self.out.counted = FIRST_EVENT;
        self.description(time, true)?;
        self.list(gtids, time)?;
        self.skipped = false;
        self.client.state(State::Sending);
        Ok(())
    }

    /// Goes over the files that were begun without a group, below number `below`.
    fn begun_files(&mut self, below: u32) -> Result<(), DumpError> {
        let from = self.file_no;
        let begun = self.groups.begun_files();
        if begun.iter().all(|f| f.number <= from || f.number > below) {
            return Ok(());
        }
        let begun: Vec<BegunFile> = begun
            .iter()
            .filter(|f| f.number > from && f.number <= below)
            .cloned()
            .collect();
        for file in begun {
            self.rotate(file.number, &file.gtids, file.time)?;
        }
        Ok(())
    }

    /// One group.
    fn group(&mut self, head: &GroupHead, start: &mut Start) -> Result<Verdict, DumpError> {
        if head.file_no != self.file_no {
            self.begun_files(head.file_no)?;
            if head.file_no != self.file_no {
                let gtids = match self.groups.file_gtids() {
                    Some(gtids) => gtids.clone(),
                    None => self.groups.gtids_before().clone(),
                };
                self.rotate(head.file_no, &gtids, head.timestamp)?;
            }
        }
        let end = head.start_pos.saturating_add(head.len);
        let verdict = match &mut self.stream {
            Some(stream) => stream.judge(head.gtid)?,
            None => Verdict::Send,
        };
        match verdict {
            Verdict::Send | Verdict::SendAndStop => {}
            Verdict::Skip | Verdict::Unwanted | Verdict::Stop => {
                let has = verdict == Verdict::Skip;
                self.skipped |= has;
                if let Some(semi) = &mut self.semi {
                    if has {
                        semi.skipped(head.seq);
                    } else {
                        semi.left_out(head.seq);
                    }
                }
                self.pos = end;
                return Ok(verdict);
            }
        }
        self.tell_skipped()?;
        let from = if std::mem::take(&mut start.inside) {
            self.inside(head, start.pos)?
        } else {
            head.start_pos
        };
        if let Dialect::MySql(translator) = &mut self.out.dialect {
            let stream = self.stream.as_ref();
            let named = head.mysql.map(|gtid| {
                let known = stream.is_some_and(|s| s.has_mysql(&gtid));
                (gtid, known)
            });
            translator.begin_group(head.len, named);
        }
        let mut at = from;
        while let Some(event) = self.groups.next_event()? {
            at += event.len() as u64;
            if let Dialect::MySql(translator) = &mut self.out.dialect
                && at >= end
            {
                translator.at_end();
            }
            let mut ack = false;
            if let Some(semi) = &mut self.semi
                && at >= end
            {
                ack = semi.wants_ack(&GroupEnd {
                    file_no: head.file_no,
                    end_pos: self.out.place_behind(event, end)?,
                    seq: head.seq,
                    gtid: head.gtid,
                });
            }
            self.out.event(event, ack)?;
            self.said = u32::try_from(at).unwrap_or(self.said);
        }
        self.pos = end;
        Ok(verdict)
    }

    /// Passes over the events of the first group that the reader has; where the others begin.
    fn inside(&mut self, head: &GroupHead, pos: u64) -> Result<u64, DumpError> {
        let mut at = head.start_pos;
        while at < pos {
            match self.groups.next_event()? {
                Some(event) => at += event.len() as u64,
                None => break,
            }
        }
        if at == pos {
            Ok(at)
        } else {
            Err(no_event_at(&self.file, pos))
        }
    }

    /// Tells others how far the dump has come, and retention what it may take.
    fn note(&mut self, caught_up: bool) {
        self.noted = self.out.bytes;
        let lsn = self.groups.lsn();
        let mut p = self.entry.progress.lock();
        p.at.lsn = lsn;
        p.at.seq = self.seq;
        p.at.file_no = self.file_no;
        p.at.pos = self.pos;
        p.at.gtid = self.gtid;
        p.at.timestamp = self.time;
        (p.groups, p.events, p.bytes) = (self.sent, self.out.events, self.out.bytes);
        p.caught_up = caught_up;
        drop(p);
        self.hold.advance(lsn);
    }

    /// Time until a heartbeat is due; `None` if the reader wants none.
    fn until_heartbeat(&mut self) -> Option<Duration> {
        let period = self.vars.heartbeat?;
        if self.events_then != self.out.events {
            self.events_then = self.out.events;
            self.quiet_since = Instant::now();
        }
        Some(period.saturating_sub(self.quiet_since.elapsed()))
    }

    /// Sends a heartbeat if it is due.
    fn still_there(&mut self) -> Result<(), DumpError> {
        if self.until_heartbeat() == Some(Duration::ZERO) {
            let mut pos = u32::try_from(self.pos).unwrap_or(self.said);
            if self.out.dialect.is_mysql() {
                pos = pos.max(u32::try_from(self.out.counted).unwrap_or(u32::MAX));
            }
            let event = heartbeat_event(&self.file, self.vars.source_id, pos);
            self.out.event(&event, false)?;
            // It has no length in the file.
            self.out.counted = u64::from(pos);
            self.out.io.flush()?;
        }
        Ok(())
    }

    /// Sleeps until there is more to send.
    fn sleep(&mut self) -> Result<Option<DumpEnd>, DumpError> {
        self.out.io.flush()?;
        self.note(true);
        self.client.state(State::SentAll);
        let end = loop {
            self.wake.clear();
            self.entry.falls_asleep();
            if self.client.killed() {
                break Some(DumpEnd::Killed);
            }
            self.check()?;
            let semi_end = self.semi.as_ref().and_then(SemiSyncReader::wants_end);
            if self.groups.has_more() {
                // Acknowledgements come while there is always more to send, and commits wait for them.
                let waits = self
                    .semi
                    .as_ref()
                    .is_some_and(SemiSyncReader::waits_for_ack);
                break if waits { self.look()? } else { None };
            }
            if let (Some(semi), Some(end)) = (&mut self.semi, semi_end) {
                semi.at_end(end, self.groups.lsn());
            }
            let timeout = self.until_heartbeat();
            let ready = self.out.io.wait(self.wake.as_fd(), timeout)?;
            if ready.readable
                && let Some(end) = self.read()?
            {
                break Some(end);
            }
            if !ready.woken {
                self.still_there()?;
            }
        };
        self.entry.is_awake();
        self.client.state(State::Sending);
        Ok(end)
    }

    /// Reads what the client has sent so far, without waiting.
    fn look(&mut self) -> Result<Option<DumpEnd>, DumpError> {
        while self
            .out
            .io
            .wait(self.wake.as_fd(), Some(Duration::ZERO))?
            .readable
        {
            if let Some(end) = self.read()? {
                return Ok(Some(end));
            }
        }
        Ok(None)
    }

    /// Reads a packet of the client's, which has begun to arrive.
    fn read(&mut self) -> Result<Option<DumpEnd>, DumpError> {
        let mut packet = std::mem::take(&mut self.packet);
        let end = self.read_into(&mut packet);
        self.packet = packet;
        end
    }

    fn read_into(&mut self, packet: &mut Vec<u8>) -> Result<Option<DumpEnd>, DumpError> {
        match self.out.io.read_packet(packet) {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => {
                // KILL closes the reading side.
                return Ok(Some(if self.client.killed() {
                    DumpEnd::Killed
                } else {
                    DumpEnd::Quit
                }));
            }
            Err(e) => return Err(e.into()),
        }
        match (packet.first(), &mut self.semi) {
            (Some(&SEMI_SYNC_MAGIC), Some(semi)) => {
                semi.ack_packet(packet)
                    .map_err(|e| DumpError::fatal(format!("Semi-sync reply: {e}")))?;
            }
            (Some(&COM_QUIT), _) if packet.len() == 1 => return Ok(Some(DumpEnd::Quit)),
            _ => {
                tracing::debug!(
                    connection = self.vars.connection_id,
                    bytes = packet.len(),
                    "a reader of the binary log has sent something that means nothing"
                );
            }
        }
        Ok(None)
    }
}
