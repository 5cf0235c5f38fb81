//! Seeded hostile replicas against the source side of replication, in-process: every byte of COM_REGISTER_SLAVE and
//! COM_BINLOG_DUMP, every variable that a replica sets before, and whatever it sends while it is sent to.
//!
//! `cargo run --release -p narwal-source --example fuzz_replicas -- --seconds 30 --seed 1`
//!
//! A case is a replica: it registers, asks for a dump, reads for a while, sends acknowledgements, commands and rubbish at
//! any moment, and goes away, while the log grows, turns to new files and is purged under it. It fails when the dump
//! panics, asks for memory beyond any need, does not end after its client has gone, sends an event that no reader could
//! take (length, checksum, order of positions), or leaves anything behind: a listed reader, a replica, a hold on the log.
//! The seed of a failing case is printed; `--seed S --cases 1` repeats it.
#![allow(missing_docs, clippy::unwrap_used)]

#[path = "../../engine/tests/common/mod.rs"]
mod common;

use common::{create, insert, table_def};
use narwal_binlog::{GtidSet, gtid_uuid};
use narwal_engine::{Database, Options};
use narwal_log::sim::SimDisk;
use narwal_source::{
    Checksum, Client, ClientVars, DumpError, DumpIo, DumpRequest, Ready, RegisterRequest, Source,
    State, WaitPoint, Wake,
};
use narwal_testkit::allocation::{Watch, Watched};
use narwal_testkit::fuzz;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::cell::Cell;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Largest single allocation of the case, in the thread that runs it.
static LARGEST: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// What is allocated now is looked at: not so in the database and the simulated disk.
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

struct Sizes;

impl Watch for Sizes {
    fn took(bytes: usize) {
        if WATCHED.try_with(Cell::get).unwrap_or(false) {
            LARGEST.fetch_max(bytes, Ordering::Relaxed);
        }
    }
}

#[global_allocator]
static ALLOCATOR: Watched<Sizes> = Watched::new();

/// Groups of the test's log are small; read-ahead buffers are what is largest.
const MAX_ALLOCATION: usize = 8 << 20;
const EVENT_HEADER: usize = 19;
const ROTATE: u8 = 4;
const FORMAT_DESCRIPTION: u8 = 15;
const ARTIFICIAL: u16 = 0x20;

fn bytes(rng: &mut StdRng, max: usize) -> Vec<u8> {
    let n = rng.random_range(0..=max);
    (0..n).map(|_| rng.random()).collect()
}

fn pick<'a, T: ?Sized>(rng: &mut StdRng, from: &[&'a T]) -> &'a T {
    from[rng.random_range(0..from.len())]
}

fn edge(rng: &mut StdRng) -> u32 {
    let edges = [
        0,
        1,
        3,
        4,
        5,
        256,
        1 << 16,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX,
    ];
    match rng.random_range(0..3) {
        0 => edges[rng.random_range(0..edges.len())],
        1 => rng.random_range(0..6000),
        _ => rng.random(),
    }
}

/// Damages a packet's body in a few places.
fn mutate(rng: &mut StdRng, body: &mut Vec<u8>) {
    if rng.random_ratio(1, 2) {
        return;
    }
    for _ in 0..rng.random_range(1..4) {
        if body.is_empty() {
            return;
        }
        let at = rng.random_range(0..body.len());
        match rng.random_range(0..4) {
            0 => body[at] = [0, 1, 0x7f, 0x80, 0xfb, 0xfe, 0xff][rng.random_range(0..7)],
            1 => body.truncate(at),
            2 => {
                let extra = bytes(rng, 300);
                body.splice(at..at, extra);
            }
            _ => body[at] ^= 1 << rng.random_range(0..8),
        }
    }
}

fn registration(rng: &mut StdRng) -> Vec<u8> {
    let mut body = edge(rng).to_le_bytes().to_vec();
    for _ in 0..3 {
        let text = bytes(rng, 60);
        body.push(text.len() as u8);
        body.extend(text);
    }
    body.extend_from_slice(&rng.random::<[u8; 10]>());
    mutate(rng, &mut body);
    body
}

fn file_name(rng: &mut StdRng, files: &[String]) -> Vec<u8> {
    match rng.random_range(0..8) {
        0 => Vec::new(),
        1 => vec![0, 0],
        2 => bytes(rng, 600),
        3 => pick(
            rng,
            &[
                "narwal-bin.000000",
                "narwal-bin.999999",
                "narwal-bin.4294967296",
                "narwal-bin.",
                "../../etc/passwd",
                "narwal-bin.-1",
            ],
        )
        .into(),
        _ => files[rng.random_range(0..files.len())].clone().into(),
    }
}

fn dump_request(rng: &mut StdRng, files: &[String], positions: &[u32]) -> Vec<u8> {
    let position = match rng.random_range(0..3) {
        0 => 4,
        1 => positions[rng.random_range(0..positions.len())],
        _ => edge(rng),
    };
    let mut body = position.to_le_bytes().to_vec();
    let flags: u16 = if rng.random_ratio(1, 4) {
        rng.random()
    } else {
        rng.random_range(0..4)
    };
    body.extend_from_slice(&flags.to_le_bytes());
    body.extend_from_slice(&edge(rng).to_le_bytes());
    body.extend(file_name(rng, files));
    mutate(rng, &mut body);
    body
}

/// A GTID list as it should be, or nearly.
fn gtids(rng: &mut StdRng, known: &str) -> String {
    let mut text = match rng.random_range(0..7) {
        0 => String::new(),
        1 => known.to_owned(),
        2 => format!("0-1-{}", rng.random_range(0..200)),
        3 => format!(
            "{}-{}-{},{}-{}-{}",
            rng.random_range(0..4),
            rng.random_range(0..3),
            rng.random_range(0..100),
            rng.random_range(0..4),
            rng.random_range(0..3),
            edge(rng)
        ),
        4 => (0..rng.random_range(1..400))
            .map(|n| format!("{n}-1-{}", rng.random_range(0..9)))
            .collect::<Vec<_>>()
            .join(","),
        5 => pick(
            rng,
            &[
                "0-1-18446744073709551615",
                "4294967295-4294967295-1",
                "4294967296-1-1",
                "0-1-18446744073709551616",
                "0-1-5,0-1-5",
                "0-1-5,0-2-6",
                " 0-1-5 , 1-1-1 ",
                "0-1",
                "-",
                ",",
                "0-1-5,",
                "\u{0}",
                "9223372036854775808-0-0",
            ],
        )
        .into(),
        _ => String::from_utf8_lossy(&bytes(rng, 100)).into_owned(),
    };
    if rng.random_ratio(1, 6) && !text.is_empty() && text.is_ascii() {
        let at = rng.random_range(0..text.len());
        text.insert_str(
            at,
            pick(rng, &["-", ",", "0", "9999999999999999999999", "é", "\n"]),
        );
    }
    text
}

/// Something that a replica might send during a dump. `place` is what it should acknowledge.
fn upstream(rng: &mut StdRng, files: &[String], place: (&str, u32)) -> Vec<u8> {
    if rng.random_ratio(1, 2) {
        let mut ack = vec![0xef];
        ack.extend_from_slice(&u64::from(place.1).to_le_bytes());
        ack.extend_from_slice(place.0.as_bytes());
        return ack;
    }
    let position = match rng.random_range(0..4) {
        0 => 0,
        1 => u64::MAX,
        2 => u64::from(edge(rng)),
        _ => rng.random_range(0..5000),
    };
    let mut ack = vec![0xef];
    ack.extend_from_slice(&position.to_le_bytes());
    ack.extend(file_name(rng, files));
    match rng.random_range(0..8) {
        0 => ack[0] = rng.random(),
        1 => ack.truncate(rng.random_range(0..ack.len())),
        2 => ack = b"\x03SELECT 1".to_vec(),
        3 => ack = bytes(rng, 4000),
        4 => mutate(rng, &mut ack),
        _ => {}
    }
    ack
}

/// The replica's end of the connection: takes what comes if it is sound, and plays the script that `rng` makes up.
struct Replica<'a> {
    rng: StdRng,
    db: &'a Database,
    files: Vec<String>,
    gone: &'a AtomicBool,
    /// Waits until it goes away.
    patience: u32,
    /// Packets after which the connection breaks.
    room: u32,
    semi: bool,
    read: bool,
    ended: bool,
    file: String,
    file_end: u32,
    checksums: Option<bool>,
    fault: Option<String>,
    next_id: &'a Cell<i64>,
}

impl Replica<'_> {
    fn check(&mut self, packet: &[u8]) -> Result<(), String> {
        if std::mem::replace(&mut self.ended, packet.first() == Some(&0xfe)) {
            return Err("something is sent after the end".into());
        }
        if self.ended {
            return Ok(());
        }
        let event = match (packet, self.semi) {
            ([0, 0xef, 0 | 1, event @ ..], true) => event,
            ([0, event @ ..], false) => event,
            _ => {
                return Err(format!(
                    "no event: {:02x?}",
                    &packet[..packet.len().min(30)]
                ));
            }
        };
        let word = |at: usize| u32::from_le_bytes(event[at..at + 4].try_into().unwrap());
        if event.len() < EVENT_HEADER + 4 || word(9) as usize != event.len() {
            return Err(format!(
                "{} bytes, and its length is {}",
                event.len(),
                word(9)
            ));
        }
        let kind = event[4];
        let end = word(13);
        let artificial = u16::from_le_bytes([event[17], event[18]]) & ARTIFICIAL != 0;
        match (kind, self.checksums) {
            (ROTATE, _) if artificial => {
                let name = &event[EVENT_HEADER + 8..];
                let name = name.strip_suffix(&name[name.len() - 4..]).unwrap_or(name);
                self.file = String::from_utf8_lossy(name).into_owned();
                self.file_end = 0;
            }
            (FORMAT_DESCRIPTION, _) => self.checksums = Some(true),
            (_, None) => {
                return Err(format!(
                    "an event of type {kind} before the format description"
                ));
            }
            _ => {}
        }
        let body = event.len() - 4;
        if kind != ROTATE && crc32(&event[..body]) != word(body) {
            return Err(format!("the checksum of an event of type {kind}"));
        }
        if end != 0 {
            if end < self.file_end {
                return Err(format!("position {end} after {}", self.file_end));
            }
            self.file_end = end;
        }
        Ok(())
    }

    /// The world goes on while the dump sleeps.
    fn live(&mut self) {
        WATCHED.set(false);
        match self.rng.random_range(0..12) {
            0..6 => {
                let t = self.db.catalog().table("d", "t").unwrap().clone();
                let id = self.next_id.get();
                self.next_id.set(id + 1);
                self.db.set_gtid_domain_id(self.rng.random_range(0..3));
                insert(
                    self.db,
                    &t,
                    id,
                    Some(7),
                    &"x".repeat(self.rng.random_range(0..20)),
                );
            }
            6 => {
                self.db.flush_binary_logs(&[]).unwrap();
            }
            7 => {
                let files = self.db.binlog_files();
                let to = self.rng.random_range(0..files.len());
                let _ = self.db.purge_binary_logs_to(&files[to].name);
            }
            _ => {}
        }
        WATCHED.set(true);
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = !0u32;
    for &b in bytes {
        crc ^= u32::from(b);
        for _ in 0..8 {
            crc = (crc >> 1) ^ (0xedb8_8320 & 0u32.wrapping_sub(crc & 1));
        }
    }
    !crc
}

impl DumpIo for Replica<'_> {
    fn write(&mut self, parts: &[&[u8]]) -> io::Result<()> {
        if self.room == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.room -= 1;
        if self.fault.is_none() {
            self.fault = self.check(&parts.concat()).err();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.room == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    }

    fn reset_sequence(&mut self) {}

    fn wait(&mut self, _: BorrowedFd<'_>, timeout: Option<Duration>) -> io::Result<Ready> {
        if timeout != Some(Duration::ZERO) {
            self.patience = self.patience.saturating_sub(1);
            self.live();
        }
        self.read = self.patience == 0 || self.rng.random_ratio(1, 3);
        Ok(Ready {
            readable: self.read,
            woken: self.rng.random(),
        })
    }

    fn read_packet(&mut self, buf: &mut Vec<u8>) -> io::Result<bool> {
        if !self.read {
            return Ok(false);
        }
        if self.patience == 0 {
            return match self.rng.random_range(0..3) {
                0 => {
                    // KILL: it is looked for when the next wait is over.
                    self.gone.store(true, Ordering::SeqCst);
                    Ok(false)
                }
                1 => Err(io::ErrorKind::ConnectionReset.into()),
                _ => Err(io::ErrorKind::UnexpectedEof.into()),
            };
        }
        self.read = self.rng.random_ratio(1, 4);
        *buf = upstream(&mut self.rng, &self.files, (&self.file, self.file_end));
        Ok(true)
    }
}

struct Gone<'a>(&'a AtomicBool);

impl Client for Gone<'_> {
    fn killed(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
    fn state(&self, _: State) {}
}

/// How a case went, for the counts at the end.
#[derive(Default)]
struct Counts {
    malformed: u64,
    refused: u64,
    lost: u64,
    ended: u64,
}

/// What a reader of MySQL's might say that it has: a set out of bytes that may be anything.
fn executed(rng: &mut StdRng) -> GtidSet {
    let mut bytes = (rng.random_range(0..3u64)).to_le_bytes().to_vec();
    for _ in 0..rng.random_range(0..4) {
        bytes.extend_from_slice(
            gtid_uuid(rng.random_range(0..3), rng.random_range(0..3)).as_bytes(),
        );
        bytes.extend_from_slice(&rng.random_range(0..3u64).to_le_bytes());
        for _ in 0..rng.random_range(0..3) {
            let first = rng.random_range(0..60u64);
            bytes.extend_from_slice(&first.to_le_bytes());
            bytes.extend_from_slice(&(first + rng.random_range(0..40u64)).to_le_bytes());
        }
    }
    let _ = DumpRequest::parse_gtid(&bytes);
    GtidSet::from_bytes(&bytes).unwrap_or_default()
}

fn case(
    seed: u64,
    db: &Database,
    source: &Source,
    next_id: &Cell<i64>,
    counts: &mut Counts,
) -> Result<(), String> {
    let mut rng = StdRng::seed_from_u64(seed);
    LARGEST.store(0, Ordering::Relaxed);
    let files: Vec<String> = db.binlog_files().into_iter().map(|f| f.name).collect();
    let positions = [4, 256, 285, 300, 400, 600, 1000, 2000, 4000, 4096];
    let registration = registration(&mut rng);
    let mut request = dump_request(&mut rng, &files, &positions);
    // Half of them get as far as being sent something, and are hostile from then on only.
    let honest = rng.random_ratio(1, 2);
    if honest {
        let flags = rng.random_range(0..16) / 15 + 2 * rng.random_range(0..2u8);
        request = [4, 0, 0, 0, flags, 0, rng.random_range(0..3), 0, 0, 0].to_vec();
        request.extend(files[rng.random_range(0..files.len())].as_bytes());
    }
    let number = |rng: &mut StdRng| [0, 1, 2, 3, 4, 5, u64::MAX][rng.random_range(0..7)];
    let vars = ClientVars {
        connection_id: 7,
        user: "fuzz".into(),
        host: "localhost:1".into(),
        source_id: 1,
        heartbeat: [
            None,
            Some(Duration::ZERO),
            Some(Duration::from_nanos(1)),
            Some(Duration::from_secs(1 << 40)),
        ][rng.random_range(0..4)],
        checksum: match rng.random_range(0..4) {
            0 if !honest => Checksum::Unset,
            1 => Checksum::None,
            _ => Checksum::Crc32,
        },
        capability: if rng.random() { 4 } else { number(&mut rng) },
        connect_state: match rng.random_range(0..4) {
            0 | 1 => None,
            2 if honest => Some(String::new()),
            3 if honest => Some(db.gtid_binlog_state()),
            _ => Some(gtids(&mut rng, &db.gtid_binlog_state())),
        },
        contents: Vec::new(),
        executed: match rng.random_range(0..4) {
            0 => Some(executed(&mut rng)),
            _ => None,
        },
        strict: rng.random(),
        ignore_duplicates: rng.random(),
        until: rng
            .random_ratio(1, 4)
            .then(|| gtids(&mut rng, &db.gtid_binlog_state())),
        semi_sync: rng.random_ratio(1, 3),
    };
    let gone = AtomicBool::new(false);
    let patience = rng.random_range(1..30);
    let room = if rng.random_ratio(1, 4) {
        rng.random_range(1..40)
    } else {
        u32::MAX
    };
    let mut replica = Replica {
        semi: vars.semi_sync,
        rng,
        db,
        files,
        gone: &gone,
        patience,
        room,
        read: false,
        ended: false,
        file: String::new(),
        file_end: 0,
        checksums: None,
        fault: None,
        next_id,
    };
    WATCHED.set(true);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        match RegisterRequest::parse(&registration) {
            Ok(r) => source.register(7, r),
            Err(_) => counts.malformed += 1,
        }
        match DumpRequest::parse(&request) {
            Ok(r) => {
                let wake = Wake::new().unwrap();
                match source.dump(&r, &vars, &Gone(&gone), &wake, &mut replica) {
                    Ok(_) => counts.ended += 1,
                    Err(DumpError::Refused(_)) => counts.refused += 1,
                    Err(DumpError::Lost(_)) => counts.lost += 1,
                }
            }
            Err(_) => counts.malformed += 1,
        }
        let listed = (source.replicas().len(), source.readers().len());
        source.disconnected(7);
        listed
    }));
    WATCHED.set(false);
    match outcome {
        Err(_) => return Err("a panic".into()),
        Ok((replicas, readers)) if replicas > 1 || readers > 0 => {
            return Err(format!(
                "{replicas} replicas, {readers} readers are still listed"
            ));
        }
        Ok(_) if source.semi_sync().status().clients > 0 => {
            return Err("a semi-synchronous replica that has gone is counted".into());
        }
        Ok(_) if !source.replicas().is_empty() => {
            return Err("a replica that has gone is listed".into());
        }
        Ok(_) => {}
    }
    if let Some(fault) = replica.fault {
        return Err(fault);
    }
    if fuzz::panics() > 0 {
        return Err("a panic in another thread".into());
    }
    let largest = LARGEST.load(Ordering::Relaxed);
    if largest > MAX_ALLOCATION {
        return Err(format!("an allocation of {largest} bytes"));
    }
    // No dump runs: nothing may hold the log back.
    let newest = db.binlog_files().pop().ok_or("no file")?.name;
    if seed.is_multiple_of(16) {
        db.purge_binary_logs_to(&newest)
            .map_err(|e| e.to_string())?;
        let left = db.binlog_files();
        if left.len() != 1 {
            return Err(format!(
                "{} files are held although nobody reads",
                left.len()
            ));
        }
    }
    Ok(())
}

fn main() -> std::process::ExitCode {
    let args = match fuzz::Args::read("fuzz_replicas") {
        Ok(args) => args,
        Err(code) => return code,
    };
    fuzz::count_panics(|_| false);
    let until = Instant::now() + Duration::from_secs(args.seconds);
    let next_id = Cell::new(0);
    let mut counts = Counts::default();
    let mut done = 0;
    while done < args.cases && Instant::now() < until {
        // A new log now and then: positions and GTIDs stay in the range that the packets ask for.
        let options = Options {
            segment_size: 32 << 10,
            max_binlog_size: 4096,
            memory_budget: 4 << 20,
            flush_log_at_trx_commit: 2,
            disk: Arc::new(SimDisk::new()),
            ..Options::default()
        };
        let db = Database::open_with("/data", options).unwrap();
        create(&db, vec![table_def("t", true, false)]);
        let source = Source::new(db.clone(), "10.11.0-MariaDB-fuzz");
        let mut rng = StdRng::seed_from_u64(!args.seed.wrapping_add(done));
        source.semi_sync().set(|s| {
            s.enabled = rng.random();
            s.wait_point = [WaitPoint::AfterSync, WaitPoint::AfterCommit][rng.random_range(0..2)];
            // The thread that commits is the replica's own: nobody acknowledges while it waits.
            s.timeout = Duration::from_millis(1);
            s.wait_no_replica = rng.random();
        });
        for n in 0..64 {
            if done == args.cases || Instant::now() > until {
                break;
            }
            let this = args.seed.wrapping_add(done);
            if let Err(why) = case(this, &db, &source, &next_id, &mut counts) {
                println!("fuzz_replicas: seed {this}, case {n} of its log: {why}");
                println!("again: --seed {} --cases {}", this - n, n + 1);
                return 1.into();
            }
            done += 1;
        }
        drop(source);
        if let Err(e) = db.close() {
            println!("fuzz_replicas: the database does not close: {e}");
            return 1.into();
        }
    }
    let Counts {
        malformed,
        refused,
        lost,
        ended,
    } = counts;
    println!(
        "fuzz_replicas: {done} replicas from seed {}: no fault ({ended} dumps ended, {refused} refused, {lost} lost, {malformed} packets malformed)",
        args.seed
    );
    0.into()
}
