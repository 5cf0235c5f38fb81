//! Where records go.

use crate::json::JsonLines;
use crate::record::Record;
use crate::state::{State, StateFile};
use crate::{Error, Place, Result};
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 18;

/// Takes records in the order of the log.
///
/// [`pump`](crate::pump()) calls [`write`](Self::write) for each, [`flush`](Self::flush) whenever the log has no more for the
/// moment and now and then in between, and [`commit`](Self::commit) after that with the place that everything flushed goes
/// up to. A sink that keeps the place where it keeps the records (a file and its length, a Kafka transaction with the
/// offset in it) makes delivery exact; any other delivers again what it took after the last commit.
pub trait Sink {
    /// Takes a record; `place` is that behind it. `None` for rows of a snapshot, which a stream can't go on in the midst of.
    ///
    /// # Errors
    /// [`Error::Sink`].
    fn write(&mut self, record: &Record<'_>, place: Option<&Place>) -> Result<()>;

    /// Hands over everything written so far.
    ///
    /// # Errors
    /// [`Error::Sink`].
    fn flush(&mut self) -> Result<()>;

    /// Everything up to `place` was flushed: keeps it. `None`: a snapshot has begun; if it is not finished, it must be taken
    /// again from its start.
    ///
    /// # Errors
    /// [`Error::Sink`].
    fn commit(&mut self, place: Option<&Place>) -> Result<()>;

    /// Bytes taken so far.
    fn bytes(&self) -> u64;
}

pub(crate) fn now_millis() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX))
}

/// Lines gathered for an output.
#[derive(Debug)]
struct Lines {
    json: JsonLines,
    buf: Vec<u8>,
    written: u64,
    /// The time for the lines of a buffer: the clock is read once for each.
    now: u64,
}

impl Lines {
    fn new(json: JsonLines) -> Self {
        Lines {
            json,
            buf: Vec::with_capacity(BUFFER),
            written: 0,
            now: 0,
        }
    }

    fn add(
        &mut self,
        record: &Record<'_>,
        place: Option<&Place>,
        out: &mut impl Write,
    ) -> Result<()> {
        if self.buf.is_empty() {
            self.now = now_millis();
        }
        self.json.line(record, place, self.now, &mut self.buf);
        if self.buf.len() >= BUFFER {
            self.send(out)?;
        }
        Ok(())
    }

    fn send(&mut self, out: &mut impl Write) -> Result<()> {
        out.write_all(&self.buf)?;
        self.written += self.buf.len() as u64;
        self.buf.clear();
        self.buf.shrink_to(2 * BUFFER);
        Ok(out.flush()?)
    }

    fn bytes(&self) -> u64 {
        self.written + self.buf.len() as u64
    }
}

/// JSON lines to a pipe, a socket, anything. What was taken after the last commit comes again after a restart.
#[derive(Debug)]
pub struct WriterSink<W: Write> {
    out: W,
    lines: Lines,
    state: Option<StateFile>,
}

impl<W: Write> WriterSink<W> {
    /// Writes to `out`, which needs no buffer of its own.
    pub fn new(out: W, json: JsonLines) -> Self {
        WriterSink {
            out,
            lines: Lines::new(json),
            state: None,
        }
    }

    /// The output. What was not flushed is dropped.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Keeps the place in a state file.
    #[must_use]
    pub fn with_state(mut self, path: &Path) -> Self {
        self.state = Some(StateFile::new(path));
        self
    }
}

/// Reads the place in a state file. `None` if the file does not exist or a snapshot was not finished.
///
/// # Errors
/// It can't be read, or is no state file.
pub fn read_place(path: &Path) -> Result<Option<Place>> {
    Ok(StateFile::new(path).read()?.and_then(|s| s.place))
}

impl<W: Write> Sink for WriterSink<W> {
    fn write(&mut self, record: &Record<'_>, place: Option<&Place>) -> Result<()> {
        self.lines.add(record, place, &mut self.out)
    }

    fn flush(&mut self) -> Result<()> {
        self.lines.send(&mut self.out)
    }

    fn commit(&mut self, place: Option<&Place>) -> Result<()> {
        if let Some(state) = &self.state {
            state.write(&State {
                place: place.cloned(),
                output: None,
            })?;
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}

/// JSON lines to a file, each exactly once, whenever the program ends: a state file says up to where the output is valid, and
/// what stands behind that is cut off. Without a state file the output itself says it, by its last whole line.
#[derive(Debug)]
pub struct FileSink {
    file: File,
    lines: Lines,
    state: Option<StateFile>,
    /// Length of the file before the first line of this run.
    start: u64,
    place: Option<Place>,
}

impl FileSink {
    /// Opens or makes the output, and cuts off what does not belong to a place.
    ///
    /// # Errors
    /// [`Error::Usage`] if output and state file do not belong together, or if the output has rows of a snapshot that was
    /// not finished, with no state file to say where it began. Errors of reading and writing.
    pub fn open(path: &Path, state: Option<&Path>, json: JsonLines) -> Result<Self> {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(|e| named(path, e))?;
        let len = file.metadata()?.len();
        let state = state.map(StateFile::new);
        let known = state.as_ref().map(StateFile::read).transpose()?.flatten();
        let (valid, place) = match known {
            Some(state) => {
                let valid = state.output.ok_or_else(|| {
                    Error::Usage("the state file is that of an output that is no file".into())
                })?;
                if valid > len {
                    return Err(Error::Usage(format!(
                        "{} has {len} bytes, but {valid} by the state file: they do not belong together",
                        path.display()
                    )));
                }
                (valid, state.place)
            }
            None if state.is_some() && len > 0 => {
                return Err(Error::Usage(format!(
                    "{} is not empty and the state file does not exist: remove one, or name the other's",
                    path.display()
                )));
            }
            None if len > 0 => {
                let (valid, place) = last_place(&mut file, path)?;
                (valid, Some(place))
            }
            // From now on whatever is in the file belongs to this state, or to none.
            None => {
                if let Some(state) = &state {
                    state.write(&State {
                        place: None,
                        output: Some(0),
                    })?;
                }
                (0, None)
            }
        };
        file.set_len(valid)?;
        file.seek(SeekFrom::Start(valid))?;
        Ok(FileSink {
            file,
            lines: Lines::new(json),
            state,
            start: valid,
            place,
        })
    }

    /// Where to go on: behind the last line. `None`: at the start.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }
}

fn named(path: &Path, e: io::Error) -> Error {
    Error::Sink(io::Error::new(e.kind(), format!("{}: {e}", path.display())))
}

/// The end of the last whole line, and the place that it tells.
fn last_place(file: &mut File, path: &Path) -> Result<(u64, Place)> {
    #[derive(serde::Deserialize)]
    struct Line {
        resume: Option<String>,
    }
    let unknown = |what: &str| {
        Error::Usage(format!(
            "{}: {what}; remove it, or give another output",
            PathBuf::from(path).display()
        ))
    };
    // From the end, in steps, until a whole line is in view.
    let len = file.metadata()?.len();
    let mut step = 1 << 16;
    let (end, line) = loop {
        let from = len.saturating_sub(step);
        file.seek(SeekFrom::Start(from))?;
        let mut tail = Vec::new();
        Read::by_ref(file).take(len - from).read_to_end(&mut tail)?;
        let last = tail.iter().rposition(|&b| b == b'\n');
        let first = last.and_then(|last| tail[..last].iter().rposition(|&b| b == b'\n'));
        match (first, last) {
            (Some(first), Some(last)) => {
                break (from + last as u64 + 1, tail[first + 1..=last].to_vec());
            }
            (None, Some(last)) if from == 0 => break (last as u64 + 1, tail[..=last].to_vec()),
            (_, None) if from == 0 => {
                return Err(unknown("it has no whole line of a change stream"));
            }
            _ => step *= 4,
        }
    };
    let line: Line = serde_json::from_slice(&line)
        .map_err(|_| unknown("its last line is none of a change stream"))?;
    match line.resume {
        Some(place) => Ok((end, place.parse()?)),
        None => Err(unknown(
            "it ends inside a snapshot, which can't be gone on with",
        )),
    }
}

impl Sink for FileSink {
    fn write(&mut self, record: &Record<'_>, place: Option<&Place>) -> Result<()> {
        self.lines.add(record, place, &mut self.file)
    }

    fn flush(&mut self) -> Result<()> {
        self.lines.send(&mut self.file)
    }

    fn commit(&mut self, place: Option<&Place>) -> Result<()> {
        if let Some(state) = &self.state {
            // The state must never know more than the disk has.
            self.file.sync_data()?;
            state.write(&State {
                place: place.cloned(),
                output: Some(self.start + self.lines.written),
            })?;
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.lines.bytes()
    }
}
