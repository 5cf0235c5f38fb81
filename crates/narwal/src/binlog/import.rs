//! `narwal binlog import`: classic binary log files of MariaDB or MySQL into a new data folder.
//!
//! The files' events are applied as a replica would apply them, and each group becomes one group in the new folder's
//! log, with its GTID, server id and times. The work happens in a folder next to the one asked for, which gets its name
//! at the very end: a folder that has the name is whole.

mod files;

use crate::Failure;
use crate::folder::open_disk;
use clap::Args;
use files::FlatFile;
use narwal_binlog::{Event, Gtid, GtidState, event_flags, event_type};
use narwal_crypt::Access;
use narwal_engine::Database;
use narwal_session::apply::{Applied, Applier, ApplyOptions, TypeConversions, begins_group};
use narwal_session::{Instance, Startup};
use std::collections::HashMap;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Takes classic binary log files of MariaDB (10.0 and later) or MySQL (5.6 and later), written with binlog_format=ROW,
/// into a new data folder.
///
/// Event groups keep their GTIDs, server ids and times. The files are given in order, or by their index file. The folder
/// must not exist, or be empty; the work is done in FOLDER.importing, which gets its name at the end. Damage,
/// statement-based events and types that Narwal has not end the import with file, position, GTID and table.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// The new data folder
    #[arg(long, value_name = "DIR")]
    into: PathBuf,
    /// Binary log files in order, or index files that name them
    #[arg(required = true, value_name = "FILE")]
    inputs: Vec<PathBuf>,
    /// Go on in DIR.importing after an import that failed or was ended (files with GTIDs only)
    #[arg(long, conflicts_with = "append")]
    resume: bool,
    /// Into an existing data folder that no server uses; what its GTID position covers is passed over
    #[arg(long)]
    append: bool,
    /// Leave out a database; groups that only touch it stay as empty ones
    #[arg(long, value_name = "NAME")]
    ignore_db: Vec<String>,
    /// Leave out the rows of a table
    #[arg(long, value_name = "DB.TABLE", value_parser = qualified)]
    ignore_table: Vec<String>,
    /// Log views, triggers, routines and events without effect instead of giving up
    #[arg(long)]
    skip_unsupported: bool,
    /// Unicode collations that Narwal has not become utf8mb4_general_ci, or utf8mb4_bin for those in _bin
    #[arg(long)]
    replace_collations: bool,
    /// Find rows by their keys alone; else a before image that differs from the row ends the import
    #[arg(long)]
    no_compare: bool,
    /// GTID domain of groups that have no GTID
    #[arg(long, value_name = "N", default_value_t = 0)]
    domain_id: u32,
    /// GTID domain of a MySQL server's uuid; without it 0, 1, 2 in order of appearance
    #[arg(long, value_name = "UUID=N", value_parser = uuid_domain)]
    map_uuid: Vec<(String, u32)>,
    /// The new server's own server_id
    #[arg(long, value_name = "N", default_value_t = 1)]
    server_id: u32,
    /// Memory for pages and recent changes
    #[arg(long, value_name = "SIZE", default_value = "128M")]
    memory: String,
    /// Size of the new folder's virtual binlog files
    #[arg(long, value_name = "SIZE", default_value = "1G")]
    max_binlog_size: String,
    /// The new folder is (or the existing one is) encrypted with these keys
    #[arg(long, value_name = "FILE")]
    encryption_key_file: Option<PathBuf>,
}

fn qualified(text: &str) -> Result<String, String> {
    match text.split_once('.') {
        Some((db, table)) if !db.is_empty() && !table.is_empty() => Ok(text.to_owned()),
        _ => Err("wants DATABASE.TABLE".into()),
    }
}

fn uuid_domain(text: &str) -> Result<(String, u32), String> {
    text.rsplit_once('=')
        .and_then(|(uuid, domain)| Some((uuid.to_ascii_lowercase(), domain.parse().ok()?)))
        .ok_or_else(|| "wants UUID=DOMAIN".into())
}

impl ImportArgs {
    fn apply_options(&self) -> ApplyOptions {
        ApplyOptions {
            compare: !self.no_compare,
            ignore_databases: self.ignore_db.iter().cloned().collect(),
            ignore_tables: self.ignore_table.iter().cloned().collect(),
            skip_unsupported: self.skip_unsupported,
            replace_collations: self.replace_collations,
            conversions: TypeConversions {
                fitting: true,
                ..TypeConversions::default()
            },
            ..ApplyOptions::default()
        }
    }
}

/// Runs the command.
pub fn run(o: &ImportArgs) -> Result<(), Failure> {
    let files = files::list(&o.inputs)?;
    let target = Target::choose(o)?;
    let outcome = target
        .prepare()
        .and_then(|()| import(o, &files, &target))
        .and_then(|summary| target.finish().map(|()| summary));
    match outcome {
        Ok(summary) => {
            println!("{summary}\nthe data folder is {}", o.into.display());
            Ok(())
        }
        Err(Failure::Run(text)) => {
            Err(Failure::Run(format!("{text}\n{}", target.after_failure(o))))
        }
        Err(e) => Err(e),
    }
}

/// Where the import works, and what becomes of it.
#[derive(Debug)]
struct Target {
    into: PathBuf,
    work: PathBuf,
    /// The folder holds an earlier part.
    going_on: bool,
    /// It is an existing data folder of its own.
    append: bool,
}

/// Tells our unfinished folders from other people's.
const MARKER: &str = "import.unfinished";
/// What the work's folder has behind the name of the one to be made.
const SUFFIX: &str = ".importing";

/// Whether this folder is the work of an import that has not come to its end.
pub fn is_unfinished(dir: &Path) -> bool {
    // The mark stays for a moment longer than the name.
    let name = dir
        .file_name()
        .map(|n| n.to_string_lossy().ends_with(SUFFIX));
    name == Some(true) && dir.join(MARKER).is_file()
}

impl Target {
    fn choose(o: &ImportArgs) -> Result<Target, Failure> {
        let into = std::path::absolute(&o.into).map_err(|e| Failure::run(o.into.display(), e))?;
        if o.append {
            if !into.join("base.redb").is_file() {
                return Err(Failure::Run(format!(
                    "{}: no data folder to append to",
                    into.display()
                )));
            }
            return Ok(Target {
                work: into.clone(),
                into,
                going_on: true,
                append: true,
            });
        }
        let empty = match std::fs::read_dir(&into) {
            Ok(mut entries) => entries.next().is_none(),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => true,
            Err(e) => return Err(Failure::run(into.display(), e)),
        };
        if !empty {
            return Err(Failure::Run(format!(
                "{} is not empty; an import makes a new data folder (--append adds to an existing one)",
                into.display()
            )));
        }
        let mut name = into
            .file_name()
            .ok_or_else(|| {
                Failure::Usage(format!("--into={}: not a folder's name", into.display()))
            })?
            .to_owned();
        name.push(SUFFIX);
        let work = into.with_file_name(name);
        let there = work.exists();
        if there && !work.join(MARKER).is_file() {
            return Err(Failure::Run(format!(
                "{} is there and is not the work of an earlier import; move it away",
                work.display()
            )));
        }
        if o.resume && !there {
            return Err(Failure::Run(format!(
                "{}: nothing to resume",
                work.display()
            )));
        }
        Ok(Target {
            into,
            work,
            going_on: o.resume,
            append: false,
        })
    }

    fn prepare(&self) -> Result<(), Failure> {
        if self.append {
            return Ok(());
        }
        let failed = |e| Failure::run(self.work.display(), e);
        if !self.going_on {
            if self.work.exists() {
                std::fs::remove_dir_all(&self.work).map_err(failed)?;
            }
            let mut builder = std::fs::DirBuilder::new();
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
            builder.recursive(true).create(&self.work).map_err(failed)?;
            std::fs::write(
                self.work.join(MARKER),
                "An import into this folder has not come to its end.\n",
            )
            .map_err(failed)?;
        }
        Ok(())
    }

    /// Gives the folder its name.
    fn finish(&self) -> Result<(), Failure> {
        if self.append {
            return Ok(());
        }
        let failed = |e| {
            Failure::run(
                format!(
                    "the import is complete, but {} can't become {}",
                    self.work.display(),
                    self.into.display()
                ),
                e,
            )
        };
        std::fs::rename(&self.work, &self.into).map_err(failed)?;
        std::fs::remove_file(self.into.join(MARKER)).map_err(failed)?;
        if let Some(parent) = self.into.parent() {
            std::fs::File::open(parent)
                .and_then(|d| d.sync_all())
                .map_err(failed)?;
        }
        Ok(())
    }

    fn after_failure(&self, o: &ImportArgs) -> String {
        if self.append {
            return format!(
                "{} ends with the last group that was applied; the same command goes on from there",
                self.into.display()
            );
        }
        format!(
            "nothing has become {}; the groups before this one are in {}: --resume goes on there, without it the import starts afresh",
            o.into.display(),
            self.work.display()
        )
    }
}

/// How far the import is, on a terminal.
struct Progress {
    terminal: bool,
    total: u64,
    started: Instant,
    shown: Option<Instant>,
}

impl Progress {
    fn show(&mut self, done: u64, file: &Path, counts: &Counts) {
        if !self.terminal
            || self
                .shown
                .is_some_and(|t| t.elapsed() < Duration::from_millis(200))
        {
            return;
        }
        self.shown = Some(Instant::now());
        let share = done as f64 / self.total.max(1) as f64;
        let rate = done as f64 / 1e6 / self.started.elapsed().as_secs_f64().max(0.001);
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        eprint!(
            "\r\x1b[K{:5.1}%  {rate:.1} MB/s  {name}  {} groups, {} rows",
            share * 100.0,
            counts.groups,
            counts.rows
        );
        let _ = std::io::stderr().flush();
    }

    fn say(&mut self, text: impl std::fmt::Display) {
        self.clear();
        eprintln!("narwal: {text}");
    }

    fn clear(&mut self) {
        if self.terminal && self.shown.take().is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

#[derive(Debug, Default)]
struct Counts {
    groups: u64,
    rows: u64,
    statements: u64,
    nothing: u64,
    passed_over: u64,
}

fn import(o: &ImportArgs, files: &[PathBuf], target: &Target) -> Result<String, Failure> {
    let mut startup = Startup::new();
    for (name, value) in [
        ("server_id", o.server_id.to_string()),
        ("innodb_buffer_pool_size", o.memory.clone()),
        ("max_binlog_size", o.max_binlog_size.clone()),
    ] {
        startup.set(name, Some(&value)).map_err(Failure::Usage)?;
    }
    // One sync at the end; until then a crash costs the last second, and --resume goes on from what is there.
    startup
        .set("innodb_flush_log_at_trx_commit", Some("0"))
        .map_err(Failure::Usage)?;
    let folder = open_disk(
        &target.work,
        o.encryption_key_file.as_deref(),
        Access::Serve,
    )?;
    let mut options = startup.engine_options();
    options.disk = folder.disk;
    let db = Database::open_with(&target.work, options)
        .map_err(|e| Failure::run(target.work.display(), e))?;
    let instance = Instance::new(db.clone(), startup);
    let worked = Import::new(o, &db, &instance, files, target.going_on).and_then(Import::run);
    drop(instance);
    // What was applied stays for --resume, also after a failure.
    let closed = db
        .sync()
        .and_then(|()| db.close())
        .map_err(|e| Failure::run(target.work.display(), e));
    let summary = worked?;
    closed?;
    Ok(summary)
}

struct Import<'a> {
    o: &'a ImportArgs,
    db: &'a Database,
    applier: Applier,
    files: &'a [PathBuf],
    going_on: bool,
    state: GtidState,
    /// Domain of each MySQL uuid.
    domains: HashMap<String, u32>,
    /// The group that comes is in the folder already.
    passing: bool,
    counts: Counts,
    progress: Progress,
    /// Where the current group began.
    group_at: u64,
    gtid: Option<Gtid>,
}

impl<'a> Import<'a> {
    fn new(
        o: &'a ImportArgs,
        db: &'a Database,
        instance: &Arc<Instance>,
        files: &'a [PathBuf],
        going_on: bool,
    ) -> Result<Self, Failure> {
        let applier = Applier::new(instance, u32::MAX, o.apply_options());
        let state = db
            .gtid_binlog_state()
            .parse()
            .map_err(|e| Failure::run("the folder's GTID state", e))?;
        let total = files
            .iter()
            .map(|f| std::fs::metadata(f).map_or(0, |m| m.len()))
            .sum();
        Ok(Import {
            o,
            db,
            applier,
            files,
            going_on,
            state,
            domains: o.map_uuid.iter().cloned().collect(),
            passing: false,
            counts: Counts::default(),
            progress: Progress {
                terminal: std::io::stderr().is_terminal(),
                total,
                started: Instant::now(),
                shown: None,
            },
            group_at: 0,
            gtid: None,
        })
    }

    fn run(mut self) -> Result<String, Failure> {
        let result = self.all();
        self.progress.clear();
        result?;
        let c = &self.counts;
        let mut text = format!(
            "{} files, {} event groups ({} statements, {} rows), GTID position {}",
            self.files.len(),
            c.groups,
            c.statements,
            c.rows,
            self.state.position_text()
        );
        if c.nothing > 0 {
            text.push_str(&format!(
                "\n{} groups had nothing to do here and stand as empty ones",
                c.nothing
            ));
        }
        if c.passed_over > 0 {
            text.push_str(&format!("\n{} groups were there already", c.passed_over));
        }
        let mut uuids: Vec<_> = self.domains.iter().collect();
        uuids.sort_by_key(|(_, d)| **d);
        for (uuid, domain) in uuids {
            text.push_str(&format!("\n{uuid}:N has become {domain}-SERVER_ID-N"));
        }
        Ok(text)
    }

    fn all(&mut self) -> Result<(), Failure> {
        let mut before = 0;
        for (nth, path) in self.files.iter().enumerate() {
            let last = nth + 1 == self.files.len();
            let mut file = FlatFile::open(path)?;
            loop {
                let event = match file.next() {
                    Ok(Some(event)) => event,
                    Ok(None) => break,
                    Err(files::Broken::CutShort { offset }) if last => {
                        self.progress.say(format_args!(
                            "{} ends inside the event at position {offset}, as after a crash",
                            path.display()
                        ));
                        break;
                    }
                    Err(e) => return Err(Failure::Run(format!("{}: {e}", path.display()))),
                };
                let at = event.offset;
                let done = self.event(&event, nth);
                done.map_err(|why| self.failure(path, at, &why))?;
                self.progress.show(before + at, path, &self.counts);
            }
            before += file.len();
            if self.applier.in_group() && !last {
                return Err(self.failure(
                    path,
                    self.group_at,
                    "the event group does not end in this file",
                ));
            }
        }
        if self.applier.in_group() {
            self.applier.abandon();
            let gtid = self.gtid.map_or(String::new(), |g| g.to_string());
            self.progress.say(format_args!(
                "the last event group ({gtid}) is not complete and was left out"
            ));
        }
        Ok(())
    }

    fn failure(&self, path: &Path, at: u64, why: &str) -> Failure {
        let group = match self.gtid {
            Some(g) if at != self.group_at => format!(
                " (in group {g}, which begins at position {})",
                self.group_at
            ),
            Some(g) => format!(" (group {g})"),
            None => String::new(),
        };
        Failure::Run(format!("{}, position {at}{group}: {why}", path.display()))
    }

    /// One event. The error is a sentence without the place.
    fn event(&mut self, event: &files::FlatEvent<'_>, nth: usize) -> Result<(), String> {
        let raw = &event.raw;
        let header = raw.header;
        match header.event_type {
            event_type::FORMAT_DESCRIPTION if self.applier.in_group() => {
                Err("the event group before this file has no end".into())
            }
            event_type::FORMAT_DESCRIPTION
            | event_type::ROTATE
            | event_type::STOP
            | event_type::HEARTBEAT
                if !self.applier.in_group() =>
            {
                Ok(())
            }
            event_type::GTID_LIST => match raw.decode().map_err(|e| e.to_string())? {
                Event::GtidList { gtids, .. } => self.file_begins(&gtids, nth),
                _ => Ok(()),
            },
            event_type::GTID => {
                let Event::Gtid(g) = raw.decode().map_err(|e| e.to_string())? else {
                    return Err("a GTID event that is none".into());
                };
                let standalone = g.flags2 & narwal_binlog::gtid_flags::STANDALONE != 0;
                self.begin(g.gtid, Some(standalone), event.offset)
            }
            files::GTID_LOG => {
                let (uuid, gno) = files::mysql_gtid(raw.body).ok_or("a GTID event is cut short")?;
                let next = u32::try_from(self.domains.len()).unwrap_or(u32::MAX);
                let fresh = (0..=next)
                    .find(|d| !self.domains.values().any(|v| v == d))
                    .unwrap_or(next);
                let domain = *self.domains.entry(uuid).or_insert(fresh);
                let gtid = Gtid {
                    domain,
                    server: header.server_id,
                    seq: gno,
                };
                self.begin(gtid, None, event.offset)
            }
            files::GTID_TAGGED => Err("tagged GTIDs of MySQL 8.3 are not supported".into()),
            files::ANONYMOUS_GTID => self.anonymous(header.server_id, event.offset),
            files::PREVIOUS_GTIDS => {
                // u64 0: an empty set.
                if nth == 0 && raw.body.get(..8).is_some_and(|n| n != [0; 8]) && !self.going_on {
                    self.progress.say("the first file is not the source's first ever: what was written before it is not here");
                }
                Ok(())
            }
            files::START_ENCRYPTION => Err("the file is encrypted".into()),
            _ if self.passing => Ok(()),
            _ => {
                if !self.applier.in_group() {
                    let ignorable = header.flags & event_flags::IGNORABLE != 0
                        || header.event_type == event_type::BINLOG_CHECKPOINT;
                    if ignorable {
                        return Ok(());
                    }
                    if !begins_group(header.event_type) && !matches!(header.event_type, 5 | 13 | 14)
                    {
                        return Err(format!(
                            "event type {} outside of an event group",
                            header.event_type
                        ));
                    }
                    // A source without GTIDs at all.
                    self.anonymous(header.server_id, event.offset)?;
                }
                match self.applier.event(raw) {
                    Ok(None) => Ok(()),
                    Ok(Some(done)) => {
                        self.applied(&done);
                        Ok(())
                    }
                    Err(e) => {
                        let mut text = e.to_string();
                        if let Some(table) = &e.table {
                            text = format!("table {table}: {text}");
                        }
                        if let Some(sql) = &e.statement {
                            text.push_str(&format!("\nthe statement is: {sql}"));
                        }
                        Err(text)
                    }
                }
            }
        }
    }

    fn applied(&mut self, done: &Applied) {
        self.state.observe(done.gtid);
        let c = &mut self.counts;
        c.groups += 1;
        c.rows += done.rows;
        c.statements += u64::from(done.statement);
        c.nothing += u64::from(done.nothing);
        for note in self.applier.take_notes() {
            self.progress.say(note);
        }
    }

    fn begin(&mut self, gtid: Gtid, standalone: Option<bool>, at: u64) -> Result<(), String> {
        if self.applier.in_group() {
            return Err("an event group begins before the one before it has ended".into());
        }
        self.gtid = Some(gtid);
        self.group_at = at;
        self.passing = self.going_on && gtid.seq < self.state.next_seq(gtid.domain);
        if self.passing {
            self.counts.passed_over += 1;
            return Ok(());
        }
        self.applier
            .begin(gtid, standalone)
            .map_err(|e| e.to_string())
    }

    fn anonymous(&mut self, server: u32, at: u64) -> Result<(), String> {
        if self.going_on {
            return Err(
                "a group without GTID: nobody can tell whether it is in the folder already; start the import afresh"
                    .into(),
            );
        }
        let domain = self.o.domain_id;
        let gtid = Gtid {
            domain,
            server,
            seq: self.state.next_seq(domain),
        };
        self.begin(gtid, None, at)
    }

    /// A file's GTID list says what came before it.
    fn file_begins(&mut self, list: &GtidState, nth: usize) -> Result<(), String> {
        self.passing = false;
        if nth == 0 && !self.going_on {
            if list.is_empty() {
                return Ok(());
            }
            self.db
                .set_gtid_binlog_state(&list.to_string())
                .map_err(|e| format!("the GTID state before the first file, {list}: {e}"))?;
            self.state = list.clone();
            self.progress.say(format_args!(
                "the first file is not the source's first ever: what was written up to {} is not here",
                list.position_text()
            ));
            return Ok(());
        }
        if list.is_empty() && !self.state.is_empty() && !self.going_on {
            return Err(
                "this file begins at the source's very beginning, and others came before it: the files are not in order, or one of them is given twice"
                    .into(),
            );
        }
        for gtid in list.position() {
            let ours = self.state.last(gtid.domain);
            let have = ours.map_or(0, |g| g.seq);
            if have < gtid.seq {
                return Err(format!(
                    "this file goes on after {gtid}, but what came before it ends with {}: a file is missing",
                    ours.map_or("nothing in that domain".to_owned(), |g| g.to_string())
                ));
            }
            if have > gtid.seq && !self.going_on {
                return Err(format!(
                    "this file goes on after {gtid}, but {have} was there before: the files are not in order, or one of them is given twice"
                ));
            }
        }
        Ok(())
    }
}
