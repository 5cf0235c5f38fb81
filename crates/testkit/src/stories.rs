//! Many stories, each made from its seed alone, told on all processors until enough crashes have come.
//!
//! | variable | means |
//! |---|---|
//! | `NARWAL_SEED=n` | that story alone, on this thread |
//! | `NARWAL_SEEDS=n` | so many stories |
//! | `NARWAL_CRASHES=n` | as many as it takes for so many crashes |
//! | `NARWAL_SECONDS=n` | no new story after so long |
//! | `NARWAL_FROM=n` | the first seed; 0 unless given |

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

thread_local! {
    static CRASHES: Cell<u64> = const { Cell::new(0) };
}

/// A story's disk lost its power or its process, and what was left is looked at.
pub fn crashed() {
    CRASHES.set(CRASHES.get() + 1);
}

/// What came of all stories.
#[derive(Debug, Clone, Copy)]
pub struct Told {
    /// How many stories there were.
    pub stories: u64,
    /// How often [`crashed`] was called in them.
    pub crashes: u64,
    /// True if only one was wanted.
    pub one: bool,
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// When to stop.
struct Until {
    stories: u64,
    crashes: u64,
    time: Duration,
}

/// Tells `story` with one seed after the other, `stories` of them unless the environment says otherwise. `end` runs on each thread
/// behind its last one.
///
/// # Panics
/// If a story does: the message names its seed.
pub fn tell(stories: u64, story: impl Fn(u64) + Sync, end: impl Fn() + Sync) -> Told {
    if let Some(seed) = number("NARWAL_SEED") {
        story(seed);
        let crashes = CRASHES.take();
        return Told {
            stories: 1,
            crashes,
            one: true,
        };
    }
    let crashes = number("NARWAL_CRASHES");
    let until = Until {
        stories: number("NARWAL_SEEDS").unwrap_or(if crashes.is_some() {
            u64::MAX
        } else {
            stories
        }),
        crashes: crashes.unwrap_or(u64::MAX),
        time: number("NARWAL_SECONDS").map_or(Duration::MAX, Duration::from_secs),
    };
    let told = on_all_processors(&until, &story, &end);
    println!("{} stories, {} crashes", told.stories, told.crashes);
    told
}

fn on_all_processors(
    until: &Until,
    story: &(impl Fn(u64) + Sync),
    end: &(impl Fn() + Sync),
) -> Told {
    let first = number("NARWAL_FROM").unwrap_or(0);
    let (next, stories, crashes) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
    let (over, failed, began) = (AtomicBool::new(false), Mutex::new(None), Instant::now());
    let said = AtomicU64::new(0);
    std::thread::scope(|s| {
        for _ in 0..std::thread::available_parallelism().map_or(2, |n| n.get()) {
            s.spawn(|| {
                while !over.load(SeqCst) {
                    let n = next.fetch_add(1, SeqCst);
                    if n >= until.stories
                        || crashes.load(SeqCst) >= until.crashes
                        || began.elapsed() >= until.time
                    {
                        break;
                    }
                    let seed = first + n;
                    if catch_unwind(AssertUnwindSafe(|| story(seed))).is_err() {
                        over.store(true, SeqCst);
                        failed
                            .lock()
                            .unwrap_or_else(|e| e.into_inner())
                            .get_or_insert(seed);
                    }
                    stories.fetch_add(1, SeqCst);
                    let all = crashes.fetch_add(CRASHES.get(), SeqCst) + CRASHES.take();
                    say(&said, began.elapsed(), seed, all);
                }
                end();
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_else(|e| e.into_inner());
    assert!(
        failed.is_none(),
        "failed with NARWAL_SEED={}",
        failed.unwrap_or(0)
    );
    Told {
        stories: stories.into_inner(),
        crashes: crashes.into_inner(),
        one: false,
    }
}

/// A line for each minute.
fn say(said: &AtomicU64, passed: Duration, seed: u64, crashes: u64) {
    let minutes = passed.as_secs() / 60;
    if said.fetch_max(minutes, SeqCst) < minutes {
        let rate = crashes as f64 / passed.as_secs_f64();
        println!("{minutes} min: seed {seed}, {crashes} crashes, {rate:.0} a second");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_seed_is_told_once_and_crashes_are_counted() {
        let (seeds, ends) = (Mutex::new(Vec::new()), AtomicU64::new(0));
        let until = Until {
            stories: 20,
            crashes: u64::MAX,
            time: Duration::MAX,
        };
        let story = |seed| {
            crashed();
            crashed();
            seeds.lock().unwrap_or_else(|e| e.into_inner()).push(seed);
        };
        let told = on_all_processors(&until, &story, &|| _ = ends.fetch_add(1, SeqCst));
        let mut seeds = seeds.into_inner().unwrap_or_else(|e| e.into_inner());
        seeds.sort_unstable();
        assert_eq!(seeds, (0..20).collect::<Vec<_>>());
        assert_eq!((told.stories, told.crashes, told.one), (20, 40, false));
        assert!(ends.into_inner() > 0);
    }

    #[test]
    fn the_crashes_that_were_wanted_end_it_and_a_failure_names_its_seed() {
        let until = Until {
            stories: u64::MAX,
            crashes: 30,
            time: Duration::MAX,
        };
        let told = on_all_processors(&until, &|_| crashed(), &|| ());
        assert!((30..100).contains(&told.crashes), "{told:?}");
        let failed = catch_unwind(|| {
            on_all_processors(&until, &|seed| assert_ne!(seed, 7, "as it should"), &|| ())
        });
        let text = failed.err().and_then(|e| e.downcast::<String>().ok());
        assert!(text.is_some_and(|t| t.contains("NARWAL_SEED=7")));
    }
}
