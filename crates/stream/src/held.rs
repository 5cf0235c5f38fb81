//! Prepared XA transactions: their events wait here until the log tells whether they were committed.

use crate::{Error, Place, Result};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::sync::Arc;
use tempfile::SpooledTempFile;

/// Bytes of a transaction's events that wait in memory; more of them wait in a temporary file.
const IN_MEMORY: usize = 1 << 20;

/// A prepared transaction.
#[derive(Debug)]
pub(crate) struct Held {
    /// Its name, as XA END has it.
    pub name: String,
    /// Binary log file of its first group, and the offset there.
    pub file: Arc<str>,
    pub pos: u64,
    /// Its events end in checksums.
    pub checksums: bool,
    /// A stream that is to meet it must read from here on.
    pub before: Place,
    events: SpooledTempFile,
}

/// All that are open, the oldest first.
#[derive(Debug, Default)]
pub(crate) struct HeldList(Vec<Held>);

fn failed(e: &io::Error) -> Error {
    Error::Sink(io::Error::new(
        e.kind(),
        format!("a temporary file for prepared XA transactions: {e}"),
    ))
}

impl Held {
    pub fn new(file: Arc<str>, pos: u64, checksums: bool, before: Place) -> Held {
        Held {
            name: String::new(),
            file,
            pos,
            checksums,
            before,
            events: SpooledTempFile::new(IN_MEMORY),
        }
    }

    /// Adds an event.
    ///
    /// # Errors
    /// The temporary file can't be written.
    pub fn push(&mut self, event: &[u8]) -> Result<()> {
        let n = event.len() as u64;
        let written = self.events.write_all(&n.to_le_bytes());
        written
            .and_then(|()| self.events.write_all(event))
            .map_err(|e| failed(&e))
    }

    /// Goes to the first event.
    ///
    /// # Errors
    /// The temporary file can't be read.
    pub fn rewind(&mut self) -> Result<()> {
        let begun = self.events.seek(SeekFrom::Start(0));
        begun.map(drop).map_err(|e| failed(&e))
    }

    /// Reads the next event into `out`; false behind the last.
    ///
    /// # Errors
    /// The temporary file can't be read.
    pub fn next(&mut self, out: &mut Vec<u8>) -> Result<bool> {
        let mut n = [0; 8];
        match self.events.read_exact(&mut n) {
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            other => other.map_err(|e| failed(&e))?,
        }
        out.clear();
        let n = u64::from_le_bytes(n);
        let read = Read::by_ref(&mut self.events).take(n).read_to_end(out);
        read.map_err(|e| failed(&e))?;
        Ok(true)
    }
}

impl HeldList {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn push(&mut self, held: Held) {
        // The same group once more, after a lost connection.
        self.0.retain(|h| h.name != held.name);
        self.0.push(held);
    }

    /// Takes the transaction of this name out.
    pub fn take(&mut self, name: &str) -> Option<Held> {
        let at = self.0.iter().position(|h| h.name == name)?;
        Some(self.0.remove(at))
    }

    /// Where a stream must begin to read that is to meet all of them.
    pub fn before(&self) -> Option<&Place> {
        self.0.first().map(|h| &h.before)
    }
}
