//! Binary log events as one classic file.

use super::flat::FlatOut;
use super::rows::{Tables, decode, is_rows, one};
use super::select::Selection;
use super::{Events, Output, Trouble};
use crate::Failure;
use narwal_binlog::{Event, GtidState};
use narwal_engine::GroupHead;
use std::io::{self, Write};

/// Writes one file, whose positions are its own.
pub struct Raw<W: Write> {
    out: Option<W>,
    file: Option<FlatOut<W>>,
    groups: u64,
    last: String,
    quiet: bool,
}

impl<W: Write> Raw<W> {
    /// Writes to `out`.
    pub fn new(out: W) -> Self {
        Raw {
            out: Some(out),
            file: None,
            groups: 0,
            last: String::new(),
            quiet: false,
        }
    }

    /// Does not say at the end how much it was.
    pub fn quiet(self) -> Self {
        Raw {
            quiet: true,
            ..self
        }
    }
}

impl<W: Write> Output for Raw<W> {
    fn group(
        &mut self,
        head: &GroupHead,
        events: &mut dyn Events,
        selection: &Selection,
    ) -> Result<(), Trouble> {
        if let Some(out) = self.out.take() {
            let before = events.gtids_before().clone();
            self.file = Some(FlatOut::new(
                out,
                head.gtid.server,
                head.timestamp,
                &before,
            )?);
        }
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let mut tables = Tables::default();
        while let Some(bytes) = events.next_event()? {
            let event = one(head, bytes)?;
            // With selected tables, a group keeps its other events and loses those of other tables.
            let code = event.header.event_type;
            let wanted = match decode(head, &event)? {
                Event::TableMap(map) => tables.map(head, bytes, &map, selection)?.wanted,
                Event::Rows(rows) if is_rows(code) => tables.of(head, &rows)?.wanted,
                _ => true,
            };
            if wanted {
                file.put_moved(bytes, head.gtid.server)?;
            }
        }
        self.groups += 1;
        self.last = head.gtid.to_string();
        Ok(())
    }

    fn abandon(&mut self, head: &GroupHead) -> Result<(), Trouble> {
        Err(Failure::Run(format!(
            "the output ends inside the event group {}, whose rest can't be read",
            head.gtid
        ))
        .into())
    }

    fn finish(&mut self, _: bool) -> Result<(), Trouble> {
        if let Some(out) = self.out.take() {
            self.file = Some(FlatOut::new(out, 1, 0, &GtidState::new())?);
        }
        if let Some(file) = self.file.take() {
            file.finish()?;
        }
        if self.quiet {
            return Ok(());
        }
        eprintln!("{} event groups, the last one {}", self.groups, self.last);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), FlatOut::flush)
    }
}
