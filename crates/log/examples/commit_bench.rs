//! Commits per second and syncs per commit of the bare log.
//!
//! `commit_bench DIR [THREADS [SECONDS [BODY_BYTES [MODE 0|1|2 [WAIT_COUNT WAIT_USEC]]]]]`; the folder must be empty.

use std::error::Error;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use narwal_log::{Durability, HEADER_LEN, Log, LogOptions, RecordKind};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = args
        .first()
        .ok_or("usage: commit_bench DIR [THREADS [SECONDS [BODY [MODE [COUNT USEC]]]]]")?;
    let number = |i: usize, default: u64| -> Result<u64, Box<dyn Error>> {
        Ok(args.get(i).map_or(Ok(default), |a| a.parse())?)
    };
    let (threads, seconds) = (number(1, 8)?, number(2, 5)?);
    let body = number(3, 400)? as usize;
    let mode = Durability::from_u8(number(4, 1)? as u8).ok_or("the mode is 0, 1 or 2")?;
    let opts = LogOptions {
        durability: mode,
        commit_wait_count: number(5, 0)? as u32,
        commit_wait_usec: number(6, 0)? as u32,
        ..LogOptions::new(dir)
    };
    let open = Log::<u64>::open(opts, None, |_| Ok::<_, std::convert::Infallible>(()))?;
    let before = open.report.last_seq;
    let log = open.start(0)?;
    let (stop, waited) = (AtomicBool::new(false), AtomicU64::new(0));
    let begun = Instant::now();
    std::thread::scope(|s| {
        for _ in 0..threads {
            s.spawn(|| {
                let template = vec![0x5A; HEADER_LEN + body];
                while !stop.load(Ordering::Relaxed) {
                    let at = Instant::now();
                    let done = log
                        .reserve(RecordKind::Commit, body, |_, n| *n += 1)
                        .and_then(|(ticket, ())| {
                            log.fill(&ticket, template.clone());
                            log.wait(&ticket)
                        });
                    if let Err(e) = done {
                        eprintln!("{e}");
                        return;
                    }
                    waited.fetch_add(at.elapsed().as_nanos() as u64, Ordering::Relaxed);
                }
            });
        }
        std::thread::sleep(Duration::from_secs(seconds));
        stop.store(true, Ordering::Relaxed);
    });
    let elapsed = begun.elapsed().as_secs_f64();
    let s = log.stats();
    let commits = (log.visible_seq() - before).max(1);
    println!(
        "threads {threads} body {body} mode {}: {:.0} commits/s, {:.1} us/commit, {:.4} syncs/commit, {:.0} us/sync, \
         {:.3} log bytes/body byte, largest group {}, groups {:?}",
        mode as u8,
        commits as f64 / elapsed,
        waited.load(Ordering::Relaxed) as f64 / commits as f64 / 1e3,
        s.syncs as f64 / commits as f64,
        s.sync_nanos as f64 / s.syncs.max(1) as f64 / 1e3,
        s.bytes_written as f64 / s.body_bytes.max(1) as f64,
        s.largest_group,
        s.group_sizes,
    );
    log.close()?;
    Ok(())
}
