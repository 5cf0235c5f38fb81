//! Groups that are written and whose syncs run.
//!
//! Syncs may end in any order, but groups are finished in the order of the log: a group is acknowledged when its own sync and
//! those of all groups before it have succeeded. So nothing is ever acknowledged behind bytes that a failed sync has lost.
//!
//! Each running sync has a handle of its own to the file ([`Lanes`]), opened before its group was written. The kernel reports
//! a failed write-back once to each handle, so no sync hides it from another.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;

use crate::disk::{Disk, DiskFile};
use crate::segment::Segment;
use crate::slot::Slot;

/// A group whose records are written.
#[derive(Debug, Default)]
pub(crate) struct CommitGroup {
    pub slots: Vec<Arc<Slot>>,
    pub commits: u32,
    /// Of them for replicas, too.
    pub logged: u64,
    pub last_seq: u64,
    /// Bytes of the callers' bodies.
    pub body: u64,
    /// Of chunk records.
    pub chunks: u64,
    pub end: u64,
    /// It was to be synced.
    pub sync: bool,
}

#[derive(Debug)]
struct Flight {
    id: u64,
    commits: u32,
    /// Synced, but one before it is not.
    landed: Option<CommitGroup>,
}

#[derive(Debug, Default)]
struct List {
    flights: VecDeque<Flight>,
    next: u64,
    /// Lanes in use, a bit each.
    lanes: u32,
    /// A sync has failed: nothing is finished any more.
    broken: bool,
}

/// A group on its way.
#[derive(Debug)]
pub(crate) struct Departed {
    id: u64,
    lane: u32,
    /// Another sync ran when it began.
    company: bool,
}

/// What has come of a group that landed.
#[derive(Debug, Default)]
pub(crate) struct Landed {
    /// Slots that are not to be finished, because a sync has failed.
    pub lost: Vec<Arc<Slot>>,
    /// Whether another sync ran beside it.
    pub company: bool,
}

/// The groups whose syncs run, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    list: Mutex<List>,
    /// How many there are, those that wait for one before them included.
    unfinished: AtomicU32,
    /// Whose syncs still run.
    running: AtomicU32,
    /// Their commits.
    commits: AtomicU32,
}

impl Flights {
    pub fn unfinished(&self) -> u32 {
        self.unfinished.load(Ordering::SeqCst)
    }

    pub fn running(&self) -> u32 {
        self.running.load(Ordering::SeqCst)
    }

    pub fn commits(&self) -> u32 {
        self.commits.load(Ordering::SeqCst)
    }

    /// The lane that the next group takes; called by the leader, and only leaders take one.
    pub fn free_lane(&self) -> u32 {
        self.list.lock().lanes.trailing_ones()
    }

    /// A group is written. The caller leads.
    pub fn depart(&self, commits: u32, lane: u32) -> Departed {
        let mut list = self.list.lock();
        let id = list.next;
        list.next += 1;
        list.lanes |= 1 << lane;
        list.flights.push_back(Flight {
            id,
            commits,
            landed: None,
        });
        self.unfinished.fetch_add(1, Ordering::SeqCst);
        self.commits.fetch_add(commits, Ordering::SeqCst);
        let company = self.running.fetch_add(1, Ordering::SeqCst) > 0;
        Departed { id, lane, company }
    }

    /// Its sync has ended. Finishes, in order, what can be finished: `finish` must be quick.
    pub fn land(
        &self,
        flight: &Departed,
        group: CommitGroup,
        synced: bool,
        mut finish: impl FnMut(CommitGroup),
    ) -> Landed {
        let mut list = self.list.lock();
        let mut out = Landed {
            company: flight.company || list.next != flight.id + 1,
            ..Landed::default()
        };
        list.lanes &= !(1 << flight.lane);
        list.broken |= !synced;
        if let Some(f) = list.flights.iter_mut().find(|f| f.id == flight.id) {
            f.landed = Some(group);
        }
        let mut finished = 0;
        loop {
            // Once broken, whatever has landed is lost, in front or not.
            let at = if list.broken {
                list.flights.iter().position(|f| f.landed.is_some())
            } else {
                (list.flights.front()).and_then(|f| f.landed.is_some().then_some(0))
            };
            let Some(f) = at.and_then(|i| list.flights.remove(i)) else {
                break;
            };
            finished += 1;
            self.commits.fetch_sub(f.commits, Ordering::SeqCst);
            match f.landed {
                Some(group) if list.broken => out.lost.extend(group.slots),
                Some(group) => finish(group),
                None => {}
            }
        }
        self.running.fetch_sub(1, Ordering::SeqCst);
        self.unfinished.fetch_sub(finished, Ordering::SeqCst);
        out
    }
}

/// The segment that is written to, with the handles that syncs go through.
#[derive(Debug)]
pub(crate) struct Lanes {
    pub segment: Arc<Segment>,
    handles: Vec<Arc<dyn DiskFile>>,
}

impl Lanes {
    pub fn new(segment: Arc<Segment>) -> Lanes {
        Lanes {
            segment,
            handles: Vec::new(),
        }
    }

    /// The handle of a lane, opened if it is not yet. `None` if that is not possible.
    pub fn handle(&mut self, disk: &dyn Disk, lane: u32) -> Option<Arc<dyn DiskFile>> {
        let lane = lane as usize;
        while self.handles.len() <= lane {
            match disk.open(&self.segment.path) {
                Ok(file) => self.handles.push(file),
                // As long as no other sync runs the segment's own does as well.
                Err(_) if lane == 0 => return Some(self.segment.file.clone()),
                Err(e) => {
                    tracing::warn!(error = %e, file = %self.segment.path.display(), "can't open a log segment once more: one sync at a time");
                    return None;
                }
            }
        }
        self.handles.get(lane).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(end: u64) -> CommitGroup {
        CommitGroup {
            commits: 2,
            end,
            ..CommitGroup::default()
        }
    }

    fn land(f: &Flights, flight: &Departed, end: u64, synced: bool) -> Vec<u64> {
        let mut ends = Vec::new();
        f.land(flight, group(end), synced, |g| ends.push(g.end));
        ends
    }

    #[test]
    fn groups_are_finished_in_the_order_of_the_log() {
        let f = Flights::default();
        let depart = || f.depart(2, f.free_lane());
        let (a, b, c) = (depart(), depart(), depart());
        assert_eq!((a.lane, b.lane, c.lane), (0, 1, 2));
        assert_eq!((f.unfinished(), f.running(), f.commits()), (3, 3, 6));
        assert!(land(&f, &b, 20, true).is_empty());
        assert_eq!((f.unfinished(), f.running(), f.commits()), (3, 2, 6));
        assert_eq!(f.free_lane(), 1, "its handle is free at once");
        assert_eq!(land(&f, &a, 10, true), [10, 20]);
        assert_eq!((f.unfinished(), f.running(), f.commits()), (1, 1, 2));
        assert_eq!(land(&f, &c, 30, true), [30]);
        assert_eq!((f.unfinished(), f.running(), f.commits()), (0, 0, 0));
    }

    #[test]
    fn nothing_behind_a_failed_sync_is_finished() {
        let f = Flights::default();
        let depart = || f.depart(2, f.free_lane());
        let (a, b, c) = (depart(), depart(), depart());
        assert!(land(&f, &c, 30, true).is_empty());
        assert!(land(&f, &b, 20, false).is_empty());
        // Its data was there before, but the log has failed.
        assert!(land(&f, &a, 10, true).is_empty());
        assert_eq!((f.unfinished(), f.running(), f.commits()), (0, 0, 0));
        let d = depart();
        assert!(land(&f, &d, 40, true).is_empty());
    }

    #[test]
    fn company_is_whoever_ran_at_the_same_time() {
        let f = Flights::default();
        let land = |d: &Departed| f.land(d, CommitGroup::default(), true, |_| {}).company;
        let a = f.depart(1, 0);
        assert!(!land(&a));
        let (b, c) = (f.depart(1, 0), f.depart(1, 1));
        assert!(land(&b) && land(&c));
        let d = f.depart(1, 0);
        assert!(!land(&d));
    }
}
