//! `narwal binlog export`: the classic files that a server with flat binary logs would hold.

use super::flat::FlatOut;
use super::output::OUT_BUFFER;
use super::source::{Source, data_dir};
use super::{Groups, Trouble, damaged};
use crate::Failure;
use clap::Args;
use narwal_binlog::{DEFAULT_BASE_NAME, GtidState};
use narwal_engine::GroupHead;
use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// Options of `narwal binlog export`.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// Folder to write to; made if missing. Files that are there already are never overwritten
    outdir: PathBuf,
    /// Data folder (default ./narwal-data), or its folder `log`
    #[arg(long, value_name = "DIR")]
    datadir: Option<PathBuf>,
    /// Key file of an encrypted data folder
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
    /// Name of the files without number (the server's --log-bin)
    #[arg(long, value_name = "NAME", default_value = DEFAULT_BASE_NAME)]
    base_name: String,
    /// The server's server_id, which the files' own events have
    #[arg(long, value_name = "N", default_value_t = 1)]
    server_id: u32,
}

struct Open {
    number: u32,
    timestamp: u32,
    before: GtidState,
    out: FlatOut<BufWriter<File>>,
}

struct Export<'a> {
    dir: &'a Path,
    base_name: &'a str,
    server_id: u32,
    open: Option<Open>,
    written: Vec<u32>,
    resets: u64,
    groups: u64,
    bytes: u64,
}

impl Export<'_> {
    fn name(&self, number: u32) -> String {
        format!("{}.{number:06}", self.base_name)
    }

    fn create(&mut self, number: u32, timestamp: u32, before: &GtidState) -> Result<(), Trouble> {
        let path = self.dir.join(self.name(number));
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(|e| Failure::run(path.display(), e))?;
        let out = BufWriter::with_capacity(OUT_BUFFER, file);
        self.open = Some(Open {
            number,
            timestamp,
            before: before.clone(),
            out: FlatOut::new(out, self.server_id, timestamp, before)?,
        });
        self.written.push(number);
        Ok(())
    }

    /// Ends the open file and begins those up to `number`; `before` is the GTID state before that one.
    fn go_to(&mut self, number: u32, timestamp: u32, before: &GtidState) -> Result<(), Trouble> {
        if let Some(open) = self.open.take() {
            let name = self.name(number);
            self.bytes += open.out.position();
            finish(open.out.rotate(&name, self.server_id, open.timestamp)?)?;
        }
        self.create(number, timestamp, before)
    }

    /// Files that have no group, which FLUSH BINARY LOGS has begun.
    fn begun(&mut self, groups: &Groups) -> Result<(), Trouble> {
        for begun in groups.begun_files() {
            let current = self.current();
            let same = self.open.as_ref().is_some_and(|o| o.before == begun.gtids);
            if begun.number == current && !same {
                // The same file anew: gtid_binlog_state was set.
                self.remove(current)?;
                self.create(current, begun.time, &begun.gtids)?;
            } else if begun.number > current && (self.open.is_some() || self.written.is_empty()) {
                self.go_to(begun.number, begun.time, &begun.gtids)?;
            }
        }
        Ok(())
    }

    fn current(&self) -> u32 {
        self.open.as_ref().map_or(0, |o| o.number)
    }

    fn remove(&mut self, number: u32) -> Result<(), Trouble> {
        self.open = None;
        self.written.retain(|n| *n != number);
        let path = self.dir.join(self.name(number));
        std::fs::remove_file(&path).map_err(|e| Failure::run(path.display(), e))?;
        Ok(())
    }

    /// RESET MASTER: a server has none of the older files.
    fn start_again(&mut self) -> Result<(), Trouble> {
        for number in std::mem::take(&mut self.written) {
            self.remove(number)?;
        }
        (self.groups, self.bytes) = (0, 0);
        Ok(())
    }

    fn reset(&mut self, groups: &Groups) -> Result<(), Trouble> {
        if self.resets != groups.resets() {
            self.resets = groups.resets();
            self.start_again()?;
        }
        Ok(())
    }

    fn group(&mut self, head: &GroupHead, source: &mut Source) -> Result<(), Trouble> {
        self.reset(source.groups())?;
        self.begun(source.groups())?;
        if self.open.is_none() && !head.new_file {
            // The beginning of this file was purged.
            return Ok(());
        }
        if self.open.as_ref().is_none_or(|o| o.number != head.file_no) {
            let before = source.groups().file_gtids().cloned();
            let before = before.ok_or_else(|| damaged(head, "its file has no beginning"))?;
            self.go_to(head.file_no, head.timestamp, &before)?;
        }
        let Some(open) = &mut self.open else {
            return Ok(());
        };
        if open.out.position() != head.start_pos {
            return Err(damaged(
                head,
                format!(
                    "the event group {} stands at position {} where {} is expected",
                    head.gtid,
                    head.start_pos,
                    open.out.position()
                ),
            ));
        }
        open.timestamp = head.timestamp;
        while let Some(event) = source.groups().next_event()? {
            open.out.put(event)?;
        }
        self.groups += 1;
        Ok(())
    }
}

fn finish(out: BufWriter<File>) -> Result<(), Trouble> {
    let file = out
        .into_inner()
        .map_err(std::io::IntoInnerError::into_error)?;
    Ok(file.sync_all()?)
}

fn export(o: &ExportArgs, source: &mut Source) -> Result<(u64, usize, u64), Trouble> {
    let mut export = Export {
        dir: &o.outdir,
        base_name: &o.base_name,
        server_id: o.server_id,
        open: None,
        written: Vec::new(),
        resets: source.groups().resets(),
        groups: 0,
        bytes: 0,
    };
    while let Some(head) = source.next(&mut || Ok(()))? {
        if source.spots() > 0 {
            break;
        }
        export.group(&head, source)?;
    }
    if source.spots() == 0 {
        export.reset(source.groups())?;
        export.begun(source.groups())?;
        if export.open.is_none() && export.written.is_empty() {
            // A log without any group.
            let (number, gtids) = match source.groups().files() {
                Some(files) => (files.file_no(), files.gtids().clone()),
                None => (1, GtidState::new()),
            };
            export.create(number, 0, &gtids)?;
        }
    }
    if let Some(open) = export.open.take() {
        export.bytes += open.out.position();
        finish(open.out.finish()?)?;
    }
    let index = o.outdir.join(format!("{}.index", o.base_name));
    let mut text = String::new();
    for number in &export.written {
        text.push_str(&format!("./{}\n", export.name(*number)));
    }
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&index)
        .map_err(|e| Failure::run(index.display(), e))?;
    file.write_all(text.as_bytes())?;
    file.sync_all()?;
    Ok((export.groups, export.written.len(), export.bytes))
}

/// Runs the command.
pub fn run(o: &ExportArgs) -> Result<(), Failure> {
    let dir = data_dir(o.datadir.as_deref());
    let key_file = o.encryption_key_file.as_deref();
    let mut source = Source::open(&dir, key_file, &o.base_name, &|_| false)?.with_progress(true);
    std::fs::create_dir_all(&o.outdir).map_err(|e| Failure::run(o.outdir.display(), e))?;
    let done = export(o, &mut source);
    source.clear_progress();
    match done {
        Ok((groups, files, bytes)) if source.spots() == 0 => {
            eprintln!("{groups} event groups in {files} files, {bytes} bytes");
            Ok(())
        }
        Ok(_) => Err(Failure::Damaged(
            "the log is damaged: only what stands before that was exported".into(),
        )),
        Err(Trouble::Write(e)) => Err(Failure::run("can't write", e)),
        Err(Trouble::Log(e)) => Err(Failure::Run(e.to_string())),
        Err(Trouble::Fail(e)) => Err(e),
    }
}
