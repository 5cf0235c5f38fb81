//! The index over the log against a plain list of everything that was written: positions, GTIDs, commit numbers, files,
//! through rotations, purges, resets, checkpoints and restarts.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;
use common::*;
use narwal_engine::*;
use narwal_log::sim::SimDisk;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::Arc;

const DIR: &str = "/data";

/// A group as the committer saw it.
#[derive(Debug, Clone, PartialEq)]
struct Written {
    seq: u64,
    gtid: String,
    file: String,
    start: u64,
    end: u64,
    /// GTID position behind it.
    gtid_pos: String,
}

fn options(disk: &SimDisk) -> Options {
    Options {
        segment_size: 16 << 10,
        max_binlog_size: 4096,
        binlog_state_interval: 4096,
        background: false,
        disk: Arc::new(disk.clone()),
        memory_budget: 4 << 20,
        ..Options::default()
    }
}

struct Story {
    disk: SimDisk,
    db: Database,
    groups: Vec<Written>,
    next_id: i64,
    domains: [u64; 3],
}

impl Story {
    fn new() -> Story {
        let disk = SimDisk::new();
        let db = Database::open_with(DIR, options(&disk)).unwrap();
        let mut story = Story {
            disk,
            db,
            groups: Vec::new(),
            next_id: 0,
            domains: [0; 3],
        };
        create(&story.db, vec![table_def("t", true, false)]);
        // What DDL wrote is read back; the rest is told by committers.
        let mut reader = story.db.binlog_reader(ReadStart::Oldest).unwrap();
        while let Some(h) = reader.next_group().unwrap() {
            story.groups.push(Written {
                seq: h.seq,
                gtid: h.gtid.to_string(),
                file: "narwal-bin.000001".into(),
                start: h.start_pos,
                end: h.start_pos + h.len,
                gtid_pos: h.gtid.to_string(),
            });
            story.domains[0] = h.gtid.seq;
        }
        story
    }

    fn commit(&mut self, rng: &mut StdRng) {
        let t = self.db.catalog().table("d", "t").unwrap().clone();
        let domain = rng.random_range(0..3u32);
        let seq_no = rng
            .random_bool(0.2)
            .then(|| self.domains[domain as usize] + rng.random_range(1..9));
        let before = self.db.binlog_position();
        let mut x = self.db.begin(TxnOptions {
            gtid: GtidChoice {
                domain_id: Some(domain),
                server_id: rng.random_bool(0.5).then(|| rng.random_range(1..3)),
                seq_no,
                strict: rng.random_bool(0.5),
            },
            ..TxnOptions::default()
        });
        x.begin_statement(1, None);
        for _ in 0..rng.random_range(1..30) {
            self.next_id += 1;
            x.insert(&t, row(&t, self.next_id, None, "some text"))
                .unwrap();
        }
        let info = x.commit().unwrap();
        let after = self.db.binlog_position();
        let gtid: narwal_binlog::Gtid = info.gtid.parse().unwrap();
        assert!(gtid.seq > self.domains[domain as usize]);
        self.domains[domain as usize] = gtid.seq;
        let start = if before.file == after.file {
            before.offset
        } else {
            // The head of a new file: its GTID list has the entries before this group.
            let mut r = self
                .db
                .binlog_reader(ReadStart::File {
                    name: after.file.clone(),
                    offset: 4,
                })
                .unwrap();
            r.next_group().unwrap().unwrap().start_pos
        };
        self.groups.push(Written {
            seq: info.seq,
            gtid: info.gtid,
            file: after.file,
            start,
            end: after.offset,
            gtid_pos: after.gtid_pos,
        });
    }

    fn reopen(&mut self, crash: bool, rng: &mut StdRng) {
        if crash {
            self.disk = self.disk.crash(rng.random());
        } else {
            self.db.close().unwrap();
        }
        let before = (
            self.db.binlog_position(),
            self.db.gtid_binlog_state(),
            self.db.binlog_files(),
        );
        self.db = Database::open_with(DIR, options(&self.disk)).unwrap();
        assert_eq!(self.db.binlog_position(), before.0);
        assert_eq!(self.db.gtid_binlog_state(), before.1);
        let files = |v: Vec<BinlogFile>| {
            v.into_iter()
                .map(|f| (f.name, f.size, f.first_lsn))
                .collect::<Vec<_>>()
        };
        assert_eq!(files(self.db.binlog_files()), files(before.2));
    }

    fn purge(&mut self, rng: &mut StdRng) {
        let files = self.db.binlog_files();
        let to = &files[rng.random_range(0..files.len())];
        let report = self.db.purge_binary_logs_to(&to.name).unwrap();
        assert_eq!(
            report.purged_files as u32,
            to.number - files[0].number,
            "{report:?}"
        );
        self.groups.retain(|g| g.file >= to.name);
        assert_eq!(self.db.binlog_files()[0].name, to.name);
    }

    fn reader(&self, start: ReadStart) -> GroupReader<LiveRecords> {
        self.db.binlog_reader(start).unwrap()
    }

    /// The head of the next group has to be that of group `i`, or there is none if there is no such group.
    fn expect(&self, what: &str, mut reader: GroupReader<LiveRecords>, i: usize) {
        let head = reader.next_group().unwrap();
        let got = head.map(|h| (h.seq, h.gtid.to_string(), h.start_pos, h.start_pos + h.len));
        let want = self
            .groups
            .get(i)
            .map(|g| (g.seq, g.gtid.clone(), g.start, g.end));
        assert_eq!(got, want, "{what}, group {i}");
    }

    fn check(&self, rng: &mut StdRng) {
        let files = self.db.binlog_files();
        let mut reader = self.reader(ReadStart::Oldest);
        let (mut lsns, mut hashes) = (Vec::new(), Vec::new());
        for g in &self.groups {
            let h = reader.next_group().unwrap().unwrap();
            let file = format!("narwal-bin.{:06}", h.file_no);
            assert_eq!(
                (h.seq, h.gtid.to_string(), &file, h.start_pos),
                (g.seq, g.gtid.clone(), &g.file, g.start)
            );
            lsns.push(h.lsn);
            hashes.push(hash_group(&mut reader).unwrap());
        }
        assert!(reader.next_group().unwrap().is_none());
        for (i, f) in files.iter().enumerate() {
            let last = self.groups.iter().rfind(|g| g.file == f.name);
            let rotate = if i + 1 < files.len() { 31 + 17 } else { 0 };
            if let Some(last) = last {
                assert_eq!(f.size, last.end + rotate, "{f:?}");
            }
            let first = self.groups.iter().position(|g| g.file >= f.name);
            for offset in [0, 4, 256] {
                let r = self.reader(ReadStart::File {
                    name: f.name.clone(),
                    offset,
                });
                self.expect("file start", r, first.unwrap_or(self.groups.len()));
            }
            let r = self.reader(ReadStart::File {
                name: f.name.clone(),
                offset: f.size,
            });
            let next = self.groups.iter().position(|g| g.file > f.name);
            self.expect("file end", r, next.unwrap_or(self.groups.len()));
            assert!(matches!(
                self.db.binlog_reader(ReadStart::File {
                    name: f.name.clone(),
                    offset: f.size + 1
                }),
                Err(EngineError::BehindFileEnd { .. })
            ));
        }
        for _ in 0..12 {
            if self.groups.is_empty() {
                break;
            }
            let i = rng.random_range(0..self.groups.len());
            let g = &self.groups[i];
            let gtid: narwal_binlog::Gtid = g.gtid.parse().unwrap();
            assert_eq!(self.db.content_hash(gtid).unwrap(), Some(hashes[i]));
            for other in [(gtid.server + 9, gtid.seq), (gtid.server, gtid.seq + 1000)] {
                let (server, seq) = other;
                let none = narwal_binlog::Gtid {
                    server,
                    seq,
                    ..gtid
                };
                assert_eq!(self.db.content_hash(none).unwrap(), None);
            }
            let at = self.db.position_at_seq(g.seq).unwrap();
            if at.file == g.file {
                assert_eq!((at.offset, &at.gtid_pos), (g.end, &g.gtid_pos));
            } else {
                // A file was begun behind it.
                let r = self.reader(ReadStart::File {
                    name: at.file,
                    offset: at.offset,
                });
                self.expect("seq", r, i + 1);
            }
            let file = |offset| ReadStart::File {
                name: g.file.clone(),
                offset,
            };
            self.expect("offset", self.reader(file(g.start)), i);
            let inside = rng.random_range(g.start + 1..g.end);
            match self.db.binlog_reader(file(inside)) {
                Err(EngineError::InsideGroup { start, .. }) => assert_eq!(start, g.start),
                other => panic!("{:?}", other.map(|_| ())),
            }
            self.expect("lsn", self.reader(ReadStart::Lsn(lsns[i])), i);
            self.expect(
                "behind lsn",
                self.reader(ReadStart::Lsn(lsns[i] + 1)),
                i + 1,
            );
            self.expect(
                "gtid",
                self.reader(ReadStart::Gtid(g.gtid_pos.clone())),
                i + 1,
            );
            assert_eq!(
                self.db.binlog_gtid_pos(&g.file, g.end).unwrap().as_ref(),
                Some(&g.gtid_pos)
            );
            assert_eq!(
                self.db
                    .binlog_gtid_pos(&g.file, g.start + 42)
                    .unwrap()
                    .as_ref(),
                Some(&g.gtid_pos)
            );
            assert_eq!(
                self.db.binlog_gtid_pos(&g.file, g.start + 41).unwrap(),
                None
            );
        }
    }
}

#[test]
fn every_lookup_agrees_with_the_list() {
    let seeds = std::env::var("NARWAL_SEEDS").map_or(12, |s| s.parse().unwrap());
    let only: Option<u64> = std::env::var("NARWAL_SEED")
        .ok()
        .map(|s| s.parse().unwrap());
    for seed in 0..seeds {
        let seed = only.unwrap_or(seed);
        eprintln!("NARWAL_SEED={seed}");
        let mut rng = StdRng::seed_from_u64(seed);
        let mut story = Story::new();
        for _ in 0..80 {
            match rng.random_range(0..100) {
                0..70 => story.commit(&mut rng),
                70..76 => assert!(story.db.flush_binary_logs(&[]).unwrap().is_empty()),
                76..80 => {
                    let d = rng.random_range(0..3);
                    let has = story
                        .groups
                        .iter()
                        .any(|g| g.gtid.starts_with(&format!("{d}-")));
                    let state = story.db.gtid_binlog_state();
                    let known = state.split(',').any(|g| g.starts_with(&format!("{d}-")));
                    match story.db.flush_binary_logs(&[d]) {
                        Ok(notes) => {
                            assert!(!has);
                            assert_eq!(notes.is_empty(), known);
                            story.domains[d as usize] = 0;
                        }
                        Err(e) => assert!(has, "{e}"),
                    }
                }
                80..84 => story.purge(&mut rng),
                84..88 => story.db.checkpoint().unwrap(),
                88..91 => story.reopen(false, &mut rng),
                91..94 => story.reopen(true, &mut rng),
                94..97 => story.db.set_max_binlog_size(rng.random_range(4096..9000)),
                97 => {
                    story.db.reset_master(Some(rng.random_range(0..9))).unwrap();
                    story.groups.clear();
                    story.domains = [0; 3];
                    assert_eq!(story.db.gtid_binlog_state(), "");
                }
                _ => story.check(&mut rng),
            }
        }
        story.check(&mut rng);
        let crash = rng.random_bool(0.5);
        story.reopen(crash, &mut rng);
        story.check(&mut rng);
        if only.is_some() {
            break;
        }
    }
}

/// A log that is made to end before its last groups goes on behind what is left, whatever happens to the server then.
#[test]
fn a_log_that_ends_before_some_of_its_groups() {
    use narwal_binlog::{Gtid, GtidState};
    for crash in [false, true] {
        let mut rng = StdRng::seed_from_u64(7);
        let mut story = Story::new();
        for _ in 0..40 {
            story.commit(&mut rng);
        }
        let gtid = |g: &Written| g.gtid.parse::<Gtid>().unwrap();
        let keep = story.groups.len() - 5;
        let left: GtidState = story.groups[..keep].iter().map(gtid).collect();
        let all = story.db.gtid_state();
        let before = story.db.binlog_files();
        // Not if something was committed meanwhile.
        assert!(story.db.end_binlog_at(&left, &left).is_err());
        assert_eq!(story.db.gtid_state(), all);
        story.db.end_binlog_at(&all, &left).unwrap();
        story.groups.clear();
        if crash {
            story.reopen(true, &mut rng);
        }
        assert_eq!(story.db.gtid_state(), left);
        let files = story.db.binlog_files();
        assert_eq!(files.len(), 1);
        assert_eq!(files[0].number, before[before.len() - 1].number + 1);
        let position = left.position_text();
        let at = |text: &str| story.db.binlog_reader(ReadStart::Gtid(text.to_owned()));
        assert!(at(&position).unwrap().next_group().unwrap().is_none());
        // Somebody who has what is not there any more has another history.
        assert!(at(&all.position_text()).is_err());
        let last = left.last(0).unwrap();
        let next = left.next_seq(0);
        let t = story.db.catalog().table("d", "t").unwrap().clone();
        insert(&story.db, &t, 1_000_000, None, "on");
        let mut reader = story.db.binlog_reader(ReadStart::Gtid(position)).unwrap();
        let head = reader.next_group().unwrap().unwrap();
        assert_eq!((head.gtid.domain, head.gtid.seq), (0, next));
        assert_eq!(reader.gtids_before(), &left);
        assert!(next > last.seq);
    }
}
