//! Which groups a reader by GTID is sent, and where it wants to stop.

use crate::error::DumpError;
use narwal_binlog::{Gtid, GtidSet, GtidState, MysqlGtid};

/// What to do with a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Send it.
    Send,
    /// The reader has it.
    Skip,
    /// The reader wants nothing of its domain (any more).
    Unwanted,
    /// Send it, then the reader has what it wanted.
    SendAndStop,
    /// The reader has what it wanted already.
    Stop,
}

/// A domain whose last known GTID has not come by yet.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    has: Gtid,
    /// The reader has more than this log.
    ahead: bool,
    /// An earlier one of that server is in the log.
    prior: bool,
}

/// Which groups are missing to a reader, and until where it wants them. Groups are to be asked about in log order.
#[derive(Debug, Clone, Default)]
pub(crate) struct GtidStream {
    /// Domains whose last known GTID has not come by yet.
    waiting: Vec<Waiting>,
    /// The reader's last GTIDs until where it wants groups, domains that it has reached left out.
    until: Option<Vec<Gtid>>,
    strict: bool,
    /// Transactions that the reader has, one by one: MySQL's way.
    set: Option<GtidSet>,
}

impl GtidStream {
    /// For a reader that has everything up to the last GTID of each domain in `have`; `passed`: GTIDs, one for each
    /// (domain, server), before the place that groups come from. Of domains in `ahead` the reader has more than this log.
    pub(crate) fn new(
        have: &GtidState,
        ahead: &[u32],
        passed: &GtidState,
        until: Option<&GtidState>,
        strict: bool,
    ) -> Self {
        let waiting = have
            .position()
            .filter_map(|has| {
                let passed = passed.last_of(has.domain, has.server);
                passed.is_none_or(|seq| seq < has.seq).then_some(Waiting {
                    has,
                    ahead: ahead.contains(&has.domain),
                    prior: passed.is_some(),
                })
            })
            .collect();
        let until = until.map(|until| {
            until
                .position()
                // One that it has passed already is reached.
                .filter(|u| {
                    !have
                        .last(u.domain)
                        .is_some_and(|h| h.server == u.server && h.seq >= u.seq)
                })
                .collect()
        });
        GtidStream {
            waiting,
            until,
            strict,
            set: None,
        }
    }

    /// For a reader that has exactly the transactions of `set`.
    pub(crate) fn beyond(set: GtidSet) -> Self {
        GtidStream {
            set: Some(set),
            ..GtidStream::default()
        }
    }

    /// The reader has a transaction under the name that a MySQL gave it.
    pub(crate) fn has_mysql(&self, gtid: &MysqlGtid) -> bool {
        self.set.as_ref().is_some_and(|set| set.has_mysql(gtid))
    }

    /// The reader wants nothing (more).
    pub(crate) fn until_reached(&self) -> bool {
        self.until.as_ref().is_some_and(Vec::is_empty)
    }

    /// What to do with a group.
    ///
    /// # Errors
    /// In strict mode, if the reader's last GTID of the domain is not in the log.
    pub(crate) fn judge(&mut self, gtid: Gtid) -> Result<Verdict, DumpError> {
        if let Some(set) = &self.set {
            return Ok(if set.has(gtid) {
                Verdict::Skip
            } else {
                Verdict::Send
            });
        }
        if !self.waiting.is_empty() && !self.missing(gtid)? {
            return Ok(Verdict::Skip);
        }
        let Some(until) = &mut self.until else {
            return Ok(Verdict::Send);
        };
        // Of domains that are not named, or are reached, nothing is wanted.
        let Some(at) = until.iter().position(|u| u.domain == gtid.domain) else {
            return Ok(Verdict::Unwanted);
        };
        let last = until[at];
        if gtid.server != last.server || gtid.seq < last.seq {
            return Ok(Verdict::Send);
        }
        until.swap_remove(at);
        Ok(match (gtid.seq > last.seq, until.is_empty()) {
            (true, true) => Verdict::Stop,
            (true, false) => Verdict::Unwanted,
            (false, true) => Verdict::SendAndStop,
            (false, false) => Verdict::Send,
        })
    }

    fn missing(&mut self, gtid: Gtid) -> Result<bool, DumpError> {
        let Some(at) = self
            .waiting
            .iter()
            .position(|w| w.has.domain == gtid.domain)
        else {
            return Ok(true);
        };
        let Waiting { has, ahead, prior } = self.waiting[at];
        let reached = gtid.server == has.server || ahead;
        if !reached || gtid.seq < has.seq {
            self.waiting[at].prior |= reached;
            return Ok(false);
        }
        self.waiting.swap_remove(at);
        if gtid.seq == has.seq {
            return Ok(false);
        }
        if self.strict && !ahead {
            return Err(hole(has, prior));
        }
        Ok(true)
    }
}

/// Strict mode: the reader's last GTID was never written here, though later ones were.
fn hole(has: Gtid, prior: bool) -> DumpError {
    let there = if prior {
        "both a prior and a subsequent"
    } else {
        "a subsequent"
    };
    DumpError::fatal(format!(
        "The binlog on the master is missing the GTID {has} requested by the slave (even though {there} sequence number does exist), and GTID strict mode is enabled"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(text: &str) -> GtidState {
        text.parse().unwrap()
    }

    /// What happens to each group, as letters.
    fn run(have: &str, until: Option<&str>, strict: bool, log: &str) -> String {
        let until = until.map(state);
        let mut s = GtidStream::new(&state(have), &[], &GtidState::new(), until.as_ref(), strict);
        log.split(',')
            .map(|g| match s.judge(g.parse().unwrap()) {
                Ok(Verdict::Send) => 's',
                Ok(Verdict::Skip) => '-',
                Ok(Verdict::Unwanted) => 'u',
                Ok(Verdict::SendAndStop) => 'S',
                Ok(Verdict::Stop) => 'x',
                Err(_) => 'E',
            })
            .collect()
    }

    #[test]
    fn starts_in_the_middle_of_domains() {
        let log = "0-1-1,1-1-1,0-1-2,1-1-2,0-2-3,1-1-3";
        assert_eq!(run("", None, false, log), "ssssss");
        assert_eq!(run("0-1-2,1-1-1", None, false, log), "---sss");
        assert_eq!(run("0-2-3", None, false, log), "-s-s-s");
        assert_eq!(run("7-1-1", None, false, log), "ssssss");
        // Another server's group is not the one it waits for.
        assert_eq!(run("0-2-3", None, false, "0-1-3,0-1-4,0-2-3,0-1-5"), "---s");
    }

    #[test]
    fn holes() {
        assert_eq!(run("0-1-3", None, false, "0-1-1,0-1-2,0-1-5,0-1-6"), "--ss");
        assert_eq!(run("0-1-3", None, true, "0-1-1,0-1-2,0-1-5"), "--E");
        assert_eq!(run("0-1-3", None, true, "0-1-3,0-1-5"), "-s");
    }

    #[test]
    fn until_domains_are_reached() {
        let log = "0-1-1,1-1-1,0-1-2,1-1-2,0-1-3,1-1-3";
        assert_eq!(run("", Some("0-1-2"), false, &log[..23]), "suSu");
        assert_eq!(run("", Some("0-1-2,1-1-2"), false, &log[..23]), "sssS");
        assert_eq!(run("0-1-1", Some("0-1-1,1-1-2"), false, &log[..23]), "-suS");
        // Stepped over.
        assert_eq!(run("", Some("0-1-2"), false, "0-1-1,0-1-3"), "sx");
        let done = GtidStream::new(
            &state("0-1-5"),
            &[],
            &GtidState::new(),
            Some(&state("0-1-4")),
            false,
        );
        assert!(done.until_reached());
    }
}
