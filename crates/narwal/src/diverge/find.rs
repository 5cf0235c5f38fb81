//! Finding where two logs part without reading all of them.

use super::compare::{Domain, compare};
use super::side::{Hashed, Side};
use crate::Failure;
use narwal_binlog::{Gtid, GtidState};
use narwal_stream::{Place, Start, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

/// What was found.
pub struct Found {
    /// Where reading began: both have everything up to there.
    pub start: Place,
    pub domains: BTreeMap<u32, Domain>,
    /// GTIDs of this side and of the other.
    pub here: GtidState,
    pub there: GtidState,
}

impl Found {
    /// The last GTID in a domain that both have before anything differs.
    pub fn common(&self, domain: u32) -> Option<Gtid> {
        let found = self.domains.get(&domain).and_then(|d| d.common);
        found.or_else(|| self.start.position().find(|g| g.domain == domain))
    }

    /// What only this side has.
    pub fn only_here(&self) -> BTreeSet<Gtid> {
        let all = self.domains.values().flat_map(|d| &d.only_here);
        all.map(|o| o.seen.gtid).collect()
    }

    /// How many transactions only the other side has.
    pub fn only_there(&self) -> u64 {
        self.domains.values().map(|d| d.only_there.count).sum()
    }
}

/// A line on the terminal while people wait.
fn ticker(name: String) -> Box<dyn FnMut(u64, Gtid)> {
    let terminal = std::io::stderr().is_terminal();
    let mut last = Instant::now();
    Box::new(move |groups, gtid| {
        if terminal && last.elapsed() > Duration::from_millis(300) {
            last = Instant::now();
            let _ = write!(
                std::io::stderr(),
                "\r{name}: {groups} transactions read, {gtid}\x1b[K\r"
            );
        }
    })
}

/// The position before the oldest group of a log.
fn oldest(side: &Side) -> Result<Place, Failure> {
    let mut source = side.open(&Start::Beginning)?;
    loop {
        match source.next_group(Duration::from_secs(60))? {
            Step::Idle => {}
            Step::Group(_) | Step::End => return Ok(source.place().unwrap_or_default()),
        }
    }
}

/// Reading must begin further back: something differs before anything was the same.
fn needs_earlier(start: &Place, domains: &BTreeMap<u32, Domain>) -> bool {
    start.position().any(|g| {
        let found = domains.get(&g.domain);
        found.is_some_and(|d| d.compared == 0 && !d.only_here.is_empty())
    })
}

/// Compares the two logs.
///
/// Reading begins at the start of the newest of the other server's files before which this side has everything, by name.
/// If the first thing there is of other content already, it begins further back, in ever larger steps.
pub fn find(here: &Side, there: &Side) -> Result<Found, Failure> {
    let (state, other) = (here.state()?, there.state()?);
    let has = |place: &Place| {
        place.position().all(|g| {
            let last = state.last_of(g.domain, g.server);
            last.is_some_and(|seq| seq >= g.seq)
        })
    };
    let mut starts = there.file_starts()?;
    let found = starts.iter().rposition(has);
    starts.truncate(found.map_or(0, |i| i + 1));
    let mut step = 1;
    // Where one of the logs begins there may be nothing left to compare: FLASHBACK begins a log so. Then names have to do.
    let mut by_name = None;
    let mut last_try = starts.is_empty();
    let mut start = match starts.pop() {
        Some(start) => start,
        None => oldest(here)?,
    };
    loop {
        let open = |side: &Side| {
            let source = side.open(&Start::Place(start.clone()))?;
            Ok::<_, Failure>(Hashed::new(source, ticker(side.name())))
        };
        let compared = open(here).and_then(|mut a| compare(&mut a, &mut open(there)?));
        let why = match compared {
            Ok(domains) if !needs_earlier(&start, &domains) => {
                return Ok(Found {
                    start,
                    domains,
                    here: state,
                    there: other,
                });
            }
            Ok(domains) => {
                by_name = Some((start.clone(), domains));
                "what follows that differs at once".to_owned()
            }
            Err(Failure::Gone(why)) => why,
            Err(e) => return Err(e),
        };
        if last_try && let Some((start, domains)) = by_name {
            return Ok(Found {
                start,
                domains,
                here: state,
                there: other,
            });
        }
        if last_try {
            return Err(Failure::Gone(format!(
                "no transaction was found that both logs still have and that is the same in both: the histories part before \
                 '{start}', or one of the logs begins behind that ({why}). Copy the data anew: narwal replica --from"
            )));
        }
        for _ in 1..step {
            if starts.len() > 1 {
                starts.pop();
            }
        }
        step *= 2;
        start = match starts.pop() {
            Some(start) => start,
            None => {
                last_try = true;
                oldest(here)?
            }
        };
    }
}
