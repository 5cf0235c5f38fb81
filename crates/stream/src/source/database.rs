//! The log of a database that is open in this process.

use super::{EventGroup, Source, Start, Step};
use crate::{Error, Place, Result};
use narwal_binlog::GtidState;
use narwal_engine::{Database, GroupReader, GtidFilter, LiveRecords, ReadStart, ReaderHold};
use std::sync::Arc;
use std::time::Duration;

/// Reads durable groups of an open database, and sleeps until there are more. What it has not read yet is not purged.
pub struct DatabaseSource {
    db: Database,
    reader: GroupReader<LiveRecords>,
    hold: ReaderHold,
    filter: Option<GtidFilter>,
    place: Option<Place>,
    file: (u32, Arc<str>),
    only_what_is_there: bool,
}

/// The GTIDs before whatever a new reader gives first.
fn before(reader: &GroupReader<LiveRecords>) -> Place {
    let gtids = reader
        .files()
        .map_or_else(|| reader.gtids_before(), |f| f.gtids());
    Place::new(gtids.position())
}

impl DatabaseSource {
    /// Reads from `start` on.
    ///
    /// # Errors
    /// [`Error::Gone`] if the log does not have what follows `start`; errors of reading it.
    pub fn open(db: &Database, start: &Start) -> Result<Self> {
        // Before the place is looked up, so that no purge comes between.
        let hold = db.hold_log("change stream", 0);
        let mut known = None;
        let start = match start {
            Start::Beginning => ReadStart::Oldest,
            Start::File { name, offset } => ReadStart::File {
                name: name.clone(),
                offset: *offset,
            },
            Start::Now => {
                let now = db.durable_binlog_position()?;
                ReadStart::File {
                    name: now.file,
                    offset: now.offset,
                }
            }
            Start::Place(place) => {
                known = Some(place.clone());
                ReadStart::Gtid(place.opening().position_text())
            }
        };
        let reader = db.binlog_reader(start)?;
        hold.advance(reader.records().lsn());
        let mut source = DatabaseSource {
            db: db.clone(),
            file: (0, "".into()),
            place: Some(before(&reader)),
            reader,
            hold,
            filter: None,
            only_what_is_there: false,
        };
        if let Some(place) = known {
            source.pass(&place.opening());
            source.place = Some(place);
        }
        Ok(source)
    }

    /// Ends at the end of the log, instead of waiting for more.
    #[must_use]
    pub fn only_what_is_there(mut self, yes: bool) -> Self {
        self.only_what_is_there = yes;
        self
    }

    /// Leaves out what `place` has, domain by domain.
    fn pass(&mut self, place: &Place) {
        let mut have = GtidState::new();
        place.position().for_each(|g| have.observe(g));
        let mut filter = GtidFilter::new(&have);
        if let Some(files) = self.reader.files() {
            filter.passed(files.gtids().iter());
        }
        self.filter = Some(filter);
    }
}

impl std::fmt::Debug for DatabaseSource {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseSource")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl Source for DatabaseSource {
    fn next_group(&mut self, wait: Duration) -> Result<Step> {
        loop {
            let lsn = self.reader.records().lsn();
            let Some(head) = self.reader.next_group()? else {
                if self.only_what_is_there {
                    return Ok(Step::End);
                }
                self.hold.advance(lsn);
                let at = self.reader.records().lsn();
                if wait.is_zero() || self.db.wait_readable(at, wait)? <= at {
                    return Ok(Step::Idle);
                }
                continue;
            };
            if let Some(filter) = &mut self.filter
                && !filter.wants(head.gtid)
            {
                continue;
            }
            if self.place.is_none() || self.filter.is_none() {
                self.place = Some(Place::new(self.reader.gtids_before().position()));
            }
            // What the group's file needs is kept with it, chunks that stand before it included.
            self.hold.advance(lsn);
            if self.file.0 != head.file_no {
                let name = self
                    .reader
                    .files()
                    .map_or_else(String::new, |f| f.file_name(head.file_no));
                self.file = (head.file_no, name.into());
            }
            // The GTID event.
            self.reader.next_event()?;
            return Ok(Step::Group(EventGroup {
                gtid: head.gtid,
                flags2: head.flags2,
                file: self.file.1.clone(),
                pos: head.start_pos,
                timestamp: head.timestamp,
            }));
        }
    }

    fn next_event(&mut self) -> Result<Option<&[u8]>> {
        Ok(self.reader.next_event()?)
    }

    fn place(&self) -> Option<Place> {
        self.place.clone()
    }

    fn reopen(&mut self, _: Option<&Place>) -> Result<()> {
        Err(Error::Refused(
            "a database in this process is not lost".into(),
        ))
    }
}
