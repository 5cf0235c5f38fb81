//! What a stream of chunks costs small commits: their latency with and without it, in turns.
//!
//! `chunk_bench DIR [THREADS [SECONDS [CHUNK_BYTES [QUEUE_BYTES [GROUP_BYTES [MODE [PAUSE_USEC]]]]]]]`; the folder must
//! be empty. PAUSE_USEC is what the stream does between two chunks.

use std::error::Error;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use narwal_log::{Durability, HEADER_LEN, Log, LogOptions, RecordKind};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let dir = args.first().ok_or("usage: see the source")?;
    let number = |i: usize, default: u64| -> Result<u64, Box<dyn Error>> {
        Ok(args.get(i).map_or(Ok(default), |a| a.parse())?)
    };
    let (threads, seconds) = (number(1, 8)?, number(2, 4)?);
    let chunk = number(3, 1 << 20)? as usize;
    let mut opts = LogOptions::new(dir);
    opts.chunk_queue = number(4, opts.chunk_queue)?;
    opts.chunk_group = number(5, opts.chunk_group)?;
    opts.durability = Durability::from_u8(number(6, 1)? as u8).ok_or("the mode is 0, 1 or 2")?;
    let pause = Duration::from_micros(number(7, 0)?);
    let open = Log::<u64>::open(opts, None, |_| Ok::<_, std::convert::Infallible>(()))?;
    let log = open.start(0)?;
    for stream in [false, true, false, true] {
        let (stop, chunks) = (AtomicBool::new(false), AtomicU64::new(0));
        let times = Mutex::new(Vec::new());
        let begun = Instant::now();
        let before = log.stats();
        std::thread::scope(|s| {
            for _ in 0..threads {
                s.spawn(|| {
                    let template = vec![0x5A; HEADER_LEN + 400];
                    let mut own = Vec::new();
                    while !stop.load(Ordering::Relaxed) {
                        let at = Instant::now();
                        let done = log
                            .reserve(RecordKind::Commit, 400, |_, n| *n += 1)
                            .and_then(|(ticket, ())| {
                                log.fill(&ticket, template.clone());
                                log.wait(&ticket)
                            });
                        if let Err(e) = done {
                            eprintln!("{e}");
                            return;
                        }
                        own.push(at.elapsed().as_micros() as u64);
                    }
                    if let Ok(mut all) = times.lock() {
                        all.extend(own);
                    }
                });
            }
            if stream {
                s.spawn(|| {
                    while !stop.load(Ordering::Relaxed) {
                        if let Err(e) = log.append_chunk(vec![0xA5; HEADER_LEN + chunk], |_, _| ())
                        {
                            eprintln!("{e}");
                            return;
                        }
                        chunks.fetch_add(1, Ordering::Relaxed);
                        if !pause.is_zero() {
                            std::thread::sleep(pause);
                        }
                    }
                });
            }
            std::thread::sleep(Duration::from_secs(seconds));
            stop.store(true, Ordering::Relaxed);
        });
        let elapsed = begun.elapsed().as_secs_f64();
        let mut t = times.into_inner().unwrap_or_default();
        t.sort_unstable();
        let at = |p: f64| t.get((t.len() as f64 * p) as usize).copied().unwrap_or(0);
        let after = log.stats();
        println!(
            "stream {stream:5}: {:6.0} commits/s, p50 {:5} p95 {:5} p99 {:6} p99.9 {:6} max {:6} us; {:5.1} MB/s of chunks, \
             {:4.0} syncs/s of {:5.0} us",
            t.len() as f64 / elapsed,
            at(0.5),
            at(0.95),
            at(0.99),
            at(0.999),
            t.last().copied().unwrap_or(0),
            chunks.load(Ordering::Relaxed) as f64 * chunk as f64 / elapsed / 1e6,
            (after.syncs - before.syncs) as f64 / elapsed,
            (after.sync_nanos - before.sync_nanos) as f64
                / (after.syncs - before.syncs).max(1) as f64
                / 1e3,
        );
        // Room on the disk for the next round.
        log.sync_all()?;
        log.purge_before(log.durable_lsn())?;
    }
    log.close()?;
    Ok(())
}
