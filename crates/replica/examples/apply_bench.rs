//! How fast groups are applied: makes a history like sysbench's oltp_write_only in a folder of its own, and applies it.
//!
//! `apply_bench [transactions] [threads] [rows] [tables]`, defaults 20000, 0, 10000, 4.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/common/mod.rs"]
mod common;
use common::{UpTo, connect, groups, instance, settings};
use narwal_engine::{Database, Options};
use narwal_replica::apply::Progress;
use narwal_replica::queue::{Item, Queue};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::time::Instant;

fn main() {
    let number = |i: usize, default: u64| {
        let given = std::env::args().nth(i);
        given.map_or(default, |a| a.parse().unwrap())
    };
    let (transactions, threads) = (number(1, 20_000), number(2, 0) as u32);
    let (rows, tables) = (number(3, 10_000), number(4, 4));
    let (source_dir, replica_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let options = |server_id, mode| Options {
        server_id,
        flush_log_at_trx_commit: mode,
        memory_budget: 512 << 20,
        ..Options::default()
    };
    let source = instance(
        Database::open_with(source_dir.path(), options(1, 0)).unwrap(),
        1,
    );
    let mut rng = StdRng::seed_from_u64(1);
    let mut c = connect(&source);
    c.run("create database sbtest");
    let text = |rng: &mut StdRng, n: usize| -> String {
        (0..n)
            .map(|i| match i % 12 {
                11 => '-',
                _ => char::from(b'0' + rng.random_range(0..10)),
            })
            .collect()
    };
    for t in 1..=tables {
        c.run(&format!(
            "create table sbtest.sbtest{t} (id int not null auto_increment primary key, k int not null default 0, \
             c char(120) not null default '', pad char(60) not null default '', key k_{t} (k))"
        ));
        for from in (1..=rows).step_by(500) {
            let values: Vec<String> = (from..from + 500)
                .map(|id| {
                    let (a, b) = (text(&mut rng, 119), text(&mut rng, 59));
                    format!("({id}, {}, '{a}', '{b}')", rng.random_range(1..=rows))
                })
                .collect();
            c.run(&format!(
                "insert into sbtest.sbtest{t} values {}",
                values.join(",")
            ));
        }
    }
    for _ in 0..transactions {
        let t = rng.random_range(1..=tables);
        let mut id = || rng.random_range(1..=rows);
        let (a, b, d, k) = (id(), id(), id(), id());
        c.run("begin");
        c.run(&format!(
            "update sbtest.sbtest{t} set k = k + 1 where id = {a}"
        ));
        let v = text(&mut rng, 119);
        c.run(&format!(
            "update sbtest.sbtest{t} set c = '{v}' where id = {b}"
        ));
        c.run(&format!("delete from sbtest.sbtest{t} where id = {d}"));
        let (x, y) = (text(&mut rng, 119), text(&mut rng, 59));
        c.run(&format!(
            "insert into sbtest.sbtest{t} (id, k, c, pad) values ({d}, {k}, '{x}', '{y}')"
        ));
        c.run("commit");
    }
    drop(c);
    source.database().sync().unwrap();
    let all = groups(source.database());
    let replica = instance(
        Database::open_with(replica_dir.path(), options(9, 1)).unwrap(),
        9,
    );
    let (load, rest) = all.split_at(all.len() - transactions as usize);
    let queue = Queue::new(usize::MAX / 2);
    let mut bytes = 0;
    for (what, part) in [("load", load), ("oltp_write_only", rest)] {
        for g in part {
            bytes += g.events.len();
            let (head, events) = (g.head.clone(), g.events.clone());
            queue.push(1, Item::Group { head, events }).unwrap();
        }
        let progress = Progress::default();
        let before = replica.database().stats();
        let began = Instant::now();
        let mut up_to = UpTo(part.last().map(|g| g.head.gtid));
        let ended = narwal_replica::apply::run(
            &replica,
            &settings(1, threads),
            &queue,
            &mut up_to,
            &progress,
            &Default::default(),
        );
        let seconds = began.elapsed().as_secs_f64();
        let stat = |s: &narwal_engine::Stats, name: &str| {
            s.values.iter().find(|v| v.0 == name).map_or(0, |v| v.1)
        };
        let after = replica.database().stats();
        println!(
            "{what}: {ended:?} {:?}, {} groups, {:.0} a second, {bytes} bytes, {} syncs, {} retries",
            progress.error(),
            part.len(),
            part.len() as f64 / seconds,
            stat(&after, "Narwal_log_syncs") - stat(&before, "Narwal_log_syncs"),
            progress.snapshot().retries,
        );
        bytes = 0;
    }
}
