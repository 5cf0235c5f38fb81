//! Where two logs part: domain by domain, by GTID and content.

use crate::Failure;
use narwal_binlog::{ContentHash, Gtid, SameContent};
use std::collections::{BTreeMap, HashMap, VecDeque};

/// A group as it goes by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    pub gtid: Gtid,
    pub hash: ContentHash,
    /// Seconds since 1970.
    pub time: u32,
}

/// A log, group by group.
pub trait Feed {
    /// The next group; `None` at the end.
    fn next(&mut self) -> Result<Option<Seen>, Failure>;
}

/// A group that only this side has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnlyHere {
    pub seen: Seen,
    /// The other side has the GTID with this content.
    pub there: Option<ContentHash>,
}

/// Groups that only the other side has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OnlyThere {
    pub count: u64,
    pub first: Option<Gtid>,
    pub last: Option<Gtid>,
}

/// What comparing says of a domain.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Domain {
    /// The last group before which nothing differs; `None` if the first one that was compared does.
    pub common: Option<Gtid>,
    /// How many groups were the same up to there.
    pub compared: u64,
    /// In the order of this side's log.
    pub only_here: Vec<OnlyHere>,
    pub only_there: OnlyThere,
    /// Groups behind the first difference that both have.
    pub common_behind: u64,
}

#[derive(Debug, Default)]
struct Work {
    here: VecDeque<Seen>,
    there: VecDeque<Seen>,
    result: Domain,
}

impl Work {
    /// Takes off what is the same at both fronts. False: they part.
    fn advance(&mut self) -> bool {
        while let (Some(a), Some(b)) = (self.here.front(), self.there.front()) {
            if !same(a, b) {
                return false;
            }
            self.result.common = Some(a.gtid);
            self.result.compared += 1;
            self.here.pop_front();
            self.there.pop_front();
        }
        true
    }
}

fn same(a: &Seen, b: &Seen) -> bool {
    a.gtid == b.gtid && a.hash.same_as(&b.hash) != SameContent::No
}

/// A domain of which this side has all that is left, against the rest of the other side's groups.
struct Rest {
    here: Vec<Seen>,
    /// Where the GTIDs stand in `here`.
    by_gtid: HashMap<Gtid, usize>,
    matched: Vec<bool>,
    other: Vec<Option<ContentHash>>,
    /// Groups at the front that were matched in order.
    front: usize,
    parted: bool,
    result: Domain,
}

impl Rest {
    fn new(work: Work) -> (Self, VecDeque<Seen>) {
        let here: Vec<Seen> = work.here.into();
        let rest = Rest {
            by_gtid: here.iter().enumerate().map(|(i, s)| (s.gtid, i)).collect(),
            matched: vec![false; here.len()],
            other: vec![None; here.len()],
            here,
            front: 0,
            parted: false,
            result: work.result,
        };
        (rest, work.there)
    }

    fn there(&mut self, seen: Seen) {
        if !self.parted && self.here.get(self.front).is_some_and(|h| same(h, &seen)) {
            self.matched[self.front] = true;
            self.front += 1;
            self.result.common = Some(seen.gtid);
            self.result.compared += 1;
            return;
        }
        self.parted |= self.front < self.here.len();
        if let Some(&i) = self.by_gtid.get(&seen.gtid)
            && !self.matched[i]
        {
            if same(&self.here[i], &seen) {
                self.matched[i] = true;
                self.result.common_behind += 1;
                return;
            }
            self.other[i] = Some(seen.hash);
        }
        let only = &mut self.result.only_there;
        only.count += 1;
        only.first.get_or_insert(seen.gtid);
        only.last = Some(seen.gtid);
    }

    fn finish(mut self) -> Domain {
        let left = self.here.iter().zip(&self.matched).zip(&self.other);
        self.result.only_here = left
            .filter(|((_, matched), _)| !**matched)
            .map(|((&seen, _), &there)| OnlyHere { seen, there })
            .collect();
        self.result
    }
}

/// Reads both logs from the same position on, to their ends. Holds in memory what this side has behind the first
/// difference, and what one side has before the other has come as far.
pub fn compare(
    here: &mut dyn Feed,
    there: &mut dyn Feed,
) -> Result<BTreeMap<u32, Domain>, Failure> {
    let mut domains: BTreeMap<u32, Work> = BTreeMap::new();
    // Groups that wait for the other side; either side is read as long as it has fewer.
    let (mut waiting, mut here_over, mut there_over) = (0i64, false, false);
    let mut parted = false;
    while !parted && !here_over {
        let read_here = waiting <= 0 || there_over;
        let next = if read_here {
            here.next()?
        } else {
            there.next()?
        };
        match (next, read_here) {
            (Some(seen), _) => {
                let work = domains.entry(seen.gtid.domain).or_default();
                if read_here {
                    work.here.push_back(seen);
                    waiting += 1;
                } else {
                    work.there.push_back(seen);
                    waiting -= 1;
                }
                parted = !work.advance();
            }
            (None, true) => here_over = true,
            (None, false) => there_over = true,
        }
    }
    while !here_over {
        match here.next()? {
            Some(seen) => domains
                .entry(seen.gtid.domain)
                .or_default()
                .here
                .push_back(seen),
            None => here_over = true,
        }
    }
    let mut rests = BTreeMap::new();
    for (domain, work) in domains {
        let (mut rest, waiting) = Rest::new(work);
        waiting.into_iter().for_each(|seen| rest.there(seen));
        rests.insert(domain, rest);
    }
    while !there_over {
        match there.next()? {
            Some(seen) => rests
                .entry(seen.gtid.domain)
                .or_insert_with(|| Rest::new(Work::default()).0)
                .there(seen),
            None => there_over = true,
        }
    }
    Ok(rests
        .into_iter()
        .map(|(d, rest)| (d, rest.finish()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    struct List(std::vec::IntoIter<Seen>);

    impl Feed for List {
        fn next(&mut self) -> Result<Option<Seen>, Failure> {
            Ok(self.0.next())
        }
    }

    fn hash(content: u32) -> ContentHash {
        let hex = format!("1f{content:032x}{content:016x}");
        hex.parse().unwrap()
    }

    /// `0-1-5` or `0-1-5=content`.
    fn list(text: &str) -> List {
        let all: Vec<Seen> = text
            .split_whitespace()
            .map(|word| {
                let (gtid, content) = word.split_once('=').unwrap_or((word, "0"));
                Seen {
                    gtid: gtid.parse().unwrap(),
                    hash: hash(content.parse().unwrap()),
                    time: 0,
                }
            })
            .collect();
        List(all.into_iter())
    }

    fn said(here: &str, there: &str) -> Vec<String> {
        let found = compare(&mut list(here), &mut list(there)).unwrap();
        found
            .into_iter()
            .map(|(domain, d)| {
                let here: Vec<String> = d
                    .only_here
                    .iter()
                    .map(|o| {
                        format!(
                            "{}{}",
                            o.seen.gtid,
                            if o.there.is_some() { "!" } else { "" }
                        )
                    })
                    .collect();
                format!(
                    "{domain}: {} | {} | {} | {}",
                    d.common.map_or("-".to_owned(), |g| g.to_string()),
                    here.join(" "),
                    d.only_there.count,
                    d.common_behind
                )
            })
            .collect()
    }

    #[test]
    fn the_usual_cases() {
        assert_eq!(said("0-1-1 0-1-2", "0-1-1 0-1-2"), ["0: 0-1-2 |  | 0 | 0"]);
        assert_eq!(said("0-1-1", "0-1-1 0-1-2 0-1-3"), ["0: 0-1-1 |  | 2 | 0"]);
        assert_eq!(said("0-1-1 0-2-2", "0-1-1"), ["0: 0-1-1 | 0-2-2 | 0 | 0"]);
        assert_eq!(
            said("0-1-1 0-2-2 0-2-3", "0-1-1 0-1-2 0-1-3 0-1-4"),
            ["0: 0-1-1 | 0-2-2 0-2-3 | 3 | 0"]
        );
        // The same names with other content: a primary set back to an older state.
        assert_eq!(
            said("0-1-1 0-1-2=1 0-1-3=1", "0-1-1 0-1-2=2 0-1-3=2 0-1-4"),
            ["0: 0-1-1 | 0-1-2! 0-1-3! | 3 | 0"]
        );
        // Replication went on behind a transaction of this side's own.
        assert_eq!(
            said("0-1-1 0-2-2 0-1-2 0-1-3", "0-1-1 0-1-2 0-1-3 0-1-4"),
            ["0: 0-1-1 | 0-2-2 | 1 | 2"]
        );
        assert_eq!(said("", "0-1-1"), ["0: - |  | 1 | 0"]);
        assert_eq!(said("0-2-1", "0-1-1"), ["0: - | 0-2-1 | 1 | 0"]);
    }

    #[test]
    fn domains_stand_in_any_order() {
        assert_eq!(
            said("1-1-1 0-1-1 1-1-2 0-2-2", "0-1-1 0-1-2 1-1-1 1-1-2 1-1-3"),
            ["0: 0-1-1 | 0-2-2 | 1 | 0", "1: 1-1-2 |  | 1 | 0"]
        );
        assert_eq!(
            said("2-1-1 0-2-1 2-1-2", "0-1-1 2-1-1 2-1-2"),
            ["0: - | 0-2-1 | 1 | 0", "2: 2-1-2 |  | 0 | 0"]
        );
    }

    /// Against sets: whatever the orders, what only one side has is that.
    #[test]
    fn any_histories() {
        let mut seed = 12345u64;
        let mut chance = |n: u64| {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        for _ in 0..500 {
            let (mut here, mut there) = (Vec::new(), Vec::new());
            let (mut a, mut b) = ([0u64; 3], [0u64; 3]);
            let fork = chance(12);
            for i in 0..chance(30) {
                let d = chance(3) as usize;
                if i < fork {
                    a[d] += 1;
                    b[d] = a[d];
                    here.push(format!("{d}-1-{}", a[d]));
                    there.push(format!("{d}-1-{}", b[d]));
                } else if chance(2) == 0 {
                    a[d] += 1;
                    here.push(format!("{d}-2-{}", a[d]));
                } else {
                    b[d] += 1;
                    there.push(format!("{d}-1-{}", b[d]));
                }
            }
            let found = compare(&mut list(&here.join(" ")), &mut list(&there.join(" "))).unwrap();
            let (h, t): (BTreeSet<_>, BTreeSet<_>) = (
                here.iter().cloned().collect(),
                there.iter().cloned().collect(),
            );
            let only: BTreeSet<String> = found
                .values()
                .flat_map(|d| d.only_here.iter().map(|o| o.seen.gtid.to_string()))
                .collect();
            assert_eq!(only, h.difference(&t).cloned().collect());
            let count: u64 = found.values().map(|d| d.only_there.count).sum();
            assert_eq!(count as usize, t.difference(&h).count());
        }
    }
}
