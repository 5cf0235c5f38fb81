//! The two logs: a data folder's, or a server's.

use super::compare::{Feed, Seen};
use crate::Failure;
use crate::binlog::{Events, data_dir_of, log_dir, select::Selection, source::config};
use crate::folder::open_disk;
use narwal_binlog::{
    CHECKSUM_LEN, ContentHasher, EventHeader, EventReader, Gtid, GtidState, event_flags,
    event_type, stamp_event,
};
use narwal_client::Connection;
use narwal_crypt::Access;
use narwal_engine::{EngineError, GroupHead, GroupKind, open_folder};
use narwal_log::Disk;
use narwal_stream::{
    EventGroup, FolderSource, NetworkOptions, NetworkSource, Place, Source, Start, Step,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long one look for more lasts; logs are read to their end only.
const WAIT: Duration = Duration::from_secs(60);

/// Where a log is.
pub enum Side {
    /// In a data folder.
    Folder {
        dir: PathBuf,
        disk: Arc<dyn Disk>,
        base_name: String,
    },
    /// At a server.
    Server(Box<NetworkOptions>),
}

impl Side {
    /// The log of a data folder.
    pub fn folder(
        dir: &std::path::Path,
        key_file: Option<&std::path::Path>,
        base_name: &str,
    ) -> Result<Self, Failure> {
        let log = log_dir(dir)?;
        let disk = open_disk(data_dir_of(&log, dir), key_file, Access::Read)?.disk;
        Ok(Side::Folder {
            dir: log,
            disk,
            base_name: base_name.to_owned(),
        })
    }

    /// The log of a server.
    pub fn server(connect: narwal_client::Options) -> Self {
        let mut options = NetworkOptions::new(connect);
        options.only_what_is_there = true;
        Side::Server(Box::new(options))
    }

    /// For people.
    pub fn name(&self) -> String {
        match self {
            Side::Folder { dir, .. } => dir.display().to_string(),
            Side::Server(o) => o.connect.address.to_string(),
        }
    }

    /// The log from `start` on, to its end.
    pub fn open(&self, start: &Start) -> Result<Box<dyn Source>, Failure> {
        Ok(match self {
            Side::Folder {
                dir,
                disk,
                base_name,
            } => Box::new(FolderSource::open(
                disk.clone(),
                dir,
                base_name,
                start,
                false,
            )?),
            Side::Server(options) => Box::new(NetworkSource::open((**options).clone(), start)?),
        })
    }

    /// The last GTID of every (domain, server).
    pub fn state(&self) -> Result<GtidState, Failure> {
        match self {
            Side::Folder {
                dir,
                disk,
                base_name,
            } => {
                let failed = |e: EngineError| Failure::Run(e.to_string());
                let opened =
                    open_folder(disk.clone(), dir, config(base_name), &|_| true).map_err(failed)?;
                let mut groups = opened
                    .ok_or_else(|| Failure::Run(format!("{}: holds no log", dir.display())))?
                    .groups;
                while groups.next_group().map_err(failed)?.is_some() {}
                Ok(groups
                    .files()
                    .map(|f| f.gtids().clone())
                    .unwrap_or_default())
            }
            Side::Server(options) => {
                let mut c = connect(&options.connect)?;
                let text = ask(&mut c, "SELECT @@GLOBAL.gtid_binlog_state")?;
                text.unwrap_or_default().parse().map_err(|e| {
                    Failure::run(format!("{}: gtid_binlog_state", options.connect.address), e)
                })
            }
        }
    }

    /// The GTID positions at which the server's log files begin, oldest first.
    pub fn file_starts(&self) -> Result<Vec<Place>, Failure> {
        let Side::Server(options) = self else {
            return Ok(Vec::new());
        };
        let mut c = connect(&options.connect)?;
        let failed = |e: narwal_client::Error| Failure::run(options.connect.address.to_string(), e);
        let files = c.query("SHOW BINARY LOGS").map_err(failed)?;
        let mut starts = Vec::new();
        for row in 0.. {
            let Some(name) = files.text(row, 0) else {
                break;
            };
            let name = name.replace('\\', "\\\\").replace('\'', "''");
            let at = ask(&mut c, &format!("SELECT BINLOG_GTID_POS('{name}', 4)"))?;
            if let Some(place) = at.and_then(|text| text.parse().ok()) {
                starts.push(place);
            }
        }
        Ok(starts)
    }
}

/// Connects.
pub fn connect(options: &narwal_client::Options) -> Result<Connection, Failure> {
    Connection::connect(options).map_err(|e| Failure::run(&options.address, e))
}

/// The one value that a statement gives.
pub fn ask(c: &mut Connection, sql: &str) -> Result<Option<String>, Failure> {
    c.value(sql).map_err(|e| Failure::run(sql, e))
}

/// A log, as what is compared of it.
pub struct Hashed {
    source: Box<dyn Source>,
    /// For people who wait: called with how many groups have gone by.
    seen: u64,
    tick: Box<dyn FnMut(u64, Gtid)>,
}

impl Hashed {
    /// Of what `source` gives; `tick` is told how far it is.
    pub fn new(source: Box<dyn Source>, tick: Box<dyn FnMut(u64, Gtid)>) -> Self {
        Hashed {
            source,
            seen: 0,
            tick,
        }
    }
}

/// The next group of a log that is read to its end.
fn next_group(source: &mut dyn Source) -> Result<Option<EventGroup>, Failure> {
    loop {
        match source.next_group(WAIT)? {
            Step::Group(group) => return Ok(Some(group)),
            Step::Idle => {}
            Step::End => return Ok(None),
        }
    }
}

impl Feed for Hashed {
    fn next(&mut self) -> Result<Option<Seen>, Failure> {
        let Some(group) = next_group(&mut *self.source)? else {
            return Ok(None);
        };
        let damaged = |e| Failure::run(format!("transaction {}", group.gtid), e);
        let checksums = self.source.checksums();
        let mut hasher = ContentHasher::new();
        while let Some(bytes) = self.source.next_event()? {
            for event in reader(bytes, checksums) {
                hasher.event(&event.map_err(damaged)?).map_err(damaged)?;
            }
        }
        self.seen += 1;
        (self.tick)(self.seen, group.gtid);
        Ok(Some(Seen {
            gtid: group.gtid,
            hash: hasher.finish(),
            time: group.timestamp,
        }))
    }
}

fn reader(bytes: &[u8], checksums: bool) -> EventReader<'_> {
    let reader = EventReader::new(bytes);
    if checksums {
        reader
    } else {
        reader.without_checksums()
    }
}

/// The GTID event of a group, made anew: sources do not give it.
fn gtid_event(group: &EventGroup) -> Result<Vec<u8>, EngineError> {
    let header = EventHeader {
        timestamp: group.timestamp,
        event_type: event_type::GTID,
        server_id: group.gtid.server,
        event_size: narwal_binlog::GTID_EVENT_LEN as u32,
        end_log_pos: 0,
        flags: event_flags::SUPPRESS_USE,
    };
    let mut event = header.to_bytes().to_vec();
    event.extend_from_slice(&group.gtid.seq.to_le_bytes());
    event.extend_from_slice(&group.gtid.domain.to_le_bytes());
    // Without a commit id, which says with whom it was committed.
    event.push(group.flags2 & !narwal_binlog::gtid_flags::GROUP_COMMIT_ID);
    event.resize(narwal_binlog::GTID_EVENT_LEN, 0);
    stamp_event(&mut event, group.gtid.server, 0)
        .map_err(|e| EngineError::Corrupt(e.to_string()))?;
    Ok(event)
}

/// A source's present group, event by event, as the forms of output want it: with a GTID event first, and checksums.
struct GroupEvents<'a> {
    source: &'a mut dyn Source,
    first: Option<Vec<u8>>,
    event: Vec<u8>,
    server: u32,
    before: GtidState,
}

impl Events for GroupEvents<'_> {
    fn next_event(&mut self) -> narwal_engine::Result<Option<&[u8]>> {
        if let Some(first) = self.first.take() {
            self.event = first;
            return Ok(Some(&self.event));
        }
        let failed = |e: narwal_stream::Error| EngineError::Io(e.to_string());
        let checksums = self.source.checksums();
        let Some(bytes) = self.source.next_event().map_err(failed)? else {
            return Ok(None);
        };
        self.event.clear();
        self.event.extend_from_slice(bytes);
        if !checksums {
            let len = self.event.len() + CHECKSUM_LEN;
            if let Some(size) = self.event.get_mut(9..13) {
                size.copy_from_slice(&(len as u32).to_le_bytes());
            }
            self.event.resize(len, 0);
            stamp_event(&mut self.event, self.server, 0)
                .map_err(|e| EngineError::Corrupt(e.to_string()))?;
        }
        Ok(Some(&self.event))
    }

    fn gtids_before(&self) -> &GtidState {
        &self.before
    }

    fn file_gtids(&self) -> Option<&GtidState> {
        None
    }
}

/// Gives the groups of `side` behind `start` whose GTIDs are in `wanted` to a form of output.
pub fn put(
    side: &Side,
    start: &Start,
    wanted: &BTreeSet<Gtid>,
    output: &mut dyn crate::binlog::Output,
) -> Result<(), Failure> {
    let mut source = side.open(start)?;
    let selection = Selection::default();
    let mut left = wanted.len();
    let mut before = GtidState::new();
    if let Start::Place(place) = start {
        place.position().for_each(|g| before.observe(g));
    }
    while left > 0 {
        let Some(group) = next_group(&mut *source)? else {
            return Err(Failure::Run(format!(
                "the log at {} has changed: {left} of the transactions are not there any more",
                side.name()
            )));
        };
        if wanted.contains(&group.gtid) {
            left -= 1;
            let number = group.file.rsplit('.').next().and_then(|n| n.parse().ok());
            let head = GroupHead {
                lsn: 0,
                end_lsn: 0,
                seq: 0,
                kind: GroupKind::Group,
                file_no: number.unwrap_or(0),
                start_pos: group.pos,
                new_file: false,
                gtid: group.gtid,
                mysql: None,
                flags2: group.flags2,
                len: 0,
                timestamp: group.timestamp,
                first_lsn: 0,
                chunks: 0,
            };
            let first = gtid_event(&group).map_err(|e| Failure::Run(e.to_string()))?;
            let mut events = GroupEvents {
                source: &mut *source,
                first: Some(first),
                event: Vec::new(),
                server: group.gtid.server,
                before: before.clone(),
            };
            output
                .group(&head, &mut events, &selection)
                .map_err(failure)?;
        }
        before.observe(group.gtid);
    }
    output.finish(true).map_err(failure)
}

fn failure(trouble: crate::binlog::Trouble) -> Failure {
    match trouble {
        crate::binlog::Trouble::Fail(e) => e,
        e => Failure::Run(e.to_string()),
    }
}
