//! A source with a history whose every state is known, and its groups as a receiver would queue them.
#![allow(dead_code, clippy::unwrap_used, missing_docs)]

use narwal_binlog::{EventReader, Gtid, gtid_flags};
use narwal_engine::{
    Database, GroupKind, KeyRange, Options, ReadStart, ReadView, ReplicaState, TxnOptions,
};
use narwal_log::sim::SimDisk;
use narwal_replica::apply::{ApplySettings, Conductor, Ended, Progress, Verdict};
use narwal_replica::queue::{GroupHead, Item, Queue};
use narwal_session::apply::ApplyOptions;
use narwal_session::{ClientSession, ConnectOptions, Instance, Startup};
use narwal_types::{Discard, SqlError};
use rand::Rng;
use rand::rngs::StdRng;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

pub const DIR: &str = "/data";

/// All rows of a schema's tables as stored, sorted.
pub type Rows = BTreeMap<String, Vec<Vec<u8>>>;

/// What is in a schema, in one snapshot. Every index must have every row.
pub fn dump(db: &Database, schema: &str) -> Rows {
    let catalog = db.catalog();
    let mut x = db.begin(TxnOptions::default());
    let mut all = Rows::new();
    for t in catalog.tables(schema) {
        let mut of = |index: usize| {
            let mut rows = Vec::new();
            let mut scan = x
                .scan(t, index, KeyRange::all(), false, ReadView::Snapshot, false)
                .unwrap();
            while let Some(item) = scan.next().unwrap() {
                rows.push(item.row.to_vec());
            }
            rows.sort();
            rows
        };
        let rows = of(0);
        for i in 1..t.indexes.len() {
            assert_eq!(of(i), rows, "index {} of {}", t.indexes[i].name, t.def.name);
        }
        all.insert(t.def.name.clone(), rows);
    }
    all
}

pub struct Conn(pub ClientSession);

impl Conn {
    pub fn try_run(&mut self, sql: &str) -> Result<(), SqlError> {
        self.0.query(sql.as_bytes(), &mut Discard)
    }

    pub fn run(&mut self, sql: &str) {
        if let Err(e) = self.try_run(sql) {
            panic!("{sql}: {e}");
        }
    }
}

pub fn options(disk: &SimDisk, server_id: u32) -> Options {
    Options {
        server_id,
        disk: Arc::new(disk.clone()),
        segment_size: 64 << 10,
        max_binlog_size: 8192,
        background: false,
        memory_budget: 4 << 20,
        ..Options::default()
    }
}

pub fn instance(db: Database, server_id: u32) -> Arc<Instance> {
    let mut startup = Startup::new();
    startup
        .set("server_id", Some(&server_id.to_string()))
        .unwrap();
    Instance::new(db, startup)
}

pub fn open(disk: &SimDisk, server_id: u32) -> Arc<Instance> {
    let db = Database::open_with(DIR, options(disk, server_id)).unwrap();
    instance(db, server_id)
}

pub fn connect(instance: &Arc<Instance>) -> Conn {
    Conn(instance.connect(ConnectOptions::local(1)).unwrap())
}

/// One group of a source's log.
#[derive(Debug, Clone)]
pub struct Group {
    pub head: GroupHead,
    pub events: Vec<u8>,
}

/// The events of `bytes` without their checksums.
fn without_checksums(bytes: &[u8], out: &mut Vec<u8>) {
    for e in EventReader::new(bytes) {
        let e = e.unwrap();
        let start = out.len();
        out.extend_from_slice(&e.bytes[..e.bytes.len() - 4]);
        let size = (e.bytes.len() - 4) as u32;
        out[start + 9..start + 13].copy_from_slice(&size.to_le_bytes());
    }
}

/// Every group in a database's log.
pub fn groups(db: &Database) -> Vec<Group> {
    let mut reader = db.binlog_reader(ReadStart::Oldest).unwrap();
    let mut all = Vec::new();
    while let Some(h) = reader.next_group().unwrap() {
        assert_eq!(h.kind, GroupKind::Group);
        let mut events = Vec::new();
        reader.next_event().unwrap(); // the GTID event
        while let Some(e) = reader.next_event().unwrap() {
            without_checksums(e, &mut events);
        }
        let name: Arc<str> = format!("narwal-bin.{:06}", h.file_no).into();
        all.push(Group {
            head: GroupHead {
                gtid: h.gtid,
                source: narwal_engine::SourceGtid::MariaDb,
                standalone: h.flags2 & gtid_flags::STANDALONE != 0,
                flags2: h.flags2,
                timestamp: h.timestamp,
                file: name,
                end_pos: h.start_pos + h.len,
                begins_file: h.new_file.then_some(h.file_no),
                bytes: h.len,
                wants_ack: false,
            },
            events,
        });
    }
    all
}

/// A source with a random history in the schema `d<server id>`.
pub struct Source {
    pub id: u32,
    pub schema: String,
    pub instance: Arc<Instance>,
    pub groups: Vec<Group>,
    /// `states[n]`: after group n; `states[0]` is empty.
    pub states: Vec<Rows>,
}

pub struct History {
    pub transactions: usize,
    pub ddl: bool,
    pub large: bool,
    pub domains: bool,
    /// Keys are drawn from so many.
    pub keys: i64,
}

fn statement(rng: &mut StdRng, d: &str, h: &History) -> String {
    let id = rng.random_range(0..h.keys);
    let other = rng.random_range(0..h.keys);
    let word = ["a", "B", "b", "c c", "", "ü", "D"][rng.random_range(0..7)];
    match rng.random_range(0..20) {
        0..=4 => format!("insert into {d}.t values ({id}, {other}, '{word}{other}', '{word}')"),
        5..=6 => format!("replace into {d}.t values ({id}, null, '{word}{other}', 'r')"),
        7..=9 => format!("update {d}.t set k = k + 1, c = concat(c, 'x') where id = {id}"),
        10 => format!("update {d}.t set u = '{word}{other}' where id = {id}"),
        11 => format!("update {d}.t set id = {other} where id = {id}"),
        12 => format!("update {d}.t set u = null where id = {id}"),
        13..=14 => format!("delete from {d}.t where id = {id}"),
        15 => format!("delete from {d}.t where k between {id} and {id} + 2"),
        16..=17 => format!("insert into {d}.h values ({id}, '{word}')"),
        18 => format!("update {d}.h set b = '{word}' where a = {id}"),
        _ => format!("delete from {d}.h where a = {id}"),
    }
}

impl Source {
    pub fn new(id: u32, rng: &mut StdRng, history: &History) -> Source {
        let disk = SimDisk::new();
        let mut o = options(&disk, id);
        o.oob_threshold = [600, 4000, 1 << 20][rng.random_range(0..3)];
        let instance = instance(Database::open_with(DIR, o).unwrap(), id);
        let schema = format!("d{id}");
        let mut source = Source {
            id,
            schema: schema.clone(),
            instance,
            groups: Vec::new(),
            states: vec![Rows::new()],
        };
        let mut c = connect(&source.instance);
        c.run(&format!("set session gtid_domain_id = {}", id * 10));
        let d = &schema;
        source.step(&mut c, &[format!("create database {d}")]);
        source.step(&mut c, &[format!(
            "create table {d}.t (id int primary key, k int, u varchar(20) unique, c varchar(2000), key (k))"
        )]);
        source.step(
            &mut c,
            &[format!("create table {d}.h (a int, b varchar(20))")],
        );
        let mut made = 0;
        for _ in 0..history.transactions {
            if rng.random_bool(0.03) {
                c.run("flush binary logs");
            }
            if rng.random_bool(0.1) {
                let image = ["MINIMAL", "NOBLOB", "FULL", "FULL"][rng.random_range(0..4)];
                c.run(&format!("set session binlog_row_image = {image}"));
            }
            if history.domains {
                let domain = id * 10 + rng.random_range(0..2);
                c.run(&format!("set session gtid_domain_id = {domain}"));
            }
            if history.ddl && rng.random_bool(0.06) {
                made += 1;
                let sql = match rng.random_range(0..5) {
                    0 => format!("truncate table {d}.h"),
                    1 => format!("create index i{made} on {d}.h (a)"),
                    2 => format!(
                        "create table if not exists {d}.x (a int primary key) comment '{made}'"
                    ),
                    3 => format!("create index k{made} on {d}.t (k, u)"),
                    _ => format!("drop table if exists {d}.x"),
                };
                source.step(&mut c, &[sql]);
                continue;
            }
            let n = match rng.random_range(0..12) {
                0 if history.large => 40,
                n => 1 + n % 4,
            };
            let statements: Vec<String> = (0..n).map(|_| statement(rng, d, history)).collect();
            source.step(&mut c, &statements);
        }
        drop(c);
        source.instance.database().sync().unwrap();
        source.groups = groups(source.instance.database());
        assert_eq!(source.groups.len() + 1, source.states.len());
        source
    }

    /// One transaction, of statements that may fail.
    fn step(&mut self, c: &mut Conn, statements: &[String]) {
        let before = self.instance.database().reserved_seq();
        if statements.len() > 1 {
            c.run("begin");
        }
        for s in statements {
            match c.try_run(s) {
                Ok(()) => {}
                Err(e) if matches!(e.code, 1062) => {}
                Err(e) => panic!("{s}: {e}"),
            }
        }
        if statements.len() > 1 {
            c.run("commit");
        }
        let after = self.instance.database().reserved_seq();
        for _ in before..after {
            self.states
                .push(dump(self.instance.database(), &self.schema));
        }
    }

    /// The group behind which a replica's state says it is; checks everything that the state says of this source.
    pub fn applied(&self, state: &ReplicaState) -> usize {
        let n = match state.channels.get(&self.id) {
            None => 0,
            Some((file, pos)) => {
                let at = self
                    .groups
                    .iter()
                    .position(|g| (&g.head.file, g.head.end_pos) == (file, *pos));
                at.unwrap_or_else(|| panic!("no group ends at {file}:{pos}")) + 1
            }
        };
        let mut last: BTreeMap<u32, Gtid> = BTreeMap::new();
        for g in &self.groups[..n] {
            last.insert(g.head.gtid.domain, g.head.gtid);
        }
        for g in &self.groups {
            let domain = g.head.gtid.domain;
            assert_eq!(
                state.slave_pos.get(&domain),
                last.get(&domain),
                "gtid_slave_pos beside {:?}",
                state.channels
            );
        }
        n
    }
}

/// Ends behind a group.
pub struct UpTo(pub Option<Gtid>);

impl Conductor for UpTo {
    fn before(&mut self, _: &GroupHead) -> Verdict {
        Verdict::Apply
    }
    fn behind(&mut self, head: &GroupHead) -> bool {
        Some(head.gtid) == self.0
    }
}

pub fn settings(channel: u32, threads: u32) -> ApplySettings {
    ApplySettings {
        channel,
        thread_id: 1000 + channel,
        threads,
        retries: 10,
        options: ApplyOptions {
            strict: true,
            ..ApplyOptions::default()
        },
    }
}

/// Puts groups into a queue, some of them in pieces; a piece may be cut off and come again.
pub fn fill(queue: &Queue, groups: &[Group], rng: &mut StdRng) {
    let epoch = queue.epoch();
    for g in groups {
        let whole = g.head.standalone || g.events.len() < 500 || rng.random_bool(0.5);
        if whole {
            let item = Item::Group {
                head: g.head.clone(),
                events: g.events.clone(),
            };
            queue.push(epoch, item).unwrap();
            continue;
        }
        let begin = GroupHead {
            end_pos: 0,
            ..g.head.clone()
        };
        let events: Vec<Vec<u8>> = EventReader::new(&g.events)
            .without_checksums()
            .map(|e| e.unwrap().bytes.to_vec())
            .collect();
        for cut_off in [rng.random_bool(0.3), false] {
            queue
                .push(
                    epoch,
                    Item::Begin {
                        head: begin.clone(),
                    },
                )
                .unwrap();
            for (i, piece) in events.chunks(3).enumerate() {
                if cut_off && i > 1 {
                    break;
                }
                queue.push(epoch, Item::Events(piece.concat())).unwrap();
            }
            if cut_off {
                queue.push(epoch, Item::Abandon).unwrap();
            } else {
                let head = g.head.clone();
                queue.push(epoch, Item::End { head }).unwrap();
                break;
            }
        }
    }
}

/// Applies groups until the last one, an error or `stop`.
pub fn apply(
    replica: &Arc<Instance>,
    settings: &ApplySettings,
    groups: &[Group],
    rng: &mut StdRng,
    stop: &Arc<AtomicBool>,
) -> (Ended, Progress) {
    let progress = Progress::default();
    let Some(last) = groups.last() else {
        return (Ended::Until, progress);
    };
    let queue = Queue::new(1 << 30);
    fill(&queue, groups, rng);
    let mut conductor = UpTo(Some(last.head.gtid));
    let ended =
        narwal_replica::apply::run(replica, settings, &queue, &mut conductor, &progress, stop);
    (ended, progress)
}
