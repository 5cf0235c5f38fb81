//! Where a stream stands, to the single change.

use crate::{Error, Result};
use narwal_binlog::Gtid;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A place in a log: everything up to here was delivered.
///
/// As text: a GTID position, `0-1-16,1-1-4`; inside a transaction, its GTID and how many of its changes were delivered
/// behind that, `0-1-16,1-1-4+0-1-17:3`. Empty: the beginning. It names no file and no offset, so it means the same on
/// every server that has these transactions.
///
/// While XA transactions are prepared, a GTID position from which on the log has all of them follows, `0-1-16~0-1-9`: a
/// stream reads from there on, and delivers what is behind `0-1-16`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    done: BTreeMap<u32, Gtid>,
    /// Transactions delivered in part; more than one only if a stream went on at a server that has them in another order.
    inside: Vec<(Gtid, u64)>,
    /// Before the first group of the oldest prepared transaction.
    prepared_behind: Option<BTreeMap<u32, Gtid>>,
}

impl Place {
    /// The place behind the last of these transactions in each domain.
    pub fn new(position: impl IntoIterator<Item = Gtid>) -> Self {
        Place {
            done: position.into_iter().map(|g| (g.domain, g)).collect(),
            inside: Vec::new(),
            prepared_behind: None,
        }
    }

    /// Where the log must be read from: here, or before prepared transactions whose end is not known yet.
    #[must_use]
    pub fn opening(&self) -> Place {
        match &self.prepared_behind {
            Some(done) => Place {
                done: done.clone(),
                ..Place::default()
            },
            None => self.clone(),
        }
    }

    /// Transactions are prepared whose groups come behind this place; `None`: there are none.
    pub(crate) fn set_prepared_behind(&mut self, before: Option<&Place>) {
        self.prepared_behind = before.map(|p| p.done.clone());
    }

    /// The last transaction of each domain that comes again when a stream is opened here although it was delivered.
    pub(crate) fn delivered_again(&self) -> BTreeMap<u32, Gtid> {
        let Some(from) = &self.prepared_behind else {
            return BTreeMap::new();
        };
        let again = |g: &&Gtid| from.get(&g.domain) != Some(*g);
        self.done
            .values()
            .filter(again)
            .map(|g| (g.domain, *g))
            .collect()
    }

    /// The last whole transaction of each domain.
    pub fn position(&self) -> impl Iterator<Item = Gtid> + '_ {
        self.done.values().copied()
    }

    /// [`position`](Self::position) as text.
    #[must_use]
    pub fn position_text(&self) -> String {
        let gtids: Vec<String> = self.position().map(|g| g.to_string()).collect();
        gtids.join(",")
    }

    /// How many changes of this transaction were delivered, of one that was delivered in part; else 0.
    #[must_use]
    pub fn inside(&self, gtid: Gtid) -> u64 {
        self.inside.iter().find(|i| i.0 == gtid).map_or(0, |i| i.1)
    }

    /// Change number `n` (from 1) of transaction `gtid` was delivered.
    pub(crate) fn enter(&mut self, gtid: Gtid, n: u64) {
        match self.inside.iter_mut().find(|i| i.0 == gtid) {
            Some(i) => i.1 = n,
            None => self.inside.push((gtid, n)),
        }
    }

    /// Transaction `gtid` was delivered as a whole.
    pub(crate) fn finish(&mut self, gtid: Gtid) {
        self.done.insert(gtid.domain, gtid);
        self.inside.retain(|i| i.0 != gtid);
    }

    /// Appends the text.
    pub fn write(&self, out: &mut Vec<u8>) {
        use std::io::Write as _;
        let _ = write!(out, "{self}");
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, gtid) in self.done.values().enumerate() {
            if i > 0 {
                f.write_str(",")?;
            }
            write!(f, "{gtid}")?;
        }
        for (gtid, n) in &self.inside {
            write!(f, "+{gtid}:{n}")?;
        }
        for (i, gtid) in self
            .prepared_behind
            .iter()
            .flat_map(BTreeMap::values)
            .enumerate()
        {
            f.write_str(if i == 0 { "~" } else { "," })?;
            write!(f, "{gtid}")?;
        }
        if self
            .prepared_behind
            .as_ref()
            .is_some_and(BTreeMap::is_empty)
        {
            f.write_str("~")?;
        }
        Ok(())
    }
}

impl FromStr for Place {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bad = |what: &str| Error::Usage(format!("{text:?} is no place in a log: {what}"));
        let gtid = |t: &str| t.parse::<Gtid>().map_err(|e| bad(&e.to_string()));
        let domains = |position: &str| {
            let mut domains = BTreeMap::new();
            for part in position.split(',').filter(|p| !p.trim().is_empty()) {
                let gtid = gtid(part)?;
                if domains.insert(gtid.domain, gtid).is_some() {
                    return Err(bad("it names a domain twice"));
                }
            }
            Ok(domains)
        };
        let (delivered, prepared) = match text.split_once('~') {
            Some((delivered, prepared)) => (delivered, Some(prepared)),
            None => (text, None),
        };
        let mut parts = delivered.split('+');
        let mut place = Place {
            done: domains(parts.next().unwrap_or_default())?,
            inside: Vec::new(),
            prepared_behind: prepared.map(domains).transpose()?,
        };
        for inside in parts {
            let (g, n) = inside
                .split_once(':')
                .ok_or_else(|| bad("behind + stands GTID:NUMBER"))?;
            let digits = !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit());
            let n = n.parse().ok().filter(|_| digits);
            let n = n.ok_or_else(|| bad("the change has no number"))?;
            place.enter(gtid(g)?, n);
        }
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trips() {
        for text in [
            "",
            "0-1-16",
            "0-1-16,1-1-4",
            "0-1-16,1-1-4+0-1-17:3",
            "+0-1-1:1",
            "0-1-1+0-1-2:1+1-1-1:2",
        ] {
            assert_eq!(text.parse::<Place>().unwrap().to_string(), text);
        }
        assert_eq!(
            " 0-1-2 , 1-1-1".parse::<Place>().unwrap().to_string(),
            "0-1-2,1-1-1"
        );
        for text in [
            "0-1",
            "0-1-1,0-2-2",
            "+",
            "+0-1-1",
            "+0-1-1:",
            "+0-1-1:+2",
            "0-1-1+0-1-2:x",
        ] {
            assert!(text.parse::<Place>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_transaction_is_entered_and_finished() {
        let g = |t: &str| t.parse::<Gtid>().unwrap();
        let mut p: Place = "0-1-1".parse().unwrap();
        p.enter(g("0-2-2"), 1);
        p.enter(g("0-2-2"), 2);
        assert_eq!(p.to_string(), "0-1-1+0-2-2:2");
        p.finish(g("1-1-9"));
        assert_eq!(p.to_string(), "0-1-1,1-1-9+0-2-2:2");
        p.finish(g("0-2-2"));
        assert_eq!(p.to_string(), "0-2-2,1-1-9");
    }
}
